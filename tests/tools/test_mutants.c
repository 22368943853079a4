/* tools/mutants.tsv, by which `make mutate` tells whether the tests notice: it refuses a table that no longer fits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

/* Lines of the text that are `wanted`, but for what they are indented by. */
static int count_lines(const char *text, const char *wanted)
{
    size_t length = strlen(wanted);
    int n = 0;
    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        line += strspn(line, " \t");
        n += strncmp(line, wanted, length) == 0 && (line[length] == '\n' || line[length] == '\0');
    }
    return n;
}

START_TEST(every_mutant_is_of_one_line_and_names_suites_that_exist)
{
    char *table = slurp("tools/mutants.tsv", NULL), *rest = strchr(table, '\n') + 1, *row;
    char *suites;
    int n_rows = 0;
    ck_assert_int_eq(run_command(&suites, "find tests -name 'test_*.c'"), 0);
    while ((row = strsep(&rest, "\n")) && *row) {
        if (*row == '#')
            continue;
        char *file = strsep(&row, "\t"), *text = strsep(&row, "\t"), *with = strsep(&row, "\t");
        ck_assert_msg(row && *row, "row %d of tools/mutants.tsv has no suites", n_rows + 1);
        char *source = slurp(file, NULL);
        ck_assert_msg(strcmp(text, with) != 0, "%s: the mutant is the line: %s", file, text);
        ck_assert_msg(count_lines(source, text) == 1, "%s: not one line: %s", file, text);
        for (char *suite; (suite = strsep(&row, " "));)
            ck_assert_msg(strcmp(suite, "-") == 0 || strstr(suites, formatted("/test_%s.c\n", suite)),
                          "%s: no suite %s", file, suite);
        free(source);
        n_rows++;
    }
    ck_assert_int_ge(n_rows, 150);
    free(suites);
    free(table);
}
END_TEST

Suite *mutants_suite(void);
Suite *mutants_suite(void)
{
    Suite *suite = suite_create("mutants");
    TCase *tcase = tcase_create("table");
    tcase_add_test(tcase, every_mutant_is_of_one_line_and_names_suites_that_exist);
    suite_add_tcase(suite, tcase);
    return suite;
}
