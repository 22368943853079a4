/* cut/: minimum cuts of graphs, for fields of two labels.
 *
 * Read this header first: the graph, its capacities and the solver. struct capacities has whole numbers of a
 * field's scores. A solution goes persistency.c (nodes that their own scores decide, and what hangs on the rest), then push_relabel.c or trees.c and search.c, by the graph's structure; then the labels are read here. clamp.h forces single nodes of a solution to the other label (settle.c completes the
 * residual graph for that). batch.h solves sixteen problems that differ in their terminal weights only, a
 * vector lane each.
 *
 * Our min-cut engine: a graph is built once, capacities are replaced in place, solving allocates nothing.
 *
 *     minimise  sum_i [y_i = 0] max(t_i, 0) + [y_i = 1] max(-t_i, 0)
 *             + sum_(a,b) [y_a = 1, y_b = 0] c_ab + [y_a = 0, y_b = 1] c_ba
 *
 * Label 1 is the source side. The labelling is canonical: the minimal source set, hence the fewest 1s.
 *
 * A solution leaves a pseudoflow: excess > 0 at a node is flow from the source that found no way on, excess < 0 is a
 * deficit: what the sink could still have taken, and no residual way leads from the one to the other. */
#ifndef INFER_MAXFLOW_H
#define INFER_MAXFLOW_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cleave/problem.h"

/* Terminal weights are in -MAXFLOW_LIMIT..MAXFLOW_LIMIT, capacities in 0..MAXFLOW_LIMIT: the two capacities of an edge
 * then add up without overflow, and so does the residual capacity of either of its arcs. */
#define MAXFLOW_LIMIT ((1 << 30) - 1)
#define MAXFLOW_FAR   (1 << 30)

struct maxflow_arc {
    int32_t head;
    int32_t residual;
    int32_t sum;     /* of both arcs' capacities: the opposite arc's residual is sum - residual */
    int32_t reverse; /* the opposite arc */
};

/* Elimination's slacks, then what the search trees know of a node. */
union maxflow_node {
    int64_t slack[2]; /* > 0: the node is decided, [0] for label 0, [1] for label 1 */
    struct {
        int32_t level;   /* below 0 in trees of the sink, 0 in none */
        int32_t parent;  /* the arc that leads there */
        int32_t current; /* the arc from which on a parent is looked for; in search.c, the search that set `level` */
        int32_t next;    /* orphan */
    };
};

/* The arcs of node i are first[i] .. first[i + 1] - 1; after the last one there are 8 of nothing to node n_nodes, which
 * does not exist, so that vectors may be loaded from any. */
struct maxflow {
    int32_t n_nodes, n_edges;
    int32_t *first;           /* [n_nodes + 1] */
    struct maxflow_arc *arc;  /* [2 n_edges + 8] */
    int32_t *forth;           /* [n_edges] the arc from edges[e][0] to edges[e][1] */
    int64_t *excess;          /* [n_nodes + 1] */
    union maxflow_node *node; /* [n_nodes + 1] */
    int32_t *terminal;        /* [n_nodes] */
    int32_t *queue;           /* [2 n_nodes + 2] first the decided nodes in order, 2 x node + label */
    int32_t *core;            /* [n_nodes + 1] the undecided nodes, then those of them that were leaves */
    int32_t *distance;        /* [n_nodes + 1] at most the arcs to the nearest deficit; MAXFLOW_FAR or more: no way */
    int32_t *next;            /* [n_nodes] in a node's list of active nodes */
    int32_t *active;          /* [n_nodes + 2] a distance: list of its active nodes */
    int32_t *count;           /* [n_nodes + 2] a distance: number of its nodes */
    int32_t *bucket;          /* [n_nodes + 2] a level: list of its orphans */
    uint8_t *label;           /* [n_nodes] of the last solution */
    int32_t n_decided, n_core, n_leaves;
    bool is_symmetric, is_settled;
    int has_avx2;                  /* of this machine; a test may say no */
    struct maxflow_clamps *clamps; /* made by the first clamps_prepare */
    size_t node_capacity, edge_capacity;
};

void maxflow_init(struct maxflow *graph);
void maxflow_release(struct maxflow *graph);

/* Makes the graph of edges[n_edges], ends in 0..n_nodes-1 and different; parallel edges are allowed; buffers are kept
 * from graph to graph. Returns 0, or -1 when out of memory or past 2^30 edges (the graph is empty then). O(n_nodes +
 * n_edges). */
int maxflow_build(struct maxflow *graph, int32_t n_nodes, int32_t n_edges, const int32_t (*edges)[2]);

/* Whether the graph is the one that maxflow_build makes of these edges. O(n_edges). */
bool maxflow_is_of(const struct maxflow *graph, int32_t n_nodes, int32_t n_edges, const int32_t (*edges)[2]);

/* Replaces all capacities: terminal[n_nodes], forward[n_edges] from edges[e][0] to edges[e][1] and backward[n_edges],
 * which may be the same array. */
void maxflow_set(struct maxflow *graph, const int32_t *terminal, const int32_t *forward, const int32_t *backward);

/* Solves what maxflow_set has put in place; label[] is the answer. */
void maxflow_solve(struct maxflow *graph);

/* Two-label fields as min-cut problems on whole numbers, the same for every engine. */
/* f(y) ~ (sum_i terminal[i] y_i - sum_e capacity[e] [y_a != y_b]) 2^-exponent + constant. */
struct capacities {
    int32_t *terminal;            /* [n_nodes], within +-MAXFLOW_LIMIT */
    int32_t *capacity;            /* [n_edges], 0..MAXFLOW_LIMIT */
    int exponent, slack_exponent; /* the latter: had no unary been clipped; a bound from above all the same */
    double limit;                 /* what unaries are clipped to, INFINITY: none is */
    double *unary, *coupling;     /* of full tables, reparametrised; unaries also where some are clipped */
    size_t node_capacity, edge_capacity;
};

void capacities_init(struct capacities *capacities);
void capacities_release(struct capacities *capacities);

/* sum[n_nodes] of every node's couplings. Returns the largest. */
double capacities_sum(double *sum, const struct clv_field *field, const double *coupling);

/* By how much a node's unary was clipped: what its margin lacks. */
static inline double capacities_clipped(const struct capacities *capacities, int32_t i)
{
    return isinf(capacities->limit) ? 0 : fmax(fabs(capacities->unary[i]) - capacities->limit, 0);
}

/* Checks the field (two labels, any form) and rounds it to the grid. Couplings are rounded to nearest like unaries, so
 * each term is off by at most 2^-exponent / 2. Refused, naming node or edge: values that are not finite, negative
 * couplings, tables that are not supermodular, edges without two different ends in range. */
enum clv_status capacities_set(struct capacities *capacities, const struct clv_field *field,
                               struct clv_error *err) CLV_CHECK;

/* Only keeps a copy of the unaries of a field with two labels. */
enum clv_status capacities_keep_unary(struct capacities *capacities, const struct clv_field *field,
                                      struct clv_error *err) CLV_CHECK;

#endif
