/* Admits images, in the order of their numbers, while the sum of their estimated memory fits into that of the run. */
#ifndef BATCH_GATE_H
#define BATCH_GATE_H

#include <pthread.h>
#include <stdbool.h>

#include "base/base.h"
#include "cleave/model.h"

/* Lets parallel tasks pass one at a time, in the order of their numbers. */
struct ordered_queue {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    size_t next;
};
void ordered_queue_init(struct ordered_queue *queue);
void ordered_queue_release(struct ordered_queue *queue);

/* ordered_queue_enter waits until every task before `index` has left; then this task is alone until it leaves. Every
 * task that starts must enter and leave once. The task with the lowest number never waits, so that no task waits
 * forever. */
void ordered_queue_enter(struct ordered_queue *queue, size_t index);
void ordered_queue_leave(struct ordered_queue *queue);

struct memory_gate {
    double limit, used; /* bytes */
    struct ordered_queue entrance;
    pthread_mutex_t lock;
    pthread_cond_t freed;
};

/* limit: bytes of the whole process; 0: half of the free memory. */
void memory_gate_init(struct memory_gate *self, double limit);
void memory_gate_release(struct memory_gate *self);

/* memory_gate_enter waits until all tasks before `index` have entered and `bytes` fit below the limit, and takes them.
 * CLV_ERR_MEMORY: `bytes` can never fit; then it takes none. Every task must enter once, with 0 bytes if it needs none.
 * A task that has entered must not wait for one that has not. */
enum clv_status memory_gate_enter(struct memory_gate *self, size_t index, double bytes,
                                  struct clv_error *err) CLV_CHECK;
void memory_gate_leave(struct memory_gate *self, double bytes);

/* The work on an image, for memory_of_work. */
struct memory_work {
    const struct clv_model *model; /* NULL: boxes are segmented, .. */
    bool is_given;                 /* .. or masks are given */
    double map_bytes;              /* bytes of the image's network maps */
    bool is_refined, has_net, has_overlay, has_report, has_cutout, has_export, has_specks;
};

/* Returns an upper bound of the bytes for labelling an image of width x height pixels from a file of file_size bytes,
 * and for writing its files. */
double memory_of_work(const struct memory_work *work, int32_t width, int32_t height, double file_size);

#endif
