/* SLIC: its partition whatever the image, its options, its quality on real images. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vl/slic.h>

#include "superpixel/partition.h"

TEST(every_superpixel_is_one_piece_and_numbered_by_first_pixel)
{
    static const int32_t sizes[][2] = {{1, 1}, {1, 50}, {50, 1}, {2, 3}, {7, 200}, {8, 8}, {97, 61}, {160, 120}};
    static const int32_t wanted[] = {1, 2, 9, 100, 1000, INT32_MAX};
    static const float compactness[] = {1e-6F, 1, 10, 1e30F};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int noise = 0; noise <= 255; noise += 85) {
            struct clv_image image = draw_image(sizes[s][0], sizes[s][1], noise);
            for (size_t i = 0; i < 6; i++)
                for (size_t m = 0; m < 4; m++) {
                    struct clv_slic_options options = {wanted[i], compactness[m], 3};
                    OWNED(clv_superpixels_release) struct clv_superpixels superpixels = {0};
                    must(clv_slic(&superpixels, &image, &options, err));
                    check_partition(&superpixels, image.width, image.height);
                    ck_assert_int_le(superpixels.n, wanted[i]);
                }
            free(image.pixels);
        }
}

TEST(a_long_narrow_image_is_shared_out_along_its_length)
{
    for (int tall = 0; tall < 2; tall++) {
        struct clv_image image = draw_image(tall ? 2 : 3000, tall ? 3000 : 2, 0);
        struct clv_slic_options options = {50, 10, 10};
        OWNED(clv_superpixels_release) struct clv_superpixels superpixels = {0};
        must(clv_slic(&superpixels, &image, &options, err));
        check_partition(&superpixels, image.width, image.height);
        ck_assert_int_eq(superpixels.n, 50);
        free(image.pixels);
    }
}

TEST(a_flat_image_falls_into_the_wanted_number_of_like_sizes)
{
    struct clv_image image = {203, 151, 3, calloc(203 * 151, 3)};
    static const int32_t wanted[] = {1, 2, 3, 7, 50, 200, 601};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        struct clv_slic_options options = {wanted[i], 10, 10};
        OWNED(clv_superpixels_release) struct clv_superpixels superpixels = {0};
        must(clv_slic(&superpixels, &image, &options, err));
        check_partition(&superpixels, 203, 151);
        ck_assert_int_eq(superpixels.n, wanted[i]);
        OWNED_ARRAY int32_t *size = calloc((size_t)superpixels.n, sizeof *size);
        int32_t mean = 203 * 151 / superpixels.n;
        for (int32_t p = 0; p < 203 * 151; p++)
            size[superpixels.labels[p]]++;
        for (int32_t k = 0; k < superpixels.n; k++) {
            ck_assert_int_ge(2 * size[k], mean);
            ck_assert_int_le(size[k], 2 * mean);
        }
    }
    free(image.pixels);
}

TEST(two_colours_are_separated_at_their_border)
{
    struct clv_image image = {120, 90, 3, calloc(120 * 90, 3)};
    OWNED_ARRAY uint8_t *truth = calloc(120 * 90, 1);
    for (int32_t p = 0; p < 120 * 90; p++)
        if (p % 120 + 2 * (p / 120) > 140) {
            truth[p] = 1;
            image.pixels[3 * p] = 220;
        }
    OWNED(clv_superpixels_release) struct clv_superpixels superpixels = {0};
    struct clv_slic_options options = {60, 10, 10};
    must(clv_slic(&superpixels, &image, &options, err));
    double accuracy, recall;
    must(clv_achievable_accuracy(&accuracy, &superpixels, truth, -1, err));
    must(clv_boundary_recall(&recall, &superpixels, truth, 0, err));
    ck_assert_double_eq(accuracy, 1);
    ck_assert_double_eq(recall, 1);
    free(image.pixels);
}

TEST(a_recipe_begins_with_the_defaults_of_slic)
{
    struct clv_recipe recipe;
    struct clv_slic_options slic;
    memset(&recipe, 0xAA, sizeof recipe);
    memset(&slic, 0xAA, sizeof slic);
    clv_recipe_init(&recipe);
    clv_slic_defaults(&slic);
    ck_assert_mem_eq(&recipe.slic, &slic, sizeof slic);
    ck_assert(slic.n_superpixels == 600 && slic.compactness == 10 && slic.n_iterations == 10);
}

TEST(the_same_image_gives_the_same_superpixels)
{
    struct clv_image image = draw_image(161, 119, 60);
    OWNED(clv_superpixels_release) struct clv_superpixels first = {0}, second = {0}, defaults = {0}, spelt_out = {0};
    struct clv_slic_options options = {150, 7, 10}, standard = {600, 10, 10};
    must(clv_slic(&first, &image, &options, err));
    must(clv_slic(&defaults, &image, NULL, err));
    must(clv_slic(&spelt_out, &image, &standard, err));
    must(clv_slic(&second, &image, &options, err));
    ck_assert_int_eq(first.n, second.n);
    ck_assert_mem_eq(first.labels, second.labels, 161 * 119 * sizeof *first.labels);
    ck_assert_int_eq(defaults.n, spelt_out.n);
    ck_assert_mem_eq(defaults.labels, spelt_out.labels, 161 * 119 * sizeof *defaults.labels);
    free(image.pixels);
}

TEST(bad_options_are_named)
{
    struct clv_image image = draw_image(10, 10, 0);
    struct clv_superpixels superpixels = {0};
    struct clv_slic_options options = {0, 10, 10};
    must_fail(CLV_ERR_USAGE, "wanted is 0", clv_slic(&superpixels, &image, &options, err));
    options.n_superpixels = -5;
    must_fail(CLV_ERR_USAGE, "wanted is -5", clv_slic(&superpixels, &image, &options, err));
    options = (struct clv_slic_options){5, NAN, 10};
    must_fail(CLV_ERR_USAGE, "compactness is nan", clv_slic(&superpixels, &image, &options, err));
    options.compactness = 0;
    must_fail(CLV_ERR_USAGE, "compactness is 0", clv_slic(&superpixels, &image, &options, err));
    options.compactness = -2.5F;
    must_fail(CLV_ERR_USAGE, "compactness is -2.5", clv_slic(&superpixels, &image, &options, err));
    options.compactness = INFINITY;
    must_fail(CLV_ERR_USAGE, "compactness is inf", clv_slic(&superpixels, &image, &options, err));
    options = (struct clv_slic_options){5, 10, 0};
    must_fail(CLV_ERR_USAGE, "iterations is 0", clv_slic(&superpixels, &image, &options, err));
    options.n_iterations = 101;
    must_fail(CLV_ERR_USAGE, "iterations is 101", clv_slic(&superpixels, &image, &options, err));
    image.channels = 1;
    must_fail(CLV_ERR_USAGE, "1 channel", clv_slic(&superpixels, &image, NULL, err));
    image.channels = 3;
    image.width = 0;
    must_fail(CLV_ERR_USAGE, "0x10", clv_slic(&superpixels, &image, NULL, err));
    image.width = image.height = 65535;
    must_fail(CLV_ERR_USAGE, "65535x65535", clv_slic(&superpixels, &image, NULL, err));
    ck_assert_ptr_null(superpixels.labels);
    free(image.pixels);
}

struct quality {
    double accuracy, recall, count;
};

static void judge(struct quality *sum, const struct clv_superpixels *superpixels, const uint8_t *truth)
{
    double accuracy, recall;
    must(clv_achievable_accuracy(&accuracy, superpixels, truth, -1, err));
    must(clv_boundary_recall(&recall, superpixels, truth, 2, err));
    sum->accuracy += accuracy;
    sum->recall += recall;
    sum->count += superpixels->n;
}

/* VLFeat's, its labels made compact but left in pieces where they are. */
static struct clv_superpixels vlfeat_slic(const struct clv_image *image, int32_t wanted, float m)
{
    size_t n_pixels = (size_t)image->width * (size_t)image->height;
    int size = (int)lround(sqrt((double)n_pixels / wanted));
    OWNED_ARRAY float *lab = malloc(3 * n_pixels * sizeof *lab), *planes = malloc(3 * n_pixels * sizeof *planes);
    clv_rgb_to_lab(lab, image->pixels, n_pixels);
    for (size_t i = 0; i < 3 * n_pixels; i++)
        planes[i % 3 * n_pixels + i / 3] = lab[i];
    struct clv_superpixels superpixels = {image->width, image->height, 0, malloc(n_pixels * sizeof(int32_t))};
    vl_slic_segment((vl_uint32 *)superpixels.labels, planes, (vl_size)image->width, (vl_size)image->height, 3,
                    (vl_size)size, m * m, (vl_size)(size * size / 4));
    OWNED_ARRAY int32_t *number = malloc(n_pixels * sizeof *number);
    memset(number, 0xff, n_pixels * sizeof *number);
    for (size_t i = 0; i < n_pixels; i++) {
        int32_t label = superpixels.labels[i];
        ck_assert(label >= 0 && (size_t)label < n_pixels);
        if (number[label] < 0)
            number[label] = superpixels.n++;
        superpixels.labels[i] = number[label];
    }
    return superpixels;
}

TEST(real_horses_keep_their_outlines)
{
    const char *manifest = real_data("real_horses_keep_their_outlines", "horses/manifest.tsv");
    if (!manifest)
        return;
    OWNED_ARRAY char *folder = strdup(manifest);
    char line[4096];
    *strrchr(folder, '/') = 0;
    FILE *stream = fopen(manifest, "r");
    struct quality ours = {0}, vlfeat = {0};
    const struct clv_slic_options options = {600, 12, 10}; /* of the best recall: tools/reproduce/README.md */
    int n = 0;
    while (n < 30 && fgets(line, sizeof line, stream)) {
        char name[1024], mask_name[1024];
        if (sscanf(line, "%1023[^\t]%*1[\t]%1023[^\t\n]", name, mask_name) != 2 || strcmp(name, "image") == 0)
            continue;
        OWNED(clv_image_release) struct clv_image image = {0};
        OWNED(clv_indexed_image_release) struct clv_indexed_image mask = {0};
        must(clv_image_read(&image, formatted("%s/%s", folder, name), NULL, err));
        must(clv_indexed_image_read(&mask, formatted("%s/%s", folder, mask_name), NULL, err));
        struct clv_superpixels superpixels = {0};
        must(clv_slic(&superpixels, &image, &options, err));
        check_partition(&superpixels, image.width, image.height);
        judge(&ours, &superpixels, mask.values);
        clv_superpixels_release(&superpixels);
        superpixels = vlfeat_slic(&image, 600, 15);
        judge(&vlfeat, &superpixels, mask.values);
        free(superpixels.labels);
        n++;
    }
    fclose(stream);
    ck_assert_int_eq(n, 30);
    ck_assert_double_ge(ours.count / n, 570);
    ck_assert_double_le(ours.count / n, 600);
    ck_assert_double_ge(ours.accuracy / n, 0.981);
    ck_assert_double_ge(ours.recall / n, 0.94);
    ck_assert_double_ge(ours.accuracy / n, vlfeat.accuracy / n - 0.0005);
    ck_assert_double_ge(ours.recall / n, vlfeat.recall / n - 0.002);
}
