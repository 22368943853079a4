/* The model of a file that is open. */
#ifndef MODEL_FILE_H
#define MODEL_FILE_H

#include "base/json.h"
#include "base/text.h"
#include "cleave/model.h"
#include "cleave/problem.h"
#include "data/tensors.h"

/* The model of an open file; `path` names it in messages. *model is unchanged on failure. */
enum clv_status model_parse(struct clv_model *model, const struct clv_tensors *tensors, const char *path,
                            struct clv_error *err) CLV_CHECK;

/* Shapes and the weights that have them, in model files: JSON members and tensors. */
/* Names of the tensors of a stage. */
struct weight_names {
    const char *unary, *pairwise;
};

/* The members "n_labels":K,"n_features":d,.. without braces; the shape's form must be one that there is. */
void shape_put_json(struct text *text, const struct clv_shape *shape);
bool shape_has_form(const struct clv_shape *shape);

/* The same members of a file's object. Only the form is checked. */
enum clv_status shape_read(struct clv_shape *shape, const struct json_value *object, const char *path,
                           struct clv_error *err) CLV_CHECK;

/* What must hold of any shape; `name` is the file. */
enum clv_status shape_check(const struct clv_shape *shape, const char *name, struct clv_error *err) CLV_CHECK;

/* Weights w[clv_shape_size(shape)] must be finite, and couplings not negative. */
enum clv_status weights_check(const struct clv_shape *shape, const double *w, const char *name,
                              struct clv_error *err) CLV_CHECK;

/* Weights as one tensor or two, views of them; returns how many. */
size_t weights_tensors(struct clv_tensor tensors[2], const struct clv_shape *shape, const double *w,
                       const struct weight_names *names);

/* *w (array_free it) from a file's tensors, checked against a shape that was, and as weights_check does. */
enum clv_status weights_read(double **w, const struct clv_shape *shape, const struct clv_tensors *tensors,
                             const struct weight_names *names, const char *path, struct clv_error *err) CLV_CHECK;

#endif
