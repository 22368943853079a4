/* `cleave import masks`: kinds of masks that other programs write. Each kind trains after at most one command, which
 * the message of the training names, and every pixel has the label that it should have. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <webp/encode.h>

#include "cleave/data.h"
#include "cleave/objects.h"
#include "support/images.h"
#include "support/support.h"

#define TRAIN "cleave train --superpixels 60 --words 10 --codebook-samples 1000 --passes 2 --overwrite "

enum { WIDTH = 40, HEIGHT = 30, N = 4, MAX_WIDTH = 3 * WIDTH, MAX_HEIGHT = 3 * HEIGHT };

/* The layout of every mask: the left half, an upper and a lower part of the right half, and a border of two pixels
 * between left and right. */
enum { LEFT, UPPER, LOWER, BORDER };

static int part_of(int x, int y, int width, int height)
{
    const int from_middle = 2 * x - width + 1;
    if (from_middle > -3 * width / 40 && from_middle < 3 * width / 40)
        return BORDER;
    return from_middle < 0 ? LEFT : 2 * y < height ? UPPER : LOWER;
}

/* The value or colour that a kind of mask has there, and the label that it must become. */
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
        OWNED_ARRAY uint8_t *file = make_photo(&size, kind, i);
        spill(here("set/images/%d.jpg", i), file, size);
        free(file);
        file = make_mask(&size, kind, i);
        spill(here("set/masks/%d.%s", i, kind->is_jpeg ? "jpg" : "png"), file, size);
    }
    if (kind->before)
        run_here("cd set && %s", kind->before);
}

/* The labels of one mask of a set that was made, in the middle of each part. */
static void expect_labels(const struct kind *kind, const char *path)
{
    OWNED(clv_indexed_image_release) struct clv_indexed_image image = {0};
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
    {"255 is foreground, too",
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
    {"JPEG of two colours",
     {BLUE, RED, RED, BLUE},
     {0, 1, 1, -1},
     .form = PNG_RGB,
     .is_jpeg = true,
     .message = "labels of what is near #"},
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
    OWNED_ARRAY char *output = NULL;
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

/* Photos a.pgm, b.pgm, .. of 5x4 pixels in photos/. */
static void make_photos(const char *names)
{
    run_here("rm -rf photos s && mkdir photos && for n in %s; do { printf 'P5 5 4 255\n'; head -c 20 /dev/zero | tr "
             "'\\0' $n; } >photos/$n.pgm; done",
             names);
}

/* A mask, or a label image of objects, as a string of digits, row after row. */
static void expect_pixels(const char *path, const char *pixels)
{
    OWNED(clv_object_map_release) struct clv_object_map map = {0};
    char found[21];
    must(clv_object_map_read(&map, here("%s", path), 5, 4, NULL, err));
    OWNED(clv_indexed_image_release) struct clv_indexed_image image = {0};
    const bool is_mask = strstr(path, "masks/") != NULL;
    if (is_mask)
        must(clv_indexed_image_read(&image, here("%s", path), NULL, err));
    for (int p = 0; p < 20; p++)
        found[p] = (char)('0' + (is_mask ? image.values[p] : map.objects[p]));
    found[20] = 0;
    ck_assert_str_eq(found, pixels);
}

#define RUNS "cleave import masks runs.csv --images photos -o s --overwrite"

TEST(run_lengths_of_a_csv_become_masks_and_objects)
{
    make_photos("a b c");
    /* a row for each image, along columns from 1: pixels 2 to 4 are rows 1 to 3 of the first column */
    run_here("printf 'ImageId,EncodedPixels\r\na.pgm,2 3 9 1\r\nb.pgm,\r\n' >runs.csv");
    EXPECT_PARTS(expect_success(RUNS), "says nothing of 1 of 3 images", "s: 2 images, 2 with masks");
    expect_pixels("s/masks/a.png", "00100"
                                   "10000"
                                   "10000"
                                   "10000");
    expect_pixels("s/masks/b.png", "00000"
                                   "00000"
                                   "00000"
                                   "00000");
    run_here("! test -e s/instances && grep -q '1\tforeground' s/labels.tsv");
    /* a row for each object, names without extensions, none as -1 */
    run_here("printf 'ImageId,EncodedPixels\na,1 2\na,\"13 2\"\nb,-1\nx,1 1\n' >runs.csv");
    EXPECT_PARTS(expect_success(RUNS), "names 1 image that is not in photos; the first is x");
    expect_pixels("s/masks/a.png", "10010"
                                   "10010"
                                   "00000"
                                   "00000");
    expect_pixels("s/instances/a.png", "10020"
                                       "10020"
                                       "00000"
                                       "00000");
    /* image and label in one column, by number */
    run_here("printf 'ImageId_ClassId,EncodedPixels\na.pgm_10,1 1\na.pgm_9,2 1\na.pgm_1,\n' >runs.csv && " RUNS);
    expect_pixels("s/masks/a.png", "30000"
                                   "20000"
                                   "00000"
                                   "00000");
    run_here(
        "printf '0\tbackground\n1\tlabel 1\n2\tlabel 9\n3\tlabel 10\n' >want && tail -4 s/labels.tsv | cmp - want");
    /* along rows, with sizes, by name */
    run_here("printf 'id,annotation,width,height,cell_type\na,2 2,5,4,cort\nb,20 1,5,4,astro\n' >runs.csv && " RUNS
             " --runs rows");
    expect_pixels("s/masks/a.png", "02200"
                                   "00000"
                                   "00000"
                                   "00000");
    expect_pixels("s/masks/b.png", "00000"
                                   "00000"
                                   "00000"
                                   "00001");
    /* numbers come before words, in whatever order they are found */
    run_here("printf '0\tbackground\n1\tlabel 9\n2\tlabel 10\n3\t1x\n4\tab\n' >want; for order in '9 10 1x ab' '10 "
             "1x ab 9' '1x 9 ab 10' 'ab 10 9 1x' '1x 10 9 ab'; do echo ImageId,EncodedPixels,label >runs.csv; for l in "
             "$order; do echo \"a,1 1,$l\" >>runs.csv; done; " RUNS
             " || exit 1; tail -n +2 s/labels.tsv | cmp - want || "
             "exit 1; done");
    /* what is wrong with a row costs its image */
    run_here("printf 'ImageId;EncodedPixels\na;1 2\nb;3 1 2 1\nc;20 2\n' >runs.csv");
    char *output;
    ck_assert_int_eq(run_command(&output, "cd $HERE && " RUNS), 65);
    EXPECT_PARTS(output, "runs.csv: line 3: the runs of b are not pairs of a pixel and a length in their order",
                 "runs.csv: line 4: runs reach out of the 5x4 pixels of c", "s: 1 image, 1 with masks");
    run_here("printf 'ImageId,EncodedPixels,Width,Height\na,1 2,4,5\n' >runs.csv");
    expect_error(65, "line 2: its masks are 4x5, image a.pgm is 5x4", RUNS);
    expect_error(64, "runs.csv: where are its images? --images FOLDER",
                 "cleave import masks runs.csv -o s --overwrite");
    run_here("printf 'a,b\n1,2\n' >runs.csv");
    expect_error(65, "runs.csv: its first line names no column of images (ImageId) and of run lengths", RUNS);
}

/* A label that has a row again after rows of another label or without runs has objects, too. */
TEST(rows_of_a_label_are_objects_in_whatever_order)
{
    make_photos("a b");
    for (int order = 0; order < 3; order++) {
        const char *const rows[] = {"a,1 2,x\na,13 2,x\na,5 1,y", "a,1 2,x\na,5 1,y\na,13 2,x",
                                    "a,1 2,x\na,,x\na,13 2,x\na,5 1,y"};
        run_here("printf 'ImageId,EncodedPixels,label\n%s\n' >runs.csv && " RUNS, rows[order]);
        expect_pixels("s/masks/a.png", "12010"
                                       "10010"
                                       "00000"
                                       "00000");
        expect_pixels("s/instances/a.png", order == 1 ? "12030"
                                                        "10030"
                                                        "00000"
                                                        "00000"
                                                      : "13020"
                                                        "10020"
                                                        "00000"
                                                        "00000");
    }
}

TEST(rows_are_for_the_photo_of_their_path_before_others_of_that_name)
{
    make_photos("z");
    run_here("mkdir photos/p photos/q && cp photos/z.pgm photos/p && cp photos/z.pgm photos/q && "
             "printf 'ImageId,EncodedPixels\nz.pgm,1 2\n' >runs.csv");
    EXPECT_PARTS(expect_success(RUNS), "says nothing of 2 of 3 images", "s: 1 image, 1 with masks");
    EXPECT_PARTS(expect_success(RUNS " --all-images"), "taken without a mask", "s: 3 images, 1 with masks");
    run_here("printf 'ImageId,EncodedPixels\nz,1 2\n' >runs.csv");
    expect_error(65, "runs.csv: line 2: z could be p/z.pgm or q/z.pgm in photos", RUNS);
}

TEST(labels_of_run_lengths_have_different_names)
{
    make_photos("a");
    run_here("printf 'ImageId,EncodedPixels,label\na,1 2,background\na,13 2,y\n' >runs.csv && " RUNS
             " && printf '0\tbackground\n1\ty\n' >want && tail -n +2 s/labels.tsv | cmp - want");
    expect_pixels("s/masks/a.png", "00010"
                                   "00010"
                                   "00000"
                                   "00000");
    run_here("printf 'ImageId,EncodedPixels,label\na,1 2,1\na,13 2,label 1\n' >runs.csv");
    expect_error(65, "runs.csv: labels \"1\" and \"label 1\" would have one name; rename one of them", RUNS);
}

/* A mask of 5x4 pixels as raw PGM, from digits. */
static void make_digits(const char *path, const char *digits)
{
    char bytes[64];
    const int head = snprintf(bytes, sizeof bytes, "P5 5 4 255\n");
    for (int p = 0; p < 20; p++)
        bytes[head + p] = (char)(digits[p] == 'v' ? 255 : digits[p] - '0');
    spill(here("%s", path), bytes, (size_t)head + 20);
}

TEST(what_is_beside_masks_is_kept_and_what_is_odd_is_named)
{
    make_photos("a b c d");
    run_here("rm -rf drawn && mkdir -p drawn photos/train photos/val && mv photos/[ab].pgm photos/train && mv "
             "photos/[cd].pgm photos/val && mkdir drawn/train drawn/val");
    for (const char *name = "abcd"; *name; name++)
        make_digits(*name < 'c' ? formatted("drawn/train/%c_mask.pgm", *name)
                                : formatted("drawn/val/%c_mask.pgm", *name),
                    "00000"
                    "03330"
                    "07770"
                    "00000");
    /* folders of published splits */
    EXPECT_PARTS(expect_success("cleave import masks drawn --images photos -o s"),
                 "labels: 0 background, 1 label 3, 2 label 7; s/labels.tsv is to rename them",
                 "s: 4 images, 4 with masks, 0 with boxes; 2 to train on");
    run_here("grep -q 'images/val/d.pgm\tmasks/val/d.png\tval' s/manifest.tsv");
    expect_error(73, "s: folder is not empty", "cleave import masks drawn --images photos -o s");
    /* labels.tsv beside them: its values stay, what it does not name is void and counted */
    run_here("printf 'value\tname\n0\tground\n3\tleaf\n' >drawn/labels.tsv");
    EXPECT_PARTS(expect_success("cleave import masks drawn --images photos -o s --overwrite"),
                 "drawn/labels.tsv: names the labels",
                 "12 pixels of 4 masks (15 % of all) became void for lack of a label, first in drawn/train/a_mask.pgm");
    run_here("grep -q '3\tleaf' s/labels.tsv && ! grep -q '7' s/labels.tsv");
    /* or beside one of the two folders */
    run_here("mkdir p q && cp -r photos p && cp -r drawn q && mv q/drawn/labels.tsv p");
    EXPECT_PARTS(expect_success("cleave import masks q/drawn --images p/photos -o s --overwrite"),
                 "p/labels.tsv: names the labels");
    run_here("mv p/labels.tsv q");
    EXPECT_PARTS(expect_success("cleave import masks q/drawn --images p/photos -o s --overwrite"),
                 "q/labels.tsv: names the labels");
    /* a mask that could be of two photos, one that cannot be read, one of no photo, a photo without */
    run_here("cp photos/train/a.pgm photos/train/a.jpg && head -c 9 photos/val/d.pgm >drawn/val/d_mask.pgm && mv "
             "drawn/val/c_mask.pgm drawn/val/other_mask.pgm");
    char *output;
    ck_assert_int_eq(run_command(&output, "cd $HERE && cleave import masks drawn --images photos -o s --overwrite"),
                     65);
    EXPECT_PARTS(output, "train/a_mask.pgm: could be of train/a.jpg or train/a.pgm; call it train/a.jpg.png or",
                 "drawn/val/d_mask.pgm: ", "images have no mask and were skipped", "2 masks are of no image",
                 "s: 1 image, 1 with masks", "2 images could not be taken over");
    /* one mask under two names */
    run_here("rm photos/train/a.jpg && cp drawn/train/b_mask.pgm drawn/train/b_gt.pgm");
    ck_assert_int_eq(run_command(&output, "cd $HERE && cleave import masks drawn --images photos -o s --overwrite"),
                     65);
    EXPECT_PARTS(output, "train/b_gt.pgm and train/b_mask.pgm are masks of one image, train/b.pgm; leave one of them");
}

TEST(a_value_of_two_colours_is_two_labels)
{
    static const uint8_t digits[20] = {0, 0, 0, 0, 0, 0, 1, 1}, red[2][3] = {{0}, {200}}, green[2][3] = {{0}, {0, 200}};
    make_photos("a b");
    run_here("rm -rf drawn && mkdir drawn");
    must(clv_png_write_labels(here("drawn/a.png"), 5, 4, digits, red, 2, err));
    must(clv_png_write_labels(here("drawn/b.png"), 5, 4, digits, green, 2, err));
    run_here("cleave import masks drawn --images photos -o s");
    expect_pixels("s/masks/a.png", "00000"
                                   "02200"
                                   "00000"
                                   "00000");
    expect_pixels("s/masks/b.png", "00000"
                                   "01100"
                                   "00000"
                                   "00000");
}

/* Greys that are as close as these would be one label in a file that lost something. */
TEST(a_webp_without_loss_has_the_labels_that_were_drawn)
{
    static const char digits[] = "00000"
                                 "01220"
                                 "01220"
                                 "00000";
    uint8_t rgb[3 * 20], *file;
    for (int i = 0; i < 60; i++)
        rgb[i] = (uint8_t)(digits[i / 3] - '0');
    make_photos("a b");
    run_here("rm -rf drawn && mkdir drawn");
    const size_t size = WebPEncodeLosslessRGB(rgb, 5, 4, 15, &file);
    ck_assert_uint_gt(size, 0);
    spill(here("drawn/a.webp"), file, size);
    spill(here("drawn/b.webp"), file, size);
    WebPFree(file);
    run_here("cleave import masks drawn --images photos -o s");
    expect_pixels("s/masks/a.png", digits);
}

TEST(tables_and_ways_that_a_user_names_come_first)
{
    make_photos("a b");
    run_here("rm -rf drawn && mkdir drawn");
    make_digits("drawn/a.pgm", "00000"
                               "12233"
                               "12233"
                               "vvvvv");
    make_digits("drawn/b.pgm", "00000"
                               "12233"
                               "12233"
                               "vvvvv");
    /* Oxford's trimaps: 1 the pet, 2 the rest, 3 and 0 void */
    run_here("cleave import masks drawn --images photos -o s --codes oxford-pets");
    OWNED(clv_indexed_image_release) struct clv_indexed_image image = {0};
    must(clv_indexed_image_read(&image, here("s/masks/a.png"), NULL, err));
    ck_assert_int_eq(image.values[5], 1);
    ck_assert_int_eq(image.values[6], 0);
    ck_assert_int_eq(image.values[8], 255);
    run_here(
        "cleave import masks drawn --images photos -o s --overwrite --codes ade20k && grep -q '0\twall' s/labels.tsv "
        "&& grep -q '2\tsky' s/labels.tsv && cleave import masks drawn --images photos -o s --overwrite --codes voc "
        "&& grep -q '1\taeroplane' s/labels.tsv");
    run_here(
        "printf 'value\tname\n1\tone\n2\ttwo\n0\tvoid\n' >mine.tsv && cleave import masks drawn --images photos -o s "
        "--overwrite --labels mine.tsv && grep -q '0\tvoid' s/labels.tsv");
    EXPECT_PARTS(expect_success("cleave import masks drawn --images photos -o s --overwrite --as objects"),
                 "made each number an object of one label");
    expect_pixels("s/instances/a.png", "00000"
                                       "12233"
                                       "12233"
                                       "44444");
    static const struct refusal rows[] = {
        {64, "--codes: \"kitti\"", "import masks drawn --images photos -o t --codes kitti"},
        {64, "--codes cannot be used with --labels: --labels names the values",
         "import masks drawn --images photos -o t --codes voc --labels mine.tsv"},
        {64, "--white cannot be used with the format coco", "import coco a.json -o t --white void"},
        {64, "--outside cannot be used with the format masks: masks mark void pixels",
         "import masks drawn --images photos -o t "
         "--outside void"},
        {64, "masks and photos are not told apart; --images FOLDER", "import masks drawn -o t"},
        {65, "is called as one of the 2 images in photos, such as a.pgm", "import masks other --images photos -o t"},
        {66, "none/: holds no mask that is an image", "import masks none/ --images photos -o t"},
    };
    run_here("mkdir -p other none && cp drawn/a.pgm other/x.pgm");
    EXPECT_REFUSALS(rows);
    run_here("! test -e t");
}

TIMEOUT(300)
