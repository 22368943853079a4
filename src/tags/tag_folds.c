#include "tags/tag_folds.h"

#include <string.h>

#include "base/base.h"
#include "tags/tags.h"

enum clv_status tag_folds_init(struct tag_folds *folds, const struct clv_tag_training *training, struct clv_error *err)
{
    const struct clv_tag_set *set = training->set;
    int32_t n_folds = training->n_folds ? training->n_folds : 5;
    struct tag_folds made = {.n = set->n,
                             .n_tags = (size_t)set->n_tags,
                             .n_folds = (size_t)n_folds > set->n ? (int32_t)set->n : n_folds,
                             .n_repeats = training->n_repeats ? training->n_repeats : 1};
    FAIL_IF(made.n_folds < 2, CLV_ERR_USAGE, "%d folds of %zu examples", made.n_folds, set->n);
    size_t n_rows = tag_folds_size(&made);
    made.order = array_alloc(n_rows, sizeof *made.order);
    made.truth = array_alloc(n_rows, made.n_tags);
    if (!made.order || !made.truth) {
        tag_folds_release(&made);
        return fail_memory(err);
    }
    for (int32_t r = 0; r < made.n_repeats; r++) {
        rng_permutation(made.order + (size_t)r * set->n, set->n, training->seed, RNG_STREAM(RNG_FOLD, (uint32_t)r));
        memcpy(made.truth + (size_t)r * set->n * made.n_tags, set->tags, set->n * made.n_tags);
    }
    *folds = made;
    return CLV_OK;
}

void tag_folds_release(struct tag_folds *folds)
{
    arrays_free(folds->order, folds->truth);
    *folds = (struct tag_folds){0};
}

size_t tag_folds_size(const struct tag_folds *folds)
{
    return (size_t)folds->n_repeats * folds->n;
}

/* Parts are folds of all repeats. */
static enum clv_status decide_part(const struct tag_held_out *self, const struct clv_tag_model *model,
                                   const struct tag_fit_task *task, size_t which, size_t part, struct clv_error *err)
{
    size_t k = (size_t)model->n_tags, n = self->folds->n, n_folds = (size_t)self->folds->n_folds;
    size_t repeat = part / n_folds, fold = part % n_folds;
    size_t start = which * tag_folds_size(self->folds) + repeat * n;
    const struct clv_belief_search search = {.max_nodes = CLV_TAG_DEFAULT_NODES};
    double *own = array_alloc(k, sizeof *own);
    enum clv_status status = own ? CLV_OK : fail_memory(err);
    for (size_t at = fold; status == CLV_OK && at < n; at += n_folds) {
        size_t l = (size_t)self->folds->order[repeat * n + at], slot = (start + l) * k;
        if (stop_requested(self->progress))
            status = fail(err, CLV_ERR_INTERRUPTED, "interrupted");
        double *scores = self->scores ? self->scores + slot : own;
        tag_fit_scores(scores, model, task, l);
        TRY_IF(self->tags, clv_tag_decide(self->tags + slot, NULL, model, scores, &search, err));
    }
    array_free(own);
    return status;
}

/* Task number `which` of a part. */
static enum clv_status hold_out_task(const struct tag_held_out *self, struct tag_fit_task *task, size_t which,
                                     size_t part, struct clv_error *err)
{
    struct clv_tag_model model = {0};
    struct clv_tag_training_result result;
    task->place = self->place ? self->place[which] : NULL;
    task->parameters = self->parameters[which];
    enum clv_status status = tag_fit(&model, &result, task, err);
    TRY_IF(stop_requested(self->progress), fail(err, CLV_ERR_INTERRUPTED, "interrupted"));
    TRY(decide_part(self, &model, task, which, part, err));
    size_t n_parts = (size_t)self->folds->n_folds * (size_t)self->folds->n_repeats;
    if (status == CLV_OK && self->finished)
        self->finished[which * n_parts + part] = 1;
    clv_tag_model_release(&model);
    return status;
}

/* All tasks of a fold, from the strongest regularisation to the weakest, each from the dual variables of the one
 * before: what is at its bound mostly stays there. */
static enum clv_status hold_out_fold(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    const struct tag_held_out *self = context;
    size_t n = self->folds->n, n_folds = (size_t)self->folds->n_folds, fold = index % n_folds, repeat = index / n_folds;
    struct tag_fit_task task = {.problem = self->problem,
                                .form = self->form,
                                .is_structural = self->is_structural,
                                .seed = self->seed,
                                .n_threads = 1,
                                .is_compared = true,
                                .progress = self->progress};
    int32_t *examples = array_alloc(n, sizeof *examples);
    size_t *order = array_alloc(self->n_tasks, sizeof *order);
    task.alpha = array_zalloc(self->folds->n_tags * n, sizeof *task.alpha);
    enum clv_status status = examples && order && task.alpha ? CLV_OK : fail_memory(err);
    for (size_t at = 0; status == CLV_OK && at < n; at++)
        if (at % n_folds != fold)
            examples[task.n++] = self->folds->order[repeat * n + at];
    task.examples = examples;
    for (size_t t = 0; status == CLV_OK && t < self->n_tasks; t++) { /* by insertion */
        size_t place = t;
        double lambda = self->parameters[t][CLV_TAG_LAMBDA];
        for (; place > 0 && self->parameters[order[place - 1]][CLV_TAG_LAMBDA] < lambda; place--)
            order[place] = order[place - 1];
        order[place] = t;
    }
    for (size_t t = 0; status == CLV_OK && t < self->n_tasks; t++) {
        if (t > 0)
            task.warm = self->parameters[order[t - 1]][CLV_TAG_LAMBDA] / self->parameters[order[t]][CLV_TAG_LAMBDA];
        status = hold_out_task(self, &task, order[t], index, err);
    }
    arrays_free(task.alpha, order, examples);
    return status;
}

enum clv_status tag_hold_out(const struct tag_held_out *held, struct clv_error *err)
{
    return parallel_for((size_t)held->folds->n_repeats * (size_t)held->folds->n_folds, held->n_threads, hold_out_fold,
                        (void *)(uintptr_t)held, err);
}

/* 2 |both| / (|true| + |predicted|) of one tag; 0/0 is 1. */
static double f_of_tag(const uint8_t *truth, const uint8_t *tags, size_t n, size_t n_tags, size_t tag)
{
    uint64_t both = 0, sum = 0;
    for (size_t l = 0; l < n; l++) {
        both += truth[l * n_tags + tag] & tags[l * n_tags + tag];
        sum += (uint64_t)truth[l * n_tags + tag] + tags[l * n_tags + tag];
    }
    return sum ? 2.0 * (double)both / (double)sum : 1;
}

void tag_order_by_f(int32_t *place, const uint8_t *truth, const uint8_t *tags, size_t n, int32_t n_tags)
{
    double f[CLV_MAX_TAGS];
    for (int32_t i = 0; i < n_tags; i++) {
        f[i] = f_of_tag(truth, tags, n, (size_t)n_tags, (size_t)i);
        int32_t p = i;
        for (; p > 0 && f[place[p - 1]] < f[i]; p--)
            place[p] = place[p - 1];
        place[p] = i;
    }
}

double tag_goal_value(const struct clv_tag_score *score, enum clv_tag_goal goal)
{
    switch (goal) {
    case CLV_TAG_EXACT: return score->exact_match;
    case CLV_TAG_HAMMING: return -score->hamming;
    case CLV_TAG_F_SAMPLE: return score->f_sample;
    case CLV_TAG_F_MACRO: return score->f_macro;
    case CLV_TAG_F_MICRO: return score->f_micro;
    }
    return 0;
}

struct tag_held_out tag_held_out_of(const struct clv_tag_training *training, const struct tag_problem *problem,
                                    const struct tag_folds *folds, const double *parameters)
{
    return (struct tag_held_out){
        .problem = problem,
        .folds = folds,
        .form = CLV_TAGS_INDEPENDENT,
        .n_tasks = 1,
        .parameters = (const double(*)[CLV_TAG_PARAMETERS])parameters,
        .seed = training->seed,
        .n_threads = training->n_threads,
        .progress = training->progress,
    };
}

enum clv_status tag_orders_by_f(int32_t *place, const struct tag_held_out *held, struct clv_error *err)
{
    size_t n = tag_folds_size(held->folds), k = (size_t)held->problem->n_tags;
    struct tag_held_out own = *held;
    own.form = CLV_TAGS_INDEPENDENT;
    own.is_structural = false;
    own.finished = NULL;
    own.tags = array_alloc(own.n_tasks * n, k);
    enum clv_status status = own.tags ? tag_hold_out(&own, err) : fail_memory(err);
    for (size_t t = 0; status == CLV_OK && t < own.n_tasks; t++)
        tag_order_by_f(place + t * k, own.folds->truth, own.tags + t * n * k, n, own.problem->n_tags);
    array_free(own.tags);
    return status;
}
