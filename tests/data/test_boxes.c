#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

static const char *file(const char *name, const char *text, size_t size)
{
    const char *path = formatted("%s/%s", temporary_folder(), name);
    spill(path, text, size);
    return path;
}

static struct clv_boxes read_text(const char *name, const char *text)
{
    struct clv_boxes boxes = {0};
    must(clv_boxes_read(&boxes, file(name, text, strlen(text)), err));
    return boxes;
}

static void expect_bad(const char *name, const char *text, size_t size, const char *part)
{
    struct clv_boxes boxes = {.n_labels = 77};
    must_fail(CLV_ERR_DATA, part, clv_boxes_read(&boxes, file(name, text, size), err));
    ck_assert(!boxes.images && boxes.n_labels == 77); /* unchanged */
}
#define bad(name, text, part) expect_bad(name, text, sizeof(text) - 1, part)

static void check_box(const struct clv_box *box, double x, double y, double width, double height)
{
    ck_assert_msg(box->x == x && box->y == y && box->width == width && box->height == height, "%g,%g %gx%g", box->x,
                  box->y, box->width, box->height);
}

static const struct clv_image_boxes *find(const struct clv_boxes *boxes, const char *image)
{
    const struct clv_image_boxes *entry = NULL;
    must(clv_boxes_find(&entry, boxes, image, err));
    return entry;
}

#define HEADER "image\tmask\tlabel\tx\ty\tw\th\n"

START_TEST(a_table_gives_boxes_by_image_in_the_order_of_its_lines)
{
    struct clv_boxes boxes = read_text("boxes.tsv", "\xef\xbb\xbf" HEADER "i/b.jpg\tm/b0.png\tcow\t1\t2.5\t3\t4e1\r\n"
                                                    "./i//a.jpg\t\thorse\t0\t0\t10\t10\n\n"
                                                    "i/b.jpg\tm/b1.png\thorse\t-1\t2\t3\t4\n");
    ck_assert_int_eq(boxes.form, CLV_BOXES_TSV);
    ck_assert_uint_eq(boxes.n_images, 2);
    ck_assert_uint_eq(boxes.n_labels, 2);
    ck_assert_str_eq(boxes.labels[0], "cow");
    ck_assert_str_eq(boxes.labels[1], "horse");
    ck_assert_str_eq(boxes.images[0].image, "i/a.jpg");
    const struct clv_image_boxes *entry = find(&boxes, "i/b.jpg");
    ck_assert_uint_eq(entry->n_boxes, 2);
    check_box(&entry->boxes[0], 1, 2.5, 3, 40);
    check_box(&entry->boxes[1], -1, 2, 3, 4);
    ck_assert_str_eq(entry->boxes[0].mask, "m/b0.png");
    ck_assert_str_eq(entry->boxes[1].mask, "m/b1.png");
    ck_assert_int_eq(entry->boxes[1].label, 1);
    ck_assert_uint_eq(entry->boxes[1].place, 5);
    ck_assert(!find(&boxes, "i/a.jpg")->boxes[0].mask);
    ck_assert(!find(&boxes, "a.jpg") && !find(&boxes, "j/b.jpg") && !find(&boxes, "i/c.jpg")); /* paths, not names */
    clv_boxes_release(&boxes);
    clv_boxes_release(&boxes);
}
END_TEST

START_TEST(bad_tables_are_refused_with_file_line_and_value)
{
    bad("b.tsv", "", "b.tsv: is empty");
    bad("b.tsv", HEADER, "b.tsv: holds no boxes");
    bad("b.tsv", "image\tx\ty\tw\na\t1\t2\t3\n", "no column \"h\"");
    bad("b.tsv", "label\tx\ty\tw\th\na\t1\t2\t3\t4\n", "no column \"image\"");
    bad("b.tsv", HEADER "\tm\tl\t1\t1\t1\t1\n", "line 2: image is empty");
    bad("b.tsv", HEADER "a\tm\tl\t1\tone\t1\t1\n", "b.tsv: line 2: y is \"one\", which is no number");
    bad("b.tsv", HEADER "a\tm\tl\tnan\t1\t1\t1\n", "line 2: x is \"nan\", which is no number");
    bad("b.tsv", HEADER "a\tm\tl\t1\t1\tinf\t1\n", "line 2: w is \"inf\", which is no number");
    bad("b.tsv", HEADER "a\tm\tl\t1\t1\t1e10\t1\n", "line 2: width is 1e+10, which is out of range");
    bad("b.tsv", HEADER "a\tm\tl\t1\t1\t1\t0\n", "line 2: height is 0; a box is wider and higher than 0");
    bad("b.tsv", HEADER "a\tm\tl\t1\t1\t-3\t1\n", "line 2: width is -3; a box is wider");
    bad("b.tsv", HEADER "a\tm\tl\t1\t1\t1\n", "line 2 has 6 fields");
    bad("b.tsv", HEADER "a\t../m\tl\t1\t1\t1\t1\n", "line 2: mask ../m: leads outside its folder");
    bad("b.tsv", HEADER "a\t/m\tl\t1\t1\t1\t1\n", "line 2: mask /m: leads outside its folder");
    struct clv_boxes boxes = {0};
    must_fail(CLV_ERR_NO_INPUT, "absent.tsv", clv_boxes_read(&boxes, "absent.tsv", err));
}
END_TEST

START_TEST(placed_boxes_are_cut_at_the_border_and_refused_outside)
{
    struct clv_boxes boxes = read_text("b.tsv", HEADER "in\t\tl\t1\t2\t3\t4\n"
                                                       "in\t\tl\t-2\t-0.4\t5\t21\n"
                                                       "in\t\tl\t0\t0\t10\t20.5\n"
                                                       "out\t\tl\t1\t1\t1\t1\nout\t\tl\t10\t2\t3\t4\n");
    struct clv_box placed[3];
    size_t n_cut;
    must(clv_boxes_place(placed, &n_cut, &boxes, find(&boxes, "in"), 10, 20, err));
    check_box(&placed[0], 1, 2, 3, 4);
    check_box(&placed[1], 0, 0, 3, 20);
    check_box(&placed[2], 0, 0, 10, 20);
    ck_assert_uint_eq(n_cut, 1);
    placed[0].x = 77;
    must_fail(CLV_ERR_DATA, "b.tsv: line 6: box 3x4 at 10,2 lies outside out, which is 10x20",
              clv_boxes_place(placed, &n_cut, &boxes, find(&boxes, "out"), 10, 20, err));
    clv_boxes_release(&boxes);
}
END_TEST

START_TEST(a_box_covers_the_pixels_whose_centres_it_holds_and_at_least_one)
{
    static const struct {
        struct clv_box box;
        struct clv_pixel_box pixels;
    } cases[] = {
        {{.x = 1, .y = 2, .width = 3, .height = 4}, {1, 2, 4, 6}},
        {{.x = 0.5, .y = 0.6, .width = 1, .height = 1}, {0, 1, 1, 2}},
        {{.x = 0, .y = 0, .width = 10, .height = 20}, {0, 0, 10, 20}},
        {{.x = 9.7, .y = 3.6, .width = 0.3, .height = 0.1}, {9, 3, 10, 4}},
        {{.x = 9.9, .y = 19.99, .width = 0.1, .height = 0.01}, {9, 19, 10, 20}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct clv_pixel_box got = clv_box_pixels(&cases[i].box, 10, 20), want = cases[i].pixels;
        ck_assert_msg(memcmp(&got, &want, sizeof got) == 0, "case %zu: %d %d %d %d", i, got.first_x, got.first_y,
                      got.end_x, got.end_y);
    }
}
END_TEST

START_TEST(the_real_tables_are_read)
{
    const char *path = real_data("the_real_tables_are_read", "boxes-berkeley/boxes.tsv");
    if (!path)
        return;
    struct clv_boxes boxes = {0};
    must(clv_boxes_read(&boxes, path, err));
    ck_assert_uint_eq(boxes.n_images, 96);
    size_t n = 0;
    for (size_t i = 0; i < boxes.n_images; i++)
        n += boxes.images[i].n_boxes;
    ck_assert_uint_eq(n, 100);
    clv_boxes_release(&boxes);
    must(clv_boxes_read(&boxes, real_data("the_real_tables_are_read", "horses/boxes.tsv"), err));
    check_box(&find(&boxes, "images/horse001.jpg")->boxes[0], 63, 49, 243, 155);
    clv_boxes_release(&boxes);
}
END_TEST

Suite *boxes_suite(void)
{
    Suite *suite = suite_create("boxes");
    TCase *tests = tcase_create("boxes");
    tcase_add_test(tests, a_table_gives_boxes_by_image_in_the_order_of_its_lines);
    tcase_add_test(tests, bad_tables_are_refused_with_file_line_and_value);
    tcase_add_test(tests, placed_boxes_are_cut_at_the_border_and_refused_outside);
    tcase_add_test(tests, a_box_covers_the_pixels_whose_centres_it_holds_and_at_least_one);
    tcase_add_test(tests, the_real_tables_are_read);
    suite_add_tcase(suite, tests);
    return suite;
}
