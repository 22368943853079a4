/* What each example of a perturb-and-MAP training asks for: labelled ones once and for all, weak ones as a model
 * pseudo-labels. */
#ifndef LEARN_PMAP_TARGETS_H
#define LEARN_PMAP_TARGETS_H

#include "base/array.h"
#include "learn/common/examples.h"
#include "learn/pmap/pmap_draw.h"
#include "learn/weak/partial.h"

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
    struct pmap_example *list; /* [n_labelled + n_weak], see pmap_target; weak ones after their first pseudo-labels */
    size_t n_labelled, n_weak;
    double unit;    /* a labelled example's scale as long as there is no weak one */
    float *weights; /* of all examples that need their own */
    int32_t *labels;
    struct pmap_pseudo_label {
        float *weight;
        int32_t *label;
    } * pseudo_labels; /* [n_weak] */
};

/* The labelled examples', of scale 1 for PMAP_WEIGHTED, else 1 / mean number of known nodes. Release also after a
 * failure. */
enum clv_status pmap_targets_open(struct pmap_targets *self, const struct examples *examples,
                                  enum pmap_objective objective, bool conditional, struct clv_error *err) CLV_CHECK;
void pmap_targets_release(struct pmap_targets *self);

/* A target with its features, as examples_at. */
enum clv_status pmap_target(struct pmap_example *target, const struct pmap_targets *self, size_t index, int thread,
                            struct clv_error *err) CLV_CHECK;

/* The weak examples', as `pseudo_labels` say or, if that is NULL, as w sees them: from conditional draws, or by MAP for
 * PMAP_JOINT, which takes no options. A weak example weighs kappa times a labelled one; scales are such that their mean
 * over all examples stays what it was. In parallel. */
enum clv_status pmap_targets_label(struct pmap_targets *self, const double *w, double kappa,
                                   const struct partial_options *options, const struct clv_pseudo_labels *pseudo_labels,
                                   uint64_t seed, struct clv_error *err) CLV_CHECK;

#endif
