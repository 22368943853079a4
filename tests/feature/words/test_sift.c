#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "feature/words/words.h"
#include "support/support.h"

enum { SIZE = CLV_DESCRIPTOR_SIZE };

static struct clv_recipe recipe_of(int32_t bin_px, int32_t step_px)
{
    struct clv_recipe recipe;
    clv_recipe_init(&recipe);
    recipe.n_scales = 1;
    recipe.bin_size_px[0] = bin_px;
    recipe.step_px = step_px;
    return recipe;
}

static struct sift_grid describe_by(int32_t sift, const uint8_t *rgb, int32_t width, int32_t height, int32_t bin_px,
                                    int32_t step_px)
{
    struct clv_recipe recipe = recipe_of(bin_px, step_px);
    OWNED(sift_image_release) struct sift_image image = {0};
    struct sift_grid grid;
    recipe.sift = sift;
    must(sift_image_init(&image, rgb, width, height, &recipe, err));
    must(sift_image_describe(&grid, &image, bin_px, step_px, err));
    return grid;
}

static struct sift_grid describe(const uint8_t *rgb, int32_t width, int32_t height, int32_t bin_px, int32_t step_px)
{
    return describe_by(CLV_SIFT_CLEAVE, rgb, width, height, bin_px, step_px);
}

/* Blobs of several sizes with a little noise: gradients of every direction and strength. */
static uint8_t *textured(int32_t width, int32_t height)
{
    uint8_t *rgb = malloc((size_t)width * (size_t)height * 3);
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++) {
            double v = 127 + 50 * sin(x * 0.31 + 3 * sin(y * 0.07)) + 40 * cos(y * 0.23 + x * 0.11) +
                       20 * rng_uniform(1, RNG_STREAM(RNG_TEST, 0), (uint64_t)(y * width + x));
            memset(rgb + (y * width + x) * 3, v < 0 ? 0 : v > 255 ? 255 : (int)v, 3);
        }
    return rgb;
}

/* Cells of which no window reaches past the border: 2.5 bins around the centre and the gradient's pixel. */
static bool is_inside(const struct sift_grid *grid, int32_t cell, int32_t width, int32_t height, int32_t bin_px,
                      int32_t step_px)
{
    int32_t x = cell % grid->n_columns * step_px + (step_px - 1) / 2, reach = 5 * bin_px / 2 + 2;
    int32_t y = cell / grid->n_columns * step_px + (step_px - 1) / 2;
    return x >= reach && y >= reach && x + reach < width && y + reach < height;
}

/* How alike the descriptors of both implementations are. */
struct agreement {
    int32_t n_inside, n_flat; /* cells of either kind; flat: zero in one of the two or both */
    int32_t worst;            /* difference of two bytes, inside */
    double mean_cosine, mean_cosine_at_border, mean_difference; /* of bytes, inside */
};

static struct agreement compare(const uint8_t *rgb, int32_t width, int32_t height, int32_t bin_px, int32_t step_px)
{
    OWNED(sift_grid_release) struct sift_grid ours = describe(rgb, width, height, bin_px, step_px);
    OWNED(sift_grid_release) struct sift_grid theirs =
        describe_by(CLV_SIFT_VLFEAT, rgb, width, height, bin_px, step_px);
    struct agreement of = {0};
    int32_t n_border = 0;
    ck_assert_int_eq(theirs.n_columns, ours.n_columns);
    ck_assert_int_eq(theirs.n_rows, ours.n_rows);
    for (int32_t c = 0; c < ours.n_columns * ours.n_rows; c++) {
        bool inside = is_inside(&ours, c, width, height, bin_px, step_px);
        double product = 0, a = 0, b = 0;
        for (int k = 0; k < SIZE; k++) {
            int x = ours.values[c * SIZE + k], y = theirs.values[c * SIZE + k];
            product += x * y;
            a += x * x;
            b += y * y;
            of.mean_difference += inside ? abs(x - y) : 0;
            of.worst = inside && abs(x - y) > of.worst ? abs(x - y) : of.worst;
        }
        if (a == 0 || b == 0) {
            of.n_flat++;
            continue;
        }
        of.n_inside += inside;
        n_border += !inside;
        *(inside ? &of.mean_cosine : &of.mean_cosine_at_border) += product / sqrt(a * b);
    }
    of.mean_cosine /= of.n_inside;
    of.mean_difference /= (double)of.n_inside * SIZE;
    of.mean_cosine_at_border /= n_border;
    return of;
}

/* The tolerance that sift_vlfeat.c states. */
static void expect_agreement(const struct agreement *of)
{
    ck_assert_int_le(of->worst, 10);
    ck_assert_double_lt(of->mean_difference, 0.6);
    ck_assert_double_gt(of->mean_cosine, 0.9998);
    ck_assert_double_gt(of->mean_cosine_at_border, 0.85);
}

TEST(descriptors_are_those_of_vlfeat_up_to_rounding)
{
    OWNED_ARRAY uint8_t *rgb = textured(200, 150);
    static const int32_t bins[] = {1, 2, 3, 4, 6, 12, 24};
    for (size_t k = 0; k < sizeof bins / sizeof *bins; k++)
        for (int32_t step = 2; step <= 5; step++) {
            struct agreement of = compare(rgb, 200, 150, bins[k], step);
            expect_agreement(&of);
            ck_assert_int_eq(of.n_flat, 0);
            ck_assert_int_gt(of.n_inside, 50);
        }
}

TEST(descriptors_of_real_images_are_those_of_vlfeat)
{
    const char *path = real_data("descriptors_of_real_images_are_those_of_vlfeat", "horses/images/horse001.jpg");
    if (!path)
        return;
    OWNED(clv_image_release) struct clv_image image = {0};
    must(clv_image_read(&image, path, NULL, err));
    for (int32_t bin_px = 2; bin_px <= 16; bin_px *= 2) {
        struct agreement of = compare(image.pixels, image.width, image.height, bin_px, 3);
        expect_agreement(&of);
    }
}

TESTS(a_ramp_points_one_way, CLV_SIFT_CLEAVE, CLV_SIFT_VLFEAT + 1)
{
    /* Brighter to the right: orientation 0 only. Brighter downwards: orientation 2 (90 degrees, y down). */
    uint8_t right[60 * 40 * 3], down[60 * 40 * 3];
    for (int y = 0; y < 40; y++)
        for (int x = 0; x < 60; x++) {
            memset(right + (y * 60 + x) * 3, 4 * x, 3);
            memset(down + (y * 60 + x) * 3, 4 * y, 3);
        }
    OWNED(sift_grid_release) struct sift_grid a = describe_by(_i, right, 60, 40, 3, 3),
                                              b = describe_by(_i, down, 60, 40, 3, 3);
    const uint8_t *middle_a = a.values + (6 * a.n_columns + 10) * SIZE,
                  *middle_b = b.values + (6 * b.n_columns + 10) * SIZE;
    for (int k = 0; k < SIZE; k++) {
        ck_assert_int_eq(middle_a[k] > 0, k % 8 == 0);
        ck_assert_int_eq(middle_b[k] > 0, k % 8 == 2);
    }
}

TESTS(every_cell_of_any_image_has_a_descriptor, CLV_SIFT_CLEAVE, CLV_SIFT_VLFEAT + 1)
{
    static const int32_t sizes[][2] = {{1, 1}, {1, 50}, {50, 1}, {2, 3}, {17, 5}, {40, 31}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int32_t step = 1; step <= 7; step += 3) {
            OWNED_ARRAY uint8_t *rgb = textured(sizes[k][0], sizes[k][1]);
            OWNED(sift_grid_release) struct sift_grid grid = describe_by(_i, rgb, sizes[k][0], sizes[k][1], 12, step);
            ck_assert_int_eq(grid.n_columns, (sizes[k][0] + step - 1) / step);
            ck_assert_int_eq(grid.n_rows, (sizes[k][1] + step - 1) / step);
            for (int32_t c = 0; c < grid.n_columns * grid.n_rows; c++) {
                double square = 0;
                for (int v = 0; v < SIZE; v++)
                    square += grid.values[c * SIZE + v] * grid.values[c * SIZE + v];
                ck_assert(square == 0 || (sqrt(square) > 450 && sqrt(square) < 540));
            }
        }
}

/* A textured image, prepared for an implementation, and all its descriptors. */
struct described {
    struct clv_recipe recipe;
    uint8_t *rgb;
    struct sift_image image;
    struct sift_grid grid;
};

static void described_release(struct described *self)
{
    sift_grid_release(&self->grid);
    sift_image_release(&self->image);
    free(self->rgb);
}

/* Sides of an image and the settings that describe it. */
struct sizes {
    int32_t width, height, bin_px, step_px;
};

static void describe_texture(struct described *self, int32_t sift, const struct sizes *sizes)
{
    self->recipe = recipe_of(sizes->bin_px, sizes->step_px);
    self->recipe.sift = sift;
    self->rgb = textured(sizes->width, sizes->height);
    must(sift_image_init(&self->image, self->rgb, sizes->width, sizes->height, &self->recipe, err));
    must(sift_image_describe(&self->grid, &self->image, sizes->bin_px, sizes->step_px, err));
}

TESTS(single_cells_have_the_descriptors_of_the_grid, CLV_SIFT_CLEAVE, CLV_SIFT_VLFEAT + 1)
{
    static const struct sizes images[] = {{1, 1, 2, 3}, {37, 23, 4, 3}, {61, 40, 16, 5}, {50, 33, 3, 1}};
    for (size_t s = 0; s < sizeof images / sizeof *images; s++) {
        OWNED(described_release) struct described texture = {0};
        describe_texture(&texture, _i, &images[s]);
        const struct sift_image *image = &texture.image;
        const struct sift_grid *grid = &texture.grid;
        uint32_t n = (uint32_t)(grid->n_columns * grid->n_rows);
        ck_assert_int_eq(sift_image_n_cells(image, images[s].step_px), n);
        OWNED_ARRAY uint32_t *cells = malloc(n * sizeof *cells);
        OWNED_ARRAY uint8_t *values = malloc((size_t)n * SIZE);
        for (uint32_t k = 0; k < n; k++)
            cells[k] = n - 1 - k;
        must(sift_image_sample(values, image, images[s].bin_px, images[s].step_px, cells, n, err));
        for (uint32_t k = 0; k < n; k++)
            ck_assert_mem_eq(values + (size_t)k * SIZE, grid->values + (size_t)cells[k] * SIZE, SIZE);
    }
}

/* The grids that strips must agree with, and the rows that have come so far. */
struct followed {
    const struct sift_grid *grids; /* [n_scales] */
    int32_t n_rows[CLV_MAX_SCALES];
};

static enum clv_status follow(void *context, const struct sift_strip *strip, struct clv_error *err)
{
    struct followed *self = context;
    const struct sift_grid *grid = &self->grids[strip->scale];
    size_t row_size = (size_t)grid->n_columns * SIZE;
    (void)err;
    ck_assert_int_eq(strip->n_columns, grid->n_columns);
    ck_assert_int_eq(strip->first_row, self->n_rows[strip->scale]);
    self->n_rows[strip->scale] += strip->n_rows;
    ck_assert_int_le(self->n_rows[strip->scale], grid->n_rows);
    ck_assert_mem_eq(strip->values, grid->values + (size_t)strip->first_row * row_size,
                     (size_t)strip->n_rows * row_size);
    return CLV_OK;
}

TESTS(strips_follow_each_other_through_the_grid_of_every_scale, CLV_SIFT_CLEAVE, CLV_SIFT_VLFEAT + 1)
{
    static const struct sizes images[] = {
        {1, 1, 2, 3}, {37, 23, 4, 3}, {SIFT_STRIP_CELLS + 1, 9, 2, 1}, {400, 301, 8, 2}};
    for (size_t s = 0; s < sizeof images / sizeof *images; s++) {
        OWNED(described_release) struct described texture = {0};
        describe_texture(&texture, _i, &images[s]);
        texture.recipe.n_scales = 2;
        texture.recipe.bin_size_px[1] = 5;
        OWNED(sift_grid_release) struct sift_grid second =
            describe_by(_i, texture.rgb, images[s].width, images[s].height, 5, images[s].step_px);
        const struct sift_grid grids[] = {texture.grid, second};
        struct followed followed = {.grids = grids};
        must(sift_describe_strips(texture.rgb, images[s].width, images[s].height, &texture.recipe, follow, &followed,
                                  err));
        ck_assert_int_eq(followed.n_rows[0], texture.grid.n_rows);
        ck_assert_int_eq(followed.n_rows[1], second.n_rows);
    }
}

static enum clv_status refuse(void *context, const struct sift_strip *strip, struct clv_error *err)
{
    int *n_calls = context;
    (void)strip;
    return ++*n_calls == 2 ? fail(err, CLV_ERR_DATA, "enough") : CLV_OK;
}

TESTS(a_failure_ends_the_strips, CLV_SIFT_CLEAVE, CLV_SIFT_VLFEAT + 1)
{
    OWNED(described_release) struct described texture = {0};
    int n_calls = 0;
    describe_texture(&texture, _i, &(struct sizes){37, 23, 4, 3});
    texture.recipe.n_scales = 3;
    texture.recipe.bin_size_px[1] = texture.recipe.bin_size_px[2] = 5;
    ck_assert_int_eq(sift_describe_strips(texture.rgb, 37, 23, &texture.recipe, refuse, &n_calls, NULL), CLV_ERR_DATA);
    ck_assert_int_eq(n_calls, 2);
}

TESTS(flat_images_have_zero_descriptors, CLV_SIFT_CLEAVE, CLV_SIFT_VLFEAT + 1)
{
    uint8_t rgb[30 * 20 * 3];
    memset(rgb, 200, sizeof rgb);
    OWNED(sift_grid_release) struct sift_grid grid = describe_by(_i, rgb, 30, 20, 6, 3);
    for (int32_t k = 0; k < grid.n_columns * grid.n_rows * SIZE; k++)
        ck_assert_int_eq(grid.values[k], 0);
}

TEST(the_largest_windows_of_the_strongest_gradients_do_not_overflow)
{
    /* Stripes of 2 black, 2 white pixels have the largest gradient everywhere. A wrapped sum would break the
     * symmetry. */
    enum { SIDE = 200 };
    OWNED_ARRAY uint8_t *rgb = malloc(SIDE * SIDE * 3);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            memset(rgb + (y * SIDE + x) * 3, x / 2 % 2 ? 255 : 0, 3);
    OWNED(sift_grid_release) struct sift_grid grid = describe(rgb, SIDE, SIDE, CLV_MAX_BIN_PX, 8);
    const uint8_t *middle = grid.values + (12 * grid.n_columns + 12) * SIZE;
    for (int b = 0; b < 16; b++) {
        ck_assert_int_gt(middle[b * 8], 20);
        ck_assert_int_le(abs(middle[b * 8] - middle[b * 8 + 4]), 1);
        ck_assert_int_eq(middle[b * 8 + 2], 0);
    }
}

TEST(large_windows_do_not_depend_on_what_is_elsewhere)
{
    /* Running sums wrap around many times over a large noisy image; cells far from a change must not notice it. */
    enum { W = 900, H = 700 };
    OWNED_ARRAY uint8_t *rgb = malloc((size_t)W * H * 3);
    for (size_t k = 0; k < (size_t)W * H * 3; k++)
        rgb[k] = (uint8_t)rng_below(1, RNG_STREAM(RNG_TEST, 3), k, 256);
    OWNED(sift_grid_release) struct sift_grid before = describe(rgb, W, H, 12, 3);
    memset(rgb, 0, (size_t)W * 100 * 3);
    OWNED(sift_grid_release) struct sift_grid after = describe(rgb, W, H, 12, 3);
    size_t row_bytes = (size_t)before.n_columns * SIZE, first = 132 / 3; /* 100 + 2.5 bins and the gradient's reach */
    ck_assert_mem_eq(before.values + first * row_bytes, after.values + first * row_bytes,
                     ((size_t)before.n_rows - first) * row_bytes);
    ck_assert_mem_ne(before.values, after.values, 20 * row_bytes);
}
