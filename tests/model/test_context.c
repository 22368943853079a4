/* What a second stage sees of a first one's marginals, by hand on small grids. */
#include <math.h>
#include <string.h>

#include "model/context.h"
#include "superpixel/superpixel.h"
#include "support/support.h"

enum { SIDE = 3, N = SIDE * SIDE, N_EDGES = 2 * SIDE * (SIDE - 1), OWN_FEATURES = 2 };

static int32_t edges[N_EDGES][2], columns[N];
static int64_t rows[N + 1];
static float values[N], edge_features[N_EDGES][2], centroids[N][2];

/* A grid whose nodes are `step` apart; node i has the feature 1 of value i + 1. */
static struct clv_problem grid(float step)
{
    int32_t n = 0;
    for (int32_t i = 0; i < N; i++) {
        centroids[i][0] = step * (float)(i % SIDE);
        centroids[i][1] = step * (float)(i / SIDE);
        rows[i] = i;
        columns[i] = 1;
        values[i] = (float)(i + 1);
        for (int32_t to = 0; to < 2; to++) {
            if ((to ? i / SIDE : i % SIDE) == SIDE - 1)
                continue;
            edges[n][0] = i;
            edges[n][1] = i + (to ? SIDE : 1);
            edge_features[n][0] = 1;
            edge_features[n++][1] = 3;
        }
    }
    rows[N] = N;
    ck_assert_int_eq(n, N_EDGES);
    return (struct clv_problem){.n_nodes = N,
                                .n_edges = N_EDGES,
                                .n_features = OWN_FEATURES,
                                .n_edge_features = 2,
                                .row = rows,
                                .index = columns,
                                .value = values,
                                .edges = (const int32_t(*)[2])edges,
                                .edge_features = &edge_features[0][0],
                                .centroid = &centroids[0][0]};
}

/* The value of a feature of context, by its name; 0 where the row has none. */
static float feature(const struct context *context, int32_t n_labels, int32_t node, const char *wanted)
{
    char name[96];
    for (int32_t k = 0; k < context_size(n_labels); k++) {
        context_name(name, sizeof name, n_labels, k);
        if (strcmp(name, wanted) != 0)
            continue;
        for (int64_t at = context->problem.row[node]; at < context->problem.row[node + 1]; at++)
            if (context->problem.index[at] == OWN_FEATURES + k)
                return context->problem.value[at];
        return 0;
    }
    ck_abort_msg("there is no \"%s\"", wanted);
}

TEST(each_node_sees_its_surroundings)
{
    struct clv_problem problem = grid(0.1F);
    double q[N][2];
    for (int32_t i = 0; i < N; i++) {
        q[i][1] = i == 1 ? 0.9 : 0.5; /* one above the middle */
        q[i][0] = 1 - q[i][1];
    }
    OWNED(context_release) struct context context = {0};
    must(context_init(&context, &problem, &q[0][0], 2, 2, err));
    ck_assert_int_eq(context.problem.n_features, OWN_FEATURES + context_size(2));
    struct clv_weight_layout layout = {2, context.problem.n_features, 4, CLV_PAIRWISE_POTTS};
    must(clv_problem_check(&context.problem, &layout, err));
    for (int32_t i = 0; i < N; i++) { /* its own features stay */
        ck_assert_int_eq(context.problem.index[context.problem.row[i]], 1);
        ck_assert_float_eq(context.problem.value[context.problem.row[i]], (float)(i + 1));
    }
    ck_assert_float_eq_tol(feature(&context, 2, 1, "stage 1: label 1"), 0.8F, 1e-6F);
    ck_assert_float_eq_tol(feature(&context, 2, 4, "stage 1: label 1"), 0, 1e-6F);
    ck_assert_float_eq_tol(feature(&context, 2, 4, "stage 1: label 1 above, within 0.12"), 0.8F, 1e-6F);
    ck_assert_float_eq_tol(feature(&context, 2, 4, "stage 1: label 1 below, within 0.12"), 0, 1e-6F);
    ck_assert_float_eq_tol(feature(&context, 2, 7, "stage 1: label 1 above, within 0.3"), 0.8F, 1e-6F);
    ck_assert_float_eq_tol(feature(&context, 2, 0, "stage 1: label 1 right, within 0.12"), 0.8F, 1e-6F);
    ck_assert_float_eq_tol(feature(&context, 2, 5, "stage 1: label 1 above left, within 0.3"), 0.4F, 1e-6F);
    ck_assert_float_eq_tol(feature(&context, 2, 8, "stage 1: label 1 in the image"), 0.8F / N, 1e-6F);
    ck_assert_float_eq_tol(feature(&context, 2, 0, "stage 1: label 1, mean of neighbours, 1 times"), 0.8F / 3, 1e-6F);
    ck_assert_float_eq_tol(feature(&context, 2, 4, "stage 1: label 1 bin 4"), 1, 1e-6F);
    float bins = 0;
    for (int k = 0; k < 9; k++)
        bins += feature(&context, 2, 1, formatted("stage 1: label 1 bin %d", k));
    ck_assert_float_eq_tol(bins, 1, 1e-6F);
    for (int32_t e = 0; e < N_EDGES; e++) { /* the old features, similarity, similarity times the second one */
        const float *of_edge = context.problem.edge_features + 4 * (size_t)e;
        float alike = edges[e][0] == 1 || edges[e][1] == 1 ? 0.6F : 1;
        ck_assert_float_eq(of_edge[0], 1);
        ck_assert_float_eq(of_edge[1], 3);
        ck_assert_float_eq_tol(of_edge[2], alike, 1e-6F);
        ck_assert_float_eq_tol(of_edge[3], 3 * alike, 1e-5F);
    }
}

/* Means over a node and its neighbours, taken anew from each round's means. */
TEST(means_of_neighbours_are_taken_one_two_and_four_times)
{
    struct clv_problem problem = grid(0.1F);
    double q[N][2], mean[N];
    for (int32_t i = 0; i < N; i++) {
        q[i][1] = 0.1 + 0.07 * i + 0.1 * (i % 2);
        q[i][0] = 1 - q[i][1];
        mean[i] = 2 * q[i][1] - 1;
    }
    OWNED(context_release) struct context context = {0};
    must(context_init(&context, &problem, &q[0][0], 2, 0, err));
    for (int round = 1; round <= 4; round++) {
        double next[N];
        for (int32_t i = 0; i < N; i++) {
            double sum = mean[i], n = 1;
            for (int32_t e = 0; e < N_EDGES; e++)
                for (int end = 0; end < 2; end++)
                    if (edges[e][end] == i) {
                        sum += mean[edges[e][1 - end]];
                        n++;
                    }
            next[i] = sum / n;
        }
        memcpy(mean, next, sizeof mean);
        for (int32_t i = 0; i < N && round != 3; i++)
            ck_assert_double_eq_tol(
                (double)feature(&context, 2, i, formatted("stage 1: label 1, mean of neighbours, %d times", round)),
                mean[i], 1e-6);
    }
}

/* log(.9 / .1) = 2.197 is at 5.4648 of the bins 0 to 8 over -6 to 6. */
TEST(log_odds_are_shared_by_the_two_bins_around_them)
{
    struct clv_problem problem = grid(0.1F);
    double q[N][2];
    for (int32_t i = 0; i < N; i++) {
        q[i][1] = i == 1 ? 0.9 : i == 2 ? 1 : 0.5;
        q[i][0] = 1 - q[i][1];
    }
    OWNED(context_release) struct context context = {0};
    must(context_init(&context, &problem, &q[0][0], 2, 0, err));
    ck_assert_float_eq_tol(feature(&context, 2, 1, "stage 1: label 1 bin 5"), 0.5352F, 1e-4F);
    ck_assert_float_eq_tol(feature(&context, 2, 1, "stage 1: label 1 bin 6"), 0.4648F, 1e-4F);
    /* What is certain is clipped. */
    ck_assert_float_eq_tol(feature(&context, 2, 2, "stage 1: label 1 bin 8"), 1, 1e-6F);
}

/* Two nodes are foreground and a third one may be: cubes 1, 1 and 1/8 of their probabilities weigh the centre (.05882,
 * .10588) and the spreads .05999 and .02353. The first node is at -.9806 and -.25 of these, at row 3.15 and column
 * 2.1272 of 0 to 7. */
TEST(centroids_are_given_in_the_foregrounds_own_frame)
{
    struct clv_problem problem = grid(0.1F);
    double q[N][2];
    for (int32_t i = 0; i < N; i++) {
        q[i][1] = i == 3 || i == 4 ? 1 : i == 8 ? 0.5 : 0;
        q[i][0] = 1 - q[i][1];
    }
    OWNED(context_release) struct context context = {0};
    must(context_init(&context, &problem, &q[0][0], 2, 0, err));
    const char *cell = "stage 1: place in the foreground, row %d column %d";
    ck_assert_float_eq_tol(feature(&context, 2, 3, formatted(cell, 3, 2)), 0.7419F, 1e-3F);
    ck_assert_float_eq_tol(feature(&context, 2, 3, formatted(cell, 3, 3)), 0.1081F, 1e-3F);
    ck_assert_float_eq_tol(feature(&context, 2, 3, formatted(cell, 4, 2)), 0.1309F, 1e-3F);
    ck_assert_float_eq_tol(feature(&context, 2, 3, formatted(cell, 4, 3)), 0.0191F, 1e-3F);
}

/* Two nodes in one cell of .04 and one in another, all right of the first: nodes count, not cells. */
TEST(means_around_are_of_nodes)
{
    const float centroid[4][2] = {{0, 0}, {0.085F, 0}, {0.09F, 0}, {0.05F, 0}}, value[4] = {5, 1, 1, 0.25F};
    OWNED(around_release) struct around around = {0};
    must(around_init(&around, value, 1, &centroid[0][0], 4, err));
    around_fill(&around, 0);
    ck_assert_float_eq_tol(around.means[0], 0.75F, 1e-6F);
}

/* Two nodes in one cell of .04 are .085 away on average: in the first ring, which ends at .12. */
TEST(the_nodes_of_a_cell_are_at_their_mean)
{
    const float centroid[3][2] = {{0, 0}, {0.05F, 0.05F}, {0.07F, 0.07F}}, value[3] = {5, 1, 0.5F};
    OWNED(around_release) struct around around = {0};
    must(around_init(&around, value, 1, &centroid[0][0], 3, err));
    around_fill(&around, 0);
    for (int k = 0; k < AROUND_SIZE; k++) /* 1: below right */
        ck_assert_float_eq_tol(around.means[k], k == 1 ? 0.75F : 0, 1e-6F);
}

TEST(many_labels_have_a_channel_each_and_sparse_rows)
{
    struct clv_problem problem = grid(0.1F);
    double q[N][4] = {{0}};
    for (int32_t i = 0; i < N; i++)
        q[i][i < SIDE ? 2 : 0] = 1;
    OWNED(context_release) struct context context = {0};
    must(context_init(&context, &problem, &q[0][0], 4, 0, err));
    ck_assert_float_eq(feature(&context, 4, 4, "stage 1: label 2 above, within 0.12"), 1);
    ck_assert_float_eq(feature(&context, 4, 4, "stage 1: label 0 below, within 0.12"), 1);
    ck_assert_float_eq(feature(&context, 4, 4, "stage 1: label 0"), 1);
    ck_assert_float_eq_tol(feature(&context, 4, 4, "stage 1: label 2 in the image"), 1 / 3.0F, 1e-6F);
    ck_assert_float_eq_tol(feature(&context, 4, 7, "stage 1: label 2, mean of neighbours, 2 times"), 0.05F, 1e-6F);
    for (int64_t at = 0; at < context.problem.row[N]; at++)
        ck_assert(context.problem.value[at] >= 0.02F || context.problem.index[at] < OWN_FEATURES);
    ck_assert_ptr_eq(context.problem.edge_features, problem.edge_features);
}

TEST(without_centroids_graph_and_image_are_left)
{
    struct clv_problem problem = grid(0.1F);
    double q[N][2];
    for (int32_t i = 0; i < N; i++)
        q[i][0] = q[i][1] = 0.5;
    q[1][0] = 0.1;
    q[1][1] = 0.9;
    problem.centroid = NULL;
    OWNED(context_release) struct context context = {0};
    must(context_init(&context, &problem, &q[0][0], 2, 0, err));
    ck_assert_float_eq_tol(feature(&context, 2, 4, "stage 1: label 1, mean of neighbours, 1 times"), 0.16F, 1e-6F);
    ck_assert_float_eq(feature(&context, 2, 4, "stage 1: label 1 above, within 0.12"), 0);
}

/* Eight sectors of 45 degrees, clockwise from the right as y points down. */
TEST(each_direction_is_in_its_sector)
{
    for (int s = 0; s < AROUND_SECTORS; s++)
        for (int off = -20; off <= 20; off += 20) {
            double angle = (45 * s + off) * 3.14159265358979 / 180;
            const float centroid[2][2] = {{0, 0}, {(float)(0.1 * cos(angle)), (float)(0.1 * sin(angle))}},
                        value[2] = {0, 1};
            OWNED(around_release) struct around around = {0};
            must(around_init(&around, value, 1, &centroid[0][0], 2, err));
            around_fill(&around, 0);
            for (int k = 0; k < AROUND_SIZE; k++)
                ck_assert_msg(around.means[k] == (k == s ? 1.0F : 0), "%d degrees: sector %d", 45 * s + off, k);
        }
}

/* Far more nodes than cells, places far apart, one node alone. */
/* Of two nodes and three labels. */
TEST(evidence_is_log_odds_of_mean_and_most_and_the_roots_of_means)
{
    static const double marginals[] = {0.5, 0.3, 0.2, 0.9, 0.1, 0};
    static const double expected[] = {0.7, 0.2, 0.1, 0.9, 0.3, 0.2};
    double evidence[6], row[6];
    ck_assert_int_eq(evidence_size(3), 6);
    evidence_measure(evidence, marginals, 2, 3);
    for (int k = 0; k < 6; k++)
        ck_assert_double_eq_tol(evidence[k], expected[k], 1e-12);
    for (int label = 0; label < 3; label++) {
        evidence_row(row, evidence, 3, label);
        ck_assert_double_eq(row[0], 1);
        for (int k = 0; k < 2; k++) {
            double p = expected[3 * k + label];
            ck_assert_double_eq_tol(row[1 + k], log(p / (1 - p)) / 3, 1e-9);
        }
        for (int l = 0; l < 3; l++)
            ck_assert_double_eq_tol(row[3 + l], sqrt(expected[l]), 1e-12);
    }
    evidence_measure(evidence, (double[]){1, 0, 0}, 1, 3); /* no odds are infinite */
    evidence_row(row, evidence, 3, 0);
    ck_assert_double_eq_tol(row[1], log((1 - 1e-4) / 1e-4) / 3, 1e-9);
}

TEST(any_centroids_are_taken)
{
    static float centroid[5000][2], value[5000];
    OWNED(around_release) struct around around = {0};
    for (int i = 0; i < 5000; i++) {
        centroid[i][0] = (float)(i % 71) * 1e30F;
        centroid[i][1] = (float)i;
        value[i] = 1;
    }
    must(around_init(&around, value, 1, &centroid[0][0], 5000, err));
    ck_assert_int_le(around.n_cells, 1024);
    for (size_t i = 0; i < 5000; i += 499)
        around_fill(&around, i);
    around_release(&around);
    must(around_init(&around, value, 1, &centroid[0][0], 1, err));
    around_fill(&around, 0);
    for (int s = 0; s < AROUND_SIZE; s++)
        ck_assert_float_eq(around.means[s], 0);
}

TEST(centroids_are_centres_of_mass)
{
    const int32_t labels[] = {0, 0, 1, 1, 0, 0, 1, 3};
    float centroid[4][2];
    double unit = sqrt(8);
    must(region_centroids(&centroid[0][0], &(struct label_map){labels, 4, 2, 4}, sqrt(8), err));
    ck_assert_float_eq_tol(centroid[0][0], (float)(1 / unit), 1e-6F);
    ck_assert_float_eq_tol(centroid[0][1], (float)(1 / unit), 1e-6F);
    ck_assert_float_eq_tol(centroid[3][0], (float)(3.5 / unit), 1e-6F);
    ck_assert_float_eq_tol(centroid[3][1], (float)(1.5 / unit), 1e-6F);
    ck_assert_float_eq(centroid[2][0], 0); /* without a pixel */
}
