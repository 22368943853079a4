/* Fills the sparse rows of node features, block by block. Start at rows_fill. */
#include "feature/example/example.h"

#include <string.h>

#include "base/base.h"

/* Moves the non-zero entries of dense[n] to the end of the sparse matrix, and clears them. */
static enum clv_status append_row(struct clv_example *example, size_t *capacity, size_t *n_entries, float *dense,
                                  int32_t n, struct clv_error *err)
{
    const struct array_part entries[] = {{&example->value, sizeof(float)}, {&example->index, sizeof(int32_t)}};
    if (array_reserve_all(entries, 2, capacity, *n_entries + (size_t)n))
        return fail_memory(err);
    for (int32_t k = 0; k < n; k++)
        if (dense[k] != 0) {
            example->index[*n_entries] = k;
            example->value[(*n_entries)++] = dense[k];
        }
    memset(dense, 0, (size_t)n * sizeof *dense);
    return CLV_OK;
}

static void fill_row(float *row, const struct views *views, const struct layout *at, int32_t region)
{
    for (int b = 0; b < N_BLOCKS; b++)
        if (at->start[b] >= 0)
            block_rows[b].fill(row + at->start[b], views, region);
}

enum clv_status rows_fill(struct clv_example *example, int32_t n_nodes, const struct views *views,
                          const struct layout *at, struct clv_error *err)
{
    OWNED_ARRAY float *dense = array_zalloc((size_t)at->n_features, sizeof *dense);
    size_t capacity = 0, n_entries = 0;
    example->row = array_alloc((size_t)n_nodes + 1, sizeof *example->row);
    NEED(dense && example->row);
    example->row[0] = 0;
    for (int32_t r = 0; r < n_nodes; r++) {
        fill_row(dense, views, at, r);
        MUST(append_row(example, &capacity, &n_entries, dense, at->n_features, err));
        example->row[r + 1] = (int64_t)n_entries;
    }
    return CLV_OK;
}
