/* What 0, 255 and one other value mean in masks that have to agree. */
#include "data/data.h"
#include "support/support.h"

static const char *const names[] = {"a", "b", "c"};

/* Masks of 4x1 pixels; `made` is {0} before and where they are not binary. */
static enum clv_status read_three(struct clv_mask made[3], bool *are_binary, const uint8_t values[3][4],
                                  struct clv_error *err)
{
    struct clv_mask masks[3];
    for (int i = 0; i < 3; i++)
        masks[i] = (struct clv_mask){.width = 4, .height = 1, .labels = (uint8_t *)values[i]};
    return clv_masks_from_values(made, are_binary, masks, names, 3, "help", err);
}

static void expect_binary(bool expected, const uint8_t values[3][4], const uint8_t labels[3][4])
{
    struct clv_mask made[3] = {{0}};
    bool are_binary = !expected;
    must(read_three(made, &are_binary, values, err));
    ck_assert(are_binary == expected);
    for (int i = 0; i < 3; i++) {
        ck_assert(!made[i].labels == !expected);
        if (expected)
            ck_assert_mem_eq(made[i].labels, labels[i], 4);
        clv_mask_release(&made[i]);
    }
}

TEST(foregrounds_of_one_value_are_label_1_and_values_are_labels_else)
{
    static const uint8_t foregrounds[3][4] = {{0, 1, 1, 0}, {0, 1, 0, 0}, {0, 0, 0, 1}};
    expect_binary(true, (uint8_t[3][4]){{0, 255, 255, 0}, {0, 255, 0, 0}, {0, 0, 0, 255}}, foregrounds);
    expect_binary(true, (uint8_t[3][4]){{0, 7, 7, 0}, {0, 7, 0, 0}, {0, 0, 0, 7}}, foregrounds);
    expect_binary(true, (uint8_t[3][4]){{0, 1, 255, 0}, {0, 1, 0, 0}, {0, 0, 0, 0}},
                  (uint8_t[3][4]){{0, 1, 255, 0}, {0, 1, 0, 0}, {0, 0, 0, 0}});
    expect_binary(false, (uint8_t[3][4]){{0, 7, 7, 0}, {0, 8, 0, 0}, {0, 0, 0, 0}}, NULL);
    expect_binary(false, (uint8_t[3][4]){{0, 1, 2, 0}, {255, 255, 255, 255}, {0, 1, 0, 0}}, NULL);
}

TEST(a_255_that_nobody_can_tell_is_refused)
{
    static const uint8_t ambiguous[][3][4] = {
        {{0, 1, 1, 0}, {0, 0, 0, 0}, {255, 255, 255, 255}},
        {{255, 255, 255, 255}, {0, 0, 0, 0}, {0, 1, 1, 0}},
        {{0, 1, 255, 0}, {0, 0, 0, 0}, {0, 255, 255, 0}},
        {{0, 255, 255, 0}, {0, 0, 0, 0}, {0, 1, 255, 0}},
    };
    for (size_t i = 0; i < sizeof ambiguous / sizeof *ambiguous; i++) {
        struct clv_mask made[3] = {{0}};
        bool are_binary = true;
        must_fail(CLV_ERR_DATA, "c: beside a, 255 may be foreground or void: help",
                  read_three(made, &are_binary, ambiguous[i], err));
        for (int k = 0; k < 3; k++)
            ck_assert_ptr_null(made[k].labels);
        ck_assert(are_binary);
    }
}

TEST(white_beside_another_value_is_a_second_label)
{
    static const uint8_t both[2][3][4] = {{{0, 7, 7, 0}, {0, 0, 0, 0}, {0, 255, 255, 0}},
                                          {{0, 255, 255, 0}, {0, 0, 0, 0}, {0, 7, 7, 0}}};
    static const char *const why[2] = {"c: holds 0 and 255, but a 0 and 7: help",
                                       "c: holds 0 and 7, but a 0 and 255: help"};
    for (int i = 0; i < 2; i++) {
        struct clv_mask made[3] = {{0}};
        bool are_binary = true;
        must_fail(CLV_ERR_DATA, why[i], read_three(made, &are_binary, both[i], err));
        ck_assert_ptr_null(made[0].labels);
    }
}

TEST(values_of_which_most_labels_occur_nowhere_are_listed)
{
    uint8_t few[4] = {0, 15, 255, 0}, many[12] = {0, 30, 60, 90, 120, 150, 180, 210, 240, 1, 1, 1},
            dense[4] = {0, 1, 3, 3};
    const struct clv_mask sparse[] = {{2, 2, few, NULL}, {2, 2, few, NULL}}, all = {4, 3, many, NULL},
                          close = {2, 2, dense, NULL};
    struct clv_mask made[2] = {{0}};
    bool are_binary = true;
    must_fail(
        CLV_ERR_DATA,
        "the masks hold 0 and 15, and 255, which is void: 16 labels, of which 14 occur nowhere; number the 2 values "
        "in their order, from 0 to 1, or name all labels",
        clv_masks_from_values(made, &are_binary, sparse, names, 2, NULL, err));
    must_fail(CLV_ERR_DATA, "the masks hold 0, 1, 30, 60, 90, 120, 150, 180 ..: 241 labels",
              clv_masks_from_values(made, &are_binary, &all, names, 1, NULL, err));
    must(clv_masks_from_values(made, &are_binary, &close, names, 1, NULL, err));
    ck_assert(!are_binary);
    must(clv_masks_from_values(made, &are_binary, sparse, names, 2, "to be scored", err));
    ck_assert(!are_binary && !made[0].labels);
}

TEST(foregrounds_of_two_colours_are_two_labels)
{
    struct foregrounds all = {0};
    const struct foreground red = {.colour = 0x1ff0000, .has_background = true},
                            green = {.colour = 0x100ff00, .has_background = true};
    const struct foreground white = {.is_white = true, .has_background = true}, none = {.has_background = true};
    must(foregrounds_agree(&all, &none, "a", err));
    must(foregrounds_agree(&all, &red, "b", err));
    must(foregrounds_agree(&all, &red, "c", err));
    must_fail(CLV_ERR_DATA, "d: holds black and 0,255,0, but b black and 255,0,0: these are two labels",
              foregrounds_agree(&all, &green, "d", err));
    must_fail(CLV_ERR_DATA, "e: holds black and 255,255,255, but b black and 255,0,0: these are two labels",
              foregrounds_agree(&all, &white, "e", err));
}
