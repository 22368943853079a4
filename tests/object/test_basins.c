/* Watershed of maps, distances and filters against plain definitions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "object/object.h"
#include "pixel_net/pixel_net.h"
#include "support/support.h"

enum { WIDTH = 23, HEIGHT = 17, N = WIDTH * HEIGHT };

TEST(peaks_are_one_region_unless_they_rise_enough)
{
    float map[9] = {1, 5, 2, 4, 1, 3, 9, 0, 7};
    uint8_t inside[9];
    int32_t regions[9], n;
    memset(inside, 1, sizeof inside);
    must(basins_find(regions, &n, &(struct basin_map){map, inside, 9, 1}, 0, err));
    static const int32_t each[] = {1, 1, 1, 2, 2, 3, 3, 4, 4};
    ck_assert_int_eq(n, 4);
    ck_assert_mem_eq(regions, each, 3 * sizeof *regions);
    must(basins_find(regions, &n, &(struct basin_map){map, inside, 9, 1}, 2.5, err)); /* 4 rises by 2 above 2 */
    ck_assert_int_eq(n, 3);
    ck_assert_int_eq(regions[1], regions[3]);
    ck_assert_int_ne(regions[6], regions[8]);
    inside[4] = 0;
    must(basins_find(regions, &n, &(struct basin_map){map, inside, 9, 1}, 100, err));
    ck_assert_int_eq(n, 2);
    ck_assert_int_eq(regions[4], 0);
}

TEST(regions_are_in_one_piece_and_numbered_by_their_first_pixels)
{
    for (uint64_t round = 0; round < 30; round++) {
        float map[N];
        uint8_t inside[N];
        int32_t regions[N], n, met = 0, merged;
        for (uint64_t i = 0; i < N; i++) {
            map[i] = (float)rng_below(round, 1, i, 8);
            inside[i] = rng_below(round, 2, i, 5) > 0;
        }
        must(basins_find(regions, &n, &(struct basin_map){map, inside, WIDTH, HEIGHT}, 0, err));
        must(basins_find(regions, &merged, &(struct basin_map){map, inside, WIDTH, HEIGHT}, 3, err));
        ck_assert_int_le(merged, n);
        int32_t pieces[N], first[N + 1] = {0}, changed = 1;
        for (int32_t i = 0; i < N; i++) {
            ck_assert_int_eq(regions[i] > 0, inside[i]);
            ck_assert_int_le(regions[i], met + 1);
            met = regions[i] > met ? regions[i] : met;
            pieces[i] = i;
        }
        ck_assert_int_eq(met, merged);
        while (changed) {
            changed = 0;
            for (int32_t i = 0; i < N; i++)
                for (int d = 0; d < 2; d++) {
                    int32_t j = d ? i + WIDTH : i + 1;
                    if ((d ? j >= N : j % WIDTH == 0) || regions[i] != regions[j] || pieces[i] == pieces[j])
                        continue;
                    pieces[i] = pieces[j] = pieces[i] < pieces[j] ? pieces[i] : pieces[j];
                    changed = 1;
                }
        }
        for (int32_t i = 0; i < N; i++) {
            if (regions[i] && !first[regions[i]])
                first[regions[i]] = i + 1;
            if (regions[i])
                ck_assert_int_eq(pieces[i], first[regions[i]] - 1);
        }
    }
}

TEST(distances_are_those_to_the_nearest_pixel_of_another_value)
{
    int32_t values[N];
    float distance[N];
    for (uint64_t i = 0; i < N; i++)
        values[i] = (int32_t)(i % WIDTH) / 9 + 3 * ((int32_t)(i / WIDTH) / 8);
    filter_distance(distance, values, WIDTH, HEIGHT, 50);
    for (int i = 0; i < N; i++) {
        double nearest = INFINITY;
        for (int j = 0; j < N; j++)
            if (values[j] != values[i])
                nearest = fmin(nearest, hypot(i % WIDTH - j % WIDTH, i / WIDTH - j / WIDTH));
        ck_assert_double_ge((double)distance[i], nearest - 1e-4);
        ck_assert_double_le((double)distance[i], 1.09 * nearest); /* chamfer distances are 8 % too long at most */
    }
}

/* The Gaussian's limit is the pixel itself. The square of the second deviation is 0 as a double. */
TEST(the_narrowest_gaussians_change_nothing)
{
    static const double narrow[] = {0, 1e-200};
    float in[N], out[N];
    for (uint64_t i = 0; i < N; i++)
        in[i] = (float)rng_uniform(4, 4, i);
    for (int k = 0; k < 2; k++) {
        must(filter_gauss(out, in, WIDTH, HEIGHT, narrow[k], err));
        ck_assert_mem_eq(out, in, sizeof in);
    }
}

TEST(filters_are_their_definitions)
{
    float in[N], out[N], wide[N], high[N], low[N];
    double weight[2] = {0}, want[2] = {0};
    int y = 5, x = 2;
    for (uint64_t i = 0; i < N; i++)
        in[i] = (float)rng_uniform(4, 4, i);
    must(filter_gauss(out, in, WIDTH, HEIGHT, 1.5, err));
    must(
        filter_gauss(wide, in, WIDTH, HEIGHT, 2, err)); /* 13 pixels, which leave another rest of those added at once */
    must(filter_extremes(high, low, in, WIDTH, HEIGHT, 3, err));
    float most = 0, least = 1;
    for (int v = -6; v <= 6; v++)
        for (int u = -6; u <= 6; u++) {
            int row = y + v < 0 ? 0 : y + v, column = x + u < 0 ? 0 : x + u;
            float value = in[row * WIDTH + column];
            for (int k = 0; k < 2; k++)
                if (abs(u) <= 5 + k && abs(v) <= 5 + k) {
                    weight[k] += exp(-(u * u + v * v) / (k ? 8 : 4.5));
                    want[k] += exp(-(u * u + v * v) / (k ? 8 : 4.5)) * (double)value;
                }
            if (abs(u) <= 3 && abs(v) <= 3) {
                most = fmaxf(most, value);
                least = fminf(least, value);
            }
        }
    ck_assert_double_eq_tol((double)out[y * WIDTH + x], want[0] / weight[0], 1e-5);
    ck_assert_double_eq_tol((double)wide[y * WIDTH + x], want[1] / weight[1], 1e-5);
    ck_assert_float_eq(high[y * WIDTH + x], most);
    ck_assert_float_eq(low[y * WIDTH + x], least);
}
