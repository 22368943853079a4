/* Deterministic data parallelism over OpenMP: tasks write to slots of their own; callers reduce in index order. */
#ifndef BASE_PARALLEL_H
#define BASE_PARALLEL_H

#include "cleave/status.h"

/* Task `index` of a loop, run by `thread` in 0..n_threads-1 (for per-thread workspaces). */
typedef enum clv_status parallel_task(void *context, size_t index, int thread, struct clv_error *err);

/* Runs task(0) .. task(n-1), handed out one by one in index order. After a failure no further task starts; the failure of
 * the lowest index is returned, as a sequential run would. n_threads <= 0: all the machine's. */
enum clv_status parallel_for(size_t n, int n_threads, parallel_task *task, void *context,
                             struct clv_error *err) CLV_CHECK;

/* What n_threads means here: itself if positive, else the machine's number of processors. */
int parallel_threads(int n_threads);

#endif
