/* Patch grids: their numbers, their edges, labels painted by the nearest centre. */
#include "superpixel/partition.h"
#include "superpixel/superpixel.h"

TEST(patches_are_inside_and_as_many_as_fit)
{
    struct clv_patch_grid grid;
    must(patch_grid_init(&grid, 320, 213, 20, 10, err));
    ck_assert_int_eq(grid.n_rows, 20);
    ck_assert_int_eq(grid.n_columns, 31);
    for (int32_t side = 1; side < 60; side++)
        for (int32_t size = 1; size < 25; size += 3)
            for (int32_t step = 1; step < 30; step += 4) {
                must(patch_grid_init(&grid, side, 2 * side, size, step, err));
                int32_t fitting[2] = {0, 0};
                for (int32_t at = 0; at + size <= 2 * side; at += step) {
                    fitting[0] += at + size <= side;
                    fitting[1]++;
                }
                ck_assert_int_eq(grid.n_columns, fitting[0] ? fitting[0] : 1);
                ck_assert_int_eq(grid.n_rows, fitting[1] ? fitting[1] : 1);
            }
}

TEST(bad_grids_are_named)
{
    struct clv_patch_grid grid = {.n_rows = 77};
    must_fail(CLV_ERR_USAGE, "size is 0", patch_grid_init(&grid, 10, 10, 0, 5, err));
    must_fail(CLV_ERR_USAGE, "step is -1", patch_grid_init(&grid, 10, 10, 5, -1, err));
    must_fail(CLV_ERR_USAGE, "0x10", patch_grid_init(&grid, 0, 10, 5, 5, err));
    must_fail(CLV_ERR_USAGE, "2^31", patch_grid_init(&grid, INT32_MAX, INT32_MAX, 1, 1, err));
    ck_assert_int_eq(grid.n_rows, 77);
}

/* The patch whose centre is nearest to a pixel, the first of equals, by comparing with every one. */
static int32_t nearest(const struct clv_patch_grid *grid, int32_t x, int32_t y)
{
    int32_t best = 0, clipped_width = grid->size_px < grid->width ? grid->size_px : grid->width;
    int32_t clipped_height = grid->size_px < grid->height ? grid->size_px : grid->height;
    int64_t least = INT64_MAX;
    for (int32_t r = 0; r < grid->n_rows; r++)
        for (int32_t c = 0; c < grid->n_columns; c++) {
            int64_t dx = 2 * (x - c * grid->step_px) - (clipped_width - 1); /* twice the distance */
            int64_t dy = 2 * (y - r * grid->step_px) - (clipped_height - 1);
            if (dx * dx + dy * dy < least) {
                least = dx * dx + dy * dy;
                best = r * grid->n_columns + c;
            }
        }
    return best;
}

TEST(pixels_belong_to_the_nearest_centre)
{
    static const int32_t shapes[][4] = {{53, 41, 20, 10}, {64, 30, 7, 3}, {9, 40, 20, 10}, {5, 5, 20, 10},
                                        {40, 40, 4, 9},   {33, 33, 1, 1}, {1, 1, 1, 1},    {30, 20, 6, 5}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        struct clv_patch_grid grid;
        must(patch_grid_init(&grid, shapes[s][0], shapes[s][1], shapes[s][2], shapes[s][3], err));
        OWNED(clv_superpixels_release) struct clv_superpixels pixels = {0};
        must(patch_grid_partition(&pixels, &grid, err));
        ck_assert(pixels.width == grid.width && pixels.height == grid.height &&
                  pixels.n == grid.n_rows * grid.n_columns);
        for (int32_t y = 0; y < grid.height; y++)
            for (int32_t x = 0; x < grid.width; x++)
                ck_assert_int_eq(pixels.labels[y * grid.width + x], nearest(&grid, x, y));
    }
}

TEST(grid_edges_are_those_between_painted_patches)
{
    static const int32_t shapes[][4] = {
        {53, 41, 20, 10}, {64, 30, 7, 3}, {9, 40, 20, 10}, {5, 5, 20, 10}, {40, 40, 4, 9}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        struct clv_patch_grid grid;
        must(patch_grid_init(&grid, shapes[s][0], shapes[s][1], shapes[s][2], shapes[s][3], err));
        struct clv_superpixels painted = {grid.width, grid.height, grid.n_rows * grid.n_columns,
                                          malloc((size_t)(grid.width * grid.height) * sizeof(int32_t))};
        for (int32_t y = 0; y < grid.height; y++)
            for (int32_t x = 0; x < grid.width; x++)
                painted.labels[y * grid.width + x] = nearest(&grid, x, y);
        OWNED(clv_adjacency_release) struct clv_adjacency of_grid = {0}, of_pixels = {0};
        must(patch_grid_adjacency(&of_grid, &grid, err));
        must(clv_adjacency_build(&of_pixels, &painted, err));
        ck_assert_int_eq(of_grid.n_nodes, of_pixels.n_nodes);
        ck_assert_int_eq(of_grid.n_edges, of_pixels.n_edges);
        ck_assert_mem_eq(of_grid.edges, of_pixels.edges, (size_t)of_grid.n_edges * sizeof *of_grid.edges);
        ck_assert_mem_eq(of_grid.boundary_length, of_pixels.boundary_length, (size_t)of_grid.n_edges * sizeof(float));
        free(painted.labels);
    }
}
