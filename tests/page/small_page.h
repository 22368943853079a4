/* A folder of small images, its session and requests to it, without network and browser. */
#ifndef TESTS_SMALL_PAGE_H
#define TESTS_SMALL_PAGE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "page/page.h"
#include "support/support.h"

enum { WIDTH = 90, HEIGHT = 60 };

static struct page_options options;

DROPS(session_drop, struct page_session, page_session_free)

/* A trainer that learns nothing. */
static char started[4096]; /* what it was given */
static int n_stops;
static bool is_training;
static int32_t n_models; /* that it says it has made */

static inline enum clv_status start(void *context, const struct training_export *export, struct clv_error *err)
{
    (void)context;
    (void)err;
    OWNED_ARRAY char *manifest = slurp(export->only ? export->only : export->data, NULL),
                     *boxes = export->boxes ? slurp(export->boxes, NULL) : NULL;
    snprintf(started, sizeof started, "%s%s", manifest, boxes ? boxes : "");
    return CLV_OK;
}
static inline bool is_busy(void *context)
{
    (void)context;
    return is_training;
}
static inline void stop(void *context)
{
    (void)context;
    n_stops++;
}
static inline void write_status(void *context, struct text *json)
{
    (void)context;
    text_put(json, "{\"running\":false,\"models\":0}");
}
static inline int32_t count(void *context)
{
    (void)context;
    return n_models;
}
static const struct page_trainer trainer = {NULL, start, is_busy, stop, write_status, count};

static inline const char *in_folder(const char *name)
{
    return here("set/%s", name);
}

/* An orange square in the middle of blue. */
static inline void put_image(const char *name)
{
    OWNED(clv_image_release) struct clv_image image = {0};
    must(clv_image_new(&image, WIDTH, HEIGHT, 3, err));
    for (int p = 0; p < WIDTH * HEIGHT; p++) {
        bool is_foreground = abs(p % WIDTH - 45) < 18 && abs(p / WIDTH - 30) < 18;
        const uint8_t colour[2][3] = {{60, 90, 150}, {200, 120, 40}};
        memcpy(image.pixels + 3 * p, colour[is_foreground], 3);
    }
    must(clv_png_write(in_folder(name), &image, err));
}

static inline void choose_options(void)
{
    static char folder[4096], model[4200];
    snprintf(folder, sizeof folder, "%s", here("set"));
    snprintf(model, sizeof model, "%s/label.cleave", folder);
    options = (struct page_options){
        .folder = folder,
        .model = model,
        .access = {.token = "0123456789abcdef0123456789abcdef", .cookie = "cleave-1", .hosts = {"127.0.0.1:1"}},
        .trainer = &trainer};
}

static inline struct page_session *open_session(void)
{
    struct page_session *session = NULL;
    choose_options();
    must(page_session_new(&session, &options, err));
    return session;
}

static inline struct page_session *fresh_session(void)
{
    ck_assert_int_eq(mkdir(here("set"), 0777), 0);
    put_image("a.png");
    put_image("b.png");
    return open_session();
}

/* Adds the names that the page sends with each request, as the session has them now. To free(). */
static inline char *with_names(const struct page_session *session, const char *path, const char *body)
{
    const struct page_target target = page_route(path);
    bool has_item = target.number >= 0 && (size_t)target.number < session->set.n_items;
    if (!body || body[0] != '{' || target.names == PAGE_NAMES_NOTHING ||
        (target.names == PAGE_NAMES_PHOTO && !has_item))
        return body ? strdup(body) : NULL;
    const char *comma = body[1] == '}' ? "" : ",";
    OWNED(text_release) struct text text = {0};
    text_init(&text, 1 << 20);
    text_put(&text, target.names == PAGE_NAMES_PHOTO ? "{\"photo\":" : "{\"folder\":");
    text_put_json(&text, target.names == PAGE_NAMES_PHOTO ? session->set.items[target.number].name : session->folder);
    if (target.names == PAGE_NAMES_PHOTO)
        text_printf(&text, ",\"opening\":%lld", (long long)session->opening);
    text_printf(&text, "%s%s", comma, body + 1);
    return strdup(text.bytes);
}

/* The answer's body, to free(); its code has to be as expected. The request has `body` and nothing else. */
static inline char *answer_to(struct page_session *session, int code, const char *method, const char *path,
                              const char *body)
{
    OWNED(page_response_release) struct page_response response = {0};
    struct page_request request = {.method = method,
                                   .path = path,
                                   .host = "127.0.0.1:1",
                                   .origin = "http://127.0.0.1:1",
                                   .cookie = "cleave-1=0123456789abcdef0123456789abcdef",
                                   .body = body,
                                   .size = body ? strlen(body) : 0};
    page_handle(&response, session, &request);
    char *text = strdup(response.body.bytes ? response.body.bytes : "");
    ck_assert_msg(response.code == code, "%s %s: %d %s", method, path, response.code, text);
    return text;
}

/* The same with the names that the page adds. */
static inline char *answer(struct page_session *session, int code, const char *method, const char *path,
                           const char *body)
{
    OWNED_ARRAY char *named = with_names(session, path, body);
    char *text = answer_to(session, code, method, path, named);
    return text;
}

static inline void expect(struct page_session *session, int code, const char *method, const char *path,
                          const char *body, const char *part)
{
    OWNED_ARRAY char *text = answer(session, code, method, path, body);
    ck_assert_msg(strstr(text, part) != NULL, "\"%s\" is not in %s", part, text);
}

/* The same for opening an image. */
static inline char *opened(struct page_session *session, int number)
{
    return answer(session, 200, "POST", formatted("/api/open/%d", number), "{}");
}

static inline void expect_open(struct page_session *session, int code, int number, const char *part)
{
    expect(session, code, "POST", formatted("/api/open/%d", number), "{}", part);
}

/* Cuts out of an answer how long it took. */
static inline char *without_time(char *text)
{
    char *from = strstr(text, ",\"ms\":"), *to = strstr(text, ",\"name\":");
    ck_assert(from && to && from < to);
    memmove(from, to, strlen(to) + 1);
    return text;
}

static inline char *runs_of(const char *text)
{
    const char *runs = strstr(text, "\"runs\":");
    ck_assert_ptr_nonnull(runs);
    return strdup(runs);
}

#define FOREGROUND(revision)                                                                                           \
    "{\"revision\":" #revision ",\"kind\":\"foreground\",\"object\":0,\"label\":1,\"radius\":3,\"points\":[45,30]}"
#define BACKGROUND(revision)                                                                                           \
    "{\"revision\":" #revision ",\"kind\":\"background\",\"object\":0,\"label\":1,\"radius\":3,\"points\":[5,5]}"

#define FAR(revision)                                                                                                  \
    "{\"revision\":" #revision ",\"kind\":\"foreground\",\"object\":1,\"label\":1,\"radius\":3,\"points\":[5,5]}"

/* A strokes file, and a stroke in it. */
#define STROKES(cursor, strokes)                                                                                       \
    "{\"width\":90,\"height\":60,\"accepted\":0,\"cursor\":" cursor ",\"strokes\":[" strokes "]}"
#define STROKE(kind, object, label, radius, mask)                                                                      \
    "{\"kind\":\"" kind "\",\"object\":" object ",\"label\":" label ",\"radius\":" radius                              \
    ",\"points\":[5,5],\"mask\":" mask "}"

#endif
