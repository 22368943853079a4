/* cleave import: what becomes of each kind of annotation of each format, as rows of the mask that is written. Photos
 * have 12 x 8 pixels. In wanted rows '.' is void. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/base64.h"
#include "support/sample.h"
#include "support/support.h"

SETUP_ONCE(sample_setup, NULL)

enum { WIDTH = 12, HEIGHT = 8 };

static void put_photo(const char *name)
{
    static uint8_t next;
    uint8_t pixels[WIDTH * HEIGHT] = {++next};
    struct clv_image image = {.width = WIDTH, .height = HEIGHT, .channels = 1, .pixels = pixels};
    const char *path = here("%s", name);
    run_here("mkdir -p \"$(dirname '%s')\"", path);
    must(clv_png_write(path, &image, err));
}

static void put_text(const char *name, const char *text)
{
    const char *path = here("%s", name);
    run_here("mkdir -p \"$(dirname '%s')\"", path);
    spill(path, text, strlen(text));
}

static void expect_mask(const char *name, const char *wanted)
{
    OWNED(clv_indexed_image_release) struct clv_indexed_image mask = {0};
    must(clv_indexed_image_read(&mask, here("%s", name), NULL, err));
    ck_assert_int_eq(mask.width * mask.height, (int)strlen(wanted));
    for (size_t p = 0; wanted[p]; p++)
        ck_assert_msg(mask.values[p] == (wanted[p] == '.' ? CLV_VOID : wanted[p] - '0'), "%s: %zu,%zu is %d", name,
                      p % WIDTH, p / WIDTH, mask.values[p]);
}

#define EMPTY "000000000000"

/* Label Studio. */
#define TASK(image, annotations) "{\"data\":{\"image\":\"" image "\"},\"annotations\":[" annotations "]}"
#define RESULTS(results)         "{\"was_cancelled\":false,\"result\":[" results "]}"

#define RESULT(type, value) "{\"type\":\"" type "\",\"original_width\":12,\"original_height\":8,\"value\":{" value "}}"

TEST(turned_rectangles_of_label_studio_have_exact_corners)
{
    put_photo("photos/a.png");
    put_text("ls.json",
             "[" TASK("a.png", RESULTS(RESULT("rectanglelabels", "\"x\":50,\"y\":25,\"width\":25,\"height\":25,"
                                                                 "\"rotation\":90,\"rectanglelabels\":[\"car"
                                                                 "\"]"))) "]");
    run_here("cleave import label-studio ls.json --images photos -o set");
    expect_mask("set/masks/a.png", EMPTY EMPTY "000011000000"
                                               "000011000000"
                                               "000011000000" EMPTY EMPTY EMPTY);
}

/* Brushes as rle-pack has them: 8 bits a word, counts of 8 bits, runs alone. */
struct bits {
    uint8_t bytes[4096];
    size_t n;
};

static void put_bits(struct bits *bits, uint32_t value, int count)
{
    for (int k = count - 1; k >= 0; k--, bits->n++)
        bits->bytes[bits->n / 8] |= (uint8_t)((value >> k & 1) << (7 - bits->n % 8));
}

/* The pixels of rows that are '1'; as numbers. */
static void put_brush(struct text *text, const char *rows)
{
    struct bits bits = {0};
    put_bits(&bits, 4 * WIDTH * HEIGHT, 32);
    put_bits(&bits, 7, 5);
    for (int k = 0; k < 4; k++)
        put_bits(&bits, 7, 4);
    for (int p = 0; p < WIDTH * HEIGHT; p++) {
        if (rows[p] == '1' && p % 2) { /* words one by one, of the alpha that is just enough */
            put_bits(&bits, 0, 1);
            put_bits(&bits, 1, 2);
            put_bits(&bits, 3, 8);
            for (int k = 0; k < 4; k++)
                put_bits(&bits, k < 3 ? 7 : 128, 8);
            continue;
        }
        put_bits(&bits, 1, 1);
        put_bits(&bits, 2, 2);
        put_bits(&bits, 3, 8);
        put_bits(&bits, rows[p] == '1' ? 255 : 127, 8);
    }
    for (size_t i = 0; i < (bits.n + 7) / 8; i++)
        text_printf(text, "%s%d", i ? "," : "", bits.bytes[i]);
}

TEST(brushes_and_ellipses_of_label_studio_are_read_and_bad_ones_are_void)
{
    static const char rows[] = EMPTY "011000000000"
                                     "011100000000"
                                     "001100000000" EMPTY EMPTY EMPTY "000000000011";
    OWNED(text_release) struct text text = {0};
    put_photo("photos/a.png");
    put_photo("photos/b.png");
    put_photo("photos/c.png");
    text_init(&text, 1 << 20);
    text_put(&text,
             "[{\"data\":{\"image\":\"a.png\"},\"annotations\":[{\"result\":[{\"type\":\"brushlabels\","
             "\"original_width\":12,\"original_height\":8,\"value\":{\"format\":\"rle\",\"brushlabels\":[\"car\"],"
             "\"rle\":[");
    put_brush(&text, rows);
    text_put(&text, "]}}]}]},");
    /* A circle of radius 2 around the corner (6, 4), which the percents make of both radii; and damaged strokes, whose
     * place nobody knows. */
    text_put(&text, TASK("b.png", RESULTS(RESULT("ellipselabels", "\"x\":50,\"y\":50,\"radiusX\":16.666666666667,"
                                                                  "\"radiusY\":25,\"ellipselabels\":[\"car\"]"))) ",");
    text_put(&text,
             TASK("c.png", RESULTS(RESULT("brushlabels", "\"rle\":[0,0,1,128,57],\"brushlabels\":[\"car\"]") "," RESULT(
                               "ellipselabels", "\"x\":50,\"y\":50,\"radiusX\":16.666666666667,"
                                                "\"radiusY\":25,\"ellipselabels\":[\"car\"]"))) "]");
    put_text("ls.json", text.bytes);
    EXPECT_PARTS(expect_success("cleave import label-studio ls.json --images photos -o set"),
                 "region 1: brush of 5 bytes", "void, neither object nor background: 1 damaged mask or run lengths");
    expect_mask("set/masks/a.png", rows);
#define ELLIPSE(o)                                                                                                     \
    o o "000001100000"                                                                                                 \
        "000011110000"                                                                                                 \
        "000011110000"                                                                                                 \
        "000001100000" o o
    expect_mask("set/masks/b.png", ELLIPSE(EMPTY));
    static const char ellipse[] = ELLIPSE(EMPTY);
    char unsure[sizeof ellipse];
    for (size_t p = 0; p < sizeof ellipse; p++)
        unsure[p] = ellipse[p] == '0' ? '.' : ellipse[p];
    expect_mask("set/masks/c.png", unsure);
}

#define POLYGON(x, label)                                                                                              \
    RESULT("polygonlabels", "\"points\":[[" x ",0],[100,0],[100,100],[" x ",100]],\"polygonlabels\":[\"" label "\"]")

TEST(tasks_count_by_the_first_annotation_that_was_not_cancelled)
{
    for (const char *name = "abcd"; *name; name++)
        put_photo(formatted("photos/%c.png", *name));
    put_text("ls.json",
             "[" TASK("a.png", "{\"was_cancelled\":true,\"result\":[" POLYGON("0", "wrong") "]}," RESULTS(POLYGON(
                                   "50", "right"))) "," TASK("b.png",
                                                             "") "," TASK("c.png",
                                                                          "{\"was_cancelled\":true,"
                                                                          "\"result\":[]}") "," TASK("d.png",
                                                                                                     RESULTS("")) "]");
    EXPECT_PARTS(expect_success("cleave import label-studio ls.json --images photos -o set"),
                 "skipped: 2 images that nobody labelled yet", "set: 2 images, 2 with masks");
    expect_mask("set/masks/a.png", "000000111111"
                                   "000000111111"
                                   "000000111111"
                                   "000000111111"
                                   "000000111111"
                                   "000000111111"
                                   "000000111111"
                                   "000000111111");
    expect_mask("set/masks/d.png", EMPTY EMPTY EMPTY EMPTY EMPTY EMPTY EMPTY EMPTY);
    run_here("! grep wrong set/labels.tsv");
}

TEST(results_of_one_id_are_one_region)
{
    put_photo("photos/a.png");
    put_text(
        "ls.json",
        "[" TASK("a.png", RESULTS("{\"id\":\"r\",\"type\":\"polygon\",\"value\":{\"points\":[[0,0],[50,0],[50,100],"
                                  "[0,100]]}},{\"id\":\"r\",\"type\":\"choices\",\"value\":{\"choices\":[\"big\"]}},"
                                  "{\"id\":\"r\",\"type\":\"labels\",\"value\":{\"points\":[[0,0],[50,0],[50,100],"
                                  "[0,100]],\"labels\":[\"car\"]}}")) "]");
    run_here("cleave import label-studio ls.json --images photos -o set && ! grep object set/labels.tsv && grep -q "
             "'^1\tcar' set/labels.tsv");
    OWNED(clv_object_map_release) struct clv_object_map map = {0};
    must(clv_object_map_read(&map, here("set/instances/a.png"), WIDTH, HEIGHT, NULL, err));
    ck_assert_int_eq(map.n_objects, 1);
}

/* CVAT. */
#define CVAT(images)        "<annotations><version>1.1</version>" images "</annotations>"
#define IMAGE(more, shapes) "<image id=\"0\" " more " width=\"12\" height=\"8\">" shapes "</image>"

TEST(turned_boxes_and_ellipses_of_cvat_are_read)
{
    put_photo("photos/a.png");
    put_photo("photos/b.png");
    put_photo("photos/c.png");
    put_text(
        "cvat.xml",
        CVAT(IMAGE("name=\"a.png\"", "<box label=\"car\" xtl=\"4\" ytl=\"2\" xbr=\"8\" ybr=\"4\" rotation=\"90\"/>")
                 IMAGE("name=\"b.png\"", "<ellipse label=\"car\" cx=\"6\" cy=\"4\" rx=\"4.2\" ry=\"2\"/>")
                     IMAGE("name=\"c.png\"", "<ellipse label=\"car\" cx=\"6\" cy=\"4\" rx=\"2\" ry=\"4.2\" "
                                             "rotation=\"90\"/>")));
    run_here("cleave import cvat cvat.xml --images photos -o set && cmp set/masks/b.png set/masks/c.png");
    expect_mask("set/masks/a.png", EMPTY "000001100000"
                                         "000001100000"
                                         "000001100000"
                                         "000001100000" EMPTY EMPTY EMPTY);
    expect_mask("set/masks/b.png", EMPTY EMPTY "000111111000"
                                               "001111111100"
                                               "001111111100"
                                               "000111111000" EMPTY EMPTY);
}

TEST(what_cvat_marks_and_cannot_be_used_is_void_in_its_box)
{
    put_photo("photos/a.png");
    put_text("cvat.xml",
             CVAT(IMAGE("name=\"a.png\"",
                        "<polygon label=\"car\" points=\"0,0;2,0;2,2;0,2\" group_id=\"3\"/>"
                        "<mask label=\"car\" rle=\"1,2\" left=\"4\" top=\"1\" width=\"2\" height=\"2\"/>"
                        "<points label=\"car\" points=\"8.5,0.5\"/><polyline label=\"car\" points=\"8,3;11,5\"/>"
                        "<skeleton label=\"car\"><points label=\"1\" points=\"0.5,6.5\"/><points label=\"2\" "
                        "points=\"2.6,7.4\"/></skeleton>"
                        "<polygon label=\"car\" points=\"10,0;12,0;12,2;10,2\" group_id=\"3\"/>")));
    EXPECT_PARTS(expect_success("cleave import cvat cvat.xml --images photos -o set"),
                 "void, neither object nor background: 1 damaged mask or run lengths, 1 point, 1 line, 1 shape that is "
                 "not read");
    expect_mask("set/masks/a.png", "11000000.011"
                                   "1100..000011"
                                   "0000..000000"
                                   "00000000...0"
                                   "00000000...0" EMPTY "...000000000" EMPTY);
}

TEST(subsets_of_cvat_are_folders_and_splits)
{
    put_photo("photos/Train/a.png");
    put_photo("photos/Validation/a.png");
    put_text("cvat.xml",
             CVAT(IMAGE("name=\"a.png\" subset=\"Train\"", "<polygon label=\"car\" points=\"0,0;2,0;2,2;0,2\"/>") IMAGE(
                 "name=\"a.png\" subset=\"Validation\"", "<polygon label=\"car\" points=\"10,0;12,0;12,2;10,2\"/>")));
    run_here(
        "cleave import cvat cvat.xml --images photos -o set && grep -q 'images/Train/a.png.*train$' set/manifest.tsv "
        "&& grep -q 'images/Validation/a.png.*test$' set/manifest.tsv");
    expect_mask("set/masks/Validation/a.png", "000000000011"
                                              "000000000011" EMPTY EMPTY EMPTY EMPTY EMPTY EMPTY);
    expect_error(64, "--seed cannot be used with cvat.xml: it has splits of its own",
                 "cleave import cvat cvat.xml --images photos -o other --seed 3");
    /* Names that are ambiguous cost their images alone. */
    put_photo("flat/a.png");
    put_photo("flat/Train/a.png");
    expect_error(65, "a.png: boxes of Train/a.png",
                 "rm -r flat/Train; mkdir flat/none; cleave import cvat cvat.xml "
                 "--images flat -o other");
}

/* labelme. */
#define LABELME(name, shapes) "{\"shapes\":[" shapes "],\"imagePath\":\"" name "\",\"imageHeight\":8,\"imageWidth\":12}"

#define SHAPE(label, type, points) "{\"label\":\"" label "\",\"shape_type\":\"" type "\",\"points\":" points "}"

/* A mask of labelme in base64: 3 x 2 pixels, of which the corners are inside. */
static void put_png(struct text *text)
{
    uint8_t pixels[6] = {255, 0, 255, 0, 255, 0}, *bytes;
    struct clv_image image = {.width = 3, .height = 2, .channels = 1, .pixels = pixels};
    size_t size, encoded;
    OWNED_ARRAY char *word = NULL;
    must(clv_png_encode(&bytes, &size, &image, err));
    FILE *stream = open_memstream(&word, &encoded);
    base64_write(stream, bytes, size);
    fclose(stream);
    text_put(text, word);
    clv_free(bytes);
}

TEST(masks_circles_and_turned_rectangles_of_labelme_are_read_and_what_remains_is_void)
{
    OWNED(text_release) struct text text = {0};
    put_photo("a/a.png");
    put_photo("a/b.png");
    text_init(&text, 1 << 16);
    text_put(&text, "{\"shapes\":[{\"label\":\"cell\",\"shape_type\":\"mask\",\"points\":[[4,1],[6,2]],\"mask\":\"");
    put_png(&text);
    text_put(&text, "\"}," SHAPE("cell", "oriented_rectangle", "[[8,0],[12,0],[12,1],[8,1]]") "," SHAPE(
                        "cell", "circle", "[[3,5],[5,5]]") "],\"imagePath\":\"a.png\"}");
    put_text("a/a.json", text.bytes);
    put_text(
        "a/b.json",
        LABELME(
            "b.png",
            SHAPE("cell", "point", "[[1.2,1.2]]") "," SHAPE("cell", "linestrip", "[[4,0],[7,2]]") "," SHAPE(
                "__ignore__", "polygon",
                "[[0,4],[4,4],[4,6],[0,6]]") "," SHAPE("_background_", "polygon",
                                                       "[[2,4],[3,4],[3,5],[2,5]]") "," SHAPE("cell", "polygon",
                                                                                              "[[9,7],[12,7],[12,8],[9,"
                                                                                              "8]]") "," SHAPE("cell",
                                                                                                               "mask",
                                                                                                               "[[8,3],"
                                                                                                               "["
                                                                                                               "9,4]"
                                                                                                               "]")));
    EXPECT_PARTS(
        expect_success("cleave import labelme a -o set"),
        "void, neither object nor background: 1 point, 1 line, 1 shape that is not read, 1 annotation marked to "
        "be ignored");
    expect_mask("set/masks/a.png", "000000001111"
                                   "000010100000"
                                   "000001000000"
                                   "001100000000"
                                   "011110000000"
                                   "011110000000"
                                   "001100000000" EMPTY);
    expect_mask("set/masks/b.png", "0000...00000"
                                   "0.00...00000" EMPTY "00000000.000"
                                   "..0.00000000"
                                   "....00000000" EMPTY "000000000111");
    run_here("[ \"$(cut -f2 set/labels.tsv | tr '\n' ' ')\" = 'name background cell ' ]");
}

TEST(a_bad_file_of_a_folder_costs_itself_alone)
{
    put_photo("a/a.png");
    put_photo("a/b.png");
    put_photo("a/c.png");
    put_text("a/a.json", LABELME("a.png", SHAPE("cell", "polygon", "[[0,0],[4,0],[4,2],[0,2]]")));
    put_text("a/b.json", LABELME("b.png", SHAPE("wrong", "polygon", "[[0,0],[4,0],[4,2],[0,2]]") "," SHAPE(
                                              "", "polygon", "[[0,0],[4,0],[4,2],[0,2]]")));
    put_text("a/c.json", "\xef\xbb\xbf" LABELME("c.png", SHAPE("cell", "polygon", "[[0,0],[4,0],[4,2],[0,2]]")));
    put_text("a/package.json", "{\"name\":\"x\"}");
    char *output;
    ck_assert_int_eq(run_command(&output, "cd $HERE && cleave import labelme a -o set"), 65);
    EXPECT_PARTS(output, "a/b.json: shape 2: \"label\" is missing", "a/package.json: neither COCO",
                 "set: 2 images, 2 with masks", "2 files of annotations could not be read");
    run_here("! grep wrong set/labels.tsv"); /* nothing of the bad file stays */
    expect_error(65, "a/b.json: shape 2", "rm a/a.json a/c.json a/package.json; cleave import labelme a -o none");
}

/* YOLO. */
#define SQUARE "0.5 0 1 0 1 0.5 0.5 0.5"

TEST(names_and_splits_of_yolo_are_those_of_its_tables)
{
    put_photo("d/obj_train_data/a.png");
    put_photo("d/obj_train_data/b.png");
    put_text("d/obj_train_data/a.txt", "\xef\xbb\xbf"
                                       "1 " SQUARE "\n");
    put_text("d/obj_train_data/b.txt", "0 " SQUARE " 0.93\n"); /* with a confidence */
    put_text("d/obj.names", "\xef\xbb\xbf"
                            "crack\r\nrust\r\n");
    put_text("d/train.txt", "\xef\xbb\xbf"
                            "data/obj_train_data/a.png\n");
    put_text("d/valid.txt", "data/obj_train_data/b.png\n");
    run_here("cleave import yolo d/obj_train_data -o set && grep -q 'a.png.*train$' set/manifest.tsv && grep -q "
             "'b.png.*test$' set/manifest.tsv && grep -q '^2\trust' set/labels.tsv");
    static const char *const mask = "000000111111"
                                    "000000111111"
                                    "000000111111"
                                    "000000111111" EMPTY EMPTY EMPTY EMPTY;
    expect_mask("set/masks/b.png", mask);
    /* The same in the folders of data.yaml, whose names are its own. */
    run_here("mkdir -p y/images y/labels && cp -r d/obj_train_data y/images/first && cp -r d/obj_train_data "
             "y/images/second && rm y/images/*/*.txt && mkdir y/labels/first y/labels/second && cp "
             "d/obj_train_data/a.txt y/labels/first && cp d/obj_train_data/b.txt y/labels/second && rm "
             "y/images/first/b.png y/images/second/a.png && printf 'path: .\ntrain: images/first\nval:\n  - "
             "images/second\ntest:\nnames: [crack, rust]\n' >y/data.yaml && cleave import yolo y -o ys && grep -q "
             "'first/a.png.*train$' ys/manifest.tsv && grep -q 'second/b.png.*test$' ys/manifest.tsv");
}

TEST(lines_of_poses_and_classes_without_a_name_are_no_background)
{
    put_photo("d/a.png");
    put_photo("d/b.png");
    put_text("d/classes.txt", "crack\n");
    put_text("d/a.txt", "0 0.5 0.5 0.2 0.2 0.5 0.5 2\n");
    put_text("d/b.txt", "0 " SQUARE "\n4 0 0 0.25 0 0.25 0.25 0 0.25\n");
    char *output;
    ck_assert_int_eq(run_command(&output, "cd $HERE && cleave import yolo d -o set"), 65);
    EXPECT_PARTS(output, "d/a.txt: line 1: a pose of 8 fields", "line 2: class 4, but there are names of 1");
    expect_mask("set/masks/b.png", "...000111111"
                                   "...000111111"
                                   "000000111111"
                                   "000000111111" EMPTY EMPTY EMPTY EMPTY);
}

/* VOC. */
static void put_colours(const char *name, const uint8_t colours[][3], const char *rows)
{
    OWNED(clv_image_release) struct clv_image image = {0};
    must(clv_image_new(&image, WIDTH, HEIGHT, 3, err));
    for (size_t p = 0; rows[p]; p++)
        memcpy(image.pixels + 3 * p, colours[rows[p] - '0'], 3);
    const char *path = here("%s", name);
    run_here("mkdir -p \"$(dirname '%s')\"", path);
    must(clv_png_write(path, &image, err));
}

TEST(colours_of_voc_are_labels_by_labelmap_and_objects_come_along)
{
    static const uint8_t classes[][3] = {{0, 0, 0}, {250, 50, 83}, {51, 221, 255}, {1, 2, 3}};
    static const uint8_t objects[][3] = {{0, 0, 0}, {128, 0, 0}, {0, 128, 0}, {128, 128, 0}};
    put_photo("v/JPEGImages/a.png");
    put_colours("v/SegmentationClass/a.png", classes, "111122000003" EMPTY EMPTY EMPTY EMPTY EMPTY EMPTY EMPTY);
    put_colours("v/SegmentationObject/a.png", objects, "112233000010" EMPTY EMPTY EMPTY EMPTY EMPTY EMPTY EMPTY);
    put_text("v/labelmap.txt", "\xef\xbb\xbf# label:color_rgb:parts:actions\nbackground:0,0,0::\ncar:250,50,83::\n"
                               "person:51,221,255::\n");
    EXPECT_PARTS(expect_success("cleave import voc v -o set"), "labelmap.txt does not name their colours: 1 pixel");
    expect_mask("set/masks/a.png", "11112200000." EMPTY EMPTY EMPTY EMPTY EMPTY EMPTY EMPTY);
    OWNED(clv_object_map_release) struct clv_object_map map = {0};
    must(clv_object_map_read(&map, here("set/instances/a.png"), WIDTH, HEIGHT, NULL, err));
    static const int32_t numbers[WIDTH] = {1, 1, 2, 2, 3, 3};
    ck_assert_mem_eq(map.objects, numbers, sizeof numbers);
    run_here("[ \"$(cut -f1,2 set/labels.tsv | tr '\t\n' ': ')\" = 'value:name 0:background 1:car 2:person ' ]");
    put_colours("v/SegmentationClass/a.png", classes, "000122000000" EMPTY EMPTY EMPTY EMPTY EMPTY EMPTY EMPTY);
    expect_error(66, "colour 250,50,83 is none of VOC's", "rm v/labelmap.txt; cleave import voc v -o none");
}

TEST(class_names_of_labelme2voc_name_the_values)
{
    uint8_t labels[WIDTH * HEIGHT] = {1, 2};
    put_photo("v/JPEGImages/a.png");
    run_here("mkdir v/SegmentationClass");
    must(clv_png_write_labels(here("v/SegmentationClass/a.png"), WIDTH, HEIGHT, labels, NULL, 0, err));
    put_text("v/class_names.txt", "\xef\xbb\xbf_background_\ncrack\nrust");
    run_here(
        "cleave import voc v -o set && [ \"$(cut -f1,2 set/labels.tsv | tr '\t\n' ': ')\" = 'value:name 0:background "
        "1:crack 2:rust ' ]");
}

TEST(indices_of_one_colour_have_one_name)
{
    static const uint8_t palette[5][3] = {{0, 0, 0}, {128, 0, 0}, {0, 0, 0}, {224, 224, 192}, {0, 0, 0}};
    const uint8_t labels[WIDTH * HEIGHT] = {1, 0, 3};
    put_photo("v/JPEGImages/a.png");
    run_here("mkdir v/SegmentationClass");
    must(clv_png_write_labels(here("v/SegmentationClass/a.png"), WIDTH, HEIGHT, labels, palette, 5, err));
    put_text("v/labelmap.txt", "background:0,0,0::\ncow:128,0,0::\nignored:224,224,192::\n");
    run_here(
        "cleave import voc v -o set && [ \"$(cut -f1,2 set/labels.tsv | tr '\t\n' ': ')\" = 'value:name 0:background "
        "1:cow 3:void ' ]");
}

TEST(names_of_voc_that_a_set_cannot_have_are_refused)
{
    put_photo("v/JPEGImages/a.png");
    put_photo("v/SegmentationClass/a.png");
    put_text("v/class_names.txt", "__ignore__\nfield\ncat\ncat\n");
    expect_error(65, "v/class_names.txt: label \"cat\" is there twice", "cleave import voc v -o set");
    put_text("v/class_names.txt", "field\nc\tat\n");
    expect_error(65, "has a tab or line end", "cleave import voc v -o set");
    put_text("v/class_names.txt", "field\n"
                                  "0123456789012345678901234567890123456789012345678901234567890123\n");
    expect_error(65, "more than 63 bytes", "cleave import voc v -o set");
}

TEST(an_image_of_voc_with_bad_objects_leaves_no_mask_and_is_not_counted)
{
    static const uint8_t labels[WIDTH * HEIGHT] = {1};
    put_photo("v/JPEGImages/a.BMP");
    put_photo("v/JPEGImages/b.png");
    run_here("mkdir v/SegmentationClass");
    must(clv_png_write_labels(here("v/SegmentationClass/a.png"), WIDTH, HEIGHT, labels, NULL, 0, err));
    must(clv_png_write_labels(here("v/SegmentationClass/b.png"), WIDTH, HEIGHT, labels, NULL, 0, err));
    put_text("v/SegmentationObject/b.png", "no PNG");
    char *output;
    ck_assert_int_eq(run_command(&output, "cd $HERE && cleave import voc v -o set"), 65);
    EXPECT_PARTS(output, "set: 1 image, 1 with masks, 0 with boxes", "v/SegmentationObject/b.png");
    run_here("test -e set/images/a.BMP && test -e set/masks/a.png && test ! -e set/masks/b.png");
}

TEST(a_name_that_no_table_can_have_costs_its_image)
{
    static const uint8_t labels[WIDTH * HEIGHT] = {1};
    static const char *const names[] = {"a", "b\tc", "d\xe9"};
    for (int i = 0; i < 3; i++) {
        put_photo(formatted("v/JPEGImages/%s.png", names[i]));
        run_here("mkdir -p v/SegmentationClass");
        must(clv_png_write_labels(here("v/SegmentationClass/%s.png", names[i]), WIDTH, HEIGHT, labels, NULL, 0, err));
    }
    char *output;
    ck_assert_int_eq(run_command(&output, "cd $HERE && cleave import voc v -o set"), 65);
    EXPECT_PARTS(output, "a tab or line end in a name", "its name is not UTF-8", "set: 1 image, 1 with masks");
}

TEST(objects_without_a_label_are_those_of_the_label_object)
{
    put_photo("d/a.png");
    put_text("d/c.xml", "<annotations><image name=\"a.png\"><polygon label=\"\" points=\"0,0;6,0;6,4;0,4\"/>"
                        "<polygon label=\"object\" points=\"6,0;12,0;12,4;6,4\"/></image></annotations>");
    run_here("cleave import cvat d/c.xml -o set && [ \"$(cut -f1,2 set/labels.tsv | tr '\t\n' ': ')\" = "
             "'value:name 0:background 1:object ' ]");
}

/* QuPath. */
#define FEATURE(properties, x)                                                                                         \
    "{\"type\":\"Feature\",\"properties\":{" properties "},\"geometry\":{\"type\":\"Polygon\",\"coordinates\":"        \
    "[[[" x ",0],[" x ".9,0],[" x ".9,8],[" x ",8]]]}}"

TEST(features_of_qupath_are_named_by_their_classification_or_void)
{
    static const char *const forms[][2] = {{"", ""}, {"{\"type\":\"FeatureCollection\",\"features\":", "}"}};
    static const char features[] =
        FEATURE("\"classification\":{\"name\":\"Tumor\"}", "1") "," FEATURE("\"objectType\":\"annotation\"", "5");
    put_photo("photos/a b.png");
    for (size_t k = 0; k < 2; k++) {
        put_text("q/a b.geojson", formatted("%s[%s]%s", forms[k][0], features, forms[k][1]));
        EXPECT_PARTS(
            expect_success("cleave import geojson q --images photos --property classification.name -o set%zu && "
                           "cleave import -q geojson q --images photos --property classification -o by%zu && "
                           "cmp set%zu/masks/'a b.png' by%zu/masks/'a b.png'",
                           k, k, k, k),
            "void, neither object nor background: 1 annotation without a known label");
        expect_mask(formatted("set%zu/masks/a b.png", k), "01000.000000"
                                                          "01000.000000"
                                                          "01000.000000"
                                                          "01000.000000"
                                                          "01000.000000"
                                                          "01000.000000"
                                                          "01000.000000"
                                                          "01000.000000");
    }
    put_text("q/a b.geojson", FEATURE("\"classification\":{\"names\":[\"Tumor\",\"Positive\"]}", "1"));
    run_here("cleave import geojson q --images photos --property classification -o one && grep -q 'Tumor: Positive' "
             "one/labels.tsv");
    expect_error(65, "feature 1 has \"classification.names\"", "cleave import geojson q --images photos -o none");
}

TEST(names_of_links_find_their_images)
{
    put_photo("photos/a b.png");
    put_text("coco.json", "{\"images\":[{\"id\":1,\"file_name\":\"sets/a%20b.png\"}],\"categories\":[{\"id\":1,"
                          "\"name\":\"cow\"}],\"annotations\":[]}");
    put_text("ls.json", "[" TASK("s3://bucket/photos/a%20b.png?token=1/2", RESULTS("")) "]");
    run_here(
        "cleave import coco coco.json --images photos -o coco && cleave import label-studio ls.json --images photos "
        "-o ls && cmp coco/masks/'a b.png' ls/masks/'a b.png'");
}

TEST(files_of_other_programs_are_called_by_their_names)
{
    put_photo("photos/a.png");
    static const char *const rows[][2] = {
        {"[{\"image_id\":1,\"category_id\":1,\"bbox\":[1,2,3,4],\"score\":0.5}]", "results of a detector"},
        {"{\"images\":[],\"categories\":[],\"annotations\":[{\"segments_info\":[]}]}", "panoptic"},
        {"{\"image\":{\"file_name\":\"a.png\"},\"annotations\":[]}", "Segment Anything"},
        {"{\"_via_img_metadata\":{}}", "VGG Image Annotator"},
        {"{\"images\":[{\"id\":1,\"file_name\":\"a.png\"}],\"categories\":[{\"id\":1,\"name\":\"a\"}],"
         "\"annotations\":[{\"image_id\":1,\"category_id\":1,\"segmentation\":[1,1,3,1,3,3]}]}",
         "one list of numbers"},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char *output;
        put_text("x.json", rows[k][0]);
        (void)run_command(&output, "cd $HERE && rm -rf set && cleave import coco x.json --images photos -o set");
        EXPECT_PARTS(output, rows[k][1]);
    }
    expect_mask("set/masks/a.png", EMPTY "0..000000000"
                                         "0..000000000" EMPTY EMPTY EMPTY EMPTY EMPTY);
}

/* The rules of import hold for --boxes: a void is neither background nor an object, a bad file costs itself. */
TEST(boxes_of_other_programs_keep_their_voids_and_lose_bad_files_alone)
{
    put_photo("photos/a.png");
    put_photo("photos/b.png");
    put_text("cvat.xml", CVAT(IMAGE("name=\"a.png\"", "<box label=\"car\" xtl=\"1\" ytl=\"1\" xbr=\"8\" ybr=\"7\"/>"
                                                      "<points label=\"car\" points=\"10.5,2.5\"/>")));
    run_here("cleave import cvat cvat.xml --images photos -o set && [ \"$(tail -n +2 set/boxes.tsv)\" = "
             "\"$(printf 'images/a.png\tcar\t1\t1\t7\t6\nimages/a.png\t__ignore__\t10\t2\t1\t1')\" ]");
    put_text("y/a.txt", "0 0.5 0.5 0.5 0.5\n");
    put_text("y/b.txt", "0 0.5\n");
    char *output;
    ck_assert_int_eq(run_command(&output, "cd $HERE && cleave segment --boxes y photos -o out"), 65);
    EXPECT_PARTS(output, "y/b.txt: line 1: 2 fields", "1 image segmented into out");
    run_here("[ \"$(ls out)\" = a.png ]");
    expect_error(65, "y/b.txt: line 1: 2 fields", "cleave train photos --boxes y -o m.cleave");
}
