/* Computes the exact log-likelihood of the true labels, by message passing on forests or by bucket elimination. Start
 * at likelihood_of. */
#include "model/model.h"

#include "base/base.h"
#include "infer/elimination/elimination.h"

/* Largest table of bucket elimination. It takes a few tenths of a second. */
#define CELLS_MAX ((size_t)1 << 22)

void likelihood_release(struct likelihood *self)
{
    clv_forest_free(self->forest);
    bucket_release(&self->bucket);
    *self = (struct likelihood){0};
}

/* Computes log sum exp f over all labels of the nodes without a fixed label. */
static enum clv_status log_sum(double *value, struct likelihood *self, const struct clv_field *field,
                               const int32_t *label, struct clv_error *err)
{
    const struct clv_forest_options options = {.visible_temperature = 1, .hidden_temperature = 1, .label = label};
    bool fits;
    MUST(forest_fits(self->forest, &fits, field, &options, err));
    if (fits)
        return clv_forest_run(self->forest, value, NULL, NULL, NULL, field, &options, err);
    MUST(bucket_fits(&self->bucket, &fits, field, &options, CELLS_MAX, err));
    FAIL_IF(!fits, CLV_ERR_USAGE, "a graph of %d nodes and %d edges is too wide for an exact likelihood",
            field->n_nodes, field->n_edges);
    return bucket_run(&self->bucket, &(struct bucket_outputs){.value = value}, field, &options, err);
}

enum clv_status likelihood_of(double *value, struct likelihood *self, const struct clv_model *model,
                              const struct clv_problem *problem, struct clv_error *err)
{
    OWNED(scored_field_release) struct clv_field field = {0};
    double given = 0, all = 0;
    FAIL_IF(label_costs_are_there(model), CLV_ERR_USAGE, "a model with label costs has no likelihood");
    if (!self->forest)
        MUST(clv_forest_new(&self->forest, err));
    MUST(model_field_init(&field, model, problem, err));
    MUST(log_sum(&given, self, &field, problem->label, err));
    MUST(log_sum(&all, self, &field, NULL, err));
    *value = given - all;
    return CLV_OK;
}
