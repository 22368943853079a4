/* Measures predicted sets of tags: exact match, Hamming error and F measures (equations 9 to 13 of Miao & Rao). Counts
 * are whole numbers; only the final means are divided. */
#include "tags/tags.h"

#include "base/base.h"

/* 2 |both| / (|true| + |predicted|); 0/0 is 1. */
static double f_measure(uint64_t both, uint64_t sum)
{
    return sum ? 2.0 * (double)both / (double)sum : 1.0;
}

enum clv_status clv_tag_measure(struct clv_tag_score *score, const uint8_t *truth, const uint8_t *prediction, size_t n,
                                int32_t n_tags, struct clv_error *err)
{
    FAIL_IF(n < 1 || n_tags < 1, CLV_ERR_USAGE, "%zu examples with %d tags to measure; there must be some", n, n_tags);
    size_t k = (size_t)n_tags;
    uint64_t n_exact = 0, n_wrong = 0, all_both = 0, all_sum = 0;
    double f_sample = 0, f_macro = 0;
    OWNED_ARRAY uint64_t *both = array_zalloc(2 * k, sizeof *both);
    NEED(both);
    uint64_t *sum = both + k;
    for (size_t l = 0; l < n; l++) {
        const uint8_t *y = truth + l * k, *z = prediction + l * k;
        uint64_t wrong = 0, row_both = 0, row_sum = 0;
        for (size_t i = 0; i < k; i++) {
            unsigned is_true = y[i] != 0, is_predicted = z[i] != 0;
            wrong += is_true != is_predicted;
            row_both += is_true & is_predicted;
            row_sum += is_true + is_predicted;
            both[i] += is_true & is_predicted;
            sum[i] += is_true + is_predicted;
        }
        n_exact += !wrong;
        n_wrong += wrong;
        f_sample += f_measure(row_both, row_sum);
    }
    for (size_t i = 0; i < k; i++) {
        f_macro += f_measure(both[i], sum[i]);
        all_both += both[i];
        all_sum += sum[i];
    }
    *score = (struct clv_tag_score){
        .exact_match = (double)n_exact / (double)n,           /* (9) */
        .hamming = (double)n_wrong / ((double)n * (double)k), /* (10) */
        .f_sample = f_sample / (double)n,                     /* (11) */
        .f_macro = f_macro / (double)k,                       /* (12) */
        .f_micro = f_measure(all_both, all_sum),              /* (13) */
    };
    return CLV_OK;
}
