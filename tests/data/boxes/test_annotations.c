/* The rules that hold for annotations of all formats, where boxes alone count. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/base64.h"
#include "data/boxes/boxes_text.h"

#define COCO(annotations)                                                                                              \
    "{\"images\":[{\"id\":7,\"file_name\":\"a.jpg\",\"width\":12,\"height\":8}],"                                      \
    "\"categories\":[{\"id\":9,\"name\":\"dog\"}],\"annotations\":[" annotations "]}"
#define OBJECT(more)               "{\"image_id\":7,\"category_id\":9," more "}"
#define LABELME(shapes)            "{\"shapes\":[" shapes "],\"imagePath\":\"a.jpg\"}"
#define SHAPE(label, type, points) "{\"label\":\"" label "\",\"points\":" points ",\"shape_type\":\"" type "\"}"

TEST(an_image_is_known_if_it_is_known_where_its_background_is)
{
    static const struct {
        const char *name, *text;
        size_t n_boxes, n_voids;
        bool is_known;
    } rows[] = {
        {"c.json", COCO(""), 0, 0, true},
        {"c.json", COCO(OBJECT("\"bbox\":[1,1,2,2]")), 1, 0, true},
        {"c.json", COCO(OBJECT("\"bbox\":[1,1,2,2],\"segmentation\":[[1,2,3]]")), 1, 0, true}, /* its box is enough */
        {"c.json", COCO(OBJECT("\"bbox\":[1,1,2,2],\"iscrowd\":1")), 0, 1, true},
        {"c.json", COCO(OBJECT("\"bbox\":[1,1,2,2],\"ignore\":1") "," OBJECT("\"bbox\":[1,1,2,2]")), 1, 1, true},
        {"c.json", COCO(OBJECT("\"iscrowd\":1") "," OBJECT("\"bbox\":[1,1,2,2]")), 1, 0, false},
        {"c.json", COCO(OBJECT("\"iscrowd\":1,\"segmentation\":[[1,1,3,1,3,3]]")), 1, 0, true},
        {"c.json", COCO(OBJECT("\"segmentation\":{\"size\":[8,12],\"counts\":[96]}")), 0, 0, true}, /* of no pixel */
        {"l.json", LABELME(SHAPE("cow", "point", "[[1,2]]")), 0, 1, false},
        {"l.json", LABELME(SHAPE("cow", "line", "[[1,2],[5,5]]") "," SHAPE("cow", "rectangle", "[[1,2],[5,5]]")), 1, 1,
         true},
        {"l.json", LABELME(SHAPE("__ignore__", "polygon", "[[1,2],[5,5],[5,2]]")), 0, 1, true},
        {"l.json", LABELME(SHAPE("cow", "mask", "[[1,2],[5,5]]")), 0, 1, true},
        {"t.tsv", "image\tlabel\tx\ty\tw\th\na.jpg\t__ignore__\t1\t1\t2\t2\n", 0, 1, true},
        {"t.tsv", "image\tlabel\tx\ty\tw\th\na.jpg\tcow\t1\t1\t0\t2\n", 0, 1, false},
        {"v.xml", "<annotation><filename>a.jpg</filename><object><name>d</name></object></annotation>", 0, 0, false},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        OWNED(clv_boxes_release) struct clv_boxes boxes = read_text(rows[k].name, rows[k].text);
        const struct clv_image_boxes *entry = NULL;
        must(clv_boxes_find(&entry, &boxes, "a.jpg", err));
        ck_assert_msg(entry && entry->n_boxes == rows[k].n_boxes && entry->n_voids == rows[k].n_voids &&
                          clv_boxes_are_known(entry) == rows[k].is_known,
                      "row %zu: %zu boxes, %zu voids", k, entry->n_boxes, entry->n_voids);
    }
    ck_assert(!clv_boxes_are_known(NULL));
}

/* A crowd of one piece, whose outline is read, and a mask with empty pixels around; a box of no area is none. */
TEST(a_box_that_the_file_states_is_taken_before_that_of_the_outline)
{
    static const struct {
        const char *name, *text;
        double sides[4];
    } rows[] = {
        {"c.json", COCO(OBJECT("\"bbox\":[1,1,9,6],\"iscrowd\":1,\"segmentation\":[[2,3,7,3,7,5]]")), {1, 1, 9, 6}},
        {"c.json", COCO(OBJECT("\"bbox\":[1,1,9,0],\"iscrowd\":1,\"segmentation\":[[2,3,7,3,7,5]]")), {2, 3, 5, 2}},
        {"c.json", COCO(OBJECT("\"bbox\":[1,1,0,6],\"segmentation\":[[2,3,7,3,7,5]]")), {2, 3, 5, 2}},
        {"v.xml",
         "<annotations><image name=\"a.jpg\" width=\"12\" height=\"8\"><mask label=\"dog\" rle=\"4, 1, 4\" left=\"2\" "
         "top=\"1\" width=\"3\" height=\"3\"/></image></annotations>",
         {2, 1, 3, 3}},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        OWNED(clv_boxes_release) struct clv_boxes boxes = read_text(rows[k].name, rows[k].text);
        ck_assert_uint_eq(boxes.images[0].n_boxes, 1);
        const struct clv_box *box = boxes.images[0].boxes;
        const double sides[4] = {box->x, box->y, box->width, box->height};
        ck_assert_msg(memcmp(sides, rows[k].sides, sizeof sides) == 0, "row %zu: %g, %g, %g, %g", k, box->x, box->y,
                      box->width, box->height);
    }
}

TEST(splits_are_known_by_their_names)
{
    static const char *const rows[][2] = {
        {"images/train/a.jpg", "train"},
        {"images/Validation/a.jpg", "val"},
        {"valid/images/a.jpg", "val"},
        {"test2017/a.jpg", "test"},
        {"obj_train_data/a.jpg", "train"},
        {"obj_Test_data/a.jpg", "test"},
        {"train/val/a.jpg", "val"},
        {"images/a.jpg", ""},
        {"train.jpg", ""},
        {"trainstation/a.jpg", ""},
        {"2017/a.jpg", ""},
        {"images/DEV/sub/a.jpg", "val"},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const char *split = boxes_split_of_path(rows[k][0]);
        ck_assert_msg(strcmp(split ? split : "", rows[k][1]) == 0, "%s: %s", rows[k][0], split ? split : "none");
    }
}

TEST(links_are_decoded_and_base64_is_read_or_refused)
{
    static const char *const names[][2] = {
        {"a%20b.jpg", "a b.jpg"}, {"%c3%A4.jpg", "\xc3\xa4.jpg"},
        {"100%.jpg", "100%.jpg"}, {"%2", "%2"},
        {"%zz%41", "%zzA"},       {"%00a", "%00a"},
    };
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        OWNED_ARRAY char *name = strdup(names[k][0]);
        path_decode(name);
        ck_assert_str_eq(name, names[k][1]);
    }
    static const struct {
        const char *text, *wanted;
    } rows[] = {{"", ""},        {"YQ==", "a"}, {"YW\nI=", "ab"}, {"YWI", "ab"},
                {"YWJj", "abc"}, {"Y", NULL},   {"Y*==", NULL},   {"YQ==YQ==", NULL}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        uint8_t bytes[16];
        size_t size;
        bool is_good = base64_read(bytes, &size, rows[k].text);
        ck_assert_msg(is_good == (rows[k].wanted != NULL), "%s", rows[k].text);
        if (is_good)
            ck_assert(size == strlen(rows[k].wanted) && memcmp(bytes, rows[k].wanted, size) == 0);
    }
}

TEST(shapes_without_an_area_are_neither_objects_nor_background)
{
    static const struct {
        const char *shape, *why;
        double sides[4]; /* of the void */
        enum clv_fault_of_annotation fault;
    } rows[] = {
        {SHAPE("cow", "polygon", "[[2,1],[2,5],[2,3]]"),
         "an outline that is 0 wide and 4 high",
         {2, 1, 0, 4},
         CLV_ANNOTATION_OUTLINE},
        {SHAPE("cow", "polygon", "[[2,1],[7,1],[3,1]]"),
         "an outline that is 5 wide and 0 high",
         {2, 1, 5, 0},
         CLV_ANNOTATION_OUTLINE},
        {SHAPE("cow", "polygon", "[[2,1],[2,1],[2,1]]"),
         "an outline that is 0 wide and 0 high",
         {2, 1, 0, 0},
         CLV_ANNOTATION_OUTLINE},
        {SHAPE("cow", "rectangle", "[[2,1],[2,5]]"), "0 wide and 4 high", {2, 1, 0, 4}, CLV_ANNOTATION_BOX},
        {SHAPE("cow", "rectangle", "[[2,1],[7,1]]"), "5 wide and 0 high", {2, 1, 5, 0}, CLV_ANNOTATION_BOX},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        OWNED(clv_boxes_release) struct clv_boxes boxes =
            read_text("l.json", formatted(LABELME(SHAPE("cow", "rectangle", "[[4,4],[8,9]]") ",%s"), rows[k].shape));
        const struct clv_image_boxes *entry = boxes.images;
        ck_assert_msg(boxes.n_images == 1 && entry->n_boxes == 1 && entry->n_voids == 1,
                      "row %zu: %zu boxes, %zu voids", k, entry->n_boxes, entry->n_voids);
        const struct clv_box *box = entry->boxes, *empty = entry->voids;
        ck_assert(box->x == 4 && box->y == 4 && box->width == 4 && box->height == 5);
        const double sides[4] = {empty->x, empty->y, empty->width, empty->height};
        ck_assert_msg(memcmp(sides, rows[k].sides, sizeof sides) == 0, "row %zu: void of %g, %g, %g, %g", k, empty->x,
                      empty->y, empty->width, empty->height);
        ck_assert_uint_eq(boxes.n_skipped, 1);
        ck_assert_uint_eq(boxes.n_faults[rows[k].fault], 1);
        must_say(boxes.first_skipped, "shape 2: ");
        must_say(boxes.first_skipped, rows[k].why);
    }
}
