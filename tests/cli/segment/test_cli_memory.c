/* Memory of segmenting: images wait for it, and are refused by name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/sample.h"
#include "support/support.h"

START_TEST(what_is_estimated_is_never_less_than_what_is_taken)
{
    if (IS_SANITIZED) {
        skip("what_is_estimated_is_never_less_than_what_is_taken", "a sanitizer takes memory of its own");
        return;
    }
    static const char *const ways[] = {"--no-refine", "", "--refine", "--overlay --report r", "--cutout --export coco"};
    static const int32_t sides[][2] = {{700, 500}, {1700, 1300}};
    const char *folder = temporary_folder();
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        char photo[512];
        snprintf(photo, sizeof photo, "%s/photo%d.png", folder, (int)i);
        sample_enlarge(photo, sides[i][0], sides[i][1]);
        for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
            char *told;
            int code = run_command(&told, "cd %s && \"$CLEAVE\" segment -m %s %s -o out %s --overwrite --memory 2M",
                                   folder, sample_model(), photo, ways[k]);
            ck_assert_int_eq(code, 71);
            char *number = strstr(told, "may take ");
            ck_assert_msg(number && strstr(told, photo), "%s", told);
            int megabytes = atoi(number + strlen("may take "));
            free(told);
            double peak =
                peak_of(formatted("cd %s && exec \"$CLEAVE\" segment -q -m %s %s -o out %s --overwrite --memory %dM",
                                  folder, sample_model(), photo, ways[k], megabytes));
            ck_assert_msg(peak <= 1e6 * megabytes, "%s %s: %g MB, not %d", photo, ways[k], peak / 1e6, megabytes);
        }
    }
}
END_TEST

START_TEST(what_does_not_fit_is_refused_by_name_and_the_rest_goes_on)
{
    const char *folder = temporary_folder();
    free(expect_success("mkdir %s/mixed", folder));
    sample_enlarge(formatted("%s/mixed/b.png", folder), 2600, 2000);
    sample_enlarge(formatted("%s/mixed/a.png", folder), 300, 200);
    sample_enlarge(formatted("%s/mixed/c.png", folder), 300, 200);
    expect_error(71, "b.png: work on it may take",
                 "cd %s && \"$CLEAVE\" segment -m %s mixed -o mixed_out --threads 4 --memory 90M", folder,
                 sample_model());
    ck_assert_int_eq(count_files(formatted("%s/mixed_out", folder)), 2);
    free(expect_success("cd %s && \"$CLEAVE\" segment -m %s mixed -o all_out --threads 4 --memory 0.25G", folder,
                        sample_model()));
    ck_assert_int_eq(count_files(formatted("%s/all_out", folder)), 3);
    expect_error(64, "--memory: \"lots\" is no size", "\"$CLEAVE\" segment -m x -o y z --memory lots");
    expect_error(64, "--memory: \"-1G\" is no size", "\"$CLEAVE\" segment -m x -o y z --memory -1G");
    expect_error(64, "--memory: \"\" is no size", "\"$CLEAVE\" segment -m x -o y z --memory ''");
}
END_TEST

Suite *cli_memory_suite(void);
Suite *cli_memory_suite(void)
{
    Suite *suite = suite_create("cli_memory");
    TCase *tests = tcase_create("memory");
    tcase_add_unchecked_fixture(tests, sample_setup, NULL);
    tcase_add_test(tests, what_is_estimated_is_never_less_than_what_is_taken);
    tcase_add_test(tests, what_does_not_fit_is_refused_by_name_and_the_rest_goes_on);
    suite_add_tcase(suite, tests);
    return suite;
}
