/* Writes objects as YOLO's text, one file per image, and the names of its classes. */
#include <string.h>

#include "base/base.h"
#include "data/export/export.h"

/* Writes the points of one contour. *first is the first point of the object's first contour, to which the line from
 * every other contour returns. */
static enum clv_status put_piece(struct text *text, int32_t (*first)[2], const struct contours *contours, size_t k,
                                 bool is_first, bool is_alone, struct clv_error *err)
{
    OWNED_ARRAY int32_t(*points)[2] = NULL;
    size_t n = 0;
    MUST(contours_keyhole(&points, &n, contours, k, err));
    if (is_first)
        memcpy(*first, points[0], sizeof *first);
    for (size_t i = 0; i < n + (is_alone ? 0 : 1); i++)
        text_printf(text, " %.8f %.8f", (double)points[i % n][0] / contours->width,
                    (double)points[i % n][1] / contours->height);
    if (!is_first)
        text_printf(text, " %.8f %.8f", (double)(*first)[0] / contours->width, (double)(*first)[1] / contours->height);
    return CLV_OK;
}

enum clv_status yolo_put(struct text *text, const struct contours *contours, const struct clv_labels *labels,
                         struct clv_error *err)
{
    OWNED_ARRAY size_t *order = NULL;
    MUST(export_order(&order, contours, err));
    for (size_t k = 0, end; k < contours->n_objects; k = end) {
        const struct contour_object *object = &contours->objects[order[k]];
        int32_t first[2];
        text_printf(text, "%d", export_category(labels, object->label) - 1);
        end = k + 1;
        while (end < contours->n_objects && contours->objects[order[end]].number == object->number)
            end++;
        for (size_t i = k; i < end; i++)
            MUST(put_piece(text, &first, contours, order[i], i == k, end == k + 1, err));
        text_put(text, "\n");
    }
    return CLV_OK;
}

void yolo_put_data(struct text *text, const struct clv_labels *labels)
{
    text_put(text, "# Images go into images/, next to labels/.\ntrain: images\nval: images\nnames:\n");
    for (int32_t label = 0; label < labels->n_labels; label++) {
        if (!export_is_category(labels, label))
            continue;
        text_printf(text, "  %d: ", export_category(labels, label) - 1);
        text_put_json(text, labels->names[label]);
        text_put(text, "\n");
    }
}

void yolo_put_classes(struct text *text, const struct clv_labels *labels)
{
    for (int32_t label = 0; label < labels->n_labels; label++)
        if (export_is_category(labels, label))
            text_printf(text, "%s\n", labels->names[label]);
}
