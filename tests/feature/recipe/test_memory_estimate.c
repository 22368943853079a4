/* What making features takes is never more than the estimate, and what does not fit is refused by name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feature/dataset/dataset.h"
#include "feature/recipe/recipe.h"
#include "support/sample.h"
#include "support/support.h"

#define PROCESS 16e6 /* that the program takes before the first image */

/* The recipe of a feature file. */
static struct clv_recipe recipe_of(const char *path)
{
    struct clv_recipe recipe = {0};
    OWNED(dataset_drop) struct clv_dataset *dataset = NULL;
    must(clv_features_open(&dataset, &recipe, path, err));
    return recipe;
}

TEST(features_take_no_more_than_is_estimated)
{
    if (IS_SANITIZED) {
        skip("features_take_no_more_than_is_estimated", "a sanitizer takes memory of its own");
        return;
    }
    static const char *const ways[] = {
        "--working-pixels 200000 --words 30",
        "--working-pixels 1000000 --superpixels 5000 --words 30",
        "--working-pixels 300000 --sift-step 1 --words 30",
        "--working-pixels 500000 --sift vlfeat --words 30",
        "--working-pixels 1000000 --blocks contrast,size",
        "--working-pixels 1000000 --blocks hog,size",
        "--working-pixels 500000 --nodes patches --words 30",
        "--working-pixels 60000 --nodes patches --blocks fisher,hog,position --codebook-samples 2000"};
    char folder[256];
    snprintf(folder, sizeof folder, "%s", temporary_folder());
    run_here("mkdir -p one/images");
    sample_enlarge(here("one/images/photo.png"), 1200, 900);
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        if (strstr(ways[k], "fisher")) /* long rows: what waits is most of it, so that there is to be a batch */
            run_here("cd one/images && for i in 1 2 3 4 5 6 7; do ln photo.png $i.png; done");
        double peak = peak_of(formatted("cd %s && exec \"$CLEAVE\" features -q --data one -t 1 %s %s --overwrite "
                                        "-o f",
                                        folder, strstr(ways[k], ",size") ? "" : "--codebook-samples 2000", ways[k]));
        OWNED(clv_recipe_release) struct clv_recipe recipe = recipe_of(here("f"));
        double reported = PROCESS + memory_of_extraction(&recipe, 1200, 900, 2);
        ck_assert_msg(peak <= reported && reported < 3 * peak, "%s: %g MB reported, %g taken", ways[k],
                      reported / 1e6, peak / 1e6);
    }
}

/* A map of [channels][side][side] of zeros but for the first value; the file takes no space of the disk. */
static void write_map(const char *path, int channels, int side)
{
    char header[119];
    FILE *stream = fopen(path, "wb");
    ck_assert_ptr_nonnull(stream);
    snprintf(header, sizeof header, "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d, %d), }", channels, side,
             side);
    fwrite("\x93NUMPY\1\0v\0", 1, 10, stream);
    fprintf(stream, "%-117s\n%c%c%c%c", header, 0, 0, 0, 0x3f);
    ck_assert_int_eq(fclose(stream), 0);
    run_here("truncate -s %.0f %s", 128 + 4.0 * channels * side * side, path);
}

/* Maps of 64 MB, four at a time: each takes a few of its 16 channels, and what it takes is estimated. */
TEST(large_maps_take_a_few_channels_each)
{
    if (IS_SANITIZED) {
        skip("large_maps_take_a_few_channels_each", "a sanitizer takes memory of its own");
        return;
    }
    char folder[256];
    OWNED(clv_set_release) struct clv_set set = {0};
    snprintf(folder, sizeof folder, "%s", temporary_folder());
    run_here("mkdir -p set maps && cp $ROOT/assets/animals/images/000[1-8].jpg set");
    write_map(here("maps/0001.npy"), 16, 1024);
    run_here("cd maps && for i in 2 3 4 5 6 7 8; do ln 0001.npy 000$i.npy; done");
    double peak = peak_of(formatted("cd %s && exec \"$CLEAVE\" features -q --data set --maps net=maps -t 4 --blocks "
                                    "size,maps --superpixels 100 -o f",
                                    folder));
    OWNED(clv_recipe_release) struct clv_recipe recipe = recipe_of(here("f"));
    must(clv_set_read(&set, here("set"), err));
    must(clv_set_add_maps(&set, "net", here("maps"), err));
    double maps = item_maps_memory(&recipe, &set, &set.items[0], NULL);
    double reported = PROCESS + 4 * (maps + memory_of_extraction(&recipe, 120, 90, 2));
    ck_assert_msg(peak <= reported && peak < 160e6, "%g MB reported, %g taken", reported / 1e6, peak / 1e6);
}

TEST(maps_count_where_threads_are_chosen_and_images_refused)
{
    if (IS_SANITIZED) {
        skip("maps_count_where_threads_are_chosen_and_images_refused", "a sanitizer takes address space of its own");
        return;
    }
    OWNED(clv_set_release) struct clv_set set = {0};
    struct clv_recipe recipe;
    int n_threads = 0;
    run_here("mkdir -p set maps && cp $ROOT/assets/animals/images/0001.jpg set");
    write_map(here("maps/0001.npy"), 4, 1024);
    must(clv_set_read(&set, here("set"), err));
    clv_recipe_init(&recipe);
    recipe.blocks = CLV_BLOCK_SIZE;
    double bare = memory_of_extraction(&recipe, 120, 90, set.labels.n_labels);
    must(clv_set_add_maps(&set, "net", here("maps"), err));
    double maps = item_maps_memory(&recipe, &set, &set.items[0], NULL);
    ck_assert_msg(bare < maps / 4 && maps > 4 * 4.0 * 1024 * 1024, "%g %g", bare, maps);
    leave_memory(2.5 * (bare + maps));
    must(memory_choose_threads(&n_threads, &set, &recipe, NULL, 4, err));
    ck_assert_int_eq(n_threads, 2);
    must(memory_check_extraction(&recipe, &set, &set.items[0], 120, 90, NULL, err));
    leave_memory(0.7 * (bare + maps));
    must_fail(CLV_ERR_MEMORY, "set/0001.jpg: making its features may take",
              memory_check_extraction(&recipe, &set, &set.items[0], 120, 90, NULL, err));
    must_fail(CLV_ERR_MEMORY, "set/0001.jpg: making its features may take",
              memory_choose_threads(&n_threads, &set, &recipe, NULL, 4, err));
}

enum { WIDTH = 3000, HEIGHT = 2400 };

TEST(an_image_that_does_not_fit_is_named_and_the_rest_goes_on)
{
    if (IS_SANITIZED) {
        skip("an_image_that_does_not_fit_is_named_and_the_rest_goes_on", "a sanitizer takes memory of its own");
        return;
    }
    run_here("cp -r $SET mixed");
    sample_enlarge(here("mixed/images/0002.jpg"), WIDTH, HEIGHT);
    OWNED_ARRAY uint8_t *mask = calloc(WIDTH, HEIGHT);
    memset(mask, 1, (size_t)WIDTH * HEIGHT / 2);
    must(clv_png_write_labels(here("mixed/masks/0002.png"), WIDTH, HEIGHT, mask, NULL, 0, err));
    run_here("cd mixed && rm manifest.tsv");
    const char *limits = "ulimit -v 900000 && \"$CLEAVE\"";
    const char *recipe =
        "--working-pixels 7000000 --nodes patches --patch-step 5 --words 10 --codebook-samples 500 -t 2";
    expect_error(71, "mixed/images/0002.jpg: making its features may take", "%s features --data mixed %s -o f2", limits,
                 recipe);
    expect_error(71, "mixed/images/0002.jpg: making its features may take",
                 "%s train -l independent --passes 2 --data mixed %s -o m2", limits, recipe);
    expect_output("skipped: mixed/images/0002.jpg: making its features may take",
                  "%s train -l independent --passes 2 --data mixed --skip-bad %s -o m2 2>&1", limits, recipe);
}

SETUP_ONCE(sample_setup, NULL)
