/* Eliminates one end of an edge in the log domain: sums or maxima over its labels, with short cuts for Potts
 * couplings. Start at bp_eliminate, at the end. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "infer/bp/bp.h"
#include "infer/bp/bp_lanes.h"
#include "infer/infer.h"

/* Sums below this may have lost terms to underflow and are taken again with a maximum of their own. */
#define SAFE_SUM 1e-200

void bp_gather(double *belief, const struct clv_bp *bp, int32_t node)
{
    size_t k = (size_t)bp->n_labels;
    memcpy(belief, &bp->unary[(size_t)node * k], k * sizeof *belief);
    for (int32_t s = bp->first[node]; s < bp->first[node + 1]; s++) {
        const double *message = &bp->message[(size_t)(bp->arc[s] ^ 1) * k];
        for (size_t a = 0; a < k; a++)
            belief[a] += message[a];
    }
}

double bp_pair_score(const struct clv_bp *bp, int32_t arc, size_t a, size_t b)
{
    size_t edge = (size_t)(arc >> 1), k = (size_t)bp->n_labels;
    if (bp->form == CLV_PAIRWISE_POTTS)
        return a == b ? 0 : -bp->pairwise[edge];
    return bp_table(bp, edge)[arc & 1 ? b * k + a : a * k + b];
}

/* Returns the largest a[c] + b[c], by vectors. */
INLINE double highest_sum(const double *restrict a, const double *restrict b, size_t n)
{
    double highest = a[0] + b[0];
    size_t c = 0;
    if (n >= LANES) {
        lanes most, x, y;
        memcpy(&x, a, sizeof x);
        memcpy(&y, b, sizeof y);
        most = x + y;
        for (c = LANES; c + LANES <= n; c += LANES) {
            memcpy(&x, &a[c], sizeof x);
            memcpy(&y, &b[c], sizeof y);
            x += y;
            lift(&most, &x);
        }
        spread_highest(&most);
        highest = most[0];
    }
    for (; c < n; c++)
        highest = a[c] + b[c] > highest ? a[c] + b[c] : highest;
    return highest;
}

/* out[b] = max over a of (a == b ? 0 : -coupling) + cavity[a]. All labels except b have the same coupling, hence
 * O(K). */
static double potts_max(double *out, const double *cavity, double coupling, size_t k)
{
    double highest = maximum(cavity, k);
    for (size_t b = 0; b < k; b++)
        out[b] = fmax(cavity[b] - highest, -coupling);
    return highest;
}

/* Sets out to log sum_a exp(cavity[a]) (a == b ? 1 : e^-c) = log(e^-c sum_a exp(cavity[a]) + (1 - e^-c)
 * exp(cavity[b])), in which no term is negative, up to the maximum of cavity, which it returns. */
static double potts_sum(double *out, const struct clv_bp *bp, size_t edge, const double *cavity, size_t k)
{
    double highest = maximum(cavity, k), total = 0, differ = bp->potts[edge].differ, rest = bp->potts[edge].rest;
    exponentials(out, cavity, highest, k);
    for (size_t a = 0; a < k; a++)
        total += out[a];
    double sum[CLV_BP_MAX_LABELS], lowest = SAFE_SUM;
    for (size_t b = 0; b < k; b++) {
        sum[b] = differ * total + rest * out[b];
        lowest = sum[b] < lowest ? sum[b] : lowest; // cppcheck-suppress uninitvar; lanes set it
    }
    if (lowest >= SAFE_SUM) {
        portable_logs(out, sum, k);
        return highest;
    }
    for (size_t b = 0; b < k; b++) {
        if (sum[b] >= SAFE_SUM) {
            out[b] = portable_log(sum[b]);
        } else { /* so coupling > 400 and rest is 1 */
            double pair[2] = {portable_log(total) - bp->pairwise[edge], cavity[b] - highest};
            out[b] = log_sum_exp(pair, 2);
        }
    }
    return highest;
}

/* Sets out to the largest of cavity[a] + table[a][..] over a, for `part` vectors from vector `first` on. The last
 * vector of a row may overlap with the one before. */
INLINE void highest_part(double *restrict out, const double *restrict table, const double *restrict cavity, size_t k,
                         size_t first, const size_t part)
{
    lanes most[PART];
    size_t at[PART];
#pragma GCC unroll 8
    for (size_t v = 0; v < part; v++) {
        at[v] = (first + v + 1) * LANES <= k ? (first + v) * LANES : k - LANES;
        memcpy(&most[v], &table[at[v]], sizeof most[v]);
        most[v] += cavity[0];
    }
    for (size_t a = 1; a < k; a++) {
        table += k;
#pragma GCC unroll 8
        for (size_t v = 0; v < part; v++) {
            lanes score;
            memcpy(&score, &table[at[v]], sizeof score);
            score += cavity[a];
            lift(&most[v], &score);
        }
    }
#pragma GCC unroll 8
    for (size_t v = 0; v < part; v++)
        memcpy(&out[at[v]], &most[v], sizeof most[v]);
}

INLINE void highest_of_few(double *restrict out, const double *restrict table, const double *restrict cavity, size_t k)
{
    for (size_t b = 0; b < k; b++) {
        out[b] = cavity[0] + table[b];
        for (size_t a = 1; a < k; a++)
            out[b] = cavity[a] + table[a * k + b] > out[b] ? cavity[a] + table[a * k + b] : out[b];
    }
}

/* Rows of the table run over the target's labels, or over the source's labels if is_back. */
FOR_EACH_MACHINE static void table_max(double *restrict out, const double *restrict table, bool is_back,
                                       const double *restrict cavity, size_t k)
{
    size_t n = row_length((int32_t)k) / LANES, v = 0;
    for (size_t b = 0; is_back && b < k; b++)
        out[b] = highest_sum(cavity, &table[b * k], k);
    if (is_back)
        return;
    if (k < LANES) {
        highest_of_few(out, table, cavity, k);
        return;
    }
    for (; v + PART <= n; v += PART)
        highest_part(out, table, cavity, k, v, PART);
    switch (n - v) {
    case 1: highest_part(out, table, cavity, k, v, 1); break;
    case 2: highest_part(out, table, cavity, k, v, 2); break;
    case 3: highest_part(out, table, cavity, k, v, 3); break;
    case 4: highest_part(out, table, cavity, k, v, 4); break;
    case 5: highest_part(out, table, cavity, k, v, 5); break;
    default: break;
    }
}

/* Multiplies weights, whose padding is 0, by a kernel or its transpose. */
FOR_EACH_MACHINE static void multiply_kernel(lanes *out, const lanes *weight, const double *kernel, bool is_back,
                                             size_t k)
{
    size_t n = row_length((int32_t)k) / LANES;
    if (is_back)
        combine_columns(out, weight, (const lanes *)kernel, k, n, false);
    else
        combine_rows(out, (const double *)weight, (const lanes *)kernel, k, n, false);
}

static double table_sum(double *restrict out, struct clv_bp *bp, int32_t arc, const double *cavity, size_t k)
{
    size_t edge = (size_t)(arc >> 1), row = row_length(bp->n_labels);
    lanes sums[LONGEST_ROW_LANES], weights[LONGEST_ROW_LANES];
    const double *sum = (const double *)sums;
    double *weight = (double *)weights, term[CLV_BP_MAX_LABELS], lowest = SAFE_SUM;
    double highest = maximum(cavity, k), top = bp->top[bp->table[edge]];
    exponentials(weight, cavity, highest, k);
    memset(sums, 0, row * sizeof *sum);
    for (size_t a = k; a < row; a++)
        weight[a] = 0;
    multiply_kernel(sums, weights, &bp->linear.kernel[(size_t)bp->table[edge] * row * row], arc & 1, k);
    for (size_t b = 0; b < k; b++)
        lowest = sum[b] < lowest ? sum[b] : lowest; // cppcheck-suppress uninitvar; lanes set it
    if (lowest >= SAFE_SUM)
        portable_logs(out, sum, k);
    for (size_t b = 0; lowest < SAFE_SUM && b < k; b++) {
        if (sum[b] >= SAFE_SUM) {
            out[b] = portable_log(sum[b]);
            continue;
        }
        for (size_t a = 0; a < k; a++)
            term[a] = cavity[a] - highest + (bp_pair_score(bp, arc, a, b) - top);
        out[b] = log_sum_exp(term, k);
    }
    return highest + top;
}

double bp_eliminate(double *out, struct clv_bp *bp, int32_t arc, enum bp_rule rule, const double *cavity)
{
    size_t k = (size_t)bp->n_labels;
    size_t edge = (size_t)(arc >> 1);
    if (bp->form == CLV_PAIRWISE_POTTS)
        return rule == BP_MAX_OUT ? potts_max(out, cavity, bp->pairwise[edge], k) : potts_sum(out, bp, edge, cavity, k);
    if (rule == BP_SUM_OUT)
        return table_sum(out, bp, arc, cavity, k);
    table_max(out, bp_table(bp, edge), arc & 1, cavity, k);
    return 0;
}

void bp_soften(double *out, const struct clv_bp *bp, int32_t arc, const double *cavity)
{
    size_t k = (size_t)bp->n_labels;
    double term[CLV_BP_MAX_LABELS];
    for (size_t b = 0; b < k; b++) {
        double sum = 0;
        for (size_t a = 0; a < k; a++)
            term[a] = cavity[a] + bp_pair_score(bp, arc, a, b);
        double highest = maximum(term, k);
        for (size_t a = 0; a < k; a++)
            sum += portable_exp((term[a] - highest) / bp->ratio);
        out[b] = highest + bp->ratio * portable_log(sum);
    }
}
