/* Forward-backward for training: outside the log domain, labels in vector lanes, memory kept from chain to chain. Rows
 * of `width` doubles hold k labels and zeros up to whole vectors. The same bits on every machine. */
#ifndef INFER_CHAIN_LANES_H
#define INFER_CHAIN_LANES_H

#include <stdbool.h>
#include <stddef.h>

#define CHAIN_LANES 4

/* Scores of one node, and entries of one table, may differ by this much at most: exp(-180) is about 1e-78, so that
 * with alpha summing to 1 no product of two such numbers, a sum's share and a sum's inverse leaves a double's range,
 * and all of them keep their relative precision (everything is positive). */
#define CHAIN_LANES_RANGE 180.0

static inline size_t chain_lanes_width(size_t k)
{
    return (k + CHAIN_LANES - 1) / CHAIN_LANES * CHAIN_LANES;
}

/* exp(table - its maximum) both ways round, [k][width]. */
struct chain_kernel {
    double *there, *back;
    double top; /* the maximum */
};

/* table[k][k]. Returns 0 if its entries differ by more than the range. */
int chain_kernel_fill(struct chain_kernel *kernel, const double *table, size_t k);

/* What is found out about one chain, all [n][width]: ahead is p(y_i | scores up to i); flow, such that
 *     p(y_i = a, y_i+1 = b) = ahead[i][a] there[a][b] flow[i + 1][b],     flow[0] is not used. */
struct chain_sums {
    double *weight; /* in: scores; out: exp(scores - their maximum) */
    double *ahead, *flow, *marginal;
};

/* Sums of a chain of n >= 1 nodes; kernels[n - 1], or one that all links share. Returns 0, with weight still the
 * scores, if a node's scores differ by more than the range. O(n k width). */
int chain_sums_run(double *log_partition, struct chain_sums *sums, size_t n, const struct chain_kernel *kernels,
                   bool is_shared, size_t k);

/* sum[k][width] += sum_i ahead[i] flow[i + 1]^T over the n - 1 links. */
void chain_sums_pairs(double *sum, const struct chain_sums *sums, size_t n, size_t k);

#endif
