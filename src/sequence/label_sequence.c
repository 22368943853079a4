/* Labels sequences whose images are in memory: by a model (clv_segment_sequence), or by propagating given masks
 * (clv_propagate_masks). */

#include <pthread.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "refine/by_model/by_model.h"
#include "segment/segment.h"
#include "sequence/sequence.h"

void clv_sequence_defaults(struct clv_sequence_options *options)
{
    *options = (struct clv_sequence_options){0};
}

/* A sequence in memory: slices or frames. */
struct sequence_data {
    const struct clv_image *images; /* [n] */
    uint8_t *const *labels;         /* [n] */
    const uint8_t *const *given;    /* [n] masks or NULL, of propagation; else NULL */
    size_t n, n_done, n_wanted;     /* n_done is guarded by the lock */
    struct clv_sequence_options options;
    struct slices slices;
    struct chains chains;
    const char *noun; /* "slice" or "frame", for messages */
    pthread_mutex_t lock;
};

static void sequence_data_release(struct sequence_data *self)
{
    chains_release(&self->chains);
    pthread_mutex_destroy(&self->lock);
}

static enum clv_status sequence_data_init(struct sequence_data *self, const struct clv_sequence_options *options,
                                          struct clv_error *err)
{
    self->options = options ? *options : (struct clv_sequence_options){0};
    for (size_t i = 0; i < self->n; i++) {
        const struct clv_image *image = &self->images[i], *first = self->images;
        FAIL_IF(!image->pixels || image->width < 1 || image->height < 1 || image->channels != 3, CLV_ERR_USAGE,
                "%s %zu is %dx%d of %d channels (3 are needed)", self->noun, i, image->width, image->height,
                image->channels);
        FAIL_IF(image->width != first->width || image->height != first->height, CLV_ERR_DATA,
                "%s %zu is %dx%d, those before it are %dx%d", self->noun, i, image->width, image->height, first->width,
                first->height);
        self->n_wanted += self->labels[i] && !(self->given && self->given[i]);
    }
    FAIL_IF(!self->n_wanted, CLV_ERR_USAGE, "no %s is to be labelled", self->noun);
    return CLV_OK;
}

static void count_one(struct sequence_data *self)
{
    pthread_mutex_lock(&self->lock);
    report_progress(self->options.progress, "segmenting", ++self->n_done, self->n_wanted, NULL);
    pthread_mutex_unlock(&self->lock);
}

static bool is_wanted(void *context, size_t index)
{
    return ((const struct sequence_data *)context)->labels[index];
}

static enum clv_status read_slice(void *context, size_t index, struct clv_image *image, struct clv_error *err)
{
    (void)err;
    *image = ((const struct sequence_data *)context)->images[index];
    return CLV_OK;
}

static enum clv_status do_slice(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    struct sequence_data *self = context;
    const struct clv_image *image = &self->images[index];
    const struct clv_model *model = self->slices.model;
    if (!self->labels[index])
        return CLV_OK;
    FAIL_IF(stop_requested(self->options.progress), CLV_ERR_INTERRUPTED, "interrupted");
    MUST(slices_paint(self->labels[index], &self->slices, index, image,
                      label_refines(self->options.refine, model, image->width, image->height), err));
    count_one(self);
    return CLV_OK;
}

enum clv_status clv_segment_sequence(uint8_t *const *labels, const struct clv_model *model,
                                     const struct clv_image *images, size_t n,
                                     const struct clv_sequence_options *options, struct clv_error *err)
{
    OWNED(sequence_data_release) struct sequence_data self = {
        .images = images, .labels = labels, .n = n, .noun = "slice", .lock = PTHREAD_MUTEX_INITIALIZER};
    FAIL_IF(!model->has_recipe || !model->recipe.window, CLV_ERR_USAGE, "the model was not learned of sequences");
    MUST(sequence_data_init(&self, options, err));
    self.slices =
        (struct slices){.model = model,
                        .n_threads = self.options.n_threads,
                        .progress = self.options.progress,
                        .is_by_net = refining_is_by_net(model) && label_refines(self.options.refine, model, 1, 1),
                        .n = n,
                        .context = &self,
                        .are_views = true,
                        .is_wanted = is_wanted,
                        .read = read_slice,
                        .one = do_slice};
    return slices_label(&self.slices, err);
}

static enum clv_status read_given(void *context, size_t frame, const struct clv_image *image, struct clv_mask *mask,
                                  struct clv_error *err)
{
    const uint8_t *given = ((const struct sequence_data *)context)->given[frame];
    *mask = (struct clv_mask){.labels = array_copy(given, (size_t)image->width * (size_t)image->height, 1)};
    return mask->labels ? CLV_OK : fail_memory(err);
}

static enum clv_status take_frame(void *context, size_t frame, const struct clv_image *image, const uint8_t *labels,
                                  struct clv_error *err)
{
    (void)err;
    struct sequence_data *self = context;
    if (!self->chains.is_wanted[frame])
        return CLV_OK;
    memcpy(self->labels[frame], labels, (size_t)image->width * (size_t)image->height);
    count_one(self);
    return CLV_OK;
}

static const char *name_frame(void *context, size_t frame)
{
    (void)frame;
    return ((const struct sequence_data *)context)->noun;
}

static enum clv_status propagate_one(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    struct sequence_data *self = context;
    size_t k;
    const struct propagate_frames frames = {.context = self,
                                            .progress = self->options.progress,
                                            .are_views = true,
                                            .read = read_slice,
                                            .read_mask = read_given,
                                            .take = take_frame,
                                            .name = name_frame};
    return propagate_along(&k, &self->chains.items[index], &frames, err);
}

enum clv_status clv_propagate_masks(uint8_t *const *labels, const uint8_t *const *given, const struct clv_image *images,
                                    size_t n, const struct clv_sequence_options *options, struct clv_error *err)
{
    OWNED(sequence_data_release) struct sequence_data self = {
        .images = images, .labels = labels, .given = given, .n = n, .noun = "frame", .lock = PTHREAD_MUTEX_INITIALIZER};
    MUST(sequence_data_init(&self, options, err));
    OWNED_ARRAY uint8_t *is_given = array_alloc(n, 1);
    OWNED_ARRAY uint8_t *wanted = array_alloc(n, 1);
    NEED(is_given && wanted);
    size_t n_given = 0;
    for (size_t i = 0; i < n; i++) {
        n_given += is_given[i] = given[i] != NULL;
        wanted[i] = labels[i] != NULL;
    }
    FAIL_IF(!n_given, CLV_ERR_DATA, "none of the %zu frames has a mask that is given", n);
    MUST(chains_between(&self.chains, is_given, wanted, n, err));
    return parallel_for(self.chains.n, self.options.n_threads, propagate_one, &self, err);
}
