/* The dataset that a teacher of weak examples (pseudo_labels.h) learns from: examples with masks, weak ones with their
 * pseudo-labels, and features that only training knows. */
#ifndef LEARN_PSEUDO_LABELLED_H
#define LEARN_PSEUDO_LABELLED_H

#include <stdbool.h>

#include "cleave/learn.h"
#include "feature/dataset/dataset.h"
#include "learn/weak/partial.h"

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

/* Trains on all of the dataset. */
enum clv_status pseudo_labelled_train(struct clv_training_result *result, const struct clv_dataset *dataset,
                                      const struct clv_learner *learner, const struct clv_training *training,
                                      struct clv_error *err) CLV_CHECK;

#endif
