#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "feature/blocks/blocks.h"
#include "feature/dataset/dataset.h"
#include "support/support.h"

/* An image of 60 x 40 as one item. */
static const char *one_image(void)
{
    const char *folder = temporary_folder();
    OWNED(clv_image_release) struct clv_image image = {0};
    must(clv_image_new(&image, 60, 40, 3, err));
    for (size_t i = 0; i < 60 * 40 * 3; i++)
        image.pixels[i] = (uint8_t)(i * 7919 % 251);
    must(clv_png_write(here("a.png"), &image, err));
    static const char manifest[] = "image\na.png\n";
    spill(here("manifest.tsv"), manifest, sizeof manifest - 1);
    return folder;
}

/* Half of the image is foreground. */
static enum clv_status left_half(float *foreground, const struct clv_image *image, const struct item_boxes *boxes,
                                 struct clv_error *err)
{
    (void)boxes, (void)err;
    for (int32_t y = 0; y < image->height; y++)
        for (int32_t x = 0; x < image->width; x++)
            foreground[y * image->width + x] = x < image->width / 2;
    return CLV_OK;
}

static void extract(struct clv_dataset **dataset, struct clv_dataset **privileged, const struct clv_pixel_box *boxes,
                    size_t n_boxes)
{
    static char path[256];
    OWNED(clv_recipe_release) struct clv_recipe recipe = {0};
    OWNED(clv_set_release) struct clv_set set = {0};
    if (!*path)
        snprintf(path, sizeof path, "%s/manifest.tsv", one_image());
    clv_recipe_init(&recipe);
    recipe.blocks = CLV_BLOCK_SIZE;
    recipe.slic.n_superpixels = 60;
    must(clv_set_read(&set, path, err));
    struct item_boxes known = {(struct clv_pixel_box *)(uintptr_t)boxes, n_boxes, 0};
    const struct extract_options how = {&recipe, 1, NULL, NULL, &known, left_half};
    must(dataset_extract_boxed(dataset, privileged, &set, &how, err));
}

TEST(privileged_features_give_the_position_in_the_box)
{
    static const struct clv_pixel_box box = {10, 5, 50, 35};
    OWNED(dataset_drop) struct clv_dataset *dataset = NULL, *privileged = NULL;
    extract(&dataset, &privileged, &box, 1);
    struct clv_problem p = clv_dataset_problem(dataset, 0), features = clv_dataset_problem(privileged, 0);
    double outside = 0, column[8] = {0}, line[8] = {0}, foreground = 0, all = 0;
    ck_assert_int_eq(features.n_nodes, p.n_nodes);
    ck_assert_int_eq(features.n_features, 65);
    for (int32_t i = 0; i < p.n_nodes; i++) {
        double sum = 0, area = (double)p.area[i];
        bool is_outside = true;
        for (int64_t k = features.row[i]; k < features.row[i + 1]; k++) {
            double value = (double)features.value[k];
            sum += value;
            if (features.index[k] == 64) {
                outside += area * value / 3;
                continue;
            }
            is_outside = false;
            column[features.index[k] % 8] += area * value / 3;
            line[features.index[k] / 8] += area * value / 3;
        }
        ck_assert_double_eq_tol(sum, 3, 1e-5);
        ck_assert_int_eq(p.label[i], is_outside ? 0 : CLV_UNKNOWN);
        ck_assert_double_eq_tol((double)features.theta[2 * i] + (double)features.theta[2 * i + 1], 1, 1e-6);
        foreground += area * (double)features.theta[2 * i + 1];
        all += area;
    }
    ck_assert_double_eq_tol(outside, 60 * 40 - 40 * 30, 0.01);
    ck_assert_double_eq_tol(foreground, all / 2, 0.01);
    for (int k = 0; k < 8; k++) { /* bins are hats of width 1/7, the outer ones half hats */
        double share = k == 0 || k == 7 ? 0.5 / 7 : 1.0 / 7;
        ck_assert_double_eq_tol(column[k], 1200 * share, 5);
        ck_assert_double_eq_tol(line[k], 1200 * share, 5);
    }
}

TEST(several_boxes_share_their_image)
{
    static const struct clv_pixel_box boxes[] = {{0, 0, 20, 40}, {20, 0, 60, 40}, {22, 2, 24, 4}};
    OWNED(dataset_drop) struct clv_dataset *dataset = NULL, *privileged = NULL;
    extract(&dataset, &privileged, boxes, 3);
    struct clv_problem p = clv_dataset_problem(dataset, 0), features = clv_dataset_problem(privileged, 0);
    double column[8] = {0};
    for (int32_t i = 0; i < p.n_nodes; i++)
        for (int64_t k = features.row[i]; k < features.row[i + 1]; k++) {
            ck_assert_int_lt(features.index[k], 64); /* nothing is outside */
            column[features.index[k] % 8] += (double)p.area[i] * (double)features.value[k] / 3;
        }
    for (int k = 0; k < 8; k++)
        ck_assert_double_eq_tol(column[k], 2400 * (k == 0 || k == 7 ? 0.5 / 7 : 1.0 / 7), 20);
}

/* The privileged features of a node, by comparing every pixel with every box. */
static void plain_features(double row[65], const struct clv_example *example, const struct clv_pixel_box *boxes, int n,
                           int32_t node)
{
    const struct clv_superpixels *sp = &example->superpixels;
    double sum = 0;
    memset(row, 0, 65 * sizeof *row);
    for (int32_t i = 0; i < sp->width * sp->height; i++) {
        if (sp->labels[i] != node)
            continue;
        double x = (i % sp->width + 0.5) * example->width / sp->width, nearest = 1, u = 0, v = 0;
        double y = (i / sp->width + 0.5) * example->height / sp->height;
        for (int k = 0; k < n; k++) {
            double s = (x - boxes[k].first_x) / (boxes[k].end_x - boxes[k].first_x);
            double t = (y - boxes[k].first_y) / (boxes[k].end_y - boxes[k].first_y);
            double distance = fmax(fabs(s - 0.5), fabs(t - 0.5));
            if (distance <= 0.5 && distance < nearest) {
                nearest = distance;
                u = 7 * s;
                v = 7 * t;
            }
        }
        sum++;
        if (nearest > 0.5) {
            row[64]++;
            continue;
        }
        for (int c = 0; c < 64; c++)
            row[c] += fmax(0, 1 - fabs(u - c % 8)) * fmax(0, 1 - fabs(v - c / 8));
    }
    for (int c = 0; c < 65; c++)
        row[c] *= 3 / sum;
}

TEST(many_boxes_give_what_a_look_at_each_of_them_gives)
{
    enum { BOXES = 60 };
    struct clv_pixel_box boxes[BOXES];
    OWNED(clv_recipe_release) struct clv_recipe recipe = {0};
    OWNED(clv_image_release) struct clv_image image = {0};
    OWNED(clv_example_release) struct clv_example example = {0};
    OWNED(dataset_drop) struct clv_dataset *privileged = NULL;
    clv_recipe_init(&recipe);
    recipe.blocks = CLV_BLOCK_SIZE;
    recipe.slic.n_superpixels = 50;
    recipe.working_pixels = 1500;
    must(clv_image_new(&image, 70, 50, 3, err));
    for (size_t i = 0; i < 70 * 50 * 3; i++)
        image.pixels[i] = (uint8_t)(i * 7919 % 251);
    must(clv_example_extract(&example, &image, &recipe, err));
    for (uint64_t k = 0; k < BOXES; k++) {
        int32_t at[4];
        for (uint64_t i = 0; i < 4; i++)
            at[i] = (int32_t)rng_below(3, RNG_STREAM(RNG_TEST, i), k, i % 2 ? 20 : 30);
        boxes[k] = (struct clv_pixel_box){at[0], at[1], at[0] + at[2] / 2 + 1, at[1] + at[3] / 2 + 1};
    }
    must(clv_example_set_boxes(&example, boxes, BOXES, err));
    must(clv_dataset_new(&privileged, 2, err));
    must(privileged_add(privileged, &example, &(struct item_boxes){boxes, BOXES, 0}, NULL, "x", err));
    struct clv_problem features = clv_dataset_problem(privileged, 0);
    int32_t n_unknown = 0;
    OWNED_ARRAY int32_t *label = calloc((size_t)features.n_nodes, sizeof *label);
    for (int k = 0; k < BOXES; k++)
        for (int32_t y = boxes[k].first_y; y < boxes[k].end_y; y++)
            for (int32_t x = boxes[k].first_x; x < boxes[k].end_x; x++)
                label[example.superpixels
                          .labels[working_coordinate(y, 50, example.superpixels.height) * example.superpixels.width +
                                  working_coordinate(x, 70, example.superpixels.width)]] = CLV_UNKNOWN;
    for (int32_t i = 0; i < features.n_nodes; i++) {
        double plain[65];
        plain_features(plain, &example, boxes, BOXES, i);
        for (int64_t k = features.row[i]; k < features.row[i + 1]; k++) {
            ck_assert_double_eq_tol((double)features.value[k], plain[features.index[k]], 1e-5);
            plain[features.index[k]] = 0;
        }
        for (int c = 0; c < 65; c++)
            ck_assert_double_eq_tol(plain[c], 0, 1e-5);
        ck_assert_int_eq(example.label[i], label[i]);
        n_unknown += label[i] == CLV_UNKNOWN;
    }
    ck_assert(n_unknown > 5 && n_unknown < features.n_nodes);
}

TEST(no_box_at_all_is_no_object_and_nothing_known_is_nothing_said)
{
    static const struct clv_pixel_box none[1];
    OWNED(dataset_drop) struct clv_dataset *dataset = NULL, *privileged = NULL;
    extract(&dataset, &privileged, none, 0);
    struct clv_problem p = clv_dataset_problem(dataset, 0), features = clv_dataset_problem(privileged, 0);
    for (int32_t i = 0; i < p.n_nodes; i++) {
        ck_assert_int_eq(p.label[i], 0);
        ck_assert_int_eq((int)(features.row[i + 1] - features.row[i]), 1);
        ck_assert_int_eq(features.index[features.row[i]], 64);
    }
    clv_dataset_free(dataset);
    clv_dataset_free(privileged);
    extract(&dataset, &privileged, NULL, 0);
    p = clv_dataset_problem(dataset, 0);
    features = clv_dataset_problem(privileged, 0);
    ck_assert_ptr_null(p.label);
    ck_assert_ptr_null(features.theta);
    ck_assert_int_eq((int)features.row[features.n_nodes], 0);
}
