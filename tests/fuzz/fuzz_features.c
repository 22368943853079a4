#include <stdlib.h>
#include <string.h>

#include "cleave/learn.h"
#include "data/data.h"
#include "feature/dataset/dataset.h"
#include "fuzz/fuzz.h"
#include "fuzz/tensor_file.h"

/* One pass over what has labels; small sets alone. */
static void learn(const struct clv_dataset *dataset)
{
    int32_t examples[8];
    size_t n = 0;
    struct clv_training_result result = {0};
    struct clv_error error = {0};
    struct clv_problem first = clv_dataset_problem(dataset, 0);
    for (size_t i = 0; i < clv_dataset_size(dataset) && n < 8; i++) {
        struct clv_problem problem = clv_dataset_problem(dataset, i);
        if (problem.label && problem.theta && problem.n_nodes <= 100)
            examples[n++] = (int32_t)i;
    }
    if (!n || first.n_features > 100 || clv_dataset_n_labels(dataset) > 10)
        return;
    const struct clv_learner *learner = clv_learner_find("perceptron");
    struct clv_training training;
    clv_training_defaults(&training, learner);
    training.dataset = dataset;
    training.examples = examples;
    training.n_examples = n;
    training.seed = 1;
    training.n_threads = 1;
    training.layout = (struct clv_weight_layout){clv_dataset_n_labels(dataset), first.n_features, first.n_edge_features,
                                                 dataset_pairwise(dataset)};
    training.parameters[clv_learner_parameter(learner, "passes")] = 1;
    if (clv_train(&result, learner, &training, &error) == CLV_OK)
        clv_training_result_release(&result);
    else
        FUZZ_CHECK(error.message[0] && !strchr(error.message, '\n'));
}

/* What is read as a dataset satisfies the problem check, item by item. Takes the tensors. */
static void check_features(struct clv_tensors *tensors)
{
    struct clv_error error = {0};
    OWNED(dataset_drop) struct clv_dataset *dataset = NULL;
    OWNED(clv_recipe_release) struct clv_recipe recipe = {0};
    if (features_add(&dataset, &recipe, tensors, "fuzz.features", &error) != CLV_OK) {
        FUZZ_CHECK(strncmp(error.message, "fuzz", 4) == 0 && !strchr(error.message, '\n'));
        return;
    }
    for (size_t i = 0; i < clv_dataset_size(dataset); i++) {
        struct clv_problem problem = clv_dataset_problem(dataset, i);
        struct clv_weight_layout layout = {clv_dataset_n_labels(dataset), problem.n_features, problem.n_edge_features,
                                           problem.n_edge_features ? CLV_PAIRWISE_FULL : CLV_PAIRWISE_NONE};
        FUZZ_CHECK(clv_problem_check(&problem, &layout, &error) == CLV_OK);
        struct clv_example example = {0};
        if (dataset_example(&example, dataset, i, &error) == CLV_OK)
            clv_example_release(&example);
    }
    learn(dataset);
}

/* Headers that parse, so that mutations reach what the arrays hold: two images of three nodes, dense and sparse
 * features. */
#define METADATA                                                                                                       \
    "{\"__metadata__\":{\"format\":\"cleave features 1\",\"n_labels\":\"2\",\"n_features\":\"3\",\"names\":\"a\\nb\"}"
#define TENSOR(name, type, layout, begin, end)                                                                         \
    ",\"" name "\":{\"dtype\":\"" type "\",\"shape\":[" layout "],\"data_offsets\":[" #begin "," #end "]}"

static const struct {
    size_t n_data;
    const char *header;
} valid[] = {
    /* clang-format off */
    {112, METADATA
     TENSOR("node_offset", "I64", "3", 0, 24)
     TENSOR("row", "I64", "4", 24, 56)
     TENSOR("index", "I32", "4", 56, 72)
     TENSOR("value", "F32", "4", 72, 88)
     TENSOR("counts", "F32", "3,2", 88, 112) "}"},
    {120, METADATA
     TENSOR("node_offset", "I64", "3", 0, 24)
     TENSOR("edge_offset", "I64", "3", 24, 48)
     TENSOR("edges", "I32", "2,2", 48, 64)
     TENSOR("edge_features", "F32", "2,1", 64, 72)
     TENSOR("x", "F32", "3,3", 72, 108)
     TENSOR("volume", "F32", "3", 108, 120) "}"},
    {108, METADATA
     TENSOR("node_offset", "I64", "3", 0, 24)
     TENSOR("x", "F32", "3,3", 24, 60)
     TENSOR("size", "I32", "2,4", 60, 92)
     TENSOR("superpixels", "I32", "4", 92, 108) "}"},
    /* clang-format on */
};

static void check_payload(const char *header, size_t n_data, const uint8_t *data, size_t size)
{
    struct clv_error error = {0};
    struct clv_tensors *tensors;
    uint64_t length = strlen(header);
    OWNED_ARRAY uint8_t *bytes = calloc(1, 8 + length + n_data);
    if (!bytes)
        return;
    memcpy(bytes, &length, 8);
    memcpy(bytes + 8, header, length);
    memcpy(bytes + 8 + length, data, size < n_data ? size : n_data);
    FUZZ_CHECK(clv_tensors_parse(&tensors, bytes, 8 + length + n_data, "fuzz", &error) == CLV_OK);
    check_features(tensors);
}

static void check_file(const uint8_t *data, size_t size)
{
    struct clv_error error = {0};
    struct clv_tensors *tensors;
    OWNED_ARRAY uint8_t *aligned = aligned_copy(data, size);
    if (!aligned)
        return;
    if (clv_tensors_parse(&tensors, aligned, size, "fuzz", &error) == CLV_OK)
        check_features(tensors);
}

FUZZ_TARGET(features)
{
    check_as_is_and_repaired(data, size, check_file);
    for (size_t i = 0; size && i < sizeof valid / sizeof *valid; i++)
        check_payload(valid[i].header, valid[i].n_data, data, size);
    return 0;
}
