/* Reads images and label images from files and from memory: opens the source, recognises its format, calls its codec,
 * and turns the result upright. Start at source_open and decode. */
#include <string.h>

#include "base/base.h"
#include "image/image.h"

#define HEAD_BYTES 65536 /* enough for the header of nearly every image */

/* An open file, or bytes in memory. */
struct source {
    const uint8_t *bytes;
    size_t size;
    uint32_t page; /* of a TIFF, from 1 */
    enum image_format format;
    const struct image_codec *codec; /* NULL: cleave does not read the format */
    const char *format_name;
    const char *path; /* NULL: the bytes are not from a file */
    char *owned;
    struct file_map map;
};

static void source_close(struct source *self)
{
    array_free(self->owned);
    file_map_close(&self->map);
    *self = (struct source){0};
}

/* Returns the most bytes that a file may have: the largest image that the limits allow, uncompressed as 16-bit RGBA,
 * and 64 MiB for metadata. */
static size_t max_file_bytes(const struct clv_image_limits *limits)
{
    uint64_t pixels = limits_resolved(limits).max_pixels, around = UINT64_C(64) << 20;
    return pixels > (PTRDIFF_MAX - around) / 8 ? PTRDIFF_MAX : (size_t)(pixels * 8 + around);
}

static void source_of_bytes(struct source *self, const void *bytes, size_t size)
{
    self->bytes = bytes;
    self->size = size;
    self->format = image_format(&self->format_name, bytes, size);
    self->codec = image_codec(self->format);
}

/* Opens the file of a path, which may name a page ("a.tif#2"). A TIFF is mapped, because its parts may be anywhere in
 * the file. Of any other file the first `wanted` bytes are read, or all of them if it is 0. Release *self with
 * source_close. */
static enum clv_status source_open(struct source *self, const char *path, size_t wanted,
                                   const struct clv_image_limits *limits, struct clv_error *err)
{
    OWNED(source_close) struct source result = {.page = 1, .path = path};
    size_t length;
    bool names_page = path_page(&length, &result.page, path);
    OWNED_ARRAY char *file = string_copy(path);
    NEED(file);
    file[length] = 0;
    size_t size;
    MUST(file_read_head(&result.owned, &size, file, wanted ? wanted : FORMAT_HEAD_BYTES, err));
    source_of_bytes(&result, result.owned, size);
    FAIL_IF(names_page && result.format != FORMAT_TIFF, CLV_ERR_DATA, "%s: not a TIFF, which alone has pages", path);
    if (result.codec && result.codec->reading == PARTS_ANYWHERE) {
        MUST(file_map_open(&result.map, file, err));
        source_of_bytes(&result, result.map.bytes, result.map.size);
    } else if (!wanted) {
        array_free(TAKE(result.owned));
        MUST(file_read(&result.owned, &size, file, max_file_bytes(limits), err));
        source_of_bytes(&result, result.owned, size);
    }
    *self = TAKE(result);
    return CLV_OK;
}

/* Whether the extension is that of a raster format. Some of these formats cannot be recognised by their first bytes. */
static bool is_named_like_a_raster(const char *path)
{
    static const char *const extensions[] = {".jp2", ".j2k", ".vrt", ".img", ".hdf", ".h5",  ".nc",  ".grd", ".asc",
                                             ".dem", ".bil", ".bsq", ".bip", ".hgt", ".ecw", ".sid", ".ntf", ".grib"};
    for (size_t k = 0; k < sizeof extensions / sizeof *extensions && path; k++)
        if (text_ends_with(path, extensions[k]))
            return true;
    return false;
}

static enum clv_status not_readable(const struct source *self, struct clv_error *err)
{
    if (self->format == FORMAT_FOREIGN && !strncmp(self->format_name, "video", 5))
        return fail(err, CLV_ERR_DATA, "a %s, of which cleave reads the frames: ffmpeg -i VIDEO FOLDER/%%04d.png",
                    self->format_name);
    if (self->format == FORMAT_GDAL || (self->format == FORMAT_UNKNOWN && is_named_like_a_raster(self->path)))
        return fail(err, CLV_ERR_DATA,
                    "a%s %s file, which cleave reads if it is built with GDAL (make WITH_GDAL=1); or convert it: "
                    "gdal_translate FILE OUT.tif",
                    self->format_name && strchr("EHN", self->format_name[0]) ? "n" : "",
                    self->format_name ? self->format_name : "raster");
    FAIL_IF(self->format == FORMAT_FOREIGN, CLV_ERR_DATA,
            "%s %s file, which cleave does not read; convert it to PNG or JPEG",
            strchr("AO", self->format_name[0]) ? "an" : "a", self->format_name);
    OWNED(text_release) struct text names = {0};
    text_init(&names, 1024);
    image_format_names(&names);
    return fail(err, CLV_ERR_DATA, "%snot a %s image", self->size ? "" : "empty file, ",
                names.bytes ? names.bytes : "");
}

static enum clv_status decode(struct clv_image *image, const struct source *self, const struct clv_image_limits *limits,
                              struct clv_error *err)
{
    struct clv_image_limits resolved = limits_resolved(limits);
    const struct image_bytes from = {self->bytes, self->size, self->page, &resolved, 0};
    OWNED(clv_image_release) struct clv_image result = {0};
    int orientation = 1;
    MUST(self->codec ? self->codec->decode(&result, &orientation, &from, err) : not_readable(self, err));
    MUST(image_orient(&result, orientation, err));
    *image = TAKE(result);
    return CLV_OK;
}

enum clv_status clv_image_decode(struct clv_image *image, const void *bytes, size_t size,
                                 const struct clv_image_limits *limits, struct clv_error *err)
{
    struct source source = {.page = 1};
    source_of_bytes(&source, bytes, size);
    return decode(image, &source, limits, err);
}

enum clv_status image_read_plain(struct clv_image *image, const char *path, const struct clv_image_limits *limits,
                                 struct clv_error *err)
{
    OWNED(source_close) struct source source = {0};
    MUST(source_open(&source, path, 0, limits, err));
    enum clv_status status = decode(image, &source, limits, err);
    return status ? fail_within(err, status, path) : CLV_OK;
}

static enum clv_status head_of(struct image_head *head, const struct source *self,
                               const struct clv_image_limits *limits, struct clv_error *err)
{
    struct clv_image_limits resolved = limits_resolved(limits);
    const struct image_bytes from = {self->bytes, self->size, self->page, &resolved, 0};
    return self->codec ? self->codec->size(head, &from, err) : not_readable(self, err);
}

static enum clv_status size_of(int32_t *width, int32_t *height, const struct source *self,
                               const struct clv_image_limits *limits, struct clv_error *err)
{
    struct image_head head = {0};
    MUST(head_of(&head, self, limits, err));
    bool is_turned = orientation_transposes(head.orientation);
    *width = is_turned ? head.height : head.width;
    *height = is_turned ? head.width : head.height;
    return CLV_OK;
}

enum clv_status image_size_plain(int32_t *width, int32_t *height, const char *path,
                                 const struct clv_image_limits *limits, struct clv_error *err)
{
    OWNED(source_close) struct source source = {0};
    MUST(source_open(&source, path, HEAD_BYTES, limits, err));
    enum clv_status status = size_of(width, height, &source, limits, err);
    bool is_behind = source.codec && ((source.codec->reading == SIZE_MAY_BE_BEHIND && status == CLV_ERR_DATA) ||
                                      source.codec->reading == SIZE_BEHIND_IMAGE);
    bool is_cut = is_behind && source.size == HEAD_BYTES;
    if (is_cut) {
        source_close(&source);
        MUST(source_open(&source, path, 0, limits, err));
        status = size_of(width, height, &source, limits, err);
    }
    return status ? fail_within(err, status, path) : CLV_OK;
}

enum clv_status clv_image_count(uint32_t *n, const char *path, struct clv_error *err)
{
    OWNED(source_close) struct source source = {0};
    struct stack_axes axes;
    struct clv_error ignored;
    MUST(source_open(&source, path, FORMAT_HEAD_BYTES, NULL, err));
    bool has_pages =
        source.format == FORMAT_TIFF && tiff_find_axes(&axes, source.bytes, source.size, &ignored) == CLV_OK;
    *n = has_pages ? axes.n_slices * axes.n_frames : 1;
    return CLV_OK;
}

void image_find_axes(struct stack_axes *axes, const char *path)
{
    OWNED(source_close) struct source source = {0};
    struct clv_error ignored;
    *axes = (struct stack_axes){.n_channels = 1, .n_slices = 1, .n_frames = 1, .step = {1, 1, 1}};
    if (source_open(&source, path, FORMAT_HEAD_BYTES, NULL, &ignored) == CLV_OK && source.format == FORMAT_TIFF)
        (void)!tiff_find_axes(axes, source.bytes, source.size, &ignored);
    axes->planes = axes->planes_end = NULL;
}

static enum clv_status decode_indexed(struct clv_indexed_image *image, const struct source *self,
                                      const struct clv_image_limits *limits, struct clv_error *err)
{
    struct clv_image_limits resolved = limits_resolved(limits);
    const struct image_bytes from = {self->bytes, self->size, self->page, &resolved, 0};
    if (!self->codec)
        return not_readable(self, err);
    if (!self->codec->decode_indexed)
        return fail_fault(err, CLV_FAULT_MASK_FORMAT,
                          "a %s, which does not keep label values; masks must be 8-bit grey or palette PNG",
                          self->format_name);
    return self->codec->decode_indexed(image, &from, err);
}

enum clv_status clv_indexed_image_decode(struct clv_indexed_image *image, const void *bytes, size_t size,
                                         const struct clv_image_limits *limits, struct clv_error *err)
{
    struct source source = {.page = 1};
    source_of_bytes(&source, bytes, size);
    return decode_indexed(image, &source, limits, err);
}

enum clv_status clv_indexed_image_read(struct clv_indexed_image *image, const char *path,
                                       const struct clv_image_limits *limits, struct clv_error *err)
{
    OWNED(source_close) struct source source = {0};
    MUST(source_open(&source, path, 0, limits, err));
    enum clv_status status = decode_indexed(image, &source, limits, err);
    return status ? fail_within(err, status, path) : CLV_OK;
}

bool image_is_12_bit(const struct clv_image *image, const char *path, const struct clv_image_limits *limits)
{
    size_t n = (size_t)image->width * (size_t)image->height * (size_t)image->channels, dark = 0;
    bool has_range = limits && (limits->grey16_high > 0 || limits->bands); /* or learned bands convert it */
    while (!has_range && dark < n && image->pixels[dark] <= 16)            /* 4095 scaled from 0..65535 */
        dark++;
    if (has_range || dark < n)
        return false;
    struct clv_image_limits ranged = limits ? *limits : (struct clv_image_limits){0};
    OWNED(clv_image_release) struct clv_image brighter = {0};
    struct clv_error ignored;
    ranged.grey16_high = 4095;
    return image_read_plain(&brighter, path, &ranged, &ignored) == CLV_OK &&
           memcmp(image->pixels, brighter.pixels, n) != 0; /* images of other depths do not differ */
}

int image_orientation(const char *path, const struct clv_image_limits *limits)
{
    OWNED(source_close) struct source source = {0};
    struct clv_error ignored;
    struct image_head head = {0};
    if (source_open(&source, path, 0, limits, &ignored) != CLV_OK)
        return 1;
    return head_of(&head, &source, limits, &ignored) == CLV_OK ? head.orientation : 1;
}
