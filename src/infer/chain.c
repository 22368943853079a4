/* Chains: dynamic programming over labels, O(n K^2). The table is the same at every link or one a link. */
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "cleave/infer.h"

static enum clv_status check(const struct clv_chain *chain, struct clv_error *err)
{
    if (chain->n_nodes < 0 || chain->n_labels < 1 || chain->n_labels > CLV_CHAIN_MAX_LABELS)
        return fail(err, CLV_ERR_USAGE, "a chain of %d nodes with %d labels", chain->n_nodes, chain->n_labels);
    size_t k = (size_t)chain->n_labels, n = (size_t)chain->n_nodes, links = n < 2 ? 0 : chain->is_shared ? 1 : n - 1;
    for (size_t c = 0; c < n * k; c++)
        if (!isfinite(chain->unary[c]))
            return fail(err, CLV_ERR_DATA, "node %zu: its unary score is %g", c / k, chain->unary[c]);
    for (size_t c = 0; c < links * k * k; c++)
        if (!isfinite(chain->table[c]))
            return fail(err, CLV_ERR_DATA, "link %zu: its pairwise score is %g", c / (k * k), chain->table[c]);
    return CLV_OK;
}

/* The table between nodes i and i + 1. */
static const double *table_of(const struct clv_chain *chain, size_t i)
{
    size_t k = (size_t)chain->n_labels;
    return &chain->table[chain->is_shared ? 0 : i * k * k];
}

#if defined(__SANITIZE_ADDRESS__) || !defined(__x86_64__)
#define FOR_EACH_MACHINE
#else
#define FOR_EACH_MACHINE __attribute__((target_clones("avx2", "default")))
#endif

/* to[b] = unary[b] + max_a from[a] + table[a][b]; came[b] (or NULL) is the lowest such a. Rows of the table are added whole, so
 * that labels b stand in vector lanes. */
FOR_EACH_MACHINE static void max_step(double *restrict to, int32_t *restrict came, const double *restrict from,
                                      const double *restrict table, const double *restrict unary, size_t k)
{
    double best[CLV_CHAIN_MAX_LABELS]; /* as wide as the scores, so that both are chosen by one mask */
    for (size_t b = 0; b < k; b++) {
        to[b] = from[0] + table[b];
        best[b] = 0;
    }
    for (size_t a = 1; a < k; a++)
        for (size_t b = 0; b < k; b++) {
            double score = from[a] + table[a * k + b];
            best[b] = score > to[b] ? (double)a : best[b];
            to[b] = score > to[b] ? score : to[b];
        }
    for (size_t b = 0; b < k; b++)
        to[b] += unary[b];
    for (size_t b = 0; came && b < k; b++)
        came[b] = (int32_t)best[b];
}

enum clv_status clv_chain_map(int32_t *y, double *score, const struct clv_chain *chain, struct clv_error *err)
{
    enum clv_status status = check(chain, err);
    size_t n = status ? 0 : (size_t)chain->n_nodes, k = (size_t)chain->n_labels;
    double value[2][CLV_CHAIN_MAX_LABELS], *from = value[0], *to = value[1];
    int32_t *came = status ? NULL : array_alloc(n, k * sizeof *came);
    if (!status && !came)
        status = fail_memory(err);
    if (status)
        return status;
    if (n)
        memcpy(from, chain->unary, k * sizeof *from);
    for (size_t i = 1; i < n; i++) {
        max_step(to, &came[i * k], from, table_of(chain, i - 1), &chain->unary[i * k], k);
        double *swap = from;
        from = to;
        to = swap;
    }
    size_t last = 0;
    for (size_t a = 1; n && a < k; a++)
        last = from[a] > from[last] ? a : last;
    if (score)
        *score = n ? from[last] : 0;
    for (size_t i = n; i-- > 0;) {
        y[i] = (int32_t)last;
        last = i ? (size_t)came[i * k + last] : 0;
    }
    array_free(came);
    return CLV_OK;
}

/* log sum_a exp(from[a] + table[a][b]) + unary[b]. */
static void sum_step(double *restrict to, const double *restrict from, const double *restrict table,
                     const double *restrict unary, size_t k)
{
    double highest[CLV_CHAIN_MAX_LABELS], sum[CLV_CHAIN_MAX_LABELS] = {0}, zero[CLV_CHAIN_MAX_LABELS] = {0};
    max_step(highest, NULL, from, table, zero, k);
    for (size_t a = 0; a < k; a++)
        for (size_t b = 0; b < k; b++)
            sum[b] += exp(from[a] + table[a * k + b] - highest[b]);
    for (size_t b = 0; b < k; b++)
        to[b] = highest[b] + log(sum[b]) + unary[b];
}

/* What a step backwards along the chain uses. */
static void reverse_table(double *restrict reversed, const double *restrict table, size_t k)
{
    for (size_t a = 0; a < k; a++)
        for (size_t b = 0; b < k; b++)
            reversed[b * k + a] = table[a * k + b];
}

enum semiring { MAX_PLUS, LOG_SUM };

static void step(enum semiring semiring, double *to, const double *from, const double *table, const double *unary,
                 size_t k)
{
    if (semiring == MAX_PLUS)
        max_step(to, NULL, from, table, unary, k);
    else
        sum_step(to, from, table, unary, k);
}

/* belief[n][K]: the max or log-sum of scores over all labellings with that label at that node. */
static enum clv_status both_ways(double *belief, const struct clv_chain *chain, enum semiring semiring,
                                 struct clv_error *err)
{
    size_t n = (size_t)chain->n_nodes, k = (size_t)chain->n_labels;
    double *reversed = array_alloc(k, k * sizeof *reversed), after[2][CLV_CHAIN_MAX_LABELS] = {{0}};
    double with_unary[CLV_CHAIN_MAX_LABELS], zero[CLV_CHAIN_MAX_LABELS] = {0};
    if (!reversed)
        return fail_memory(err);
    if (n)
        memcpy(belief, chain->unary, k * sizeof *belief);
    for (size_t i = 1; i < n; i++)
        step(semiring, &belief[i * k], &belief[(i - 1) * k], table_of(chain, i - 1), &chain->unary[i * k], k);
    for (size_t i = n; i-- > 1;) {
        for (size_t b = 0; b < k; b++)
            with_unary[b] = after[i % 2][b] + chain->unary[i * k + b];
        reverse_table(reversed, table_of(chain, i - 1), k);
        step(semiring, after[(i - 1) % 2], with_unary, reversed, zero, k);
        for (size_t a = 0; a < k; a++)
            belief[(i - 1) * k + a] += after[(i - 1) % 2][a];
    }
    array_free(reversed);
    return CLV_OK;
}

enum clv_status clv_chain_max_marginals(double *max_marginals, const struct clv_chain *chain, struct clv_error *err)
{
    enum clv_status status = check(chain, err);
    return status ? status : both_ways(max_marginals, chain, MAX_PLUS, err);
}

enum clv_status clv_chain_marginals(double *marginals, double *log_partition, const struct clv_chain *chain,
                                    struct clv_error *err)
{
    enum clv_status status = check(chain, err);
    if (status)
        return status;
    size_t n = (size_t)chain->n_nodes, k = (size_t)chain->n_labels;
    double *belief = array_alloc(n, k * sizeof *belief), highest = -INFINITY, sum = 0;
    if (!belief)
        return fail_memory(err);
    status = both_ways(belief, chain, LOG_SUM, err);
    if (status)
        goto done;
    for (size_t a = 0; n && a < k; a++)
        highest = fmax(highest, belief[a]);
    for (size_t a = 0; n && a < k; a++)
        sum += exp(belief[a] - highest);
    double total = n ? highest + log(sum) : 0;
    for (size_t c = 0; marginals && c < n * k; c++)
        marginals[c] = exp(belief[c] - total);
    if (log_partition)
        *log_partition = total;
done:
    array_free(belief);
    return status;
}
