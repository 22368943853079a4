/* Dense SIFT (Lowe 2004) with a flat window: gradient magnitudes, shared between the two nearest of 8 orientations, are
 * summed in 4 x 4 spatial bins under triangular windows that reach from one bin's centre to the next, weighted per bin
 * by a Gaussian of two bins, normalised, clamped at 0.2, normalised again. VLFeat's vl_dsift (sift_vlfeat.c) is the
 * reference; this one is several times as fast. Neither smooths the image first, which did not improve segmentations.
 *
 * A triangle of half-width B is a box of B convolved with itself, so its sums are second differences of second-order
 * running sums: with P the running sum of f and Q that of P,
 *
 *     sum_u (B - |u - q|) f(u) = Q[q + B - 1] - 2 Q[q - 1] + Q[q - B - 1],
 *
 * along x and along y. All arithmetic is in unsigned 32 bits: running sums wrap around, but their differences are exact
 * if the sum of the window fits, and the result is the same on every machine. Start at sift_integral_init and
 * sift_extract. */
#include "feature/words/words.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/machine.h"

enum { N = SIFT_ORIENTATIONS, BINS = 4, LUMA_ONE = SIFT_LUMA_ONE };

/* One value for each orientation. */
typedef uint32_t sums __attribute__((vector_size(N * sizeof(uint32_t))));
typedef int32_t whole __attribute__((vector_size(N * sizeof(int32_t))));
typedef float real __attribute__((vector_size(N * sizeof(float))));

/* Fixed-point gradients in steps of 1/16 grey level. The sum under the largest window is at most 16 x 255 / sqrt(2) x
 * 24^4 < 2^31. */
static const float STEPS = 16.0f;
static const float GRADIENT_SCALE = STEPS / (2 * LUMA_ONE);
/* Descriptors with a smaller norm of mean gradients, in grey levels, are noise and are set to 0. */
static const float FLAT_NORM = 0.1f;
static const float CLAMP = 0.2f;
static const float BYTE_SCALE = 512.0f; /* bytes per unit of a unit descriptor */

void sift_integral_release(struct sift_integral *integral)
{
    array_free(integral->sum);
    *integral = (struct sift_integral){0};
}

void sift_grid_release(struct sift_grid *grid)
{
    array_free(grid->values);
    *grid = (struct sift_grid){0};
}

/* Computes luma[width] in 1/LUMA_ONE grey levels. */
static void luma_row(int32_t *luma, const uint8_t *rgb, int32_t width)
{
    for (int32_t x = 0; x < width; x++)
        luma[x] = sift_luma(rgb + 3 * x);
}

/* Computes gradient[width][N]: the magnitude at each pixel, shared between its two nearest orientations k x 45 degrees,
 * linearly in the angle. One of the two is an axis, the other a diagonal. */
static void gradient_row(uint32_t *gradient, const int32_t *above, const int32_t *luma, const int32_t *below,
                         int32_t width)
{
    memset(gradient, 0, (size_t)width * N * sizeof *gradient);
    for (int32_t x = 0; x < width; x++) {
        int32_t gx = luma[x + 1 < width ? x + 1 : x] - luma[x > 0 ? x - 1 : x], gy = below[x] - above[x];
        float ax = fabsf((float)gx), ay = fabsf((float)gy);
        float large = ax > ay ? ax : ay, small = ax > ay ? ay : ax;
        float ratio = small / (large > 1 ? large : 1);
        float diagonal_share = ratio * (1 + 0.3476f * (1 - ratio)); /* atan(ratio) / 45 degrees, within 0.005 */
        float magnitude = sqrtf(ax * ax + ay * ay) * GRADIENT_SCALE;
        uint32_t on_diagonal = (uint32_t)(magnitude * diagonal_share + 0.5f);
        uint32_t on_axis = (uint32_t)(magnitude * (1 - diagonal_share) + 0.5f);
        int axis = ax > ay ? (gx < 0 ? 4 : 0) : (gy < 0 ? 6 : 2);
        int diagonal = gy < 0 ? (gx < 0 ? 5 : 7) : (gx < 0 ? 3 : 1);
        gradient[x * N + axis] = on_axis;
        gradient[x * N + diagonal] = on_diagonal;
    }
}

/* Adds one row of gradients to the integral: second running sums along x, which are added along y to first_row, the
 * first running sums of each column, and then to row, the second ones. gradient is NULL beyond the image. */
FOR_EACH_MACHINE static void integrate_row(uint32_t *restrict row, uint32_t *restrict first_row,
                                           const uint32_t *restrict row_above, const uint32_t *restrict gradient,
                                           int32_t margin, int32_t width, int32_t row_pixels)
{
    sums p = {0}, q = {0};
    for (int32_t x = 0; x < row_pixels; x++) {
        int32_t at = x - margin;
        if (gradient && at >= 0 && at < width)
            p += *(const sums *)(gradient + (size_t)at * N);
        q += p;
        sums *first = (sums *)(first_row + (size_t)x * N);
        *first += q;
        *(sums *)(row + (size_t)x * N) = *(const sums *)(row_above + (size_t)x * N) + *first;
    }
}

/* An integral, and the state that its next row is computed from. */
struct integration {
    struct sift_integral integral;
    const uint8_t *rgb;
    uint32_t *first;    /* [row_pixels][N] first running sums of the columns */
    uint32_t *gradient; /* [width][N] */
    int32_t *luma;      /* [3][width] of the rows around the next one */
    int32_t n_rows;     /* of the integral, with margins */
    int32_t n_done;
};

static void integration_release(struct integration *self)
{
    sift_integral_release(&self->integral);
    arrays_free(self->first, self->gradient, self->luma);
    *self = (struct integration){0};
}

/* Centres of bins are up to 3/2 bins from a cell's centre, and windows reach one bin further. */
int32_t sift_margin(const struct clv_recipe *recipe)
{
    int32_t largest = 1;
    for (int32_t s = 0; s < recipe->n_scales; s++)
        largest = larger(recipe->bin_size_px[s], largest);
    return 5 * largest / 2 + 2;
}

/* Starts an integral of which the last n_kept rows are stored; 0: all rows. */
static enum clv_status integration_init(struct integration *self, const uint8_t *rgb, int32_t width, int32_t height,
                                        const struct clv_recipe *recipe, int32_t n_kept, struct clv_error *err)
{
    /* The last cell may extend beyond the image by a step. */
    int32_t margin = sift_margin(recipe), n_rows = height + 2 * margin + recipe->step_px;
    int32_t row_pixels = width + 2 * margin + recipe->step_px, n_stored = n_kept ? smaller(n_kept, n_rows) : n_rows;
    size_t row_size = (size_t)row_pixels * N;
    OWNED(integration_release) struct integration result = {
        .integral = {width, height, margin, row_pixels, n_stored, NULL},
        .rgb = rgb,
        .n_rows = n_rows,
        .n_done = margin};
    result.integral.sum = array_zalloc_aligned((size_t)n_stored * row_size, sizeof *result.integral.sum);
    result.first = array_zalloc_aligned(row_size, sizeof *result.first);
    result.gradient = array_zalloc_aligned((size_t)width * N, sizeof *result.gradient);
    result.luma = array_alloc((size_t)width * 3, sizeof *result.luma);
    NEED(result.integral.sum && result.first && result.gradient && result.luma);
    luma_row(result.luma, rgb, width);
    *self = TAKE(result);
    return CLV_OK;
}

static uint32_t *integral_row(const struct sift_integral *integral, int32_t row)
{
    return integral->sum + (size_t)(row % integral->n_stored) * (size_t)integral->row_pixels * N;
}

/* Computes the rows before `end`. */
static void integration_advance(struct integration *self, int32_t end)
{
    const struct sift_integral *integral = &self->integral;
    int32_t width = integral->width, height = integral->height;
    size_t size = (size_t)width;
    for (; self->n_done < end; self->n_done++) {
        int32_t y = self->n_done - integral->margin;
        if (y + 1 < height)
            luma_row(self->luma + (size_t)((y + 1) % 3) * size, self->rgb + (size_t)(y + 1) * size * 3, width);
        if (y < height) {
            int32_t above = y > 0 ? y - 1 : y, below = y + 1 < height ? y + 1 : y;
            gradient_row(self->gradient, self->luma + (size_t)(above % 3) * size, self->luma + (size_t)(y % 3) * size,
                         self->luma + (size_t)(below % 3) * size, width);
        }
        integrate_row(integral_row(integral, self->n_done), self->first, integral_row(integral, self->n_done - 1),
                      y < height ? self->gradient : NULL, integral->margin, width, integral->row_pixels);
    }
}

enum clv_status sift_integral_init(struct sift_integral *integral, const uint8_t *rgb, int32_t width, int32_t height,
                                   const struct clv_recipe *recipe, struct clv_error *err)
{
    *integral = (struct sift_integral){0};
    OWNED(integration_release) struct integration integration = {0};
    MUST(integration_init(&integration, rgb, width, height, recipe, 0, err));
    integration_advance(&integration, integration.n_rows);
    *integral = TAKE(integration.integral);
    return CLV_OK;
}

/* *v = min(*v, high) in each lane. */
static inline __attribute__((always_inline)) void limit(real *v, float high)
{
    real limits = (real){0} + high;
    whole keep = *v < limits;
    *v = (real)((keep & (whole)*v) | (~keep & (whole)limits));
}

/* Normalises, clamps, normalises again and rounds one descriptor. norm_scale converts its norm to grey levels. */
static inline __attribute__((always_inline)) void finish_descriptor(uint8_t *values, const real *bins, float norm_scale)
{
    real square = {0};
    for (int b = 0; b < BINS * BINS; b++)
        square += bins[b] * bins[b];
    float total = 0;
    for (int k = 0; k < N; k++)
        total += square[k];
    float norm = sqrtf(total);
    if (!(norm * norm_scale > FLAT_NORM)) {
        memset(values, 0, CLV_DESCRIPTOR_SIZE);
        return;
    }
    real clamped[BINS * BINS];
    float high = CLAMP * norm;
    square = (real){0};
    for (int b = 0; b < BINS * BINS; b++) {
        clamped[b] = bins[b];
        limit(&clamped[b], high);
        square += clamped[b] * clamped[b];
    }
    total = 0;
    for (int k = 0; k < N; k++)
        total += square[k];
    float scale = BYTE_SCALE / sqrtf(total);
    whole rounded[BINS * BINS];
    for (int b = 0; b < BINS * BINS; b++) {
        real scaled = clamped[b] * scale + 0.5f;
        limit(&scaled, 255.0f);
        rounded[b] = __builtin_convertvector(scaled, whole);
    }
    const int32_t *numbers = (const int32_t *)rounded;
    for (int k = 0; k < CLV_DESCRIPTOR_SIZE; k++)
        values[k] = (uint8_t)numbers[k];
}

/* Computes the sums under the vertical windows of a row of cells whose centres are at y: band[bin
 * row][row_pixels][N]. */
FOR_EACH_MACHINE static void sum_rows(uint32_t *restrict band, const struct sift_integral *integral, int32_t y,
                                      int32_t bin_px)
{
    size_t row_size = (size_t)integral->row_pixels * N;
    for (int j = 0; j < BINS; j++) {
        int32_t centre = integral->margin + y - 3 * bin_px / 2 + j * bin_px;
        const uint32_t *low = integral_row(integral, centre - bin_px - 1);
        const uint32_t *middle = integral_row(integral, centre - 1);
        const uint32_t *high = integral_row(integral, centre + bin_px - 1);
        uint32_t *out = band + (size_t)j * row_size;
        for (size_t k = 0; k < row_size; k++)
            out[k] = high[k] - 2 * middle[k] + low[k];
    }
}

/* The Gaussian of deviation 2 bins at the outer bins' centres divided by its value at the inner ones. */
static const float OUTER = 0.77880078f; /* exp(-(1.5^2 - 0.5^2) / (2 x 2^2)) */

static inline __attribute__((always_inline)) float bin_weight(int i)
{
    return i == 0 || i == BINS - 1 ? OUTER : 1;
}

/* *bin = the sums under the window of bin (i, j), weighted. */
static inline __attribute__((always_inline)) void weigh_bin(real *bin, const sums *window, int i, int j)
{
    *bin = __builtin_convertvector((whole)*window, real) * (bin_weight(i) * bin_weight(j));
}

/* Returns the factor that converts the norm of sums to grey levels. */
static float norm_scale_of(int32_t bin_px)
{
    return 1.0f / (STEPS * (float)(bin_px * bin_px) * (float)(bin_px * bin_px));
}

/* Returns the integral's column (or row) at the centre of the first bin, for cells of column (or row) c. */
static int32_t first_column(const struct sift_integral *integral, int32_t c, int32_t bin_px, int32_t step_px)
{
    return integral->margin + c * step_px + (step_px - 1) / 2 - 3 * bin_px / 2;
}

FOR_EACH_MACHINE static void describe_row(uint8_t *values, const uint32_t *band, const struct sift_integral *integral,
                                          int32_t n_columns, int32_t bin_px, int32_t step_px)
{
    const float norm_scale = norm_scale_of(bin_px);
    for (int32_t c = 0; c < n_columns; c++) {
        real bins[BINS * BINS];
        int32_t first = first_column(integral, c, bin_px, step_px);
        for (int j = 0; j < BINS; j++)
            for (int i = 0; i < BINS; i++) {
                const sums *at =
                    (const sums *)(band + (size_t)j * (size_t)integral->row_pixels * N) + first + i * bin_px;
                sums window = at[bin_px - 1] - 2 * at[-1] + at[-bin_px - 1];
                weigh_bin(&bins[j * BINS + i], &window, i, j);
            }
        finish_descriptor(values + (size_t)c * CLV_DESCRIPTOR_SIZE, bins, norm_scale);
    }
}

/* Computes the descriptor of one cell, with the values of describe_row, from the integral directly. */
FOR_EACH_MACHINE static void describe_cell(uint8_t *values, const struct sift_integral *integral, int32_t c, int32_t r,
                                           int32_t bin_px, int32_t step_px)
{
    real bins[BINS * BINS];
    size_t row_pixels = (size_t)integral->row_pixels;
    int32_t left = first_column(integral, c, bin_px, step_px), top = first_column(integral, r, bin_px, step_px);
    for (int j = 0; j < BINS; j++)
        for (int i = 0; i < BINS; i++) {
            const sums *middle =
                (const sums *)integral->sum + (size_t)(top + j * bin_px - 1) * row_pixels + left + i * bin_px;
            const sums *low = middle - (size_t)bin_px * row_pixels, *high = middle + (size_t)bin_px * row_pixels;
            sums right_side = high[bin_px - 1] - 2 * middle[bin_px - 1] + low[bin_px - 1];
            sums centre = high[-1] - 2 * middle[-1] + low[-1];
            sums left_side = high[-bin_px - 1] - 2 * middle[-bin_px - 1] + low[-bin_px - 1];
            sums window = right_side - 2 * centre + left_side;
            weigh_bin(&bins[j * BINS + i], &window, i, j);
        }
    finish_descriptor(values, bins, norm_scale_of(bin_px));
}

/* Computes n_rows rows of the grid from row `first`. band is scratch. */
static void describe_rows(uint8_t *values, uint32_t *band, const struct sift_integral *integral, int32_t bin_px,
                          int32_t step_px, int32_t first, int32_t n_rows)
{
    int32_t n_columns = (integral->width + step_px - 1) / step_px;
    for (int32_t r = first; r < first + n_rows; r++, values += (size_t)n_columns * CLV_DESCRIPTOR_SIZE) {
        sum_rows(band, integral, r * step_px + (step_px - 1) / 2, bin_px);
        describe_row(values, band, integral, n_columns, bin_px, step_px);
    }
}

static uint32_t *band_of(const struct sift_integral *integral)
{
    return array_zalloc_aligned((size_t)integral->row_pixels, BINS * N * sizeof(uint32_t));
}

enum clv_status sift_extract(struct sift_grid *grid, const struct sift_integral *integral, int32_t bin_px,
                             int32_t step_px, struct clv_error *err)
{
    *grid = (struct sift_grid){0};
    int32_t n_columns = (integral->width + step_px - 1) / step_px, n_rows = (integral->height + step_px - 1) / step_px;
    OWNED_ARRAY uint8_t *values = array_alloc((size_t)n_rows, (size_t)n_columns * CLV_DESCRIPTOR_SIZE);
    OWNED_ARRAY uint32_t *band = band_of(integral);
    NEED(values && band);
    describe_rows(values, band, integral, bin_px, step_px, 0, n_rows);
    *grid = (struct sift_grid){n_columns, n_rows, TAKE(values)};
    return CLV_OK;
}

void sift_image_release(struct sift_image *image)
{
    sift_integral_release(&image->integral);
    array_free(image->luma);
    *image = (struct sift_image){0};
}

enum clv_status sift_image_init(struct sift_image *image, const uint8_t *rgb, int32_t width, int32_t height,
                                const struct clv_recipe *recipe, struct clv_error *err)
{
    *image = (struct sift_image){.width = width, .height = height};
    if (recipe->sift == CLV_SIFT_CLEAVE)
        return sift_integral_init(&image->integral, rgb, width, height, recipe, err);
    size_t n = (size_t)width * (size_t)height;
    image->luma = array_alloc(n, sizeof *image->luma);
    NEED(image->luma);
    for (size_t k = 0; k < n; k++)
        image->luma[k] = (float)sift_luma(rgb + 3 * k) / SIFT_LUMA_ONE;
    return CLV_OK;
}

int64_t sift_image_n_cells(const struct sift_image *image, int32_t step_px)
{
    return (int64_t)((image->width + step_px - 1) / step_px) * ((image->height + step_px - 1) / step_px);
}

enum clv_status sift_image_sample(uint8_t *values, const struct sift_image *image, int32_t bin_px, int32_t step_px,
                                  const uint32_t *cells, size_t n, struct clv_error *err)
{
    uint32_t n_columns = (uint32_t)((image->width + step_px - 1) / step_px);
    OWNED(sift_grid_release) struct sift_grid grid = {0};
    if (image->luma || (int64_t)n >= sift_image_n_cells(image, step_px)) /* the whole grid is cheaper then */
        MUST(sift_image_describe(&grid, image, bin_px, step_px, err));
    for (size_t k = 0; k < n; k++) {
        uint8_t *out = values + k * CLV_DESCRIPTOR_SIZE;
        if (grid.values)
            memcpy(out, grid.values + (size_t)cells[k] * CLV_DESCRIPTOR_SIZE, CLV_DESCRIPTOR_SIZE);
        else
            describe_cell(out, &image->integral, (int32_t)(cells[k] % n_columns), (int32_t)(cells[k] / n_columns),
                          bin_px, step_px);
    }
    return CLV_OK;
}

enum clv_status sift_image_describe(struct sift_grid *grid, const struct sift_image *image, int32_t bin_px,
                                    int32_t step_px, struct clv_error *err)
{
    return image->luma ? sift_vlfeat_extract(grid, image->luma, image->width, image->height, bin_px, step_px, err)
                       : sift_extract(grid, &image->integral, bin_px, step_px, err);
}

/* Calls use() with all cells of each scale, described by VLFeat. */
static enum clv_status describe_by_vlfeat(const uint8_t *rgb, int32_t width, int32_t height,
                                          const struct clv_recipe *recipe, sift_strip_use *use, void *context,
                                          struct clv_error *err)
{
    OWNED(sift_image_release) struct sift_image image = {0};
    MUST(sift_image_init(&image, rgb, width, height, recipe, err));
    for (int32_t s = 0; s < recipe->n_scales; s++) {
        OWNED(sift_grid_release) struct sift_grid grid = {0};
        MUST(sift_image_describe(&grid, &image, recipe->bin_size_px[s], recipe->step_px, err));
        const struct sift_strip strip = {s, 0, grid.n_rows, grid.n_columns, grid.values};
        MUST(use(context, &strip, err));
    }
    return CLV_OK;
}

enum clv_status sift_describe_strips(const uint8_t *rgb, int32_t width, int32_t height, const struct clv_recipe *recipe,
                                     sift_strip_use *use, void *context, struct clv_error *err)
{
    if (recipe->sift != CLV_SIFT_CLEAVE)
        return describe_by_vlfeat(rgb, width, height, recipe, use, context, err);
    int32_t step = recipe->step_px, margin = sift_margin(recipe);
    int32_t n_columns = (width + step - 1) / step, n_rows = (height + step - 1) / step;
    int32_t fit = SIFT_STRIP_CELLS / n_columns, at_once = fit < 1 ? 1 : smaller(fit, n_rows);
    OWNED(integration_release) struct integration part = {0};
    MUST(integration_init(&part, rgb, width, height, recipe, (at_once - 1) * step + 2 * margin, err));
    OWNED_ARRAY uint8_t *values = array_alloc((size_t)at_once, (size_t)n_columns * CLV_DESCRIPTOR_SIZE);
    OWNED_ARRAY uint32_t *band = band_of(&part.integral);
    NEED(values && band);
    for (int32_t first = 0; first < n_rows; first += at_once) {
        int32_t n = smaller(at_once, n_rows - first);
        integration_advance(&part, (first + n - 1) * step + (step - 1) / 2 + 2 * margin);
        for (int32_t s = 0; s < recipe->n_scales; s++) {
            describe_rows(values, band, &part.integral, recipe->bin_size_px[s], step, first, n);
            const struct sift_strip strip = {s, first, n, n_columns, values};
            MUST(use(context, &strip, err));
        }
    }
    return CLV_OK;
}
