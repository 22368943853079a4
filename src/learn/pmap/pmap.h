/* Perturb-and-MAP learners (Shpakova et al. 2018): likelihoods estimated from the maxima of randomly perturbed scores.
 *
 * Read pmap.c first, which states the objectives and the algorithm. A training: pmap_targets.c decides what each
 * example asks for: its labels or the marginals of an image without a mask; each step of pmap.c draws perturbed
 * labellings of a batch (pmap_draw.c), adds up their gradients and goes up (common/ascent.c); it writes and reads
 * the checkpoints between two steps. */
#ifndef LEARN_PMAP_PMAP_H
#define LEARN_PMAP_PMAP_H

#include <stdbool.h>

#include "base/base.h"
#include "cleave/learn.h"
#include "learn/common/common.h"
#include "learn/weak/weak.h"

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

/* The labels that an example asks for. Unlabelled nodes are ignored, with their edges. */
struct pmap_example {
    struct clv_problem problem;
    const float *weight; /* [n_nodes][n_labels] of log P(y_i = b | x), or NULL: joint */
    /* [n_nodes] labels, or CLV_UNKNOWN: all P are given these, whose nodes count no more; NULL: none are given. For
     * Potts form, and without edges. */
    const int32_t *given;
    double scale; /* of the whole */
};

/* Two labels with Potts form, chains with full tables, or any number of labels without edges. */
struct pmap_draws {
    struct clv_weight_layout layout;
    bool reduction; /* y_B only where y_A has not all the weight; else for all known nodes */
    bool dynamic;   /* y_B from the clamped optima of the solved problem; else each by another solution */
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

/* An estimate that is asked for. */
struct pmap_estimate {
    const struct pmap_draws *draws;
    const struct pmap_example *example;
    uint32_t draw; /* its number */
    const double *w;
};

/* *value = the estimate at w, times the example's scale; gradient[clv_weight_layout_size] (may be NULL) is
 * overwritten by its gradient. O(a cut + the flipped sets with their edges + the features of nodes that flip). */
enum clv_status pmap_draw(double *value, double *gradient, const struct pmap_estimate *estimate,
                          struct pmap_workspace *workspace, struct decoder *decoder, struct clv_error *err) CLV_CHECK;

/* The labels that each example of a perturb-and-MAP training asks for: those of labelled examples never change, those
 * of weak ones are a model's pseudo-labels. */

enum pmap_objective {
    PMAP_JOINT,    /* log P(y|x) */
    PMAP_MARGINAL, /* sum_i log P(y_i|x), (5) */
    PMAP_WEIGHTED, /* sum_i sum_b theta_i(b) log P(y_i = b|x), (6) */
};

struct pmap_targets {
    struct arena arena; /* of the arrays below */
    const struct examples *examples;
    enum pmap_objective objective;
    bool conditional;          /* weak examples: of labels that are not given, given those that are */
    struct pmap_example *list; /* [n_labelled + n_weak], weak ones after their first pseudo-labels */
    size_t n_labelled, n_weak;
    double unit;    /* a labelled example's scale as long as there is no weak one */
    float *weights; /* of all examples that need their own */
    int32_t *labels;
    struct partial_labels *pseudo_labels; /* [n_weak] */
};

/* The labelled examples', of scale 1 for PMAP_WEIGHTED, else 1 / mean number of known nodes. Release also after a
 * failure. */
enum clv_status pmap_targets_open(struct pmap_targets *self, const struct examples *examples,
                                  enum pmap_objective objective, bool conditional, struct clv_error *err) CLV_CHECK;
void pmap_targets_release(struct pmap_targets *self);

/* Where weak examples' labels are from, and what they count for. */
struct pmap_labelling {
    const struct clv_pseudo_labels *pseudo_labels; /* NULL: as w sees them, from conditional draws or, for PMAP_JOINT,
                                                      which looks at no options, by MAP */
    const double *w;
    struct partial_options options;
    double kappa; /* a weak example weighs this times a labelled one */
    uint64_t seed;
};

/* The weak examples'. Scales are such that their mean over all examples stays what it was. In parallel. */
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
