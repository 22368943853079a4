#include <math.h>
#include <string.h>

#include "base/base.h"
#include "learn/crf/crf.h"
#include "support/support.h"

enum { MOST = 40 };

/* f(x) = 1/2 <x, A x> - <b, x>, A = diag(scale) + coupling between neighbours; or another function. */
struct problem {
    size_t n;
    double scale[MOST], coupling, b[MOST];
    size_t n_evaluations, fails_at; /* 0: never */
};

static enum clv_status quadratic(double *value, double *gradient, void *context, const double *x, struct clv_error *err)
{
    struct problem *p = context;
    if (++p->n_evaluations == p->fails_at)
        return fail(err, CLV_ERR_INTERRUPTED, "interrupted");
    *value = 0;
    for (size_t k = 0; k < p->n; k++) {
        double row = p->scale[k] * x[k];
        row += p->coupling * ((k > 0 ? x[k - 1] : 0) + (k + 1 < p->n ? x[k + 1] : 0));
        gradient[k] = row - p->b[k];
        *value += x[k] * (row / 2 - p->b[k]);
    }
    return CLV_OK;
}

static enum clv_status rosenbrock(double *value, double *gradient, void *context, const double *x,
                                  struct clv_error *err)
{
    (void)err;
    struct problem *p = context;
    p->n_evaluations++;
    *value = 0;
    memset(gradient, 0, p->n * sizeof *gradient);
    for (size_t k = 0; k + 1 < p->n; k += 2) {
        double a = 1 - x[k], b = x[k + 1] - x[k] * x[k];
        *value += a * a + 100 * b * b;
        gradient[k] = -2 * a - 400 * x[k] * b;
        gradient[k + 1] = 200 * b;
    }
    return CLV_OK;
}

/* x - log x of each, which is not a number where x <= 0. */
static enum clv_status barrier(double *value, double *gradient, void *context, const double *x, struct clv_error *err)
{
    (void)err;
    struct problem *p = context;
    *value = 0;
    for (size_t k = 0; k < p->n; k++) {
        *value += x[k] > 0 ? p->scale[k] * (x[k] - log(x[k])) : (double)NAN;
        gradient[k] = p->scale[k] * (1 - 1 / x[k]);
    }
    return CLV_OK;
}

static void make(struct problem *p, size_t n, double condition, double coupling, uint64_t seed)
{
    *p = (struct problem){.n = n, .coupling = coupling};
    for (size_t k = 0; k < n; k++) {
        p->scale[k] = 2.5 * coupling + pow(condition, (double)k / (double)(n > 1 ? n - 1 : 1));
        p->b[k] = 3 * rng_normal(seed, RNG_TEST, k);
    }
}

static void open_at(struct lbfgs *self, const struct lbfgs_function *function, const struct problem *p, double start)
{
    must(lbfgs_open(self, function, p->n, 6, err));
    for (size_t k = 0; k < p->n; k++)
        self->x[k] = start;
    must(lbfgs_start(self, err));
}

/* Steps until none leads lower, or `most`. Values go down, and evaluations are reported right. */
static size_t run_steps(struct lbfgs *self, size_t most)
{
    bool moved = true;
    int n_tried;
    size_t n_steps = 0;
    for (; n_steps < most; n_steps++) {
        double before = self->value;
        size_t n_kept = self->n_kept;
        must(lbfgs_step(&moved, &n_tried, self, err));
        if (!moved) {
            ck_assert(!(self->value > before) && self->n_kept == n_kept);
            break;
        }
        ck_assert(self->value < before && n_tried >= 1);
    }
    return n_steps;
}

TEST(quadratics_end_at_their_minimum)
{
    for (uint64_t seed = 0; seed < 12; seed++) {
        struct problem p;
        OWNED(lbfgs_release) struct lbfgs self = {0};
        double gradient[MOST], value;
        make(&p, 1 + 3 * seed, seed % 3 ? 1e4 : 1, seed % 2 ? 0.3 : 0, seed);
        const struct lbfgs_function function = {quadratic, &p, 0};
        open_at(&self, &function, &p, seed % 2 ? 0 : 5);
        run_steps(&self, 1000);
        must(quadratic(&value, gradient, &p, self.x, err));
        for (size_t k = 0; k < p.n; k++) {
            ck_assert_double_eq_tol(gradient[k], 0, 1e-4);
            if (p.coupling == 0)
                ck_assert_double_eq_tol(self.x[k], p.b[k] / p.scale[k], 1e-6);
        }
        ck_assert_double_eq(value, self.value);
    }
}

TEST(rosenbrock_s_valley_is_walked_in_few_evaluations)
{
    for (size_t n = 2; n <= MOST; n += 38) {
        struct problem p = {.n = n};
        OWNED(lbfgs_release) struct lbfgs self = {0};
        const struct lbfgs_function function = {rosenbrock, &p, 0};
        open_at(&self, &function, &p, -1.2);
        size_t n_steps = 0;
        while (self.value > 1e-12 && n_steps < 100)
            n_steps += run_steps(&self, 1);
        ck_assert_uint_le(p.n_evaluations, 60);
        for (size_t k = 0; k < n; k++)
            ck_assert_double_eq_tol(self.x[k], 1, 1e-5);
    }
}

/* Of min 1/2 s x^2 - b x + l1 |x|, with the sign of b and |x| = max(0, |b| - l1) / s. */
TEST(absolute_values_end_at_the_known_solution)
{
    for (uint64_t seed = 0; seed < 12; seed++) {
        struct problem p;
        OWNED(lbfgs_release) struct lbfgs self = {0};
        size_t n_zero = 0;
        make(&p, MOST, seed % 2 ? 1 : 100, 0, seed);
        const struct lbfgs_function function = {quadratic, &p, 0.5 + (double)seed / 4};
        open_at(&self, &function, &p, seed % 3 ? 0 : -2);
        run_steps(&self, 1000);
        for (size_t k = 0; k < p.n; k++) {
            double size = fmax(0, fabs(p.b[k]) - function.l1) / p.scale[k];
            ck_assert_double_eq_tol(self.x[k], copysign(size, p.b[k]), 1e-6);
            ck_assert(size > 0 || self.x[k] == 0); /* not nearly 0 */
            n_zero += self.x[k] == 0;
        }
        ck_assert(n_zero > 0 && n_zero < MOST);
    }
}

/* Andrew & Gao, section 3.2: the direction is projected, so that no coordinate goes up the slope. */
TEST(with_absolute_values_every_coordinate_goes_downhill)
{
    for (uint64_t seed = 0; seed < 12; seed++) {
        struct problem p;
        OWNED(lbfgs_release) struct lbfgs self = {0};
        bool moved = true;
        int n_tried;
        make(&p, MOST, 30, 0.4, 50 + seed);
        const struct lbfgs_function function = {quadratic, &p, 2};
        open_at(&self, &function, &p, 0);
        for (int step = 0; step < 30 && moved; step++) {
            double from[MOST], slope[MOST];
            memcpy(from, self.x, sizeof from);
            memcpy(slope, self.slope, sizeof slope);
            must(lbfgs_step(&moved, &n_tried, &self, err));
            for (size_t k = 0; k < p.n; k++)
                ck_assert_double_le((self.x[k] - from[k]) * slope[k], 0);
        }
    }
}

TEST(absolute_values_of_variables_that_work_together_fulfil_their_conditions)
{
    for (uint64_t seed = 0; seed < 12; seed++) {
        struct problem p;
        OWNED(lbfgs_release) struct lbfgs self = {0};
        make(&p, MOST, 30, 0.4, 50 + seed);
        const struct lbfgs_function function = {quadratic, &p, 2};
        open_at(&self, &function, &p, 0);
        run_steps(&self, 2000);
        ck_assert_double_le(lbfgs_slope(&self), 1e-4);
        for (size_t k = 0; k < p.n; k++) {
            if (self.x[k] == 0)
                ck_assert_double_le(fabs(self.gradient[k]), 2 + 1e-4);
            else
                ck_assert_double_eq_tol(self.gradient[k], self.x[k] > 0 ? -2 : 2, 1e-4);
        }
    }
}

TEST(steps_into_what_is_no_number_are_shortened)
{
    struct problem p;
    OWNED(lbfgs_release) struct lbfgs self = {0};
    make(&p, 8, 50, 0, 1);
    const struct lbfgs_function function = {barrier, &p, 0};
    open_at(&self, &function, &p, 0.01);
    run_steps(&self, 1000);
    for (size_t k = 0; k < p.n; k++)
        ck_assert_double_eq_tol(self.x[k], 1, 1e-6);
    lbfgs_release(&self);
    open_at(&self, &function, &p, -1); /* nowhere to go from */
    ck_assert_uint_eq(run_steps(&self, 10), 0);
}

static void copy_state(struct lbfgs *to, const struct lbfgs *from)
{
    size_t bytes = from->size * sizeof(double);
    memcpy(to->x, from->x, bytes);
    memcpy(to->gradient, from->gradient, bytes);
    memcpy(to->moves, from->moves, from->n_kept * bytes);
    memcpy(to->changes, from->changes, from->n_kept * bytes);
    to->value = from->value;
    to->n_kept = from->n_kept;
    to->next = from->next;
}

TEST(a_state_that_is_put_back_goes_on_with_the_same_bytes)
{
    for (size_t n_steps = 0; n_steps < 15; n_steps++)
        for (int l1 = 0; l1 < 2; l1++) {
            struct problem p;
            OWNED(lbfgs_release) struct lbfgs whole = {0}, rest = {0};
            make(&p, MOST, 1000, 0.3, 3);
            const struct lbfgs_function function = {quadratic, &p, l1};
            open_at(&whole, &function, &p, 0);
            must(lbfgs_open(&rest, &function, p.n, 6, err));
            run_steps(&whole, n_steps);
            copy_state(&rest, &whole);
            ck_assert(lbfgs_resume(&rest));
            ck_assert_double_eq(lbfgs_slope(&rest), lbfgs_slope(&whole));
            ck_assert_uint_eq(run_steps(&whole, 8), run_steps(&rest, 8));
            ck_assert(!memcmp(rest.x, whole.x, p.n * sizeof *rest.x));
            ck_assert(!memcmp(&rest.value, &whole.value, sizeof rest.value));
        }
}

TEST(states_that_no_steps_lead_to_are_refused)
{
    struct problem p;
    OWNED(lbfgs_release) struct lbfgs self = {0};
    make(&p, MOST, 1000, 0.3, 3);
    const struct lbfgs_function function = {quadratic, &p, 0};
    open_at(&self, &function, &p, 0);
    run_steps(&self, 4);
    ck_assert(lbfgs_resume(&self));
    self.next = 3;
    ck_assert(!lbfgs_resume(&self));
    self.next = 6;
    self.n_kept = 6;
    ck_assert(!lbfgs_resume(&self));
    self.next = self.n_kept = 4;
    self.changes[2 * p.n] = -1e9 * self.moves[2 * p.n]; /* downhill the gradient rises */
    ck_assert(!lbfgs_resume(&self));
    self.changes[2 * p.n] = NAN;
    ck_assert(!lbfgs_resume(&self));
}

/* Whichever evaluation fails, the state is that before the step, from which the same step follows. */
TEST(an_evaluation_that_fails_leaves_the_state_alone)
{
    for (int l1 = 0; l1 < 2; l1++)
        for (size_t fails_at = 2; fails_at < 40; fails_at++) {
            struct problem p;
            OWNED(lbfgs_release) struct lbfgs whole = {0}, self = {0};
            make(&p, MOST, 1e5, 0.3, 4);
            const struct lbfgs_function function = {quadratic, &p, l1};
            open_at(&whole, &function, &p, 0);
            run_steps(&whole, 12);
            p.n_evaluations = 0;
            open_at(&self, &function, &p, 0);
            p.fails_at = fails_at;
            bool moved;
            int n_tried;
            size_t n_steps = 0;
            struct clv_error error;
            enum clv_status status = CLV_OK;
            for (; n_steps < 12 && !status; n_steps += !status)
                status = lbfgs_step(&moved, &n_tried, &self, &error);
            p.fails_at = 0;
            run_steps(&self, 12 - n_steps);
            ck_assert(!memcmp(self.x, whole.x, p.n * sizeof *self.x));
        }
}

/* The first two functions of Moré and Thuente (1994) that searches are tested by: their minima are sqrt(2) and 1.596.
 * */
static enum clv_status more_thuente(struct line_point *point, void *context, struct clv_error *err)
{
    (void)err;
    double a = point->step;
    if (*(const int *)context) {
        double s = a + 0.004;
        point->value = s * s * s * s * (s - 2);
        point->slope = s * s * s * (5 * s - 8);
    } else {
        point->value = -a / (a * a + 2);
        point->slope = (a * a - 2) / ((a * a + 2) * (a * a + 2));
    }
    return CLV_OK;
}

TEST(searches_end_where_both_conditions_hold)
{
    for (int which = 0; which < 2; which++)
        for (double step = 1e-3; step < 1e4; step *= 10) {
            const struct line line = {more_thuente, &which};
            struct line_point start = {0}, found;
            int n_tried;
            must(more_thuente(&start, &which, err));
            must(line_search(&found, &n_tried, &line, &start, step, err));
            ck_assert_msg(found.value <= start.value + 1e-4 * found.step * start.slope &&
                              fabs(found.slope) <= -0.9 * start.slope && n_tried <= 20,
                          "function %d from %g: step %g, slope %g of %g, %d trials", which, step, found.step,
                          found.slope, start.slope, n_tried);
        }
}
