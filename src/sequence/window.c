#include "sequence/sequence.h"

#include "base/base.h"
#include "model/model.h"

static enum clv_status join(struct clv_example *all, const struct slice_window *window, const struct clv_recipe *recipe,
                            struct clv_error *err)
{
    struct stack stack;
    const struct slice *before = NULL;
    enum clv_status status = CLV_OK;
    stack_init(&stack, recipe, 0);
    for (size_t i = 0; i < window->n && status == CLV_OK; i++) {
        struct slice *slice = window->slices[i];
        if (slice)
            status = stack_add(&stack, slice, window->is_apart[i] ? NULL : before, err);
        before = slice;
    }
    TRY(stack_take(all, &stack, err));
    stack_release(&stack);
    return status;
}

static enum clv_status expand(int32_t *y, const struct clv_model *model, const struct clv_problem *problem,
                              struct clv_oracle *oracle, struct clv_error *err)
{
    struct clv_field field;
    enum clv_status status = model_field_init(&field, model, problem, err);
    TRY(clv_oracle_expand(oracle, y, NULL, &field, err));
    scored_field_release(&field);
    return status;
}

enum clv_status window_label(int32_t *y, double *margin, double *marginals, const struct slice_window *window,
                             const struct clv_model *model, struct clv_oracle *oracle, struct clv_error *err)
{
    struct clv_example all = {0};
    enum clv_status status = join(&all, window, &model->recipe, err);
    bool expands = model->shape.n_labels > 2 && model->shape.pairwise == CLV_PAIRWISE_POTTS;
    TRY_IF(y, expands ? expand(y, model, &all.problem, oracle, err)
                      : clv_model_predict(y, model, &all.problem, oracle, err));
    TRY_IF(margin, clv_oracle_margins(oracle, margin, y, err));
    TRY_IF(marginals, model_marginals(marginals, model, &all.problem, err));
    clv_example_release(&all);
    return status;
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
