/* All waiting is looking now and then, with naps between: MPI's own waiting would take a processor from those who
 * work. */
#include "base/team.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/team_link.h"

#define NAP_NS 100000

enum tag { TAG_NEXT, TAG_ITEM, TAG_RESULT, TAG_CLOSE, TAG_STATUS, TAG_VERDICT };

static struct {
    int32_t rank, size;
} team = {0, 1};

bool team_is_built(void)
{
    return team_link_is_built();
}

enum clv_status team_join(struct clv_error *err)
{
    if (!team_link_join(&team.rank, &team.size))
        return fail(err, CLV_ERR_OS, "this MPI has no threads (MPI_THREAD_SERIALIZED)");
    return CLV_OK;
}

void team_leave(void)
{
    team_link_leave();
    team.rank = 0;
    team.size = 1;
}

int32_t team_rank(void)
{
    return team.rank;
}

int32_t team_size(void)
{
    return team.size;
}

/* The next message from a member, or from anybody (-1). */
static void wait_for(int32_t *from, int *tag, size_t *size)
{
    int32_t whom = *from;
    while (!team_link_look(from, tag, size)) {
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
        *from = whom;
    }
}

struct verdict {
    enum clv_status status;
    char message[CLV_ERROR_MESSAGE_MAX], host[TEAM_HOST_MAX];
};

static void receive_verdict(struct verdict *verdict, int32_t from)
{
    int tag;
    size_t size;
    wait_for(&from, &tag, &size);
    team_link_take(from, tag, verdict, sizeof *verdict);
}

enum clv_status team_agree(enum clv_status own, struct clv_error *err)
{
    struct verdict verdict = {.status = own}, other;
    if (team.size == 1)
        return own;
    if (own != CLV_OK && err)
        snprintf(verdict.message, sizeof verdict.message, "%s", err->message);
    gethostname(verdict.host, sizeof verdict.host - 1);
    if (team.rank) {
        team_link_send(0, TAG_STATUS, &verdict, sizeof verdict);
        receive_verdict(&verdict, 0);
        return verdict.status == CLV_OK ? CLV_OK : fail(err, verdict.status, "%s", verdict.message);
    }
    for (int32_t rank = 1; rank < team.size; rank++) {
        receive_verdict(&other, rank);
        if (verdict.status != CLV_OK || other.status == CLV_OK)
            continue;
        verdict.status = fail(err, other.status, "process %d on %s: %s", rank, other.host, other.message);
        if (err)
            memcpy(verdict.message, err->message, sizeof verdict.message);
    }
    for (int32_t rank = 1; rank < team.size; rank++)
        team_link_send(rank, TAG_VERDICT, &verdict, sizeof verdict);
    return verdict.status;
}

static size_t take_item(struct team_deal *deal)
{
    pthread_mutex_lock(&deal->lock);
    size_t index = deal->n_dealt < deal->n ? deal->n_dealt++ : deal->n;
    pthread_mutex_unlock(&deal->lock);
    return index;
}

static void take_result(struct team_deal *deal, int32_t from, size_t size)
{
    char *bytes = array_alloc(size, 1);
    team_link_take(from, TAG_RESULT, bytes, size);
    deal->take(deal->context, bytes, size);
    array_free(bytes);
}

/* The leader's answers, until all others have closed the deal. */
static void *serve(void *context)
{
    struct team_deal *deal = context;
    for (int32_t n_open = team.size - 1; n_open > 0;) {
        int32_t from = -1;
        int tag;
        size_t size, index;
        wait_for(&from, &tag, &size);
        if (tag == TAG_RESULT)
            take_result(deal, from, size);
        if (tag == TAG_NEXT) {
            index = take_item(deal);
            team_link_send(from, TAG_ITEM, &index, sizeof index);
        }
        n_open -= tag == TAG_CLOSE;
    }
    for (int32_t rank = 1; rank < team.size; rank++)
        team_link_send(rank, TAG_CLOSE, NULL, 0);
    return NULL;
}

enum clv_status team_deal_open(struct team_deal *deal, size_t n, team_take *take, void *context, struct clv_error *err)
{
    *deal = (struct team_deal){.n = n, .take = take, .context = context};
    pthread_mutex_init(&deal->lock, NULL);
    if (team.size == 1 || team.rank)
        return CLV_OK;
    deal->has_server = pthread_create(&deal->server, NULL, serve, deal) == 0;
    return deal->has_server ? CLV_OK : fail_errno(err, CLV_ERR_OS, "a thread that deals out work");
}

void team_deal_close(struct team_deal *deal)
{
    if (team.rank) { /* nothing else is sent before the leader has heard all */
        int32_t leader = 0;
        int tag;
        size_t size;
        team_link_send(leader, TAG_CLOSE, NULL, 0);
        wait_for(&leader, &tag, &size);
    } else if (deal->has_server) {
        pthread_join(deal->server, NULL);
    }
    pthread_mutex_destroy(&deal->lock);
}

bool team_deal_next(struct team_deal *deal, size_t *index)
{
    if (!team.rank) {
        *index = take_item(deal);
        return *index < deal->n;
    }
    int32_t leader = 0;
    int tag;
    size_t size;
    pthread_mutex_lock(&deal->lock);
    team_link_send(leader, TAG_NEXT, NULL, 0);
    wait_for(&leader, &tag, &size);
    team_link_take(leader, tag, index, sizeof *index);
    pthread_mutex_unlock(&deal->lock);
    return *index < deal->n;
}

void team_deal_hand_in(struct team_deal *deal, const void *bytes, size_t size)
{
    pthread_mutex_lock(&deal->lock);
    team_link_send(0, TAG_RESULT, bytes, size);
    pthread_mutex_unlock(&deal->lock);
}

void team_deal_stop(struct team_deal *deal)
{
    pthread_mutex_lock(&deal->lock);
    deal->n_dealt = deal->n;
    pthread_mutex_unlock(&deal->lock);
}
