/* Position, size, colours and edges of nodes by their definitions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "feature/blocks/blocks.h"
#include "support/support.h"

enum { WIDTH = 20, HEIGHT = 14, N = WIDTH * HEIGHT, REGIONS = 3, MOST = 1024 };

static int32_t labels[N], start[REGIONS + 1], pixel[N];
static uint8_t rgb[N * 3];
static float lab[N * 3];
static struct region regions[REGIONS] = {
    {{60, 20, -30}, {5, 2, 9}, 0.31F, 0.8F, 0}, {{20, -10, 3}, {1, 0, 4}, 0.05F, 0.4F, 0}, {{90, 4, 4}, {0}, 1, 0, 0}};
static const struct scene scene = {.width = WIDTH,
                                   .height = HEIGHT,
                                   .n_regions = REGIONS,
                                   .rgb = rgb,
                                   .labels = labels,
                                   .lab = lab,
                                   .start = start,
                                   .pixel = pixel,
                                   .regions = regions};

static void draw(void)
{
    int32_t at = 0;
    for (int32_t r = 0; r < REGIONS; r++) {
        start[r] = at;
        for (int32_t i = 0; i < N; i++)
            if (i * i % 7 % REGIONS == r) {
                labels[i] = r;
                pixel[at++] = i;
            }
        regions[r].n_pixels = at - start[r];
    }
    start[REGIONS] = at;
    for (int32_t k = 0; k < 3 * N; k++) {
        rgb[k] = (uint8_t)(k * 37 % 256);
        lab[k] = (float)(k * 13 % 140) - 70;
    }
}

TEST(each_block_has_a_flag_of_its_own_and_columns_that_it_names)
{
    struct clv_recipe recipe;
    int32_t flags = 0;
    clv_recipe_init(&recipe);
    for (int b = 0; b < N_BLOCKS; b++) {
        char name[96] = "";
        ck_assert_int_eq(flags & block_rows[b].flag, 0);
        flags |= block_rows[b].flag;
        recipe.blocks = block_rows[b].flag;
        int32_t size = block_rows[b].size(&recipe);
        ck_assert_int_gt(size, 0);
        ck_assert_double_gt(block_rows[b].met(&recipe, 100, 10000), 0);
        ck_assert_double_le(block_rows[b].met(&recipe, 100, 10000), size);
        block_rows[b].feature_name(name, sizeof name, &recipe, size - 1);
        ck_assert_int_gt(strlen(name), 0);
        ck_assert_str_eq(block_names[b], block_rows[b].name);
    }
    ck_assert_int_eq(flags, CLV_BLOCK_ALL);
    ck_assert_ptr_null(block_names[N_BLOCKS]);
    ck_assert_str_eq(block_that_is(CLV_BLOCK_RGB | CLV_BLOCK_SCENE, WHOLE_IMAGE)->name, "scene");
    ck_assert_ptr_null(block_that_is(CLV_BLOCK_RGB | CLV_BLOCK_SIZE, OF_SIFT | PATCHES_ONLY));
}

TEST(surroundings_have_words_where_nodes_have_some)
{
    struct clv_recipe recipe;
    clv_recipe_init(&recipe);
    recipe.n_words = 10;
    recipe.n_scales = 3;
    for (int has_words = 0; has_words < 2; has_words++) {
        recipe.blocks = CLV_BLOCK_SURROUND | CLV_BLOCK_CONTRAST | (has_words ? CLV_BLOCK_WORDS : 0);
        ck_assert_int_eq(surround_size(&recipe), chroma_size(&recipe) + (has_words ? 3 : 0) * words_of_scale(&recipe));
        ck_assert_int_eq(scene_size(&recipe), chroma_size(&recipe) + has_words * words_of_scale(&recipe));
    }
}

TEST(places_are_shared_by_the_cells_around_them)
{
    int32_t side = (int32_t)lround(sqrt(position_size(NULL)));
    draw();
    for (int32_t r = 0; r < REGIONS; r++) {
        const struct clv_recipe recipe = {0};
        const struct views views = {.recipe = &recipe, .image = scene};
        float row[MOST] = {0}, size[2];
        double x = fmin(fmax((double)regions[r].x * side - 0.5, 0), side - 1);
        double y = fmin(fmax((double)regions[r].y * side - 0.5, 0), side - 1);
        position_fill(row, &views, r);
        for (int32_t k = 0; k < side * side; k++) {
            double weight = fmax(0, 1 - fabs(x - k % side)) * fmax(0, 1 - fabs(y - k / side));
            ck_assert_float_eq_tol(row[k], (float)weight, 1e-5F);
        }
        size_fill(size, &views, r);
        ck_assert_float_eq_tol(size[1], (float)(regions[r].n_pixels * REGIONS) / N, 1e-6F);
    }
}

TEST(colours_are_roots_of_shares_then_means_and_deviations)
{
    struct clv_recipe recipe;
    OWNED(kernel_map_release) struct kernel_map none = {0};
    clv_recipe_init(&recipe);
    recipe.kernel_map = CLV_KERNEL_MAP_NONE;
    must(kernel_map_init(&none, &recipe, err));
    draw();
    const struct views views = {.recipe = &recipe, .image = scene, .kernel_map = none};
    int32_t n_rgb = rgb_size(&recipe), n_bins = n_rgb / 3, n_chroma = chroma_size(&recipe);
    ck_assert_int_eq(colour_size(&recipe), n_rgb + 6 + n_chroma);
    for (int32_t r = 0; r < REGIONS; r++) {
        float row[MOST] = {0};
        double share[MOST] = {0}, chroma = 0;
        colour_fill(row, &views, r);
        for (int32_t i = 0; i < N; i++)
            for (int c = 0; labels[i] == r && c < 3; c++)
                share[c * n_bins + rgb[3 * i + c] * n_bins / 256] += 1.0 / (3 * regions[r].n_pixels);
        for (int32_t k = 0; k < n_rgb; k++)
            ck_assert_float_eq_tol(row[k], (float)sqrt(share[k]), 1e-5F);
        static const float unit[] = {100, 50, 50};
        for (int c = 0; c < 3; c++) {
            ck_assert_float_eq_tol(row[n_rgb + c], regions[r].lab[c] / unit[c], 1e-6F);
            ck_assert_float_eq_tol(row[n_rgb + 3 + c], regions[r].deviation[c] / 20, 1e-6F);
        }
        for (int32_t k = 0; k < n_chroma; k++)
            chroma += pow((double)row[n_rgb + 6 + k], 2);
        ck_assert_double_eq_tol(chroma, 0.25, 1e-5); /* a histogram's roots, half as long */
    }
}

/* exp(- d^2 / (2 mean d^2)) of colours, exp(- 2 (1 - words in common / scales)) of words. */
TEST(edges_compare_colours_and_words)
{
    int32_t pairs[][2] = {{0, 1}, {1, 2}};
    float lengths[] = {4, 6}, features[2][5];
    const struct clv_adjacency adjacency = {
        .n_nodes = REGIONS, .n_edges = 2, .edges = pairs, .boundary_length = lengths};
    static const int64_t row[] = {0, 3, 5, 7};
    static const int32_t index[] = {0, 2, 9, 2, 3, 1, 3}; /* 9 is none of the words */
    static const float value[] = {0.5F, 0.75F, 7, 0.25F, 1, 0.5F, 0.125F};
    const struct clv_problem problem = {.n_nodes = REGIONS, .row = row, .index = index, .value = value};
    const double common[] = {0.75 * 0.25, 0.125};
    const struct clv_recipe recipe = {0};
    double square[2] = {0}, side = sqrt((double)N / REGIONS);
    draw();
    for (int e = 0; e < 2; e++)
        for (int c = 0; c < 3; c++)
            square[e] += pow((double)regions[e].lab[c] - (double)regions[e + 1].lab[c], 2);
    for (int32_t n_scales = 0; n_scales < 3; n_scales += 2) {
        edges_fill(*features, 5, &adjacency, regions, edge_units_of(&adjacency, &scene, &recipe),
                   (struct node_words){&problem, 5, n_scales});
        for (int e = 0; e < 2; e++) {
            double alike = exp(-square[e] / (square[0] + square[1])), length = (double)lengths[e] / side;
            double texture = n_scales ? exp(-2 * (1 - common[e] / n_scales)) : 1;
            const double expected[] = {1, length, alike, length * alike, texture};
            for (int k = 0; k < 5; k++)
                ck_assert_float_eq_tol(features[e][k], (float)expected[k], 1e-5F);
        }
    }
}

/* The strip is 6 % of the side of a square of as many pixels deep, rounded up. */
TEST(the_strip_is_along_the_border)
{
    OWNED(zones_release) struct zones zones = {0};
    draw();
    must(zones_init(&zones, &scene, err));
    int32_t depth = (int32_t)ceil(0.06 * sqrt(N));
    ck_assert_int_eq(depth, 2);
    for (int32_t i = 0; i < N; i++) {
        int32_t x = i % WIDTH, y = i / WIDTH;
        bool is_inner = x >= depth && x < WIDTH - depth && y >= depth && y < HEIGHT - depth;
        ck_assert_int_eq(zones.strip[i], !is_inner);
        double u = ((x + 0.5) / WIDTH - 0.5) / 0.35, v = ((y + 0.5) / HEIGHT - 0.5) / 0.35;
        ck_assert_float_eq_tol(zones.centre[i], (float)(1 / (1 + pow(u * u + v * v, 2))), 1e-5F);
    }
}

/* A float stays at 2^24 when 1 is added. */
TEST(histograms_of_more_than_2_to_the_24_pixels_have_all_of_them)
{
    enum { MANY = 5 << 23 };
    OWNED_ARRAY int32_t *list = array_zalloc(MANY, sizeof *list); /* all of them the same one .. */
    int32_t first[2] = {0, MANY}, word[2] = {0, 1}, met[2], count[2] = {0};
    float colours[6] = {50, 0, 0, 50, 40, 40}, chroma[256] = {0}, words[2] = {0}, largest = 0;
    struct region whole = {.n_pixels = MANY};
    ck_assert_ptr_nonnull(list);
    list[MANY - 1] = 1; /* .. but one */
    const struct scene image = {.n_regions = 1, .lab = colours, .start = first, .pixel = list, .regions = &whole};
    const struct kernel_map roots = {.size = 1};
    chroma_fill(chroma, &image, &roots, 0);
    for (size_t b = 0; b < 256; b++)
        largest = fmaxf(largest, chroma[b]);
    ck_assert_float_eq_tol(largest, 0.5f, 1e-5f); /* the root of the share, half as long */
    words_histogram(words, &image, &(struct word_map){word, met, count}, &roots, 0);
    ck_assert_float_eq_tol(words[0], 1, 1e-5f);
    ck_assert_float_eq_tol(words[1], sqrtf(1.0f / MANY), 1e-9f);
}
