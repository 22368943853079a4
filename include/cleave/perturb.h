/* Perturb-and-MAP (Papandreou & Yuille 2011; Hazan & Jaakkola 2012): the MAP labellings of randomly perturbed scores
 * are samples, and their shares estimate marginals.
 *
 *     double marginals[2 * 2]; // of the field in oracle.h: of each node the shares of its two labels
 *     if (clv_perturbed_marginals(oracle, marginals, NULL, NULL, &field, 1, 100, &error))
 *         fprintf(stderr, "%s\n", error.message);
 */
#ifndef CLEAVE_PERTURB_H
#define CLEAVE_PERTURB_H

#include "cleave/oracle.h"

#ifdef __cplusplus
extern "C" {
#endif

/* noise += zero-mean Gumbel variables of draw `draw`, keyed
 * by (seed, draw, node, label), so that they depend on nothing else: noise[n_nodes], label 1's minus label 0's, for two
 * labels, otherwise noise[n_nodes][n_labels]. Add them to a field's unary and solve. */
CLV_API void clv_gumbel_add(double *noise, int32_t n_nodes, int32_t n_labels, uint64_t seed, uint32_t draw);

/* The draws first_draw .. first_draw + n_draws - 1 of a field: y[n_draws][n_nodes] are their MAP labellings,
 * value[n_draws] (or NULL) max_y f(y) + sum_i gumbel_i(y_i). Two-label cuts of up to 16383 nodes are solved sixteen at
 * a time in vector lanes by our engine, on a grid as fine as 29 bits allow for a node's unary and couplings together.
 * The same on every machine. */
CLV_API enum clv_status clv_perturbed_map(struct clv_oracle *oracle, int32_t *y, double *value,
                                          const struct clv_field *field, uint64_t seed, uint32_t first_draw,
                                          uint32_t n_draws, struct clv_error *err) CLV_CHECK;

/* From draws 0 .. n_draws-1, n_draws >= 1: marginals[n_nodes][n_labels] (or NULL) is how often each label was drawn,
 * divided by n_draws; *bound (or NULL) is the mean value, whose expectation A_G is an upper bound of log sum_y exp
 * f(y), with equality for fields without edges; *standard_error (or NULL) is that mean's (NaN for one draw). */
CLV_API enum clv_status clv_perturbed_marginals(struct clv_oracle *oracle, double *marginals, double *bound,
                                                double *standard_error, const struct clv_field *field, uint64_t seed,
                                                uint32_t n_draws, struct clv_error *err) CLV_CHECK;

#ifdef __cplusplus
}
#endif
#endif
