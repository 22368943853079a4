/* labelme's JSON, one file an image. */
#include "base/base.h"
#include "data/export/export.h"

enum clv_status labelme_put(struct text *text, const struct contours *contours, const struct clv_labels *labels,
                            const char *image, struct clv_error *err)
{
    enum clv_status status = CLV_OK;
    text_put(text, "{\"version\":\"5.4.1\",\"flags\":{},\"shapes\":[");
    for (size_t k = 0; k < contours->n_objects && status == CLV_OK; k++) {
        int32_t(*points)[2] = NULL;
        size_t n = 0;
        status = contours_keyhole(&points, &n, contours, k, err);
        text_printf(text, "%s\n{\"label\":", k ? "," : "");
        text_put_json(text, labels->names[contours->objects[k].label]);
        text_put(text, ",\"points\":[");
        for (size_t i = 0; i < n; i++)
            text_printf(text, "%s[%d,%d]", i ? "," : "", points[i][0], points[i][1]);
        text_put(text, "],\"group_id\":null,\"description\":\"\",\"shape_type\":\"polygon\",\"flags\":{}}");
        array_free(points);
    }
    text_put(text, "\n],\"imagePath\":");
    text_put_json(text, image);
    text_printf(text, ",\"imageData\":null,\"imageHeight\":%d,\"imageWidth\":%d}\n", contours->height, contours->width);
    return status;
}
