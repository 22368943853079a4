/* The texts that are printed of a table of options: help, short help, and the list for completion. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/common.h"
#include "support/support.h"

static const char *const forms[] = {"none", "potts", "full", NULL}, *const automatic[] = {"auto", "one", "two", NULL},
                         *const answers[] = {"no", "yes", NULL};

struct values {
    int32_t count, whole;
    uint64_t seed, least;
    double share, large, memory;
    int form, choice, way;
    bool is_on, answer;
    const char *data, *model;
};

#define ROW(member) .offset = offsetof(struct values, member)
static const struct clv_option rows[] = {
    {"data", 'd', "PATH", "Input", CLV_OPTION_NEEDED, CLV_OPTION_TEXT, ROW(data), "Images\nA folder, or a list"},
    {"model", 'm', "MODEL", "Input", CLV_OPTION_NEEDED, CLV_OPTION_TEXT, ROW(model), "The model"},
    {"form", 0, "FORM", "Input", CLV_OPTION_BASIC, CLV_OPTION_CHOICE, ROW(form), "A form\nof three", .choices = forms},
    {"way", 0, "WAY", "Working", 0, CLV_OPTION_AUTO_CHOICE, ROW(way), "A way", .choices = automatic},
    {"answer", 'a', "WORD", "Working", CLV_OPTION_BASIC, CLV_OPTION_EITHER, ROW(answer), "An answer",
     .choices = answers},
    {"count", 'n', "N", "Working", CLV_OPTION_BASIC, CLV_OPTION_INT, ROW(count), "A count", 1, 12},
    {"share", 0, "X", "Working", 0, CLV_OPTION_NUMBER, ROW(share), "A share\n(of all)", -0.5, 1.25},
    {"large", 0, "X", "Working", 0, CLV_OPTION_NUMBER, ROW(large), "A large number", 0, 1e30},
    {"unset", 0, "N", "Working", 0, CLV_OPTION_INT, ROW(whole), "A number that may be missing", 1, 99},
    {"plain", 0, "N", "Working", CLV_OPTION_PLAIN, CLV_OPTION_INT, ROW(count), "A number: 1 or 2\nthat says all", 1, 2},
    {"hidden", 0, "N", "Hidden", CLV_OPTION_HIDDEN, CLV_OPTION_INT, ROW(count), "Not shown", 1, 2},
    {NULL}};
static const struct clv_option more[] = {
    {"seed", 's', "N", "Input", 0, CLV_OPTION_UINT64, ROW(seed), "A seed"},
    {"least", 0, "N", "Running", 0, CLV_OPTION_UINT64, ROW(least), "A number from 5 on", 5},
    {"memory", 0, "SIZE", "Running", 0, CLV_OPTION_MEMORY, ROW(memory), "Memory"},
    {"out-file", 0, "FILE", "Running", 0, CLV_OPTION_TEXT, ROW(data),
     "A file whose name and help are so long that the words go on in the next line, at its column"},
    {"a-name-that-takes-its-line", 0, "FOLDER", "Running", 0, CLV_OPTION_TEXT, ROW(data), "A folder"},
    {"quiet", 'q', NULL, "Running", CLV_OPTION_BASIC, CLV_OPTION_FLAG, ROW(is_on), "Say nothing"},
    {NULL}};

#define TEN "xxxxxxxxxx"

static struct values values = {.count = 7,
                               .whole = 0,
                               .seed = 18446744073709551615u,
                               .least = 4,
                               .share = 0.25,
                               .large = 3e9,
                               .form = 2,
                               .way = -1,
                               .answer = true};
static const struct option_table table = {.usage = "PATH [OPTION...]",
                                          .summary = "Does something.",
                                          .examples = {"do a", "do b -n 3"},
                                          .notes = "Notes on it: " TEN TEN TEN TEN TEN TEN TEN TEN
                                                   "y seven7 " TEN TEN TEN TEN TEN TEN TEN TEN TEN "y seven77",
                                          .groups = {{rows, &values, true}, {more, &values, true}}};

/* What is printed; free() it. */
static char *text_of(void (*print)(FILE *, const char *, const struct option_table *, const struct common_options *),
                     const struct common_options *common)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    ck_assert(stream);
    if (print)
        print(stream, "cleave do", &table, common);
    else
        option_help_list(stream, &table);
    fclose(stream);
    return text;
}

/* Compares line by line: a whole text is too long for a message. */
static void expect_lines(const char *text, const char *wanted)
{
    for (int line = 1; *text || *wanted; line++) {
        const size_t n = strcspn(text, "\n"), m = strcspn(wanted, "\n");
        ck_assert_msg(n == m && memcmp(text, wanted, n) == 0, "line %d is \"%.*s\", not \"%.*s\"", line, (int)n, text,
                      (int)m, wanted);
        text += n + (text[n] != 0);
        wanted += m + (wanted[m] != 0);
    }
}

TEST(help_has_every_option_in_its_section_with_all_choices_the_range_and_the_default)
{
    const struct common_options common = {0};
    OWNED_ARRAY char *help = text_of(option_help_all, &common);
    expect_lines(
        help, "Usage: cleave do PATH [OPTION...]\nDoes something.\n"
              "\nInput:\n"
              "  -d, --data PATH            Images. A folder, or a list\n"
              "  -m, --model MODEL          The model\n"
              "      --form FORM            A form. of three (none, potts, full; default full)\n"
              "  -s, --seed N               A seed (default 18446744073709551615)\n"
              "\nWorking:\n"
              "      --way WAY              A way (auto, one, two; default auto)\n"
              "  -a, --answer WORD          An answer (no, yes; default yes)\n"
              "  -n, --count N              A count (1..12; default 7)\n"
              "      --share X              A share (of all) (-0.5..1.25; default 0.25)\n"
              "      --large X              A large number (default 3e+09)\n"
              "      --unset N              A number that may be missing (1..99)\n"
              "      --plain N              A number: 1 or 2. that says all\n"
              "\nRunning:\n"
              "      --least N              A number from 5 on\n"
              "      --memory SIZE          Memory\n"
              "      --out-file FILE        A file whose name and help are so long that the words go on in the next\n"
              "                             line, at its column\n"
              "      --a-name-that-takes-its-line FOLDER\n"
              "                             A folder\n"
              "  -q, --quiet                Say nothing\n"
              "  -?, --help [all]           Print what most people need, or all options\n"
              "      --usage                Print the usage alone\n"
              "  -V, --version              Print version and licence\n"
              "\nNotes on it: " TEN TEN TEN TEN TEN TEN TEN TEN "y\nseven7 " TEN TEN TEN TEN TEN TEN TEN TEN TEN
              "y\nseven77\n");
}

TEST(help_states_no_default_of_an_option_that_was_given)
{
    const struct common_options common = {.given = {&rows[5], &rows[2]}, .n_given = 2};
    OWNED_ARRAY char *help = text_of(option_help_all, &common);
    must_say(help, "A count (1..12)\n");
    must_say(help, "(none, potts, full)\n");
    must_say(help, "(no, yes; default yes)\n");
}

TEST(the_short_help_has_what_is_needed_then_what_most_people_need_a_line_each)
{
    const struct common_options common = {0};
    OWNED_ARRAY char *help = text_of(option_help_short, &common);
    expect_lines(help, "Usage: cleave do PATH [OPTION...]\nDoes something.\n\n"
                       "  -d, --data PATH            Images\n"
                       "  -m, --model MODEL          The model\n"
                       "      --form FORM            A form (default full)\n"
                       "  -a, --answer WORD          An answer (default yes)\n"
                       "  -n, --count N              A count (default 7)\n"
                       "  -q, --quiet                Say nothing\n"
                       "\nExamples:\n  cleave do a\n  cleave do b -n 3\n\n`cleave do --help all' lists all options.\n");
}

TEST(the_list_for_completion_has_all_names_choices_and_kinds_of_files)
{
    OWNED_ARRAY char *list = text_of(NULL, NULL);
    expect_lines(list, "-d=@\n--data=@\n-m=@.cleave\n--model=@.cleave\n--form=none potts full\n--way=auto one two\n"
                       "-a=no yes\n--answer=no yes\n-n=\n--count=\n--share=\n--large=\n--unset=\n--plain=\n-s=\n"
                       "--seed=\n--least=\n--memory=\n--out-file=@\n--a-name-that-takes-its-line=@\n-q\n--quiet\n"
                       "--help\n--usage\n--version\n");
}
