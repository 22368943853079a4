/* Training the structured SVM and the CRF on one fold of the OCR words compared with dlib's
 * structural_sequence_labeling_trainer, in turn, one thread: CPU seconds, the objective that each reaches, letter
 * errors on the other nine folds, memory beyond the data; and the CRF's wall time with two threads. `letters_train
 * large` trains on nine folds and tests on one, once. */
#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench.h"
#include "cleave.h"
#include "feature/dataset/dataset.h"

#define N_ROUNDS 5
#define C        0.1 /* of 1/2 |w|^2 + C sum H, H unnormalised */
#define SIZE     (LETTER_LABELS * (LETTER_FEATURES + LETTER_LABELS))

static void stop_on(enum clv_status status, const struct clv_error *error)
{
    if (status == CLV_OK)
        return;
    fprintf(stderr, "letters_train: %s\n", error->message);
    exit(70);
}

static struct clv_dataset *fold_dataset(const struct letters *letters, int32_t first, int32_t last)
{
    uint8_t folds[LETTER_MAX_FOLDS] = {0};
    struct clv_dataset *dataset;
    struct clv_error error;
    for (int32_t fold = first; fold <= last; fold++)
        folds[fold] = 1;
    stop_on(letters_dataset(&dataset, letters, folds, &error), &error);
    return dataset;
}

static void write_words(const char *path, const struct clv_dataset *dataset)
{
    FILE *stream = fopen(path, "wb");
    uint32_t n = (uint32_t)clv_dataset_size(dataset);
    if (!stream)
        exit(73);
    fwrite(&n, sizeof n, 1, stream);
    for (size_t i = 0; i < n; i++) {
        struct clv_problem p = clv_dataset_problem(dataset, i);
        fputc(p.n_nodes, stream);
        for (int32_t k = 0; k < p.n_nodes; k++) {
            fputc(p.label[k], stream);
            fputc((int)(p.row[k + 1] - p.row[k]), stream);
            for (int64_t j = p.row[k]; j < p.row[k + 1]; j++)
                fputc(p.index[j], stream);
        }
    }
    fclose(stream);
}

static const struct clv_weight_layout layout = {LETTER_LABELS, LETTER_FEATURES, 1, CLV_PAIRWISE_FULL};

struct outcome {
    struct bench_series seconds, wall;
    double w[SIZE], objective, error;
    long memory_kb;
};

/* 1/2 |w|^2 + C sum H by the loss-augmented oracle, and the share of wrong letters elsewhere. */
static void judge(struct outcome *outcome, const struct clv_dataset *train, const struct clv_dataset *test)
{
    struct clv_oracle *oracle;
    struct clv_error error;
    double unary[64 * LETTER_LABELS], n_letters = 0, loss;
    stop_on(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, &error), &error);
    outcome->objective = 0;
    for (size_t k = 0; k < SIZE; k++)
        outcome->objective += outcome->w[k] * outcome->w[k] / 2;
    for (size_t i = 0; i < clv_dataset_size(train); i++) {
        struct clv_problem p = clv_dataset_problem(train, i);
        struct clv_field field = {.n_nodes = p.n_nodes,
                                  .n_edges = p.n_edges,
                                  .n_labels = LETTER_LABELS,
                                  .form = CLV_PAIRWISE_FULL,
                                  .is_shared = 1,
                                  .edges = p.edges,
                                  .unary = unary,
                                  .pairwise = outcome->w + clv_weight_layout_unary_size(&layout)};
        int32_t y[64];
        double best;
        clv_unary_scores(unary, &p, &layout, outcome->w);
        double truth = clv_field_score(&field, p.label);
        clv_field_add_loss(&field, &p);
        stop_on(clv_oracle_map(oracle, y, &best, &field, &error), &error);
        outcome->objective += C * (best - truth);
    }
    size_t n = clv_dataset_size(test);
    int32_t *examples = malloc(n * sizeof *examples);
    for (size_t i = 0; i < n; i++) {
        examples[i] = (int32_t)i;
        n_letters += clv_dataset_problem(test, i).n_nodes;
    }
    stop_on(clv_evaluate(&loss, test, examples, n, &layout, outcome->w, NULL, CLV_ENGINE_DEFAULT, 1, &error), &error);
    outcome->error = loss * (double)n / n_letters;
    free(examples);
    clv_oracle_free(oracle);
}

static long peak_kb(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/* By one of our learners; *objective is what its own curve ends with, for the CRF NLL + |w|^2. */
static void train_ours(struct outcome *outcome, const char *name, const struct clv_dataset *dataset, int n_threads)
{
    const struct clv_learner *learner = clv_learner_find(name);
    size_t n = clv_dataset_size(dataset);
    struct clv_training_result result;
    struct clv_error error;
    double scale = 0;
    int32_t *examples = malloc(n * sizeof *examples);
    for (size_t i = 0; i < n; i++) {
        struct clv_problem p = clv_dataset_problem(dataset, i);
        examples[i] = (int32_t)i;
        scale += p.n_nodes * (double)(p.row[p.n_nodes] - p.row[0]) / (double)n; /* see learn.h; features are 0 or 1 */
    }
    struct clv_training training;
    clv_training_defaults(&training, learner);
    training.dataset = dataset;
    training.examples = examples;
    training.n_examples = n;
    training.layout = layout;
    training.seed = 1;
    training.n_threads = n_threads;
    if (learner == clv_learner_find("ssvm")) {
        training.parameters[clv_learner_parameter(learner, "table-variance")] = 1; /* 1/2 |w|^2, as dlib's */
        training.parameters[clv_learner_parameter(learner, "lambda")] = 1 / (C * (double)n * scale);
    }
    long before = peak_kb();
    double start = bench_cpu(), wall = bench_wall();
    stop_on(clv_train(&result, learner, &training, &error), &error);
    bench_add(&outcome->seconds, bench_cpu() - start);
    bench_add(&outcome->wall, bench_wall() - wall);
    if (peak_kb() - before > outcome->memory_kb)
        outcome->memory_kb = peak_kb() - before;
    memcpy(outcome->w, result.w, sizeof outcome->w);
    outcome->objective = result.curve[result.n_curve - 1].objective;
    clv_training_result_release(&result);
    free(examples);
}

/* 0 where dlib's program was not built. */
static int train_dlib(struct outcome *outcome, const char *words, const char *weights, size_t n)
{
    const char *build = getenv("CLEAVE_BUILD");
    char command[8192];
    double seconds;
    snprintf(command, sizeof command, "%s/bench/dlib_train %s %s %g 0.1 2>/dev/null", build ? build : "build", words,
             weights, C * (double)n); /* its C is that of the mean; 0.1 is its own default for epsilon */
    FILE *pipe = popen(command, "r");
    int done = pipe && fscanf(pipe, "%lf", &seconds) == 1;
    if (pipe)
        pclose(pipe);
    FILE *stream = done ? fopen(weights, "rb") : NULL;
    done = stream && fread(outcome->w, sizeof outcome->w, 1, stream) == 1;
    if (stream)
        fclose(stream);
    if (done)
        bench_add(&outcome->seconds, seconds);
    return done;
}

static void print_ours(const char *name, const struct outcome *ours, const struct outcome *theirs, int has_dlib)
{
    struct bench_series seconds = ours->seconds, peers = theirs->seconds;
    printf("letters_train: %s ", name);
    if (has_dlib) {
        struct bench_summary ratio = bench_ratio(&seconds, &peers);
        printf("%.3f of dlib's time (%.3f..%.3f), ", ratio.median, ratio.low, ratio.high);
    }
    printf("%.3f s, objective %.2f, error %.2f %%, %.1f MB beyond the data, %d rounds\n",
           bench_summarise(seconds).median, ours->objective, 100 * ours->error, (double)ours->memory_kb / 1024,
           seconds.n);
}

/* On a busy machine, OMP_WAIT_POLICY=passive and the calling thread's CPU say more than the wall clock. */
static void print_threads(const struct outcome *one, const struct outcome *two)
{
    struct bench_summary wall = bench_ratio(&one->wall, &two->wall), cpu = bench_ratio(&one->seconds, &two->seconds);
    printf("letters_train: crf with 2 threads %.2f times as fast by wall (%.2f..%.2f), %.2f by its thread's CPU "
           "(%.2f..%.2f), %s bytes, %d rounds\n",
           wall.median, wall.low, wall.high, cpu.median, cpu.low, cpu.high,
           memcmp(one->w, two->w, sizeof one->w) ? "OTHER" : "the same", one->wall.n);
}

int main(int argc, char **argv)
{
    const char *path = bench_data("letters_train", "letters/letter.data.gz");
    char words[] = "/tmp/letters-words-XXXXXX", weights[] = "/tmp/letters-weights-XXXXXX";
    static struct outcome ssvm, crf, crf_on_two, theirs;
    struct letters letters = {0};
    struct clv_error error;
    int is_large = argc > 1 && strcmp(argv[1], "large") == 0;
    if (!path)
        return 0;
    int fds[2] = {mkstemp(words), mkstemp(weights)};
    if (fds[0] < 0 || fds[1] < 0)
        return 73;
    close(fds[0]);
    close(fds[1]);
    stop_on(letters_read(&letters, path, &error), &error);
    struct clv_dataset *train = fold_dataset(&letters, is_large, is_large ? 9 : 0);
    struct clv_dataset *test = fold_dataset(&letters, !is_large, is_large ? 0 : 9);
    write_words(words, train);
    int has_dlib = 1;
    for (int round = 0; round < (is_large ? 1 : N_ROUNDS); round++) {
        train_ours(&crf, "crf", train, 1);
        train_ours(&ssvm, "ssvm", train, 1);
        has_dlib = has_dlib && train_dlib(&theirs, words, weights, clv_dataset_size(train));
        train_ours(&crf_on_two, "crf", train, 2);
    }
    double likelihood = crf.objective;
    judge(&ssvm, train, test);
    judge(&crf, train, test);
    crf.objective = likelihood;
    print_ours("ssvm", &ssvm, &theirs, has_dlib);
    print_ours("crf", &crf, &theirs, has_dlib);
    print_threads(&crf, &crf_on_two);
    if (has_dlib) {
        judge(&theirs, train, test);
        printf("letters_train: dlib %.2f s, objective %.2f, error %.2f %%\n", bench_summarise(theirs.seconds).median,
               theirs.objective, 100 * theirs.error);
    } else {
        printf("letters_train: dlib is absent (libdlib-dev)\n");
    }
    clv_dataset_free(train);
    clv_dataset_free(test);
    letters_release(&letters);
    unlink(words);
    unlink(weights);
    return 0;
}
