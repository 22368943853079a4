/* Exact inference in forests, where nodes may be hidden: MAP, marginal MAP, marginals.
 *
 *     struct clv_forest *forest;
 *     const uint8_t is_visible[2] = {1, 0}; // of the field in oracle.h: node 1 is summed out
 *     const struct clv_forest_options marginal_map = {.is_visible = is_visible, .hidden_temperature = 1};
 *     double value;
 *     int32_t y[2];
 *     if (clv_forest_new(&forest, &error) ||
 *         clv_forest_run(forest, &value, NULL, NULL, y, &field, &marginal_map, &error))
 *         fprintf(stderr, "%s\n", error.message);
 *     clv_forest_free(forest);
 */
#ifndef CLEAVE_FOREST_H
#define CLEAVE_FOREST_H

#include "cleave/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CLV_FOREST_MAX_LABELS 256

/* Exact inference in forests, any labels and tables, by elimination. Visible nodes y and hidden nodes h have a
 * temperature each, and
 *
 *     value = T_y log sum_y exp( (T_h log sum_h exp(f(y, h) / T_h)) / T_y ),      T log sum exp(. / T) -> max as T -> 0
 *
 * (Ping, Liu & Ihler 2014, equation 5): at T_y = 0, T_h = 1 marginal MAP, at 0, 0 MAP, at 1, 1 the log-partition. */
struct clv_forest_options {
    const uint8_t *is_visible;                      /* [n_nodes] 1 or 0; NULL: all are */
    double visible_temperature, hidden_temperature; /* T_y, T_h >= 0; 0 maximises */
    const int32_t *label;                           /* [n_nodes] labels that are given, or CLV_UNKNOWN; NULL: none */
};

/* Buffers, kept from run to run. Not for two threads at once. */
struct clv_forest;
CLV_API enum clv_status clv_forest_new(struct clv_forest **forest, struct clv_error *err) CLV_CHECK;
CLV_API void clv_forest_free(struct clv_forest *forest);

/* *fits = 1 if clv_forest_run will not refuse the field's graph. CLV_ERR_MEMORY only. */
CLV_API enum clv_status clv_forest_fits(struct clv_forest *forest, bool *fits, const struct clv_field *field,
                                        const struct clv_forest_options *options, struct clv_error *err) CLV_CHECK;

/* Outputs, each of which may be NULL:
 *   *value
 *   marginals[n_nodes][n_labels]                 under p(h | y) p(y): the value's derivatives by the unary scores; 1 at
 *                                                the best label of a node that is maximised over
 *   pair_marginals[n_edges][n_labels][n_labels]  the same of each edge, the label of edges[e][0] first, in every form
 *   y[n_nodes]                                   the most probable label of each node; at T_y = 0 the visible ones are
 *                                                the (marginal) MAP labelling, at ties one of the best
 * options NULL: log-partition and marginals, temperatures 1. For loss-augmented inference, clv_field_add_loss first;
 * for the witness of a max-marginal, the best labelling through one label of one node, give that label. With
 * temperatures that differ, hidden nodes that hang together may join two visible ones at most, or what is left of them
 * would be no table. O(n_nodes n_labels^2), for hidden nodes between two visible ones O(n_labels^3) each.
 * Refused: a loop of nodes without given labels, naming the edge; a hidden node that joins more, naming it
 * (CLV_ERR_USAGE); values that are not finite or beyond 1e100, negative Potts couplings; options out of range. */
CLV_API enum clv_status clv_forest_run(struct clv_forest *forest, double *value, double *marginals,
                                       double *pair_marginals, int32_t *y, const struct clv_field *field,
                                       const struct clv_forest_options *options, struct clv_error *err) CLV_CHECK;

#ifdef __cplusplus
}
#endif
#endif
