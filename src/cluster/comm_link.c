/* Messages between processes by MPI 3.1. This is the only file that includes mpi.h. A build with MPI compiles it twice,
 * for programs with and without MPI. */
#include "cluster/comm_link.h"

#if WITH_MPI

#include <mpi.h>
#include <time.h>

#include "base/base.h"

#define MOST_AT_ONCE ((size_t)1 << 16) /* bytes; longer messages are sent in parts */
#define MOST_TRADED  ((size_t)1 << 30)
#define POLLS        300   /* polls before the first nap; some ten microseconds */
#define SHORTEST_NAP 20000 /* nanoseconds */
#define LONGEST_NAP  1000000

bool comm_link_is_built(void)
{
    return true;
}

static MPI_Datatype unit; /* COMM_LINK_UNIT bytes */
static int own_rank, n_processes;
static int *counts, *offsets; /* [n_processes] sizes and offsets of blocks, in units */

/* MPI_THREAD_SERIALIZED: one thread at a time sends messages, and not always the main thread. */
bool comm_link_join(int32_t *rank, int32_t *size)
{
    int provided, all;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    *rank = own_rank;
    *size = n_processes = all;
    MPI_Type_contiguous(COMM_LINK_UNIT, MPI_BYTE, &unit);
    MPI_Type_commit(&unit);
    counts = array_zalloc((size_t)all, 2 * sizeof *counts);
    offsets = counts ? counts + all : NULL;
    return provided >= MPI_THREAD_SERIALIZED && counts;
}

void comm_link_leave(void)
{
    array_free(counts);
    MPI_Type_free(&unit);
    MPI_Finalize();
}

/* Sends two messages: the size, then the bytes. */
void comm_link_send(int32_t to, int tag, const void *bytes, size_t size)
{
    uint64_t length = size;
    MPI_Send(&length, sizeof length, MPI_BYTE, to, tag, MPI_COMM_WORLD);
    for (size_t done = 0; done < size; done += MOST_AT_ONCE) {
        size_t part = size - done < MOST_AT_ONCE ? size - done : MOST_AT_ONCE;
        MPI_Send((const char *)bytes + done, (int)part, MPI_BYTE, to, tag, MPI_COMM_WORLD);
    }
}

bool comm_link_probe(int32_t *from, int *tag, size_t *size)
{
    MPI_Status status;
    uint64_t length;
    int has_arrived;
    MPI_Iprobe(*from < 0 ? MPI_ANY_SOURCE : *from, MPI_ANY_TAG, MPI_COMM_WORLD, &has_arrived, &status);
    if (!has_arrived)
        return false;
    *from = status.MPI_SOURCE;
    *tag = status.MPI_TAG;
    MPI_Recv(&length, sizeof length, MPI_BYTE, *from, *tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    *size = (size_t)length;
    return true;
}

void comm_link_take(int32_t from, int tag, void *bytes, size_t size)
{
    char discarded[MOST_AT_ONCE];
    for (size_t done = 0; done < size; done += MOST_AT_ONCE) {
        size_t part = size - done < MOST_AT_ONCE ? size - done : MOST_AT_ONCE;
        MPI_Recv(bytes ? (char *)bytes + done : discarded, (int)part, MPI_BYTE, from, tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    }
}

/* Polls a request, with naps in between, because MPI's own waiting would occupy a processor, as would many short naps.
 * Each nap is an eighth longer than the one before, so that no nap is longer than about an eighth of the whole wait. */
static void wait_for(MPI_Request *request)
{
    int is_done;
    long nap = SHORTEST_NAP;
    MPI_Test(request, &is_done, MPI_STATUS_IGNORE);
    for (int poll = 0; !is_done; poll++) {
        if (poll >= POLLS) {
            nanosleep(&(struct timespec){.tv_nsec = nap}, NULL);
            nap += nap < LONGEST_NAP ? nap / 8 : 0;
        }
        MPI_Test(request, &is_done, MPI_STATUS_IGNORE);
    }
}

static size_t at_once(size_t left)
{
    return left < MOST_TRADED ? left : MOST_TRADED;
}

void comm_link_trade(int32_t with, const void *give, size_t n_give, void *take, size_t n_take)
{
    const char *from = give;
    char *to = take;
    while (n_give || n_take) {
        MPI_Request requests[] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        size_t given = at_once(n_give), taken = at_once(n_take);
        if (taken)
            MPI_Irecv(to, (int)taken, MPI_BYTE, with, 0, MPI_COMM_WORLD, &requests[0]);
        if (given)
            MPI_Isend(from, (int)given, MPI_BYTE, with, 0, MPI_COMM_WORLD, &requests[1]);
        wait_for(&requests[0]);
        wait_for(&requests[1]);
        from += given;
        to += taken;
        n_give -= given;
        n_take -= taken;
    }
}

void comm_link_largest(int64_t *values, size_t n)
{
    MPI_Request request;
    MPI_Iallreduce(MPI_IN_PLACE, values, (int)n, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD, &request);
    wait_for(&request);
}

static void lay_out(int *lengths, const size_t *n_units)
{
    int offset = 0;
    for (int i = 0; i < n_processes; i++) {
        lengths[i] = (int)n_units[i];
        lengths[n_processes + i] = offset;
        offset += lengths[i];
    }
}

void comm_link_gather(void *all, const size_t *n_units)
{
    lay_out(counts, n_units);
    MPI_Request request;
    MPI_Iallgatherv(MPI_IN_PLACE, 0, unit, all, counts, offsets, unit, MPI_COMM_WORLD, &request);
    wait_for(&request);
}

void comm_link_collect(void *all, const size_t *n_units, const void *own)
{
    lay_out(counts, n_units);
    MPI_Request request;
    MPI_Igatherv(own_rank ? own : MPI_IN_PLACE, counts[own_rank], unit, all, counts, offsets, unit, 0, MPI_COMM_WORLD,
                 &request);
    wait_for(&request);
}

#else

bool comm_link_is_built(void)
{
    return false;
}

bool comm_link_join(int32_t *rank, int32_t *size)
{
    *rank = 0;
    *size = 1;
    return true;
}

void comm_link_leave(void)
{
}

void comm_link_send(int32_t to, int tag, const void *bytes, size_t size)
{
    (void)to;
    (void)tag;
    (void)bytes;
    (void)size;
}

bool comm_link_probe(int32_t *from, int *tag, size_t *size)
{
    (void)from;
    (void)tag;
    (void)size;
    return false;
}

void comm_link_take(int32_t from, int tag, void *bytes, size_t size)
{
    (void)from;
    (void)tag;
    (void)bytes;
    (void)size;
}

void comm_link_trade(int32_t with, const void *give, size_t n_give, void *take, size_t n_take)
{
    (void)with;
    (void)give;
    (void)n_give;
    (void)take;
    (void)n_take;
}

void comm_link_largest(int64_t *values, size_t n)
{
    (void)values;
    (void)n;
}

void comm_link_gather(void *all, const size_t *n_units)
{
    (void)all;
    (void)n_units;
}

void comm_link_collect(void *all, const size_t *n_units, const void *own)
{
    (void)all;
    (void)n_units;
    (void)own;
}

#endif
