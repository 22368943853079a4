/* cleave train --pixel-net: lines thinner than regions, which only pixels can tell. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "support/sample.h"
#include "support/support.h"

enum { WIDTH = 96, HEIGHT = 72, N = 6 };

/* Grey noise, dark lines of 2 pixels that wander from slice to slice, and a light square; the last label or two. */
static void write_image(const char *folder, int t, int n_labels)
{
    OWNED(clv_image_release) struct clv_image image = {0};
    static uint8_t mask[WIDTH * HEIGHT];
    must(clv_image_new(&image, WIDTH, HEIGHT, 3, err));
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        int x = i % WIDTH, y = i / WIDTH;
        bool is_square = x >= 30 + 2 * t && x < 54 + 2 * t && y >= 20 && y < 44;
        bool is_line = (x + y / 3 + t) % 24 < 2 || (y + x / 5 + 2 * t) % 20 < 2;
        int label = is_line ? 1 : is_square && n_labels > 2 ? 2 : 0, light = label == 1 ? 90 : label == 2 ? 190 : 140;
        mask[i] = (uint8_t)label;
        memset(image.pixels + 3 * i, light + (int)(30 * rng_uniform(1, RNG_STREAM(RNG_TEST, (uint64_t)t), (uint64_t)i)),
               3);
    }
    must(clv_png_write(formatted("%s/images/s%d.png", folder, t), &image, err));
    must(clv_png_write_labels(formatted("%s/masks/s%d.png", folder, t), WIDTH, HEIGHT, mask, NULL, 0, err));
}

static const char *write_set(const char *name, int n, int n_labels)
{
    static char folder[256];
    snprintf(folder, sizeof folder, "%s/%s", temporary_folder(), name);
    run_here("mkdir -p %s/images %s/masks", folder, folder);
    for (int t = 0; t < n; t++)
        write_image(folder, t, n_labels);
    const char *labels =
        n_labels > 2 ? "value\tname\n0\tground\n1\tline\n2\tsquare\n" : "value\tname\n0\tground\n1\tline\n";
    spill(formatted("%s/labels.tsv", folder), labels, strlen(labels));
    return folder;
}

#define TRAIN "cleave train %s -q --superpixels 60 --words 5 --codebook-samples 500 --overwrite "

/* The share of wrong pixels of what a model of these options refines. */
static double error_of(const char *set, const char *train, const char *segment)
{
    run_here(TRAIN "%s -o %s/m.cleave", set, train, set);
    run_here("cleave segment -q --overwrite %s -m %s/m.cleave %s -o %s/out", segment, set, set, set);
    OWNED_ARRAY char *output = expect_success("cleave score -q %s %s/out --json", set, set);
    return strtod(strstr(output, "\"hamming\":") + strlen("\"hamming\":"), NULL);
}

TEST(lines_thinner_than_regions_are_found_of_two_labels_and_of_three)
{
    for (int n_labels = 2; n_labels <= 3; n_labels++) {
        const char *set = write_set(n_labels > 2 ? "three" : "two", N, n_labels);
        double plain = error_of(set, "--passes 10", "--refine"), pixels = error_of(set, "--passes 10 --pixel-net", "");
        ck_assert_double_gt(plain, 0.08);
        ck_assert_double_lt(pixels, 0.03);
        free(expect_success("\"$CLEAVE\" inspect %s/m.cleave | grep '^refined       by a network of pixels'", set));
    }
}

TEST(slices_that_are_learned_together_have_one_too)
{
    for (int n_labels = 2; n_labels <= 3; n_labels++) {
        const char *set = write_set(n_labels > 2 ? "slices3" : "slices2", N, n_labels);
        const char *learner = n_labels > 2 ? "--learner mssvm" : "";
        double error =
            error_of(set, formatted("--passes 10 --pixel-net --sequence --window 3 %s", learner), "--sequence");
        ck_assert_double_lt(error, 0.03);
    }
}

TEST(the_same_model_and_masks_come_of_any_number_of_threads)
{
    const char *set = write_set("threads", N, 3);
    for (int n = 1; n <= 3; n += 2) {
        run_here("mkdir t%d && cd t%d && " TRAIN "--passes 4 --pixel-net -t %d -o m", n, n, set, n);
        run_here("cleave segment -q -t %d -m t%d/m %s -o t%d/out && rm t%d/out/.cleave-run", n, n, set, n, n);
    }
    run_here("diff -r t1 t3");
}

TEST(too_few_images_are_refused)
{
    const char *set = write_set("few", 3, 3);
    expect_error(64, "--pixel-net: needs 4 images with masks, there are 3", TRAIN "--pixel-net -o %s/m", set, set);
    expect_error(64, "--pixel-net: needs 2 windows of slices with masks, there are 1",
                 TRAIN "--pixel-net --sequence -o %s/m", set, set);
}
