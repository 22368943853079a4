/* The concave-convex procedure (Yuille & Rangarajan 2003; Algorithm 2 of Ping, Liu & Ihler 2014).
 *
 * J is convex except for the clamped terms, which are convex and subtracted. Their tangent plane at a point v lies
 * below them. With plane = the gradient of the mean clamped term at v,
 *
 *     P(w) = lambda'/2 |w|^2 + mean free term - <w, plane>
 *
 * is therefore convex, above J up to a constant, and equal to it at v. So a w that lowers P below P(v) lowers J as
 * well. The procedure alternates: it finds such a w, moves v there and computes the next plane.
 *
 * As published, plain gradient steps lower P. By default, steps on its dual do (cccp_dual.c): the dual's lower bounds
 * of the free terms hold for every plane, so the next problem starts from them. Start at hidden_cccp, at the end. */
#include "learn/hidden/hidden.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "learn/common/common.h"

/* Computes the plane at v = self->best. */
static enum clv_status linearise(struct hidden_descent *self, struct clv_error *err)
{
    return hidden_gradient(self->plane, NULL, NULL, &self->hidden,
                           &(struct hidden_pass){HIDDEN_CLAMPED, self->all, self->hidden.examples.n, self->best}, err);
}

/* Computes P at w, and the gradient of its free term, self->gradient. */
static enum clv_status surrogate_at(double *value, struct hidden_descent *self, const double *w, struct clv_error *err)
{
    size_t size = self->hidden.size, n = self->hidden.examples.n;
    double free;
    MUST(hidden_gradient(self->gradient, &free, NULL, &self->hidden,
                         &(struct hidden_pass){HIDDEN_FREE, self->all, n, w}, err));
    *value = self->lambda / 2 * squares_of(w, size) - inner_product(w, self->plane, size) + free;
    return CLV_OK;
}

static bool is_done(const struct hidden_descent *self)
{
    return self->course.pass >= self->course.n_passes;
}

/* Takes a plain step down P and keeps the lowest point so far in self->best. */
static enum clv_status take_plain_step(struct hidden_descent *self, struct clv_error *err)
{
    double value, *w = self->ascent.w;
    MUST(surrogate_at(&value, self, w, err));
    if (value < self->position.lowest) {
        self->position.lowest = value;
        memcpy(self->best, w, self->hidden.size * sizeof *w);
    }
    for (size_t k = 0; k < self->hidden.size; k++)
        self->gradient[k] -= self->plane[k];
    hidden_descent_step(self);
    self->position.n_inner++;
    self->course.pass++;
    return CLV_OK;
}

/* Executes the next part of the published procedure: the plane, one of n_inner plain steps, or a point of the curve. */
static enum clv_status run_plain_stage(struct hidden_descent *self, struct clv_error *err)
{
    struct hidden_position *position = &self->position;
    if (position->stage == STAGE_LINEARISE) {
        memcpy(self->ascent.w, self->best, self->hidden.size * sizeof *self->best);
        position->lowest = INFINITY;
        position->n_inner = 0;
        MUST(linearise(self, err));
        position->stage = STAGE_LOWER;
        return CLV_OK;
    }
    if (position->stage == STAGE_LOWER) {
        if (position->n_inner < self->n_inner && !is_done(self))
            return take_plain_step(self, err);
        position->stage = STAGE_POINT;
        return CLV_OK;
    }
    if (position->stage == STAGE_POINT)
        MUST(hidden_descent_add_point(self, self->best, err));
    position->stage = STAGE_LINEARISE;
    return CLV_OK;
}

static enum clv_status start_dual(struct hidden_descent *self, struct clv_error *err)
{
    MUST(hidden_dual_lay(self->dual, self->best, err));
    MUST(linearise(self, err));
    MUST(surrogate_at(&self->position.lowest, self, self->best, err));
    hidden_dual_set_plane(self->dual, self->plane);
    self->position.next_point = self->course.passes_per_point;
    self->position.stage = STAGE_LOWER;
    return CLV_OK;
}

/* Takes some of the dual's steps, in n_inner - 1 passes. */
static enum clv_status lower(struct hidden_descent *self, struct clv_error *err)
{
    struct course *course = &self->course;
    struct hidden_position *position = &self->position;
    if (position->n_inner + 1 >= self->n_inner || course->pass + 1 >= course->n_passes) {
        position->stage = STAGE_EVALUATE;
        return CLV_OK;
    }
    MUST(hidden_dual_steps(&course->n_taken, self->dual, self->training->seed, course->pass, err));
    if (course->n_taken == self->hidden.examples.n) {
        course->n_taken = 0;
        position->n_inner++;
        course->pass++;
    }
    return CLV_OK;
}

/* Evaluates P at the average of the dual's iterates, which takes a pass. If P is lower there than at self->best, the
 * average replaces self->best and a new plane follows; otherwise the same dual problem continues. */
static enum clv_status evaluate(struct hidden_descent *self, struct clv_error *err)
{
    double value;
    MUST(surrogate_at(&value, self, self->dual->average, err));
    self->course.pass++;
    self->position.n_inner = 0;
    self->position.stage = STAGE_POINT;
    if (value < self->position.lowest) {
        self->position.lowest = value;
        memcpy(self->best, self->dual->average, self->hidden.size * sizeof *self->best);
        self->position.stage = STAGE_LINEARISE;
    }
    return CLV_OK;
}

static enum clv_status move_plane(struct hidden_descent *self, struct clv_error *err)
{
    size_t size = self->hidden.size;
    double tangent = inner_product(self->best, self->plane, size);
    MUST(linearise(self, err));
    self->position.lowest += tangent - inner_product(self->best, self->plane, size);
    hidden_dual_set_plane(self->dual, self->plane);
    self->position.stage = STAGE_POINT;
    return CLV_OK;
}

static enum clv_status add_point(struct hidden_descent *self, struct clv_error *err)
{
    if (self->course.pass >= self->position.next_point || is_done(self)) {
        MUST(hidden_descent_add_point(self, self->best, err));
        self->position.next_point = self->course.pass + self->course.passes_per_point;
    }
    self->position.stage = STAGE_LOWER;
    return CLV_OK;
}

static enum clv_status run_dual_stage(struct hidden_descent *self, struct clv_error *err)
{
    switch (self->position.stage) {
    case STAGE_START: return start_dual(self, err);
    case STAGE_LOWER: return lower(self, err);
    case STAGE_EVALUATE: return evaluate(self, err);
    case STAGE_LINEARISE: return move_plane(self, err);
    case STAGE_POINT: break;
    }
    return add_point(self, err);
}

/* Starts from the checkpoint, or at the beginning. */
static enum clv_status begin(struct hidden_descent *self, struct clv_error *err)
{
    OWNED(tensors_drop) struct clv_tensors *tensors = NULL;
    memcpy(self->best, self->ascent.w, self->hidden.size * sizeof *self->best);
    MUST(hidden_state_open(&tensors, self, err));
    if (tensors) {
        MUST(hidden_state_take(self, tensors, err));
        if (self->dual)
            hidden_dual_resume(self->dual, self->plane);
    }
    if (self->position.stage == STAGE_START && self->is_published)
        self->position.stage = STAGE_LINEARISE;
    return CLV_OK;
}

/* Runs stages until all passes are made and a round of stages is complete, or a stop is requested. */
static enum clv_status alternate(struct hidden_descent *self, struct clv_error *err)
{
    enum hidden_stage first = self->is_published ? STAGE_LINEARISE : STAGE_LOWER;
    MUST(begin(self, err));
    while (!(is_done(self) && self->position.stage == first) && !course_stops(&self->course)) {
        MUST(self->is_published ? run_plain_stage(self, err) : run_dual_stage(self, err));
        MUST(course_keep(&self->course, err));
    }
    return CLV_OK;
}

static enum clv_status run(struct hidden_descent *self, struct clv_error *err)
{
    MUST(course_take(&self->course, alternate(self, err)));
    return course_end(&self->course, self->best, err);
}

enum clv_status hidden_cccp(struct hidden_descent *self, struct clv_error *err)
{
    OWNED(hidden_dual_release) struct hidden_dual dual = {0};
    if (!self->is_published) {
        MUST(hidden_dual_open(&dual, &self->hidden, self->lambda, err));
        self->dual = &dual;
    }
    enum clv_status status = run(self, err);
    self->dual = NULL; /* the dual ends here, whatever the status */
    return status;
}
