/* Computes the mean and deviation of the maps' values among training images, to which map_drift.c compares later
 * images, and whether the channels of features separate foreground from background in the same way in all training
 * images. Start at map_learn_statistics. */
#include <math.h>

#include "base/base.h"
#include "data/data.h"
#include "feature/blocks/blocks.h"
#include "feature/recipe/recipe.h"

#define MAX_ITEMS    512
#define FEW_ITEMS    8 /* images; with fewer, parts of images are the sample for bands, which often come from one scene */
#define PARTS_ACROSS 4

struct statistics_state {
    const struct clv_recipe_map *map;
    const struct map_source *from;
    size_t n, n_values, across; /* across: number of parts of an item along a side */
    float *mean;                /* [n][across * across][n_values] of each item's parts */
    float *direction;           /* [n][n_values] unit vector from the background's mean to the foreground's */
    bool *has_direction;
    double *step; /* [n] mean squared distance of pixels that are a region's side apart */
};

/* Returns the mean of a channel over the foreground minus that over the background, by the mask's label at the centre
 * of each pixel of the map. Returns 0 if either is missing. */
static double find_difference(const float *values, const struct map_ready *ready, const struct clv_mask *mask)
{
    size_t width = (size_t)ready->width, height = (size_t)ready->height, count[2] = {0};
    double sum[2] = {0};
    for (size_t p = 0; p < ready->n; p++) {
        size_t x = (2 * (p % width) + 1) * (size_t)mask->width / (2 * width);
        size_t y = (2 * (p / width) + 1) * (size_t)mask->height / (2 * height);
        uint8_t label = mask->labels[y * (size_t)mask->width + x];
        if (label > 1)
            continue;
        sum[label] += (double)values[p];
        count[label]++;
    }
    return count[0] && count[1] ? sum[1] / (double)count[1] - sum[0] / (double)count[0] : 0;
}

/* Returns the mean squared difference between a channel's values `step` pixels apart, along rows and along columns. */
static double mean_step(const float *values, const struct map_ready *ready, int32_t step)
{
    int32_t width = ready->width, height = ready->height;
    double sum = 0, n = 0;
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++) {
            const float *at = values + (size_t)y * (size_t)width + (size_t)x;
            double right = x + step < width ? (double)at[step] - (double)*at : 0;
            double below = y + step < height ? (double)at[(size_t)step * (size_t)width] - (double)*at : 0;
            sum += right * right + below * below;
            n += (x + step < width) + (y + step < height);
        }
    return n > 0 ? sum / n : 0;
}

/* Computes column c of mean[across * across][n_values]: the means of a channel over the parts of an item. */
static void find_means(float *mean, const struct statistics_state *self, size_t c, const float *values,
                       const struct map_ready *ready)
{
    size_t across = self->across, width = (size_t)ready->width, height = (size_t)ready->height;
    for (size_t part = 0; part < across * across; part++) {
        size_t row = part / across, column = part % across, n = 0;
        size_t top = row * height / across, end_y = (row + 1) * height / across;
        size_t left = column * width / across, end_x = (column + 1) * width / across;
        double sum = 0;
        for (size_t y = top; y < end_y; y++)
            for (size_t x = left; x < end_x; x++, n++)
                sum += (double)values[y * width + x];
        mean[part * self->n_values + c] = (float)(n ? sum / (double)n : map_channel_mean(values, ready->n));
    }
}

/* Measures an item's map. Without a mask the direction is not computed. */
static enum clv_status measure_map(struct statistics_state *self, size_t index, const struct map_reader *map,
                                   const struct clv_mask *mask, int32_t image_width, struct clv_error *err)
{
    OWNED(map_ready_release) struct map_ready ready = {0};
    const float *values;
    float *mean = self->mean + index * self->across * self->across * self->n_values;
    float *direction = mask->labels ? self->direction + index * self->n_values : NULL;
    double square = 0;
    MUST(map_ready_init(&ready, map, self->map, err));
    for (int32_t c = 0; c < ready.n_channels; c++) {
        MUST(map_ready_channel(&values, &ready, c, err));
        if (self->from->side_px > 0) {
            float side = self->from->side_px * (float)ready.width / (float)image_width + 0.5F;
            self->step[index] += mean_step(values, &ready, int32_within((double)side, 1, INT32_MAX));
        }
        if (self->across > 1)
            find_means(mean, self, (size_t)c, values, &ready);
        else
            mean[c] = (float)map_channel_mean(values, ready.n);
        double difference = direction ? find_difference(values, &ready, mask) : 0;
        square += difference * difference;
        if (direction)
            direction[c] = (float)difference;
    }
    self->has_direction[index] = direction && square > 0;
    for (int32_t c = 0; c < ready.n_channels && direction && self->has_direction[index]; c++)
        direction[c] = (float)((double)direction[c] / sqrt(square));
    return CLV_OK;
}

static enum clv_status measure_task(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    struct statistics_state *self = context;
    const struct clv_set *set = self->from->set;
    const struct clv_item *item = &set->items[index * set->n_items / self->n];
    OWNED(map_reader_close) struct map_reader map = {0};
    OWNED(clv_mask_release) struct clv_mask mask = {0};
    struct clv_error unread; /* the error is reported when the mask is used */
    FAIL_IF(stop_requested(self->from->progress), CLV_ERR_INTERRUPTED, "interrupted");
    MUST(map_of_item(&map, self->map, set, item, self->from->limits, err));
    const struct mask_wanted wanted = {.limits = self->from->limits};
    if (self->direction && item->mask && item_mask_read(&mask, item, &set->labels, &wanted, &unread) != CLV_OK)
        mask = (struct clv_mask){0};
    int32_t width = 1, height = 1;
    if (self->from->side_px > 0)
        MUST(item_image_size(&width, &height, item, self->from->limits, err));
    return measure_map(self, index, &map, &mask, width, err);
}

/* Computes usual[2][n_values], mean and deviation among images or their parts. */
static void summarise(float *usual, const struct statistics_state *self)
{
    size_t k = self->n_values, n = self->n * self->across * self->across;
    for (size_t c = 0; c < k; c++) {
        double sum = 0, square = 0;
        for (size_t i = 0; i < n; i++)
            sum += (double)self->mean[i * k + c];
        double mean = sum / (double)n;
        for (size_t i = 0; i < n; i++)
            square += ((double)self->mean[i * k + c] - mean) * ((double)self->mean[i * k + c] - mean);
        usual[c] = (float)mean;
        usual[k + c] = (float)sqrt(square / (double)(n - 1));
    }
}

static enum clv_status count_groups(int32_t *n_groups, struct statistics_state *self, struct clv_error *err)
{
    size_t k = self->n_values, n = 0;
    for (size_t i = 0; i < self->n; i++) {
        if (!self->has_direction[i])
            continue;
        for (size_t c = 0; c < k; c++)
            self->direction[n * k + c] = self->direction[i * k + c];
        n++;
    }
    return map_count_groups(n_groups, self->direction, n, k, err);
}

static void statistics_state_release(struct statistics_state *self)
{
    arrays_free(self->mean, self->direction, self->has_direction, self->step);
}

enum clv_status map_learn_statistics(struct clv_recipe_map *map, const struct map_source *from, int n_threads,
                                     struct clv_error *err)
{
    size_t n = from->set->n_items < MAX_ITEMS ? from->set->n_items : MAX_ITEMS;
    size_t n_values = (size_t)map_values(map);
    bool has_directions = map->kind == CLV_MAP_FEATURES && from->set->labels.n_labels == 2;
    OWNED(statistics_state_release) struct statistics_state state = {
        .map = map, .from = from, .n = n, .n_values = n_values, .across = 1};
    if (n < FEW_ITEMS && map->layout == CLV_MAP_LAYOUT_BANDS)
        state.across = PARTS_ACROSS;
    state.mean = array_alloc(n * state.across * state.across, n_values * sizeof *state.mean);
    state.direction = has_directions ? array_alloc(n, n_values * sizeof *state.direction) : NULL;
    state.has_direction = array_zalloc(n, sizeof *state.has_direction);
    state.step = array_zalloc(n, sizeof *state.step);
    NEED(state.mean && state.step && state.has_direction && (!has_directions || state.direction));
    MUST(parallel_for(n, n_threads, measure_task, &state, err));
    if (has_directions)
        MUST(count_groups(&map->n_groups, &state, err));
    double step = 0;
    for (size_t i = 0; i < n; i++)
        step += state.step[i] / (double)n;
    map->contrast_scale = map->kind == CLV_MAP_FEATURES && step > 0 ? (float)(1 / (2 * step)) : 0;
    if (n * state.across > 1) {
        map->usual = array_alloc(n_values, 2 * sizeof *map->usual);
        NEED(map->usual);
        summarise(map->usual, &state);
    }
    return CLV_OK;
}
