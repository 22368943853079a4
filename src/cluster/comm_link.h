/* Messages between the members of a team: the one file that knows MPI; others use team.h, which is what others use. */
#ifndef CLUSTER_COMM_LINK_H
#define CLUSTER_COMM_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEAM_HOST_MAX 64

bool comm_link_is_built(void);

/* False where MPI has no threads, or there is no memory. */
bool comm_link_join(int32_t *rank, int32_t *size);
void comm_link_leave(void);

/* One thread at a time. Errors end all members: MPI names them. */
void comm_link_send(int32_t to, int tag, const void *bytes, size_t size);

/* Whether a message from `from` (-1: anybody) is there, and its size; and takes it, or without `bytes` throws it
 * away. */
bool comm_link_look(int32_t *from, int *tag, size_t *size);
void comm_link_take(int32_t from, int tag, void *bytes, size_t size);

/* Two members at once: each gives the other n_give bytes and takes n_take. */
void comm_link_trade(int32_t with, const void *give, size_t n_give, void *take, size_t n_take);

/* The rest is done by all members at once. Of each of n values the largest of all members'. */
void comm_link_largest(int64_t *values, size_t n);

/* Every member's block, end to end by rank in `all`, where the own one is already. Sizes are in units of
 * TEAM_LINK_UNIT bytes. */
#define TEAM_LINK_UNIT 64
void comm_link_gather(void *all, const size_t *n_units);

/* The same on the leader alone; the others give `own`, and `all` is not used. */
void comm_link_collect(void *all, const size_t *n_units, const void *own);

#endif
