/* Dynamic programming along chains, on whole rows of a table, so that labels are in vector lanes.
 *
 * Read viterbi.c first (MAP labelling), then forward_backward.c (marginals) and max_marginals.c. The second half of
 * viterbi.c solves chains for the MAP oracle; chain_lanes.c runs forward-backward for training. include/cleave/infer.h
 * says which is used when. */
#ifndef INFER_CHAIN_CHAIN_H
#define INFER_CHAIN_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/machine.h"
#include "cleave/infer.h"
#include "cleave/problem.h"

/* Forward-backward for training: outside the log domain, labels in vector lanes, memory kept from chain to chain. Rows
 * of `width` doubles hold k labels and zeros up to whole vectors. Results have the same bits on every machine. */

#define CHAIN_LANES 4

/* Largest difference between the scores of one node, and between the entries of one table. exp(-180) is about 1e-78, so
 * that with alpha summing to 1 no product of two such numbers, a share of a sum and the inverse of a sum leaves a
 * double's range. All of them keep their relative precision, because everything is positive. */
#define CHAIN_LANES_RANGE 180.0

static inline size_t chain_lanes_width(size_t k)
{
    return (k + CHAIN_LANES - 1) / CHAIN_LANES * CHAIN_LANES;
}

/* exp(table - its maximum) and the transpose of that, [k][width] each. */
struct chain_kernel {
    double *there, *back;
    double top; /* the maximum */
};

/* Sets the kernel of table[k][k]. Returns 1, or 0 if entries differ by more than CHAIN_LANES_RANGE. */
int chain_kernel_fill(struct chain_kernel *kernel, const double *table, size_t k);

/* Results of one chain, all [n][width]: marginal is p(y_i), ahead is p(y_i | scores up to i), and flow is such that
 *     p(y_i = a, y_i+1 = b) = ahead[i][a] there[a][b] flow[i + 1][b],     flow[0] is not used. */
struct chain_sums {
    double *weight; /* in: scores; out: exp(scores - their maximum) */
    double *ahead, *flow, *marginal;
};

/* Runs forward-backward on a chain of n >= 1 nodes, with kernels[n - 1], or one that all links share. Returns 1, or 0,
 * with the scores still in weight, if a node's scores differ by more than CHAIN_LANES_RANGE. O(n k width). */
int chain_sums_run(double *log_partition, struct chain_sums *sums, size_t n, const struct chain_kernel *kernels,
                   bool is_shared, size_t k);

/* Adds sum_i ahead[i] flow[i + 1]^T over the n - 1 links to sum[k][width]. */
void chain_sums_pairs(double *sum, const struct chain_sums *sums, size_t n, size_t k);

/* Chains for the MAP oracle: fields of full tables whose edge e joins nodes e and e + 1. */

/* The chain that was solved last. */
struct chain_map {
    int32_t n_nodes, n_labels;
    double *unary;    /* [n_nodes][n_labels] */
    double *forward;  /* [n_nodes][n_labels] the largest score of the nodes up to this one, given its label */
    double *backward; /* [n_nodes][n_labels] of the nodes from this one on; valid from node first_backward on */
    double *reversed; /* [n_labels][n_labels] the transpose of a table */
    int32_t first_backward;
    size_t node_capacity, label_capacity;
};

void chain_map_release(struct chain_map *self);

/* Sets y to the MAP labelling, by Viterbi. At ties the last node has the lowest label, then the node before it, and so
 * on; with two labels and supermodular tables that is the labelling with the fewest 1s. Returns 0, or -1 when out of
 * memory. O(n_nodes n_labels^2). */
int chain_map_solve(struct chain_map *self, int32_t *y, const struct clv_field *field);

/* Sets y to the clamped optimum of the field solved last in which `node` has `label`. O(n_nodes n_labels), and once per
 * field O(n_nodes n_labels^2) for the nodes after `node`. */
void chain_map_clamp(struct chain_map *self, int32_t *y, const struct clv_field *field, int32_t node, int32_t label);

/* Rows of doubles as vectors of CHAIN_LANES, for kernels that are compiled once for each kind of machine and give the
 * same bytes on all. */

#define MOST_VECTORS 8 /* vectors whose running sums stay in registers */

typedef double lanes __attribute__((vector_size(CHAIN_LANES * sizeof(double))));

INLINE void load(lanes *to, const double *from)
{
    memcpy(to, from, sizeof *to);
}

INLINE void store(double *to, const lanes *from)
{
    memcpy(to, from, sizeof *from);
}

/* Refuses, for every routine of chains: sizes out of range, scores that are not finite or could overflow, naming node
 * or link. */
enum clv_status chain_check(const struct clv_chain *chain, struct clv_error *err) CLV_CHECK;

/* Returns the table between nodes i and i + 1. */
static inline const double *chain_table(const struct clv_chain *chain, size_t i)
{
    size_t k = (size_t)chain->n_labels;
    return &chain->table[chain->is_shared ? 0 : i * k * k];
}

/* to[b] = max_a from[a] + table[a][b] + unary[b]. */
void chain_max_step(double *to, const double *from, const double *table, const double *unary, size_t k);

/* Returns the lowest a that maximises from[a] + table[a stride]. */
size_t chain_best_label(const double *from, const double *table, size_t stride, size_t k);

/* Sets transpose[b][a] = table[a][b], for steps backwards. */
void chain_transpose(double *transpose, const double *table, size_t k);

#endif
