/* What is left of a choice by cross-validation that was asked to stop. */
#include <math.h>

#include "learn/toy.h"

static const struct clv_shape potts = {2, 8, 2, CLV_PAIRWISE_POTTS};

/* Asks to stop as soon as a stage tells of so many units. */
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

START_TEST(cross_validation_tells_the_losses_of_what_it_tried)
{
    struct toy toy;
    struct patience patience = {5, 0};
    const struct clv_progress progress = {run_out, &patience, &patience.stop};
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
    toy_release(&toy);
}
END_TEST

/* Feature 0 tells the labels, 6 and 7 tell nothing. */
START_TEST(elimination_keeps_what_it_learned_without_what_it_left_out)
{
    static const double w[10] = {3, 0, 0, 0, 0, 0, 0, 0, 0.3, 0};
    static const uint8_t nothing[10] = {[6] = 1, [7] = 1, [9] = 1}, telling[10] = {1}, idle[10] = {[4] = 1};
    static const uint8_t *const groups[] = {nothing, telling, idle};
    const struct clv_learner *learner = clv_learner_find("ssvm");
    struct clv_elimination_step steps[6];
    struct toy toy;
    toy_planted(&toy, 40, 12, &potts, w, 3);
    for (size_t n = 0; n < 3; n++) { /* trials before it is asked to stop: none, all features, nothing, telling */
        struct patience patience = {n, 0};
        const struct clv_progress progress = {run_out, &patience, &patience.stop};
        struct clv_training_result so_far = {0};
        struct clv_elimination options = {
            .groups = groups, .n_groups = 3, .n_dear = 1, .n_folds = 4, .tolerance = 1, .so_far = &so_far};
        struct clv_training training = toy_training(&toy, "ssvm");
        uint8_t kept[10];
        double threshold = 1, loss, without;
        size_t n_steps;
        training.progress = &progress;
        must_fail(CLV_ERR_INTERRUPTED, "interrupted",
                  clv_eliminate(kept, &threshold, &loss, steps, &n_steps, learner, &training, &options, err));
        ck_assert_int_eq(so_far.w != NULL, n > 0);
        if (n == 0)
            continue;
        ck_assert(so_far.interrupted && threshold == 0 && n_steps == n - 1);
        for (int k = 0; k < 10; k++)
            ck_assert_int_eq(kept[k], n == 1 || !nothing[k]);
        must(clv_evaluate_all(&without, toy.dataset, &toy.shape, so_far.w, &so_far.decoding, CLV_ENGINE_DEFAULT, 1,
                              err));
        ck_assert(isfinite(loss) && without < 0.2);
        clv_training_result_release(&so_far);
    }
    toy_release(&toy);
}
END_TEST

Suite *interruption_suite(void);
Suite *interruption_suite(void)
{
    Suite *suite = suite_create("interruption");
    TCase *tests = tcase_create("interruption");
    tcase_add_test(tests, cross_validation_tells_the_losses_of_what_it_tried);
    tcase_add_test(tests, elimination_keeps_what_it_learned_without_what_it_left_out);
    suite_add_tcase(suite, tests);
    return suite;
}
