/* Propagates given masks to the other frames of each sequence, without a model. Each thread processes chains of frames,
 * which begin at a given mask and go forwards or backwards. A frame's files are written as soon as it has labels. Start
 * at propagate_chain; the method is in src/sequence/propagate.c. */
#include <string.h>

#include "base/base.h"
#include "batch/batch.h"
#include "batch/by_sequence.h"
#include "data/data.h"
#include "intake/intake.h"
#include "masks/masks.h"
#include "sequence/sequence.h"

#define BYTES_PER_PIXEL  96  /* of a frame, for two images, the bytes of their files, labels and a cut */
#define BYTES_PER_WORKED 512 /* per pixel of the working size */

/* The frame that a thread has labelled last. */
struct labelled_frame {
    const struct clv_image *image;
    const uint8_t *labels;
};

struct by_propagating {
    struct clv_set set; /* all frames, also those that are not wanted */
    struct chains chains;
    size_t *input_of;                /* [set.n_items] index of the input of a wanted frame */
    struct labelled_frame *labelled; /* [n_threads] */
};

/* Whether a mask of the frame is wanted; *index is then that of its input. */
static bool is_wanted(size_t *index, const struct by_propagating *self, size_t frame)
{
    const size_t item = self->chains.frames[frame];
    *index = self->input_of[item];
    return self->chains.is_wanted[item];
}

/* Adds the wanted frames as inputs. */
static enum clv_status add_inputs(struct by_propagating *self, struct batch *run, struct clv_error *err)
{
    struct clv_set wanted = self->set; /* views of the items */
    size_t index;
    OWNED_ARRAY struct clv_item *items = array_alloc(self->set.n_items, sizeof *items);
    self->input_of = array_zalloc(self->set.n_items, sizeof *self->input_of);
    NEED(items && self->input_of);
    wanted.items = items;
    wanted.n_items = 0;
    for (size_t i = 0; i < self->set.n_items; i++)
        if (self->chains.is_wanted[i]) {
            self->input_of[i] = wanted.n_items;
            items[wanted.n_items++] = self->set.items[i];
        }
    MUST(inputs_add_set(&run->inputs, &wanted, set_common_folder(&self->set), err));
    for (size_t frame = 0; frame < self->set.n_items; frame++)
        if (is_wanted(&index, self, frame))
            run->inputs.items[index].frame = frame;
    return CLV_OK;
}

void sequence_note_gaps(const struct batch *run, const struct sequence_gaps *gaps)
{
    if (gaps->n)
        report_message(&run->progress, CLV_NOTE, "%s: numbers of frames are missing in %s, first between %s and %s",
                       run->options.data, n_of(gaps->n, "place", "places").text, gaps->before[0], gaps->before[1]);
}

/* Fails if a split that the options name does not exist. */
static enum clv_status check_splits(const struct clv_files_options *options, struct clv_error *err)
{
    const char *const lists[] = {options->from_split, options->split};
    for (size_t k = 0; k < 2; k++) {
        OWNED(clv_set_release) struct clv_set chosen = {.n_items = 0};
        if (!lists[k])
            continue;
        MUST(clv_set_read(&chosen, options->data, err));
        MUST(clv_set_select(&chosen, lists[k], err));
    }
    return CLV_OK;
}

static enum clv_status open_sequences(struct batch *run, struct clv_error *err)
{
    const struct clv_files_options *options = &run->options;
    struct by_propagating *self = array_zalloc(1, sizeof *self);
    NEED(run->state = self);
    NEED(self->labelled = array_zalloc((size_t)run->n_threads, sizeof *self->labelled));
    MUST(clv_set_read(&self->set, options->data, err));
    training_set_note_reading(&self->set, options->data, &run->progress);
    MUST(outputs_spare_set(&run->to.outputs, &self->set, options->data, err));
    MUST(check_splits(options, err));
    const size_t n = self->set.n_items;
    FAIL_IF(self->set.labels.n_labels > 2, CLV_ERR_DATA,
            "%s: masks of two labels are propagated, background and foreground; this dataset has %d labels",
            options->data, self->set.labels.n_labels);
    size_t n_masks = 0;
    for (size_t i = 0; i < n; i++)
        n_masks += self->set.items[i].mask != NULL;
    FAIL_IF(!n_masks && n > 1, CLV_ERR_DATA,
            "%s: none of the %zu frames has a mask; propagate FOLDER needs FOLDER/images and FOLDER/masks, with a mask "
            "of at least one frame",
            options->data, n);
    MUST(clv_labels_copy(&run->labels, &self->set.labels, err));
    MUST(chains_find(&self->chains, &self->set, options->from_split, options->split, err));
    FAIL_IF(!self->chains.n_wanted, CLV_ERR_NO_INPUT,
            "%s: nothing to propagate: none of its %s is without a mask while another has one", options->data,
            n_of(n, "frame", "frames").text);
    sequence_note_gaps(run, &self->chains.gaps);
    MUST(add_inputs(self, run, err));
    run->given = (struct given_frames){&self->set, self->chains.is_given};
    run->frames = self->set.items;
    run->n_frames = n;
    run->is_one_sequence = self->chains.n_sequences == 1 || sequences_are_of_one_file(self->set.items, n);
    return CLV_OK;
}

/* Context of the callbacks of propagate_along. */
struct chain_context {
    struct batch *run;
    struct by_propagating *self;
    int thread;
};

static const struct clv_item *frame_of(const struct by_propagating *self, size_t frame)
{
    return &self->set.items[self->chains.frames[frame]];
}

static enum clv_status read_frame(void *context, size_t frame, struct clv_image *image, struct clv_error *err)
{
    const struct chain_context *work = context;
    return item_image_read(image, frame_of(work->self, frame), &work->run->options.limits, err);
}

static enum clv_status read_given(void *context, size_t frame, const struct clv_image *image, struct clv_mask *mask,
                                  struct clv_error *err)
{
    const struct chain_context *work = context;
    const struct clv_image_limits *limits = &work->run->options.limits;
    const struct mask_wanted wanted = {image->width, image->height, limits};
    const enum clv_status status = item_mask_read(mask, frame_of(work->self, frame), &work->run->labels, &wanted, err);
    return status == CLV_ERR_DATA ? fail_mask(&work->self->set, work->run->options.data, NULL, limits, err) : status;
}

static enum clv_status take_frame(void *context, size_t frame, const struct clv_image *image, const uint8_t *labels,
                                  struct clv_error *err)
{
    const struct chain_context *work = context;
    size_t index;
    if (!is_wanted(&index, work->self, frame))
        return CLV_OK;
    work->self->labelled[work->thread] = (struct labelled_frame){image, labels};
    return run_item(work->run, index, SIZE_MAX, work->thread, err);
}

static const char *name_frame(void *context, size_t frame)
{
    return frame_of(((const struct chain_context *)context)->self, frame)->image;
}

/* Copies the labels of the thread's frame, and its image if pixels are needed. */
static enum clv_status label_frame(struct labelled *item, struct batch *run, size_t index, int thread,
                                   struct clv_error *err)
{
    const struct by_propagating *self = run->state;
    const struct clv_image *image = self->labelled[thread].image;
    (void)index;
    item->width = image->width;
    item->height = image->height;
    NEED(item->labels = array_copy(self->labelled[thread].labels, (size_t)image->width * (size_t)image->height, 1));
    if (!batch_needs_pixels(run))
        return CLV_OK;
    MUST(clv_image_new(&item->image, image->width, image->height, image->channels, err));
    memcpy(item->image.pixels, image->pixels, (size_t)image->width * (size_t)image->height * (size_t)image->channels);
    return CLV_OK;
}

static double bytes_of_frame(const struct batch *run, const struct input *input, int32_t width, int32_t height,
                             double file_size)
{
    struct memory_work work = {.model = NULL};
    (void)input;
    memory_take_files(&work, run);
    return (double)BYTES_PER_PIXEL * width * height + (double)BYTES_PER_WORKED * FRAME_PIXELS +
           memory_of_work(&work, width, height, file_size);
}

static double bytes_of_chain(const struct batch *run, const struct chain *chain)
{
    const struct by_propagating *self = run->state;
    int32_t width, height;
    struct clv_error ignored; /* reported when the file is read */
    if (item_image_size(&width, &height, frame_of(self, chain->first), &run->options.limits, &ignored) != CLV_OK)
        return 0;
    return item_bytes(run, width, height) + bytes_of_frame(run, NULL, width, height, 0);
}

/* Processes the frames of a chain whose masks all exist: writes the files that are missing beside the masks. */
static enum clv_status finish_chain(const struct chain_context *work, const struct chain *chain, struct clv_error *err)
{
    size_t index;
    for (size_t i = 1; i <= chain->n; i++)
        if (is_wanted(&index, work->self, chain_frame(chain, i)))
            MUST(run_item(work->run, index, SIZE_MAX, work->thread, err));
    return CLV_OK;
}

/* Delivers a failure of the frames of a chain from frame k, and reports it once. */
static enum clv_status fail_frames(const struct chain_context *work, const struct chain *chain, size_t k,
                                   enum clv_status status, const struct clv_error *why, struct clv_error *err)
{
    size_t index, n_lost = 0;
    for (size_t i = k; i <= chain->n; i++)
        n_lost += is_wanted(&index, work->self, chain_frame(chain, i));
    report_message(&work->run->progress, CLV_COMPLAINT, "%s (%s not propagated)", why->message,
                   n_of(n_lost, "frame is", "frames are").text);
    for (size_t i = k; i <= chain->n; i++) {
        if (!is_wanted(&index, work->self, chain_frame(chain, i)))
            continue;
        OWNED(outcome_drop) struct outcome *outcome = outcome_new();
        NEED(outcome);
        outcome->status = status;
        outcome->error = *why;
        outcome->is_reported = true;
        MUST(deliver(work->run, index, &outcome, err));
    }
    return CLV_OK;
}

/* Processes a chain. If it fails, its remaining frames fail and other chains continue, unless the failure ends the
 * run. */
static enum clv_status propagate_chain(void *context, size_t number, int thread, struct clv_error *err)
{
    struct batch *run = context;
    struct by_propagating *self = run->state;
    struct chain_context work = {run, self, thread};
    const struct chain *chain = &self->chains.items[number];
    const struct propagate_frames frames = {.context = &work,
                                            .progress = &run->progress,
                                            .read = read_frame,
                                            .read_mask = read_given,
                                            .take = take_frame,
                                            .name = name_frame};
    bool has_all = true;
    size_t index, k = 0;
    for (size_t i = 1; i <= chain->n; i++)
        has_all &= !is_wanted(&index, self, chain_frame(chain, i)) || input_has_mask(run, index);
    const double bytes = bytes_of_chain(run, chain);
    enum clv_status status = memory_gate_enter(&run->gate, number, bytes, err);
    if (status == CLV_OK) {
        status = has_all ? finish_chain(&work, chain, err) : propagate_along(&k, chain, &frames, err);
        memory_gate_leave(&run->gate, bytes);
    }
    if (status == CLV_OK || status == CLV_ERR_INTERRUPTED || status == CLV_ERR_CREATE || status == CLV_ERR_IO ||
        has_all || run->status != CLV_OK)
        return status;
    const struct clv_error why = *err;
    return fail_frames(&work, chain, k ? k : 1, status, &why, err);
}

/* Puts the given masks into the file of pages. */
static enum clv_status put_given(struct batch *run, struct clv_error *err)
{
    struct by_propagating *self = run->state;
    struct chain_context work = {run, self, 0};
    for (size_t frame = 0; frame < self->set.n_items; frame++) {
        OWNED(clv_mask_release) struct clv_mask mask = {.labels = NULL};
        struct clv_image size = {.pixels = NULL};
        size_t index;
        if (is_wanted(&index, self, frame))
            continue;
        MUST(item_image_size(&size.width, &size.height, frame_of(self, frame), &run->options.limits, err));
        MUST(read_given(&work, frame, &size, &mask, err));
        MUST(page_file_put(run->pages, frame, mask.width, mask.height, mask.labels, err));
        run->result->n_given++;
    }
    return CLV_OK;
}

static enum clv_status each_chain(struct batch *run, struct clv_error *err)
{
    const struct by_propagating *self = run->state;
    if (run->pages)
        MUST(put_given(run, err));
    return parallel_for(self->chains.n, run->n_threads, propagate_chain, run, err);
}

static void close_sequences(struct batch *run)
{
    struct by_propagating *self = run->state;
    if (!self)
        return;
    chains_release(&self->chains);
    clv_set_release(&self->set);
    arrays_free(self->input_of, self->labelled, self);
}

const struct labeller by_propagating = {
    .name = "propagate",
    .source = "Masks",
    .method = "propagated",
    .has_truth = true,
    .refined = "at the pixels",
    .lacks = NEEDS_MODEL | NEEDS_APART,
    .why = {[2] = "masks are propagated without a model", [5] = "frames are labelled one from another"},
    .open = open_sequences,
    .each = each_chain,
    .label = label_frame,
    .bytes = bytes_of_frame,
    .close = close_sequences};
