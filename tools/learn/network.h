/* Learns the scores of superpixels for box segmentation and interactive cutting: log odds of foreground, linear in the
 * inputs plus a layer of rectifiers,
 *
 *     score = linear . x + sum_h output[h] max(0, hidden[h] . x),
 *
 * where one input is always 1. The loss is logistic against fractions of foreground and background; Adam (Kingma and Ba
 * 2015) in mini-batches, with a rate that falls to 0 and a small weight decay. The bytes are the same on every
 * machine. */
#ifndef NETWORK_H
#define NETWORK_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

enum { NETWORK_MAX_INPUTS = 64, NETWORK_MAX_HIDDEN = 32, NETWORK_BATCH = 512 };
#define NETWORK_LEAST_WEIGHT 1e-30F

/* Weights stand as float[network_size]: linear[n_inputs], output[n_hidden], hidden[n_hidden][n_inputs]. */
struct network {
    int n_inputs, n_hidden, constant; /* the input that is always 1 */
    double rate, decay;
    int epochs;
};

struct network_examples {
    const float **rows; /* [n][n_inputs - 1 or more]: inputs, but the constant where it is the last; then .. */
    int shares;         /* .. from here on the shares of foreground and background */
    float *weights;     /* [n], about 1 on average */
    size_t n;
    double mean[NETWORK_MAX_INPUTS], scale[NETWORK_MAX_INPUTS]; /* of inputs: 1 by standard deviation */
};

static inline size_t network_size(const struct network *self)
{
    return (size_t)self->n_inputs + (size_t)self->n_hidden * (size_t)(self->n_inputs + 1);
}

static inline float *network_hidden(float *weights, const struct network *self, int h)
{
    return weights + self->n_inputs + self->n_hidden + (size_t)h * (size_t)self->n_inputs;
}

/* Adds the loss's gradient at one standardised row. */
static inline void network_add_gradient(float *gradient, const float *weights, const struct network *self,
                                        const float *row, const float *shares, double weight)
{
    float active[NETWORK_MAX_HIDDEN];
    double score = 0;
    for (int k = 0; k < self->n_inputs; k++)
        score += (double)weights[k] * row[k];
    for (int h = 0; h < self->n_hidden; h++) {
        const float *hidden = network_hidden((float *)weights, self, h);
        float sum = 0;
        for (int k = 0; k < self->n_inputs; k++)
            sum += hidden[k] * row[k];
        active[h] = fmaxf(0, sum);
        score += (double)weights[self->n_inputs + h] * active[h];
    }
    double p = 1 / (1 + portable_exp(-score));
    float slope = (float)(weight * (p * (shares[0] + shares[1]) - shares[0]));
    for (int k = 0; k < self->n_inputs; k++)
        gradient[k] += slope * row[k];
    for (int h = 0; h < self->n_hidden; h++) {
        float back = active[h] > 0 ? slope * weights[self->n_inputs + h] : 0;
        float *hidden = network_hidden(gradient, self, h);
        gradient[self->n_inputs + h] += slope * active[h];
        for (int k = 0; k < self->n_inputs && back != 0; k++)
            hidden[k] += back * row[k];
    }
}

static inline void network_standardise(float *row, const struct network *self, const struct network_examples *examples,
                                       const float *values)
{
    for (int k = 0; k < self->n_inputs; k++)
        row[k] =
            k == self->constant ? 1 : (float)fmin(fmax((values[k] - examples->mean[k]) * examples->scale[k], -6), 6);
}

/* Weights of standardised inputs into weights of the inputs as they are. */
static inline void network_unstandardise(float *weights, const struct network *self,
                                         const struct network_examples *examples)
{
    for (int h = -1; h < self->n_hidden; h++) {
        float *row = h < 0 ? weights : network_hidden(weights, self, h);
        double constant = row[self->constant];
        for (int k = 0; k < self->n_inputs; k++) {
            if (k == self->constant)
                continue;
            row[k] = (float)(row[k] * examples->scale[k]);
            constant -= row[k] * examples->mean[k];
        }
        row[self->constant] = (float)constant;
    }
}

static inline void network_start(float *weights, const struct network *self)
{
    memset(weights, 0, network_size(self) * sizeof *weights);
    for (int h = 0; h < self->n_hidden; h++) {
        uint64_t drawn = 0; /* the constants start at 0 */
        weights[self->n_inputs + h] =
            (float)(0.3 / sqrt(self->n_hidden) * rng_normal(1, RNG_STREAM(RNG_INIT, 0), (uint64_t)h));
        for (int k = 0; k < self->n_inputs; k++)
            if (k != self->constant)
                network_hidden(weights, self, h)[k] =
                    (float)(rng_normal(1, RNG_STREAM(RNG_INIT, h + 1), drawn++) / sqrt(self->n_inputs - 1));
    }
}

/* One step of Adam; state: first and second moments, [2][network_size]. */
static inline void network_step(float *weights, float *state, double correction[2], const float *gradient,
                                const struct network *self, double rate)
{
    size_t n = network_size(self);
    correction[0] *= 0.9;
    correction[1] *= 0.999;
    for (size_t k = 0; k < n; k++) {
        float slope = gradient[k] / NETWORK_BATCH + (float)self->decay * weights[k];
        float *first = &state[k], *second = &state[n + k];
        *first = 0.9F * *first + 0.1F * slope;
        *second = 0.999F * *second + 0.001F * slope * slope;
        weights[k] -= (float)(rate * (*first / (1 - correction[0])) / (sqrt(*second / (1 - correction[1])) + 1e-8));
    }
}

/* Means and deviations of the inputs. */
static inline void network_measure(struct network_examples *examples, const struct network *self)
{
    double square[NETWORK_MAX_INPUTS] = {0}, n = (double)examples->n;
    memset(examples->mean, 0, sizeof examples->mean);
    for (size_t i = 0; i < examples->n; i++)
        for (int k = 0; k < self->n_inputs; k++) {
            double value = k == self->constant ? 1 : examples->rows[i][k];
            examples->mean[k] += value / n;
            square[k] += value * value / n;
        }
    for (int k = 0; k < self->n_inputs; k++)
        examples->scale[k] = 1 / sqrt(fmax(square[k] - examples->mean[k] * examples->mean[k], 1e-6));
}

/* weights[network_size], of the inputs as they are. */
static inline void network_learn(float *weights, const struct network *self, const struct network_examples *examples)
{
    size_t n = network_size(self), per_epoch = examples->n / NETWORK_BATCH, step = 0;
    size_t n_steps = (size_t)self->epochs * per_epoch;
    float *gradient = calloc(3 * n, sizeof *gradient), row[NETWORK_MAX_INPUTS];
    int32_t *order = malloc(examples->n * sizeof *order);
    double correction[2] = {1, 1};
    if (!gradient || !order)
        exit(1);
    network_start(weights, self);
    for (uint32_t epoch = 0; epoch < (uint32_t)self->epochs; epoch++) {
        rng_permutation(order, examples->n, 1, RNG_STREAM(RNG_ORDER, epoch));
        for (size_t at = 0; at < per_epoch; at++, step++) {
            memset(gradient, 0, n * sizeof *gradient);
            for (size_t k = 0; k < NETWORK_BATCH; k++) {
                size_t i = (size_t)order[at * NETWORK_BATCH + k];
                network_standardise(row, self, examples, examples->rows[i]);
                network_add_gradient(gradient, weights, self, row, examples->rows[i] + examples->shares,
                                     examples->weights[i]);
            }
            network_step(weights, gradient + n, correction, gradient, self,
                         self->rate * (1 - (double)step / (double)n_steps));
        }
    }
    network_unstandardise(weights, self, examples);
    free(gradient);
    free(order);
}

/* Numbers of a table, each with six digits; the column of the next one is returned. Weight decay shrinks what no
 * example needs until it is denormal, which is slow to compute with and adds nothing to a score: such weights are
 * written as 0. */
static inline int network_write_number(FILE *stream, int column, float value)
{
    char text[32];
    value = fabsf(value) < NETWORK_LEAST_WEIGHT ? 0 : value;
    int length = snprintf(text, sizeof text, "%.6gF", value);
    if (!strpbrk(text, ".e"))
        length = snprintf(text, sizeof text, "%.6g.0F", value);
    if (column + length + 2 > 118) {
        fputs("\n       ", stream);
        column = 7;
    }
    return column + fprintf(stream, " %s,", text);
}

/* A structure's initialiser without its braces: .linear, .output and .hidden. */
static inline void network_write(FILE *stream, const float *weights, const struct network *self)
{
    int column = 12;
    fputs("    .linear = {", stream);
    for (int k = 0; k < self->n_inputs; k++)
        column = network_write_number(stream, column, weights[k]);
    fputs("},\n    .output = {", stream);
    column = 12;
    for (int h = 0; h < self->n_hidden; h++)
        column = network_write_number(stream, column, weights[self->n_inputs + h]);
    fputs("},\n    .hidden = {\n", stream);
    for (int h = 0; h < self->n_hidden; h++) {
        fputs("        {", stream);
        column = 9;
        for (int k = 0; k < self->n_inputs; k++)
            column = network_write_number(stream, column, network_hidden((float *)weights, self, h)[k]);
        fputs("},\n", stream);
    }
    fputs("    },\n", stream);
}

#endif
