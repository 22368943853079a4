/* Masks as run lengths: of what is not the label and what is, in turns. */
#include "base/base.h"
#include "page/page.h"
#include "support/support.h"

TEST(runs_begin_with_what_is_not_the_label)
{
    static const uint8_t labels[] = {2, 2, 0, 1, 2, 2, 2};
    static const int32_t of_two[] = {0, 2, 2, 3}, of_none[] = {7};
    struct page_runs runs = {0};
    must(page_runs_encode(&runs, labels, 7, 2, err));
    ck_assert_uint_eq(runs.n, 4);
    ck_assert_mem_eq(runs.lengths, of_two, sizeof of_two);
    page_runs_release(&runs);
    must(page_runs_encode(&runs, labels, 7, 9, err));
    ck_assert_uint_eq(runs.n, 1);
    ck_assert_mem_eq(runs.lengths, of_none, sizeof of_none);
    page_runs_release(&runs);
    ck_assert(!runs.lengths && !runs.n);
}

TEST(what_was_encoded_is_painted_over_the_rest)
{
    for (uint64_t k = 0; k < 50; k++) {
        uint8_t labels[40], painted[40];
        size_t n = 1 + k % 40;
        OWNED(page_runs_release) struct page_runs runs = {0};
        for (uint64_t p = 0; p < n; p++)
            labels[p] = (uint8_t)(3 * rng_uniform(5, k, p));
        memset(painted, 77, sizeof painted);
        must(page_runs_encode(&runs, labels, n, 1, err));
        ck_assert(page_runs_fit(&runs, n));
        ck_assert(!page_runs_fit(&runs, n + 1) && !page_runs_fit(&runs, n - 1));
        page_runs_paint(painted, &runs, 9);
        for (size_t p = 0; p < 40; p++)
            ck_assert_int_eq(painted[p], p < n && labels[p] == 1 ? 9 : 77);
    }
}

/* Runs of up to 40 pixels, at any distance from words of eight. */
TEST(long_runs_are_counted_pixel_by_pixel)
{
    for (uint64_t k = 0; k < 100; k++) {
        uint8_t labels[300];
        size_t n = 0;
        OWNED(page_runs_release) struct page_runs runs = {0};
        for (uint64_t run = 0; n < sizeof labels; run++)
            for (uint32_t i = 1 + rng_below(7, k, 2 * run, 40); i > 0 && n < sizeof labels; i--)
                labels[n++] = (uint8_t)rng_below(7, k, 2 * run + 1, 3);
        must(page_runs_encode(&runs, labels + k % 8, n - k % 8, 2, err));
        size_t p = k % 8;
        for (size_t run = 0; run < runs.n; run++) {
            ck_assert(run == 0 || runs.lengths[run] > 0);
            for (int32_t i = 0; i < runs.lengths[run]; i++)
                ck_assert_int_eq(labels[p++] == 2, run % 2);
        }
        ck_assert_uint_eq(p, n);
    }
}

TEST(runs_that_are_no_mask_do_not_fit)
{
    int32_t bad[][2] = {{-1, 6}, {6, -1}, {INT32_MAX, INT32_MAX}, {5, 1}, {4, 0}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        ck_assert(!page_runs_fit(&(struct page_runs){bad[k], 2}, 5));
    ck_assert(page_runs_fit(&(struct page_runs){(int32_t[]){5, 0}, 2}, 5));
    ck_assert(page_runs_fit(&(struct page_runs){NULL, 0}, 0));
}
