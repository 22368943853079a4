/* Trains SVMs of tags by dual coordinate descent with shrinking (Hsieh et al. 2008), on sparse rows or a Gram matrix,
 * with or without couplings shared by tags. Start at hinge_solve. */
#include "tags/dual_coordinate.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "base/machine.h"

enum { LANES = 8, MAX_PASS_BITS = 20 };

/* One tag's working state. */
struct worker {
    struct hinge_tag *tag;
    double *score;   /* [n] with a Gram matrix: <w, x_l>, updated in each step; else NULL */
    double *q;       /* [n] curvatures */
    int32_t *active; /* [n] examples; the first n_active are not shrunk */
    size_t n_active;
    double above, below; /* largest and smallest projected gradient of the previous pass */
};

static double sparse_product(const double *w, const struct hinge_inputs *inputs, size_t l)
{
    int64_t k = inputs->row[l], end = inputs->row[l + 1];
    double sum[4] = {0};
    for (; k + 4 <= end; k += 4)
        for (int j = 0; j < 4; j++)
            sum[j] += w[inputs->index[k + j]] * inputs->value[k + j];
    for (; k < end; k++)
        sum[0] += w[inputs->index[k]] * inputs->value[k];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* Product with a row that has all features, which needs no indices. */
FOR_EVERY_WIDTH static double dense_product(const double *w, const double *x, int32_t n)
{
    double sum[LANES] = {0}, total = 0;
    int32_t k = 0;
    for (; k + LANES <= n; k += LANES)
        for (int j = 0; j < LANES; j++)
            sum[j] += w[k + j] * x[k + j];
    for (int j = 0; j < LANES; j++)
        total += sum[j];
    for (; k < n; k++)
        total += w[k] * x[k];
    return total;
}

FOR_EVERY_WIDTH static void add_scaled(double *restrict sum, const double *restrict x, size_t n, double factor)
{
    for (size_t k = 0; k < n; k++)
        sum[k] += factor * x[k];
}

static bool is_dense(const struct hinge_inputs *inputs, size_t l)
{
    return inputs->row[l + 1] - inputs->row[l] == inputs->n_features;
}

/* <w, x_l> + b */
static double input_score(const struct worker *self, const struct hinge_inputs *inputs, size_t l)
{
    const struct hinge_tag *tag = self->tag;
    if (self->score)
        return tag->b + self->score[l];
    return tag->b + (is_dense(inputs, l) ? dense_product(tag->w, inputs->value + inputs->row[l], inputs->n_features)
                                         : sparse_product(tag->w, inputs, l));
}

/* w += step x_l, b += step bias^2. */
static void add_input(struct worker *self, const struct hinge_inputs *inputs, size_t l, double step)
{
    struct hinge_tag *tag = self->tag;
    tag->b += step * inputs->bias * inputs->bias;
    if (self->score) {
        add_scaled(self->score, inputs->gram + l * inputs->n, inputs->n, step);
    } else if (is_dense(inputs, l)) {
        add_scaled(tag->w, inputs->value + inputs->row[l], (size_t)inputs->n_features, step);
    } else {
        for (int64_t k = inputs->row[l]; k < inputs->row[l + 1]; k++)
            tag->w[inputs->index[k]] += step * inputs->value[k];
    }
}

/* v_i += step phi / eta. Copies shared couplings to the other tags; no tag is coupled with itself. */
static void add_coupling(const struct hinge_block *block, size_t i, size_t l, double step)
{
    struct hinge_tag *tag = &block->tags[i];
    const double *phi = tag->phi + l * tag->stride;
    add_scaled(tag->v, phi, tag->n_phi, step / block->eta);
    if (!block->is_shared)
        return;
    tag->v[i] = 0;
    for (size_t k = 0; k < block->n_tags; k++)
        block->tags[k].v[i] = tag->v[k];
}

static double coupling_score(const struct hinge_tag *tag, size_t l)
{
    return dense_product(tag->v, tag->phi + l * tag->stride, (int32_t)tag->n_phi);
}

/* Curvature sum_j Q_jll = |x_l|^2 + bias^2 + sum phi^2 / eta. phi^2 is divided by eta once, since v = sum alpha y phi /
 * eta. (The paper's text divides by eta_j squared, which contradicts its stationarity condition eta_j w_j = sum alpha
 * f_j.) */
static double curvature(const struct hinge_block *block, size_t i, size_t l)
{
    const struct hinge_tag *tag = &block->tags[i];
    const double *phi = tag->phi + l * tag->stride;
    double sum = dense_product(phi, phi, (int32_t)tag->n_phi);
    if (block->is_shared) /* no tag is coupled with itself */
        sum -= phi[i] * phi[i];
    return block->inputs->norm[l] + sum / block->eta;
}

/* Lines 3 to 9 of Algorithm 1 for one tag, in random order. Returns the violation: the range of the projected
 * gradients. */
static double pass(struct hinge_block *block, size_t i, struct worker *self, const struct hinge_options *options,
                   int32_t number)
{
    struct hinge_tag *tag = self->tag;
    double above = -INFINITY, below = INFINITY;
    uint32_t stream = (uint32_t)tag->number << MAX_PASS_BITS | (uint32_t)number;
    for (size_t at = 0, draw = 0; at < self->n_active; draw++) { /* Fisher-Yates, one step at a time */
        uint32_t rest = (uint32_t)(self->n_active - at);
        size_t pick = at + rng_below(options->seed, RNG_STREAM(RNG_ORDER, stream), draw, rest);
        int32_t l = self->active[pick];
        self->active[pick] = self->active[at];
        self->active[at] = l;
        size_t m = (size_t)l;
        double alpha = tag->alpha[m], y = tag->y[m];
        double g = y * (input_score(self, block->inputs, m) + coupling_score(tag, m)) - 1;
        /* Shrinking: alpha is at a bound, and its gradient exceeds all projected gradients of the previous pass. */
        if ((alpha <= 0 && g > self->above) || (alpha >= block->c && g < self->below)) {
            self->active[at] = self->active[--self->n_active];
            self->active[self->n_active] = l;
            continue;
        }
        at++;
        double projected = alpha <= 0 ? fmin(g, 0) : alpha >= block->c ? fmax(g, 0) : g;
        above = fmax(above, projected);
        below = fmin(below, projected);
        if (projected == 0)
            continue;
        double q = self->q[m], updated = q > 0 ? fmin(fmax(alpha - g / q, 0), block->c) : block->c;
        if (updated == alpha)
            continue;
        tag->alpha[m] = updated;
        add_input(self, block->inputs, m, (updated - alpha) * y);
        add_coupling(block, i, m, (updated - alpha) * y);
    }
    self->above = above > 0 ? above : INFINITY;
    self->below = below < 0 ? below : -INFINITY;
    return above >= below ? above - below : 0;
}

/* Recomputes w, b, v and scores from the alphas, so that rounding errors do not accumulate. */
static void rebuild(struct hinge_block *block, struct worker *workers)
{
    const struct hinge_inputs *inputs = block->inputs;
    for (size_t i = 0; i < block->n_tags; i++) {
        struct hinge_tag *tag = &block->tags[i];
        tag->b = 0;
        if (workers[i].score)
            memset(workers[i].score, 0, inputs->n * sizeof *workers[i].score);
        else
            memset(tag->w, 0, (size_t)inputs->n_features * sizeof *tag->w);
        memset(tag->v, 0, tag->n_phi * sizeof *tag->v);
    }
    for (size_t i = 0; i < block->n_tags; i++)
        for (size_t l = 0; l < inputs->n; l++)
            if (block->tags[i].alpha[l] > 0) {
                double step = block->tags[i].alpha[l] * block->tags[i].y[l];
                add_input(&workers[i], inputs, l, step);
                add_coupling(block, i, l, step);
            }
}

/* Computes the primal and dual values. |w|^2 + b^2 / bias^2 is sum_l alpha y (<w, x_l> + b), since w and b are sums
 * over the alphas. */
static void measure(struct hinge_result *result, const struct hinge_block *block, const struct worker *workers)
{
    const struct hinge_inputs *inputs = block->inputs;
    double square = 0, hinge = 0, sum = 0;
    for (size_t i = 0; i < block->n_tags; i++) {
        const struct hinge_tag *tag = &block->tags[i];
        for (size_t l = 0; l < inputs->n; l++) {
            double input = tag->y[l] * input_score(&workers[i], inputs, l),
                   coupling = tag->y[l] * coupling_score(tag, l);
            sum += tag->alpha[l];
            square += tag->alpha[l] * input;
            hinge += fmax(0, 1 - input - coupling);
        }
        double v_square = 0;
        for (size_t k = 0; k < tag->n_phi; k++)
            v_square += tag->v[k] * tag->v[k];
        square += block->eta * (block->is_shared ? v_square / 2 : v_square); /* each shared coupling is in two rows */
    }
    result->primal = square / 2 + block->c * hinge;
    result->dual = sum - square / 2;
}

static void unshrink(struct worker *self, size_t n)
{
    self->n_active = n;
    self->above = INFINITY;
    self->below = -INFINITY;
}

static enum clv_status workers_init(struct worker *workers, struct hinge_block *block, double warm,
                                    struct clv_error *err)
{
    size_t n = block->inputs->n;
    for (size_t i = 0; i < block->n_tags; i++) {
        struct worker *self = &workers[i];
        *self = (struct worker){.tag = &block->tags[i], .active = array_alloc(n, sizeof *self->active)};
        self->q = array_alloc(n, sizeof *self->q);
        if (block->inputs->gram)
            self->score = array_zalloc(n, sizeof *self->score);
        if (!self->active || !self->q || (block->inputs->gram && !self->score))
            return fail_memory(err);
        for (size_t l = 0; l < n; l++) {
            self->active[l] = (int32_t)l;
            self->q[l] = curvature(block, i, l);
        }
        unshrink(self, n);
        for (size_t l = 0; l < n; l++)
            self->tag->alpha[l] = warm > 0 ? fmin(warm * self->tag->alpha[l], block->c) : 0;
    }
    rebuild(block, workers);
    return CLV_OK;
}

static bool is_any_shrunk(const struct worker *workers, const struct hinge_block *block)
{
    for (size_t i = 0; i < block->n_tags; i++)
        if (workers[i].n_active < block->inputs->n)
            return 1;
    return 0;
}

struct worker_list {
    struct worker *workers; /* [n] */
    size_t n;
};

static void worker_list_release(struct worker_list *self)
{
    for (size_t i = 0; self->workers && i < self->n; i++)
        arrays_free(self->workers[i].score, self->workers[i].q, self->workers[i].active);
    array_free(self->workers);
}

enum clv_status hinge_solve(struct hinge_result *result, struct hinge_block *block, const struct hinge_options *options,
                            struct clv_error *err)
{
    size_t n = block->inputs->n;
    OWNED(worker_list_release) struct worker_list list = {array_zalloc(block->n_tags, sizeof *list.workers),
                                                          block->n_tags};
    struct worker *workers = list.workers;
    NEED(workers);
    MUST(workers_init(workers, block, options->warm, err));
    struct hinge_result solved = {0};
    double target = options->tolerance * block->c * (double)n, violation_wanted = 0.1;
    while (solved.n_passes < options->max_passes && !solved.is_converged && !stop_requested(options->progress)) {
        double violation = 0;
        for (size_t i = 0; i < block->n_tags && !stop_requested(options->progress); i++)
            violation = fmax(violation, pass(block, i, &workers[i], options, solved.n_passes));
        if (stop_requested(options->progress))
            break;
        solved.n_passes++;
        if (violation > violation_wanted)
            continue;
        if (is_any_shrunk(workers, block)) {
            for (size_t i = 0; i < block->n_tags; i++)
                unshrink(&workers[i], n);
            continue;
        }
        rebuild(block, workers);
        measure(&solved, block, workers);
        solved.is_converged = solved.primal - solved.dual <= target;
        violation_wanted /= 4;
    }
    if (!solved.is_converged) {
        if (!stop_requested(options->progress)) /* rebuilding may take as long as a pass */
            rebuild(block, workers);
        measure(&solved, block, workers);
        solved.is_converged = solved.primal - solved.dual <= target;
    }
    *result = solved;
    return CLV_OK;
}

void hinge_weigh(const struct hinge_tag *tag, const struct hinge_inputs *inputs)
{
    memset(tag->w, 0, (size_t)inputs->n_features * sizeof *tag->w);
    for (size_t l = 0; l < inputs->n; l++)
        for (int64_t k = inputs->row[l]; tag->alpha[l] > 0 && k < inputs->row[l + 1]; k++)
            tag->w[inputs->index[k]] += tag->alpha[l] * tag->y[l] * inputs->value[k];
}

enum clv_status hinge_inputs_init(struct hinge_inputs *inputs, struct clv_error *err)
{
    inputs->norm = array_alloc(inputs->n, sizeof *inputs->norm);
    NEED(inputs->norm);
    for (size_t l = 0; l < inputs->n; l++) {
        double sum = inputs->gram ? inputs->gram[l * inputs->n + l] : 0;
        for (int64_t k = inputs->gram ? 1 : inputs->row[l]; k < (inputs->gram ? 1 : inputs->row[l + 1]); k++)
            sum += inputs->value[k] * inputs->value[k];
        inputs->norm[l] = sum + inputs->bias * inputs->bias;
    }
    return CLV_OK;
}

void hinge_inputs_release(struct hinge_inputs *inputs)
{
    array_free(inputs->norm);
    inputs->norm = NULL;
}
