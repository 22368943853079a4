/* Programs that were built with an older header have shorter structs of options: nothing behind them is written or
 * read, and what they do not know has its default. Images and masks in memory are what is learned from. */
#include <stddef.h>
#include <stdlib.h>

#include "cleave.h"
#include "cleave/train.h"
#include "support/support.h"

enum { SIDE = 64, N_IMAGES = 6 };

/* As much memory as the program's struct has: a checker sees what goes further. */
static void *short_options(size_t size)
{
    void *options = malloc(size);
    ck_assert_ptr_nonnull(options);
    memset(options, 0xAA, size);
    return options;
}

/* A light disc on dark background, and its mask. */
static void draw_disc(struct clv_image *image, uint8_t *mask, int number)
{
    struct clv_error error;
    ck_assert_int_eq(clv_image_new(image, SIDE, SIDE, 3, &error), CLV_OK);
    for (int p = 0; p < SIDE * SIDE; p++) {
        int x = p % SIDE - SIDE / 2 + 3 * number - 9, y = p / SIDE - SIDE / 2;
        mask[p] = x * x + y * y < 18 * 18;
        for (int c = 0; c < 3; c++)
            image->pixels[3 * p + c] = (uint8_t)((mask[p] ? 190 : 60) + (p * 7 + c * 5 + number) % 23);
    }
}

TEST(shorter_options_refine_and_cut_as_the_defaults_do)
{
    struct clv_error error;
    OWNED(clv_image_release) struct clv_image image = {0};
    uint8_t mask[SIDE * SIDE], labels[2][SIDE * SIDE];
    const struct clv_box box = {.x = 8, .y = 10, .width = 46, .height = 44};
    draw_disc(&image, mask, 3);
    for (int is_short = 0; is_short < 2; is_short++) {
        size_t size = is_short ? offsetof(struct clv_refine_options, rounds) : sizeof(struct clv_refine_options);
        OWNED_ARRAY struct clv_refine_options *options = short_options(size);
        clv_refine_defaults_sized(options, size);
        ck_assert_uint_eq(options->size, size);
        memcpy(labels[is_short], mask, sizeof mask);
        memset(&labels[is_short][20 * SIDE + 20], 0, 6);
        ck_assert_int_eq(clv_refine(labels[is_short], &image, NULL, NULL, options, &error), CLV_OK);
    }
    ck_assert_mem_eq(labels[0], labels[1], sizeof mask);
    for (int is_short = 0; is_short < 2; is_short++) {
        size_t size =
            is_short ? offsetof(struct clv_box_cut_options, refine_coupling) : sizeof(struct clv_box_cut_options);
        OWNED_ARRAY struct clv_box_cut_options *options = short_options(size);
        clv_box_cut_defaults_sized(options, size);
        ck_assert_int_eq(clv_box_cut(labels[is_short], NULL, &image, &box, options, &error), CLV_OK);
    }
    ck_assert_mem_eq(labels[0], labels[1], sizeof mask);
}

TEST(shorter_options_train_on_images_in_memory_and_segment_as_the_defaults_do)
{
    struct clv_error error;
    struct clv_image images[N_IMAGES] = {{0}};
    static uint8_t values[N_IMAGES][SIDE * SIDE], labels[3][SIDE * SIDE];
    struct clv_mask masks[N_IMAGES];
    for (int k = 0; k < N_IMAGES; k++) {
        draw_disc(&images[k], values[k], k);
        masks[k] = (struct clv_mask){.width = SIDE, .height = SIDE, .labels = values[k]};
    }
    for (int is_short = 0; is_short < 2; is_short++) {
        OWNED(clv_model_release) struct clv_model model = {0};
        size_t size = is_short ? offsetof(struct clv_train_options, check) : sizeof(struct clv_train_options);
        OWNED_ARRAY struct clv_train_options *options = short_options(size);
        clv_train_defaults_sized(options, size, clv_learner_find("ssvm"));
        options->images = images;
        options->masks = masks;
        options->n_images = N_IMAGES;
        ck_assert_msg(clv_train_set(&model, options, &error) == CLV_OK, "%s", error.message);
        size = is_short ? offsetof(struct clv_segment_options, oracle) : sizeof(struct clv_segment_options);
        OWNED_ARRAY struct clv_segment_options *how = short_options(size);
        clv_segment_defaults_sized(how, size);
        ck_assert_int_eq(clv_segment(labels[is_short], &model, &images[0], how, &error), CLV_OK);
        ck_assert_int_eq(clv_segment(labels[2], &model, &images[0], NULL, &error), CLV_OK);
        ck_assert_mem_eq(labels[is_short], labels[2], sizeof labels[2]);
    }
    ck_assert_mem_eq(labels[0], labels[1], sizeof labels[0]);
    int n_right = 0;
    for (int p = 0; p < SIDE * SIDE; p++)
        n_right += labels[0][p] == values[0][p];
    ck_assert_int_gt(n_right, SIDE * SIDE * 95 / 100);
    for (int k = 0; k < N_IMAGES; k++)
        clv_image_release(&images[k]);
}

TEST(a_training_without_a_learner_is_refused)
{
    struct clv_error error;
    struct clv_model model = {0};
    struct clv_train_options options = {.data = "nowhere"};
    ck_assert_int_eq(clv_train_set(&model, &options, &error), CLV_ERR_USAGE);
    ck_assert_str_eq(error.message, "training: no learner is given");
}
