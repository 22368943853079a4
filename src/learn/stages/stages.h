/* Learning the first of two stages and what follows from its held-out predictions: which labels an image has, and how
 * much rare labels weigh. Read stages_learn (stages.c) first. */
#ifndef LEARN_STAGES_STAGES_H
#define LEARN_STAGES_STAGES_H

#include <stdbool.h>

#include "cleave/learn.h"
#include "cleave/model.h"
#include "cleave/problem.h"

/* Learning which labels an image has, from what a first stage said of images that it was not learned from: logistic
 * regression on the evidence of model/context.c, label by label. */

/* is_there[n_labels]: whether the label holds at least 1/500 of what the problem's theta weighs. */
void presence_of(uint8_t *is_there, const struct clv_problem *problem, int32_t n_labels);

struct presence_examples {
    const double *evidence;  /* [n][2][n_labels] */
    const uint8_t *is_there; /* [n][n_labels] */
    size_t n;
    int32_t n_labels;
};

/* w[n_labels][evidence_size]: the minimum of the mean of log(1 + exp(-+<w, row>)) + |w|^2 / 2000 (all but the bias),
 * nearly. Labels that no image or each has get a bias alone, as if half an image were otherwise.
 * O(steps n n_labels^2). */
enum clv_status presence_learn(double *w, const struct presence_examples *from, int n_threads,
                               struct clv_error *err) CLV_CHECK;

/* How much more rare labels' errors are to cost, from what a first stage said of images that it was not learned from.
 *
 * Weights of share^-x in the loss move decisions as weights of marginals do: to the label of the most share^-x p. So x
 * is the one whose decisions by held-out marginals have the highest sum of two accuracies, that of all that the loss
 * counts and the mean of the labels'. No training is needed. */

enum { RARE_EXPONENTS = 11 }; /* 0, 0.1 .. 1 */

/* right[RARE_EXPONENTS][n_labels]: what the loss counts of each label that decisions from marginals[n_nodes][n_labels]
 * by each exponent have right, of labels that have these shares of the whole. O(n_nodes n_labels RARE_EXPONENTS). */
void rare_labels_tally(double *right, const struct clv_problem *problem, const double *marginals, const double *share,
                       int32_t n_labels);

/* The lowest of the best exponents; right[n][RARE_EXPONENTS][n_labels] of n problems. */
double rare_labels_choose(const double *right, const double *share, size_t n, int32_t n_labels);

/* The first of two stages (auto-context, Tu & Bai 2010), and the training set as the second one sees it. */

enum { STAGE_FOLDS = 5 };

struct stages_wanted {
    bool presence;      /* what presence_learn makes of the examples as their held-out stages see them */
    bool label_weights; /* what rare_labels_choose makes of them */
};

struct stages_learned {
    struct clv_stage *first; /* stage_free */
    double *presence;        /* array_free it; NULL: not wanted */
    double label_weights;    /* 0: not wanted */
};

/* Learns a first stage of the training's examples and weak examples: `first` is learned from all of them, and its
 * temperature makes the marginals of those that a fold held out most likely. The dataset must be the training's, and
 * nobody else looks at it: every image has features of context added, of the marginals that a stage gives it that was
 * learned without its fold (STAGE_FOLDS of them, drawn from the seed over all images). Images of one sequence are held
 * out together, and mirror images with their images. Same bytes at any thread count; each training has one thread.
 * Where the second stage has full pairwise tables, the first one has none: belief propagation, six times over, would
 * take most of a training's time. After a failure the dataset is good for nothing but being freed. CLV_ERR_USAGE for
 * too few images or sequences; CLV_ERR_INTERRUPTED when asked to stop. */
enum clv_status stages_learn(struct stages_learned *learned, struct clv_dataset *dataset,
                             const struct clv_learner *learner, const struct clv_training *training,
                             const struct stages_wanted *wanted, struct clv_error *err) CLV_CHECK;

/* The mean size of unary scores of a training's examples and weak examples under w, a unit for what is added to them;
 * 1 if all are 0. */
enum clv_status stages_score_size(double *size, const struct clv_training *training, const double *w,
                                  struct clv_error *err) CLV_CHECK;

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
