/* A training says something where its learner has no pairwise terms for the data. */
#include <stdio.h>
#include <string.h>

#include "cleave/train.h"
#include "support/support.h"
#include "train/train.h"

static char said[512];

static void hear(void *context, enum clv_message kind, const char *text)
{
    (void)context;
    (void)kind;
    snprintf(said, sizeof said, "%s", text);
}

/* Four nodes of 3 labels with these edges: the form that is chosen. */
static enum clv_pairwise choose(const char *learner, const int32_t (*edges)[2], int32_t n_edges)
{
    static const int64_t row[5] = {0, 1, 2, 3, 4};
    static const int32_t index[4] = {0, 1, 0, 1};
    static const float value[4] = {1, 1, 1, 1}, edge_features[4] = {1, 1, 1, 1};
    const struct clv_progress progress = {.notify = hear};
    struct clv_problem problem = {.n_nodes = 4,
                                  .n_edges = n_edges,
                                  .n_features = 2,
                                  .n_edge_features = 1,
                                  .row = row,
                                  .index = index,
                                  .value = value,
                                  .edges = edges,
                                  .edge_features = edge_features};
    OWNED(dataset_drop) struct clv_dataset *dataset = NULL;
    struct clv_train_options options;
    struct clv_weight_layout layout;
    clv_train_defaults(&options, clv_learner_find(learner));
    options.progress = &progress;
    must(clv_dataset_new(&dataset, 3, err));
    must(clv_dataset_add(dataset, &problem, "graph", err));
    said[0] = 0;
    must(train_shape_choose(&layout, &options, dataset, err));
    return layout.pairwise;
}

TEST(a_learner_without_couplings_names_what_has_some)
{
    static const int32_t chain[3][2] = {{0, 1}, {1, 2}, {2, 3}}, tree[3][2] = {{0, 1}, {0, 2}, {0, 3}},
                         loop[4][2] = {{0, 1}, {1, 2}, {2, 3}, {0, 3}};
    static const char *const of_chains[] = {"ssvm",        "m3n",  "lapmedn", "l1m3n",  "perceptron",
                                            "subgradient", "pmap", "mpmap",   "wmpmap", "crf"};
    for (size_t k = 0; k < sizeof of_chains / sizeof *of_chains; k++) {
        const char *learner = of_chains[k];
        bool takes_trees = strcmp(learner, "crf") == 0;
        const char *full =
            formatted("%s learns no potts couplings of 3 labels: --pairwise none, each region by itself; "
                      "--pairwise full learns a score for each pair of labels",
                      learner);
        ck_assert_int_eq(choose(learner, chain, 3), CLV_PAIRWISE_NONE);
        ck_assert_str_eq(said, full);
        ck_assert_int_eq(choose(learner, tree, 3), CLV_PAIRWISE_NONE);
        ck_assert_ptr_nonnull(strstr(said, takes_trees ? "; --pairwise full learns" : "; --learner mssvm learns them"));
        ck_assert_int_eq(choose(learner, loop, 4), CLV_PAIRWISE_NONE);
        ck_assert_ptr_nonnull(strstr(said, "; --learner mssvm learns them"));
    }
    ck_assert_int_eq(choose("mssvm", chain, 3), CLV_PAIRWISE_POTTS);
    ck_assert_str_eq(said, "");
}
