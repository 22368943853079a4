/* Large-margin learners: each searches for weights under which the truth scores higher than any other labelling, by a
 * margin.
 *
 * Read ssvm.c first, then bcfw.c, the solver of ssvm, m3n and lapmedn. In a training bcfw_open opens the examples
 * (common/examples.c); each step finds the loss-augmented MAP labelling of one example (common/decoder.c) and moves the
 * dual towards it (common/frank_wolfe.c); bcfw_solve ends when the duality gap is small; result_set sets the weights.
 * descent.c is the subgradient method of subgradient, m3n and l1m3n. perceptron.c and independent.c use neither. */
#ifndef LEARN_MARGIN_MARGIN_H
#define LEARN_MARGIN_MARGIN_H

#include "base/base.h"
#include "cleave/learn.h"
#include "learn/common/common.h"

/* Block-coordinate Frank-Wolfe on the structured hinge with a diagonal prior variance S:
 *
 *     min_w  lambda/2 <w, S^-1 w> + (1/n) sum_i H_i(w),  couplings >= 0,   H_i(w) = max_y L_i(y) + f_i(y) - f_i(y_i)
 *
 * With S = I this is the structured SVM, and for lambda = 1/(C n) the max-margin Markov network. S may change between
 * two calls of bcfw_solve: the second call starts from the dual distributions of the first. */

struct bcfw_rules {
    size_t passes; /* most passes of one bcfw_solve */
    double gap;    /* ends when (objective - dual) / objective is this small */
    double unit;   /* factor of reported objectives: 1 as above, C n for the sum; 0: none are reported */
    size_t batch;  /* examples whose MAP labellings are found at one w, before their steps are taken; 0: 1 */
    bool averaging, sampling;
    bool keeps_support; /* count labellings of positive dual weight */
    /* [size] weights to start from: they are the result until better ones are found, and the first pass steps towards
     * the MAP labellings at them. NULL: none. */
    const double *start;
};

/* A labelling of positive dual weight, identified by its hash. */
struct bcfw_share {
    uint64_t labelling;
    double share;
};

/* The dual variables of one example. */
struct bcfw_block {
    double *marginal; /* [n_nodes][rows] marginal of label 1, or of each label */
    double *pairwise; /* [pairwise_size] of E[Psi] */
    double loss;      /* E[L], known nodes */
    double gap;       /* n g_i when last computed */
    uint64_t truth;   /* hash of the true labels */
    struct bcfw_share *support;
    size_t n_support;
};

/* A loss-augmented MAP labelling, as a direction in the dual. */
struct bcfw_direction {
    int32_t *y;              /* [most nodes] */
    double *change;          /* [most nodes][rows] marginal - indicator of y */
    double *pairwise;        /* [pairwise_size] of Psi(x, y) */
    double *delta;           /* [size] change of v towards y; set only in the spans */
    struct dual_span *spans; /* [rows + 1] */
    double loss;             /* L(y) */
    size_t n_spans, example;
};

#define BCFW_BUCKET 64 /* examples per bucket, whose gaps have a common sum */

/* The position of a bcfw_solve. */
struct bcfw_position {
    size_t pass, draw; /* complete passes, and steps taken in the current one */
    bool is_checked;   /* whether the check that precedes the pass's first step is complete */
};

struct bcfw {
    struct arena arena; /* of the arrays below */
    const struct clv_training *training;
    struct bcfw_rules rules;
    struct examples examples;
    struct course course; /* its fields are the learner's, in addition to bcfw's own */
    size_t n, n_rows, size, unary_size, pairwise_size;
    struct dual_point dual;            /* its lambda is set by the caller, once, before bcfw_solve */
    struct bcfw_block *blocks;         /* [n] */
    struct bcfw_direction *directions; /* [batch] */
    size_t batch;
    double *block_memory, *direction_memory;
    size_t block_memory_size;
    double *bucket_gap; /* [n / BCFW_BUCKET, rounded up] */
    int32_t *order;     /* [n] of the pass */
    double *average;    /* weighted mean of w over all steps, or NULL */
    double *hinge;      /* [n] at the last check */
    double *best;       /* the w of least objective so far */
    double best_objective, best_hinge, best_dual;
    size_t n_steps;
    uint32_t n_passes; /* complete passes of all calls */
    struct bcfw_position position;
};

/* The row of a learner's parameter --batch, with its need; {CLV_NEEDS_NOTHING} for none. */
#define BCFW_BATCH_PARAMETER(need)                                                                                     \
    {                                                                                                                  \
        "batch", 1, 1, 1024,                                                                                           \
            "examples whose worst labellings are sought side by side before steps are taken towards them",             \
            .role = CLV_ROLE_BATCH, .needs = {                                                                         \
                need                                                                                                   \
            }                                                                                                          \
    }

/* Opens the examples and a course for the learner, and starts the dual at the true labels. Release also after a
 * failure. */
enum clv_status bcfw_open(struct bcfw *self, const struct clv_learner *learner, struct clv_training_result *result,
                          const struct clv_training *training, const struct bcfw_rules *rules,
                          struct clv_error *err) CLV_CHECK;
void bcfw_release(struct bcfw *self);

/* Estimated bytes that bcfw_open allocates, in addition to BCFW_VECTORS vectors of weights: blocks hold marginals of
 * their nodes and a pairwise part, directions hold weights. */
enum { BCFW_VECTORS = 4 };
double bcfw_bytes(const struct clv_training *training, double batch);

/* Changes S to variance[size] > 0, which is not copied. The best weights so far remain a candidate, so that the best
 * objective never rises. */
void bcfw_set_variance(struct bcfw *self, const double *variance);

/* Restores the S of the checkpoint after bcfw_resume. It is not copied. */
void bcfw_put_variance(struct bcfw *self, const double *variance);

/* Runs until the gap is small, all passes are made or the course is stopped; adds points to the result's curve if
 * objectives are reported. The first call after bcfw_resume continues the call that was stopped. */
enum clv_status bcfw_solve(struct bcfw *self, struct clv_error *err) CLV_CHECK;

/* Returns the weights of the lowest objective. After an interruption, the latest average, or w without averaging:
 * comparing objectives would take another pass. */
const double *bcfw_weights(const struct bcfw *self);

/* Returns the number of labellings other than the truth that have more than a thousandth of their example's dual
 * weight: the support of w. */
size_t bcfw_n_support(const struct bcfw *self);

/* Moves the support of an example's dual variables: alpha_i = (1 - step) alpha_i + step [y]. */
enum clv_status block_move_support(struct bcfw_block *block, uint64_t labelling, double step,
                                   struct clv_error *err) CLV_CHECK;

/* Reads the checkpoint, if there is one: sets *found, restores self and fills the fields of the course. The caller then
 * restores S by bcfw_put_variance. A checkpoint holds the dual, a block of marginals for each example, the best weights
 * and the position; w, the order of the pass and the gaps of buckets are computed from these. */
enum clv_status bcfw_resume(bool *found, struct bcfw *self, struct clv_error *err) CLV_CHECK;

/* The structured hinge by projected stochastic subgradient descent, for learners that differ in penalty, steps and
 * ball:
 *
 *     min_w  ridge/2 |w|^2 + (1/n) sum_i H_i(w),  couplings >= 0, w in a ball,
 *     H_i(w) = max_y L_i(y) + f_i(y) - f_i(y_i) */

enum descent_step {
    DESCENT_PEGASOS,  /* 1 / (ridge t): Shalev-Shwartz et al. 2007 */
    DESCENT_ROOT,     /* rate / sqrt(t): Ratliff et al. 2007 */
    DESCENT_ADAPTIVE, /* rate / sqrt(sum of all |subgradient|^2 so far): Streeter and McMahan 2010 */
};

enum descent_ball {
    DESCENT_L2, /* the ball that contains the optimum: ridge/2 |w*|^2 <= objective at 0 */
    DESCENT_L1, /* |w|_1 <= radius */
    DESCENT_NO_BALL,
};

struct descent_rules {
    double ridge, rate, radius;
    enum descent_step step;
    enum descent_ball ball;
    size_t passes;
    double unit; /* factor of reported objectives */
    bool averaging;
    double *share; /* receives |w|_1 / radius of the last iterate; NULL: not needed */
};

/* Trains into *result. Given first weights are the result unless a point of the curve is better. The caller has opened
 * `examples` and releases them. */
enum clv_status descent_train(struct clv_training_result *result, const struct clv_learner *learner,
                              struct examples *examples, const struct descent_rules *rules,
                              struct clv_error *err) CLV_CHECK;

/* The Laplace prior of the maximum entropy discrimination Markov network (Zhu and Xing 2009, sections 3 to 5): one
 * weight at a time,
 *
 *     p0(w) = sqrt(lambda)/2 exp(-sqrt(lambda) |w|)
 *
 * lambda > 0. `mean` is the posterior's <w>, eta its natural parameter: sum_i sum_y alpha_i(y) Delta f_i(y). */

/* KL(p || p0) of the exact posterior of that mean, the summand of Corollary 6 minus its value at 0. >= 0. */
double laplace_kl(double mean, double lambda);

/* The derivative of laplace_kl, the eta of Corollary 7's mean = 2 eta / (lambda - eta^2): |eta| < sqrt(lambda). */
double laplace_eta(double mean, double lambda);

/* The variance of the exact posterior with this mean. */
double laplace_variance(double mean, double lambda);

/* The conjugate of laplace_kl, log(lambda / (lambda - eta^2)) (Theorem 5), and its derivative; |eta| < sqrt(lambda). */
double laplace_conjugate(double eta, double lambda);
double laplace_mean(double eta, double lambda);

/* The prior variances that step 1 of the next round uses. Each round minimises a quadratic upper bound of the objective
 * that equals it at the previous mean. variational: eq. 12, <1/tau>^-1 = sqrt((variance + mean^2) / lambda), for the
 * bound L(p, q). exact: mean / eta, for KL(p || p0) itself, which is concave in mean^2. */
double laplace_variational_scale(double mean, double variance, double lambda);
double laplace_exact_scale(double mean, double lambda);

/* The fixed point of laplace_variational_scale for a constant mean. */
double laplace_settled_scale(double mean, double lambda);

/* The summand of L(p, q) (section 5) for p = N(mean, variance) and its best q: at least KL(p || p0). */
double laplace_bound(double mean, double variance, double lambda);

/* The minimum of laplace_bound over variances is laplace_kl(2 mean) / 2 + laplace_bound_floor(). The factors 2 are due
 * to the Gaussian family, whose mean is eta / (lambda - eta^2), half of Corollary 7's. */
double laplace_bound_floor(void);

extern const struct clv_learner ssvm_learner;
extern const struct clv_learner subgradient_learner;
extern const struct clv_learner perceptron_learner;
extern const struct clv_learner independent_learner;
extern const struct clv_learner m3n_learner;
extern const struct clv_learner l1m3n_learner;
extern const struct clv_learner lapmedn_learner;

#endif
