#ifndef BATCH_INPUTS_H
#define BATCH_INPUTS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/base.h"
#include "cleave/boxes.h"
#include "cleave/data.h"
#include "cleave/features.h"
#include "cleave/image.h"

/* Which images a command works on, and under which name each one's output goes: files, folders, a list on standard
 * input, a set, the items of a feature file. */

struct input {
    char *name;                          /* in notes: the path as given, or the set's spelling */
    char *image;                         /* path that opens; NULL for an item of a feature file */
    char *mask;                          /* the truth, or NULL */
    char *instances;                     /* its objects, or NULL */
    bool is_derived;                     /* the truth is `instances` */
    char *maps[CLV_MAX_MAPS];            /* by the list's map_names: paths, or NULL */
    char *output;                        /* path_output of a relative path: "a/b" for photos/a/b.jpg .. */
    char *file;                          /* .. that path, "a/b.jpg"; NULL: the output is not a file's */
    bool is_path;                        /* given as a path, not by a set or a feature file */
    const struct clv_image_boxes *boxes; /* with --boxes: of the image, borrowed .. */
    uint8_t *bytes;                      /* [size] of an image from standard input; NULL: it is read from its path */
    size_t size;
    bool is_tiled;      /* larger than --max-pixels, and a raster that is segmented tile by tile */
    const char *object; /* .. of which those that name this mask are meant; NULL: those that name none */
};

struct input_list {
    struct input *items;
    size_t n, capacity;
    char map_names[CLV_MAX_MAPS][CLV_MAX_MAP_NAME + 1]; /* of the last set added */
    size_t n_maps;
    size_t n_skipped;       /* files in folders that are not images */
    char *first_skipped;    /* the first of them, or NULL */
    size_t n_own;           /* skipped masks of a folder's images, and images of its own (set_is_own) or of runs */
    char *first_own;        /* the first of them, or NULL */
    const char *skip_below; /* a real path: files below it are skipped in folders around it */
};
void input_list_release(struct input_list *list);
void input_release(struct input *item);

/* Copies everything; mask may be NULL, output has no extension. */
enum clv_status inputs_add_object(struct input_list *list, const char *name, const char *image, const char *mask,
                                  const char *output, struct clv_error *err) CLV_CHECK;

/* Leaves n inputs from `first` on. */
void inputs_cut(struct input_list *list, size_t first, size_t n);

/* Shortens `common`, a length of a's beginning that ends behind a slash, to what b shares. */
size_t path_shared_folder(const char *a, size_t common, const char *b);

/* A file is one input, whatever is in it (opening it reports that); its output is its stem. A folder adds every image
 * below it in order of their paths, its subfolders kept: what has an image's first bytes or an image's extension, and
 * is not a mask of another (set_take_masks). */
enum clv_status inputs_add_path(struct input_list *list, const char *path, const struct clv_progress *progress,
                                struct clv_error *err) CLV_CHECK;

/* The image of standard input, called "standard input" in notes; at most max_size bytes. */
enum clv_status inputs_add_standard(struct input_list *list, size_t max_size, struct clv_error *err) CLV_CHECK;

/* The image of an input. The first one of 12 bits is noted. */
enum clv_status input_read_image(struct clv_image *image, const struct input *item,
                                 const struct clv_image_limits *limits, const struct clv_progress *progress,
                                 struct clv_error *err) CLV_CHECK;

/* The truth of an input, which has one; as clv_mask_read. */
enum clv_status input_read_mask(struct clv_mask *mask, const struct input *item, const struct clv_labels *labels,
                                int32_t expected_width, int32_t expected_height, const struct clv_image_limits *limits,
                                struct clv_error *err) CLV_CHECK;

/* Paths read from a stream, ended by `separator`; empty ones are ignored. */
enum clv_status inputs_add_stream(struct input_list *list, FILE *stream, char separator,
                                  const struct clv_progress *progress, struct clv_error *err) CLV_CHECK;

/* Notes as what the pages of inputs given as paths were read. Where such inputs would have one output though they are
 * in different folders, all of them keep their folders below the one that they share: 100/IMG_1 and 101/IMG_1. Files of
 * one stem in one folder keep their extensions: a.jpg and a.png. */
enum clv_status inputs_name_outputs(struct input_list *list, const struct clv_progress *progress,
                                    struct clv_error *err) CLV_CHECK;

/* The length of the folder ("images/") that every item of a set is in: outputs go without it. */
size_t set_common_folder(const struct clv_set *set);

/* The items of a (selected) set; `common` is set_common_folder of the whole one, so that a split's outputs have the
 * same names whether it is worked on alone or with the others. Rows that share an image, one object each, go by their
 * masks instead, without the folder that all masks of the set share. Files of one stem keep their extensions. */
enum clv_status inputs_add_set(struct input_list *list, const struct clv_set *set, size_t common,
                               struct clv_error *err) CLV_CHECK;

/* The items of a feature file, under the same rule. */
enum clv_status inputs_add_dataset(struct input_list *list, const struct clv_dataset *dataset,
                                   struct clv_error *err) CLV_CHECK;

#endif
