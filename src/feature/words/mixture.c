/* Learns a mixture of Gaussians with diagonal covariances, by k-means and then by expectation maximisation. The points
 * are the square roots of L1-normalised SIFT descriptors, projected on their first principal axes. Start at
 * mixture_learn. */
#include "feature/words/words.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/eigen.h"

enum { SIZE = CLV_DESCRIPTOR_SIZE, D = MIXTURE_DIMENSIONS, K = MIXTURE_COMPONENTS, MEANS_ROUNDS = 10, ROUNDS = 25 };

static const double MIN_VARIANCE = 1e-5, MIN_WEIGHT = 1e-4;

static void roots_of(float *root, const uint8_t *descriptor)
{
    int sum = 0;
    for (int v = 0; v < SIZE; v++)
        sum += descriptor[v];
    float scale = sum ? 1 / (float)sum : 0;
    for (int v = 0; v < SIZE; v++)
        root[v] = sqrtf((float)descriptor[v] * scale);
}

void mixture_point(float *point, const float *mixture, const uint8_t *descriptor)
{
    float root[SIZE];
    roots_of(root, descriptor);
    for (int v = 0; v < SIZE; v++)
        root[v] -= mixture[v];
    for (int d = 0; d < D; d++) {
        const float *axis = mixture + MIXTURE_PROJECTION + d * SIZE;
        float sum = 0;
        for (int v = 0; v < SIZE; v++)
            sum += axis[v] * root[v];
        point[d] = sum;
    }
}

void mixture_view_init(struct mixture_view *view, const float *mixture)
{
    view->mixture = mixture;
    for (int k = 0; k < K; k++) {
        double constant = portable_log((double)mixture[MIXTURE_WEIGHT + k]);
        for (int d = 0; d < D; d++) {
            float variance = mixture[MIXTURE_VARIANCE + k * D + d];
            constant -= portable_log((double)variance) / 2;
            view->precision[k * D + d] = 1 / variance;
        }
        view->constant[k] = (float)constant;
    }
}

void mixture_shares(float *share, const struct mixture_view *view, const float *point)
{
    float best = -INFINITY, total = 0;
    for (int k = 0; k < K; k++) {
        const float *mean = view->mixture + MIXTURE_MEAN + k * D, *precision = view->precision + k * D;
        float square = 0;
        for (int d = 0; d < D; d++)
            square += (point[d] - mean[d]) * (point[d] - mean[d]) * precision[d];
        share[k] = view->constant[k] - square / 2;
        best = fmaxf(best, share[k]);
    }
    for (int k = 0; k < K; k++)
        total += share[k] = portable_expf(share[k] - best);
    for (int k = 0; k < K; k++)
        share[k] /= total;
}

/* Finds the mean and the first principal axes of the square roots of the descriptors. */
static enum clv_status find_axes(float *mixture, const uint8_t *descriptors, size_t n, struct clv_error *err)
{
    OWNED_ARRAY double *matrix = array_zalloc(SIZE, SIZE * sizeof *matrix);
    double mean[SIZE] = {0}, values[SIZE];
    float root[SIZE];
    NEED(matrix);
    for (size_t i = 0; i < n; i++) {
        roots_of(root, descriptors + i * SIZE);
        for (int v = 0; v < SIZE; v++)
            mean[v] += (double)root[v] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        roots_of(root, descriptors + i * SIZE);
        for (int a = 0; a < SIZE; a++) {
            double off = (double)root[a] - mean[a];
            for (int b = 0; b < SIZE; b++)
                matrix[a * SIZE + b] += off * ((double)root[b] - mean[b]) / (double)n;
        }
    }
    eigen_of_covariance(values, matrix, SIZE);
    for (int v = 0; v < SIZE; v++)
        mixture[v] = (float)mean[v];
    for (int k = 0; k < D * SIZE; k++)
        mixture[MIXTURE_PROJECTION + k] = (float)matrix[k];
    return CLV_OK;
}

/* For each component: the sum of posteriors, and of points and their squares weighted by posteriors. */
struct sums {
    double weight[K], point[K][D], square[K][D];
};

static void sums_add(struct sums *sums, const float *point, const float *share)
{
    for (int k = 0; k < K; k++) {
        double s = (double)share[k];
        if (!(s > 1e-6))
            continue;
        sums->weight[k] += s;
        for (int d = 0; d < D; d++) {
            sums->point[k][d] += s * (double)point[d];
            sums->square[k][d] += s * (double)point[d] * (double)point[d];
        }
    }
}

/* M step: updates weights, means and variances. Components with hardly any weight keep mean and variance. */
static void update_components(float *mixture, const struct sums *sums, size_t n)
{
    double total = 0;
    for (int k = 0; k < K; k++)
        total += fmax(sums->weight[k] / (double)n, MIN_WEIGHT);
    for (int k = 0; k < K; k++) {
        double weight = sums->weight[k];
        mixture[MIXTURE_WEIGHT + k] = (float)(fmax(weight / (double)n, MIN_WEIGHT) / total);
        for (int d = 0; d < D && weight > 1e-3; d++) {
            double mean = sums->point[k][d] / weight;
            mixture[MIXTURE_MEAN + k * D + d] = (float)mean;
            mixture[MIXTURE_VARIANCE + k * D + d] =
                (float)fmax(sums->square[k][d] / weight - mean * mean, MIN_VARIANCE);
        }
    }
}

/* Gives the nearest component the posterior 1, as in k-means. */
static void nearest_component(float *share, const float *mixture, const float *point)
{
    int best = 0;
    float least = INFINITY;
    for (int k = 0; k < K; k++) {
        const float *mean = mixture + MIXTURE_MEAN + k * D;
        float square = 0;
        for (int d = 0; d < D; d++)
            square += (point[d] - mean[d]) * (point[d] - mean[d]);
        if (square < least) {
            least = square;
            best = k;
        }
        share[k] = 0;
    }
    share[best] = 1;
}

static enum clv_status mixture_run(float *mixture, const float *points, size_t n, const struct clv_progress *progress,
                                   struct clv_error *err)
{
    struct mixture_view view;
    float share[K];
    for (int round = 0; round < MEANS_ROUNDS + ROUNDS; round++) {
        struct sums sums = {0};
        FAIL_IF(stop_requested(progress), CLV_ERR_INTERRUPTED, "interrupted");
        bool is_soft = round >= MEANS_ROUNDS;
        if (is_soft)
            mixture_view_init(&view, mixture);
        for (size_t i = 0; i < n; i++) {
            if (is_soft)
                mixture_shares(share, &view, points + i * D);
            else
                nearest_component(share, mixture, points + i * D);
            sums_add(&sums, points + i * D, share);
        }
        update_components(mixture, &sums, n);
    }
    return CLV_OK;
}

enum clv_status mixture_learn(float **mixture, const uint8_t *descriptors, size_t n,
                              const struct codebook_options *options, struct clv_error *err)
{
    OWNED_ARRAY float *result = array_zalloc(CLV_MIXTURE_SIZE, sizeof *result),
                      *points = array_alloc(n, D * sizeof *points);
    NEED(result && points);
    MUST(find_axes(result, descriptors, n, err));
    for (size_t i = 0; i < n; i++)
        mixture_point(points + i * D, result, descriptors + i * SIZE);
    for (int k = 0; k < K; k++) {
        uint32_t start =
            rng_below(options->seed, options->stream, (uint64_t)k, (uint32_t)(n < UINT32_MAX ? n : UINT32_MAX));
        memcpy(result + MIXTURE_MEAN + k * D, points + (size_t)start * D, D * sizeof *result);
        for (int d = 0; d < D; d++)
            result[MIXTURE_VARIANCE + k * D + d] = 1;
    }
    MUST(mixture_run(result, points, n, options->progress, err));
    *mixture = TAKE(result);
    return CLV_OK;
}

bool mixture_is_sound(const float *mixture)
{
    for (int k = 0; k < CLV_MIXTURE_SIZE; k++)
        if (!(fabsf(mixture[k]) <= 1e6F))
            return false;
    for (int k = 0; k < K; k++)
        if (!(mixture[MIXTURE_WEIGHT + k] >= 1e-6F && mixture[MIXTURE_WEIGHT + k] <= 1))
            return false;
    for (int k = 0; k < K * D; k++)
        if (!(mixture[MIXTURE_VARIANCE + k] >= 1e-6F))
            return false;
    return true;
}
