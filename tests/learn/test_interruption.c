/* What is left of a choice by cross-validation that was asked to stop. */
#include <math.h>

#include "learn/toy.h"

static const struct clv_weight_layout potts = {2, 8, 2, CLV_PAIRWISE_POTTS};

/* Asks to stop as soon as a stage reports so many units. */
struct patience {
    size_t n;
    int stop;
};

static void run_out(void *context, const char *what, size_t done, size_t total, const char *note)
{
    struct patience *self = context;
    (void)what, (void)total, (void)note;
    self->stop |= done >= self->n;
}

TEST(cross_validation_reports_the_losses_of_what_it_tried)
{
    OWNED(toy_release) struct toy toy = {0};
    struct patience patience = {5, 0};
    const struct clv_progress progress = {run_out, &patience, &patience.stop, NULL, NULL};
    const double candidates[] = {1e-3, 1e-2, 1};
    double best = 7, whole[3], losses[3], errors[3];
    const struct clv_learner *learner = clv_learner_find("ssvm");
    toy_random(&toy, 8, 10, &potts, 5);
    struct clv_training training = toy_training(&toy, "ssvm");
    int lambda = clv_learner_parameter(learner, "lambda");
    training.n_threads = 1;
    must(clv_cross_validate(&best, whole, NULL, learner, &training, lambda, candidates, 3, 4, err));
    training.progress = &progress;
    double before = best;
    must_fail(CLV_ERR_INTERRUPTED, "interrupted",
              clv_cross_validate(&best, losses, errors, learner, &training, lambda, candidates, 3, 4, err));
    ck_assert(best == before && losses[0] == whole[0] && errors[0] > 0);
    ck_assert(isnan(losses[1]) && isnan(errors[1]) && isnan(losses[2]));
}
