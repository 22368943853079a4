/* Takes gradient steps with an L2 penalty and averaged iterates, for learners that maximise a data term: by the
 * published rule, or by AdaGrad (Duchi, Hazan & Singer 2011). Start at ascent_step. */
#include "learn/common/common.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/machine.h"

enum clv_status ascent_open(struct ascent *self, const struct clv_weight_layout *layout, struct ascent_rules rules,
                            struct clv_error *err)
{
    size_t size = clv_weight_layout_size(layout);
    *self = (struct ascent){
        .layout = *layout, .size = size, .rule = rules.step, .lambda = rules.lambda, .rate = rules.rate};
    self->table_variance = 1;
    self->w = arena_zalloc(&self->arena, size, sizeof *self->w);
    self->squares = arena_zalloc(&self->arena, size, sizeof *self->squares);
    self->average = rules.averaging ? arena_zalloc(&self->arena, size, sizeof *self->average) : NULL;
    return self->arena.failed ? fail_memory(err) : CLV_OK;
}

void ascent_release(struct ascent *self)
{
    arena_release(&self->arena);
    self->w = self->squares = self->average = NULL;
}

void ascent_start(struct ascent *self, const double *w, double n_steps)
{
    memcpy(self->w, w, self->size * sizeof *w);
    if (self->average)
        memcpy(self->average, w, self->size * sizeof *w);
    self->n_steps = n_steps;
}

/* Takes a step by AdaGrad, without branches, so that square roots and divisions are vectorised. */
FOR_EACH_MACHINE static void step_adagrad(double *restrict w, double *restrict squares, const double *restrict gradient,
                                          double lambda, double rate, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        double d = gradient[k] - lambda * w[k], sum = squares[k] + d * d, root = sqrt(sum);
        squares[k] = sum;
        w[k] += rate * d / (root > 0 ? root : 1);
    }
}

void ascent_set_table_variance(struct ascent *self, double variance)
{
    self->table_variance = variance;
}

double ascent_penalty(const struct ascent *self, const double *w)
{
    size_t n_unary = clv_weight_layout_unary_size(&self->layout);
    double table_squares = squares_of(w + n_unary, self->size - n_unary);
    return self->lambda / 2 * (squares_of(w, n_unary) + table_squares / self->table_variance);
}

/* Takes a step of the weights begin .. end - 1, whose prior variance is `variance`. */
static void step_range(struct ascent *self, const double *gradient, double variance, size_t begin, size_t end)
{
    double lambda = self->lambda / variance;
    if (self->rule == STEP_ADAGRAD) {
        step_adagrad(self->w + begin, self->squares + begin, gradient + begin, lambda, self->rate * sqrt(variance),
                     end - begin);
        return;
    }
    for (size_t k = begin; k < end; k++)
        self->w[k] += (gradient[k] - lambda * self->w[k]) / (lambda * self->n_steps);
}

/* Projects the couplings and updates the average, in which iterate h has weight h. Its error bound lacks the factor log
 * h that the plain average's has (Lacoste-Julien, Schmidt, Bach 2012). */
static void finish_step(struct ascent *self)
{
    project_couplings(self->w, &self->layout);
    if (self->average)
        move_towards(self->average, self->w, 2 / (self->n_steps + 1), self->size);
}

void ascent_step(struct ascent *self, const double *gradient)
{
    size_t n_unary = clv_weight_layout_unary_size(&self->layout);
    self->n_steps++;
    step_range(self, gradient, 1, 0, n_unary);
    step_range(self, gradient, self->table_variance, n_unary, self->size);
    finish_step(self);
}

void ascent_move(struct ascent *self, const double *direction)
{
    self->n_steps++;
    for (size_t k = 0; k < self->size; k++)
        self->w[k] += self->rate * direction[k];
    finish_step(self);
}

void ascent_restart(struct ascent *self, double rate)
{
    self->rate = rate;
    self->n_steps = 0;
    memset(self->squares, 0, self->size * sizeof *self->squares);
    if (self->average)
        memcpy(self->average, self->w, self->size * sizeof *self->w);
}

const double *ascent_point(const struct ascent *self)
{
    return self->average ? self->average : self->w;
}
