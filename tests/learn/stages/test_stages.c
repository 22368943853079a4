/* Learning in two stages. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "feature/dataset/dataset.h"
#include "infer/infer.h"
#include "learn/select/select.h"
#include "learn/stages/stages.h"
#include "learn/toy.h"
#include "model/model.h"
#include "support/support.h"

DROPS(stage_drop, struct clv_stage, stage_free)

enum { SIDE = 10, N = SIDE * SIDE, N_IMAGES = 20 };

/* A grid whose even rows show their nodes' labels, drawn by chance, and whose odd rows show nothing: their nodes have
 * the labels of what is above. */
static void add_columns(struct toy *toy, uint64_t image)
{
    static int64_t row[N + 1];
    static int32_t index[N], label[N];
    static float value[N], theta[N][2], centroid[N][2], area[N];
    for (int32_t i = 0; i < N; i++) {
        bool shows = i / SIDE % 2 == 0;
        label[i] = shows ? rng_uniform(image, RNG_TEST, (uint64_t)i) < 0.5 : label[i - SIDE];
        row[i] = i;
        index[i] = shows ? label[i] : 2;
        value[i] = 1;
        centroid[i][0] = 0.1F * (float)(i % SIDE);
        centroid[i][1] = 0.1F * (float)(i / SIDE);
        theta[i][label[i]] = 1.0F / N;
        theta[i][1 - label[i]] = 0;
        area[i] = 1;
    }
    row[N] = N;
    struct clv_problem problem = {.n_nodes = N,
                                  .n_features = 3,
                                  .row = row,
                                  .index = index,
                                  .value = value,
                                  .label = label,
                                  .theta = &theta[0][0],
                                  .area = area,
                                  .centroid = &centroid[0][0]};
    toy_add(toy, &problem);
}

static struct clv_training training_of(struct toy *toy, const struct clv_learner *learner, int n_threads)
{
    struct clv_training training;
    clv_training_defaults(&training, learner);
    training.dataset = toy->dataset;
    training.examples = toy->examples;
    training.n_examples = toy->n;
    training.layout = toy->layout;
    training.seed = 3;
    training.n_threads = n_threads;
    return training;
}

static enum clv_status learn_first(struct clv_stage **first, struct toy *toy, const struct clv_training *training,
                                   const struct clv_learner *learner, struct clv_error *err)
{
    struct stages_learned learned = {0};
    enum clv_status status =
        stages_learn(&learned, toy->dataset, learner, training, &(struct stages_wanted){.presence = false}, err);
    *first = learned.first;
    ck_assert_ptr_null(learned.presence);
    return status;
}

static double loss_of(const struct clv_dataset *dataset, const struct clv_weight_layout *layout, const double *w)
{
    double loss;
    must(clv_evaluate_all(&loss, dataset, layout, w, NULL, CLV_ENGINE_DEFAULT, 1, err));
    return loss;
}

TEST(the_second_stage_learns_from_what_is_above)
{
    const struct clv_learner *learner = clv_learner_find("ssvm");
    struct toy toy, unseen;
    OWNED(stage_drop) struct clv_stage *first = NULL;
    OWNED(clv_training_result_release) struct clv_training_result result = {0};
    toy_begin(&toy, 2, 3, 0, CLV_PAIRWISE_NONE);
    toy_begin(&unseen, 2, 3, 0, CLV_PAIRWISE_NONE);
    for (uint64_t i = 0; i < N_IMAGES; i++)
        add_columns(i < N_IMAGES / 2 ? &toy : &unseen, i);
    struct clv_training training = training_of(&toy, learner, 1);
    must(learn_first(&first, &toy, &training, learner, err));
    ck_assert_double_gt(loss_of(unseen.dataset, &first->layout, first->w), 0.15); /* nothing says what odd rows are */
    training.layout = stage_next_layout(&first->layout, CLV_PAIRWISE_NONE);
    must(clv_train(&result, learner, &training, err));
    must(stages_extend(unseen.dataset, first, &training.layout, 1, err));
    ck_assert_double_lt(loss_of(unseen.dataset, &training.layout, result.w), 0.02);

    struct clv_model model = {.layout = training.layout, .w = result.w, .first = first}; /* from the problem alone */
    struct toy other;
    OWNED(oracle_drop) struct clv_oracle *oracle = NULL;
    int32_t y[N];
    toy_begin(&other, 2, 3, 0, CLV_PAIRWISE_NONE);
    add_columns(&other, N_IMAGES / 2);
    must(clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, err));
    struct clv_problem problem = clv_dataset_problem(other.dataset, 0), staged = clv_dataset_problem(unseen.dataset, 0);
    must(clv_model_predict(y, &model, &problem, oracle, err));
    int32_t n_wrong = 0, n_differ = 0, direct[N];
    model.first = NULL;
    must(clv_model_predict(direct, &model, &staged, oracle, err));
    for (int i = 0; i < N; i++) {
        n_wrong += y[i] != problem.label[i];
        n_differ += y[i] != direct[i];
    }
    ck_assert_int_le(n_wrong, 2);
    ck_assert_int_eq(n_differ, 0);
    model.first = first;
    must_fail(CLV_ERR_DATA, "features per node", clv_model_predict(y, &model, &staged, oracle, err));
    clv_dataset_free(other.dataset);
    clv_dataset_free(toy.dataset);
    clv_dataset_free(unseen.dataset);
}

/* With edges, and weak examples. */
static void expect_the_same_at_any_number_of_threads(const char *name, const struct clv_weight_layout *layout)
{
    const struct clv_learner *learner = clv_learner_find(name);
    struct toy toys[2];
    struct clv_stage *first[2];
    struct clv_weight_layout next = {0};
    for (int t = 0; t < 2; t++) {
        toy_random(&toys[t], 12, 15, layout, 5);
        struct clv_training training = training_of(&toys[t], learner, t ? 3 : 1);
        int32_t weak[] = {10, 11};
        training.n_examples = 10;
        training.weak = weak;
        training.n_weak = 2;
        training.parameters[clv_learner_parameter(learner, "passes")] = 5;
        must(learn_first(&first[t], &toys[t], &training, learner, err));
        next = stage_next_layout(&first[t]->layout, layout->pairwise);
    }
    ck_assert_double_eq(first[0]->temperature, first[1]->temperature);
    ck_assert_mem_eq(first[0]->w, first[1]->w, clv_weight_layout_size(&first[0]->layout) * sizeof *first[0]->w);
    for (size_t i = 0; i < 12; i++) {
        struct clv_problem a = clv_dataset_problem(toys[0].dataset, i), b = clv_dataset_problem(toys[1].dataset, i);
        must(clv_problem_check(&a, &next, err));
        size_t n = (size_t)a.row[a.n_nodes], p = (size_t)a.n_edge_features;
        ck_assert_mem_eq(a.row, b.row, ((size_t)a.n_nodes + 1) * sizeof *a.row);
        ck_assert_mem_eq(a.index, b.index, n * sizeof *a.index);
        ck_assert_mem_eq(a.value, b.value, n * sizeof *a.value);
        ck_assert_mem_eq(a.edge_features, b.edge_features, (size_t)a.n_edges * p * sizeof *a.edge_features);
    }
    ck_assert_int_eq(first[0]->layout.pairwise,
                     layout->pairwise == CLV_PAIRWISE_FULL ? CLV_PAIRWISE_NONE : layout->pairwise);
    for (int t = 0; t < 2; t++) {
        stage_free(first[t]);
        clv_dataset_free(toys[t].dataset);
    }
}

TEST(stages_are_the_same_at_any_number_of_threads)
{
    expect_the_same_at_any_number_of_threads("ssvm", &(struct clv_weight_layout){2, 8, 2, CLV_PAIRWISE_POTTS});
    expect_the_same_at_any_number_of_threads("mssvm", &(struct clv_weight_layout){3, 8, 2, CLV_PAIRWISE_FULL});
}

/* Each image's labels show in features that no other image has: a stage that has not seen it knows nothing of it. */
static void expect_unseen(bool by_weak_images)
{
    enum { IMAGES = 10, NODES = 4 };
    const struct clv_learner *learner = clv_learner_find("ssvm");
    struct toy toy;
    OWNED(stage_drop) struct clv_stage *first = NULL;
    toy_begin(&toy, 2, 2 * IMAGES, 0, CLV_PAIRWISE_NONE);
    for (int32_t image = 0; image < IMAGES; image++) {
        const int64_t row[] = {0, 1, 2, 3, 4};
        const int32_t index[] = {2 * image, 2 * image + 1, 2 * image, 2 * image + 1}, label[] = {0, 1, 0, 1};
        const float value[] = {1, 1, 1, 1}, area[] = {1, 1, 1, 1}, theta[] = {0.25, 0, 0, 0.25, 0.25, 0, 0, 0.25};
        const struct clv_problem problem = {.n_nodes = NODES,
                                            .n_features = 2 * IMAGES,
                                            .row = row,
                                            .index = index,
                                            .value = value,
                                            .label = label,
                                            .theta = theta,
                                            .area = area};
        toy_add(&toy, &problem);
    }
    struct clv_training training = training_of(&toy, learner, 1);
    int32_t backwards[IMAGES];
    static const int32_t labels[NODES] = {0, 1, 0, 1};
    const int32_t *given[IMAGES];
    for (int32_t i = 0; i < IMAGES; i++) {
        backwards[i] = IMAGES - 1 - i;
        given[i] = labels;
    }
    if (by_weak_images) {
        training.weak = backwards;
        training.given = given;
        training.n_weak = IMAGES;
        training.n_examples = 0;
    } else {
        training.examples = backwards;
    }
    must(learn_first(&first, &toy, &training, learner, err));
    for (int32_t image = 0; image < IMAGES; image++) /* the one that is kept has seen it */
        ck_assert_double_gt(first->w[2 * image + 1], first->w[2 * image]);
    for (size_t i = 0; i < IMAGES; i++) {
        struct clv_problem problem = clv_dataset_problem(toy.dataset, i);
        for (int64_t k = 0; k < problem.row[NODES]; k++)
            ck_assert_int_ne(problem.index[k], 2 * IMAGES); /* of probability 1/2: 0, which is not stored */
    }
    clv_dataset_free(toy.dataset);
}

TEST(context_is_said_by_stages_that_have_not_seen_the_image)
{
    expect_unseen(false);
    expect_unseen(true);
}

/* Features determine 14 of 20 labels of every image, which have so much of the loss's weight: .7 of it in all images,
 * or .97 and .83, .9 on the mean of images, whatever their theta sum up to. Of scores of one size s, s / log(7 / 3) =
 * 1.18 s and s / log 9 = .46 s are the temperatures at which truths are most likely, and of the multiples that are
 * tried s and .4 s. */
static void expect_temperature(double truth_of_even, double truth_of_odd, double in_sizes)
{
    enum { IMAGES = 20, NODES = 20, N_WRONG = 6 };
    const struct clv_learner *learner = clv_learner_find("ssvm");
    struct toy toy;
    OWNED(stage_drop) struct clv_stage *first = NULL;
    toy_begin(&toy, 2, 2, 0, CLV_PAIRWISE_NONE);
    for (int image = 0; image < IMAGES; image++) {
        int64_t row[NODES + 1];
        int32_t index[NODES], label[NODES];
        float value[NODES], area[NODES], theta[NODES][2] = {{0}};
        for (int32_t i = 0; i < NODES; i++) {
            index[i] = i % 2;
            label[i] = i < N_WRONG ? 1 - i % 2 : i % 2;
            row[i] = i;
            value[i] = area[i] = 1;
            double truth = image % 2 ? truth_of_odd : truth_of_even;
            double weight = i < N_WRONG ? (1 - truth) / N_WRONG : truth / (NODES - N_WRONG);
            theta[i][label[i]] = (float)(image % 2 ? 100 * weight : weight);
        }
        row[NODES] = NODES;
        const struct clv_problem problem = {.n_nodes = NODES,
                                            .n_features = 2,
                                            .row = row,
                                            .index = index,
                                            .value = value,
                                            .label = label,
                                            .theta = &theta[0][0],
                                            .area = area};
        toy_add(&toy, &problem);
    }
    struct clv_training training = training_of(&toy, learner, 1);
    must(learn_first(&first, &toy, &training, learner, err));
    double size = (first->w[1] - first->w[0]) / 2;
    ck_assert_double_gt(size, 0);
    ck_assert_double_gt(fabs(size - 1), 0.3); /* 1 would show nothing */
    ck_assert_double_eq_tol(first->temperature / size / in_sizes, 1, 0.1);
    clv_dataset_free(toy.dataset);
}

TEST(the_temperature_makes_held_out_truths_most_likely)
{
    expect_temperature(0.7, 0.7, 1);
    expect_temperature(0.97, 0.83, 0.4);
}

/* Labels given, no truth: what is given teaches the folds, and temperature is a usual share of scores. */
TEST(without_masks_the_temperature_is_a_third_of_the_scores)
{
    enum { IMAGES = 11, NODES = 20 };
    const struct clv_learner *learner = clv_learner_find("ssvm");
    struct toy toy;
    OWNED(stage_drop) struct clv_stage *first = NULL;
    static int32_t label[IMAGES][NODES];
    const int32_t *given[IMAGES];
    toy_begin(&toy, 2, 2, 0, CLV_PAIRWISE_NONE);
    for (int image = 0; image < IMAGES; image++) {
        int64_t row[NODES + 1];
        float value[NODES], area[NODES];
        for (int32_t i = 0; i <= NODES; i++)
            row[i] = i;
        for (int32_t i = 0; i < NODES; i++) {
            label[image][i] = (image + i) % 2; /* another image's labels would contradict its features */
            value[i] = area[i] = 1;
        }
        given[image] = label[image];
        const struct clv_problem problem = {
            .n_nodes = NODES, .n_features = 2, .row = row, .index = label[image], .value = value, .area = area};
        toy_add(&toy, &problem);
    }
    struct clv_training training = training_of(&toy, learner, 1);
    training.weak = toy.examples;
    training.given = given;
    training.n_weak = IMAGES;
    training.n_examples = 0;
    must(learn_first(&first, &toy, &training, learner, err));
    double size = (first->w[1] - first->w[0]) / 2;
    ck_assert_double_gt(size, 0);
    ck_assert_double_gt(fabs(size - 1), 0.3); /* 1 would show nothing */
    ck_assert_double_eq_tol(first->temperature / size, 0.33, 0.05);
    clv_dataset_free(toy.dataset);
}

TEST(marginals_are_those_of_the_temperature)
{
    const int64_t row[] = {0, 1};
    const int32_t index[] = {0};
    const float value[] = {1}, area[] = {1};
    double w[] = {3}, marginals[2];
    const struct clv_problem problem = {
        .n_nodes = 1, .n_features = 1, .row = row, .index = index, .value = value, .area = area};
    const struct clv_stage stage = {.layout = {2, 1, 0, CLV_PAIRWISE_NONE}, .w = w, .temperature = 1.5};
    must(stage_marginals(marginals, &stage, &problem, err));
    ck_assert_double_eq_tol(marginals[1], 1 / (1 + exp(-2)), 1e-9);
}

TEST(too_few_images_and_interruptions_leave_no_stage)
{
    const struct clv_learner *learner = clv_learner_find("ssvm");
    const struct clv_weight_layout layout = {2, 4, 1, CLV_PAIRWISE_POTTS};
    struct toy toy;
    struct clv_stage *first = NULL;
    volatile int stop = 1;
    const struct clv_progress progress = {.stop = &stop};
    toy_random(&toy, 6, 8, &layout, 1);
    struct clv_training training = training_of(&toy, learner, 1);
    training.n_examples = 4;
    must_fail(CLV_ERR_USAGE, "two stages need 5 images or more to learn from, there are 4",
              learn_first(&first, &toy, &training, learner, err));
    training.n_examples = 6;
    training.progress = &progress;
    must_fail(CLV_ERR_INTERRUPTED, "the first stage was interrupted",
              learn_first(&first, &toy, &training, learner, err));
    training.progress = NULL;
    for (size_t i = 0; i < 6; i++)
        toy.dataset->items[i].sequence = 7;
    must_fail(CLV_ERR_USAGE, "two stages need images of two sequences or more",
              learn_first(&first, &toy, &training, learner, err));
    ck_assert_ptr_null(first);
    clv_dataset_free(toy.dataset);
}

TEST(two_stages_need_masks_outside_of_each_fold)
{
    const struct clv_learner *learner = clv_learner_find("ssvm");
    const struct clv_weight_layout layout = {2, 4, 1, CLV_PAIRWISE_POTTS};
    OWNED(stage_drop) struct clv_stage *first = NULL;
    struct toy toy;
    toy_random(&toy, 6, 8, &layout, 1);
    struct clv_training training = training_of(&toy, learner, 1);
    training.n_examples = 1;
    training.weak = toy.examples + 1;
    training.n_weak = 5;
    must_fail(CLV_ERR_USAGE, "would hold out all that have masks or boxes together",
              learn_first(&first, &toy, &training, learner, err));
    ck_assert_ptr_null(first);
    clv_dataset_free(toy.dataset);
}

/* Two features every two images and their mirror images, of their own: who has seen one of them knows the others.
 * Whether any of them was held out without the others. */
static bool is_any_known(bool has_sequences)
{
    enum { IMAGES = 10, SIZE = IMAGES };
    const struct clv_learner *learner = clv_learner_find("ssvm");
    struct toy toy;
    bool is_known = false;
    toy_begin(&toy, 2, SIZE, 0, CLV_PAIRWISE_NONE);
    for (int32_t image = 0; image < 2 * IMAGES; image++) {
        const int64_t row[] = {0, 1, 2};
        const int32_t pair = image % IMAGES / 2, index[] = {2 * pair, 2 * pair + 1}, label[] = {0, 1};
        const float value[] = {1, 1}, area[] = {1, 1}, theta[] = {0.5, 0, 0, 0.5};
        const struct clv_problem problem = {.n_nodes = 2,
                                            .n_features = SIZE,
                                            .row = row,
                                            .index = index,
                                            .value = value,
                                            .label = label,
                                            .theta = theta,
                                            .area = area};
        toy_add(&toy, &problem);
        toy.dataset->items[image].sequence = has_sequences ? (uint64_t)pair + 1 : 0;
    }
    toy.dataset->n_mirrored = IMAGES;
    struct clv_training training = training_of(&toy, learner, 1);
    struct stages_learned learned = {0};
    training.n_examples = IMAGES;
    must(stages_learn(&learned, toy.dataset, learner, &training, &(struct stages_wanted){0}, err));
    for (size_t i = 0; i < (size_t)2 * IMAGES; i++) {
        struct clv_problem problem = clv_dataset_problem(toy.dataset, i);
        for (int64_t k = 0; k < problem.row[2]; k++)
            is_known |= problem.index[k] == SIZE; /* of probability 1/2: 0, which is not stored */
    }
    stage_free(learned.first);
    clv_dataset_free(toy.dataset);
    return is_known;
}

TEST(sequences_and_their_mirror_images_are_held_out_together)
{
    ck_assert(!is_any_known(true));
    ck_assert(is_any_known(false));
}

TEST(folds_of_windows_are_runs)
{
    static const int32_t examples[7] = {1, 2, 3, 5, 6, 8, 9}, expected[7] = {1, 5, 8, 2, 6, 9, 3};
    struct clv_dataset dataset = {.has_windows = true};
    const struct clv_training training = {.dataset = &dataset, .examples = examples, .n_examples = 7};
    OWNED(folds_release) struct folds folds = {0};
    must(folds_init(&folds, clv_learner_find("ssvm"), &training, 3, err));
    ck_assert_mem_eq(folds.order, expected, sizeof expected); /* fold 0 has places 0, 3 and 6 */
}
