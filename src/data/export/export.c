/* Helpers for all formats of objects: which labels are objects, their categories, and contours sorted by their
 * numbers. */
#include "data/export/export.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"

bool export_is_category(const struct clv_labels *labels, int32_t label)
{
    const char *name = label < labels->n_labels ? labels->names[label] : "";
    const bool is_named_void = strcmp(name, "void") == 0 && labels->is_void[label];
    return *name && !is_named_void && (label > 0 || strcmp(name, "background") != 0);
}

bool export_is_object(const struct clv_labels *labels, int32_t label)
{
    return export_is_category(labels, label) && labels_have(labels, label);
}

int32_t export_category(const struct clv_labels *labels, int32_t label)
{
    int32_t category = 0;
    for (int32_t k = 0; k <= label; k++)
        category += export_is_category(labels, k);
    return category;
}

void export_join(struct rle_frame *frame, const struct contour_object *piece)
{
    int32_t right = frame->left + frame->width, bottom = frame->top + frame->height;
    right = right > piece->left + piece->width ? right : piece->left + piece->width;
    bottom = bottom > piece->top + piece->height ? bottom : piece->top + piece->height;
    frame->left = frame->left < piece->left ? frame->left : piece->left;
    frame->top = frame->top < piece->top ? frame->top : piece->top;
    frame->width = right - frame->left;
    frame->height = bottom - frame->top;
}

static int compare_numbers(const void *a, const void *b, void *context)
{
    const size_t *first = a, *second = b;
    const struct contour_object *objects = context;
    int32_t x = objects[*first].number, y = objects[*second].number;
    return x != y ? (x > y) - (x < y) : (*first > *second) - (*first < *second);
}

enum clv_status export_order(size_t **order, const struct contours *contours, struct clv_error *err)
{
    *order = array_alloc(contours->n_objects, sizeof **order);
    NEED(*order);
    for (size_t k = 0; k < contours->n_objects; k++)
        (*order)[k] = k;
    qsort_r(*order, contours->n_objects, sizeof **order, compare_numbers, contours->objects);
    return CLV_OK;
}
