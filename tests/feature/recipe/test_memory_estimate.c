/* What making features takes is never more than the estimate, and what does not fit is refused by name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feature/recipe/memory_estimate.h"
#include "support/sample.h"
#include "support/support.h"

#define PROCESS 32e6 /* that the program takes before the first image */

/* The recipe of a feature file. */
static struct clv_recipe recipe_of(const char *path)
{
    struct clv_recipe recipe = {0};
    struct clv_dataset *dataset;
    must(clv_features_open(&dataset, &recipe, path, err));
    clv_dataset_free(dataset);
    return recipe;
}

START_TEST(features_take_no_more_than_is_estimated)
{
    if (IS_SANITIZED) {
        skip("features_take_no_more_than_is_estimated", "a sanitizer takes memory of its own");
        return;
    }
    static const char *const ways[] = {
        "--working-pixels 200000 --words 30", "--working-pixels 1000000 --superpixels 5000 --words 30",
        "--working-pixels 300000 --sift-step 1 --words 30", "--working-pixels 500000 --nodes patches --words 30",
        "--working-pixels 60000 --nodes patches --blocks fisher,hog,size"};
    char folder[256];
    snprintf(folder, sizeof folder, "%s", temporary_folder());
    free(expect_success("mkdir -p %s/one/images", folder));
    sample_enlarge(formatted("%s/one/images/photo.png", folder), 1200, 900);
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        if (strstr(ways[k], "fisher")) /* long rows: what waits is most of it, so that there is to be a batch */
            free(expect_success("cd %s/one/images && for i in 1 2 3 4 5 6 7; do ln photo.png $i.png; done", folder));
        double peak = peak_of(formatted("cd %s && exec \"$CLEAVE\" features -q --data one -t 1 --codebook-samples 2000 "
                                        "%s --overwrite -o f",
                                        folder, ways[k]));
        struct clv_recipe recipe = recipe_of(formatted("%s/f", folder));
        double told = PROCESS + memory_of_extraction(&recipe, 1200, 900, 2);
        ck_assert_msg(peak <= told && told < 5 * peak, "%s: %g MB told, %g taken", ways[k], told / 1e6, peak / 1e6);
        clv_recipe_release(&recipe);
    }
}
END_TEST

enum { WIDTH = 3000, HEIGHT = 2400 };

START_TEST(an_image_that_does_not_fit_is_named_and_the_rest_goes_on)
{
    if (IS_SANITIZED) {
        skip("an_image_that_does_not_fit_is_named_and_the_rest_goes_on", "a sanitizer takes memory of its own");
        return;
    }
    char folder[256];
    snprintf(folder, sizeof folder, "%s", temporary_folder());
    free(expect_success("cp -r %s %s/mixed", sample_set(), folder));
    sample_enlarge(formatted("%s/mixed/images/0002.jpg", folder), WIDTH, HEIGHT);
    uint8_t *mask = calloc(WIDTH, HEIGHT);
    memset(mask, 1, (size_t)WIDTH * HEIGHT / 2);
    must(clv_png_write_labels(formatted("%s/mixed/masks/0002.png", folder), WIDTH, HEIGHT, mask, NULL, 0, err));
    free(mask);
    free(expect_success("cd %s/mixed && rm manifest.tsv", folder));
    const char *limits = "ulimit -v 900000 && \"$CLEAVE\"";
    const char *recipe =
        "--working-pixels 7000000 --nodes patches --patch-step 5 --words 10 --codebook-samples 500 -t 2";
    expect_error(71, "mixed/images/0002.jpg: making its features may take",
                 "cd %s && %s features --data mixed %s -o f2", folder, limits, recipe);
    expect_error(71, "mixed/images/0002.jpg: making its features may take",
                 "cd %s && %s train -l independent --passes 2 --data mixed %s -o m2", folder, limits, recipe);
    char *told = expect_success("cd %s && %s train -l independent --passes 2 --data mixed --skip-bad %s -o m2 2>&1",
                                folder, limits, recipe);
    ck_assert_ptr_nonnull(strstr(told, "left out: mixed/images/0002.jpg: making its features may take"));
    free(told);
}
END_TEST

Suite *memory_estimate_suite(void);
Suite *memory_estimate_suite(void)
{
    Suite *suite = suite_create("memory_estimate");
    TCase *tests = tcase_create("memory_estimate");
    tcase_add_unchecked_fixture(tests, sample_setup, NULL);
    tcase_add_test(tests, features_take_no_more_than_is_estimated);
    tcase_add_test(tests, an_image_that_does_not_fit_is_named_and_the_rest_goes_on);
    suite_add_tcase(suite, tests);
    return suite;
}
