#include <math.h>
#include <string.h>

#include "base/base.h"
#include "score/score.h"
#include "support/support.h"

static struct clv_image_score score_of(int32_t n_labels, const uint8_t *truth, const uint8_t *prediction, size_t n)
{
    OWNED(clv_confusion_release) struct clv_confusion confusion = {0};
    must(clv_confusion_init(&confusion, n_labels, err));
    clv_confusion_add(&confusion, truth, prediction, n);
    return clv_confusion_score(&confusion);
}

/* The definitions of score.h, pixel by pixel. */
static struct clv_image_score score_by_definition(int32_t n_labels, const uint8_t *truth, const uint8_t *prediction,
                                                  size_t n)
{
    double weighted = 0, wrong = 0, counted = 0, ious = 0, present = 0, n_ious = 0;
    for (int b = 0; b < n_labels; b++) {
        double area = 0, missed = 0, both = 0, either = 0;
        for (size_t i = 0; i < n; i++) {
            if (truth[i] == CLV_VOID)
                continue;
            area += truth[i] == b;
            missed += truth[i] == b && prediction[i] != b;
            both += truth[i] == b && prediction[i] == b;
            either += truth[i] == b || prediction[i] == b;
        }
        counted += area;
        wrong += missed;
        present += area > 0;
        weighted += area > 0 ? missed / area : 0;
        if (b > 0 && either > 0) {
            ious += both / either;
            n_ious++;
        }
    }
    return (struct clv_image_score){weighted / present, wrong / counted, n_ious > 0 ? ious / n_ious : 1,
                                    (uint64_t)counted};
}

TEST(measures_equal_their_definitions_on_random_maps)
{
    enum { N = 997 };
    uint8_t truth[N], prediction[N];
    for (uint32_t round = 0; round < 200; round++) {
        int32_t n_labels = 2 + (int32_t)(round % 5);
        for (uint32_t i = 0; i < N; i++) {
            uint32_t t = rng_below(5, RNG_STREAM(RNG_TEST, round), 2 * i, (uint32_t)n_labels + 1);
            uint32_t p = rng_below(5, RNG_STREAM(RNG_TEST, round), 2 * i + 1, (uint32_t)n_labels + 2);
            truth[i] = t == (uint32_t)n_labels ? CLV_VOID : (uint8_t)t;
            /* n_labels itself is not a label either. */
            prediction[i] = p == (uint32_t)n_labels + 1 ? CLV_VOID : (uint8_t)p;
        }
        struct clv_image_score fast = score_of(n_labels, truth, prediction, N);
        struct clv_image_score slow = score_by_definition(n_labels, truth, prediction, N);
        ck_assert_uint_eq(fast.n_pixels, slow.n_pixels);
        ck_assert_double_eq_tol(fast.weighted_hamming, slow.weighted_hamming, 1e-12);
        ck_assert_double_eq_tol(fast.hamming, slow.hamming, 1e-12);
        ck_assert_double_eq_tol(fast.mean_iou, slow.mean_iou, 1e-12);
    }
}

TEST(weighted_hamming_of_foreground_and_background_is_the_balanced_error)
{
    /* 4 foreground pixels of which 1 is missed, 6 background pixels of which 3 are false alarms */
    const uint8_t truth[] = {1, 1, 1, 1, 0, 0, 0, 0, 0, 0}, prediction[] = {1, 1, 1, 0, 1, 1, 1, 0, 0, 0};
    struct clv_image_score score = score_of(2, truth, prediction, 10);
    ck_assert_double_eq_tol(score.weighted_hamming, 0.5 * (1 / 4.0) + 0.5 * (3 / 6.0), 1e-15);
    ck_assert_double_eq_tol(score.hamming, 0.4, 1e-15);
    ck_assert_double_eq_tol(score.mean_iou, 3 / 7.0, 1e-15);
}

TEST(an_absent_side_contributes_nothing_and_the_other_weighs_one)
{
    const uint8_t background[] = {0, 0, 0, 0}, foreground[] = {1, 1, 1, 1}, mixed[] = {0, 0, 0, 1};
    ck_assert_double_eq(score_of(2, background, mixed, 4).weighted_hamming, 0.25);
    ck_assert_double_eq(score_of(2, foreground, mixed, 4).weighted_hamming, 0.75);
    ck_assert_double_eq(score_of(2, background, background, 4).mean_iou, 1); /* no foreground anywhere */
    ck_assert_double_eq(score_of(2, background, mixed, 4).mean_iou, 0);      /* an invented one */
}

TEST(void_truth_never_counts_and_void_predictions_are_wrong)
{
    const uint8_t truth[] = {CLV_VOID, CLV_VOID, 0, 1}, prediction[] = {0, 1, CLV_VOID, 1};
    struct clv_image_score score = score_of(2, truth, prediction, 4);
    ck_assert_uint_eq(score.n_pixels, 2);
    ck_assert_double_eq(score.hamming, 0.5);
    ck_assert_double_eq(score.weighted_hamming, 0.5);
    ck_assert_double_eq(score.mean_iou, 1);
    struct clv_image_score none = score_of(2, truth, prediction, 2);
    ck_assert_uint_eq(none.n_pixels, 0);
    ck_assert(isnan(none.weighted_hamming) && isnan(none.hamming) && isnan(none.mean_iou));
}

TEST(per_label_measures_are_nan_for_absent_labels)
{
    const uint8_t truth[] = {0, 0, 1, 1}, prediction[] = {0, 2, 1, 1};
    OWNED(clv_confusion_release) struct clv_confusion confusion = {0};
    must(clv_confusion_init(&confusion, 4, err));
    clv_confusion_add(&confusion, truth, prediction, 4);
    ck_assert_double_eq(clv_confusion_iou(&confusion, 0), 0.5);
    ck_assert_double_eq(clv_confusion_iou(&confusion, 1), 1);
    ck_assert_double_eq(clv_confusion_iou(&confusion, 2), 0);
    ck_assert(isnan(clv_confusion_iou(&confusion, 3)));
    ck_assert_double_eq(clv_confusion_class_accuracy(&confusion, 0), 0.5);
    ck_assert(isnan(clv_confusion_class_accuracy(&confusion, 2))); /* predicted, never true */
    clv_confusion_clear(&confusion);
    ck_assert_uint_eq(clv_confusion_score(&confusion).n_pixels, 0);
}

TEST(parts_merge_into_the_whole)
{
    uint8_t truth[64], prediction[64];
    for (uint32_t i = 0; i < 64; i++) {
        truth[i] = (uint8_t)rng_below(9, RNG_STREAM(RNG_TEST, 0), i, 3);
        prediction[i] = (uint8_t)rng_below(9, RNG_STREAM(RNG_TEST, 1), i, 4);
    }
    OWNED(clv_confusion_release) struct clv_confusion whole = {0}, total = {0}, part = {0};
    must(clv_confusion_init(&whole, 3, err));
    must(clv_confusion_init(&total, 3, err));
    must(clv_confusion_init(&part, 3, err));
    clv_confusion_add(&whole, truth, prediction, 64);
    for (size_t start = 0; start < 64; start += 16) {
        clv_confusion_clear(&part);
        for (size_t i = start; i < start + 16; i++) /* one at a time, by the weighted call */
            confusion_add_weighted(&part, truth[i], prediction[i], 1);
        clv_confusion_merge(&total, &part);
    }
    ck_assert_mem_eq(total.counts, whole.counts, 3 * 4 * sizeof *whole.counts);
}

TEST(impossible_label_counts_are_refused)
{
    struct clv_confusion confusion;
    must_fail(CLV_ERR_USAGE, "0 labels", clv_confusion_init(&confusion, 0, err));
    must_fail(CLV_ERR_USAGE, "256 labels", clv_confusion_init(&confusion, 256, err));
    ck_assert_ptr_null(confusion.counts);
}
