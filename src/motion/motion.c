/* Optical flow by dense inverse search (Kroeger et al. 2016): 8 x 8 patches are matched by Gauss-Newton steps from
 * the coarsest level down, then averaged to a flow at every pixel. Start at motion_estimate, at the end. */
#include "motion/motion.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/machine.h"

enum { SIDE = 8, STEP = 4, AREA = SIDE * SIDE, MIN_SIDE = 2 * SIDE, ITERATIONS = 10 };

#define ENOUGH   0.01F /* a squared step that ends a search, pixels^2 */
#define FARTHEST 8.0F  /* how far a search may move away from its start, pixels */
#define FLATTEST 1e-3F /* least determinant of a patch that can be matched by gradients */

void motion_pyramid_release(struct motion_pyramid *self)
{
    for (int32_t k = 0; k < self->n_levels; k++)
        array_free(self->level[k]);
    *self = (struct motion_pyramid){0};
}

static void halve(float *target, int32_t width, int32_t height, const float *source, int32_t stride)
{
    for (int32_t y = 0; y < height; y++) {
        const float *above = source + (size_t)(2 * y) * (size_t)stride, *below = above + stride;
        for (int32_t x = 0; x < width; x++)
            target[(size_t)y * (size_t)width + (size_t)x] =
                0.25F * (above[2 * x] + above[2 * x + 1] + below[2 * x] + below[2 * x + 1]);
    }
}

enum clv_status motion_pyramid_init(struct motion_pyramid *self, const struct clv_image *image, struct clv_error *err)
{
    OWNED(motion_pyramid_release) struct motion_pyramid result = {0};
    int32_t width = image->width, height = image->height;
    do {
        int32_t k = result.n_levels++;
        result.width[k] = width, result.height[k] = height;
        NEED(result.level[k] = array_alloc((size_t)width * (size_t)height, sizeof *result.level[k]));
        if (k)
            halve(result.level[k], width, height, result.level[k - 1], result.width[k - 1]);
        width /= 2, height /= 2;
        if (k)
            continue;
        const uint8_t *rgb = image->pixels;
        for (size_t i = 0; i < (size_t)image->width * (size_t)image->height; i++, rgb += 3)
            result.level[0][i] = 0.299F * (float)rgb[0] + 0.587F * (float)rgb[1] + 0.114F * (float)rgb[2];
    } while (result.n_levels < MOTION_MAX_LEVELS && width >= MIN_SIDE && height >= MIN_SIDE);
    *self = TAKE(result);
    return CLV_OK;
}

/* A patch of the frame `from` without its mean, its derivatives, and the matrix of a Gauss-Newton step. */
struct flow_patch {
    float value[AREA], dx[AREA], dy[AREA];
    float xx, xy, yy; /* the inverse of the sum of products of derivatives */
    bool is_flat;
};

static int32_t within(int32_t i, int32_t n)
{
    return i < 0 ? 0 : i < n ? i : n - 1;
}

static void patch_take(struct flow_patch *self, const float *image, int32_t width, int32_t height, int32_t left,
                       int32_t top)
{
    float mean = 0, xx = 0, xy = 0, yy = 0;
    for (int32_t i = 0; i < AREA; i++) {
        int32_t x = within(left + i % SIDE, width), y = within(top + i / SIDE, height);
        const float *row = image + (size_t)y * (size_t)width;
        self->value[i] = row[x];
        self->dx[i] = 0.5F * (row[within(x + 1, width)] - row[within(x - 1, width)]);
        self->dy[i] = 0.5F * (image[(size_t)within(y + 1, height) * (size_t)width + (size_t)x] -
                              image[(size_t)within(y - 1, height) * (size_t)width + (size_t)x]);
        mean += self->value[i] / AREA;
        xx += self->dx[i] * self->dx[i];
        xy += self->dx[i] * self->dy[i];
        yy += self->dy[i] * self->dy[i];
    }
    for (int32_t i = 0; i < AREA; i++)
        self->value[i] -= mean;
    xx += AREA * 0.1F, yy += AREA * 0.1F;
    float determinant = xx * yy - xy * xy;
    self->is_flat = determinant < FLATTEST;
    self->xx = yy / determinant, self->xy = -xy / determinant, self->yy = xx / determinant;
}

/* One level of the search. */
struct search {
    const float *from, *to;
    int32_t width, height, columns, rows;
    float *match; /* [rows][columns][3] displacement, and the squared difference there */
};

/* Sets difference[AREA] to the patch of `to` at (x, y), bilinear, without its mean, minus `patch`. Returns the sum of
 * squares. */
static float patch_compare(float difference[AREA], const struct flow_patch *patch, const struct search *self, float x,
                           float y)
{
    const float *image = self->to;
    const int32_t width = self->width, height = self->height;
    float left = floorf(x), top = floorf(y), fx = x - left, fy = y - top;
    float a = (1 - fx) * (1 - fy), b = fx * (1 - fy), c = (1 - fx) * fy, d = fx * fy, sums[SIDE] = {0};
    int32_t x0 = (int32_t)left, y0 = (int32_t)top;
    float copy[(SIDE + 1) * (SIDE + 1)];
    const float *window = image + (ptrdiff_t)y0 * width + x0;
    ptrdiff_t stride = width;
    if (x0 < 0 || y0 < 0 || x0 + SIDE >= width || y0 + SIDE >= height) {
        for (int32_t i = 0; i <= SIDE; i++)
            for (int32_t j = 0; j <= SIDE; j++)
                copy[i * (SIDE + 1) + j] =
                    image[(size_t)within(y0 + i, height) * (size_t)width + (size_t)within(x0 + j, width)];
        window = copy, stride = SIDE + 1;
    }
    for (int32_t i = 0; i < SIDE; i++) {
        const float *above = window + i * stride, *below = above + stride;
        for (int32_t j = 0; j < SIDE; j++) {
            float value = a * above[j] + b * above[j + 1] + c * below[j] + d * below[j + 1];
            difference[i * SIDE + j] = value;
            sums[j] += value;
        }
    }
    float mean = 0, squares[SIDE] = {0}, sum = 0;
    for (int32_t j = 0; j < SIDE; j++)
        mean += sums[j] / AREA;
    for (int32_t i = 0; i < SIDE; i++)
        for (int32_t j = 0; j < SIDE; j++) {
            float value = difference[i * SIDE + j] - mean - patch->value[i * SIDE + j];
            difference[i * SIDE + j] = value;
            squares[j] += value * value;
        }
    for (int32_t j = 0; j < SIDE; j++)
        sum += squares[j];
    return sum;
}

static float search_at(const struct search *self, const struct flow_patch *patch, const float v[2], int32_t left,
                       int32_t top)
{
    float difference[AREA];
    return patch_compare(difference, patch, self, (float)left + v[0], (float)top + v[1]);
}

static bool is_near(const struct search *self, const float v[2], int32_t left, int32_t top)
{
    float x = (float)left + v[0], y = (float)top + v[1];
    return x > -SIDE && y > -SIDE && x < (float)self->width && y < (float)self->height;
}

/* Takes Gauss-Newton steps from match[0..1], which are kept while the squared difference falls. */
static void descend(const struct search *self, float match[3], const struct flow_patch *patch, int32_t left,
                    int32_t top)
{
    float v[2] = {match[0], match[1]}, difference[AREA];
    for (int32_t k = 0; k < ITERATIONS && !patch->is_flat; k++) {
        float sum = patch_compare(difference, patch, self, (float)left + v[0], (float)top + v[1]);
        if (sum < match[2])
            match[0] = v[0], match[1] = v[1], match[2] = sum;
        else if (k)
            return;
        float x[SIDE] = {0}, y[SIDE] = {0}, sx = 0, sy = 0;
        for (int32_t i = 0; i < SIDE; i++)
            for (int32_t j = 0; j < SIDE; j++) {
                x[j] += patch->dx[i * SIDE + j] * difference[i * SIDE + j];
                y[j] += patch->dy[i * SIDE + j] * difference[i * SIDE + j];
            }
        for (int32_t j = 0; j < SIDE; j++)
            sx += x[j], sy += y[j];
        float step[2] = {patch->xx * sx + patch->xy * sy, patch->xy * sx + patch->yy * sy};
        v[0] -= step[0], v[1] -= step[1];
        float far_x = v[0] - match[0], far_y = v[1] - match[1];
        if (step[0] * step[0] + step[1] * step[1] < ENOUGH || far_x * far_x + far_y * far_y > FARTHEST * FARTHEST ||
            !is_near(self, v, left, top))
            return;
    }
}

static void try_neighbour(const struct search *self, float match[3], const struct flow_patch *patch, const float *other,
                          int32_t left, int32_t top)
{
    float x = other[0] - match[0], y = other[1] - match[1];
    if (x * x + y * y < ENOUGH || !is_near(self, other, left, top))
        return;
    float sum = search_at(self, patch, other, left, top);
    if (sum < match[2])
        match[0] = other[0], match[1] = other[1], match[2] = sum;
}

/* Returns the first column, or row, of the k-th patch. */
static int32_t start_of(int32_t k)
{
    return k * STEP - STEP / 2;
}

/* Matches all patches, also from the displacements of neighbours that are done: first those left and above, then those
 * right and below. */
static void search_all(const struct search *self)
{
    struct flow_patch patch;
    int32_t n = self->columns * self->rows;
    for (int32_t pass = 0; pass < 2; pass++)
        for (int32_t i = 0; i < n; i++) {
            int32_t p = pass ? n - 1 - i : i, column = p % self->columns, row = p / self->columns;
            int32_t left = start_of(column), top = start_of(row);
            int32_t side = pass ? column + 1 < self->columns : column > 0,
                    upper = pass ? row + 1 < self->rows : row > 0;
            int32_t one = pass ? 1 : -1;
            float *match = self->match + (size_t)p * 3;
            patch_take(&patch, self->from, self->width, self->height, left, top);
            if (!pass)
                match[2] = search_at(self, &patch, match, left, top);
            float before = match[2];
            if (side)
                try_neighbour(self, match, &patch, match + (ptrdiff_t)3 * one, left, top);
            if (upper)
                try_neighbour(self, match, &patch, match + (ptrdiff_t)3 * one * self->columns, left, top);
            if (!pass || match[2] < before)
                descend(self, match, &patch, left, top);
        }
}

/* Sets flow[height][width][2] to the mean of the patches over each pixel, weighted by how well they match there. */
static void densify(float *flow, float *weights, const struct search *self)
{
    size_t n = (size_t)self->width * (size_t)self->height;
    memset(flow, 0, n * 2 * sizeof *flow);
    memset(weights, 0, n * sizeof *weights);
    struct flow_patch patch;
    float difference[AREA];
    for (int32_t p = 0; p < self->columns * self->rows; p++) {
        const float *match = self->match + (size_t)p * 3;
        int32_t left = start_of(p % self->columns);
        int32_t top = start_of(p / self->columns);
        patch_take(&patch, self->from, self->width, self->height, left, top);
        patch_compare(difference, &patch, self, (float)left + match[0], (float)top + match[1]);
        for (int32_t i = 0; i < AREA; i++) {
            int32_t x = left + i % SIDE, y = top + i / SIDE;
            if (x < 0 || y < 0 || x >= self->width || y >= self->height)
                continue;
            float size = fabsf(difference[i]), weight = 1 / (size > 1 ? size : 1);
            size_t at = (size_t)y * (size_t)self->width + (size_t)x;
            flow[2 * at] += weight * match[0];
            flow[2 * at + 1] += weight * match[1];
            weights[at] += weight;
        }
    }
    for (size_t i = 0; i < n; i++) {
        flow[2 * i] /= weights[i];
        flow[2 * i + 1] /= weights[i];
    }
}

/* Starts patches with the coarser level's flow, doubled. */
static void start(const struct search *self, const float *coarser, int32_t width, int32_t height)
{
    for (int32_t p = 0; p < self->columns * self->rows; p++) {
        float *match = self->match + (size_t)p * 3;
        int32_t x = start_of(p % self->columns) + SIDE / 2;
        int32_t y = start_of(p / self->columns) + SIDE / 2;
        const float *at = coarser + 2 * ((size_t)within(y / 2, height) * (size_t)width + (size_t)within(x / 2, width));
        match[0] = 2 * at[0];
        match[1] = 2 * at[1];
    }
}

static int32_t n_patches_along(int32_t length)
{
    return (length - 1 + STEP / 2) / STEP + 1;
}

enum clv_status motion_estimate(float *flow, const struct motion_pyramid *from, const struct motion_pyramid *to,
                                struct clv_error *err)
{
    size_t n = (size_t)from->width[0] * (size_t)from->height[0];
    size_t n_patches = (size_t)n_patches_along(from->width[0]) * (size_t)n_patches_along(from->height[0]);
    OWNED_ARRAY float *weights = array_alloc(n, sizeof *weights);
    OWNED_ARRAY float *match = array_zalloc(n_patches, 3 * sizeof *match);
    NEED(weights && match);
    for (int32_t k = from->n_levels - 1; k >= 0; k--) {
        struct search search = {from->level[k], to->level[k], from->width[k], from->height[k], 0, 0, match};
        search.columns = n_patches_along(search.width);
        search.rows = n_patches_along(search.height);
        if (k + 1 < from->n_levels)
            start(&search, flow, from->width[k + 1], from->height[k + 1]);
        search_all(&search);
        densify(flow, weights, &search);
    }
    return CLV_OK;
}
