/* Extracts the examples of a dataset's images. Threads and processes divide the items of a batch among them, and
 * examples are passed on in the order of the dataset, so that results do not depend on the number of threads and
 * processes. Processes exchange first the sizes of their examples, then the arrays (examples_share). If the recipe has
 * windows of slices, the slices of a window become one example. Start at extract_all and dataset_extract_boxed. */
#include "feature/dataset/dataset.h"

#include <string.h>

#include "base/base.h"
#include "cluster/comm.h"
#include "cluster/comm_for.h"
#include "data/data.h"
#include "feature/example/example.h"
#include "feature/recipe/recipe.h"

/* Sizes of an example, known before its arrays exist. */
struct example_sizes {
    int32_t n_nodes, n_edges, n_features, n_edge_features;
    int32_t width, height, working_width, working_height;
    struct clv_patch_grid grid;
    int64_t n_entries;
    bool has_label, has_counts, has_estimate;
};

/* Examples that processes extracted and exchange: each process sends its own to all others or to the first process. */
struct example_sharing {
    int32_t n_labels;
    struct clv_example *examples; /* [n]; at first each process has those that comm_for assigned to it */
    float **estimates;            /* [n] */
    struct example_sizes *sizes;  /* [n] */
};

static void example_measure(struct example_sizes *sizes, const struct clv_example *example, const float *estimate)
{
    const struct clv_problem *problem = &example->problem;
    *sizes = (struct example_sizes){
        .n_nodes = problem->n_nodes,
        .n_edges = problem->n_edges,
        .n_features = problem->n_features,
        .n_edge_features = problem->n_edge_features,
        .width = example->width,
        .height = example->height,
        .working_width = example->superpixels.width,
        .working_height = example->superpixels.height,
        .grid = example->grid,
        .n_entries = example->row[problem->n_nodes],
        .has_label = example->label,
        .has_counts = example->counts,
        .has_estimate = estimate,
    };
}

/* A comm_slot: the sizes of an example, which comm_for shares first. */
static bool example_sizes_slot(struct comm_piece *piece, struct example_sharing *self, size_t index, size_t k)
{
    *piece = (struct comm_piece){&self->sizes[index], sizeof *self->sizes};
    return k == 0;
}

enum { N_ARRAYS = 12 };

/* An array of an example: the address of its pointer, and its bytes, 0 if it is absent. */
struct shared_array {
    void **at;
    size_t size;
};

static void list_arrays(struct shared_array arrays[N_ARRAYS], struct example_sharing *self, size_t index)
{
    const struct example_sizes *sizes = &self->sizes[index];
    struct clv_example *example = &self->examples[index];
    size_t n = (size_t)sizes->n_nodes, m = (size_t)sizes->n_edges, k = (size_t)self->n_labels;
    size_t n_pixels = (size_t)sizes->working_width * (size_t)sizes->working_height;
    size_t counts = sizes->has_counts ? n * k * sizeof(float) : 0;
    const struct shared_array all[N_ARRAYS] = {
        {(void **)&example->row, (n + 1) * sizeof *example->row},
        {(void **)&example->index, (size_t)sizes->n_entries * sizeof *example->index},
        {(void **)&example->value, (size_t)sizes->n_entries * sizeof *example->value},
        {(void **)&example->edges, m * sizeof *example->edges},
        {(void **)&example->edge_features, m * (size_t)sizes->n_edge_features * sizeof *example->edge_features},
        {(void **)&example->area, n * sizeof *example->area},
        {(void **)&example->centroid, 2 * n * sizeof *example->centroid},
        {(void **)&example->label, sizes->has_label ? n * sizeof *example->label : 0},
        {(void **)&example->counts, counts},
        {(void **)&example->theta, counts},
        {(void **)&example->superpixels.labels, n_pixels * sizeof *example->superpixels.labels},
        {(void **)&self->estimates[index], sizes->has_estimate ? n * sizeof **self->estimates : 0},
    };
    for (int a = 0; a < N_ARRAYS; a++)
        arrays[a] = all[a];
}

static bool arrays_slot(struct comm_piece *piece, void *context, size_t index, size_t k)
{
    struct shared_array arrays[N_ARRAYS];
    list_arrays(arrays, context, index);
    if (k >= N_ARRAYS)
        return false;
    *piece = (struct comm_piece){*arrays[k].at, arrays[k].size};
    return true;
}

/* Allocates the arrays of an example that another process sends. */
static enum clv_status allocate_example(struct example_sharing *self, size_t index, struct clv_error *err)
{
    const struct example_sizes *sizes = &self->sizes[index];
    struct clv_example *example = &self->examples[index];
    struct shared_array arrays[N_ARRAYS];
    list_arrays(arrays, self, index);
    for (int a = 0; a < N_ARRAYS; a++) {
        bool is_wanted = arrays[a].size || arrays[a].at == (void **)&example->edges;
        if (is_wanted && !(*arrays[a].at = array_alloc(arrays[a].size, 1)))
            return fail_memory(err);
    }
    example->width = sizes->width;
    example->height = sizes->height;
    example->superpixels.n = sizes->n_nodes;
    example->superpixels.width = sizes->working_width;
    example->superpixels.height = sizes->working_height;
    example->grid = sizes->grid;
    example_problem(example, sizes->n_nodes, sizes->n_edges, sizes->n_features, sizes->n_edge_features);
    return CLV_OK;
}

static enum clv_status allocate_examples(struct example_sharing *self, size_t n, bool to_all, struct clv_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (!comm_does(i) && (to_all || !comm_rank()))
            MUST(allocate_example(self, i, err));
    return CLV_OK;
}

/* Shares examples[n] and their estimates. */
static enum clv_status examples_share(struct example_sharing *self, size_t n, bool to_all, struct clv_error *err)
{
    enum clv_status status = allocate_examples(self, n, to_all, err);
    MUST(comm_agree(status, err));
    return to_all ? comm_share(n, arrays_slot, self, err) : comm_collect(n, arrays_slot, self, err);
}

/* Items of a batch for each thread. They are enough that threads seldom wait for the slowest image, and few enough to
 * bound memory: an example takes about 2 MB at the default working size. */
#define BATCH_PER_THREAD 8

/* Processes may have different numbers of threads, so a batch has a number of items for each process, but at most
 * BATCH_OF_TEAM for all of them. */
enum { BATCH_PER_MEMBER = 32, BATCH_OF_TEAM = 512, BATCH_AT_LEAST = 2 };

struct batch {
    const struct clv_set *set;
    const struct extract_options *how;
    bool is_mirrored;           /* all images and masks are mirrored */
    size_t first, n_total;      /* index of the batch's first item; items in all batches */
    struct example_sharing all; /* of this batch; each estimate is [n_nodes] or NULL */
    size_t capacity;            /* of the arrays of `all` */
    size_t n_done;              /* over all batches; counted by parallel_progress */
};

/* Mirrors each row of an image with `bytes` bytes per pixel, in place. */
static void mirror(uint8_t *pixels, int32_t width, int32_t height, size_t bytes)
{
    for (int32_t y = 0; y < height; y++) {
        uint8_t *left = pixels + (size_t)y * (size_t)width * bytes, *right = left + (size_t)(width - 1) * bytes;
        for (; left < right; left += bytes, right -= bytes)
            for (size_t b = 0; b < bytes; b++) {
                uint8_t kept = left[b];
                left[b] = right[b];
                right[b] = kept;
            }
    }
}

/* Reads the item's mask and sets the example's truth. */
static enum clv_status read_truth(struct clv_example *example, const struct clv_item *item, const struct batch *batch,
                                  struct clv_error *err)
{
    OWNED(clv_mask_release) struct clv_mask mask = {0};
    const struct clv_labels *labels = &batch->set->labels;
    const struct mask_wanted wanted = {example->width, example->height, batch->how->limits};
    MUST(item_mask_read(&mask, item, labels, &wanted, err));
    if (batch->is_mirrored)
        mirror(mask.labels, mask.width, mask.height, 1);
    enum clv_status status = clv_example_set_truth(example, &mask, labels->n_labels, err);
    return status ? fail_within(err, status, item->mask) : CLV_OK;
}

/* Removes the truth if all pixels are void, so that the example is the same in memory and in a feature file. */
static void drop_void_truth(struct clv_example *example, int32_t n_labels)
{
    size_t n = (size_t)example->problem.n_nodes * (size_t)n_labels;
    for (size_t i = 0; i < n; i++)
        if (example->counts[i] > 0)
            return;
    arrays_free(example->counts, example->theta, example->label);
    example->counts = example->theta = NULL;
    example->label = NULL;
    example->problem.theta = NULL;
    example->problem.label = NULL;
}

/* Estimates the foreground from the boxes and computes its mean over each node's pixels: estimate[n_nodes]. */
static enum clv_status estimate_foreground(float **estimate, const struct extract_options *how,
                                           const struct item_boxes *boxes, const struct clv_example *example,
                                           const struct clv_image *image, struct clv_error *err)
{
    OWNED_ARRAY float *foreground = array_alloc((size_t)image->width, (size_t)image->height * sizeof *foreground);
    OWNED_ARRAY float *mean = array_alloc((size_t)example->problem.n_nodes, sizeof *mean);
    NEED(foreground && mean);
    MUST(how->estimate(foreground, image, boxes, err));
    MUST(example_mean(mean, example, foreground, err));
    *estimate = TAKE(mean);
    return CLV_OK;
}

static enum clv_status extract_by_maps(struct clv_example *example, const struct clv_image *image,
                                       const struct batch *batch, const struct clv_item *item, struct clv_error *err)
{
    const struct extract_options *how = batch->how;
    struct map_reader *maps;
    MUST(item_maps_open(&maps, how->recipe, batch->set, item, how->limits, err));
    enum clv_status status = example_extract(example, image, maps, how->recipe, err);
    item_maps_close(maps, how->recipe);
    return status ? fail_within(err, status, item->image) : CLV_OK;
}

/* Makes the example of an image. Releases the image before the mask is read, to save memory. */
static enum clv_status make_example(struct batch *batch, size_t index, struct clv_image *image, struct clv_error *err)
{
    const struct extract_options *how = batch->how;
    struct clv_example *example = &batch->all.examples[index];
    const struct clv_item *item = &batch->set->items[batch->first + index];
    const struct item_boxes *boxes = how->boxes ? &how->boxes[batch->first + index] : NULL;
    bool has_boxes = boxes && boxes->boxes;
    MUST(extract_by_maps(example, image, batch, item, err));
    if (has_boxes && how->estimate)
        MUST(estimate_foreground(&batch->all.estimates[index], how, boxes, example, image, err));
    clv_image_release(image);
    if (item->mask) {
        MUST(read_truth(example, item, batch, err));
        drop_void_truth(example, batch->set->labels.n_labels);
    } else if (has_boxes) {
        MUST(clv_example_set_boxes(example, boxes->boxes, boxes->n_boxes + boxes->n_voids, err));
    }
    example_measure(&batch->all.sizes[index], example, batch->all.estimates[index]);
    return CLV_OK;
}

static enum clv_status extract_item(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    struct batch *batch = context;
    const struct extract_options *how = batch->how;
    const struct clv_item *item = &batch->set->items[batch->first + index];
    OWNED(clv_image_release) struct clv_image image = {0};
    FAIL_IF(stop_requested(how->progress), CLV_ERR_INTERRUPTED, "interrupted");
    MUST(item_image_read(&image, item, how->limits, err));
    if (batch->is_mirrored)
        mirror(image.pixels, image.width, image.height, 3);
    enum clv_status status = make_example(batch, index, &image, err);
    parallel_progress(how->progress, "extracting features", &batch->n_done, batch->n_total, item->name);
    return status;
}

static bool sizes_slot(struct comm_piece *piece, void *context, size_t index, size_t k)
{
    struct batch *batch = context;
    return example_sizes_slot(piece, &batch->all, index, k);
}

static size_t choose_capacity(int n_threads)
{
    size_t size = (size_t)comm_size(), each = BATCH_OF_TEAM / size;
    if (size == 1)
        return (size_t)n_threads * BATCH_PER_THREAD;
    each = each > BATCH_PER_MEMBER ? BATCH_PER_MEMBER : each < BATCH_AT_LEAST ? BATCH_AT_LEAST : each;
    return each * size;
}

/* Extracts the items [first, first + n) in all processes. */
static enum clv_status extract_batch(struct batch *batch, size_t n, int n_threads, enum extract_share share,
                                     struct clv_error *err)
{
    MUST(comm_for(n, n_threads, extract_item, sizes_slot, batch, err));
    return examples_share(&batch->all, n, share == EXTRACT_TO_ALL, err);
}

/* Passes the batch's n examples on to `take`, or drops them if it is NULL. */
static enum clv_status take_batch(struct batch *batch, size_t n, take_example *take, void *context,
                                  struct clv_error *err)
{
    struct example_sharing *all = &batch->all;
    for (size_t i = 0; i < n; i++) {
        if (take)
            MUST(take(context, &all->examples[i], &batch->set->items[batch->first + i], all->estimates[i], err));
        clv_example_release(&all->examples[i]);
        array_free(all->estimates[i]);
        all->estimates[i] = NULL;
    }
    return CLV_OK;
}

static void batch_release(struct batch *batch)
{
    struct example_sharing *all = &batch->all;
    for (size_t i = 0; i < batch->capacity; i++) {
        clv_example_release(&all->examples[i]);
        array_free(all->estimates[i]);
    }
    arrays_free(all->examples, all->estimates, all->sizes);
}

/* Extracts all items batch by batch. The caller sets the batch's set and options, and releases it. */
static enum clv_status extract_all(struct batch *batch, enum extract_share share, take_example *take, void *context,
                                   struct clv_error *err)
{
    size_t n_all = batch->set->n_items;
    int n_threads = parallel_threads(batch->how->n_threads);
    size_t capacity = choose_capacity(n_threads);
    struct example_sharing *all = &batch->all;
    bool takes = share == EXTRACT_TO_ALL || !comm_rank();
    all->n_labels = batch->set->labels.n_labels;
    all->examples = array_zalloc(capacity, sizeof *all->examples);
    all->estimates = array_zalloc(capacity, sizeof *all->estimates);
    all->sizes = array_alloc(capacity, sizeof *all->sizes);
    NEED(all->examples && all->estimates && all->sizes);
    batch->capacity = capacity;
    batch->n_total = n_all;
    for (batch->first = 0; batch->first < n_all; batch->first += capacity) {
        size_t left = n_all - batch->first, n = left < capacity ? left : capacity;
        MUST(extract_batch(batch, n, n_threads, share, err));
        batch->n_done = batch->first + n;
        MUST(take_batch(batch, n, takes ? take : NULL, context, err));
    }
    return CLV_OK;
}

enum clv_status extract_set(const struct clv_set *set, const struct extract_options *how, enum extract_share share,
                            take_example *take, void *context, struct clv_error *err)
{
    OWNED(batch_release) struct batch batch = {.set = set, .how = how};
    return extract_all(&batch, share, take, context, err);
}

/* The dataset that is built, and the open window of slices. */
struct extract_state {
    struct clv_dataset *dataset, *privileged; /* privileged NULL: not needed */
    const struct item_boxes *boxes;           /* of the next item */
    struct stack stack;                       /* slices of the open window */
    const struct clv_item *first;             /* its first slice; NULL: no window is open */
    size_t first_slice;                       /* the index of that slice in the set */
    const size_t *begins; /* [slices], from the next one: 1 + the first item of a window that begins there, or 0 */
    struct slice before;  /* superpixels and pixels of the slice added last */
    const struct clv_image_limits *limits;
};

static void extract_state_release(struct extract_state *self)
{
    clv_dataset_free(self->dataset);
    clv_dataset_free(self->privileged);
    stack_release(&self->stack);
    slice_release(&self->before);
}

static enum clv_status take(struct extract_state *self, struct clv_example *example, const struct clv_item *item,
                            struct clv_error *err)
{
    MUST(dataset_take(self->dataset, example, item->name, err));
    if (item->sequence)
        self->dataset->items[self->dataset->n - 1].sequence =
            hash_bytes(HASH_START, item->sequence, strlen(item->sequence));
    return CLV_OK;
}

/* Makes one example of the slices collected so far. */
static enum clv_status end_window(struct extract_state *self, struct clv_error *err)
{
    OWNED(clv_example_release) struct clv_example window = {0};
    const struct region_graph *graph = &self->stack.graph;
    const struct clv_item *first = self->first;
    if (!first)
        return CLV_OK;
    size_t n_slices = (size_t)graph->n_patches;
    OWNED_ARRAY int32_t *first_node = array_copy(graph->first_node, n_slices + 1, sizeof *first_node);
    NEED(first_node);
    self->first = NULL;
    MUST(stack_take(&window, &self->stack, err));
    drop_void_truth(&window, self->dataset->n_labels);
    MUST(take(self, &window, first, err));
    struct dataset_item *item = &self->dataset->items[self->dataset->n - 1];
    item->first_node = TAKE(first_node);
    item->first_slice = self->first_slice;
    item->n_slices = n_slices;
    return CLV_OK;
}

/* Decides which windows cross-validation holds out together: all windows of a sequence if there are several sequences,
 * otherwise each window alone. */
static void finish_windows(struct clv_dataset *dataset)
{
    bool has_several = false;
    dataset->has_windows = true;
    for (size_t i = 1; i < dataset->n; i++)
        has_several |= dataset->items[i].sequence != dataset->items[0].sequence;
    for (size_t i = 0; i < dataset->n && !has_several; i++)
        dataset->items[i].sequence = 0;
}

static bool is_followed(const struct clv_item *items, size_t i)
{
    const char *a = items[i].sequence, *b = items[i + 1].sequence;
    return !items[i + 1].is_apart && !strcmp(a ? a : "", b ? b : "");
}

/* Places windows of up to `size` slices on the successive items[at, end). A window begins at or before the first mask
 * that is in no window, so that its masks are in its middle. Its slices are appended to `slices`. */
static void lay_windows(struct clv_set *slices, size_t *begins, const struct clv_item *items, size_t at, size_t end,
                        size_t size)
{
    for (size_t m = at; m < end;) {
        size_t last = m, before = m - at;
        if (!items[m].mask) {
            m++;
            continue;
        }
        for (size_t k = m; k < end && k < m + size; k++)
            last = items[k].mask ? k : last;
        size_t shift = (size - (last + 1 - m)) / 2, beyond = m + size > end ? m + size - end : 0;
        shift = shift > beyond ? shift : beyond;
        size_t first = m - (shift < before ? shift : before);
        for (at = first; at < end && at < first + size; at++) {
            begins[slices->n_items] = at == first ? at + 1 : 0;
            slices->items[slices->n_items++] = items[at];
        }
        m = at;
    }
}

/* Chooses the slices of all windows, as views of the set's items, and which of them begin a window. */
static enum clv_status choose_slices(struct clv_set *slices, size_t **begins, const struct clv_set *set, size_t size,
                                     const struct clv_progress *progress, struct clv_error *err)
{
    *slices = *set;
    slices->n_items = 0;
    slices->items = array_alloc(set->n_items, sizeof *slices->items);
    *begins = array_alloc(set->n_items, sizeof **begins);
    NEED(slices->items && *begins);
    for (size_t at = 0, end; at < set->n_items; at = end) {
        for (end = at + 1; end < set->n_items && is_followed(set->items, end - 1);)
            end++;
        lay_windows(slices, *begins, set->items, at, end, size);
    }
    if (slices->n_items < set->n_items)
        report_message(progress, CLV_NOTE, "%zu of %zu slices are in no window of %zu with a mask",
                       set->n_items - slices->n_items, set->n_items, size);
    return CLV_OK;
}

/* The size of an image, 0x0 if it cannot be read. Reading its pixels then fails with a message. */
struct sides {
    int32_t width, height;
};

static bool are_same(struct sides a, struct sides b)
{
    return a.width == b.width && a.height == b.height;
}

/* Fails because slices `first` and `at` of a window differ in size. Names the one that differs from the most frequent
 * size of its sequence. */
static enum clv_status fail_sides(const struct clv_set *slices, const struct sides *sides, size_t first, size_t at,
                                  struct clv_error *err)
{
    const char *name = slices->items[first].sequence ? slices->items[first].sequence : "";
    size_t n_most = 0, most = first;
    for (size_t i = 0; i < slices->n_items; i++) {
        const char *other = slices->items[i].sequence ? slices->items[i].sequence : "";
        size_t n = 0;
        for (size_t k = 0; k < slices->n_items && strcmp(name, other) == 0; k++)
            n += are_same(sides[i], sides[k]);
        if (n > n_most && sides[i].width) {
            n_most = n;
            most = i;
        }
    }
    size_t odd = are_same(sides[at], sides[most]) ? first : at;
    return fail(err, CLV_ERR_DATA, "%s: %dx%d pixels, most slices of its sequence have %dx%d", slices->items[odd].image,
                sides[odd].width, sides[odd].height, sides[most].width, sides[most].height);
}

/* Checks the sizes of slices from their files' headers before pixels are read, so that the message names the slice that
 * differs, not the one after it. */
static enum clv_status check_sides(const struct clv_set *slices, const size_t *begins,
                                   const struct clv_image_limits *limits, struct clv_error *err)
{
    OWNED_ARRAY struct sides *sides = array_zalloc(slices->n_items, sizeof *sides);
    struct clv_error ignored;
    NEED(sides);
    for (size_t i = 0; i < slices->n_items; i++)
        if (item_image_size(&sides[i].width, &sides[i].height, &slices->items[i], limits, &ignored) != CLV_OK)
            sides[i] = (struct sides){0, 0};
    for (size_t i = 0, first = 0; i < slices->n_items; i++) {
        first = begins[i] || !sides[first].width ? i : first;
        if (sides[i].width && !are_same(sides[i], sides[first]))
            return fail_sides(slices, sides, first, i, err);
    }
    return CLV_OK;
}

static enum clv_status add_slice(struct extract_state *self, struct slice *now, const struct clv_item *item,
                                 struct clv_error *err)
{
    OWNED(clv_image_release) struct clv_image image = {0};
    MUST(item_image_read(&image, item, self->limits, err));
    MUST(slice_set_pixels(now, &image, self->stack.at.recipe, err));
    return stack_add(&self->stack, now, self->first ? &self->before : NULL, err);
}

/* Adds a slice to the open window, or begins a new window with it. */
static enum clv_status keep_slice(struct extract_state *self, struct clv_example *slice, const struct clv_item *item,
                                  struct clv_error *err)
{
    size_t begins = *self->begins++;
    if (begins) {
        MUST(end_window(self, err));
        self->first_slice = begins - 1;
    }
    struct slice now = {.example = *slice}; /* a view, except pixels and motion */
    enum clv_status status = add_slice(self, &now, item, err);
    array_free(now.motion);
    slice_release(&self->before);
    self->before.pixels = now.pixels;
    if (status)
        return fail_within(err, status, item->image);
    self->before.example =
        (struct clv_example){.superpixels = slice->superpixels, .width = slice->width, .height = slice->height};
    slice->superpixels = (struct clv_superpixels){0};
    self->first = self->first ? self->first : item;
    return CLV_OK;
}

static enum clv_status keep(void *context, struct clv_example *example, const struct clv_item *item,
                            const float *estimate, struct clv_error *err)
{
    struct extract_state *self = context;
    if (self->stack.at.recipe)
        return keep_slice(self, example, item, err);
    if (self->privileged)
        MUST(privileged_add(self->privileged, example, self->boxes++, estimate, item->name, err));
    return take(self, example, item, err);
}

enum clv_status dataset_add_mirrored(struct clv_dataset *dataset, const struct clv_set *set,
                                     const struct extract_options *how, struct clv_error *err)
{
    struct extract_state state = {.dataset = dataset}; /* a view */
    OWNED(batch_release) struct batch batch = {.set = set, .how = how, .is_mirrored = true};
    FAIL_IF(how->recipe->n_maps || dataset->n != set->n_items, CLV_ERR_USAGE,
            "mirror images: not of maps, nor of a part of the images");
    MUST(dataset_check_memory(set, how->recipe, how->limits, err));
    MUST(extract_all(&batch, EXTRACT_TO_ALL, keep, &state, err));
    dataset->n_mirrored = dataset->n - set->n_items;
    return CLV_OK;
}

enum clv_status clv_dataset_extract(struct clv_dataset **dataset, const struct clv_set *set,
                                    const struct clv_recipe *recipe, int n_threads,
                                    const struct clv_image_limits *limits, const struct clv_progress *progress,
                                    struct clv_error *err)
{
    const struct extract_options how = {
        .recipe = recipe, .n_threads = n_threads, .limits = limits, .progress = progress};
    return dataset_extract_boxed(dataset, NULL, set, &how, err);
}

static void slices_release(struct clv_set *slices)
{
    array_free(slices->items); /* all other members are views */
}

enum clv_status dataset_extract_boxed(struct clv_dataset **dataset, struct clv_dataset **privileged,
                                      const struct clv_set *set, const struct extract_options *how,
                                      struct clv_error *err)
{
    const struct clv_recipe *recipe = how->recipe;
    const struct item_boxes *boxes = how->boxes;
    OWNED(slices_release) struct clv_set slices = {0};
    OWNED_ARRAY size_t *begins = NULL;
    OWNED(extract_state_release) struct extract_state state = {.boxes = boxes, .limits = how->limits};
    FAIL_IF(boxes && set->labels.n_labels != 2, CLV_ERR_USAGE,
            "boxes take two labels, foreground and background, not %d", set->labels.n_labels);
    *dataset = NULL;
    MUST(dataset_check_memory(set, recipe, how->limits, err));
    MUST(clv_dataset_new(&state.dataset, set->labels.n_labels, err));
    if (boxes && privileged)
        MUST(clv_dataset_new(&state.privileged, set->labels.n_labels, err));
    MUST(clv_labels_copy(&state.dataset->labels, &set->labels, err));
    /* Thin structures move from slice to slice. One coupling for all labels would smooth them away; use full tables. */
    if (recipe->nodes == CLV_NODES_PATCHES || (recipe->window && set->labels.n_labels > 2))
        state.dataset->pairwise = CLV_PAIRWISE_FULL;
    if (recipe->window) {
        stack_init(&state.stack, recipe, set->labels.n_labels);
        MUST(choose_slices(&slices, &begins, set, (size_t)recipe->window, how->progress, err));
        MUST(check_sides(&slices, begins, how->limits, err));
        state.begins = begins;
    }
    MUST(extract_set(recipe->window ? &slices : set, how, EXTRACT_TO_ALL, keep, &state, err));
    MUST(end_window(&state, err));
    if (recipe->window)
        finish_windows(state.dataset);
    *dataset = TAKE(state.dataset);
    if (privileged)
        *privileged = TAKE(state.privileged);
    return CLV_OK;
}
