/* A team of processes that mpirun started with one command line, and that share its work. Without MPI, or started
 * alone, a team has one member, its leader (rank 0).
 *
 * The work's items are dealt out one by one as members become free, so that nobody waits for the slowest; what came of
 * them goes back to the leader, which alone prints and writes what all have in common.
 *
 *     struct comm_deal deal;
 *     comm_deal_open(&deal, n_items, take, context);        // all members
 *     while (comm_deal_next(&deal, &index))                 // any number of threads of theirs
 *         comm_deal_hand_in(&deal, bytes, size);            // the leader's take(context, bytes, size)
 *     comm_deal_close(&deal);
 */
#ifndef CLUSTER_COMM_H
#define CLUSTER_COMM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "cleave/status.h"

/* Whether this build knows MPI. */
bool comm_is_built(void);

/* Joins the other processes; at most once a process, before any threads. All members join, and leave at the end. */
enum clv_status comm_join(struct clv_error *err) CLV_CHECK;
void comm_leave(void);
int32_t comm_rank(void);
int32_t comm_size(void);

/* How members notice that the work is to stop. What one of them noticed all of them know once they have met, so that
 * they stop at the same place. All three may be NULL. */
struct comm_signal_hooks {
    int (*noticed)(void);      /* what this member noticed so far: 0 nothing, else a reason */
    void (*agree)(int reason); /* the largest reason of all members */
    void (*alone)(bool);       /* whether this member works by itself now, and may obey at once what it notices */
};
void comm_listen(const struct comm_signal_hooks *hooks);
void comm_work_alone(bool is_alone);

/* Where all members meet: returns the status of the lowest member that failed, with its message, which names its rank
 * and host unless it is the leader's. A member that fails elsewhere comes here next: who waits for it in the middle of
 * the work notices it there, and the team is over; from then on the same status comes back at once. */
enum clv_status comm_agree(enum clv_status own, struct clv_error *err) CLV_CHECK;

/* The same; `what` distinguishes the place from others. Of failures that of the lowest task, `where`, counts. */
enum clv_status comm_meet(uint64_t what, enum clv_status own, size_t where, struct clv_error *err) CLV_CHECK;

/* What a member handed in, on the leader; one call at a time, from a thread of its own. bytes NULL: there was no memory
 * for them. */
typedef void comm_take(void *context, const void *bytes, size_t size);

struct comm_deal {
    size_t n, n_dealt; /* items in all; and dealt out, which the leader counts */
    comm_take *take;
    void *context;
    pthread_mutex_t lock;
    pthread_t server; /* the leader's thread that deals to the others */
    bool has_server;
};

/* All members open a deal, of the same n, and close it; closing returns once all of them did. */
enum clv_status comm_deal_open(struct comm_deal *deal, size_t n, comm_take *take, void *context,
                               struct clv_error *err) CLV_CHECK;
void comm_deal_close(struct comm_deal *deal);

/* The next item for this member; false if there is none. Items come in ascending order. */
bool comm_deal_next(struct comm_deal *deal, size_t *index);

/* For members other than the leader. */
void comm_deal_hand_in(struct comm_deal *deal, const void *bytes, size_t size);

/* The leader deals out nothing more. */
void comm_deal_stop(struct comm_deal *deal);

#endif
