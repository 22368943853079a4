/* `cleave segment --sequence` without a model: propagates the masks that are given to the other frames of each
 * sequence, chains of frames in parallel. Start at sequence_open and sequence_run. */
#include "cli/segment/segment.h"

#include <string.h>

#include "base/base.h"
#include "cli/common/common.h"
#include "intake/intake.h"
#include "masks/masks.h"
#include "sequence/sequence.h"
#include "train/train.h"

#define BYTES_PER_PIXEL  96  /* of a frame: two images and their file's bytes, labels, a cut */
#define BYTES_PER_WORKED 512 /* of the working size */

void sequence_release(struct sequence *self)
{
    chains_release(&self->chains);
    array_free(self->input_of);
    clv_set_release(&self->set);
}

/* The wanted frames as inputs. */
static enum clv_status add_inputs(struct sequence *self, struct input_list *inputs, struct clv_error *err)
{
    struct clv_set wanted = self->set; /* views of the items */
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
    return inputs_add_set(inputs, &wanted, set_common_folder(&self->set), err);
}

static void note_gaps(const struct sequence_gaps *gaps, const char *path)
{
    if (gaps->n)
        console_note("%s: numbers of frames are missing in %zu place%s, first between %s and %s", path, gaps->n,
                     gaps->n == 1 ? "" : "s", gaps->before[0], gaps->before[1]);
}

/* Says which of the splits that are named there are not. */
static enum clv_status check_splits(const struct segment *options, struct clv_error *err)
{
    const char *const lists[] = {options->given, options->split};
    for (size_t k = 0; k < 2; k++) {
        OWNED(clv_set_release) struct clv_set chosen = {.n_items = 0};
        if (!lists[k])
            continue;
        MUST(clv_set_read(&chosen, options->data, err));
        MUST(clv_set_select(&chosen, lists[k], err));
    }
    return CLV_OK;
}

enum clv_status sequence_open(struct sequence *self, struct input_list *inputs, struct clv_labels *labels,
                              struct segment *options, struct clv_error *err)
{
    const struct clv_progress progress = console_progress(NULL);
    MUST(clv_set_read(&self->set, options->data, err));
    training_set_note_reading(&self->set, options->data, &progress);
    MUST(outputs_spare_set(&options->common.outputs, &self->set, options->data, err));
    MUST(check_splits(options, err));
    FAIL_IF(self->set.labels.n_labels > 2, CLV_ERR_DATA,
            "%s: masks of two labels are propagated, background and foreground; this dataset has %d labels",
            options->data, self->set.labels.n_labels);
    size_t n_masks = 0;
    for (size_t i = 0; i < self->set.n_items; i++)
        n_masks += self->set.items[i].mask != NULL;
    FAIL_IF(!n_masks && self->set.n_items > 1, CLV_ERR_DATA,
            "%s: none of the %zu frames has a mask; propagate FOLDER needs FOLDER/images and FOLDER/masks, with a "
            "mask of at least one frame",
            options->data, self->set.n_items);
    MUST(clv_labels_copy(labels, &self->set.labels, err));
    MUST(chains_find(&self->chains, &self->set, options->given, options->split, err));
    FAIL_IF(!self->chains.n_wanted, CLV_ERR_NO_INPUT,
            "%s: nothing to propagate: %zu frame%s, and no mask of %s is "
            "wanted",
            options->data, self->set.n_items, self->set.n_items == 1 ? "" : "s",
            self->set.n_items == 1 ? "it" : "them");
    note_gaps(&self->chains.gaps, options->data);
    return add_inputs(self, inputs, err);
}

enum clv_status slices_open(struct sequence *self, struct input_list *inputs, const struct clv_model *model,
                            struct segment *options, struct clv_error *err)
{
    const struct clv_progress progress = console_progress(NULL);
    struct sequence_gaps gaps;
    if (!model->recipe.window)
        return fail(err, CLV_ERR_USAGE,
                    "%s: a model of single images; `cleave train --sequence' makes one of slices, and "
                    "without --sequence each image is segmented alone",
                    options->model_path);
    MUST(clv_set_read(&self->set, options->data, err));
    training_set_note_reading(&self->set, options->data, &progress);
    size_t common = set_common_folder(&self->set);
    MUST(outputs_spare_set(&options->common.outputs, &self->set, options->data, err));
    MUST(clv_set_select(&self->set, options->split, err));
    MUST(sequences_sort(&gaps, &self->set, err));
    size_t n_masks = 0;
    for (size_t i = 0; i < self->set.n_items; i++)
        n_masks += self->set.items[i].mask != NULL;
    if (n_masks && n_masks < self->set.n_items)
        console_note("%s: the model labels all %zu slices, those of the %zu masks that are there, too; `cleave "
                     "propagate' propagates masks to the other slices",
                     options->data, self->set.n_items, n_masks);
    note_gaps(&gaps, options->data);
    return inputs_add_set(inputs, &self->set, common, err);
}

bool sequence_is_one(const struct sequence *self, const struct segment *options)
{
    const struct clv_item *items = self->set.items;
    bool is_one = options->model_path || self->chains.n_sequences == 1;
    for (size_t i = 1; i < self->set.n_items && options->model_path; i++)
        is_one &= strcmp(items[0].sequence ? items[0].sequence : "", items[i].sequence ? items[i].sequence : "") == 0;
    return is_one || sequences_are_of_one_file(items, self->set.n_items);
}

struct propagate_state {
    const struct segment_run *run;
    struct segment_counts *counts;
    struct memory_gate gate;
    pthread_mutex_t lock; /* guards the counts and what is printed */
    size_t first_failed;  /* chain */
};

static const struct clv_item *frame_of(const struct propagate_state *self, size_t place)
{
    return &self->run->sequence->set.items[self->run->sequence->chains.frames[place]];
}

/* Where the frame's mask goes; NULL: none is wanted. */
static const struct output *output_of(const struct propagate_state *self, size_t place)
{
    const struct sequence *sequence = self->run->sequence;
    size_t item = sequence->chains.frames[place];
    return sequence->chains.is_wanted[item] ? &self->run->outputs->items[sequence->input_of[item]] : NULL;
}

static enum clv_status write_outputs(const struct propagate_state *self, const struct output *output, size_t place,
                                     const struct clv_image *image, const uint8_t *labels, struct clv_error *err)
{
    FAIL_IF(output->problem, CLV_ERR_CREATE, "%s", output->problem);
    MUST(outputs_make_folder(output->mask, err));
    const char *overlay = output->beside[OUTPUT_OVERLAY];
    if (overlay)
        MUST(overlay_file_write(overlay, image, labels, NULL, self->run, err));
    return self->run->stack
               ? stack_file_put(self->run->stack, place, image->width, image->height, labels, err)
               : mask_file_write(output->mask, NULL, image->width, image->height, labels,
                                 (enum mask_form)self->run->options->mask_form, &self->run->model->labels, err);
}

static void count_one(struct propagate_state *self, bool was_there, bool is_empty)
{
    struct segment_counts *counts = self->counts;
    pthread_mutex_lock(&self->lock);
    counts->n_empty += !was_there && is_empty;
    counts->n_done += !was_there;
    counts->n_finished_before += was_there;
    report_progress(self->run->progress, "segmenting", counts->n_done + counts->n_finished_before, self->run->inputs->n,
                    NULL);
    pthread_mutex_unlock(&self->lock);
}

static enum clv_status read_frame(void *context, size_t place, struct clv_image *image, struct clv_error *err)
{
    const struct propagate_state *self = context;
    return clv_image_read(image, frame_of(self, place)->image, &self->run->options->common.limits, err);
}

static enum clv_status read_given(void *context, size_t place, const struct clv_image *image, struct clv_mask *mask,
                                  struct clv_error *err)
{
    const struct propagate_state *self = context;
    const struct clv_image_limits *limits = &self->run->options->common.limits;
    const enum clv_status status = clv_mask_read(mask, frame_of(self, place)->mask, &self->run->model->labels,
                                                 image->width, image->height, limits, err);
    return status == CLV_ERR_DATA ? fail_mask(&self->run->sequence->set, self->run->options->data, NULL, limits, err)
                                  : status;
}

static enum clv_status take_frame(void *context, size_t place, const struct clv_image *image, const uint8_t *labels,
                                  struct clv_error *err)
{
    struct propagate_state *self = context;
    const struct output *output = output_of(self, place);
    if (output && !output->finished)
        MUST(write_outputs(self, output, place, image, labels, err));
    if (output)
        count_one(self, output->finished,
                  labels && labels_are_empty(labels, (size_t)image->width * (size_t)image->height));
    return CLV_OK;
}

static const char *name_frame(void *context, size_t place)
{
    return frame_of(context, place)->image;
}

static double bytes_of(const struct propagate_state *self, const struct clv_item *frame)
{
    int32_t width, height;
    struct clv_error ignored; /* whoever reads it will say */
    if (clv_image_read_size(&width, &height, frame->image, &self->run->options->common.limits, &ignored) != CLV_OK)
        return 0;
    return (double)BYTES_PER_PIXEL * width * height + (double)BYTES_PER_WORKED * FRAME_PIXELS;
}

/* Propagates masks along the chain, as far as frame *k, once there is memory for it. */
static enum clv_status propagate_when_fit(size_t *k, struct propagate_state *self, size_t index, bool is_there,
                                          struct clv_error *err)
{
    const struct chain *chain = &self->run->sequence->chains.items[index];
    const struct propagate_frames frames = {.context = self,
                                            .progress = self->run->progress,
                                            .read = read_frame,
                                            .read_mask = read_given,
                                            .take = take_frame,
                                            .name = name_frame};
    const double bytes = is_there ? 0 : bytes_of(self, frame_of(self, chain->first));
    MUST(memory_gate_enter(&self->gate, index, bytes, err));
    const enum clv_status status = is_there ? CLV_OK : propagate_along(k, chain, &frames, err);
    memory_gate_leave(&self->gate, bytes);
    return status;
}

/* A chain that fails is reported here and the others go on, unless the failure ends the run. */
static enum clv_status propagate_chain(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    struct propagate_state *self = context;
    const struct chain *chain = &self->run->sequence->chains.items[index];
    size_t n_wanted = 0, n_there = 0, k = 0;
    for (size_t i = 1; i <= chain->n; i++) {
        const struct output *output = output_of(self, chain_place(chain, i));
        n_wanted += output != NULL;
        n_there += output && output->finished;
    }
    const enum clv_status status = propagate_when_fit(&k, self, index, n_there == n_wanted, err);
    if (status == CLV_OK && n_there == n_wanted)
        for (; n_there; n_there--)
            count_one(self, true, false);
    if (status == CLV_OK || status == CLV_ERR_INTERRUPTED || status == CLV_ERR_CREATE || status == CLV_ERR_IO)
        return status;
    size_t n_lost = 0;
    for (size_t i = k ? k : 1; i <= chain->n; i++)
        n_lost += output_of(self, chain_place(chain, i)) != NULL;
    pthread_mutex_lock(&self->lock);
    console_error("%s (%zu frame%s not propagated)", err->message, n_lost, n_lost == 1 ? " is" : "s are");
    self->counts->n_failed += n_lost;
    if (index < self->first_failed) {
        self->first_failed = index;
        self->counts->first_failure = status;
    }
    pthread_mutex_unlock(&self->lock);
    return CLV_OK;
}

/* Given masks are pages, too. */
static enum clv_status put_given(struct propagate_state *self, struct clv_error *err)
{
    for (size_t place = 0; place < self->run->sequence->set.n_items; place++) {
        OWNED(clv_mask_release) struct clv_mask mask = {.labels = NULL};
        struct clv_image size = {.pixels = NULL};
        if (output_of(self, place))
            continue;
        MUST(clv_image_read_size(&size.width, &size.height, frame_of(self, place)->image,
                                 &self->run->options->common.limits, err));
        MUST(read_given(self, place, &size, &mask, err));
        MUST(stack_file_put(self->run->stack, place, mask.width, mask.height, mask.labels, err));
    }
    return CLV_OK;
}

static void propagate_state_release(struct propagate_state *self)
{
    memory_gate_release(&self->gate);
    pthread_mutex_destroy(&self->lock);
}

enum clv_status sequence_run(struct segment_counts *counts, const struct segment_run *run, struct clv_error *err)
{
    OWNED(propagate_state_release)
    struct propagate_state self = {.run = run, .counts = counts, .first_failed = SIZE_MAX};
    pthread_mutex_init(&self.lock, NULL);
    memory_gate_init(&self.gate, run->options->memory);
    if (run->stack)
        MUST(put_given(&self, err));
    return parallel_for(run->sequence->chains.n, run->options->common.n_threads, propagate_chain, &self, err);
}
