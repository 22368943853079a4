/* A team of one; teams of several are tools/check-comm's. */
#include "cluster/comm.h"

#include "base/base.h"
#include "cluster/comm_for.h"
#include "support/support.h"

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
