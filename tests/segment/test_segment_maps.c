/* What a network's maps say of pixels, in images that show nothing themselves: grey all over, so that nodes are a
 * coarse grid, and only maps know where labels end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cleave/segment.h"
#include "data/data.h"
#include "model/model.h"
#include "support/requests.h"
#include "support/sample.h"
#include "support/support.h"

enum { WIDTH = 60, HEIGHT = 48, N_PIXELS = WIDTH * HEIGHT, N_IMAGES = 6, MAX_CHANNELS = 4 };

/* A slanted stripe of label 1, and below it (of three) label 2. */
static uint8_t truth_at(int image, int p, int n_labels)
{
    double below = p / WIDTH - 0.45 * (p % WIDTH) - 3 * image;
    return below < 3 ? 0 : below < 17 ? 1 : (uint8_t)(n_labels - 1) * (n_labels > 2);
}

/* value of channel c where label y is. */
typedef float channel_value(int c, int y);

static float probability(int c, int y)
{
    return c == y ? 0.9F : 0.05F;
}
static float of_foreground(int c, int y)
{
    return c == 0 && y ? 0.9F : 0.1F;
}
static float feature(int c, int y)
{
    static const float means[MAX_CHANNELS][3] = {{2, -1, 0}, {0, 3, 0}, {-1, -1, -1}, {5, 5, 9}};
    return means[c][y];
}

/* images, masks, labels.tsv and a folder of .npy maps [n_channels][HEIGHT][WIDTH]. */
static void make_set(int n_labels, int n_channels, channel_value *value)
{
    static const char names[] = "value\tname\tred\tgreen\tblue\n0\ta\t0\t0\t0\n1\tb\t200\t0\t0\n2\tc\t0\t200\t0\n";
    OWNED(clv_image_release) struct clv_image grey = {0};
    uint8_t truth[N_PIXELS];
    run_here("rm -rf set maps && mkdir -p set/images set/masks maps");
    must(clv_image_new(&grey, WIDTH, HEIGHT, 3, err));
    memset(grey.pixels, 128, 3 * N_PIXELS);
    for (int i = 0; i < N_IMAGES; i++) {
        char header[129];
        must(clv_png_write(here("set/images/%d.png", i), &grey, err));
        for (int p = 0; p < N_PIXELS; p++)
            truth[p] = truth_at(i, p, n_labels);
        must(clv_png_write_labels(here("set/masks/%d.png", i), WIDTH, HEIGHT, truth, NULL, 0, err));
        FILE *stream = fopen(here("maps/%d.npy", i), "wb");
        ck_assert_ptr_nonnull(stream);
        snprintf(header, sizeof header, "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d, %d), }", n_channels,
                 HEIGHT, WIDTH);
        fwrite("\x93NUMPY\1\0v\0", 1, 10, stream);
        fprintf(stream, "%-117s\n", header);
        for (int c = 0; c < n_channels; c++)
            for (int p = 0; p < N_PIXELS; p++) {
                float at = value(c, truth[p]);
                fwrite(&at, sizeof at, 1, stream);
            }
        ck_assert_int_eq(fclose(stream), 0);
    }
    if (n_labels > 2)
        spill(here("set/labels.tsv"), names, sizeof names - 1);
}

/* Wrong pixels of all masks in a folder. */
static int count_wrong(const char *folder, int n_labels)
{
    int n = 0;
    for (int i = 0; i < N_IMAGES; i++) {
        OWNED(clv_indexed_image_release) struct clv_indexed_image mask = {0};
        must(clv_indexed_image_read(&mask, here("%s/%d.png", folder, i), NULL, err));
        for (int p = 0; p < N_PIXELS; p++)
            n += mask.values[p] != truth_at(i, p, n_labels);
    }
    return n;
}

/* Learns and segments, plainly and refined by the maps; wrong[2]. */
static void segment_both(int wrong[2], int n_labels, const char *training)
{
    run_here("rm -rf m.cleave plain refined && cleave train --data set --maps net=maps --blocks maps,size --seed 1 -q "
             "-t 1 %s -o m.cleave",
             training);
    for (int refined = 0; refined < 2; refined++)
        run_here("cleave segment -m m.cleave --data set --maps net=maps -q -t 1 -o %s",
                 refined ? "refined --refine" : "plain --no-refine");
    wrong[0] = count_wrong("plain", n_labels);
    wrong[1] = count_wrong("refined", n_labels);
}

/* clv_segment with an image and its map in memory labels the first image as the command did. */
static void expect_the_librarys_labels(const char *folder)
{
    OWNED(clv_model_release) struct clv_model model = {0};
    struct clv_segment_options options;
    OWNED(clv_image_release) struct clv_image image = {0};
    OWNED(clv_map_release) struct clv_map map = {0};
    OWNED(clv_indexed_image_release) struct clv_indexed_image mask = {0};
    uint8_t labels[N_PIXELS];
    must(clv_model_read(&model, here("m.cleave"), err));
    must(clv_image_read(&image, here("set/images/0.png"), NULL, err));
    must(clv_map_read(&map, here("maps/0.npy"), CLV_MAP_LAYOUT_AUTO, NULL, err));
    must(clv_indexed_image_read(&mask, here("%s/0.png", folder), NULL, err));
    clv_segment_defaults(&options);
    options.refine = CLV_REFINE_ALL;
    options.maps = &map;
    must(clv_segment(labels, &model, &image, &options, err));
    ck_assert_mem_eq(labels, mask.values, N_PIXELS);
}

TEST(probabilities_of_three_labels_draw_the_borders)
{
    int wrong[2];
    make_set(3, 3, probability);
    segment_both(wrong, 3, "--learner independent --superpixels 30 --passes 10");
    ck_assert_int_lt(wrong[1], wrong[0] / 2);
    expect_the_librarys_labels("refined");
}

TEST(features_draw_borders_as_the_model_weighs_them)
{
    int wrong[2];
    make_set(3, 4, feature);
    segment_both(wrong, 3, "--learner independent --superpixels 30 --passes 10");
    ck_assert_int_lt(wrong[1], wrong[0] / 5);
    make_set(2, 4, feature);
    segment_both(wrong, 2, "--learner ssvm --superpixels 30 --passes 10");
    ck_assert_int_lt(wrong[1], wrong[0] - 100);
    segment_both(wrong, 2, "--learner ssvm --superpixels 30 --passes 10 --maps-pca net=1");
    ck_assert_int_lt(wrong[1], wrong[0] - 100);
    expect_the_librarys_labels("refined");
}

TEST(probabilities_of_two_labels_come_as_one_channel_or_two)
{
    int one[2], two[2], votes[2];
    make_set(2, 2, probability);
    segment_both(two, 2, "--learner ssvm --superpixels 30 --passes 10");
    ck_assert_int_lt(two[1], two[0] / 20);
    expect_the_librarys_labels("refined");
    segment_both(votes, 2, "--learner mssvm --nodes patches --patch-size 12 --patch-step 8 --passes 10");
    ck_assert_int_lt(votes[1], votes[0] / 4); /* no margins of a cut there */
    make_set(2, 1, of_foreground);
    segment_both(one, 2, "--learner ssvm --superpixels 30 --passes 10");
    ck_assert_int_lt(one[1], one[0] / 20);
}

static float log_odds(int c, int y)
{
    return c == y ? 9 : -7; /* beyond what counts */
}

TEST(logits_of_three_labels_are_clipped_and_draw_the_borders)
{
    int wrong[2];
    make_set(3, 3, log_odds);
    segment_both(wrong, 3, "--learner independent --superpixels 30 --passes 10 --maps-kind logits");
    ck_assert_int_lt(wrong[1], wrong[0] / 2);
    expect_the_librarys_labels("refined");
}

/* One channel does not separate three labels: nodes alone decide. */
TEST(probabilities_of_other_labels_draw_no_border)
{
    int wrong[2];
    make_set(3, 1, of_foreground);
    segment_both(wrong, 3, "--learner independent --superpixels 30 --passes 10");
    ck_assert_int_ge(wrong[1], wrong[0] - wrong[0] / 10);
}

/* The numbers that a model refines by are checked before they are used. */
TEST(what_a_model_has_learned_of_refining_is_bounded)
{
    static const struct {
        double values[10];
        int n, type;
        const char *part;
    } cases[] = {
        {{1, 1, 1, 1, 1, -1, -1, -1, -1}, 9, CLV_F64, NULL},
        {{1, 1, 1, 1, 1, 1}, 6, CLV_F64, "is not f64 [9]"},
        {{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 10, CLV_F64, "is not f64 [9]"},
        {{1, 1, 1, 1, 1, 1, 1, 1, 1}, 9, CLV_I64, "is not f64 [9]"},
        {{1, 1, 1, 1, -1, 1, 1, 1, 1}, 9, CLV_F64, "holds -1, must be 0..1e6"},
        {{1, 1, 1, 1, 2e6, 1, 1, 1, 1}, 9, CLV_F64, "holds 2e+06, must be 0..1e6"},
        {{1, 1, 1, 1, 1, 1, 1, 1, -2e6}, 9, CLV_F64, "holds -2e+06, must be -1e6..1e6"},
    };
    OWNED(clv_model_release) struct clv_model model = {0};
    struct clv_segment_options options;
    OWNED(clv_image_release) struct clv_image image = {0};
    OWNED(clv_map_release) struct clv_map map = {0};
    uint8_t labels[N_PIXELS];
    make_set(2, 2, probability);
    run_here("cleave train --data set --maps net=maps --blocks maps,size --seed 1 -q -t 1 --learner independent "
             "--superpixels 30 --passes 2 -o m.cleave");
    must(clv_model_read(&model, here("m.cleave"), err));
    must(clv_image_read(&image, here("set/images/0.png"), NULL, err));
    must(clv_map_read(&map, here("maps/0.npy"), CLV_MAP_LAYOUT_AUTO, NULL, err));
    clv_segment_defaults(&options);
    options.refine = CLV_REFINE_ALL;
    options.maps = &map;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct clv_tensor tensor = {.name = "refining", .dtype = cases[k].type, .n_dimensions = 1};
        tensor.shape[0] = cases[k].n;
        tensor.data = cases[k].values;
        must(clv_model_attach(&model, &tensor, err));
        memset(labels, 77, sizeof labels);
        if (!cases[k].part) {
            must(clv_segment(labels, &model, &image, &options, err));
            continue;
        }
        must_fail(CLV_ERR_DATA, cases[k].part, clv_segment(labels, &model, &image, &options, err));
        for (int p = 0; p < N_PIXELS; p++)
            ck_assert_int_eq(labels[p], 77);
    }
}

TEST(labels_stay_as_they_are_when_memory_runs_out)
{
    OWNED(clv_model_release) struct clv_model model = {0};
    struct clv_segment_options options;
    OWNED(clv_image_release) struct clv_image image = {0};
    OWNED(clv_map_release) struct clv_map map = {0};
    uint8_t labels[N_PIXELS], untouched[N_PIXELS];
    memset(labels, 77, sizeof labels);
    memset(untouched, 77, sizeof untouched);
    make_set(3, 3, probability);
    run_here("cleave train --data set --maps net=maps --blocks maps,size --seed 1 -q -t 1 --learner independent "
             "--superpixels 30 --passes 2 -o m.cleave");
    must(clv_model_read(&model, here("m.cleave"), err));
    must(clv_image_read(&image, here("set/images/0.png"), NULL, err));
    must(clv_map_read(&map, here("maps/0.npy"), CLV_MAP_LAYOUT_AUTO, NULL, err));
    clv_segment_defaults(&options);
    options.refine = CLV_REFINE_ALL;
    options.maps = &map;
    must_keep_when_requests_fail(clv_segment(labels, &model, &image, &options, err),
                                 ck_assert_mem_eq(labels, untouched, N_PIXELS));
    ck_assert_mem_ne(labels, untouched, N_PIXELS);
}
