/* Refines the probability map of a network without a model. The blurrier the map's borders are, the more colours and
 * couplings count. Start at clv_refine_probabilities, at the end. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "refine/refine.h"

/* Chosen on the training images of the horses (make bench-maps with MAPS_SPLIT=train). */
#define MIN_PROBABILITY 0.0025F /* probabilities are clipped to MIN_PROBABILITY .. 1 - MIN_PROBABILITY */
#define MAX_EXCESS      0.5F    /* largest distance from 0..1 of a resized probability */
#define ODDS_CLIP       3.0
#define SHARP           2.0 /* pixels of blur up to which borders do not move .. */
#define SOFT            5.0 /* .. and from which on colours count in full */
#define BLUR_WIDTH                                                                                                     \
    2.2567583342 /* 4 / sqrt(pi): the integral of 4 p (1 - p) across an edge blurred by a Gaussian of deviation 1 */

void clv_refine_probabilities_defaults(struct clv_refine_options *options, int32_t n_labels)
{
    clv_refine_defaults(options);
    if (n_labels == 2)
        *options = (struct clv_refine_options){.prior = 8, .nearby = 0.5, .overall = 0.25, .coupling = 1, .rounds = 1};
}

/* The probabilities of one image, label by label. */
struct planes {
    const float *values; /* [n_labels][n]; for two labels only that of label 1 */
    int32_t n_labels, width, height;
    size_t n;
};

static enum clv_status check(const struct planes *self, int32_t n_channels, struct clv_error *err)
{
    int32_t n_planes = self->n_labels == 2 ? 1 : self->n_labels;
    MUST(refine_check_size(self->width, self->height, n_channels, self->n_labels, err));
    for (int32_t a = 0; a < n_planes; a++)
        for (size_t p = 0; p < self->n; p++) {
            float value = self->values[(size_t)a * self->n + p];
            if (!(value >= -MAX_EXCESS && value <= 1 + MAX_EXCESS))
                return fail(err, CLV_ERR_DATA, "pixel (%zu, %zu): its probability of label %d is %g, not in 0..1",
                            p % (size_t)self->width, p / (size_t)self->width, self->n_labels == 2 ? 1 : a,
                            (double)value);
        }
    return CLV_OK;
}

/* Clips values to 0..1, which softmaxes in single precision and cubic resizing exceed. If a value has to be clipped,
 * *clipped becomes a clipped copy, which the caller owns and *self uses. */
static enum clv_status clip(float **clipped, struct planes *self, struct clv_error *err)
{
    size_t n = (self->n_labels == 2 ? 1 : (size_t)self->n_labels) * self->n, inside = 0;
    while (inside < n && self->values[inside] >= 0 && self->values[inside] <= 1)
        inside++;
    if (inside == n)
        return CLV_OK;
    *clipped = array_alloc(n, sizeof **clipped);
    NEED(*clipped);
    for (size_t i = 0; i < n; i++)
        (*clipped)[i] = fminf(fmaxf(self->values[i], 0), 1);
    self->values = *clipped;
    return CLV_OK;
}

/* labels[n] = the most probable labels, the first among equals. */
static void take_most_probable(uint8_t *labels, const struct planes *self)
{
    size_t k = (size_t)self->n_labels;
    for (size_t p = 0; p < self->n; p++)
        labels[p] = k == 2 ? self->values[p] > 0.5F : (uint8_t)refine_most_probable(self->values, k, self->n, p);
}

/* Gives the label of a pixel that has no probability of any label a small one, since clv_refine_labels needs a vote for
 * each pixel's label. Copies the values to *clipped first, unless they are that copy already. */
static enum clv_status fill_unknown(float **clipped, struct planes *self, const uint8_t *labels, struct clv_error *err)
{
    for (size_t p = 0; p < self->n; p++) {
        size_t own = labels[p] * self->n + p;
        if (self->values[own] > 0)
            continue;
        if (!*clipped)
            NEED(*clipped = array_copy(self->values, self->n, (size_t)self->n_labels * sizeof **clipped));
        self->values = *clipped;
        (*clipped)[own] = MIN_PROBABILITY;
    }
    return CLV_OK;
}

/* Returns the probability of the label relative to the sum of it and the next best one. */
static float label_probability(const struct planes *self, size_t p, uint8_t label)
{
    if (self->n_labels == 2)
        return label ? self->values[p] : 1 - self->values[p];
    float next = 0, best = self->values[label * self->n + p];
    for (int32_t a = 0; a < self->n_labels; a++)
        if (a != label)
            next = fmaxf(next, self->values[(size_t)a * self->n + p]);
    return best > 0 ? best / (best + next) : 0.5F;
}

/* Returns the blur of the map's borders in pixels: the sigma of a Gaussian that blurs straight edges equally. 0 if the
 * labels have no border. */
static double measure_blur(const uint8_t *labels, const struct planes *self)
{
    double unsure = 0, length = 0;
    size_t width = (size_t)self->width;
    for (size_t p = 0; p < self->n; p++) {
        double q = (double)label_probability(self, p, labels[p]);
        unsure += 4 * q * (1 - q);
        bool across = p % width + 1 < width && labels[p] != labels[p + 1];
        bool down = p + width < self->n && labels[p] != labels[p + width];
        length += across && down ? 1.4142135623730951 : across || down; /* a diagonal step */
    }
    return length > 0 ? unsure / length / BLUR_WIDTH : 0;
}

/* Returns the factor of the weights of colours and couplings, 0..1, which rises with the blur. */
static double share_of(const uint8_t *labels, const struct planes *self)
{
    return fmin(fmax((measure_blur(labels, self) - SHARP) / (SOFT - SHARP), 0), 1);
}

/* prior[n] = log odds divided by their mean size and softly clipped, so that the scale of a map's log odds does not
 * matter. */
static void scale_odds(float *prior, const struct planes *self)
{
    double size = 0;
    for (size_t p = 0; p < self->n; p++) {
        float inside = fminf(fmaxf(self->values[p], MIN_PROBABILITY), 1 - MIN_PROBABILITY);
        prior[p] = (float)portable_log((double)(inside / (1 - inside)));
        size += fabs((double)prior[p]);
    }
    size = size > 0 ? ODDS_CLIP * size / (double)self->n : 1;
    for (size_t p = 0; p < self->n; p++)
        prior[p] = (float)(ODDS_CLIP * portable_tanh((double)prior[p] / size));
}

enum clv_status clv_refine_share(double *share, const float *probabilities, int32_t n_labels, int32_t width,
                                 int32_t height, struct clv_error *err)
{
    struct planes planes = {probabilities, n_labels, width, height, (size_t)width * (size_t)height};
    OWNED_ARRAY float *clipped = NULL;
    MUST(check(&planes, 3, err));
    MUST(clip(&clipped, &planes, err));
    OWNED_ARRAY uint8_t *labels = array_alloc(planes.n, sizeof *labels);
    NEED(labels);
    take_most_probable(labels, &planes);
    *share = share_of(labels, &planes);
    return CLV_OK;
}

enum clv_status clv_refine_probabilities(uint8_t *labels, const struct clv_image *image, const float *probabilities,
                                         int32_t n_labels, const struct clv_refine_options *options,
                                         struct clv_error *err)
{
    struct clv_refine_options weights;
    struct planes planes = {probabilities, n_labels, image->width, image->height,
                            (size_t)image->width * (size_t)image->height};
    OWNED_ARRAY float *clipped = NULL;
    clv_refine_probabilities_defaults(&weights, n_labels);
    weights = options ? *options : weights;
    MUST(check(&planes, image->channels, err));
    MUST(refine_check_options(&weights, err));
    MUST(clip(&clipped, &planes, err));
    OWNED_ARRAY uint8_t *result = array_alloc(planes.n, sizeof *result);
    OWNED_ARRAY float *prior = n_labels == 2 ? array_alloc(planes.n, sizeof *prior) : NULL;
    NEED(result && (n_labels != 2 || prior));
    take_most_probable(result, &planes);
    double share = options ? 1 : share_of(result, &planes);
    weights.nearby *= share;
    weights.overall *= share;
    weights.coupling *= share;
    if (share > 0 && n_labels == 2) {
        scale_odds(prior, &planes);
        MUST(clv_refine(result, image, prior, NULL, &weights, err));
    } else if (share > 0) {
        MUST(fill_unknown(&clipped, &planes, result, err));
        MUST(clv_refine_labels(result, image, planes.values, n_labels, &weights, err));
    }
    memcpy(labels, result, planes.n);
    return CLV_OK;
}
