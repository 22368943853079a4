/* Features left out: what is still computed stays the same to the bit, what is not needs nothing of what it came
 * from. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/rng.h"
#include "feature/recipe/plan.h"
#include "feature/small_set.h"

enum { SIZE = CLV_DESCRIPTOR_SIZE };

static struct clv_recipe worded_recipe(int32_t nodes, int32_t more_blocks, int32_t kernel_map)
{
    struct clv_recipe recipe;
    clv_recipe_init(&recipe);
    recipe.nodes = nodes;
    recipe.blocks = nodes == CLV_NODES_PATCHES ? CLV_BLOCK_ALL & ~CLV_BLOCK_MAPS : CLV_BLOCK_SUPERPIXELS | more_blocks;
    recipe.kernel_map = kernel_map;
    recipe.slic.n_superpixels = 40;
    give_random_words(&recipe, 12);
    return recipe;
}

static size_t n_all(const struct clv_recipe *recipe)
{
    return (size_t)clv_recipe_n_features(recipe) + (size_t)clv_recipe_n_edge_features(recipe);
}

/* The same features, whether left out while extracting or afterwards; codebooks that are not looked at may be gone. */
static void expect_same_extraction(const struct clv_set *set, struct clv_recipe *recipe,
                                   const struct clv_dataset *whole, uint8_t *kept)
{
    struct clv_dataset *extracted, *copied;
    struct clv_codebook books[CLV_MAX_SCALES];
    bool words[CLV_MAX_SCALES];
    memcpy(books, recipe->codebooks, sizeof books);
    recipe->kept = kept;
    plan_words(words, recipe);
    for (int s = 0; s < CLV_MAX_SCALES; s++)
        if (!words[s])
            recipe->codebooks[s] = (struct clv_codebook){0};
    must(clv_dataset_extract(&extracted, set, recipe, 1, NULL, NULL, err));
    must(clv_dataset_keep(&copied, whole, kept, err));
    ck_assert_uint_eq(clv_dataset_size(extracted), clv_dataset_size(copied));
    for (size_t i = 0; i < clv_dataset_size(copied); i++) {
        struct clv_problem a = clv_dataset_problem(extracted, i), b = clv_dataset_problem(copied, i);
        expect_same(&a, &b, 2);
    }
    clv_dataset_free(extracted);
    clv_dataset_free(copied);
    memcpy(recipe->codebooks, books, sizeof books);
    recipe->kept = NULL;
}

START_TEST(features_left_out_leave_the_others_as_they_were)
{
    static const struct {
        int32_t nodes, more_blocks, kernel_map;
        size_t n_groups;
    } cases[] = {{CLV_NODES_SUPERPIXELS, 0, CLV_KERNEL_MAP_NONE, 9},
                 {CLV_NODES_PATCHES, 0, CLV_KERNEL_MAP_NONE, 14},
                 {CLV_NODES_SUPERPIXELS, CLV_BLOCK_HOG | CLV_BLOCK_WORD, CLV_KERNEL_MAP_CHI2, 10},
                 {CLV_NODES_PATCHES, 0, CLV_KERNEL_MAP_INTERSECTION, 14}};
    struct clv_set set = synthetic(2);
    struct clv_recipe recipe = worded_recipe(cases[_i].nodes, cases[_i].more_blocks, cases[_i].kernel_map);
    struct clv_dataset *whole;
    must(clv_dataset_extract(&whole, &set, &recipe, 1, NULL, NULL, err));
    size_t n = n_all(&recipe), n_groups = clv_recipe_n_groups(&recipe);
    uint8_t *kept = malloc(n), *group = malloc(n);
    char name[32];
    ck_assert_uint_eq(n_groups, cases[_i].n_groups);
    for (size_t g = 0; g < n_groups; g++) { /* all but one group, and nothing but it */
        clv_recipe_group(name, sizeof name, group, &recipe, g);
        for (int only = 0; only < 2; only++) {
            for (size_t k = 0; k < n; k++)
                kept[k] = only ? group[k] : !group[k];
            expect_same_extraction(&set, &recipe, whole, kept);
        }
    }
    for (uint64_t round = 0; round < 8; round++) { /* any subset, from none to all */
        for (size_t k = 0; k < n; k++)
            kept[k] = rng_uniform(2, RNG_STREAM(RNG_TEST, round), k) * 7 < (double)round;
        expect_same_extraction(&set, &recipe, whole, kept);
    }
    free(kept);
    free(group);
    clv_dataset_free(whole);
    clv_recipe_release(&recipe);
    clv_set_release(&set);
}
END_TEST

START_TEST(without_a_scale_its_words_are_not_looked_at)
{
    struct clv_recipe recipe = worded_recipe(CLV_NODES_SUPERPIXELS, 0, CLV_KERNEL_MAP_NONE);
    size_t n = n_all(&recipe);
    bool words[CLV_MAX_SCALES];
    char name[32];
    uint8_t *group = malloc(n);
    recipe.kept = array_alloc(n, 1);
    for (size_t s = 0; s < 4; s++) {
        clv_recipe_group(name, sizeof name, group, &recipe, s);
        ck_assert_str_eq(name, formatted("sift%d", 2 << s));
        for (size_t k = 0; k < n; k++)
            recipe.kept[k] = !group[k];
        plan_words(words, &recipe);
        for (size_t t = 0; t < 4; t++)
            ck_assert_int_eq(words[t], t != s);
        recipe.kept[clv_recipe_n_features(&recipe) + 4] = 1; /* texture similarity is that of all scales */
        plan_words(words, &recipe);
        ck_assert(words[s]);
    }
    struct clv_image image = {0};
    struct clv_example example = {0};
    must(clv_image_new(&image, 30, 20, 3, err));
    array_free(recipe.codebooks[3].centres);
    recipe.codebooks[3] = (struct clv_codebook){0};
    must_fail(CLV_ERR_USAGE, "codebook of scale 3", clv_example_extract(&example, &image, &recipe, err));
    must_fail(CLV_ERR_USAGE, "leaves features out", clv_recipe_learn(&recipe, NULL, 0, 1, 1, NULL, NULL, err));
    clv_image_release(&image);
    free(group);
    clv_recipe_release(&recipe);
}
END_TEST

START_TEST(feature_files_say_what_is_left_out)
{
    struct clv_set set = synthetic(2);
    struct clv_recipe recipe = worded_recipe(CLV_NODES_SUPERPIXELS, 0, CLV_KERNEL_MAP_NONE), read = {0};
    struct clv_dataset *opened, *extracted;
    size_t n = n_all(&recipe);
    char name[32];
    recipe.kept = array_alloc(n, 1);
    clv_recipe_group(name, sizeof name, recipe.kept, &recipe, 1);
    recipe.kept[n - 1] = 0; /* of this scale all but the texture */
    const char *path = formatted("%s/kept.safetensors", temporary_folder());
    must(clv_features_write(path, &set, &recipe, 1, NULL, NULL, err));
    must(clv_features_open(&opened, &read, path, err));
    ck_assert_mem_eq(read.kept, recipe.kept, n);
    ck_assert_ptr_null(read.codebooks[0].centres);
    ck_assert_mem_eq(read.codebooks[1].centres, recipe.codebooks[1].centres, (size_t)recipe.n_words * SIZE);
    must(clv_dataset_extract(&extracted, &set, &read, 1, NULL, NULL, err));
    for (size_t i = 0; i < 2; i++) {
        struct clv_problem a = clv_dataset_problem(opened, i), b = clv_dataset_problem(extracted, i);
        expect_same(&a, &b, 2);
    }
    clv_dataset_free(opened);
    clv_dataset_free(extracted);
    clv_recipe_release(&read);
    recipe.kept[5] = 2;
    must(clv_features_write(path, &set, &recipe, 1, NULL, NULL, err));
    must_fail(CLV_ERR_DATA, "\"kept\" is 2 for feature 5", clv_features_open(&opened, &read, path, err));
    clv_recipe_release(&recipe);
    clv_set_release(&set);
}
END_TEST

Suite *keep_suite(void)
{
    Suite *suite = suite_create("keep");
    TCase *tc = tcase_create("keep");
    tcase_add_loop_test(tc, features_left_out_leave_the_others_as_they_were, 0, 4);
    tcase_add_test(tc, without_a_scale_its_words_are_not_looked_at);
    tcase_add_test(tc, feature_files_say_what_is_left_out);
    suite_add_tcase(suite, tc);
    return suite;
}
