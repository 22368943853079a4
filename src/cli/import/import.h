/* `cleave import`: annotations of other programs as a set of cleave's own: images/, masks/, instances/, boxes.tsv,
 * labels.tsv and manifest.tsv. cmd_import.c reads the options and the annotations and draws their outlines,
 * import_dsb.c reads folders of a mask for each object, import_geojson.c lays polygons on images, import_objects.c
 * puts objects together, import_voc.c takes over VOC's masks, import_write.c chooses splits and writes the set,
 * import_masks.c converts masks of other programs by a plan (src/masks), import_output.c puts the set in place.
 * import_letters.c makes a feature file of words. */
#ifndef CLI_IMPORT_H
#define CLI_IMPORT_H

#include <stdbool.h>

#include "base/base.h"
#include "cleave/boxes.h"
#include "cleave/objects.h"
#include "cli/common/common.h"
#include "data/data.h"

struct import_options {
    const char *form;        /* as typed */
    const char *annotations; /* a file or folder */
    const char *images;      /* a folder */
    const char *output;      /* a folder that is not there, or empty, or a set to be replaced; of letters a file */
    bool overwrite;
    const char *of_split; /* the first option given that is about the split, without dashes; NULL: none */
    uint64_t seed;
    double train_share;
    const char *property; /* of GeoJSON's features, their labels; NULL: not given */
    int outside;          /* what no object covers is 0: background, 1: void */
    int group_by_folder;  /* 0: if there are many; 1: never; 2: always */
    bool has_folds;
    uint8_t folds[LETTER_MAX_FOLDS]; /* 1: its words are wanted */
    struct clv_image_limits limits;
    /* of masks alone: */
    const char *labels; /* a labels.tsv, or NULL */
    int codes;          /* 0: as found, else 1 + the place in code_tables */
    int as, white;      /* enum mask_as, enum mask_white */
    int run_rows;       /* runs go along rows */
    bool stretches;
    bool all_images; /* those without a mask are taken, too */
};

/* One run at a time makes a set of a name, in a hidden folder next to it. */
struct import_output {
    char *target, *work;
    bool replaces;          /* a set that is there */
    mode_t mode;            /* of the folder that gives way; 0: there is none */
    struct outputs outputs; /* the lock, and the files to be replaced */
};

/* CLV_ERR_CREATE, and nothing is done, if another run makes it, or what is there may not be replaced. */
enum clv_status import_output_begin(struct import_output *self, const struct import_options *options,
                                    struct clv_error *err) CLV_CHECK;
/* Puts what work holds in the target's place, at once. */
enum clv_status import_output_finish(struct import_output *self, struct clv_error *err) CLV_CHECK;
void import_output_release(struct import_output *self);

/* One image of the set that is made. */
struct import_item {
    char *name;      /* below images/ */
    char *image;     /* path that opens */
    char *mask;      /* below the set, or NULL */
    char *instances; /* the same: the label image of its objects */
    bool has_boxes;
    const char *published; /* the split that it was published in, static, or NULL */
    const char *split;     /* static, or NULL: not chosen yet */
};

/* The set that is made. */
struct import_set {
    const struct import_options *options;
    const char *folder; /* that it is made in */
    struct import_item *items;
    size_t n, capacity;
    size_t n_masks, n_boxed, n_failed;
    size_t n_bad_files; /* of annotations */
    size_t n_faults[CLV_ANNOTATION_FAULTS], n_crowd_objects;
    size_t n_unnamed;              /* pixels of colours without a label, which are void */
    size_t n_overlapped, n_hidden; /* objects that lost pixels to others, and those without any */
    bool has_tiff;                 /* a label image is one */
    struct text boxes, labels;     /* what boxes.tsv and labels.tsv will hold */
    struct path_list splits;       /* names of published splits, which items point to */
};
void import_set_release(struct import_set *self);

/* Starts an item by copies; `split` is static. */
enum clv_status import_add(struct import_set *self, const char *name, const char *image, const char *split,
                           struct clv_error *err) CLV_CHECK;

/* After an image, of which nothing stays if it failed: what is wrong with one costs that image. */
enum clv_status import_settle(struct import_set *self, size_t n_before, enum clv_status status,
                              struct clv_error *err) CLV_CHECK;

/* The objects of an image. Of those that overlap the one with fewer pixels is in front, of equal ones the later. */
struct import_objects {
    struct clv_object_map map;
    uint8_t *layer; /* [height][width] 1: where the next object is; import_objects_add takes it and leaves 0 */
    uint8_t *mask;  /* [height][width] */
    struct import_object {
        int64_t area, left; /* pixels, and those that no other object is in front of */
        int32_t number;     /* in the map; 0: none */
        uint8_t value;      /* of the mask */
        bool is_crowd;      /* objects that are not told apart: of the mask alone */
    } * objects;            /* [n] */
    size_t n, capacity;
    size_t n_unsuited; /* masks of another size than the image, which are void */
    bool is_unsure;    /* what no object covers is not known to be background */
    char why[256];     /* what is wrong with the first of n_unsuited */
};
enum clv_status import_objects_begin(struct import_objects *self, int32_t width, int32_t height,
                                     struct clv_error *err) CLV_CHECK;
void import_objects_release(struct import_objects *self);
/* `within` has all of the layer's. O(pixels within). */
enum clv_status import_objects_add(struct import_objects *self, uint8_t value, bool is_crowd,
                                   const struct clv_pixel_box *within, struct clv_error *err) CLV_CHECK;
/* Paints an entry: its outlines, those of a group as one object, and voids; placed[entry->n_boxes] are its boxes in
 * pixels, values[label] are those of the mask. */
enum clv_status import_objects_paint(struct import_objects *self, const struct clv_image_boxes *entry,
                                     const struct clv_box *placed, const uint8_t *values,
                                     struct clv_error *err) CLV_CHECK;
/* Mask and label image of the set's last item; the latter if there are objects. */
enum clv_status import_objects_end(struct import_objects *self, struct import_set *set,
                                   struct clv_error *err) CLV_CHECK;

/* *laid has those polygons of the layer that meet the image, in its pixels; import_unlay it, whatever the status. Its
 * names are the layer's. An image without a georeference has pixels for coordinates. CLV_ERR_DATA: another coordinate system.
 * */
enum clv_status import_lay(struct clv_image_boxes *laid, const struct clv_image_boxes *layer, const char *image,
                           const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;
/* CLV_ERR_DATA unless each image lies somewhere on Earth, as images that share a layer must. */
enum clv_status import_check_georeferences(const struct clv_set *images, struct clv_error *err) CLV_CHECK;
void import_unlay(struct clv_image_boxes *laid);

/* Folders of a mask for each object. */
enum clv_status import_dsb(struct import_set *self, struct clv_error *err) CLV_CHECK;

/* VOC's SegmentationClass: masks are taken over as they are, and so are its splits. */
enum clv_status import_voc(struct import_set *self, struct clv_error *err) CLV_CHECK;

/* Masks of other programs, and run lengths in a CSV. */
enum clv_status import_masks(struct import_set *self, struct clv_error *err) CLV_CHECK;

/* --folds (the member is a struct import_options), and Taskar's letters: the words of those folds as a feature file,
 * which the command has claimed. */
enum clv_status import_take_folds(void *member, const struct clv_option *option, const char *typed,
                                  struct clv_error *err) CLV_CHECK;
enum clv_status import_letters(const struct import_options *options, struct clv_error *err) CLV_CHECK;

/* Takes over the splits that were published if there are two or more, of which an image in none is for training and
 * "val" without a "test" is that. Else chooses the splits of items that have none: groups of images of the same bytes
 * and, if there are many folders, of one folder stay together. */
enum clv_status import_split(struct import_set *self, struct clv_error *err) CLV_CHECK;

/* The item's mask, objects and image as files; the item added last, which has its mask before its objects. */
enum clv_status import_write_mask(struct import_set *self, int32_t width, int32_t height, const uint8_t *mask,
                                  struct clv_error *err) CLV_CHECK;
enum clv_status import_write_objects(struct import_set *self, const struct clv_object_map *map,
                                     struct clv_error *err) CLV_CHECK;
enum clv_status import_copy(const struct import_set *self, const char *from, const char *below,
                            struct clv_error *err) CLV_CHECK;

/* Notes at the end: what became of annotations that are not plain objects, by kind. */
void import_report(const struct import_set *self);
/* The failure of a run in which images or files of annotations could not be taken over; each was named before. */
enum clv_status import_fail(const struct import_set *self, struct clv_error *err);

/* Images, then the tables, the manifest last. */
enum clv_status import_write(struct import_set *self, struct clv_error *err) CLV_CHECK;

#endif
