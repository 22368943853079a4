/* What stays in memory of features that are read when they are wanted (held.h): a block of bytes an item, as long as all
 * fit. Features that were read once stay: looked at all in turn or at random, no other choice would be found more
 * often. */
#ifndef FEATURE_DEMAND_H
#define FEATURE_DEMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "cleave/status.h"

/* Of n items, `memory` bytes. NULL is fine to free. */
struct demand;
enum clv_status demand_new(struct demand **demand, size_t n, double memory, struct clv_error *err) CLV_CHECK;
void demand_free(struct demand *demand);

/* An item's block, NULL if it did not stay. Safe in parallel, and so is what follows. */
void *demand_find(const struct demand *demand, size_t index);

/* Whether the block stays, and is freed with the rest: there is room, and nobody else was quicker to read the item. */
bool demand_keep(struct demand *self, size_t index, void *block, size_t size);

#endif
