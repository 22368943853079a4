/* BMP files of Windows and OS/2, uncompressed: 1, 4, 8, 16, 24 and 32 bits a pixel. The fourth byte of 32 bits is
 * ignored: few programs mean alpha by it, and those that do not leave it zero. */
#include <string.h>

#include "base/base.h"
#include "image/image.h"

#define FILE_HEADER    14
#define OS2_HEADER     12
#define NO_COMPRESSION 0
#define BIT_FIELDS     3
#define ALPHA_FIELDS   6

struct bitmap {
    const uint8_t *bytes;
    size_t size;
    int32_t width, height;
    int bits;
    bool top_down;
    uint32_t masks[3];      /* of red, green, blue, where bits are 16 or 32 */
    const uint8_t *palette; /* blue, green, red and, if entry_bytes is 4, a byte for nothing */
    size_t n_colours, entry_bytes;
    const uint8_t *rows; /* [height][row_bytes], from the bottom unless top_down */
    size_t row_bytes;
};

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

/* Sizes; *header is the length of what follows the file header. */
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

enum clv_status bmp_size(struct image_head *head, const struct image_bytes *from, struct clv_error *err)
{
    struct bitmap self = {.bytes = from->bytes, .size = from->size};
    size_t header;
    enum clv_status status = read_size(&self, &header, from->limits, err);
    *head = (struct image_head){self.width, self.height, 1};
    return status;
}

/* Which bits of a pixel are red, green and blue. *end is where the palette begins. */
static enum clv_status read_masks(struct bitmap *self, size_t *end, uint32_t compression, struct clv_error *err)
{
    static const uint32_t of_16[3] = {0x7c00, 0x03e0, 0x001f}, of_32[3] = {0xff0000, 0x00ff00, 0x0000ff};
    memcpy(self->masks, self->bits == 16 ? of_16 : of_32, sizeof self->masks);
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

static enum clv_status open_bitmap(struct bitmap *self, const struct image_bytes *from, struct clv_error *err)
{
    const uint8_t *bytes = from->bytes;
    size_t header = 0, size = from->size;
    *self = (struct bitmap){.bytes = bytes, .size = size};
    MUST(read_size(self, &header, from->limits, err));
    enum clv_status status = CLV_OK;
    const uint8_t *info = bytes + FILE_HEADER;
    bool is_os2 = header == OS2_HEADER;
    uint32_t compression = is_os2 ? NO_COMPRESSION : get32(info + 16);
    self->bits = (int)get16(info + (is_os2 ? 10 : 14));
    bool by_fields = (compression == BIT_FIELDS || compression == ALPHA_FIELDS) && self->bits >= 16 && self->bits != 24;
    if (self->bits != 1 && self->bits != 4 && self->bits != 8 && self->bits != 16 && self->bits != 24 &&
        self->bits != 32)
        return fail(err, CLV_ERR_DATA, "a BMP of %d bits a pixel, which cleave does not read", self->bits);
    if (compression != NO_COMPRESSION && !by_fields)
        return fail(err, CLV_ERR_DATA, "a compressed BMP (kind %u), which cleave does not read", (unsigned)compression);
    size_t end = FILE_HEADER + header;
    if (self->bits == 16 || self->bits == 32)
        status = read_masks(self, &end, compression, err);
    else if (self->bits <= 8)
        status = read_palette(self, end, header, err);
    if (status != CLV_OK)
        return status;
    size_t at = get32(bytes + 10);
    self->row_bytes = ((size_t)self->width * (size_t)self->bits + 31) / 32 * 4;
    if (at < end || at > size || (size - at) / self->row_bytes < (size_t)self->height)
        return truncated(err);
    self->rows = bytes + at;
    return CLV_OK;
}

static const uint8_t *row_of(const struct bitmap *self, int32_t y)
{
    return self->rows + (size_t)(self->top_down ? y : self->height - 1 - y) * self->row_bytes;
}

/* values[width] of a row of 1, 4 or 8 bits; false: one is beyond the palette. */
static bool unpack(uint8_t *values, const struct bitmap *self, int32_t y)
{
    const uint8_t *row = row_of(self, y);
    int per_byte = 8 / self->bits, largest = (1 << self->bits) - 1;
    bool good = true;
    for (int32_t x = 0; x < self->width; x++) {
        int shift = 8 - self->bits * (x % per_byte + 1);
        values[x] = (uint8_t)(row[x / per_byte] >> shift & largest);
        good &= values[x] < self->n_colours;
    }
    return good;
}

static enum clv_status beyond_palette(const struct bitmap *self, int32_t y, struct clv_error *err)
{
    return fail(err, CLV_ERR_DATA, "corrupt BMP: row %d has a palette index beyond the palette of %zu entries", y,
                self->n_colours);
}

static void colours_of_row(uint8_t *target, const struct bitmap *self, int32_t y)
{
    const uint8_t *row = row_of(self, y);
    for (int32_t x = 0; x < self->width; x++) {
        if (self->bits == 24) {
            for (int c = 0; c < 3; c++)
                target[3 * x + c] = row[3 * x + 2 - c];
            continue;
        }
        uint32_t pixel = self->bits == 16 ? get16(row + 2 * x) : get32(row + 4 * x);
        for (int c = 0; c < 3; c++) {
            uint32_t mask = self->masks[c], low = mask & (0 - mask);
            if (!low) /* a colour without bits is refused as the header is read */
                continue;
            uint32_t largest = mask / low;
            uint64_t value = (pixel & mask) / low;
            target[3 * x + c] = (uint8_t)((255 * value + largest / 2) / largest);
        }
    }
}

enum clv_status bmp_decode(struct clv_image *image, const struct image_bytes *from, struct clv_error *err)
{
    struct bitmap self;
    struct clv_image fresh = {0};
    enum clv_status status = open_bitmap(&self, from, err);
    uint8_t *values = NULL;
    TRY(clv_image_new(&fresh, self.width, self.height, 3, err));
    TRY_IF(!(values = array_alloc((size_t)self.width, 1)), fail_memory(err));
    for (int32_t y = 0; status == CLV_OK && y < self.height; y++) {
        uint8_t *target = fresh.pixels + (size_t)y * (size_t)self.width * 3;
        if (self.bits > 8) {
            colours_of_row(target, &self, y);
            continue;
        }
        if (!unpack(values, &self, y))
            status = beyond_palette(&self, y, err);
        for (int32_t x = 0; x < self.width && status == CLV_OK; x++)
            for (int c = 0; c < 3; c++)
                target[3 * x + c] = self.palette[values[x] * self.entry_bytes + (size_t)(2 - c)];
    }
    array_free(values);
    DELIVER(image, fresh, clv_image_release(&fresh));
    return status;
}

/* A palette that shows values as the greys they are is none. */
static bool is_grey_ramp(const struct bitmap *self)
{
    int largest = (1 << self->bits) - 1;
    for (size_t i = 0; i < self->n_colours; i++)
        for (size_t c = 0; c < 3; c++)
            if (self->palette[i * self->entry_bytes + c] != i * 255 / (size_t)largest)
                return false;
    return true;
}

enum clv_status bmp_decode_indexed(struct clv_indexed_image *image, const struct image_bytes *from,
                                   struct clv_error *err)
{
    struct bitmap self;
    struct clv_indexed_image fresh = {0};
    enum clv_status status = open_bitmap(&self, from, err);
    if (status == CLV_OK && self.bits > 8)
        status = fail(err, CLV_ERR_DATA,
                      "a BMP of %d bits a pixel; masks must have one value a pixel, of 8 bits at most", self.bits);
    if (status != CLV_OK)
        return status;
    fresh = (struct clv_indexed_image){.width = self.width, .height = self.height, .bit_depth = self.bits};
    fresh.values = array_alloc((size_t)self.height, (size_t)self.width);
    MUST_IF(!fresh.values, fail_memory(err));
    for (int32_t y = 0; status == CLV_OK && y < self.height; y++)
        if (!unpack(fresh.values + (size_t)y * (size_t)self.width, &self, y))
            status = beyond_palette(&self, y, err);
    if (status == CLV_OK && !is_grey_ramp(&self)) {
        fresh.palette_size = (int)self.n_colours;
        for (size_t i = 0; i < self.n_colours; i++)
            for (size_t c = 0; c < 3; c++)
                fresh.palette[i][c] = self.palette[i * self.entry_bytes + 2 - c];
    }
    DELIVER(image, fresh, clv_indexed_image_release(&fresh));
    return status;
}
