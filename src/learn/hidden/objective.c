/* The objective of learners with hidden variables (Ping, Liu & Ihler 2014, equation 5) and its gradient over examples.
 * Threads and processes add up fixed parts, which are summed in order. Start at hidden_gradient. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "cluster/comm_for.h"
#include "learn/common/common.h"
#include "learn/hidden/hidden.h"
#include "mrf/problem.h"

enum { MOST_PARTS = 256, EXAMPLES_PER_PART = 64 }; /* if there are more than HIDDEN_PARTS parts */

/* Chooses the methods that compute an example's terms. */
static enum clv_status choose_methods(void *context, size_t index, int thread, struct clv_error *err)
{
    struct hidden *self = context;
    return hidden_choose_both(&self->items[index], &self->workspaces[thread], &self->settings,
                              &self->examples.problems[index], &self->examples.layout, err);
}

/* Sets the unit of the loss, in which a known node weighs 1 on average. */
static void weigh_loss(struct hidden *self)
{
    size_t k = (size_t)self->examples.layout.n_labels;
    double n_known = 0, total = 0;
    for (size_t i = 0; i < self->examples.n; i++) {
        const struct clv_problem *problem = &self->examples.problems[i];
        for (size_t node = 0; node < (size_t)problem->n_nodes; node++) {
            if (problem->label[node] == CLV_UNKNOWN)
                continue;
            n_known++;
            for (size_t b = 0; b < k; b++)
                total += (double)problem->theta[node * k + b];
        }
    }
    self->unit = total > 0 ? n_known / total : 1;
    self->mean_known = n_known / (double)self->examples.n;
}

enum clv_status hidden_open(struct hidden *self, const struct clv_training *training,
                            const struct hidden_settings *settings, struct clv_error *err)
{
    *self = (struct hidden){.settings = *settings};
    MUST(examples_open(&self->examples, training, true, err));
    self->size = clv_weight_layout_size(&self->examples.layout);
    self->items = array_zalloc(self->examples.n, sizeof *self->items);
    self->parts = array_alloc(hidden_parts(self->examples.n), self->size * sizeof *self->parts);
    NEED(self->items && self->parts);
    weigh_loss(self);
    MUST(hidden_workspaces_new(&self->workspaces, self->examples.n_threads, training->engine, err));
    return hidden_set_temperatures(self, settings->visible_temperature, settings->hidden_temperature, err);
}

enum clv_status hidden_set_temperatures(struct hidden *self, double visible, double hidden, struct clv_error *err)
{
    self->settings.visible_temperature = visible;
    self->settings.hidden_temperature = hidden;
    MUST(parallel_for(self->examples.n, self->examples.n_threads, choose_methods, self, err));
    return messages_make(self, err);
}

double hidden_at_zero(const struct hidden *self)
{
    size_t k = (size_t)self->examples.layout.n_labels;
    double t = self->settings.visible_temperature, scale = self->settings.margin * self->unit, sum = 0;
    for (size_t i = 0; i < self->examples.n; i++) {
        const struct clv_problem *problem = &self->examples.problems[i];
        for (size_t node = 0; node < (size_t)problem->n_nodes; node++) {
            const float *theta = problem->theta + node * k;
            double total = 0, least = INFINITY, weight = 0;
            if (problem->label[node] == CLV_UNKNOWN)
                continue;
            for (size_t b = 0; b < k; b++) {
                total += (double)theta[b];
                least = fmin(least, (double)theta[b]);
            }
            for (size_t b = 0; b < k && t > 0; b++)
                weight += portable_exp(scale * (least - (double)theta[b]) / t);
            sum += scale * (total - least) + (t > 0 ? t * portable_log(weight) : 0);
        }
    }
    return sum / (double)self->examples.n;
}

void hidden_release(struct hidden *self)
{
    messages_free(self);
    hidden_workspaces_free(self->workspaces, self->examples.n_threads);
    arrays_free(self->items, self->parts, self->memo.messages, self->memo.counts);
    examples_release(&self->examples);
    *self = (struct hidden){0};
}

/* Adds scale D to the unary scores, as clv_field_add_loss does. Returns the constant that they lack. */
static double add_loss(struct clv_field *field, const struct clv_problem *problem, double scale)
{
    size_t k = (size_t)field->n_labels;
    double constant = 0;
    for (size_t i = 0; i < (size_t)field->n_nodes; i++) {
        const float *theta = &problem->theta[i * k];
        if (problem->label[i] == CLV_UNKNOWN)
            continue;
        if (k == 2) {
            field->unary[i] += scale * ((double)theta[0] - (double)theta[1]);
            constant += scale * (double)theta[1];
            continue;
        }
        double total = 0;
        for (size_t b = 0; b < k; b++)
            total += (double)theta[b];
        for (size_t b = 0; b < k; b++)
            field->unary[i * k + b] += scale * (total - (double)theta[b]);
    }
    return constant;
}

/* pairwise += sum over edges and labels of (plus - minus) times the edge's features; minus NULL: 0. */
static void add_pairs(double *pairwise, const struct clv_problem *problem, const struct clv_weight_layout *layout,
                      const double *plus, const double *minus)
{
    size_t p = (size_t)layout->n_edge_features, k = (size_t)layout->n_labels, cells = k * k;
    for (size_t e = 0; e < (size_t)problem->n_edges; e++) {
        const float *feature = &problem->edge_features[e * p];
        const double *above = &plus[e * cells], *below = minus ? &minus[e * cells] : NULL;
        double apart = 0;
        for (size_t c = 0; layout->pairwise == CLV_PAIRWISE_POTTS && c < cells; c++)
            apart += c % (k + 1) ? above[c] - (below ? below[c] : 0) : 0;
        for (size_t f = 0; f < p; f++) {
            double x = (double)feature[f];
            if (x == 0)
                continue;
            if (layout->pairwise == CLV_PAIRWISE_POTTS) {
                pairwise[f] -= x * apart;
                continue;
            }
            for (size_t c = 0; c < cells; c++)
                pairwise[c * p + f] += x * (above[c] - (below ? below[c] : 0));
        }
    }
}

/* psi += the expected joint feature under `plus` minus that under `minus` (NULL: 0). */
static void add_expectation(double *psi, const struct clv_problem *problem, const struct clv_weight_layout *layout,
                            const struct hidden_term *plus, const struct hidden_term *minus, double *weight)
{
    size_t n_rows = clv_weight_layout_rows(layout), k = (size_t)layout->n_labels, n = (size_t)problem->n_nodes;
    for (size_t i = 0; i < n; i++)
        for (size_t r = 0; r < n_rows; r++) {
            size_t cell = i * k + (k == 2 ? 1 : r); /* two labels: label 0 has no row */
            weight[i * n_rows + r] = plus->nodes[cell] - (minus ? minus->nodes[cell] : 0);
        }
    unary_feature_add(psi, problem, layout, weight);
    if (layout->pairwise != CLV_PAIRWISE_NONE)
        add_pairs(psi + clv_weight_layout_unary_size(layout), problem, layout, plus->pairs,
                  minus ? minus->pairs : NULL);
}

/* A pass over examples, which is divided into parts. */
struct parts {
    struct hidden *self;
    struct hidden_pass pass;
    size_t n;
};

size_t hidden_parts(size_t n_taken)
{
    size_t few = n_taken < HIDDEN_PARTS ? n_taken : HIDDEN_PARTS, many = n_taken / EXAMPLES_PER_PART;
    return many < few ? few : many < MOST_PARTS ? many : MOST_PARTS;
}

static enum clv_status run_example(const struct parts *parts, size_t index, double *psi, int thread,
                                   struct clv_error *err)
{
    struct hidden *self = parts->self;
    const struct hidden_pass *pass = &parts->pass;
    struct hidden_workspace *space = &self->workspaces[thread];
    struct hidden_item *item = &self->items[index];
    struct decoder *decoder = &self->examples.decoders[thread];
    const struct clv_weight_layout *layout = &self->examples.layout;
    const struct clv_problem *problem = &self->examples.problems[index];
    MUST(hidden_workspace_set(space, &self->settings, item, problem, layout, err));
    space->is_evaluation = pass->terms == HIDDEN_EVALUATE;
    MUST(decoder_load(decoder, problem, layout, pass->w, err));
    if (pass->terms & HIDDEN_CLAMPED)
        MUST(hidden_clamped(space, &decoder->field, problem->label, err));
    item->clamped = space->clamped.value;
    if (pass->terms & HIDDEN_FREE) {
        double scale = self->settings.margin * self->unit, constant = add_loss(&decoder->field, problem, scale);
        double loss = scale * self->examples.truth_loss[index];
        double truth = pass->terms & HIDDEN_CLAMPED ? item->clamped + loss - constant : -INFINITY;
        MUST(hidden_free(space, &decoder->field, truth, err));
        item->free = space->free.value + constant;
    }
    add_expectation(psi, problem, layout, pass->terms & HIDDEN_FREE ? &space->free : &space->clamped,
                    (pass->terms & HIDDEN_BOTH) == HIDDEN_BOTH ? &space->clamped : NULL, space->weight);
    return CLV_OK;
}

/* Runs a part: every n_parts-th of the taken examples, beginning with the part's number. */
static enum clv_status run_part(void *context, size_t part, int thread, struct clv_error *err)
{
    const struct parts *parts = context;
    const struct hidden_pass *pass = &parts->pass;
    struct hidden *self = parts->self;
    double *psi = &self->parts[part * self->size];
    memset(psi, 0, self->size * sizeof *psi);
    for (size_t k = part; k < pass->n; k += parts->n) {
        FAIL_IF(stop_requested(self->examples.training->progress), CLV_ERR_INTERRUPTED, "interrupted");
        MUST(run_example(parts, (size_t)pass->taken[k], psi, thread, err));
    }
    return CLV_OK;
}

/* Lists the results of a part for other processes: its sum, and the terms and messages of each of its examples. */
static bool part_results(struct comm_piece *piece, void *context, size_t part, size_t at)
{
    const struct parts *parts = context;
    const struct hidden_pass *pass = &parts->pass;
    struct hidden *self = parts->self;
    if (!at) {
        *piece = (struct comm_piece){&self->parts[part * self->size], self->size * sizeof *self->parts};
        return true;
    }
    enum { N_NUMBERS = 6 };
    const size_t n_pieces = N_NUMBERS + HIDDEN_N_MESSAGES, which = (at - 1) % n_pieces;
    const size_t k = part + (at - 1) / n_pieces * parts->n;
    if (k >= pass->n)
        return false;
    struct hidden_item *item = &self->items[pass->taken[k]];
    const struct comm_piece numbers[N_NUMBERS] = {{&item->free, sizeof item->free},
                                                  {&item->clamped, sizeof item->clamped},
                                                  {item->has_messages, sizeof item->has_messages},
                                                  {&item->n_runs, sizeof item->n_runs},
                                                  {&item->n_sweeps, sizeof item->n_sweeps},
                                                  {&item->n_converged, sizeof item->n_converged}};
    *piece = which < N_NUMBERS
                 ? numbers[which]
                 : messages_piece(self, (size_t)pass->taken[k], (enum hidden_messages)(which - N_NUMBERS), pass->terms);
    return true;
}

/* Copies messages and counts, so that an interrupted step of a training with checkpoints can be undone. */
static enum clv_status remember(struct hidden *self, const int32_t *taken, size_t n, struct clv_error *err)
{
    struct hidden_memo *memo = &self->memo;
    if (array_reserve((void **)&memo->messages, &memo->capacity, messages_size(self, taken, n) + 1, sizeof(float)) ||
        array_reserve((void **)&memo->counts, &memo->count_capacity, n * MESSAGES_COUNTS, sizeof(int64_t)))
        return fail_memory(err);
    messages_copy(memo->messages, memo->counts, self, taken, n);
    return CLV_OK;
}

enum clv_status hidden_gradient(double *gradient, double *free, double *clamped, struct hidden *self,
                                const struct hidden_pass *pass, struct clv_error *err)
{
    const int32_t *taken = pass->taken;
    const size_t n = pass->n;
    struct parts parts = {self, *pass, hidden_parts(n)};
    double sum_free = 0, sum_clamped = 0, share = 1 / (double)n;
    bool remembers = self->examples.training->checkpoints && pass->terms != HIDDEN_EVALUATE;
    if (remembers)
        MUST(remember(self, taken, n, err));
    enum clv_status status = comm_for(parts.n, self->examples.n_threads, run_part, part_results, &parts, err);
    if (status == CLV_ERR_INTERRUPTED && remembers)
        messages_put(self, self->memo.messages, self->memo.counts, taken, n);
    if (status)
        return status;
    for (size_t k = 0; k < self->size; k++) {
        double sum = 0;
        for (size_t part = 0; part < parts.n; part++)
            sum += self->parts[part * self->size + k];
        gradient[k] = share * sum;
    }
    for (size_t k = 0; k < n; k++) {
        sum_free += self->items[taken[k]].free;
        sum_clamped += self->items[taken[k]].clamped;
    }
    if (free)
        *free = share * sum_free;
    if (clamped)
        *clamped = share * sum_clamped;
    return CLV_OK;
}

struct clv_decoding hidden_decoding(const struct hidden_settings *settings)
{
    if (settings->hidden_temperature == 0)
        return (struct clv_decoding){.rule = CLV_DECODE_MAP};
    if (settings->visible_temperature == 1 && settings->hidden_temperature == 1)
        return (struct clv_decoding){.rule = CLV_DECODE_MARGINALS};
    return (struct clv_decoding){CLV_DECODE_MARGINAL_MAP, settings->hidden_temperature};
}

void hidden_note(struct clv_training_result *result, const struct hidden *hidden)
{
    double n_runs = 0, n_sweeps = 0, n_converged = 0;
    for (size_t i = 0; i < hidden->examples.n; i++) {
        n_runs += (double)hidden->items[i].n_runs;
        n_sweeps += (double)hidden->items[i].n_sweeps;
        n_converged += (double)hidden->items[i].n_converged;
    }
    if (n_runs > 0) {
        result_note(result, "sweeps_per_inference", n_sweeps / n_runs);
        result_note(result, "converged_share", n_converged / n_runs);
    }
}
