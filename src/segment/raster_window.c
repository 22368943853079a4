/* Reads windows of a raster and describes the tiles in them, side by side. Start at describe. */
#include <string.h>

#include "base/base.h"
#include "feature/recipe/recipe.h"
#include "segment/segment.h"

void raster_window_release(struct raster_window *window)
{
    array_free(window->values);
    *window = (struct raster_window){0};
}

enum clv_status raster_window_read(struct raster_window *window, struct raster_cut *self, const struct image_part *seen,
                                   int thread, struct clv_error *err)
{
    struct raster *raster = &self->rasters[thread];
    struct image_part *at = &window->at;
    *at = resize_source(seen, self->width, self->height);
    at->width += at->left > 0; /* the map of bands may begin one pixel earlier, by rounding */
    at->left -= at->left > 0;
    at->height += at->top > 0;
    at->top -= at->top > 0;
    if (!raster->n_parts)
        MUST(raster_open_windows(raster, self->options.path, self->options.limits, err));
    window->values = array_alloc((size_t)at->width * (size_t)at->height, (size_t)raster->n_bands * sizeof(float));
    NEED(window->values);
    enum clv_status status = raster_read(window->values, raster, at, err);
    raster_forget(raster);
    return status;
}

enum clv_status raster_window_show(struct clv_image *image, const struct raster_cut *self,
                                   const struct raster_window *window, const struct image_part *part,
                                   struct clv_error *err)
{
    MUST(clv_image_new(image, part->width, part->height, 3, err));
    for (int32_t y = 0; y < part->height; y++) {
        size_t row = (size_t)(part->top + y - window->at.top), column = (size_t)(part->left - window->at.left);
        bands_colours(image->pixels + 3 * (size_t)y * (size_t)part->width,
                      window->values + (row * (size_t)window->at.width + column) * (size_t)self->bands.n_bands,
                      (size_t)part->width, &self->bands);
    }
    return CLV_OK;
}

/* Makes the image of a tile and its halo, at working size. */
static enum clv_status show(struct clv_image *seen, const struct raster_cut *self, const struct raster_window *window,
                            const struct image_part *wanted, struct clv_error *err)
{
    OWNED(clv_image_release) struct clv_image image = {0};
    struct image_part from = resize_source(wanted, self->width, self->height);
    MUST(raster_window_show(&image, self, window, &from, err));
    return image_resize_part(seen, wanted, &image, &from, err);
}

static enum clv_status describe(struct tile_scores *scores, const struct raster_cut *self,
                                const struct raster_window *window, int32_t k, struct clv_error *err)
{
    const struct clv_model *model = self->options.model;
    struct tile_bounds bounds = tile_bounds(&model->recipe, self->working_width, self->working_height, k);
    OWNED(clv_image_release) struct clv_image seen = {0};
    OWNED(map_reader_close) struct map_reader bands = {0};
    const struct view_source source = {.working = &seen, .maps = &bands};
    OWNED(tile_release) struct tile tile = {0};
    MUST(show(&seen, self, window, &bounds.seen, err));
    if (model->recipe.n_maps)
        MUST(bands_map_part(&bands.map, &bounds.seen, window->values, &window->at, &self->bands, err));
    MUST(tile_extract(&tile, &source, &bounds.core, &self->at, err));
    return tile_scores_make(scores, &tile, &bounds.core, model, &self->at, err);
}

/* Tiles that are computed at the same time, in windows of several tiles, one thread per window. */
struct turn {
    struct raster_cut *cut;
    int32_t first, n;
    struct tile_scores *scores; /* [n] */
};

static enum clv_status describe_window(void *context, size_t index, int thread, struct clv_error *err)
{
    const struct turn *turn = context;
    struct raster_cut *self = turn->cut;
    const struct clv_recipe *recipe = &self->options.model->recipe;
    OWNED(raster_window_release) struct raster_window window = {0};
    int32_t end = turn->first + turn->n, first = turn->first, n = 0;
    for (size_t k = 0; k <= index && first < end; k++) { /* a window ends where a row of tiles does */
        first += n;
        n = smaller(smaller(self->options.at_once, self->n_columns - first % self->n_columns), end - first);
    }
    FAIL_IF(stop_requested(self->options.progress), CLV_ERR_INTERRUPTED, "interrupted");
    if (n < 1)
        return CLV_OK;
    struct image_part seen = tile_bounds(recipe, self->working_width, self->working_height, first).seen;
    const struct image_part last = tile_bounds(recipe, self->working_width, self->working_height, first + n - 1).seen;
    seen.width = last.left + last.width - seen.left;
    MUST(raster_window_read(&window, self, &seen, thread, err));
    for (int32_t k = first; k < first + n; k++)
        MUST(describe(&turn->scores[k - turn->first], self, &window, k, err));
    return CLV_OK;
}

enum clv_status raster_cut_describe(struct tile_scores *scores, struct raster_cut *self, int32_t first, int32_t n,
                                    struct clv_error *err)
{
    struct turn turn = {self, first, n, scores};
    return parallel_for((size_t)n, self->options.n_threads, describe_window, &turn, err);
}

#define WINDOWS_ACROSS 3
#define WINDOW_PX      256

static struct image_part window_at(const struct raster_cut *self, int32_t row, int32_t column)
{
    int32_t width = smaller(WINDOW_PX, self->working_width), height = smaller(WINDOW_PX, self->working_height);
    return (struct image_part){.left = column * (self->working_width - width) / (WINDOWS_ACROSS - 1),
                               .top = row * (self->working_height - height) / (WINDOWS_ACROSS - 1),
                               .width = width,
                               .height = height,
                               .whole_width = self->working_width,
                               .whole_height = self->working_height};
}

enum clv_status raster_cut_means(float *mean, struct raster_cut *self, struct clv_error *err)
{
    const struct clv_recipe *recipe = &self->options.model->recipe;
    size_t n = map_drift_size(recipe);
    OWNED_ARRAY float *margins = array_alloc(n, sizeof *margins);
    NEED(margins);
    memset(mean, 0, n * sizeof *mean);
    for (int32_t k = 0; k < WINDOWS_ACROSS * WINDOWS_ACROSS; k++) {
        struct image_part seen = window_at(self, k / WINDOWS_ACROSS, k % WINDOWS_ACROSS);
        OWNED(raster_window_release) struct raster_window window = {0};
        OWNED(map_reader_close) struct map_reader bands = {0};
        MUST(raster_window_read(&window, self, &seen, 0, err));
        MUST(bands_map_part(&bands.map, &seen, window.values, &window.at, &self->bands, err));
        MUST(map_drift_means(margins, &bands, recipe, err));
        for (size_t c = 0; c < n; c++)
            mean[c] += margins[c] / (WINDOWS_ACROSS * WINDOWS_ACROSS);
    }
    return CLV_OK;
}
