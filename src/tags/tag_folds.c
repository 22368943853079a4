/* Holds out folds of the examples, fits models to the others, and computes scores or decisions for the held-out ones;
 * orders tags by their held-out F. Start at tag_hold_out. */
#include "tags/tag_folds.h"

#include <string.h>

#include "base/base.h"
#include "tags/tags.h"

enum clv_status tag_folds_init(struct tag_folds *folds, const struct clv_tag_training *training, struct clv_error *err)
{
    const struct clv_tag_set *set = training->set;
    int32_t n_folds = training->n_folds ? training->n_folds : 5;
    OWNED(tag_folds_release) struct tag_folds result = {.n = set->n,
                                                        .n_tags = (size_t)set->n_tags,
                                                        .n_folds = (size_t)n_folds > set->n ? (int32_t)set->n : n_folds,
                                                        .n_repeats = training->n_repeats ? training->n_repeats : 1};
    FAIL_IF(result.n_folds < 2, CLV_ERR_USAGE, "%d folds of %zu examples", result.n_folds, set->n);
    size_t n_rows = tag_folds_size(&result);
    result.order = array_alloc(n_rows, sizeof *result.order);
    result.truth = array_alloc(n_rows, result.n_tags);
    NEED(result.order && result.truth);
    for (int32_t r = 0; r < result.n_repeats; r++) {
        rng_permutation(result.order + (size_t)r * set->n, set->n, training->seed, RNG_STREAM(RNG_FOLD, (uint32_t)r));
        memcpy(result.truth + (size_t)r * set->n * result.n_tags, set->tags, set->n * result.n_tags);
    }
    *folds = TAKE(result);
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

/* Predicts the held-out examples of a part. Parts number the folds of all repeats. */
static enum clv_status decide_part(const struct tag_held_out *self, const struct clv_tag_model *model,
                                   const struct tag_fit_task *task, size_t number, size_t part, struct clv_error *err)
{
    size_t k = (size_t)model->n_tags, n = self->folds->n, n_folds = (size_t)self->folds->n_folds;
    size_t repeat = part / n_folds, fold = part % n_folds;
    size_t start = number * tag_folds_size(self->folds) + repeat * n;
    const struct clv_belief_search search = {.max_nodes = CLV_TAG_DEFAULT_NODES};
    OWNED_ARRAY double *buffer = array_alloc(k, sizeof *buffer);
    NEED(buffer);
    for (size_t at = fold; at < n; at += n_folds) {
        size_t l = (size_t)self->folds->order[repeat * n + at], slot = (start + l) * k;
        FAIL_IF(stop_requested(self->progress), CLV_ERR_INTERRUPTED, "interrupted");
        double *scores = self->scores ? self->scores + slot : buffer;
        tag_fit_scores(scores, model, task, l);
        if (self->tags)
            MUST(clv_tag_decide(self->tags + slot, NULL, model, scores, &search, err));
    }
    return CLV_OK;
}

/* Fits and predicts task `number` of a part. */
static enum clv_status hold_out_task(const struct tag_held_out *self, struct tag_fit_task *task, size_t number,
                                     size_t part, struct clv_error *err)
{
    OWNED(clv_tag_model_release) struct clv_tag_model model = {0};
    struct clv_tag_training_result result;
    task->tag_of = self->tag_of ? self->tag_of[number] : NULL;
    task->parameters = self->parameters[number];
    MUST(tag_fit(&model, &result, task, err));
    FAIL_IF(stop_requested(self->progress), CLV_ERR_INTERRUPTED, "interrupted");
    MUST(decide_part(self, &model, task, number, part, err));
    size_t n_parts = (size_t)self->folds->n_folds * (size_t)self->folds->n_repeats;
    if (self->finished)
        self->finished[number * n_parts + part] = 1;
    return CLV_OK;
}

/* Runs all tasks of a fold, from the strongest regularisation to the weakest. Each starts from the dual variables of
 * the previous one, since most variables at a bound stay there. */
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
    OWNED_ARRAY int32_t *examples = array_alloc(n, sizeof *examples);
    OWNED_ARRAY size_t *order = array_alloc(self->n_tasks, sizeof *order);
    OWNED_ARRAY double *alpha = array_zalloc(self->folds->n_tags * n, sizeof *alpha);
    NEED(examples && order && alpha);
    task.alpha = alpha;
    for (size_t at = 0; at < n; at++)
        if (at % n_folds != fold)
            examples[task.n++] = self->folds->order[repeat * n + at];
    task.examples = examples;
    for (size_t t = 0; t < self->n_tasks; t++) { /* insertion sort */
        size_t at = t;
        double lambda = self->parameters[t][CLV_TAG_LAMBDA];
        for (; at > 0 && self->parameters[order[at - 1]][CLV_TAG_LAMBDA] < lambda; at--)
            order[at] = order[at - 1];
        order[at] = t;
    }
    for (size_t t = 0; t < self->n_tasks; t++) {
        if (t > 0)
            task.warm = self->parameters[order[t - 1]][CLV_TAG_LAMBDA] / self->parameters[order[t]][CLV_TAG_LAMBDA];
        MUST(hold_out_task(self, &task, order[t], index, err));
    }
    return CLV_OK;
}

enum clv_status tag_hold_out(const struct tag_held_out *held, struct clv_error *err)
{
    return parallel_for((size_t)held->folds->n_repeats * (size_t)held->folds->n_folds, held->n_threads, hold_out_fold,
                        (void *)(uintptr_t)held, err);
}

/* F of one tag: 2 |both| / (|true| + |predicted|); 0/0 is 1. */
static double f_of_tag(const uint8_t *truth, const uint8_t *tags, size_t n, size_t n_tags, size_t tag)
{
    uint64_t both = 0, sum = 0;
    for (size_t l = 0; l < n; l++) {
        both += truth[l * n_tags + tag] & tags[l * n_tags + tag];
        sum += (uint64_t)truth[l * n_tags + tag] + tags[l * n_tags + tag];
    }
    return sum ? 2.0 * (double)both / (double)sum : 1;
}

void tag_order_by_f(int32_t *tag_of, const uint8_t *truth, const uint8_t *tags, size_t n, int32_t n_tags)
{
    double f[CLV_MAX_TAGS];
    for (int32_t i = 0; i < n_tags; i++) {
        f[i] = f_of_tag(truth, tags, n, (size_t)n_tags, (size_t)i);
        int32_t p = i;
        for (; p > 0 && f[tag_of[p - 1]] < f[i]; p--)
            tag_of[p] = tag_of[p - 1];
        tag_of[p] = i;
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

enum clv_status tag_orders_by_f(int32_t *tag_of, const struct tag_held_out *held, struct clv_error *err)
{
    size_t n = tag_folds_size(held->folds), k = (size_t)held->problem->n_tags;
    struct tag_held_out independent = *held;
    independent.form = CLV_TAGS_INDEPENDENT;
    independent.is_structural = false;
    independent.finished = NULL;
    OWNED_ARRAY uint8_t *tags = array_alloc(independent.n_tasks * n, k);
    NEED(tags);
    independent.tags = tags;
    MUST(tag_hold_out(&independent, err));
    for (size_t t = 0; t < independent.n_tasks; t++)
        tag_order_by_f(tag_of + t * k, independent.folds->truth, tags + t * n * k, n, independent.problem->n_tags);
    return CLV_OK;
}
