#include "cleave/refine.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/maths.h"
#include "cleave/grid.h"
#include "feature/blocks/working.h"
#include "refine/near_colours.h"
#include "refine/pixel_couplings.h"

#define MAX_PIXELS (1 << 26)
#define PRIOR_CLIP 3.0

void clv_refine_defaults(struct clv_refine_options *options)
{
    *options = (struct clv_refine_options){
        .prior = 2, .nearby = 1, .overall = 0.5, .balance = 0.35, .coupling = 2, .rounds = 1};
}

/* Pixels and what belongs to each. */
struct canvas {
    int32_t width, height;
    size_t n;
    float *unary, *coupling[4];
    uint8_t *labels; /* of this round */
    struct near_colours colours;
};

static void canvas_release(struct canvas *self)
{
    pixel_couplings_release(self->coupling);
    array_free(self->unary);
    array_free(self->labels);
    near_colours_release(&self->colours);
}

static enum clv_status canvas_init(struct canvas *self, const uint8_t *labels, const struct clv_image *image,
                                   double coupling, struct clv_error *err)
{
    self->width = image->width;
    self->height = image->height;
    self->n = (size_t)image->width * (size_t)image->height;
    self->unary = array_alloc(self->n, sizeof *self->unary);
    self->labels = array_copy(labels, self->n, 1);
    enum clv_status status = self->unary && self->labels ? CLV_OK : fail_memory(err);
    if (status == CLV_OK)
        status = pixel_couplings_init(self->coupling, image, coupling, err);
    return status == CLV_OK ? near_colours_init(&self->colours, image, err) : status;
}

/* One round: learns colours from the labels and cuts anew. */
static enum clv_status cut_again(struct canvas *self, size_t n_figure, const float *prior, const uint8_t *is_fixed,
                                 const struct clv_refine_options *options, struct clv_error *err)
{
    struct clv_grid grid = {.width = self->width, .height = self->height, .n_neighbours = 8, .unary = self->unary};
    /* More than all couplings of a pixel together, which decides it. */
    float certain = (float)(9 * fmax(options->coupling, coupling_at(options->coupling, self->n)) + 1);
    float start = (float)(options->balance * portable_log((double)(self->n - n_figure) / (double)n_figure));
    near_colours_learn(&self->colours, self->labels);
    for (size_t p = 0; p < self->n; p++)
        self->unary[p] = start + (prior ? (float)options->prior * prior[p] : 0);
    near_colours_add(self->unary, &self->colours, options->nearby, options->overall);
    for (size_t p = 0; is_fixed && p < self->n; p++)
        if (is_fixed[p])
            self->unary[p] = self->labels[p] ? certain : -certain;
    memcpy(grid.coupling, self->coupling, sizeof self->coupling);
    return clv_grid_map(self->labels, &grid, err);
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
    if (options->rounds < 1)
        return fail(err, CLV_ERR_USAGE, "refining: %d rounds, must be 1 or more", options->rounds);
    return CLV_OK;
}

static enum clv_status check(const uint8_t *labels, const struct clv_image *image, const float *prior,
                             struct clv_error *err)
{
    int32_t width = image->width;
    if (image->channels != 3 || width < 1 || image->height < 1 || (int64_t)width * image->height > MAX_PIXELS)
        return fail(err, CLV_ERR_USAGE, "refining needs 3 channels and at most %d pixels, not %dx%d with %d channels",
                    MAX_PIXELS, width, image->height, image->channels);
    for (int32_t p = 0; p < width * image->height; p++) {
        if (labels[p] > 1)
            return fail(err, CLV_ERR_USAGE, "refining knows labels 0 and 1; pixel (%d, %d) has %d", p % width,
                        p / width, labels[p]);
        if (prior && !isfinite(prior[p]))
            return fail(err, CLV_ERR_DATA, "pixel (%d, %d): its prior is %g", p % width, p / width, (double)prior[p]);
    }
    return CLV_OK;
}

static size_t count_figure(const uint8_t *labels, size_t n)
{
    size_t count = 0;
    for (size_t p = 0; p < n; p++)
        count += labels[p];
    return count;
}

enum clv_status clv_refine(uint8_t *labels, const struct clv_image *image, const float *prior, const uint8_t *is_fixed,
                           const struct clv_refine_options *options, struct clv_error *err)
{
    struct clv_refine_options defaults;
    struct canvas canvas = {0};
    clv_refine_defaults(&defaults);
    options = options ? options : &defaults;
    enum clv_status status = refine_check_options(options, err);
    if (status == CLV_OK)
        status = check(labels, image, prior, err);
    if (status != CLV_OK)
        return status;
    size_t n_figure = count_figure(labels, (size_t)image->width * (size_t)image->height);
    status = canvas_init(&canvas, labels, image, options->coupling, err);
    for (int32_t round = 0; status == CLV_OK && round < options->rounds && n_figure > 0 && n_figure < canvas.n;
         round++) {
        status = cut_again(&canvas, n_figure, prior, is_fixed, options, err);
        n_figure = count_figure(canvas.labels, canvas.n);
    }
    if (status == CLV_OK)
        memcpy(labels, canvas.labels, canvas.n);
    canvas_release(&canvas);
    return status;
}

enum clv_status clv_refine_prior(float *prior, const struct clv_example *example, const double *margin,
                                 struct clv_error *err)
{
    const struct clv_superpixels *superpixels = &example->superpixels;
    double sum = 0, n_pixels = 0;
    float *scaled = array_alloc((size_t)superpixels->n, sizeof *scaled);
    if (!scaled)
        return fail_memory(err);
    for (int32_t i = 0; i < superpixels->n; i++) {
        sum += fabs(margin[i]) * (double)example->volume[i];
        n_pixels += (double)example->volume[i];
    }
    for (int32_t i = 0; i < superpixels->n; i++)
        scaled[i] = (float)(sum > 0 ? PRIOR_CLIP * portable_tanh(margin[i] * n_pixels / (sum * PRIOR_CLIP)) : 0);
    for (int32_t y = 0; y < example->height; y++) {
        int32_t row = working_coordinate(y, example->height, superpixels->height) * superpixels->width;
        for (int32_t x = 0; x < example->width; x++)
            prior[(size_t)y * (size_t)example->width + (size_t)x] =
                scaled[superpixels->labels[row + working_coordinate(x, example->width, superpixels->width)]];
    }
    array_free(scaled);
    return CLV_OK;
}
