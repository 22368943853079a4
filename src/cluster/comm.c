/* Processes of one job: joining, agreeing on failures (comm_meet), and dealing out work from rank 0 (struct comm_deal).
 * A process that waits for a message polls, with growing naps in between, because MPI's own waiting would occupy a
 * processor. */
#include "cluster/comm.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "cluster/comm_link.h"

#define SHORTEST_NAP_NS 50000
#define LONGEST_NAP_NS  1000000

enum tag { TAG_NEXT, TAG_ITEM, TAG_RESULT, TAG_CLOSE };

/* A process's status and failure, which are sent to all. */
union verdict {
    struct {
        uint64_t where; /* the task that failed */
        enum clv_status status;
        int32_t path_length; /* of the message */
        char message[CLV_ERROR_MESSAGE_MAX], host[COMM_HOST_MAX];
    };
    char units[(2 * sizeof(uint64_t) + CLV_ERROR_MESSAGE_MAX + COMM_HOST_MAX) / COMM_LINK_UNIT + 1][COMM_LINK_UNIT];
};

static struct {
    int32_t rank, size;
    union verdict *verdicts; /* [size] */
    size_t *verdict_units;   /* [size] */
    bool is_over;            /* processes met in different meetings: comm_meet returns `status` and `error` at once */
    enum clv_status status;
    struct clv_error error; /* of `status` */
    struct comm_signal_hooks hooks;
} job = {.size = 1};

bool comm_is_built(void)
{
    return comm_link_is_built();
}

enum clv_status comm_join(struct clv_error *err)
{
    FAIL_IF(!comm_link_join(&job.rank, &job.size), CLV_ERR_OS, "this MPI has no threads (MPI_THREAD_SERIALIZED)");
    job.verdicts = array_alloc((size_t)job.size, sizeof *job.verdicts);
    job.verdict_units = array_alloc((size_t)job.size, sizeof *job.verdict_units);
    for (int32_t rank = 0; job.verdict_units && rank < job.size; rank++)
        job.verdict_units[rank] = sizeof *job.verdicts / COMM_LINK_UNIT;
    return job.verdicts && job.verdict_units ? CLV_OK : fail_memory(err);
}

void comm_leave(void)
{
    comm_link_leave();
    arrays_free(job.verdicts, job.verdict_units);
    job.rank = 0;
    job.size = 1;
}

int32_t comm_rank(void)
{
    return job.rank;
}

int32_t comm_size(void)
{
    return job.size;
}

/* Waits for the next message from a rank, or from any (-1). */
static void wait_for(int32_t *from, int *tag, size_t *size)
{
    int32_t sender = *from;
    for (long nap = SHORTEST_NAP_NS; !comm_link_probe(from, tag, size); nap *= nap < LONGEST_NAP_NS ? 2 : 1) {
        nanosleep(&(struct timespec){.tv_nsec = nap}, NULL);
        *from = sender;
    }
}

void comm_listen(const struct comm_signal_hooks *hooks)
{
    job.hooks = *hooks;
}

/* Sends this process's failure to all. Returns, on all processes, the failure of the task with the lowest index; among
 * failures without a task (SIZE_MAX), that of the lowest rank. */
static enum clv_status share_failure(enum clv_status own, size_t where, struct clv_error *err)
{
    union verdict *verdict = &job.verdicts[job.rank];
    memset(verdict, 0, sizeof *verdict);
    verdict->status = own;
    verdict->where = where;
    if (own != CLV_OK) {
        snprintf(verdict->message, sizeof verdict->message, "%s", err->message);
        verdict->path_length = (int32_t)err->path_length;
    }
    gethostname(verdict->host, sizeof verdict->host - 1);
    comm_link_gather(job.verdicts, job.verdict_units);
    int32_t first = -1;
    for (int32_t rank = 0; rank < job.size; rank++)
        if (job.verdicts[rank].status != CLV_OK && (first < 0 || job.verdicts[rank].where < job.verdicts[first].where))
            first = rank;
    verdict = &job.verdicts[first];
    const char *kind = first == job.rank ? err->kind : NULL;
    fail_told(err, verdict->status, verdict->message, (size_t)verdict->path_length, kind);
    if (first == 0 || verdict->status == CLV_ERR_INTERRUPTED)
        return verdict->status;
    char process[32 + COMM_HOST_MAX];
    snprintf(process, sizeof process, "process %d on %s", first, verdict->host);
    return fail_about(err, verdict->status, process);
}

void comm_work_alone(bool is_alone)
{
    if (job.hooks.alone)
        job.hooks.alone(is_alone);
}

static enum clv_status end_job(enum clv_status status, const struct clv_error *err)
{
    job.is_over = true;
    job.status = status;
    job.error = *err;
    return status;
}

enum clv_status comm_meet(uint64_t what, enum clv_status own, size_t where, struct clv_error *err)
{
    struct clv_error ignored = {0};
    err = err ? err : &ignored;
    if (job.size == 1)
        return own;
    if (job.is_over) {
        *err = job.error;
        return job.status;
    }
    what &= INT64_MAX;
    int64_t shared[] = {(int64_t)what, -(int64_t)what, own != CLV_OK, job.hooks.noticed ? job.hooks.noticed() : 0};
    comm_link_largest(shared, sizeof shared / sizeof *shared);
    if (shared[3] && job.hooks.agree)
        job.hooks.agree((int)shared[3]);
    bool is_same = shared[0] == -shared[1];
    if (!shared[2] && is_same)
        return CLV_OK;
    if (!shared[2])
        return end_job(fail(err, CLV_ERR_INTERNAL,
                            "the processes do not do the same: do all of them see the same files, built alike?"),
                       err);
    enum clv_status status = share_failure(own, where, err);
    return is_same ? status : end_job(status, err);
}

enum clv_status comm_agree(enum clv_status own, struct clv_error *err)
{
    return comm_meet(0, own, SIZE_MAX, err);
}

static size_t take_item(struct comm_deal *deal)
{
    pthread_mutex_lock(&deal->lock);
    size_t index = deal->n_dealt < deal->n ? deal->n_dealt++ : deal->n;
    pthread_mutex_unlock(&deal->lock);
    return index;
}

static void take_result(struct comm_deal *deal, int32_t from, size_t size)
{
    char *bytes = array_alloc(size, 1);
    comm_link_take(from, TAG_RESULT, bytes, size);
    deal->take(deal->context, bytes, size);
    array_free(bytes);
}

/* The server thread of rank 0: answers the other processes until all of them have closed the deal. It begins when all
 * have opened it. */
static void *serve(void *context)
{
    struct comm_deal *deal = context;
    pthread_mutex_lock(&deal->lock);
    const bool is_open = deal->is_open;
    pthread_mutex_unlock(&deal->lock);
    if (!is_open)
        return NULL;
    for (int32_t n_open = job.size - 1; n_open > 0;) {
        int32_t from = -1;
        int tag;
        size_t size, index;
        wait_for(&from, &tag, &size);
        if (tag == TAG_RESULT)
            take_result(deal, from, size);
        if (tag == TAG_NEXT) {
            index = take_item(deal);
            comm_link_send(from, TAG_ITEM, &index, sizeof index);
        }
        n_open -= tag == TAG_CLOSE;
    }
    for (int32_t rank = 1; rank < job.size; rank++)
        comm_link_send(rank, TAG_CLOSE, NULL, 0);
    return NULL;
}

enum clv_status comm_deal_open(struct comm_deal *deal, size_t n, comm_take *take, void *context, struct clv_error *err)
{
    *deal = (struct comm_deal){.n = n, .take = take, .context = context};
    pthread_mutex_init(&deal->lock, NULL);
    enum clv_status status = CLV_OK;
    bool has_server = false;
    pthread_mutex_lock(&deal->lock);
    if (job.size > 1 && !job.rank) {
        errno = pthread_create(&deal->server, NULL, serve, deal);
        has_server = errno == 0;
        if (!has_server)
            status = fail_errno(err, CLV_ERR_OS, "cannot start the thread that deals out work");
    }
    status = comm_agree(status, err);
    deal->is_open = status == CLV_OK;
    pthread_mutex_unlock(&deal->lock);
    if (has_server && !deal->is_open)
        pthread_join(deal->server, NULL);
    return status;
}

void comm_deal_close(struct comm_deal *deal)
{
    if (deal->is_open && job.rank) { /* waits until rank 0 has received everything */
        int32_t root = 0;
        int tag;
        size_t size;
        comm_link_send(root, TAG_CLOSE, NULL, 0);
        wait_for(&root, &tag, &size);
    } else if (deal->is_open && job.size > 1) {
        pthread_join(deal->server, NULL);
    }
    pthread_mutex_destroy(&deal->lock);
}

bool comm_deal_next(struct comm_deal *deal, size_t *index)
{
    if (!job.rank) {
        *index = take_item(deal);
        return *index < deal->n;
    }
    int32_t root = 0;
    int tag;
    size_t size;
    pthread_mutex_lock(&deal->lock);
    comm_link_send(root, TAG_NEXT, NULL, 0);
    wait_for(&root, &tag, &size);
    comm_link_take(root, tag, index, sizeof *index);
    pthread_mutex_unlock(&deal->lock);
    return *index < deal->n;
}

void comm_deal_hand_in(struct comm_deal *deal, const void *bytes, size_t size)
{
    pthread_mutex_lock(&deal->lock);
    comm_link_send(0, TAG_RESULT, bytes, size);
    pthread_mutex_unlock(&deal->lock);
}

void comm_deal_stop(struct comm_deal *deal)
{
    pthread_mutex_lock(&deal->lock);
    deal->n_dealt = deal->n;
    pthread_mutex_unlock(&deal->lock);
}
