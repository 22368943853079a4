#include <math.h>
#include <string.h>

#include "base/base.h"
#include "object/object.h"
#include "support/support.h"

static const char *path_of(const char *name)
{
    return here("%s", name);
}

TEST(connected_pieces_of_each_label_are_objects_in_the_order_of_their_first_pixels)
{
    static const uint8_t labels[5 * 6] = {1,   0,   1, 2, 2, 0, /* */
                                          1,   1,   1, 2, 0, 1, /* */
                                          0,   0,   0, 0, 1, 0, /* touches the one above by a corner only */
                                          255, 255, 0, 0, 1, 1, /* */
                                          0,   0,   3, 0, 0, 0};
    static const int32_t objects[5 * 6] = {1, 0, 1, 2, 2, 0, 1, 1, 1, 2, 0, 3, 0, 0, 0,
                                           0, 4, 0, 0, 0, 0, 0, 4, 4, 0, 0, 5, 0, 0, 0};
    OWNED(clv_object_map_release) struct clv_object_map map = {0};
    must(clv_object_map_from_labels(&map, labels, 6, 5, NULL, err));
    ck_assert_int_eq(map.n_objects, 5);
    ck_assert_mem_eq(map.objects, objects, sizeof objects);
    ck_assert_mem_eq(map.labels, "\1\2\1\1\3", 5);
    must(clv_object_map_filter(&map, 2, false, err)); /* the third and fifth have one pixel */
    ck_assert_int_eq(map.n_objects, 3);
    ck_assert_mem_eq(map.labels, "\1\2\1", 3);
    ck_assert_int_eq(map.objects[16], 3);
    ck_assert_int_eq(map.objects[11], 0);
    must(clv_object_map_filter(&map, 0, true, err)); /* all others touch the border */
    ck_assert_int_eq(map.n_objects, 0);
}

TEST(an_object_is_read_as_one_in_however_many_pieces)
{
    static const int32_t scattered[8] = {700, 0, 700, 5, 5, 5, 0, 65535}, numbered[8] = {2, 0, 2, 1, 1, 1, 0, 3};
    struct clv_object_map map = {.width = 4, .height = 2, .n_objects = 3, .objects = (int32_t *)scattered}, read = {0};
    bool is_tiff = true;
    must(clv_object_map_write(&is_tiff, path_of("a.png"), &map, err));
    ck_assert(!is_tiff);
    must(clv_object_map_read(&read, path_of("a.png"), 4, 2, NULL, err));
    ck_assert_int_eq(read.n_objects, 3);
    ck_assert_mem_eq(read.objects, numbered, sizeof numbered);
    must(object_map_set_labels(&read, (const uint8_t *)"\2\0\1\0\4\4\0\xff", err));
    ck_assert_mem_eq(read.labels, "\4\1\xff", 3); /* 5: twice 4; 700: 2 and 1, the smaller one; all void */
    clv_object_map_release(&read);
    must_fail(CLV_ERR_DATA, "a.png: the objects are 4x2, image is 5x2",
              clv_object_map_read(&read, path_of("a.png"), 5, 2, NULL, err));
}

TEST(seventy_thousand_objects_go_through_a_tiff)
{
    enum { WIDTH = 350, HEIGHT = 200, N = WIDTH * HEIGHT };
    OWNED(clv_object_map_release) struct clv_object_map map = {.width = WIDTH, .height = HEIGHT, .n_objects = N};
    struct clv_object_map read = {0};
    bool is_tiff = false;
    map.objects = array_alloc(N, sizeof *map.objects);
    for (int32_t k = 0; k < N; k++)
        map.objects[k] = N - k;
    must(clv_object_map_write(&is_tiff, path_of("many.png"), &map, err));
    ck_assert(is_tiff);
    must(clv_object_map_read(&read, path_of("many.tif"), 0, 0, NULL, err));
    ck_assert_int_eq(read.width, WIDTH);
    ck_assert_int_eq(read.n_objects, N);
    ck_assert_mem_eq(read.objects, map.objects, N * sizeof *map.objects);
    map.objects[3] = CLV_MAX_OBJECT_NUMBER + 1;
    clv_object_map_release(&read);
    must(clv_object_map_write(NULL, path_of("many.png"), &map, err));
    must_fail(CLV_ERR_DATA, "object number 16777216, the largest may be 16777215",
              clv_object_map_read(&read, path_of("many.tif"), 0, 0, NULL, err));
}

TEST(objects_that_touch_have_different_colours)
{
    enum { SIDE = 40, N = SIDE * SIDE };
    OWNED(clv_object_map_release) struct clv_object_map map = {.width = SIDE, .height = SIDE, .n_objects = N};
    uint8_t colours[N];
    map.objects = array_alloc(N, sizeof *map.objects);
    for (int32_t k = 0; k < N; k++)
        map.objects[k] = 1 + ((k % SIDE) * 255 + k / SIDE) % N; /* left and right neighbours begin with one colour */
    must(object_map_colour(colours, &map, err));
    for (int32_t k = 0; k < N; k++) {
        ck_assert_int_ne(colours[k], 0);
        if (k % SIDE && map.objects[k] != map.objects[k - 1])
            ck_assert_int_ne(colours[k], colours[k - 1]);
    }
}

/* Values are those of scikit-image 0.19's regionprops. */
TEST(measures_are_those_of_regionprops)
{
    static const int32_t objects[6 * 9] = {1, 1, 1, 1, 0, 0, 4, 0, 0, 1, 0, 1, 1, 0, 0, 0, 0, 0,
                                           1, 1, 1, 1, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 3, 0, 0, 0,
                                           0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 3, 3, 3, 2};
    const struct clv_object_map map = {.width = 9, .height = 6, .n_objects = 4, .objects = (int32_t *)objects};
    OWNED(clv_image_release) struct clv_image image = {0};
    struct clv_object *rows = NULL;
    float probability[6 * 9];
    must(clv_image_new(&image, 9, 6, 3, err));
    for (int p = 0; p < 54; p++) {
        image.pixels[3 * p] = (uint8_t)(p % 9 * 10);
        probability[p] = p / 9 == 5 ? 1 : 0.25F;
    }
    must(clv_objects_measure(&rows, &map, &image, probability, err));
    static const double expected[4][6] = {/* area, x, y, perimeter, eccentricity, solidity */
                                          {11, 17 / 11.0, 1, 10, 0.6758625033664689, 11 / 12.0},
                                          {1, 8, 5, 0, 0, 1},
                                          {5, 5.6, 4.4, 3, 0.848528137423857, 5 / 6.0},
                                          {2, 7, 1, 0, 1, 2 / 3.0}};
    static const int32_t boxes[4][4] = {{0, 0, 4, 3}, {8, 5, 9, 6}, {5, 3, 8, 6}, {6, 0, 9, 3}};
    for (int k = 0; k < 4; k++) {
        const double found[6] = {(double)rows[k].area, rows[k].centroid_x,   rows[k].centroid_y,
                                 rows[k].perimeter,    rows[k].eccentricity, rows[k].solidity};
        for (int i = 0; i < 6; i++)
            ck_assert_double_eq_tol(found[i], expected[k][i], 1e-12);
        ck_assert_mem_eq(&rows[k].left, boxes[k], sizeof boxes[k]);
        ck_assert_int_eq(rows[k].label, -1);
        ck_assert_double_eq_tol(rows[k].mean[0], 10 * expected[k][1], 1e-12);
        ck_assert_double_eq_tol(rows[k].mean[1], 0, 1e-12);
    }
    ck_assert_double_eq_tol(rows[2].deviation[0], sqrt((50 * 50 * 3 + 60 * 60 + 70 * 70) / 5.0 - 56 * 56), 1e-9);
    ck_assert_double_eq_tol(rows[2].mean_probability, (0.25 * 2 + 3) / 5, 1e-7);
    must_fail(CLV_ERR_USAGE, "objects of 9x6, an image of 9x5",
              clv_objects_measure(&rows, &map, &(struct clv_image){9, 5, 3, image.pixels}, NULL, err));
    struct clv_object_map more = map;
    more.n_objects++;
    more.labels = NULL;
    must_fail(CLV_ERR_USAGE, "has no pixel", clv_objects_measure(&rows, &more, NULL, NULL, err));
    clv_free(rows);
}
