/* Colour moments against the definition, and tagged images as examples. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feature/small_set.h"
#include "tags/tags.h"

static void fill(struct clv_image *image, int32_t x0, int32_t x1, int32_t y0, int32_t y1, const uint8_t rgb[3])
{
    for (int32_t y = y0; y < y1; y++)
        for (int32_t x = x0; x < x1; x++)
            memcpy(image->pixels + ((size_t)y * (size_t)image->width + (size_t)x) * 3, rgb, 3);
}

TEST(moments_of_plain_cells_are_their_colours)
{
    /* L*u*v* of sRGB red is (53.24, 175.01, 37.76), of white (100, 0, 0), of black 0. */
    const uint8_t red[] = {255, 0, 0}, white[] = {255, 255, 255};
    double moments[CLV_MOMENTS];
    OWNED(clv_image_release) struct clv_image image = {0};
    must(clv_image_new(&image, 70, 35, 3, err));
    fill(&image, 10, 20, 5, 10, red);    /* cell 1 of row 1 */
    fill(&image, 60, 65, 30, 35, white); /* half of the last cell, the other half black */
    clv_colour_moments(moments, &image);
    const double *cell = moments + (7 + 1) * 6, *last = moments + 48 * 6;
    ck_assert_double_eq_tol(cell[0], 53.24, 0.01);
    ck_assert_double_eq_tol(cell[1], 175.01, 0.05);
    ck_assert_double_eq_tol(cell[2], 37.76, 0.05);
    for (int c = 3; c < 6; c++)
        ck_assert_double_eq_tol(cell[c], 0, 1e-9);
    ck_assert_double_eq_tol(last[0], 50, 0.01);
    ck_assert_double_eq_tol(last[3], 2500, 1); /* halves of 0 and 100 */
    for (int i = 0; i < 6; i++)
        ck_assert_double_eq_tol(moments[i], 0, 1e-9);           /* black */
    fill(&image, 10, 20, 5, 10, (const uint8_t[]){10, 10, 10}); /* L* is 903.3 Y in the dark, Y = 10 / 255 / 12.92 */
    clv_colour_moments(moments, &image);
    ck_assert_double_eq_tol(cell[0], 24389.0 / 27 * 10 / 255 / 12.92, 1e-4);
}

/* What rounding left was divided by the largest of its kind, and became a feature like any other. */
TEST(cells_of_one_colour_have_no_variance_at_all)
{
    double moments[CLV_MOMENTS];
    OWNED(clv_image_release) struct clv_image image = {0};
    must(clv_image_new(&image, 40, 30, 3, err));
    for (int value = 5; value < 256; value += 25) {
        fill(&image, 0, 40, 0, 30, (const uint8_t[]){(uint8_t)value, (uint8_t)(255 - value), 87});
        clv_colour_moments(moments, &image);
        for (int i = 0; i < CLV_MOMENTS; i++)
            ck_assert_msg(i % 6 < 3 || moments[i] == 0, "value %d, moment %d: %g", value, i, moments[i]);
    }
}

TEST(images_smaller_than_the_cells_have_moments)
{
    double moments[CLV_MOMENTS];
    OWNED(clv_image_release) struct clv_image image = {0};
    must(clv_image_new(&image, 2, 1, 3, err));
    memset(image.pixels, 200, 6);
    clv_colour_moments(moments, &image);
    for (int cell = 0; cell < 49; cell++)
        ck_assert(fabs(moments[cell * 6] - moments[0]) < 1e-9 && moments[cell * 6] > 50);
}

/* A set of 6 plain images; row i of the manifest has tags[i]. */
static const char *make_set(const char *const tags[6])
{
    char manifest[512] = "image\ttags\n";
    for (int i = 0; i < 6; i++) {
        OWNED(clv_image_release) struct clv_image image = {0};
        must(clv_image_new(&image, 30, 24, 3, err));
        memset(image.pixels, 40 * i, 30 * 24 * 3);
        for (int k = 0; i >= 3 && k < 30 * 24 * 3; k++) /* the last three have a texture */
            image.pixels[k] = (uint8_t)(image.pixels[k] + k * k / 7 % 41);
        must(clv_png_write(here("%d.png", i), &image, err));
        sprintf(manifest + strlen(manifest), "%d.png\t%s\n", i, tags[i]);
    }
    const char *path = here("manifest.tsv");
    spill(path, manifest, strlen(manifest));
    return path;
}

TEST(tags_are_collected_sorted_and_known_ones_kept)
{
    const char *const lines[6] = {"sea, beach", "sea", "", " urban ,sea", "beach", ""};
    OWNED(clv_set_release) struct clv_set set = {0};
    OWNED(clv_tag_set_release) struct clv_tag_set tags = {0};
    struct clv_recipe recipe;
    clv_recipe_init(&recipe);
    recipe.blocks = 0;
    must(clv_set_read(&set, make_set(lines), err));
    must(clv_image_tags_extract(&tags, &set, &recipe, &(struct clv_image_tag_options){.n_threads = 2}, err));
    ck_assert(tags.n == 6 && tags.n_tags == 3 && tags.n_features == CLV_MOMENTS);
    ck_assert_str_eq(tags.names[0], "beach");
    ck_assert_str_eq(tags.names[2], "urban");
    const uint8_t expected[] = {1, 1, 0, /**/ 0, 1, 0, /**/ 0, 0, 0, /**/ 0, 1, 1, /**/ 1, 0, 0, /**/ 0, 0, 0};
    ck_assert_mem_eq(tags.tags, expected, sizeof expected);
    ck_assert(tags.row[1] == 0 && tags.row[2] > 0); /* the first image is black: nothing but zeros */
    clv_tag_set_release(&tags);
    const char *const known[] = {"urban", "sea"};
    must_fail(CLV_ERR_DATA, "0.png: tag \"beach\" is not one of the model's 2",
              clv_image_tags_extract(&tags, &set, &recipe,
                                     &(struct clv_image_tag_options){.names = known, .n_names = 2, .n_threads = 1},
                                     err));
    clv_set_release(&set);
    const char *const none[6] = {"", "", "", "", "", ""};
    must(clv_set_read(&set, make_set(none), err));
    must_fail(CLV_ERR_DATA, "none of the 6 images has tags",
              clv_image_tags_extract(&tags, &set, &recipe, &(struct clv_image_tag_options){.n_threads = 1}, err));
    must(clv_image_tags_extract(&tags, &set, &recipe,
                                &(struct clv_image_tag_options){.names = known, .n_names = 2, .n_threads = 1},
                                err)); /* to be predicted */
    ck_assert(tags.n_tags == 2 && !tags.tags[0]);
}

TEST(words_are_roots_of_shares)
{
    const char *const lines[6] = {"sea", "sea", "", "", "sea", ""};
    OWNED(clv_set_release) struct clv_set set = {0};
    OWNED(clv_tag_set_release) struct clv_tag_set tags = {0};
    OWNED(clv_recipe_release) struct clv_recipe recipe = {0};
    clv_recipe_init(&recipe);
    recipe.blocks = CLV_BLOCK_WORDS;
    give_random_words(&recipe, 10);
    must(clv_set_read(&set, make_set(lines), err));
    must(clv_image_tags_extract(&tags, &set, &recipe, &(struct clv_image_tag_options){.n_threads = 1}, err));
    for (size_t l = 0; l < tags.n; l++) {
        double squares = 0;
        for (int64_t k = tags.row[l]; k < tags.row[l + 1]; k++)
            squares += tags.index[k] >= CLV_MOMENTS ? tags.value[k] * tags.value[k] : 0;
        ck_assert_double_eq_tol(squares, recipe.n_scales, 1e-9); /* the shares of each scale add up to 1 */
    }
}
