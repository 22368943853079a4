/* The short help, and the list of options that it is a part of. */
#include <stdlib.h>
#include <string.h>

#include "support/sample.h"
#include "support/support.h"

enum { MOST_LINES = 30, MOST_COLUMNS = 100, MOST_OPTIONS = 17 };

static const char *const names[] = {"label",    "train",   "segment",   "probabilities", "propagate",   "score",
                                    "features", "inspect", "tag train", "import",        "tag predict", "tag score"};

TEST(the_short_help_is_short_and_true)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        OWNED_ARRAY char *help = expect_success("cleave %s --help", names[i]),
                         *list = expect_success("cleave %s --list-options", names[i]);
        char *last = NULL;
        int n_lines = 0, n_options = 0;
        char *rest = help;
        for (char *line; (line = strsep(&rest, "\n")) && rest; n_lines++) {
            ck_assert_msg(strlen(line) <= MOST_COLUMNS, "%s: %s", names[i], line);
            last = line;
            if (strncmp(line, "  -", 3) != 0 && strncmp(line, "      --", 8) != 0) {
                ck_assert_msg(strncmp(line, "   ", 3) != 0, "%s: an option takes two lines: %s", names[i], line);
                continue;
            }
            char *option = strstr(line, "--");
            ck_assert_msg(strstr(list, formatted("%.*s", (int)strcspn(option, " "), option)) != NULL, "%s: %s",
                          names[i], line);
            n_options++;
        }
        ck_assert_msg(n_lines <= MOST_LINES && n_options <= MOST_OPTIONS, "%s: %d lines, %d options", names[i], n_lines,
                      n_options);
        ck_assert_str_eq(last, formatted("`cleave %s --help all' lists all options.", names[i]));
    }
}

TEST(the_long_help_has_every_option_once)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        run_here(
            "cleave %s --list-options | sed -n 's/^\\(--[a-z-]*\\).*/\\1/p' | sort >list && cleave %s --help all | sed "
            "-nE 's/^ {2,6}(-., )?(--[a-z-]+).*/\\2/p' | sort | diff - list && ! cleave help %s all | grep -E '.{101}'",
            names[i], names[i], strchr(names[i], ' ') ? "train" : names[i]);
}

TEST(examples_of_the_help_run)
{
    OWNED_ARRAY char *output = expect_success(
        "\"$SYNTH\" -n 10 --size 40x30 photos && ln -s photos set && for command in train segment; do cleave "
        "$command --help | sed -n 's/^  cleave //p' | while read -r words; do cleave $words || exit 1; done || exit 1; "
        "done && test -f set.cleave -a -f out/images/0001.png -a -f report/index.html");
}

TEST(help_says_that_overlays_of_jpegs_are_jpegs)
{
    run_here("cleave segment --help | grep -q 'overlays/<stem>.png, .jpg of a JPEG'");
}
