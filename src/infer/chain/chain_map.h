/* The MAP oracle's way with chains: fields of full tables whose edge e joins nodes e and e + 1. */
#ifndef INFER_CHAIN_MAP_H
#define INFER_CHAIN_MAP_H

#include "cleave/problem.h"

/* Of the chain solved last. */
struct chain_map {
    int32_t n_nodes, n_labels;
    double *unary;    /* [n_nodes][n_labels] */
    double *forward;  /* [n_nodes][n_labels] the best score of the nodes up to this one, given its label */
    double *backward; /* [n_nodes][n_labels] of those from this one on; valid from first_backward on */
    double *reversed; /* [n_labels][n_labels] the transpose of a table */
    int32_t first_backward;
    size_t node_capacity, label_capacity;
};

void chain_map_release(struct chain_map *self);

/* y = argmax by Viterbi: of labellings that score alike the one that is least in the last node, then in the one
 * before, and so on; with two labels and supermodular tables that is the one with the fewest 1s. Returns 0, or -1 when
 * out of memory. O(n_nodes n_labels^2). */
int chain_map_solve(struct chain_map *self, int32_t *y, const struct clv_field *field);

/* y = the best labelling of the field solved last in which `node` has `label`. O(n_nodes n_labels), and once for a
 * field O(n_nodes n_labels^2) for the nodes behind `node`. */
void chain_map_clamp(struct chain_map *self, int32_t *y, const struct clv_field *field, int32_t node, int32_t label);

#endif
