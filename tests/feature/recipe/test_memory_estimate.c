/* What making features takes is never more than the estimate, and what does not fit is refused by name. */
#include <math.h>
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
        ck_assert_msg(peak <= reported && reported < 3 * peak, "%s: %g MB reported, %g taken", ways[k], reported / 1e6,
                      peak / 1e6);
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

/* Bytes of the arrays that blocks read, out of the estimate of all: what is estimated publicly is taken away. */
static double views_of(const struct clv_recipe *recipe, int32_t width, int32_t height, double of_tile)
{
    double n_nodes, n_edges;
    memory_count_nodes(&n_nodes, &n_edges, recipe, width, height);
    return (memory_of_features(recipe, width, height, 2) - 2e6) / 1.15 - memory_of_example(recipe, width, height, 2) -
           of_tile - 300 * n_nodes - 2 * memory_of_image(recipe, width, height, 2);
}

/* An image of 300x200 pixels, which is not shrunk: every array of the table counts where its block is used. */
TEST(each_block_counts_with_the_arrays_that_it_reads)
{
    enum { N = 300 * 200, CELLS = 100 * 67, EACH = 26 }; /* descriptors every 3 pixels; bytes of a pixel in any case */
    enum { STRIP = 2048 + 300, ROWS = 72 };              /* descriptors of a strip, and its rows of pixels */
    /* Bins of 2 pixels reach 17 pixels beyond the border, those of 16 reach 87. */
    const double sift_2 = 32. * (300 + 17) * (ROWS + 17) + 4. * STRIP + 128. * STRIP;
    const double sift_16 = 32. * (300 + 87) * (ROWS + 87) + 4. * STRIP + 128. * STRIP;
    const struct {
        bool has_patches;
        unsigned blocks;
        int32_t n_scales, patch_px, patch_step_px;
        enum clv_sift sift;
        double bytes;
    } rows[] = {
        {false, CLV_BLOCK_SIZE, 1, 20, 10, CLV_SIFT_CLEAVE, EACH * N},
        {false, CLV_BLOCK_SIZE | CLV_BLOCK_CONTRAST, 1, 20, 10, CLV_SIFT_CLEAVE, (EACH + 9) * N},
        {false, CLV_BLOCK_SIZE | CLV_BLOCK_HOG, 1, 20, 10, CLV_SIFT_CLEAVE, (EACH + 20) * N},
        {false, CLV_BLOCK_CONTRAST | CLV_BLOCK_HOG, 1, 20, 10, CLV_SIFT_CLEAVE,
         (EACH + 20) * N}, /* one after the other */
        {false, CLV_BLOCK_WORDS, 1, 20, 10, CLV_SIFT_CLEAVE, (EACH + 4) * N + sift_2},
        {false, CLV_BLOCK_WORDS, 4, 20, 10, CLV_SIFT_CLEAVE, (EACH + 16) * N + sift_16},
        {false, CLV_BLOCK_WORDS | CLV_BLOCK_HOG, 1, 20, 10, CLV_SIFT_CLEAVE, (EACH + 4) * N + sift_2},
        {false, CLV_BLOCK_WORDS, 1, 20, 10, CLV_SIFT_VLFEAT, (EACH + 4) * N + 44. * N + 676. * CELLS},
        /* A pixel is in four windows of patches of twice their step, and in 36 of their surroundings. */
        {true, CLV_BLOCK_COLOUR, 1, 20, 10, CLV_SIFT_CLEAVE, (EACH + 4 * 4) * N},
        {true, CLV_BLOCK_COLOUR | CLV_BLOCK_SURROUND, 1, 20, 10, CLV_SIFT_CLEAVE, (EACH + 4 * 40) * N},
        {true, CLV_BLOCK_COLOUR | CLV_BLOCK_SCENE, 1, 20, 10, CLV_SIFT_CLEAVE, (EACH + 4 * 5) * N},
        {true, CLV_BLOCK_SURROUND | CLV_BLOCK_SCENE, 1, 20, 10, CLV_SIFT_CLEAVE, (EACH + 4 * 41) * N},
        {true, CLV_BLOCK_COLOUR, 1, 16, 4, CLV_SIFT_CLEAVE, (EACH + 4 * 16) * N},
        /* Values of 64 components and of their shares of a descriptor's dimensions, of each cell and scale. */
        {true, CLV_BLOCK_FISHER, 2, 20, 10, CLV_SIFT_VLFEAT,
         (EACH + 4 * 4) * N + 44. * N + 676. * CELLS +
             2. * CELLS * 4 * (CLV_MIXTURE_DIMENSIONS + CLV_MIXTURE_COMPONENTS)},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct clv_recipe recipe;
        clv_recipe_init(&recipe);
        recipe.nodes = rows[k].has_patches ? CLV_NODES_PATCHES : CLV_NODES_SUPERPIXELS;
        recipe.blocks = rows[k].blocks;
        recipe.n_scales = rows[k].n_scales;
        recipe.patch_px = rows[k].patch_px;
        recipe.patch_step_px = rows[k].patch_step_px;
        recipe.sift = rows[k].sift;
        const double bytes = views_of(&recipe, 300, 200, 0);
        ck_assert_msg(fabs(bytes - rows[k].bytes) < 1, "row %zu: %.0f bytes, not %.0f", k, bytes, rows[k].bytes);
    }
}

/* If an image has more cells than a strip, only the sums and descriptors of a strip are in memory, or all with Fisher
 * vectors. */
TEST(descriptors_and_their_sums_are_in_memory_for_one_strip)
{
    struct clv_recipe recipe;
    clv_recipe_init(&recipe);
    recipe.n_scales = 1;
    recipe.step_px = 1;
    recipe.blocks = CLV_BLOCK_WORDS;
    const double n = 300 * 200, beyond = 15, strip = 2048 + 300, strip_rows = 8;
    ck_assert_double_eq_tol(views_of(&recipe, 300, 200, 0),
                            30 * n + 32 * (300 + beyond) * (strip_rows + beyond) + (4 + 128) * strip, 1);
    recipe.blocks |= CLV_BLOCK_FISHER;
    const double cell = 4 * (CLV_MIXTURE_DIMENSIONS + CLV_MIXTURE_COMPONENTS);
    ck_assert_double_eq_tol(views_of(&recipe, 300, 200, 0),
                            30 * n + 32 * (300 + beyond) * (200 + beyond) + (4 + 128 + cell) * n, 1);
}

TEST(nodes_and_edges_are_counted_by_the_recipe)
{
    double n_nodes, n_edges;
    struct clv_recipe recipe;
    clv_recipe_init(&recipe);
    memory_count_nodes(&n_nodes, &n_edges, &recipe, 300, 200);
    ck_assert(n_nodes == 600 && n_edges == 1800);
    memory_count_nodes(&n_nodes, &n_edges, &recipe, 20, 10); /* a superpixel has a pixel */
    ck_assert(n_nodes == 200 && n_edges == 600);
    clv_recipe_fix_scale(&recipe, 2);
    memory_count_nodes(&n_nodes, &n_edges, &recipe, 3000, 2000); /* 1500x1000 pixels in regions of 100 */
    ck_assert(n_nodes == 15000 && n_edges == 45000);
    clv_recipe_init_patches(&recipe);
    memory_count_nodes(&n_nodes, &n_edges, &recipe, 300, 200); /* patches of 20 every 10 */
    ck_assert(n_nodes == 29 * 19 && n_edges == 2 * 29 * 19);
    memory_count_nodes(&n_nodes, &n_edges, &recipe, 600, 800); /* shrunk to 80000 pixels, 244x326 */
    ck_assert(n_nodes == 23 * 31 && n_edges == 2 * 23 * 31);
    memory_count_nodes(&n_nodes, &n_edges, &recipe, 9, 8); /* one patch, whatever the size */
    ck_assert(n_nodes == 1 && n_edges == 2);
}

TEST(an_image_in_the_set_takes_its_rows_and_edges_and_decoding_the_larger_of_two_steps)
{
    struct clv_recipe recipe;
    clv_recipe_init(&recipe);
    recipe.blocks = CLV_BLOCK_SIZE; /* and a constant: entries of 8 bytes each; with 16 bytes a node, and 4 a label */
    const double row = 16 + 8. * clv_recipe_n_features(&recipe), edge = 8 + 4. * clv_recipe_n_edge_features(&recipe);
    for (int n_labels = 2; n_labels < 6; n_labels += 3) {
        const double bytes = memory_of_image(&recipe, 300, 200, n_labels);
        ck_assert_double_eq_tol(bytes, 600 * (row + 4. * n_labels) + 1800 * edge, 1e-6);
        ck_assert_double_eq_tol(memory_of_example(&recipe, 300, 200, n_labels), 7. * 60000 + bytes, 1e-6);
        const double features = memory_of_features(&recipe, 300, 200, n_labels);
        ck_assert_double_eq_tol(memory_of_extraction(&recipe, 300, 200, n_labels), 3. * 60000 + features + 8 * bytes,
                                1e-6);
    }
    ck_assert_double_eq(memory_of_decoding(1000, 77), 15077);
    /* Of an image that is shrunk much, decoding takes more than the features do. */
    const double large = memory_of_image(&recipe, 20000, 20000, 2);
    ck_assert_double_eq_tol(memory_of_extraction(&recipe, 20000, 20000, 2), 15. * 4e8 + 8 * large, 1);
    ck_assert_double_eq_tol(large, memory_of_image(&recipe, 4000, 4000, 2), 1e-6);
}

TEST(of_tiles_one_is_there_at_a_time_with_what_is_seen_around_it)
{
    struct clv_recipe recipe;
    clv_recipe_init(&recipe);
    clv_recipe_fix_scale(&recipe, 2);
    recipe.blocks = CLV_BLOCK_SIZE;
    recipe.tile_px = 256;
    const double seen = 256 + 2 * 64;
    for (int32_t width = 1000; width < 5000; width += 3000) /* working copies of 500 and 2000 by 100 pixels */
        ck_assert_double_eq_tol(views_of(&recipe, width, 200, 7 * seen * 100), 26 * seen * 100, 1);
    ck_assert_double_eq_tol(views_of(&recipe, 300, 200, 7. * 150 * 100), 26. * 150 * 100, 1);
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
