/* Images of bands through the command: trained on, segmented, and where their masks lie. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tiffio.h>

#include "image/raster/raster.h"
#include "support/sample.h"
#include "support/support.h"

TIMEOUT(120)
SETUP_ONCE(sample_setup, NULL)

enum { WIDTH = 64, HEIGHT = 48, N_BANDS = 4, N_IMAGES = 6 };

#define QUICK "--seed 1 --superpixels 100 --words 4 --codebook-samples 200 --sift-bins 4"

static double scale[] = {0.5, 0.5, 0}, tie_points[] = {0, 0, 0, 11, 48, 0};
static uint16_t keys[] = {1, 1, 0, 3, 1024, 0, 1, 2, 1025, 0, 1, 1, 2048, 0, 1, 4326};
static const struct georeference georeference = {
    .scale = scale, .tie_points = tie_points, .keys = keys, .n_scale = 3, .n_tie_points = 6, .n_keys = 16};

/* values[HEIGHT][WIDTH][n_bands] as floating point, red, green and blue if there are three. */
static void write_tiff(const char *path, const float *values, int width, int height, int n_bands,
                       const struct georeference *where)
{
    TIFF *tiff = TIFFOpen(path, "w");
    ck_assert_ptr_nonnull(tiff);
    geo_tags_declare(tiff);
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, width);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, height);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 32);
    TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_IEEEFP);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, n_bands);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, n_bands == 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, height);
    if (where)
        ck_assert(geo_tags_write(tiff, where));
    ck_assert_int_ge(
        TIFFWriteEncodedStrip(tiff, 0, (void *)(uintptr_t)values, (tmsize_t)sizeof *values * width * height * n_bands),
        0);
    TIFFClose(tiff);
}

/* Two kinds of background that differ in the last band alone, left and right of a slanted line; noise from a fixed
 * sequence. */
static void make_set(const char *folder)
{
    uint32_t random = 7;
    run_here("mkdir -p %s/images %s/masks", folder, folder);
    for (int i = 0; i < N_IMAGES; i++) {
        static float values[HEIGHT][WIDTH][N_BANDS];
        uint8_t truth[HEIGHT][WIDTH];
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++) {
                truth[y][x] = x > 12 + 6 * i + (y - HEIGHT / 2) / 3;
                for (int b = 0; b < N_BANDS; b++) {
                    random = random * 1664525 + 1013904223;
                    values[y][x][b] = (float)(1000 + 100 * b + (random >> 24) + (b == 3 && truth[y][x] ? 150 : 0));
                }
            }
        write_tiff(formatted("%s/images/%d.tif", folder, i), &values[0][0][0], WIDTH, HEIGHT, N_BANDS, &georeference);
        must(clv_png_write_labels(formatted("%s/masks/%d.png", folder, i), WIDTH, HEIGHT, &truth[0][0], NULL, 0, err));
    }
}

TEST(bands_are_learned_and_masks_lie_where_images_do)
{
    struct georeference found;
    size_t size;
    make_set(here("set"));
    expect_output("images of 4 bands: colours are their principal components, values",
                  "cleave train set -o m.cleave " QUICK " 2>&1");
    run_here("cleave segment -m m.cleave set/images/*.tif -o out --export geojson --overlay");
    ck_assert(path_exists(here("out/5.tif")) && path_exists(here("out/overlays/5.png")));
    georeference_find(&found, here("out/5.tif"));
    ck_assert_int_eq(found.n_tie_points, 6);
    ck_assert_int_eq(found.n_keys, 16);
    ck_assert(found.tie_points[4] == 48 && found.n_keys == 16 && found.scale[0] == 0.5);
    georeference_release(&found);
    char *json = slurp(here("out/geojson/0.geojson"), &size);
    ck_assert_ptr_null(strstr(json, "\"crs\""));    /* WGS 84 is what RFC 7946 means */
    ck_assert_ptr_nonnull(strstr(json, "[43,48]")); /* the upper right corner */
    free(json);
    char *said = expect_success("cleave score set out --json");
    const char *at = strstr(said, "\"accuracy\":");
    ck_assert_msg(at && strtod(at + 11, NULL) > 0.96, "%s", said);
    free(said);
    run_here("cleave segment -m m.cleave set/images/0.tif -o one.png && cleave segment -m m.cleave set/images/0.tif -o "
             "one.tif && cmp one.tif out/0.tif");
    run_here("cleave features --data set -m m.cleave -o f.safetensors && cleave segment -m m.cleave --features "
             "f.safetensors -o of");
    expect_error(65,
                 "set/images/0.tif: an image of 4 bands, but the model is of photographs; train a model on images of "
                 "these bands, or add --range 0,65535",
                 "cleave segment -q -m $MODEL set/images -o photographs");
    run_here("! test -e photographs && cleave segment -q -m $MODEL set/images -o photographs --range 0,65535");
    expect_error(65, "3 bands, the images learned from have 4", "cleave segment -m m.cleave out/overlays/0.png -o x");
    if (run_command(NULL, "gdalinfo --version") != 0) {
        skip("bands_are_learned_and_masks_lie_where_images_do", "no gdalinfo (Debian's gdal-bin)");
        return;
    }
    run_here("gdalinfo set/images/3.tif | grep -E '^(Upper|Lower|Origin|Pixel|    ID)' >a && gdalinfo out/3.tif | grep "
             "-E '^(Upper|Lower|Origin|Pixel|    ID)' >b && test -s a && cmp a b");
}

/* Trainings on TIFFs of 16 bits learn what is black and white: nothing is said of a range. */
TEST(twelve_bits_of_a_tiff_are_a_band)
{
    make_set(here("set"));
    run_here("rm set/images/*");
    for (int i = 0; i < N_IMAGES; i++) {
        uint16_t values[HEIGHT][WIDTH];
        TIFF *tiff = TIFFOpen(here("set/images/%d.tif", i), "w");
        ck_assert_ptr_nonnull(tiff);
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                values[y][x] = (uint16_t)((x > 12 + 6 * i + (y - HEIGHT / 2) / 3 ? 900 : 300) + (7 * x + 5 * y) % 60);
        TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, WIDTH);
        TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, HEIGHT);
        TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 16);
        TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
        TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
        TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, HEIGHT);
        ck_assert_int_ge(TIFFWriteEncodedStrip(tiff, 0, values, sizeof values), 0);
        TIFFClose(tiff);
    }
    char *said =
        expect_success("cleave train set -o m.cleave " QUICK " && cleave segment -m m.cleave set -o out --objects");
    ck_assert_msg(strstr(said, "images of 1 band") && !strstr(said, "--range"), "%s", said);
    free(said);
    expect_output("\tmean_1\tdeviation_1\t", "head -n 1 out/objects.tsv");
}

/* What make_set puts into bands 1 and 4 of an object that is 1 in every pixel of its mask: 1000 and 1450 above
 * 0..255. */
TEST(objects_are_measured_in_the_values_of_the_file)
{
    size_t size;
    make_set(here("set"));
    run_here("cleave train set -o m.cleave " QUICK " && cleave segment -m m.cleave set/images/0.tif -o out --objects "
             "--min-area 500");
    char *table = slurp(here("out/objects.tsv"), &size), *head = strtok(table, "\n"), *row = strtok(NULL, "\n");
    ck_assert_ptr_nonnull(strstr(head, "perimeter\tmean_1\tmean_2\tmean_3\tmean_4\tdeviation_1\t"));
    ck_assert_ptr_nonnull(row);
    for (int k = 0; k < 11; k++)
        row = strchr(row, '\t') + 1;
    double mean[N_BANDS], deviation[N_BANDS];
    ck_assert_int_eq(sscanf(row, "%lf %lf %lf %lf %lf %lf %lf %lf", &mean[0], &mean[1], &mean[2], &mean[3],
                            &deviation[0], &deviation[1], &deviation[2], &deviation[3]),
                     8);
    for (int b = 0; b < N_BANDS; b++) {
        ck_assert_double_eq_tol(mean[b], 1000 + 100 * b + 127.5 + (b == 3 ? 150 : 0), 10);
        ck_assert_double_eq_tol(deviation[b], 256 / sqrt(12), 10);
    }
    free(table);
}

/* Tiles of a run that did not end are there: they are another run's, or what --resume goes on from. */
TEST(tiles_of_an_unfinished_run_are_neither_lost_nor_mixed)
{
    make_set(here("set"));
    run_here("cleave train set -o m.cleave --scale 1 --seed 1 --words 4 --codebook-samples 200 --sift-bins 4 && mkdir "
             "big && cp set/images/5.tif big && cleave segment -q -m m.cleave big -o whole --max-pixels 999");
    const char *segment = "cleave segment -m m.cleave big -o out --max-pixels 999";
    run_here("mkdir out && printf 'cleave tiles of some other run' > out/5.tif.tiles");
    expect_error(73, "out/5.tif.tiles: has tiles of a run that did not end; --resume goes on from them", "%s", segment);
    run_here("test -e out/5.tif.tiles");
    expect_output("all are made again", "%s --resume && cmp out/5.tif whole/5.tif && ! test -e out/5.tif.tiles",
                  segment);
    run_here("touch out/5.tif.tiles && %s --overwrite && cmp out/5.tif whole/5.tif && ! test -e out/5.tif.tiles",
             segment);
    run_here("cp whole/5.tif out && touch out/5.tif.tiles && %s --resume && ! test -e out/5.tif.tiles", segment);
    run_here("mkdir one && touch one/5.tif.tiles");
    expect_error(73, "one/5.tif.tiles: has tiles", "cleave segment -m m.cleave big -o one/5.tif --max-pixels 999");
}

/* Its tiles are the sample, whole and tile by tile. */
TEST(bands_of_another_range_are_noticed_by_a_model_of_one_scene)
{
    enum { SIDE = 96, N = 4 };
    static float values[SIDE * SIDE * N];
    static uint8_t mask[SIDE * SIDE];
    run_here("mkdir -p one/images one/masks");
    for (int k = 0; k < 2; k++) {
        for (int p = 0; p < SIDE * SIDE; p++) {
            mask[p] = (p % SIDE / 24 + p / SIDE / 24) % 2;
            for (int b = 0; b < N; b++)
                values[p * N + b] = (float)((k ? 200 : 1000) + 100 * b + (7 * (p % SIDE) + 13 * (p / SIDE)) % 60 +
                                            (mask[p] && b == 3 ? 150 : 0));
        }
        write_tiff(k ? here("dark.tif") : here("one/images/a.tif"), values, SIDE, SIDE, N, NULL);
    }
    must(clv_png_write_labels(here("one/masks/a.png"), SIDE, SIDE, mask, NULL, 0, err));
    run_here(
        "cleave train -q one -o m.cleave --scale 1 --seed 1 --words 4 --codebook-samples 200 --sift-bins 4 --passes 3");
    static const char *const ways[] = {"", "--max-pixels 999"};
    for (int k = 0; k < 2; k++) {
        expect_output("bands: those of the first 1 image are not like those of the training images",
                      "cleave segment -m m.cleave dark.tif -o dark%d.tif %s 2>&1", k, ways[k]);
        char *said = expect_success("cleave segment -m m.cleave one/images/a.tif -o a%d.tif %s 2>&1", k, ways[k]);
        ck_assert_msg(!strstr(said, "not like those"), "%s", said);
        free(said);
    }
}

/* What tools/qgis trains: three kinds of background, Potts couplings. Such models decide by marginals of their own. */
TEST(tiles_of_many_labels_are_decided_by_the_best_labelling)
{
    enum { SIDE = 72 };
    static uint8_t values[SIDE * SIDE], mask[SIDE * SIDE];
    static const uint8_t palette[3][3] = {{0}, {255}, {0, 255}};
    static const char names[] = "value\tname\n0\tsea\n1\tsand\n2\twood\n";
    run_here("mkdir -p set/images set/masks");
    spill(here("set/labels.tsv"), names, sizeof names - 1);
    for (int i = 0; i < 3; i++) {
        for (int p = 0; p < SIDE * SIDE; p++) {
            mask[p] = (uint8_t)((p % SIDE / 18 + 2 * (p / SIDE / 18) + i) % 3);
            values[p] = (uint8_t)(80 * mask[p] + (7 * (p % SIDE) + 13 * (p / SIDE)) % 40);
        }
        must(raster_write_labels(here("set/images/%d.tif", i), &(struct label_image){SIDE, SIDE, values, NULL, 0}, NULL,
                                 err));
        must(clv_png_write_labels(here("set/masks/%d.png", i), SIDE, SIDE, mask, palette, 3, err));
    }
    run_here("cleave train -q set -o m.cleave --learner mssvm --pairwise potts --passes 5 --scale 1 --seed 1 --words 4 "
             "--codebook-samples 200 --sift-bins 4");
    expect_output("set/images/0.tif: tiles are decided by the best labelling (--decode map)",
                  "cleave segment -m m.cleave set/images/0.tif -o tiles.tif --max-pixels 999");
    run_here("cleave segment -q -m m.cleave set/images/0.tif -o whole.tif --decode map && cmp tiles.tif whole.tif");
    expect_error(64, "the model is not decoded by its best labelling",
                 "cleave segment -m m.cleave set/images/0.tif -o no.tif --max-pixels 999 --decode marginals");
}

/* A hole in all bands is void and no object, and GDAL is told so; one in a single band is filled in. By tiles alike. */
TEST(pixels_without_data_have_no_label)
{
    make_set(here("set"));
    run_here("cleave train set -o m.cleave --scale 1 --seed 1 --words 4 --codebook-samples 200 --sift-bins 4");
    struct raster raster;
    static float values[HEIGHT][WIDTH][N_BANDS];
    must(raster_open(&raster, here("set/images/5.tif"), NULL, err));
    must(raster_read(&values[0][0][0], &raster, &(struct image_part){.width = WIDTH, .height = HEIGHT}, err));
    raster_close(&raster);
    for (int y = 0; y < HEIGHT; y++)
        for (int b = 0; b < N_BANDS; b++)
            values[y][WIDTH - 1][b] = values[7][9][b] = NAN;
    values[3][4][2] = NAN;
    write_tiff(here("hole.tif"), &values[0][0][0], WIDTH, HEIGHT, N_BANDS, &georeference);
    run_here("cleave segment -m m.cleave hole.tif -o a --overlay --objects && cleave segment -m m.cleave hole.tif -o "
             "b.tif --max-pixels 999 && cmp a/hole.tif b.tif");
    struct clv_indexed_image mask;
    struct georeference found;
    long n_foreground = 0;
    must(clv_indexed_image_read(&mask, here("a/hole.tif"), NULL, err));
    for (int p = 0; p < HEIGHT * WIDTH; p++, n_foreground += mask.values[p - 1] == 1)
        ck_assert((mask.values[p] == CLV_VOID) == (p % WIDTH == WIDTH - 1 || p == 7 * WIDTH + 9));
    ck_assert(n_foreground > 0 && mask.palette[1][0] == 255);
    clv_indexed_image_release(&mask);
    georeference_find(&found, here("b.tif"));
    ck_assert(found.may_lack_data);
    georeference_release(&found);
    char *said = expect_success("cd %s && awk 'NR > 1 {n += $4} END {print n}' a/objects.tsv", here("."));
    ck_assert_int_eq(strtol(said, NULL, 10), n_foreground);
    free(said);
    run_here("printf 'image\\tmask\\nhole.tif\\tset/masks/5.png\\n' >few.tsv");
    expect_output("a: 49 pixels have no label there", "cleave score few.tsv a 2>&1");
    run_here(
        "cp a/hole.tif first.tif && rm -r a/overlays && cleave segment -m m.cleave hole.tif -o a --resume --overlay "
        "&& cmp a/hole.tif first.tif && cleave segment -m m.cleave hole.tif -o c.tif --mask-format binary");
    must(clv_indexed_image_read(&mask, here("c.tif"), NULL, err));
    ck_assert(mask.values[WIDTH - 1] == 0 && memchr(mask.values, 255, HEIGHT * WIDTH));
    clv_indexed_image_release(&mask);
    georeference_find(&found, here("c.tif"));
    ck_assert(!found.may_lack_data);
    georeference_release(&found);
}

/* As `train' takes them: folders of .npy files alone are of images, be they sets or not. */
TEST(folders_of_arrays_are_images)
{
    make_set(here("set"));
    for (int i = 0; i < N_IMAGES; i++) {
        struct raster raster;
        static float values[HEIGHT * WIDTH * N_BANDS];
        must(raster_open(&raster, here("set/images/%d.tif", i), NULL, err));
        must(raster_read(values, &raster, &(struct image_part){.width = WIDTH, .height = HEIGHT}, err));
        raster_close(&raster);
        FILE *file = fopen(here("set/images/%d.npy", i), "wb");
        ck_assert_ptr_nonnull(file);
        fprintf(file, "\x93NUMPY\1%c\x76%c%-117s\n", 0, 0,
                "{'descr': '<f4', 'fortran_order': False, 'shape': (48, 64, 4), }");
        ck_assert_uint_eq(fwrite(values, sizeof *values, sizeof values / sizeof *values, file),
                          sizeof values / sizeof *values);
        fclose(file);
    }
    run_here("rm set/images/*.tif && cleave train set -o m.cleave " QUICK);
    run_here("cleave segment -m m.cleave set -o a && cleave segment -m m.cleave set/images -o b && cleave segment -m "
             "m.cleave set/images/*.npy -o c");
    ck_assert_int_eq(count_files(here("a")), N_IMAGES);
    run_here("cmp a/images/3.png c/3.png && cmp b/3.png c/3.png");
}

TEST(several_files_are_bands_of_one_image)
{
    make_set(here("set"));
    for (int i = 0; i < N_IMAGES; i++) { /* two files of two bands each */
        struct raster raster;
        float values[HEIGHT * WIDTH * N_BANDS], half[HEIGHT * WIDTH * 2];
        must(raster_open(&raster, here("set/images/%d.tif", i), NULL, err));
        must(raster_read(values, &raster, &(struct image_part){.width = WIDTH, .height = HEIGHT}, err));
        raster_close(&raster);
        for (int k = 0; k < 2; k++) {
            for (int p = 0; p < HEIGHT * WIDTH; p++)
                memcpy(half + 2 * p, values + N_BANDS * p + 2 * k, 2 * sizeof *half);
            write_tiff(here("set/images/%d_%s.tif", i, k ? "nir" : "vis"), half, WIDTH, HEIGHT, 2, NULL);
        }
    }
    run_here("rm set/images/?.tif && cd set/masks && for m in *; do mv $m ${m%%.png}_vis.png; done");
    run_here("cleave train set -o m.cleave --bands vis.tif,nir.tif " QUICK);
    run_here("cleave segment -m m.cleave set/images -o out");
    ck_assert_int_eq(count_files(here("out")), N_IMAGES);
}

/* Two names of 127 bytes and a comma, which the model keeps. */
TEST(names_of_bands_have_at_most_255_bytes)
{
    char first[124], second[124];
    snprintf(first, sizeof first, "%0123d", 1);
    snprintf(second, sizeof second, "%0123d", 2);
    make_set(here("set"));
    run_here(
        "cd set && for i in 0 1 2 3 4 5; do cp images/$i.tif images/${i}_%s.tif && mv images/$i.tif images/${i}_%s.tif "
        "&& mv masks/$i.png masks/${i}_%s.png; done",
        second, first, first);
    run_here("cleave train set -o m.cleave --bands %s.tif,%s.tif " QUICK " && cleave segment -m m.cleave set/images -o "
             "out",
             first, second);
    ck_assert_int_eq(count_files(here("out")), N_IMAGES);
    run_here("cd set/images && for i in 0 1 2 3 4 5; do mv ${i}_%s.tif ${i}_0%s.tif; done", second, second);
    expect_error(64, "--bands: names of more than 255 bytes",
                 "cleave train set -o x.cleave " QUICK " --bands %s.tif,0%s.tif", first, second);
}

/* The bar: labels agree on 99.9 % of pixels. */
TEST(photographs_as_floats_have_the_labels_of_photographs)
{
    run_here("cleave segment -m $MODEL --data $SET/manifest.tsv --split test -o a && mkdir f");
    for (int i = 9; i <= 12; i++) {
        struct clv_image image;
        must(clv_image_read(&image, formatted("%s/images/%04d.jpg", sample_set(), i), NULL, err));
        size_t n = (size_t)image.width * (size_t)image.height * 3;
        float *values = malloc(n * sizeof *values);
        for (size_t p = 0; p < n; p++)
            values[p] = image.pixels[p];
        write_tiff(here("f/%04d.tif", i), values, image.width, image.height, 3, NULL);
        free(values);
        clv_image_release(&image);
    }
    run_here("cleave segment -m $MODEL f -o b");
    ck_assert(same_bytes(here("a"), here("b")));
}
