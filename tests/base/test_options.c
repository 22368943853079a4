/* Values of options by the rows of a table, and rules on options that are given together. */
#include <string.h>

#include "base/options.h"
#include "support/support.h"

static const char *const animals[] = {"cat", "dog", "horse", NULL}, *const ways[] = {"auto", "fast", "exact", NULL},
                         *const answers[] = {"no", "yes", NULL};

struct values {
    bool flag, answer;
    int set, animal, way;
    const char *text;
    int32_t count;
    uint64_t seed;
    double share, memory;
    char other[16];
};

static enum clv_status take_reversed(void *member, const struct clv_option *option, const char *typed,
                                     struct clv_error *err)
{
    FAIL_IF(strlen(typed) > 15, CLV_ERR_USAGE, "--%s: too long", option->name);
    char *text = member;
    for (size_t i = 0, n = strlen(typed); i <= n; i++)
        text[i] = i < n ? typed[n - 1 - i] : 0;
    return CLV_OK;
}

#define AT(member) .offset = offsetof(struct values, member)
static const struct clv_option rows[] = {
    {.name = "flag", .kind = CLV_OPTION_FLAG, AT(flag)},
    {.name = "set", .kind = CLV_OPTION_SET, AT(set), .minimum = 7},
    {.name = "text", .kind = CLV_OPTION_TEXT, AT(text)},
    {.name = "count", .kind = CLV_OPTION_INT, AT(count), .minimum = -3, .maximum = 12},
    {.name = "seed", .kind = CLV_OPTION_UINT64, AT(seed), .minimum = 5},
    {.name = "share", .kind = CLV_OPTION_NUMBER, AT(share), .minimum = -0.5, .maximum = 1},
    {.name = "memory", .kind = CLV_OPTION_MEMORY, AT(memory)},
    {.name = "animal", .kind = CLV_OPTION_CHOICE, AT(animal), .choices = animals},
    {.name = "way", .kind = CLV_OPTION_AUTO_CHOICE, AT(way), .choices = ways},
    {.name = "answer", .kind = CLV_OPTION_EITHER, AT(answer), .choices = answers},
    {.name = "other", .kind = CLV_OPTION_OTHER, AT(other), .take = take_reversed},
};

static const struct clv_option *row_of(const char *name)
{
    size_t k = 0;
    while (strcmp(rows[k].name, name) != 0)
        k++;
    return &rows[k];
}

TEST(values_become_members_of_their_type)
{
    static const char *const given[][2] = {
        {"flag", NULL},    {"set", NULL},      {"text", "a b"},     {"count", "-3"},  {"seed", "18446744073709551615"},
        {"share", "0.25"}, {"memory", "2.5G"}, {"animal", "horse"}, {"way", "exact"}, {"answer", "yes"},
        {"other", "abc"}};
    struct values values = {.way = 9};
    for (size_t k = 0; k < sizeof given / sizeof *given; k++)
        must(clv_option_set(&values, row_of(given[k][0]), given[k][1], err));
    ck_assert(values.flag && values.set == 7 && values.count == -3 && values.seed == UINT64_MAX && values.answer);
    ck_assert_str_eq(values.text, "a b");
    ck_assert(values.share == 0.25 && values.memory == 2.5e9 && values.animal == 2 && values.way == 1);
    ck_assert_str_eq(values.other, "cba");
    static const char *const first[][2] = {{"count", "12"},   {"seed", "5"},   {"share", "-0.5"},
                                           {"animal", "cat"}, {"way", "auto"}, {"answer", "no"}};
    for (size_t k = 0; k < sizeof first / sizeof *first; k++)
        must(clv_option_set(&values, row_of(first[k][0]), first[k][1], err));
    ck_assert(values.count == 12 && values.seed == 5 && values.share == -0.5 && values.animal == 0 &&
              values.way == -1 && !values.answer);
    must(clv_option_set(&values, row_of("share"), "1", err));
    ck_assert(values.share == 1);
}

TEST(values_out_of_range_are_refused_with_what_is_allowed_and_change_nothing)
{
    static const char *const refused[][3] = {
        {"count", "-4", "--count: \"-4\" is not a whole number from -3 to 12"},
        {"count", "13", "from -3 to 12"},
        {"count", "1.5", "from -3 to 12"},
        {"count", "", "--count: \"\" is not a whole number"},
        {"seed", "4", "--seed: \"4\" is not a whole number from 5 to 18446744073709551615"},
        {"seed", "-1", "is not a whole number"},
        {"seed", "18446744073709551616", "is not a whole number"},
        {"share", "1.01", "--share: \"1.01\" is not a number from -0.5 to 1"},
        {"share", "-0.51", "from -0.5 to 1"},
        {"share", "nan", "is not a number"},
        {"memory", "999999", "--memory: \"999999\" is not a size of memory from 1M, as 800M or 2.5G"},
        {"memory", "2000T", "is not a size of memory"},
        {"memory", "1000001G", "is not a size of memory"},
        {"memory", "M", "is not a size of memory"},
        {"memory", "", "is not a size of memory"},
        {"memory", "5m", "is not a size of memory"},
        {"animal", "cow", "--animal: \"cow\" is not one of cat, dog, horse"},
        {"animal", "hose", "is not one of cat, dog, horse; did you mean \"horse\"?"},
        {"animal", "", "is not one of cat, dog, horse"},
        {"way", "slow", "--way: \"slow\" is not one of auto, fast, exact"},
        {"answer", "true", "--answer: \"true\" is not one of no, yes"},
        {"other", "0123456789abcdef", "--other: too long"},
    };
    const struct values before = {
        .count = 3, .seed = 8, .share = 0.5, .memory = 4e6, .animal = 1, .way = 0, .answer = true};
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++) {
        struct values values = before;
        must_fail(CLV_ERR_USAGE, refused[k][2], clv_option_set(&values, row_of(refused[k][0]), refused[k][1], err));
        ck_assert(values.count == 3 && values.seed == 8 && values.share == 0.5 && values.memory == 4e6);
        ck_assert(values.animal == 1 && values.way == 0 && values.answer && !values.other[0]);
    }
}

TEST(sizes_of_memory_have_units_of_a_thousand)
{
    static const struct {
        const char *typed;
        double bytes;
    } sizes[] = {{"1000000", 1e6}, {"1000K", 1e6}, {"1M", 1e6}, {"800M", 8e8}, {"0.5G", 5e8}, {"1000000G", 1e15}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        struct values values = {.memory = 0};
        must(clv_option_set(&values, row_of("memory"), sizes[k].typed, err));
        ck_assert_msg(values.memory == sizes[k].bytes, "%s is %g", sizes[k].typed, values.memory);
    }
}

TEST(lists_of_numbers_are_added_to_those_before)
{
    double values[4] = {9};
    size_t n = 1;
    must(option_numbers(values, &n, 4, "grid", "1,0.5", 0, 10, err));
    ck_assert(n == 3 && values[0] == 9 && values[1] == 1 && values[2] == 0.5);
    must(option_numbers(values, &n, 4, "grid", "10", 0, 10, err));
    ck_assert(n == 4 && values[3] == 10);
    must_fail(CLV_ERR_USAGE, "--grid: more than 4 candidates", option_numbers(values, &n, 4, "grid", "1", 0, 10, err));
    static const char *const bad[] = {"1,", ",1", "1,,2", "", "1,11", "1;2", "-1", "1,2x"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        n = 0;
        must_fail(CLV_ERR_USAGE, "--grid: \"", option_numbers(values, &n, 4, "grid", bad[k], 0, 10, err));
    }
}

/* A context is the options that are set, " a b=2 @fact ". */
static const char *is_in(void *context, const char *name)
{
    if (!strstr(context, formatted(" %s ", name)))
        return NULL;
    return strcmp(name, "@given") == 0 ? "the masks are given" : strcmp(name, "@net") == 0 ? "net" : "x";
}

TEST(rules_say_what_an_option_needs_and_excludes)
{
    static const struct option_rule rules[] = {{"a b", RULE_NEEDS, "c d=2", "which makes them"},
                                               {"e", RULE_EXCLUDES, "f g=3", "both choose"},
                                               {"h=1", RULE_UNUSED, "i", "it does nothing then"},
                                               {"j", RULE_NEEDS, "@given", "there are no masks"},
                                               {"k", RULE_UNUSED, "@given", "so nothing is left"},
                                               {"l", RULE_EXCLUDES, "@given", NULL},
                                               {"@net", RULE_NEEDS, "m", "it is slow"},
                                               {NULL, 0, NULL, NULL}};
    static const char *const cases[][2] = {
        {" a ", "--a needs --c, which makes them"},
        {" b ", "--b needs --c, which makes them"},
        {" a c ", NULL},
        {" a d=2 ", NULL}, /* one of several is enough */
        {" c d=2 ", NULL},
        {" e f ", "--e excludes --f: both choose"},
        {" e g=3 ", "--e excludes --g 3: both choose"},
        {" e g=2 ", NULL},
        {" f g=3 ", NULL},
        {" h=1 i ", "--h 1 cannot be used with --i: it does nothing then"},
        {" h=2 i ", NULL},
        {" j ", "--j cannot be used: there are no masks"},
        {" j @given ", NULL},
        {" k @given ", "--k: the masks are given, so nothing is left"},
        {" l @given ", "--l: the masks are given"},
        {" k l ", NULL},
        {" @net ", "--net needs --m, it is slow"},
        {" @net m ", NULL},
        {" e f a ", "--a needs --c, which makes them"}, /* the first broken rule */
        {"", NULL},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char set[64];
        struct clv_error error = {0};
        snprintf(set, sizeof set, "%s", cases[k][0]);
        enum clv_status status = option_rules_check(rules, is_in, set, &error);
        ck_assert_msg(status == (cases[k][1] ? CLV_ERR_USAGE : CLV_OK), "\"%s\": %s", set, error.message);
        if (cases[k][1])
            ck_assert_str_eq(error.message, cases[k][1]);
    }
}
