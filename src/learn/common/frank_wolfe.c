/* The dual of the structured SVM with non-negative couplings: its value, steps and exact line search
 * (dual_line_search), for block-coordinate Frank-Wolfe (margin/bcfw.c).
 *
 * The primal problem, with psi_i(y) = Psi(x_i, y_i) - Psi(x_i, y), where the couplings c are the last weights:
 *
 *     min_w  lambda/2 |w|^2 + (1/n) sum_i H_i(w)   subject to c >= 0,     H_i(w) = max_y L_i(y) - <w, psi_i(y)>
 *
 * Write H_i as a maximum over distributions alpha_i of labellings, and give c >= 0 multipliers mu >= 0. With
 *
 *     v(alpha) = sum_i v_i,   v_i = 1/(lambda n) sum_y alpha_i(y) psi_i(y),
 *     l(alpha) = 1/n sum_i sum_y alpha_i(y) L_i(y)
 *
 * the Lagrangian is least at w = v + (0, mu)/lambda, where it is -lambda/2 |v + (0, mu)/lambda|^2 + l. The best mu sets
 * each negative coupling of v to zero and leaves the others: w = Pi(v), the projection onto c >= 0. So mu can be
 * eliminated,
 *
 *     D(alpha) = -lambda/2 |Pi(v(alpha))|^2 + l(alpha)
 *
 * over the product of simplices alone. |Pi(v)|^2 / 2 is differentiable with gradient Pi(v) (a squared distance to a
 * convex cone, the polar one), so D is concave and smooth, and dD / dalpha_i(y) = (1/n) (L_i(y) - <w, psi_i(y)>) at w =
 * Pi(v): the Frank-Wolfe corner of block i is the loss-augmented MAP at w, whose couplings are non-negative: a min-cut.
 * As <w, v> = |w|^2, the Frank-Wolfe gap sum_i g_i with g_i = (1/n) H_i(w) - l_i + lambda <w, v_i> >= 0 is the whole
 * duality gap, just as without the constraint (Lacoste-Julien et al. 2013, section 4).
 *
 * With a diagonal prior variance S the penalty is lambda/2 <w, S^-1 w>. With weights S^-1/2 w and features S^1/2 psi
 * this is the problem above, and S keeps signs; so w = S Pi(v), and every |Pi(v)|^2 above becomes <Pi(v), S Pi(v)> =
 * <w, S^-1 w>.
 *
 * Along v + t delta, D'(t) = dl - lambda <Pi(v + t delta), delta> decreases and is linear between the t at which a
 * coupling changes sign, at most one per coupling. Bisecting over these t finds the linear piece with the root. */
#include "learn/common/common.h"

#include "base/machine.h"

static double positive_part(double x)
{
    return x > 0 ? x : 0;
}

double dual_product(const struct dual_point *point, const double *a, const double *b)
{
    double sum = 0;
    for (size_t k = 0; k < point->size; k++)
        sum += point->variance ? a[k] * b[k] / point->variance[k] : a[k] * b[k];
    return sum;
}

double dual_value(const struct dual_point *point)
{
    return point->loss - point->lambda / 2 * dual_product(point, point->w, point->w);
}

static size_t n_spans_of(const struct dual_point *point)
{
    return point->spans ? point->n_spans : 1;
}

/* The unconstrained part of span s. */
static struct dual_span free_span(const struct dual_point *point, size_t s)
{
    struct dual_span span = point->spans ? point->spans[s] : (struct dual_span){0, point->free_size};
    span.begin = span.begin < point->free_size ? span.begin : point->free_size;
    span.end = span.end < point->free_size ? span.end : point->free_size;
    return span;
}

static double variance_of(const struct dual_point *point, size_t k)
{
    return point->variance ? point->variance[k] : 1;
}

/* The line v + t delta. Over the unconstrained weights, along = <v, S delta> and squares = <delta, S delta>. */
struct line {
    const struct dual_point *point;
    const double *delta;
    double loss_change, along, squares;
};

static double slope_at(const struct line *line, double t)
{
    const struct dual_point *p = line->point;
    double inner = line->along + t * line->squares;
    for (size_t k = p->free_size; k < p->size; k++)
        inner += variance_of(p, k) * positive_part(p->v[k] + t * line->delta[k]) * line->delta[k];
    return line->loss_change - p->lambda * inner;
}

double dual_line_search(const struct dual_point *point, const double *delta, double loss_change)
{
    struct line line = {point, delta, loss_change, 0, 0};
    for (size_t s = 0; s < n_spans_of(point); s++) {
        struct dual_span span = free_span(point, s);
        double inner, squares;
        size_t b = span.begin, n = span.end - span.begin;
        if (point->variance) /* S v is w */
            dot_and_scaled_square(&inner, &squares, point->w + b, delta + b, point->variance + b, n);
        else
            dot_and_square(&inner, &squares, point->v + b, delta + b, n);
        line.along += inner;
        line.squares += squares;
    }
    double low = 0, high = 1, slope_low = slope_at(&line, 0), slope_high = slope_at(&line, 1);
    if (!(slope_low > 0))
        return 0;
    if (slope_high >= 0)
        return 1;
    for (size_t k = point->free_size; k < point->size; k++) {
        double t = delta[k] != 0 ? -point->v[k] / delta[k] : 0;
        if (!(t > low && t < high))
            continue;
        double slope = slope_at(&line, t);
        if (slope > 0) {
            low = t;
            slope_low = slope;
        } else {
            high = t;
            slope_high = slope;
        }
    }
    return low + (high - low) * (slope_low / (slope_low - slope_high));
}

FOR_EACH_MACHINE static void add_to_both(double *restrict v, double *restrict w, const double *restrict delta,
                                         double step, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        double moved = v[k] + step * delta[k];
        v[k] = moved;
        w[k] = moved;
    }
}

FOR_EACH_MACHINE static void add_and_scale(double *restrict v, double *restrict w, const double *restrict delta,
                                           const double *restrict variance, double step, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        double moved = v[k] + step * delta[k];
        v[k] = moved;
        w[k] = moved * variance[k];
    }
}

void dual_step(struct dual_point *point, const double *delta, double loss_change, double step)
{
    for (size_t s = 0; s < n_spans_of(point); s++) {
        struct dual_span span = free_span(point, s);
        size_t b = span.begin, n = span.end - span.begin;
        if (point->variance)
            add_and_scale(point->v + b, point->w + b, delta + b, point->variance + b, step, n);
        else
            add_to_both(point->v + b, point->w + b, delta + b, step, n);
    }
    for (size_t k = point->free_size; k < point->size; k++) {
        point->v[k] += step * delta[k];
        point->w[k] = variance_of(point, k) * positive_part(point->v[k]);
    }
    point->loss += step * loss_change;
}

void dual_set_variance(struct dual_point *point, const double *variance)
{
    point->variance = variance;
    for (size_t k = 0; k < point->size; k++)
        point->w[k] = variance_of(point, k) * (k < point->free_size ? point->v[k] : positive_part(point->v[k]));
}
