#include "feature/dataset/demand.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/array.h"
#include "base/error.h"

struct demand {
    double limit, used;      /* bytes */
    _Atomic(void *) *blocks; /* [n] the features that stay; never taken back while the dataset is there */
    size_t n;
    pthread_mutex_t lock;
};

enum clv_status demand_new(struct demand **demand, size_t n, double memory, struct clv_error *err)
{
    struct demand *self = array_zalloc(1, sizeof *self);
    *demand = NULL;
    if (self)
        self->blocks = array_zalloc(n, sizeof *self->blocks);
    if (!self || !self->blocks) {
        array_free(self);
        return fail_memory(err);
    }
    self->limit = memory;
    self->n = n;
    pthread_mutex_init(&self->lock, NULL);
    *demand = self;
    return CLV_OK;
}

void demand_free(struct demand *demand)
{
    if (!demand)
        return;
    for (size_t i = 0; i < demand->n; i++)
        array_free(atomic_load(&demand->blocks[i]));
    pthread_mutex_destroy(&demand->lock);
    array_free(demand->blocks);
    array_free(demand);
}

void *demand_find(const struct demand *demand, size_t index)
{
    return atomic_load(&demand->blocks[index]);
}

bool demand_keep(struct demand *self, size_t index, void *block, size_t size)
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
