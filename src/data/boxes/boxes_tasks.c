/* Objects in Label Studio's exports (JSON and JSON-MIN): an array of one element an image. Coordinates are shares of
 * the image's sides in percent. */
#include <string.h>

#include "base/base.h"
#include "data/boxes/boxes.h"
#include "data/shapes/shapes.h"

/* The label, whatever its control is called: rectanglelabels, polygonlabels, labels .. */
static const char *region_label(const struct json_value *value)
{
    static const char *const keys[] = {"rectanglelabels", "polygonlabels", "ellipselabels", "labels"};
    const char *label = "";
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (json_get_text(json_element(json_member(value, keys[i]), 0), &label))
            return label;
    return label;
}

/* *outline is NULL if these are not points of a polygon. */
static enum clv_status read_percent_polygon(struct clv_outline **outline, const struct json_value *points, size_t n,
                                            struct clv_error *err)
{
    double point[2];
    bool is_good = n >= 3;
    struct clv_outline *fresh = outline_new();
    enum clv_status status = fresh ? CLV_OK : fail_memory(err);
    for (size_t i = 0; i < n && status == CLV_OK && is_good; i++) {
        is_good = json_get_point(point, json_element(points, i));
        if (is_good)
            status = outline_add_point(fresh, point[0] / 100, point[1] / 100, err);
    }
    TRY_IF(is_good, outline_end_polygon(fresh, err));
    *outline = status == CLV_OK && is_good ? fresh : NULL;
    if (!*outline)
        outline_free(fresh);
    return status;
}

static enum clv_status add_region(struct boxes_builder *builder, const struct json_value *value, size_t number,
                                  const char *source, struct clv_error *err)
{
    static const char *const rectangle[] = {"x", "y", "width", "height"}, *const ellipse[] = {"x", "y", "radiusX",
                                                                                              "radiusY"};
    const struct json_value *points = json_member(value, "points");
    const char *label = region_label(value);
    double turned = 0, side[4];
    size_t n;
    struct clv_box box = {.place = number};
    if (json_get_array(points, &n)) {
        struct clv_outline *outline;
        MUST(read_percent_polygon(&outline, points, n, err));
        return outline ? boxes_add_outline(builder, outline, &box, label, err)
                       : boxes_skip(builder, err, "%s: region %zu: a polygon without three points", source, number);
    }
    bool is_ellipse = json_member(value, "radiusX") != NULL;
    for (int i = 0; i < 4; i++)
        if (!json_get_double(json_member(value, is_ellipse ? ellipse[i] : rectangle[i]), &side[i]))
            return boxes_skip(builder, err, "%s: region %zu is neither a rectangle, a polygon nor an ellipse", source,
                              number);
    if (json_get_double(json_member(value, "rotation"), &turned) && turned != 0)
        return boxes_skip(builder, err, "%s: region %zu is turned", source, number);
    box.x = (is_ellipse ? side[0] - side[2] : side[0]) / 100;
    box.y = (is_ellipse ? side[1] - side[3] : side[1]) / 100;
    box.width = (is_ellipse ? 2 * side[2] : side[2]) / 100;
    box.height = (is_ellipse ? 2 * side[3] : side[3]) / 100;
    return boxes_add(builder, &box, label, NULL, err);
}

/* "/data/upload/3/1a2b3c4d-a.jpg" and "/data/local-files/?d=pics/a.jpg" are a.jpg and pics/a.jpg; blanks come as
 * %20. */
static char *own_name(const char *stated)
{
    const char *local = strstr(stated, "?d="), *name = local ? local + 3 : path_name(stated);
    char *copy = string_copy(name + (local ? 0 : boxes_upload_prefix(name)));
    char *to = copy;
    for (const char *from = copy; from && *from; to++) {
        bool is_blank = strncmp(from, "%20", 3) == 0;
        *to = is_blank ? ' ' : *from;
        from += is_blank ? 3 : 1;
    }
    if (copy)
        *to = 0;
    return copy;
}

/* The first text among the members of "data": tasks call their image as they like. */
static bool task_image(const char **name, const struct json_value *task)
{
    const struct json_value *data = json_member(task, "data"), *value;
    if (json_get_text(json_member(data, "image"), name) || json_get_text(json_member(task, "image"), name))
        return **name != 0;
    for (const char *key = json_next_member(&value, data, NULL); key; key = json_next_member(&value, data, key))
        if (json_get_text(value, name) && **name)
            return true;
    return false;
}

static enum clv_status add_regions(struct boxes_builder *builder, const struct json_value *regions, size_t *n_before,
                                   const char *source, struct clv_error *err)
{
    size_t n = 0;
    enum clv_status status = CLV_OK;
    if (!json_get_array(regions, &n))
        return CLV_OK;
    for (size_t i = 0; i < n && status == CLV_OK; i++) {
        const struct json_value *region = json_element(regions, i), *value = json_member(region, "value");
        const char *type = "";
        if (json_get_text(json_member(region, "type"), &type) && strcmp(type, "choices") == 0)
            continue; /* said of the image as a whole */
        status = add_region(builder, value ? value : region, ++*n_before, source, err);
    }
    return status;
}

static enum clv_status add_task(struct boxes_builder *builder, const struct json_value *task, size_t number,
                                const char *source, struct clv_error *err)
{
    const struct json_value *results = json_member(task, "annotations");
    const char *stated;
    size_t n = 0, n_regions = 0;
    if (!results)
        results = json_member(task, "completions");
    FAIL_IF(!task_image(&stated, task), CLV_ERR_DATA, "%s: task %zu: its data name no image", source, number);
    char *name = own_name(stated);
    enum clv_status status = name ? boxes_add_image(builder, name, source, err) : fail_memory(err);
    array_free(name);
    if (status != CLV_OK)
        return status;
    builder->boxes.images[builder->boxes.n_images - 1].is_relative = true;
    if (json_get_array(results, &n) && n) /* of several annotators the first counts */
        status = add_regions(builder, json_member(json_element(results, 0), "result"), &n_regions, source, err);
    return status == CLV_OK ? add_regions(builder, json_member(task, "label"), &n_regions, source, err) : status;
}

enum clv_status boxes_parse_tasks(struct boxes_builder *builder, const struct json_value *root, const char *source,
                                  struct clv_error *err)
{
    size_t n = 0, n_members;
    const struct json_value *first = json_element(root, 0);
    enum clv_status status = CLV_OK;
    if (!json_get_array(root, &n) || json_member(json_element(json_member(first, "annotations"), 0), "coordinates") ||
        (!json_member(first, "data") && !json_member(first, "image")))
        return fail(err, CLV_ERR_DATA, "%s: an array, but not Label Studio's (\"data\"); " BOXES_FORMATS, source);
    builder->boxes.form = CLV_BOXES_LABEL_STUDIO;
    for (size_t i = 0; i < n && status == CLV_OK; i++) {
        const struct json_value *task = json_element(root, i);
        FAIL_IF(!json_get_object(task, &n_members), CLV_ERR_DATA, "%s: element %zu is no object", source, i + 1);
        status = add_task(builder, task, i + 1, source, err);
    }
    return status;
}
