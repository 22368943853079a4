/* Converts messages to the linear domain and back. There, sum-, max- and mixed-product need no exp and no log, as
 * long as no number gets so small that precision could be lost. */
#include "infer/bp/bp.h"

#include <string.h>

#include "base/base.h"
#include "infer/infer.h"

static void take_messages(struct clv_bp *bp)
{
    size_t row = row_length(bp->n_labels), k = (size_t)bp->n_labels;
    for (int32_t arc = 0; arc < 2 * bp->n_edges; arc++) {
        double *message = bp_message(bp, arc);
        for (size_t b = 0; b < row; b++) {
            double logarithm = bp->message[(size_t)arc * k + (b < k ? b : 0)];
            message[b] = logarithm == 0 ? 1 : portable_exp(logarithm);
        }
    }
}

void bp_take_priors(struct clv_bp *bp)
{
    size_t row = row_length(bp->n_labels), k = (size_t)bp->n_labels;
    for (size_t i = 0; bp->is_linear && i < (size_t)bp->n_nodes; i++) {
        const double *unary = &bp->unary[i * k];
        bp->linear.shift[i] = maximum(unary, k);
        double *prior = &bp->linear.prior[i * row];
        exponentials(prior, unary, bp->linear.shift[i], k);
        for (size_t b = k; b < row; b++)
            prior[b] = 0;
    }
    if (bp->is_linear)
        memset(bp->linear.is_due, true, 2 * (size_t)bp->n_edges * sizeof *bp->linear.is_due);
}

void bp_enter_linear(struct clv_bp *bp)
{
    size_t k = (size_t)bp->n_labels;
    double smallest = portable_log(SMALLEST_MESSAGE);
    for (size_t c = 0; !bp->is_linear && c < 2 * (size_t)bp->n_edges * k; c++)
        if (bp->message[c] < smallest)
            return;
    if (!bp->is_linear)
        take_messages(bp);
    bp->is_linear = true;
    bp_take_priors(bp);
}

void bp_leave_linear(struct clv_bp *bp)
{
    size_t k = (size_t)bp->n_labels;
    for (int32_t arc = 0; bp->is_linear && arc < 2 * bp->n_edges; arc++)
        portable_logs(&bp->message[(size_t)arc * k], bp_message(bp, arc), k);
    bp->is_linear = false;
}

int bp_gather_linear(struct clv_bp *bp)
{
    size_t row = row_length(bp->n_labels), k = (size_t)bp->n_labels;
    for (int32_t i = 0; i < bp->n_nodes; i++) {
        double *belief = &bp->linear.belief[(size_t)i * row], *logarithm = &bp->belief[(size_t)i * k];
        if (!bp_gather_row(belief, bp, i) && bp->label[i] == CLV_UNKNOWN)
            return 0;
        portable_logs(logarithm, belief, k);
        for (size_t a = 0; a < k; a++)
            logarithm[a] += bp->linear.shift[i];
    }
    return 1;
}

#define SUMS_AT_ONCE 64

double bp_bethe_linear(const struct clv_bp *bp)
{
    size_t row = row_length(bp->n_labels), k = (size_t)bp->n_labels;
    double value = 0, sum[SUMS_AT_ONCE];
    for (int32_t i = 0; i < bp->n_nodes; i++) {
        double total = 0;
        for (size_t a = 0; a < k; a++)
            total += bp->linear.belief[(size_t)i * row + a];
        value += (1 - (bp->first[i + 1] - bp->first[i])) * (bp->linear.shift[i] + portable_log(total));
    }
    for (int32_t first = 0; first < bp->n_edges; first += SUMS_AT_ONCE) {
        int32_t count = bp->n_edges - first < SUMS_AT_ONCE ? bp->n_edges - first : SUMS_AT_ONCE;
        bp_edge_sums(sum, bp, first, (size_t)count);
        portable_logs(sum, sum, (size_t)count);
        for (int32_t e = first; e < first + count; e++) {
            double top = bp->form == CLV_PAIRWISE_FULL ? bp->top[bp->table[e]] : 0;
            value += sum[e - first] + bp->linear.shift[bp->edges[e][0]] + bp->linear.shift[bp->edges[e][1]] + top;
        }
    }
    return value;
}
