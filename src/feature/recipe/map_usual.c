/* What images' maps usually are, for a later look at whether others are like them; and whether the channels of features
 * tell figure from ground in the same way in all training images. */
#include <math.h>

#include "base/array.h"
#include "base/error.h"
#include "base/parallel.h"
#include "feature/blocks/map_pool.h"
#include "feature/recipe/map_learning.h"

#define MAX_LOOKED_AT 512

struct look {
    const struct clv_recipe_map *map;
    const struct map_source *from;
    size_t n, n_values;
    float *mean;      /* [n][n_values] of each item looked at */
    float *direction; /* [n][n_values] unit vector from the ground's mean to the figure's */
    bool *has_direction;
};

/* Takes the mask's label at the centre of each of the map's pixels. */
static bool find_direction(float *direction, const struct clv_map *ready, const struct clv_mask *mask)
{
    size_t width = (size_t)ready->width, height = (size_t)ready->height, n = width * height, count[2] = {0};
    double square = 0;
    for (size_t c = 0; c < (size_t)ready->n_channels; c++) {
        double sum[2] = {0};
        count[0] = count[1] = 0;
        for (size_t p = 0; p < n; p++) {
            size_t x = (2 * (p % width) + 1) * (size_t)mask->width / (2 * width);
            size_t y = (2 * (p / width) + 1) * (size_t)mask->height / (2 * height);
            uint8_t label = mask->labels[y * (size_t)mask->width + x];
            if (label > 1)
                continue;
            sum[label] += (double)ready->values[c * n + p];
            count[label]++;
        }
        if (!count[0] || !count[1])
            return false;
        double difference = sum[1] / (double)count[1] - sum[0] / (double)count[0];
        direction[c] = (float)difference;
        square += difference * difference;
    }
    for (size_t c = 0; c < (size_t)ready->n_channels && square > 0; c++)
        direction[c] = (float)((double)direction[c] / sqrt(square));
    return square > 0;
}

static enum clv_status look_task(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    struct look *self = context;
    const struct clv_set *set = self->from->set;
    const struct clv_item *item = &set->items[index * set->n_items / self->n];
    struct clv_map map = {0}, ready = {0};
    struct clv_mask mask = {0};
    struct clv_error unread; /* whoever needs the mask will say */
    if (stop_requested(self->from->progress))
        return fail(err, CLV_ERR_INTERRUPTED, "interrupted");
    enum clv_status status = map_of_item(&map, self->map, set, item, self->from->limits, err);
    if (status == CLV_OK)
        status = map_ready(&ready, &map, self->map, err);
    if (status == CLV_OK)
        map_image_means(self->mean + index * self->n_values, &ready);
    if (status == CLV_OK && self->direction && item->mask &&
        clv_mask_read(&mask, item->mask, &set->labels, 0, 0, self->from->limits, &unread) == CLV_OK)
        self->has_direction[index] = find_direction(self->direction + index * self->n_values, &ready, &mask);
    clv_mask_release(&mask);
    clv_map_release(&ready);
    clv_map_release(&map);
    return status;
}

/* Mean and deviation among images. */
static void summarise(float *usual, const struct look *self)
{
    size_t k = self->n_values;
    for (size_t c = 0; c < k; c++) {
        double sum = 0, square = 0;
        for (size_t i = 0; i < self->n; i++)
            sum += (double)self->mean[i * k + c];
        double mean = sum / (double)self->n;
        for (size_t i = 0; i < self->n; i++)
            square += ((double)self->mean[i * k + c] - mean) * ((double)self->mean[i * k + c] - mean);
        usual[c] = (float)mean;
        usual[k + c] = (float)sqrt(square / (double)(self->n - 1));
    }
}

static enum clv_status count_groups(int32_t *n_groups, struct look *self, struct clv_error *err)
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

enum clv_status map_learn_usual(struct clv_recipe_map *map, const struct map_source *from, int n_threads,
                                struct clv_error *err)
{
    size_t n = from->set->n_items < MAX_LOOKED_AT ? from->set->n_items : MAX_LOOKED_AT;
    size_t n_values = (size_t)map_values(map);
    bool has_directions = map->kind == CLV_MAP_FEATURES && from->set->labels.n_labels == 2;
    struct look look = {.map = map, .from = from, .n = n, .n_values = n_values};
    look.mean = array_alloc(n, n_values * sizeof *look.mean);
    look.direction = has_directions ? array_alloc(n, n_values * sizeof *look.direction) : NULL;
    look.has_direction = array_zalloc(n, sizeof *look.has_direction);
    bool is_short = !look.mean || !look.has_direction || (has_directions && !look.direction);
    enum clv_status status = is_short ? fail_memory(err) : parallel_for(n, n_threads, look_task, &look, err);
    if (status == CLV_OK && has_directions)
        status = count_groups(&map->n_groups, &look, err);
    if (status == CLV_OK && n > 1) {
        map->usual = array_alloc(n_values, 2 * sizeof *map->usual);
        if (map->usual)
            summarise(map->usual, &look);
        else
            status = fail_memory(err);
    }
    array_free(look.mean);
    array_free(look.direction);
    array_free(look.has_direction);
    return status;
}
