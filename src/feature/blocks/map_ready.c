/* Converts the values of a map's channels by its recipe: probabilities to log-odds, features to standardised ones or
 * their principal components. Clips all of them, and logits. Start at map_ready_channel. */
#include "feature/blocks/blocks.h"

#include <math.h>
#include <string.h>

#include "base/base.h"

/* Clips a value to +-MAP_CLIP; NaN becomes -MAP_CLIP. */
static float clipped(double value)
{
    double clip = (double)MAP_CLIP, raised = value > -clip ? value : -clip;
    return (float)(raised < clip ? raised : clip);
}

static float log_odds(float probability)
{
    double p = (double)probability, least = 1e-4; /* beyond the clip */
    p = fmin(fmax(p, least), 1 - least);
    return clipped(portable_log(p / (1 - p)));
}

int32_t map_values(const struct clv_recipe_map *map)
{
    return map->n_components ? map->n_components : map->n_channels;
}

enum clv_status map_ready_init(struct map_ready *ready, const struct map_reader *map,
                               const struct clv_recipe_map *recipe_map, struct clv_error *err)
{
    OWNED(map_ready_release) struct map_ready result = {.map = map,
                                                        .recipe_map = recipe_map,
                                                        .width = map->map.width,
                                                        .height = map->map.height,
                                                        .n_channels = map_values(recipe_map),
                                                        .n = (size_t)map->map.width * (size_t)map->map.height,
                                                        .right = map->map.width,
                                                        .bottom = map->map.height};
    bool is_reduced = recipe_map->use != CLV_MAP_USE_IGNORED && recipe_map->n_components;
    FAIL_IF(map->map.n_channels != recipe_map->n_channels, CLV_ERR_DATA, "map %s has %d channels, the recipe's has %d",
            recipe_map->name, map->map.n_channels, recipe_map->n_channels);
    FAIL_IF((recipe_map->kind == CLV_MAP_FEATURES || is_reduced) && !recipe_map->standard, CLV_ERR_USAGE,
            "map %s: the recipe has not learned its scale", recipe_map->name);
    FAIL_IF(is_reduced && !recipe_map->components, CLV_ERR_USAGE, "map %s: the recipe has not learned its components",
            recipe_map->name);
    size_t fit = MAP_SUMS / (result.n * sizeof *result.sums);
    result.at_once = fit < 1 ? 1 : fit < (size_t)result.n_channels ? (int32_t)fit : result.n_channels;
    result.first = -result.at_once;
    result.channel = array_alloc(result.n, sizeof *result.channel);
    result.sums = is_reduced ? array_alloc(result.n, (size_t)result.at_once * sizeof *result.sums) : NULL;
    NEED(result.channel && (result.sums || !is_reduced));
    *ready = TAKE(result);
    return CLV_OK;
}

void map_ready_release(struct map_ready *ready)
{
    arrays_free(ready->channel, ready->sums);
    *ready = (struct map_ready){0};
}

/* Computes the components from first_component, as many as the array of sums holds. */
static enum clv_status compute_components(struct map_ready *self, int32_t first_component, struct clv_error *err)
{
    const struct clv_recipe_map *recipe_map = self->recipe_map;
    size_t n = self->n, n_channels = (size_t)recipe_map->n_channels, first = (size_t)first_component;
    size_t left = (size_t)self->n_channels - first,
           n_sums = (size_t)self->at_once < left ? (size_t)self->at_once : left;
    const float *from, *standard = recipe_map->standard;
    memset(self->sums, 0, n_sums * n * sizeof *self->sums);
    for (size_t c = 0; c < n_channels; c++) {
        MUST(map_reader_channel(&from, self->channel, self->map, (int32_t)c, err));
        for (size_t k = 0; k < n_sums; k++) {
            double *sum = self->sums + k * n, mean = (double)standard[c];
            double weight = (double)recipe_map->components[(first + k) * n_channels + c];
            weight *= (double)standard[c + n_channels];
            for (size_t p = 0; p < n; p++)
                sum[p] += weight * ((double)from[p] - mean);
        }
    }
    return CLV_OK;
}

/* to[n] = the component's value at each pixel. self->first is set only after success, since sums are incomplete
 * otherwise. */
static enum clv_status take_component(float *to, struct map_ready *self, int32_t component, struct clv_error *err)
{
    int32_t first = component - component % self->at_once;
    if (first != self->first) {
        self->first = -self->at_once;
        MUST(compute_components(self, first, err));
        self->first = first;
    }
    const double *sum = self->sums + (size_t)(component - first) * self->n;
    for (size_t p = 0; p < self->n; p++)
        to[p] = clipped(sum[p]);
    return CLV_OK;
}

/* Converts pixels first to end - 1 of a channel. */
static void convert(float *to, const float *from, size_t first, size_t end, const struct clv_recipe_map *map,
                    size_t channel)
{
    if (map->kind == CLV_MAP_FEATURES) {
        double mean = (double)map->standard[channel];
        double scale = (double)map->standard[channel + (size_t)map->n_channels];
        for (size_t p = first; p < end; p++)
            to[p] = clipped(((double)from[p] - mean) * scale);
    } else if (map->kind == CLV_MAP_LOGITS) {
        for (size_t p = first; p < end; p++)
            to[p] = clipped((double)from[p]);
    } else {
        for (size_t p = first; p < end; p++)
            to[p] = log_odds(from[p]);
    }
}

enum clv_status map_ready_channel(const float **values, struct map_ready *ready, int32_t channel, struct clv_error *err)
{
    const struct clv_recipe_map *recipe_map = ready->recipe_map;
    const float *from;
    float *to = ready->channel;
    size_t c = (size_t)channel, n = ready->n;
    *values = to;
    if (recipe_map->use == CLV_MAP_USE_IGNORED) {
        memset(to, 0, n * sizeof *to);
        return CLV_OK;
    }
    if (recipe_map->n_components)
        return take_component(to, ready, channel, err);
    MUST(map_reader_channel(&from, to, ready->map, channel, err));
    for (int32_t y = ready->top; y < ready->bottom; y++) {
        size_t row = (size_t)y * (size_t)ready->width;
        convert(to, from, row + (size_t)ready->left, row + (size_t)ready->right, recipe_map, c);
    }
    return CLV_OK;
}

double map_channel_mean(const float *values, size_t n)
{
    double sum = 0;
    for (size_t p = 0; p < n; p++)
        sum += (double)values[p];
    return sum / (double)n;
}
