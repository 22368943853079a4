#include "learn/latent/latent.h"

#include <string.h>

#include "base/base.h"
#include "base/team_for.h"
#include "learn/common/common.h"
#include "mrf/problem.h"

void latent_release(struct latent *self)
{
    examples_release(&self->examples);
    arena_release(&self->arena);
}

static enum clv_status find_visible(uint8_t *is_visible, const struct clv_problem *problem, struct clv_error *err)
{
    for (int32_t i = 0; i < problem->n_nodes; i++)
        is_visible[i] = problem->label[i] != CLV_UNKNOWN;
    for (int32_t e = 0; e < problem->n_edges; e++)
        if (!is_visible[problem->edges[e][0]] && !is_visible[problem->edges[e][1]])
            return fail(err, CLV_ERR_USAGE, "hidden nodes %d and %d are joined, which this learner cannot take",
                        problem->edges[e][0], problem->edges[e][1]);
    return CLV_OK;
}

enum clv_status latent_open(struct latent *self, const struct clv_training *training, double c, void *context,
                            struct clv_error *err)
{
    *self = (struct latent){.c = c, .context = context};
    MUST(examples_open(&self->examples, training, true, err));
    enum clv_status status = CLV_OK;
    size_t n = self->examples.n, k = (size_t)self->examples.shape.n_labels;
    self->size = clv_shape_size(&self->examples.shape);
    self->first = arena_zalloc(&self->arena, n + 1, sizeof *self->first);
    self->hinge = arena_alloc(&self->arena, n, sizeof *self->hinge);
    self->gradient = arena_alloc(&self->arena, self->size, sizeof *self->gradient);
    MUST_IF(self->arena.failed, fail_memory(err));
    for (size_t i = 0; i < n; i++)
        self->first[i + 1] = self->first[i] + (size_t)self->examples.problems[i].n_nodes;
    self->is_visible = arena_alloc(&self->arena, self->first[n], 1);
    self->free = arena_alloc(&self->arena, self->first[n], k * sizeof *self->free);
    self->clamped = arena_alloc(&self->arena, self->first[n], k * sizeof *self->clamped);
    MUST_IF(self->arena.failed, fail_memory(err));
    for (size_t i = 0; i < n && !status; i++) {
        status = find_visible(self->is_visible + self->first[i], &self->examples.problems[i], err);
        if (status)
            fail_within(err, status, clv_dataset_name(training->dataset, (size_t)training->examples[i]));
    }
    return status;
}

/* gradient += scale sum over labels of weight(.) Psi. */
static void add_expectation(double *gradient, const struct clv_problem *problem, const struct clv_shape *shape,
                            const double *weight, double scale)
{
    size_t k = (size_t)shape->n_labels, d = (size_t)shape->n_features, p = (size_t)shape->n_edge_features;
    for (size_t i = 0; i < (size_t)problem->n_nodes; i++)
        for (size_t s = k == 2; s < k; s++) { /* two labels: label 0 has no row */
            double *row = gradient + (k == 2 ? 0 : s) * d, by = scale * weight[i * k + s];
            for (int64_t at = problem->row[i]; by != 0 && at < problem->row[i + 1]; at++)
                row[problem->index[at]] += by * (double)problem->value[at];
        }
    if (shape->pairwise == CLV_PAIRWISE_NONE)
        return;
    for (size_t e = 0; e < (size_t)problem->n_edges; e++) {
        const double *a = weight + (size_t)problem->edges[e][0] * k, *b = weight + (size_t)problem->edges[e][1] * k;
        for (size_t st = 0; st < k * k; st++) {
            double by = scale * a[st / k] * b[st % k];
            double *target = gradient + clv_shape_unary_size(shape) + st * p;
            for (size_t f = 0; f < p && by != 0; f++)
                target[f] += by * (double)problem->edge_features[e * p + f];
        }
    }
}

struct work {
    struct latent *latent;
    latent_terms *terms;
    const double *w;
};

static enum clv_status one_example(void *context, size_t index, int thread, struct clv_error *err)
{
    const struct work *work = context;
    FAIL_IF(stop_requested(work->latent->examples.training->progress), CLV_ERR_INTERRUPTED, "interrupted");
    return work->terms(work->latent->context, work->latent, index, thread, work->w, err);
}

static bool example_results(struct team_piece *piece, void *context, size_t index, size_t part)
{
    const struct work *work = context;
    struct latent *self = work->latent;
    size_t k = (size_t)self->examples.shape.n_labels, first = self->first[index] * k;
    size_t size = (self->first[index + 1] - self->first[index]) * k * sizeof *self->free;
    const struct team_piece pieces[] = {
        {&self->hinge[index], sizeof *self->hinge}, {&self->free[first], size}, {&self->clamped[first], size}};
    if (part >= sizeof pieces / sizeof *pieces)
        return false;
    *piece = pieces[part];
    return true;
}

enum clv_status latent_step(double *objective, struct latent *self, double *w, double rate, latent_terms *terms,
                            struct clv_error *err)
{
    const struct examples *examples = &self->examples;
    size_t k = (size_t)examples->shape.n_labels;
    double c = self->c;
    struct work work = {self, terms, w};
    MUST(team_for(examples->n, examples->n_threads, one_example, example_results, &work, err));
    double squares = squares_of(w, self->size), sum = 0;
    memcpy(self->gradient, w, self->size * sizeof *self->gradient);
    for (size_t i = 0; i < examples->n; i++) {
        const struct clv_problem *problem = &examples->problems[i];
        sum += self->hinge[i];
        add_expectation(self->gradient, problem, &examples->shape, self->free + self->first[i] * k, c);
        add_expectation(self->gradient, problem, &examples->shape, self->clamped + self->first[i] * k, -c);
    }
    *objective = squares / 2 + c * sum;
    for (size_t j = 0; j < self->size; j++)
        w[j] -= rate * self->gradient[j];
    project_couplings(w, &examples->shape);
    return CLV_OK;
}

void latent_init(double *w, const struct latent *self, double deviation)
{
    const struct clv_training *training = self->examples.training;
    for (size_t j = 0; j < self->size; j++)
        w[j] = training->init ? training->init[j]
                              : deviation * rng_normal(training->seed, RNG_STREAM(RNG_INIT, 0), (uint64_t)j);
    project_couplings(w, &self->examples.shape);
}
