/* Images at a fixed scale: what a tile's features see, and how tiles are joined. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "feature/example/example.h"
#include "feature/recipe/recipe.h"
#include "feature/small_set.h"

enum { TILE = 64, HALO = 20, WIDTH = 150, HEIGHT = 140, N_COLUMNS = 3, N_ROWS = 3 };

static struct clv_recipe fixed_recipe(float scale)
{
    struct clv_recipe recipe;
    clv_recipe_init(&recipe);
    clv_recipe_fix_scale(&recipe, scale);
    recipe.blocks |= CLV_BLOCK_RGB | CLV_BLOCK_WORD | CLV_BLOCK_HOG;
    recipe.n_scales = 2;
    recipe.tile_px = TILE;
    recipe.halo_px = HALO;
    recipe.region_area = 60;
    recipe.contrast_scale = 0.01F;
    give_random_words(&recipe, 20);
    return recipe;
}

/* And a map of features, standardised already. */
static struct clv_recipe mapped_recipe(void)
{
    static const float standard[4] = {0, 0, 1, 1};
    struct clv_recipe recipe = fixed_recipe(1);
    recipe.blocks |= CLV_BLOCK_MAPS;
    recipe.n_maps = 1;
    recipe.map_pool = CLV_MAP_MEAN | CLV_MAP_DEVIATION;
    recipe.maps[0] = (struct clv_recipe_map){.name = "bands",
                                             .kind = CLV_MAP_FEATURES,
                                             .n_channels = 2,
                                             .contrast_scale = 0.3F,
                                             .standard = array_copy(standard, 4, sizeof(float))};
    return recipe;
}

static struct clv_image noisy_image(int32_t width, int32_t height)
{
    struct clv_image image = {0};
    must(clv_image_new(&image, width, height, 3, err));
    for (int32_t k = 0; k < width * height * 3; k++) {
        int32_t x = k / 3 % width, y = k / 3 / width;
        image.pixels[k] = (uint8_t)((x / 17 + y / 13) % 3 * 70 + (int)rng_below(1, RNG_TEST, (uint64_t)k, 90));
    }
    return image;
}

/* A map of the image's size for a recipe that has one: two channels of what its pixels are. */
static struct clv_example extract(const struct clv_image *image, const struct clv_recipe *recipe)
{
    size_t n = (size_t)image->width * (size_t)image->height;
    struct clv_map map = {image->width, image->height, 2, false, malloc(2 * n * sizeof(float))};
    for (size_t p = 0; p < 2 * n; p++)
        map.values[p] = (float)image->pixels[3 * (p % n) + p / n] / 100 - 1;
    struct clv_example example = {0};
    const struct clv_weight_layout layout = {2, clv_recipe_n_features(recipe), clv_recipe_n_edge_features(recipe),
                                             CLV_PAIRWISE_POTTS};
    must(clv_example_extract_maps(&example, image, &map, recipe, err));
    must(clv_problem_check(&example.problem, &layout, err));
    free(map.values);
    return example;
}

static struct patch tile_at(int32_t t)
{
    int32_t x = t % N_COLUMNS * TILE, y = t / N_COLUMNS * TILE;
    return (struct patch){
        .x = x, .y = y, .width = WIDTH - x < TILE ? WIDTH - x : TILE, .height = HEIGHT - y < TILE ? HEIGHT - y : TILE};
}

/* The lowest and one past the highest node of a tile. */
static void nodes_of(int32_t range[2], const struct clv_example *example, const struct patch *tile)
{
    range[0] = INT32_MAX;
    range[1] = 0;
    for (int32_t y = tile->y; y < tile->y + tile->height; y++)
        for (int32_t x = tile->x; x < tile->x + tile->width; x++) {
            int32_t node = example->superpixels.labels[y * WIDTH + x];
            range[0] = node < range[0] ? node : range[0];
            range[1] = node + 1 > range[1] ? node + 1 : range[1];
        }
}

static void check_same_tile(const struct clv_example *one, const struct clv_example *other, const struct patch *tile)
{
    int32_t a[2], b[2], p = one->problem.n_edge_features;
    nodes_of(a, one, tile);
    nodes_of(b, other, tile);
    ck_assert_int_eq(a[1] - a[0], b[1] - b[0]);
    for (int32_t y = tile->y; y < tile->y + tile->height; y++)
        for (int32_t x = tile->x; x < tile->x + tile->width; x++)
            ck_assert_int_eq(one->superpixels.labels[y * WIDTH + x] - a[0],
                             other->superpixels.labels[y * WIDTH + x] - b[0]);
    int64_t first = one->row[a[0]], of = other->row[b[0]];
    for (int32_t i = 0; i <= a[1] - a[0]; i++)
        ck_assert_int_eq(one->row[a[0] + i] - first, other->row[b[0] + i] - of);
    size_t n_entries = (size_t)(one->row[a[1]] - first);
    ck_assert_mem_eq(one->index + first, other->index + of, n_entries * sizeof *one->index);
    ck_assert_mem_eq(one->value + first, other->value + of, n_entries * sizeof *one->value);
    int32_t f = 0, n_inside = 0;
    for (int32_t e = 0; e < one->problem.n_edges; e++) {
        if (one->edges[e][0] < a[0] || one->edges[e][1] >= a[1])
            continue;
        while (f < other->problem.n_edges && (other->edges[f][0] < b[0] || other->edges[f][1] >= b[1]))
            f++;
        ck_assert_int_lt(f, other->problem.n_edges);
        ck_assert_int_eq(one->edges[e][0] - a[0], other->edges[f][0] - b[0]);
        ck_assert_int_eq(one->edges[e][1] - a[0], other->edges[f][1] - b[0]);
        ck_assert_mem_eq(one->edge_features + e * p, other->edge_features + f * p, (size_t)p * sizeof(float));
        f++;
        n_inside++;
    }
    ck_assert_int_gt(n_inside, 0);
}

TEST(features_of_a_tile_are_the_same_whatever_lies_beyond_its_halo)
{
    OWNED(clv_recipe_release) struct clv_recipe recipe = mapped_recipe();
    OWNED(clv_image_release) struct clv_image image = noisy_image(WIDTH, HEIGHT);
    OWNED(clv_example_release) struct clv_example one = extract(&image, &recipe);
    for (int32_t t = 0; t < N_COLUMNS * N_ROWS; t++) {
        struct patch tile = tile_at(t);
        OWNED(clv_image_release) struct clv_image changed = noisy_image(WIDTH, HEIGHT);
        for (int32_t y = 0; y < HEIGHT; y++)
            for (int32_t x = 0; x < WIDTH; x++)
                for (int c = 0; c < 3; c++)
                    if (x < tile.x - HALO || x >= tile.x + tile.width + HALO || y < tile.y - HALO ||
                        y >= tile.y + tile.height + HALO)
                        changed.pixels[(y * WIDTH + x) * 3 + c] =
                            (uint8_t)rng_below(2, RNG_STREAM(RNG_TEST, t), (uint64_t)((y * WIDTH + x) * 3 + c), 256);
        OWNED(clv_example_release) struct clv_example other = extract(&changed, &recipe);
        check_same_tile(&one, &other, &tile);
    }
}

/* exp(-contrast_scale x squared distance of means) x length, on all edges, seams too. */
TEST(maps_compare_regions_across_seams_by_the_scale_learned)
{
    OWNED(clv_recipe_release) struct clv_recipe recipe = mapped_recipe();
    OWNED(clv_image_release) struct clv_image image = noisy_image(WIDTH, HEIGHT);
    OWNED(clv_example_release) struct clv_example example = extract(&image, &recipe);
    int32_t n = example.problem.n_nodes, n_seams = 0, p = example.problem.n_edge_features;
    double(*mean)[2] = calloc((size_t)n, sizeof *mean);
    for (int32_t k = 0; k < WIDTH * HEIGHT; k++)
        for (int c = 0; c < 2; c++) {
            int32_t node = example.superpixels.labels[k];
            mean[node][c] += ((double)image.pixels[3 * k + c] / 100 - 1) / (double)example.area[node];
        }
    for (int32_t e = 0; e < example.problem.n_edges; e++) {
        const int32_t *ends = example.edges[e];
        double square = pow(mean[ends[0]][0] - mean[ends[1]][0], 2) + pow(mean[ends[0]][1] - mean[ends[1]][1], 2);
        const float *features = example.edge_features + e * p;
        ck_assert_double_eq_tol((double)features[p - 1], (double)features[1] * exp(-0.3 * square), 1e-4);
        n_seams += e > 0 && ends[0] < example.edges[e - 1][0];
    }
    ck_assert_int_gt(n_seams, 0);
    free(mean);
}

TEST(features_of_a_tile_do_see_its_halo)
{
    OWNED(clv_recipe_release) struct clv_recipe recipe = mapped_recipe();
    OWNED(clv_image_release) struct clv_image image = noisy_image(WIDTH, HEIGHT);
    OWNED(clv_example_release) struct clv_example one = extract(&image, &recipe);
    struct patch tile = tile_at(0);
    int32_t range[2];
    for (int32_t y = 0; y < HEIGHT; y++)
        for (int32_t x = TILE; x < TILE + HALO; x++)
            image.pixels[(y * WIDTH + x) * 3] ^= 0x80;
    OWNED(clv_example_release) struct clv_example other = extract(&image, &recipe);
    nodes_of(range, &one, &tile);
    ck_assert_mem_eq(one.superpixels.labels, other.superpixels.labels, TILE * sizeof(int32_t)); /* its first row */
    bool is_same = one.row[range[1]] == other.row[range[1]] &&
                   memcmp(one.value, other.value, (size_t)one.row[range[1]] * sizeof *one.value) == 0;
    ck_assert(!is_same);
}

TEST(edges_of_tiles_are_the_neighbours_in_the_whole_label_map)
{
    for (float scale = 1; scale < 3; scale += 0.7F) {
        OWNED(clv_recipe_release) struct clv_recipe recipe = fixed_recipe(scale);
        OWNED(clv_image_release) struct clv_image image =
            noisy_image((int32_t)(WIDTH * scale), (int32_t)(HEIGHT * scale));
        OWNED(clv_example_release) struct clv_example example = extract(&image, &recipe);
        OWNED(clv_adjacency_release) struct clv_adjacency whole = {0};
        double area = 0;
        must(clv_adjacency_build(&whole, &example.superpixels, err));
        ck_assert_int_eq(example.problem.n_edges, whole.n_edges);
        for (int32_t e = 0; e < whole.n_edges; e++) {
            int32_t f = 0;
            while (f < whole.n_edges && memcmp(example.edges[f], whole.edges[e], sizeof *whole.edges) != 0)
                f++;
            ck_assert_int_lt(f, whole.n_edges);
            double length = (double)whole.boundary_length[e] / sqrt(60);
            const float *features = example.edge_features + f * example.problem.n_edge_features;
            ck_assert(features[0] == 1);
            ck_assert_double_eq_tol((double)features[1], length, 1e-5);
            ck_assert_double_eq_tol((double)features[3], length * (double)features[2], 1e-5);
        }
        for (int32_t i = 0; i < example.problem.n_nodes; i++)
            area += (double)example.area[i];
        ck_assert_double_eq(area, (double)image.width * image.height);
        ck_assert_double_eq_tol((double)example.centroid[0] * sqrt(600 * 60), 6, 6); /* in the corner */
    }
}

TEST(an_image_of_one_tile_has_the_rows_of_a_photograph)
{
    OWNED(clv_recipe_release) struct clv_recipe fixed = fixed_recipe(1);
    struct clv_recipe free_scale = fixed;
    OWNED(clv_image_release) struct clv_image image = noisy_image(TILE, TILE - 10);
    free_scale.scale = 0;
    free_scale.region_area = free_scale.tile_px = free_scale.halo_px = 0;
    free_scale.slic.n_superpixels = (int32_t)(TILE * (TILE - 10) / 60.0 + 0.5);
    fixed.blocks = free_scale.blocks &= ~CLV_BLOCK_SIZE;
    OWNED(clv_example_release) struct clv_example one = extract(&image, &fixed), other = extract(&image, &free_scale);
    ck_assert_int_eq(one.problem.n_nodes, other.problem.n_nodes);
    ck_assert_int_eq(one.problem.n_edges, other.problem.n_edges);
    ck_assert_mem_eq(one.superpixels.labels, other.superpixels.labels, TILE * (TILE - 10) * sizeof(int32_t));
    ck_assert_mem_eq(one.edges, other.edges, (size_t)one.problem.n_edges * sizeof *one.edges);
    size_t n = (size_t)one.row[one.problem.n_nodes];
    ck_assert_int_eq(other.row[other.problem.n_nodes], (int64_t)n);
    ck_assert_mem_eq(one.index, other.index, n * sizeof *one.index);
    ck_assert_mem_eq(one.value, other.value, n * sizeof *one.value);
}

TEST(what_looks_at_the_whole_image_is_refused_at_a_fixed_scale)
{
    OWNED(clv_recipe_release) struct clv_recipe recipe = fixed_recipe(1);
    struct clv_recipe other = recipe;
    must(recipe_check(&recipe, true, err));
    other.blocks |= CLV_BLOCK_POSITION;
    must_fail(CLV_ERR_USAGE, "block position", recipe_check(&other, false, err));
    other = recipe;
    other.nodes = CLV_NODES_PATCHES;
    must_fail(CLV_ERR_USAGE, "for superpixels", recipe_check(&other, false, err));
    other = recipe;
    other.contrast_scale = 0;
    must(recipe_check(&other, false, err));
    must_fail(CLV_ERR_USAGE, "scale of colour contrasts has not been learned", recipe_check(&other, true, err));
    other = recipe;
    other.scale = 0.5F;
    must_fail(CLV_ERR_USAGE, "scale is 0.5", recipe_check(&other, false, err));
    other = recipe;
    other.scale = 0;
    must_fail(CLV_ERR_USAGE, "region_area is 60, must be 0..0", recipe_check(&other, false, err));
    other = recipe;
    other.halo_px = TILE + 1;
    must_fail(CLV_ERR_USAGE, "halo_px is 65", recipe_check(&other, false, err));
}

TEST(without_memory_nothing_is_extracted_and_nothing_leaks)
{
    OWNED(clv_recipe_release) struct clv_recipe recipe = fixed_recipe(1);
    OWNED(clv_image_release) struct clv_image image = noisy_image(70, 20);
    struct clv_error error = {0};
    enum clv_status status = CLV_ERR_MEMORY;
    for (size_t request = 1; status == CLV_ERR_MEMORY; request++) {
        OWNED(clv_example_release) struct clv_example example = {0};
        array_fail_request(request);
        status = clv_example_extract(&example, &image, &recipe, &error);
        array_fail_request(0);
        if (status == CLV_ERR_MEMORY)
            ck_assert_ptr_null(example.row);
    }
    ck_assert_msg(status == CLV_OK, "%s", error.message);
}
