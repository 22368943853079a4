#include "support/golden.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "support/support.h"

enum { MAX_ROWS = 16384, MAX_SHOWN = 10, MAX_STAGES = 12 };

/* A row's text; after it the digest and the column of its stages, if it has some. */
struct row {
    char *text, *stages;
    uint64_t digest;
    const char *names[MAX_STAGES];
};

static struct {
    struct row list[MAX_ROWS];
    size_t n;
} rows;

/* Of the row that comes next. */
static struct stage {
    const char *name;
    uint64_t digest;
    double sum; /* of absolute values */
} stages[MAX_STAGES];
static size_t n_stages;

static struct stage *stage_of(uint64_t digest, const char *name)
{
    size_t k = 0;
    if (digest == HASH_START)
        n_stages = 0;
    while (k < n_stages && strcmp(stages[k].name, name) != 0)
        k++;
    ck_assert_uint_lt(k, MAX_STAGES);
    if (k == n_stages)
        stages[n_stages++] = (struct stage){name, HASH_START, 0};
    return &stages[k];
}

uint64_t golden_bytes(uint64_t digest, const char *stage, const void *bytes, size_t size)
{
    struct stage *of = stage_of(digest, stage);
    of->digest = hash_bytes(of->digest, bytes, size);
    for (size_t k = 0; k < size; k++)
        of->sum += ((const uint8_t *)bytes)[k];
    return hash_bytes(digest, bytes, size);
}

uint64_t golden_floats(uint64_t digest, const char *stage, const float *values, size_t n)
{
    struct stage *of = stage_of(digest, stage);
    of->digest = hash_bytes(of->digest, values, n * sizeof *values);
    for (size_t k = 0; k < n; k++)
        of->sum += fabsf(values[k]);
    return hash_bytes(digest, values, n * sizeof *values);
}

uint64_t golden_doubles(uint64_t digest, const char *stage, const double *values, size_t n)
{
    struct stage *of = stage_of(digest, stage);
    for (size_t k = 0; k < n; k++) {
        double value = values[k] == 0 ? 0 : values[k]; /* of either sign */
        bool is_nan = value != value;
        const void *bytes = is_nan ? (const void *)"NaN" : &value;
        size_t size = is_nan ? 3 : sizeof value;
        digest = hash_bytes(digest, bytes, size);
        of->digest = hash_bytes(of->digest, bytes, size);
        of->sum += is_nan ? 0 : fabs(value);
    }
    return digest;
}

void golden_begin(void)
{
    rows.n = n_stages = 0;
}

static struct row *add_row(char *text)
{
    ck_assert(text != NULL && rows.n < MAX_ROWS);
    rows.list[rows.n] = (struct row){.text = text};
    return &rows.list[rows.n++];
}

static char *printed(const char *format, va_list list)
{
    char *text;
    return vasprintf(&text, format, list) < 0 ? NULL : text;
}

void golden_line(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    add_row(printed(format, list));
    va_end(list);
}

static void add_digest(uint64_t digest, const char *text)
{
    char *line, column[MAX_STAGES * 32] = "";
    ck_assert(text && asprintf(&line, "%s\t%08x", text, (unsigned)(digest ^ digest >> 32)) > 0);
    struct row *row = add_row(line);
    row->digest = digest;
    for (size_t k = 0; k < n_stages; k++) {
        size_t used = strlen(column);
        snprintf(column + used, sizeof column - used, "%s%04x:%.9g", k ? " " : "",
                 (unsigned)(stages[k].digest ^ stages[k].digest >> 32) & 0xffff, stages[k].sum);
        row->names[k] = stages[k].name;
    }
    row->stages = strdup(column);
    n_stages = 0;
}

void golden_row(uint64_t digest, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    OWNED_ARRAY char *text = printed(format, list);
    va_end(list);
    add_digest(digest, text);
}

void golden_row_once(uint64_t digest, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    OWNED_ARRAY char *text = printed(format, list);
    va_end(list);
    for (size_t i = 0; i < rows.n; i++)
        if (rows.list[i].stages && rows.list[i].digest == digest)
            return;
    add_digest(digest, text);
}

static void write_rows(const char *path, const char *head)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "%s%s\n", head, rows.n && rows.list[0].stages ? "\tstages" : "");
    for (size_t i = 0; i < rows.n; i++)
        fprintf(file, rows.list[i].stages ? "%s\t%s\n" : "%s\n", rows.list[i].text, rows.list[i].stages);
    ck_assert_int_eq(fclose(file), 0);
}

/* The sum of a stage; of a column that is another row's, as where rows before it are gone, all of it. */
static const char *sum_of(const char *stage)
{
    const char *colon = strchr(stage, ':');
    return colon ? colon + 1 : stage;
}

/* The stages that differ, and by how much. */
static const char *difference(const struct row *row, char *recorded)
{
    char *found = strdupa(row->stages), text[2048] = "";
    for (int k = 0; k < MAX_STAGES && row->names[k]; k++) {
        const char *was = strsep(&recorded, " "), *is = strsep(&found, " ");
        size_t used = strlen(text);
        if (was && strcmp(was, is) != 0)
            snprintf(text + used, sizeof text - used, "%s%s (absolute sum %s, was %s)", *text ? ", " : "",
                     row->names[k], sum_of(is), sum_of(was));
        else if (!was)
            snprintf(text + used, sizeof text - used, "%s%s (new)", *text ? ", " : "", row->names[k]);
    }
    return formatted("what differs, from the first on: %s", text);
}

/* Shows the first rows that differ. */
static void compare_rows(const char *path)
{
    size_t size, n_lines = 0, n_differ = 0;
    OWNED_ARRAY char *recorded = slurp(path, &size);
    char *next = recorded, *line = strsep(&next, "\n");
    const char *first = "";
    while ((line = strsep(&next, "\n")) && *line) {
        static const struct row nothing = {.text = (char *)"nothing"};
        const struct row *row = n_lines < rows.n ? &rows.list[n_lines] : &nothing;
        char *column = row->stages ? strrchr(line, '\t') : NULL;
        if (column)
            *column++ = 0;
        if ((strcmp(line, row->text) != 0 || (column && strcmp(column, row->stages) != 0)) && n_differ++ < MAX_SHOWN) {
            const char *what = column ? difference(row, column) : "";
            fprintf(stderr, "recorded %s\nfound    %s%s%s\n", line, row->text, column ? "\n         " : "", what);
            if (n_differ == 1)
                first = formatted(": %s: %s", line, what);
        }
        n_lines++;
    }
    ck_assert_msg(n_differ == 0, "%zu of %zu results differ from those in %s%s", n_differ, n_lines, path, first);
    ck_assert_msg(n_lines == rows.n, "%zu results, %zu of them in %s", rows.n, n_lines, path);
}

void golden_end(const char *name, const char *head)
{
    const char *path = formatted("tests/golden/%s.tsv", name);
    if (getenv("CLEAVE_GOLDEN"))
        write_rows(path, head);
    else
        compare_rows(path);
    for (size_t i = 0; i < rows.n; i++) {
        free(rows.list[i].text);
        free(rows.list[i].stages);
    }
    rows.n = 0;
}
