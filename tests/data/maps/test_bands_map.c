/* Maps of an image's bands at a reduced size. */
#include <math.h>

#include "data/data.h"
#include "data/maps/maps.h"
#include "support/support.h"

/* 5 x 7 pixels become 3 x 4. The first pixel has no value, nor has another one. */
TEST(a_pixel_of_a_smaller_map_is_the_mean_of_the_values_that_it_covers)
{
    enum { WIDTH = 5, HEIGHT = 7, ACROSS = 3, DOWN = 4 };
    static const int left[] = {0, 1, 3, 5}, top[] = {0, 1, 3, 5, 7}; /* k 5 / 3 and k 7 / 4, rounded down */
    float values[HEIGHT][WIDTH];
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        values[i / WIDTH][i % WIDTH] = i == 0 || i == 23 ? NAN : (float)(i * i % 61);
    const struct clv_array array = {CLV_NUMBER_F32, 2, {HEIGHT, WIDTH}, values};
    const struct clv_item item = {.bands = &array};
    const struct clv_bands bands = {.n_bands = 1, .middle = {-7}, .scale = 2};
    const struct clv_image_limits limits = {.bands = &bands};
    const struct image_part whole = {0, 0, WIDTH, HEIGHT, WIDTH, HEIGHT}, corner = {1, 2, 2, 2, ACROSS, DOWN};
    OWNED(clv_map_release) struct clv_map map = {0}, part = {0};
    must(bands_map_read(&map, &item, &limits, err));
    must(bands_map_part(&part, &corner, &values[0][0], &whole, &bands, err));
    ck_assert(map.width == ACROSS && map.height == DOWN && map.n_channels == 1);
    for (int y = 0; y < DOWN; y++)
        for (int x = 0; x < ACROSS; x++) {
            double sum = 0, n = 0;
            for (int v = top[y]; v < top[y + 1]; v++)
                for (int u = left[x]; u < left[x + 1]; u++)
                    if (!isnan(values[v][u])) {
                        sum += (double)values[v][u];
                        n++;
                    }
            float wanted = n > 0 ? (float)(sum / n) : -7;
            ck_assert_float_eq_tol(map.values[y * ACROSS + x], wanted, 1e-5F);
            if (x >= corner.left && y >= corner.top)
                ck_assert_float_eq(part.values[(y - corner.top) * 2 + x - corner.left], map.values[y * ACROSS + x]);
        }
}
