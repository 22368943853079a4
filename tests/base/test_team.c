/* A team of one; teams of several are tools/check-team's. */
#include "base/team.h"

#include "base/error.h"
#include "base/parallel.h"
#include "support/support.h"

enum { N_ITEMS = 100 };

struct dealt {
    struct team_deal deal;
    int times[N_ITEMS];
};

static enum clv_status take_all(void *context, size_t ignored, int thread, struct clv_error *error)
{
    (void)ignored;
    (void)thread;
    (void)error;
    struct dealt *self = context;
    size_t before = 0, index;
    for (int n = 0; team_deal_next(&self->deal, &index); n++) {
        ck_assert(n == 0 || index > before);
        before = index;
        self->times[index]++;
    }
    return CLV_OK;
}

START_TEST(a_team_of_one_deals_each_item_once_to_its_own_threads)
{
    struct dealt self = {0};
    ck_assert(team_rank() == 0 && team_size() == 1);
    must(team_deal_open(&self.deal, N_ITEMS, NULL, NULL, err));
    must(parallel_for(3, 3, take_all, &self, err));
    team_deal_close(&self.deal);
    for (int i = 0; i < N_ITEMS; i++)
        ck_assert_int_eq(self.times[i], 1);
}
END_TEST

START_TEST(nothing_is_dealt_after_a_stop)
{
    struct team_deal deal;
    size_t index;
    must(team_deal_open(&deal, N_ITEMS, NULL, NULL, err));
    ck_assert(team_deal_next(&deal, &index) && index == 0);
    team_deal_stop(&deal);
    ck_assert(!team_deal_next(&deal, &index));
    team_deal_close(&deal);
}
END_TEST

START_TEST(a_team_of_one_agrees_with_itself)
{
    struct clv_error error = {0};
    ck_assert_int_eq(team_agree(CLV_OK, &error), CLV_OK);
    ck_assert_int_eq(team_agree(fail(&error, CLV_ERR_DATA, "so it is"), &error), CLV_ERR_DATA);
    ck_assert_str_eq(error.message, "so it is");
}
END_TEST

Suite *team_suite(void)
{
    Suite *suite = suite_create("team");
    TCase *tests = tcase_create("team");
    tcase_add_test(tests, a_team_of_one_deals_each_item_once_to_its_own_threads);
    tcase_add_test(tests, nothing_is_dealt_after_a_stop);
    tcase_add_test(tests, a_team_of_one_agrees_with_itself);
    suite_add_tcase(suite, tests);
    return suite;
}
