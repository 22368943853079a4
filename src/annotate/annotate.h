/* Learning to annotate: from examples with tags to a model of tags. Binary classifiers, large margin sigmoid belief
 * networks and Boltzmann machines (Miao & Rao), and structured SVMs over tags as baselines.
 *
 *     struct clv_tag_training training;
 *     clv_tag_training_defaults(&training, clv_tag_learner_find("lmsbn"));
 *     training.set = &set;
 *     training.is_rbf = true;
 *     training.seed = 1;
 *     clv_tag_cross_validate(training.parameters, NULL, &training, &grid, &error);   (optional)
 *     clv_tag_train(&model, NULL, &training, &error);
 *
 * To read the source: src/annotate/annotate.c implements this header. A training: tag_problem.c scales features and
 * computes the kernel, tag_fit.c sets up one fit, dual_coordinate.c solves it (tag_structural.c for structured SVMs),
 * and tag_validate.c, tag_folds.c and tag_threshold.c choose by examples held out. A decision: tag_decide.c, for
 * belief networks branch_bound.c. Inputs: svmlight.c (files of features) and image_tags.c (tagged images). */
#ifndef ANNOTATE_ANNOTATE_H
#define ANNOTATE_ANNOTATE_H

#include <stdbool.h>

#include "annotate/measures.h"
#include "annotate/tag_model.h"
#include "annotate/tags.h"
#include "cleave/learn.h"

/* All learners have these and ignore those that they do not use (clv_tag_idle). The objectives, with y_il = 1 or -1 and
 * z as in tag_model.h:
 *     R + 1/(lambda n) sum_il [1 - z_il]_+                                bc, tsbc, lmsbn, lmbm
 *     R + 1/(lambda n) sum_l max_y (|y - y_l|_H + f(y) - f(y_l))          ssvm-chain, ssvm-full
 *     R = 1/2 |w|^2 + (1 + eta0)/2 |couplings|^2
 * where the bias b is the weight of a constant feature 1 and |.|_H counts tags. ssvm-full of more than
 * CLV_MAX_ENUMERATED tags takes the maximum over the linear relaxation of the labellings, with halves (Finley & Joachims
 * 2008): that objective is above this one. With the linear kernel inputs are first
 * divided by the root of their mean |x|^2 (and w is then multiplied back), so that lambda suits any scaling of the
 * features and couplings weigh as much against the input as they do against an RBF kernel, whose k(x, x) is 1. */
enum clv_tag_parameter {
    CLV_TAG_LAMBDA,
    CLV_TAG_GAMMA, /* of the RBF kernel; 0: 1 over the mean squared distance of training examples */
    CLV_TAG_ORDER,
    CLV_TAG_ETA0,
    CLV_TAG_TOLERANCE, /* duality gap of the objective times lambda */
    CLV_TAG_PASSES,
    CLV_TAG_PARAMETERS,
};
/* Names, defaults, ranges and help, by enum clv_tag_parameter; ends with a NULL name. */
extern const struct clv_parameter clv_tag_parameters[];

struct clv_tag_learner {
    const char *name; /* bc tsbc lmsbn lmbm ssvm-chain ssvm-full */
    const char *summary;
    enum clv_tag_form form;
    bool is_tuned;      /* thresholds chosen on held-out scores */
    bool is_structural; /* the structured hinge loss instead of one hinge a tag */
};
const struct clv_tag_learner *clv_tag_learner_at(size_t index); /* NULL past the end */
const struct clv_tag_learner *clv_tag_learner_find(const char *name);

enum clv_tag_goal { CLV_TAG_EXACT, CLV_TAG_HAMMING, CLV_TAG_F_SAMPLE, CLV_TAG_F_MACRO, CLV_TAG_F_MICRO };

struct clv_tag_training {
    const struct clv_tag_set *set;
    const struct clv_tag_learner *learner;
    bool is_rbf;    /* kernel: RBF, else linear */
    bool is_scaled; /* divide each feature by its largest magnitude */
    bool
        is_in_f_order; /* lmsbn: the tag whose binary classifier has the best held-out F decides first; else by index */
    enum clv_tag_goal goal; /* what cross-validation chooses by and tsbc's thresholds are tuned for */
    double parameters[CLV_TAG_PARAMETERS];
    int32_t n_folds;   /* for held-out scores; 0: 5 */
    int32_t n_repeats; /* of these, each with folds of its own; 0: 1 */
    uint64_t seed;
    int n_threads;
    const struct clv_progress *progress;
};
/* Fills everything: the learner, the parameters' defaults, zeros elsewhere. eta0 is CLV_TAG_LMBM_ETA0 if the learner is
 * lmbm: its couplings are in two hinges each, and with weak regularisation decisions confirm each other whatever the
 * input (Miao & Rao, Remark 5). */
#define CLV_TAG_LMBM_ETA0 1000 /* by cross-validation on the scene set */
void clv_tag_training_defaults(struct clv_tag_training *training, const struct clv_tag_learner *learner);

/* Why a parameter cannot change what that training gives: a clause ("--kernel is linear"), static; NULL: it can. */
const char *clv_tag_idle(const struct clv_tag_training *training, enum clv_tag_parameter parameter);

struct clv_tag_training_result {
    double primal, dual; /* of the objective times lambda, over all tags */
    int32_t n_passes;    /* of the tag that took most */
    bool is_converged;   /* the gap is below the tolerance for every tag */
    bool interrupted;    /* asked to stop: the model so far; of tsbc, the thresholds may not be tuned */
};

/* Trains. Same seed, same bytes at any number of threads. *model is a fresh object; result may be NULL. CLV_ERR_USAGE
 * for parameters out of range; for ssvm-chain and ssvm-full with a kernel; for ssvm-full with more than
 * CLV_MAX_RELAXED tags; for an order above 2 but for lmsbn. With a kernel, memory is two n x n matrices of doubles
 * for n examples, for ssvm-full n n_tags^2 / 2 doubles. */
enum clv_status clv_tag_train(struct clv_tag_model *model, struct clv_tag_training_result *result,
                              const struct clv_tag_training *training, struct clv_error *err) CLV_CHECK;

/* Candidates of cross-validation: every pair of lambda and gamma (with the linear kernel lambda alone). */
struct clv_tag_grid {
    const double *lambda, *gamma;
    size_t n_lambda, n_gamma;
};

/* Chooses parameters by n_folds-fold cross-validation on the training examples: the pair with the best goal over
 * held-out examples (Hamming: the least), the first at ties. parameters receives training's with lambda and gamma
 * replaced; scores[n_lambda][n_gamma] (or NULL) the measures of all. Parallel over candidates' folds.
 * CLV_ERR_INTERRUPTED when asked to stop: parameters stay, scores are those of the pairs that were tried with all
 * folds, and NaN for others. */
enum clv_status clv_tag_cross_validate(double parameters[CLV_TAG_PARAMETERS], struct clv_tag_score *scores,
                                       const struct clv_tag_training *training, const struct clv_tag_grid *grid,
                                       struct clv_error *err) CLV_CHECK;

/* Mean squared distance between training examples after scaling, over all pairs. */
enum clv_status clv_tag_mean_distance(double *mean, const struct clv_tag_training *training,
                                      struct clv_error *err) CLV_CHECK;

#endif
