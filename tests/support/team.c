#include "support/team.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cluster/comm.h"
#include "cluster/comm_link.h"
#include "support/support.h"

/* The sockets of this process to each other one. Messages and trades have their own, so that neither waits for the other. */
static struct {
    int rank, size; /* 0: no team */
    int message[TEAM_MOST], trade[TEAM_MOST];
} team;

struct head {
    int tag;
    size_t size;
};

/* A broken socket ends the process: another one has failed. */
static void write_all(int fd, const void *bytes, size_t size)
{
    for (const char *from = bytes; size > 0;) {
        ssize_t n = send(fd, from, size, MSG_NOSIGNAL);
        if (n <= 0)
            _exit(3);
        from += n;
        size -= (size_t)n;
    }
}

static void read_all(int fd, void *bytes, size_t size)
{
    for (char *to = bytes; size > 0;) {
        ssize_t n = recv(fd, to, size, 0);
        if (n <= 0)
            _exit(3);
        to += n;
        size -= (size_t)n;
    }
}

bool __real_comm_link_join(int32_t *rank, int32_t *size);
bool __wrap_comm_link_join(int32_t *rank, int32_t *size);
bool __wrap_comm_link_join(int32_t *rank, int32_t *size)
{
    if (!team.size)
        return __real_comm_link_join(rank, size);
    *rank = team.rank;
    *size = team.size;
    return true;
}

void __wrap_comm_link_send(int32_t to, int tag, const void *bytes, size_t size);
void __wrap_comm_link_send(int32_t to, int tag, const void *bytes, size_t size)
{
    const struct head head = {tag, size};
    write_all(team.message[to], &head, sizeof head);
    write_all(team.message[to], bytes, size);
}

bool __wrap_comm_link_probe(int32_t *from, int *tag, size_t *size);
bool __wrap_comm_link_probe(int32_t *from, int *tag, size_t *size)
{
    for (int32_t rank = 0; rank < team.size; rank++) {
        struct pollfd poller = {.fd = team.message[rank], .events = POLLIN};
        struct head head;
        if (rank == team.rank || (*from >= 0 && *from != rank) || poll(&poller, 1, 0) != 1)
            continue;
        read_all(team.message[rank], &head, sizeof head);
        *from = rank;
        *tag = head.tag;
        *size = head.size;
        return true;
    }
    return false;
}

void __wrap_comm_link_take(int32_t from, int tag, void *bytes, size_t size);
void __wrap_comm_link_take(int32_t from, int tag, void *bytes, size_t size)
{
    (void)tag;
    char ignored[4096];
    if (bytes)
        read_all(team.message[from], bytes, size);
    for (size_t left = bytes ? 0 : size, n; left > 0; left -= n) {
        n = left < sizeof ignored ? left : sizeof ignored;
        read_all(team.message[from], ignored, n);
    }
}

void __wrap_comm_link_trade(int32_t with, const void *give, size_t n_give, void *take, size_t n_take);
void __wrap_comm_link_trade(int32_t with, const void *give, size_t n_give, void *take, size_t n_take)
{
    const char *from = give;
    char *to = take;
    while (n_give || n_take) {
        struct pollfd poller = {.fd = team.trade[with],
                                .events = (short)((n_give ? POLLOUT : 0) | (n_take ? POLLIN : 0))};
        if (poll(&poller, 1, -1) != 1 || (poller.revents & (POLLERR | POLLNVAL)))
            _exit(3);
        ssize_t n = n_take && (poller.revents & (POLLIN | POLLHUP)) ? recv(poller.fd, to, n_take, 0) : -1;
        if (n == 0)
            _exit(3);
        to += n > 0 ? n : 0;
        n_take -= n > 0 ? (size_t)n : 0;
        n = n_give && (poller.revents & POLLOUT) ? send(poller.fd, from, n_give, MSG_DONTWAIT | MSG_NOSIGNAL) : 0;
        if (n < 0 && errno != EAGAIN)
            _exit(3);
        from += n > 0 ? n : 0;
        n_give -= n > 0 ? (size_t)n : 0;
    }
}

/* All processes meet the others in one order of pairs, so that no two wait for each other. */
void __wrap_comm_link_largest(int64_t *values, size_t n);
void __wrap_comm_link_largest(int64_t *values, size_t n)
{
    OWNED_ARRAY int64_t *own = malloc(n * sizeof *own + 1), *other = malloc(n * sizeof *other + 1);
    memcpy(own, values, n * sizeof *own);
    for (int32_t rank = 0; rank < team.size; rank++) {
        if (rank == team.rank)
            continue;
        __wrap_comm_link_trade(rank, own, n * sizeof *own, other, n * sizeof *other);
        for (size_t i = 0; i < n; i++)
            values[i] = other[i] > values[i] ? other[i] : values[i];
    }
}

static size_t first_unit(const size_t *n_units, int32_t rank)
{
    size_t first = 0;
    for (int32_t r = 0; r < rank; r++)
        first += n_units[r];
    return first;
}

void __wrap_comm_link_gather(void *all, const size_t *n_units);
void __wrap_comm_link_gather(void *all, const size_t *n_units)
{
    char *bytes = all;
    for (int32_t rank = 0; rank < team.size; rank++)
        if (rank != team.rank)
            __wrap_comm_link_trade(rank, bytes + COMM_LINK_UNIT * first_unit(n_units, team.rank),
                                   COMM_LINK_UNIT * n_units[team.rank],
                                   bytes + COMM_LINK_UNIT * first_unit(n_units, rank), COMM_LINK_UNIT * n_units[rank]);
}

void __wrap_comm_link_collect(void *all, const size_t *n_units, const void *own);
void __wrap_comm_link_collect(void *all, const size_t *n_units, const void *own)
{
    if (team.rank)
        __wrap_comm_link_trade(0, own, COMM_LINK_UNIT * n_units[team.rank], NULL, 0);
    for (int32_t rank = 1; rank < team.size && !team.rank; rank++)
        __wrap_comm_link_trade(rank, NULL, 0, (char *)all + COMM_LINK_UNIT * first_unit(n_units, rank),
                               COMM_LINK_UNIT * n_units[rank]);
}

static _Noreturn void be_member(int rank, int n, int (*sockets)[TEAM_MOST][2][2], void (*member)(void *context),
                                void *context)
{
    team.rank = rank;
    team.size = n;
    for (int a = 0; a < n; a++)
        for (int b = a + 1; b < n; b++)
            for (int kind = 0; kind < 2; kind++)
                for (int end = 0; end < 2; end++) {
                    const int own = end ? b : a, other = end ? a : b, fd = sockets[a][b][kind][end];
                    if (own != rank)
                        close(fd);
                    else
                        (kind ? team.trade : team.message)[other] = fd;
                }
    must(comm_join(err));
    member(context);
    comm_leave();
    _exit(0);
}

void run_team(int n, void (*member)(void *context), void *context)
{
    int sockets[TEAM_MOST][TEAM_MOST][2][2];
    pid_t members[TEAM_MOST];
    ck_assert_int_le(n, TEAM_MOST);
    for (int a = 0; a < n; a++)
        for (int b = a + 1; b < n; b++)
            for (int kind = 0; kind < 2; kind++)
                ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets[a][b][kind]), 0);
    for (int rank = 0; rank < n; rank++) {
        members[rank] = fork();
        ck_assert_int_ge(members[rank], 0);
        if (!members[rank])
            be_member(rank, n, sockets, member, context);
    }
    for (int a = 0; a < n; a++)
        for (int b = a + 1; b < n; b++)
            for (int kind = 0; kind < 2; kind++) {
                close(sockets[a][b][kind][0]);
                close(sockets[a][b][kind][1]);
            }
    int n_failed = 0;
    for (int rank = 0; rank < n; rank++) {
        int outcome = -1;
        ck_assert_int_eq(waitpid(members[rank], &outcome, 0), members[rank]);
        n_failed += outcome != 0;
    }
    ck_assert_msg(n_failed == 0, "%d of %d processes failed", n_failed, n);
}
