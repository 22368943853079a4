/* TIFF files as libtiff opens them. Messages go to handlers of the one file, none of the process is touched. */
#include "image/image.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"

#define BYTES_A_PIXEL 16 /* that libtiff may take at once, for each pixel that is allowed */

static int on_error(TIFF *tiff, void *context, const char *module, const char *format, va_list args)
{
    struct tiff_file *self = context;
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
    struct tiff_file *self = context;
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
    struct tiff_file *self = context;
    uint64_t base = whence == SEEK_CUR ? self->position : whence == SEEK_END ? self->size : 0, at = base + offset;
    self->position = at > self->size ? self->size : (size_t)at;
    return self->position;
}

static toff_t on_size(thandle_t context)
{
    return ((const struct tiff_file *)context)->size;
}

static int on_close(thandle_t context)
{
    (void)context;
    return 0;
}

enum clv_status tiff_corrupt(struct tiff_file *self, struct clv_error *err)
{
    for (char *c = self->message; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
    return fail(err, CLV_ERR_DATA, "corrupt TIFF: %s", self->message[0] ? self->message : "it cannot be read");
}

static enum clv_status read_shape(struct tiff_file *self, const struct clv_image_limits *limits, struct clv_error *err)
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

enum clv_status tiff_open(struct tiff_file *self, const struct image_bytes *from, struct clv_error *err)
{
    const struct clv_image_limits *limits = from->limits;
    uint64_t offset = 0;
    *self = (struct tiff_file){.bytes = from->bytes, .size = from->size};
    MUST(tiff_find_page(&offset, NULL, from->bytes, from->size, from->page, err));
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    MUST_IF(!options, fail_memory(err));
    uint64_t most = limits->max_pixels > PTRDIFF_MAX / BYTES_A_PIXEL ? PTRDIFF_MAX : limits->max_pixels * BYTES_A_PIXEL;
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)most);
    TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, self);
    TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, self);
    /* h: no directory yet; m: no map of memory, all goes through on_read. */
    self->tiff =
        TIFFClientOpenExt("image", "rhm", self, on_read, on_write, on_seek, on_close, on_size, NULL, NULL, options);
    TIFFOpenOptionsFree(options);
    if (!self->tiff || !TIFFSetSubDirectory(self->tiff, offset))
        return tiff_corrupt(self, err);
    return read_shape(self, limits, err);
}

void tiff_close(struct tiff_file *self)
{
    if (self->tiff)
        TIFFClose(self->tiff);
}

#define MAX_DIRECTORIES  65535
#define BIG_MAGIC        43
#define TAG_SUBFILE_TYPE 254
#define REDUCED_OR_MASK  5 /* bits 0 and 2 of the subfile type */
#define FIRST_ENTRIES    4 /* among which the subfile type is: entries are in the order of their tags */

struct walk {
    const uint8_t *bytes;
    size_t size;
    bool big_endian, is_big;
};

/* n bytes, a whole number; false: beyond the end. */
static bool get(uint64_t *value, const struct walk *walk, uint64_t at, unsigned n)
{
    if (at > walk->size || walk->size - at < n)
        return false;
    *value = 0;
    for (unsigned i = 0; i < n; i++)
        *value = *value << 8 | walk->bytes[at + (walk->big_endian ? i : n - 1 - i)];
    return true;
}

/* A directory at `at`: whether it is a page, and where the next one is (0: none). False: it is outside of the
 * file. */
static bool read_directory(bool *is_page, uint64_t *next, const struct walk *walk, uint64_t at)
{
    unsigned count_bytes = walk->is_big ? 8 : 2, entry_bytes = walk->is_big ? 20 : 12, value_at = walk->is_big ? 12 : 8;
    uint64_t n, tag, type, value;
    *is_page = true;
    if (!get(&n, walk, at, count_bytes) || n > UINT16_MAX)
        return false;
    at += count_bytes;
    for (uint64_t i = 0; i < n && i < FIRST_ENTRIES; i++) {
        uint64_t entry = at + i * entry_bytes;
        if (!get(&tag, walk, entry, 2) || !get(&type, walk, entry + 2, 2))
            return false;
        if (tag == TAG_SUBFILE_TYPE && get(&value, walk, entry + value_at, type == 3 ? 2 : 4))
            *is_page = !(value & REDUCED_OR_MASK);
    }
    return get(next, walk, at + n * entry_bytes, walk->is_big ? 8 : 4);
}

enum clv_status tiff_find_page(uint64_t *offset, uint32_t *n_pages, const uint8_t *bytes, size_t size, uint32_t page,
                               struct clv_error *err)
{
    struct walk walk = {bytes, size, size && bytes[0] == 'M', false};
    uint64_t magic, at, found = 0;
    uint32_t n = 0, n_directories = 0;
    FAIL_IF(!get(&magic, &walk, 2, 2), CLV_ERR_DATA, "corrupt TIFF: truncated file");
    walk.is_big = magic == BIG_MAGIC;
    FAIL_IF(!get(&at, &walk, walk.is_big ? 8 : 4, walk.is_big ? 8 : 4), CLV_ERR_DATA, "corrupt TIFF: truncated file");
    while (at) {
        bool is_page;
        uint64_t next;
        FAIL_IF(n_directories++ == MAX_DIRECTORIES, CLV_ERR_DATA,
                "corrupt TIFF: more than %d directories, or a loop of them", MAX_DIRECTORIES);
        if (!read_directory(&is_page, &next, &walk, at))
            return fail(err, CLV_ERR_DATA, "corrupt TIFF: directory %u is outside of the file", n_directories);
        n += is_page;
        if (is_page && n == page)
            found = at;
        at = next;
    }
    FAIL_IF(!n, CLV_ERR_DATA, "a TIFF without a full image, such as a camera's raw file");
    FAIL_IF(page && !found, CLV_ERR_DATA, "has %u page%s, not %u", n, n == 1 ? "" : "s", page);
    if (page)
        *offset = found;
    if (n_pages)
        *n_pages = n;
    return CLV_OK;
}
