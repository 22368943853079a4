/* The max-margin Markov network (Taskar, Guestrin, Koller 2003), as Zhu and Xing write it (P0):
 *
 *     min_w  1/2 |w|^2 + C sum_i xi_i,   xi_i = max_y L_i(y) + f_i(y) - f_i(y_i)
 *
 * Divided by C n this is the problem of bcfw.c, and of descent.c, with lambda = 1 / (C n). The paper's subgradient
 * steps are 1 / (2 beta sqrt(t)) with C = 200 beta (section 7.1.2, after Ratliff, Bagnell, Zinkevich 2007). By default
 * the dual is solved instead, which needs no step size and ends when the duality gap is small. The problem is also that
 * of the Gaussian maximum entropy discrimination Markov network, whose posterior mean is w (Theorem 3). */
#include "learn/common/common.h"
#include "learn/margin/margin.h"

#include "base/base.h"

enum { C, SOLVER, BETA, PASSES, GAP, AVERAGING, UNITS, BATCH, PAPER };
enum { BCFW, SUBGRADIENT };
static const char *const solvers[] = {[BCFW] = "bcfw", [SUBGRADIENT] = "subgradient", NULL};

static const struct clv_parameter parameters[] = {
    [C] = {"C", 300, 1e-12, 1e12, "weight of the slacks", .role = CLV_ROLE_REGULARISATION},
    [SOLVER] = {"solver", BCFW, 0, SUBGRADIENT, "block-coordinate Frank-Wolfe, or online subgradient steps",
                .choices = solvers, .published = {true, SUBGRADIENT}},
    [BETA] = {"beta", 0, 0, 1e12, "subgradient steps of 1 / (2 beta sqrt(t)); 0: C / 200",
              .needs = {NEEDS(SOLVER, 1 << SUBGRADIENT)}},
    [PASSES] = {"passes", 200, 1, 1e6, "most passes over the examples", .role = CLV_ROLE_PASSES},
    [GAP] = {"gap", 0.02, 0, 1, "stop once (objective - dual) / objective is this small", .role = CLV_ROLE_GAP,
             .needs = {NEEDS(SOLVER, 1 << BCFW)}},
    [AVERAGING] = {"averaging", 1, 0, 1, "1: also try the weighted average of the iterates (subgradient: take it)",
                   .published = {true, 0}},
    [UNITS] = {"units", UNITS_RELATIVE, 0, UNITS_RAW, "of C and weights: relative to the size of the features, or raw",
               .choices = weight_units, .published = {true, UNITS_RAW}},
    [BATCH] = BCFW_BATCH_PARAMETER(NEEDS(SOLVER, 1 << BCFW)),
    [PAPER] =
        {"paper", 0, 0, 1,
         "1: as Zhu and Xing (2009, section 7.1.2) train it: --solver subgradient, --units raw, the last iterate, "
         "no projection onto a ball",
         .role = CLV_ROLE_PAPER, .needs = {{CLV_NEEDS_MASKS}}},
    {0},
};

static double setting(const struct clv_training *training, int parameter)
{
    return learner_setting(&m3n_learner, training, parameter);
}

static enum clv_status train_by_descent(struct clv_training_result *result, const struct clv_training *training,
                                        struct clv_error *err)
{
    const double *p = training->parameters;
    OWNED(examples_release) struct examples examples = {0};
    MUST(examples_open(&examples, training, true, err));
    double unit = p[C] * (double)examples.n, squares = examples_squared_unit(&examples, setting(training, UNITS));
    double beta = p[BETA] > 0 ? p[BETA] : p[C] / 200;
    const struct descent_rules rules = {.ridge = squares / unit,
                                        .rate = 1 / (2 * beta * squares),
                                        .step = DESCENT_ROOT,
                                        .ball =
                                            learner_is_published(&m3n_learner, training) ? DESCENT_NO_BALL : DESCENT_L2,
                                        .passes = (size_t)p[PASSES],
                                        .unit = unit,
                                        .averaging = setting(training, AVERAGING) != 0};
    return descent_train(result, &m3n_learner, &examples, &rules, err);
}

static enum clv_status train_by_bcfw(struct clv_training_result *result, const struct clv_training *training,
                                     struct clv_error *err)
{
    const double *p = training->parameters;
    const struct bcfw_rules rules = {.passes = (size_t)p[PASSES],
                                     .batch = (size_t)p[BATCH],
                                     .gap = p[GAP],
                                     .unit = p[C] * (double)training->n_examples,
                                     .averaging = p[AVERAGING] != 0,
                                     .sampling = true,
                                     .keeps_support = true,
                                     .start = training->init};
    OWNED(bcfw_release) struct bcfw self = {0};
    bool resumed;
    MUST(bcfw_open(&self, &m3n_learner, result, training, &rules, err));
    self.dual.lambda = examples_squared_unit(&self.examples, setting(training, UNITS)) / rules.unit;
    MUST(bcfw_resume(&resumed, &self, err));
    if (resumed)
        bcfw_put_variance(&self, NULL);
    MUST(bcfw_solve(&self, err));
    MUST(course_end(&self.course, bcfw_weights(&self), err));
    result_note(result, "support_labellings", (double)bcfw_n_support(&self));
    return CLV_OK;
}

static double bytes(const struct clv_training *training)
{
    return setting(training, SOLVER) == BCFW ? bcfw_bytes(training, training->parameters[BATCH]) : 0;
}

static enum clv_status train(struct clv_training_result *result, const struct clv_training *training,
                             struct clv_error *err)
{
    return setting(training, SOLVER) == SUBGRADIENT ? train_by_descent(result, training, err)
                                                    : train_by_bcfw(result, training, err);
}

const struct clv_learner m3n_learner = {
    .name = "m3n",
    .summary = "max-margin Markov network (Taskar et al. 2003; Zhu and Xing 2009, P0)",
    .parameters = parameters,
    .takes_init = true,
    .n_vectors = BCFW_VECTORS + 1,
    .bytes = bytes,
    .train = train,
    .trains = CLV_TRAINS_CUTS | CLV_TRAINS_FULL_CHAINS,
};
