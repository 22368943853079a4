/* The Laplace maximum entropy discrimination Markov network by Algorithm 1 of Zhu and Xing (JMLR 2009): rounds of
 *
 *     step 1   min_mu  1/2 <mu, Sigma^-1 mu> + C sum_i xi_i                  (11), whose dual is (10): an M3N, bcfw.c
 *     step 2   Sigma = diag sqrt((Sigma_kk + mu_k^2) / lambda)               (12)
 *
 * from Sigma = I or, given first weights, from the Sigma at which rounds with this mu would end. Each round starts from
 * the dual distributions of the previous one. Prediction is by the averaged model h1 (2), whose scores are linear in w,
 * hence by mu.
 *
 * At its best variances, the bound L(p, q) that the rounds minimise is a sum over weights of KL(2 mu_k) / 2 up to a
 * constant (laplace.c). This is convex, so the rounds have one minimum, with the dual
 *
 *     max_alpha  sum_i sum_y alpha_i(y) L_i(y) - 1/2 sum_k log(lambda / (lambda - eta_k^2))
 *
 * whose last sum is half of Theorem 5's. The exact posterior of Corollaries 6 and 7 has the whole sum; the same rounds
 * with Sigma = diag(mu_k / eta_k) in step 2 find it. So both have a duality gap, at eta = v of bcfw.c scaled to |eta_k|
 * < sqrt(lambda). */
#include <math.h>

#include "base/base.h"
#include "learn/common/common.h"
#include "learn/margin/margin.h"

enum { LAMBDA, C, ROUNDS, UPDATE, PASSES, GAP, AVERAGING, UNITS, BATCH, PAPER };
enum { VARIATIONAL, EXACT };
static const char *const updates[] = {[VARIATIONAL] = "variational", [EXACT] = "exact", NULL};

static const struct clv_parameter parameters[] = {
    [LAMBDA] = {"lambda", 1, 1e-12, 1e15, "of the Laplace prior exp(-sqrt(lambda) |w|)",
                .role = CLV_ROLE_REGULARISATION},
    [C] = {"C", 200, 1e-12, 1e12, "weight of the slacks"},
    [ROUNDS] = {"rounds", 10, 1, 1e4, "most rounds of variances and weights"},
    [UPDATE] = {"update", VARIATIONAL, 0, EXACT, "of variances: the variational bound's, or the exact posterior's",
                .choices = updates, .published = {true, VARIATIONAL}},
    [PASSES] = {"passes", 50, 1, 1e6, "most passes over the examples in a round", .role = CLV_ROLE_PASSES},
    [GAP] = {"gap", 0.02, 0, 1, "end a round once (objective - dual) / objective is this small", .role = CLV_ROLE_GAP},
    [AVERAGING] = {"averaging", 1, 0, 1, "1: also try the weighted average of the iterates, keep the better"},
    [UNITS] =
        {"units", UNITS_RELATIVE, 0, UNITS_RAW,
         "of C, lambda and weights: C against the largest loss, the others against the size of the features, or raw",
         .choices = weight_units, .published = {true, UNITS_RAW}},
    [BATCH] = BCFW_BATCH_PARAMETER({CLV_NEEDS_NOTHING}),
    [PAPER] = {"paper", 0, 0, 1,
               "1: Zhu and Xing's Algorithm 1 (2009): --units raw, --update variational. Step 1 is solved by its dual; "
               "they leave open by what",
               .role = CLV_ROLE_PAPER, .needs = {{CLV_NEEDS_MASKS}}},
    {0},
};

static double units_of(const struct clv_training *training)
{
    return learner_setting(&lapmedn_learner, training, UNITS);
}

struct lapmedn {
    const struct clv_training *training;
    struct bcfw bcfw;
    size_t size;
    double lambda, C; /* for unscaled weights; lambda has the unit of w^-2 */
    bool is_exact;
    double *variance; /* [size] Sigma_kk of the round */
    int64_t round;    /* from 1 */
};

/* Returns the regulariser at the round's mean and variances: L(p, q), or KL(p || p0). */
static double regulariser(const struct lapmedn *self, const double *mean)
{
    double sum = 0;
    for (size_t k = 0; k < self->size; k++)
        sum += self->is_exact ? laplace_kl(mean[k], self->lambda)
                              : laplace_bound(mean[k], self->variance[k], self->lambda);
    return sum;
}

/* Returns eta_k of the dual. The multiplier of a coupling makes a negative eta_k 0. */
static double eta_of(const struct lapmedn *self, size_t k)
{
    double v = self->bcfw.dual.v[k];
    return k >= self->bcfw.dual.free_size && v < 0 ? 0 : v;
}

/* Computes the dual at t alpha + (1 - t) truth, and its slope in t. */
static double dual_at(double *slope, const struct lapmedn *self, double t)
{
    const struct bcfw *bcfw = &self->bcfw;
    double share = self->is_exact ? 1 : 0.5, n = (double)bcfw->n;
    double at_truth = mean_of(bcfw->examples.truth_loss, bcfw->n), rise = bcfw->dual.loss - at_truth;
    double value = self->C * n * (at_truth + t * rise);
    *slope = self->C * n * rise;
    for (size_t k = 0; k < self->size; k++) {
        double eta = eta_of(self, k);
        value -= share * laplace_conjugate(t * eta, self->lambda);
        *slope -= share * laplace_mean(t * eta, self->lambda) * eta;
    }
    return value + (self->is_exact ? 0 : laplace_bound_floor() * (double)self->size);
}

/* Returns the largest dual over t, a lower bound of the objective. The dual is concave in t, and finite up to
 * sqrt(lambda) / max |eta_k|. */
static double dual_bound(const struct lapmedn *self)
{
    double most = 0, slope;
    for (size_t k = 0; k < self->size; k++)
        most = fmax(most, fabs(eta_of(self, k)));
    double low = 0, high = most > 0 ? fmin(1, sqrt(self->lambda) / most) : 1;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        dual_at(&slope, self, middle);
        if (slope > 0)
            low = middle;
        else
            high = middle;
    }
    return dual_at(&slope, self, low);
}

/* Step 2. */
static void update_variance(struct lapmedn *self, const double *mean)
{
    for (size_t k = 0; k < self->size; k++)
        self->variance[k] = self->is_exact ? laplace_exact_scale(mean[k], self->lambda)
                                           : laplace_variational_scale(mean[k], self->variance[k], self->lambda);
}

/* Returns the variance at which rounds with this mean end. */
static double settled(const struct lapmedn *self, double mean)
{
    return self->is_exact ? laplace_exact_scale(mean, self->lambda) : laplace_settled_scale(mean, self->lambda);
}

static enum clv_status lapmedn_open(struct lapmedn *self, const struct clv_training *training,
                                    struct clv_training_result *result, struct clv_error *err)
{
    const double *p = training->parameters;
    const struct bcfw_rules rules = {.passes = (size_t)p[PASSES],
                                     .batch = (size_t)p[BATCH],
                                     .gap = p[GAP],
                                     .averaging = p[AVERAGING] != 0,
                                     .sampling = true,
                                     .keeps_support = true,
                                     .start = training->init};
    *self = (struct lapmedn){.training = training,
                             .is_exact = learner_setting(&lapmedn_learner, training, UPDATE) == EXACT};
    MUST(bcfw_open(&self->bcfw, &lapmedn_learner, result, training, &rules, err));
    double squares = examples_squared_unit(&self->bcfw.examples, units_of(training));
    self->size = self->bcfw.size;
    self->C = p[C] / (units_of(training) == UNITS_RELATIVE ? self->bcfw.examples.most_loss : 1);
    self->lambda = p[LAMBDA] * squares;
    self->bcfw.dual.lambda = 1 / (self->C * (double)self->bcfw.n);
    self->variance = array_alloc(self->size, sizeof *self->variance);
    NEED(self->variance);
    for (size_t k = 0; k < self->size; k++)
        self->variance[k] = training->init ? settled(self, training->init[k]) : 1 / squares;
    struct course *course = &self->bcfw.course;
    course->n_passes = (size_t)p[ROUNDS];
    course_holds(course, (struct state_field){"round", CLV_I64, 1, &self->round, STATE_FINITE});
    course_holds(course, (struct state_field){"variance", CLV_F64, self->size, self->variance, STATE_NOT_NEGATIVE});
    return CLV_OK;
}

/* Adds a round's point to the curve. *gap is the duality gap relative to the objective above its floor. */
static enum clv_status add_point(double *gap, struct lapmedn *self, struct clv_error *err)
{
    const struct bcfw *bcfw = &self->bcfw;
    struct course *course = &self->bcfw.course;
    double floor = self->is_exact ? 0 : laplace_bound_floor() * (double)self->size;
    double objective = regulariser(self, bcfw->best) + self->C * (double)bcfw->n * bcfw->best_hinge;
    double dual = fmin(dual_bound(self), objective);
    course->result->at_zero = floor + self->C * (double)bcfw->n * bcfw->examples.most_loss;
    *gap = (objective - dual) / fmax(objective - floor, 1e-300);
    course->pass = (size_t)self->round;
    return course_add_point(course, (struct clv_curve_point){bcfw->n_passes, objective, dual, NAN}, "", bcfw->best,
                            err);
}

/* Resumes from a checkpoint if there is one, otherwise begins the first round. */
static enum clv_status begin(struct lapmedn *self, struct clv_error *err)
{
    bool resumed;
    self->round = 1;
    MUST(bcfw_resume(&resumed, &self->bcfw, err));
    if (!resumed) {
        bcfw_set_variance(&self->bcfw, self->variance);
        return CLV_OK;
    }
    if (self->round < 1 || self->round > (int64_t)self->training->parameters[ROUNDS])
        return state_refuse(&self->bcfw.course.checkpoints, "in a round that there is not", err);
    bcfw_put_variance(&self->bcfw, self->variance);
    return CLV_OK;
}

/* Runs the rounds. At the end self->variance is that of step 1 of the last round. */
static enum clv_status run_rounds(struct lapmedn *self, struct clv_error *err)
{
    size_t n_rounds = (size_t)self->training->parameters[ROUNDS];
    MUST(begin(self, err));
    for (;;) {
        MUST(bcfw_solve(&self->bcfw, err));
        if (self->bcfw.course.stopped)
            return CLV_OK;
        double gap;
        MUST(add_point(&gap, self, err));
        if ((size_t)self->round == n_rounds || gap <= self->training->parameters[GAP])
            return CLV_OK;
        update_variance(self, self->bcfw.best);
        bcfw_set_variance(&self->bcfw, self->variance);
        self->round++;
    }
}

/* Sets the variances of the posterior and adds notes: KL(p || p0), the KL-norm of Corollary 6, the support. */
static enum clv_status set_posterior(struct lapmedn *self, struct clv_training_result *result, struct clv_error *err)
{
    const double *mean = self->bcfw.best;
    double kl = 0;
    for (size_t k = 0; k < self->size; k++) {
        kl += laplace_kl(mean[k], self->lambda);
        if (self->is_exact)
            self->variance[k] = laplace_variance(mean[k], self->lambda);
    }
    double unit = sqrt(examples_squared_unit(&self->bcfw.examples, units_of(self->training)));
    result_note(result, "kl", kl);
    result_note(result, "kl_norm", unit * (kl + (double)self->size) / sqrt(self->lambda));
    result_note(result, "support_labellings", (double)bcfw_n_support(&self->bcfw));
    return result_set_variance(result, &self->bcfw.examples, self->variance, err);
}

static void lapmedn_release(struct lapmedn *self)
{
    bcfw_release(&self->bcfw);
    array_free(self->variance);
}

/* `paper` has no effect if the other parameters already have the values that it sets. */
static const char *unused_reason(const struct clv_training *training, int parameter)
{
    const double *p = training->parameters;
    return parameter == PAPER && training->dataset && !training->privileged && p[UNITS] == UNITS_RAW &&
                   p[UPDATE] == VARIATIONAL
               ? "--units is raw and --update variational"
               : NULL;
}

static double bytes(const struct clv_training *training)
{
    return bcfw_bytes(training, training->parameters[BATCH]);
}

static enum clv_status train(struct clv_training_result *result, const struct clv_training *training,
                             struct clv_error *err)
{
    OWNED(lapmedn_release) struct lapmedn self = {0};
    MUST(lapmedn_open(&self, training, result, err));
    MUST(run_rounds(&self, err));
    MUST(course_end(&self.bcfw.course, self.bcfw.best, err));
    return set_posterior(&self, result, err);
}

const struct clv_learner lapmedn_learner = {
    .name = "lapmedn",
    .summary = "Laplace maximum entropy discrimination Markov network: a sparse M3N (Zhu and Xing 2009, Algorithm 1)",
    .parameters = parameters,
    .takes_init = true,
    .n_vectors = BCFW_VECTORS + 3,
    .bytes = bytes,
    .train = train,
    .unused_reason = unused_reason,
    .trains = CLV_TRAINS_CUTS | CLV_TRAINS_FULL_CHAINS,
};
