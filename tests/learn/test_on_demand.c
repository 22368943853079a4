/* Learning from features that are read when they are wanted: the weights are those of features in memory. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "feature/dataset/dataset.h"
#include "feature/small_set.h"
#include "learn/chains.h"
#include "learn/learners.h"
#include "support/requests.h"

static const struct clv_shape potts = {2, 8, 2, CLV_PAIRWISE_POTTS};

/* Writes a toy's problems; where. */
static const char *write_toy(const struct toy *toy)
{
    const char *path = here("toy.safetensors");
    unlink(path);
    must(clv_dataset_write(path, toy->dataset, err));
    return path;
}

/* Few passes, batches that threads share, and a look at all examples within. */
static struct clv_training quick(const struct toy *toy, const char *learner)
{
    struct clv_training training = toy_training(toy, learner);
    const struct clv_learner *own = clv_learner_find(learner);
    training.parameters[clv_learner_parameter(own, "passes")] = 6;
    if (clv_learner_parameter(own, "batch") >= 0)
        training.parameters[clv_learner_parameter(own, "batch")] = 3;
    return training;
}

static void expect_same_weights(const struct toy *toy, const char *learner)
{
    struct clv_training training = quick(toy, learner);
    OWNED(dataset_drop) struct clv_dataset *mapped = NULL;
    const char *path = write_toy(toy);
    must(clv_features_open(&mapped, NULL, path, err));
    training.dataset = mapped;
    OWNED(clv_training_result_release) struct clv_training_result expected = run(learner, &training);
    for (int k = 0; k < 6; k++) {
        const double memory[] = {1, 700, 1e9};
        OWNED(dataset_drop) struct clv_dataset *lean = NULL;
        must(features_open_on_demand(&lean, NULL, path, memory[k / 2], err));
        training.dataset = lean;
        training.n_threads = 1 + k % 2;
        OWNED(clv_training_result_release) struct clv_training_result result = run(learner, &training);
        ck_assert_msg(!memcmp(result.w, expected.w, clv_shape_size(&training.shape) * sizeof *result.w), "%s", learner);
        ck_assert_uint_eq(result.n_curve, expected.n_curve);
        for (size_t c = 0; c < result.n_curve; c++)
            ck_assert(!memcmp(&result.curve[c], &expected.curve[c], sizeof *result.curve));
    }
}

TEST(weights_are_those_of_features_in_memory)
{
    static const char *const learners[] = {"ssvm",        "m3n",  "lapmedn", "perceptron",
                                           "subgradient", "pmap", "mpmap",   "wmpmap"};
    static const char *const on_chains[] = {"crf", "ssvm", "m3n", "wmpmap", "pmap"};
    OWNED(toy_release) struct toy toy = {0}, chains = {0};
    toy_random(&toy, 9, 12, &potts, 3);
    toy_chains(&chains, 9, &chain_shape, 4);
    for (size_t l = 0; l < sizeof learners / sizeof *learners; l++)
        expect_same_weights(&toy, learners[l]);
    for (size_t l = 0; l < sizeof on_chains / sizeof *on_chains; l++)
        expect_same_weights(&chains, on_chains[l]);
}

TEST(other_learners_and_weak_examples_are_refused)
{
    OWNED(toy_release) struct toy toy = {0};
    toy_random(&toy, 3, 6, &potts, 1);
    OWNED(dataset_drop) struct clv_dataset *lean = NULL;
    struct clv_training_result result = {0};
    must(features_open_on_demand(&lean, NULL, write_toy(&toy), 1, err));
    for (size_t l = 0; clv_learner_at(l); l++) {
        const struct clv_learner *learner = clv_learner_at(l);
        struct clv_training training = toy_training(&toy, learner->name);
        training.dataset = lean;
        if (!learner_reads_on_demand(learner))
            must_fail(CLV_ERR_USAGE, formatted("%s needs all features in memory", learner->name),
                      clv_train(&result, learner, &training, err));
    }
    struct clv_training training = toy_training(&toy, "wmpmap");
    training.dataset = lean;
    training.n_examples = 2;
    training.weak = (const int32_t[]){2};
    training.n_weak = 1;
    must_fail(CLV_ERR_USAGE, "1 image comes without masks",
              clv_train(&result, clv_learner_find("wmpmap"), &training, err));
}

/* Cuts the file short once the learner is at work. */
struct cutter {
    const char *path;
    int n_left;
};

static void cut_short(void *context, const char *what, size_t done, size_t total, const char *note)
{
    (void)what, (void)done, (void)total, (void)note;
    struct cutter *self = context;
    if (--self->n_left == 0)
        ck_assert_int_eq(truncate(self->path, 1000), 0);
}

TEST(a_file_that_is_cut_short_while_learning_ends_it_by_name)
{
    OWNED(toy_release) struct toy toy = {0};
    toy_random(&toy, 6, 12, &potts, 2);
    struct cutter cutter = {write_toy(&toy), 3};
    const struct clv_progress progress = {.context = &cutter, .report = cut_short};
    struct clv_training training = quick(&toy, "wmpmap");
    struct clv_training_result result = {0};
    OWNED(dataset_drop) struct clv_dataset *lean = NULL;
    must(features_open_on_demand(&lean, NULL, cutter.path, 1, err));
    training.dataset = lean;
    training.progress = &progress;
    must_fail(CLV_ERR_DATA, formatted("%s: has changed", cutter.path),
              clv_train(&result, clv_learner_find("wmpmap"), &training, err));
    ck_assert_int_le(cutter.n_left, 0);
    ck_assert_ptr_null(result.w);
}

static enum clv_status train_once(const char *path, const struct clv_training *all, struct clv_error *err)
{
    struct clv_training training = *all;
    OWNED(clv_training_result_release) struct clv_training_result result = {0};
    OWNED(dataset_drop) struct clv_dataset *lean = NULL;
    enum clv_status status = features_open_on_demand(&lean, NULL, path, 300, err);
    if (status != CLV_OK)
        return status;
    training.dataset = lean;
    status = clv_train(&result, clv_learner_find("wmpmap"), &training, err);
    return status;
}

TEST(failing_memory_ends_the_training)
{
    OWNED(toy_release) struct toy toy = {0};
    toy_random(&toy, 3, 6, &potts, 5);
    const char *path = write_toy(&toy);
    struct clv_training training = quick(&toy, "wmpmap");
    training.parameters[clv_learner_parameter(clv_learner_find("wmpmap"), "passes")] = 1;
    must_survive_failed_requests(train_once(path, &training, err));
}
