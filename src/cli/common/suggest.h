/* "did you mean": the nearest of a list of names. */
#ifndef CLI_SUGGEST_H
#define CLI_SUGGEST_H

#include <stddef.h>

/* The choice that few typing errors (insert, delete, replace, swap neighbours) turn into `typed`, or NULL when none is
 * near. choices[n]. */
const char *suggest(const char *typed, const char *const *choices, size_t n);

#endif
