/* Refines borders of two labels at the pixels, after GrabCut (Rother et al. 2004): each round learns local colour
 * models from the labels and cuts again, with contrast-sensitive couplings. Start at refine_two. */
#include "cleave/refine.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "feature/blocks/blocks.h"
#include "refine/refine.h"

#define PRIOR_CLIP 3.0

void clv_refine_defaults(struct clv_refine_options *options)
{
    *options = (struct clv_refine_options){
        .prior = 2, .nearby = 1, .overall = 0.5, .balance = 0.35, .coupling = 2, .rounds = 1};
}

/* State of refining one image. */
struct canvas {
    const struct clv_image *image;
    const struct clv_refine_options *options;
    const struct refine_prior *prior;
    const uint8_t *is_fixed;
    size_t n;
    uint8_t *labels, *cut; /* of the previous round, of this one */
    struct pixel_couplings couplings;
    struct near_colours colours;
    float *score; /* [n_cells] scores of the colour cells */
    float start, certain;
};

static void canvas_release(struct canvas *self)
{
    pixel_couplings_release(&self->couplings);
    arrays_free(self->labels, self->cut, self->score);
    near_colours_release(&self->colours);
}

static enum clv_status canvas_init(struct canvas *self, const uint8_t *labels, struct clv_error *err)
{
    self->n = (size_t)self->image->width * (size_t)self->image->height;
    self->labels = array_copy(labels, self->n, 1);
    self->cut = array_alloc(self->n, 1);
    NEED(self->labels && self->cut);
    MUST(pixel_couplings_init(&self->couplings, self->image, self->options->coupling, err));
    MUST(near_colours_init(&self->colours, self->image, err));
    NEED(self->score = array_alloc(self->colours.n_cells, sizeof *self->score));
    return CLV_OK;
}

static void prior_row(float *row, const struct refine_prior *prior, float weight, int32_t x, int32_t y, int32_t n)
{
    if (prior->of_pixels) {
        const float *values = prior->of_pixels + (size_t)y * (size_t)prior->width + (size_t)x;
        for (int32_t i = 0; i < n; i++)
            row[i] = weight * values[i];
        return;
    }
    const struct clv_superpixels *superpixels = &prior->example->superpixels;
    const int32_t *labels =
        superpixels->labels +
        (ptrdiff_t)working_coordinate(y, prior->example->height, superpixels->height) * superpixels->width;
    for (int32_t i = 0; i < n; i++)
        row[i] = weight * prior->of_nodes[labels[prior->column[x + i]]];
}

static void canvas_scores(const void *context, float *unary, int32_t x, int32_t y, int32_t n)
{
    const struct canvas *self = context;
    size_t p = (size_t)y * (size_t)self->image->width + (size_t)x;
    if (self->prior)
        prior_row(unary, self->prior, (float)self->options->prior, x, y, n);
    for (int32_t i = 0; i < n; i++)
        unary[i] = self->start + (self->prior ? unary[i] : 0);
    for (int32_t i = 0; i < n; i++)
        unary[i] += self->score[near_colours_cell(&self->colours, x + i, y)];
    for (int32_t i = 0; self->is_fixed && i < n; i++)
        if (self->is_fixed[p + (size_t)i])
            unary[i] = self->labels[p + (size_t)i] ? self->certain : -self->certain;
}

static void canvas_row(const void *context, float *unary, float *const coupling[4], int32_t x, int32_t y, int32_t n)
{
    const struct canvas *self = context;
    canvas_scores(self, unary, x, y, n);
    pixel_couplings_row(coupling, &self->couplings, x, y, n);
}

/* One round: learns colours from the labels and cuts again. */
static enum clv_status cut_again(struct canvas *self, size_t n_foreground, int64_t whole, struct clv_error *err)
{
    const struct clv_refine_options *options = self->options;
    const struct pixel_energy energy = {.width = self->image->width,
                                        .height = self->image->height,
                                        .row = canvas_row,
                                        .context = self,
                                        .scores = canvas_scores,
                                        .largest = pixel_couplings_largest(&self->couplings)};
    size_t n_open;
    /* It exceeds the sum of all couplings of a pixel, so a fixed pixel keeps its label. */
    self->certain = (float)(9 * fmax(options->coupling, coupling_at(options->coupling, self->n)) + 1);
    self->start = (float)(options->balance * portable_log((double)(self->n - n_foreground) / (double)n_foreground));
    near_colours_learn(&self->colours, self->labels, 1);
    near_colours_score(self->score, &self->colours, options->nearby, options->overall);
    MUST(pixel_cut(self->cut, &n_open, &energy, self->labels, whole, err));
    uint8_t *before = self->labels;
    self->labels = self->cut;
    self->cut = before;
    return CLV_OK;
}

enum clv_status refine_check_options(const struct clv_refine_options *options, struct clv_error *err)
{
    const struct {
        const char *name;
        double value;
    } weights[] = {{"prior", options->prior},
                   {"nearby", options->nearby},
                   {"overall", options->overall},
                   {"balance", options->balance},
                   {"coupling", options->coupling}};
    for (size_t k = 0; k < sizeof weights / sizeof *weights; k++)
        if (!(weights[k].value >= 0 && weights[k].value <= 1e6))
            return fail(err, CLV_ERR_USAGE, "refining: %s is %g, must be 0..1e6", weights[k].name, weights[k].value);
    FAIL_IF(options->rounds < 1, CLV_ERR_USAGE, "refining: %d rounds, must be 1 or more", options->rounds);
    return CLV_OK;
}

enum clv_status refine_check_size(int32_t width, int32_t height, int32_t n_channels, int32_t n_labels,
                                  struct clv_error *err)
{
    FAIL_IF(n_channels != 3 || width < 1 || height < 1 || (int64_t)width * height > REFINE_MAX_PIXELS, CLV_ERR_USAGE,
            "refining needs 3 channels and at most %d pixels, not %dx%d with %d channels", REFINE_MAX_PIXELS, width,
            height, n_channels);
    FAIL_IF(n_labels < 2 || n_labels > CLV_MAX_LABELS, CLV_ERR_USAGE, "refining: %d labels, must be 2..%d", n_labels,
            CLV_MAX_LABELS);
    return CLV_OK;
}

static enum clv_status check(const uint8_t *labels, const struct clv_image *image, const float *prior,
                             struct clv_error *err)
{
    int32_t width = image->width;
    MUST(refine_check_size(width, image->height, image->channels, 2, err));
    for (int32_t p = 0; p < width * image->height; p++) {
        if (labels[p] > 1)
            return fail(err, CLV_ERR_USAGE, "refining takes labels 0 and 1; pixel (%d, %d) has %d", p % width,
                        p / width, labels[p]);
        if (prior && !isfinite(prior[p]))
            return fail(err, CLV_ERR_DATA, "pixel (%d, %d): its prior is %g", p % width, p / width, (double)prior[p]);
    }
    return CLV_OK;
}

static size_t count_foreground(const uint8_t *labels, size_t n)
{
    size_t count = 0;
    for (size_t p = 0; p < n; p++)
        count += labels[p];
    return count;
}

enum clv_status refine_two(uint8_t *labels, const struct clv_image *image, const struct refine_prior *prior,
                           const uint8_t *is_fixed, const struct clv_refine_options *options, int64_t whole,
                           struct clv_error *err)
{
    struct clv_refine_options defaults;
    clv_refine_defaults(&defaults);
    OWNED(canvas_release) struct canvas canvas = {
        .image = image, .prior = prior, .is_fixed = is_fixed, .options = options ? options : &defaults};
    MUST(refine_check_options(canvas.options, err));
    MUST(check(labels, image, prior ? prior->of_pixels : NULL, err));
    size_t n_foreground = count_foreground(labels, (size_t)image->width * (size_t)image->height);
    MUST(canvas_init(&canvas, labels, err));
    for (int32_t round = 0; round < canvas.options->rounds && n_foreground > 0 && n_foreground < canvas.n; round++) {
        MUST(cut_again(&canvas, n_foreground, whole, err));
        n_foreground = count_foreground(canvas.labels, canvas.n);
    }
    memcpy(labels, canvas.labels, canvas.n);
    return CLV_OK;
}

enum clv_status clv_refine(uint8_t *labels, const struct clv_image *image, const float *prior, const uint8_t *is_fixed,
                           const struct clv_refine_options *options, struct clv_error *err)
{
    const struct refine_prior of_pixels = {.of_pixels = prior, .width = image->width};
    return refine_two(labels, image, prior ? &of_pixels : NULL, is_fixed, options, PIXEL_CUT_WHOLE, err);
}

/* Returns scaled[n_nodes] (see clv_refine_prior), or NULL without memory. */
static float *scale_margins(const struct clv_example *example, const double *margin)
{
    const struct clv_superpixels *superpixels = &example->superpixels;
    double sum = 0, n_pixels = 0;
    float *scaled = array_alloc((size_t)superpixels->n, sizeof *scaled);
    for (int32_t i = 0; scaled && i < superpixels->n; i++) {
        sum += fabs(margin[i]) * (double)example->area[i];
        n_pixels += (double)example->area[i];
    }
    for (int32_t i = 0; scaled && i < superpixels->n; i++)
        scaled[i] = (float)(sum > 0 ? PRIOR_CLIP * portable_tanh(margin[i] * n_pixels / (sum * PRIOR_CLIP)) : 0);
    return scaled;
}

static enum clv_status prior_init(struct refine_prior *prior, const struct clv_example *example, const double *margin,
                                  struct clv_error *err)
{
    *prior = (struct refine_prior){.width = example->width, .example = example};
    prior->of_nodes = scale_margins(example, margin);
    prior->column = array_alloc((size_t)example->width, sizeof *prior->column);
    NEED(prior->of_nodes && prior->column);
    for (int32_t x = 0; x < example->width; x++)
        prior->column[x] = working_coordinate(x, example->width, example->superpixels.width);
    return CLV_OK;
}

static void prior_release(struct refine_prior *prior)
{
    arrays_free(prior->of_nodes, prior->column);
}

enum clv_status refine_by_margins(uint8_t *labels, const struct clv_image *image, const struct clv_example *example,
                                  const double *margin, const struct clv_refine_options *options, struct clv_error *err)
{
    OWNED(prior_release) struct refine_prior prior = {0};
    MUST(prior_init(&prior, example, margin, err));
    return refine_two(labels, image, &prior, NULL, options, PIXEL_CUT_WHOLE, err);
}

enum clv_status clv_refine_prior(float *prior, const struct clv_example *example, const double *margin,
                                 struct clv_error *err)
{
    OWNED(prior_release) struct refine_prior nodes = {0};
    MUST(prior_init(&nodes, example, margin, err));
    for (int32_t y = 0; y < example->height; y++)
        prior_row(prior + (size_t)y * (size_t)example->width, &nodes, 1, 0, y, example->width);
    return CLV_OK;
}
