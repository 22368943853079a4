/* Refines the borders in masks of rasters, square by square, each with a halo. Start at raster_cut_refine. */
#include <string.h>

#include "base/base.h"
#include "feature/blocks/blocks.h"
#include "refine/by_model/by_model.h"
#include "refine/refine.h"
#include "segment/segment.h"

enum { HALO_PART = 8 };

/* A row of squares. */
struct strip {
    struct raster_cut *cut;
    uint8_t *labels; /* [n_rows][width] */
    int32_t top, n_rows, at_once;
    struct image_part seen; /* working rows that its squares need */
    int32_t *nodes;         /* [rows of the raster under `seen`][width] regions */
    int32_t *numbers;       /* [n_threads][regions] zeros between squares */
};

/* A square with its margin, as a separate image. */
struct square {
    struct clv_example example;
    struct clv_image image;
    struct map_reader bands;
    int32_t *y;
    double *margin;
    uint8_t *labels;
    bool is_uniform;
};

static void square_release(struct square *self)
{
    clv_image_release(&self->image);
    clv_map_release(&self->bands.map);
    arrays_free(self->example.superpixels.labels, self->example.area, self->y, self->margin, self->labels);
}

/* Finds the working pixels along one axis that a square from pixel `at` on needs. Their number is the same everywhere,
 * unless the raster has fewer. */
static void working_range(int32_t *first, int32_t *n, int32_t at, int32_t side, int32_t size, int32_t working_size)
{
    int64_t core = ((int64_t)side * working_size - 1) / size + 1, halo = core / HALO_PART + 1, all = core + 2 * halo;
    int64_t begin = working_coordinate(at, size, working_size) - halo;
    *n = (int32_t)(all < working_size ? all : working_size);
    begin = begin < 0 ? 0 : begin;
    *first = (int32_t)(begin < working_size - *n ? begin : working_size - *n);
}

/* Numbers the regions under the part in order of occurrence, and copies their labels and margins. number[regions] is
 * workspace, 0 before and after. */
static enum clv_status take_regions(struct square *self, const struct strip *strip, const struct image_part *part,
                                    int32_t *number, struct clv_error *err)
{
    const struct raster_cut *cut = strip->cut;
    struct clv_superpixels *map = &self->example.superpixels;
    size_t width = (size_t)part->width, n = width * (size_t)part->height, stride = (size_t)cut->width, n_others = 0;
    const int32_t *nodes = strip->nodes + part->left;
    self->labels = array_alloc(n, sizeof *self->labels);
    *map = (struct clv_superpixels){part->width, part->height, 0, array_alloc(n, sizeof *map->labels)};
    NEED(self->labels && map->labels);
    for (size_t p = 0; p < n; p++) {
        int32_t *region = &number[nodes[p / width * stride + p % width]];
        *region = *region ? *region : ++map->n;
        map->labels[p] = *region - 1;
    }
    self->example.width = part->width;
    self->example.height = part->height;
    self->example.problem.n_nodes = map->n;
    self->example.area = array_zalloc((size_t)map->n, sizeof *self->example.area);
    self->y = array_alloc((size_t)map->n, sizeof *self->y);
    self->margin = array_zalloc((size_t)map->n, sizeof *self->margin);
    NEED(self->example.area && self->y && self->margin);
    for (size_t p = 0; p < n; p++) {
        int32_t node = nodes[p / width * stride + p % width], region = map->labels[p];
        number[node] = 0;
        self->example.area[region]++;
        self->y[region] = self->labels[p] = cut->y[node];
        if (cut->margin)
            self->margin[region] = cut->margin[node];
        n_others += self->labels[p] != self->labels[0];
    }
    self->is_uniform = n_others == 0;
    return CLV_OK;
}

/* Returns the working pixels that the square from pixel `left` on needs. */
static struct image_part part_seen(const struct strip *strip, int32_t left)
{
    const struct raster_cut *cut = strip->cut;
    struct image_part seen = strip->seen;
    working_range(&seen.left, &seen.width, left, cut->refined_px, cut->width, cut->working_width);
    return seen;
}

static enum clv_status refine(struct square *self, const struct strip *strip, const struct raster_window *window,
                              const struct image_part *seen, const struct image_part *part, struct clv_error *err)
{
    const struct raster_cut *cut = strip->cut;
    const struct clv_model *model = cut->options.model;
    const struct segmented segmented = {.image = &self->image,
                                        .example = &self->example,
                                        .y = self->y,
                                        .painted = self->labels,
                                        .maps = model->recipe.n_maps ? &self->bands : NULL,
                                        .model = model,
                                        .margin = self->margin};
    MUST(raster_window_show(&self->image, cut, window, part, err));
    if (model->recipe.n_maps)
        MUST(bands_map_part(&self->bands.map, seen, window->values, &window->at, &cut->bands, err));
    return segmented_refine(self->labels, &segmented, NULL, err);
}

static enum clv_status refine_square(const struct strip *strip, const struct raster_window *window, int32_t left,
                                     int thread, struct clv_error *err)
{
    const struct raster_cut *cut = strip->cut;
    OWNED(square_release) struct square square = {0};
    const struct image_part seen = part_seen(strip, left), part = resize_source(&seen, cut->width, cut->height);
    size_t width = (size_t)smaller(cut->refined_px, cut->width - left);
    int32_t *number = strip->numbers + (size_t)thread * (size_t)cut->first_node[cut->n_tiles];
    MUST(take_regions(&square, strip, &part, number, err));
    if (!square.is_uniform || !refining_is_cut(cut->options.model))
        MUST(refine(&square, strip, window, &seen, &part, err));
    for (int32_t y = 0; y < strip->n_rows; y++)
        memcpy(strip->labels + (size_t)y * (size_t)cut->width + (size_t)left,
               square.labels + (size_t)(strip->top + y - part.top) * (size_t)part.width + (size_t)(left - part.left),
               width);
    return CLV_OK;
}

/* Refines the squares that are read as one window. */
static enum clv_status refine_some(void *context, size_t index, int thread, struct clv_error *err)
{
    const struct strip *strip = context;
    struct raster_cut *cut = strip->cut;
    OWNED(raster_window_release) struct raster_window window = {0};
    int32_t step = strip->at_once * cut->refined_px, begin = (int32_t)index * step;
    int32_t end = smaller(step, cut->width - begin) + begin;
    struct image_part seen = part_seen(strip, begin);
    const struct image_part last = part_seen(strip, (end - 1) / cut->refined_px * cut->refined_px);
    seen.width = last.left + last.width - seen.left;
    FAIL_IF(stop_requested(cut->options.progress), CLV_ERR_INTERRUPTED, "interrupted");
    MUST(raster_window_read(&window, cut, &seen, thread, err));
    for (int32_t left = begin; left < end; left += cut->refined_px)
        MUST(refine_square(strip, &window, left, thread, err));
    return CLV_OK;
}

static void strip_release(struct strip *self)
{
    arrays_free(self->nodes, self->numbers);
}

enum clv_status raster_cut_refine(uint8_t *labels, struct raster_cut *self, int32_t top, int32_t n_rows,
                                  struct clv_error *err)
{
    OWNED(strip_release) struct strip strip = {.cut = self, .labels = labels, .top = top, .n_rows = n_rows};
    int32_t n = (self->width - 1) / self->refined_px + 1, each = (n - 1) / self->options.n_threads + 1;
    double wide = (double)self->options.at_once * self->width / self->n_columns / self->refined_px;
    strip.at_once = smaller(int32_within(wide, 1, INT32_MAX), each);
    strip.seen.whole_width = self->working_width;
    strip.seen.whole_height = self->working_height;
    working_range(&strip.seen.top, &strip.seen.height, top, self->refined_px, self->height, self->working_height);
    const struct image_part rows = resize_source(&strip.seen, self->width, self->height);
    strip.nodes = array_alloc((size_t)rows.height, (size_t)self->width * sizeof *strip.nodes);
    strip.numbers =
        array_zalloc((size_t)self->options.n_threads * (size_t)self->first_node[self->n_tiles], sizeof *strip.numbers);
    NEED(strip.nodes && strip.numbers);
    MUST(raster_cut_nodes(strip.nodes, self, rows.top, rows.height, err));
    MUST(parallel_for((size_t)(n - 1) / (size_t)strip.at_once + 1, self->options.n_threads, refine_some, &strip, err));
    report_progress(self->options.progress, "refining", (size_t)top + (size_t)n_rows, (size_t)self->height, NULL);
    return CLV_OK;
}
