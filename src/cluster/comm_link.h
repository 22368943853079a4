/* Messages between processes, which comm_link.c sends by MPI. Only comm.c and comm_for.c use them; comm.h and
 * comm_for.h are for all others. */
#ifndef CLUSTER_COMM_LINK_H
#define CLUSTER_COMM_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COMM_HOST_MAX 64

bool comm_link_is_built(void);

/* Returns false if MPI does not support threads or memory is missing. */
bool comm_link_join(int32_t *rank, int32_t *size);
void comm_link_leave(void);

/* Sends a message; one thread at a time. Errors end all processes: MPI names them. */
void comm_link_send(int32_t to, int tag, const void *bytes, size_t size);

/* comm_link_probe returns whether a message from rank *from (-1: any) has arrived, and sets its sender, tag and size.
 * comm_link_take then receives it; if `bytes` is NULL, the message is discarded. */
bool comm_link_probe(int32_t *from, int *tag, size_t *size);
void comm_link_take(int32_t from, int tag, void *bytes, size_t size);

/* Two processes call this at once: each sends the other n_give bytes and receives n_take. */
void comm_link_trade(int32_t with, const void *give, size_t n_give, void *take, size_t n_take);

/* All processes call the following functions at once. This one replaces each of n values by its maximum over all
 * processes. */
void comm_link_largest(int64_t *values, size_t n);

/* Collects the blocks of all processes in `all`, one after another by rank; each process has already put its own block
 * there. n_units[n_processes] holds their sizes, in units of COMM_LINK_UNIT bytes. */
#define COMM_LINK_UNIT 64
void comm_link_gather(void *all, const size_t *n_units);

/* Collects the blocks on rank 0 only; the other processes send `own` and do not use `all`. */
void comm_link_collect(void *all, const size_t *n_units, const void *own);

#endif
