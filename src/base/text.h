/* Growable text with a maximum, strict number parsing, and tab-separated lines. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As in <stdio.h> and <stdlib.h>, but with a decimal point, whatever locale the program that links the library chose.
 * Safe in parallel. */
int point_snprintf(char *buffer, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
int point_vsnprintf(char *buffer, size_t size, const char *format, va_list args) __attribute__((format(printf, 3, 0)));
double point_strtod(const char *string, char **end);

/* A growable, always terminated string. After a failed append (out of memory, or past `max`) it stays as it was and
 * `failed` is set, so that a writer checks once at the end. Zero-initialise, then text_init. */
struct text {
    char *bytes;
    size_t size, capacity, max;
    bool failed;
};

void text_init(struct text *text, size_t max);
void text_release(struct text *text);
void text_append(struct text *text, const void *bytes, size_t size);
void text_put(struct text *text, const char *string);
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "..." with JSON escapes / with HTML entities for <>&"'. Bytes that are not UTF-8 become U+FFFD. */
void text_put_json(struct text *text, const char *string);
void text_put_html(struct text *text, const char *string);

/* A word of a shell's command, in quotes where it needs them. */
void text_put_word(struct text *text, const char *word);

/* A number JSON accepts, shortest form that reads back the same; null when not finite. */
void text_put_json_number(struct text *text, double value);

/* Strict: the whole string must be the number, no blanks, in range; finite for doubles. Locale-independent. */
bool parse_int64(const char *string, int64_t *value);
bool parse_uint64(const char *string, uint64_t *value);
bool parse_int32(const char *string, int32_t *value);
bool parse_double(const char *string, double *value);

/* Cuts the next line off *cursor (up to `end`): terminates it in place, drops "\n" or "\r\n", advances. NULL at the
 * end. The buffer must have one writable byte at `end`. */
char *line_next(char **cursor, char *end);

/* Splits a line at tabs in place; returns the number of fields, of which at most `max` are stored. */
size_t split_tabs(char *line, char **fields, size_t max);

/* Puts "?" in place of every control character that a terminal may obey: below 32, 127, and c2 80 to c2 9f in UTF-8. May
 * be called by a handler of signals. */
void text_hide_controls(char *line);

bool text_is_utf8(const char *bytes, size_t size); /* valid throughout (RFC 3629); a zero byte is a valid character */
bool text_ends_with(const char *string, const char *suffix); /* ASCII case-insensitive */

/* "Did you mean": the choice that few typing errors (insert, delete, replace, swap neighbours) turn into `typed`, or NULL
 * when none is near. choices[n]. */
const char *text_nearest(const char *typed, const char *const *choices, size_t n);

#endif
