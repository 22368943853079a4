/* Runs forward-backward for training, outside the log domain: one vector lane per label, scaled to sum 1 at every node
 * (Rabiner 1989). Start at chain_sums_run; the formulas are at struct chain_sums in chain.h. */
#include "infer/chain/chain.h"

#include <string.h>

#include "base/base.h"
#include "infer/infer.h"

INLINE double sum_of(const lanes *v)
{
    return ((*v)[0] + (*v)[1]) + ((*v)[2] + (*v)[3]);
}

/* to[0..4 n_vectors) += sum_c factor[c stride] rows[c][..], n_vectors a constant. */
INLINE void add_rows(double *restrict to, const double *restrict factor, size_t stride, const double *restrict rows,
                     size_t n_rows, size_t width, const size_t n_vectors)
{
    lanes sum[MOST_VECTORS];
#pragma GCC unroll 8
    for (size_t v = 0; v < n_vectors; v++)
        load(&sum[v], &to[v * CHAIN_LANES]);
    for (size_t c = 0; c < n_rows; c++) {
        double f = factor[c * stride];
#pragma GCC unroll 8
        for (size_t v = 0; v < n_vectors; v++) {
            lanes row;
            load(&row, &rows[c * width + v * CHAIN_LANES]);
            sum[v] += f * row;
        }
    }
#pragma GCC unroll 8
    for (size_t v = 0; v < n_vectors; v++)
        store(&to[v * CHAIN_LANES], &sum[v]);
}

/* Does the same as add_rows for any width. */
INLINE void add_product(double *restrict to, const double *restrict factor, size_t stride, const double *restrict rows,
                        size_t n_rows, size_t width)
{
    for (size_t first = 0; first < width; first += MOST_VECTORS * CHAIN_LANES) {
        size_t left = (width - first) / CHAIN_LANES;
        double *part = &to[first];
        switch (left < MOST_VECTORS ? left : MOST_VECTORS) {
        case 1: add_rows(part, factor, stride, &rows[first], n_rows, width, 1); break;
        case 2: add_rows(part, factor, stride, &rows[first], n_rows, width, 2); break;
        case 3: add_rows(part, factor, stride, &rows[first], n_rows, width, 3); break;
        case 4: add_rows(part, factor, stride, &rows[first], n_rows, width, 4); break;
        case 5: add_rows(part, factor, stride, &rows[first], n_rows, width, 5); break;
        case 6: add_rows(part, factor, stride, &rows[first], n_rows, width, 6); break;
        case 7: add_rows(part, factor, stride, &rows[first], n_rows, width, 7); break;
        default: add_rows(part, factor, stride, &rows[first], n_rows, width, MOST_VECTORS); break;
        }
    }
}

int chain_kernel_fill(struct chain_kernel *kernel, const double *table, size_t k)
{
    size_t width = chain_lanes_width(k);
    double top = table[0], bottom = table[0];
    for (size_t c = 1; c < k * k; c++) {
        top = table[c] > top ? table[c] : top;
        bottom = table[c] < bottom ? table[c] : bottom;
    }
    kernel->top = top;
    if (!(top - bottom <= CHAIN_LANES_RANGE))
        return 0;
    for (size_t a = 0; a < k; a++)
        exponentials(&kernel->there[a * width], &table[a * k], top, k);
    for (size_t a = 0; a < k; a++)
        for (size_t b = 0; b < k; b++)
            kernel->back[b * width + a] = kernel->there[a * width + b];
    return 1;
}

/* Turns scores into weights; *maxima is the sum of the nodes' maxima. Returns 0 if the range of scores is too large. */
static int weigh(double *maxima, double *weight, size_t n, size_t k, size_t width)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        const double *score = &weight[i * width];
        double top = score[0], bottom = score[0];
        for (size_t a = 1; a < k; a++) {
            top = score[a] > top ? score[a] : top;
            bottom = score[a] < bottom ? score[a] : bottom;
        }
        if (!(top - bottom <= CHAIN_LANES_RANGE))
            return 0;
        sum += top;
    }
    for (size_t i = 0; i < n; i++) {
        double *score = &weight[i * width], top = score[0];
        for (size_t a = 1; a < k; a++)
            top = score[a] > top ? score[a] : top;
        exponentials(score, score, top, k);
        for (size_t a = k; a < width; a++)
            score[a] = 0;
    }
    *maxima = sum;
    return 1;
}

/* Multiplies value by weight, divides it by its sum, and returns the sum. */
INLINE double weigh_and_normalise(double *restrict value, const double *restrict weight, size_t width)
{
    lanes sum = {0};
    for (size_t a = 0; a < width; a += CHAIN_LANES) {
        lanes v, w;
        load(&v, &value[a]);
        load(&w, &weight[a]);
        v *= w;
        sum += v;
        store(&value[a], &v);
    }
    double total = sum_of(&sum), inverse = 1 / total;
    for (size_t a = 0; a < width; a++)
        value[a] *= inverse;
    return total;
}

/* Runs both passes: alpha_i = (alpha_i-1 T) weight_i / c_i, of sum 1; backwards flow_i = weight_i beta_i / c_i and
 * beta_i-1 = T flow_i. Returns the sum of log c_i. */
FOR_EACH_MACHINE static double pass(struct chain_sums *sums, size_t n, const struct chain_kernel *kernels,
                                    bool is_shared, size_t k)
{
    size_t width = chain_lanes_width(k);
    double product = 1, logarithm = 0;
    for (size_t i = 0; i < n; i++) {
        double *ahead = &sums->ahead[i * width];
        for (size_t a = 0; a < width; a++)
            ahead[a] = i == 0;
        if (i)
            add_product(ahead, ahead - width, 1, kernels[is_shared ? 0 : i - 1].there, k, width);
        double total = weigh_and_normalise(ahead, &sums->weight[i * width], width);
        sums->flow[i * width] = total;
        product *= total;
        if (product < 1e-60 || product > 1e60) {
            logarithm += portable_log(product);
            product = 1;
        }
    }
    double *marginal = &sums->marginal[(n - 1) * width];
    for (size_t a = 0; a < width; a++)
        marginal[a] = 1;
    for (size_t i = n; i-- > 0;) {
        double *restrict beta = &sums->marginal[i * width], *restrict flow = &sums->flow[i * width];
        const double *restrict weight = &sums->weight[i * width], *restrict ahead = &sums->ahead[i * width];
        double inverse = 1 / flow[0];
        if (i) {
            for (size_t a = 0; a < width; a++)
                flow[a] = weight[a] * beta[a] * inverse;
            memset(beta - width, 0, width * sizeof *beta);
            add_product(beta - width, flow, 1, kernels[is_shared ? 0 : i - 1].back, k, width);
        }
        for (size_t a = 0; a < width; a++)
            beta[a] *= ahead[a];
    }
    return logarithm + portable_log(product);
}

int chain_sums_run(double *log_partition, struct chain_sums *sums, size_t n, const struct chain_kernel *kernels,
                   bool is_shared, size_t k)
{
    double maxima;
    if (!weigh(&maxima, sums->weight, n, k, chain_lanes_width(k)))
        return 0;
    for (size_t i = 0; i + 1 < n; i++)
        maxima += kernels[is_shared ? 0 : i].top;
    *log_partition = maxima + pass(sums, n, kernels, is_shared, k);
    return 1;
}

FOR_EACH_MACHINE void chain_sums_pairs(double *sum, const struct chain_sums *sums, size_t n, size_t k)
{
    size_t width = chain_lanes_width(k);
    for (size_t a = 0; a < k; a++)
        add_product(&sum[a * width], &sums->ahead[a], width, &sums->flow[width], n - 1, width);
}
