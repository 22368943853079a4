#include "cli/common/ordered_queue.h"

void ordered_queue_init(struct ordered_queue *queue)
{
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->moved, NULL);
    queue->next = 0;
}

void ordered_queue_release(struct ordered_queue *queue)
{
    pthread_cond_destroy(&queue->moved);
    pthread_mutex_destroy(&queue->lock);
}

void ordered_queue_enter(struct ordered_queue *queue, size_t index)
{
    pthread_mutex_lock(&queue->lock);
    while (queue->next != index)
        pthread_cond_wait(&queue->moved, &queue->lock);
}

void ordered_queue_leave(struct ordered_queue *queue)
{
    queue->next++;
    pthread_cond_broadcast(&queue->moved);
    pthread_mutex_unlock(&queue->lock);
}
