/* All clamped optima of a solved problem: the minimum with one node forced to the other label, found from the solution's
 * residual graph and undone from a journal.
 *
 *     maxflow_solve(&graph);
 *     if (clamps_prepare(&graph)) ...out of memory
 *     for (each node i) {
 *         int64_t cost = clamp(&graph, i);           // minimum with y_i flipped - minimum; < 0: out of memory
 *         ...graph.clamps->flipped[0 .. n_flipped - 1] have changed their labels, i first
 *         clamp_undo(&graph);
 *     }
 */
#ifndef INFER_CLAMP_H
#define INFER_CLAMP_H

#include "infer/maxflow.h"

struct maxflow_clamps {
    int32_t *flipped; /* [n_flipped] */
    int32_t n_flipped;
    /* The rest is the search's own. */
    int32_t
        *mark[2]; /* [label][n_nodes + 1] last pass that reached the node, of the nodes with that label; others never */
    int32_t *verified; /* [n_nodes + 1] pass in which the node was found to be supplied all the same */
    int32_t *seen, *trail;
    int32_t *parent; /* [n_nodes + 1] the slot through which the node was reached */
    struct clamp_change {
        int32_t slot, amount; /* slot < 0: excess of node ~slot */
    } * journal;
    size_t n_changes, journal_room;
    int32_t pass, search;
    int32_t node; /* the clamped one, or -1 */
    int64_t excess_before;
    size_t node_room;
};

/* Completes the residual graph around the nodes that elimination decided. Once after each maxflow_solve. Returns 0 or -1 when
 * out of memory. */
int clamps_prepare(struct maxflow *graph);

/* Forces node i to the label it does not have. The new labelling is canonical too: of the minima under the clamp the one with
 * the fewest 1s. Returns what the clamp costs, or -1 when out of memory, with nothing changed. */
int64_t clamp(struct maxflow *graph, int32_t i);
void clamp_undo(struct maxflow *graph);

void clamps_free(struct maxflow_clamps *clamps);

#endif
