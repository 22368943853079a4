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
 * Refused: NaN or infinite values, negative couplings, tables that are not supermodular, naming node or edge; forms without
 * an exact oracle here. */
CLV_API enum clv_status clv_oracle_map(struct clv_oracle *oracle, int32_t *y, double *score,
                                       const struct clv_field *field, struct clv_error *err) CLV_CHECK;

/* Enumerates all n_labels^n_nodes labellings (at most 2^24): the maximum (lowest labelling in lexicographic order with node 0
 * most significant at ties, which for two labels need not be canonical), log sum exp f, and marginals[n_nodes][n_labels]. Any output may
 * be NULL. The reference for every other routine. */
CLV_API enum clv_status clv_exhaustive(int32_t *y, double *score, double *log_partition, double *marginals,
                                       const struct clv_field *field, struct clv_error *err) CLV_CHECK;

#ifdef __cplusplus
}
#endif
#endif
