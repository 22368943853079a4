/* Learning the first of two stages and what follows from its held-out predictions: which labels an image has, and how
 * much rare labels weigh. Read stages_learn (stages.c) first. */
#ifndef LEARN_STAGES_STAGES_H
#define LEARN_STAGES_STAGES_H

#include <stdbool.h>

#include "cleave/learn.h"
#include "cleave/model.h"
#include "cleave/problem.h"

/* Learns which labels an image has, from a first stage's predictions for images that it was not learned from: logistic
 * regression on the evidence of model/context.c, label by label. */

/* Sets is_there[n_labels]: whether the label has at least 1/500 of the sum of the problem's theta. */
void presence_of(uint8_t *is_there, const struct clv_problem *problem, int32_t n_labels);

struct presence_examples {
    const double *evidence;  /* [n][2][n_labels] */
    const uint8_t *is_there; /* [n][n_labels] */
    size_t n;
    int32_t n_labels;
};

/* w[n_labels][evidence_size]: the minimum of the mean of log(1 + exp(-+<w, row>)) + |w|^2 / 2000 (all but the bias),
 * nearly. A label that no image has, or every one, gets only a bias, as if half an image were different.
 * O(steps n n_labels^2). */
enum clv_status presence_learn(double *w, const struct presence_examples *from, int n_threads,
                               struct clv_error *err) CLV_CHECK;

/* Chooses how much more the errors of rare labels cost, from a first stage's predictions for images that it was not
 * learned from.
 *
 * Weights of share^-x in the loss move decisions as weights of the marginals do: to the label with the largest share^-x
 * p. So x is chosen by decisions from held-out marginals: it maximises the sum of two accuracies, that over all nodes
 * and the mean over labels. No training is needed. */

enum { RARE_EXPONENTS = 11 }; /* 0, 0.1 .. 1 */

/* Sets right[RARE_EXPONENTS][n_labels]: the loss weight of each label's nodes that are decided correctly from
 * marginals[n_nodes][n_labels] by each exponent; share[n_labels] are the labels' shares of the whole.
 * O(n_nodes n_labels RARE_EXPONENTS). */
void rare_labels_tally(double *right, const struct clv_problem *problem, const double *marginals, const double *share,
                       int32_t n_labels);

/* Returns the lowest of the best exponents, from right[n][RARE_EXPONENTS][n_labels] of n problems. */
double rare_labels_choose(const double *right, const double *share, size_t n, int32_t n_labels);

/* The first of two stages (auto-context, Tu & Bai 2010), and the training set as the second one sees it. */

enum { STAGE_FOLDS = 5 };

struct stages_wanted {
    bool presence;      /* whether presence_learn learns from the predictions of held-out stages */
    bool label_weights; /* whether rare_labels_choose does */
};

struct stages_learned {
    struct clv_stage *first; /* stage_free */
    double *presence;        /* array_free it; NULL: not wanted */
    double label_weights;    /* 0: not wanted */
};

/* Learns a first stage of the training's examples and weak examples: `first` is learned from all of them, and its
 * temperature makes the marginals of those that a fold held out most likely. The dataset must be the training's,
 * and no other code may use it meanwhile: every image gets features of context, from the marginals of a stage that was
 * learned without its fold (STAGE_FOLDS of them, drawn from the seed over all images). Images of one sequence are held
 * out together, and mirror images with their images. Same bytes at any thread count; each training has one thread.
 * Where the second stage has full pairwise tables, the first one has none: belief propagation, six times over, would
 * take most of a training's time. After a failure the dataset can only be freed. CLV_ERR_USAGE for
 * too few images or sequences; CLV_ERR_INTERRUPTED when asked to stop. */
enum clv_status stages_learn(struct stages_learned *learned, struct clv_dataset *dataset,
                             const struct clv_learner *learner, const struct clv_training *training,
                             const struct stages_wanted *wanted, struct clv_error *err) CLV_CHECK;

/* CLV_ERR_USAGE if labels cannot be given costs, naming the option: of two labels, or without a mask. */
enum clv_status stages_check_costs(const struct clv_training *training, const char *option,
                                   struct clv_error *err) CLV_CHECK;

/* Attaches label costs to a model that has its first stage, in units of the second stage's scores, which only its
 * weights determine; presence NULL: nothing. */
enum clv_status stages_price(struct clv_model *model, const double *presence, double label_costs,
                             const struct clv_training *training, const double *w, struct clv_error *err) CLV_CHECK;

/* Adds the features of context of a learned stage to a dataset that it has not seen; as above. */
enum clv_status stages_extend(struct clv_dataset *dataset, const struct clv_stage *first,
                              const struct clv_weight_layout *next, int n_threads, struct clv_error *err) CLV_CHECK;

#endif
