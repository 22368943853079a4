/* Distances of sparse rows and the RBF kernel, by |a - b|^2 = |a|^2 + |b|^2 - 2<a, b>. Products are computed in tiles:
 * LANES rows of b are stored densely side by side, so that each nonzero of a row of a is multiplied with LANES values
 * at once. A sum runs over the nonzeros of a in ascending order and adds zero where b has none, so <a, b> equals <b, a>
 * exactly. Start at kernel_distances_of. */
#include "tags/tags.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "base/machine.h"

enum { LANES = 16, CHUNK = 64 /* rows per task */ };

static double square_norm(const struct kernel_rows *rows, size_t i)
{
    double sum = 0;
    for (int64_t k = rows->row[i]; k < rows->row[i + 1]; k++)
        sum += rows->value[k] * rows->value[k];
    return sum;
}

/* Computes sums[LANES] = <a_i, b_j> for the rows b_j in tile[n_features][LANES]. */
FOR_EVERY_WIDTH static void multiply(double *restrict sums, const double *restrict tile, const int32_t *index,
                                     const double *value, int64_t n)
{
    double sum[LANES] = {0};
    for (int64_t k = 0; k < n; k++) {
        const double *lane = tile + (size_t)index[k] * LANES;
        double x = value[k];
        for (int j = 0; j < LANES; j++)
            sum[j] += x * lane[j];
    }
    memcpy(sums, sum, sizeof sum);
}

/* Writes rows first..first + n - 1 of b into the tile, or sets their entries to zero (is_wiped). */
static void fill_tile(double *tile, const struct kernel_rows *b, size_t first, size_t n, bool is_wiped)
{
    for (size_t j = 0; j < n; j++)
        for (int64_t k = b->row[first + j]; k < b->row[first + j + 1]; k++)
            tile[(size_t)b->index[k] * LANES + j] = is_wiped ? 0 : b->value[k];
}

enum clv_status kernel_distances_of(double *distance, const struct kernel_rows *a, size_t first, size_t n,
                                    const struct kernel_rows *b, struct clv_error *err)
{
    int32_t n_features = a->n_features > b->n_features ? a->n_features : b->n_features;
    OWNED_ARRAY double *tile = array_zalloc_aligned((size_t)n_features * LANES, sizeof *tile);
    double sums[LANES], norm_b[LANES];
    NEED(tile);
    for (size_t start = 0; start < b->n; start += LANES) {
        size_t width = b->n - start < LANES ? b->n - start : LANES;
        fill_tile(tile, b, start, width, 0);
        for (size_t j = 0; j < width; j++)
            norm_b[j] = square_norm(b, start + j);
        for (size_t i = 0; i < n; i++) {
            size_t row = first + i;
            double norm_a = square_norm(a, row);
            multiply(sums, tile, a->index + a->row[row], a->value + a->row[row], a->row[row + 1] - a->row[row]);
            for (size_t j = 0; j < width; j++)
                distance[i * b->n + start + j] = fmax(0, norm_a + norm_b[j] - 2 * sums[j]);
        }
        fill_tile(tile, b, start, width, 1);
    }
    return CLV_OK;
}

struct distances {
    double *distance;
    const struct kernel_rows *a, *b;
    const struct clv_progress *progress;
};

static enum clv_status distances_of_chunk(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    const struct distances *self = context;
    size_t first = index * CHUNK, left = self->a->n - first;
    if (stop_requested(self->progress))
        return fail(err, CLV_ERR_INTERRUPTED, "interrupted while the kernel was computed: nothing is learned yet");
    return kernel_distances_of(self->distance + first * self->b->n, self->a, first, left < CHUNK ? left : CHUNK,
                               self->b, err);
}

enum clv_status kernel_distances(double *distance, const struct kernel_rows *a, const struct kernel_rows *b,
                                 int n_threads, const struct clv_progress *progress, struct clv_error *err)
{
    struct distances distances = {distance, a, b, progress};
    return parallel_for((a->n + CHUNK - 1) / CHUNK, n_threads, distances_of_chunk, &distances, err);
}

void kernel_rbf(double *values, const double *distance, size_t n, double gamma)
{
    for (size_t i = 0; i < n; i++)
        values[i] = portable_exp(-gamma * distance[i]);
}
