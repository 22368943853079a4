/* What clv_segment does of an image whose features are there already. */
#ifndef TASK_LABEL_IMAGE_H
#define TASK_LABEL_IMAGE_H

#include "cleave/segment.h"
#include "data/maps/map_reader.h"

/* labels[height][width]: labels the example's nodes, paints, and by options->refine refines borders at the pixels of the
 * example's image, else not read: clv_refine for two labels that the model finds by a cut, clv_refine_labels for others.
 * maps[n_maps of the recipe] of the image, or NULL: pixels then count by the weights of segment/refining.h. Labels are
 * changed whatever the status. */
enum clv_status label_example(uint8_t *labels, const struct clv_model *model, const struct clv_image *image,
                              const struct clv_example *example, const struct map_reader *maps,
                              const struct clv_segment_options *options, struct clv_error *err) CLV_CHECK;

/* Which share of the problem's features, by their sums, was in no training image: their weights are 0 for all labels.
 * 0 of a model with so many such weights that they may be the learner's choice. */
double label_unmet_share(const struct clv_model *model, const struct clv_problem *problem);

/* The refining alone, of painted labels. Where a cut finds them, it is the oracle's last one, and y its labelling. */
enum clv_status label_refine(uint8_t *labels, const struct clv_image *image, const struct clv_example *example,
                             const int32_t *y, const struct map_reader *maps, const struct clv_model *model,
                             struct clv_oracle *oracle, const struct clv_refine_options *options,
                             struct clv_error *err) CLV_CHECK;

/* Whether an image of that size is refined by a choice. */
bool label_refines(enum clv_refine_choice choice, const struct clv_model *model, int32_t width, int32_t height);

#endif
