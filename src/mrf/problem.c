/* Checks problems and weight layouts, so that later code can index them safely; then computes scores, joint
 * features and the weighted Hamming loss. Start at clv_problem_check and clv_unary_scores. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "base/machine.h"
#include "cleave/problem.h"
#include "mrf/problem.h"

#define MAX_LABELS 255 /* as in masks */

size_t clv_weight_layout_rows(const struct clv_weight_layout *layout)
{
    return layout->n_labels == 2 ? 1 : (size_t)layout->n_labels;
}

size_t clv_weight_layout_unary_size(const struct clv_weight_layout *layout)
{
    return clv_weight_layout_rows(layout) * (size_t)layout->n_features;
}

static size_t pairwise_size(const struct clv_weight_layout *layout)
{
    size_t p = (size_t)layout->n_edge_features, k = (size_t)layout->n_labels;
    switch (layout->pairwise) {
    case CLV_PAIRWISE_NONE: return 0;
    case CLV_PAIRWISE_POTTS: return p;
    case CLV_PAIRWISE_FULL: return k * k * p;
    }
    return 0;
}

size_t clv_weight_layout_size(const struct clv_weight_layout *layout)
{
    return clv_weight_layout_unary_size(layout) + pairwise_size(layout);
}

static enum clv_status check_shape(const struct clv_weight_layout *layout, struct clv_error *err)
{
    if (layout->n_labels < 2 || layout->n_labels > MAX_LABELS)
        return fail(err, CLV_ERR_USAGE, "layout: %d labels, must be 2 to %d", layout->n_labels, MAX_LABELS);
    FAIL_IF(layout->n_features < 1, CLV_ERR_USAGE, "layout: %d features, must be at least 1", layout->n_features);
    if (layout->pairwise != CLV_PAIRWISE_NONE && layout->pairwise != CLV_PAIRWISE_POTTS &&
        layout->pairwise != CLV_PAIRWISE_FULL)
        return fail(err, CLV_ERR_USAGE, "layout: unknown pairwise form %d", (int)layout->pairwise);
    if (layout->pairwise != CLV_PAIRWISE_NONE && layout->n_edge_features < 1)
        return fail(err, CLV_ERR_USAGE, "layout: %d edge features, must be at least 1", layout->n_edge_features);
    return CLV_OK;
}

static enum clv_status check_sizes(const struct clv_problem *problem, const struct clv_weight_layout *layout,
                                   struct clv_error *err)
{
    if (problem->n_nodes < 1 || problem->n_edges < 0)
        return fail(err, CLV_ERR_DATA, "problem has %d nodes and %d edges", problem->n_nodes, problem->n_edges);
    FAIL_IF(problem->n_features != layout->n_features, CLV_ERR_DATA, "problem has %d features per node, expected %d",
            problem->n_features, layout->n_features);
    if (layout->pairwise != CLV_PAIRWISE_NONE && problem->n_edge_features != layout->n_edge_features)
        return fail(err, CLV_ERR_DATA, "problem has %d features per edge, expected %d", problem->n_edge_features,
                    layout->n_edge_features);
    FAIL_IF(!problem->row, CLV_ERR_DATA, "problem has no feature rows");
    if (problem->n_edges > 0 && !problem->edges)
        return fail(err, CLV_ERR_DATA, "problem has %d edges but no edge list", problem->n_edges);
    if (problem->n_edges > 0 && layout->pairwise != CLV_PAIRWISE_NONE && !problem->edge_features)
        return fail(err, CLV_ERR_DATA, "problem has %d edges but no edge features", problem->n_edges);
    return CLV_OK;
}

static enum clv_status check_rows(const struct clv_problem *problem, struct clv_error *err)
{
    const int64_t *row = problem->row;
    FAIL_IF(row[0] < 0, CLV_ERR_DATA, "node 0: its features start at %lld", (long long)row[0]);
    for (int32_t i = 0; i < problem->n_nodes; i++) {
        FAIL_IF(row[i + 1] < row[i] || row[i + 1] - row[i] > problem->n_features, CLV_ERR_DATA,
                "node %d: its features run from %lld to %lld", i, (long long)row[i], (long long)row[i + 1]);
        if (row[i + 1] > row[i] && (!problem->index || !problem->value))
            return fail(err, CLV_ERR_DATA, "node %d: its features are missing", i);
        int32_t previous = -1;
        for (int64_t k = row[i]; k < row[i + 1]; k++) {
            int32_t index = problem->index[k];
            FAIL_IF(index < 0 || index >= problem->n_features, CLV_ERR_DATA, "node %d: feature %d is outside 0..%d", i,
                    index, problem->n_features - 1);
            FAIL_IF(index <= previous, CLV_ERR_DATA, "node %d: feature %d comes after feature %d", i, index, previous);
            if (!isfinite(problem->value[k]))
                return fail(err, CLV_ERR_DATA, "node %d: feature %d is %g", i, index, (double)problem->value[k]);
            previous = index;
        }
    }
    return CLV_OK;
}

static enum clv_status check_edges(const struct clv_problem *problem, const struct clv_weight_layout *layout,
                                   struct clv_error *err)
{
    for (int32_t e = 0; e < problem->n_edges; e++) {
        int32_t a = problem->edges[e][0], b = problem->edges[e][1];
        FAIL_IF(a < 0 || b >= problem->n_nodes || a >= b, CLV_ERR_DATA,
                "edge %d: its ends %d and %d must satisfy 0 <= first < second < %d", e, a, b, problem->n_nodes);
    }
    if (layout->pairwise == CLV_PAIRWISE_NONE)
        return CLV_OK;
    size_t p = (size_t)problem->n_edge_features;
    for (int32_t e = 0; e < problem->n_edges; e++)
        for (size_t k = 0; k < p; k++) {
            double value = problem->edge_features[(size_t)e * p + k];
            if (!isfinite(value) || (value < 0 && layout->pairwise == CLV_PAIRWISE_POTTS))
                return fail(err, CLV_ERR_DATA, "edge %d: feature %zu is %g", e, k, value);
        }
    return CLV_OK;
}

static enum clv_status check_truth(const struct clv_problem *problem, const struct clv_weight_layout *layout,
                                   struct clv_error *err)
{
    size_t n_labels = (size_t)layout->n_labels;
    for (int32_t i = 0; problem->label && i < problem->n_nodes; i++)
        if (problem->label[i] != CLV_UNKNOWN && (problem->label[i] < 0 || problem->label[i] >= layout->n_labels))
            return fail(err, CLV_ERR_DATA, "node %d: label %d is outside 0..%d", i, problem->label[i],
                        layout->n_labels - 1);
    for (int32_t i = 0; problem->theta && i < problem->n_nodes; i++)
        for (size_t b = 0; b < n_labels; b++) {
            double theta = problem->theta[(size_t)i * n_labels + b];
            if (!isfinite(theta) || theta < 0)
                return fail(err, CLV_ERR_DATA, "node %d: loss weight of label %zu is %g", i, b, theta);
        }
    for (int32_t i = 0; problem->area && i < problem->n_nodes; i++)
        if (!isfinite(problem->area[i]) || problem->area[i] < 0)
            return fail(err, CLV_ERR_DATA, "node %d: area is %g", i, (double)problem->area[i]);
    for (int32_t i = 0; problem->centroid && i < problem->n_nodes; i++)
        if (!isfinite(problem->centroid[2 * (size_t)i]) || !isfinite(problem->centroid[2 * (size_t)i + 1]))
            return fail(err, CLV_ERR_DATA, "node %d: its centroid is %g, %g", i,
                        (double)problem->centroid[2 * (size_t)i], (double)problem->centroid[2 * (size_t)i + 1]);
    return CLV_OK;
}

enum clv_status clv_problem_check(const struct clv_problem *problem, const struct clv_weight_layout *layout,
                                  struct clv_error *err)
{
    MUST(check_shape(layout, err));
    MUST(check_sizes(problem, layout, err));
    MUST(check_rows(problem, err));
    MUST(check_edges(problem, layout, err));
    return check_truth(problem, layout, err);
}

/* Scores, which turn weights into the tables of an oracle, and the joint feature, which is the transposed linear map.
 *
 *     f(y|x;w) = sum_i <W[y_i], x_i> + pairwise = <w, Psi(x, y)>        (problem.h)
 *
 * Both are inner loops of learners: a superpixel has about 150 non-zero features among thousands. */

typedef double lanes __attribute__((vector_size(32)));
typedef float narrow_lanes __attribute__((vector_size(16)));

/* *sum += w x, four at a time. */
static inline void add_products(lanes *sum, const double *w, const float *x)
{
    lanes weight;
    narrow_lanes feature;
    memcpy(&weight, w, sizeof weight);
    memcpy(&feature, x, sizeof feature);
    *sum += weight * __builtin_convertvector(feature, lanes);
}

/* Returns <w, x> of one sparse row. Four running sums hide the latency of additions. Their number is fixed, so the
 * result is the same on every machine. */
static double sparse_dot(const double *restrict w, const int32_t *restrict index, const float *restrict value,
                         int64_t n)
{
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    int64_t k = 0;
    for (; k + 4 <= n; k += 4) {
        s0 += w[index[k]] * (double)value[k];
        s1 += w[index[k + 1]] * (double)value[k + 1];
        s2 += w[index[k + 2]] * (double)value[k + 2];
        s3 += w[index[k + 3]] * (double)value[k + 3];
    }
    for (; k < n; k++)
        s0 += w[index[k]] * (double)value[k];
    return (s0 + s1) + (s2 + s3);
}

/* Sets out[0..3] to <w, x> for four rows of W, `stride` apart, so that x is read once. */
static void sparse_dot_four(double *restrict out, const double *restrict w, size_t stride,
                            const int32_t *restrict index, const float *restrict value, int64_t n)
{
    double sum[4][4] = {{0}};
    int64_t k = 0;
    for (; k + 4 <= n; k += 4)
        for (size_t j = 0; j < 4; j++) {
            const double *column = &w[index[k + (int64_t)j]];
            double x = (double)value[k + (int64_t)j];
            for (size_t r = 0; r < 4; r++)
                sum[j][r] += column[r * stride] * x;
        }
    for (; k < n; k++)
        for (size_t r = 0; r < 4; r++)
            sum[0][r] += w[index[k] + (int64_t)(r * stride)] * (double)value[k];
    for (size_t r = 0; r < 4; r++)
        out[r] = (sum[0][r] + sum[1][r]) + (sum[2][r] + sum[3][r]);
}

/* Returns whether a row has no gaps between its features, as all rows of dense data have. */
static bool is_run(const int32_t *index, int64_t n)
{
    return n > 0 && index[n - 1] - index[0] == n - 1;
}

/* Sets out[j] = <w + j w_step, x + j x_step> of n numbers each, j = 0..3, by the same sums as sparse_dot, so that dense
 * and sparse rows give the same bits. */
FOR_EACH_MACHINE static void run_dots(double *restrict out, const double *restrict w, size_t w_step,
                                      const float *restrict x, size_t x_step, size_t n)
{
    lanes sum[4] = {{0}};
    size_t k = 0;
    for (; k + 4 <= n; k += 4)
        for (size_t j = 0; j < 4; j++)
            add_products(&sum[j], w + j * w_step + k, x + j * x_step + k);
    for (size_t j = 0; j < 4; j++) {
        double first = sum[j][0];
        for (size_t l = k; l < n; l++)
            first += w[j * w_step + l] * (double)x[j * x_step + l];
        out[j] = (first + sum[j][1]) + (sum[j][2] + sum[j][3]);
    }
}

/* The features of one node. */
struct entries {
    const int32_t *index; /* [n] */
    const float *value;
    int64_t n;
};

/* Returns the features of a node. A problem may have no arrays of features, and then no address in them may be
 * computed. */
static struct entries entries_of(const struct clv_problem *problem, int32_t node)
{
    int64_t begin = problem->row[node], n = problem->row[node + 1] - begin;
    return n ? (struct entries){problem->index + begin, problem->value + begin, n} : (struct entries){NULL, NULL, 0};
}

/* Returns whether nodes i..i + 3 have the same features, without gaps. */
static bool are_four_runs(const struct clv_problem *problem, int32_t i)
{
    const int64_t *row = problem->row + i;
    int64_t n = row[1] - row[0];
    if (i + 4 > problem->n_nodes || !n)
        return false;
    for (int64_t j = 0; j < 4; j++)
        if (row[j + 1] - row[j] != n || !is_run(problem->index + row[j], n) ||
            problem->index[row[j]] != problem->index[row[0]])
            return false;
    return true;
}

/* Computes the scores for two labels, by the only row of W. */
static void scores_of_row(double *unary, const struct clv_problem *problem, const double *w)
{
    for (int32_t i = 0, done; i < problem->n_nodes; i += done) {
        struct entries x = entries_of(problem, i);
        done = x.n > 0 && are_four_runs(problem, i) ? 4 : 1;
        if (done == 4)
            run_dots(unary + i, w + x.index[0], 0, x.value, (size_t)x.n, (size_t)x.n);
        else
            unary[i] = sparse_dot(w, x.index, x.value, x.n);
    }
}

void clv_unary_scores(double *unary, const struct clv_problem *problem, const struct clv_weight_layout *layout,
                      const double *w)
{
    size_t n_rows = clv_weight_layout_rows(layout), d = (size_t)layout->n_features;
    if (n_rows == 1) {
        scores_of_row(unary, problem, w);
        return;
    }
    for (int32_t i = 0; i < problem->n_nodes; i++) {
        struct entries x = entries_of(problem, i);
        double *out = unary + (size_t)i * n_rows;
        bool is_dense = is_run(x.index, x.n);
        size_t r = 0;
        for (; r + 4 <= n_rows; r += 4)
            if (is_dense)
                run_dots(out + r, w + r * d + x.index[0], d, x.value, 0, (size_t)x.n);
            else
                sparse_dot_four(out + r, w + r * d, d, x.index, x.value, x.n);
        for (; r < n_rows; r++)
            out[r] = sparse_dot(w + r * d, x.index, x.value, x.n);
    }
}

void clv_pairwise_scores(double *pairwise, const struct clv_problem *problem, const struct clv_weight_layout *layout,
                         const double *w)
{
    if (layout->pairwise == CLV_PAIRWISE_NONE)
        return;
    size_t p = (size_t)layout->n_edge_features, k = (size_t)layout->n_labels;
    size_t n_entries = layout->pairwise == CLV_PAIRWISE_FULL ? k * k : 1;
    const double *weights = w + clv_weight_layout_unary_size(layout);
    for (size_t e = 0; e < (size_t)problem->n_edges; e++) {
        const float *feature = problem->edge_features + e * p;
        for (size_t t = 0; t < n_entries; t++) {
            double sum = 0;
            for (size_t f = 0; f < p; f++)
                sum += weights[t * p + f] * (double)feature[f];
            pairwise[e * n_entries + t] = sum;
        }
    }
}

FOR_EACH_MACHINE static void run_add(double *restrict target, const float *restrict x, double scale, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        target[k] += scale * (double)x[k];
}

/* target += scale x of one sparse row. */
static void sparse_add(double *restrict target, const struct clv_problem *problem, int32_t node, double scale)
{
    struct entries x = entries_of(problem, node);
    if (is_run(x.index, x.n)) {
        run_add(target + x.index[0], x.value, scale, x.n);
        return;
    }
    for (int64_t k = 0; k < x.n; k++)
        target[x.index[k]] += scale * (double)x.value[k];
}

void unary_feature_add(double *psi, const struct clv_problem *problem, const struct clv_weight_layout *layout,
                       const double *weight)
{
    size_t n_rows = clv_weight_layout_rows(layout), d = (size_t)layout->n_features;
    for (int32_t i = 0; i < problem->n_nodes; i++)
        for (size_t r = 0; r < n_rows; r++)
            if (weight[(size_t)i * n_rows + r] != 0)
                sparse_add(psi + r * d, problem, i, weight[(size_t)i * n_rows + r]);
}

void pairwise_feature_add(double *pairwise, const struct clv_problem *problem, const struct clv_weight_layout *layout,
                          const int32_t *y, double scale)
{
    if (layout->pairwise == CLV_PAIRWISE_NONE)
        return;
    size_t p = (size_t)layout->n_edge_features, n_labels = (size_t)layout->n_labels;
    int potts = layout->pairwise == CLV_PAIRWISE_POTTS;
    for (size_t e = 0; e < (size_t)problem->n_edges; e++) {
        int32_t a = y[problem->edges[e][0]], b = y[problem->edges[e][1]];
        if (a == CLV_UNKNOWN || b == CLV_UNKNOWN || (potts && a == b))
            continue;
        double *target = potts ? pairwise : pairwise + ((size_t)a * n_labels + (size_t)b) * p;
        double sign = potts ? -scale : scale;
        for (size_t f = 0; f < p; f++)
            target[f] += sign * (double)problem->edge_features[e * p + f];
    }
}

void clv_joint_feature_add(double *psi, const struct clv_problem *problem, const struct clv_weight_layout *layout,
                           const int32_t *y, double scale)
{
    for (int32_t i = 0; i < problem->n_nodes; i++) {
        int32_t row = layout->n_labels == 2 ? y[i] - 1 : y[i]; /* two labels: label 0 has no row */
        if (y[i] != CLV_UNKNOWN && row >= 0)
            sparse_add(psi + (size_t)row * (size_t)layout->n_features, problem, i, scale);
    }
    pairwise_feature_add(psi + clv_weight_layout_unary_size(layout), problem, layout, y, scale);
}

double clv_field_score(const struct clv_field *field, const int32_t *y)
{
    size_t n_labels = (size_t)field->n_labels;
    double score = 0;
    for (size_t i = 0; i < (size_t)field->n_nodes; i++)
        if (n_labels != 2)
            score += field->unary[i * n_labels + (size_t)y[i]];
        else if (y[i] == 1)
            score += field->unary[i];
    if (field->form == CLV_PAIRWISE_NONE)
        return score;
    for (size_t e = 0; e < (size_t)field->n_edges; e++) {
        size_t a = (size_t)y[field->edges[e][0]], b = (size_t)y[field->edges[e][1]];
        if (field->form == CLV_PAIRWISE_FULL)
            score += clv_field_table(field, (int32_t)e)[a * n_labels + b];
        else if (a != b)
            score -= field->pairwise[e];
    }
    return score;
}

/* The weighted Hamming loss, and its addition to the unary scores. */

/* Returns the loss of labelling a node `label`: the weight of its pixels whose true label differs. */
static double node_loss(const float *theta, int32_t n_labels, int32_t label)
{
    double sum = 0;
    for (int32_t b = 0; b < n_labels; b++)
        if (b != label)
            sum += (double)theta[b];
    return sum;
}

void label_shares_add(double *share, const struct clv_problem *problem, int32_t n_labels)
{
    for (size_t k = 0; problem->theta && k < (size_t)problem->n_nodes * (size_t)n_labels; k++)
        share[k % (size_t)n_labels] += (double)problem->theta[k];
}

double clv_loss(const struct clv_problem *problem, int32_t n_labels, const int32_t *y)
{
    double loss = 0;
    for (int32_t i = 0; i < problem->n_nodes; i++)
        loss += node_loss(problem->theta + (size_t)i * (size_t)n_labels, n_labels, y[i]);
    return loss;
}

double clv_field_add_loss(struct clv_field *field, const struct clv_problem *problem)
{
    int32_t n_labels = field->n_labels;
    double constant = 0;
    for (size_t i = 0; i < (size_t)field->n_nodes; i++) {
        const float *theta = problem->theta + i * (size_t)n_labels;
        if (n_labels == 2) {
            field->unary[i] += (double)theta[0] - (double)theta[1];
            constant += (double)theta[1];
            continue;
        }
        double total = node_loss(theta, n_labels, -1), *unary = &field->unary[i * (size_t)n_labels];
        for (int32_t k = 0; k < n_labels; k++) /* rounding may make a loss negative */
            unary[k] += total > (double)theta[k] ? total - (double)theta[k] : 0;
    }
    return constant;
}
