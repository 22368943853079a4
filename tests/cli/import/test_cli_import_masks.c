/* `cleave import masks`: kinds of masks that other programs write. Each kind trains after at most one command, which the
 * message of the training names, and every pixel has the label that it should have. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleave/data.h"
#include "support/images.h"
#include "support/support.h"

#define TRAIN "cleave train --superpixels 60 --words 10 --codebook-samples 1000 --passes 2 --overwrite "

enum { WIDTH = 40, HEIGHT = 30, N = 4, MAX_WIDTH = 3 * WIDTH, MAX_HEIGHT = 3 * HEIGHT };

/* What is where in every mask: the left half, an upper and a lower part of the right half, and a border of two pixels
 * between left and right. */
enum { LEFT, UPPER, LOWER, BORDER };

static int part_of(int x, int y, int width, int height)
{
    const int from_middle = 2 * x - width + 1;
    if (from_middle > -3 * width / 40 && from_middle < 3 * width / 40)
        return BORDER;
    return from_middle < 0 ? LEFT : 2 * y < height ? UPPER : LOWER;
}

/* What a kind of mask puts there: a value, or a colour; and what that is to be. */
struct kind {
    const char *name;
    uint32_t code[4];
    int label[4]; /* -1: whatever */
    enum png_kind form;
    int depth;
    double scale;        /* of the mask's sides; 0: 1 */
    const char *before;  /* a command in the folder of the set, before training */
    const char *message; /* that training says; NULL: it trains at once */
    const char *options; /* that the message names besides the command, one of which is taken; NULL: none */
    bool is_jpeg, is_noisy, is_soft, is_turned, shuffles_palette;
};

static void put_samples(uint16_t *samples, const struct kind *kind, int width, int height, int i)
{
    const int channels = kind->form == PNG_RGB ? 3 : kind->form == PNG_RGBA ? 4 : 1;
    for (int p = 0; p < width * height; p++) {
        const int x = p % width, y = p / width;
        uint32_t code = kind->code[part_of(x, y, width, height)];
        uint16_t *sample = samples + (size_t)p * (size_t)channels;
        if (kind->is_noisy && (p + i) % 7 == 0)
            code = code > 128 ? code - (uint32_t)(p % 5) : code + (uint32_t)(p % 5);
        if (kind->shuffles_palette && code)
            code = i % 2 ? 3 - code : code;
        for (int c = 0; c < 3 && channels > 1; c++)
            sample[c] = (uint16_t)(code >> (16 - 8 * c) & 255);
        if (channels == 4)
            sample[3] = code ? 255 : 0;
        if (channels == 1)
            sample[0] = (uint16_t)code;
    }
}

static uint8_t *make_mask(size_t *size, const struct kind *kind, int i)
{
    static uint16_t samples[4 * MAX_WIDTH * MAX_HEIGHT];
    static uint8_t bytes[3 * MAX_WIDTH * MAX_HEIGHT];
    const uint8_t red_first[3][3] = {{0}, {200, 0, 0}, {0, 200, 0}},
                  green_first[3][3] = {{0}, {0, 200, 0}, {200, 0, 0}};
    const double scale = kind->scale > 0 ? kind->scale : 1;
    const int width = (int)(WIDTH * scale), height = (int)(HEIGHT * (scale > 1 && scale < 2 ? 1 : scale));
    put_samples(samples, kind, width, height, i);
    if (kind->is_jpeg) {
        const int channels = kind->form == PNG_RGB ? 3 : 1;
        for (int p = 0; p < channels * width * height; p++)
            bytes[p] = (uint8_t)samples[p];
        return make_jpeg(size, &(struct jpeg_recipe){.width = width,
                                                     .height = height,
                                                     .quality = 92,
                                                     .kind = channels == 3 ? JPEG_YCC : JPEG_GREY,
                                                     .pixels = bytes});
    }
    return make_png(size, &(struct png_recipe){.width = width,
                                               .height = height,
                                               .bit_depth = kind->depth ? kind->depth : 8,
                                               .kind = kind->form,
                                               .samples = samples,
                                               .palette = kind->shuffles_palette && i % 2 ? green_first : red_first,
                                               .palette_size = kind->form == PNG_PALETTE ? 3 : 0});
}

/* A photo whose parts look different; with EXIF the file is of the image before it is turned. */
static uint8_t *make_photo(size_t *size, const struct kind *kind, int i)
{
    static uint8_t pixels[3 * WIDTH * HEIGHT];
    static const uint8_t looks[4][3] = {{40, 40, 60}, {200, 60, 40}, {60, 190, 80}, {120, 120, 120}};
    uint8_t exif[32];
    uint32_t state = (uint32_t)i;
    for (int p = 0; p < WIDTH * HEIGHT; p++)
        for (int c = 0; c < 3; c++)
            pixels[3 * p + c] = (uint8_t)(looks[part_of(p % WIDTH, p / WIDTH, WIDTH, HEIGHT)][c] + noise(&state) % 30);
    make_exif(exif, 6, false);
    return make_jpeg(size, &(struct jpeg_recipe){.width = WIDTH,
                                                 .height = HEIGHT,
                                                 .quality = 95,
                                                 .kind = JPEG_YCC,
                                                 .pixels = pixels,
                                                 .exif = kind->is_turned ? exif : NULL,
                                                 .exif_size = kind->is_turned ? sizeof exif : 0});
}

static void make_set(const struct kind *kind)
{
    run_here("rm -rf set set-labels && mkdir -p set/images set/masks");
    for (int i = 0; i < N; i++) {
        size_t size;
        uint8_t *file = make_photo(&size, kind, i);
        spill(here("set/images/%d.jpg", i), file, size);
        free(file);
        file = make_mask(&size, kind, i);
        spill(here("set/masks/%d.%s", i, kind->is_jpeg ? "jpg" : "png"), file, size);
        free(file);
    }
    if (kind->before)
        run_here("cd set && %s", kind->before);
}

/* The labels of one mask of a set that was made, in the middle of each part. */
static void expect_labels(const struct kind *kind, const char *path)
{
    struct clv_indexed_image image = {0};
    must(clv_indexed_image_read(&image, path, NULL, err));
    const bool is_turned = image.width == HEIGHT;
    ck_assert_msg(is_turned == kind->is_turned && image.width * image.height == WIDTH * HEIGHT, "%s: %dx%d", kind->name,
                  image.width, image.height);
    for (int p = 0; p < WIDTH * HEIGHT; p++) {
        int x = p % image.width, y = p / image.width;
        if (is_turned) { /* orientation 6: the stored row 0 is the right column */
            const int column = x;
            x = y;
            y = HEIGHT - 1 - column;
        }
        const int part = part_of(x, y, WIDTH, HEIGHT), label = kind->label[part];
        const bool is_near = part_of(x ? x - 1 : x, y ? y - 1 : y, WIDTH, HEIGHT) != part ||
                             part_of(x + 1, y + 1, WIDTH, HEIGHT) != part ||
                             part_of(x ? x - 1 : x, y + 1, WIDTH, HEIGHT) != part ||
                             part_of(x + 1, y ? y - 1 : y, WIDTH, HEIGHT) != part;
        if (label >= 0 && !(is_near && (kind->is_jpeg || kind->scale > 0)))
            ck_assert_msg(image.values[p] == label, "%s: %d at (%d, %d), %d is right", kind->name, image.values[p], x,
                          y, label);
    }
    clv_indexed_image_release(&image);
}

#define BLACK 0x000000u
#define RED   0xc80000u
#define GREEN 0x00c800u
#define BLUE  0x0000ffu

static const struct kind kinds[] = {
    {"JPEG of black and white",
     {0, 255, 255, 255},
     {0, 1, 1, -1},
     .is_jpeg = true,
     .message = "a JPEG, which does not keep label values"},
    {"dark JPEG", {64, 128, 128, 64}, {0, 1, 1, -1}, .is_jpeg = true, .message = "labels of what is near 6"},
    {"JPEG of three greys", {0, 128, 255, 0}, {0, 1, 2, -1}, .is_jpeg = true, .message = "of what is near "},
    {"PNG made of a JPEG",
     {0, 255, 255, 0},
     {0, 1, 1, 0},
     .is_noisy = true,
     .message = "labels of what is near 0 and 255"},
    {"values with gaps", {0, 3, 7, 0}, {0, 1, 2, 0}, .message = "makes labels of 0, 3 and 7"},
    {"0, 15 and 255", {0, 15, 15, 255}, {0, 1, 1, 255}, .message = "makes labels of 0 and 15, and void of 255"},
    {"0 and 15", {0, 15, 15, 0}, {0, 15, 15, 0}, .form = PNG_GREY}, /* read as they are */
    {"3 and 7", {3, 7, 7, 3}, {0, 1, 1, 0}, .message = "makes labels of 3 and 7"},
    {"1 and 2", {1, 2, 2, 1}, {0, 1, 1, 0}, .message = "makes labels of 1 and 2"},
    {"large steps", {0, 64, 128, 0}, {0, 1, 2, 0}, .message = "makes labels of 0, 64 and 128"},
    {"255 is figure, too",
     {0, 15, 255, 0},
     {0, 1, 1, 0},
     .message = "void of 255 (if 255 is not void, add",
     .options = "--white foreground"},
    {"255 is a label", {0, 15, 255, 0}, {0, 1, 2, 0}, .message = "or --white label)", .options = "--white label"},
    {"colours", {BLACK, RED, GREEN, BLACK}, {0, 2, 1, 0}, .form = PNG_RGB, .message = "labels of #000000, #00c800 and"},
    {"colours without black", {BLUE, RED, RED, BLUE}, {0, 1, 1, 0}, .form = PNG_RGB, .message = "labels of #0000ff"},
    {"JPEG of colours",
     {BLACK, RED, GREEN, BLACK},
     {0, 2, 1, -1},
     .form = PNG_RGB,
     .is_jpeg = true,
     .message = "a JPEG, which does not keep label values"},
    {"colours on transparency", {0, RED, GREEN, 0}, {0, 2, 1, 0}, .form = PNG_RGBA},
    {"palettes that differ",
     {0, 1, 2, 0},
     {0, 2, 1, 0},
     .form = PNG_PALETTE,
     .shuffles_palette = true,
     .message = "value 2 at"},
    {"half the size", {0, 255, 255, 0}, {0, 1, 1, 0}, .scale = .5, .message = "images are 2 times as large as their"},
    {"three times the size", {0, 1, 1, 0}, {0, 1, 1, 0}, .scale = 3, .message = "masks are 3 times as large as their"},
    {"another shape", {0, 1, 1, 0}, {0, 1, 1, 0}, .scale = 1.5, .message = "this lays masks over their whole images"},
    {"photos that EXIF turns",
     {0, 1, 1, 0},
     {0, 1, 1, 0},
     .is_turned = true,
     .message = "EXIF orientation 6 turns the image and not its mask"},
    {"numbers of objects",
     {0, 301, 302, 303},
     {0, 1, 1, 1},
     .depth = 16,
     .form = PNG_GREY,
     .message = "(if each number is an object, add --as objects)",
     .options = "--as objects"},
    {"16 bits of 8", {0, 3 * 257, 7 * 257, 0}, {0, 1, 2, 0}, .depth = 16, .message = "makes labels of 0, 3 and 7"},
    {"Cityscapes by its names",
     {7, 26, 23, 3},
     {0, 2, 1, 255},
     .before = "for i in 0 1 2 3; do mv masks/$i.png masks/a_$i'_gtFine_labelIds.png'; mv images/$i.jpg "
               "images/a_$i'_leftImg8bit.jpg'; done",
     .message = "seems to be the mask of an image"},
    {"CamVid's colours",
     {0x804080, 0x400080, 0x808080, 0},
     {1, 0, 2, 255},
     .form = PNG_RGB,
     .message = "labels by the codes of CamVid"},
    {"VOC's colours",
     {0, 0x800000, 0xc08080, 0xe0e0c0},
     {0, 1, 2, 255},
     .form = PNG_RGB,
     .message = "labels by the codes of PASCAL VOC"},
    {"Cityscapes' colours",
     {0x804080, 0xf423e8, 0x4682b4, 0},
     {0, 1, 2, 255},
     .form = PNG_RGB,
     .message = "labels by the codes of Cityscapes"},
    {"a table of colours",
     {0, 0xfa3253, 0x33ddff, 0},
     {0, 1, 2, 0},
     .form = PNG_RGB,
     .before = "printf '# label:color_rgb:parts:actions\\nbackground:0,0,0::\\ncar:250,50,83::\\n"
               "person:51,221,255::\\n' >labelmap.txt",
     .message = "labels by the codes of labelmap.txt"},
    {"another suffix in a folder",
     {0, 1, 1, 0},
     {0, 1, 1, 0},
     .before = "for i in 0 1 2 3; do mv masks/$i.png masks/$i'_segmentation.png'; done",
     .message = "seems to be the mask of an image"},
    {"other folders",
     {0, 1, 1, 0},
     {0, 1, 1, 0},
     .before = "mv images photos && mv masks truth",
     .message = "seems to be the mask of an image"},
    {"side by side",
     {0, 255, 255, 0},
     {0, 1, 1, 0},
     .before = "mv images/* masks/* . && rmdir images masks",
     .message = "seems to be the mask of an image"},
    {"words in names",
     {0, 255, 255, 0},
     {0, 1, 1, 0},
     .before = "for i in 0 1 2 3; do mv masks/$i.png $i'_gt.png'; mv images/$i.jpg $i'_sat.jpg'; done && rmdir images "
               "masks",
     .message = "seems to be the mask of an image"},
    {"names for 0 and 255",
     {0, 255, 255, 0},
     {0, 1, 1, 0},
     .before = "printf 'name\\nground\\ncrack\\n' >labels.tsv",
     .message = "nothing but \"ground\" and void"},
    {"a value without a name",
     {0, 1, 2, 0},
     {0, 1, 255, 0},
     .before = "printf 'value\\tname\\n0\\tground\\n1\\tcrack\\n' >labels.tsv",
     .message =
         "value 2 at pixel (21, 15) has no label in labels.tsv (and 3 more); name it there, or this makes labels by"},
    {"a manifest with a split",
     {0, 3, 7, 0},
     {0, 1, 2, 0},
     .before = "printf 'image\\tmask\\tsplit\\n' >manifest.tsv && for i in 0 1 2 3; do printf "
               "\"images/$i.jpg\\tmasks/$i.png\\t$(test $i = 3 && echo val || echo train)\\n\" >>manifest.tsv; done",
     .message = "makes labels of 0, 3 and 7: cleave import masks set -o set-labels"},
};

/* Trains; if that fails, runs the command that the message names, to the end of its line, and trains what it made. */
static void expect_training(const struct kind *kind)
{
    char *output;
    make_set(kind);
    const int code = run_command(&output, "cd $HERE && " TRAIN "set -o m");
    ck_assert_msg((code != 0) == (kind->message != NULL), "%s: code %d: %s", kind->name, code, output);
    if (code) {
        char *command = strstr(output, "cleave import masks ");
        ck_assert_msg(command && strstr(output, kind->message), "%s: %s", kind->name, output);
        spill(here("command"), command, strcspn(command, "\n"));
        const int made =
            run_command(NULL, "cd $HERE && sh -c \"$(cat command) %s\" >said 2>&1", kind->options ? kind->options : "");
        ck_assert_msg(!made && run_command(NULL, "cd $HERE && " TRAIN "set-labels -o m >trained 2>&1") == 0,
                      "%s: %s\n%s", kind->name, output, slurp(here(made ? "said" : "trained"), &(size_t){0}));
    }
    free(output);
    run_here("if test -d set-labels; then cp $(find set-labels/masks -name '*1*.png' | head -1) one.png; else cp "
             "$(find set -name 1.png | head -1) one.png; fi");
    if (strcmp(kind->name, "colours on transparency") != 0 && (code || kind->form == PNG_GREY))
        expect_labels(kind, here("one.png"));
}

TEST(every_kind_of_mask_trains_after_at_most_the_command_that_the_message_names)
{
    const size_t n = sizeof kinds / sizeof *kinds;
    ck_assert_int_ge(n, 25);
    for (size_t k = 0; k < n; k++)
        expect_training(&kinds[k]);
}

TIMEOUT(300)
