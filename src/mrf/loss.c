/* The weighted Hamming loss and its way into the unary scores. */
#include "cleave/problem.h"
#include "mrf/energy.h"

/* What labelling a node `label` costs: the weight of its pixels that are truly something else. */
static double node_loss(const float *theta, int32_t n_labels, int32_t label)
{
    double sum = 0;
    for (int32_t b = 0; b < n_labels; b++)
        if (b != label)
            sum += (double)theta[b];
    return sum;
}

void label_shares_add(double *share, const struct clv_problem *problem, int32_t n_labels)
{
    for (size_t k = 0; problem->theta && k < (size_t)problem->n_nodes * (size_t)n_labels; k++)
        share[k % (size_t)n_labels] += (double)problem->theta[k];
}

double clv_loss(const struct clv_problem *problem, int32_t n_labels, const int32_t *y)
{
    double loss = 0;
    for (int32_t i = 0; i < problem->n_nodes; i++)
        loss += node_loss(problem->theta + (size_t)i * (size_t)n_labels, n_labels, y[i]);
    return loss;
}

double clv_field_add_loss(struct clv_field *field, const struct clv_problem *problem)
{
    int32_t n_labels = field->n_labels;
    double constant = 0;
    for (size_t i = 0; i < (size_t)field->n_nodes; i++) {
        const float *theta = problem->theta + i * (size_t)n_labels;
        if (n_labels == 2) {
            field->unary[i] += (double)theta[0] - (double)theta[1];
            constant += (double)theta[1];
            continue;
        }
        double total = node_loss(theta, n_labels, -1), *unary = &field->unary[i * (size_t)n_labels];
        for (int32_t k = 0; k < n_labels; k++) /* what rounding takes below 0 is no loss */
            unary[k] += total > (double)theta[k] ? total - (double)theta[k] : 0;
    }
    return constant;
}
