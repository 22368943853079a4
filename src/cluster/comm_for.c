/* Parallel loops across MPI processes. comm_for assigns tasks in turn, comm_queue to whichever process is free, and
 * comm_for_sum adds their rows in a fixed tree, so that the sum has the same bits on any number of processes. Start at
 * comm_for. */
#include "cluster/comm_for.h"

#include <pthread.h>
#include <string.h>

#include "base/base.h"
#include "cluster/comm.h"
#include "cluster/comm_link.h"

enum meeting { MEETING_TASKS = 1, MEETING_QUEUE, MEETING_RESULTS, MEETING_SUM };

/* The rank that does each task: owner[n]. NULL: ranks take turns. */
struct shares {
    size_t n;
    const int64_t *owner;
};

static uint64_t hash_of_meeting(enum meeting meeting, uint64_t hash)
{
    return hash_bytes(HASH_START ^ meeting, &hash, sizeof hash);
}

static int32_t owner_of(const struct shares *self, size_t index)
{
    return self->owner ? (int32_t)self->owner[index] : (int32_t)(index % (size_t)comm_size());
}

/* Returns the number of a rank's tasks if n tasks are assigned in turn. */
static size_t n_in_turn(size_t n, size_t rank)
{
    size_t n_processes = (size_t)comm_size();
    return rank < n ? (n - rank + n_processes - 1) / n_processes : 0;
}

bool comm_does(size_t index)
{
    return parallel_is_within_task() || index % (size_t)comm_size() == (size_t)comm_rank();
}

static bool is_alone(void)
{
    return comm_size() == 1 || parallel_is_within_task();
}

/* The sizes of all processes' blocks, in units of COMM_LINK_UNIT bytes. */
struct exchange {
    size_t *n_units;         /* [size], borrowed */
    size_t total, first_own; /* units of all blocks, and of those before this process's block */
    uint64_t hash;           /* of the sizes */
};

static void measure(struct exchange *self, const struct shares *shares, comm_slot *slot, void *context)
{
    struct comm_piece piece;
    self->hash = HASH_START;
    for (size_t i = 0; i < shares->n; i++) {
        size_t size = 0;
        for (size_t k = 0; slot(&piece, context, i, k); k++)
            size += piece.size;
        self->n_units[owner_of(shares, i)] += size;
        self->hash = hash_bytes(self->hash, &size, sizeof size);
    }
    for (int32_t r = 0; r < comm_size(); r++) {
        self->n_units[r] = (self->n_units[r] + COMM_LINK_UNIT - 1) / COMM_LINK_UNIT;
        self->first_own += r < comm_rank() ? self->n_units[r] : 0;
        self->total += self->n_units[r];
    }
}

/* Packs the results of this process into its block. */
static void pack(char *to, const struct shares *shares, comm_slot *slot, void *context)
{
    struct comm_piece piece;
    for (size_t i = 0; i < shares->n; i++)
        for (size_t k = 0; owner_of(shares, i) == comm_rank() && slot(&piece, context, i, k); k++) {
            array_put(to, piece.at, piece.size, 1);
            to += piece.size;
        }
}

static void unpack(const char *from, int32_t rank, const struct shares *shares, comm_slot *slot, void *context)
{
    struct comm_piece piece;
    for (size_t i = 0; i < shares->n; i++)
        for (size_t k = 0; owner_of(shares, i) == rank && slot(&piece, context, i, k); k++) {
            if (piece.at)
                array_put(piece.at, from, piece.size, 1);
            from += piece.size;
        }
}

static enum clv_status exchange(const struct shares *shares, comm_slot *slot, void *context, bool to_all,
                                struct clv_error *err)
{
    OWNED_ARRAY size_t *n_units = array_zalloc((size_t)comm_size(), sizeof *n_units);
    OWNED_ARRAY char *bytes = NULL;
    struct exchange self = {.n_units = n_units};
    bool holds_all = to_all || !comm_rank();
    if (n_units) {
        measure(&self, shares, slot, context);
        size_t n = holds_all ? self.total : n_units[comm_rank()];
        bytes = array_alloc(n, COMM_LINK_UNIT);
    }
    char *own = bytes ? bytes + (holds_all ? self.first_own : 0) * COMM_LINK_UNIT : NULL;
    if (own)
        pack(own, shares, slot, context);
    MUST(comm_meet(hash_of_meeting(MEETING_RESULTS, own ? self.hash : 0), own ? CLV_OK : fail_memory(err), SIZE_MAX,
                   err));
    if (to_all)
        comm_link_gather(bytes, n_units);
    else
        comm_link_collect(bytes, n_units, own);
    const char *block = bytes;
    for (int32_t rank = 0; rank < comm_size() && holds_all && bytes; rank++) {
        if (rank != comm_rank())
            unpack(block, rank, shares, slot, context);
        block += n_units[rank] * COMM_LINK_UNIT;
    }
    return CLV_OK;
}

struct loop {
    parallel_task *task;
    void *context;
    struct comm_deal *deal; /* of a queue */
    int64_t *owner;         /* ranks of the tasks of a queue; set for tasks of this process */
    size_t first, step;     /* tasks of this process, without a queue */
    pthread_mutex_t lock;
    size_t first_failure; /* index of the first task that failed; the lock guards these three */
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

static enum clv_status run_own_task(void *context, size_t k, int thread, struct clv_error *err)
{
    struct loop *self = context;
    return run(self, self->first + k * self->step, thread, err);
}

/* Runs tasks of a queue. Rank 0 begins with task 0; the deal assigns the tasks from 1 on. */
static enum clv_status run_dealt(void *context, size_t k, int thread, struct clv_error *err)
{
    struct loop *self = context;
    bool is_first = !comm_rank() && k == 0;
    for (size_t index = 0; is_first || comm_deal_next(self->deal, &index); is_first = false) {
        index += !is_first;
        self->owner[index] = comm_rank();
        MUST(run(self, index, thread, err));
    }
    return CLV_OK;
}

static struct loop loop_of(parallel_task *task, void *context)
{
    return (struct loop){
        .task = task, .context = context, .step = 1, .lock = PTHREAD_MUTEX_INITIALIZER, .first_failure = SIZE_MAX};
}

static enum clv_status run_own(struct loop *self, size_t n, int n_threads, struct clv_error *err)
{
    comm_work_alone(true);
    enum clv_status status = parallel_for(n, n_threads, run_own_task, self, err);
    comm_work_alone(false);
    return status;
}

/* Ends the loop on all processes: each returns the failure of the first task that failed on any of them. */
static enum clv_status end_tasks(const struct loop *self, enum meeting meeting, size_t n, enum clv_status status,
                                 struct clv_error *err)
{
    if (self->status != CLV_OK) {
        status = self->status;
        *err = self->error;
    }
    return comm_meet(hash_of_meeting(meeting, n), status, self->first_failure, err);
}

enum clv_status comm_for(size_t n, int n_threads, parallel_task *task, comm_slot *slot, void *context,
                         struct clv_error *err)
{
    if (is_alone())
        return parallel_for(n, n_threads, task, context, err);
    struct loop loop = loop_of(task, context);
    struct clv_error error;
    loop.first = (size_t)comm_rank();
    loop.step = (size_t)comm_size();
    enum clv_status status = run_own(&loop, n_in_turn(n, (size_t)comm_rank()), n_threads, &error);
    MUST(end_tasks(&loop, MEETING_TASKS, n, status, err ? err : &error));
    return comm_share(n, slot, context, err);
}

static void take_nothing(void *context, const void *bytes, size_t size)
{
    (void)context, (void)bytes, (void)size;
}

/* Deals the tasks out and runs those of this process. All processes open and close the deal together, so a process
 * whose task failed closes it before returning. */
static enum clv_status run_deal(struct loop *self, size_t n, int n_threads, struct clv_error *err)
{
    struct comm_deal deal;
    self->deal = &deal;
    enum clv_status status = comm_deal_open(&deal, n - 1, take_nothing, NULL, err);
    comm_work_alone(true);
    if (status == CLV_OK)
        status = parallel_for((size_t)parallel_threads(n_threads), n_threads, run_dealt, self, err);
    if (status != CLV_OK && !comm_rank())
        comm_deal_stop(&deal);
    comm_deal_close(&deal);
    comm_work_alone(false);
    self->deal = NULL;
    return status;
}

enum clv_status comm_queue(size_t n, int n_threads, parallel_task *task, comm_slot *slot, void *context,
                           struct clv_error *err)
{
    if (is_alone() || !n)
        return parallel_for(n, n_threads, task, context, err);
    struct clv_error error = {0};
    OWNED_ARRAY int64_t *owner = array_alloc(n, sizeof *owner);
    struct loop loop = loop_of(task, context);
    loop.owner = owner;
    for (size_t i = 0; owner && i < n; i++)
        owner[i] = -1;
    err = err ? err : &error;
    MUST(comm_meet(hash_of_meeting(MEETING_QUEUE, n), owner ? CLV_OK : fail_memory(err), SIZE_MAX, err));
    enum clv_status status = run_deal(&loop, n, n_threads, &error);
    if (status != CLV_OK)
        *err = error;
    MUST(end_tasks(&loop, MEETING_TASKS, n, status, err));
    struct shares shares = {n, owner};
    comm_link_largest(owner, n);
    return exchange(&shares, slot, context, true, err);
}

enum clv_status comm_share(size_t n, comm_slot *slot, void *context, struct clv_error *err)
{
    struct shares shares = {n, NULL};
    return is_alone() ? CLV_OK : exchange(&shares, slot, context, true, err);
}

enum clv_status comm_collect(size_t n, comm_slot *slot, void *context, struct clv_error *err)
{
    struct shares shares = {n, NULL};
    return is_alone() ? CLV_OK : exchange(&shares, slot, context, false, err);
}

/* The order of additions: the rows of a block of BLOCK one after the other; then a block and its neighbour, two such
 * pairs, and so on, as in a balanced tree. Before a process sends its rows, it adds up every subtree of which it has
 * all rows. Its rows become one piece if they are exactly one subtree, otherwise about 2 log2(n / BLOCK) pieces and
 * fewer than BLOCK single rows. */
#define STRIPE_WORK ((size_t)1 << 15) /* additions that are worth a thread */

enum { BLOCK = 32, MOST_PIECES = 2 * 64 + BLOCK };

/* The sum of the rows begin .. end - 1: one row, the first rows of a block, or all rows below a node of the tree. */
struct piece {
    size_t begin, end;
    double *row;
};

/* Pieces of adjoining rows, in order, merged as far as the tree allows. */
struct pieces {
    size_t n, first_column, end_column; /* columns that are added up */
    struct piece items[MOST_PIECES];
};

/* Whether the tree adds piece b to piece a, whose rows come just before. */
static bool belong_together(const struct piece *a, const struct piece *b)
{
    size_t size = a->end - a->begin;
    if (size < BLOCK)
        return a->begin % BLOCK == 0 && b->end - b->begin == 1;
    return a->begin % (2 * size) == 0 && b->end - b->begin == size;
}

static void add_last(struct pieces *self)
{
    const struct piece *more = &self->items[--self->n];
    struct piece *sum = &self->items[self->n - 1];
    for (size_t k = self->first_column; k < self->end_column; k++)
        sum->row[k] += more->row[k];
    sum->end = more->end;
}

static void append(struct pieces *self, const struct piece *piece)
{
    self->items[self->n++] = *piece;
    while (self->n > 1 && belong_together(&self->items[self->n - 2], &self->items[self->n - 1]))
        add_last(self);
}

/* Lists the pieces into which the rows begin .. end - 1 are summed. Their sums are stored from `rows` on. */
static void list_pieces(struct pieces *self, size_t begin, size_t end, double *rows, size_t size)
{
    *self = (struct pieces){0};
    while (begin < end) {
        size_t n = begin % BLOCK || end - begin < BLOCK ? 1 : BLOCK;
        while (n >= BLOCK && begin % (2 * n) == 0 && end - begin >= 2 * n)
            n *= 2;
        append(self, &(struct piece){begin, begin + n, NULL});
        begin += n;
    }
    for (size_t i = 0; i < self->n; i++)
        self->items[i].row = rows + i * size;
}

struct sum {
    double *rows;                          /* [n][size] */
    size_t n, size, n_stripes, begin, end; /* begin .. end - 1: own rows */
    struct pieces pieces;                  /* of the rows that this process has summed or received so far */
    double *current, *coming, *next; /* [most_pieces][size] pieces: packed, another process's, to be packed next */
};

static size_t first_of(size_t n, int32_t rank)
{
    return n * (size_t)rank / (size_t)comm_size();
}

static size_t most_pieces(size_t n)
{
    size_t most = BLOCK;
    for (size_t size = BLOCK; size < n; size *= 2)
        most += 2;
    return n < most ? n : most;
}

/* Adds up some columns of the rows of this process. */
static enum clv_status add_stripe(void *context, size_t stripe, int thread, struct clv_error *err)
{
    (void)thread, (void)err;
    struct sum *self = context;
    struct pieces pieces = {.first_column = self->size * stripe / self->n_stripes,
                            .end_column = self->size * (stripe + 1) / self->n_stripes};
    for (size_t i = self->begin; i < self->end; i++)
        append(&pieces, &(struct piece){i, i + 1, &self->rows[i * self->size]});
    if (stripe == 0)
        self->pieces = pieces;
    return CLV_OK;
}

static enum clv_status add_own_rows(struct sum *self, int n_threads, struct clv_error *err)
{
    size_t most = (self->end - self->begin) * self->size / STRIPE_WORK + 1,
           threads = (size_t)parallel_threads(n_threads);
    self->n_stripes = threads < most ? threads : most;
    enum clv_status status = parallel_for(self->n_stripes, n_threads, add_stripe, self, err);
    self->pieces.first_column = 0;
    self->pieces.end_column = self->size;
    return status;
}

/* Writes the sum of all rows into the first row. Adds up the pieces, beginning with the last two. */
static void finish(struct sum *self)
{
    while (self->pieces.n > 1)
        add_last(&self->pieces);
    const double *sum = self->pieces.items[0].row;
    for (size_t k = 0; k < self->size; k++)
        self->rows[k] = 0.0 + sum[k];
}

static void pack_pieces(struct sum *self)
{
    double *packed = self->next;
    for (size_t i = 0; i < self->pieces.n; i++) {
        double *row = &packed[i * self->size];
        memcpy(row, self->pieces.items[i].row, self->size * sizeof *row);
        self->pieces.items[i].row = row;
    }
    self->next = self->current;
    self->current = packed;
}

static size_t bytes_of(const struct sum *self, const struct pieces *pieces)
{
    return pieces->n * self->size * sizeof *self->rows;
}

static void join(struct sum *self, const struct pieces *lower, const struct pieces *upper)
{
    struct pieces joined = {.end_column = self->size};
    for (size_t i = 0; i < lower->n; i++)
        append(&joined, &lower->items[i]);
    for (size_t i = 0; i < upper->n; i++)
        append(&joined, &upper->items[i]);
    self->pieces = joined;
}

/* Exchanges pieces with the process `with`, which holds those of ranks first .. end - 1. These ranks adjoin the ranks
 * whose pieces this process holds. */
static void trade(struct sum *self, int32_t with, int32_t first, int32_t end, bool gives, bool takes)
{
    struct pieces theirs;
    list_pieces(&theirs, first_of(self->n, first), first_of(self->n, end), self->coming, self->size);
    pack_pieces(self);
    comm_link_trade(with, self->current, gives ? bytes_of(self, &self->pieces) : 0, self->coming,
                    takes ? bytes_of(self, &theirs) : 0);
    if (takes && first < comm_rank())
        join(self, &theirs, &self->pieces);
    else if (takes)
        join(self, &self->pieces, &theirs);
}

/* The rank of a participant of the exchange, in which only the lower process of each of the first n_pairs pairs takes
 * part. */
static int32_t rank_of(int32_t index, int32_t n_pairs)
{
    return index < n_pairs ? 2 * index : index + n_pairs;
}

/* Exchanges pieces in pairs of processes: neighbours, then those two apart, four apart and so on (recursive doubling),
 * until each process has all pieces. If the number of processes is not a power of two, some of them first give their
 * pieces to a neighbour, which sends them the sum at the end. */
static void trade_all(struct sum *self)
{
    int32_t rank = comm_rank(), n_in_trade = 1;
    while (n_in_trade * 2 <= comm_size())
        n_in_trade *= 2;
    const int32_t n_pairs = comm_size() - n_in_trade, neighbour = rank ^ 1;
    const bool is_paired = rank < 2 * n_pairs, is_upper = is_paired && rank % 2;
    const int32_t index = is_paired ? rank / 2 : rank - n_pairs;
    const size_t row = self->size * sizeof *self->rows;
    if (is_paired)
        trade(self, neighbour, neighbour, neighbour + 1, is_upper, !is_upper);
    for (int32_t step = 1; step < n_in_trade && !is_upper; step *= 2) {
        int32_t with = index ^ step, first = with & ~(step - 1);
        trade(self, rank_of(with, n_pairs), rank_of(first, n_pairs), rank_of(first + step, n_pairs), true, true);
    }
    if (!is_upper)
        finish(self);
    if (is_paired)
        comm_link_trade(neighbour, self->rows, is_upper ? 0 : row, self->rows, is_upper ? row : 0);
}

enum clv_status comm_for_sum(size_t n, int n_threads, parallel_task *task, void *context, double *rows, size_t size,
                             struct clv_error *err)
{
    struct sum self = {.rows = rows, .n = n, .size = size, .end = n};
    struct loop loop = loop_of(task, context);
    struct clv_error error = {0};
    if (is_alone()) {
        MUST(parallel_for(n, n_threads, task, context, err));
        MUST(add_own_rows(&self, n_threads, err));
        finish(&self);
        return CLV_OK;
    }
    self.begin = loop.first = first_of(n, comm_rank());
    self.end = first_of(n, comm_rank() + 1);
    OWNED_ARRAY double *buffers = array_alloc(3 * most_pieces(n), size * sizeof *rows);
    enum clv_status status = buffers ? run_own(&loop, self.end - self.begin, n_threads, &error) : fail_memory(&error);
    MUST(end_tasks(&loop, MEETING_SUM, n * size, status, err ? err : &error));
    MUST(add_own_rows(&self, n_threads, err));
    if (buffers) {
        self.current = buffers;
        self.coming = self.current + most_pieces(n) * size;
        self.next = self.coming + most_pieces(n) * size;
        trade_all(&self);
    }
    return CLV_OK;
}
