/* The tables of `make mutate`, which refuses one that no longer fits, and how it draws. */
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

TEST(every_mutant_is_of_one_line_and_names_suites_that_exist)
{
    OWNED_ARRAY char *table = slurp("tools/mutants.tsv", NULL);
    char *rest = strchr(table, '\n') + 1, *row;
    OWNED_ARRAY char *suites = NULL;
    int n_rows = 0;
    ck_assert_int_eq(run_command(&suites, "find tests -name 'test_*.c'"), 0);
    while ((row = strsep(&rest, "\n")) && *row) {
        if (*row == '#')
            continue;
        char *file = strsep(&row, "\t"), *text = strsep(&row, "\t"), *with = strsep(&row, "\t");
        ck_assert_msg(row && *row, "row %d of tools/mutants.tsv has no suites", n_rows + 1);
        OWNED_ARRAY char *source = slurp(file, NULL);
        ck_assert_msg(strcmp(text, with) != 0, "%s: the mutant is the line: %s", file, text);
        ck_assert_msg(count_lines(source, text) == 1, "%s: not one line: %s", file, text);
        for (char *suite; (suite = strsep(&row, " "));)
            ck_assert_msg(strcmp(suite, "-") == 0 || strstr(suites, formatted("/test_%s.c\n", suite)),
                          "%s: no suite %s", file, suite);
        n_rows++;
    }
    ck_assert_int_ge(n_rows, 150);
}

TEST(areas_and_equivalent_mutants_are_of_folders_files_and_suites_that_exist)
{
    OWNED_ARRAY char *output = NULL;
    ck_assert_int_eq(run_command(&output, "%s",
                                 "grep -v '^#' tools/mutants-areas.txt | while IFS=: read -r folder suites; do\n"
                                 "  [ -d \"src/$folder\" ] || echo \"no folder src/$folder\"\n"
                                 "  for suite in $suites; do\n"
                                 "    case $suite in\n"
                                 "    */) ls tests/$suite/test_*.c >/dev/null || echo \"none in tests/$suite\" ;;\n"
                                 "    *) find tests -name \"test_$suite.c\" | grep -q . || echo \"no $suite\" ;;\n"
                                 "    esac\n"
                                 "  done\n"
                                 "done\n"
                                 "tail -n +2 tools/mutants-equivalent.tsv | cut -f 1 | xargs -r ls >/dev/null"),
                     0);
    ck_assert_str_eq(output, "");
}

TEST(a_seed_draws_the_same_mutants_again_and_another_one_others)
{
    char *drawn[3];
    if (run_command(NULL, "command -v python3") != 0) {
        skip("a_seed_draws_the_same_mutants_again_and_another_one_others", "python3 is absent");
        return;
    }
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(run_command(&drawn[i], "python3 tools/mutants.py %d 20 score mrf", i < 2 ? 1 : 2), 0);
    ck_assert_str_eq(drawn[0], drawn[1]);
    ck_assert_str_ne(drawn[0], drawn[2]);
    for (int i = 0; i < 2; i++) {
        int n = 0;
        for (const char *at = drawn[i + 1]; (at = strstr(at, "\n+ ")); at++)
            n++;
        ck_assert_int_eq(n, 20);
    }
    for (int i = 0; i < 3; i++)
        free(drawn[i]);
}
