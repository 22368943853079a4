/* Lets images into work as long as what they are estimated to take fits into memory, in the order of their numbers. */
#ifndef BATCH_GATE_H
#define BATCH_GATE_H

#include <pthread.h>
#include <stdbool.h>

#include "base/base.h"
#include "cleave/model.h"

/* Lets parallel tasks through one at a time in the order of their numbers, so that what they report comes in input
 * order. */
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

struct memory_gate {
    double limit, used; /* bytes */
    struct ordered_queue entrance;
    pthread_mutex_t lock;
    pthread_cond_t freed;
};

/* limit: of the whole process, 0 for half of what is free. */
void memory_gate_init(struct memory_gate *self, double limit);
void memory_gate_release(struct memory_gate *self);

/* Waits for all before `index` to have come in, and until `bytes` are free. More than there will ever be:
 * CLV_ERR_MEMORY, naming both; nothing is taken then. Every index enters once, 0 bytes if it needs none. Who is in
 * never waits for one that is not. */
enum clv_status memory_gate_enter(struct memory_gate *self, size_t index, double bytes,
                                  struct clv_error *err) CLV_CHECK;
void memory_gate_leave(struct memory_gate *self, double bytes);

/* The parts of the work on an image that take memory. */
struct memory_work {
    const struct clv_model *model; /* NULL: boxes are cut, .. */
    bool is_given;                 /* .. or labels are there */
    double map_bytes;              /* that the image's maps take */
    bool is_refined, has_net, has_overlay, has_report, has_cutout, has_export, has_specks;
};

/* An upper bound of the bytes that an image of that size takes, from a file of file_size bytes. */
double memory_of_work(const struct memory_work *work, int32_t width, int32_t height, double file_size);

#endif
