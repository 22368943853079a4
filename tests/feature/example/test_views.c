/* What recipes may choose besides the blocks' defaults: VLFeat's descriptors, kernel maps and HOG. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "feature/dataset/dataset.h"
#include "feature/example/example.h"
#include "feature/recipe/recipe.h"
#include "feature/small_set.h"

enum { N_WORDS = 12 };

static struct clv_recipe recipe_of(int32_t nodes, int32_t sift, int32_t kernel_map)
{
    struct clv_recipe recipe;
    clv_recipe_init(&recipe);
    recipe.nodes = nodes;
    recipe.blocks = nodes == CLV_NODES_PATCHES ? CLV_BLOCK_ALL & ~CLV_BLOCK_MAPS
                                               : CLV_BLOCK_SUPERPIXELS | CLV_BLOCK_RGB | CLV_BLOCK_WORD | CLV_BLOCK_HOG;
    recipe.slic.n_superpixels = 40;
    recipe.sift = sift;
    recipe.kernel_map = kernel_map;
    give_random_words(&recipe, N_WORDS);
    return recipe;
}

TESTS(features_of_images_of_any_size_are_finite, 0, 12)
{
    static const int32_t sizes[][2] = {{1, 1}, {1, 40}, {37, 1}, {2, 3}, {9, 6}, {60, 45}};
    OWNED(clv_recipe_release) struct clv_recipe recipe = recipe_of(_i % 2, _i / 2 % 2, _i / 4);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        OWNED(clv_image_release) struct clv_image image = {0};
        OWNED(clv_example_release) struct clv_example example = {0};
        must(clv_image_new(&image, sizes[k][0], sizes[k][1], 3, err));
        for (int32_t p = 0; p < image.width * image.height * 3; p++)
            image.pixels[p] = (uint8_t)(p * 37 % 251 / (1 + p / 3 % image.width % 5));
        must(clv_example_extract(&example, &image, &recipe, err));
        for (int64_t e = 0; e < example.problem.row[example.problem.n_nodes]; e++)
            ck_assert(isfinite(example.problem.value[e]));
        for (int32_t e = 0; e < example.problem.n_edges * example.problem.n_edge_features; e++)
            ck_assert(isfinite(example.problem.edge_features[e]) && example.problem.edge_features[e] >= 0);
    }
}

TEST(features_are_the_same_at_any_number_of_threads)
{
    OWNED(clv_set_release) struct clv_set set = synthetic(3);
    OWNED(clv_recipe_release) struct clv_recipe recipe =
        recipe_of(CLV_NODES_SUPERPIXELS, CLV_SIFT_VLFEAT, CLV_KERNEL_MAP_CHI2);
    OWNED(dataset_drop) struct clv_dataset *one = NULL, *many = NULL;
    must(clv_dataset_extract(&one, &set, &recipe, 1, NULL, NULL, err));
    must(clv_dataset_extract(&many, &set, &recipe, 3, NULL, NULL, err));
    for (size_t i = 0; i < 3; i++) {
        struct clv_problem a = clv_dataset_problem(one, i), b = clv_dataset_problem(many, i);
        expect_same(&a, &b, 2);
    }
}

/* row[n_features] = a node's features. */
static void unpack(float *row, const struct clv_problem *problem, int32_t node)
{
    memset(row, 0, (size_t)problem->n_features * sizeof *row);
    for (int64_t e = problem->row[node]; e < problem->row[node + 1]; e++)
        row[problem->index[e]] = problem->value[e];
}

static double kernel(int32_t kind, double h, double g)
{
    return kind == CLV_KERNEL_MAP_CHI2 ? (h + g > 0 ? 2 * h * g / (h + g) : 0) : fmin(h, g);
}

/* Of two nodes, between columns a.. of plain rows (roots of shares, times `weight`) and b.. of mapped ones. */
static void expect_kernel(int32_t kind, float *const plain[2], float *const mapped[2], int32_t a, int32_t b,
                          int32_t n_bins, double weight)
{
    double exact = 0, product = 0;
    for (int32_t k = 0; k < n_bins; k++)
        exact += kernel(kind, pow(plain[0][a + k] / weight, 2), pow(plain[1][a + k] / weight, 2));
    for (int32_t k = 0; k < 3 * n_bins; k++)
        product += (double)mapped[0][b + k] * (double)mapped[1][b + k];
    ck_assert_double_le(fabs(product / (weight * weight) - exact), kind == CLV_KERNEL_MAP_CHI2 ? 0.06 : 0.16);
}

TESTS(rows_of_mapped_histograms_multiply_to_the_kernel, CLV_KERNEL_MAP_CHI2, CLV_KERNEL_MAP_INTERSECTION + 1)
{
    enum { CHROMA = 256, RGB = 48, STATISTICS = 6 };
    int32_t kind = _i;
    OWNED(clv_set_release) struct clv_set set = synthetic(1);
    struct clv_recipe recipes[] = {recipe_of(CLV_NODES_SUPERPIXELS, CLV_SIFT_CLEAVE, CLV_KERNEL_MAP_NONE),
                                   recipe_of(CLV_NODES_SUPERPIXELS, CLV_SIFT_CLEAVE, kind)};
    struct clv_dataset *datasets[2];
    float *rows[2][2];
    struct clv_problem problems[2];
    for (int k = 0; k < 2; k++) {
        must(clv_dataset_extract(&datasets[k], &set, &recipes[k], 1, NULL, NULL, err));
        problems[k] = clv_dataset_problem(datasets[k], 0);
        for (int node = 0; node < 2; node++)
            rows[k][node] = calloc((size_t)problems[k].n_features, sizeof(float));
    }
    int32_t words = 4 * N_WORDS, colours = RGB + CHROMA;
    ck_assert_int_eq(problems[1].n_features - problems[0].n_features, 2 * (words + colours + RGB));
    for (int32_t node = 0; node + 1 < problems[0].n_nodes; node++) {
        for (int k = 0; k < 2; k++)
            for (int other = 0; other < 2; other++)
                unpack(rows[k][other], &problems[k], node + other);
        for (int32_t s = 0; s < 4; s++)
            expect_kernel(kind, rows[0], rows[1], s * N_WORDS, 3 * s * N_WORDS, N_WORDS, 1);
        expect_kernel(kind, rows[0], rows[1], words, 3 * words, RGB, 1);
        expect_kernel(kind, rows[0], rows[1], words + RGB + STATISTICS, 3 * (words + RGB) + STATISTICS, CHROMA, 0.5);
        for (int32_t k = 0; k < STATISTICS; k++)
            ck_assert_float_eq(rows[0][0][words + RGB + k], rows[1][0][3 * (words + RGB) + k]);
    }
    for (int k = 0; k < 2; k++) {
        for (int node = 0; node < 2; node++)
            free(rows[k][node]);
        clv_dataset_free(datasets[k]);
        clv_recipe_release(&recipes[k]);
    }
}

TEST(files_have_the_choices_and_older_ones_read_as_the_defaults)
{
    struct clv_recipe recipe, read = {0};
    struct text text = {0};
    clv_recipe_init(&recipe);
    recipe.blocks = CLV_BLOCK_SIZE;
    text_init(&text, 4096);
    recipe_put_json(&text, &recipe);
    ck_assert_ptr_null(strstr(text.bytes, "sift\""));
    ck_assert_ptr_null(strstr(text.bytes, "kmeans"));
    ck_assert_ptr_null(strstr(text.bytes, "word_search"));
    ck_assert_ptr_null(strstr(text.bytes, "kernel_map"));
    text_release(&text);

    OWNED(clv_set_release) struct clv_set set = synthetic(1);
    struct clv_dataset *dataset;
    const char *path = here("choices.safetensors");
    recipe.sift = CLV_SIFT_VLFEAT;
    recipe.kmeans = CLV_KMEANS_VLFEAT;
    recipe.word_search = CLV_WORD_SEARCH_GROUPS;
    recipe.kernel_map = CLV_KERNEL_MAP_INTERSECTION;
    recipe.blocks = CLV_BLOCK_SIZE | CLV_BLOCK_HOG;
    must(clv_features_write(path, &set, &recipe, 1, NULL, NULL, err));
    must(clv_features_open(&dataset, &read, path, err));
    ck_assert_int_eq(read.sift, CLV_SIFT_VLFEAT);
    ck_assert_int_eq(read.kmeans, CLV_KMEANS_VLFEAT);
    ck_assert_int_eq(read.word_search, CLV_WORD_SEARCH_GROUPS);
    ck_assert_int_eq(read.kernel_map, CLV_KERNEL_MAP_INTERSECTION);
    ck_assert_int_eq(read.blocks, CLV_BLOCK_SIZE | CLV_BLOCK_HOG);
    clv_dataset_free(dataset);
    clv_recipe_release(&read);

    static const char *const names[] = {"sift", "kmeans", "word_search", "kernel_map"};
    int32_t *const choices[] = {&recipe.sift, &recipe.kmeans, &recipe.word_search, &recipe.kernel_map};
    for (size_t k = 0; k < 4; k++) {
        int32_t good = *choices[k];
        *choices[k] = 3;
        text_init(&text, 4096);
        recipe_put_json(&text, &recipe);
        must_fail(CLV_ERR_DATA, formatted("%s is 3", names[k]), recipe_read(&read, text.bytes, NULL, "x", err));
        text_release(&text);
        *choices[k] = good;
    }
}
