/* Labels a sequence window by window: extracts the slices of a window in parallel, labels (or scores) its nodes
 * jointly, and lets `one` paint the slices that are nearer to its middle than to that of any other window. Start at
 * do_window. */
#include "sequence/sequence.h"

#include <malloc.h>

#include "base/base.h"
#include "learn/refining/refining.h"
#include "model/model.h"
#include "refine/by_model/by_model.h"

/* A slice of the sequence. It has no nodes before it is read, if it cannot be read, and after its windows. */
struct loaded {
    struct slice slice;
    enum clv_status status;
    struct clv_error error;
    size_t first_node; /* index in y */
};

static enum clv_status slice_read(struct slices *self, size_t index, struct clv_image *image, struct clv_error *err)
{
    struct slice *slice = &self->loaded[index].slice;
    MUST(self->read(self->context, index, image, err));
    MUST(example_extract(&slice->example, image, NULL, &self->model->recipe, err));
    return slice_set_pixels(slice, image, &self->model->recipe, err);
}

static enum clv_status extract(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    struct slices *self = context;
    struct loaded *loaded = &self->loaded[self->offset + index];
    struct clv_image image = {0};
    if (loaded->slice.example.row || loaded->status != CLV_OK)
        return CLV_OK;
    FAIL_IF(stop_requested(self->progress), CLV_ERR_INTERRUPTED, "interrupted");
    loaded->status = slice_read(self, self->offset + index, &image, &loaded->error);
    if (!self->are_views)
        clv_image_release(&image);
    return loaded->status == CLV_ERR_MEMORY ? fail_memory(err) : CLV_OK;
}

/* Checks the size of a slice. A slice of another size than the first fails and is missing; the others continue. */
static void check_size(struct slices *self, struct loaded *loaded)
{
    const struct clv_example *example = &loaded->slice.example;
    if (!self->width) {
        self->width = example->width;
        self->height = example->height;
    }
    if (example->width != self->width || example->height != self->height)
        loaded->status = fail(&loaded->error, CLV_ERR_DATA, "%dx%d pixels, the first slice has %dx%d", example->width,
                              example->height, self->width, self->height);
}

/* Labels or scores n slices jointly, from `first`. */
static enum clv_status label_slices(struct slices *self, size_t first, size_t n, struct clv_error *err)
{
    OWNED_ARRAY struct slice **slices = array_alloc(n, sizeof *slices);
    OWNED_ARRAY bool *is_apart = array_zalloc(n, sizeof *is_apart);
    bool is_cut = !self->score && refining_is_cut(self->model), has_values = self->is_by_net || self->score;
    size_t n_nodes = 0, n_labels = (size_t)self->model->layout.n_labels;
    NEED(slices && is_apart);
    for (size_t i = 0; i < n; i++) {
        struct loaded *loaded = &self->loaded[first + i];
        if (loaded->status == CLV_OK)
            check_size(self, loaded);
        slices[i] = loaded->status == CLV_OK ? &loaded->slice : NULL;
        is_apart[i] = self->items && self->items[first + i].is_apart;
        loaded->first_node = n_nodes;
        n_nodes += slices[i] ? (size_t)loaded->slice.example.problem.n_nodes : 0;
    }
    if (array_reserve((void **)&self->y, &self->node_capacity, n_nodes + 1, sizeof *self->y) ||
        (is_cut && array_reserve((void **)&self->margin, &self->margin_capacity, n_nodes + 1, sizeof *self->margin)) ||
        (has_values && array_reserve((void **)&self->marginals, &self->marginal_capacity, n_nodes + 1,
                                     n_labels * sizeof *self->marginals)))
        return fail_memory(err);
    const struct slice_window window = {slices, is_apart, n};
    if (n_nodes && self->score)
        return window_score(self->marginals, self->score, self->context, &window, self->model, self->oracle, err);
    if (n_nodes)
        MUST(window_label(self->is_by_net ? NULL : self->y, is_cut ? self->margin : NULL,
                          self->is_by_net ? self->marginals : NULL, &window, self->model, self->oracle, err));
    return CLV_OK;
}

enum clv_status slices_paint(uint8_t *labels, const struct slices *self, size_t index, const struct clv_image *image,
                             bool refines, struct clv_error *err)
{
    const struct loaded *loaded = &self->loaded[index];
    const struct clv_example *slice = &loaded->slice.example;
    const int32_t *y = self->y + loaded->first_node;
    if (loaded->status != CLV_OK)
        return fail_as(err, loaded->status, &loaded->error);
    if (!self->is_by_net)
        MUST(labelled_image_paint(labels, slice, y, self->model->layout.n_labels, err));
    if (!refines)
        return CLV_OK;
    const struct segmented segmented = {
        .image = image,
        .example = slice,
        .y = y,
        .painted = labels,
        .model = self->model,
        .margin = self->margin ? self->margin + loaded->first_node : NULL,
        .marginals =
            self->marginals ? self->marginals + loaded->first_node * (size_t)self->model->layout.n_labels : NULL};
    return segmented_refine(labels, &segmented, NULL, err);
}

const struct clv_problem *slices_problem(const struct slices *self, size_t index)
{
    return &self->loaded[index].slice.example.problem;
}

enum clv_status slices_values(const struct clv_example **slice, const double **values, const struct slices *self,
                              size_t index, struct clv_error *err)
{
    const struct loaded *loaded = &self->loaded[index];
    if (loaded->status != CLV_OK)
        return fail_as(err, loaded->status, &loaded->error);
    *slice = &loaded->slice.example;
    *values = self->marginals + loaded->first_node * (size_t)self->model->layout.n_labels;
    return CLV_OK;
}

static enum clv_status do_one(void *context, size_t index, int thread, struct clv_error *err)
{
    struct slices *self = context;
    return self->one(self->context, self->offset + index, thread, err);
}

/* Labels the slices from *next on that are nearer to the middle of window k than to that of any other window. */
static enum clv_status do_window(struct slices *self, size_t k, size_t *next, struct clv_error *err)
{
    size_t size = (size_t)self->model->recipe.window, n = self->n < size ? self->n : size;
    size_t first = window_first(k, self->n, size), end = window_end_of_own(k, self->n, size);
    bool is_wanted = false;
    for (size_t i = *next; i < end; i++)
        is_wanted |= self->is_wanted(self->context, i);
    for (size_t i = 0; i < first; i++)
        slice_release(&self->loaded[i].slice);
    self->offset = first;
    if (is_wanted)
        MUST(parallel_for(n, self->n_threads, extract, self, err));
    malloc_trim(0); /* blocks of a window seldom fit into the freed blocks of the window before */
    if (is_wanted)
        MUST(label_slices(self, first, n, err));
    self->offset = *next;
    MUST(parallel_for(end - *next, self->n_threads, do_one, self, err));
    *next = end;
    return CLV_OK;
}

static enum clv_status label_windows(struct slices *self, struct clv_error *err)
{
    size_t size = (size_t)self->model->recipe.window, next = 0;
    self->loaded = array_zalloc(self->n, sizeof *self->loaded);
    NEED(self->loaded);
    MUST(clv_oracle_new(&self->oracle, self->engine, err));
    for (size_t k = 0; k < windows_count(self->n, size); k++)
        MUST(do_window(self, k, &next, err));
    return CLV_OK;
}

enum clv_status slices_label(struct slices *self, struct clv_error *err)
{
    enum clv_status status = label_windows(self, err);
    for (size_t i = 0; self->loaded && i < self->n; i++)
        slice_release(&self->loaded[i].slice);
    clv_oracle_free(self->oracle);
    arrays_free(self->loaded, self->y, self->margin, self->marginals);
    return status;
}
