/* The page without network and browser: requests in, files out. */
#include <stdarg.h>
#include <unistd.h>

#include "base/json.h"
#include "page/small_page.h"
#include "support/disk.h"

/* A strokes file, and a stroke in it. */
#define STROKES(cursor, strokes)                                                                                       \
    "{\"width\":90,\"height\":60,\"accepted\":0,\"cursor\":" cursor ",\"strokes\":[" strokes "]}"
#define STROKE(kind, object, label, radius, mask)                                                                      \
    "{\"kind\":\"" kind "\",\"object\":" object ",\"label\":" label ",\"radius\":" radius                              \
    ",\"points\":[5,5],\"mask\":" mask "}"

TEST(strokes_are_saved_at_once_and_found_again)
{
    struct page_session *session = fresh_session();
    struct clv_mask mask = {0};
    struct clv_labels labels = {0};
    expect(session, 200, "POST", "/api/open/0", "{}", "\"objects\":[]");
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
    char *one = answer(session, 200, "POST", "/api/stroke/0", FIGURE(0)), *runs = runs_of(one);
    free(answer(session, 200, "POST", "/api/stroke/0", GROUND(1)));
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
    free(answer(session, 200, "POST", "/api/stroke/0", FIGURE(0)));
    expect(session, 409, "POST", "/api/stroke/0", GROUND(0), "another window");
    must(clv_png_write_labels(in_folder("masks/a.png"), WIDTH, HEIGHT, other, NULL, 0, err));
    expect(session, 409, "POST", "/api/stroke/0", GROUND(1), "another program");
    free(answer(session, 200, "POST", "/api/open/1", "{}"));
    expect(session, 200, "POST", "/api/open/0", "{}", "\"runs\":[1,3,0,5397]");
    page_session_free(session);
}

TEST(what_another_program_changed_is_seen_when_the_image_is_opened_again)
{
    struct page_session *session = fresh_session();
    uint8_t other[WIDTH * HEIGHT] = {1, 1, 1};
    free(opened(session, 0));
    free(answer(session, 200, "POST", "/api/stroke/0", FIGURE(0)));
    must(clv_png_write_labels(in_folder("masks/a.png"), WIDTH, HEIGHT, other, NULL, 0, err));
    expect(session, 409, "POST", "/api/stroke/0", GROUND(1), "another program");
    expect_open(session, 200, 0, "\"runs\":[1,3,0,5397]");
    page_session_free(session);
}

#define FAR(revision)                                                                                                  \
    "{\"revision\":" #revision ",\"kind\":\"figure\",\"object\":1,\"label\":1,\"radius\":3,\"points\":[5,5]}"

/* Strokes, mask and boxes are written one after the other; the disk takes the first _i of them. */
TESTS(a_change_that_cannot_be_saved_has_not_happened, 0, 3)
{
    static const char *const changes[][2] = {{"/api/stroke/0", GROUND(3)},
                                             {"/api/undo/0", "{\"revision\":3}"},
                                             {"/api/redo/0", "{\"revision\":3}"},
                                             {"/api/accept/0", "{\"revision\":3}"}};
    struct page_session *session = fresh_session();
    free(opened(session, 0));
    free(answer(session, 200, "POST", "/api/stroke/0", FIGURE(0)));
    free(answer(session, 200, "POST", "/api/stroke/0", FAR(1)));
    free(answer(session, 200, "POST", "/api/undo/0", "{\"revision\":2}"));
    char *before = without_time(opened(session, 0));
    ck_assert_ptr_nonnull(strstr(before, "\"revision\":3,\"accepted\":false,\"undo\":true,\"redo\":true"));
    for (size_t k = 0; k < 4; k++) {
        disk_renames = _i;
        expect(session, 409, "POST", changes[k][0], changes[k][1], "cannot rename");
        disk_renames = -1;
        char *after = without_time(opened(session, 0));
        ck_assert_str_eq(after, before);
        free(after);
    }
    char *redone = answer(session, 200, "POST", "/api/redo/0", "{\"revision\":3}");
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
    free(answer(session, 200, "POST", "/api/stroke/0", FIGURE(0)));
    free(answer(session, 200, "POST", "/api/stroke/0", FAR(1)));
    free(answer(session, 200, "POST", "/api/undo/0", "{\"revision\":2}"));
    char *text = answer(session, 200, "POST", "/api/stroke/0", GROUND(3));
    ck_assert_ptr_nonnull(strstr(text, "\"redo\":false"));
    ck_assert_ptr_null(strstr(text, "\"object\":1"));
    expect(session, 400, "POST", "/api/redo/0", "{\"revision\":4}", "nothing to redo");
    page_session_free(session);
    session = open_session();
    char *again = opened(session, 0);
    ck_assert_ptr_nonnull(strstr(again, "\"kind\":\"ground\""));
    ck_assert_ptr_null(strstr(again, "\"object\":1"));
    expect(session, 200, "POST", "/api/undo/0", "{\"revision\":0}", "\"kind\":\"figure\"");
    page_session_free(session);
    free(text);
    free(again);
}

/* As if killed between both files: the mask is that of before the change. */
TEST(a_crash_between_strokes_and_mask_loses_no_stroke)
{
    struct page_session *session = fresh_session();
    free(opened(session, 0));
    char *one = answer(session, 200, "POST", "/api/stroke/0", FIGURE(0)), *one_runs = runs_of(one);
    disk_renames = 1;
    expect(session, 409, "POST", "/api/stroke/0", FAR(1), "cannot rename");
    disk_renames = -1;
    page_session_free(session);
    session = open_session();
    char *found = opened(session, 0), *found_runs = runs_of(found);
    ck_assert_str_eq(found_runs, one_runs);
    ck_assert_ptr_nonnull(strstr(found, "\"kind\":\"figure\""));
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
        "3", STROKE("figure", "0", "1", "3", "[0,3,5397]") "," STROKE(
                 "suggestion", "1", "1", "0", "[9,2,5389]") "," STROKE("suggestion", "2", "2", "0", "[20,4,5376]"));
    page_session_free(fresh_session());
    spill(in_folder("labels.tsv"), labels, sizeof labels - 1);
    spill(in_folder("strokes/a.json"), strokes, sizeof strokes - 1);
    must(clv_png_write_labels(in_folder("masks/a.png"), WIDTH, HEIGHT, mask, NULL, 0, err));
    struct page_session *session = open_session();
    char *text = opened(session, 0);
    ck_assert_ptr_nonnull(strstr(text, "\"runs\":[1,3,0,5397]"));
    ck_assert_ptr_nonnull(strstr(text, "\"redo\":true"));
    ck_assert_ptr_nonnull(strstr(text, "\"kind\":\"figure\""));
    expect(session, 200, "POST", "/api/redo/0", "{\"revision\":0}", "\"runs\":[1,3,0,6,1,2,0,5389]");
    expect(session, 200, "POST", "/api/redo/0", "{\"revision\":1}", "\"runs\":[1,3,0,6,1,2,0,9,2,4,0,5376]");
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
    free(answer(session, 200, "POST", "/api/stroke/0", FIGURE(0)));
    expect(session, 200, "GET", "/api/state", NULL, "\"status\":\"new\",\"expected\":-1.0000,\"name\":\"b.png\"");
    expect_open(session, 422, 1, "b.png");
    expect(session, 200, "GET", "/api/state", NULL,
           "\"status\":\"unreadable\",\"expected\":-1.0000,\"name\":\"b.png\"");
    free(answer(session, 200, "POST", "/api/stroke/0", GROUND(1))); /* no stroke is lost */
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

TEST(images_of_one_stem_have_masks_and_strokes_of_their_own)
{
    struct clv_set set = {0};
    static const char *const files[] = {"masks/dup.jpg.png", "masks/dup.png.png", "strokes/dup.jpg.json",
                                        "strokes/dup.png.json"};
    ck_assert_int_eq(mkdir(formatted("%s/set", temporary_folder()), 0777), 0);
    put_image("dup.jpg");
    put_image("dup.png");
    put_image("other.png");
    struct page_session *session = open_session();
    free(opened(session, 0));
    free(answer(session, 200, "POST", "/api/stroke/0", FIGURE(0)));
    free(opened(session, 1));
    free(answer(session, 200, "POST", "/api/stroke/1", FAR(0)));
    for (size_t k = 0; k < 4; k++)
        ck_assert_msg(access(in_folder(files[k]), F_OK) == 0, "%s", files[k]);
    page_session_free(session);
    session = open_session();
    expect_open(session, 200, 0, "\"object\":0,\"label\":1,\"box\":[28,13,35,35]");
    expect_open(session, 200, 1, "\"object\":1,\"label\":1");
    page_session_free(session);
    must(clv_set_read_folder(&set, formatted("%s/set", temporary_folder()), err));
    ck_assert_str_eq(set.items[0].mask, in_folder("masks/dup.jpg.png"));
    ck_assert_str_eq(set.items[1].mask, in_folder("masks/dup.png.png"));
    clv_set_release(&set);
}

/* As of a folder that had one of them only when it was labelled. */
TEST(a_mask_by_the_stem_of_two_images_is_shown_on_both_and_stays)
{
    uint8_t mask[WIDTH * HEIGHT] = {0, 1, 1};
    page_session_free(fresh_session());
    put_image("a.jpg");
    must(clv_png_write_labels(in_folder("masks/a.png"), WIDTH, HEIGHT, mask, NULL, 0, err));
    struct page_session *session = open_session();
    expect_open(session, 200, 0, "\"runs\":[0,1,1,2,0,5397]");
    free(answer(session, 200, "POST", "/api/stroke/0", FIGURE(1)));
    ck_assert_int_eq(access(in_folder("masks/a.jpg.png"), F_OK), 0);
    expect_open(session, 200, 1, "\"runs\":[0,1,1,2,0,5397]");
    page_session_free(session);
}

static char noted[4096];

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(noted, sizeof noted, format, arguments);
    va_end(arguments);
}

TEST(images_whose_names_no_table_can_have_are_named_at_the_start_and_nothing_else_is_refused)
{
    static const char *const names[] = {"a.png", "b\tc.png", "d\ne.png", "f\rg.png", "h\xff.png", "i, \"\xc3\xbc.png"};
    struct page_session *session = NULL;
    ck_assert_int_eq(mkdir(formatted("%s/set", temporary_folder()), 0777), 0);
    for (size_t k = 0; k < 6; k++)
        put_image(names[k]);
    choose_options();
    options.note = note;
    for (int start = 0; start < 2; start++) {
        must(page_session_new(&session, &options, err));
        ck_assert_ptr_nonnull(strstr(noted, ": 4, the first is b\tc.png"));
        for (int k = 0; k < 6; k++) {
            bool is_bad = k > 0 && k < 5;
            free(answer(session, is_bad ? 422 : 200, "POST", formatted("/api/open/%d", k), "{}"));
            if (!is_bad && !start)
                free(answer(session, 200, "POST", formatted("/api/stroke/%d", k), FIGURE(0)));
        }
        expect(session, 200, "GET", "/api/state", NULL,
               "\"status\":\"unreadable\",\"expected\":-1.0000,\"name\":\"b\\tc.png\"");
        page_session_free(session);
    }
    char *boxes = slurp(in_folder("boxes.tsv"), NULL);
    ck_assert_str_eq(boxes, "image\tlabel\tx\ty\tw\th\na.png\tforeground\t28\t13\t35\t35\n"
                            "i, \"\xc3\xbc.png\tforeground\t28\t13\t35\t35\n");
    free(boxes);
}

TEST(what_was_accepted_is_found_accepted_again_and_nothing_else)
{
    struct page_session *session = fresh_session();
    for (int i = 0; i < 2; i++) {
        free(opened(session, i));
        free(answer(session, 200, "POST", formatted("/api/stroke/%d", i), FIGURE(0)));
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
           formatted("{\"status\":\"%s\",\"expected\":-1.0000,\"name\":\"a.png\"}", status));
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
        free(answer(session, 200, "POST", "/api/stroke/0", FIGURE(0)));
        expect_status(session, "accepted");
        free(answer(session, 200, "POST", "/api/stroke/0",
                    "{\"revision\":1,\"kind\":\"delete\",\"object\":0,\"label\":1}"));
    }
    page_session_free(session);
}

TEST(masks_and_boxes_of_other_programs_are_kept)
{
    uint8_t other[WIDTH * HEIGHT] = {0, 1, 1};
    const char rows[] = "image\tlabel\tx\ty\tw\th\tnote\nb.png\thorse\t1\t2\t3\t4\tmine\na.png\tcow\t0\t0\t9\t9\told\n";
    ck_assert_int_eq(mkdir(formatted("%s/set", temporary_folder()), 0777), 0);
    ck_assert_int_eq(mkdir(in_folder("masks"), 0777), 0);
    put_image("a.png");
    put_image("b.png");
    must(clv_png_write_labels(in_folder("masks/b.png"), WIDTH, HEIGHT, other, NULL, 0, err));
    spill(in_folder("boxes.tsv"), rows, sizeof rows - 1);
    struct page_session *session = open_session();
    expect(session, 200, "GET", "/api/state", NULL,
           "{\"status\":\"accepted\",\"expected\":-1.0000,\"name\":\"b.png\"}");
    expect(session, 200, "POST", "/api/open/1", "{}", "\"runs\":[0,1,1,2,0,5397]");
    expect(session, 200, "POST", "/api/open/0", "{}", "\"strokes\":[{\"kind\":\"box\",\"object\":0,");
    free(answer(session, 200, "POST", "/api/stroke/0", FIGURE(1)));
    char *boxes = slurp(in_folder("boxes.tsv"), NULL);
    ck_assert_ptr_nonnull(strstr(boxes, "b.png\thorse\t1\t2\t3\t4\tmine\n"));
    ck_assert_ptr_null(strstr(boxes, "cow"));
    page_session_free(session);
    free(boxes);
}

TEST(accepted_images_and_labels_are_what_training_reads)
{
    struct page_session *session = fresh_session();
    struct clv_set set = {0};
    expect(session, 400, "POST", "/api/train", "{}", "at least 2");
    for (int i = 0; i < 2; i++) {
        free(answer(session, 200, "POST", formatted("/api/open/%d", i), "{}"));
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

TEST(an_object_takes_no_pixel_of_another_but_under_its_strokes)
{
    struct page_session *session = fresh_session();
    struct clv_indexed_image mask = {0};
    free(answer(session, 200, "POST", "/api/label", "{\"name\":\"sky\"}"));
    free(answer(session, 200, "POST", "/api/open/0", "{}"));
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
    expect(session, 404, "POST", "/api/stroke/2", FIGURE(0), "there is no such image");
    expect(session, 404, "GET", "/api/image/2", NULL, "there is no such image");
    for (int k = 0; k < 5; k++) {
        static const char *const changes[] = {"stroke", "undo", "redo", "suggest", "accept"};
        expect(session, 400, "POST", formatted("/api/%s/0", changes[k]), "{}", "the request has no revision");
    }
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

TEST(folders_that_cannot_be_labelled_are_refused_by_name)
{
    struct page_session *session = NULL;
    ck_assert_int_eq(mkdir(formatted("%s/set", temporary_folder()), 0777), 0);
    options = (struct page_options){.folder = formatted("%s/set", temporary_folder()), .model = "none"};
    must_fail(CLV_ERR_NO_INPUT, "holds no image", page_session_new(&session, &options, err));
    ck_assert_int_ne(access(in_folder("masks"), F_OK), 0);
    put_image("a.png");
    put_image("a.jpg");
    put_image("a.jpg.png");
    must_fail(CLV_ERR_DATA, "a.jpg and a.jpg.png: their masks would be one file",
              page_session_new(&session, &options, err));
    unlink(in_folder("a.jpg"));
    unlink(in_folder("a.jpg.png"));
    spill(in_folder("boxes.tsv"), "image\tx\n", 8);
    must_fail(CLV_ERR_DATA, "no column \"label\"", page_session_new(&session, &options, err));
    unlink(in_folder("boxes.tsv"));
    options.folder = formatted("%s/absent", temporary_folder());
    must_fail(CLV_ERR_NO_INPUT, "absent", page_session_new(&session, &options, err));
    ck_assert_ptr_null(session);
}

TEST(strokes_in_a_box_stay_in_it)
{
    struct page_session *session = fresh_session();
    struct clv_indexed_image mask = {0};
    free(answer(session, 200, "POST", "/api/open/0", "{}"));
    free(answer(session, 200, "POST", "/api/stroke/0",
                "{\"revision\":0,\"kind\":\"box\",\"object\":0,\"label\":1,\"points\":[20,10,45,50]}"));
    free(answer(session, 200, "POST", "/api/stroke/0",
                "{\"revision\":1,\"kind\":\"figure\",\"object\":0,\"label\":1,\"radius\":2,\"points\":[40,30]}"));
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
    char *one = answer(session, 200, "POST", "/api/stroke/0", FIGURE(0)), *runs = runs_of(one);
    /* A stroke on the ground, which is taken away again. */
    free(answer(session, 200, "POST", "/api/stroke/0",
                "{\"revision\":1,\"kind\":\"figure\",\"object\":0,\"label\":1,\"radius\":3,\"points\":[8,50]}"));
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

TEST(boxes_of_the_image_are_found_in_whatever_column_it_stands)
{
    const char rows[] =
        "label\tnote\timage\tx\ty\tw\th\ncow\ta.png\tb.png\t1\t2\t3\t4\nold\t\ta.png\t0\t0\t9\t9\nshort\n";
    struct page_session *session = fresh_session();
    spill(in_folder("boxes.tsv"), rows, sizeof rows - 1);
    free(answer(session, 200, "POST", "/api/open/0", "{}"));
    free(answer(session, 200, "POST", "/api/stroke/0", FIGURE(0)));
    char *boxes = slurp(in_folder("boxes.tsv"), NULL);
    ck_assert_str_eq(boxes, "label\tnote\timage\tx\ty\tw\th\ncow\ta.png\tb.png\t1\t2\t3\t4\nshort\n"
                            "foreground\t\ta.png\t28\t13\t35\t35\n");
    page_session_free(session);
    free(boxes);
}

TEST(boxes_of_images_that_are_called_nearly_the_same_stay)
{
    const char rows[] = "\xef\xbb\xbfimage\tlabel\tx\ty\tw\th\na.pn\tcow\t1\t2\t3\t4\na.png.bak\tcow\t1\t2\t3\t4\n"
                        "a.png\tcow\t20\t5\t50\t50\n\na.pnh\tcow\t1\t2\t3\t4\n";
    page_session_free(fresh_session());
    spill(in_folder("boxes.tsv"), rows, sizeof rows - 1);
    struct page_session *session = open_session();
    for (int start = 0; start < 2; start++) {
        free(opened(session, 0));
        free(answer(session, 200, "POST", "/api/stroke/0", start ? FIGURE(0) : FIGURE(1)));
        char *boxes = slurp(in_folder("boxes.tsv"), NULL);
        ck_assert_str_eq(boxes, "image\tlabel\tx\ty\tw\th\na.pn\tcow\t1\t2\t3\t4\n"
                                "a.png.bak\tcow\t1\t2\t3\t4\na.pnh\tcow\t1\t2\t3\t4\n"
                                "a.png\tforeground\t28\t13\t35\t35\n");
        page_session_free(session);
        session = open_session();
        free(boxes);
    }
    page_session_free(session);
}

TEST(a_label_s_name_has_1_to_63_bytes_and_means_nothing_else)
{
    struct page_session *session = fresh_session();
    static const char *const bad[] = {"", "void", "a,b", "a\\tb", "a\\nb", "a\\rb", "background", "foreground"};
    char name[65];
    memset(name, 'x', 64);
    name[64] = 0;
    expect(session, 400, "POST", "/api/label", formatted("{\"name\":\"%s\"}", name), "1 to 63 bytes");
    name[63] = 0;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        expect(session, 400, "POST", "/api/label", formatted("{\"name\":\"%s\"}", bad[k]),
               k < 6 ? "1 to 63 bytes" : "already");
    expect(session, 200, "POST", "/api/label", formatted("{\"name\":\"%s\"}", name), name);
    expect(session, 200, "POST", "/api/label", "{\"name\":\"voi\"}", "\"value\":3");
    page_session_free(session);
}

TEST(labels_end_where_masks_have_no_value_for_more)
{
    struct page_session *session = fresh_session();
    page_session_free(session);
    FILE *stream = fopen(in_folder("labels.tsv"), "w");
    ck_assert_ptr_nonnull(stream);
    fprintf(stream, "value\tname\tred\tgreen\tblue\n");
    for (int k = 0; k < CLV_MAX_LABELS; k++)
        fprintf(stream, "%d\tlabel%d\t%d\t0\t0\n", k, k, k);
    ck_assert_int_eq(fclose(stream), 0);
    size_t size = 0, size_after = 0;
    char *before = slurp(in_folder("labels.tsv"), &size);
    session = open_session();
    expect(session, 400, "POST", "/api/label", "{\"name\":\"more\"}", "255 labels already");
    char *after = slurp(in_folder("labels.tsv"), &size_after);
    ck_assert_uint_eq(size_after, size);
    ck_assert_mem_eq(after, before, size);
    page_session_free(session);
    free(before);
    free(after);
}

/* Strokes as another program may have written them. */
TEST(damaged_strokes_are_refused_by_name_and_stay_as_they_are)
{
    struct page_session *session = fresh_session();
    static const char *const bad[][2] = {
        {"[1", "strokes/a.json"},
        {"{}", "width, height, accepted, cursor or strokes is missing"},
        {"{\"width\":9,\"height\":60,\"accepted\":0,\"cursor\":0,\"strokes\":[]}", "9x60, this one is 90x60"},
        {STROKES("2", ""), "cursor 2 of 0 strokes"},
        {STROKES("1", ""), "cursor 1 of 0 strokes"},
        {STROKES("-1", ""), "cursor -1"},
        {STROKES("1", "{\"kind\":\"figure\"}"), "object or label is missing"},
        {STROKES("1", STROKE("blob", "0", "1", "3", "[5400]")), "kind \\\"blob\\\""},
        {STROKES("1", STROKE("figure", "250", "1", "3", "[5400]")), "object 250, must be 0..249"},
        {STROKES("1", STROKE("figure", "0", "255", "3", "[5400]")), "label 255, must be 1..254"},
        {STROKES("1", STROKE("figure", "0", "0", "3", "[5400]")), "label 0, must be 1..254"},
        {STROKES("1", STROKE("figure", "0", "1", "501", "[5400]")), "radius must be 0..500"},
        {STROKES("1", STROKE("figure", "0", "1", "3", "1")), "a stroke without its mask"},
        {STROKES("1", STROKE("figure", "0", "1", "3", "[5400.5]")), "run 0 is no length"},
        {STROKES("1", STROKE("figure", "0", "1", "3", "[5401,-1]")), "run 1 is no length"},
        {STROKES("1", STROKE("figure", "0", "1", "3", "[2147483648]")), "run 0 is no length"},
        {STROKES("1", STROKE("figure", "0", "1", "3", "[2147483647]")), "not of the image's size"},
        {STROKES("1", STROKE("figure", "0", "1", "3", "[5399]")), "not of the image's size"},
        {STROKES("1", STROKE("figure", "0", "1", "3", "[5400,1]")), "not of the image's size"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        spill(in_folder("strokes/a.json"), bad[k][0], strlen(bad[k][0]));
        expect(session, 422, "POST", "/api/open/0", "{}", bad[k][1]);
        expect(session, 422, "POST", "/api/open/0", "{}", "strokes/a.json");
        expect(session, 409, "POST", "/api/stroke/0", FIGURE(0), "open it again");
        char *kept = slurp(in_folder("strokes/a.json"), NULL);
        ck_assert_str_eq(kept, bad[k][0]);
        free(kept);
    }
    const char *good = STROKES("1", STROKE("figure", "0", "1", "3", "[5300,100]"));
    spill(in_folder("strokes/a.json"), good, strlen(good));
    expect(session, 200, "POST", "/api/open/0", "{}", "\"runs\":[0,5300,1,100]");
    page_session_free(session);
}

TESTS(a_folder_that_takes_no_files_is_refused_before_anything_is_drawn, 0, 3)
{
    static const char *const folders[] = {"", "masks", "strokes"};
    struct page_session *session = fresh_session(), *refused = NULL;
    page_session_free(session);
    ck_assert_int_eq(chmod(temporary_folder(), 0755), 0);
    bool is_root = getuid() == 0; /* whom permissions do not stop */
    for (int k = 0; k < 3; k++)
        ck_assert_int_eq(chmod(in_folder(folders[k]), k != _i ? 0777 : is_root ? 0755 : 0555), 0);
    if (is_root)
        ck_assert_int_eq(setresuid(65534, 65534, 0), 0);
    must_fail(CLV_ERR_CREATE, formatted("set%s%s: cannot save labels there", _i ? "/" : "", folders[_i]),
              page_session_new(&refused, &options, err));
    if (is_root)
        ck_assert_int_eq(setresuid(0, 0, 0), 0);
    ck_assert_int_eq(chmod(in_folder(folders[_i]), 0755), 0);
    ck_assert_ptr_null(refused);
}
