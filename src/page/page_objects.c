/* Objects that are kept apart: converts a label image to objects and back, merges two objects, splits one by a stroke,
 * and changes labels. Start at page_document_import_objects. */
#include <string.h>

#include "base/base.h"
#include "page/page.h"

void page_document_number(int32_t *numbers, const struct page_document *document)
{
    int32_t n = page_document_n_objects(document);
    memset(numbers, 0, page_document_size(document) * sizeof *numbers);
    for (int32_t object = 0; object < n; object++) {
        const struct page_event *last = page_history_latest(&document->history, object, document->history.cursor);
        int32_t *at = numbers;
        if (!last || last->kind == PAGE_DELETE)
            continue;
        for (size_t k = 0; k < last->result.n; at += last->result.lengths[k++])
            for (int32_t i = 0; k % 2 && i < last->result.lengths[k]; i++)
                at[i] = object + 1;
    }
}

/* Fills event->result with the pixels of a number, which are in rows first to end - 1, and moves the event to the
 * history. */
static enum clv_status add(struct page_document *document, struct page_event *event, const int32_t *numbers,
                           int32_t number, int32_t first, int32_t end, struct clv_error *err)
{
    size_t width = (size_t)document->image.width, n = page_document_size(document);
    size_t from = (size_t)first * width, to = end < document->image.height ? ((size_t)end + 1) * width : n;
    OWNED_ARRAY uint8_t *layer = array_alloc(to - from, 1);
    NEED(layer);
    for (size_t p = from; p < to; p++)
        layer[p - from] = numbers[p] == number;
    MUST(page_runs_encode(&event->result, layer, to - from, 1, err));
    event->result.lengths[0] += (int32_t)from; /* the last run is background, unless the layer ends with the image */
    event->result.lengths[event->result.n - 1] += (int32_t)(n - to);
    return page_history_add(&document->history, event, err);
}

/* Ends a change of several events, which is one step: removes all of them after a failure. */
static enum clv_status settle(struct page_document *document, size_t cursor, enum clv_status status)
{
    if (status != CLV_OK)
        page_history_take_back(&document->history, cursor);
    document->revision += status == CLV_OK;
    return status;
}

static enum clv_status import_objects(struct page_document *document, const struct clv_object_map *map,
                                      struct clv_error *err)
{
    int32_t before = page_document_n_objects(document), n = map->n_objects;
    OWNED_ARRAY int32_t(*rows)[2] = array_zalloc((size_t)n + 1, sizeof *rows); /* first, end */
    NEED(rows);
    for (size_t p = page_document_size(document); p-- > 0;) {
        int32_t *extent = rows[map->objects[p]], row = (int32_t)(p / (size_t)map->width);
        extent[0] = row;
        extent[1] = extent[1] ? extent[1] : row + 1;
    }
    for (int32_t object = 0; object < before; object++) {
        OWNED(page_event_release) struct page_event end = {
            .kind = PAGE_DELETE, .object = object, .label = 1, .is_linked = object > 0};
        MUST(add(document, &end, map->objects, n + 1, 0, 1, err));
    }
    for (int32_t k = 0; k < n; k++) {
        uint8_t label = map->labels ? map->labels[k] : 1;
        OWNED(page_event_release) struct page_event event = {.kind = PAGE_MASK,
                                                             .object = before + k,
                                                             .label = label && label != CLV_VOID ? label : 1,
                                                             .is_linked = before + k > 0};
        MUST(add(document, &event, map->objects, k + 1, rows[k + 1][0], rows[k + 1][1], err));
    }
    return CLV_OK;
}

enum clv_status page_document_import_objects(struct page_document *document, const struct clv_object_map *map,
                                             struct clv_error *err)
{
    int32_t before = page_document_n_objects(document), n = map->n_objects;
    FAIL_IF(n > PAGE_MAX_OBJECTS, CLV_ERR_DATA, "%d objects, the page takes at most %d", n, PAGE_MAX_OBJECTS);
    FAIL_IF(n > PAGE_MAX_OBJECTS - before, CLV_ERR_DATA, "%d objects after %d earlier ones, the page takes at most %d",
            n, before, PAGE_MAX_OBJECTS);
    size_t cursor = document->history.cursor;
    return settle(document, cursor, import_objects(document, map, err));
}

bool page_document_has_objects(const struct page_document *document, const struct clv_object_map *map, int32_t *numbers)
{
    int32_t number_of[PAGE_MAX_OBJECTS + 1] = {0}, object_of[PAGE_MAX_OBJECTS + 1] = {0};
    bool are_same = map->n_objects <= PAGE_MAX_OBJECTS;
    page_document_number(numbers, document);
    for (size_t p = 0, n = page_document_size(document); p < n && are_same; p++) {
        int32_t object = map->objects[p], number = numbers[p];
        if (object && number && !number_of[object] && !object_of[number]) {
            number_of[object] = number;
            object_of[number] = object;
        }
        are_same = number_of[object] == number && object_of[number] == object;
    }
    return are_same;
}

/* Splits the pixels of number `kept` by a stroke: the largest remaining piece keeps its number, the second largest
 * becomes `next`. Other pixels go to the one of the two that they touch, pixels that touch neither to the largest. */
static enum clv_status split_numbers(int32_t *numbers, const struct page_document *document,
                                     const struct page_event *stroke, int32_t kept, int32_t next, struct clv_error *err)
{
    size_t n = page_document_size(document), width = (size_t)document->image.width;
    OWNED(clv_object_map_release) struct clv_object_map map = {0};
    int32_t largest = 0, second = 0;
    OWNED_ARRAY uint8_t *layer = array_alloc(n, 1);
    OWNED_ARRAY size_t *sizes = array_zalloc(n + 1, sizeof *sizes);
    NEED(layer && sizes);
    for (size_t p = 0; p < n; p++)
        layer[p] = numbers[p] == kept;
    page_document_stroke(layer, document, stroke, 0);
    MUST(clv_object_map_from_labels(&map, layer, document->image.width, document->image.height, NULL, err));
    for (size_t p = 0; p < n; p++)
        sizes[map.objects[p]] += map.objects[p] > 0;
    for (int32_t k = 1; k <= map.n_objects; k++)
        if (sizes[k] > sizes[second]) {
            second = sizes[k] > sizes[largest] ? largest : k;
            largest = sizes[k] > sizes[largest] ? k : largest;
        }
    FAIL_IF(!second, CLV_ERR_USAGE, "the stroke does not part the object: draw it from side to side");
    for (size_t p = 0; p < n; p++)
        if (numbers[p] == kept && map.objects[p] != largest)
            numbers[p] = layer[p] && map.objects[p] == second ? next : -1;
    for (bool has_changed = true; has_changed;) {
        has_changed = false;
        for (size_t p = 0; p < n; p++)
            for (int k = 0; k < 4 && numbers[p] < 0; k++) {
                size_t at = k == 0 ? p - 1 : k == 1 ? p - width : k == 2 ? p + 1 : p + width;
                if (at < n && (numbers[at] == kept || numbers[at] == next) && (k % 2 || at / width == p / width)) {
                    numbers[p] = numbers[at];
                    has_changed = true;
                }
            }
    }
    for (size_t p = 0; p < n; p++)
        numbers[p] = numbers[p] < 0 ? kept : numbers[p];
    return CLV_OK;
}

static const struct page_event *find_object(const struct page_document *document, int32_t object)
{
    const struct page_event *last = page_history_latest(&document->history, object, document->history.cursor);
    return last && last->kind != PAGE_DELETE ? last : NULL;
}

enum clv_status page_document_relabel(struct page_document *document, struct page_event *event, struct clv_error *err)
{
    const struct page_event *event_of_object = find_object(document, event->object);
    FAIL_IF(!event_of_object, CLV_ERR_USAGE, "there is no object %d", event->object + 1);
    event->result.lengths =
        array_copy(event_of_object->result.lengths, event_of_object->result.n, sizeof *event_of_object->result.lengths);
    NEED(event->result.lengths);
    event->result.n = event_of_object->result.n;
    MUST(page_history_add(&document->history, event, err));
    document->revision++;
    return CLV_OK;
}

/* Adds the events of a merge or a split: `event` gets the pixels of number `kept`, `second` those of number `next`. */
static enum clv_status add_regrouped(struct page_document *document, struct page_event *event,
                                     struct page_event *second, struct clv_error *err)
{
    const bool merges = event->kind == PAGE_MERGE;
    int32_t kept = event->object + 1, next = second->object + 1, height = document->image.height;
    size_t n = page_document_size(document);
    OWNED_ARRAY int32_t *numbers = array_alloc(n, sizeof *numbers);
    NEED(numbers);
    page_document_number(numbers, document);
    for (size_t p = 0; p < n && merges; p++)
        numbers[p] = numbers[p] == next ? kept : numbers[p];
    if (!merges)
        MUST(split_numbers(numbers, document, event, kept, next, err));
    MUST(add(document, event, numbers, kept, 0, height, err));
    return add(document, second, numbers, next, 0, height, err);
}

enum clv_status page_document_regroup(struct page_document *document, struct page_event *event, int32_t other,
                                      struct clv_error *err)
{
    const bool merges = event->kind == PAGE_MERGE;
    const struct page_event *event_of_object = find_object(document, event->object),
                            *event_of_other = merges ? find_object(document, other) : event_of_object;
    FAIL_IF(!event_of_object || !event_of_other || event->object == other, CLV_ERR_USAGE, "there is no object %d",
            (event_of_object ? other : event->object) + 1);
    FAIL_IF(other >= PAGE_MAX_OBJECTS, CLV_ERR_USAGE, "the page takes at most %d objects", PAGE_MAX_OBJECTS);
    size_t cursor = document->history.cursor;
    OWNED(page_event_release) struct page_event second = {
        .kind = merges ? PAGE_DELETE : PAGE_MASK, .object = other, .label = event_of_object->label, .is_linked = true};
    event->label = event_of_object->label;
    if (merges && other > event->object) { /* the later one stays, because it covers the objects between both */
        second.object = event->object;
        event->object = other;
    }
    return settle(document, cursor, add_regrouped(document, event, &second, err));
}
