/* Sums over chains, by forward-backward. Sums of exponentials are products of a vector with exp(table - its maximum); a
 * table that all links share is exponentiated once. While no number gets too small, vectors are kept outside of the log
 * domain with maximum 1, so that a node costs one logarithm. Otherwise the whole chain is computed again with
 * logarithms. Start at clv_chain_marginals. */
#include <string.h>

#include "base/base.h"
#include "infer/chain/chain.h"
#include "infer/infer.h"

/* Sums below this may have lost terms by underflow, and are computed again with their own maximum. */
#define SAFE_SUM 1e-200

/* Outside of the log domain no number may be smaller than this part of the largest, so that products of two numbers do
 * not underflow. */
#define SMALLEST 1e-70

/* exp(table - top) of the current link, in both orders. */
struct kernel {
    double *there, *back; /* [K][K], the second one transposed */
    double top;
};

static void fill_kernel(struct kernel *kernel, const double *table, size_t k)
{
    kernel->top = maximum(table, k * k);
    exponentials(kernel->there, table, kernel->top, k * k);
    chain_transpose(kernel->back, kernel->there, k);
}

/* to[b] = log sum_a exp(from[a] + table[a][b]); `along` and `across` are the strides of the table. */
static void sum_step(double *restrict to, const double *restrict from, const double *table, size_t along, size_t across,
                     const double *kernel, double top, size_t k)
{
    double highest = maximum(from, k), weight[CLV_CHAIN_MAX_LABELS], term[CLV_CHAIN_MAX_LABELS];
    exponentials(weight, from, highest, k);
    apply_kernel(to, weight, kernel, k, false);
    for (size_t b = 0; b < k; b++) {
        if (to[b] >= SAFE_SUM) {
            to[b] = portable_log(to[b]) + (highest + top);
            continue;
        }
        for (size_t a = 0; a < k; a++)
            term[a] = from[a] + table[a * across + b * along];
        to[b] = log_sum_exp(term, k);
    }
}

/* Computes logarithms of sums: ahead[n][K] over the nodes up to each, its own score included, behind[n][K] over the
 * nodes after it. */
static void both_ways(double *ahead, double *behind, struct kernel *kernel, const struct clv_chain *chain)
{
    size_t n = (size_t)chain->n_nodes, k = (size_t)chain->n_labels;
    double with_unary[CLV_CHAIN_MAX_LABELS];
    if (chain->is_shared && n > 1)
        fill_kernel(kernel, chain->table, k);
    memcpy(ahead, chain->unary, k * sizeof *ahead);
    for (size_t i = 1; i < n; i++) {
        const double *table = chain_table(chain, i - 1);
        if (!chain->is_shared)
            fill_kernel(kernel, table, k);
        sum_step(&ahead[i * k], &ahead[(i - 1) * k], table, 1, k, kernel->there, kernel->top, k);
        for (size_t b = 0; b < k; b++)
            ahead[i * k + b] += chain->unary[i * k + b];
    }
    memset(&behind[(n - 1) * k], 0, k * sizeof *behind);
    for (size_t i = n - 1; i > 0; i--) {
        const double *table = chain_table(chain, i - 1);
        if (!chain->is_shared)
            fill_kernel(kernel, table, k);
        for (size_t b = 0; b < k; b++)
            with_unary[b] = behind[i * k + b] + chain->unary[i * k + b];
        sum_step(&behind[(i - 1) * k], with_unary, table, k, 1, kernel->back, kernel->top, k);
    }
}

static void write_pairs(double *pairs, const double *ahead, const double *behind, double total,
                        const struct clv_chain *chain)
{
    size_t n = (size_t)chain->n_nodes, k = (size_t)chain->n_labels;
    for (size_t i = 0; i + 1 < n; i++) {
        const double *table = chain_table(chain, i);
        for (size_t a = 0; a < k; a++)
            for (size_t b = 0; b < k; b++)
                pairs[(i * k + a) * k + b] =
                    portable_exp(ahead[i * k + a] + table[a * k + b] + chain->unary[(i + 1) * k + b] +
                                 behind[(i + 1) * k + b] - total);
    }
}

/* Passes outside the log domain, [n][K] each; ahead and behind have maximum 1 at every node. */
struct passes {
    double *ahead;  /* sums over the nodes up to each, its own score included */
    double *behind; /* sums over the nodes after it */
    double *weight; /* exp(unary - its maximum) */
    double log_partition;
};

/* Divides value by its maximum and returns the maximum. Returns 0 if the maximum, or an entry, is too small. */
static double normalise(double *value, size_t k)
{
    double highest = value[0], lowest = value[0];
    for (size_t a = 1; a < k; a++) {
        highest = value[a] > highest ? value[a] : highest;
        lowest = value[a] < lowest ? value[a] : lowest;
    }
    if (!(highest >= SMALLEST) || lowest < SMALLEST * highest)
        return 0;
    for (size_t a = 0; a < k; a++)
        value[a] *= 1 / highest;
    return highest;
}

/* Runs both passes outside of the log domain; returns 0 if that could lose precision. */
static int pass_linearly(struct passes *passes, struct kernel *kernel, const struct clv_chain *chain)
{
    size_t n = (size_t)chain->n_nodes, k = (size_t)chain->n_labels;
    double total = 0, with_weight[CLV_CHAIN_MAX_LABELS], scale;
    passes->log_partition = 0;
    for (size_t i = 0; i < n; i++) {
        const double *unary = &chain->unary[i * k];
        double *ahead = &passes->ahead[i * k], *weight = &passes->weight[i * k], highest = maximum(unary, k);
        exponentials(weight, unary, highest, k);
        memcpy(ahead, weight, k * sizeof *ahead);
        if (i && (i == 1 || !chain->is_shared))
            fill_kernel(kernel, chain_table(chain, i - 1), k);
        if (i) {
            apply_kernel(ahead, ahead - k, kernel->there, k, false);
            for (size_t b = 0; b < k; b++)
                ahead[b] *= weight[b];
            highest += kernel->top;
        }
        if (!(scale = normalise(ahead, k)))
            return 0;
        passes->log_partition += highest + portable_log(scale);
    }
    for (size_t a = 0; a < k; a++) {
        passes->behind[(n - 1) * k + a] = 1;
        total += passes->ahead[(n - 1) * k + a];
    }
    passes->log_partition += portable_log(total);
    for (size_t i = n - 1; i > 0; i--) {
        double *behind = &passes->behind[(i - 1) * k];
        if (!chain->is_shared)
            fill_kernel(kernel, chain_table(chain, i - 1), k);
        for (size_t b = 0; b < k; b++)
            with_weight[b] = passes->behind[i * k + b] * passes->weight[i * k + b];
        apply_kernel(behind, with_weight, kernel->back, k, false);
        if (!normalise(behind, k))
            return 0;
    }
    return 1;
}

static void scale_to_one(double *value, size_t n)
{
    double total = 0;
    for (size_t c = 0; c < n; c++)
        total += value[c];
    for (size_t c = 0; c < n; c++)
        value[c] /= total;
}

static void write_linearly(double *marginals, double *pairs, const struct passes *passes, struct kernel *kernel,
                           const struct clv_chain *chain)
{
    size_t n = (size_t)chain->n_nodes, k = (size_t)chain->n_labels;
    for (size_t i = 0; marginals && i < n; i++) {
        for (size_t a = 0; a < k; a++)
            marginals[i * k + a] = passes->ahead[i * k + a] * passes->behind[i * k + a];
        scale_to_one(&marginals[i * k], k);
    }
    for (size_t i = 0; pairs && i + 1 < n; i++) {
        const double *weight = &passes->weight[(i + 1) * k], *behind = &passes->behind[(i + 1) * k];
        double *pair = &pairs[i * k * k];
        if (!chain->is_shared)
            fill_kernel(kernel, chain_table(chain, i), k);
        for (size_t a = 0; a < k; a++)
            for (size_t b = 0; b < k; b++)
                pair[a * k + b] = passes->ahead[i * k + a] * kernel->there[a * k + b] * (weight[b] * behind[b]);
        scale_to_one(pair, k * k);
    }
}

static void write_logarithms(double *marginals, double *pairs, struct passes *passes, struct kernel *kernel,
                             const struct clv_chain *chain)
{
    size_t n = (size_t)chain->n_nodes, k = (size_t)chain->n_labels;
    double *ahead = passes->ahead, *behind = passes->behind;
    both_ways(ahead, behind, kernel, chain);
    double total = log_sum_exp(&ahead[(n - 1) * k], k);
    for (size_t c = 0; marginals && c < n * k; c++)
        marginals[c] = portable_exp(ahead[c] + behind[c] - total);
    if (pairs)
        write_pairs(pairs, ahead, behind, total, chain);
    passes->log_partition = total;
}

static void passes_release(struct passes *self)
{
    array_free(self->ahead);
}

static void kernel_release(struct kernel *self)
{
    array_free(self->there);
}

enum clv_status clv_chain_marginals(double *marginals, double *pair_marginals, double *log_partition,
                                    const struct clv_chain *chain, struct clv_error *err)
{
    MUST(chain_check(chain, err));
    size_t n = (size_t)chain->n_nodes, k = (size_t)chain->n_labels;
    OWNED(passes_release) struct passes passes = {.ahead = array_alloc(n, 3 * k * sizeof(double))};
    OWNED(kernel_release) struct kernel kernel = {.there = array_alloc(k, 2 * k * sizeof(double))};
    NEED(passes.ahead && kernel.there);
    passes.behind = passes.ahead + n * k;
    passes.weight = passes.behind + n * k;
    kernel.back = &kernel.there[k * k];
    if (n && pass_linearly(&passes, &kernel, chain))
        write_linearly(marginals, pair_marginals, &passes, &kernel, chain);
    else if (n)
        write_logarithms(marginals, pair_marginals, &passes, &kernel, chain);
    if (log_partition)
        *log_partition = passes.log_partition;
    return CLV_OK;
}
