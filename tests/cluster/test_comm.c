/* Teams of one process, and teams of several that are joined by sockets; those of mpirun are tools/check-comm's. */
#include "cluster/comm.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base.h"
#include "cluster/comm_for.h"
#include "support/support.h"
#include "support/team.h"

enum { N_ITEMS = 100 };

struct dealt {
    struct comm_deal deal;
    int times[N_ITEMS];
};

static enum clv_status take_all(void *context, size_t ignored, int thread, struct clv_error *error)
{
    (void)ignored;
    (void)thread;
    (void)error;
    struct dealt *self = context;
    size_t before = 0, index;
    for (int n = 0; comm_deal_next(&self->deal, &index); n++) {
        ck_assert(n == 0 || index > before);
        before = index;
        self->times[index]++;
    }
    return CLV_OK;
}

TEST(a_team_of_one_deals_each_item_once_to_its_own_threads)
{
    struct dealt self = {0};
    ck_assert(comm_rank() == 0 && comm_size() == 1);
    must(comm_deal_open(&self.deal, N_ITEMS, NULL, NULL, err));
    must(parallel_for(3, 3, take_all, &self, err));
    comm_deal_close(&self.deal);
    for (int i = 0; i < N_ITEMS; i++)
        ck_assert_int_eq(self.times[i], 1);
}

TEST(nothing_is_dealt_after_a_stop)
{
    struct comm_deal deal;
    size_t index;
    must(comm_deal_open(&deal, N_ITEMS, NULL, NULL, err));
    ck_assert(comm_deal_next(&deal, &index) && index == 0);
    comm_deal_stop(&deal);
    ck_assert(!comm_deal_next(&deal, &index));
    comm_deal_close(&deal);
}

TEST(a_team_of_one_agrees_with_itself)
{
    struct clv_error error = {0};
    ck_assert_int_eq(comm_agree(CLV_OK, &error), CLV_OK);
    ck_assert_int_eq(comm_agree(fail(&error, CLV_ERR_DATA, "so it is"), &error), CLV_ERR_DATA);
    ck_assert_str_eq(error.message, "so it is");
}

struct squares {
    double values[N_ITEMS];
    size_t bad; /* task that fails */
};

static enum clv_status square(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    struct squares *self = context;
    self->values[index] = (double)(index * index);
    return index == self->bad ? fail(err, CLV_ERR_DATA, "task %zu", index) : CLV_OK;
}

static bool square_slot(struct comm_piece *piece, void *context, size_t index, size_t k)
{
    struct squares *self = context;
    *piece = (struct comm_piece){&self->values[index], sizeof *self->values};
    return k == 0;
}

TEST(a_team_of_one_does_all_tasks_itself)
{
    struct squares turns = {.bad = N_ITEMS}, queue = {.bad = N_ITEMS};
    must(comm_for(N_ITEMS, 2, square, square_slot, &turns, err));
    must(comm_queue(N_ITEMS, 2, square, square_slot, &queue, err));
    must(comm_share(N_ITEMS, square_slot, &turns, err));
    must(comm_collect(N_ITEMS, square_slot, &turns, err));
    for (size_t i = 0; i < N_ITEMS; i++)
        ck_assert(comm_does(i) && turns.values[i] == (double)(i * i) && queue.values[i] == turns.values[i]);
}

TEST(the_first_task_that_fails_is_reported)
{
    struct clv_error error;
    struct squares self = {.bad = 7};
    ck_assert_int_eq(comm_for(N_ITEMS, 1, square, square_slot, &self, &error), CLV_ERR_DATA);
    ck_assert_str_eq(error.message, "task 7");
}

static enum clv_status loop_within(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)index;
    (void)thread;
    ck_assert(parallel_is_within_task());
    return comm_for(N_ITEMS, 3, square, square_slot, context, err);
}

TEST(a_loop_within_a_task_is_done_there)
{
    struct squares self = {.bad = N_ITEMS};
    ck_assert(!parallel_is_within_task());
    must(parallel_for(1, 1, loop_within, &self, err));
    ck_assert(!parallel_is_within_task() && self.values[9] == 81);
}

enum { N_ROWS = 147, WIDTH = 1000, BLOCK = 32 }; /* enough for two threads to add */

struct table {
    double rows[N_ROWS][WIDTH];
};

static double entry(size_t row, size_t column)
{
    return 1 / (double)(3 + row * 7 + column);
}

static enum clv_status fill_row(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread, (void)err;
    struct table *self = context;
    for (size_t k = 0; k < WIDTH; k++)
        self->rows[index][k] = entry(index, k);
    return CLV_OK;
}

/* The rows begin .. begin + size - 1, as far as there are any: halves, and blocks in order. */
static double tree_sum(size_t begin, size_t size, size_t n, size_t column)
{
    double sum = 0;
    if (size > BLOCK) {
        sum = tree_sum(begin, size / 2, n, column);
        return begin + size / 2 < n ? sum + tree_sum(begin + size / 2, size / 2, n, column) : sum;
    }
    for (size_t i = begin; i < begin + size && i < n; i++)
        sum += entry(i, column);
    return sum;
}

TEST(rows_are_added_up_as_a_balanced_tree_over_blocks_at_any_number_of_threads)
{
    static const size_t counts[] = {1, 7, 16, 17, 48, 64, 100, N_ROWS};
    static struct table whole, *table = &whole;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (int n_threads = 1; n_threads <= 3; n_threads++) {
            must(comm_for_sum(counts[i], n_threads, fill_row, table, table->rows[0], WIDTH, err));
            for (size_t k = 0; k < WIDTH; k++)
                ck_assert(table->rows[0][k] == tree_sum(0, 256, counts[i], k));
        }
}

TEST(a_sum_whose_task_fails_is_none)
{
    struct clv_error error;
    struct squares self = {.bad = 7};
    ck_assert_int_eq(comm_for_sum(N_ITEMS, 2, square, &self, self.values, 1, &error), CLV_ERR_DATA);
    ck_assert_str_eq(error.message, "task 7");
}

/* Sizes of teams: powers of two and others. */
static const int sizes[] = {2, 3, 4, 5, 8};
enum { N_SIZES = 5 };

static void add_rows(void *context)
{
    static const size_t counts[] = {1, 3, 32, 33, 64, 100, N_ROWS};
    struct table *table = context;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        must(comm_for_sum(counts[i], 1 + comm_rank() % 2, fill_row, table, table->rows[0], WIDTH, err));
        for (size_t k = 0; k < WIDTH; k++)
            ck_assert_msg(table->rows[0][k] == tree_sum(0, 256, counts[i], k), "process %d: sum %zu of %zu rows",
                          comm_rank(), k, counts[i]);
    }
}

TESTS(a_team_adds_up_rows_to_the_bits_of_one_process, 0, N_SIZES)
{
    static struct table table;
    run_team(sizes[_i], add_rows, &table);
}

/* Task i writes i % 3 numbers and its square; which process did it counts there. */
struct shared {
    double squares[N_ITEMS];
    int64_t numbers[N_ITEMS][2];
    int done[N_ITEMS]; /* by this process */
    size_t bad;
    bool ignores_numbers;
};

static enum clv_status work(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    struct shared *self = context;
    self->squares[index] = (double)(index * index);
    for (size_t k = 0; k < index % 3; k++)
        self->numbers[index][k] = (int64_t)(1000 * index + k);
    self->done[index]++;
    return index >= self->bad ? fail(err, CLV_ERR_DATA, "task %zu", index) : CLV_OK;
}

static bool work_slot(struct comm_piece *piece, void *context, size_t index, size_t k)
{
    struct shared *self = context;
    *piece = (struct comm_piece){&self->squares[index], sizeof *self->squares};
    if (k)
        *piece = (struct comm_piece){&self->numbers[index][k - 1], sizeof **self->numbers};
    if (k && self->ignores_numbers)
        piece->at = NULL;
    return k <= index % 3;
}

/* Whether results of the first n tasks are there, and those of others are not. */
static void expect_results(const struct shared *self, size_t n)
{
    for (size_t i = 0; i < N_ITEMS; i++) {
        ck_assert_msg(self->squares[i] == (i < n ? (double)(i * i) : 0), "process %d: task %zu", comm_rank(), i);
        for (size_t k = 0; k < 2; k++)
            ck_assert_int_eq(self->numbers[i][k], i < n && k < i % 3 ? (int64_t)(1000 * i + k) : 0);
    }
}

static void loop_in_turn(void *context)
{
    static const size_t counts[] = {0, 1, 7, N_ITEMS};
    (void)context;
    for (size_t c = 0; c < 4; c++) {
        struct shared self = {.bad = N_ITEMS};
        must(comm_for(counts[c], 2, work, work_slot, &self, err));
        expect_results(&self, counts[c]);
        for (size_t i = 0; i < N_ITEMS; i++) {
            const bool is_own = i % (size_t)comm_size() == (size_t)comm_rank();
            ck_assert_int_eq(self.done[i], is_own && i < counts[c]);
            ck_assert(comm_does(i) == is_own);
        }
    }
}

TESTS(processes_take_turns_and_all_have_all_results, 0, N_SIZES)
{
    run_team(sizes[_i], loop_in_turn, NULL);
}

/* What all processes of a team count in, which the test's own reads afterwards. */
struct tally {
    atomic_int times[N_ITEMS], other;
};

static struct tally *new_tally(void)
{
    void *memory = mmap(NULL, sizeof(struct tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(memory != MAP_FAILED);
    return memory;
}

static void loop_by_queue(void *context)
{
    struct tally *tally = context;
    for (size_t n = 0; n < N_ITEMS; n = 2 * n + 1) {
        struct shared self = {.bad = N_ITEMS};
        must(comm_queue(n, 2, work, work_slot, &self, err));
        expect_results(&self, n);
        ck_assert(!n || self.done[0] == (comm_rank() == 0)); /* task 0 is for rank 0 */
        for (size_t i = 0; i < n; i++)
            tally->times[i] += self.done[i];
    }
}

TESTS(a_queue_gives_each_task_to_one_process_and_all_have_all_results, 0, N_SIZES)
{
    struct tally *tally = new_tally();
    run_team(sizes[_i], loop_by_queue, tally);
    for (int i = 0; i < N_ITEMS; i++) {
        int wanted = 0; /* loops that had this task */
        for (int n = 0; n < N_ITEMS; n = 2 * n + 1)
            wanted += i < n;
        ck_assert_int_eq(tally->times[i], wanted);
    }
    munmap(tally, sizeof *tally);
}

static void fail_tasks(void *context)
{
    (void)context;
    for (int way = 0; way < 2; way++) {
        struct shared self = {.bad = 41};
        struct clv_error error = {0};
        enum clv_status status = way ? comm_queue(N_ITEMS, 1, work, work_slot, &self, &error)
                                     : comm_for(N_ITEMS, 1, work, work_slot, &self, &error);
        ck_assert_int_eq(status, CLV_ERR_DATA);
        must_say(error.message, "task 41");
        struct squares sum = {.bad = 7};
        ck_assert_int_eq(comm_for_sum(N_ITEMS, 1, square, &sum, sum.values, 1, &error), CLV_ERR_DATA);
        must_say(error.message, "task 7");
    }
}

TESTS(all_processes_return_the_failure_of_the_first_task, 0, N_SIZES)
{
    run_team(sizes[_i], fail_tasks, NULL);
}

static void share_more(void *context)
{
    (void)context;
    for (int way = 0; way < 2; way++) { /* with all, with rank 0 */
        struct shared self = {.bad = N_ITEMS, .ignores_numbers = comm_rank() == 1};
        for (size_t i = 0; i < N_ITEMS; i++)
            if (comm_does(i)) {
                self.ignores_numbers = false;
                must(work(&self, i, 0, err));
            }
        struct shared before = self;
        if (way)
            must(comm_collect(N_ITEMS, work_slot, &self, err));
        else
            must(comm_share(N_ITEMS, work_slot, &self, err));
        if (!way || !comm_rank())
            expect_results(&self, N_ITEMS);
        else
            ck_assert_int_eq(memcmp(&self, &before, sizeof self), 0); /* the others keep their own alone */
    }
}

TESTS(results_are_shared_with_all_or_collected_by_the_first, 0, N_SIZES)
{
    run_team(sizes[_i], share_more, NULL);
}

/* Rank 0 is sent each result once, whole, and by one thread at a time. */
struct results {
    struct tally *tally;
    bool is_busy;
};

struct result {
    size_t index;
    int32_t rank;
    char filling[10000];
};

static void take_result(void *context, const void *bytes, size_t size)
{
    struct results *self = context;
    const struct result *result = bytes;
    ck_assert(!self->is_busy && !comm_rank());
    self->is_busy = true;
    ck_assert_uint_eq(size, offsetof(struct result, filling) + 100 * result->index);
    for (size_t k = 0; k < 100 * result->index; k++)
        ck_assert_int_eq(result->filling[k], (char)(result->index + k));
    self->tally->times[result->index]++;
    self->is_busy = false;
}

static enum clv_status do_dealt(void *context, size_t ignored, int thread, struct clv_error *err)
{
    (void)ignored, (void)thread, (void)err;
    struct comm_deal *deal = context;
    struct results *results = deal->context;
    struct result result;
    size_t before = 0;
    while (!comm_rank() && !results->tally->other) /* until another process has an item */
        usleep(1000);
    for (int n = 0; comm_deal_next(deal, &result.index); n++) {
        results->tally->other = 1;
        ck_assert(result.index < N_ITEMS && (n == 0 || result.index > before));
        before = result.index;
        for (size_t k = 0; k < 100 * result.index; k++)
            result.filling[k] = (char)(result.index + k);
        if (comm_rank())
            comm_deal_hand_in(deal, &result, offsetof(struct result, filling) + 100 * result.index);
        else
            results->tally->times[result.index]++;
    }
    return CLV_OK;
}

static void deal_out(void *context)
{
    struct results results = {.tally = context};
    struct comm_deal deal;
    must(comm_deal_open(&deal, N_ITEMS, take_result, &results, err));
    must(parallel_for(3, 3, do_dealt, &deal, err));
    comm_deal_close(&deal);
    must(comm_agree(CLV_OK, err));
    for (int i = 0; i < N_ITEMS; i++) /* closing waits for all */
        ck_assert_int_eq(results.tally->times[i], 1);
}

TESTS(a_team_is_dealt_each_item_once_and_hands_in_all_results, 0, N_SIZES)
{
    struct tally *tally = new_tally();
    run_team(sizes[_i], deal_out, tally);
    munmap(tally, sizeof *tally);
}

static void stop_dealing(void *context)
{
    struct tally *tally = context;
    struct comm_deal deal;
    size_t index;
    must(comm_deal_open(&deal, N_ITEMS, take_result, NULL, err));
    if (!comm_rank()) {
        ck_assert(comm_deal_next(&deal, &index));
        comm_deal_stop(&deal);
        tally->other = 1;
    }
    while (!tally->other)
        usleep(1000);
    ck_assert(!comm_deal_next(&deal, &index));
    comm_deal_close(&deal);
}

TEST(nothing_is_dealt_to_a_team_after_a_stop)
{
    struct tally *tally = new_tally();
    run_team(3, stop_dealing, tally);
    munmap(tally, sizeof *tally);
}

static void agree_on_failures(void *context)
{
    (void)context;
    struct clv_error error = {0};
    char host[64] = "";
    gethostname(host, sizeof host - 1);
    must(comm_agree(CLV_OK, err));
    enum clv_status own = comm_rank() == 2 ? fail(&error, CLV_ERR_DATA, "a.png: is torn") : CLV_OK;
    ck_assert_int_eq(comm_agree(own, &error), CLV_ERR_DATA);
    ck_assert_msg(strstr(error.message, "process 2 on ") && strstr(error.message, host) &&
                      strstr(error.message, "a.png: is torn"),
                  "%s", error.message);
    must(comm_agree(CLV_OK, err)); /* the next meeting is one of its own */
    /* The first process says what it has to say without its name; of two failures it is the lower rank's. */
    own = fail(&error, comm_rank() ? CLV_ERR_OS : CLV_ERR_DATA, "process %d", comm_rank());
    ck_assert_int_eq(comm_agree(own, &error), CLV_ERR_DATA);
    ck_assert_str_eq(error.message, "process 0");
    /* Of failures of tasks it is the first task's. */
    own = fail(&error, CLV_ERR_DATA, "by %d", comm_rank());
    ck_assert_int_eq(comm_meet(5, own, (size_t)(10 - comm_rank()), &error), CLV_ERR_DATA);
    must_say(error.message, formatted("by %d", comm_size() - 1));
    /* Who is interrupted is no fault of a process's. */
    own = comm_rank() == 1 ? fail(&error, CLV_ERR_INTERRUPTED, "interrupted") : CLV_OK;
    ck_assert_int_eq(comm_agree(own, &error), CLV_ERR_INTERRUPTED);
    ck_assert_str_eq(error.message, "interrupted");
}

TESTS(all_processes_agree_on_one_failure_and_whose_it_is, 1, N_SIZES)
{
    run_team(sizes[_i], agree_on_failures, NULL);
}

static void meet_elsewhere(void *context)
{
    (void)context;
    struct clv_error error = {0};
    ck_assert_int_eq(comm_meet(comm_rank() == 1 ? 8 : 7, CLV_OK, SIZE_MAX, &error), CLV_ERR_INTERNAL);
    must_say(error.message, "the processes do not do the same");
    error = (struct clv_error){0};
    ck_assert_int_eq(comm_agree(CLV_OK, &error), CLV_ERR_INTERNAL); /* and nothing more is done together */
    must_say(error.message, "the processes do not do the same");
}

TEST(processes_that_meet_at_different_places_end_with_an_error)
{
    run_team(3, meet_elsewhere, NULL);
}

static int agreed, n_alone;

static int notice(void)
{
    return comm_rank() == 1 ? 15 : comm_rank() == 2 ? 2 : 0;
}

static void agree_to(int reason)
{
    agreed = reason;
}

static void be_alone(bool is_alone)
{
    n_alone += is_alone ? 1 : -1;
}

static void listen_to_signals(void *context)
{
    (void)context;
    comm_listen(&(struct comm_signal_hooks){notice, agree_to, be_alone});
    must(comm_agree(CLV_OK, err));
    ck_assert_int_eq(agreed, 15);
    comm_work_alone(true);
    ck_assert_int_eq(n_alone, 1);
    comm_work_alone(false);
    ck_assert_int_eq(n_alone, 0);
}

TEST(a_signal_that_one_process_noticed_is_known_to_all_at_their_next_meeting)
{
    run_team(4, listen_to_signals, NULL);
}
