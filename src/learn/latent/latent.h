/* Descent on objectives with hidden nodes whose gradients are differences of expected joint features. The baselines m3e
 * and modlat share it.
 *
 *     s^2/2 |w|^2 + C sum_i hinge_i(w),   gradient of hinge_i = sum over labels of free(.) Psi - clamped(.) Psi
 *
 * with weights free[node][label] and clamped[node][label] for every label of a node; the weight of a pair of labels is
 * the product of its ends' weights. Graphs are chains of alternating visible and hidden nodes, and trees like them. s
 * and C are in the units of the learner (examples_squared_unit). */
#ifndef LEARN_LATENT_LATENT_H
#define LEARN_LATENT_LATENT_H

#include "base/base.h"
#include "cleave/learn.h"
#include "learn/common/common.h"

/* adagrad: steps on batches as in learn/hidden, averages the iterates and returns the weights of the lowest objective;
 * subgradient: w <- (1 - rate s^2) w - rate C sum_i gradient of hinge_i, returns the last iterate. */
enum latent_solver { LATENT_ADAGRAD, LATENT_SUBGRADIENT };
extern const char *const latent_solvers[];

/* Rows of parameters that both learners have. `usual` is a text on the default rate of plain steps, `solver` the index
 * of LATENT_SOLVER_PARAMETER. */
#define LATENT_SOLVER_PARAMETER                                                                                        \
    {                                                                                                                  \
        "solver", LATENT_ADAGRAD, LATENT_ADAGRAD, LATENT_SUBGRADIENT,                                                  \
            "adagrad on batches, or plain subgradient steps down the sum over all examples", .choices = latent_solvers \
    }
#define LATENT_RATE_PARAMETER(usual)                                                                                   \
    {                                                                                                                  \
        "rate", 0, 0, 1e6, "step size; 0: 0.3 of adagrad, relative to the size of the features, or " usual,            \
            .role = CLV_ROLE_RATE                                                                                      \
    }
#define LATENT_BATCH_PARAMETER(solver)                                                                                 \
    {                                                                                                                  \
        "batch", 10, 0, 1e9, "examples a step of adagrad; 0: all", .role = CLV_ROLE_BATCH, .needs = {                  \
            NEEDS(solver, 1 << LATENT_ADAGRAD)                                                                         \
        }                                                                                                              \
    }
#define LATENT_AVERAGING_PARAMETER(solver)                                                                             \
    {                                                                                                                  \
        "averaging", 1, 0, 1, "1: adagrad's weighted mean of the iterates; 0: the last one", .needs = {                \
            NEEDS(solver, 1 << LATENT_ADAGRAD)                                                                         \
        }                                                                                                              \
    }
#define LATENT_UNITS_PARAMETER                                                                                         \
    {                                                                                                                  \
        "units", UNITS_RELATIVE, 0, UNITS_RAW, "of C and weights: relative to the size of the features, or raw",       \
            .choices = weight_units                                                                                    \
    }
#define LATENT_DEVIATION_PARAMETER(solver)                                                                             \
    {                                                                                                                  \
        "deviation", 0.1, 0, 1e3, "of the random weights to start from where only hidden nodes look",                  \
            .role = CLV_ROLE_START, .needs = {                                                                         \
                {CLV_NEEDS_RANDOM_START, solver, 1 << LATENT_SUBGRADIENT}                                              \
            }                                                                                                          \
    }

struct latent_rules {
    enum latent_solver solver;
    double c, units, rate, deviation;
    size_t batch; /* 0: all */
    bool averaging;
};

struct latent {
    struct arena arena; /* of the arrays below */
    struct examples examples;
    struct course course;
    struct latent_rules rules;
    size_t size;            /* weights */
    size_t *first;          /* [n + 1] number of nodes before each example */
    uint8_t *is_visible;    /* [all nodes] */
    double *free, *clamped; /* [all nodes][n_labels] */
    double *hinge;          /* [n] */
    double *gradient;       /* [size] */
    double *zero;           /* [size] of zeros */
    int32_t *order, *all;   /* [n] */
    double ridge, c;        /* s^2, C */
    void *context;          /* argument of latent_terms */
};

/* Opens the examples and a course for the learner. CLV_ERR_USAGE, naming the example, if an edge joins hidden nodes. */
enum clv_status latent_open(struct latent *self, const struct clv_learner *learner, struct clv_training_result *result,
                            const struct clv_training *training, const struct latent_rules *rules, void *context,
                            struct clv_error *err) CLV_CHECK;
/* Returns the bytes that struct latent keeps for the examples: two weights per label of every node. */
double latent_bytes(const struct clv_training *training);
void latent_release(struct latent *self); /* also after a failure, and of zeros */

/* Fills hinge, free and clamped of one example at w, on any thread. */
typedef enum clv_status latent_terms(void *context, struct latent *self, size_t example, int thread, const double *w,
                                     struct clv_error *err);

/* Fills hinge, free and clamped of all examples at w. CLV_ERR_INTERRUPTED when asked to stop. The same bytes at any
 * thread count. */
enum clv_status latent_compute_terms(struct latent *self, const double *w, latent_terms *terms,
                                     struct clv_error *err) CLV_CHECK;

/* Calls latent_compute_terms and sets *objective to the objective above at w. */
enum clv_status latent_objective(double *objective, struct latent *self, const double *w, latent_terms *terms,
                                 struct clv_error *err) CLV_CHECK;

/* Opens an ascent for one of the learner's weight vectors, at the weights where training starts, and adds its arrays to
 * the fields of the course under these names. */
struct latent_names {
    const char *w, *average, *squares, *n_steps;
};
enum clv_status latent_begin(struct ascent *ascent, struct latent *self, struct latent_names names,
                             struct clv_error *err) CLV_CHECK;

/* Runs the rest of a pass, from the course's n_taken on: steps on batches, in an order that depends on `pass`, or one
 * plain subgradient step of this rate on all examples. *is_complete: the pass is complete and n_taken is 0 again;
 * otherwise the course was stopped. CLV_ERR_INTERRUPTED when asked to stop within a step, which then leaves the weights
 * unchanged. */
enum clv_status latent_pass(bool *is_complete, struct latent *self, struct ascent *ascent, uint32_t pass, double rate,
                            latent_terms *terms, struct clv_error *err) CLV_CHECK;

/* Two baselines with latent variables, for chains of alternating visible and hidden nodes and trees like them:
 * max-margin min-entropy models (m3e.c) and ModLat (modlat.c). Only these two use latent.c. The learners with hidden
 * variables for any graph are those of learn/hidden. */

extern const struct clv_learner m3e_learner;
extern const struct clv_learner modlat_learner;

#endif
