#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learn/common/common.h"
#include "learn/margin/margin.h"
#include "learn/toy.h"

static const struct clv_weight_layout tiny = {2, 6, 2, CLV_PAIRWISE_POTTS};

/* A random point of the dual: some couplings of v negative, so cut off in w. */
static void random_dual(struct dual_point *point, double *delta, uint64_t seed)
{
    for (size_t k = 0; k < point->size; k++) {
        point->v[k] = rng_normal(seed, RNG_TEST, k);
        point->w[k] = k < point->free_size || point->v[k] > 0 ? point->v[k] : 0;
        delta[k] = rng_normal(seed, RNG_TEST, 100 + k);
    }
    point->lambda = 0.1 + rng_uniform(seed, RNG_TEST, 300);
    point->loss = 0.3;
}

/* D at v + t delta, from its definition. */
static double dual_along(const struct dual_point *point, const double *delta, double loss_change, double t)
{
    double squares = 0;
    for (size_t k = 0; k < point->size; k++) {
        double v = point->v[k] + t * delta[k];
        squares += k < point->free_size || v > 0 ? v * v : 0;
    }
    return point->loss + t * loss_change - point->lambda / 2 * squares;
}

TEST(line_search_finds_the_top_of_the_dual)
{
    double v[7], w[7], delta[7];
    struct dual_point point = {.size = 7, .free_size = 3, .v = v, .w = w};
    int inside = 0, at_end = 0, at_start = 0;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        random_dual(&point, delta, seed);
        double change = 2 * rng_normal(seed, RNG_TEST, 200);
        double step = dual_line_search(&point, delta, change);
        ck_assert(step >= 0 && step <= 1);
        double top = dual_along(&point, delta, change, step);
        double highest = -INFINITY;
        for (int t = 0; t <= 1000; t++)
            highest = fmax(highest, dual_along(&point, delta, change, t / 1000.0));
        ck_assert_double_le(highest, top + 1e-12);
        inside += step > 0 && step < 1;
        at_end += step == 1;
        at_start += step == 0;
        dual_step(&point, delta, change, step);
        ck_assert_double_eq_tol(dual_value(&point), top, 1e-10);
        for (size_t k = point.free_size; k < point.size; k++)
            ck_assert_double_ge(point.w[k], 0);
    }
    ck_assert(inside > 100 && at_end > 100 && at_start > 100);
}

TEST(line_search_does_not_move_where_nothing_changes)
{
    double v[3] = {1, 2, -1}, w[3] = {1, 2, 0}, delta[3] = {0};
    struct dual_point point = {.size = 3, .free_size = 2, .lambda = 1, .v = v, .w = w};
    ck_assert_double_eq(dual_line_search(&point, delta, 0), 0);
    ck_assert_double_eq(dual_line_search(&point, delta, -1), 0);
    ck_assert_double_eq(dual_line_search(&point, delta, 1), 1);
    delta[2] = 0.5; /* moves a coupling that stays negative: w does not feel it */
    ck_assert_double_eq(dual_line_search(&point, delta, 1e-9), 1);
}

/* max_y is convex: H(u) >= H(w) + <subgradient at w, u - w>, with the subgradient that learners use; and where the
 * maximiser is unique nearby, finite differences agree. */
TEST(hinge_obeys_the_subgradient_inequality)
{
    OWNED(toy_release) struct toy toy = {0};
    toy_random(&toy, 3, 7, &tiny, 4);
    size_t size = clv_weight_layout_size(&toy.layout);
    for (uint64_t trial = 0; trial < 40; trial++) {
        double w[8], u[8], g[8] = {0};
        size_t example = trial % 3;
        int32_t worst[RANDOM_MAX_NODES];
        for (size_t k = 0; k < size; k++) {
            w[k] = 0.1 * rng_normal(trial, RNG_TEST, k);
            u[k] = 0.1 * rng_normal(trial, RNG_TEST, 50 + k);
        }
        struct clv_problem p = clv_dataset_problem(toy.dataset, example);
        double at_w = toy_hinge(&toy, example, w, worst);
        clv_joint_feature_add(g, &p, &toy.layout, worst, 1);
        clv_joint_feature_add(g, &p, &toy.layout, p.label, -1);
        double linear = at_w;
        for (size_t k = 0; k < size; k++)
            linear += g[k] * (u[k] - w[k]);
        ck_assert_double_ge(toy_hinge(&toy, example, u, NULL), linear - 1e-12);
        for (size_t k = 0; k < size; k++) {
            double h = 1e-7, forward[8];
            memcpy(forward, w, sizeof w);
            forward[k] += h;
            ck_assert_double_eq_tol((toy_hinge(&toy, example, forward, NULL) - at_w) / h, g[k], 1e-4);
        }
    }
}

/* A slow solver that shares nothing with the learner but the definition: full projected subgradient steps, all
 * labellings enumerated, 2/(lambda (t + 1)) steps and t-weighted averaging. */
static double slow_optimum(const struct toy *toy, double lambda, int n_steps, double *w)
{
    size_t size = clv_weight_layout_size(&toy->layout), free_size = clv_weight_layout_unary_size(&toy->layout);
    double average[16] = {0};
    memset(w, 0, size * sizeof *w);
    for (int t = 1; t <= n_steps; t++) {
        double g[16] = {0};
        for (size_t i = 0; i < toy->n; i++) {
            struct clv_problem p = clv_dataset_problem(toy->dataset, i);
            int32_t worst[RANDOM_MAX_NODES];
            toy_hinge(toy, i, w, worst);
            clv_joint_feature_add(g, &p, &toy->layout, worst, 1 / (double)toy->n);
            clv_joint_feature_add(g, &p, &toy->layout, p.label, -1 / (double)toy->n);
        }
        for (size_t k = 0; k < size; k++) {
            w[k] -= 2 / (lambda * (t + 1)) * (lambda * w[k] + g[k]);
            if (k >= free_size && w[k] < 0)
                w[k] = 0;
            average[k] += 2.0 / (t + 1) * (w[k] - average[k]);
        }
    }
    memcpy(w, average, size * sizeof *w);
    return toy_objective(toy, w, lambda);
}

TEST(objective_is_the_optimum_of_a_slow_solver_within_the_gap)
{
    int cut_off = 0;
    for (uint64_t seed = 0; seed < 4; seed++) {
        OWNED(toy_release) struct toy toy = {0};
        toy_random(&toy, 4, 6, &tiny, seed);
        double relative = seed % 2 ? 0.02 : 0.002, lambda = relative * toy_scale(&toy), w[16];
        struct clv_training training = toy_training(&toy, "ssvm");
        set(&training, "ssvm", "lambda", relative);
        set(&training, "ssvm", "gap", 1e-3);
        set(&training, "ssvm", "passes", 20000);
        set(&training, "ssvm", "batch", 1 + (double)(seed % 3)); /* side by side: the same bounds */
        OWNED(clv_training_result_release) struct clv_training_result result = run("ssvm", &training);
        struct clv_curve_point last = result.curve[result.n_curve - 1];
        double slow = slow_optimum(&toy, lambda, 4000, w);
        ck_assert_double_eq_tol(last.objective, toy_objective(&toy, result.w, lambda), 1e-6);
        ck_assert_double_le(last.objective - last.dual, 1e-3 * last.objective);
        ck_assert_double_le(last.dual, slow + 1e-9);                              /* a true bound */
        ck_assert_double_le(last.objective, slow + (last.objective - last.dual)); /* within it of any objective */
        ck_assert_double_eq_tol(slow, last.objective, 0.004 * slow);
        for (size_t k = 6; k < 8; k++) {
            ck_assert_double_ge(result.w[k], 0);
            cut_off += result.w[k] == 0;
        }
    }
    ck_assert_int_gt(cut_off, 0); /* the constraint was active somewhere */
}

static void check_bounds(const struct clv_training_result *result)
{
    for (size_t k = 0; k < result->n_curve; k++) {
        const struct clv_curve_point *p = &result->curve[k];
        ck_assert_double_le(p->dual, p->objective);
        ck_assert(p->train_loss >= 0 && p->train_loss <= 1.000001);
        if (k > 0) {
            ck_assert_double_ge(p->dual, p[-1].dual);
            ck_assert_double_le(p->objective, p[-1].objective);
            ck_assert_double_gt(p->pass, p[-1].pass);
        }
    }
}

TEST(duality_gap_is_never_negative_and_shrinks_to_the_tolerance)
{
    static const struct clv_weight_layout shapes[] = {
        {2, 20, 3, CLV_PAIRWISE_POTTS}, {2, 20, 3, CLV_PAIRWISE_NONE}, {4, 12, 1, CLV_PAIRWISE_NONE}};
    for (size_t s = 0; s < 3; s++)
        for (int variant = 0; variant < 4; variant++) {
            OWNED(toy_release) struct toy toy = {0};
            toy_random(&toy, 10, 25, &shapes[s], s + 10);
            struct clv_training training = toy_training(&toy, "ssvm");
            set(&training, "ssvm", "lambda", 1e-3);
            set(&training, "ssvm", "passes", 5000);
            set(&training, "ssvm", "gap", 0.02);
            set(&training, "ssvm", "averaging", variant & 1);
            set(&training, "ssvm", "sampling", variant >> 1 & 1);
            set(&training, "ssvm", "batch", variant & 2 ? 4 : s + 1.0);
            OWNED(clv_training_result_release) struct clv_training_result result = run("ssvm", &training);
            check_bounds(&result);
            struct clv_curve_point last = result.curve[result.n_curve - 1];
            ck_assert_double_le(last.objective - last.dual, 0.02 * last.objective);
            ck_assert_double_lt(last.pass, 5000);
        }
}

/* Cuts maximise rounded scores: what is reported is above the objective by its definition, and above the dual. */
TEST(objective_is_a_bound_from_above_where_cuts_round)
{
    for (uint64_t seed = 0; seed < 6; seed++) {
        OWNED(toy_release) struct toy toy = {0};
        toy_random(&toy, 4, 8, &tiny, 70 + seed);
        struct clv_training training = toy_training(&toy, "ssvm");
        double lambda = 1e-3;
        set(&training, "ssvm", "lambda", lambda);
        set(&training, "ssvm", "passes", 400);
        set(&training, "ssvm", "gap", 0);
        OWNED(clv_training_result_release) struct clv_training_result result = run("ssvm", &training);
        struct clv_curve_point last = result.curve[result.n_curve - 1];
        double truth = toy_objective(&toy, result.w, lambda * toy_scale(&toy));
        ck_assert_double_ge(last.objective, truth - 1e-14);
        ck_assert_double_eq_tol(last.objective, truth, 1e-6);
        check_bounds(&result);
    }
}

TEST(separable_data_are_learned_without_an_error)
{
    const double w[] = {1, -2, 0.5, 1.5, 0.7, 0.2};
    struct clv_weight_layout layout = {2, 4, 2, CLV_PAIRWISE_POTTS};
    OWNED(toy_release) struct toy toy = {0};
    toy_planted(&toy, 8, 20, &layout, w, 3);
    struct clv_training training = toy_training(&toy, "ssvm");
    set(&training, "ssvm", "lambda", 1e-7);
    set(&training, "ssvm", "passes", 500);
    OWNED(clv_training_result_release) struct clv_training_result result = run("ssvm", &training);
    ck_assert_double_eq(result.curve[result.n_curve - 1].train_loss, 0);
    ck_assert_double_lt(result.curve[result.n_curve - 1].objective, 0.2);
}

/* Without couplings H_i is a sum over nodes: the problem with every node an example of its own has the same optimum,
 * once lambda accounts for the number of examples. */
TEST(without_edges_it_is_the_sum_of_per_node_svms)
{
    struct clv_weight_layout layout = {2, 5, 2, CLV_PAIRWISE_POTTS};
    static struct random_problem r;
    OWNED(toy_release) struct toy images = {0}, nodes = {0};
    toy_begin(&images, 2, 5, 2, CLV_PAIRWISE_POTTS);
    toy_begin(&nodes, 2, 5, 2, CLV_PAIRWISE_NONE);
    for (uint64_t i = 0; i < 3; i++) {
        random_problem_fill(&r, &layout, 8, 0.5, 0.6, 70 + i);
        toy_add(&images, &r.problem);
        for (int32_t k = 0; k < 8; k++) {
            struct clv_problem one = r.problem;
            one.n_nodes = 1;
            one.n_edges = 0;
            one.row += k;
            one.label += k;
            one.theta += 2 * k;
            one.area += k;
            toy_add(&nodes, &one);
        }
    }
    double lambda = 0.01 * toy_scale(&images);
    struct clv_training a = toy_training(&images, "ssvm"), b = toy_training(&nodes, "ssvm");
    a.layout.pairwise = CLV_PAIRWISE_NONE;
    set(&a, "ssvm", "lambda", 0.01);
    set(&b, "ssvm", "lambda", lambda / 8 / toy_scale(&nodes)); /* 8 times as many examples */
    struct clv_training *both[] = {&a, &b};
    for (int t = 0; t < 2; t++) {
        set(both[t], "ssvm", "gap", 1e-4);
        set(both[t], "ssvm", "passes", 50000);
    }
    OWNED(clv_training_result_release) struct clv_training_result whole = run("ssvm", &a), parts = run("ssvm", &b);
    double objective = whole.curve[whole.n_curve - 1].objective;
    ck_assert_double_eq_tol(objective, 8 * parts.curve[parts.n_curve - 1].objective, 2e-4 * objective);
    for (size_t k = 0; k < 5; k++) /* strongly convex: lambda/2 |w - w*|^2 <= gap, on both sides */
        ck_assert_double_eq_tol(whole.w[k], parts.w[k], 2 * sqrt(2 * 1e-4 * objective / lambda));
}

/* Lacoste-Julien et al. 2013, Algorithm 4: rho = 2 / (k + 2) weighs the k-th iterate by k. One example, so that a pass
 * is a step. */
TEST(the_average_weighs_the_kth_iterate_by_k)
{
    OWNED(toy_release) struct toy toy = {0};
    double sum[8] = {0};
    toy_random(&toy, 1, 8, &tiny, 3);
    struct clv_training training = toy_training(&toy, "ssvm");
    for (size_t k = 1; k <= 6; k++) {
        OWNED(bcfw_release) struct bcfw bcfw = {0};
        struct clv_training_result none = {0};
        const struct bcfw_rules rules = {.passes = k, .batch = 1, .averaging = true};
        must(bcfw_open(&bcfw, &ssvm_learner, &none, &training, &rules, err));
        ck_assert_uint_le(bcfw.size, 8);
        bcfw.dual.lambda = 0.3 * toy_scale(&toy);
        must(bcfw_solve(&bcfw, err));
        ck_assert_uint_eq(bcfw.n_steps, k);
        for (size_t j = 0; j < bcfw.size; j++) {
            sum[j] += (double)k * bcfw.dual.w[j];
            ck_assert_double_eq_tol(bcfw.average[j], 2 * sum[j] / (double)(k * (k + 1)), 1e-12);
        }
    }
    ck_assert_double_ne(sum[0], 0);
}

/* By gaps, too: steps of a batch are of different examples. */
TEST(a_batch_as_large_as_the_set_has_every_example_once)
{
    enum { N = 12 };
    OWNED(toy_release) struct toy toy = {0};
    OWNED(bcfw_release) struct bcfw bcfw = {0};
    struct clv_training_result none = {0};
    bool seen[N] = {false};
    const struct bcfw_rules rules = {.passes = 1, .batch = N, .sampling = true};
    toy_random(&toy, N, 8, &tiny, 3);
    struct clv_training training = toy_training(&toy, "ssvm");
    must(bcfw_open(&bcfw, &ssvm_learner, &none, &training, &rules, err));
    bcfw.dual.lambda = 0.3 * toy_scale(&toy);
    must(bcfw_solve(&bcfw, err));
    ck_assert_uint_eq(bcfw.n_steps, N);
    for (size_t t = 0; t < N; t++) {
        ck_assert(!seen[bcfw.directions[t].example]);
        seen[bcfw.directions[t].example] = true;
    }
}

TEST(a_check_of_all_gaps_ends_when_asked_to_stop_and_counts_as_not_made)
{
    OWNED(toy_release) struct toy toy = {0};
    OWNED(bcfw_release) struct bcfw bcfw = {0};
    struct clv_training_result none = {0};
    const struct bcfw_rules rules = {.passes = 1, .batch = 1};
    int stop = 1;
    const struct clv_progress progress = {.stop = &stop};
    toy_random(&toy, 3, 8, &tiny, 3);
    struct clv_training training = toy_training(&toy, "ssvm");
    training.progress = &progress;
    must(bcfw_open(&bcfw, &ssvm_learner, &none, &training, &rules, err));
    bcfw.dual.lambda = 0.3 * toy_scale(&toy);
    must(bcfw_solve(&bcfw, err));
    ck_assert(bcfw.course.stopped && !bcfw.position.is_checked);
    ck_assert(isinf(bcfw.best_objective)); /* no example was looked at */
}
