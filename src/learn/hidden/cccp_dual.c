/* The dual of the convex problem P of the concave-convex procedure (cccp.c). Start at hidden_dual_steps. The free term
 * F_i is convex, so that its tangents and their mixtures lie below it: F_i(w) >= <a_i, w> + b_i for every w. With such
 * a bound for each example, P is at least the minimum of a parabola,
 *
 *     D = min_w lambda/2 |w|^2 + <mean_i a_i - plane, w> + mean_i b_i = -lambda/2 |Pi(v)|^2 + mean_i b_i,
 *     v = (plane - mean_i a_i) / lambda,   at w = Pi(v), Pi clipping couplings at 0 (frank_wolfe.c).
 *
 * A step takes the tangent (g, c) of F_i at w and moves (a_i, b_i) towards it by the fraction that raises D most. This
 * is Frank-Wolfe on the dual, in which b is minus the conjugate of F_i at a (Lacoste-Julien et al. 2013, there for
 * maxima of linear functions). Approximate inference keeps the bounds valid: a labelling that is not optimal gives a
 * lower tangent, and no step is taken that would lower D. The bounds do not depend on the plane, so the next problem
 * starts from them.
 *
 * The tangents of HIDDEN_PARTS examples are computed in parallel at one w. Then their steps are taken one by one. */
#include "learn/hidden/hidden.h"

#include <string.h>

#include "base/base.h"
#include "learn/common/common.h"

static double *slope_of(const struct hidden_dual *self, int32_t i)
{
    return self->slope + (size_t)i * self->point.size;
}

/* The gradient of the k-th example of the last hidden_gradient, which took at most HIDDEN_PARTS examples. */
static const double *last_gradient(const struct hidden_dual *self, size_t k)
{
    return self->hidden->parts + k * self->point.size;
}

static size_t batch_size_at(const struct hidden_dual *self, size_t k)
{
    size_t left = self->hidden->examples.n - k;
    return left < HIDDEN_PARTS ? left : HIDDEN_PARTS;
}

/* The tangent of an example's clamped term, raised by the loss of its true labels, is a bound of its free term. */
enum clv_status hidden_dual_lay(struct hidden_dual *self, const double *w, struct clv_error *err)
{
    struct hidden *hidden = self->hidden;
    size_t n = hidden->examples.n, size = self->point.size;
    for (size_t k = 0; k < n; k += HIDDEN_PARTS) {
        size_t taken = batch_size_at(self, k);
        MUST(hidden_gradient(self->change, NULL, NULL, hidden,
                             &(struct hidden_pass){HIDDEN_CLAMPED, &self->order[k], taken, w}, err));
        for (size_t j = 0; j < taken; j++) {
            int32_t i = self->order[k + j];
            memcpy(slope_of(self, i), last_gradient(self, j), size * sizeof(double));
            self->height[i] = hidden->items[i].clamped - inner_product(last_gradient(self, j), w, size) +
                              hidden->settings.margin * hidden->unit * hidden->examples.truth_loss[i];
        }
    }
    return CLV_OK;
}

enum clv_status hidden_dual_open(struct hidden_dual *self, struct hidden *hidden, double lambda, struct clv_error *err)
{
    size_t n = hidden->examples.n, size = hidden->size;
    const struct clv_weight_layout *layout = &hidden->examples.layout;
    *self = (struct hidden_dual){.hidden = hidden, .point = {.size = size, .free_size = size, .lambda = lambda}};
    if (layout->pairwise == CLV_PAIRWISE_POTTS)
        self->point.free_size = clv_weight_layout_unary_size(layout);
    double **vectors[] = {&self->point.v, &self->point.w, &self->change, &self->average};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        *vectors[k] = arena_alloc(&self->arena, size, sizeof(double));
    self->slope = arena_alloc(&self->arena, n, size * sizeof(double));
    self->height = arena_alloc(&self->arena, n, sizeof(double));
    self->plane = arena_zalloc(&self->arena, size, sizeof(double));
    self->order = arena_alloc(&self->arena, n, sizeof *self->order);
    if (self->arena.failed)
        return fail_memory(err);
    for (size_t i = 0; i < n; i++)
        self->order[i] = (int32_t)i;
    return CLV_OK;
}

void hidden_dual_release(struct hidden_dual *self)
{
    arena_release(&self->arena);
}

void hidden_dual_set_plane(struct hidden_dual *self, const double *plane)
{
    struct dual_point *point = &self->point;
    size_t size = point->size;
    int32_t n = (int32_t)self->hidden->examples.n;
    memcpy(self->plane, plane, size * sizeof *plane);
    memcpy(point->v, plane, size * sizeof *plane);
    point->loss = 0;
    for (int32_t i = 0; i < n; i++) {
        const double *slope = slope_of(self, i);
        for (size_t k = 0; k < size; k++)
            point->v[k] -= slope[k] / n;
        point->loss += self->height[i] / n;
    }
    scale_by(point->v, 1 / point->lambda, size);
    dual_set_variance(point, NULL);
    memcpy(self->average, point->w, size * sizeof *self->average);
    self->n_steps = 0;
}

void hidden_dual_resume(struct hidden_dual *self, const double *plane)
{
    memcpy(self->plane, plane, self->point.size * sizeof *plane);
    dual_set_variance(&self->point, NULL);
}

/* Moves example i's bound towards a tangent of this slope and height. */
static void step(struct hidden_dual *self, int32_t i, const double *slope, double height)
{
    struct dual_point *point = &self->point;
    double n = (double)self->hidden->examples.n, *own = slope_of(self, i), scale = 1 / (point->lambda * n);
    double loss_change = (height - self->height[i]) / n;
    for (size_t k = 0; k < point->size; k++)
        self->change[k] = scale * (own[k] - slope[k]);
    double length = dual_line_search(point, self->change, loss_change);
    if (length > 0) {
        dual_step(point, self->change, loss_change, length);
        move_towards(own, slope, length, point->size);
        self->height[i] += length * (height - self->height[i]);
    }
    move_towards(self->average, point->w, 2 / (++self->n_steps + 1), point->size);
}

enum clv_status hidden_dual_steps(size_t *n_taken, struct hidden_dual *self, uint64_t seed, size_t pass,
                                  struct clv_error *err)
{
    struct hidden *hidden = self->hidden;
    size_t n = hidden->examples.n, size = self->point.size, taken = batch_size_at(self, *n_taken);
    const int32_t *these = &self->order[*n_taken];
    double height[HIDDEN_PARTS];
    rng_permutation(self->order, n, seed, RNG_STREAM(RNG_ORDER, (uint32_t)pass));
    examples_expect(&hidden->examples, these, n - *n_taken);
    MUST(hidden_gradient(self->change, NULL, NULL, hidden,
                         &(struct hidden_pass){HIDDEN_FREE, these, taken, self->point.w}, err));
    for (size_t j = 0; j < taken; j++)
        height[j] = hidden->items[these[j]].free - inner_product(last_gradient(self, j), self->point.w, size);
    for (size_t j = 0; j < taken; j++)
        step(self, these[j], last_gradient(self, j), height[j]);
    *n_taken += taken;
    return CLV_OK;
}
