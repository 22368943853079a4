/* The maps of an input: those of --maps, else those of the set's columns. */
#ifndef CLI_SEGMENT_INPUT_MAPS_H
#define CLI_SEGMENT_INPUT_MAPS_H

#include "cli/segment/segment_work.h"

/* work->maps in the order of the model's recipe, NULL if it wants none (item_maps_close), and their means. */
enum clv_status input_maps_read(struct work *work, const struct segment_run *run, struct clv_error *err) CLV_CHECK;

/* Bytes of memory that they take while they are used; 0 where they are not found. */
double input_maps_memory(const struct input *input, const struct segment_run *run);

/* One at a time and in input order: reports maps that are not like those that the model was learned from. */
void input_maps_watch(struct job *job, const struct work *work);

#endif
