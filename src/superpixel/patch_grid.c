/* Computes a regular grid of overlapping square patches: its size, its 4-neighbours, and the partition of an image by
 * the nearest centre. */
#include "superpixel/superpixel.h"

#include "base/base.h"

/* Returns the number of patches that fit along a side, or 1 for a clipped patch if none fits. */
static int32_t patches_along(int32_t side, int32_t size, int32_t step)
{
    return side <= size ? 1 : (side - size) / step + 1;
}

enum clv_status patch_grid_init(struct clv_patch_grid *grid, int32_t width, int32_t height, int32_t size_px,
                                int32_t step_px, struct clv_error *err)
{
    FAIL_IF(width < 1 || height < 1, CLV_ERR_USAGE, "patches: image is %dx%d", width, height);
    FAIL_IF(size_px < 1, CLV_ERR_USAGE, "patches: size is %d px, not at least 1", size_px);
    FAIL_IF(step_px < 1, CLV_ERR_USAGE, "patches: step is %d px, not at least 1", step_px);
    int32_t rows = patches_along(height, size_px, step_px), columns = patches_along(width, size_px, step_px);
    if ((int64_t)rows * columns > INT32_MAX)
        return fail(err, CLV_ERR_USAGE, "patches: %d rows of %d, more than 2^31", rows, columns);
    *grid = (struct clv_patch_grid){width, height, size_px, step_px, rows, columns};
    return CLV_OK;
}

/* Returns which of n patches along a side has its centre nearest to pixel `at`, the lower one at ties. Centre c is at c
 * step + (size - 1) / 2, so c is (2 at - (size - 1)) / (2 step), rounded with halves down. */
static int32_t nearest_patch(int32_t at, int32_t side, int32_t size, int32_t step, int32_t n)
{
    int64_t clipped = size < side ? size : side, numerator = 2 * (int64_t)at - (clipped - 1) - step;
    int64_t c = numerator <= 0 ? 0 : (numerator + 2 * (int64_t)step - 1) / (2 * (int64_t)step);
    return c < n ? (int32_t)c : n - 1;
}

static int32_t column_of(const struct clv_patch_grid *grid, int32_t x)
{
    return nearest_patch(x, grid->width, grid->size_px, grid->step_px, grid->n_columns);
}

static int32_t row_of(const struct clv_patch_grid *grid, int32_t y)
{
    return nearest_patch(y, grid->height, grid->size_px, grid->step_px, grid->n_rows);
}

enum clv_status patch_grid_partition(struct clv_superpixels *superpixels, const struct clv_patch_grid *grid,
                                     struct clv_error *err)
{
    size_t width = (size_t)grid->width;
    int32_t *labels = array_alloc(width * (size_t)grid->height, sizeof *labels);
    NEED(labels);
    for (int32_t y = 0; y < grid->height; y++)
        for (int32_t x = 0; x < grid->width; x++)
            labels[(size_t)y * width + (size_t)x] = row_of(grid, y) * grid->n_columns + column_of(grid, x);
    *superpixels = (struct clv_superpixels){grid->width, grid->height, grid->n_rows * grid->n_columns, labels};
    return CLV_OK;
}

enum clv_status patch_grid_adjacency(struct clv_adjacency *adjacency, const struct clv_patch_grid *grid,
                                     struct clv_error *err)
{
    int64_t rows = grid->n_rows, columns = grid->n_columns, n_edges = rows * (columns - 1) + (rows - 1) * columns;
    FAIL_IF(n_edges > INT32_MAX, CLV_ERR_USAGE, "patches: %lld edges, more than 2^31", (long long)n_edges);
    OWNED(clv_adjacency_release) struct clv_adjacency result = {.n_nodes = (int32_t)(rows * columns),
                                                                .n_edges = (int32_t)n_edges};
    result.edges = array_alloc((size_t)n_edges, sizeof *result.edges);
    result.boundary_length = array_alloc((size_t)n_edges, sizeof *result.boundary_length);
    OWNED_ARRAY int32_t *widths = array_zalloc((size_t)columns, sizeof *widths);
    OWNED_ARRAY int32_t *heights = array_zalloc((size_t)rows, sizeof *heights);
    NEED(result.edges && result.boundary_length && widths && heights);
    for (int32_t x = 0; x < grid->width; x++)
        widths[column_of(grid, x)]++;
    for (int32_t y = 0; y < grid->height; y++)
        heights[row_of(grid, y)]++;

    size_t n = 0;
    for (int32_t r = 0; r < rows; r++)
        for (int32_t c = 0; c < columns; c++) {
            int32_t node = r * (int32_t)columns + c;
            int32_t other[2] = {c + 1 < columns ? node + 1 : -1, r + 1 < rows ? node + (int32_t)columns : -1};
            int32_t length[2] = {heights[r], widths[c]};
            for (int i = 0; i < 2; i++) {
                if (other[i] < 0)
                    continue;
                result.edges[n][0] = node;
                result.edges[n][1] = other[i];
                result.boundary_length[n++] = (float)length[i];
            }
        }
    *adjacency = TAKE(result);
    return CLV_OK;
}
