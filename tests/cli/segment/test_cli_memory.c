/* Memory of segmenting: images wait for it, and are refused by name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>

#include "image/raster/raster.h"
#include "support/sample.h"
#include "support/support.h"

/* How many times of what is taken an estimate may be; with maps, all of whose channels are counted as numbers, the more
 * so where they are refined. */
#define MOST_TIMES              3
#define MOST_TIMES_MAPS         3.5
#define MOST_TIMES_MAPS_REFINED 5

/* The estimate of what an image takes, by which `segment` refuses it, is an upper bound, and not a far one. */
static void check_estimate_within(double most_times, const char *photo, const char *arguments)
{
    const char *folder = temporary_folder();
    char *reported;
    int code =
        run_command(&reported, "cd $HERE && cleave segment %s %s -o out --overwrite --memory 2M", arguments, photo);
    ck_assert_int_eq(code, 71);
    char *number = strstr(reported, "may take ");
    ck_assert_msg(number && strstr(reported, photo), "%s", reported);
    int megabytes = atoi(number + strlen("may take "));
    free(reported);
    double peak = peak_of(formatted("cd %s && exec \"$CLEAVE\" segment -q %s %s -o out --overwrite --memory %dM",
                                    folder, arguments, photo, megabytes));
    ck_assert_msg(peak <= 1e6 * megabytes && 1e6 * megabytes < most_times * peak, "%s %s: %g MB, not %d", photo,
                  arguments, peak / 1e6, megabytes);
}

static void check_estimate(const char *photo, const char *arguments)
{
    check_estimate_within(MOST_TIMES, photo, arguments);
}

/* Maps of 40 channels and 20 MB, which would be 80 MB of numbers. */
TEST(maps_are_estimated_as_well)
{
    if (IS_SANITIZED) {
        skip("maps_are_estimated_as_well", "a sanitizer takes memory of its own");
        return;
    }
    char folder[256], photo[300];
    snprintf(folder, sizeof folder, "%s", temporary_folder());
    snprintf(photo, sizeof photo, "%s/photo.png", folder);
    sample_enlarge(photo, 700, 500);
    run_here("mkdir maps && cd $HERE/maps && printf '\\223NUMPY\\1\\0v\\0%%-117s\\n' \"{'descr': '|u1', "
             "'fortran_order': False, 'shape': (40, 700, 700), }\" >0.npy && yes 0123456789 | head -c %d >>0.npy && "
             "for i in $SET/images/*; do i=${i##*/}; ln 0.npy ${i%%.*}.npy; done && ln 0.npy photo.npy",
             40 * 700 * 700);
    run_here("cleave train --learner independent --data $SET/manifest.tsv --split train --maps net=maps --blocks "
             "size,maps --superpixels 50 --passes 2 -q -o m");
    check_estimate_within(MOST_TIMES_MAPS, photo, "-m m --maps net=maps --no-refine");
    check_estimate_within(MOST_TIMES_MAPS_REFINED, photo, "-m m --maps net=maps --refine");
}

/* Two of the project's photographs, by models of superpixels, patches and two stages, without and with refinement. */
TEST(estimates_of_real_images_are_close)
{
    if (IS_SANITIZED) {
        skip("estimates_of_real_images_are_close", "a sanitizer takes memory of its own");
        return;
    }
    static const char *const models[] = {"", "--nodes patches", "--stages 2", "--scale 1", "--superpixels 5000"};
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        run_here("cleave train -l independent --data $ROOT/assets/nuclei --split train --words 30 --codebook-samples "
                 "1000 --passes 2 %s -q --overwrite -o m",
                 models[k]);
        check_estimate(formatted("%s/assets/nuclei/images/03f583ec5018.png", getenv("ROOT")), "-m m --no-refine");
        check_estimate(formatted("%s/assets/label.jpg", getenv("ROOT")), "-m m --refine");
    }
}

TEST(what_is_estimated_is_never_less_than_what_is_taken)
{
    if (IS_SANITIZED) {
        skip("what_is_estimated_is_never_less_than_what_is_taken", "a sanitizer takes memory of its own");
        return;
    }
    static const char *const ways[] = {"--no-refine", "", "--refine", "--overlay --report r", "--cutout --export coco"};
    static const int32_t sides[][2] = {{700, 500}, {1300, 1000}};
    const char *folder = temporary_folder();
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        char photo[512];
        snprintf(photo, sizeof photo, "%s/photo%d.png", folder, (int)i);
        sample_enlarge(photo, sides[i][0], sides[i][1]);
        for (size_t k = 0; k < sizeof ways / sizeof *ways; k++)
            check_estimate(photo, formatted("-m %s %s", sample_model(), ways[k]));
    }
}

/* Features of a model of a fixed scale are made tile by tile; rasters need not be in memory at all. */
TEST(tiles_are_estimated_as_tiles)
{
    if (IS_SANITIZED) {
        skip("tiles_are_estimated_as_tiles", "a sanitizer takes memory of its own");
        return;
    }
    run_here("cleave train --learner independent --data $SET/manifest.tsv --split train --scale 1 --passes 2 -q -o m");
    const char *folder = temporary_folder();
    char photo[512];
    snprintf(photo, sizeof photo, "%s/wide.png", folder);
    sample_enlarge(photo, 3000, 1200);
    check_estimate(photo, "-m m --no-refine");
    uint8_t *black = calloc(1200, 1200);
    must(raster_write_labels(here("black.tif"), &(struct label_image){1200, 1200, black, NULL, 0}, NULL, err));
    free(black);
    expect_error(71, "--memory allows more; --max-pixels 1000000 segments it tile by tile",
                 "cleave segment -m m black.tif -o x.tif --memory 90M");
    run_here("cleave segment -m m black.tif -o x.tif --memory 90M --max-pixels 1000000");
    struct clv_image colours; /* of photographs as they are */
    must(clv_image_read(&colours, formatted("%s/images/0009.jpg", sample_set()), NULL, err));
    TIFF *tiff = TIFFOpen(here("colours.tif"), "w");
    ck_assert_ptr_nonnull(tiff);
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, colours.width);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, colours.height);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 3);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_RGB);
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, colours.height);
    ck_assert_int_ge(TIFFWriteEncodedStrip(tiff, 0, colours.pixels, 3 * colours.width * colours.height), 0);
    TIFFClose(tiff);
    clv_image_release(&colours);
    run_here(
        "cleave segment -m m colours.tif -o whole.tif && cleave segment -m m colours.tif -o tiles.tif --max-pixels "
        "999 && cmp whole.tif tiles.tif");
}

TEST(what_does_not_fit_is_refused_by_name_and_the_rest_goes_on)
{
    run_here("mkdir mixed");
    sample_enlarge(here("mixed/b.png"), 2600, 2000);
    sample_enlarge(here("mixed/a.png"), 300, 200);
    sample_enlarge(here("mixed/c.png"), 300, 200);
    expect_error(71, "b.png: work on it may take",
                 "cleave segment -m $MODEL mixed -o mixed_out --threads 4 --memory 90M");
    ck_assert_int_eq(count_files(here("mixed_out")), 2);
    run_here("cleave segment -m $MODEL mixed -o all_out --threads 4 --memory 0.25G");
    ck_assert_int_eq(count_files(here("all_out")), 3);
    expect_error(64, "--memory: \"lots\" is not a size", "cleave segment -m x -o y z --memory lots");
    expect_error(64, "--memory: \"-1G\" is not a size", "cleave segment -m x -o y z --memory -1G");
    expect_error(64, "--memory: \"\" is not a size", "cleave segment -m x -o y z --memory ''");
}

TEST(images_wait_until_there_is_memory)
{
    if (IS_SANITIZED) {
        skip("images_wait_until_there_is_memory", "a sanitizer takes memory of its own");
        return;
    }
    const char *folder = temporary_folder();
    run_here("mkdir large");
    for (int i = 0; i < 4; i++)
        sample_enlarge(here("large/%d.png", i), 2000, 1500);
    const char *line = formatted("cd %s && exec \"$CLEAVE\" segment -q -m %s large -o out "
                                 "--refine --threads 4 --overwrite",
                                 folder, sample_model());
    double alone = peak_of(formatted("%s --memory 100G --shard 1/4", line));
    char *reported;
    ck_assert_int_eq(run_command(&reported, "%s --memory 2M", line), 71);
    int megabytes = atoi(strstr(reported, "may take ") + strlen("may take "));
    free(reported);
    ck_assert_double_gt(peak_of(formatted("%s --memory 100G", line)), 2 * alone);
    double gated = peak_of(formatted("%s --memory %dM", line, megabytes + 1));
    ck_assert_double_lt(gated, 1.5 * alone);
    ck_assert_double_lt(gated, 1e6 * megabytes);
    ck_assert_int_eq(count_files(here("out")), 4);
}

SETUP_ONCE(sample_setup, NULL)
