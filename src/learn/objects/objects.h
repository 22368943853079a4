/* Learning to tell touching objects apart, and keeping what was learned in a model. Read train_objects first. */
#ifndef LEARN_OBJECTS_OBJECTS_H
#define LEARN_OBJECTS_OBJECTS_H

#include "cleave/data.h"
#include "cleave/learn.h"
#include "cleave/model.h"
#include "cleave/train.h"
#include "object/object.h"

/* Learning of objects from images and the object that each of their pixels belongs to. */

/* Items of a set that have objects, in files or in memory. */
struct object_items {
    const struct clv_item **items; /* [n] */
    size_t n;
    size_t *n_tiny;                  /* [n] counts the objects of one pixel of those that were read */
    const struct clv_labels *labels; /* of their masks */
    const struct clv_image_limits *limits;
};

/* Reads image `index` and *objects[height][width] (array_free it), 0: none, OBJECT_UNKNOWN: nothing is learned from that
 * pixel. Safe from several threads. */
#define OBJECT_UNKNOWN (-1)
enum clv_status object_items_read(struct clv_image *image, int32_t **objects, const struct object_items *self,
                                  size_t index, struct clv_error *err) CLV_CHECK;

/* Learns the networks of pixels from 650,000 of all images or 16,000 of each, more of them near borders of objects than
 * there are, the second one's context by the first; then whether the borders of regions cut, by any learner of two
 * labels, from 40 of the images, drawn by seed (from 33 held-out nuclei were as good as from 100). `like` has its
 * parameters, seed, threads and progress. Regions are made of the images that the networks were learned from: with
 * those of others, by folds, held-out nuclei were no better (F1 .811 and .816). Same seed, same bytes.
 * CLV_ERR_INTERRUPTED where progress asks to stop. */
enum clv_status train_objects(struct object_model *model, const struct object_items *items,
                              const struct clv_learner *learner, const struct clv_training *like,
                              struct clv_error *err) CLV_CHECK;

/* Learns from those of a set's first n images that have a file of objects, and attaches it; nothing where none has. */
enum clv_status learned_objects_train(struct clv_model *model, const struct clv_set *set, size_t n,
                                      const struct clv_train_options *options, struct clv_error *err) CLV_CHECK;

#endif
