/* Reads Label Studio's exports (JSON and JSON-MIN): an array with a task per image. Coordinates are percentages of the
 * image's sides; rotations apply to pixels, so turned shapes need the image size that each result states. The first
 * annotation of a task that was not cancelled is used; a task without one is not labelled yet. Results of one id are
 * one region: one may have its shape and another its label. Start at boxes_parse_tasks. */
#include <string.h>

#include "base/base.h"
#include "data/boxes/boxes.h"
#include "data/shapes/shapes.h"

/* Returns the first name in a member whose key ends with "labels" (rectanglelabels, brushlabels, labels and so on), or
 * NULL. */
static const char *region_label(const struct json_value *value)
{
    const struct json_value *names;
    const char *label;
    for (const char *key = json_next_member(&names, value, NULL); key; key = json_next_member(&names, value, key))
        if (text_ends_with(key, "labels") && json_get_text(json_element(names, 0), &label) && *label)
            return label;
    return NULL;
}

/* A region, collected from its results: its shape, its label and the image's size. */
struct region {
    const struct json_value *value, *result;
    const char *label, *type;
    double size[2]; /* of the image in pixels; 0: unknown */
};

static bool get_numbers(double *numbers, const struct json_value *value, const char *const *keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!json_get_double(json_member(value, keys[i]), &numbers[i]))
            return false;
    return true;
}

/* Reads the bytes of brush strokes. *bytes stays unchanged if the array is malformed. */
static enum clv_status read_brush_bytes(uint8_t **bytes, const struct json_value *array, size_t n,
                                        struct clv_error *err)
{
    OWNED_ARRAY uint8_t *result = array_alloc(n, 1);
    NEED(result);
    for (size_t i = 0; i < n; i++) {
        int64_t byte;
        if (!json_get_int64(json_element(array, i), &byte) || byte < 0 || byte > 255)
            return CLV_OK;
        result[i] = (uint8_t)byte;
    }
    *bytes = TAKE(result);
    return CLV_OK;
}

static enum clv_status read_brush(struct annotation *annotation, const struct region *region, struct clv_error *err)
{
    const struct json_value *array = json_member(region->value, "rle");
    const double *size = region->size;
    struct clv_error why = {0};
    size_t n = 0;
    OWNED_ARRAY uint8_t *bytes = NULL;
    (void)json_get_array(array, &n);
    MUST(read_brush_bytes(&bytes, array, n, err));
    bool has_size = size[0] >= 1 && size[1] >= 1 && size[0] * size[1] <= (double)RLE_MAX_PIXELS;
    if (!bytes || !has_size) {
        annotation_blame(annotation, CLV_ANNOTATION_RUNS,
                         !bytes ? "a brush that is not numbers of 0 to 255"
                                : "a brush without its image's size (\"original_width\" and \"original_height\")");
        return CLV_OK;
    }
    const struct rle_frame frame = {0, 0, (int32_t)size[0], (int32_t)size[1]};
    OWNED_ARRAY uint8_t *inside = array_zalloc((size_t)frame.width * (size_t)frame.height, 1);
    NEED(inside);
    if (brush_decode(inside, frame.width, frame.height, bytes, n, &why)) {
        annotation_blame(annotation, CLV_ANNOTATION_RUNS, "%s", why.message);
        return CLV_OK;
    }
    NEED(annotation->outline = outline_of_mask(inside, &frame));
    annotation->outline->is_whole = true;
    return CLV_OK;
}

/* Reads a polygon. An invalid one sets a fault, and the box of its valid points. */
static enum clv_status read_points(struct annotation *annotation, const struct json_value *value,
                                   const struct json_value *points, size_t n, struct clv_error *err)
{
    double point[2];
    bool is_closed = true;
    OWNED(outline_drop) struct clv_outline *outline = outline_new();
    NEED(outline);
    (void)json_get_bool(json_member(value, "closed"), &is_closed);
    bool is_good = n >= 3 && is_closed;
    for (size_t i = 0; i < n; i++) {
        bool is_point = json_get_point(point, json_element(points, i));
        is_good = is_good && is_point;
        if (is_point)
            annotation_extend(annotation, point[0] / 100, point[1] / 100);
        if (is_point)
            MUST(outline_add_point(outline, point[0] / 100, point[1] / 100, err));
    }
    if (!is_good) {
        annotation_blame(annotation, is_closed ? CLV_ANNOTATION_OUTLINE : CLV_ANNOTATION_LINE,
                         !is_closed ? "a polygon that is not closed"
                         : n < 3    ? "a polygon without three points"
                                    : "a polygon with a point that is not two numbers");
        return CLV_OK;
    }
    MUST(outline_end_polygon(outline, err));
    annotation->has_box = false; /* annotation_add computes it from the outline */
    annotation->outline = TAKE(outline);
    return CLV_OK;
}

/* Reads a rectangle by its upper left corner, which is also its pivot, or an ellipse by its centre. Turned shapes are
 * computed in pixels and converted back to fractions. */
static enum clv_status read_sides(struct annotation *annotation, const struct region *region, bool is_ellipse,
                                  struct clv_error *err)
{
    static const char *const keys[2][4] = {{"x", "y", "width", "height"}, {"x", "y", "radiusX", "radiusY"}};
    static const double shares[2] = {1, 1};
    double side[4], turned = 0;
    if (!get_numbers(side, region->value, keys[is_ellipse], 4)) {
        annotation_blame(annotation, CLV_ANNOTATION_SHAPE, "neither a rectangle, a polygon, an ellipse nor a brush");
        return CLV_OK;
    }
    (void)json_get_double(json_member(region->value, "rotation"), &turned);
    bool has_size = region->size[0] > 0 && region->size[1] > 0;
    if (turned != 0 && !has_size) {
        annotation_blame(annotation, CLV_ANNOTATION_SHAPE,
                         "turned, without its image's size (\"original_width\" and \"original_height\")");
        return CLV_OK;
    }
    const double *size = turned != 0 ? region->size : shares;
    for (int i = 0; i < 4; i++)
        side[i] *= size[i % 2] / 100;
    annotation_state_box(annotation, side);
    if (is_ellipse)
        MUST(outline_of_ellipse(&annotation->outline, side, side + 2, turned, size, err));
    else if (turned != 0)
        MUST(outline_of_rectangle(&annotation->outline, &annotation->box, turned, side, size, err));
    annotation->has_box = !annotation->outline;
    return CLV_OK;
}

static enum clv_status read_shape(struct annotation *annotation, const struct region *region, struct clv_error *err)
{
    static const char *const point[] = {"x", "y"};
    const struct json_value *value = region->value, *points = json_member(value, "points");
    const struct json_value *vertices = json_member(value, "vertices");
    double at[2];
    size_t n = 0;
    if (json_get_array(points, &n))
        return read_points(annotation, value, points, n, err);
    if (json_member(value, "rle"))
        return read_brush(annotation, region, err);
    if (json_get_array(vertices, &n)) {
        for (size_t i = 0; i < n; i++)
            if (get_numbers(at, json_element(vertices, i), point, 2))
                annotation_extend(annotation, at[0] / 100, at[1] / 100);
        annotation_blame(annotation, CLV_ANNOTATION_LINE, "a line of %zu points", n);
        return CLV_OK;
    }
    if (strncmp(region->type, "keypoint", 8) == 0 && get_numbers(at, value, point, 2)) {
        annotation_extend(annotation, at[0] / 100, at[1] / 100);
        annotation_blame(annotation, CLV_ANNOTATION_POINT, "a point");
        return CLV_OK;
    }
    return read_sides(annotation, region, json_member(value, "radiusX") != NULL, err);
}

/* Extracts the name of an image from its URL: a.jpg from "/data/upload/3/1a2b3c4d-a.jpg", pics/a.jpg from
 * "/data/local-files/?d=pics/a.jpg". Drops other queries ("?..") and decodes %20 and the like. NULL: out of memory. */
static char *image_name(const char *stated)
{
    const char *local = strstr(stated, "?d="), *end = local ? NULL : strchr(stated, '?');
    OWNED_ARRAY char *path = string_copy(local ? local + 3 : stated);
    if (path && end && end > stated && strstr(stated, "://"))
        path[end - stated] = 0;
    const char *name = !path || local ? path : path_name(path);
    char *copy = name ? string_copy(name + (local ? 0 : boxes_upload_prefix(name))) : NULL;
    if (copy)
        path_decode(copy);
    return copy;
}

/* Finds the image of a task: "image", or the first text among the members of "data", whose names are arbitrary. */
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

/* Returns whether a result has a shape. Choices, ratings and texts of a region repeat its shape; those of the whole
 * image, and relations, have none. */
static bool has_shape(const struct json_value *value)
{
    static const char *const keys[] = {"points", "rle", "vertices", "x", "format"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (json_member(value, keys[i]))
            return true;
    return false;
}

static bool describes_region(const char *type)
{
    static const char *const types[] = {"choices", "taxonomy", "textarea", "rating", "number", "datetime", "pairwise"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(type, types[i]) == 0)
            return true;
    return false;
}

/* Reads an element of an array of results, and its id or NULL. */
static struct region read_result(const char **id, const struct json_value *result)
{
    static const char *const sizes[] = {"original_width", "original_height"};
    const struct json_value *value = json_member(result, "value");
    struct region region = {.result = result, .type = "", .value = value ? value : result};
    region.label = region_label(region.value);
    *id = NULL;
    (void)json_get_text(json_member(result, "id"), id);
    (void)json_get_text(json_member(result, "type"), &region.type);
    if (!get_numbers(region.size, result, sizes, 2))
        region.size[0] = region.size[1] = 0;
    return region;
}

static enum clv_status add_region(struct boxes_builder *builder, const struct region *region, size_t number,
                                  struct clv_error *err)
{
    struct annotation annotation = {.index = number, .label = region->label ? region->label : ""};
    MUST(read_shape(&annotation, region, err));
    return annotation_add(builder, &annotation, err);
}

/* Adds the regions of the results, each id once; *n_before counts the regions of the task. */
static enum clv_status add_results(struct boxes_builder *builder, const struct json_value *results, size_t *n_before,
                                   struct clv_error *err)
{
    size_t n = 0;
    (void)json_get_array(results, &n);
    OWNED_ARRAY struct region *regions = array_alloc(n, sizeof *regions);
    OWNED_ARRAY const char **ids = array_alloc(n, sizeof *ids);
    NEED(regions && ids);
    size_t n_regions = 0;
    for (size_t i = 0; i < n; i++) {
        const char *id;
        struct region found = read_result(&id, json_element(results, i));
        size_t k = id ? 0 : n_regions;
        while (k < n_regions && (!ids[k] || strcmp(ids[k], id) != 0))
            k++;
        if (k == n_regions && !has_shape(found.value) && !found.label)
            continue; /* about the whole image */
        if (k == n_regions) {
            ids[n_regions] = id;
            regions[n_regions++] = found;
            continue;
        }
        bool has_better = has_shape(found.value) && (!has_shape(regions[k].value) || describes_region(regions[k].type));
        const char *label = regions[k].label ? regions[k].label : found.label;
        if (has_better)
            regions[k] = found;
        regions[k].label = label;
    }
    for (size_t k = 0; k < n_regions; k++)
        if (has_shape(regions[k].value))
            MUST(add_region(builder, &regions[k], ++*n_before, err));
    return CLV_OK;
}

/* Returns the first annotation that was not cancelled, or NULL. */
static const struct json_value *find_annotation(const struct json_value *annotations)
{
    size_t n = 0, n_results;
    (void)json_get_array(annotations, &n);
    for (size_t i = 0; i < n; i++) {
        bool is_cancelled = false;
        const struct json_value *annotation = json_element(annotations, i);
        (void)json_get_bool(json_member(annotation, "was_cancelled"), &is_cancelled);
        if (!is_cancelled && json_get_array(json_member(annotation, "result"), &n_results))
            return annotation;
    }
    return NULL;
}

/* Sets *is_there if the task has results or was submitted; adds the results if `adds`. For JSON-MIN, where each control
 * is a member of the task. */
static enum clv_status add_controls(bool *is_there, struct boxes_builder *builder, const struct json_value *task,
                                    bool adds, struct clv_error *err)
{
    const struct json_value *value;
    size_t n_regions = 0, n;
    *is_there = json_member(task, "annotation_id") != NULL;
    for (const char *key = json_next_member(&value, task, NULL); key; key = json_next_member(&value, task, key)) {
        const struct json_value *first = json_element(value, 0);
        if (!json_get_array(value, &n) || !(has_shape(first) || has_shape(json_member(first, "value"))))
            continue;
        *is_there = true;
        if (adds)
            MUST(add_results(builder, value, &n_regions, err));
    }
    return CLV_OK;
}

static enum clv_status add_task(struct boxes_builder *builder, const struct json_value *task, size_t number,
                                const char *source, struct clv_error *err)
{
    const struct json_value *annotations = json_member(task, "annotations");
    const char *stated;
    size_t n_regions = 0;
    bool is_labelled;
    if (!annotations)
        annotations = json_member(task, "completions");
    FAIL_IF(!task_image(&stated, task), CLV_ERR_DATA, "%s: task %zu: its data name no image", source, number);
    const struct json_value *annotation = find_annotation(annotations);
    MUST(add_controls(&is_labelled, builder, task, false, err));
    if (annotations ? !annotation : !is_labelled)
        return boxes_count_unlabelled(builder, err);
    OWNED_ARRAY char *name = image_name(stated);
    NEED(name);
    FAIL_IF(!*name, CLV_ERR_DATA, "%s: task %zu: its image \"%s\" has no file name", source, number, stated);
    MUST(boxes_add_image(builder, name, source, err));
    builder->boxes.images[builder->boxes.n_images - 1].is_relative = true;
    if (annotation)
        MUST(add_results(builder, json_member(annotation, "result"), &n_regions, err));
    else
        MUST(add_controls(&is_labelled, builder, task, true, err));
    return CLV_OK;
}

bool boxes_is_tasks(const struct boxes_file *file)
{
    const struct json_value *first = json_element(file->root, 0);
    return json_member(first, "data") || json_member(first, "image");
}

enum clv_status boxes_parse_tasks(struct boxes_builder *builder, const struct boxes_file *file, struct clv_error *err)
{
    size_t n = 0, n_members;
    FAIL_IF(!json_get_array(file->root, &n), CLV_ERR_DATA, "%s: no array of tasks", file->source);
    for (size_t i = 0; i < n; i++) {
        const struct json_value *task = json_element(file->root, i);
        FAIL_IF(!json_get_object(task, &n_members), CLV_ERR_DATA, "%s: element %zu is not an object", file->source,
                i + 1);
        MUST(add_task(builder, task, i + 1, file->source, err));
    }
    return CLV_OK;
}
