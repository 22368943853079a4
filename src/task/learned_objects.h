/* What a model has learned of objects, as tensors that it carries: objects.shrink f32 [1], objects.standard f32 [2][d],
 * objects.network f32 [3][weights] and, where objects touched, objects.border f64 [columns of edge_problem.h]. */
#ifndef TASK_LEARNED_OBJECTS_H
#define TASK_LEARNED_OBJECTS_H

#include "cleave/model.h"
#include "cleave/objects.h"
#include "cleave/segment.h"
#include "object/object_model.h"

enum clv_status learned_objects_attach(struct clv_model *model, const struct object_model *objects,
                                       struct clv_error *err) CLV_CHECK;

/* Whether a model has learned of objects. */
bool learned_objects_are_there(const struct clv_model *model);

/* The objects of an image of 3 channels as a model that has learned of some finds them, *map without labels. One thread.
 * CLV_ERR_DATA for tensors that are not as above. */
enum clv_status learned_objects_find(struct clv_object_map *map, const struct clv_model *model,
                                     const struct clv_image *image, struct clv_error *err) CLV_CHECK;

/* Learns from those of a set's first n images that have a file of objects, and attaches it; nothing where none has. */
enum clv_status learned_objects_train(struct clv_model *model, const struct clv_set *set, size_t n,
                                      const struct clv_train_options *options, struct clv_error *err) CLV_CHECK;

#endif
