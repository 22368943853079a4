/* The MAP oracle: the best labelling of a field, and what hangs on it. For two labels a minimum cut finds it, along
 * chains dynamic programming; expansion and swap come near it elsewhere; decoding goes by other rules.
 *
 *     // Two pixels in a row: the first one leans to 1 by 2, the second one to 0 by 1; they lose 1.5 by differing.
 *     #include <cleave.h>
 *     #include <stdio.h>
 *
 *     int main(void)
 *     {
 *         double unary[2] = {2, -1}, coupling[1] = {1.5}, score;
 *         const int32_t edges[1][2] = {{0, 1}};
 *         struct clv_field field = {.n_nodes = 2, .n_edges = 1, .n_labels = 2, .form = CLV_PAIRWISE_POTTS,
 *                                   .edges = edges, .unary = unary, .pairwise = coupling};
 *         struct clv_oracle *oracle;
 *         struct clv_error error;
 *         int32_t y[2];
 *         if (clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, &error) || clv_oracle_map(oracle, y, &score, &field,
 *         &error)) {
 *             fprintf(stderr, "%s\n", error.message);
 *             return clv_status_exit_code(error.status);
 *         }
 *         printf("%d %d, score %g\n", y[0], y[1], score); // 1 1, score 1
 *         clv_oracle_free(oracle);
 *         return 0;
 *     }
 */
#ifndef CLEAVE_ORACLE_H
#define CLEAVE_ORACLE_H

#include "cleave/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

enum clv_engine {
    CLV_ENGINE_DEFAULT, /* CLV_ENGINE_CLEAVE */
    CLV_ENGINE_BK,      /* libmaxflow, Boykov & Kolmogorov 2004; CLV_ERR_USAGE in builds WITH_BK=0 */
    CLV_ENGINE_CLEAVE,  /* ours */
};

/* MAP inference with memory of its own, for fields of any size and topology. Buffers grow and are kept, and so is the
 * graph: a field with the edges of the field before costs no building. Not for use by two threads at once. Engines
 * differ in speed only: they solve the same whole-number problem and return the same labels. */
struct clv_oracle;
CLV_API enum clv_status clv_oracle_new(struct clv_oracle **oracle, enum clv_engine engine,
                                       struct clv_error *err) CLV_CHECK;
CLV_API void clv_oracle_free(struct clv_oracle *oracle);

/* From here on sampling (clv_perturbed_marginals) ends with CLV_ERR_INTERRUPTED soon after *stop is non-zero; NULL: never.
 * */
CLV_API void clv_oracle_watch(struct clv_oracle *oracle, const volatile int *stop);

/* y = argmax f, *score = f(y) (score may be NULL).
 *   form NONE: the best label of each node, the lowest at ties.
 *   form POTTS, two labels, couplings >= 0: min-cut, exact. Ties are canonical: the labelling with the fewest 1s.
 *     Scores are rounded to a fixed-point grid of 2^-k, k as large as 30 bits allow for the largest unary or coupling
 *     of the field; unaries above 1,024 times the largest sum of a node's couplings, whose nodes are decided, take no
 *     digits from the others. *score is f(y) of the labelling found, unrounded.
 *     Couplings may be so large that they must not be cut (1e10 beside unaries of 1), and scores of any size: where
 *     rounding could cost more than 1e-6 (1 + the sum of |unary|, nodes far above the others, such as seeds, not
 *     counted), the cut is that of the numbers themselves, without rounding, by either engine. If seeds contradict each
 *     other across such couplings, the cheapest set of these is cut. Some ten times slower; memory O(nodes + edges).
 *   form FULL, two labels, supermodular tables (P00 + P11 >= P01 + P10): the same, after moving what the tables say
 *     about single nodes into the unaries.
 *   form FULL, a chain (edge e joins nodes e and e + 1, and no other edge exists) of more than two labels, of two with
 *     a shared table, or of two with any table that is not supermodular: Viterbi, in double precision. Ties are lowest
 *     in the last node, then in the one before, and so on. O(n_nodes n_labels^2).
 *   forms FULL and POTTS, a forest (no edge closes a loop) that is none of these: max-product, in double precision.
 *     Ties are lowest at the node with the highest number in each tree, and outwards from there. O(n_nodes n_labels^2).
 * Refused: NaN or infinite values, values so large that scores overflow (their sizes add up to 4e307 or more), negative
 * couplings, on graphs with loops tables that are not supermodular, naming node or edge; more than two labels on graphs
 * with loops. */
CLV_API enum clv_status clv_oracle_map(struct clv_oracle *oracle, int32_t *y, double *score,
                                       const struct clv_field *field, struct clv_error *err) CLV_CHECK;

/* Alpha-expansion for more than two labels: from each node's best label, moves that let any set of nodes take one
 * label, each the best such move, until no label's move helps. With Potts couplings the score's loss against the
 * maximum is at most what the pairwise terms lose there, also beside couplings that must not be cut: moves are found
 * and compared without rounding then. Exact, as clv_oracle_map, for two labels or no edges. Full
 * tables must allow every move to be a cut: P[a][b] + P[c][c] >= P[a][c] + P[c][b] for the labels met; otherwise
 * CLV_ERR_DATA, naming the edge. */
CLV_API enum clv_status clv_oracle_expand(struct clv_oracle *oracle, int32_t *y, double *score,
                                          const struct clv_field *field, struct clv_error *err) CLV_CHECK;

/* Alpha-beta swap for more than two labels: from each node's best label, moves that let the nodes of two labels take
 * either, each the best such move, until no pair's move helps. Unlike expansion it needs no triangle inequality: every
 * edge's table must have P[a][a] + P[b][b] >= P[a][b] + P[b][a] for all labels a and b (a semi-metric, such as
 * truncated squares), otherwise CLV_ERR_DATA, naming the edge. Exact, as clv_oracle_map, for two labels or no edges. */
CLV_API enum clv_status clv_oracle_swap(struct clv_oracle *oracle, int32_t *y, double *score,
                                        const struct clv_field *field, struct clv_error *err) CLV_CHECK;

/* All clamped optima of the two-label field that clv_oracle_map solved last: for every listed node (nodes NULL: all of
 * them) the best labelling in which that node has the other label. `visit` is called once a distinct node, in any
 * order, with what the clamp costs, max f - max f[y_i forced] >= 0, on the rounded scores, and with the nodes whose
 * labels differ from the MAP labelling, the clamped one first: the witness. Ties are canonical as in clv_oracle_map.
 * The field itself is not looked at again. With our engine a clamp costs about as much as its flipped set is large; of
 * a chain or forest that Viterbi or max-product solved O(n_nodes), without rounding; beside couplings so large that
 * clv_oracle_map did not round, a cut of the whole field each, and costs are exact.
 * Errors: CLV_ERR_USAGE before a solution or for a node out of range; CLV_ERR_MEMORY, after some visits perhaps. */
typedef void clv_witness_visit(void *context, int32_t node, double cost, const int32_t *flipped, int32_t n_flipped);
CLV_API enum clv_status clv_oracle_witnesses(struct clv_oracle *oracle, const int32_t *nodes, int32_t n,
                                             clv_witness_visit *visit, void *context, struct clv_error *err) CLV_CHECK;

/* The clamped optimum of the chain or forest that clv_oracle_map solved last, which `field` must still be: y[n_nodes] =
 * the best labelling in which `node` has `label`, *score (or NULL) its score. A first call for a field costs what
 * solving it did, further ones O(n_nodes n_labels). CLV_ERR_USAGE if the last field had no edges or loops, or for a
 * node or label out of range. */
CLV_API enum clv_status clv_oracle_clamp(struct clv_oracle *oracle, int32_t *y, double *score,
                                         const struct clv_field *field, int32_t node, int32_t label,
                                         struct clv_error *err) CLV_CHECK;

/* margin[n_nodes] = max f[y_i = 1] - max f[y_i = 0] of that field, by the scores of clv_oracle_witnesses; y is its MAP
 * labelling. */
CLV_API enum clv_status clv_oracle_margins(struct clv_oracle *oracle, double *margin, const int32_t *y,
                                           struct clv_error *err) CLV_CHECK;

/* max_marginals[n_nodes][n_labels] of a field, the score of the best labelling with that label at that node, its
 * clamped optimum; and witness_counts[n_nodes][n_labels], whole numbers: how many of all these n_nodes n_labels
 * clamped optima have that label there (a node's add up to n_nodes n_labels). Each may be NULL. The counts are the
 * witness statistics of a chapter on structured prediction (2014). The margin of a label is its max-marginal minus the
 * largest of the node's others. Exact in forests, which chains are, for any labels, form and tables, by max-product,
 * O(n_nodes n_labels^2); for two labels on any graph whose MAP is a minimum cut, by clamping each node, on the rounded
 * scores. At ties a clamped optimum is that of clv_oracle_clamp or clv_oracle_witnesses. CLV_ERR_USAGE for more labels
 * on a graph with loops, else as clv_oracle_map; what the oracle solved before may be forgotten. */
CLV_API enum clv_status clv_oracle_max_marginals(struct clv_oracle *oracle, double *max_marginals,
                                                 double *witness_counts, const struct clv_field *field,
                                                 struct clv_error *err) CLV_CHECK;

/* How labels follow from scores. */
enum clv_decoding_rule {
    CLV_DECODE_ORACLE,       /* clv_oracle_map, which refuses what it cannot solve exactly */
    CLV_DECODE_MAP,          /* argmax over visible and hidden nodes together */
    CLV_DECODE_MARGINAL_MAP, /* visible nodes y = argmax_y T_h log sum_h exp(f(y, h) / T_h) */
    CLV_DECODE_MARGINALS,    /* every node its most probable label under p(y, h) proportional to exp f */
    /* The visible labelling y of least Renyi entropy, of order 1 / T_h, of p(y, h) over h (Miller et al. 2012); exact
     * in chains of visible and hidden nodes in turn, refused where hidden nodes are joined. */
    CLV_DECODE_MIN_ENTROPY,
};

/* All zeros is the oracle's MAP. The other rules are exact in forests (clv_forest_run), where they ask for a maximum over
 * all nodes of a field of two labels that clv_oracle_map cuts, and on graphs so narrow that elimination takes no more
 * than a million cells (a grid of six by six nodes of four labels). Elsewhere, whatever the
 * labels and the form, candidates are compared by what they score: a MAP of TRW-S (mostly proved by its bound) and of
 * max-product; labels of sum- and mixed-product from nothing and from near that MAP, by their Bethe values. */
/* A choice among rules of decoding in place of a model's own: the rule that it was trained for (auto), one of the rules
 * above, or the least expected loss of samples (clv_model_decide). */
enum clv_decoding_choice {
    CLV_DECODING_AUTO,
    CLV_DECODING_MAP,
    CLV_DECODING_MARGINAL_MAP,
    CLV_DECODING_MARGINALS,
    CLV_DECODING_MIN_LOSS
};

struct clv_decoding {
    enum clv_decoding_rule rule;
    double hidden_temperature; /* T_h > 0 of CLV_DECODE_MARGINAL_MAP, 0..1 of CLV_DECODE_MIN_ENTROPY, else not used */
};
#define CLV_N_DECODING_RULES 5

/* y[n_nodes] by a rule; of hidden nodes the most probable label. is_visible[n_nodes] is 1 or 0; NULL: all nodes are
 * visible. Uses the oracle's memory; what it solved before may be forgotten. CLV_ERR_USAGE for another rule or
 * temperature, and as the routines named above. */
CLV_API enum clv_status clv_oracle_decode(struct clv_oracle *oracle, int32_t *y, const struct clv_field *field,
                                          const uint8_t *is_visible, const struct clv_decoding *decoding,
                                          struct clv_error *err) CLV_CHECK;

/* Decodes with label costs: every label l that y uses, however often, costs label_cost[l], 0..1e100 (Delong, Osokin,
 * Isack & Boykov 2012), for any field of at most 256 labels: from the MAP labelling without costs, one label after
 * the other is given up, that first whose loss gains most, each time with the MAP labelling of the labels that are
 * left, until no loss gains: a labelling that giving up any one of its labels makes worse. Then the labels that are
 * left are decoded by the rule. CLV_ERR_DATA for a cost out of range, naming the label. */
CLV_API enum clv_status clv_oracle_decode_costs(struct clv_oracle *oracle, int32_t *y, const struct clv_field *field,
                                                const double *label_cost, const uint8_t *is_visible,
                                                const struct clv_decoding *decoding, struct clv_error *err) CLV_CHECK;

#ifdef __cplusplus
}
#endif
#endif
