/* Reads YOLO's text, one file per image. A line is class, centre x, centre y, width, height, or class and three or more
 * corners x, y, in fractions of the image's sides; a detector's confidence may follow. Lines with key points are
 * refused. Start at boxes_parse_yolo. */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "data/boxes/boxes.h"
#include "data/shapes/shapes.h"

/* Returns the next field of *cursor, terminated in place, and advances *cursor; NULL at the end. */
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

/* Reads a coordinate, a fraction of a side. */
static enum clv_status take_share(double *share, char **cursor, const char *name, size_t number, const char *source,
                                  struct clv_error *err)
{
    const char *field = next_field(cursor);
    if (!field || !parse_double(field, share) || *share < -1 || *share > 2)
        return fail(err, CLV_ERR_DATA, "%s: line %zu: %s is \"%s\", which is not a share of an image's side", source,
                    number, name, field ? field : "");
    return CLV_OK;
}

static enum clv_status read_box(struct annotation *annotation, char *cursor, size_t number, const char *source,
                                struct clv_error *err)
{
    static const char *const names[] = {"x", "y", "width", "height"};
    double side[4];
    for (int i = 0; i < 4; i++)
        MUST(take_share(&side[i], &cursor, names[i], number, source, err));
    annotation_state_box(annotation, (double[]){side[0] - 0.5 * side[2], side[1] - 0.5 * side[3], side[2], side[3]});
    return CLV_OK;
}

static enum clv_status read_polygon(struct annotation *annotation, char *cursor, size_t n_points, size_t number,
                                    const char *source, struct clv_error *err)
{
    OWNED(outline_drop) struct clv_outline *outline = outline_new();
    NEED(outline);
    for (size_t i = 0; i < n_points; i++) {
        double x, y;
        MUST(take_share(&x, &cursor, "x", number, source, err));
        MUST(take_share(&y, &cursor, "y", number, source, err));
        MUST(outline_add_point(outline, x, y, err));
    }
    MUST(outline_end_polygon(outline, err));
    annotation->outline = TAKE(outline);
    return CLV_OK;
}

/* Whether the n fields of a line have key points: class and box, then x, y and a visibility of 0, 1 or 2 for each.
 * Corners of a polygon may also be 0 and 1: if the fields could be pairs of corners, a visibility must be 2. */
static bool has_key_points(const char *line, size_t n)
{
    bool has_two = false;
    if (n < 8 || (n - 5) % 3)
        return false;
    for (size_t i = 0; i < n; i++) {
        double value;
        char field[64];
        line += strspn(line, " \t");
        size_t length = strcspn(line, " \t");
        if (i >= 7 && (i - 7) % 3 == 0) {
            snprintf(field, sizeof field, "%.*s", (int)(length < sizeof field ? length : sizeof field - 1), line);
            if (!parse_double(field, &value) || (value != 0 && value != 1 && value != 2))
                return false;
            has_two |= value == 2;
        }
        line += length;
    }
    return has_two || n % 2 == 0;
}

/* Checks the last field of a line with an even number of fields, which must be a detector's confidence. */
static enum clv_status check_confidence(const char *line, size_t number, const char *source, struct clv_error *err)
{
    double confidence;
    const char *end = line + strlen(line);
    while (end > line && strchr(" \t", end[-1]))
        end--;
    const char *begin = end;
    while (begin > line && !strchr(" \t", begin[-1]))
        begin--;
    char field[64];
    snprintf(field, sizeof field, "%.*s", (int)(end - begin < 63 ? end - begin : 63), begin);
    FAIL_IF(!parse_double(field, &confidence) || confidence < 0 || confidence > 1, CLV_ERR_DATA,
            "%s: line %zu: \"%s\" behind its pairs of corners is not a confidence, which is in 0 to 1", source, number,
            field);
    return CLV_OK;
}

static enum clv_status add_line(struct boxes_builder *builder, char *line, size_t number, const char *source,
                                struct clv_error *err)
{
    const size_t n_classes = builder->n_classes, n = count_fields(line);
    int32_t class;
    char label[16];
    struct annotation annotation = {.index = number};
    if (n > 6 && (builder->has_key_points || has_key_points(line, n)))
        return fail(err, CLV_ERR_DATA,
                    "%s: line %zu: a pose of %zu fields, with key points; boxes and polygons alone are read", source,
                    number, n);
    if (n < 5)
        return fail(err, CLV_ERR_DATA, "%s: line %zu: %zu fields; expected class, x, y, width, height, or corners",
                    source, number, n);
    if (n > 6 && n % 2 == 0)
        MUST(check_confidence(line, number, source, err));
    const char *field = next_field(&line);
    if (!parse_int32(field, &class) || class < 0)
        return fail(err, CLV_ERR_DATA, "%s: line %zu: class \"%s\" is not a number of a class", source, number, field);
    snprintf(label, sizeof label, "%d", class);
    annotation.label = n_classes && (size_t) class < n_classes ? builder->boxes.labels[class] : label;
    if (n_classes && (size_t) class >= n_classes) {
        annotation.label = NULL;
        annotation_blame(&annotation, CLV_ANNOTATION_LABEL, "class %d, but there are names of %zu", class, n_classes);
    }
    if (n <= 6) /* a sixth field, or one after the pairs of corners, is a confidence */
        MUST(read_box(&annotation, line, number, source, err));
    else
        MUST(read_polygon(&annotation, line, (n - 1) / 2, number, source, err));
    return annotation_add(builder, &annotation, err);
}

/* Adds the image of a text. Texts are in a folder "labels" and images in "images" beside it: replaces the last folder
 * "labels" of the path. */
static enum clv_status name_image(struct boxes_builder *builder, const char *path, const char *source,
                                  struct clv_error *err)
{
    static const char labels[] = "labels", images[] = "images"; /* of equal length */
    OWNED_ARRAY char *name = string_copy(path);
    char *last = NULL, *slash;
    NEED(name);
    for (char *part = name; (slash = strchr(part, '/')); part = slash + 1)
        last =
            (size_t)(slash - part) == sizeof labels - 1 && memcmp(part, labels, sizeof labels - 1) == 0 ? part : last;
    if (last)
        memcpy(last, images, sizeof images - 1);
    return boxes_add_image(builder, name, source, err);
}

/* Whether the first line is the header of a table: it has a tab and "image". */
static bool has_header(const struct boxes_file *file)
{
    const char *newline = memchr(file->bytes, '\n', file->size);
    size_t length = newline ? (size_t)(newline - file->bytes) : file->size;
    return memchr(file->bytes, '\t', length) && memmem(file->bytes, length, "image", 5);
}

bool boxes_is_yolo(const struct boxes_file *file)
{
    return !file->root && text_ends_with(file->source, ".txt") && !has_header(file);
}

enum clv_status boxes_parse_yolo(struct boxes_builder *builder, const struct boxes_file *file, struct clv_error *err)
{
    char *cursor = file->bytes, *line;
    MUST(name_image(builder, file->image, file->source, err));
    FAIL_IF(!text_is_utf8(file->bytes, file->size) || memchr(file->bytes, 0, file->size), CLV_ERR_DATA,
            "%s: this is not UTF-8 text", file->source);
    builder->boxes.images[builder->boxes.n_images - 1].is_relative = true;
    MUST(boxes_split_by_lists(builder, err));
    for (size_t number = 1; (line = line_next(&cursor, file->bytes + file->size)); number++)
        if (line[strspn(line, " \t")])
            MUST(add_line(builder, line, number, file->source, err));
    return CLV_OK;
}
