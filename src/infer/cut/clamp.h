/* Clamped optima of a solved problem: the minimum with one node forced to the label it does not have, found from the
 * solution's residual graph and undone from a journal.
 *
 *     maxflow_solve(&graph);
 *     if (clamps_prepare(&graph) || clamp_each(&graph, nodes, n_nodes, visit, context)) ...out of memory
 *
 * The clamped labelling is canonical too: of the minima under the clamp the one with the fewest 1s. */
#ifndef INFER_CLAMP_H
#define INFER_CLAMP_H

#include "infer/cut/maxflow.h"

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
    int32_t *height; /* [n_nodes + 1] see settle.c; 0 of nodes that elimination has not decided */
    int32_t
        *mark[2]; /* [label][n_nodes + 1] last pass that reached the node, of the nodes with that label; others never */
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

#endif
