/* Minimum cuts of graphs, for fields of two labels.
 *
 * Read this header first: the graph, its capacities and the solver. struct capacities has a field's scores, rounded to
 * whole numbers. maxflow_solve runs persistency.c, which decides nodes by their own scores and strips leaves, then, for
 * some small graphs, push_relabel.c, then search.c unless that has finished, and reads the labels. clamp.c forces
 * single nodes of a solution to the other label and completes the residual graph for that. batch.c solves sixteen
 * problems that differ in their terminal weights only, one per vector lane. forest_cut.c solves graphs without cycles.
 * exact_cut.c solves fields whose scores do not fit whole numbers of 30 bits.
 *
 * A graph is built once, its capacities are replaced in place, and solving allocates nothing.
 *
 *     minimise  sum_i [y_i = 0] max(t_i, 0) + [y_i = 1] max(-t_i, 0)
 *             + sum_(a,b) [y_a = 1, y_b = 0] c_ab + [y_a = 0, y_b = 1] c_ba
 *
 * Label 1 is the source side. The labelling is canonical: the minimal source set, hence the fewest 1s.
 *
 * A solution leaves a pseudoflow: excess > 0 at a node is flow from the source that cannot leave the node; excess < 0,
 * a deficit, is flow that the sink could still take. No residual path leads from an excess to a deficit. */
#ifndef INFER_CUT_CUT_H
#define INFER_CUT_CUT_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/machine.h"
#include "cleave/problem.h"

/* Cut problems that differ in their terminal weights only, such as samples of perturbed unaries, one per vector
 * lane. */

#define BATCH_LANES 16

/* Graphs with more nodes are solved faster one by one: a batch of them does not fit the caches. */
#define BATCH_SUITS 4096

/* Largest size of a node's terminal weight in any lane, and largest sum of the capacities of its edges. */
#define BATCH_LIMIT ((1 << 30) - 1)

/* Largest number of nodes: distances have 14 bits. */
#define BATCH_NODES ((1 << 14) - 1)

struct batch_arc {
    int32_t head, edge;     /* index times BATCH_LANES: start of the row */
    int32_t capacity, sign; /* sign 0: positive flow leaves by this arc, -1: it enters */
};

struct batch {
    int32_t n_nodes, n_edges;
    int has_avx2;   /* the machine has it; tests may clear this */
    int32_t *first; /* [n_nodes + 1], multiples of 8 */
    int32_t *last;  /* [n_nodes] */
    /* [n_slots] Node i has slots first[i] .. last[i] - 1. The padding up to first[i + 1] is always saturated and leads
     * to node n_nodes, which does not exist. */
    struct batch_arc *arcs;
    int32_t (*slots)[2]; /* [n_edges] slots of an edge's two arcs */
    /* One value per lane: */
    int32_t *excess;     /* [n_nodes][BATCH_LANES] terminal weights on entry to batch_solve */
    int32_t *distance;   /* [n_nodes][BATCH_LANES] */
    int32_t *flow;       /* [n_edges][BATCH_LANES] */
    int16_t *nearness;   /* [n_nodes + 1][BATCH_LANES] distances while they are computed; 0 where excess reaches */
    int16_t *full;       /* [n_slots][BATCH_LANES] BATCH_NODES where an arc is saturated, else 0 */
    uint16_t *label;     /* [n_nodes] bit l: the label in lane l */
    int32_t (*edges)[2]; /* edges of the graph that is built; n_nodes < 0: none */
    size_t node_capacity, edge_capacity, slot_capacity;
};

static inline void batch_init(struct batch *batch)
{
    *batch = (struct batch){.n_nodes = -1};
}
void batch_release(struct batch *batch);

/* Builds the graph of edges as for maxflow_build, of at most BATCH_NODES nodes. If the graph is the same as before,
 * this costs a comparison. Returns 0, or -1 when out of memory. */
int batch_build(struct batch *batch, int32_t n_nodes, int32_t n_edges, const int32_t (*edges)[2]);

/* Solves the problems whose terminal weights are in excess, with capacity[n_edges] in both directions. label[] gets the
 * canonical labellings. Returns false if sixteen searches may take less work; labels and excess are undefined then. */
bool batch_solve(struct batch *batch, const int32_t *capacity);

/* Terminal weights are in -MAXFLOW_LIMIT..MAXFLOW_LIMIT, capacities in 0..MAXFLOW_LIMIT. So the sum of an edge's two
 * capacities, and thus the residual capacity of each arc, fits 32 bits. */
#define MAXFLOW_LIMIT ((1 << 30) - 1)
#define MAXFLOW_FAR   (1 << 30)

struct maxflow_arc {
    int32_t head;
    int32_t residual;
    int32_t sum;     /* of both arcs' capacities: the opposite arc's residual is sum - residual */
    int32_t reverse; /* the opposite arc */
};

/* Slacks during elimination, then the node's state in the search trees. */
union maxflow_node {
    int64_t slack[2]; /* >= 0: the node is decided, [0] for label 0, [1] for label 1 */
    struct {
        int32_t level;   /* < 0 in a tree of the sink, 0 in no tree */
        int32_t parent;  /* the arc to the parent */
        int32_t current; /* the augmentation in which `level` was exact */
        int32_t up;      /* the parent; of an orphan, the next orphan */
    };
};

/* The arcs of node i are first[i] .. first[i + 1] - 1. After the last arc follow 8 without capacity to node n_nodes,
 * which does not exist, so that 8 arcs can be loaded from any slot. */
struct maxflow {
    int32_t n_nodes, n_edges;
    int32_t *first;           /* [n_nodes + 1] */
    struct maxflow_arc *arc;  /* [2 n_edges + 8] */
    int32_t (*slots)[2];      /* [n_edges] the arc from edges[e][0] to edges[e][1], and its opposite */
    int64_t *excess;          /* [n_nodes + 1] */
    union maxflow_node *node; /* [n_nodes + 1] */
    const int32_t *terminal;  /* [n_nodes] of the caller, who keeps it while solving and clamping */
    int32_t *queue;           /* [2 n_nodes + 2] begins with the decided nodes in order, 2 x node + label */
    int32_t *core;            /* [n_nodes + 1] the core nodes, then the stripped leaves */
    int32_t *distance;        /* [n_nodes + 1] elimination: number of undecided neighbours; pushing: lower bound of the
                               * arcs to the nearest deficit, MAXFLOW_FAR or more if none is reachable */
    int32_t *next;            /* [n_nodes] next node in a list of active nodes; in a search, a path */
    int32_t *active;          /* [n_nodes + 2] per distance: first of its active nodes, or -1 */
    int32_t *count;           /* [n_nodes + 2] per distance: number of its nodes; in a search, the next active node */
    uint8_t *label;           /* [n_nodes] of the last solution */
    int32_t n_decided, n_core, n_leaves;
    bool is_symmetric, is_settled;
    int has_avx2;                  /* the machine has it; tests may clear this */
    struct maxflow_clamps *clamps; /* allocated by the first clamps_prepare */
    size_t node_capacity, edge_capacity;
};

void maxflow_init(struct maxflow *graph);
void maxflow_release(struct maxflow *graph);

/* Builds the graph of edges[n_edges], whose ends are in 0..n_nodes-1 and different. Parallel edges are allowed. Buffers
 * are kept from graph to graph. Returns 0, or -1 when out of memory or past 2^30 edges; the graph is empty then.
 * O(n_nodes + n_edges). */
int maxflow_build(struct maxflow *graph, int32_t n_nodes, int32_t n_edges, const int32_t (*edges)[2]);

/* Replaces all capacities: terminal[n_nodes], forward[n_edges] from edges[e][0] to edges[e][1] and backward[n_edges],
 * which may be the same array. The caller keeps `terminal` while it solves and clamps: both read it. */
void maxflow_set(struct maxflow *graph, const int32_t *terminal, const int32_t *forward, const int32_t *backward);

/* Calls maxflow_build, unless the graph has these edges already, and maxflow_set with `capacity` in both directions.
 * Returns as maxflow_build. */
int maxflow_load(struct maxflow *graph, int32_t n_nodes, int32_t n_edges, const int32_t (*edges)[2],
                 const int32_t *terminal, const int32_t *capacity);

/* Solves the problem that maxflow_set has stored. label[] gets the labelling. */
void maxflow_solve(struct maxflow *graph);

/* A two-label field as a minimum cut problem in whole numbers: f(y) ~ (sum_i terminal[i] y_i - sum_e capacity[e] [y_a
 * != y_b]) 2^-exponent + constant. */
struct capacities {
    int32_t *terminal;            /* [n_nodes], within +-MAXFLOW_LIMIT */
    int32_t *capacity;            /* [n_edges], 0..MAXFLOW_LIMIT */
    int exponent, slack_exponent; /* slack_exponent: the exponent without clipping, for oracle_slack */
    double largest;               /* largest |unary|, for full tables largest |lone| */
    double limit;                 /* the size to which unaries are clipped; INFINITY: none is */
    double *unary, *coupling;     /* of reparametrised full tables; `unary` also if some are clipped */
    double *lone;                 /* [n_nodes] of full tables: unaries without the part that edge losses cancel */
    int64_t *sum;                 /* [n_nodes] workspace of capacities_tighten */
    size_t node_capacity, edge_capacity;
};

void capacities_init(struct capacities *capacities);
void capacities_release(struct capacities *capacities);

/* Sets sum[n_nodes] to the sum of each node's couplings. Returns the largest. */
double capacities_sum(double *sum, const struct clv_field *field, const double *coupling);

/* Returns by how much a node's unary was clipped. The node's margin is too small by that. */
static inline double capacities_clipped(const struct capacities *capacities, int32_t i)
{
    return isinf(capacities->limit) ? 0 : fmax(fabs(capacities->unary[i]) - capacities->limit, 0);
}

/* Checks the field (two labels, form POTTS or FULL) and rounds it to the grid. Couplings are rounded to nearest like
 * unaries, so each term is off by at most 2^-exponent / 2. Refused, naming node or edge: values that are not finite,
 * negative couplings, tables that are not supermodular, edges without two different ends in range. */
enum clv_status capacities_set(struct capacities *capacities, const struct clv_field *field,
                               struct clv_error *err) CLV_CHECK;

#define CUT_TOLERANCE 1e-6 /* of the sum of |unary| */

/* Returns whether rounding is fine enough: the labelling that is best in whole numbers scores less than the MAP
 * labelling by at most 1e-6 (1 + the sum of |unary|). The sum leaves out nodes whose unaries are far above the others,
 * such as those of strokes. If all scores are small, unaries must still have 256 units on average. Returns false, for
 * instance, for hard couplings beside ordinary unaries, which exact_cut.h solves. A `size` >= 0 replaces the sum of the
 * field. O(n_nodes). */
bool capacities_suffice(const struct capacities *capacities, const struct clv_field *field, double size);

double capacities_error(size_t n_nodes, size_t n_edges);

/* Returns about the sum of |value|, of which each counts at most `limit`. Values above a gap are left out: a gap is a
 * factor of 256 without values, below which at least one in 32 of the values other than 0 lies. *n_counted gets the
 * number of values in the sum, zeros not counted. */
double size_of_ordinary(size_t *n_counted, const double *value, size_t n, double limit);

/* Clips large unaries to a size that still decides their nodes, so that the others get more digits. Returns whether
 * capacities have changed. O(n_nodes + n_edges). */
bool capacities_tighten(struct capacities *capacities, const struct clv_field *field);

/* Copies the unaries of a field with two labels to `unary`, and changes nothing else. */
enum clv_status capacities_keep_unary(struct capacities *capacities, const struct clv_field *field,
                                      struct clv_error *err) CLV_CHECK;

/* Cuts of forests with the same capacity in both directions, without a residual graph (forest_cut.c). Zeros initialise
 * it. */

/* State of a node: its degree and the XOR of its edges while the order is found, then its excess. */
union forest_node {
    int64_t excess;
    struct {
        int32_t degree, edges;
    };
};

struct forest_step {
    int32_t node, to, edge; /* a leaf, its neighbour and their edge; a root sets only `node` */
};

struct forest_cut {
    int32_t n_nodes, n_edges;
    int32_t (*edges)[2];       /* [n_edges] the edges that the order belongs to */
    struct forest_step *steps; /* [n_nodes] leaves in order, one per edge, then roots */
    union forest_node *node;   /* [n_nodes] */
    bool is_forest;
    size_t node_capacity;
};

void forest_cut_release(struct forest_cut *self);

/* Sets y[n_nodes] to the labels that maxflow_load and maxflow_solve would find. The ends of the field's edges are in
 * range and different. Returns 1; 0, and does nothing, if the graph has a cycle or no edge; -1 when out of memory.
 * O(n_nodes + n_edges). */
int forest_cut_solve(struct forest_cut *self, int32_t *y, const struct clv_field *field,
                     const struct capacities *capacities);

/* Clamped optima of a solved problem: the minimum with one node forced to its other label. They are found in the
 * residual graph of the solution and undone by a journal.
 *
 *     maxflow_solve(&graph);
 *     if (clamps_prepare(&graph) || clamp_each(&graph, nodes, n_nodes, visit, context)) ...out of memory
 *
 * The clamped labelling is canonical, too: the minimum with the fewest 1s. */

/* An active clamp: its node, the node's excess before, and the start of its changes in the journal. */
struct clamp_frame {
    int32_t node, n_flipped;
    int64_t excess_before;
    size_t first_change;
    size_t list, next; /* clamp_each: start of its flipped nodes in the store, and the next to visit */
};

/* Largest number of nested clamps: clamp_each nests only if the flipped set is at most half as large. */
#define CLAMP_DEPTH 33

struct maxflow_clamps {
    int32_t *flipped; /* [n_flipped] the nodes whose labels the last clamp has changed, its own first */
    int32_t n_flipped;
    /* The rest is private to clamp.c. */
    struct clamp_frame frames[CLAMP_DEPTH];
    int32_t depth;
    int32_t *height;   /* [n_nodes + 1] see clamp.c; 0 for nodes that elimination has not decided */
    int32_t *mark[2];  /* [label][n_nodes + 1] last pass that reached the node, if it has that label */
    int32_t *verified; /* [n_nodes + 1] last pass that found excess which supplies the node */
    int32_t *seen, *trail;
    int32_t *parent;     /* [n_nodes + 1] the slot through which the node was reached */
    int32_t *from;       /* [n_nodes + 1] the tail of that slot */
    uint8_t *is_settled; /* [n_nodes + 1] whether the node's row and excess are complete */
    uint8_t *wanted;     /* [n_nodes + 1] clamp_each: still to be visited */
    struct clamp_change {
        int32_t slot, amount; /* slot < 0: excess of node ~slot */
    } * journal;
    int32_t *store; /* flipped nodes of the active frames */
    size_t n_changes, journal_capacity, n_stored, store_capacity;
    int32_t pass, search;
    size_t node_capacity;
};

/* Marks the rows of decided nodes to be completed when a search reaches them, and drops active clamps. Call it after
 * each maxflow_solve. Returns 0, or -1 when out of memory. */
int clamps_prepare(struct maxflow *graph);
void clamps_free(struct maxflow_clamps *clamps);

/* Forces node i to the label that it does not have. If another clamp is active, i must be one of its flipped nodes; the
 * new clamp replaces its effect until clamp_undo. Returns the cost of the new clamp alone compared with the solution,
 * or -1 when out of memory, with nothing changed. */
int64_t clamp(struct maxflow *graph, int32_t i);
/* Undoes the last clamp. */
void clamp_undo(struct maxflow *graph);

/* Clamps each of nodes[n], in an unspecified order, and calls visit with its cost and flipped nodes; a node listed
 * twice is visited once. Flipped sets are laminar (if j is in R_i then R_j is within R_i), so the searches for nodes of
 * R_i stay within R_i. Returns 0, or -1 when out of memory. */
typedef void clamp_visit(void *context, int32_t node, int64_t cost, const int32_t *flipped, int32_t n_flipped);
int clamp_each(struct maxflow *graph, const int32_t *nodes, int32_t n, clamp_visit *visit, void *context);

/* The steps of maxflow_solve. They avoid data-dependent branches where they can: graphs of this size fit the caches, so
 * mispredicted branches take most of the time. */

#define MAXFLOW_DECIDED INT32_MAX       /* distance of nodes that elimination has decided */
#define MAXFLOW_LEAF    (INT32_MAX - 1) /* distance of stripped leaves */

/* Decides nodes whose terminal weight, with what their decided neighbours add, exceeds the capacities to their
 * undecided neighbours, until no such node is left, and sets their label[]. Lists the other nodes in core[] and sets
 * their excess to the terminal weight with what their decided neighbours add. Arcs at decided nodes keep their
 * capacities; no later step uses them. */
void maxflow_eliminate(struct maxflow *graph);

/* Removes nodes with at most one undecided neighbour from the core until none is left. Each sends its excess to that
 * neighbour, or draws its deficit from it, up to the arc's capacity. */
void maxflow_strip_leaves(struct maxflow *graph);

/* Returns the address of the arc through which leaf `at` of n_leaves was stripped; -1 if its neighbours were stripped
 * before it. These arcs are stored from the end of queue[]; the queues end before them. */
static inline int32_t *maxflow_leaf_arc(const struct maxflow *graph, int32_t at)
{
    return &graph->queue[2 * (size_t)graph->n_nodes + 1 - (size_t)at];
}

/* Completes the core's flow by search trees, from any preflow. Nodes in source trees get label 1. */
void maxflow_search(struct maxflow *graph);

/* Pushes the core's excess to nodes with a deficit until no excess can reach one. Nodes that the remaining excess
 * reaches get label 1. Returns false, without labels, if that takes more work than a search; maxflow_search continues
 * from its flow. */
bool maxflow_push(struct maxflow *graph);

/* Sets the core's labels when its flow is maximal: 1 for the nodes that the remaining excess reaches. */
void maxflow_read_core(struct maxflow *graph);

/* Does the same for a core without deficits or without excess. Excess then reaches most nodes, so a few sweeps through
 * the others, up and down, come before the search: they look at few arcs each, as the numbers of neighbours are mostly
 * near. */
void maxflow_read_one_sided(struct maxflow *graph);

/* Sets the labels of leaves, from those of the core. */
void maxflow_read_leaves(struct maxflow *graph);

#endif
