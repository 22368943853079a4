/* `cleave segment --sequence` with a model: labels the slices of a sequence window by window. Start at slices_run. */
#include "cli/segment/segment.h"

#include <string.h>

#include "base/base.h"
#include "cli/common/common.h"
#include "refine/by_model/by_model.h"
#include "segment/segment.h"
#include "sequence/sequence.h"
#include "train/train.h"

enum clv_status slices_check(const struct segment *self, struct clv_error *err)
{
    static const char *const others[] = {"boxes", "maps", "features", "shard", "decode", "null"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (options_given(&self->common, others[i]))
            return fail(err, CLV_ERR_USAGE, "--sequence: --%s does not go with it", others[i]);
    if (!self->data || self->common.n_arguments)
        return fail(err, CLV_ERR_USAGE, "--sequence: takes one folder or manifest of slices");
    if (segment_is_piped(self))
        return fail(err, CLV_ERR_USAGE, "--sequence: has a mask for each slice; -o FOLDER takes them");
    return CLV_OK;
}

/* The sequence at hand. */
struct slice_work {
    struct slices slices;
    struct threads *threads;
    size_t first; /* of its inputs */
};

static enum clv_status read(void *context, size_t index, struct clv_image *image, struct clv_error *err)
{
    struct slice_work *self = context;
    const struct segment_run *run = self->threads->job->run;
    return input_read_image(image, &run->inputs->items[self->first + index], &run->options->common.limits, err);
}

static bool is_wanted(void *context, size_t index)
{
    struct slice_work *self = context;
    return !self->threads->job->run->outputs->items[self->first + index].finished;
}

static enum clv_status do_slice(void *context, size_t index, int thread, struct clv_error *err)
{
    struct slice_work *self = context;
    return self->threads->one(self->threads, self->first + index, thread, err);
}

enum clv_status slices_take(struct work *work, const struct job *job, size_t index, struct clv_error *err)
{
    const struct slice_work *self = job->slices;
    const struct segment_run *run = job->run;
    MUST(input_read_image(&work->image, work->input, &run->options->common.limits, err));
    work->width = work->image.width;
    work->height = work->image.height;
    work->labels = array_alloc((size_t)work->width, (size_t)work->height);
    NEED(work->labels);
    MUST(slices_paint(work->labels, &self->slices, index - self->first, &work->image,
                      segment_refines(run, work->width, work->height), err));
    work->unmet = label_unmet_share(run->model, slices_problem(&self->slices, index - self->first));
    return CLV_OK;
}

/* Labels one sequence after the other; *n_longest is how many slices the longest has. */
static enum clv_status label_sequences(size_t *n_longest, struct threads *threads, struct clv_error *err)
{
    struct job *job = threads->job;
    const struct clv_item *items = job->run->sequence->set.items;
    size_t n = job->run->inputs->n;
    for (size_t first = 0, end; first < n; first = end) {
        const char *name = items[first].sequence;
        for (end = first + 1;
             end < n && (name ? items[end].sequence && !strcmp(name, items[end].sequence) : !items[end].sequence);)
            end++;
        *n_longest = end - first > *n_longest ? end - first : *n_longest;
        struct slice_work work = {
            .threads = threads,
            .first = first,
            .slices = {.model = job->run->model,
                       .engine = job->run->options->engine,
                       .n_threads = job->n_threads,
                       .progress = job->run->progress,
                       .is_by_net = refining_is_by_net(job->run->model) && segment_refines(job->run, 1, 1),
                       .n = end - first,
                       .items = items + first,
                       .context = &work,
                       .is_wanted = is_wanted,
                       .read = read,
                       .one = do_slice}};
        job->slices = &work;
        MUST(slices_label(&work.slices, err));
    }
    return CLV_OK;
}

enum clv_status slices_run(struct threads *threads, struct clv_error *err)
{
    struct job *job = threads->job;
    size_t n_longest = 0, size = (size_t)job->run->model->recipe.window;
    const enum clv_status status = label_sequences(&n_longest, threads, err);
    job->slices = NULL; /* the sequence that it led to has ended */
    MUST(status);
    if (n_longest > size && job->run->model->shape.n_edge_features)
        console_note(
            "a sequence of %zu slices is longer than the model's window of %zu: a slice is labelled with those "
            "nearest to it, not with all; `train --window N' makes models of larger ones",
            n_longest, size);
    return CLV_OK;
}
