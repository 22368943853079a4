/* Decodes fields whose graphs have loops, by belief propagation and TRW-S with increasing damping. It keeps the
 * best of several candidates; the table at the end of bp.h lists them. Start at loopy_decode. */
#include "infer/bp/bp.h"

#include <math.h>
#include <string.h>

#include "base/base.h"

/* Messages may oscillate on loops. Damping stops most of that, the limit of iterations the rest. */
#define TOLERANCE      1e-4
#define MAX_ITERATIONS 200

/* Tried in turn until messages converge; max-product oscillates more than sum-product. */
static const double dampings[] = {0, 0.3, 0.6};
#define N_DAMPINGS (sizeof dampings / sizeof *dampings)

void loopy_release(struct loopy *self)
{
    clv_bp_free(self->bp);
    array_free(self->labels);
    *self = (struct loopy){0};
}

static struct clv_bp_options options_of(enum clv_bp_mode mode, double temperature, const int32_t *near)
{
    struct clv_bp_options options;
    clv_bp_defaults(&options);
    options.mode = mode;
    options.temperature = temperature;
    options.near = near;
    options.tolerance = TOLERANCE;
    options.max_iterations = MAX_ITERATIONS;
    return options;
}

/* Runs with each damping until messages converge. y (or NULL) and *value get the result of the run that converged, or
 * of the run with the highest value if none did. */
static enum clv_status run(struct loopy *self, int32_t *y, double *value, const struct clv_field *field,
                           struct clv_bp_options options, struct clv_error *err)
{
    size_t n = (size_t)field->n_nodes;
    int32_t *labels = self->labels + 2 * n;
    struct clv_bp_result result = {0};
    *value = -INFINITY;
    for (size_t k = 0; k < N_DAMPINGS && !result.is_converged; k++) {
        options.damping = dampings[k];
        MUST(clv_bp_run(self->bp, NULL, labels, &result, field, &options, err));
        if (k > 0 && !result.is_converged && result.value <= *value)
            continue;
        *value = result.value;
        if (y)
            memcpy(y, labels, n * sizeof *y);
    }
    return CLV_OK;
}

static enum clv_status map(struct loopy *self, int32_t *y, const struct clv_field *field, struct clv_error *err)
{
    const struct clv_bp_options limits = options_of(CLV_BP_MAX, 1, NULL);
    struct clv_trws_result found;
    int32_t *other = self->labels;
    double value;
    MUST(clv_bp_trws(self->bp, y, &found, field, &limits, err));
    if (found.bound - found.score <= TOLERANCE)
        return CLV_OK;
    MUST(run(self, other, &value, field, options_of(CLV_BP_MAX, 1, y), err));
    if (value > found.score)
        memcpy(y, other, (size_t)field->n_nodes * sizeof *y);
    return CLV_OK;
}

/* Sets y to the most probable labels by sum-product, started from zero messages or near a labelling, whichever has the
 * higher value. */
static enum clv_status modes(struct loopy *self, int32_t *y, const struct clv_field *field, double temperature,
                             const int32_t *near, struct clv_error *err)
{
    int32_t *other = self->labels;
    double value, value_near;
    MUST(run(self, y, &value, field, options_of(CLV_BP_SUM, temperature, NULL), err));
    MUST(run(self, other, &value_near, field, options_of(CLV_BP_SUM, temperature, near), err));
    if (value_near > value)
        memcpy(y, other, (size_t)field->n_nodes * sizeof *y);
    return CLV_OK;
}

/* The value T log sum_h exp(f(y, h) / T) of visible nodes y, which marginal MAP maximises. */
struct marginal {
    const struct clv_field *field;
    const uint8_t *is_visible; /* [n_nodes] */
    double temperature;
};

/* Computes the value of y's visible labels. Hidden labels of y become CLV_UNKNOWN. */
static enum clv_status value_of(double *value, struct loopy *self, int32_t *y, const struct marginal *marginal,
                                struct clv_error *err)
{
    struct clv_bp_options options = options_of(CLV_BP_SUM, marginal->temperature, NULL);
    for (int32_t i = 0; i < marginal->field->n_nodes; i++)
        y[i] = marginal->is_visible[i] ? y[i] : CLV_UNKNOWN;
    options.label = y;
    return run(self, NULL, value, marginal->field, options, err);
}

/* Replaces y by `other` if that has a higher value. */
static enum clv_status compare(double *best, int32_t *y, struct loopy *self, int32_t *other,
                               const struct marginal *marginal, struct clv_error *err)
{
    double value;
    MUST(value_of(&value, self, other, marginal, err));
    if (value > *best) {
        *best = value;
        memcpy(y, other, (size_t)marginal->field->n_nodes * sizeof *y);
    }
    return CLV_OK;
}

static enum clv_status marginal_map(struct loopy *self, int32_t *y, const struct marginal *marginal,
                                    struct clv_error *err)
{
    const struct clv_field *field = marginal->field;
    int32_t *other = self->labels + field->n_nodes;
    double best = -INFINITY, unused;
    struct clv_bp_options options = options_of(CLV_BP_MIXED, marginal->temperature, y);
    options.is_visible = marginal->is_visible;
    MUST(map(self, y, field, err));
    MUST(modes(self, other, field, marginal->temperature, y, err));
    MUST(value_of(&best, self, y, marginal, err));
    MUST(compare(&best, y, self, other, marginal, err));
    MUST(run(self, other, &unused, field, options, err));
    MUST(compare(&best, y, self, other, marginal, err));
    memcpy(other, y, (size_t)field->n_nodes * sizeof *y);
    options = options_of(CLV_BP_SUM, marginal->temperature, NULL);
    options.label = other;
    return run(self, y, &unused, field, options, err);
}

enum clv_status loopy_decode(struct loopy *self, int32_t *y, const struct clv_field *field, const uint8_t *is_visible,
                             const struct clv_decoding *decoding, struct clv_error *err)
{
    size_t n = (size_t)field->n_nodes;
    if (!self->bp)
        MUST(clv_bp_new(&self->bp, err));
    NEED(array_reserve((void **)&self->labels, &self->capacity, 3 * n, sizeof *self->labels) == 0);
    if (decoding->rule == CLV_DECODE_MARGINAL_MAP && is_visible && memchr(is_visible, 0, n))
        return marginal_map(self, y, &(struct marginal){field, is_visible, decoding->hidden_temperature}, err);
    int32_t *near = self->labels + n;
    if (decoding->rule != CLV_DECODE_MARGINALS)
        return map(self, y, field, err);
    MUST(map(self, near, field, err));
    return modes(self, y, field, 1, near, err);
}
