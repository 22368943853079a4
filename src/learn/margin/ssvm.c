/* The structured SVM by block-coordinate Frank-Wolfe.
 *
 *     min_w  lambda/2 <w, S^-1 w> + (1/n) sum_i H_i(w),  couplings >= 0,   H_i(w) = max_y L_i(y) + f_i(y) - f_i(y_i)
 *
 * with S = I except for full tables (examples.c).
 *
 * Lacoste-Julien, Jaggi, Schmidt, Pletscher: Block-coordinate Frank-Wolfe optimization for structural SVMs (ICML 2013),
 * Algorithm 4 with exact line search and weighted averaging; Osokin, Alayrac, Lukasewitz, Dokania, Lacoste-Julien:
 * Minding the gaps for block Frank-Wolfe optimization of structured SVMs (ICML 2016), gap sampling. */
#include "base/base.h"
#include "learn/common/common.h"
#include "learn/margin/margin.h"

enum { LAMBDA, PASSES, GAP, AVERAGING, SAMPLING, TABLE_VARIANCE, BATCH, PAPER };

static const struct clv_parameter parameters[] = {
    [LAMBDA] = {"lambda", 1e-5, 1e-12, 1e12, "regularisation, relative to the size of the features",
                .role = CLV_ROLE_LAMBDA_OF_MEAN},
    [PASSES] = {"passes", 200, 1, 1e6, "most passes over the examples", .role = CLV_ROLE_PASSES},
    [GAP] = {"gap", 0.02, 0, 1, "stop once (objective - dual) / objective is this small", .role = CLV_ROLE_GAP},
    [AVERAGING] = {"averaging", 1, 0, 1, "1: also try the weighted average of the iterates, keep the better"},
    [SAMPLING] = {"sampling", 1, 0, 1, "1: draw examples by their duality gaps; 0: in random order"},
    [TABLE_VARIANCE] = TABLE_VARIANCE_PARAMETER,
    [BATCH] = BCFW_BATCH_PARAMETER({CLV_NEEDS_NOTHING}),
    [PAPER] =
        {"paper", 0, 0, 1,
         "1: images with boxes are labelled by the model of the masks, as Shpakova et al. (2018) have it, not by a "
         "teacher that sees boxes' cuts",
         .role = CLV_ROLE_PAPER, .needs = {{CLV_NEEDS_MIXTURE}, {CLV_NEEDS_PRIVILEGED}}},
    {0},
};

/* Sets *variance to S of bcfw.c, which the caller frees. It stays NULL if S is the identity. */
static enum clv_status set_variance(double **variance, struct bcfw *self, double wanted, struct clv_error *err)
{
    double tables = examples_table_variance(&self->examples, wanted);
    if (tables == 1)
        return CLV_OK;
    *variance = array_alloc(self->size, sizeof **variance);
    NEED(*variance);
    for (size_t k = 0; k < self->size; k++)
        (*variance)[k] = k < self->unary_size ? 1 : tables;
    bcfw_set_variance(self, *variance);
    return CLV_OK;
}

static double bytes(const struct clv_training *training)
{
    return bcfw_bytes(training, training->parameters[BATCH]);
}

static enum clv_status train(struct clv_training_result *result, const struct clv_training *training,
                             struct clv_error *err)
{
    const double *p = training->parameters;
    const struct bcfw_rules rules = {.passes = (size_t)p[PASSES],
                                     .batch = (size_t)p[BATCH],
                                     .gap = p[GAP],
                                     .unit = 1,
                                     .averaging = p[AVERAGING] != 0,
                                     .sampling = p[SAMPLING] != 0,
                                     .start = training->init};
    bool resumed;
    OWNED_ARRAY double *variance = NULL;
    OWNED(bcfw_release) struct bcfw self = {0};
    MUST(bcfw_open(&self, &ssvm_learner, result, training, &rules, err));
    self.dual.lambda = p[LAMBDA] * self.examples.scale;
    MUST(set_variance(&variance, &self, p[TABLE_VARIANCE], err));
    MUST(bcfw_resume(&resumed, &self, err));
    if (resumed)
        bcfw_put_variance(&self, variance);
    MUST(bcfw_solve(&self, err));
    return course_end(&self.course, bcfw_weights(&self), err);
}

const struct clv_learner ssvm_learner = {
    .name = "ssvm",
    .summary = "structured SVM by block-coordinate Frank-Wolfe (Lacoste-Julien et al. 2013; Osokin et al. 2016)",
    .parameters = parameters,
    .takes_init = true,
    .n_vectors = BCFW_VECTORS + 2,
    .train = train,
    .bytes = bytes,
    .trains = CLV_TRAINS_CUTS | CLV_TRAINS_FULL_CHAINS,
};
