/* Rasters by tiles: the labels of the whole image, whatever is read at once, and after a kill. */
#include <stdlib.h>
#include <tiffio.h>
#include <unistd.h>

#include "infer/infer.h"
#include "model/model.h"
#include "refine/by_model/by_model.h"
#include "segment/segment.h"
#include "support/sample.h"
#include "support/support.h"

enum { WIDTH = 230, HEIGHT = 150, N_BANDS = 3, N_IMAGES = 4 };

static char *folder;

static void write_raster(const char *path, const uint16_t *values, uint32_t width, uint32_t height, uint32_t tile)
{
    TIFF *tiff = TIFFOpen(path, "w8");
    const uint16_t extra[N_BANDS - 1] = {0};
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, width);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, height);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 16);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, N_BANDS);
    TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, N_BANDS - 1, extra);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    if (!tile) {
        TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, 7);
        for (uint32_t y = 0; y < height; y++)
            ck_assert_int_ge(TIFFWriteScanline(tiff, (void *)(uintptr_t)(values + y * width * N_BANDS), y, 0), 0);
        TIFFClose(tiff);
        return;
    }
    OWNED_ARRAY uint16_t *block = calloc(tile * tile * N_BANDS, sizeof *block);
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, tile);
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, tile);
    for (uint32_t top = 0; top < height; top += tile)
        for (uint32_t left = 0; left < width; left += tile) {
            for (uint32_t y = top; y < top + tile && y < height; y++)
                for (uint32_t x = left; x < left + tile && x < width; x++)
                    memcpy(block + ((y - top) * tile + x - left) * N_BANDS, values + (y * width + x) * N_BANDS,
                           N_BANDS * sizeof *block);
            ck_assert_int_gt(TIFFWriteTile(tiff, block, left, top, 0, 0), 0);
        }
    TIFFClose(tiff);
}

/* Stripes of two kinds of background, of which noise hides much. */
static void draw(const char *path, const char *mask, uint32_t width, uint32_t height, uint32_t tile, uint32_t random)
{
    OWNED_ARRAY uint16_t *values = calloc((size_t)width * height * N_BANDS, sizeof *values);
    OWNED_ARRAY uint8_t *truth = calloc(width, height);
    for (uint32_t p = 0; p < width * height; p++) {
        truth[p] = (p % width + 2 * (p / width) + random % 50) / 25 % 2;
        for (uint32_t b = 0; b < N_BANDS; b++) {
            random = random * 1664525 + 1013904223;
            values[p * N_BANDS + b] = (uint16_t)(1000 + 70 * b + (random >> 23) + (truth[p] ? 150 * b : 0));
        }
    }
    write_raster(path, values, width, height, tile);
    if (mask)
        must(clv_png_write_labels(mask, (int32_t)width, (int32_t)height, truth, NULL, 0, err));
}

static void setup(void)
{
    folder = strdup(temporary_folder());
    free(expect_success("mkdir -p %s/set/images %s/set/masks", folder, folder));
    for (int i = 0; i < N_IMAGES; i++)
        draw(formatted("%s/set/images/%d.tif", folder, i), formatted("%s/set/masks/%d.png", folder, i), 90, 70, 0,
             (uint32_t)i);
    draw(formatted("%s/tiled.tif", folder), formatted("%s/tiled.png", folder), WIDTH, HEIGHT, 32, 9);
    draw(formatted("%s/strips.tif", folder), NULL, WIDTH, HEIGHT, 0, 9);
    run_here("cd %s && for s in 1 1.7; do cleave train -q set -o m$s --seed 1 --scale $s --tile 64 --region-area 25 "
             "--words 10 --codebook-samples 500 --sift-bins 2,4 --passes 5; done && cleave train -q set -o colours "
             "--seed 1 --scale 1 --tile 64 --region-area 25 --blocks colour,size --passes 5 && cleave train -q set "
             "-o plain --seed 1 --superpixels 50 --words 4 --codebook-samples 500 --sift-bins 4 --passes 2",
             folder);
}

SETUP_ONCE(setup, NULL)
TIMEOUT(180)

static uint8_t *labels_of(const struct raster_cut_options *options, int32_t *n_resumed)
{
    struct raster_cut cut;
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    uint8_t *labels = malloc((size_t)WIDTH * HEIGHT);
    must(raster_cut_open(&cut, options, err));
    *n_resumed = cut.n_resumed;
    must(raster_cut_read(&cut, err));
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    must(raster_cut_solve(&cut, oracle, err));
    for (int32_t top = 0, step = cut.refined_px ? cut.refined_px : 32; top < HEIGHT; top += step) {
        int32_t rows = HEIGHT - top < step ? HEIGHT - top : step;
        must(cut.refined_px ? raster_cut_refine(labels + top * WIDTH, &cut, top, rows, err)
                            : raster_cut_paint(labels + top * WIDTH, &cut, top, rows, err));
    }
    raster_cut_close(&cut, false);
    ck_assert_int_ne(access(options->tiles, F_OK), 0);
    return labels;
}

static uint8_t *labels_of_whole(const struct clv_model *model, const char *path, enum clv_refine_choice refine)
{
    const struct clv_image_limits limits = {.bands = &model->recipe.bands};
    const struct clv_segment_options options = {.refine = refine};
    OWNED(clv_image_release) struct clv_image image = {0};
    OWNED(clv_map_release) struct clv_map map = {0};
    uint8_t *labels = malloc((size_t)WIDTH * HEIGHT);
    struct clv_segment_options own = options;
    must(clv_image_read(&image, path, &limits, err));
    must(clv_map_read(&map, path, CLV_MAP_LAYOUT_BANDS, &limits, err));
    own.maps = model->recipe.n_maps ? &map : NULL; /* bands are shown at least */
    must(clv_segment(labels, model, &image, &own, err));
    return labels;
}

TESTS(labels_are_those_of_the_whole_image_whatever_is_read_at_once, 0, 3)
{
    static const char *const names[] = {"m1", "m1.7", "colours"};
    OWNED(clv_model_release) struct clv_model model = {0};
    int32_t n_resumed;
    must(clv_model_read(&model, formatted("%s/%s", folder, names[_i]), err));
    OWNED_ARRAY uint8_t *whole = labels_of_whole(&model, formatted("%s/tiled.tif", folder), CLV_REFINE_NONE);
    ck_assert(memchr(whole, 1, WIDTH * HEIGHT) && memchr(whole, 0, WIDTH * HEIGHT));
    for (int32_t at_once = 0; at_once <= 4; at_once++)
        for (int n_threads = 1; n_threads <= 3; n_threads += 2) {
            char path[200], tiles[200];
            snprintf(path, sizeof path, "%s/%s.tif", folder, at_once % 2 ? "tiled" : "strips");
            snprintf(tiles, sizeof tiles, "%s/tiles", folder);
            const struct raster_cut_options options = {.path = path,
                                                       .model = &model,
                                                       .tiles = tiles,
                                                       .n_threads = n_threads,
                                                       .at_once = at_once,
                                                       .refine = CLV_REFINE_NONE};
            OWNED_ARRAY uint8_t *labels = labels_of(&options, &n_resumed);
            ck_assert_int_eq(memcmp(labels, whole, WIDTH * HEIGHT), 0);
        }
}

/* What is no larger than a square that is refined at once is refined as an image. */
TESTS(a_small_raster_is_refined_as_an_image, 0, 3)
{
    static const char *const names[] = {"m1", "m1.7", "colours"};
    OWNED(clv_model_release) struct clv_model model = {0};
    int32_t n_resumed;
    char path[200], tiles[200];
    snprintf(path, sizeof path, "%s/tiled.tif", folder);
    snprintf(tiles, sizeof tiles, "%s/tiles", folder);
    must(clv_model_read(&model, formatted("%s/%s", folder, names[_i]), err));
    OWNED_ARRAY uint8_t *whole = labels_of_whole(&model, path, CLV_REFINE_ALL);
    const struct raster_cut_options options = {
        .path = path, .model = &model, .tiles = tiles, .n_threads = 1, .refine = CLV_REFINE_ALL};
    OWNED_ARRAY uint8_t *labels = labels_of(&options, &n_resumed);
    ck_assert_int_eq(memcmp(labels, whole, WIDTH * HEIGHT), 0);
    struct raster_cut_options large = options; /* than the working size */
    large.refine = CLV_REFINE_LARGE;
    OWNED_ARRAY uint8_t *by_default = labels_of(&large, &n_resumed),
                        *plain = labels_of_whole(&model, path, CLV_REFINE_NONE);
    ck_assert_int_ne(memcmp(labels, plain, WIDTH * HEIGHT), 0);
    ck_assert_int_eq(memcmp(by_default, _i == 1 ? labels : plain, WIDTH * HEIGHT), 0);
}

static size_t count_unlike(const uint8_t *a, const uint8_t *b)
{
    size_t n = 0;
    for (size_t p = 0; p < (size_t)WIDTH * HEIGHT; p++)
        n += a[p] != b[p];
    return n;
}

TESTS(squares_are_refined_alike_whatever_is_read_at_once_and_better_than_regions, 0, 2)
{
    OWNED(clv_model_release) struct clv_model model = {0};
    OWNED_ARRAY uint8_t *first = NULL;
    int32_t n_resumed;
    must(clv_model_read(&model, formatted("%s/%s", folder, _i ? "m1.7" : "m1"), err));
    for (int32_t at_once = 1; at_once <= 4; at_once++)
        for (int n_threads = 1; n_threads <= 3; n_threads += 2) {
            char path[200], tiles[200];
            snprintf(path, sizeof path, "%s/%s.tif", folder, at_once % 2 ? "tiled" : "strips");
            snprintf(tiles, sizeof tiles, "%s/tiles", folder);
            const struct raster_cut_options options = {.path = path,
                                                       .model = &model,
                                                       .tiles = tiles,
                                                       .n_threads = n_threads,
                                                       .at_once = at_once,
                                                       .refine = CLV_REFINE_ALL,
                                                       .refined_px = 96};
            uint8_t *labels = labels_of(&options, &n_resumed);
            if (first)
                ck_assert_int_eq(memcmp(labels, first, WIDTH * HEIGHT), 0);
            else
                first = labels;
            if (labels != first)
                free(labels);
        }
    OWNED_ARRAY uint8_t *plain = labels_of_whole(&model, formatted("%s/tiled.tif", folder), CLV_REFINE_NONE);
    OWNED_ARRAY uint8_t *whole = labels_of_whole(&model, formatted("%s/tiled.tif", folder), CLV_REFINE_ALL);
    OWNED(clv_indexed_image_release) struct clv_indexed_image truth = {0};
    must(clv_indexed_image_read(&truth, formatted("%s/tiled.png", folder), NULL, err));
    ck_assert_uint_lt(count_unlike(first, truth.values), count_unlike(plain, truth.values));
    ck_assert_uint_gt(count_unlike(first, whole), 0); /* colours of squares are their own */
    ck_assert_uint_lt(count_unlike(first, whole), (size_t)WIDTH * HEIGHT / 8);
}

static volatile int stop;

static void stop_after_two(void *context, const char *what, size_t done, size_t total, const char *note)
{
    (void)context;
    (void)what;
    (void)total;
    (void)note;
    stop = done >= 2;
}

TEST(what_was_interrupted_goes_on_unless_it_is_damaged_or_of_another_run)
{
    OWNED(clv_model_release) struct clv_model model = {0};
    struct raster_cut cut;
    int32_t n_resumed;
    char path[200], tiles[200];
    const struct clv_progress progress = {.report = stop_after_two, .stop = &stop};
    snprintf(path, sizeof path, "%s/tiled.tif", folder);
    snprintf(tiles, sizeof tiles, "%s/tiles", folder);
    must(clv_model_read(&model, formatted("%s/m1", folder), err));
    struct raster_cut_options options = {
        .path = path, .model = &model, .tiles = tiles, .n_threads = 1, .key = 7, .progress = &progress};
    OWNED_ARRAY uint8_t *whole = labels_of_whole(&model, path, CLV_REFINE_NONE);
    static const int32_t expected[] = {4, 3, 0, 0};
    for (int k = 0; k < 4; k++) {
        stop = 0;
        options.progress = &progress;
        options.resumes = false;
        options.key = 7;
        must(raster_cut_open(&cut, &options, err));
        must_fail(CLV_ERR_INTERRUPTED, "", raster_cut_read(&cut, err));
        raster_cut_close(&cut, true);
        if (k == 1)
            free(expect_success("truncate -s -9 %s", tiles));
        if (k == 3) /* the same bytes, written again */
            free(expect_success("cp %s %s.copy && touch -r %s %s.copy && mv %s.copy %s", path, path, path, path, path,
                                path));
        options.progress = NULL;
        options.resumes = true;
        options.key = k == 2 ? 8 : 7;
        OWNED_ARRAY uint8_t *labels = labels_of(&options, &n_resumed);
        ck_assert_int_eq(n_resumed, expected[k]);
        ck_assert_int_eq(memcmp(labels, whole, WIDTH * HEIGHT), 0);
    }
}

TEST(a_raster_that_changes_while_it_is_segmented_is_refused)
{
    OWNED(clv_model_release) struct clv_model model = {0};
    struct raster_cut cut;
    char path[200], tiles[200];
    snprintf(path, sizeof path, "%s/changing.tif", folder);
    snprintf(tiles, sizeof tiles, "%s/tiles", folder);
    free(expect_success("cp %s/tiled.tif %s", folder, path));
    must(clv_model_read(&model, formatted("%s/m1", folder), err));
    const struct raster_cut_options options = {.path = path, .model = &model, .tiles = tiles, .n_threads = 1};
    must(raster_cut_open(&cut, &options, err));
    must(raster_cut_read(&cut, err));
    must(raster_cut_check_files(&cut, err));
    free(expect_success("chmod 600 %s", path));
    must(raster_cut_check_files(&cut, err)); /* its bytes are the same */
    free(expect_success("touch -d 2001-01-01 %s", path));
    must_fail(CLV_ERR_DATA, "has changed while it was segmented", raster_cut_check_files(&cut, err));
    free(expect_success("rm %s", path));
    must_fail(CLV_ERR_NO_INPUT, "cannot examine", raster_cut_check_files(&cut, err));
    raster_cut_close(&cut, false);
}

TEST(refining_stops_when_asked)
{
    OWNED(clv_model_release) struct clv_model model = {0};
    struct raster_cut cut;
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    char path[200], tiles[200];
    uint8_t labels[64 * WIDTH];
    const struct clv_progress progress = {.stop = &stop};
    snprintf(path, sizeof path, "%s/tiled.tif", folder);
    snprintf(tiles, sizeof tiles, "%s/tiles", folder);
    must(clv_model_read(&model, formatted("%s/m1", folder), err));
    const struct raster_cut_options options = {.path = path,
                                               .model = &model,
                                               .tiles = tiles,
                                               .n_threads = 1,
                                               .refine = CLV_REFINE_ALL,
                                               .refined_px = 64,
                                               .progress = &progress};
    stop = 0;
    must(raster_cut_open(&cut, &options, err));
    must(raster_cut_read(&cut, err));
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    must(raster_cut_solve(&cut, oracle, err));
    stop = 1;
    must_fail(CLV_ERR_INTERRUPTED, "", raster_cut_refine(labels, &cut, 64, 64, err));
    stop = 0;
    must(raster_cut_refine(labels, &cut, 64, 64, err));
    raster_cut_close(&cut, false);
}

/* Three labels: the scores of two labels, a third one's between them, and their couplings. */
TEST(more_than_two_labels_are_those_of_expansion_over_the_whole_graph)
{
    OWNED(clv_model_release) struct clv_model model = {0};
    char path[200], tiles[200];
    int32_t n_resumed;
    snprintf(path, sizeof path, "%s/tiled.tif", folder);
    snprintf(tiles, sizeof tiles, "%s/tiles", folder);
    must(clv_model_read(&model, formatted("%s/m1", folder), err));
    const struct clv_image_limits limits = {.bands = &model.recipe.bands};
    struct clv_weight_layout layout = model.layout;
    layout.n_labels = 3;
    size_t d = (size_t)layout.n_features, p = (size_t)layout.n_edge_features;
    OWNED_ARRAY double *w = calloc(3 * d + p, sizeof *w);
    double *two = model.w;
    for (size_t k = 0; k < d; k++) {
        w[d + k] = two[k];
        w[2 * d + k] = (k % 3 ? 0.7 : 0.2) * two[k];
    }
    memcpy(w + 3 * d, two + d, p * sizeof *w);
    model.layout = layout;
    model.w = w;
    const struct raster_cut_options options = {.path = path, .model = &model, .tiles = tiles, .n_threads = 2};
    uint8_t *labels = labels_of(&options, &n_resumed);
    OWNED_ARRAY uint8_t *whole = malloc((size_t)WIDTH * HEIGHT);
    OWNED(clv_image_release) struct clv_image image = {0};
    OWNED(clv_map_release) struct clv_map map = {0};
    OWNED(clv_example_release) struct clv_example example = {0};
    OWNED(scored_field_release) struct clv_field field = {0};
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    must(clv_image_read(&image, path, &limits, err));
    must(clv_map_read(&map, path, CLV_MAP_LAYOUT_BANDS, &limits, err));
    must(clv_example_extract_maps(&example, &image, &map, &model.recipe, err));
    must(scored_field_init(&field, &layout, w, &example.problem, err));
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    OWNED_ARRAY int32_t *y = malloc((size_t)field.n_nodes * sizeof *y);
    must(clv_oracle_expand(oracle, y, NULL, &field, err));
    must(clv_example_paint(whole, &example, y, err));
    ck_assert_int_eq(memcmp(labels, whole, WIDTH * HEIGHT), 0);
    ck_assert(memchr(whole, 1, WIDTH * HEIGHT) && memchr(whole, 2, WIDTH * HEIGHT));
    struct map_reader views[1];
    const struct segmented segmented = {.image = &image,
                                        .example = &example,
                                        .y = y,
                                        .painted = whole,
                                        .maps = map_readers_of(views, &map, 1),
                                        .model = &model};
    struct raster_cut_options refining = options;
    refining.refine = CLV_REFINE_ALL;
    free(labels);
    labels = labels_of(&refining, &n_resumed);
    ck_assert_uint_gt(count_unlike(labels, whole), 0);
    must(segmented_refine(whole, &segmented, NULL, err));
    ck_assert_int_eq(memcmp(labels, whole, WIDTH * HEIGHT), 0);
    free(labels);
    struct raster_cut cut;
    model.layout.pairwise = CLV_PAIRWISE_FULL;
    must_fail(CLV_ERR_USAGE, "--pairwise potts", raster_cut_open(&cut, &options, err));
    model.w = two;
}

TEST(the_command_takes_rasters_above_its_limit_by_tiles)
{
    free(expect_success("cd %s && \"$CLEAVE\" segment -q -m m1 tiled.tif -o whole.tif && "
                        "\"$CLEAVE\" segment -q -m m1 tiled.tif -o small.tif --max-pixels 999 && "
                        "cmp whole.tif small.tif && \"$CLEAVE\" segment -q -m m1 tiled.tif strips.tif -o out "
                        "--max-pixels 999 --mask-format binary -t 2 && cmp out/tiled.tif out/strips.tif && "
                        "\"$CLEAVE\" segment -q -m m1 tiled.tif -o fine.tif --refine && \"$CLEAVE\" segment -q -m m1 "
                        "tiled.tif -o squares.tif --refine --max-pixels 999 && cmp fine.tif squares.tif && "
                        "! cmp -s fine.tif whole.tif",
                        folder));
    ck_assert_int_eq(count_files(formatted("%s/out", folder)), 2);
    free(expect_success(
        "cd %s && \"$CLEAVE\" segment -q -m m1 tiled.tif strips.tif -o out --max-pixels 999 --mask-format "
        "binary --resume",
        folder));
}

TEST(what_needs_the_whole_image_is_refused_by_name)
{
    static const char *const options[][2] = {{"-o - -t 1", "-o FILE.tif takes it"}, {"-o %s/x.png", "name it .tif"}};
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        char line[300];
        snprintf(line, sizeof line, options[k][0], folder);
        expect_error(64, options[k][1], "\"$CLEAVE\" segment -m %s/m1 %s/tiled.tif --max-pixels 999 %s", folder, folder,
                     line);
    }
    expect_error(64, "train --scale 1", "\"$CLEAVE\" segment -m %s/plain %s/tiled.tif --max-pixels 999 -o %s/x.tif",
                 folder, folder, folder);
    ck_assert_int_eq(count_files(formatted("%s/x", folder)), 0);
}
