/* TIFFs of every compression that libtiff has, whole and damaged: as images, masks, numbers of objects and windows of
 * rasters the answer is the same, the pixels that were written or a refusal. */
#include <stdio.h>
#include <stdlib.h>
#include <tiffio.h>

#include "image/raster/raster.h"
#include "support/support.h"

enum { WIDTH = 160, HEIGHT = 96 };

struct codec {
    const char *name;
    int compression, bits, n_samples;
    bool is_checked; /* its decoder notices bytes that were exchanged */
};

/* RLE by words is not among them: libtiff 4.5 does not read what it writes. Old JPEG it does not write. */
static const struct codec codecs[] = {{"none", COMPRESSION_NONE, 8, 1, false},
                                      {"none, colours", COMPRESSION_NONE, 8, 3, false},
                                      {"LZW", COMPRESSION_LZW, 8, 1, true},
                                      {"LZW, colours", COMPRESSION_LZW, 8, 3, true},
                                      {"deflate", COMPRESSION_ADOBE_DEFLATE, 8, 1, true},
                                      {"deflate, colours", COMPRESSION_ADOBE_DEFLATE, 8, 3, true},
                                      {"old deflate", COMPRESSION_DEFLATE, 8, 1, true},
                                      {"PackBits", COMPRESSION_PACKBITS, 8, 1, true},
                                      {"JPEG", COMPRESSION_JPEG, 8, 1, true},
                                      {"JPEG, colours", COMPRESSION_JPEG, 8, 3, true},
                                      {"fax by lines", COMPRESSION_CCITTRLE, 1, 1, true},
                                      {"fax of group 3", COMPRESSION_CCITTFAX3, 1, 1, true},
                                      {"fax of group 4", COMPRESSION_CCITTFAX4, 1, 1, true},
                                      {"JBIG", COMPRESSION_JBIG, 1, 1, false},
                                      {"Zstandard", COMPRESSION_ZSTD, 8, 1, true},
                                      {"LZMA", COMPRESSION_LZMA, 8, 1, true},
                                      {"WebP", COMPRESSION_WEBP, 8, 3, true},
                                      {"LERC", COMPRESSION_LERC, 8, 1, true}};
enum { N_CODECS = sizeof codecs / sizeof *codecs };

/* Areas of one value, as masks have, with dots. */
static int value_at(const struct codec *codec, int x, int y, int s)
{
    int value = (x / 9 + y / 7 * 3) % 5 * 40 + 20 * s + (x * y % 7 == 0);
    return codec->bits == 8 ? value : value % 80 < 30;
}

/* False: this libtiff has no such codec. */
static bool write_codec(const char *path, const struct codec *codec, bool is_tiled)
{
    bool is_jbig = codec->compression == COMPRESSION_JBIG; /* one strip */
    int block_width = is_tiled ? 64 : WIDTH, block_height = is_jbig ? HEIGHT : is_tiled ? 48 : 32;
    int deep = codec->n_samples;
    size_t stride = ((size_t)(block_width * deep * codec->bits) + 7) / 8;
    if (!TIFFIsCODECConfigured((uint16_t)codec->compression) || (is_tiled && is_jbig))
        return false;
    TIFF *tiff = TIFFOpen(path, "w");
    ck_assert_ptr_nonnull(tiff);
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, WIDTH);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, HEIGHT);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, codec->bits);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, deep);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC,
                 deep == 3          ? PHOTOMETRIC_RGB
                 : codec->bits == 1 ? PHOTOMETRIC_MINISWHITE
                                    : PHOTOMETRIC_MINISBLACK);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, codec->compression);
    if (codec->compression == COMPRESSION_WEBP)
        TIFFSetField(tiff, TIFFTAG_WEBP_LOSSLESS, 1);
    if (is_tiled) {
        TIFFSetField(tiff, TIFFTAG_TILEWIDTH, block_width);
        TIFFSetField(tiff, TIFFTAG_TILELENGTH, block_height);
    } else {
        TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, block_height);
    }
    OWNED_ARRAY uint8_t *block = malloc(stride * (size_t)block_height);
    uint32_t number = 0;
    for (int top = 0; top < HEIGHT; top += block_height)
        for (int left = 0; left < WIDTH; left += block_width, number++) {
            memset(block, 0, stride * (size_t)block_height);
            for (int y = 0; y < block_height; y++)
                for (int x = 0; x < block_width; x++)
                    for (int s = 0; s < deep; s++) {
                        int value = value_at(codec, left + x, top + y, s), at = x * deep + s;
                        if (codec->bits == 8)
                            block[(size_t)y * stride + (size_t)at] = (uint8_t)value;
                        else
                            block[(size_t)y * stride + (size_t)at / 8] |= (uint8_t)(value << (7 - at % 8));
                    }
            tmsize_t size = (tmsize_t)(stride * (size_t)block_height);
            ck_assert_int_ge(is_tiled ? TIFFWriteEncodedTile(tiff, number, block, size)
                                      : TIFFWriteEncodedStrip(tiff, number, block, size),
                             0);
        }
    TIFFClose(tiff);
    return true;
}

/* The four ways in. */
static enum clv_status read_image(const char *path, struct clv_error *err)
{
    OWNED(clv_image_release) struct clv_image image = {0};
    return clv_image_read(&image, path, NULL, err);
}

static enum clv_status read_windows(const char *path, struct clv_error *err)
{
    OWNED(raster_close) struct raster raster = {0};
    MUST(raster_open_windows(&raster, path, NULL, err));
    OWNED_ARRAY float *values = calloc((size_t)WIDTH * (size_t)raster.n_bands, sizeof *values);
    enum clv_status status = CLV_OK;
    for (int y = 0; y < HEIGHT && status == CLV_OK; y++)
        status = raster_read(values, &raster, &(struct image_part){.top = y, .width = WIDTH, .height = 1}, err);
    return status;
}

static enum clv_status read_mask(const char *path, struct clv_error *err)
{
    OWNED(clv_indexed_image_release) struct clv_indexed_image mask = {0};
    return clv_indexed_image_read(&mask, path, NULL, err);
}

static enum clv_status read_objects(const char *path, struct clv_error *err)
{
    OWNED(integer_image_release) struct integer_image objects = {0};
    return integer_image_read(&objects, path, NULL, err);
}

static void all_refuse(const char *path, const struct codec *codec, const char *part)
{
    must_fail(CLV_ERR_DATA, part, read_image(path, err));
    must_fail(CLV_ERR_DATA, part, read_windows(path, err));
    if (codec->n_samples == 1)
        must_fail(CLV_ERR_DATA, part, read_mask(path, err));
    if (codec->n_samples == 1 && codec->bits == 8)
        must_fail(CLV_ERR_DATA, part, read_objects(path, err));
}

struct file {
    char *bytes;
    size_t size;
    struct block {
        size_t offset, size;
    } middle;                  /* a strip or tile in the middle */
    size_t offset_at, size_at; /* where the file says so, two or four bytes each */
    int offset_bytes, size_bytes;
};

static uint32_t get(const char *at, int n)
{
    uint32_t value = 0;
    for (int k = n - 1; k >= 0; k--)
        value = value << 8 | (uint8_t)at[k];
    return value;
}

/* In the one directory of a little-endian file. */
static struct file load(const char *path)
{
    struct file file = {0};
    file.bytes = slurp(path, &file.size);
    uint32_t directory = get(file.bytes + 4, 4), n = get(file.bytes + directory, 2);
    for (uint32_t k = 0; k < n; k++) {
        const char *entry = file.bytes + directory + 2 + 12 * k;
        uint32_t tag = get(entry, 2), count = get(entry + 4, 4);
        int bytes = get(entry + 2, 2) == 3 ? 2 : 4;
        size_t values = count * (uint32_t)bytes > 4 ? get(entry + 8, 4) : (size_t)(entry + 8 - file.bytes);
        size_t at = values + count / 2 * (size_t)bytes;
        if (tag == TIFFTAG_STRIPOFFSETS || tag == TIFFTAG_TILEOFFSETS) {
            file.offset_at = at;
            file.offset_bytes = bytes;
            file.middle.offset = get(file.bytes + at, bytes);
        } else if (tag == TIFFTAG_STRIPBYTECOUNTS || tag == TIFFTAG_TILEBYTECOUNTS) {
            file.size_at = at;
            file.size_bytes = bytes;
            file.middle.size = get(file.bytes + at, bytes);
        }
    }
    ck_assert_uint_gt(file.middle.size, 0);
    return file;
}

/* The file with n bytes at `at` exchanged: for 0, or for random ones. */
static void damage(const char *path, const struct file *file, size_t at, size_t n, uint32_t seed)
{
    OWNED_ARRAY char *bytes = malloc(file->size);
    memcpy(bytes, file->bytes, file->size);
    for (size_t k = 0; k < n; k++) {
        seed = seed ? seed * 1664525u + 1013904223u : 0;
        bytes[at + k] = (char)(seed >> 24);
    }
    spill(path, bytes, file->size);
}

TESTS(damaged_strips_and_tiles_are_refused_whatever_the_compression, 0, 2 * N_CODECS)
{
    const struct codec *codec = &codecs[_i / 2];
    const char *path = here("whole.tif"), *bad = here("bad.tif");
    TIFFSetWarningHandler(NULL);
    if (!write_codec(path, codec, _i % 2)) {
        skip("damaged_strips_and_tiles", formatted("libtiff does not write %s", codec->name));
        return;
    }
    must(read_image(path, err));
    must(read_windows(path, err));
    if (codec->n_samples == 1)
        must(read_mask(path, err));
    struct file file = load(path);
    size_t half = file.middle.offset + file.middle.size / 2, rest = file.middle.size - file.middle.size / 2;
    if (codec->is_checked) {
        damage(bad, &file, half, rest, 0);
        all_refuse(bad, codec, "corrupt TIFF: ");
        damage(bad, &file, half, rest < 64 ? rest : 64, 7);
        all_refuse(bad, codec, "corrupt TIFF: ");
    }
    damage(bad, &file, file.offset_at, (size_t)file.offset_bytes, 0);
    all_refuse(bad, codec, " is missing");
    if (codec->compression != COMPRESSION_JBIG) { /* its only strip is all that follows */
        damage(bad, &file, file.size_at, (size_t)file.size_bytes, 0);
        all_refuse(bad, codec, " is missing");
    }
    spill(bad, file.bytes, file.middle.offset + file.middle.size - 1);
    all_refuse(bad, codec, "corrupt TIFF: ");
    free(file.bytes);
}

/* One strip of `bytes` bytes in a file that claims width x height pixels. */
static void claim(const char *path, uint32_t width, uint32_t height, int compression, int bits, uint32_t bytes)
{
    const struct {
        uint16_t tag, type;
        uint32_t count, value;
    } entries[] = {{256, 4, 1, width},
                   {257, 4, 1, height},
                   {258, 3, 1, (uint32_t)bits},
                   {259, 3, 1, (uint32_t)compression},
                   {262, 3, 1, 1},
                   {273, 4, 1, 8 + 2 + 8 * 12 + 4},
                   {278, 4, 1, height},
                   {279, 4, 1, bytes}};
    OWNED_ARRAY char *file = calloc(200 + (size_t)bytes, 1);
    memcpy(file, "II*\0\10\0\0\0\10\0", 10);
    memcpy(file + 10, entries, sizeof entries);
    spill(path, file, 10 + sizeof entries + 4 + bytes);
}

TEST(files_that_are_too_small_for_what_they_claim_are_refused_by_their_head)
{
    static const struct {
        int compression, bits;
        uint32_t width, height, bytes;
        bool is_enough; /* for the head */
    } claims[] = {{COMPRESSION_NONE, 8, 100, 100, 9999, false},
                  {COMPRESSION_NONE, 8, 100, 100, 10000, true},
                  {COMPRESSION_NONE, 1, 101, 8, 103, false},
                  {COMPRESSION_NONE, 1, 101, 8, 104, true},
                  {COMPRESSION_PACKBITS, 8, 128, 100, 199, false},
                  {COMPRESSION_PACKBITS, 8, 128, 100, 200, true},
                  {COMPRESSION_LZW, 8, 4096, 4096, 1300, false},
                  {COMPRESSION_ADOBE_DEFLATE, 8, 4096, 4096, 16000, false},
                  {COMPRESSION_ADOBE_DEFLATE, 8, 4096, 4096, 17000, true},
                  {COMPRESSION_DEFLATE, 8, 1, 3862046, 1300, false},
                  {COMPRESSION_JPEG, 8, 1, 3862046, 1300, false},
                  {COMPRESSION_CCITTRLE, 1, 1, 3862046, 1300, false},
                  {COMPRESSION_CCITTFAX3, 1, 1, 3862046, 1300, false},
                  {COMPRESSION_CCITTFAX4, 1, 1, 3862046, 1300, false},
                  {COMPRESSION_CCITTFAX4, 1, 2000, 800, 100, true},
                  {COMPRESSION_ZSTD, 8, 8192, 8192, 1300, false},
                  {COMPRESSION_LZMA, 8, 8192, 8192, 1300, false}};
    const char *path = here("claim.tif");
    for (size_t k = 0; k < sizeof claims / sizeof *claims; k++) {
        struct clv_image_limits limits = {.max_side_px = INT32_MAX};
        struct raster raster = {0};
        struct clv_error why = {0};
        int32_t width, height;
        claim(path, claims[k].width, claims[k].height, claims[k].compression, claims[k].bits, claims[k].bytes);
        enum clv_status sized = clv_image_read_size(&width, &height, path, &limits, &why);
        ck_assert_msg((sized == CLV_OK) == claims[k].is_enough, "%zu: %s", k, why.message);
        ck_assert_msg((raster_open_windows(&raster, path, NULL, &why) == CLV_OK) == claims[k].is_enough, "%zu: %s", k,
                      why.message);
        raster_close(&raster);
        if (!claims[k].is_enough)
            must_say(why.message, "corrupt TIFF: strip ");
    }
}
