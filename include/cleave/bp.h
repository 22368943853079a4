/* Belief propagation, for any labels, graphs and tables: exact on trees, an approximation elsewhere; and TRW-S, which
 * tells by a bound how good its labelling is.
 *
 *     struct clv_bp *bp;
 *     struct clv_bp_result result;
 *     double beliefs[2 * 2]; // of the field in oracle.h: the marginals, which on a tree are exact
 *     if (clv_bp_new(&bp, &error) || clv_bp_run(bp, beliefs, NULL, &result, &field, NULL, &error))
 *         fprintf(stderr, "%s\n", error.message);
 *     else if (!result.is_converged)
 *         fprintf(stderr, "still changing by %g after %d iterations\n", result.change, result.n_iterations);
 *     clv_bp_free(bp);
 */
#ifndef CLEAVE_BP_H
#define CLEAVE_BP_H

#include "cleave/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CLV_BP_MAX_LABELS 256

/* Loopy belief propagation, for any labels, graphs and pairwise tables: exact on trees, an approximation elsewhere.
 * Each node is summed out, or maximised over:
 *   CLV_BP_SUM    all are summed: marginals, and the Bethe log-partition.
 *   CLV_BP_MAX    all are maximised: max-marginals and a MAP labelling.
 *   CLV_BP_MIXED  hidden nodes h are summed and visible ones y maximised: marginal MAP, argmax_y sum_h exp f(y, h), by
 *                 mixed-product belief propagation (Liu & Ihler, JMLR 2013); or, with a temperature T_y above 0,
 *                 summed as well but after h, as in clv_forest_options. Exact on A-B trees: trees where no connected
 *                 set of hidden nodes touches two visible ones (or, if T_y is the temperature of h, on all trees).
 * For loss-augmented inference, clv_field_add_loss first. */
enum clv_bp_mode { CLV_BP_SUM, CLV_BP_MAX, CLV_BP_MIXED };

enum clv_bp_schedule {
    CLV_BP_SEQUENTIAL, /* breadth-first order there and back; on a tree one iteration does it, a second one sees that */
    CLV_BP_RED_BLACK,  /* colour by colour of a greedy colouring: two colours on a grid */
};

struct clv_bp_options {
    enum clv_bp_mode mode;
    enum clv_bp_schedule schedule;
    const uint8_t *is_visible;  /* [n_nodes] 1 or 0; only looked at, and needed, with CLV_BP_MIXED */
    double temperature;         /* T > 0: summed nodes are weighted by exp(f / T) */
    double visible_temperature; /* T_y >= 0 of visible nodes, with CLV_BP_MIXED; 0 maximises */
    const int32_t *label;       /* [n_nodes] labels that are given, or CLV_UNKNOWN; NULL: none */
    double damping;             /* in [0, 1): the share of the old message's logarithm in the new one */
    double tolerance;           /* >= 0: converged when no message's logarithm changes by more, damping aside */
    int32_t max_iterations;     /* >= 1; an iteration sends every message once */
    bool is_warm; /* start from the messages of the run before, if its graph, labels and form were the same */
    /* [n_nodes] a labelling to start near, CLV_UNKNOWN: any; NULL: none. Its labels score 3 T more for at most ten
     * iterations, before those that count: of several fixed points one near it is found. */
    const int32_t *near;
};

/* `value` is, of CLV_BP_SUM, the Bethe estimate of T log sum_y exp(f(y) / T), exact on trees; of CLV_BP_MAX f(y); of
 * CLV_BP_MIXED the Bethe estimate of clv_forest_run's value, exact where the run is. */
struct clv_bp_result {
    bool is_converged;
    int32_t n_iterations;
    double change; /* largest change of a message's logarithm in the last iteration */
    double value;
};

/* CLV_BP_SUM, sequential, T = 1, T_y = 0, no labels given, no damping, tolerance 1e-9, at most 200 iterations, cold. */
CLV_API void clv_bp_defaults(struct clv_bp_options *options);

/* Messages and buffers, kept from run to run; the next field may be any other. Not for two threads at once. Memory:
 * O(edges x labels), with full tables O(edges x labels^2). */
struct clv_bp;
CLV_API enum clv_status clv_bp_new(struct clv_bp **bp, struct clv_error *err) CLV_CHECK;
CLV_API void clv_bp_free(struct clv_bp *bp);

/* Runs until converged or out of iterations, which is no error: see *result. options NULL: the defaults. Outputs, each
 * of which may be NULL:
 *   beliefs[n_nodes][n_labels]  a summed node's marginals; for a maximised node its max-marginals minus the largest of
 *                               them (-inf at the labels that a given one excludes)
 *   y[n_nodes]                  the decoded labelling: maximised nodes one after the other, each given those decided
 *                               before it (on trees right at ties, too); a summed node's most probable label, the
 *                               lowest at ties
 *   result                      NULL saves the work of its value
 * O(edges x labels) an iteration with Potts couplings, O(edges x labels^2) with full tables. Sums leave the log domain
 * only while nothing gets too small: scores may be as large as 1e100 T (and T_y). Refused: values that are not finite,
 * or larger, and negative couplings, naming node or edge (CLV_ERR_DATA); options out of range, naming the value
 * (CLV_ERR_USAGE). */
CLV_API enum clv_status clv_bp_run(struct clv_bp *bp, double *beliefs, int32_t *y, struct clv_bp_result *result,
                                   const struct clv_field *field, const struct clv_bp_options *options,
                                   struct clv_error *err) CLV_CHECK;

/* pair_beliefs[n_edges][n_labels][n_labels]: the edges' marginals of the last successful run, the label of edges[e][0]
 * first; all at the labels decoded where both ends are maximised. Their sums are the nodes' once the run has
 * converged. Nothing for fields of form CLV_PAIRWISE_NONE. */
CLV_API void clv_bp_pair_beliefs(double *pair_beliefs, struct clv_bp *bp);

/* MAP inference with a bound by sequential tree-reweighted message passing (TRW-S, Kolmogorov 2006), for any labels,
 * graphs and tables. The bound, of max f from above, is that of a linear programming relaxation; it never rises from
 * iteration to iteration but for rounding, and in the limit reaches the maximum on trees and for two labels with
 * supermodular tables, other fields leave a gap. */
struct clv_trws_result {
    double score, bound; /* f of the labelling found; score <= max f <= bound */
    int32_t n_iterations;
    bool is_converged; /* the last iteration lowered the bound by the tolerance at most, or it met the score */
};

/* y[n_nodes] (or NULL) is the best labelling met. Of the options the labels given, tolerance and max_iterations count,
 * and is_warm after a run of the same routine: bounds hold from any messages on, near scores are soon done. Other runs
 * of `bp` must start cold then. options NULL: the defaults. An iteration passes all nodes forth and back: O(edges x
 * labels) with Potts couplings, O(edges x labels^2) with full tables. Refused: as clv_bp_run. */
CLV_API enum clv_status clv_bp_trws(struct clv_bp *bp, int32_t *y, struct clv_trws_result *result,
                                    const struct clv_field *field, const struct clv_bp_options *options,
                                    struct clv_error *err) CLV_CHECK;

#ifdef __cplusplus
}
#endif
#endif
