/* Loops whose tasks the processes of a job share (comm.h). As with parallel_for, tasks write to slots of their own and
 * callers reduce in index order. The slots that a process has filled are sent to all others. So all processes hold the
 * same results afterwards, and these do not depend on the number of processes.
 *
 *     static bool slot(struct comm_piece *piece, void *context, size_t index, size_t k)
 *     {
 *         struct pass *self = context;
 *         *piece = (struct comm_piece){&self->loss[index], sizeof *self->loss};
 *         return k == 0;
 *     }
 *     status = comm_for(n, n_threads, work_out_loss, slot, &pass, err);
 *
 * Within a task of another loop, and in a job of one process, comm_for is parallel_for. */
#ifndef CLUSTER_COMM_FOR_H
#define CLUSTER_COMM_FOR_H

#include <stdbool.h>

#include "base/base.h"

struct comm_piece {
    void *at; /* NULL: this process ignores the piece */
    size_t size;
};

/* Sets *piece to piece k, from 0, of the memory into which task `index` writes its results; returns false if the task
 * has at most k pieces. All processes must find the same sizes. */
typedef bool comm_slot(struct comm_piece *piece, void *context, size_t index, size_t k);

/* Rank r does the tasks r, r + comm_size() and so on. If tasks fail, all processes return the failure of the task with
 * the lowest index, and no results are shared. */
enum clv_status comm_for(size_t n, int n_threads, parallel_task *task, comm_slot *slot, void *context,
                         struct clv_error *err) CLV_CHECK;

/* comm_for for long tasks of different lengths: each task goes to the first process that is free, except task 0, which
 * rank 0 does. */
enum clv_status comm_queue(size_t n, int n_threads, parallel_task *task, comm_slot *slot, void *context,
                           struct clv_error *err) CLV_CHECK;

/* Whether comm_for gives this task to this process. */
bool comm_does(size_t index);

/* Share further results of comm_for's tasks: with all processes, or only with rank 0. */
enum clv_status comm_share(size_t n, comm_slot *slot, void *context, struct clv_error *err) CLV_CHECK;
enum clv_status comm_collect(size_t n, comm_slot *slot, void *context, struct clv_error *err) CLV_CHECK;

/* Task i writes its result into rows[i][size] of rows[n]. Afterwards the first row holds the sum of all rows, on all
 * processes; the other rows are undefined. Each process does a block of consecutive tasks. Up to 32 rows are added in
 * order, more by a balanced tree over blocks of 32, so that a process can add most of its own rows before it sends
 * them. n >= 1. */
enum clv_status comm_for_sum(size_t n, int n_threads, parallel_task *task, void *context, double *rows, size_t size,
                             struct clv_error *err) CLV_CHECK;

#endif
