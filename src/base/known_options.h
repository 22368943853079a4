/* Options of a task begin with their size, which the functions that fill in defaults note: a program that was built
 * with an older header knows fewer members than the library, and one with a newer header more. */
#ifndef BASE_KNOWN_OPTIONS_H
#define BASE_KNOWN_OPTIONS_H

#include <stddef.h>
#include <string.h>

static inline size_t known_size(size_t given, size_t own)
{
    return given == 0 || given > own ? own : given;
}

/* The library's `own` struct of `size` bytes, which has the defaults, gets the members that the program's has; NULL:
 * none. */
static inline void known_options_take(void *own, size_t size, const void *given)
{
    if (given)
        memcpy(own, given, known_size(*(const size_t *)given, size));
}

/* The other way round, for defaults: as many members as the program's struct has, which notes their size. */
static inline void known_options_give(void *given, size_t given_size, const void *own, size_t size)
{
    size_t known = known_size(given_size, size);
    memcpy(given, own, known);
    memcpy(given, &known, sizeof known);
}

#endif
