/* Memory of a grid cut: one record per pixel, with a frame of pixels without capacity around the grid. */
#include "infer/grid/grid.h"

#include "base/base.h"

enum clv_status grid_cut_init(struct grid_cut *cut, int32_t width, int32_t height, int32_t n_arcs,
                              struct clv_error *err)
{
    int32_t s = width + 2;
    *cut = (struct grid_cut){.width = width,
                             .height = height,
                             .n_arcs = n_arcs,
                             .stride = s,
                             .n_pixels = s * (height + 2),
                             .offset = {1, -1, s, -s, s + 1, -s - 1, s - 1, 1 - s}};
    size_t size = ((size_t)n_arcs + GRID_STATE_WORDS) * sizeof *cut->records;
    cut->records = array_zalloc_aligned((size_t)cut->n_pixels, size);
    return cut->records ? CLV_OK : fail_memory(err);
}

void grid_cut_release(struct grid_cut *cut)
{
    array_free(cut->records);
    cut->records = NULL;
}
