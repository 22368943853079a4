/* Chains, maximised: dynamic programming over labels, O(n K^2). The table is the same at every link or one a link. */
#include "infer/chain/viterbi.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/machine.h"
#include "infer/field_check.h"

enum clv_status chain_check(const struct clv_chain *chain, struct clv_error *err)
{
    if (chain->n_nodes < 0 || chain->n_labels < 1 || chain->n_labels > CLV_CHAIN_MAX_LABELS)
        return fail(err, CLV_ERR_USAGE, "a chain of %d nodes with %d labels", chain->n_nodes, chain->n_labels);
    size_t k = (size_t)chain->n_labels, n = (size_t)chain->n_nodes, links = n < 2 ? 0 : chain->is_shared ? 1 : n - 1;
    size_t n_unary = n * k, n_table = links * k * k;
    double total = 0;
    size_t bad = scores_find_unsound(&total, chain->unary, n_unary, 1);
    if (bad < n_unary)
        return fail(err, CLV_ERR_DATA, "node %zu: its unary score is %g%s", bad / k, chain->unary[bad],
                    scores_complaint(chain->unary[bad]));
    bad = scores_find_unsound(&total, chain->table, n_table, chain->is_shared ? chain->n_nodes - 1 : 1);
    if (bad < n_table)
        return fail(err, CLV_ERR_DATA, "link %zu: its pairwise score is %g%s", bad / (k * k), chain->table[bad],
                    scores_complaint(chain->table[bad]));
    return CLV_OK;
}

/* Four rows of the table at a time: fewer loads and stores of to[]. */
FOR_EACH_MACHINE void chain_max_step(double *restrict to, const double *restrict from, const double *restrict table,
                                     const double *restrict unary, size_t k)
{
    size_t a = 1;
    for (size_t b = 0; b < k; b++)
        to[b] = from[0] + table[b];
    for (; a + 4 <= k; a += 4) {
        const double *restrict row = &table[a * k];
        double first = from[a], second = from[a + 1], third = from[a + 2], fourth = from[a + 3];
        for (size_t b = 0; b < k; b++) {
            double p = first + row[b], q = second + row[k + b], r = third + row[2 * k + b], s = fourth + row[3 * k + b];
            p = p > q ? p : q;
            r = r > s ? r : s;
            p = p > r ? p : r;
            to[b] = p > to[b] ? p : to[b];
        }
    }
    for (; a < k; a++)
        for (size_t b = 0; b < k; b++) {
            double score = from[a] + table[a * k + b];
            to[b] = score > to[b] ? score : to[b];
        }
    for (size_t b = 0; b < k; b++)
        to[b] += unary[b];
}

/* The same, and came[b] is the lowest a that is best. */
FOR_EACH_MACHINE static void traced_step(double *restrict to, int32_t *restrict came, const double *restrict from,
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
    for (size_t b = 0; b < k; b++) {
        to[b] += unary[b];
        came[b] = (int32_t)best[b];
    }
}

size_t chain_best_label(const double *from, const double *table, size_t stride, size_t k)
{
    size_t best = 0;
    double highest = from[0] + table[0];
    for (size_t a = 1; a < k; a++) {
        double score = from[a] + table[a * stride];
        best = score > highest ? a : best;
        highest = score > highest ? score : highest;
    }
    return best;
}

void chain_transpose(double *restrict transpose, const double *restrict table, size_t k)
{
    for (size_t a = 0; a < k; a++)
        for (size_t b = 0; b < k; b++)
            transpose[b * k + a] = table[a * k + b];
}

/* Only values are kept on the way; where the one path that is asked for came from is found again on the way back. */
enum clv_status clv_chain_map(int32_t *y, double *score, const struct clv_chain *chain, struct clv_error *err)
{
    enum clv_status status = chain_check(chain, err);
    if (status)
        return status;
    size_t n = (size_t)chain->n_nodes, k = (size_t)chain->n_labels, label = 0;
    double *value = array_alloc(n, k * sizeof *value);
    if (!value)
        return fail_memory(err);
    if (n)
        memcpy(value, chain->unary, k * sizeof *value);
    for (size_t i = 1; i < n; i++)
        chain_max_step(&value[i * k], &value[(i - 1) * k], chain_table(chain, i - 1), &chain->unary[i * k], k);
    for (size_t a = 1; n && a < k; a++)
        label = value[(n - 1) * k + a] > value[(n - 1) * k + label] ? a : label;
    if (score)
        *score = n ? value[(n - 1) * k + label] : 0;
    for (size_t i = n; i-- > 0;) {
        y[i] = (int32_t)label;
        if (i)
            label = chain_best_label(&value[(i - 1) * k], chain_table(chain, i - 1) + label, k, k);
    }
    array_free(value);
    return CLV_OK;
}

enum clv_status clv_chain_max_marginals(double *max_marginals, const struct clv_chain *chain, struct clv_error *err)
{
    return clv_chain_witnesses(max_marginals, NULL, NULL, chain, err);
}

enum clv_status clv_chain_witnesses(double *max_marginals, int32_t *before, int32_t *after,
                                    const struct clv_chain *chain, struct clv_error *err)
{
    enum clv_status status = chain_check(chain, err);
    if (status)
        return status;
    size_t n = (size_t)chain->n_nodes, k = (size_t)chain->n_labels;
    double *transpose = array_alloc(k, k * sizeof *transpose), behind[2][CLV_CHAIN_MAX_LABELS] = {{0}};
    double with_unary[CLV_CHAIN_MAX_LABELS], zero[CLV_CHAIN_MAX_LABELS] = {0};
    int32_t came[CLV_CHAIN_MAX_LABELS] = {0};
    if (!transpose)
        return fail_memory(err);
    for (size_t a = 0; n && a < k; a++) {
        max_marginals[a] = chain->unary[a];
        if (before)
            before[a] = -1;
        if (after)
            after[(n - 1) * k + a] = -1;
    }
    for (size_t i = 1; i < n; i++)
        traced_step(&max_marginals[i * k], before ? &before[i * k] : came, &max_marginals[(i - 1) * k],
                    chain_table(chain, i - 1), &chain->unary[i * k], k);
    for (size_t i = n; i-- > 1;) {
        double *to = behind[(i - 1) % 2];
        for (size_t b = 0; b < k; b++)
            with_unary[b] = behind[i % 2][b] + chain->unary[i * k + b];
        if (!chain->is_shared || i == n - 1)
            chain_transpose(transpose, chain_table(chain, i - 1), k);
        traced_step(to, after ? &after[(i - 1) * k] : came, with_unary, transpose, zero, k);
        for (size_t a = 0; a < k; a++)
            max_marginals[(i - 1) * k + a] += to[a];
    }
    array_free(transpose);
    return CLV_OK;
}

void clv_chain_follow(int32_t *y, const int32_t *before, const int32_t *after, int32_t n_nodes, int32_t n_labels,
                      int32_t node, int32_t label)
{
    y[node] = label;
    for (int32_t i = node; i > 0; i--)
        y[i - 1] = before[(size_t)i * (size_t)n_labels + (size_t)y[i]];
    for (int32_t i = node; i + 1 < n_nodes; i++)
        y[i + 1] = after[(size_t)i * (size_t)n_labels + (size_t)y[i]];
}
