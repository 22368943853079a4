/* Trains an object model, which separates touching objects: the size at which it works, two small networks that
 * classify pixels, and the weights of borders between regions, by any learner. Start at train_objects, at the end. */
#include "learn/objects/objects.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "feature/blocks/blocks.h"
#include "feature/dataset/dataset.h"
#include "object/object.h"
#include "pixel_net/pixel_net.h"
#include "score/score.h"

#define SAMPLES      16000  /* most pixels sampled per image */
#define ALL_SAMPLES  650000 /* of all images */
#define WINDOW       362    /* largest width and height of the window sampled in an image */
#define EDGE_IMAGES  40     /* images whose regions train the weights of borders */
#define SCALE_IMAGES 40     /* images whose objects are measured */
#define USUAL_AREA   900.   /* the largest median area of objects that the filters cover */
#define BORDER_REACH 2      /* pixels at most this far from an object's border are near it */

/* Shifts of the edges' bias that are tried, in steps of JOIN_STEP times the spread of all scores; NO_JOIN is the index
 * of no shift. The balanced loss of edges does not measure the precision of objects. */
enum { N_JOINS = 9, NO_JOIN = 3 };
#define JOIN_STEP .1

/* The state that the tasks below share. Each image has its own slots. */
struct objects_state {
    struct object_model *model;
    const struct object_items *items;
    const struct clv_training *settings;
    size_t n_samples;       /* per image */
    float *inputs;          /* [n_images][n_samples][PIXEL_BANK_SIZE], then PIXEL_CONTEXT_SIZE */
    uint8_t *classes;       /* [n_images][n_samples] */
    double *areas;          /* [n_images] median area of the objects */
    int32_t *order;         /* [n_images] */
    size_t n_done, n_total; /* of images that are read, some of them several times */
    /* [n_images] by order: */
    struct edge_problem *edges;
    struct object_regions *regions;
    struct clv_object_map *truth;
    double spread;                /* of the scores of edges */
    double (*precision)[N_JOINS]; /* [n_images] for each shift of the bias */
};

static void objects_state_release(struct objects_state *self)
{
    for (size_t k = 0; self->edges && k < self->items->n; k++)
        edge_problem_release(&self->edges[k]);
    for (size_t k = 0; self->regions && k < self->items->n; k++)
        object_regions_release(&self->regions[k]);
    for (size_t k = 0; self->truth && k < self->items->n; k++)
        clv_object_map_release(&self->truth[k]);
    arrays_free(self->edges, self->regions, self->truth, self->precision);
    arrays_free(self->inputs, self->classes, self->areas, self->order);
}

static enum clv_status read_image(struct clv_image *image, int32_t **objects, struct objects_state *self, size_t index,
                                  struct clv_error *err)
{
    FAIL_IF(stop_requested(self->settings->progress), CLV_ERR_INTERRUPTED, "interrupted");
    parallel_progress(self->settings->progress, "learning objects", &self->n_done, self->n_total, NULL);
    return object_items_read(image, objects, self->items, index, err);
}

/* Crops an image and its objects to a window at a random position. */
static void crop(struct clv_image *image, int32_t *objects, uint64_t seed, size_t index)
{
    int32_t width = image->width < WINDOW ? image->width : WINDOW;
    int32_t height = image->height < WINDOW ? image->height : WINDOW;
    uint64_t stream = RNG_STREAM(RNG_SYNTH, index);
    size_t left = rng_below(seed, stream, 0, (uint32_t)(image->width - width + 1));
    size_t top = rng_below(seed, stream, 1, (uint32_t)(image->height - height + 1));
    for (size_t y = 0; y < (size_t)height; y++) {
        size_t from = (top + y) * (size_t)image->width + left, to = y * (size_t)width;
        memmove(objects + to, objects + from, (size_t)width * sizeof *objects);
        memmove(image->pixels + 3 * to, image->pixels + 3 * from, 3 * (size_t)width);
    }
    image->width = width;
    image->height = height;
}

/* Reads an image and its objects, resizes both to the working size and crops them to a window. */
static enum clv_status read_working(struct clv_image *working, int32_t **objects, struct objects_state *self,
                                    size_t index, struct clv_error *err)
{
    OWNED(clv_image_release) struct clv_image image = {0};
    OWNED_ARRAY int32_t *full = NULL;
    int32_t width = 0, height = 0;
    MUST(read_image(&image, &full, self, index, err));
    object_model_size(&width, &height, self->model, image.width, image.height);
    OWNED_ARRAY int32_t *small = array_alloc((size_t)width * (size_t)height, sizeof *small);
    NEED(small);
    MUST(clv_image_resize(working, &image, width, height, err));
    for (int32_t y = 0; y < image.height; y++)
        for (int32_t x = 0; x < image.width; x++) { /* of several pixels that become one, the last counts */
            size_t to = (size_t)working_coordinate(y, image.height, height) * (size_t)width;
            small[to + (size_t)working_coordinate(x, image.width, width)] =
                full[(size_t)y * (size_t)image.width + (size_t)x];
        }
    crop(working, small, self->settings->seed, index);
    *objects = TAKE(small);
    return CLV_OK;
}

/* Returns the median of the values above 0, or 0 without any. */
static double median(double *values, size_t n)
{
    size_t zeros = 0;
    qsort(values, n, sizeof *values, compare_doubles);
    while (zeros < n && values[zeros] <= 0)
        zeros++;
    return zeros < n ? values[zeros + (n - zeros) / 2] : 0;
}

static enum clv_status measure_one(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    struct objects_state *self = context;
    OWNED(clv_image_release) struct clv_image image = {0};
    OWNED_ARRAY int32_t *objects = NULL;
    int32_t most = 0;
    size_t n_images = self->items->n, at = n_images > SCALE_IMAGES ? index * n_images / SCALE_IMAGES : index;
    MUST(read_image(&image, &objects, self, at, err));
    size_t n = (size_t)image.width * (size_t)image.height;
    for (size_t i = 0; i < n; i++)
        most = objects[i] > most ? objects[i] : most;
    OWNED_ARRAY double *area = array_zalloc((size_t)most + 1, sizeof *area);
    NEED(area);
    for (size_t i = 0; i < n; i++)
        if (objects[i] > 0)
            area[objects[i]]++;
    self->areas[index] = median(area, (size_t)most + 1);
    return CLV_OK;
}

/* Samples pixels of an image. pixels[n] begins with the n_near pixels near borders of objects. The ratio of near to
 * other samples is the square root of that of the pixels. */
static void draw(struct objects_state *self, size_t index, const struct pixel_bank *bank, const uint8_t *classes,
                 int32_t *pixels, size_t n_near, size_t n)
{
    double near = sqrt((double)n_near), far = sqrt((double)(n - n_near));
    size_t n_first = size_of_number((double)self->n_samples * near / (near + far));
    for (size_t i = 0; i < self->n_samples; i++) {
        size_t from = i < n_first ? 0 : n_near, count = i < n_first ? n_near : n - n_near;
        size_t at = from + rng_below(self->settings->seed, RNG_STREAM(RNG_MISSING, index), i, (uint32_t)count);
        size_t to = index * self->n_samples + i;
        pixel_bank_at(self->inputs + to * (size_t)bank->n_planes, 1, bank, (size_t)pixels[at], 1);
        self->classes[to] = classes[pixels[at]];
    }
}

/* Marks pixels whose object is unknown (OBJECT_UNKNOWN) and makes them background. Returns the number of the other
 * pixels. If there are no others, treats all pixels as known. */
static size_t split_unknown(bool *is_unknown, int32_t *objects, size_t n)
{
    size_t n_known = 0;
    for (size_t i = 0; i < n; i++) {
        is_unknown[i] = objects[i] == OBJECT_UNKNOWN;
        objects[i] = is_unknown[i] ? 0 : objects[i];
        n_known += !is_unknown[i];
    }
    if (!n_known)
        memset(is_unknown, 0, n * sizeof *is_unknown);
    return n_known ? n_known : n;
}

static enum clv_status sample_one(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    struct objects_state *self = context;
    OWNED(clv_image_release) struct clv_image working = {0};
    OWNED(pixel_bank_release) struct pixel_bank bank = {0};
    OWNED_ARRAY int32_t *objects = NULL;
    MUST(read_working(&working, &objects, self, index, err));
    size_t n = (size_t)working.width * (size_t)working.height, n_near = 0, n_far = 0;
    OWNED_ARRAY int32_t *pixels = array_alloc(n, sizeof *pixels);
    OWNED_ARRAY bool *is_unknown = array_alloc(n, sizeof *is_unknown);
    OWNED_ARRAY float *distance = array_alloc(n, sizeof *distance);
    OWNED_ARRAY uint8_t *classes = array_alloc(n, sizeof *classes);
    OWNED_ARRAY float *probability = array_alloc(n, OBJECT_CLASSES * sizeof *probability);
    NEED(pixels && is_unknown && distance && classes && probability);
    size_t n_known = split_unknown(is_unknown, objects, n);
    MUST(object_classes(classes, distance, objects, working.width, working.height, err));
    MUST(object_model_classify(&bank, probability, self->model, &working, NULL, err));
    for (size_t i = 0; i < n; i++) {
        bool is_near = distance[i] < BORDER_REACH + .5F;
        if (!is_unknown[i])
            pixels[is_near ? n_near++ : n_known - ++n_far] = (int32_t)i;
    }
    draw(self, index, &bank, classes, pixels, n_near, n_known);
    return CLV_OK;
}

/* Sets truth[regions->n] to the object that has the most pixels in each region. */
static enum clv_status find_truth(int32_t *truth, const struct object_regions *regions, const int32_t *objects,
                                  struct clv_error *err)
{
    size_t n = (size_t)regions->width * (size_t)regions->height, n_inside = 0;
    OWNED_ARRAY uint64_t *pair = array_alloc(n, sizeof *pair);
    OWNED_ARRAY int32_t *most = array_zalloc((size_t)regions->n, sizeof *most);
    NEED(pair && most);
    for (size_t i = 0; i < n; i++)
        if (regions->regions[i])
            pair[n_inside++] = ((uint64_t)(uint32_t)(regions->regions[i] - 1) << 32) | (uint32_t)objects[i];
    qsort(pair, n_inside, sizeof *pair, compare_uint64s);
    for (size_t i = 0, end; i < n_inside; i = end) {
        for (end = i + 1; end < n_inside && pair[end] == pair[i];)
            end++;
        size_t region = (size_t)(pair[i] >> 32);
        if ((int32_t)(end - i) > most[region]) {
            most[region] = (int32_t)(end - i);
            truth[region] = (int32_t)(pair[i] & UINT32_MAX);
        }
    }
    return CLV_OK;
}

static enum clv_status connect_one(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    struct objects_state *self = context;
    OWNED(clv_image_release) struct clv_image working = {0};
    struct object_regions *regions = &self->regions[index];
    struct clv_object_map *map = &self->truth[index];
    MUST(read_working(&working, &map->objects, self, (size_t)self->order[index], err));
    for (size_t i = 0; i < (size_t)working.width * (size_t)working.height; i++)
        map->objects[i] = map->objects[i] == OBJECT_UNKNOWN ? 0 : map->objects[i]; /* few; the majority decides */
    MUST(object_model_regions(regions, self->model, &working, NULL, err));
    if (regions->graph.n_edges) {
        OWNED_ARRAY int32_t *truth = array_alloc((size_t)regions->n, sizeof *truth);
        NEED(truth);
        MUST(find_truth(truth, regions, map->objects, err));
        MUST(edge_problem_init(&self->edges[index], &regions->graph, regions->features, BORDER_FEATURES, truth, err));
    }
    map->width = working.width;
    map->height = working.height;
    for (size_t i = 0; i < (size_t)map->width * (size_t)map->height; i++)
        map->n_objects = map->objects[i] > map->n_objects ? map->objects[i] : map->n_objects;
    return clv_object_map_filter(map, 1, false, err);
}

/* Measures the precision of objects in an image for each shift of the bias. */
static enum clv_status try_one(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    struct objects_state *self = context;
    const struct object_regions *regions = &self->regions[index];
    const double *weights = self->model->weights;
    struct object_model trial = *self->model;
    OWNED_ARRAY double *tried = array_copy(weights, (size_t)trial.n_weights, sizeof *weights);
    NEED(tried);
    trial.weights = tried;
    for (int k = 0; k < N_JOINS; k++) {
        OWNED(clv_object_map_release) struct clv_object_map found = {0};
        struct object_counts counts;
        tried[EDGE_PROBLEM_BIAS] = weights[EDGE_PROBLEM_BIAS] - (k - NO_JOIN) * JOIN_STEP * self->spread;
        MUST(object_model_divide(&found, &trial, regions, err));
        MUST(object_counts_of(&counts, &self->truth[index], &found, err));
        self->precision[index][k] = object_mean_precision(&counts);
    }
    return CLV_OK;
}

/* Applies the shift of the edges' bias with which objects of n_images are the most precise. */
static enum clv_status choose_bias(struct objects_state *self, size_t n_images, struct clv_error *err)
{
    struct object_model *model = self->model;
    double squares = 0, n = 0, sum[N_JOINS] = {0};
    int best = NO_JOIN;
    for (size_t i = 0; i < n_images; i++)
        for (int32_t e = 0; e < self->edges[i].problem.n_nodes; e++, n++) {
            double score = 0;
            for (int64_t k = self->edges[i].row[e]; k < self->edges[i].row[e + 1]; k++)
                score += model->weights[self->edges[i].index[k]] * (double)self->edges[i].value[k];
            squares += score * score;
        }
    self->spread = sqrt(squares / n);
    MUST(parallel_for(n_images, self->settings->n_threads, try_one, self, err));
    for (size_t i = 0; i < n_images; i++)
        for (int k = 0; k < N_JOINS; k++)
            sum[k] += self->precision[i][k];
    for (int k = 0; k < N_JOINS; k++)
        best = sum[k] > sum[best] ? k : best;
    model->weights[EDGE_PROBLEM_BIAS] -= (best - NO_JOIN) * JOIN_STEP * self->spread;
    return CLV_OK;
}

/* Trains the weights of edges on the images that have edges. */
static enum clv_status learn_edges(struct objects_state *self, const struct clv_learner *learner, size_t n_images,
                                   struct clv_error *err)
{
    struct clv_training training = *self->settings;
    OWNED_ARRAY int32_t *examples = array_alloc(n_images, sizeof *examples);
    OWNED(dataset_drop) struct clv_dataset *dataset = NULL;
    OWNED(clv_training_result_release) struct clv_training_result result = {0};
    size_t n_of[2] = {0};
    NEED(examples);
    MUST(clv_dataset_new(&dataset, 2, err));
    training.n_examples = 0;
    for (size_t k = 0; k < n_images; k++) {
        const struct clv_problem *edges = &self->edges[k].problem;
        if (!edges->n_nodes)
            continue;
        for (int32_t e = 0; e < edges->n_nodes; e++)
            n_of[edges->label[e]]++;
        examples[training.n_examples] = (int32_t)training.n_examples;
        training.n_examples++;
        MUST(clv_dataset_add(dataset, edges, "objects", err));
    }
    if (!n_of[0] || !n_of[1])
        return CLV_OK;
    training.dataset = dataset;
    training.examples = examples;
    MUST(clv_learner_layout(&training.layout, learner, dataset, err));
    MUST(clv_train(&result, learner, &training, err));
    FAIL_IF(result.interrupted, CLV_ERR_INTERRUPTED, "interrupted");
    self->model->n_weights = training.layout.n_features;
    self->model->weights = TAKE(result.w);
    return CLV_OK;
}

enum clv_status train_objects(struct object_model *model, const struct object_items *items,
                              const struct clv_learner *learner, const struct clv_training *settings,
                              struct clv_error *err)
{
    size_t n = items->n, n_measured = n < SCALE_IMAGES ? n : SCALE_IMAGES;
    size_t n_edge_images = n < EDGE_IMAGES ? n : EDGE_IMAGES;
    OWNED(object_model_release) struct object_model result = {.shrink = 1};
    OWNED(objects_state_release) struct objects_state self = {.model = &result, .items = items, .settings = settings};
    self.n_total = n_measured + 2 * n + n_edge_images;
    self.n_samples = n * SAMPLES > ALL_SAMPLES ? ALL_SAMPLES / n + 1 : SAMPLES;
    self.inputs = array_alloc(n * self.n_samples, PIXEL_CONTEXT_SIZE * sizeof *self.inputs);
    self.classes = array_alloc(n, self.n_samples);
    self.areas = array_zalloc(n, sizeof *self.areas);
    self.order = array_alloc(n, sizeof *self.order);
    self.edges = array_zalloc(n, sizeof *self.edges);
    self.regions = array_zalloc(n, sizeof *self.regions);
    self.truth = array_zalloc(n, sizeof *self.truth);
    self.precision = array_zalloc(n, sizeof *self.precision);
    NEED(self.inputs && self.classes && self.areas && self.order && self.edges && self.regions && self.truth &&
         self.precision);
    MUST(parallel_for(n_measured, settings->n_threads, measure_one, &self, err));
    result.shrink = (float)fmax(1, sqrt(median(self.areas, n_measured) / USUAL_AREA));
    for (int k = 0; k < 2; k++) {
        MUST(parallel_for(n, settings->n_threads, sample_one, &self, err));
        const struct pixel_net_examples examples = {.inputs = self.inputs,
                                                    .classes = self.classes,
                                                    .n = n * self.n_samples,
                                                    .n_inputs = k ? PIXEL_CONTEXT_SIZE : PIXEL_BANK_SIZE,
                                                    .n_classes = OBJECT_CLASSES};
        MUST(pixel_net_train(&result.nets[k], &examples, object_net_copies[k], settings->seed + (uint64_t)k,
                             settings->progress, err));
    }
    rng_permutation(self.order, n, settings->seed, RNG_STREAM(RNG_FOLD, 0));
    MUST(parallel_for(n_edge_images, settings->n_threads, connect_one, &self, err));
    MUST(learn_edges(&self, learner, n_edge_images, err));
    if (result.weights)
        MUST(choose_bias(&self, n_edge_images, err));
    *model = TAKE(result);
    return CLV_OK;
}
