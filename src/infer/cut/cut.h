/* cut/: minimum cuts of graphs, for fields of two labels.
 *
 * Read this header first: the graph, its capacities and the solver. struct capacities has whole numbers of a
 * field's scores. A solution goes persistency.c (nodes that their own scores decide, and what hangs on the rest), then
 * search.c, in some small graphs after push_relabel.c, which may finish it; then the labels are read here. clamp.c
 * forces single nodes of a solution to the other label (and completes the residual graph for that). batch.c solves
 * sixteen problems that differ in their terminal weights only, a vector lane each; forest_cut.c those without cycles.
 * exact_cut.c has what whole numbers of 30 bits cannot hold.
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
#ifndef INFER_CUT_CUT_H
#define INFER_CUT_CUT_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/machine.h"
#include "cleave/problem.h"

/* Many cut problems that differ in their terminal weights only, such as draws of perturbed unaries, solved side by
 * side: one problem a vector lane. */

#define BATCH_LANES 16

/* Graphs with more nodes are solved sooner one by one: their batches leave the caches. */
#define BATCH_SUITS 4096

/* Limit of the size of a node's terminal weight in every lane; the capacities of its edges may add up to this. */
#define BATCH_LIMIT ((1 << 30) - 1)

/* Largest number of nodes, because distances are measured in 14 bits. */
#define BATCH_NODES ((1 << 14) - 1)

struct batch_arc {
    int32_t head, edge;     /* times BATCH_LANES: where their rows begin */
    int32_t capacity, sign; /* sign 0: the edge's flow leaves by this arc, -1: it comes in */
};

struct batch {
    int32_t n_nodes, n_edges;
    int has_avx2;   /* of this machine; a test may say no */
    int32_t *first; /* [n_nodes + 1], multiples of 8 */
    int32_t *last;  /* [n_nodes] */
    struct batch_arc
        *arcs; /* [n_slots] of node i in slots first[i] .. last[i] - 1; those up to first[i + 1] are always full,
                               and lead to node n_nodes, which does not exist */
    int32_t (*slots)[2]; /* [n_edges] where an edge's two arcs are */
    /* A lane each: */
    int32_t *excess;     /* [n_nodes][BATCH_LANES] terminal weights, before batch_solve */
    int32_t *distance;   /* [n_nodes][BATCH_LANES] */
    int32_t *flow;       /* [n_edges][BATCH_LANES] */
    int16_t *nearness;   /* [n_nodes + 1][BATCH_LANES] distances while they are measured; what excess reaches */
    int16_t *full;       /* [n_slots][BATCH_LANES] all ones where an arc is full, else 0 */
    uint16_t *label;     /* [n_nodes] bit l: the label in lane l */
    int32_t (*edges)[2]; /* what the graph was built of; n_nodes < 0: nothing */
    size_t node_capacity, edge_capacity, slot_capacity;
};

static inline void batch_init(struct batch *batch)
{
    *batch = (struct batch){.n_nodes = -1};
}
void batch_release(struct batch *batch);

/* Edges as for maxflow_build, at most BATCH_NODES nodes; building the same graph again costs a comparison. Returns 0,
 * or -1 when out of memory. */
int batch_build(struct batch *batch, int32_t n_nodes, int32_t n_edges, const int32_t (*edges)[2]);

/* Solves what the caller has put into excess, with capacity[n_edges] both ways; label[] holds the canonical labellings.
 * Returns false where sixteen searches may take less work: labels and excess are then of no use. */
bool batch_solve(struct batch *batch, const int32_t *capacity);

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
    int64_t slack[2]; /* >= 0: the node is decided, [0] for label 0, [1] for label 1 */
    struct {
        int32_t level;   /* below 0 in trees of the sink, 0 in none */
        int32_t parent;  /* the arc that leads there */
        int32_t current; /* the augmentation in which `level` was exact */
        int32_t up;      /* that parent; of an orphan, the next one */
    };
};

/* The arcs of node i are first[i] .. first[i + 1] - 1; after the last one there are 8 of nothing to node n_nodes, which
 * does not exist, so that vectors may be loaded from any. */
struct maxflow {
    int32_t n_nodes, n_edges;
    int32_t *first;           /* [n_nodes + 1] */
    struct maxflow_arc *arc;  /* [2 n_edges + 8] */
    int32_t (*slots)[2];      /* [n_edges] the arc from edges[e][0] to edges[e][1], and its opposite */
    int64_t *excess;          /* [n_nodes + 1] */
    union maxflow_node *node; /* [n_nodes + 1] */
    const int32_t *terminal;  /* [n_nodes] the caller's, as long as solving and clamping go on */
    int32_t *queue;           /* [2 n_nodes + 2] first the decided nodes in order, 2 x node + label */
    int32_t *core;            /* [n_nodes + 1] the undecided nodes, then those of them that were leaves */
    int32_t *distance;        /* [n_nodes + 1] in elimination undecided neighbours, in pushing at most the arcs to the
                                 nearest deficit; MAXFLOW_FAR or more: no way */
    int32_t *next;            /* [n_nodes] in a node's list of active nodes; in a search, a path */
    int32_t *active;          /* [n_nodes + 2] a distance: list of its active nodes */
    int32_t *count;           /* [n_nodes + 2] a distance: number of its nodes; in a search, who is active next */
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

/* Replaces all capacities: terminal[n_nodes], forward[n_edges] from edges[e][0] to edges[e][1] and backward[n_edges],
 * which may be the same array. Terminal weights stay the caller's: they are read by clamps, too. */
void maxflow_set(struct maxflow *graph, const int32_t *terminal, const int32_t *forward, const int32_t *backward);

/* maxflow_build, unless the graph is that of these edges already, and maxflow_set with the capacity both ways. */
int maxflow_load(struct maxflow *graph, int32_t n_nodes, int32_t n_edges, const int32_t (*edges)[2],
                 const int32_t *terminal, const int32_t *capacity);

/* Solves what maxflow_set has put in place; label[] is the answer. */
void maxflow_solve(struct maxflow *graph);

/* Two-label fields as min-cut problems on whole numbers, the same for every engine. */
/* f(y) ~ (sum_i terminal[i] y_i - sum_e capacity[e] [y_a != y_b]) 2^-exponent + constant. */
struct capacities {
    int32_t *terminal;            /* [n_nodes], within +-MAXFLOW_LIMIT */
    int32_t *capacity;            /* [n_edges], 0..MAXFLOW_LIMIT */
    int exponent, slack_exponent; /* the latter: had no unary been clipped; a bound from above all the same */
    double largest;               /* size of a unary, of full tables of `lone` */
    double limit;                 /* what unaries are clipped to, INFINITY: none is */
    double *unary, *coupling;     /* of full tables, reparametrised; unaries also where some are clipped */
    double *lone;                 /* [n_nodes] of full tables: what nodes score that no edge can take back */
    int64_t *sum;                 /* [n_nodes] space for capacities_tighten */
    size_t node_capacity, edge_capacity;
};

void capacities_init(struct capacities *capacities);
void capacities_release(struct capacities *capacities);

/* sum[n_nodes] of every node's couplings. Returns the largest. */
double capacities_sum(double *sum, const struct clv_field *field, const double *coupling);

/* Returns by how much a node's unary was clipped, which its margin lacks. */
static inline double capacities_clipped(const struct capacities *capacities, int32_t i)
{
    return isinf(capacities->limit) ? 0 : fmax(fabs(capacities->unary[i]) - capacities->limit, 0);
}

/* Checks the field (two labels, any form) and rounds it to the grid. Couplings are rounded to nearest like unaries, so
 * each term is off by at most 2^-exponent / 2. Refused, naming node or edge: values that are not finite, negative
 * couplings, tables that are not supermodular, edges without two different ends in range. */
enum clv_status capacities_set(struct capacities *capacities, const struct clv_field *field,
                               struct clv_error *err) CLV_CHECK;

#define CUT_TOLERANCE 1e-6 /* of the sum of |unary| */

/* Returns whether rounding has kept what decides: the labelling that the whole numbers prefer scores less than the
 * best one by at most 1e-6 (1 + the sum of |unary|), in which nodes do not count that are as far above the others as
 * seeds, and scores have digits however small all of them are. Hard couplings beside ordinary unaries take their
 * digits; exact_cut.h is for these. `size` stands for the sum, below 0: the field's own. O(n_nodes). */
bool capacities_suffice(const struct capacities *capacities, const struct clv_field *field, double size);

double capacities_error(size_t n_nodes, size_t n_edges);

/* About the sum of the sizes of values, without those above a gap: 256 times as large as the values below it, which are
 * one in 32 of those that are not 0 or more. *n_counted are the values below it. No value counts for more than
 * `limit`. */
double size_of_ordinary(size_t *n_counted, const double *value, size_t n, double limit);

/* Clips unaries that decide their nodes all the same, so that they take no digits from the others. Returns whether
 * capacities have changed. O(n_nodes + n_edges). */
bool capacities_tighten(struct capacities *capacities, const struct clv_field *field);

/* Keeps a copy of the unaries of a field with two labels, and does nothing else. */
enum clv_status capacities_keep_unary(struct capacities *capacities, const struct clv_field *field,
                                      struct clv_error *err) CLV_CHECK;

/* Cuts of forests with the same capacity both ways: forest_cut.c, without a residual graph. All zeros at first. */

/* State of a node during a cut: its excess; before that, while the order is found, its degree and the XOR of its
 * edges. */
union forest_node {
    int64_t excess;
    struct {
        int32_t degree, edges;
    };
};

struct forest_step {
    int32_t node, to, edge; /* a leaf, by which edge it hangs where; of a root only the first */
};

struct forest_cut {
    int32_t n_nodes, n_edges;
    int32_t (*edges)[2];       /* [n_edges] what the order was found for */
    struct forest_step *steps; /* [n_nodes] leaves in order, one an edge, then roots */
    union forest_node *node;   /* [n_nodes] */
    bool is_forest;
    size_t node_capacity;
};

void forest_cut_release(struct forest_cut *self);

/* y[n_nodes] as maxflow_load and maxflow_solve would label them, of the field's edges, with ends in range and
 * different. Returns 1; 0 where there is a cycle or no edge, and then nothing is done; -1 when out of memory. O(n_nodes
 * + n_edges). */
int forest_cut_solve(struct forest_cut *self, int32_t *y, const struct clv_field *field,
                     const struct capacities *capacities);

/* Clamped optima of a solved problem: the minimum with one node forced to the label it does not have, found from the
 * solution's residual graph and undone from a journal.
 *
 *     maxflow_solve(&graph);
 *     if (clamps_prepare(&graph) || clamp_each(&graph, nodes, n_nodes, visit, context)) ...out of memory
 *
 * The clamped labelling is canonical too: of the minima under the clamp the one with the fewest 1s. */

/* A clamp in force: its node, that node's excess before, and where its part of the journal begins. */
struct clamp_frame {
    int32_t node, n_flipped;
    int64_t excess_before;
    size_t first_change;
    size_t list, next; /* clamp_each: its flipped nodes in the store, and the next of them to look at */
};

/* Frames nest only where the set at least halves. */
#define CLAMP_DEPTH 33

struct maxflow_clamps {
    int32_t *flipped; /* [n_flipped] the nodes whose labels the last clamp has changed, its own first */
    int32_t n_flipped;
    /* The rest is the search's own. */
    struct clamp_frame frames[CLAMP_DEPTH];
    int32_t depth;
    int32_t *height;   /* [n_nodes + 1] see clamp.c; 0 of nodes that elimination has not decided */
    int32_t *mark[2];  /* [label][n_nodes + 1] last pass that reached the node, if it has that label */
    int32_t *verified; /* [n_nodes + 1] pass in which the node was found to be supplied all the same */
    int32_t *seen, *trail;
    int32_t *parent;     /* [n_nodes + 1] the slot through which the node was reached */
    int32_t *from;       /* [n_nodes + 1] and that slot's tail */
    uint8_t *is_settled; /* [n_nodes + 1] whether the node's row and excess are complete */
    uint8_t *wanted;     /* [n_nodes + 1] clamp_each: still to be visited */
    struct clamp_change {
        int32_t slot, amount; /* slot < 0: excess of node ~slot */
    } * journal;
    int32_t *store; /* flipped nodes of the frames in force */
    size_t n_changes, journal_capacity, n_stored, store_capacity;
    int32_t pass, search;
    size_t node_capacity;
};

/* Completes the residual graph around the nodes that elimination decided and forgets clamps in force. After each
 * maxflow_solve. Returns 0, or -1 when out of memory. */
int clamps_prepare(struct maxflow *graph);
void clamps_free(struct maxflow_clamps *clamps);

/* Forces node i to the label it does not have. A clamp may follow another one, which stays in force no longer, without
 * undoing that first if i is among that one's flipped nodes. Returns what the clamp costs compared to the solution, or
 * -1 when out of memory, with nothing changed. */
int64_t clamp(struct maxflow *graph, int32_t i);
/* Takes the last clamp back. */
void clamp_undo(struct maxflow *graph);

/* Clamps nodes[n] one by one, in an order of its own, and calls visit for each, with the flipped nodes; a node listed
 * twice is visited once. Flipped sets are laminar (if j is in R_i then R_j is within R_i), so what is found for i
 * narrows the search for the nodes of R_i to R_i. Returns 0, or -1 when out of memory. */
typedef void clamp_visit(void *context, int32_t node, int64_t cost, const int32_t *flipped, int32_t n_flipped);
int clamp_each(struct maxflow *graph, const int32_t *nodes, int32_t n, clamp_visit *visit, void *context);

/* The steps of a solution. Both avoid data-dependent branches where they can: on graphs of this size everything is
 * in cache, and mispredicted branches are what time goes into. */

#define MAXFLOW_DECIDED INT32_MAX       /* the distance of nodes that elimination has decided, */
#define MAXFLOW_LEAF    (INT32_MAX - 1) /* and of those that stripping leaves has */

/* Decides the nodes whose terminal weight exceeds all that their undecided neighbours can add up against it, and so on
 * until there is none: label[]. Lists the others, the core, and gives them the excess that their decided neighbours
 * leave them. Arcs that touch decided nodes keep their capacities; no later step goes through them. */
void maxflow_eliminate(struct maxflow *graph);

/* Takes nodes with one undecided neighbour out of the core, until there is none: they have given it what they could, or
 * drawn from it. */
void maxflow_strip_leaves(struct maxflow *graph);

/* The arc through which leaf `at` of n_leaves was stripped, -1: none was left. Queues end before these. */
static inline int32_t *maxflow_leaf_arc(const struct maxflow *graph, int32_t at)
{
    return &graph->queue[2 * (size_t)graph->n_nodes + 1 - (size_t)at];
}

/* The core's flow by search trees, from any preflow on. What source trees hold has label 1. */
void maxflow_search(struct maxflow *graph);

/* Pushes the core's excess to nodes with a deficit, until none that is left can get to one. What excess that is left
 * over reaches has label 1. Returns false where that takes more work than a search may: then there are no labels, and
 * maxflow_search goes on from what was pushed. */
bool maxflow_push(struct maxflow *graph);

/* The core's labels, once there is no more way: 1 for what excess that is left over reaches. */
void maxflow_read_core(struct maxflow *graph);

/* The labels of leaves, from those of the core. */
void maxflow_read_leaves(struct maxflow *graph);

#endif
