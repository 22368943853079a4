/* Shows the boxes and outlines in a file of another program as objects of the page. Start at page_import_show. */
#include "page/page.h"

#include <string.h>

#include "base/base.h"
#include "data/boxes/boxes.h"
#include "data/shapes/shapes.h"

#define MAX_BOXES 250 /* boxes and outlines of an image that are shown */

void page_import_release(struct page_import *import)
{
    clv_boxes_release(&import->boxes);
    array_free(import->values);
    *import = (struct page_import){0};
}

enum clv_status page_import_read(struct page_import *import, const char *path, const struct clv_set *set,
                                 struct clv_error *err)
{
    OWNED(page_import_release) struct page_import result = {0};
    MUST(boxes_read_outlines(&result.boxes, path, BOXES_ANY_FORM, NULL, err));
    result.values = array_alloc(result.boxes.n_labels + 1, 1);
    NEED(result.values);
    if (set->labels.n_labels == 2)
        memset(result.values, 1, result.boxes.n_labels);
    else
        FAIL_IF(!boxes_values_in(result.values, &set->labels, &result.boxes), CLV_ERR_DATA,
                "%s: has labels that labels.tsv of %s does not name", path, set->root);
    *import = TAKE(result);
    return CLV_OK;
}

enum clv_status page_import_find(const struct clv_image_boxes **entry, const struct page_import *import,
                                 const char *image, struct clv_error *err)
{
    *entry = NULL;
    return import->boxes.n_images ? clv_boxes_find(entry, &import->boxes, image, err) : CLV_OK;
}

/* Adds an object of this label, numbered after those that exist. */
static enum clv_status show(struct page_document *document, const struct clv_box *box,
                            const struct clv_image_boxes *entry, uint8_t label, uint8_t *labels, struct clv_error *err)
{
    const struct clv_image *image = &document->image;
    if (box->outline) {
        memset(labels, 0, page_document_size(document));
        const struct canvas canvas = {labels, image->width, image->height, label};
        MUST(outline_fill(&canvas, box->outline, entry->is_relative, err));
        return page_document_import(document, labels, PAGE_MASK, err);
    }
    const double corners[2][2] = {{box->x, box->y}, {box->x + box->width, box->y + box->height}};
    OWNED(page_event_release) struct page_event event = {
        .kind = PAGE_BOX, .object = page_document_n_objects(document), .label = label, .n_points = 2};
    event.points = array_copy(corners, 2, sizeof *corners);
    NEED(event.points);
    return page_document_draw(document, &event, err);
}

/* Returns the largest box that was not taken, the first of equal ones; n if all were taken. */
static size_t largest(const struct clv_box *boxes, const bool *is_taken, size_t n)
{
    size_t best = n;
    for (size_t k = 0; k < n; k++)
        if (!is_taken[k] && (best == n || boxes[k].width * boxes[k].height > boxes[best].width * boxes[best].height))
            best = k;
    return best;
}

enum clv_status page_import_show(struct page_document *document, const struct page_import *import, const char *image,
                                 struct clv_error *err)
{
    const struct clv_image_boxes *entry;
    MUST(page_import_find(&entry, import, image, err));
    if (!entry)
        return CLV_OK;
    int32_t width = document->image.width, height = document->image.height;
    size_t n = entry->n_boxes < MAX_BOXES ? entry->n_boxes : MAX_BOXES;
    OWNED_ARRAY struct clv_box *placed = array_alloc(entry->n_boxes, sizeof *placed);
    OWNED_ARRAY bool *is_taken = array_zalloc(entry->n_boxes, sizeof *is_taken);
    OWNED_ARRAY uint8_t *labels = array_alloc(page_document_size(document), 1);
    NEED(placed && is_taken && labels);
    MUST(clv_boxes_place(placed, NULL, &import->boxes, entry, width, height, err));
    for (size_t k = 0; k < n; k++) {
        size_t next = largest(placed, is_taken, entry->n_boxes);
        is_taken[next] = true;
        const struct clv_outline *outline = entry->boxes[next].outline;
        bool is_suited = !outline || outline_suits(outline, width, height);
        uint8_t label = import->values[placed[next].label];
        if (label && is_suited)
            MUST(show(document, &placed[next], entry, label, labels, err));
    }
    return CLV_OK;
}
