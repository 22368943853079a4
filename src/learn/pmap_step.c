#include "learn/pmap_step.h"

#include <math.h>

#include "base/array.h"
#include "base/error.h"
#include "learn/examples.h"

enum clv_status ascent_open(struct ascent *self, const struct clv_shape *shape, enum step_rule rule, double lambda,
                            double rate, int averaging, struct clv_error *err)
{
    size_t size = clv_shape_size(shape);
    *self = (struct ascent){.shape = *shape, .size = size, .rule = rule, .lambda = lambda, .rate = rate};
    self->w = array_zalloc(size, sizeof *self->w);
    self->squares = array_zalloc(size, sizeof *self->squares);
    self->average = averaging ? array_zalloc(size, sizeof *self->average) : NULL;
    return self->w && self->squares && (self->average || !averaging) ? CLV_OK : fail_memory(err);
}

void ascent_release(struct ascent *self)
{
    array_free(self->w);
    array_free(self->squares);
    array_free(self->average);
    self->w = self->squares = self->average = NULL;
}

/* Without branches, so that square roots and divisions go by vectors. */
static void step_adagrad(struct ascent *self, const double *gradient)
{
    double *restrict w = self->w, *restrict squares = self->squares, lambda = self->lambda, rate = self->rate;
    for (size_t k = 0; k < self->size; k++) {
        double d = gradient[k] - lambda * w[k], sum = squares[k] + d * d, root = sqrt(sum);
        squares[k] = sum;
        w[k] += rate * d / (root > 0 ? root : 1);
    }
}

void ascent_step(struct ascent *self, const double *gradient)
{
    double h = ++self->n_steps;
    if (self->rule == STEP_ADAGRAD) {
        step_adagrad(self, gradient);
    } else {
        for (size_t k = 0; k < self->size; k++)
            self->w[k] += (gradient[k] - self->lambda * self->w[k]) / (self->lambda * h);
    }
    project_couplings(self->w, &self->shape);
    /* The error of the average whose h-th term weighs h has no logarithm (Lacoste-Julien, Schmidt, Bach 2012). */
    for (size_t k = 0; self->average && k < self->size; k++)
        self->average[k] += 2 / (h + 1) * (self->w[k] - self->average[k]);
}

const double *ascent_point(const struct ascent *self)
{
    return self->average ? self->average : self->w;
}
