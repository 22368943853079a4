/* Polygons and run lengths as pixels. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/shapes/shapes.h"
#include "support/support.h"

#undef fail

/* The mask as text, a row after the other. */
static const char *drawn(const uint8_t *mask, int width, int height)
{
    static char texts[2][4096];
    static int turn;
    char *const text = texts[turn ^= 1], *to = text;
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++)
            *to++ = mask[y * width + x] ? '#' : '.';
        *to++ = '/';
    }
    *to = 0;
    return text;
}

TEST(a_polygon_holds_the_pixels_whose_centres_are_inside_even_odd)
{
    static const double square_with_hole[][2] = {{1, 1}, {5, 1}, {5, 5}, {1, 5}, {2, 2}, {2, 4}, {4, 4}, {4, 2}};
    static const double triangle[][2] = {{0, 0}, {6, 0}, {0, 6}}, outside[][2] = {{-9, -9}, {50, -9}, {50, 2}, {-9, 2}};
    static const double star[][2] = {{0, 0}, {6, 6}, {6, 0}, {0, 6}}; /* crosses itself */
    static const size_t rings[] = {4, 8}, three[] = {3}, four[] = {4};
    uint8_t mask[36] = {0};
    must(polygon_fill(&(struct canvas){mask, 6, 6, 1}, square_with_hole, rings, 2, err));
    ck_assert_str_eq(drawn(mask, 6, 6), "....../.####./.#..#./.#..#./.####./....../");
    memset(mask, 0, sizeof mask);
    must(polygon_fill(&(struct canvas){mask, 6, 6, 1}, triangle, three, 1, err));
    ck_assert_str_eq(drawn(mask, 6, 6), "#####./####../###.../##..../#...../....../");
    memset(mask, 0, sizeof mask);
    must(polygon_fill(&(struct canvas){mask, 6, 6, 1}, outside, four, 1, err));
    ck_assert_str_eq(drawn(mask, 6, 6), "######/######/....../....../....../....../");
    memset(mask, 0, sizeof mask);
    must(polygon_fill(&(struct canvas){mask, 6, 6, 1}, star, four, 1, err));
    ck_assert_str_eq(drawn(mask, 6, 6), ".....#/#...##/##.###/##.###/#...##/.....#/");
}

TEST(polygons_that_share_an_edge_share_no_pixel_and_leave_no_gap)
{
    uint32_t state = 7;
    for (int round = 0; round < 200; round++) {
        double cut[2][2];
        for (int i = 0; i < 4; i++) {
            state = state * 1664525u + 1013904223u;
            cut[i / 2][i % 2] = (double)(state >> 16) / 65536 * 20;
        }
        /* A square cut in two along a line from its left side to its right side, in either direction. */
        double upper[][2] = {{0, 0}, {20, 0}, {20, cut[1][1]}, {0, cut[0][1]}};
        double lower[][2] = {{0, cut[0][1]}, {20, cut[1][1]}, {20, 20}, {0, 20}};
        static const size_t four[] = {4};
        uint8_t a[400] = {0}, b[400] = {0};
        must(polygon_fill(&(struct canvas){a, 20, 20, 1}, (const double(*)[2])upper, four, 1, err));
        must(polygon_fill(&(struct canvas){b, 20, 20, 1}, (const double(*)[2])lower, four, 1, err));
        for (int i = 0; i < 400; i++)
            ck_assert_int_eq(a[i] + b[i], 1);
    }
}

TEST(hostile_polygons_are_refused)
{
    static const size_t three[] = {3};
    double endless[][2] = {{0, 0}, {1, INFINITY}, {2, 0}};
    double far_away[][2] = {{-1e300, -1e300}, {1e300, 1e300}, {-1e300, 1e300}};
    double too_far[][2] = {{-1.3e308, 2}, {1.3e308, 1}, {1.3e308, 4}}; /* whose differences are infinite */
    uint8_t mask[36] = {0};
    must_fail(CLV_ERR_DATA, "not finite",
              polygon_fill(&(struct canvas){mask, 6, 6, 1}, (const double(*)[2])endless, three, 1, err));
    must(polygon_fill(&(struct canvas){mask, 6, 6, 1}, (const double(*)[2])far_away, three, 1, err));
    must_fail(CLV_ERR_DATA, "too far away",
              polygon_fill(&(struct canvas){mask, 6, 6, 1}, (const double(*)[2])too_far, three, 1, err));
    size_t n = 1 << 18;
    double(*zigzag)[2] = malloc(n * sizeof *zigzag);
    OWNED_ARRAY uint8_t *high = calloc(1, 1000);
    for (size_t i = 0; i < n; i++) {
        zigzag[i][0] = 0;
        zigzag[i][1] = i % 2 ? 1000 : 0;
    }
    must_fail(CLV_ERR_DATA, "cross more than",
              polygon_fill(&(struct canvas){high, 1, 1000, 1}, (const double(*)[2])zigzag, &n, 1, err));
    free(zigzag);
}

TEST(outlines_have_no_points_that_cannot_be_computed_with)
{
    static const double odd[][2] = {{NAN, 1}, {1, INFINITY}, {-2e10, 0}, {0, 1.3e308}};
    OWNED(outline_drop) struct clv_outline *outline = outline_new();
    for (size_t k = 0; k < sizeof odd / sizeof *odd; k++)
        must_fail(CLV_ERR_DATA, "coordinates are from -1e+10 to 1e+10",
                  outline_add_point(outline, odd[k][0], odd[k][1], err));
    ck_assert_uint_eq(outline->n_points, 0);
    must(outline_add_point(outline, -1e10, 1e10, err));
}

TEST(runs_go_by_columns_in_coco_and_by_rows_in_cvat)
{
    static const uint32_t counts[] = {1, 3, 2}; /* of 2 x 3 pixels */
    const struct rle_frame frame = {0, 0, 2, 3}, moved = {1, -1, 2, 3};
    struct rle_frame bounds;
    uint8_t mask[12] = {0};
    must(rle_fill(&(struct canvas){mask, 2, 3, 1}, &frame, counts, 3, RLE_BY_COLUMNS, err));
    ck_assert_str_eq(drawn(mask, 2, 3), ".#/#./#./");
    memset(mask, 0, sizeof mask);
    must(rle_fill(&(struct canvas){mask, 2, 3, 1}, &frame, counts, 3, RLE_BY_ROWS, err));
    ck_assert_str_eq(drawn(mask, 2, 3), ".#/##/../");
    memset(mask, 0, sizeof mask);
    must(rle_fill(&(struct canvas){mask, 3, 4, 1}, &moved, counts, 3, RLE_BY_ROWS,
                  err)); /* its first row is above the image */
    ck_assert_str_eq(drawn(mask, 3, 4), ".##/.../.../.../");
    must(rle_bound(&bounds, &moved, counts, 3, RLE_BY_ROWS, err));
    ck_assert(bounds.left == 1 && bounds.top == -1 && bounds.width == 2 && bounds.height == 2);
    must_fail(CLV_ERR_DATA, "do not sum to the 6 pixels of 2x3",
              rle_fill(&(struct canvas){mask, 2, 3, 1}, &frame, counts, 2, RLE_BY_ROWS, err));
    const struct rle_frame huge = {0, 0, INT32_MAX, INT32_MAX};
    must_fail(CLV_ERR_DATA, "runs of a mask of",
              rle_fill(&(struct canvas){mask, 2, 3, 1}, &huge, counts, 3, RLE_BY_ROWS, err));
}

static uint32_t drawn_number(uint32_t *state, uint32_t limit)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 16) % limit;
}

/* By the definition: the pixel at x, y of the frame is the (x * height + y)-th by columns, the (y * width + x)-th by
 * rows. */
TEST(runs_are_drawn_where_they_are_in_the_image_and_nowhere_else)
{
    enum { WIDTH = 7, HEIGHT = 5 };
    uint32_t state = 3;
    for (int round = 0; round < 4000; round++) {
        struct rle_frame frame = {(int32_t)drawn_number(&state, 17) - 8, (int32_t)drawn_number(&state, 17) - 8,
                                  (int32_t)drawn_number(&state, 11) + 1, (int32_t)drawn_number(&state, 11) + 1};
        enum rle_order order = round % 2 ? RLE_BY_ROWS : RLE_BY_COLUMNS;
        uint32_t counts[160], size = (uint32_t)(frame.width * frame.height), total = 0, longest = 1 + size / 2;
        bool inside[160] = {false};
        uint8_t mask[WIDTH * HEIGHT] = {0}, wanted[WIDTH * HEIGHT] = {0};
        size_t n = 0;
        for (; total < size; n++) {
            counts[n] = drawn_number(&state, longest);
            counts[n] = n >= 120 || counts[n] > size - total ? size - total : counts[n];
            for (uint32_t k = 0; k < counts[n]; k++)
                inside[total++] = n % 2;
        }
        for (int32_t p = 0; p < WIDTH * HEIGHT; p++) {
            int32_t x = p % WIDTH - frame.left, y = p / WIDTH - frame.top;
            if (x >= 0 && x < frame.width && y >= 0 && y < frame.height)
                wanted[p] = inside[order == RLE_BY_ROWS ? y * frame.width + x : x * frame.height + y];
        }
        must(rle_fill(&(struct canvas){mask, WIDTH, HEIGHT, 1}, &frame, counts, n, order, err));
        ck_assert_str_eq(drawn(mask, WIDTH, HEIGHT), drawn(wanted, WIDTH, HEIGHT));
    }
}

/* Walking all pixels that the frames claim would take days. */
TEST(only_the_part_of_a_huge_frame_that_the_image_has_costs_work)
{
    static const struct rle_frame huge[] = {{0, 0, 16384, 16384}, {-8000, -8000, 16384, 16384}, {0, 0, 1, 1 << 28}};
    static const uint32_t most[] = {5, (1 << 28) - 10, 5};
    uint8_t mask[6] = {0};
    for (int round = 0; round < 300000; round++)
        must(rle_fill(&(struct canvas){mask, 2, 3, 1}, &huge[round % 3], most, 3,
                      round % 2 ? RLE_BY_ROWS : RLE_BY_COLUMNS, err));
    for (int p = 0; p < 6; p++)
        ck_assert_int_eq(mask[p], 1);
}

TEST(relative_points_are_shares_of_the_width_and_of_the_height)
{
    static const double corners[][2] = {{0.25, 0.5}, {0.75, 0.5}, {0.75, 1}, {0.25, 1}};
    OWNED(outline_drop) struct clv_outline *outline = outline_new();
    uint8_t mask[8 * 4] = {0};
    for (size_t i = 0; i < 4; i++)
        must(outline_add_point(outline, corners[i][0], corners[i][1], err));
    must(outline_end_polygon(outline, err));
    must(outline_fill(&(struct canvas){mask, 4, 8, 1}, outline, true, err));
    for (int p = 0; p < 8 * 4; p++)
        ck_assert_int_eq(mask[p], p / 4 >= 4 && (p % 4 == 1 || p % 4 == 2));
}

/* By pycocotools' rleToString: five bits a character from '0' on, the sixth says that more follow, differences from the
 * third on. */
TEST(compressed_counts_are_read)
{
    uint32_t *counts;
    size_t n;
    must(rle_parse_compressed(&counts, &n, "139", err)); /* 1, 3, 9 */
    ck_assert(n == 3 && counts[0] == 1 && counts[1] == 3 && counts[2] == 9);
    array_free(counts);
    must(rle_parse_compressed(&counts, &n, "T333N", err)); /* 100 = 4 + 3 * 32, 3, 3, then 3 - 2 */
    ck_assert(n == 4 && counts[0] == 100 && counts[1] == 3 && counts[2] == 3 && counts[3] == 1);
    array_free(counts);
    must(rle_parse_compressed(&counts, &n, "1392", err)); /* the last one is 2 more than the one two before it */
    ck_assert(n == 4 && counts[2] == 9 && counts[3] == 5);
    array_free(counts);
    must(rle_parse_compressed(&counts, &n, "", err));
    ck_assert_uint_eq(n, 0);
    array_free(counts);
    must_fail(CLV_ERR_DATA, "damaged at character 1", rle_parse_compressed(&counts, &n, " ", err));
    must_fail(CLV_ERR_DATA, "damaged at character 2", rle_parse_compressed(&counts, &n, "1T", err));
    must_fail(CLV_ERR_DATA, "damaged at character 1", rle_parse_compressed(&counts, &n, "oooooooooooo", err));
    must_fail(CLV_ERR_DATA, "run 1 has -1 pixels", rle_parse_compressed(&counts, &n, "O", err));
    must(rle_parse_numbers(&counts, &n, " 1, 20 ,3", err));
    ck_assert(n == 3 && counts[1] == 20);
    array_free(counts);
    must_fail(CLV_ERR_DATA, "run 2 is not a number", rle_parse_numbers(&counts, &n, "1, -2", err));
    must_fail(CLV_ERR_DATA, "run 1 is not a number", rle_parse_numbers(&counts, &n, "99999999999", err));
    must_fail(CLV_ERR_DATA, "run 1 is not a number", rle_parse_numbers(&counts, &n, "1x", err));
}
