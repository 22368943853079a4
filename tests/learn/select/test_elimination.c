/* Steps of the elimination beside trainings of the folds one by one. */
#include <math.h>

#include "learn/select/folds.h"
#include "learn/toy.h"

enum { N = 20, N_FOLDS = 4 };

/* losses[N] by place in the folds' order, of trainings on a dataset. */
static void losses_on(double *losses, const struct clv_training *training, const struct clv_dataset *dataset)
{
    struct folds folds;
    const struct clv_learner *learner = clv_learner_find("ssvm");
    int lambda = clv_learner_parameter(learner, "lambda");
    const struct fold_choice choice = {dataset, lambda, training->parameters[lambda]};
    must(folds_init(&folds, learner, training, N_FOLDS, err));
    for (size_t fold = 0; fold < N_FOLDS; fold++)
        must(fold_losses(losses, NULL, &folds, &choice, fold, (const double[]){0}, 1, err));
    folds_release(&folds);
}

START_TEST(a_rise_and_its_standard_error_are_those_of_the_paired_losses)
{
    static const struct clv_shape potts = {2, 8, 2, CLV_PAIRWISE_POTTS};
    static const double w[10] = {3, 0, 0, 0, 0, 0, 0, 0, 0.3, 0};
    static const uint8_t telling[10] = {1}, others[10] = {0, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    static const uint8_t *const groups[] = {telling};
    const struct clv_elimination options = {groups, 1, 1, (const double[]){0}, 1, N_FOLDS, 0, NULL};
    struct clv_elimination_step steps[4] = {0};
    struct clv_dataset *without;
    struct toy toy;
    double all[N], left[N], threshold, loss, rise = 0, squares = 0;
    uint8_t kept[10];
    size_t n_steps;
    toy_planted(&toy, N, 12, &potts, w, 3);
    struct clv_training training = toy_training(&toy, "ssvm");
    must(clv_eliminate(kept, &threshold, &loss, steps, &n_steps, clv_learner_find("ssvm"), &training, &options, err));
    must(clv_dataset_keep(&without, toy.dataset, others, err));
    losses_on(all, &training, toy.dataset);
    losses_on(left, &training, without);
    for (int i = 0; i < N; i++)
        rise += (left[i] - all[i]) / N;
    for (int i = 0; i < N; i++)
        squares += (left[i] - all[i] - rise) * (left[i] - all[i] - rise);
    ck_assert_double_eq_tol(steps[0].rise, rise, 1e-12);
    ck_assert_double_eq_tol(steps[0].standard_error, sqrt(squares / (N - 1)) / sqrt(N), 1e-12);
    ck_assert_double_gt(squares, 0.01);
    clv_dataset_free(without);
    toy_release(&toy);
}
END_TEST

Suite *elimination_suite(void)
{
    Suite *suite = suite_create("elimination");
    TCase *tests = tcase_create("elimination");
    tcase_add_test(tests, a_rise_and_its_standard_error_are_those_of_the_paired_losses);
    suite_add_tcase(suite, tests);
    return suite;
}
