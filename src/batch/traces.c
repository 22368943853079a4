/* Traces the outlines that exports have: of objects, of objects in boxes, or of the connected pieces of labels. Start
 * at trace. */
#include "base/base.h"
#include "batch/batch.h"
#include "data/export/export.h"

/* Traces and simplifies the outlines. Objects that touch stay separate, and pieces of one object have the same
 * number. */
static enum clv_status trace(struct contours *contours, const struct labelled *item, const struct batch *run,
                             bool by_sides, struct clv_error *err)
{
    const struct clv_object_map *objects = item->objects.objects ? &item->objects : &item->boxed;
    bool is_traced[256];
    struct tracing how = {.width = item->width, .height = item->height, .by_sides = by_sides};
    if (objects->objects) {
        MUST(contours_trace_values(contours, &how, objects->objects, err));
        for (size_t k = 0; k < contours->n_objects; k++) {
            struct contour_object *piece = &contours->objects[k];
            piece->number = piece->label;
            piece->label = objects->labels[piece->number - 1];
        }
    } else {
        for (int32_t label = 0; label < 256; label++)
            is_traced[label] = export_is_object(&run->labels, label);
        how.is_traced = is_traced;
        how.n_traced = 256;
        MUST(contours_trace(contours, &how, item->labels, err));
    }
    return contours_simplify(contours, run->options.tolerance, err);
}

enum clv_status labelled_trace(struct labelled *item, const struct batch *run, struct clv_error *err)
{
    if (item->is_traced)
        return CLV_OK;
    item->is_traced = true;
    return trace(&item->contours, item, run, false, err);
}

enum clv_status labelled_trace_polygons(struct contours *polygons, const struct labelled *item, const struct batch *run,
                                        struct clv_error *err)
{
    return trace(polygons, item, run, true, err);
}
