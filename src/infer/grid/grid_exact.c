/* Solves grids whose couplings are so hard that whole numbers of 26 bits would lose decisive digits:
 * infer/cut/exact_cut.c gets the pixels that are not fixed and their couplings. */
#include "base/base.h"
#include "infer/cut/exact_cut.h"
#include "infer/grid/grid.h"

static const int dx[] = {1, 0, 1, -1}, dy[] = {0, 1, 1, 1};

static size_t at(const struct grid_rows *grid, int32_t x, int32_t y)
{
    return (size_t)y * (size_t)grid->width + (size_t)x;
}

/* Returns whether pixel (x, y) has a neighbour k. */
static bool has_neighbour(const struct grid_rows *grid, int32_t x, int32_t y, int k)
{
    return x + dx[k] >= 0 && x + dx[k] < grid->width && y + dy[k] < grid->height;
}

/* Numbers the pixels that are not fixed; node[] of the others is -1. Reserves memory for their terms and edges. */
static enum clv_status number_pixels(struct exact_cut *cut, int32_t *node, const uint8_t *labels,
                                     const struct grid_rows *grid, struct clv_error *err)
{
    int32_t n = 0;
    size_t n_terms, n_edges = 0, n_beside = 0;
    for (size_t p = 0; p < at(grid, 0, grid->height); p++)
        node[p] = labels[p] == GRID_UNDECIDED ? n++ : -1;
    for (int32_t y = 0; y < grid->height; y++)
        for (int32_t x = 0; x < grid->width; x++)
            for (int k = 0; k < grid->n_neighbours / 2; k++) {
                if (!has_neighbour(grid, x, y, k))
                    continue;
                bool is_open = node[at(grid, x, y)] >= 0, is_next_open = node[at(grid, x + dx[k], y + dy[k])] >= 0;
                n_edges += is_open && is_next_open;
                n_beside += is_open != is_next_open;
            }
    n_terms = (size_t)n + n_beside;
    NEED(exact_cut_reserve(cut, n, n_terms, n_edges) == 0);
    return CLV_OK;
}

/* Adds a coupling. With a fixed neighbour it becomes a unary term towards that label; GRID_AWAY neighbours do not
 * count. */
static void add_pair(struct exact_cut *cut, const int32_t *node, const uint8_t *labels, size_t p, size_t q,
                     double coupling)
{
    if (labels[p] == GRID_AWAY || labels[q] == GRID_AWAY)
        return;
    if (node[p] >= 0 && node[q] >= 0)
        exact_cut_add_edge(cut, node[p], node[q], coupling, coupling);
    else if (node[p] >= 0)
        exact_cut_add_term(cut, node[p], labels[q] == GRID_ONE ? coupling : -coupling);
    else if (node[q] >= 0)
        exact_cut_add_term(cut, node[q], labels[p] == GRID_ONE ? coupling : -coupling);
}

enum clv_status grid_exact_map(uint8_t *labels, const struct grid_rows *grid, struct clv_error *err)
{
    OWNED(exact_cut_release) struct exact_cut cut = {0};
    OWNED_ARRAY int32_t *node = array_alloc(at(grid, 0, grid->height), sizeof *node);
    NEED(node);
    MUST(number_pixels(&cut, node, labels, grid, err));
    for (int32_t y = 0; y < grid->height; y++) {
        const float *unary, *coupling[4] = {NULL};
        grid->row(grid->context, &unary, coupling, y);
        for (int32_t x = 0; x < grid->width; x++) {
            size_t p = at(grid, x, y);
            if (node[p] >= 0)
                exact_cut_add_term(&cut, node[p], unary[x]);
            for (int k = 0; k < grid->n_neighbours / 2; k++)
                if (has_neighbour(grid, x, y, k))
                    add_pair(&cut, node, labels, p, at(grid, x + dx[k], y + dy[k]), coupling[k][x]);
        }
    }
    exact_cut_solve(&cut);
    for (size_t p = 0; p < at(grid, 0, grid->height); p++)
        labels[p] = node[p] >= 0 ? cut.label[node[p]] : labels[p];
    return CLV_OK;
}
