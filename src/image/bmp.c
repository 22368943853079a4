/* Reads BMP files of Windows and OS/2: 1, 4, 8, 16, 24 and 32 bits per pixel, and run lengths of 4 and 8 bits.
 *
 * An image has alpha if a header of version 3 or later gives a bit mask for it. Colours are then composed over white,
 * unless alpha is 0 in all pixels: some programs declare alpha and leave it empty. Without a mask, the fourth byte of
 * 32 bits is ignored. Start at open_bitmap. */
#include <string.h>

#include "base/base.h"
#include "image/image.h"

#define FILE_HEADER    14
#define OS2_HEADER     12
#define NO_COMPRESSION 0
#define RUNS_OF_8      1
#define RUNS_OF_4      2
#define BIT_FIELDS     3
#define ALPHA_FIELDS   6

struct bitmap {
    const uint8_t *bytes;
    size_t size;
    int32_t width, height;
    int bits;
    bool top_down;
    uint32_t masks[4];      /* bits of red, green, blue and alpha (0: none), with 16 or 32 bits per pixel */
    const uint8_t *palette; /* blue, green, red and, if entry_bytes is 4, an unused byte */
    size_t n_colours, entry_bytes;
    const uint8_t *rows; /* [height][row_bytes], from the bottom unless top_down */
    size_t row_bytes;
    uint8_t *values; /* [height][width], unpacked from run lengths, from the top; owned */
};

static void bitmap_release(struct bitmap *self)
{
    array_free(self->values);
}

static uint32_t get16(const uint8_t *b)
{
    return (uint32_t)b[1] << 8 | b[0];
}

static uint32_t get32(const uint8_t *b)
{
    return get16(b + 2) << 16 | get16(b);
}

static enum clv_status truncated(struct clv_error *err)
{
    return fail(err, CLV_ERR_DATA, "corrupt BMP: truncated file");
}

/* Reads the sizes; *header is the length of the second header, after the file header. */
static enum clv_status read_size(struct bitmap *self, size_t *header, const struct clv_image_limits *limits,
                                 struct clv_error *err)
{
    const uint8_t *info = self->bytes + FILE_HEADER;
    if (self->size < FILE_HEADER + OS2_HEADER)
        return truncated(err);
    *header = get32(info);
    if (*header != OS2_HEADER && (*header < 40 || *header > 1024))
        return fail(err, CLV_ERR_DATA, "corrupt BMP: a header of %zu bytes", *header);
    if (self->size - FILE_HEADER < *header)
        return truncated(err);
    uint32_t width, height;
    if (*header == OS2_HEADER) {
        width = get16(info + 4);
        height = get16(info + 6);
    } else {
        width = get32(info + 4);
        height = get32(info + 8);
        self->top_down = height > INT32_MAX;
        height = self->top_down ? 0 - height : height;
    }
    return size_take(&self->width, &self->height, width, height, limits, err);
}

static enum clv_status bmp_size(struct image_head *head, const struct image_bytes *from, struct clv_error *err)
{
    struct bitmap self = {.bytes = from->bytes, .size = from->size};
    size_t header;
    MUST(read_size(&self, &header, from->limits, err));
    *head = (struct image_head){self.width, self.height, 1};
    return CLV_OK;
}

/* Reads which bits of a pixel are red, green and blue. *end becomes the offset of the palette. */
static enum clv_status read_masks(struct bitmap *self, size_t *end, uint32_t compression, struct clv_error *err)
{
    static const uint32_t of_16[3] = {0x7c00, 0x03e0, 0x001f}, of_32[3] = {0xff0000, 0x00ff00, 0x0000ff};
    memcpy(self->masks, self->bits == 16 ? of_16 : of_32, sizeof of_16);
    if (compression == NO_COMPRESSION)
        return CLV_OK;
    if (self->size < FILE_HEADER + 40 + 12)
        return truncated(err);
    for (int c = 0; c < 3; c++) {
        uint32_t mask = self->masks[c] = get32(self->bytes + FILE_HEADER + 40 + 4 * c);
        uint32_t low = mask & (0 - mask);
        if (!mask || ((mask / low) & (mask / low + 1)) || (self->bits == 16 && mask > 0xffff))
            return fail(err, CLV_ERR_DATA, "corrupt BMP: colours by the bits %#x", (unsigned)mask);
    }
    if (*end == FILE_HEADER + 40)
        *end += compression == BIT_FIELDS ? 12 : 16;
    if (*end < FILE_HEADER + 56 || self->size < FILE_HEADER + 56)
        return CLV_OK;
    uint32_t alpha = get32(self->bytes + FILE_HEADER + 52), low = alpha & (0 - alpha);
    if (alpha && ((alpha / low) & (alpha / low + 1)))
        return fail(err, CLV_ERR_DATA, "corrupt BMP: alpha by the bits %#x", (unsigned)alpha);
    self->masks[3] = alpha;
    return CLV_OK;
}

static enum clv_status read_palette(struct bitmap *self, size_t at, size_t header, struct clv_error *err)
{
    size_t n = header == OS2_HEADER ? 0 : get32(self->bytes + FILE_HEADER + 32);
    self->entry_bytes = header == OS2_HEADER ? 3 : 4;
    self->n_colours = n ? n : (size_t)1 << self->bits;
    if (self->n_colours > (size_t)1 << self->bits)
        return fail(err, CLV_ERR_DATA, "corrupt BMP: %zu colours of %d bits", self->n_colours, self->bits);
    if (self->size < at || self->size - at < self->n_colours * self->entry_bytes)
        return truncated(err);
    self->palette = self->bytes + at;
    return CLV_OK;
}

/* Converts the index of a row in the file, which counts from the bottom unless top_down, to the index in the image. */
static int32_t row_from_top(const struct bitmap *self, int32_t row)
{
    return self->top_down ? row : self->height - 1 - row;
}

/* Unpacks run lengths: pairs of a count and a value (two alternating values for 4 bits). A count of 0 introduces the
 * end of a row, the end of the image, a step to the right and up, or a number of literal values, padded to whole words.
 * Skipped pixels are 0. Microsoft, "Bitmap Compression". */
static enum clv_status unpack_runs(struct bitmap *self, const uint8_t *bytes, size_t size, struct clv_error *err)
{
    enum { END_OF_ROW, END_OF_ALL, STEP };
    size_t at = 0, width = (size_t)self->width;
    int32_t x = 0, row = 0;
    self->values = array_zalloc((size_t)self->height, width);
    NEED(self->values);
    while (row < self->height) {
        if (size - at < 2)
            return truncated(err);
        int count = bytes[at], code = bytes[at + 1];
        at += 2;
        if (count == 0 && code == END_OF_ALL)
            return CLV_OK;
        if (count == 0 && code == END_OF_ROW) {
            x = 0;
            row++;
            continue;
        }
        if (count == 0 && code == STEP) {
            if (size - at < 2)
                return truncated(err);
            x += bytes[at];
            row += bytes[at + 1];
            at += 2;
            FAIL_IF(x > self->width || row > self->height, CLV_ERR_DATA, "corrupt BMP: run lengths leave the image");
            continue;
        }
        bool is_run = count > 0;
        int n = is_run ? count : code;
        size_t taken = is_run ? 0 : ((size_t)n * (size_t)self->bits + 15) / 16 * 2;
        if (size - at < taken)
            return truncated(err);
        FAIL_IF(n > self->width - x, CLV_ERR_DATA, "corrupt BMP: run lengths leave the image in row %d",
                row_from_top(self, row));
        uint8_t *target = self->values + (size_t)row_from_top(self, row) * width;
        for (int i = 0; i < n; i++, x++) {
            int both = is_run ? code : self->bits == 8 ? bytes[at + (size_t)i] : bytes[at + (size_t)i / 2];
            target[x] = (uint8_t)(self->bits == 8 ? both : i % 2 ? both & 15 : both >> 4);
        }
        at += taken;
    }
    return CLV_OK;
}

static enum clv_status open_bitmap(struct bitmap *self, const struct image_bytes *from, struct clv_error *err)
{
    const uint8_t *bytes = from->bytes;
    size_t header = 0, size = from->size;
    *self = (struct bitmap){.bytes = bytes, .size = size};
    MUST(read_size(self, &header, from->limits, err));
    const uint8_t *info = bytes + FILE_HEADER;
    bool is_os2 = header == OS2_HEADER;
    uint32_t compression = is_os2 ? NO_COMPRESSION : get32(info + 16);
    self->bits = (int)get16(info + (is_os2 ? 10 : 14));
    bool by_fields = (compression == BIT_FIELDS || compression == ALPHA_FIELDS) && self->bits >= 16 && self->bits != 24;
    FAIL_IF(self->bits != 1 && self->bits != 4 && self->bits != 8 && self->bits != 16 && self->bits != 24 &&
                self->bits != 32,
            CLV_ERR_DATA, "a BMP of %d bits a pixel, which cleave does not read; save it as PNG", self->bits);
    bool by_runs = (compression == RUNS_OF_8 && self->bits == 8) || (compression == RUNS_OF_4 && self->bits == 4);
    FAIL_IF(compression != NO_COMPRESSION && !by_fields && !by_runs, CLV_ERR_DATA,
            "a compressed BMP (kind %u) of %d bits a pixel, which cleave does not read; save it as PNG",
            (unsigned)compression, self->bits);
    size_t end = FILE_HEADER + header;
    if (self->bits == 16 || self->bits == 32)
        MUST(read_masks(self, &end, compression, err));
    else if (self->bits <= 8)
        MUST(read_palette(self, end, header, err));
    size_t at = get32(bytes + 10);
    self->row_bytes = ((size_t)self->width * (size_t)self->bits + 31) / 32 * 4;
    if (by_runs && at >= end && at <= size)
        return unpack_runs(self, bytes + at, size - at, err);
    if (at < end || at > size || (size - at) / self->row_bytes < (size_t)self->height)
        return truncated(err);
    self->rows = bytes + at;
    return CLV_OK;
}

static const uint8_t *row_of(const struct bitmap *self, int32_t y)
{
    return self->rows + (size_t)(self->top_down ? y : self->height - 1 - y) * self->row_bytes;
}

/* Unpacks values[width] of a row of 1, 4 or 8 bits; false if one is beyond the palette. */
static bool unpack(uint8_t *values, const struct bitmap *self, int32_t y)
{
    const uint8_t *row = self->values ? self->values + (size_t)y * (size_t)self->width : row_of(self, y);
    int per_byte = 8 / self->bits, largest = (1 << self->bits) - 1;
    bool good = true;
    for (int32_t x = 0; x < self->width; x++) {
        int shift = 8 - self->bits * (x % per_byte + 1);
        values[x] = self->values ? row[x] : (uint8_t)(row[x / per_byte] >> shift & largest);
        good &= values[x] < self->n_colours;
    }
    return good;
}

static enum clv_status beyond_palette(const struct bitmap *self, int32_t y, struct clv_error *err)
{
    return fail(err, CLV_ERR_DATA, "corrupt BMP: row %d has a palette index beyond the palette of %zu entries", y,
                self->n_colours);
}

/* Returns the bits of a colour or of alpha, scaled to 0..255. */
static uint8_t field(uint32_t pixel, uint32_t mask)
{
    uint32_t low = mask & (0 - mask), largest = mask / low;
    return (uint8_t)((255 * (uint64_t)((pixel & mask) / low) + largest / 2) / largest);
}

static uint32_t pixel_of(const struct bitmap *self, const uint8_t *row, int32_t x)
{
    return self->bits == 16 ? get16(row + 2 * x) : get32(row + 4 * x);
}

static bool has_alpha(const struct bitmap *self)
{
    for (int32_t y = 0; y < self->height && self->masks[3]; y++)
        for (int32_t x = 0; x < self->width; x++)
            if (pixel_of(self, row_of(self, y), x) & self->masks[3])
                return true;
    return false;
}

static void colours_of_row(uint8_t *target, const struct bitmap *self, bool is_transparent, int32_t y)
{
    const uint8_t *row = row_of(self, y);
    for (int32_t x = 0; x < self->width; x++) {
        if (self->bits == 24) {
            for (int c = 0; c < 3; c++)
                target[3 * x + c] = row[3 * x + 2 - c];
            continue;
        }
        uint32_t pixel = pixel_of(self, row, x),
                 alpha = is_transparent && self->masks[3] ? field(pixel, self->masks[3]) : 255;
        for (int c = 0; c < 3; c++)
            if (self->masks[c]) /* read_masks refuses a colour without bits */
                target[3 * x + c] = over_white(field(pixel, self->masks[c]), alpha);
    }
}

static enum clv_status bmp_decode(struct clv_image *image, int *orientation, const struct image_bytes *from,
                                  struct clv_error *err)
{
    (void)orientation; /* BMP has none */
    OWNED(bitmap_release) struct bitmap self = {0};
    OWNED(clv_image_release) struct clv_image result = {0};
    MUST(open_bitmap(&self, from, err));
    MUST(clv_image_new(&result, self.width, self.height, 3, err));
    OWNED_ARRAY uint8_t *values = array_alloc((size_t)self.width, 1);
    NEED(values);
    bool is_transparent = has_alpha(&self);
    for (int32_t y = 0; y < self.height; y++) {
        uint8_t *target = result.pixels + (size_t)y * (size_t)self.width * 3;
        if (self.bits > 8) {
            colours_of_row(target, &self, is_transparent, y);
            continue;
        }
        if (!unpack(values, &self, y))
            return beyond_palette(&self, y, err);
        for (int32_t x = 0; x < self.width; x++)
            for (int c = 0; c < 3; c++)
                target[3 * x + c] = self.palette[values[x] * self.entry_bytes + (size_t)(2 - c)];
    }
    *image = TAKE(result);
    return CLV_OK;
}

/* Whether the palette shows each value as the same grey, so that it counts as no palette. */
static bool is_grey_ramp(const struct bitmap *self)
{
    int largest = (1 << self->bits) - 1;
    for (size_t i = 0; i < self->n_colours; i++)
        for (size_t c = 0; c < 3; c++)
            if (self->palette[i * self->entry_bytes + c] != i * 255 / (size_t)largest)
                return false;
    return true;
}

static enum clv_status bmp_decode_indexed(struct clv_indexed_image *image, const struct image_bytes *from,
                                          struct clv_error *err)
{
    OWNED(bitmap_release) struct bitmap self = {0};
    OWNED(clv_indexed_image_release) struct clv_indexed_image result = {0};
    MUST(open_bitmap(&self, from, err));
    FAIL_IF(self.bits > 8, CLV_ERR_DATA,
            "a BMP of %d bits a pixel; masks must have one value a pixel, of 8 bits at most", self.bits);
    result = (struct clv_indexed_image){.width = self.width, .height = self.height, .bit_depth = self.bits};
    result.values = array_alloc((size_t)self.height, (size_t)self.width);
    NEED(result.values);
    for (int32_t y = 0; y < self.height; y++)
        if (!unpack(result.values + (size_t)y * (size_t)self.width, &self, y))
            return beyond_palette(&self, y, err);
    if (!is_grey_ramp(&self)) {
        result.palette_size = (int)self.n_colours;
        for (size_t i = 0; i < self.n_colours; i++)
            for (size_t c = 0; c < 3; c++)
                result.palette[i][c] = self.palette[i * self.entry_bytes + 2 - c];
    }
    *image = TAKE(result);
    return CLV_OK;
}

const struct image_codec bmp_codec = {
    .name = "BMP",
    .magics = {{"BM", 2}},
    .is_weak = true,
    .extensions = {".bmp"},
    .size = bmp_size,
    .decode = bmp_decode,
    .decode_indexed = bmp_decode_indexed,
};
