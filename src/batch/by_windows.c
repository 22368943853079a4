/* Labels the slices of sequences jointly, by a model of sequences, window by window: with one window and its images in
 * memory; or computes the probabilities of a window's slices jointly, instead of labels. Start at each_sequence; the
 * method is in src/sequence/slices.c. */
#include <string.h>

#include "base/base.h"
#include "batch/batch.h"
#include "batch/by_sequence.h"
#include "intake/intake.h"
#include "refine/by_model/by_model.h"
#include "segment/segment.h"
#include "sequence/sequence.h"

struct by_windows {
    struct clv_model model; /* owned, or a view of the caller's */
    bool is_view;
    struct clv_set set; /* sorted by sequence; its items are the inputs */
    struct batch *run;
    struct slices slices;               /* of the current sequence */
    size_t first;                       /* index of the input that is its first slice */
    struct probability_summary summary; /* of the current window, without share and entropy */
};

static enum clv_status open_slices(struct batch *run, struct clv_error *err)
{
    const struct clv_files_options *options = &run->options;
    struct by_windows *self = array_zalloc(1, sizeof *self);
    struct sequence_gaps gaps;
    NEED(run->state = self);
    self->run = run;
    MUST(model_open(&self->model, &self->is_view, run, err));
    FAIL_IF(!self->model.recipe.window, CLV_ERR_USAGE,
            "%s: a model of single images; `cleave train --sequence' makes one of slices, and without --sequence each "
            "image is segmented alone",
            batch_model_name(run));
    MUST(clv_set_read(&self->set, options->data, err));
    training_set_note_reading(&self->set, options->data, &run->progress);
    size_t common = set_common_folder(&self->set);
    MUST(outputs_spare_set(&run->to.outputs, &self->set, options->data, err));
    MUST(clv_set_select(&self->set, options->split, err));
    MUST(sequences_sort(&gaps, &self->set, err));
    size_t n_masks = 0;
    for (size_t i = 0; i < self->set.n_items; i++)
        n_masks += self->set.items[i].mask != NULL;
    if (n_masks && n_masks < self->set.n_items)
        report_message(&run->progress, CLV_NOTE,
                       "%s: the model labels all %zu slices, those of the %zu masks that are there, too; `cleave "
                       "propagate' propagates masks to the other slices",
                       options->data, self->set.n_items, n_masks);
    sequence_note_gaps(run, &gaps);
    MUST(inputs_add_set(&run->inputs, &self->set, common, err));
    for (size_t i = 0; i < self->set.n_items; i++)
        run->inputs.items[i].frame = i;
    run->frames = self->set.items;
    run->n_frames = self->set.n_items;
    run->is_one_sequence = true;
    for (size_t i = 1; i < self->set.n_items; i++) {
        const char *one = self->set.items[0].sequence, *other = self->set.items[i].sequence;
        run->is_one_sequence &= strcmp(one ? one : "", other ? other : "") == 0;
    }
    run->is_one_sequence |= sequences_are_of_one_file(self->set.items, self->set.n_items);
    return CLV_OK;
}

static enum clv_status read_slice(void *context, size_t index, struct clv_image *image, struct clv_error *err)
{
    const struct by_windows *self = context;
    const struct batch *run = self->run;
    return input_read_image(image, &run->inputs.items[self->first + index], &run->options.limits, &run->progress, err);
}

static bool is_wanted(void *context, size_t index)
{
    const struct by_windows *self = context;
    return !input_has_mask(self->run, self->first + index);
}

static enum clv_status do_slice(void *context, size_t index, int thread, struct clv_error *err)
{
    const struct by_windows *self = context;
    return run_item(self->run, self->first + index, self->first + index, thread, err);
}

static enum clv_status score_window(void *context, double *values, const struct clv_problem *problem,
                                    struct clv_oracle *oracle, struct clv_error *err)
{
    struct by_windows *self = context;
    return probabilities_find(values, &self->summary, self->run, problem, oracle, err);
}

static enum clv_status show_slice(struct labelled *item, const struct batch *run, size_t index, struct clv_error *err)
{
    const struct by_windows *self = run->state;
    const struct clv_example *slice;
    const double *values;
    MUST(slices_values(&slice, &values, &self->slices, index - self->first, err));
    item->summary = self->summary;
    if (!batch_has_maps(run))
        item->unmet = label_unmet_share(run->model, &slice->problem);
    return probabilities_show(item, run, slice, values, err);
}

static enum clv_status label_slice(struct labelled *item, struct batch *run, size_t index, int thread,
                                   struct clv_error *err)
{
    const struct by_windows *self = run->state;
    (void)thread;
    MUST(input_read_image(&item->image, item->input, &run->options.limits, &run->progress, err));
    if (batch_is_probable(run))
        return show_slice(item, run, index, err);
    item->width = item->image.width;
    item->height = item->image.height;
    NEED(item->labels = array_alloc((size_t)item->width, (size_t)item->height));
    MUST(slices_paint(item->labels, &self->slices, index - self->first, &item->image,
                      batch_refines(run, item->width, item->height), err));
    item->unmet = label_unmet_share(run->model, slices_problem(&self->slices, index - self->first));
    return CLV_OK;
}

/* Whether two slices are of one sequence. */
static bool are_together(const struct clv_item *a, const struct clv_item *b)
{
    return a->sequence ? b->sequence && strcmp(a->sequence, b->sequence) == 0 : !b->sequence;
}

static enum clv_status each_sequence(struct batch *run, struct clv_error *err)
{
    struct by_windows *self = run->state;
    const size_t n = run->inputs.n, size = (size_t)run->model->recipe.window;
    size_t n_longest = 0;
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && are_together(&self->set.items[first], &self->set.items[end]);)
            end++;
        n_longest = end - first > n_longest ? end - first : n_longest;
        self->first = first;
        self->slices = (struct slices){.model = run->model,
                                       .engine = run->options.engine,
                                       .n_threads = run->n_threads,
                                       .progress = &run->progress,
                                       .is_by_net = refining_is_by_net(run->model) && batch_refines(run, 1, 1),
                                       .n = end - first,
                                       .items = self->set.items + first,
                                       .context = self,
                                       .is_wanted = is_wanted,
                                       .read = read_slice,
                                       .one = do_slice,
                                       .score = batch_is_probable(run) ? score_window : NULL};
        MUST(slices_label(&self->slices, err));
    }
    if (n_longest > size && run->model->layout.n_edge_features)
        report_message(&run->progress, CLV_NOTE,
                       "a sequence of %zu slices is longer than the model's window of %zu: a slice is labelled with "
                       "those nearest to it, not with all; `train --window N' makes models of larger ones",
                       n_longest, size);
    return CLV_OK;
}

static void close_slices(struct batch *run)
{
    struct by_windows *self = run->state;
    if (self) {
        clv_set_release(&self->set);
        if (!self->is_view)
            clv_model_release(&self->model);
    }
    array_free(self);
    run->model = NULL;
}

const struct labeller by_windows = {.name = "--sequence",
                                    .has_truth = true,
                                    .lacks = NEEDS_APART,
                                    .why = {[5] = "slices are labelled together"},
                                    .open = open_slices,
                                    .each = each_sequence,
                                    .label = label_slice,
                                    .bytes = model_bytes,
                                    .close = close_slices};
