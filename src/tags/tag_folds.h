/* Held-out scores and decisions: folds of cross-validation, the order of tags by F, thresholds. */
#ifndef TAGS_TAG_FOLDS_H
#define TAGS_TAG_FOLDS_H

#include <stdbool.h>

#include "tags/tags.h"

/* In repeat r, fold f holds out the examples order[r][f], order[r][f + n_folds] and so on. Held-out results are indexed
 * by repeat and example; `truth` has the tags in that form. */
struct tag_folds {
    size_t n, n_tags;
    int32_t n_folds, n_repeats;
    int32_t *order; /* [n_repeats][n] */
    uint8_t *truth; /* [n_repeats][n][n_tags] */
};
enum clv_status tag_folds_init(struct tag_folds *folds, const struct clv_tag_training *training,
                               struct clv_error *err) CLV_CHECK;
void tag_folds_release(struct tag_folds *folds);
size_t tag_folds_size(const struct tag_folds *folds); /* n_repeats x n */

/* Fits n_tasks x n_repeats x n_folds models, each to the examples outside a fold, and predicts the examples in the
 * fold: tags[n_tasks][n_repeats][n][n_tags], or scores of the same shape (either may be NULL). Task t has parameters[t]
 * and tag_of[t] (tag_of may be NULL). Parallel over folds. The fits of a fold run in sequence, the largest lambda
 * first, each starting from the dual variables of the previous one. CLV_ERR_INTERRUPTED on a request to stop;
 * `finished` tells which results are complete. */
struct tag_held_out {
    const struct tag_problem *problem;
    const struct tag_folds *folds;
    enum clv_tag_form form;
    bool is_structural;
    size_t n_tasks;
    const double (*parameters)[CLV_TAG_PARAMETERS];
    const int32_t *const *tag_of;
    uint64_t seed;
    int n_threads;
    const struct clv_progress *progress;
    uint8_t *tags;
    double *scores;
    uint8_t *finished; /* [n_tasks][n_repeats][n_folds] set to 1 when complete; or NULL */
};
enum clv_status tag_hold_out(const struct tag_held_out *held, struct clv_error *err) CLV_CHECK;

/* Returns the common settings of a training: one task with independent tags, without outputs. */
struct tag_held_out tag_held_out_of(const struct clv_tag_training *training, const struct tag_problem *problem,
                                    const struct tag_folds *folds, const double *parameters);

/* Orders the tags by the held-out F of independent classifiers, for each task: tag_of[n_tasks][n_tags]. */
enum clv_status tag_orders_by_f(int32_t *tag_of, const struct tag_held_out *held, struct clv_error *err) CLV_CHECK;

/* Orders tags by their F over the examples, the best first; ties by index: tag_of[n_tags]. */
void tag_order_by_f(int32_t *tag_of, const uint8_t *truth, const uint8_t *tags, size_t n, int32_t n_tags);

struct tag_scored {
    const double *scores; /* [n][n_tags] */
    const uint8_t *truth; /* [n][n_tags] */
    size_t n;
    int32_t n_tags;
};

/* Tunes threshold[n_tags] for decisions "score > threshold", to maximise the goal over the examples. Optimises one
 * tag's threshold at a time with the others fixed, until none improves the goal (Fan & Lin 2007, cyclic optimisation).
 * Starts from 0. */
enum clv_status tag_tune_thresholds(double *threshold, const struct tag_scored *scored, enum clv_tag_goal goal,
                                    struct clv_error *err) CLV_CHECK;

/* The measure of a goal, as a value to be maximised. */
double tag_goal_value(const struct clv_tag_score *score, enum clv_tag_goal goal);

#endif
