/* Lets parallel tasks through one at a time in the order of their numbers, so that what they report comes in input order. */
#ifndef CLI_TURNSTILE_H
#define CLI_TURNSTILE_H

#include <pthread.h>
#include <stddef.h>

struct turnstile {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    size_t next;
};
void turnstile_init(struct turnstile *turnstile);
void turnstile_release(struct turnstile *turnstile);

/* Waits until every task before `index` has left; then this one is alone until it leaves. Every task handed out must enter
 * and leave once: the lowest in flight never waits, so none waits for ever. */
void turnstile_enter(struct turnstile *turnstile, size_t index);
void turnstile_leave(struct turnstile *turnstile);

#endif
