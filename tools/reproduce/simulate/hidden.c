/* Hidden chains and grids: a random model (hidden_model.c), samples of it (hidden_sample.c), and here the problems they
 * make. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/base.h"
#include "hidden_sample.h"
#include "problem_buffer.h"
#include "streams.h"

void simulate_hidden_init(struct hidden_options *options, enum hidden_graph graph)
{
    *options = (struct hidden_options){
        .graph = graph,
        .n_train = 20,
        .n_test = 100,
        .n_labels = 4,
        .size = graph == HIDDEN_CHAIN ? 20 : 6,
        .sigma_x = 0.1,
        .sigma_y = 0.1,
        .sigma_h = 0.1,
        .sigma_xy = 2,
        .sigma_xh = 2,
        .sigma_yh = 2,
        .n_sweeps = 1000,
    };
}

static enum clv_status check_options(const struct hidden_options *options, struct clv_error *err)
{
    bool is_chain = options->graph == HIDDEN_CHAIN;
    const struct {
        const char *name;
        int32_t value, least, most;
    } numbers[] = {
        {"training problems", options->n_train, 1, SIMULATE_MAX_PROBLEMS},
        {"test problems", options->n_test, 1, SIMULATE_MAX_PROBLEMS},
        {"labels", options->n_labels, 2, HIDDEN_MAX_LABELS},
        {is_chain ? "nodes of the chain" : "nodes a side", options->size, 2, is_chain ? 10000 : 100},
        {"sweeps", options->n_sweeps, 1, INT32_MAX},
    };
    const struct {
        const char *name;
        double value;
    } sigmas[] = {{"x", options->sigma_x},   {"y", options->sigma_y},   {"h", options->sigma_h},
                  {"xy", options->sigma_xy}, {"xh", options->sigma_xh}, {"yh", options->sigma_yh}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].value < numbers[i].least || numbers[i].value > numbers[i].most)
            return fail(err, CLV_ERR_USAGE, "number of %s is %d, must be %d to %d", numbers[i].name, numbers[i].value,
                        numbers[i].least, numbers[i].most);
    for (size_t i = 0; i < sizeof sigmas / sizeof *sigmas; i++)
        if (!(sigmas[i].value >= 0 && sigmas[i].value <= 1e6))
            return fail(err, CLV_ERR_USAGE, "sigma_%s is %g, must be 0 to 1e6", sigmas[i].name, sigmas[i].value);
    return CLV_OK;
}

/* The samples of a set. */
struct samples {
    const struct hidden_sampler *sampler;
    const struct clv_progress *progress;
    uint64_t seed;
    uint32_t set;
    size_t n;
    size_t n_done;  /* counted by parallel_progress */
    int32_t *y, *x; /* [n][n_nodes] */
};

static enum clv_status sample_one(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    struct samples *self = context;
    size_t at = index * (size_t)self->sampler->model->n_nodes;
    if (stop_requested(self->progress))
        return fail(err, CLV_ERR_INTERRUPTED, "interrupted");
    hidden_sample(self->y + at, self->x + at, self->sampler, self->seed, stream_of_problem(self->set, index));
    parallel_progress(self->progress, "sampling", &self->n_done, self->n, NULL);
    return CLV_OK;
}

/* What all problems of the model have in common. Features of a node (shared: of its kind): K indicators and a 1. */
static enum clv_status prepare(struct problem_buffer *buffer, uint8_t *is_hidden, const struct hidden_model *model,
                               bool is_shared, struct clv_error *err)
{
    const struct clv_problem sizes = {
        .n_nodes = model->n_nodes,
        .n_edges = model->n_edges,
        .n_features = (is_shared ? 2 : model->n_nodes) * (model->n_labels + 1),
        .n_edge_features = is_shared ? 1 : model->n_edges,
    };
    enum clv_status status = problem_buffer_init(buffer, &sizes, model->n_labels, 2, err);
    if (status != CLV_OK)
        return status;
    for (int32_t e = 0; e < model->n_edges; e++) {
        buffer->edges[e][0] = model->edges[e][0];
        buffer->edges[e][1] = model->edges[e][1];
        buffer->edge_features[(size_t)e * (size_t)sizes.n_edge_features + (is_shared ? 0 : (size_t)e)] = 1;
    }
    for (int32_t i = 0; i < model->n_nodes; i++)
        is_hidden[i] = i >= model->n_visible;
    return CLV_OK;
}

static enum clv_status add_problems(struct clv_dataset *dataset, struct problem_buffer *buffer,
                                    const uint8_t *is_hidden, const struct samples *samples, bool is_shared,
                                    struct clv_error *err)
{
    int32_t n = buffer->problem.n_nodes, block = buffer->n_labels + 1;
    enum clv_status status = CLV_OK;
    for (size_t index = 0; status == CLV_OK && index < samples->n; index++) {
        const int32_t *x = samples->x + index * (size_t)n, *y = samples->y + index * (size_t)n;
        char name[40];
        snprintf(name, sizeof name, "%s %zu", samples->set ? "test" : "train", index + 1);
        for (int32_t i = 0; i < n; i++) {
            int32_t first = (is_shared ? is_hidden[i] : i) * block;
            buffer->index[2 * i] = first + x[i];
            buffer->index[2 * i + 1] = first + buffer->n_labels;
        }
        problem_buffer_label(buffer, y, is_hidden);
        status = clv_dataset_add(dataset, &buffer->problem, name, err);
    }
    return status;
}

static enum clv_status draw_set(struct clv_dataset **dataset, const struct hidden_sampler *sampler, uint32_t set,
                                const struct hidden_options *options, int n_threads,
                                const struct clv_progress *progress, struct clv_error *err)
{
    const struct hidden_model *model = sampler->model;
    size_t n_nodes = (size_t)model->n_nodes, n = (size_t)(set ? options->n_test : options->n_train);
    bool is_shared = options->shared_weights != 0;
    struct problem_buffer buffer = {0};
    struct samples samples = {.sampler = sampler, .progress = progress, .seed = options->seed, .set = set, .n = n};
    uint8_t *is_hidden = array_alloc(n_nodes, sizeof *is_hidden);
    samples.y = array_alloc(n, n_nodes * sizeof *samples.y);
    samples.x = array_alloc(n, n_nodes * sizeof *samples.x);
    enum clv_status status = is_hidden && samples.y && samples.x ? CLV_OK : fail_memory(err);
    if (status == CLV_OK)
        status = parallel_for(n, n_threads, sample_one, &samples, err);
    if (status == CLV_OK)
        status = prepare(&buffer, is_hidden, model, is_shared, err);
    if (status == CLV_OK)
        status = simulated_dataset_new(dataset, model->n_labels, err);
    if (status == CLV_OK)
        status = add_problems(*dataset, &buffer, is_hidden, &samples, is_shared, err);
    problem_buffer_release(&buffer);
    array_free(is_hidden);
    array_free(samples.y);
    array_free(samples.x);
    return status;
}

enum clv_status simulate_hidden(struct clv_dataset **train, struct clv_dataset **test,
                                const struct hidden_options *options, int n_threads,
                                const struct clv_progress *progress, struct clv_error *err)
{
    struct hidden_model model = {0};
    struct hidden_sampler sampler = {0};
    struct clv_dataset *made[2] = {NULL, NULL};
    *train = *test = NULL;
    enum clv_status status = check_options(options, err);
    if (status == CLV_OK)
        status = hidden_model_init(&model, options, err);
    if (status == CLV_OK)
        status = hidden_sampler_init(&sampler, &model, options->graph == HIDDEN_CHAIN ? 0 : options->n_sweeps, err);
    for (uint32_t set = 0; status == CLV_OK && set < 2; set++)
        status = draw_set(&made[set], &sampler, set, options, n_threads, progress, err);
    hidden_sampler_release(&sampler);
    hidden_model_release(&model);
    if (status == CLV_OK) {
        *train = made[0];
        *test = made[1];
    } else {
        clv_dataset_free(made[0]);
        clv_dataset_free(made[1]);
    }
    return status;
}
