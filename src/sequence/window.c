/* Joins the slices of a window into one problem and labels it. Divides a sequence into overlapping windows. Start at
 * window_label. */
#include "sequence/sequence.h"

#include "base/base.h"
#include "model/model.h"

static enum clv_status join(struct clv_example *all, const struct slice_window *window, const struct clv_recipe *recipe,
                            struct clv_error *err)
{
    OWNED(stack_release) struct stack stack = {0};
    const struct slice *before = NULL;
    stack_init(&stack, recipe, 0);
    for (size_t i = 0; i < window->n; i++) {
        struct slice *slice = window->slices[i];
        if (slice)
            MUST(stack_add(&stack, slice, window->is_apart[i] ? NULL : before, err));
        before = slice;
    }
    return stack_take(all, &stack, err);
}

static enum clv_status expand(int32_t *y, const struct clv_model *model, const struct clv_problem *problem,
                              struct clv_oracle *oracle, struct clv_error *err)
{
    OWNED(scored_field_release) struct clv_field field = {0};
    MUST(model_field_init(&field, model, problem, err));
    return clv_oracle_expand(oracle, y, NULL, &field, err);
}

enum clv_status window_label(int32_t *y, double *margin, double *marginals, const struct slice_window *window,
                             const struct clv_model *model, struct clv_oracle *oracle, struct clv_error *err)
{
    OWNED(clv_example_release) struct clv_example all = {0};
    MUST(join(&all, window, &model->recipe, err));
    bool expands = model->layout.n_labels > 2 && model->layout.pairwise == CLV_PAIRWISE_POTTS;
    if (y)
        MUST(expands ? expand(y, model, &all.problem, oracle, err)
                     : clv_model_predict(y, model, &all.problem, oracle, err));
    if (margin)
        MUST(clv_oracle_margins(oracle, margin, y, err));
    if (marginals)
        MUST(model_marginals(marginals, model, &all.problem, err));
    return CLV_OK;
}

enum clv_status window_score(double *values, score_nodes score, void *context, const struct slice_window *window,
                             const struct clv_model *model, struct clv_oracle *oracle, struct clv_error *err)
{
    OWNED(clv_example_release) struct clv_example all = {0};
    MUST(join(&all, window, &model->recipe, err));
    return score(context, values, &all.problem, oracle, err);
}

size_t windows_count(size_t n, size_t size)
{
    size_t step = size / 2;
    return n <= size ? 1 : 1 + (n - size + step - 1) / step;
}

size_t window_first(size_t k, size_t n, size_t size)
{
    size_t first = k * (size / 2);
    return n <= size ? 0 : first + size > n ? n - size : first;
}

size_t window_end_of_own(size_t k, size_t n, size_t size)
{
    if (k + 1 >= windows_count(n, size))
        return n;
    return (window_first(k, n, size) + window_first(k + 1, n, size) + size - 1) / 2 + 1;
}
