/* Regions are made finer where masks show that they must be, and nowhere else. */
#include "cleave/train.h"
#include "train/train.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "support/support.h"

/* A set of images whose mask is stripes of `width` pixels, as the image is. */
static const char *write_stripes(int width, int n_labels, struct clv_set *set)
{
    enum { SIDE = 300 };
    char path[600];
    snprintf(path, sizeof path, "%s/%d", temporary_folder(), width);
    ck_assert_int_eq(mkdir(path, 0777), 0);
    for (int k = 0; k < 2; k++) {
        snprintf(path, sizeof path, "%s/%d/%s", temporary_folder(), width, k ? "masks" : "images");
        ck_assert_int_eq(mkdir(path, 0777), 0);
        OWNED(clv_image_release) struct clv_image image = {0};
        must(clv_image_new(&image, SIDE, SIDE, k ? 1 : 3, err));
        for (int i = 0; i < SIDE * SIDE; i++)
            memset(image.pixels + (k ? 1 : 3) * i, (i % SIDE / width % n_labels) * (k ? 1 : 100), k ? 1 : 3);
        snprintf(path + strlen(path), 10, "/a.png");
        must(clv_png_write(path, &image, err));
    }
    snprintf(path, sizeof path, "%s/%d", temporary_folder(), width);
    snprintf(path + strlen(path), 20, "/labels.tsv");
    if (n_labels > 2)
        spill(path, "value\tname\n0\ta\n1\tb\n2\tc\n", 23);
    *strrchr(path, '/') = 0;
    must(clv_set_read(set, path, err));
    return here("%d", width);
}

TEST(stripes_of_a_pixel_need_finer_regions_and_wide_ones_do_not)
{
    for (int width = 2; width <= 50; width += 48) {
        OWNED(clv_set_release) struct clv_set set = {0};
        write_stripes(width, 2, &set);
        struct clv_train_options options;
        clv_train_defaults(&options, clv_learner_find("ssvm"));
        struct clv_recipe usual, recipe = options.recipe;
        clv_recipe_init(&usual);
        must(train_scale_choose(&recipe, &set, &options, err));
        ck_assert_int_eq(recipe.slic.n_superpixels, width == 2 ? 8000 : usual.slic.n_superpixels);
        ck_assert_int_eq(recipe.working_pixels, width == 2 ? 1048576 : usual.working_pixels);
        recipe = options.recipe;
        recipe.slic.n_superpixels = 500; /* somebody's choice */
        must(train_scale_choose(&recipe, &set, &options, err));
        ck_assert_int_eq(recipe.slic.n_superpixels, 500);
    }
}

TEST(where_regions_are_finer_errors_in_several_labels_count_by_pixels)
{
    OWNED(clv_set_release) struct clv_set set = {0};
    struct clv_train_options options;
    clv_train_defaults(&options, clv_learner_find("ssvm"));
    char path[600];
    snprintf(path, sizeof path, "%s", write_stripes(3, 3, &set));
    options.data = path;
    options.recipe.blocks = CLV_BLOCK_COLOUR;
    for (int given = 0; given < 2; given++) {
        OWNED(train_data_release) struct train_data data = {0};
        options.loss = given ? CLV_LOSS_BALANCED : CLV_AUTO;
        must(train_data_load(&data, &options, NULL, err));
        ck_assert_int_eq(data.recipe.slic.n_superpixels, 8000);
        ck_assert_int_eq(data.counts_pixels, !given);
        ck_assert_double_eq(data.label_weights, given ? 0 : .3);
    }
}
