/* The converters, on small files of the published forms. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cleave/image.h"
#include "support/sample.h"
#include "support/support.h"

static const char *converter(const char *name)
{
    return formatted("\"$BUILD\"/datasets/%s", name);
}

/* A mask whose foreground, of value `value`, is a box; none if it has no width. */
static void write_mask(const char *path, const int32_t box[4], uint8_t value)
{
    enum { WIDTH = 60, HEIGHT = 45 };
    static uint8_t pixels[WIDTH * HEIGHT];
    for (int32_t y = 0; y < HEIGHT; y++)
        for (int32_t x = 0; x < WIDTH; x++)
            pixels[y * WIDTH + x] =
                x >= box[0] && x < box[0] + box[2] && y >= box[1] && y < box[1] + box[3] ? value : 0;
    must(clv_png_write_labels(path, WIDTH, HEIGHT, pixels, NULL, 0, err));
}

static void write_horse(const char *path, const int32_t box[4])
{
    OWNED(clv_image_release) struct clv_image image = {0};
    must(clv_image_new(&image, 60, 45, 3, err));
    for (int32_t i = 0; i < 60 * 45; i++) {
        int32_t x = i % 60, y = i / 60;
        bool inside = x >= box[0] && x < box[0] + box[2] && y >= box[1] && y < box[1] + box[3];
        for (int c = 0; c < 3; c++)
            image.pixels[3 * i + c] = (uint8_t)((inside ? 150 : 60) + (x * 7 + y * 13 + c * 29) % 23);
    }
    must(clv_jpeg_write(path, &image, 90, err));
}

/* An image and an annotation of it below HDSeg/. */
static void add_horse(const char *root, const char *name, const char *kind, const int32_t box[4], uint8_t value,
                      bool image)
{
    char path[512];
    snprintf(path, sizeof path, "%s/images/HorseSeg/%s.JPEG", root, name);
    if (image)
        write_horse(path, box);
    snprintf(path, sizeof path, "%s/annotations/HorseSeg/%s%s.png", root, name, kind);
    write_mask(path, box, value);
}

static char *make_horseseg(void)
{
    char *root = strdup(here("HDSeg"));
    run_here("for f in images annotations; do mkdir -p %s/$f/HorseSeg/voc12 %s/$f/HorseSeg/n02374451 "
             "%s/$f/HorseSeg/test; done",
             root, root, root);
    const int32_t left[] = {5, 6, 20, 30}, right[] = {30, 10, 25, 32}, nothing[] = {0, 0, 0, 0};
    add_horse(root, "voc12/2007_000001", ".gt", left, 1, true);
    add_horse(root, "voc12/2008_000002", ".gt", right, 255, true);
    add_horse(root, "n02374451/n02374451_10", ".bb", right, 1, true);
    add_horse(root, "n02374451/n02374451_11", ".bb", left, 1, true);
    add_horse(root, "n02374451/n02374451_11", ".gt", left, 1, true); /* has both: the mask counts */
    add_horse(root, "n02374451/n02374451_12", ".no", left, 1, true);
    add_horse(root, "n02374451/n02374451_13", ".no", left, 1, false);
    add_horse(root, "n02374451/n02374451_14", ".bb", nothing, 1, true);
    add_horse(root, "test/n02374451_99", ".gt", left, 1, true);
    add_horse(root, "test/n02374451_98", "", right, 1, true);
    return root;
}

TEST(horseseg_becomes_a_manifest_with_splits_and_boxes)
{
    OWNED_ARRAY char *root = make_horseseg();
    OWNED_ARRAY char *said = expect_success("%s %s", converter("horseseg"), root);
    ck_assert_str_eq(said, "HorseSeg: 3 train, 2 weak, 1 bare, 2 test; skipped 1 missing image; "
                           "1 weak ones have no foreground and so no box\n");
    OWNED_ARRAY char *manifest = slurp(formatted("%s/manifest.tsv", root), NULL);
    ck_assert_str_eq(
        manifest,
        "image\tmask\tsplit\n"
        "images/HorseSeg/n02374451/n02374451_10.JPEG\t\tweak\n"
        "images/HorseSeg/n02374451/n02374451_11.JPEG\tannotations/HorseSeg/n02374451/n02374451_11.gt.png\ttrain\n"
        "images/HorseSeg/n02374451/n02374451_12.JPEG\t\tbare\n"
        "images/HorseSeg/n02374451/n02374451_14.JPEG\t\tweak\n"
        "images/HorseSeg/test/n02374451_98.JPEG\tannotations/HorseSeg/test/n02374451_98.png\ttest\n"
        "images/HorseSeg/test/n02374451_99.JPEG\tannotations/HorseSeg/test/n02374451_99.gt.png\ttest\n"
        "images/HorseSeg/voc12/2007_000001.JPEG\tannotations/HorseSeg/voc12/2007_000001.gt.png\ttrain\n"
        "images/HorseSeg/voc12/2008_000002.JPEG\tannotations/HorseSeg/voc12/2008_000002.gt.png\ttrain\n");
    OWNED_ARRAY char *boxes = slurp(formatted("%s/boxes.tsv", root), NULL);
    ck_assert_str_eq(boxes, "image\tlabel\tx\ty\tw\th\n"
                            "images/HorseSeg/n02374451/n02374451_10.JPEG\tHorseSeg\t30\t10\t25\t32\n");
}

TEST(what_horseseg_becomes_can_be_learned_from)
{
    OWNED_ARRAY char *root = make_horseseg();
    run_here("%s %s", converter("horseseg"), root);
    run_here("cd %s && cleave train --learner wmpmap --data manifest.tsv --split train --boxes boxes.tsv --weak-split "
             "weak --unlabelled-split bare --superpixels 40 --words 10 --codebook-samples 1000 --passes 5 -o m.cleave "
             "&& cleave segment -m m.cleave --data manifest.tsv --split test -o out",
             root);
    ck_assert_int_eq(count_files(formatted("%s/out", root)), 2);
}

TEST(horseseg_without_images_or_annotations_is_refused)
{
    OWNED_ARRAY char *root = make_horseseg(), *said = NULL;
    ck_assert_int_eq(run_command(&said, "%s %s DogSeg", converter("horseseg"), root), 66);
    ck_assert_ptr_nonnull(strstr(said, "annotations/DogSeg"));
    free(said);
    const int32_t box[] = {5, 6, 20, 30};
    add_horse(root, "voc12/2007_000009", ".seg", box, 1, true);
    ck_assert_int_eq(run_command(&said, "%s %s", converter("horseseg"), root), 65);
    ck_assert_ptr_nonnull(strstr(said, "voc12/2007_000009.seg.png: is none of .gt.png, .bb.png, .no.png"));
    free(said);
    run_here("rm -r %s/images %s/annotations/HorseSeg/voc12/2007_000009.seg.png", root, root);
    ck_assert_int_eq(run_command(&said, "%s %s", converter("horseseg"), root), 66);
    ck_assert_ptr_nonnull(strstr(said, "has none of the 9 annotated images"));
    ck_assert(!path_exists(formatted("%s/manifest.tsv", root)));
}

/* A 24-bit bitmap of two colours, rgb[0] left of column `edge`. */
static void write_bitmap(const char *path, int32_t width, int32_t height, const uint8_t rgb[2][3], int32_t edge)
{
    size_t stride = ((size_t)width * 3 + 3) / 4 * 4, size = 54 + stride * (size_t)height;
    OWNED_ARRAY unsigned char *bytes = calloc(size, 1);
    const uint32_t header[] = {(uint32_t)size, 0, 54, 40, (uint32_t)width, (uint32_t)height, 1 | 24 << 16, 0};
    bytes[0] = 'B';
    bytes[1] = 'M';
    memcpy(bytes + 2, header, sizeof header);
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++)
            for (int c = 0; c < 3; c++)
                bytes[54 + stride * (size_t)y + 3 * (size_t)x + 2 - (size_t)c] = rgb[x >= edge][c];
    spill(path, bytes, size);
}

static char *make_msrc(void)
{
    static const uint8_t photo[2][3] = {{200, 100, 50}, {20, 30, 40}}, cow[2][3] = {{0, 0, 128}, {0, 128, 0}},
                         horse[2][3] = {{128, 0, 128}, {64, 128, 0}};
    char *root = strdup(here("MSRC"));
    run_here("mkdir -p %s/Images %s/GroundTruth", root, root);
    write_bitmap(formatted("%s/5_1_s.bmp", root), 7, 5, photo, 3);
    write_bitmap(formatted("%s/5_1_s_GT.bmp", root), 7, 5, cow, 3); /* next to it, as in version 1 */
    write_bitmap(formatted("%s/Images/9_2_s.bmp", root), 6, 4, photo, 2);
    write_bitmap(formatted("%s/GroundTruth/9_2_s_GT.bmp", root), 6, 4, horse, 2);
    write_bitmap(formatted("%s/Images/9_3_s.bmp", root), 6, 4, photo, 2);
    return root;
}

static void expect_labels(const char *path, int32_t width, int32_t edge, int left, int right)
{
    OWNED(clv_indexed_image_release) struct clv_indexed_image mask = {0};
    must(clv_indexed_image_read(&mask, path, NULL, err));
    ck_assert_int_eq(mask.width, width);
    for (int32_t i = 0; i < mask.width * mask.height; i++)
        ck_assert_int_eq(mask.values[i], i % width < edge ? left : right);
}

TEST(msrc_colours_become_labels)
{
    OWNED_ARRAY char *root = make_msrc(), *out = strdup(here("out"));
    OWNED_ARRAY char *said = expect_success("%s %s %s", converter("msrc"), root, out);
    ck_assert_str_eq(said, formatted("2 images of 21 classes in %s; skipped 1 without truth\n", out));
    expect_labels(formatted("%s/masks/5_1_s.png", out), 7, 3, 4, 2);
    expect_labels(formatted("%s/masks/9_2_s.png", out), 6, 2, 0, 11); /* horses are void, water is not */
    OWNED(clv_image_release) struct clv_image image = {0};
    must(clv_image_read(&image, formatted("%s/images/5_1_s.png", out), NULL, err));
    ck_assert_int_eq(image.height, 5);
    ck_assert(image.pixels[0] == 200 && image.pixels[1] == 100 && image.pixels[2] == 50);
    run_here("%s -9 %s %s", converter("msrc"), root, out);
    expect_labels(formatted("%s/masks/9_2_s.png", out), 6, 2, 0, 0);
    OWNED_ARRAY char *manifest = slurp(formatted("%s/manifest.tsv", out), NULL);
    ck_assert_str_eq(manifest, "image\tmask\nimages/5_1_s.png\tmasks/5_1_s.png\nimages/9_2_s.png\tmasks/9_2_s.png\n");
    OWNED_ARRAY char *labels = slurp(formatted("%s/labels.tsv", out), NULL);
    ck_assert_ptr_nonnull(strstr(labels, "0\tvoid\t0\t0\t0\n"));
    ck_assert_ptr_nonnull(strstr(labels, "9\tbicycle\t192\t0\t128\n"));
    ck_assert_ptr_null(strstr(labels, "\n10\t"));
    char *shared = NULL;
    const char *real = real_data("msrc_colours_become_labels", "msrc/labels.tsv");
    if (real) { /* the same numbers and colours as the set that others cleaned up */
        shared = expect_success("diff %s %s/labels.tsv", real, out);
        free(shared);
    }
}

TEST(msrc_files_that_are_wrong_are_named)
{
    static const uint8_t odd[2][3] = {{1, 2, 3}, {0, 128, 0}}, cow[2][3] = {{0, 0, 128}, {0, 128, 0}};
    OWNED_ARRAY char *root = make_msrc(), *said = NULL;
    const char *truth = "GroundTruth/9_3_s_GT.bmp";
    write_bitmap(formatted("%s/%s", root, truth), 6, 4, odd, 2);
    ck_assert_int_eq(run_command(&said, "%s %s %s/o", converter("msrc"), root, root), 65);
    ck_assert_ptr_nonnull(strstr(said, "9_3_s_GT.bmp: pixel 0 has the colour 1 2 3, which is not a class"));
    free(said);
    ck_assert_int_ne(run_command(NULL, "ls -A %s/o | grep manifest", root), 0); /* nor a part of it */
    write_bitmap(formatted("%s/%s", root, truth), 5, 4, cow, 2);
    ck_assert_int_eq(run_command(&said, "%s %s %s/o", converter("msrc"), root, root), 65);
    ck_assert_ptr_nonnull(strstr(said, "9_3_s_GT.bmp: is 5x4, image is 6x4"));
    free(said);
    size_t size;
    OWNED_ARRAY char *bytes = slurp(formatted("%s/Images/9_3_s.bmp", root), &size);
    spill(formatted("%s/%s", root, truth), bytes, size - 1);
    ck_assert_int_eq(run_command(&said, "%s %s %s/o", converter("msrc"), root, root), 65);
    ck_assert_ptr_nonnull(strstr(said, "9_3_s_GT.bmp: truncated"));
    free(said);
    bytes[28] = 8;
    spill(formatted("%s/%s", root, truth), bytes, size);
    ck_assert_int_eq(run_command(&said, "%s %s %s/o", converter("msrc"), root, root), 65);
    ck_assert_ptr_nonnull(strstr(said, "9_3_s_GT.bmp: a bitmap of 8 bits a pixel and compression 0, not of 24 and 0"));
    free(said);
    spill(formatted("%s/%s", root, truth), "PNG", 3);
    ck_assert_int_eq(run_command(&said, "%s %s %s/o", converter("msrc"), root, root), 65);
    ck_assert_ptr_nonnull(strstr(said, "9_3_s_GT.bmp: not a bitmap"));
    free(said);
    ck_assert_int_eq(run_command(&said, "%s %s/out %s/o", converter("msrc"), root, root), 66);
}
