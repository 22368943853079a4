/* Perturb-and-MAP: MAP labellings of unaries with Gumbel noise as samples, and the bound that their scores give. */
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/rng.h"
#include "cleave/infer.h"

/* The variable of one label of one node. */
static double gumbel(uint64_t seed, uint32_t draw, size_t node, size_t n_labels, size_t label)
{
    return rng_gumbel(seed, RNG_STREAM(RNG_GUMBEL, draw), node * n_labels + label);
}

void clv_gumbel_add(double *noise, int32_t n_nodes, int32_t n_labels, uint64_t seed, uint32_t draw)
{
    size_t labels = (size_t)n_labels;
    for (size_t i = 0; i < (size_t)n_nodes; i++) {
        if (labels == 2) {
            noise[i] += gumbel(seed, draw, i, 2, 1) - gumbel(seed, draw, i, 2, 0);
            continue;
        }
        for (size_t k = 0; k < labels; k++)
            noise[i * labels + k] += gumbel(seed, draw, i, labels, k);
    }
}

/* Running mean and sum of squared deviations (Welford 1962). */
struct moments {
    double n, mean, squares;
};

static void moments_add(struct moments *moments, double value)
{
    double from_mean = value - moments->mean;
    moments->n++;
    moments->mean += from_mean / moments->n;
    moments->squares += from_mean * (value - moments->mean);
}

enum clv_status clv_perturbed_marginals(struct clv_oracle *oracle, double *marginals, double *bound,
                                        double *standard_error, struct clv_field *field, uint64_t seed,
                                        uint32_t n_draws, struct clv_error *err)
{
    if (n_draws == 0 || field->n_nodes < 0 || field->n_labels < 2)
        return fail(err, CLV_ERR_USAGE, "%u draws of a field of %d nodes and %d labels", n_draws, field->n_nodes,
                    field->n_labels);
    size_t n = (size_t)field->n_nodes, labels = (size_t)field->n_labels, columns = labels == 2 ? 1 : labels;
    enum clv_status status = CLV_OK;
    double *original = array_copy(field->unary, n * columns, sizeof *original);
    double *counts = array_zalloc(n * labels, sizeof *counts);
    int32_t *y = array_alloc(n, sizeof *y);
    struct moments scores = {0};
    if (!original || !counts || !y) {
        status = fail_memory(err);
        goto done;
    }
    for (uint32_t draw = 0; draw < n_draws && !status; draw++) {
        double score, apart = 0; /* two labels: what label 0 gets everywhere, which unary leaves out */
        memcpy(field->unary, original, n * columns * sizeof *original);
        clv_gumbel_add(field->unary, field->n_nodes, field->n_labels, seed, draw);
        for (size_t i = 0; labels == 2 && i < n; i++)
            apart += gumbel(seed, draw, i, 2, 0);
        status = clv_oracle_map(oracle, y, &score, field, err);
        for (size_t i = 0; !status && i < n; i++)
            counts[i * labels + (size_t)y[i]]++;
        if (!status)
            moments_add(&scores, score + apart);
    }
    if (n)
        memcpy(field->unary, original, n * columns * sizeof *original);
    if (status)
        goto done;
    for (size_t k = 0; marginals && k < n * labels; k++)
        marginals[k] = counts[k] / n_draws;
    if (bound)
        *bound = scores.mean;
    if (standard_error)
        *standard_error = n_draws > 1 ? sqrt(scores.squares / (scores.n - 1) / scores.n) : NAN;
done:
    array_free(original);
    array_free(counts);
    array_free(y);
    return status;
}
