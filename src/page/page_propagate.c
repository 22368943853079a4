/* Propagates the labels of the open image to the image that follows it, as `cleave propagate` does. Start at
 * page_propagate. */
#include <string.h>

#include "base/base.h"
#include "cleave/segment.h"
#include "data/data.h"
#include "page/page.h"
#include "sequence/sequence.h"

/* Computes result[height][width] of images[1]. Labels are propagated one by one; a later one overwrites earlier
 * ones. */
static enum clv_status propagate_labels(uint8_t *result, const uint8_t *labels, const struct clv_image *images,
                                        size_t n, struct clv_error *err)
{
    size_t n_pixels = (size_t)images->width * (size_t)images->height;
    OWNED_ARRAY uint8_t *mask = array_alloc(n_pixels, 1);
    OWNED_ARRAY uint8_t *propagated = array_alloc(n_pixels, 1);
    NEED(mask && propagated);
    const uint8_t *const given[3] = {mask};
    uint8_t *masks[3] = {NULL, propagated};
    bool is_used[256] = {false};
    memset(result, 0, n_pixels);
    for (size_t p = 0; p < n_pixels; p++)
        is_used[labels[p]] = true;
    for (int label = 1; label < CLV_VOID; label++) {
        if (!is_used[label])
            continue;
        for (size_t p = 0; p < n_pixels; p++)
            mask[p] = labels[p] == label;
        MUST(clv_propagate_masks(masks, given, images, n, NULL, err));
        for (size_t p = 0; p < n_pixels; p++)
            result[p] = propagated[p] ? (uint8_t)label : result[p];
    }
    return CLV_OK;
}

/* Makes one object of each label. */
static enum clv_status objects_of_labels(struct clv_object_map *map, const uint8_t *labels, int32_t width,
                                         int32_t height, struct clv_error *err)
{
    int32_t number[256] = {0};
    *map = (struct clv_object_map){.width = width,
                                   .height = height,
                                   .objects = array_alloc((size_t)width, (size_t)height * sizeof *map->objects),
                                   .labels = array_alloc(CLV_VOID, 1)};
    NEED(map->objects && map->labels);
    for (size_t p = 0; p < (size_t)width * (size_t)height; p++) {
        if (labels[p] && !number[labels[p]]) {
            map->labels[map->n_objects] = labels[p];
            number[labels[p]] = ++map->n_objects;
        }
        map->objects[p] = number[labels[p]];
    }
    return CLV_OK;
}

static bool has_size(const struct clv_image *image, const struct clv_image *other)
{
    return image->width == other->width && image->height == other->height;
}

enum clv_status page_propagate(struct clv_object_map *map, int32_t *number, const struct page_session *session,
                               struct clv_error *err)
{
    const struct page_document *document = &session->document;
    const struct clv_item *items = session->set.items;
    const struct clv_image *image = &document->image;
    OWNED(clv_image_release) struct clv_image follows = {0};
    OWNED(clv_image_release) struct clv_image second = {0};
    struct clv_error ignored;
    OWNED_ARRAY uint8_t *labels = array_alloc(page_document_size(document), 1);
    size_t next[2], n_next = 0;
    NEED(labels);
    MUST(sequence_after(next, &n_next, &session->set, (size_t)session->open, err));
    FAIL_IF(!n_next, CLV_ERR_USAGE, "no image follows this one in its folder");
    const char *name = items[next[0]].name;
    FAIL_IF(session->items[next[0]].status >= PAGE_ACCEPTED, CLV_ERR_USAGE,
            "%s, which follows, is accepted: nothing is propagated to it", name);
    MUST(item_image_read(&follows, &items[next[0]], &session->limits, err));
    FAIL_IF(!has_size(&follows, image), CLV_ERR_USAGE, "%s, which follows, is %dx%d, this image is %dx%d", name,
            follows.width, follows.height, image->width, image->height);
    OWNED_ARRAY uint8_t *result = array_alloc(page_document_size(document), 1);
    NEED(result);
    if (n_next > 1 && /* the second image may show what is hidden in the first; it is not required */
        (item_image_read(&second, &items[next[1]], &session->limits, &ignored) != CLV_OK || !has_size(&second, image)))
        n_next = 1;
    page_document_paint(labels, document);
    const struct clv_image images[3] = {*image, follows, second}; /* borrowed pixels */
    MUST(propagate_labels(result, labels, images, 1 + n_next, err));
    MUST(session->keeps_objects ? clv_object_map_from_labels(map, result, image->width, image->height, NULL, err)
                                : objects_of_labels(map, result, image->width, image->height, err));
    FAIL_IF(!map->n_objects, CLV_ERR_USAGE, "nothing of what is labelled here is found in %s", name);
    *number = (int32_t)next[0];
    return CLV_OK;
}
