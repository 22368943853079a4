/* The runner of the tests itself: where a check failed that a helper made, and a suite that does not exist. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "support/golden.h"
#include "support/support.h"

static void expect_even(int value)
{
    ck_assert_int_eq(value % 2, 0);
}

static void expect_evens(int value)
{
    expect_even(value);
    expect_even(value + 1);
}

static const int test_line = __LINE__ + 3;
START_TEST(fails_in_a_helper)
{
    expect_evens(4);
}
END_TEST

static const int plain_line = __LINE__ + 3;
START_TEST(fails_by_itself)
{
    ck_assert_int_eq(_i, 1);
}
END_TEST

/* A table of one row, whose features are written or compared. */
static void make_table(double feature)
{
    golden_begin();
    uint64_t digest = golden_doubles(HASH_START, "features", &feature, 1);
    golden_row(golden_bytes(digest, "mask", "\1\1", 2), "image 3");
    golden_end("some", "image\tdigest");
}

START_TEST(differs_from_the_record)
{
    ck_assert_int_eq(run_command(NULL, "mkdir -p $HERE/tests/golden"), 0);
    ck_assert_int_eq(chdir(temporary_folder()), 0);
    setenv("CLEAVE_GOLDEN", "write", 1);
    make_table(0.25);
    unsetenv("CLEAVE_GOLDEN");
    make_table(0.25);
    make_table(0.26);
}
END_TEST

/* The line and the message of the failure of a test that fails. */
static const char *failure_of(int *line, const TTest *test)
{
    Suite *suite = suite_create("failing");
    TCase *tcase = tcase_create("failing");
    unsetenv("CK_RUN_SUITE");
    tcase_add_test(tcase, test);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_SILENT);
    ck_assert_int_eq(srunner_ntests_failed(runner), 1);
    OWNED_ARRAY TestResult **results = srunner_failures(runner);
    const char *message = formatted("%s", tr_msg(results[0]));
    ck_assert_ptr_nonnull(strstr(tr_lfile(results[0]), "tests/tools/test_runner.c"));
    *line = tr_lno(results[0]);
    srunner_free(runner);
    return message;
}

TEST(a_check_that_fails_in_a_helper_is_reported_at_the_test_s_line)
{
    int line;
    const char *message = failure_of(&line, fails_in_a_helper);
    if (!strstr(message, "checked at")) {
        skip("a_check_that_fails_in_a_helper_is_reported_at_the_test_s_line", "no addr2line, or no debug information");
        return;
    }
    ck_assert_int_eq(line, test_line);
    ck_assert_msg(strstr(message, "test_runner.c:13, called at tests/tools/test_runner.c:19)"), "%s", message);
}

TEST(a_check_that_fails_in_the_test_is_reported_as_it_is)
{
    int line;
    const char *message = failure_of(&line, fails_by_itself);
    ck_assert_int_eq(line, plain_line);
    ck_assert_msg(!strstr(message, "checked at"), "%s", message);
}

TEST(a_digest_that_differs_names_the_stage_and_by_how_much)
{
    int line;
    const char *message = failure_of(&line, differs_from_the_record);
    ck_assert_msg(strstr(message, "1 of 1 results differ from those in tests/golden/some.tsv: image 3\t") &&
                      strstr(message, "features (absolute sum 0.26, was 0.25)") && !strstr(message, "mask"),
                  "%s", message);
}

TEST(a_suite_that_does_not_exist_fails_and_names_near_ones)
{
    char self[512] = "";
    OWNED_ARRAY char *output = NULL;
    ck_assert_int_gt(readlink("/proc/self/exe", self, sizeof self - 1), 0);
    ck_assert_int_eq(run_command(&output, "CK_RUN_SUITE=nosuch '%s'", self), 1);
    ck_assert_ptr_nonnull(strstr(output, "no suite is named \"nosuch\""));
    ck_assert_ptr_null(strstr(output, "100%"));
    free(output);
    ck_assert_int_eq(run_command(&output, "CK_RUN_SUITE=manifets '%s'", self), 1);
    ck_assert_msg(strstr(output, "near: manifest\n"), "%s", output);
    free(output);
    ck_assert_int_eq(run_command(&output, "CK_RUN_SUITE=forms '%s'", self), 1);
    ck_assert_msg(strstr(output, "near: boxes_forms\n"), "%s", output);
}
