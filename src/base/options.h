/* Parses and checks the values of options. Tables of struct clv_option (cleave/options.h) describe options;
 * clv_option_set parses a value by its row. */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cleave/options.h"

/* Parse a number. CLV_ERR_USAGE: "--name: "typed" is not ..". */
enum clv_status option_int(int32_t *value, const char *name, const char *typed, int32_t minimum, int32_t maximum,
                           struct clv_error *err) CLV_CHECK;
enum clv_status option_number(double *value, const char *name, const char *typed, double minimum, double maximum,
                              struct clv_error *err) CLV_CHECK;
/* Appends numbers separated by commas to values[*n], which has `capacity` elements. */
enum clv_status option_numbers(double *values, size_t *n, size_t capacity, const char *name, const char *typed,
                               double minimum, double maximum, struct clv_error *err) CLV_CHECK;
/* *value = the index of the typed word in choices[n]. */
enum clv_status option_choice(int *value, const char *name, const char *typed, const char *const *choices, size_t n,
                              struct clv_error *err) CLV_CHECK;
/* Returns the number of names before the final NULL. */
size_t option_count_names(const char *const *names);

/* A rule on options that are given together. A name is an option without its dashes, an option with a value
 * ("stages=2"), or a fact of the run ("@features"); several are separated by blanks. */
struct option_rule {
    const char *options; /* the rule holds for each of these; NULL ends a table */
    enum {
        RULE_NEEDS,    /* "--option needs --other, why"; one of several others is enough */
        RULE_EXCLUDES, /* "--option excludes --other: why" */
        RULE_UNUSED,   /* "--option cannot be used with --other: why" */
    } relation;
    /* If the other name is a fact, RULE_NEEDS gives "--option cannot be used: why", the other relations "--option:
     * FACT, why". */
    const char *others;
    const char *why; /* NULL: the fact itself is the reason */
};

/* Returns NULL if the option is not set or the fact does not hold. Otherwise returns, for a fact, its clause in
 * messages or the name of the option that it replaces; for an option any text. */
typedef const char *option_is_set(void *context, const char *name);

/* Returns whether the option of that name was given. */
typedef bool option_is_given(const void *context, const char *name);

/* Fails with CLV_ERR_USAGE for the first broken rule of the table. */
enum clv_status option_rules_check(const struct option_rule *rules, option_is_set *is_set, void *context,
                                   struct clv_error *err) CLV_CHECK;

#endif
