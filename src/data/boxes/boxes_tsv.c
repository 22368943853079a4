/* Boxes as a table: image, [mask], label, x, y, w, h. */
#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "data/boxes/boxes_formats.h"
#include "data/tsv.h"

struct columns {
    int image, mask, label, sides[4]; /* mask and label -1: absent */
};

static const char *const side_names[] = {"x", "y", "w", "h"};

static enum clv_status find_columns(struct columns *columns, const struct tsv *table, struct clv_error *err)
{
    enum clv_status status = tsv_require_column(&columns->image, table, "image", err);
    for (int i = 0; i < 4 && status == CLV_OK; i++)
        status = tsv_require_column(&columns->sides[i], table, side_names[i], err);
    columns->mask = tsv_column(table, "mask");
    columns->label = tsv_column(table, "label");
    return status;
}

static enum clv_status add_row(struct boxes_builder *builder, const struct tsv *table, const struct columns *columns,
                               struct clv_error *err)
{
    const char *image = table->fields[columns->image];
    char *mask = columns->mask < 0 ? NULL : table->fields[columns->mask];
    double sides[4];
    if (!*image)
        return fail(err, CLV_ERR_DATA, "%s: line %zu: image is empty", table->path, table->line);
    if (mask && !*mask)
        mask = NULL;
    if (mask) {
        path_simplify(mask);
        enum clv_status status = path_check_inside("", mask, NULL);
        if (status != CLV_OK)
            return fail(err, status, "%s: line %zu: mask %s: leads outside its folder", table->path, table->line, mask);
    }
    for (int i = 0; i < 4; i++) {
        const char *field = table->fields[columns->sides[i]];
        if (!parse_double(field, &sides[i]))
            return fail(err, CLV_ERR_DATA, "%s: line %zu: %s is \"%s\", which is no number", table->path, table->line,
                        side_names[i], field);
    }
    struct clv_box box = {.x = sides[0], .y = sides[1], .width = sides[2], .height = sides[3], .place = table->line};
    enum clv_status status = boxes_add_image(builder, image, table->path, err);
    if (status == CLV_OK)
        status = boxes_add(builder, &box, columns->label < 0 ? "" : table->fields[columns->label], mask, err);
    return status;
}

enum clv_status boxes_parse_tsv(struct boxes_builder *builder, const char *source, char *bytes, size_t size,
                                struct clv_error *err)
{
    struct tsv table;
    struct columns columns;
    bool more = true;
    enum clv_status status = tsv_parse(&table, source, bytes, size, err);
    if (status != CLV_OK)
        return status;
    status = find_columns(&columns, &table, err);
    while (status == CLV_OK && more) {
        status = tsv_next(&more, &table, err);
        if (status == CLV_OK && more)
            status = add_row(builder, &table, &columns, err);
    }
    tsv_release(&table);
    return status;
}
