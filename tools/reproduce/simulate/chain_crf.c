/* Labelled chains from a conditional random field with few relevant features. */
#include <stdio.h>

#include "base/base.h"
#include "problem_buffer.h"
#include "simulate.h"
#include "streams.h"

#define FIRST_SWEEP ((uint64_t)1 << 40) /* index of a problem's random numbers: features come before */

void simulate_chain_crf_init(struct chain_crf_options *options)
{
    *options = (struct chain_crf_options){.n_train = 100,
                                          .n_test = 900,
                                          .n_nodes = 8,
                                          .n_features = 100,
                                          .n_relevant = 10,
                                          .group_noise = 0.05,
                                          .n_sweeps = 5000};
}

static enum clv_status check_options(const struct chain_crf_options *options, struct clv_error *err)
{
    const struct {
        const char *name;
        int32_t value, least, most;
    } counts[] = {
        {"training problems", options->n_train, 1, SIMULATE_MAX_PROBLEMS},
        {"test problems", options->n_test, 1, SIMULATE_MAX_PROBLEMS},
        {"nodes", options->n_nodes, 1, 10000},
        {"features", options->n_features, 1, 10000},
        {"relevant features", options->n_relevant, 0, options->n_features},
        {"groups", options->n_groups, 0, options->n_relevant},
        {"sweeps", options->n_sweeps, 1, INT32_MAX},
    };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i].value < counts[i].least || counts[i].value > counts[i].most)
            return fail(err, CLV_ERR_USAGE, "number of %s is %d, must be %d to %d", counts[i].name, counts[i].value,
                        counts[i].least, counts[i].most);
    if (options->n_groups && options->n_relevant % options->n_groups)
        return fail(err, CLV_ERR_USAGE, "%d relevant features do not make %d groups of one size", options->n_relevant,
                    options->n_groups);
    if (!(options->group_noise >= 0 && options->group_noise <= 1e6))
        return fail(err, CLV_ERR_USAGE, "group noise is %g, must be 0 to 1e6", options->group_noise);
    return CLV_OK;
}

/* One set in the making. */
struct chains {
    const struct chain_crf_options *options;
    const struct clv_progress *progress;
    const double *w; /* [n_features] of label 1 over 0, then t[2][2] */
    uint32_t set;
    size_t n;
    size_t n_done; /* counted by parallel_progress */
    int32_t *y;    /* [n][n_nodes] */
    float *x;      /* [n][n_nodes][n_features] */
};

static void draw_features(float *x, const struct chains *self, uint64_t stream)
{
    const struct chain_crf_options *options = self->options;
    int32_t n = options->n_features;
    int32_t group = options->n_groups ? options->n_relevant / options->n_groups : 1;
    for (int32_t l = 0; l < options->n_nodes; l++)
        for (int32_t k = 0; k < n; k++) {
            uint64_t first = 2 * (uint64_t)l * (uint64_t)n;
            double own = rng_normal(options->seed, stream, first + (uint64_t)k);
            if (options->n_groups && k < options->n_relevant)
                own = rng_normal(options->seed, stream, first + (uint64_t)(n + k / group)) + options->group_noise * own;
            x[l * n + k] = (float)own;
        }
}

/* score[l] of label 1 over 0 from x alone. */
static void score_nodes(double *score, const float *x, const struct chains *self)
{
    int32_t n = self->options->n_features;
    for (int32_t l = 0; l < self->options->n_nodes; l++) {
        score[l] = 0;
        for (int32_t k = 0; k < n; k++)
            score[l] += self->w[k] * (double)x[l * n + k];
    }
}

/* p(y_l = 1 | its neighbours) is logistic in the difference of the two labels' scores. */
static void sample_labels(int32_t *y, const double *score, const struct chains *self, uint64_t stream)
{
    const struct chain_crf_options *options = self->options;
    const double *t = self->w + options->n_features;
    int32_t n = options->n_nodes;
    uint64_t index = FIRST_SWEEP;
    for (int32_t l = 0; l < n; l++)
        y[l] = rng_uniform(options->seed, stream, index++) < 0.5;
    for (int32_t sweep = 0; sweep < options->n_sweeps; sweep++)
        for (int32_t l = 0; l < n; l++) {
            double margin = score[l];
            if (l > 0)
                margin += t[2 * y[l - 1] + 1] - t[2 * y[l - 1]];
            if (l + 1 < n)
                margin += t[2 + y[l + 1]] - t[y[l + 1]];
            y[l] = rng_uniform(options->seed, stream, index++) < 1 / (1 + portable_exp(-margin));
        }
}

static enum clv_status draw_chain(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    struct chains *self = context;
    size_t n = (size_t)self->options->n_nodes;
    float *x = self->x + index * n * (size_t)self->options->n_features;
    uint64_t stream = stream_of_problem(self->set, index);
    if (stop_requested(self->progress))
        return fail(err, CLV_ERR_INTERRUPTED, "interrupted");
    double *score = array_alloc(n, sizeof *score);
    if (!score)
        return fail_memory(err);
    draw_features(x, self, stream);
    score_nodes(score, x, self);
    sample_labels(self->y + index * n, score, self, stream);
    array_free(score);
    parallel_progress(self->progress, "sampling", &self->n_done, self->n, NULL);
    return CLV_OK;
}

static enum clv_status add_chains(struct clv_dataset *dataset, const struct chains *self, struct clv_error *err)
{
    struct problem_buffer buffer;
    const struct clv_problem sizes = {
        .n_nodes = self->options->n_nodes,
        .n_edges = self->options->n_nodes - 1,
        .n_features = self->options->n_features,
        .n_edge_features = 1,
    };
    size_t entries = (size_t)sizes.n_nodes * (size_t)sizes.n_features;
    enum clv_status status = problem_buffer_init(&buffer, &sizes, 2, sizes.n_features, err);
    if (status != CLV_OK)
        return status;
    for (size_t k = 0; k < entries; k++)
        buffer.index[k] = (int32_t)(k % (size_t)sizes.n_features);
    for (int32_t e = 0; e < sizes.n_edges; e++) {
        buffer.edges[e][0] = e;
        buffer.edges[e][1] = e + 1;
        buffer.edge_features[e] = 1;
    }
    for (size_t index = 0; status == CLV_OK && index < self->n; index++) {
        char name[40];
        snprintf(name, sizeof name, "%s %zu", self->set ? "test" : "train", index + 1);
        for (size_t k = 0; k < entries; k++)
            buffer.value[k] = self->x[index * entries + k];
        problem_buffer_label(&buffer, self->y + index * (size_t)sizes.n_nodes, NULL);
        status = clv_dataset_add(dataset, &buffer.problem, name, err);
    }
    problem_buffer_release(&buffer);
    return status;
}

static enum clv_status draw_set(struct clv_dataset **dataset, const struct chains *common, uint32_t set, int n_threads,
                                struct clv_error *err)
{
    const struct chain_crf_options *options = common->options;
    struct chains self = {.options = options, .progress = common->progress, .w = common->w, .set = set};
    self.n = (size_t)(set ? options->n_test : options->n_train);
    self.y = array_alloc(self.n, (size_t)options->n_nodes * sizeof *self.y);
    self.x = array_alloc(self.n, (size_t)options->n_nodes * (size_t)options->n_features * sizeof *self.x);
    enum clv_status status = self.x && self.y ? CLV_OK : fail_memory(err);
    if (status == CLV_OK)
        status = parallel_for(self.n, n_threads, draw_chain, &self, err);
    if (status == CLV_OK)
        status = simulated_dataset_new(dataset, 2, err);
    if (status == CLV_OK)
        status = add_chains(*dataset, &self, err);
    array_free(self.x);
    array_free(self.y);
    return status;
}

/* The difference of two N(0, 1) weights for a relevant feature, 0 for another; four N(0, 1) weights of pairs. */
static void draw_model(double *w, const struct chain_crf_options *options)
{
    uint64_t nodes = RNG_STREAM(RNG_SIMULATE, STREAM_NODE_WEIGHTS), edges = nodes + 1;
    for (uint64_t k = 0; k < (uint64_t)options->n_features; k++)
        w[k] = k < (uint64_t)options->n_relevant
                   ? rng_normal(options->seed, nodes, 2 * k + 1) - rng_normal(options->seed, nodes, 2 * k)
                   : 0;
    for (uint64_t k = 0; k < 4; k++)
        w[options->n_features + (int32_t)k] = rng_normal(options->seed, edges, k);
}

enum clv_status simulate_chain_crf(struct clv_dataset **train, struct clv_dataset **test, double *w,
                                   const struct chain_crf_options *options, int n_threads,
                                   const struct clv_progress *progress, struct clv_error *err)
{
    struct clv_dataset *made[2] = {NULL, NULL};
    double *own = NULL;
    *train = *test = NULL;
    enum clv_status status = check_options(options, err);
    if (status == CLV_OK) {
        own = array_alloc((size_t)options->n_features + 4, sizeof *own);
        status = own ? CLV_OK : fail_memory(err);
    }
    if (status == CLV_OK)
        draw_model(own, options);
    const struct chains common = {.options = options, .progress = progress, .w = own};
    for (uint32_t set = 0; status == CLV_OK && set < 2; set++)
        status = draw_set(&made[set], &common, set, n_threads, err);
    if (status == CLV_OK) {
        *train = made[0];
        *test = made[1];
        for (int32_t k = 0; w && k < options->n_features + 4; k++)
            w[k] = own[k];
    } else {
        clv_dataset_free(made[0]);
        clv_dataset_free(made[1]);
    }
    array_free(own);
    return status;
}
