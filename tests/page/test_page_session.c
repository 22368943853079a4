/* The page without network and browser: requests in, files out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "page/page.h"
#include "support/support.h"

enum { WIDTH = 90, HEIGHT = 60 };

static struct page_options options;
static char started[4096]; /* what the trainer was given */

static enum clv_status start(void *context, const char *names, struct clv_error *err)
{
    (void)context;
    (void)err;
    snprintf(started, sizeof started, "%s", names);
    return CLV_OK;
}
static void stop(void *context)
{
    (void)context;
}
static void tell(void *context, struct text *json)
{
    (void)context;
    text_put(json, "{\"running\":false,\"models\":0}");
}
static int32_t count(void *context)
{
    (void)context;
    return 0;
}
static const struct page_trainer trainer = {NULL, start, stop, tell, count};

static const char *in_folder(const char *name)
{
    return formatted("%s/set/%s", temporary_folder(), name);
}

/* An orange square in the middle of blue. */
static void put_picture(const char *name)
{
    struct clv_image image = {0};
    must(clv_image_new(&image, WIDTH, HEIGHT, 3, err));
    for (int p = 0; p < WIDTH * HEIGHT; p++) {
        bool is_figure = abs(p % WIDTH - 45) < 18 && abs(p / WIDTH - 30) < 18;
        const uint8_t colour[2][3] = {{60, 90, 150}, {200, 120, 40}};
        memcpy(image.pixels + 3 * p, colour[is_figure], 3);
    }
    must(clv_png_write(in_folder(name), &image, err));
    clv_image_release(&image);
}

static struct page_session *open_session(void)
{
    struct page_session *session = NULL;
    static char folder[4096], model[4200];
    snprintf(folder, sizeof folder, "%s", formatted("%s/set", temporary_folder()));
    snprintf(model, sizeof model, "%s/label.cleave", folder);
    options = (struct page_options){
        .folder = folder,
        .model = model,
        .access = {.token = "0123456789abcdef0123456789abcdef", .cookie = "cleave-1", .hosts = {"127.0.0.1:1"}},
        .trainer = &trainer};
    must(page_session_new(&session, &options, err));
    return session;
}

static struct page_session *fresh_session(void)
{
    ck_assert_int_eq(mkdir(formatted("%s/set", temporary_folder()), 0777), 0);
    put_picture("a.png");
    put_picture("b.png");
    return open_session();
}

/* The answer's body, to free(); its code has to be as expected. */
static char *answer(struct page_session *session, int code, const char *method, const char *path, const char *body)
{
    struct page_response response;
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
    page_response_release(&response);
    return text;
}

static void expect(struct page_session *session, int code, const char *method, const char *path, const char *body,
                   const char *part)
{
    char *text = answer(session, code, method, path, body);
    ck_assert_msg(strstr(text, part) != NULL, "\"%s\" is not in %s", part, text);
    free(text);
}

static char *runs_of(const char *text)
{
    const char *runs = strstr(text, "\"runs\":");
    ck_assert_ptr_nonnull(runs);
    return strdup(runs);
}

#define FIGURE(revision)                                                                                               \
    "{\"revision\":" #revision ",\"kind\":\"figure\",\"object\":0,\"label\":1,\"radius\":3,\"points\":[45,30]}"
#define GROUND(revision)                                                                                               \
    "{\"revision\":" #revision ",\"kind\":\"ground\",\"object\":0,\"label\":1,\"radius\":3,\"points\":[5,5]}"

START_TEST(strokes_are_saved_at_once_and_found_again)
{
    struct page_session *session = fresh_session();
    struct clv_mask mask = {0};
    struct clv_labels labels = {0};
    expect(session, 200, "GET", "/api/open/0", NULL, "\"objects\":[]");
    free(answer(session, 200, "POST", "/api/stroke/0", FIGURE(0)));
    char *before = answer(session, 200, "POST", "/api/stroke/0", GROUND(1)), *runs = runs_of(before);
    page_session_free(session); /* as good as kill -9: nothing is written at the end */

    must(clv_labels_binary(&labels, err));
    must(clv_mask_read(&mask, in_folder("masks/a.png"), &labels, WIDTH, HEIGHT, NULL, err));
    int n = 0;
    for (int p = 0; p < WIDTH * HEIGHT; p++)
        n += mask.labels[p];
    ck_assert_int_eq(n, 35 * 35);
    char *boxes = slurp(in_folder("boxes.tsv"), NULL);
    ck_assert_str_eq(boxes, "image\tlabel\tx\ty\tw\th\na.png\tforeground\t28\t13\t35\t35\n");

    session = open_session();
    char *after = answer(session, 200, "GET", "/api/open/0", NULL), *found = runs_of(after);
    ck_assert_str_eq(found, runs);
    ck_assert_ptr_nonnull(strstr(after, "\"undo\":true"));
    page_session_free(session);
    clv_mask_release(&mask);
    clv_labels_release(&labels);
    free(before);
    free(after);
    free(runs);
    free(found);
    free(boxes);
}
END_TEST

START_TEST(undo_and_redo_reach_behind_the_start_of_the_program)
{
    struct page_session *session = fresh_session();
    free(answer(session, 200, "GET", "/api/open/0", NULL));
    char *one = answer(session, 200, "POST", "/api/stroke/0", FIGURE(0)), *runs = runs_of(one);
    free(answer(session, 200, "POST", "/api/stroke/0", GROUND(1)));
    page_session_free(session);
    session = open_session();
    free(answer(session, 200, "GET", "/api/open/0", NULL));
    char *undone = answer(session, 200, "POST", "/api/undo/0", "{\"revision\":0}"), *found = runs_of(undone);
    ck_assert_str_eq(found, runs);
    free(answer(session, 200, "POST", "/api/redo/0", "{\"revision\":1}"));
    expect(session, 400, "POST", "/api/redo/0", "{\"revision\":2}", "nothing to redo");
    page_session_free(session);
    free(one);
    free(runs);
    free(undone);
    free(found);
}
END_TEST

START_TEST(changes_of_other_windows_and_programs_are_noticed)
{
    struct page_session *session = fresh_session();
    uint8_t other[WIDTH * HEIGHT] = {1, 1, 1};
    free(answer(session, 200, "GET", "/api/open/0", NULL));
    free(answer(session, 200, "POST", "/api/stroke/0", FIGURE(0)));
    expect(session, 409, "POST", "/api/stroke/0", GROUND(0), "another window");
    must(clv_png_write_labels(in_folder("masks/a.png"), WIDTH, HEIGHT, other, NULL, 0, err));
    expect(session, 409, "POST", "/api/stroke/0", GROUND(1), "another program");
    free(answer(session, 200, "GET", "/api/open/1", NULL));
    expect(session, 200, "GET", "/api/open/0", NULL, "\"runs\":[1,3,0,5397]");
    page_session_free(session);
}
END_TEST

START_TEST(masks_and_boxes_of_other_programs_are_kept)
{
    uint8_t other[WIDTH * HEIGHT] = {0, 1, 1};
    const char rows[] = "image\tlabel\tx\ty\tw\th\tnote\nb.png\thorse\t1\t2\t3\t4\tmine\na.png\tcow\t0\t0\t9\t9\told\n";
    ck_assert_int_eq(mkdir(formatted("%s/set", temporary_folder()), 0777), 0);
    ck_assert_int_eq(mkdir(in_folder("masks"), 0777), 0);
    put_picture("a.png");
    put_picture("b.png");
    must(clv_png_write_labels(in_folder("masks/b.png"), WIDTH, HEIGHT, other, NULL, 0, err));
    spill(in_folder("boxes.tsv"), rows, sizeof rows - 1);
    struct page_session *session = open_session();
    expect(session, 200, "GET", "/api/state", NULL,
           "{\"status\":\"accepted\",\"expected\":-1.0000,\"name\":\"b.png\"}");
    expect(session, 200, "GET", "/api/open/1", NULL, "\"runs\":[0,1,1,2,0,5397]");
    free(answer(session, 200, "GET", "/api/open/0", NULL));
    free(answer(session, 200, "POST", "/api/stroke/0", FIGURE(0)));
    char *boxes = slurp(in_folder("boxes.tsv"), NULL);
    ck_assert_ptr_nonnull(strstr(boxes, "b.png\thorse\t1\t2\t3\t4\tmine\n"));
    ck_assert_ptr_null(strstr(boxes, "cow"));
    page_session_free(session);
    free(boxes);
}
END_TEST

START_TEST(accepted_images_and_labels_are_what_training_reads)
{
    struct page_session *session = fresh_session();
    struct clv_set set = {0};
    expect(session, 400, "POST", "/api/train", "{}", "at least 2");
    for (int i = 0; i < 2; i++) {
        free(answer(session, 200, "GET", formatted("/api/open/%d", i), NULL));
        free(answer(session, 200, "POST", formatted("/api/stroke/%d", i), FIGURE(0)));
        expect(session, 200, "POST", formatted("/api/accept/%d", i), "{\"revision\":1}", "\"accepted\":true");
    }
    free(answer(session, 200, "POST", "/api/train", "{}"));
    ck_assert_str_eq(started, "a.png\nb.png\n");
    expect(session, 200, "POST", "/api/label", "{\"name\":\"sky\"}", "\"name\":\"sky\"");
    expect(session, 400, "POST", "/api/label", "{\"name\":\"sky\"}", "already");
    expect(session, 400, "POST", "/api/label", "{\"name\":\"a\\tb\"}", "tabs");
    page_session_free(session);
    must(clv_set_read(&set, formatted("%s/set", temporary_folder()), err));
    ck_assert_uint_eq(set.n_items, 2);
    ck_assert_str_eq(set.items[1].mask, in_folder("masks/b.png"));
    ck_assert_int_eq(set.labels.n_labels, 3);
    clv_set_release(&set);
}
END_TEST

START_TEST(an_object_takes_no_pixel_of_another_but_under_its_strokes)
{
    struct page_session *session = fresh_session();
    struct clv_indexed_image mask = {0};
    free(answer(session, 200, "POST", "/api/label", "{\"name\":\"sky\"}"));
    free(answer(session, 200, "GET", "/api/open/0", NULL));
    free(answer(session, 200, "POST", "/api/stroke/0", FIGURE(0)));
    free(answer(session, 200, "POST", "/api/stroke/0", GROUND(1)));
    /* The other one begins in the middle of the first and goes out of it. */
    free(answer(session, 200, "POST", "/api/stroke/0",
                "{\"revision\":2,\"kind\":\"figure\",\"object\":1,\"label\":2,\"radius\":1,\"points\":[45,30,5,30]}"));
    must(clv_indexed_image_read(&mask, in_folder("masks/a.png"), NULL, err));
    int n[3] = {0};
    for (int p = 0; p < WIDTH * HEIGHT; p++)
        n[mask.values[p]]++;
    ck_assert_int_gt(n[1], 35 * 35 - 80);
    ck_assert_int_lt(n[1], 35 * 35 - 18);
    ck_assert_int_gt(n[2], 80);
    clv_indexed_image_release(&mask);
    page_session_free(session);
}
END_TEST

START_TEST(what_makes_no_sense_changes_nothing)
{
    struct page_session *session = fresh_session();
    free(answer(session, 200, "GET", "/api/open/0", NULL));
    static const struct {
        int code;
        const char *path, *body;
    } bad[] = {
        {422, "/api/stroke/0", NULL},
        {422, "/api/stroke/0", "[1"},
        {400, "/api/stroke/0", "{}"},
        {422, "/api/stroke/0", "{\"revision\":0}"},
        {422, "/api/stroke/0", "{\"revision\":0,\"kind\":\"figure\",\"object\":0,\"label\":1,\"points\":[1]}"},
        {422, "/api/stroke/0", "{\"revision\":0,\"kind\":\"figure\",\"object\":0,\"label\":1,\"points\":[1e300,1]}"},
        {422, "/api/stroke/0", "{\"revision\":0,\"kind\":\"box\",\"object\":0,\"label\":1,\"points\":[1,2]}"},
        {422, "/api/stroke/0", "{\"revision\":0,\"kind\":\"figure\",\"object\":-1,\"label\":1,\"points\":[1,2]}"},
        {400, "/api/stroke/0", "{\"revision\":0,\"kind\":\"figure\",\"object\":0,\"label\":7,\"points\":[1,2]}"},
        {400, "/api/stroke/0", "{\"revision\":0,\"kind\":\"mask\",\"object\":0,\"label\":1,\"points\":[1,2]}"},
        {409, "/api/stroke/1", FIGURE(0)},
        {404, "/api/stroke/2", FIGURE(0)},
        {400, "/api/undo/0", "{\"revision\":0}"},
        {400, "/api/suggest/0", "{\"revision\":0}"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        free(answer(session, bad[k].code, "POST", bad[k].path, bad[k].body));
    ck_assert_int_ne(access(in_folder("masks/a.png"), F_OK), 0);
    expect(session, 404, "GET", "/style.css", NULL, "nothing");
    /* Strokes far outside and hardly inside are drawn all the same. */
    free(answer(
        session, 200, "POST", "/api/stroke/0",
        "{\"revision\":0,\"kind\":\"figure\",\"object\":0,\"label\":1,\"radius\":500,\"points\":[-1e6,-1e6,1e6,1e6]}"));
    free(answer(session, 200, "POST", "/api/stroke/0",
                "{\"revision\":1,\"kind\":\"box\",\"object\":1,\"label\":1,\"points\":[-9,-9,-8,-8]}"));
    page_session_free(session);
}
END_TEST

START_TEST(folders_that_cannot_be_labelled_are_refused_by_name)
{
    struct page_session *session = NULL;
    ck_assert_int_eq(mkdir(formatted("%s/set", temporary_folder()), 0777), 0);
    options = (struct page_options){.folder = formatted("%s/set", temporary_folder()), .model = "none"};
    must_fail(CLV_ERR_NO_INPUT, "holds no image", page_session_new(&session, &options, err));
    ck_assert_int_ne(access(in_folder("masks"), F_OK), 0);
    put_picture("a.png");
    put_picture("a.jpg");
    must_fail(CLV_ERR_DATA, "one stem", page_session_new(&session, &options, err));
    unlink(in_folder("a.jpg"));
    spill(in_folder("boxes.tsv"), "image\tx\n", 8);
    must_fail(CLV_ERR_DATA, "no column \"label\"", page_session_new(&session, &options, err));
    unlink(in_folder("boxes.tsv"));
    options.folder = formatted("%s/absent", temporary_folder());
    must_fail(CLV_ERR_NO_INPUT, "absent", page_session_new(&session, &options, err));
    ck_assert_ptr_null(session);
}
END_TEST

Suite *page_session_suite(void)
{
    Suite *suite = suite_create("page_session");
    TCase *tcase = tcase_create("page_session");
    tcase_add_test(tcase, strokes_are_saved_at_once_and_found_again);
    tcase_add_test(tcase, undo_and_redo_reach_behind_the_start_of_the_program);
    tcase_add_test(tcase, changes_of_other_windows_and_programs_are_noticed);
    tcase_add_test(tcase, masks_and_boxes_of_other_programs_are_kept);
    tcase_add_test(tcase, accepted_images_and_labels_are_what_training_reads);
    tcase_add_test(tcase, an_object_takes_no_pixel_of_another_but_under_its_strokes);
    tcase_add_test(tcase, what_makes_no_sense_changes_nothing);
    tcase_add_test(tcase, folders_that_cannot_be_labelled_are_refused_by_name);
    suite_add_tcase(suite, tcase);
    return suite;
}
