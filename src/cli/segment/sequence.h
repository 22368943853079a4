/* `cleave segment --sequence`: masks of some frames are given, those of the others are carried from them. */
#ifndef CLI_SEQUENCE_H
#define CLI_SEQUENCE_H

#include "cli/segment/segment.h"
#include "sequence/chains.h"

struct sequence {
    struct clv_set set; /* whole: frames that are not wanted may lie between */
    struct chains chains;
    size_t *input_of; /* [set.n_items] of those that are wanted */
};
void sequence_release(struct sequence *self);

/* What does not go with it (CLV_ERR_USAGE). */
enum clv_status sequence_check(const struct segment *options, struct clv_error *err) CLV_CHECK;

/* Reads the set, adds the wanted frames to the inputs, and takes its labels, which are two. */
enum clv_status sequence_open(struct sequence *self, struct input_list *inputs, struct clv_labels *labels,
                              struct segment *options, struct clv_error *err) CLV_CHECK;

/* Chains on threads, the frames of each one after the other; a chain ends with its first failure. Outputs that are
 * there stay, but frames on the way to others are computed again. */
enum clv_status sequence_run(struct segment_counts *counts, const struct segment_run *run,
                             struct clv_error *err) CLV_CHECK;

#endif
