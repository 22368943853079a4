/* What requests are answered: images, the page's files, trainings, and what is said when there is no memory. */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "page/small_page.h"

/* What an answer that is a file has, to free(). */
static char *bytes_of(const struct page_response *response)
{
    ck_assert_int_gt(response->file, 0);
    ck_assert_uint_eq(response->body.size, 0);
    char *bytes = malloc(response->file_size + 1);
    ck_assert_int_eq(pread(response->file, bytes, response->file_size + 1, 0), (ssize_t)response->file_size);
    return bytes;
}

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
    char *file = response.file > 0 ? bytes_of(&response) : NULL;
    must(clv_image_decode(&image, file ? file : response.body.bytes, file ? response.file_size : response.body.size,
                          NULL, err));
    page_response_release(&response);
    free(file);
    return image;
}

TEST(images_that_browsers_do_not_know_are_sent_as_jpeg)
{
    struct clv_image stored = {0}, sent;
    ck_assert_int_eq(mkdir(here("set"), 0777), 0);
    put_image("a.png");
    must(clv_image_read(&stored, in_folder("a.png"), NULL, err));
    must(clv_jpeg_write(in_folder("b.jpg"), &stored, 80, err));
    FILE *stream = fopen(in_folder("c.ppm"), "wb");
    ck_assert_ptr_nonnull(stream);
    fprintf(stream, "P6 %d %d 255\n", WIDTH, HEIGHT);
    fwrite(stored.pixels, 3, WIDTH * HEIGHT, stream);
    ck_assert_int_eq(fclose(stream), 0);
    struct page_session *session = open_session();
    size_t size = 0;
    char *file = slurp(in_folder("b.jpg"), &size);
    struct page_response response;
    struct page_request request = {.method = "GET",
                                   .path = "/api/image/1",
                                   .host = "127.0.0.1:1",
                                   .cookie = "cleave-1=0123456789abcdef0123456789abcdef"};
    page_handle(&response, session, &request); /* the file itself, of which nothing is in memory */
    char *sent_file = bytes_of(&response);
    ck_assert_uint_eq(response.file_size, size);
    ck_assert_mem_eq(sent_file, file, size);
    int descriptor = response.file;
    page_response_release(&response);
    ck_assert_int_eq(fcntl(descriptor, F_GETFD), -1);
    free(sent_file);
    for (int i = 0; i < 3; i += 2) {
        sent = answered_image(session, formatted("/api/image/%d", i), i ? "image/jpeg" : "image/png");
        ck_assert(sent.width == WIDTH && sent.height == HEIGHT);
        for (int k = 0; k < 3 * WIDTH * HEIGHT; k++)
            ck_assert_int_le(abs(sent.pixels[k] - stored.pixels[k]), i ? 90 : 0);
        for (int c = 0; c < 3; c++) /* far from edges nearly as they were */
            ck_assert_int_le(abs(sent.pixels[3 * (30 * WIDTH + 45) + c] - stored.pixels[3 * (30 * WIDTH + 45) + c]), 3);
        clv_image_release(&sent);
    }
    unlink(in_folder("c.ppm"));
    expect(session, 404, "GET", "/api/image/2", NULL, "c.ppm");
    page_session_free(session);
    clv_image_release(&stored);
    free(file);
}

/* By its first bytes, which have to be there: eight. */
TEST(what_begins_like_an_image_that_browsers_know_is_sent_as_it_is)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *type;
    } files[] = {{"\x89PNG\r\n\x1a\n", 8, "image/png"},
                 {"\xff\xd8\xff\xe0....", 8, "image/jpeg"},
                 {"\xff\xd8\xff\xe0...", 7, NULL},
                 {"\x89PNG\r\n\x1a ", 8, NULL},
                 {"\xff\xd8 \xe0....", 8, NULL}};
    struct page_session *session = fresh_session();
    struct page_request request = {.method = "GET",
                                   .path = "/api/image/0",
                                   .host = "127.0.0.1:1",
                                   .cookie = "cleave-1=0123456789abcdef0123456789abcdef"};
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        struct page_response response;
        spill(in_folder("a.png"), files[k].bytes, files[k].size);
        page_handle(&response, session, &request);
        ck_assert_int_eq(response.code, files[k].type ? 200 : 422);
        ck_assert_str_eq(response.type, files[k].type ? files[k].type : "application/json");
        ck_assert_int_eq(response.file > 0, files[k].type != NULL);
        if (files[k].type)
            ck_assert_uint_eq(response.file_size, files[k].size);
        page_response_release(&response);
    }
    page_session_free(session);
}

static double clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

/* As long as it takes until a second ends meanwhile. */
TEST(an_answer_says_how_many_milliseconds_it_took)
{
    struct page_session *session = fresh_session();
    double before, after, first = clock_ms();
    for (int image = 0; clock_ms() < first + 1100; image = !image) {
        before = clock_ms();
        char *text = opened(session, image);
        after = clock_ms();
        double ms = strtod(strstr(text, "\"ms\":") + 5, NULL);
        ck_assert_msg(ms >= 0 && ms <= after - before + 0.1, "%g ms of %g", ms, after - before);
        free(text);
    }
    page_session_free(session);
}

TEST(the_link_sets_the_cookie_and_files_follow)
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

TEST(a_training_can_be_stopped_and_need_not_be_there)
{
    struct page_session *session = fresh_session();
    expect(session, 200, "POST", "/api/stop", "{}", "\"running\":false");
    ck_assert_int_eq(n_stops, 1);
    expect(session, 200, "GET", "/api/training", NULL, "\"running\":false");
    options.trainer = NULL;
    expect(session, 400, "POST", "/api/train", "{}", "training is not available");
    expect(session, 200, "POST", "/api/stop", "{}", "null");
    expect(session, 200, "GET", "/api/state", NULL, "\"training\":null");
    expect(session, 400, "POST", "/api/label", "{}", "no name");
    page_session_free(session);
}

/* All of an answer and of a strokes file, but for the time it took and the pixels of the brush's object. */
TEST(answers_and_strokes_files_say_all_of_what_was_drawn)
{
    struct page_session *session = fresh_session();
    free(opened(session, 0));
    free(answer(session, 200, "POST", "/api/stroke/0",
                "{\"revision\":0,\"kind\":\"foreground\",\"object\":0,\"label\":1,\"radius\":2.5,\"points\":[45,30,46."
                "25,31]}"));
    free(
        answer(session, 200, "POST", "/api/stroke/0", "{\"revision\":1,\"kind\":\"delete\",\"object\":0,\"label\":1}"));
    free(answer(session, 200, "POST", "/api/stroke/0",
                "{\"revision\":2,\"kind\":\"box\",\"object\":2,\"label\":1,\"points\":[20,5,70,55]}"));
    free(answer(session, 200, "POST", "/api/stroke/0",
                "{\"revision\":3,\"kind\":\"background\",\"object\":2,\"label\":1,"
                "\"radius\":1,\"points\":[22,7]}"));
    char *text = without_time(answer(session, 200, "POST", "/api/undo/0", "{\"revision\":4}"));
    char expected[4096] =
        "{\"number\":0,\"width\":90,\"height\":60,\"revision\":5,\"accepted\":false,\"undo\":true,"
        "\"redo\":true,\"name\":\"a.png\",\"objects\":[{\"object\":2,\"label\":1,\"box\":[28,13,35,35],"
        "\"frame\":[20,5,70,55]}],"
        "\"next_object\":3,\"strokes\":[{\"kind\":\"box\",\"object\":2,\"radius\":0,\"points\":[20.0,5.0,"
        "70.0,55.0]}],\"runs\":[0,1198";
    char runs[4096] = "[1198", *end = expected + strlen(expected), *runs_end = runs + strlen(runs);
    for (int row = 0; row < 35; row++) {
        int after = row < 34 ? 55 : 5400 - 1198 - 34 * 90 - 35;
        end += sprintf(end, ",3,35,0,%d", after);
        runs_end += sprintf(runs_end, ",35,%d", after);
    }
    strcpy(end, "]}\n");
    strcpy(runs_end, "]");
    ck_assert_str_eq(text, expected);
    char *strokes = slurp(in_folder("strokes/a.json"), NULL);
    ck_assert_str_eq(
        strokes,
        formatted(
            "{\"format\": \"cleave strokes 1\", \"width\": 90, \"height\": 60, \"accepted\": 0, \"cursor\": 3,\n"
            "\"strokes\": [\n"
            "{\"kind\": \"foreground\", \"object\": 0, \"label\": 1, \"radius\": 2.5, \"points\": [45,30,46.25,31], "
            "\"mask\": %s},\n"
            "{\"kind\": \"delete\", \"object\": 0, \"label\": 1, \"radius\": 0, \"points\": [], \"mask\": [5400]},\n"
            "{\"kind\": \"box\", \"object\": 2, \"label\": 1, \"radius\": 0, \"points\": [20,5,70,55], \"mask\": %s},\n"
            "{\"kind\": \"background\", \"object\": 2, \"label\": 1, \"radius\": 1, \"points\": [22,7], \"mask\": "
            "%s}]}\n",
            runs, runs, runs));
    page_session_free(session);
    free(text);
    free(strokes);
}

TEST(the_state_is_of_the_folder_its_named_labels_and_its_images)
{
    const char labels[] = "value\tname\tred\tgreen\tblue\n0\tground\t1\t2\t3\n1\tvoid\t0\t0\t0\n3\tcow\t4\t5\t6\n";
    page_session_free(fresh_session());
    spill(in_folder("labels.tsv"), labels, sizeof labels - 1);
    struct page_session *session = open_session();
    char *state = answer(session, 200, "GET", "/api/state", NULL);
    ck_assert_str_eq(
        state,
        formatted(
            "{\"folder\":\"%s\",\"has_model\":false,\"model\":0,\"labels\":[{\"value\":0,\"colour\":[1,2,3],\"name\":"
            "\"ground\"},{\"value\":3,\"colour\":[4,5,6],\"name\":\"cow\"}],\"training\":{\"running\":false,"
            "\"models\":0},\"images\":[\n{\"status\":\"new\",\"expected\":-1.0000,\"name\":\"a.png\",\"rank\":0},\n"
            "{\"status\":\"new\",\"expected\":-1.0000,\"name\":\"b.png\",\"rank\":1}]}\n",
            options.folder));
    free(state);
    free(answer(session, 200, "POST", "/api/label", "{\"name\":\"sky\"}"));
    state = slurp(in_folder("labels.tsv"), NULL);
    ck_assert_ptr_nonnull(strstr(state, "value\tname\tred\tgreen\tblue\n0\tground\t1\t2\t3\n1\tvoid\t0\t0\t0\n"
                                        "3\tcow\t4\t5\t6\n4\tsky\t"));
    page_session_free(session);
    free(state);
}

TEST(a_full_disk_is_reported_as_one_and_a_training_under_way_is_not_begun_again)
{
    struct page_session *session = fresh_session();
    struct rlimit before, none;
    char *text;
    free(opened(session, 0));
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    none = before;
    none.rlim_cur = 16;
    struct page_response response;
    struct page_request request = {.method = "POST",
                                   .path = "/api/stroke/0",
                                   .host = "127.0.0.1:1",
                                   .origin = "http://127.0.0.1:1",
                                   .cookie = "cleave-1=0123456789abcdef0123456789abcdef",
                                   .body = with_names(session, "/api/stroke/0", FOREGROUND(0))};
    request.size = strlen(request.body);
    setrlimit(RLIMIT_FSIZE, &none);
    page_handle(&response, session, &request);
    setrlimit(RLIMIT_FSIZE, &before);
    ck_assert_int_eq(response.code, 507);
    page_response_release(&response);
    free((char *)request.body);
    ck_assert_int_ne(access(in_folder("strokes/a.json"), F_OK), 0);
    text = answer(session, 200, "POST", "/api/stroke/0", FOREGROUND(0));
    free(text);
    is_training = true;
    expect(session, 400, "POST", "/api/train", "{}", "training is under way");
    page_session_free(session);
}

/* The next request is answered as if the failed one had never come. */
TEST(requests_that_find_no_memory_change_nothing)
{
    struct page_session *session = fresh_session();
    free(answer(session, 200, "POST", "/api/open/0", "{}"));
    free(answer(session, 200, "POST", "/api/stroke/0", FOREGROUND(0)));
    char *before = without_time(opened(session, 0));
    char *strokes = slurp(in_folder("strokes/a.json"), NULL);
    static const char *const paths[] = {"/api/stroke/0", "/api/stroke/0", "/api/label",  "/api/delete-label",
                                        "/api/train",    "/api/state",    "/api/image/0"};
    static const char *const posts[] = {BACKGROUND(1),
                                        "{\"revision\":2,\"kind\":\"relabel\",\"object\":0,\"label\":1}",
                                        "{\"name\":\"sky\"}",
                                        "{\"value\":2,\"label\":\"sky\"}",
                                        "{}",
                                        NULL,
                                        NULL};
    for (size_t k = 0; k < sizeof paths / sizeof *paths; k++) {
        char *body = with_names(session, paths[k], posts[k]);
        for (size_t request = 1, is_done = 0; !is_done; request++) {
            struct page_response response;
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
            if (!is_done && k == 0) {
                char *after = without_time(opened(session, 0));
                ck_assert_str_eq(after, before);
                free(after);
            }
            ck_assert_uint_lt(request, 5000);
        }
        free(body);
    }
    page_session_free(session);
    free(before);
    free(strokes);
}
