/* Finds the objects of an image: those that a model has learned to find, or the connected components of its labels.
 * Start at clv_segment_objects, at the end. */
#include "segment/segment.h"

#include <string.h>

#include "base/base.h"
#include "data/export/export.h"
#include "model/object_tensors.h"
#include "object/object.h"

#define LIGHT_ROWS 256

/* The search for the objects of an image. */
struct search {
    struct object_model model; /* a view */
    const struct shown_image *image;
    const struct object_windows_options *options;
    int32_t width, height;            /* size at which objects are searched for */
    struct pixel_light light, *parts; /* of the image; [n_threads] of the rows of each thread */
    bool is_one;                      /* the image is one window */
};

static void search_release(struct search *self)
{
    array_free(self->parts);
}

static enum clv_status find_in_part(struct clv_object_map *map, void *context, const struct image_part *part,
                                    int thread, struct clv_error *err)
{
    const struct search *self = context;
    OWNED(clv_image_release) struct clv_image working = {0};
    MUST(self->image->show(&working, self->image->context, part, thread, err));
    return object_model_find(map, &self->model, &working, self->is_one ? NULL : &self->light, err);
}

static enum clv_status count_sums(void *context, size_t index, int thread, struct clv_error *err)
{
    const struct search *self = context;
    OWNED(clv_image_release) struct clv_image rows = {0};
    struct image_part part = {0, (int32_t)index * LIGHT_ROWS, self->width, LIGHT_ROWS, self->width, self->height};
    FAIL_IF(stop_requested(self->options->progress), CLV_ERR_INTERRUPTED, "interrupted");
    part.height = part.top + LIGHT_ROWS > self->height ? self->height - part.top : LIGHT_ROWS;
    MUST(self->image->show(&rows, self->image->context, &part, thread, err));
    pixel_light_count(&self->parts[thread], &rows);
    return CLV_OK;
}

static enum clv_status count_smooth(void *context, size_t index, int thread, struct clv_error *err)
{
    const struct search *self = context;
    OWNED(clv_image_release) struct clv_image rows = {0};
    const int32_t top = (int32_t)index * LIGHT_ROWS, below = self->height - top - LIGHT_ROWS;
    const int32_t above = top ? PIXEL_LIGHT_HALO : 0;
    const struct image_part core = {0, above, self->width, below < 0 ? LIGHT_ROWS + below : LIGHT_ROWS, 0, 0};
    struct image_part part = {0, top - above, self->width, above + core.height, self->width, self->height};
    FAIL_IF(stop_requested(self->options->progress), CLV_ERR_INTERRUPTED, "interrupted");
    part.height += below < 0 ? 0 : below < PIXEL_LIGHT_HALO ? below : PIXEL_LIGHT_HALO;
    MUST(self->image->show(&rows, self->image->context, &part, thread, err));
    return pixel_light_count_smooth(&self->parts[thread], &rows, &core, err);
}

/* Measures the light of the whole image, by two passes over its rows. */
static enum clv_status find_light(struct search *self, struct clv_error *err)
{
    const int n_threads = parallel_threads(self->options->n_threads);
    const size_t n = (size_t)(self->height - 1) / LIGHT_ROWS + 1;
    NEED(self->parts = array_zalloc((size_t)n_threads, sizeof *self->parts));
    MUST(parallel_for(n, n_threads, count_sums, self, err));
    for (int k = 0; k < n_threads; k++)
        for (size_t v = 0; v < PIXEL_LIGHT_SUMS; v++)
            self->light.sums[v] += self->parts[k].sums[v];
    pixel_light_stretch(&self->light);
    for (int k = 0; k < n_threads; k++)
        self->parts[k] = self->light;
    MUST(parallel_for(n, n_threads, count_smooth, self, err));
    for (int k = 0; k < n_threads; k++)
        for (size_t v = 0; v < PIXEL_LIGHT_BINS; v++)
            self->light.smooth[v] += self->parts[k].smooth[v];
    pixel_light_divide(&self->light);
    return CLV_OK;
}

enum clv_status learned_objects_windows(struct object_windows *found, const struct clv_model *model,
                                        const struct shown_image *image, const struct object_windows_options *options,
                                        struct clv_error *err)
{
    struct object_windows_options windows = *options;
    OWNED(search_release) struct search self = {.image = image, .options = options};
    MUST(learned_objects_view(&self.model, model, err));
    object_model_size(&self.width, &self.height, &self.model, image->width, image->height);
    self.is_one = !options->side && (int64_t)self.width * self.height <= OBJECT_AT_ONCE;
    if (self.is_one) {
        windows.side = self.width > self.height ? self.width : self.height;
    } else if (!options->side) {
        windows.side = OBJECT_WINDOW;
        windows.halo = OBJECT_WINDOW_HALO;
    }
    if (!self.is_one)
        MUST(find_light(&self, err));
    const struct object_finder finder = {image->width, image->height, self.width, self.height, find_in_part, &self};
    return object_windows_find(found, &finder, &windows, err);
}

/* Makes a part of an image that is in memory. */
static enum clv_status show_part(struct clv_image *part, void *context, const struct image_part *wanted, int thread,
                                 struct clv_error *err)
{
    const struct clv_image *image = context;
    const struct image_part from = resize_source(wanted, image->width, image->height);
    OWNED(clv_image_release) struct clv_image source = {0};
    (void)thread;
    MUST(clv_image_new(&source, from.width, from.height, 3, err));
    for (int32_t y = 0; y < from.height; y++)
        memcpy(source.pixels + 3 * (size_t)y * (size_t)from.width,
               image->pixels + 3 * ((size_t)(from.top + y) * (size_t)image->width + (size_t)from.left),
               3 * (size_t)from.width);
    return image_resize_part(part, wanted, &source, &from, err);
}

enum clv_status learned_objects_find(struct clv_object_map *map, const struct clv_model *model,
                                     const struct clv_image *image, struct clv_error *err)
{
    const struct shown_image shown = {image->width, image->height, show_part, (void *)(uintptr_t)image};
    const struct object_windows_options options = {.n_threads = 1};
    OWNED(object_windows_release) struct object_windows found = {0};
    OWNED(clv_object_map_release) struct clv_object_map result = {.width = image->width, .height = image->height};
    MUST(learned_objects_windows(&found, model, &shown, &options, err));
    NEED(result.objects = array_alloc((size_t)image->width, (size_t)image->height * sizeof *result.objects));
    object_windows_rows(result.objects, &found, 0, image->height);
    result.n_objects = found.n_objects;
    result.probability = TAKE(found.probability);
    *map = TAKE(result);
    return CLV_OK;
}

/* Returns the first label whose is_object is `wanted`, CLV_VOID if there is none. */
static uint8_t first_label(const bool is_object[256], bool wanted)
{
    uint8_t first = 0;
    while (is_object[first] != wanted && first < CLV_VOID)
        first++;
    return first;
}

void learned_objects_vote(struct label_votes *votes, const int32_t *objects, const uint8_t *labels, size_t n,
                          const bool is_object[256])
{
    for (size_t p = 0; p < n; p++)
        if (objects[p] && is_object[labels[p]])
            label_votes_add(votes, objects + p, labels + p, 1);
}

void learned_objects_label(uint8_t *labels, const struct label_votes *votes, const bool is_object[256])
{
    const uint8_t first = first_label(is_object, true);
    label_votes_end(labels, votes);
    for (size_t k = 0; k < votes->n_objects; k++)
        labels[k] = labels[k] == CLV_VOID ? first : labels[k];
}

void learned_objects_paint(uint8_t *labels, const int32_t *objects, size_t n, const uint8_t *of_objects,
                           const bool is_object[256])
{
    const uint8_t background = first_label(is_object, false);
    for (size_t p = 0; p < n; p++)
        if (objects[p])
            labels[p] = of_objects[objects[p] - 1];
        else if (is_object[labels[p]])
            labels[p] = background;
}

enum clv_status clv_segment_objects(struct clv_object_map *map, uint8_t *labels, const struct clv_model *model,
                                    const struct clv_image *image, struct clv_error *err)
{
    FAIL_IF(!image->pixels || image->width < 1 || image->height < 1 || image->channels != 3, CLV_ERR_USAGE,
            "the image is %dx%d of %d channels (3 are needed)", image->width, image->height, image->channels);
    bool is_object[256];
    for (int32_t label = 0; label < 256; label++)
        is_object[label] = export_is_object(&model->labels, label);
    if (!learned_objects_are_there(model))
        return clv_object_map_from_labels(map, labels, image->width, image->height, is_object, err);
    OWNED(clv_object_map_release) struct clv_object_map found = {0};
    MUST(learned_objects_find(&found, model, image, err));
    const size_t n = (size_t)found.width * (size_t)found.height;
    OWNED(label_votes_release) struct label_votes votes = {0};
    NEED(found.labels = array_alloc((size_t)found.n_objects, 1));
    MUST(label_votes_init(&votes, found.n_objects, model->labels.n_labels, err));
    learned_objects_vote(&votes, found.objects, labels, n, is_object);
    learned_objects_label(found.labels, &votes, is_object);
    OWNED_ARRAY uint8_t *painted = array_copy(labels, n, 1);
    NEED(painted);
    learned_objects_paint(painted, found.objects, n, found.labels, is_object);
    MUST(object_map_split(&found, err));
    memcpy(labels, painted, n);
    *map = TAKE(found);
    return CLV_OK;
}
