/* Features of an image whose maps need not be in memory. */
#ifndef FEATURE_EXAMPLE_H
#define FEATURE_EXAMPLE_H

#include "cleave/features.h"
#include "data/maps/map_reader.h"

/* clv_example_extract_maps of maps[recipe->n_maps]. */
enum clv_status example_extract(struct clv_example *example, const struct clv_image *image,
                                const struct map_reader *maps, const struct clv_recipe *recipe,
                                struct clv_error *err) CLV_CHECK;

#endif
