/* One of n equal parts of a list: a contiguous block of it, which depends on the list's length and the part alone. */
#ifndef CLUSTER_SHARD_H
#define CLUSTER_SHARD_H

#include <stddef.h>
#include <stdint.h>

#define SHARD_MAX 100000

struct shard {
    int32_t number, count; /* number 1..count; count 0: no shard, but all of it */
};

/* The shard's block of `total` items: *n of them from *first on; the blocks' sizes differ by 1 at most. */
void shard_block(size_t *first, size_t *n, const struct shard *shard, size_t total);

#endif
