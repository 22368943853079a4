/* Eliminating one end of an edge, in the log domain. */
#include <math.h>
#include <string.h>

#include "base/maths.h"
#include "infer/bp/bp_state.h"
#include "infer/exponential.h"
#include "infer/log_domain.h"

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
    return bp->pairwise[edge * k * k + (arc & 1 ? b * k + a : a * k + b)];
}

/* Over a of (a == b ? 0 : -coupling) + cavity[a]: every label but b comes with the same coupling, hence O(K). */
static double potts_max(double *out, const double *cavity, double coupling, size_t k)
{
    double highest = maximum(cavity, k);
    for (size_t b = 0; b < k; b++)
        out[b] = fmax(cavity[b] - highest, -coupling);
    return highest;
}

/* sum_a exp(cavity[a]) (a == b ? 1 : e^-c) = e^-c sum_a exp(cavity[a]) + (1 - e^-c) exp(cavity[b]), no term
 * negative. */
static double potts_sum(double *out, const struct clv_bp *bp, size_t edge, const double *cavity, size_t k)
{
    double highest = maximum(cavity, k), total = 0, differ = bp->kernel[edge], rest = bp->top[edge];
    exponentials(out, cavity, highest, k);
    for (size_t a = 0; a < k; a++)
        total += out[a];
    for (size_t b = 0; b < k; b++) {
        double sum = differ * total + rest * out[b];
        if (sum >= SAFE_SUM) {
            out[b] = portable_log(sum);
        } else { /* so coupling > 400 and rest is 1 */
            double pair[2] = {portable_log(total) - bp->pairwise[edge], cavity[b] - highest};
            out[b] = log_sum_exp(pair, 2);
        }
    }
    return highest;
}

static double table_max(double *restrict out, const struct clv_bp *bp, int32_t arc, const double *restrict cavity,
                        size_t k)
{
    const double *restrict table = &bp->pairwise[(size_t)(arc >> 1) * k * k];
    size_t across = arc & 1 ? 1 : k, along = arc & 1 ? k : 1; /* steps to the source's next label and to the target's */
    for (size_t b = 0; b < k; b++)
        out[b] = cavity[0] + table[b * along];
    for (size_t a = 1; a < k; a++)
        for (size_t b = 0; b < k; b++) {
            double score = cavity[a] + table[a * across + b * along];
            out[b] = score > out[b] ? score : out[b];
        }
    return 0;
}

static double table_sum(double *restrict out, struct clv_bp *bp, int32_t arc, const double *cavity, size_t k)
{
    size_t edge = (size_t)(arc >> 1);
    const double *restrict kernel = &bp->kernel[edge * k * k];
    double highest = maximum(cavity, k), *weight = bp->weight, *term = bp->weight;
    exponentials(weight, cavity, highest, k);
    apply_kernel(out, weight, kernel, k, arc & 1);
    for (size_t b = 0; b < k; b++) {
        if (out[b] >= SAFE_SUM) {
            out[b] = portable_log(out[b]);
            continue;
        }
        for (size_t a = 0; a < k; a++)
            term[a] = cavity[a] - highest + (bp_pair_score(bp, arc, a, b) - bp->top[edge]);
        out[b] = log_sum_exp(term, k);
    }
    return highest + bp->top[edge];
}

double bp_eliminate(double *out, struct clv_bp *bp, int32_t arc, enum bp_rule rule, const double *cavity)
{
    size_t k = (size_t)bp->n_labels;
    size_t edge = (size_t)(arc >> 1);
    if (bp->form == CLV_PAIRWISE_POTTS)
        return rule == BP_MAX_OUT ? potts_max(out, cavity, bp->pairwise[edge], k) : potts_sum(out, bp, edge, cavity, k);
    return rule == BP_MAX_OUT ? table_max(out, bp, arc, cavity, k) : table_sum(out, bp, arc, cavity, k);
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
