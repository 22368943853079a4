/* The max-margin Markov network (Taskar, Guestrin, Koller 2003), as Zhu and Xing write it (P0):
 *
 *     min_w  1/2 |w|^2 + C sum_i xi_i,   xi_i = max_y L_i(y) + f_i(y) - f_i(y_i)
 *
 * Divided by C n that is the problem of bcfw.c with lambda = 1 / (C n), or of descent.c. The paper's subgradient steps
 * are 1 / (2 beta sqrt(t)) with C = 200 beta (section 7.1.2, after Ratliff, Bagnell, Zinkevich 2007); by default it is
 * solved by its dual, which needs no steps to be chosen and says by its gap when it is done. It is also the
 * Gaussian maximum entropy discrimination Markov network, whose posterior mean is w (Theorem 3). */
#include "learn/common/common.h"
#include "learn/margin/margin.h"

#include "base/base.h"

enum { C, SOLVER, BETA, PASSES, GAP, AVERAGING, UNITS, BATCH, PAPER };
enum { BCFW, SUBGRADIENT };

static const struct clv_parameter parameters[] = {
    [C] = {"C", 300, 1e-12, 1e12, "weight of the slacks"},
    [SOLVER] = {"solver", BCFW, 0, SUBGRADIENT, "block-coordinate Frank-Wolfe, or online subgradient steps"},
    [BETA] = {"beta", 0, 0, 1e12, "subgradient steps of 1 / (2 beta sqrt(t)); 0: C / 200"},
    [PASSES] = {"passes", 200, 1, 1e6, "most passes over the examples"},
    [GAP] = {"gap", 0.02, 0, 1, "stop once (objective - dual) / objective is this small"},
    [AVERAGING] = {"averaging", 1, 0, 1, "1: also try the weighted average of the iterates (subgradient: take it)"},
    [UNITS] = {"units", UNITS_RELATIVE, 0, UNITS_RAW, "of C and weights: relative to the size of the features, or raw"},
    [BATCH] = BCFW_BATCH_PARAMETER,
    [PAPER] =
        {"paper", 0, 0, 1,
         "1: as Zhu and Xing (2009, section 7.1.2) train it: --solver subgradient, --units raw, the last iterate, "
         "in no ball"},
    {0},
};

static const struct clv_choice choices[] = {
    {SOLVER, (const char *const[]){"bcfw", "subgradient", NULL}}, {UNITS, weight_units}, {0}};

static bool is_published(const struct clv_training *training)
{
    return training->parameters[PAPER] >= 1;
}

static double units_of(const struct clv_training *training)
{
    return is_published(training) ? UNITS_RAW : training->parameters[UNITS];
}

static bool is_by_descent(const struct clv_training *training)
{
    return is_published(training) || training->parameters[SOLVER] == SUBGRADIENT;
}

static enum clv_status train_by_descent(struct clv_training_result *result, const struct clv_training *training,
                                        struct clv_error *err)
{
    const double *p = training->parameters;
    OWNED(examples_release) struct examples examples = {0};
    MUST(examples_open(&examples, training, true, err));
    double unit = p[C] * (double)examples.n, squares = examples_squared_unit(&examples, units_of(training));
    double beta = p[BETA] > 0 ? p[BETA] : p[C] / 200;
    const struct descent_rules rules = {.ridge = squares / unit,
                                        .rate = 1 / (2 * beta * squares),
                                        .step = DESCENT_ROOT,
                                        .ball = is_published(training) ? DESCENT_NO_BALL : DESCENT_L2,
                                        .passes = (size_t)p[PASSES],
                                        .unit = unit,
                                        .averaging = p[AVERAGING] != 0 && !is_published(training)};
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
    self.dual.lambda = examples_squared_unit(&self.examples, units_of(training)) / rules.unit;
    MUST(bcfw_resume(&resumed, &self, err));
    if (resumed)
        bcfw_put_variance(&self, NULL);
    MUST(bcfw_solve(&self, err));
    MUST(course_end(&self.course, bcfw_weights(&self), err));
    result_note(result, "support_labellings", (double)bcfw_n_support(&self));
    return CLV_OK;
}

static const char *idle(const struct clv_training *training, int parameter)
{
    bool is_online = is_by_descent(training);
    if (is_published(training) && (parameter == SOLVER || parameter == AVERAGING || parameter == UNITS))
        return "--paper is 1";
    if (parameter == BETA && !is_online)
        return "--solver is bcfw";
    if ((parameter == GAP || parameter == BATCH) && is_online)
        return is_published(training) ? "--paper is 1" : "--solver is subgradient";
    return parameter == PAPER ? idle_paper(training) : NULL;
}

static enum clv_status train(struct clv_training_result *result, const struct clv_training *training,
                             struct clv_error *err)
{
    return is_by_descent(training) ? train_by_descent(result, training, err) : train_by_bcfw(result, training, err);
}

const struct clv_learner m3n_learner = {
    .name = "m3n",
    .summary = "max-margin Markov network (Taskar et al. 2003; Zhu and Xing 2009, P0)",
    .parameters = parameters,
    .choices = choices,
    .takes_init = true,
    .train = train,
    .idle = idle,
    .trains = CLV_TRAINS_CUTS | CLV_TRAINS_FULL_CHAINS,
};
