/* cleave segment --refine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/sample.h"
#include "support/support.h"

static double weighted_hamming(const char *folder, const char *masks)
{
    char *json =
        expect_success("cd %s && cleave score --data $SET/manifest.tsv --split test --pred %s --json", folder, masks);
    double value = strtod(strstr(json, "\"weighted_hamming\":") + strlen("\"weighted_hamming\":"), NULL);
    free(json);
    return value;
}

TEST(refined_masks_are_nearer_the_truth_and_the_same_at_any_thread_count)
{
    const char *folder = temporary_folder();
    const char *const runs[] = {"-o plain", "--refine -t 1 -o one", "--refine --overlay --report report -t 4 -o four"};
    for (size_t k = 0; k < sizeof runs / sizeof *runs; k++)
        run_here("cleave segment -m $MODEL --data $SET/manifest.tsv --split test %s", runs[k]);
    run_here("rm -r four/overlays");
    run_here("grep -q 'at the pixels, coupling' report/index.html");
    ck_assert(same_bytes(here("one"), here("four")));
    ck_assert_double_lt(weighted_hamming(folder, "one"), weighted_hamming(folder, "plain"));
}

/* Mean height in pixels of the steps of a mask's left and right borders: of the runs of rows whose borders are between
 * the same two columns. */
static double mean_step(const char *path)
{
    struct clv_indexed_image mask = {0};
    size_t n_pixels = 0, n_runs = 0;
    must(clv_indexed_image_read(&mask, path, NULL, err));
    for (size_t p = 1, width = (size_t)mask.width; p < width * (size_t)mask.height; p++) {
        bool is_border = p % width && mask.values[p] != mask.values[p - 1];
        n_pixels += is_border;
        n_runs += is_border && (p < width || mask.values[p - width] == mask.values[p - width - 1]);
    }
    clv_indexed_image_release(&mask);
    ck_assert_uint_gt(n_runs, 0);
    return (double)n_pixels / (double)n_runs;
}

TEST(images_larger_than_the_working_size_are_refined_unless_told_otherwise)
{
    static const char *const runs[] = {"-o usual --report report", "--refine -o refined",
                                       "--refine --no-refine -o plain"};
    char folder[256];
    snprintf(folder, sizeof folder, "%s/sizes", temporary_folder());
    run_here("mkdir -p %s/photos && cp $SET/images/000[1-3].* %s/photos", folder, folder);
    sample_enlarge(formatted("%s/photos/large.png", folder), 1440, 1080);
    for (size_t k = 0; k < sizeof runs / sizeof *runs; k++)
        run_here("cd %s && cleave segment -m $MODEL photos %s", folder, runs[k]);
    ck_assert(same_bytes(formatted("%s/usual/large.png", folder), formatted("%s/refined/large.png", folder)));
    double usual = mean_step(formatted("%s/usual/large.png", folder));
    double plain = mean_step(formatted("%s/plain/large.png", folder));
    ck_assert_double_lt(usual, plain / 2);
    run_here("cd %s && grep -q 'images of more than 80000' report/index.html && rm */large.png", folder);
    ck_assert_int_eq(count_files(formatted("%s/usual", folder)), 3);
    ck_assert(same_bytes(formatted("%s/usual", folder), formatted("%s/plain", folder)));
    ck_assert(!same_bytes(formatted("%s/usual", folder), formatted("%s/refined", folder)));
}

TEST(what_cannot_be_refined_is_refused)
{
    expect_error(64, "--refine cannot be used with --features: a feature file has no images",
                 "cleave segment -m x -o y --features z --refine");
    expect_error(64, "--no-refine cannot be used with --boxes", "cleave segment -o y z --boxes b --no-refine");
}

SETUP_ONCE(sample_setup, NULL)
