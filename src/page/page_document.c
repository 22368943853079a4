/* The image that is open in the labelling page: cuts objects out by strokes and boxes, paints them, and imports labels
 * and predictions. The objects follow from the history of events. Start at page_document_draw. */
#include "page/page.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "cleave/box_cut.h"
#include "cleave/oracle.h"
#include "cleave/refine.h"
#include "cleave/segment.h"
#include "feature/recipe/recipe.h"
#include "infer/infer.h"

void page_document_release(struct page_document *document)
{
    click_scene_free(document->scene);
    clv_image_release(&document->image);
    page_history_release(&document->history);
    array_free(document->prior);
    *document = (struct page_document){0};
}

size_t page_document_size(const struct page_document *document)
{
    return (size_t)document->image.width * (size_t)document->image.height;
}

enum clv_status page_document_open(struct page_document *document, const struct clv_item *item,
                                   const struct clv_image_limits *limits, struct clv_error *err)
{
    OWNED(page_document_release) struct page_document result = {.item = item, .limits = limits};
    *document = (struct page_document){0};
    MUST(item_image_read(&result.image, item, limits, err));
    MUST(click_scene_new(&result.scene, &result.image, err));
    *document = TAKE(result);
    return CLV_OK;
}

static enum clv_status import_labels(struct page_document *document, const uint8_t *labels, enum page_kind kind,
                                     struct clv_error *err)
{
    size_t n = page_document_size(document);
    bool is_used[256] = {false};
    int32_t object = page_document_n_objects(document);
    for (size_t p = 0; p < n; p++)
        is_used[labels[p]] = true;
    for (int32_t label = 1; label < CLV_VOID; label++)
        if (is_used[label] && object < PAGE_MAX_OBJECTS) {
            OWNED(page_event_release) struct page_event event = {.kind = kind, .object = object, .label = label};
            object++;
            MUST(page_runs_encode(&event.result, labels, n, (uint8_t)label, err));
            MUST(page_history_add(&document->history, &event, err));
        }
    return CLV_OK;
}

enum clv_status page_document_import(struct page_document *document, const uint8_t *labels, enum page_kind kind,
                                     struct clv_error *err)
{
    size_t cursor = document->history.cursor;
    enum clv_status status = import_labels(document, labels, kind, err);
    if (status)
        page_history_take_back(&document->history, cursor);
    document->revision += status == CLV_OK;
    return status;
}

int32_t page_document_n_objects(const struct page_document *document)
{
    int32_t n = 0;
    for (size_t k = 0; k < document->history.cursor; k++)
        n = document->history.events[k].object >= n ? document->history.events[k].object + 1 : n;
    return n;
}

#define MAX_DONE 8192

/* A stroke's brush, and the pixels that it has painted. */
struct brush {
    uint8_t *pixels, value;
    const struct clv_image *image;
    double radius;
    int32_t done[MAX_DONE][2]; /* of each row below MAX_DONE: the first and last pixel of a painted run */
    size_t n_rows;             /* of discs that were visited */
};

/* Paints a disc of the brush. */
static void dab(struct brush *brush, double x, double y)
{
    const struct clv_image *image = brush->image;
    double radius = brush->radius;
    int32_t last_row = int32_within(floor(y + radius - 0.5), -1, image->height - 1);
    for (int32_t row = int32_within(ceil(y - radius - 0.5), 0, image->height); row <= last_row; row++) {
        int32_t *done = row < MAX_DONE ? brush->done[row] : NULL;
        double dy = row + 0.5 - y, reach = sqrt(fmax(0, radius * radius - dy * dy));
        int32_t first = int32_within(ceil(x - reach - 0.5), 0, image->width);
        int32_t last = int32_within(floor(x + reach - 0.5), -1, image->width - 1);
        brush->n_rows++;
        if (first > last || (done && done[0] <= first && last <= done[1]))
            continue;
        memset(brush->pixels + (size_t)row * (size_t)image->width + (size_t)first, brush->value,
               (size_t)(last - first) + 1);
        if (done && first <= done[1] + 1 && last >= done[0] - 1) {
            done[0] = first < done[0] ? first : done[0];
            done[1] = last > done[1] ? last : done[1];
        } else if (done && last - first > done[1] - done[0]) {
            done[0] = first;
            done[1] = last;
        }
    }
}

/* Narrows the steps *first to *last of a stroke to those at which the brush may touch 0 .. size along one axis. */
static void clip_steps(double *first, double *last, double from, double to, double steps, double radius, double size)
{
    double low = -radius - 1, high = size + radius + 1;
    if (from == to) {
        *last = from < low || from > high ? -1 : *last;
        return;
    }
    double a = (low - from) / (to - from) * steps, b = (high - from) / (to - from) * steps;
    *first = fmax(*first, floor(fmin(a, b)) - 1);
    *last = fmin(*last, ceil(fmax(a, b)) + 1);
}

/* Whether all rows that the brush can reach between two heights are painted from side to side. */
static bool is_done(const struct brush *brush, double y, double end_y)
{
    int32_t height = brush->image->height;
    int32_t first = int32_within(ceil(fmin(y, end_y) - brush->radius - 0.5), 0, height);
    int32_t last = int32_within(floor(fmax(y, end_y) + brush->radius - 0.5), -1, height - 1);
    bool is_done = last < MAX_DONE;
    for (int32_t row = first; row <= last && is_done; row++)
        is_done = brush->done[row][0] == 0 && brush->done[row][1] == brush->image->width - 1;
    return is_done;
}

/* Paints discs along the line from one point to the next, at most half a radius apart, where they touch the image. */
static void sweep(struct brush *brush, const double from[2], const double to[2])
{
    double way = fmax(fabs(to[0] - from[0]), fabs(to[1] - from[1]));
    double steps = ceil(way / fmax(1, brush->radius / 2)), first = 1, last = steps;
    clip_steps(&first, &last, from[0], to[0], steps, brush->radius, brush->image->width);
    clip_steps(&first, &last, from[1], to[1], steps, brush->radius, brush->image->height);
    if (first > last ||
        is_done(brush, from[1] + first / steps * (to[1] - from[1]), from[1] + last / steps * (to[1] - from[1])))
        return;
    for (int64_t k = 0, n = int64_within(last - first, -1, INT32_MAX); k <= n; k++) {
        double share = (first + (double)k) / steps;
        dab(brush, from[0] + share * (to[0] - from[0]), from[1] + share * (to[1] - from[1]));
    }
}

size_t page_document_stroke(uint8_t *pixels, const struct page_document *document, const struct page_event *stroke,
                            uint8_t value)
{
    const struct clv_image *image = &document->image;
    struct brush brush = {.pixels = pixels, .value = value, .image = image};
    brush.radius = fmax(stroke->radius, 0.75);
    for (int32_t row = 0; row < MAX_DONE; row++)
        brush.done[row][1] = -1;
    for (size_t k = 0; k < stroke->n_points; k++) {
        if (k)
            sweep(&brush, stroke->points[k - 1], stroke->points[k]);
        else
            dab(&brush, stroke->points[k][0], stroke->points[k][1]);
    }
    return brush.n_rows;
}

static struct clv_box box_of(const struct page_event *event, const struct clv_image *image)
{
    double x0 = fmin(event->points[0][0], event->points[1][0]), x1 = fmax(event->points[0][0], event->points[1][0]);
    double y0 = fmin(event->points[0][1], event->points[1][1]), y1 = fmax(event->points[0][1], event->points[1][1]);
    x0 = fmin(fmax(floor(x0), 0), image->width - 1);
    y0 = fmin(fmax(floor(y0), 0), image->height - 1);
    x1 = fmin(fmax(ceil(x1), x0 + 1), image->width);
    y1 = fmin(fmax(ceil(y1), y0 + 1), image->height);
    return (struct clv_box){.x = x0, .y = y0, .width = x1 - x0, .height = y1 - y0};
}

static struct clv_pixel_box pixels_of(const struct page_event *event, const struct clv_image *image)
{
    struct clv_box placed = box_of(event, image);
    return clv_box_pixels(&placed, image->width, image->height);
}

bool page_document_frame(struct clv_pixel_box *box, const struct page_document *document, int32_t object)
{
    bool is_found = false;
    for (size_t k = 0; k < document->history.cursor; k++) {
        const struct page_event *event = &document->history.events[k];
        if (event->object != object || event->kind != PAGE_BOX)
            continue;
        *box = pixels_of(event, &document->image);
        is_found = true;
    }
    return is_found;
}

/* Excludes all pixels outside of a box from the object. */
static void fence(uint8_t *seeds, const struct clv_image *image, const struct page_event *event)
{
    struct clv_pixel_box box = pixels_of(event, image);
    for (int32_t y = 0; y < image->height; y++)
        for (int32_t x = 0; x < image->width; x++)
            if (x < box.first_x || x >= box.end_x || y < box.first_y || y >= box.end_y)
                seeds[(size_t)y * (size_t)image->width + (size_t)x] = CLICK_BARRED;
}

/* All strokes and boxes of an object, in order: events of the history, and the new one. */
struct drawn {
    const struct page_event **events; /* [n] borrowed */
    size_t n;
};

static enum clv_status drawn_gather(struct drawn *drawn, const struct page_document *document,
                                    const struct page_event *newest, struct clv_error *err)
{
    const struct page_history *history = &document->history;
    drawn->events = array_alloc(history->cursor + 1, sizeof *drawn->events);
    NEED(drawn->events);
    for (size_t k = 0; k < history->cursor; k++)
        if (history->events[k].object == newest->object)
            drawn->events[drawn->n++] = &history->events[k];
    drawn->events[drawn->n++] = newest;
    return CLV_OK;
}

static void drawn_release(struct drawn *drawn)
{
    array_free(drawn->events);
}

uint8_t page_stroke_seed(const struct page_event *stroke)
{
    return stroke->kind == PAGE_FOREGROUND   ? CLICK_FOREGROUND
           : stroke->kind == PAGE_BACKGROUND ? CLICK_BACKGROUND
                                             : CLICK_FREE;
}

/* Paints seeds[height][width] for an object: excludes the pixels of other objects, then paints the object's strokes in
 * their order and excludes pixels outside of its last box. Returns the number of its strokes. */
static int32_t fill_seeds(uint8_t *seeds, const struct page_document *document, const struct drawn *drawn)
{
    const struct page_history *history = &document->history;
    int32_t n_strokes = 0, n_objects = page_document_n_objects(document), drawn_object = drawn->events[0]->object;
    const struct page_event *box = NULL;
    memset(seeds, CLICK_FREE, page_document_size(document));
    for (int32_t object = 0; object < n_objects; object++) {
        const struct page_event *last = page_history_latest(history, object, history->cursor);
        if (object != drawn_object && last)
            page_runs_paint(seeds, &last->result, CLICK_BARRED);
    }
    for (size_t k = 0; k < drawn->n; k++)
        box = drawn->events[k]->kind == PAGE_BOX ? drawn->events[k] : box;
    for (size_t k = 0; k < drawn->n; k++) {
        const struct page_event *event = drawn->events[k];
        if (event == box)
            fence(seeds, &document->image, event);
        else if (event->kind <= PAGE_ERASE)
            page_document_stroke(seeds, document, event, page_stroke_seed(event));
        n_strokes += event->kind == PAGE_FOREGROUND || event->kind == PAGE_BACKGROUND;
    }
    return n_strokes;
}

/* Whether an object has a box, a mask, a merge or a split, so that strokes edit an existing object. */
static bool is_edited(const struct page_document *document, int32_t object)
{
    for (size_t k = 0; k < document->history.cursor; k++) {
        const struct page_event *event = &document->history.events[k];
        if (event->object == object && (event->kind == PAGE_BOX || event->kind == PAGE_MASK ||
                                        event->kind == PAGE_MERGE || event->kind == PAGE_SPLIT))
            return true;
    }
    return false;
}

/* Returns the point in the middle of a stroke. */
static struct click_press press_of(const struct page_event *stroke, const struct clv_image *image)
{
    const double *at = stroke->points[stroke->n_points / 2];
    return (struct click_press){.x = int32_within(at[0], 0, image->width - 1),
                                .y = int32_within(at[1], 0, image->height - 1),
                                .is_foreground = stroke->kind == PAGE_FOREGROUND};
}

/* Cuts labels[height][width] of the object by the events in `drawn`, the last of which is `stroke` or a box. `before`
 * has its labels before the stroke, or is NULL. */
static enum clv_status cut_stroke(uint8_t *labels, const struct page_document *document, const struct drawn *drawn,
                                  const struct page_event *stroke, const uint8_t *before, bool is_edit,
                                  struct clv_error *err)
{
    OWNED_ARRAY uint8_t *seeds = array_alloc(page_document_size(document), 1);
    NEED(seeds);
    struct click_press press = press_of(stroke, &document->image);
    struct click_request request = {.seeds = seeds, .prior = document->prior, .before = before, .is_edit = is_edit};
    request.n_strokes = fill_seeds(seeds, document, drawn);
    request.latest = stroke->kind == PAGE_ERASE ? NULL : &press;
    return click_cut(labels, document->scene, &request, err);
}

/* Whether the event sets the whole mask of its object, which is then not the cut of its boxes and strokes. */
static bool is_whole(const struct page_event *event)
{
    return event->kind > PAGE_BOX && event->kind != PAGE_RELABEL;
}

/* Cuts labels[height][width] of the object in a box, and then by each of its earlier strokes whose middle is in the
 * box. */
static enum clv_status cut_box(uint8_t *labels, const struct page_document *document, const struct page_event *newest,
                               struct clv_error *err)
{
    const struct clv_image *image = &document->image;
    struct clv_box box = box_of(newest, image);
    struct clv_pixel_box within = pixels_of(newest, image);
    OWNED(drawn_release) struct drawn drawn = {0};
    MUST(clv_box_cut(labels, NULL, image, &box, NULL, err));
    MUST(drawn_gather(&drawn, document, newest, err));
    size_t n = drawn.n - 1, n_kept = 0;
    for (size_t k = 0; k < n; k++) {
        const struct page_event *event = drawn.events[k];
        n_kept = is_whole(event) ? 0 : n_kept;
        if (event->kind > PAGE_ERASE)
            continue;
        struct click_press at = press_of(event, image);
        if (at.x >= within.first_x && at.x < within.end_x && at.y >= within.first_y && at.y < within.end_y)
            drawn.events[n_kept++] = event;
    }
    for (size_t k = 0; k < n_kept; k++) {
        const struct page_event *stroke = drawn.events[k], *next = drawn.events[k + 1];
        drawn.events[k + 1] = newest; /* the box limits the cut by the strokes up to k */
        drawn.n = k + 2;
        MUST(cut_stroke(labels, document, &drawn, stroke, labels, true, err));
        drawn.events[k + 1] = next;
    }
    return CLV_OK;
}

/* Cuts labels[height][width] of the object after an event. */
static enum clv_status cut(uint8_t *labels, const struct page_document *document, const struct page_event *newest,
                           struct clv_error *err)
{
    const struct page_event *last = page_history_latest(&document->history, newest->object, document->history.cursor);
    size_t n = page_document_size(document);
    bool has_before = last && last->kind != PAGE_DELETE;
    memset(labels, 0, n);
    if (newest->kind == PAGE_DELETE)
        return CLV_OK;
    if (newest->kind == PAGE_BOX)
        return cut_box(labels, document, newest, err);
    OWNED_ARRAY uint8_t *before = array_zalloc(n, 1);
    OWNED(drawn_release) struct drawn drawn = {0};
    NEED(before);
    MUST(drawn_gather(&drawn, document, newest, err));
    if (has_before)
        page_runs_paint(before, &last->result, 1);
    return cut_stroke(labels, document, &drawn, newest, has_before ? before : NULL,
                      has_before && is_edited(document, newest->object), err);
}

/* Whether the line from one point to another goes through the image. */
static bool goes_through(const struct clv_image *image, const double from[2], const double to[2])
{
    const double sides[2] = {image->width, image->height};
    double first = 0, last = 1;
    for (int axis = 0; axis < 2; axis++) {
        double way = to[axis] - from[axis];
        if (way == 0) {
            if (from[axis] < 0 || from[axis] >= sides[axis])
                return false;
            continue;
        }
        double a = -from[axis] / way, b = (sides[axis] - from[axis]) / way;
        first = fmax(first, fmin(a, b));
        last = fmin(last, fmax(a, b));
    }
    return first < last;
}

/* Whether the line of a stroke, or a box, meets the image. It is not enough that the brush reaches into the image: a
 * click next to the image is a mistake. */
static bool is_on_image(const struct page_event *event, const struct clv_image *image)
{
    const double(*points)[2] = (const double(*)[2])event->points;
    if (event->kind == PAGE_BOX)
        return fmax(points[0][0], points[1][0]) > 0 && fmin(points[0][0], points[1][0]) < image->width &&
               fmax(points[0][1], points[1][1]) > 0 && fmin(points[0][1], points[1][1]) < image->height;
    for (size_t k = 0; k < event->n_points; k++)
        if (goes_through(image, points[k ? k - 1 : 0], points[k]))
            return true;
    return false;
}

enum clv_status page_document_draw(struct page_document *document, struct page_event *event, struct clv_error *err)
{
    size_t n = page_document_size(document);
    FAIL_IF(event->kind > PAGE_BOX && event->kind != PAGE_DELETE, CLV_ERR_USAGE, "a mask is not a stroke");
    FAIL_IF(event->kind <= PAGE_BOX && !is_on_image(event, &document->image), CLV_ERR_USAGE,
            "all of that is beside the image; draw on the image");
    OWNED_ARRAY uint8_t *labels = array_alloc(n, 1);
    NEED(labels);
    MUST(cut(labels, document, event, err));
    MUST(page_runs_encode(&event->result, labels, n, 1, err));
    MUST(page_history_add(&document->history, event, err));
    document->revision++;
    return CLV_OK;
}

bool page_document_is_framed(const struct page_document *document, int32_t object)
{
    for (size_t k = document->history.cursor; k-- > 0;) {
        const struct page_event *event = &document->history.events[k];
        if (event->object == object && (event->kind == PAGE_BOX || is_whole(event)))
            return event->kind == PAGE_BOX;
    }
    return false;
}

bool page_document_is_empty(const struct page_document *document)
{
    struct clv_pixel_box box;
    int32_t label, n_objects = page_document_n_objects(document), object = 0;
    while (object < n_objects && !page_document_box(&box, &label, document, object))
        object++;
    return object == n_objects;
}

bool page_document_step(struct page_document *document, int step)
{
    struct page_history *history = &document->history;
    if (step < 0 ? history->cursor == 0 : history->cursor == history->n)
        return false;
    history->cursor = page_history_step(history, history->cursor, step);
    if (step < 0 && page_document_is_empty(document))
        history->is_accepted = false;
    document->revision++;
    return true;
}

void page_document_paint(uint8_t *labels, const struct page_document *document)
{
    int32_t n = page_document_n_objects(document);
    memset(labels, 0, page_document_size(document));
    for (int32_t object = 0; object < n; object++) {
        const struct page_event *last = page_history_latest(&document->history, object, document->history.cursor);
        if (last && last->kind != PAGE_DELETE)
            page_runs_paint(labels, &last->result, (uint8_t)last->label);
    }
}

bool page_document_box(struct clv_pixel_box *box, int32_t *label, const struct page_document *document, int32_t object)
{
    const struct page_event *last = page_history_latest(&document->history, object, document->history.cursor);
    int64_t at = 0, width = document->image.width;
    if (!last || last->kind == PAGE_DELETE)
        return false;
    *label = last->label;
    *box = (struct clv_pixel_box){INT32_MAX, INT32_MAX, 0, 0};
    for (size_t k = 0; k < last->result.n; k++) {
        int64_t end = at + last->result.lengths[k];
        if (k % 2 && end > at) {
            int32_t first_y = (int32_t)(at / width), last_y = (int32_t)((end - 1) / width);
            int32_t first_x = first_y == last_y ? (int32_t)(at % width) : 0;
            int32_t end_x = first_y == last_y ? (int32_t)((end - 1) % width) + 1 : (int32_t)width;
            box->first_x = first_x < box->first_x ? first_x : box->first_x;
            box->end_x = end_x > box->end_x ? end_x : box->end_x;
            box->first_y = first_y < box->first_y ? first_y : box->first_y;
            box->end_y = last_y + 1 > box->end_y ? last_y + 1 : box->end_y;
        }
        at = end;
    }
    return box->end_x > 0;
}

void page_view_release(struct page_view *view)
{
    clv_image_release(&view->decoded);
    clv_map_release(&view->bands);
}

enum clv_status page_view_open(struct page_view *view, const struct clv_image *shown, const struct clv_item *item,
                               const struct clv_model *model, const struct clv_image_limits *limits,
                               struct clv_error *err)
{
    const struct clv_recipe *recipe = &model->recipe;
    struct clv_image_limits model_limits = limits ? *limits : (struct clv_image_limits){0};
    bool has_bands = recipe->bands.n_bands > 0, has_map = has_bands && recipe->n_maps == 1;
    *view = (struct page_view){.image = shown && !has_bands ? shown : &view->decoded,
                               .maps = has_map ? &view->bands : NULL};
    recipe_limits(&model_limits, recipe);
    if (view->image != shown)
        MUST(item_image_read(&view->decoded, item, &model_limits, err));
    return has_map ? clv_map_read(&view->bands, item->image, CLV_MAP_LAYOUT_BANDS, &model_limits, err) : CLV_OK;
}

enum clv_status page_document_use_model(struct page_document *document, const struct clv_model *model,
                                        struct clv_error *err)
{
    OWNED(clv_example_release) struct clv_example example = {0};
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    array_free(document->prior);
    document->prior = NULL;
    if (model->layout.n_labels != 2 || !model->has_recipe)
        return CLV_OK;
    {
        OWNED(page_view_release) struct page_view view = {0};
        MUST(page_view_open(&view, &document->image, document->item, model, document->limits, err));
        MUST(clv_example_extract_maps(&example, view.image, view.maps, &model->recipe, err));
    }
    OWNED_ARRAY int32_t *y = array_alloc((size_t)example.problem.n_nodes, sizeof *y);
    OWNED_ARRAY double *margin = array_alloc((size_t)example.problem.n_nodes, sizeof *margin);
    OWNED_ARRAY float *prior = array_alloc(page_document_size(document), sizeof *prior);
    NEED(y && margin && prior);
    MUST(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    MUST(clv_model_predict(y, model, &example.problem, oracle, err));
    MUST(clv_oracle_margins(oracle, margin, y, err));
    MUST(clv_refine_prior(prior, &example, margin, err));
    document->prior = TAKE(prior);
    return CLV_OK;
}

enum clv_status page_document_suggest(uint8_t *labels, const struct page_document *document,
                                      const struct clv_model *model, struct clv_error *err)
{
    if (!document->prior) {
        struct clv_segment_options options;
        OWNED(page_view_release) struct page_view view = {0};
        MUST(page_view_open(&view, &document->image, document->item, model, document->limits, err));
        clv_segment_defaults(&options);
        options.refine = CLV_REFINE_ALL;
        options.maps = view.maps;
        return clv_segment(labels, model, view.image, &options, err);
    }
    OWNED_ARRAY uint8_t *seeds = array_zalloc(page_document_size(document), 1);
    NEED(seeds);
    struct click_request request = {.seeds = seeds, .prior = document->prior};
    return click_cut(labels, document->scene, &request, err);
}
