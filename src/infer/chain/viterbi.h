/* chain/: dynamic programming along chains. Its steps, on whole rows of a table so that labels stand in vector lanes.
 *
 * Read viterbi.c first (the best labelling), then forward_backward.c (marginals) and max_marginals.c. chain_map.h is the
 * same as viterbi.c for the MAP oracle; chain_lanes.h forward-backward for training. include/cleave/infer.h says
 * which is used when. */
#ifndef INFER_CHAIN_H
#define INFER_CHAIN_H

#include "cleave/infer.h"

/* Refuses what every chain routine refuses. */
enum clv_status chain_check(const struct clv_chain *chain, struct clv_error *err) CLV_CHECK;

/* The table between nodes i and i + 1. */
static inline const double *chain_table(const struct clv_chain *chain, size_t i)
{
    size_t k = (size_t)chain->n_labels;
    return &chain->table[chain->is_shared ? 0 : i * k * k];
}

/* to[b] = max_a from[a] + table[a][b] + unary[b]. */
void chain_max_step(double *to, const double *from, const double *table, const double *unary, size_t k);

/* The lowest a that maximises from[a] + table[a stride]. */
size_t chain_best_label(const double *from, const double *table, size_t stride, size_t k);

/* transpose[b][a] = table[a][b]: what a step backwards uses. */
void chain_transpose(double *transpose, const double *table, size_t k);

#endif
