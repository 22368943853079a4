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
#ifndef CLEAVE_CHAIN_H
#define CLEAVE_CHAIN_H

#include <stdbool.h>

#include "cleave/status.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/* Viterbi: y[n_nodes] = argmax, *score (or NULL) its score. Of labellings that score alike, the one that is least in
 * the last node, then in the one before, and so on. Refused here and below: values that are not finite or overflow
 * when added up, naming node or link. */
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

#ifdef __cplusplus
}
#endif
#endif
