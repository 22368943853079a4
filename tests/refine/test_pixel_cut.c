/* Cuts in parts against cuts of everything. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "infer/grid/grid.h"
#include "refine/refine.h"
#include "support/support.h"

enum { SIDE = 70, MAX_PIXELS = SIDE * SIDE };

static int n_rows_asked;

struct field {
    int32_t width, height;
    float unary[MAX_PIXELS], coupling[4][MAX_PIXELS];
};

static void field_row(const void *context, float *unary, float *const coupling[4], int32_t x, int32_t y, int32_t n)
{
    const struct field *self = context;
    size_t p = (size_t)(y * self->width + x);
    memcpy(unary, self->unary + p, (size_t)n * sizeof *unary);
    for (int k = 0; k < 4; k++)
        memcpy(coupling[k], self->coupling[k] + p, (size_t)n * sizeof *unary);
}

/* Blobs of foreground with noise; the stronger the couplings and the weaker the scores the less is decided by parts. */
static void draw(struct field *self, uint64_t index, uint32_t strength)
{
    uint64_t at = index << 20;
    self->width = 30 + (int32_t)rng_below(3, 0, at++, SIDE - 30 + 1);
    self->height = 30 + (int32_t)rng_below(3, 0, at++, SIDE - 30 + 1);
    int32_t period = 7 + (int32_t)rng_below(3, 0, at++, 30);
    for (int32_t p = 0; p < self->width * self->height; p++) {
        int32_t x = p % self->width, y = p / self->width;
        int is_foreground = (x / period + y / period) % 2;
        self->unary[p] = (float)rng_below(3, 0, at++, 9) - 4 + (float)(is_foreground ? 2 : -2);
        for (int k = 0; k < 4; k++) {
            int is_inside = x + (k == 0 || k == 2) < self->width && x - (k == 3) >= 0 && y + (k > 0) < self->height;
            self->coupling[k][p] = is_inside ? (float)rng_below(3, 0, at++, strength + 1) : 0;
        }
    }
}

static double score_of(const struct field *self, const uint8_t *labels)
{
    static const int dx[] = {1, 0, 1, -1}, dy[] = {0, 1, 1, 1};
    double score = 0;
    for (int32_t p = 0; p < self->width * self->height; p++) {
        score += labels[p] ? (double)self->unary[p] : 0;
        for (int k = 0; k < 4; k++)
            if (self->coupling[k][p] > 0 && labels[p] != labels[p + dy[k] * self->width + dx[k]])
                score -= (double)self->coupling[k][p];
    }
    return score;
}

TEST(parts_make_the_labels_of_the_whole_wherever_they_decide)
{
    static struct field field;
    static uint8_t whole[MAX_PIXELS], parts[MAX_PIXELS], estimate[MAX_PIXELS];
    int n_all = 0, n_some = 0;
    for (uint64_t t = 0; t < 120; t++) {
        draw(&field, t, t % 4 == 3 ? 12 : 1 + (uint32_t)(t % 4));
        int32_t n = field.width * field.height;
        struct pixel_energy energy = {
            .width = field.width, .height = field.height, .row = field_row, .context = &field};
        size_t n_open, n_other = 0;
        must(pixel_cut(whole, &n_open, &energy, NULL, MAX_PIXELS, err));
        ck_assert_uint_eq(n_open, 0);
        struct clv_grid grid = {.width = field.width, .height = field.height, .n_neighbours = 8, .unary = field.unary};
        for (int k = 0; k < 4; k++)
            grid.coupling[k] = field.coupling[k];
        must(clv_grid_map(estimate, &grid, err));
        ck_assert_mem_eq(whole, estimate, (size_t)n);
        for (int32_t p = 0; p < n; p++)
            estimate[p] = field.unary[p] > 0;
        must(pixel_cut(parts, &n_open, &energy, t % 2 ? estimate : NULL, 0, err));
        for (int32_t p = 0; p < n; p++)
            n_other += parts[p] != whole[p];
        ck_assert_uint_le(n_other, n_open);
        n_all += n_open == 0;
        n_some += n_open > 0;
        if (t % 2)
            ck_assert_double_ge(score_of(&field, parts), score_of(&field, estimate));
        ck_assert_double_le(score_of(&field, parts), score_of(&field, whole));
    }
    ck_assert_int_gt(n_all, 50);
    ck_assert_int_gt(n_some, 5);
}

/* Fixed pixels around a window pull by hard couplings, too, and windows agree on how they round. */
TEST(parts_make_the_labels_of_the_whole_beside_hard_couplings)
{
    static struct field field;
    static uint8_t whole[MAX_PIXELS], parts[MAX_PIXELS];
    for (uint64_t t = 0; t < 30; t++) {
        draw(&field, 500 + t, 1 + (uint32_t)(t % 3));
        for (int32_t p = 0; p < field.width * field.height; p++)
            for (int k = 0; k < 4; k++)
                field.coupling[k][p] *= rng_below(3, 1, t << 20 | (uint64_t)(4 * p + k), 6) ? 0.5F : 1e10F;
        struct pixel_energy energy = {
            .width = field.width, .height = field.height, .row = field_row, .context = &field};
        size_t n_open, n_other = 0;
        must(pixel_cut(whole, &n_open, &energy, NULL, MAX_PIXELS, err));
        must(pixel_cut(parts, &n_open, &energy, NULL, 0, err));
        bool is_mixed = false;
        for (int32_t p = 0; p < field.width * field.height; p++) {
            n_other += parts[p] != whole[p];
            is_mixed |= whole[p] != whole[0];
        }
        ck_assert_uint_le(n_other, n_open);
        ck_assert(is_mixed);
    }
}

/* Whether other labels of a window, those around it fixed, have a higher score. */
static bool is_improvable(const struct field *self, const uint8_t *labels, int left, int top, int right, int bottom)
{
    static const int dx[] = {1, 0, 1, -1}, dy[] = {0, 1, 1, 1};
    static struct field window;
    static uint8_t found[MAX_PIXELS], other[MAX_PIXELS];
    struct clv_grid grid = {.width = right - left, .height = bottom - top, .n_neighbours = 8, .unary = window.unary};
    memset(&window, 0, sizeof window);
    for (int p = 0; p < self->width * self->height; p++)
        for (int k = 0; k < 4; k++) {
            int x = p % self->width, y = p / self->width, of_other = p + dy[k] * self->width + dx[k];
            int at = (y - top) * grid.width + x - left, at_other = at + dy[k] * grid.width + dx[k];
            bool is_in = x >= left && x < right && y >= top && y < bottom;
            bool is_other_in = x + dx[k] >= left && x + dx[k] < right && y + dy[k] >= top && y + dy[k] < bottom;
            float coupling = self->coupling[k][p];
            grid.coupling[k] = window.coupling[k];
            if (is_in && k == 0)
                window.unary[at] += self->unary[p];
            if (coupling > 0 && is_in && is_other_in)
                window.coupling[k][at] = coupling;
            else if (coupling > 0 && is_in)
                window.unary[at] += labels[of_other] ? coupling : -coupling;
            else if (coupling > 0 && is_other_in)
                window.unary[at_other] += labels[p] ? coupling : -coupling;
        }
    must(clv_grid_map(found, &grid, err));
    memcpy(other, labels, (size_t)(self->width * self->height));
    for (int y = top; y < bottom; y++)
        memcpy(other + y * self->width + left, found + (y - top) * grid.width, (size_t)grid.width);
    return score_of(self, other) > score_of(self, labels);
}

/* Of a quarter of the sides, and moved by halves of theirs. */
TEST(what_parts_leave_open_no_window_of_the_last_passes_improves)
{
    static struct field field;
    static uint8_t labels[MAX_PIXELS], estimate[MAX_PIXELS];
    int n_some = 0;
    for (uint64_t t = 3; t < 120; t += 4) {
        draw(&field, t, 12);
        struct pixel_energy energy = {
            .width = field.width, .height = field.height, .row = field_row, .context = &field};
        size_t n_open;
        for (int32_t p = 0; p < field.width * field.height; p++)
            estimate[p] = field.unary[p] > 0;
        must(pixel_cut(labels, &n_open, &energy, estimate, 0, err));
        n_some += n_open > 0;
        int across = field.width / 4 + 1, down = field.height / 4 + 1;
        for (int pass = 0; pass < 4 && n_open; pass++)
            for (int top = pass / 2 ? -(down / 2) : 0; top < field.height; top += down)
                for (int left = pass % 2 ? -(across / 2) : 0; left < field.width; left += across)
                    ck_assert(!is_improvable(&field, labels, left < 0 ? 0 : left, top < 0 ? 0 : top,
                                             left + across < field.width ? left + across : field.width,
                                             top + down < field.height ? top + down : field.height));
    }
    ck_assert_int_gt(n_some, 5);
}

TEST(images_of_few_pixels_are_cut_in_parts_too)
{
    static struct field field;
    uint8_t whole[64], parts[64];
    ck_assert_int_eq(pixel_cut_window(1, 1, 0), 9); /* a pixel and the ring around it */
    ck_assert_int_eq(pixel_cut_window(8, 43, 0), 5 * 13);
    ck_assert_int_eq(pixel_cut_window(8, 43, 8 * 43), 8 * 43);
    for (int side = 1; side <= 8; side++) {
        draw(&field, 1, 1);
        struct pixel_energy energy = {.width = side, .height = 9 - side, .row = field_row, .context = &field};
        field.width = side;
        memset(field.coupling, 0, sizeof field.coupling);
        size_t n_open;
        must(pixel_cut(whole, &n_open, &energy, NULL, MAX_PIXELS, err));
        must(pixel_cut(parts, &n_open, &energy, NULL, 0, err));
        ck_assert_uint_eq(n_open, 0);
        ck_assert_mem_eq(parts, whole, (size_t)(side * (9 - side)));
    }
}

static void counted_row(const void *context, float *unary, float *const coupling[4], int32_t x, int32_t y, int32_t n)
{
    n_rows_asked++;
    field_row(context, unary, coupling, x, y, n);
}

TEST(an_image_in_one_part_is_looked_through_once_and_cut_once)
{
    static struct field field;
    static uint8_t labels[MAX_PIXELS];
    size_t n_open;
    draw(&field, 0, 3);
    const struct pixel_energy energy = {
        .width = field.width, .height = field.height, .row = counted_row, .context = &field};
    n_rows_asked = 0;
    must(pixel_cut(labels, &n_open, &energy, NULL, (int64_t)field.width * field.height, err));
    ck_assert_int_eq(n_rows_asked, 2 * field.height);
    must(pixel_cut(labels, &n_open, &energy, NULL, (int64_t)field.width * field.height - 1, err));
    ck_assert_int_gt(n_rows_asked, 5 * field.height); /* windows of a fifth, and more */
}

/* A pixel on each side of the border between the first two tiles of 15 pixels, who decide together: (14, 35) follows
 * (15, 35), all others are background. */
TEST(windows_are_no_larger_than_what_is_open)
{
    static struct field field = {.width = 70, .height = 70};
    static uint8_t labels[MAX_PIXELS];
    size_t n_open;
    const struct pixel_energy energy = {.width = 70, .height = 70, .row = counted_row, .context = &field};
    for (int p = 0; p < 70 * 70; p++)
        field.unary[p] = -1;
    field.unary[35 * 70 + 14] = 1;
    field.unary[35 * 70 + 15] = -2;
    field.coupling[0][35 * 70 + 14] = 5;
    n_rows_asked = 0;
    must(pixel_cut(labels, &n_open, &energy, NULL, 0, err));
    ck_assert_uint_eq(n_open, 0);
    for (int p = 0; p < 70 * 70; p++)
        ck_assert_int_eq(labels[p], 0);
    /* All rows once. Quiet is what is further than 8 pixels from the tile of 8 pixels that is not: rows 24 to 47 of the
     * first two tiles of windows, with the rings between windows; both pixels alone, again with the other label around,
     * and together in a window of the next pass, with their rings. */
    ck_assert_int_eq(n_rows_asked, 70 + 2 * (24 + 2 * 2) + 2 * 3 + 3);
}

static void field_scores(const void *context, float *unary, int32_t x, int32_t y, int32_t n)
{
    const struct field *self = context;
    memcpy(unary, self->unary + y * self->width + x, (size_t)n * sizeof *unary);
}

static size_t n_pixels_asked;

static void counted_pixels(const void *context, float *unary, float *const coupling[4], int32_t x, int32_t y, int32_t n)
{
    n_pixels_asked += (size_t)n;
    field_row(context, unary, coupling, x, y, n);
}

/* Discs of foreground, noise in a corner. Weak couplings leave all discs, strong ones take the smaller ones away, of
 * which the middle is quiet. */
TEST(quiet_parts_have_the_labels_of_a_cut_of_everything)
{
    static struct field field;
    static uint8_t labels[MAX_PIXELS], expected[MAX_PIXELS];
    int n_spared = 0, n_turned = 0;
    for (uint64_t t = 0; t < 200; t++) {
        uint64_t at = t << 20;
        float largest = 0;
        draw(&field, 1000 + t, t % 2 ? 2 : 30);
        int32_t n = field.width * field.height, radius = 3 + (int32_t)rng_below(4, 0, at++, 25);
        for (int32_t p = 0; p < n; p++) {
            int32_t x = p % field.width, y = p / field.width, dx = x - 40, dy = y - 35;
            float noise = x < 12 && y < 12 ? 0 : (float)(1 + rng_below(4, 0, at++, 3));
            field.unary[p] = noise == 0 ? field.unary[p] : dx * dx + dy * dy < radius * radius ? noise : -noise;
            field.unary[p] = t % 7 == 0 && p == n - 1 ? 1e-12F : field.unary[p]; /* rounds to 0 */
            for (int k = 0; k < 4; k++)
                largest = field.coupling[k][p] > largest ? field.coupling[k][p] : largest;
        }
        struct pixel_energy energy = {.width = field.width,
                                      .height = field.height,
                                      .row = counted_pixels,
                                      .context = &field,
                                      .scores = t % 3 ? field_scores : NULL,
                                      .largest = largest};
        struct clv_grid grid = {.width = field.width, .height = field.height, .n_neighbours = 8, .unary = field.unary};
        for (int k = 0; k < 4; k++)
            grid.coupling[k] = field.coupling[k];
        must(clv_grid_map(expected, &grid, err));
        for (int64_t whole = 0; whole <= MAX_PIXELS; whole += MAX_PIXELS) {
            size_t n_open;
            n_pixels_asked = 0;
            must(pixel_cut(labels, &n_open, &energy, NULL, whole, err));
            for (int32_t p = 0; p < n && !n_open; p++)
                ck_assert_msg(labels[p] == expected[p], "field %d: pixel %d", (int)t, p);
        }
        n_spared += n_pixels_asked < (size_t)n;
        n_turned += field.width > 40 && field.height > 35 && expected[35 * field.width + 40] == 0 && radius > 20;
    }
    ck_assert_int_gt(n_spared, 20);
    ck_assert_int_gt(n_turned, 5);
}

TEST(a_quiet_tile_is_woken_where_a_pixel_beside_it_has_another_label)
{
    static uint8_t labels[300 * 90];
    OWNED(quiet_tiles_release) struct quiet_tiles quiet = {0};
    float row[300];
    must(quiet_tiles_init(&quiet, 300, 90, err));
    for (int y = 0; y < 90; y++) {
        for (int x = 0; x < 300; x++)
            row[x] =
                x < 150 ? 1 : -1; /* through the tiles from 144 to 151, so that those from 136 to 159 are in the cut */
        quiet_tiles_add(&quiet, row, y);
    }
    quiet_tiles_begin(&quiet);
    ck_assert_uint_eq(quiet_tiles_paint(labels, &quiet, GRID_UNDECIDED, GRID_AWAY), 24 * 90);
    for (int p = 0; p < 300 * 90; p++) {
        ck_assert_int_eq(labels[p], p % 300 >= 136 && p % 300 < 160 ? GRID_UNDECIDED : GRID_AWAY);
        labels[p] = labels[p] == GRID_UNDECIDED ? p % 300 < 137 : labels[p];
    }
    ck_assert(!quiet_tiles_wake(&quiet, labels)); /* 0 from 137 on: not beside a tile that prefers 1 */
    labels[31 * 300 + 136] = 0;
    labels[32 * 300 + 159] = 1;
    ck_assert(quiet_tiles_wake(&quiet, labels));
    quiet_tiles_paint(labels, &quiet, GRID_ZERO, GRID_AWAY);
    ck_assert_int_eq(labels[31 * 300 + 135], GRID_ZERO);
    ck_assert_int_eq(labels[32 * 300 + 160], GRID_ZERO);
    ck_assert_int_eq(labels[89 * 300 + 299], GRID_AWAY);
    quiet_tiles_label(labels, &quiet);
    ck_assert_int_eq(labels[0], 1);
    ck_assert_int_eq(labels[299], 0);
}

/* A border between tiles: those beside it prefer different labels. */
TEST(tiles_beside_those_that_prefer_the_other_label_are_not_quiet)
{
    static uint8_t labels[100 * 90];
    OWNED(quiet_tiles_release) struct quiet_tiles quiet = {0};
    float row[100];
    must(quiet_tiles_init(&quiet, 100, 90, err));
    for (int y = 0; y < 90; y++) {
        for (int x = 0; x < 100; x++)
            row[x] = x < 48 ? 1 : -1;
        quiet_tiles_add(&quiet, row, y);
    }
    quiet_tiles_begin(&quiet);
    quiet_tiles_paint(labels, &quiet, GRID_UNDECIDED, GRID_AWAY);
    for (int p = 0; p < 100 * 90; p++)
        ck_assert_int_eq(labels[p], p % 100 >= 32 && p % 100 < 64 ? GRID_UNDECIDED : GRID_AWAY);
}

TEST(scores_far_above_couplings_decide_by_their_sign)
{
    static struct field field;
    static uint8_t labels[MAX_PIXELS];
    size_t n_open;
    draw(&field, 2, 1);
    for (int p = 0; p < field.width * field.height; p++)
        field.unary[p] = p % 3 ? -5000 : 5000;
    const struct pixel_energy energy = {
        .width = field.width, .height = field.height, .row = field_row, .context = &field};
    for (int64_t whole = 0; whole <= MAX_PIXELS; whole += MAX_PIXELS) {
        must(pixel_cut(labels, &n_open, &energy, NULL, whole, err));
        ck_assert_uint_eq(n_open, 0);
        for (int p = 0; p < field.width * field.height; p++)
            ck_assert_int_eq(labels[p], p % 3 == 0);
    }
}

/* On real photographs, whose couplings grow with the side: what holds at one size holds at all. */
TEST(photographs_have_the_same_labels_in_parts_and_whole)
{
    static const char *const names[] = {"horse001", "horse130", "horse202", "horse320"};
    struct clv_refine_options options;
    clv_refine_defaults(&options);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *path = real_data("photographs_have_the_same_labels_in_parts_and_whole", "horses");
        if (!path)
            return;
        OWNED(clv_image_release) struct clv_image image = {0}, large = {0};
        OWNED(clv_indexed_image_release) struct clv_indexed_image mask = {0};
        char file[512];
        snprintf(file, sizeof file, "%s/images/%s.jpg", path, names[i]);
        if (clv_image_read(&image, file, NULL, NULL) != CLV_OK)
            continue;
        must(clv_image_resize(&large, &image, 3 * image.width / 2, 3 * image.height / 2, err));
        size_t n = (size_t)large.width * (size_t)large.height;
        OWNED_ARRAY uint8_t *parts = malloc(n), *whole = malloc(n);
        OWNED_ARRAY float *votes = malloc(3 * n * sizeof *votes);
        must(clv_indexed_image_read(&mask, formatted("%s/masks/%s.png", path, names[i]), NULL, err));
        clv_labels_resize(parts, large.width, large.height, mask.values, mask.width, mask.height);
        for (size_t p = 0; p < n; p++)
            parts[p] = parts[p] != 0;
        /* coarse, as superpixels are */
        for (size_t p = 0; p < n; p++)
            whole[p] = parts[(p / (size_t)large.width / 8 * 8) * (size_t)large.width + p % (size_t)large.width / 8 * 8];
        memcpy(parts, whole, n);
        for (int round = 1; round <= 2; round++) {
            options.rounds = round;
            must(refine_two(whole, &large, NULL, NULL, &options, (int64_t)n, err));
            must(refine_two(parts, &large, NULL, NULL, &options, 0, err));
            ck_assert_mem_eq(whole, parts, n);
        }
        for (size_t p = 0; p < n; p++) { /* a third label, right of the middle */
            whole[p] = (uint8_t)(whole[p] && p % (size_t)large.width > (size_t)large.width / 2 ? 2 : whole[p]);
            for (size_t a = 0; a < 3; a++)
                votes[a * n + p] = whole[p] == a ? 0.75F : 0.125F;
        }
        memcpy(parts, whole, n);
        options.rounds = 1;
        must(refine_many(whole, &large, votes, 3, &options, (int64_t)n, err));
        must(refine_many(parts, &large, votes, 3, &options, 0, err));
        ck_assert_mem_eq(whole, parts, n);
    }
}
