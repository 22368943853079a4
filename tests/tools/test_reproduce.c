/* The scripts that make the papers' tables: one of them on small drawn data, and what all need is there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "data/small_letters.h"
#include "support/support.h"

TEST(letters_have_a_table_of_one_fold_and_one_learner)
{
    OWNED_ARRAY char *output = NULL;
    const char *build = getenv("CLEAVE_BUILD");
    ck_assert_int_eq(mkdir(here("letters"), 0700), 0);
    write_letters(here("letters/letter.data.gz"), 120, 10, 0.02, 3);
    int code = run_command(&output,
                           "CLEAVE_DATA=$HERE LEARNERS=ssvm SIZES=small FOLDS=0 tools/reproduce/letters '%s' $HERE/out",
                           build ? build : "build");
    ck_assert_msg(code == 0, "status %d: %s", code, output);
    const char *row = strstr(output, "\nssvm         small     1 ");
    ck_assert_msg(row != NULL && strstr(row, "19.5 +- 0.4"), "%s", output);
    double letters = strtod(row + strlen("\nssvm         small     1 "), NULL);
    ck_assert_msg(letters > 0 && letters < 50, "%s", output); /* guessing has 96 % wrong */
}

TEST(every_reproduction_is_listed_by_make_help_with_its_data_and_time)
{
    OWNED_ARRAY char *names = NULL, *help = NULL;
    ck_assert_int_eq(run_command(&names, "ls -p tools/reproduce | grep -v -e README.md -e /"), 0);
    ck_assert_int_eq(run_command(&help, "make -s help"), 0);
    for (char *rest = names, *name; (name = strsep(&rest, "\n")) && *name;) {
        const char *line = strstr(help, formatted("\n  reproduce-%s ", name));
        ck_assert_msg(line != NULL, "make help has no line of reproduce-%s with data and time", name);
        const char *end = strchr(line + 1, '\n');
        ck_assert_msg(memmem(line, (size_t)(end - line), " processor", 10), "no time: %.*s", (int)(end - line), line);
    }
}
