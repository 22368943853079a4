/* Which images of a set teach, and how: by a mask, by boxes, or by being there. */
#ifndef TASK_TRAIN_IMAGES_H
#define TASK_TRAIN_IMAGES_H

#include "cleave/segment.h"
#include "feature/dataset/frame.h"
#include "task/training_set.h"

/* The images to be learned from: first those with masks, then those with boxes, then those with neither. Items of the
 * last two have no mask, whatever the manifest says, and each image is there once. */
struct supervision {
    struct clv_set set;
    struct item_boxes *boxes; /* [set.n_items], or NULL: none has boxes */
    size_t n_masks, n_boxed, n_unlabelled;
    struct bad_images bad; /* images left out, whose boxes do not fit them */
};
void supervision_release(struct supervision *self);

/* Reads the set of the options, and image sizes where boxes are to be placed. Images that cannot play their part are left
 * out, which notes count (no mask, no box); a name in `only` that the splits do not have, or whose image has no mask,
 * is an error, and so are nothing to learn from, and a set that options->check refuses. */
enum clv_status supervision_read(struct supervision *self, const struct clv_train_options *options,
                                 struct clv_error *err) CLV_CHECK;

#endif
