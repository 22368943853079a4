/* Bins of colours and their smoothing, by their definitions. */
#include <stdlib.h>

#include "refine/bin_kernel.h"
#include "refine/refine.h"
#include "support/support.h"

TEST(a_colour_s_number_is_of_its_bins_of_lightness_a_and_b)
{
    static const struct {
        float lab[3];
        int32_t n_bins, number;
    } colours[] = {
        {{0, -50, -50}, 12, 0},
        {{100, 49.9F, 49.9F}, 12, 1727},
        {{8.33F, -41.7F, -41.7F}, 12, 0}, /* a bin is 8.334 of lightness, 8.333 of a and b */
        {{8.34F, -41.7F, -41.7F}, 12, 144},
        {{8.33F, -41.6F, -41.7F}, 12, 12},
        {{8.33F, -41.7F, -41.6F}, 12, 1},
        {{50, 0, 0}, 24, (11 * 24 + 12) * 24 + 12},
        {{-20, -90, -90}, 12, 0}, /* beyond the ends: the last bins */
        {{120, 90, 90}, 12, 1727},
    };
    for (size_t k = 0; k < sizeof colours / sizeof *colours; k++)
        ck_assert_int_eq(colour_bin(colours[k].lab, colours[k].n_bins), colours[k].number);
}

/* Whole numbers, whose quarters are exact. */
static void check_smoothed(int n_outer, int n, int n_inner)
{
    OWNED_ARRAY float *values = calloc((size_t)(n_outer * n * n_inner), sizeof *values);
    int n_all = n_outer * n * n_inner;
    for (int i = 0; i < n_all; i++)
        values[i] = (float)(i % 7 * (i % 3)); /* some are 0 */
    colour_bins_smooth(values, (size_t)n_outer, (size_t)n, (size_t)n_inner);
    for (int i = 0; i < n_all; i++) {
        double expected = 0;
        for (int k = 0; k < n; k++) {
            int other = i / (n * n_inner) * n * n_inner + k * n_inner + i % n_inner;
            expected += kernel(i / n_inner % n, k) * (other % 7 * (other % 3));
        }
        ck_assert_msg((double)values[i] == expected, "%d of %d: %g, not %g", i, n_all, (double)values[i], expected);
    }
}

TEST(smoothing_is_of_neighbours_along_the_middle_index_and_nothing_comes_from_beyond)
{
    check_smoothed(1, 1, 1);
    check_smoothed(1, 5, 1);
    check_smoothed(3, 4, 5);
    check_smoothed(2, 3, 12 * 1728); /* as much as is worked on at once */
    check_smoothed(2, 2, 30000);
}

TEST(tables_are_smoothed_along_all_three_directions_each_by_itself)
{
    enum { BINS = 4, ALL = BINS * BINS * BINS };
    static const int32_t at[2] = {(1 * BINS + 2) * BINS + 3, 0};
    float tables[2][ALL] = {{0}};
    for (int t = 0; t < 2; t++)
        tables[t][at[t]] = 64;
    colour_bins_smooth_all(tables[0], 2, BINS);
    for (int t = 0; t < 2; t++)
        for (int32_t c = 0; c < ALL; c++)
            ck_assert_double_eq((double)tables[t][c], 64 * colour_kernel(at[t], c, BINS));
}
