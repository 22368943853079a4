/* Small regions that are merged, by rows: the same as by rounds over the whole image. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/shapes/shapes.h"
#include "support/images.h"
#include "support/reference_contours.h"
#include "support/support.h"

#undef fail

enum { SIDE = 64 };

static void check_map(const uint8_t *labels, int32_t width, int32_t height, int32_t min_pixels)
{
    const struct specks_settings how = {.width = width, .min_pixels = min_pixels};
    uint8_t expected[SIDE * SIDE], whole[SIDE * SIDE], row[SIDE];
    size_t n = (size_t)width * (size_t)height;
    struct specks *specks;
    bool changes;
    memcpy(expected, labels, n);
    memcpy(whole, labels, n);
    must(reference_merge_specks(expected, width, height, min_pixels, err));
    must(contours_merge_specks(whole, width, height, min_pixels, err));
    ck_assert_msg(memcmp(whole, expected, n) == 0, "%dx%d, %d pixels", width, height, min_pixels);
    must(specks_begin(&specks, &how, err));
    for (int32_t y = 0; y < height; y++)
        must(specks_row(specks, labels + y * width, err));
    must(specks_settle(&changes, specks, err));
    ck_assert_int_eq(changes, memcmp(labels, expected, n) != 0);
    for (int32_t y = 0; y < height; y++) {
        memcpy(row, labels + y * width, (size_t)width);
        must(specks_merge_row(specks, row, err));
        ck_assert_mem_eq(row, expected + y * width, (size_t)width);
    }
    specks_free(specks);
}

TEST(all_small_maps_of_three_labels_merge_as_by_the_whole_image)
{
    for (int k = 0; k < 19683; k++) {
        uint8_t labels[9];
        for (int i = 0, rest = k; i < 9; i++, rest /= 3)
            labels[i] = (uint8_t)(rest % 3);
        check_map(labels, 3, 3, 2 + k % 3);
    }
}

TEST(random_maps_merge_as_by_the_whole_image)
{
    uint32_t state = 11;
    for (int round = 0; round < 3000; round++) {
        uint8_t labels[SIDE * SIDE], blocks[SIDE * SIDE];
        int32_t width = 1 + (int32_t)(noise(&state) % SIDE), height = 1 + (int32_t)(noise(&state) % SIDE);
        uint32_t n_labels = 2 + noise(&state) % 5, side = 1 + noise(&state) % 4;
        for (int p = 0; p < SIDE * SIDE; p++)
            blocks[p] = (uint8_t)(noise(&state) % n_labels * 51); /* 255, too */
        for (int32_t p = 0; p < width * height; p++)
            labels[p] = blocks[(uint32_t)(p / width) / side * SIDE + (uint32_t)(p % width) / side];
        check_map(labels, width, height, (int32_t)(noise(&state) % 60));
    }
}

/* labels[side][side]: noise of n_labels in squares of `square` pixels. */
static void fill_noise(uint8_t *labels, int32_t side, int32_t square, uint32_t n_labels)
{
    uint32_t state = 3;
    for (int32_t y = 0; y < side; y++)
        for (int32_t x = 0; x < side; x++, labels++)
            *labels = x % square ? labels[-1] : y % square ? labels[-side] : (uint8_t)(noise(&state) % n_labels);
}

static enum clv_status merge_noise(const uint8_t *labels, int32_t side, double bytes)
{
    OWNED(specks_drop) struct specks *specks = NULL;
    struct clv_error error;
    bool changes = false;
    must(specks_begin(&specks, &(struct specks_settings){side, 40, (size_t)(bytes * side * side), 0}, err));
    for (int32_t y = 0; y < side; y++) {
        enum clv_status status = specks_row(specks, labels + y * side, &error);
        if (status)
            return status;
    }
    must(specks_settle(&changes, specks, err));
    return CLV_OK;
}

/* An upper bound for any labels, and one that single pixels of many labels nearly reach. */
TEST(noise_fits_the_bytes_that_are_reckoned_with)
{
    enum { SIDE_PX = 256 };
    static uint8_t labels[SIDE_PX * SIDE_PX];
    for (int32_t square = 1; square <= 2; square++)
        for (uint32_t n_labels = 2; n_labels < 256; n_labels += 23) {
            fill_noise(labels, SIDE_PX, square, n_labels);
            ck_assert_int_eq(merge_noise(labels, SIDE_PX, SPECKS_BYTES), CLV_OK);
        }
    fill_noise(labels, SIDE_PX, 1, 255);
    ck_assert_int_eq(merge_noise(labels, SIDE_PX, SPECKS_BYTES * 0.9), CLV_ERR_MEMORY);
}

TEST(too_many_pieces_and_rows_that_change_are_refused)
{
    enum { WIDTH = 40, HEIGHT = 30 };
    uint8_t labels[WIDTH * HEIGHT];
    uint32_t state = 5;
    struct specks *specks;
    bool changes;
    for (int p = 0; p < WIDTH * HEIGHT; p++)
        labels[p] = (uint8_t)(noise(&state) % 7);
    must(specks_begin(&specks, &(struct specks_settings){WIDTH, 5, 4000, 0}, err));
    enum clv_status status = CLV_OK;
    struct clv_error error;
    for (int y = 0; y < HEIGHT && status == CLV_OK; y++)
        status = specks_row(specks, labels + y * WIDTH, &error);
    ck_assert_int_eq(status, CLV_ERR_MEMORY);
    ck_assert_ptr_nonnull(strstr(error.message, "--min-area"));
    specks_free(specks);
    must(specks_begin(&specks, &(struct specks_settings){WIDTH, 5, 0, 0}, err));
    for (int y = 0; y < HEIGHT; y++)
        must(specks_row(specks, labels, err)); /* the first row again and again */
    must(specks_settle(&changes, specks, err));
    for (int y = 0; y < HEIGHT && status != CLV_ERR_DATA; y++)
        status = specks_merge_row(specks, labels + y * WIDTH, &error);
    ck_assert_int_eq(status, CLV_ERR_DATA);
    specks_free(specks);
    ck_assert_int_eq(specks_begin(&specks, &(struct specks_settings){.width = 0}, &error), CLV_ERR_USAGE);
}

/* Pieces are numbered by 32 bits. The limit stands in for 2^31 - 1: one piece more is refused, whatever memory there
 * is, and as many as that are merged. */
TEST(more_pieces_than_have_numbers_are_refused)
{
    enum { WIDTH = 8, N_ROWS = 3 };
    const uint8_t rows[2][WIDTH] = {{0, 1, 0, 1, 0, 1, 0, 1}, {2, 3, 2, 3, 2, 3, 2, 3}};
    for (int more = 0; more < 2; more++) {
        const struct specks_settings how = {.width = WIDTH, .min_pixels = 2, .max_pieces = N_ROWS * WIDTH - more};
        OWNED(specks_drop) struct specks *specks = NULL;
        bool changes;
        must(specks_begin(&specks, &how, err));
        for (int y = 0; y < N_ROWS - more; y++)
            must(specks_row(specks, rows[y % 2], err));
        if (more)
            must_fail(CLV_ERR_MEMORY, "more than 23 pieces of labels, too many to merge by --min-area",
                      specks_row(specks, rows[0], err));
        else
            must(specks_settle(&changes, specks, err));
    }
}
