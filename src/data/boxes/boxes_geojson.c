/* Polygons of GeoJSON (RFC 7946; "crs" as in the format of 2008, which GDAL and QGIS write): one file is a layer. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/boxes/boxes.h"
#include "data/shapes/shapes.h"

#define WGS84 4326

/* *epsg is 0 where "crs" is there but null: not known. */
static enum clv_status find_epsg(int32_t *epsg, const struct json_value *root, const char *source,
                                 struct clv_error *err)
{
    const struct json_value *crs = json_member(root, "crs");
    const char *name;
    *epsg = crs ? 0 : WGS84;
    if (!json_get_text(json_member(json_member(crs, "properties"), "name"), &name))
        return CLV_OK;
    const char *end = name + strlen(name);
    while (end > name && isdigit((unsigned char)end[-1]))
        end--;
    if (text_ends_with(name, "CRS84"))
        *epsg = WGS84;
    else if (strstr(name, "EPSG") && *end && strlen(end) < 7)
        *epsg = (int32_t)strtol(end, NULL, 10);
    else
        return fail(err, CLV_ERR_DATA, "%s: coordinate system \"%s\" is none of EPSG's by its number", source, name);
    return CLV_OK;
}

/* Rings of what is `depth` arrays deep; *is_good false: it is not that. */
static enum clv_status add_rings(struct clv_outline *outline, bool *is_good, const struct json_value *value, int depth,
                                 struct clv_error *err)
{
    size_t n = 0, n_numbers;
    double x, y;
    enum clv_status status = CLV_OK;
    *is_good = json_get_array(value, &n) && (depth || n > 2);
    for (size_t i = 0; i < n && *is_good && status == CLV_OK; i++) {
        const struct json_value *element = json_element(value, i);
        if (depth) {
            status = add_rings(outline, is_good, element, depth - 1, err);
            continue;
        }
        *is_good = json_get_array(element, &n_numbers) && json_get_double(json_element(element, 0), &x) &&
                   json_get_double(json_element(element, 1), &y);
        if (*is_good)
            status = outline_add_point(outline, x, y, err);
    }
    TRY_IF(!depth && *is_good, outline_end_polygon(outline, err));
    return status;
}

/* A property as a label's name; false: it is no text and no whole number. */
static bool name_label(char name[32], const char **label, const struct json_value *property)
{
    int64_t number;
    *label = name;
    if (json_get_int64(property, &number))
        return snprintf(name, 32, "%lld", (long long)number) > 0;
    return json_get_text(property, label) && **label;
}

static enum clv_status add_feature(struct boxes_builder *builder, const struct json_value *feature, size_t number,
                                   int32_t epsg, const char *source, struct clv_error *err)
{
    const struct json_value *geometry = json_member(feature, "geometry");
    const struct clv_box box = {.place = number};
    char own[32];
    const char *type = "nothing", *label;
    bool is_good = false;
    (void)json_get_text(json_member(geometry, "type"), &type);
    bool is_multiple = strcmp(type, "MultiPolygon") == 0;
    if (!is_multiple && strcmp(type, "Polygon") != 0)
        return boxes_skip(builder, err, "%s: feature %zu is a %s, no polygon", source, number, type);
    if (!name_label(own, &label, json_member(json_member(feature, "properties"), builder->property)))
        return boxes_skip(builder, err, "%s: feature %zu has no property \"%s\", text or a whole number; --property",
                          source, number, builder->property);
    struct clv_outline *outline = outline_new();
    enum clv_status status =
        outline ? add_rings(outline, &is_good, json_member(geometry, "coordinates"), is_multiple ? 2 : 1, err)
                : fail_memory(err);
    if (status != CLV_OK || !is_good) {
        outline_free(outline);
        return status == CLV_OK ? boxes_skip(builder, err, "%s: feature %zu: its \"coordinates\" are not a %s's",
                                             source, number, type)
                                : status;
    }
    outline->has_rings = true;
    outline->epsg = epsg;
    return boxes_add_outline(builder, outline, &box, label, err);
}

/* Refused: a layer none of whose features has the property; the first one's others are named. */
static enum clv_status check_property(const struct json_value *features, size_t n, const char *property,
                                      const char *source, struct clv_error *err)
{
    struct text names;
    const struct json_value *value = NULL, *first = json_member(json_element(features, 0), "properties");
    for (size_t i = 0; i < n; i++)
        if (json_member(json_member(json_element(features, i), "properties"), property))
            return CLV_OK;
    text_init(&names, 200);
    const char *key = json_next_member(&value, first, NULL);
    for (bool is_first = true; key; is_first = false, key = json_next_member(&value, first, key))
        text_printf(&names, "%s\"%s\"", is_first ? "; feature 1 has " : ", ", key);
    enum clv_status status =
        fail(err, CLV_ERR_DATA, "%s: no feature has the property \"%s\"%s; --property names another", source, property,
             n && names.bytes ? names.bytes : "");
    text_release(&names);
    return status;
}

enum clv_status boxes_parse_geojson(struct boxes_builder *builder, const struct json_value *root, const char *source,
                                    const char *image, struct clv_error *err)
{
    const struct json_value *features = json_member(root, "features");
    size_t n = 0;
    int32_t epsg = 0;
    enum clv_status status = boxes_add_image(builder, image, source, err);
    TRY(find_epsg(&epsg, root, source, err));
    TRY_IF(!json_get_array(features, &n), fail(err, CLV_ERR_DATA, "%s: \"features\" is no array", source));
    TRY_IF(n > 0, check_property(features, n, builder->property, source, err));
    for (size_t i = 0; i < n && status == CLV_OK; i++)
        status = add_feature(builder, json_element(features, i), i + 1, epsg, source, err);
    return status;
}
