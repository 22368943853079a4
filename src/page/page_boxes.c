#include "page/page.h"

#include <string.h>

#include "base/base.h"

#define MAX_BYTES   ((size_t)1 << 30)
#define MAX_COLUMNS 64

enum column { C_IMAGE, C_LABEL, C_X, C_Y, C_W, C_H, N_COLUMNS };
static const char *const names[N_COLUMNS] = {"image", "label", "x", "y", "w", "h"};

struct table {
    char *bytes, *cursor, *end;
    size_t n_columns;
    int what[MAX_COLUMNS];  /* which of enum column; N_COLUMNS: another program's */
    int columns[N_COLUMNS]; /* where they are */
};

/* The header; without a file that of a new one. */
static enum clv_status open_table(struct table *table, struct text *header, const char *path, struct clv_error *err)
{
    static const char fresh[] = "image\tlabel\tx\ty\tw\th\n";
    char *fields[MAX_COLUMNS], *line;
    size_t size = 0;
    bool found[N_COLUMNS] = {false};
    *table = (struct table){0};
    enum path_kind kind;
    MUST(path_look(&kind, path, err));
    enum clv_status status = CLV_OK;
    if (kind != PATH_ABSENT) {
        status = file_read(&table->bytes, &size, path, MAX_BYTES, err);
    } else {
        size = sizeof fresh - 1;
        table->bytes = array_copy(fresh, sizeof fresh, 1);
        status = table->bytes ? CLV_OK : fail_memory(err);
    }
    if (status != CLV_OK)
        return status;
    table->cursor = table->bytes + (size >= 3 && memcmp(table->bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0);
    table->end = table->bytes + size;
    line = line_next(&table->cursor, table->end);
    if (line)
        text_printf(header, "%s\n", line);
    table->n_columns = line ? split_tabs(line, fields, MAX_COLUMNS) : 0;
    for (size_t k = 0; k < table->n_columns && k < MAX_COLUMNS; k++) {
        table->what[k] = C_IMAGE;
        while (table->what[k] < N_COLUMNS && strcmp(names[table->what[k]], fields[k]) != 0)
            table->what[k]++;
        if (table->what[k] < N_COLUMNS) {
            table->columns[table->what[k]] = (int)k;
            found[table->what[k]] = true;
        }
    }
    for (int c = 0; c < N_COLUMNS; c++)
        if (!found[c] || table->n_columns > MAX_COLUMNS)
            return fail(err, CLV_ERR_DATA, "%s: has no column \"%s\"; boxes of this folder cannot be saved there", path,
                        names[c]);
    return CLV_OK;
}

enum clv_status page_boxes_check(const char *path, struct clv_error *err)
{
    struct table table;
    struct text header;
    text_init(&header, MAX_BYTES);
    enum clv_status status = open_table(&table, &header, path, err);
    array_free(table.bytes);
    text_release(&header);
    return status;
}

/* A row's field in this column where it is `text`, or NULL. */
static const char *find_field(const struct table *table, const char *line, enum column column, const char *text)
{
    for (int k = 0; k < table->columns[column] && line; k++) {
        line = strchr(line, '\t');
        line = line ? line + 1 : NULL;
    }
    size_t size = line ? strcspn(line, "\t") : 0;
    return line && size == strlen(text) && memcmp(line, text, size) == 0 ? line : NULL;
}

static void put_row(struct text *text, const struct table *table, const char *image, const struct page_box *box)
{
    const struct clv_pixel_box *at = &box->place;
    for (size_t k = 0; k < table->n_columns; k++) {
        text_put(text, k ? "\t" : "");
        switch (table->what[k]) {
        case C_IMAGE: text_put(text, image); break;
        case C_LABEL: text_put(text, box->label); break;
        case C_X: text_printf(text, "%d", at->first_x); break;
        case C_Y: text_printf(text, "%d", at->first_y); break;
        case C_W: text_printf(text, "%d", at->end_x - at->first_x); break;
        case C_H: text_printf(text, "%d", at->end_y - at->first_y); break;
        default: break;
        }
    }
    text_put(text, "\n");
}

/* Writes the text in place of the table, if all went well so far, and frees both. */
static enum clv_status finish_table(struct table *table, struct text *text, const char *path, enum clv_status status,
                                    struct clv_error *err)
{
    TRY_IF(text->failed, fail_memory(err));
    TRY(file_write(path, text->bytes, text->size, err));
    array_free(table->bytes);
    text_release(text);
    return status;
}

enum clv_status page_boxes_replace(const char *path, const char *image, const struct page_box *boxes, size_t n,
                                   struct clv_error *err)
{
    struct table table;
    struct text text;
    text_init(&text, MAX_BYTES);
    enum clv_status status = open_table(&table, &text, path, err);
    for (char *line; status == CLV_OK && (line = line_next(&table.cursor, table.end));)
        if (*line && !find_field(&table, line, C_IMAGE, image))
            text_printf(&text, "%s\n", line);
    for (size_t k = 0; status == CLV_OK && k < n; k++)
        put_row(&text, &table, image, &boxes[k]);
    return finish_table(&table, &text, path, status, err);
}

enum clv_status page_boxes_rename(const char *path, const char *from, const char *to, struct clv_error *err)
{
    struct table table;
    struct text text;
    if (!path_exists(path))
        return CLV_OK;
    text_init(&text, MAX_BYTES);
    enum clv_status status = open_table(&table, &text, path, err);
    for (char *line; status == CLV_OK && (line = line_next(&table.cursor, table.end));) {
        const char *label = find_field(&table, line, C_LABEL, from);
        if (label)
            text_printf(&text, "%.*s%s%s\n", (int)(label - line), line, to, label + strlen(from));
        else
            text_printf(&text, "%s\n", line);
    }
    return finish_table(&table, &text, path, status, err);
}
