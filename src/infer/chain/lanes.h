/* Rows of doubles as vectors of CHAIN_LANES, for kernels that are compiled once for each kind of machine and give the
 * same bytes on all. */
#ifndef INFER_LANES_H
#define INFER_LANES_H

#include <string.h>

#include "base/machine.h"
#include "infer/chain/chain_lanes.h"

#define MOST_VECTORS 8 /* whose running sums stay in registers */

typedef double lanes __attribute__((vector_size(CHAIN_LANES * sizeof(double))));

INLINE void load(lanes *to, const double *from)
{
    memcpy(to, from, sizeof *to);
}

INLINE void store(double *to, const lanes *from)
{
    memcpy(to, from, sizeof *from);
}

#endif
