/* cleave import: label images of objects. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "support/sample.h"
#include "support/support.h"

static void put_photo(const char *path, int32_t width, int32_t height)
{
    struct clv_image image = {0};
    must(clv_image_new(&image, width, height, 3, err));
    memset(image.pixels, 40, 3 * (size_t)width * (size_t)height);
    image.pixels[0] = (uint8_t)path[strlen(path) - 5];
    must(clv_png_write(path, &image, err));
    clv_image_release(&image);
}

static void expect_objects(const char *path, const int32_t *wanted, int32_t width, int32_t height)
{
    struct clv_object_map map = {0};
    must(clv_object_map_read(&map, path, width, height, NULL, err));
    ck_assert_mem_eq(map.objects, wanted, (size_t)width * (size_t)height * sizeof *wanted);
    clv_object_map_release(&map);
}

#define COCO(annotations)                                                                                              \
    "{\"images\":[{\"id\":1,\"file_name\":\"a.png\"}],\"categories\":[{\"id\":1,\"name\":\"cell\"},"                   \
    "{\"id\":2,\"name\":\"background\"}],\"annotations\":[" annotations "]}"
#define OBJECT(category, more, polygons)                                                                               \
    "{\"image_id\":1,\"category_id\":" category "," more "\"segmentation\":" polygons "}"

/* a.png in photos/, and annotations of it. */
static const char *make_coco(const char *text)
{
    const char *folder = temporary_folder();
    run_here("mkdir -p photos");
    put_photo(here("photos/a.png"), 8, 4);
    spill(here("coco.json"), text, strlen(text));
    return folder;
}

TEST(each_annotation_is_an_object_the_one_with_fewer_pixels_in_front)
{
    /* In the file's order: 12 pixels; a long thin triangle with a larger box, but fewer pixels; in two pieces; hidden
     * by one of its size that comes later; and that one. */
    const char *folder =
        make_coco(COCO(OBJECT("1", "", "[[0,0,4,0,4,3,0,3]]") "," OBJECT("1", "", "[[2,0,8,0,8,1,2,1]]") "," OBJECT(
            "1", "",
            "[[5,2,6,2,6,3,5,3],[7,3,8,3,8,4,7,4]]") "," OBJECT("1", "",
                                                                "[[0,3,1,3,1,4,0,4]]") "," OBJECT("1", "",
                                                                                                  "[[0,3,1,3,1,4,0,4]"
                                                                                                  "]")));
    expect_output("objects that others overlap: 2, each pixel is the smaller one's; without a pixel and "
                  "skipped: 1",
                  "cd %s && cleave import coco coco.json --images photos -o set", folder);
    static const int32_t wanted[] = {1, 1, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0,
                                     1, 1, 1, 1, 0, 3, 0, 0, 4, 0, 0, 0, 0, 0, 0, 3};
    expect_objects(formatted("%s/set/instances/a.png", folder), wanted, 8, 4);
    run_here("cd %s/set && [ \"$(cat manifest.tsv)\" = "
             "\"image\tmask\tinstances\tsplit\nimages/a.png\tmasks/a.png\tinstances/a.png\ttrain\" ]",
             folder);
}

TEST(background_and_crowds_are_of_the_mask_alone_and_no_overlap_is_not_spoken_of)
{
    const char *folder =
        make_coco(COCO(OBJECT("1", "\"iscrowd\":1,", "[[0,0,2,0,2,1,0,1],[0,2,2,2,2,4,0,4]]") "," OBJECT(
            "2", "", "[[3,0,5,0,5,4,3,4]]") "," OBJECT("1", "", "[[6,0,8,0,8,1,6,1]]")));
    char *output = expect_success("cd %s && cleave import coco coco.json --images photos -o set", folder);
    ck_assert_msg(!strstr(output, "overlap"), "%s", output);
    EXPECT_PARTS(output, "1 crowd of several pieces is in the mask, and no object");
    static const int32_t wanted[32] = {0, 0, 0, 0, 0, 0, 1, 1};
    expect_objects(formatted("%s/set/instances/a.png", folder), wanted, 8, 4);
    struct clv_indexed_image mask = {0};
    must(clv_indexed_image_read(&mask, formatted("%s/set/masks/a.png", folder), NULL, err));
    for (int p = 0; p < 32; p++)
        ck_assert_int_eq(mask.values[p], (p % 8 < 2 && p / 8 != 1) || wanted[p]);
    clv_indexed_image_release(&mask);
}

/* CVAT marks what was drawn with a brush as a crowd: runs in columns that touch at a corner are one piece. */
TEST(a_crowd_of_one_piece_is_an_object_and_no_objects_are_no_label_image)
{
    const char *folder = make_coco(COCO(
        "{\"image_id\":1,\"category_id\":1,\"iscrowd\":1,\"segmentation\":{\"size\":[4,8],\"counts\":[0,2,4,2,24]}}"));
    EXPECT_PARTS(expect_success("cd %s && cleave import coco coco.json --images photos -o set", folder),
                 "1 crowd of one piece is an object, as CVAT writes");
    static const int32_t wanted[32] = {[0] = 1, [8] = 1, [17] = 1, [25] = 1};
    expect_objects(formatted("%s/set/instances/a.png", folder), wanted, 8, 4);
    make_coco(COCO("{\"image_id\":1,\"category_id\":1,\"iscrowd\":1,\"segmentation\":{\"size\":[4,8],\"counts\":[0,"
                   "2,5,1,24]}}"));
    run_here("cleave import coco coco.json --images photos -o crowds && test ! -e crowds/instances");
}

TEST(labelme_shapes_of_one_label_and_group_are_one_object)
{
#define SHAPE(label, group, x)                                                                                         \
    "{\"label\":\"" label "\",\"group_id\":" group ",\"points\":[[" #x ",0],[" #x ",4],[" #x ".9,4],[" #x ".9,0]]}"
    static const char text[] = "{\"imagePath\":\"a.png\",\"shapes\":[" SHAPE("cell", "0", 0) "," SHAPE(
        "cell", "null", 1) "," SHAPE("seed", "0", 2) "," SHAPE("cell", "0", 3) "," SHAPE("cell", "null", 4) "]}";
    run_here("mkdir photos");
    put_photo(here("photos/a.png"), 8, 4);
    spill(here("photos/a.json"), text, sizeof text - 1);
    run_here("cleave import labelme photos -o set");
    int32_t wanted[32];
    for (int p = 0; p < 32; p++)
        wanted[p] = (const int32_t[8]){1, 2, 3, 1, 4, 0, 0, 0}[p % 8];
    expect_objects(here("set/instances/a.png"), wanted, 8, 4);
}

TEST(seventy_thousand_objects_are_a_tiff_of_which_is_spoken_once)
{
    struct text text;
    run_here("mkdir photos");
    text_init(&text, 1 << 24);
    text_put(&text, "{\"images\":[{\"id\":0,\"file_name\":\"a.png\"},{\"id\":1,\"file_name\":\"b.png\"}],"
                    "\"categories\":[{\"id\":1,\"name\":\"dot\"}],\"annotations\":[");
    for (int i = 0; i < 140000; i++) {
        int x = i % 70000 % 280, y = i % 70000 / 280;
        text_printf(&text, "%s{\"image_id\":%d,\"category_id\":1,\"segmentation\":[[%d,%d,%d,%d,%d,%d,%d,%d]]}",
                    i ? "," : "", i / 70000, x, y, x + 1, y, x + 1, y + 1, x, y + 1);
    }
    text_put(&text, "]}");
    spill(here("coco.json"), text.bytes, text.size);
    text_release(&text);
    for (int k = 0; k < 2; k++)
        put_photo(here("photos/%c.png", "ab"[k]), 280, 250);
    char *output = expect_success("cleave import coco coco.json --images photos -o set");
    const char *said = strstr(output, "instances/a.png: 70000 objects, more than 16 bits can number");
    ck_assert_msg(said && !strstr(output, "b.png"), "%s", output);
    free(output);
    struct clv_object_map map = {0};
    must(clv_object_map_read(&map, here("set/instances/b.tif"), 280, 250, NULL, err));
    for (int32_t p = 0; p < 70000; p++)
        ck_assert_int_eq(map.objects[p], p + 1);
    clv_object_map_release(&map);
    run_here("grep -q 'instances/b.tif' set/manifest.tsv");
}

/* A mask of an object in an image's folder; of one channel, or with transparency. */
static void put_mask(const char *name, const char *rows, int32_t width, int channels)
{
    struct clv_image image = {.width = width, .height = (int32_t)strlen(rows) / width, .channels = channels};
    image.pixels = calloc(strlen(rows), (size_t)channels);
    for (size_t p = 0; p < strlen(rows); p++)
        memset(image.pixels + p * (size_t)channels, rows[p] == '#' ? 255 : 0, (size_t)channels);
    must(clv_png_write(here("%s", name), &image, err));
    free(image.pixels);
}

TEST(folders_of_a_mask_for_each_object_become_label_images)
{
    run_here(
        "for n in a b c d e; do mkdir -p dsb/$n/images; done && mkdir dsb/a/masks dsb/b/masks dsb/d/masks dsb/e/masks");
    for (const char *name = "abcde"; *name; name++)
        put_photo(here("dsb/%c/images/photo.png", *name), 4, 2);
    put_mask("dsb/a/masks/1.png", "###....#", 4, 1); /* in two pieces */
    put_mask("dsb/a/masks/2.png", "..##....", 4, 3); /* fewer pixels */
    put_mask("dsb/a/masks/3.png", "....#...", 4, 1); /* one pixel */
    put_mask("dsb/a/masks/4.png", "........", 4, 1);
    put_mask("dsb/b/masks/1.png", "##....", 3, 1);
    put_mask("dsb/d/masks/1.png", "#.......", 4, 1);
    spill(here("dsb/e/masks/1.png"), "no image", 8);
    put_photo(here("dsb/d/images/second.png"), 4, 2);
    char *output;
    ck_assert_int_eq(run_command(&output, "cd $HERE && cleave import dsb dsb -o set"), 65);
    static const char *const said[] = {"dsb/b/masks/1.png: mask is 3x2, image is 4x2",
                                       "d/images/second.png is there, too; a folder is of one image",
                                       "dsb/e/masks/1.png: not a PNG",
                                       "dsb: 1 of 5 folders have no masks and were skipped",
                                       "objects that others overlap: 1,",
                                       "without a pixel and skipped: 1",
                                       "set: 1 image, 1 with masks"};
    for (size_t k = 0; k < sizeof said / sizeof *said; k++)
        ck_assert_msg(strstr(output, said[k]), "\"%s\" is not in %s", said[k], output);
    free(output);
    static const int32_t wanted[] = {1, 1, 2, 2, 3, 0, 0, 1};
    expect_objects(here("set/instances/a.png"), wanted, 4, 2);
    run_here("[ \"$(ls set/images set/masks set/instances | sort -u | grep png)\" = a.png ] && grep -q '^1\tobject' "
             "set/labels.tsv && cleave import dsb dsb/a -o one && cmp one/instances/photo.png set/instances/a.png");
    expect_error(64, "--images cannot be used", "cleave import dsb dsb --images dsb -o more");
    expect_error(66, "dsb/c/images: has no NAME/images/", "cleave import dsb dsb/c/images -o more");
    expect_error(65, "dsb/c: no image of it can be taken over", "cleave import dsb dsb/c -o more");
}

/* What --objects finds and exports is what is imported, to the byte. */
TEST(exported_objects_come_back_as_they_were)
{
    run_here("ln -s $SET B && cleave segment --data B/manifest.tsv --boxes B/boxes.tsv -o out/ --objects --export "
             "coco,labelme --rle --tolerance 0");
    for (const char *const *form = (const char *const[]){"coco", "labelme", NULL}; *form; form++)
        run_here("cleave import %s out/ --images B/images -o %s-set && for f in out/objects/*.png; do cmp $f "
                 "%s-set/instances/${f##*/} || exit 1; done",
                 *form, *form, *form);
}

SETUP_ONCE(sample_setup, NULL)

/* Ten cells of a photo of 160 x 80 pixels: four are objects, six a crowd; a polygon of each is written to `text`. */
static void draw_cells(struct text *text, int k)
{
    struct clv_image image = {0};
    must(clv_image_new(&image, 160, 80, 3, err));
    for (size_t p = 0; p < (size_t)3 * 160 * 80; p++)
        image.pixels[p] = (uint8_t)(80 + rng_below(1, RNG_STREAM(RNG_TEST, k), p, 30));
    for (int cell = 0; cell < 10; cell++) {
        int left = 10 + 31 * (cell % 5), top = 11 + 40 * (cell / 5);
        for (int p = 0; p < 17 * 17; p++)
            image.pixels[3 * ((top + p / 17) * 160 + left + p % 17)] += 90;
    }
    must(clv_png_write(here("photos/%d.png", k), &image, err));
    clv_image_release(&image);
    for (int pass = 0; pass < 2; pass++) /* objects, then the crowd as one annotation */
        for (int cell = 0, n = 0; cell < 10; cell++) {
            int x = 10 + 31 * (cell % 5), y = 11 + 40 * (cell / 5);
            if ((cell % 5 < 2) == pass)
                continue;
            if (!pass || !n++)
                text_printf(text, "%s{\"image_id\":%d,\"category_id\":1,\"iscrowd\":%d,\"segmentation\":[",
                            k || cell || pass ? "," : "", k, pass);
            else
                text_put(text, ",");
            text_printf(text, "[%d,%d,%d,%d,%d,%d,%d,%d]%s", x, y, x + 17, y, x + 17, y + 17, x, y + 17,
                        !pass || n == 6 ? "]}" : "");
        }
}

/* If the crowd were background to what learns objects, more than half of the cells would be. */
TEST(a_crowd_is_neither_object_nor_background_to_what_learns_objects)
{
    struct text text;
    text_init(&text, 1 << 20);
    run_here("mkdir photos");
    text_put(&text, "{\"images\":[");
    for (int k = 0; k < 4; k++)
        text_printf(&text, "%s{\"id\":%d,\"file_name\":\"%d.png\"}", k ? "," : "", k, k);
    text_put(&text, "],\"categories\":[{\"id\":1,\"name\":\"cell\"}],\"annotations\":[");
    for (int k = 0; k < 4; k++)
        draw_cells(&text, k);
    text_put(&text, "]}");
    spill(here("coco.json"), text.bytes, text.size);
    text_release(&text);
    EXPECT_PARTS(
        expect_success("cleave import coco coco.json --images photos --train-share 1 -o set && cleave train -q set "
                       "-o m.cleave && cleave segment -m m.cleave photos -o out --objects"),
        "4 crowds of several pieces are in the mask", "4 images segmented into out, 40 objects");
}
