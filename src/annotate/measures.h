/* How well sets of tags were predicted. */
#ifndef ANNOTATE_MEASURES_H
#define ANNOTATE_MEASURES_H

#include "cleave/status.h"

/* Measures of predicted sets of tags (Miao and Rao 2010, equations 9 to 13), all in [0, 1]. F is 2 |both| / (|true| +
 * |predicted|); where there is nothing to find and nothing was predicted (0/0), F is 1: nothing was missed and nothing
 * invented. */
struct clv_tag_score {
    double exact_match; /* share of examples whose tags are all right */
    double hamming;     /* share of wrong decisions among examples x tags */
    double f_sample;    /* F of an example's tags, mean over examples */
    double f_macro;     /* F of a tag over the examples, mean over tags */
    double f_micro;     /* F of all decisions together */
};
/* truth and prediction [n][n_tags] of 1 and 0; n >= 1, n_tags >= 1. O(n n_tags). */
enum clv_status clv_tag_measure(struct clv_tag_score *score, const uint8_t *truth, const uint8_t *prediction, size_t n,
                                int32_t n_tags, struct clv_error *err) CLV_CHECK;

#endif
