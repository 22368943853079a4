/* The max-margin Markov network on an L1 ball (Zhu and Xing 2009, appendix A, eq. 15):
 *
 *     min_w  sum_i xi_i   subject to  |w|_1 <= radius,   xi_i = max_y L_i(y) + f_i(y) - f_i(y_i)
 *
 * by online subgradient steps, each projected onto the ball (descent.c, l1_ball.c). The step size is rate radius /
 * sqrt(sum of all |subgradient|^2 so far), which suits any units.
 *
 * A relative radius is r n_weights n_examples max_y L(y) / s: w has n_weights entries and is a sum over examples, and
 * for scores as large as losses its entries must be about max_y L(y) / s (examples_open). */
#include <math.h>

#include "base/base.h"
#include "learn/common/common.h"
#include "learn/margin/margin.h"

enum { RADIUS, RATE, PASSES, AVERAGING, UNITS, PAPER, BETA };

static const struct clv_parameter parameters[] = {
    [RADIUS] = {"radius", 0.005, 1e-12, 1e12,
                "most sum of the weights' magnitudes; relative: a weight's for each example, on the mean",
                .role = CLV_ROLE_REGULARISATION},
    [RATE] = {"rate", 0.2, 1e-6, 1e6, "of the subgradient's steps", .role = CLV_ROLE_RATE,
              .needs = {NEEDS(PAPER, OFF)}},
    [PASSES] = {"passes", 100, 1, 1e6, "passes over the examples", .role = CLV_ROLE_PASSES},
    [AVERAGING] = {"averaging", 1, 0, 1, "1: the weighted mean of the iterates; 0: the last one",
                   .published = {true, 0}},
    [UNITS] = {"units", UNITS_RELATIVE, 0, UNITS_RAW,
               "of radius: relative to examples, weights, largest loss and the size of the features, or raw",
               .choices = weight_units, .published = {true, UNITS_RAW}},
    [PAPER] =
        {"paper", 0, 0, 1,
         "1: as Zhu and Xing (2009, section 7.2) train it: online steps of 1 / (2 beta sqrt(t)), --units raw, the "
         "last iterate",
         .role = CLV_ROLE_PAPER, .needs = {{CLV_NEEDS_MASKS}}},
    [BETA] = {"beta", 4, 1e-12, 1e12, "of the published steps", .needs = {NEEDS(PAPER, ON)}},
    {0},
};

static bool is_raw(const struct clv_training *training)
{
    return learner_setting(&l1m3n_learner, training, UNITS) == UNITS_RAW;
}

static double radius_of(const struct examples *examples)
{
    const double *p = examples->training->parameters;
    if (is_raw(examples->training))
        return p[RADIUS];
    double per_weight = p[RADIUS] * (double)examples->n * examples->most_loss / sqrt(examples->scale);
    return per_weight * (double)clv_weight_layout_size(&examples->layout);
}

/* Reports that the ball of the default radius constrains the weights. */
static void report_full_ball(const struct clv_training *training, double share)
{
    const double *p = training->parameters;
    if (share > 1 - 1e-6 && !is_raw(training) && p[RADIUS] == parameters[RADIUS].value)
        report_message(
            training->progress, CLV_NOTE,
            "l1m3n: the weights fill the ball of the usual --radius, %g; --cv 5 chooses one by held-out loss",
            p[RADIUS]);
}

static enum clv_status train(struct clv_training_result *result, const struct clv_training *training,
                             struct clv_error *err)
{
    const double *p = training->parameters;
    OWNED(examples_release) struct examples examples = {0};
    MUST(examples_open(&examples, training, true, err));
    double radius = radius_of(&examples), share = 0;
    bool is_published = learner_is_published(&l1m3n_learner, training);
    const struct descent_rules rules = {.rate = is_published ? 1 / (2 * p[BETA]) : p[RATE] * radius,
                                        .radius = radius,
                                        .step = is_published ? DESCENT_ROOT : DESCENT_ADAPTIVE,
                                        .ball = DESCENT_L1,
                                        .passes = (size_t)p[PASSES],
                                        .unit = (double)examples.n,
                                        .averaging = learner_setting(&l1m3n_learner, training, AVERAGING) != 0,
                                        .share = &share};
    MUST(descent_train(result, &l1m3n_learner, &examples, &rules, err));
    if (!result->interrupted)
        report_full_ball(training, share);
    return CLV_OK;
}

const struct clv_learner l1m3n_learner = {
    .name = "l1m3n",
    .summary = "max-margin Markov network on an L1 ball (Zhu and Xing 2009, appendix A; Duchi et al. 2008)",
    .parameters = parameters,
    .takes_init = true,
    .n_vectors = 6,
    .train = train,
    .trains = CLV_TRAINS_CUTS | CLV_TRAINS_FULL_CHAINS,
};
