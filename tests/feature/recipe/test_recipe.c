#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "feature/recipe/recipe.h"
#include "support/support.h"

enum { SIZE = CLV_DESCRIPTOR_SIZE, N_IMAGES = 5 };

static struct clv_recipe small_recipe(void)
{
    struct clv_recipe recipe;
    clv_recipe_init(&recipe);
    recipe.n_words = 30;
    recipe.n_codebook_samples = 600;
    return recipe;
}

/* Writes images of stripes and noise, and returns their paths. */
static void write_images(const char *paths[N_IMAGES])
{
    for (int i = 0; i < N_IMAGES; i++) {
        OWNED(clv_image_release) struct clv_image image = {0};
        must(clv_image_new(&image, 60 + i, 40, 3, err));
        for (int k = 0; k < image.width * image.height * 3; k++)
            image.pixels[k] = (uint8_t)((k / 3 % image.width / (i + 2) % 2 ? 150 : 20) +
                                        (int)rng_below(1, RNG_STREAM(RNG_TEST, i), (uint64_t)k, 80));
        paths[i] = strdup(here("image%d.png", i));
        must(clv_png_write(paths[i], &image, err));
    }
}

static void free_paths(const char *paths[N_IMAGES])
{
    for (int i = 0; i < N_IMAGES; i++)
        free((char *)paths[i]);
}

TEST(the_same_seed_gives_the_same_recipe_at_any_thread_count_from_files_and_memory)
{
    const char *paths[N_IMAGES];
    write_images(paths);
    OWNED(clv_recipe_release) struct clv_recipe one = small_recipe(), other = small_recipe();
    must(clv_recipe_learn(&one, paths, N_IMAGES, 11, 1, NULL, NULL, err));
    for (int threads = 2; threads <= 8; threads *= 4) {
        /* Again: replaces what was learned. */
        must(clv_recipe_learn(&other, paths, N_IMAGES, 11, threads, NULL, NULL, err));
        for (int s = 0; s < one.n_scales; s++) {
            ck_assert_int_eq(other.codebooks[s].n_words, 30);
            ck_assert_mem_eq(one.codebooks[s].centres, other.codebooks[s].centres, 30 * SIZE);
        }
    }
    struct clv_image images[N_IMAGES] = {0};
    struct clv_item items[N_IMAGES] = {0};
    for (int i = 0; i < N_IMAGES; i++) {
        must(clv_image_read(&images[i], paths[i], NULL, err));
        items[i].pixels = &images[i];
    }
    must(recipe_learn_set(&other, &(struct clv_set){.items = items, .n_items = N_IMAGES}, 11, 2, NULL, NULL, err));
    for (int s = 0; s < one.n_scales; s++)
        ck_assert_mem_eq(one.codebooks[s].centres, other.codebooks[s].centres, 30 * SIZE);
    for (int i = 0; i < N_IMAGES; i++)
        clv_image_release(&images[i]);
    must(clv_recipe_learn(&other, paths, N_IMAGES, 12, 2, NULL, NULL, err));
    ck_assert_mem_ne(one.codebooks[0].centres, other.codebooks[0].centres, 30 * SIZE);
    ck_assert_mem_ne(one.codebooks[0].centres, one.codebooks[1].centres, 30 * SIZE);
    free_paths(paths);
}

TEST(a_learned_recipe_extracts)
{
    const char *paths[N_IMAGES];
    write_images(paths);
    OWNED(clv_recipe_release) struct clv_recipe recipe = small_recipe();
    must(clv_recipe_learn(&recipe, paths, N_IMAGES, 1, 1, NULL, NULL, err));
    OWNED(clv_image_release) struct clv_image image = {0};
    OWNED(clv_example_release) struct clv_example example = {0};
    must(clv_image_read(&image, paths[0], NULL, err));
    must(clv_example_extract(&example, &image, &recipe, err));
    ck_assert_int_eq(example.problem.n_features, clv_recipe_n_features(&recipe));
    free_paths(paths);
}

TEST(a_failed_learning_leaves_the_recipe_alone)
{
    const char *paths[N_IMAGES];
    write_images(paths);
    OWNED(clv_recipe_release) struct clv_recipe recipe = small_recipe();
    must(clv_recipe_learn(&recipe, paths, N_IMAGES, 1, 1, NULL, NULL, err));
    const uint8_t *centres = recipe.codebooks[0].centres;
    const char *missing = paths[2];
    paths[2] = "/nowhere/at/all.png";
    must_fail(CLV_ERR_NO_INPUT, "/nowhere/at/all.png",
              clv_recipe_learn(&recipe, paths, N_IMAGES, 2, 2, NULL, NULL, err));
    must_fail(CLV_ERR_USAGE, "no images", clv_recipe_learn(&recipe, paths, 0, 2, 2, NULL, NULL, err));
    const volatile int stop = 1;
    struct clv_progress progress = {.stop = &stop};
    must_fail(CLV_ERR_INTERRUPTED, "", clv_recipe_learn(&recipe, paths, 1, 2, 2, NULL, &progress, err));
    recipe.bin_size_px[1] = 25;
    must_fail(CLV_ERR_USAGE, "bin_size_px is 25", clv_recipe_learn(&recipe, paths, 1, 2, 2, NULL, NULL, err));
    ck_assert_ptr_eq(recipe.codebooks[0].centres, centres);
    paths[2] = missing;
    free_paths(paths);
}

TEST(without_words_there_is_nothing_to_learn)
{
    struct clv_recipe recipe = small_recipe();
    recipe.blocks = CLV_BLOCK_SUPERPIXELS & ~CLV_BLOCK_WORDS;
    must(clv_recipe_learn(&recipe, NULL, 0, 1, 1, NULL, NULL, err));
    ck_assert_ptr_null(recipe.codebooks[0].centres);
}

/* Only choices may be absent; what describes patches must be whole once a recipe says what its nodes are. */
TEST(a_recipe_that_lacks_a_value_is_refused_by_its_name)
{
    static const char *const names[] = {"working_pixels", "compactness", "bin_size_px", "patch_px", "patch_step_px"};
    struct clv_recipe recipe = small_recipe(), read = {.n_words = 77};
    recipe.nodes = CLV_NODES_PATCHES;
    recipe.scale = 1; /* a choice that stands behind them all */
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        OWNED(text_release) struct text text = {0};
        text_init(&text, 4096);
        recipe_put_json(&text, &recipe);
        char *at = strstr(text.bytes, formatted("\"%s\":", names[k]));
        ck_assert_ptr_nonnull(at);
        const char *next = strstr(at + 1, ",\"");
        ck_assert_ptr_nonnull(next);
        memmove(at, next + 1, strlen(next + 1) + 1);
        must_fail(CLV_ERR_DATA, formatted("x: its recipe has no \"%s\"", names[k]),
                  recipe_read(&read, text.bytes, NULL, "x", err));
        ck_assert_int_eq(read.n_words, 77);
    }
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

TEST(every_feature_has_a_name_of_its_own_whatever_the_blocks)
{
    for (int32_t blocks = 1; blocks <= CLV_BLOCK_MAPS; blocks++) {
        struct clv_recipe recipe = small_recipe();
        recipe.blocks = blocks;
        recipe.n_maps = blocks == CLV_BLOCK_MAPS ? 2 : 0;
        recipe.map_pool = CLV_MAP_MEAN | CLV_MAP_DEVIATION;
        recipe.maps[0] = (struct clv_recipe_map){.name = "one", .kind = CLV_MAP_PROBABILITIES, .n_channels = 2};
        recipe.maps[1] = (struct clv_recipe_map){.name = "two", .kind = CLV_MAP_FEATURES, .n_channels = 3};
        recipe.n_words = 3;
        int32_t n = clv_recipe_n_features(&recipe);
        ck_assert_int_gt(n, 0);
        char(*names)[80] = calloc((size_t)n, sizeof *names);
        for (int32_t k = 0; k < n; k++)
            recipe_feature_name(names[k], sizeof *names, &recipe, k);
        qsort(names, (size_t)n, sizeof *names, compare_names);
        for (int32_t k = 0; k < n; k++) {
            ck_assert_int_gt((int)strlen(names[k]), 2);
            ck_assert(k == 0 || strcmp(names[k - 1], names[k]) != 0);
            ck_assert_ptr_null(strstr(names[k], "no feature"));
        }
        free(names);
    }
    struct clv_recipe recipe = small_recipe();
    char name[80];
    recipe_feature_name(name, sizeof name, &recipe, 47);
    ck_assert_str_eq(name, "word 17 of scale 1");
    recipe_feature_name(name, sizeof name, &recipe, clv_recipe_n_features(&recipe));
    ck_assert_ptr_nonnull(strstr(name, "no feature"));
    recipe_feature_name(name, sizeof name, &recipe, -1);
    ck_assert_ptr_nonnull(strstr(name, "no feature"));
}

TEST(every_edge_feature_has_a_name_of_its_own)
{
    struct clv_recipe recipe = small_recipe();
    int32_t n = clv_recipe_n_edge_features(&recipe);
    for (int32_t k = 0; k < n; k++)
        for (int32_t j = 0; j < k; j++)
            ck_assert_str_ne(recipe_edge_feature_name(&recipe, j), recipe_edge_feature_name(&recipe, k));
    ck_assert_str_eq(recipe_edge_feature_name(&recipe, n), "no such edge feature");
}
