/* Starts the flow of a grid from that of a coarser grid, whose pixels are blocks of 2 x 2 pixels: the excess of a block
 * is the sum of that of its pixels, the capacity between two blocks the sum of those between their pixels. A maximum
 * flow of the coarse grid is divided among the arcs of the pixels in proportion to their capacities. The excess that
 * remains in a block is levelled within the block. So flow over long distances has gone most of its way at a quarter of
 * the cost. Since any flow within the capacities leaves the same minimum cuts, the result stays exact. Arcs below a
 * saturated coarse arc are saturated as well, so excess that is cut off stays cut off. */
#include "base/base.h"
#include "infer/grid/grid.h"

#define MIN_SIDE    16
#define MAX_OUTWARD 4

/* Limits of the excess and capacities of coarse pixels, so that excess and eight arcs together stay below 2^31. Amounts
 * above a limit stay on the finer grid. Sums grow at most fourfold per level, and are small compared with the limits on
 * the finest levels (see grid.c). */
#define MAX_EXCESS   (1 << 29)
#define MAX_CAPACITY (1 << 27)

/* The arcs of a block's pixels (x, y) that lead to the block on the right, below, below right and below left, in the
 * order of arcs 0, 2, 4, 6 of the coarse pixel. With 4 arcs only arcs 0 to 3 exist. */
static const struct outward {
    int n;
    struct {
        int x, y, arc;
    } arcs[MAX_OUTWARD];
} outward[4] = {
    {4, {{1, 0, 0}, {1, 1, 0}, {1, 0, 4}, {1, 1, 7}}},
    {4, {{0, 1, 2}, {1, 1, 2}, {0, 1, 4}, {1, 1, 6}}},
    {1, {{1, 1, 4}}},
    {1, {{0, 1, 6}}},
};

/* Returns the top left pixel of a coarse pixel's block. */
INLINE int32_t corner_of(const struct grid_cut *fine, int32_t x, int32_t y)
{
    return pixel_at(fine, 2 * x, 2 * y);
}

/* Returns the capacity of all arcs out of a block in a direction. They have no flow yet. */
INLINE int32_t capacity_of(const struct grid_cut *fine, int32_t corner, int direction, int n_arcs)
{
    int32_t sum = 0;
    for (int i = 0; i < outward[direction].n; i++) {
        int x = outward[direction].arcs[i].x, y = outward[direction].arcs[i].y, arc = outward[direction].arcs[i].arc;
        if (arc < n_arcs)
            sum += arcs_of(fine, corner + x + y * fine->stride, n_arcs)[arc];
    }
    return sum;
}

INLINE int32_t clamp(int64_t value, int32_t size)
{
    return value > size ? size : value < -size ? -size : (int32_t)value;
}

INLINE void fill_pixel(struct grid_cut *coarse, const struct grid_cut *fine, int32_t x, int32_t y, int n_arcs)
{
    int32_t corner = corner_of(fine, x, y), p = pixel_at(coarse, x, y), n_core = 0;
    struct grid_state *state = state_of(coarse, p, n_arcs);
    int64_t excess = 0;
    for (int i = 0; i < 4; i++) {
        const struct grid_state *below = state_of(fine, corner + (i & 1) + (i >> 1) * fine->stride, n_arcs);
        excess += below->label == GRID_UNDECIDED ? below->excess : 0;
        n_core += below->label == GRID_UNDECIDED;
    }
    state->label = n_core ? GRID_UNDECIDED : GRID_ZERO;
    coarse->n_core += n_core > 0;
    state->excess = clamp(excess, MAX_EXCESS);
    for (int direction = 0; direction < n_arcs / 2; direction++) {
        int32_t capacity = clamp(capacity_of(fine, corner, direction, n_arcs), MAX_CAPACITY);
        arcs_of(coarse, p, n_arcs)[2 * direction] = capacity;
        arcs_of(coarse, p + coarse->offset[2 * direction], n_arcs)[2 * direction + 1] = capacity;
    }
}

INLINE void fill_run(struct grid_cut *coarse, const struct grid_cut *fine, struct grid_run run, int32_t y, int n_arcs)
{
    for (int32_t x = run.first; x < run.end; x++)
        fill_pixel(coarse, fine, x, y, n_arcs);
}

INLINE void fill_coarse(struct grid_cut *coarse, const struct grid_cut *fine, int n_arcs)
{
    for (int32_t y = 0; y < coarse->height; y++)
        for (int32_t r = coarse->row_runs[y], end = coarse->row_runs[y + 1]; r < end; r++)
            fill_run(coarse, fine, coarse->runs[r], y, n_arcs);
}

/* Pushes along arc k of pixel p; a negative amount backwards. */
INLINE void push(struct grid_cut *cut, int32_t p, int k, int32_t amount, int n_arcs)
{
    int32_t q = p + cut->offset[k];
    arcs_of(cut, p, n_arcs)[k] -= amount;
    arcs_of(cut, q, n_arcs)[k ^ 1] += amount;
    state_of(cut, p, n_arcs)->excess -= amount;
    state_of(cut, q, n_arcs)->excess += amount;
}

/* Divides the flow of each coarse arc of a run of row y in proportion to the arcs below it; the last arc gets the rest
 * that rounding leaves. The fine grid has no flow yet between blocks, so an arc's residual capacity is its whole
 * capacity in both directions. */
INLINE void share_out(struct grid_cut *fine, const struct grid_cut *coarse, struct grid_run run, int32_t y, int n_arcs)
{
    for (int32_t x = run.first; x < run.end; x++) {
        int32_t corner = corner_of(fine, x, y), p = pixel_at(coarse, x, y);
        for (int direction = 0; direction < n_arcs / 2; direction++) {
            int32_t there = arcs_of(coarse, p, n_arcs)[2 * direction];
            int32_t back = arcs_of(coarse, p + coarse->offset[2 * direction], n_arcs)[2 * direction + 1];
            int32_t flow = (back - there) / 2, left = flow ? capacity_of(fine, corner, direction, n_arcs) : 0;
            for (int i = 0; i < outward[direction].n && flow; i++) {
                int arc = outward[direction].arcs[i].arc;
                if (arc >= n_arcs)
                    continue;
                int32_t from = corner + outward[direction].arcs[i].x + outward[direction].arcs[i].y * fine->stride;
                int32_t capacity = arcs_of(fine, from, n_arcs)[arc];
                int32_t part = capacity == left ? flow : (int32_t)((int64_t)flow * capacity / left);
                push(fine, from, arc, part, n_arcs);
                flow -= part;
                left -= capacity;
            }
        }
    }
}

/* Moves excess between p and its neighbour along arc k until both have half of it. One rule assigns an odd unit for
 * both signs, so that in a block whose excess adds up to 0 no pixel keeps any. */
INLINE void level_pair(struct grid_cut *cut, int32_t p, int k, int n_arcs)
{
    int32_t q = p + cut->offset[k];
    const struct grid_state *here = state_of(cut, p, n_arcs), *there = state_of(cut, q, n_arcs);
    if (here->label != GRID_UNDECIDED || there->label != GRID_UNDECIDED)
        return;
    int64_t sum = (int64_t)here->excess + there->excess, wanted = here->excess - (sum - sum / 2);
    int32_t forth = arcs_of(cut, p, n_arcs)[k], back = arcs_of(cut, q, n_arcs)[k ^ 1];
    push(cut, p, k, wanted > forth ? forth : wanted < -back ? -back : (int32_t)wanted, n_arcs);
}

/* Levels the blocks of a run of row y that have undecided pixels. */
INLINE void level_blocks(struct grid_cut *fine, const struct grid_cut *coarse, struct grid_run run, int32_t y,
                         int n_arcs)
{
    for (int32_t x = run.first; x < run.end; x++) {
        if (state_of(coarse, pixel_at(coarse, x, y), n_arcs)->label != GRID_UNDECIDED)
            continue;
        int32_t corner = corner_of(fine, x, y);
        if (n_arcs == 8) {
            level_pair(fine, corner, 4, n_arcs);
            level_pair(fine, corner + 1, 6, n_arcs);
        }
        level_pair(fine, corner, 0, n_arcs);
        level_pair(fine, corner + fine->stride, 0, n_arcs);
        level_pair(fine, corner, 2, n_arcs);
        level_pair(fine, corner + 1, 2, n_arcs);
    }
}

enum clv_status grid_coarsen(struct grid_cut *coarse, const struct grid_cut *fine, struct clv_error *err)
{
    if (fine->width < MIN_SIDE || fine->height < MIN_SIDE || !fine->n_core)
        return CLV_OK;
    MUST(grid_cut_init_half(coarse, fine, err));
    if (fine->n_arcs == 4)
        fill_coarse(coarse, fine, 4);
    else
        fill_coarse(coarse, fine, 8);
    return CLV_OK;
}

INLINE void project(struct grid_cut *fine, const struct grid_cut *coarse, int32_t y, int n_arcs)
{
    const struct grid_run *first = coarse->runs + coarse->row_runs[y], *end = coarse->runs + coarse->row_runs[y + 1];
    for (const struct grid_run *run = first; run < end; run++)
        share_out(fine, coarse, *run, y, n_arcs);
    for (const struct grid_run *run = first; run < end; run++)
        level_blocks(fine, coarse, *run, y, n_arcs);
}

void grid_project(struct grid_cut *fine, const struct grid_cut *coarse, int32_t y)
{
    if (fine->n_arcs == 4)
        project(fine, coarse, y, 4);
    else
        project(fine, coarse, y, 8);
}
