/* Computes the principal components of a map's channels, from the correlations of up to 256 pixels of each image.
 * Start at map_learn_components. */
#include <math.h>

#include "base/base.h"
#include "base/eigen.h"
#include "feature/recipe/recipe.h"

#define MAX_SAMPLES 256 /* pixels per image; neighbouring pixels are similar */

struct correlations {
    size_t n, n_samples, n_images;
    double *matrix; /* [n][n] sums of products of standardised channels */
    float *values;  /* [n][MAX_SAMPLES] samples of the present image */
};

static void correlations_release(struct correlations *self)
{
    arrays_free(self->matrix, self->values);
}

/* Samples a map at pixels a stride apart. The first pixel changes from image to image, so that every column of the map
 * is sampled. */
static enum clv_status sample_map(struct correlations *self, const struct map_reader *map,
                                  const struct clv_recipe_map *recipe_map, size_t item, struct clv_error *err)
{
    size_t n = (size_t)map->map.width * (size_t)map->map.height, stride = (n + MAX_SAMPLES - 1) / MAX_SAMPLES;
    const float *channel;
    OWNED_ARRAY float *scratch = array_alloc(n, sizeof *scratch);
    NEED(scratch);
    for (size_t c = 0; c < self->n; c++) {
        float mean = recipe_map->standard[c], scale = recipe_map->standard[c + self->n];
        self->n_samples = 0;
        MUST(map_reader_channel(&channel, scratch, map, (int32_t)c, err));
        for (size_t p = item % stride; p < n; p += stride)
            self->values[c * MAX_SAMPLES + self->n_samples++] = (channel[p] - mean) * scale;
    }
    return CLV_OK;
}

/* Adds the image to row i of the matrix, up to the diagonal. */
static enum clv_status add_row(void *context, size_t i, int thread, struct clv_error *err)
{
    (void)thread;
    (void)err;
    const struct correlations *self = context;
    const float *a = self->values + i * MAX_SAMPLES;
    for (size_t j = 0; j <= i; j++) {
        const float *b = self->values + j * MAX_SAMPLES;
        double sum = 0;
        for (size_t p = 0; p < self->n_samples; p++)
            sum += (double)a[p] * (double)b[p];
        self->matrix[i * self->n + j] += sum / (double)self->n_samples;
    }
    return CLV_OK;
}

static enum clv_status add_item(struct correlations *self, const struct clv_recipe_map *recipe_map,
                                const struct map_source *from, size_t item, int n_threads, struct clv_error *err)
{
    OWNED(map_reader_close) struct map_reader map = {0};
    MUST(map_of_item(&map, recipe_map, from->set, &from->set->items[item], from->limits, err));
    MUST(sample_map(self, &map, recipe_map, item, err));
    return parallel_for(self->n, n_threads, add_row, self, err);
}

static enum clv_status choose_components(struct clv_recipe_map *map, const struct correlations *self,
                                         struct clv_error *err)
{
    size_t n = self->n, n_components = (size_t)map->n_components;
    OWNED_ARRAY double *values = array_alloc(n, sizeof *values);
    map->components = array_alloc(n_components, n * sizeof *map->components);
    NEED(values && map->components);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            self->matrix[j * n + i] = self->matrix[i * n + j];
    eigen_of_covariance(values, self->matrix, n);
    for (size_t k = 0; k < n_components; k++) {
        double variance = (map->is_whitened ? values[k] : values[0]) / (double)self->n_images;
        double unit = variance > 0 ? 1 / sqrt(variance) : 0;
        for (size_t c = 0; c < n; c++)
            map->components[k * n + c] = (float)(self->matrix[k * n + c] * unit);
    }
    return CLV_OK;
}

enum clv_status map_learn_components(struct clv_recipe_map *map, const struct map_source *from, int n_threads,
                                     struct clv_error *err)
{
    size_t n = (size_t)map->n_channels;
    FAIL_IF(map->n_components > map->n_channels, CLV_ERR_DATA,
            "map %s has %d channels, %d principal components are more", map->name, map->n_channels, map->n_components);
    FAIL_IF(map->n_channels > CLV_MAX_PCA_CHANNELS, CLV_ERR_DATA,
            "map %s has %d channels; principal components are made of up to %d", map->name, map->n_channels,
            CLV_MAX_PCA_CHANNELS);
    OWNED(correlations_release) struct correlations all = {.n = n, .n_images = from->set->n_items};
    all.matrix = array_zalloc(n, n * sizeof *all.matrix);
    all.values = array_alloc(n, MAX_SAMPLES * sizeof *all.values);
    NEED(all.matrix && all.values);
    for (size_t i = 0; i < all.n_images; i++)
        MUST(stop_requested(from->progress) ? fail(err, CLV_ERR_INTERRUPTED, "interrupted")
                                            : add_item(&all, map, from, i, n_threads, err));
    return choose_components(map, &all, err);
}
