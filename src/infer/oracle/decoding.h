/* Decoding by the rules of struct clv_decoding but CLV_DECODE_ORACLE: which engine takes which field. */
#ifndef INFER_DECODING_H
#define INFER_DECODING_H

#include "infer/bp/loopy.h"
#include "infer/elimination/bucket.h"
#include "infer/elimination/min_entropy.h"

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

/* y[n_nodes] as clv_oracle_decode says, after decoding_check. */
enum clv_status decoding_run(struct decoding_workspace *self, int32_t *y, const struct clv_field *field,
                             const uint8_t *is_visible, const struct clv_decoding *decoding,
                             struct clv_error *err) CLV_CHECK;

/* "oracle", "map", "marginal map", "marginals", "min entropy" */
const char *decoding_rule_name(enum clv_decoding_rule rule);

#endif
