/* One image, seen through noise; some of its labels are kept back. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "problem_buffer.h"
#include "simulate.h"
#include "streams.h"

enum { WIDTH = NOISY_WIDTH, HEIGHT = NOISY_HEIGHT, N_PIXELS = WIDTH * HEIGHT, N_LABELS = 5 };
enum { N_EDGES = HEIGHT * (WIDTH - 1) + WIDTH * (HEIGHT - 1) };

void simulate_noisy_init(struct noisy_options *options)
{
    *options = (struct noisy_options){.n_train = 10, .n_test = 10, .noise = 5, .train_missing = 0.5};
}

static enum clv_status check_options(const struct noisy_options *options, struct clv_error *err)
{
    const int32_t counts[2] = {options->n_train, options->n_test};
    const double shares[2] = {options->train_missing, options->test_missing};
    for (int set = 0; set < 2; set++) {
        const char *name = set ? "test" : "training";
        if (counts[set] < 1 || counts[set] > SIMULATE_MAX_PROBLEMS)
            return fail(err, CLV_ERR_USAGE, "number of %s problems is %d, must be 1 to %d", name, counts[set],
                        SIMULATE_MAX_PROBLEMS);
        if (!(shares[set] >= 0 && shares[set] < 1))
            return fail(err, CLV_ERR_USAGE, "missing share of %s labels is %g, must be from 0 to below 1", name,
                        shares[set]);
    }
    if (!(options->noise >= 0 && options->noise <= 1e6))
        return fail(err, CLV_ERR_USAGE, "noise is %g, must be 0 to 1e6", options->noise);
    return CLV_OK;
}

/* A house next to a hill, under the sun: ground 0, hill 1, house 2, sky 3, sun 4. */
static int32_t truth_at(int32_t row, int32_t column)
{
    if (row >= 15)
        return 0;
    if (column >= 24 && column < 34 && row >= 8)
        return 2;
    if (row >= 6 + abs(column - 12) / 2)
        return 1;
    return (row - 3) * (row - 3) + (column - 28) * (column - 28) <= 8 ? 4 : 3;
}

static enum clv_status prepare(struct problem_buffer *buffer, struct clv_error *err)
{
    const struct clv_problem sizes = {
        .n_nodes = N_PIXELS,
        .n_edges = N_EDGES,
        .n_features = 2,
        .n_edge_features = 1,
    };
    enum clv_status status = problem_buffer_init(buffer, &sizes, N_LABELS, 2, err);
    int32_t e = 0;
    for (int32_t i = 0; status == CLV_OK && i < N_PIXELS; i++) {
        buffer->index[2 * i + 1] = 1; /* the feature 1; x's index is 0 */
        for (int down = 0; down < 2; down++) {
            if (down ? i + WIDTH >= N_PIXELS : (i + 1) % WIDTH == 0)
                continue;
            buffer->edges[e][0] = i;
            buffer->edges[e][1] = i + (down ? WIDTH : 1);
            buffer->edge_features[e++] = 1;
        }
    }
    return status;
}

/* A sample of round(missing * N_PIXELS) pixels without replacement: those before others in a random order. */
static void hide(uint8_t *is_hidden, double missing, uint64_t seed, uint64_t stream)
{
    int32_t order[N_PIXELS], n_missing = (int32_t)lround(missing * N_PIXELS);
    n_missing = n_missing < N_PIXELS ? n_missing : N_PIXELS - 1;
    rng_permutation(order, N_PIXELS, seed, stream);
    for (int32_t k = 0; k < N_PIXELS; k++)
        is_hidden[order[k]] = k < n_missing;
}

static enum clv_status draw_set(struct clv_dataset **dataset, struct problem_buffer *buffer, uint32_t set,
                                const struct noisy_options *options, struct clv_error *err)
{
    int32_t y[N_PIXELS];
    uint8_t is_hidden[N_PIXELS];
    double deviation = options->sigma_is_deviation ? options->noise : sqrt(options->noise);
    size_t n = (size_t)(set ? options->n_test : options->n_train);
    enum clv_status status = simulated_dataset_new(dataset, N_LABELS, err);
    for (size_t index = 0; status == CLV_OK && index < n; index++) {
        uint64_t noise = stream_of_problem(set, index), missing = stream_of_missing(set, index);
        char name[40];
        snprintf(name, sizeof name, "%s %zu", set ? "test" : "train", index + 1);
        for (int32_t i = 0; i < N_PIXELS; i++) {
            y[i] = truth_at(i / WIDTH, i % WIDTH);
            buffer->value[2 * i] = (float)(y[i] - 2 + deviation * rng_normal(options->seed, noise, (uint64_t)i));
        }
        hide(is_hidden, set ? options->test_missing : options->train_missing, options->seed, missing);
        problem_buffer_label(buffer, y, is_hidden);
        status = clv_dataset_add(*dataset, &buffer->problem, name, err);
    }
    return status;
}

enum clv_status simulate_noisy(struct clv_dataset **train, struct clv_dataset **test,
                               const struct noisy_options *options, struct clv_error *err)
{
    struct problem_buffer buffer = {0};
    struct clv_dataset *made[2] = {NULL, NULL};
    *train = *test = NULL;
    enum clv_status status = check_options(options, err);
    if (status == CLV_OK)
        status = prepare(&buffer, err);
    for (uint32_t set = 0; status == CLV_OK && set < 2; set++)
        status = draw_set(&made[set], &buffer, set, options, err);
    problem_buffer_release(&buffer);
    if (status == CLV_OK) {
        *train = made[0];
        *test = made[1];
    } else {
        clv_dataset_free(made[0]);
        clv_dataset_free(made[1]);
    }
    return status;
}
