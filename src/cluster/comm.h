/* Processes of one job, which mpirun started with one command line and which share its work. Without MPI, or started
 * alone, a job has one process, rank 0.
 *
 * Work items are dealt out one by one as processes become free, so that none waits for the slowest. Results go to rank
 * 0, which alone prints and writes the common outputs.
 *
 *     struct comm_deal deal;
 *     comm_deal_open(&deal, n_items, take, context);        // all processes
 *     while (comm_deal_next(&deal, &index))                 // in any number of threads of each
 *         comm_deal_hand_in(&deal, bytes, size);            // calls take(context, bytes, size) on rank 0
 *     comm_deal_close(&deal);
 * */
#ifndef CLUSTER_COMM_H
#define CLUSTER_COMM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "cleave/status.h"

/* Whether this build has MPI. */
bool comm_is_built(void);

/* Joins the other processes; at most once per process, before any threads. All processes join, and leave at the end. */
enum clv_status comm_join(struct clv_error *err) CLV_CHECK;
void comm_leave(void);
int32_t comm_rank(void);
int32_t comm_size(void);

/* Functions by which processes agree to stop. If one process has noticed a reason, all learn of it at their next
 * meeting, so that they stop at the same point. All three may be NULL. */
struct comm_signal_hooks {
    int (*noticed)(void);      /* returns the reason to stop that this process has noticed so far, or 0 */
    void (*agree)(int reason); /* takes the largest reason of all processes */
    void (*alone)(bool);       /* true: this process works without meetings from now on and may stop at once */
};
void comm_listen(const struct comm_signal_hooks *hooks);
void comm_work_alone(bool is_alone);

/* Meets all processes: returns the status of the lowest rank that failed, with its message, which names its rank and
 * host unless it is rank 0. A process that fails elsewhere calls this next. Processes that wait in another meeting get
 * the failure there. The common work is then over: every later meeting returns the same status at once. */
enum clv_status comm_agree(enum clv_status own, struct clv_error *err) CLV_CHECK;

/* Meets like comm_agree. `what` identifies the meeting: it must be the same on all processes. `where` is the index of
 * the task that failed, SIZE_MAX without one; of several failures the one with the lowest `where` is returned. */
enum clv_status comm_meet(uint64_t what, enum clv_status own, size_t where, struct clv_error *err) CLV_CHECK;

/* Called on rank 0 with the bytes that another process handed in; one call at a time, in the deal's server thread.
 * bytes is NULL if there was no memory for them. */
typedef void comm_take(void *context, const void *bytes, size_t size);

struct comm_deal {
    size_t n, n_dealt; /* number of items; items dealt out so far, which rank 0 counts */
    comm_take *take;
    void *context;
    pthread_mutex_t lock;
    pthread_t server; /* the thread of rank 0 that deals to the others */
    bool is_open;
};

/* All processes open a deal, with the same n, and close it. They meet as in comm_agree: if the deal cannot be opened on
 * one of them, all return its failure, and nothing is dealt. Closing waits for all processes. */
enum clv_status comm_deal_open(struct comm_deal *deal, size_t n, comm_take *take, void *context,
                               struct clv_error *err) CLV_CHECK;
void comm_deal_close(struct comm_deal *deal);

/* Fetches the next item for this process; returns false if all are dealt out. Items come in ascending order. */
bool comm_deal_next(struct comm_deal *deal, size_t *index);

/* Hands in a result; for ranks other than 0. */
void comm_deal_hand_in(struct comm_deal *deal, const void *bytes, size_t size);

/* Stops dealing out items; for rank 0. */
void comm_deal_stop(struct comm_deal *deal);

#endif
