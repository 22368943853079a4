/* YOLO's text, one file an image, and the names of its classes. */
#include "base/base.h"
#include "data/export/export.h"

enum clv_status yolo_put(struct text *text, const struct contours *contours, const struct clv_labels *labels,
                         struct clv_error *err)
{
    enum clv_status status = CLV_OK;
    for (size_t k = 0; k < contours->n_objects && status == CLV_OK; k++) {
        int32_t(*points)[2] = NULL;
        size_t n = 0;
        status = contours_keyhole(&points, &n, contours, k, err);
        text_printf(text, "%d", export_category(labels, contours->objects[k].label) - 1);
        for (size_t i = 0; i < n; i++)
            text_printf(text, " %.8f %.8f", (double)points[i][0] / contours->width,
                        (double)points[i][1] / contours->height);
        text_put(text, "\n");
        array_free(points);
    }
    return status;
}

void yolo_put_data(struct text *text, const struct clv_labels *labels)
{
    text_put(text, "# Images go into images/, next to labels/.\ntrain: images\nval: images\nnames:\n");
    for (int32_t label = 0; label < labels->n_labels; label++) {
        if (!export_is_object(labels, label))
            continue;
        text_printf(text, "  %d: ", export_category(labels, label) - 1);
        text_put_json(text, labels->names[label]);
        text_put(text, "\n");
    }
}

void yolo_put_classes(struct text *text, const struct clv_labels *labels)
{
    for (int32_t label = 0; label < labels->n_labels; label++)
        if (export_is_object(labels, label))
            text_printf(text, "%s\n", labels->names[label]);
}
