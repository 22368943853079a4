/* Feature files that other programs wrote: two images of 2 and 1 nodes, d = 3, p = 2, made by hand and then damaged. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "feature/dataset/dataset.h"
#include "support/support.h"

struct elsewhere {
    int64_t node_offset[3], edge_offset[3], row[4];
    int32_t index[4];
    float value[4], x[3][3];
    int32_t edges[1][2];
    float edge_features[1][2], counts[3][2], area[3];
    int32_t size[2][4], superpixels[3];
    struct clv_tensor tensors[12];
    const char *metadata[6][2];
};

enum { NODE_OFFSET, EDGE_OFFSET, X, EDGES, EDGE_FEATURES, COUNTS, AREA, SIZE, SUPERPIXELS, ROW, INDEX, VALUE };
enum { FORMAT, N_LABELS, NAMES, RECIPE, N_FEATURES };

static struct elsewhere *make_elsewhere(void)
{
    struct elsewhere *e = calloc(1, sizeof *e);
    *e = (struct elsewhere){
        .node_offset = {0, 2, 3},
        .edge_offset = {0, 1, 1},
        .row = {0, 2, 2, 4},
        .index = {0, 2, 1, 2},
        .value = {1, 2, 3, 4},
        .x = {{1, 0, 2}, {0, 0, 0}, {0, 3, 4}},
        .edges = {{0, 1}},
        .edge_features = {{1, 0.5f}},
        .counts = {{3, 1}, {0, 4}, {0, 0}},
        .area = {4, 4, 9},
        .size = {{4, 2, 2, 1}, {3, 3, 1, 1}},
        .superpixels = {0, 1, 0},
        .metadata = {{"format", "cleave features 1"},
                     {"n_labels", "2"},
                     {"names", "a.png\nb.png"},
                     {"recipe", "none"},
                     {"n_features", "3"}},
    };
    const struct clv_tensor tensors[12] = {
        [NODE_OFFSET] = {"node_offset", CLV_I64, 1, {3}, e->node_offset},
        [EDGE_OFFSET] = {"edge_offset", CLV_I64, 1, {3}, e->edge_offset},
        [X] = {"x", CLV_F32, 2, {3, 3}, e->x},
        [EDGES] = {"edges", CLV_I32, 2, {1, 2}, e->edges},
        [EDGE_FEATURES] = {"edge_features", CLV_F32, 2, {1, 2}, e->edge_features},
        [COUNTS] = {"counts", CLV_F32, 2, {3, 2}, e->counts},
        [AREA] = {"volume", CLV_F32, 1, {3}, e->area},
        [SIZE] = {"size", CLV_I32, 2, {2, 4}, e->size},
        [SUPERPIXELS] = {"superpixels", CLV_I32, 1, {3}, e->superpixels},
        [ROW] = {"row", CLV_I64, 1, {4}, e->row},
        [INDEX] = {"index", CLV_I32, 1, {4}, e->index},
        [VALUE] = {"value", CLV_F32, 1, {4}, e->value},
    };
    memcpy(e->tensors, tensors, sizeof tensors);
    return e;
}

/* Writes tensors first..last-1 but those in `without` (a set of bits), and n_metadata entries. */
static const char *write_elsewhere(const struct elsewhere *e, int last, unsigned without, size_t n_metadata)
{
    struct clv_tensor tensors[12];
    size_t n = 0;
    for (int i = 0; i < last; i++)
        if (!(without >> i & 1))
            tensors[n++] = e->tensors[i];
    const char *path = here("elsewhere");
    must(clv_tensors_write(path, tensors, n, (const char *const(*)[2])e->metadata, n_metadata, err));
    return path;
}

TEST(dense_and_sparse_features_from_elsewhere_are_the_same_problem)
{
    OWNED_ARRAY struct elsewhere *e = make_elsewhere();
    OWNED(dataset_drop) struct clv_dataset *dense = NULL, *sparse = NULL;
    struct clv_recipe recipe = {.n_words = 77};
    struct clv_weight_layout layout = {2, 3, 2, CLV_PAIRWISE_POTTS};
    must(clv_features_open(&dense, &recipe, write_elsewhere(e, ROW, 0, 3), err));
    ck_assert_int_eq(recipe.n_words, 77); /* no recipe in the file: left alone */
    must(clv_features_open(&sparse, NULL, write_elsewhere(e, 12, 1u << X, 5), err));
    ck_assert_ptr_null(dataset_labels(dense));
    const double w[5] = {1, 10, 100, 1, 1};
    for (size_t i = 0; i < 2; i++) {
        struct clv_problem a = clv_dataset_problem(dense, i), b = clv_dataset_problem(sparse, i);
        must(clv_problem_check(&a, &layout, err));
        must(clv_problem_check(&b, &layout, err));
        double from_dense[2], from_sparse[2];
        clv_unary_scores(from_dense, &a, &layout, w);
        clv_unary_scores(from_sparse, &b, &layout, w);
        ck_assert_double_eq(from_dense[0], i ? 430 : 201);
        ck_assert_double_eq(from_sparse[0], from_dense[0]);
    }
    struct clv_problem first = clv_dataset_problem(dense, 0), second = clv_dataset_problem(dense, 1);
    ck_assert_int_eq(first.label[0], 0); /* 3 of 3 background pixels outweigh 1 of 5 foreground ones */
    ck_assert_int_eq(first.label[1], 1);
    ck_assert_float_eq(first.theta[0], 0.5f);
    ck_assert_float_eq(first.theta[1], 0.1f);
    ck_assert(!second.label && !second.theta && second.area[0] == 9);
    ck_assert_int_eq(second.n_edges, 0);
}

TEST(optional_tensors_may_be_left_out)
{
    OWNED_ARRAY struct elsewhere *e = make_elsewhere();
    OWNED(dataset_drop) struct clv_dataset *dataset = NULL;
    OWNED(clv_example_release) struct clv_example example = {0};
    unsigned without = 1u << EDGE_OFFSET | 1u << EDGES | 1u << EDGE_FEATURES | 1u << COUNTS | 1u << AREA | 1u << SIZE |
                       1u << SUPERPIXELS;
    must(clv_features_open(&dataset, NULL, write_elsewhere(e, ROW, without, 3), err));
    struct clv_problem problem = clv_dataset_problem(dataset, 0);
    ck_assert(problem.n_nodes == 2 && problem.n_edges == 0 && problem.n_edge_features == 0);
    ck_assert(!problem.label && problem.area[1] == 1);
    must(dataset_example(&example, dataset, 0, err));
    ck_assert(example.width == 2 && example.height == 1 && example.superpixels.n == 2);
    ck_assert(example.superpixels.labels[0] == 0 && example.superpixels.labels[1] == 1);
}

static void expect_bad(struct elsewhere *e, int last, unsigned without, size_t n_metadata, const char *part)
{
    struct clv_dataset *dataset = (struct clv_dataset *)1;
    const char *path = write_elsewhere(e, last, without, n_metadata);
    must_fail(CLV_ERR_DATA, part, clv_features_open(&dataset, NULL, path, err));
    must_fail(CLV_ERR_DATA, "/elsewhere: ", clv_features_open(&dataset, NULL, path, err));
    ck_assert_ptr_null(dataset);
    free(e);
}

/* Changes one value of a good file, dense or sparse, and expects the message. */
#define damaged(change, part)                                                                                          \
    do {                                                                                                               \
        struct elsewhere *e = make_elsewhere();                                                                        \
        change;                                                                                                        \
        expect_bad(e, ROW, 0, 5, part);                                                                                \
    } while (0)
#define damaged_sparse(change, part)                                                                                   \
    do {                                                                                                               \
        struct elsewhere *e = make_elsewhere();                                                                        \
        change;                                                                                                        \
        expect_bad(e, 12, 1u << X, 5, part);                                                                           \
    } while (0)

TEST(damaged_feature_files_are_refused_with_file_and_value)
{
    damaged(e->metadata[FORMAT][1] = "cleave model 1", "not a feature file (format \"cleave model 1\")");
    damaged(e->metadata[FORMAT][1] = "cleave features 9", "of version \"9\"");
    damaged(e->metadata[FORMAT][0] = "firmat", "not a feature file (format \"\")");
    damaged(e->metadata[N_LABELS][1] = "1", "n_labels is \"1\", must be 2 to 255");
    damaged(e->metadata[N_LABELS][1] = "two", "n_labels is \"two\"");
    damaged(e->metadata[N_LABELS][1] = "3", "\"counts\": its shape is [3, 2], not [3, 3]");
    damaged(e->metadata[N_LABELS][0] = "labels_n", "its metadata has no \"n_labels\"");
    damaged(e->metadata[NAMES][1] = "a.png", "1 names for 2 images");
    damaged(e->metadata[NAMES][1] = "a\nb\nc", "3 names for 2 images");
    damaged(e->metadata[NAMES][0] = "nomes", "no \"names\"");
    damaged(e->metadata[N_FEATURES][1] = "4", "n_features is \"4\", must be 3 to 3");
    damaged(e->metadata[RECIPE][1] = "{}", "its recipe has no \"working_pixels\"");
    damaged(e->metadata[RECIPE][1] = "{\"colour\":1}", "a \"colour\" that this version does not know");
    damaged(e->metadata[RECIPE][1] = "?", "bad JSON");
    damaged(e->node_offset[0] = 1, "node_offset begins with 1, not 0");
    damaged(e->node_offset[1] = 3, "node_offset goes from 3 to 3 at image 1");
    damaged(e->node_offset[1] = 4, "node_offset goes from 4 to 3 at image 1");
    damaged(e->node_offset[2] = INT64_MAX, "node_offset goes from 2 to");
    damaged((e->node_offset[1] = INT64_MIN, e->node_offset[2] = INT64_MAX), "node_offset goes from 0 to");
    damaged(e->node_offset[2] = 4, "tensor \"x\": its shape is [3, 3], not [4, any]");
    damaged(e->edge_offset[2] = 0, "edge_offset goes from 1 to 0 at image 1");
    damaged(e->edge_offset[2] = 2, "\"edges\": its shape is [1, 2], not [2, 2]");
    damaged(e->tensors[EDGE_OFFSET].shape[0] = 2, "\"edge_offset\": its shape is [2], not [3]");
    damaged(e->tensors[X].dtype = CLV_I32, "\"x\": its type is I32, not F32");
    damaged(e->tensors[X].shape[1] = 0, "x has 0 features a node");
    damaged(e->x[1][2] = NAN, "a.png: node 1: feature 2 is nan");
    damaged(e->edges[0][1] = 2, "a.png: edge 0");
    damaged(e->edges[0][0] = -1, "a.png: edge 0");
    damaged(e->edge_features[0][1] = INFINITY, "a.png: edge 0: feature 1 is inf");
    damaged(e->tensors[EDGE_FEATURES].shape[1] = 0, "edge_features has 0 features an edge");
    damaged(e->counts[1][0] = -1, "a.png: count 2 is -1");
    damaged(e->counts[2][1] = INFINITY, "b.png: count 1 is inf");
    damaged(e->area[2] = -1, "b.png: node 0: area is -1");
    damaged(e->size[0][2] = 0, "image 0 has the size 4x2 and the working size 0x1");
    damaged(e->size[0][2] = 5, "image 0 has the size 4x2 and the working size 5x1");
    damaged(e->size[1][3] = 2, "superpixels end at 3, inside image 1");
    damaged(e->size[0][2] = 1, "1 superpixels too many");
    damaged(e->superpixels[1] = 2, "a.png: pixel 1 has superpixel 2 of 2");
    damaged(e->superpixels[2] = -1, "b.png: pixel 0 has superpixel -1 of 1");
    damaged(e->tensors[COUNTS].name = "count", "tensor \"count\" does not belong in a feature file");
    damaged(e->tensors[EDGES].name = "index", "sparse ones");
    damaged_sparse(e->row[0] = 1, "row runs from 1 to 4, must be 0 to 4");
    damaged_sparse(e->row[3] = 5, "row runs from 0 to 5, must be 0 to 4");
    damaged_sparse(e->row[1] = 3, "row goes back from 3 to 2 at node 1");
    damaged_sparse(e->row[1] = INT64_MIN, "row goes back from 0 to");
    damaged_sparse(e->index[1] = 3, "a.png: node 0: feature 3 is outside 0..2");
    damaged_sparse(e->index[2] = 2, "b.png: node 0: feature 2 comes after feature 2");
    damaged_sparse(e->value[3] = NAN, "b.png: node 0: feature 2 is nan");
    damaged_sparse(e->tensors[VALUE].shape[0] = 3, "\"value\": its shape is [3], not [4]");
    damaged_sparse(e->metadata[N_FEATURES][0] = "d", "no \"n_features\"");
    damaged_sparse(e->metadata[N_FEATURES][1] = "0", "n_features is \"0\"");
}

TEST(a_file_says_what_its_edges_and_counts_are_meant_for)
{
    OWNED_ARRAY struct elsewhere *e = make_elsewhere();
    struct clv_dataset *dataset;
    enum clv_graph graph;
    must(clv_features_open(&dataset, NULL, write_elsewhere(e, ROW, 0, 5), err));
    ck_assert_int_eq(dataset_pairwise(dataset), CLV_PAIRWISE_POTTS);
    ck_assert_int_eq(dataset_counts_errors(dataset), 0);
    must(dataset_graph(&graph, dataset, err));
    ck_assert_int_eq(graph, CLV_GRAPH_CHAIN);
    clv_dataset_free(dataset);
    const char *const meanings[2][2] = {{"pairwise", "full"}, {"loss", "counts"}};
    for (int k = 0; k < 2; k++) {
        memcpy(e->metadata[5], meanings[k], sizeof meanings[k]);
        e->edge_features[0][0] = k ? 1 : -1; /* full tables take any sign */
        must(clv_features_open(&dataset, NULL, write_elsewhere(e, ROW, 0, 6), err));
        ck_assert_int_eq(dataset_pairwise(dataset), k ? CLV_PAIRWISE_POTTS : CLV_PAIRWISE_FULL);
        ck_assert_int_eq(dataset_counts_errors(dataset), k);
        const struct clv_problem problem = clv_dataset_problem(dataset, 0);
        for (int c = 0; k && c < 4; c++)
            ck_assert_float_eq(problem.theta[c], e->counts[c / 2][c % 2]);
        ck_assert_int_eq(problem.label[1], 1);
        clv_dataset_free(dataset);
        e->metadata[5][1] = "half";
        expect_bad(e, ROW, 0, 6, k ? "loss is \"half\", must be" : "pairwise is \"half\", must be");
        e = make_elsewhere();
    }
}

TEST(missing_tensors_are_named)
{
    expect_bad(make_elsewhere(), ROW, 1u << NODE_OFFSET, 5, "\"node_offset\" is missing");
    expect_bad(make_elsewhere(), ROW, 1u << EDGE_OFFSET, 5, "\"edge_offset\" is missing");
    expect_bad(make_elsewhere(), ROW, 1u << EDGES, 5, "\"edges\" is missing");
    expect_bad(make_elsewhere(), ROW, 1u << EDGE_FEATURES, 5, "\"edge_features\" is missing");
    expect_bad(make_elsewhere(), ROW, 1u << SIZE, 5, "\"size\" is missing");
    expect_bad(make_elsewhere(), ROW, 1u << SUPERPIXELS, 5, "\"superpixels\" is missing");
    expect_bad(make_elsewhere(), ROW, 1u << X, 5, "\"row\" is missing");
    expect_bad(make_elsewhere(), 12, 1u << X | 1u << INDEX, 5, "\"index\" is missing");
    expect_bad(make_elsewhere(), 12, 0, 5, "dense features (x) and sparse ones");
}
