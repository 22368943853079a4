#include <math.h>

#include "base/base.h"
#include "feature/blocks/blocks.h"
#include "support/support.h"

enum { MOST = 3 };

static struct kernel_map map_of(int32_t kind)
{
    struct clv_recipe recipe;
    struct kernel_map map;
    clv_recipe_init(&recipe);
    recipe.kernel_map = kind;
    must(kernel_map_init(&map, &recipe, err));
    ck_assert_int_eq(map.size, kernel_map_size(&recipe));
    return map;
}

static double kernel(int32_t kind, double h, double g)
{
    if (kind == CLV_KERNEL_MAP_NONE)
        return sqrt(h * g);
    if (kind == CLV_KERNEL_MAP_CHI2)
        return h + g > 0 ? 2 * h * g / (h + g) : 0;
    return h < g ? h : g;
}

static double mapped_product(const struct kernel_map *map, float h, float g)
{
    float a[MOST], b[MOST];
    double sum = 0;
    kernel_map_share(a, map, h);
    kernel_map_share(b, map, g);
    for (int32_t k = 0; k < map->size; k++)
        sum += (double)a[k] * (double)b[k];
    return sum;
}

static const double bounds[] = {1e-6, 0.06, 0.16}; /* by enum clv_kernel_map, as kernel_map.c states them */

/* The error of two histograms' kernel is at most the largest of |error| / ((h + g) / 2) over their bins. */
TESTS(products_of_mapped_shares_approximate_the_kernel, CLV_KERNEL_MAP_NONE, CLV_KERNEL_MAP_INTERSECTION + 1)
{
    OWNED(kernel_map_release) struct kernel_map map = map_of(_i);
    double worst = 0;
    for (float h = 1; h > 1e-5f; h *= 0.83f)
        for (float g = 1; g > 1e-5f; g *= 0.91f)
            worst = fmax(worst, fabs(mapped_product(&map, h, g) - kernel(_i, h, g)) / ((h + g) / 2));
    ck_assert_double_lt(worst, bounds[_i]);
    if (_i != CLV_KERNEL_MAP_NONE)
        ck_assert_double_gt(worst, bounds[_i] / 2); /* the bound says something */
}

TESTS(histograms_are_compared_by_the_kernel_asked_for, CLV_KERNEL_MAP_NONE, CLV_KERNEL_MAP_INTERSECTION + 1)
{
    enum { BINS = 40 };
    OWNED(kernel_map_release) struct kernel_map map = map_of(_i);
    for (uint64_t trial = 0; trial < 20; trial++) {
        double h[BINS], g[BINS], sum_h = 0, sum_g = 0, exact = 0, mapped = 0;
        for (int b = 0; b < BINS; b++) {
            h[b] = pow(rng_uniform(trial, RNG_STREAM(RNG_TEST, 0), (uint64_t)b), 8);
            g[b] = b % 3 ? pow(rng_uniform(trial, RNG_STREAM(RNG_TEST, 1), (uint64_t)b), 8) : 0;
            sum_h += h[b];
            sum_g += g[b];
        }
        for (int b = 0; b < BINS; b++) {
            exact += kernel(_i, h[b] / sum_h, g[b] / sum_g);
            mapped += mapped_product(&map, (float)(h[b] / sum_h), (float)(g[b] / sum_g));
        }
        ck_assert_double_lt(fabs(mapped - exact), bounds[_i]);
    }
}

TESTS(shares_of_nothing_and_next_to_nothing_are_zero, CLV_KERNEL_MAP_NONE, CLV_KERNEL_MAP_INTERSECTION + 1)
{
    OWNED(kernel_map_release) struct kernel_map map = map_of(_i);
    static const float small[] = {0, 1e-7f, 1e-30f, 1e-45f};
    for (size_t k = 0; k < sizeof small / sizeof *small; k++) {
        float numbers[MOST] = {7, 7, 7};
        kernel_map_share(numbers, &map, small[k]);
        for (int32_t c = 0; c < map.size; c++)
            ck_assert(fabsf(numbers[c]) <= sqrtf(small[k]));
        for (int32_t c = map.size; c < MOST; c++)
            ck_assert_float_eq(numbers[c], 7);
    }
}
