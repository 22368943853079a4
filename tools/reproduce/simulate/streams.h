/* Numbers of the random streams RNG_STREAM(RNG_SIMULATE, number): a problem has its own, whatever the sizes of the
 * sets. */
#ifndef SYNTH_STREAMS_H
#define SYNTH_STREAMS_H

#include "base/base.h"

#define SIMULATE_MAX_PROBLEMS 1000000000 /* of a set */

enum { STREAM_NODE_WEIGHTS, STREAM_EDGE_WEIGHTS, STREAM_FIRST_PROBLEM };

/* Of problem `index` of the training set (set 0) or the test set (1): what is seen, and which labels are missing. */
static inline uint64_t stream_of_problem(uint32_t set, size_t index)
{
    return RNG_STREAM(RNG_SIMULATE, STREAM_FIRST_PROBLEM + 2 * (uint32_t)index + set);
}
static inline uint64_t stream_of_missing(uint32_t set, size_t index)
{
    return RNG_STREAM(RNG_MISSING, 2 * (uint32_t)index + set);
}

#endif
