/* Traces the contours of regions of equal values in one pass over the rows, from the top. Cuts a row into runs and
 * joins touching runs of one value to regions, by union-find over two rows (Rosenfeld & Pfaltz 1966). At most four
 * rings pass a corner of pixels, each with its region on the right; the edge that enters the corner is linked to the
 * edge that leaves it. Pieces of rings are lists of points that grow at both ends until the two ends meet. A region is
 * complete when its outer ring closes. Start at tracer_row and take_row. */
#include "data/shapes/shapes.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/shapes/row_runs.h"

#define OUTSIDE (-1)                /* the value around the image */
#define FLAG    ((uint32_t)1 << 31) /* a bit of coordinates that is used as a mark */
#define NONE    (-1)

void contours_release(struct contours *self)
{
    arrays_free(self->objects, self->points, self->is_junction, self->ring_ends, self->exact, self->exact_ends);
    *self = (struct contours){0};
}

/* A pool of items of one size. Each item begins with the index of the next item in its list, or NONE; free items are
 * one list. */
struct pool {
    void *items;
    size_t size, capacity, n_used;
    int32_t n, first_free;
};

/* A point of a ring. FLAG in x: it is a junction. FLAG in y: the ring must be split there (split_ring). */
struct vertex {
    int32_t next;
    uint32_t x, y;
};

/* One of the two ends of a piece of a ring, which grow forward and backward. */
struct piece_end {
    int32_t mate;   /* the other end of the piece */
    int32_t vertex; /* the outermost vertex on this side, or NONE: the piece has no vertex yet */
};

/* A closed ring. Its last point begins the first edge, in row order, that has the region below it. */
struct ring {
    int32_t next; /* next ring of its region */
    int32_t first, last;
    int32_t n_points, x, y; /* (x, y) is the last point */
};

struct region {
    int32_t next;
    int32_t parent; /* itself, or the region that it has joined in the current row */
    int32_t value, top, first_column, left, right, bottom;
    int32_t first_ring, last_ring, n_rings;
    int64_t n_pixels;
};

struct tracer {
    struct tracing how;
    struct row_runs above, row;
    int32_t y; /* index of the current row */
    struct pool vertices, ends, rings, regions;
    int32_t joined;                    /* list of the regions that have joined others in this row, or NONE */
    int32_t whole;                     /* list of the complete regions, kept for tracer_end, or NONE */
    size_t n_whole, n_rings, n_points; /* numbers of these regions, their rings and their points */
    int32_t *sorted;                   /* rings of a region, or vertices where a ring is split */
    size_t sorted_capacity;
};

/* Takes a free item and returns its index, or NONE: out of memory. */
static int32_t pool_take(struct pool *self)
{
    int32_t item = self->first_free;
    if (item != NONE) {
        memcpy(&self->first_free, (char *)self->items + (size_t)item * self->size, sizeof item);
    } else {
        if (self->n == INT32_MAX || ((size_t)self->n >= self->capacity &&
                                     array_reserve(&self->items, &self->capacity, (size_t)self->n + 1, self->size)))
            return NONE;
        item = self->n++;
    }
    self->n_used++;
    return item;
}

/* Returns a list of n items to the pool. */
static void pool_give(struct pool *self, int32_t first, int32_t last, int32_t n)
{
    memcpy((char *)self->items + (size_t)last * self->size, &self->first_free, sizeof first);
    self->first_free = first;
    self->n_used -= (size_t)n;
}

static struct vertex *vertex_at(const struct tracer *self, int32_t k)
{
    return (struct vertex *)self->vertices.items + k;
}

static struct piece_end *end_at(const struct tracer *self, int32_t k)
{
    return (struct piece_end *)self->ends.items + k;
}

static struct ring *ring_at(const struct tracer *self, int32_t k)
{
    return (struct ring *)self->rings.items + k;
}

static struct region *region_at(const struct tracer *self, int32_t k)
{
    return (struct region *)self->regions.items + k;
}

void tracer_free(struct tracer *self)
{
    if (!self)
        return;
    row_runs_release(&self->above);
    row_runs_release(&self->row);
    arrays_free(self->vertices.items, self->ends.items, self->rings.items, self->regions.items, self->sorted, self);
}

enum clv_status tracer_begin(struct tracer **self, const struct tracing *how, struct clv_error *err)
{
    FAIL_IF(how->width < 1 || how->height < 1 || how->height == INT32_MAX, CLV_ERR_USAGE, "contours of %dx%d pixels",
            how->width, how->height);
    OWNED(tracer_drop) struct tracer *result = array_zalloc(1, sizeof *result);
    NEED(result);
    result->how = *how;
    result->joined = result->whole = NONE;
    result->vertices = (struct pool){.size = sizeof(struct vertex), .first_free = NONE};
    result->ends = (struct pool){.size = sizeof(struct piece_end), .first_free = NONE};
    result->rings = (struct pool){.size = sizeof(struct ring), .first_free = NONE};
    result->regions = (struct pool){.size = sizeof(struct region), .first_free = NONE};
    NEED(row_runs_add(&result->above, 0, OUTSIDE) && row_runs_end(&result->above, how->width, OUTSIDE));
    *self = TAKE(result);
    return CLV_OK;
}

/* Regions. */

static int32_t find_region(const struct tracer *self, int32_t k)
{
    while (region_at(self, k)->parent != k)
        k = region_at(self, k)->parent = region_at(self, region_at(self, k)->parent)->parent;
    return k;
}

static bool begins_before(const struct region *a, const struct region *b)
{
    return a->top != b->top ? a->top < b->top : a->first_column < b->first_column;
}

static void join_rings(const struct tracer *self, struct region *kept, const struct region *joined)
{
    if (joined->first_ring == NONE)
        return;
    if (kept->first_ring == NONE)
        kept->first_ring = joined->first_ring;
    else
        ring_at(self, kept->last_ring)->next = joined->first_ring;
    kept->last_ring = joined->last_ring;
    kept->n_rings += joined->n_rings;
}

/* Joins two regions. Returns the one whose first pixel comes first; it represents both. */
static int32_t join_regions(struct tracer *self, int32_t a, int32_t b)
{
    a = find_region(self, a);
    b = find_region(self, b);
    if (a == b)
        return a;
    if (begins_before(region_at(self, b), region_at(self, a)))
        return join_regions(self, b, a);
    struct region *kept = region_at(self, a), *joined = region_at(self, b);
    kept->n_pixels += joined->n_pixels;
    kept->left = joined->left < kept->left ? joined->left : kept->left;
    kept->right = joined->right > kept->right ? joined->right : kept->right;
    kept->bottom = joined->bottom > kept->bottom ? joined->bottom : kept->bottom;
    join_rings(self, kept, joined);
    joined->parent = a;
    joined->next = self->joined;
    self->joined = b;
    return a;
}

static void add_pixels(struct region *region, const struct run *run, int32_t y)
{
    int32_t last = run[1].begin - 1;
    region->n_pixels += run[1].begin - run->begin;
    region->left = run->begin < region->left ? run->begin : region->left;
    region->right = last > region->right ? last : region->right;
    region->bottom = y;
}

/* Finds or creates the region of a run. *first is the index of the first run above that may touch it; it advances from
 * run to run. */
static enum clv_status find_region_of(struct tracer *self, struct run *run, size_t *first, struct clv_error *err)
{
    const struct run *above = self->above.runs;
    const int64_t reach = self->how.by_sides ? 0 : 1, end = run[1].begin;
    while (*first < self->above.n && above[*first + 1].begin + reach <= run->begin)
        ++*first;
    for (size_t k = *first; k < self->above.n && above[k].begin < end + reach; k++)
        if (above[k].value == run->value)
            run->region = run->region == NONE ? find_region(self, above[k].region)
                                              : join_regions(self, run->region, above[k].region);
    if (run->region == NONE) {
        NEED((run->region = pool_take(&self->regions)) != NONE);
        *region_at(self, run->region) = (struct region){.next = NONE,
                                                        .parent = run->region,
                                                        .value = run->value,
                                                        .top = self->y,
                                                        .first_column = run->begin,
                                                        .left = run->begin,
                                                        .first_ring = NONE,
                                                        .last_ring = NONE};
    }
    add_pixels(region_at(self, run->region), run, self->y);
    return CLV_OK;
}

static void rename_regions(const struct tracer *self, struct row_runs *row)
{
    for (size_t k = 0; k < row->n; k++)
        if (row->runs[k].is_traced)
            row->runs[k].region = find_region(self, row->runs[k].region);
}

/* Finds the regions of the row's runs, and frees regions that have joined others. */
static enum clv_status find_regions(struct tracer *self, struct clv_error *err)
{
    size_t first = 0;
    for (size_t k = 0; k < self->row.n; k++) {
        struct run *run = &self->row.runs[k];
        run->is_traced =
            run->value >= 0 &&
            (self->how.is_traced ? run->value < self->how.n_traced && self->how.is_traced[run->value] : run->value > 0);
        if (run->is_traced)
            MUST(find_region_of(self, run, &first, err));
    }
    if (self->joined == NONE)
        return CLV_OK;
    rename_regions(self, &self->above);
    rename_regions(self, &self->row);
    for (int32_t k = self->joined, next; k != NONE; k = next) {
        next = region_at(self, k)->next;
        pool_give(&self->regions, k, k, 1);
    }
    self->joined = NONE;
    return CLV_OK;
}

/* Complete regions. */

static int compare_rings(const void *a, const void *b, void *context)
{
    const struct ring *p = ring_at(context, *(const int32_t *)a), *q = ring_at(context, *(const int32_t *)b);
    return p->y != q->y ? (p->y > q->y) - (p->y < q->y) : (p->x > q->x) - (p->x < q->x);
}

/* Allocates objects, rings and points. */
static enum clv_status reserve(struct contours *contours, size_t n_objects, size_t n_rings, size_t n_points,
                               struct clv_error *err)
{
    contours->objects = array_alloc(n_objects, sizeof *contours->objects);
    contours->ring_ends = array_alloc(n_rings, sizeof *contours->ring_ends);
    contours->points = array_alloc(n_points, sizeof *contours->points);
    contours->is_junction = array_alloc(n_points, sizeof *contours->is_junction);
    NEED(contours->objects && contours->ring_ends && contours->points && contours->is_junction);
    return CLV_OK;
}

/* Copies the points of a ring to the contours, and frees the ring. */
static void take_points(struct contours *contours, struct tracer *self, int32_t k)
{
    struct ring *ring = ring_at(self, k);
    for (int32_t v = ring->first; v != NONE; v = vertex_at(self, v)->next) {
        const struct vertex *vertex = vertex_at(self, v);
        contours->points[contours->n_points][0] = (int32_t)(vertex->x & ~FLAG);
        contours->points[contours->n_points][1] = (int32_t)vertex->y;
        contours->is_junction[contours->n_points++] = vertex->x & FLAG;
    }
    contours->ring_ends[contours->n_rings++] = contours->n_points;
    pool_give(&self->vertices, ring->first, ring->last, ring->n_points);
    pool_give(&self->rings, k, k, 1);
}

/* Moves a complete region to the contours, which must have been allocated for it. */
static enum clv_status take_object(struct contours *contours, struct tracer *self, int32_t k, struct clv_error *err)
{
    const struct region *region = region_at(self, k);
    size_t n = 0;
    NEED(!array_reserve((void **)&self->sorted, &self->sorted_capacity, (size_t)region->n_rings, sizeof *self->sorted));
    for (int32_t ring = region->first_ring; ring != NONE; ring = ring_at(self, ring)->next)
        self->sorted[n++] = ring;
    if (n > 1)
        qsort_r(self->sorted, n, sizeof *self->sorted, compare_rings, self);
    for (size_t r = 0; r < n; r++)
        take_points(contours, self, self->sorted[r]);
    contours->objects[contours->n_objects] = (struct contour_object){.label = region->value,
                                                                     .end_ring = contours->n_rings,
                                                                     .n_pixels = region->n_pixels,
                                                                     .left = region->left,
                                                                     .top = region->top,
                                                                     .width = region->right - region->left + 1,
                                                                     .height = region->bottom - region->top + 1,
                                                                     .first_column = region->first_column,
                                                                     .number = (int32_t)contours->n_objects + 1};
    contours->n_objects++;
    pool_give(&self->regions, k, k, 1);
    return CLV_OK;
}

/* Passes a complete region to the callback `take`, or keeps it for tracer_end. */
static enum clv_status end_region(struct tracer *self, int32_t k, struct clv_error *err)
{
    struct region *region = region_at(self, k);
    size_t n_rings = (size_t)region->n_rings, n_points = 0;
    for (int32_t ring = region->first_ring; ring != NONE; ring = ring_at(self, ring)->next)
        n_points += (size_t)ring_at(self, ring)->n_points;
    if (self->how.take) {
        OWNED(contours_release) struct contours one = {.width = self->how.width, .height = self->how.height};
        MUST(reserve(&one, 1, n_rings, n_points, err));
        MUST(take_object(&one, self, k, err));
        return self->how.take(self->how.context, &one, err);
    }
    region->next = self->whole;
    self->whole = k;
    self->n_whole++;
    self->n_rings += n_rings;
    self->n_points += n_points;
    return CLV_OK;
}

/* Rings. */

/* Adds the closed list of points through `start` to the rings of a region. Sets *is_outer if it is the outer ring. */
static enum clv_status add_ring(bool *is_outer, struct tracer *self, int32_t start, int32_t region,
                                struct clv_error *err)
{
    int32_t best = NONE, k = pool_take(&self->rings), v = start, n_points = 0;
    uint32_t top = FLAG;
    NEED(k != NONE);
    do {
        struct vertex *vertex = vertex_at(self, v);
        const struct vertex *next = vertex_at(self, vertex->next), *first = vertex_at(self, best == NONE ? v : best);
        uint32_t x = vertex->x & ~FLAG, y = vertex->y &= ~FLAG;
        bool has_region_below = (next->y & ~FLAG) == y && (next->x & ~FLAG) > x;
        if (has_region_below && (best == NONE || y < first->y || (y == first->y && x < (first->x & ~FLAG))))
            best = v;
        top = y < top ? y : top;
        n_points++;
        v = vertex->next;
    } while (v != start);
    struct vertex *last = vertex_at(self, best);
    struct region *owner = region_at(self, region);
    *ring_at(self, k) = (struct ring){NONE, last->next, best, n_points, (int32_t)(last->x & ~FLAG), (int32_t)last->y};
    last->next = NONE;
    if (owner->first_ring == NONE)
        owner->first_ring = k;
    else
        ring_at(self, owner->last_ring)->next = k;
    owner->last_ring = k;
    owner->n_rings++;
    *is_outer |= last->y == top;
    return CLV_OK;
}

static int compare_vertices(const void *a, const void *b, void *context)
{
    const struct vertex *p = vertex_at(context, *(const int32_t *)a), *q = vertex_at(context, *(const int32_t *)b);
    uint32_t x = p->x & ~FLAG, u = q->x & ~FLAG;
    return p->y != q->y ? (p->y > q->y) - (p->y < q->y) : (x > u) - (x < u);
}

/* Splits a ring where it passes a corner twice, by exchanging the two successors of that corner. Such corners are
 * nested like brackets, so each exchange turns one ring into two. Adds all rings to the region. */
static enum clv_status split_ring(bool *is_outer, struct tracer *self, int32_t start, int32_t region,
                                  struct clv_error *err)
{
    size_t n = 0, n_split = 0;
    for (int32_t v = start;;) {
        struct vertex *vertex = vertex_at(self, v);
        if (vertex->y & FLAG) {
            NEED(!array_reserve((void **)&self->sorted, &self->sorted_capacity, n + 1, sizeof *self->sorted));
            self->sorted[n++] = v;
            vertex->y &= ~FLAG;
        }
        v = vertex->next;
        if (v == start)
            break;
    }
    if (n)
        qsort_r(self->sorted, n, sizeof *self->sorted, compare_vertices, self);
    for (size_t k = 0; k + 1 < n; k++) {
        struct vertex *a = vertex_at(self, self->sorted[k]), *b = vertex_at(self, self->sorted[k + 1]);
        if (compare_vertices(&self->sorted[k], &self->sorted[k + 1], self) != 0)
            continue;
        int32_t next = a->next;
        a->next = b->next;
        b->next = next;
        self->sorted[n_split++] = self->sorted[k];
        self->sorted[n_split++] = self->sorted[++k];
    }
    if (!n_split)
        return add_ring(is_outer, self, start, region, err);
    for (size_t k = 0; k < n_split; k++)
        vertex_at(self, self->sorted[k])->y |= FLAG;
    for (size_t k = 0; k < n_split; k++)
        if (vertex_at(self, self->sorted[k])->y & FLAG) /* add_ring clears the flag: this point is in no ring yet */
            MUST(add_ring(is_outer, self, self->sorted[k], region, err));
    return CLV_OK;
}

/* Joins two pieces: the forward end of one meets the backward end of the other. If both ends belong to one piece, the
 * ring is closed and added to the region. */
static enum clv_status join_pieces(struct tracer *self, int32_t forward, int32_t backward, int32_t region,
                                   struct clv_error *err)
{
    const struct piece_end before = *end_at(self, forward), after = *end_at(self, backward);
    bool is_outer = false;
    if (before.vertex != NONE && after.vertex != NONE)
        vertex_at(self, before.vertex)->next = after.vertex;
    pool_give(&self->ends, forward, forward, 1);
    pool_give(&self->ends, backward, backward, 1);
    if (before.mate == backward) {
        MUST(self->how.by_sides ? split_ring(&is_outer, self, after.vertex, region, err)
                                : add_ring(&is_outer, self, after.vertex, region, err));
        return is_outer ? end_region(self, region, err) : CLV_OK;
    }
    struct piece_end *first = end_at(self, before.mate), *last = end_at(self, after.mate);
    if (before.vertex == NONE)
        first->vertex = after.vertex;
    if (after.vertex == NONE)
        last->vertex = before.vertex;
    first->mate = after.mate;
    last->mate = before.mate;
    return CLV_OK;
}

/* Adds a point to a piece: at the forward end, or if `forward` is NONE at the backward end. */
static enum clv_status add_vertex(struct tracer *self, int32_t forward, int32_t backward, struct vertex vertex,
                                  struct clv_error *err)
{
    struct piece_end *end = end_at(self, forward != NONE ? forward : backward);
    int32_t k = pool_take(&self->vertices);
    NEED(k != NONE);
    vertex.next = NONE;
    if (end->vertex == NONE)
        end_at(self, end->mate)->vertex = k;
    else if (forward != NONE)
        vertex_at(self, end->vertex)->next = k;
    else
        vertex.next = end->vertex;
    end->vertex = k;
    *vertex_at(self, k) = vertex;
    return CLV_OK;
}

static enum clv_status begin_piece(int32_t *forward, int32_t *backward, struct tracer *self, struct clv_error *err)
{
    NEED((*forward = pool_take(&self->ends)) != NONE);
    NEED((*backward = pool_take(&self->ends)) != NONE);
    *end_at(self, *forward) = (struct piece_end){*backward, NONE};
    *end_at(self, *backward) = (struct piece_end){*forward, NONE};
    return CLV_OK;
}

/* Links the edges at corner (x, y) of pixels. Directions are 0 right, 1 down, 2 left and 3 up. around[d] is the pixel
 * on the right of an edge that enters in direction d: the lower left, upper left, upper right and lower right one. So
 * around[(d + 1) % 4] is on the left of that edge; beyond the corner, around[(d + 2) % 4] is on the left and around[(d
 * + 3) % 4] on the right.
 *
 * ends[d] are the open ends on the edges to the left and above, which earlier corners have passed: forward ends of
 * pieces that enter by direction 0 or 1, backward ends of pieces that must leave by direction 2 or 3. next[d] receives
 * the open ends on the edges to the right and below: forward ends that leave by direction 0 or 1, backward ends that
 * enter by direction 2 or 3. */
static enum clv_status pass_corner(int32_t next[4], struct tracer *self, const int32_t ends[4],
                                   const struct run *const around[4], int32_t x, struct clv_error *err)
{
    int n_edges = 0;
    for (int d = 0; d < 4; d++)
        n_edges += around[d]->value != around[(d + 1) % 4]->value;
    for (int d = 0; d < 4; d++) {
        const struct run *run = around[d];
        if (!run->is_traced || run->value == around[(d + 1) % 4]->value)
            continue;
        bool is_left = around[(d + 2) % 4]->value == run->value, is_right = around[(d + 3) % 4]->value == run->value;
        bool is_crosswise = is_left && !is_right, goes_left = is_left && !(is_crosswise && self->how.by_sides);
        int out = goes_left ? (d + 3) % 4 : is_right ? d : (d + 1) % 4;
        int32_t forward = d < 2 ? ends[d] : NONE, backward = out >= 2 ? ends[out] : NONE;
        const bool enters = forward != NONE, leaves = backward != NONE;
        if (!enters && !leaves)
            MUST(begin_piece(&forward, &backward, self, err));
        if (out != d || n_edges > 2) {
            struct vertex vertex = {.x = (uint32_t)x | (n_edges > 2 ? FLAG : 0),
                                    .y = (uint32_t)self->y | (is_crosswise ? FLAG : 0)};
            MUST(add_vertex(self, forward, backward, vertex, err));
        }
        if (enters && leaves)
            MUST(join_pieces(self, forward, backward, run->region, err));
        if (!enters)
            next[d] = backward;
        if (!leaves)
            next[out] = forward;
    }
    return CLV_OK;
}

/* Passes all corners between the row above and the current row; between corners edges are straight. */
static enum clv_status pass_corners(struct tracer *self, struct clv_error *err)
{
    static const struct run outside = {.value = OUTSIDE};
    const struct run *upper = self->above.runs, *upper_left = &outside, *lower_left = &outside;
    struct run *lower = self->row.runs;
    int32_t ends[4] = {NONE, NONE, NONE, NONE};
    for (;;) {
        int32_t x = upper->begin < lower->begin ? upper->begin : lower->begin;
        const bool is_upper = upper->begin == x, is_lower = lower->begin == x;
        const struct run *upper_right = is_upper ? upper : upper_left, *lower_right = is_lower ? lower : lower_left;
        const struct run *const around[4] = {lower_left, upper_left, upper_right, lower_right};
        int32_t next[4] = {NONE, NONE, NONE, NONE};
        ends[1] = is_upper ? upper->down : NONE;
        ends[3] = is_upper ? upper->up : NONE;
        MUST(pass_corner(next, self, ends, around, x, err));
        if (is_lower) {
            lower->down = next[1];
            lower->up = next[3];
        }
        if (x == self->how.width)
            return CLV_OK;
        ends[0] = next[0];
        ends[2] = next[2];
        upper_left = upper_right;
        lower_left = lower_right;
        upper += is_upper;
        lower += is_lower;
    }
}

/* Rows. */

static size_t bytes_of(const struct tracer *self)
{
    const struct pool *const pools[] = {&self->vertices, &self->rings, &self->regions};
    size_t bytes = 0;
    for (size_t k = 0; k < sizeof pools / sizeof *pools; k++)
        bytes += pools[k]->n_used * pools[k]->size;
    return bytes;
}

/* Processes the row that was cut into runs. */
static enum clv_status take_row(struct tracer *self, struct clv_error *err)
{
    MUST(find_regions(self, err));
    MUST(pass_corners(self, err));
    FAIL_IF(self->how.budget && bytes_of(self) > self->how.budget, CLV_ERR_MEMORY,
            "the outlines of objects take more than %zu MB; merge small objects by --min-area, or leave out points by "
            "--tolerance",
            self->how.budget >> 20);
    struct row_runs above = self->above;
    self->above = self->row;
    self->row = above;
    self->y++;
    return CLV_OK;
}

static enum clv_status check_height(const struct tracer *self, struct clv_error *err)
{
    FAIL_IF(self->y >= self->how.height, CLV_ERR_USAGE, "contours of more than %d rows", self->how.height);
    return CLV_OK;
}

enum clv_status tracer_row(struct tracer *self, const int32_t *values, struct clv_error *err)
{
    MUST(check_height(self, err));
    NEED(row_runs_cut_values(&self->row, values, self->how.width, OUTSIDE));
    return take_row(self, err);
}

enum clv_status tracer_row_of_labels(struct tracer *self, const uint8_t *labels, struct clv_error *err)
{
    MUST(check_height(self, err));
    NEED(row_runs_cut_labels(&self->row, labels, self->how.width, OUTSIDE));
    return take_row(self, err);
}

/* Orders regions by their first pixels. */
static int compare_regions(const void *a, const void *b, void *context)
{
    const struct region *p = region_at(context, *(const int32_t *)a), *q = region_at(context, *(const int32_t *)b);
    return begins_before(q, p) - begins_before(p, q);
}

/* Moves all complete regions to the contours. */
static enum clv_status take_objects(struct contours *contours, struct tracer *self, struct clv_error *err)
{
    OWNED_ARRAY int32_t *order = array_alloc(self->n_whole, sizeof *order);
    size_t n = 0;
    NEED(order);
    MUST(reserve(contours, self->n_whole, self->n_rings, self->n_points, err));
    for (int32_t k = self->whole; k != NONE; k = region_at(self, k)->next)
        order[n++] = k;
    if (n)
        qsort_r(order, n, sizeof *order, compare_regions, self);
    for (size_t k = 0; k < n; k++)
        MUST(take_object(contours, self, order[k], err));
    return CLV_OK;
}

enum clv_status tracer_end(struct contours *contours, struct tracer *self, struct clv_error *err)
{
    FAIL_IF(self->y != self->how.height, CLV_ERR_USAGE, "contours of %d rows in place of %d", self->y,
            self->how.height);
    self->row.n = 0;
    NEED(row_runs_add(&self->row, 0, OUTSIDE) && row_runs_end(&self->row, self->how.width, OUTSIDE));
    MUST(take_row(self, err));
    OWNED(contours_release) struct contours result = {.width = self->how.width, .height = self->how.height};
    MUST(take_objects(&result, self, err));
    *contours = TAKE(result);
    return CLV_OK;
}

enum clv_status contours_trace(struct contours *self, const struct tracing *how, const uint8_t *labels,
                               struct clv_error *err)
{
    OWNED(tracer_drop) struct tracer *tracer = NULL;
    MUST(tracer_begin(&tracer, how, err));
    for (int32_t y = 0; y < how->height; y++)
        MUST(tracer_row_of_labels(tracer, labels + (size_t)y * (size_t)how->width, err));
    return tracer_end(self, tracer, err);
}

enum clv_status contours_trace_values(struct contours *self, const struct tracing *how, const int32_t *values,
                                      struct clv_error *err)
{
    OWNED(tracer_drop) struct tracer *tracer = NULL;
    MUST(tracer_begin(&tracer, how, err));
    for (int32_t y = 0; y < how->height; y++)
        MUST(tracer_row(tracer, values + (size_t)y * (size_t)how->width, err));
    return tracer_end(self, tracer, err);
}

void contours_rings(const struct contours *self, size_t k, size_t *first, size_t *end)
{
    *first = k ? self->objects[k - 1].end_ring : 0;
    *end = self->objects[k].end_ring;
}

bool contours_has_holes(const struct contours *self, size_t k)
{
    size_t first, end;
    contours_rings(self, k, &first, &end);
    return end - first > 1;
}
