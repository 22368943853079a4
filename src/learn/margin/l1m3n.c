/* The max-margin Markov network on an L1 ball (Zhu and Xing 2009, appendix A, eq. 15):
 *
 *     min_w  sum_i xi_i   subject to  |w|_1 <= radius,   xi_i = max_y L_i(y) + f_i(y) - f_i(y_i)
 *
 * by online subgradient steps, each projected onto the ball (descent.c, l1_ball.c): of length rate radius / sqrt(sum of
 * all |subgradient|^2), whatever the units; or by constraint generation with a linear program
 * (constraint_generation.c), exact, for small sets.
 *
 * A relative radius is r n_weights n_examples max_y L(y) / s: w is a sum over examples, has so many entries, and scores
 * count when they are as large as losses, for which it needs entries of 1 / s (examples_open). */
#include <math.h>

#include "base/base.h"
#include "learn/common/common.h"
#include "learn/margin/constraint_generation.h"
#include "learn/margin/margin.h"

enum { RADIUS, SOLVER, RATE, PASSES, GAP, AVERAGING, UNITS, PAPER, BETA };
enum { SUBGRADIENT, LP };

static const struct clv_parameter parameters[] = {
    [RADIUS] = {"radius", 0.005, 1e-12, 1e12,
                "most sum of the weights' magnitudes; relative: a weight's for each example, on the mean"},
    [SOLVER] = {"solver", SUBGRADIENT, 0, LP, "projected subgradient, or constraint generation (builds WITH_LP=1)"},
    [RATE] = {"rate", 0.2, 1e-6, 1e6, "of the subgradient's steps"},
    [PASSES] = {"passes", 100, 1, 1e6, "passes over the examples; most rounds of constraint generation"},
    [GAP] = {"gap", 1e-3, 0, 1, "constraint generation: stop once (objective - bound) / objective is this small"},
    [AVERAGING] = {"averaging", 1, 0, 1, "1: the weighted mean of the iterates; 0: the last one"},
    [UNITS] = {"units", UNITS_RELATIVE, 0, UNITS_RAW,
               "of radius: relative to examples, weights, largest loss and the size of the features, or raw"},
    [PAPER] =
        {"paper", 0, 0, 1,
         "1: as Zhu and Xing (2009, section 7.2) train it: online steps of 1 / (2 beta sqrt(t)), --units raw, the "
         "last iterate"},
    [BETA] = {"beta", 4, 1e-12, 1e12, "of the published steps"},
    {0},
};

static const struct clv_choice choices[] = {
    {SOLVER, (const char *const[]){"subgradient", "lp", NULL}}, {UNITS, weight_units}, {0}};

static const char *idle(const struct clv_training *training, int parameter)
{
    bool is_published = training->parameters[PAPER] >= 1;
    bool is_online = is_published || training->parameters[SOLVER] == SUBGRADIENT;
    if (is_published && (parameter == SOLVER || parameter == RATE || parameter == AVERAGING || parameter == UNITS))
        return "--paper is 1";
    if (parameter == BETA && !is_published)
        return "--paper is 0";
    if ((parameter == RATE || parameter == AVERAGING) && !is_online)
        return "--solver is lp";
    if (parameter == GAP && is_online)
        return is_published ? "--paper is 1" : "--solver is subgradient";
    return parameter == PAPER ? idle_paper(training) : NULL;
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

static bool is_raw(const double *p)
{
    return p[UNITS] == UNITS_RAW || p[PAPER] >= 1;
}

static double radius_of(const struct examples *examples, const double *p)
{
    if (is_raw(p))
        return p[RADIUS];
    double per_weight = p[RADIUS] * (double)examples->n * examples->most_loss / sqrt(examples->scale);
    return per_weight * (double)clv_shape_size(&examples->shape);
}

/* A ball that holds the weights back, and that nobody has chosen. */
static void tell_of_ball(const struct clv_training *training, double share)
{
    const double *p = training->parameters;
    if (share > 1 - 1e-6 && !is_raw(p) && p[RADIUS] == parameters[RADIUS].value)
        report_message(
            training->progress, CLV_NOTE,
            "l1m3n: the weights fill the ball of the usual --radius, %g; --cv 5 chooses one by held-out loss",
            p[RADIUS]);
}

static double share_of(const double *w, size_t size, double radius)
{
    double sum = 0;
    for (size_t k = 0; k < size; k++)
        sum += fabs(w[k]);
    return sum / radius;
}

static enum clv_status train(struct clv_training_result *result, const struct clv_training *training,
                             struct clv_error *err)
{
    const double *p = training->parameters;
    OWNED(examples_release) struct examples examples = {0};
    MUST(examples_open(&examples, training, true, err));
    double radius = radius_of(&examples, p), share = 0;
    bool is_published = p[PAPER] >= 1;
    if (p[SOLVER] == LP && !is_published) {
        MUST(train_by_programs(result, &examples, radius, p, err));
        share = share_of(result->w, clv_shape_size(&examples.shape), radius);
    } else {
        const struct descent_rules rules = {.rate = is_published ? 1 / (2 * p[BETA]) : p[RATE] * radius,
                                            .radius = radius,
                                            .step = is_published ? DESCENT_ROOT : DESCENT_ADAPTIVE,
                                            .ball = DESCENT_L1,
                                            .passes = (size_t)p[PASSES],
                                            .unit = (double)examples.n,
                                            .averaging = p[AVERAGING] != 0 && !is_published,
                                            .share = &share};
        MUST(descent_train(result, &examples, &rules, err));
    }
    if (!result->interrupted)
        tell_of_ball(training, share);
    return CLV_OK;
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
