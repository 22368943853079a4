#include <math.h>

#include "data/maps/maps.h"
#include "support/support.h"

enum { W = 101, H = 61 };

static float values[2][H][W];

static struct clv_map drawn(void)
{
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            values[0][y][x] = x == 50 && y == 30;
            values[1][y][x] = 7;
        }
    return (struct clv_map){.width = W, .height = H, .n_channels = 2, .values = &values[0][0][0]};
}

/* Two pixels of a map over four of an image: centres are at .25 and .75, and at .125, .375, .625, .875. */
TEST(a_map_is_read_between_the_centres_of_its_pixels)
{
    static float pixels[2][2] = {{0, 1}, {4, 5}};
    static const float wanted[] = {0, 0.25F, 0.75F, 1};
    OWNED(map_grid_release) struct map_grid grid = {0};
    float plane[4][4];
    must(map_grid_init(&grid, 2, 2, 4, 4, err));
    map_sample(&plane[0][0], &grid, &pixels[0][0]);
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 4; x++)
            ck_assert_float_eq(plane[y][x], 4 * wanted[y] + wanted[x]);
}

TEST(a_point_spreads_by_the_asked_variances_and_what_is_even_stays)
{
    struct clv_map map = drawn();
    must(map_blur(&map, 6, 2.5, err));
    double sum = 0, across = 0, down = 0, middle = 0;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            double value = (double)values[0][y][x];
            sum += value;
            middle += value * x;
            across += value * (x - 50) * (x - 50);
            down += value * (y - 30) * (y - 30);
            ck_assert_float_eq_tol(values[1][y][x], 7, 1e-5F);
        }
    ck_assert_double_eq_tol(sum, 1, 1e-4);
    ck_assert_double_eq_tol(middle, 50, 1e-2);
    ck_assert_double_eq_tol(across, 36, 0.5);
    ck_assert_double_eq_tol(down, 6.25, 0.5);
}

TEST(less_than_half_a_pixel_changes_nothing_and_the_border_goes_on_beyond_itself)
{
    struct clv_map map = drawn();
    must(map_blur(&map, 0.4, 0, err));
    ck_assert_float_eq(values[0][30][50], 1);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            values[0][y][x] = x < 50;
    must(map_blur(&map, 10, 200, err)); /* wider than the map is high */
    ck_assert_float_eq_tol(values[0][0][0], 1, 1e-5F);
    ck_assert_float_eq_tol(values[0][60][100], 0, 1e-5F);
    ck_assert_float_eq_tol(values[0][30][49] + values[0][30][50], 1, 1e-4F);
}
