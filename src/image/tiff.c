/* Reads images from TIFF files. libtiff converts colours to RGBA. CIELab, 16-bit grey (scaled by a range) and label
 * values are read as they are stored, one strip or tile at a time. Start at tiff_decode. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "image/image.h"

static enum clv_status tiff_size(struct image_head *head, const struct image_bytes *from, struct clv_error *err)
{
    OWNED(tiff_close) struct tiff_file self = {0};
    struct image_bytes first = *from;
    first.channel = 1; /* any channel */
    MUST(tiff_open(&self, &first, err));
    *head = (struct image_head){(int32_t)self.width, (int32_t)self.height, self.orientation};
    return CLV_OK;
}

/* Whether a pixel is one whole number: grey, or a palette index. */
static bool is_plain(const struct tiff_file *self)
{
    return self->n_samples == 1 && (self->format == SAMPLEFORMAT_UINT || self->format == SAMPLEFORMAT_VOID) &&
           (self->photometric == PHOTOMETRIC_MINISBLACK || self->photometric == PHOTOMETRIC_MINISWHITE ||
            self->photometric == PHOTOMETRIC_PALETTE);
}

/* Unpacks the part of a block that is in the image to target. Rows of the block have `stride` bytes, and samples 1, 2,
 * 4, 8, 16 or 32 bits. Inverts grey if 0 is white. */
static void unpack_block(uint32_t *target, const struct tiff_file *self, const uint8_t *block, size_t stride,
                         uint32_t width, uint32_t height)
{
    unsigned bits = self->bits;
    uint32_t largest = bits == 32 ? UINT32_MAX : (1u << bits) - 1;
    for (uint32_t y = 0; y < height; y++, target += self->width) {
        const uint8_t *row = block + y * stride;
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

static uint32_t smaller_side(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Reads samples[height][width]; in grey images 0 is the darkest value. */
static enum clv_status read_samples(uint32_t *samples, struct tiff_file *self, struct clv_error *err)
{
    uint32_t block_width = self->block_width, block_height = self->block_height;
    tmsize_t block_bytes = self->is_tiled ? TIFFTileSize(self->tiff) : TIFFStripSize(self->tiff);
    size_t stride = ((size_t)block_width * self->bits + 7) / 8;
    if (block_bytes <= 0 || (size_t)block_bytes < stride * block_height)
        return tiff_corrupt(self, err);
    OWNED_ARRAY uint8_t *block = array_zalloc((size_t)block_bytes, 1);
    NEED(block);
    for (uint32_t top = 0; top < self->height; top += block_height) {
        uint32_t height = smaller_side(block_height, self->height - top);
        for (uint32_t left = 0; left < self->width; left += block_width) {
            size_t wanted = self->is_tiled ? (size_t)block_bytes : stride * height;
            MUST(tiff_read_block(block, wanted, self, left, top, 0, err));
            unpack_block(samples + (size_t)top * self->width + left, self, block, stride,
                         smaller_side(block_width, self->width - left), height);
        }
    }
    return CLV_OK;
}

static uint32_t *samples_new(const struct tiff_file *self)
{
    return array_alloc((size_t)self->height, (size_t)self->width * sizeof(uint32_t));
}

static enum clv_status read_grey16(uint8_t *pixels, struct tiff_file *self, const struct clv_image_limits *limits,
                                   struct clv_error *err)
{
    OWNED_ARRAY uint32_t *samples = samples_new(self);
    NEED(samples);
    MUST(read_samples(samples, self, err));
    size_t n = (size_t)self->width * self->height;
    for (size_t i = 0; i < n; i++)
        memset(pixels + 3 * i, sample_scaled(samples[i], (uint32_t)limits->grey16_low, (uint32_t)limits->grey16_high),
               3);
    return CLV_OK;
}

static enum clv_status read_colours(uint8_t *pixels, struct tiff_file *self, struct clv_error *err)
{
    size_t n = (size_t)self->width * self->height;
    OWNED_ARRAY uint32_t *raster = array_zalloc(n, sizeof *raster);
    NEED(raster);
    MUST(tiff_read_colours(raster, self, err));
    for (size_t i = 0; i < n; i++) { /* colours are multiplied by alpha already */
        uint32_t pixel = raster[i], white = 255 - TIFFGetA(pixel);
        uint32_t rgb[3] = {TIFFGetR(pixel), TIFFGetG(pixel), TIFFGetB(pixel)};
        for (int c = 0; c < 3; c++)
            pixels[3 * i + (size_t)c] = (uint8_t)(rgb[c] + white < 255 ? rgb[c] + white : 255);
    }
    return CLV_OK;
}

static bool is_lab(const struct tiff_file *self)
{
    return (self->photometric == PHOTOMETRIC_CIELAB || self->photometric == PHOTOMETRIC_ICCLAB) &&
           self->n_samples == 3 && (self->bits == 8 || self->bits == 16);
}

/* Converts a sample to L (which = 0), a or b. L uses the whole range of its sample. a and b are signed, with 16 bits in
 * units of 1/256. ICC's form adds 128 to a and b, and its largest L of 16 bits is 0xff00. TIFF 6.0, section 23; TIFF
 * Technical Note 4. */
static double lab_value(const struct tiff_file *self, uint16_t sample, int which)
{
    bool is_icc = self->photometric == PHOTOMETRIC_ICCLAB;
    double unit = self->bits == 8 ? 1 : 256;
    if (which == 0)
        return 100.0 * sample / (self->bits == 8 ? 255 : is_icc ? 65280 : 65535);
    if (is_icc)
        return sample / unit - 128;
    return self->bits == 8 ? (double)(int8_t)(uint8_t)sample : (double)(int16_t)sample / unit;
}

static uint16_t lab_sample(const struct tiff_file *self, const uint8_t *row, size_t index)
{
    uint16_t sample;
    if (self->bits == 8)
        return row[index];
    memcpy(&sample, row + 2 * index, sizeof sample);
    return sample;
}

/* Reads CIELab block by block, one plane or three interleaved samples at a time, and converts it to pixels. */
static enum clv_status read_lab(uint8_t *pixels, struct tiff_file *self, struct clv_error *err)
{
    uint32_t block_width = self->block_width, block_height = self->block_height;
    uint16_t n_planes = self->is_planar ? 3 : 1;
    size_t deep = self->is_planar ? 1 : 3, stride = block_width * deep * (self->bits / 8U), width = self->width;
    OWNED_ARRAY uint16_t *lab = array_alloc(self->height, width * 3 * sizeof *lab);
    OWNED_ARRAY uint8_t *block = array_zalloc(block_height, stride);
    NEED(lab && block);
    for (uint32_t top = 0; top < self->height; top += block_height)
        for (uint32_t left = 0; left < self->width; left += block_width)
            for (uint16_t plane = 0; plane < n_planes; plane++) {
                uint32_t rows = smaller_side(block_height, self->height - top),
                         columns = smaller_side(block_width, self->width - left);
                MUST(tiff_read_block(block, stride * (self->is_tiled ? block_height : rows), self, left, top, plane,
                                     err));
                for (uint32_t y = 0; y < rows; y++)
                    for (size_t k = 0; k < columns * deep; k++)
                        lab[((top + y) * width + left + k / deep) * 3 + (self->is_planar ? plane : k % 3)] =
                            lab_sample(self, block + y * stride, k);
            }
    for (size_t p = 0; p < self->height * width; p++) {
        double value[3];
        for (int c = 0; c < 3; c++)
            value[c] = lab_value(self, lab[3 * p + (size_t)c], c);
        lab_d50_to_rgb(pixels + 3 * p, value);
    }
    return CLV_OK;
}

static enum clv_status tiff_decode(struct clv_image *image, int *orientation, const struct image_bytes *from,
                                   struct clv_error *err)
{
    OWNED(tiff_close) struct tiff_file self = {0};
    OWNED(clv_image_release) struct clv_image result = {0};
    MUST(tiff_open(&self, from, err));
    MUST(clv_image_new(&result, (int32_t)self.width, (int32_t)self.height, 3, err));
    if (is_plain(&self) && self.bits == 16 && self.photometric != PHOTOMETRIC_PALETTE)
        MUST(read_grey16(result.pixels, &self, from->limits, err));
    else
        MUST(is_lab(&self) ? read_lab(result.pixels, &self, err) : read_colours(result.pixels, &self, err));
    *image = TAKE(result);
    *orientation = self.orientation;
    return CLV_OK;
}

/* Colours have 16 bits. Old programs wrote 8 bits: if all values are below 256, they are read so, as libtiff does. */
static void read_palette(struct clv_indexed_image *image, const struct tiff_file *self)
{
    uint16_t *channels[3];
    uint32_t largest = 255;
    if (self->photometric != PHOTOMETRIC_PALETTE ||
        !TIFFGetField(self->tiff, TIFFTAG_COLORMAP, &channels[0], &channels[1], &channels[2]))
        return;
    image->palette_size = 1 << self->bits;
    for (int k = 0; k < 3 * image->palette_size; k++)
        largest = channels[k % 3][k / 3] > 255 ? 65535 : largest;
    for (int i = 0; i < image->palette_size; i++)
        for (int c = 0; c < 3; c++)
            image->palette[i][c] = sample_scaled(channels[c][i], 0, largest);
}

static enum clv_status tiff_decode_indexed(struct clv_indexed_image *image, const struct image_bytes *from,
                                           struct clv_error *err)
{
    OWNED(tiff_close) struct tiff_file self = {0};
    OWNED(clv_indexed_image_release) struct clv_indexed_image result = {0};
    MUST(tiff_open(&self, from, err));
    FAIL_IF(!is_plain(&self) || (self.bits != 1 && self.bits != 2 && self.bits != 4 && self.bits != 8), CLV_ERR_DATA,
            "a TIFF of %d samples of %d bits a pixel; masks must be 8-bit grey or palette", self.n_samples, self.bits);
    size_t n = (size_t)self.width * self.height;
    result = (struct clv_indexed_image){
        .width = (int32_t)self.width, .height = (int32_t)self.height, .bit_depth = self.bits};
    result.values = array_alloc(n, 1);
    NEED(result.values);
    OWNED_ARRAY uint32_t *samples = samples_new(&self);
    NEED(samples);
    MUST(read_samples(samples, &self, err));
    for (size_t i = 0; i < n; i++)
        result.values[i] = (uint8_t)samples[i];
    read_palette(&result, &self);
    OWNED(clv_image_release) struct clv_image turned = {result.width, result.height, 1, NULL};
    turned.pixels = TAKE(result.values);
    MUST(image_orient(&turned, self.orientation, err));
    result.width = turned.width;
    result.height = turned.height;
    result.values = TAKE(turned.pixels);
    *image = TAKE(result);
    return CLV_OK;
}

enum clv_status tiff_decode_integers(int32_t **values, int32_t *width, int32_t *height, const struct image_bytes *from,
                                     struct clv_error *err)
{
    OWNED(tiff_close) struct tiff_file self = {0};
    MUST(tiff_open(&self, from, err));
    uint32_t largest = INT32_MAX;
    if (self.format == SAMPLEFORMAT_INT && self.bits > 0 && self.bits <= 32) {
        self.format = SAMPLEFORMAT_UINT;
        largest = (uint32_t)INT32_MAX >> (32 - self.bits); /* negative numbers read as unsigned are larger */
    }
    bool has_bits = self.bits && self.bits <= 32 && !(self.bits & (self.bits - 1)); /* 1, 2, 4, 8, 16 or 32 */
    FAIL_IF(!is_plain(&self) || !has_bits, CLV_ERR_DATA,
            "a TIFF of %d samples of %d bits a pixel; objects are one whole number of 1, 2, 4, 8, 16 or 32",
            self.n_samples, self.bits);
    OWNED_ARRAY uint32_t *samples = samples_new(&self);
    NEED(samples);
    MUST(read_samples(samples, &self, err));
    for (size_t i = 0, n = (size_t)self.width * self.height; i < n; i++)
        FAIL_IF(samples[i] > largest, CLV_ERR_DATA, "pixel (%zu, %zu) is below 0 or above 2,147,483,647",
                i % self.width, i / self.width);
    OWNED(clv_image_release) struct clv_image turned = {
        (int32_t)self.width, (int32_t)self.height, 4, (uint8_t *)TAKE(samples)}; /* 4 channels: the bytes of a number */
    MUST(image_orient(&turned, self.orientation, err));
    *width = turned.width;
    *height = turned.height;
    *values = (int32_t *)TAKE(turned.pixels);
    return CLV_OK;
}

const struct image_codec tiff_codec = {
    .name = "TIFF",
    .magics = {{"II*\0", 4}, {"MM\0*", 4}, {"II+\0", 4}, {"MM\0+", 4}},
    .extensions = {".tif", ".tiff"},
    .reading = PARTS_ANYWHERE,
    .size = tiff_size,
    .decode = tiff_decode,
    .decode_indexed = tiff_decode_indexed,
};
