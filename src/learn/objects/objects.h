/* Training of object models, which separate touching objects. Read train_objects.c first. */
#ifndef LEARN_OBJECTS_OBJECTS_H
#define LEARN_OBJECTS_OBJECTS_H

#include "cleave/data.h"
#include "cleave/learn.h"
#include "cleave/model.h"
#include "cleave/train.h"
#include "object/object.h"

/* Items of a set that have object maps, in files or in memory. */
struct object_items {
    const struct clv_item **items; /* [n] */
    size_t n;
    size_t *n_tiny;                  /* [n] number of one-pixel objects, set when an item is read */
    const struct clv_labels *labels; /* of their masks */
    const struct clv_image_limits *limits;
};

/* Reads image `index` and *objects[height][width] (array_free): the object of each pixel, 0 for none, OBJECT_UNKNOWN
 * for pixels that training ignores. Safe from several threads. */
#define OBJECT_UNKNOWN (-1)
enum clv_status object_items_read(struct clv_image *image, int32_t **objects, const struct object_items *self,
                                  size_t index, struct clv_error *err) CLV_CHECK;

/* Trains two networks that classify pixels, on at most 16,000 pixels per image and about 650,000 in all. Pixels near
 * borders of objects are sampled more often than others; the second network uses the first one's output as context.
 * Then trains any learner of two labels to predict which borders of regions separate objects, on 40 random images (with
 * 33 images held-out nuclei were as accurate as with 100). `settings` has its parameters, seed, threads and progress.
 * The regions are those of the images on which the networks were trained; regions by networks of other folds did not
 * improve held-out nuclei (F1 .811 and .816). The same seed gives the same bytes. CLV_ERR_INTERRUPTED when asked to
 * stop. */
enum clv_status train_objects(struct object_model *model, const struct object_items *items,
                              const struct clv_learner *learner, const struct clv_training *settings,
                              struct clv_error *err) CLV_CHECK;

/* Trains an object model on those of the set's first n images that have object maps, and attaches it to the model. Does
 * nothing if no image has one. */
enum clv_status learned_objects_train(struct clv_model *model, const struct clv_set *set, size_t n,
                                      const struct clv_train_options *options, struct clv_error *err) CLV_CHECK;

#endif
