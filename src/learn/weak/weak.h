/* Pseudo-labels of weak examples, made before a learner sees them, by a teacher: the learner itself, trained on the
 * masks.
 *
 * learn/weak is all that is done for images without masks. Read this first: clv_train calls pseudo_labels_make before
 * it calls the learner. pseudo_labelled.c builds the dataset that the teacher is trained on. partial.c labels one image
 * by what is given of it; learners with CLV_ROLE_KAPPA (pmap) call that themselves.
 *
 * The teacher knows more than what it teaches will: with frames (struct clv_training) also where a node is within its
 * box and, where there are masks, what box segmentation predicts of it. That objects fill the middle of their boxes,
 * stand on their lower sides and leave their corners free is learned from few masks, and errors that both would share
 * become rarer. What a teacher with masks finds in each box is moved halfway to the share of foreground that it finds
 * in all. */
#ifndef LEARN_WEAK_WEAK_H
#define LEARN_WEAK_WEAK_H

#include <stdbool.h>

#include "cleave/learn.h"
#include "feature/dataset/dataset.h"
#include "learn/common/common.h"

/* Images of which few labels are given, or none: unlabelled ones, boxes (what is outside is given), masks with void.
 *
 * A model w1 learned elsewhere says what they could be: marginals q(y_i | what is given) from conditional
 * perturb-and-MAP draws, which then weigh the log P of each label (Shpakova et al. 2018, section 4, Algorithms 3 and
 * 4); or, as for the paper's baselines, the MAP labelling that agrees with what is given. */

/* An example of which some labels are given, and the model that sees it. */
struct partial_example {
    const struct clv_problem *problem;
    const int32_t *given; /* [n_nodes] labels or CLV_UNKNOWN, or NULL: none */
    const struct clv_weight_layout *layout;
    const double *w;
};

/* Loads the field of all nodes with the given ones forced to their labels, by more than couplings and noise can
 * outweigh. */
enum clv_status partial_load(struct decoder *decoder, const struct partial_example *example,
                             struct clv_error *err) CLV_CHECK;

/* Fixes the labels `given` in a field that is loaded and perturbed; does nothing without them. */
void partial_force(struct clv_field *field, const int32_t *given);

struct partial_options {
    bool weighted;      /* for weighted likelihood */
    uint32_t n_samples; /* >= 1 */
    double sharpness;   /* > 0; q is raised to it and normalised: 1 as published, large the likeliest label only */
    bool is_published;  /* areas are sums of marginals (partial.c) */
};

/* Pseudo-labels of one example. */
struct partial_labels {
    float *weight;  /* [n_nodes][n_labels] */
    int32_t *label; /* [n_nodes] */
};

/* Makes labels and weights of q as Algorithm 4 does: weights q_i(b), sharpened; weighted: the loss weights of its
 * pixels as they are to be expected, if q comes from a model learned with such weights (partial.c). Labels are the most
 * probable, the lowest at ties. Uses only the problem's areas. */
enum clv_status partial_weigh(struct partial_labels labels, const double *q, const struct clv_problem *problem,
                              const struct clv_weight_layout *layout, const struct partial_options *options,
                              struct clv_error *err) CLV_CHECK;

/* Makes labels and weights of q by conditional samples of w's model. O(n_samples cuts). */
enum clv_status partial_marginals(struct partial_labels labels, struct decoder *decoder,
                                  const struct partial_example *example, const struct partial_options *options,
                                  uint64_t seed, struct clv_error *err) CLV_CHECK;

/* label[n_nodes] = the best labelling under w that agrees with what is given. */
enum clv_status partial_map(int32_t *label, struct decoder *decoder, const struct partial_example *example,
                            struct clv_error *err) CLV_CHECK;

/* The dataset that a teacher of weak examples (pseudo_labels.c) learns from: examples with masks, weak ones with their
 * pseudo-labels, and features that only training knows. */

/* An example of the training's dataset. `framed`: its frame's features, if there are frames, come behind its own, and
 * with masks to learn its worth from, what box to cut gives each node (the frame's theta) behind those. Arrays that are
 * not widened stay the dataset's. Release the item also after a failure. */
enum clv_status pseudo_labelled_example(struct dataset_item *item, const struct clv_training *training, size_t number,
                                        bool framed, struct clv_error *err) CLV_CHECK;

/* How pseudo-labels become labels and weights. */
struct partial_options pseudo_labelled_options(const struct clv_learner *learner, const struct clv_training *training);

/* The examples with masks, then the weak ones by q[n_weak][n_nodes][n_labels] (NULL: without them). Borrows from the
 * training's dataset. */
enum clv_status pseudo_labelled_dataset(struct clv_dataset **dataset, double *const *q, bool framed,
                                        const struct clv_learner *learner, const struct clv_training *training,
                                        struct clv_error *err) CLV_CHECK;

enum clv_status pseudo_labelled_train(struct clv_training_result *result, const struct clv_dataset *dataset,
                                      const struct clv_learner *learner, const struct clv_training *training,
                                      struct clv_error *err) CLV_CHECK;

/* Probabilities of each weak example's labels before training begins. */
struct clv_pseudo_labels {
    double **q; /* [n][n_nodes][n_labels] probabilities */
    size_t n;
};
void pseudo_labels_release(struct clv_pseudo_labels *self);

/* Whether a training needs pseudo-labels: the learner cannot make its own, or there is more to make them from, which
 * the source's algorithm (CLV_ROLE_PAPER) does not look at. */
bool pseudo_labels_needed(const struct clv_learner *learner, const struct clv_training *training);

/* Makes them for training->weak: marginals, from conditional draws, for learners with CLV_ROLE_DRAWS, else MAP
 * labels; both agree with what is given. Without masks pseudo-labels start from the frames' theta, or from foreground
 * throughout the boxes without frames, and marginals are then taught by themselves again and again: they come to agree
 * on what many boxes hold and no surroundings do. CLV_ERR_INTERRUPTED when asked to stop. */
enum clv_status pseudo_labels_make(struct clv_pseudo_labels *self, const struct clv_learner *learner,
                                   const struct clv_training *training, struct clv_error *err) CLV_CHECK;

/* Trains on the masks and, as if they were masks, the pseudo-labels: for learners without CLV_ROLE_KAPPA, and without any
 * mask. */
enum clv_status pseudo_labels_train(struct clv_training_result *result, const struct clv_pseudo_labels *self,
                                    const struct clv_learner *learner, const struct clv_training *training,
                                    struct clv_error *err) CLV_CHECK;

#endif
