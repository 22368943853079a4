#include <string.h>

#include "support/support.h"
#include "tags/tags.h"

TEST(measures_are_those_computed_by_hand)
{
    /* Example 0: right. 1: one of two found. 2: invented one. */
    const uint8_t truth[] = {1, 0, 1, /**/ 1, 1, 0, /**/ 0, 1, 0}, guess[] = {1, 0, 1, /**/ 0, 1, 0, /**/ 0, 1, 1};
    struct clv_tag_score score;
    must(clv_tag_measure(&score, truth, guess, 3, 3, err));
    ck_assert_double_eq_tol(score.exact_match, 1.0 / 3, 1e-15);
    ck_assert_double_eq_tol(score.hamming, 2.0 / 9, 1e-15);
    ck_assert_double_eq_tol(score.f_sample, (1 + 2.0 / 3 + 2.0 / 3) / 3, 1e-15);
    /* Tags: 1 of 2, 2 of 2, 1 and 1 false. */
    ck_assert_double_eq_tol(score.f_macro, (2.0 / 3 + 1 + 2.0 / 3) / 3, 1e-15);
    ck_assert_double_eq_tol(score.f_micro, 8.0 / 10, 1e-15);
}

TEST(nothing_to_find_and_nothing_found_is_an_f_of_one)
{
    const uint8_t nothing[] = {0, 0, 0, 0}, one[] = {0, 0, 0, 1};
    struct clv_tag_score score;
    must(clv_tag_measure(&score, nothing, nothing, 2, 2, err));
    ck_assert(score.exact_match == 1 && score.hamming == 0 && score.f_sample == 1 && score.f_macro == 1 &&
              score.f_micro == 1);
    must(clv_tag_measure(&score, nothing, one, 2, 2, err));
    ck_assert(score.exact_match == 0.5 && score.hamming == 0.25 && score.f_sample == 0.5 && score.f_macro == 0.5 &&
              score.f_micro == 0);
}

TEST(measuring_nothing_is_refused)
{
    struct clv_tag_score score;
    must_fail(CLV_ERR_USAGE, "0 examples with 3 tags", clv_tag_measure(&score, NULL, NULL, 0, 3, err));
    must_fail(CLV_ERR_USAGE, "2 examples with 0 tags", clv_tag_measure(&score, NULL, NULL, 2, 0, err));
}
