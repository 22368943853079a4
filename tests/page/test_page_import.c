/* Boxes and outlines of other programs on the page. */
#include <unistd.h>

#include "page/small_page.h"

#define LABELS "value\tname\n0\tground\n1\tcow\n2\thorse\n"

/* A triangle and a rectangle. */
static const char labelme[] =
    "{\"imagePath\": \"a.png\", \"imageWidth\": 90, \"imageHeight\": 60, \"shapes\": ["
    "{\"label\": \"cow\", \"shape_type\": \"rectangle\", \"points\": [[20, 5], [70, 55]]},"
    "{\"label\": \"horse\", \"shape_type\": \"polygon\", \"points\": [[0, 0], [10, 0], [0, 10]]}]}";
static const char voc[] =
    "<annotation><filename>a.png</filename><size><width>90</width><height>60</height></size><object><name>cow</name>"
    "<bndbox><xmin>21</xmin><ymin>6</ymin><xmax>70</xmax><ymax>55</ymax></bndbox></object></annotation>";
static const char coco[] =
    "{\"images\": [{\"id\": 1, \"file_name\": \"a.png\", \"width\": 90, \"height\": 60}], \"categories\": [{\"id\": 1, "
    "\"name\": \"cow\"}], \"annotations\": [{\"id\": 1, \"image_id\": 1, \"category_id\": 1, \"bbox\": [20, 5, 50, "
    "50]}]}";
static const char yolo[] = "0 0.5 0.5 0.5555555 0.8333333\n";

/* A set of a.png and b.png, and a file of boxes next to it: its path. */
static const char *put_set(const char *name, const char *text, const char *labels)
{
    static char path[4096];
    ck_assert_int_eq(mkdir(here("set"), 0777), 0);
    ck_assert_int_eq(mkdir(here("other"), 0777), 0);
    put_image("a.png");
    put_image("b.png");
    if (labels)
        spill(in_folder("labels.tsv"), labels, strlen(labels));
    snprintf(path, sizeof path, "%s", here("other/%s", name));
    spill(path, text, strlen(text));
    return path;
}

static struct page_session *open_with(const char *boxes)
{
    struct page_session *session = NULL;
    choose_options();
    options.boxes = boxes;
    must(page_session_new(&session, &options, err));
    return session;
}

TEST(outlines_and_boxes_are_shown_edited_and_saved_in_the_folder_s_own_layout)
{
    const char *path = put_set("a.json", labelme, LABELS);
    struct page_session *session = open_with(path);
    expect(session, 200, "GET", "/api/state", NULL, "{\"status\":\"new\",\"expected\":-1.0000,\"name\":\"a.png\",");
    expect(session, 200, "POST", "/api/open/1", "{}", "\"objects\":[]");
    char *shown = answer(session, 200, "POST", "/api/open/0", "{}");
    ck_assert_ptr_nonnull(strstr(shown, "\"object\":0,\"label\":1,\"box\":[28,13,35,35]")); /* what is in the box */
    ck_assert_ptr_nonnull(strstr(shown, "\"object\":1,\"label\":2,\"box\":[0,0,"));
    free(shown);
    ck_assert_int_ne(access(in_folder("masks/a.png"), F_OK), 0); /* looking changes nothing */
    free(answer(session, 200, "POST", "/api/stroke/0",
                "{\"revision\":2,\"kind\":\"delete\",\"object\":1,\"label\":2,\"radius\":0}"));
    char *boxes = slurp(in_folder("boxes.tsv"), NULL), *theirs = slurp(path, NULL);
    ck_assert_str_eq(boxes, "image\tlabel\tx\ty\tw\th\na.png\tcow\t28\t13\t35\t35\n");
    ck_assert_str_eq(theirs, labelme);
    expect(session, 200, "POST", "/api/undo/0", "{\"revision\":3}", "\"label\":2");
    page_session_free(session);
    session = open_with(path); /* what was saved counts, not what was imported */
    expect(session, 200, "POST", "/api/open/0", "{}", "\"redo\":true");
    page_session_free(session);
    free(boxes);
    free(theirs);
}

TESTS(boxes_of_every_format_are_shown, 0, 3)
{
    const char *const files[][2] = {{"a.xml", voc}, {"coco.json", coco}, {"a.txt", yolo}};
    struct page_session *session = open_with(put_set(files[_i][0], files[_i][1], NULL));
    expect(session, 200, "POST", "/api/open/0", "{}", "\"object\":0,\"label\":1,\"box\":[28,13,35,35]");
    page_session_free(session);
}

/* A PGM: white pixels are foreground. */
TEST(a_mask_of_another_format_is_shown_edited_and_kept_aside)
{
    char pgm[16 + WIDTH * HEIGHT] = "P5\n90 60\n255\n";
    size_t head = strlen(pgm);
    memset(pgm + head, 0, WIDTH * HEIGHT);
    memset(pgm + head + 10, 255, 5);
    ck_assert_int_eq(mkdir(here("set"), 0777), 0);
    ck_assert_int_eq(mkdir(in_folder("masks"), 0777), 0);
    put_image("a.png");
    put_image("b.png");
    spill(in_folder("masks/b.pgm"), pgm, head + WIDTH * HEIGHT);
    struct page_session *session = open_session();
    expect(session, 200, "GET", "/api/state", NULL,
           "{\"status\":\"accepted\",\"expected\":-1.0000,\"name\":\"b.png\",");
    expect(session, 200, "POST", "/api/open/1", "{}", "\"runs\":[0,10,1,5,0,5385]");
    ck_assert_int_eq(access(in_folder("masks/b.pgm"), F_OK), 0);
    free(answer(session, 200, "POST", "/api/stroke/1", FOREGROUND(1)));
    page_session_free(session);
    ck_assert_int_ne(access(in_folder("masks/b.pgm"), F_OK), 0);
    size_t size;
    char *kept = slurp(in_folder("masks/.replaced/b.pgm"), &size);
    ck_assert(size == head + WIDTH * HEIGHT && memcmp(kept, pgm, size) == 0);
    free(kept);
    struct clv_set set = {0}; /* one mask an image */
    must(clv_set_read_folder(&set, here("set"), err));
    ck_assert_ptr_nonnull(strstr(set.items[1].mask, "masks/b.png"));
    clv_set_release(&set);
    session = open_session();
    expect(session, 200, "POST", "/api/open/1", "{}", "\"undo\":true");
    page_session_free(session);
}

TEST(boxes_are_shown_from_the_largest_on_the_first_of_equal_ones_before_and_background_not_at_all)
{
    const char rows[] = "image\tlabel\tx\ty\tw\th\na.png\thorse\t1\t1\t4\t5\na.png\tcow\t50\t1\t5\t4\n"
                        "a.png\tground\t0\t0\t90\t60\na.png\tcow\t10\t30\t8\t9\n";
    static const double first[][2] = {{10, 30}, {1, 1}, {50, 1}};
    struct page_session *session = open_with(put_set("boxes.tsv", rows, LABELS));
    char *text = opened(session, 0), *at = text;
    for (int k = 0; k < 3; k++) {
        at = strstr(at, formatted("{\"kind\":\"box\",\"object\":%d,\"radius\":0,\"points\":[%.1f,%.1f,", k, first[k][0],
                                  first[k][1]));
        ck_assert_ptr_nonnull(at);
    }
    ck_assert_ptr_nonnull(strstr(text, "\"next_object\":3"));
    page_session_free(session);
    free(text);
}

TESTS(a_table_of_boxes_without_rows_shows_nothing_and_is_written_to, 0, 2)
{
    const char *const heads[] = {"image\tlabel\tx\ty\tw\th\n", "image\tlabel\tx\ty\tw\th"};
    page_session_free(fresh_session());
    spill(in_folder("boxes.tsv"), heads[_i], strlen(heads[_i]));
    struct page_session *session = open_session();
    expect_open(session, 200, 0, "\"objects\":[]");
    free(answer(session, 200, "POST", "/api/stroke/0", FOREGROUND(0)));
    char *boxes = slurp(in_folder("boxes.tsv"), NULL);
    ck_assert_str_eq(boxes, "image\tlabel\tx\ty\tw\th\na.png\tforeground\t28\t13\t35\t35\n");
    page_session_free(session);
    free(boxes);
}

TEST(boxes_that_cannot_be_shown_are_refused_by_name)
{
    struct page_session *session = NULL;
    const char *path = put_set("a.json", labelme, "value\tname\n0\tground\n1\tcow\n2\tsheep\n");
    choose_options();
    options.boxes = path;
    must_fail(CLV_ERR_DATA, "other/a.json: has labels that labels.tsv of", page_session_new(&session, &options, err));
    options.boxes = here("absent");
    must_fail(CLV_ERR_NO_INPUT, "absent", page_session_new(&session, &options, err));
    spill(in_folder("labels.tsv"), LABELS, strlen(LABELS));
    char *other = strdup(labelme);
    memcpy(strstr(other, "\"imageWidth\": 90"), "\"imageWidth\": 80", 16);
    spill(path, other, strlen(other));
    session = open_with(path);
    expect(session, 422, "POST", "/api/open/0", "{}", "its boxes are for an image of 80x60");
    expect(session, 200, "POST", "/api/open/1", "{}", "\"objects\":[]");
    page_session_free(session);
    free(other);
}
