/* Files that other programs write, or damage: rare kinds show what they should, wrong ones are refused for what is
 * wrong with them, and none is read when memory runs out. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "image/image.h"
#include "support/requests.h"
#include "support/support.h"

#define CORPUS "tests/fuzz/corpus/image/"

/* A file in memory with a few of its bytes changed. */
static char *patched(size_t *size, const char *name, size_t at, const char *bytes, size_t n)
{
    char *file = slurp(formatted(CORPUS "%s", name), size);
    ck_assert_uint_le(at + n, *size);
    memcpy(file + at, bytes, n);
    return file;
}

TEST(damaged_headers_are_refused_for_what_is_wrong)
{
    static const struct {
        const char *name;
        size_t at;
        const char *bytes;
        size_t n;
        const char *part;
    } cases[] = {
        {"rgb24.bmp", 14, "\x0d\0\0\0", 4, "a header of 13 bytes"},
        {"rgb24.bmp", 28, "\2\0", 2, "a BMP of 2 bits a pixel"},
        {"rgb24.bmp", 30, "\1\0\0\0", 4,
         "a compressed BMP (kind 1) of 24 bits a pixel, which cleave does not read; save"},
        {"fields32.bmp", 54, "\0\0\0\0", 4, "colours by the bits 0"},
        {"fields32.bmp", 54, "\5\0\0\0", 4, "colours by the bits 0x5"},
        {"labels4.bmp", 46, "\x11\0\0\0", 4, "17 colours of 4 bits"},
        {"labels8.bmp", 46, "\1\0\0\0", 4, "palette index beyond the palette of 1 entries"},
        {"rgb.ppm", 9, "0  ", 3, "largest value is not 1 to 65535"},
        {"plain.pgm", 9, "999999999999", 12, "header has no size"},
        {"rgb.ppm", 9, "9  ", 3, "larger than the largest"},
        {"lossy.webp", 12, "VP9 ", 4, "corrupt WebP: "},
        {"lossy.webp", 23, "\0\0\0", 3, "its header is damaged"},
        {"rgb.tif", 2, "*\0\xff\xff\xff\x7f", 6, "outside of the file"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        size_t size;
        struct clv_image image = {.width = -7};
        struct clv_indexed_image mask;
        OWNED_ARRAY char *file = patched(&size, cases[k].name, cases[k].at, cases[k].bytes, cases[k].n);
        must_fail(CLV_ERR_DATA, cases[k].part, clv_image_decode(&image, file, size, NULL, err));
        ck_assert_int_eq(image.width, -7);
        if (strstr(cases[k].name, "labels"))
            must_fail(CLV_ERR_DATA, cases[k].part, clv_indexed_image_decode(&mask, file, size, NULL, err));
    }
}

/* What OS/2 wrote: a header of 12 bytes, sizes of 16 bits, three bytes a colour of the palette. */
TEST(bitmaps_of_os2_show_their_palette)
{
    static const unsigned char file[] = {'B', 'M', 0,   0,  0,    0, 0, 0, 0,    0, 32, 0, 0,       0,
                                         12,  0,   0,   0,  3,    0, 2, 0, 1,    0, 1,  0, /**/ 10, 20,
                                         30,  200, 100, 50, 0x40, 0, 0, 0, 0xa0, 0, 0,  0};
    static const int expected[2][3] = {{1, 0, 1}, {0, 1, 0}}; /* rows from the top; they are stored from the bottom */
    OWNED(clv_image_release) struct clv_image image = {0};
    OWNED(clv_indexed_image_release) struct clv_indexed_image mask = {0};
    must(clv_image_decode(&image, file, sizeof file, NULL, err));
    must(clv_indexed_image_decode(&mask, file, sizeof file, NULL, err));
    ck_assert(image.width == 3 && image.height == 2 && mask.palette_size == 2);
    for (int p = 0; p < 6; p++) {
        static const uint8_t colours[2][3] = {{30, 20, 10}, {50, 100, 200}};
        ck_assert_mem_eq(image.pixels + 3 * p, colours[expected[p / 3][p % 3]], 3);
        ck_assert_int_eq(mask.values[p], expected[p / 3][p % 3]);
    }
}

/* A header of Windows for a BMP whose pixels are behind `more` bytes of masks or palette; what it takes. */
static size_t put_bmp(uint8_t *file, int32_t width, int32_t height, int bits, uint32_t compression, uint32_t n_colours,
                      size_t more)
{
    const uint32_t at = (uint32_t)(54 + more),
                   words[10] = {40, (uint32_t)width, (uint32_t)height, 1 | (uint32_t)bits << 16, compression, 0, 0,
                                0,  n_colours};
    memset(file, 0, 54);
    memcpy(file, "BM", 2);
    memcpy(file + 10, &at, 4);
    memcpy(file + 14, words, 40);
    return 54;
}

/* Each colour's bits stand for 0 to 255, rounded to the nearest. */
TEST(bitmaps_of_few_bits_a_colour_are_scaled_to_eight)
{
    static const struct {
        int bits;
        uint32_t compression, masks[3];
        int shifts[3], largest[3];
    } kinds[] = {{16, 0, {0x7c00, 0x3e0, 0x1f}, {10, 5, 0}, {31, 31, 31}},
                 {16, 3, {0xf800, 0x7e0, 0x1f}, {11, 5, 0}, {31, 63, 31}},
                 {32, 3, {0x3ff, 0xffc00, 0x3ff00000}, {0, 10, 20}, {1023, 1023, 1023}},
                 {32, 0, {0xff0000, 0xff00, 0xff}, {16, 8, 0}, {255, 255, 255}}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        enum { N = 1024 };
        static uint8_t file[54 + 12 + 4 * N];
        size_t more = kinds[k].compression ? 12 : 0,
               size = put_bmp(file, N, 1, kinds[k].bits, kinds[k].compression, 0, more);
        struct clv_image image;
        memcpy(file + size, kinds[k].masks, more);
        size += more;
        for (uint32_t x = 0; x < N; x++, size += (size_t)kinds[k].bits / 8) {
            uint32_t pixel = 0;
            for (int c = 0; c < 3; c++)
                pixel |= (x * (uint32_t)(c + 1) & (uint32_t)kinds[k].largest[c]) << kinds[k].shifts[c];
            memcpy(file + size, &pixel, (size_t)kinds[k].bits / 8);
        }
        must(clv_image_decode(&image, file, size, NULL, err));
        for (uint32_t x = 0; x < N; x++)
            for (uint32_t c = 0; c < 3; c++) {
                int value = (int)(x * (c + 1)) & kinds[k].largest[c];
                ck_assert_int_eq(image.pixels[3 * x + c], (int)(255.0 * value / kinds[k].largest[c] + 0.5));
            }
        clv_image_release(&image);
        must_fail(CLV_ERR_DATA, "truncated", clv_image_decode(&image, file, size - 4, NULL, err));
    }
}

/* A header of version 3 and later has a mask for alpha, too. */
TEST(alpha_of_bitmaps_is_over_white)
{
    static const uint32_t pixels[4] = {0x000000ff, 0x80ff0000, 0xff00ff00, 0x40404040};
    static const uint8_t shown[4][3] = {{255, 255, 255}, {255, 127, 127}, {0, 255, 0}, {207, 207, 207}};
    static const uint32_t masks[4] = {0xff0000, 0xff00, 0xff, 0xff000000};
    uint8_t file[54 + 16 + 16];
    for (int kind = 0; kind < 3; kind++) { /* alpha, alpha that is 0 everywhere, and a byte that means nothing */
        OWNED(clv_image_release) struct clv_image image = {0};
        size_t size = put_bmp(file, 4, 1, 32, kind == 2 ? 0 : 3, 0, 16);
        file[14] = 56;
        memcpy(file + size, masks, 16);
        for (size_t p = 0; p < 4; p++) {
            uint32_t pixel = kind == 1 ? pixels[p] & 0xffffff : pixels[p];
            memcpy(file + size + 16 + 4 * p, &pixel, 4);
        }
        must(clv_image_decode(&image, file, sizeof file, NULL, err));
        for (size_t p = 0; p < 4; p++)
            for (size_t c = 0; c < 3; c++)
                ck_assert_int_eq(image.pixels[3 * p + c], kind ? pixels[p] >> (16 - 8 * c) & 255 : shown[p][c]);
    }
}

/* Runs, values as they are, a step, the ends of a row and of all, of 8 and of 4 bits; rows come from the bottom. */
TEST(run_lengths_of_bitmaps_are_unpacked)
{
    static const uint8_t by_8[] = {3, 1, 2, 2, 0, 0, 0, 3, 1, 2, 1, 0, 0, 2, 1, 1, 1, 2, 0, 1};
    static const uint8_t by_4[] = {3, 0x11, 2, 0x22, 0, 0, 0, 3, 0x12, 0x10, 0, 2, 1, 1, 1, 0x20, 0, 1};
    static const uint8_t expected[3][5] = {{0, 0, 0, 0, 2}, {1, 2, 1, 0, 0}, {1, 1, 1, 2, 2}};
    for (int bits = 4; bits <= 8; bits += 4) {
        const uint8_t *runs = bits == 8 ? by_8 : by_4;
        size_t n = bits == 8 ? sizeof by_8 : sizeof by_4;
        uint8_t file[54 + 12 + 64];
        struct clv_indexed_image mask = {0};
        struct clv_image image;
        size_t size = put_bmp(file, 5, 3, bits, bits == 8 ? 1 : 2, 3, 12);
        memcpy(file + size, "\1\2\3\0\4\5\6\0\7\10\11", 12);
        memcpy(file + size + 12, runs, n);
        size += 12 + n;
        must(clv_indexed_image_decode(&mask, file, size, NULL, err));
        ck_assert_mem_eq(mask.values, expected, sizeof expected);
        clv_indexed_image_release(&mask);
        must(clv_image_decode(&image, file, size, NULL, err));
        ck_assert_mem_eq(image.pixels + 12, "\11\10\7", 3);
        clv_image_release(&image);
        for (size_t cut = 1; cut < n; cut++)
            must_fail(CLV_ERR_DATA, "truncated", clv_indexed_image_decode(&mask, file, size - cut, NULL, err));
        file[54 + 12] = 6; /* of a row of 5 */
        must_fail(CLV_ERR_DATA, "run lengths leave the image", clv_image_decode(&image, file, size, NULL, err));
        memcpy(file + 54 + 12, "\0\2\0\4", 4); /* a step of 4 rows */
        must_fail(CLV_ERR_DATA, "run lengths leave the image", clv_image_decode(&image, file, size, NULL, err));
    }
}

/* Three pixels of 4 bits: 1, 2 and what is asked for. */
TEST(an_index_may_be_the_palettes_last_and_no_more)
{
    uint8_t file[54 + 12 + 4];
    for (int position = 0; position < 3; position++)
        for (uint8_t index = 2; index <= 3; index++) {
            size_t size = put_bmp(file, 3, 1, 4, 0, 3, 12);
            uint8_t values[3] = {1, 2, 0};
            struct clv_image image;
            struct clv_indexed_image mask;
            values[position] = index;
            memcpy(file + size, "\1\2\3\0\4\5\6\0\7\10\11", 12);
            memcpy(file + size + 12,
                   (uint8_t[]){(uint8_t)(values[0] << 4 | values[1]), (uint8_t)(values[2] << 4), 0, 0}, 4);
            size += 16;
            if (index < 3) {
                must(clv_image_decode(&image, file, size, NULL, err));
                must(clv_indexed_image_decode(&mask, file, size, NULL, err));
                ck_assert_mem_eq(mask.values, values, 3);
                ck_assert_int_eq(mask.palette_size, 3);
                ck_assert_mem_eq(mask.palette[2], "\11\10\7", 3);
                ck_assert_mem_eq(image.pixels + (size_t)3 * (size_t)position, "\11\10\7", 3);
                clv_image_release(&image);
                clv_indexed_image_release(&mask);
                continue;
            }
            must_fail(CLV_ERR_DATA, "row 0 has a palette index beyond the palette of 3 entries",
                      clv_image_decode(&image, file, size, NULL, err));
            must_fail(CLV_ERR_DATA, "beyond the palette of 3", clv_indexed_image_decode(&mask, file, size, NULL, err));
        }
}

TEST(plain_samples_have_to_be_numbers_up_to_the_largest)
{
    struct clv_image image;
    must(clv_image_decode(&image, "P2 2 1 9 9 0 ", 13, NULL, err));
    ck_assert(image.pixels[0] == 255 && image.pixels[3] == 0);
    clv_image_release(&image);
    must_fail(CLV_ERR_DATA, "is not a number up to the largest",
              clv_image_decode(&image, "P2 2 1 9 10 0 ", 14, NULL, err));
    must_fail(CLV_ERR_DATA, "is not a number up to the largest",
              clv_image_decode(&image, "P2 2 1 9 x 0 ", 13, NULL, err));
    must_fail(CLV_ERR_DATA, "truncated", clv_image_decode(&image, "P2 2 1 9", 8, NULL, err));
}

TEST(pages_are_of_tiffs_alone)
{
    OWNED(clv_image_release) struct clv_image image = {0};
    size_t size;
    OWNED_ARRAY char *file = slurp(CORPUS "rgb.ppm", &size);
    const char *path = here("no.tif");
    spill(path, file, size);
    must_fail(CLV_ERR_DATA, "no.tif#2: not a TIFF", clv_image_read(&image, formatted("%s#2", path), NULL, err));
    must(clv_image_read(&image, path, NULL, err));
}

/* A TIFF of a directory of whole numbers, and 2 x 2 bytes of samples behind it. */
struct entry {
    uint16_t tag, type; /* 3: 16 bits, 4: 32 bits */
    uint32_t count, value;
};

enum { WIDTH_TAG = 256, HEIGHT_TAG = 257, BITS_TAG = 258, KIND_TAG = 262, STRIPS_TAG = 273, BYTES_TAG = 279 };

static size_t put_tiff(uint8_t file[512], const struct entry *entries, size_t n)
{
    size_t samples = 8 + 2 + 12 * n + 4;
    memcpy(file, "II*\0\10\0\0\0", 8);
    file[8] = (uint8_t)n;
    file[9] = 0;
    for (size_t k = 0; k < n; k++) {
        struct entry entry = entries[k];
        if (entry.tag == STRIPS_TAG)
            entry.value = (uint32_t)samples;
        memcpy(file + 10 + 12 * k, &entry, sizeof entry);
    }
    memset(file + samples - 4, 0, 4);
    memcpy(file + samples, "\0\1\2\3", 4);
    return samples + 4;
}

TEST(tiffs_lack_nothing_that_says_what_they_show)
{
    static const struct entry full[] = {{WIDTH_TAG, 3, 1, 2}, {HEIGHT_TAG, 3, 1, 2}, {BITS_TAG, 3, 1, 8},
                                        {KIND_TAG, 3, 1, 1},  {STRIPS_TAG, 4, 1, 0}, {BYTES_TAG, 4, 1, 4}};
    static const struct entry reduced = {254, 4, 1, 1}, compression = {259, 3, 1, 34712};
    struct entry entries[8];
    uint8_t file[512];
    struct clv_image image;
    struct clv_indexed_image mask;
    size_t size = put_tiff(file, full, 6);
    must(clv_indexed_image_decode(&mask, file, size, NULL, err));
    ck_assert_mem_eq(mask.values, "\0\1\2\3", 4);
    clv_indexed_image_release(&mask);

    memcpy(entries, full, sizeof full);
    entries[3].value = 0; /* white is zero */
    size = put_tiff(file, entries, 6);
    must(clv_indexed_image_decode(&mask, file, size, NULL, err));
    ck_assert_mem_eq(mask.values, "\377\376\375\374", 4);
    clv_indexed_image_release(&mask);

    for (size_t left_out = 0; left_out < 6; left_out++) {
        size_t n = 0;
        if (left_out == 2) /* bits have a default */
            continue;
        for (size_t k = 0; k < 6; k++)
            if (k != left_out)
                entries[n++] = full[k];
        size = put_tiff(file, entries, n);
        if (left_out == 3 || left_out == 5) { /* one sample is grey, black 0; and a strip goes on to the file's end */
            must(clv_image_decode(&image, file, size, NULL, err));
            ck_assert_mem_eq(image.pixels, "\0\0\0\1\1\1\2\2\2\3\3\3", 12);
            clv_image_release(&image);
        } else {
            must_fail(CLV_ERR_DATA, "corrupt TIFF", clv_image_decode(&image, file, size, NULL, err));
        }
    }
    entries[0] = reduced;
    memcpy(entries + 1, full, sizeof full);
    size = put_tiff(file, entries, 7);
    must_fail(CLV_ERR_DATA, "without a full image", clv_image_decode(&image, file, size, NULL, err));

    memcpy(entries, full, sizeof full);
    memmove(entries + 4, entries + 3, 3 * sizeof *entries);
    entries[3] = compression;
    size = put_tiff(file, entries, 7);
    must_fail(CLV_ERR_DATA, " not read", clv_image_decode(&image, file, size, NULL, err));
    must_fail(CLV_ERR_DATA, " not read", clv_indexed_image_decode(&mask, file, size, NULL, err));
}

/* Tags that no program knows, that say nothing, or lie; and pointers to a next page that leads nowhere. */
TEST(what_no_pixel_needs_does_not_cost_a_page)
{
    static const struct entry full[] = {{WIDTH_TAG, 3, 1, 2}, {HEIGHT_TAG, 3, 1, 2}, {BITS_TAG, 3, 1, 8},
                                        {KIND_TAG, 3, 1, 1},  {STRIPS_TAG, 4, 1, 0}, {BYTES_TAG, 4, 1, 4}};
    static const struct entry spare[] = {
        {282, 5, 0, 0},          {282, 5, 1, 0x7fffffff}, {296, 3, 0, 0},   {305, 2, 0, 0},
        {305, 2, 9, 0x7fffffff}, {306, 99, 1, 7},         {315, 2, 0, 0},   {320, 3, 0, 0},
        {330, 4, 0, 0},          {330, 4, 1, 0xffffff},   {338, 3, 0, 0},   {700, 1, 0, 0},
        {33550, 12, 0, 0},       {34665, 4, 1, 0},        {34675, 7, 0, 0}, {34675, 7, 9, 0x7fffffff},
        {37724, 7, 0, 0},        {42113, 2, 0, 0},        {50000, 0, 0, 0}, {65000, 3, 2, 9}};
    static const uint32_t nexts[] = {0, 8, 7, 0x7fffffff, 0xffffffff};
    uint8_t file[512];
    struct clv_image image;
    for (size_t k = 0; k < sizeof spare / sizeof *spare; k++) {
        struct entry entries[7];
        memcpy(entries, full, sizeof full);
        entries[6] = spare[k];
        size_t size = put_tiff(file, entries, 7);
        struct clv_error why = {0};
        ck_assert_msg(clv_image_decode(&image, file, size, NULL, &why) == CLV_OK, "tag %u: %s", spare[k].tag,
                      why.message);
        ck_assert_int_eq(image.pixels[9], 3);
        clv_image_release(&image);
    }
    for (size_t k = 0; k < sizeof nexts / sizeof *nexts; k++) {
        uint32_t n = 0;
        const char *path = here("next.tif");
        size_t size = put_tiff(file, full, 6);
        memcpy(file + size - 8, &nexts[k], 4);
        spill(path, file, size);
        must(clv_image_read(&image, path, NULL, err));
        ck_assert_int_eq(image.pixels[9], 3);
        clv_image_release(&image);
        must(clv_image_count(&n, path, err));
        ck_assert_uint_eq(n, 1);
    }
}

/* Behind several pages it may be that others are lost: as many as are known of are counted. */
TEST(a_page_that_is_cut_off_is_an_error_and_its_neighbours_are_read)
{
    size_t size;
    OWNED_ARRAY char *file = slurp(CORPUS "pages.tif", &size);
    const char *path = here("cut.tif");
    uint32_t n = 0, at;
    struct clv_image image;
    memcpy(&at, file + 4, 4);
    for (int page = 1; page < 2; page++) { /* the second page's pointer */
        uint16_t entries;
        memcpy(&entries, file + at, 2);
        memcpy(&at, file + at + 2 + 12 * (size_t)entries, 4);
    }
    uint16_t entries;
    memcpy(&entries, file + at, 2);
    memset(file + at + 2 + 12 * (size_t)entries, 0x7f, 4);
    spill(path, file, size);
    must(clv_image_count(&n, path, err));
    ck_assert_uint_eq(n, 3);
    must(clv_image_read(&image, formatted("%s#2", path), NULL, err));
    clv_image_release(&image);
    must_fail(CLV_ERR_DATA, "cut.tif#3: corrupt TIFF: directory 3 is outside",
              clv_image_read(&image, formatted("%s#3", path), NULL, err));
}

/* Colours of 16 bits, all reds first. */
TEST(palettes_of_tiffs_are_kept_with_the_values)
{
    static const struct entry entries[] = {{WIDTH_TAG, 3, 1, 2},
                                           {HEIGHT_TAG, 3, 1, 2},
                                           {BITS_TAG, 3, 1, 8},
                                           {KIND_TAG, 3, 1, 3},
                                           {STRIPS_TAG, 4, 1, 0},
                                           {BYTES_TAG, 4, 1, 4},
                                           {320, 3, 768, 8 + 2 + 12 * 7 + 4 + 4}};
    uint8_t file[512 + 1536];
    OWNED(clv_indexed_image_release) struct clv_indexed_image mask = {0};
    OWNED(clv_image_release) struct clv_image image = {0};
    size_t size = put_tiff(file, entries, 7);
    for (size_t i = 0; i < 768; i++) {
        uint16_t value = (uint16_t)(i % 256 * 257 / (1 + i / 256));
        memcpy(file + size + 2 * i, &value, 2);
    }
    size += 1536;
    must(clv_indexed_image_decode(&mask, file, size, NULL, err));
    must(clv_image_decode(&image, file, size, NULL, err));
    ck_assert_int_eq(mask.palette_size, 256);
    ck_assert_mem_eq(mask.values, "\0\1\2\3", 4);
    ck_assert(mask.palette[200][0] == 200 && mask.palette[200][1] == 100 && mask.palette[200][2] == 67);
    for (int p = 0; p < 4; p++)
        ck_assert_int_eq(image.pixels[3 * p], p);
}

/* Rows of whole bytes, the first sample in a byte's highest bits. */
TEST(tiffs_of_few_bits_a_sample_are_unpacked_from_the_highest)
{
    static const uint8_t stored[4] = {0x1b, 0xa5, 0xe4, 0x3c};
    for (uint32_t bits = 1; bits <= 4; bits *= 2)
        for (uint32_t width = 8 / bits + 1; width <= 16 / bits; width++)
            for (uint32_t kind = 0; kind < 2; kind++) { /* white is zero, black is */
                const struct entry entries[] = {{WIDTH_TAG, 3, 1, width}, {HEIGHT_TAG, 3, 1, 2}, {BITS_TAG, 3, 1, bits},
                                                {KIND_TAG, 3, 1, kind},   {STRIPS_TAG, 4, 1, 0}, {BYTES_TAG, 4, 1, 4}};
                uint8_t file[512];
                OWNED(clv_indexed_image_release) struct clv_indexed_image mask = {0};
                size_t size = put_tiff(file, entries, 6);
                memcpy(file + size - 4, stored, 4);
                must(clv_indexed_image_decode(&mask, file, size, NULL, err));
                ck_assert_int_eq(mask.bit_depth, (int)bits);
                for (uint32_t p = 0; p < 2 * width; p++) {
                    uint32_t row = (uint32_t)stored[p / width * 2] << 8 | stored[p / width * 2 + 1];
                    uint32_t largest = (1u << bits) - 1, value = row >> (16 - bits * (p % width + 1)) & largest;
                    ck_assert_int_eq(mask.values[p], kind ? value : largest - value);
                }
            }
}

TEST(transparent_tiffs_are_on_white)
{
    static const uint8_t pixel[4] = {100, 50, 20, 120};
    for (uint32_t kind = 1; kind <= 2; kind++) { /* colours are multiplied by alpha, or not */
        const struct entry entries[] = {{WIDTH_TAG, 3, 1, 1}, {HEIGHT_TAG, 3, 1, 1}, {BITS_TAG, 3, 1, 8},
                                        {KIND_TAG, 3, 1, 2},  {STRIPS_TAG, 4, 1, 0}, {277, 3, 1, 4},
                                        {BYTES_TAG, 4, 1, 4}, {338, 3, 1, kind}};
        uint8_t file[512];
        OWNED(clv_image_release) struct clv_image image = {0};
        size_t size = put_tiff(file, entries, 8);
        memcpy(file + size - 4, pixel, 4);
        must(clv_image_decode(&image, file, size, NULL, err));
        for (int c = 0; c < 3; c++)
            ck_assert_int_eq(image.pixels[c], (kind == 1 ? pixel[c] : (pixel[c] * 120 + 127) / 255) + 255 - 120);
        clv_image_release(&image);
        memcpy(file + size - 4, "\377\0\144\377", 4); /* nothing shines through */
        must(clv_image_decode(&image, file, size, NULL, err));
        ck_assert_mem_eq(image.pixels, "\377\0\144", 3);
    }
}

TEST(animated_webp_is_refused)
{
    static const char file[] = "RIFF\x24\0\0\0WEBPVP8X\x0a\0\0\0\2\0\0\0\x13\0\0\x0c\0\0"
                               "ANIM\6\0\0\0\0\0\0\0\0\0";
    struct clv_image image;
    must_fail(CLV_ERR_DATA, "an animated WebP", clv_image_decode(&image, file, sizeof file - 1, NULL, err));
}

TEST(no_image_comes_out_when_memory_runs_out)
{
    static const char *const names[] = {"rgb.tif",
                                        "g16-tiles.tif",
                                        "lossy.webp",
                                        "alpha.webp",
                                        "rgb24.bmp",
                                        "labels8.bmp",
                                        "plain.ppm",
                                        "bits.pbm",
                                        "pages.tif",
                                        "labels.tif",
                                        "grey-16-interlaced.png"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        size_t size;
        OWNED_ARRAY char *file = slurp(formatted(CORPUS "%s", names[k]), &size);
        OWNED(clv_image_release) struct clv_image image = {.width = -7}, resized = {.width = -7};
        must_keep_when_requests_fail(clv_image_decode(&image, file, size, NULL, err),
                                     ck_assert_int_eq(image.width, -7));
        must_keep_when_requests_fail(clv_image_resize(&resized, &image, 7, 40, err),
                                     ck_assert_int_eq(resized.width, -7));
        ck_assert(image.width > 0 && resized.width == 7);
        if (strstr(names[k], "label") || strstr(names[k], "bits")) {
            OWNED(clv_indexed_image_release) struct clv_indexed_image mask = {.width = -7};
            must_keep_when_requests_fail(clv_indexed_image_decode(&mask, file, size, NULL, err),
                                         ck_assert_int_eq(mask.width, -7));
        }
    }
}

TEST(no_file_comes_out_when_memory_runs_out)
{
    OWNED(clv_image_release) struct clv_image image = {0};
    uint8_t *bytes = NULL;
    size_t size;
    must(clv_image_read(&image, CORPUS "rgb.ppm", NULL, err));
    must_keep_when_requests_fail(clv_jpeg_encode(&bytes, &size, &image, 90, err), ck_assert_ptr_null(bytes));
    ck_assert_ptr_nonnull(bytes);
    clv_free(bytes);
    bytes = NULL;
    must_keep_when_requests_fail(clv_png_encode(&bytes, &size, &image, err), ck_assert_ptr_null(bytes));
    ck_assert_ptr_nonnull(bytes);
    clv_free(bytes);
}
