/* Learning from images without masks. A teacher, which is the learner itself trained on the masks, labels weak examples
 * before the learner uses them.
 *
 * Read this first: clv_train calls pseudo_labels_make before it calls the learner. pseudo_labels.c also builds the
 * dataset that the teacher is trained on. partial.c labels one image, some of whose labels may be given; learners with
 * CLV_ROLE_KAPPA (pmap) call it themselves.
 *
 * The teacher has privileged features (struct clv_training), which the learner lacks: the position of a node in its box
 * and, if there are masks, the prediction of box segmentation. So a few masks teach it that objects fill the middle of
 * their boxes, stand on their lower sides and leave their corners free, and it makes other errors than the learner. A
 * teacher with masks moves the share of foreground in each box halfway to its mean over all boxes. */
#ifndef LEARN_WEAK_WEAK_H
#define LEARN_WEAK_WEAK_H

#include <stdbool.h>

#include "cleave/learn.h"
#include "feature/dataset/dataset.h"
#include "learn/common/common.h"

/* Images with few given labels, or none: unlabelled images, images with boxes (labels outside of them are given), masks
 * with void.
 *
 * Another model w1 estimates the missing labels: marginals q(y_i | given labels) from conditional perturb-and-MAP
 * samples, which weigh the log P of each label (Shpakova et al. 2018, section 4, Algorithms 3 and 4); or, as in the
 * paper's baselines, the MAP labelling that agrees with the given labels. */

/* An example with some given labels, and the model that labels the rest. */
struct partial_example {
    const struct clv_problem *problem;
    const int32_t *given; /* [n_nodes] labels or CLV_UNKNOWN, or NULL: none */
    const struct clv_weight_layout *layout;
    const double *w;
};

/* Returns the given labels of a weak example, or NULL. */
static inline const int32_t *training_given(const struct clv_training *training, size_t weak)
{
    return training->given ? training->given[weak] : NULL;
}

/* Loads the field of all nodes. Given nodes are forced to their labels by scores that couplings and noise cannot
 * outweigh. */
enum clv_status partial_load(struct decoder *decoder, const struct partial_example *example,
                             struct clv_error *err) CLV_CHECK;

/* Forces the given labels in a field that was loaded and perturbed. given NULL: does nothing. */
void partial_force(struct clv_field *field, const int32_t *given);

struct partial_options {
    bool weighted;      /* for weighted likelihood */
    uint32_t n_samples; /* >= 1 */
    double sharpness;   /* > 0: power of q, before it is normalised. 1: as published; large: the most probable label */
    bool is_published;  /* areas are sums of marginals (partial.c) */
};

/* Pseudo-labels of one example. */
struct partial_labels {
    float *weight;  /* [n_nodes][n_labels] */
    int32_t *label; /* [n_nodes] */
};

/* Makes labels and weights from q, as Algorithm 4 does: weights are q_i(b), sharpened. weighted: they are the expected
 * loss weights of pixels, if q comes from a model that was trained with such weights (partial.c). Labels are the most
 * probable ones, the lowest at ties. Of the problem it reads only the areas. */
enum clv_status partial_weigh(struct partial_labels labels, const double *q, const struct clv_problem *problem,
                              const struct clv_weight_layout *layout, const struct partial_options *options,
                              struct clv_error *err) CLV_CHECK;

/* Makes labels and weights from the marginals of conditional samples under w. O(n_samples cuts). */
enum clv_status partial_marginals(struct partial_labels labels, struct decoder *decoder,
                                  const struct partial_example *example, const struct partial_options *options,
                                  uint64_t seed, struct clv_error *err) CLV_CHECK;

/* Sets label[n_nodes] to the best labelling by w that agrees with the given labels. */
enum clv_status partial_map(int32_t *label, struct decoder *decoder, const struct partial_example *example,
                            struct clv_error *err) CLV_CHECK;

/* The dataset that a teacher of weak examples (pseudo_labels.c) learns from: examples with masks, weak ones with their
 * pseudo-labels, and privileged features. */

/* Makes an item of an example of the training's dataset. `is_privileged`: if the training has privileged features, they
 * follow those of the example, and if there are masks, the result of box segmentation for each node (the privileged
 * theta) follows these. Unchanged arrays are borrowed from the dataset. Release the item also after a failure. */
enum clv_status pseudo_labelled_example(struct dataset_item *item, const struct clv_training *training, size_t number,
                                        bool is_privileged, struct clv_error *err) CLV_CHECK;

/* Returns how pseudo-labels become labels and weights. */
struct partial_options pseudo_labelled_options(const struct clv_learner *learner, const struct clv_training *training);

/* Probabilities of each weak example's labels before training begins. */
struct clv_pseudo_labels {
    double **q; /* [n][n_nodes][n_labels] probabilities */
    size_t n;
};
void pseudo_labels_release(struct clv_pseudo_labels *self);

/* Whether a training needs pseudo-labels: if the learner makes none itself, if no example has a mask, or if there are
 * privileged features, which help a teacher. Only the published algorithm (CLV_ROLE_PAPER) ignores them. */
bool pseudo_labels_needed(const struct clv_learner *learner, const struct clv_training *training);

/* Makes pseudo-labels for training->weak: marginals, from conditional samples, for learners with CLV_ROLE_DRAWS,
 * otherwise MAP labels. Both agree with the given labels. Without masks pseudo-labels start from the privileged theta
 * or, without it, from foreground everywhere in the boxes; then a teacher is trained on its own marginals, several
 * times. Foreground converges to nodes whose features are common inside boxes and rare outside. CLV_ERR_INTERRUPTED
 * when asked to stop. */
enum clv_status pseudo_labels_make(struct clv_pseudo_labels *self, const struct clv_learner *learner,
                                   const struct clv_training *training, struct clv_error *err) CLV_CHECK;

/* Trains on the masks and on the pseudo-labels as if they were masks: for learners without CLV_ROLE_KAPPA, and for
 * trainings without any mask. */
enum clv_status pseudo_labels_train(struct clv_training_result *result, const struct clv_pseudo_labels *self,
                                    const struct clv_learner *learner, const struct clv_training *training,
                                    struct clv_error *err) CLV_CHECK;

#endif
