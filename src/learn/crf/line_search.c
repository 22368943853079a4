/* Line search under the strong Wolfe conditions (Nocedal & Wright, Numerical optimization, second edition 2006,
 * Algorithms 3.5 and 3.6). Start at line_search, at the end. */
#include "learn/crf/crf.h"

#include <float.h>
#include <math.h>

#include "base/base.h"

#define LINE_DECREASE 1e-4 /* of the promise that has to come true */
#define CURVATURE     0.9  /* of the first slope that may be left */
#define MARGIN        0.1  /* a trial stays so much of an interval away from its ends */
#define GROWTH        1.1  /* a step that is too short becomes so many times as long at least */
#define STRETCH       4    /* .. and grows by so many times what it grew by before at most */

struct search {
    const struct line *line;
    struct line_point start;
    double last; /* step of the last evaluation */
    int n_tried;
};

bool line_is_lost(const struct line_point *start, double step)
{
    return !(fabs(step * start->slope) > DBL_EPSILON / 16 * fabs(start->value));
}

static enum clv_status evaluate(struct line_point *point, struct search *self, double step, struct clv_error *err)
{
    *point = (struct line_point){.step = step};
    self->last = step;
    self->n_tried++;
    return self->line->evaluate(point, self->line->context, err);
}

bool line_lies_low(double value, const struct line_point *start, double promise)
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

/* The least of the cubic through two values and slopes (Nocedal & Wright, equation 3.59); NaN: it has none. */
static double cubic_minimum(const struct line_point *a, const struct line_point *b)
{
    double d1 = a->slope + b->slope - 3 * (a->value - b->value) / (a->step - b->step);
    double d2 = copysign(sqrt(d1 * d1 - a->slope * b->slope), b->step - a->step);
    return b->step - (b->step - a->step) * (b->slope + d2 - d1) / (b->slope - a->slope + 2 * d2);
}

/* Algorithm 3.6: between `low`, the lowest so far, and `high` there are steps that fulfil both conditions. */
static enum clv_status zoom(struct line_point *low, struct search *self, struct line_point high, struct clv_error *err)
{
    while (self->n_tried < LINE_TRIALS && !line_is_lost(&self->start, high.step - low->step)) {
        double begin = fmin(low->step, high.step), width = fabs(high.step - low->step);
        double step = cubic_minimum(low, &high);
        step =
            isfinite(step) ? fmin(fmax(step, begin + MARGIN * width), begin + (1 - MARGIN) * width) : begin + width / 2;
        struct line_point point;
        MUST(evaluate(&point, self, step, err));
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

/* Algorithm 3.5: steps grow until they are far enough, or too far. *low is the best in the end. */
static enum clv_status grow(struct line_point *low, struct search *self, double step, struct clv_error *err)
{
    while (self->n_tried < LINE_TRIALS) {
        struct line_point point;
        MUST(evaluate(&point, self, step, err));
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
        MUST(evaluate(found, &self, found->step, err));
    *n_tried = self.n_tried;
    return CLV_OK;
}
