/* Reads the headers of NumPy's .npy files, versions 1 to 3: a magic number, the length of the header, the header, which
 * is a Python dictionary, and the array. The format is described in numpy.lib.format. Start at npy_parse. */
#include "image/raster/raster.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"

#define MAGIC      "\x93NUMPY"
#define MAGIC_SIZE 6
#define MAX_HEADER 65536

static const struct {
    char name[3];
    int8_t size;
} types[] = {[NUMBER_U8] = {"u1", 1},  [NUMBER_U16] = {"u2", 2}, [NUMBER_F16] = {"f2", 2},
             [NUMBER_F32] = {"f4", 4}, [NUMBER_F64] = {"f8", 8}, [NUMBER_I8] = {"i1", 1},
             [NUMBER_I16] = {"i2", 2}, [NUMBER_U32] = {"u4", 4}, [NUMBER_I32] = {"i4", 4}};

size_t number_type_size(enum number_type type)
{
    return (size_t)types[type].size;
}

void number_shape_name(char *name, size_t size, const struct number_array *array)
{
    size_t used = (size_t)snprintf(name, size, "%s", array->n_dimensions ? "" : "no dimensions");
    for (int32_t d = 0; d < array->n_dimensions && used < size; d++)
        used += (size_t)snprintf(name + used, size - used, "%s%lld", d ? " x " : "", (long long)array->shape[d]);
}

enum clv_status number_array_of(struct number_array *view, const struct clv_array *array, struct clv_error *err)
{
    const bool is_known = array->values && (unsigned)array->type <= CLV_NUMBER_I32;
    FAIL_IF(!is_known || (array->n_dimensions != 2 && array->n_dimensions != 3), CLV_ERR_USAGE,
            "an array of %d dimensions, 2 or 3 of numbers are needed", array->n_dimensions);
    *view = (struct number_array){.bytes = array->values,
                                  .type = (enum number_type)array->type,
                                  .big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
                                  .n_dimensions = array->n_dimensions};
    for (int32_t d = 0; d < array->n_dimensions; d++) {
        FAIL_IF(array->shape[d] < 1, CLV_ERR_USAGE, "an array whose dimension %d is %lld", d,
                (long long)array->shape[d]);
        view->shape[d] = array->shape[d];
    }
    return CLV_OK;
}

/* Computes the bytes of an array of this shape; false if a dimension is negative or the product overflows. */
static bool number_array_bytes(size_t *bytes, const struct number_array *array)
{
    size_t product = number_type_size(array->type);
    for (int32_t d = 0; d < array->n_dimensions; d++)
        if (array->shape[d] < 0 || __builtin_mul_overflow(product, (size_t)array->shape[d], &product))
            return false;
    *bytes = product;
    return true;
}

size_t number_stride(const struct number_array *array, int32_t dimension)
{
    size_t product = 1;
    int32_t first = array->is_fortran ? 0 : dimension + 1, last = array->is_fortran ? dimension : array->n_dimensions;
    for (int32_t d = first; d < last; d++)
        product *= (size_t)array->shape[d];
    return product;
}

float number_from_half(uint16_t bits)
{
    int32_t exponent = bits >> 10 & 31, fraction = bits & 1023;
    float size = exponent == 31  ? (fraction ? NAN : INFINITY)
                 : exponent == 0 ? ldexpf((float)fraction, -24)
                                 : ldexpf((float)(fraction | 1024), exponent - 25);
    return bits & 0x8000 ? -size : size;
}

double number_load(const unsigned char *bytes, enum number_type type, bool big_endian)
{
    size_t size = number_type_size(type);
    uint64_t bits = 0;
    for (size_t k = 0; k < size; k++)
        bits = bits << 8 | bytes[big_endian ? k : size - 1 - k];
    uint32_t half = (uint32_t)bits;
    float single;
    double value;
    switch (type) {
    case NUMBER_F16: return (double)number_from_half((uint16_t)bits);
    case NUMBER_F32: memcpy(&single, &half, sizeof single); return (double)single;
    case NUMBER_F64: memcpy(&value, &bits, sizeof value); return value;
    case NUMBER_I8: return (double)(int8_t)bits;
    case NUMBER_I16: return (double)(int16_t)bits;
    case NUMBER_I32: return (double)(int32_t)half;
    default: return (double)bits;
    }
}

bool npy_recognised(const unsigned char *bytes, size_t size)
{
    return size >= MAGIC_SIZE && memcmp(bytes, MAGIC, MAGIC_SIZE) == 0;
}

/* The part of the header's text that is not parsed yet. */
struct header {
    const char *at, *end;
};

static void skip_blanks(struct header *self)
{
    while (self->at < self->end && (*self->at == ' ' || *self->at == '\n' || *self->at == '\t'))
        self->at++;
}

static bool take(struct header *self, char wanted)
{
    skip_blanks(self);
    if (self->at == self->end || *self->at != wanted)
        return false;
    self->at++;
    return true;
}

/* Takes a quoted text without escapes, or a bare word. */
static bool take_word(struct header *self, char *word, size_t size)
{
    skip_blanks(self);
    char quote = self->at < self->end && (*self->at == '\'' || *self->at == '"') ? *self->at++ : 0;
    size_t n = 0;
    while (self->at < self->end && n + 1 < size && (quote ? *self->at != quote : is_letter(*self->at)))
        word[n++] = *self->at++;
    word[n] = 0;
    return quote ? take(self, quote) : n > 0;
}

static bool take_shape(struct header *self, struct number_array *array)
{
    array->n_dimensions = 0;
    if (!take(self, '('))
        return false;
    while (!take(self, ')')) {
        int64_t size = 0;
        const char *first = self->at;
        for (; self->at < self->end && is_digit(*self->at); self->at++)
            if (__builtin_mul_overflow(size, 10, &size) || __builtin_add_overflow(size, *self->at - '0', &size))
                return false;
        if (self->at == first || array->n_dimensions == NUMBER_MAX_DIMENSIONS)
            return false;
        array->shape[array->n_dimensions++] = size;
        if (!take(self, ',')) {
            if (!take(self, ')'))
                return false;
            break;
        }
    }
    return true;
}

/* Finds the type of a descr. `readable` is a text that contains the names of the types that may be read. */
static bool find_type(struct number_array *array, const char *descr, const char *readable)
{
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        if (*descr && strchr("<>|=", *descr) && strcmp(descr + 1, types[k].name) == 0) {
            array->type = (enum number_type)k;
            array->big_endian = *descr == '>';
            return strstr(readable, types[k].name) && (*descr != '|' || types[k].size == 1);
        }
    return false;
}

/* Parses a header such as {'descr': '<f2', 'fortran_order': False, 'shape': (16, 32, 32), }. */
static enum clv_status parse_header(struct number_array *array, struct header header, const char *readable,
                                    struct clv_error *err)
{
    char key[32], descr[32] = "", word[8] = "";
    bool has_descr = false, has_order = false, has_shape = false, is_sound = take(&header, '{');
    while (is_sound && !take(&header, '}')) {
        bool *seen = NULL;
        is_sound = take_word(&header, key, sizeof key) && take(&header, ':');
        if (is_sound && strcmp(key, "descr") == 0) {
            seen = &has_descr;
            skip_blanks(&header);
            if (header.at < header.end && *header.at == '[')
                return fail(err, CLV_ERR_DATA, "a .npy file of records, not of plain numbers");
            is_sound = take_word(&header, descr, sizeof descr);
        } else if (is_sound && strcmp(key, "fortran_order") == 0) {
            seen = &has_order;
            is_sound = take_word(&header, word, sizeof word) && (!strcmp(word, "True") || !strcmp(word, "False"));
            array->is_fortran = strcmp(word, "True") == 0;
        } else if (is_sound && strcmp(key, "shape") == 0) {
            seen = &has_shape;
            is_sound = take_shape(&header, array);
        }
        is_sound = is_sound && seen && !*seen;
        if (is_sound)
            *seen = true;
        if (is_sound && !take(&header, ',')) {
            is_sound = take(&header, '}');
            break;
        }
    }
    if (!is_sound || !has_descr || !has_order || !has_shape)
        return fail(err, CLV_ERR_DATA, "a .npy file whose header cannot be read");
    FAIL_IF(!find_type(array, descr, readable), CLV_ERR_DATA, "a .npy file of type \"%.20s\"; %s", descr, readable);
    return CLV_OK;
}

enum clv_status npy_parse(struct number_array *array, const unsigned char *bytes, size_t size, const char *readable,
                          struct clv_error *err)
{
    char shape[160];
    size_t wanted, start = MAGIC_SIZE + 4, length;
    struct number_array found = {0};
    FAIL_IF(size < start, CLV_ERR_DATA, "a truncated .npy file of %zu bytes", size);
    int version = bytes[MAGIC_SIZE];
    FAIL_IF(version < 1 || version > 3, CLV_ERR_DATA, "a .npy file of version %d; 1 to 3 are read", version);
    length = (size_t)bytes[8] | (size_t)bytes[9] << 8;
    if (version > 1) {
        start += 2;
        FAIL_IF(size < start, CLV_ERR_DATA, "a truncated .npy file of %zu bytes", size);
        length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    }
    if (length > MAX_HEADER || length > size - start)
        return fail(err, CLV_ERR_DATA, "a .npy file with a header of %zu bytes, %s", length,
                    length > MAX_HEADER ? "which is too long" : "more than there are");
    struct header header = {(const char *)bytes + start, (const char *)bytes + start + length};
    MUST(parse_header(&found, header, readable, err));
    found.bytes = bytes + start + length;
    number_shape_name(shape, sizeof shape, &found);
    FAIL_IF(!number_array_bytes(&wanted, &found), CLV_ERR_DATA, "shape %s is too large", shape);
    if (wanted != size - start - length)
        return fail(err, CLV_ERR_DATA, "shape %s takes %zu bytes, the file holds %zu", shape, wanted,
                    size - start - length);
    *array = found;
    return CLV_OK;
}
