/* The page without network and browser: requests in, files out. */
#include <stdarg.h>
#include <unistd.h>

#include "base/json.h"
#include "page/small_page.h"
#include "support/disk.h"

TEST(strokes_are_saved_at_once_and_found_again)
{
    struct page_session *session = fresh_session();
    struct clv_mask mask = {0};
    struct clv_labels labels = {0};
    expect(session, 200, "POST", "/api/open/0", "{}", "\"objects\":[]");
    free(answer(session, 200, "POST", "/api/stroke/0", FOREGROUND(0)));
    char *before = answer(session, 200, "POST", "/api/stroke/0", BACKGROUND(1)), *runs = runs_of(before);
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
    char *after = answer(session, 200, "POST", "/api/open/0", "{}"), *found = runs_of(after);
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

TEST(undo_and_redo_reach_behind_the_start_of_the_program)
{
    struct page_session *session = fresh_session();
    free(answer(session, 200, "POST", "/api/open/0", "{}"));
    char *one = answer(session, 200, "POST", "/api/stroke/0", FOREGROUND(0)), *runs = runs_of(one);
    free(answer(session, 200, "POST", "/api/stroke/0", BACKGROUND(1)));
    page_session_free(session);
    session = open_session();
    free(answer(session, 200, "POST", "/api/open/0", "{}"));
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

TEST(changes_of_other_windows_and_programs_are_noticed)
{
    struct page_session *session = fresh_session();
    uint8_t other[WIDTH * HEIGHT] = {1, 1, 1};
    free(answer(session, 200, "POST", "/api/open/0", "{}"));
    free(answer(session, 200, "POST", "/api/stroke/0", FOREGROUND(0)));
    expect(session, 409, "POST", "/api/stroke/0", BACKGROUND(0), "another window");
    must(clv_png_write_labels(in_folder("masks/a.png"), WIDTH, HEIGHT, other, NULL, 0, err));
    expect(session, 409, "POST", "/api/stroke/0", BACKGROUND(1), "another program");
    free(answer(session, 200, "POST", "/api/open/1", "{}"));
    expect(session, 200, "POST", "/api/open/0", "{}", "\"runs\":[1,3,0,5397]");
    page_session_free(session);
}

TEST(what_another_program_changed_is_seen_when_the_image_is_opened_again)
{
    struct page_session *session = fresh_session();
    uint8_t other[WIDTH * HEIGHT] = {1, 1, 1};
    free(opened(session, 0));
    free(answer(session, 200, "POST", "/api/stroke/0", FOREGROUND(0)));
    must(clv_png_write_labels(in_folder("masks/a.png"), WIDTH, HEIGHT, other, NULL, 0, err));
    expect(session, 409, "POST", "/api/stroke/0", BACKGROUND(1), "another program");
    expect_open(session, 200, 0, "\"runs\":[1,3,0,5397]");
    page_session_free(session);
}

/* Strokes, mask and boxes are written one after the other; the disk takes the first _i of them. */
TESTS(a_change_that_cannot_be_saved_has_not_happened, 0, 3)
{
    static const char *const changes[][2] = {{"/api/stroke/0", BACKGROUND(4)},
                                             {"/api/undo/0", "{\"revision\":4}"},
                                             {"/api/redo/0", "{\"revision\":4}"},
                                             {"/api/accept/0", "{\"revision\":4}"}};
    struct page_session *session = fresh_session();
    free(opened(session, 0));
    free(answer(session, 200, "POST", "/api/stroke/0", FOREGROUND(0)));
    free(answer(session, 200, "POST", "/api/stroke/0", BACKGROUND(1)));
    free(answer(session, 200, "POST", "/api/stroke/0", FAR(2)));
    free(answer(session, 200, "POST", "/api/undo/0", "{\"revision\":3}"));
    char *before = without_time(opened(session, 0));
    ck_assert_ptr_nonnull(strstr(before, "\"revision\":4,\"accepted\":false,\"undo\":true,\"redo\":true"));
    for (size_t k = 0; k < 4; k++) {
        disk_renames = _i;
        expect(session, 409, "POST", changes[k][0], changes[k][1], "cannot rename");
        disk_renames = -1;
        char *after = without_time(opened(session, 0));
        ck_assert_str_eq(after, before);
        free(after);
    }
    char *redone = answer(session, 200, "POST", "/api/redo/0", "{\"revision\":4}");
    ck_assert_ptr_nonnull(strstr(redone, "\"object\":1"));
    page_session_free(session);
    session = open_session(); /* all was saved by then */
    char *again = opened(session, 0), *runs = runs_of(redone), *found = runs_of(again);
    ck_assert_str_eq(found, runs);
    page_session_free(session);
    free(before);
    free(redone);
    free(again);
    free(runs);
    free(found);
}

TEST(what_was_undone_is_gone_once_something_new_is_drawn)
{
    struct page_session *session = fresh_session();
    free(opened(session, 0));
    free(answer(session, 200, "POST", "/api/stroke/0", FOREGROUND(0)));
    free(answer(session, 200, "POST", "/api/stroke/0", FAR(1)));
    free(answer(session, 200, "POST", "/api/undo/0", "{\"revision\":2}"));
    char *text = answer(session, 200, "POST", "/api/stroke/0", BACKGROUND(3));
    ck_assert_ptr_nonnull(strstr(text, "\"redo\":false"));
    ck_assert_ptr_null(strstr(text, "\"object\":1"));
    expect(session, 400, "POST", "/api/redo/0", "{\"revision\":4}", "nothing to redo");
    page_session_free(session);
    session = open_session();
    char *again = opened(session, 0);
    ck_assert_ptr_nonnull(strstr(again, "\"kind\":\"background\""));
    ck_assert_ptr_null(strstr(again, "\"object\":1"));
    expect(session, 200, "POST", "/api/undo/0", "{\"revision\":0}", "\"kind\":\"foreground\"");
    page_session_free(session);
    free(text);
    free(again);
}

/* As if killed between both files: the mask is that of before the change. */
TEST(a_crash_between_strokes_and_mask_loses_no_stroke)
{
    struct page_session *session = fresh_session();
    free(opened(session, 0));
    char *one = answer(session, 200, "POST", "/api/stroke/0", FOREGROUND(0)), *one_runs = runs_of(one);
    disk_renames = 1;
    expect(session, 409, "POST", "/api/stroke/0", FAR(1), "cannot rename");
    disk_renames = -1;
    page_session_free(session);
    session = open_session();
    char *found = opened(session, 0), *found_runs = runs_of(found);
    ck_assert_str_eq(found_runs, one_runs);
    ck_assert_ptr_nonnull(strstr(found, "\"kind\":\"foreground\""));
    ck_assert_ptr_nonnull(strstr(found, "\"undo\":true,\"redo\":true"));
    char *both = answer(session, 200, "POST", "/api/redo/0", "{\"revision\":0}"), *both_runs = runs_of(both);
    ck_assert_ptr_nonnull(strstr(both, "\"object\":1"));

    disk_renames = 1;
    expect(session, 409, "POST", "/api/undo/0", "{\"revision\":1}", "cannot rename");
    disk_renames = -1;
    page_session_free(session);
    session = open_session();
    char *undone = opened(session, 0), *undone_runs = runs_of(undone);
    ck_assert_str_eq(undone_runs, both_runs);
    ck_assert_ptr_nonnull(strstr(undone, "\"undo\":true,\"redo\":false"));
    page_session_free(session);
    char *const made[] = {one, one_runs, found, found_runs, both, both_runs, undone, undone_runs};
    for (size_t k = 0; k < sizeof made / sizeof *made; k++)
        free(made[k]);
}

/* A suggestion of several labels is accepted at once. */
TEST(a_crash_while_a_suggestion_is_accepted_loses_no_stroke)
{
    uint8_t mask[WIDTH * HEIGHT] = {1, 1, 1};
    const char labels[] = "value\tname\n0\tground\n1\tcow\n2\thorse\n";
    const char strokes[] = STROKES(
        "3", STROKE("foreground", "0", "1", "3", "[0,3,5397]") "," STROKE(
                 "suggestion", "1", "1", "0", "[9,2,5389]") "," STROKE("suggestion", "2", "2", "0", "[20,4,5376]"));
    page_session_free(fresh_session());
    spill(in_folder("labels.tsv"), labels, sizeof labels - 1);
    spill(in_folder("strokes/a.json"), strokes, sizeof strokes - 1);
    must(clv_png_write_labels(in_folder("masks/a.png"), WIDTH, HEIGHT, mask, NULL, 0, err));
    struct page_session *session = open_session();
    char *text = opened(session, 0);
    ck_assert_ptr_nonnull(strstr(text, "\"runs\":[1,3,0,5397]"));
    ck_assert_ptr_nonnull(strstr(text, "\"redo\":true"));
    ck_assert_ptr_nonnull(strstr(text, "\"kind\":\"foreground\""));
    expect(session, 200, "POST", "/api/redo/0", "{\"revision\":0}", "\"runs\":[1,3,0,6,2,2,0,5389]");
    expect(session, 200, "POST", "/api/redo/0", "{\"revision\":1}", "\"runs\":[1,3,0,6,2,2,0,9,3,4,0,5376]");
    page_session_free(session);
    free(text);
}

TEST(an_image_that_cannot_be_opened_is_marked_and_the_one_before_stays_open)
{
    struct page_session *session = fresh_session();
    page_session_free(session);
    put_image("c.png");
    size_t size;
    char *whole = slurp(in_folder("b.png"), &size);
    spill(in_folder("b.png"), whole, size / 2);
    session = open_session();
    free(opened(session, 0));
    free(answer(session, 200, "POST", "/api/stroke/0", FOREGROUND(0)));
    expect(session, 200, "GET", "/api/state", NULL, "\"status\":\"new\",\"expected\":-1.0000,\"name\":\"b.png\"");
    expect_open(session, 422, 1, "b.png");
    expect(session, 200, "GET", "/api/state", NULL,
           "\"status\":\"unreadable\",\"expected\":-1.0000,\"name\":\"b.png\"");
    free(answer(session, 200, "POST", "/api/stroke/0", BACKGROUND(1))); /* no stroke is lost */
    free(opened(session, 2));
    spill(in_folder("b.png"), whole, size);
    free(opened(session, 1));
    expect(session, 200, "GET", "/api/state", NULL, "\"status\":\"new\",\"expected\":-1.0000,\"name\":\"b.png\"");
    unlink(in_folder("c.png"));
    expect(session, 404, "GET", "/api/image/2", NULL, "c.png");
    expect(session, 200, "GET", "/api/state", NULL,
           "\"status\":\"unreadable\",\"expected\":-1.0000,\"name\":\"c.png\"");
    expect(session, 200, "GET", "/api/state", NULL, "\"status\":\"begun\",\"expected\":-1.0000,\"name\":\"a.png\"");
    page_session_free(session);
    free(whole);
}

TEST(what_was_accepted_is_found_accepted_again_and_nothing_else)
{
    struct page_session *session = fresh_session();
    for (int i = 0; i < 2; i++) {
        free(opened(session, i));
        free(answer(session, 200, "POST", formatted("/api/stroke/%d", i), FOREGROUND(0)));
    }
    expect(session, 200, "POST", "/api/accept/1", "{\"revision\":1}", "\"accepted\":true");
    page_session_free(session);
    session = open_session();
    expect(session, 200, "GET", "/api/state", NULL, "\"status\":\"begun\",\"expected\":-1.0000,\"name\":\"a.png\"");
    expect(session, 200, "GET", "/api/state", NULL, "\"status\":\"accepted\",\"expected\":-1.0000,\"name\":\"b.png\"");
    expect_open(session, 200, 0, "\"accepted\":false");
    expect_open(session, 200, 1, "\"accepted\":true");
    expect(session, 200, "POST", "/api/accept/1", "{\"revision\":0,\"accepted\":0}", "\"accepted\":false");
    page_session_free(session);
    session = open_session();
    expect_open(session, 200, 1, "\"accepted\":false");
    page_session_free(session);
}

static void expect_status(struct page_session *session, const char *status)
{
    expect(session, 200, "GET", "/api/state", NULL,
           formatted("{\"status\":\"%s\",\"expected\":-1.0000,\"name\":\"a.png\",", status));
}

TEST(an_image_without_an_object_is_accepted_as_empty_and_found_so_again)
{
    struct page_session *session = fresh_session();
    size_t n_images, n_accepted;
    free(opened(session, 0));
    free(answer(session, 200, "POST", "/api/accept/0", "{\"revision\":0}"));
    for (int k = 0; k < 2; k++) { /* nothing drawn; then an object that is gone again */
        expect_status(session, "empty");
        page_session_free(session);
        session = open_session();
        expect_status(session, "empty");
        page_session_count(&n_images, &n_accepted, session);
        ck_assert(n_images == 2 && n_accepted == 1);
        expect_open(session, 200, 0, "\"accepted\":true");
        free(answer(session, 200, "POST", "/api/stroke/0", FOREGROUND(0)));
        expect_status(session, "accepted");
        free(answer(session, 200, "POST", "/api/stroke/0",
                    "{\"revision\":1,\"kind\":\"delete\",\"object\":0,\"label\":1}"));
    }
    page_session_free(session);
}

static bool exists(const char *file)
{
    return access(in_folder(file), F_OK) == 0;
}

/* Also of an image that was accepted, with objects kept apart and with a label image of another program. */
TEST(undoing_everything_makes_an_image_unlabelled_again)
{
    for (int k = 0; k < 4; k++) {
        bool is_accepted = k % 2, keeps_objects = k / 2;
        struct page_session *session;
        if (k == 0)
            page_session_free(fresh_session());
        if (keeps_objects && k == 2)
            ck_assert_int_eq(mkdir(in_folder("instances"), 0777), 0);
        session = open_session();
        ck_assert_int_eq(session->keeps_objects, keeps_objects);
        free(opened(session, 0));
        free(answer(session, 200, "POST", "/api/stroke/0", FOREGROUND(0)));
        free(answer(session, 200, "POST", "/api/stroke/0", BACKGROUND(1)));
        if (is_accepted)
            free(answer(session, 200, "POST", "/api/accept/0", "{\"revision\":2}"));
        free(answer(session, 200, "POST", "/api/undo/0", formatted("{\"revision\":%d}", 2 + is_accepted)));
        expect_status(session, is_accepted ? "accepted" : "begun");
        ck_assert(exists("masks/a.png") && exists("instances/a.png") == keeps_objects);
        expect(session, 200, "POST", "/api/undo/0", formatted("{\"revision\":%d}", 3 + is_accepted),
               "\"accepted\":false,\"undo\":false,\"redo\":true");
        for (int start = 0; start < 2; start++) {
            size_t n_images, n_accepted;
            expect_status(session, "new");
            page_session_count(&n_images, &n_accepted, session);
            ck_assert_uint_eq(n_accepted, 0);
            ck_assert(!exists("masks/a.png") && !exists("instances/a.png"));
            page_session_free(session);
            session = open_session();
        }
        expect_open(session, 200, 0, "\"accepted\":false,\"undo\":false,\"redo\":true");
        expect(session, 200, "POST", "/api/redo/0", "{\"revision\":0}", "\"accepted\":false,\"undo\":true");
        expect_status(session, "begun");
        ck_assert(exists("masks/a.png") && exists("instances/a.png") == keeps_objects);
        free(answer(session, 200, "POST", "/api/undo/0", "{\"revision\":1}"));
        page_session_free(session);
        unlink(in_folder("strokes/a.json"));
    }
}

/* A redo shows the objects again, which nobody has accepted since. */
TEST(what_was_accepted_and_undone_is_a_draft_when_it_is_redone)
{
    struct page_session *session = fresh_session();
    free(opened(session, 0));
    free(answer(session, 200, "POST", "/api/stroke/0", FOREGROUND(0)));
    free(answer(session, 200, "POST", "/api/accept/0", "{\"revision\":1}"));
    free(answer(session, 200, "POST", "/api/undo/0", "{\"revision\":2}"));
    expect(session, 200, "POST", "/api/redo/0", "{\"revision\":3}", "\"accepted\":false");
    expect_status(session, "begun");
    page_session_free(session);
}

/* Another program first removes an accepted mask, and later puts it back after its strokes were undone. */
TEST(strokes_without_a_mask_are_a_draft_and_so_is_a_mask_whose_strokes_are_undone)
{
    struct page_session *session = fresh_session();
    free(opened(session, 0));
    free(answer(session, 200, "POST", "/api/stroke/0", FOREGROUND(0)));
    free(answer(session, 200, "POST", "/api/accept/0", "{\"revision\":1}"));
    page_session_free(session);
    run_here("mv set/masks/a.png set/masks/kept");
    session = open_session();
    expect_status(session, "begun");
    free(opened(session, 0));
    free(answer(session, 200, "POST", "/api/undo/0", "{\"revision\":0}"));
    page_session_free(session);
    session = open_session();
    expect_status(session, "new");
    page_session_free(session);
    run_here("mv set/masks/kept set/masks/a.png");
    session = open_session();
    expect_status(session, "begun");
    page_session_free(session);
}

TEST(an_acceptance_is_taken_back)
{
    struct page_session *session = fresh_session();
    free(opened(session, 0));
    free(answer(session, 200, "POST", "/api/stroke/0", FOREGROUND(0)));
    free(answer(session, 200, "POST", "/api/accept/0", "{\"revision\":1}"));
    expect(session, 200, "POST", "/api/accept/0", "{\"revision\":2,\"accepted\":0}",
           "\"accepted\":false,\"undo\":true");
    expect_status(session, "begun");
    ck_assert(exists("masks/a.png"));
    free(answer(session, 200, "POST", "/api/undo/0", "{\"revision\":3}"));
    expect_status(session, "new");
    free(answer(session, 200, "POST", "/api/accept/0", "{\"revision\":4}"));
    expect_status(session, "empty");
    ck_assert(exists("masks/a.png"));
    free(answer(session, 200, "POST", "/api/accept/0", "{\"revision\":5,\"accepted\":0}"));
    expect_status(session, "new");
    ck_assert(!exists("masks/a.png"));
    page_session_free(session);
}

/* Nothing was ever drawn: no file stays. */
TEST(an_image_accepted_as_empty_by_a_slip_is_as_it_was)
{
    struct page_session *session = fresh_session();
    free(opened(session, 0));
    free(answer(session, 200, "POST", "/api/accept/0", "{\"revision\":0}"));
    ck_assert(exists("masks/a.png") && exists("strokes/a.json"));
    free(answer(session, 200, "POST", "/api/accept/0", "{\"revision\":1,\"accepted\":0}"));
    ck_assert(!exists("masks/a.png") && !exists("strokes/a.json"));
    expect_status(session, "new");
    free(answer(session, 200, "POST", "/api/stroke/0", FOREGROUND(2)));
    expect_status(session, "begun");
    page_session_free(session);
}

/* Strokes are written first, then the mask goes, or boxes are written: the _i-th step fails. */
TESTS(an_undo_of_everything_that_cannot_be_saved_has_not_happened, 0, 2)
{
    struct page_session *session = fresh_session();
    free(opened(session, 0));
    free(answer(session, 200, "POST", "/api/stroke/0", FOREGROUND(0)));
    free(answer(session, 200, "POST", "/api/accept/0", "{\"revision\":1}"));
    char *before = without_time(opened(session, 0));
    disk_renames = _i;
    free(answer(session, 409, "POST", "/api/undo/0", "{\"revision\":2}"));
    disk_renames = -1;
    char *after = without_time(opened(session, 0));
    ck_assert_str_eq(after, before);
    free(answer(session, 200, "POST", "/api/undo/0", "{\"revision\":2}"));
    expect_status(session, "new");
    page_session_free(session);
    free(before);
    free(after);
}

TEST(images_are_listed_with_2_before_10)
{
    page_session_free(fresh_session());
    put_image("f10.png");
    put_image("f2.png");
    put_image("f1.png");
    struct page_session *session = open_session();
    static const char *const names[] = {"a", "b", "f1", "f2", "f10"};
    for (int k = 0; k < 5; k++)
        expect(session, 200, "GET", "/api/state", NULL, formatted("\"name\":\"%s.png\",\"rank\":%d}", names[k], k));
    page_session_free(session);
}

TEST(an_object_takes_no_pixel_of_another_but_under_its_strokes)
{
    struct page_session *session = fresh_session();
    struct clv_indexed_image mask = {0};
    free(answer(session, 200, "POST", "/api/label", "{\"name\":\"sky\"}"));
    free(answer(session, 200, "POST", "/api/open/0", "{}"));
    free(answer(session, 200, "POST", "/api/stroke/0", FOREGROUND(0)));
    free(answer(session, 200, "POST", "/api/stroke/0", BACKGROUND(1)));
    /* The other one begins in the middle of the first and goes out of it. */
    free(answer(
        session, 200, "POST", "/api/stroke/0",
        "{\"revision\":2,\"kind\":\"foreground\",\"object\":1,\"label\":2,\"radius\":1,\"points\":[45,30,5,30]}"));
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

TEST(what_makes_no_sense_changes_nothing)
{
    struct page_session *session = fresh_session();
    free(answer(session, 200, "POST", "/api/open/0", "{}"));
    static const struct {
        int code;
        const char *path, *body;
    } bad[] = {
        {422, "/api/stroke/0", NULL},
        {422, "/api/stroke/0", "[1"},
        {400, "/api/stroke/0", "{}"},
        {422, "/api/stroke/0", "{\"revision\":0}"},
        {422, "/api/stroke/0", "{\"revision\":0,\"kind\":\"foreground\",\"object\":0,\"label\":1,\"points\":[1]}"},
        {422, "/api/stroke/0",
         "{\"revision\":0,\"kind\":\"foreground\",\"object\":0,\"label\":1,\"points\":[1e300,1]}"},
        {422, "/api/stroke/0", "{\"revision\":0,\"kind\":\"box\",\"object\":0,\"label\":1,\"points\":[1,2]}"},
        {422, "/api/stroke/0", "{\"revision\":0,\"kind\":\"foreground\",\"object\":-1,\"label\":1,\"points\":[1,2]}"},
        {400, "/api/stroke/0", "{\"revision\":0,\"kind\":\"foreground\",\"object\":0,\"label\":7,\"points\":[1,2]}"},
        {400, "/api/stroke/0", "{\"revision\":0,\"kind\":\"mask\",\"object\":0,\"label\":1,\"points\":[1,2]}"},
        {409, "/api/stroke/1", FOREGROUND(0)},
        {404, "/api/stroke/2", FOREGROUND(0)},
        {400, "/api/undo/0", "{\"revision\":0}"},
        {400, "/api/suggest/0", "{\"revision\":0}"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        free(answer(session, bad[k].code, "POST", bad[k].path, bad[k].body));
    expect(session, 404, "POST", "/api/stroke/2", FOREGROUND(0), "no such image");
    expect(session, 404, "GET", "/api/image/2", NULL, "no such image");
    for (int k = 0; k < 5; k++) {
        static const char *const changes[] = {"stroke", "undo", "redo", "suggest", "accept"};
        expect(session, 400, "POST", formatted("/api/%s/0", changes[k]), "{}", "the request has no revision");
    }
    ck_assert_int_ne(access(in_folder("masks/a.png"), F_OK), 0);
    expect(session, 404, "GET", "/style.css", NULL, "not found");
    /* A stroke that leads far outside is drawn all the same. */
    free(answer(session, 200, "POST", "/api/stroke/0",
                "{\"revision\":0,\"kind\":\"foreground\",\"object\":0,\"label\":1,\"radius\":500,\"points\":[-1e6,-1e6,"
                "1e6,1e6]}"));
    page_session_free(session);
}

TEST(strokes_in_a_box_stay_in_it)
{
    struct page_session *session = fresh_session();
    struct clv_indexed_image mask = {0};
    free(answer(session, 200, "POST", "/api/open/0", "{}"));
    free(answer(session, 200, "POST", "/api/stroke/0",
                "{\"revision\":0,\"kind\":\"box\",\"object\":0,\"label\":1,\"points\":[20,10,45,50]}"));
    free(answer(session, 200, "POST", "/api/stroke/0",
                "{\"revision\":1,\"kind\":\"foreground\",\"object\":0,\"label\":1,\"radius\":2,\"points\":[40,30]}"));
    must(clv_indexed_image_read(&mask, in_folder("masks/a.png"), NULL, err));
    int inside = 0, outside = 0;
    for (int p = 0; p < WIDTH * HEIGHT; p++)
        *(p % WIDTH < 45 ? &inside : &outside) += mask.values[p];
    ck_assert(inside > 550 && inside <= 17 * 35); /* the square's left part */
    ck_assert_int_eq(outside, 0);
    clv_indexed_image_release(&mask);
    page_session_free(session);
}

TEST(a_stroke_that_is_erased_counts_no_more_and_a_deleted_object_is_gone)
{
    struct page_session *session = fresh_session();
    free(answer(session, 200, "POST", "/api/open/0", "{}"));
    char *one = answer(session, 200, "POST", "/api/stroke/0", FOREGROUND(0)), *runs = runs_of(one);
    /* A stroke on the background, which is taken away again. */
    free(answer(session, 200, "POST", "/api/stroke/0",
                "{\"revision\":1,\"kind\":\"foreground\",\"object\":0,\"label\":1,\"radius\":3,\"points\":[8,50]}"));
    char *erased =
        answer(session, 200, "POST", "/api/stroke/0",
               "{\"revision\":2,\"kind\":\"erase\",\"object\":0,\"label\":1,\"radius\":6,\"points\":[8,50]}");
    ck_assert_ptr_nonnull(strstr(erased, "\"kind\":\"erase\""));
    char *deleted =
        answer(session, 200, "POST", "/api/stroke/0", "{\"revision\":3,\"kind\":\"delete\",\"object\":0,\"label\":1}");
    ck_assert_ptr_nonnull(strstr(deleted, "\"objects\":[]"));
    ck_assert_ptr_nonnull(strstr(deleted, "\"strokes\":[]"));
    ck_assert_ptr_nonnull(strstr(deleted, "\"runs\":[0,5400]"));
    char *boxes = slurp(in_folder("boxes.tsv"), NULL);
    ck_assert_ptr_null(strstr(boxes, "a.png"));
    page_session_free(session);
    free(one);
    free(runs);
    free(erased);
    free(deleted);
    free(boxes);
}
