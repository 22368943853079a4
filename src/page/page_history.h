/* What was drawn on an image, in order, and its file strokes/NAME.json. Undoing moves a cursor; what comes after it
 * stays until something new is drawn. */
#ifndef PAGE_PAGE_HISTORY_H
#define PAGE_PAGE_HISTORY_H

#include <stdbool.h>

#include "base/json.h"
#include "base/text.h"
#include "page/page_runs.h"

#define PAGE_MAX_EVENTS  20000
#define PAGE_MAX_OBJECTS 250
#define PAGE_MAX_POINTS  20000
#define PAGE_MAX_RADIUS  500

enum page_kind {
    PAGE_FIGURE,     /* a stroke on the object */
    PAGE_GROUND,     /* on ground */
    PAGE_ERASE,      /* takes strokes away */
    PAGE_BOX,        /* two corners */
    PAGE_MASK,       /* the object as another program has it: strokes change it near themselves */
    PAGE_DELETE,     /* the object is gone */
    PAGE_SUGGESTION, /* the object as the model sees it: strokes may change all of it */
};

struct page_event {
    enum page_kind kind;
    int32_t object, label;
    double radius;       /* of the brush, in pixels of the image */
    double (*points)[2]; /* [n_points] x, y */
    size_t n_points;
    struct page_runs result; /* the object after it */
};

struct page_history {
    struct page_event *events;
    size_t n, capacity;
    size_t cursor;              /* events before it count */
    bool is_accepted, is_empty; /* is_empty: no object has a pixel; of what is saved */
    struct page_event *dropped; /* [n_dropped] what had been undone when the event at dropped_at was added */
    size_t n_dropped, dropped_at;
};
void page_history_release(struct page_history *history);
void page_event_release(struct page_event *event);

/* Takes the event over, which is then empty, and drops what was undone. */
enum clv_status page_history_add(struct page_history *history, struct page_event *event,
                                 struct clv_error *err) CLV_CHECK;

/* Takes back what was added from `cursor` on, where the cursor was before: nothing has changed then. */
void page_history_take_back(struct page_history *history, size_t cursor);

/* The object's latest event before `end`, or NULL. */
const struct page_event *page_history_latest(const struct page_history *history, int32_t object, size_t end);

/* An event without its result from {"object":..,"label":..,"kind":..,"radius":..,"points":[x,y,..]}; `name` for
 * messages. */
enum clv_status page_event_parse(struct page_event *event, const struct json_value *object, const char *name,
                                 struct clv_error *err) CLV_CHECK;

void page_history_put(struct text *json, const struct page_history *history, int32_t width, int32_t height);
enum clv_status page_history_parse(struct page_history *history, const char *bytes, size_t size, const char *name,
                                   int32_t width, int32_t height, struct clv_error *err) CLV_CHECK;

#endif
