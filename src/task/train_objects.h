/* Learning of objects from images and the object that each of their pixels belongs to. */
#ifndef TASK_TRAIN_OBJECTS_H
#define TASK_TRAIN_OBJECTS_H

#include "cleave/learn.h"
#include "object/object_model.h"

/* Where images come from: read gives image `index` and *objects[height][width], 0: none (array_free it). It is called by
 * several threads. */
struct object_source {
    enum clv_status (*read)(void *context, struct clv_image *image, int32_t **objects, size_t index,
                            struct clv_error *err);
    void *context;
    size_t n_images;
};

/* Learns the network of pixels from 650,000 of all images or 16,000 of each, more of them near borders of objects than there are, then whether
 * the borders of regions cut, by any learner of two labels, from 100 of the images, drawn by seed. `like`
 * has its parameters, seed, threads and progress. Regions are made of the images that the network was learned from:
 * with those of others, by folds, held-out nuclei were no better (F1 .811 and .816). Same seed, same bytes. */
enum clv_status train_objects(struct object_model *model, const struct object_source *source,
                              const struct clv_learner *learner, const struct clv_training *like,
                              struct clv_error *err) CLV_CHECK;

#endif
