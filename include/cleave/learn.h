/* Learners, which learn weights from a dataset.
 *
 * This program learns from the features that `cleave features` wrote (masks included) and prints the error on the same
 * examples:
 *
 *     #include <cleave.h>
 *     #include <stdbool.h>
 *     #include <stdio.h>
 *
 *     int main(void)
 *     {
 *         enum { N = 8 };
 *         const int32_t examples[N] = {0, 1, 2, 3, 4, 5, 6, 7};
 *         struct clv_dataset *dataset = NULL;
 *         struct clv_training_result result = {0};
 *         struct clv_error error;
 *         double loss = 0;
 *         enum clv_status status = clv_features_open(&dataset, NULL, "animals.features", &error);
 *         if (status == CLV_OK) {
 *             const struct clv_learner *learner = clv_learner_find("ssvm");
 *             struct clv_training training;
 *             clv_training_defaults(&training, learner);
 *             training.dataset = dataset;
 *             training.examples = examples;
 *             training.n_examples = N;
 *             training.seed = 1;
 *             status = clv_learner_layout(&training.layout, learner, dataset, &error);
 *             if (status == CLV_OK)
 *                 status = clv_train(&result, learner, &training, &error);
 *             if (status == CLV_OK)
 *                 status = clv_evaluate_all(&loss, dataset, &training.layout, result.w, &result.decoding,
 *                                           CLV_ENGINE_CLEAVE, 0, &error);
 *         }
 *         if (status == CLV_OK)
 *             printf("mean loss %.3f\n", loss);
 *         else
 *             fprintf(stderr, "%s\n", error.message);
 *         clv_training_result_release(&result);
 *         clv_dataset_free(dataset);
 *         return status == CLV_OK ? 0 : 1;
 *     }
 *
 * To read the source: src/learn/train.c is clv_train, which checks its arguments, labels weak examples (src/learn/weak)
 * and calls the learner. src/learn/learners.c is the table of learners. margin/ssvm.c is the shortest complete one; its
 * loop is margin/bcfw.c. All start from common/examples.c: the problems, decoders for each thread, the loss. A new
 * learner is a file with its parameters and its `train`, and a line in the table. */
#ifndef CLEAVE_LEARN_H
#define CLEAVE_LEARN_H

#include "cleave/features.h"
#include "cleave/infer.h"
#include "cleave/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The purpose of a parameter, if code outside its learner uses it. A learner has at most one parameter of each role. */
enum clv_role {
    CLV_ROLE_NONE,
    CLV_ROLE_REGULARISATION, /* against the sum of the examples' losses; cross-validation chooses it */
    CLV_ROLE_LAMBDA_OF_MEAN, /* the same against their mean: with fewer examples an equal prior needs a larger lambda */
    CLV_ROLE_PASSES,         /* over the examples, at most */
    CLV_ROLE_GAP,            /* the duality gap at which a training ends */
    CLV_ROLE_RATE,           /* the step size; a training may diverge if it is too large */
    CLV_ROLE_BATCH,          /* examples in a step */
    CLV_ROLE_CURVE,          /* passes between points of the learning curve */
    CLV_ROLE_START,          /* deviation of random weights to start from */
    CLV_ROLE_KAPPA,          /* weight of examples without masks, which the learner labels itself */
    CLV_ROLE_DRAWS,          /* samples for marginals of examples without masks: the learner learns from marginals */
    CLV_ROLE_SHARPNESS,      /* the power to which those marginals are raised */
    CLV_ROLE_PAPER,          /* a switch: the algorithm as published */
};

/* A condition without which a parameter has no effect. */
enum clv_need_of {
    CLV_NEEDS_NOTHING,
    CLV_NEEDS_VALUE,        /* one of some values of another parameter */
    CLV_NEEDS_TABLES,       /* full pairwise tables */
    CLV_NEEDS_HIDDEN,       /* nodes of unknown label */
    CLV_NEEDS_WEAK,         /* weak examples */
    CLV_NEEDS_MASKS,        /* masks, if there are weak examples */
    CLV_NEEDS_MIXTURE,      /* masks and weak examples */
    CLV_NEEDS_GIVEN,        /* weak examples with some fixed labels */
    CLV_NEEDS_PRIVILEGED,   /* privileged features */
    CLV_NEEDS_RANDOM_START, /* weights that start at random: all of them for some values of another parameter, else those
                               of features that only hidden nodes have */
};

struct clv_need {
    enum clv_need_of of;
    int parameter;   /* index of the other parameter, if any */
    unsigned values; /* its values as bits: 1 << index in the choices; for a number 1: 0, 2: any other value */
};
#define CLV_MAX_NEEDS 3

struct clv_published {
    bool is_set;
    double value;
};

/* A parameter of a learner: its name on the command line (--name), default, range and help come from one table. Counts,
 * such as passes, are rounded down. Switches are off at 0, else on.
 *
 * The objectives. f is the score, L_i the weighted Hamming loss of example i (clv_loss), theta its weights at a node, P
 * the method's estimate of a probability. H_i(w) = max_y L_i(y) + f(y) - f(y_i) is the structured hinge. "+": couplings
 * are constrained to be >= 0.
 *     ssvm, subgradient            lambda'/2 |w|^2 + mean_i H_i(w)                                               +
 *     independent                  lambda'/2 |w|^2 + mean_i sum_nodes sum_b theta_b max(0, 1 - <w_b, x>)
 *     pmap                         lambda'/2 |w|^2 - mean_i log P(y_i) / mean_i N_i                              +
 *     mpmap                        lambda'/2 |w|^2 - mean_i sum_nodes log P(label) / mean_i N_i                  +
 *     wmpmap                       lambda'/2 |w|^2 - mean_i sum_nodes sum_b theta_b log P(b)                     +
 *     mssvm, lssvm, hcrf, eps      lambda'/2 |w|^2 + mean_i U_i(w), U of src/learn/hidden/objective.c            +
 *     crf                          lambda |w|^2 - sum_i log P(y_i); or lambda |w|_1 in its place, or nothing
 *     m3n                          s^2/2 |w|^2 + C sum_i H_i(w)                                                  +
 *     lapmedn                      K(w) + C/l sum_i H_i(w), K the Laplace prior's (src/learn/margin/laplace.c)   +
 *     l1m3n                        sum_i H_i(w) where |w|_1 <= radius                                            +
 *     m3e, modlat                  s^2/2 |w|^2 + C sum_i V_i(w), V_i = H_i where all labels are known
 * P of pmap, mpmap and wmpmap is estimated by perturb-and-MAP (src/learn/pmap/pmap.c); their curves use fixed noise. P
 * of crf is exact, over labelled nodes, and lambda of crf is that of CRFsuite and Wapiti (c2; c1 with the penalty l1).
 * In U the loss is scaled so that the mean weight of a labelled node is 1.
 *
 * lambda' is lambda in relative units, so that one value suits any number of superpixels and any scaling of the
 * features: lambda is that of an ordinary SVM over nodes of unit length. With the N_i labelled nodes x of example i,
 *     ssvm, subgradient                   lambda' = lambda * mean_i N_i sum_x |x|^2
 *     independent, pmap, mpmap, wmpmap    lambda' = lambda * mean |x|^2
 *     mssvm, lssvm, hcrf, eps             lambda' = lambda * mean_i N_i * mean |x|^2, or 1 / (n c) for n examples if
 *                                         their parameter c is above 0
 * With `units` raw (s = l = 1), m3n, lapmedn, l1m3n, m3e and modlat use C, lambda and radius as in their papers.
 * Relative values refer to w s, where s^2 is the factor of the first line. lapmedn then also divides C by l, the mean
 * over examples of the largest loss, and l1m3n multiplies its radius by l and by the numbers of weights and examples.
 *
 * If a learner differs from the published algorithm, paper = 1 selects the published one; the help names the
 * differences. */
struct clv_parameter {
    const char *name;
    double value, minimum, maximum;
    const char *help;
    enum clv_role role;
    struct clv_need needs[CLV_MAX_NEEDS]; /* all must be met, or no value has an effect */
    struct clv_published published;       /* the value that replaces it if the learner's CLV_ROLE_PAPER is on */
    const char *const *choices;           /* names of its values 0, 1 and so on, ending with NULL; NULL: a number */
};

#define CLV_MAX_PARAMETERS 24

/* The file in which a training keeps its state, so that it can be resumed after it was stopped or killed: a safetensors
 * file, replaced all or nothing. It holds the weights, the sums of the step rule, the curve and the position in the
 * passes; pseudo-labels of weak examples are computed again from the weights that produced them. It is written every
 * `every_s` seconds, between two steps, and when the training is interrupted. A completed training does not remove it:
 * remove it once the weights are saved.
 *
 * With `resume` the training continues from the file, if it exists, and its result has the same bytes as that of an
 * uninterrupted training. CLV_ERR_USAGE, naming the difference, if learner, seed, parameters, examples or a fact differ
 * from those of the training that wrote the file. */
struct clv_checkpoints {
    const char *path;
    double every_s; /* 0: after every step */
    bool resume;
    const char *const (*facts)[2]; /* [n_facts] {name, value} from the caller: options, a digest of the files; UTF-8 */
    size_t n_facts;                /* at most CLV_MAX_FACTS */
};
#define CLV_MAX_FACTS 16

struct clv_pseudo_labels; /* opaque */

/* Input of a training run. parameters[i] is the value of the learner's parameter i. Examples must have labels and
 * theta; nodes with CLV_UNKNOWN labels are ignored, with their edges. n_threads <= 0: one per processor.
 *
 * Weak examples are images without a mask, with some fixed labels (0 outside boxes) or none. All their nodes take part.
 * Their labels and theta in the dataset, if any, are ignored. They are labelled:
 *   - by learners with CLV_ROLE_KAPPA: with the marginals (pmap: MAP labels) of weights learned from the masks;
 *   - by other learners: with MAP labels of such weights; the training then treats all examples as if they had masks;
 *   - with privileged features, which need two labels: by a teacher, the same learner trained on both kinds of
 *     features (unless CLV_ROLE_PAPER is on);
 *   - without any mask, for two labels with some fixed ones: initially 1 at all nodes without a fixed label. */
struct clv_training {
    const struct clv_dataset *dataset;
    const int32_t *examples; /* [n_examples] indices into the dataset */
    size_t n_examples;
    struct clv_weight_layout layout;
    double parameters[CLV_MAX_PARAMETERS];
    uint64_t seed;
    int n_threads;
    enum clv_engine engine;
    const struct clv_progress *progress;
    const int32_t *weak; /* [n_weak] indices into the dataset */
    size_t n_weak;
    const int32_t *const *given; /* [n_weak][n_nodes] fixed labels or CLV_UNKNOWN; NULL, or NULL for an example: none */
    const struct clv_dataset *privileged; /* privileged features of the same nodes, which only training has, or NULL */
    const struct clv_pseudo_labels *pseudo_labels; /* set by clv_train; NULL for callers */
    const struct clv_dataset *validation;          /* all with truth, for validation_loss; NULL: none */
    const struct clv_checkpoints *checkpoints;     /* NULL: none */
    const double *init; /* [clv_weight_layout_size] weights to start from, finite; NULL: none. See clv_learner */
};

/* One point of the learning curve, for the weights that would be returned at that time. Fields that a learner does not
 * compute are NaN. */
struct clv_curve_point {
    double pass;      /* passes over the examples so far, except those that only measure points of this curve */
    double objective; /* primal */
    double dual; /* lower bound on the minimum objective, <= `objective` (an upper bound where the oracle rounds) */
    double train_loss; /* weighted Hamming on the training examples */
};

/* A number that a learner reports besides the weights; it is stored in the model's record. */
struct clv_training_note {
    const char *name; /* static */
    double value;
};
#define CLV_MAX_NOTES 8

struct clv_training_result {
    double *w;        /* [clv_weight_layout_size(layout)], array owned by the result */
    double *variance; /* [clv_weight_layout_size(layout)] of the posterior with mean w; NULL: w is a point estimate */
    struct clv_curve_point *curve;
    size_t n_curve;
    double *validation_loss;      /* [n_curve] weighted Hamming on the validation set; NULL: not known */
    bool interrupted;             /* stopped early by the caller; w is the best so far */
    double at_zero;               /* the last point's objective at w = 0 (perceptron: its train_loss); NaN: not known */
    struct clv_decoding decoding; /* the rule by which w should be decoded */
    struct clv_training_note notes[CLV_MAX_NOTES];
    size_t n_notes;
};
CLV_API void clv_training_result_release(struct clv_training_result *result);

/* Pairwise forms that a learner can train, besides none. Combine them with |. */
enum clv_trains {
    CLV_TRAINS_CUTS = 1,         /* Potts, two labels, any graph */
    CLV_TRAINS_POTTS = 2,        /* Potts, any number of labels, any graph */
    CLV_TRAINS_FULL_CHAINS = 4,  /* FULL, on chains */
    CLV_TRAINS_FULL_FORESTS = 8, /* FULL, on graphs without loops */
    CLV_TRAINS_FULL = 16,        /* FULL, on any graph */
};

struct clv_learner {
    const char *name;                       /* "ssvm" */
    const char *summary;                    /* one line with its source */
    const struct clv_parameter *parameters; /* ends with a NULL name */
    bool takes_init;                        /* whether a training may start from given weights */
    bool takes_hidden;                      /* whether nodes of unknown label take part; else they are ignored */
    enum clv_status (*train)(struct clv_training_result *result, const struct clv_training *training,
                             struct clv_error *err);
    int trains;             /* of enum clv_trains */
    enum clv_scores scores; /* meaning of its scores; clv_train_set stores it in the model's record */
    size_t n_vectors;       /* vectors of weights that it keeps, including the result */
    /* Estimates its other memory in bytes, without the data; NULL: negligible. */
    double (*bytes)(const struct clv_training *training);
    /* Returns why a parameter has no effect, as a clause, or NULL if it has one; for reasons that `needs` cannot
     * express. */
    const char *(*unused_reason)(const struct clv_training *training, int parameter);
};

/* The default layout of the weights for a dataset: its labels and features, and the pairwise form that suits it (none
 * without edges; full tables for patches, for windows of slices with more than two labels and for feature files with
 * pairwise "full"; else Potts), or the next simpler one that the learner trains. CLV_ERR_USAGE for a dataset without
 * examples, CLV_ERR_MEMORY. *layout is then unchanged. */
CLV_API enum clv_status clv_learner_layout(struct clv_weight_layout *layout, const struct clv_learner *learner,
                                           const struct clv_dataset *dataset, struct clv_error *err) CLV_CHECK;

CLV_API const struct clv_learner *clv_learner_find(const char *name); /* or NULL */
CLV_API const struct clv_learner *clv_learner_at(size_t index);       /* NULL past the end */
/* Sets all members: parameters to the learner's defaults, others to zero. */
CLV_API void clv_training_defaults(struct clv_training *training, const struct clv_learner *learner);
/* Returns the index of a parameter, or -1. */
CLV_API int clv_learner_parameter(const struct clv_learner *learner, const char *name);

/* Checks parameters (CLV_ERR_USAGE naming it and its value) and examples (naming the image), then trains. Examples with
 * only one label, without weak examples that may have others, are CLV_ERR_USAGE. The same seed gives the same bytes at
 * any thread count. On interruption the status is CLV_OK and result->interrupted is set. *result is only written to;
 * its former content is not released. CLV_ERR_USAGE, naming the image, for a pairwise form that the learner does not
 * train. CLV_ERR_MEMORY, naming both, if the training needs more memory, by `n_vectors` and `bytes` of its learner,
 * than is available. If the final objective is above that at w = 0, or its distance to the bound exceeds a quarter of
 * the possible gain, progress->notify receives a warning (CLV_WARNING). */
CLV_API enum clv_status clv_train(struct clv_training_result *result, const struct clv_learner *learner,
                                  const struct clv_training *training, struct clv_error *err) CLV_CHECK;

/* Mean weighted Hamming loss of w's labellings over examples. The examples must have theta and fit the layout. decoding
 * NULL: clv_oracle_map on all nodes, as for segmentation; with other rules nodes of unknown label are hidden. */
CLV_API enum clv_status clv_evaluate(double *mean_loss, const struct clv_dataset *dataset, const int32_t *examples,
                                     size_t n_examples, const struct clv_weight_layout *layout, const double *w,
                                     const struct clv_decoding *decoding, enum clv_engine engine, int n_threads,
                                     struct clv_error *err) CLV_CHECK;

/* Evaluates all of a dataset's examples with truth. */
CLV_API enum clv_status clv_evaluate_all(double *mean_loss, const struct clv_dataset *dataset,
                                         const struct clv_weight_layout *layout, const double *w,
                                         const struct clv_decoding *decoding, enum clv_engine engine, int n_threads,
                                         struct clv_error *err) CLV_CHECK;

/* Chooses one parameter from candidates by n_folds-fold cross-validation (folds drawn from the seed, 2 <= n_folds <=
 * examples): *best = the candidate with the smallest mean held-out loss over examples, the first at ties;
 * losses[n_candidates] and standard_errors[n_candidates] (either may be NULL) = the mean losses of all candidates and
 * their standard errors. A candidate for CLV_ROLE_LAMBDA_OF_MEAN is the value for all examples; trainings of a fold
 * have fewer, and multiply it by the ratio. Runs n_candidates x n_folds trainings in parallel, each on one thread.
 * CLV_ERR_INTERRUPTED if progress asks to stop: losses and standard_errors are then NaN for candidates without results
 * of all folds. */
CLV_API enum clv_status clv_cross_validate(double *best, double *losses, double *standard_errors,
                                           const struct clv_learner *learner, const struct clv_training *training,
                                           int parameter, const double *candidates, size_t n_candidates,
                                           int32_t n_folds, struct clv_error *err) CLV_CHECK;

#ifdef __cplusplus
}
#endif
#endif
