/* Stacks of channels, slices and times through the doors of the command: what is learned, labelled, written, scored and
 * said of them. Which plane is which is tests/image/test_stack_axes.c's. */
#include <stdio.h>
#include <stdlib.h>
#include <tiffio.h>

#include "image/raster/raster.h"
#include "support/support.h"

enum { WIDTH = 80, HEIGHT = 60, C = 2, Z = 3, T = 2 };

static int truth_at(int z, int t, int i)
{
    int x = i % WIDTH - 10 - 8 * z, y = i / WIDTH - 8 - 20 * t;
    return x >= 0 && y >= 0 && x < 24 && y < 20;
}

/* Objects are bright in channel 1 alone; grey of 16 bits, of which photographs would show little. */
static void write_image(const char *path, const char *description)
{
    TIFF *tiff = TIFFOpen(path, "w");
    for (int t = 0; t < T; t++)
        for (int z = 0; z < Z; z++)
            for (int c = 0; c < C; c++) {
                uint16_t pixels[WIDTH * HEIGHT];
                for (int i = 0; i < WIDTH * HEIGHT; i++)
                    pixels[i] = (uint16_t)(300 + (i * 7 + i / WIDTH * 13 + c * 5) % 60 +
                                           (c == 0 && truth_at(z, t, i) ? 400 : 0));
                TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, WIDTH);
                TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, HEIGHT);
                TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 16);
                TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
                TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, HEIGHT);
                TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
                if (description && t + z + c == 0)
                    TIFFSetField(tiff, TIFFTAG_IMAGEDESCRIPTION, description);
                TIFFWriteEncodedStrip(tiff, 0, pixels, sizeof pixels);
                TIFFWriteDirectory(tiff);
            }
    TIFFClose(tiff);
}

#define IMAGEJ "ImageJ=1.53t\nimages=12\nchannels=2\nslices=3\nframes=2\nhyperstack=true\nmode=composite\n"
#define FEW    "--superpixels 60 --words 5 --codebook-samples 500 "
#define SMALL  FEW "--passes 10 "

/* A set of one stack, s/images/a.tif, with all its masks. */
static void write_stack(void)
{
    struct raster_writer writer = {.tiff = NULL};
    const char *path = here("s/masks/a.tif");
    run_here("mkdir -p s/images s/masks");
    write_image(here("s/images/a.tif"), IMAGEJ);
    for (int k = 0; k < Z * T; k++) {
        uint8_t mask[WIDTH * HEIGHT];
        for (int i = 0; i < WIDTH * HEIGHT; i++)
            mask[i] = (uint8_t)truth_at(k % Z, k / Z, i);
        must(raster_writer_add_page(&writer, path, &(struct label_image){WIDTH, HEIGHT, mask, NULL, 0}, Z * T, err));
    }
    must(raster_writer_commit(&writer, err));
}

static void check_scored(const char *arguments)
{
    char *output = expect_success("cleave score -q --json %s", arguments);
    ck_assert_double_lt(strtod(strstr(output, "\"hamming\":") + strlen("\"hamming\":"), NULL), 0.05);
    free(output);
}

TEST(channels_are_bands_and_masks_meet_their_slices_and_times)
{
    write_stack();
    EXPECT_PARTS(
        expect_success("cleave train s " SMALL "-o m.cleave 2>&1"),
        "s/images/a.tif: read as 2 time points of 3 slices of 2 channels, as ImageJ describes them; --axes reads "
        "pages otherwise",
        "images of 2 bands", "images    6,");
    EXPECT_PARTS(expect_success("cleave segment -m m.cleave s/images/a.tif -o out 2>&1"),
                 "read as 2 time points of 3 slices of 2 channels", "6 images segmented");
    check_scored("s out");
    write_image(here("plain.tif"), NULL);
    expect_error(65, "plain.tif: 1 band, the images learned from have 2",
                 "cleave segment -q -m m.cleave plain.tif#1 -o none");
    EXPECT_PARTS(expect_success("cleave segment -m m.cleave --axes T2Z3C2 plain.tif -o plain 2>&1"), ", by --axes\n");
    run_here("for k in 1 2 3 4 5 6; do cmp out/a-$k.png plain/plain-$k.png || exit 1; done");
    run_here(
        "printf 'image\\tmask\\nimages/a.tif#3\\tmasks/a.tif#3\\nimages/a.tif#5\\tmasks/a.tif#5\\n' >s/some.tsv && "
        "cleave train -q --data s/some.tsv " SMALL "-o some.cleave && cleave segment -q -m some.cleave --data "
        "s/some.tsv -o some && test -f some/a-3.png -a -f some/a-5.png");
    run_here("cleave features -q s " FEW
             "-o f.safetensors && cleave train -q --data f.safetensors --passes 3 -o f.cleave");
    expect_error(65,
                 "12 bands, the images learned from have 2; its pages were read as 12 channels, by --axes: --axes T",
                 "cleave segment -q -m m.cleave --axes C s/images/a.tif -o none");
}

TEST(slices_of_each_time_are_a_sequence_and_one_file_has_all)
{
    struct stack_axes axes;
    write_stack();
    run_here("cleave train -q s " SMALL "-o m.cleave");
    EXPECT_PARTS(expect_success("cleave train --sequence s " SMALL "-o w.cleave 2>&1"), "images of 2 bands",
                 "images    2,", "each a window of up to 4 slices");
    run_here("cleave segment --sequence -q -m w.cleave s -o labels.tif");
    check_scored("s labels.tif");
    image_find_axes(&axes, here("labels.tif"));
    ck_assert(axes.source == AXES_OF_IMAGEJ && axes.n_channels == 1 && axes.n_slices == Z && axes.n_frames == T);
    run_here(
        "mkdir -p given/masks && cp -r s/images given && cleave segment -q -m m.cleave s/images/a.tif -o given/all "
        "&& mv given/all/a-2.png given/all/a-5.png given/masks && rm -r given/all");
    EXPECT_PARTS(expect_success("cleave propagate given -o propagated 2>&1"), "4 images segmented");
    run_here("rm given/masks/a-5.png");
    expect_error(65, "a.tif#4: none of the 3 frames from here on has a mask that is given",
                 "cleave propagate -q given -o none");
    expect_output("labels.tif: 6 images of 80x60 pixels and 3 bands: 2 time points of 3 slices, as ImageJ describes",
                  "cleave inspect labels.tif");
}

TEST(masks_of_chosen_axes_are_read_in_the_order_in_which_they_were_written)
{
    run_here("mkdir -p given/images given/masks");
    write_image(here("given/images/a.tif"), NULL);
    for (int k = 0; k < C * Z * T; k++) { /* read as 6 times of 2 slices */
        uint8_t mask[WIDTH * HEIGHT];
        for (int i = 0; i < WIDTH * HEIGHT; i++)
            mask[i] = (uint8_t)truth_at(k % Z, k / Z % T, i);
        must(clv_png_write_labels(here("given/masks/a-%d.png", 1 + k), WIDTH, HEIGHT, mask, NULL, 0, err));
    }
    run_here("cp -r given full && rm given/masks/a-*[02468].png");
    static const char *const axes = "--axes Z2T6";
    run_here("cleave propagate -q given %s -o out && cleave propagate -q given %s -o l.tif --report once && cleave "
             "propagate -q --resume given %s -o l.tif --report resumed && diff -rq once resumed",
             axes, axes, axes);
    run_here(
        "cp given/masks/* out && for p in out l.tif; do cleave score -q full $p %s --json >$p.json || exit 1; done "
        "&& cmp out.json l.tif.json",
        axes);
}

TEST(a_page_s_path_leads_from_its_shapes_to_its_file)
{
    uint8_t mask[WIDTH * HEIGHT];
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        mask[i] = (uint8_t)truth_at(0, 0, i);
    run_here("mkdir -p stacks masks");
    write_image(here("stacks/a.tif"), NULL);
    for (int k = 1; k <= C * Z * T; k++)
        must(clv_png_write_labels(here("masks/a-%d.png", k), WIDTH, HEIGHT, mask, NULL, 0, err));
    run_here("cleave segment --from-masks masks stacks -o shapes --export labelme");
    expect_in_file(here("shapes/labelme/a-2.json"), "\"imagePath\":\"../../stacks/a.tif#2\"");
}

TEST(inspect_tells_what_pages_are)
{
    write_stack();
    expect_output("s/images/a.tif: 6 images of 80x60 pixels and 2 bands: 2 time points of 3 slices of 2 channels, as "
                  "ImageJ describes them",
                  "cleave inspect s/images/a.tif");
    expect_output("6 images of 80x60 pixels and 1 band, one a page", "cleave inspect s/masks/a.tif");
    expect_output("\"images\":6,\"width\":80,\"height\":60,\"bands\":2,\"times\":2,\"slices\":3,\"channels\":2,\"by\":"
                  "\"ImageJ\"}",
                  "cleave inspect --json s/images/a.tif");
    static const struct refusal rows[] = {
        {64, "--axes cannot be used with import: images are copied",
         "import coco no.json --images s/images -o x --axes T"},
        {64, "--top cannot be used with s/images/a.tif: it is not a model", "inspect --top 3 s/images/a.tif"},
        {64, "--axes: \"XY\" is not an order of the axes T, Z and C", "inspect --axes XY s/images/a.tif"}};
    EXPECT_REFUSALS(rows);
}
