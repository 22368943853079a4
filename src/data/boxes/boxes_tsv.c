/* Reads boxes from a table: image, [mask], [label] and x, y, w, h or xmin, ymin, xmax, ymax, by the usual names of
 * columns. Start at boxes_parse_tsv. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "data/boxes/boxes.h"
#include "data/data.h"

enum column { IMAGE, LABEL, X, Y, WIDTH, HEIGHT, X_MIN, Y_MIN, X_MAX, Y_MAX, N_COLUMNS };

/* Accepted names of each column, in any case; cleave writes the first. */
#define MAX_NAMES 8
static const char *const column_names[N_COLUMNS][MAX_NAMES] = {
    [IMAGE] = {"image", "filename", "file_name", "file", "path", "image_path", "image_id", "imageid"},
    [LABEL] = {"label", "class", "class_name", "category", "labelname", "name"},
    [X] = {"x"},
    [Y] = {"y"},
    [WIDTH] = {"w", "width"},
    [HEIGHT] = {"h", "height"},
    [X_MIN] = {"xmin", "x_min", "x1", "left"},
    [Y_MIN] = {"ymin", "y_min", "y1", "top"},
    [X_MAX] = {"xmax", "x_max", "x2", "right"},
    [Y_MAX] = {"ymax", "y_max", "y2", "bottom"},
};

static int find_column(const struct tsv *table, enum column column)
{
    for (int k = 0; k < MAX_NAMES && column_names[column][k]; k++)
        for (size_t i = 0; i < table->n_columns; i++)
            if (text_matches(table->columns[i], column_names[column][k]))
                return (int)i;
    return -1;
}

enum clv_status boxes_find_columns(struct boxes_columns *columns, const struct tsv *table, struct clv_error *err)
{
    columns->image = find_column(table, IMAGE);
    columns->label = find_column(table, LABEL);
    columns->mask = tsv_column(table, "mask");
    /* Beside corners, columns width and height are those of the image. Open Images' corners are fractions of its
     * sides. */
    columns->are_corners = find_column(table, X_MIN) >= 0 && find_column(table, X_MAX) >= 0;
    columns->are_shares = columns->are_corners && tsv_column(table, "ImageID") >= 0;
    if (columns->image < 0)
        return tsv_require_column(&columns->image, table, column_names[IMAGE][0], err);
    for (int i = 0; i < 4; i++) {
        enum column side = (enum column)((columns->are_corners ? X_MIN : X) + i);
        columns->sides[i] = find_column(table, side);
        if (columns->sides[i] < 0)
            return tsv_require_column(&columns->sides[i], table, column_names[side][0], err);
    }
    return CLV_OK;
}

/* Number of rows, of rows without a value above 1, and the line of the first other row. */
struct shares {
    size_t n, n_within, first_beyond;
};

static enum clv_status add_row(struct shares *shares, struct boxes_builder *builder, const struct tsv *table,
                               const struct boxes_columns *columns, struct clv_error *err)
{
    const char *image = table->fields[columns->image];
    char *mask = columns->mask < 0 ? NULL : table->fields[columns->mask];
    double sides[4];
    FAIL_IF(!*image, CLV_ERR_DATA, "%s: line %zu: image is empty", table->path, table->line);
    if (mask && !*mask)
        mask = NULL;
    if (mask) {
        path_simplify(mask);
        enum clv_status status = path_check_inside("", mask, NULL);
        if (status)
            return fail(err, status, "%s: line %zu: mask %s: leads outside its folder", table->path, table->line, mask);
    }
    for (int i = 0; i < 4; i++) {
        const char *field = table->fields[columns->sides[i]];
        FAIL_IF(!parse_double(field, &sides[i]), CLV_ERR_DATA, "%s: line %zu: %s is \"%s\", which is not a number",
                table->path, table->line, table->columns[columns->sides[i]], field);
    }
    struct annotation annotation = {
        .index = table->line,
        .label = columns->label < 0 ? "" : table->fields[columns->label],
        .mask = mask,
        .has_box = true,
        .box = {sides[0], sides[1], sides[2], sides[3]},
    };
    if (columns->are_corners) {
        annotation.box.width -= sides[0];
        annotation.box.height -= sides[1];
    }
    bool is_within = fmax(fmax(sides[0], sides[1]), fmax(sides[2], sides[3])) <= 1;
    shares->n++;
    shares->n_within += is_within;
    if (!is_within && !shares->first_beyond)
        shares->first_beyond = table->line;
    MUST(boxes_add_image(builder, image, table->path, err));
    return annotation_add(builder, &annotation, err);
}

bool boxes_is_tsv(const struct boxes_file *file)
{
    return !file->root;
}

enum clv_status boxes_parse_tsv(struct boxes_builder *builder, const struct boxes_file *file, struct clv_error *err)
{
    OWNED(tsv_release) struct tsv table = {0};
    struct boxes_columns columns = {0};
    bool more = true;
    struct shares shares = {0};
    const size_t first = builder->boxes.n_images;
    const char *source = file->source;
    bool has_tabs = memchr(file->bytes, '\t', strcspn(file->bytes, "\r\n"));
    OWNED_ARRAY char *copy = array_copy(file->bytes, file->size + 1, 1); /* tsv_parse takes ownership */
    NEED(copy);
    MUST(tsv_parse(&table, source, TAKE(copy), file->size, err));
    FAIL_IF(!has_tabs, CLV_ERR_DATA, "%s: no tabs in its first line; " BOXES_FORMATS, source);
    MUST(boxes_find_columns(&columns, &table, err));
    while (more) {
        MUST(tsv_next(&more, &table, err));
        if (more)
            MUST(add_row(&shares, builder, &table, &columns, err));
    }
    bool are_shares = columns.are_shares || shares.n_within == shares.n; /* in pixels, some box would be larger */
    FAIL_IF(!are_shares && 2 * shares.n_within > shares.n, CLV_ERR_DATA,
            "%s: line %zu: a box beyond 1, but most boxes are within, as shares of the images' sides are", source,
            shares.first_beyond);
    for (size_t i = first; i < builder->boxes.n_images && are_shares; i++)
        builder->boxes.images[i].is_relative = true;
    return CLV_OK;
}
