/* The max-margin Markov network on an L1 ball (Zhu and Xing 2009, appendix A, eq. 15):
 *
 *     min_w  sum_i xi_i   subject to  |w|_1 <= radius,   xi_i = max_y L_i(y) + f_i(y) - f_i(y_i)
 *
 * by online subgradient steps, each projected onto the ball (descent.c, l1_ball.c): of length rate radius / sqrt(sum of
 * all |subgradient|^2), whatever the units; or by constraint generation with a linear program
 * (constraint_generation.c), exact, for small sets. */
#include <math.h>

#include "base/base.h"
#include "learn/common/common.h"
#include "learn/constraint_generation/constraint_generation.h"
#include "learn/margin/margin.h"

enum { RADIUS, SOLVER, RATE, PASSES, GAP, AVERAGING, EDGES, UNITS };
enum { SUBGRADIENT, LP };

static const struct clv_parameter parameters[] = {
    [RADIUS] = {"radius", 100, 1e-12, 1e12, "most sum of the weights' magnitudes"},
    [SOLVER] = {"solver", SUBGRADIENT, 0, LP, "projected subgradient, or constraint generation (builds WITH_LP=1)"},
    [RATE] = {"rate", 0.2, 1e-6, 1e6, "of the subgradient's steps"},
    [PASSES] = {"passes", 100, 1, 1e6, "passes over the examples; most rounds of constraint generation"},
    [GAP] = {"gap", 1e-3, 0, 1, "constraint generation: stop once (objective - bound) / objective is this small"},
    [AVERAGING] = {"averaging", 1, 0, 1, "1: the weighted mean of the iterates; 0: the last one"},
    [EDGES] = {"edges", 1, 0, 1, "0: learn without couplings"},
    [UNITS] = {"units", M3N_RELATIVE, 0, M3N_RAW,
               "of radius and weights: relative to the size of the features, or raw"},
    {0},
};

static const struct clv_choice choices[] = {
    {SOLVER, (const char *const[]){"subgradient", "lp", NULL}}, {UNITS, m3n_units}, {0}};

static const char *idle(const struct clv_training *training, int parameter)
{
    bool is_online = training->parameters[SOLVER] == SUBGRADIENT;
    if ((parameter == RATE || parameter == AVERAGING) && !is_online)
        return "--solver is lp";
    if (parameter == GAP && is_online)
        return "--solver is subgradient";
    return parameter == EDGES ? idle_edges(training) : NULL;
}

static enum clv_status train_by_programs(struct clv_training_result *result, struct examples *examples, double radius,
                                         const double *p, struct clv_error *err)
{
#if WITH_LP
    const struct generation_rules rules = {radius, p[GAP], (size_t)p[PASSES]};
    return constraint_generation_train(result, examples, &rules, err);
#else
    (void)result, (void)examples, (void)radius, (void)p;
    return fail(err, CLV_ERR_USAGE, "this cleave was built without a solver of linear programs (WITH_LP=0)");
#endif
}

static enum clv_status train(struct clv_training_result *result, const struct clv_training *training,
                             struct clv_error *err)
{
    const double *p = training->parameters;
    struct examples examples;
    MUST(examples_open(&examples, training, p[EDGES] != 0, err));
    enum clv_status status = CLV_OK;
    double radius = p[RADIUS] / sqrt(m3n_squared_unit(&examples, p[UNITS]));
    if (p[SOLVER] == LP) {
        status = train_by_programs(result, &examples, radius, p, err);
    } else {
        const struct descent_rules rules = {.rate = p[RATE] * radius,
                                            .radius = radius,
                                            .step = DESCENT_ADAPTIVE,
                                            .ball = DESCENT_L1,
                                            .passes = (size_t)p[PASSES],
                                            .unit = 1,
                                            .averaging = p[AVERAGING] != 0};
        status = descent_train(result, &examples, &rules, err);
    }
    examples_release(&examples);
    return status;
}

const struct clv_learner l1m3n_learner = {
    .name = "l1m3n",
    .summary = "max-margin Markov network on an L1 ball (Zhu and Xing 2009, appendix A; Duchi et al. 2008)",
    .parameters = parameters,
    .choices = choices,
    .takes_init = true,
    .train = train,
    .idle = idle,
    .trains = CLV_TRAINS_CUTS | CLV_TRAINS_FULL_CHAINS,
};
