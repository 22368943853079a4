/* Labels weak examples by a model: fixes known labels in a field, samples or maximises it, and computes loss weights as
 * for a mask. Start at partial_marginals. */
#include "learn/weak/weak.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "cleave/features.h"
#include "feature/example/example.h"

/* A score that no difference of Gumbel variables reaches in practice: P(> 60) = e^-60. */
#define BEYOND_NOISE 60

/* Limits for expect_areas. A rare label shrinks slowly over many rounds and would vanish without a minimum. */
#define MAX_ROUNDS 200
#define MIN_AREA   0.01 /* fraction of the image's area, added to each label's */

/* Returns the most that an edge can add to the score of one label at an end, compared with another label there. */
static double most_of_edge(const struct clv_field *field, int32_t e)
{
    if (field->form != CLV_PAIRWISE_FULL)
        return field->pairwise[e];
    const double *table = clv_field_table(field, e);
    double least = table[0], most = table[0];
    for (int32_t k = 1; k < field->n_labels * field->n_labels; k++) {
        least = fmin(least, table[k]);
        most = fmax(most, table[k]);
    }
    return most - least;
}

void partial_force(struct clv_field *field, const int32_t *given)
{
    size_t n_labels = (size_t)field->n_labels;
    for (size_t i = 0; given && i < (size_t)field->n_nodes; i++) {
        if (given[i] == CLV_UNKNOWN)
            continue;
        if (n_labels == 2) {
            field->unary[i] = given[i] ? BEYOND_NOISE : -BEYOND_NOISE;
            continue;
        }
        double *unary = field->unary + i * n_labels, best = -INFINITY;
        for (size_t b = 0; b < n_labels; b++)
            best = fmax(best, unary[b]);
        unary[given[i]] = best + BEYOND_NOISE;
    }
    for (int32_t e = 0; given && e < field->n_edges; e++) {
        double most = most_of_edge(field, e);
        for (int end = 0; end < 2; end++) {
            int32_t i = field->edges[e][end];
            if (given[i] == CLV_UNKNOWN)
                continue;
            if (n_labels == 2)
                field->unary[i] += given[i] ? most : -most;
            else
                field->unary[(size_t)i * n_labels + (size_t)given[i]] += most;
        }
    }
}

enum clv_status partial_load(struct decoder *decoder, const struct partial_example *example, struct clv_error *err)
{
    MUST(decoder_load(decoder, example->problem, example->layout, example->w, err));
    partial_force(&decoder->field, example->given);
    return CLV_OK;
}

/* Computes counts[n_nodes][n_labels] = V_i P(y_i = b), the expected pixels of each label, from the marginals q of a
 * model that was trained with the loss's weights. That training weighs pixels of label b by theta(b) ~ 1 / V_b, so the
 * model predicts q_i(b) ~ P(y_i = b) / V_b. So sum_i V_i q_i(b), as in Shpakova et al. 2018, is not V_b: it
 * overestimates the smaller of two areas, and more so each time the images are labelled again. The areas that agree
 * with P are found as in Saerens, Latinne, Decaestecker 2002:
 *     P(y_i = b) = q_i(b) V_b / sum_c q_i(c) V_c,   V_b = sum_i V_i (P(y_i = b) + MIN_AREA) */
static void expect_areas(float *counts, const float *q, const struct clv_problem *problem, size_t n_labels)
{
    double total[255], next[255], area = 0;
    for (int32_t i = 0; i < problem->n_nodes; i++)
        area += (double)problem->area[i];
    for (size_t b = 0; b < n_labels; b++)
        total[b] = 1;
    for (int round = 0, is_done = 0; round < MAX_ROUNDS && !is_done; round++) {
        is_done = 1;
        for (size_t b = 0; b < n_labels; b++)
            next[b] = MIN_AREA * area;
        for (size_t i = 0; i < (size_t)problem->n_nodes; i++) {
            double sum = 0;
            for (size_t b = 0; b < n_labels; b++)
                sum += (double)q[i * n_labels + b] * total[b];
            for (size_t b = 0; b < n_labels; b++) {
                double share = sum > 0 ? (double)q[i * n_labels + b] * total[b] / sum : (double)q[i * n_labels + b];
                counts[i * n_labels + b] = (float)(share * (double)problem->area[i]);
                next[b] += share * (double)problem->area[i];
            }
        }
        for (size_t b = 0; b < n_labels; b++) {
            is_done &= fabs(next[b] - total[b]) <= 1e-6 * total[b];
            total[b] = next[b];
        }
    }
}

/* Replaces q in weight[n_nodes][n_labels] by loss weights, which balanced_theta computes from the expected pixels of
 * each label. As published (Shpakova et al. 2018, whose superpixels all have one size) these are V_i q_i(b), V_b is
 * their sum over nodes, and the weights are q_i(b) theta_i(b). Otherwise they come from expect_areas. */
static enum clv_status weigh(float *weight, const struct clv_problem *problem, size_t n_labels, bool is_published,
                             struct clv_error *err)
{
    OWNED_ARRAY float *counts = array_alloc((size_t)problem->n_nodes * n_labels, sizeof *counts);
    NEED(counts);
    if (is_published)
        for (size_t k = 0; k < (size_t)problem->n_nodes * n_labels; k++)
            counts[k] = weight[k] * problem->area[k / n_labels];
    else
        expect_areas(counts, weight, problem, n_labels);
    balanced_theta(weight, counts, problem->n_nodes, (int32_t)n_labels);
    return CLV_OK;
}

/* Sets weight[n_labels] to q^sharpness, normalised. Returns the most probable label. */
static int32_t sharpen(float *weight, const double *q, size_t n_labels, double sharpness)
{
    double sum = 0;
    size_t best = 0;
    for (size_t b = 1; b < n_labels; b++)
        best = q[b] > q[best] ? b : best;
    for (size_t b = 0; b < n_labels; b++)
        sum += portable_pow(q[b] / q[best], sharpness);
    for (size_t b = 0; b < n_labels; b++)
        weight[b] = (float)(portable_pow(q[b] / q[best], sharpness) / sum);
    return (int32_t)best;
}

enum clv_status partial_weigh(struct partial_labels labels, const double *q, const struct clv_problem *problem,
                              const struct clv_weight_layout *layout, const struct partial_options *options,
                              struct clv_error *err)
{
    size_t n_labels = (size_t)layout->n_labels;
    for (size_t i = 0; i < (size_t)problem->n_nodes; i++)
        labels.label[i] = sharpen(labels.weight + i * n_labels, q + i * n_labels, n_labels, options->sharpness);
    return options->weighted ? weigh(labels.weight, problem, n_labels, options->is_published, err) : CLV_OK;
}

enum clv_status partial_marginals(struct partial_labels labels, struct decoder *decoder,
                                  const struct partial_example *example, const struct partial_options *options,
                                  uint64_t seed, struct clv_error *err)
{
    OWNED_ARRAY double *q =
        array_alloc((size_t)example->problem->n_nodes * (size_t)example->layout->n_labels, sizeof *q);
    NEED(q);
    MUST(partial_load(decoder, example, err));
    MUST(clv_perturbed_marginals(decoder->oracle, q, NULL, NULL, &decoder->field, seed, options->n_samples, err));
    return partial_weigh(labels, q, example->problem, example->layout, options, err);
}

enum clv_status partial_map(int32_t *label, struct decoder *decoder, const struct partial_example *example,
                            struct clv_error *err)
{
    MUST(partial_load(decoder, example, err));
    return clv_oracle_map(decoder->oracle, label, NULL, &decoder->field, err);
}
