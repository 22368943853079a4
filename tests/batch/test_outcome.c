/* Outcomes that a process of a team sends to the one that prints. */
#include "base/base.h"
#include "batch/batch.h"
#include "cluster/comm.h"
#include "support/support.h"
#include "support/team.h"

enum { N_CHANNELS = 3, INDEX = 1 };

static int n_taken; /* by this process */

static void take_outcome(void *context, const void *bytes, size_t size)
{
    OWNED(outcome_drop) struct outcome *outcome = NULL;
    const struct outcome *sent = context;
    size_t index = 0;
    must(outcome_unpack(&outcome, &index, bytes, size, err));
    ck_assert_uint_eq(index, INDEX);
    ck_assert(outcome->n_objects == sent->n_objects && outcome->unmet == sent->unmet && !outcome->entry);
    ck_assert_mem_eq(outcome->map_means, sent->map_means, N_CHANNELS * sizeof *sent->map_means);
    n_taken++;
}

static void send_outcome(void *context)
{
    const struct clv_model model = {.recipe = {.n_maps = 1, .maps = {{.n_channels = N_CHANNELS}}}};
    struct comm_deal deal;
    struct batch run = {.model = &model, .deal = &deal};
    must(comm_deal_open(&deal, 2, take_outcome, context, err));
    if (comm_rank())
        must(outcome_send(&run, INDEX, context, err));
    comm_deal_close(&deal);
    ck_assert_int_eq(n_taken, comm_rank() == 0);
}

TEST(an_outcome_arrives_with_the_means_of_its_maps)
{
    float means[N_CHANNELS] = {0.25F, -3, 1e9F};
    struct outcome outcome = {.n_objects = 7, .unmet = 0.5, .map_means = means};
    run_team(2, send_outcome, &outcome);
}
