/* Boxes as YOLO's text: class, centre x, centre y, width, height, the last four as shares of the image's sides. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "data/boxes/boxes_formats.h"

#define MAX_CLASSES     100000
#define LARGEST_CLASSES ((size_t)1 << 24)

enum clv_status boxes_read_classes(struct boxes_builder *builder, const char *path, struct clv_error *err)
{
    char *bytes, *cursor, *line;
    size_t size, number = 0;
    enum clv_status status = file_read(&bytes, &size, path, LARGEST_CLASSES, err);
    if (status != CLV_OK)
        return status;
    cursor = bytes;
    if (!text_is_utf8(bytes, size) || memchr(bytes, 0, size))
        status = fail(err, CLV_ERR_DATA, "%s: this is no UTF-8 text", path);
    while (status == CLV_OK && (line = line_next(&cursor, bytes + size))) {
        int32_t index;
        if (!*line && cursor >= bytes + size)
            break;
        status = boxes_label(&index, builder, line, err);
        if (status == CLV_OK && (size_t)index != number++)
            status = fail(err, CLV_ERR_DATA, "%s: line %zu: class \"%s\" is there twice", path, number, line);
        if (status == CLV_OK && number > MAX_CLASSES)
            status = fail(err, CLV_ERR_DATA, "%s: more than %d classes", path, MAX_CLASSES);
    }
    array_free(bytes);
    builder->n_classes = number;
    return status;
}

/* Cuts at blanks and tabs, in place; returns how many fields there are, of which `max` are stored. */
static size_t split_blanks(char *line, char **fields, size_t max)
{
    size_t n = 0;
    for (char *field = line + strspn(line, " \t"); *field; field += strspn(field, " \t")) {
        if (n < max)
            fields[n] = field;
        n++;
        field += strcspn(field, " \t");
        if (*field)
            *field++ = 0;
    }
    return n;
}

static enum clv_status add_line(struct boxes_builder *builder, char *line, size_t number, const char *source,
                                struct clv_error *err)
{
    static const char *const names[] = {"x", "y", "width", "height"};
    char *fields[6];
    double side[4];
    size_t n_classes = builder->n_classes;
    int32_t class;
    size_t n = split_blanks(line, fields, 6);
    if (n != 5 && n != 6) /* a sixth is a detector's confidence */
        return fail(err, CLV_ERR_DATA, "%s: line %zu: %zu fields; expected class, x, y, width, height", source, number,
                    n);
    if (!parse_int32(fields[0], &class) || class < 0)
        return fail(err, CLV_ERR_DATA, "%s: line %zu: class \"%s\" is no number of a class", source, number, fields[0]);
    if (n_classes && (size_t) class >= n_classes)
        return boxes_skip(builder, err, "%s: line %zu: class %d, but classes.txt names %zu", source, number, class,
                          n_classes);
    for (int i = 0; i < 4; i++)
        if (!parse_double(fields[i + 1], &side[i]) || side[i] < -1 || side[i] > 2)
            return fail(err, CLV_ERR_DATA, "%s: line %zu: %s is \"%s\", which is no share of an image's side", source,
                        number, names[i], fields[i + 1]);
    struct clv_box box = {
        .x = side[0] - 0.5 * side[2],
        .y = side[1] - 0.5 * side[3],
        .width = side[2],
        .height = side[3],
        .place = number,
    };
    char label[16];
    snprintf(label, sizeof label, "%d", class);
    return boxes_add(builder, &box, n_classes ? builder->boxes.labels[class] : label, NULL, err);
}

enum clv_status boxes_parse_yolo(struct boxes_builder *builder, const char *source, const char *image, char *bytes,
                                 size_t size, struct clv_error *err)
{
    char *cursor = bytes, *line;
    enum clv_status status = boxes_add_image(builder, image, source, err);
    if (status != CLV_OK)
        return status;
    if (!text_is_utf8(bytes, size) || memchr(bytes, 0, size))
        return fail(err, CLV_ERR_DATA, "%s: this is no UTF-8 text", source);
    builder->boxes.images[builder->boxes.n_images - 1].is_relative = true;
    for (size_t number = 1; status == CLV_OK && (line = line_next(&cursor, bytes + size)); number++)
        if (line[strspn(line, " \t")])
            status = add_line(builder, line, number, source, err);
    return status;
}
