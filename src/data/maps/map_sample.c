/* Samples maps at the pixels of an image by linear interpolation between the centres of the map's pixels. Start at
 * map_sample. */
#include "data/maps/maps.h"

#include <math.h>

#include "base/base.h"

void map_grid_release(struct map_grid *grid)
{
    arrays_free(grid->columns, grid->rows);
    *grid = (struct map_grid){0};
}

/* For each of `size` pixels, finds the two pixels of the map between whose centres its centre (k + 1/2) / size lies. */
static struct map_between *lie_between(int32_t size, int32_t map_size)
{
    struct map_between *between = array_alloc((size_t)size, sizeof *between);
    for (int32_t k = 0; between && k < size; k++) {
        double at = (k + 0.5) * map_size / size - 0.5;
        at = fmin(fmax(at, 0), map_size - 1);
        int32_t low = int32_within(at, 0, map_size - 1);
        between[k] = (struct map_between){low, low + 1 < map_size ? low + 1 : low, (float)(at - low)};
    }
    return between;
}

enum clv_status map_grid_init(struct map_grid *grid, int32_t map_width, int32_t map_height, int32_t width,
                              int32_t height, struct clv_error *err)
{
    *grid = (struct map_grid){width, height, map_width, lie_between(width, map_width), lie_between(height, map_height)};
    if (grid->columns && grid->rows)
        return CLV_OK;
    map_grid_release(grid);
    return fail_memory(err);
}

void map_sample(float *plane, const struct map_grid *grid, const float *channel)
{
    size_t width = (size_t)grid->map_width;
    for (int32_t y = 0; y < grid->height; y++) {
        const struct map_between *row = &grid->rows[y];
        const float *above = channel + (size_t)row->low * width, *below = channel + (size_t)row->high * width;
        for (int32_t x = 0; x < grid->width; x++) {
            const struct map_between *column = &grid->columns[x];
            float upper = above[column->low] + column->share * (above[column->high] - above[column->low]);
            float lower = below[column->low] + column->share * (below[column->high] - below[column->low]);
            *plane++ = upper + row->share * (lower - upper);
        }
    }
}
