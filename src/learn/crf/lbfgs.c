/* Limited-memory BFGS (Nocedal & Wright, Numerical optimization, second edition 2006, Algorithms 7.4 and 7.5) and, with
 * an L1 penalty, OWL-QN (Andrew & Gao, ICML 2007). A line search finds steps that fulfil the strong Wolfe conditions
 * (line_search: Algorithms 3.5 and 3.6). Start at lbfgs_step, at the end. */
#include "learn/crf/crf.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "learn/common/common.h"

#define LINE_DECREASE 1e-4 /* a step lowers the value by at least this fraction of the predicted change */
#define CURVATURE     0.9  /* .. and leaves at most this fraction of the first slope */
#define MARGIN        0.1  /* a trial keeps this fraction of its interval away from the ends */
#define GROWTH        1.1  /* a step that is too short grows by at least this factor */
#define STRETCH       4    /* .. and by at most this multiple of its previous growth */

struct search {
    const struct line *line;
    struct line_point start;
    double last; /* step of the last evaluation */
    int n_tried;
};

/* Whether the change that the first slope predicts for this step is below rounding errors. */
static bool line_is_lost(const struct line_point *start, double step)
{
    return !(fabs(step * start->slope) > DBL_EPSILON / 16 * fabs(start->value));
}

static enum clv_status search_evaluate(struct line_point *point, struct search *self, double step,
                                       struct clv_error *err)
{
    *point = (struct line_point){.step = step};
    self->last = step;
    self->n_tried++;
    return self->line->evaluate(point, self->line->context, err);
}

/* Whether a value is below the start's, by at least LINE_DECREASE of the predicted change `promise` (< 0). */
static bool line_lies_low(double value, const struct line_point *start, double promise)
{
    return value < start->value && value <= start->value + LINE_DECREASE * promise;
}

static bool lies_low(const struct search *self, const struct line_point *point)
{
    return line_lies_low(point->value, &self->start, point->step * self->start.slope);
}

static bool is_flat(const struct search *self, const struct line_point *point)
{
    return fabs(point->slope) <= -CURVATURE * self->start.slope;
}

/* The minimum of the cubic through two values and slopes (Nocedal & Wright, equation 3.59); NaN if it has none. */
static double cubic_minimum(const struct line_point *a, const struct line_point *b)
{
    double d1 = a->slope + b->slope - 3 * (a->value - b->value) / (a->step - b->step);
    double d2 = copysign(sqrt(d1 * d1 - a->slope * b->slope), b->step - a->step);
    return b->step - (b->step - a->step) * (b->slope + d2 - d1) / (b->slope - a->slope + 2 * d2);
}

/* Algorithm 3.6: narrows the interval between `low`, the lowest point so far, and `high`, which has steps that fulfil
 * both conditions. */
static enum clv_status zoom(struct line_point *low, struct search *self, struct line_point high, struct clv_error *err)
{
    while (self->n_tried < LINE_TRIALS && !line_is_lost(&self->start, high.step - low->step)) {
        double begin = fmin(low->step, high.step), width = fabs(high.step - low->step);
        double step = cubic_minimum(low, &high);
        step =
            isfinite(step) ? fmin(fmax(step, begin + MARGIN * width), begin + (1 - MARGIN) * width) : begin + width / 2;
        struct line_point point;
        MUST(search_evaluate(&point, self, step, err));
        if (!lies_low(self, &point) || point.value >= low->value) {
            high = point;
            continue;
        }
        if (point.slope * (high.step - low->step) >= 0)
            high = *low;
        *low = point;
        if (is_flat(self, &point))
            break;
    }
    return CLV_OK;
}

/* Algorithm 3.5: lengthens the step until it fulfils both conditions or is too long. *low is the best point at the
 * end. */
static enum clv_status grow(struct line_point *low, struct search *self, double step, struct clv_error *err)
{
    while (self->n_tried < LINE_TRIALS) {
        struct line_point point;
        MUST(search_evaluate(&point, self, step, err));
        if (!lies_low(self, &point) || (low->step > 0 && point.value >= low->value))
            return zoom(low, self, point, err);
        struct line_point before = *low;
        *low = point;
        if (is_flat(self, &point))
            return CLV_OK;
        if (point.slope >= 0)
            return zoom(low, self, before, err);
        step = cubic_minimum(&before, &point);
        double least = GROWTH * point.step, most = point.step + STRETCH * (point.step - before.step);
        step = isfinite(step) && step > least ? fmin(step, most) : most;
    }
    return CLV_OK;
}

enum clv_status line_search(struct line_point *found, int *n_tried, const struct line *line,
                            const struct line_point *start, double step, struct clv_error *err)
{
    struct search self = {.line = line, .start = *start};
    *found = *start;
    MUST(grow(found, &self, step, err));
    if (found->step > 0 && found->step != self.last)
        MUST(search_evaluate(found, &self, found->step, err));
    *n_tried = self.n_tried;
    return CLV_OK;
}

enum clv_status lbfgs_open(struct lbfgs *self, const struct lbfgs_function *function, size_t size, size_t memory,
                           struct clv_error *err)
{
    *self = (struct lbfgs){.function = *function, .size = size, .memory = memory};
    double **vectors[] = {&self->x,         &self->gradient, &self->slope,
                          &self->direction, &self->trial,    &self->trial_gradient};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        *vectors[k] = arena_zalloc(&self->arena, size, sizeof(double));
    self->moves = arena_zalloc(&self->arena, memory, size * sizeof(double));
    self->changes = arena_zalloc(&self->arena, memory, size * sizeof(double));
    self->curvature = arena_zalloc(&self->arena, memory, sizeof(double));
    self->share = arena_zalloc(&self->arena, memory, sizeof(double));
    return self->arena.failed ? fail_memory(err) : CLV_OK;
}

void lbfgs_release(struct lbfgs *self)
{
    arena_release(&self->arena);
    *self = (struct lbfgs){0};
}

/* Computes F and the gradient of f. */
static enum clv_status evaluate(double *value, double *gradient, const struct lbfgs *self, const double *x,
                                struct clv_error *err)
{
    const struct lbfgs_function *function = &self->function;
    MUST(function->evaluate(value, gradient, function->context, x, err));
    for (size_t k = 0; k < self->size && function->l1 > 0; k++)
        *value += function->l1 * fabs(x[k]);
    return CLV_OK;
}

/* Sets the slope to the gradient of F; with absolute values to the subgradient of least length, which is 0 where x is 0
 * and stays 0 (Andrew & Gao, equation 4). */
static void set_slope(struct lbfgs *self)
{
    const double l1 = self->function.l1, *x = self->x, *gradient = self->gradient;
    for (size_t k = 0; k < self->size; k++) {
        double sign = x[k] > 0 ? 1 : x[k] < 0 ? -1 : gradient[k] > l1 ? -1 : gradient[k] < -l1 ? 1 : 0;
        self->slope[k] = l1 > 0 ? (sign != 0 ? gradient[k] + sign * l1 : 0) : gradient[k];
    }
}

double lbfgs_slope(const struct lbfgs *self)
{
    return sqrt(inner_product(self->slope, self->slope, self->size));
}

enum clv_status lbfgs_start(struct lbfgs *self, struct clv_error *err)
{
    MUST(evaluate(&self->value, self->gradient, self, self->x, err));
    set_slope(self);
    return CLV_OK;
}

bool lbfgs_resume(struct lbfgs *self)
{
    if (self->n_kept > self->memory || self->next >= self->memory ||
        (self->n_kept < self->memory && self->next != self->n_kept))
        return false;
    for (size_t k = 0; k < self->n_kept; k++) {
        self->curvature[k] = inner_product(self->moves + k * self->size, self->changes + k * self->size, self->size);
        if (!(self->curvature[k] > 0 && isfinite(self->curvature[k])))
            return false;
    }
    set_slope(self);
    return isfinite(lbfgs_slope(self));
}

/* Index of the i-th last move; i counts from 1. */
static size_t slot_of(const struct lbfgs *self, size_t i)
{
    return (self->next + self->memory - i) % self->memory;
}

/* Sets direction = -H slope (Algorithm 7.4), where the first H is a multiple of the identity (equation 7.20). */
static void set_direction(struct lbfgs *self)
{
    size_t n = self->size;
    double *direction = self->direction;
    for (size_t k = 0; k < n; k++)
        direction[k] = -self->slope[k];
    for (size_t i = 1; i <= self->n_kept; i++) {
        size_t k = slot_of(self, i);
        self->share[k] = inner_product(self->moves + k * n, direction, n) / self->curvature[k];
        add_scaled(direction, self->changes + k * n, -self->share[k], n);
    }
    if (self->n_kept) {
        size_t k = slot_of(self, 1);
        const double *change = self->changes + k * n;
        scale_by(direction, self->curvature[k] / inner_product(change, change, n), n);
    }
    for (size_t i = self->n_kept; i > 0; i--) {
        size_t k = slot_of(self, i);
        double share = inner_product(self->changes + k * n, direction, n) / self->curvature[k];
        add_scaled(direction, self->moves + k * n, self->share[k] - share, n);
    }
    for (size_t k = 0; k < n && self->function.l1 > 0; k++) /* every coordinate goes downhill or is 0 */
        if (direction[k] * self->slope[k] >= 0)
            direction[k] = 0;
}

/* Keeps the move from x to the trial if the gradient rose along it, so that H stays positive definite. Uses `direction`
 * and `slope`, which are no longer needed, as scratch. */
static void remember(struct lbfgs *self)
{
    size_t n = self->size, k = self->next;
    double rise, squares;
    for (size_t c = 0; c < n; c++) {
        self->direction[c] = self->trial[c] - self->x[c];
        self->slope[c] = self->trial_gradient[c] - self->gradient[c];
    }
    dot_and_square(&rise, &squares, self->direction, self->slope, n);
    if (!(rise > DBL_EPSILON * squares && isfinite(rise)))
        return;
    memcpy(self->moves + k * n, self->direction, n * sizeof *self->moves);
    memcpy(self->changes + k * n, self->slope, n * sizeof *self->changes);
    self->curvature[k] = rise;
    self->next = (k + 1) % self->memory;
    self->n_kept += self->n_kept < self->memory;
}

static enum clv_status evaluate_along(struct line_point *point, void *context, struct clv_error *err)
{
    struct lbfgs *self = context;
    memcpy(self->trial, self->x, self->size * sizeof *self->trial);
    add_scaled(self->trial, self->direction, point->step, self->size);
    MUST(evaluate(&point->value, self->trial_gradient, self, self->trial, err));
    point->slope = inner_product(self->trial_gradient, self->direction, self->size);
    return CLV_OK;
}

/* Sets the trial to a step along the direction. Weights that would change sign stop at 0; a weight of 0 can only take
 * the sign opposite to its slope. Returns the change of F that the slope predicts, at most 0. */
static double project_step(struct lbfgs *self, double step)
{
    double promise = 0;
    for (size_t k = 0; k < self->size; k++) {
        double from = self->x[k], sign = from != 0 ? from : -self->slope[k], to = from + step * self->direction[k];
        self->trial[k] = to * sign > 0 ? to : 0;
        promise += self->slope[k] * (self->trial[k] - from);
    }
    return promise;
}

/* Halves the step until it lowers F by a fraction of what the slope predicts (Andrew & Gao, section 3.2). */
static enum clv_status search_orthant(struct line_point *found, int *n_tried, struct lbfgs *self,
                                      const struct line_point *start, double step, struct clv_error *err)
{
    *found = *start;
    for (*n_tried = 0; *n_tried < LINE_TRIALS && !line_is_lost(start, step); step /= 2) {
        double promise = project_step(self, step), value;
        ++*n_tried;
        MUST(evaluate(&value, self->trial_gradient, self, self->trial, err));
        if (line_lies_low(value, start, promise)) {
            *found = (struct line_point){.step = step, .value = value};
            break;
        }
    }
    return CLV_OK;
}

/* Searches along -H slope; the trial is the point that was found. */
static enum clv_status search(struct line_point *found, int *n_tried, struct lbfgs *self, struct clv_error *err)
{
    set_direction(self);
    const struct line_point start = {0, self->value, inner_product(self->slope, self->direction, self->size)};
    double length = sqrt(inner_product(self->direction, self->direction, self->size));
    double step = self->n_kept ? 1 : 1 / length;
    *found = start;
    *n_tried = 0;
    if (!(start.slope < 0) || !isfinite(length) || !isfinite(start.value))
        return CLV_OK;
    if (self->function.l1 > 0)
        return search_orthant(found, n_tried, self, &start, step, err);
    const struct line line = {evaluate_along, self};
    return line_search(found, n_tried, &line, &start, step, err);
}

/* Searches with the memory. If that finds no step, forgets it (n_kept and next are 0) and searches without. */
static enum clv_status search_twice(struct line_point *found, int *n_evaluations, struct lbfgs *self,
                                    struct clv_error *err)
{
    MUST(search(found, n_evaluations, self, err));
    if (found->step == 0 && self->n_kept) {
        int n_before = *n_evaluations;
        self->n_kept = self->next = 0;
        MUST(search(found, n_evaluations, self, err));
        *n_evaluations += n_before;
    }
    return CLV_OK;
}

enum clv_status lbfgs_step(bool *moved, int *n_evaluations, struct lbfgs *self, struct clv_error *err)
{
    struct line_point found;
    size_t n_kept = self->n_kept, next = self->next;
    enum clv_status status = search_twice(&found, n_evaluations, self, err);
    *moved = !status && found.step > 0;
    if (!*moved) { /* also after a failure, as an interrupted training resumes from this state */
        self->n_kept = n_kept;
        self->next = next;
        return status;
    }
    remember(self);
    memcpy(self->x, self->trial, self->size * sizeof *self->x);
    memcpy(self->gradient, self->trial_gradient, self->size * sizeof *self->gradient);
    self->value = found.value;
    set_slope(self);
    return CLV_OK;
}
