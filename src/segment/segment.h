/* A step of clv_segment, for callers that do more between its steps. */
#ifndef SEGMENT_SEGMENT_H
#define SEGMENT_SEGMENT_H

#include "cleave/segment.h"

/* Sharpens painted labels at the pixels of the example's image: clv_refine for two labels, clv_refine_labels for more. y is the
 * labelling that the oracle found last. */
enum clv_status segment_refine(uint8_t *labels, const struct clv_image *image, const struct clv_example *example,
                               const int32_t *y, int32_t n_labels, struct clv_oracle *oracle,
                               const struct clv_refine_options *options, struct clv_error *err) CLV_CHECK;

#endif
