#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/boxes/boxes.h"
#include "data/boxes/boxes_text.h"

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

/* An entry whose name is encoded as in links is found, or memory is out: its name is never cut. */
TEST(out_of_memory_no_image_is_without_boxes)
{
    char name[200] = "i/", row[1024] = HEADER "i/";
    for (int k = 0; k < 20; k++) {
        strcat(name, "a, word ");
        strcat(row, "a,%20word%20");
    }
    strcat(row, ".jpg\t\tcow\t1\t2\t3\t4\n");
    strcat(name, ".jpg");
    const struct clv_image_boxes *entry = NULL;
    struct clv_boxes boxes = read_text("boxes.tsv", row);
    for (size_t request = 1; request < 40; request++, entry = NULL) {
        array_fail_request(request);
        const enum clv_status status = clv_boxes_find(&entry, &boxes, name, NULL);
        array_fail_request(0);
        ck_assert(status == CLV_ERR_MEMORY || status == CLV_OK);
        ck_assert_ptr_eq(entry, status == CLV_OK ? boxes.images : NULL);
    }
    must(clv_boxes_find(&entry, &boxes, "", err));
    ck_assert_ptr_null(entry);
    clv_boxes_release(&boxes);
}

TEST(a_table_gives_boxes_by_image_in_the_order_of_its_lines)
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
    ck_assert_uint_eq(entry->boxes[1].index, 5);
    ck_assert(!find(&boxes, "i/a.jpg")->boxes[0].mask);
    ck_assert(find(&boxes, "b.png") == entry && find(&boxes, "j/b.jpg") == entry && !find(&boxes, "i/c.jpg"));
    clv_boxes_release(&boxes);
    clv_boxes_release(&boxes);
}

TEST(bad_tables_are_refused_with_file_line_and_value)
{
    bad("b.tsv", "", "b.tsv: is empty");
    bad("b.tsv", HEADER, "b.tsv: holds no boxes");
    bad("b.tsv", "image\tx\ty\tw\na\t1\t2\t3\n", "no column \"h\"");
    bad("b.tsv", "label\tx\ty\tw\th\na\t1\t2\t3\t4\n", "no column \"image\"");
    bad("b.tsv", HEADER "\tm\tl\t1\t1\t1\t1\n", "line 2: image is empty");
    bad("b.tsv", HEADER "a\tm\tl\t1\tone\t1\t1\n", "b.tsv: line 2: y is \"one\", which is not a number");
    bad("b.tsv", HEADER "a\tm\tl\tnan\t1\t1\t1\n", "line 2: x is \"nan\", which is not a number");
    bad("b.tsv", HEADER "a\tm\tl\t1\t1\tinf\t1\n", "line 2: w is \"inf\", which is not a number");
    bad("b.tsv", HEADER "a\tm\tl\t1\t1\t1e10\t1\n", "line 2: width is 1e+10, which is out of range");
    bad("b.tsv", HEADER "a\tm\tl\t1\t1\t1\n", "line 2 has 6 fields");
    bad("b.tsv", HEADER "a\t../m\tl\t1\t1\t1\t1\n", "line 2: mask ../m: leads outside its folder");
    bad("b.tsv", HEADER "a\t/m\tl\t1\t1\t1\t1\n", "line 2: mask /m: leads outside its folder");
    struct clv_boxes boxes = {0};
    must_fail(CLV_ERR_NO_INPUT, "absent.tsv", clv_boxes_read(&boxes, "absent.tsv", err));
}

TEST(placed_boxes_are_cut_at_the_border_and_refused_outside)
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
    must_fail(CLV_ERR_DATA, "b.tsv: line 6: box 3x4 at 10,2 is outside out, which is 10x20",
              clv_boxes_place(placed, &n_cut, &boxes, find(&boxes, "out"), 10, 20, err));
    clv_boxes_release(&boxes);
}

TEST(a_box_covers_the_pixels_whose_centres_it_holds_and_at_least_one)
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

#define VOC(body)                                                                                                      \
    "<?xml version='1.0'?><annotation><folder>x</folder><filename>a.jpg</filename>"                                    \
    "<size><width>40</width><height> 30\n</height><depth>3</depth></size>" body "</annotation>"
#define OBJECT(name, a, b, c, d)                                                                                       \
    "<object><name>" name "</name><pose>Left</pose><bndbox><xmin>" a "</xmin><ymin>" b "</ymin><xmax>" c               \
    "</xmax><ymax>" d "</ymax></bndbox><part><name>head</name><bndbox><xmin>7</xmin></bndbox></part></object>"

TEST(voc_corners_count_from_one_and_are_inside)
{
    struct clv_boxes boxes =
        read_text("note.xml", VOC(OBJECT("dog &amp; cat", "1", "1", "40", "30") OBJECT("dog", "8.5", "3", "8.5", "4")));
    ck_assert_int_eq(boxes.form, CLV_BOXES_VOC);
    const struct clv_image_boxes *entry = find(&boxes, "images/a.jpg");
    ck_assert_uint_eq(entry->n_boxes, 2);
    check_box(&entry->boxes[0], 0, 0, 40, 30);
    check_box(&entry->boxes[1], 7.5, 2, 1, 2);
    ck_assert_str_eq(boxes.labels[entry->boxes[0].label], "dog & cat");
    struct clv_box placed[2];
    must(clv_boxes_place(placed, NULL, &boxes, entry, 40, 30, err));
    must_fail(CLV_ERR_DATA, "note.xml: its boxes are for an image of 40x30, a.jpg is 30x40",
              clv_boxes_place(placed, NULL, &boxes, entry, 30, 40, err));
    ck_assert_ptr_eq(find(&boxes, "a.png"), entry); /* the stem */
    ck_assert(!find(&boxes, "note.jpg"));
    clv_boxes_release(&boxes);

    boxes = read_text("own.xml", "<annotation><object><name>d</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>2</xmax>"
                                 "<ymax>2</ymax></bndbox></object></annotation>");
    ck_assert_uint_eq(find(&boxes, "own.jpg")->n_boxes, 1); /* no filename: the annotation's own */
    clv_boxes_release(&boxes);
    boxes = read_text("none.xml", VOC(""));
    ck_assert_uint_eq(find(&boxes, "a.jpg")->n_boxes, 0);
    clv_boxes_release(&boxes);
}

TEST(bad_voc_is_refused_with_object_and_value)
{
    bad("v.xml", "", "v.xml: bad XML in line 1");
    bad("v.xml", "<annotation>\n<object></annotation>", "v.xml: bad XML in line 2, column");
    bad("v.xml", "<html/>", "the document is a <html>, not an <annotation>");
    bad("v.xml", VOC(OBJECT("d", "1", "1", "3", "2") OBJECT("d", "1", "x", "3", "2")),
        "ymin is \"x\", which is not a num");
    bad("v.xml", VOC(OBJECT("d", "nan", "1", "3", "2")), "xmin is \"nan\"");
    bad("v.xml", "<annotation><size><width>-4</width></size></annotation>", "width is -4, which is not a size");
    bad("v.xml", "<!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]><annotation>&b;</annotation>",
        "v.xml: line 1: a document type is not allowed here");
    char deep[64 * 3 + 1] = "";
    for (int i = 0; i < 64; i++)
        memcpy(deep + 3 * i, i ? "<a>" : "<b>", 4);
    char *text = malloc(1000);
    snprintf(text, 1000, "<annotation>%s", deep);
    expect_bad("v.xml", text, strlen(text), "elements nested deeper than 32");
    free(text);
    size_t size = 1 << 16;
    text = malloc(size);
    memset(text, 'x', size);
    memcpy(text, "<annotation>", 12);
    expect_bad("v.xml", text, size, "text of more than 4096 bytes");
    free(text);
}

#define COCO(annotations)                                                                                              \
    "{\"images\":[{\"id\":7,\"file_name\":\"val/"                                                                      \
    "a.jpg\",\"width\":40,\"height\":30},{\"id\":3,\"file_name\":\"b.jpg\"}],"                                         \
    "\"categories\":[{\"id\":9,\"name\":\"dog\"}],\"annotations\":[" annotations "]}"

/* expat calls the end handler of an empty element even after the begin handler stopped the parser. */
TEST(no_handler_does_harm_after_a_voc_file_is_refused)
{
    static const size_t lengths[] = {4084, 4090, 5000, 65536, 5 << 20};
    char *text = malloc((5 << 20) + 64);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        char *end = text + sprintf(text, "<annotation><");
        memset(end, 'a', lengths[i]);
        strcpy(end + lengths[i], "/>text</annotation>");
        expect_bad("v.xml", text, strlen(text), "names of elements of more than 4096 bytes");
    }
    strcpy(text, "<annotation>");
    for (int i = 0; i < 31; i++)
        strcat(text, "<a>");
    strcat(text, "<b/>text</a>");
    expect_bad("v.xml", text, strlen(text), "elements nested deeper than 32");
    free(text);
    bad("v.xml", "<!DOCTYPE a><annotation><object/></annotation>", "a document type is not allowed here");
    bad("v.xml", "<other/>", "the document is a <other>");
}

/* Every annotation goes to another image than the one before, under labels that return. */
TEST(many_labels_and_annotations_in_any_order_are_kept_apart)
{
    enum { LABELS = 700, ROUNDS = 3 };
    char *text = malloc(1 << 20), *end = text;
    end += sprintf(end, "{\"images\":[{\"id\":1,\"file_name\":\"a.png\"},{\"id\":2,\"file_name\":\"b.png\"}],"
                        "\"categories\":[{\"id\":0,\"name\":\"l0\"}");
    for (int i = 1; i < LABELS; i++)
        end += sprintf(end, ",{\"id\":%d,\"name\":\"l%d\"}", i, i);
    end += sprintf(end, "],\"annotations\":[");
    for (int i = 0; i < ROUNDS * LABELS; i++)
        end += sprintf(end, "%s{\"image_id\":%d,\"category_id\":%d,\"bbox\":[%d,0,1,1]}", i ? "," : "", 1 + i % 2,
                       i * 3 % LABELS, i);
    strcpy(end, "]}");
    struct clv_boxes boxes = read_text("b.json", text);
    ck_assert_uint_eq(boxes.n_labels, LABELS);
    ck_assert_uint_eq(boxes.n_images, 2);
    for (size_t image = 0; image < 2; image++) {
        ck_assert_uint_eq(boxes.images[image].n_boxes, ROUNDS * LABELS / 2);
        for (size_t k = 0; k < boxes.images[image].n_boxes; k++) {
            const struct clv_box *box = &boxes.images[image].boxes[k];
            ck_assert_uint_eq(box->index, 2 * k + image + 1);
            ck_assert_int_eq((int)box->x, (int)box->index - 1);
            ck_assert_str_eq(boxes.labels[box->label], formatted("l%d", (int)box->x * 3 % LABELS));
        }
    }
    clv_boxes_release(&boxes);
    free(text);
}

TEST(coco_annotations_find_their_images_and_categories)
{
    struct clv_boxes boxes =
        read_text("instances.json", COCO("{\"image_id\":7,\"category_id\":9,\"bbox\":[1,2.5,3,4]},"
                                         "{\"image_id\":7,\"category_id\":9,\"bbox\":[1,2,3,4],\"iscrowd\":1},"
                                         "{\"image_id\":7,\"category_id\":9,\"bbox\":[0,0,40,30],\"iscrowd\":0}"));
    ck_assert_int_eq(boxes.form, CLV_BOXES_COCO);
    const struct clv_image_boxes *entry = find(&boxes, "images/val/a.jpg");
    ck_assert_uint_eq(entry->n_boxes, 2);
    ck_assert_int_eq(entry->width, 40);
    check_box(&entry->boxes[0], 1, 2.5, 3, 4);
    check_box(&entry->boxes[1], 0, 0, 40, 30);
    ck_assert_str_eq(boxes.labels[entry->boxes[1].label], "dog");
    ck_assert_uint_eq(find(&boxes, "b.jpg")->n_boxes, 0); /* known, without an object */
    ck_assert_uint_eq(boxes.n_skipped, 1);
    ck_assert(strstr(boxes.first_skipped, "instances.json: annotation 2: a crowd"));
    clv_boxes_release(&boxes);
}

TEST(bad_coco_is_refused_with_annotation_and_value)
{
    bad("c.json", "{", "c.json: bad JSON in line 1");
    bad("c.json", "{\"a\":1}", "c.json: neither COCO (\"annotations\") nor labelme (\"shapes\")");
    bad("c.json", "[]", "neither COCO");
    bad("c.json", "{\"annotations\":[]}", "\"images\" is missing, or is not an array");
    bad("c.json", "{\"annotations\":3,\"images\":[],\"categories\":[]}", "\"annotations\" is not an array");
    bad("c.json", "{\"annotations\":[],\"images\":[],\"categories\":[]}", "c.json: holds no boxes");
    bad("c.json", "{\"annotations\":[],\"images\":[{\"id\":\"7\"}],\"categories\":[]}",
        "image 1: \"id\" is missing, or is not a whole number");
    bad("c.json", "{\"annotations\":[],\"images\":[{\"id\":7},{\"id\":7}],\"categories\":[]}",
        "image id 7 is there twice");
    bad("c.json", "{\"annotations\":[],\"images\":[{\"id\":7}],\"categories\":[]}",
        "image 1: \"file_name\" is missing, empty or not text");
}

#define LABELME(shapes)                                                                                                \
    "{\"version\":\"5\",\"shapes\":[" shapes "],\"imagePath\":\"..\\\\pics\\\\a.jpg\",\"imageData\":null,"             \
    "\"imageHeight\":30,\"imageWidth\":40}"
#define SHAPE(type, points) "{\"label\":\"cow\",\"points\":" points ",\"shape_type\":\"" type "\"}"

TEST(labelme_corners_come_in_any_order)
{
    struct clv_boxes boxes = read_text(
        "l.json",
        LABELME(SHAPE("rectangle", "[[10.5,20],[3,4]]") "," SHAPE("rectangle", "[[3,20],[10.5,4]]") "," SHAPE(
            "polygon", "[[1,1],[5,3],[2,9]]") "," SHAPE("line", "[[1,1],[2,2]]") "," SHAPE("circle",
                                                                                           "[[9,9],[12,13]]")));
    ck_assert_int_eq(boxes.form, CLV_BOXES_LABELME);
    const struct clv_image_boxes *entry = find(&boxes, "pics/a.jpg");
    ck_assert_uint_eq(entry->n_boxes, 4);
    check_box(&entry->boxes[0], 3, 4, 7.5, 16);
    check_box(&entry->boxes[1], 3, 4, 7.5, 16);
    check_box(&entry->boxes[2], 1, 1, 4, 8);
    check_box(&entry->boxes[3], 4, 4, 10, 10);
    ck_assert(strstr(boxes.first_skipped, "l.json: shape 4: a line"));
    clv_boxes_release(&boxes);
}

TEST(bad_labelme_is_refused_with_shape_and_value)
{
    bad("l.json", "{\"shapes\":3}", "\"shapes\" is not an array");
    bad("l.json", LABELME("{\"points\":[]}"), "l.json: shape 1: \"label\" is missing, empty or not text");
    bad("l.json", LABELME("{\"label\":\"\",\"points\":[]}"), "shape 1: \"label\" is missing, empty or not text");
    bad("l.json", LABELME(SHAPE("rectangle", "[[1,2],[2,true]]")), "shape 1: point 2 is not two numbers");
    bad("l.json", "{\"shapes\":[],\"imageWidth\":\"big\"}", "\"imageWidth\" is not a size");
}

TEST(what_is_null_or_empty_is_unknown_and_whole_sides_may_have_a_fraction)
{
    struct clv_boxes boxes =
        read_text("l.json", "{\"shapes\":[{\"label\":\"cow\",\"points\":[[1,1],[5,3],[2,9]],\"shape_type\":null}],"
                            "\"imagePath\":\"a.jpg\",\"imageHeight\":null,\"imageWidth\":40.0}");
    const struct clv_image_boxes *entry = find(&boxes, "a.jpg");
    ck_assert_uint_eq(entry->n_boxes, 1);
    ck_assert_int_eq(entry->width, 40);
    ck_assert_int_eq(entry->height, 0);
    clv_boxes_release(&boxes);
    boxes = read_text("v.xml", "<annotation><size><width/><height>30.0</height></size></annotation>");
    ck_assert_int_eq(boxes.images[0].width, 0);
    ck_assert_int_eq(boxes.images[0].height, 30);
    clv_boxes_release(&boxes);
    boxes = read_text("c.xml", "<annotations><image name=\"a.jpg\" width=\"\" height=\"4\"/></annotations>");
    ck_assert_int_eq(boxes.images[0].width, 0);
    ck_assert_int_eq(boxes.images[0].height, 4);
    clv_boxes_release(&boxes);
    bad("l.json", "{\"shapes\":[],\"imageWidth\":40.5}", "\"imageWidth\" is not a size");
    bad("l.json", "{\"shapes\":[],\"imageHeight\":-1}", "\"imageHeight\" is not a size");
    bad("l.json", LABELME("{\"label\":\"cow\",\"points\":[],\"shape_type\":7}"), "\"shape_type\" is not text");
}

TEST(yolo_shares_become_pixels_of_the_image_at_hand)
{
    struct clv_boxes boxes = read_text("a.txt", "2 0.5 0.5 0.5 1\n\n0\t0.25 0.1 0.5 0.2 0.93\r\n");
    ck_assert_int_eq(boxes.form, CLV_BOXES_YOLO);
    const struct clv_image_boxes *entry = find(&boxes, "images/a.png");
    struct clv_box placed[2];
    must(clv_boxes_place(placed, NULL, &boxes, entry, 40, 30, err));
    check_box(&placed[0], 10, 0, 20, 30);
    check_box(&placed[1], 0, 0, 20, 6);
    ck_assert_str_eq(boxes.labels[placed[0].label], "2"); /* no classes.txt */
    clv_boxes_release(&boxes);

    spill(here("classes.txt"), "dog\ncat\ncow\n", 12);
    boxes = read_text("a.txt", "2 0.5 0.5 0.5 1\n");
    ck_assert_str_eq(boxes.labels[find(&boxes, "a.jpg")->boxes[0].label], "cow");
    clv_boxes_release(&boxes);
    spill(here("classes.txt"), "dog\ndog\n", 8);
    bad("a.txt", "0 0.5 0.5 0.5 1\n", "classes.txt: line 2: class \"dog\" is there twice");
    boxes = read_text("b.tsv", "image\tx\ty\tw\th\na\t1\t1\t1\t1\n"); /* none of its business */
    clv_boxes_release(&boxes);
}

TEST(empty_lines_at_the_end_of_a_list_are_not_classes)
{
    static const char *const lists[] = {"dog\ncat", "dog\ncat\n", "dog\ncat\n\n\n", "dog\r\ncat\r\n\r\n\r\n\r\n"};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        spill(here("classes.txt"), lists[k], strlen(lists[k]));
        struct clv_boxes boxes = read_text("a.txt", "1 0.5 0.5 0.5 1\n");
        ck_assert_uint_eq(boxes.n_labels, 2);
        ck_assert_str_eq(boxes.labels[0], "dog");
        ck_assert_str_eq(boxes.labels[1], "cat");
        clv_boxes_release(&boxes);
    }
    spill(here("classes.txt"), "\n\n", 2); /* no class at all */
    struct clv_boxes boxes = read_text("a.txt", "1 0.5 0.5 0.5 1\n");
    ck_assert_uint_eq(boxes.n_labels, 1);
    ck_assert_str_eq(boxes.labels[0], "1");
    clv_boxes_release(&boxes);
}

TEST(bad_yolo_is_refused_with_line_and_value)
{
    bad("y.txt", "0 0.5 0.5 0.5\n", "y.txt: line 1: 4 fields; expected class, x, y, width, height");
    bad("y.txt", "\ndog 0.5 0.5 0.5 1\n", "line 2: class \"dog\" is not a number");
    bad("y.txt", "-1 0.5 0.5 0.5 1\n", "line 1: class \"-1\" is not a number");
    bad("y.txt", "0 0.5 0.5 12 1\n", "line 1: width is \"12\", which is not a share");
    bad("y.txt", "0 0.5 nan 0.5 1\n", "line 1: y is \"nan\"");
    bad("y.txt", "0 0.5 0.5 0.5 1\0", "y.txt: this is not UTF-8 text");
    struct clv_boxes boxes = read_text("y.txt", ""); /* an image without an object */
    ck_assert_uint_eq(find(&boxes, "y.jpg")->n_boxes, 0);
    clv_boxes_release(&boxes);
}

/* One object is lost, and its image is not taken for one without an object. */
static void check_skipped(const char *name, const char *text, const char *part)
{
    struct clv_boxes boxes = read_text(name, text);
    ck_assert_uint_eq(boxes.n_skipped, 1);
    ck_assert_msg(strstr(boxes.first_skipped, part) != NULL, "%s", boxes.first_skipped);
    size_t n_skipped = 0;
    for (size_t i = 0; i < boxes.n_images; i++)
        n_skipped += boxes.images[i].n_skipped;
    ck_assert_uint_eq(n_skipped, strstr(part, "there is no image") ? 0 : 1);
    clv_boxes_release(&boxes);
}

TEST(objects_without_a_usable_box_are_skipped_alone)
{
    check_skipped("b.tsv", HEADER "a\tm\tl\t1\t1\t1\t0\nb\tm\tl\t1\t1\t1\t1\n", "line 2: 1 wide and 0 high");
    check_skipped("b.tsv", HEADER "a\tm\tl\t1\t1\t-3\t1\n", "line 2: -3 wide");
    check_skipped("v.xml", VOC(OBJECT("d", "5", "1", "3", "2")), "v.xml: object 1: -1 wide");
    check_skipped("v.xml", VOC("<object><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>2</xmax></bndbox></object>"),
                  "object 1: bndbox has no ymax");
    check_skipped("c.json", COCO("{\"image_id\":8,\"category_id\":9}"), "annotation 1: there is no image 8");
    check_skipped("c.json", COCO("{\"image_id\":7,\"category_id\":8}"), "annotation 1: there is no category 8");
    check_skipped("c.json", COCO("{\"image_id\":7,\"category_id\":9}"), "annotation 1: \"bbox\" is missing");
    check_skipped("c.json", COCO("{\"image_id\":7,\"category_id\":9,\"bbox\":[1,2,\"3\",4]}"), "not four numbers");
    check_skipped("c.json", COCO("{\"image_id\":7,\"category_id\":9,\"bbox\":[1,2,0,3]}"), "annotation 1: 0 wide");
    check_skipped("l.json", LABELME("{\"label\":\"a\"}"), "shape 1: \"points\" is missing");
    check_skipped("l.json", LABELME(SHAPE("rectangle", "[[1,2]]")), "shape 1: a rectangle of 1 points");
    check_skipped("l.json", LABELME(SHAPE("polygon", "[[1,2],[2,3]]")), "shape 1: a polygon of 2 points");
    check_skipped("l.json", LABELME(SHAPE("rectangle", "[[1,2],[1,3]]")), "shape 1: 0 wide");
    check_skipped("y.txt", "0 0.5 0.5 0.5 0\n", "line 1: 0.5 wide and 0 high");
    spill(here("classes.txt"), "dog\ncat\ncow\n", 12);
    check_skipped("y.txt", "3 0.5 0.5 0.5 1\n", "y.txt: line 1: class 3, but there are names of 3");
}

TEST(tables_are_found_by_path_then_name_then_stem)
{
    struct clv_boxes boxes = read_text("b.tsv", "image\tx\ty\tw\th\nC:\\pics\\a.jpg\t1\t1\t1\t1\ni/b.png\t2\t2\t2\t2\n"
                                                "j/b.png\t3\t3\t3\t3\nc.jpg\t4\t4\t4\t4\n");
    check_box(&find(&boxes, "images/a.png")->boxes[0], 1, 1, 1, 1);
    check_box(&find(&boxes, "set/i/b.jpg")->boxes[0], 2, 2, 2, 2);
    check_box(&find(&boxes, "images/0123abcd-c.jpg")->boxes[0], 4, 4, 4, 4);
    const char *const images[] = {"i/b.png", "k/b.png", "x/c.jpg"};
    const struct clv_image_boxes *entries[3];
    must(boxes_find_all(entries, &boxes, images, 3, err));
    check_box(&entries[0]->boxes[0], 2, 2, 2, 2);
    check_box(&entries[1]->boxes[0], 3, 3, 3, 3); /* the other one is somebody's own */
    check_box(&entries[2]->boxes[0], 4, 4, 4, 4);
    clv_boxes_release(&boxes);
}

/* The test's folder with the file written below it. */
static const char *folder_with(const char *below, const char *text)
{
    const char *path = here("%s", below);
    char *folder = strdup(path);
    *strrchr(folder, '/') = 0;
    run_here("mkdir -p '%s'", folder);
    free(folder);
    spill(path, text, strlen(text));
    return here("set");
}

TEST(a_dot_in_the_folder_of_a_link_ends_no_stem)
{
    struct clv_boxes boxes = read_text("boxes.tsv", HEADER "cow.png\t\tcow\t1\t2\t3\t4\n");
    ck_assert_ptr_null(find(&boxes, "cow%2Eherd%2Fphoto")); /* cow.herd/photo */
    ck_assert_ptr_nonnull(find(&boxes, "cow%2Ejpg"));
    clv_boxes_release(&boxes);
}

TEST(folders_are_read_whole_and_names_differ_by_their_folders)
{
    struct clv_boxes boxes = {0};
    folder_with("set/one/a.xml", VOC(OBJECT("d", "1", "1", "2", "2")));
    folder_with("set/readme.txt", "not boxes");
    const char *set = folder_with("set/two/a.xml", VOC(OBJECT("d", "3", "3", "4", "4")));
    must(clv_boxes_read(&boxes, set, err));
    ck_assert_uint_eq(boxes.n_images, 2);
    ck_assert_str_eq(boxes.images[1].image, "two/a.jpg");
    check_box(&find(&boxes, "images/two/a.jpg")->boxes[0], 2, 2, 2, 2);
    check_box(&find(&boxes, "images/one/a.png")->boxes[0], 0, 0, 2, 2); /* by stem */
    const struct clv_image_boxes *entry = &boxes.images[0];
    must_fail(CLV_ERR_DATA, "three/a.jpg: boxes of one/a.jpg", clv_boxes_find(&entry, &boxes, "three/a.jpg", err));
    ck_assert_ptr_eq(entry, &boxes.images[0]); /* unchanged */
    clv_boxes_release(&boxes);

    folder_with("set/two/b.xml", VOC(OBJECT("d", "3", "3", "4", "4")));
    must_fail(CLV_ERR_DATA, "two/b.xml: lists image two/a.jpg, and so does", clv_boxes_read(&boxes, set, err));
    folder_with("set/two/b.json", LABELME(""));
    must_fail(CLV_ERR_DATA, "set: holds .xml files and .json files", clv_boxes_read(&boxes, set, err));
    ck_assert(!boxes.images);
}

TEST(names_in_files_keep_their_folders_unless_they_are_whole_paths)
{
    OWNED(clv_boxes_release) struct clv_boxes boxes = {0};
    static const char *const names[][2] = {{"/home/me/c.jpg", "c.jpg"},
                                           {"D:\\photos\\d.jpg", "d.jpg"},
                                           {"left/a.jpg", "left/a.jpg"},
                                           {"right\\a.jpg", "right/a.jpg"},
                                           {"../x/b.jpg", "x/b.jpg"}};
    enum { N = sizeof names / sizeof *names };
    const char *set = NULL;
    for (int i = 0; i < N; i++)
        set = folder_with(formatted("set/%d.xml", i),
                          formatted("<annotation><filename>%s</filename></annotation>", names[i][0]));
    must(clv_boxes_read(&boxes, set, err));
    ck_assert_uint_eq(boxes.n_images, N);
    for (int i = 0; i < N; i++)
        ck_assert_str_eq(boxes.images[i].image, names[i][1]);
}

TEST(folders_without_boxes_or_of_two_forms_are_refused)
{
    struct clv_boxes boxes = {0};
    const char *set = folder_with("set/a.png", "x");
    must_fail(CLV_ERR_NO_INPUT, "set: holds no .xml, .json or .txt file", clv_boxes_read(&boxes, set, err));
    folder_with("set/a.json", LABELME(""));
    folder_with("set/b.json", COCO(""));
    must(clv_boxes_read(&boxes, set, err));
    ck_assert_uint_eq(boxes.n_images, 1);
    ck_assert_uint_eq(boxes.n_bad_files, 1);
    must_say(boxes.bad_files[0].message, "b.json: of another form than the files before it");
    clv_boxes_release(&boxes);
}

TEST(folders_of_boxes_go_on_without_what_may_not_be_read)
{
    struct clv_boxes boxes = {0};
    static const char text[] = "<annotation/>";
    spill(here("a.xml"), text, sizeof text - 1);
    forbid_folder(here("lost+found"));
    must(clv_boxes_read(&boxes, temporary_folder(), err));
    ck_assert_uint_eq(boxes.n_images, 1);
    ck_assert_uint_eq(boxes.n_skipped, 1);
    ck_assert(strstr(boxes.first_skipped, "lost+found may not be read"));
    clv_boxes_release(&boxes);
}

TEST(yolo_folders_take_their_classes_from_above)
{
    struct clv_boxes boxes = {0};
    folder_with("classes.txt", "dog\ncat");
    folder_with("set/b.txt", "1 0.5 0.5 0.5 0.5\n");
    const char *set = folder_with("set/a/a.txt", "0 0.5 0.5 0.5 0.5\n");
    must(clv_boxes_read(&boxes, set, err));
    ck_assert_uint_eq(boxes.n_images, 2);
    ck_assert_str_eq(boxes.labels[find(&boxes, "x/b.jpg")->boxes[0].label], "cat");
    ck_assert_str_eq(boxes.labels[find(&boxes, "x/a/a.jpg")->boxes[0].label], "dog");
    clv_boxes_release(&boxes);
}

TEST(labels_of_boxes_are_values_of_masks_by_the_order_met_or_by_name)
{
    struct clv_boxes boxes = read_text("values.tsv", HEADER "a\t\tcow\t1\t1\t1\t1\na\t\tbackground\t1\t1\t1\t1\n"
                                                            "a\t\t\t1\t1\t1\t1\na\t\tdog\t1\t1\t1\t1\n");
    struct clv_labels labels = {0};
    char others[4][64] = {"dog", "object", "background", "cow"};
    struct clv_labels own = {.n_labels = 4, .names = others};
    uint8_t values[4] = {9, 9, 9, 9};
    ck_assert_uint_eq(boxes.n_labels, 4);
    must(boxes_label_values(values, &labels, &boxes, "p", err));
    ck_assert_mem_eq(values, ((uint8_t[]){1, 0, 2, 3}), 4);
    ck_assert_int_eq(labels.n_labels, 4);
    ck_assert_str_eq(labels.names[2], "object");
    ck_assert(boxes_values_in(values, &own, &boxes));
    ck_assert_mem_eq(values, ((uint8_t[]){3, 2, 1, 0}), 4);
    own.n_labels = 3;
    ck_assert(!boxes_values_in(values, &own, &boxes));
    own.n_labels = 4;
    others[0][0] = 'f';
    ck_assert(!boxes_values_in(values, &own, &boxes));
    clv_labels_release(&labels);
    clv_boxes_release(&boxes);
}

TEST(the_real_tables_are_read)
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
