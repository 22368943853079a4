/* Sum-product on the messages themselves instead of their logarithms: no exp and no log, for as long as no number gets so small
 * that precision could be lost. */
#include <math.h>
#include <string.h>

#include "infer/bp.h"

/* With messages at least SMALLEST_MESSAGE (their maximum is 1) and beliefs and sums at least SMALLEST_SUM, quotients are below
 * 1e30, and what underflowed below 1e-308 counts for less than 1e-16 of any sum. */
#define SMALLEST_MESSAGE 1e-30
#define SMALLEST_SUM     1e-200

void bp_enter_linear(struct clv_bp *bp)
{
    size_t n_values = (size_t)bp->n_edges * 2 * (size_t)bp->n_labels;
    for (size_t c = 0; c < n_values; c++)
        if (bp->message[c] < log(SMALLEST_MESSAGE))
            return;
    for (size_t c = 0; c < n_values; c++)
        bp->message[c] = bp->message[c] == 0 ? 1 : exp(bp->message[c]);
    size_t k = (size_t)bp->n_labels;
    for (size_t i = 0; i < (size_t)bp->n_nodes; i++) {
        double highest = maximum(&bp->unary[i * k], k);
        for (size_t a = 0; a < k; a++)
            bp->belief[i * k + a] = exp(bp->unary[i * k + a] - highest);
    }
    bp->is_linear = 1;
}

void bp_leave_linear(struct clv_bp *bp)
{
    size_t n_values = (size_t)bp->n_edges * 2 * (size_t)bp->n_labels;
    for (size_t c = 0; bp->is_linear && c < n_values; c++)
        bp->message[c] = log(bp->message[c]);
    bp->is_linear = 0;
}

static double minimum(const double *value, size_t n)
{
    double lowest = value[0];
    for (size_t k = 1; k < n; k++)
        lowest = value[k] < lowest ? value[k] : lowest;
    return lowest;
}

/* out[b] = sum_a cavity[a] exp(pairwise[a][b]), up to a factor. */
static void eliminate(double *restrict out, const struct clv_bp *bp, int32_t arc, const double *restrict cavity,
                      size_t k)
{
    size_t edge = (size_t)(arc >> 1);
    if (bp->form == CLV_PAIRWISE_POTTS) {
        double total = 0;
        for (size_t a = 0; a < k; a++)
            total += cavity[a];
        for (size_t b = 0; b < k; b++)
            out[b] = bp->kernel[edge] * total + bp->top[edge] * cavity[b];
        return;
    }
    bp_apply_kernel(out, cavity, &bp->kernel[edge * k * k], k, arc & 1);
}

int bp_send_linear(double *growth, struct clv_bp *bp, int32_t arc, const double *belief)
{
    size_t k = (size_t)bp->n_labels;
    const double *restrict back = &bp->message[(size_t)(arc ^ 1) * k];
    double *restrict message = &bp->message[(size_t)arc * k], *restrict fresh = bp->fresh;
    for (size_t a = 0; a < k; a++)
        bp->cavity[a] = belief[a] / back[a];
    eliminate(fresh, bp, arc, bp->cavity, k);
    double highest = maximum(fresh, k);
    if (!(highest >= SMALLEST_SUM) || minimum(fresh, k) < SMALLEST_MESSAGE * highest)
        return 0;
    double most = 1, least = 1;
    for (size_t b = 0; b < k; b++) {
        double value = fresh[b] / highest, ratio = value / message[b];
        most = ratio > most ? ratio : most;
        least = ratio < least ? ratio : least;
        message[b] = value;
    }
    if (most > 1 || least < 1)
        *growth = fmax(*growth, fmax(most - 1, 1 / least - 1));
    return 1;
}

int bp_gather_linear(double *restrict belief, const struct clv_bp *bp, int32_t node)
{
    size_t k = (size_t)bp->n_labels;
    memcpy(belief, &bp->belief[(size_t)node * k], k * sizeof *belief);
    for (int32_t s = bp->first[node]; s < bp->first[node + 1]; s++) {
        const double *restrict message = &bp->message[(size_t)(bp->arc[s] ^ 1) * k];
        for (size_t a = 0; a < k; a++)
            belief[a] *= message[a];
    }
    return minimum(belief, k) >= SMALLEST_SUM;
}
