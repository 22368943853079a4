/* Inference in random fields: the MAP labelling, clamped optima, marginals, samples. A field (problem.h) is a graph
 * with unary scores and couplings or tables; inference uses nothing else of a problem.
 *
 * Read first: problem.h (the field), oracle.h (the MAP labelling, with a complete example). Then choose by the task:
 *
 *   clv_oracle_*   MAP: minimum cuts, chains, expansion, swap; clamped optima (witnesses); decoding by other rules
 *   clv_grid_*     minimum cuts on the pixels of an image
 *   clv_oracle_marginals  marginals: exact without loops, else from samples
 *   clv_perturb_*  samples and marginals from the MAP of perturbed scores
 *   clv_chain_*    chains: Viterbi, forward-backward
 *   clv_forest_*   forests with hidden nodes, by elimination
 *   clv_bp_*       belief propagation and TRW-S, for everything else
 *
 * Several engines can solve a chain or a tree. The engine depends on the task (files in src/infer/):
 *
 *   task                                caller                         engine
 *   MAP of a chain of full tables       clv_oracle_map                 chain/viterbi.c: Viterbi; keeps its buffers for
 *                                                                      clamps of the last chain
 *   .. of two labels, with different    clv_oracle_map                 cut/: as for any graph, witnesses by clamping;
 *   supermodular tables                                                cut/exact_cut.c beside hard couplings
 *   MAP and clamped optima of other     clv_oracle_map                 elimination/forest_map.c: max-product, with
 *   forests that a cut cannot solve                                    clamps as for chains
 *   MAP and marginals of a chain in     clv_chain_*, decoding by       chain/viterbi.c, chain/forward_backward.c
 *   the caller's arrays                 marginals
 *   marginals of a model on a chain     clv_model_marginals,           chain/forward_backward.c on chains of full tables,
 *   or forest                           clv_oracle_marginals           bp/bp.c with Potts, else elimination/forest.c
 *   marginals of many chains            training of CRFs               chain/chain_lanes.c: labels in vector lanes;
 *                                                                      forward_backward.c if precision is at risk
 *   hidden nodes, fixed labels,         clv_forest_run, other rules    elimination/forest.c
 *   temperatures                        of decoding, hidden learners
 *   messages that are kept from one     hidden learners with belief    bp/bp.c: exact on chains, too, after one
 *   run to the next                     propagation                    iteration
 */
#ifndef CLEAVE_INFER_H
#define CLEAVE_INFER_H

#include <stdbool.h>

#include "cleave/oracle.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Exact inference in chains, such as the letters of a word: MAP labelling, marginals. clv_oracle_clamp (oracle.h) fixes
 * the label of one node.
 *
 *     const double unary[3][2] = {{1, 0}, {0, 0}, {0, 3}}, table[2][2] = {{1, 0}, {0, 1}}; // equal labels win 1
 *     const struct clv_chain chain = {.n_nodes = 3, .n_labels = 2, .is_shared = 1, .unary = &unary[0][0],
 *                                     .table = &table[0][0]};
 *     int32_t y[3]; // 1 1 1
 *     double marginals[3][2], log_partition;
 *     if (clv_chain_map(y, NULL, &chain, &error) ||
 *         clv_chain_marginals(&marginals[0][0], NULL, &log_partition, &chain, &error))
 *         fprintf(stderr, "%s\n", error.message);
 */

#define CLV_CHAIN_MAX_LABELS 256

/* A chain of nodes: unary[n_nodes][n_labels], and for each link between nodes i and i + 1 table[n_labels][n_labels],
 * the label of node i first; one table for all links if is_shared. The score of a labelling is their sum. For
 * loss-augmented inference add each label's loss to its unary score; for a temperature divide all scores by it. All
 * functions take O(n_nodes n_labels^2). */
struct clv_chain {
    int32_t n_nodes, n_labels; /* up to CLV_CHAIN_MAX_LABELS labels */
    bool is_shared;
    const double *unary, *table;
};

/* Viterbi: y[n_nodes] = argmax, *score (or NULL) its score. Ties: the lowest label at the last node, then at the one
 * before, and so on. Errors of all functions for chains: values that are not finite or whose sum overflows
 * (CLV_ERR_DATA, naming node or link). */
CLV_API enum clv_status clv_chain_map(int32_t *y, double *score, const struct clv_chain *chain,
                                      struct clv_error *err) CLV_CHECK;

/* Forward-backward in the log domain: marginals[n_nodes][n_labels], pair_marginals[n_nodes - 1][n_labels][n_labels]
 * and log sum exp score; each may be NULL. */
CLV_API enum clv_status clv_chain_marginals(double *marginals, double *pair_marginals, double *log_partition,
                                            const struct clv_chain *chain, struct clv_error *err) CLV_CHECK;

/* max_marginals[n_nodes][n_labels] = the score of the best labelling with that label at that node; this labelling is
 * the witness. witness_counts[n_nodes][n_labels] = how many of all n_nodes n_labels witnesses have that label at that
 * node (whole numbers; those of a node add up to n_nodes n_labels). Ties: the lowest label in each step of the
 * traceback. Each may be NULL. The counts are the witness statistics of a chapter on structured prediction (2014). */
CLV_API enum clv_status clv_chain_max_marginals(double *max_marginals, double *witness_counts,
                                                const struct clv_chain *chain, struct clv_error *err) CLV_CHECK;

/* Exact inference in forests, where nodes may be hidden: MAP, marginal MAP, marginals.
 *
 *     struct clv_forest *forest;
 *     const uint8_t is_visible[2] = {1, 0}; // for the field in oracle.h: node 1 is summed out
 *     const struct clv_forest_options marginal_map = {.is_visible = is_visible, .hidden_temperature = 1};
 *     double value;
 *     int32_t y[2];
 *     if (clv_forest_new(&forest, &error) ||
 *         clv_forest_run(forest, &value, NULL, NULL, y, &field, &marginal_map, &error))
 *         fprintf(stderr, "%s\n", error.message);
 *     clv_forest_free(forest);
 */

#define CLV_FOREST_MAX_LABELS 256

/* Exact inference in forests, for any labels and tables, by elimination. Visible nodes y and hidden nodes h each have a
 * temperature:
 *
 *     value = T_y log sum_y exp( (T_h log sum_h exp(f(y, h) / T_h)) / T_y ),      T log sum exp(. / T) -> max as T -> 0
 *
 * (Ping, Liu & Ihler 2014, equation 5): at T_y = 0, T_h = 1 marginal MAP, at 0, 0 MAP, at 1, 1 the log-partition. */
struct clv_forest_options {
    const uint8_t *is_visible;                      /* [n_nodes] 1 or 0; NULL: all 1 */
    double visible_temperature, hidden_temperature; /* T_y, T_h >= 0; 0 maximises */
    const int32_t *label;                           /* [n_nodes] fixed labels, or CLV_UNKNOWN; NULL: none */
};

/* Buffers that are kept from run to run. Not for use by two threads at once. */
struct clv_forest;
CLV_API enum clv_status clv_forest_new(struct clv_forest **forest, struct clv_error *err) CLV_CHECK;
CLV_API void clv_forest_free(struct clv_forest *forest);

/* Outputs, each of which may be NULL:
 *   *value
 *   marginals[n_nodes][n_labels]                 under p(h | y) p(y): derivatives of the value by the unary scores; 1 at
 *                                                the best label of a maximised node
 *   pair_marginals[n_edges][n_labels][n_labels]  the same for each edge, the label of edges[e][0] first, in every form
 *   y[n_nodes]                                   the most probable label of each node; at T_y = 0 the visible labels are
 *                                                the (marginal) MAP labelling, at ties one of the best
 * options NULL: log-partition and marginals, both temperatures 1. For loss-augmented inference call clv_field_add_loss
 * first; for a clamped optimum fix that label. If the temperatures differ, a connected set of hidden nodes may have at
 * most two visible neighbours, so that summing it out leaves a pairwise table. O(n_nodes n_labels^2), for a hidden node
 * between two visible ones O(n_labels^3). Errors: a loop of nodes without fixed labels, naming the edge, and a hidden
 * node with more visible neighbours, naming it (CLV_ERR_USAGE); values that are not finite or beyond 1e100, negative
 * Potts couplings; options out of range. */
CLV_API enum clv_status clv_forest_run(struct clv_forest *forest, double *value, double *marginals,
                                       double *pair_marginals, int32_t *y, const struct clv_field *field,
                                       const struct clv_forest_options *options, struct clv_error *err) CLV_CHECK;

/* Belief propagation, for any labels, graphs and tables: exact on trees, an approximation elsewhere; and TRW-S, which
 * also gives an upper bound on the score.
 *
 *     struct clv_bp *bp;
 *     struct clv_bp_result result;
 *     double beliefs[2 * 2]; // the marginals of the field in oracle.h; exact, since it is a tree
 *     if (clv_bp_new(&bp, &error) || clv_bp_run(bp, beliefs, NULL, &result, &field, NULL, &error))
 *         fprintf(stderr, "%s\n", error.message);
 *     else if (!result.is_converged)
 *         fprintf(stderr, "still changing by %g after %d iterations\n", result.change, result.n_iterations);
 *     clv_bp_free(bp);
 */

#define CLV_BP_MAX_LABELS 256

/* Loopy belief propagation, for any labels, graphs and pairwise tables: exact on trees, an approximation elsewhere.
 * Each node is either summed out or maximised over:
 *   CLV_BP_SUM    sums over all nodes: marginals, and the Bethe log-partition.
 *   CLV_BP_MAX    maximises over all nodes: max-marginals and a MAP labelling.
 *   CLV_BP_MIXED  sums over hidden nodes h and maximises over visible ones y: marginal MAP, argmax_y sum_h exp f(y, h),
 *                 by mixed-product belief propagation (Liu & Ihler, JMLR 2013). With a temperature T_y above 0 it sums
 *                 over y, too, after h, as in clv_forest_options. Exact on A-B trees: trees in which no connected set
 *                 of hidden nodes touches two visible ones (or, if T_y is the temperature of h, on all trees).
 * For loss-augmented inference call clv_field_add_loss first. */
enum clv_bp_mode { CLV_BP_SUM, CLV_BP_MAX, CLV_BP_MIXED };

enum clv_bp_schedule {
    CLV_BP_SEQUENTIAL, /* breadth-first order and back; a tree needs one iteration, and a second one to detect that */
    CLV_BP_RED_BLACK,  /* colour by colour of a greedy colouring: two colours on a grid */
};

struct clv_bp_options {
    enum clv_bp_mode mode;
    enum clv_bp_schedule schedule;
    const uint8_t *is_visible;  /* [n_nodes] 1 or 0; required with CLV_BP_MIXED, else ignored */
    double temperature;         /* T > 0: summed nodes are weighted by exp(f / T) */
    double visible_temperature; /* T_y >= 0 of visible nodes, with CLV_BP_MIXED; 0 maximises */
    const int32_t *label;       /* [n_nodes] fixed labels, or CLV_UNKNOWN; NULL: none */
    double damping;             /* in [0, 1): the share of the old message's logarithm in the new one */
    double tolerance;           /* >= 0: converged when no message's logarithm changes by more, damping aside */
    int32_t max_iterations;     /* >= 1; an iteration sends every message once */
    bool is_warm; /* start from the previous run's messages if its graph, number of labels and form were the same */
    /* [n_nodes] a labelling to start near, CLV_UNKNOWN: any; NULL: none. Its labels score 3 T more in at most ten
     * preliminary iterations, so that belief propagation reaches a fixed point near it. */
    const int32_t *near;
};

/* `value` is with CLV_BP_SUM the Bethe estimate of T log sum_y exp(f(y) / T), exact on trees; with CLV_BP_MAX f(y);
 * with CLV_BP_MIXED the Bethe estimate of clv_forest_run's value, exact on the trees named above. */
struct clv_bp_result {
    bool is_converged;
    int32_t n_iterations;
    double change; /* largest change of a message's logarithm in the last iteration */
    double value;
};

/* CLV_BP_SUM, sequential, T = 1, T_y = 0, no fixed labels, no damping, tolerance 1e-9, at most 200 iterations, cold. */
CLV_API void clv_bp_defaults(struct clv_bp_options *options);

/* Messages and buffers that are kept from run to run, for any sequence of fields. Not for use by two threads at once.
 * Memory: O(edges x labels), with full tables O(edges x labels^2). */
struct clv_bp;
CLV_API enum clv_status clv_bp_new(struct clv_bp **bp, struct clv_error *err) CLV_CHECK;
CLV_API void clv_bp_free(struct clv_bp *bp);

/* Runs until convergence or max_iterations, which is not an error: see *result. options NULL: the defaults. Outputs,
 * each of which may be NULL:
 *   beliefs[n_nodes][n_labels]  a summed node's marginals; for a maximised node its max-marginals minus the largest of
 *                               them (-inf at the labels that a fixed one excludes)
 *   y[n_nodes]                  the decoded labelling: maximised nodes one after the other, each conditional on those
 *                               before it (on trees optimal at ties, too); a summed node's most probable label, the
 *                               lowest at ties
 *   result                      NULL: its value is not computed
 * O(edges x labels) per iteration with Potts couplings, O(edges x labels^2) with full tables. Scores may be as large as
 * 1e100 T (and T_y), since sums use the log domain if they could underflow. Errors: values that are not finite, or
 * larger, and negative couplings, naming node or edge (CLV_ERR_DATA); options out of range, naming the value
 * (CLV_ERR_USAGE). */
CLV_API enum clv_status clv_bp_run(struct clv_bp *bp, double *beliefs, int32_t *y, struct clv_bp_result *result,
                                   const struct clv_field *field, const struct clv_bp_options *options,
                                   struct clv_error *err) CLV_CHECK;

/* pair_beliefs[n_edges][n_labels][n_labels] = the marginals of edges after the last successful run, the label of
 * edges[e][0] first; if both ends are maximised, 1 at the decoded labels. After convergence their sums are the
 * marginals of the nodes. Writes nothing for fields of form CLV_PAIRWISE_NONE. */
CLV_API void clv_bp_pair_beliefs(double *pair_beliefs, struct clv_bp *bp);

/* MAP inference with a bound by sequential tree-reweighted message passing (TRW-S, Kolmogorov 2006), for any labels,
 * graphs and tables. The upper bound on max f is that of a linear programming relaxation. It never rises from iteration
 * to iteration, except by rounding. In the limit it reaches the maximum on trees and for two labels with supermodular
 * tables; on other fields a gap may remain. */
struct clv_trws_result {
    double score, bound; /* f of the labelling found; score <= max f <= bound */
    int32_t n_iterations;
    bool is_converged; /* the last iteration lowered the bound by at most the tolerance, or it equals the score */
};

/* y[n_nodes] (or NULL) = the best labelling found. Uses only the options label, tolerance, max_iterations and is_warm
 * (NULL: the defaults). is_warm may only follow a run of the same function: the bound is valid from any start, and with
 * similar scores few iterations are needed. clv_bp_run must start cold after it. An iteration passes all nodes forwards
 * and backwards: O(edges x labels) with Potts couplings, O(edges x labels^2) with full tables. Errors: as
 * clv_bp_run. */
CLV_API enum clv_status clv_bp_trws(struct clv_bp *bp, int32_t *y, struct clv_trws_result *result,
                                    const struct clv_field *field, const struct clv_bp_options *options,
                                    struct clv_error *err) CLV_CHECK;

/* Perturb-and-MAP (Papandreou & Yuille 2011; Hazan & Jaakkola 2012): the MAP labellings of randomly perturbed scores
 * are samples, and relative frequencies among them estimate marginals.
 *
 *     double marginals[2 * 2]; // for each node of the field in oracle.h, the shares of its two labels
 *     if (clv_perturbed_marginals(oracle, marginals, NULL, NULL, &field, 1, 100, &error))
 *         fprintf(stderr, "%s\n", error.message);
 */

/* Computes samples first_sample .. first_sample + n_samples - 1 of a field: y[n_samples][n_nodes] = the MAP labellings
 * of the perturbed scores, value[n_samples] (or NULL) = max_y f(y) + sum_i gumbel_i(y_i). CLV_ENGINE_CLEAVE solves
 * two-label cuts of up to 16383 nodes in groups of 16, in vector lanes; scores are then rounded to 29 bits for the sum
 * of a node's unary and couplings. If couplings are too large for that precision, cuts are solved one at a time, as by
 * clv_oracle_map. The same samples on every machine. Afterwards the oracle has no solution for witnesses or margins. */
CLV_API enum clv_status clv_perturbed_map(struct clv_oracle *oracle, int32_t *y, double *value,
                                          const struct clv_field *field, uint64_t seed, uint32_t first_sample,
                                          uint32_t n_samples, struct clv_error *err) CLV_CHECK;

/* From samples 0 .. n_samples - 1, n_samples >= 1: marginals[n_nodes][n_labels] (or NULL) = the share of samples with
 * that label; *bound (or NULL) = the mean value, whose expectation is an upper bound of log sum_y exp f(y), with
 * equality for fields without edges; *standard_error (or NULL) = the standard error of that mean (NaN for one
 * sample). */
CLV_API enum clv_status clv_perturbed_marginals(struct clv_oracle *oracle, double *marginals, double *bound,
                                                double *standard_error, const struct clv_field *field, uint64_t seed,
                                                uint32_t n_samples, struct clv_error *err) CLV_CHECK;

/* The method by which marginals were computed. */
enum clv_marginals {
    CLV_MARGINALS_EXACT,      /* by sum-product: the graph has no loops */
    CLV_MARGINALS_SAMPLED,    /* shares of perturb-and-MAP samples, at least in components with loops */
    CLV_MARGINALS_PROPAGATED, /* by loopy belief propagation, at least in components with loops */
};
/* Returns "sum-product", "samples" or "belief propagation". */
CLV_API const char *clv_marginals_name(enum clv_marginals kind);

/* marginals[n_nodes][n_labels] = the marginals of p(y) proportional to exp f(y): exact in every component without loops
 * (a chain, a tree or a single node), for any labels, form and tables; in other components those of
 * clv_perturbed_marginals, with its errors. *log_partition = the sum of the components' log-partitions, or upper bounds
 * in components with loops; *standard_error = the standard error of the bound, 0 without loops. Each of the three may
 * be NULL. Also CLV_ERR_DATA for scores beyond 1e100 in trees that are not chains of full tables. O(n_nodes n_labels^2)
 * in trees, with Potts couplings O(n_nodes n_labels). */
CLV_API enum clv_status clv_oracle_marginals(struct clv_oracle *oracle, double *marginals, double *log_partition,
                                             double *standard_error, const struct clv_field *field, uint64_t seed,
                                             uint32_t n_samples, struct clv_error *err) CLV_CHECK;

/* Minimum cuts on the pixels of an image, whose graph is never built: to refine a mask at its border, for instance.
 *
 *     float unary[3][4] = ..., right[3][4] = ..., below[3][4] = ...;
 *     uint8_t labels[3][4];
 *     struct clv_grid grid = {.width = 4, .height = 3, .n_neighbours = 4, .unary = &unary[0][0],
 *                             .coupling = {&right[0][0], &below[0][0]}};
 *     if (clv_grid_map(&labels[0][0], &grid, &error))
 *         fprintf(stderr, "%s\n", error.message);
 */

/* A two-label field on pixels: unary[height][width] is the score of label 1 minus that of label 0;
 * coupling[k][height][width] >= 0 is subtracted if a pixel's label differs from its neighbour's to the right (k = 0),
 * below (1) and, with 8 neighbours, below right (2) and below left (3). Couplings across the border of the image are
 * ignored. */
struct clv_grid {
    int32_t width, height; /* at most 2^26 pixels */
    int32_t n_neighbours;  /* 4 or 8 */
    const float *unary;
    const float *coupling[4];
};

/* labels[height][width] = argmax, exact for scores rounded to multiples of 2^-k, with k as large as 26 bits allow for
 * the largest unary plus eight times the largest coupling. Unaries above 8,192 such couplings, which decide their
 * pixels alone, do not count as the largest. If that left a quarter of the non-zero unaries with less than 14 bits, or
 * one in 32 with less than 10, all unaries that decide their pixels are clipped. If that is not enough, for example
 * beside couplings of 1e10, which must not be cut, nothing is rounded: about ten times slower, at most 250 bytes per
 * pixel with 4 neighbours, 400 with 8. Ties are canonical: the fewest 1s. Working memory: at most 54 bytes per pixel
 * with 4 neighbours, 71 with 8. Errors: values that are not finite and negative couplings, naming the pixel. */
CLV_API enum clv_status clv_grid_map(uint8_t *labels, const struct clv_grid *grid, struct clv_error *err) CLV_CHECK;

#ifdef __cplusplus
}
#endif
#endif
