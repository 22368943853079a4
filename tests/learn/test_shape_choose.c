/* What shape a learner takes for a dataset. */
#include <string.h>

#include "cleave/learn.h"
#include "feature/dataset/dataset.h"
#include "support/support.h"

/* Two nodes of 2 features, with an edge of 1 feature or without. */
static struct clv_dataset *pair_of_nodes(int32_t n_edges)
{
    static const int64_t row[3] = {0, 1, 2};
    static const int32_t index[2] = {0, 1}, edges[1][2] = {{0, 1}};
    static const float value[2] = {1, 1}, edge_features[1] = {1};
    struct clv_dataset *dataset = NULL;
    struct clv_problem problem = {.n_nodes = 2, .n_features = 2, .row = row, .index = index, .value = value};
    if (n_edges) {
        problem.n_edges = 1;
        problem.n_edge_features = 1;
        problem.edges = edges;
        problem.edge_features = edge_features;
    }
    must(clv_dataset_new(&dataset, 2, err));
    must(clv_dataset_add(dataset, &problem, "pair", err));
    return dataset;
}

static void expect_form(const char *learner, int32_t n_edges, enum clv_pairwise form)
{
    struct clv_weight_layout layout;
    OWNED(dataset_drop) struct clv_dataset *dataset = pair_of_nodes(n_edges);
    must(clv_learner_layout(&layout, clv_learner_find(learner), dataset, err));
    ck_assert(layout.n_labels == 2 && layout.n_features == 2 && layout.n_edge_features == n_edges);
    ck_assert_int_eq(layout.pairwise, form);
}

TEST(the_form_is_what_the_data_is_meant_for)
{
    expect_form("ssvm", 1, CLV_PAIRWISE_POTTS);
    expect_form("ssvm", 0, CLV_PAIRWISE_NONE);
}

TEST(without_examples_there_is_no_shape)
{
    struct clv_weight_layout layout, untouched;
    OWNED(dataset_drop) struct clv_dataset *empty = NULL;
    memset(&layout, 77, sizeof layout);
    memset(&untouched, 77, sizeof untouched);
    must(clv_dataset_new(&empty, 2, err));
    must_fail(CLV_ERR_USAGE, "no examples", clv_learner_layout(&layout, clv_learner_find("ssvm"), empty, err));
    ck_assert_mem_eq(&layout, &untouched, sizeof layout);
}
