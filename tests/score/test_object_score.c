/* Objects that were found against true ones. */
#include <math.h>

#include "score/score.h"
#include "support/support.h"

enum { WIDTH = 20, HEIGHT = 4, N = WIDTH * HEIGHT };

/* Pixels first..end-1 of row y are object k. */
static void put(int32_t *objects, int32_t y, int32_t first, int32_t end, int32_t k)
{
    for (int32_t x = first; x < end; x++)
        objects[y * WIDTH + x] = k;
}

TEST(objects_are_matched_by_their_overlap)
{
    int32_t of_truth[N] = {0}, of_found[N] = {0};
    struct clv_object_map truth = {WIDTH, HEIGHT, 3, of_truth, NULL, NULL},
                          found = {WIDTH, HEIGHT, 4, of_found, NULL, NULL};
    struct object_counts counts;
    put(of_truth, 0, 0, 20, 1);
    put(of_found, 0, 0, 20, 2); /* IoU 1 */
    put(of_truth, 1, 0, 13, 2);
    put(of_found, 1, 3, 16, 1); /* 10 of 16: .625 */
    put(of_truth, 2, 0, 10, 3);
    put(of_found, 2, 0, 5, 3); /* .5 is not above it */
    put(of_found, 3, 0, 5, 4); /* nothing is there */
    must(object_counts_of(&counts, &truth, &found, err));
    ck_assert_int_eq(counts.n_true, 3);
    ck_assert_int_eq(counts.n_found, 4);
    double precision = 0;
    for (int t = 0; t < OBJECT_THRESHOLDS; t++) {
        int hits = t < 3 ? 2 : 1; /* .5, .55, .6 */
        ck_assert_int_eq(counts.hits[t], hits);
        precision += hits / (7.0 - hits) / OBJECT_THRESHOLDS;
    }
    ck_assert_double_eq_tol(object_f1(&counts), 4.0 / 7, 1e-12);
    ck_assert_double_eq_tol(object_mean_precision(&counts), precision, 1e-12);
}

TEST(nothing_found_of_nothing_is_right_and_sizes_must_agree)
{
    int32_t none[N] = {0};
    struct clv_object_map empty = {WIDTH, HEIGHT, 0, none, NULL, NULL}, other = {HEIGHT, WIDTH, 0, none, NULL, NULL};
    struct object_counts counts;
    must(object_counts_of(&counts, &empty, &empty, err));
    ck_assert_double_eq(object_f1(&counts), 1);
    ck_assert_double_eq(object_mean_precision(&counts), 1);
    must_fail(CLV_ERR_USAGE, "true objects of 20x4, found ones of 4x20",
              object_counts_of(&counts, &empty, &other, err));
}
