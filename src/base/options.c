/* Parses the values of options into the members of a struct, by the rows of a table, and checks rules on combinations
 * of options. Start at clv_option_set and option_rules_check. */
#include "base/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "cleave/options.h"

enum clv_status option_int(int32_t *value, const char *name, const char *typed, int32_t minimum, int32_t maximum,
                           struct clv_error *err)
{
    int32_t parsed;
    FAIL_IF(!parse_int32(typed, &parsed) || parsed < minimum || parsed > maximum, CLV_ERR_USAGE,
            "--%s: \"%s\" is not a whole number from %" PRId32 " to %" PRId32, name, typed, minimum, maximum);
    *value = parsed;
    return CLV_OK;
}

enum clv_status option_number(double *value, const char *name, const char *typed, double minimum, double maximum,
                              struct clv_error *err)
{
    double parsed;
    if (!parse_double(typed, &parsed) || parsed < minimum || parsed > maximum)
        return fail(err, CLV_ERR_USAGE, "--%s: \"%s\" is not a number from %g to %g", name, typed, minimum, maximum);
    *value = parsed;
    return CLV_OK;
}

enum clv_status option_numbers(double *values, size_t *n, size_t capacity, const char *name, const char *typed,
                               double minimum, double maximum, struct clv_error *err)
{
    for (const char *part = typed; part; part = strchr(part, ',') ? strchr(part, ',') + 1 : NULL) {
        char number[64];
        size_t length = strcspn(part, ",");
        FAIL_IF(*n == capacity, CLV_ERR_USAGE, "--%s: more than %zu candidates", name, capacity);
        snprintf(number, sizeof number, "%.*s", (int)length, part);
        MUST(option_number(&values[(*n)++], name, length < sizeof number ? number : part, minimum, maximum, err));
    }
    return CLV_OK;
}

static enum clv_status option_uint64(uint64_t *value, const struct clv_option *option, const char *typed,
                                     struct clv_error *err)
{
    uint64_t parsed, minimum = (uint64_t)option->minimum;
    FAIL_IF(!parse_uint64(typed, &parsed) || parsed < minimum, CLV_ERR_USAGE,
            "--%s: \"%s\" is not a whole number from %" PRIu64 " to %" PRIu64, option->name, typed, minimum,
            UINT64_MAX);
    *value = parsed;
    return CLV_OK;
}

/* Parses a number of bytes, at least 1M, with the suffix K, M or G (powers of 1000) or none. */
static enum clv_status option_memory(double *bytes, const struct clv_option *option, const char *typed,
                                     struct clv_error *err)
{
    static const char units[] = "KMG";
    char number[64];
    double value, unit = 1;
    size_t n = strlen(typed);
    const char *found = n ? strchr(units, typed[n - 1]) : NULL;
    for (ptrdiff_t i = 0; found && i <= found - units; i++)
        unit *= 1000;
    snprintf(number, sizeof number, "%.*s", (int)(found ? n - 1 : n), typed);
    if (n >= sizeof number || !parse_double(number, &value) || !(value * unit >= 1e6 && value * unit <= 1e15))
        return fail(err, CLV_ERR_USAGE, "--%s: \"%s\" is not a size of memory from 1M, as 800M or 2.5G", option->name,
                    typed);
    *bytes = value * unit;
    return CLV_OK;
}

enum clv_status option_choice(int *value, const char *name, const char *typed, const char *const *choices, size_t n,
                              struct clv_error *err)
{
    char list[512] = "";
    for (size_t i = 0; i < n; i++) {
        if (strcmp(typed, choices[i]) == 0) {
            *value = (int)i;
            return CLV_OK;
        }
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", choices[i]);
    }
    const char *near = text_nearest(typed, choices, n);
    FAIL_IF(near, CLV_ERR_USAGE, "--%s: \"%s\" is not one of %s; did you mean \"%s\"?", name, typed, list, near);
    return fail(err, CLV_ERR_USAGE, "--%s: \"%s\" is not one of %s", name, typed, list);
}

size_t option_count_names(const char *const *names)
{
    size_t n = 0;
    while (names[n])
        n++;
    return n;
}

enum clv_status clv_option_set(void *options, const struct clv_option *option, const char *typed, struct clv_error *err)
{
    void *member = (char *)options + option->offset;
    int choice = 0;
    switch (option->kind) {
    case CLV_OPTION_FLAG: *(bool *)member = true; return CLV_OK;
    case CLV_OPTION_SET: *(int *)member = (int)option->minimum; return CLV_OK;
    case CLV_OPTION_TEXT: *(const char **)member = typed; return CLV_OK;
    case CLV_OPTION_INT:
        return option_int(member, option->name, typed, (int32_t)option->minimum, (int32_t)option->maximum, err);
    case CLV_OPTION_UINT64: return option_uint64(member, option, typed, err);
    case CLV_OPTION_NUMBER: return option_number(member, option->name, typed, option->minimum, option->maximum, err);
    case CLV_OPTION_MEMORY: return option_memory(member, option, typed, err);
    case CLV_OPTION_OTHER: return option->take(member, option, typed, err);
    case CLV_OPTION_CHOICE:
    case CLV_OPTION_AUTO_CHOICE:
    case CLV_OPTION_EITHER: break;
    }
    MUST(option_choice(&choice, option->name, typed, option->choices, option_count_names(option->choices), err));
    if (option->kind == CLV_OPTION_EITHER)
        *(bool *)member = choice == 1;
    else
        *(int *)member = option->kind == CLV_OPTION_CHOICE ? choice : choice - 1;
    return CLV_OK;
}

/* Rules. */

enum { NAME_SIZE = 64 };

/* Copies the next of the names, separated by blanks, to `name` and advances *names; returns false at the end. */
static bool next_name(char name[NAME_SIZE], const char **names)
{
    *names += strspn(*names, " ");
    size_t length = strcspn(*names, " ");
    snprintf(name, NAME_SIZE, "%.*s", (int)length, *names);
    *names += length;
    return length > 0;
}

/* Changes "stages=2" to the form of the command line, "stages 2". */
static void put_blank(char *name)
{
    char *equals = strchr(name, '=');
    if (equals)
        *equals = ' ';
}

static enum clv_status fail_rule(const struct option_rule *rule, const char *option, char *other, const char *fact,
                                 struct clv_error *err)
{
    bool needs = rule->relation == RULE_NEEDS, is_fact = *other == '@';
    FAIL_IF(is_fact && needs, CLV_ERR_USAGE, "--%s cannot be used: %s", option, rule->why);
    FAIL_IF(is_fact, CLV_ERR_USAGE, "--%s: %s%s%s", option, fact, rule->why ? ", " : "", rule->why ? rule->why : "");
    put_blank(other);
    FAIL_IF(needs, CLV_ERR_USAGE, "--%s needs --%s, %s", option, other, rule->why);
    return fail(err, CLV_ERR_USAGE, "--%s %s --%s: %s", option,
                rule->relation == RULE_UNUSED ? "cannot be used with" : "excludes", other, rule->why);
}

/* Checks a rule for one of its options, which is set. */
static enum clv_status check_others(const struct option_rule *rule, const char *option, option_is_set *is_set,
                                    void *context, struct clv_error *err)
{
    char other[NAME_SIZE], first[NAME_SIZE] = "";
    for (const char *others = rule->others; next_name(other, &others);) {
        const char *fact = is_set(context, other);
        if (fact && rule->relation == RULE_NEEDS)
            return CLV_OK;
        if (fact)
            return fail_rule(rule, option, other, fact, err);
        if (!*first)
            memcpy(first, other, sizeof first);
    }
    return rule->relation == RULE_NEEDS ? fail_rule(rule, option, first, NULL, err) : CLV_OK;
}

enum clv_status option_rules_check(const struct option_rule *rules, option_is_set *is_set, void *context,
                                   struct clv_error *err)
{
    char name[NAME_SIZE];
    for (const struct option_rule *rule = rules; rule->options; rule++)
        for (const char *options = rule->options; next_name(name, &options);) {
            const char *fact = is_set(context, name);
            char option[NAME_SIZE];
            if (!fact)
                continue;
            snprintf(option, sizeof option, "%s", *name == '@' ? fact : name);
            put_blank(option);
            MUST(check_others(rule, option, is_set, context, err));
        }
    return CLV_OK;
}
