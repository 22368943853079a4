/* Descent on the hinges of the learners m3e and modlat: by AdaGrad on batches or by plain subgradient steps, with label
 * weights that each learner computes for an example (latent_terms). Start at latent_pass, at the end. */
#include "learn/latent/latent.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "cluster/comm_for.h"
#include "learn/common/common.h"
#include "mrf/problem.h"

void latent_release(struct latent *self)
{
    examples_release(&self->examples);
    arena_release(&self->arena);
}

const char *const latent_solvers[] = {[LATENT_ADAGRAD] = "adagrad", [LATENT_SUBGRADIENT] = "subgradient", NULL};

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

enum clv_status latent_open(struct latent *self, const struct clv_learner *learner, struct clv_training_result *result,
                            const struct clv_training *training, const struct latent_rules *rules, void *context,
                            struct clv_error *err)
{
    *self = (struct latent){.rules = *rules, .context = context};
    MUST(examples_open(&self->examples, training, true, err));
    size_t n = self->examples.n, k = (size_t)self->examples.layout.n_labels;
    self->ridge = examples_squared_unit(&self->examples, rules->units);
    self->c = rules->c;
    self->size = clv_weight_layout_size(&self->examples.layout);
    self->first = arena_zalloc(&self->arena, n + 1, sizeof *self->first);
    self->hinge = arena_zalloc(&self->arena, n, sizeof *self->hinge);
    self->gradient = arena_alloc(&self->arena, self->size, sizeof *self->gradient);
    self->zero = arena_zalloc(&self->arena, self->size, sizeof *self->zero);
    self->order = arena_alloc(&self->arena, n, sizeof *self->order);
    self->all = arena_alloc(&self->arena, n, sizeof *self->all);
    if (self->arena.failed)
        return fail_memory(err);
    for (size_t i = 0; i < n; i++) {
        self->first[i + 1] = self->first[i] + (size_t)self->examples.problems[i].n_nodes;
        self->all[i] = (int32_t)i;
    }
    if (!rules->batch || rules->batch > n || rules->solver == LATENT_SUBGRADIENT)
        self->rules.batch = n;
    course_open(&self->course, learner, result, &self->examples);
    self->course.batch = self->rules.batch;
    self->course.skips_loss = true;
    self->is_visible = arena_alloc(&self->arena, self->first[n], 1);
    self->free = arena_zalloc(&self->arena, self->first[n], k * sizeof *self->free);
    self->clamped = arena_zalloc(&self->arena, self->first[n], k * sizeof *self->clamped);
    if (self->arena.failed)
        return fail_memory(err);
    for (size_t i = 0; i < n; i++) {
        enum clv_status status = find_visible(self->is_visible + self->first[i], &self->examples.problems[i], err);
        if (status)
            return fail_within(err, status, clv_dataset_name(training->dataset, (size_t)training->examples[i]));
    }
    return CLV_OK;
}

double latent_bytes(const struct clv_training *training)
{
    return (2 * (double)sizeof(double) * (double)training->layout.n_labels + 1) * training_n_nodes(training);
}

/* gradient += scale times the sum over labels of their weight times Psi. */
static void add_expectation(double *gradient, const struct clv_problem *problem, const struct clv_weight_layout *layout,
                            const double *weight, double scale)
{
    size_t k = (size_t)layout->n_labels, d = (size_t)layout->n_features, p = (size_t)layout->n_edge_features;
    for (size_t i = 0; i < (size_t)problem->n_nodes; i++)
        for (size_t s = k == 2; s < k; s++) { /* two labels: label 0 has no row */
            double *row = gradient + (k == 2 ? 0 : s) * d, by = scale * weight[i * k + s];
            for (int64_t at = problem->row[i]; by != 0 && at < problem->row[i + 1]; at++)
                row[problem->index[at]] += by * (double)problem->value[at];
        }
    if (layout->pairwise == CLV_PAIRWISE_NONE)
        return;
    for (size_t e = 0; e < (size_t)problem->n_edges; e++) {
        const double *a = weight + (size_t)problem->edges[e][0] * k, *b = weight + (size_t)problem->edges[e][1] * k;
        for (size_t st = 0; st < k * k; st++) {
            double by = scale * a[st / k] * b[st % k];
            double *target = gradient + clv_weight_layout_unary_size(layout) + st * p;
            for (size_t f = 0; f < p && by != 0; f++)
                target[f] += by * (double)problem->edge_features[e * p + f];
        }
    }
}

struct work {
    struct latent *latent;
    latent_terms *terms;
    const int32_t *taken;
    const double *w;
};

static enum clv_status one_example(void *context, size_t index, int thread, struct clv_error *err)
{
    const struct work *work = context;
    FAIL_IF(stop_requested(work->latent->examples.training->progress), CLV_ERR_INTERRUPTED, "interrupted");
    return work->terms(work->latent->context, work->latent, (size_t)work->taken[index], thread, work->w, err);
}

static bool example_results(struct comm_piece *piece, void *context, size_t index, size_t part)
{
    const struct work *work = context;
    struct latent *self = work->latent;
    size_t example = (size_t)work->taken[index], k = (size_t)self->examples.layout.n_labels;
    size_t first = self->first[example] * k, size = self->first[example + 1] * k - first;
    const struct comm_piece pieces[] = {{&self->hinge[example], sizeof *self->hinge},
                                        {&self->free[first], size * sizeof *self->free},
                                        {&self->clamped[first], size * sizeof *self->clamped}};
    if (part >= sizeof pieces / sizeof *pieces)
        return false;
    *piece = pieces[part];
    return true;
}

static enum clv_status compute_terms(struct latent *self, const int32_t *taken, size_t n, const double *w,
                                     latent_terms *terms, struct clv_error *err)
{
    struct work work = {self, terms, taken, w};
    return comm_for(n, self->examples.n_threads, one_example, example_results, &work, err);
}

enum clv_status latent_compute_terms(struct latent *self, const double *w, latent_terms *terms, struct clv_error *err)
{
    return compute_terms(self, self->all, self->examples.n, w, terms, err);
}

enum clv_status latent_objective(double *objective, struct latent *self, const double *w, latent_terms *terms,
                                 struct clv_error *err)
{
    MUST(latent_compute_terms(self, w, terms, err));
    double sum = 0;
    for (size_t i = 0; i < self->examples.n; i++)
        sum += self->hinge[i];
    *objective = self->ridge / 2 * squares_of(w, self->size) + self->c * sum;
    return CLV_OK;
}

enum clv_status latent_begin(struct ascent *ascent, struct latent *self, struct latent_names names,
                             struct clv_error *err)
{
    const struct latent_rules *rules = &self->rules;
    const struct examples *examples = &self->examples;
    bool is_adagrad = rules->solver == LATENT_ADAGRAD;
    /* scores should be as large as losses, hence weights about most_loss / s */
    double rate = (rules->rate > 0 ? rules->rate : 0.3) * examples->most_loss / sqrt(examples->scale);
    MUST(ascent_open(ascent, &examples->layout,
                     (struct ascent_rules){STEP_ADAGRAD, self->ridge / (self->c * (double)examples->n), rate,
                                           rules->averaging && is_adagrad},
                     err));
    MUST(start_weights(ascent->w, examples->training, rules->deviation, !is_adagrad, err));
    if (ascent->average)
        memcpy(ascent->average, ascent->w, self->size * sizeof *ascent->w);
    struct course *course = &self->course;
    course_holds(course, (struct state_field){names.w, CLV_F64, self->size, ascent->w, STATE_FINITE});
    course_holds(course, (struct state_field){names.average, CLV_F64, self->size, ascent->average, STATE_FINITE});
    course_holds(course, (struct state_field){names.squares, CLV_F64, self->size, ascent->squares, STATE_NOT_NEGATIVE});
    course_holds(course, (struct state_field){names.n_steps, CLV_F64, 1, &ascent->n_steps, STATE_NOT_NEGATIVE});
    return CLV_OK;
}

/* Sets the gradient to `scale` times the sum of the hinges' gradients over the examples taken[n]. */
static void sum_gradients(struct latent *self, const int32_t *taken, size_t n, double scale)
{
    const struct examples *examples = &self->examples;
    size_t k = (size_t)examples->layout.n_labels;
    memset(self->gradient, 0, self->size * sizeof *self->gradient);
    for (size_t i = 0; i < n; i++) {
        size_t example = (size_t)taken[i], first = self->first[example] * k;
        const struct clv_problem *problem = &examples->problems[example];
        add_expectation(self->gradient, problem, &examples->layout, self->free + first, scale);
        add_expectation(self->gradient, problem, &examples->layout, self->clamped + first, -scale);
    }
}

static enum clv_status take_plain_step(struct latent *self, struct ascent *ascent, double rate, latent_terms *terms,
                                       struct clv_error *err)
{
    MUST(latent_compute_terms(self, ascent->w, terms, err));
    sum_gradients(self, self->all, self->examples.n, self->c);
    for (size_t j = 0; j < self->size; j++)
        ascent->w[j] -= rate * (self->ridge * ascent->w[j] + self->gradient[j]);
    project_couplings(ascent->w, &self->examples.layout);
    return CLV_OK;
}

static enum clv_status step_on_batch(struct latent *self, struct ascent *ascent, latent_terms *terms,
                                     struct clv_error *err)
{
    size_t n = course_batch(&self->course);
    const int32_t *taken = self->order + self->course.n_taken;
    MUST(compute_terms(self, taken, n, ascent->w, terms, err));
    sum_gradients(self, taken, n, -1 / (double)n);
    ascent_step(ascent, self->gradient);
    return CLV_OK;
}

enum clv_status latent_pass(bool *is_complete, struct latent *self, struct ascent *ascent, uint32_t pass, double rate,
                            latent_terms *terms, struct clv_error *err)
{
    struct course *course = &self->course;
    size_t n = self->examples.n;
    bool is_plain = self->rules.solver == LATENT_SUBGRADIENT;
    *is_complete = false;
    memcpy(self->order, self->all, n * sizeof *self->order);
    if (self->rules.batch < n)
        rng_permutation(self->order, n, self->examples.training->seed, RNG_STREAM(RNG_ORDER, pass));
    while (course->n_taken < n) {
        if (course_stops(course))
            return CLV_OK;
        examples_expect(&self->examples, self->order + course->n_taken, n - course->n_taken);
        MUST(is_plain ? take_plain_step(self, ascent, rate, terms, err) : step_on_batch(self, ascent, terms, err));
        MUST(course_step(course, err));
    }
    course->n_taken = 0;
    *is_complete = true;
    return CLV_OK;
}
