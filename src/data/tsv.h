/* Tab-separated tables with a header row: UTF-8, LF or CRLF, a BOM is fine, blank lines do not count, every row has
 * as many fields as the header. Errors name file and line. */
#ifndef DATA_TSV_H
#define DATA_TSV_H

#include <stdbool.h>

#include "cleave/status.h"

#define TSV_MAX_COLUMNS 64
#define TSV_MAX_SIZE    ((size_t)1 << 30) /* bytes of a table */

struct tsv {
    const char *path;
    char *bytes; /* owned; fields are cut out of it in place */
    char *cursor, *end;
    size_t line; /* of the current row, from 1 */
    size_t n_columns;
    char *columns[TSV_MAX_COLUMNS];
    char *fields[TSV_MAX_COLUMNS]; /* of the current row */
};

/* Takes bytes (array_alloc'd, one writable byte behind the end; the table's whatever the outcome). `path` must
 * outlive the table. */
enum clv_status tsv_parse(struct tsv *table, const char *path, char *bytes, size_t size,
                          struct clv_error *err) CLV_CHECK;
void tsv_release(struct tsv *table);

/* Where a column is, or -1. */
int tsv_column(const struct tsv *table, const char *name);
enum clv_status tsv_require_column(int *column, const struct tsv *table, const char *name,
                                   struct clv_error *err) CLV_CHECK;

/* Cuts the next row into fields; *more is false at the end. */
enum clv_status tsv_next(bool *more, struct tsv *table, struct clv_error *err) CLV_CHECK;

#endif
