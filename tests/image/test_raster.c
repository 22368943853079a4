/* Rasters of every kind that libtiff writes, read by windows, or refused by name. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tiffio.h>

#include "image/image.h"
#include "image/raster/raster.h"
#include "support/support.h"

enum { WIDTH = 70, HEIGHT = 45 };

struct kind {
    const char *name;
    int bits, format, n_samples, photometric, compression, predictor;
    bool is_tiled, is_planar;
    const char *mode;
    const char *refusal; /* NULL: it is read */
};

#define UNSIGNED SAMPLEFORMAT_UINT
#define SIGNED   SAMPLEFORMAT_INT
#define FLOATING SAMPLEFORMAT_IEEEFP
#define BLACK    PHOTOMETRIC_MINISBLACK
#define WHITE    PHOTOMETRIC_MINISWHITE
#define COLOUR   PHOTOMETRIC_RGB
#define PLAIN    COMPRESSION_NONE
#define LZW      COMPRESSION_LZW
#define DEFLATE  COMPRESSION_ADOBE_DEFLATE
#define LZMA     COMPRESSION_LZMA
#define ZSTD     COMPRESSION_ZSTD

static const struct kind kinds[] = {
    {"u8", 8, UNSIGNED, 1, BLACK, PLAIN, 1, false, false, "w", NULL},
    {"u8 rgb", 8, UNSIGNED, 3, COLOUR, LZW, 2, false, false, "w", NULL},
    {"u8 rgb and infrared, tiles", 8, UNSIGNED, 4, COLOUR, DEFLATE, 2, true, false, "w", NULL},
    {"u8 rgb planar", 8, UNSIGNED, 3, COLOUR, PLAIN, 1, false, true, "w", NULL},
    {"u8 white is zero", 8, UNSIGNED, 1, WHITE, PLAIN, 1, false, false, "w", NULL},
    {"u1", 1, UNSIGNED, 1, BLACK, PLAIN, 1, false, false, "w", NULL},
    {"u1 white is zero, fax", 1, UNSIGNED, 1, WHITE, COMPRESSION_CCITTFAX4, 1, false, false, "w", NULL},
    {"u2", 2, UNSIGNED, 1, BLACK, PLAIN, 1, false, false, "w", NULL},
    {"u4 tiles", 4, UNSIGNED, 1, BLACK, DEFLATE, 1, true, false, "w", NULL},
    {"u12", 12, UNSIGNED, 2, BLACK, PLAIN, 1, false, false, "w", NULL},
    {"u16", 16, UNSIGNED, 1, BLACK, LZW, 2, false, false, "w", NULL},
    {"u16 four bands, big endian", 16, UNSIGNED, 4, BLACK, DEFLATE, 2, false, false, "wb", NULL},
    {"u16 four bands, planar tiles", 16, UNSIGNED, 4, BLACK, DEFLATE, 2, true, true, "w", NULL},
    {"u16 BigTIFF", 16, UNSIGNED, 5, BLACK, DEFLATE, 2, true, false, "w8", NULL},
    {"u16 rgb", 16, UNSIGNED, 3, COLOUR, PLAIN, 1, false, false, "w", NULL},
    {"s8", 8, SIGNED, 2, BLACK, PLAIN, 1, false, false, "w", NULL},
    {"s16", 16, SIGNED, 3, BLACK, LZW, 2, true, false, "w", NULL},
    {"s32", 32, SIGNED, 2, BLACK, DEFLATE, 2, false, false, "w", NULL},
    {"s32 big endian", 32, SIGNED, 2, BLACK, PLAIN, 1, false, true, "wb", NULL},
    {"u32", 32, UNSIGNED, 2, BLACK, LZMA, 1, false, false, "w", NULL},
    {"f16", 16, FLOATING, 3, BLACK, PLAIN, 1, false, false, "w", NULL},
    {"f16 predictor 3", 16, FLOATING, 2, BLACK, DEFLATE, 3, true, false, "w", NULL},
    {"f32", 32, FLOATING, 4, BLACK, PLAIN, 1, false, false, "w", NULL},
    {"f32 predictor 3", 32, FLOATING, 4, BLACK, LZMA, 3, true, false, "w", NULL},
    {"f32 planar predictor 3", 32, FLOATING, 4, BLACK, LZW, 3, true, true, "w", NULL},
    {"f32 big endian BigTIFF", 32, FLOATING, 4, BLACK, DEFLATE, 1, true, true, "wb8", NULL},
    {"f32 rgb", 32, FLOATING, 3, COLOUR, PLAIN, 1, false, false, "w", NULL},
    {"f64", 64, FLOATING, 2, BLACK, ZSTD, 3, false, false, "w", NULL},
    {"f64 big endian", 64, FLOATING, 1, BLACK, PLAIN, 1, false, false, "wb", NULL},
    {"packbits", 8, UNSIGNED, 5, BLACK, COMPRESSION_PACKBITS, 1, false, false, "w", NULL},
    {"u8 64 bands", 8, UNSIGNED, 64, BLACK, DEFLATE, 2, true, false, "w", NULL},
    {"u16 64 bands planar", 16, UNSIGNED, 64, BLACK, LZW, 1, false, true, "w", NULL},
    {"65 bands", 8, UNSIGNED, 65, BLACK, PLAIN, 1, false, false, "w", "65 bands"},
    {"u64", 64, UNSIGNED, 1, BLACK, PLAIN, 1, false, false, "w", NULL},
    {"u64 big endian", 64, UNSIGNED, 2, BLACK, PLAIN, 1, false, false, "wb", NULL},
    {"s64", 64, SIGNED, 3, BLACK, DEFLATE, 1, true, false, "w", NULL},
    {"u24", 24, UNSIGNED, 2, BLACK, PLAIN, 1, false, false, "w", NULL},
    {"s24 big endian", 24, SIGNED, 1, BLACK, LZW, 1, false, false, "wb", NULL},
    {"u20", 20, UNSIGNED, 1, BLACK, PLAIN, 1, false, false, "w", NULL},
    {"s12", 12, SIGNED, 2, BLACK, PLAIN, 1, false, false, "w", NULL},
    {"s5 tiles", 5, SIGNED, 3, BLACK, DEFLATE, 1, true, false, "w", NULL},
    {"f24", 24, FLOATING, 1, BLACK, PLAIN, 1, false, false, "w",
     "floating-point samples of 24 bits, which are not read; "},
    {"u40", 40, UNSIGNED, 1, BLACK, PLAIN, 1, false, false, "w",
     "unsigned samples of 40 bits, which are not read; save"},
    {"complex", 64, SAMPLEFORMAT_COMPLEXIEEEFP, 1, BLACK, PLAIN, 1, false, false, "w", "complex"},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

/* Whole, so that every kind has it, once it is brought into the kind's range. */
static double value_at(const struct kind *kind, int x, int y, int s)
{
    int whole = (x * 7 + y * 13 + s * 29) % 251;
    int most = kind->bits >= 8 ? 250 : (1 << kind->bits) - 1;
    whole = whole % (most + 1);
    return kind->format == SIGNED ? whole / 2 - most / 4 : kind->format == FLOATING ? whole / 4.0 - 7 : whole;
}

static uint16_t to_half(double value) /* of quarters up to 64 */
{
    uint16_t sign = value < 0 ? 0x8000 : 0, exponent = 15;
    double size = fabs(value);
    if (size == 0)
        return sign;
    for (; size >= 2; size /= 2)
        exponent++;
    for (; size < 1; size *= 2)
        exponent--;
    return (uint16_t)(sign | exponent << 10 | (uint16_t)((size - 1) * 1024));
}

static void put(uint8_t *row, size_t index, const struct kind *kind, double value)
{
    if (kind->bits % 8) {
        for (int b = 0; b < kind->bits; b++) {
            size_t bit = index * (size_t)kind->bits + (size_t)b;
            if ((unsigned)(int)value >> (kind->bits - 1 - b) & 1)
                row[bit / 8] |= (uint8_t)(128 >> bit % 8);
        }
    } else if (kind->format == FLOATING) {
        uint16_t half = to_half(value);
        float single = (float)value;
        memcpy(row + index * (size_t)kind->bits / 8,
               kind->bits == 16   ? (void *)&half
               : kind->bits == 32 ? (void *)&single
                                  : (void *)&value,
               (size_t)kind->bits / 8);
    } else {
        int64_t whole = (int64_t)value;
        memcpy(row + index * (size_t)kind->bits / 8, &whole, (size_t)kind->bits / 8);
    }
}

static void write_kind(const char *path, const struct kind *kind)
{
    TIFF *tiff = TIFFOpen(path, kind->mode);
    ck_assert_ptr_nonnull(tiff);
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, WIDTH);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, HEIGHT);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, kind->bits);
    TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, kind->format);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, kind->n_samples);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, kind->photometric);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, kind->is_planar ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, kind->compression);
    if (kind->predictor > 1)
        TIFFSetField(tiff, TIFFTAG_PREDICTOR, kind->predictor);
    int block_width = kind->is_tiled ? 32 : WIDTH, block_height = kind->is_tiled ? 16 : 11;
    if (kind->is_tiled) {
        TIFFSetField(tiff, TIFFTAG_TILEWIDTH, block_width);
        TIFFSetField(tiff, TIFFTAG_TILELENGTH, block_height);
    } else {
        TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, block_height);
    }
    int n_planes = kind->is_planar ? kind->n_samples : 1, deep = kind->is_planar ? 1 : kind->n_samples;
    size_t stride = ((size_t)block_width * (size_t)deep * (size_t)kind->bits + 7) / 8;
    OWNED_ARRAY uint8_t *block = malloc(stride * (size_t)block_height);
    for (int plane = 0; plane < n_planes; plane++)
        for (int top = 0; top < HEIGHT; top += block_height)
            for (int left = 0; left < WIDTH; left += block_width) {
                memset(block, 0, stride * (size_t)block_height);
                for (int y = 0; y < block_height; y++)
                    for (int x = 0; x < block_width; x++)
                        for (int s = 0; s < deep; s++)
                            put(block + (size_t)y * stride, (size_t)(x * deep + s), kind,
                                value_at(kind, left + x, top + y, plane + s));
                int rows = kind->is_tiled || top + block_height <= HEIGHT ? block_height : HEIGHT - top;
                tmsize_t size = (tmsize_t)(stride * (size_t)rows);
                tmsize_t n = kind->is_tiled
                                 ? TIFFWriteEncodedTile(
                                       tiff, TIFFComputeTile(tiff, (uint32_t)left, (uint32_t)top, 0, (uint16_t)plane),
                                       block, size)
                                 : TIFFWriteEncodedStrip(tiff, TIFFComputeStrip(tiff, (uint32_t)top, (uint16_t)plane),
                                                         block, size);
                ck_assert_int_ge(n, 0);
            }
    TIFFClose(tiff);
}

static void check_window(struct raster *raster, const struct kind *kind, int left, int top, int width, int height)
{
    OWNED_ARRAY float *values = malloc((size_t)(width * height * kind->n_samples) * sizeof *values);
    float *at = values;
    double largest = kind->photometric == WHITE ? (1 << kind->bits) - 1 : 0;
    must(raster_read(values, raster, &(struct image_part){.left = left, .top = top, .width = width, .height = height},
                     err));
    for (int y = top; y < top + height; y++)
        for (int x = left; x < left + width; x++)
            for (int s = 0; s < kind->n_samples; s++, at++) {
                double wanted = value_at(kind, x, y, s);
                ck_assert_double_eq((double)*at, largest > 0 ? largest - wanted : wanted);
            }
}

TESTS(every_kind_is_read_by_windows_or_refused_by_name, 0, N_KINDS)
{
    const struct kind *kind = &kinds[_i];
    const char *path = here("a.tif");
    struct raster raster = {0};
    OWNED(clv_image_release) struct clv_image image = {0};
    write_kind(path, kind);
    if (kind->refusal) {
        must_fail(CLV_ERR_DATA, kind->refusal, raster_open(&raster, path, NULL, err));
        return;
    }
    must(raster_open(&raster, path, NULL, err));
    ck_assert_int_eq(raster.n_bands, kind->n_samples);
    ck_assert_int_eq(raster.is_colour, kind->photometric == COLOUR);
    ck_assert_int_eq(raster.is_photograph, kind->bits <= 8 && kind->format == UNSIGNED &&
                                               kind->n_samples == (kind->photometric == COLOUR ? 3 : 1));
    check_window(&raster, kind, 0, 0, WIDTH, HEIGHT);
    check_window(&raster, kind, 31, 10, 7, 20);
    check_window(&raster, kind, WIDTH - 1, HEIGHT - 1, 1, 1);
    raster_close(&raster);
    must(clv_image_read(&image, path, NULL, err)); /* all are images, too */
    ck_assert_int_eq(image.width, WIDTH);
    size_t size;
    OWNED_ARRAY char *bytes = slurp(path, &size);
    for (size_t cut = 0; cut < size; cut += size / 23 + 1) { /* whatever is left of it */
        struct clv_error error = {0};
        const char *part = here("cut.tif");
        spill(part, bytes, cut);
        if (raster_open(&raster, part, NULL, &error) != CLV_OK) {
            ck_assert_int_ne(error.message[0], 0);
            continue;
        }
        OWNED_ARRAY float *values = malloc((size_t)(WIDTH * HEIGHT * raster.n_bands) * sizeof *values);
        if (raster.width == WIDTH && raster.height == HEIGHT &&
            raster_read(values, &raster, &(struct image_part){.width = WIDTH, .height = HEIGHT}, &error) != CLV_OK)
            ck_assert_int_ne(error.message[0], 0);
        raster_close(&raster);
    }
}

/* Labels and numbers of objects are the same; where white is 0, the darker value is smaller all the same. */
TEST(masks_are_read_by_windows_unless_they_have_more_than_8_bits)
{
    enum { LEFT = 31, TOP = 10, ACROSS = 7, DOWN = 20 };
    const struct image_part window = {.left = LEFT, .top = TOP, .width = ACROSS, .height = DOWN};
    const char *path = here("mask.tif");
    for (int k = 0; k < N_KINDS; k++) {
        const struct kind *kind = &kinds[k];
        OWNED(raster_close) struct raster raster = {0};
        uint8_t labels[ACROSS * DOWN];
        int32_t numbers[ACROSS * DOWN];
        if (kind->n_samples > 1 || kind->format != UNSIGNED || kind->refusal)
            continue;
        write_kind(path, kind);
        must(raster_open_stored(&raster, path, err));
        if (kind->bits > 8) {
            must_fail(CLV_ERR_DATA, "one whole number of up to 8", raster_read_labels(labels, &raster, &window, err));
            continue;
        }
        must(raster_read_labels(labels, &raster, &window, err));
        must(raster_read_numbers(numbers, &raster, &window, err));
        for (int i = 0; i < ACROSS * DOWN; i++) {
            int stored = (int)value_at(kind, LEFT + i % ACROSS, TOP + i / ACROSS, 0);
            int wanted = kind->photometric == WHITE ? (1 << kind->bits) - 1 - stored : stored;
            ck_assert_msg(labels[i] == wanted && numbers[i] == wanted, "%s: pixel %d is %d", kind->name, i, labels[i]);
        }
    }
}

/* f32, two bands and alpha; the no-data value as GDAL writes it. */
TEST(missing_values_are_not_numbers)
{
    static const TIFFFieldInfo no_data = {42113, -1, -1, TIFF_ASCII, FIELD_CUSTOM, 1, 0, (char *)"GDALNoData"};
    const char *path = here("a.tif");
    float row[4 * 3] = {1, 2, 1, -9999, 3, 1, NAN, 4, 1, 5, INFINITY, 0}, values[4 * 2];
    uint16_t alpha[] = {EXTRASAMPLE_UNSPECIFIED, EXTRASAMPLE_UNASSALPHA};
    struct raster raster;
    TIFF *tiff = TIFFOpen(path, "w");
    TIFFMergeFieldInfo(tiff, &no_data, 1);
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, 4);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 1);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 32);
    TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, FLOATING);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 3);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, BLACK);
    TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 2, alpha);
    TIFFSetField(tiff, 42113, "-9999");
    TIFFWriteEncodedStrip(tiff, 0, row, sizeof row);
    TIFFClose(tiff);
    must(raster_open(&raster, path, NULL, err));
    ck_assert_int_eq(raster.n_bands, 2);
    must(raster_read(values, &raster, &(struct image_part){.width = 4, .height = 1}, err));
    raster_close(&raster);
    ck_assert(values[0] == 1 && values[1] == 2 && isnan(values[2]) && values[3] == 3 && isnan(values[4]));
    ck_assert(values[5] == 4 && isnan(values[6]) && isnan(values[7]));
}

/* Only upright TIFFs are rasters; clv_image_read reads turned ones as images. */
TEST(a_turned_tiff_lacks_no_data)
{
    enum { W = 13, H = 20 };
    const char *path = "tests/fuzz/corpus/image/rgb-turned.tif";
    const struct clv_bands bands = {.n_bands = 3};
    uint8_t labels[W * H], same[W * H];
    memset(labels, 1, sizeof labels);
    memset(same, 1, sizeof same);
    must(raster_void_missing(labels, W, H, path, NULL, err));
    ck_assert_mem_eq(labels, same, sizeof same);
    must_fail(CLV_ERR_DATA, "rasters are upright",
              raster_void_missing(labels, W, H, path, &(struct clv_image_limits){.bands = &bands}, err));
}

TEST(files_that_lie_about_themselves_are_refused)
{
    static const uint8_t loop[] = "II*\0\x08\0\0\0\x01\0\x00\x01\x03\0\x01\0\0\0\x05\0\0\0\x08\0\0\0";
    const char *path = here("a.tif");
    struct raster raster;
    spill(path, loop, sizeof loop - 1);
    must_fail(CLV_ERR_DATA, "corrupt TIFF: ", raster_open(&raster, path, NULL, err));
    for (int k = 0; k < 2; k++) { /* sizes of nothing, and of more than there is */
        uint32_t side = k ? 3000000000U : 2000000000U;
        uint8_t file[] =
            "II*\0\x08\0\0\0\x08\0"
            "\x00\x01\x04\0\x01\0\0\0____\x01\x01\x04\0\x01\0\0\0____\x02\x01\x03\0\x01\0\0\0\x10\0\0\0"
            "\x06\x01\x03\0\x01\0\0\0\x01\0\0\0\x11\x01\x04\0\x01\0\0\0\x08\0\0\0\x15\x01\x03\0\x01\0\0\0\x02\0\0\0"
            "\x16\x01\x04\0\x01\0\0\0\x01\0\0\0\x17\x01\x04\0\x01\0\0\0\x08\0\0\0\0\0\0\0";
        memcpy(file + 18, &side, 4);
        memcpy(file + 30, &side, 4);
        spill(path, file, sizeof file - 1);
        must_fail(CLV_ERR_DATA, "a.tif: ", raster_open(&raster, path, NULL, err));
    }
    must_fail(CLV_ERR_NO_INPUT, "none.tif", raster_open(&raster, here("none.tif"), NULL, err));
}

static void spill_array(const char *path, const char *descr, const char *shape, const void *bytes, size_t size)
{
    char file[4096] = "\x93NUMPY\x01";
    file[8] = 118;
    memset(file + 10, ' ', 118);
    int n = snprintf(file + 10, 118, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, shape);
    file[10 + n] = ' ';
    memcpy(file + 128, bytes, size);
    spill(path, file, 128 + size);
}

TEST(arrays_are_rasters_of_the_last_dimension)
{
    const char *path = here("a.npy");
    int16_t numbers[2 * 3 * 4];
    float values[2 * 3 * 4];
    int32_t width, height;
    struct raster raster;
    for (int i = 0; i < 24; i++)
        numbers[i] = (int16_t)(i - 5);
    spill_array(path, "<i2", "2, 3, 4", numbers, sizeof numbers);
    must(raster_open(&raster, path, NULL, err));
    must(raster_read(values, &raster, &(struct image_part){.width = 3, .height = 2}, err));
    for (int i = 0; i < 24; i++)
        ck_assert(values[i] == numbers[i]);
    must(raster_read(values, &raster, &(struct image_part){.left = 1, .top = 1, .width = 2, .height = 1}, err));
    ck_assert(values[0] == numbers[16]);
    raster_close(&raster);
    must(clv_image_read_size(&width, &height, path, NULL, err));
    ck_assert(width == 3 && height == 2);
    spill_array(path, "<i2", "24,", numbers, sizeof numbers);
    must_fail(CLV_ERR_DATA, "shape 24; a raster is", raster_open(&raster, path, NULL, err));
    spill_array(path, "<c8", "3", numbers, 24);
    must_fail(CLV_ERR_DATA, "rasters are u1", raster_open(&raster, path, NULL, err));
}

TEST(files_are_bands_of_one)
{
    const struct clv_image_limits limits = {.band_files = "red.tif,nir.tif"};
    OWNED(raster_close) struct raster raster = {0};
    float values[5];
    write_kind(here("a_red.tif"), &kinds[0]);
    must_fail(CLV_ERR_NO_INPUT, "a_nir.tif", raster_open(&raster, here("a_red.tif"), &limits, err));
    write_kind(here("a_nir.tif"), &kinds[11]);
    must(raster_open(&raster, here("a_red.tif"), &limits, err));
    ck_assert_int_eq(raster.n_bands, 5);
    ck_assert(!raster.is_photograph);
    must(raster_read(values, &raster, &(struct image_part){.left = 9, .top = 8, .width = 1, .height = 1}, err));
    ck_assert_double_eq((double)values[0], value_at(&kinds[0], 9, 8, 0));
    ck_assert_double_eq((double)values[4], value_at(&kinds[11], 9, 8, 3));
}

static uint64_t stamp_of(const char *path, const struct clv_image_limits *limits, bool is_strict)
{
    OWNED(raster_close) struct raster raster = {0};
    uint64_t hash = 1;
    must(raster_open_windows(&raster, path, limits, err));
    must(raster_stamp(&hash, &raster, is_strict, err));
    return hash;
}

TEST(a_raster_is_known_by_all_its_files_and_the_page)
{
    const struct clv_image_limits limits = {.band_files = "red.tif,nir.tif"};
    char first[200], second[200];
    snprintf(first, sizeof first, "%s", here("s_red.tif"));
    snprintf(second, sizeof second, "%s", here("s_nir.tif"));
    write_kind(first, &kinds[0]);
    write_kind(second, &kinds[11]);
    uint64_t before = stamp_of(first, &limits, true), alone = stamp_of(first, NULL, true);
    ck_assert(before != alone && before == stamp_of(first, &limits, true));
    free(expect_success("touch -d 2001-01-01 %s", second));
    uint64_t after = stamp_of(first, &limits, false);
    ck_assert(stamp_of(first, &limits, true) != before && stamp_of(first, NULL, true) == alone);
    free(expect_success("cp -p %s copy && mv copy %s", second, second)); /* of the same time and size */
    ck_assert(stamp_of(first, &limits, false) == after);
    ck_assert(stamp_of(formatted("%s#1", first), NULL, true) == alone);
    must(stack_axes_choose("TZC", err)); /* another way to read the pages */
    ck_assert(stamp_of(first, NULL, true) != alone);
    must(stack_axes_choose("", err));
    OWNED(raster_close) struct raster raster = {0};
    uint64_t hash = 0;
    must(raster_open_windows(&raster, first, &limits, err));
    free(expect_success("rm %s", second));
    must_fail(CLV_ERR_NO_INPUT, "s_nir.tif: cannot examine", raster_stamp(&hash, &raster, false, err));
}

/* What is learned of two bands is that of a straightforward computation. */
TEST(floats_of_bytes_look_like_bytes)
{
    const char *path = here("a.npy");
    float values[16 * 16 * 3];
    OWNED(clv_image_release) struct clv_image image = {0};
    for (int i = 0; i < 16 * 16 * 3; i++)
        values[i] = (float)(i * 37 % 256);
    OWNED_ARRAY char *bytes = malloc(128 + sizeof values);
    spill_array(path, "<f4", "16, 16, 3", values, sizeof values);
    struct raster raster;
    must(raster_open(&raster, path, NULL, err));
    raster.is_colour = true; /* as a TIFF would say */
    must(bands_show(&image, &raster, NULL, err));
    raster_close(&raster);
    for (int i = 0; i < 16 * 16 * 3; i++)
        ck_assert_int_eq(image.pixels[i], i * 37 % 256);
}

/* The mask lies where the raster does, says GDAL. */
TEST(masks_lie_where_rasters_do)
{
    const char *path = here("mask.tif");
    double scale[] = {30, 30, 0}, tie[] = {0, 0, 0, 440720, 3751320, 0}, at[2];
    double turned[16] = {10, 2, 0, 500000, 2, -10, 0, 4000000, 0, 0, 0, 0, 0, 0, 0, 1};
    uint16_t keys[] = {1, 1, 0, 3, 1024, 0, 1, 1, 1025, 0, 1, 1, 3072, 0, 1, 32611};
    const struct georeference by_scale = {
        .scale = scale, .tie_points = tie, .keys = keys, .n_scale = 3, .n_tie_points = 6, .n_keys = 16};
    const struct georeference by_matrix = {
        .transformation = turned, .keys = keys, .n_transformation = 16, .n_keys = 16};
    enum { W = 300, H = 517 };
    OWNED_ARRAY uint8_t *labels = malloc(W * H);
    uint8_t palette[3][3] = {{0, 0, 0}, {9, 200, 30}, {4, 5, 6}};
    OWNED(clv_indexed_image_release) struct clv_indexed_image back = {0};
    struct raster raster;
    bool is_geographic;
    for (int i = 0; i < W * H; i++)
        labels[i] = (uint8_t)(i / 7 % 3);
    must(raster_write_labels(path, &(struct label_image){W, H, labels, (const uint8_t(*)[3])palette, 3}, &by_scale,
                             err));
    must(clv_indexed_image_read(&back, path, NULL, err));
    ck_assert(back.width == W && back.height == H && back.palette[1][1] == 200);
    ck_assert_mem_eq(back.values, labels, W * H);
    must(raster_write_labels(path, &(struct label_image){W, H, labels, NULL, 0}, &by_scale, err));
    must(raster_open(&raster, path, NULL, err));
    ck_assert(georeference_at(at, &raster.georeference, 10, 1) && at[0] == 441020 && at[1] == 3751290);
    ck_assert_int_eq(georeference_epsg(&is_geographic, &raster.georeference), 32611);
    ck_assert(!is_geographic);
    raster_close(&raster);
    if (run_command(NULL, "gdalinfo --version") != 0) {
        skip("masks_lie_where_rasters_do", "no gdalinfo (Debian's gdal-bin)");
    } else {
        OWNED_ARRAY char *said = NULL;
        ck_assert_int_eq(run_command(&said, "gdalinfo %s", path), 0);
        ck_assert_ptr_nonnull(strstr(said, "ID[\"EPSG\",32611]"));
        ck_assert_ptr_nonnull(strstr(said, "Origin = (440720.0"));
        ck_assert_ptr_nonnull(strstr(said, "Lower Right (  449720.000, 3735810.000)"));
        free(said);
        must(raster_write_labels(path, &(struct label_image){W, H, labels, NULL, 0}, &by_matrix, err));
        ck_assert_int_eq(run_command(&said, "gdalinfo %s", path), 0);
        ck_assert_ptr_nonnull(strstr(said, "500000, 10, 2"));
    }
}

/* The tags are about pixels as they are stored. */
TEST(what_is_turned_when_read_lies_nowhere)
{
    const char *path = here("turned.tif");
    double scale[] = {30, 30, 0}, tie[] = {0, 0, 0, 440720, 3751320, 0};
    const struct georeference where = {.scale = scale, .tie_points = tie, .n_scale = 3, .n_tie_points = 6};
    const uint16_t orientations[] = {ORIENTATION_TOPLEFT, ORIENTATION_RIGHTTOP};
    uint16_t colours[256] = {0, 65535};
    uint8_t row[4] = {0, 1, 1, 0};
    for (int k = 0; k < 2; k++) {
        OWNED(georeference_release) struct georeference found = {0};
        TIFF *tiff = TIFFOpen(path, "w");
        geo_tags_declare(tiff);
        TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, 4);
        TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 1);
        TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
        TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_PALETTE);
        TIFFSetField(tiff, TIFFTAG_COLORMAP, colours, colours, colours);
        TIFFSetField(tiff, TIFFTAG_ORIENTATION, orientations[k]);
        ck_assert(geo_tags_write(tiff, &where));
        TIFFWriteEncodedStrip(tiff, 0, row, sizeof row);
        TIFFClose(tiff);
        georeference_find(&found, path);
        ck_assert_int_eq(georeference_exists(&found), k == 0);
    }
}

/* Pages of different sizes, and of more tiles than one. */
TEST(every_page_has_its_own_size_and_tiles)
{
    static const int32_t sizes[3][2] = {{300, 517}, {40, 30}, {257, 256}};
    const char *path = here("pages.tif");
    struct raster_writer writer = {.tiff = NULL};
    for (int k = 0; k < 3; k++) {
        OWNED(clv_image_release) struct clv_image page = {0};
        must(clv_image_new(&page, sizes[k][0], sizes[k][1], 1, err));
        for (int i = 0; i < page.width * page.height; i++)
            page.pixels[i] = (uint8_t)(i / (7 + k) % 250);
        must(raster_writer_add_page(&writer, path, &(struct label_image){page.width, page.height, page.pixels, NULL, 0},
                                    3, err));
    }
    must(raster_writer_commit(&writer, err));
    for (int k = 0; k < 3; k++) {
        OWNED(clv_indexed_image_release) struct clv_indexed_image back = {0};
        must(clv_indexed_image_read(&back, formatted("%s#%d", path, k + 1), NULL, err));
        ck_assert(back.width == sizes[k][0] && back.height == sizes[k][1]);
        for (int i = 0; i < back.width * back.height; i++)
            ck_assert_int_eq(back.values[i], i / (7 + k) % 250);
    }
}
