/* Pseudo-labels of weak examples, made before a learner sees them, by a teacher: the learner itself, trained on the
 * masks.
 *
 * learn/weak is all that is done for images without masks. Read this first: clv_train calls pseudo_labels_make before
 * it calls the learner. pseudo_labelled.h builds the dataset that the teacher is trained on. partial.h labels one image
 * by what is given of it; learners with a parameter `kappa` (pmap) call that themselves.
 *
 * The teacher knows more than what it teaches will: with frames (struct clv_training) also where a node is within its
 * box and, where there are masks, what box to cut says of it. That figures fill the middle of their boxes, stand on
 * their lower sides and leave their corners free is learned from few masks, and errors that both would share become
 * rarer. What a teacher with masks finds in each box is moved halfway to the share of figure that it finds in all. */
#ifndef LEARN_PSEUDO_LABELS_H
#define LEARN_PSEUDO_LABELS_H

#include <stdbool.h>

#include "cleave/learn.h"

/* What is known of each weak example's labels before training begins. */
struct clv_pseudo_labels {
    double **q; /* [n][n_nodes][n_labels] probabilities */
    size_t n;
};
void pseudo_labels_release(struct clv_pseudo_labels *self);

/* Whether a training needs pseudo-labels: the learner cannot make its own, or there is more to make them from. */
bool pseudo_labels_needed(const struct clv_learner *learner, const struct clv_training *training);

/* Makes them for training->weak: marginals, from conditional draws, for learners with a parameter `draws`, else MAP
 * labels; both agree with what is given. Without masks pseudo-labels start from the frames' theta, or from figure
 * throughout the boxes without frames, and marginals are then taught by themselves again and again: they come to agree
 * on what many boxes hold and no surroundings do. CLV_ERR_INTERRUPTED when asked to stop. */
enum clv_status pseudo_labels_make(struct clv_pseudo_labels *self, const struct clv_learner *learner,
                                   const struct clv_training *training, struct clv_error *err) CLV_CHECK;

/* Trains on the masks and, as if they were masks, the pseudo-labels: for learners without `kappa`, and without any
 * mask. */
enum clv_status pseudo_labels_train(struct clv_training_result *result, const struct clv_pseudo_labels *self,
                                    const struct clv_learner *learner, const struct clv_training *training,
                                    struct clv_error *err) CLV_CHECK;

#endif
