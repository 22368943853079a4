/* The concave-convex procedure (Yuille & Rangarajan 2003; Algorithm 2 of Ping, Liu & Ihler 2014).
 *
 * J is convex but for the clamped terms, which are convex and are subtracted. At some point v their tangent plane lies
 * below them. With plane = the gradient of the mean clamped term at v,
 *
 *     P(w) = lambda'/2 |w|^2 + mean free term - <w, plane>
 *
 * is therefore convex, above J up to a constant, and equal to it at v. So a w that lowers P below P(v) lowers J as
 * well. The procedure alternates: find such a w, move v there, take the next plane.
 *
 * The published way lowers P by plain gradient steps. Ours takes steps on its dual (cccp_dual.h): the lower bounds of
 * the free terms that the dual is made of hold for every plane, so the next problem starts from them. */
#include "learn/hidden/cccp.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "learn/common/examples.h"
#include "learn/common/vectors.h"
#include "learn/hidden/cccp_dual.h"
#include "learn/hidden/hidden_descent.h"

/* The plane at v = self->best. */
static enum clv_status linearise(struct hidden_descent *self, struct clv_error *err)
{
    return hidden_gradient(self->plane, NULL, NULL, &self->hidden, HIDDEN_CLAMPED, self->all, self->hidden.examples.n,
                           self->best, err);
}

/* P at w; self->gradient is that of its free term. */
static enum clv_status surrogate_at(double *value, struct hidden_descent *self, const double *w, struct clv_error *err)
{
    size_t size = self->hidden.size, n = self->hidden.examples.n;
    double free;
    enum clv_status status =
        hidden_gradient(self->gradient, &free, NULL, &self->hidden, HIDDEN_FREE, self->all, n, w, err);
    *value = self->lambda / 2 * squares_of(w, size) - inner_product(w, self->plane, size) + free;
    return status;
}

static bool is_done(const struct hidden_descent *self)
{
    return self->n_done >= self->n_passes;
}

/* Plain steps down P, in self->n_inner passes at most. self->best becomes the lowest point met, which may be the one it
 * was. */
static enum clv_status lower_plainly(struct hidden_descent *self, struct clv_error *err)
{
    size_t size = self->hidden.size;
    double *w = self->ascent.w, lowest = INFINITY;
    memcpy(w, self->best, size * sizeof *w);
    for (size_t k = 0; k < self->n_inner && !is_done(self); k++, self->n_done++) {
        double value;
        enum clv_status status = surrogate_at(&value, self, w, err);
        if (status)
            return status;
        if (value < lowest) {
            lowest = value;
            memcpy(self->best, w, size * sizeof *w);
        }
        for (size_t j = 0; j < size; j++)
            self->gradient[j] -= self->plane[j];
        hidden_descent_step(self);
    }
    return CLV_OK;
}

static enum clv_status alternate_plainly(struct hidden_descent *self, struct clv_training_result *result,
                                         struct clv_error *err)
{
    enum clv_status status = CLV_OK;
    while (!status && !is_done(self)) {
        status = linearise(self, err);
        if (!status)
            status = lower_plainly(self, err);
        if (!status)
            status = hidden_descent_look(self, result, self->best, err);
    }
    return status;
}

/* n_inner - 1 passes of the dual, and one that evaluates P at the average of its iterates. Where that is below *lowest,
 * the value of P at self->best, *is_lower becomes true, and *lowest and self->best become the average's. */
static enum clv_status lower_by_dual(bool *is_lower, double *lowest, struct hidden_descent *self,
                                     struct hidden_dual *dual, struct clv_error *err)
{
    enum clv_status status = CLV_OK;
    double value = INFINITY;
    for (size_t k = 1; k < self->n_inner && !status && self->n_done + 1 < self->n_passes; k++, self->n_done++)
        status = hidden_dual_pass(dual, self->training->seed, self->n_done, err);
    if (!status)
        status = surrogate_at(&value, self, dual->average, err);
    self->n_done++;
    *is_lower = !status && value < *lowest;
    if (*is_lower) {
        *lowest = value;
        memcpy(self->best, dual->average, self->hidden.size * sizeof *self->best);
    }
    return status;
}

/* Where P did not get lower, the plane stays and the same dual problem goes on. */
static enum clv_status alternate_by_dual(struct hidden_descent *self, struct hidden_dual *dual,
                                         struct clv_training_result *result, struct clv_error *err)
{
    size_t size = self->hidden.size, next_look = self->curve_every;
    double lowest = INFINITY;
    enum clv_status status = hidden_dual_open(dual, &self->hidden, self->lambda, self->best, err);
    if (!status)
        status = linearise(self, err);
    if (!status)
        status = surrogate_at(&lowest, self, self->best, err);
    if (!status)
        hidden_dual_set_plane(dual, self->plane);
    while (!status && !is_done(self)) {
        bool is_lower;
        status = lower_by_dual(&is_lower, &lowest, self, dual, err);
        if (!status && is_lower) {
            double tangent = inner_product(self->best, self->plane, size);
            status = linearise(self, err);
            lowest += tangent - inner_product(self->best, self->plane, size);
            hidden_dual_set_plane(dual, self->plane);
        }
        if (!status && (self->n_done >= next_look || is_done(self))) {
            status = hidden_descent_look(self, result, self->best, err);
            next_look = self->n_done + self->curve_every;
        }
    }
    return status;
}

enum clv_status hidden_cccp(struct hidden_descent *self, struct clv_training_result *result, struct clv_error *err)
{
    struct hidden_dual dual = {0};
    memcpy(self->best, self->ascent.w, self->hidden.size * sizeof *self->best);
    enum clv_status status =
        self->is_published ? alternate_plainly(self, result, err) : alternate_by_dual(self, &dual, result, err);
    hidden_dual_release(&dual);
    return status;
}
