/* What nodes and edges say of maps, by its definition. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "feature/blocks/blocks.h"
#include "support/support.h"

enum { WIDTH = 4, HEIGHT = 3, N = WIDTH * HEIGHT, REGIONS = 3, CHANNELS = 3, BINS = 9 };

/* A map of probabilities and one of two features, of the scene's size: no value is between pixels. */
static float probability[N] = {0.5F, 0.9F, 0.2F, 0, 1, 0.6F, 0.3F, 0.7F, 0.4F, 0.05F, 0.99F, 0.8F},
             features[2 * N] = {1, 5, -2, 9,    0,  3, 3, -4, 2, 8, 1,  6, /* the second one reaches the clip */
                                0, 2, 4,  -100, 90, 1, 0, 2,  5, 3, -1, 2},
             standard[] = {3, 1, 0.25F, 0.5F};
static int32_t start[] = {0, 4, 9, N}, pixel[] = {0, 1, 4, 5, 2, 3, 6, 7, 11, 8, 9, 10};
static const struct scene scene = {
    .width = WIDTH, .height = HEIGHT, .n_regions = REGIONS, .start = start, .pixel = pixel};
static const struct map_reader maps[] = {
    {.map = {.width = WIDTH, .height = HEIGHT, .n_channels = 1, .values = probability}},
    {.map = {.width = WIDTH, .height = HEIGHT, .n_channels = 2, .values = features}}};
static const struct clv_recipe recipe = {
    .blocks = CLV_BLOCK_MAPS,
    .n_maps = 2,
    .map_pool = CLV_MAP_MEAN | CLV_MAP_MAX | CLV_MAP_DEVIATION,
    .maps = {{.name = "net", .kind = CLV_MAP_PROBABILITIES, .n_channels = 1},
             {.name = "deep", .kind = CLV_MAP_FEATURES, .n_channels = 2, .standard = standard}}};

/* A pixel's value as the recipe reads it, of channel 0 (probability), 1 or 2 (features). */
static double value_at(int channel, int p)
{
    double raw = (double)(channel ? features[(channel - 1) * N + p] : probability[p]);
    double value =
        channel ? (raw - (double)standard[channel - 1]) * (double)standard[channel + 1] : log(raw / (1 - raw));
    return fmin(fmax(value, -6), 6);
}

/* Mean, largest value and deviation over a region's pixels. */
static void measure(double *measures, int region, int channel)
{
    double sum = 0, squares = 0, n = start[region + 1] - start[region];
    measures[1] = -INFINITY;
    for (int k = start[region]; k < start[region + 1]; k++) {
        sum += value_at(channel, pixel[k]) / n;
        measures[1] = fmax(measures[1], value_at(channel, pixel[k]));
    }
    for (int k = start[region]; k < start[region + 1]; k++)
        squares += pow(value_at(channel, pixel[k]) - sum, 2) / n;
    measures[0] = sum;
    measures[2] = sqrt(squares);
}

TEST(a_node_says_mean_bins_maximum_and_deviation_of_every_channel)
{
    OWNED(map_pool_release) struct map_pool pool = {0};
    float row[64], unit;
    char name[64];
    must(map_pool_init(&pool, &scene, maps, NULL, &recipe, err));
    const struct views views = {.recipe = &recipe, .image = scene, .pooled = pool};
    ck_assert_int_eq(maps_size(&recipe), 1 + (3 + BINS) + 2 * 3);
    for (int r = 0; r < REGIONS; r++) {
        int at = 1;
        memset(row, 0, sizeof row);
        maps_fill(row, &views, r);
        ck_assert(row[0] == 1);
        for (int c = 0; c < CHANNELS; c++) {
            double measures[3], weight = c ? sqrt(0.5) : 1, scale = c ? weight : weight / 6;
            measure(measures, r, c);
            ck_assert_float_eq_tol(row[at], (float)(scale * measures[0]), 1e-5F);
            at++;
            for (int b = 0; c == 0 && b < BINS; b++, at++) /* hats whose tops are 1.5 apart */
                ck_assert_float_eq_tol(row[at], (float)fmax(0, 1 - fabs(measures[0] - (1.5 * b - 6)) / 1.5), 1e-5F);
            ck_assert_float_eq_tol(row[at], (float)(scale * measures[1]), 1e-5F);
            ck_assert_float_eq_tol(row[at + 1], (float)(scale * measures[2]), 1e-5F);
            at += 2;
        }
    }
    ck_assert_int_eq(maps_mean_column(&unit, &recipe, 1, 1), 1 + 12 + 3);
    ck_assert_float_eq_tol(unit, sqrtf(0.5F), 1e-6F);
    ck_assert_int_eq(maps_mean_column(&unit, &recipe, 0, 0), 1);
    ck_assert_float_eq_tol(unit, 1 / 6.0F, 1e-6F);
    static const char *const names[] = {"bias of maps", "map net channel 0 mean", "map net channel 0 mean bin 0"};
    for (int32_t k = 0; k < 3; k++) {
        maps_name(name, sizeof name, &recipe, k);
        ck_assert_str_eq(name, names[k]);
    }
    static const char *const last[] = {"map deep channel 1 mean", "map deep channel 1 maximum",
                                       "map deep channel 1 deviation"};
    for (int32_t k = 0; k < 3; k++) {
        maps_name(name, sizeof name, &recipe, 16 + k);
        ck_assert_str_eq(name, last[k]);
    }
}

/* Of probabilities 1 less the largest difference, of features exp(- d^2 / (2 mean d^2)); both times the border's length
 * in sides, but for patches. */
TEST(an_edge_says_how_alike_its_nodes_are)
{
    int32_t pairs[][2] = {{0, 1}, {1, 2}};
    float lengths[] = {3, 5}, filled[2][4];
    const struct clv_adjacency adjacency = {
        .n_nodes = REGIONS, .n_edges = 2, .edges = pairs, .boundary_length = lengths};
    double mean[REGIONS][CHANNELS], square[2] = {0};
    OWNED(map_pool_release) struct map_pool pool = {0};
    must(map_pool_init(&pool, &scene, maps, NULL, &recipe, err));
    for (int r = 0; r < REGIONS; r++)
        for (int c = 0; c < CHANNELS; c++) {
            double measures[3];
            measure(measures, r, c);
            mean[r][c] = measures[0];
        }
    for (int e = 0; e < 2; e++)
        for (int c = 1; c < CHANNELS; c++)
            square[e] += pow(mean[e][c] - mean[e + 1][c], 2);
    for (int is_patch = 0; is_patch < 2; is_patch++) {
        struct clv_recipe own = recipe;
        own.nodes = is_patch ? CLV_NODES_PATCHES : CLV_NODES_SUPERPIXELS;
        ck_assert_int_eq(map_edge_count(&own), 2);
        memset(filled, 0, sizeof filled);
        map_edges_fill(*filled, 4, &adjacency, &pool, &own, 2);
        for (int e = 0; e < 2; e++) {
            double p = 1 / (1 + exp(-mean[e][0])), q = 1 / (1 + exp(-mean[e + 1][0]));
            double length = is_patch ? 1 : (double)lengths[e] / 2, beta = 2 / (2 * (square[0] + square[1]));
            ck_assert(filled[e][0] == 0 && filled[e][1] == 0); /* other features' */
            ck_assert_float_eq_tol(filled[e][2], (float)(length * (1 - fabs(p - q))), 1e-5F);
            ck_assert_float_eq_tol(filled[e][3], (float)(length * exp(-beta * square[e])), 1e-5F);
        }
    }
}

/* Of so many pixels that components are made one at a time, in any order, and anew after a failure. */
TEST(components_of_a_large_map_are_sums_over_its_channels)
{
    enum { SIDE = 3000 };
    static float components[] = {0.5F, -2, 3, 0.25F};
    struct clv_recipe_map map = recipe.maps[1];
    struct map_reader reader = {.map = {.width = SIDE, .height = SIDE, .n_channels = 2}};
    OWNED(map_ready_release) struct map_ready ready = {0};
    const float *values;
    size_t n = (size_t)SIDE * SIDE;
    map.n_components = 2;
    map.components = components;
    reader.map.values = calloc(2 * n, sizeof(float));
    for (size_t p = 0; p < 2 * n; p++)
        reader.map.values[p] = (float)(p % 97) / 50;
    must(map_ready_init(&ready, &reader, &map, err));
    ck_assert_int_eq(ready.at_once, 1);
    static const int order[] = {0, 1, 0};
    for (int i = 0; i < 3; i++) {
        size_t n_wrong = 0, k = (size_t)order[i];
        must(map_ready_channel(&values, &ready, order[i], err));
        for (size_t p = 0; p < n; p++) {
            double sum = 0;
            for (size_t c = 0; c < 2; c++)
                sum += (double)components[2 * k + c] * (double)standard[2 + c] *
                       ((double)reader.map.values[c * n + p] - (double)standard[c]);
            n_wrong += fabs((double)values[p] - fmin(fmax(sum, -6), 6)) > 1e-5;
        }
        ck_assert_uint_eq(n_wrong, 0);
    }
    free(reader.map.values);
}

/* A model's file can say so, though no training does. */
TEST(components_of_a_map_without_a_scale_are_refused)
{
    static float components[] = {1, 1};
    struct clv_recipe_map map = recipe.maps[1];
    struct map_ready ready;
    map.kind = CLV_MAP_LOGITS;
    map.n_components = 1;
    map.components = components;
    map.standard = NULL;
    must_fail(CLV_ERR_USAGE, "map deep: the recipe has not learned its scale",
              map_ready_init(&ready, &maps[1], &map, err));
}

TEST(maps_without_components_take_no_memory_for_sums)
{
    struct map_ready ready;
    for (int m = 0; m < 2; m++) {
        must(map_ready_init(&ready, &maps[m], &recipe.maps[m], err));
        ck_assert(ready.channel && !ready.sums);
        map_ready_release(&ready);
    }
}
