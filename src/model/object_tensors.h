/* Reads the part of a model that finds objects from the tensors that it carries: objects.shrink f32 [1];
 * objects.standard f32 [2][d] and objects.network f32 [copies][weights] of the pixel network, objects.standard2 and
 * objects.network2 of the one with context; and, if training objects touched, objects.border f64 [columns of
 * edge_problem.c]. */
#ifndef MODEL_OBJECT_TENSORS_H
#define MODEL_OBJECT_TENSORS_H

#include <stdbool.h>

#include "cleave/model.h"
#include "object/object.h"

enum clv_status learned_objects_attach(struct clv_model *model, const struct object_model *objects,
                                       struct clv_error *err) CLV_CHECK;

/* Returns whether a model has learned to find objects. */
bool learned_objects_are_there(const struct clv_model *model);

/* Sets *objects to a view of the model's tensors, which is not to be released. CLV_ERR_DATA for tensors that are not as
 * above. */
enum clv_status learned_objects_view(struct object_model *objects, const struct clv_model *model,
                                     struct clv_error *err) CLV_CHECK;

#endif
