/* Writes rasters as TIFFs in tiles, with the georeference: label maps with a palette, numbers of objects, colours and
 * alpha; or label maps as the pages of a stack in strips. Start at raster_writer_create. */
#include "image/raster/raster.h"

#include <string.h>

#include "base/base.h"

#define MAX_CLASSIC_BYTES INT64_C(4000000000) /* bytes of pixels; more may need offsets of more than 32 bits */

static int on_error(TIFF *tiff, void *context, const char *module, const char *format, va_list args)
{
    struct raster_writer *self = context;
    (void)tiff;
    (void)module;
    if (!self->message[0])
        vsnprintf(self->message, sizeof self->message, format, args);
    return 1;
}

static tmsize_t on_read(thandle_t context, void *target, tmsize_t wanted)
{
    return (tmsize_t)fread(target, 1, (size_t)wanted, ((struct raster_writer *)context)->file.stream);
}

static tmsize_t on_write(thandle_t context, void *source, tmsize_t size)
{
    return (tmsize_t)fwrite(source, 1, (size_t)size, ((struct raster_writer *)context)->file.stream);
}

static toff_t on_seek(thandle_t context, toff_t offset, int whence)
{
    FILE *stream = ((struct raster_writer *)context)->file.stream;
    return fseeko(stream, (off_t)offset, whence) ? (toff_t)-1 : (toff_t)ftello(stream);
}

static toff_t on_size(thandle_t context)
{
    return on_seek(context, 0, SEEK_END);
}

static int on_close(thandle_t context)
{
    (void)context;
    return 0;
}

static enum clv_status refused(const struct raster_writer *self, const char *path, struct clv_error *err)
{
    return fail(err, CLV_ERR_IO, "%s: cannot be written as TIFF: %s", path,
                self->message[0] ? self->message : "it cannot be sought in");
}

static bool put_palette(TIFF *tiff, const struct raster_layout *layout)
{
    uint16_t channels[3][256] = {{0}};
    for (int i = 0; i < layout->palette_size; i++)
        for (int c = 0; c < 3; c++)
            channels[c][i] = (uint16_t)(layout->palette[i][c] * 257);
    return TIFFSetField(tiff, TIFFTAG_COLORMAP, channels[0], channels[1], channels[2]);
}

/* Sets the tags of images other than masks. Colours deflate better as differences between neighbours, and the fastest
 * level is within a few percent of the others on photographs. */
static bool put_kind(TIFF *tiff, const struct raster_layout *layout)
{
    uint16_t alpha = EXTRASAMPLE_UNASSALPHA;
    if (layout->n_channels == 4 && !TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &alpha))
        return false;
    if (layout->n_channels == 1)
        return layout->bits == 8 || TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
    return TIFFSetField(tiff, TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL) && TIFFSetField(tiff, TIFFTAG_ZIPQUALITY, 1);
}

static bool put_georeference(TIFF *tiff, const struct raster_layout *layout, const struct georeference *georeference)
{
    struct georeference view = georeference ? *georeference : (struct georeference){0}; /* borrows the arrays */
    view.may_lack_data &= layout->n_channels == 1 && layout->bits == 8;
    return geo_tags_write(tiff, &view);
}

static bool put_head(const struct raster_writer *self, const struct raster_layout *layout,
                     const struct georeference *georeference)
{
    bool is_grey = layout->n_channels == 1;
    TIFF *tiff = (TIFF *)self->tiff;
    const struct {
        uint32_t tag, value;
    } fields[] = {{TIFFTAG_IMAGEWIDTH, (uint32_t)self->width},
                  {TIFFTAG_IMAGELENGTH, (uint32_t)self->height},
                  {TIFFTAG_BITSPERSAMPLE, (uint32_t)layout->bits},
                  {TIFFTAG_SAMPLESPERPIXEL, (uint32_t)layout->n_channels},
                  {TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG},
                  {TIFFTAG_PHOTOMETRIC, layout->palette ? PHOTOMETRIC_PALETTE
                                        : is_grey       ? PHOTOMETRIC_MINISBLACK
                                                        : PHOTOMETRIC_RGB},
                  {TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE},
                  {self->description ? TIFFTAG_ROWSPERSTRIP : TIFFTAG_TILEWIDTH, RASTER_TILE},
                  {TIFFTAG_TILELENGTH, RASTER_TILE}};
    bool is_put = tiff;
    if (tiff)
        geo_tags_declare(tiff);
    for (size_t k = 0; k < sizeof fields / sizeof *fields - (self->description ? 1 : 0) && is_put; k++)
        is_put = TIFFSetField(tiff, fields[k].tag, fields[k].value);
    return is_put && put_kind(tiff, layout) && (!layout->palette || put_palette(tiff, layout)) &&
           put_georeference(tiff, layout, georeference);
}

static struct raster_layout layout_of(const struct label_image *image)
{
    return (struct raster_layout){image->width, image->height, 1, 8, image->palette, image->palette_size};
}

static enum clv_status begin(struct raster_writer *self, const char *path, bool is_big,
                             const struct raster_layout *layout, const struct georeference *georeference,
                             struct clv_error *err)
{
    self->pixel_bytes = (size_t)layout->n_channels * (size_t)layout->bits / 8;
    MUST(file_create(&self->file, path, err));
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (options) {
        TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, self);
        TIFFOpenOptionsSetWarningHandlerExtR(options, on_error, self);
        self->tiff = (struct tiff *)TIFFClientOpenExt("mask", is_big ? "wl8" : "wl", self, on_read, on_write, on_seek,
                                                      on_close, on_size, NULL, NULL, options);
        TIFFOpenOptionsFree(options);
    }
    self->tile = array_alloc((size_t)RASTER_TILE * RASTER_TILE, self->pixel_bytes);
    if (self->tile && put_head(self, layout, georeference))
        return CLV_OK;
    enum clv_status status = options && self->tile ? refused(self, self->file.path, err) : fail_memory(err);
    raster_writer_abort(self); /* the caller has no writer to abort */
    return status;
}

enum clv_status raster_writer_open(struct raster_writer *self, const char *path, const struct label_image *image,
                                   const struct georeference *georeference, struct clv_error *err)
{
    const struct raster_layout layout = layout_of(image);
    return raster_writer_create(self, path, &layout, georeference, err);
}

enum clv_status raster_writer_create(struct raster_writer *self, const char *path, const struct raster_layout *layout,
                                     const struct georeference *georeference, struct clv_error *err)
{
    double n_bytes = (double)layout->width * layout->height * layout->n_channels * layout->bits / 8;
    *self = (struct raster_writer){.width = layout->width, .height = layout->height};
    return begin(self, path, n_bytes > (double)MAX_CLASSIC_BYTES, layout, georeference, err);
}

enum clv_status raster_writer_put(struct raster_writer *self, const void *pixels, size_t stride, struct clv_error *err)
{
    const size_t size = self->pixel_bytes;
    int32_t across = (self->width - 1) / RASTER_TILE + 1, number = (int32_t)self->n_written;
    int32_t left = number % across * RASTER_TILE, top = number / across * RASTER_TILE;
    int32_t width = self->width - left < RASTER_TILE ? self->width - left : RASTER_TILE;
    memset(self->tile, 0, RASTER_TILE * RASTER_TILE * size);
    for (int32_t y = 0; y < RASTER_TILE && top + y < self->height; y++)
        memcpy(self->tile + (size_t)y * RASTER_TILE * size, (const uint8_t *)pixels + (size_t)y * stride * size,
               (size_t)width * size);
    if (TIFFWriteEncodedTile((TIFF *)self->tiff, self->n_written, self->tile,
                             (tmsize_t)(RASTER_TILE * RASTER_TILE * size)) < 0)
        return refused(self, self->file.path, err);
    self->n_written++;
    return CLV_OK;
}

enum clv_status raster_writer_rows(struct raster_writer *self, const void *rows, int32_t n_rows, struct clv_error *err)
{
    const size_t width = (size_t)self->width, row_bytes = width * self->pixel_bytes;
    if (!self->rows)
        NEED(self->rows = array_alloc(RASTER_TILE, row_bytes));
    for (const uint8_t *row = rows; n_rows > 0; n_rows--, row += row_bytes) {
        int32_t top = (int32_t)(self->n_written / ((uint32_t)(self->width - 1) / RASTER_TILE + 1)) * RASTER_TILE;
        memcpy(self->rows + (size_t)self->n_held++ * row_bytes, row, row_bytes);
        if (self->n_held < RASTER_TILE && top + self->n_held < self->height)
            continue;
        for (size_t left = 0; left < width; left += RASTER_TILE)
            MUST(raster_writer_put(self, self->rows + left * self->pixel_bytes, width, err));
        self->n_held = 0;
    }
    return CLV_OK;
}

/* Frees the arrays of a writer. */
static void drop_rows(struct raster_writer *self)
{
    arrays_free(self->tile, self->rows);
    self->tile = self->rows = NULL;
}

enum clv_status raster_writer_commit(struct raster_writer *self, struct clv_error *err)
{
    bool is_written = TIFFWriteDirectory((TIFF *)self->tiff);
    TIFFClose((TIFF *)self->tiff);
    self->tiff = NULL;
    drop_rows(self);
    OWNED(file_abort) struct file_writer file = TAKE(self->file);
    if (!is_written)
        return refused(self, file.path, err);
    return file_commit(&file, err);
}

void raster_writer_abort(struct raster_writer *self)
{
    if (self->tiff)
        TIFFCleanup((TIFF *)self->tiff);
    self->tiff = NULL;
    drop_rows(self);
    file_abort(&self->file);
}

/* Writes a page in strips, because ImageJ does not read tiles. */
static enum clv_status put_strips(struct raster_writer *self, const uint8_t *labels, struct clv_error *err)
{
    for (int32_t top = 0; top < self->height; top += RASTER_TILE) {
        size_t rows = (size_t)(self->height - top < RASTER_TILE ? self->height - top : RASTER_TILE);
        size_t width = (size_t)self->width;
        if (TIFFWriteEncodedStrip((TIFF *)self->tiff, (uint32_t)(top / RASTER_TILE),
                                  (void *)(uintptr_t)(labels + (size_t)top * width), (tmsize_t)(rows * width)) < 0)
            return refused(self, self->file.path, err);
    }
    return CLV_OK;
}

static enum clv_status put_page(struct raster_writer *self, const uint8_t *labels, struct clv_error *err)
{
    if (self->description)
        return put_strips(self, labels, err);
    for (int32_t top = 0; top < self->height; top += RASTER_TILE)
        for (int32_t left = 0; left < self->width; left += RASTER_TILE)
            MUST(raster_writer_put(self, labels + (size_t)top * (size_t)self->width + (size_t)left, (size_t)self->width,
                                   err));
    return CLV_OK;
}

enum clv_status raster_write_labels(const char *path, const struct label_image *image,
                                    const struct georeference *georeference, struct clv_error *err)
{
    OWNED(raster_writer_abort) struct raster_writer writer = {0};
    MUST(raster_writer_open(&writer, path, image, georeference, err));
    MUST(put_page(&writer, image->labels, err));
    return raster_writer_commit(&writer, err);
}

enum clv_status raster_writer_add_page(struct raster_writer *self, const char *path, const struct label_image *page,
                                       size_t n_pages, struct clv_error *err)
{
    const struct raster_layout layout = layout_of(page);
    bool is_first = !self->tiff;
    self->width = page->width;
    self->height = page->height;
    self->n_written = 0;
    if (is_first) {
        bool is_big = (double)page->width * page->height * (double)n_pages > (double)MAX_CLASSIC_BYTES;
        MUST(begin(self, path, is_big, &layout, NULL, err));
        if (self->description && !TIFFSetField((TIFF *)self->tiff, TIFFTAG_IMAGEDESCRIPTION, self->description))
            return refused(self, self->file.path, err);
    } else if (!TIFFWriteDirectory((TIFF *)self->tiff) || !put_head(self, &layout, NULL)) {
        return refused(self, self->file.path, err);
    }
    return put_page(self, page->labels, err);
}
