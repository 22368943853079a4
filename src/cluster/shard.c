/* Cuts a list into contiguous blocks, one for each task of a job array, whose sizes differ by 1 at most. */
#include "cluster/shard.h"

/* floor(total * part / count) without overflow. */
static size_t boundary(size_t total, int32_t part, int32_t count)
{
    size_t p = (size_t)part, c = (size_t)count;
    return total / c * p + total % c * p / c;
}

void shard_block(size_t *first, size_t *n, const struct shard *shard, size_t total)
{
    *first = shard->count ? boundary(total, shard->number - 1, shard->count) : 0;
    *n = shard->count ? boundary(total, shard->number, shard->count) - *first : total;
}
