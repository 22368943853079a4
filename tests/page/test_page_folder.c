/* The folder that is labelled: what other programs wrote there, what is refused, what training then reads. */
#include <stdarg.h>
#include <unistd.h>

#include "base/json.h"
#include "page/small_page.h"
#include "support/disk.h"

TEST(images_of_one_stem_have_masks_and_strokes_of_their_own)
{
    struct clv_set set = {0};
    static const char *const files[] = {"masks/dup.jpg.png", "masks/dup.png.png", "strokes/dup.jpg.json",
                                        "strokes/dup.png.json"};
    ck_assert_int_eq(mkdir(here("set"), 0777), 0);
    put_image("dup.jpg");
    put_image("dup.png");
    put_image("other.png");
    struct page_session *session = open_session();
    free(opened(session, 0));
    free(answer(session, 200, "POST", "/api/stroke/0", FOREGROUND(0)));
    free(opened(session, 1));
    free(answer(session, 200, "POST", "/api/stroke/1", FAR(0)));
    for (size_t k = 0; k < 4; k++)
        ck_assert_msg(access(in_folder(files[k]), F_OK) == 0, "%s", files[k]);
    page_session_free(session);
    session = open_session();
    expect_open(session, 200, 0, "\"object\":0,\"label\":1,\"box\":[28,13,35,35]");
    expect_open(session, 200, 1, "\"object\":1,\"label\":1");
    page_session_free(session);
    must(clv_set_read_folder(&set, here("set"), err));
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
    free(answer(session, 200, "POST", "/api/stroke/0", FOREGROUND(1)));
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
    ck_assert_int_eq(mkdir(here("set"), 0777), 0);
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
                free(answer(session, 200, "POST", formatted("/api/stroke/%d", k), FOREGROUND(0)));
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

TEST(masks_and_boxes_of_other_programs_are_kept)
{
    uint8_t other[WIDTH * HEIGHT] = {0, 1, 1};
    const char rows[] = "image\tlabel\tx\ty\tw\th\tnote\nb.png\thorse\t1\t2\t3\t4\tmine\na.png\tcow\t0\t0\t9\t9\told\n";
    ck_assert_int_eq(mkdir(here("set"), 0777), 0);
    ck_assert_int_eq(mkdir(in_folder("masks"), 0777), 0);
    put_image("a.png");
    put_image("b.png");
    must(clv_png_write_labels(in_folder("masks/b.png"), WIDTH, HEIGHT, other, NULL, 0, err));
    spill(in_folder("boxes.tsv"), rows, sizeof rows - 1);
    struct page_session *session = open_session();
    expect(session, 200, "GET", "/api/state", NULL,
           "{\"status\":\"accepted\",\"expected\":-1.0000,\"name\":\"b.png\",");
    expect(session, 200, "POST", "/api/open/1", "{}", "\"runs\":[0,1,1,2,0,5397]");
    expect(session, 200, "POST", "/api/open/0", "{}", "\"strokes\":[{\"kind\":\"box\",\"object\":0,");
    free(answer(session, 200, "POST", "/api/stroke/0", FOREGROUND(1)));
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
        free(answer(session, 200, "POST", formatted("/api/stroke/%d", i), FOREGROUND(0)));
        expect(session, 200, "POST", formatted("/api/accept/%d", i), "{\"revision\":1}", "\"accepted\":true");
    }
    free(answer(session, 200, "POST", "/api/train", "{}"));
    ck_assert_str_eq(started, "a.png\nb.png\n");
    expect(session, 200, "POST", "/api/label", "{\"name\":\"sky\"}", "\"name\":\"sky\"");
    expect(session, 400, "POST", "/api/label", "{\"name\":\"sky\"}", "already");
    expect(session, 400, "POST", "/api/label", "{\"name\":\"a\\tb\"}", "tabs");
    page_session_free(session);
    must(clv_set_read(&set, here("set"), err));
    ck_assert_uint_eq(set.n_items, 2);
    ck_assert_str_eq(set.items[1].mask, in_folder("masks/b.png"));
    ck_assert_int_eq(set.labels.n_labels, 3);
    clv_set_release(&set);
}

TEST(folders_that_cannot_be_labelled_are_refused_by_name)
{
    struct page_session *session = NULL;
    ck_assert_int_eq(mkdir(here("set"), 0777), 0);
    options = (struct page_options){.folder = here("set"), .model = "none"};
    must_fail(CLV_ERR_NO_INPUT, "holds no image", page_session_new(&session, &options, err));
    ck_assert_int_ne(access(in_folder("masks"), F_OK), 0);
    put_image("a.png");
    put_image("a.jpg");
    put_image("a.jpg.png");
    must_fail(CLV_ERR_DATA, "a.jpg and a.jpg.png: their masks would be one file",
              page_session_new(&session, &options, err));
    unlink(in_folder("a.jpg"));
    unlink(in_folder("a.jpg.png"));
    ck_assert(!path_exists(in_folder("masks")) && !path_exists(in_folder("strokes")));
    spill(in_folder("boxes.tsv"), "image\tx\n", 8);
    ck_assert_int_eq(mkdir(in_folder("masks"), 0777), 0);
    options.objects = true;
    must_fail(CLV_ERR_DATA, "no column \"y\"", page_session_new(&session, &options, err));
    ck_assert(path_is_folder(in_folder("masks"))); /* was there before */
    ck_assert(!path_exists(in_folder("strokes")) && !path_exists(in_folder("instances")));
    spill(in_folder("strokes"), "no folder", 9);
    must_fail(CLV_ERR_CREATE, "strokes", page_session_new(&session, &options, err));
    unlink(in_folder("strokes"));
    unlink(in_folder("boxes.tsv"));
    options.folder = here("absent");
    must_fail(CLV_ERR_NO_INPUT, "absent", page_session_new(&session, &options, err));
    ck_assert_ptr_null(session);
}

TEST(boxes_of_the_image_are_found_in_whatever_column_it_stands)
{
    const char rows[] =
        "label\tnote\timage\tx\ty\tw\th\ncow\ta.png\tb.png\t1\t2\t3\t4\nold\t\ta.png\t0\t0\t9\t9\nshort\n";
    struct page_session *session = fresh_session();
    spill(in_folder("boxes.tsv"), rows, sizeof rows - 1);
    free(answer(session, 200, "POST", "/api/open/0", "{}"));
    free(answer(session, 200, "POST", "/api/stroke/0", FOREGROUND(0)));
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
        free(answer(session, 200, "POST", "/api/stroke/0", start ? FOREGROUND(0) : FOREGROUND(1)));
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

TEST(boxes_of_corners_are_shown_and_added_to)
{
    static const char rows[] = "filename\txmin\tymin\txmax\tymax\na.png\t27\t12\t63\t48\n";
    page_session_free(fresh_session());
    spill(in_folder("boxes.tsv"), rows, sizeof rows - 1);
    struct page_session *session = open_session();
    expect_open(session, 200, 0, "\"points\":[27.0,12.0,63.0,48.0]");
    free(answer(session, 200, "POST", "/api/stroke/0", FOREGROUND(1)));
    char *boxes = slurp(in_folder("boxes.tsv"), NULL);
    ck_assert_str_eq(boxes, "filename\txmin\tymin\txmax\tymax\na.png\t28\t13\t63\t48\n");
    free(boxes);
    expect(session, 422, "POST", "/api/label", "{\"name\":\"sky\"}", "no column \\\"label\\\"");
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
        {STROKES("1", "{\"kind\":\"foreground\"}"), "object or label is missing"},
        {STROKES("1", STROKE("blob", "0", "1", "3", "[5400]")), "kind \\\"blob\\\""},
        {STROKES("1", STROKE("foreground", "5000", "1", "3", "[5400]")), "object 5000, must be 0..4999"},
        {STROKES("1", STROKE("foreground", "0", "255", "3", "[5400]")), "label 255, must be 1..254"},
        {STROKES("1", STROKE("foreground", "0", "0", "3", "[5400]")), "label 0, must be 1..254"},
        {STROKES("1", STROKE("foreground", "0", "1", "501", "[5400]")), "radius must be 0..500"},
        {STROKES("1", STROKE("foreground", "0", "1", "3", "1")), "a stroke without its mask"},
        {STROKES("1", STROKE("foreground", "0", "1", "3", "[5400.5]")), "run 0 is not a length"},
        {STROKES("1", STROKE("foreground", "0", "1", "3", "[5401,-1]")), "run 1 is not a length"},
        {STROKES("1", STROKE("foreground", "0", "1", "3", "[2147483648]")), "run 0 is not a length"},
        {STROKES("1", STROKE("foreground", "0", "1", "3", "[2147483647]")), "not of the image's size"},
        {STROKES("1", STROKE("foreground", "0", "1", "3", "[5399]")), "not of the image's size"},
        {STROKES("1", STROKE("foreground", "0", "1", "3", "[5400,1]")), "not of the image's size"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        spill(in_folder("strokes/a.json"), bad[k][0], strlen(bad[k][0]));
        expect(session, 422, "POST", "/api/open/0", "{}", bad[k][1]);
        expect(session, 422, "POST", "/api/open/0", "{}", "strokes/a.json");
        expect(session, 409, "POST", "/api/stroke/0", FOREGROUND(0), "open it again");
        char *kept = slurp(in_folder("strokes/a.json"), NULL);
        ck_assert_str_eq(kept, bad[k][0]);
        free(kept);
    }
    const char *good = STROKES("1", STROKE("foreground", "0", "1", "3", "[5300,100]"));
    spill(in_folder("strokes/a.json"), good, strlen(good));
    expect(session, 200, "POST", "/api/open/0", "{}", "\"runs\":[0,5300,1,100]");
    page_session_free(session);
}

TEST(strokes_that_earlier_versions_saved_are_read)
{
    const char *old =
        STROKES("2", STROKE("figure", "0", "1", "3", "[5300,100]") "," STROKE("ground", "0", "1", "3", "[5300,50,50]"));
    page_session_free(fresh_session());
    spill(in_folder("strokes/a.json"), old, strlen(old));
    struct page_session *session = open_session();
    expect(session, 200, "POST", "/api/open/0", "{}", "\"kind\":\"background\"");
    expect(session, 200, "POST", "/api/undo/0", "{\"revision\":0}", "\"kind\":\"foreground\"");
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
