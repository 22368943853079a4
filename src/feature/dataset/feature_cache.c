/* Keeps features that were read from a file in memory, up to a limit of bytes. They stay until the end, so that
 * threads find them without a lock. Start at feature_cache_keep. */
#include "feature/dataset/dataset.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/base.h"

struct feature_cache {
    double limit, used;      /* bytes */
    _Atomic(void *) *blocks; /* [n] the features that stay; never taken back while the dataset is there */
    size_t n;
    pthread_mutex_t lock;
};

enum clv_status feature_cache_new(struct feature_cache **cache, size_t n, double memory, struct clv_error *err)
{
    OWNED_ARRAY struct feature_cache *result = array_zalloc(1, sizeof *result);
    *cache = NULL;
    NEED(result);
    result->blocks = array_zalloc(n, sizeof *result->blocks);
    NEED(result->blocks);
    result->limit = memory;
    result->n = n;
    pthread_mutex_init(&result->lock, NULL);
    *cache = TAKE(result);
    return CLV_OK;
}

void feature_cache_free(struct feature_cache *cache)
{
    if (!cache)
        return;
    for (size_t i = 0; i < cache->n; i++)
        array_free(atomic_load(&cache->blocks[i]));
    pthread_mutex_destroy(&cache->lock);
    arrays_free(cache->blocks, cache);
}

void *feature_cache_find(const struct feature_cache *cache, size_t index)
{
    return atomic_load(&cache->blocks[index]);
}

bool feature_cache_keep(struct feature_cache *self, size_t index, void *block, size_t size)
{
    bool stays = false;
    pthread_mutex_lock(&self->lock);
    if (!atomic_load(&self->blocks[index]) && self->used + (double)size <= self->limit) {
        self->used += (double)size;
        atomic_store(&self->blocks[index], block);
        stays = true;
    }
    pthread_mutex_unlock(&self->lock);
    return stays;
}
