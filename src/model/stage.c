/* Computes the marginals of the first of two stages by damped sum-product, and the scores of a model of one or two
 * stages. Start at model_field_init. */
#include "model/model.h"

#include "base/base.h"
#include "cleave/infer.h"
#include "infer/infer.h"

/* Marginals that become features need no higher precision. */
enum { ITERATIONS = 20 };
static const double DAMPING = 0.3, TOLERANCE = 1e-3;

void stage_free(struct clv_stage *stage)
{
    if (stage)
        array_free(stage->w);
    array_free(stage);
}

enum clv_status stage_propagate(double *marginals, const struct clv_field *field, double temperature,
                                struct clv_error *err)
{
    struct clv_bp_options options;
    OWNED(bp_drop) struct clv_bp *bp = NULL;
    clv_bp_defaults(&options);
    options.temperature = temperature;
    options.max_iterations = ITERATIONS;
    options.damping = DAMPING;
    options.tolerance = TOLERANCE * temperature;
    MUST(clv_bp_new(&bp, err));
    return clv_bp_run(bp, marginals, NULL, NULL, field, &options, err);
}

enum clv_status stage_marginals(double *marginals, const struct clv_stage *stage, const struct clv_problem *problem,
                                struct clv_error *err)
{
    OWNED(scored_field_release) struct clv_field field = {0};
    MUST(scored_field_init(&field, &stage->layout, stage->w, problem, err));
    return stage_propagate(marginals, &field, stage->temperature, err);
}

struct clv_weight_layout stage_next_layout(const struct clv_weight_layout *layout, enum clv_pairwise form)
{
    struct clv_weight_layout next = *layout;
    next.pairwise = form;
    next.n_features += context_size(layout->n_labels);
    next.n_edge_features += context_edge_size(layout->n_edge_features, form);
    return next;
}

/* Computes the problem of the next stage, whose layout is `next`. context_release is allowed after a failure, too. */
static enum clv_status stage_context(struct context *context, const struct clv_stage *stage,
                                     const struct clv_weight_layout *next, const struct clv_problem *problem,
                                     struct clv_error *err)
{
    int32_t n_labels = stage->layout.n_labels;
    size_t n = problem->n_nodes > 0 ? (size_t)problem->n_nodes : 0;
    OWNED_ARRAY double *marginals = array_alloc(n, (size_t)n_labels * sizeof *marginals);
    *context = (struct context){0};
    NEED(marginals);
    MUST(stage_marginals(marginals, stage, problem, err));
    return context_init(context, problem, marginals, n_labels, next->n_edge_features - stage->layout.n_edge_features,
                        err);
}

enum clv_status model_field_init(struct clv_field *field, const struct clv_model *model,
                                 const struct clv_problem *problem, struct clv_error *err)
{
    OWNED(context_release) struct context context = {0};
    if (!model->first)
        return scored_field_init(field, &model->layout, model->w, problem, err);
    *field = (struct clv_field){0};
    MUST(stage_context(&context, model->first, &model->layout, problem, err));
    /* The edges of context.problem are those of `problem`, so they outlive the context. */
    return scored_field_init(field, &model->layout, model->w, &context.problem, err);
}
