#include "page/page.h"

#include <string.h>

#include "base/base.h"
#include "data/boxes/boxes.h"
#include "data/shapes/shapes.h"

#define MAX_BOXES 250 /* that are cut out at once */

void page_import_release(struct page_import *import)
{
    clv_boxes_release(&import->boxes);
    array_free(import->values);
    *import = (struct page_import){0};
}

enum clv_status page_import_read(struct page_import *import, const char *path, const struct clv_set *set,
                                 struct clv_error *err)
{
    struct page_import made = {0};
    MUST(boxes_read_outlines(&made.boxes, path, BOXES_ANY_FORM, NULL, err));
    enum clv_status status = CLV_OK;
    made.values = array_alloc(made.boxes.n_labels + 1, 1);
    if (!made.values)
        status = fail_memory(err);
    else if (set->labels.n_labels == 2)
        memset(made.values, 1, made.boxes.n_labels);
    else if (!boxes_values_in(made.values, &set->labels, &made.boxes))
        status = fail(err, CLV_ERR_DATA, "%s: has labels that labels.tsv of %s does not name", path, set->root);
    DELIVER(import, made, page_import_release(&made));
    return status;
}

enum clv_status page_import_find(const struct clv_image_boxes **entry, const struct page_import *import,
                                 const char *image, struct clv_error *err)
{
    *entry = NULL;
    return import->boxes.n_images ? clv_boxes_find(entry, &import->boxes, image, err) : CLV_OK;
}

/* An object of this label, numbered after those that are there. */
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
    struct page_event event = {
        .kind = PAGE_BOX, .object = page_document_n_objects(document), .label = label, .n_points = 2};
    event.points = array_copy(corners, 2, sizeof *corners);
    enum clv_status status = event.points ? page_document_draw(document, &event, err) : fail_memory(err);
    page_event_release(&event);
    return status;
}

/* The largest box that was not taken, the first one at ties; n if there is none. */
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
    enum clv_status status = page_import_find(&entry, import, image, err);
    if (status != CLV_OK || !entry)
        return status;
    size_t n = entry->n_boxes < MAX_BOXES ? entry->n_boxes : MAX_BOXES;
    struct clv_box *placed = array_alloc(entry->n_boxes, sizeof *placed);
    bool *is_taken = array_zalloc(entry->n_boxes, sizeof *is_taken);
    uint8_t *labels = array_alloc(page_document_size(document), 1);
    status = placed && is_taken && labels ? clv_boxes_place(placed, NULL, &import->boxes, entry, document->image.width,
                                                            document->image.height, err)
                                          : fail_memory(err);
    for (size_t k = 0; k < n && status == CLV_OK; k++) {
        size_t next = largest(placed, is_taken, entry->n_boxes);
        is_taken[next] = true;
        const struct clv_outline *outline = entry->boxes[next].outline;
        bool is_suited = !outline || outline_suits(outline, document->image.width, document->image.height);
        uint8_t label = import->values[placed[next].label];
        if (label && is_suited)
            status = show(document, &placed[next], entry, label, labels, err);
    }
    arrays_free(placed, is_taken, labels);
    return status;
}
