/* Inference in random fields: the best labelling, its clamped variants, marginals, samples. A field (problem.h) is a
 * graph with unary scores and couplings or tables; learners and commands see no more of a problem than that.
 *
 * Read first: problem.h (the field), oracle.h (the best labelling, with a complete example). Then what the task takes:
 *
 *   clv_oracle_*   MAP: minimum cuts, chains, expansion, swap; witnesses (clamped optima); decoding by other rules
 *   clv_grid_*     minimum cuts on the pixels of an image
 *   clv_oracle_marginals  marginals: exact without loops, else from samples
 *   clv_perturb_*  samples and marginals from the MAP of perturbed scores
 *   clv_chain_*    chains: Viterbi, forward-backward
 *   clv_forest_*   forests with hidden nodes, by elimination
 *   clv_bp_*       belief propagation and TRW-S, for everything else
 *
 * Several engines can solve a chain or a tree. Which is used when (files in src/infer/):
 *
 *   what is asked                       by whom                        engine
 *   MAP of a chain of full tables       clv_oracle_map                 chain/viterbi.c: Viterbi with buffers kept
 *                                                                      and cheap clamps of the chain solved last
 *   .. of two labels, where tables      clv_oracle_map                 cut/: as any graph, witnesses by clamping;
 *   differ and are supermodular                                        cut/exact_cut.c beside hard couplings
 *   MAP of any other forest that is     clv_oracle_map                 elimination/forest_map.c: max-product, with
 *   no cut, clamped optima of it                                       clamps as of chains
 *   MAP and marginals of arrays of      clv_chain_*, marginals as a    chain/viterbi.c, chain/forward_backward.c
 *   the caller's                        rule of decoding
 *   marginals of models, of chains and  clv_model_marginals,           chain/forward_backward.c, else
 *   trees                               clv_oracle_marginals           elimination/forest.c, bp/bp.c of couplings
 *   marginals of many chains            training of CRFs               chain/chain_lanes.c: labels in vector lanes;
 *                                                                      forward_backward.c where precision could go
 *   hidden nodes, labels that are       clv_forest_run, other rules    elimination/forest.c
 *   given, temperatures                 of decoding, hidden learners
 *   messages that are kept from one     hidden learners that chose     bp/bp.c: exact on chains, too, after one
 *   run to the next                     belief propagation             iteration
 */
#ifndef CLEAVE_INFER_H
#define CLEAVE_INFER_H

#include <stdbool.h>

#include "cleave/oracle.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Exact inference in chains, such as the letters of a word: the best labelling, marginals. clv_oracle_clamp
 * (oracle.h) forces one node to a label.
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

/* A chain of nodes: unary[n_nodes][n_labels], and for each link between nodes i and i + 1 table[n_labels][n_labels], a
 * label of node i first; one table for all links if is_shared. Scores are added up. For loss-augmented inference add
 * each label's loss to its unary score; for a temperature divide all scores by it. Everything is O(n_nodes
 * n_labels^2). */
struct clv_chain {
    int32_t n_nodes, n_labels; /* up to CLV_CHAIN_MAX_LABELS labels */
    bool is_shared;
    const double *unary, *table;
};

/* Viterbi: y[n_nodes] = argmax, *score (or NULL) its score. Of labellings with the same score, the one that is least in
 * the last node, then in the one before, and so on. Refused here and below: values that are not finite or overflow when
 * added up, naming node or link. */
CLV_API enum clv_status clv_chain_map(int32_t *y, double *score, const struct clv_chain *chain,
                                      struct clv_error *err) CLV_CHECK;

/* Forward-backward in the log domain: marginals[n_nodes][n_labels], pair_marginals[n_nodes - 1][n_labels][n_labels]
 * and log sum exp score; each may be NULL. */
CLV_API enum clv_status clv_chain_marginals(double *marginals, double *pair_marginals, double *log_partition,
                                            const struct clv_chain *chain, struct clv_error *err) CLV_CHECK;

/* max_marginals[n_nodes][n_labels], the score of the best labelling with that label at that node, its witness; and
 * witness_counts[n_nodes][n_labels], whole numbers: how many of all these witnesses have that label there (a node's add
 * up to n_nodes n_labels; at ties the lowest label on the way). Each may be NULL. The chapter on structured prediction
 * calls the counts witness statistics. */
CLV_API enum clv_status clv_chain_max_marginals(double *max_marginals, double *witness_counts,
                                                const struct clv_chain *chain, struct clv_error *err) CLV_CHECK;

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
 * would be not a table. O(n_nodes n_labels^2), for hidden nodes between two visible ones O(n_labels^3) each.
 * Refused: a loop of nodes without given labels, naming the edge; a hidden node that joins more, naming it
 * (CLV_ERR_USAGE); values that are not finite or beyond 1e100, negative Potts couplings; options out of range. */
CLV_API enum clv_status clv_forest_run(struct clv_forest *forest, double *value, double *marginals,
                                       double *pair_marginals, int32_t *y, const struct clv_field *field,
                                       const struct clv_forest_options *options, struct clv_error *err) CLV_CHECK;

/* Belief propagation, for any labels, graphs and tables: exact on trees, an approximation elsewhere; and TRW-S, which
 * says by a bound how good its labelling is.
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

/* Runs until converged or out of iterations, which is not an error: see *result. options NULL: the defaults. Outputs, each
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

/* Perturb-and-MAP (Papandreou & Yuille 2011; Hazan & Jaakkola 2012): the MAP labellings of randomly perturbed scores
 * are samples, and their shares estimate marginals.
 *
 *     double marginals[2 * 2]; // of the field in oracle.h: of each node the shares of its two labels
 *     if (clv_perturbed_marginals(oracle, marginals, NULL, NULL, &field, 1, 100, &error))
 *         fprintf(stderr, "%s\n", error.message);
 */

/* The samples first_sample .. first_sample + n_samples - 1 of a field: y[n_samples][n_nodes] are their MAP
 * labellings, value[n_samples] (or NULL) max_y f(y) + sum_i gumbel_i(y_i). Two-label cuts of up to 16383 nodes are
 * solved sixteen at a time in vector lanes by our engine, on a grid as fine as 29 bits allow for a node's unary and
 * couplings together; one at a time, as clv_oracle_map does, where couplings are so large that this would lose what
 * decides. The same on every machine. Afterwards the oracle has no solution to ask for witnesses or margins. */
CLV_API enum clv_status clv_perturbed_map(struct clv_oracle *oracle, int32_t *y, double *value,
                                          const struct clv_field *field, uint64_t seed, uint32_t first_sample,
                                          uint32_t n_samples, struct clv_error *err) CLV_CHECK;

/* From samples 0 .. n_samples - 1, n_samples >= 1: marginals[n_nodes][n_labels] (or NULL) is how often a label was
 * drawn, divided by n_samples; *bound (or NULL) is the mean value, whose expectation A_G is an upper bound of log
 * sum_y exp f(y), with equality for fields without edges; *standard_error (or NULL) is that mean's (NaN for one
 * sample). */
CLV_API enum clv_status clv_perturbed_marginals(struct clv_oracle *oracle, double *marginals, double *bound,
                                                double *standard_error, const struct clv_field *field, uint64_t seed,
                                                uint32_t n_samples, struct clv_error *err) CLV_CHECK;

/* How marginals were found. */
enum clv_marginals {
    CLV_MARGINALS_EXACT,      /* by sum-product: the graph has no loops */
    CLV_MARGINALS_SAMPLED,    /* shares of perturb-and-MAP samples, at least in components with loops */
    CLV_MARGINALS_PROPAGATED, /* by loopy belief propagation, at least in components with loops */
};
/* "sum-product", "samples" or "belief propagation" */
CLV_API const char *clv_marginals_name(enum clv_marginals kind);

/* Marginals of p(y) proportional to exp f(y), marginals[n_nodes][n_labels]: exact in every component of the graph that
 * has no loops, a chain, a tree or a single node, for any labels, form and tables; in the others those of
 * clv_perturbed_marginals, with its errors. *log_partition adds up the components' log-partitions, of those with loops
 * the upper bound; *standard_error is that of the bound, 0 without loops. Each of the three may be NULL.
 * CLV_ERR_DATA, besides, for scores beyond 1e100 in trees that are not chain of full tables. O(n_nodes n_labels^2) in
 * trees, with Potts couplings O(n_nodes n_labels). */
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
 * coupling[k][height][width] >= 0 is lost where a pixel's label differs from its neighbour's to the right (k = 0),
 * below (1) and, with 8 neighbours, below right (2) and below left (3). Couplings across the border are not looked
 * at. */
struct clv_grid {
    int32_t width, height; /* at most 2^26 pixels */
    int32_t n_neighbours;  /* 4 or 8 */
    const float *unary;
    const float *coupling[4];
};

/* labels[height][width] = argmax, exact, on a grid 2^-k with k as large as 26 bits allow for the largest unary plus
 * eight times the largest coupling; unaries above 8,192 such couplings, whose pixels are decided, take no digits from
 * the others. Where that would leave a quarter of the unaries (but for zeros) with less than 14 bits, or one in 32 with
 * less than 10, all unaries that decide their pixels are clipped, and if it is not enough, as beside couplings that
 * must not be cut, of 1e10 say, nothing is rounded: some ten times slower, at most 250 bytes a pixel with 4 neighbours,
 * 400 with 8. Ties are canonical, the fewest 1s. Working memory: at most 54 bytes a pixel with 4 neighbours, 71 with 8.
 * Refused: values that are not finite and negative couplings, naming the pixel. */
CLV_API enum clv_status clv_grid_map(uint8_t *labels, const struct clv_grid *grid, struct clv_error *err) CLV_CHECK;

#ifdef __cplusplus
}
#endif
#endif
