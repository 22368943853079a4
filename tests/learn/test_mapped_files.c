/* Learning from feature files: from one or several the weights are those of the same problems in memory. */
#include <string.h>
#include <unistd.h>

#include "feature/dataset/dataset.h"
#include "learn/chains.h"
#include "support/support.h"

static const struct clv_weight_layout potts = {2, 8, 2, CLV_PAIRWISE_POTTS};

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

/* Writes the problems from `first` up to `end` as a file of their own. */
static void write_part(const struct toy *toy, const char *path, size_t first, size_t end)
{
    OWNED(dataset_drop) struct clv_dataset *part = NULL;
    must(clv_dataset_new(&part, clv_dataset_n_labels(toy->dataset), err));
    for (size_t i = first; i < end; i++) {
        struct clv_problem problem = clv_dataset_problem(toy->dataset, i);
        must(clv_dataset_add(part, &problem, formatted("%zu", i), err));
    }
    part->pairwise = toy->dataset->pairwise;
    must(clv_dataset_write(path, part, err));
}

static void expect_same_weights(const struct toy *toy, const char *learner)
{
    struct clv_training training = quick(toy, learner);
    size_t n = clv_dataset_size(toy->dataset), cuts[] = {0, 4, n};
    OWNED(clv_training_result_release) struct clv_training_result expected = run(learner, &training);
    for (size_t n_files = 1; n_files <= 2; n_files++) {
        OWNED(path_list_release) struct path_list paths = {0};
        OWNED(dataset_drop) struct clv_dataset *mapped = NULL;
        for (size_t k = 0; k < n_files; k++) {
            const char *path = here("%zu-%zu.safetensors", n_files, k);
            if (path_exists(path))
                unlink(path);
            write_part(toy, path, n_files == 1 ? 0 : cuts[k], n_files == 1 ? n : cuts[k + 1]);
            must(path_list_add(&paths, path, err));
        }
        must(features_open_list(&mapped, NULL, &paths, err));
        training.dataset = mapped;
        training.n_threads = (int)n_files;
        OWNED(clv_training_result_release) struct clv_training_result result = run(learner, &training);
        ck_assert_msg(!memcmp(result.w, expected.w, clv_weight_layout_size(&training.layout) * sizeof *result.w), "%s",
                      learner);
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
