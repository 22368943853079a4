/* `cleave import`: converts annotations of other programs to a set: images/, masks/, instances/, boxes.tsv, labels.tsv
 * and manifest.tsv. cmd_import.c reads the options and the annotations and draws their outlines, import_dsb.c reads
 * folders with one mask per object, import_geojson.c converts the polygons of a layer to an image's pixels,
 * import_objects.c combines objects to masks and label images, import_voc.c copies VOC's masks, import_write.c chooses
 * splits and writes the set, import_masks.c converts masks of other programs by a plan (src/masks), import_output.c
 * moves the set to its place, import_letters.c makes a feature file of words. */
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
    const char *output;      /* a new or empty folder, or a set to be replaced; for letters a file */
    bool overwrite;
    const char *split_option; /* the first given option about the split, without dashes; NULL: none */
    uint64_t seed;
    double train_share;
    const char *property; /* the property of GeoJSON's features that has their labels; NULL: not given */
    int outside;          /* pixels that no object covers are 0: background, 1: void */
    int group_by_folder;  /* 0: if there are many folders; 1: never; 2: always */
    bool has_folds;
    uint8_t folds[LETTER_MAX_FOLDS]; /* 1: its words are imported */
    struct clv_image_limits limits;
    /* only for the format masks: */
    const char *labels; /* a labels.tsv, or NULL */
    int codes;          /* 0: detected, else 1 + index in code_tables */
    int as, white;      /* enum mask_as, enum mask_white */
    int run_rows;       /* run lengths are along rows */
    bool stretches;
    bool all_images; /* images without a mask are imported, too */
};

/* The output folder, which only one run at a time may make. The set is built in a hidden folder beside it. */
struct import_output {
    char *target, *work;
    bool replaces;          /* an existing set */
    mode_t mode;            /* of the folder that is replaced; 0: there is none */
    struct outputs outputs; /* the lock, and the files to be replaced */
};

/* Locks the output and makes the hidden folder. CLV_ERR_CREATE, without any change, if another run is making the set,
 * or existing files may not be replaced. */
enum clv_status import_output_begin(struct import_output *self, const struct import_options *options,
                                    struct clv_error *err) CLV_CHECK;
/* Moves the content of `work` to the target, atomically. */
enum clv_status import_output_finish(struct import_output *self, struct clv_error *err) CLV_CHECK;
void import_output_release(struct import_output *self);

/* One image of the new set. */
struct import_item {
    char *name;      /* below images/ */
    char *image;     /* path to open */
    char *mask;      /* path below the set, or NULL */
    char *instances; /* path below the set of the label image of its objects, or NULL */
    bool has_boxes;
    const char *published; /* its published split, static, or NULL */
    const char *split;     /* static, or NULL: not chosen yet */
};

/* The new set. */
struct import_set {
    const struct import_options *options;
    const char *folder; /* where it is built */
    struct import_item *items;
    size_t n, capacity;
    size_t n_masks, n_boxed, n_failed;
    size_t n_bad_files; /* annotation files with errors */
    size_t n_faults[CLV_ANNOTATION_FAULTS], n_crowd_objects;
    size_t n_unnamed;              /* pixels of colours without a label, which are void */
    size_t n_overlapped, n_hidden; /* objects that lost some, and all of their pixels to others */
    bool has_tiff;                 /* some label image is a TIFF */
    struct text boxes, labels;     /* contents of boxes.tsv and labels.tsv */
    struct path_list splits;       /* names of published splits, which items point to */
};
void import_set_release(struct import_set *self);

/* Adds an item with copies of name and image; `split` is static. CLV_ERR_DATA: the tables cannot have the name. */
enum clv_status import_add(struct import_set *self, const char *name, const char *image, const char *split,
                           struct clv_error *err) CLV_CHECK;

/* Call after each image: if it failed with an error of its own data, reports the error, removes its items from n_before
 * on, and returns CLV_OK, so that only this image is skipped. */
enum clv_status import_settle(struct import_set *self, size_t n_before, enum clv_status status,
                              struct clv_error *err) CLV_CHECK;

/* The objects of an image. If objects overlap, the one with fewer pixels is in front; of equal ones the later. */
struct import_objects {
    struct clv_object_map map;
    uint8_t *layer; /* [height][width] 1 on the next object; import_objects_add resets it to 0 */
    uint8_t *mask;  /* [height][width] */
    struct import_object {
        int64_t area, left; /* pixels, and visible pixels */
        int32_t number;     /* in the map; 0: none */
        uint8_t value;      /* in the mask */
        bool is_crowd;      /* several objects as one: only in the mask */
    } * objects;            /* [n] */
    size_t n, capacity;
    size_t n_unsuited; /* masks of another size than the image, which are void */
    bool is_unsure;    /* pixels that no object covers are void, not background */
    char why[256];     /* the error of the first of n_unsuited */
};
enum clv_status import_objects_begin(struct import_objects *self, int32_t width, int32_t height,
                                     struct clv_error *err) CLV_CHECK;
void import_objects_release(struct import_objects *self);
/* Adds the object in `layer`, whose pixels are all in `within`. O(pixels within). */
enum clv_status import_objects_add(struct import_objects *self, uint8_t value, bool is_crowd,
                                   const struct clv_pixel_box *within, struct clv_error *err) CLV_CHECK;
/* Paints an entry: its outlines, those of a group as one object, and voids. placed[entry->n_boxes] are its boxes in
 * pixels, values[label] the values in the mask. */
enum clv_status import_objects_paint(struct import_objects *self, const struct clv_image_boxes *entry,
                                     const struct clv_box *placed, const uint8_t *values,
                                     struct clv_error *err) CLV_CHECK;
/* Writes the mask of the set's last item and, if it has objects, its label image. */
enum clv_status import_objects_end(struct import_objects *self, struct import_set *set,
                                   struct clv_error *err) CLV_CHECK;

/* *laid = the polygons of the layer that intersect the image, in its pixels; release with import_unlay, whatever the
 * status. Names are borrowed from the layer. Without a georeference, coordinates are pixels. CLV_ERR_DATA: different
 * coordinate systems. */
enum clv_status import_lay(struct clv_image_boxes *laid, const struct clv_image_boxes *layer, const char *image,
                           const struct clv_image_limits *limits, struct clv_error *err) CLV_CHECK;
/* CLV_ERR_DATA unless every image has a georeference, which images that share a layer need. */
enum clv_status import_check_georeferences(const struct clv_set *images, struct clv_error *err) CLV_CHECK;
void import_unlay(struct clv_image_boxes *laid);

/* Imports folders with one mask per object. */
enum clv_status import_dsb(struct import_set *self, struct clv_error *err) CLV_CHECK;

/* Imports VOC's SegmentationClass: copies its masks and keeps its splits. */
enum clv_status import_voc(struct import_set *self, struct clv_error *err) CLV_CHECK;

/* Imports masks of other programs, and run lengths in a CSV. */
enum clv_status import_masks(struct import_set *self, struct clv_error *err) CLV_CHECK;

/* Parses --folds (the member is a struct import_options). import_letters writes the words of these folds of Taskar's
 * letters as a feature file, which the command has claimed. */
enum clv_status import_take_folds(void *member, const struct clv_option *option, const char *typed,
                                  struct clv_error *err) CLV_CHECK;
enum clv_status import_letters(const struct import_options *options, struct clv_error *err) CLV_CHECK;

/* Keeps the published splits if there are at least two; then images without a split get "train", and "val" becomes
 * "test" if there is none. Otherwise chooses splits for items without one: images with the same bytes and, if there are
 * many folders, images of one folder stay together. */
enum clv_status import_split(struct import_set *self, struct clv_error *err) CLV_CHECK;

/* Write the mask, then the objects of the item that was added last, and copy a file into the set. */
enum clv_status import_write_mask(struct import_set *self, int32_t width, int32_t height, const uint8_t *mask,
                                  struct clv_error *err) CLV_CHECK;
enum clv_status import_write_objects(struct import_set *self, const struct clv_object_map *map,
                                     struct clv_error *err) CLV_CHECK;
enum clv_status import_copy(const struct import_set *self, const char *from, const char *below,
                            struct clv_error *err) CLV_CHECK;

/* Prints notes on annotations that are not plain objects and on their treatment, by kind. */
void import_report(const struct import_set *self);
/* Fails because images or annotation files could not be imported; each was reported before. */
enum clv_status import_fail(const struct import_set *self, struct clv_error *err);

/* Writes the images, then the tables, the manifest last. */
enum clv_status import_write(struct import_set *self, struct clv_error *err) CLV_CHECK;

#endif
