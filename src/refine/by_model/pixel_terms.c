/* Computes the terms of the pixel score one plane at a time: the node's margin, colours of the whole image,
 * colours nearby, and each map blurred three times. Start at pixel_terms, at the end. */
#include "refine/by_model/by_model.h"

#include <math.h>

#include "base/base.h"
#include "cleave/refine.h"
#include "data/maps/maps.h"
#include "refine/refine.h"

/* Standard deviations of a map's blurred terms, in pixels of an image of 256 x 256: none, about the size of details
 * that a low-resolution network misses, and the size of a pixel's surroundings. */
static const double spreads[TERMS_A_MAP] = {0, 3, 20};
#define REFERENCE_SIDE 256.0

static enum clv_status take_nodes(float *plane, const struct segmented *self, struct clv_error *err)
{
    if (self->margin)
        return clv_refine_prior(plane, self->example, self->margin, err);
    OWNED_ARRAY double *margin = array_alloc((size_t)self->example->problem.n_nodes, sizeof *margin);
    NEED(margin);
    MUST(clv_oracle_margins(self->oracle, margin, self->y, err));
    return clv_refine_prior(plane, self->example, margin, err);
}

/* Fills the plane with the scores of near_colours.c, or with 0 if the painted labels lack foreground or background. */
static enum clv_status take_nearby(float *plane, const struct segmented *self, struct clv_error *err)
{
    OWNED(near_colours_release) struct near_colours colours = {0};
    int32_t width = self->image->width;
    size_t n = (size_t)width * (size_t)self->image->height, n_foreground = 0;
    for (size_t p = 0; p < n; p++) {
        n_foreground += self->painted[p] == 1;
        plane[p] = 0;
    }
    if (n_foreground == 0 || n_foreground == n)
        return CLV_OK;
    MUST(near_colours_init(&colours, self->image, err));
    OWNED_ARRAY float *score = array_alloc(colours.n_cells, sizeof *score);
    NEED(score);
    near_colours_learn(&colours, self->painted, 1);
    near_colours_score(score, &colours, 1, 0);
    for (int32_t y = 0; y < self->image->height; y++)
        for (int32_t x = 0; x < width; x++)
            plane[(ptrdiff_t)y * width + x] = score[near_colours_cell(&colours, x, y)];
    return CLV_OK;
}

/* Computes the terms of one map: its margin with increasing blur, interpolated at the image's pixels. */
static enum clv_status use_map(float *plane, int32_t m, const struct segmented *self, pixel_term_use *use,
                               void *context, struct clv_error *err)
{
    int32_t width = self->image->width, height = self->image->height;
    double side = sqrt((double)width * (double)height) / REFERENCE_SIDE;
    OWNED(clv_map_release) struct clv_map margin = {0};
    OWNED(map_grid_release) struct map_grid grid = {0};
    MUST(map_margin(&margin, &self->maps[m], m, self->model, err));
    MUST(map_grid_init(&grid, margin.width, margin.height, width, height, err));
    double done = 0; /* variances of blurs one after the other add up */
    for (int32_t k = 0; k < TERMS_A_MAP; k++) {
        double more = side * sqrt(spreads[k] * spreads[k] - done * done);
        done = spreads[k];
        if (k)
            MUST(map_blur(&margin, more * margin.width / width, more * margin.height / height, err));
        map_sample(plane, &grid, margin.values);
        use(context, TERM_MAPS + m * TERMS_A_MAP + k, plane);
    }
    return CLV_OK;
}

enum clv_status pixel_terms(const struct segmented *self, bool is_nearby, pixel_term_use *use, void *context,
                            struct clv_error *err)
{
    OWNED_ARRAY float *plane = array_alloc((size_t)self->image->width, (size_t)self->image->height * sizeof *plane);
    NEED(plane);
    MUST(take_nodes(plane, self, err));
    use(context, TERM_NODES, plane);
    MUST(fine_colours_ratio(plane, self->image, self->painted, err));
    use(context, TERM_COLOURS, plane);
    if (is_nearby) {
        MUST(take_nearby(plane, self, err));
        use(context, TERM_NEARBY, plane);
    }
    for (int32_t m = 0; m < self->model->recipe.n_maps; m++)
        MUST(use_map(plane, m, self, use, context, err));
    return CLV_OK;
}
