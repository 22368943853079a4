/* Trains and applies networks of one hidden layer that classify pixels: Adam (Kingma & Ba 2015) on mini-batches, and
 * the mean probability of copies with different seeds. Start at pixel_net_train and pixel_net_predict. */
#include "pixel_net/pixel_net.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/machine.h"
#include "infer/infer.h"

#define HIDDEN      PIXEL_NET_HIDDEN
#define PIXELS      PIXEL_NET_AT_ONCE
#define MAX_CLASSES PIXEL_NET_CLASSES
#define MAX_INPUTS  PIXEL_NET_INPUTS
#define BATCH       256
#define PASSES      8
#define RATE        2e-3F
#define DECAY       4e-5F
#define CLIP        5 /* standard deviations */

/* Returns the columns of the second layer: the classes, rounded up to a multiple of 4 for the width of registers. */
static int32_t columns_of(int32_t n_classes)
{
    return (n_classes + 3) / 4 * 4;
}

/* A copy's weights are [n_inputs + 1][HIDDEN], then [HIDDEN + 1][columns_of(n_classes)]; the last row of each holds the
 * biases. */
size_t pixel_net_size(int32_t n_inputs, int32_t n_classes)
{
    return ((size_t)n_inputs + 1) * HIDDEN + (HIDDEN + 1) * (size_t)columns_of(n_classes);
}

void pixel_net_release(struct pixel_net *self)
{
    arrays_free(self->standard, self->weights);
    *self = (struct pixel_net){0};
}

/* Standardises x[n_inputs][PIXELS] in place and clips it. */
FOR_EVERY_WIDTH static void standardise(float *restrict x, const float *restrict standard, int32_t n_inputs)
{
    for (int32_t k = 0; k < n_inputs; k++)
        for (int i = 0; i < PIXELS; i++) {
            float value = (x[k * PIXELS + i] - standard[k]) * standard[n_inputs + k];
            value = value > CLIP ? CLIP : value;
            x[k * PIXELS + i] = value < -CLIP ? -CLIP : value;
        }
}

/* Computes hidden[HIDDEN][PIXELS] = max(0, W x + b) and out[n_classes][PIXELS] = V hidden + c from
 * x[n_inputs][PIXELS]. */
FOR_EVERY_WIDTH static void forward(float *restrict hidden, float *restrict out, const float *restrict w,
                                    const float *restrict x, int32_t n_inputs, int32_t n_classes)
{
    const float *v = w + ((size_t)n_inputs + 1) * HIDDEN;
    int32_t n_columns = columns_of(n_classes);
    for (int32_t c = 0; c < n_classes; c++)
        for (int i = 0; i < PIXELS; i++)
            out[c * PIXELS + i] = v[HIDDEN * n_columns + c];
    for (int u = 0; u < HIDDEN; u++) {
        float sum[PIXELS];
        for (int i = 0; i < PIXELS; i++)
            sum[i] = w[n_inputs * HIDDEN + u];
        for (int32_t k = 0; k < n_inputs; k++)
            for (int i = 0; i < PIXELS; i++)
                sum[i] += w[k * HIDDEN + u] * x[k * PIXELS + i];
        for (int i = 0; i < PIXELS; i++)
            hidden[u * PIXELS + i] = sum[i] = sum[i] > 0 ? sum[i] : 0;
        for (int32_t c = 0; c < n_classes; c++)
            for (int i = 0; i < PIXELS; i++)
                out[c * PIXELS + i] += v[u * n_columns + c] * sum[i];
    }
}

/* Computes probability[n_classes][PIXELS] from out, which has the same shape. */
static void softmax(float *probability, const float *out, int32_t n_classes)
{
    double e[MAX_CLASSES * PIXELS], sum[PIXELS];
    for (int i = 0; i < PIXELS; i++) {
        double most = out[i];
        for (int32_t c = 1; c < n_classes; c++)
            most = fmax(most, out[c * PIXELS + i]);
        for (int32_t c = 0; c < n_classes; c++)
            e[c * PIXELS + i] = out[c * PIXELS + i] - most;
    }
    exponentials(e, e, 0, (size_t)n_classes * PIXELS);
    memcpy(sum, e, sizeof sum);
    for (int32_t c = 1; c < n_classes; c++)
        for (int i = 0; i < PIXELS; i++)
            sum[i] += e[c * PIXELS + i];
    for (int32_t c = 0; c < n_classes; c++)
        for (int i = 0; i < PIXELS; i++)
            probability[c * PIXELS + i] = (float)(e[c * PIXELS + i] / sum[i]);
}

void pixel_net_predict(float *probability, const struct pixel_net *self, float *x)
{
    float hidden[HIDDEN * PIXELS], out[MAX_CLASSES * PIXELS], one[MAX_CLASSES * PIXELS];
    int32_t n = self->n_classes * PIXELS;
    standardise(x, self->standard, self->n_inputs);
    memset(probability, 0, (size_t)n * sizeof *probability);
    for (size_t copy = 0; copy < (size_t)self->n_copies; copy++) {
        const float *w = self->weights + copy * pixel_net_size(self->n_inputs, self->n_classes);
        forward(hidden, out, w, x, self->n_inputs, self->n_classes);
        softmax(one, out, self->n_classes);
        for (int32_t i = 0; i < n; i++)
            probability[i] += one[i] / (float)self->n_copies;
    }
}

/* Adds the gradient of the sum of -log P(class). delta[c][PIXELS] = P(c) - [c is the class], and 0 for unused
 * pixels. */
FOR_EVERY_WIDTH static void backward(float *restrict gradient, const float *restrict w, const float *restrict x,
                                     const float *restrict hidden, const float *restrict delta, int32_t n_inputs,
                                     int32_t n_classes)
{
    size_t second = ((size_t)n_inputs + 1) * HIDDEN;
    int32_t n_columns = columns_of(n_classes);
    float v[MAX_CLASSES][HIDDEN], turned[PIXELS][HIDDEN]; /* weights; hidden values, later their gradient */
    for (int u = 0; u < HIDDEN; u++)
        for (int32_t c = 0; c < n_classes; c++)
            v[c][u] = w[second + (size_t)(u * n_columns + c)];
    for (int u = 0; u < HIDDEN; u++)
        for (int i = 0; i < PIXELS; i++)
            turned[i][u] = hidden[u * PIXELS + i];
    for (int32_t c = 0; c < n_classes; c++) {
        const float *d = delta + c * PIXELS;
        float sum[HIDDEN] = {0};
        for (int i = 0; i < PIXELS; i++)
            for (int u = 0; u < HIDDEN; u++)
                sum[u] += d[i] * turned[i][u];
        for (int u = 0; u < HIDDEN; u++)
            gradient[second + (size_t)(u * n_columns + c)] += sum[u];
        for (int i = 0; i < PIXELS; i++)
            gradient[second + (size_t)(HIDDEN * n_columns + c)] += d[i];
    }
    for (int i = 0; i < PIXELS; i++) {
        float slope[HIDDEN] = {0};
        for (int32_t c = 0; c < n_classes; c++)
            for (int u = 0; u < HIDDEN; u++)
                slope[u] += v[c][u] * delta[c * PIXELS + i];
        for (int u = 0; u < HIDDEN; u++)
            turned[i][u] = turned[i][u] > 0 ? slope[u] : 0;
    }
    for (int32_t k = 0; k <= n_inputs; k++) {
        float sum[HIDDEN] = {0};
        for (int i = 0; i < PIXELS; i++)
            for (int u = 0; u < HIDDEN; u++)
                sum[u] += x[k * PIXELS + i] * turned[i][u];
        for (int u = 0; u < HIDDEN; u++)
            gradient[k * HIDDEN + u] += sum[u];
    }
}

/* One step of Adam; `step` counts from 1. */
FOR_EVERY_WIDTH static void adam(float *restrict w, float *restrict first, float *restrict second,
                                 const float *restrict gradient, size_t n, int n_batch, double step, float rate)
{
    float by_first = 1 / (float)(1 - portable_pow(.9, step)), by_second = 1 / (float)(1 - portable_pow(.999, step));
    for (size_t i = 0; i < n; i++) {
        float g = gradient[i] / (float)n_batch + DECAY * w[i];
        first[i] += .1F * (g - first[i]);
        second[i] += .001F * (g * g - second[i]);
        w[i] -= rate * first[i] * by_first / (sqrtf(second[i] * by_second) + 1e-8F);
    }
}

/* Training state of one copy. */
struct descent {
    float *first, *second, *gradient; /* [size] each, one array */
    int32_t *order;                   /* [n] */
    size_t size;
    const struct pixel_net_examples *examples;
};

/* Adds to d->gradient the gradient of pixels[n], n <= PIXELS, at weights w. The order of pixels is random, so the
 * inputs of the next ones are prefetched. */
static void add_gradient(const struct pixel_net *self, struct descent *d, const float *w, const int32_t *pixels, int n)
{
    const struct pixel_net_examples *examples = d->examples;
    float x[(MAX_INPUTS + 1) * PIXELS], hidden[HIDDEN * PIXELS], delta[MAX_CLASSES * PIXELS];
    for (const int32_t *next = pixels + n; next < pixels + n + PIXELS && next < d->order + examples->n; next++)
        for (int32_t k = 0; k < self->n_inputs; k += 16)
            __builtin_prefetch(examples->inputs + (size_t)*next * (size_t)self->n_inputs + k);
    for (int i = 0; i < PIXELS; i++) {
        const float *row = examples->inputs + (size_t)pixels[i < n ? i : 0] * (size_t)self->n_inputs;
        for (int32_t k = 0; k < self->n_inputs; k++)
            x[k * PIXELS + i] = row[k];
        x[self->n_inputs * PIXELS + i] = 1; /* the biases' input */
    }
    standardise(x, self->standard, self->n_inputs);
    forward(hidden, delta, w, x, self->n_inputs, self->n_classes);
    softmax(delta, delta, self->n_classes);
    for (int i = 0; i < PIXELS; i++) {
        float weight = i >= n ? 0 : examples->weights ? examples->weights[pixels[i]] : 1;
        for (int32_t c = 0; c < self->n_classes; c++)
            delta[c * PIXELS + i] = weight * (delta[c * PIXELS + i] - (i < n && examples->classes[pixels[i]] == c));
    }
    backward(d->gradient, w, x, hidden, delta, self->n_inputs, self->n_classes);
}

static enum clv_status train_copy(struct pixel_net *self, struct descent *d, size_t copy, uint64_t seed,
                                  const struct clv_progress *progress, struct clv_error *err)
{
    int32_t m = self->n_inputs;
    size_t n = d->examples->n;
    float *w = self->weights + copy * d->size;
    uint64_t stream = RNG_STREAM(RNG_INIT, copy);
    for (size_t i = 0; i < d->size; i++) {
        size_t row = i / HIDDEN;
        double bound = sqrt(6. / (row <= (size_t)m ? m + HIDDEN : HIDDEN + self->n_classes));
        w[i] = (float)((2 * rng_uniform(seed, stream, i) - 1) * bound);
    }
    memset(d->first, 0, 2 * d->size * sizeof *d->first);
    size_t n_batches = (n + BATCH - 1) / BATCH, n_steps = PASSES * n_batches, step = 0;
    for (size_t pass = 0; pass < PASSES; pass++) {
        FAIL_IF(stop_requested(progress), CLV_ERR_INTERRUPTED, "interrupted");
        report_progress(progress, "learning pixels", copy * PASSES + pass, (size_t)self->n_copies * PASSES, NULL);
        rng_permutation(d->order, n, seed, RNG_STREAM(RNG_ORDER, copy * PASSES + pass));
        for (size_t from = 0; from < n; from += BATCH) {
            int n_batch = n - from < BATCH ? (int)(n - from) : BATCH;
            memset(d->gradient, 0, d->size * sizeof *d->gradient);
            for (int i = 0; i < n_batch; i += PIXELS)
                add_gradient(self, d, w, d->order + from + i, n_batch - i < PIXELS ? n_batch - i : PIXELS);
            float left = 1 - (float)step++ / (float)n_steps;
            adam(w, d->first, d->second, d->gradient, d->size, n_batch, (double)step, RATE * left);
        }
    }
    return CLV_OK;
}

static void learn_standard(float *standard, const float *inputs, size_t n, int32_t n_inputs)
{
    for (size_t k = 0; k < (size_t)n_inputs; k++) {
        double sum = 0, squares = 0;
        for (size_t i = 0; i < n; i++) {
            double x = (double)inputs[i * (size_t)n_inputs + k];
            sum += x;
            squares += x * x;
        }
        double mean = sum / (double)n, variance = squares / (double)n - mean * mean;
        standard[k] = (float)mean;
        standard[(size_t)n_inputs + k] = variance > 1e-8 ? (float)(1 / sqrt(variance)) : 0;
    }
}

static void descent_release(struct descent *self)
{
    arrays_free(self->first, self->order);
}

enum clv_status pixel_net_train(struct pixel_net *self, const struct pixel_net_examples *examples, int32_t n_copies,
                                uint64_t seed, const struct clv_progress *progress, struct clv_error *err)
{
    int32_t n_inputs = examples->n_inputs;
    size_t n = examples->n;
    OWNED(descent_release) struct descent d = {.size = pixel_net_size(n_inputs, examples->n_classes),
                                               .examples = examples};
    OWNED(pixel_net_release) struct pixel_net result = {
        .n_inputs = n_inputs,
        .n_classes = examples->n_classes,
        .n_copies = n_copies,
        .standard = array_alloc((size_t)n_inputs, 2 * sizeof *result.standard),
        .weights = array_alloc(d.size, (size_t)n_copies * sizeof *result.weights)};
    d.first = array_alloc(d.size, 3 * sizeof *d.first);
    d.order = array_alloc(n, sizeof *d.order);
    FAIL_IF(n_inputs > MAX_INPUTS || n == 0 || examples->n_classes > MAX_CLASSES, CLV_ERR_USAGE,
            "a network needs pixels of 1 to %d inputs and up to %d classes", MAX_INPUTS, MAX_CLASSES);
    NEED(result.standard && result.weights && d.first && d.order);
    d.second = d.first + d.size;
    d.gradient = d.second + d.size;
    learn_standard(result.standard, examples->inputs, n, n_inputs);
    for (size_t copy = 0; copy < (size_t)n_copies; copy++)
        MUST(train_copy(&result, &d, copy, seed, progress, err));
    *self = TAKE(result);
    return CLV_OK;
}
