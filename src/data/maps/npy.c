/* NumPy's .npy files, versions 1 to 3: a magic number, the length of a header, the header, which is a Python
 * dictionary, and the array. The format is numpy.lib.format's. */
#include <string.h>

#include "base/error.h"
#include "data/maps/map_array.h"

#define MAGIC      "\x93NUMPY"
#define MAGIC_SIZE 6
#define MAX_HEADER 65536

bool npy_recognised(const unsigned char *bytes, size_t size)
{
    return size >= MAGIC_SIZE && memcmp(bytes, MAGIC, MAGIC_SIZE) == 0;
}

/* What is left of the header's text. */
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

/* A quoted text without escapes, or a bare word. */
static bool take_word(struct header *self, char *word, size_t size)
{
    skip_blanks(self);
    char quote = self->at < self->end && (*self->at == '\'' || *self->at == '"') ? *self->at++ : 0;
    size_t n = 0;
    while (
        self->at < self->end && n + 1 < size &&
        (quote ? *self->at != quote : (*self->at >= 'A' && *self->at <= 'Z') || (*self->at >= 'a' && *self->at <= 'z')))
        word[n++] = *self->at++;
    word[n] = 0;
    return quote ? take(self, quote) : n > 0;
}

static bool take_shape(struct header *self, struct map_array *array)
{
    array->n_dimensions = 0;
    if (!take(self, '('))
        return false;
    while (!take(self, ')')) {
        int64_t size = 0;
        const char *first = self->at;
        for (; self->at < self->end && *self->at >= '0' && *self->at <= '9'; self->at++)
            if (__builtin_mul_overflow(size, 10, &size) || __builtin_add_overflow(size, *self->at - '0', &size))
                return false;
        if (self->at == first || array->n_dimensions == MAP_MAX_DIMENSIONS)
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

static bool find_type(struct map_array *array, const char *descr)
{
    static const struct {
        const char *name;
        enum map_type type;
    } types[] = {{"u1", MAP_U8}, {"u2", MAP_U16}, {"f2", MAP_F16}, {"f4", MAP_F32}, {"f8", MAP_F64}};
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        if (*descr && strchr("<>|=", *descr) && strcmp(descr + 1, types[k].name) == 0) {
            array->type = types[k].type;
            array->big_endian = *descr == '>';
            return *descr != '|' || types[k].type == MAP_U8;
        }
    return false;
}

/* {'descr': '<f2', 'fortran_order': False, 'shape': (16, 32, 32), } */
static enum clv_status parse_header(struct map_array *array, struct header header, struct clv_error *err)
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
    if (!find_type(array, descr))
        return fail(err, CLV_ERR_DATA, "a .npy file of type \"%.20s\"; maps are u1, u2, f2, f4 or f8", descr);
    return CLV_OK;
}

enum clv_status npy_parse(struct map_array *array, const unsigned char *bytes, size_t size, struct clv_error *err)
{
    char shape[160];
    size_t wanted, start = MAGIC_SIZE + 4, length;
    struct map_array found = {0};
    if (size < start)
        return fail(err, CLV_ERR_DATA, "a truncated .npy file of %zu bytes", size);
    int version = bytes[MAGIC_SIZE];
    if (version < 1 || version > 3)
        return fail(err, CLV_ERR_DATA, "a .npy file of version %d; 1 to 3 are read", version);
    length = (size_t)bytes[8] | (size_t)bytes[9] << 8;
    if (version > 1) {
        start += 2;
        if (size < start)
            return fail(err, CLV_ERR_DATA, "a truncated .npy file of %zu bytes", size);
        length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    }
    if (length > MAX_HEADER || length > size - start)
        return fail(err, CLV_ERR_DATA, "a .npy file with a header of %zu bytes, %s", length,
                    length > MAX_HEADER ? "which is too long" : "more than there are");
    struct header header = {(const char *)bytes + start, (const char *)bytes + start + length};
    enum clv_status status = parse_header(&found, header, err);
    if (status != CLV_OK)
        return status;
    found.bytes = bytes + start + length;
    map_shape_name(shape, sizeof shape, &found);
    if (!map_array_bytes(&wanted, &found))
        return fail(err, CLV_ERR_DATA, "shape %s is too large", shape);
    if (wanted != size - start - length)
        return fail(err, CLV_ERR_DATA, "shape %s takes %zu bytes, the file holds %zu", shape, wanted,
                    size - start - length);
    *array = found;
    return CLV_OK;
}
