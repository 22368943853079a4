/* Constraint generation (Tsochantaridis et al. 2004) with a linear program in w = p - m and the slacks:
 *
 *     min (1/n) sum_i xi_i    subject to    <p + m, 1> <= radius,  p, m >= 0  (no m for couplings),  xi_i >= L_i(y_i),
 *                                           xi_i + <p - m, psi_i(y)> >= L_i(y)   for the labellings y found so far
 *
 * Every round adds each example's most violated labelling at the program's optimum. With some of the rows its value is
 * a lower bound of the problem's, and any w in the ball gives an upper one. */
#include "learn/margin/constraint_generation.h"

#if WITH_LP
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "learn/common/common.h"

struct generation {
    struct arena arena; /* of the arrays below */
    struct examples *examples;
    const struct generation_rules *rules;
    struct lp *lp;
    size_t size, n_columns; /* columns: p[size], m[size], xi[n] */
    double *x;              /* [n_columns] the program's optimum, or a row's coefficients */
    int *column;            /* [n_columns] of a row */
    double *w, *best, *change, *hinge;
    double objective, bound;
};

static enum clv_status generation_open(struct generation *self, struct examples *examples,
                                       const struct generation_rules *rules, struct clv_error *err)
{
    size_t size = clv_shape_size(&examples->shape), n_columns = 2 * size + examples->n;
    *self = (struct generation){.examples = examples, .rules = rules, .size = size, .n_columns = n_columns};
    self->objective = INFINITY;
    self->bound = -INFINITY;
    self->x = arena_zalloc(&self->arena, n_columns, sizeof *self->x);
    self->column = arena_alloc(&self->arena, n_columns, sizeof *self->column);
    self->w = arena_zalloc(&self->arena, size, sizeof *self->w);
    self->best = arena_zalloc(&self->arena, size, sizeof *self->best);
    self->change = arena_alloc(&self->arena, size, sizeof *self->change);
    self->hinge = arena_alloc(&self->arena, examples->n, sizeof *self->hinge);
    if (self->arena.failed)
        return fail_memory(err);
    for (size_t i = 0; i < examples->n; i++)
        self->x[2 * size + i] = 1 / (double)examples->n;
    MUST(lp_new(&self->lp, n_columns, self->x, err));
    for (size_t k = 0; k < 2 * size; k++) {
        self->column[k] = (int)k;
        self->x[k] = -1;
    }
    MUST(lp_add_row(self->lp, 2 * size, self->column, self->x, -rules->radius, err));
    bool is_potts = examples->shape.pairwise == CLV_PAIRWISE_POTTS;
    for (size_t k = clv_shape_unary_size(&examples->shape); is_potts && k < size; k++)
        lp_set_bounds(self->lp, size + k, 0, 0);
    for (size_t i = 0; i < examples->n; i++)
        lp_set_bounds(self->lp, 2 * size + i, examples->truth_loss[i], DBL_MAX);
    return CLV_OK;
}

static void generation_release(struct generation *self)
{
    lp_free(self->lp);
    arena_release(&self->arena);
}

/* The row of example i and labelling y. */
static enum clv_status add_cut(struct generation *self, size_t i, const int32_t *y, struct clv_error *err)
{
    const struct clv_problem *problem = &self->examples->problems[i];
    const struct clv_shape *shape = &self->examples->shape;
    memset(self->change, 0, self->size * sizeof *self->change);
    clv_joint_feature_add(self->change, problem, shape, problem->label, 1);
    clv_joint_feature_add(self->change, problem, shape, y, -1);
    size_t n = 0;
    for (int side = 0; side < 2; side++)
        for (size_t k = 0; k < self->size; k++)
            if (self->change[k] != 0) {
                self->column[n] = (int)(k + (side ? self->size : 0));
                self->x[n++] = side ? -self->change[k] : self->change[k];
            }
    self->column[n] = (int)(2 * self->size + i);
    self->x[n++] = 1;
    return lp_add_row(self->lp, n, self->column, self->x, known_loss(problem, shape->n_labels, y), err);
}

static void offer(struct generation *self)
{
    double objective = mean_of(self->hinge, self->examples->n);
    if (objective >= self->objective)
        return;
    self->objective = objective;
    memcpy(self->best, self->w, self->size * sizeof *self->best);
}

/* Looks at all examples at w; adds the labellings that the program's slacks do not cover. */
static enum clv_status add_cuts(struct generation *self, size_t *n_added, const double *slack, struct clv_error *err)
{
    struct examples *examples = self->examples;
    struct decoder *decoder = &examples->decoders[0];
    *n_added = 0;
    for (size_t i = 0; i < examples->n; i++) {
        const struct clv_problem *problem = &examples->problems[i];
        double score;
        FAIL_IF(stop_requested(examples->training->progress), CLV_ERR_INTERRUPTED, "interrupted");
        MUST(decode_augmented(decoder, &score, problem, &examples->shape, self->w, err));
        self->hinge[i] = fmax(0, score - decoder_truth_score(decoder, problem)) + examples->truth_loss[i];
        if (self->hinge[i] <= slack[i] + 1e-9)
            continue;
        MUST(add_cut(self, i, decoder->y, err));
        ++*n_added;
    }
    return CLV_OK;
}

static enum clv_status report(struct generation *self, struct clv_training_result *result, size_t round,
                              struct clv_error *err)
{
    double train_loss;
    MUST(examples_loss(&train_loss, self->examples, self->best, NULL, err));
    double n = (double)self->examples->n, objective = n * self->objective, bound = n * self->bound;
    char note[96];
    snprintf(note, sizeof note, "objective %.4f, gap %.4f, training loss %.4f", objective, objective - bound,
             train_loss);
    result->at_zero = n * self->examples->most_loss;
    report_progress(self->examples->training->progress, "training", round, self->rules->rounds, note);
    return curve_add(result, (struct clv_curve_point){(double)round, objective, bound, train_loss}, err);
}

/* One round: the program's optimum, its cuts, the bounds. */
static enum clv_status run_round(struct generation *self, size_t *n_added, double *slack, struct clv_error *err)
{
    double value;
    MUST(lp_optimise(self->lp, self->x, &value, err));
    for (size_t k = 0; k < self->size; k++)
        self->w[k] = self->x[k] - self->x[self->size + k];
    memcpy(slack, self->x + 2 * self->size, self->examples->n * sizeof *slack);
    MUST(add_cuts(self, n_added, slack, err));
    offer(self);
    self->bound = fmin(fmax(self->bound, value), self->objective); /* the solver rounds */
    return CLV_OK;
}

/* The given weights, brought into the ball, are the best so far and give the first cuts. x is scratch. */
static enum clv_status start_at_init(struct generation *self, double *slack, struct clv_error *err)
{
    const double *init = self->examples->training->init;
    size_t n_added;
    if (!init)
        return CLV_OK;
    memcpy(self->w, init, self->size * sizeof *self->w);
    project_couplings(self->w, &self->examples->shape);
    l1_ball_project(self->w, self->size, self->rules->radius, self->x);
    memcpy(slack, self->examples->truth_loss, self->examples->n * sizeof *slack);
    MUST(add_cuts(self, &n_added, slack, err));
    offer(self);
    return CLV_OK;
}

/* Rounds until no labelling is missing, the gap is closed, or their number is reached. */
static enum clv_status run_rounds(struct generation *self, struct clv_training_result *result, struct clv_error *err)
{
    const struct generation_rules *rules = self->rules;
    OWNED_ARRAY double *slack = array_alloc(self->examples->n, sizeof *slack);
    NEED(slack);
    MUST(start_at_init(self, slack, err));
    size_t n_added = 1;
    for (size_t round = 1; n_added && round <= rules->rounds; round++) {
        MUST(run_round(self, &n_added, slack, err));
        MUST(report(self, result, round, err));
        if (self->objective - self->bound <= rules->gap * self->objective)
            break;
    }
    return CLV_OK;
}

enum clv_status constraint_generation_train(struct clv_training_result *result, struct examples *examples,
                                            const struct generation_rules *rules, struct clv_error *err)
{
    OWNED(generation_release) struct generation self = {0};
    MUST(generation_open(&self, examples, rules, err));
    enum clv_status status = run_rounds(&self, result, err);
    if (status && status != CLV_ERR_INTERRUPTED)
        return status;
    result->interrupted = status == CLV_ERR_INTERRUPTED;
    return result_set(result, examples, self.best, err);
}

#endif
