/* Reads PBM, PGM and PPM (P1 to P6), of 8 or 16 bits per sample, plain or raw, and only the first image of a file that
 * has several. Start at open_pnm. */

#include "base/base.h"
#include "image/image.h"

#define DIGITS_MAX 10

struct pnm {
    const uint8_t *bytes;
    size_t size, at;
    int32_t width, height;
    uint32_t largest; /* largest value of a sample */
    int n_channels;   /* 1 or 3 */
    bool is_bits, is_plain;
};

static enum clv_status corrupt(const char *what, struct clv_error *err)
{
    return fail(err, CLV_ERR_DATA, "corrupt PNM: %s", what);
}

/* Skips spaces and comments. */
static void skip_space(struct pnm *self)
{
    while (self->at < self->size && (is_space((char)self->bytes[self->at]) || self->bytes[self->at] == '#')) {
        bool comment = self->bytes[self->at] == '#';
        while (comment && self->at < self->size && self->bytes[self->at] != '\n')
            self->at++;
        self->at += self->at < self->size;
    }
}

static bool get_number(uint32_t *value, struct pnm *self)
{
    uint64_t number = 0;
    int digits = 0;
    skip_space(self);
    while (self->at < self->size && is_digit((char)self->bytes[self->at]) && digits++ < DIGITS_MAX)
        number = 10 * number + (uint64_t)(self->bytes[self->at++] - '0');
    *value = (uint32_t)number;
    return digits > 0 && digits <= DIGITS_MAX && number <= UINT32_MAX;
}

static enum clv_status read_header(struct pnm *self, const struct clv_image_limits *limits, struct clv_error *err)
{
    if (self->size < 3)
        return corrupt("truncated file", err);
    int kind = self->bytes[1] - '0';
    uint32_t width, height;
    self->is_plain = kind <= 3;
    self->is_bits = kind == 1 || kind == 4;
    self->n_channels = kind == 3 || kind == 6 ? 3 : 1;
    self->largest = 1;
    self->at = 2;
    if (!get_number(&width, self) || !get_number(&height, self) ||
        (!self->is_bits && !get_number(&self->largest, self)))
        return corrupt("its header has no size", err);
    if (self->largest < 1 || self->largest > 65535)
        return corrupt("its largest value is not 1 to 65535", err);
    if (self->at >= self->size || !is_space((char)self->bytes[self->at]))
        return corrupt("truncated file", err);
    self->at++; /* exactly one separator, then the samples */
    return size_take(&self->width, &self->height, width, height, limits, err);
}

static enum clv_status pnm_size(struct image_head *head, const struct image_bytes *from, struct clv_error *err)
{
    struct pnm self = {.bytes = from->bytes, .size = from->size};
    MUST(read_header(&self, from->limits, err));
    *head = (struct image_head){self.width, self.height, 1};
    return CLV_OK;
}

static size_t row_samples(const struct pnm *self)
{
    return (size_t)self->width * (size_t)self->n_channels;
}

/* Refuses a file that is too short for all samples, before memory is allocated for them. */
static enum clv_status check_length(const struct pnm *self, struct clv_error *err)
{
    size_t row = row_samples(self), rows = (size_t)self->height, left = self->size - self->at;
    size_t needed = self->is_plain  ? rows * row * (self->is_bits ? 1 : 2) - 1
                    : self->is_bits ? rows * ((row + 7) / 8)
                                    : rows * row * (self->largest > 255 ? 2 : 1);
    return left < needed ? corrupt("truncated file", err) : CLV_OK;
}

static enum clv_status plain_row(uint16_t *samples, struct pnm *self, struct clv_error *err)
{
    for (size_t i = 0; i < row_samples(self); i++) {
        uint32_t value = 2;
        if (self->is_bits) {
            skip_space(self);
            value = self->at < self->size ? (uint32_t)(self->bytes[self->at++] - '0') : 2;
        } else if (!get_number(&value, self)) {
            value = UINT32_MAX;
        }
        if (value > self->largest)
            return corrupt(self->at >= self->size ? "truncated file" : "a sample is not a number up to the largest",
                           err);
        samples[i] = (uint16_t)value;
    }
    return CLV_OK;
}

static enum clv_status raw_row(uint16_t *samples, struct pnm *self, struct clv_error *err)
{
    const uint8_t *from = self->bytes + self->at;
    size_t n = row_samples(self);
    bool is_wide = self->largest > 255;
    for (size_t i = 0; i < n; i++) {
        samples[i] = (uint16_t)(self->is_bits ? from[i / 8] >> (7 - i % 8) & 1
                                : is_wide     ? from[2 * i] << 8 | from[2 * i + 1]
                                              : from[i]);
        if (samples[i] > self->largest)
            return corrupt("a sample is larger than the largest", err);
    }
    self->at += self->is_bits ? (n + 7) / 8 : n * (is_wide ? 2 : 1);
    return CLV_OK;
}

/* Reads the next row. Bits become brightness: 1 is white. */
static enum clv_status read_row(uint16_t *samples, struct pnm *self, struct clv_error *err)
{
    MUST(self->is_plain ? plain_row(samples, self, err) : raw_row(samples, self, err));
    for (size_t i = 0; self->is_bits && i < row_samples(self); i++)
        samples[i] ^= 1;
    return CLV_OK;
}

static enum clv_status open_pnm(struct pnm *self, uint16_t **row, const struct image_bytes *from, struct clv_error *err)
{
    *self = (struct pnm){.bytes = from->bytes, .size = from->size};
    MUST(read_header(self, from->limits, err));
    MUST(check_length(self, err));
    *row = array_alloc(row_samples(self), sizeof **row);
    NEED(*row);
    return CLV_OK;
}

static enum clv_status pnm_decode(struct clv_image *image, int *orientation, const struct image_bytes *from,
                                  struct clv_error *err)
{
    (void)orientation; /* PNM has none */
    struct pnm self;
    OWNED(clv_image_release) struct clv_image result = {0};
    OWNED_ARRAY uint16_t *row = NULL;
    MUST(open_pnm(&self, &row, from, err));
    MUST(clv_image_new(&result, self.width, self.height, 3, err));
    const struct clv_image_limits *limits = from->limits;
    bool is_deep_grey = self.largest > 255 && self.n_channels == 1;
    bool by_range = is_deep_grey && (limits->grey16_low > 0 || limits->grey16_high < 65535);
    uint32_t low = by_range ? (uint32_t)limits->grey16_low : 0;
    uint32_t high = by_range ? (uint32_t)limits->grey16_high : self.largest;
    for (int32_t y = 0; y < self.height; y++) {
        uint8_t *target = result.pixels + (size_t)y * (size_t)self.width * 3;
        MUST(read_row(row, &self, err));
        for (size_t i = 0; i < (size_t)self.width * 3; i++)
            target[i] = sample_scaled(row[self.n_channels == 3 ? i : i / 3], low, high);
    }
    *image = TAKE(result);
    return CLV_OK;
}

static enum clv_status pnm_decode_indexed(struct clv_indexed_image *image, const struct image_bytes *from,
                                          struct clv_error *err)
{
    struct pnm self;
    OWNED(clv_indexed_image_release) struct clv_indexed_image result = {0};
    OWNED_ARRAY uint16_t *row = NULL;
    MUST(open_pnm(&self, &row, from, err));
    FAIL_IF(self.n_channels != 1 || self.largest > 255, CLV_ERR_DATA,
            "a %s PNM; masks must have one value a pixel, of 8 bits at most",
            self.n_channels == 1 ? "16-bit grey" : "colour");
    result =
        (struct clv_indexed_image){.width = self.width, .height = self.height, .bit_depth = self.largest == 1 ? 1 : 8};
    result.values = array_alloc((size_t)self.height, (size_t)self.width);
    NEED(result.values);
    for (int32_t y = 0; y < self.height; y++) {
        MUST(read_row(row, &self, err));
        for (int32_t x = 0; x < self.width; x++)
            result.values[(size_t)y * (size_t)self.width + (size_t)x] = (uint8_t)row[x];
    }
    *image = TAKE(result);
    return CLV_OK;
}

static bool is_pnm(const uint8_t *bytes, size_t size)
{
    return size >= 3 && bytes[0] == 'P' && bytes[1] >= '1' && bytes[1] <= '6' && strchr(" \t\r\n#", bytes[2]) &&
           bytes[2];
}

const struct image_codec pnm_codec = {
    .name = "PNM",
    .recognises = is_pnm,
    .is_weak = true,
    .extensions = {".pnm", ".pbm", ".pgm", ".ppm"},
    .size = pnm_size,
    .decode = pnm_decode,
    .decode_indexed = pnm_decode_indexed,
};
