/* Keeps the boxes of a folder's objects in its boxes.tsv: replaces the rows of an image, renames labels. Other rows
 * stay as they are, byte for byte. Start at page_boxes_replace. */
#include "page/page.h"

#include <string.h>

#include "base/base.h"
#include "data/boxes/boxes.h"
#include "data/data.h"

#define MAX_BYTES ((size_t)1 << 30)

/* An open boxes.tsv. line_next reads its rows, so that they can be written unchanged. */
struct table {
    struct tsv lines;
    struct boxes_columns columns;
    bool is_read; /* its boxes can be read, even if none can be added */
};

static void release_table(struct table *table)
{
    tsv_release(&table->lines);
}

/* Finds the columns of the table. In a file without labels all boxes are foreground. */
static enum clv_status find_columns(struct table *table, bool needs_labels, struct clv_error *err)
{
    int label;
    MUST(boxes_find_columns(&table->columns, &table->lines, err));
    table->is_read = true;
    FAIL_IF(table->columns.are_shares, CLV_ERR_DATA, "%s: has shares of the images' sides, no pixels",
            table->lines.path);
    return needs_labels && table->columns.label < 0 ? tsv_require_column(&label, &table->lines, "label", err) : CLV_OK;
}

/* Opens the table and adds its header to the text; without a file, the header of a new one. */
static enum clv_status open_table(struct table *table, struct text *header, const char *path, bool needs_labels,
                                  struct clv_error *err)
{
    static const char first_line[] = "image\tlabel\tx\ty\tw\th\n";
    struct clv_error why;
    OWNED_ARRAY char *bytes = NULL;
    size_t size = sizeof first_line - 1;
    enum path_kind kind;
    MUST(path_find_kind(&kind, path, err));
    if (kind != PATH_ABSENT)
        MUST(file_read(&bytes, &size, path, MAX_BYTES, err));
    else
        bytes = array_copy(first_line, sizeof first_line, 1);
    NEED(bytes);
    MUST(tsv_parse(&table->lines, path, TAKE(bytes), size, err));
    for (size_t k = 0; k < table->lines.n_columns; k++)
        text_printf(header, "%s%s", k ? "\t" : "", table->lines.columns[k]);
    text_put(header, "\n");
    if (find_columns(table, needs_labels, &why) != CLV_OK)
        return fail_adding(err, CLV_ERR_DATA, &why,
                           "; new boxes of this folder cannot be saved there: call the file otherwise%s",
                           table->is_read ? ", and show it with --boxes" : "");
    return CLV_OK;
}

enum clv_status page_boxes_check(const char *path, bool needs_labels, struct clv_error *err)
{
    OWNED(release_table) struct table table = {0};
    OWNED(text_release) struct text header = {0};
    text_init(&header, MAX_BYTES);
    return open_table(&table, &header, path, needs_labels, err);
}

static char *next_line(struct table *table)
{
    return line_next(&table->lines.cursor, table->lines.end);
}

/* Returns the field of a row in this column if it is `text`, else NULL. */
static const char *find_field(const char *line, int column, const char *text)
{
    for (int k = 0; k < column && line; k++) {
        line = strchr(line, '\t');
        line = line ? line + 1 : NULL;
    }
    size_t size = line ? strcspn(line, "\t") : 0;
    return line && column >= 0 && size == strlen(text) && memcmp(line, text, size) == 0 ? line : NULL;
}

static void put_row(struct text *text, const struct table *table, const char *image, const struct page_box *box)
{
    const struct boxes_columns *columns = &table->columns;
    const struct clv_pixel_box *at = &box->bounds;
    int32_t x = columns->are_corners ? 0 : at->first_x, y = columns->are_corners ? 0 : at->first_y;
    const int32_t sides[4] = {at->first_x, at->first_y, at->end_x - x, at->end_y - y};
    for (int k = 0; k < (int)table->lines.n_columns; k++) {
        text_put(text, k ? "\t" : "");
        text_put(text, k == columns->image ? image : k == columns->label ? box->label : "");
        for (int i = 0; i < 4; i++)
            if (k == columns->sides[i])
                text_printf(text, "%d", sides[i]);
    }
    text_put(text, "\n");
}

enum clv_status page_boxes_replace(const char *path, bool needs_labels, const char *image, const struct page_box *boxes,
                                   size_t n, struct clv_error *err)
{
    OWNED(release_table) struct table table = {0};
    OWNED(text_release) struct text text = {0};
    text_init(&text, MAX_BYTES);
    MUST(open_table(&table, &text, path, needs_labels, err));
    for (char *line; (line = next_line(&table));)
        if (*line && !find_field(line, table.columns.image, image))
            text_printf(&text, "%s\n", line);
    for (size_t k = 0; k < n; k++)
        put_row(&text, &table, image, &boxes[k]);
    NEED(!text.failed);
    return file_write(path, text.bytes, text.size, err);
}

enum clv_status page_boxes_rename(const char *path, const char *from, const char *to, struct clv_error *err)
{
    OWNED(release_table) struct table table = {0};
    OWNED(text_release) struct text text = {0};
    if (!path_exists(path))
        return CLV_OK;
    text_init(&text, MAX_BYTES);
    MUST(open_table(&table, &text, path, false, err));
    for (char *line; (line = next_line(&table));) {
        const char *label = find_field(line, table.columns.label, from);
        if (label)
            text_printf(&text, "%.*s%s%s\n", (int)(label - line), line, to, label + strlen(from));
        else
            text_printf(&text, "%s\n", line);
    }
    NEED(!text.failed);
    return file_write(path, text.bytes, text.size, err);
}

enum clv_status page_boxes_use(bool *is_used, const char *path, const char *label, struct clv_error *err)
{
    OWNED(release_table) struct table table = {0};
    OWNED(text_release) struct text header = {0};
    *is_used = false;
    if (!path_exists(path))
        return CLV_OK;
    text_init(&header, MAX_BYTES);
    MUST(open_table(&table, &header, path, false, err));
    for (char *line; !*is_used && (line = next_line(&table));)
        *is_used = find_field(line, table.columns.label, label) != NULL;
    return CLV_OK;
}
