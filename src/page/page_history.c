/* The history of events on an image: adds, undoes and redoes them, and reads and writes them as JSON. Each event has
 * the mask after it, so that undoing computes nothing. Start at page_history_add. */
#include "page/page.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/json.h"

static const char *const kinds[] = {"foreground", "background", "erase", "box",   "mask",
                                    "delete",     "suggestion", "merge", "split", "relabel"};
#define N_KINDS (sizeof kinds / sizeof *kinds)

void page_event_release(struct page_event *event)
{
    array_free(event->points);
    page_runs_release(&event->result);
    *event = (struct page_event){0};
}

static void release_events(struct page_event *events, size_t n)
{
    for (size_t k = 0; k < n; k++)
        page_event_release(&events[k]);
}

static void release_dropped(struct page_history *history)
{
    release_events(history->dropped, history->n_dropped);
    array_free(history->dropped);
    history->dropped = NULL;
    history->n_dropped = 0;
}

void page_history_release(struct page_history *history)
{
    release_dropped(history);
    release_events(history->events, history->n);
    array_free(history->events);
    *history = (struct page_history){0};
}

static enum clv_status append(struct page_history *history, struct page_event *event, struct clv_error *err)
{
    FAIL_IF(history->n >= PAGE_MAX_EVENTS, CLV_ERR_DATA, "an image takes at most %d strokes", PAGE_MAX_EVENTS);
    NEED(!array_reserve((void **)&history->events, &history->capacity, history->n + 1, sizeof *history->events));
    history->events[history->n++] = TAKE(*event);
    return CLV_OK;
}

enum clv_status page_history_add(struct page_history *history, struct page_event *event, struct clv_error *err)
{
    size_t n_undone = history->n - history->cursor;
    if (n_undone) {
        struct page_event *undone = array_copy(history->events + history->cursor, n_undone, sizeof *undone);
        NEED(undone);
        release_dropped(history);
        history->dropped = undone;
        history->n_dropped = n_undone;
        history->n = history->dropped_at = history->cursor;
    }
    MUST(append(history, event, err)); /* if events were undone, it takes the place of one, and cannot fail */
    history->cursor = history->n;
    return CLV_OK;
}

void page_history_take_back(struct page_history *history, size_t cursor)
{
    if (history->cursor == cursor) /* nothing was added; the events after the cursor were undone before */
        return;
    release_events(history->events + cursor, history->n - cursor);
    history->n = history->cursor = cursor;
    if (!history->n_dropped || history->dropped_at != cursor)
        return;
    memcpy(history->events + cursor, history->dropped, history->n_dropped * sizeof *history->dropped);
    history->n += history->n_dropped; /* the capacity never shrinks */
    array_free(history->dropped);
    history->dropped = NULL;
    history->n_dropped = 0;
}

size_t page_history_step(const struct page_history *history, size_t cursor, int step)
{
    do {
        cursor += (size_t)step;
    } while (cursor > 0 && cursor < history->n && history->events[cursor].is_linked);
    return cursor;
}

const struct page_event *page_history_latest(const struct page_history *history, int32_t object, size_t end)
{
    while (end-- > 0)
        if (history->events[end].object == object)
            return &history->events[end];
    return NULL;
}

static enum clv_status parse_points(struct page_event *event, const struct json_value *points, const char *name,
                                    struct clv_error *err)
{
    size_t n = 0;
    FAIL_IF(!json_get_array(points, &n) || n % 2 || n > 2 * PAGE_MAX_POINTS, CLV_ERR_DATA,
            "%s: points must be pairs of numbers, at most %d", name, PAGE_MAX_POINTS);
    event->n_points = n / 2;
    event->points = array_alloc(n / 2, sizeof *event->points);
    NEED(event->points);
    for (size_t k = 0; k < n; k++) {
        double value;
        FAIL_IF(!json_get_double(json_element(points, k), &value) || !(fabs(value) <= 1e6), CLV_ERR_DATA,
                "%s: point %zu is not a number from -1e6 to 1e6", name, k / 2);
        event->points[k / 2][k % 2] = value;
    }
    return CLV_OK;
}

/* Returns the index into `kinds`, N_KINDS for other names. Earlier files have other names of the first two. */
static size_t kind_find(const char *name)
{
    if (strcmp(name, "figure") == 0)
        return PAGE_FOREGROUND;
    if (strcmp(name, "ground") == 0)
        return PAGE_BACKGROUND;
    size_t k = 0;
    while (k < N_KINDS && strcmp(kinds[k], name) != 0)
        k++;
    return k;
}

enum clv_status page_event_parse(struct page_event *event, const struct json_value *object, const char *name,
                                 struct clv_error *err)
{
    OWNED(page_event_release) struct page_event result = {0};
    const char *kind = NULL;
    int64_t number = 0, label = 0;
    FAIL_IF(!json_get_text(json_member(object, "kind"), &kind) ||
                !json_get_int64(json_member(object, "object"), &number) ||
                !json_get_int64(json_member(object, "label"), &label),
            CLV_ERR_DATA, "%s: kind, object or label is missing", name);
    const size_t k = kind_find(kind);
    FAIL_IF(k == N_KINDS, CLV_ERR_DATA, "%s: kind \"%.20s\"", name, kind);
    FAIL_IF(number < 0 || number >= PAGE_MAX_OBJECTS, CLV_ERR_DATA, "%s: object %lld, must be 0..%d", name,
            (long long)number, PAGE_MAX_OBJECTS - 1);
    FAIL_IF(label < 1 || label > 254, CLV_ERR_DATA, "%s: label %lld, must be 1..254", name, (long long)label);
    result.kind = (enum page_kind)k;
    result.object = (int32_t)number;
    result.label = (int32_t)label;
    FAIL_IF(json_member(object, "radius") && (!json_get_double(json_member(object, "radius"), &result.radius) ||
                                              !(result.radius >= 0 && result.radius <= PAGE_MAX_RADIUS)),
            CLV_ERR_DATA, "%s: radius must be 0..%d", name, PAGE_MAX_RADIUS);
    bool has_points = k <= PAGE_BOX || k == PAGE_SPLIT;
    if (has_points)
        MUST(parse_points(&result, json_member(object, "points"), name, err));
    FAIL_IF(has_points && result.n_points < (k == PAGE_BOX ? 2 : 1), CLV_ERR_DATA,
            "%s: %zu points are too few for a %s", name, result.n_points, kind);
    *event = TAKE(result);
    return CLV_OK;
}

void page_history_put(struct text *json, const struct page_history *history, int32_t width, int32_t height)
{
    text_printf(
        json,
        "{\"format\": \"cleave strokes 1\", \"width\": %d, \"height\": %d, \"accepted\": %d, %s\"cursor\": %zu,\n"
        "\"strokes\": [",
        width, height, history->is_accepted, history->is_empty ? "\"empty\": 1, " : "", history->cursor);
    for (size_t k = 0; k < history->n; k++) {
        const struct page_event *event = &history->events[k];
        text_printf(json, "%s\n{\"kind\": \"%s\", %s\"object\": %d, \"label\": %d, \"radius\": ", k ? "," : "",
                    kinds[event->kind], event->is_linked ? "\"linked\": 1, " : "", event->object, event->label);
        text_put_json_number(json, event->radius);
        text_put(json, ", \"points\": [");
        for (size_t i = 0; i < 2 * event->n_points; i++) {
            text_put(json, i ? "," : "");
            text_put_json_number(json, event->points[i / 2][i % 2]);
        }
        text_put(json, "], \"mask\": [");
        for (size_t i = 0; i < event->result.n; i++)
            text_printf(json, i ? ",%d" : "%d", event->result.lengths[i]);
        text_put(json, "]}");
    }
    text_put(json, "]}\n");
}

static enum clv_status parse_result(struct page_runs *runs, const struct json_value *mask, size_t n_pixels,
                                    const char *name, struct clv_error *err)
{
    size_t n = 0;
    FAIL_IF(!json_get_array(mask, &n), CLV_ERR_DATA, "%s: a stroke without its mask", name);
    runs->lengths = array_alloc(n, sizeof *runs->lengths);
    NEED(runs->lengths);
    runs->n = n;
    for (size_t k = 0; k < n; k++) {
        int64_t length;
        FAIL_IF(!json_get_int64(json_element(mask, k), &length) || length < 0 || length > INT32_MAX, CLV_ERR_DATA,
                "%s: a mask's run %zu is not a length", name, k);
        runs->lengths[k] = (int32_t)length;
    }
    FAIL_IF(!page_runs_fit(runs, n_pixels), CLV_ERR_DATA, "%s: a mask is not of the image's size", name);
    return CLV_OK;
}

static enum clv_status parse_events(struct page_history *history, const struct json_value *root, const char *name,
                                    int32_t width, int32_t height, struct clv_error *err)
{
    const struct json_value *strokes = json_member(root, "strokes");
    int64_t is_width = 0, is_height = 0, cursor = 0, is_accepted = 0;
    size_t n = 0;
    FAIL_IF(!json_get_int64(json_member(root, "width"), &is_width) ||
                !json_get_int64(json_member(root, "height"), &is_height) ||
                !json_get_int64(json_member(root, "accepted"), &is_accepted) ||
                !json_get_int64(json_member(root, "cursor"), &cursor) || !json_get_array(strokes, &n),
            CLV_ERR_DATA, "%s: width, height, accepted, cursor or strokes is missing", name);
    FAIL_IF(is_width != width || is_height != height, CLV_ERR_DATA,
            "%s: is of an image of %lldx%lld, this one is %dx%d", name, (long long)is_width, (long long)is_height,
            width, height);
    FAIL_IF(cursor < 0 || (size_t)cursor > n, CLV_ERR_DATA, "%s: cursor %lld of %zu strokes", name, (long long)cursor,
            n);
    for (size_t k = 0; k < n; k++) {
        OWNED(page_event_release) struct page_event event = {0};
        const struct json_value *stroke = json_element(strokes, k);
        int64_t is_linked = 0;
        MUST(page_event_parse(&event, stroke, name, err));
        (void)json_get_int64(json_member(stroke, "linked"), &is_linked);
        event.is_linked = is_linked;
        MUST(parse_result(&event.result, json_member(stroke, "mask"), (size_t)width * (size_t)height, name, err));
        MUST(append(history, &event, err));
    }
    history->cursor = (size_t)cursor;
    history->is_accepted = is_accepted != 0;
    return CLV_OK;
}

enum clv_status page_history_parse(struct page_history *history, const char *bytes, size_t size, const char *name,
                                   int32_t width, int32_t height, struct clv_error *err)
{
    OWNED(page_history_release) struct page_history result = {0};
    OWNED(json_drop) struct json_value *root = NULL;
    MUST(json_parse(&root, bytes, size, name, err));
    MUST(parse_events(&result, root, name, width, height, err));
    *history = TAKE(result);
    return CLV_OK;
}
