/* labelme's JSON, one file an image. */
#include <stdio.h>

#include "base/base.h"
#include "data/export/export.h"

enum clv_status labelme_put(struct text *text, const struct contours *contours, const struct clv_labels *labels,
                            const char *image, struct clv_error *err)
{
    size_t *order, n_objects = contours->n_objects;
    MUST(export_order(&order, contours, err));
    enum clv_status status = CLV_OK;
    text_put(text, "{\"version\":\"5.4.1\",\"flags\":{},\"shapes\":[");
    for (size_t k = 0; k < n_objects && status == CLV_OK; k++) {
        const struct contour_object *object = &contours->objects[order[k]];
        char group[16] = "null";
        if ((k && object->number == contours->objects[order[k - 1]].number) ||
            (k + 1 < n_objects && object->number == contours->objects[order[k + 1]].number))
            snprintf(group, sizeof group, "%d", object->number);
        int32_t(*points)[2] = NULL;
        size_t n = 0;
        status = contours_keyhole(&points, &n, contours, order[k], err);
        text_printf(text, "%s\n{\"label\":", k ? "," : "");
        text_put_json(text, labels->names[object->label]);
        text_put(text, ",\"points\":[");
        for (size_t i = 0; i < n; i++)
            text_printf(text, "%s[%d,%d]", i ? "," : "", points[i][0], points[i][1]);
        text_printf(text, "],\"group_id\":%s,\"description\":\"\",\"shape_type\":\"polygon\",\"flags\":{}}", group);
        array_free(points);
    }
    array_free(order);
    text_put(text, "\n],\"imagePath\":");
    text_put_json(text, image);
    text_printf(text, ",\"imageData\":null,\"imageHeight\":%d,\"imageWidth\":%d}\n", contours->height, contours->width);
    return status;
}
