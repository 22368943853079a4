#include "learn/pmap_step.h"

#include <math.h>

#include "base/array.h"
#include "base/error.h"
#include "learn/examples.h"
#include "learn/frank_wolfe.h"

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

#if defined(__SANITIZE_ADDRESS__) || defined(__clang__) || !defined(__x86_64__)
#define FOR_EACH_MACHINE
#else
#define FOR_EACH_MACHINE __attribute__((target_clones("avx2", "default")))
#endif

/* Without branches, so that square roots and divisions go by vectors. */
FOR_EACH_MACHINE static void step_adagrad(double *restrict w, double *restrict squares, const double *restrict gradient,
                                          double lambda, double rate, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        double d = gradient[k] - lambda * w[k], sum = squares[k] + d * d, root = sqrt(sum);
        squares[k] = sum;
        w[k] += rate * d / (root > 0 ? root : 1);
    }
}

void ascent_step(struct ascent *self, const double *gradient)
{
    double h = ++self->n_steps;
    if (self->rule == STEP_ADAGRAD) {
        step_adagrad(self->w, self->squares, gradient, self->lambda, self->rate, self->size);
    } else {
        for (size_t k = 0; k < self->size; k++)
            self->w[k] += (gradient[k] - self->lambda * self->w[k]) / (self->lambda * h);
    }
    project_couplings(self->w, &self->shape);
    /* The error of the average whose h-th term weighs h has no logarithm (Lacoste-Julien, Schmidt, Bach 2012). */
    if (self->average)
        move_towards(self->average, self->w, 2 / (h + 1), self->size);
}

const double *ascent_point(const struct ascent *self)
{
    return self->average ? self->average : self->w;
}
