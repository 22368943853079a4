/* TIFF files, by libtiff: the only file that knows it. Messages go to handlers of the one file, none of the process is
 * touched.
 *
 * Colours come by libtiff's own conversion to RGBA. 16-bit grey (scaled by a range) and label values are read as they
 * are stored, a strip or tile at a time. */
#include <stdio.h>
#include <string.h>

#include <tiffio.h>

#include "base/array.h"
#include "base/error.h"
#include "image/codec.h"
#include "image/exif.h"
#include "image/samples.h"
#include "image/tiff_pages.h"

#define BYTES_A_PIXEL 16 /* that libtiff may take at once, for each pixel that is allowed */

struct reader {
    TIFF *tiff;
    const uint8_t *bytes;
    size_t size, position;
    char message[200]; /* libtiff's first error */
    uint32_t width, height;
    uint16_t bits, n_samples, photometric, orientation, format;
};

static int on_error(TIFF *tiff, void *context, const char *module, const char *format, va_list args)
{
    struct reader *self = context;
    (void)tiff;
    (void)module;
    if (!self->message[0])
        vsnprintf(self->message, sizeof self->message, format, args);
    return 1; /* said */
}

static int on_warning(TIFF *tiff, void *context, const char *module, const char *format, va_list args)
{
    (void)tiff;
    (void)context;
    (void)module;
    (void)format;
    (void)args;
    return 1;
}

static tmsize_t on_read(thandle_t context, void *target, tmsize_t wanted)
{
    struct reader *self = context;
    size_t left = self->position < self->size ? self->size - self->position : 0;
    size_t n = wanted < 0 ? 0 : (size_t)wanted < left ? (size_t)wanted : left;
    memcpy(target, self->bytes + self->position, n);
    self->position += n;
    return (tmsize_t)n;
}

static tmsize_t on_write(thandle_t context, void *source, tmsize_t size)
{
    (void)context;
    (void)source;
    (void)size;
    return 0;
}

static toff_t on_seek(thandle_t context, toff_t offset, int whence)
{
    struct reader *self = context;
    uint64_t base = whence == SEEK_CUR ? self->position : whence == SEEK_END ? self->size : 0, at = base + offset;
    self->position = at > self->size ? self->size : (size_t)at;
    return self->position;
}

static toff_t on_size(thandle_t context)
{
    return ((const struct reader *)context)->size;
}

static int on_close(thandle_t context)
{
    (void)context;
    return 0;
}

/* One line, whatever the file put into libtiff's words. */
static enum clv_status corrupt(struct reader *self, struct clv_error *err)
{
    for (char *c = self->message; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
    return fail(err, CLV_ERR_DATA, "corrupt TIFF: %s", self->message[0] ? self->message : "it cannot be read");
}

static enum clv_status read_shape(struct reader *self, const struct clv_image_limits *limits, struct clv_error *err)
{
    uint32_t tile_width, tile_height;
    TIFF *tiff = self->tiff;
    if (!TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &self->width) ||
        !TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &self->height) ||
        !TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &self->photometric))
        return fail(err, CLV_ERR_DATA, "corrupt TIFF: a page without size or kind");
    TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &self->bits);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &self->n_samples);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_ORIENTATION, &self->orientation);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &self->format);
    enum clv_status status = limits_check(self->width, self->height, limits, err);
    if (status != CLV_OK || !TIFFIsTiled(tiff))
        return status;
    if (!TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &tile_width) || !TIFFGetField(tiff, TIFFTAG_TILELENGTH, &tile_height))
        return fail(err, CLV_ERR_DATA, "corrupt TIFF: tiles without a size");
    status = limits_check(tile_width, tile_height, limits, err);
    return status == CLV_OK ? CLV_OK : fail_within(err, status, "tiles");
}

/* reader_close ends it, whatever comes back. */
static enum clv_status reader_open(struct reader *self, const uint8_t *bytes, size_t size, uint32_t page,
                                   const struct clv_image_limits *limits, struct clv_error *err)
{
    uint64_t offset;
    *self = (struct reader){.bytes = bytes, .size = size};
    enum clv_status status = tiff_find_page(&offset, NULL, bytes, size, page, err);
    if (status != CLV_OK)
        return status;
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options)
        return fail_memory(err);
    uint64_t most = limits->max_pixels > PTRDIFF_MAX / BYTES_A_PIXEL ? PTRDIFF_MAX : limits->max_pixels * BYTES_A_PIXEL;
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)most);
    TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, self);
    TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, self);
    /* h: no directory yet; m: no map of memory, all goes through on_read. */
    self->tiff =
        TIFFClientOpenExt("image", "rhm", self, on_read, on_write, on_seek, on_close, on_size, NULL, NULL, options);
    TIFFOpenOptionsFree(options);
    if (!self->tiff || !TIFFSetSubDirectory(self->tiff, offset))
        return corrupt(self, err);
    return read_shape(self, limits, err);
}

static void reader_close(struct reader *self)
{
    if (self->tiff)
        TIFFClose(self->tiff);
}

enum clv_status tiff_size(int32_t *width, int32_t *height, int *orientation, const uint8_t *bytes, size_t size,
                          uint32_t page, const struct clv_image_limits *limits, struct clv_error *err)
{
    struct reader self;
    enum clv_status status = reader_open(&self, bytes, size, page, limits, err);
    if (status == CLV_OK) {
        *width = (int32_t)self.width;
        *height = (int32_t)self.height;
        *orientation = self.orientation;
    }
    reader_close(&self);
    return status;
}

/* Whether a pixel is one whole number: grey, or an index. */
static bool is_plain(const struct reader *self)
{
    return self->n_samples == 1 && self->format == SAMPLEFORMAT_UINT &&
           (self->photometric == PHOTOMETRIC_MINISBLACK || self->photometric == PHOTOMETRIC_MINISWHITE ||
            self->photometric == PHOTOMETRIC_PALETTE);
}

/* A block's part of the image: rows of `stride` bytes, of samples of 1, 2, 4, 8, 16 or 32 bits. */
static void unpack_block(uint32_t *samples, const struct reader *self, const uint8_t *block, size_t stride,
                         uint32_t left, uint32_t top, uint32_t width, uint32_t height)
{
    unsigned bits = self->bits;
    uint32_t largest = bits == 32 ? UINT32_MAX : (1u << bits) - 1;
    for (uint32_t y = 0; y < height; y++) {
        const uint8_t *row = block + y * stride;
        uint32_t *target = samples + (size_t)(top + y) * self->width + left;
        for (uint32_t x = 0; x < width; x++) {
            uint16_t of_two = 0;
            if (bits == 32)
                memcpy(&target[x], row + 4 * (size_t)x, 4);
            else if (bits == 16)
                memcpy(&of_two, row + 2 * (size_t)x, 2);
            if (bits == 16)
                target[x] = of_two;
            else if (bits < 16)
                target[x] = row[(size_t)x * bits / 8] >> (8 - bits - x * bits % 8) & largest;
            if (self->photometric == PHOTOMETRIC_MINISWHITE)
                target[x] = largest - target[x];
        }
    }
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* samples[height][width], the darkest 0. */
static enum clv_status read_samples(uint32_t *samples, struct reader *self, struct clv_error *err)
{
    TIFF *tiff = self->tiff;
    bool tiled = TIFFIsTiled(tiff);
    uint32_t block_width = self->width, block_height = self->height;
    if (tiled) {
        TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &block_width);
        TIFFGetField(tiff, TIFFTAG_TILELENGTH, &block_height);
    } else {
        TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &block_height);
        block_height = smaller(block_height, self->height);
    }
    tmsize_t block_bytes = tiled ? TIFFTileSize(tiff) : TIFFStripSize(tiff);
    size_t stride = ((size_t)block_width * self->bits + 7) / 8;
    if (!block_height || block_bytes <= 0 || (size_t)block_bytes < stride * block_height)
        return corrupt(self, err);
    uint8_t *block = array_zalloc((size_t)block_bytes, 1);
    enum clv_status status = block ? CLV_OK : fail_memory(err);
    for (uint32_t top = 0; top < self->height && status == CLV_OK; top += block_height) {
        uint32_t height = smaller(block_height, self->height - top);
        for (uint32_t left = 0; left < self->width && status == CLV_OK; left += block_width) {
            tmsize_t wanted = tiled ? block_bytes : (tmsize_t)(stride * height);
            tmsize_t n = tiled ? TIFFReadEncodedTile(tiff, TIFFComputeTile(tiff, left, top, 0, 0), block, wanted)
                               : TIFFReadEncodedStrip(tiff, TIFFComputeStrip(tiff, top, 0), block, wanted);
            if (n != wanted)
                status = corrupt(self, err);
            else
                unpack_block(samples, self, block, stride, left, top, smaller(block_width, self->width - left), height);
        }
    }
    array_free(block);
    return status;
}

static uint32_t *samples_new(const struct reader *self)
{
    return array_alloc((size_t)self->height, (size_t)self->width * sizeof(uint32_t));
}

static enum clv_status read_grey16(uint8_t *pixels, struct reader *self, const struct clv_image_limits *limits,
                                   struct clv_error *err)
{
    uint32_t *samples = samples_new(self);
    enum clv_status status = samples ? read_samples(samples, self, err) : fail_memory(err);
    size_t n = (size_t)self->width * self->height;
    for (size_t i = 0; i < n && status == CLV_OK; i++)
        memset(pixels + 3 * i, sample_scaled(samples[i], (uint32_t)limits->grey16_low, (uint32_t)limits->grey16_high),
               3);
    array_free(samples);
    return status;
}

static enum clv_status read_colours(uint8_t *pixels, struct reader *self, struct clv_error *err)
{
    TIFFRGBAImage view;
    char why[1024] = "";
    if (!TIFFRGBAImageOK(self->tiff, why) || !TIFFRGBAImageBegin(&view, self->tiff, 1, why)) {
        snprintf(self->message, sizeof self->message, "%.*s", (int)sizeof self->message - 1, why);
        return corrupt(self, err);
    }
    size_t n = (size_t)self->width * self->height;
    uint32_t *raster = array_zalloc(n, sizeof *raster);
    enum clv_status status = raster ? CLV_OK : fail_memory(err);
    view.req_orientation = view.orientation; /* as it is stored: it is turned afterwards, like all formats */
    if (status == CLV_OK && (!TIFFRGBAImageGet(&view, raster, self->width, self->height) || self->message[0]))
        status = corrupt(self, err);
    TIFFRGBAImageEnd(&view);
    for (size_t i = 0; i < n && status == CLV_OK; i++) { /* colours are multiplied by alpha already */
        uint32_t pixel = raster[i], white = 255 - TIFFGetA(pixel);
        uint32_t rgb[3] = {TIFFGetR(pixel), TIFFGetG(pixel), TIFFGetB(pixel)};
        for (int c = 0; c < 3; c++)
            pixels[3 * i + (size_t)c] = (uint8_t)(rgb[c] + white < 255 ? rgb[c] + white : 255);
    }
    array_free(raster);
    return status;
}

enum clv_status tiff_decode(struct clv_image *image, int *orientation, const uint8_t *bytes, size_t size, uint32_t page,
                            const struct clv_image_limits *limits, struct clv_error *err)
{
    struct reader self;
    struct clv_image fresh = {0};
    enum clv_status status = reader_open(&self, bytes, size, page, limits, err);
    TRY(clv_image_new(&fresh, (int32_t)self.width, (int32_t)self.height, 3, err));
    if (status == CLV_OK && is_plain(&self) && self.bits == 16 && self.photometric != PHOTOMETRIC_PALETTE)
        status = read_grey16(fresh.pixels, &self, limits, err);
    else if (status == CLV_OK)
        status = read_colours(fresh.pixels, &self, err);
    if (status == CLV_OK) {
        *image = fresh;
        *orientation = self.orientation;
    } else {
        clv_image_release(&fresh);
    }
    reader_close(&self);
    return status;
}

static void read_palette(struct clv_indexed_image *image, const struct reader *self)
{
    uint16_t *channels[3];
    if (self->photometric != PHOTOMETRIC_PALETTE ||
        !TIFFGetField(self->tiff, TIFFTAG_COLORMAP, &channels[0], &channels[1], &channels[2]))
        return;
    image->palette_size = 1 << self->bits;
    for (int i = 0; i < image->palette_size; i++)
        for (int c = 0; c < 3; c++)
            image->palette[i][c] = sample_scaled(channels[c][i], 0, 65535);
}

enum clv_status tiff_decode_indexed(struct clv_indexed_image *image, const uint8_t *bytes, size_t size, uint32_t page,
                                    const struct clv_image_limits *limits, struct clv_error *err)
{
    struct reader self;
    struct clv_indexed_image fresh = {0};
    uint32_t *samples = NULL;
    enum clv_status status = reader_open(&self, bytes, size, page, limits, err);
    if (status != CLV_OK)
        goto done;
    if (!is_plain(&self) || (self.bits != 1 && self.bits != 2 && self.bits != 4 && self.bits != 8)) {
        status = fail(err, CLV_ERR_DATA, "a TIFF of %d samples of %d bits a pixel; masks must be 8-bit grey or palette",
                      self.n_samples, self.bits);
        goto done;
    }
    size_t n = (size_t)self.width * self.height;
    fresh = (struct clv_indexed_image){
        .width = (int32_t)self.width, .height = (int32_t)self.height, .bit_depth = self.bits};
    fresh.values = array_alloc(n, 1);
    samples = samples_new(&self);
    status = fresh.values && samples ? read_samples(samples, &self, err) : fail_memory(err);
    for (size_t i = 0; i < n && status == CLV_OK; i++)
        fresh.values[i] = (uint8_t)samples[i];
    read_palette(&fresh, &self);
    struct clv_image turned = {fresh.width, fresh.height, 1, fresh.values};
    TRY(image_orient(&turned, self.orientation, err));
    fresh.values = turned.pixels;
    fresh.width = turned.width;
    fresh.height = turned.height;
done:
    reader_close(&self);
    array_free(samples);
    if (status == CLV_OK)
        *image = fresh;
    else
        clv_indexed_image_release(&fresh);
    return status;
}

enum clv_status tiff_decode_integers(int32_t **values, int32_t *width, int32_t *height, const uint8_t *bytes,
                                     size_t size, uint32_t page, const struct clv_image_limits *limits,
                                     struct clv_error *err)
{
    struct reader self;
    uint32_t *samples = NULL;
    enum clv_status status = reader_open(&self, bytes, size, page, limits, err);
    uint32_t largest = INT32_MAX;
    if (status == CLV_OK && self.format == SAMPLEFORMAT_INT && self.bits > 0 && self.bits <= 32) {
        self.format = SAMPLEFORMAT_UINT;
        largest = UINT32_MAX >> (33 - self.bits); /* numbers below 0 are above */
    }
    TRY_IF(!is_plain(&self) || (self.bits != 8 && self.bits != 16 && self.bits != 32),
           fail(err, CLV_ERR_DATA,
                "a TIFF of %d samples of %d bits a pixel; objects are one whole number of 8, 16 or 32", self.n_samples,
                self.bits));
    TRY_IF(!(samples = samples_new(&self)), fail_memory(err));
    TRY(read_samples(samples, &self, err));
    struct clv_image turned = {(int32_t)self.width, (int32_t)self.height, 4, (uint8_t *)samples}; /* four bytes each */
    for (size_t i = 0, n = (size_t)self.width * self.height; i < n && status == CLV_OK; i++)
        if (samples[i] > largest)
            status = fail(err, CLV_ERR_DATA, "pixel (%zu, %zu) is below 0 or above 2,147,483,647", i % self.width,
                          i / self.width);
    TRY(image_orient(&turned, self.orientation, err));
    reader_close(&self);
    if (status != CLV_OK) {
        array_free(turned.pixels);
        return status;
    }
    *values = (int32_t *)turned.pixels;
    *width = turned.width;
    *height = turned.height;
    return CLV_OK;
}
