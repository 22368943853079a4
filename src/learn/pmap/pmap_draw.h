/* One draw of the perturb-and-MAP objectives: their estimates from one set of Gumbel variables z, and the gradients of
 * those.
 *
 *     joint (Algorithm 1)             log P(y|x)     ~ (f + z)(y) - max_y' (f + z)(y')
 *     marginal (5), (6), Algorithm 4  log P(y_i=b|x) ~ max_{y': y'_i = b} (f + z)(y') - max_y' (f + z)(y')
 *
 * with the same z in both terms. Joint, z(y) has mean zero; so has z_i(b), which the paper leaves out of the marginal's
 * first term. It stays in here, so that all estimates are at most 0 and vary less. What matters to the gradient is y_A,
 * the second maximiser, and y_B, the first, if y_A has not label b at node i; else the estimate is 0: the paper's
 * acceleration trick. */
#ifndef LEARN_PMAP_DRAW_H
#define LEARN_PMAP_DRAW_H

#include <stdbool.h>

#include "learn/common/decoder.h"

/* What an example asks for. Nodes of unknown label are left out, with their edges. */
struct pmap_example {
    struct clv_problem problem;
    const float *weight; /* [n_nodes][n_labels] of log P(y_i = b | x), or NULL: joint */
    const int32_t
        *given;   /* [n_nodes] labels, or CLV_UNKNOWN: all P are given these, whose nodes count no more; or NULL:
                             none are. For Potts form, and without edges */
    double scale; /* of the whole */
};

/* Two labels with Potts form, chains with full tables, or any number of labels without edges. */
struct pmap_draws {
    struct clv_shape shape;
    bool reduction; /* y_B only where y_A has not all the weight; else for all known nodes */
    bool dynamic;   /* y_B from the clamped optima of the solved problem; else each by solving anew */
    uint64_t seed;
};

/* Memory of one thread, which grows and is kept; starts as zeros. The fields are pmap_draw's own. */
struct pmap_workspace {
    int32_t *first;    /* [n_nodes + 1] places in incident */
    int32_t *incident; /* [2 n_edges] the edges of each node */
    int32_t *wanted;   /* [n_nodes] to be clamped */
    int32_t *y;        /* [n_nodes] y_A */
    int32_t *flipped;  /* [n_nodes] where a y_B differs */
    int32_t *mark;     /* [n_nodes] the last visit that flipped the node */
    int32_t visit;
    double *node_weight; /* [n_nodes][rows] of the gradient, in Psi */
    double *edge_weight; /* [n_edges] of the gradient, in [y_a != y_b] */
    size_t node_capacity, edge_capacity;
};
void pmap_workspace_release(struct pmap_workspace *self);

/* *value = the example's estimate at w from draw number `draw`, times its scale; gradient[clv_shape_size] (may be NULL)
 * is overwritten by its gradient. O(a cut + the flipped sets with their edges + the features of nodes that flip). */
enum clv_status pmap_draw(double *value, double *gradient, const struct pmap_draws *self,
                          const struct pmap_example *example, uint32_t draw, const double *w,
                          struct pmap_workspace *workspace, struct decoder *decoder, struct clv_error *err) CLV_CHECK;

#endif
