/* cleave segment --refine. */
#include <stdlib.h>
#include <string.h>

#include "support/sample.h"
#include "support/support.h"

static double weighted_hamming(const char *folder, const char *masks)
{
    char *json = expect_success("cd %s && \"$CLEAVE\" score --data %s/manifest.tsv --split test --pred %s --json",
                                folder, sample_set(), masks);
    double value = strtod(strstr(json, "\"weighted_hamming\":") + strlen("\"weighted_hamming\":"), NULL);
    free(json);
    return value;
}

START_TEST(refined_masks_are_nearer_the_truth_and_the_same_at_any_thread_count)
{
    const char *folder = temporary_folder();
    const char *const runs[] = {"-o plain", "--refine -t 1 -o one", "--refine --overlay --report report -t 4 -o four",
                                "--refine-coupling 30 -o smooth"};
    for (size_t k = 0; k < sizeof runs / sizeof *runs; k++)
        free(expect_success("cd %s && \"$CLEAVE\" segment -m %s --data %s/manifest.tsv --split test %s", folder,
                            sample_model(), sample_set(), runs[k]));
    free(expect_success("cd %s && rm -r four/overlays", folder));
    free(
        expect_success("cd %s && grep -q 'at the pixels, coupling' report/index.html && grep -q 'data-layer=\"6\" alt' "
                       "report/index.html",
                       folder));
    ck_assert(same_bytes(formatted("%s/one", folder), formatted("%s/four", folder)));
    ck_assert(!same_bytes(formatted("%s/one", folder), formatted("%s/smooth", folder)));
    ck_assert_double_lt(weighted_hamming(folder, "one"), weighted_hamming(folder, "plain"));
}
END_TEST

START_TEST(what_cannot_be_refined_is_refused)
{
    expect_error(64, "--refine: a feature file holds no pixels", "\"$CLEAVE\" segment -m x -o y --features z --refine");
    expect_error(64, "--refine-coupling: \"-1\"", "\"$CLEAVE\" segment -m x -o y z --refine-coupling -1");
}
END_TEST

Suite *cli_refine_suite(void)
{
    Suite *suite = suite_create("cli_refine");
    TCase *tests = tcase_create("cli_refine");
    tcase_add_unchecked_fixture(tests, sample_setup, NULL);
    tcase_add_test(tests, refined_masks_are_nearer_the_truth_and_the_same_at_any_thread_count);
    tcase_add_test(tests, what_cannot_be_refined_is_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
