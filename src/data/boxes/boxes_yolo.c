/* Objects as YOLO's text: class, centre x, centre y, width, height, or class and corners x, y, as shares of the image's
 * sides. */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "data/boxes/boxes.h"
#include "data/shapes/shapes.h"

#define MAX_CLASSES     100000
#define LARGEST_CLASSES ((size_t)1 << 24)

enum clv_status boxes_read_classes(struct boxes_builder *builder, const char *path, struct clv_error *err)
{
    char *bytes, *cursor, *line;
    size_t size, number = 0;
    MUST(file_read(&bytes, &size, path, LARGEST_CLASSES, err));
    enum clv_status status = CLV_OK;
    cursor = bytes;
    if (!text_is_utf8(bytes, size) || memchr(bytes, 0, size))
        status = fail(err, CLV_ERR_DATA, "%s: this is no UTF-8 text", path);
    while (status == CLV_OK && (line = line_next(&cursor, bytes + size))) {
        int32_t index;
        if (!*line && cursor >= bytes + size)
            break;
        status = boxes_label(&index, builder, line, err);
        TRY_IF((size_t)index != number++,
               fail(err, CLV_ERR_DATA, "%s: line %zu: class \"%s\" is there twice", path, number, line));
        TRY_IF(number > MAX_CLASSES, fail(err, CLV_ERR_DATA, "%s: more than %d classes", path, MAX_CLASSES));
    }
    array_free(bytes);
    builder->n_classes = number;
    return status;
}

/* Cuts the next field off *cursor, in place; NULL at the end. */
static char *next_field(char **cursor)
{
    char *field = *cursor + strspn(*cursor, " \t");
    char *stop = field + strcspn(field, " \t");
    *cursor = *stop ? stop + 1 : stop;
    *stop = 0;
    return *field ? field : NULL;
}

static size_t count_fields(const char *line)
{
    size_t n = 0;
    for (line += strspn(line, " \t"); *line; line += strspn(line, " \t")) {
        n++;
        line += strcspn(line, " \t");
    }
    return n;
}

/* A coordinate as a share of a side. */
static enum clv_status take_share(double *share, char **cursor, const char *name, size_t number, const char *source,
                                  struct clv_error *err)
{
    const char *field = next_field(cursor);
    if (!field || !parse_double(field, share) || *share < -1 || *share > 2)
        return fail(err, CLV_ERR_DATA, "%s: line %zu: %s is \"%s\", which is no share of an image's side", source,
                    number, name, field ? field : "");
    return CLV_OK;
}

static enum clv_status add_box(struct boxes_builder *builder, char *cursor, size_t number, const char *label,
                               const char *source, struct clv_error *err)
{
    static const char *const names[] = {"x", "y", "width", "height"};
    double side[4];
    for (int i = 0; i < 4; i++)
        MUST(take_share(&side[i], &cursor, names[i], number, source, err));
    struct clv_box box = {
        .x = side[0] - 0.5 * side[2],
        .y = side[1] - 0.5 * side[3],
        .width = side[2],
        .height = side[3],
        .place = number,
    };
    return boxes_add(builder, &box, label, NULL, err);
}

static enum clv_status read_polygon(struct clv_outline **outline, char *cursor, size_t n_points, size_t number,
                                    const char *source, struct clv_error *err)
{
    double x, y;
    struct clv_outline *fresh = outline_new();
    enum clv_status status = fresh ? CLV_OK : fail_memory(err);
    for (size_t i = 0; i < n_points && status == CLV_OK; i++) {
        status = take_share(&x, &cursor, "x", number, source, err);
        TRY(take_share(&y, &cursor, "y", number, source, err));
        TRY(outline_add_point(fresh, x, y, err));
    }
    TRY(outline_end_polygon(fresh, err));
    DELIVER(outline, fresh, outline_free(fresh));
    return status;
}

static enum clv_status add_line(struct boxes_builder *builder, char *line, size_t number, const char *source,
                                struct clv_error *err)
{
    size_t n_classes = builder->n_classes, n = count_fields(line);
    int32_t class;
    if (n != 5 && n != 6 && (n < 7 || n % 2 == 0)) /* a sixth is a detector's confidence; more are corners */
        return fail(err, CLV_ERR_DATA, "%s: line %zu: %zu fields; expected class, x, y, width, height, or corners",
                    source, number, n);
    const char *field = next_field(&line);
    if (!parse_int32(field, &class) || class < 0)
        return fail(err, CLV_ERR_DATA, "%s: line %zu: class \"%s\" is no number of a class", source, number, field);
    if (n_classes && (size_t) class >= n_classes)
        return boxes_skip(builder, err, "%s: line %zu: class %d, but there are names of %zu", source, number, class,
                          n_classes);
    char label[16];
    snprintf(label, sizeof label, "%d", class);
    const char *name = n_classes ? builder->boxes.labels[class] : label;
    if (n <= 6)
        return add_box(builder, line, number, name, source, err);
    struct clv_outline *outline;
    MUST(read_polygon(&outline, line, n / 2, number, source, err));
    return boxes_add_outline(builder, outline, &(struct clv_box){.place = number}, name, err);
}

enum clv_status boxes_parse_yolo(struct boxes_builder *builder, const char *source, const char *image, char *bytes,
                                 size_t size, struct clv_error *err)
{
    char *cursor = bytes, *line;
    MUST(boxes_add_image(builder, image, source, err));
    enum clv_status status = CLV_OK;
    FAIL_IF(!text_is_utf8(bytes, size) || memchr(bytes, 0, size), CLV_ERR_DATA, "%s: this is no UTF-8 text", source);
    builder->boxes.images[builder->boxes.n_images - 1].is_relative = true;
    for (size_t number = 1; status == CLV_OK && (line = line_next(&cursor, bytes + size)); number++)
        if (line[strspn(line, " \t")])
            status = add_line(builder, line, number, source, err);
    return status;
}
