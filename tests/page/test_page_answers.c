/* What requests are answered: images, the page's files, trainings, and what is said when there is no memory. */
#include <unistd.h>

#include "base/array.h"
#include "page/small_page.h"

/* The body of an answer as an image; its type has to be as expected. */
static struct clv_image answered_image(struct page_session *session, const char *path, const char *type)
{
    struct page_response response;
    struct clv_image image = {0};
    struct page_request request = {
        .method = "GET", .path = path, .host = "127.0.0.1:1", .cookie = "cleave-1=0123456789abcdef0123456789abcdef"};
    page_handle(&response, session, &request);
    ck_assert_int_eq(response.code, 200);
    ck_assert_str_eq(response.type, type);
    must(clv_image_decode(&image, response.body.bytes, response.body.size, NULL, err));
    page_response_release(&response);
    return image;
}

START_TEST(images_that_browsers_do_not_know_are_sent_as_jpeg)
{
    struct clv_image picture = {0}, sent;
    ck_assert_int_eq(mkdir(formatted("%s/set", temporary_folder()), 0777), 0);
    put_picture("a.png");
    must(clv_image_read(&picture, in_folder("a.png"), NULL, err));
    must(clv_jpeg_write(in_folder("b.jpg"), &picture, 80, err));
    FILE *stream = fopen(in_folder("c.ppm"), "wb");
    ck_assert_ptr_nonnull(stream);
    fprintf(stream, "P6 %d %d 255\n", WIDTH, HEIGHT);
    fwrite(picture.pixels, 3, WIDTH * HEIGHT, stream);
    ck_assert_int_eq(fclose(stream), 0);
    struct page_session *session = open_session();
    size_t size = 0;
    char *file = slurp(in_folder("b.jpg"), &size);
    struct page_response response;
    struct page_request request = {.method = "GET",
                                   .path = "/api/image/1",
                                   .host = "127.0.0.1:1",
                                   .cookie = "cleave-1=0123456789abcdef0123456789abcdef"};
    page_handle(&response, session, &request); /* the file itself */
    ck_assert_uint_eq(response.body.size, size);
    ck_assert_mem_eq(response.body.bytes, file, size);
    page_response_release(&response);
    for (int i = 0; i < 3; i += 2) {
        sent = answered_image(session, formatted("/api/image/%d", i), i ? "image/jpeg" : "image/png");
        ck_assert(sent.width == WIDTH && sent.height == HEIGHT);
        for (int k = 0; k < 3 * WIDTH * HEIGHT; k++)
            ck_assert_int_le(abs(sent.pixels[k] - picture.pixels[k]), i ? 90 : 0);
        for (int c = 0; c < 3; c++) /* far from edges nearly as they were */
            ck_assert_int_le(abs(sent.pixels[3 * (30 * WIDTH + 45) + c] - picture.pixels[3 * (30 * WIDTH + 45) + c]),
                             3);
        clv_image_release(&sent);
    }
    unlink(in_folder("c.ppm"));
    expect(session, 404, "GET", "/api/image/2", NULL, "c.ppm");
    page_session_free(session);
    clv_image_release(&picture);
    free(file);
}
END_TEST

START_TEST(the_link_sets_the_cookie_and_files_follow)
{
    static const unsigned char script[] = "let a;";
    static const struct page_file files[] = {
        {"/index.html", "text/html", script, script + 1}, {"/main.js", "text/javascript", script, script + 6}, {0}};
    struct page_session *session = fresh_session();
    struct page_response response;
    options.files = files;
    struct page_request request = {
        .method = "GET", .path = "/", .host = "127.0.0.1:1", .token = "0123456789abcdef0123456789abcdef"};
    page_handle(&response, session, &request);
    ck_assert_int_eq(response.code, 303);
    ck_assert_str_eq(response.location, "/");
    ck_assert(response.sets_cookie);
    page_response_release(&response);
    request = (struct page_request){.method = "GET",
                                    .path = "/main.js",
                                    .host = "127.0.0.1:1",
                                    .cookie = "cleave-1=0123456789abcdef0123456789abcdef"};
    page_handle(&response, session, &request);
    ck_assert_int_eq(response.code, 200);
    ck_assert(!response.sets_cookie && !response.location);
    ck_assert_str_eq(response.type, "text/javascript");
    ck_assert_ptr_eq(response.view, script);
    ck_assert_uint_eq(response.view_size, 6);
    page_response_release(&response);
    request.path = "/";
    page_handle(&response, session, &request);
    ck_assert_str_eq(response.type, "text/html");
    page_response_release(&response);
    page_session_free(session);
}
END_TEST

START_TEST(a_training_can_be_stopped_and_need_not_be_there)
{
    struct page_session *session = fresh_session();
    expect(session, 200, "POST", "/api/stop", "{}", "\"running\":false");
    ck_assert_int_eq(n_stops, 1);
    expect(session, 200, "GET", "/api/training", NULL, "\"running\":false");
    options.trainer = NULL;
    expect(session, 400, "POST", "/api/train", "{}", "nobody to train");
    expect(session, 200, "POST", "/api/stop", "{}", "null");
    expect(session, 200, "GET", "/api/state", NULL, "\"training\":null");
    expect(session, 400, "POST", "/api/label", "{}", "no name");
    page_session_free(session);
}
END_TEST

/* The next request is answered as if the failed one had never come. */
START_TEST(requests_that_find_no_memory_change_nothing)
{
    struct page_session *session = fresh_session();
    free(answer(session, 200, "GET", "/api/open/0", NULL));
    free(answer(session, 200, "POST", "/api/stroke/0", FIGURE(0)));
    char *before = answer(session, 200, "GET", "/api/open/0", NULL), *runs = runs_of(before);
    char *strokes = slurp(in_folder("strokes/a.json"), NULL);
    static const char *const paths[] = {"/api/stroke/0", "/api/label", "/api/train", "/api/state", "/api/image/0"};
    static const char *const posts[] = {GROUND(1), "{\"name\":\"sky\"}", "{}", NULL, NULL};
    for (size_t k = 0; k < sizeof paths / sizeof *paths; k++)
        for (size_t request = 1, is_done = 0; !is_done; request++) {
            struct page_response response;
            /* A failed stroke counts as a change, which is undone. */
            char *now = answer(session, 200, "GET", "/api/open/0", NULL), *revision = strstr(now, "\"revision\":");
            const char *body = posts[k];
            if (k == 0)
                body =
                    formatted("{\"revision\":%ld,%s", strtol(revision + 11, NULL, 10), strstr(GROUND(1), "\"kind\""));
            struct page_request asked = {.method = body ? "POST" : "GET",
                                         .path = paths[k],
                                         .host = "127.0.0.1:1",
                                         .origin = "http://127.0.0.1:1",
                                         .cookie = "cleave-1=0123456789abcdef0123456789abcdef",
                                         .body = body,
                                         .size = body ? strlen(body) : 0};
            array_fail_request(request);
            page_handle(&response, session, &asked);
            array_fail_request(0);
            is_done = response.code != 500;
            ck_assert_msg(is_done || strstr(response.body.bytes, "out of memory"), "%s: %zu: %d %s", paths[k], request,
                          response.code, response.body.bytes);
            page_response_release(&response);
            free(now);
            if (!is_done && k == 0) {
                char *after = answer(session, 200, "GET", "/api/open/0", NULL), *after_runs = runs_of(after);
                ck_assert_str_eq(after_runs, runs);
                free(after);
                free(after_runs);
            }
            ck_assert_uint_lt(request, 5000);
        }
    page_session_free(session);
    free(before);
    free(runs);
    free(strokes);
}
END_TEST

Suite *page_answers_suite(void)
{
    Suite *suite = suite_create("page_answers");
    TCase *tcase = tcase_create("page_answers");
    tcase_add_test(tcase, images_that_browsers_do_not_know_are_sent_as_jpeg);
    tcase_add_test(tcase, the_link_sets_the_cookie_and_files_follow);
    tcase_add_test(tcase, a_training_can_be_stopped_and_need_not_be_there);
    tcase_add_test(tcase, requests_that_find_no_memory_change_nothing);
    suite_add_tcase(suite, tcase);
    return suite;
}
