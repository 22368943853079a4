/* Finds the maximum flow by incremental breadth-first search (Goldberg, Hed, Kaplan, Tarjan & Werneck, ESA 2011): trees
 * grow level by level from the pixels that have excess and from those that have a deficit. Where two trees meet, flow
 * is pushed along the path from root to root. A pixel is an orphan if the arc to its parent is saturated, or if it is a
 * root without excess or deficit left. Orphans get another parent, lowest level first. Start at grid_grow.
 *
 * In a source tree arcs lead from parent to child, in a sink tree from child to parent. Side 0 is the source trees,
 * side 1 the sink trees. */
#include <limits.h>

#include "base/base.h"
#include "infer/grid/grid.h"

#define FAR (1 << 28) /* beyond any level */

struct list {
    int32_t *items, n;
};

struct trees {
    struct grid_cut *cut;
    struct list list[2][2]; /* [side]: pixels of the deepest level, still to be scanned, and of the next */
    int32_t depth[2];       /* level that is scanned next */
    int32_t limit[2];       /* deepest level that is allowed now */
    int32_t *orphans;       /* [levels] first of each level, -1: none; valid up to highest */
    int32_t lowest, highest;
};

static void trees_release(struct trees *self)
{
    for (int k = 0; k < 4; k++)
        array_free(self->list[k / 2][k % 2].items);
    array_free(self->orphans);
}

static enum clv_status trees_init(struct trees *self, struct grid_cut *cut, struct clv_error *err)
{
    *self = (struct trees){.cut = cut, .depth = {1, 1}, .limit = {2, 2}, .lowest = INT_MAX};
    /* No pixel is in a list twice, and no level is deeper than there are pixels. */
    size_t n = (size_t)cut->n_core + 2;
    int is_short = !(self->orphans = array_alloc(n, sizeof *self->orphans));
    for (int k = 0; k < 4; k++)
        is_short |= !(self->list[k / 2][k % 2].items = array_alloc(n, sizeof(int32_t)));
    return is_short ? fail_memory(err) : CLV_OK;
}

/* Both return the residual capacity of arc k of p, or of its opposite arc, in the direction in which flow passes
 * through trees of a side: toward_child if the arc's head is a child of p, toward_parent if it is the parent. */
INLINE int32_t toward_child(const struct grid_cut *cut, int32_t p, int k, int side, int n_arcs)
{
    return side ? arcs_of(cut, p + cut->offset[k], n_arcs)[k ^ 1] : arcs_of(cut, p, n_arcs)[k];
}

INLINE int32_t toward_parent(const struct grid_cut *cut, int32_t p, int k, int side, int n_arcs)
{
    return toward_child(cut, p, k, !side, n_arcs);
}

/* Returns a pixel's level: above 0 in trees of the given side, below 0 in trees of the other side. */
INLINE int32_t level_of(const struct grid_state *state, int side)
{
    return side ? -state->distance : state->distance;
}

INLINE void enlist(struct trees *self, struct grid_state *state, int32_t p, int side, int is_next)
{
    struct list *list = &self->list[side][is_next];
    list->items[list->n] = p;
    list->n += !(state->is_listed >> side & 1);
    state->is_listed |= (uint8_t)(1 << side);
}

INLINE void add_orphan(struct trees *self, struct grid_state *state, int32_t p, int32_t level)
{
    state->parent = GRID_NONE;
    while (self->highest < level)
        self->orphans[++self->highest] = -1;
    state->next = self->orphans[level];
    self->orphans[level] = p;
    self->lowest = level < self->lowest ? level : self->lowest;
}

/* Handles an orphan without a parent on the level above: moves it one level below its nearest neighbour in the trees,
 * which may be an orphan itself, or out of the trees if that is too deep. Its children become orphans. */
INLINE void sink(struct trees *self, struct grid_state *state, int32_t p, int32_t nearest, int side, int n_arcs)
{
    struct grid_cut *cut = self->cut;
    int32_t level = level_of(state, side);
    for (int k = 0; k < n_arcs; k++) {
        int32_t q = p + cut->offset[k];
        struct grid_state *child = state_of(cut, q, n_arcs);
        if (child->parent == (k ^ 1) + 1)
            add_orphan(self, child, q, level + 1);
    }
    if (nearest >= self->limit[side]) {
        state->distance = 0;
        return;
    }
    state->distance = side ? -(nearest + 1) : nearest + 1;
    add_orphan(self, state, p, nearest + 1);
    if (nearest + 1 >= self->depth[side])
        enlist(self, state, p, side, nearest + 1 > self->depth[side]);
}

/* Finds parents for all orphans of a side, the lowest level first, so that parents found at higher levels are final. */
INLINE void adopt(struct trees *self, int side, int n_arcs)
{
    struct grid_cut *cut = self->cut;
    while (self->lowest <= self->highest) {
        int32_t level = self->lowest, p = self->orphans[level];
        if (p < 0) {
            self->lowest++;
            continue;
        }
        struct grid_state *state = state_of(cut, p, n_arcs);
        self->orphans[level] = state->next;
        uint32_t best = (uint32_t)FAR << 3; /* level and arc in one number: no branches */
        for (int k = 0; k < n_arcs; k++) {
            int32_t above = level_of(state_of(cut, p + cut->offset[k], n_arcs), side);
            int is_open = (above > 0) & (toward_parent(cut, p, k, side, n_arcs) > 0);
            uint32_t candidate = is_open ? (uint32_t)above << 3 | (uint32_t)k : UINT32_MAX;
            best = candidate < best ? candidate : best;
        }
        if ((int32_t)(best >> 3) == level - 1)
            state->parent = (best & 7) + 1;
        else
            sink(self, state, p, (int32_t)(best >> 3), side, n_arcs);
    }
    self->lowest = INT_MAX;
    self->highest = 0;
}

/* Returns the least of `amount`, the residual capacities on p's path to its root, and the root's excess or deficit. */
INLINE int32_t bottleneck(const struct grid_cut *cut, int32_t p, int32_t amount, int side, int n_arcs)
{
    const struct grid_state *state = state_of(cut, p, n_arcs);
    while (state->parent != GRID_ROOT) {
        int k = state->parent - 1;
        int32_t residual = toward_parent(cut, p, k, side, n_arcs);
        amount = residual < amount ? residual : amount;
        p += cut->offset[k];
        state = state_of(cut, p, n_arcs);
    }
    int32_t root = side ? -state->excess : state->excess;
    return root < amount ? root : amount;
}

/* Pushes the amount along the path between p and its root. Pixels that lose their parent become orphans. */
INLINE void push_path(struct trees *self, int32_t p, int32_t amount, int side, int n_arcs)
{
    struct grid_cut *cut = self->cut;
    struct grid_state *state = state_of(cut, p, n_arcs);
    while (state->parent != GRID_ROOT) {
        int k = state->parent - 1;
        int32_t q = p + cut->offset[k];
        int32_t *up = &arcs_of(cut, p, n_arcs)[k], *down = &arcs_of(cut, q, n_arcs)[k ^ 1];
        *up += side ? -amount : amount;
        *down += side ? amount : -amount;
        if (!(side ? *up : *down))
            add_orphan(self, state, p, level_of(state, side));
        p = q;
        state = state_of(cut, p, n_arcs);
    }
    state->excess += side ? amount : -amount;
    if (!state->excess)
        add_orphan(self, state, p, level_of(state, side));
}

/* Augments from the root of s in a source tree along arc k to the root of s's neighbour in a sink tree. */
INLINE void augment(struct trees *self, int32_t s, int k, int n_arcs)
{
    struct grid_cut *cut = self->cut;
    int32_t t = s + cut->offset[k], amount = arcs_of(cut, s, n_arcs)[k];
    amount = bottleneck(cut, s, amount, 0, n_arcs);
    amount = bottleneck(cut, t, amount, 1, n_arcs);
    arcs_of(cut, s, n_arcs)[k] -= amount;
    arcs_of(cut, t, n_arcs)[k ^ 1] += amount;
    push_path(self, s, amount, 0, n_arcs);
    adopt(self, 0, n_arcs);
    push_path(self, t, amount, 1, n_arcs);
    adopt(self, 1, n_arcs);
}

/* Scans a pixel of the deepest level. */
INLINE void scan(struct trees *self, struct grid_state *state, int32_t p, int side, int n_arcs)
{
    struct grid_cut *cut = self->cut;
    int32_t depth = self->depth[side];
    for (int k = 0; k < n_arcs; k++) {
        int32_t q = p + cut->offset[k];
        struct grid_state *other = state_of(cut, q, n_arcs);
        while (level_of(other, side) < 0 && toward_child(cut, p, k, side, n_arcs)) {
            augment(self, side ? q : p, side ? k ^ 1 : k, n_arcs);
            if (level_of(state, side) != depth)
                return;
        }
        if (!other->distance && toward_child(cut, p, k, side, n_arcs)) {
            other->distance = side ? -(depth + 1) : depth + 1;
            other->parent = (uint8_t)((k ^ 1) + 1);
            enlist(self, other, q, side, 1);
        }
    }
}

/* Prefetches the records that scanning p reads. */
INLINE void prefetch(const struct grid_cut *cut, int32_t p, int n_arcs)
{
    __builtin_prefetch(arcs_of(cut, p, n_arcs));
    __builtin_prefetch(state_of(cut, p, n_arcs));
    __builtin_prefetch(state_of(cut, p - cut->stride, n_arcs));
    __builtin_prefetch(state_of(cut, p + cut->stride, n_arcs));
}

/* Grows the trees of a side by a level. */
INLINE void grow(struct trees *self, int side, int n_arcs)
{
    struct list *list = self->list[side], scanned;
    self->limit[side] = self->depth[side] + 1;
    for (int32_t at = 0; at < list[0].n; at++) {
        int32_t p = list[0].items[at];
        if (at + 8 < list[0].n)
            prefetch(self->cut, list[0].items[at + 8], n_arcs);
        struct grid_state *state = state_of(self->cut, p, n_arcs);
        state->is_listed &= (uint8_t) ~(1 << side);
        if (level_of(state, side) == self->depth[side])
            scan(self, state, p, side, n_arcs);
        else if (level_of(state, side) > self->depth[side])
            enlist(self, state, p, side, 1);
    }
    self->depth[side]++;
    scanned = list[0];
    list[0] = list[1];
    list[1] = scanned;
    list[1].n = 0;
}

/* Returns whether a root can extend its tree: whether a neighbour is not a root of the same side. */
INLINE int is_at_border(const struct grid_cut *cut, const struct grid_state *state, int32_t p, int n_arcs)
{
    int is_border = 0;
    for (int k = 0; k < n_arcs; k++) {
        int32_t other = state_of(cut, p + cut->offset[k], n_arcs)->excess;
        is_border |= state->excess > 0 ? other <= 0 : other >= 0;
    }
    return is_border;
}

INLINE int32_t least_of(int32_t a, int32_t b, int32_t c)
{
    int32_t least = a < b ? a : b;
    return c < least ? c : least;
}

/* Pushes excess of a run of row y to neighbours with a deficit. Most paths are that short and need no trees. */
INLINE void push_to_neighbours(struct grid_cut *cut, struct grid_run run, int32_t y, int n_arcs)
{
    for (int32_t p = pixel_at(cut, run.first, y), end = p + run.end - run.first; p < end; p++) {
        struct grid_state *state = state_of(cut, p, n_arcs);
        for (int k = 0; k < n_arcs && state->label == GRID_UNDECIDED; k += 2) {
            int32_t q = p + cut->offset[k], here = state->excess;
            struct grid_state *other = state_of(cut, q, n_arcs);
            if ((here > 0) == (other->excess > 0) || other->label != GRID_UNDECIDED)
                continue;
            int32_t *forth = &arcs_of(cut, p, n_arcs)[k], *back = &arcs_of(cut, q, n_arcs)[k ^ 1];
            int32_t amount = here > 0 ? least_of(here, -other->excess, *forth) : -least_of(-here, other->excess, *back);
            *forth -= amount;
            *back += amount;
            state->excess -= amount;
            other->excess += amount;
        }
    }
}

/* Makes every undecided pixel of a run of row y with excess or a deficit a root. Roots whose neighbours are all roots
 * of their side count as scanned. */
INLINE void plant(struct trees *self, struct grid_run run, int32_t y, int n_arcs)
{
    struct grid_cut *cut = self->cut;
    for (int32_t p = pixel_at(cut, run.first, y), end = p + run.end - run.first; p < end; p++) {
        struct grid_state *state = state_of(cut, p, n_arcs);
        int32_t excess = state->label == GRID_UNDECIDED ? state->excess : 0;
        state->parent = excess ? GRID_ROOT : GRID_NONE;
        state->distance = (excess > 0) - (excess < 0);
        if (excess && is_at_border(cut, state, p, n_arcs))
            enlist(self, state, p, excess < 0, 0);
    }
}

/* Prepares all rows in several steps. Each step follows a few rows behind the one before it, while they are in the
 * cache, since it also needs the row below. */
INLINE void start(struct trees *self, struct grid_cut *coarse, int n_arcs)
{
    struct grid_cut *cut = self->cut;
    for (int32_t y = 0; y < cut->height + 3; y++) {
        if (coarse->records && y % 2 && y <= cut->height)
            grid_project(cut, coarse, y / 2);
        int32_t pushed = y - 2, planted = y - 3;
        if (pushed >= 0 && pushed < cut->height)
            for (int32_t r = cut->row_runs[pushed]; r < cut->row_runs[pushed + 1]; r++)
                push_to_neighbours(cut, cut->runs[r], pushed, n_arcs);
        if (planted >= 0)
            for (int32_t r = cut->row_runs[planted]; r < cut->row_runs[planted + 1]; r++)
                plant(self, cut->runs[r], planted, n_arcs);
    }
    grid_cut_release(coarse);
}

/* Grows both sides, the less deep one first. When one side has no pixel left to scan, it cannot reach the other; then
 * the source trees grow to all pixels that they can reach. */
INLINE void run(struct trees *self, struct grid_cut *coarse, int n_arcs)
{
    start(self, coarse, n_arcs);
    while (self->list[0][0].n && self->list[1][0].n)
        if (self->depth[0] <= self->depth[1])
            grow(self, 0, n_arcs);
        else
            grow(self, 1, n_arcs);
    while (self->list[0][0].n)
        grow(self, 0, n_arcs);
}

static void run_4(struct trees *self, struct grid_cut *coarse)
{
    run(self, coarse, 4);
}

static void run_8(struct trees *self, struct grid_cut *coarse)
{
    run(self, coarse, 8);
}

enum clv_status grid_grow(struct grid_cut *cut, struct grid_cut *coarse, struct clv_error *err)
{
    OWNED(trees_release) struct trees trees = {0};
    MUST(trees_init(&trees, cut, err));
    if (cut->n_arcs == 4)
        run_4(&trees, coarse);
    else
        run_8(&trees, coarse);
    return CLV_OK;
}
