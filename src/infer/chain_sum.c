/* Chains, summed: forward-backward. Sums of exponentials are products of a vector with exp(table - its maximum), which for a table
 * that all links share is made once. */
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "infer/bp.h"
#include "infer/chain.h"
#include "infer/exponential.h"

/* Sums below this may have lost terms to underflow and are taken again with a maximum of their own. */
#define SAFE_SUM 1e-200

/* exp(table - top) of the link at hand, both ways round. */
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

/* to[b] = log sum_a exp(from[a] + table[a][b]); strides tell which way the table is read. */
static void sum_step(double *restrict to, const double *restrict from, const double *table, size_t along, size_t across,
                     const double *kernel, double top, size_t k)
{
    double highest = maximum(from, k), weight[CLV_CHAIN_MAX_LABELS], term[CLV_CHAIN_MAX_LABELS];
    exponentials(weight, from, highest, k);
    bp_apply_kernel(to, weight, kernel, k, 0);
    for (size_t b = 0; b < k; b++) {
        if (to[b] >= SAFE_SUM) {
            to[b] = log(to[b]) + (highest + top);
            continue;
        }
        for (size_t a = 0; a < k; a++)
            term[a] = from[a] + table[a * across + b * along];
        to[b] = log_sum_exp(term, k);
    }
}

/* ahead[n][K] sums over the nodes up to each, its own score included; behind[n][K] over those after it. */
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
                pairs[(i * k + a) * k + b] = exp(ahead[i * k + a] + table[a * k + b] + chain->unary[(i + 1) * k + b] +
                                                 behind[(i + 1) * k + b] - total);
    }
}

enum clv_status clv_chain_marginals(double *marginals, double *pair_marginals, double *log_partition,
                                    const struct clv_chain *chain, struct clv_error *err)
{
    enum clv_status status = chain_check(chain, err);
    if (status)
        return status;
    size_t n = (size_t)chain->n_nodes, k = (size_t)chain->n_labels;
    double *ahead = array_alloc(n, 2 * k * sizeof *ahead), *behind = ahead ? &ahead[n * k] : NULL, total = 0;
    struct kernel kernel = {.there = array_alloc(k, 2 * k * sizeof(double))};
    if (!ahead || !kernel.there) {
        status = fail_memory(err);
        goto done;
    }
    kernel.back = &kernel.there[k * k];
    if (n) {
        both_ways(ahead, behind, &kernel, chain);
        total = log_sum_exp(&ahead[(n - 1) * k], k);
    }
    for (size_t c = 0; marginals && c < n * k; c++)
        marginals[c] = exp(ahead[c] + behind[c] - total);
    if (pair_marginals)
        write_pairs(pair_marginals, ahead, behind, total, chain);
    if (log_partition)
        *log_partition = total;
done:
    array_free(ahead);
    array_free(kernel.there);
    return status;
}
