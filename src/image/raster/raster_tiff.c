/* Reads TIFFs by their bands, a strip or tile at a time, as the samples are stored: whole numbers of 1 to 64 bits and
 * floating-point ones. Start at raster_tiff_read. */
#include "image/raster/raster.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "image/image.h"

#define IS_BIG_ENDIAN   (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
#define MAX_BLOCK_BYTES ((size_t)1 << 30) /* bytes of a strip or tile */

struct raster_tiff {
    struct tiff_file file;
    bool has_alpha, has_no_data;
    double no_data;
    uint16_t n_bands;
    size_t stride, block_bytes; /* bytes of a row of a strip or tile, and of all of it */
    uint8_t *block;             /* the last strip or tile that was read */
    uint32_t held, x, y;        /* its number (UINT32_MAX: none) and its first pixel */
    uint16_t plane;
};

void raster_tiff_close(struct raster_tiff *self)
{
    if (!self)
        return;
    tiff_close(&self->file);
    arrays_free(self->block, self);
}

/* Whether the samples of a page are read as they are stored. libtiff converts others to colours. */
static bool is_stored(const struct tiff_file *file, bool takes_palette)
{
    return (takes_palette && file->photometric == PHOTOMETRIC_PALETTE) || file->photometric == PHOTOMETRIC_MINISBLACK ||
           file->photometric == PHOTOMETRIC_MINISWHITE || file->photometric == PHOTOMETRIC_RGB;
}

static enum clv_status check_samples(const struct tiff_file *file, struct clv_error *err)
{
    static const char *const names[] = {"", "unsigned", "signed", "floating-point", "unsigned", "complex", "complex"};
    int bits = file->bits, format = file->format;
    bool is_whole = format == SAMPLEFORMAT_UINT || format == SAMPLEFORMAT_VOID || format == SAMPLEFORMAT_INT;
    bool is_read = is_whole                        ? (bits >= 1 && bits <= 32) || bits == 64
                   : format == SAMPLEFORMAT_IEEEFP ? bits == 16 || bits == 32 || bits == 64
                                                   : false;
    if (!is_read)
        return fail(
            err, CLV_ERR_DATA,
            "a TIFF of %s samples of %d bits, which are not read; save it with whole numbers of 8 to 32 bits, or "
            "floating-point ones of 16, 32 or 64",
            format >= 1 && format <= 6 ? names[format] : "unknown", bits);
    if (file->orientation != ORIENTATION_TOPLEFT)
        return fail(err, CLV_ERR_DATA, "a TIFF of bands that is turned (orientation %d); rasters are upright",
                    file->orientation);
    return CLV_OK;
}

/* Counts the bands, and describes the samples in *raster. */
static enum clv_status count_bands(struct raster_tiff *self, struct raster *raster, struct clv_error *err)
{
    uint16_t n_extra = 0, *extra = NULL;
    const struct tiff_file *file = &self->file;
    int n_colours = file->photometric == PHOTOMETRIC_RGB ? 3 : 1;
    TIFFGetFieldDefaulted(file->tiff, TIFFTAG_EXTRASAMPLES, &n_extra, &extra);
    self->has_alpha = n_extra && file->n_samples > n_colours &&
                      (extra[n_extra - 1] == EXTRASAMPLE_ASSOCALPHA || extra[n_extra - 1] == EXTRASAMPLE_UNASSALPHA);
    self->n_bands = (uint16_t)(file->n_samples - self->has_alpha);
    FAIL_IF(file->n_samples < n_colours, CLV_ERR_DATA, "corrupt TIFF: colours of %d samples", file->n_samples);
    if (self->n_bands > CLV_MAX_BANDS)
        return fail(err, CLV_ERR_DATA, "a TIFF of %d bands; up to %d are read", self->n_bands, CLV_MAX_BANDS);
    bool is_whole = file->format == SAMPLEFORMAT_UINT || file->format == SAMPLEFORMAT_VOID;
    bool has_colours_alone = is_whole && self->n_bands == n_colours;
    raster->n_bands = self->n_bands;
    raster->is_colour = n_colours == 3;
    raster->is_bytes = is_whole && file->bits == 8;
    raster->has_palette = file->photometric == PHOTOMETRIC_PALETTE;
    raster->georeference.may_lack_data |= self->has_alpha || file->format == SAMPLEFORMAT_IEEEFP;
    raster->is_photograph = has_colours_alone && file->bits <= 8;
    raster->is_plain = raster->is_photograph || (has_colours_alone && file->bits == 16);
    return CLV_OK;
}

static enum clv_status find_blocks(struct raster_tiff *self, struct clv_error *err)
{
    struct tiff_file *file = &self->file;
    tmsize_t bytes = file->is_tiled ? TIFFTileSize(file->tiff) : TIFFStripSize(file->tiff);
    self->stride = ((size_t)file->block_width * file->bits * (file->is_planar ? 1 : file->n_samples) + 7) / 8;
    if (bytes <= 0 || (size_t)bytes / file->block_height < self->stride)
        return tiff_corrupt(file, err);
    if ((size_t)bytes > MAX_BLOCK_BYTES)
        return fail(err, CLV_ERR_DATA, "a TIFF of strips or tiles of %zu bytes, the limit is %zu; write it in tiles",
                    (size_t)bytes, MAX_BLOCK_BYTES);
    self->block_bytes = (size_t)bytes;
    return CLV_OK;
}

enum clv_status raster_tiff_open(struct raster_tiff **tiff, struct raster *raster, const struct image_bytes *from,
                                 bool takes_palette, struct clv_error *err)
{
    *tiff = NULL;
    OWNED(raster_tiff_drop) struct raster_tiff *self = array_zalloc(1, sizeof *self);
    NEED(self);
    OWNED(georeference_release) struct georeference georeference = {0};
    struct raster result = {0};
    MUST(tiff_open(&self->file, from, err));
    MUST(geo_tags_read(&georeference, &self->has_no_data, &self->no_data, self->file.tiff, err));
    if (is_stored(&self->file, takes_palette)) {
        MUST(check_samples(&self->file, err));
        MUST(count_bands(self, &result, err));
        MUST(find_blocks(self, err));
        result.width = (int32_t)self->file.width;
        result.height = (int32_t)self->file.height;
        *tiff = TAKE(self);
    } else if (self->file.orientation != ORIENTATION_TOPLEFT) {
        georeference_release(&georeference); /* it is that of the pixels as stored, which clv_image_decode turns */
    }
    georeference.may_lack_data |= result.georeference.may_lack_data; /* count_bands found a reason */
    result.georeference = TAKE(georeference);
    *raster = result;
    return CLV_OK;
}

/* Returns sample `index` of a row. Samples of whole bytes are in this machine's order, as libtiff leaves them; others
 * follow each other with the highest bit first. */
static double load(const uint8_t *row, size_t index, unsigned bits, bool is_signed, bool is_float)
{
    uint16_t half;
    uint32_t word;
    uint64_t whole = 0;
    float single;
    double value;
    switch (bits) {
    case 8: return is_signed ? (double)(int8_t)row[index] : (double)row[index];
    case 16:
        memcpy(&half, row + 2 * index, sizeof half);
        return is_float ? (double)number_from_half(half) : is_signed ? (double)(int16_t)half : (double)half;
    case 24:
        for (size_t k = 0; k < 3; k++)
            whole |= (uint64_t)row[3 * index + k] << 8 * (IS_BIG_ENDIAN ? 2 - k : k);
        break;
    case 32:
        memcpy(&word, row + 4 * index, sizeof word);
        memcpy(&single, &word, sizeof single);
        return is_float ? (double)single : is_signed ? (double)(int32_t)word : (double)word;
    case 64:
        memcpy(&whole, row + 8 * index, sizeof whole);
        memcpy(&value, &whole, sizeof value);
        return is_float ? value : is_signed ? (double)(int64_t)whole : (double)whole;
    default:
        for (size_t bit = index * bits; bit < (index + 1) * bits; bit++)
            whole = whole << 1 | (row[bit / 8] >> (7 - bit % 8) & 1);
    }
    return is_signed && whole >> (bits - 1) ? (double)whole - (double)(UINT64_C(1) << bits) : (double)whole;
}

static bool is_no_data(const struct raster_tiff *self, double value)
{
    return !isfinite((float)value) ||
           (self->has_no_data && (value == self->no_data ||
                                  (self->file.format == SAMPLEFORMAT_IEEEFP && (float)value == (float)self->no_data)));
}

static enum clv_status load_block(struct raster_tiff *self, uint32_t x, uint32_t y, uint16_t plane,
                                  struct clv_error *err)
{
    struct tiff_file *file = &self->file;
    uint32_t rows = file->height - y < file->block_height ? file->height - y : file->block_height;
    uint32_t number =
        file->is_tiled ? TIFFComputeTile(file->tiff, x, y, 0, plane) : TIFFComputeStrip(file->tiff, y, plane);
    size_t wanted = file->is_tiled ? self->block_bytes : self->stride * rows;
    self->x = x;
    self->y = y;
    self->plane = plane;
    if (self->block && self->held == number)
        return CLV_OK;
    if (!self->block)
        NEED(self->block = array_zalloc(self->block_bytes, 1));
    self->held = UINT32_MAX;
    MUST(tiff_read_block(self->block, wanted, file, x, y, plane, err));
    self->held = number;
    return CLV_OK;
}

struct window {
    uint32_t left, top, right, bottom;
};

/* Returns the part of the window that is in the block. */
static struct window window_in_block(const struct raster_tiff *self, const struct window *window)
{
    const struct tiff_file *file = &self->file;
    uint32_t x = self->x, y = self->y;
    return (struct window){.left = x > window->left ? x : window->left,
                           .top = y > window->top ? y : window->top,
                           .right = window->right - x < file->block_width ? window->right : x + file->block_width,
                           .bottom = window->bottom - y < file->block_height ? window->bottom : y + file->block_height};
}

/* Whether samples are unsigned numbers of one or two bytes, interleaved, neither inverted nor with alpha, as in most
 * rasters. */
static bool has_simple_samples(const struct raster_tiff *self)
{
    const struct tiff_file *file = &self->file;
    return (file->bits == 8 || file->bits == 16) && !file->is_planar && !self->has_alpha &&
           (file->format == SAMPLEFORMAT_UINT || file->format == SAMPLEFORMAT_VOID) &&
           file->photometric != PHOTOMETRIC_MINISWHITE;
}

/* Does the work of take_block for n samples of a row of such a raster. */
static void take_simple_samples(float *to, const struct raster_tiff *self, const uint8_t *from, size_t n)
{
    const float no_data = self->has_no_data ? (float)self->no_data : NAN;
    const bool has_one = self->has_no_data && (double)no_data == self->no_data;
    if (self->file.bits == 8) {
        for (size_t k = 0; k < n; k++)
            to[k] = (float)from[k];
    } else {
        for (size_t k = 0; k < n; k++) {
            uint16_t value;
            memcpy(&value, from + 2 * k, sizeof value);
            to[k] = (float)value;
        }
    }
    for (size_t k = 0; has_one && k < n; k++)
        to[k] = to[k] == no_data ? NAN : to[k];
}

/* Copies the block's samples that are in the window: all channels, or those of the block's plane. */
static void take_block(float *values, size_t step, const struct raster_tiff *self, const struct window *window)
{
    const struct tiff_file *file = &self->file;
    uint16_t first = file->is_planar ? self->plane : 0, end = file->is_planar ? self->plane + 1 : file->n_samples;
    uint32_t x = self->x, y = self->y;
    const struct window part = window_in_block(self, window);
    bool is_signed = file->format == SAMPLEFORMAT_INT, is_float = file->format == SAMPLEFORMAT_IEEEFP;
    bool is_inverse = file->photometric == PHOTOMETRIC_MINISWHITE && !is_signed && !is_float && file->bits <= 16;
    double largest = (double)((1u << (file->bits & 31)) - 1);
    if (step == self->n_bands && has_simple_samples(self)) {
        const size_t width = window->right - window->left, sample = file->bits / 8;
        for (uint32_t row = part.top; row < part.bottom; row++)
            take_simple_samples(values + ((row - window->top) * width + part.left - window->left) * step, self,
                                self->block + (row - y) * self->stride + (part.left - x) * step * sample,
                                (part.right - part.left) * step);
        return;
    }
    for (uint32_t row = part.top; row < part.bottom; row++)
        for (uint32_t column = part.left; column < part.right; column++) {
            float *to =
                values + ((size_t)(row - window->top) * (window->right - window->left) + column - window->left) * step;
            const uint8_t *from = self->block + (row - y) * self->stride;
            size_t at = (size_t)(column - x) * (size_t)(end - first);
            for (uint16_t s = first; s < end; s++, at++) {
                double value = load(from, at, file->bits, is_signed, is_float);
                if (s < self->n_bands)
                    to[s] = is_no_data(self, value) ? NAN : (float)(is_inverse ? largest - value : value);
                else
                    for (uint16_t b = 0; b < self->n_bands && value == 0; b++) /* hidden by alpha */
                        to[b] = NAN;
            }
        }
}

enum clv_status raster_tiff_read(float *values, size_t step, struct raster_tiff *self, const struct image_part *at,
                                 struct clv_error *err)
{
    const struct window window = {(uint32_t)at->left, (uint32_t)at->top, (uint32_t)(at->left + at->width),
                                  (uint32_t)(at->top + at->height)};
    uint16_t n_planes = self->file.is_planar ? self->file.n_samples : 1;
    uint32_t x0 = window.left - window.left % self->file.block_width,
             y0 = window.top - window.top % self->file.block_height;
    for (uint32_t y = y0; y < window.bottom; y += self->file.block_height)
        for (uint32_t x = x0; x < window.right; x += self->file.block_width)
            for (uint16_t plane = 0; plane < n_planes; plane++) {
                MUST(load_block(self, x, y, plane, err));
                take_block(values, step, self, &window);
            }
    return CLV_OK;
}

/* Copies one row of whole numbers; false if one is out of range. */
static bool take_whole(uint8_t *labels, int32_t *numbers, const struct tiff_file *file, const uint8_t *row,
                       size_t first, size_t n)
{
    bool is_signed = file->format == SAMPLEFORMAT_INT, is_inverse = file->photometric == PHOTOMETRIC_MINISWHITE;
    double largest = (double)(UINT32_MAX >> (32 - file->bits));
    if (labels && file->bits == 8 && !is_inverse) {
        memcpy(labels, row + first, n);
        return true;
    }
    for (size_t k = 0; k < n; k++) {
        double stored = load(row, first + k, file->bits, is_signed, false);
        double value = is_inverse ? largest - stored : stored;
        if (value < 0 || value > INT32_MAX)
            return false;
        if (labels)
            labels[k] = (uint8_t)value;
        else
            numbers[k] = (int32_t)value;
    }
    return true;
}

static enum clv_status take_whole_block(uint8_t *labels, int32_t *numbers, const struct raster_tiff *self,
                                        const struct window *window, struct clv_error *err)
{
    const struct window part = window_in_block(self, window);
    for (uint32_t row = part.top; row < part.bottom; row++) {
        size_t at = (size_t)(row - window->top) * (window->right - window->left) + part.left - window->left;
        FAIL_IF(!take_whole(labels ? labels + at : NULL, numbers ? numbers + at : NULL, &self->file,
                            self->block + (row - self->y) * self->stride, part.left - self->x, part.right - part.left),
                CLV_ERR_DATA, "row %u has a number below 0 or above 2,147,483,647", row);
    }
    return CLV_OK;
}

static enum clv_status check_whole(const struct raster_tiff *self, int max_bits, struct clv_error *err)
{
    const struct tiff_file *file = &self->file;
    bool is_whole = file->format == SAMPLEFORMAT_UINT || file->format == SAMPLEFORMAT_VOID ||
                    (file->format == SAMPLEFORMAT_INT && max_bits > 8);
    FAIL_IF(file->n_samples != 1 || !is_whole || file->bits > max_bits, CLV_ERR_DATA,
            "a TIFF of %d samples of %d bits per pixel; here it has one whole number of up to %d", file->n_samples,
            file->bits, max_bits);
    return CLV_OK;
}

enum clv_status raster_tiff_read_whole(uint8_t *labels, int32_t *numbers, struct raster_tiff *self,
                                       const struct image_part *at, struct clv_error *err)
{
    const struct window window = {(uint32_t)at->left, (uint32_t)at->top, (uint32_t)(at->left + at->width),
                                  (uint32_t)(at->top + at->height)};
    uint32_t across = self->file.block_width, down = self->file.block_height;
    MUST(check_whole(self, labels ? 8 : 32, err));
    for (uint32_t y = window.top - window.top % down; y < window.bottom; y += down)
        for (uint32_t x = window.left - window.left % across; x < window.right; x += across) {
            MUST(load_block(self, x, y, 0, err));
            MUST(take_whole_block(labels, numbers, self, &window, err));
        }
    return CLV_OK;
}

/* A strip stays decoded from row to row, so that rows can be read one by one, unless strips of several planes
 * alternate. */
void raster_tiff_block(int32_t *width, int32_t *height, const struct raster_tiff *self)
{
    const struct tiff_file *file = &self->file;
    bool is_kept = !file->is_tiled && (!file->is_planar || file->n_samples == 1);
    *width = file->block_width < file->width ? (int32_t)file->block_width : (int32_t)file->width;
    *height = is_kept ? 1 : file->block_height < file->height ? (int32_t)file->block_height : (int32_t)file->height;
}
