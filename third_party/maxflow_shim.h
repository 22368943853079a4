/* A C face for libmaxflow 3.0.5 (Boykov & Kolmogorov, PAMI 2004; GPL-3+): the only place that knows it. No exception, no
 * exit() and no unchecked capacity gets past it.
 *
 * Capacities are whole numbers held in doubles, so sums stay exact below 2^53. */
#ifndef MAXFLOW_SHIM_H
#define MAXFLOW_SHIM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum bk_status {
    BK_OK = 0,
    BK_MEMORY,   /* out of memory */
    BK_BAD_NODE, /* a terminal weight is not finite or exceeds 2^50; *culprit is the node */
    BK_BAD_EDGE, /* an edge's end is no node, its ends are one node, or a capacity is negative, not finite or exceeds
                  * 2^50; *culprit is the edge */
    BK_BAD_SEQUENCE, /* bk_change or bk_resolve before the first bk_solve */
};

struct bk;

/* A graph of fixed topology: edges[n_edges] = {from, to}; parallel edges are allowed. culprit may be NULL. */
enum bk_status bk_new(struct bk **bk, int32_t n_nodes, int32_t n_edges, const int32_t (*edges)[2], int32_t *culprit);
void bk_free(struct bk *bk);

/* Replaces every capacity and solves. terminal[n_nodes] > 0 is an arc from the source, < 0 one to the sink. forward[n_edges]
 * and backward[n_edges] may be the same array. *flow (may be NULL) is the maximum flow. On failure the graph is unsolved. */
enum bk_status bk_solve(struct bk *bk, double *flow, const double *terminal, const double *forward,
                        const double *backward, int32_t *culprit);

/* Adds to a node's terminal weight; takes effect at the next bk_resolve, which reuses the search trees (Kohli & Torr 2005) and
 * starts from changed nodes only. *flow is what this call added. */
enum bk_status bk_change(struct bk *bk, int32_t node, double amount);
enum bk_status bk_resolve(struct bk *bk, double *flow);
/* The nodes, each once, that may have changed sides in the last bk_resolve; all others have not. Valid until the next call. */
const int32_t *bk_changed(const struct bk *bk, int32_t *n_changed);

/* Whether a node belongs to the minimal source set of the last solution. */
int bk_on_source_side(const struct bk *bk, int32_t node);

#ifdef __cplusplus
}
#endif
#endif
