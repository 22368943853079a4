#include "model/label_costs.h"

#include <math.h>

#include "base/array.h"
#include "base/error.h"
#include "feature/context/evidence.h"
#include "model/stage.h"

/* Log-odds from which on a label costs nothing. */
static const double OFFSET = 0.5;

enum clv_status label_costs_attach(struct clv_model *model, const double *w, double price, struct clv_error *err)
{
    size_t n_labels = (size_t)model->shape.n_labels, size = (size_t)evidence_size(model->shape.n_labels);
    double *priced = array_alloc(n_labels, size * sizeof *priced);
    if (!priced)
        return fail_memory(err);
    for (size_t k = 0; k < n_labels * size; k++)
        priced[k] = price * (w[k] - (k % size ? 0 : OFFSET));
    const struct clv_tensor tensor = {.name = LABEL_COSTS,
                                      .dtype = CLV_F64,
                                      .n_dimensions = 2,
                                      .shape = {(int64_t)n_labels, (int64_t)size},
                                      .data = priced};
    enum clv_status status = clv_model_attach(model, &tensor, err);
    array_free(priced);
    return status;
}

bool label_costs_are_there(const struct clv_model *model)
{
    return clv_model_attached(model, LABEL_COSTS) != NULL;
}

static enum clv_status check(const struct clv_model *model, struct clv_error *err)
{
    const struct clv_tensor *tensor = clv_model_attached(model, LABEL_COSTS);
    int32_t n_labels = model->shape.n_labels, size = evidence_size(n_labels);
    if (tensor->dtype != CLV_F64 || tensor->n_dimensions != 2 || tensor->shape[0] != n_labels ||
        tensor->shape[1] != size)
        return fail(err, CLV_ERR_DATA, "the model's tensor \"" LABEL_COSTS "\" is not f64 [%d][%d]", n_labels, size);
    if (!model->first)
        return fail(err, CLV_ERR_DATA, "the model has a tensor \"" LABEL_COSTS "\" and no first stage");
    const double *w = tensor->data;
    for (size_t k = 0; k < (size_t)n_labels * (size_t)size; k++)
        if (!(fabs(w[k]) <= 1e50))
            return fail(err, CLV_ERR_DATA, "the model's tensor \"" LABEL_COSTS "\" holds %g, must be -1e50..1e50",
                        w[k]);
    return CLV_OK;
}

enum clv_status label_costs_of(double *cost, const struct clv_model *model, const struct clv_problem *problem,
                               struct clv_error *err)
{
    enum clv_status status = check(model, err);
    if (status != CLV_OK)
        return status;
    size_t k = (size_t)model->shape.n_labels, n = problem->n_nodes > 0 ? (size_t)problem->n_nodes : 0;
    size_t size = (size_t)evidence_size(model->shape.n_labels);
    const double *w = clv_model_attached(model, LABEL_COSTS)->data;
    double *marginals = array_alloc(n, k * sizeof *marginals), *evidence = array_alloc(2 * k + size, sizeof *evidence);
    status = marginals && evidence ? stage_marginals(marginals, model->first, problem, err) : fail_memory(err);
    if (status == CLV_OK)
        evidence_measure(evidence, marginals, problem->n_nodes, model->shape.n_labels);
    for (size_t l = 0; l < k && status == CLV_OK; l++) {
        double *row = evidence + 2 * k, score = 0;
        evidence_row(row, evidence, model->shape.n_labels, (int32_t)l);
        for (size_t c = 0; c < size; c++)
            score += w[l * size + c] * row[c];
        cost[l] = fmax(0, -score);
    }
    array_free(marginals);
    array_free(evidence);
    return status;
}
