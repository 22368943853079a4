#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mrf/problem.h"
#include "mrf/random_problem.h"

static struct random_problem r;

static void fill(int32_t n_labels, enum clv_pairwise form, int32_t n_nodes, uint64_t seed)
{
    struct clv_weight_layout layout = {.n_labels = n_labels, .n_features = 13, .n_edge_features = 3, .pairwise = form};
    random_problem_fill(&r, &layout, n_nodes, 0.4, 0.5, seed);
    must(clv_problem_check(&r.problem, &r.layout, err));
}

static double *random_weights(uint64_t seed)
{
    size_t n = clv_weight_layout_size(&r.layout);
    double *w = calloc(n, sizeof *w);
    for (size_t k = 0; k < n; k++)
        w[k] = rng_normal(seed, RNG_TEST, 1000000 + k);
    return w;
}

static struct clv_field field_of(const double *w)
{
    struct clv_field field = {.n_nodes = r.problem.n_nodes,
                              .n_edges = r.problem.n_edges,
                              .n_labels = r.layout.n_labels,
                              .form = r.layout.pairwise,
                              .edges = r.problem.edges};
    size_t k = (size_t)r.layout.n_labels;
    field.unary = calloc((size_t)field.n_nodes * k, sizeof *field.unary);
    field.pairwise = calloc((size_t)field.n_edges * k * k + 1, sizeof *field.pairwise);
    clv_unary_scores(field.unary, &r.problem, &r.layout, w);
    clv_pairwise_scores(field.pairwise, &r.problem, &r.layout, w);
    return field;
}

static void field_release(struct clv_field *field)
{
    free(field->unary);
    free(field->pairwise);
}

static void random_labelling(int32_t *y, uint64_t seed)
{
    for (int32_t i = 0; i < r.problem.n_nodes; i++)
        y[i] = (int32_t)rng_below(seed, RNG_TEST, 2000000 + (uint64_t)i, (uint32_t)r.layout.n_labels);
}

/* problem.h's first formula, word for word. */
static double score_by_definition(const double *w, const int32_t *y)
{
    const struct clv_problem *p = &r.problem;
    int32_t n_labels = r.layout.n_labels, d = r.layout.n_features, n_f = r.layout.n_edge_features;
    const double *pairwise = w + clv_weight_layout_unary_size(&r.layout);
    double score = 0;
    for (int32_t i = 0; i < p->n_nodes; i++)
        for (int64_t k = p->row[i]; k < p->row[i + 1] && y[i] != CLV_UNKNOWN; k++)
            if (n_labels > 2 || y[i] == 1)
                score += w[(n_labels > 2 ? y[i] * d : 0) + p->index[k]] * (double)p->value[k];
    for (int32_t e = 0; r.layout.pairwise != CLV_PAIRWISE_NONE && e < p->n_edges; e++)
        for (int32_t f = 0; f < n_f; f++) {
            int32_t a = y[p->edges[e][0]], b = y[p->edges[e][1]];
            double feature = (double)p->edge_features[e * n_f + f];
            if (a == CLV_UNKNOWN || b == CLV_UNKNOWN)
                continue;
            if (r.layout.pairwise == CLV_PAIRWISE_FULL)
                score += pairwise[(a * n_labels + b) * n_f + f] * feature;
            else if (a != b)
                score -= pairwise[f] * feature;
        }
    return score;
}

TEST(score_is_the_inner_product_with_the_joint_feature)
{
    static const enum clv_pairwise forms[] = {CLV_PAIRWISE_NONE, CLV_PAIRWISE_POTTS, CLV_PAIRWISE_FULL};
    for (uint64_t seed = 0; seed < 30; seed++)
        for (int32_t n_labels = 2; n_labels <= 5; n_labels++) {
            fill(n_labels, forms[seed % 3], 17, seed);
            OWNED_ARRAY double *w = random_weights(seed), *psi = calloc(clv_weight_layout_size(&r.layout), sizeof *psi);
            OWNED(field_release) struct clv_field field = field_of(w);
            int32_t y[RANDOM_MAX_NODES];
            random_labelling(y, seed);
            clv_joint_feature_add(psi, &r.problem, &r.layout, y, 2);
            clv_joint_feature_add(psi, &r.problem, &r.layout, y, -1);
            double inner = 0;
            for (size_t k = 0; k < clv_weight_layout_size(&r.layout); k++)
                inner += w[k] * psi[k];
            ck_assert_double_eq_tol(inner, score_by_definition(w, y), 1e-10);
            ck_assert_double_eq_tol(inner, clv_field_score(&field, y), 1e-10);
        }
}

/* <W[r], x_i> by four running sums, one feature at a time. */
static double dot_by_four_sums(const double *w, const struct clv_problem *p, int32_t node)
{
    double sum[4] = {0};
    int64_t begin = p->row[node], n = p->row[node + 1] - begin;
    for (int64_t k = 0; k < n; k++)
        sum[k < n / 4 * 4 ? k % 4 : 0] += w[p->index[begin + k]] * (double)p->value[begin + k];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* Moves some dense rows along, so that neighbours are runs of different features or lengths. */
static void shift_rows(int32_t every)
{
    for (int32_t i = 0; i < r.problem.n_nodes; i++)
        for (int64_t k = r.row[i]; k < r.row[i + 1] && i % every == 1; k++)
            r.index[k] += 2;
    r.layout.n_features = r.problem.n_features += 2;
    must(clv_problem_check(&r.problem, &r.layout, err));
}

TEST(dense_rows_give_the_bits_of_sparse_ones)
{
    static const int32_t label_counts[] = {2, 3, 5}, feature_counts[] = {1, 3, 4, 7, 8, 13, 62};
    static const double densities[] = {1, 0.9};
    for (size_t c = 0; c < 3 * 7 * 2; c++) {
        size_t d = c / 2 % 7;
        struct clv_weight_layout layout = {.n_labels = label_counts[c / 14], .n_features = feature_counts[d]};
        random_problem_fill(&r, &layout, 23, 0, densities[c % 2], c);
        shift_rows(d % 2 ? 5 : 100);
        size_t n_rows = clv_weight_layout_rows(&r.layout), size = clv_weight_layout_size(&r.layout),
               k = (size_t)r.layout.n_features;
        double *w = random_weights(c), *psi = calloc(size, sizeof *psi), *expected = calloc(size, sizeof *expected);
        double *unary = calloc(23 * n_rows, sizeof *unary);
        clv_unary_scores(unary, &r.problem, &r.layout, w);
        for (int32_t i = 0; i < 23; i++)
            for (size_t row = 0; row < n_rows; row++) {
                double score = unary[(size_t)i * n_rows + row];
                ck_assert(score == dot_by_four_sums(w + row * k, &r.problem, i));
                for (int64_t e = r.row[i]; e < r.row[i + 1]; e++)
                    expected[row * k + (size_t)r.index[e]] += score * (double)r.value[e];
            }
        unary_feature_add(psi, &r.problem, &r.layout, unary);
        ck_assert_mem_eq(psi, expected, size * sizeof *psi);
        free(unary), free(expected), free(psi), free(w);
    }
}

TEST(shapes_have_one_row_for_two_labels)
{
    struct clv_weight_layout layout = {
        .n_labels = 2, .n_features = 7, .n_edge_features = 3, .pairwise = CLV_PAIRWISE_POTTS};
    ck_assert_uint_eq(clv_weight_layout_rows(&layout), 1);
    ck_assert_uint_eq(clv_weight_layout_size(&layout), 10);
    layout.pairwise = CLV_PAIRWISE_FULL;
    ck_assert_uint_eq(clv_weight_layout_size(&layout), 7 + 4 * 3);
    layout.n_labels = 4;
    ck_assert_uint_eq(clv_weight_layout_rows(&layout), 4);
    ck_assert_uint_eq(clv_weight_layout_size(&layout), 28 + 16 * 3);
    layout.pairwise = CLV_PAIRWISE_NONE;
    ck_assert_uint_eq(clv_weight_layout_size(&layout), 28);
    ck_assert_uint_eq(clv_weight_layout_unary_size(&layout), 28);
}

TEST(unknown_nodes_and_their_edges_contribute_nothing)
{
    for (uint64_t seed = 0; seed < 12; seed++) {
        fill(seed % 2 ? 2 : 3, seed % 3 ? CLV_PAIRWISE_POTTS : CLV_PAIRWISE_FULL, 11, seed);
        OWNED_ARRAY double *w = random_weights(seed), *psi = calloc(clv_weight_layout_size(&r.layout), sizeof *psi);
        int32_t y[RANDOM_MAX_NODES];
        random_labelling(y, seed);
        double complete = score_by_definition(w, y);
        y[4] = y[7] = CLV_UNKNOWN;
        clv_joint_feature_add(psi, &r.problem, &r.layout, y, 1);
        double inner = 0;
        for (size_t k = 0; k < clv_weight_layout_size(&r.layout); k++)
            inner += w[k] * psi[k];
        ck_assert_double_eq_tol(inner, score_by_definition(w, y), 1e-10);
        ck_assert_double_ne(inner, complete);
    }
}

TEST(loss_is_the_weight_of_wrong_pixels)
{
    for (uint64_t seed = 0; seed < 20; seed++)
        for (int32_t n_labels = 2; n_labels <= 5; n_labels++) {
            fill(n_labels, CLV_PAIRWISE_NONE, 20, seed);
            for (int32_t k = 0; k < 20 * n_labels; k++) /* nodes with pixels of several labels */
                r.theta[k] = (float)rng_uniform(seed, RNG_TEST, 3000000 + (uint64_t)k);
            int32_t y[RANDOM_MAX_NODES];
            random_labelling(y, seed);
            double loss = 0;
            for (int32_t i = 0; i < 20; i++)
                for (int32_t b = 0; b < n_labels; b++)
                    loss += y[i] == b ? 0 : (double)r.theta[i * n_labels + b];
            ck_assert_double_eq_tol(clv_loss(&r.problem, n_labels, y), loss, 1e-12);
        }
}

TEST(balanced_loss_is_0_at_the_truth_and_1_at_its_opposite)
{
    fill(2, CLV_PAIRWISE_NONE, 40, 5);
    int32_t opposite[RANDOM_MAX_NODES];
    for (int32_t i = 0; i < 40; i++)
        opposite[i] = 1 - r.label[i];
    ck_assert_double_eq(clv_loss(&r.problem, 2, r.label), 0);
    ck_assert_double_eq_tol(clv_loss(&r.problem, 2, opposite), 1, 1e-6);
}

TEST(loss_augmentation_adds_the_loss_but_for_its_constant)
{
    for (uint64_t seed = 0; seed < 20; seed++)
        for (int32_t n_labels = 2; n_labels <= 4; n_labels++) {
            fill(n_labels, CLV_PAIRWISE_POTTS, 15, seed);
            for (int32_t k = 0; k < 15 * n_labels; k++)
                r.theta[k] = (float)rng_uniform(seed, RNG_TEST, 3000000 + (uint64_t)k);
            OWNED_ARRAY double *w = random_weights(seed);
            OWNED(field_release) struct clv_field plain = field_of(w), augmented = field_of(w);
            double constant = clv_field_add_loss(&augmented, &r.problem);
            int32_t y[RANDOM_MAX_NODES] = {0};
            if (n_labels == 2)
                ck_assert_double_eq_tol(constant, clv_loss(&r.problem, 2, y), 1e-12);
            else
                ck_assert_double_eq(constant, 0);
            for (uint64_t draw = 0; draw < 5; draw++) {
                random_labelling(y, seed * 5 + draw);
                double expected = clv_field_score(&plain, y) + clv_loss(&r.problem, n_labels, y) - constant;
                ck_assert_double_eq_tol(clv_field_score(&augmented, y), expected, 1e-10);
            }
        }
}

static void fill_potts(void)
{
    fill(3, CLV_PAIRWISE_POTTS, 10, 1);
    ck_assert_int_gt(r.problem.n_edges, 4);
}

/* Sets one thing wrong, expects the complaint. */
#define refuses(expected, part, change)                                                                                \
    do {                                                                                                               \
        fill_potts();                                                                                                  \
        change;                                                                                                        \
        must_fail(expected, part, clv_problem_check(&r.problem, &r.layout, err));                                      \
    } while (0)

TEST(malformed_problems_are_refused_naming_node_or_edge)
{
    enum clv_status data = CLV_ERR_DATA;
    refuses(data, "0 nodes", r.problem.n_nodes = 0);
    refuses(data, "-1 edges", r.problem.n_edges = -1);
    refuses(data, "12 features per node, expected 13", r.problem.n_features = 12);
    refuses(data, "2 features per edge, expected 3", r.problem.n_edge_features = 2);
    refuses(data, "no feature rows", r.problem.row = NULL);
    refuses(data, "no edge list", r.problem.edges = NULL);
    refuses(data, "no edge features", r.problem.edge_features = NULL);
    refuses(data, "node 0: its features start at -1", r.row[0] = -1);
    refuses(data, "node 2: its features run from", r.row[3] = r.row[2] - 1);
    refuses(data, "node 2: its features run from", r.row[3] = r.row[2] + 14);
    refuses(data, "node 0: its features are missing", r.problem.value = NULL);
    refuses(data, "node 4: feature 13 is outside 0..12", r.index[r.row[5] - 1] = 13);
    refuses(data, "node 4: feature -1 is outside", r.index[r.row[4]] = -1);
    refuses(data, "node 4: feature 12 comes after feature 12", r.index[r.row[5] - 2] = r.index[r.row[5] - 1] = 12);
    refuses(data, "is nan", r.value[r.row[6]] = NAN);
    refuses(data, "node 6: feature", r.value[r.row[6]] = INFINITY);
    refuses(data, "edge 3: its ends", r.edges[3][0] = r.edges[3][1]);
    refuses(data, "edge 3: its ends -1 and", r.edges[3][0] = -1);
    refuses(data, "edge 3: its ends", r.edges[3][1] = 10);
    refuses(data, "edge 2: feature 1 is -0.5", r.edge_features[2 * 3 + 1] = -0.5F);
    refuses(data, "edge 2: feature 2 is nan", r.edge_features[2 * 3 + 2] = NAN);
    refuses(data, "node 7: label 3 is outside 0..2", r.label[7] = 3);
    refuses(data, "node 7: label -2 is outside 0..2", r.label[7] = -2);
    refuses(data, "node 8: loss weight of label 2 is -1", r.theta[8 * 3 + 2] = -1);
    refuses(data, "node 8: loss weight of label 0 is inf", r.theta[8 * 3] = INFINITY);
    refuses(data, "node 9: area is -3", r.area[9] = -3);
}

TEST(malformed_shapes_are_refused_as_usage)
{
    enum clv_status usage = CLV_ERR_USAGE;
    refuses(usage, "1 labels", r.layout.n_labels = 1);
    refuses(usage, "256 labels", r.layout.n_labels = 256);
    refuses(usage, "0 features", r.layout.n_features = 0);
    refuses(usage, "0 edge features", r.layout.n_edge_features = 0);
    refuses(usage, "pairwise form 9", r.layout.pairwise = (enum clv_pairwise)9);
}

TEST(what_a_form_does_not_use_is_not_checked)
{
    fill_potts();
    r.label[7] = CLV_UNKNOWN;
    r.edge_features[0] = -1;
    r.layout.pairwise = CLV_PAIRWISE_FULL; /* full tables take any sign */
    must(clv_problem_check(&r.problem, &r.layout, err));
    r.layout.pairwise = CLV_PAIRWISE_NONE;
    r.layout.n_edge_features = 0;
    r.problem.edge_features = NULL;
    r.problem.label = NULL;
    r.problem.theta = NULL;
    r.problem.area = NULL;
    must(clv_problem_check(&r.problem, &r.layout, err));
}
