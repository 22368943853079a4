/* Losses and measures of label maps.
 *
 * Weighted Hamming (balanced error) of one image: sum over true labels b of (wrong pixels of b) / (K' V_b), with V_b
 * the number of pixels of b and K' the number of labels present. For foreground/background this is half the miss rate
 * plus half the false-alarm rate, in [0, 1]; if one of them is absent, the other has weight 1. Void pixels never
 * count. */
#ifndef CLEAVE_SCORE_H
#define CLEAVE_SCORE_H

#include "cleave/data.h"

#ifdef __cplusplus
extern "C" {
#endif

struct clv_image_score {
    double weighted_hamming; /* NaN if no pixel counts */
    double hamming;          /* share of wrong pixels */
    double mean_iou;         /* over foreground labels (>= 1) present in truth or prediction; 1 if none is */
    uint64_t n_pixels;       /* pixels that are not void */
};

/* counts[n_labels][n_labels + 1], in pixels: row = true label, column = predicted label; the last column holds
 * predictions that are not a label. */
struct clv_confusion {
    int32_t n_labels;
    uint64_t *counts;
};
/* Initialises all counts to 0; n_labels 1..CLV_MAX_LABELS, else CLV_ERR_USAGE. */
CLV_API enum clv_status clv_confusion_init(struct clv_confusion *confusion, int32_t n_labels,
                                           struct clv_error *err) CLV_CHECK;
CLV_API void clv_confusion_release(struct clv_confusion *confusion);
CLV_API void clv_confusion_clear(struct clv_confusion *confusion);

/* Adds n pixels, O(n). A truth of CLV_VOID, or >= n_labels, does not count; a prediction of CLV_VOID or >= n_labels is
 * always wrong. */
CLV_API void clv_confusion_add(struct clv_confusion *confusion, const uint8_t *truth, const uint8_t *prediction,
                               size_t n);
/* total += part, which has the same number of labels. */
CLV_API void clv_confusion_merge(struct clv_confusion *total, const struct clv_confusion *part);

/* Returns the measures of all pixels added so far; all are NaN if no pixel counts. O(n_labels^2). */
CLV_API struct clv_image_score clv_confusion_score(const struct clv_confusion *confusion);
/* Intersection over union of one label: its pixels in both truth and prediction / its pixels in either; NaN if it has
 * none in either. */
CLV_API double clv_confusion_iou(const struct clv_confusion *confusion, int32_t label);
/* Share of the label's true pixels that are predicted correctly (recall); NaN if it has no true pixels. */
CLV_API double clv_confusion_class_accuracy(const struct clv_confusion *confusion, int32_t label);

#ifdef __cplusplus
}
#endif
#endif
