/* Decoding by the rules of struct clv_decoding but CLV_DECODE_ORACLE: which engine takes which field. */
#ifndef INFER_ORACLE_ORACLE_H
#define INFER_ORACLE_ORACLE_H

#include "cleave/oracle.h"
#include "infer/bp/bp.h"
#include "infer/elimination/elimination.h"

/* All zeros at first; parts are made when first needed. Not for two threads at once. */
struct decoding_workspace {
    struct clv_forest *forest;
    struct loopy loopy;
    struct bucket bucket;
    struct min_entropy min_entropy;
};
void decoding_release(struct decoding_workspace *self);

/* Refuses rules and temperatures out of range. */
enum clv_status decoding_check(const struct clv_decoding *decoding, struct clv_error *err) CLV_CHECK;

/* "oracle", "map", "marginal map", "marginals", "min entropy" */
const char *decoding_rule_name(enum clv_decoding_rule rule);

/* y = the minimum cut of a field of two labels with edges, which is refused, naming the edge, if it is not a cut. */
enum clv_status oracle_cut(struct clv_oracle *oracle, int32_t *y, const struct clv_field *field,
                           struct clv_error *err) CLV_CHECK;

static inline double pair_score(const struct clv_field *field, int32_t edge, int32_t a, int32_t b)
{
    if (field->form == CLV_PAIRWISE_POTTS)
        return a == b ? 0 : -field->pairwise[edge];
    return clv_field_table(field, edge)[(size_t)a * (size_t)field->n_labels + (size_t)b];
}

/* Marginals by the best way that a field's graph allows (marginals.c). */

struct marginals_options {
    enum clv_marginals looped; /* how in components with loops: sampled or propagated */
    uint64_t seed;
    uint32_t n_samples; /* of samples, >= 1 */
};

struct marginals_found {
    double *marginals;     /* [n_nodes][n_labels], the caller's */
    double log_partition;  /* upper bound if sampled, Bethe's estimate if propagated; the sum over components */
    double standard_error; /* of that bound; 0 without samples */
};

/* Fills found->marginals and sets the rest of *found. On failure only the marginals may have changed. */
enum clv_status field_marginals(struct clv_oracle *oracle, struct marginals_found *found, const struct clv_field *field,
                                const struct marginals_options *options, struct clv_error *err) CLV_CHECK;

/* *kind = how field_marginals computes the marginals of this graph: exactly if no edge closes a loop, else `looped`. */
enum clv_status field_marginals_kind(enum clv_marginals *kind, const struct clv_field *field, enum clv_marginals looped,
                                     struct clv_error *err) CLV_CHECK;

/* noise += zero-mean Gumbel variables of draw `draw`, keyed by (seed, draw, node, label), so that they depend on
 * nothing else: noise[n_nodes], label 1's minus label 0's, for two labels, otherwise noise[n_nodes][n_labels]. Add them
 * to a field's unary and solve. */
void gumbel_add(double *noise, int32_t n_nodes, int32_t n_labels, uint64_t seed, uint32_t draw);

#endif
