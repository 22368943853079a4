/* Masks of outlines. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "cli/import/import.h"
#include "data/shapes/outline.h"

static double area(const struct clv_box *box)
{
    return box->width * box->height;
}

/* The larger first, then as they stand in the file. */
static int compare(const void *a, const void *b)
{
    const struct clv_box *s = *(const struct clv_box *const *)a, *t = *(const struct clv_box *const *)b;
    if (area(s) != area(t))
        return area(s) > area(t) ? -1 : 1;
    return (s->place > t->place) - (s->place < t->place);
}

enum clv_status import_draw(uint8_t *mask, int32_t width, int32_t height, const struct clv_image_boxes *entry,
                            const uint8_t *values, struct clv_error *err)
{
    size_t n = entry->n_boxes;
    const struct clv_box **order = array_alloc(n, sizeof *order);
    enum clv_status status = order ? CLV_OK : fail_memory(err);
    memset(mask, 0, (size_t)width * (size_t)height);
    for (size_t i = 0; i < n && order; i++)
        order[i] = &entry->boxes[i];
    if (n && order)
        qsort(order, n, sizeof *order, compare);
    for (size_t i = 0; i < n && status == CLV_OK; i++)
        status = outline_fill(mask, width, height, order[i]->outline, entry->is_relative, values[order[i]->label], err);
    array_free(order);
    return status == CLV_OK ? status : fail_within(err, status, entry->image);
}
