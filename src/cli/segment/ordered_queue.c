#include "cli/segment/turnstile.h"

void turnstile_init(struct turnstile *turnstile)
{
    pthread_mutex_init(&turnstile->lock, NULL);
    pthread_cond_init(&turnstile->moved, NULL);
    turnstile->next = 0;
}

void turnstile_release(struct turnstile *turnstile)
{
    pthread_cond_destroy(&turnstile->moved);
    pthread_mutex_destroy(&turnstile->lock);
}

void turnstile_enter(struct turnstile *turnstile, size_t index)
{
    pthread_mutex_lock(&turnstile->lock);
    while (turnstile->next != index)
        pthread_cond_wait(&turnstile->moved, &turnstile->lock);
}

void turnstile_leave(struct turnstile *turnstile)
{
    turnstile->next++;
    pthread_cond_broadcast(&turnstile->moved);
    pthread_mutex_unlock(&turnstile->lock);
}
