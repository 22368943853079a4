/* The structured problem of all learners and oracles of cleave, its weights, its joint feature and its loss.
 *
 *     score  f(y|x;w) = sum_i <W[y_i], x_i> - [pairwise] sum_(i,j) [y_i != y_j] <c, e_ij>      (Potts)
 *                                           + [pairwise] sum_(i,j) <P[y_i, y_j], e_ij>          (full tables)
 *                     = <w, Psi(x, y)>
 *
 * With two labels, W has one row: label 0 scores 0 (the other row would be redundant). Potts couplings c >= 0 make f
 * supermodular when all e_ij >= 0, so that its maximum is a min-cut.
 *
 *     #include <cleave.h>
 *     #include <stdio.h>
 *
 *     int main(void)   // prints the score of the labelling (1, 0) of two nodes joined by an edge
 *     {
 *         const int64_t row[3] = {0, 1, 2};
 *         const int32_t index[2] = {0, 0}, edges[1][2] = {{0, 1}}, y[2] = {1, 0};
 *         const float value[2] = {2, -1}, edge_feature[1] = {1};
 *         const double w[2] = {3, 0.5}; // W, then c
 *         struct clv_problem problem = {.n_nodes = 2, .n_edges = 1, .n_features = 1, .n_edge_features = 1, .row = row,
 *                                       .index = index, .value = value, .edges = edges, .edge_features = edge_feature};
 *         struct clv_weight_layout layout = {.n_labels = 2, .n_features = 1, .n_edge_features = 1,
 *                                   .pairwise = CLV_PAIRWISE_POTTS};
 *         double unary[2], coupling[1];
 *         struct clv_field field = {.n_nodes = 2, .n_edges = 1, .n_labels = 2, .form = CLV_PAIRWISE_POTTS,
 *                                   .edges = edges, .unary = unary, .pairwise = coupling};
 *         struct clv_error error;
 *         if (clv_problem_check(&problem, &layout, &error))
 *             return fprintf(stderr, "%s\n", error.message), 1;
 *         clv_unary_scores(unary, &problem, &layout, w);
 *         clv_pairwise_scores(coupling, &problem, &layout, w);
 *         printf("%g\n", clv_field_score(&field, y)); // 3 * 2 - 0.5 = 5.5
 *         return 0;
 *     }
 */
#ifndef CLEAVE_PROBLEM_H
#define CLEAVE_PROBLEM_H

#include <stdbool.h>

#include "cleave/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CLV_UNKNOWN (-1) /* the label of an unlabelled node */

/* A view: the arrays belong to its source (a dataset, a mapped feature file). Rows of x are sparse: row i holds the
 * entries row[i]..row[i+1]-1 of index (strictly ascending within a row) and value. row[0] need not be 0, so that a
 * problem can be a part of a larger matrix. */
struct clv_problem {
    int32_t n_nodes, n_edges;
    int32_t n_features;         /* d */
    int32_t n_edge_features;    /* p */
    const int64_t *row;         /* [n_nodes + 1] */
    const int32_t *index;       /* [row[n_nodes]], in 0..d-1 */
    const float *value;         /* [row[n_nodes]] */
    const int32_t (*edges)[2];  /* [n_edges], a < b */
    const float *edge_features; /* [n_edges][p], >= 0 for cuts */
    const int32_t *label;       /* [n_nodes] true labels or CLV_UNKNOWN; NULL at test time */
    const float *theta;         /* [n_nodes][n_labels] loss weights; NULL at test time. See clv_loss */
    const float *area;          /* [n_nodes] pixels of each node */
    const float *centroid;      /* [n_nodes][2] x and y of each node divided by the square root of the image's area
                                 * (at a fixed scale, of 600 regions' area); NULL: not known. For second stages */
};

enum clv_pairwise {
    CLV_PAIRWISE_NONE,  /* no edges: an unstructured model */
    CLV_PAIRWISE_POTTS, /* p couplings */
    CLV_PAIRWISE_FULL,  /* K x K x p tables, of any sign */
};

/* The layout of a weight vector: first W, rows x n_features (rows = 1 if n_labels == 2, else n_labels), then c[p] or
 * P[n_labels][n_labels][p]. */
struct clv_weight_layout {
    int32_t n_labels, n_features, n_edge_features;
    enum clv_pairwise pairwise;
};
CLV_API size_t clv_weight_layout_rows(const struct clv_weight_layout *layout);
CLV_API size_t clv_weight_layout_unary_size(const struct clv_weight_layout *layout); /* rows x n_features */
CLV_API size_t clv_weight_layout_size(const struct clv_weight_layout *layout);       /* all weights */

/* Checks a layout (CLV_ERR_USAGE) and a problem against it and itself (CLV_ERR_DATA, naming the node or edge): 2 to 255
 * labels, sizes, indices, edge ends, finite values, non-negative Potts edge features, theta and area, labels in
 * range. With form NONE edge features are not checked. The other functions here check nothing. O(size of the
 * problem). */
CLV_API enum clv_status clv_problem_check(const struct clv_problem *problem, const struct clv_weight_layout *layout,
                                          struct clv_error *err) CLV_CHECK;

/* Kinds of graphs that a problem's edges form; each kind includes the previous ones. */
enum clv_graph {
    CLV_GRAPH_CHAIN,  /* edge e joins nodes e and e + 1, and no other edge exists */
    CLV_GRAPH_FOREST, /* no loops */
    CLV_GRAPH_ANY,
};

/* Input of an oracle: unary scores and couplings of one problem under one w. For n_labels == 2 `unary` is [n_nodes],
 * the score of label 1 minus that of label 0; otherwise [n_nodes][n_labels]. `pairwise` is coupling[n_edges] (Potts;
 * the score loses coupling when the ends differ), table[n_edges][K][K] (full; added, the label of edges[e][0] first),
 * or NULL. Full tables with is_shared = 1 are one table[K][K], the same for every edge. */
struct clv_field {
    int32_t n_nodes, n_edges, n_labels;
    enum clv_pairwise form;
    const int32_t (*edges)[2];
    double *unary;
    double *pairwise;
    bool is_shared;
};

/* Returns the full table of edge e: [K][K]. */
static inline const double *clv_field_table(const struct clv_field *field, int32_t e)
{
    size_t k = (size_t)field->n_labels;
    return &field->pairwise[field->is_shared ? 0 : (size_t)e * k * k];
}

/* unary = W x, into the caller's array. O(non-zeros x rows). */
CLV_API void clv_unary_scores(double *unary, const struct clv_problem *problem, const struct clv_weight_layout *layout,
                              const double *w);
/* pairwise = coupling[n_edges] = <c, e_ij> or table[n_edges][K][K] = <P[a][b], e_ij>, by the layout's form; not written
 * for form NONE. */
CLV_API void clv_pairwise_scores(double *pairwise, const struct clv_problem *problem,
                                 const struct clv_weight_layout *layout, const double *w);

/* psi += scale * Psi(x, y): psi[clv_weight_layout_size]. Nodes with y = CLV_UNKNOWN and edges that touch one contribute
 * nothing. O(non-zeros of the nodes whose label has a row + edges x p): with two labels only nodes with label 1 are
 * read. */
CLV_API void clv_joint_feature_add(double *psi, const struct clv_problem *problem,
                                   const struct clv_weight_layout *layout, const int32_t *y, double scale);

/* Returns f(y). y has no CLV_UNKNOWN. */
CLV_API double clv_field_score(const struct clv_field *field, const int32_t *y);

/* Weighted Hamming loss: loss(y) = sum_i sum_{b != y_i} theta[i][b]. theta[i][b] is the weight of node i's pixels whose
 * true label is b: pixels / (2 V_b) for the balanced error of two labels (see score.h), so that the loss of a
 * superpixel labelling is the pixel loss of the mask it paints. Nodes without labelled pixels have a zero row. y has no
 * CLV_UNKNOWN; problem->theta is not NULL. */
CLV_API double clv_loss(const struct clv_problem *problem, int32_t n_labels, const int32_t *y);

/* Loss augmentation: unary += loss of each label, so that the maximum of the field is max_y f(y) + loss(y) - constant;
 * returns that constant (0 for n_labels > 2; for two labels the loss of label 0 at all nodes). */
CLV_API double clv_field_add_loss(struct clv_field *field, const struct clv_problem *problem);

#ifdef __cplusplus
}
#endif
#endif
