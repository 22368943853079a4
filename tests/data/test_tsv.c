/* Tables of tab-separated values. */
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "support/support.h"

/* A table of a text; the fields of all rows are put into `rows` as "a|b\n". */
static enum clv_status read_rows(char rows[256], size_t *n_columns, const char *text, size_t size,
                                 struct clv_error *err)
{
    OWNED(tsv_release) struct tsv table = {0};
    char *bytes = array_alloc(size + 1, 1);
    memcpy(bytes, text, size);
    rows[0] = 0;
    MUST(tsv_parse(&table, "t.tsv", bytes, size, err));
    *n_columns = table.n_columns;
    for (bool more = true; more;) {
        MUST(tsv_next(&more, &table, err));
        for (size_t k = 0; more && k < table.n_columns; k++)
            snprintf(rows + strlen(rows), 256 - strlen(rows), "%s%s", table.fields[k],
                     k + 1 < table.n_columns ? "|" : "\n");
    }
    return CLV_OK;
}

TEST(rows_have_the_fields_of_the_header_whatever_ends_lines)
{
    static const struct {
        const char *text, *rows;
        size_t n_columns;
    } tables[] = {
        {"a\tb\n1\t2\n3\t4\n", "1|2\n3|4\n", 2},
        {"a\tb\r\n1\t2\r\n3\t4", "1|2\n3|4\n", 2},
        {"\xef\xbb\xbf"
         "a\tb\n1\t2\n",
         "1|2\n", 2},
        {"\n\na\tb\tc\n\n1\t\t\n\n", "1||\n", 3},
        {"only\n\xc3\xa4 b\n", "\xc3\xa4 b\n", 1},
        {"a\tb", "", 2},
    };
    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++) {
        char rows[256];
        size_t n_columns;
        must(read_rows(rows, &n_columns, tables[k].text, strlen(tables[k].text), err));
        ck_assert_str_eq(rows, tables[k].rows);
        ck_assert_uint_eq(n_columns, tables[k].n_columns);
    }
}

TEST(texts_that_are_no_tables_are_refused_by_line)
{
    static const struct {
        const char *text;
        size_t size; /* 0: up to its end */
        const char *why;
    } tables[] = {
        {"", 0, "t.tsv: is empty"},
        {"\n\r\n", 0, "t.tsv: is empty"},
        {"a\tb\ta\n", 0, "t.tsv: line 1: column \"a\" is there twice"},
        {"\na\ta\n", 0, "line 2: column \"a\" is there twice"},
        {"a\tb\n1\t2\n\n1\t2\t3\n", 0, "t.tsv: line 4 has 3 fields, the header has 2"},
        {"a\tb\n1\n", 0, "t.tsv: line 2 has 1 fields, the header has 2"},
        {"a\tb\n1\t\xff\n", 0, "t.tsv: line 2 is not UTF-8"},
        {"\xff\n1\n", 0, "t.tsv: line 1 is not UTF-8"},
        {"a\n1\n2\n\xc3", 0, "t.tsv: line 4 is not UTF-8"},
        {"a\n1\0002\n", 6, "t.tsv: byte 3 is zero: this is not a text file"},
    };
    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++) {
        char rows[256];
        size_t n_columns, size = tables[k].size ? tables[k].size : strlen(tables[k].text);
        must_fail(CLV_ERR_DATA, tables[k].why, read_rows(rows, &n_columns, tables[k].text, size, err));
    }
}

TEST(a_header_has_at_most_64_columns_which_are_found_by_name)
{
    for (size_t n = TSV_MAX_COLUMNS; n <= TSV_MAX_COLUMNS + 1; n++) {
        OWNED(tsv_release) struct tsv table = {0};
        char *bytes = array_zalloc(1024, 1);
        for (size_t k = 0; k < n; k++)
            snprintf(bytes + strlen(bytes), 1024 - strlen(bytes), "%sc%zu", k ? "\t" : "", k);
        if (n > TSV_MAX_COLUMNS) {
            must_fail(CLV_ERR_DATA, "t.tsv: line 1: 65 columns, the limit is 64",
                      tsv_parse(&table, "t.tsv", bytes, strlen(bytes), err));
            ck_assert_ptr_null(table.bytes);
            continue;
        }
        must(tsv_parse(&table, "t.tsv", bytes, strlen(bytes), err));
        int column = 9;
        ck_assert_int_eq(tsv_column(&table, "c0"), 0);
        ck_assert_int_eq(tsv_column(&table, "c63"), 63);
        ck_assert_int_eq(tsv_column(&table, "c"), -1);
        must(tsv_require_column(&column, &table, "c5", err));
        ck_assert_int_eq(column, 5);
        must_fail(CLV_ERR_DATA, "t.tsv: no column \"d\" in its header (columns are separated by tabs)",
                  tsv_require_column(&column, &table, "d", err));
    }
}
