/* Reads labelme's JSON, one file per image: "shapes", each with a label, points and a type. Rectangles are boxes;
 * polygons, turned rectangles, circles (the centre and a point of the circle) and masks (corners, and a PNG in base64)
 * have outlines. Start at boxes_parse_labelme. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/base64.h"
#include "cleave/image.h"
#include "data/boxes/boxes.h"
#include "data/shapes/shapes.h"

/* Reads points[n]; free them with array_free. */
static enum clv_status read_points(double (**points)[2], const struct json_value *array, size_t n, size_t number,
                                   const char *source, struct clv_error *err)
{
    OWNED_ARRAY double(*result)[2] = array_alloc(n, sizeof *result);
    NEED(result);
    for (size_t i = 0; i < n; i++)
        FAIL_IF(!json_get_point(result[i], json_element(array, i)), CLV_ERR_DATA,
                "%s: shape %zu: point %zu is not two numbers", source, number, i + 1);
    *points = TAKE(result);
    return CLV_OK;
}

/* Reads the pixels of a PNG in base64 that are not 0, placed at the upper left of two corners. The corners are the
 * first and the last pixel; some writers put the second corner one pixel beyond the last. */
static enum clv_status read_mask(struct annotation *annotation, const char *text, const double (*corners)[2],
                                 struct clv_error *err)
{
    OWNED(clv_indexed_image_release) struct clv_indexed_image png = {0};
    OWNED_ARRAY uint8_t *bytes = array_alloc(strlen(text) / 4 * 3 + 3, 1);
    const double left = floor(fmin(corners[0][0], corners[1][0])), top = floor(fmin(corners[0][1], corners[1][1]));
    const double across = floor(fmax(corners[0][0], corners[1][0])) - left;
    const double down = floor(fmax(corners[0][1], corners[1][1])) - top;
    struct clv_error why = {0};
    size_t size;
    NEED(bytes);
    annotation_extend(annotation, left, top);
    annotation_extend(annotation, left + across + 1, top + down + 1);
    if (!base64_read(bytes, &size, text)) {
        annotation_blame(annotation, CLV_ANNOTATION_RUNS, "its \"mask\" is not base64");
        return CLV_OK;
    }
    enum clv_status status = clv_indexed_image_decode(&png, bytes, size, NULL, &why);
    if (status == CLV_ERR_MEMORY)
        return fail_memory(err);
    if (status)
        annotation_blame(annotation, CLV_ANNOTATION_RUNS, "its \"mask\": %s", why.message);
    else if (!(fabs(left) <= 1e6 && fabs(top) <= 1e6) || !(png.width == across + 1 || png.width == across) ||
             !(png.height == down + 1 || png.height == down))
        annotation_blame(annotation, CLV_ANNOTATION_SIZE, "a mask of %dx%d pixels, but its corners are those of %gx%g",
                         png.width, png.height, across + 1, down + 1);
    if (annotation->fault)
        return CLV_OK;
    const struct rle_frame frame = {(int32_t)left, (int32_t)top, png.width, png.height};
    NEED(annotation->outline = outline_of_mask(png.values, &frame));
    return CLV_OK;
}

static enum clv_status read_polygon(struct annotation *annotation, const double (*points)[2], size_t n,
                                    struct clv_error *err)
{
    OWNED(outline_drop) struct clv_outline *outline = outline_new();
    NEED(outline);
    for (size_t i = 0; i < n; i++)
        MUST(outline_add_point(outline, points[i][0], points[i][1], err));
    MUST(outline_end_polygon(outline, err));
    annotation->outline = TAKE(outline);
    return CLV_OK;
}

/* Reads a shape from its type and points. */
static enum clv_status read_shape(struct annotation *annotation, const struct json_value *shape, const char *type,
                                  const double (*points)[2], size_t n, struct clv_error *err)
{
    static const double pixels[2] = {1, 1};
    static const char *const polygons[] = {"polygon", "oriented_rectangle", "rotation", "quadrilateral"};
    const char *mask;
    bool is_rectangle = strcmp(type, "rectangle") == 0;
    if (is_rectangle && (n == 2 || n == 4)) {
        for (size_t i = 0; i < n; i++)
            annotation_extend(annotation, points[i][0], points[i][1]);
        return CLV_OK;
    }
    if (strcmp(type, "circle") == 0 && n == 2) {
        const double across = points[1][0] - points[0][0], down = points[1][1] - points[0][1];
        const double radius = sqrt(across * across + down * down);
        MUST(outline_of_ellipse(&annotation->outline, points[0], (double[2]){radius, radius}, 0, pixels, err));
        return CLV_OK;
    }
    if (strcmp(type, "mask") == 0 && n == 2 && json_get_text(json_member(shape, "mask"), &mask))
        return read_mask(annotation, mask, points, err);
    for (size_t k = 0; k < sizeof polygons / sizeof *polygons; k++)
        if (strcmp(type, polygons[k]) == 0 && n >= (k ? 4 : 3))
            return read_polygon(annotation, points, n, err);
    for (size_t i = 0; i < n; i++)
        annotation_extend(annotation, points[i][0], points[i][1]);
    if (strcmp(type, "point") == 0 || strcmp(type, "points") == 0)
        annotation_blame(annotation, CLV_ANNOTATION_POINT, "a point");
    else if (strncmp(type, "line", 4) == 0)
        annotation_blame(annotation, CLV_ANNOTATION_LINE, "a %s", type);
    else if (strcmp(type, "polygon") == 0)
        annotation_blame(annotation, CLV_ANNOTATION_OUTLINE, "a polygon of %zu points", n);
    else
        annotation_blame(annotation, CLV_ANNOTATION_SHAPE, "a %s of %zu points", type, n);
    return CLV_OK;
}

static enum clv_status add_shape(struct boxes_builder *builder, const struct json_value *shape, size_t number,
                                 const char *source, struct clv_error *err)
{
    const char *type = "polygon"; /* old files have polygons only */
    const struct json_value *points = json_member(shape, "points"), *stated = json_member(shape, "shape_type");
    OWNED_ARRAY double(*read)[2] = NULL;
    struct annotation annotation = {.index = number};
    size_t n = 0;
    int64_t group = 0;
    MUST(json_take_text(&annotation.label, shape, "label", &(struct json_location){source, "shape", number}, err));
    if (!json_is_missing(stated) && !json_get_text(stated, &type))
        return fail(err, CLV_ERR_DATA, "%s: shape %zu: \"shape_type\" is not text", source, number);
    if (!json_get_array(points, &n))
        annotation_blame(&annotation, CLV_ANNOTATION_BOX, "\"points\" is missing, or is not an array");
    MUST(read_points(&read, points, n, number, source, err));
    NEED(read);
    if (!annotation.fault)
        MUST(read_shape(&annotation, shape, type, (const double(*)[2])read, n, err));
    if (annotation.outline && json_get_int64(json_member(shape, "group_id"), &group))
        annotation.outline->group = group > 0 ? group : group - 1; /* 0 is also a group */
    return annotation_add(builder, &annotation, err);
}

bool boxes_is_labelme(const struct boxes_file *file)
{
    return json_member(file->root, "shapes");
}

enum clv_status boxes_parse_labelme(struct boxes_builder *builder, const struct boxes_file *file, struct clv_error *err)
{
    const struct json_value *root = file->root, *shapes = json_member(root, "shapes");
    const char *name, *source = file->source;
    size_t n;
    MUST(boxes_add_image(builder, file->image, source, err));
    if (json_get_text(json_member(root, "imagePath"), &name))
        MUST(boxes_name_image(builder, name, err));
    struct clv_image_boxes *entry = &builder->boxes.images[builder->boxes.n_images - 1];
    const struct json_location location = {source, "image", 1};
    MUST(json_take_side(&entry->width, root, "imageWidth", &location, err));
    MUST(json_take_side(&entry->height, root, "imageHeight", &location, err));
    FAIL_IF(!json_get_array(shapes, &n), CLV_ERR_DATA, "%s: \"shapes\" is not an array", source);
    for (size_t i = 0; i < n; i++)
        MUST(add_shape(builder, json_element(shapes, i), i + 1, source, err));
    return CLV_OK;
}
