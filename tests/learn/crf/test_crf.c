#include <math.h>
#include <stdlib.h>

#include "feature/dataset/dataset.h"
#include "learn/chains.h"
#include "learn/crf/crf.h"
#include "support/requests.h"

enum { PENALTY_NONE, PENALTY_L2, PENALTY_L1 };

#define MOST_WEIGHTS 64

static const struct clv_weight_layout two = {2, 4, 1, CLV_PAIRWISE_FULL}, rich = {3, 4, 2, CLV_PAIRWISE_FULL},
                                      apart = {3, 4, 0, CLV_PAIRWISE_NONE};

/* One problem's labellings: its known labels in y, and psi = Psi(x, y). False where a label of an unknown node is not
 * 0. */
static bool feature_of(double *psi, int32_t *known, const struct toy *toy, const struct clv_problem *p,
                       const int32_t *y)
{
    memset(psi, 0, MOST_WEIGHTS * sizeof *psi);
    for (int32_t k = 0; k < p->n_nodes; k++) {
        if (p->label[k] == CLV_UNKNOWN && y[k])
            return false;
        known[k] = p->label[k] == CLV_UNKNOWN ? CLV_UNKNOWN : y[k];
    }
    clv_joint_feature_add(psi, p, &toy->layout, known, 1);
    return true;
}

static double inner(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += a[k] * b[k];
    return sum;
}

/* Negative log-likelihood and gradient[size] by their definitions, all labellings enumerated. */
static double slow_objective(double *gradient, const struct toy *toy, const double *w)
{
    double nll = 0, psi[MOST_WEIGHTS];
    size_t size = clv_weight_layout_size(&toy->layout);
    memset(gradient, 0, size * sizeof *gradient);
    for (size_t i = 0; i < toy->n; i++) {
        struct clv_problem p = clv_dataset_problem(toy->dataset, i);
        int32_t y[RANDOM_MAX_NODES] = {0}, known[RANDOM_MAX_NODES];
        double top = -INFINITY, sum = 0, mean[MOST_WEIGHTS] = {0};
        do
            if (feature_of(psi, known, toy, &p, y))
                top = fmax(top, inner(psi, w, size));
        while (next_labelling(y, p.n_nodes, toy->layout.n_labels));
        memset(y, 0, sizeof y);
        do {
            if (!feature_of(psi, known, toy, &p, y))
                continue;
            double share = exp(inner(psi, w, size) - top);
            sum += share;
            for (size_t k = 0; k < size; k++)
                mean[k] += share * psi[k];
        } while (next_labelling(y, p.n_nodes, toy->layout.n_labels));
        memset(psi, 0, sizeof psi);
        clv_joint_feature_add(psi, &p, &toy->layout, p.label, 1);
        nll += top + log(sum) - inner(psi, w, size);
        for (size_t k = 0; k < size; k++)
            gradient[k] += mean[k] / sum - psi[k];
    }
    return nll;
}

static void random_weights(double *w, size_t n, double size, uint64_t seed)
{
    for (size_t k = 0; k < n; k++)
        w[k] = size * rng_normal(seed, RNG_TEST, 80000 + k);
}

/* Chains of 1 to 6 nodes, some of unknown label; or trees, their edges to any earlier node. */
static void toy_forests(struct toy *toy, size_t n, const struct clv_weight_layout *layout, bool is_chain,
                        bool has_unknown, uint64_t seed)
{
    static struct random_problem r;
    toy_begin(toy, layout->n_labels, layout->n_features, layout->n_edge_features, layout->pairwise);
    for (size_t i = 0; i < n; i++) {
        int32_t n_nodes = 1 + (int32_t)((i + seed) % 6);
        random_problem_fill(&r, layout, n_nodes, 0, 0.7, seed * 1000 + i);
        r.problem.n_edges = layout->pairwise ? n_nodes - 1 : 0;
        for (int32_t e = 0; e < r.problem.n_edges; e++) {
            r.edges[e][0] =
                is_chain ? e : (int32_t)rng_below(seed, RNG_TEST, 60000 + 10 * i + (uint64_t)e, (uint32_t)e + 1);
            r.edges[e][1] = e + 1;
            for (int32_t q = 0; q < layout->n_edge_features; q++)
                r.edge_features[e * layout->n_edge_features + q] =
                    layout->n_edge_features == 1 && seed % 2 == 0
                        ? 1
                        : (float)rng_uniform(seed, RNG_TEST, 90000 + 10 * i + (uint64_t)(2 * e + q));
        }
        if (has_unknown && n_nodes > 2)
            r.label[i % (size_t)n_nodes] = CLV_UNKNOWN;
        toy_add(toy, &r.problem);
    }
}

struct opened {
    struct clv_training training;
    struct examples examples;
    struct crf_objective objective;
};

static void open_objective(struct opened *opened, const struct toy *toy)
{
    opened->training = toy_training(toy, "crf");
    must(examples_open(&opened->examples, &opened->training, true, err));
    must(crf_objective_open(&opened->objective, &opened->examples, err));
}

static void close_objective(struct opened *opened)
{
    crf_objective_release(&opened->objective);
    examples_release(&opened->examples);
}

static void check_objective(const struct toy *toy, const double *w)
{
    OWNED(close_objective) struct opened opened = {0};
    double gradient[MOST_WEIGHTS], slow[MOST_WEIGHTS], nll, expected = slow_objective(slow, toy, w);
    open_objective(&opened, toy);
    must(crf_objective_at(&nll, gradient, &opened.objective, w, err));
    ck_assert_double_eq_tol(nll, expected, 1e-10 * (1 + expected));
    for (size_t k = 0; k < clv_weight_layout_size(&toy->layout); k++)
        ck_assert_double_eq_tol(gradient[k], slow[k], 1e-9);
}

TEST(objective_and_gradient_are_those_of_all_labellings)
{
    const struct clv_weight_layout *shapes[] = {&chain_shape, &two, &rich, &apart};
    for (uint64_t seed = 0; seed < 32; seed++) {
        OWNED(toy_release) struct toy toy = {0};
        double w[MOST_WEIGHTS];
        random_weights(w, MOST_WEIGHTS, 0.7, seed);
        toy_forests(&toy, 6, shapes[seed / 8], seed % 4 < 2, seed % 8 > 3, seed);
        check_objective(&toy, w);
    }
}

/* No chain, though first ends rise: two edges that cross. */
TEST(edges_that_skip_nodes_are_no_chain)
{
    static struct random_problem r;
    OWNED(toy_release) struct toy toy = {0};
    double w[MOST_WEIGHTS];
    random_weights(w, MOST_WEIGHTS, 0.7, 3);
    toy_begin(&toy, rich.n_labels, rich.n_features, rich.n_edge_features, rich.pairwise);
    random_problem_fill(&r, &rich, 4, 0, 0.7, 5);
    r.problem.n_edges = 2;
    for (int32_t e = 0; e < 2; e++) {
        r.edges[e][0] = e;
        r.edges[e][1] = e + 2;
        for (int32_t q = 0; q < 2; q++)
            r.edge_features[2 * e + q] = (float)(1 + e + 3 * q);
    }
    toy_add(&toy, &r.problem);
    check_objective(&toy, w);
}

TEST(gradient_is_the_objective_s_slope)
{
    OWNED(toy_release) struct toy toy = {0};
    OWNED(close_objective) struct opened opened = {0};
    double w[CHAIN_SIZE], gradient[CHAIN_SIZE], scratch[CHAIN_SIZE], up, down, h = 1e-5;
    toy_forests(&toy, 12, &chain_shape, true, true, 2);
    open_objective(&opened, &toy);
    random_weights(w, CHAIN_SIZE, 0.7, 3);
    must(crf_objective_at(&up, gradient, &opened.objective, w, err));
    for (size_t k = 0; k < CHAIN_SIZE; k++) {
        w[k] += h;
        must(crf_objective_at(&up, scratch, &opened.objective, w, err));
        w[k] -= 2 * h;
        must(crf_objective_at(&down, scratch, &opened.objective, w, err));
        w[k] += h;
        ck_assert_double_eq_tol(gradient[k], (up - down) / (2 * h), 1e-7 * (1 + fabs(gradient[k])));
    }
}

/* Exponentials of the scores, of nodes or of tables, that are not all numbers. */
TEST(scores_of_any_size_are_summed)
{
    for (uint64_t seed = 0; seed < 12; seed++) {
        OWNED(toy_release) struct toy toy = {0};
        const struct clv_weight_layout *layout = seed % 2 ? &chain_shape : &rich;
        double w[MOST_WEIGHTS];
        size_t size = clv_weight_layout_size(layout), n_unary = clv_weight_layout_unary_size(layout);
        toy_forests(&toy, 6, layout, true, false, seed);
        random_weights(w, size, 1, seed);
        for (size_t k = seed < 6 ? 0 : n_unary; k < (seed < 6 ? n_unary : size); k++)
            w[k] *= 3000;
        check_objective(&toy, w);
    }
}

/* The optimum. */

static double penalised(const struct toy *toy, const double *w, int penalty, double lambda)
{
    double gradient[MOST_WEIGHTS], value = slow_objective(gradient, toy, w);
    for (size_t k = 0; k < clv_weight_layout_size(&toy->layout); k++)
        value += penalty == PENALTY_L2 ? lambda * w[k] * w[k] : penalty == PENALTY_L1 ? lambda * fabs(w[k]) : 0;
    return value;
}

static struct clv_training crf_training(const struct toy *toy, int penalty, double lambda)
{
    struct clv_training training = toy_training(toy, "crf");
    set(&training, "crf", "penalty", penalty);
    set(&training, "crf", "lambda", lambda);
    set(&training, "crf", "tolerance", 1e-12);
    return training;
}

TEST(squares_end_where_the_gradient_is_nothing)
{
    for (uint64_t seed = 0; seed < 4; seed++) {
        OWNED(toy_release) struct toy toy = {0};
        double gradient[MOST_WEIGHTS];
        toy_forests(&toy, 20, seed % 2 ? &chain_shape : &rich, seed < 2, true, seed);
        struct clv_training training = crf_training(&toy, PENALTY_L2, 0.3);
        OWNED(clv_training_result_release) struct clv_training_result result = run("crf", &training);
        double objective = penalised(&toy, result.w, PENALTY_L2, 0.3);
        slow_objective(gradient, &toy, result.w);
        for (size_t k = 0; k < clv_weight_layout_size(&toy.layout); k++)
            ck_assert_double_eq_tol(gradient[k] + 0.6 * result.w[k], 0, 1e-4);
        for (size_t c = 0; c < result.n_curve; c++) {
            const struct clv_curve_point *point = &result.curve[c];
            ck_assert(point->dual <= objective + 1e-12 * objective && objective <= point->objective * (1 + 1e-12));
        }
        ck_assert_double_eq_tol(result.curve[result.n_curve - 1].objective, objective, 1e-10 * objective);
        ck_assert_double_ge(result.curve[result.n_curve - 1].dual, objective * (1 - 1e-8));
    }
}

/* F is 2 lambda-strongly convex: F* >= F - |F'|^2 / (4 lambda), and that is what the curve says. The training ends with
 * the first ten steps that lower F by less than the tolerance. */
TEST(the_curve_reports_the_bound_and_why_it_ended)
{
    for (uint64_t seed = 0; seed < 3; seed++) {
        OWNED(toy_release) struct toy toy = {0};
        double gradient[MOST_WEIGHTS], squares = 0, tolerance = 1e-3;
        toy_forests(&toy, 20, &rich, true, false, seed);
        struct clv_training training = crf_training(&toy, PENALTY_L2, 0.01);
        set(&training, "crf", "tolerance", tolerance);
        OWNED(clv_training_result_release) struct clv_training_result result = run("crf", &training);
        slow_objective(gradient, &toy, result.w);
        for (size_t k = 0; k < clv_weight_layout_size(&toy.layout); k++)
            squares += pow(gradient[k] + 0.02 * result.w[k], 2);
        size_t n = result.n_curve;
        const struct clv_curve_point *curve = result.curve;
        ck_assert_uint_gt(n, 11);
        ck_assert_double_gt(squares / 0.04, 1e-9);
        ck_assert_double_eq_tol((curve[n - 1].objective - curve[n - 1].dual) / (squares / 0.04), 1, 1e-4);
        for (size_t k = 10; k < n; k++) {
            double fall = curve[k - 10].objective - curve[k].objective;
            ck_assert_int_eq(fall < tolerance * curve[k].objective, k == n - 1);
        }
    }
}

/* Where a weight is 0, |d NLL / dw| <= lambda; elsewhere it is lambda, against the weight's sign. */
TEST(absolute_values_end_where_their_conditions_hold)
{
    size_t n_zero = 0, n_other = 0;
    for (uint64_t seed = 0; seed < 4; seed++) {
        OWNED(toy_release) struct toy toy = {0};
        double gradient[MOST_WEIGHTS], lambda = 1.2;
        toy_forests(&toy, 30, seed % 2 ? &chain_shape : &rich, true, true, seed);
        struct clv_training training = crf_training(&toy, PENALTY_L1, lambda);
        OWNED(clv_training_result_release) struct clv_training_result result = run("crf", &training);
        slow_objective(gradient, &toy, result.w);
        for (size_t k = 0; k < clv_weight_layout_size(&toy.layout); k++) {
            if (result.w[k] != 0)
                ck_assert_double_eq_tol(gradient[k], result.w[k] > 0 ? -lambda : lambda, 1e-3);
            else
                ck_assert_double_le(fabs(gradient[k]), lambda + 1e-3);
            n_zero += result.w[k] == 0;
            n_other += result.w[k] != 0;
        }
        ck_assert_double_eq_tol(result.curve[result.n_curve - 1].objective,
                                penalised(&toy, result.w, PENALTY_L1, lambda), 1e-9);
    }
    ck_assert(n_zero > 20 && n_other > 20);
}

/* Without a tolerance it goes on until no step leads lower. */
TEST(absolute_values_survive_steps_that_lead_nowhere)
{
    for (uint64_t seed = 0; seed < 40; seed++) {
        OWNED(toy_release) struct toy toy = {0};
        double gradient[MOST_WEIGHTS], lambda = 1 + (double)(seed % 8);
        toy_forests(&toy, 30, seed % 2 ? &chain_shape : &rich, true, true, seed);
        struct clv_training training = crf_training(&toy, PENALTY_L1, lambda);
        set(&training, "crf", "tolerance", 0);
        OWNED(clv_training_result_release) struct clv_training_result result = run("crf", &training);
        slow_objective(gradient, &toy, result.w);
        for (size_t k = 0; k < clv_weight_layout_size(&toy.layout); k++)
            ck_assert_double_le(fabs(gradient[k]), lambda + 1e-3);
    }
}

/* -sum log softmax(W x), written out. */
TEST(without_edges_it_is_multinomial_logistic_regression)
{
    OWNED(toy_release) struct toy toy = {0};
    double slope[12] = {0}, lambda = 0.5;
    toy_forests(&toy, 20, &chain_shape, true, false, 1);
    struct clv_training training = crf_training(&toy, PENALTY_L2, lambda);
    training.layout.pairwise = CLV_PAIRWISE_NONE;
    OWNED(clv_training_result_release) struct clv_training_result result = run("crf", &training);
    for (size_t i = 0; i < toy.n; i++) {
        struct clv_problem p = clv_dataset_problem(toy.dataset, i);
        for (int32_t n = 0; n < p.n_nodes; n++) {
            double share[3], sum = 0;
            for (int b = 0; b < 3; b++) {
                double score = 0;
                for (int64_t j = p.row[n]; j < p.row[n + 1]; j++)
                    score += result.w[4 * b + p.index[j]] * (double)p.value[j];
                sum += share[b] = exp(score);
            }
            for (int b = 0; b < 3; b++)
                for (int64_t j = p.row[n]; j < p.row[n + 1]; j++)
                    slope[4 * b + p.index[j]] += (share[b] / sum - (p.label[n] == b)) * (double)p.value[j];
        }
    }
    for (size_t k = 0; k < 12; k++)
        ck_assert_double_eq_tol(slope[k] + 2 * lambda * result.w[k], 0, 1e-4);
    ck_assert_uint_eq(clv_weight_layout_size(&training.layout), 12); /* no weight of an edge is left */
}

TEST(given_weights_are_where_it_starts)
{
    OWNED(toy_release) struct toy toy = {0};
    double start[CHAIN_SIZE];
    toy_forests(&toy, 20, &chain_shape, true, false, 1);
    struct clv_training training = crf_training(&toy, PENALTY_L2, 0.3);
    OWNED(clv_training_result_release) struct clv_training_result cold = run("crf", &training);
    training.init = cold.w;
    OWNED(clv_training_result_release) struct clv_training_result again = run("crf", &training);
    ck_assert_uint_lt(3 * again.n_curve, cold.n_curve);
    random_weights(start, CHAIN_SIZE, 1, 7);
    training.init = start;
    OWNED(clv_training_result_release) struct clv_training_result warm = run("crf", &training);
    for (size_t k = 0; k < CHAIN_SIZE; k++) {
        ck_assert_double_eq_tol(warm.w[k], cold.w[k], 1e-4);
        ck_assert_double_eq_tol(again.w[k], cold.w[k], 1e-4);
    }
    start[5] = NAN;
    must_fail(CLV_ERR_DATA, "weight 5", clv_train(&warm, clv_learner_find("crf"), &training, err));
}

TEST(graphs_with_loops_are_refused_by_name)
{
    static struct random_problem r;
    OWNED(toy_release) struct toy toy = {0};
    struct clv_training_result result = {0};
    toy_begin(&toy, 3, 4, 1, CLV_PAIRWISE_FULL);
    random_problem_fill(&r, &chain_shape, 3, 1, 0.7, 1);
    toy_add(&toy, &r.problem);
    struct clv_training training = toy_training(&toy, "crf");
    must_fail(CLV_ERR_USAGE,
              "toy0: crf does not learn full pairwise terms of 3 labels on a graph with loops; mssvm does",
              clv_train(&result, clv_learner_find("crf"), &training, err));
}

static enum clv_status reopen_objective(struct opened *opened, struct clv_error *err)
{
    crf_objective_release(&opened->objective);
    return crf_objective_open(&opened->objective, &opened->examples, err);
}

TEST(lack_of_memory_is_reported_at_every_request)
{
    OWNED(toy_release) struct toy toy = {0};
    OWNED(close_objective) struct opened opened = {0};
    toy_forests(&toy, 4, &rich, true, true, 1);
    open_objective(&opened, &toy);
    must_survive_failed_requests(reopen_objective(&opened, err));
}

static const struct clv_weight_layout letter_shape = {LETTER_LABELS, LETTER_FEATURES, 1, CLV_PAIRWISE_FULL};

/* A training on fold 0 of the OCR words; *examples are the caller's to free. */
static struct clv_training letters_training(int32_t **examples, const char *path)
{
    OWNED(letters_release) struct letters letters = {0};
    struct clv_dataset *dataset;
    must(letters_read(&letters, path, err));
    must(letters_dataset(&dataset, &letters, (uint8_t[LETTER_MAX_FOLDS]){1}, err));
    size_t n = clv_dataset_size(dataset);
    *examples = malloc(n * sizeof **examples);
    for (size_t i = 0; i < n; i++)
        (*examples)[i] = (int32_t)i;
    struct clv_training training;
    clv_training_defaults(&training, clv_learner_find("crf"));
    training.dataset = dataset;
    training.examples = *examples;
    training.n_examples = n;
    training.n_threads = 1;
    training.layout = letter_shape;
    return training;
}

/* The least of NLL + |w|^2 there is 2207.3104. */
TEST(letters_reach_the_known_optimum)
{
    const char *path = real_data("letters_reach_the_known_optimum", "letters/letter.data.gz");
    if (!path)
        return;
    OWNED_ARRAY int32_t *examples = NULL;
    double squares = 0;
    struct clv_training training = letters_training(&examples, path);
    OWNED(clv_training_result_release) struct clv_training_result result = run("crf", &training);
    for (size_t k = 0; k < clv_weight_layout_size(&letter_shape); k++)
        squares += result.w[k] * result.w[k];
    ck_assert_double_eq_tol(result.curve[result.n_curve - 1].objective, 2207.3104, 2207.3104 * 1e-4);
    ck_assert_double_eq_tol(sqrt(squares), 29.576, 0.05);
    clv_dataset_free((struct clv_dataset *)(uintptr_t)training.dataset);
}

TEST(threads_leave_the_bytes_alone)
{
    const char *path = real_data("threads_leave_the_bytes_alone", "letters/letter.data.gz");
    if (!path)
        return;
    OWNED_ARRAY int32_t *examples = NULL;
    struct clv_training training = letters_training(&examples, path);
    for (int penalty = 0; penalty < 3; penalty++) {
        set(&training, "crf", "penalty", penalty);
        set(&training, "crf", "passes", 6);
        training.n_threads = 1;
        OWNED(clv_training_result_release) struct clv_training_result one = run("crf", &training);
        training.n_threads = 3;
        OWNED(clv_training_result_release) struct clv_training_result three = run("crf", &training);
        ck_assert_mem_eq(one.w, three.w, clv_weight_layout_size(&letter_shape) * sizeof *one.w);
    }
    clv_dataset_free((struct clv_dataset *)(uintptr_t)training.dataset);
}
