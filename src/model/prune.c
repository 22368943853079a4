/* Models without their small weights. */
#include <math.h>

#include "base/array.h"
#include "base/error.h"
#include "cleave/model.h"
#include "feature/recipe/plan.h"

static void prune(double *w, size_t n, double threshold)
{
    double largest = 0;
    for (size_t k = 0; k < n; k++)
        largest = fmax(largest, fabs(w[k]));
    for (size_t k = 0; k < n; k++)
        if (fabs(w[k]) <= threshold * largest)
            w[k] = 0;
}

void clv_weights_prune(double *w, const struct clv_shape *shape, double threshold)
{
    size_t n_unary = clv_shape_unary_size(shape);
    prune(w, n_unary, threshold);
    prune(w + n_unary, clv_shape_size(shape) - n_unary, threshold);
}

/* Whether one of w[first], w[first + stride], .. is not 0. */
static uint8_t has_weight(const double *w, size_t first, size_t stride, size_t n)
{
    for (size_t k = first; k < n; k += stride)
        if (w[k] != 0)
            return 1;
    return 0;
}

enum clv_status clv_model_leave_out(struct clv_model *model, struct clv_error *err)
{
    const struct clv_shape *shape = &model->shape;
    if (!model->has_recipe)
        return fail(err, CLV_ERR_USAGE, "the model was learned from features made elsewhere; it has no recipe");
    if (model->first)
        return fail(err, CLV_ERR_USAGE, "the model has two stages, which both look at features");
    size_t d = (size_t)shape->n_features, p = (size_t)shape->n_edge_features;
    size_t n_unary = clv_shape_unary_size(shape), n_pairwise = clv_shape_size(shape) - n_unary;
    uint8_t *kept = array_alloc(d + p, sizeof *kept);
    if (!kept)
        return fail_memory(err);
    for (size_t k = 0; k < d; k++)
        kept[k] = has_weight(model->w, k, d, n_unary);
    for (size_t k = 0; k < p; k++)
        kept[d + k] = has_weight(model->w + n_unary, k, p, n_pairwise);
    for (size_t k = 0; model->recipe.kept && k < d + p; k++)
        kept[k] &= model->recipe.kept[k];
    array_free(model->recipe.kept);
    model->recipe.kept = kept;
    bool words[CLV_MAX_SCALES];
    plan_words(words, &model->recipe);
    for (int s = 0; s < CLV_MAX_SCALES; s++)
        if (!words[s]) {
            array_free(model->recipe.codebooks[s].centres);
            model->recipe.codebooks[s] = (struct clv_codebook){0};
        }
    return CLV_OK;
}
