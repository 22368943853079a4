/* Chooses kernel width and regularisation of models of tags by cross-validation: fills a table of measures column by
 * column, one per width. Start at clv_tag_cross_validate, at the end. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "tags/tag_folds.h"
#include "tags/tags.h"

/* Fits in cross-validation stop at this gap, unless --tolerance is larger. A gap a thousand times smaller changes exact
 * matches by a few examples only, but takes most of the time. */
static const double FOLDS_TOLERANCE = 1e-3;

static bool is_finished(const struct tag_held_out *held, size_t task)
{
    size_t n_fits = (size_t)held->folds->n_repeats * (size_t)held->folds->n_folds;
    return !memchr(held->finished + task * n_fits, 0, n_fits);
}

static enum clv_status order_and_hold_out(struct tag_held_out *held, int32_t *tag_of, const int32_t **tag_lists,
                                          const struct tag_held_out *tasks, bool is_ordered, struct clv_error *err)
{
    if (is_ordered) {
        MUST(tag_orders_by_f(tag_of, tasks, err));
        for (size_t t = 0; t < tasks->n_tasks; t++)
            tag_lists[t] = tag_of + t * (size_t)tasks->problem->n_tags;
        held->tag_of = tag_lists;
    }
    return tag_hold_out(held, err);
}

/* Measures every lambda with the current Gram matrix: scores[n_lambda], a column of the table. If interrupted, fills
 * only those whose folds are all finished. */
static enum clv_status validate_column(struct clv_tag_score *scores, const struct clv_tag_training *training,
                                       const struct tag_held_out *tasks, struct clv_error *err)
{
    const struct tag_folds *folds = tasks->folds;
    size_t n_tasks = tasks->n_tasks, n = tag_folds_size(folds), k = (size_t)tasks->problem->n_tags;
    bool is_ordered = training->learner->form == CLV_TAGS_LMSBN && training->is_in_f_order;
    struct tag_held_out held = *tasks;
    OWNED_ARRAY int32_t *tag_of = array_alloc(n_tasks * k, sizeof *tag_of);
    OWNED_ARRAY const int32_t **tag_lists = array_alloc(n_tasks, sizeof *tag_lists);
    OWNED_ARRAY uint8_t *tags = array_alloc(n_tasks * n, k);
    OWNED_ARRAY uint8_t *finished = array_zalloc(n_tasks, (size_t)folds->n_repeats * (size_t)folds->n_folds);
    NEED(tag_of && tag_lists && tags && finished);
    held.form = training->learner->form;
    held.is_structural = training->learner->is_structural;
    held.tags = tags;
    held.finished = finished;
    enum clv_status status = order_and_hold_out(&held, tag_of, tag_lists, tasks, is_ordered, err);
    if (status && status != CLV_ERR_INTERRUPTED)
        return status;
    for (size_t t = 0; t < n_tasks; t++)
        if (is_finished(&held, t))
            MUST(clv_tag_measure(&scores[t], folds->truth, tags + t * n * k, n, held.problem->n_tags, err));
    return status;
}

static const struct clv_tag_score unknown = {NAN, NAN, NAN, NAN, NAN};

/* Fills scores[n_lambda][n_gamma]. */
static enum clv_status validate_grid(struct clv_tag_score *scores, const struct clv_tag_training *training,
                                     const struct clv_tag_grid *grid, struct tag_problem *problem,
                                     const struct tag_folds *folds, struct clv_error *err)
{
    size_t n_gamma = training->is_rbf ? grid->n_gamma : 1;
    OWNED_ARRAY double(*parameters)[CLV_TAG_PARAMETERS] = array_alloc(grid->n_lambda, sizeof *parameters);
    OWNED_ARRAY struct clv_tag_score *column = array_alloc(grid->n_lambda, sizeof *column);
    NEED(parameters && column);
    struct tag_held_out tasks = tag_held_out_of(training, problem, folds, (const double *)parameters);
    tasks.n_tasks = grid->n_lambda;
    for (size_t g = 0; g < n_gamma; g++) {
        for (size_t i = 0; i < grid->n_lambda; i++) {
            memcpy(parameters[i], training->parameters, sizeof *parameters);
            parameters[i][CLV_TAG_LAMBDA] = grid->lambda[i];
            if (!training->learner->is_structural)
                parameters[i][CLV_TAG_TOLERANCE] = fmax(parameters[i][CLV_TAG_TOLERANCE], FOLDS_TOLERANCE);
            if (training->is_rbf)
                parameters[i][CLV_TAG_GAMMA] = grid->gamma[g];
        }
        report_progress(training->progress, "cross-validation", g, n_gamma, "");
        MUST(tag_problem_kernel(problem, training->is_rbf ? grid->gamma[g] : 0, err));
        for (size_t i = 0; i < grid->n_lambda; i++)
            column[i] = unknown;
        enum clv_status status = validate_column(column, training, &tasks, err);
        for (size_t i = 0; i < grid->n_lambda; i++) /* if interrupted, only those that are finished */
            scores[i * n_gamma + g] = column[i];
        if (status)
            return status;
    }
    return CLV_OK;
}

static enum clv_status fill_table(struct clv_tag_score *table, const struct clv_tag_training *training,
                                  const struct clv_tag_grid *grid, struct clv_error *err)
{
    OWNED(tag_folds_release) struct tag_folds folds = {0};
    OWNED(tag_problem_release) struct tag_problem problem = {0};
    MUST(tag_folds_init(&folds, training, err));
    MUST(tag_problem_init(&problem, training, err));
    return validate_grid(table, training, grid, &problem, &folds, err);
}

enum clv_status clv_tag_cross_validate(double parameters[CLV_TAG_PARAMETERS], struct clv_tag_score *scores,
                                       const struct clv_tag_training *training, const struct clv_tag_grid *grid,
                                       struct clv_error *err)
{
    size_t n_gamma = training->is_rbf ? grid->n_gamma : 1, n = grid->n_lambda * n_gamma, best = 0;
    MUST(tag_training_check(training, err));
    for (size_t i = 0; i < grid->n_lambda; i++)
        MUST(tag_parameter_check(CLV_TAG_LAMBDA, grid->lambda[i], err));
    for (size_t i = 0; training->is_rbf && i < grid->n_gamma; i++)
        MUST(tag_parameter_check(CLV_TAG_GAMMA, grid->gamma[i], err));
    FAIL_IF(!n, CLV_ERR_USAGE, "cross-validation without candidates");
    OWNED_ARRAY struct clv_tag_score *table = array_alloc(n, sizeof *table);
    NEED(table);
    for (size_t i = 0; i < n; i++)
        table[i] = unknown;
    enum clv_status status = fill_table(table, training, grid, err);
    if (status && status != CLV_ERR_INTERRUPTED)
        return status;
    if (!status) {
        for (size_t i = 1; i < n; i++)
            if (tag_goal_value(&table[i], training->goal) > tag_goal_value(&table[best], training->goal))
                best = i;
        double chosen[CLV_TAG_PARAMETERS];
        memcpy(chosen, training->parameters, sizeof chosen);
        chosen[CLV_TAG_LAMBDA] = grid->lambda[best / n_gamma];
        if (training->is_rbf)
            chosen[CLV_TAG_GAMMA] = grid->gamma[best % n_gamma];
        memcpy(parameters, chosen, sizeof chosen);
    }
    if (scores)
        memcpy(scores, table, n * sizeof *table);
    return status;
}
