/* Computes the feature block fisher: improved Fisher vectors of a patch and its surroundings (Perronnin, Sanchez &
 * Mensink 2010). fisher_init assigns descriptors to the components of a mixture, fisher_fill adds them up. */
#include "feature/blocks/blocks.h"

#include <math.h>
#include <stdio.h>

#include "base/base.h"
#include "feature/words/words.h"

enum { D = MIXTURE_DIMENSIONS, K = MIXTURE_COMPONENTS };

/* Smaller posteriors are ignored, and smaller entries are set to 0, which keeps the sparse rows short. */
static const float MIN_SHARE = 0.01F, MIN_ENTRY = 1e-3F;

int32_t fisher_size(const struct clv_recipe *recipe)
{
    return recipe->n_scales * FISHER_SIZE;
}

void fisher_release(struct fisher *fisher)
{
    for (int s = 0; s < CLV_MAX_SCALES; s++) {
        arrays_free(fisher->scales[s].point, fisher->scales[s].share);
    }
    *fisher = (struct fisher){0};
}

static enum clv_status fill_scale(struct fisher *fisher, int32_t scale, const struct sift_image *sift,
                                  struct clv_error *err)
{
    const struct clv_recipe *recipe = fisher->recipe;
    struct fisher_scale *to = &fisher->scales[scale];
    struct mixture_view view;
    OWNED(sift_grid_release) struct sift_grid grid = {0};
    MUST(sift_image_describe(&grid, sift, recipe->bin_size_px[scale], recipe->step_px, err));
    size_t n = (size_t)grid.n_columns * (size_t)grid.n_rows;
    fisher->n_columns = grid.n_columns;
    fisher->n_rows = grid.n_rows;
    to->point = array_alloc(n, D * sizeof *to->point);
    to->share = array_alloc(n, K * sizeof *to->share);
    NEED(to->point && to->share);
    mixture_view_init(&view, recipe->mixtures[scale]);
    for (size_t i = 0; i < n; i++) {
        mixture_point(to->point + i * D, recipe->mixtures[scale], grid.values + i * CLV_DESCRIPTOR_SIZE);
        mixture_shares(to->share + i * K, &view, to->point + i * D);
    }
    return CLV_OK;
}

enum clv_status fisher_init(struct fisher *fisher, const struct scene *scene, const struct clv_recipe *recipe,
                            struct clv_error *err)
{
    OWNED(fisher_release) struct fisher result = {
        .recipe = recipe, .margin_px = recipe->patch_px / 2, .width = scene->width, .height = scene->height};
    OWNED(sift_image_release) struct sift_image sift = {0};
    MUST(sift_image_init(&sift, scene->rgb, scene->width, scene->height, recipe, err));
    for (int32_t s = 0; s < recipe->n_scales; s++)
        MUST(fill_scale(&result, s, &sift, err));
    *fisher = TAKE(result);
    return CLV_OK;
}

static void add_cell(float *row, const float *mixture, const float *point, const float *share)
{
    for (int k = 0; k < K; k++) {
        if (share[k] < MIN_SHARE)
            continue;
        const float *mean = mixture + MIXTURE_MEAN + k * D, *variance = mixture + MIXTURE_VARIANCE + k * D;
        for (int d = 0; d < D; d++) {
            float off = point[d] - mean[d];
            row[k * D + d] += share[k] * off;
            row[(K + k) * D + d] += share[k] * (off * off / variance[d] - 1);
        }
    }
}

/* Converts the sums of n_cells cells to signed square roots in units of the components' deviations, and scales them to
 * norm 1. */
static void normalise_vector(float *row, const float *mixture, int32_t n_cells)
{
    float square = 0;
    for (int c = 0; c < FISHER_SIZE; c++) {
        int k = c / D % K;
        float unit = 1 / ((float)n_cells * sqrtf(mixture[MIXTURE_WEIGHT + k]));
        unit *= c < K * D ? 1 / sqrtf(mixture[MIXTURE_VARIANCE + c]) : 0.70710678F;
        float size = fabsf(row[c]) * unit;
        row[c] = copysignf(sqrtf(size), row[c]);
        square += size;
    }
    float scale = square > 0 ? 1 / sqrtf(square) : 0;
    for (int c = 0; c < FISHER_SIZE; c++)
        row[c] = fabsf(row[c] * scale) < MIN_ENTRY ? 0 : row[c] * scale;
}

/* Computes the cells first..end-1 along an axis whose first pixel is within the margin around a patch; at least one. */
static void cell_span(int32_t *first, int32_t *end, int32_t patch, const struct clv_patch_grid *grid, int32_t margin_px,
                      int32_t step_px, int32_t n_cells)
{
    int64_t from = (int64_t)patch * grid->step_px - margin_px;
    int64_t to = (int64_t)patch * grid->step_px + grid->size_px + margin_px;
    from = from > 0 ? (from + step_px - 1) / step_px : 0;
    to = (to + step_px - 1) / step_px;
    *end = to < n_cells ? (int32_t)to : n_cells;
    *first = from < *end ? (int32_t)from : *end - 1;
}

double fisher_met(const struct clv_recipe *recipe, double of_node, double of_image)
{
    (void)of_node, (void)of_image;
    return fisher_size(recipe);
}

void fisher_fill(float *row, const struct views *views, int32_t patch)
{
    const struct fisher *fisher = &views->fisher;
    const struct clv_patch_grid *grid = views->grid;
    int32_t x0, x1, y0, y1, step = fisher->recipe->step_px;
    cell_span(&x0, &x1, patch % grid->n_columns, grid, fisher->margin_px, step, fisher->n_columns);
    cell_span(&y0, &y1, patch / grid->n_columns, grid, fisher->margin_px, step, fisher->n_rows);
    for (int32_t s = 0; s < fisher->recipe->n_scales; s++, row += FISHER_SIZE) {
        const struct fisher_scale *from = &fisher->scales[s];
        const float *mixture = fisher->recipe->mixtures[s];
        for (int32_t y = y0; y < y1; y++)
            for (int32_t x = x0; x < x1; x++) {
                size_t cell = (size_t)y * (size_t)fisher->n_columns + (size_t)x;
                add_cell(row, mixture, from->point + cell * D, from->share + cell * K);
            }
        normalise_vector(row, mixture, (y1 - y0) * (x1 - x0));
    }
}

void fisher_name(char *name, size_t size, const struct clv_recipe *recipe, int32_t index)
{
    (void)recipe;
    int32_t within = index % FISHER_SIZE;
    snprintf(name, size, "Fisher vector of scale %d, %s %d of component %d", index / FISHER_SIZE,
             within < K * D ? "mean" : "variance", within % D, within / D % K);
}
