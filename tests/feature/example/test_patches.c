/* Patches as nodes: their windows, rows, edges and truth, votes on pixels, any image size, files. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "feature/blocks/blocks.h"
#include "feature/dataset/dataset.h"
#include "feature/small_set.h"
#include "superpixel/superpixel.h"

static struct clv_recipe patch_recipe(int32_t blocks)
{
    struct clv_recipe recipe;
    clv_recipe_init(&recipe);
    recipe.nodes = CLV_NODES_PATCHES;
    recipe.blocks = blocks;
    recipe.n_words = 20;
    if (has_words(&recipe))
        give_random_words(&recipe, 20);
    return recipe;
}

static struct clv_image noisy_image(int32_t width, int32_t height)
{
    struct clv_image image = {0};
    must(clv_image_new(&image, width, height, 3, err));
    for (size_t k = 0; k < (size_t)width * (size_t)height * 3; k++)
        image.pixels[k] = (uint8_t)rng_below(3, RNG_STREAM(RNG_TEST, 9), k, 256);
    return image;
}

/* The dense value of a feature of a node. */
static float feature_of(const struct clv_problem *problem, int32_t node, int32_t feature)
{
    for (int64_t k = problem->row[node]; k < problem->row[node + 1]; k++)
        if (problem->index[k] == feature)
            return problem->value[k];
    return 0;
}

TEST(rows_describe_the_pixels_of_their_patch)
{
    struct clv_recipe recipe = patch_recipe(CLV_BLOCK_RGB);
    OWNED(clv_image_release) struct clv_image image = noisy_image(75, 48);
    OWNED(clv_example_release) struct clv_example example = {0};
    must(clv_example_extract(&example, &image, &recipe, err));
    ck_assert_int_eq(example.grid.n_columns, 6);
    ck_assert_int_eq(example.grid.n_rows, 3);
    ck_assert_int_eq(example.problem.n_nodes, 18);
    ck_assert_int_eq(example.problem.n_features, 48);
    for (int32_t node = 0; node < 18; node++) {
        int32_t count[48] = {0};
        for (int32_t y = node / 6 * 10; y < node / 6 * 10 + 20; y++)
            for (int32_t x = node % 6 * 10; x < node % 6 * 10 + 20; x++)
                for (int c = 0; c < 3; c++)
                    count[c * 16 + image.pixels[(y * 75 + x) * 3 + c] / 16]++;
        for (int32_t k = 0; k < 48; k++)
            ck_assert_float_eq_tol(feature_of(&example.problem, node, k), sqrtf((float)count[k] / 1200.0f), 1e-6f);
    }
}

TEST(windows_are_clipped_at_the_image_and_scenes_are_all_of_it)
{
    OWNED(clv_image_release) struct clv_image image = noisy_image(47, 33);
    struct clv_patch_grid grid;
    OWNED(clv_superpixels_release) struct clv_superpixels partition = {0};
    OWNED(scene_release) struct scene scene = {0};
    struct scene windows;
    OWNED(windows_release) struct scene whole = {0};
    must(patch_grid_init(&grid, 47, 33, 12, 7, err));
    must(patch_grid_partition(&partition, &grid, err));
    must(scene_init(&scene, &image, &partition, err));
    for (int32_t margin = 0; margin < 60; margin += 19) {
        must(windows_init(&windows, &scene, &grid, margin, err));
        ck_assert_int_eq(windows.n_regions, grid.n_rows * grid.n_columns);
        for (int32_t i = 0; i < windows.n_regions; i++) {
            int32_t x0 = i % grid.n_columns * 7 - margin, y0 = i / grid.n_columns * 7 - margin;
            int32_t k = windows.start[i];
            for (int32_t y = 0; y < 33; y++)
                for (int32_t x = 0; x < 47; x++)
                    if (x >= x0 && x < x0 + 12 + 2 * margin && y >= y0 && y < y0 + 12 + 2 * margin)
                        ck_assert_int_eq(windows.pixel[k++], y * 47 + x);
            ck_assert_int_eq(windows.start[i + 1], k);
            ck_assert_int_eq(windows.regions[i].n_pixels, k - windows.start[i]);
        }
        windows_release(&windows);
    }
    must(scene_whole(&whole, &scene, err));
    ck_assert_int_eq(whole.regions[0].n_pixels, 47 * 33);
}

TEST(images_of_any_size_have_patches)
{
    static const int32_t sizes[][2] = {{1, 1}, {5, 30}, {19, 19}, {20, 20}, {21, 140}, {33, 20}, {64, 47}};
    OWNED(clv_recipe_release) struct clv_recipe recipe = patch_recipe(CLV_BLOCK_ALL & ~CLV_BLOCK_MAPS);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        OWNED(clv_image_release) struct clv_image image = noisy_image(sizes[s][0], sizes[s][1]);
        OWNED(clv_example_release) struct clv_example example = {0};
        must(clv_example_extract(&example, &image, &recipe, err));
        const struct clv_problem *p = &example.problem;
        struct clv_weight_layout layout = {3, clv_recipe_n_features(&recipe), clv_recipe_n_edge_features(&recipe),
                                           CLV_PAIRWISE_POTTS};
        must(clv_problem_check(p, &layout, err));
        int32_t rows = example.grid.n_rows, columns = example.grid.n_columns;
        ck_assert_int_eq(p->n_nodes, rows * columns);
        ck_assert_int_eq(p->n_edges, rows * (columns - 1) + (rows - 1) * columns);
        double area = 0;
        for (int32_t i = 0; i < p->n_nodes; i++) {
            area += (double)p->area[i];
            for (int64_t k = p->row[i] + 1; k < p->row[i + 1]; k++)
                ck_assert_int_lt(p->index[k - 1], p->index[k]);
        }
        ck_assert_double_eq(area, (double)image.width * image.height);
        for (int32_t e = 0; e < p->n_edges; e++) {
            const float *f = p->edge_features + 4 * e;
            int is_above = p->edges[e][1] - p->edges[e][0] == columns && columns > 1;
            is_above |= columns == 1;
            ck_assert_float_eq(f[is_above], 1);
            ck_assert_float_eq(f[!is_above], 0);
            ck_assert_float_eq(f[2 + !is_above], 0);
            ck_assert(f[2 + is_above] > 0 && f[2 + is_above] <= 1);
        }
    }
}

TEST(a_scene_is_the_same_for_every_patch_and_the_centre_has_one_word_a_scale)
{
    OWNED(clv_recipe_release) struct clv_recipe recipe = patch_recipe(CLV_BLOCK_SCENE | CLV_BLOCK_WORD);
    OWNED(clv_image_release) struct clv_image image = noisy_image(60, 40);
    OWNED(clv_example_release) struct clv_example example = {0};
    must(clv_example_extract(&example, &image, &recipe, err));
    int32_t n_features = example.problem.n_features, n_words = recipe.n_scales * recipe.n_words;
    for (int32_t i = 0; i < example.problem.n_nodes; i++) {
        float words = 0;
        for (int32_t k = 0; k < n_features - n_words; k++)
            ck_assert_float_eq(feature_of(&example.problem, i, k), feature_of(&example.problem, 0, k));
        for (int32_t k = n_features - n_words; k < n_features; k++)
            words += feature_of(&example.problem, i, k);
        ck_assert_float_eq(words, (float)recipe.n_scales);
    }
}

/* The label with most bilinear weight among all patches, weights by the definition: hat functions about the centres. */
static int32_t vote_of(float *most, const struct clv_example *example, const int32_t *y, int32_t n_labels, int32_t px,
                       int32_t py)
{
    const struct clv_patch_grid *grid = &example->grid;
    double votes[8] = {0}, sizes[2] = {fmin(grid->size_px, grid->width), fmin(grid->size_px, grid->height)};
    double at[2] = {(px + 0.5) * grid->width / example->width, (py + 0.5) * grid->height / example->height};
    int32_t counts[2] = {grid->n_columns, grid->n_rows}, best = 0;
    for (int k = 0; k < 2; k++) /* beyond the outer centres as on them */
        at[k] = fmin(fmax(at[k], sizes[k] / 2), sizes[k] / 2 + (counts[k] - 1) * grid->step_px);
    for (int32_t i = 0; i < example->problem.n_nodes; i++) {
        double dx = fabs(at[0] - (i % counts[0] * grid->step_px + sizes[0] / 2)) / grid->step_px;
        double dy = fabs(at[1] - (i / counts[0] * grid->step_px + sizes[1] / 2)) / grid->step_px;
        votes[y[i]] += fmax(0, 1 - dx) * fmax(0, 1 - dy);
    }
    for (int32_t b = 1; b < n_labels; b++)
        best = votes[b] > votes[best] ? b : best;
    *most = (float)votes[best];
    return best;
}

TEST(the_patches_around_a_pixel_vote_by_how_near_they_are)
{
    static const int32_t sizes[][2] = {{1, 1}, {9, 70}, {20, 33}, {64, 47}, {101, 76}};
    struct clv_recipe recipe = patch_recipe(CLV_BLOCK_SIZE);
    recipe.working_pixels = 4000; /* the last one is shrunk */
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int32_t width = sizes[s][0], height = sizes[s][1], y[200];
        OWNED(clv_image_release) struct clv_image image = noisy_image(width, height);
        OWNED(clv_example_release) struct clv_example example = {0};
        must(clv_example_extract(&example, &image, &recipe, err));
        size_t n = (size_t)width * (size_t)height;
        OWNED_ARRAY float *votes = malloc(3 * n * sizeof *votes);
        OWNED_ARRAY uint8_t *pixels = malloc(n), *alone = malloc(n);
        ck_assert_int_le(example.problem.n_nodes, 200);
        for (int32_t i = 0; i < example.problem.n_nodes; i++)
            y[i] = (int32_t)rng_below(1, RNG_STREAM(RNG_TEST, 3), (uint64_t)i, 3);
        must(clv_example_vote(pixels, votes, &example, y, 3, err));
        must(clv_example_vote(alone, NULL, &example, y, 3, err));
        ck_assert_mem_eq(pixels, alone, n);
        for (size_t p = 0; p < n; p++) {
            float most, own = votes[pixels[p] * n + p];
            vote_of(&most, &example, y, 3, (int32_t)p % width, (int32_t)p / width);
            ck_assert_float_eq_tol(own, most, 1e-5f);
            ck_assert_float_eq_tol(votes[p] + votes[n + p] + votes[2 * n + p], 1, 1e-5f);
        }
        y[0] = 3;
        must_fail(CLV_ERR_USAGE, "node 0 has the label 3 of 3", clv_example_vote(pixels, NULL, &example, y, 3, err));
    }
}

TEST(patches_that_are_mostly_void_are_hidden)
{
    struct clv_recipe recipe = patch_recipe(CLV_BLOCK_SIZE);
    OWNED(clv_image_release) struct clv_image image =
        noisy_image(30, 20); /* two patches side by side, nearest to 15 columns each */
    OWNED(clv_example_release) struct clv_example example = {0};
    uint8_t labels[20 * 30];
    struct clv_mask mask = {30, 20, labels, NULL};
    must(clv_example_extract(&example, &image, &recipe, err));
    ck_assert_int_eq(example.problem.n_nodes, 2);
    for (int k = 0; k < 600; k++)
        labels[k] = k % 30 < 8 ? CLV_VOID : k % 30 < 22 ? 2 : 1; /* 7 of 15 known; 7 of label 2 and 8 of label 1 */
    must(clv_example_set_truth(&example, &mask, 3, err));
    ck_assert_int_eq(example.label[0], CLV_UNKNOWN);
    ck_assert_int_eq(example.label[1], 1);
    for (int b = 0; b < 3; b++)
        ck_assert_float_eq(example.theta[b], 0);
    for (int k = 0; k < 600; k += 30)
        labels[k] = 1; /* 8 of 15 */
    must(clv_example_set_truth(&example, &mask, 3, err));
    ck_assert_int_ne(example.label[0], CLV_UNKNOWN);
}

TEST(feature_files_keep_patches)
{
    OWNED(clv_set_release) struct clv_set set = synthetic(3);
    struct clv_recipe recipe = patch_recipe(CLV_BLOCK_RGB | CLV_BLOCK_SIZE), read = {0};
    recipe.patch_px = 9;
    recipe.patch_step_px = 6;
    recipe.working_pixels = 1000;
    OWNED(dataset_drop) struct clv_dataset *memory = NULL, *file = NULL;
    OWNED(clv_image_release) struct clv_image image = {0};
    OWNED(clv_example_release) struct clv_example fresh = {0}, kept = {0};
    const char *path = here("f.safetensors");
    must(clv_dataset_extract(&memory, &set, &recipe, 2, NULL, NULL, err));
    must(clv_features_write(path, &set, &recipe, 2, NULL, NULL, err));
    must(clv_features_open(&file, &read, path, err));
    ck_assert_mem_eq(&read, &recipe, sizeof recipe);
    for (size_t i = 0; i < 3; i++) {
        struct clv_problem a = clv_dataset_problem(memory, i), b = clv_dataset_problem(file, i);
        expect_same(&a, &b, 2);
    }
    must(clv_image_read(&image, set.items[1].image, NULL, err));
    must(clv_example_extract(&fresh, &image, &recipe, err));
    must(dataset_example(&kept, file, 1, err));
    ck_assert_mem_eq(&fresh.grid, &kept.grid, sizeof fresh.grid);
    ck_assert_int_eq(kept.grid.n_columns * kept.grid.n_rows, kept.problem.n_nodes);
}

TEST(recipes_out_of_range_are_named)
{
    OWNED(clv_image_release) struct clv_image image = noisy_image(30, 20);
    struct clv_example example = {0};
    struct clv_recipe recipe = patch_recipe(CLV_BLOCK_SIZE);
    recipe.patch_px = 0;
    must_fail(CLV_ERR_USAGE, "patch_px is 0", clv_example_extract(&example, &image, &recipe, err));
    recipe = patch_recipe(CLV_BLOCK_SIZE);
    recipe.patch_step_px = 2000;
    must_fail(CLV_ERR_USAGE, "patch_step_px is 2000", clv_example_extract(&example, &image, &recipe, err));
    recipe = patch_recipe(CLV_BLOCK_SURROUND);
    recipe.nodes = CLV_NODES_SUPERPIXELS;
    must_fail(CLV_ERR_USAGE, "for patches", clv_example_extract(&example, &image, &recipe, err));
}
