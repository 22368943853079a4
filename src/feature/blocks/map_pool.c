/* Computes the feature block of maps: statistics of each channel over the pixels of each node, soft bins of
 * probabilities, and edge features from differences of the means. Start at map_pool_init and maps_fill. */
#include "feature/blocks/blocks.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/base.h"
#include "data/maps/maps.h"

enum { BINS = 9 };

static bool is_log_odds(const struct clv_recipe_map *map)
{
    return map->kind == CLV_MAP_PROBABILITIES || map->kind == CLV_MAP_LOGITS;
}

void map_pool_release(struct map_pool *pool)
{
    arrays_free(pool->mean, pool->largest, pool->deviation);
    *pool = (struct map_pool){0};
}

static int32_t count_channels(const struct clv_recipe *recipe)
{
    int32_t n = 0;
    for (int32_t m = 0; m < recipe->n_maps; m++)
        n += map_values(&recipe->maps[m]);
    return n;
}

/* Computes the statistics of one channel, which has index `channel` among those of a node. */
static void pool_channel(struct map_pool *pool, const struct scene *scene, const float *plane, size_t channel)
{
    for (int32_t r = 0; r < scene->n_regions; r++) {
        double sum = 0, square = 0;
        float largest = -MAP_CLIP;
        for (int32_t k = scene->start[r]; k < scene->start[r + 1]; k++) {
            float value = plane[scene->pixel[k]];
            sum += (double)value;
            square += (double)value * (double)value;
            largest = value > largest ? value : largest;
        }
        double n = scene->start[r + 1] - scene->start[r], mean = sum / n;
        size_t at = (size_t)r * (size_t)pool->n_channels + channel;
        pool->mean[at] = (float)mean;
        if (pool->largest)
            pool->largest[at] = largest;
        if (pool->deviation)
            pool->deviation[at] = (float)sqrt(fmax(square / n - mean * mean, 0));
    }
}

/* A map_pool while it is filled. */
struct pool_state {
    struct map_pool result;
    const struct scene *scene;
    struct map_window window;
    float *plane;   /* a channel of the scene */
    size_t channel; /* index of the next channel among those of a node */
};

static void pool_state_release(struct pool_state *self)
{
    map_pool_release(&self->result);
    array_free(self->plane);
}

/* Computes the statistics of all channels of a map. */
static enum clv_status pool_map(struct pool_state *self, const struct map_reader *map,
                                const struct clv_recipe_map *recipe_map, struct clv_error *err)
{
    const struct scene *scene = self->scene;
    const struct map_window *window = &self->window;
    OWNED(map_ready_release) struct map_ready ready = {0};
    OWNED(map_grid_release) struct map_grid grid = {0};
    const float *values;
    MUST(map_ready_init(&ready, map, recipe_map, err));
    MUST(map_grid_init(&grid, ready.width, ready.height, window->width, window->height, err));
    const struct map_grid seen = {scene->width, scene->height, grid.map_width, grid.columns + window->x,
                                  grid.rows + window->y};
    ready.left = seen.columns[0].low;
    ready.right = seen.columns[seen.width - 1].high + 1;
    ready.top = seen.rows[0].low;
    ready.bottom = seen.rows[seen.height - 1].high + 1;
    for (int32_t c = 0; c < ready.n_channels; c++) {
        MUST(map_ready_channel(&values, &ready, c, err));
        map_sample(self->plane, &seen, values);
        pool_channel(&self->result, scene, self->plane, self->channel++);
    }
    return CLV_OK;
}

enum clv_status map_pool_init(struct map_pool *pool, const struct scene *scene, const struct map_reader *maps,
                              const struct map_window *window, const struct clv_recipe *recipe, struct clv_error *err)
{
    OWNED(pool_state_release) struct pool_state self = {
        .result = {.n_channels = count_channels(recipe)},
        .scene = scene,
        .window = window ? *window : (struct map_window){0, 0, scene->width, scene->height}};
    struct map_pool *result = &self.result;
    size_t n = (size_t)scene->n_regions * (size_t)result->n_channels;
    bool has_largest = recipe->map_pool & CLV_MAP_MAX, has_deviation = recipe->map_pool & CLV_MAP_DEVIATION;
    self.plane = array_alloc((size_t)scene->width, (size_t)scene->height * sizeof *self.plane);
    result->mean = array_alloc(n, sizeof *result->mean);
    result->largest = has_largest ? array_alloc(n, sizeof *result->largest) : NULL;
    result->deviation = has_deviation ? array_alloc(n, sizeof *result->deviation) : NULL;
    NEED(self.plane && result->mean && (!has_largest || result->largest) && (!has_deviation || result->deviation));
    for (int32_t m = 0; m < recipe->n_maps; m++)
        MUST(pool_map(&self, &maps[m], &recipe->maps[m], err));
    *pool = TAKE(self.result);
    return CLV_OK;
}

/* Returns the number of columns of one channel of map m. */
static int32_t channel_size(const struct clv_recipe *recipe, int32_t m)
{
    int32_t more = !!(recipe->map_pool & CLV_MAP_MAX) + !!(recipe->map_pool & CLV_MAP_DEVIATION);
    return 1 + (is_log_odds(&recipe->maps[m]) ? BINS : 0) + more;
}

int32_t maps_size(const struct clv_recipe *recipe)
{
    int32_t n = 1;
    for (int32_t m = 0; m < recipe->n_maps; m++)
        n += map_values(&recipe->maps[m]) * channel_size(recipe, m);
    return n;
}

double maps_met(const struct clv_recipe *recipe, double of_node, double of_image)
{
    (void)of_node, (void)of_image;
    return maps_size(recipe);
}

void maps_fill(float *row, const struct views *views, int32_t region)
{
    const struct clv_recipe *recipe = views->recipe;
    const struct map_pool *pool = &views->pooled;
    size_t at = (size_t)region * (size_t)pool->n_channels;
    *row++ = 1;
    for (int32_t m = 0; m < recipe->n_maps; m++) {
        bool is_binned = is_log_odds(&recipe->maps[m]);
        float weight = 1 / sqrtf((float)map_values(&recipe->maps[m])), unit = is_binned ? weight / MAP_CLIP : weight;
        for (int32_t c = 0; c < map_values(&recipe->maps[m]); c++, at++) {
            *row++ = pool->mean[at] * unit;
            if (is_binned) {
                soft_bins_fill(row, BINS, (pool->mean[at] + MAP_CLIP) / (2 * MAP_CLIP) * (BINS - 1), weight);
                row += BINS;
            }
            if (pool->largest)
                *row++ = pool->largest[at] * unit;
            if (pool->deviation)
                *row++ = pool->deviation[at] * unit;
        }
    }
}

int32_t maps_mean_column(float *unit, const struct clv_recipe *recipe, int32_t map, int32_t channel)
{
    int32_t column = 1;
    for (int32_t m = 0; m < map; m++)
        column += map_values(&recipe->maps[m]) * channel_size(recipe, m);
    *unit = 1 / sqrtf((float)map_values(&recipe->maps[map])) / (is_log_odds(&recipe->maps[map]) ? MAP_CLIP : 1);
    return column + channel * channel_size(recipe, map);
}

void maps_name(char *name, size_t size, const struct clv_recipe *recipe, int32_t index)
{
    int32_t m = 0;
    if (index == 0) {
        snprintf(name, size, "bias of maps");
        return;
    }
    index--;
    while (m + 1 < recipe->n_maps && index >= map_values(&recipe->maps[m]) * channel_size(recipe, m)) {
        index -= map_values(&recipe->maps[m]) * channel_size(recipe, m);
        m++;
    }
    int32_t n = channel_size(recipe, m), channel = index / n, part = index % n;
    int32_t bins = is_log_odds(&recipe->maps[m]) ? BINS : 0;
    const char *map = recipe->maps[m].name, *of = recipe->maps[m].n_components ? "component" : "channel";
    if (part == 0)
        snprintf(name, size, "map %s %s %d mean", map, of, channel);
    else if (part <= bins)
        snprintf(name, size, "map %s %s %d mean bin %d", map, of, channel, part - 1);
    else
        snprintf(name, size, "map %s %s %d %s", map, of, channel,
                 part == bins + 1 && recipe->map_pool & CLV_MAP_MAX ? "maximum" : "deviation");
}

int32_t map_edge_count(const struct clv_recipe *recipe)
{
    return recipe->blocks & CLV_BLOCK_MAPS ? recipe->n_maps : 0;
}

/* Returns the largest difference of probabilities over the channels. */
static float largest_difference(const float *a, const float *b, int32_t n_channels)
{
    float largest = 0;
    for (int32_t c = 0; c < n_channels; c++) {
        float p = 1 / (1 + portable_expf(-a[c])), q = 1 / (1 + portable_expf(-b[c]));
        largest = fmaxf(largest, fabsf(p - q));
    }
    return largest;
}

static double square_distance(const float *a, const float *b, int32_t n_channels)
{
    double sum = 0;
    for (int32_t c = 0; c < n_channels; c++)
        sum += ((double)a[c] - (double)b[c]) * ((double)a[c] - (double)b[c]);
    return sum;
}

void map_edges_fill(float *features, int32_t stride, const struct clv_adjacency *adjacency, const struct map_pool *pool,
                    const struct clv_recipe *recipe, float side)
{
    size_t n = (size_t)pool->n_channels;
    const float *mean = pool->mean;
    for (int32_t m = 0; m < recipe->n_maps; m++) {
        int32_t n_channels = map_values(&recipe->maps[m]);
        bool is_probability = is_log_odds(&recipe->maps[m]);
        double sum = 0, beta = (double)recipe->maps[m].contrast_scale;
        bool is_own = !is_probability && !(recipe->scale > 0);
        for (int32_t e = 0; e < adjacency->n_edges && is_own; e++)
            sum += square_distance(mean + (size_t)adjacency->edges[e][0] * n, mean + (size_t)adjacency->edges[e][1] * n,
                                   n_channels);
        if (is_own)
            beta = sum > 0 ? adjacency->n_edges / (2 * sum) : 0; /* relative to this image, as for colours (edges.c) */
        for (int32_t e = 0; e < adjacency->n_edges; e++) {
            const float *a = mean + (size_t)adjacency->edges[e][0] * n, *b = mean + (size_t)adjacency->edges[e][1] * n;
            float similarity = is_probability ? 1 - largest_difference(a, b, n_channels)
                                              : portable_expf((float)(-beta * square_distance(a, b, n_channels)));
            float length = recipe->nodes == CLV_NODES_PATCHES ? 1 : adjacency->boundary_length[e] / side;
            features[(size_t)e * (size_t)stride + (size_t)(stride - recipe->n_maps + m)] = length * similarity;
        }
        mean += n_channels;
    }
}
