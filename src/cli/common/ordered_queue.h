/* An ordered queue: lets parallel tasks through one at a time in the order of their numbers, so that what they report
 * comes in input order. */
#ifndef CLI_ORDERED_QUEUE_H
#define CLI_ORDERED_QUEUE_H

#include <pthread.h>
#include <stddef.h>

struct ordered_queue {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    size_t next;
};
void ordered_queue_init(struct ordered_queue *queue);
void ordered_queue_release(struct ordered_queue *queue);

/* Waits until every task before `index` has left; then this one is alone until it leaves. Every task handed out must
 * enter and leave once. The lowest in flight never waits, so none waits for ever. */
void ordered_queue_enter(struct ordered_queue *queue, size_t index);
void ordered_queue_leave(struct ordered_queue *queue);

#endif
