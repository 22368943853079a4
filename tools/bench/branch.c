/* Branch and bound in belief networks: nodes and time against the number of tags K, for trained networks and for random
 * ones (Miao & Rao, Figure 3, upper), and how often a cut-off S is sufficient (lower), with Theorem 9's bound 1 - L /
 * S. On bibtex, which has 159 tags; the sources' RCV1-V2 is not available. With a folder as argument, the tables are
 * written there as TSV: tags.tsv, cutoff.tsv. If Clp is installed, the linear program with which the sources compare is
 * timed, too. One thread, CPU times. */
#include <math.h>
#include <string.h>

#include "bench.h"
#include "cleave.h"
#include "tags/tags.h"
#if __has_include(<coin/Clp_C_Interface.h>)
#define HAS_CLP 1
#include "relaxation.h"
#endif

enum { MAX_EXAMPLES = 300, MAX_NODES = 200000, MAX_PROGRAMS = 20 };

static void stop_on(enum clv_status status, const struct clv_error *error)
{
    if (status != CLV_OK) {
        fprintf(stderr, "branch: %s\n", error->message);
        exit(1);
    }
}

/* L(y) of a network, adding up the decisions in order; input[K] is a, y[K] is -1 or 1. */
static double loss_of(const struct clv_belief_net *net, const double *input, const int8_t *y)
{
    const double *weight = net->weight;
    double loss = 0, before[CLV_MAX_BELIEF_TAGS];
    for (int32_t i = 0; i < net->n_tags; i++) {
        const size_t n = clv_belief_count(i, net->order);
        double *products = malloc(n * sizeof *products), z = input[i];
        clv_belief_products(products, before, i, net->order);
        for (size_t k = 0; k < n; k++)
            z += weight[k] * products[k];
        free(products);
        loss += fmax(0, 1 - y[i] * z);
        before[i] = y[i];
        weight += n;
    }
    return loss;
}

/* The first k tags of the first n examples; rows are shared. */
static struct clv_tag_set part_of(const struct clv_tag_set *set, size_t n, int32_t k)
{
    struct clv_tag_set part = *set;
    part.n = n < set->n ? n : set->n;
    part.n_tags = k;
    part.names = NULL;
    part.tags = malloc(part.n * (size_t)k);
    for (size_t l = 0; l < part.n; l++)
        memcpy(part.tags + l * (size_t)k, set->tags + l * (size_t)set->n_tags, (size_t)k);
    return part;
}

static struct clv_tag_model trained(const struct clv_tag_set *set, size_t n, int32_t k)
{
    struct clv_error error;
    struct clv_tag_model model;
    struct clv_tag_set part = part_of(set, n, k);
    struct clv_tag_training training;
    clv_tag_training_defaults(&training, clv_tag_learner_find("lmsbn"));
    training.set = &part;
    training.seed = 1;
    training.n_threads = 1;
    training.parameters[CLV_TAG_LAMBDA] = 1e-3;
    training.parameters[CLV_TAG_TOLERANCE] = 1e-3;
    training.parameters[CLV_TAG_PASSES] = 60;
    stop_on(clv_tag_train(&model, NULL, &training, &error), &error);
    free(part.tags);
    return model;
}

/* A network that has learned nothing: couplings and input weights N(0, 1) / root of how many there are, for |z| of
 * about 1. */
static struct clv_tag_model untrained(int32_t n_features, int32_t k)
{
    uint64_t state = 88172645463325252u;
    size_t d = (size_t)n_features, n = (size_t)k, m = clv_tag_coupling_count(CLV_TAGS_LMSBN, k, 2);
    struct clv_tag_model model = {.form = CLV_TAGS_LMSBN, .n_tags = k, .n_features = n_features, .order = 2};
    model.tag_of = malloc(n * sizeof *model.tag_of);
    model.bias = calloc(n, sizeof *model.bias);
    model.weight = malloc(n * d * sizeof *model.weight);
    model.coupling = malloc((m + 1) * sizeof *model.coupling);
    for (size_t i = 0; i < n; i++)
        model.tag_of[i] = (int32_t)i;
    for (size_t i = 0; i < n * d + m; i++) {
        double sum = -6; /* twelve uniforms: near enough to normal */
        for (int j = 0; j < 12; j++) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            sum += (double)(state >> 11) / 9007199254740992.0;
        }
        if (i < n * d)
            model.weight[i] = sum / 8; /* about 70 features are set in an example */
        else
            model.coupling[i - n * d] = sum / sqrt((double)k);
    }
    return model;
}

struct effort {
    double nodes, nodes_deviation, seconds, seconds_deviation, optimal, loss;
    double *least; /* [n] loss of the labelling found */
};

static double deviation(double sum, double squares, double n)
{
    return n > 1 ? sqrt(fmax(0, squares - sum * sum / n) / (n - 1)) : 0;
}

/* Decides the first n test examples; `loss` is the mean L of the true tags. */
static struct effort measure(const struct clv_tag_model *model, const struct clv_tag_set *test, size_t n,
                             uint64_t max_nodes)
{
    struct clv_error error;
    struct effort effort = {0};
    struct clv_tag_set part = part_of(test, n, model->n_tags);
    size_t k = (size_t)model->n_tags;
    double *scores = malloc(part.n * k * sizeof *scores), nodes2 = 0, seconds2 = 0;
    uint8_t *tags = malloc(k);
    int8_t *truth = malloc(k);
    const struct clv_belief_net net = {model->n_tags, model->order, model->coupling};
    effort.least = malloc(part.n * sizeof *effort.least);
    stop_on(clv_tag_scores(scores, model, &part, 1, &error), &error);
    for (size_t l = 0; l < part.n; l++) {
        struct clv_belief_result result;
        struct clv_belief_search search = {.max_nodes = max_nodes};
        double start = bench_cpu();
        stop_on(clv_tag_decide(tags, &result, model, scores + l * k, &search, &error), &error);
        double seconds = bench_cpu() - start;
        effort.least[l] = result.is_optimal ? result.loss : INFINITY;
        effort.nodes += (double)result.n_nodes;
        nodes2 += (double)result.n_nodes * (double)result.n_nodes;
        effort.seconds += seconds;
        seconds2 += seconds * seconds;
        effort.optimal += result.is_optimal;
        for (size_t i = 0; i < k; i++) /* decisions are by index */
            truth[i] = part.tags[l * k + i] ? 1 : -1;
        effort.loss += loss_of(&net, scores + l * k, truth);
    }
    double count = (double)part.n;
    effort.nodes_deviation = deviation(effort.nodes, nodes2, count);
    effort.seconds_deviation = deviation(effort.seconds, seconds2, count);
    effort.nodes /= count;
    effort.seconds /= count;
    effort.optimal /= count;
    effort.loss /= count;
    free(scores);
    free(tags);
    free(truth);
    free(part.tags);
    return effort;
}

/* The relaxation's time on the first examples, and how often its rounding is the optimum. */
static void relax(FILE *table, const char *name, const struct clv_tag_model *model, const struct clv_tag_set *test)
{
#if HAS_CLP
    struct clv_error error;
    struct clv_tag_set part = part_of(test, MAX_PROGRAMS, model->n_tags);
    size_t k = (size_t)model->n_tags;
    double *scores = malloc(part.n * k * sizeof *scores), seconds = 0, squares = 0, searched = 0;
    int8_t *y = malloc(2 * k), *best = y + k;
    const struct clv_belief_net net = {model->n_tags, model->order, model->coupling};
    size_t n_right = 0;
    if (!scores || !y)
        exit(1);
    stop_on(clv_tag_scores(scores, model, &part, 1, &error), &error);
    for (size_t l = 0; l < part.n; l++) {
        struct clv_belief_result result;
        double bound = 0, start = bench_cpu();
        stop_on(relaxation_solve(y, &bound, &net, scores + l * k, &error), &error);
        double took = bench_cpu() - start;
        start = bench_cpu();
        stop_on(clv_belief_map(best, &result, &net, scores + l * k, NULL, &error), &error);
        searched += bench_cpu() - start;
        if (bound > result.loss + 1e-6) {
            fprintf(stderr, "branch: the relaxation's bound %g is above the optimum %g\n", bound, result.loss);
            exit(1);
        }
        seconds += took;
        squares += took * took;
        n_right += loss_of(&net, scores + l * k, y) <= result.loss + 1e-9;
    }
    double n = (double)part.n;
    printf("branch: %-8s K %3d: linear program %9.2f us (sd %.2f), %.0f times branch and bound's; its rounding is the "
           "optimum of %zu of %zu examples\n",
           name, model->n_tags, 1e6 * seconds / n, 1e6 * deviation(seconds, squares, n), seconds / searched, n_right,
           part.n);
    fflush(stdout);
    if (table)
        fprintf(table, "program, %s\t%d\t\t\t%.6g\t%.6g\t\n", name, model->n_tags, seconds / n,
                deviation(seconds, squares, n));
    free(scores);
    free(y);
    free(part.tags);
#else
    (void)table;
    (void)name;
    (void)model;
    (void)test;
#endif
}

static FILE *open_table(const char *folder, const char *name, const char *header)
{
    char path[4096];
    if (!folder)
        return NULL;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *stream = fopen(path, "w");
    if (!stream) {
        perror(path);
        exit(1);
    }
    fprintf(stream, "%s\n", header);
    return stream;
}

static void report(FILE *table, const char *name, int32_t k, const struct effort *effort)
{
    printf("branch: %-8s K %3d: %10.1f nodes (sd %.1f), %9.2f us (sd %.2f), %6.2f %% proved optimal\n", name, k,
           effort->nodes, effort->nodes_deviation, 1e6 * effort->seconds, 1e6 * effort->seconds_deviation,
           100 * effort->optimal);
    fflush(stdout);
    if (table)
        fprintf(table, "%s\t%d\t%.6g\t%.6g\t%.6g\t%.6g\t%.6g\n", name, k, effort->nodes, effort->nodes_deviation,
                effort->seconds, effort->seconds_deviation, effort->optimal);
}

static void against_tags(const char *folder, const struct clv_tag_set *train, const struct clv_tag_set *test)
{
    static const int32_t many[] = {10, 20, 40, 80, 120, 159}, few[] = {4, 8, 12, 16, 20, 24, 28};
    FILE *table = open_table(folder, "tags.tsv", "model\ttags\tnodes\tnodes_sd\tseconds\tseconds_sd\tproved_optimal");
    for (size_t i = 0; i < sizeof many / sizeof *many && many[i] <= train->n_tags; i++) {
        struct clv_tag_model model = trained(train, train->n, many[i]);
        struct effort effort = measure(&model, test, test->n, MAX_NODES);
        report(table, "trained", many[i], &effort);
        relax(table, "trained", &model, test);
        free(effort.least);
        clv_tag_model_release(&model);
    }
    for (size_t i = 0; i < sizeof few / sizeof *few; i++) {
        struct clv_tag_model model = untrained(test->n_features, few[i]);
        struct effort effort = measure(&model, test, MAX_EXAMPLES, 0);
        report(table, "random", few[i], &effort);
        relax(table, "random", &model, test);
        free(effort.least);
        clv_tag_model_release(&model);
        if (effort.nodes > MAX_NODES)
            break;
    }
    if (table)
        fclose(table);
}

/* How many examples have an optimum below S, and so are solved with that cut-off. */
static void against_cutoff(const char *folder, const struct clv_tag_set *train, const struct clv_tag_set *test)
{
    enum { K = 20 };
    static const size_t sizes[] = {0, 100, 1000, SIZE_MAX};
    FILE *table = open_table(folder, "cutoff.tsv", "model\tS\treached\tbound");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char name[32] = "random";
        size_t n = sizes[i] < train->n ? sizes[i] : train->n;
        struct clv_tag_model model = n ? trained(train, n, K) : untrained(test->n_features, K);
        struct effort effort = measure(&model, test, MAX_EXAMPLES, 0);
        if (n)
            snprintf(name, sizeof name, "%zu examples", n);
        for (double s = 1; s <= 16; s += 0.5) {
            size_t reached = 0, of = test->n < MAX_EXAMPLES ? test->n : MAX_EXAMPLES;
            for (size_t l = 0; l < of; l++)
                reached += effort.least[l] < s;
            if (table)
                fprintf(table, "%s\t%g\t%.6g\t%.6g\n", name, s, (double)reached / (double)of,
                        fmax(0, 1 - effort.loss / s));
        }
        printf("branch: cut-off, K %d, %s: mean loss of the true tags %.3f\n", K, name, effort.loss);
        free(effort.least);
        clv_tag_model_release(&model);
    }
    if (table)
        fclose(table);
}

int main(int argc, char **argv)
{
    struct clv_error error;
    struct clv_tag_set train = {0}, test = {0};
    const char *folder = argc > 1 ? argv[1] : NULL, *path = bench_data("branch", "multilabel/bibtex/train.svm");
    if (!path)
        return 0;
    stop_on(clv_tag_set_read(&train, path, 0, &error), &error);
    stop_on(clv_tag_set_read(&test, bench_data("branch", "multilabel/bibtex/test.svm"), train.n_tags, &error), &error);
    against_tags(folder, &train, &test);
    against_cutoff(folder, &train, &test);
    clv_tag_set_release(&train);
    clv_tag_set_release(&test);
    return 0;
}
