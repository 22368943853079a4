/* A training of a few milliseconds: what checkpoint files are read by, and made by. */
#ifndef TESTS_SMALL_TRAINING_H
#define TESTS_SMALL_TRAINING_H

#include "cleave/learn.h"
#include "learn/common/common.h"

/* Four chains of three nodes, the last one without labels. NULL: out of memory. */
static inline struct clv_dataset *small_dataset(void)
{
    static const int64_t row[4] = {0, 2, 4, 6};
    static const int32_t index[6] = {0, 2, 1, 2, 0, 1}, edges[2][2] = {{0, 1}, {1, 2}}, label[3] = {0, 1, 1};
    static const float edge_features[2] = {1, 0.5}, area[3] = {2, 1, 1}, theta[6] = {0.25, 0, 0, 0.5, 0, 0.25};
    struct clv_dataset *dataset;
    if (clv_dataset_new(&dataset, 2, NULL) != CLV_OK)
        return NULL;
    for (int i = 0; i < 4; i++) {
        const float value[6] = {1, (float)i, 2, 1, -1, 0.5f * (float)i};
        const struct clv_problem problem = {.n_nodes = 3,
                                            .n_edges = 2,
                                            .n_features = 3,
                                            .n_edge_features = 1,
                                            .row = row,
                                            .index = index,
                                            .value = value,
                                            .edges = edges,
                                            .edge_features = edge_features,
                                            .area = area,
                                            .label = label,
                                            .theta = theta};
        if (clv_dataset_add(dataset, &problem, "small", NULL) != CLV_OK) {
            clv_dataset_free(dataset);
            return NULL;
        }
    }
    return dataset;
}

/* Trains with the checkpoint file: resume 1 goes on from it, 0 writes it after every step. progress may be NULL. */
static inline enum clv_status small_training(const char *learner_name, const char *path, int resume,
                                             const struct clv_progress *progress, struct clv_error *error)
{
    static const int32_t examples[3] = {0, 1, 2}, weak[1] = {3};
    static const struct {
        const char *name;
        double value;
    } settings[] = {{"passes", 3}, {"batch", 2}, {"rounds", 1}, {"samples", 3}, {"curve", 1}, {"gap", 0}};
    const struct clv_learner *learner = clv_learner_find(learner_name);
    const struct clv_checkpoints checkpoints = {path, resume ? 1e9 : 0, resume, NULL, 0};
    OWNED(dataset_drop) struct clv_dataset *dataset = small_dataset();
    struct clv_training_result result = {0};
    if (!dataset)
        return CLV_ERR_MEMORY;
    struct clv_training training;
    clv_training_defaults(&training, learner);
    training.dataset = dataset;
    training.examples = examples;
    training.n_examples = 3;
    training.layout = (struct clv_weight_layout){2, 3, 1, CLV_PAIRWISE_POTTS};
    training.seed = 1;
    training.n_threads = 1;
    training.weak = weak;
    training.n_weak = 1;
    training.progress = progress;
    training.checkpoints = &checkpoints;
    if (clv_learner_parameter(learner, "kappa") < 0)
        training.n_weak = 0;
    if (!learner_trains(learner, CLV_PAIRWISE_POTTS, 2, CLV_GRAPH_CHAIN))
        training.layout.pairwise = CLV_PAIRWISE_FULL;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        int parameter = clv_learner_parameter(learner, settings[i].name);
        if (parameter >= 0)
            training.parameters[parameter] = settings[i].value;
    }
    enum clv_status status = clv_train(&result, learner, &training, error);
    if (status == CLV_OK)
        clv_training_result_release(&result);
    return status;
}

#endif
