/* The maps of an input: those of --maps, else those of the set's columns. */
#ifndef CLI_SEGMENT_INPUT_MAPS_H
#define CLI_SEGMENT_INPUT_MAPS_H

#include "cli/segment/segment.h"

/* In the order of the model's recipe; NULL if it wants none (clv_item_maps_release). */
enum clv_status input_maps_read(struct clv_map **maps, const struct input *input, const struct segment_run *run,
                                struct clv_error *err) CLV_CHECK;

#endif
