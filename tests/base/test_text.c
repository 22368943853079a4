/* Growable text, numbers, lines and fields. */
#include <ctype.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "support/support.h"

TEST(text_grows_to_its_maximum_and_stays_as_it_was_beyond)
{
    OWNED(text_release) struct text t = {0};
    char long_one[600];
    memset(long_one, 'x', sizeof long_one);
    long_one[599] = 0;
    text_init(&t, 1000);
    text_printf(&t, "%s", "");
    ck_assert(t.size == 0 && !t.failed);
    text_printf(&t, "%d,%.255s", 7, long_one);
    text_printf(&t, "%s", long_one + 1); /* longer than what is tried first */
    ck_assert(!t.failed && t.size == 257 + 598 && strlen(t.bytes) == t.size);
    ck_assert(strncmp(t.bytes, "7,x", 3) == 0 && strspn(t.bytes + 2, "x") == t.size - 2);
    text_append(&t, long_one, 145);
    ck_assert(t.failed && t.size == 855 && t.bytes[855] == 0);
    text_append(&t, "y", 1); /* nor anything afterwards */
    ck_assert(t.size == 855);
    text_release(&t);
    ck_assert(!t.bytes && !t.failed);
    text_init(&t, 4);
    text_append(&t, "abc", 3);
    ck_assert(!t.failed && strcmp(t.bytes, "abc") == 0);
    text_release(&t);
    text_init(&t, 3);
    text_append(&t, "abc", 3); /* which ends with a zero */
    ck_assert(t.failed && t.size == 0);
}

TEST(utf8_is_what_the_standard_says)
{
    static const char *const good[] = {"",
                                       "a\x7f",
                                       "\xc2\x80\xdf\xbf",
                                       "\xe0\xa0\x80\xe1\x80\x80",
                                       "\xed\x9f\xbf\xee\x80\x80",
                                       "\xf0\x90\x80\x80",
                                       "\xf4\x8f\xbf\xbf"};
    static const char *const bad[] = {"\x80",
                                      "\xc1\xbf",
                                      "\xc0\x80",
                                      "\xe0\x9f\xbf",
                                      "\xed\xa0\x80",
                                      "\xf0\x8f\xbf\xbf",
                                      "\xf4\x90\x80\x80",
                                      "\xf5\x80\x80\x80",
                                      "\xc2",
                                      "a\xe2\x82",
                                      "\xf0\x90\x80",
                                      "\xc2\xc0",
                                      "\xe1\x80\xc0",
                                      "\xff"};
    for (size_t k = 0; k < sizeof good / sizeof *good; k++)
        ck_assert_msg(text_is_utf8(good[k], strlen(good[k])), "good %zu", k);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        ck_assert_msg(!text_is_utf8(bad[k], strlen(bad[k])), "bad %zu", k);
    ck_assert(text_is_utf8("a\0b", 3) && !text_is_utf8("a\0\xff", 3));
}

TEST(text_is_escaped_for_json_and_html)
{
    OWNED(text_release) struct text t = {0};
    text_init(&t, 1000);
    text_put_json(&t, "\r\t\x1f \x7f/\xe2\x82\xac\xe2\x82");
    ck_assert_str_eq(t.bytes, "\"\\r\\t\\u001f \x7f/\xe2\x82\xac\xef\xbf\xbd\xef\xbf\xbd\"");
    text_release(&t);
    text_init(&t, 1000);
    text_put_html(&t, "<a b=\"c\">'&\n\xc3\xa9\xff");
    ck_assert_str_eq(t.bytes, "&lt;a b=&quot;c&quot;&gt;&#39;&amp;\n\xc3\xa9\xef\xbf\xbd");
}

TEST(numbers_are_written_as_short_as_reads_back)
{
    static const struct {
        double value;
        const char *written;
    } cases[] = {{999999999999999, "999999999999999"},
                 {1e15, "1e+15"},
                 {-1e15, "-1e+15"},
                 {0.5, "0.5"},
                 {1.0 / 3, "0.3333333333333333"},
                 {0.1 + 0.2, "0.30000000000000004"},
                 {5e-324, "5e-324"},
                 {-2.25, "-2.25"},
                 {INFINITY, "null"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        OWNED(text_release) struct text t = {0};
        double again;
        text_init(&t, 100);
        text_put_json_number(&t, cases[k].value);
        ck_assert_str_eq(t.bytes, cases[k].written);
        ck_assert(strcmp(t.bytes, "null") == 0 || (parse_double(t.bytes, &again) && again == cases[k].value));
    }
}

TEST(numbers_are_read_to_the_limits_of_their_types)
{
    int64_t i;
    uint64_t u;
    int32_t n = 7;
    double d = 7;
    ck_assert(parse_int64("9223372036854775807", &i) && i == INT64_MAX);
    ck_assert(parse_int64("-9223372036854775808", &i) && i == INT64_MIN);
    ck_assert(parse_int64("+5", &i) && i == 5);
    static const char *const no_ints[] = {"9223372036854775808",
                                          "-9223372036854775809",
                                          "",
                                          "-",
                                          "+",
                                          " 1",
                                          "1 ",
                                          "1.0",
                                          "- 1",
                                          "x",
                                          "1e3",
                                          "/",
                                          ":",
                                          "--1"};
    for (size_t k = 0; k < sizeof no_ints / sizeof *no_ints; k++)
        ck_assert_msg(!parse_int64(no_ints[k], &i) && !parse_int32(no_ints[k], &n), "%s", no_ints[k]);
    ck_assert(!parse_uint64("18446744073709551616", &u) && !parse_uint64("5 ", &u) && !parse_uint64("x", &u));
    ck_assert(parse_uint64("0", &u) && u == 0);
    ck_assert(parse_int32("2147483647", &n) && n == INT32_MAX && !parse_int32("-2147483649", &n) && n == INT32_MAX);
    ck_assert(parse_double(".5", &d) && d == .5 && parse_double("-.5", &d) && d == -.5 && parse_double("+1e2", &d) &&
              d == 100);
    static const char *const no_doubles[] = {".", "-", "- 1", "1,5", "1e", "-inf", "1e309", "-nan", "1 ", "e1"};
    for (size_t k = 0; k < sizeof no_doubles / sizeof *no_doubles; k++)
        ck_assert_msg(!parse_double(no_doubles[k], &d) && d == 100, "%s", no_doubles[k]);
}

TEST(the_threads_own_locale_holds_again_after_numbers)
{
    locale_t own = newlocale(LC_ALL_MASK, "C.UTF-8", (locale_t)0);
    OWNED(text_release) struct text t = {0};
    double d;
    ck_assert(own && uselocale(own));
    ck_assert(parse_double("1.5", &d) && uselocale((locale_t)0) == own);
    text_init(&t, 100);
    text_printf(&t, "%g", d);
    ck_assert(uselocale((locale_t)0) == own);
    uselocale(LC_GLOBAL_LOCALE);
    freelocale(own);
}

TEST(lines_end_by_either_kind_of_line_end_or_with_the_text)
{
    char bytes[] = "a\r\n\nb\r\r\n\r\nlast";
    static const char *const lines[] = {"a", "", "b\r", "", "last"};
    char *cursor = bytes, *end = bytes + sizeof bytes - 1;
    for (size_t k = 0; k < 5; k++)
        ck_assert_str_eq(line_next(&cursor, end), lines[k]);
    ck_assert_ptr_null(line_next(&cursor, end));
    char ended[] = "x\n";
    cursor = ended;
    ck_assert_str_eq(line_next(&cursor, ended + 2), "x");
    ck_assert_ptr_null(line_next(&cursor, ended + 2));
}

TEST(fields_are_counted_beyond_those_that_are_wanted)
{
    char line[] = "a\t\tb c\t", other[] = "";
    char *fields[3] = {0};
    ck_assert_uint_eq(split_tabs(line, fields, 3), 4);
    ck_assert_str_eq(fields[0], "a");
    ck_assert_str_eq(fields[1], "");
    ck_assert_str_eq(fields[2], "b c");
    ck_assert_uint_eq(split_tabs(other, fields, 1), 1);
    ck_assert_str_eq(fields[0], "");
    ck_assert_str_eq(fields[2], "b c"); /* not touched */
}

TEST(controls_that_a_terminal_obeys_are_hidden)
{
    char line[] = "a\x1b[0m\t\x7f\xc2\x80\xc2\x9f\xc2\xa0\xc3\x80~ ";
    text_hide_controls(line);
    ck_assert_str_eq(line, "a?[0m??????\xc2\xa0\xc3\x80~ ");
}

TEST(endings_are_compared_whatever_their_case)
{
    ck_assert(text_ends_with("a.TIF", ".tif") && text_ends_with(".tif", ".tif") && text_ends_with("a", ""));
    ck_assert(!text_ends_with("tif", ".tif") && !text_ends_with("a.tiff", ".tif") && !text_ends_with("", "x"));
}

/* Tests every byte by lists of the characters of ASCII. */
static void check_letters(void)
{
    static const char upper[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", lower[] = "abcdefghijklmnopqrstuvwxyz";
    for (int byte = CHAR_MIN; byte <= CHAR_MAX; byte++) {
        const char c = (char)byte, *large = c ? strchr(upper, c) : NULL, *small = c ? strchr(lower, c) : NULL;
        ck_assert_int_eq(is_letter(c), large || small);
        ck_assert_int_eq(is_digit(c), c && strchr("0123456789", c));
        ck_assert_int_eq(is_space(c), c && strchr(" \t\n\v\f\r", c));
        ck_assert_int_eq(lower_letter(c), large ? lower[large - upper] : c);
    }
    ck_assert(text_matches(upper, lower) && !text_matches("abc", "ab") && !text_matches("\xc9", "\xe9"));
    ck_assert(text_matches_n("IMAGE 1", "image 2", 6) && !text_matches_n("IMAGE 1", "image 2", 7));
    ck_assert(text_matches_n("im", "IM", 7) && !text_matches_n("im", "IMA", 7));
    ck_assert(text_ends_with("A.TIFF", ".tiff"));
}

TEST(letters_are_those_of_ascii_in_every_locale)
{
    OWNED_ARRAY char *output = NULL;
    check_letters();
    run_command(&output, "localedef --no-archive -c -i tr_TR -f ISO-8859-9 $HERE/tr_TR.ISO-8859-9");
    setenv("LOCPATH", formatted("%s", temporary_folder()), 1);
    locale_t turkish = newlocale(LC_ALL_MASK, "tr_TR.ISO-8859-9", (locale_t)0);
    if (!turkish) {
        skip("letters_are_those_of_ascii_in_every_locale", "localedef cannot make tr_TR.ISO-8859-9");
        return;
    }
    uselocale(turkish);
    ck_assert(strcasecmp("I", "i") != 0 && isalpha(0xe9)); /* the locale differs */
    check_letters();
    uselocale(LC_GLOBAL_LOCALE);
    freelocale(turkish);
}

TEST(fields_of_a_table_have_no_tab_and_no_line_end)
{
    struct text text;
    text_init(&text, 1 << 10);
    text_put_field(&text, "a\tb\n\r\\ \x1b\x7f\xc3\xa9");
    text_put_field(&text, "");
    ck_assert_str_eq(text.bytes, "a\\tb\\n\\r\\\\ \\x1b\\x7f\xc3\xa9");
    text_release(&text);
}

TEST(words_of_a_shell_command_come_back_from_a_shell)
{
    static const char *const words[][2] = {{"a-b_c+d=e./f,0:@%", "a-b_c+d=e./f,0:@%"},
                                           {"", "''"},
                                           {"a b", "'a b'"},
                                           {"it's", "'it'\\''s'"},
                                           {"$x", "'$x'"},
                                           {"a\nb", "'a\nb'"},
                                           {"~", "'~'"},
                                           {"\xc3\xa4", "'\xc3\xa4'"}};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        OWNED(text_release) struct text text = {0};
        OWNED_ARRAY char *output = NULL;
        text_init(&text, 1000);
        text_put_word(&text, words[k][0]);
        ck_assert_str_eq(text.bytes, words[k][1]);
        ck_assert_int_eq(run_command(&output, "printf %%s %s", text.bytes), 0);
        ck_assert_str_eq(output, words[k][0]);
    }
}

TEST(fields_are_printed_as_they_are_put_into_texts)
{
    OWNED_ARRAY char *printed = NULL;
    OWNED(text_release) struct text text = {0};
    size_t size;
    const char *field = "a\tb\nc\rd\\e\x1b"
                        "f\x7f\xc3\xa4";
    FILE *stream = open_memstream(&printed, &size);
    put_field(stream, field);
    fclose(stream);
    text_init(&text, 100);
    text_put_field(&text, field);
    ck_assert_str_eq(printed, "a\\tb\\nc\\rd\\\\e\\x1bf\\x7f\xc3\xa4");
    ck_assert_str_eq(text.bytes, printed);
}

/* What a caller was told. */
struct told {
    char lines[512];
};

static void hear(void *context, enum clv_message kind, const char *message)
{
    struct told *told = context;
    snprintf(told->lines + strlen(told->lines), sizeof told->lines - strlen(told->lines), "%d %s\n", kind == CLV_NOTE,
             message);
}

static void follow(void *context, const char *what, size_t done, size_t total, const char *note)
{
    struct told *told = context;
    snprintf(told->lines + strlen(told->lines), sizeof told->lines - strlen(told->lines), "%s %zu of %zu %s\n", what,
             done, total, note);
}

static void weigh(void *context, double done, double total)
{
    struct told *told = context;
    snprintf(told->lines + strlen(told->lines), sizeof told->lines - strlen(told->lines), "%g of %g\n", done, total);
}

TEST(callers_are_told_what_they_have_callbacks_for)
{
    struct told told = {""};
    int stop = 0;
    size_t done = 1;
    const struct clv_progress none = {.context = &told},
                              all = {.context = &told, .report = follow, .notify = hear, .weigh = weigh, .stop = &stop};
    const struct clv_progress *const silent[] = {NULL, &none};
    for (int k = 0; k < 2; k++) {
        report_progress(silent[k], "x", 1, 2, "y");
        progress_weigh(silent[k], 1, 2);
        report_message(silent[k], CLV_NOTE, "x");
        report_count(silent[k], "x", 1, "y", "z", NULL);
        ck_assert(!stop_requested(silent[k]));
    }
    ck_assert_str_eq(told.lines, "");
    report_progress(&all, "reading", 1, 3, "a.png");
    parallel_progress(&all, "reading", &done, 3, "b.png");
    progress_weigh(&all, 0.5, 2);
    report_message(&all, CLV_WARNING, "%d is odd", 3);
    report_count(&all, "f", 0, "mask", "masks", "a");
    report_count(&all, "f", 1, "mask", "masks", "a");
    report_count(&all, "f", 7, "mask", "masks", "a");
    report_count(&all, NULL, 7, "mask", "masks", NULL);
    ck_assert_str_eq(told.lines, "reading 1 of 3 a.png\nreading 2 of 3 b.png\n0.5 of 2\n0 3 is odd\n1 f: 1 mask: a\n"
                                 "1 f: 7 masks, the first is a\n1 7 masks\n");
    ck_assert_uint_eq(done, 2);
    ck_assert(!stop_requested(&all));
    stop = 1;
    ck_assert(stop_requested(&all));
}
