/* --sequence with a model: slices are labelled window by window, several at once. */
#include "cli/segment/segment.h"

#include <string.h>

#include "base/base.h"
#include "cli/common/common.h"
#include "segment/segment.h"
#include "sequence/sequence.h"
#include "task/task.h"

/* A slice of the window at hand; without nodes where it could not be read, or is not read yet. */
struct loaded {
    struct slice slice;
    enum clv_status status;
    struct clv_error error;
};

struct slices {
    struct job *job;
    struct threads *threads;
    struct loaded *items;    /* [inputs], those of the window */
    size_t first, n, offset; /* the sequence's inputs; where the loop at hand begins */
    size_t window_first;
    int32_t *y; /* of the window's nodes */
    double *margin;
    size_t node_capacity, margin_capacity;
    int32_t *first_node; /* [inputs] of those of the window in y */
};

enum clv_status slices_check(const struct segment *self, struct clv_error *err)
{
    static const char *const others[] = {"boxes", "maps", "features", "given", "shard", "decode", "null"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (options_given(&self->common, others[i]))
            return fail(err, CLV_ERR_USAGE, "--sequence: --%s does not go with it", others[i]);
    if (!self->data || self->common.n_arguments)
        return fail(err, CLV_ERR_USAGE, "--sequence: takes one folder or manifest of slices");
    if (segment_is_piped(self))
        return fail(err, CLV_ERR_USAGE, "--sequence: has a mask for each slice; -o FOLDER takes them");
    return CLV_OK;
}

static enum clv_status extract(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread, (void)err;
    struct slices *self = context;
    const struct segment_run *run = self->job->run;
    struct loaded *loaded = &self->items[self->offset + index];
    struct clv_image image = {0};
    if (loaded->slice.example.row || loaded->status != CLV_OK)
        return CLV_OK;
    if (stop_requested(run->progress))
        return fail(err, CLV_ERR_INTERRUPTED, "interrupted");
    enum clv_status status = input_read_image(&image, &run->inputs->items[self->offset + index],
                                              &run->options->common.limits, &loaded->error);
    TRY(example_extract(&loaded->slice.example, &image, NULL, &run->model->recipe, &loaded->error));
    TRY(slice_look(&loaded->slice, &image, &run->model->recipe, &loaded->error));
    loaded->status = status;
    clv_image_release(&image);
    return status == CLV_ERR_MEMORY ? fail_memory(err) : CLV_OK;
}

/* Labels the n slices from `first` on. */
static enum clv_status label(struct slices *self, size_t first, size_t n, struct clv_error *err)
{
    const struct segment_run *run = self->job->run;
    const struct slice **slices = array_alloc(n, sizeof *slices);
    bool *is_apart = array_alloc(n, sizeof *is_apart);
    size_t n_nodes = 0;
    if (!slices || !is_apart) {
        array_free(slices);
        array_free(is_apart);
        return fail_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        struct loaded *loaded = &self->items[first + i];
        slices[i] = loaded->status == CLV_OK ? &loaded->slice : NULL;
        is_apart[i] = run->sequence->set.items[first + i].is_apart;
        self->first_node[first + i] = (int32_t)n_nodes;
        n_nodes += slices[i] ? (size_t)loaded->slice.example.problem.n_nodes : 0;
    }
    bool is_cut = refining_is_cut(run->model);
    enum clv_status status = CLV_OK;
    if (array_reserve((void **)&self->y, &self->node_capacity, n_nodes + 1, sizeof *self->y) ||
        (is_cut && array_reserve((void **)&self->margin, &self->margin_capacity, n_nodes + 1, sizeof *self->margin)))
        status = fail_memory(err);
    TRY_IF(!self->job->oracles[0], clv_oracle_new(&self->job->oracles[0], run->options->engine, err));
    const struct slice_window window = {slices, is_apart, n};
    TRY_IF(n_nodes,
           window_label(self->y, is_cut ? self->margin : NULL, &window, run->model, self->job->oracles[0], err));
    array_free(slices);
    array_free(is_apart);
    return status;
}

enum clv_status slices_take(struct work *work, const struct job *job, size_t index, struct clv_error *err)
{
    const struct slices *self = job->slices;
    const struct loaded *loaded = &self->items[index];
    const struct segment_run *run = job->run;
    size_t node = (size_t)self->first_node[index];
    if (loaded->status != CLV_OK) {
        *err = loaded->error;
        return loaded->status;
    }
    MUST(input_read_image(&work->image, work->input, &run->options->common.limits, err));
    work->width = work->image.width;
    work->height = work->image.height;
    work->labels = array_alloc((size_t)work->width, (size_t)work->height);
    if (!work->labels)
        return fail_memory(err);
    work->unmet = label_unmet_share(run->model, &loaded->slice.example.problem);
    return label_slice(work->labels, run->model, &work->image, &loaded->slice.example, self->y + node,
                       self->margin ? self->margin + node : NULL, segment_refines(run, work->width, work->height), err);
}

static enum clv_status work_slice(void *context, size_t index, int thread, struct clv_error *err)
{
    struct slices *self = context;
    return self->threads->one(self->threads, self->offset + index, thread, err);
}

/* The slices [first, end), whose own window is window k of the sequence's n slices. */
static enum clv_status do_window(struct slices *self, size_t k, size_t *next, struct clv_error *err)
{
    struct job *job = self->job;
    size_t size = (size_t)job->run->model->recipe.window, n = self->n < size ? self->n : size;
    size_t first = self->first + window_first(k, self->n, size),
           end = self->first + window_end_of_own(k, self->n, size);
    bool is_wanted = false;
    for (size_t i = *next; i < end; i++)
        is_wanted |= !job->run->outputs->items[i].finished;
    for (size_t i = self->first; i < first; i++)
        slice_release(&self->items[i].slice);
    self->offset = first;
    enum clv_status status = CLV_OK;
    TRY_IF(is_wanted, parallel_for(n, job->n_threads, extract, self, err));
    TRY_IF(is_wanted, label(self, first, n, err));
    self->offset = *next;
    TRY(parallel_for(end - *next, job->n_threads, work_slice, self, err));
    *next = end;
    return status;
}

enum clv_status slices_run(struct threads *threads, struct clv_error *err)
{
    struct job *job = threads->job;
    const struct clv_set *set = &job->run->sequence->set;
    size_t n = job->run->inputs->n, size = (size_t)job->run->model->recipe.window, next = 0;
    struct slices self = {.job = job,
                          .threads = threads,
                          .items = array_zalloc(n, sizeof *self.items),
                          .first_node = array_alloc(n, sizeof *self.first_node)};
    enum clv_status status = self.items && self.first_node ? CLV_OK : fail_memory(err);
    job->slices = &self;
    bool is_exact = refining_is_cut(job->run->model);
    for (size_t end; next < n && status == CLV_OK;) {
        self.first = next;
        const char *name = set->items[next].sequence;
        for (end = next + 1; end < n && (name ? set->items[end].sequence && !strcmp(name, set->items[end].sequence)
                                              : !set->items[end].sequence);)
            end++;
        self.n = end - next;
        is_exact &= self.n <= size;
        for (size_t k = 0; k < windows_count(self.n, size) && status == CLV_OK; k++)
            status = do_window(&self, k, &next, err);
        for (size_t i = self.first; i < end; i++)
            slice_release(&self.items[i].slice);
    }
    if (status == CLV_OK && !is_exact)
        console_note("windows of %zu slices: the labels are not exactly the best ones of a whole sequence", size);
    job->slices = NULL;
    array_free(self.items);
    array_free(self.first_node);
    array_free(self.y);
    array_free(self.margin);
    return status;
}
