#include "support/golden.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "support/support.h"

#define MAX_ROWS  8192
#define MAX_LINE  160
#define MAX_SHOWN 10

static struct {
    char (*lines)[MAX_LINE];
    size_t n;
} rows;

uint64_t golden_bytes(uint64_t digest, const void *bytes, size_t size)
{
    return hash_bytes(digest, bytes, size);
}

uint64_t golden_doubles(uint64_t digest, const double *values, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        double value = values[k] == 0 ? 0 : values[k]; /* of either sign */
        digest = values[k] == values[k] ? hash_bytes(digest, &value, sizeof value) : hash_bytes(digest, "NaN", 3);
    }
    return digest;
}

void golden_begin(void)
{
    rows.lines = malloc(MAX_ROWS * sizeof *rows.lines);
    rows.n = 0;
    ck_assert_ptr_nonnull(rows.lines);
}

void golden_row(uint64_t digest, const char *format, ...)
{
    va_list list;
    ck_assert_uint_lt(rows.n, MAX_ROWS);
    char *line = rows.lines[rows.n++];
    va_start(list, format);
    vsnprintf(line, MAX_LINE, format, list);
    va_end(list);
    size_t used = strlen(line);
    snprintf(line + used, MAX_LINE - used, "\t%08x", (unsigned)(digest ^ digest >> 32));
}

static void write_rows(const char *path, const char *head)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "%s\n", head);
    for (size_t i = 0; i < rows.n; i++)
        fprintf(file, "%s\n", rows.lines[i]);
    ck_assert_int_eq(fclose(file), 0);
}

/* Shows the first rows that differ. */
static void compare_rows(const char *path)
{
    size_t size, n_lines = 0, n_differ = 0;
    char *recorded = slurp(path, &size), *next = recorded, *line = strsep(&next, "\n");
    while ((line = strsep(&next, "\n")) && *line) {
        const char *found = n_lines < rows.n ? rows.lines[n_lines] : "nothing";
        if (strcmp(line, found) != 0 && n_differ++ < MAX_SHOWN)
            fprintf(stderr, "recorded %s\nfound    %s\n", line, found);
        n_lines++;
    }
    free(recorded);
    ck_assert_msg(n_differ == 0, "%zu of %zu results differ from those in %s", n_differ, n_lines, path);
    ck_assert_uint_eq(n_lines, rows.n);
}

void golden_end(const char *name, const char *head)
{
    const char *path = formatted("tests/golden/%s.tsv", name);
    if (getenv("CLEAVE_GOLDEN"))
        write_rows(path, head);
    else
        compare_rows(path);
    free(rows.lines);
    rows.lines = NULL;
}
