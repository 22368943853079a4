#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base.h"
#include "data/data.h"
#include "feature/dataset/dataset.h"
#include "feature/small_set.h"
#include "support/sample.h"
#include "support/support.h"

TEST(features_read_back_equal_what_extraction_gives)
{
    OWNED(clv_set_release) struct clv_set set = synthetic(10);
    struct clv_recipe recipe = plain_recipe(), read = {0};
    OWNED(dataset_drop) struct clv_dataset *memory = NULL, *file = NULL;
    array_free(set.items[3].mask);
    set.items[3].mask = NULL;
    const char *path = here("f.safetensors");
    must(clv_dataset_extract(&memory, &set, &recipe, 2, NULL, NULL, err));
    must(clv_features_write(path, &set, &recipe, 2, NULL, NULL, err));
    must(clv_features_open(&file, &read, path, err));
    ck_assert_mem_eq(&read, &recipe, sizeof recipe);
    ck_assert_uint_eq(clv_dataset_size(file), 10);
    ck_assert_int_eq(clv_dataset_n_labels(file), 2);
    ck_assert_str_eq(dataset_labels(file)->names[1], "foreground");
    ck_assert_str_eq(dataset_labels(memory)->names[1], "foreground");
    for (size_t i = 0; i < 10; i++) {
        struct clv_problem a = clv_dataset_problem(memory, i), b = clv_dataset_problem(file, i);
        ck_assert_str_eq(clv_dataset_name(file, i), set.items[i].name);
        expect_same(&a, &b, 2);
        ck_assert_int_eq(b.label == NULL, i == 3);
    }
    must_fail(CLV_ERR_USAGE, "cannot grow", clv_dataset_add(file, &(struct clv_problem){0}, "x", err));
}

/* By the definition: counts over the mean image's known pixels, the label with most of them. */
static void expect_counted(const struct clv_dataset *dataset)
{
    double pixels = 0, n_known = 0, total = 0;
    for (size_t i = 0; i < clv_dataset_size(dataset); i++) {
        const float *counts = dataset->items[i].counts;
        size_t n = (size_t)dataset->items[i].problem.n_nodes;
        for (size_t k = 0; counts && k < 2 * n; k++)
            pixels += (double)counts[k];
        n_known += counts != NULL;
    }
    for (size_t i = 0; i < clv_dataset_size(dataset); i++) {
        const struct clv_problem problem = clv_dataset_problem(dataset, i);
        const float *counts = dataset->items[i].counts;
        for (size_t node = 0; counts && node < (size_t)problem.n_nodes; node++) {
            const float *own = &counts[2 * node];
            for (size_t b = 0; b < 2; b++)
                ck_assert_float_eq(problem.theta[2 * node + b], (float)((double)own[b] * n_known / pixels));
            ck_assert_int_eq(problem.label[node], own[0] + own[1] == 0 ? CLV_UNKNOWN : own[1] > own[0]);
            total += (double)(problem.theta[2 * node] + problem.theta[2 * node + 1]);
        }
    }
    ck_assert_double_eq_tol(total, n_known, 1e-4); /* the mean loss of all wrong is 1 */
}

/* Label 1's sum of theta over label 0's, and of all. */
static double odds_of_foreground(double *total, const struct clv_dataset *dataset)
{
    double sum[2] = {0};
    for (size_t i = 0; i < clv_dataset_size(dataset); i++) {
        struct clv_problem problem = clv_dataset_problem(dataset, i);
        for (size_t k = 0; problem.theta && k < 2 * (size_t)problem.n_nodes; k++)
            sum[k % 2] += (double)problem.theta[k];
        for (size_t node = 0; problem.theta && node < (size_t)problem.n_nodes; node++)
            if (problem.label[node] != CLV_UNKNOWN)
                ck_assert_int_eq(problem.label[node], problem.theta[2 * node + 1] > problem.theta[2 * node]);
    }
    *total = sum[0] + sum[1];
    return sum[1] / sum[0];
}

TEST(rare_labels_weigh_more_by_their_share)
{
    OWNED(clv_set_release) struct clv_set set = synthetic(4);
    OWNED(clv_recipe_release) struct clv_recipe recipe = plain_recipe();
    OWNED(dataset_drop) struct clv_dataset *memory = NULL;
    struct clv_dataset *file;
    const char *path = here("l.safetensors");
    double total, weighed;
    must(clv_features_write(path, &set, &recipe, 1, NULL, NULL, err));
    for (int k = 0; k <= 2; k++) {
        double exponent = k / 2.0;
        must(clv_dataset_extract(&memory, &set, &recipe, 1, NULL, NULL, err));
        must(clv_features_open(&file, NULL, path, err));
        must(dataset_weigh(memory, CLV_LOSS_COUNTS, err));
        must(dataset_weigh(file, CLV_LOSS_COUNTS, err));
        double odds = odds_of_foreground(&total, memory);
        ck_assert_double_lt(odds, 0.9);
        must(dataset_weigh_labels(memory, exponent, err));
        must(dataset_weigh_labels(file, exponent, err));
        ck_assert_double_eq_tol(odds_of_foreground(&weighed, memory), pow(odds, 1 - exponent), 1e-4);
        ck_assert_double_eq_tol(weighed, total, 1e-4);
        for (size_t i = 0; i < 4; i++) {
            struct clv_problem a = clv_dataset_problem(memory, i), b = clv_dataset_problem(file, i);
            expect_same(&a, &b, 2);
        }
        clv_dataset_free(file);
        if (k < 2)
            clv_dataset_free(memory);
    }
    must_fail(CLV_ERR_USAGE, "must be in 0..1", dataset_weigh_labels(memory, 1.5, err));
    must_fail(CLV_ERR_USAGE, "must be in 0..1", dataset_weigh_labels(memory, NAN, err));
}

TEST(the_loss_is_weighed_by_balance_or_by_counts)
{
    OWNED(clv_set_release) struct clv_set set = synthetic(5);
    struct clv_recipe recipe = plain_recipe();
    OWNED(dataset_drop) struct clv_dataset *memory = NULL, *file = NULL, *own = NULL, *balanced = NULL;
    array_free(set.items[3].mask);
    set.items[3].mask = NULL;
    const char *path = here("w.safetensors");
    must(clv_dataset_extract(&memory, &set, &recipe, 2, NULL, NULL, err));
    must(clv_dataset_extract(&balanced, &set, &recipe, 2, NULL, NULL, err));
    must(clv_features_write(path, &set, &recipe, 2, NULL, NULL, err));
    must(clv_features_open(&file, NULL, path, err));
    for (int round = 0; round < 2; round++) { /* the second time nothing happens */
        must(dataset_weigh(memory, CLV_LOSS_COUNTS, err));
        must(dataset_weigh(file, CLV_LOSS_COUNTS, err));
        ck_assert(dataset_counts_errors(memory) && dataset_counts_errors(file));
        expect_counted(memory);
    }
    for (int way = 0; way < 2; way++) { /* and back */
        for (size_t i = 0; i < 5; i++) {
            struct clv_problem a = clv_dataset_problem(memory, i), b = clv_dataset_problem(file, i);
            expect_same(&a, &b, 2);
        }
        must(dataset_weigh(memory, CLV_LOSS_BALANCED, err));
        must(dataset_weigh(file, CLV_LOSS_BALANCED, err));
    }
    for (size_t i = 0; i < 5; i++) {
        struct clv_problem a = clv_dataset_problem(memory, i), b = clv_dataset_problem(balanced, i);
        expect_same(&a, &b, 2);
    }
    must(clv_dataset_new(&own, 2, err));
    for (size_t i = 0; i < 2; i++) {
        struct clv_problem problem = clv_dataset_problem(balanced, i);
        must(clv_dataset_add(own, &problem, i ? "second" : "first", err));
    }
    must(dataset_weigh(own, CLV_LOSS_BALANCED, err));
    must_fail(CLV_ERR_USAGE, "first: its loss has weights of its own", dataset_weigh(own, CLV_LOSS_COUNTS, err));
    ck_assert_int_eq(dataset_counts_errors(own), 0);
}

TEST(a_dataset_in_memory_reads_back_from_its_file)
{
    OWNED(clv_set_release) struct clv_set set = synthetic(4);
    struct clv_recipe recipe = plain_recipe();
    OWNED(dataset_drop) struct clv_dataset *memory = NULL, *file = NULL, *empty = NULL;
    array_free(set.items[2].mask);
    set.items[2].mask = NULL;
    const char *path = here("d.safetensors");
    must(clv_dataset_extract(&memory, &set, &recipe, 1, NULL, NULL, err));
    must(clv_dataset_write(path, memory, err));
    must(clv_features_open(&file, NULL, path, err));
    ck_assert_str_eq(dataset_labels(file)->names[1], "foreground");
    ck_assert_int_eq(dataset_pairwise(file), CLV_PAIRWISE_POTTS);
    for (size_t i = 0; i < 4; i++) {
        struct clv_problem a = clv_dataset_problem(memory, i), b = clv_dataset_problem(file, i);
        ck_assert_str_eq(clv_dataset_name(file, i), set.items[i].name);
        expect_same(&a, &b, 2);
    }
    must_fail(CLV_ERR_CREATE, "/nowhere/d", clv_dataset_write("/nowhere/d", memory, err));
    must(clv_dataset_new(&empty, 2, err));
    must_fail(CLV_ERR_USAGE, "d.safetensors: nothing to write", clv_dataset_write(path, empty, err));
}

/* Rows of a file's items begin where those of the items before end. */
TEST(a_file_of_many_items_is_written_again_in_the_memory_of_its_entries)
{
    enum { ITEMS = 20000, ENTRIES = 20 };
    const int64_t row[] = {0, ENTRIES};
    int32_t index[ENTRIES];
    float value[ENTRIES] = {1};
    const struct clv_problem problem = {
        .n_nodes = 1, .n_features = ENTRIES, .n_edge_features = 1, .row = row, .index = index, .value = value};
    char path[512], again[512];
    snprintf(path, sizeof path, "%s/many", temporary_folder());
    snprintf(again, sizeof again, "%s/again", temporary_folder());
    OWNED(dataset_drop) struct clv_dataset *dataset = NULL;
    for (int32_t k = 0; k < ENTRIES; k++)
        index[k] = k;
    must(clv_dataset_new(&dataset, 2, err));
    for (int i = 0; i < ITEMS; i++)
        must(clv_dataset_add(dataset, &problem, formatted("%d", i), err));
    must(clv_dataset_write(path, dataset, err));
    clv_dataset_free(dataset);
    must(clv_features_open(&dataset, NULL, path, err));
    if (!IS_SANITIZED)
        leave_memory(256e6);
    must(clv_dataset_write(again, dataset, err));
    ck_assert(same_bytes(path, again));
}

TEST(examples_from_a_file_paint_like_fresh_ones)
{
    OWNED(clv_set_release) struct clv_set set = synthetic(2);
    struct clv_recipe recipe = plain_recipe();
    recipe.working_pixels = 1000; /* smaller than the images: both sizes matter */
    OWNED(dataset_drop) struct clv_dataset *file = NULL;
    OWNED(clv_image_release) struct clv_image image = {0};
    OWNED(clv_example_release) struct clv_example fresh = {0}, read = {0};
    const char *path = here("f.safetensors");
    must(clv_features_write(path, &set, &recipe, 1, NULL, NULL, err));
    must(clv_features_open(&file, NULL, path, err));
    must(clv_image_read(&image, set.items[1].image, NULL, err));
    must(clv_example_extract(&fresh, &image, &recipe, err));
    must(dataset_example(&read, file, 1, err));
    ck_assert_int_eq(read.width, image.width);
    ck_assert_int_eq(read.height, image.height);
    ck_assert_int_eq(read.superpixels.n, fresh.superpixels.n);
    OWNED_ARRAY int32_t *y = malloc((size_t)fresh.problem.n_nodes * sizeof *y);
    for (int32_t i = 0; i < fresh.problem.n_nodes; i++)
        y[i] = i % 2;
    size_t n = (size_t)image.width * (size_t)image.height;
    OWNED_ARRAY uint8_t *a = malloc(n), *b = malloc(n);
    must(clv_example_paint(a, &fresh, y, err));
    must(clv_example_paint(b, &read, y, err));
    ck_assert_mem_eq(a, b, n);
    must_fail(CLV_ERR_USAGE, "no item 2 of 2", dataset_example(&read, file, 2, err));
}

TEST(the_file_is_the_same_at_any_thread_count)
{
    OWNED(clv_set_release) struct clv_set set = synthetic(19);
    struct clv_recipe recipe = plain_recipe();
    const char *one = here("1"), *four = here("4");
    must(clv_features_write(one, &set, &recipe, 1, NULL, NULL, err));
    must(clv_features_write(four, &set, &recipe, 4, NULL, NULL, err));
    size_t n, m;
    OWNED_ARRAY char *a = slurp(one, &n), *b = slurp(four, &m);
    ck_assert_uint_eq(n, m);
    ck_assert_mem_eq(a, b, n);
}

TEST(failures_leave_no_file)
{
    OWNED(clv_set_release) struct clv_set set = synthetic(3);
    struct clv_recipe recipe = plain_recipe();
    const char *folder = here("out");
    const char *path = formatted("%s/f", folder);
    ck_assert_int_eq(mkdir(folder, 0777), 0);
    must_fail(CLV_ERR_CREATE, "/nowhere/f: cannot create",
              clv_features_write("/nowhere/f", &set, &recipe, 1, NULL, NULL, err));
    must_fail(CLV_ERR_IO, "/dev/full", clv_features_write("/dev/full", &set, &recipe, 1, NULL, NULL, err));
    char *kept = set.items[1].name;
    set.items[1].name = "two\nlines";
    must_fail(CLV_ERR_DATA, "two?lines: the name", clv_features_write(path, &set, &recipe, 1, NULL, NULL, err));
    set.items[1].name = "latin \xe9";
    must_fail(CLV_ERR_DATA, "is not UTF-8", clv_features_write(path, &set, &recipe, 1, NULL, NULL, err));
    set.items[1].name = kept;
    spill(set.items[2].image, "", 0);
    must_fail(CLV_ERR_DATA, set.items[2].image, clv_features_write(path, &set, &recipe, 1, NULL, NULL, err));
    set.n_items = 0;
    must_fail(CLV_ERR_USAGE, "no images", clv_features_write(path, &set, &recipe, 1, NULL, NULL, err));
    set.n_items = 3;
    OWNED(path_list_release) struct path_list left = {0};
    must(folder_walk(&left, folder, err));
    ck_assert_uint_eq(left.n, 0);
}

TEST(real_horses_are_written_and_read)
{
    OWNED(clv_set_release) struct clv_set set = {0};
    const char *path = real_data("real_horses_are_written_and_read", "horses/manifest.tsv");
    if (!path)
        return;
    must(clv_set_read(&set, path, err));
    must(clv_set_select(&set, "test", err));
    for (size_t i = 20; i < set.n_items; i++)
        item_release(&set.items[i]);
    set.n_items = 20;
    struct clv_recipe recipe = plain_recipe();
    recipe.slic.n_superpixels = 300;
    const char *features = here("horses");
    OWNED(dataset_drop) struct clv_dataset *dataset = NULL;
    must(clv_features_write(features, &set, &recipe, 2, NULL, NULL, err));
    must(clv_features_open(&dataset, NULL, features, err));
    ck_assert_uint_eq(clv_dataset_size(dataset), 20);
    for (size_t i = 0; i < 20; i++) {
        struct clv_problem problem = clv_dataset_problem(dataset, i);
        double total = 0; /* of the balanced error: every image has both labels */
        for (size_t k = 0; k < 2 * (size_t)problem.n_nodes; k++)
            total += problem.theta[k];
        ck_assert_double_eq_tol(total, 1, 1e-4);
    }
}
