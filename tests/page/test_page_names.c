/* Names in requests: nothing is saved on a photo, or in a folder, that their page does not show. */
#include <sys/stat.h>
#include <unistd.h>

#include "page/small_page.h"

/* A request of every kind that changes something, as it would be right at revision 1 of a.png. */
static const char *const changes[][2] = {
    {"/api/stroke/0", BACKGROUND(1)},
    {"/api/stroke/0", "{\"revision\":1,\"kind\":\"box\",\"object\":1,\"label\":1,\"points\":[1,2,30,40]}"},
    {"/api/stroke/0", "{\"revision\":1,\"kind\":\"delete\",\"object\":0,\"label\":1}"},
    {"/api/stroke/0", "{\"revision\":1,\"kind\":\"relabel\",\"object\":0,\"label\":1}"},
    {"/api/undo/0", "{\"revision\":1}"},
    {"/api/redo/0", "{\"revision\":1}"},
    {"/api/accept/0", "{\"revision\":1}"},
    {"/api/accept/0", "{\"revision\":1,\"accepted\":0}"},
    {"/api/propagate/0", "{\"revision\":1}"},
    {"/api/suggest/0", "{\"revision\":1}"},
};
enum { N_CHANGES = sizeof changes / sizeof *changes };

/* The folder's saved files as one string, to free(). */
static char *saved(void)
{
    static const char *const files[] = {"strokes/a.json", "strokes/b.json", "boxes.tsv", "labels.tsv"};
    struct text text;
    text_init(&text, 1 << 20);
    for (int k = 0; k < 4; k++) {
        char *bytes = access(in_folder(files[k]), F_OK) ? strdup("-") : slurp(in_folder(files[k]), NULL);
        text_printf(&text, "%s\n", bytes);
        free(bytes);
    }
    char *all = strdup(text.bytes);
    text_release(&text);
    return all;
}

static struct page_session *drawn_session(void)
{
    struct page_session *session = fresh_session();
    free(opened(session, 0));
    free(answer(session, 200, "POST", "/api/stroke/0", FOREGROUND(0)));
    return session;
}

/* All changes with these names are refused with `code` and change nothing. */
static void expect_refused(struct page_session *session, int code, const char *photo, int64_t opening, const char *part)
{
    char *before = saved();
    for (int k = 0; k < N_CHANGES; k++) {
        char *body = strdup(
                 formatted("{\"photo\":\"%s\",\"opening\":%lld,%s", photo, (long long)opening, changes[k][1] + 1)),
             *text = answer_to(session, code, "POST", changes[k][0], body), *after = saved();
        ck_assert_msg(strstr(text, part) != NULL, "%s: \"%s\" is not in %s", changes[k][1], part, text);
        ck_assert_str_eq(after, before);
        free(body);
        free(text);
        free(after);
    }
    free(before);
}

TEST(a_request_that_does_not_name_its_photo_is_refused)
{
    struct page_session *session = drawn_session();
    for (int k = 0; k < N_CHANGES; k++) {
        free(answer_to(session, 400, "POST", changes[k][0], changes[k][1]));
        free(answer_to(session, 400, "POST", changes[k][0], "{\"photo\":\"a.png\",\"revision\":1}"));
        free(answer_to(session, 400, "POST", changes[k][0],
                       formatted("{\"photo\":\"a.png\",\"opening\":%lld}", (long long)session->opening)));
    }
    page_session_free(session);
}

TEST(what_was_drawn_on_another_photo_is_saved_on_none)
{
    struct page_session *session = drawn_session();
    expect_refused(session, 409, "b.png", session->opening, "b.png is not image 1 of this folder");
    page_session_free(session);
}

/* Two tabs: both have seen revision 1 of a.png, but not the same one. */
TEST(a_revision_of_an_earlier_opening_is_another_one)
{
    struct page_session *session = drawn_session();
    int64_t opening = session->opening;
    free(opened(session, 1));
    expect_refused(session, 409, "a.png", opening, "in another window");
    free(opened(session, 0));
    free(answer(session, 200, "POST", "/api/stroke/0", FAR(0)));
    ck_assert_int_eq(session->document.revision, 1);
    expect_refused(session, 409, "a.png", opening, "in another window");
    page_session_free(session);
}

TEST(no_opening_of_one_server_is_one_of_another)
{
    struct page_session *session = drawn_session();
    int64_t opening = session->opening;
    page_session_free(session);
    session = open_session();
    free(opened(session, 0));
    ck_assert(session->opening > 0 && session->opening < (int64_t)1 << 53);
    free(answer(session, 200, "POST", "/api/accept/0", "{\"revision\":0}"));
    expect_refused(session, 409, "a.png", opening, "in another window");
    page_session_free(session);
}

/* Images that came since the start of the server are before others after the next one. */
TEST(a_number_that_is_another_photo_now_opens_none)
{
    page_session_free(drawn_session());
    put_image("0.png");
    struct page_session *session = open_session();
    free(answer_to(session, 409, "POST", "/api/open/0", "{\"photo\":\"a.png\"}"));
    ck_assert_int_eq(session->open, -1);
    free(answer_to(session, 200, "POST", "/api/open/1", "{\"photo\":\"a.png\"}"));
    free(answer_to(session, 200, "POST", "/api/open/0", "{}"));
    page_session_free(session);
}

TEST(what_changes_a_folder_names_it_and_what_changes_a_label_names_that)
{
    static const char *const folder_changes[][2] = {
        {"/api/label", "\"name\":\"sky\""},
        {"/api/rename", "\"value\":1,\"label\":\"foreground\",\"name\":\"cow\""},
        {"/api/delete-label", "\"value\":1,\"label\":\"foreground\""},
        {"/api/train", "\"a\":1"},
        {"/api/stop", "\"a\":1"}};
    struct page_session *session = drawn_session();
    char *before = saved();
    for (size_t k = 0; k < sizeof folder_changes / sizeof *folder_changes; k++) {
        free(answer_to(session, 400, "POST", folder_changes[k][0], formatted("{%s}", folder_changes[k][1])));
        free(answer_to(session, 409, "POST", folder_changes[k][0],
                       formatted("{\"folder\":\"/elsewhere\",%s}", folder_changes[k][1])));
    }
    expect(session, 409, "POST", "/api/rename", "{\"value\":1,\"label\":\"horse\",\"name\":\"cow\"}",
           "label 1 is foreground and no longer horse");
    expect(session, 409, "POST", "/api/delete-label", "{\"value\":1,\"label\":\"horse\"}", "no longer horse");
    char *after = saved();
    ck_assert_str_eq(after, before);
    ck_assert_int_eq(n_stops, 0);
    page_session_free(session);
    free(before);
    free(after);
}

/* No route that is posted to is without a rule, but the one that changes no file. */
TEST(every_route_that_changes_something_has_names)
{
    static const char *const routes[] = {"stroke/0", "undo/0", "redo/0",       "accept/0", "propagate/0", "suggest/0",
                                         "label",    "rename", "delete-label", "train",    "stop"};
    for (size_t k = 0; k < sizeof routes / sizeof *routes; k++) {
        struct page_target target = page_route(formatted("/api/%s", routes[k]));
        ck_assert_msg(target.is_post && target.names != PAGE_NAMES_NOTHING, "%s", routes[k]);
    }
    ck_assert_int_eq(page_route("/api/open/0").names, PAGE_NAMES_NOTHING);
}

TEST(a_photo_that_another_program_replaced_takes_no_labels_of_the_one_before)
{
    struct page_session *session = drawn_session();
    char *before = saved();
    ck_assert_int_eq(unlink(in_folder("a.png")), 0);
    put_image("a.png");
    expect(session, 409, "POST", "/api/stroke/0", BACKGROUND(1), "a.png was changed meanwhile");
    char *after = saved();
    ck_assert_str_eq(after, before);
    free(opened(session, 0));
    free(answer(session, 200, "POST", "/api/stroke/0", BACKGROUND(0)));
    page_session_free(session);
    free(before);
    free(after);
}

/* The second of two requests to accept is of a revision that is gone. */
TEST(accepting_twice_accepts_once)
{
    struct page_session *session = drawn_session();
    char *body = with_names(session, "/api/accept/0", "{\"revision\":1}");
    free(answer_to(session, 200, "POST", "/api/accept/0", body));
    free(answer_to(session, 409, "POST", "/api/accept/0", body));
    page_session_free(session);
    free(body);
}

/* The tag of an image's answer, to free(). */
static char *tag_of_image(struct page_session *session)
{
    struct page_response response;
    struct page_request request = {.method = "GET",
                                   .path = "/api/image/0",
                                   .host = "127.0.0.1:1",
                                   .cookie = "cleave-1=0123456789abcdef0123456789abcdef"};
    page_handle(&response, session, &request);
    ck_assert_int_eq(response.code, 200);
    ck_assert_int_gt(strlen(response.tag), 10);
    char *tag = strdup(formatted("\"tag\":\"%s\"", response.tag));
    page_response_release(&response);
    return tag;
}

/* The page compares both before it shows a picture with the labels of another. */
TEST(a_picture_and_an_opening_tell_which_file_they_are_of)
{
    struct page_session *session = fresh_session();
    char *before = tag_of_image(session);
    expect_open(session, 200, 0, before);
    expect_open(session, 200, 0, before);
    ck_assert_int_eq(unlink(in_folder("a.png")), 0);
    put_image("a.png"); /* after the picture was sent */
    char *text = opened(session, 0), *after = tag_of_image(session);
    ck_assert_ptr_null(strstr(text, before));
    ck_assert_ptr_nonnull(strstr(text, after));
    free(answer(session, 200, "POST", "/api/stroke/0", FOREGROUND(0)));
    page_session_free(session);
    free(before);
    free(text);
    free(after);
}
