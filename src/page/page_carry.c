/* Labels of the open image, carried to the image that follows it, as `cleave propagate` does. */
#include <string.h>

#include "base/base.h"
#include "cleave/segment.h"
#include "page/page.h"
#include "sequence/sequence.h"

/* carried[height][width] of images[1], label by label: what the later ones claim is theirs. */
static enum clv_status carry_labels(uint8_t *carried, const uint8_t *labels, const struct clv_image *images, size_t n,
                                    struct clv_error *err)
{
    size_t n_pixels = (size_t)images->width * (size_t)images->height;
    uint8_t *given[3] = {array_alloc(n_pixels, 1)}, *own[3] = {NULL, array_alloc(n_pixels, 1)};
    bool is_there[256] = {false};
    enum clv_status status = given[0] && own[1] ? CLV_OK : fail_memory(err);
    memset(carried, 0, n_pixels);
    for (size_t p = 0; p < n_pixels; p++)
        is_there[labels[p]] = true;
    for (int label = 1; label < CLV_VOID && status == CLV_OK; label++) {
        if (!is_there[label])
            continue;
        for (size_t p = 0; p < n_pixels; p++)
            given[0][p] = labels[p] == label;
        status = clv_propagate_masks(own, (const uint8_t *const *)given, images, n, NULL, err);
        for (size_t p = 0; p < n_pixels && status == CLV_OK; p++)
            carried[p] = own[1][p] ? (uint8_t)label : carried[p];
    }
    arrays_free(given[0], own[1]);
    return status;
}

/* An object of each label. */
static enum clv_status one_each(struct clv_object_map *map, const uint8_t *labels, int32_t width, int32_t height,
                                struct clv_error *err)
{
    int32_t number[256] = {0};
    *map = (struct clv_object_map){.width = width,
                                   .height = height,
                                   .objects = array_alloc((size_t)width, (size_t)height * sizeof *map->objects),
                                   .labels = array_alloc(CLV_VOID, 1)};
    if (!map->objects || !map->labels)
        return fail_memory(err);
    for (size_t p = 0; p < (size_t)width * (size_t)height; p++) {
        if (labels[p] && !number[labels[p]]) {
            map->labels[map->n_objects] = labels[p];
            number[labels[p]] = ++map->n_objects;
        }
        map->objects[p] = number[labels[p]];
    }
    return CLV_OK;
}

enum clv_status page_carry(struct clv_object_map *map, int32_t *number, const struct page_session *session,
                           struct clv_error *err)
{
    const struct page_document *document = &session->document;
    struct clv_image images[3] = {document->image};
    struct clv_error ignored;
    uint8_t *labels = array_alloc(page_document_size(document), 1), *carried = NULL;
    size_t next[2], n_next = 0;
    enum clv_status status =
        labels ? sequence_after(next, &n_next, &session->set, (size_t)session->open, err) : fail_memory(err);
    TRY_IF(!n_next, fail(err, CLV_ERR_USAGE, "no image follows this one in its folder"));
    const char *name = status == CLV_OK ? session->set.items[next[0]].name : NULL;
    TRY_IF(session->items[next[0]].status >= PAGE_ACCEPTED,
           fail(err, CLV_ERR_USAGE, "%s, which follows, is accepted: nothing is carried to it", name));
    TRY(clv_image_read(&images[1], session->set.items[next[0]].image, &session->limits, err));
    TRY_IF(images[1].width != images->width || images[1].height != images->height,
           fail(err, CLV_ERR_USAGE, "%s, which follows, is %dx%d, this image is %dx%d", name, images[1].width,
                images[1].height, images->width, images->height));
    TRY_IF(!(carried = array_alloc(page_document_size(document), 1)), fail_memory(err));
    if (status == CLV_OK && n_next > 1 && /* it shows what was hidden; without it something less is known */
        (clv_image_read(&images[2], session->set.items[next[1]].image, &session->limits, &ignored) != CLV_OK ||
         images[2].width != images->width || images[2].height != images->height))
        n_next = 1;
    if (status == CLV_OK)
        page_document_paint(labels, document);
    TRY(carry_labels(carried, labels, images, 1 + n_next, err));
    TRY(session->keeps_objects ? clv_object_map_from_labels(map, carried, images->width, images->height, NULL, err)
                               : one_each(map, carried, images->width, images->height, err));
    TRY_IF(!map->n_objects, fail(err, CLV_ERR_USAGE, "nothing of what is labelled here is found in %s", name));
    if (status == CLV_OK)
        *number = (int32_t)next[0];
    clv_image_release(&images[1]);
    clv_image_release(&images[2]);
    arrays_free(labels, carried);
    return status;
}
