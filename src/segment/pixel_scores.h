/* Scores of pixels by a model with maps: the weighted sum of pixel_terms.h, cut anew with the colours nearby. */
#ifndef SEGMENT_PIXEL_SCORES_H
#define SEGMENT_PIXEL_SCORES_H

#include "segment/pixel_terms.h"
#include "segment/refining.h"

/* score[height][width] of label 1 against label 0, without the colours nearby. */
enum clv_status pixel_scores(float *score, const struct segmented *self, const struct refining *refining,
                             struct clv_error *err) CLV_CHECK;

/* labels[height][width], as painted, are refined by scores. */
enum clv_status pixel_scores_refine(uint8_t *labels, const float *score, const struct clv_image *image,
                                    const struct refining *refining, struct clv_error *err) CLV_CHECK;

#endif
