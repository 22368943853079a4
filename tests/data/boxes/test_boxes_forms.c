/* Boxes as further programs write them: CVAT, Label Studio, tables, YOLO's corners, COCO's run lengths. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/boxes/boxes_text.h"
#include "support/requests.h"

/* Box `index` of the image in an image of 200x100 pixels. */
static void check(const struct clv_boxes *boxes, const char *image, size_t index, const char *label, double x, double y,
                  double width, double height)
{
    const struct clv_image_boxes *entry = NULL;
    struct clv_box placed[8];
    must(clv_boxes_find(&entry, boxes, image, err));
    ck_assert_msg(entry != NULL && index < entry->n_boxes, "%s has no box %zu", image, index);
    must(clv_boxes_place(placed, NULL, boxes, entry, 200, 100, err));
    const struct clv_box *box = &placed[index];
    ck_assert_msg(box->x == x && box->y == y && box->width == width && box->height == height, "%g,%g %gx%g", box->x,
                  box->y, box->width, box->height);
    ck_assert_str_eq(boxes->labels[box->label], label);
}

#define CVAT(shapes)                                                                                                   \
    "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<annotations><version>1.1</version><meta><task><name>t</name></task>" \
    "</meta><image id=\"0\" name=\"a.jpg\" width=\"200\" height=\"100\">" shapes "</image><image id=\"1\" "            \
    "name=\"sub/b.jpg\" width=\"200\" height=\"100\"></image></annotations>"

TEST(cvat_boxes_polygons_masks_and_ellipses)
{
    OWNED(clv_boxes_release) struct clv_boxes boxes = read_text(
        "annotations.xml",
        CVAT("<box label=\"cow\" source=\"manual\" occluded=\"0\" xtl=\"1.5\" ytl=\"2\" xbr=\"11.5\" ybr=\"5\" "
             "z_order=\"0\"><attribute name=\"x\">1</attribute></box>"
             "<polygon label=\"dog\" points=\"1.00,2.00;9.50,3.00;4.00,8.00\"/>"
             "<mask label=\"dog\" rle=\"1, 2, 1\" left=\"20\" top=\"10\" width=\"2\" height=\"2\"/>"
             "<ellipse label=\"dog\" cx=\"50\" cy=\"50\" rx=\"10\" ry=\"5\"/>"
             "<polyline label=\"dog\" points=\"1,1;2,2\"/>"
             "<mask label=\"dog\" rle=\"1, 2\" left=\"20\" top=\"10\" width=\"2\" height=\"2\"/>"
             "<box label=\"cow\" rotation=\"30\" xtl=\"1\" ytl=\"2\" xbr=\"3\" ybr=\"4\"/>"));
    ck_assert_int_eq(boxes.form, CLV_BOXES_CVAT);
    check(&boxes, "images/a.jpg", 0, "cow", 1.5, 2, 10, 3);
    check(&boxes, "images/a.jpg", 1, "dog", 1, 2, 8.5, 6);
    check(&boxes, "images/a.jpg", 2, "dog", 20, 10, 2, 2);
    check(&boxes, "images/a.jpg", 3, "dog", 40, 45, 20, 10);
    ck_assert_uint_eq(boxes.n_images, 2);
    /* The box of a mask whose runs are damaged is one all the same; a turned box is bounded: 2 x 2 by 30 degrees. */
    check(&boxes, "images/a.jpg", 4, "dog", 20, 10, 2, 2);
    const struct clv_box *turned = &boxes.images[0].boxes[5];
    ck_assert_double_eq_tol(turned->width, sqrt(3) + 1, 1e-12);
    ck_assert_double_eq_tol(turned->x, 2 - (sqrt(3) + 1) / 2, 1e-12);
    ck_assert_uint_eq(boxes.n_skipped, 1);
    ck_assert(strstr(boxes.first_skipped, "annotations.xml: line 2: a polyline"));
    bad("c.xml", "<annotations><track id=\"0\" label=\"cow\"/></annotations>", "a track of a video");
    bad("c.xml", "<annotations><image id=\"0\"/></annotations>", "an image without a name");
    bad("c.xml", "<annotations><image name=\"a\" width=\"-3\"/></annotations>", "is not a size of an image");
    bad("c.xml", "<!DOCTYPE annotations><annotations/>", "a document type is not allowed");
    bad("c.xml", "<annotations/>", "holds no boxes");
}

/* The drawing of a skeleton's label, as CVAT's <meta> has it. */
TEST(long_texts_of_cvat_do_not_matter)
{
    char text[6000];
    snprintf(text, sizeof text, "<annotations><meta><svg>%05000d</svg></meta><image name=\"a.jpg\"/></annotations>", 0);
    OWNED(clv_boxes_release) struct clv_boxes boxes = read_text("c.xml", text);
    ck_assert_uint_eq(boxes.n_images, 1);
}

/* Each costs itself alone, and the first is reported with its line. */
TEST(cvat_shapes_that_lack_something_are_skipped_by_name)
{
    static const char *const bad_shapes[][2] = {
        {"<box label=\"cow\" xtl=\"1\" ytl=\"2\" xbr=\"3\"/>", "a box without its corners"},
        {"<box label=\"cow\" xtl=\"1\" ytl=\"2\" xbr=\"3\" ybr=\"x\"/>", "a box without its corners"},
        {"<box label=\"cow\" rotation=\"x\" xtl=\"1\" ytl=\"2\" xbr=\"3\" ybr=\"4\"/>", "a box turned by no number"},
        {"<ellipse label=\"cow\" cx=\"50\" cy=\"50\" rx=\"10\"/>", "an ellipse without its centre, radii or angle"},
        {"<polygon label=\"cow\" points=\"1,2;3,4\"/>", "a polygon without three points"},
        {"<polygon label=\"cow\" points=\"1,2;3;5,6;7,8\"/>", "point 2 is not two numbers, x,y"},
        {"<polygon label=\"cow\" points=\"1,2;3,x;5,6;7,8\"/>", "point 2 is not two numbers, x,y"},
        {"<polygon label=\"cow\"/>", "a polygon without three points"},
        {"<mask label=\"cow\" rle=\"1, 3\" left=\"2\" top=\"1\" width=\"2\"/>", "a mask without its runs or its place"},
        {"<mask label=\"cow\" rle=\"1, 3\" left=\"2.5\" top=\"1\" width=\"2\" height=\"2\"/>",
         "a mask whose place is out of range"},
        {"<mask label=\"cow\" rle=\"1, 3\" left=\"2e9\" top=\"1\" width=\"2\" height=\"2\"/>",
         "a mask whose place is out of range"},
    };
    for (size_t k = 0; k < sizeof bad_shapes / sizeof *bad_shapes; k++) {
        const char *good = "<box label=\"cow\" xtl=\"1\" ytl=\"2\" xbr=\"3\" ybr=\"4\"/>";
        OWNED(clv_boxes_release) struct clv_boxes boxes = read_text(
            "odd.xml", formatted("<annotations>\n<image name=\"a.jpg\" width=\"200\" height=\"100\">\n%s%s</image>"
                                 "</annotations>",
                                 bad_shapes[k][0], good));
        ck_assert_uint_eq(boxes.n_skipped, 1);
        ck_assert_msg(strstr(boxes.first_skipped, bad_shapes[k][1]) && strstr(boxes.first_skipped, "odd.xml: line 3: "),
                      "%s", boxes.first_skipped);
        check(&boxes, "a.jpg", 0, "cow", 1, 2, 2, 2);
    }
}

TEST(label_studio_counts_in_percent_and_renames_uploads)
{
    struct clv_boxes boxes = read_text(
        "ls.json",
        "[{\"id\":1,\"data\":{\"image\":\"/data/upload/3/1a2b3c4d-my%20cow.jpg\"},\"annotations\":[{\"result\":["
        "{\"type\":\"rectanglelabels\",\"original_width\":200,\"original_height\":100,\"value\":{\"x\":10,\"y\":25,"
        "\"width\":50,\"height\":50,\"rotation\":0,\"rectanglelabels\":[\"cow\"]}},"
        "{\"type\":\"polygonlabels\",\"value\":{\"points\":[[0,0],[50,0],[50,50]],\"polygonlabels\":[\"dog\"]}},"
        "{\"type\":\"brushlabels\",\"value\":{\"format\":\"rle\",\"rle\":[1,2],\"brushlabels\":[\"dog\"]}},"
        "{\"type\":\"choices\",\"value\":{\"choices\":[\"nice\"]}}]}]},"
        "{\"id\":2,\"data\":{\"image\":\"/data/local-files/?d=pics/b.jpg\"},\"annotations\":[]}]");
    ck_assert_int_eq(boxes.form, CLV_BOXES_LABEL_STUDIO);
    check(&boxes, "images/my cow.jpg", 0, "cow", 20, 25, 100, 50);
    check(&boxes, "images/my cow.jpg", 1, "dog", 0, 0, 100, 50);
    ck_assert_uint_eq(boxes.n_skipped, 1);
    ck_assert_uint_eq(boxes.n_images, 1);
    ck_assert_uint_eq(boxes.n_faults[CLV_ANNOTATION_UNLABELLED], 1);
    clv_boxes_release(&boxes);
    boxes = read_text("min.json", "[{\"image\":\"/data/upload/1a2b3c4d-a.jpg\",\"id\":1,\"label\":[{\"x\":0,\"y\":0,"
                                  "\"width\":50,\"height\":50,\"rotation\":0,\"rectanglelabels\":[\"cow\"]}]}]");
    ck_assert_int_eq(boxes.form, CLV_BOXES_LABEL_STUDIO);
    check(&boxes, "a.jpg", 0, "cow", 0, 0, 100, 50);
    clv_boxes_release(&boxes);
    bad("ls.json", "[{\"data\":{}}]", "task 1: its data name no image");
    bad("ls.json", "[{\"data\":{\"image\":\"http://x/\"},\"annotations\":[{\"result\":[]}]}]",
        "task 1: its image \"http://x/\" has no file name");
    bad("ls.json", "[3]", "not Label Studio's");
    bad("ls.json", "[{\"data\":{\"image\":\"a.jpg\"}},7]", "element 2 is not an object");
}

/* Reads a task list whose second image has a box, and finds that. */
static enum clv_status read_and_find(const char *path, struct clv_error *err)
{
    OWNED(clv_boxes_release) struct clv_boxes boxes = {0};
    const struct clv_image_boxes *entry = NULL;
    MUST(clv_boxes_read(&boxes, path, err));
    MUST(clv_boxes_find(&entry, &boxes, "images/b.jpg", err));
    ck_assert(entry && entry->n_boxes == 1);
    return CLV_OK;
}

TEST(label_studio_tasks_are_read_whole_or_memory_is_out)
{
    static const char tasks[] =
        "[{\"data\":{\"image\":\"a.jpg\"},\"annotations\":[{\"result\":[]}]},"
        "{\"data\":{\"image\":\"b.jpg\"},\"annotations\":[{\"result\":[{\"type\":\"rectanglelabels\",\"value\":"
        "{\"x\":0,\"y\":0,\"width\":50,\"height\":50,\"rotation\":0,\"rectanglelabels\":[\"cow\"]}}]}]}]";
    const char *path = file("ls.json", tasks, strlen(tasks));
    must_survive_failed_requests(read_and_find(path, err));
}

TEST(tables_are_read_by_the_names_in_use)
{
    struct clv_boxes boxes = read_text("tf.txt", "filename\twidth\theight\tclass\txmin\tymin\txmax\tymax\timage\r\n"
                                                 "a.jpg\t200\t100\tcow\t10\t20\t40\t60\ta, or \"b\".jpg\r\n");
    check(&boxes, "a, or \"b\".jpg", 0, "cow", 10, 20, 30, 40);
    clv_boxes_release(&boxes);
    boxes = read_text("own.tsv", "Filename\tlabel\tx\ty\tw\th\npics\\c.jpg\tdog\t1\t2\t3\t4\n");
    check(&boxes, "c.png", 0, "dog", 1, 2, 3, 4);
    clv_boxes_release(&boxes);
    boxes = read_text("oi.tsv", "ImageID\tSource\tLabelName\tXMin\tXMax\tYMin\tYMax\n"
                                "0a1b\txclick\t/m/01yrx\t0.25\t0.75\t0.5\t1\n");
    check(&boxes, "0a1b.jpg", 0, "/m/01yrx", 50, 50, 100, 50);
    clv_boxes_release(&boxes);
    boxes = read_text("shares.tsv", "image\tlabel\txmin\tymin\txmax\tymax\na.jpg\tcow\t0.25\t0.5\t0.75\t1\n");
    check(&boxes, "a.jpg", 0, "cow", 50, 50, 100, 50);
    clv_boxes_release(&boxes);
    boxes = read_text("pixels.tsv", "image\tx\ty\tw\th\na.jpg\t0.5\t0.5\t1\t2\n");
    check(&boxes, "a.jpg", 0, "", 0.5, 0.5, 1, 2);
    clv_boxes_release(&boxes);
    bad("b.tsv", "filename\txmin\tymin\txmax\na\t1\t2\t3\n", "no column \"ymax\"");
    bad("b.tsv", "filename\txmin\tymin\txmax\tymax\na\t1\t2\t3\n", "line 2 has 4 fields, the header has 5");
    bad("b.tsv", "filename\txmin\tymin\txmax\tymax\na\t1\t2\t3\tx\n", "line 2: ymax is \"x\", which is not a number");
}

TEST(other_formats_are_refused_with_those_that_are_read)
{
    bad("b.csv", "filename,xmin,ymin,xmax,ymax\na,1,2,3,\t4\n",
        "b.csv: no tabs in its first line; boxes are read as COCO, labelme, CVAT, Pascal VOC");
    bad("createml.json",
        "[{\"image\":\"a.jpg\",\"annotations\":[{\"coordinates\":{\"x\":1,\"y\":2,\"width\":2,\"height\":3}}]}]",
        "createml.json: boxes of Create ML; convert them to COCO");
    bad("other.json", "{}", "nor Label Studio's array; boxes are read as COCO");
}

/* The names of a data.yaml, joined by "|", or what is said of it. */
static void check_yaml(const char *yaml, const char *names)
{
    static int count;
    char folder[256], joined[256] = "";
    OWNED(clv_boxes_release) struct clv_boxes boxes = {0};
    struct clv_error error = {0};
    snprintf(folder, sizeof folder, "%s/yaml%d", temporary_folder(), count++);
    run_here("mkdir -p %s/labels/train", folder);
    spill(formatted("%s/data.yaml", folder), yaml, strlen(yaml));
    spill(formatted("%s/labels/train/a.txt", folder), "1 0.5 0.5 0.5 1\n", 16);
    if (clv_boxes_read(&boxes, formatted("%s/labels/train", folder), &error) != CLV_OK) {
        ck_assert_msg(*names && strstr(error.message, names), "%s: %s", yaml, error.message);
        return;
    }
    for (size_t i = 0; i < boxes.n_labels; i++)
        strcat(strcat(joined, i ? "|" : ""), boxes.labels[i]);
    ck_assert_msg(strcmp(joined, names) == 0, "%s: %s", yaml, joined);
}

TEST(yolo_classes_are_named_by_data_yaml_in_every_spelling)
{
    check_yaml("train: images\nnames:\n  0: dog\n  1: 'it''s'  # two\n  2: \"a \\\"b\\\"\"\nnc: 3\n",
               "dog|it's|a \"b\"");
    check_yaml("# set\r\nnames:   # three\r\n- dog\r\n\r\n- big cat\r\npath: x\r\n", "dog|big cat");
    check_yaml("nc: 2\nnames: ['dog', cat]\n", "dog|cat");
    check_yaml("names: [dog,\n  # not one\n  cat ,\n]\nval: y", "dog|cat");
    check_yaml("names: {0: dog, 1: \"c, d\"}", "dog|c, d");
    check_yaml("nc: 2\n", "1"); /* no names: numbers */
    check_yaml("names: [dog, dog]", "data.yaml: \"names\": class \"dog\" is there twice");
    check_yaml("names:\n  0: dog\n  2: cat\n", "class 1 is not there, or not in its place");
    check_yaml("names: [dog, cat", "brackets stay open");
    check_yaml("names: [dog, 'cat]\n", "class 1 has no name");
    check_yaml("names:\n  dog\n", "class 0 has no number and name");
    check_yaml("names: {0: dog, cat}", "class 1 has no number and name");
}

TEST(yolo_corners_and_coco_segmentations_are_bounded)
{
    OWNED(clv_boxes_release) struct clv_boxes boxes =
        read_text("y.txt", "0 0.1 0.2 0.5 0.2 0.5 0.6 0.1 0.4\n1 0.5 0.5 0.5 1\n");
    check(&boxes, "y.jpg", 0, "0", 0.1 * 200, 0.2 * 100, (0.5 - 0.1) * 200, (0.6 - 0.2) * 100);
    check(&boxes, "y.jpg", 1, "1", 50, 0, 100, 100);
    clv_boxes_release(&boxes);
    bad("y.txt", "0 0.1 0.2 0.5 0.2 0.5 0.6 1.1\n", "line 1: \"1.1\" behind its pairs of corners is not a confidence");
    bad("y.txt", "0 0.1 0.2 0.5 0.2 0.5 7\n", "line 1: y is \"7\"");
    boxes = read_text("c.json",
                      "{\"images\":[{\"id\":1,\"file_name\":\"a.jpg\"}],\"categories\":[{\"id\":1,\"name\":\"cow\"}],"
                      "\"annotations\":[{\"image_id\":1,\"category_id\":1,\"segmentation\":[[1,2,9,2,9,6]]},"
                      "{\"image_id\":1,\"category_id\":1,\"segmentation\":{\"size\":[3,2],\"counts\":\"132\"}},"
                      "{\"image_id\":1,\"category_id\":1,\"segmentation\":{\"size\":[3,2],\"counts\":[4,2]}},"
                      "{\"image_id\":1,\"category_id\":1,\"segmentation\":{\"size\":[9,2],\"counts\":[4,2]}},"
                      "{\"image_id\":1,\"category_id\":1,\"segmentation\":[[1,2,3]]}]}");
    check(&boxes, "a.jpg", 0, "cow", 1, 2, 8, 4);
    check(&boxes, "a.jpg", 1, "cow", 0, 0, 2, 3);
    check(&boxes, "a.jpg", 2, "cow", 1, 1, 1, 2);
    ck_assert_uint_eq(boxes.n_skipped, 2);
    ck_assert(strstr(boxes.first_skipped, "annotation 4: runs do not sum"));
}

TEST(coordinates_beyond_any_image_are_refused_by_file)
{
    bad("a.json",
        "{\"version\":\"5\",\"imagePath\":\"a.png\",\"shapes\":[{\"label\":\"x\",\"shape_type\":\"polygon\","
        "\"points\":[[-1.3e308,5],[1.3e308,6],[1,9]]}]}",
        "a.json: an outline has a point at -1.3e+308, 5");
    bad("a.xml",
        "<annotations><image name=\"a.png\"><polygon label=\"x\" points=\"1,2;3,1e11;4,5\"/></image></annotations>",
        "a.xml: an outline has a point at 3, 1e+11");
    bad("a.xml",
        "<annotations><image name=\"a.png\"><ellipse label=\"x\" cx=\"9\" cy=\"9\" rx=\"2\" ry=\"1e11\"/></image>"
        "</annotations>",
        "a.xml: an outline has a point at 9, 1e+11");
    bad("a.xml",
        "<annotations><image name=\"a.png\"><box label=\"x\" xtl=\"0\" ytl=\"0\" xbr=\"4e11\" ybr=\"2\" "
        "rotation=\"90\"/></image></annotations>",
        "a.xml: an outline has a point at 2e+11");
    bad("a.json",
        "{\"version\":\"5\",\"imagePath\":\"a.png\",\"shapes\":[{\"label\":\"x\",\"shape_type\":\"circle\","
        "\"points\":[[1,2],[1,2e11]]}]}",
        "a.json: an outline has a point at 2e+11, 2");
    bad("a.json",
        "[{\"data\":{\"image\":\"a.png\"},\"annotations\":[{\"result\":[{\"type\":\"ellipselabels\",\"value\":"
        "{\"x\":10,\"y\":10,\"radiusX\":1e13,\"radiusY\":5,\"ellipselabels\":[\"x\"]}}]}]}]",
        "a.json: an outline has a point at 1e+11, 0.1");
}
