/* The files of rasters that are segmented by tiles: those that are made of the same mask with all of it in memory. */
#include <png.h>
#include <stdlib.h>
#include <tiffio.h>
#include <unistd.h>

#include "cleave/objects.h"
#include "image/raster/raster.h"
#include "support/sample.h"
#include "support/support.h"

enum { N_BANDS = 3, N_IMAGES = 4 };

static char *folder;

static void write_raster(const char *path, const uint16_t *values, uint32_t width, uint32_t height, bool may_lack_data)
{
    static double scale[] = {30, 30, 0}, tie[] = {0, 0, 0, 440720, 3751320, 0};
    static uint16_t keys[] = {1, 1, 0, 2, 1024, 0, 1, 1, 3072, 0, 1, 32611};
    const struct georeference georeference = {.scale = scale,
                                              .n_scale = 3,
                                              .tie_points = tie,
                                              .n_tie_points = 6,
                                              .keys = keys,
                                              .n_keys = 12,
                                              .may_lack_data = may_lack_data};
    TIFF *tiff = TIFFOpen(path, "w");
    const uint16_t extra[N_BANDS - 1] = {0};
    geo_tags_declare(tiff);
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, width);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, height);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 16);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, N_BANDS);
    TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, N_BANDS - 1, extra);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, 7);
    ck_assert(geo_tags_write(tiff, &georeference));
    for (uint32_t y = 0; y < height; y++)
        ck_assert_int_ge(TIFFWriteScanline(tiff, (void *)(uintptr_t)(values + y * width * N_BANDS), y, 0), 0);
    TIFFClose(tiff);
}

/* Blots of two kinds of ground, of which noise hides much; a corner has no data if the raster may lack any. */
static void draw(const char *path, const char *mask, uint32_t width, uint32_t height, uint32_t random, uint32_t missing)
{
    OWNED_ARRAY uint16_t *values = calloc((size_t)width * height * N_BANDS, sizeof *values);
    OWNED_ARRAY uint8_t *truth = calloc(width, height);
    for (uint32_t p = 0; p < width * height; p++) {
        uint32_t x = p % width, y = p / width;
        truth[p] = (x + random % 50) / 25 % 2 && (y + 10) / 20 % 3;
        for (uint32_t b = 0; b < N_BANDS; b++) {
            random = random * 1664525 + 1013904223;
            values[p * N_BANDS + b] = (uint16_t)(1000 + 70 * b + (random >> 23) + (truth[p] ? 150 * b : 0));
            if (x < missing && y < missing)
                values[p * N_BANDS + b] = 255;
        }
    }
    write_raster(path, values, width, height, missing);
    if (mask)
        must(clv_png_write_labels(mask, (int32_t)width, (int32_t)height, truth, NULL, 0, err));
}

static const char *const names[] = {"wide", "row", "column", "void", "dot"};
enum { N_NAMES = sizeof names / sizeof *names };

static void setup(void)
{
    TIFFSetWarningHandler(NULL);
    folder = strdup(temporary_folder());
    free(expect_success("mkdir -p %s/set/images %s/set/masks %s/in %s/cells", folder, folder, folder, folder));
    for (int i = 0; i < N_IMAGES; i++)
        draw(formatted("%s/set/images/%d.tif", folder, i), formatted("%s/set/masks/%d.png", folder, i), 90, 70,
             (uint32_t)i, 0);
    draw(formatted("%s/in/wide.tif", folder), NULL, 330, 290, 9, 60);
    draw(formatted("%s/in/row.tif", folder), NULL, 700, 1, 9, 0);
    draw(formatted("%s/in/column.tif", folder), NULL, 1, 700, 9, 0);
    draw(formatted("%s/in/void.tif", folder), NULL, 300, 40, 9, 300);
    draw(formatted("%s/in/dot.tif", folder), NULL, 20, 20, 9, 0);
    run_here("cd %s && cleave train -q set -o m --seed 1 --scale 1 --tile 64 --region-area 25 --words 10 "
             "--codebook-samples 500 --sift-bins 2,4 --passes 5",
             folder);
    run_here("cd %s && cleave train -q set -o half --seed 1 --scale 2 --tile 64 --region-area 9 --blocks colour,size "
             "--passes 5",
             folder);
    for (int i = 0; i < N_IMAGES; i++) {
        OWNED(clv_indexed_image_release) struct clv_indexed_image mask = {0};
        OWNED(clv_object_map_release) struct clv_object_map map = {0};
        must(clv_indexed_image_read(&mask, formatted("%s/set/masks/%d.png", folder, i), NULL, err));
        must(clv_object_map_from_labels(&map, mask.values, mask.width, mask.height, NULL, err));
        must(clv_object_map_write(NULL, formatted("%s/cells/%d.png", folder, i), &map, err));
    }
    run_here("cd %s && mkdir found && cp -r set/images set/masks found && mv cells found/instances && cleave train -q "
             "found -o cells --seed 1 --scale 1 --tile 64 --region-area 25 --blocks colour,size --passes 5",
             folder);
    run_here(
        "cd %s && cleave train -q set -o likely --seed 1 --scale 1 --tile 64 --region-area 25 --blocks colour,size "
        "--learner pmap",
        folder);
}

SETUP_ONCE(setup, NULL)
TIMEOUT(180)

/* *pixels[*height][*width][n_channels] of a PNG, or of a tiled TIFF. */
static uint8_t *read_pixels(const char *path, uint32_t *width, uint32_t *height, uint32_t n_channels)
{
    if (text_ends_with(path, ".png")) {
        png_image png = {.version = PNG_IMAGE_VERSION};
        ck_assert(png_image_begin_read_from_file(&png, path));
        png.format = n_channels == 4 ? PNG_FORMAT_RGBA : PNG_FORMAT_RGB;
        *width = png.width;
        *height = png.height;
        uint8_t *pixels = malloc(PNG_IMAGE_SIZE(png));
        ck_assert(png_image_finish_read(&png, NULL, pixels, 0, NULL));
        return pixels;
    }
    uint16_t n;
    TIFF *tiff = TIFFOpen(path, "r");
    ck_assert(tiff && TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, width) &&
              TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, height) && TIFFGetField(tiff, TIFFTAG_SAMPLESPERPIXEL, &n));
    ck_assert_uint_eq(n, n_channels);
    uint8_t *pixels = malloc((size_t)*width * *height * n);
    OWNED_ARRAY uint8_t *tile = malloc((size_t)RASTER_TILE * RASTER_TILE * n);
    for (uint32_t top = 0; top < *height; top += RASTER_TILE)
        for (uint32_t left = 0; left < *width; left += RASTER_TILE) {
            ck_assert_int_gt(TIFFReadTile(tiff, tile, left, top, 0, 0), 0);
            for (uint32_t y = top; y < top + RASTER_TILE && y < *height; y++)
                for (uint32_t x = left; x < left + RASTER_TILE && x < *width; x++)
                    memcpy(pixels + ((size_t)y * *width + x) * n, tile + ((y - top) * RASTER_TILE + x - left) * n, n);
        }
    TIFFClose(tiff);
    return pixels;
}

/* A picture of the folder `tiles` is that of the folder `whole`. */
static void expect_pixels(const char *below, const char *name, uint32_t n_channels)
{
    uint32_t width, height, other_width, other_height;
    OWNED_ARRAY uint8_t *tiles =
        read_pixels(formatted("%s/tiles/%s/%s.tif", folder, below, name), &width, &height, n_channels);
    OWNED_ARRAY uint8_t *whole =
        read_pixels(formatted("%s/whole/%s/%s.png", folder, below, name), &other_width, &other_height, n_channels);
    ck_assert_msg(width == other_width && height == other_height, "%s/%s: %ux%u, %ux%u", below, name, width, height,
                  other_width, other_height);
    ck_assert_msg(memcmp(tiles, whole, (size_t)width * height * n_channels) == 0, "%s/%s", below, name);
}

static void expect_objects(const char *name)
{
    OWNED(clv_object_map_release) struct clv_object_map tiles = {0};
    OWNED(clv_object_map_release) struct clv_object_map whole = {0};
    must(clv_object_map_read(&tiles, formatted("%s/tiles/objects/%s.tif", folder, name), 0, 0, NULL, err));
    must(clv_object_map_read(&whole, formatted("%s/whole/objects/%s.png", folder, name), 0, 0, NULL, err));
    ck_assert(tiles.width == whole.width && tiles.height == whole.height && tiles.n_objects == whole.n_objects);
    ck_assert_int_eq(
        memcmp(tiles.objects, whole.objects, (size_t)tiles.width * (size_t)tiles.height * sizeof *tiles.objects), 0);
}

/* Files whose bytes are equal. */
static const char *const exact[] = {"objects.tsv", "coco.json", "labelme", "yolo",
                                    "geojson",     "voc",       "report",  "overlays/legend.svg"};

/* Bare: no objects, every label. */
#define BARE "--overlay --cutout --export coco --export labelme --export yolo --export geojson --export voc --report "

static const char *const options[] = {BARE, BARE "--mask-format binary --crop --rle", BARE "--objects --min-area 9",
                                      BARE "--objects --clear-border --tolerance 2 --crop",
                                      "--min-area 40 --cutout --crop --export geojson"};
enum { N_OPTIONS = sizeof options / sizeof *options };

static const char *line_of(const char *model, const char *wanted, const char *output, const char *more)
{
    static char line[900];
    const char *report = strstr(wanted, "--report ");
    const size_t n = report ? (size_t)(report - wanted) : strlen(wanted);
    snprintf(line, sizeof line, "cd %s && cleave segment -q -m %s in -o %s %.*s %s %s %s", folder, model, output,
             (int)n, wanted, report ? formatted("--report %s/report", output) : "", report ? report + 9 : "", more);
    return line;
}

/* All files of a run by tiles are those of its masks with all of them in memory. */
static void expect_whole(const char *model, const char *wanted)
{
    run_here("cd %s && rm -rf tiles whole again", folder);
    run_here("%s", line_of(model, wanted, "tiles", "--max-pixels 19"));
    run_here("cd %s && mkdir whole && cp tiles/*.tif whole", folder);
    run_here("%s", line_of(model, wanted, "whole", "--resume"));
    run_here("cd %s && cd tiles && for f in *.tif; do cmp $f ../whole/$f || exit 1; done", folder);
    for (size_t k = 0; k < sizeof exact / sizeof *exact; k++)
        if (access(formatted("%s/whole/%s", folder, exact[k]), F_OK) == 0)
            run_here("cd %s && diff -r tiles/%s whole/%s", folder, exact[k], exact[k]);
    for (int i = 0; i < N_NAMES; i++) {
        if (strstr(wanted, "--overlay"))
            expect_pixels("overlays", names[i], 3);
        expect_pixels("cutouts", names[i], 4);
        if (strstr(wanted, "--objects"))
            expect_objects(names[i]);
    }
}

TESTS(every_file_is_that_of_the_whole_raster, 0, N_OPTIONS)
{
    expect_whole("m", options[_i]);
}

/* Objects that the model has learned to find, whose masks agree with them: those of the whole raster, too. */
static const char *const learned[] = {BARE "--objects --min-area 12",
                                      "--cutout --export geojson --objects --clear-border --mask-format binary"};

TESTS(learned_objects_and_their_masks_are_those_of_the_whole_raster, 0, sizeof learned / sizeof *learned)
{
    expect_whole("cells", learned[_i]);
    run_here(
        "cd %s && test $(wc -l < tiles/objects.tsv) -gt 20 && ! ls tiles | grep -e windows -e tiles -e unmerged && "
        "rm -rf again && mkdir again",
        folder);
    run_here("%s", line_of("cells", learned[_i], "whole", "--overwrite --no-refine"));
    run_here("%s", line_of("cells", learned[_i], "tiles", "--overwrite --no-refine --max-pixels 19"));
    run_here("cd %s && cd tiles && for f in *.tif; do cmp $f ../whole/$f || exit 1; done && cmp objects.tsv "
             "../whole/objects.tsv",
             folder);
    run_here("cd %s && rm -rf again && cp -r tiles again && rm -rf again/objects again/objects.tsv again/geojson "
             "again/cutouts again/.cleave-parts",
             folder);
    run_here("%s", line_of("cells", learned[_i], "again", "--resume --max-pixels 19"));
    run_here("cd %s && diff -r -x report -x .cleave-run tiles again && rm -rf again", folder);
}

/* A mask that is there is read back by rows, whatever made it; a mask with its specks merged is that of the whole. */
TEST(files_that_are_missing_are_made_of_the_mask_that_is_there)
{
    run_here("cd %s && rm -rf tiles whole again", folder);
    run_here("%s", line_of("m", options[2], "tiles", "--max-pixels 19"));
    run_here("cd %s && cp -r tiles again && cd again && rm -rf overlays cutouts geojson voc objects.tsv .cleave-parts",
             folder);
    run_here("%s", line_of("m", options[2], "again", "--max-pixels 19 --resume"));
    run_here("cd %s && diff -r tiles again", folder);
    ck_assert_int_eq(count_files(formatted("%s/again/overlays", folder)), N_NAMES);
    run_here("%s", line_of("m", options[2], "whole", ""));
    run_here("cd %s && cmp tiles/wide.tif whole/wide.tif", folder);
    expect_error(65, "--overwrite does all images again",
                 "cd %s && cleave segment -q -m m in/wide.tif -o again --max-pixels 19 "
                 "--resume --objects --clear-border --overlay",
                 folder);
}

/* Noise has more objects than there are colours, and than VOC's palette numbers. */
TEST(noise_has_the_same_objects_and_outlines)
{
    enum { WIDTH = 330, HEIGHT = 290 };
    static uint8_t labels[WIDTH * HEIGHT];
    static const uint8_t palette[256][3] = {[1] = {255, 255, 255}};
    const struct label_image mask = {WIDTH, HEIGHT, labels, palette, 2};
    uint32_t random = 5;
    run_here("cd %s && rm -rf tiles whole && mkdir tiles whole", folder);
    for (size_t p = 0; p < sizeof labels; p++) {
        random = random * 1664525 + 1013904223;
        labels[p] = (random >> 24) % 3 == 0;
    }
    must(raster_write_labels(formatted("%s/tiles/wide.tif", folder), &mask, NULL, err));
    run_here("cd %s && cp tiles/wide.tif whole", folder);
    static const char *const each[][2] = {{"tiles", "--max-pixels 19"}, {"whole", ""}};
    for (int k = 0; k < 2; k++)
        run_here("cd %s && cleave segment -q -m m in/wide.tif -o %s --resume %s --objects --overlay --export coco "
                 "--export geojson --export voc --report %s/report",
                 folder, each[k][0], each[k][1], each[k][0]);
    run_here("cd %s && test $(wc -l < tiles/objects.tsv) -gt 9000 && cmp tiles/objects.tsv whole/objects.tsv && "
             "cmp tiles/coco.json whole/coco.json && cmp tiles/geojson/wide.geojson whole/geojson/wide.geojson && "
             "diff -r tiles/report whole/report && diff -r tiles/voc/Annotations whole/voc/Annotations && "
             "test -e tiles/voc/SegmentationObject/wide.tif && test -e whole/voc/SegmentationObject/wide.png",
             folder);
    expect_pixels("overlays", "wide", 3);
    expect_objects("wide");
    run_here("cd %s && touch -d yesterday tiles/voc/SegmentationObject/wide.tif && cleave segment -q -m m in/wide.tif "
             "-o tiles --resume --max-pixels 19 --objects --export voc && test -z \"$(find "
             "tiles/voc/SegmentationObject -mtime -0.5 -type f)\"",
             folder);
}

/* Files of an earlier mask do not outlive it, and nothing but files that were asked for stays. */
TEST(an_earlier_run_leaves_nothing_behind)
{
    run_here("cd %s && rm -rf tiles && mkdir -p tiles/geojson && echo old > tiles/geojson/wide.geojson && "
             "cleave segment -q -m m in/wide.tif -o tiles --resume --max-pixels 19 --export geojson --min-area 9 && "
             "grep -q FeatureCollection tiles/geojson/wide.geojson",
             folder);
    ck_assert_int_eq(count_files(formatted("%s/tiles", folder)), 2);
}

/* Labels that a killed run has left while it merged specks go with the next run of any kind. */
TEST(labels_of_a_killed_run_do_not_stay)
{
    run_here("cd %s && rm -rf tiles && mkdir tiles && echo old > tiles/dot.tif.unmerged && "
             "cleave segment -q -m m in/dot.tif -o tiles --resume --max-pixels 19 && ! test -e tiles/dot.tif.unmerged",
             folder);
}

/* Probabilities by tiles have the values of the whole raster, at another scale and after a kill, too. */
static const char *const probabilities[][3] = {{"m", "--overlay --samples 20", "tif"},
                                               {"m", "--label 0 --samples 3 --seed 4", "tif"},
                                               {"m", "--all-labels --samples 20", "npy"},
                                               {"m", "--all-labels --side 700 --samples 9", "npy"},
                                               {"m", "--margins", "npy"},
                                               {"half", "--samples 20", "tif"},
                                               {"half", "--all-labels --side 31 --samples 9", "npy"}};

TESTS(probabilities_are_those_of_the_whole_raster, 0, sizeof probabilities / sizeof *probabilities)
{
    const char *model = probabilities[_i][0], *more = probabilities[_i][1], *ending = probabilities[_i][2];
    const bool has_report = strstr(more, "--overlay");
    run_here("cd %s && rm -rf tiles whole", folder);
    run_here("cd %s && cleave probabilities -q -m %s in -o tiles --max-pixels 19 %s %s", folder, model, more,
             has_report ? "--report tiles/report" : "");
    run_here("cd %s && cleave probabilities -q -m %s in -o whole %s %s", folder, model, more,
             has_report ? "--report whole/report" : "");
    if (has_report)
        run_here("cd %s && sed -i s,whole/,tiles/,g whole/report/index.html && diff -r tiles/report whole/report",
                 folder);
    for (int i = 0; i < N_NAMES; i++) {
        if (strcmp(ending, "npy") == 0) {
            run_here("cd %s && cmp tiles/%s.npy whole/%s.npy", folder, names[i], names[i]);
            continue;
        }
        OWNED(clv_indexed_image_release) struct clv_indexed_image tiles = {0};
        OWNED(clv_indexed_image_release) struct clv_indexed_image whole = {0};
        must(clv_indexed_image_read(&tiles, formatted("%s/tiles/%s.tif", folder, names[i]), NULL, err));
        must(clv_indexed_image_read(&whole, formatted("%s/whole/%s.tif", folder, names[i]), NULL, err));
        ck_assert(tiles.width == whole.width && tiles.height == whole.height && !tiles.palette_size);
        ck_assert_msg(memcmp(tiles.values, whole.values, (size_t)tiles.width * (size_t)tiles.height) == 0, "%s",
                      names[i]);
        if (has_report)
            expect_pixels("overlays", names[i], 3);
    }
}

/* A value of 255 is a probability of one, and no missing pixel; the raster's georeference is kept. */
TEST(probabilities_name_no_missing_value)
{
    run_here("cd %s && rm -rf tiles && cleave probabilities -q -m m in/wide.tif -o tiles --max-pixels 19 --samples 2",
             folder);
    OWNED(georeference_release) struct georeference georeference = {0};
    georeference_find(&georeference, formatted("%s/tiles/wide.tif", folder));
    ck_assert(georeference_exists(&georeference) && !georeference.may_lack_data);
    ck_assert(georeference.tie_points[3] >= 440720 && georeference.tie_points[3] <= 440720);
    run_here("cd %s && rm -rf again && cp -r tiles again && rm -rf tiles && cleave probabilities -q -m m in/wide.tif "
             "-o again "
             "--max-pixels 19 --samples 2 --resume --overlay && test -e again/overlays/wide.tif && rm -r again",
             folder);
}

/* The labels of least expected loss are those of the whole raster. */
TEST(least_expected_loss_is_that_of_the_whole_raster)
{
    static const char *const each[] = {"m", "half", "likely"};
    for (size_t k = 0; k < sizeof each / sizeof *each; k++) {
        run_here("cd %s && rm -rf tiles whole", folder);
        run_here("cd %s && cleave segment -q -m %s in -o tiles --decode min-loss --samples 20 --max-pixels 19", folder,
                 each[k]);
        run_here("cd %s && cleave segment -q -m %s in -o whole --decode min-loss --samples 20", folder, each[k]);
        run_here("cd %s && cd tiles && for f in *.tif; do cmp $f ../whole/$f || exit 1; done", folder);
    }
}

/* Files that a run wrote into `tiles`, each of which does not fit on the disk the next time. */
static const char *const written[] = {"overlays/wide.tif",
                                      "cutouts/wide.tif",
                                      "objects/wide.tif",
                                      "labelme/wide.json",
                                      "yolo/labels/wide.txt",
                                      "geojson/wide.geojson",
                                      "voc/Annotations/wide.xml",
                                      "voc/SegmentationClass/wide.png",
                                      "voc/SegmentationObject/wide.png"};

TEST(a_full_disk_in_the_middle_of_any_file_is_told_and_nothing_is_lost)
{
    const char *line = "cleave segment -q -m m in/wide.tif --max-pixels 19 --overlay --cutout --objects --export coco "
                       "--export labelme --export yolo --export geojson --export voc";
    run_here("cd %s && rm -rf tiles && %s -o tiles", folder, line);
    for (size_t k = 0; k < sizeof written / sizeof *written; k++) {
        run_here("cd %s && rm -rf again && cp -rp tiles again && rm again/%s", folder, written[k]);
        expect_error(74, written[k],
                     "cd %s && trap '' XFSZ && size=$(wc -c < tiles/%s) && ulimit -f $(((size - 1) / 512)) && exec "
                     "%s -o again --resume",
                     folder, written[k], line);
        run_here("cd %s && ! test -e again/%s && %s -o again --resume && diff -r tiles again", folder, written[k],
                 line);
    }
    run_here("cd %s && rm -rf again", folder);
}

/* Runs it with a limit on the size of files that is less than that of tiles/NAME, which is told; nothing of that file
 * is left, and --resume makes what is in tiles. */
static void expect_full_disk(const char *name, const char *line)
{
    expect_error(74, name,
                 "cd %s && trap '' XFSZ && size=$(wc -c < tiles/%s) && ulimit -f $(((size - 1) / 512)) && exec "
                 "%s -o again --resume",
                 folder, name, line);
    run_here("cd %s && ! test -e again/%s && %s -o again --resume && diff -r tiles again && rm -rf again", folder, name,
             line);
}

/* The mask comes after its tiles, which are larger than it: they are there from a run that could not write
 * labels whose specks are not merged yet, for a folder of their name. */
static void leave_tiles(void)
{
    run_here("cd %s && rm -rf again && mkdir -p again/wide.tif.unmerged/folder", folder);
    expect_error(73, "wide.tif.unmerged",
                 "cd %s && cleave segment -q -m m in/wide.tif --max-pixels 19 --min-area 2 -o again", folder);
    run_here("cd %s && rm -r again/wide.tif.unmerged && test -e again/wide.tif.tiles && cp tiles/.cleave-run again",
             folder);
}

TEST(a_full_disk_in_the_middle_of_a_mask_is_told_and_its_tiles_stay)
{
    static const char *const lines[] = {"cleave segment -q -m m in/wide.tif --max-pixels 19",
                                        "cleave segment -q -m m in/wide.tif --max-pixels 19 --min-area 2",
                                        "cleave segment -q -m m in/wide.tif --max-pixels 19 --mask-format grey"};
    for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) {
        run_here("cd %s && rm -rf tiles && %s -o tiles", folder, lines[k]);
        leave_tiles();
        expect_full_disk("wide.tif", lines[k]);
    }
}

/* Maps of all labels are larger than tiles; an image of one label's probabilities goes on from the same tiles. */
TEST(a_full_disk_in_the_middle_of_probabilities_is_told_and_their_tiles_stay)
{
    const char *maps = "cleave probabilities -q -m m in/wide.tif --max-pixels 19 --all-labels --side 700 --samples 2";
    const char *one = "cleave probabilities -q -m m in/wide.tif --max-pixels 19 --samples 2";
    run_here("cd %s && rm -rf tiles again && %s -o tiles", folder, maps);
    expect_full_disk("wide.npy", maps);
    expect_error(
        74, "wide.npy",
        "cd %s && trap '' XFSZ && size=$(wc -c < tiles/wide.npy) && ulimit -f $(((size - 1) / 512)) && exec %s -o "
        "again",
        folder, maps);
    run_here("cd %s && rm -rf tiles && %s -o tiles && mv again/wide.npy.tiles again/wide.tif.tiles && cp "
             "tiles/.cleave-run again",
             folder, one);
    expect_full_disk("wide.tif", one);
}

/* More than two labels that are coupled over regions in loops have no margins; uncoupled ones have. */
TEST(margins_of_more_than_two_coupled_labels_are_refused)
{
    run_here("cd %s && rm -rf tiles three && mkdir three && cp -r set/images set/masks three && "
             "printf 'value\tname\n0\tground\n1\tone\n2\ttwo\n' > three/labels.tsv",
             folder);
    for (int i = 0; i < N_IMAGES; i++) {
        OWNED(clv_indexed_image_release) struct clv_indexed_image mask = {0};
        must(clv_indexed_image_read(&mask, formatted("%s/three/masks/%d.png", folder, i), NULL, err));
        for (int32_t p = 0; p < mask.width * mask.height; p++)
            mask.values[p] += mask.values[p] && p % mask.width < mask.width / 2;
        must(clv_png_write_labels(formatted("%s/three/masks/%d.png", folder, i), mask.width, mask.height, mask.values,
                                  NULL, 0, err));
    }
    run_here(
        "cd %s && cleave train -q three -o potts --seed 1 --scale 1 --tile 64 --region-area 25 --blocks colour,size "
        "--pairwise potts --learner mssvm --passes 3 && cleave train -q three -o apart --seed 1 --scale 1 --tile 64 "
        "--region-area 25 "
        "--blocks colour,size --pairwise none --passes 3",
        folder);
    expect_error(64, "more than two labels, coupled between regions that form loops, have no margins",
                 "cd %s && cleave probabilities -m potts in/dot.tif --max-pixels 19 -o tiles --margins", folder);
    run_here(
        "cd %s && ! test -e tiles && cleave probabilities -q -m apart in/dot.tif --max-pixels 19 -o tiles --margins "
        "&& rm -r tiles",
        folder);
}

/* What has been labelled stays when the mask does not fit, and is gone on with. */
TEST(a_full_disk_leaves_tiles_to_go_on_from)
{
    run_here("cd %s && rm -rf tiles again && cleave segment -q -m m in/wide.tif -o tiles --max-pixels 19", folder);
    expect_error(74, "wide.tif.tiles: cannot be written",
                 "cd %s && trap '' XFSZ && ulimit -f 1000 && exec cleave segment -q -m m in/wide.tif -o again "
                 "--max-pixels 19",
                 folder);
    run_here("cd %s && cleave segment -m m in/wide.tif -o again --max-pixels 19 --resume 2> log && grep -q "
             "'tiles finished before' log && diff -r tiles again && rm -r again",
             folder);
}

/* An object that fills the raster touches its border. */
TEST(objects_that_all_touch_the_border_leave_empty_files)
{
    enum { SIDE = 20 };
    static uint8_t labels[SIDE * SIDE];
    static const uint8_t palette[256][3] = {[1] = {255, 255, 255}};
    const struct label_image mask = {SIDE, SIDE, labels, palette, 2};
    memset(labels, 1, sizeof labels);
    run_here("cd %s && rm -rf tiles && mkdir tiles", folder);
    must(raster_write_labels(formatted("%s/tiles/dot.tif", folder), &mask, NULL, err));
    run_here(
        "cd %s && cleave segment -q -m m in/dot.tif -o tiles --resume --max-pixels 19 --objects --clear-border "
        "--overlay --export geojson --export coco --report tiles/report && test $(wc -l < tiles/objects.tsv) = 1 && "
        "! grep -q '\"Feature\"' tiles/geojson/dot.geojson && grep -q '\"annotations\"' tiles/coco.json",
        folder);
}
