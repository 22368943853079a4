/* Features that a second stage has besides those of the image: the marginals of a first stage at and around each node
 * (auto-context, Tu & Bai 2010; stacked hierarchical labelling, Munoz, Bagnell & Hebert 2010).
 *
 * A channel is a label; with two labels label 1 is the only channel, and its probability p is written as 2 p - 1. For
 * each channel a node has its own value (and soft bins of its log-odds), the means after averaging over neighbours in
 * the graph once, twice and four times, the means over the sectors of rings around it, and the mean over the image.
 * With two labels it also has its centroid in coordinates of the foreground. Means over sectors and these coordinates
 * need centroids; without them they stay 0. */
#ifndef MODEL_CONTEXT_H
#define MODEL_CONTEXT_H

#include "cleave/problem.h"
#include "cleave/status.h"

/* Means of the values of nodes over the sectors of rings around a node. */

enum { AROUND_SECTORS = 8, AROUND_RINGS = 3, AROUND_SIZE = AROUND_SECTORS * AROUND_RINGS };

/* Nodes pooled in the cells of a grid, so that the time does not grow with their square. */
struct around {
    int32_t n_channels, n_cells;
    int32_t *cell;          /* [n_nodes] */
    double *count, *x, *y;  /* [n_cells] nodes, and their mean centroid */
    float *sum;             /* [n_cells][n_channels] */
    const float *centroid;  /* [n_nodes][2], a view */
    double *weight, *total; /* [AROUND_SIZE], [AROUND_SIZE][n_channels], scratch */
    float *means;           /* [AROUND_SIZE][n_channels] of the node filled last; 0 in sectors without nodes */
};
void around_release(struct around *self);
enum clv_status around_init(struct around *self, const float *value, int32_t n_channels, const float *centroid,
                            int32_t n_nodes, struct clv_error *err) CLV_CHECK;

/* Computes the means around a node, without the nodes in its own cell. O(cells x channels). */
void around_fill(struct around *self, size_t node);

/* Number of features that a node gets, and the name of one. */
int32_t context_size(int32_t n_labels);
void context_name(char *name, size_t size, int32_t n_labels, int32_t index);

/* Features of edges: the similarity of the ends' marginals, alone and times the edge's second feature. Only Potts
 * couplings have them; problems without edge features get none. */
int32_t context_edge_size(int32_t n_edge_features, enum clv_pairwise form);
const char *context_edge_name(int32_t index);

/* A problem with these features after its own. It borrows all other arrays from the problem that it is computed
 * from. */
struct context {
    struct clv_problem problem;
    int64_t *row;
    int32_t *index;
    float *value, *edge_features;
};
void context_release(struct context *self);

/* Computes the features from marginals[n_nodes][n_labels] of a checked problem; n_edge_features is that of
 * context_edge_size. O(nodes x cells x channels + size of the problem), with at most 1024 cells. */
enum clv_status context_init(struct context *self, const struct clv_problem *problem, const double *marginals,
                             int32_t n_labels, int32_t n_edge_features, struct clv_error *err) CLV_CHECK;

/* Evidence, from a first stage's marginals, of which labels occur in an image. Label costs are computed from it. */

/* Sets evidence[2][n_labels] to each label's mean marginal over the nodes, and its largest one. O(n_nodes n_labels). */
void evidence_measure(double *evidence, const double *marginals, int32_t n_nodes, int32_t n_labels);

/* The log-odds of a label's presence are linear in row[evidence_size]: 1, the log-odds of the label's mean and of its
 * largest marginal, and the square roots of all labels' means, which tell which labels occur together. */
int32_t evidence_size(int32_t n_labels);
void evidence_row(double *row, const double *evidence, int32_t n_labels, int32_t label);

#endif
