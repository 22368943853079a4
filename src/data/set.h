/* This folder reads sets of images and what goes with them. A set is a manifest (manifest.c over tsv.c) or a bare folder
 * (folder.c); both add items by set_add, and set_open.c chooses. Labels are in labels.c, masks in mask*.c, tensor files
 * in safetensors_*.c, Taskar's letters in letters.c. boxes/ reads boxes. Read cleave/data.h first, then manifest.c. */
#ifndef DATA_SET_H
#define DATA_SET_H

#include "base/path.h"
#include "cleave/data.h"

/* Appends an item; capacity is the caller's. `mask`, `instances`, `boxes`, `tags` and `sequence` may be NULL; paths are relative
 * to the root. */
struct item_fields {
    const char *name, *mask, *instances, *boxes, *split, *tags, *sequence;
    const char *maps[CLV_MAX_MAPS]; /* relative to the root, too; by the set's map_names, of which there may be none */
};
enum clv_status set_add(struct clv_set *set, size_t *capacity, const struct item_fields *fields,
                        struct clv_error *err) CLV_CHECK;

/* A path from the root as one that opens, array_free it; the root "." is left out of it. NULL: out of memory. */
char *set_path(const struct clv_set *set, const char *relative);

/* Whether a path below a folder of images leads to what belongs to them: their masks/, strokes/, overlays/, cutouts/,
 * objects/ or instances/. */
bool set_is_own(const char *below);

/* Whether it is a file that a set has besides its images: labels.tsv and the like, and the model of `cleave label'. */
bool set_is_table(const char *below);

/* Moves files below a folder that are masks by its layout, as clv_set_read_folder sees it, to `masks`: photo_mask.png
 * next to photo.jpg, and what is in the folder of masks. */
enum clv_status set_take_masks(struct path_list *masks, struct path_list *files, const char *folder,
                               struct clv_error *err) CLV_CHECK;

/* clv_mask_read of an item's mask, which may be a derived one. */
enum clv_status item_mask_read(struct clv_mask *mask, const struct clv_item *item, const struct clv_labels *labels,
                               int32_t expected_width, int32_t expected_height, const struct clv_image_limits *limits,
                               struct clv_error *err) CLV_CHECK;

/* Reads labels.tsv in the root if there is one, else the labels are binary. */
enum clv_status set_read_labels(struct clv_set *set, struct clv_error *err) CLV_CHECK;

/* clv_set_select for learning: NULL keeps the split "train" where there is one, else all. */
enum clv_status set_select_training(struct clv_set *set, const char *splits, struct clv_error *err) CLV_CHECK;

/* Takes the masks of drafts away, which are no truth yet, and returns how many there were. */
size_t set_drop_drafts(struct clv_set *set);

#endif
