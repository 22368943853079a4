/* Training of the first of two stages, and of two models on its held-out predictions: which labels an image has, and
 * how much rare labels weigh. Read stages_learn (stages.c) first. */
#ifndef LEARN_STAGES_STAGES_H
#define LEARN_STAGES_STAGES_H

#include <stdbool.h>

#include "cleave/learn.h"
#include "cleave/model.h"
#include "cleave/problem.h"

/* Learns which labels an image has, from a first stage's predictions for held-out images: logistic regression on the
 * evidence of model/context.c, label by label. */

/* Sets is_present[n_labels]: whether the label has more than 1/500 of the sum of the problem's theta. */
void presence_of(uint8_t *is_present, const struct clv_problem *problem, int32_t n_labels);

struct presence_examples {
    const double *evidence;    /* [n][2][n_labels] */
    const uint8_t *is_present; /* [n][n_labels] */
    size_t n;
    int32_t n_labels;
};

/* Sets w[n_labels][evidence_size] to approximately the minimiser of the mean of log(1 + exp(-+<w, row>)) + |w|^2 / 2000
 * (without the bias). A label that no image has, or that all have, gets only a bias: its log odds, with half an image
 * added to either count. O(steps n n_labels^2). */
enum clv_status presence_learn(double *w, const struct presence_examples *from, int n_threads,
                               struct clv_error *err) CLV_CHECK;

/* Chooses how much more the errors of rare labels cost, from a first stage's predictions for held-out images.
 *
 * Weights of share^-x in the loss change decisions as weights of the marginals do: the label with the largest share^-x
 * p is chosen. So x is chosen by decisions from held-out marginals: it maximises the sum of two accuracies, that over
 * all nodes and the mean over labels. No training is needed. */

enum { RARE_EXPONENTS = 11 }; /* 0, 0.1 .. 1 */

/* Sets right[RARE_EXPONENTS][n_labels]: for each exponent, the loss weight of each label's nodes that are labelled
 * correctly from marginals[n_nodes][n_labels]. share[n_labels] are the labels' fractions of all loss weights. O(n_nodes
 * n_labels RARE_EXPONENTS). */
void rare_labels_tally(double *right, const struct clv_problem *problem, const double *marginals, const double *share,
                       int32_t n_labels);

/* Returns the lowest of the best exponents, from right[n][RARE_EXPONENTS][n_labels] of n problems. */
double rare_labels_choose(const double *right, const double *share, size_t n, int32_t n_labels);

/* The first of two stages (auto-context, Tu & Bai 2010), and the features of the second one. */

enum { STAGE_FOLDS = 5 };

struct stages_wanted {
    bool presence;      /* whether presence_learn runs on the held-out predictions */
    bool label_weights; /* whether rare_labels_choose does */
};

struct stages_learned {
    struct clv_stage *first; /* stage_free */
    double *presence;        /* array_free; NULL: not learned */
    double label_weights;    /* 0: not learned */
};

/* Trains a first stage: `first` is trained on all examples and weak examples of the training, and its temperature
 * maximises the likelihood of held-out labels. `dataset` is that of the training, and no other code may use it during
 * the call: every image gets context features from the marginals of a stage that was trained without its fold
 * (STAGE_FOLDS random folds of all images, by the seed). Images of one sequence are held out together, and mirror
 * images with their images. Same bytes at any thread count; each training has one thread. If the second stage has full
 * pairwise tables, the first one has none: belief propagation for six models would take most of a training's time.
 * After a failure the dataset can only be freed. CLV_ERR_USAGE for too few images or sequences, or if one fold has all
 * that have masks (or boxes, with two labels); CLV_ERR_INTERRUPTED when asked to stop. */
enum clv_status stages_learn(struct stages_learned *learned, struct clv_dataset *dataset,
                             const struct clv_learner *learner, const struct clv_training *training,
                             const struct stages_wanted *wanted, struct clv_error *err) CLV_CHECK;

/* CLV_ERR_USAGE, naming the option, if labels cannot have costs: with two labels, or without a mask. */
enum clv_status stages_check_costs(const struct clv_training *training, const char *option,
                                   struct clv_error *err) CLV_CHECK;

/* Attaches label costs to a model that has its first stage. Their unit is the size of the second stage's scores by w.
 * Does nothing if presence is NULL. */
enum clv_status stages_price(struct clv_model *model, const double *presence, double label_costs,
                             const struct clv_training *training, const double *w, struct clv_error *err) CLV_CHECK;

/* Adds the context features of a trained stage to a dataset that it was not trained on. After a failure the dataset can
 * only be freed. */
enum clv_status stages_extend(struct clv_dataset *dataset, const struct clv_stage *first,
                              const struct clv_weight_layout *next, int n_threads, struct clv_error *err) CLV_CHECK;

#endif
