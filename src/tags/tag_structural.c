/* Learns structured SVMs over tags, on a chain or the complete graph, with the linear kernel, by block-coordinate
 * Frank-Wolfe (Lacoste-Julien et al., ICML 2013) with line search and one block per example. Each block keeps the
 * contribution of its dual variables,
 *     w = sum_l u_l x_l',   b = sum_l u_l,   couplings = sum_l e_l,   loss = sum_l ell_l,
 * since the contribution of every labelling is a multiple of the same features.
 *
 * If the complete graph has too many labellings, the oracle solves the linear relaxation (tag_relax.c), whose optima
 * are half-integral. The objective is then that of the relaxation, an upper bound of the structured hinge of the same
 * form (Finley & Joachims 2008, "overgenerating"), so line search and duality gap stay valid. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "tags/tags.h"

struct machine {
    struct clv_tag_model *model;
    const struct tag_fit_task *task;
    size_t k, d, n_couplings;
    double c, eta;
    double *u;      /* [n][k] */
    double *e;      /* [n][n_couplings] */
    double *loss;   /* [n] */
    double *scores; /* [k] scores of the current example, plain and loss-augmented */
    double *augmented;
    double *u_new, *e_new; /* [k], [n_couplings] the corner found by the oracle */
    int8_t *truth, *y;     /* [k] -1 or 1; y may be 0 if relaxed */
    uint8_t *tags;
    struct tag_relaxation relaxation; /* used if the complete graph has too many tags to enumerate */
};

/* Adds the products of y, times factor, to e. Products of two undecided tags get the sign of the coupling. */
static void product_of(double *e, const struct machine *self, const int8_t *y, double factor)
{
    const double *coupling = self->model->coupling;
    size_t at = 0;
    for (size_t i = 1; i < self->k && self->n_couplings; i++)
        for (size_t j = self->model->form == CLV_TAGS_CHAIN ? i - 1 : 0; j < i; j++, at++)
            e[at] += factor * tag_relaxed_product(y[i], y[j], coupling[at]);
}

/* Sets y to the argmax of the model with the scores self->augmented. */
static enum clv_status decide(struct machine *self, struct clv_error *err)
{
    if (self->relaxation.oracle)
        return tag_relax(self->y, NULL, &self->relaxation, self->model->coupling, self->augmented, err);
    MUST(clv_tag_decide(self->tags, NULL, self->model, self->augmented, NULL, err));
    for (size_t i = 0; i < self->k; i++)
        self->y[i] = self->tags[i] ? 1 : -1;
    return CLV_OK;
}

/* Finds argmax_y |y - y_l|_H + f(y): the loss changes each score by 1/2 against the truth. Sets the corner and its
 * loss. */
static enum clv_status find_corner(double *loss, struct machine *self, size_t l, struct clv_error *err)
{
    size_t example = (size_t)self->task->examples[l];
    const uint8_t *truth = self->task->problem->tags + example * self->k;
    tag_fit_scores(self->scores, self->model, self->task, example);
    for (size_t i = 0; i < self->k; i++) {
        self->truth[i] = truth[i] ? 1 : -1;
        self->augmented[i] = self->scores[i] + (truth[i] ? -0.5 : 0.5);
    }
    MUST(decide(self, err));
    *loss = 0;
    for (size_t i = 0; i < self->k; i++) {
        int step = self->truth[i] - self->y[i];
        self->u_new[i] = self->c * step;
        *loss += self->c * (0.5 * abs(step));
    }
    /* By stationarity the couplings are the sum of the products, divided by eta. */
    memset(self->e_new, 0, self->n_couplings * sizeof *self->e_new);
    product_of(self->e_new, self, self->truth, self->c / self->eta);
    product_of(self->e_new, self, self->y, -self->c / self->eta);
    return CLV_OK;
}

/* Returns the block's gap <w_l - w_s, w> - loss_l + loss_s; *square is |w_l - w_s|^2 in the metric of the
 * regulariser. */
static double block_gap(double *square, const struct machine *self, size_t l, double loss)
{
    const struct kernel_rows *rows = &self->task->problem->rows;
    size_t row = (size_t)self->task->examples[l];
    double norm = 1, gap = loss - self->loss[l], inputs = 0, couplings = 0;
    for (int64_t at = rows->row[row]; at < rows->row[row + 1]; at++)
        norm += rows->value[at] * rows->value[at];
    for (size_t i = 0; i < self->k; i++) {
        double step = self->u[l * self->k + i] - self->u_new[i];
        gap += step * self->scores[i]; /* <w_i, x> + b_i */
        inputs += step * step;
    }
    for (size_t i = 0; i < self->n_couplings; i++) {
        double step = self->e[l * self->n_couplings + i] - self->e_new[i];
        gap += self->eta * step * self->model->coupling[i];
        couplings += step * step;
    }
    *square = norm * inputs + self->eta * couplings;
    return gap;
}

static void move(struct machine *self, size_t l, double step, double loss)
{
    struct clv_tag_model *model = self->model;
    const struct kernel_rows *rows = &self->task->problem->rows;
    size_t row = (size_t)self->task->examples[l];
    for (size_t i = 0; i < self->k; i++) {
        double *u = &self->u[l * self->k + i], change = step * (self->u_new[i] - *u);
        if (change == 0)
            continue;
        *u += change;
        model->bias[i] += change;
        for (int64_t at = rows->row[row]; at < rows->row[row + 1]; at++)
            model->weight[i * self->d + (size_t)rows->index[at]] += change * rows->value[at];
    }
    for (size_t i = 0; i < self->n_couplings; i++) {
        double *e = &self->e[l * self->n_couplings + i], change = step * (self->e_new[i] - *e);
        *e += change;
        model->coupling[i] += change;
    }
    self->loss[l] += step * (loss - self->loss[l]);
}

/* Runs a pass in random order. *gap is the sum of the blocks' gaps at the time of their steps, an estimate of the
 * duality gap. */
static enum clv_status pass(double *gap, struct machine *self, int32_t *order, int32_t number, struct clv_error *err)
{
    size_t n = self->task->n;
    rng_permutation(order, n, self->task->seed, RNG_STREAM(RNG_ORDER, (uint32_t)number));
    *gap = 0;
    for (size_t at = 0; at < n && !stop_requested(self->task->progress); at++) {
        size_t l = (size_t)order[at];
        double loss, square;
        MUST(find_corner(&loss, self, l, err));
        double gap_of_block = block_gap(&square, self, l, loss);
        *gap += gap_of_block;
        if (gap_of_block > 0 && square > 0)
            move(self, l, fmin(1, gap_of_block / square), loss);
    }
    return CLV_OK;
}

/* 1/2 |w|^2 in the metric of the regulariser. */
static double half_square(const struct machine *self)
{
    double sum = 0;
    for (size_t i = 0; i < self->k * self->d; i++)
        sum += self->model->weight[i] * self->model->weight[i];
    for (size_t i = 0; i < self->k; i++)
        sum += self->model->bias[i] * self->model->bias[i];
    for (size_t i = 0; i < self->n_couplings; i++)
        sum += self->eta * self->model->coupling[i] * self->model->coupling[i];
    return sum / 2;
}

/* Computes the exact objective and duality gap, with the same weights for all blocks. */
static enum clv_status measure(struct clv_tag_training_result *result, struct machine *self, struct clv_error *err)
{
    double gap = 0, dual = -half_square(self), lambda = self->task->parameters[CLV_TAG_LAMBDA];
    for (size_t l = 0; l < self->task->n; l++) {
        double loss, square;
        MUST(find_corner(&loss, self, l, err));
        gap += block_gap(&square, self, l, loss);
        dual += self->loss[l];
    }
    result->dual = lambda * dual;
    result->primal = lambda * (dual + gap);
    result->is_converged = lambda * gap <= self->task->parameters[CLV_TAG_TOLERANCE];
    return CLV_OK;
}

static enum clv_status solve(struct clv_tag_training_result *result, struct machine *self, int32_t *order,
                             struct clv_error *err)
{
    double lambda = self->task->parameters[CLV_TAG_LAMBDA], tolerance = self->task->parameters[CLV_TAG_TOLERANCE], gap;
    int32_t max_passes = (int32_t)self->task->parameters[CLV_TAG_PASSES];
    while (result->n_passes < max_passes && !result->is_converged && !stop_requested(self->task->progress)) {
        MUST(pass(&gap, self, order, result->n_passes++, err));
        if (lambda * gap <= tolerance && !stop_requested(self->task->progress))
            MUST(measure(result, self, err));
    }
    if (!result->is_converged)
        MUST(measure(result, self, err));
    result->interrupted = stop_requested(self->task->progress);
    return CLV_OK;
}

static void machine_release(struct machine *self)
{
    tag_relaxation_release(&self->relaxation);
    arrays_free(self->u, self->e, self->loss, self->scores, self->augmented, self->u_new, self->e_new, self->truth,
                self->y, self->tags);
}

enum clv_status tag_structural_fit(struct clv_tag_model *model, struct clv_tag_training_result *result,
                                   const struct tag_fit_task *task, struct clv_error *err)
{
    size_t n = task->n, k = (size_t)model->n_tags;
    size_t m = clv_tag_coupling_count(model->form, model->n_tags, model->order);
    OWNED(machine_release) struct machine self = {
        .model = model,
        .task = task,
        .k = k,
        .d = (size_t)model->n_features,
        .n_couplings = m,
        .c = 1 / (task->parameters[CLV_TAG_LAMBDA] * (double)n),
        .eta = 1 + task->parameters[CLV_TAG_ETA0],
        .u = array_zalloc(n * k, sizeof(double)),
        .e = array_zalloc(n * m, sizeof(double)),
        .loss = array_zalloc(n, sizeof(double)),
        .scores = array_alloc(k, sizeof(double)),
        .augmented = array_alloc(k, sizeof(double)),
        .u_new = array_alloc(k, sizeof(double)),
        .e_new = array_alloc(m, sizeof(double)),
        .truth = array_alloc(k, 1),
        .y = array_alloc(k, 1),
        .tags = array_alloc(k, 1),
    };
    OWNED_ARRAY int32_t *order = array_alloc(n, sizeof *order);
    NEED(self.u && self.e && self.loss && self.scores && self.augmented && self.u_new && self.e_new && self.truth &&
         self.y && self.tags && order);
    if (model->form == CLV_TAGS_FULL && m > 0 && model->n_tags > CLV_MAX_ENUMERATED)
        MUST(tag_relaxation_init(&self.relaxation, model->n_tags, err));
    return solve(result, &self, order, err);
}
