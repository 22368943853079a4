/* This folder computes with the problem of cleave/problem.h, which is the page to read first: problem.c checks problems
 * and layouts, and has scores, the joint feature and the weighted Hamming loss; graph.c recognises chains and forests.
 *
 * The two halves of the joint feature, for learners that keep fractional labellings (marginals): */
#ifndef MRF_PROBLEM_H
#define MRF_PROBLEM_H

#include "cleave/problem.h"

/* Adds sum_i weight[i][row] x_i to psi[rows][n_features]. Nodes of zero weight are skipped. */
void unary_feature_add(double *psi, const struct clv_problem *problem, const struct clv_weight_layout *layout,
                       const double *weight);

/* Adds scale * the pairwise part of Psi(x, y) to pairwise[pairwise size]. */
void pairwise_feature_add(double *pairwise, const struct clv_problem *problem, const struct clv_weight_layout *layout,
                          const int32_t *y, double scale);

/* Adds the sum of the problem's theta of each label, if it has theta, to share[n_labels]. */
void label_shares_add(double *share, const struct clv_problem *problem, int32_t n_labels);

/* Finds the kind of graph that the edges make. O(n_nodes + n_edges). Fails with CLV_ERR_MEMORY only. */
enum clv_status problem_graph(enum clv_graph *graph, const struct clv_problem *problem,
                              struct clv_error *err) CLV_CHECK;

#endif
