/* Parses tables of tab-separated values in place: a header with the names of columns, then rows with as many fields.
 * Start at tsv_parse. */
#include "data/data.h"

#include <string.h>

#include "base/base.h"
#include "image/image.h"

void tsv_release(struct tsv *table)
{
    array_free(table->bytes);
    *table = (struct tsv){0};
}

static char *next_line(struct tsv *table)
{
    char *line;
    do {
        line = line_next(&table->cursor, table->end);
        table->line++;
    } while (line && !*line);
    return line;
}

static enum clv_status check_text(const struct tsv *table, const char *bytes, size_t size, struct clv_error *err)
{
    const char *zero = memchr(bytes, 0, size);
    FAIL_IF(zero && path_is_image(table->path), CLV_ERR_DATA, "%s: is an image; a set is a folder or a manifest",
            table->path);
    FAIL_IF(zero, CLV_ERR_DATA, "%s: byte %zu is zero: this is not a text file", table->path, (size_t)(zero - bytes));
    if (text_is_utf8(bytes, size))
        return CLV_OK;
    size_t number = 0;
    for (const char *line = bytes, *end = bytes + size; line < end; number++) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        const char *stop = newline ? newline + 1 : end;
        if (!text_is_utf8(line, (size_t)(stop - line)))
            break;
        line = stop;
    }
    return fail(err, CLV_ERR_DATA, "%s: line %zu is not UTF-8", table->path, number + 1);
}

static enum clv_status parse_header(struct tsv *table, struct clv_error *err)
{
    char *header = next_line(table);
    FAIL_IF(!header, CLV_ERR_DATA, "%s: is empty", table->path);
    table->n_columns = split_tabs(header, table->columns, TSV_MAX_COLUMNS);
    FAIL_IF(table->n_columns > TSV_MAX_COLUMNS, CLV_ERR_DATA, "%s: line %zu: %zu columns, the limit is %d", table->path,
            table->line, table->n_columns, TSV_MAX_COLUMNS);
    for (size_t i = 0; i < table->n_columns; i++)
        if (tsv_column(table, table->columns[i]) != (int)i)
            return fail(err, CLV_ERR_DATA, "%s: line %zu: column \"%s\" is there twice", table->path, table->line,
                        table->columns[i]);
    return CLV_OK;
}

enum clv_status tsv_parse(struct tsv *table, const char *path, char *bytes, size_t size, struct clv_error *err)
{
    *table = (struct tsv){0};
    OWNED(tsv_release) struct tsv result = {.path = path, .bytes = bytes, .end = bytes + size};
    MUST(check_text(&result, bytes, size, err));
    result.cursor = text_skip_mark(bytes, &size);
    MUST(parse_header(&result, err));
    *table = TAKE(result);
    return CLV_OK;
}

int tsv_column(const struct tsv *table, const char *name)
{
    for (size_t i = 0; i < table->n_columns; i++)
        if (strcmp(table->columns[i], name) == 0)
            return (int)i;
    return -1;
}

enum clv_status tsv_require_column(int *column, const struct tsv *table, const char *name, struct clv_error *err)
{
    *column = tsv_column(table, name);
    FAIL_IF(*column < 0, CLV_ERR_DATA, "%s: no column \"%s\" in its header (columns are separated by tabs)",
            table->path, name);
    return CLV_OK;
}

enum clv_status tsv_next(bool *more, struct tsv *table, struct clv_error *err)
{
    char *line = next_line(table);
    *more = line != NULL;
    if (!line)
        return CLV_OK;
    size_t n = split_tabs(line, table->fields, TSV_MAX_COLUMNS);
    FAIL_IF(n != table->n_columns, CLV_ERR_DATA, "%s: line %zu has %zu fields, the header has %zu", table->path,
            table->line, n, table->n_columns);
    return CLV_OK;
}
