/* Learners: from a dataset to a weight vector. One table; every method adds one entry and one file. */
#ifndef CLEAVE_LEARN_H
#define CLEAVE_LEARN_H

#include "cleave/features.h"
#include "cleave/infer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A parameter of a learner: its name on the command line (--name), default, range and help come from one table. */
struct clv_parameter {
    const char *name;
    double value, minimum, maximum;
    const char *help;
};

#define CLV_MAX_PARAMETERS 24

/* What a training run is given. parameters[i] is the value of the learner's parameter i. */
struct clv_training {
    const struct clv_dataset *dataset;
    const int32_t *examples; /* [n_examples] which of the dataset to use */
    size_t n_examples;
    struct clv_shape shape;
    double parameters[CLV_MAX_PARAMETERS];
    uint64_t seed;
    int n_threads;
    enum clv_engine engine;
    const struct clv_progress *progress;
};

/* One point of the learning curve. Fields that a learner does not know are NaN. */
struct clv_curve_point {
    double pass;       /* effective passes over the data */
    double objective;  /* primal */
    double dual;       /* lower bound */
    double train_loss; /* weighted Hamming on the training examples */
};

struct clv_training_result {
    double *w; /* [clv_shape_size(shape)], array owned by the result */
    struct clv_curve_point *curve;
    size_t n_curve;
    int interrupted; /* 1: stopped early by the caller; w is the best so far */
};
CLV_API void clv_training_result_release(struct clv_training_result *result);

struct clv_learner {
    const char *name;    /* "ssvm" */
    const char *summary; /* one line with its source */
    const struct clv_parameter *parameters; /* ends with a NULL name */
    enum clv_status (*train)(struct clv_training_result *result, const struct clv_training *training,
                             struct clv_error *err);
};

CLV_API const struct clv_learner *clv_learner_find(const char *name); /* or NULL */
CLV_API const struct clv_learner *clv_learner_at(size_t index);       /* NULL past the end */

/* Fills parameters with the learner's defaults. */
CLV_API void clv_training_defaults(struct clv_training *training, const struct clv_learner *learner);
/* Index of a parameter, or -1. */
CLV_API int clv_learner_parameter(const struct clv_learner *learner, const char *name);

/* Checks parameters and examples, then trains. On interruption the status is CLV_OK and result->interrupted is set. */
CLV_API enum clv_status clv_train(struct clv_training_result *result, const struct clv_learner *learner,
                                  const struct clv_training *training, struct clv_error *err) CLV_CHECK;

/* Mean weighted Hamming loss of w's MAP labelling over examples. */
CLV_API enum clv_status clv_evaluate(double *mean_loss, const struct clv_dataset *dataset, const int32_t *examples,
                                     size_t n_examples, const struct clv_shape *shape, const double *w,
                                     enum clv_engine engine, int n_threads, struct clv_error *err) CLV_CHECK;

/* Chooses one parameter from candidates by n_folds-fold cross-validation (folds drawn from the seed): *best is the candidate
 * with the least mean loss; losses[n_candidates] and standard_errors (either may be NULL) tell the rest. */
CLV_API enum clv_status clv_cross_validate(double *best, double *losses, double *standard_errors,
                                           const struct clv_learner *learner, const struct clv_training *training,
                                           int parameter, const double *candidates, size_t n_candidates, int32_t n_folds,
                                           struct clv_error *err) CLV_CHECK;

#ifdef __cplusplus
}
#endif
#endif
