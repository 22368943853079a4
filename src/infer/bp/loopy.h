/* Decoding on graphs too wide for elimination. Belief propagation settles there in one of several fixed points, or in none, and what it
 * starts from decides: so it starts near the best labelling known, too, and what the results are worth decides.
 *
 *   MAP          the labellings of TRW-S, which is often proved the best by its bound, and of max-product near it, by f
 *   marginals    sum-product from nothing and near the MAP, damped more and more until it converges, by the Bethe value
 *   marginal MAP the labels of both, then mixed-product near the better one, by the Bethe value of T log sum_h exp(f(y, h) / T) */
#ifndef INFER_LOOPY_H
#define INFER_LOOPY_H

#include "cleave/bp.h"
#include "cleave/oracle.h"

/* Buffers; all zeros at first, not for two threads at once. */
struct loopy {
    struct clv_bp *bp;
    int32_t *labels; /* [3][n_nodes] */
    size_t capacity;
};
void loopy_release(struct loopy *self);

/* y[n_nodes] by CLV_DECODE_MAP, CLV_DECODE_MARGINAL_MAP or CLV_DECODE_MARGINALS; is_visible as for clv_oracle_decode. Refused: as
 * clv_bp_run. Cost: at most a few hundred sweeps for each candidate. */
enum clv_status loopy_decode(struct loopy *self, int32_t *y, const struct clv_field *field, const uint8_t *is_visible,
                             const struct clv_decoding *decoding, struct clv_error *err) CLV_CHECK;

#endif
