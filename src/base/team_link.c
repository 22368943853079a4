/* The only file that includes mpi.h, compiled a second time for builds with MPI (MPI 3.1). */
#include "base/team_link.h"

#if WITH_MPI

#include <mpi.h>

#define MOST_AT_ONCE ((size_t)1 << 16) /* bytes: longer messages go in parts */

bool team_link_is_built(void)
{
    return true;
}

/* Messages come from one thread at a time, which need not be the first one. */
bool team_link_join(int32_t *rank, int32_t *size)
{
    int provided, own, all;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    *rank = own;
    *size = all;
    return provided >= MPI_THREAD_SERIALIZED;
}

void team_link_leave(void)
{
    MPI_Finalize();
}

/* A message of its own tells the size. */
void team_link_send(int32_t to, int tag, const void *bytes, size_t size)
{
    uint64_t length = size;
    MPI_Send(&length, sizeof length, MPI_BYTE, to, tag, MPI_COMM_WORLD);
    for (size_t done = 0; done < size; done += MOST_AT_ONCE) {
        size_t part = size - done < MOST_AT_ONCE ? size - done : MOST_AT_ONCE;
        MPI_Send((const char *)bytes + done, (int)part, MPI_BYTE, to, tag, MPI_COMM_WORLD);
    }
}

bool team_link_look(int32_t *from, int *tag, size_t *size)
{
    MPI_Status status;
    uint64_t length;
    int is_there;
    MPI_Iprobe(*from < 0 ? MPI_ANY_SOURCE : *from, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there, &status);
    if (!is_there)
        return false;
    *from = status.MPI_SOURCE;
    *tag = status.MPI_TAG;
    MPI_Recv(&length, sizeof length, MPI_BYTE, *from, *tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    *size = (size_t)length;
    return true;
}

void team_link_take(int32_t from, int tag, void *bytes, size_t size)
{
    char thrown_away[MOST_AT_ONCE];
    for (size_t done = 0; done < size; done += MOST_AT_ONCE) {
        size_t part = size - done < MOST_AT_ONCE ? size - done : MOST_AT_ONCE;
        MPI_Recv(bytes ? (char *)bytes + done : thrown_away, (int)part, MPI_BYTE, from, tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    }
}

#else

bool team_link_is_built(void)
{
    return false;
}

bool team_link_join(int32_t *rank, int32_t *size)
{
    *rank = 0;
    *size = 1;
    return true;
}

void team_link_leave(void)
{
}

void team_link_send(int32_t to, int tag, const void *bytes, size_t size)
{
    (void)to;
    (void)tag;
    (void)bytes;
    (void)size;
}

bool team_link_look(int32_t *from, int *tag, size_t *size)
{
    (void)from;
    (void)tag;
    (void)size;
    return false;
}

void team_link_take(int32_t from, int tag, void *bytes, size_t size)
{
    (void)from;
    (void)tag;
    (void)bytes;
    (void)size;
}

#endif
