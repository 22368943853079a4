/* What a map says for one label against the other, at the map's own resolution. */
#ifndef SEGMENT_MAP_MARGIN_H
#define SEGMENT_MAP_MARGIN_H

#include "cleave/model.h"
#include "data/maps/map_reader.h"

/* The weight that the model gives a channel's mean in the score of a label's row, for values as map_ready.h makes
 * them. */
double map_margin_weight(const struct clv_model *model, int32_t map, size_t row, int32_t channel);

/* *margin, one channel, owns its values: label 1 against label 0; of probabilities their log-odds, of features the
 * model's own score of them. For models of two labels. Errors: as map_ready_channel. */
enum clv_status map_margin(struct clv_map *margin, const struct map_reader *map, int32_t index,
                           const struct clv_model *model, struct clv_error *err) CLV_CHECK;

#endif
