/* A problem whose nodes are the edges of a region graph: label 0, both ends are of one object (same), or 1, of two (cut).
 * It has no couplings, so that every learner of two labels trains it, and its score of label 1 is the log-odds that a
 * decoder makes a partition of. Edges across seams and from slice to slice are nodes like all others. */
#ifndef EDGE_PROBLEM_H
#define EDGE_PROBLEM_H

#include "region/region_graph.h"

/* Owns its arrays. Features of an edge: a bias; 1 for each kind but WITHIN; the logarithm of 1 + its contact; the
 * graph's edge features; what the caller adds. */
struct edge_problem {
    struct clv_problem problem;
    int64_t *row;
    int32_t *index;
    float *value;
    int32_t *label;
    float *theta;
    float *volume; /* contact */
};
enum { EDGE_PROBLEM_BIAS, EDGE_PROBLEM_SEAM, EDGE_PROBLEM_NEXT, EDGE_PROBLEM_CONTACT, EDGE_PROBLEM_OWN };

/* features[n_edges][n_features], of the graph's edges in their order, go behind the own ones; NULL and 0: none.
 * object[n_nodes], or NULL when the truth is not known: the object that a region is of, any number >= 0 (0: the ground),
 * or CLV_UNKNOWN, which hides the edges it is an end of. theta balances the two labels by contact, as
 * clv_example_set_truth does by pixels: it sums to 1, to 0 where all is hidden. CLV_ERR_DATA for a graph without edges,
 * which has no such problem. O(edges x features). */
enum clv_status edge_problem_init(struct edge_problem *self, const struct region_graph *graph, const float *features,
                                  int32_t n_features, const int32_t *object, struct clv_error *err) CLV_CHECK;
void edge_problem_release(struct edge_problem *self);

#endif
