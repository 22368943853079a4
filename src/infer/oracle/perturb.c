/* Perturb-and-MAP: MAP labellings of unaries with Gumbel noise as samples, and the bound that their scores give. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "infer/infer.h"
#include "infer/oracle/oracle.h"
#include "infer/oracle/oracle_state.h"

/* Returns the random variable of one label of one node. */
static double gumbel(uint64_t seed, uint32_t draw, size_t node, size_t n_labels, size_t label)
{
    return rng_gumbel(seed, RNG_STREAM(RNG_GUMBEL, draw), node * n_labels + label);
}

void gumbel_add(double *noise, int32_t n_nodes, int32_t n_labels, uint64_t seed, uint32_t draw)
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

/* Returns the sum of the noise of label 0 over all nodes, which the unaries of two-label fields leave out. */
static double gumbel_of_zeros(const struct clv_field *field, uint64_t seed, uint32_t draw)
{
    double sum = 0;
    for (size_t i = 0; field->n_labels == 2 && i < (size_t)field->n_nodes; i++)
        sum += gumbel(seed, draw, i, 2, 0);
    return sum;
}

/* Rounds the unaries of sixteen samples, noise included, to whole numbers in one unit. Returns whether that is fine
 * enough, by the criterion of capacities_suffice; the noise counts as about 1 per node. */
static bool fill_batch(struct batch *batch, int32_t *capacity, double *unary, const struct capacities *capacities,
                       const struct clv_field *field)
{
    size_t n = (size_t)field->n_nodes, m = (size_t)field->n_edges;
    const double *coupling = field->form == CLV_PAIRWISE_FULL ? capacities->coupling : field->pairwise;
    double *incident = &unary[n * BATCH_LANES], largest = 0, least = INFINITY;
    int exponent;
    size_t n_counted;
    double largest_sum = capacities_sum(incident, field, coupling);
    for (size_t k = 0; k < n * BATCH_LANES; k++) {
        largest = fmax(largest, fabs(unary[k]));
        least = unary[k] != 0 ? fmin(least, fabs(unary[k])) : least;
    }
    double limit = unary_limit(largest, largest_sum, least);
    largest = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < BATCH_LANES; l++)
            largest = fmax(largest, fmin(fabs(unary[l * n + i]), limit) + incident[i]);
    frexp(largest, &exponent);
    double scale = ldexp(1, 29 - exponent < 1000 ? 29 - exponent : 1000);
    const double *noiseless = field->form == CLV_PAIRWISE_FULL ? capacities->lone : field->unary;
    double size = (double)n + size_of_ordinary(&n_counted, noiseless, n, limit), error = capacities_error(n, m) / scale;
    for (size_t e = 0; e < m; e++)
        capacity[e] = (int32_t)rint(coupling[e] * scale);
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < BATCH_LANES; l++)
            batch->excess[i * BATCH_LANES + l] = (int32_t)rint(unary_clip(unary[l * n + i], limit) * scale);
    return error <= CUT_TOLERANCE * (1 + size);
}

/* Returns the perturbed score of a sample: f with the noise in its unaries, plus the noise of label 0. */
static double perturbed_value(const struct clv_field *field, double *unary, const int32_t *y, uint64_t seed,
                              uint32_t draw)
{
    struct clv_field perturbed = *field;
    perturbed.unary = unary;
    return clv_field_score(&perturbed, y) + gumbel_of_zeros(field, seed, draw);
}

/* Samples first .. first + n - 1 of a seed. */
struct draws {
    uint64_t seed;
    uint32_t first, n;
};

/* Solves the first lanes of a filled batch one after the other. */
static enum clv_status solve_lanes(struct clv_oracle *oracle, const int32_t *capacity, uint32_t n_lanes,
                                   const struct clv_field *field, struct clv_error *err)
{
    size_t n = (size_t)field->n_nodes;
    struct batch *batch = &oracle->batch;
    OWNED_ARRAY int32_t *terminal = array_alloc(n, sizeof *terminal);
    NEED(terminal);
    memset(batch->label, 0, n * sizeof *batch->label);
    for (uint32_t l = 0; l < n_lanes; l++) {
        for (size_t i = 0; i < n; i++)
            terminal[i] = batch->excess[i * BATCH_LANES + l];
        NEED(maxflow_load(&oracle->graph, field->n_nodes, field->n_edges, field->edges, terminal, capacity) == 0);
        maxflow_solve(&oracle->graph);
        for (size_t i = 0; i < n; i++)
            batch->label[i] |= (uint16_t)(oracle->graph.label[i] << l);
    }
    return CLV_OK;
}

/* Draws up to sixteen samples of a two-label cut. Unused lanes have the field without noise. *is_enough tells whether
 * rounding is fine enough; otherwise nothing is drawn. */
static enum clv_status draw_batch(struct clv_oracle *oracle, bool *is_enough, int32_t *y, double *value,
                                  const struct clv_field *field, struct draws draws, struct clv_error *err)
{
    size_t n = (size_t)field->n_nodes;
    /* Checks the field, reparametrises tables. */
    MUST(capacities_set(&oracle->capacities, field, err));
    const double *base = field->form == CLV_PAIRWISE_FULL ? oracle->capacities.unary : field->unary;
    OWNED_ARRAY double *unary = array_alloc(n, (BATCH_LANES + 1) * sizeof *unary);
    OWNED_ARRAY int32_t *capacity = array_zalloc((size_t)field->n_edges, sizeof *capacity);
    if (!unary || !capacity || batch_build(&oracle->batch, field->n_nodes, field->n_edges, field->edges))
        return fail_memory(err);
    for (uint32_t l = 0; l < BATCH_LANES; l++) {
        memcpy(&unary[l * n], base, n * sizeof *unary);
        if (l < draws.n)
            gumbel_add(&unary[l * n], field->n_nodes, 2, draws.seed, draws.first + l);
    }
    *is_enough = fill_batch(&oracle->batch, capacity, unary, &oracle->capacities, field);
    if (!*is_enough)
        return CLV_OK;
    bool is_small = field->n_nodes <= BATCH_SUITS, is_solved = is_small && batch_solve(&oracle->batch, capacity);
    if (is_small && !is_solved)
        fill_batch(&oracle->batch, capacity, unary, &oracle->capacities, field);
    if (!is_solved)
        MUST(solve_lanes(oracle, capacity, draws.n, field, err));
    for (uint32_t l = 0; l < draws.n; l++) {
        for (size_t i = 0; i < n; i++)
            y[l * n + i] = oracle->batch.label[i] >> l & 1;
        memcpy(unary, field->unary, n * sizeof *unary);
        gumbel_add(unary, field->n_nodes, 2, draws.seed, draws.first + l);
        if (value)
            value[l] = perturbed_value(field, unary, &y[l * n], draws.seed, draws.first + l);
    }
    return CLV_OK;
}

/* Computes the first of the samples alone. */
static enum clv_status draw_one(struct clv_oracle *oracle, int32_t *y, double *value, const struct clv_field *field,
                                struct draws draws, struct clv_error *err)
{
    size_t columns = field->n_labels == 2 ? 1 : (size_t)field->n_labels;
    struct clv_field perturbed = *field;
    OWNED_ARRAY double *unary = array_copy(field->unary, (size_t)field->n_nodes, columns * sizeof *unary);
    NEED(unary);
    perturbed.unary = unary;
    gumbel_add(unary, field->n_nodes, field->n_labels, draws.seed, draws.first);
    MUST(clv_oracle_map(oracle, y, value, &perturbed, err));
    if (value)
        *value += gumbel_of_zeros(field, draws.seed, draws.first);
    return CLV_OK;
}

static enum clv_status draw(struct clv_oracle *oracle, int32_t *y, double *value, const struct clv_field *field,
                            struct draws draws, struct clv_error *err)
{
    bool is_enough = false;
    if (field->form != CLV_PAIRWISE_NONE && field->n_nodes <= BATCH_NODES && oracle->engine != CLV_ENGINE_BK &&
        field_is_supermodular(field))
        MUST(draw_batch(oracle, &is_enough, y, value, field, draws, err));
    for (uint32_t l = 0; l < draws.n && !is_enough; l++)
        MUST(draw_one(oracle, &y[(size_t)l * (size_t)field->n_nodes], value ? &value[l] : NULL, field,
                      (struct draws){draws.seed, draws.first + l, 1}, err));
    return CLV_OK;
}

enum clv_status clv_perturbed_map(struct clv_oracle *oracle, int32_t *y, double *value, const struct clv_field *field,
                                  uint64_t seed, uint32_t first_sample, uint32_t n_samples, struct clv_error *err)
{
    FAIL_IF(n_samples == 0 || field->n_nodes < 0 || field->n_labels < 2, CLV_ERR_USAGE,
            "%u samples of a field of %d nodes and %d labels", n_samples, field->n_nodes, field->n_labels);
    enum clv_status status = CLV_OK;
    for (uint32_t k = 0; k < n_samples && !status; k += BATCH_LANES)
        status = draw(oracle, &y[(size_t)k * (size_t)field->n_nodes], value ? &value[k] : NULL, field,
                      (struct draws){seed, first_sample + k, n_samples - k < BATCH_LANES ? n_samples - k : BATCH_LANES},
                      err);
    oracle->state = ORACLE_EMPTY; /* after a failure, too: it holds the solution of a sample */
    return status;
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
                                        double *standard_error, const struct clv_field *field, uint64_t seed,
                                        uint32_t n_samples, struct clv_error *err)
{
    FAIL_IF(n_samples == 0 || field->n_nodes < 0 || field->n_labels < 2, CLV_ERR_USAGE,
            "%u samples of a field of %d nodes and %d labels", n_samples, field->n_nodes, field->n_labels);
    size_t n = (size_t)field->n_nodes, labels = (size_t)field->n_labels;
    OWNED_ARRAY double *counts = array_zalloc(n * labels, sizeof *counts);
    double value[BATCH_LANES];
    const uint32_t at_once = n <= BATCH_NODES ? BATCH_LANES : 1; /* larger fields are drawn one by one anyway */
    OWNED_ARRAY int32_t *y = array_alloc(n, at_once * sizeof *y);
    struct moments values = {0};
    NEED(counts && y);
    for (uint32_t draw = 0; draw < n_samples; draw += at_once) {
        uint32_t count = n_samples - draw < at_once ? n_samples - draw : at_once;
        FAIL_IF(oracle->stop && *oracle->stop, CLV_ERR_INTERRUPTED, "interrupted");
        MUST(clv_perturbed_map(oracle, y, value, field, seed, draw, count, err));
        for (uint32_t l = 0; l < count; l++) {
            moments_add(&values, value[l]);
            for (size_t i = 0; i < n; i++)
                counts[i * labels + (size_t)y[l * n + i]]++;
        }
    }
    for (size_t k = 0; marginals && k < n * labels; k++)
        marginals[k] = counts[k] / n_samples;
    if (bound)
        *bound = values.mean;
    if (standard_error)
        *standard_error = n_samples > 1 ? sqrt(values.squares / (values.n - 1) / values.n) : NAN;
    return CLV_OK;
}
