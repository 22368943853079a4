/* Computes results once the messages are final: beliefs, pairs of beliefs, the decoded labels and the Bethe value. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "infer/bp/bp.h"
#include "infer/bp/bp_lanes.h"
#include "infer/infer.h"

/* Products that add up to this or more have lost no significant terms to underflow. */
#define SAFE_TOTAL 1e-200

/* Decodes labels from the root of each tree outwards, which is right at ties as well. At a fixed point without ties
 * they are the argmax of each node's belief. */
void bp_decode(struct clv_bp *bp)
{
    size_t k = (size_t)bp->n_labels;
    for (int32_t r = 0; r < bp->n_nodes; r++) {
        int32_t i = bp->order[r], *label = &bp->decoded[i];
        double score[CLV_BP_MAX_LABELS];
        memcpy(score, &bp->belief[(size_t)i * k], k * sizeof *score);
        for (int32_t s = bp->first[i]; bp->role[i] == BP_MAXIMISED && s < bp->first[i + 1]; s++) {
            int32_t back = bp->arc[s] ^ 1, j = arc_source(bp, back);
            if (bp->rank[j] > r || bp->role[j] != BP_MAXIMISED)
                continue;
            for (size_t a = 0; a < k; a++)
                score[a] += bp_pair_score(bp, back, (size_t)bp->decoded[j], a) - bp->message[(size_t)back * k + a];
        }
        *label = 0;
        for (size_t a = 1; a < k; a++)
            *label = score[a] > score[*label] ? (int32_t)a : *label;
    }
}

/* Sets p[n_labels] to the node's distribution, which for a maximised node is 1 at the decoded label. */
static void node_distribution(double *p, const struct clv_bp *bp, int32_t node)
{
    size_t k = (size_t)bp->n_labels;
    const double *belief = &bp->belief[(size_t)node * k];
    double highest = maximum(belief, k), total = 0;
    if (bp->role[node] == BP_SUMMED)
        exponentials(p, belief, highest, k);
    else if (bp->role[node] == BP_MAXIMISED)
        for (size_t a = 0; a < k; a++)
            p[a] = bp->decoded[node] == (int32_t)a;
    else
        for (size_t a = 0; a < k; a++)
            p[a] = portable_exp((belief[a] - highest) / bp->ratio);
    for (size_t a = 0; a < k; a++)
        total += p[a];
    for (size_t a = 0; a < k; a++)
        p[a] /= total;
}

/* Computes the logarithm of an end's factor in its edge's distribution, up to a constant: belief / message from the
 * other end, with the belief to the power 1 / r if this end is softened and the other is not. */
static void end_factor(double *factor, const struct clv_bp *bp, int32_t node, int32_t other, const double *from_other)
{
    size_t k = (size_t)bp->n_labels;
    const double *belief = &bp->belief[(size_t)node * k];
    double highest = maximum(belief, k), divisor = bp->role[node] == BP_SOFTENED ? bp->ratio : 1;
    int are_both = bp->role[node] == bp->role[other];
    for (size_t a = 0; a < k; a++) {
        if (bp->role[node] == BP_MAXIMISED)
            factor[a] = bp->decoded[node] == (int32_t)a ? 0 : -INFINITY;
        else
            factor[a] = (belief[a] - highest) / divisor - from_other[a] / (are_both ? divisor : 1);
    }
}

/* Sets p to the distribution proportional to exp(rows[a] + table[a][b] + columns[b]), from the table's exponentials.
 * Returns 0 if terms may have been too small for that. */
static int multiply_factors(double *p, const struct clv_bp *bp, int32_t edge, const double *rows, const double *columns)
{
    size_t k = (size_t)bp->n_labels;
    size_t width = row_length(bp->n_labels);
    const double *kernel = &bp->linear.kernel[(size_t)bp->table[edge] * width * width];
    double row[CLV_BP_MAX_LABELS], column[CLV_BP_MAX_LABELS], total = 0;
    exponentials(row, rows, maximum(rows, k), k);
    exponentials(column, columns, maximum(columns, k), k);
    for (size_t a = 0; a < k; a++)
        for (size_t b = 0; b < k; b++) {
            p[a * k + b] = row[a] * kernel[a * width + b] * column[b];
            total += p[a * k + b];
        }
    if (!(total >= SAFE_TOTAL))
        return 0;
    double scale = 1 / total;
    for (size_t c = 0; c < k * k; c++)
        p[c] *= scale;
    return 1;
}

static void pair_distribution(double *p, struct clv_bp *bp, int32_t edge)
{
    size_t k = (size_t)bp->n_labels;
    int32_t first = bp->edges[edge][0], second = bp->edges[edge][1];
    double rows[CLV_BP_MAX_LABELS], columns[CLV_BP_MAX_LABELS], highest = -INFINITY, total = 0;
    int are_softened = bp->role[first] == BP_SOFTENED && bp->role[second] == BP_SOFTENED;
    end_factor(rows, bp, first, second, &bp->message[(size_t)(2 * edge + 1) * k]);
    end_factor(columns, bp, second, first, &bp->message[(size_t)(2 * edge) * k]);
    if (bp->form == CLV_PAIRWISE_FULL && bp->has_kernels && !are_softened &&
        multiply_factors(p, bp, edge, rows, columns))
        return;
    for (size_t a = 0; a < k; a++)
        for (size_t b = 0; b < k; b++) {
            double score = bp_pair_score(bp, 2 * edge, a, b) / (are_softened ? bp->ratio : 1) + rows[a] + columns[b];
            highest = score > highest ? score : highest;
            p[a * k + b] = score;
        }
    for (size_t c = 0; c < k * k; c++) {
        p[c] = portable_exp(p[c] - highest);
        total += p[c];
    }
    for (size_t c = 0; c < k * k; c++)
        p[c] /= total;
}

void clv_bp_pair_beliefs(double *pair_beliefs, struct clv_bp *bp)
{
    size_t k = (size_t)bp->n_labels;
    bp_leave_linear(bp);
    for (int32_t e = 0; e < bp->n_edges; e++)
        pair_distribution(&pair_beliefs[(size_t)e * k * k], bp, e);
}

void bp_write_beliefs(double *beliefs, const struct clv_bp *bp, double temperature)
{
    size_t k = (size_t)bp->n_labels;
    for (int32_t i = 0; i < bp->n_nodes; i++) {
        const double *belief = &bp->belief[(size_t)i * k];
        double highest = maximum(belief, k);
        if (bp->role[i] == BP_MAXIMISED)
            for (size_t a = 0; a < k; a++)
                beliefs[(size_t)i * k + a] = temperature * (belief[a] - highest);
        else
            node_distribution(&beliefs[(size_t)i * k], bp, i);
    }
}

/* log Z = sum_i (1 - d_i) log Z_i + sum_ij log Z_ij with Z_i the sum of node i's belief and Z_ij that of the edge's,
 * both unnormalised (Yedidia, Freeman & Weiss 2005); scale factors of messages cancel. */
double bp_bethe(struct clv_bp *bp)
{
    size_t k = (size_t)bp->n_labels;
    double value = 0, cavity[CLV_BP_MAX_LABELS], out[CLV_BP_MAX_LABELS];
    for (int32_t i = 0; i < bp->n_nodes; i++)
        value += (1 - (bp->first[i + 1] - bp->first[i])) * log_sum_exp(&bp->belief[(size_t)i * k], k);
    for (int32_t e = 0; e < bp->n_edges; e++) {
        const double *there = &bp->message[(size_t)(2 * e) * k], *back = &bp->message[(size_t)(2 * e + 1) * k];
        const double *source = &bp->belief[(size_t)bp->edges[e][0] * k];
        const double *target = &bp->belief[(size_t)bp->edges[e][1] * k];
        for (size_t a = 0; a < k; a++)
            cavity[a] = source[a] - back[a];
        value += bp_eliminate(out, bp, 2 * e, BP_SUM_OUT, cavity);
        for (size_t b = 0; b < k; b++)
            out[b] += target[b] - there[b];
        value += log_sum_exp(out, k);
    }
    return value;
}

/* Returns p log(p / q), 0 if p is 0. A q that underflowed counts as the least normal number. */
static double divergence(double p, double q)
{
    return p > 0 ? p * portable_log(p / fmax(q, DBL_MIN)) : 0;
}

/* Returns the Bethe estimate, with distributions b from the beliefs and the mutual information I_ij of an edge (Liu &
 * Ihler 2013, the annealed objective):
 *     sum_i <b_i, f_i> + sum_ij <b_ij, f_ij> + sum_i t_i H_i - sum_ij t_ij I_ij,
 * t = r for softened nodes and edges between two of them, 0 for maximised ones, else 1. */
double bp_mixed_value(struct clv_bp *bp)
{
    size_t k = (size_t)bp->n_labels;
    double value = 0, p[CLV_BP_MAX_LABELS], q[CLV_BP_MAX_LABELS];
    const double weight[] = {[BP_SUMMED] = 1, [BP_MAXIMISED] = 0, [BP_SOFTENED] = bp->ratio};
    for (int32_t i = 0; i < bp->n_nodes; i++) {
        node_distribution(p, bp, i);
        for (size_t a = 0; a < k; a++)
            value += p[a] > 0 ? p[a] * bp->unary[(size_t)i * k + a] - weight[bp->role[i]] * divergence(p[a], 1) : 0;
    }
    for (int32_t e = 0; e < bp->n_edges; e++) {
        int32_t first = bp->edges[e][0], second = bp->edges[e][1];
        double t = bp->role[first] == bp->role[second] ? weight[bp->role[first]] : 1, *pair = bp->pair;
        node_distribution(p, bp, first);
        node_distribution(q, bp, second);
        pair_distribution(pair, bp, e);
        for (size_t a = 0; a < k; a++)
            for (size_t b = 0; b < k; b++)
                value +=
                    pair[a * k + b] * bp_pair_score(bp, 2 * e, a, b) - t * divergence(pair[a * k + b], p[a] * q[b]);
    }
    return value;
}
