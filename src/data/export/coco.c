/* Writes objects as COCO's JSON: polygons, or compressed run lengths for objects with holes. Start at
 * coco_put_lines. */
#include <string.h>

#include "base/base.h"
#include "data/export/export.h"
#include "data/shapes/shapes.h"

void coco_begin(struct text *text)
{
    text_put(text, COCO_BEGINNING);
}

static void put_polygons(struct text *text, const struct contours *contours, const size_t *pieces, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        size_t ring, end;
        contours_rings(contours, pieces[k], &ring, &end);
        text_put(text, k ? ",[" : "[[");
        for (size_t first = ring ? contours->ring_ends[ring - 1] : 0, i = first; i < contours->ring_ends[ring]; i++)
            text_printf(text, "%s%d,%d", i > first ? "," : "", contours->points[i][0], contours->points[i][1]);
        text_put(text, "]");
    }
    text_put(text, "]");
}

static enum clv_status put_runs(struct text *text, const struct contours *contours, const size_t *pieces,
                                size_t n_pieces, struct clv_error *err)
{
    OWNED(text_release) struct text compressed = {0};
    OWNED_ARRAY uint32_t *counts = NULL;
    size_t n;
    MUST(rle_of_pieces(&counts, &n, contours, pieces, n_pieces, err));
    text_init(&compressed, text->max);
    rle_put_compressed(&compressed, counts, n);
    text_printf(text, "{\"size\":[%d,%d],\"counts\":", contours->height, contours->width);
    text_put_json(text, compressed.bytes ? compressed.bytes : "");
    text_put(text, "}");
    text->failed |= compressed.failed;
    return CLV_OK;
}

enum clv_status coco_put_lines(struct text *text, const struct contours *contours, const struct clv_labels *labels,
                               bool runs, struct clv_error *err)
{
    OWNED_ARRAY size_t *order = NULL;
    MUST(export_order(&order, contours, err));
    for (size_t k = 0, end; k < contours->n_objects; k = end) {
        const struct contour_object *first = &contours->objects[order[k]];
        struct rle_frame bounds = {first->left, first->top, first->width, first->height};
        bool has_holes = false;
        int64_t n_pixels = 0;
        for (end = k; end < contours->n_objects && contours->objects[order[end]].number == first->number; end++) {
            export_join(&bounds, &contours->objects[order[end]]);
            n_pixels += contours->objects[order[end]].n_pixels;
            has_holes |= contours_has_holes(contours, order[end]);
        }
        text_printf(text, "\"category_id\":%d,\"iscrowd\":0,\"area\":%lld,", export_category(labels, first->label),
                    (long long)n_pixels);
        text_printf(text, "\"bbox\":[%d,%d,%d,%d],\"segmentation\":", bounds.left, bounds.top, bounds.width,
                    bounds.height);
        if (runs || has_holes)
            MUST(put_runs(text, contours, order + k, end - k, err));
        else
            put_polygons(text, contours, order + k, end - k);
        text_put(text, "}\n");
    }
    return CLV_OK;
}

void coco_put_numbered(struct text *text, size_t *n_annotations, size_t image_id, const char *lines, size_t size)
{
    const char *end = lines + size;
    for (const char *line = lines, *newline; line < end; line = newline + 1) {
        newline = memchr(line, '\n', (size_t)(end - line));
        newline = newline ? newline : end;
        text_printf(text, "%s\n{\"id\":%zu,\"image_id\":%zu,", *n_annotations ? "," : "", *n_annotations + 1, image_id);
        text_append(text, line, (size_t)(newline - line));
        (*n_annotations)++;
    }
}

void coco_put_entry(struct text *images, bool is_first, size_t image_id, const char *json_name, int32_t width,
                    int32_t height)
{
    text_printf(images, "%s\n{\"id\":%zu,\"file_name\":", is_first ? "" : ",", image_id);
    text_put(images, json_name);
    text_printf(images, ",\"width\":%d,\"height\":%d}", width, height);
}

void coco_begin_images(struct text *text)
{
    text_put(text, "\n],\"images\":[");
}

void coco_put_categories(struct text *text, const struct clv_labels *labels)
{
    const char *separator = "\n";
    text_put(text, "\n],\"categories\":[");
    for (int32_t label = 0; label < labels->n_labels; label++) {
        if (!export_is_object(labels, label))
            continue;
        text_printf(text, "%s{\"id\":%d,\"name\":", separator, export_category(labels, label));
        text_put_json(text, labels->names[label]);
        text_put(text, ",\"supercategory\":\"\"}");
        separator = ",\n";
    }
    text_put(text, "\n]}\n");
}
