/* Answers the requests of the labelling page. page_handle checks the names and the revision that a request gives,
 * applies the change, saves it, and returns JSON, or an image file, with an HTTP status. Start at page_handle, at the
 * end. */
#include "page/page.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/json.h"
#include "cleave/segment.h"
#include "data/data.h"

#define MAX_ANSWER   ((size_t)512 << 20)
#define JPEG_QUALITY 92

void page_response_release(struct page_response *response)
{
    if (response->file > 0)
        close(response->file);
    response->file = 0;
    text_release(&response->body);
}

/* Returns the HTTP code for a status. */
static int code_of(enum clv_status status)
{
    switch (status) {
    case CLV_OK: return 200;
    case CLV_ERR_USAGE: return 400;
    case CLV_ERR_DATA: return 422;
    case CLV_ERR_NO_INPUT: return 404;
    case CLV_ERR_CREATE: return 409;
    case CLV_ERR_IO: return 507;
    default: return 500;
    }
}

static void put_error(struct page_response *response, int code, const char *message)
{
    text_release(&response->body);
    text_init(&response->body, MAX_ANSWER);
    response->code = code;
    response->type = "application/json";
    response->tag[0] = 0;
    text_put(&response->body, "{\"error\": ");
    text_put_json(&response->body, message);
    text_put(&response->body, "}\n");
}

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

/* Runs of equal values that are written as value, length, value, length .. */
struct run_writer {
    struct text *json;
    int32_t value;
    size_t length; /* of the last run, which is not written yet */
    bool is_begun;
};

static void write_run(struct run_writer *self)
{
    if (self->length)
        text_printf(self->json, "%s%d,%zu", self->is_begun ? "," : "", self->value, self->length);
    self->is_begun |= self->length > 0;
    self->length = 0;
}

static void add_run(struct run_writer *self, int32_t value, size_t length)
{
    if (value != self->value)
        write_run(self);
    self->value = value;
    self->length += length;
}

static void add_values(struct run_writer *self, const int32_t *values, size_t n)
{
    for (size_t p = 0; p < n;) {
        size_t end = p + 1;
        while (end < n && values[end] == values[p])
            end++;
        add_run(self, values[p], end - p);
        p = end;
    }
}

static void put_runs(struct text *json, const int32_t *values, size_t n)
{
    struct run_writer writer = {.json = json};
    text_put(json, "[");
    add_values(&writer, values, n);
    write_run(&writer);
    text_put(json, "]");
}

/* An object's mask that is painted part by part; run k, which begins at pixel `at`, comes next. */
struct layer {
    const struct page_runs *runs;
    size_t k, at;
    int32_t number;
};

/* Paints the layer's pixels in from .. to - 1. Returns whether it has any there. */
static bool paint_part(int32_t *numbers, size_t from, size_t to, struct layer *layer)
{
    bool is_any = false;
    for (; layer->k < layer->runs->n; layer->k++) {
        size_t end = layer->at + (size_t)layer->runs->lengths[layer->k], last = end < to ? end : to;
        for (size_t p = layer->at > from ? layer->at : from; layer->k % 2 && p < last; p++) {
            numbers[p - from] = layer->number;
            is_any = true;
        }
        if (end > to)
            break;
        layer->at = end;
    }
    return is_any;
}

enum { PART = 4096 }; /* pixels */

/* Writes the image as runs of object numbers, which count from 1 here, or 0 outside of all objects. Where objects
 * overlap, the last one counts. */
static enum clv_status put_objects(struct text *json, const struct page_document *document, struct clv_error *err)
{
    size_t n_pixels = page_document_size(document), n = 0;
    int32_t n_objects = page_document_n_objects(document), numbers[PART];
    struct run_writer writer = {.json = json};
    OWNED_ARRAY struct layer *layers = array_alloc((size_t)n_objects, sizeof *layers);
    NEED(layers);
    for (int32_t object = 0; object < n_objects; object++) {
        const struct page_event *last = page_history_latest(&document->history, object, document->history.cursor);
        if (last && last->kind != PAGE_DELETE)
            layers[n++] = (struct layer){.runs = &last->result, .number = object + 1};
    }
    text_put(json, "[");
    for (size_t from = 0; from < n_pixels; from += PART) {
        size_t to = from + PART < n_pixels ? from + PART : n_pixels;
        bool is_any = false;
        memset(numbers, 0, sizeof numbers);
        for (size_t k = 0; k < n; k++)
            is_any |= paint_part(numbers, from, to, &layers[k]);
        if (is_any)
            add_values(&writer, numbers, to - from);
        else
            add_run(&writer, 0, to - from);
    }
    write_run(&writer);
    text_put(json, "]");
    return CLV_OK;
}

/* Whether the event is the latest box of its object, or not a box. */
static bool is_latest_box(const struct page_history *history, size_t k)
{
    const struct page_event *event = &history->events[k];
    bool is_latest = true;
    for (size_t i = k + 1; i < history->cursor && event->kind == PAGE_BOX && is_latest; i++)
        is_latest = history->events[i].object != event->object || history->events[i].kind != PAGE_BOX;
    return is_latest;
}

static void put_strokes(struct text *json, const struct page_history *history)
{
    static const char *const kinds[] = {"foreground", "background", "erase", "box"};
    bool is_first = true;
    text_put(json, "[");
    for (size_t k = 0; k < history->cursor; k++) {
        const struct page_event *event = &history->events[k];
        const struct page_event *last = page_history_latest(history, event->object, history->cursor);
        if (event->kind > PAGE_BOX || last->kind == PAGE_DELETE || !is_latest_box(history, k))
            continue;
        text_printf(json, "%s{\"kind\":\"%s\",\"object\":%d,\"radius\":%g,\"points\":[", is_first ? "" : ",",
                    kinds[event->kind], event->object, event->radius);
        for (size_t i = 0; i < 2 * event->n_points; i++)
            text_printf(json, i ? ",%.1f" : "%.1f", event->points[i / 2][i % 2]);
        text_put(json, "]}");
        is_first = false;
    }
    text_put(json, "]");
}

/* Writes the open image as the page shows it. */
static enum clv_status put_document(struct text *json, const struct page_session *session, double ms,
                                    struct clv_error *err)
{
    const struct page_document *document = &session->document;
    const struct page_history *history = &document->history;
    char tag[PAGE_TAG_SIZE];
    page_session_tag_open(tag, session);
    text_printf(json,
                "{\"number\":%d,\"width\":%d,\"height\":%d,\"revision\":%d,\"accepted\":%s,\"undo\":%s,\"redo\":%s,"
                "\"ms\":%.1f,\"opening\":%lld,\"tag\":\"%s\",\"name\":",
                session->open, document->image.width, document->image.height, document->revision,
                history->is_accepted ? "true" : "false", history->cursor ? "true" : "false",
                history->cursor < history->n ? "true" : "false", ms, (long long)session->opening, tag);
    text_put_json(json, session->set.items[session->open].name);
    text_put(json, ",\"objects\":[");
    int32_t n_objects = page_document_n_objects(document), label = 0;
    bool is_first = true;
    for (int32_t object = 0; object < n_objects; object++) {
        struct clv_pixel_box box;
        if (!page_document_box(&box, &label, document, object))
            continue;
        text_printf(json, "%s{\"object\":%d,\"label\":%d,\"box\":[%d,%d,%d,%d]", is_first ? "" : ",", object, label,
                    box.first_x, box.first_y, box.end_x - box.first_x, box.end_y - box.first_y);
        if (page_document_is_framed(document, object) && page_document_frame(&box, document, object))
            text_printf(json, ",\"frame\":[%d,%d,%d,%d]", box.first_x, box.first_y, box.end_x, box.end_y);
        text_put(json, "}");
        is_first = false;
    }
    text_printf(json, "],\"next_object\":%d,\"strokes\":", n_objects);
    put_strokes(json, history);
    text_put(json, ",\"runs\":");
    MUST(put_objects(json, document, err));
    text_put(json, "}\n");
    return CLV_OK;
}

static void put_labels(struct text *json, const struct clv_labels *labels)
{
    bool is_first = true;
    text_put(json, "\"labels\":[");
    for (int32_t k = 0; k < labels->n_labels; k++) {
        if (!labels_have(labels, k))
            continue;
        text_printf(json, "%s{\"value\":%d,\"colour\":[%d,%d,%d],\"name\":", is_first ? "" : ",", k,
                    labels->palette[k][0], labels->palette[k][1], labels->palette[k][2]);
        text_put_json(json, labels->names[k]);
        text_put(json, "}");
        is_first = false;
    }
    text_put(json, "]");
}

static void put_training(struct text *json, const struct page_trainer *trainer)
{
    if (trainer)
        trainer->write_status(trainer->context, json);
    else
        text_put(json, "null");
}

static enum clv_status answer_state(struct page_response *response, struct page_session *session, struct clv_error *err)
{
    static const char *const statuses[] = {"new", "begun", "accepted", "empty"};
    struct text *json = &response->body;
    const struct page_trainer *trainer = session->options->trainer;
    if (trainer && trainer->count(trainer->context) != session->n_models) {
        session->n_models = trainer->count(trainer->context);
        MUST(page_session_use_model(session, err));
    }
    text_put(json, "{\"folder\":"); /* the absolute path: the page shows where labels are saved */
    text_put_json(json, session->folder);
    text_printf(json, ",\"has_model\":%s,\"model\":%d,", session->model.w ? "true" : "false", session->model_revision);
    put_labels(json, &session->set.labels);
    text_put(json, ",\"training\":");
    put_training(json, trainer);
    text_put(json, ",\"images\":[");
    for (size_t i = 0; i < session->set.n_items; i++) {
        const struct page_item *item = &session->items[i];
        text_printf(json, "%s\n{\"status\":\"%s\",\"expected\":%.4f,\"name\":", i ? "," : "",
                    item->is_unreadable ? "unreadable" : statuses[item->status],
                    page_ranking_expected_error(session->ranking, i));
        text_put_json(json, session->set.items[i].name);
        text_printf(json, ",\"rank\":%d}", item->rank);
    }
    text_put(json, "]}\n");
    return CLV_OK;
}

/* Sends as JPEG an image that browsers cannot show, or a TIFF page. */
static enum clv_status send_converted(struct page_response *response, const struct page_session *session,
                                      const struct clv_item *item, struct clv_error *err)
{
    OWNED(clv_image_release) struct clv_image image = {0};
    OWNED_ARRAY uint8_t *jpeg = NULL;
    size_t size = 0;
    MUST(item_image_read(&image, item, &session->limits, err));
    MUST(clv_jpeg_encode(&jpeg, &size, &image, JPEG_QUALITY, err));
    text_append(&response->body, jpeg, size);
    response->type = "image/jpeg";
    return CLV_OK;
}

static enum clv_status send_image(struct page_response *response, struct page_session *session, int32_t number,
                                  struct clv_error *err)
{
    const char *path = session->set.items[number].image;
    struct file_source file;
    unsigned char head[8] = {0};
    page_session_tag(response->tag, session, number); /* before the file is read */
    bool is_file = file_source_open(&file, path, NULL) == CLV_OK;
    bool is_long = is_file && file.size >= sizeof head && !file_source_read(head, &file, 0, sizeof head, NULL);
    bool is_png = is_long && memcmp(head, "\x89PNG\r\n\x1a\n", 8) == 0;
    if (is_png || (is_long && memcmp(head, "\xff\xd8\xff", 3) == 0)) {
        response->type = is_png ? "image/png" : "image/jpeg";
        response->file = fcntl(file.fd, F_DUPFD_CLOEXEC, 1);
        response->file_size = file.size;
    }
    if (is_file)
        file_source_close(&file);
    return response->file > 0 ? CLV_OK : send_converted(response, session, &session->set.items[number], err);
}

/* Checks that the image of a request has the name that its page shows. */
static enum clv_status check_photo(const struct page_session *session, int32_t number, const struct json_value *root,
                                   struct clv_error *err)
{
    const char *photo = NULL;
    FAIL_IF(!json_get_text(json_member(root, "photo"), &photo), CLV_ERR_USAGE, "the request does not name its photo");
    FAIL_IF(strcmp(photo, session->set.items[number].name) != 0, CLV_ERR_CREATE,
            "%s is not image %d of this folder; reload the page", photo, number + 1);
    return CLV_OK;
}

/* Checks that the image of a request is open, in the state that the page received last. */
static enum clv_status check_revision(const struct page_session *session, int32_t number, const struct json_value *root,
                                      struct clv_error *err)
{
    int64_t revision = -1, opening = -1;
    FAIL_IF(!json_get_int64(json_member(root, "revision"), &revision), CLV_ERR_USAGE, "the request has no revision");
    FAIL_IF(!json_get_int64(json_member(root, "opening"), &opening), CLV_ERR_USAGE, "the request has no opening");
    MUST(check_photo(session, number, root, err));
    FAIL_IF(session->open != number || opening != session->opening || revision != session->document.revision,
            CLV_ERR_CREATE, "this image was opened or changed in another window; open it again");
    return CLV_OK;
}

static enum clv_status check_folder(const struct page_session *session, const struct json_value *root,
                                    struct clv_error *err)
{
    const char *folder = NULL;
    FAIL_IF(!json_get_text(json_member(root, "folder"), &folder), CLV_ERR_USAGE,
            "the request does not name its folder");
    FAIL_IF(strcmp(folder, session->folder) != 0, CLV_ERR_CREATE, "the page is of another folder, %s; reload it",
            folder);
    return CLV_OK;
}

static enum clv_status check_label(const struct page_session *session, const struct json_value *root,
                                   struct clv_error *err)
{
    const char *label = NULL;
    int64_t value = -1;
    FAIL_IF(!json_get_text(json_member(root, "label"), &label), CLV_ERR_USAGE, "the request does not name its label");
    (void)json_get_int64(json_member(root, "value"), &value);
    FAIL_IF(!page_labels_have(session, value), CLV_ERR_USAGE, "there is no label %lld", (long long)value);
    FAIL_IF(strcmp(label, session->set.labels.names[value]) != 0, CLV_ERR_CREATE,
            "label %lld is %s and no longer %s; reload the page", (long long)value, session->set.labels.names[value],
            label);
    return CLV_OK;
}

/* Checks that the names in a request are those of the session. */
static enum clv_status check_names(const struct page_session *session, struct page_target target,
                                   const struct json_value *root, struct clv_error *err)
{
    switch (target.names) {
    case PAGE_NAMES_NOTHING:
        return target.number >= 0 && json_member(root, "photo") ? check_photo(session, target.number, root, err)
                                                                : CLV_OK;
    case PAGE_NAMES_PHOTO: return check_revision(session, target.number, root, err);
    case PAGE_NAMES_FOLDER: return check_folder(session, root, err);
    default: MUST(check_folder(session, root, err)); return check_label(session, root, err);
    }
}

/* The state to restore if a change cannot be saved. */
struct document_state {
    size_t cursor;
    int32_t revision;
    bool is_accepted;
};

static struct document_state state_of(const struct page_document *document)
{
    return (struct document_state){document->history.cursor, document->revision, document->history.is_accepted};
}

static void restore_state(struct page_document *document, const struct document_state *before)
{
    document->history.cursor = before->cursor;
    document->history.is_accepted = before->is_accepted;
    document->revision = before->revision;
}

static enum clv_status save_and_put(struct page_response *response, struct page_session *session, double started,
                                    struct clv_error *err)
{
    double ms = now_ms() - started;
    MUST(page_session_save(session, err));
    MUST(put_document(&response->body, session, ms, err));
    NEED(!response->body.failed);
    return CLV_OK;
}

/* Saves a change and writes the response. If that fails, the change is undone, and the next change saves all files
 * again. */
static enum clv_status save_and_answer(struct page_response *response, struct page_session *session, double started,
                                       const struct document_state *before, bool has_new_events, struct clv_error *err)
{
    struct page_document *document = &session->document;
    enum clv_status status = save_and_put(response, session, started, err);
    if (status && has_new_events)
        page_history_take_back(&document->history, before->cursor);
    if (status)
        restore_state(document, before);
    return status;
}

static enum clv_status open_image(struct page_response *response, struct page_session *session, int32_t number,
                                  struct clv_error *err)
{
    double started = now_ms();
    char tag[PAGE_TAG_SIZE], opened[PAGE_TAG_SIZE];
    page_session_tag(tag, session, number);
    page_session_tag_open(opened, session);
    if (session->open != number || strcmp(tag, opened) != 0)
        MUST(page_session_open(session, number, err));
    return put_document(&response->body, session, now_ms() - started, err);
}

static enum clv_status draw(struct page_response *response, struct page_session *session, const struct json_value *root,
                            struct clv_error *err)
{
    OWNED(page_event_release) struct page_event event = {0};
    double started = now_ms();
    struct document_state before = state_of(&session->document);
    MUST(page_event_parse(&event, root, "stroke", err));
    FAIL_IF(!page_labels_have(session, event.label), CLV_ERR_USAGE, "there is no label %d", event.label);
    int64_t other = page_document_n_objects(&session->document);
    FAIL_IF(event.kind == PAGE_MERGE &&
                (!json_get_int64(json_member(root, "other"), &other) || other < 0 || other >= PAGE_MAX_OBJECTS),
            CLV_ERR_USAGE, "the request has no other object");
    MUST(event.kind == PAGE_RELABEL ? page_document_relabel(&session->document, &event, err)
         : event.kind >= PAGE_MERGE ? page_document_regroup(&session->document, &event, (int32_t)other, err)
                                    : page_document_draw(&session->document, &event, err));
    return save_and_answer(response, session, started, &before, true, err);
}

/* Returns a label that an object has and the folder does not; 0 if none does. */
static int32_t missing_label(const struct page_session *session)
{
    struct clv_pixel_box box;
    int32_t label = 0, n_objects = page_document_n_objects(&session->document);
    for (int32_t object = 0; object < n_objects; object++)
        if (page_document_box(&box, &label, &session->document, object) && !page_labels_have(session, label))
            return label;
    return 0;
}

static enum clv_status step(struct page_response *response, struct page_session *session, int by, struct clv_error *err)
{
    double started = now_ms();
    struct document_state before = state_of(&session->document);
    FAIL_IF(!page_document_step(&session->document, by), CLV_ERR_USAGE, by < 0 ? "nothing to undo" : "nothing to redo");
    if (missing_label(session)) {
        restore_state(&session->document, &before);
        return fail(err, CLV_ERR_USAGE, "the label of that object was deleted, so it cannot come back");
    }
    return save_and_answer(response, session, started, &before, false, err);
}

/* Replaces labels of a prediction that the folder no longer has by background. */
static void drop_missing_labels(uint8_t *labels, const struct page_session *session)
{
    const struct clv_labels *known = &session->model.labels;
    bool is_missing[256] = {false};
    for (int32_t k = 1; k < CLV_VOID; k++)
        is_missing[k] = !page_labels_have(session, k) || (k < known->n_labels && !known->names[k][0]);
    for (size_t p = 0; p < page_document_size(&session->document); p++)
        labels[p] = is_missing[labels[p]] ? 0 : labels[p];
}

/* Predicts the open image: its objects, or one object per label if objects are not kept apart. */
static enum clv_status predict(struct clv_object_map *map, uint8_t *labels, const struct page_session *session,
                               struct clv_error *err)
{
    const struct clv_image *image = &session->document.image;
    FAIL_IF(!session->model.w, CLV_ERR_USAGE, "no model yet: train one");
    MUST(page_document_suggest(labels, &session->document, &session->model, err));
    drop_missing_labels(labels, session);
    if (session->keeps_objects)
        return clv_segment_objects(map, labels, &session->model, image, err);
    *map = (struct clv_object_map){.width = image->width, .height = image->height, .n_objects = CLV_VOID};
    map->objects = array_alloc((size_t)image->width, (size_t)image->height * sizeof *map->objects);
    map->labels = array_alloc(CLV_VOID, 1);
    NEED(map->objects && map->labels);
    for (size_t p = 0; p < page_document_size(&session->document); p++)
        map->objects[p] = labels[p] == CLV_VOID ? 0 : labels[p];
    for (int32_t k = 0; k < CLV_VOID; k++)
        map->labels[k] = (uint8_t)(k + 1);
    return CLV_OK;
}

/* Shows what the model predicts, without keeping it. */
static enum clv_status suggest(struct page_response *response, struct page_session *session, struct clv_error *err)
{
    OWNED(clv_object_map_release) struct clv_object_map map = {0};
    OWNED_ARRAY uint8_t *labels = array_alloc(page_document_size(&session->document), 1);
    NEED(labels);
    MUST(predict(&map, labels, session, err));
    text_put(&response->body, "{\"objects\":[");
    for (int32_t k = 0; k < map.n_objects; k++)
        text_printf(&response->body, "%s{\"object\":%d,\"label\":%d}", k ? "," : "", k, map.labels[k]);
    text_put(&response->body, "],\"runs\":");
    put_runs(&response->body, map.objects, page_document_size(&session->document));
    text_printf(&response->body, ",\"model\":%d}\n", session->model_revision);
    return CLV_OK;
}

/* Accepts the image; with "suggestion", as the model of that revision predicts it. "accepted": 0 withdraws the
 * acceptance. */
static enum clv_status accept(struct page_response *response, struct page_session *session,
                              const struct json_value *root, struct clv_error *err)
{
    double started = now_ms();
    struct document_state before = state_of(&session->document);
    int64_t is_suggestion = 0, is_accepted = 1;
    (void)json_get_int64(json_member(root, "suggestion"), &is_suggestion);
    (void)json_get_int64(json_member(root, "accepted"), &is_accepted);
    FAIL_IF(is_suggestion && !session->model.w, CLV_ERR_USAGE, "no model yet: train one");
    FAIL_IF(is_suggestion && is_suggestion != session->model_revision, CLV_ERR_CREATE,
            "the model has learned more meanwhile; look at its new suggestion");
    if (is_suggestion) {
        OWNED_ARRAY uint8_t *labels = array_alloc(page_document_size(&session->document), 1);
        OWNED(clv_object_map_release) struct clv_object_map map = {0};
        NEED(labels);
        MUST(predict(&map, labels, session, err));
        MUST(session->keeps_objects ? page_document_import_objects(&session->document, &map, err)
                                    : page_document_import(&session->document, labels, PAGE_SUGGESTION, err));
    }
    session->document.history.is_accepted = is_accepted != 0;
    session->document.revision++;
    return save_and_answer(response, session, started, &before, is_suggestion, err);
}

/* Opens the next image, with the propagated labels of this one as a step. */
static enum clv_status propagate(struct page_response *response, struct page_session *session, struct clv_error *err)
{
    OWNED(clv_object_map_release) struct clv_object_map map = {0};
    int32_t number = -1;
    double started = now_ms();
    MUST(page_propagate(&map, &number, session, err));
    MUST(page_session_open(session, number, err));
    struct document_state before = state_of(&session->document);
    MUST(page_document_import_objects(&session->document, &map, err));
    return save_and_answer(response, session, started, &before, true, err);
}

static enum clv_status train(struct page_response *response, struct page_session *session, struct clv_error *err)
{
    const struct page_trainer *trainer = session->options->trainer;
    OWNED(training_export_release) struct training_export export = {0};
    FAIL_IF(!trainer, CLV_ERR_USAGE, "training is not available in this session");
    FAIL_IF(trainer->is_busy(trainer->context), CLV_ERR_USAGE, "training is under way");
    MUST(training_export_write(&export, session, err));
    MUST(trainer->start(trainer->context, &export, err));
    put_training(&response->body, trainer);
    return CLV_OK;
}

static enum clv_status delete_label(struct page_response *response, struct page_session *session,
                                    const struct json_value *root, struct clv_error *err)
{
    int64_t value = -1;
    (void)json_get_int64(json_member(root, "value"), &value);
    MUST(page_labels_delete(session, value, err));
    return answer_state(response, session, err);
}

static enum clv_status name_label(struct page_response *response, struct page_session *session, bool is_new,
                                  const struct json_value *root, struct clv_error *err)
{
    const char *name = NULL;
    int64_t value = -1;
    FAIL_IF(!json_get_text(json_member(root, "name"), &name), CLV_ERR_USAGE, "the request has no name");
    (void)json_get_int64(json_member(root, "value"), &value);
    MUST(is_new ? page_labels_add(session, name, err) : page_labels_rename(session, value, name, err));
    return answer_state(response, session, err);
}

static enum clv_status answer(struct page_response *response, struct page_session *session, struct page_target target,
                              const struct json_value *root, struct clv_error *err)
{
    switch (target.route) {
    case PAGE_OPEN: return open_image(response, session, target.number, err);
    case PAGE_STROKE: return draw(response, session, root, err);
    case PAGE_UNDO: return step(response, session, -1, err);
    case PAGE_REDO: return step(response, session, 1, err);
    case PAGE_SUGGEST: return suggest(response, session, err);
    case PAGE_PROPAGATE: return propagate(response, session, err);
    case PAGE_ACCEPT: return accept(response, session, root, err);
    case PAGE_LABEL:
    case PAGE_RENAME: return name_label(response, session, target.route == PAGE_LABEL, root, err);
    case PAGE_DELETE_LABEL: return delete_label(response, session, root, err);
    case PAGE_TRAIN: return train(response, session, err);
    default:
        if (session->options->trainer)
            session->options->trainer->stop(session->options->trainer->context);
        put_training(&response->body, session->options->trainer);
        return CLV_OK;
    }
}

static enum clv_status post(struct page_response *response, struct page_session *session,
                            const struct page_request *request, struct page_target target, struct clv_error *err)
{
    OWNED(json_drop) struct json_value *root = NULL;
    MUST(json_parse(&root, request->body ? request->body : "", request->size, "request", err));
    MUST(check_names(session, target, root, err));
    return answer(response, session, target, root, err);
}

static enum clv_status get(struct page_response *response, struct page_session *session, struct page_target target,
                           struct clv_error *err)
{
    switch (target.route) {
    case PAGE_STATE: return answer_state(response, session, err);
    case PAGE_TRAINING: put_training(&response->body, session->options->trainer); return CLV_OK;
    default: return send_image(response, session, target.number, err);
    }
}

static void send_file(struct page_response *response, const struct page_session *session,
                      const struct page_request *request)
{
    const char *path = strcmp(request->path, "/") == 0 ? "/index.html" : request->path;
    if (request->token && path != request->path) { /* the redirect removes the token from the address bar */
        response->code = 303;
        response->location = "/";
        response->sets_cookie = true;
        return;
    }
    for (const struct page_file *file = session->options->files; file && file->path; file++)
        if (strcmp(file->path, path) == 0) {
            response->type = file->type;
            response->view = file->bytes;
            response->view_size = (size_t)(file->end - file->bytes);
            return;
        }
    put_error(response, 404, "not found");
}

void page_handle(struct page_response *response, struct page_session *session, const struct page_request *request)
{
    struct clv_error err = {0};
    const char *why = NULL;
    struct page_target target = page_route(request->path);
    *response = (struct page_response){.code = 200, .type = "application/json"};
    text_init(&response->body, MAX_ANSWER);
    int refused = page_refuses(&why, &session->options->access, request, target);
    if (!refused && target.number >= 0 && (size_t)target.number >= session->set.n_items && target.route >= PAGE_IMAGE &&
        target.route <= PAGE_ACCEPT) {
        refused = 404;
        why = "no such image";
    }
    if (refused) {
        put_error(response, refused, why);
        return;
    }
    if (target.route == PAGE_FILE) {
        send_file(response, session, request);
        return;
    }
    enum clv_status status =
        target.is_post ? post(response, session, request, target, &err) : get(response, session, target, &err);
    if (status == CLV_OK && response->body.failed)
        status = fail_memory(&err);
    if ((target.route == PAGE_OPEN || target.route == PAGE_IMAGE) &&
        (status == CLV_ERR_DATA || status == CLV_ERR_NO_INPUT))
        session->items[target.number].is_unreadable = true;
    if (target.route == PAGE_OPEN && status == CLV_OK)
        session->items[target.number].is_unreadable = false;
    if (status != CLV_OK)
        put_error(response, code_of(status), err.message);
}
