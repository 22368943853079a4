/* Text: numbers with a decimal point in any locale, growable strings, escapes of JSON, HTML and shells, strict parsing
 * of numbers, lines and fields, UTF-8, and the nearest of several words by the number of typing errors. */
#include "base/base.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;
static locale_t c_locale;

static void make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* Sets this thread's locale to "C" and returns the former one, for uselocale(). */
static locale_t use_c_locale(void)
{
    pthread_once(&c_locale_once, make_c_locale);
    return uselocale(c_locale);
}

int point_vsnprintf(char *buffer, size_t size, const char *format, va_list args)
{
    locale_t former = use_c_locale();
    int length = vsnprintf(buffer, size, format, args);
    uselocale(former);
    return length;
}

int point_snprintf(char *buffer, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = point_vsnprintf(buffer, size, format, args);
    va_end(args);
    return length;
}

double point_strtod(const char *string, char **end)
{
    locale_t former = use_c_locale();
    double value = strtod(string, end);
    uselocale(former);
    return value;
}

void text_init(struct text *text, size_t max)
{
    *text = (struct text){.max = max};
}

void text_release(struct text *text)
{
    array_free(text->bytes);
    *text = (struct text){0};
}

void text_append(struct text *text, const void *bytes, size_t size)
{
    if (text->failed)
        return;
    if (size >= text->max - text->size ||
        array_reserve((void **)&text->bytes, &text->capacity, text->size + size + 1, 1)) {
        text->failed = true;
        return;
    }
    memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
    text->bytes[text->size] = 0;
}

void text_put(struct text *text, const char *string)
{
    text_append(text, string, strlen(string));
}

void text_printf(struct text *text, const char *format, ...)
{
    va_list args, copy;
    va_start(args, format);
    va_copy(copy, args);
    char small[256];
    int size = point_vsnprintf(small, sizeof small, format, args);
    if (size >= 0 && (size_t)size < sizeof small) {
        text_append(text, small, (size_t)size);
    } else {
        char *large = size < 0 ? NULL : array_alloc((size_t)size + 1, 1);
        if (large) {
            point_vsnprintf(large, (size_t)size + 1, format, copy);
            text_append(text, large, (size_t)size);
        } else {
            text->failed = true;
        }
        array_free(large);
    }
    va_end(copy);
    va_end(args);
}

/* Length in bytes of the valid UTF-8 character at s (1..4), or 0 if there is none (RFC 3629). */
static int utf8_length(const unsigned char *s)
{
    if (s[0] < 0x80)
        return 1;
    int length = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4)
        return 0;
    for (int i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
        (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return length;
}

bool text_is_utf8(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size;) {
        unsigned char window[4] = {0}; /* zero bytes after the end make a truncated character invalid */
        memcpy(window, bytes + i, size - i < 4 ? size - i : 4);
        int length = utf8_length(window);
        if (!length)
            return false;
        i += (size_t)length;
    }
    return true;
}

static void put_escaped(struct text *text, const char *string, void (*put_ascii)(struct text *, char))
{
    const unsigned char *s = (const unsigned char *)string;
    while (*s) {
        int length = utf8_length(s);
        if (length == 1)
            put_ascii(text, (char)*s);
        else if (length == 0)
            text_put(text, "\xef\xbf\xbd");
        else
            text_append(text, s, (size_t)length);
        s += length ? length : 1;
    }
}

static void put_json_char(struct text *text, char c)
{
    switch (c) {
    case '"': text_put(text, "\\\""); break;
    case '\\': text_put(text, "\\\\"); break;
    case '\n': text_put(text, "\\n"); break;
    case '\r': text_put(text, "\\r"); break;
    case '\t': text_put(text, "\\t"); break;
    default:
        if ((unsigned char)c < ' ')
            text_printf(text, "\\u%04x", c);
        else
            text_append(text, &c, 1);
    }
}

static void put_html_char(struct text *text, char c)
{
    switch (c) {
    case '<': text_put(text, "&lt;"); break;
    case '>': text_put(text, "&gt;"); break;
    case '&': text_put(text, "&amp;"); break;
    case '"': text_put(text, "&quot;"); break;
    case '\'': text_put(text, "&#39;"); break;
    default: text_append(text, &c, 1);
    }
}

void text_put_json(struct text *text, const char *string)
{
    text_put(text, "\"");
    put_escaped(text, string, put_json_char);
    text_put(text, "\"");
}

void text_put_html(struct text *text, const char *string)
{
    put_escaped(text, string, put_html_char);
}

const char *field_escape(char space[5], char c)
{
    static const char from[] = "\t\n\r\\", to[] = "tnr\\";
    const char *found = c ? strchr(from, c) : NULL;
    if (found)
        snprintf(space, 5, "\\%c", to[found - from]);
    else if ((unsigned char)c < ' ' || c == 127)
        snprintf(space, 5, "\\x%02x", (unsigned char)c);
    else
        memcpy(space, (char[2]){c}, 2);
    return space;
}

struct counted n_of(size_t n, const char *one, const char *many)
{
    struct counted result;
    snprintf(result.text, sizeof result.text, "%zu %s", n, n == 1 ? one : many);
    return result;
}

void text_put_field(struct text *text, const char *string)
{
    char space[5];
    for (const char *c = string; *c; c++)
        text_put(text, field_escape(space, *c));
}

void text_put_json_number(struct text *text, double value)
{
    if (!isfinite(value)) {
        text_put(text, "null");
        return;
    }
    char digits[32];
    if (value == trunc(value) && fabs(value) < 1e15) { /* 60 instead of 6e+01 by %g */
        text_printf(text, "%.0f", value == 0 ? 0.0 : value);
        return;
    }
    for (int precision = 1; precision <= 17; precision++) {
        point_snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (point_strtod(digits, NULL) == value)
            break;
    }
    text_put(text, digits);
}

static bool is_number_start(const char *s)
{
    return is_digit(*s) || ((*s == '-' || *s == '+' || *s == '.') && s[1] && s[1] != ' ');
}

bool parse_int64(const char *string, int64_t *value)
{
    char *end;
    if (!is_number_start(string))
        return false;
    errno = 0;
    intmax_t parsed = strtoimax(string, &end, 10);
    if (*end || end == string || errno || parsed < INT64_MIN || parsed > INT64_MAX)
        return false;
    *value = parsed;
    return true;
}

bool parse_uint64(const char *string, uint64_t *value)
{
    char *end;
    if (!is_number_start(string) || *string == '-')
        return false;
    errno = 0;
    uintmax_t parsed = strtoumax(string, &end, 10);
    if (*end || end == string || errno || parsed > UINT64_MAX)
        return false;
    *value = parsed;
    return true;
}

bool parse_int32(const char *string, int32_t *value)
{
    int64_t wide;
    if (!parse_int64(string, &wide) || wide < INT32_MIN || wide > INT32_MAX)
        return false;
    *value = (int32_t)wide;
    return true;
}

bool parse_double(const char *string, double *value)
{
    char *end;
    if (!is_number_start(string))
        return false;
    double parsed = point_strtod(string, &end);
    if (*end || end == string || !isfinite(parsed))
        return false;
    *value = parsed;
    return true;
}

char *text_skip_mark(char *bytes, size_t *size)
{
    static const char mark[3] = "\xef\xbb\xbf";
    bool has_mark = *size >= sizeof mark && memcmp(bytes, mark, sizeof mark) == 0;
    *size -= has_mark ? sizeof mark : 0;
    return bytes + (has_mark ? sizeof mark : 0);
}

char *line_next(char **cursor, char *end)
{
    char *line = *cursor;
    if (line >= end)
        return NULL;
    char *newline = memchr(line, '\n', (size_t)(end - line));
    char *stop = newline ? newline : end;
    *cursor = newline ? newline + 1 : end;
    if (stop > line && stop[-1] == '\r')
        stop--;
    *stop = 0;
    return line;
}

size_t split_tabs(char *line, char **fields, size_t max)
{
    size_t n = 0;
    for (char *field = line; field;) {
        char *tab = strchr(field, '\t');
        if (tab)
            *tab = 0;
        if (n < max)
            fields[n] = field;
        n++;
        field = tab ? tab + 1 : NULL;
    }
    return n;
}

void text_hide_controls(char *line)
{
    for (unsigned char *c = (unsigned char *)line; *c; c++) {
        bool is_pair = *c == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f;
        if (is_pair)
            *c++ = '?';
        if (is_pair || *c < ' ' || *c == 127)
            *c = '?';
    }
}

bool text_matches_n(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (lower_letter(a[i]) != lower_letter(b[i]))
            return false;
        if (!a[i])
            break;
    }
    return true;
}

bool text_matches(const char *a, const char *b)
{
    return text_matches_n(a, b, SIZE_MAX);
}

bool text_ends_with(const char *string, const char *suffix)
{
    size_t length = strlen(string), tail = strlen(suffix);
    return length >= tail && text_matches(string + length - tail, suffix);
}

#define LONGEST_NAME 31

/* Optimal string alignment distance; LONGEST_NAME if a name is longer than that. */
static int distance(const char *a, const char *b)
{
    int table[LONGEST_NAME + 1][LONGEST_NAME + 1], n = (int)strlen(a), m = (int)strlen(b);
    if (n > LONGEST_NAME || m > LONGEST_NAME)
        return LONGEST_NAME;
    for (int i = 0; i <= n; i++) {
        for (int j = 0; j <= m; j++) {
            if (!i || !j) {
                table[i][j] = i + j;
                continue;
            }
            int best = smaller(table[i - 1][j], table[i][j - 1]) + 1;
            best = smaller(best, table[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = smaller(best, table[i - 2][j - 2] + 1);
            table[i][j] = best;
        }
    }
    return table[n][m];
}

const char *text_nearest(const char *typed, const char *const *choices, size_t n)
{
    const char *nearest = NULL;
    int least = LONGEST_NAME;
    for (size_t i = 0; i < n; i++) {
        /* A correct beginning has distance 1: "seg" means "segment". */
        size_t length = strlen(typed);
        int far = length >= 2 && strncmp(typed, choices[i], length) == 0 ? 1 : distance(typed, choices[i]);
        if (far < least) {
            least = far;
            nearest = choices[i];
        }
    }
    return nearest && least <= 2 && least < (int)strlen(nearest) - 1 ? nearest : NULL;
}

void text_put_word(struct text *text, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
    if (*word && strspn(word, plain) == strlen(word)) {
        text_put(text, word);
        return;
    }
    text_put(text, "'");
    for (; *word; word++) {
        if (*word == '\'')
            text_put(text, "'\\''");
        else
            text_append(text, word, 1);
    }
    text_put(text, "'");
}

void put_field(FILE *stream, const char *string)
{
    char space[5];
    for (const char *c = string; *c; c++)
        fputs(field_escape(space, *c), stream);
}
