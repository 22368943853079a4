/* Tags of the scene set: training and testing LMSBN, one thread, compared with libsvm (RBF) and liblinear (linear) with
 * one binary classifier per tag, of the same C and gamma, in turn; and training alone on yeast and bibtex. Times are
 * CPU times of this thread. The peers' progress is not printed. */
#include <string.h>

#include "bench.h"
#include "cleave.h"
#include "tags/tags.h"

#if __has_include(<libsvm/svm.h>) && __has_include(<linear.h>)
#define HAVE_PEERS 1
#include <libsvm/svm.h>
#include <linear.h>
#else
#define HAVE_PEERS 0
#endif

enum { ROUNDS = 3 };

static void stop_on(enum clv_status status, const struct clv_error *error)
{
    if (status != CLV_OK) {
        fprintf(stderr, "tag: %s\n", error->message);
        exit(1);
    }
}

struct sets {
    const char *name;
    struct clv_tag_set train, test;
};

static int read_sets(struct sets *sets, const char *name)
{
    struct clv_error error;
    char path[256];
    *sets = (struct sets){.name = name};
    snprintf(path, sizeof path, "multilabel/%s/train.svm", name);
    const char *found = bench_data("tag", path);
    if (!found)
        return 0;
    stop_on(clv_tag_set_read(&sets->train, found, 0, &error), &error);
    snprintf(path, sizeof path, "multilabel/%s/test.svm", name);
    stop_on(clv_tag_set_read(&sets->test, bench_data("tag", path), sets->train.n_tags, &error), &error);
    return 1;
}

struct setting {
    int is_rbf;
    double lambda, gamma, tolerance;
};

/* Seconds for training, and for scoring and deciding the test examples. */
static void run_ours(double seconds[2], struct clv_tag_score *score, const struct sets *sets, const char *learner,
                     const struct setting *setting)
{
    struct clv_error error;
    struct clv_tag_model model;
    struct clv_tag_training training;
    struct clv_belief_search search = {.max_nodes = 100000};
    size_t n = sets->test.n, k = (size_t)sets->test.n_tags;
    double *scores = malloc(n * k * sizeof *scores), start = bench_cpu();
    uint8_t *tags = malloc(n * k);
    clv_tag_training_defaults(&training, clv_tag_learner_find(learner));
    training.set = &sets->train;
    training.is_rbf = setting->is_rbf;
    training.seed = 1;
    training.n_threads = 1;
    training.parameters[CLV_TAG_LAMBDA] = setting->lambda;
    training.parameters[CLV_TAG_GAMMA] = setting->gamma;
    training.parameters[CLV_TAG_TOLERANCE] = setting->tolerance;
    stop_on(clv_tag_train(&model, NULL, &training, &error), &error);
    seconds[0] = bench_cpu() - start;
    start = bench_cpu();
    stop_on(clv_tag_scores(scores, &model, &sets->test, 1, &error), &error);
    for (size_t l = 0; l < n; l++)
        stop_on(clv_tag_decide(tags + l * k, NULL, &model, scores + l * k, &search, &error), &error);
    seconds[1] = bench_cpu() - start;
    stop_on(clv_tag_measure(score, sets->test.tags, tags, n, sets->test.n_tags, &error), &error);
    clv_tag_model_release(&model);
    free(scores);
    free(tags);
}

#if HAVE_PEERS
static void be_quiet(const char *text)
{
    (void)text;
}

/* A set's rows as libsvm has them: one block of nodes, each row ended by index -1; liblinear's node is the same struct
 * but for its name. `unit` multiplies values. */
static struct svm_node **rows_of(const struct clv_tag_set *set, double unit)
{
    struct svm_node *nodes = malloc(((size_t)set->row[set->n] + 2 * set->n) * sizeof *nodes);
    struct svm_node **rows = malloc((set->n + 1) * sizeof *rows);
    rows[set->n] = nodes; /* for freeing */
    for (size_t l = 0; l < set->n; l++) {
        rows[l] = nodes;
        for (int64_t k = set->row[l]; k < set->row[l + 1]; k++)
            *nodes++ = (struct svm_node){set->index[k] + 1, unit * set->value[k]};
        *nodes++ = (struct svm_node){-1, 0};
        *nodes++ = (struct svm_node){-1, 0}; /* space for liblinear's bias */
    }
    return rows;
}

static void run_libsvm(double seconds[2], struct clv_tag_score *score, const struct sets *sets,
                       const struct setting *setting)
{
    size_t n = sets->train.n, m = sets->test.n, k = (size_t)sets->train.n_tags;
    struct svm_node **x = rows_of(&sets->train, 1), **z = rows_of(&sets->test, 1);
    double *y = malloc(n * sizeof *y);
    uint8_t *tags = malloc(m * k);
    struct clv_error error;
    seconds[0] = seconds[1] = 0;
    svm_set_print_string_function(be_quiet);
    for (size_t i = 0; i < k; i++) {
        for (size_t l = 0; l < n; l++)
            y[l] = sets->train.tags[l * k + i] ? 1 : -1;
        struct svm_problem problem = {(int)n, y, x};
        struct svm_parameter parameter = {.svm_type = C_SVC,
                                          .kernel_type = RBF,
                                          .gamma = setting->gamma,
                                          .cache_size = 100,
                                          .eps = 1e-3,
                                          .C = 1 / (setting->lambda * (double)n),
                                          .shrinking = 1};
        double start = bench_cpu();
        struct svm_model *model = svm_train(&problem, &parameter);
        seconds[0] += bench_cpu() - start;
        start = bench_cpu();
        for (size_t l = 0; l < m; l++)
            tags[l * k + i] = svm_predict(model, z[l]) > 0;
        seconds[1] += bench_cpu() - start;
        svm_free_and_destroy_model(&model);
    }
    stop_on(clv_tag_measure(score, sets->test.tags, tags, m, (int32_t)k, &error), &error);
    free(x[0]);
    free(z[0]);
    free(x);
    free(z);
    free(y);
    free(tags);
}

/* Inputs of mean square length 1, as ours has them, so that C means the same. */
static double unit_of(const struct clv_tag_set *set)
{
    double sum = 0;
    for (int64_t k = 0; k < set->row[set->n]; k++)
        sum += set->value[k] * set->value[k];
    return __builtin_sqrt((double)set->n / sum);
}

/* liblinear's constant feature, at the end of each row. */
static void add_bias(struct svm_node **rows, size_t n, int index)
{
    for (size_t l = 0; l < n; l++) {
        struct svm_node *node = rows[l];
        while (node->index != -1)
            node++;
        *node = (struct svm_node){index, 1};
    }
}

static void run_liblinear(double seconds[2], struct clv_tag_score *score, const struct sets *sets,
                          const struct setting *setting)
{
    size_t n = sets->train.n, m = sets->test.n, k = (size_t)sets->train.n_tags;
    double unit = unit_of(&sets->train);
    struct svm_node **x = rows_of(&sets->train, unit), **z = rows_of(&sets->test, unit);
    double *y = malloc(n * sizeof *y);
    uint8_t *tags = malloc(m * k);
    struct clv_error error;
    int bias = sets->train.n_features + 1;
    add_bias(x, n, bias);
    add_bias(z, m, bias);
    seconds[0] = seconds[1] = 0;
    set_print_string_function(be_quiet);
    for (size_t i = 0; i < k; i++) {
        for (size_t l = 0; l < n; l++)
            y[l] = sets->train.tags[l * k + i] ? 1 : -1;
        struct problem problem = {(int)n, bias, y, (struct feature_node **)x, 1};
        struct parameter parameter = {
            .solver_type = L2R_L1LOSS_SVC_DUAL, .eps = 0.1, .C = 1 / (setting->lambda * (double)n)};
        double start = bench_cpu();
        struct model *model = train(&problem, &parameter);
        seconds[0] += bench_cpu() - start;
        start = bench_cpu();
        for (size_t l = 0; l < m; l++)
            tags[l * k + i] = predict(model, (struct feature_node *)z[l]) > 0;
        seconds[1] += bench_cpu() - start;
        free_and_destroy_model(&model);
    }
    stop_on(clv_tag_measure(score, sets->test.tags, tags, m, (int32_t)k, &error), &error);
    free(x[0]);
    free(z[0]);
    free(x);
    free(z);
    free(y);
    free(tags);
}
#endif

static void print_measures(const char *name, const double seconds[2], const struct clv_tag_score *score)
{
    printf("  %-22s train %7.3f s, test %6.3f s; exact %.2f Hamming %.2f F-sample %.2f F-macro %.2f F-micro %.2f\n",
           name, seconds[0], seconds[1], 100 * score->exact_match, 100 * score->hamming, 100 * score->f_sample,
           100 * score->f_macro, 100 * score->f_micro);
}

/* ratio > 1: we are faster. */
static void compare(const struct sets *sets, const struct setting *setting, int rounds)
{
    struct bench_series ours = {.n = 0}, peer = {.n = 0};
    struct clv_tag_score score = {0};
    double seconds[2];
    const char *peer_name = setting->is_rbf ? "libsvm, one per tag" : "liblinear, one per tag";
    for (int round = 0; round < rounds; round++) {
        run_ours(seconds, &score, sets, "lmsbn", setting);
        bench_add(&ours, seconds[0] + seconds[1]);
        if (round == 0)
            print_measures("lmsbn", seconds, &score);
#if HAVE_PEERS
        (setting->is_rbf ? run_libsvm : run_liblinear)(seconds, &score, sets, setting);
        bench_add(&peer, seconds[0] + seconds[1]);
        if (round == 0)
            print_measures(peer_name, seconds, &score);
#endif
    }
    if (!peer.n) {
        printf("tag: %s: %.3f s; peers absent (libsvm-dev, liblinear-dev)\n", sets->name, bench_summarise(ours).median);
        return;
    }
    struct bench_summary ratio = bench_ratio(&peer, &ours);
    printf("tag: %s, train + test: %.2fx %s (%.2f..%.2f over %d rounds), %.3f s against %.3f s\n", sets->name,
           ratio.median, peer_name, ratio.low, ratio.high, ours.n, bench_summarise(ours).median,
           bench_summarise(peer).median);
    fflush(stdout);
}

int main(void)
{
    static const struct {
        const char *name;
        struct setting setting;
        int rounds;
    } runs[] = {
        {"scene", {1, 4e-4, 0.0785, 1e-6}, ROUNDS}, {"scene", {0, 2e-4, 0, 1e-4}, ROUNDS},
        {"yeast", {1, 1e-3, 1, 1e-4}, 1},           {"yeast", {0, 1e-3, 0, 1e-4}, 1},
        {"bibtex", {0, 1e-3, 0, 1e-3}, 1},
    };
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        struct sets sets;
        if (!read_sets(&sets, runs[i].name))
            return 0;
        compare(&sets, &runs[i].setting, runs[i].rounds);
        clv_tag_set_release(&sets.train);
        clv_tag_set_release(&sets.test);
    }
    return 0;
}
