#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "cleave/options.h"

/* Values of options: what may be typed, and what is said of anything else. Tables of struct clv_option
 * (cleave/options.h) name them; clv_option_set takes a value by its row. */

/* CLV_ERR_USAGE: "--name: "typed" is ...". */
enum clv_status option_int(int32_t *value, const char *name, const char *typed, int32_t minimum, int32_t maximum,
                           struct clv_error *err) CLV_CHECK;
enum clv_status option_number(double *value, const char *name, const char *typed, double minimum, double maximum,
                              struct clv_error *err) CLV_CHECK;
/* Appends "X,.." to values[*n], of which there may be `capacity`. */
enum clv_status option_numbers(double *values, size_t *n, size_t capacity, const char *name, const char *typed,
                               double minimum, double maximum, struct clv_error *err) CLV_CHECK;
/* *value is the place among choices[n]. */
enum clv_status option_choice(int *value, const char *name, const char *typed, const char *const *choices, size_t n,
                              struct clv_error *err) CLV_CHECK;
/* The number of names before the NULL that ends them. */
size_t option_count_names(const char *const *names);

#endif
