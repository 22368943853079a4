/* Images of which few labels are given, or none: unlabelled ones, boxes (what is outside is given), masks with void.
 *
 * A model w1 learned elsewhere says what they could be: marginals q(y_i | what is given) from conditional
 * perturb-and-MAP draws, which then weigh the log P of each label (Shpakova et al. 2018, section 4, Algorithms 3 and
 * 4); or, as for the paper's baselines, the MAP labelling that agrees with what is given. */
#ifndef LEARN_PARTIAL_H
#define LEARN_PARTIAL_H

#include <stdbool.h>

#include "learn/common/decoder.h"

/* Loads the field of all nodes with the given ones forced to their labels, by more than couplings and noise can
 * outweigh. given[n_nodes] labels or CLV_UNKNOWN, or NULL: none. */
enum clv_status partial_load(struct decoder *decoder, const struct clv_problem *problem, const int32_t *given,
                             const struct clv_shape *shape, const double *w, struct clv_error *err) CLV_CHECK;

/* The same of a field that is loaded and perturbed: does nothing without `given`. */
void partial_force(struct clv_field *field, const int32_t *given);

struct partial_options {
    bool weighted;    /* for weighted likelihood */
    uint32_t n_draws; /* >= 1 */
    double sharpness; /* > 0; q is raised to it and normalised: 1 as published, large the likeliest label only */
};

/* What Algorithm 4 makes of q: weight[n_nodes][n_labels] = q_i(b), sharpened; weighted: the loss weights of its pixels
 * as they are to be expected, q being what a model learned with such weights says (partial.c). label[n_nodes] = the
 * likeliest label, the lowest at ties. Of the problem only the volumes are looked at. */
enum clv_status partial_weigh(float *weight, int32_t *label, const double *q, const struct clv_problem *problem,
                              const struct clv_shape *shape, const struct partial_options *options,
                              struct clv_error *err) CLV_CHECK;

/* The same from q by conditional draws of w's model. O(n_draws cuts). */
enum clv_status partial_marginals(float *weight, int32_t *label, struct decoder *decoder,
                                  const struct clv_problem *problem, const int32_t *given,
                                  const struct clv_shape *shape, const double *w, const struct partial_options *options,
                                  uint64_t seed, struct clv_error *err) CLV_CHECK;

/* label[n_nodes] = the best labelling under w that agrees with what is given. */
enum clv_status partial_map(int32_t *label, struct decoder *decoder, const struct clv_problem *problem,
                            const int32_t *given, const struct clv_shape *shape, const double *w,
                            struct clv_error *err) CLV_CHECK;

#endif
