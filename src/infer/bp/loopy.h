/* Decoding on graphs that are too wide for elimination. Belief propagation need not converge there, and where it does,
 * its fixed point depends on where it started. So several candidates are computed, some of them started near the best
 * labelling known so far, and the one of the highest value is taken:
 *
 *   rule          candidates                                             value
 *   MAP           the labellings of TRW-S and of max-product near it     f(y); TRW-S alone if its bound proves it
 *   marginals     sum-product from zero messages and near the MAP        Bethe's value of log Z
 *   marginal MAP  the labels of both rules above, then of mixed-product  Bethe's value of T log sum_h exp(f(y, h) / T)
 *                 near the better one
 *
 * Each run is tried with more and more damping until its messages converge. */
#ifndef INFER_LOOPY_H
#define INFER_LOOPY_H

#include "cleave/infer.h"
#include "cleave/oracle.h"

/* Buffers; all zeros at first, not for two threads at once. */
struct loopy {
    struct clv_bp *bp;
    int32_t *labels; /* [3][n_nodes] */
    size_t capacity;
};
void loopy_release(struct loopy *self);

/* y[n_nodes] by CLV_DECODE_MAP, CLV_DECODE_MARGINAL_MAP or CLV_DECODE_MARGINALS; is_visible as for clv_oracle_decode.
 * Refused: as clv_bp_run. Cost: at most a few hundred sweeps for each candidate. */
enum clv_status loopy_decode(struct loopy *self, int32_t *y, const struct clv_field *field, const uint8_t *is_visible,
                             const struct clv_decoding *decoding, struct clv_error *err) CLV_CHECK;

#endif
