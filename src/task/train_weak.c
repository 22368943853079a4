#include "base/array.h"
#include "base/error.h"
#include "task/train.h"

/* Whether a mask leaves most nodes unknown: strokes of a pen, not an outline with a void seam. */
static bool is_scribble(const struct clv_problem *problem)
{
    int32_t n_unknown = 0;
    for (int32_t i = 0; i < problem->n_nodes && problem->label; i++)
        n_unknown += problem->label[i] == CLV_UNKNOWN;
    return n_unknown > problem->n_nodes / 2;
}

void train_weak_release(struct train_weak *self)
{
    array_free(self->examples);
    array_free(self->given);
    *self = (struct train_weak){0};
}

/* Guesses need the oracle; and learners to whom nodes of unknown label are hidden ones need no guesses. */
static bool guesses_scribbles(const struct clv_learner *learner, const struct clv_shape *shape)
{
    return !learner->takes_hidden && (shape->n_labels == 2 || shape->pairwise == CLV_PAIRWISE_NONE);
}

struct clv_training train_weak_held_out(const struct clv_training *training, const struct train_weak *weak)
{
    struct clv_training folds = *training;
    folds.n_weak = weak->n - weak->n_scribbles;
    return folds;
}

enum clv_status train_weak_list(struct train_weak *self, const struct train_data *data,
                                const struct clv_learner *learner, const struct clv_shape *shape,
                                const struct clv_progress *progress, struct clv_error *err)
{
    size_t n = clv_dataset_size(data->dataset) - data->n_mirrored;
    *self = (struct train_weak){.examples = array_alloc(n, sizeof *self->examples),
                                .given = array_alloc(n, sizeof *self->given)};
    if (!self->examples || !self->given) {
        train_weak_release(self);
        return fail_memory(err);
    }
    size_t at = 0;
    bool guess = guesses_scribbles(learner, shape);
    for (size_t k = 0; k < n; k++) {
        size_t i = (data->n_masks + k) % n; /* images with masks come last */
        struct clv_problem problem = clv_dataset_problem(data->dataset, i);
        bool has_mask = i < data->n_masks;
        if (has_mask && (!guess || !is_scribble(&problem)))
            continue;
        self->examples[at] = (int32_t)i;
        self->given[at++] = problem.label;
        self->n_scribbles += has_mask;
    }
    self->n = at;
    if (self->n_scribbles)
        report_message(progress, CLV_NOTE,
                       "%zu masks leave most of their image unknown, which is guessed from what they tell",
                       self->n_scribbles);
    return CLV_OK;
}
