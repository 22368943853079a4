/* Writes objects as GeoJSON (RFC 7946), one file per image. */
#include "base/base.h"
#include "data/export/export.h"

#define WGS84 4326

/* Writes the coordinates of a corner with 12 digits, which is better than a millimetre on Earth. */
static void put_point(struct text *text, const double at[2])
{
    text_printf(text, "[%.12g,%.12g]", at[0], at[1]);
}

/* Returns twice the signed area of a ring, positive if it runs counterclockwise with the second coordinate upwards. */
static double signed_area(const struct contours *contours, size_t first, size_t end,
                          const struct georeference *georeference)
{
    double sum = 0, last[2], at[2];
    georeference_at(last, georeference, contours->points[end - 1][0], contours->points[end - 1][1]);
    const double origin[2] = {last[0], last[1]};
    for (size_t i = first; i < end; i++) {
        georeference_at(at, georeference, contours->points[i][0], contours->points[i][1]);
        sum += (last[0] - origin[0]) * (at[1] - origin[1]) - (at[0] - origin[0]) * (last[1] - origin[1]);
        last[0] = at[0];
        last[1] = at[1];
    }
    return sum;
}

/* Writes outer rings counterclockwise and holes clockwise; the first point is repeated at the end. */
static void put_ring(struct text *text, const struct contours *contours, size_t ring, bool is_outer,
                     const struct georeference *georeference)
{
    size_t first = ring ? contours->ring_ends[ring - 1] : 0, end = contours->ring_ends[ring], n = end - first;
    bool is_turned = (signed_area(contours, first, end, georeference) > 0) != is_outer;
    for (size_t i = 0; i <= n; i++) {
        double at[2];
        const int32_t *point = contours->points[first + (is_turned ? n - i : i) % n];
        georeference_at(at, georeference, point[0], point[1]);
        text_put(text, i ? "," : "[");
        put_point(text, at);
    }
    text_put(text, "]");
}

static void put_polygon(struct text *text, const struct contours *contours, size_t k,
                        const struct georeference *georeference)
{
    size_t first, end;
    contours_rings(contours, k, &first, &end);
    text_put(text, "[");
    for (size_t ring = first; ring < end; ring++) {
        text_put(text, ring > first ? "," : "");
        put_ring(text, contours, ring, ring == first, georeference);
    }
    text_put(text, "]");
}

void geojson_begin(struct text *text, const struct georeference *georeference)
{
    bool is_geographic;
    int epsg = georeference_epsg(&is_geographic, georeference);
    text_put(text, "{\"type\":\"FeatureCollection\",");
    if (epsg && epsg != WGS84)
        text_printf(text, "\"crs\":{\"type\":\"name\",\"properties\":{\"name\":\"urn:ogc:def:crs:EPSG::%d\"}},", epsg);
    text_put(text, "\"features\":[");
}

enum clv_status geojson_put_objects(struct text *text, const struct contours *contours, const struct clv_labels *labels,
                                    const struct georeference *georeference, struct clv_error *err)
{
    OWNED_ARRAY size_t *order = NULL;
    MUST(export_order(&order, contours, err));
    for (size_t k = 0, end; k < contours->n_objects; k = end) {
        const struct contour_object *object = &contours->objects[order[k]];
        int64_t n_pixels = 0;
        for (end = k; end < contours->n_objects && contours->objects[order[end]].number == object->number; end++)
            n_pixels += contours->objects[order[end]].n_pixels;
        const bool is_whole = end == k + 1;
        text_printf(text, "%s\n{\"type\":\"Feature\",\"properties\":{\"label\":", k ? GEOJSON_SEPARATOR : "");
        text_put_json(text, labels->names[object->label]);
        text_printf(text, ",\"value\":%d,\"pixels\":%lld},\"geometry\":{\"type\":\"%s\",\"coordinates\":%s",
                    object->label, (long long)n_pixels, is_whole ? "Polygon" : "MultiPolygon", is_whole ? "" : "[");
        for (size_t i = k; i < end; i++) {
            text_put(text, i > k ? "," : "");
            put_polygon(text, contours, order[i], georeference);
        }
        text_put(text, is_whole ? "}}" : "]}}");
    }
    return CLV_OK;
}

enum clv_status geojson_put(struct text *text, const struct contours *contours, const struct clv_labels *labels,
                            const struct georeference *georeference, struct clv_error *err)
{
    geojson_begin(text, georeference);
    MUST(geojson_put_objects(text, contours, labels, georeference, err));
    text_put(text, GEOJSON_END);
    return CLV_OK;
}
