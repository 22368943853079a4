/* Computes with problems, the subject of this folder. Read cleave/problem.h first, which defines them. problem.c checks
 * problems and layouts, and computes scores, the joint feature and the weighted Hamming loss; graph.c recognises chains
 * and forests. */
#ifndef MRF_PROBLEM_H
#define MRF_PROBLEM_H

#include "cleave/problem.h"

/* The unary and the pairwise part of the joint feature. Learners whose labellings are fractional (marginals) use them
 * one by one. */

/* Adds sum_i weight[i][r] x_i to row r of psi[rows][n_features], for each row of the layout. Weights of 0 are
 * skipped. */
void unary_feature_add(double *psi, const struct clv_problem *problem, const struct clv_weight_layout *layout,
                       const double *weight);

/* Adds scale times the pairwise part of Psi(x, y) to `pairwise`, the pairwise part of a vector of the layout. Edges
 * with an unlabelled end are skipped. */
void pairwise_feature_add(double *pairwise, const struct clv_problem *problem, const struct clv_weight_layout *layout,
                          const int32_t *y, double scale);

/* Adds the sum of theta over all nodes to share[n_labels], label by label. Does nothing if the problem has no theta. */
void label_shares_add(double *share, const struct clv_problem *problem, int32_t n_labels);

/* Finds which kind of graph the edges form. O(n_nodes + n_edges). Fails with CLV_ERR_MEMORY only. */
enum clv_status problem_graph(enum clv_graph *graph, const struct clv_problem *problem,
                              struct clv_error *err) CLV_CHECK;

#endif
