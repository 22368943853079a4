/* What a recipe learns of maps of features, from maps that are drawn here. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "feature/blocks/blocks.h"
#include "feature/recipe/recipe.h"
#include "image/raster/raster.h"
#include "support/sample.h"
#include "support/support.h"

enum { WIDTH = 12, HEIGHT = 8, N_PIXELS = WIDTH * HEIGHT, N_IMAGES = 12, MAX_CHANNELS = 6 };

/* value of a channel at a pixel of an image, where y is the label. */
typedef double channel_value(int image, int channel, int pixel, int y);

static double noise(int image, int channel, int pixel)
{
    return rng_uniform(9, RNG_STREAM(RNG_TEST, (uint64_t)channel), (uint64_t)(image * N_PIXELS + pixel)) - 0.5;
}

/* The second channel is three times the first one, the third one goes its own way. */
static double tied(int image, int channel, int pixel, int y)
{
    (void)y;
    return channel == 0   ? noise(image, 0, pixel)
           : channel == 1 ? 7 + 3 * noise(image, 0, pixel)
                          : noise(image, 2, pixel);
}

/* Foreground and background differ in all channels; in the last images in other ones, as from another network. */
static double of_two_networks(int image, int channel, int pixel, int y)
{
    int other = image < N_IMAGES / 2;
    return y * (other ^ (channel & 1) ? 1.0 : -1.0) * (channel < 3 || other ? 1 : -1) +
           0.2 * noise(image, channel, pixel);
}

static double of_one_network(int image, int channel, int pixel, int y)
{
    return of_two_networks(0, channel, pixel, y) + 0.5 * noise(image, channel, 1);
}

/* Nothing but noise: directions are anywhere. */
static double of_no_network(int image, int channel, int pixel, int y)
{
    (void)y;
    return noise(image, channel, pixel);
}

static double of_two_far_off(int image, int channel, int pixel, int y)
{
    return of_one_network(image, channel, pixel, y) + (channel & 1 ? 2 : -1);
}

static int is_foreground(int pixel)
{
    return pixel % WIDTH > 4 && pixel % WIDTH < 9;
}

/* images, masks and maps in .npy of [n_channels][HEIGHT][WIDTH]. */
static void make_set(struct clv_set *set, int n_channels, channel_value *value)
{
    static float values[1025 * N_PIXELS];
    OWNED(clv_image_release) struct clv_image grey = {0};
    uint8_t truth[N_PIXELS];
    run_here("rm -rf set maps && mkdir -p set/images set/masks maps");
    must(clv_image_new(&grey, WIDTH, HEIGHT, 3, err));
    for (int i = 0; i < N_IMAGES; i++) {
        char header[129];
        must(clv_png_write(here("set/images/%02d.png", i), &grey, err));
        for (int p = 0; p < N_PIXELS; p++)
            truth[p] = (uint8_t)is_foreground(p);
        must(clv_png_write_labels(here("set/masks/%02d.png", i), WIDTH, HEIGHT, truth, NULL, 0, err));
        for (int c = 0; c < n_channels; c++)
            for (int p = 0; p < N_PIXELS; p++)
                values[c * N_PIXELS + p] = (float)value(i, c, p, is_foreground(p));
        FILE *stream = fopen(here("maps/%02d.npy", i), "wb");
        ck_assert_ptr_nonnull(stream);
        snprintf(header, sizeof header, "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d, %d), }", n_channels,
                 HEIGHT, WIDTH);
        fwrite("\x93NUMPY\1\0v\0", 1, 10, stream);
        fprintf(stream, "%-117s\n", header);
        fwrite(values, sizeof *values, (size_t)n_channels * N_PIXELS, stream);
        ck_assert_int_eq(fclose(stream), 0);
    }
    must(clv_set_read(set, here("set"), err));
    must(clv_set_add_maps(set, "net", here("maps"), err));
}

static struct clv_recipe recipe_of_maps(int blocks, int n_components)
{
    struct clv_recipe recipe;
    clv_recipe_init(&recipe);
    recipe.blocks = blocks | CLV_BLOCK_MAPS;
    recipe.n_maps = 1;
    recipe.map_pool = CLV_MAP_MEAN;
    recipe.maps[0] = (struct clv_recipe_map){
        .name = "net", .kind = CLV_MAP_FEATURES, .layout = CLV_MAP_LAYOUT_CHW, .n_components = n_components};
    return recipe;
}

TEST(two_tied_channels_are_one_component)
{
    OWNED(clv_set_release) struct clv_set set = {0};
    make_set(&set, 3, tied);
    for (int is_whitened = 0; is_whitened < 2; is_whitened++) {
        OWNED(clv_recipe_release) struct clv_recipe recipe = recipe_of_maps(CLV_BLOCK_SIZE, 3),
                                                    same = recipe_of_maps(CLV_BLOCK_SIZE, 3);
        recipe.maps[0].is_whitened = same.maps[0].is_whitened = is_whitened;
        must(recipe_learn_maps(&recipe, &set, 1, NULL, NULL, err));
        must(recipe_learn_maps(&same, &set, 3, NULL, NULL, err));
        const float *components = recipe.maps[0].components;
        ck_assert_mem_eq(components, same.maps[0].components, 9 * sizeof *components);
        float unit = 0.5F, third = is_whitened ? 1 : sqrtf(0.5F); /* variances 2, 1, 0 */
        const float expected[] = {unit, unit, 0, 0, 0, third, 0, 0, 0};
        for (int k = 0; k < 9; k++)
            ck_assert_float_eq_tol(components[k], expected[k], 0.03F); /* the third is nearly without ties to them */
        ck_assert(clv_recipe_n_features(&recipe) == clv_recipe_n_features(&same));
    }
}

TEST(components_are_what_pixels_are_described_by)
{
    OWNED(clv_set_release) struct clv_set set = {0};
    OWNED(clv_map_release) struct clv_map map = {0};
    struct map_reader view;
    OWNED(map_ready_release) struct map_ready ready = {0};
    const float *values;
    make_set(&set, 3, tied);
    OWNED(clv_recipe_release) struct clv_recipe recipe = recipe_of_maps(CLV_BLOCK_SIZE, 2);
    must(recipe_learn_maps(&recipe, &set, 1, NULL, NULL, err));
    must(clv_map_read(&map, set.items[3].maps[0], CLV_MAP_LAYOUT_AUTO, NULL, err));
    must(map_ready_init(&ready, map_readers_of(&view, &map, 1), &recipe.maps[0], err));
    ck_assert(ready.n_channels == 2 && ready.width == WIDTH && map.n_channels == 3);
    const float *standard = recipe.maps[0].standard, *components = recipe.maps[0].components;
    for (int k = 0; k < 2; k++) {
        must(map_ready_channel(&values, &ready, k, err));
        for (int p = 0; p < N_PIXELS; p++) {
            double sum = 0;
            for (int c = 0; c < 3; c++)
                sum += (double)components[k * 3 + c] * ((double)map.values[c * N_PIXELS + p] - (double)standard[c]) *
                       (double)standard[3 + c];
            ck_assert_double_eq_tol((double)values[p], sum, 1e-5);
        }
    }
    ck_assert_int_eq(maps_size(&recipe), 1 + 2);
}

TEST(components_that_cannot_be_are_refused)
{
    OWNED(clv_set_release) struct clv_set set = {0};
    make_set(&set, 3, tied);
    OWNED(clv_recipe_release) struct clv_recipe recipe = recipe_of_maps(CLV_BLOCK_SIZE, 4);
    must_fail(CLV_ERR_DATA, "map net has 3 channels, 4 principal components are more",
              recipe_learn_maps(&recipe, &set, 1, NULL, NULL, err));
    recipe.maps[0].n_components = CLV_MAX_PCA_CHANNELS + 1;
    must_fail(CLV_ERR_USAGE, "n_components of a map is 1025", recipe_learn_maps(&recipe, &set, 1, NULL, NULL, err));
    recipe.maps[0].n_components = 2;
    ck_assert_ptr_null(recipe.maps[0].components);
    struct map_reader map = {.map = {.width = 1, .height = 1, .n_channels = 3, .values = (float[]){1, 2, 3}}};
    struct map_ready ready;
    recipe.maps[0].n_channels = 3;
    recipe.maps[0].standard = (float[]){0, 0, 0, 1, 1, 1};
    must_fail(CLV_ERR_USAGE, "has not learned its components", map_ready_init(&ready, &map, &recipe.maps[0], err));
    recipe.maps[0].standard = NULL;
    clv_recipe_release(&recipe);
    clv_set_release(&set);
    make_set(&set, CLV_MAX_PCA_CHANNELS + 1, tied);
    recipe = recipe_of_maps(CLV_BLOCK_SIZE, 2);
    must_fail(CLV_ERR_DATA, "has 1025 channels; principal components are made of up to 1024",
              recipe_learn_maps(&recipe, &set, 1, NULL, NULL, err));
    clv_set_release(&set);
    make_set(&set, 1, of_one_network);
    recipe.maps[0].kind = CLV_MAP_LOGITS;
    must_fail(CLV_ERR_DATA, "map net holds logits; principal components are made of features",
              recipe_learn_maps(&recipe, &set, 1, NULL, NULL, err));
}

TEST(maps_of_two_networks_are_ignored_unless_there_is_nothing_else)
{
    static const struct {
        channel_value *value;
        int blocks, use, n_groups, expected;
    } cases[] = {
        {of_two_networks, CLV_BLOCK_SIZE, CLV_MAP_USE_AUTO, 2, CLV_MAP_USE_IGNORED},
        {of_two_networks, CLV_BLOCK_SIZE, CLV_MAP_USE_KEPT, 2, CLV_MAP_USE_KEPT},
        {of_two_networks, 0, CLV_MAP_USE_AUTO, 2, CLV_MAP_USE_AUTO},
        {of_one_network, CLV_BLOCK_SIZE, CLV_MAP_USE_AUTO, 1, CLV_MAP_USE_AUTO},
        {of_no_network, CLV_BLOCK_SIZE, CLV_MAP_USE_AUTO, 1, CLV_MAP_USE_AUTO},
        {of_one_network, CLV_BLOCK_SIZE, CLV_MAP_USE_IGNORED, 0, CLV_MAP_USE_IGNORED},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        OWNED(clv_set_release) struct clv_set set = {0};
        struct map_reader *maps;
        float mean[MAX_CHANNELS], sum = 0;
        make_set(&set, MAX_CHANNELS, cases[k].value);
        OWNED(clv_recipe_release) struct clv_recipe recipe = recipe_of_maps(cases[k].blocks, 0);
        recipe.maps[0].use = cases[k].use;
        must(recipe_learn_maps(&recipe, &set, 2, NULL, NULL, err));
        ck_assert_int_eq(recipe.maps[0].n_groups, cases[k].n_groups);
        ck_assert_int_eq(recipe.maps[0].use, cases[k].expected);
        must(item_maps_open(&maps, &recipe, &set, &set.items[0], NULL, err));
        must(map_drift_means(mean, maps, &recipe, err));
        for (int c = 0; c < MAX_CHANNELS; c++)
            sum += fabsf(mean[c]);
        ck_assert((sum > 0) == (cases[k].expected != CLV_MAP_USE_IGNORED));
        item_maps_close(maps, &recipe);
    }
}

static double ramp(int image, int channel, int pixel, int y)
{
    (void)image;
    (void)channel;
    (void)y;
    return pixel % WIDTH;
}

/* Of squares of 9 pixels: 3 columns apart values differ by 3 of deviations of sqrt(143 / 12), 3 rows apart by nothing,
 * and there are 9 x 8 of the ones and 12 x 5 of the others. */
TEST(contrast_scale_is_by_differences_as_far_apart_as_regions)
{
    OWNED(clv_set_release) struct clv_set set = {0};
    OWNED(clv_recipe_release) struct clv_recipe recipe = recipe_of_maps(CLV_BLOCK_SIZE, 0);
    recipe.scale = 1;
    recipe.region_area = 9;
    recipe.tile_px = 64;
    make_set(&set, 1, ramp);
    must(recipe_learn_maps(&recipe, &set, 2, NULL, NULL, err));
    ck_assert_float_eq_tol(recipe.maps[0].contrast_scale, 1 / (2 * (9 / (143 / 12.0F)) * 72 / 132), 0.01F);
}

/* Directions near one of three, which are square to each other or as far apart as they can be; or all over. */
TEST(groups_are_counted_where_they_are_clear)
{
    enum { N = 40, D = 8 };
    for (int kind = 0; kind < 3; kind++) {
        const double turn = 2 * acos(-1) / 3;
        bool is_spread = kind == 2;
        float direction[N][D];
        int32_t n_groups = 0;
        for (int i = 0; i < N; i++) {
            double square = 0;
            for (int c = 0; c < D; c++) {
                double middle = kind != 1 ? c == i % 3
                                : c == 0  ? cos(turn * (i % 3))
                                : c == 1  ? sin(turn * (i % 3))
                                          : 0;
                direction[i][c] = (float)(middle + (is_spread ? 6 : 0.1) * noise(i, c, 2));
                square += (double)direction[i][c] * (double)direction[i][c];
            }
            for (int c = 0; c < D; c++)
                direction[i][c] /= (float)sqrt(square);
        }
        must(map_count_groups(&n_groups, *direction, N, D, err));
        ck_assert_int_eq(n_groups, is_spread ? 1 : 3);
        must(map_count_groups(&n_groups, *direction, 5, D, err));
        ck_assert_int_eq(n_groups, 1);
    }
}

/* The number of images after which drift is reported; 0: never. */
static size_t drifted_after(const struct clv_recipe *recipe, const struct clv_set *set)
{
    OWNED(map_drift_release) struct map_drift drift = {0};
    float mean[MAX_CHANNELS];
    size_t reported = 0;
    double deviations = 0;
    must(map_drift_init(&drift, recipe, err));
    ck_assert_uint_eq(map_drift_size(recipe), MAX_CHANNELS);
    for (size_t i = 0; i < set->n_items; i++) {
        struct map_reader *maps;
        must(item_maps_open(&maps, recipe, set, &set->items[i], NULL, err));
        must(map_drift_means(mean, maps, recipe, err));
        item_maps_close(maps, recipe);
        if (map_drift_add(&deviations, &drift, mean, recipe) < 0)
            continue;
        ck_assert_uint_eq(reported, 0);
        ck_assert_double_gt(deviations, 1);
        reported = i + 1;
    }
    return reported;
}

/* Means of images and their deviation, the unbiased one. */
static void check_usual(const struct clv_recipe *recipe, const struct clv_set *set)
{
    double sum[MAX_CHANNELS] = {0}, square[MAX_CHANNELS] = {0}, n = (double)set->n_items;
    for (size_t i = 0; i < set->n_items; i++) {
        struct map_reader *maps;
        float mean[MAX_CHANNELS];
        must(item_maps_open(&maps, recipe, set, &set->items[i], NULL, err));
        must(map_drift_means(mean, maps, recipe, err));
        item_maps_close(maps, recipe);
        for (int c = 0; c < MAX_CHANNELS; c++) {
            sum[c] += (double)mean[c];
            square[c] += (double)mean[c] * (double)mean[c];
        }
    }
    for (int c = 0; c < MAX_CHANNELS; c++) {
        double deviation = sqrt((square[c] - sum[c] * sum[c] / n) / (n - 1));
        ck_assert_double_gt(deviation, 0);
        ck_assert_double_eq_tol((double)recipe->maps[0].usual[c], sum[c] / n, 1e-5);
        ck_assert_double_eq_tol((double)recipe->maps[0].usual[MAX_CHANNELS + c] / deviation, 1, 1e-3);
    }
}

TEST(maps_unlike_those_of_training_are_reported_once)
{
    OWNED(clv_set_release) struct clv_set set = {0}, other = {0};
    make_set(&set, MAX_CHANNELS, of_one_network);
    OWNED(clv_recipe_release) struct clv_recipe recipe = recipe_of_maps(CLV_BLOCK_SIZE, 0);
    must(recipe_learn_maps(&recipe, &set, 1, NULL, NULL, err));
    check_usual(&recipe, &set);
    ck_assert_uint_eq(drifted_after(&recipe, &set), 0);
    make_set(&other, MAX_CHANNELS, of_two_far_off);
    ck_assert_uint_eq(drifted_after(&recipe, &other), 1);
    recipe.maps[0].use = CLV_MAP_USE_IGNORED;
    ck_assert_uint_eq(drifted_after(&recipe, &other), 0);
}

/* Means of the parts of a scene, 4 x 4 of 3 x 2 pixels, and their deviation. Their values differ along both sides. */
TEST(of_a_scene_the_parts_are_what_is_usual_of_its_bands)
{
    enum { ACROSS = 4, N_PARTS = ACROSS * ACROSS };
    const struct clv_bands bands = {.n_bands = 1, .low = {0}, .high = {255}, .scale = 1};
    const struct clv_image_limits limits = {.bands = &bands};
    OWNED(clv_set_release) struct clv_set set = {0};
    OWNED(clv_map_release) struct clv_map map = {0};
    OWNED(clv_recipe_release) struct clv_recipe recipe = recipe_of_maps(CLV_BLOCK_SIZE, 0);
    uint8_t values[N_PIXELS];
    double mean[N_PARTS] = {0}, sum = 0, squares = 0;
    for (int p = 0; p < N_PIXELS; p++)
        values[p] = (uint8_t)(3 * (p % WIDTH) * (p % WIDTH) % 101 + 9 * (p / WIDTH));
    run_here("printf 'image\\tmaps.net\\na.tif\\ta.tif\\n' >scene.tsv");
    const char *path = here("a.tif");
    must(raster_write_labels(path, &(struct label_image){WIDTH, HEIGHT, values, NULL, 0}, NULL, err));
    must(clv_map_read(&map, path, CLV_MAP_LAYOUT_BANDS, &limits, err));
    ck_assert(map.width == WIDTH && map.height == HEIGHT && map.n_channels == 1);
    for (int p = 0; p < N_PIXELS; p++)
        mean[p / WIDTH * ACROSS / HEIGHT * ACROSS + p % WIDTH * ACROSS / WIDTH] +=
            (double)map.values[p] * N_PARTS / N_PIXELS;
    for (int part = 0; part < N_PARTS; part++)
        sum += mean[part] / N_PARTS;
    for (int part = 0; part < N_PARTS; part++)
        squares += (mean[part] - sum) * (mean[part] - sum) / (N_PARTS - 1);
    must(clv_set_read_manifest(&set, here("scene.tsv"), err));
    recipe.maps[0].layout = CLV_MAP_LAYOUT_BANDS;
    must(recipe_learn_maps(&recipe, &set, 1, &limits, NULL, err));
    const float *standard = recipe.maps[0].standard, *usual = recipe.maps[0].usual;
    ck_assert_double_eq_tol((double)usual[0], (sum - (double)standard[0]) * (double)standard[1], 1e-5);
    ck_assert_double_eq_tol((double)usual[1] / (sqrt(squares) * (double)standard[1]), 1, 1e-5);
}
