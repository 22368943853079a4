/* A step of clv_segment, for callers that do more between its steps. */
#ifndef SEGMENT_SEGMENT_H
#define SEGMENT_SEGMENT_H

#include "cleave/segment.h"
#include "data/maps/map_reader.h"

/* labels[height][width] of the image from the labels y of its nodes: superpixels are painted, patches vote. */
enum clv_status segment_paint(uint8_t *labels, const struct clv_example *example, const int32_t *y, int32_t n_labels,
                              struct clv_error *err) CLV_CHECK;

/* Sharpens painted labels at the pixels of the example's image: clv_refine for two labels that the model finds by a
 * cut, which then is the oracle's last one and y its labelling; clv_refine_labels for others. maps[n_maps of the
 * recipe] of the image, or NULL: pixels then count by the weights of refining.h. */
enum clv_status segment_refine(uint8_t *labels, const struct clv_image *image, const struct clv_example *example,
                               const int32_t *y, const struct map_reader *maps, const struct clv_model *model,
                               struct clv_oracle *oracle, const struct clv_refine_options *options,
                               struct clv_error *err) CLV_CHECK;

#endif
