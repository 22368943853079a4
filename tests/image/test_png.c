#include <stdlib.h>
#include <string.h>

#include "fuzz/repair.h"
#include "support/images.h"
#include "support/support.h"

#define MAX_SIDE 40

/* An image of noise, with what reading it must give. */
struct sample_set {
    uint16_t samples[MAX_SIDE * MAX_SIDE * 4];
    uint8_t expected[MAX_SIDE * MAX_SIDE * 3];
    uint8_t palette[256][3], alphas[256];
};

static unsigned rounded_8(unsigned value, int bit_depth)
{
    unsigned largest = (1u << bit_depth) - 1;
    return (2 * 255 * value + largest) / (2 * largest);
}

static unsigned over_white(unsigned value, unsigned alpha)
{
    return (unsigned)(255.5 + (value - 255.0) * alpha / 255.0);
}

static void expect(struct sample_set *set, const struct png_recipe *recipe)
{
    int channels = png_channels(recipe->kind), colours = recipe->kind & 2 ? 3 : 1;
    for (int i = 0; i < recipe->width * recipe->height; i++) {
        const uint16_t *sample = set->samples + i * channels;
        bool is_key = recipe->has_key && memcmp(sample, recipe->key, (size_t)colours * 2) == 0;
        for (int c = 0; c < 3; c++) {
            unsigned value, alpha = is_key ? 0 : 255;
            if (recipe->kind == PNG_PALETTE) {
                value = set->palette[sample[0]][c];
                alpha = sample[0] < recipe->n_alphas ? set->alphas[sample[0]] : 255;
            } else {
                value = rounded_8(sample[colours == 3 ? c : 0], recipe->bit_depth);
                if (channels > colours)
                    alpha = rounded_8(sample[colours], recipe->bit_depth);
            }
            set->expected[3 * i + c] = (uint8_t)over_white(value, alpha);
        }
    }
}

static void fill(struct sample_set *set, const struct png_recipe *recipe)
{
    uint32_t state = (uint32_t)(recipe->kind * 100 + recipe->bit_depth);
    for (int i = 0; i < recipe->width * recipe->height * png_channels(recipe->kind); i++)
        set->samples[i] = (uint16_t)(noise(&state) & ((1u << recipe->bit_depth) - 1));
    for (int i = 0; i < 256; i++) {
        set->alphas[i] = (uint8_t)noise(&state);
        for (int c = 0; c < 3; c++)
            set->palette[i][c] = (uint8_t)noise(&state);
    }
}

static void check_read(struct sample_set *set, const struct png_recipe *recipe, const char *what)
{
    size_t size;
    OWNED_ARRAY uint8_t *bytes = make_png(&size, recipe);
    OWNED(clv_image_release) struct clv_image image = {0};
    expect(set, recipe);
    must(clv_image_decode(&image, bytes, size, NULL, err));
    ck_assert_int_eq(image.width, recipe->width);
    ck_assert_int_eq(image.height, recipe->height);
    ck_assert_int_eq(image.channels, 3);
    for (int i = 0; i < recipe->width * recipe->height * 3; i++)
        if (image.pixels[i] != set->expected[i])
            ck_abort_msg("%s: kind %d, %d bits, %dx%d, interlaced %d: sample %d is %d, not %d", what, (int)recipe->kind,
                         recipe->bit_depth, recipe->width, recipe->height, recipe->interlaced, i, image.pixels[i],
                         set->expected[i]);
}

static const struct {
    enum png_kind kind;
    int bit_depth;
} formats[] = {{PNG_GREY, 1},    {PNG_GREY, 2},       {PNG_GREY, 4},        {PNG_GREY, 8},    {PNG_GREY, 16},
               {PNG_RGB, 8},     {PNG_RGB, 16},       {PNG_PALETTE, 1},     {PNG_PALETTE, 2}, {PNG_PALETTE, 4},
               {PNG_PALETTE, 8}, {PNG_GREY_ALPHA, 8}, {PNG_GREY_ALPHA, 16}, {PNG_RGBA, 8},    {PNG_RGBA, 16}};

TEST(every_colour_type_depth_and_interlacing_is_read)
{
    static const int sizes[][2] = {{1, 1}, {2, 3}, {5, 1}, {1, 9}, {37, 23}, {40, 40}};
    static struct sample_set set;
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (int interlaced = 0; interlaced < 2; interlaced++) {
                struct png_recipe recipe = {.width = sizes[s][0],
                                            .height = sizes[s][1],
                                            .bit_depth = formats[f].bit_depth,
                                            .kind = formats[f].kind,
                                            .interlaced = interlaced,
                                            .samples = set.samples,
                                            .has_extras = s == 4};
                fill(&set, &recipe);
                if (recipe.kind == PNG_PALETTE) {
                    recipe.palette = set.palette;
                    recipe.palette_size = 1 << recipe.bit_depth;
                }
                check_read(&set, &recipe, "plain");
            }
}

TEST(transparent_colours_become_white)
{
    static struct sample_set set;
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++)
        for (int interlaced = 0; interlaced < 2; interlaced++) {
            struct png_recipe recipe = {.width = 31,
                                        .height = 17,
                                        .bit_depth = formats[f].bit_depth,
                                        .kind = formats[f].kind,
                                        .interlaced = interlaced,
                                        .samples = set.samples};
            fill(&set, &recipe);
            if (recipe.kind == PNG_PALETTE) {
                recipe.palette = set.palette;
                recipe.palette_size = 1 << recipe.bit_depth;
                recipe.alphas = set.alphas;
                recipe.n_alphas = recipe.palette_size * 3 / 4 + 1;
            } else if (recipe.kind == PNG_GREY || recipe.kind == PNG_RGB) {
                recipe.has_key = true;
                memcpy(recipe.key, set.samples + 3 * 40, sizeof recipe.key); /* pixel 40 of RGB, 120 of grey */
                /* differs from the key in the low byte of 16 bits only: must stay opaque */
                memcpy(set.samples + 3 * 50, set.samples + 3 * 40, sizeof recipe.key);
                set.samples[3 * 50] ^= 1;
            } else {
                continue;
            }
            check_read(&set, &recipe, "transparent");
        }
}

TEST(a_transparent_grey_is_white_in_every_range)
{
    static const uint16_t samples[4] = {1000, 20000, 1001, 10500};
    static const uint8_t expected[4] = {255, 255, 0, 127};
    const struct png_recipe recipe = {
        .width = 4, .height = 1, .bit_depth = 16, .samples = samples, .has_key = true, .key = {1000}};
    const struct clv_image_limits limits = {.grey16_low = 1001, .grey16_high = 20000};
    size_t size;
    OWNED_ARRAY uint8_t *bytes = make_png(&size, &recipe);
    OWNED(clv_image_release) struct clv_image image = {0};
    must(clv_image_decode(&image, bytes, size, &limits, err));
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(image.pixels[3 * i + 1], expected[i]);
}

TEST(sixteen_bits_are_rounded_to_the_nearest_eight)
{
    OWNED_ARRAY uint16_t *samples = malloc(65536 * sizeof *samples);
    for (int i = 0; i < 65536; i++)
        samples[i] = (uint16_t)i;
    struct png_recipe recipe = {.width = 256, .height = 256, .bit_depth = 16, .kind = PNG_GREY, .samples = samples};
    size_t size;
    OWNED_ARRAY uint8_t *bytes = make_png(&size, &recipe);
    OWNED(clv_image_release) struct clv_image image = {0};
    must(clv_image_decode(&image, bytes, size, NULL, err));
    for (int i = 0; i < 65536; i++)
        if (image.pixels[3 * i] != rounded_8((unsigned)i, 16))
            ck_abort_msg("%d became %d", i, image.pixels[3 * i]);
}

TEST(masks_keep_their_values_and_palette)
{
    static struct sample_set set;
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++)
        for (int interlaced = 0; interlaced < 2; interlaced++) {
            struct png_recipe recipe = {.width = 29,
                                        .height = 13,
                                        .bit_depth = formats[f].bit_depth,
                                        .kind = formats[f].kind,
                                        .interlaced = interlaced,
                                        .samples = set.samples};
            fill(&set, &recipe);
            if (recipe.kind == PNG_PALETTE) {
                recipe.palette = set.palette;
                recipe.palette_size = 1 << recipe.bit_depth;
            }
            size_t size;
            OWNED_ARRAY uint8_t *bytes = make_png(&size, &recipe);
            struct clv_indexed_image mask = {0};
            if (recipe.bit_depth == 16 || png_channels(recipe.kind) > 1) {
                must_fail(CLV_ERR_DATA, "masks must be 8-bit grey or palette PNG",
                          clv_indexed_image_decode(&mask, bytes, size, NULL, err));
                ck_assert_ptr_null(mask.values);
            } else {
                must(clv_indexed_image_decode(&mask, bytes, size, NULL, err));
                ck_assert_int_eq(mask.width, 29);
                ck_assert_int_eq(mask.height, 13);
                ck_assert_int_eq(mask.bit_depth, recipe.bit_depth);
                ck_assert_int_eq(mask.palette_size, recipe.palette_size);
                ck_assert_mem_eq(mask.palette, set.palette, (size_t)recipe.palette_size * 3);
                for (int i = 0; i < 29 * 13; i++)
                    ck_assert_uint_eq(mask.values[i], set.samples[i]);
                clv_indexed_image_release(&mask);
                ck_assert_ptr_null(mask.values);
            }
        }
}

TEST(a_palette_index_without_an_entry_is_refused)
{
    static const uint8_t palette[3][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
    uint16_t samples[6] = {0, 1, 2, 1, 3, 0};
    struct png_recipe recipe = {.width = 3,
                                .height = 2,
                                .bit_depth = 2,
                                .kind = PNG_PALETTE,
                                .samples = samples,
                                .palette = palette,
                                .palette_size = 3};
    size_t size;
    OWNED_ARRAY uint8_t *bytes = make_png(&size, &recipe);
    struct clv_image image = {0};
    struct clv_indexed_image mask = {0};
    must_fail(CLV_ERR_DATA, "pixel (1, 1) has palette index 3, the palette has 3",
              clv_image_decode(&image, bytes, size, NULL, err));
    must_fail(CLV_ERR_DATA, "pixel (1, 1) has palette index 3",
              clv_indexed_image_decode(&mask, bytes, size, NULL, err));
}

/* A small PNG with several kinds of chunk. */
static uint8_t *tiny_png(size_t *size, bool interlaced)
{
    static const uint8_t palette[4][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}}, alphas[2] = {0, 128};
    static uint16_t samples[5 * 4];
    uint32_t state = 1;
    for (int i = 0; i < 20; i++)
        samples[i] = (uint16_t)(noise(&state) % 4);
    struct png_recipe recipe = {.width = 5,
                                .height = 4,
                                .bit_depth = 2,
                                .kind = PNG_PALETTE,
                                .interlaced = interlaced,
                                .samples = samples,
                                .palette = palette,
                                .palette_size = 4,
                                .alphas = alphas,
                                .n_alphas = 2,
                                .has_extras = true};
    return make_png(size, &recipe);
}

/* Both readers must refuse the bytes and leave their outputs alone. */
static void must_be_refused(const uint8_t *bytes, size_t size, const char *what)
{
    struct clv_image image = {.width = 7};
    struct clv_indexed_image mask = {.width = 7};
    struct clv_error error = {0};
    ck_assert_msg(clv_image_decode(&image, bytes, size, NULL, &error) == CLV_ERR_DATA, "%s was accepted", what);
    ck_assert(error.message[0] && !strchr(error.message, '\n'));
    ck_assert(image.width == 7 && !image.pixels);
    ck_assert_msg(clv_indexed_image_decode(&mask, bytes, size, NULL, &error) == CLV_ERR_DATA, "%s was accepted", what);
    ck_assert(mask.width == 7 && !mask.values);
}

TEST(a_png_cut_anywhere_is_refused)
{
    for (int interlaced = 0; interlaced < 2; interlaced++) {
        size_t size;
        OWNED_ARRAY uint8_t *bytes = tiny_png(&size, interlaced);
        for (size_t cut = 0; cut < size; cut++) {
            OWNED_ARRAY uint8_t *part = malloc(cut + 1); /* exact, so that reading past the end is noticed */
            memcpy(part, bytes, cut);
            must_be_refused(part, cut, formatted("%zu of %zu bytes", cut, size));
        }
    }
}

TEST(a_large_png_cut_at_every_997th_byte_is_refused)
{
    OWNED(clv_image_release) struct clv_image image = {0};
    struct clv_image back = {0};
    must(clv_image_new(&image, 160, 120, 3, err));
    uint32_t state = 3;
    for (int i = 0; i < 160 * 120 * 3; i++)
        image.pixels[i] = (uint8_t)(noise(&state) % 64 + (uint32_t)i / 400);
    uint8_t *bytes;
    size_t size;
    must(clv_png_encode(&bytes, &size, &image, err));
    ck_assert_uint_gt(size, 20000);
    const char *path = here("cut.png");
    for (size_t cut = 0; cut < size; cut += 997) {
        spill(path, bytes, cut);
        must_fail(CLV_ERR_DATA, "cut.png: ", clv_image_read(&back, path, NULL, err));
        ck_assert_ptr_null(back.pixels);
    }
    must_fail(CLV_ERR_DATA, "truncated", clv_image_decode(&back, bytes, size - 1, NULL, err));
    clv_free(bytes);
}

/* Every byte of a PNG but the signature is under a checksum. */
TEST(every_flipped_bit_of_a_png_is_noticed)
{
    size_t size;
    OWNED_ARRAY uint8_t *bytes = tiny_png(&size, true);
    for (size_t bit = 0; bit < size * 8; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        must_be_refused(bytes, size, formatted("bit %zu of byte %zu flipped", bit % 8, bit / 8));
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

TEST(bytes_behind_the_end_of_a_png_are_ignored)
{
    size_t size;
    OWNED_ARRAY uint8_t *bytes = tiny_png(&size, false), *longer = calloc(size + 100, 1);
    memcpy(longer, bytes, size);
    OWNED(clv_image_release) struct clv_image image = {0};
    must(clv_image_decode(&image, longer, size + 100, NULL, err));
}

static void put_32(uint8_t *bytes, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* The same file with another size in its header, checksum made right. */
static void set_size(uint8_t *png, uint32_t width, uint32_t height)
{
    put_32(png + 16, width);
    put_32(png + 20, height);
    put_32(png + 29, png_checksum(png + 12, 17));
}

TEST(limits_are_checked_in_the_png_header)
{
    size_t size;
    OWNED_ARRAY uint8_t *bytes = tiny_png(&size, false);
    OWNED(clv_image_release) struct clv_image image = {0};
    int32_t width = -1, height = -1;
    const char *path = here("huge.png");
    set_size(bytes, 100000, 100000);
    spill(path, bytes, size);
    must_fail(CLV_ERR_DATA, "huge.png: 100000x100000 pixels; the limit is 65535 pixels a side",
              clv_image_read(&image, path, NULL, err));
    must_fail(CLV_ERR_DATA, "huge.png: 100000x100000 pixels; the limit is 65535 pixels a side",
              clv_image_read_size(&width, &height, path, NULL, err));
    ck_assert(width == -1 && height == -1);
    set_size(bytes, 65535, 65535);
    must_fail(CLV_ERR_DATA, "65535x65535 pixels are 4294836225; the limit is 67108864 pixels",
              clv_image_decode(&image, bytes, size, NULL, err));
    set_size(bytes, UINT32_MAX, 1);
    must_fail(CLV_ERR_DATA, "4294967295x1 pixels; the limit is 65535",
              clv_image_decode(&image, bytes, size, NULL, err));
    set_size(bytes, 0, 4);
    must_fail(CLV_ERR_DATA, "0x4", clv_image_decode(&image, bytes, size, NULL, err));
    set_size(bytes, 5, 4);
    struct clv_image_limits limits = {.max_pixels = 19};
    must_fail(CLV_ERR_DATA, "5x4 pixels are 20; the limit is 19 pixels",
              clv_image_decode(&image, bytes, size, &limits, err));
    limits = (struct clv_image_limits){.max_pixels = 20, .max_side_px = 5};
    must(clv_image_decode(&image, bytes, size, &limits, err));
}

TEST(limits_can_be_raised_for_a_very_wide_png)
{
    OWNED(clv_image_release) struct clv_image wide = {0}, back = {0};
    must(clv_image_new(&wide, 70000, 2, 1, err));
    wide.pixels[69999] = 200;
    uint8_t *bytes;
    size_t size;
    must(clv_png_encode(&bytes, &size, &wide, err));
    must_fail(CLV_ERR_DATA, "70000x2", clv_image_decode(&back, bytes, size, NULL, err));
    struct clv_image_limits limits = {.max_side_px = 100000};
    must(clv_image_decode(&back, bytes, size, &limits, err));
    ck_assert_int_eq(back.width, 70000);
    ck_assert_uint_eq(back.pixels[3 * 69999 + 1], 200);
    clv_free(bytes);
}

TEST(written_pngs_return_the_same_pixels)
{
    for (int channels = 1; channels <= 3; channels += 2) {
        OWNED(clv_image_release) struct clv_image image = {0}, back = {0};
        must(clv_image_new(&image, 61, 43, channels, err));
        uint32_t state = 5;
        for (int i = 0; i < 61 * 43 * channels; i++)
            image.pixels[i] = (uint8_t)noise(&state);
        const char *path = here("written.png");
        must(clv_png_write(path, &image, err));
        must(clv_image_read(&back, path, NULL, err));
        ck_assert(back.width == 61 && back.height == 43 && back.channels == 3);
        for (int i = 0; i < 61 * 43 * 3; i++)
            ck_assert_uint_eq(back.pixels[i], image.pixels[channels == 3 ? i : i / 3]);
    }
}

TEST(written_labels_return_the_same_values_and_palette)
{
    uint8_t labels[20 * 11], palette[256][3];
    for (int i = 0; i < 20 * 11; i++)
        labels[i] = (uint8_t)(i * 7 % 256);
    clv_default_palette(palette);
    const char *path = here("labels.png");
    for (int palette_size = 0; palette_size <= 256; palette_size += 256) {
        OWNED(clv_indexed_image_release) struct clv_indexed_image mask = {0};
        must(clv_png_write_labels(path, 20, 11, labels, palette_size ? palette : NULL, palette_size, err));
        must(clv_indexed_image_read(&mask, path, NULL, err));
        ck_assert(mask.width == 20 && mask.height == 11 && mask.bit_depth == 8);
        ck_assert_int_eq(mask.palette_size, palette_size);
        ck_assert_mem_eq(mask.values, labels, sizeof labels);
        ck_assert_mem_eq(mask.palette, palette, (size_t)palette_size * 3);
    }
    must_fail(CLV_ERR_USAGE, "label 7 at (1, 0) has no colour; the palette has 7",
              clv_png_write_labels(path, 20, 11, labels, palette, 7, err));
    must_fail(CLV_ERR_USAGE, "257", clv_png_write_labels(path, 20, 11, labels, palette, 257, err));
    must_fail(CLV_ERR_USAGE, "0x11", clv_png_write_labels(path, 0, 11, labels, palette, 256, err));
}

TEST(an_image_of_two_channels_cannot_be_written)
{
    struct clv_image image;
    uint8_t *bytes = NULL;
    size_t size = 1;
    must(clv_image_new(&image, 3, 3, 2, err));
    must_fail(CLV_ERR_USAGE, "2 channels", clv_png_encode(&bytes, &size, &image, err));
    must_fail(CLV_ERR_USAGE, "2 channels", clv_jpeg_encode(&bytes, &size, &image, 90, err));
    ck_assert(!bytes && size == 1);
    clv_image_release(&image);
    must_fail(CLV_ERR_USAGE, "0x0", clv_png_encode(&bytes, &size, &image, err));
}
