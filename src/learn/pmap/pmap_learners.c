/* The three perturb-and-MAP learners: their names, their parameters, and the objective that each maximises. */
#include "learn/pmap/pmap.h"

#include <math.h>

#include "learn/common/common.h"

/* paper 1 is the source's Algorithms 1 to 4 with its section on partial labels, without departures. */
#define SHARED_PARAMETERS                                                                                              \
    [PMAP_LAMBDA] = ROW("lambda", 1e-5, 1e-12, 1e12, "regularisation, relative to the size of the features",           \
                        .role = CLV_ROLE_LAMBDA_OF_MEAN),                                                              \
    [PMAP_PASSES] = ROW("passes", 100, 1, 1e9, "passes over the examples", .role = CLV_ROLE_PASSES),                   \
    [PMAP_BATCH] = ROW("batch", 1, 1, 65536, "examples in a step, drawn in parallel", .role = CLV_ROLE_BATCH),         \
    [PMAP_STEP] =                                                                                                      \
        ROW("step", 1, 0, 1, "1: AdaGrad's; 0: 1 / (lambda h) in step h, as published", .published = {true, 0}),       \
    [PMAP_RATE] = ROW("rate", 0.3, 1e-9, 1e9, "size of AdaGrad's first step, relative to the size of the features",    \
                      .role = CLV_ROLE_RATE, .needs = {NEEDS(PMAP_STEP, ON)}),                                         \
    [PMAP_AVERAGING] =                                                                                                 \
        ROW("averaging", 1, 0, 1, "1: the weighted mean of the iterates; 0: the last one", .published = {true, 0}),    \
    [PMAP_TABLE_VARIANCE] = TABLE_VARIANCE_PARAMETER,                                                                  \
    [PMAP_KAPPA] = ROW("kappa", 1, 0, 1e6, "weight of an image without a mask against one with",                       \
                       .role = CLV_ROLE_KAPPA, .needs = {{CLV_NEEDS_MIXTURE}}),                                        \
    [PMAP_ROUNDS] = ROW("rounds", 1, 1, 1000, "times that images without masks are labelled and learned from",         \
                        .needs = {{CLV_NEEDS_MIXTURE}}),                                                               \
    [PMAP_CONDITIONAL] = ROW("conditional", 0, 0, 1,                                                                   \
                             "of images with boxes 1: the likelihood given what is outside them; 0: of all labels",    \
                             .needs = {{CLV_NEEDS_GIVEN}, {CLV_NEEDS_MIXTURE}}, .published = {true, 1}),               \
    [PMAP_PAPER] = ROW("paper", 0, 0, 1,                                                                               \
                       "1: the source's algorithm: --step 0, --averaging 0, --conditional 1, marginals by no power, "  \
                       "areas as their sums and not agreeing with the weights, and images with boxes labelled by the " \
                       "model of the masks, not by a teacher that sees boxes' cuts",                                   \
                       .role = CLV_ROLE_PAPER, .needs = {{CLV_NEEDS_MASKS}})

static const struct clv_parameter joint_parameters[] = {
    SHARED_PARAMETERS,
    [PMAP_DRAWS] = {0},
};

#define MARGINAL_PARAMETERS(sharpness_needs)                                                                           \
    SHARED_PARAMETERS,                                                                                                 \
        [PMAP_DRAWS] = ROW("samples", 100, 1, 1e6, "samples for the marginals of an image without a mask",             \
                           .role = CLV_ROLE_DRAWS, .needs = {{CLV_NEEDS_WEAK}}),                                       \
        [PMAP_SHARPNESS] = ROW("sharpness", 3, 1, 100, "power of those marginals; 1: as published",                    \
                               .role = CLV_ROLE_SHARPNESS, .needs = {{sharpness_needs}}, .published = {true, 1}),      \
        [PMAP_REDUCTION] =                                                                                             \
            ROW("reduction", 1, 0, 1, "0: find every node's clamped labelling, even where it is known beforehand"),    \
        [PMAP_DYNAMIC] = ROW("dynamic", 1, 0, 1, "0: solve again for each clamped labelling, not from the solution")

/* Without any mask, mpmap takes the likeliest labels for masks, which no power of marginals changes. */
static const struct clv_parameter marginal_parameters[] = {MARGINAL_PARAMETERS(CLV_NEEDS_MIXTURE), {0}};
static const struct clv_parameter weighted_parameters[] = {MARGINAL_PARAMETERS(CLV_NEEDS_WEAK), {0}};

static enum clv_status train_joint(struct clv_training_result *result, const struct clv_training *training,
                                   struct clv_error *err)
{
    return pmap_train(result, training, &pmap_learner, PMAP_JOINT, err);
}

static enum clv_status train_marginal(struct clv_training_result *result, const struct clv_training *training,
                                      struct clv_error *err)
{
    return pmap_train(result, training, &mpmap_learner, PMAP_MARGINAL, err);
}

static enum clv_status train_weighted(struct clv_training_result *result, const struct clv_training *training,
                                      struct clv_error *err)
{
    return pmap_train(result, training, &wmpmap_learner, PMAP_WEIGHTED, err);
}

/* A gradient for each example of a batch. */
static double bytes(const struct clv_training *training)
{
    double n_all = (double)training->n_examples + (double)training->n_weak;
    double gradients =
        fmin(training->parameters[PMAP_BATCH], n_all) * (double)clv_weight_layout_size(&training->layout);
    return gradients * (double)sizeof(double);
}

/* Besides, what the labels of each node count for, which is not the loss. */
static double marginal_bytes(const struct clv_training *training)
{
    double weights = training_n_nodes(training) * (double)training->layout.n_labels;
    return bytes(training) + weights * (double)sizeof(float);
}

/* The fields that the three share. */
#define LEARNER(NAME, SUMMARY, PARAMETERS, TRAIN, BYTES, SCORES)                                                       \
    {                                                                                                                  \
        .name = (NAME), .summary = (SUMMARY), .parameters = (PARAMETERS), .takes_init = true, .train = (TRAIN),        \
        .n_vectors = 6, .bytes = (BYTES), .trains = CLV_TRAINS_CUTS | CLV_TRAINS_FULL_CHAINS, .scores = (SCORES),      \
    }

const struct clv_learner pmap_learner =
    LEARNER("pmap", "perturb-and-MAP likelihood of whole labellings (Hazan and Jaakkola 2012; Shpakova et al. 2018)",
            joint_parameters, train_joint, bytes, CLV_SCORES_LIKELIHOOD);

const struct clv_learner mpmap_learner =
    LEARNER("mpmap", "perturb-and-MAP likelihood of each node's label (Shpakova et al. 2018)", marginal_parameters,
            train_marginal, marginal_bytes, CLV_SCORES_LIKELIHOOD);

const struct clv_learner wmpmap_learner =
    LEARNER("wmpmap", "the same, weighed as the loss weighs (Shpakova et al. 2018)", weighted_parameters,
            train_weighted, bytes, CLV_SCORES_WEIGHTED_LIKELIHOOD);
