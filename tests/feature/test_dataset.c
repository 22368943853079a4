#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

/* Three nodes in a chain, d = 4, p = 1, two labels; rows begin at entry 2, as views into larger arrays do. */
static const int64_t row[] = {2, 3, 3, 5};
static const int32_t indices[] = {9, 9, 0, 1, 3};
static const float values[] = {NAN, NAN, 1, 2, 3};
static const int32_t edges[][2] = {{0, 1}, {1, 2}};
static const float edge_features[] = {0.5f, -0.25f};
static const float volume[] = {1, 2, 3};
static const int32_t label[] = {0, 1, CLV_UNKNOWN};
static const float theta[] = {0.5f, 0, 0, 0.5f, 0, 0};

static struct clv_problem chain(void)
{
    return (struct clv_problem){.n_nodes = 3,
                                .n_edges = 2,
                                .n_features = 4,
                                .n_edge_features = 1,
                                .row = row,
                                .index = indices,
                                .value = values,
                                .edges = edges,
                                .edge_features = edge_features,
                                .label = label,
                                .theta = theta,
                                .volume = volume};
}

START_TEST(added_problems_are_copied)
{
    struct clv_dataset *dataset;
    must(clv_dataset_new(&dataset, 2, err));
    struct clv_problem problem = chain();
    must(clv_dataset_add(dataset, &problem, "first", err));
    problem.label = NULL;
    problem.theta = problem.volume = NULL;
    must(clv_dataset_add(dataset, &problem, "second", err));
    ck_assert_uint_eq(clv_dataset_size(dataset), 2);
    ck_assert_int_eq(clv_dataset_n_labels(dataset), 2);
    ck_assert_str_eq(clv_dataset_name(dataset, 1), "second");
    ck_assert_ptr_null(clv_dataset_name(dataset, 2));
    ck_assert_int_eq(clv_dataset_problem(dataset, 2).n_nodes, 0);

    struct clv_problem first = clv_dataset_problem(dataset, 0), second = clv_dataset_problem(dataset, 1);
    ck_assert_int_eq(first.n_nodes, 3);
    ck_assert_int_eq(first.row[0], 0); /* rows are shifted to begin at 0 */
    ck_assert_int_eq(first.row[3], 3);
    ck_assert_mem_eq(first.index, indices + 2, 3 * sizeof *indices);
    ck_assert_mem_eq(first.value, values + 2, 3 * sizeof *values);
    ck_assert_mem_eq(first.edges, edges, sizeof edges);
    ck_assert_mem_eq(first.edge_features, edge_features, sizeof edge_features);
    ck_assert_mem_eq(first.volume, volume, sizeof volume);
    ck_assert_mem_eq(first.label, label, sizeof label);
    ck_assert_mem_eq(first.theta, theta, sizeof theta);
    ck_assert(first.row != row && first.edges != edges && first.theta != theta);
    ck_assert(!second.label && !second.theta && !second.volume);
    clv_dataset_free(dataset);
    clv_dataset_free(NULL);
}
END_TEST

START_TEST(bad_problems_are_refused_and_change_nothing)
{
    struct clv_dataset *dataset = (struct clv_dataset *)1;
    must_fail(CLV_ERR_USAGE, "1 labels", clv_dataset_new(&dataset, 1, err));
    ck_assert_ptr_null(dataset);
    must_fail(CLV_ERR_USAGE, "256 labels", clv_dataset_new(&dataset, 256, err));
    must(clv_dataset_new(&dataset, 2, err));
    struct clv_problem good = chain(), bad = good;
    must(clv_dataset_add(dataset, &good, "good", err));
    bad.n_features = 5;
    must_fail(CLV_ERR_DATA, "wide.png: problem has 5 features per node, expected 4",
              clv_dataset_add(dataset, &bad, "wide.png", err));
    bad = good;
    bad.n_edge_features = 2;
    must_fail(CLV_ERR_DATA, "problem has 2 features per edge, expected 1", clv_dataset_add(dataset, &bad, "x", err));
    bad = good;
    bad.value = (const float[]){0, 0, 1, INFINITY, 0};
    must_fail(CLV_ERR_DATA, "x: node 2: feature 1 is inf", clv_dataset_add(dataset, &bad, "x", err));
    bad = good;
    bad.edges = (const int32_t[][2]){{0, 1}, {1, 3}};
    must_fail(CLV_ERR_DATA, "edge 1", clv_dataset_add(dataset, &bad, "x", err));
    bad = good;
    bad.label = (const int32_t[]){0, 2, 0};
    must_fail(CLV_ERR_DATA, "label 2", clv_dataset_add(dataset, &bad, "x", err));
    ck_assert_uint_eq(clv_dataset_size(dataset), 1);
    clv_dataset_free(dataset);
}
END_TEST

START_TEST(problems_without_edges_or_features_are_fine)
{
    struct clv_dataset *dataset;
    must(clv_dataset_new(&dataset, 3, err));
    struct clv_problem bare = {.n_nodes = 1, .n_features = 7, .row = (const int64_t[]){0, 0}};
    must(clv_dataset_add(dataset, &bare, "bare", err));
    struct clv_problem copy = clv_dataset_problem(dataset, 0);
    ck_assert_int_eq(copy.n_nodes, 1);
    ck_assert_int_eq(copy.row[1], 0);
    ck_assert_int_eq(copy.n_edges, 0);
    clv_dataset_free(dataset);
}
END_TEST

Suite *dataset_suite(void)
{
    Suite *suite = suite_create("dataset");
    TCase *tests = tcase_create("dataset");
    tcase_add_test(tests, added_problems_are_copied);
    tcase_add_test(tests, bad_problems_are_refused_and_change_nothing);
    tcase_add_test(tests, problems_without_edges_or_features_are_fine);
    suite_add_tcase(suite, tests);
    return suite;
}
