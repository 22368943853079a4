#include <stdlib.h>
#include <string.h>

#include "data/safetensors.h"
#include "feature/features_file.h"
#include "fuzz/fuzz.h"
#include "model/model_file.h"

/* Every byte of every tensor can be read, at an address that suits its type. */
static void touch(const struct clv_tensors *tensors)
{
    static volatile unsigned char sink;
    for (size_t i = 0; i < clv_tensors_count(tensors); i++) {
        const struct clv_tensor *tensor = clv_tensors_at(tensors, i);
        size_t bytes;
        FUZZ_CHECK(tensor_bytes(&bytes, tensor));
        FUZZ_CHECK((uintptr_t)tensor->data % clv_dtype_size(tensor->dtype) == 0);
        FUZZ_CHECK(clv_tensors_find(tensors, tensor->name) == tensor);
        for (size_t k = 0; k < bytes; k++)
            sink = ((const unsigned char *)tensor->data)[k];
    }
    for (size_t i = 0; i < clv_tensors_metadata_count(tensors); i++)
        FUZZ_CHECK(clv_tensors_metadata(tensors, clv_tensors_metadata_key(tensors, i)));
    (void)sink;
}

static void check_model(const struct clv_tensors *tensors)
{
    struct clv_error error = {0};
    struct clv_model model = {.n_record = 77};
    if (model_parse(&model, tensors, "fuzz.cleave", &error) == CLV_OK) {
        FUZZ_CHECK(model.w && model.labels.n_labels == model.shape.n_labels);
        clv_model_release(&model);
    } else {
        FUZZ_CHECK(model.n_record == 77 && !strchr(error.message, '\n'));
        FUZZ_CHECK(strncmp(error.message, "fuzz", 4) == 0);
    }
}

/* What is read as a dataset satisfies the problem check, item by item. Takes the tensors. */
static void check_features(struct clv_tensors *tensors)
{
    struct clv_error error = {0};
    struct clv_dataset *dataset = (struct clv_dataset *)&error;
    struct clv_recipe recipe = {0};
    if (features_parse(&dataset, &recipe, tensors, "fuzz.features", &error) != CLV_OK) {
        FUZZ_CHECK(!dataset && strncmp(error.message, "fuzz", 4) == 0 && !strchr(error.message, '\n'));
        return;
    }
    for (size_t i = 0; i < clv_dataset_size(dataset); i++) {
        struct clv_problem problem = clv_dataset_problem(dataset, i);
        struct clv_shape shape = {clv_dataset_n_labels(dataset), problem.n_features, problem.n_edge_features,
                                  problem.n_edge_features ? CLV_PAIRWISE_FULL : CLV_PAIRWISE_NONE};
        FUZZ_CHECK(clv_problem_check(&problem, &shape, &error) == CLV_OK);
        struct clv_example example = {0};
        if (clv_dataset_example(&example, dataset, i, &error) == CLV_OK)
            clv_example_release(&example);
    }
    clv_dataset_free(dataset);
    clv_recipe_release(&recipe);
}

FUZZ_TARGET(safetensors)
{
    struct clv_error error = {0};
    struct clv_tensors *tensors;
    uint8_t *aligned = malloc(size ? size : 1);
    if (!aligned)
        return 0;
    if (size)
        memcpy(aligned, data, size);
    if (clv_tensors_parse(&tensors, aligned, size, "fuzz", &error) == CLV_OK) {
        touch(tensors);
        check_model(tensors);
        check_features(tensors);
    } else {
        FUZZ_CHECK(!tensors && strncmp(error.message, "fuzz: ", 6) == 0 && !strchr(error.message, '\n'));
    }
    free(aligned);
    return 0;
}
