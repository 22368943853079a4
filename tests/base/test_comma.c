/* Readers and writers of numbers in a program whose locale has a decimal comma. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/base.h"
#include "support/support.h"

/* A folder with the locale de_DE.UTF-8; NULL, after skip(), without what it is made of (Debian: locales). */
static const char *make_locale(const char *test_name)
{
    const char *folder = temporary_folder();
    char *output;
    /* It warns, and says so by its status. */
    run_command(&output, "localedef --no-archive -c -i de_DE -f UTF-8 %s/de_DE.UTF-8", folder);
    free(output);
    if (path_exists(formatted("%s/de_DE.UTF-8/LC_NUMERIC", folder)))
        return folder;
    skip(test_name, "localedef cannot make de_DE.UTF-8");
    return NULL;
}

/* Suites of what reads or writes numbers, run again in such a process. */
static const char *const suites[] = {"base",  "boxes",        "boxes_forms", "checkpoint", "export",   "json",
                                     "model", "page_session", "safetensors", "svmlight",   "tag_model"};
enum { N_SUITES = sizeof suites / sizeof *suites };

TESTS(files_are_read_and_written_with_points_where_the_locale_has_commas, 0, N_SUITES)
{
    const char *folder = make_locale("files_are_read_and_written_with_points_where_the_locale_has_commas");
    if (!folder)
        return;
    char *output;
    int code = run_command(&output,
                           "unset LC_ALL CK_RUN_CASE; ASAN_OPTIONS=detect_leaks=0 " /* of LOCPATH, by the C library */
                           "LOCPATH=%s LC_NUMERIC=de_DE.UTF-8 CLEAVE_TEST_COMMA=1 "
                           "CLEAVE_TEST_JOBS=1 CK_RUN_SUITE=%s exec /proc/%d/exe",
                           folder, suites[_i], (int)getpid());
    ck_assert_msg(code == 0 && !strstr(output, "Checks: 0,"), "%s: %s", suites[_i], output);
    free(output);
}
