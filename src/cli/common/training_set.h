/* Sets as training takes them in. */
#ifndef CLI_TRAINING_SET_H
#define CLI_TRAINING_SET_H

#include <stdbool.h>

#include "cleave/features.h"
#include "cli/common/outputs.h"

/* Whether a file is a safetensors file (told by content) rather than a manifest. */
bool is_tensor_file(const char *path);

/* Reads a set and keeps the splits asked for. With splits NULL and prefer_train, a set that has a split "train" is cut down
 * to it, which a note tells. None of the whole set's files may be one of the outputs. */
enum clv_status training_set_read(struct clv_set *set, const char *path, const char *splits, bool prefer_train,
                                  const struct outputs *outputs, struct clv_error *err) CLV_CHECK;

/* --void: makes void of the labels so named; NULL: of none. Errors name the option. */
#define VOID_HELP "Labels that are void, too: their pixels neither teach nor count"
enum clv_status training_set_hide(struct clv_set *set, const char *names, struct clv_error *err) CLV_CHECK;

/* Leaves out the items without a mask, which a note counts; none left is an error. */
enum clv_status training_set_require_masks(struct clv_set *set, const char *path, struct clv_error *err) CLV_CHECK;

/* Reads the masks of the first n items against its image's size, so that a bad one is known before long work starts; notes how masks were
 * understood (0/255 as 0/1). boxes[n] (may be NULL, else of NULLs) receive the box of each mask's figure, array_free them; none
 * where there is no figure. */
enum clv_status training_set_check_masks(struct clv_item_boxes *boxes, const struct clv_set *set, size_t n,
                                         int n_threads, const struct clv_image_limits *limits,
                                         const struct clv_progress *progress, struct clv_error *err) CLV_CHECK;

/* image paths[n_items], views into the set; array_free it. NULL when out of memory. */
const char **training_set_images(const struct clv_set *set);

#endif
