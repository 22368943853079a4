/* Learning with hidden nodes: the cost of a pass by nodes and labels, on grids (belief propagation) and on chains of
 * which every second node is hidden (exact), with full tables; and the gain by a second thread. A pass is a gradient of
 * all examples: inference for both terms and the sums of features. Its cost is the time of a training divided by its
 * passes, including the start and the evaluation at the end, so it cannot be negative like a difference of two
 * trainings. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "bench.h"
#include "cleave.h"

#define EXAMPLES   8
#define FEATURES   40
#define NON_ZEROS  8
#define PASSES     12
#define ROUNDS     3
#define MAX_NODES  (62 * 40)
#define MAX_LABELS 21

static const char *const learners[] = {"mssvm", "lssvm", "hcrf"};
#define N_LEARNERS (sizeof learners / sizeof *learners)

static void stop_on(enum clv_status status, const struct clv_error *error)
{
    if (!status)
        return;
    fprintf(stderr, "%s\n", error->message);
    exit(clv_status_exit_code(status));
}

/* A problem on a grid (height 1: a chain); a fifth of a grid's nodes is hidden, in blocks, and every second one of a
 * chain. */
static void draw_problem(struct clv_dataset *dataset, int32_t width, int32_t height, int32_t n_labels, uint64_t seed)
{
    static int64_t row[MAX_NODES + 1];
    static int32_t index[MAX_NODES * NON_ZEROS], edges[2 * MAX_NODES][2], label[MAX_NODES];
    static float value[MAX_NODES * NON_ZEROS], edge_features[2 * MAX_NODES], theta[MAX_NODES * MAX_LABELS];
    int32_t n = width * height, m = 0;
    struct clv_error error;
    memset(theta, 0, sizeof theta);
    for (int32_t i = 0; i < n; i++) {
        int32_t x = i % width, y = i / width, truth = (x / 5 + 3 * (y / 5)) % n_labels;
        int is_hidden = height == 1 ? i % 2 : x % 5 == 4 || (y % 5 == 4 && x % 10 < 5);
        row[i + 1] = (int64_t)(i + 1) * NON_ZEROS;
        for (int32_t f = 0; f < NON_ZEROS; f++) {
            int32_t step = FEATURES / NON_ZEROS, at = i * NON_ZEROS + f;
            uint64_t key = seed << 32 | (uint64_t)at;
            index[at] = f * step + (int32_t)rng_below(1, RNG_TEST, key, (uint32_t)step);
            value[at] = (float)(0.2 * rng_normal(2, RNG_TEST, key)) + (f * step % n_labels == truth);
        }
        label[i] = is_hidden ? CLV_UNKNOWN : truth;
        theta[i * n_labels + truth] = !is_hidden;
        for (int side = 0; side < 2; side++)
            if (side ? y + 1 < height : x + 1 < width) {
                edges[m][0] = i;
                edges[m][1] = side ? i + width : i + 1;
                edge_features[m] = (float)(0.5 + rng_uniform(3, RNG_TEST, seed << 32 | (uint64_t)m));
                m++;
            }
    }
    const struct clv_problem problem = {.n_nodes = n,
                                        .n_edges = m,
                                        .n_features = FEATURES,
                                        .n_edge_features = 1,
                                        .row = row,
                                        .index = index,
                                        .value = value,
                                        .edges = (const int32_t(*)[2])edges,
                                        .edge_features = edge_features,
                                        .label = label,
                                        .theta = theta};
    stop_on(clv_dataset_add(dataset, &problem, "drawn", &error), &error);
}

static struct clv_dataset *draw(int32_t width, int32_t height, int32_t n_labels)
{
    struct clv_dataset *dataset;
    struct clv_error error;
    stop_on(clv_dataset_new(&dataset, n_labels, &error), &error);
    for (uint64_t i = 0; i < EXAMPLES; i++)
        draw_problem(dataset, width, height, n_labels, i);
    return dataset;
}

/* Trains; *result is the caller's to release. Returns CPU seconds of one thread, or of the wall with more. */
static double run(struct clv_training_result *result, const struct clv_dataset *dataset, const char *name, int passes,
                  int n_threads)
{
    static const int32_t examples[EXAMPLES] = {0, 1, 2, 3, 4, 5, 6, 7};
    const struct clv_learner *learner = clv_learner_find(name);
    struct clv_error error;
    struct clv_training training;
    clv_training_defaults(&training, learner);
    training.dataset = dataset;
    training.examples = examples;
    training.n_examples = EXAMPLES;
    training.layout = (struct clv_weight_layout){clv_dataset_n_labels(dataset), FEATURES, 1, CLV_PAIRWISE_FULL};
    training.seed = 1;
    training.n_threads = n_threads;
    training.parameters[clv_learner_parameter(learner, "passes")] = passes;
    training.parameters[clv_learner_parameter(learner, "curve")] = passes;
    training.parameters[clv_learner_parameter(learner, "batch")] = 0;
    double start = n_threads == 1 ? bench_cpu() : bench_wall();
    stop_on(clv_train(result, learner, &training, &error), &error);
    return (n_threads == 1 ? bench_cpu() : bench_wall()) - start;
}

static void print_cost(int32_t width, int32_t height, int32_t n_labels)
{
    struct clv_dataset *dataset = draw(width, height, n_labels);
    printf("hidden: %2dx%-3d %5d nodes, %2d labels: ms an example and pass:", height, width, width * height, n_labels);
    for (size_t l = 0; l < N_LEARNERS; l++) {
        struct bench_series series = {.n = 0};
        for (int round = 0; round < ROUNDS; round++) {
            struct clv_training_result result;
            bench_add(&series, 1e3 * run(&result, dataset, learners[l], PASSES, 1) / (EXAMPLES * PASSES));
            clv_training_result_release(&result);
        }
        struct bench_summary cost = bench_summarise(series);
        printf("  %s %.3g (%.3g..%.3g)", learners[l], cost.median, cost.low, cost.high);
        fflush(stdout);
    }
    printf(", %d rounds\n", ROUNDS);
    clv_dataset_free(dataset);
}

/* Wall clock, so it needs two idle processors. */
static void print_threads(void)
{
    struct clv_dataset *dataset = draw(31, 20, 9);
    for (size_t l = 0; l < N_LEARNERS; l++) {
        struct bench_series one = {.n = 0}, two = {.n = 0};
        size_t size = 0;
        int is_same = 1;
        for (int round = 0; round < ROUNDS; round++) {
            struct clv_training_result a, b;
            double start = bench_wall();
            run(&a, dataset, learners[l], PASSES, 1);
            bench_add(&one, bench_wall() - start);
            bench_add(&two, run(&b, dataset, learners[l], PASSES, 2));
            const struct clv_weight_layout layout = {9, FEATURES, 1, CLV_PAIRWISE_FULL};
            size = clv_weight_layout_size(&layout) * sizeof *a.w;
            is_same = is_same && memcmp(a.w, b.w, size) == 0;
            clv_training_result_release(&a);
            clv_training_result_release(&b);
        }
        struct bench_summary ratio = bench_ratio(&one, &two);
        printf("hidden: two threads %.2f (%.2f to %.2f) times as fast as one, %s, %s weights, %d rounds\n",
               ratio.median, ratio.low, ratio.high, learners[l], is_same ? "the same" : "DIFFERENT", ROUNDS);
    }
    clv_dataset_free(dataset);
}

int main(void)
{
    static const int32_t grids[][3] = {{15, 10, 9},  {31, 20, 9}, {62, 40, 9}, {31, 20, 4},
                                       {31, 20, 21}, {20, 1, 4},  {200, 1, 4}, {200, 1, 16}};
    for (size_t g = 0; g < sizeof grids / sizeof *grids; g++)
        print_cost(grids[g][0], grids[g][1], grids[g][2]);
    print_threads();
    return 0;
}
