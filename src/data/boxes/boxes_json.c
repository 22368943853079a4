/* Boxes in JSON: COCO's (one file for a set) and labelme's (one an image). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "data/boxes/boxes_formats.h"

struct coco_name {
    int64_t id;
    const struct json_value *value; /* the image or category */
};

struct coco_table {
    struct coco_name *names; /* [n], sorted by id */
    size_t n;
};

static int compare_names(const void *a, const void *b)
{
    int64_t x = ((const struct coco_name *)a)->id, y = ((const struct coco_name *)b)->id;
    return (x > y) - (x < y);
}

static const struct json_value *look_up(const struct coco_table *table, int64_t id)
{
    struct coco_name key = {.id = id};
    const struct coco_name *found = table->n ? bsearch(&key, table->names, table->n, sizeof key, compare_names) : NULL;
    return found ? found->value : NULL;
}

/* A member that has to be text that is not empty. */
static enum clv_status take_text(const char **text, const struct json_value *object, const char *key,
                                 const char *source, const char *what, size_t number, struct clv_error *err)
{
    if (!json_get_text(json_member(object, key), text) || !**text)
        return fail(err, CLV_ERR_DATA, "%s: %s %zu: \"%s\" is missing, or is no text", source, what, number, key);
    return CLV_OK;
}

static enum clv_status take_id(int64_t *id, const struct json_value *object, const char *key, const char *source,
                               const char *what, size_t number, struct clv_error *err)
{
    if (!json_get_int64(json_member(object, key), id))
        return fail(err, CLV_ERR_DATA, "%s: %s %zu: \"%s\" is missing, or is no whole number", source, what, number,
                    key);
    return CLV_OK;
}

/* An image's side, 0 where the file has none. */
static enum clv_status take_side(int32_t *side, const struct json_value *object, const char *key, const char *source,
                                 const char *what, size_t number, struct clv_error *err)
{
    const struct json_value *value = json_member(object, key);
    int64_t size = 0;
    if (value && (!json_get_int64(value, &size) || size < 0 || size > INT32_MAX))
        return fail(err, CLV_ERR_DATA, "%s: %s %zu: \"%s\" is no size of an image", source, what, number, key);
    *side = (int32_t)size;
    return CLV_OK;
}

/* The elements of root[key] by their ids. */
static enum clv_status index_table(struct coco_table *table, const struct json_value *root, const char *key,
                                   const char *what, const char *source, struct clv_error *err)
{
    const struct json_value *array = json_member(root, key);
    if (!json_get_array(array, &table->n))
        return fail(err, CLV_ERR_DATA, "%s: \"%s\" is missing, or is no array", source, key);
    table->names = array_alloc(table->n, sizeof *table->names);
    if (!table->names)
        return fail_memory(err);
    for (size_t i = 0; i < table->n; i++) {
        const struct json_value *value = json_element(array, i);
        table->names[i].value = value;
        enum clv_status status = take_id(&table->names[i].id, value, "id", source, what, i + 1, err);
        if (status != CLV_OK)
            return status;
    }
    qsort(table->names, table->n, sizeof *table->names, compare_names);
    for (size_t i = 1; i < table->n; i++)
        if (table->names[i - 1].id == table->names[i].id)
            return fail(err, CLV_ERR_DATA, "%s: %s id %lld is there twice", source, what,
                        (long long)table->names[i].id);
    return CLV_OK;
}

/* Four numbers x, y, width, height. */
static bool get_bbox(struct clv_box *box, const struct json_value *value)
{
    size_t n;
    double *const sides[] = {&box->x, &box->y, &box->width, &box->height};
    if (!json_get_array(value, &n) || n != 4)
        return false;
    for (size_t i = 0; i < 4; i++)
        if (!json_get_double(json_element(value, i), sides[i]))
            return false;
    return true;
}

static enum clv_status add_coco_image(struct boxes_builder *builder, const struct json_value *image, size_t number,
                                      const char *source, struct clv_error *err)
{
    const char *name;
    enum clv_status status = take_text(&name, image, "file_name", source, "image", number, err);
    if (status == CLV_OK)
        status = boxes_add_image(builder, name, source, err);
    if (status != CLV_OK)
        return status;
    struct clv_image_boxes *entry = &builder->boxes.images[builder->boxes.n_images - 1];
    status = take_side(&entry->width, image, "width", source, "image", number, err);
    return status == CLV_OK ? take_side(&entry->height, image, "height", source, "image", number, err) : status;
}

static enum clv_status add_annotation(struct boxes_builder *builder, const struct json_value *annotation, size_t number,
                                      const struct coco_table *images, const struct coco_table *categories,
                                      const char *source, struct clv_error *err)
{
    int64_t image_id, category_id, is_crowd = 0;
    struct clv_box box = {.place = number};
    enum clv_status status = take_id(&image_id, annotation, "image_id", source, "annotation", number, err);
    const struct json_value *image = status == CLV_OK ? look_up(images, image_id) : NULL;
    if (status == CLV_OK && image)
        status = add_coco_image(builder, image, number, source, err);
    if (status != CLV_OK)
        return status;
    if (!image)
        return boxes_skip_stray(builder, err, "%s: annotation %zu: there is no image %lld", source, number,
                                (long long)image_id);
    if (!json_get_int64(json_member(annotation, "category_id"), &category_id))
        return boxes_skip(builder, err, "%s: annotation %zu: \"category_id\" is missing, or is no whole number", source,
                          number);
    const struct json_value *category = look_up(categories, category_id);
    if (!category)
        return boxes_skip(builder, err, "%s: annotation %zu: there is no category %lld", source, number,
                          (long long)category_id);
    if (json_get_int64(json_member(annotation, "iscrowd"), &is_crowd) && is_crowd)
        return boxes_skip(builder, err, "%s: annotation %zu is a crowd", source, number);
    if (!get_bbox(&box, json_member(annotation, "bbox")))
        return boxes_skip(builder, err, "%s: annotation %zu: \"bbox\" is missing, or is not four numbers", source,
                          number);
    const char *label;
    status = take_text(&label, category, "name", source, "the category of annotation", number, err);
    return status == CLV_OK ? boxes_add(builder, &box, label, NULL, err) : status;
}

static enum clv_status parse_coco(struct boxes_builder *builder, const struct json_value *root, const char *source,
                                  struct clv_error *err)
{
    struct coco_table images = {0}, categories = {0};
    const struct json_value *annotations = json_member(root, "annotations");
    size_t n = 0;
    enum clv_status status = index_table(&images, root, "images", "image", source, err);
    if (status == CLV_OK)
        status = index_table(&categories, root, "categories", "category", source, err);
    if (status == CLV_OK && !json_get_array(annotations, &n))
        status = fail(err, CLV_ERR_DATA, "%s: \"annotations\" is no array", source);
    for (size_t i = 0; i < images.n && status == CLV_OK; i++)
        status = add_coco_image(builder, json_element(json_member(root, "images"), i), i + 1, source, err);
    for (size_t i = 0; i < n && status == CLV_OK; i++)
        status = add_annotation(builder, json_element(annotations, i), i + 1, &images, &categories, source, err);
    array_free(images.names);
    array_free(categories.names);
    return status;
}

static bool get_point(double point[2], const struct json_value *value)
{
    size_t n;
    return json_get_array(value, &n) && n == 2 && json_get_double(json_element(value, 0), &point[0]) &&
           json_get_double(json_element(value, 1), &point[1]);
}

/* The bounding box of points[n]; of a circle by its centre and a point on it. */
static enum clv_status bound_points(struct clv_box *box, const struct json_value *points, size_t n, bool is_circle,
                                    const char *source, struct clv_error *err)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY}, point[2], centre[2] = {0, 0};
    for (size_t i = 0; i < n; i++) {
        if (!get_point(point, json_element(points, i)))
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

static enum clv_status add_shape(struct boxes_builder *builder, const struct json_value *shape, size_t number,
                                 const char *source, struct clv_error *err)
{
    const char *type = "polygon", *label; /* old files know polygons only */
    const struct json_value *points = json_member(shape, "points"), *stated = json_member(shape, "shape_type");
    size_t n;
    enum clv_status status = take_text(&label, shape, "label", source, "shape", number, err);
    if (status != CLV_OK)
        return status;
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
    status = bound_points(&box, points, n, is_circle, source, err);
    return status == CLV_OK ? boxes_add(builder, &box, label, NULL, err) : status;
}

static enum clv_status parse_labelme(struct boxes_builder *builder, const struct json_value *root, const char *source,
                                     const char *image, struct clv_error *err)
{
    const struct json_value *shapes = json_member(root, "shapes"), *path = json_member(root, "imagePath");
    const char *name;
    size_t n;
    enum clv_status status = boxes_add_image(builder, image, source, err);
    if (status == CLV_OK && json_get_text(path, &name))
        status = boxes_name_image(builder, name, err);
    if (status != CLV_OK)
        return status;
    struct clv_image_boxes *entry = &builder->boxes.images[builder->boxes.n_images - 1];
    status = take_side(&entry->width, root, "imageWidth", source, "image", 1, err);
    if (status == CLV_OK)
        status = take_side(&entry->height, root, "imageHeight", source, "image", 1, err);
    if (status == CLV_OK && !json_get_array(shapes, &n))
        status = fail(err, CLV_ERR_DATA, "%s: \"shapes\" is no array", source);
    for (size_t i = 0; status == CLV_OK && i < n; i++)
        status = add_shape(builder, json_element(shapes, i), i + 1, source, err);
    return status;
}

enum clv_status boxes_parse_json(struct boxes_builder *builder, const char *source, const char *image,
                                 const char *bytes, size_t size, struct clv_error *err)
{
    struct json_value *root;
    enum clv_status status = json_parse(&root, bytes, size, source, err);
    if (status != CLV_OK)
        return status;
    if (json_member(root, "annotations")) {
        builder->boxes.form = CLV_BOXES_COCO;
        status = parse_coco(builder, root, source, err);
    } else if (json_member(root, "shapes")) {
        builder->boxes.form = CLV_BOXES_LABELME;
        status = parse_labelme(builder, root, source, image, err);
    } else {
        status = fail(err, CLV_ERR_DATA, "%s: neither COCO (\"annotations\") nor labelme (\"shapes\")", source);
    }
    json_root_free(root);
    return status;
}
