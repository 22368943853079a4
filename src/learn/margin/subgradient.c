/* The objective of ssvm.c by projected stochastic subgradient descent with Pegasos's steps (descent.c). The margin is
 * the loss. With a constant margin, as in a chapter on structured prediction (2014), the hinge would be [max_y f(y) -
 * f(y_i) + 1]_+ over all y including y_i. It is never below 1, its value at w = 0, so its minimisation would learn
 * nothing; its update is that of the perceptron. */
#include "base/base.h"
#include "learn/common/common.h"
#include "learn/margin/margin.h"

enum { LAMBDA, PASSES, AVERAGING };

static const struct clv_parameter parameters[] = {
    [LAMBDA] = {"lambda", 1e-5, 1e-12, 1e12, "regularisation, relative to the size of the features",
                .role = CLV_ROLE_LAMBDA_OF_MEAN},
    [PASSES] = {"passes", 100, 1, 1e6, "passes over the examples", .role = CLV_ROLE_PASSES},
    [AVERAGING] = {"averaging", 1, 0, 1, "1: the weighted mean of the iterates; 0: the last one"},
    {0},
};

static enum clv_status train(struct clv_training_result *result, const struct clv_training *training,
                             struct clv_error *err)
{
    const double *p = training->parameters;
    OWNED(examples_release) struct examples examples = {0};
    MUST(examples_open(&examples, training, true, err));
    const struct descent_rules rules = {.ridge = p[LAMBDA] * examples.scale,
                                        .step = DESCENT_PEGASOS,
                                        .ball = DESCENT_L2,
                                        .passes = (size_t)p[PASSES],
                                        .unit = 1,
                                        .averaging = p[AVERAGING] != 0};
    return descent_train(result, &subgradient_learner, &examples, &rules, err);
}

const struct clv_learner subgradient_learner = {
    .name = "subgradient",
    .summary = "structured hinge by projected stochastic subgradient (Ratliff et al. 2007; Shalev-Shwartz et al. 2007)",
    .parameters = parameters,
    .takes_init = true,
    .n_vectors = 4,
    .train = train,
    .trains = CLV_TRAINS_CUTS | CLV_TRAINS_FULL_CHAINS,
};
