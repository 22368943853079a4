/* Writes objects as labelme's JSON, one file per image; pieces of one object share a group. */
#include <stdio.h>

#include "base/base.h"
#include "data/export/export.h"

enum clv_status labelme_put_objects(struct text *text, const struct contours *contours, const struct clv_labels *labels,
                                    struct clv_error *err)
{
    OWNED_ARRAY size_t *order = NULL;
    const size_t n_objects = contours->n_objects;
    MUST(export_order(&order, contours, err));
    for (size_t k = 0; k < n_objects; k++) {
        const struct contour_object *object = &contours->objects[order[k]];
        char group[16] = "null";
        if ((k && object->number == contours->objects[order[k - 1]].number) ||
            (k + 1 < n_objects && object->number == contours->objects[order[k + 1]].number))
            snprintf(group, sizeof group, "%d", object->number);
        OWNED_ARRAY int32_t(*points)[2] = NULL;
        size_t n = 0;
        MUST(contours_keyhole(&points, &n, contours, order[k], err));
        text_printf(text, "%s\n{\"label\":", k ? LABELME_SEPARATOR : "");
        text_put_json(text, labels->names[object->label]);
        text_put(text, ",\"points\":[");
        for (size_t i = 0; i < n; i++)
            text_printf(text, "%s[%d,%d]", i ? "," : "", points[i][0], points[i][1]);
        text_printf(text, "],\"group_id\":%s,\"description\":\"\",\"shape_type\":\"polygon\",\"flags\":{}}", group);
    }
    return CLV_OK;
}

void labelme_end(struct text *text, const char *image, int32_t width, int32_t height)
{
    text_put(text, "\n],\"imagePath\":");
    text_put_json(text, image);
    text_printf(text, ",\"imageData\":null,\"imageHeight\":%d,\"imageWidth\":%d}\n", height, width);
}

enum clv_status labelme_put(struct text *text, const struct contours *contours, const struct clv_labels *labels,
                            const char *image, struct clv_error *err)
{
    text_put(text, LABELME_BEGINNING);
    MUST(labelme_put_objects(text, contours, labels, err));
    labelme_end(text, image, contours->width, contours->height);
    return CLV_OK;
}
