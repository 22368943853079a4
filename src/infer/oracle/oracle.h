/* Decoding rules, marginals and random perturbations of fields. oracle.c decides which engine solves which field. */
#ifndef INFER_ORACLE_ORACLE_H
#define INFER_ORACLE_ORACLE_H

#include "cleave/oracle.h"
#include "infer/bp/bp.h"
#include "infer/elimination/elimination.h"

/* Workspace of clv_oracle_decode. Zeros initialise it; its parts are allocated when first needed. For one thread at a
 * time. */
struct decoding_workspace {
    struct clv_forest *forest;
    struct loopy loopy;
    struct bucket bucket;
    struct min_entropy min_entropy;
};
void decoding_release(struct decoding_workspace *self);

/* Refuses rules and temperatures out of range. */
enum clv_status decoding_check(const struct clv_decoding *decoding, struct clv_error *err) CLV_CHECK;

/* Returns "oracle", "map", "marginal map", "marginals" or "min entropy". */
const char *decoding_rule_name(enum clv_decoding_rule rule);

/* Sets y to the MAP labelling of a two-label field with edges, by a minimum cut. Refuses a field that is not
 * supermodular, naming the edge. */
enum clv_status oracle_cut(struct clv_oracle *oracle, int32_t *y, const struct clv_field *field,
                           struct clv_error *err) CLV_CHECK;

/* Marginals, exact wherever the field's graph allows it (marginals.c). */

struct marginals_options {
    enum clv_marginals looped; /* method for components with loops: sampled or propagated */
    uint64_t seed;
    uint32_t n_samples; /* >= 1 */
};

struct marginals_found {
    double *marginals;     /* [n_nodes][n_labels], of the caller */
    double log_partition;  /* upper bound if sampled, Bethe's estimate if propagated; the sum over components */
    double standard_error; /* of that bound; 0 without samples */
};

/* Fills found->marginals and sets the rest of *found. On failure only the marginals may have changed. */
enum clv_status field_marginals(struct clv_oracle *oracle, struct marginals_found *found, const struct clv_field *field,
                                const struct marginals_options *options, struct clv_error *err) CLV_CHECK;

/* Sets *kind to how field_marginals computes the marginals of this graph: exactly if no edge closes a loop, else
 * `looped`. */
enum clv_status field_marginals_kind(enum clv_marginals *kind, const struct clv_field *field, enum clv_marginals looped,
                                     struct clv_error *err) CLV_CHECK;

/* Adds zero-mean Gumbel variables, which depend on (seed, draw, node, label) only, to noise[n_nodes][n_labels]; for two
 * labels adds the variable of label 1 minus that of label 0 to noise[n_nodes]. A field with this noise added to its
 * unary scores is a perturbed field. */
void gumbel_add(double *noise, int32_t n_nodes, int32_t n_labels, uint64_t seed, uint32_t draw);

#endif
