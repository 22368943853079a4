/* Lists an image's pixels by overlapping windows instead of by superpixel. Start at windows_init. */
#include <limits.h>

#include "base/base.h"
#include "feature/blocks/blocks.h"

/* The pixels first..end-1 of one window along an axis. */
struct span {
    int32_t first, end;
};

/* Returns the pixels of patch `index` and the margin on both sides of it, clipped to the image. In 64 bits, since
 * margins are not limited. */
static struct span span_of(int32_t index, int32_t side, const struct clv_patch_grid *grid, int32_t margin_px)
{
    int64_t first = (int64_t)index * grid->step_px - margin_px;
    int64_t end = (int64_t)index * grid->step_px + grid->size_px + margin_px;
    return (struct span){first > 0 ? (int32_t)first : 0, end < side ? (int32_t)end : side};
}

/* Computes start[n_regions + 1] from the sizes of the windows. */
static enum clv_status set_starts(int32_t *start, const struct clv_patch_grid *grid, int32_t margin_px,
                                  struct clv_error *err)
{
    int64_t total = 0;
    for (int32_t r = 0; r < grid->n_rows; r++)
        for (int32_t c = 0; c < grid->n_columns; c++) {
            struct span y = span_of(r, grid->height, grid, margin_px), x = span_of(c, grid->width, grid, margin_px);
            start[r * grid->n_columns + c] = (int32_t)total;
            total += (int64_t)(y.end - y.first) * (x.end - x.first);
            FAIL_IF(total > INT32_MAX, CLV_ERR_USAGE, "patches: their windows hold more than 2^31 pixels");
        }
    start[grid->n_rows * grid->n_columns] = (int32_t)total;
    return CLV_OK;
}

void windows_release(struct scene *windows)
{
    arrays_free(windows->start, windows->pixel, windows->regions);
    *windows = (struct scene){0};
}

enum clv_status windows_init(struct scene *windows, const struct scene *scene, const struct clv_patch_grid *grid,
                             int32_t margin_px, struct clv_error *err)
{
    size_t n = (size_t)scene->n_regions;
    OWNED(windows_release) struct scene result = *scene;
    result.pixel = NULL;
    result.start = array_alloc(n + 1, sizeof *result.start);
    result.regions = array_alloc(n, sizeof *result.regions);
    NEED(result.start && result.regions);
    MUST(set_starts(result.start, grid, margin_px, err));
    result.pixel = array_alloc((size_t)result.start[n], sizeof *result.pixel);
    NEED(result.pixel);
    int32_t *next = result.pixel;
    for (int32_t i = 0; i < scene->n_regions; i++) {
        struct span y = span_of(i / grid->n_columns, grid->height, grid, margin_px);
        struct span x = span_of(i % grid->n_columns, grid->width, grid, margin_px);
        for (int32_t row = y.first; row < y.end; row++)
            for (int32_t column = x.first; column < x.end; column++)
                *next++ = row * grid->width + column;
    }
    scene_measure(&result);
    *windows = TAKE(result);
    return CLV_OK;
}

enum clv_status scene_whole(struct scene *windows, const struct scene *scene, struct clv_error *err)
{
    OWNED(windows_release) struct scene result = *scene;
    result.n_regions = 1;
    result.start = array_zalloc(2, sizeof *result.start);
    result.regions = array_alloc(1, sizeof *result.regions);
    result.pixel = array_alloc((size_t)scene->start[scene->n_regions], sizeof *result.pixel);
    NEED(result.start && result.regions && result.pixel);
    result.start[1] = scene->start[scene->n_regions];
    for (int32_t i = 0; i < result.start[1]; i++)
        result.pixel[i] = i;
    scene_measure(&result);
    *windows = TAKE(result);
    return CLV_OK;
}
