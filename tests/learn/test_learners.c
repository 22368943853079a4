#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learn/toy.h"

static const struct clv_weight_layout potts = {2, 8, 2, CLV_PAIRWISE_POTTS};

static const char *const names[] = {"ssvm", "perceptron", "subgradient", "independent", "pmap", "mpmap", "wmpmap"};
enum { N_LEARNERS = sizeof names / sizeof *names };

static double last_loss(const struct clv_training_result *result)
{
    return result->curve[result->n_curve - 1].train_loss;
}

static const double planted[] = {1, -2, 0.5, 1.5, 0.3, -0.4, 0.8, -1, 0.7, 0.2};

/* (R / margin)^2 for the planted weights: R the longest Psi(x, y) - Psi(x, y') over all labellings, the margin taken
 * over all of them too. */
static double mistake_bound(const struct toy *toy)
{
    double longest = 0, margin = 1e300, norm = 0;
    size_t size = clv_weight_layout_size(&toy->layout);
    for (size_t k = 0; k < size; k++)
        norm += planted[k] * planted[k];
    for (size_t i = 0; i < toy->n; i++) {
        struct clv_problem p = clv_dataset_problem(toy->dataset, i);
        for (uint32_t bits = 0; bits < 1U << p.n_nodes; bits++) {
            int32_t y[RANDOM_MAX_NODES];
            double psi[16] = {0}, squares = 0, inner = 0;
            for (int32_t k = 0; k < p.n_nodes; k++)
                y[k] = bits >> k & 1;
            if (!memcmp(y, p.label, (size_t)p.n_nodes * sizeof *y))
                continue;
            clv_joint_feature_add(psi, &p, &toy->layout, p.label, 1);
            clv_joint_feature_add(psi, &p, &toy->layout, y, -1);
            for (size_t k = 0; k < size; k++) {
                squares += psi[k] * psi[k];
                inner += psi[k] * planted[k];
            }
            longest = fmax(longest, sqrt(squares));
            margin = fmin(margin, inner / sqrt(norm));
        }
    }
    ck_assert_double_gt(margin, 0);
    return longest * longest / (margin * margin);
}

/* Each pass with a mistake uses up at least one of the bound's mistakes, so after that many passes and one more there
 * has been a pass without any. */
TEST(perceptron_keeps_its_mistake_bound_on_separable_data)
{
    OWNED(toy_release) struct toy toy = {0};
    toy_planted(&toy, 5, 8, &potts, planted, 21);
    double bound = floor(mistake_bound(&toy));
    ck_assert_double_lt(bound, 1e5);
    for (int averaging = 0; averaging <= 1; averaging++) {
        struct clv_training training = toy_training(&toy, "perceptron");
        set(&training, "perceptron", "passes", bound + 1);
        set(&training, "perceptron", "averaging", averaging);
        OWNED(clv_training_result_release) struct clv_training_result result = run("perceptron", &training);
        ck_assert_double_eq(last_loss(&result), 0);
        ck_assert_double_le(result.curve[result.n_curve - 1].pass, bound + 1);
        for (size_t k = 8; k < 10; k++)
            ck_assert_double_ge(result.w[k], 0);
    }
}

TEST(subgradient_reaches_the_optimum_that_frank_wolfe_proves)
{
    OWNED(toy_release) struct toy toy = {0};
    toy_random(&toy, 12, 15, &potts, 5);
    struct clv_training a = toy_training(&toy, "ssvm"), b = toy_training(&toy, "subgradient");
    set(&a, "ssvm", "lambda", 0.01);
    set(&a, "ssvm", "gap", 1e-3);
    set(&a, "ssvm", "passes", 5000);
    set(&b, "subgradient", "lambda", 0.01);
    set(&b, "subgradient", "passes", 1000);
    OWNED(clv_training_result_release) struct clv_training_result proven = run("ssvm", &a),
                                                                  found = run("subgradient", &b);
    double dual = proven.curve[proven.n_curve - 1].dual, objective = found.curve[found.n_curve - 1].objective;
    ck_assert_double_ge(objective, dual - 1e-9);
    ck_assert_double_le(objective, dual * 1.01);
    clv_training_result_release(&found);
    set(&b, "subgradient", "averaging", 0); /* the last iterate is worse but feasible */
    found = run("subgradient", &b);
    ck_assert_double_ge(found.curve[found.n_curve - 1].objective, dual - 1e-9);
    for (size_t k = 8; k < 10; k++)
        ck_assert_double_ge(found.w[k], 0);
}

/* The objective of independent.c by its definition: a row of weights is of one label against all others. */
static double node_objective(const struct toy *toy, const double *w, double lambda)
{
    double objective = 0;
    size_t n_labels = (size_t)toy->layout.n_labels, n_rows = n_labels == 2 ? 1 : n_labels;
    for (size_t k = 0; k < clv_weight_layout_unary_size(&toy->layout); k++)
        objective += lambda / 2 * w[k] * w[k];
    for (size_t i = 0; i < toy->n; i++) {
        struct clv_problem p = clv_dataset_problem(toy->dataset, i);
        double scores[RANDOM_MAX_NODES * 5];
        clv_unary_scores(scores, &p, &toy->layout, w);
        for (size_t k = 0; k < (size_t)p.n_nodes * n_rows; k++)
            for (size_t b = 0; b < n_labels; b++) {
                double side = b == (n_rows == 1 ? 1 : k % n_rows) ? 1 : -1;
                double theta = (double)p.theta[k / n_rows * n_labels + b];
                objective += theta * fmax(0, 1 - side * scores[k]) / (double)toy->n;
            }
    }
    return objective;
}

TEST(independent_svm_proves_its_optimum)
{
    OWNED(toy_release) struct toy toy = {0};
    toy_random(&toy, 6, 20, &potts, 9);
    struct clv_training training = toy_training(&toy, "independent");
    set(&training, "independent", "lambda", 0.01);
    set(&training, "independent", "gap", 1e-4);
    set(&training, "independent", "passes", 10000);
    OWNED(clv_training_result_release) struct clv_training_result result = run("independent", &training);
    struct clv_curve_point last = result.curve[result.n_curve - 1];
    double lambda = 0.01 * toy_scale(&toy) / (20.0 * 20.0); /* mean |x|^2: all images have 20 nodes */
    ck_assert_double_eq_tol(last.objective, node_objective(&toy, result.w, lambda), 1e-6);
    ck_assert(last.dual <= last.objective && last.objective - last.dual <= 1e-4 * last.objective);
    for (uint64_t trial = 0; trial < 200; trial++) { /* nothing near is better than the bound */
        double u[10];
        for (size_t k = 0; k < 8; k++)
            u[k] = result.w[k] + 0.1 * rng_normal(trial, RNG_TEST, k);
        ck_assert_double_ge(node_objective(&toy, u, lambda), last.dual - 1e-9);
    }
    ck_assert_double_eq(result.w[8], 0);
    ck_assert_double_eq(result.w[9], 0);
}

TEST(independent_svm_of_several_labels_sets_each_against_all_others)
{
    static struct random_problem r;
    const struct clv_weight_layout layout = {4, 6, 0, CLV_PAIRWISE_NONE};
    OWNED(toy_release) struct toy toy = {0};
    toy_begin(&toy, 4, 6, 0, CLV_PAIRWISE_NONE);
    for (uint64_t i = 0; i < 4; i++) {
        random_problem_fill(&r, &layout, 20, 0, 0.6, 80 + i);
        for (int32_t k = 0; k < 4 * 20; k++) /* pixels of all labels in every node */
            r.theta[k] += (float)(0.02 * rng_uniform(i, RNG_TEST, 4000 + (uint64_t)k));
        toy_add(&toy, &r.problem);
    }
    struct clv_training training = toy_training(&toy, "independent");
    set(&training, "independent", "lambda", 0.01);
    set(&training, "independent", "gap", 1e-4);
    set(&training, "independent", "passes", 10000);
    OWNED(clv_training_result_release) struct clv_training_result result = run("independent", &training);
    struct clv_curve_point last = result.curve[result.n_curve - 1];
    double objective = node_objective(&toy, result.w, 0.01 * toy_scale(&toy) / (20.0 * 20.0));
    ck_assert_double_eq_tol(last.objective, objective, 1e-6);
    ck_assert(last.dual <= objective && objective - last.dual <= 1e-4 * objective);
}

/* Labels that one feature separates, several labels, no edges. */
static void toy_many_labels(struct toy *toy, int32_t n_labels)
{
    static struct random_problem r;
    struct clv_weight_layout layout = {n_labels, 10, 0, CLV_PAIRWISE_NONE};
    toy_begin(toy, n_labels, 10, 0, CLV_PAIRWISE_NONE);
    for (uint64_t i = 0; i < 6; i++) {
        random_problem_fill(&r, &layout, 30, 0, 1, 40 + i);
        for (int32_t k = 0; k < 30; k++)
            r.value[r.row[k] + r.label[k]] += 6;
        toy_add(toy, &r.problem);
    }
}

TEST(several_labels_are_separated)
{
    OWNED(toy_release) struct toy toy = {0};
    toy_many_labels(&toy, 4);
    for (int l = 0; l < N_LEARNERS; l++) {
        struct clv_training training = toy_training(&toy, names[l]);
        OWNED(clv_training_result_release) struct clv_training_result result = run(names[l], &training);
        ck_assert_msg(last_loss(&result) < 0.02, "%s: %g", names[l], last_loss(&result));
    }
}

/* A dataset with noise in the nodes of unknown label, and one where the noise is another: the same weights. */
static void toy_with_unknown(struct toy *toy, uint64_t noise)
{
    static struct random_problem r;
    toy_begin(toy, 2, 8, 2, CLV_PAIRWISE_POTTS);
    for (uint64_t i = 0; i < 5; i++) {
        random_problem_fill(&r, &potts, 20, 0.3, 0.6, 60 + i);
        for (int32_t k = 0; k < 20; k += 3) {
            r.label[k] = CLV_UNKNOWN;
            r.theta[2 * k] = r.theta[2 * k + 1] = 0;
            for (int64_t j = r.row[k]; j < r.row[k + 1]; j++)
                r.value[j] = 50 * (float)rng_normal(noise, RNG_TEST, (uint64_t)j);
        }
        for (int32_t e = 0; e < r.problem.n_edges; e++)
            if (r.edges[e][0] % 3 == 0 || r.edges[e][1] % 3 == 0)
                r.edge_features[2 * e] = 30 * (float)rng_uniform(noise, RNG_TEST, 9000 + (uint64_t)e);
        toy_add(toy, &r.problem);
    }
}

TEST(nodes_of_unknown_label_teach_nothing)
{
    OWNED(toy_release) struct toy a = {0}, b = {0};
    toy_with_unknown(&a, 1);
    toy_with_unknown(&b, 2);
    for (int l = 0; l < N_LEARNERS; l++) {
        struct clv_training on_a = toy_training(&a, names[l]), on_b = toy_training(&b, names[l]);
        struct clv_training *both[] = {&on_a, &on_b};
        for (int t = 0; t < 2; t++) {
            set(both[t], names[l], "passes", 7);
            if (clv_learner_parameter(clv_learner_find(names[l]), "lambda") >= 0)
                set(both[t], names[l], "lambda", 1e-2);
        }
        OWNED(clv_training_result_release) struct clv_training_result of_a = run(names[l], &on_a),
                                                                      of_b = run(names[l], &on_b);
        ck_assert_msg(!memcmp(of_a.w, of_b.w, 10 * sizeof(double)), "%s", names[l]);
        ck_assert_double_ne(of_a.w[1], 0);
    }
}

TEST(same_bytes_at_any_thread_count_and_seed_matters)
{
    OWNED(toy_release) struct toy toy = {0};
    toy_random(&toy, 20, 30, &potts, 8);
    for (int l = 0; l < N_LEARNERS; l++) {
        struct clv_training training = toy_training(&toy, names[l]);
        set(&training, names[l], "passes", 12);
        OWNED(clv_training_result_release) struct clv_training_result one = run(names[l], &training);
        for (int threads = 2; threads <= 8; threads *= 2) {
            training.n_threads = threads;
            OWNED(clv_training_result_release) struct clv_training_result many = run(names[l], &training);
            ck_assert(!memcmp(one.w, many.w, 10 * sizeof(double)));
            ck_assert_uint_eq(one.n_curve, many.n_curve);
            ck_assert(!memcmp(one.curve, many.curve, one.n_curve * sizeof *one.curve));
        }
        training.seed = 2;
        OWNED(clv_training_result_release) struct clv_training_result other = run(names[l], &training);
        ck_assert(memcmp(one.w, other.w, 10 * sizeof(double)) != 0);
    }
}

/* Stops once the first point of the curve was reported. */
static volatile int stop_now;
static void stop_after(void *context, const char *what, size_t done, size_t total, const char *note)
{
    (void)what, (void)total, (void)note;
    if (done >= *(const size_t *)context)
        stop_now = 1;
}

TEST(interruption_returns_the_weights_so_far)
{
    OWNED(toy_release) struct toy toy = {0};
    static struct random_problem r;
    toy_planted(&toy, 15, 25, &potts, planted, 12);
    random_problem_fill(&r, &potts, 60, 0.1, 0.6, 13); /* no weights explain this one: nobody is ever done */
    toy_add(&toy, &r.problem);
    for (int l = 0; l < N_LEARNERS; l++)
        for (size_t when = 0; when <= 10; when += 5) {
            struct clv_progress progress = {stop_after, &when, &stop_now, NULL, NULL};
            struct clv_training training = toy_training(&toy, names[l]);
            training.progress = &progress;
            set(&training, names[l], "passes", 1000);
            if (clv_learner_parameter(clv_learner_find(names[l]), "gap") >= 0)
                set(&training, names[l], "gap", 0);
            stop_now = when == 0;
            OWNED(clv_training_result_release) struct clv_training_result result = run(names[l], &training);
            ck_assert_int_eq(result.interrupted, 1);
            ck_assert_ptr_nonnull(result.w);
            ck_assert(result.n_curve == 0 || result.curve[result.n_curve - 1].pass <= 15);
            for (size_t k = 0; k < 10; k++)
                ck_assert(isfinite(result.w[k]));
            if (when > 0) {
                double loss, zero[10] = {0}, zero_loss;
                must(clv_evaluate(&loss, toy.dataset, toy.examples, toy.n, &toy.layout, result.w, NULL, training.engine,
                                  1, err));
                must(clv_evaluate(&zero_loss, toy.dataset, toy.examples, toy.n, &toy.layout, zero, NULL,
                                  training.engine, 1, err));
                ck_assert_msg(loss < zero_loss, "%s: %g, with zero weights %g", names[l], loss, zero_loss);
            }
        }
}
