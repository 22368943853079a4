/* What a teacher of weak examples (guesses.h) learns from: masks, and guesses as if they were masks, with features that only it
 * sees. */
#ifndef LEARN_LESSON_H
#define LEARN_LESSON_H

#include <stdbool.h>

#include "cleave/learn.h"
#include "feature/dataset/dataset.h"
#include "learn/weak/partial.h"

/* An example of the training's dataset. `framed`: its frame's features, if there are frames, come behind its own, and with masks to
 * learn its worth from, what box to cut thinks of each node (the frame's theta) behind those. Arrays that are not widened stay
 * the dataset's. Release the item also after a failure. */
enum clv_status lesson_open(struct dataset_item *item, const struct clv_training *training, size_t number, bool framed,
                            struct clv_error *err) CLV_CHECK;

/* How guesses become labels and weights. */
struct partial_options lesson_options(const struct clv_learner *learner, const struct clv_training *training);

/* The examples with masks, then the weak ones by q[n_weak][n_nodes][n_labels] (NULL: without them). Borrows from the training's
 * dataset. */
enum clv_status lesson_collect(struct clv_dataset **lesson, double *const *q, bool framed,
                               const struct clv_learner *learner, const struct clv_training *training,
                               struct clv_error *err) CLV_CHECK;

/* Trains on all of a lesson. */
enum clv_status lesson_learn(struct clv_training_result *result, const struct clv_dataset *lesson,
                             const struct clv_learner *learner, const struct clv_training *training,
                             struct clv_error *err) CLV_CHECK;

#endif
