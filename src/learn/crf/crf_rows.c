/* Products of sparse feature rows with weights that have one label per vector lane: kernels for several vector
 * widths. */
#include "learn/crf/crf.h"

#include "infer/chain/chain.h"

INLINE void score_part(double *restrict score, const double *restrict weights, const int32_t *index, const float *value,
                       size_t n, size_t width, const size_t n_vectors)
{
    lanes sum[MOST_VECTORS];
#pragma GCC unroll 8
    for (size_t v = 0; v < n_vectors; v++)
        sum[v] = (lanes){0};
    for (size_t c = 0; c < n; c++) {
        const double *row = &weights[(size_t)index[c] * width];
        double x = (double)value[c];
#pragma GCC unroll 8
        for (size_t v = 0; v < n_vectors; v++) {
            lanes weight;
            load(&weight, &row[v * CHAIN_LANES]);
            sum[v] += x * weight;
        }
    }
#pragma GCC unroll 8
    for (size_t v = 0; v < n_vectors; v++)
        store(&score[v * CHAIN_LANES], &sum[v]);
}

INLINE void scatter_part(double *restrict gradient, const double *restrict marginal, const int32_t *index,
                         const float *value, size_t n, size_t width, const size_t n_vectors)
{
    lanes share[MOST_VECTORS];
#pragma GCC unroll 8
    for (size_t v = 0; v < n_vectors; v++)
        load(&share[v], &marginal[v * CHAIN_LANES]);
    for (size_t c = 0; c < n; c++) {
        double *row = &gradient[(size_t)index[c] * width], x = (double)value[c];
#pragma GCC unroll 8
        for (size_t v = 0; v < n_vectors; v++) {
            lanes sum;
            load(&sum, &row[v * CHAIN_LANES]);
            sum += x * share[v];
            store(&row[v * CHAIN_LANES], &sum);
        }
    }
}

/* Calls PART for up to MOST_VECTORS vectors at a time, with their number as a constant. */
#define FOR_EACH_PART(PART, to, from)                                                                                  \
    for (size_t first = 0; first < width; first += MOST_VECTORS * CHAIN_LANES) {                                       \
        size_t left = (width - first) / CHAIN_LANES;                                                                   \
        switch (left < MOST_VECTORS ? left : MOST_VECTORS) {                                                           \
        case 1: PART(&(to)[first], &(from)[first], index, value, n, width, 1); break;                                  \
        case 2: PART(&(to)[first], &(from)[first], index, value, n, width, 2); break;                                  \
        case 3: PART(&(to)[first], &(from)[first], index, value, n, width, 3); break;                                  \
        case 4: PART(&(to)[first], &(from)[first], index, value, n, width, 4); break;                                  \
        case 5: PART(&(to)[first], &(from)[first], index, value, n, width, 5); break;                                  \
        case 6: PART(&(to)[first], &(from)[first], index, value, n, width, 6); break;                                  \
        case 7: PART(&(to)[first], &(from)[first], index, value, n, width, 7); break;                                  \
        default: PART(&(to)[first], &(from)[first], index, value, n, width, MOST_VECTORS);                             \
        }                                                                                                              \
    }

FOR_EACH_MACHINE void crf_rows_score(double *score, const double *weights, const int32_t *index, const float *value,
                                     size_t n, size_t width){FOR_EACH_PART(score_part, score, weights)}

FOR_EACH_MACHINE void crf_rows_scatter(double *gradient, const double *marginal, const int32_t *index,
                                       const float *value, size_t n, size_t width)
{
    FOR_EACH_PART(scatter_part, gradient, marginal)
}
