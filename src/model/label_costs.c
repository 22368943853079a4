/* Computes label costs (Delong et al. 2012) from a first stage's marginals: a labelling pays the cost of each label
 * that occurs in it. Start at label_costs_of. */
#include "model/model.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "model/context.h"

/* A label costs nothing if its log-odds are OFFSET or more. Below that the cost grows with their distance from OFFSET,
 * up to MOST, since strong evidence is sometimes wrong. Chosen with the price by 3-fold cross-validation among
 * MSRC-21's training images. */
static const double OFFSET = 1, MOST = 3;

enum clv_status label_costs_attach(struct clv_model *model, const double *w, double price, struct clv_error *err)
{
    size_t n_labels = (size_t)model->layout.n_labels, size = (size_t)evidence_size(model->layout.n_labels);
    OWNED_ARRAY double *values = array_alloc(n_labels, (1 + size) * sizeof *values);
    NEED(values);
    for (size_t l = 0; l < n_labels; l++) {
        values[l * (1 + size)] = price;
        memcpy(values + l * (1 + size) + 1, w + l * size, size * sizeof *values);
    }
    const struct clv_tensor tensor = {.name = LABEL_COSTS,
                                      .dtype = CLV_F64,
                                      .n_dimensions = 2,
                                      .shape = {(int64_t)n_labels, 1 + (int64_t)size},
                                      .data = values};
    return clv_model_attach(model, &tensor, err);
}

bool label_costs_are_there(const struct clv_model *model)
{
    return clv_model_attached(model, LABEL_COSTS) != NULL;
}

static enum clv_status check(const struct clv_model *model, struct clv_error *err)
{
    const struct clv_tensor *tensor = clv_model_attached(model, LABEL_COSTS);
    int32_t n_labels = model->layout.n_labels, size = 1 + evidence_size(n_labels);
    if (tensor->dtype != CLV_F64 || tensor->n_dimensions != 2 || tensor->shape[0] != n_labels ||
        tensor->shape[1] != size)
        return fail(err, CLV_ERR_DATA, "the model's tensor \"" LABEL_COSTS "\" is not f64 [%d][%d]", n_labels, size);
    FAIL_IF(!model->first, CLV_ERR_DATA, "the model has a tensor \"" LABEL_COSTS "\" and no first stage");
    const double *w = tensor->data;
    for (size_t k = 0; k < (size_t)n_labels * (size_t)size; k++)
        if (!(w[k] >= ((k % (size_t)size) ? -1e50 : 0) && w[k] <= 1e50))
            return fail(err, CLV_ERR_DATA, "the model's tensor \"" LABEL_COSTS "\" holds %g, must be %s..1e50", w[k],
                        k % (size_t)size ? "-1e50" : "0");
    return CLV_OK;
}

enum clv_status label_costs_of(double *cost, const struct clv_model *model, const struct clv_problem *problem,
                               struct clv_error *err)
{
    MUST(check(model, err));
    size_t k = (size_t)model->layout.n_labels, n = problem->n_nodes > 0 ? (size_t)problem->n_nodes : 0;
    size_t size = (size_t)evidence_size(model->layout.n_labels);
    const double *w = clv_model_attached(model, LABEL_COSTS)->data;
    OWNED_ARRAY double *marginals = array_alloc(n, k * sizeof *marginals);
    OWNED_ARRAY double *evidence = array_alloc(2 * k + size, sizeof *evidence);
    NEED(marginals && evidence);
    MUST(stage_marginals(marginals, model->first, problem, err));
    evidence_measure(evidence, marginals, problem->n_nodes, model->layout.n_labels);
    for (size_t l = 0; l < k; l++) {
        double *row = evidence + 2 * k, score = 0;
        evidence_row(row, evidence, model->layout.n_labels, (int32_t)l);
        for (size_t c = 0; c < size; c++)
            score += w[l * (1 + size) + 1 + c] * row[c];
        cost[l] = w[l * (1 + size)] * fmin(fmax(OFFSET - score, 0), MOST);
    }
    return CLV_OK;
}
