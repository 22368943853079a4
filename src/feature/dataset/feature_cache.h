/* Features that stay in memory of those that are read when they are needed (loaded_item.h): a block of bytes an item, as
 * long as all fit. Nothing is evicted: for passes in turn or at random no other rule would find more. */
#ifndef FEATURE_CACHE_H
#define FEATURE_CACHE_H

#include <stdbool.h>
#include <stddef.h>

#include "cleave/status.h"

/* Of n items, `memory` bytes. NULL is fine to free. */
struct feature_cache;
enum clv_status feature_cache_new(struct feature_cache **cache, size_t n, double memory,
                                  struct clv_error *err) CLV_CHECK;
void feature_cache_free(struct feature_cache *cache);

/* An item's block, NULL if it is not cached. Safe in parallel, as is feature_cache_keep. */
void *feature_cache_find(const struct feature_cache *cache, size_t index);

/* Whether the block stays, and is freed with the cache: it fits, and no other thread has added the item. */
bool feature_cache_keep(struct feature_cache *self, size_t index, void *block, size_t size);

#endif
