/* Reads polygons of GeoJSON (RFC 7946, and "crs" as in the format of 2008, which GDAL and QGIS write). A file is a
 * collection of features, or as QuPath writes an array of features or a single one. Other geometries become void in
 * their bounding boxes. Start at boxes_parse_geojson. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/boxes/boxes.h"
#include "data/shapes/shapes.h"

#define WGS84 4326

/* Finds the EPSG code of the coordinates: WGS 84 without "crs"; 0 (unknown) if "crs" has no name. */
static enum clv_status find_epsg(int32_t *epsg, const struct json_value *root, const char *source,
                                 struct clv_error *err)
{
    const struct json_value *crs = json_member(root, "crs");
    const char *name;
    *epsg = crs ? 0 : WGS84;
    if (!json_get_text(json_member(json_member(crs, "properties"), "name"), &name))
        return CLV_OK;
    const char *end = name + strlen(name);
    while (end > name && is_digit(end[-1]))
        end--;
    if (text_ends_with(name, "CRS84"))
        *epsg = WGS84;
    else if (strstr(name, "EPSG") && *end && strlen(end) < 7)
        *epsg = (int32_t)strtol(end, NULL, 10);
    else
        return fail(err, CLV_ERR_DATA, "%s: coordinate system \"%s\" is none of EPSG's by its number", source, name);
    return CLV_OK;
}

/* Adds the rings in `depth` levels of arrays. *is_good is false if the value is malformed. */
static enum clv_status add_rings(struct clv_outline *outline, bool *is_good, const struct json_value *value, int depth,
                                 struct clv_error *err)
{
    size_t n = 0, n_numbers;
    double x, y;
    *is_good = json_get_array(value, &n) && (depth || n > 2);
    for (size_t i = 0; i < n && *is_good; i++) {
        const struct json_value *element = json_element(value, i);
        if (depth) {
            MUST(add_rings(outline, is_good, element, depth - 1, err));
            continue;
        }
        *is_good = json_get_array(element, &n_numbers) && json_get_double(json_element(element, 0), &x) &&
                   json_get_double(json_element(element, 1), &y);
        if (*is_good)
            MUST(outline_add_point(outline, x, y, err));
    }
    return !depth && *is_good ? outline_end_polygon(outline, err) : CLV_OK;
}

/* Finds a property: the member of that name, or a member of a member, by the parts of the name between dots. */
static const struct json_value *find_property(const struct json_value *properties, const char *name)
{
    const struct json_value *value = json_member(properties, name);
    for (const char *dot = strchr(name, '.'); !value && dot; dot = strchr(dot + 1, '.')) {
        char part[256];
        size_t length = (size_t)(dot - name);
        if (length >= sizeof part)
            return NULL;
        memcpy(part, name, length);
        part[length] = 0;
        const struct json_value *below = json_member(properties, part);
        value = below ? find_property(below, dot + 1) : NULL;
    }
    return value;
}

/* Converts a property to the name of a label: text, a whole number, or an object with a text "name" (or texts "names",
 * which are joined), as QuPath's classification is. Returns false for other values. */
static bool name_label(char name[256], const char **label, const struct json_value *property)
{
    int64_t number;
    size_t n, used = 0;
    *label = name;
    if (json_get_int64(property, &number))
        return snprintf(name, 256, "%lld", (long long)number) > 0;
    if (json_get_object(property, &n) && json_member(property, "name"))
        property = json_member(property, "name");
    if (json_get_array(json_member(property, "names"), &n)) {
        const char *part;
        for (size_t i = 0; i < n && used < 256; i++)
            if (json_get_text(json_element(json_member(property, "names"), i), &part))
                used += (size_t)snprintf(name + used, 256 - used, "%s%s", used ? ": " : "", part);
        return used > 0;
    }
    return json_get_text(property, label) && **label;
}

/* Extends the annotation's box by all coordinates, in arrays nested up to 8 levels. */
static void bound_coordinates(struct annotation *annotation, const struct json_value *value, int depth)
{
    size_t n = 0;
    double x, y;
    if (!json_get_array(value, &n) || depth > 8)
        return;
    if (json_get_double(json_element(value, 0), &x) && json_get_double(json_element(value, 1), &y)) {
        annotation_extend(annotation, x, y);
        return;
    }
    for (size_t i = 0; i < n; i++)
        bound_coordinates(annotation, json_element(value, i), depth + 1);
}

/* Sets the fault of a geometry that is not a polygon, and its box: the bounding box of its coordinates. */
static void blame_geometry(struct annotation *annotation, const struct json_value *geometry, const char *type)
{
    const struct json_value *parts = json_member(geometry, "geometries");
    size_t n = 0;
    bound_coordinates(annotation, json_member(geometry, "coordinates"), 0);
    (void)json_get_array(parts, &n);
    for (size_t i = 0; i < n; i++)
        bound_coordinates(annotation, json_member(json_element(parts, i), "coordinates"), 0);
    if (!annotation->has_box)
        annotation_blame(annotation, CLV_ANNOTATION_NOTHING, "no coordinates");
    else if (strcmp(type, "Polygon") == 0 || strcmp(type, "MultiPolygon") == 0)
        annotation_blame(annotation, CLV_ANNOTATION_OUTLINE, "its \"coordinates\" are not a %s's", type);
    else
        annotation_blame(annotation,
                         strstr(type, "Point")  ? CLV_ANNOTATION_POINT
                         : strstr(type, "Line") ? CLV_ANNOTATION_LINE
                                                : CLV_ANNOTATION_SHAPE,
                         "a %s, no polygon", type);
}

static enum clv_status add_feature(struct boxes_builder *builder, const struct json_value *feature, size_t number,
                                   int32_t epsg, struct clv_error *err)
{
    const struct json_value *geometry = json_member(feature, "geometry");
    struct annotation annotation = {.index = number};
    char name[256];
    const char *type = "nothing";
    bool is_good = false;
    (void)json_get_text(json_member(geometry, "type"), &type);
    bool is_multiple = strcmp(type, "MultiPolygon") == 0;
    OWNED(outline_drop) struct clv_outline *outline = outline_new();
    NEED(outline);
    if (is_multiple || strcmp(type, "Polygon") == 0)
        MUST(add_rings(outline, &is_good, json_member(geometry, "coordinates"), is_multiple ? 2 : 1, err));
    outline->has_rings = true;
    outline->epsg = epsg;
    if (is_good && outline->n_points)
        annotation.outline = TAKE(outline);
    else
        blame_geometry(&annotation, geometry, type);
    if (!name_label(name, &annotation.label, find_property(json_member(feature, "properties"), builder->property))) {
        annotation.label = NULL;
        annotation_blame(&annotation, CLV_ANNOTATION_LABEL,
                         "no property \"%s\" of text or a whole number; --property names another", builder->property);
    }
    return annotation_add(builder, &annotation, err);
}

/* Lists the names of properties in quotes; those of a nested object as "outer.inner". */
static void list_names(struct text *names, const struct json_value *object, const char *before)
{
    const struct json_value *value = NULL;
    size_t n;
    for (const char *key = json_next_member(&value, object, NULL); key; key = json_next_member(&value, object, key)) {
        if (json_get_object(value, &n) && !*before)
            list_names(names, value, key);
        else
            text_printf(names, "%s\"%s%s%s\"", names->size ? ", " : "", before, *before ? "." : "", key);
    }
}

/* Refuses a layer if no feature has the property; the message lists the properties of the first feature. */
static enum clv_status check_property(const struct json_value *const *features, size_t n, const char *property,
                                      const char *source, struct clv_error *err)
{
    OWNED(text_release) struct text names = {0};
    for (size_t i = 0; i < n; i++)
        if (find_property(json_member(features[i], "properties"), property))
            return CLV_OK;
    text_init(&names, 200);
    list_names(&names, json_member(features[0], "properties"), "");
    return fail(err, CLV_ERR_DATA, "%s: no feature has the property \"%s\"%s%s; --property names another", source,
                property, names.size ? "; feature 1 has " : "", names.size ? names.bytes : "");
}

/* Appends the features of a collection, an array or a single feature; arrays may contain collections. Free *features
 * with array_free. */
static enum clv_status list_features(const struct json_value ***features, size_t *n, size_t *capacity,
                                     const struct json_value *value, int depth, struct clv_error *err)
{
    const struct json_value *array = json_member(value, "features") ? json_member(value, "features") : value;
    size_t n_elements = 0;
    if (json_get_array(array, &n_elements) && depth < 3) {
        for (size_t i = 0; i < n_elements; i++)
            MUST(list_features(features, n, capacity, json_element(array, i), depth + 1, err));
        return CLV_OK;
    }
    NEED(!array_reserve((void **)features, capacity, *n + 1, sizeof **features));
    (*features)[(*n)++] = value;
    return CLV_OK;
}

/* GeoJSON is never recognised by content, since its coordinates are not pixels; the user must ask for it. */
bool boxes_is_geojson(const struct boxes_file *file)
{
    (void)file;
    return false;
}

enum clv_status boxes_parse_geojson(struct boxes_builder *builder, const struct boxes_file *file, struct clv_error *err)
{
    OWNED_ARRAY const struct json_value **features = NULL;
    const struct json_value *root = file->root;
    size_t n = 0, n_elements, capacity = 0;
    int32_t epsg = 0;
    MUST(boxes_add_image(builder, file->image, file->source, err));
    MUST(find_epsg(&epsg, root, file->source, err));
    FAIL_IF(!json_get_array(root, &n_elements) && !json_get_array(json_member(root, "features"), &n_elements) &&
                !json_member(root, "geometry"),
            CLV_ERR_DATA, "%s: \"features\" is not an array, and this is neither an array of features nor one of them",
            file->source);
    MUST(list_features(&features, &n, &capacity, root, 0, err));
    if (n)
        MUST(check_property(features, n, builder->property, file->source, err));
    for (size_t i = 0; i < n; i++)
        MUST(add_feature(builder, features[i], i + 1, epsg, err));
    return CLV_OK;
}
