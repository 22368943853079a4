/* Exact and approximate inference in fields: the oracles of every learner. */
#ifndef CLEAVE_INFER_H
#define CLEAVE_INFER_H

#include "cleave/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

enum clv_engine {
    CLV_ENGINE_DEFAULT, /* CLV_ENGINE_CLEAVE */
    CLV_ENGINE_BK,      /* libmaxflow, Boykov & Kolmogorov 2004; CLV_ERR_USAGE in builds WITH_BK=0 */
    CLV_ENGINE_CLEAVE,  /* ours */
};
CLV_API const char *clv_engine_name(enum clv_engine engine);

/* MAP inference with memory of its own, for fields of any size and topology. Buffers grow and are kept, and so is the graph: a
 * field with the edges of the field before costs no building. Not for use by two threads at once. Engines differ in speed
 * only: they solve the same whole-number problem and return the same labels. */
struct clv_oracle;
CLV_API enum clv_status clv_oracle_new(struct clv_oracle **oracle, enum clv_engine engine,
                                       struct clv_error *err) CLV_CHECK;
CLV_API void clv_oracle_free(struct clv_oracle *oracle);

/* y = argmax f, *score = f(y) (score may be NULL).
 *   form NONE: the best label of each node, the lowest at ties.
 *   form POTTS, two labels, couplings >= 0: min-cut, exact. Ties are canonical: the labelling with the fewest 1s. Scores are
 *     rounded to a fixed-point grid of 2^-k, k as large as 30 bits allow for the largest unary or coupling of the field, at
 *     most 1000; *score is f(y) of the labelling found, unrounded.
 *   form FULL, two labels, supermodular tables (P00 + P11 >= P01 + P10): the same, after moving what the tables say about
 *     single nodes into the unaries.
 *   form FULL, a chain (edge e joins nodes e and e + 1, and there are no others) of more than two labels, or of two with a
 *     shared table: Viterbi, any tables, in double precision. Ties are lowest in the last node, then in the one before, and so
 *     on. O(n_nodes n_labels^2).
 * Refused: NaN or infinite values, values so large that scores overflow (their sizes add up to 4e307 or more), negative
 * couplings, tables that are not supermodular, naming node or edge; forms without an exact oracle here. */
CLV_API enum clv_status clv_oracle_map(struct clv_oracle *oracle, int32_t *y, double *score,
                                       const struct clv_field *field, struct clv_error *err) CLV_CHECK;

/* Alpha-expansion for more than two labels: from each node's best label, moves that let any set of nodes take one label, each the
 * best such move, until no label's move helps. With Potts couplings the score's loss against the maximum is at most what the
 * pairwise terms lose there. Exact, as clv_oracle_map, for two labels or no edges. Full tables must allow every move to be
 * a cut: P[a][b] + P[c][c] >= P[a][c] + P[c][b] for the labels met; otherwise CLV_ERR_DATA, naming the edge. */
CLV_API enum clv_status clv_oracle_expand(struct clv_oracle *oracle, int32_t *y, double *score,
                                          const struct clv_field *field, struct clv_error *err) CLV_CHECK;

/* Alpha-beta swap for more than two labels: from each node's best label, moves that let the nodes of two labels take either, each the
 * best such move, until no pair's move helps. Unlike expansion it needs no triangle inequality: every edge's table must have
 * P[a][a] + P[b][b] >= P[a][b] + P[b][a] for all labels a and b (a semi-metric, such as truncated squares), otherwise
 * CLV_ERR_DATA, naming the edge. Exact, as clv_oracle_map, for two labels or no edges. */
CLV_API enum clv_status clv_oracle_swap(struct clv_oracle *oracle, int32_t *y, double *score,
                                        const struct clv_field *field, struct clv_error *err) CLV_CHECK;

/* All clamped optima of the two-label field that clv_oracle_map solved last: for every listed node (nodes NULL: all of them) the
 * best labelling in which that node has the other label. `visit` is called once a distinct node, in any order, with what the
 * clamp costs, max f - max f[y_i forced] >= 0, on the rounded scores, and with the nodes whose labels differ from the MAP
 * labelling, the clamped one first: the witness. Ties are canonical as in clv_oracle_map. The field itself is not looked at
 * again. With our engine a clamp costs about as much as its flipped set is large.
 * Errors: CLV_ERR_USAGE before a solution or for a node out of range; CLV_ERR_MEMORY, after some visits perhaps. */
typedef void clv_witness_visit(void *context, int32_t node, double cost, const int32_t *flipped, int32_t n_flipped);
CLV_API enum clv_status clv_oracle_witnesses(struct clv_oracle *oracle, const int32_t *nodes, int32_t n,
                                             clv_witness_visit *visit, void *context, struct clv_error *err) CLV_CHECK;

/* The clamped optimum of the chain that clv_oracle_map solved last, which `field` must still be: y[n_nodes] = the best labelling in
 * which `node` has `label`, *score (or NULL) its score. A first call for a field costs what solving it did, further ones
 * O(n_nodes n_labels). CLV_ERR_USAGE if the last field was no chain, or for a node or label out of range. */
CLV_API enum clv_status clv_oracle_clamp(struct clv_oracle *oracle, int32_t *y, double *score,
                                         const struct clv_field *field, int32_t node, int32_t label,
                                         struct clv_error *err) CLV_CHECK;

/* margin[n_nodes] = max f[y_i = 1] - max f[y_i = 0] of that field, on the rounded scores; y is its MAP labelling. */
CLV_API enum clv_status clv_oracle_margins(struct clv_oracle *oracle, double *margin, const int32_t *y,
                                           struct clv_error *err) CLV_CHECK;

/* Perturb-and-MAP (Papandreou & Yuille 2011; Hazan & Jaakkola 2012). noise += zero-mean Gumbel variables of draw `draw`, keyed
 * by (seed, draw, node, label), so that they depend on nothing else: noise[n_nodes], label 1's minus label 0's, for two
 * labels, otherwise noise[n_nodes][n_labels]. Add them to a field's unary and solve. */
CLV_API void clv_gumbel_add(double *noise, int32_t n_nodes, int32_t n_labels, uint64_t seed, uint32_t draw);

/* The draws first_draw .. first_draw + n_draws - 1 of a field: y[n_draws][n_nodes] are their MAP labellings, value[n_draws] (or
 * NULL) max_y f(y) + sum_i gumbel_i(y_i). Two-label cuts of up to 16383 nodes are solved sixteen at a time in vector lanes by our
 * engine, on a grid as fine as 29 bits allow for a node's unary and couplings together. The same on every machine. */
CLV_API enum clv_status clv_perturbed_map(struct clv_oracle *oracle, int32_t *y, double *value,
                                          const struct clv_field *field, uint64_t seed, uint32_t first_draw,
                                          uint32_t n_draws, struct clv_error *err) CLV_CHECK;

/* From draws 0 .. n_draws-1, n_draws >= 1: marginals[n_nodes][n_labels] (or NULL) is how often each label was drawn, divided by
 * n_draws; *bound (or NULL) is the mean value, whose expectation A_G is an upper bound of log sum_y exp f(y), with equality for
 * fields without edges; *standard_error (or NULL) is that mean's (NaN for one draw). */
CLV_API enum clv_status clv_perturbed_marginals(struct clv_oracle *oracle, double *marginals, double *bound,
                                                double *standard_error, const struct clv_field *field, uint64_t seed,
                                                uint32_t n_draws, struct clv_error *err) CLV_CHECK;

/* A two-label field on pixels: unary[height][width] is the score of label 1 minus that of label 0; coupling[k][height][width] >= 0
 * is lost where a pixel's label differs from its neighbour's to the right (k = 0), below (1) and, with 8 neighbours, below
 * right (2) and below left (3). Couplings across the border are not looked at. */
struct clv_grid {
    int32_t width, height; /* at most 2^26 pixels */
    int32_t n_neighbours;  /* 4 or 8 */
    const float *unary;
    const float *coupling[4];
};

/* labels[height][width] = argmax, exact, on a grid 2^-k with k as large as 26 bits allow for the largest unary plus eight times the
 * largest coupling; ties are canonical, the fewest 1s. Working memory: at most 53 bytes a pixel with 4 neighbours, 70 with 8.
 * Refused: values that are not finite and negative couplings, naming the pixel. */
CLV_API enum clv_status clv_grid_map(uint8_t *labels, const struct clv_grid *grid, struct clv_error *err) CLV_CHECK;

#define CLV_CHAIN_MAX_LABELS 256

/* A chain of nodes: unary[n_nodes][n_labels], and for each link between nodes i and i + 1 table[n_labels][n_labels], a label of
 * node i first; one table for all links if is_shared. Scores are added up. For loss-augmented inference add each label's loss to
 * its unary score; for a temperature divide all scores by it. Everything is O(n_nodes n_labels^2). */
struct clv_chain {
    int32_t n_nodes, n_labels; /* up to CLV_CHAIN_MAX_LABELS labels */
    int is_shared;
    const double *unary, *table;
};

/* Viterbi: y[n_nodes] = argmax, *score (or NULL) its score. Of labellings that score alike, the one that is least in the last node,
 * then in the one before, and so on. Refused here and below: values that are not finite or overflow when added up, naming node or link. */
CLV_API enum clv_status clv_chain_map(int32_t *y, double *score, const struct clv_chain *chain,
                                      struct clv_error *err) CLV_CHECK;

/* max_marginals[n_nodes][n_labels]: the best score with that label at that node. */
CLV_API enum clv_status clv_chain_max_marginals(double *max_marginals, const struct clv_chain *chain,
                                                struct clv_error *err) CLV_CHECK;

/* The same with witnesses, the labellings that reach it: when node i has label a, the best one has before[i][a] at node i - 1 and
 * after[i][a] at node i + 1, each [n_nodes][n_labels] (or NULL), the lowest label at ties; -1 where there is no such node.
 * clv_chain_follow writes one of them out, y[n_nodes], in O(n_nodes). */
CLV_API enum clv_status clv_chain_witnesses(double *max_marginals, int32_t *before, int32_t *after,
                                            const struct clv_chain *chain, struct clv_error *err) CLV_CHECK;
CLV_API void clv_chain_follow(int32_t *y, const int32_t *before, const int32_t *after, int32_t n_nodes,
                              int32_t n_labels, int32_t node, int32_t label);

/* Forward-backward in the log domain: marginals[n_nodes][n_labels], pair_marginals[n_nodes - 1][n_labels][n_labels] and log sum exp
 * score; each may be NULL. */
CLV_API enum clv_status clv_chain_marginals(double *marginals, double *pair_marginals, double *log_partition,
                                            const struct clv_chain *chain, struct clv_error *err) CLV_CHECK;

#define CLV_FOREST_MAX_LABELS 256

/* Exact inference in forests, any labels and tables, by elimination. Visible nodes y and hidden nodes h have a temperature each, and
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
CLV_API enum clv_status clv_forest_fits(struct clv_forest *forest, int *fits, const struct clv_field *field,
                                        const struct clv_forest_options *options, struct clv_error *err) CLV_CHECK;

/* Outputs, each of which may be NULL:
 *   *value
 *   marginals[n_nodes][n_labels]                 under p(h | y) p(y), which are the value's derivatives by the unary scores; 1 at the
 *                                                best label of a node that is maximised over
 *   pair_marginals[n_edges][n_labels][n_labels]  the same of each edge, the label of edges[e][0] first, whatever the field's form
 *   y[n_nodes]                                   the most probable label of each node; at T_y = 0 the visible ones are the (marginal)
 *                                                MAP labelling, at ties one of the best
 * options NULL: log-partition and marginals, temperatures 1. For loss-augmented inference, clv_field_add_loss first; for the
 * witness of a max-marginal, the best labelling through one label of one node, give that label. With temperatures that differ,
 * hidden nodes that hang together may join two visible ones at most, or what is left of them would be no table.
 * O(n_nodes n_labels^2), for hidden nodes between two visible ones O(n_labels^3) each.
 * Refused: a loop of nodes without given labels, naming the edge; a hidden node that joins more, naming it (CLV_ERR_USAGE); values that are not finite or beyond
 * 1e100, negative Potts couplings; options out of range. */
CLV_API enum clv_status clv_forest_run(struct clv_forest *forest, double *value, double *marginals,
                                       double *pair_marginals, int32_t *y, const struct clv_field *field,
                                       const struct clv_forest_options *options, struct clv_error *err) CLV_CHECK;

#define CLV_BP_MAX_LABELS 256

/* Loopy belief propagation, for any labels, graphs and pairwise tables: exact on trees, an approximation elsewhere. Each node is
 * summed out, or maximised over:
 *   CLV_BP_SUM    all are summed: marginals, and the Bethe log-partition.
 *   CLV_BP_MAX    all are maximised: max-marginals and a MAP labelling.
 *   CLV_BP_MIXED  hidden nodes h are summed and visible ones y maximised: marginal MAP, argmax_y sum_h exp f(y, h), by mixed-product
 *                 belief propagation (Liu & Ihler, JMLR 2013); or, with a temperature T_y above 0, summed as well but after h, as
 *                 in clv_forest_options. Exact on A-B trees: trees where no connected set of hidden nodes touches two visible ones
 *                 (or, if T_y is the temperature of h, on all trees).
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
    int is_warm; /* start from the messages of the run before, if its graph, labels and form were the same */
    /* [n_nodes] a labelling to start near, CLV_UNKNOWN: any; NULL: none. Its labels score 3 T more for at most ten iterations, before
     * those that count: of several fixed points one near it is found. */
    const int32_t *near;
};

/* `value` is, of CLV_BP_SUM, the Bethe estimate of T log sum_y exp(f(y) / T), exact on trees; of CLV_BP_MAX f(y); of CLV_BP_MIXED the
 * Bethe estimate of clv_forest_run's value, exact where the run is. */
struct clv_bp_result {
    int is_converged;
    int32_t n_iterations;
    double change; /* largest change of a message's logarithm in the last iteration */
    double value;
};

/* CLV_BP_SUM, sequential, T = 1, T_y = 0, no labels given, no damping, tolerance 1e-9, at most 200 iterations, cold. */
CLV_API void clv_bp_defaults(struct clv_bp_options *options);

/* Messages and buffers, kept from run to run; the next field may be any other. Not for two threads at once. Memory: O(edges x
 * labels), with full tables O(edges x labels^2). */
struct clv_bp;
CLV_API enum clv_status clv_bp_new(struct clv_bp **bp, struct clv_error *err) CLV_CHECK;
CLV_API void clv_bp_free(struct clv_bp *bp);

/* Runs until converged or out of iterations, which is no error: see *result. options NULL: the defaults. Outputs, each of which may
 * be NULL:
 *   beliefs[n_nodes][n_labels]  a summed node's marginals; for a maximised node its max-marginals minus the largest of them (-inf
 *                               at the labels that a given one excludes)
 *   y[n_nodes]                  the decoded labelling: maximised nodes one after the other, each given those decided before it
 *                               (on trees right at ties, too); a summed node's most probable label, the lowest at ties
 *   result                      NULL saves the work of its value
 * O(edges x labels) an iteration with Potts couplings, O(edges x labels^2) with full tables. Sums leave the log domain
 * only while nothing gets too small: scores may be as large as 1e100 T (and T_y). Refused: values that are not finite, or larger, and negative couplings, naming node or edge
 * (CLV_ERR_DATA); options out of range, naming the value (CLV_ERR_USAGE). */
CLV_API enum clv_status clv_bp_run(struct clv_bp *bp, double *beliefs, int32_t *y, struct clv_bp_result *result,
                                   const struct clv_field *field, const struct clv_bp_options *options,
                                   struct clv_error *err) CLV_CHECK;

/* pair_beliefs[n_edges][n_labels][n_labels]: the edges' marginals of the last successful run, the label of edges[e][0] first; all at
 * the labels decoded where both ends are maximised. Their sums are the nodes' once the run has converged. Nothing for fields
 * of form CLV_PAIRWISE_NONE. */
CLV_API void clv_bp_pair_beliefs(double *pair_beliefs, struct clv_bp *bp);

/* MAP inference with a bound by sequential tree-reweighted message passing (TRW-S, Kolmogorov 2006), for any labels, graphs and
 * tables. The bound, of max f from above, is that of a linear programming relaxation; it never rises from iteration to iteration
 * but for rounding, and in the limit reaches the maximum on trees and for two labels with supermodular tables, other fields leave a gap. */
struct clv_trws_result {
    double score, bound; /* f of the labelling found; score <= max f <= bound */
    int32_t n_iterations;
    int is_converged; /* the last iteration lowered the bound by the tolerance at most, or it met the score */
};

/* y[n_nodes] (or NULL) is the best labelling met. Of the options the labels given, tolerance and max_iterations count, and is_warm after
 * a run of the same routine: bounds hold from any messages on, near scores are soon done. Other runs of `bp` must start cold then.
 * options NULL: the defaults. An iteration passes all nodes forth and back: O(edges x labels) with Potts couplings,
 * O(edges x labels^2) with full tables. Refused: as clv_bp_run. */
CLV_API enum clv_status clv_bp_trws(struct clv_bp *bp, int32_t *y, struct clv_trws_result *result,
                                    const struct clv_field *field, const struct clv_bp_options *options,
                                    struct clv_error *err) CLV_CHECK;

/* How labels follow from scores. */
enum clv_decoding_rule {
    CLV_DECODE_ORACLE,       /* clv_oracle_map, which refuses what it cannot solve exactly */
    CLV_DECODE_MAP,          /* argmax over visible and hidden nodes together */
    CLV_DECODE_MARGINAL_MAP, /* visible nodes y = argmax_y T_h log sum_h exp(f(y, h) / T_h) */
    CLV_DECODE_MARGINALS,    /* every node its most probable label under p(y, h) proportional to exp f */
    CLV_DECODE_MIN_ENTROPY, /* the visible labelling y of least Renyi entropy, of order 1 / T_h, of p(y, h) over h (Miller et al. 2012);
                                exact in chains of visible and hidden nodes in turn, refused where hidden nodes are joined */
};

/* All zeros is the oracle's MAP. The other rules are exact in forests (clv_forest_run) and on graphs so narrow that elimination takes no
 * more than a million cells (a grid of six by six nodes of four labels). Elsewhere, whatever the labels and the form, candidates are
 * compared by what they score: a MAP of TRW-S (mostly proved by its bound) and of max-product; labels of sum- and mixed-product from
 * nothing and from near that MAP, by their Bethe values. */
struct clv_decoding {
    enum clv_decoding_rule rule;
    double
        hidden_temperature; /* T_h > 0 of CLV_DECODE_MARGINAL_MAP, 0..1 of CLV_DECODE_MIN_ENTROPY; others do not look at it */
};
#define CLV_N_DECODING_RULES 5
CLV_API const char *
clv_decoding_rule_name(enum clv_decoding_rule rule); /* "oracle", "map", "marginal map", "marginals", "min entropy" */

/* y[n_nodes] by a rule; of hidden nodes the most probable label. is_visible[n_nodes] is 1 or 0; NULL: all nodes are visible. Uses
 * the oracle's memory; what it solved before may be forgotten. CLV_ERR_USAGE for another rule or temperature, and as the routines
 * named above. */
CLV_API enum clv_status clv_oracle_decode(struct clv_oracle *oracle, int32_t *y, const struct clv_field *field,
                                          const uint8_t *is_visible, const struct clv_decoding *decoding,
                                          struct clv_error *err) CLV_CHECK;

/* Enumerates all n_labels^n_nodes labellings (at most 2^24): the maximum (lowest labelling in lexicographic order with node 0
 * most significant at ties, which for two labels need not be canonical), log sum exp f, and marginals[n_nodes][n_labels]. Any output may
 * be NULL. The reference for every other routine. */
CLV_API enum clv_status clv_exhaustive(int32_t *y, double *score, double *log_partition, double *marginals,
                                       const struct clv_field *field, struct clv_error *err) CLV_CHECK;

#ifdef __cplusplus
}
#endif
#endif
