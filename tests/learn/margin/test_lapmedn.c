#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learn/hidden/discrimination.h"
#include "learn/slow_steps.h"

/* One weight. */

/* Moments of p(w), proportional to exp(-sqrt(lambda) |w| + eta w), by quadrature. */
static void integrate(double *kl, double *mean, double *variance, double eta, double lambda)
{
    double root = sqrt(lambda), most = 60 / (root - fabs(eta)), sum = 0, first = 0, second = 0;
    int n = 100000;
    for (int i = 0; i < n; i++) {
        double w = most * (2 * (i + 0.5) / n - 1), p = exp(-root * fabs(w) + eta * w);
        sum += p;
        first += p * w;
        second += p * w * w;
    }
    double log_ratio = -log(sum * 2 * most / n * root / 2); /* p / p0 = exp(eta w + log_ratio) */
    *mean = first / sum;
    *variance = second / sum - *mean * *mean;
    *kl = eta * *mean + log_ratio;
}

TEST(exact_posterior_is_the_integrals)
{
    static const double lambdas[] = {0.5, 4, 300};
    for (size_t l = 0; l < 3; l++)
        for (double share = -0.9; share < 0.95; share += 0.3) {
            double lambda = lambdas[l], eta = share * sqrt(lambda), kl, mean, variance;
            integrate(&kl, &mean, &variance, eta, lambda);
            ck_assert_double_eq_tol(laplace_mean(eta, lambda), mean, 1e-5 * fabs(mean) + 1e-9);
            ck_assert_double_eq_tol(laplace_eta(mean, lambda), eta, 1e-5 * fabs(eta) + 1e-9);
            ck_assert_double_eq_tol(laplace_variance(mean, lambda), variance, 1e-4 * variance);
            ck_assert_double_eq_tol(laplace_kl(mean, lambda), kl, 1e-4 * kl + 1e-7);
            ck_assert_double_eq_tol(laplace_kl(mean, lambda) + laplace_conjugate(eta, lambda), mean * eta,
                                    1e-4 * mean * eta + 1e-9); /* Fenchel's equality */
        }
}

TEST(rounds_minimise_upper_bounds_that_touch)
{
    for (uint64_t seed = 0; seed < 500; seed++) {
        double lambda = exp(3 * rng_normal(seed, RNG_TEST, 0)), mean = rng_normal(seed, RNG_TEST, 1);
        double other = rng_normal(seed, RNG_TEST, 2), variance = exp(2 * rng_normal(seed, RNG_TEST, 3));
        double scale = laplace_exact_scale(mean, lambda);
        ck_assert_double_eq_tol(scale * laplace_eta(mean, lambda), mean, 1e-12);
        ck_assert_double_ge(laplace_kl(mean, lambda) + (other * other - mean * mean) / (2 * scale),
                            laplace_kl(other, lambda) - 1e-12);
        double bound = laplace_bound(mean, variance, lambda);
        double floor = laplace_bound_floor() + laplace_kl(2 * mean, lambda) / 2;
        ck_assert_double_ge(bound, laplace_kl(mean, lambda) - 1e-12);
        ck_assert_double_ge(bound, floor - 1e-12);
        for (int i = 0; i < 2000; i++)
            variance = laplace_variational_scale(mean, variance, lambda);
        ck_assert_double_eq_tol(variance, laplace_settled_scale(mean, lambda), 1e-6 * variance);
        ck_assert_double_eq_tol(laplace_bound(mean, variance, lambda), floor, 1e-9);
        double eta = mean / variance; /* Sigma eta = mean: half of Corollary 7's mean */
        ck_assert_double_eq_tol(mean, laplace_mean(eta, lambda) / 2, 1e-6 * fabs(mean));
    }
}

TEST(kl_norm_nears_the_l1_norm)
{
    double before = INFINITY;
    for (double lambda = 10; lambda < 1e13; lambda *= 100) {
        double norm = (laplace_kl(0.7, lambda) + 1) / sqrt(lambda); /* Corollary 6's summand */
        ck_assert_double_lt(fabs(norm - 0.7), before);
        before = fabs(norm - 0.7);
    }
    ck_assert_double_lt(before, 1e-4);
}

/* All weights. */

static struct clv_training_result learn(const struct toy *toy, const char *learner, double C, double lambda, int update,
                                        double gap)
{
    struct clv_training training = toy_training(toy, learner);
    bool is_laplace = strcmp(learner, "lapmedn") == 0;
    set(&training, learner, "units", 1);
    set(&training, learner, "C", C);
    set(&training, learner, "gap", gap);
    set(&training, learner, "passes", is_laplace ? 300 : 100000);
    if (is_laplace) {
        set(&training, learner, "rounds", 100);
        set(&training, learner, "lambda", lambda);
        set(&training, learner, "update", update);
    }
    return run(learner, &training);
}

/* Theorem 3 and Corollary 4: with a standard normal prior the posterior mean is M3N's w. */
TEST(gaussian_medn_is_m3n)
{
    static struct discrimination medn;
    for (uint64_t seed = 1; seed < 3; seed++) {
        OWNED(toy_release) struct toy toy = {0};
        toy_chains(&toy, 4, &chain_shape, seed);
        medn = (struct discrimination){.toy = &toy, .prior = PRIOR_GAUSS, .C = 0.3};
        double dual = discriminate(&medn, 1e-10), squares = 0;
        OWNED(clv_training_result_release) struct clv_training_result m3n = learn(&toy, "m3n", 0.3, 0, 0, 5e-7);
        double objective = m3n.curve[m3n.n_curve - 1].objective;
        ck_assert_double_eq_tol(objective, dual, 1e-6 * dual);
        for (size_t k = 0; k < CHAIN_SIZE; k++)
            squares += (m3n.w[k] - medn.eta[k]) * (m3n.w[k] - medn.eta[k]);
        ck_assert_double_le(squares / 2, objective - dual + 1e-9); /* strong convexity */
    }
}

static double kl_objective(const struct discrimination *medn, const double *w)
{
    double value = medn->C * sum_of_slacks(medn, w);
    for (size_t k = 0; k < CHAIN_SIZE; k++)
        value += medn->prior == PRIOR_LAPLACE ? laplace_kl(w[k], medn->lambda) : laplace_kl(2 * w[k], medn->lambda) / 2;
    return value;
}

TEST(corollaries_6_and_7_hold_at_the_solution)
{
    static struct discrimination medn;
    static const double lambdas[] = {2, 40};
    for (int update = 0; update < 2; update++)
        for (uint64_t seed = 1; seed < 4; seed++) {
            OWNED(toy_release) struct toy toy = {0};
            toy_chains(&toy, 6, &chain_shape, seed);
            medn = (struct discrimination){.toy = &toy,
                                           .prior = update ? PRIOR_LAPLACE : PRIOR_LAPLACE_BOUND,
                                           .C = 2,
                                           .lambda = lambdas[seed % 2]};
            double dual = discriminate(&medn, 1e-9), mean[CHAIN_SIZE];
            OWNED(clv_training_result_release) struct clv_training_result learnt =
                learn(&toy, "lapmedn", 2, medn.lambda, update, 1e-5);
            for (size_t k = 0; k < CHAIN_SIZE; k++) /* Corollary 7 (half of it for the bound) */
                mean[k] = mean_at(&medn, medn.eta[k]);
            ck_assert_double_eq_tol(kl_objective(&medn, mean), dual, 1e-6 * dual); /* strong duality: Theorem 5, 6 */
            double floor = update ? 0 : CHAIN_SIZE * laplace_bound_floor();
            const struct clv_curve_point *last = &learnt.curve[learnt.n_curve - 1];
            ck_assert_double_eq_tol(kl_objective(&medn, learnt.w), dual, 2e-4 * dual);
            ck_assert_double_eq_tol(last->objective - floor, dual, 2e-4 * dual);
            ck_assert_double_le(last->dual - floor, dual + 1e-9);
            for (size_t k = 0; k < CHAIN_SIZE; k++)
                ck_assert_double_eq_tol(learnt.w[k], mean[k], 0.02 * fabs(mean[k]) + 0.01);
        }
}

static void check_rounds(const struct clv_training_result *result, size_t size)
{
    for (size_t i = 0; i < result->n_curve; i++) {
        const struct clv_curve_point *p = &result->curve[i];
        ck_assert_double_le(p->dual, p->objective);
        if (i)
            ck_assert_double_le(p->objective, p[-1].objective + 1e-9 * fabs(p[-1].objective));
        ck_assert_double_le(p->dual, result->curve[result->n_curve - 1].objective + 1e-9);
    }
    ck_assert_ptr_nonnull(result->variance);
    for (size_t k = 0; k < size; k++)
        ck_assert_double_gt(result->variance[k], 0);
}

TEST(bound_never_rises_between_rounds)
{
    static const struct clv_weight_layout cuts = {2, 20, 3, CLV_PAIRWISE_POTTS};
    for (int update = 0; update < 2; update++)
        for (int is_loose = 0; is_loose < 2; is_loose++)
            for (int form = 0; form < 2; form++) {
                OWNED(toy_release) struct toy toy = {0};
                if (form)
                    toy_chains(&toy, 16, &chain_shape, 9);
                else
                    toy_random(&toy, 10, 25, &cuts, 9);
                struct clv_training training = toy_training(&toy, "lapmedn");
                set(&training, "lapmedn", "update", update);
                set(&training, "lapmedn", "rounds", 12);
                set(&training, "lapmedn", "passes", is_loose ? 3 : 300); /* a step 1 that ends early is not an excuse */
                set(&training, "lapmedn", "gap", 1e-4);
                OWNED(clv_training_result_release) struct clv_training_result result = run("lapmedn", &training);
                size_t size = clv_weight_layout_size(&toy.layout);
                check_rounds(&result, size);
                ck_assert_uint_ge(result.n_curve, 2);
                for (size_t k = form ? size : clv_weight_layout_unary_size(&cuts); k < size; k++)
                    ck_assert_double_ge(result.w[k], 0); /* couplings stay supermodular */
            }
}

/* With C in proportion to sqrt(lambda) the solution tends to that of 1/2 |w|_1 + c sum xi: its slacks are then the
 * least on the L1 ball that it reaches to, which l1m3n looks for. */
TEST(lapmedn_tends_to_l1m3n_as_lambda_grows)
{
    static struct discrimination medn;
    OWNED(toy_release) struct toy toy = {0};
    double excess[3], c = 0.5;
    toy_chains(&toy, 8, &chain_shape, 2);
    for (int i = 0; i < 3; i++) {
        double lambda = pow(1e4, i), radius = 0;
        OWNED(clv_training_result_release) struct clv_training_result lapmedn =
            learn(&toy, "lapmedn", 2 * c * sqrt(lambda), lambda, 1, 1e-5);
        medn = (struct discrimination){.toy = &toy, .prior = PRIOR_GAUSS};
        discriminate(&medn, INFINITY); /* lists labellings */
        for (size_t k = 0; k < CHAIN_SIZE; k++)
            radius += fabs(lapmedn.w[k]);
        struct clv_training training = toy_training(&toy, "l1m3n");
        set(&training, "l1m3n", "units", 1);
        set(&training, "l1m3n", "radius", radius);
        set(&training, "l1m3n", "passes", 2000);
        OWNED(clv_training_result_release) struct clv_training_result l1m3n = run("l1m3n", &training);
        excess[i] = sum_of_slacks(&medn, lapmedn.w) / sum_of_slacks(&medn, l1m3n.w) - 1;
    }
    ck_assert_double_gt(excess[0], 0.01);
    ck_assert_double_lt(excess[1], excess[0]);
    ck_assert_double_lt(excess[2], 0.003);
}

/* Relative units are those of raw ones whose lambda is measured against the features, and C against the largest loss;
 * as published units are raw, and the update is the variational one. */
TEST(relative_units_follow_features_and_losses)
{
    for (double loss = 1; loss < 100; loss *= 30) {
        OWNED(toy_release) struct toy toy = {0};
        static struct random_problem r;
        toy_begin(&toy, 2, 6, 1, CLV_PAIRWISE_POTTS);
        for (uint64_t i = 0; i < 5; i++) {
            random_problem_fill(&r, &(struct clv_weight_layout){2, 6, 1, CLV_PAIRWISE_POTTS}, 8, 0.4, 0.6, i);
            for (int32_t k = 0; k < 16; k++)
                r.theta[k] *= (float)loss;
            toy_add(&toy, &r.problem);
        }
        struct clv_training training = toy_training(&toy, "lapmedn");
        set(&training, "lapmedn", "C", 50);
        set(&training, "lapmedn", "lambda", 3);
        set(&training, "lapmedn", "rounds", 4);
        set(&training, "lapmedn", "gap", 1e-4);
        OWNED(clv_training_result_release) struct clv_training_result relative = run("lapmedn", &training);
        set(&training, "lapmedn", "units", 1);
        set(&training, "lapmedn", "C", 50 / toy_most_loss(&toy));
        set(&training, "lapmedn", "lambda", 3 * toy_scale(&toy));
        OWNED(clv_training_result_release) struct clv_training_result raw = run("lapmedn", &training);
        ck_assert_double_eq_tol(relative.at_zero, raw.at_zero, 1e-6 * fabs(raw.at_zero));
        set(&training, "lapmedn", "paper", 1);
        set(&training, "lapmedn", "units", 0);
        set(&training, "lapmedn", "update", 1);
        OWNED(clv_training_result_release) struct clv_training_result published = run("lapmedn", &training);
        ck_assert_mem_eq(published.w, raw.w, 7 * sizeof *raw.w);
    }
}

/* Features without any bearing on the labels get hardly any weight, and the least variance. */
TEST(irrelevant_features_shrink)
{
    OWNED(toy_release) struct toy toy = {0};
    double w[8] = {1, 0, 0, 0, 0, 0, 0.2, 0.1};
    static const struct clv_weight_layout tiny = {2, 6, 2, CLV_PAIRWISE_POTTS};
    toy_planted(&toy, 20, 12, &tiny, w, 3);
    OWNED(clv_training_result_release) struct clv_training_result lapmedn = learn(&toy, "lapmedn", 100, 1e4, 0, 1e-2),
                                                                  m3n = learn(&toy, "m3n", 10, 0, 0, 1e-2);
    double sparse = 0, dense = 0;
    for (size_t k = 1; k < 6; k++) {
        sparse += fabs(lapmedn.w[k] / lapmedn.w[0]);
        dense += fabs(m3n.w[k] / m3n.w[0]);
        ck_assert_double_lt(lapmedn.variance[k], lapmedn.variance[0]);
    }
    ck_assert_double_lt(sparse, dense / 3);
}

/* Rounds. */

#define ROUNDS_SIZE 8

/* The toy with each weight's features multiplied by scale: what is learned is divided by it. */
static void stretch(struct toy *fresh, const struct toy *toy, const double *scale)
{
    static float value[RANDOM_MAX_NODES * RANDOM_MAX_FEATURES], edge_features[RANDOM_MAX_EDGES * 2];
    size_t d = (size_t)toy->layout.n_features, p = (size_t)toy->layout.n_edge_features;
    toy_begin(fresh, toy->layout.n_labels, (int32_t)d, (int32_t)p, toy->layout.pairwise);
    for (size_t i = 0; i < toy->n; i++) {
        struct clv_problem problem = clv_dataset_problem(toy->dataset, i);
        for (int64_t k = problem.row[0]; k < problem.row[problem.n_nodes]; k++)
            value[k] = (float)((double)problem.value[k] * scale[problem.index[k]]);
        for (size_t k = 0; k < (size_t)problem.n_edges * p; k++)
            edge_features[k] = (float)((double)problem.edge_features[k] * scale[d + k % p]);
        problem.value = value;
        problem.edge_features = edge_features;
        toy_add(fresh, &problem);
    }
}

/* What step 1 minimises, by enumeration. */
static double value_of_step(const struct toy *toy, const double *mean, const double *variance, double C)
{
    double value = 0;
    for (size_t k = 0; k < ROUNDS_SIZE; k++)
        value += mean[k] * mean[k] / (2 * variance[k]);
    for (size_t i = 0; i < toy->n; i++)
        value += C * toy_hinge(toy, i, mean, NULL);
    return value;
}

/* Algorithm 1 with step 1 by another learner: under variances S it is an M3N of features multiplied by S^1/2, which
 * starts from S = I in the units of `units`. Step 2 is (12), or the mean over eta = mean / S of the exact posterior. */
TEST(rounds_are_those_of_algorithm_1)
{
    static const struct clv_weight_layout cuts = {2, 6, 2, CLV_PAIRWISE_POTTS};
    for (int trial = 0; trial < 4; trial++) {
        OWNED(toy_release) struct toy toy = {0};
        struct toy stretched;
        int is_raw = trial % 2, is_exact = trial / 2;
        toy_random(&toy, 6, 9, &cuts, 3);
        double unit = is_raw ? 1 : sqrt(toy_scale(&toy)), C = 20, lambda = 5, variance[ROUNDS_SIZE];
        for (size_t k = 0; k < ROUNDS_SIZE; k++)
            variance[k] = 1 / (unit * unit);
        for (int n_rounds = 1; n_rounds < 4; n_rounds++) {
            struct clv_training training = toy_training(&toy, "lapmedn");
            set(&training, "lapmedn", "units", is_raw);
            set(&training, "lapmedn", "update", is_exact);
            set(&training, "lapmedn", "C", C);
            set(&training, "lapmedn", "lambda", lambda);
            set(&training, "lapmedn", "rounds", n_rounds);
            set(&training, "lapmedn", "gap", 1e-9);
            set(&training, "lapmedn", "passes", 300);
            OWNED(clv_training_result_release) struct clv_training_result result = run("lapmedn", &training);
            double scale[ROUNDS_SIZE], norm = 0, root = sqrt(lambda);
            for (size_t k = 0; k < ROUNDS_SIZE; k++)
                scale[k] = sqrt(variance[k]);
            stretch(&stretched, &toy, scale);
            OWNED(clv_training_result_release) struct clv_training_result step =
                learn(&stretched, "m3n", C, 0, 0, 2e-3);
            const struct clv_curve_point *last = &step.curve[step.n_curve - 1];
            ck_assert_double_le(value_of_step(&toy, result.w, variance, C), 1.03 * last->objective);
            ck_assert_double_ge(value_of_step(&toy, result.w, variance, C), last->dual);
            for (size_t k = 0; k < ROUNDS_SIZE; k++) {
                double mean = result.w[k], m = mean * unit, kl, ignored, posterior;
                norm += sqrt(m * m + 1 / lambda) - log((sqrt(lambda * m * m + 1) + 1) / 2) / root; /* Corollary 6 */
                if (is_exact) {
                    integrate(&kl, &ignored, &posterior, laplace_eta(m, lambda), lambda);
                    ck_assert_double_eq_tol(result.variance[k] * unit * unit, posterior, 1e-4 * posterior);
                    variance[k] = laplace_exact_scale(m, lambda) / (unit * unit);
                } else {
                    ck_assert_double_eq_tol(result.variance[k], variance[k], 1e-9 * variance[k]);
                    variance[k] = sqrt((variance[k] + mean * mean) / (lambda * unit * unit));
                }
            }
            ck_assert_str_eq(result.notes[1].name, "kl_norm");
            ck_assert_double_eq_tol(result.notes[1].value, norm, 1e-9 * norm);
            toy_release(&stretched);
        }
    }
}

/* Nodes that hold pixels of both labels give the truth a loss, which is part of both bounds. */
TEST(bounds_meet_where_the_truth_has_a_loss)
{
    for (int update = 0; update < 2; update++) {
        OWNED(toy_release) struct toy toy = {0};
        toy_mixed(&toy, 5, 8, 4);
        OWNED(clv_training_result_release) struct clv_training_result result =
            learn(&toy, "lapmedn", 2, 5, update, 1e-4);
        const struct clv_curve_point *last = &result.curve[result.n_curve - 1];
        double floor = update ? 0 : ROUNDS_SIZE * laplace_bound_floor(), slacks = 0, value = 0;
        for (size_t i = 0; i < toy.n; i++)
            slacks += toy_hinge(&toy, i, result.w, NULL);
        for (size_t k = 0; k < ROUNDS_SIZE; k++)
            value += update ? laplace_kl(result.w[k], 5) : laplace_kl(2 * result.w[k], 5) / 2;
        ck_assert_double_eq_tol(last->objective - floor, value + 2 * slacks, 1e-3 * slacks);
        ck_assert_double_le(last->objective - last->dual, 1e-3 * slacks);
    }
}
