/* Learners that take one step after another, followed by slow references: all labellings enumerated, dense vectors, and
 * of the learner nothing but the order in which it takes the examples. */
#include <math.h>
#include <string.h>

#include "learn/slow_steps.h"

enum step { PEGASOS, ROOT, ADAPTIVE };

/* The inputs of descent.c. */
struct rules {
    enum step step;
    double ridge, rate, l1_radius; /* 0: the L2 ball of radius sqrt(2 J(0) / ridge) */
    size_t passes;
    const double *init;
    bool has_no_ball;
};

struct walk {
    double w[SLOW_MAX], average[SLOW_MAX];
};

/* Onto |w|_1 <= radius: the threshold by bisection. */
static void project_l1(double *w, size_t size, double radius)
{
    double low = 0, high = 0, norm = 0;
    for (size_t k = 0; k < size; k++) {
        norm += fabs(w[k]);
        high = fmax(high, fabs(w[k]));
    }
    for (int i = 0; norm > radius && i < 200; i++) {
        double theta = (low + high) / 2, left = 0;
        for (size_t k = 0; k < size; k++)
            left += fmax(0, fabs(w[k]) - theta);
        *(left > radius ? &low : &high) = theta;
    }
    for (size_t k = 0; norm > radius && k < size; k++)
        w[k] = copysign(fmax(0, fabs(w[k]) - high), w[k]);
}

static void project(double *w, const struct toy *toy, const struct rules *rules, double radius)
{
    size_t size = clv_weight_layout_size(&toy->layout);
    double squares = 0;
    slow_clip(w, toy);
    for (size_t k = 0; k < size; k++)
        squares += w[k] * w[k];
    if (rules->l1_radius > 0)
        project_l1(w, size, rules->l1_radius);
    for (size_t k = 0; rules->l1_radius == 0 && k < size && squares > radius * radius; k++)
        w[k] *= radius / sqrt(squares);
}

static double length_of(const double *psi, size_t size)
{
    double sum = 0;
    for (size_t k = 0; k < size; k++)
        sum += psi[k] * psi[k];
    return sum;
}

/* The iterate after so many passes and the mean of all, the t-th of which weighs t. */
static struct walk follow(const struct toy *toy, const struct rules *rules, uint64_t seed)
{
    struct walk walk = {{0}, {0}};
    size_t size = clv_weight_layout_size(&toy->layout);
    double *w = walk.w, *mean = walk.average, t = 0, squares = 0, zero[SLOW_MAX] = {0}, psi[SLOW_MAX];
    bool has_ball = rules->ridge > 0 && !rules->has_no_ball;
    double radius = has_ball ? sqrt(2 * toy_objective(toy, zero, rules->ridge) / rules->ridge) : INFINITY;
    if (rules->init) {
        memcpy(w, rules->init, size * sizeof *w);
        project(w, toy, rules, radius);
        memcpy(mean, w, size * sizeof *w);
        t = (double)toy->n;
        for (size_t i = 0; i < toy->n; i++) {
            slow_direction(psi, toy, i, w, true);
            squares += length_of(psi, size);
        }
    }
    for (size_t pass = 1; pass <= rules->passes; pass++) {
        int32_t order[64];
        rng_permutation(order, toy->n, seed, RNG_STREAM(RNG_ORDER, (uint32_t)pass));
        for (size_t i = 0; i < toy->n; i++) {
            slow_direction(psi, toy, (size_t)order[i], w, true);
            t++;
            squares += length_of(psi, size);
            double step = rules->step == PEGASOS ? 1 / (rules->ridge * t)
                          : rules->step == ROOT  ? rules->rate / sqrt(t)
                                                 : rules->rate / sqrt(squares);
            for (size_t k = 0; k < size; k++)
                w[k] = w[k] - step * rules->ridge * w[k] + step * psi[k];
            project(w, toy, rules, radius);
            for (size_t k = 0; k < size; k++)
                mean[k] += 2 / (t + 1) * (w[k] - mean[k]);
        }
    }
    return walk;
}

static void expect_weights(const struct clv_training_result *result, const double *w, const struct toy *toy)
{
    double longest = 0;
    for (size_t k = 0; k < clv_weight_layout_size(&toy->layout); k++)
        longest = fmax(longest, fabs(w[k]));
    ck_assert_double_gt(longest, 0);
    for (size_t k = 0; k < clv_weight_layout_size(&toy->layout); k++)
        ck_assert_double_eq_tol(result->w[k], w[k], 1e-7 * longest);
}

static void expect_walk(struct toy *toy, const char *learner, struct clv_training training, struct rules rules)
{
    for (rules.passes = 1; rules.passes < 8; rules.passes += 3)
        for (int averages = 0; averages < 2; averages++) {
            set(&training, learner, "passes", (double)rules.passes);
            set(&training, learner, "averaging", averages);
            OWNED(clv_training_result_release) struct clv_training_result result = run(learner, &training);
            struct walk walk = follow(toy, &rules, training.seed);
            expect_weights(&result, averages ? walk.average : walk.w, toy);
        }
}

TEST(subgradient_takes_pegasos_steps)
{
    OWNED(toy_release) struct toy toy = {0};
    toy_random(&toy, 5, 8, &slow_shape, 3);
    struct clv_training training = toy_training(&toy, "subgradient");
    for (double lambda = 1e-4; lambda < 2; lambda *= 100) {
        set(&training, "subgradient", "lambda", lambda);
        expect_walk(&toy, "subgradient", training, (struct rules){.step = PEGASOS, .ridge = lambda * toy_scale(&toy)});
    }
}

/* 1 / (2 beta sqrt(t)), beta = C / 200 unless it is given; by section 7.1.2 of Zhu and Xing. */
TEST(m3n_takes_the_published_steps)
{
    OWNED(toy_release) struct toy toy = {0};
    toy_random(&toy, 5, 8, &slow_shape, 4);
    struct clv_training training = toy_training(&toy, "m3n");
    set(&training, "m3n", "solver", 1);
    for (int is_raw = 0; is_raw < 2; is_raw++)
        for (double beta = 0; beta < 5; beta += 3) {
            double C = 40, n = (double)toy.n, unit = is_raw ? 1 : toy_scale(&toy), used = beta > 0 ? beta : C / 200;
            set(&training, "m3n", "C", C);
            set(&training, "m3n", "beta", beta);
            set(&training, "m3n", "units", is_raw);
            expect_walk(&toy, "m3n", training,
                        (struct rules){.step = ROOT, .ridge = unit / (C * n), .rate = 1 / (2 * used * unit)});
        }
}

TEST(l1m3n_takes_adaptive_steps_in_its_ball)
{
    OWNED(toy_release) struct toy toy = {0};
    toy_random(&toy, 5, 8, &slow_shape, 5);
    struct clv_training training = toy_training(&toy, "l1m3n");
    for (int is_raw = 0; is_raw < 2; is_raw++)
        for (double radius = 0.5; radius < 100; radius *= 30) {
            double unit = (double)(toy.n * SLOW_SIZE) * toy_most_loss(&toy) / sqrt(toy_scale(&toy)), used = radius;
            set(&training, "l1m3n", "radius", is_raw ? radius : radius / unit);
            set(&training, "l1m3n", "rate", 0.7);
            set(&training, "l1m3n", "units", is_raw);
            expect_walk(&toy, "l1m3n", training,
                        (struct rules){.step = ADAPTIVE, .rate = 0.7 * used, .l1_radius = used});
        }
}

/* Whatever the parameters say in whose place the source's are. The objective is the sum of the slacks. */
TEST(m3n_and_l1m3n_train_as_published)
{
    OWNED(toy_release) struct toy toy = {0};
    toy_random(&toy, 5, 8, &slow_shape, 6);
    for (size_t passes = 1; passes < 8; passes += 3) {
        struct clv_training training = toy_training(&toy, "m3n");
        set(&training, "m3n", "paper", 1);
        set(&training, "m3n", "C", 40);
        set(&training, "m3n", "passes", (double)passes);
        OWNED(clv_training_result_release) struct clv_training_result result = run("m3n", &training);
        struct rules rules = {.step = ROOT,
                              .ridge = 1 / (40 * (double)toy.n),
                              .rate = 1 / (2 * 40 / 200.0),
                              .passes = passes,
                              .has_no_ball = true};
        expect_weights(&result, follow(&toy, &rules, training.seed).w, &toy);
        clv_training_result_release(&result);
        training = toy_training(&toy, "l1m3n");
        set(&training, "l1m3n", "paper", 1);
        set(&training, "l1m3n", "radius", 0.7);
        set(&training, "l1m3n", "beta", 2);
        set(&training, "l1m3n", "passes", (double)passes);
        result = run("l1m3n", &training);
        rules = (struct rules){.step = ROOT, .rate = 1.0 / 4, .l1_radius = 0.7, .passes = passes};
        expect_weights(&result, follow(&toy, &rules, training.seed).w, &toy);
        double slacks = (double)toy.n * toy_objective(&toy, result.w, 0);
        ck_assert_double_eq_tol(result.curve[result.n_curve - 1].objective, slacks, 1e-6 * slacks);
    }
}

/* As if a pass had led to the start; and the start is given back where the steps have found nothing better. */
TEST(steps_go_on_from_given_weights)
{
    OWNED(toy_release) struct toy toy = {0};
    int n_better = 0, n_starts = 0;
    toy_random(&toy, 5, 8, &slow_shape, 6);
    for (uint64_t seed = 0; seed < 12; seed++) {
        struct clv_training training = toy_training(&toy, "subgradient");
        double lambda = seed % 2 ? 0.3 : 3e-4, init[SLOW_MAX], start[SLOW_MAX];
        struct rules rules = {.step = PEGASOS, .ridge = lambda * toy_scale(&toy), .passes = 4, .init = init};
        for (size_t k = 0; k < SLOW_SIZE; k++)
            init[k] = 0.01 * (double)(seed / 2) * rng_normal(seed, RNG_TEST, k);
        training.seed = seed;
        training.init = init;
        set(&training, "subgradient", "lambda", lambda);
        set(&training, "subgradient", "passes", 4);
        OWNED(clv_training_result_release) struct clv_training_result result = run("subgradient", &training);
        struct walk walk = follow(&toy, &rules, seed);
        rules.passes = 0;
        memcpy(start, follow(&toy, &rules, seed).w, sizeof start);
        double before = toy_objective(&toy, start, rules.ridge), after = toy_objective(&toy, walk.average, rules.ridge);
        bool is_better = after < before;
        double *expected = is_better ? walk.average : start, longest = 1e-12;
        for (size_t k = 0; k < SLOW_SIZE; k++)
            longest = fmax(longest, fabs(expected[k]));
        for (size_t k = 0; k < SLOW_SIZE; k++)
            ck_assert_double_eq_tol(result.w[k], expected[k], 1e-7 * longest);
        ck_assert_double_eq_tol(result.curve[result.n_curve - 1].objective, fmin(before, after), 1e-6 * before);
        *(is_better ? &n_better : &n_starts) += 1;
    }
    ck_assert_msg(n_better > 2 && n_starts > 2, "%d and %d", n_better, n_starts);
}

/* The mean of all iterates, also of those that a labelling without mistakes leaves alone. */
TEST(perceptron_is_the_mean_of_all_its_iterates)
{
    OWNED(toy_release) struct toy toy = {0};
    toy_random(&toy, 6, 5, &slow_shape, 7);
    double w[SLOW_MAX] = {0}, sum[SLOW_MAX] = {0}, mean[SLOW_MAX], psi[SLOW_MAX];
    int n = 0, n_without_gain = 0;
    for (uint32_t pass = 0; pass < 6; pass++) {
        int32_t order[64];
        rng_permutation(order, toy.n, 1, RNG_STREAM(RNG_ORDER, pass));
        for (size_t i = 0; i < toy.n; i++) {
            slow_direction(psi, &toy, (size_t)order[i], w, false);
            n_without_gain += length_of(psi, SLOW_SIZE) == 0;
            n++;
            for (size_t k = 0; k < SLOW_SIZE; k++)
                w[k] += psi[k];
            slow_clip(w, &toy);
            for (size_t k = 0; k < SLOW_SIZE; k++)
                sum[k] += w[k];
        }
    }
    ck_assert_int_gt(n_without_gain, 0);
    for (size_t k = 0; k < SLOW_SIZE; k++)
        mean[k] = sum[k] / n;
    for (int averages = 0; averages < 2; averages++) {
        struct clv_training training = toy_training(&toy, "perceptron");
        set(&training, "perceptron", "passes", 6);
        set(&training, "perceptron", "averaging", averages);
        OWNED(clv_training_result_release) struct clv_training_result result = run("perceptron", &training);
        expect_weights(&result, averages ? mean : w, &toy);
    }
}
