/* Readers and writers of numbers in a program whose locale has a decimal comma. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/base.h"
#include "support/support.h"

static char folder[256];

/* A folder with the locale de_DE.UTF-8, unless what it is made of is not there (Debian: locales). */
static void make_locale(void)
{
    OWNED_ARRAY char *output = NULL;
    snprintf(folder, sizeof folder, "%s", temporary_folder());
    /* It warns, and says so by its status. */
    run_command(&output, "localedef --no-archive -c -i de_DE -f UTF-8 $HERE/de_DE.UTF-8");
}

/* Suites of what reads or writes numbers, run again in such a process. */
static const char *const suites[] = {"base",  "boxes",        "boxes_forms", "checkpoint",    "export",   "json",
                                     "model", "page_session", "safetensors", "segment_files", "svmlight", "tag_model"};
enum { N_SUITES = sizeof suites / sizeof *suites };

TESTS(files_are_read_and_written_with_points_where_the_locale_has_commas, 0, N_SUITES)
{
    if (!path_exists(formatted("%s/de_DE.UTF-8/LC_NUMERIC", folder))) {
        skip("files_are_read_and_written_with_points_where_the_locale_has_commas", "localedef cannot make de_DE.UTF-8");
        return;
    }
    OWNED_ARRAY char *output = NULL;
    int code = run_command(&output,
                           "unset LC_ALL CK_RUN_CASE; ASAN_OPTIONS=detect_leaks=0 " /* of LOCPATH, by the C library */
                           "LOCPATH=%s LC_NUMERIC=de_DE.UTF-8 CLEAVE_TEST_COMMA=1 "
                           "CLEAVE_TEST_JOBS=1 CK_RUN_SUITE=%s exec /proc/%d/exe",
                           folder, suites[_i], (int)getpid());
    ck_assert_msg(code == 0 && !strstr(output, "Checks: 0,"), "%s: %s", suites[_i], output);
}

SETUP_ONCE(make_locale, NULL)
