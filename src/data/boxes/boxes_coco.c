/* Objects in COCO's JSON, one file for a set. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/boxes/boxes.h"
#include "data/shapes/shapes.h"

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

static enum clv_status take_id(int64_t *id, const struct json_value *object, const char *key,
                               const struct json_place *place, struct clv_error *err)
{
    FAIL_IF(!json_get_int64(json_member(object, key), id), CLV_ERR_DATA,
            "%s: %s %zu: \"%s\" is missing, or is no whole number", place->source, place->what, place->number, key);
    return CLV_OK;
}

/* The elements of root[key] by their ids. */
static enum clv_status index_table(struct coco_table *table, const struct json_value *root, const char *key,
                                   const char *what, const char *source, struct clv_error *err)
{
    const struct json_value *array = json_member(root, key);
    FAIL_IF(!json_get_array(array, &table->n), CLV_ERR_DATA, "%s: \"%s\" is missing, or is no array", source, key);
    table->names = array_alloc(table->n, sizeof *table->names);
    MUST_IF(!table->names, fail_memory(err));
    for (size_t i = 0; i < table->n; i++) {
        const struct json_value *value = json_element(array, i);
        table->names[i].value = value;
        MUST(take_id(&table->names[i].id, value, "id", &(struct json_place){source, what, i + 1}, err));
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

/* An array of polygons, each x, y, x, y ..; *is_good false: it is none. */
static enum clv_status read_polygons(struct clv_outline *outline, bool *is_good, const struct json_value *polygons,
                                     size_t n, struct clv_error *err)
{
    enum clv_status status = CLV_OK;
    *is_good = true;
    for (size_t k = 0; k < n && status == CLV_OK && *is_good; k++) {
        const struct json_value *polygon = json_element(polygons, k);
        size_t n_numbers = 0;
        double x, y;
        *is_good = json_get_array(polygon, &n_numbers) && n_numbers % 2 == 0 && n_numbers >= 6;
        for (size_t i = 0; *is_good && i < n_numbers && status == CLV_OK; i += 2) {
            *is_good =
                json_get_double(json_element(polygon, i), &x) && json_get_double(json_element(polygon, i + 1), &y);
            if (*is_good)
                status = outline_add_point(outline, x, y, err);
        }
        TRY_IF(*is_good, outline_end_polygon(outline, err));
    }
    return status;
}

/* {"size": [height, width], "counts": "compressed" or [..]}; *is_good as above. */
static enum clv_status read_runs(struct clv_outline *outline, bool *is_good, const struct json_value *segmentation,
                                 struct clv_error *err)
{
    const struct json_value *size = json_member(segmentation, "size"), *counts = json_member(segmentation, "counts");
    int64_t sides[2] = {0, 0}, count;
    const char *text;
    size_t n = 0;
    *is_good = json_get_int64(json_element(size, 0), &sides[0]) && json_get_int64(json_element(size, 1), &sides[1]) &&
               sides[0] > 0 && sides[1] > 0 && sides[0] <= INT32_MAX && sides[1] <= INT32_MAX;
    if (!*is_good)
        return CLV_OK;
    outline->frame = (struct rle_frame){0, 0, (int32_t)sides[1], (int32_t)sides[0]};
    outline->order = RLE_BY_COLUMNS;
    if (json_get_text(counts, &text)) {
        enum clv_status status = rle_parse_compressed(&outline->counts, &outline->n_counts, text, err);
        *is_good = status == CLV_OK;
        return status == CLV_ERR_DATA ? CLV_OK : status;
    }
    *is_good = json_get_array(counts, &n);
    outline->counts = array_alloc(n, sizeof *outline->counts);
    MUST_IF(!outline->counts, fail_memory(err));
    for (outline->n_counts = 0; outline->n_counts < n && *is_good; outline->n_counts++) {
        *is_good = json_get_int64(json_element(counts, outline->n_counts), &count) && count >= 0 && count <= INT32_MAX;
        if (*is_good)
            outline->counts[outline->n_counts] = (uint32_t)count;
    }
    return CLV_OK;
}

/* *outline stays NULL if there is none that can be used. */
static enum clv_status read_segmentation(struct clv_outline **outline, const struct json_value *segmentation,
                                         struct clv_error *err)
{
    size_t n;
    bool is_good = false;
    struct clv_outline *fresh = outline_new();
    enum clv_status status = fresh ? CLV_OK : fail_memory(err);
    if (status == CLV_OK && json_get_array(segmentation, &n) && n)
        status = read_polygons(fresh, &is_good, segmentation, n, err);
    else if (status == CLV_OK && json_get_object(segmentation, &n))
        status = read_runs(fresh, &is_good, segmentation, err);
    if (status == CLV_OK && is_good)
        *outline = fresh;
    else
        outline_free(fresh);
    return status;
}

static enum clv_status add_coco_image(struct boxes_builder *builder, const struct json_value *image, size_t number,
                                      const char *source, struct clv_error *err)
{
    const struct json_place place = {source, "image", number};
    const char *name;
    MUST(json_take_text(&name, image, "file_name", &place, err));
    MUST(boxes_add_image(builder, name, source, err));
    struct clv_image_boxes *entry = &builder->boxes.images[builder->boxes.n_images - 1];
    MUST(json_take_side(&entry->width, image, "width", &place, err));
    return json_take_side(&entry->height, image, "height", &place, err);
}

/* What is in a bbox whose outline cannot be used is not known. */
static enum clv_status void_box(struct clv_outline **outline, const struct clv_box *box, struct clv_error *err)
{
    const double right = box->x + box->width, bottom = box->y + box->height;
    const double corners[4][2] = {{box->x, box->y}, {right, box->y}, {right, bottom}, {box->x, bottom}};
    enum clv_status status = (*outline = outline_new()) ? CLV_OK : fail_memory(err);
    for (int k = 0; k < 4 && status == CLV_OK; k++)
        status = outline_add_point(*outline, corners[k][0], corners[k][1], err);
    TRY(outline_end_polygon(*outline, err));
    if (status == CLV_OK)
        (*outline)->is_void = true;
    return status;
}

struct coco_file {
    const char *source;
    struct coco_table images, categories;
};

/* Says why an annotation is not used as it is, and whether what it marks is left out. */
static enum clv_status say_unused(struct boxes_builder *builder, const char *source, size_t number, const char *why,
                                  bool is_void, struct clv_error *err)
{
    return boxes_skip(builder, err, "%s: annotation %zu: %s%s", source, number, why,
                      is_void ? ", so that what it marks is left out" : "");
}

static enum clv_status add_annotation(struct boxes_builder *builder, const struct json_value *annotation, size_t number,
                                      const struct coco_file *file, struct clv_error *err)
{
    const struct coco_table *categories = &file->categories;
    const char *source = file->source;
    int64_t image_id, category_id, is_crowd = 0;
    struct clv_box box = {.place = number};
    enum clv_status status =
        take_id(&image_id, annotation, "image_id", &(struct json_place){source, "annotation", number}, err);
    const struct json_value *image = status == CLV_OK ? look_up(&file->images, image_id) : NULL;
    TRY_IF(image, add_coco_image(builder, image, number, source, err));
    if (status != CLV_OK)
        return status;
    if (!image)
        return boxes_skip_stray(builder, err, "%s: annotation %zu: there is no image %lld", source, number,
                                (long long)image_id);
    if (!json_get_int64(json_member(annotation, "category_id"), &category_id))
        return boxes_skip(builder, err, "%s: annotation %zu: \"category_id\" is missing, or is no whole number", source,
                          number);
    const struct json_value *category = look_up(categories, category_id);
    bool is_void = !category && builder->keeps_outlines && categories->n;
    char why[64];
    snprintf(why, sizeof why, "there is no category %lld", (long long)category_id);
    if (!category)
        MUST(say_unused(builder, source, number, why, is_void, err));
    if (!category && !is_void)
        return CLV_OK;
    category = category ? category : categories->names[0].value; /* any label, which nothing gets */
    const char *label;
    MUST(json_take_text(&label, category, "name", &(struct json_place){source, "the category of annotation", number},
                        err));
    if (json_get_int64(json_member(annotation, "iscrowd"), &is_crowd) && is_crowd && !builder->keeps_outlines)
        return boxes_skip(builder, err, "%s: annotation %zu is a crowd", source, number);
    bool has_box = get_bbox(&box, json_member(annotation, "bbox"));
    struct clv_outline *outline = NULL;
    const struct json_value *segmentation = json_member(annotation, "segmentation");
    size_t n_parts = 0;
    bool is_said = json_get_array(segmentation, &n_parts) ? n_parts : json_get_object(segmentation, &n_parts);
    if (!has_box || builder->keeps_outlines)
        status = read_segmentation(&outline, segmentation, err);
    if (status == CLV_OK && builder->keeps_outlines && has_box && !outline && (is_said || is_void)) {
        TRY_IF(!is_void, say_unused(builder, source, number, "its outline is no polygons, nor runs", true, err));
        TRY(void_box(&outline, &box, err));
    }
    const struct clv_image_boxes *entry = &builder->boxes.images[builder->boxes.n_images - 1];
    if (status == CLV_OK && outline && !outline_suits(outline, entry->width, entry->height)) {
        status = boxes_skip(builder, err, "%s: annotation %zu: runs of a mask of %dx%d pixels, its image is %dx%d",
                            source, number, outline->frame.width, outline->frame.height, entry->width, entry->height);
        outline_free(outline);
        return status;
    }
    if (status == CLV_OK && outline) {
        outline->is_crowd = is_crowd;
        outline->is_void |= is_void;
        box.width = has_box && box.height > 0 && !builder->keeps_outlines ? box.width : 0;
        return boxes_add_outline(builder, outline, &box, label, err);
    }
    if (status != CLV_OK) {
        outline_free(outline);
        return status;
    }
    if (!has_box)
        return boxes_skip(builder, err, "%s: annotation %zu: \"bbox\" is missing, or is not four numbers", source,
                          number);
    return boxes_add(builder, &box, label, NULL, err);
}

enum clv_status boxes_parse_coco(struct boxes_builder *builder, const struct json_value *root, const char *source,
                                 struct clv_error *err)
{
    struct coco_file file = {.source = source};
    const struct json_value *annotations = json_member(root, "annotations");
    size_t n = 0;
    enum clv_status status = index_table(&file.images, root, "images", "image", source, err);
    TRY(index_table(&file.categories, root, "categories", "category", source, err));
    TRY_IF(!json_get_array(annotations, &n), fail(err, CLV_ERR_DATA, "%s: \"annotations\" is no array", source));
    for (size_t i = 0; i < file.images.n && status == CLV_OK; i++)
        status = add_coco_image(builder, json_element(json_member(root, "images"), i), i + 1, source, err);
    for (size_t i = 0; i < n && status == CLV_OK; i++)
        status = add_annotation(builder, json_element(annotations, i), i + 1, &file, err);
    arrays_free(file.images.names, file.categories.names);
    return status;
}
