/* Memory of a grid cut: one record per pixel, with a frame of pixels without capacity around the grid, and the runs of
 * pixels in each row. Start at grid_cut_init. */
#include "infer/grid/grid.h"

#include <string.h>

#include "base/base.h"

/* Initialises all members except the runs, which the caller finds next, and the records. */
static enum clv_status init(struct grid_cut *cut, int32_t width, int32_t height, int32_t n_arcs, size_t n_runs,
                            struct clv_error *err)
{
    int32_t s = width + 2;
    *cut = (struct grid_cut){.width = width,
                             .height = height,
                             .n_arcs = n_arcs,
                             .stride = s,
                             .n_pixels = s * (height + 2),
                             .offset = {1, -1, s, -s, s + 1, -s - 1, s - 1, 1 - s}};
    cut->runs = array_alloc(n_runs + 1, sizeof *cut->runs);
    cut->row_runs = array_zalloc((size_t)height + 1, sizeof *cut->row_runs);
    NEED(cut->runs && cut->row_runs);
    return CLV_OK;
}

/* Zeroes the records of row y along each run of row of_row, and one pixel before and after it. */
static void clear(const struct grid_cut *cut, int32_t y, int32_t of_row)
{
    size_t size = ((size_t)cut->n_arcs + GRID_STATE_WORDS) * sizeof *cut->records;
    for (int32_t r = cut->row_runs[of_row]; r < cut->row_runs[of_row + 1]; r++) {
        struct grid_run run = cut->runs[r];
        memset(arcs_of(cut, pixel_at(cut, run.first - 1, y), cut->n_arcs), 0, (size_t)(run.end - run.first + 2) * size);
    }
}

static bool have_equal_runs(const struct grid_cut *cut, int32_t y, int32_t other)
{
    int32_t first = cut->row_runs[y], n = cut->row_runs[y + 1] - first, of_other = cut->row_runs[other];
    return n == cut->row_runs[other + 1] - of_other &&
           memcmp(cut->runs + first, cut->runs + of_other, (size_t)n * sizeof *cut->runs) == 0;
}

/* Allocates the records. If the grid has GRID_AWAY pixels, only the records of runs and of pixels beside them are
 * zeroed; no others are read. */
static enum clv_status allocate(struct grid_cut *cut, struct clv_error *err)
{
    size_t size = ((size_t)cut->n_arcs + GRID_STATE_WORDS) * sizeof *cut->records;
    cut->records =
        cut->has_away ? array_alloc((size_t)cut->n_pixels, size) : array_zalloc_aligned((size_t)cut->n_pixels, size);
    NEED(cut->records);
    for (int32_t y = 0; y < cut->height && cut->has_away; y++) {
        clear(cut, y, y);
        if (y == 0 || !have_equal_runs(cut, y, y - 1))
            clear(cut, y - 1, y);
        if (y + 1 == cut->height || !have_equal_runs(cut, y, y + 1))
            clear(cut, y + 1, y);
    }
    return CLV_OK;
}

/* Finds the first run of a row's labels from `at` on; after the last one it is empty. */
static struct grid_run run_from(const uint8_t *labels, size_t at, size_t width)
{
    while (at < width && labels[at] == GRID_AWAY)
        at++;
    const uint8_t *away = at < width ? memchr(labels + at, GRID_AWAY, width - at) : NULL;
    return (struct grid_run){(int32_t)at, (int32_t)(away ? (size_t)(away - labels) : width)};
}

/* Finds the runs of a row and writes them, unless `runs` is NULL. Returns their number. */
static size_t find_runs(struct grid_run *runs, const uint8_t *labels, int32_t width)
{
    size_t n = 0;
    struct grid_run run = run_from(labels, 0, (size_t)width);
    for (; run.first < run.end; run = run_from(labels, (size_t)run.end, (size_t)width)) {
        if (runs)
            runs[n] = run;
        n++;
    }
    return n;
}

enum clv_status grid_cut_init(struct grid_cut *cut, int32_t width, int32_t height, int32_t n_arcs,
                              const uint8_t *labels, struct clv_error *err)
{
    size_t n = 0, row = (size_t)width;
    for (int32_t y = 0; y < height; y++)
        n += find_runs(NULL, labels + (size_t)y * row, width);
    MUST(init(cut, width, height, n_arcs, n, err));
    cut->has_away = memchr(labels, GRID_AWAY, row * (size_t)height);
    n = 0;
    for (int32_t y = 0; y < height; y++) {
        n += find_runs(cut->runs + n, labels + (size_t)y * row, width);
        cut->row_runs[y + 1] = (int32_t)n;
    }
    return allocate(cut, err);
}

/* Adds the coarse run of a fine one to its row, runs[from] .. runs[*n - 1]. Joins it to the last one if they touch. */
static void add_run(struct grid_cut *cut, int32_t from, int32_t *n, const struct grid_run *fine)
{
    struct grid_run run = {fine->first / 2, (fine->end + 1) / 2}, *last = &cut->runs[*n - 1];
    if (*n > from && run.first <= last->end)
        last->end = run.end > last->end ? run.end : last->end;
    else
        cut->runs[(*n)++] = run;
}

enum clv_status grid_cut_init_half(struct grid_cut *cut, const struct grid_cut *fine, struct clv_error *err)
{
    int32_t n = 0;
    MUST(init(cut, (fine->width + 1) / 2, (fine->height + 1) / 2, fine->n_arcs, (size_t)fine->row_runs[fine->height],
              err));
    for (int32_t y = 0; y < cut->height; y++) {
        int32_t a = fine->row_runs[2 * y], end_a = fine->row_runs[2 * y + 1], b = end_a,
                end_b = 2 * y + 1 < fine->height ? fine->row_runs[2 * y + 2] : b;
        while (a < end_a || b < end_b) {
            bool is_above = b == end_b || (a < end_a && fine->runs[a].first <= fine->runs[b].first);
            add_run(cut, cut->row_runs[y], &n, &fine->runs[is_above ? a++ : b++]);
        }
        cut->row_runs[y + 1] = n;
    }
    return allocate(cut, err);
}

void grid_cut_release(struct grid_cut *cut)
{
    arrays_free(cut->records, cut->runs, cut->row_runs);
    cut->records = NULL;
    cut->runs = NULL;
    cut->row_runs = NULL;
}
