/* Simulated fields: samples against enumeration, problems against the model they come from, files, options. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feature/dataset/dataset.h"
#include "feature/small_set.h"
#include "support/support.h"
#include "tools/reproduce/simulate/hidden_sample.h"
#include "tools/reproduce/simulate/streams.h"

#define MAX_STATES 81 /* 3 labels, 4 nodes */

static struct hidden_options small_field(enum hidden_graph graph)
{
    struct hidden_options options;
    simulate_hidden_init(&options, graph);
    options.n_train = 3;
    options.n_test = 5;
    options.n_labels = 3;
    options.size = graph == HIDDEN_CHAIN ? 4 : 2;
    options.sigma_yh = 1;
    options.n_sweeps = 40;
    options.seed = 5;
    return options;
}

/* The score of (y, h) with x summed out, or with x given. */
static double score_of(const struct hidden_model *model, const int32_t *y, const int32_t *x)
{
    int32_t k = model->n_labels;
    double score = 0;
    for (int32_t i = 0; i < model->n_nodes; i++)
        score += x ? model->emission[(i * k + x[i]) * k + y[i]] : model->unary[i * k + y[i]];
    for (int32_t e = 0; e < model->n_edges; e++)
        score += model->table[(e * k + y[model->edges[e][0]]) * k + y[model->edges[e][1]]];
    return score;
}

static void labelling(int32_t *y, int32_t state, int32_t n, int32_t k)
{
    for (int32_t i = 0; i < n; i++, state /= k)
        y[i] = state % k;
}

/* Pearson's statistic of counts[n] against probabilities is within five deviations of its mean. */
static void expect_frequencies(const int32_t *counts, const double *probability, int32_t n, int32_t n_samples)
{
    double statistic = 0;
    for (int32_t s = 0; s < n; s++) {
        double expected = n_samples * probability[s];
        statistic += (counts[s] - expected) * (counts[s] - expected) / expected;
    }
    ck_assert_msg(statistic < n - 1 + 5 * sqrt(2.0 * (n - 1)), "chi-square is %g for %d states", statistic, n);
}

static void expect_sampler_of_the_model(const struct hidden_options *options, int32_t n_sweeps, int32_t n_samples)
{
    OWNED(hidden_model_release) struct hidden_model model = {0};
    OWNED(hidden_sampler_release) struct hidden_sampler sampler = {0};
    must(hidden_model_init(&model, options, err));
    must(hidden_sampler_init(&sampler, &model, n_sweeps, err));
    int32_t k = model.n_labels, counts[MAX_STATES] = {0}, inputs[4][9] = {{0}}, y[4], x[4];
    double probability[MAX_STATES], input[4][9] = {{0}}, total = 0;
    ck_assert_int_eq(model.n_nodes, 4);
    for (int32_t s = 0; s < MAX_STATES; s++) {
        labelling(y, s, 4, k);
        total += probability[s] = exp(score_of(&model, y, NULL));
    }
    for (int32_t s = 0; s < MAX_STATES; s++) {
        probability[s] /= total;
        labelling(y, s, 4, k);
        for (int32_t i = 0; i < 4; i++)
            for (int32_t r = 0; r < k; r++) /* p(x_i = r, y_i) */
                input[i][r * k + y[i]] +=
                    probability[s] * exp(model.emission[(i * k + r) * k + y[i]] - model.unary[i * k + y[i]]);
    }
    for (int32_t index = 0; index < n_samples; index++) {
        hidden_sample(y, x, &sampler, 1, stream_of_problem(0, (size_t)index));
        counts[y[0] + 3 * y[1] + 9 * y[2] + 27 * y[3]]++;
        for (int32_t i = 0; i < 4; i++)
            inputs[i][x[i] * k + y[i]]++;
    }
    expect_frequencies(counts, probability, MAX_STATES, n_samples);
    for (int32_t i = 0; i < 4; i++)
        expect_frequencies(inputs[i], input[i], 9, n_samples);
}

TEST(chains_are_sampled_exactly)
{
    struct hidden_options options = small_field(HIDDEN_CHAIN);
    expect_sampler_of_the_model(&options, 0, 40000);
}

TEST(gibbs_sweeps_reach_the_distribution_of_chains_and_grids)
{
    struct hidden_options chain = small_field(HIDDEN_CHAIN), grid = small_field(HIDDEN_GRID);
    expect_sampler_of_the_model(&chain, 40, 10000);
    expect_sampler_of_the_model(&grid, 40, 10000);
}

/* The model's weights in the shape of its problems: W[s] of the indicator of x = r is w[r, s] + w[s] (what w[r] adds is
 * the same for all s), P[s][t] of edge e its table. */
static double *weights_of(const struct hidden_model *model, const struct clv_weight_layout *layout, bool is_shared)
{
    int32_t k = model->n_labels, p = layout->n_edge_features;
    double *w = calloc(clv_weight_layout_size(layout), sizeof *w), *pairwise = w + clv_weight_layout_unary_size(layout);
    for (int32_t i = 0; i < model->n_nodes; i++)
        for (int32_t r = 0; r < k; r++)
            for (int32_t s = 0; s < k; s++)
                w[s * layout->n_features + (is_shared ? i >= model->n_visible : i) * (k + 1) + r] =
                    model->emission[(i * k + r) * k + s];
    for (int32_t e = 0; e < model->n_edges; e++)
        for (int32_t st = 0; st < k * k; st++)
            pairwise[st * p + (is_shared ? 0 : e)] = model->table[e * k * k + st];
    return w;
}

static void expect_problems_of_the_model(const struct hidden_options *options)
{
    OWNED(hidden_model_release) struct hidden_model model = {0};
    OWNED(dataset_drop) struct clv_dataset *train = NULL, *test = NULL;
    must(simulate_hidden(&train, &test, options, 1, NULL, err));
    must(hidden_model_init(&model, options, err));
    ck_assert_uint_eq(clv_dataset_size(train), (size_t)options->n_train);
    ck_assert_uint_eq(clv_dataset_size(test), (size_t)options->n_test);
    struct clv_problem problem = clv_dataset_problem(test, 1);
    const struct clv_weight_layout layout = {options->n_labels, problem.n_features, problem.n_edge_features,
                                             CLV_PAIRWISE_FULL};
    OWNED_ARRAY double *w = weights_of(&model, &layout, options->shared_weights);
    OWNED_ARRAY double *psi = malloc(clv_weight_layout_size(&layout) * sizeof *psi);
    OWNED_ARRAY int32_t *x = malloc((size_t)problem.n_nodes * sizeof *x),
                        *y = malloc((size_t)problem.n_nodes * sizeof *y);
    for (int32_t i = 0; i < problem.n_nodes; i++) {
        bool is_visible = i < model.n_visible;
        x[i] = problem.index[problem.row[i]] % (options->n_labels + 1);
        ck_assert((problem.label[i] != CLV_UNKNOWN) == is_visible);
        for (int32_t s = 0; s < options->n_labels; s++)
            ck_assert(problem.theta[i * options->n_labels + s] == (float)(problem.label[i] == s));
    }
    for (uint64_t draw = 0; draw < 5; draw++) {
        double score = 0;
        for (int32_t i = 0; i < problem.n_nodes; i++)
            y[i] = (int32_t)rng_below(draw, RNG_TEST, (uint64_t)i, (uint32_t)options->n_labels);
        memset(psi, 0, clv_weight_layout_size(&layout) * sizeof *psi);
        clv_joint_feature_add(psi, &problem, &layout, y, 1);
        for (size_t j = 0; j < clv_weight_layout_size(&layout); j++)
            score += psi[j] * w[j];
        ck_assert_double_eq_tol(score, score_of(&model, y, x), 1e-9);
    }
}

TEST(a_problems_score_under_the_true_weights_is_the_models)
{
    for (int shared = 0; shared < 2; shared++)
        for (int32_t size = 2; size < 6; size++) {
            struct hidden_options chain = small_field(HIDDEN_CHAIN), grid = small_field(HIDDEN_GRID);
            chain.size = grid.size = size;
            chain.shared_weights = grid.shared_weights = shared;
            expect_problems_of_the_model(&chain);
            expect_problems_of_the_model(&grid);
        }
}

TEST(edges_join_neighbours_of_a_checkerboard)
{
    struct hidden_options options = small_field(HIDDEN_GRID);
    OWNED(hidden_model_release) struct hidden_model model = {0};
    options.size = 3; /* y: cells 0 2 4 6 8, h: 1 3 5 7 */
    must(hidden_model_init(&model, &options, err));
    static const int32_t expected[12][2] = {{0, 5}, {0, 6}, {1, 5}, {2, 5}, {1, 7}, {2, 6},
                                            {3, 6}, {2, 7}, {2, 8}, {4, 7}, {3, 8}, {4, 8}};
    ck_assert_int_eq(model.n_visible, 5);
    ck_assert_int_eq(model.n_edges, 12);
    ck_assert_mem_eq(model.edges, expected, sizeof expected);
}

TEST(sigma_is_a_variance_or_a_deviation)
{
    for (int reading = 0; reading < 2; reading++) {
        struct hidden_options options = small_field(HIDDEN_CHAIN);
        OWNED(hidden_model_release) struct hidden_model model = {0};
        double squares = 0;
        options.size = 2000;
        options.sigma_yh = 3;
        options.sigma_is_deviation = reading;
        must(hidden_model_init(&model, &options, err));
        int32_t n = model.n_edges * 9;
        for (int32_t j = 0; j < n; j++)
            squares += model.table[j] * model.table[j];
        double expected = reading ? 9 : 3;
        ck_assert_double_eq_tol(squares / n, expected, 5 * expected * sqrt(2.0 / n));
    }
}

static void expect_same_sets(const struct clv_dataset *a, const struct clv_dataset *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct clv_problem one = clv_dataset_problem(a, i), other = clv_dataset_problem(b, i);
        ck_assert_str_eq(clv_dataset_name(a, i), clv_dataset_name(b, i));
        expect_same(&one, &other, clv_dataset_n_labels(a));
    }
}

TEST(problem_k_is_the_same_at_any_thread_count_and_size_of_set)
{
    struct hidden_options options = small_field(HIDDEN_GRID);
    struct clv_dataset *sets[6];
    must(simulate_hidden(&sets[0], &sets[1], &options, 1, NULL, err));
    options.n_train = 8;
    must(simulate_hidden(&sets[2], &sets[3], &options, 3, NULL, err));
    expect_same_sets(sets[0], sets[2], 3);
    expect_same_sets(sets[1], sets[3], 5);
    options.seed++;
    must(simulate_hidden(&sets[4], &sets[5], &options, 1, NULL, err));
    struct clv_problem one = clv_dataset_problem(sets[1], 0), other = clv_dataset_problem(sets[5], 0);
    struct clv_problem train = clv_dataset_problem(sets[0], 0);
    size_t size = (size_t)one.n_nodes * 2 * sizeof *one.index;
    ck_assert_mem_ne(one.index, other.index, size);
    ck_assert_mem_ne(one.index, train.index, size);
    for (int i = 0; i < 6; i++)
        clv_dataset_free(sets[i]);
}

TEST(simulated_sets_read_back_from_their_files)
{
    struct hidden_options options = small_field(HIDDEN_CHAIN);
    OWNED(dataset_drop) struct clv_dataset *train = NULL, *test = NULL, *read = NULL;
    const char *path = here("test.safetensors");
    must(simulate_hidden(&train, &test, &options, 1, NULL, err));
    must(clv_dataset_write(path, test, err));
    must(clv_features_open(&read, NULL, path, err));
    ck_assert_int_eq(dataset_pairwise(read), CLV_PAIRWISE_FULL);
    ck_assert_int_eq(dataset_counts_errors(read), 1);
    ck_assert_uint_eq(clv_dataset_size(read), clv_dataset_size(test));
    expect_same_sets(test, read, clv_dataset_size(test));
}

TEST(noisy_images_have_the_noise_and_the_missing_labels_asked_for)
{
    struct noisy_options options;
    struct clv_dataset *sets[2];
    double sum = 0, squares = 0;
    int32_t seen[5] = {0}, n = NOISY_WIDTH * NOISY_HEIGHT, n_known = 0;
    simulate_noisy_init(&options);
    options.train_missing = 0.3;
    must(simulate_noisy(&sets[0], &sets[1], &options, err));
    for (int set = 0; set < 2; set++)
        for (size_t index = 0; index < 10; index++) {
            struct clv_problem problem = clv_dataset_problem(sets[set], index);
            int32_t known = 0;
            ck_assert_int_eq(problem.n_edges, 2 * n - NOISY_WIDTH - NOISY_HEIGHT);
            for (int32_t i = 0; i < n; i++) {
                if (problem.label[i] == CLV_UNKNOWN)
                    continue;
                double noise = problem.value[problem.row[i]] - (problem.label[i] - 2);
                sum += noise;
                squares += noise * noise;
                known++;
                seen[problem.label[i]]++;
            }
            ck_assert_int_eq(known, set ? n : n * 7 / 10);
            n_known += known;
        }
    ck_assert_double_eq_tol(sum / n_known, 0, 4 * sqrt(5.0 / n_known));
    ck_assert_double_eq_tol(squares / n_known, 5, 4 * 5 * sqrt(2.0 / n_known));
    for (int label = 0; label < 5; label++)
        ck_assert_int_gt(seen[label], 100);
    clv_dataset_free(sets[0]);
    clv_dataset_free(sets[1]);
}

TEST(options_out_of_range_are_refused_by_name)
{
    struct hidden_options hidden = small_field(HIDDEN_CHAIN);
    struct noisy_options noisy;
    struct clv_dataset *train, *test;
    hidden.size = 1;
    must_fail(CLV_ERR_USAGE, "nodes of the chain is 1", simulate_hidden(&train, &test, &hidden, 1, NULL, err));
    hidden = small_field(HIDDEN_GRID);
    hidden.sigma_xh = -1;
    must_fail(CLV_ERR_USAGE, "sigma_xh is -1", simulate_hidden(&train, &test, &hidden, 1, NULL, err));
    hidden.sigma_xh = NAN;
    must_fail(CLV_ERR_USAGE, "sigma_xh", simulate_hidden(&train, &test, &hidden, 1, NULL, err));
    simulate_noisy_init(&noisy);
    noisy.test_missing = 1;
    must_fail(CLV_ERR_USAGE, "test labels is 1", simulate_noisy(&train, &test, &noisy, err));
    ck_assert_ptr_null(train);
    static const volatile int stop = 1;
    const struct clv_progress progress = {.stop = &stop};
    hidden = small_field(HIDDEN_GRID);
    must_fail(CLV_ERR_INTERRUPTED, "interrupted", simulate_hidden(&train, &test, &hidden, 2, &progress, err));
}

TEST(the_program_writes_sets_that_train)
{
    static const char *const kinds[] = {"hidden-chain --train 3 --test 2 --nodes 4",
                                        "hidden-grid --train 3 --test 2 --side 2 --sweeps 5 --shared-weights",
                                        "noisy-image --train 1 --test 1 --missing 0.9 --test-missing 0.1"};
    for (int i = 0; i < 3; i++) {
        const char *folder = here("kind%d", i);
        run_here("\"$SIMULATE\" %s %s", kinds[i], folder);
        run_here(
            "cleave train -q --learner independent --passes 2 --pairwise none --data %s/train.safetensors --validate "
            "%s/test.safetensors -o %s/model",
            folder, folder, folder);
    }
}
