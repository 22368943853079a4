/* Lists the images of a training that have no full ground truth, to be pseudo-labelled: images without masks, and those
 * whose masks are strokes (train_weak_list). Also adds mirror images (--mirror). */
#include "train/train.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cleave/train.h"
#include "data/data.h"
#include "feature/dataset/dataset.h"

/* Whether a mask leaves more than half of the nodes unlabelled, as strokes do; an outline with a void border does
 * not. */
static bool is_stroke_mask(const struct clv_problem *problem)
{
    int32_t n_unknown = 0;
    for (int32_t i = 0; i < problem->n_nodes && problem->label; i++)
        n_unknown += problem->label[i] == CLV_UNKNOWN;
    return n_unknown > problem->n_nodes / 2;
}

/* Whether every slice of a window has labels on more than half of its nodes or on none. Nodes are ordered by slice,
 * then by row, so a slice ends where y drops by more than half of the image's height. */
static bool slices_are_whole(const struct clv_problem *problem)
{
    float low = 0, highest = 0;
    int32_t n_known = 0, n = 0;
    bool is_whole = problem->centroid != NULL;
    for (int32_t i = 0; is_whole && i < problem->n_nodes; i++)
        highest = fmaxf(highest, problem->centroid[2 * (size_t)i + 1]);
    for (int32_t i = 0; is_whole && i <= problem->n_nodes; i++) {
        bool is_end = i == problem->n_nodes || problem->centroid[2 * (size_t)i + 1] < low - highest / 2;
        if (is_end) {
            is_whole = !n_known || 2 * n_known > n; /* a mask with a void border is not one of strokes */
            n_known = n = 0;
            low = 0;
        }
        if (i == problem->n_nodes)
            break;
        low = fmaxf(low, problem->centroid[2 * (size_t)i + 1]);
        n_known += problem->label[i] != CLV_UNKNOWN;
        n++;
    }
    return is_whole;
}

void train_weak_release(struct train_weak *self)
{
    arrays_free(self->examples, self->given);
    *self = (struct train_weak){0};
}

/* Whether images with stroke masks get pseudo-labels. Pseudo-labels need the MAP solver; learners that treat unlabelled
 * nodes as hidden train without pseudo-labels. */
static bool pseudo_labels_strokes(const struct clv_learner *learner, const struct clv_weight_layout *layout)
{
    return !learner->takes_hidden && (layout->n_labels == 2 || layout->pairwise == CLV_PAIRWISE_NONE);
}

struct clv_training train_weak_held_out(const struct clv_training *training, const struct train_weak *weak)
{
    struct clv_training folds = *training;
    folds.n_weak = weak->n - weak->n_stroke_masks;
    return folds;
}

enum clv_status train_weak_list(struct train_weak *self, const struct train_data *data,
                                const struct clv_learner *learner, const struct clv_weight_layout *layout,
                                const struct clv_progress *progress, struct clv_error *err)
{
    size_t n = clv_dataset_size(data->dataset) - data->n_mirrored;
    OWNED(train_weak_release)
    struct train_weak result = {.examples = array_alloc(n, sizeof *result.examples),
                                .given = array_alloc(n, sizeof *result.given)};
    *self = (struct train_weak){0};
    NEED(result.examples && result.given);
    size_t n_noted = 0;
    bool is_pseudo = pseudo_labels_strokes(learner, layout);
    for (size_t k = 0; k < n; k++) {
        size_t i = (data->n_masks + k) % n; /* images with masks come last */
        struct clv_problem problem = clv_dataset_problem(data->dataset, i);
        bool has_mask = i < data->n_masks;
        if (has_mask && (!is_pseudo || !is_stroke_mask(&problem)))
            continue;
        result.examples[result.n] = (int32_t)i;
        result.given[result.n++] = problem.label;
        result.n_stroke_masks += has_mask;
        n_noted += has_mask && !(data->recipe.window && slices_are_whole(&problem));
    }
    if (n_noted)
        report_message(
            progress, CLV_NOTE,
            "masks that mark fewer than half of the regions of their image: %zu; the rest is guessed from what they mark",
            n_noted);
    *self = TAKE(result);
    return CLV_OK;
}

/* --mirror: training on mirror images, too. */

enum clv_status train_mirror_extract(struct train_data *data, const struct clv_set *set,
                                     const struct clv_train_options *options, int n_threads, struct clv_error *err)
{
    const struct extract_options how = {
        .recipe = &data->recipe, .n_threads = n_threads, .limits = &options->limits, .progress = options->progress};
    MUST(dataset_add_mirrored(data->dataset, set, &how, err));
    data->n_mirrored = clv_dataset_size(data->dataset) - set->n_items;
    return CLV_OK;
}

enum clv_status train_mirror_use(int32_t **examples, struct clv_training *training, const struct train_data *data,
                                 struct clv_error *err)
{
    size_t n = training->n_examples, n_own = clv_dataset_size(data->dataset) - data->n_mirrored;
    int32_t *grown = array_realloc(*examples, 2 * n, sizeof *grown);
    NEED(grown);
    for (size_t i = 0; i < n; i++)
        grown[n + i] = (int32_t)n_own + grown[i];
    *examples = grown;
    training->examples = grown;
    training->n_examples = 2 * n;
    return CLV_OK;
}
