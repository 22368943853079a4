/* cleave probabilities: what it says of how its numbers came about, and max-marginal margins. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "support/sample.h"
#include "support/support.h"

SETUP_ONCE(sample_setup, NULL)

/* A file of --margins: head of 128 bytes, then [2][height][width]. */
static const float *margins_of(char *bytes, size_t size, int width, int height)
{
    ck_assert_ptr_nonnull(
        strstr(bytes + 10, formatted("'<f4', 'fortran_order': False, 'shape': (2, %d, %d)", height, width)));
    ck_assert_uint_eq(size, 128 + 2 * sizeof(float) * (size_t)width * (size_t)height);
    return (const float *)(const void *)(bytes + 128);
}

/* The sign of a margin is the best labelling's label, as segment finds it. */
TEST(margins_are_those_of_the_best_labelling)
{
    run_here(
        "cleave probabilities -q -m $MODEL $SET/images/0001.jpg $SET/images/0002.jpg -o margins --margins && cleave "
        "segment -q --no-refine -m $MODEL $SET/images/0001.jpg -o masks");
    struct clv_indexed_image mask = {0};
    size_t size, n_foreground = 0;
    must(clv_indexed_image_read(&mask, here("masks/0001.png"), NULL, err));
    char *bytes = slurp(here("margins/0001.npy"), &size);
    size_t n = (size_t)mask.width * (size_t)mask.height;
    const float *margin = margins_of(bytes, size, mask.width, mask.height);
    for (size_t p = 0; p < n; p++) {
        ck_assert(margin[p] == -margin[n + p] && isfinite(margin[p]));
        ck_assert_int_eq(margin[n + p] > 0, mask.values[p] > 0);
        n_foreground += mask.values[p] > 0;
    }
    ck_assert(n_foreground > 0 && n_foreground < n);
    free(bytes);
    run_here("cleave probabilities -q -m $MODEL $SET/images/0001.jpg -o small --margins --side 12");
    free(slurp(here("small/0001.npy"), &size));
    int side = mask.width > mask.height ? mask.width : mask.height;
    ck_assert_uint_eq(size, 128 + 2 * sizeof(float) * (size_t)lrint(12.0 * mask.width / side) *
                                      (size_t)lrint(12.0 * mask.height / side));
    clv_indexed_image_release(&mask);
    ck_assert(path_exists(here("margins/0002.npy")));
}

TEST(margins_have_no_options_of_probabilities)
{
    static const struct refusal refusals[] = {
        {64, "--margins cannot be used with --all-labels: its maps are of all labels already",
         "probabilities -m x -o y z --margins --all-labels"},
        {64, "--label cannot be used with --margins: its maps are of all labels",
         "probabilities -m x -o y z --margins --label 1"},
        {64, "--json cannot be used with --margins: it is of probabilities",
         "probabilities -m x -o y z --margins --json"},
        {64, "--overlay cannot be used with --margins: it shows the probability of one label",
         "probabilities -m x -o y z --margins --overlay"},
        {64, "--report cannot be used with --margins: it shows the probability of one label",
         "probabilities -m x -o y z --margins --report r"},
        {64, "--samples cannot be used with --margins: margins are not sampled",
         "probabilities -m x -o y z --margins --samples 3"},
        {64, "--seed cannot be used with --margins: margins are not sampled",
         "probabilities -m x -o y z --margins --seed 3"},
        {64, "--side: it is of maps, which --all-labels or --margins write", "probabilities -m x -o y z --side 3"},
    };
    EXPECT_REFUSALS(refusals);
}

/* The sample's model has couplings, and graphs of regions have loops; without couplings there is nothing to draw. */
TEST(json_and_report_say_how_probabilities_came_about)
{
    char *json = expect_success("cleave probabilities -q -m $MODEL $SET/images/0001.jpg -o out --json --report report");
    ck_assert_ptr_nonnull(strstr(json, "\"scores\":\"margin\""));
    ck_assert_ptr_nonnull(strstr(json, "\"method\":\"samples\""));
    free(json);
    size_t size;
    char *page = slurp(here("report/index.html"), &size);
    ck_assert_ptr_nonnull(strstr(page, "shares of 100 samples; exact where regions form no loop; scores of ssvm are "
                                       "rescaled: what is more or less certain, not how much"));
    free(page);
    run_here("cleave train -q --learner pmap --pairwise none --data $SET/manifest.tsv --split train " SAMPLE_TRAINING
             " -o apart.cleave");
    json = expect_success("cleave probabilities -q -m apart.cleave $SET/images/0001.jpg -o apart --json --samples 1");
    ck_assert_ptr_nonnull(strstr(json, "\"scores\":\"likelihood\""));
    ck_assert_ptr_nonnull(strstr(json, "\"method\":\"sum-product\""));
    ck_assert_ptr_nonnull(strstr(json, "\"standard_error\":0}"));
    free(json);
    json = expect_success(
        "cleave probabilities -q -m apart.cleave $SET/images/0001.jpg -o again --json --samples 7 --seed 5");
    free(json);
    ck_assert(same_bytes(here("apart/0001.png"), here("again/0001.png")));
}
