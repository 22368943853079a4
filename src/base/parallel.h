/* Deterministic data parallelism: tasks write to slots of their own; callers reduce in index order. Threads are kept
 * from one loop to the next and wait without using the processor, so that they cost others nothing, in a container with
 * a quota either. */
#ifndef BASE_PARALLEL_H
#define BASE_PARALLEL_H

#include <stdbool.h>

#include "cleave/status.h"

/* Task `index` of a loop, run by `thread` in 0..n_threads-1 (for per-thread workspaces). */
typedef enum clv_status parallel_task(void *context, size_t index, int thread, struct clv_error *err);

/* Runs task(0) .. task(n-1), handed out one by one in index order. After a failure no further task starts; the failure
 * of the lowest index is returned, as a sequential run would. n_threads <= 0: parallel_threads(0). Where the system
 * grants fewer threads, those that there are do the work. A loop within a task runs in that task's thread, as thread 0.
 * Loops of different calling threads run side by side. */
enum clv_status parallel_for(size_t n, int n_threads, parallel_task *task, void *context,
                             struct clv_error *err) CLV_CHECK;

/* What n_threads means here: itself if positive, else the processors that this process may use: the machine's, as far
 * as its affinity and the quota of its control groups allow (rounded up). */
int parallel_threads(int n_threads);

/* Whether the calling thread is in a task. */
bool parallel_is_within_task(void);

/* From within tasks: counts one more of *done, of `total`, and reports progress if anybody listens; one caller at a
 * time. */
void parallel_progress(const struct clv_progress *progress, const char *what, size_t *done, size_t total,
                       const char *note);

/* Seconds that only ever go on, from some time on. */
double seconds_now(void);

#endif
