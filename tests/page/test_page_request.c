#include <string.h>

#include "page/page.h"
#include "support/support.h"

static const struct page_access access_of = {.token = "0123456789abcdef0123456789abcdef",
                                             .cookie = "cleave-8000",
                                             .hosts = {"127.0.0.1:8000", "localhost:8000"}};
#define COOKIE "cleave-8000=0123456789abcdef0123456789abcdef"

static int refused(struct page_request request)
{
    const char *why = NULL;
    return page_refuses(&why, &access_of, &request, page_route(request.path));
}

/* A good one of each method. */
static struct page_request good_get(const char *path)
{
    return (struct page_request){.method = "GET", .path = path, .host = "127.0.0.1:8000", .cookie = COOKIE};
}

static struct page_request good_post(const char *path)
{
    struct page_request request = good_get(path);
    request.method = "POST";
    request.origin = "http://127.0.0.1:8000";
    return request;
}

TEST(good_requests_pass)
{
    ck_assert_int_eq(refused(good_get("/")), 0);
    ck_assert_int_eq(refused(good_get("/main.js")), 0);
    ck_assert_int_eq(refused(good_post("/api/open/3")), 0);
    ck_assert_int_eq(refused(good_post("/api/stroke/3")), 0);
}

TEST(hosts_of_others_are_refused_whatever_else_is_right)
{
    const char *const hosts[] = {"evil.example", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:8000.evil.example", "", NULL};
    for (size_t k = 0; k < sizeof hosts / sizeof *hosts; k++) {
        struct page_request request = good_get("/");
        request.host = hosts[k];
        ck_assert_int_eq(refused(request), 421);
    }
}

TEST(other_pages_may_not_post)
{
    const char *const origins[] = {"http://evil.example", "https://127.0.0.1:8000", "null", "http://127.0.0.1:8001",
                                   NULL};
    for (size_t k = 0; k < sizeof origins / sizeof *origins; k++) {
        struct page_request request = good_post("/api/stroke/0");
        request.origin = origins[k];
        ck_assert_int_eq(refused(request), 403);
    }
}

TEST(what_other_pages_ask_for_is_refused_and_what_the_own_asks_for_is_not)
{
    struct page_request request = good_get("/api/state");
    request.origin = "http://evil.example";
    ck_assert_int_eq(refused(request), 403);
    request.origin = "http://localhost:8000";
    ck_assert_int_eq(refused(request), 0);
    request.host = "localhost:8000";
    ck_assert_int_eq(refused(request), 0);
}

TEST(a_token_matches_as_a_whole)
{
    const char *token = "0123456789abcdef0123456789abcdef";
    ck_assert(page_token_matches(token, token, 32));
    ck_assert(!page_token_matches(token, token, 31));
    ck_assert(!page_token_matches(token, "0123456789abcdef0123456789abcdef0", 33));
    ck_assert(!page_token_matches(token, "", 0));
    for (int k = 0; k < 32; k++) {
        char other[33];
        memcpy(other, token, 33);
        other[k] ^= 1;
        ck_assert(!page_token_matches(token, other, 32));
    }
}

TEST(paths_lead_where_they_say)
{
    static const struct {
        const char *path;
        enum page_route route;
        bool is_post;
        int32_t number;
    } good[] = {{"/", PAGE_FILE, false, -1},
                {"/apis", PAGE_FILE, false, -1},
                {"/api/state", PAGE_STATE, false, 0},
                {"/api/training", PAGE_TRAINING, false, 0},
                {"/api/image/12345678", PAGE_IMAGE, false, 12345678},
                {"/api/stroke/90", PAGE_STROKE, true, 90},
                {"/api/undo/1", PAGE_UNDO, true, 1},
                {"/api/redo/2", PAGE_REDO, true, 2},
                {"/api/suggest/0", PAGE_SUGGEST, true, 0},
                {"/api/accept/3", PAGE_ACCEPT, true, 3},
                {"/api/label", PAGE_LABEL, true, 0},
                {"/api/rename", PAGE_RENAME, true, 0},
                {"/api/train", PAGE_TRAIN, true, 0},
                {"/api/stop", PAGE_STOP, true, 0}};
    for (size_t k = 0; k < sizeof good / sizeof *good; k++) {
        struct page_target target = page_route(good[k].path);
        ck_assert_msg(target.route == good[k].route && target.is_post == good[k].is_post &&
                          target.number == good[k].number,
                      "%s", good[k].path);
    }
    ck_assert_int_eq(page_route("/api/image/:").route, PAGE_NO_ROUTE);
    ck_assert_int_eq(page_route("/api/image//").route, PAGE_NO_ROUTE);
}

TEST(nobody_gets_in_without_the_token)
{
    const char *const cookies[] = {NULL,
                                   "",
                                   "cleave-8000=",
                                   "cleave-8000=0123456789abcdef0123456789abcdee",
                                   "cleave-8000=0123456789abcdef0123456789abcdef0",
                                   "xcleave-8000=0123456789abcdef0123456789abcdef",
                                   "cleave-8001=0123456789abcdef0123456789abcdef"};
    for (size_t k = 0; k < sizeof cookies / sizeof *cookies; k++) {
        struct page_request request = good_get("/api/state");
        request.cookie = cookies[k];
        ck_assert_int_eq(refused(request), 403);
    }
    struct page_request with_others = good_get("/api/state");
    with_others.cookie = "a=1; " COOKIE "; b=2";
    ck_assert_int_eq(refused(with_others), 0);
}

TEST(the_link_opens_the_page_and_nothing_else)
{
    struct page_request request = good_get("/");
    request.cookie = NULL;
    request.token = access_of.token;
    ck_assert_int_eq(refused(request), 0);
    request.token = "0123456789abcdef0123456789abcdee";
    ck_assert_int_eq(refused(request), 403);
    request.token = access_of.token;
    request.path = "/api/state";
    ck_assert_int_eq(refused(request), 403);
    request.path = "/main.js";
    ck_assert_int_eq(refused(request), 403);
    request.path = "/";
    request.method = "POST";
    request.origin = "http://127.0.0.1:8000";
    ck_assert_int_eq(refused(request), 403);
}

TEST(methods_paths_and_sizes_are_bounded)
{
    struct page_request request = good_get("/api/state");
    request.method = "DELETE";
    ck_assert_int_eq(refused(request), 405);
    ck_assert_int_eq(refused(good_get("/api/stroke/0")), 405);
    ck_assert_int_eq(refused(good_post("/api/state")), 405);
    ck_assert_int_eq(refused(good_get("/api/open/0")), 405); /* it changes what is open */
    request = good_post("/api/stroke/0");
    request.size = PAGE_MAX_BODY;
    ck_assert_int_eq(refused(request), 0);
    request.size = PAGE_MAX_BODY + 1;
    ck_assert_int_eq(refused(request), 413);
    const char *const paths[] = {"/api/",        "/api/nothing",    "/api/open/",   "/api/open/../../etc/passwd",
                                 "/api/open/-1", "/api/open/1x",    "/api/state/1", "/api/open/123456789",
                                 "/api/image/",  "/api/image/%2e.", "/api/statex"};
    for (size_t k = 0; k < sizeof paths / sizeof *paths; k++)
        ck_assert_msg(refused(good_get(paths[k])) == 404, "%s", paths[k]);
}
