/* The linear relaxation of CLV_TAGS_FULL, whose labellings are too many to be looked at:
 *
 *     max sum_i a_i y_i + sum_{i < j} c_ij m_ij,   each m_ij a mean of y_i y_j that some distribution with the means y_i,
 *                                                  y_j has
 *
 * An optimum has all y_i in -1, 0, 1, and a minimum cut of 2 K nodes finds it: node i says y_i, node K + i -y_i, and
 * where they do not agree y_i is 0 (roof duality; Boros & Hammer 2002). Its value is an upper bound; without a 0 it is
 * the maximum, and some labelling that is the maximum has all labels that are not 0. */
#ifndef ANNOTATE_TAG_RELAX_H
#define ANNOTATE_TAG_RELAX_H

#include "annotate/tag_model.h"
#include "cleave/oracle.h"

/* Buffers for models of the same number of tags. */
struct tag_relaxation {
    struct clv_oracle *oracle;
    size_t n_tags;
    int32_t (*edges)[2];      /* [n_tags (n_tags - 1)] */
    double *unary, *coupling; /* [2 n_tags], [n_tags (n_tags - 1)] */
    int32_t *label;           /* [2 n_tags] */
};

enum clv_status tag_relaxation_init(struct tag_relaxation *self, int32_t n_tags, struct clv_error *err) CLV_CHECK;
void tag_relaxation_release(struct tag_relaxation *self);

/* m_ij at a relaxed y: the product, and where neither is decided what the coupling likes best. */
static inline double tag_relaxed_product(int y_i, int y_j, double coupling)
{
    return y_i || y_j ? y_i * y_j : (coupling > 0) - (coupling < 0);
}

/* y[n_tags] in -1, 0, 1 and its value (NULL: not wanted), for the couplings and scores a[n_tags]. Scores are rounded as
 * by clv_oracle_map. */
enum clv_status tag_relax(int8_t *y, double *value, struct tag_relaxation *self, const double *coupling,
                          const double *scores, struct clv_error *err) CLV_CHECK;

#endif
