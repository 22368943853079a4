#ifndef BATCH_INPUTS_H
#define BATCH_INPUTS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/base.h"
#include "cleave/boxes.h"
#include "cleave/data.h"
#include "cleave/features.h"
#include "cleave/image.h"

/* The inputs of a command and the names of their outputs. Inputs are files, folders, a list on standard input, a set,
 * or the items of a feature file. */

struct input {
    char *name;                          /* for messages: the path as given, or the name in the set */
    char *image;                         /* path of the image; NULL for an item of a feature file */
    char *mask;                          /* path of the ground truth, or NULL */
    char *instances;                     /* path of the objects, or NULL */
    bool is_derived;                     /* the ground truth is derived from `instances` */
    char *maps[CLV_MAX_MAPS];            /* paths in the order of the list's map_names, or NULL */
    char *output;                        /* name of the output, by path_output: "a/b" for photos/a/b.jpg */
    char *file;                          /* file after which the output is named, "a/b.jpg"; NULL: the output is not
                                          * named after a file */
    bool is_path;                        /* given as a path, not by a set or a feature file */
    const struct clv_image_boxes *boxes; /* with --boxes: those of the image, borrowed */
    uint8_t *bytes;                      /* [size] of an image from standard input; NULL: the image is read from its
                                          * path */
    size_t size;
    size_t frame;       /* of a sequence: index in the order of all its frames, which is that of a file's pages */
    bool is_tiled;      /* a raster larger than --max-pixels, which is segmented tile by tile */
    const char *object; /* the input is the object of the boxes that name this mask; NULL: of the boxes that name
                         * none */
};

struct input_list {
    struct input *items;
    size_t n, capacity;
    char map_names[CLV_MAX_MAPS][CLV_MAX_MAP_NAME + 1]; /* of the last set added */
    size_t n_maps;
    size_t n_skipped;       /* number of files in folders that are not images */
    char *first_skipped;    /* the first of them, or NULL */
    size_t n_own;           /* number of skipped images: masks of a folder's images, images in folders of its set
                             * (set_is_own), outputs of runs */
    char *first_own;        /* the first of them, or NULL */
    const char *skip_below; /* real path of a folder; its files are skipped in folders around it */
};
void input_list_release(struct input_list *list);
void input_release(struct input *item);

/* Adds an input with copies of all arguments. mask may be NULL; output has no extension. */
enum clv_status inputs_add_object(struct input_list *list, const char *name, const char *image, const char *mask,
                                  const char *output, struct clv_error *err) CLV_CHECK;

/* Keeps n inputs from `first` and removes the others. */
void inputs_cut(struct input_list *list, size_t first, size_t n);

/* Returns the length of the folders at the beginning of `a`, at most `common`, that `b` has as well; it ends after a
 * slash. */
size_t path_shared_folder(const char *a, size_t common, const char *b);

/* Adds a file, or all images below a folder. A file becomes an input whatever it contains, and its output is named
 * after its stem. Of a folder, every file becomes an input that has an image's first bytes or extension and is not a
 * mask of another (set_take_masks), in the order of paths; outputs keep the subfolders. */
enum clv_status inputs_add_path(struct input_list *list, const char *path, const struct clv_progress *progress,
                                struct clv_error *err) CLV_CHECK;

/* Adds the image on standard input, called "standard input" in messages. CLV_ERR_DATA: more than max_size bytes. */
enum clv_status inputs_add_standard(struct input_list *list, size_t max_size, struct clv_error *err) CLV_CHECK;

/* Reads the image of an input. A note reports the first image of 12 bits. */
enum clv_status input_read_image(struct clv_image *image, const struct input *item,
                                 const struct clv_image_limits *limits, const struct clv_progress *progress,
                                 struct clv_error *err) CLV_CHECK;

/* Reads the ground truth of an input, which must have one, as clv_mask_read does. */
enum clv_status input_read_mask(struct clv_mask *mask, const struct input *item, const struct clv_labels *labels,
                                int32_t expected_width, int32_t expected_height, const struct clv_image_limits *limits,
                                struct clv_error *err) CLV_CHECK;

/* Adds the paths of a stream. Each ends with `separator`; empty ones are ignored. */
enum clv_status inputs_add_stream(struct input_list *list, FILE *stream, char separator,
                                  const struct clv_progress *progress, struct clv_error *err) CLV_CHECK;

/* Names the outputs of all inputs. If two inputs that are given as paths would have the same output although they are
 * in different folders, all of them keep their folders below the one that they share: 100/IMG_1 and 101/IMG_1. Files of
 * one stem in one folder keep their extensions: a.jpg and a.png. A note tells as what the pages of stacks were read. */
enum clv_status inputs_name_outputs(struct input_list *list, const struct clv_progress *progress,
                                    struct clv_error *err) CLV_CHECK;

/* Returns the length of the folder ("images/") that has all items of a set. Outputs are named without it. */
size_t set_common_folder(const struct clv_set *set);

/* Adds the items of a set, perhaps of selected splits. `common` is set_common_folder of the whole set, so that the
 * outputs of a split have the same names if it is processed alone. Rows that share an image, with one object each, name
 * their outputs after their masks, without the folder that all masks share. Files of one stem keep their extensions. */
enum clv_status inputs_add_set(struct input_list *list, const struct clv_set *set, size_t common,
                               struct clv_error *err) CLV_CHECK;

/* Adds the items of feature files. Their outputs are named by the same rule. */
enum clv_status inputs_add_dataset(struct input_list *list, const struct clv_dataset *dataset,
                                   struct clv_error *err) CLV_CHECK;

#endif
