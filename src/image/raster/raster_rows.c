/* Reads a raster, its mask and its objects from the top to the bottom, by bands of full rows with a halo. Rows that the
 * next band needs again stay in memory, and rows of tiles are decoded once. Start at raster_rows_next. */
#include <string.h>

#include "base/base.h"
#include "image/raster/raster.h"

enum {
    MAX_STEP = 1024,     /* rows of a block that are read together; taller blocks are decoded several times */
    CHUNK_ROWS = 64,     /* read at a time from a file without blocks */
    CHUNK_COLUMNS = 512, /* read at a time at least, if blocks do not span the image */
    MAX_CHUNK_VALUES = 1 << 24
};

void raster_rows_close(struct raster_rows *self)
{
    raster_close(&self->image.raster);
    raster_close(&self->mask.raster);
    raster_close(&self->objects.raster);
    arrays_free(self->pixels, self->samples, self->labels, self->numbers, self->values);
    *self = (struct raster_rows){0};
}

/* Checks that the size of an open raster is that of the others, and sets its block size. */
static enum clv_status add_source(struct raster_rows *self, struct raster_rows_source *source, const char *path,
                                  struct clv_error *err)
{
    const struct raster *raster = &source->raster;
    int32_t across, down;
    bool is_first = !self->width;
    FAIL_IF(!is_first && (raster->width != self->width || raster->height != self->height), CLV_ERR_DATA,
            "%s: %dx%d pixels, the raster has %dx%d", path, raster->width, raster->height, self->width, self->height);
    self->width = raster->width;
    self->height = raster->height;
    raster_block(&across, &down, raster);
    source->step = down < MAX_STEP ? down : MAX_STEP;
    source->columns = across;
    return CLV_OK;
}

static enum clv_status open_image(struct raster_rows *self, const struct raster_rows_files *files,
                                  struct clv_error *err)
{
    struct raster_rows_source *image = &self->image;
    MUST(raster_open_windows(&image->raster, files->image, files->limits, err));
    MUST(add_source(self, image, files->image, err));
    size_t n_bands = (size_t)image->raster.n_bands;
    if (files->bands && files->bands->n_bands != image->raster.n_bands)
        return raster_fail_bands(&image->raster, files->image, files->bands->n_bands, err);
    if (image->columns < self->width && image->columns < CHUNK_COLUMNS)
        image->columns *= CHUNK_COLUMNS / image->columns;
    image->columns = image->columns < self->width ? image->columns : self->width;
    size_t most = MAX_CHUNK_VALUES / ((size_t)image->columns * n_bands) + 1;
    image->chunk_rows = image->step > 1 ? image->step : CHUNK_ROWS;
    image->chunk_rows = most < (size_t)image->chunk_rows ? (int32_t)most : image->chunk_rows;
    self->values = array_alloc((size_t)image->chunk_rows * (size_t)image->columns, n_bands * sizeof *self->values);
    NEED(self->values);
    return CLV_OK;
}

/* Allocates an array for the rows of a band, its halo, and rows that are read beyond it. */
static void *alloc_rows(const struct raster_rows *self, const struct raster_rows_source *source, size_t row_bytes)
{
    return array_alloc((size_t)self->max_rows + 2 * (size_t)self->halo + (size_t)source->step, row_bytes);
}

enum clv_status raster_rows_open(struct raster_rows *self, const struct raster_rows_files *files, int32_t n_rows,
                                 int32_t halo, struct clv_error *err)
{
    OWNED(raster_rows_close) struct raster_rows result = {.files = *files, .halo = halo};
    if (files->image)
        MUST(open_image(&result, files, err));
    if (files->mask) {
        MUST(raster_open_stored(&result.mask.raster, files->mask, err));
        MUST(add_source(&result, &result.mask, files->mask, err));
    }
    if (files->objects) {
        MUST(raster_open_stored(&result.objects.raster, files->objects, err));
        MUST(add_source(&result, &result.objects, files->objects, err));
    }
    size_t width = (size_t)result.width, n_bands = (size_t)result.image.raster.n_bands;
    result.max_rows = n_rows < result.height ? n_rows : result.height;
    result.halo = halo < result.height ? halo : result.height;
    if (files->bands)
        NEED(result.pixels = alloc_rows(&result, &result.image, 3 * width));
    if (files->has_samples)
        NEED(result.samples = alloc_rows(&result, &result.image, width * n_bands * sizeof *result.samples));
    if (files->mask)
        NEED(result.labels = alloc_rows(&result, &result.mask, width));
    if (files->objects)
        NEED(result.numbers = alloc_rows(&result, &result.objects, width * sizeof *result.numbers));
    *self = TAKE(result);
    return CLV_OK;
}

void raster_rows_rewind(struct raster_rows *self)
{
    self->band = (struct image_band){0};
    self->image.end = self->mask.end = self->objects.end = 0;
}

/* Reads rows end..to - 1 of the image as values, and computes the wanted arrays from them. */
static enum clv_status read_image(struct raster_rows *self, int32_t first, int32_t to, struct clv_error *err)
{
    struct raster_rows_source *image = &self->image;
    size_t n_bands = (size_t)image->raster.n_bands, width = (size_t)self->width;
    struct image_part part = {.top = image->end};
    part.height = to - image->end < image->chunk_rows ? to - image->end : image->chunk_rows;
    for (part.left = 0; part.left < self->width; part.left += image->columns) {
        part.width = self->width - part.left < image->columns ? self->width - part.left : image->columns;
        MUST(raster_read(self->values, &image->raster, &part, err));
        for (int32_t y = 0; y < part.height; y++) {
            size_t at = (size_t)(part.top + y - first) * width + (size_t)part.left, n = (size_t)part.width;
            const float *values = self->values + (size_t)y * n * n_bands;
            if (self->pixels)
                bands_colours(self->pixels + 3 * at, values, n, self->files.bands);
            if (self->samples)
                memcpy(self->samples + at * n_bands, values, n * n_bands * sizeof *values);
        }
    }
    image->end += part.height;
    return CLV_OK;
}

/* Reads rows end..to - 1 of the mask or of the objects. */
static enum clv_status read_stored(struct raster_rows *self, struct raster_rows_source *source, int32_t first,
                                   int32_t to, struct clv_error *err)
{
    const struct image_part part = {.top = source->end, .width = self->width, .height = to - source->end};
    size_t width = (size_t)self->width, at = (size_t)(source->end - first) * width;
    if (source == &self->objects) {
        MUST(raster_read_numbers(self->numbers + at, &source->raster, &part, err));
    } else {
        MUST(raster_read_labels(self->labels + at, &source->raster, &part, err));
        for (size_t p = at; self->files.label_of && p < at + (size_t)part.height * width; p++)
            self->labels[p] = self->files.label_of[self->labels[p]];
    }
    source->end = to;
    return CLV_OK;
}

/* Reads rows before row `needed`, and further ones to the end of a row of blocks. */
static enum clv_status read_source(struct raster_rows *self, struct raster_rows_source *source, int32_t first,
                                   int32_t needed, struct clv_error *err)
{
    if (!source->raster.n_parts)
        return CLV_OK;
    int32_t over = needed % source->step, to = over ? needed - over : needed;
    if (over)
        to = self->height - to < source->step ? self->height : to + source->step;
    while (source->end < to)
        MUST(source == &self->image ? read_image(self, first, to, err) : read_stored(self, source, first, to, err));
    raster_forget(&source->raster);
    return CLV_OK;
}

static void move_rows(void *rows, size_t row_bytes, int32_t n_gone, int32_t n_kept)
{
    if (rows && n_gone > 0 && n_kept > 0)
        memmove(rows, (char *)rows + (size_t)n_gone * row_bytes, (size_t)n_kept * row_bytes);
}

enum clv_status raster_rows_next(bool *more, struct raster_rows *self, struct clv_error *err)
{
    struct image_band *band = &self->band;
    size_t width = (size_t)self->width, n_bands = (size_t)self->image.raster.n_bands;
    int32_t before = band->top - band->above, top = band->top + band->n_rows, left = self->height - top;
    *more = left > 0;
    if (!*more)
        return CLV_OK;
    *band = (struct image_band){.width = self->width, .height = self->height, .top = top};
    band->n_rows = left < self->max_rows ? left : self->max_rows;
    band->above = top < self->halo ? top : self->halo;
    band->below = left - band->n_rows < self->halo ? left - band->n_rows : self->halo;
    int32_t first = top - band->above, needed = top + band->n_rows + band->below;
    move_rows(self->pixels, 3 * width, first - before, self->image.end - first);
    move_rows(self->samples, width * n_bands * sizeof *self->samples, first - before, self->image.end - first);
    move_rows(self->labels, width, first - before, self->mask.end - first);
    move_rows(self->numbers, width * sizeof *self->numbers, first - before, self->objects.end - first);
    MUST(read_source(self, &self->image, first, needed, err));
    MUST(read_source(self, &self->mask, first, needed, err));
    MUST(read_source(self, &self->objects, first, needed, err));
    band->pixels = self->pixels;
    band->samples = self->samples;
    band->n_samples = self->samples ? (int32_t)n_bands : 0;
    band->labels = self->labels;
    band->objects = self->numbers;
    return CLV_OK;
}
