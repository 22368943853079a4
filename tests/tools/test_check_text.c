/* tools/check-text, on small sources that break one rule each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

/* Checks one file with this text; the only finding must be `line: finding`, or none if line is 0. */
static void expect(const char *kind, const char *text, int line, const char *finding)
{
    OWNED_ARRAY char *output = NULL;
    char expected[256];
    if (run_command(NULL, "command -v python3") != 0) {
        skip("a rule of check-text", "python3 is absent");
        return;
    }
    run_here("mkdir -p src");
    spill(here("src/a.c"), text, strlen(text));
    int code = run_command(&output, "tools/check-text %s $HERE/src", kind);
    snprintf(expected, sizeof expected, line ? "%s:%d: %s\n" : "", here("src/a.c"), line, finding);
    ck_assert_str_eq(output, expected);
    ck_assert_int_eq(code, line != 0);
}

TEST(scope_release_passes)
{
    expect("idiom",
           "enum clv_status f(struct a **x)\n{\n    OWNED(a_drop) struct a *u = NULL;\n"
           "    OWNED_ARRAY int(*rows)[2] = make(1, 2), *more = NULL;\n    OWNED(b_release) struct b b = {.n = 3};\n"
           "    MUST(fill(&u)); /* TRY(x) */\n    char *at = more;\n    *x = TAKE(u);\n    return CLV_OK;\n}\n",
           0, "");
}

TEST(macros_of_the_older_idiom_are_refused)
{
    expect("idiom", "enum clv_status f(void)\n{\n    TRY(g());\n    return status;\n}\n", 3,
           "TRY(..) is of the older idiom; use MUST, FAIL_IF, OWNED and TAKE");
}

TEST(an_owned_variable_has_an_initialiser)
{
    expect("idiom", "void f(void)\n{\n    OWNED(mask_release) struct mask a = {0}, b;\n}\n", 3,
           "b is owned and has no initialiser");
}

TEST(an_owned_variable_is_moved_by_take_alone)
{
    expect("idiom", "char *f(void)\n{\n    OWNED_ARRAY char *u = g();\n    return u;\n}\n", 4,
           "u is owned; only TAKE(u) moves it");
    expect("idiom", "void f(char **x)\n{\n    OWNED_ARRAY char *u = g();\n    *x = u;\n}\n", 4,
           "u is owned; only TAKE(u) moves it");
}

TEST(comments_and_texts_use_the_words_of_the_glossary)
{
    expect("words", "/* There is no path, and it is no longer one. */\nint no;\n", 0, "");
    expect("words", "int a;\n/* The file\n * is no image. */\n", 3, "\"is no i\": write \"is not a ..\"");
    expect("words", "const char *a = \"by solving anew\";\n", 1, "\"solving anew\": write \"again\"");
}

TEST(setjmp_goes_without_owned_variables)
{
    expect("idiom", "void f(void)\n{\n    OWNED_ARRAY char *u = g();\n    setjmp(here);\n}\n", 3,
           "an owned variable in a function with setjmp");
}

TEST(failures_know_what_they_are_about)
{
    expect("idiom", "void f(void)\n{\n    fail(err, CLV_ERR_USAGE,\n         \"%s: wrong, %d\", option, 3);\n}\n", 3,
           "a message that begins with \"%s:\" begins with a path, not option; use fail_about");
    expect("idiom", "void f(void)\n{\n    FAIL_IF(a, CLV_ERR_USAGE, \"%s: wrong\", x(a) ? \"--a\" : b);\n}\n", 3,
           "a message that begins with \"%s:\" begins with a path, not x(a) ? \"--a\" : b; use fail_about");
    expect("idiom", "void f(void)\n{\n    fail(err, status, \"%s; more\", why.message);\n}\n", 3,
           "why.message loses its path and kind; use fail_as, fail_adding or fail_told");
    expect("idiom", "void f(void)\n{\n    if (strstr(err->message, path))\n        g();\n}\n", 3,
           "searches a message; ask for its path_length or kind");
    expect("idiom",
           "void f(void)\n{\n    fail(err, s, \"%s: \\\"%s\\\"\", path, option);\n    fail(err, s, \"--%s: a\", "
           "option);\n}\n",
           0, "");
}

TEST(comments_are_sentences_about_files_that_exist)
{
    expect("comments", "/* Reads base/base.h, as base.c does. */\n", 1, "base.c does not exist");
    expect("comments", "\n/* Of a file. */\n", 2, "a comment begins with \"Of\"; write a sentence");
    expect("comments", "const char *text = \"/* Of a.c */\"; /* Whether base/base.h is read. */\n", 0, "");
}
