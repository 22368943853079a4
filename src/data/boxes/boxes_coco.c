/* Reads COCO's JSON, one file per dataset: images, categories, and annotations with a bbox and a segmentation of
 * polygons or run lengths. Start at boxes_parse_coco. */
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
                               const struct json_location *location, struct clv_error *err)
{
    FAIL_IF(!json_get_int64(json_member(object, key), id), CLV_ERR_DATA,
            "%s: %s %zu: \"%s\" is missing, or is not a whole number", location->source, location->what,
            location->number, key);
    return CLV_OK;
}

/* Sorts the elements of root[key] by their ids. */
static enum clv_status index_table(struct coco_table *table, const struct json_value *root, const char *key,
                                   const char *what, const char *source, struct clv_error *err)
{
    const struct json_value *array = json_member(root, key);
    FAIL_IF(!json_get_array(array, &table->n), CLV_ERR_DATA, "%s: \"%s\" is missing, or is not an array", source, key);
    table->names = array_alloc(table->n, sizeof *table->names);
    NEED(table->names);
    for (size_t i = 0; i < table->n; i++) {
        const struct json_value *value = json_element(array, i);
        table->names[i].value = value;
        MUST(take_id(&table->names[i].id, value, "id", &(struct json_location){source, what, i + 1}, err));
    }
    qsort(table->names, table->n, sizeof *table->names, compare_names);
    for (size_t i = 1; i < table->n; i++)
        FAIL_IF(table->names[i - 1].id == table->names[i].id, CLV_ERR_DATA, "%s: %s id %lld is there twice", source,
                what, (long long)table->names[i].id);
    return CLV_OK;
}

/* Reads four numbers x, y, width, height. */
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

/* Reads an array of polygons, each an array x, y, x, y and so on. *is_good is false if it is malformed; the outline
 * then has the points before the error. */
static enum clv_status read_polygons(struct clv_outline *outline, bool *is_good, const struct json_value *polygons,
                                     size_t n, struct clv_error *err)
{
    *is_good = true;
    for (size_t k = 0; k < n && *is_good; k++) {
        const struct json_value *polygon = json_element(polygons, k);
        size_t n_numbers = 0;
        double x, y;
        *is_good = json_get_array(polygon, &n_numbers) && n_numbers % 2 == 0 && n_numbers >= 6;
        for (size_t i = 0; *is_good && i < n_numbers; i += 2) {
            *is_good =
                json_get_double(json_element(polygon, i), &x) && json_get_double(json_element(polygon, i + 1), &y);
            if (*is_good)
                MUST(outline_add_point(outline, x, y, err));
        }
        if (*is_good)
            MUST(outline_end_polygon(outline, err));
    }
    return CLV_OK;
}

/* Reads {"size": [height, width], "counts": "compressed" or [..]}. *is_good is false if it is malformed. */
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
    outline->is_whole = true;
    if (json_get_text(counts, &text)) {
        enum clv_status status = rle_parse_compressed(&outline->counts, &outline->n_counts, text, err);
        *is_good = status == CLV_OK;
        return status == CLV_ERR_DATA ? CLV_OK : status;
    }
    *is_good = json_get_array(counts, &n);
    outline->counts = array_alloc(n, sizeof *outline->counts);
    NEED(outline->counts);
    for (outline->n_counts = 0; outline->n_counts < n && *is_good; outline->n_counts++) {
        *is_good = json_get_int64(json_element(counts, outline->n_counts), &count) && count >= 0 && count <= INT32_MAX;
        if (*is_good)
            outline->counts[outline->n_counts] = (uint32_t)count;
    }
    return CLV_OK;
}

/* Extends the annotation's box by all pairs x, y of a malformed segmentation, whose arrays may be nested. */
static void bound_numbers(struct annotation *annotation, const struct json_value *array, int depth)
{
    size_t n = 0;
    double x, y;
    (void)json_get_array(array, &n);
    for (size_t i = 0; i < n; i++) {
        const struct json_value *element = json_element(array, i);
        size_t n_below;
        if (json_get_array(element, &n_below) && depth)
            bound_numbers(annotation, element, depth - 1);
        else if (i % 2 == 0 && json_get_double(element, &x) && json_get_double(json_element(array, i + 1), &y))
            annotation_extend(annotation, x, y);
    }
}

/* Reads the annotation's outline, or sets the fault of a malformed one. */
static enum clv_status read_segmentation(struct annotation *annotation, const struct json_value *segmentation,
                                         struct clv_error *err)
{
    size_t n = 0;
    double number;
    bool is_good = false, is_array = json_get_array(segmentation, &n);
    OWNED(outline_drop) struct clv_outline *outline = outline_new();
    NEED(outline);
    bool is_flat = is_array && json_get_double(json_element(segmentation, 0), &number);
    if (!segmentation || (is_array && !n) || (!is_array && !json_get_object(segmentation, &n)))
        return CLV_OK;
    if (is_array && !is_flat)
        MUST(read_polygons(outline, &is_good, segmentation, n, err));
    else if (!is_array)
        MUST(read_runs(outline, &is_good, segmentation, err));
    if (is_good)
        annotation->outline = TAKE(outline);
    else if (is_flat)
        annotation_blame(annotation, CLV_ANNOTATION_OUTLINE,
                         "its \"segmentation\" is one list of numbers; COCO has a list of such lists");
    else if (is_array)
        annotation_blame(annotation, CLV_ANNOTATION_OUTLINE,
                         "its outline is not polygons: each has three points, as x, y, x, y ..");
    else
        annotation_blame(annotation, CLV_ANNOTATION_RUNS, "its outline is not run lengths (\"size\" and \"counts\")");
    if (!is_good && is_array && !annotation->has_box)
        bound_numbers(annotation, segmentation, 1);
    return CLV_OK;
}

static enum clv_status add_coco_image(struct boxes_builder *builder, const struct json_value *image, size_t number,
                                      const char *source, struct clv_error *err)
{
    const struct json_location location = {source, "image", number};
    const char *name;
    MUST(json_take_text(&name, image, "file_name", &location, err));
    MUST(boxes_add_image(builder, name, source, err));
    struct clv_image_boxes *entry = &builder->boxes.images[builder->boxes.n_images - 1];
    MUST(json_take_side(&entry->width, image, "width", &location, err));
    return json_take_side(&entry->height, image, "height", &location, err);
}

struct coco_file {
    const char *source;
    struct coco_table images, categories;
};

/* Whether a member is a number other than 0, or true. */
static bool is_set(const struct json_value *object, const char *key)
{
    int64_t number = 0;
    bool is_true = false;
    (void)json_get_int64(json_member(object, key), &number);
    (void)json_get_bool(json_member(object, key), &is_true);
    return number != 0 || is_true;
}

static enum clv_status add_annotation(struct boxes_builder *builder, const struct json_value *value, size_t number,
                                      const struct coco_file *file, struct clv_error *err)
{
    const char *source = file->source;
    int64_t image_id, category_id = 0;
    struct annotation annotation = {.index = number, .is_crowd = is_set(value, "iscrowd")};
    MUST(take_id(&image_id, value, "image_id", &(struct json_location){source, "annotation", number}, err));
    const struct json_value *image = look_up(&file->images, image_id);
    if (!image)
        return boxes_count_stray(builder, CLV_ANNOTATION_STRAY, err, "%s: annotation %zu: there is no image %lld",
                                 source, number, (long long)image_id);
    MUST(add_coco_image(builder, image, number, source, err));
    bool has_id = json_get_int64(json_member(value, "category_id"), &category_id);
    const struct json_value *category = has_id ? look_up(&file->categories, category_id) : NULL;
    if (is_set(value, "ignore"))
        annotation_blame(&annotation, CLV_ANNOTATION_IGNORED, "marked to be ignored");
    else if (!has_id)
        annotation_blame(&annotation, CLV_ANNOTATION_LABEL, "\"category_id\" is missing, or is not a whole number");
    else if (!category)
        annotation_blame(&annotation, CLV_ANNOTATION_LABEL, "there is no category %lld", (long long)category_id);
    if (category)
        MUST(json_take_text(&annotation.label, category, "name",
                            &(struct json_location){source, "the category of annotation", number}, err));
    annotation.has_box = get_bbox(&annotation.box, json_member(value, "bbox"));
    bool is_box_enough = annotation.has_box && annotation.box.width > 0 && annotation.box.height > 0 &&
                         !builder->keeps_outlines && !annotation.is_crowd;
    if (!is_box_enough)
        MUST(read_segmentation(&annotation, json_member(value, "segmentation"), err));
    if (!annotation.has_box && !annotation.outline)
        annotation_blame(&annotation, CLV_ANNOTATION_BOX,
                         "\"bbox\" is missing, or is not four numbers, and so is an outline");
    return annotation_add(builder, &annotation, err);
}

static void coco_file_release(struct coco_file *self)
{
    arrays_free(self->images.names, self->categories.names);
}

bool boxes_is_coco(const struct boxes_file *file)
{
    return json_member(file->root, "annotations") && !json_member(file->root, "shapes");
}

enum clv_status boxes_parse_coco(struct boxes_builder *builder, const struct boxes_file *read, struct clv_error *err)
{
    OWNED(coco_file_release) struct coco_file file = {.source = read->source};
    const struct json_value *root = read->root, *annotations = json_member(root, "annotations");
    const char *source = read->source;
    size_t n = 0;
    MUST(index_table(&file.images, root, "images", "image", source, err));
    MUST(index_table(&file.categories, root, "categories", "category", source, err));
    FAIL_IF(!json_get_array(annotations, &n), CLV_ERR_DATA, "%s: \"annotations\" is not an array", source);
    for (size_t i = 0; i < file.images.n; i++)
        MUST(add_coco_image(builder, json_element(json_member(root, "images"), i), i + 1, source, err));
    for (size_t i = 0; i < n; i++)
        MUST(add_annotation(builder, json_element(annotations, i), i + 1, &file, err));
    return CLV_OK;
}
