/* A trained model: recipe, weights, labels, and the record of how it was made. One safetensors file. */
#ifndef CLEAVE_MODEL_H
#define CLEAVE_MODEL_H

#include "cleave/data.h"
#include "cleave/features.h"
#include "cleave/infer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The record: free-form, kept in order ("learner" "ssvm", "seed" "1", "objective" "0.71 0.52 ..."). */
struct clv_record_entry {
    char *key, *value;
};

struct clv_model {
    struct clv_shape shape;
    double *w; /* [clv_shape_size(shape)] */
    struct clv_recipe recipe;
    int has_recipe; /* 0: trained on features from elsewhere */
    struct clv_labels labels;
    struct clv_record_entry *record;
    size_t n_record;
};
CLV_API void clv_model_release(struct clv_model *model);
CLV_API enum clv_status clv_model_note(struct clv_model *model, const char *key, const char *value,
                                       struct clv_error *err) CLV_CHECK; /* adds or replaces */
CLV_API const char *clv_model_record(const struct clv_model *model, const char *key); /* or NULL */

/* Files: old or new, never half. Reading checks everything: magic, version, finite weights, shapes against the recipe. */
CLV_API enum clv_status clv_model_write(const char *path, const struct clv_model *model, struct clv_error *err) CLV_CHECK;
CLV_API enum clv_status clv_model_read(struct clv_model *model, const char *path, struct clv_error *err) CLV_CHECK;

/* Decodes one problem: y[n_nodes]. */
CLV_API enum clv_status clv_model_predict(int32_t *y, const struct clv_model *model, const struct clv_problem *problem,
                                          struct clv_oracle *oracle, struct clv_error *err) CLV_CHECK;

#ifdef __cplusplus
}
#endif
#endif
