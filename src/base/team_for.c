#include "base/team_for.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/team.h"
#include "base/team_link.h"

enum place { PLACE_TASKS = 1, PLACE_QUEUE, PLACE_RESULTS, PLACE_SUM };

/* Who does which task: owner[n], or NULL: in turn. */
struct shares {
    size_t n;
    const int64_t *owner;
};

static uint64_t place_of(enum place place, uint64_t hash)
{
    return hash_bytes(HASH_START ^ place, &hash, sizeof hash);
}

static int32_t owner_of(const struct shares *self, size_t index)
{
    return self->owner ? (int32_t)self->owner[index] : (int32_t)(index % (size_t)team_size());
}

/* How many of n tasks a member does where they are done in turn. */
static size_t n_in_turn(size_t n, size_t rank)
{
    size_t members = (size_t)team_size();
    return rank < n ? (n - rank + members - 1) / members : 0;
}

bool team_does(size_t index)
{
    return parallel_is_within_task() || index % (size_t)team_size() == (size_t)team_rank();
}

static bool is_alone(void)
{
    return team_size() == 1 || parallel_is_within_task();
}

/* --- results --- */

/* What goes to whom: blocks[size], each of whole units. */
struct exchange {
    char *bytes;     /* all blocks, or the own one */
    size_t *n_units; /* [size] */
    size_t total, first_own;
    uint64_t hash; /* of the sizes */
};

static void measure(struct exchange *self, const struct shares *shares, team_slot *slot, void *context)
{
    struct team_piece piece;
    self->hash = HASH_START;
    for (size_t i = 0; i < shares->n; i++) {
        size_t size = 0;
        for (size_t k = 0; slot(&piece, context, i, k); k++)
            size += piece.size;
        self->n_units[owner_of(shares, i)] += size;
        self->hash = hash_bytes(self->hash, &size, sizeof size);
    }
    for (int32_t r = 0; r < team_size(); r++) {
        self->n_units[r] = (self->n_units[r] + TEAM_LINK_UNIT - 1) / TEAM_LINK_UNIT;
        self->first_own += r < team_rank() ? self->n_units[r] : 0;
        self->total += self->n_units[r];
    }
}

/* Own results into their block. */
static void pack(char *to, const struct shares *shares, team_slot *slot, void *context)
{
    struct team_piece piece;
    for (size_t i = 0; i < shares->n; i++)
        for (size_t k = 0; owner_of(shares, i) == team_rank() && slot(&piece, context, i, k); k++) {
            if (piece.size)
                memcpy(to, piece.at, piece.size);
            to += piece.size;
        }
}

static void unpack(const char *from, int32_t rank, const struct shares *shares, team_slot *slot, void *context)
{
    struct team_piece piece;
    for (size_t i = 0; i < shares->n; i++)
        for (size_t k = 0; owner_of(shares, i) == rank && slot(&piece, context, i, k); k++) {
            if (piece.at && piece.size)
                memcpy(piece.at, from, piece.size);
            from += piece.size;
        }
}

static enum clv_status exchange(const struct shares *shares, team_slot *slot, void *context, bool to_all,
                                struct clv_error *err)
{
    struct exchange self = {.n_units = array_zalloc((size_t)team_size(), sizeof *self.n_units)};
    bool holds_all = to_all || !team_rank();
    if (self.n_units) {
        measure(&self, shares, slot, context);
        size_t n = holds_all ? self.total : self.n_units[team_rank()];
        self.bytes = array_alloc(n, TEAM_LINK_UNIT);
    }
    char *own = self.bytes ? self.bytes + (holds_all ? self.first_own : 0) * TEAM_LINK_UNIT : NULL;
    if (own)
        pack(own, shares, slot, context);
    enum clv_status status =
        team_meet(place_of(PLACE_RESULTS, own ? self.hash : 0), own ? CLV_OK : fail_memory(err), SIZE_MAX, err);
    if (status == CLV_OK && to_all)
        team_link_gather(self.bytes, self.n_units);
    else if (status == CLV_OK)
        team_link_collect(self.bytes, self.n_units, own);
    const char *block = self.bytes;
    for (int32_t rank = 0; rank < team_size() && status == CLV_OK && holds_all && self.bytes; rank++) {
        if (rank != team_rank())
            unpack(block, rank, shares, slot, context);
        block += self.n_units[rank] * TEAM_LINK_UNIT;
    }
    array_free(self.bytes);
    array_free(self.n_units);
    return status;
}

/* --- tasks --- */

struct loop {
    parallel_task *task;
    void *context;
    struct team_deal *deal; /* of a queue */
    int64_t *owner;         /* of a queue's tasks, as far as they are this member's */
    pthread_mutex_t lock;
    size_t first_failure; /* of the tasks; these three are guarded by the lock */
    enum clv_status status;
    struct clv_error error;
};

static enum clv_status run(struct loop *self, size_t index, int thread, struct clv_error *err)
{
    enum clv_status status = self->task(self->context, index, thread, err);
    if (status == CLV_OK)
        return CLV_OK;
    pthread_mutex_lock(&self->lock);
    if (index < self->first_failure) {
        self->first_failure = index;
        self->status = status;
        self->error = *err;
    }
    pthread_mutex_unlock(&self->lock);
    return status;
}

static enum clv_status run_in_turn(void *context, size_t k, int thread, struct clv_error *err)
{
    return run(context, (size_t)team_rank() + k * (size_t)team_size(), thread, err);
}

static enum clv_status run_dealt(void *context, size_t ignored, int thread, struct clv_error *err)
{
    (void)ignored;
    struct loop *self = context;
    enum clv_status status = CLV_OK;
    for (size_t index; status == CLV_OK && team_deal_next(self->deal, &index);) {
        self->owner[index] = team_rank();
        status = run(self, index, thread, err);
    }
    return status;
}

static struct loop loop_of(parallel_task *task, void *context)
{
    return (struct loop){
        .task = task, .context = context, .lock = PTHREAD_MUTEX_INITIALIZER, .first_failure = SIZE_MAX};
}

/* Where the tasks are done: all learn whether they all went well. */
static enum clv_status end_tasks(const struct loop *self, enum place place, size_t n, enum clv_status status,
                                 struct clv_error *err)
{
    if (self->status != CLV_OK) {
        status = self->status;
        *err = self->error;
    }
    return team_meet(place_of(place, n), status, self->first_failure, err);
}

enum clv_status team_for(size_t n, int n_threads, parallel_task *task, team_slot *slot, void *context,
                         struct clv_error *err)
{
    if (is_alone())
        return parallel_for(n, n_threads, task, context, err);
    struct loop loop = loop_of(task, context);
    struct clv_error own;
    team_work_alone(true);
    enum clv_status status = parallel_for(n_in_turn(n, (size_t)team_rank()), n_threads, run_in_turn, &loop, &own);
    team_work_alone(false);
    status = end_tasks(&loop, PLACE_TASKS, n, status, err ? err : &own);
    return status == CLV_OK ? team_share(n, slot, context, err) : status;
}

static void take_nothing(void *context, const void *bytes, size_t size)
{
    (void)context, (void)bytes, (void)size;
}

enum clv_status team_queue(size_t n, int n_threads, parallel_task *task, team_slot *slot, void *context,
                           struct clv_error *err)
{
    if (is_alone())
        return parallel_for(n, n_threads, task, context, err);
    struct team_deal deal;
    struct clv_error own = {0};
    struct loop loop = loop_of(task, context);
    loop.deal = &deal;
    loop.owner = array_alloc(n, sizeof *loop.owner);
    for (size_t i = 0; loop.owner && i < n; i++)
        loop.owner[i] = -1;
    err = err ? err : &own;
    enum clv_status status = team_meet(place_of(PLACE_QUEUE, n), loop.owner ? CLV_OK : fail_memory(err), SIZE_MAX, err);
    if (status != CLV_OK) {
        array_free(loop.owner);
        return status;
    }
    team_work_alone(true);
    status = team_deal_open(&deal, n, take_nothing, NULL, &own);
    if (status == CLV_OK)
        status = parallel_for((size_t)parallel_threads(n_threads), n_threads, run_dealt, &loop, &own);
    if (status != CLV_OK && !team_rank())
        team_deal_stop(&deal);
    team_deal_close(&deal);
    team_work_alone(false);
    if (status != CLV_OK)
        *err = own;
    status = end_tasks(&loop, PLACE_TASKS, n, status, err);
    if (status == CLV_OK) {
        struct shares shares = {n, loop.owner};
        team_link_largest(loop.owner, n);
        status = exchange(&shares, slot, context, true, err);
    }
    array_free(loop.owner);
    return status;
}

enum clv_status team_share(size_t n, team_slot *slot, void *context, struct clv_error *err)
{
    struct shares shares = {n, NULL};
    return is_alone() ? CLV_OK : exchange(&shares, slot, context, true, err);
}

enum clv_status team_collect(size_t n, team_slot *slot, void *context, struct clv_error *err)
{
    struct shares shares = {n, NULL};
    return is_alone() ? CLV_OK : exchange(&shares, slot, context, false, err);
}

/* --- sums --- */

enum { UNIT = TEAM_LINK_UNIT / sizeof(double) }; /* numbers; members add up slices of whole units */

struct sum {
    const double *rows; /* [n][size] */
    size_t n, size, n_units;
    double *given, *taken;             /* own rows, by slice; the own slice of all rows, by member */
    size_t *n_given, *n_taken, *slice; /* [members] units; slice: of a row */
};

static size_t slice_begin(const struct sum *self, int32_t rank)
{
    return self->n_units * (size_t)rank / (size_t)team_size();
}

static bool sum_open(struct sum *self)
{
    size_t members = (size_t)team_size(), rank = (size_t)team_rank();
    self->n_given = array_alloc(members, 3 * sizeof *self->n_given);
    if (!self->n_given)
        return false;
    self->n_taken = self->n_given + members;
    self->slice = self->n_taken + members;
    for (int32_t r = 0; r < team_size(); r++)
        self->slice[r] = slice_begin(self, r + 1) - slice_begin(self, r);
    for (int32_t r = 0; r < team_size(); r++) {
        self->n_given[r] = n_in_turn(self->n, rank) * self->slice[r];
        self->n_taken[r] = n_in_turn(self->n, (size_t)r) * self->slice[rank];
    }
    self->given = array_zalloc(n_in_turn(self->n, rank) * self->n_units, TEAM_LINK_UNIT);
    self->taken = array_zalloc(self->n * self->slice[rank] + self->n_units, TEAM_LINK_UNIT);
    return self->given && self->taken;
}

static void lay_slices(const struct sum *self)
{
    double *to = self->given;
    for (int32_t r = 0; r < team_size(); r++)
        for (size_t i = (size_t)team_rank(); i < self->n; i += (size_t)team_size()) {
            size_t first = slice_begin(self, r) * UNIT, end = slice_begin(self, r + 1) * UNIT;
            end = end < self->size ? end : self->size;
            if (end > first)
                memcpy(to, self->rows + i * self->size + first, (end - first) * sizeof *to);
            to += self->slice[r] * UNIT;
        }
}

/* The own slice of all rows, into its place in all[n_units]. */
static void add_slice(double *all, const struct sum *self)
{
    size_t members = (size_t)team_size(), width = self->slice[team_rank()] * UNIT;
    double *own = all + slice_begin(self, team_rank()) * UNIT;
    size_t n_before = 0; /* rows of members of lower rank than the one that did task i */
    memset(own, 0, width * sizeof *own);
    for (size_t i = 0; i < self->n; i++) {
        size_t member = i % members;
        n_before = member ? n_before + n_in_turn(self->n, member - 1) : 0;
        const double *row = self->taken + (n_before + i / members) * width;
        for (size_t k = 0; k < width; k++)
            own[k] += row[k];
    }
}

static void add_rows(double *sum, const double *rows, size_t n, size_t size)
{
    for (size_t k = 0; k < size; k++)
        sum[k] = 0.0 + rows[k];
    for (size_t i = 1; i < n; i++)
        for (size_t k = 0; k < size; k++)
            sum[k] += rows[i * size + k];
}

enum clv_status team_sum(double *sum, const double *rows, size_t n, size_t size, struct clv_error *err)
{
    if (is_alone()) {
        add_rows(sum, rows, n, size);
        return CLV_OK;
    }
    struct sum self = {.rows = rows, .n = n, .size = size, .n_units = (size + UNIT - 1) / UNIT};
    enum clv_status status = sum_open(&self) ? CLV_OK : fail_memory(err);
    status = team_meet(place_of(PLACE_SUM, n * size), status, SIZE_MAX, err);
    if (status == CLV_OK && self.slice) {
        double *all = self.taken + n * self.slice[team_rank()] * UNIT;
        lay_slices(&self);
        team_link_swap(self.taken, self.n_taken, self.given, self.n_given);
        add_slice(all, &self);
        team_link_gather(all, self.slice);
        memcpy(sum, all, size * sizeof *sum);
    }
    array_free(self.n_given);
    array_free(self.given);
    array_free(self.taken);
    return status;
}
