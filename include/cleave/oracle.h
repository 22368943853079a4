/* The MAP oracle: the MAP labelling of a field and its clamped optima. Two labels are solved by a minimum cut, chains
 * and trees by dynamic programming; expansion and swap approximate other fields. Decoding also has rules other than
 * MAP.
 *
 *     // Two pixels: the first prefers label 1 by 2, the second prefers 0 by 1; different labels cost 1.5.
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
 *         if (clv_oracle_new(&oracle, CLV_ENGINE_DEFAULT, &error) ||
 *             clv_oracle_map(oracle, y, &score, &field, &error)) {
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
    CLV_ENGINE_CLEAVE,  /* src/infer/cut */
};

/* A MAP solver for fields of any size and topology. It keeps its buffers and the last graph, so that a field with the
 * same edges as the previous one needs no construction. Not for use by two threads at once. Engines differ only in
 * speed: they solve the same integer problem and return the same labels. */
struct clv_oracle;
CLV_API enum clv_status clv_oracle_new(struct clv_oracle **oracle, enum clv_engine engine,
                                       struct clv_error *err) CLV_CHECK;
CLV_API void clv_oracle_free(struct clv_oracle *oracle);

/* After this call sampling (clv_perturbed_marginals) ends with CLV_ERR_INTERRUPTED soon after *stop becomes non-zero;
 * NULL: never. */
CLV_API void clv_oracle_watch(struct clv_oracle *oracle, const volatile int *stop);

/* y = argmax f, *score = f(y) (score may be NULL).
 *   form NONE: the best label of each node, the lowest at ties.
 *   form POTTS, two labels, couplings >= 0: minimum cut, exact. Ties are canonical: the labelling with the fewest 1s.
 *     Scores are rounded to multiples of 2^-k, with k as large as 30 bits allow for the largest unary or coupling of
 *     the field. Unaries above 1,024 times the largest sum of a node's couplings, which decide their nodes alone, do
 *     not count as the largest. *score is f(y) without rounding.
 *     Scores may have any size, and couplings may be so large that they must not be cut (1e10 beside unaries of 1): if
 *     rounding could cost more than 1e-6 (1 + sum |unary|, without nodes far above the others, such as fixed labels),
 *     both engines cut without rounding. If fixed labels contradict each other across such couplings, the cheapest set
 *     of couplings is cut. About ten times slower; memory O(nodes + edges).
 *   form FULL, two labels, supermodular tables (P00 + P11 >= P01 + P10): the same, after moving the unary part of the
 *     tables into the unaries.
 *   form FULL, a chain (edge e joins nodes e and e + 1, and no other edge exists) of more than two labels, of two with
 *     a shared table, or of two with any table that is not supermodular: Viterbi, in double precision. Ties: the lowest
 *     label at the last node, then at the one before, and so on. O(n_nodes n_labels^2).
 *   forms FULL and POTTS, any other forest (no edge closes a loop): max-product, in double precision. Ties: the lowest
 *     label at the node with the highest index in each tree, then outwards from there. O(n_nodes n_labels^2).
 * Errors: NaN or infinite values, values so large that scores overflow (their magnitudes sum to 4e307 or more), negative
 * couplings, on graphs with loops tables that are not supermodular, naming node or edge; more than two labels on graphs
 * with loops. */
CLV_API enum clv_status clv_oracle_map(struct clv_oracle *oracle, int32_t *y, double *score,
                                       const struct clv_field *field, struct clv_error *err) CLV_CHECK;

/* Alpha-expansion for more than two labels. Starts from each node's best label. A move lets any set of nodes take one
 * label, and a minimum cut finds the best such set; moves continue until none raises the score. With Potts couplings
 * the score is below the maximum by at most the couplings that are cut in the best labelling. This holds beside
 * couplings that must not be cut, too, since moves are then computed without rounding. Exact, as clv_oracle_map, for
 * two labels or no edges. With full tables every move must be a cut: P[a][b] + P[c][c] >= P[a][c] + P[c][b] for the
 * labels that occur; otherwise CLV_ERR_DATA, naming the edge. */
CLV_API enum clv_status clv_oracle_expand(struct clv_oracle *oracle, int32_t *y, double *score,
                                          const struct clv_field *field, struct clv_error *err) CLV_CHECK;

/* Alpha-beta swap for more than two labels. Starts from each node's best label. A move reassigns the nodes of two
 * labels between these in the best way; moves continue until none raises the score. Unlike expansion it needs no
 * triangle inequality: every edge's table must have P[a][a] + P[b][b] >= P[a][b] + P[b][a] for all labels a and b (a
 * semi-metric, such as truncated squares), otherwise CLV_ERR_DATA, naming the edge. Exact, as clv_oracle_map, for two
 * labels or no edges. */
CLV_API enum clv_status clv_oracle_swap(struct clv_oracle *oracle, int32_t *y, double *score,
                                        const struct clv_field *field, struct clv_error *err) CLV_CHECK;

/* Computes the clamped optima of the two-label field that clv_oracle_map solved last: for every listed node (nodes
 * NULL: all nodes) the best labelling in which that node has the other label. Calls `visit` once per distinct node, in
 * any order, with cost = max f - max f[y_i flipped] >= 0 and the witness: the nodes whose labels differ from the MAP
 * labelling, the clamped node first. Costs are those of the rounded scores, and ties are canonical, as in
 * clv_oracle_map. The field itself is not read again. With CLV_ENGINE_CLEAVE the time of a clamp is about proportional
 * to the number of flipped nodes. On a chain or forest solved by Viterbi or max-product it is O(n_nodes), without
 * rounding. If clv_oracle_map did not round because of large couplings, each clamp is a cut of the whole field, and
 * costs are exact. Errors: CLV_ERR_USAGE before a solution or for a node out of range; CLV_ERR_MEMORY, possibly after
 * some visits. */
typedef void clv_witness_visit(void *context, int32_t node, double cost, const int32_t *flipped, int32_t n_flipped);
CLV_API enum clv_status clv_oracle_witnesses(struct clv_oracle *oracle, const int32_t *nodes, int32_t n,
                                             clv_witness_visit *visit, void *context, struct clv_error *err) CLV_CHECK;

/* The clamped optimum of the chain or forest that clv_oracle_map solved last; `field` must be the same field,
 * unchanged. y[n_nodes] = the best labelling in which `node` has `label`, *score (or NULL) = its score. The first call
 * for a field takes as long as solving it, further calls O(n_nodes n_labels). CLV_ERR_USAGE if the last field had no
 * edges or loops, or for a node or label out of range. */
CLV_API enum clv_status clv_oracle_clamp(struct clv_oracle *oracle, int32_t *y, double *score,
                                         const struct clv_field *field, int32_t node, int32_t label,
                                         struct clv_error *err) CLV_CHECK;

/* margin[n_nodes] = max f[y_i = 1] - max f[y_i = 0] for the field that clv_oracle_map solved last, on the scores of
 * clv_oracle_witnesses; y is its MAP labelling. */
CLV_API enum clv_status clv_oracle_margins(struct clv_oracle *oracle, double *margin, const int32_t *y,
                                           struct clv_error *err) CLV_CHECK;

/* max_marginals[n_nodes][n_labels] = the score of the best labelling of a field with that label at that node, its
 * clamped optimum. witness_counts[n_nodes][n_labels] = how many of all n_nodes n_labels clamped optima have that label
 * at that node (whole numbers; those of a node add up to n_nodes n_labels). Each may be NULL. The counts are the
 * witness statistics of a chapter on structured prediction (2014). The margin of a label is its max-marginal minus the
 * largest of the node's others. Exact in forests, which chains are, for any labels, form and tables, by max-product,
 * O(n_nodes n_labels^2); for two labels on any graph whose MAP is a minimum cut, by clamping each node, on the rounded
 * scores. Ties are as in clv_oracle_clamp or clv_oracle_witnesses. CLV_ERR_USAGE for more labels on a graph with loops,
 * else as clv_oracle_map. The oracle's previous solution may be lost. */
CLV_API enum clv_status clv_oracle_max_marginals(struct clv_oracle *oracle, double *max_marginals,
                                                 double *witness_counts, const struct clv_field *field,
                                                 struct clv_error *err) CLV_CHECK;

/* Rules by which labels are chosen from scores. */
enum clv_decoding_rule {
    CLV_DECODE_ORACLE,       /* clv_oracle_map, which fails if it cannot solve the field exactly */
    CLV_DECODE_MAP,          /* argmax over visible and hidden nodes together */
    CLV_DECODE_MARGINAL_MAP, /* visible nodes y = argmax_y T_h log sum_h exp(f(y, h) / T_h) */
    CLV_DECODE_MARGINALS,    /* every node its most probable label under p(y, h) proportional to exp f */
    /* The visible labelling y whose p(y, h) over h has the least Renyi entropy of order 1 / T_h (Miller et al. 2012);
     * exact in chains that alternate visible and hidden nodes, an error if two hidden nodes are joined. */
    CLV_DECODE_MIN_ENTROPY,
};

/* Decoding of a model: by the rule that it was trained for (auto), by one of the rules above, or by the least expected
 * loss over samples (clv_model_decide). */
enum clv_decoding_choice {
    CLV_DECODING_AUTO,
    CLV_DECODING_MAP,
    CLV_DECODING_MARGINAL_MAP,
    CLV_DECODING_MARGINALS,
    CLV_DECODING_MIN_LOSS
};

/* A rule of decoding; zeros are CLV_DECODE_ORACLE. The other rules are exact in forests (clv_forest_run), if they
 * maximise over all nodes of a two-label field that clv_oracle_map can cut, and on graphs so narrow that elimination
 * needs at most a million cells (such as a grid of 6 x 6 nodes with 4 labels). On other fields the best of several
 * candidates is taken: for a maximum those of TRW-S (usually proved by its bound) and max-product, by score; for sums
 * those of sum- and mixed-product, from a cold start and from near that maximum, by their Bethe values. */
struct clv_decoding {
    enum clv_decoding_rule rule;
    double hidden_temperature; /* T_h > 0 with CLV_DECODE_MARGINAL_MAP, 0..1 with CLV_DECODE_MIN_ENTROPY, else unused */
};
#define CLV_N_DECODING_RULES 5

/* y[n_nodes] = the labelling by a rule; hidden nodes get their most probable label. is_visible[n_nodes] is 1 or 0;
 * NULL: all nodes are visible. The oracle's previous solution may be lost. CLV_ERR_USAGE for another rule or
 * temperature, else as the functions named above. */
CLV_API enum clv_status clv_oracle_decode(struct clv_oracle *oracle, int32_t *y, const struct clv_field *field,
                                          const uint8_t *is_visible, const struct clv_decoding *decoding,
                                          struct clv_error *err) CLV_CHECK;

/* Decodes with label costs: every label l that occurs in y costs label_cost[l], 0..1e100, once (Delong, Osokin, Isack &
 * Boykov 2012), for any field of at most 256 labels. Greedy: starts from the MAP labelling without costs and repeatedly
 * removes the label whose removal raises score minus costs most, with the MAP labelling of the remaining labels, until
 * no removal helps. Then the remaining labels are decoded by the rule. CLV_ERR_DATA for a cost out of range, naming the
 * label. */
CLV_API enum clv_status clv_oracle_decode_costs(struct clv_oracle *oracle, int32_t *y, const struct clv_field *field,
                                                const double *label_cost, const uint8_t *is_visible,
                                                const struct clv_decoding *decoding, struct clv_error *err) CLV_CHECK;

#ifdef __cplusplus
}
#endif
#endif
