#include "refine/near_colours.h"
#include "support/support.h"

TEST(places_cover_an_image_and_none_is_left_over)
{
    static const int32_t sizes[][2] = {{1, 1}, {8, 8}, {9, 16}, {90, 61}, {640, 426}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        int32_t width = sizes[k][0], height = sizes[k][1];
        struct clv_image image = {0};
        struct near_colours places;
        must(clv_image_new(&image, width, height, 3, err));
        must(near_colours_init(&places, &image, err));
        ck_assert_int_eq(places.column_of[0], 0);
        ck_assert_int_eq(places.row_of[0], 0);
        ck_assert_int_eq(places.column_of[width - 1], places.n_columns - 1);
        ck_assert_int_eq(places.row_of[height - 1], places.n_rows - 1);
        for (int32_t x = 1; x < width; x++)
            ck_assert_int_le(places.column_of[x] - places.column_of[x - 1], 1);
        for (int32_t y = 1; y < height; y++)
            ck_assert_int_le(places.row_of[y] - places.row_of[y - 1], 1);
        ck_assert_uint_eq(places.n_cells, (size_t)places.n_columns * (size_t)places.n_rows * NEAR_COLOURS_ALL);
        near_colours_release(&places);
        clv_image_release(&image);
    }
}
