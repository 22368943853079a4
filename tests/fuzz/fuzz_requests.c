/* Requests to `cleave label`: the first lines are method, path, host, origin, cookie and token ("-": absent), the rest
 * is the body. */
#include <string.h>

#include "base/base.h"
#include "fuzz/fuzz.h"
#include "page/page.h"

enum { WIDTH = 5, HEIGHT = 4, N_LINES = 6 };

static const struct page_access access_of = {
    .token = "0123456789abcdef0123456789abcdef", .cookie = "cleave-1", .hosts = {"127.0.0.1:1", "localhost:1"}};

/* Who is let in has the right host, and the token by cookie or, for the page itself, in the link. */
static void check_access(const struct page_request *request)
{
    const char *why = NULL;
    struct page_target target = page_route(request->path);
    int refused = page_refuses(&why, &access_of, request, target);
    FUZZ_CHECK(refused == 0 || (refused >= 400 && refused < 500 && why));
    FUZZ_CHECK(target.number >= -1 && target.number <= 99999999);
    if (refused)
        return;
    FUZZ_CHECK(request->host && (!strcmp(request->host, "127.0.0.1:1") || !strcmp(request->host, "localhost:1")));
    FUZZ_CHECK(target.route != PAGE_NO_ROUTE);
    FUZZ_CHECK((request->cookie && strstr(request->cookie, access_of.token)) ||
               (!strcmp(request->path, "/") && request->token && !strcmp(request->token, access_of.token)));
    if (!strcmp(request->method, "POST"))
        FUZZ_CHECK(request->origin && !strncmp(request->origin, "http://", 7));
}

/* A body as a stroke, and as a file of strokes: what is read is in range. */
static void check_body(const char *body, size_t size)
{
    OWNED(json_drop) struct json_value *root = NULL;
    OWNED(page_event_release) struct page_event event = {0};
    OWNED(page_history_release) struct page_history history = {0};
    if (json_parse(&root, body, size, "request", NULL) == CLV_OK &&
        page_event_parse(&event, root, "stroke", NULL) == CLV_OK) {
        FUZZ_CHECK(event.object >= 0 && event.object < PAGE_MAX_OBJECTS && event.label >= 1 && event.label <= 254);
        FUZZ_CHECK(event.radius >= 0 && event.radius <= PAGE_MAX_RADIUS && event.n_points <= PAGE_MAX_POINTS);
        for (size_t k = 0; k < event.n_points; k++)
            FUZZ_CHECK(event.points[k][0] >= -1e6 && event.points[k][1] <= 1e6);
    }
    if (page_history_parse(&history, body, size, "strokes", WIDTH, HEIGHT, NULL) == CLV_OK) {
        uint8_t labels[WIDTH * HEIGHT] = {0};
        OWNED(text_release) struct text text = {0};
        FUZZ_CHECK(history.cursor <= history.n);
        for (size_t k = 0; k < history.n; k++)
            page_runs_paint(labels, &history.events[k].result, 1);
        text_init(&text, 1 << 22);
        page_history_put(&text, &history, WIDTH, HEIGHT);
    }
}

FUZZ_TARGET(requests)
{
    OWNED_ARRAY char *text = array_alloc(size + 1, 1);
    char *lines[N_LINES], *cursor = text;
    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = 0;
    size_t n = 0;
    for (char *line; n < N_LINES && (line = line_next(&cursor, text + size));)
        lines[n++] = line;
    if (n == N_LINES) {
        for (size_t k = 2; k < N_LINES; k++)
            lines[k] = strcmp(lines[k], "-") == 0 ? NULL : lines[k];
        size_t left = (size_t)(text + size - cursor);
        check_access(&(struct page_request){.method = lines[0],
                                            .path = lines[1],
                                            .host = lines[2],
                                            .origin = lines[3],
                                            .cookie = lines[4],
                                            .token = lines[5],
                                            .body = cursor,
                                            .size = left});
        check_body(cursor, left);
    }
    return 0;
}
