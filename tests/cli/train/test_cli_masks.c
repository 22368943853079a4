/* Masks that cannot be learned from: one line for each kind of fault, with the command that helps. The kinds of masks
 * are in cli/import/test_cli_import_masks.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/images.h"
#include "support/sample.h"
#include "support/support.h"

#define TRAIN "cleave train --superpixels 60 --words 10 --codebook-samples 1000 --passes 2 --overwrite "

enum { WIDTH = 40, HEIGHT = 30, N = 4 };

/* A file of a mask; free() it. */
typedef uint8_t *make_mask(size_t *size, int width, int height, int i);

/* Images of which the right half is bright in set/images/, and their masks in set/masks/. */
static void make_set(int shrink, const char *extension, make_mask *make)
{
    run_here("rm -rf set && mkdir -p set/images set/masks");
    for (int i = 0; i < N; i++) {
        uint16_t samples[WIDTH * HEIGHT];
        size_t size;
        uint32_t state = (uint32_t)i;
        for (int p = 0; p < WIDTH * HEIGHT; p++)
            samples[p] = (uint16_t)((p % WIDTH >= WIDTH / 2 ? 180 : 40) + noise(&state) % 40);
        OWNED_ARRAY uint8_t *file =
            make_png(&size, &(struct png_recipe){WIDTH, HEIGHT, 8, PNG_GREY, .samples = samples});
        spill(here("set/images/%d.png", i), file, size);
        free(file);
        file = make(&size, WIDTH / shrink, HEIGHT / shrink, i);
        spill(here("set/masks/%d.%s", i, extension), file, size);
    }
}

static uint8_t *jpeg_of(size_t *size, int width, int height, uint8_t background, uint8_t foreground)
{
    uint8_t pixels[WIDTH * HEIGHT];
    for (int p = 0; p < width * height; p++)
        pixels[p] = p % width >= width / 2 ? foreground : background;
    return make_jpeg(size, &(struct jpeg_recipe){width, height, 95, JPEG_GREY, .pixels = pixels});
}

static uint8_t *jpeg(size_t *size, int width, int height, int i)
{
    (void)i;
    return jpeg_of(size, width, height, 0, 255);
}

static uint8_t *fine_jpeg(size_t *size, int width, int height, int i)
{
    (void)i;
    return jpeg_of(size, width, height, 0, 9);
}

/* 64 and 128, and 0 in the last mask. */
static uint8_t *coarse_values(size_t *size, int width, int height, int i)
{
    uint16_t samples[WIDTH * HEIGHT];
    for (int p = 0; p < width * height; p++)
        samples[p] = p % width >= width / 2 ? 128 : i + 1 < N ? 64 : 0;
    return make_png(size, &(struct png_recipe){width, height, 8, PNG_GREY, .samples = samples});
}

static uint8_t *binary(size_t *size, int width, int height, int i)
{
    uint16_t samples[WIDTH * HEIGHT];
    (void)i;
    for (int p = 0; p < width * height; p++)
        samples[p] = p % width >= width / 2 ? 255 : 0;
    return make_png(size, &(struct png_recipe){width, height, 8, PNG_GREY, .samples = samples});
}

static uint8_t *photograph(size_t *size, int width, int height, int i)
{
    uint16_t samples[3 * WIDTH * HEIGHT];
    uint32_t state = (uint32_t)i;
    for (int p = 0; p < 3 * width * height; p++)
        samples[p] = (uint16_t)(noise(&state) % 256);
    return make_png(size, &(struct png_recipe){width, height, 8, PNG_RGB, .samples = samples});
}

TEST(masks_that_jpeg_has_mixed_and_photographs_have_no_command)
{
    make_set(1, "jpg", fine_jpeg);
    expect_error(65,
                 "(and 3 more); JPEG has mixed labels that are next to each other: save the masks as PNG where they",
                 TRAIN "set -o m");
    make_set(1, "png", photograph);
    expect_error(65, "(and 3 more); more than 40 colours are not labels: photographs, or smooth edges?",
                 TRAIN "set -o m");
}

TEST(one_bad_mask_of_a_set_ends_with_the_command)
{
    char *output;
    make_set(1, "png", binary);
    size_t size;
    OWNED_ARRAY uint8_t *file = jpeg(&size, WIDTH, HEIGHT, 0);
    spill(here("set/masks/2.jpg"), file, size);
    run_here("rm set/masks/2.png");
    ck_assert_int_eq(run_command(&output, "cd $HERE && " TRAIN "set -o m"), 65);
    EXPECT_PARTS(output, "8-bit grey or palette PNG (--skip-bad goes on without it); this makes labels of 0 and 255: "
                         "cleave import masks set/masks --images set/images -o set-labels\n");
}

/* Of ten masks of values: two JPEGs, one of noise and another size, and two of images that EXIF turns. */
static void spoil_masks(void)
{
    uint16_t samples[2 * WIDTH * HEIGHT];
    uint8_t pixels[3 * WIDTH * HEIGHT] = {0}, exif[32];
    uint32_t state = 1;
    size_t size;
    make_set(1, "png", coarse_values);
    run_here("cd set && for i in 4 5 6 7 8 9; do cp images/0.png images/$i.png && cp masks/0.png masks/$i.png; done && "
             "rm masks/[47].png images/[68].png");
    for (int p = 0; p < 2 * WIDTH * HEIGHT; p++)
        samples[p] = (uint16_t)(noise(&state) % 256);
    uint8_t *file = make_png(&size, &(struct png_recipe){WIDTH, 2 * HEIGHT, 8, PNG_GREY, .samples = samples});
    spill(here("set/masks/5.png"), file, size);
    free(file);
    for (int k = 0; k < 2; k++) {
        file = jpeg(&size, WIDTH, HEIGHT, 0);
        spill(here("set/masks/%d.jpg", k ? 7 : 4), file, size);
        free(file);
        make_exif(exif, k ? 8 : 6, false);
        file = make_jpeg(&size, &(struct jpeg_recipe){.width = WIDTH,
                                                      .height = HEIGHT,
                                                      .quality = 90,
                                                      .kind = JPEG_YCC,
                                                      .pixels = pixels,
                                                      .exif = exif,
                                                      .exif_size = sizeof exif});
        spill(here("set/images/%d.jpg", k ? 8 : 6), file, size);
        free(file);
    }
}

TEST(a_few_bad_masks_are_named_each_with_its_remedy_and_spoil_none_of_the_others)
{
    char *output;
    spoil_masks();
    ck_assert_int_eq(run_command(&output, "cd $HERE && " TRAIN "set -o m"), 65);
    EXPECT_PARTS(
        output, "set/masks/0.png: value 64 at", "set/masks/9.png); this makes labels of 0, 64 and 128",
        ": cleave import masks",
        "set/masks/4.jpg: a JPEG, which does not keep label values; masks must be 8-bit grey or palette PNG (and "
        "1 more: set/masks/7.jpg); this makes labels of 0, 64 and 128",
        "set/masks/5.png: mask is 40x60, image is 40x30; this lays masks over their whole images: cleave import masks "
        "set/masks --images set/images -o set-labels --stretch\n",
        "set/masks/6.png: mask is 40x30, image is 30x40; EXIF orientation 6 turns the image and not its mask, this "
        "turns "
        "the mask, too: cleave import masks set/masks --images set/images -o set-labels\n",
        "set/masks/8.png: mask is 40x30, image is 30x40; EXIF orientation 8", "9 of 10 images cannot be learned from");
    /* what cannot be used is named, and costs itself alone */
    ck_assert_int_eq(
        run_command(&output, "cd $HERE && cleave import masks set/masks --images set/images -o set-labels"), 65);
    EXPECT_PARTS(output, "set/masks/5.png: mask is 40x60, image is 40x30; --stretch lays it over the whole image",
                 "pixels of 2 masks", "became void for lack of a label, first in set/masks/4.jpg",
                 "set-labels: 9 images, 9 with masks", "1 image could not be taken over");
    run_here(TRAIN "set-labels -o m");
}

TEST(every_door_that_reads_masks_names_the_command)
{
    const char *command = "; this makes labels of 0, 64 and 128: cleave import masks set/masks --images set/images -o";
    make_set(1, "png", coarse_values);
    expect_error(65, command, "cleave features set -o f.safetensors");
    expect_error(65, command, "cleave score set set/masks");
    expect_error(65, command, "cleave segment --from-masks set -o out");
    expect_error(65, command, "cleave segment --from-masks set/masks --data set -o other");
    run_here("rm set/masks/[12].png"); /* frames 1 and 2 are to be found */
    expect_error(65, "; this makes labels of 0, 64 and 128: cleave import masks set/masks --images set/images -o",
                 "cleave propagate set -o out");
    /* predictions in a folder of their own */
    make_set(1, "png", binary);
    run_here("mkdir pred");
    for (int i = 0; i < N; i++) {
        size_t size;
        OWNED_ARRAY uint8_t *file = jpeg(&size, WIDTH, HEIGHT, i);
        spill(here("pred/%d.png", i), file, size);
    }
    expect_error(65,
                 "pred/0.png: a JPEG, which does not keep label values; masks must be 8-bit grey or palette PNG; this "
                 "makes masks of label values of such: cleave import masks pred --images set/images -o pred-labels",
                 "cleave score set pred");
    run_here("cleave import masks pred --images set/images -o pred-labels && cleave score set pred-labels/masks");
}

TEST(advice_is_about_the_mask_that_is_wrong_not_about_others)
{
    make_set(1, "png", binary);
    size_t size;
    OWNED_ARRAY uint8_t *file = binary(&size, WIDTH / 2, HEIGHT / 2, 0);
    spill(here("set/masks/2.png"), file, size);
    expect_error(65, "set/masks/2.png: mask is 20x15, image is 40x30; images are 2 times as large",
                 "cleave features set -o f.safetensors");
}

TEST(two_folders_of_images_and_masks_become_one_set)
{
    make_set(1, "png", binary);
    run_here("mv set photos && mv photos/masks photos/drawn");
    OWNED_ARRAY char *output = NULL;
    int code = run_command(&output, "cd $HERE && " TRAIN "photos/images/ photos/drawn/ -o m");
    ck_assert_int_eq(code, 64);
    char *command = strstr(output, "cleave import masks photos/drawn/ --images photos/images/ -o photos/images-labels");
    ck_assert_msg(command && strstr(output, "--data: a set is one folder"), "%s", output);
    spill(here("command"), command, strlen(command));
    run_here("sh ./command && " TRAIN "photos/images-labels -o m");
    expect_error(64, "--data: a set is one folder: `cleave train photos/'",
                 "mv photos/drawn photos/masks; cleave train photos/images/ photos/masks -o m");
}

TEST(masks_that_are_nearly_where_they_should_be_are_named)
{
    make_set(1, "png", binary);
    run_here("mv set/masks set/Masks");
    expect_error(
        65,
        "set: none of the 8 images has a mask to learn from; Masks/0.png seems to be the mask of an image, this "
        "makes a set of such pairs: cleave import masks set -o set-labels",
        "cleave train set -o m");
    run_here("mkdir -p paged/images paged/masks && cp set/images/0.png paged/images && cp "
             "$ROOT/tests/fuzz/corpus/image/pages.tif "
             "paged/masks/0.tif");
    expect_error(65, "has a mask to learn from: masks/0.tif has several pages, and the mask of an image has one",
                 "cleave train paged -o m");
    run_here("mv set/Masks set/masks && for k in 0 1 2 3; do mv set/masks/$k.png set/masks/${k}_mask.png; done");
    expect_error(65, "masks/0_mask.png seems to be the mask of an image, this makes a set of such pairs: cleave import",
                 TRAIN "set -o m");
    run_here("mkdir -p part/images part/masks && cp set/images/0.png part/images");
    expect_error(
        65,
        "part/images/: none of the 1 images has a mask to learn from; the set is part, which has images/ and masks/",
        "cleave train part/images/ -o m");
    run_here("mkdir alone && mv set/masks alone/masks && cp -r alone/masks plain && mkdir none none/images && mv "
             "alone/masks none");
    expect_error(66, "none/images: is empty", "cleave train none -o other");
    run_here("rm -r none/images");
    expect_error(66, "none: holds 4 masks and no image; put the photos into none/images", "cleave train none -o other");
    expect_error(65,
                 "plain: none of the 4 images has a mask, which would be the truth; if these are masks, put them into "
                 "plain/masks and the photos into plain/images",
                 "cleave score plain set");
}

TEST(sixteen_bits_of_which_twelve_are_used_are_noted)
{
    for (int largest = 4095; largest <= 9000; largest += 4905) {
        make_set(1, "png", binary);
        for (int i = 0; i < N; i++) {
            uint16_t samples[WIDTH * HEIGHT];
            size_t size;
            for (int p = 0; p < WIDTH * HEIGHT; p++)
                samples[p] = (uint16_t)(p % WIDTH >= WIDTH / 2 ? largest - p % 50 : 500 + p % 50);
            OWNED_ARRAY uint8_t *file =
                make_png(&size, &(struct png_recipe){WIDTH, HEIGHT, 16, PNG_GREY, .samples = samples});
            spill(here("set/images/%d.png", i), file, size);
        }
        const char *many = "set: 4 16-bit images have no value above 4095: --range 0,4095 shows what is in them";
        const char *one = "this 16-bit image has no value above 4095; a model trained with --range 0,4095";
        char *output = expect_success(TRAIN "set -o m");
        ck_assert_msg(!strstr(output, many) == (largest > 4095), "%s", output);
        free(output);
        output = expect_success("cleave segment -m m set/images -o out --overwrite");
        ck_assert_msg(!strstr(output, one) == (largest > 4095), "%s", output);
        free(output);
        output = expect_success(
            TRAIN "set -o m --range 0,4095 && cleave segment --range 0,4095 -m m set/images -o out --overwrite");
        ck_assert_msg(!strstr(output, "--range"), "%s", output);
        free(output);
        output = expect_success("cleave segment -m m set/images -o kept --overwrite && cleave segment -m m set/images "
                                "-o other --range 0,65535 --overwrite");
        ck_assert_msg(!strstr(output, one) &&
                          strstr(output, "warning: --range 0,65535: the model was trained with 0,4095"),
                      "%s", output);
        free(output);
        run_here("cmp out/0.png kept/0.png && cmp out/3.png kept/3.png && ! cmp -s out/0.png other/0.png");
        expect_output("0,4095 of 16-bit grey", "cleave inspect m");
        expect_output("\"range\":[0,4095]", "cleave inspect m --json");
        run_here("cleave features --data set -m m -o f.safetensors --overwrite && cleave train f.safetensors -o of "
                 "--seed 1 --overwrite && cleave "
                 "train set --init m -o again --passes 1 --overwrite");
        expect_output("\"range\":[0,4095]", "cleave inspect of --json");
        expect_output("\"range\":[0,4095]", "cleave inspect again --json");
    }
}

static uint8_t *blank(size_t *size, int width, int height, int i)
{
    static const uint16_t samples[WIDTH * HEIGHT];
    (void)i;
    return make_png(size, &(struct png_recipe){width, height, 8, PNG_GREY, .samples = samples});
}

TEST(slices_without_a_mask_are_not_counted_as_masks)
{
    make_set(1, "png", blank);
    run_here("rm set/masks/1.png set/masks/2.png");
    expect_error(65, "set: the 2 masks have one label alone, \"background\"", TRAIN "--sequence --data set -o m");
}

TEST(images_of_another_kind_than_those_learned_from_are_noted)
{
    const char *warning = "were in no training image; use a model of similar images";
    if (access("../shared/data/horses", R_OK) || access("../shared/data/nuclei", R_OK))
        return;
    run_here("grep -P '\ttrain$' $ROOT/../shared/data/horses/manifest.tsv | head -20 | cut -f1 >only && cleave train "
             "$ROOT/../shared/data/horses --split train --only only --seed 1 -o m");
    OWNED_ARRAY char *output = expect_success(
        "cleave segment -m m $ROOT/../shared/data/horses/manifest.tsv --split train,test -o horses --no-refine");
    ck_assert_msg(!strstr(output, warning), "%s", output);
    EXPECT_PARTS(
        expect_success(
            "cleave segment -m m $ROOT/../shared/data/nuclei/manifest.tsv --split validation -o nuclei --no-refine"),
        warning);
}

TIMEOUT(300)
