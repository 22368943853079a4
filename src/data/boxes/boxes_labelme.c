/* Objects in labelme's JSON, one file an image. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/boxes/boxes.h"
#include "data/shapes/shapes.h"

/* The bounding box of points[n] of a rectangle; of a circle by its centre and a point on it. */
static enum clv_status bound_points(struct clv_box *box, const struct json_value *points, size_t n, bool is_circle,
                                    const char *source, struct clv_error *err)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY}, point[2], centre[2] = {0, 0};
    for (size_t i = 0; i < n; i++) {
        if (!json_get_point(point, json_element(points, i)))
            return fail(err, CLV_ERR_DATA, "%s: shape %zu: point %zu is not two numbers", source, box->place, i + 1);
        for (int k = 0; k < 2; k++) {
            low[k] = fmin(low[k], point[k]);
            high[k] = fmax(high[k], point[k]);
            centre[k] = i ? centre[k] : point[k];
        }
    }
    if (is_circle) {
        double across = point[0] - centre[0], down = point[1] - centre[1];
        double radius = sqrt(across * across + down * down);
        for (int k = 0; k < 2; k++) {
            low[k] = centre[k] - radius;
            high[k] = centre[k] + radius;
        }
    }
    box->x = low[0];
    box->y = low[1];
    box->width = high[0] - low[0];
    box->height = high[1] - low[1];
    return CLV_OK;
}

static enum clv_status read_polygon(struct clv_outline **outline, const struct json_value *points, size_t n,
                                    size_t number, const char *source, struct clv_error *err)
{
    double point[2];
    struct clv_outline *fresh = outline_new();
    enum clv_status status = fresh ? CLV_OK : fail_memory(err);
    for (size_t i = 0; i < n && status == CLV_OK; i++)
        status = json_get_point(point, json_element(points, i))
                     ? outline_add_point(fresh, point[0], point[1], err)
                     : fail(err, CLV_ERR_DATA, "%s: shape %zu: point %zu is not two numbers", source, number, i + 1);
    TRY(outline_end_polygon(fresh, err));
    DELIVER(outline, fresh, outline_free(fresh));
    return status;
}

static enum clv_status add_shape(struct boxes_builder *builder, const struct json_value *shape, size_t number,
                                 const char *source, struct clv_error *err)
{
    const char *type = "polygon", *label; /* old files know polygons only */
    const struct json_value *points = json_member(shape, "points"), *stated = json_member(shape, "shape_type");
    size_t n;
    int64_t group = 0;
    MUST(json_take_text(&label, shape, "label", &(struct json_place){source, "shape", number}, err));
    if (stated && !json_get_text(stated, &type))
        return fail(err, CLV_ERR_DATA, "%s: shape %zu: \"shape_type\" is no text", source, number);
    bool is_rectangle = strcmp(type, "rectangle") == 0, is_circle = strcmp(type, "circle") == 0;
    if (!is_rectangle && !is_circle && strcmp(type, "polygon") != 0)
        return boxes_skip(builder, err, "%s: shape %zu is a %s", source, number, type);
    if (!json_get_array(points, &n))
        return boxes_skip(builder, err, "%s: shape %zu: \"points\" is missing, or is no array", source, number);
    if ((is_rectangle || is_circle) ? n != 2 && !(is_rectangle && n == 4) : n < 3)
        return boxes_skip(builder, err, "%s: shape %zu: a %s of %zu points", source, number, type, n);
    struct clv_box box = {.place = number};
    if (json_get_int64(json_member(shape, "group_id"), &group))
        group = group > 0 ? group : group - 1; /* 0 is one, too */
    if (!is_rectangle && !is_circle) {
        struct clv_outline *outline;
        MUST(read_polygon(&outline, points, n, number, source, err));
        outline->group = group;
        return boxes_add_outline(builder, outline, &box, label, err);
    }
    MUST(bound_points(&box, points, n, is_circle, source, err));
    return boxes_add(builder, &box, label, NULL, err);
}

enum clv_status boxes_parse_labelme(struct boxes_builder *builder, const struct json_value *root, const char *source,
                                    const char *image, struct clv_error *err)
{
    const struct json_value *shapes = json_member(root, "shapes"), *path = json_member(root, "imagePath");
    const char *name;
    size_t n;
    enum clv_status status = boxes_add_image(builder, image, source, err);
    TRY_IF(json_get_text(path, &name), boxes_name_image(builder, name, err));
    if (status != CLV_OK)
        return status;
    struct clv_image_boxes *entry = &builder->boxes.images[builder->boxes.n_images - 1];
    const struct json_place place = {source, "image", 1};
    status = json_take_side(&entry->width, root, "imageWidth", &place, err);
    TRY(json_take_side(&entry->height, root, "imageHeight", &place, err));
    TRY_IF(!json_get_array(shapes, &n), fail(err, CLV_ERR_DATA, "%s: \"shapes\" is no array", source));
    for (size_t i = 0; status == CLV_OK && i < n; i++)
        status = add_shape(builder, json_element(shapes, i), i + 1, source, err);
    return status;
}
