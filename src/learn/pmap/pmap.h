/* Perturb-and-MAP learners (Shpakova et al. 2018): likelihoods estimated from the maxima of randomly perturbed scores.
 *
 * Read pmap.c first, which states the objectives and the algorithm. In a training pmap_targets.c sets the target of
 * each example: its labels, or the marginals of an image without a mask. Each step of pmap.c samples perturbed
 * labellings for a batch (pmap_draw.c) and follows the sum of their gradients (common/ascent.c). pmap.c also writes and
 * reads checkpoints, between two steps. */
#ifndef LEARN_PMAP_PMAP_H
#define LEARN_PMAP_PMAP_H

#include <stdbool.h>

#include "base/base.h"
#include "cleave/learn.h"
#include "learn/common/common.h"
#include "learn/weak/weak.h"

/* One sample of the perturb-and-MAP objectives: estimates from one set of Gumbel variables z, and their gradients.
 *
 *     joint (Algorithm 1)             log P(y|x)     ~ (f + z)(y) - max_y' (f + z)(y')
 *     marginal (5), (6), Algorithm 4  log P(y_i=b|x) ~ max_{y': y'_i = b} (f + z)(y') - max_y' (f + z)(y')
 *
 * with the same z in both terms. z(y) has mean zero, and so has z_i(b), which the paper omits from the marginal's first
 * term. It is kept here, so that all estimates are at most 0 and vary less. y_A denotes the maximiser of the second
 * term, y_B that of the first. If y_A has label b at node i, the estimate is 0 and y_B is not needed: the paper's
 * acceleration trick. */

/* The target of an example. Unlabelled nodes and their edges are ignored. */
struct pmap_example {
    struct clv_problem problem;
    const float *weight; /* [n_nodes][n_labels] weight of log P(y_i = b | x); NULL: joint */
    /* [n_nodes] fixed labels, or CLV_UNKNOWN: all P are conditional on them, and their nodes do not count; NULL: none.
     * For Potts form, and without edges. */
    const int32_t *given;
    double scale; /* factor of the example's objective */
};

/* Two labels with Potts form, chains with full tables, or any number of labels without edges. */
struct pmap_draws {
    struct clv_weight_layout layout;
    bool reduction; /* finds y_B only for nodes whose other labels have weight; false: for all known nodes */
    bool dynamic;   /* takes y_B from clamped optima of the solved problem; false: solves again for each */
    uint64_t seed;
};

/* Memory of one thread, which grows and is kept; starts as zeros. Only pmap_draw uses the fields. */
struct pmap_workspace {
    int32_t *first;    /* [n_nodes + 1] ranges of incident */
    int32_t *incident; /* [2 n_edges] the edges of each node */
    int32_t *wanted;   /* [n_nodes] nodes to be clamped */
    int32_t *y;        /* [n_nodes] y_A */
    int32_t *flipped;  /* [n_nodes] nodes at which y_B differs from y_A */
    int32_t *mark;     /* [n_nodes] the last visit that flipped the node */
    int32_t visit;
    double *node_weight; /* [n_nodes][rows] weight of the node's features in the gradient */
    double *edge_weight; /* [n_edges] the gradient's coefficient of [y_a != y_b] */
    size_t node_capacity, edge_capacity;
};
void pmap_workspace_release(struct pmap_workspace *self);

/* The parameters of an estimate. */
struct pmap_estimate {
    const struct pmap_draws *draws;
    const struct pmap_example *example;
    uint32_t draw; /* number of the sample */
    const double *w;
};

/* Sets *value to the estimate at w, times the example's scale, and gradient[clv_weight_layout_size] (may be NULL) to
 * its gradient. O(a cut + the flipped sets with their edges + the features of nodes that flip). */
enum clv_status pmap_draw(double *value, double *gradient, const struct pmap_estimate *estimate,
                          struct pmap_workspace *workspace, struct decoder *decoder, struct clv_error *err) CLV_CHECK;

/* The targets of a perturb-and-MAP training: those of labelled examples never change, those of weak ones are a model's
 * pseudo-labels. */

enum pmap_objective {
    PMAP_JOINT,    /* log P(y|x) */
    PMAP_MARGINAL, /* sum_i log P(y_i|x), (5) */
    PMAP_WEIGHTED, /* sum_i sum_b theta_i(b) log P(y_i = b|x), (6) */
};

struct pmap_targets {
    struct arena arena; /* of the arrays below */
    const struct examples *examples;
    enum pmap_objective objective;
    bool conditional;          /* weak examples: the likelihood of other labels given the fixed ones */
    struct pmap_example *list; /* [n_labelled + n_weak], weak ones after their first pseudo-labels */
    size_t n_labelled, n_weak;
    double unit;    /* a labelled example's scale before weak ones take part */
    float *weights; /* of all examples whose weights are not theta */
    int32_t *labels;
    struct partial_labels *pseudo_labels; /* [n_weak] */
};

/* Sets the targets of the labelled examples, with scale 1 for PMAP_WEIGHTED, otherwise 1 / mean number of known nodes.
 * Release also after a failure. */
enum clv_status pmap_targets_open(struct pmap_targets *self, const struct examples *examples,
                                  enum pmap_objective objective, bool conditional, struct clv_error *err) CLV_CHECK;
void pmap_targets_release(struct pmap_targets *self);

/* How weak examples are labelled, and how much they weigh. */
struct pmap_labelling {
    const struct clv_pseudo_labels *pseudo_labels; /* NULL: by w, from conditional samples or, for PMAP_JOINT, by MAP */
    const double *w;
    struct partial_options options;
    double kappa; /* weight of a weak example relative to a labelled one */
    uint64_t seed;
};

/* Sets the targets of the weak examples, in parallel. Changes all scales so that their mean over the examples stays the
 * same. */
enum clv_status pmap_targets_label(struct pmap_targets *self, const struct pmap_labelling *by,
                                   struct clv_error *err) CLV_CHECK;

/* Indices into clv_training's parameters. PMAP_JOINT's learner has none from PMAP_DRAWS on. */
enum pmap_parameter {
    PMAP_LAMBDA,
    PMAP_PASSES,
    PMAP_BATCH,
    PMAP_STEP,
    PMAP_RATE,
    PMAP_AVERAGING,
    PMAP_TABLE_VARIANCE,
    PMAP_KAPPA,
    PMAP_ROUNDS,
    PMAP_CONDITIONAL,
    PMAP_PAPER,
    PMAP_DRAWS,
    PMAP_SHARPNESS,
    PMAP_REDUCTION,
    PMAP_DYNAMIC,
};

extern const struct clv_learner pmap_learner;
extern const struct clv_learner mpmap_learner;
extern const struct clv_learner wmpmap_learner;

#endif
