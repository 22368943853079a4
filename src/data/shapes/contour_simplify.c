/* Simplifies contours within a tolerance (Douglas and Peucker 1973): splits rings at junctions, simplifies each chain
 * in between, and keeps rings whose area would change too much. Start at contours_simplify. */
#include <string.h>

#include "base/base.h"
#include "data/shapes/shapes.h"

/* A ring whose area would change by more than this fraction keeps all its points. */
#define LARGEST_CHANGE 0.1

/* Working memory for one ring at a time. Arrays have one element more than the longest ring has points. */
struct simplify_state {
    double squared_tolerance;
    bool *is_kept;       /* [points of the ring] */
    int32_t (*chain)[2]; /* points between two breaks, both included */
    size_t *index;       /* their indices in the ring */
    size_t (*stack)[2];  /* ranges of the chain that are not simplified yet */
};

/* Squared distance of p to the line segment from a to b. */
static double squared_distance(const int32_t p[2], const int32_t a[2], const int32_t b[2])
{
    double along[2] = {(double)b[0] - a[0], (double)b[1] - a[1]}, to[2] = {(double)p[0] - a[0], (double)p[1] - a[1]};
    double length = along[0] * along[0] + along[1] * along[1];
    double share = length > 0 ? (to[0] * along[0] + to[1] * along[1]) / length : 0;
    share = share < 0 ? 0 : share > 1 ? 1 : share;
    double across = to[0] - share * along[0], down = to[1] - share * along[1];
    return across * across + down * down;
}

/* Orders points by rows, then columns. */
static int compare_points(const int32_t a[2], const int32_t b[2])
{
    if (a[1] != b[1])
        return a[1] < b[1] ? -1 : 1;
    return (a[0] > b[0]) - (a[0] < b[0]);
}

/* Marks the points between the ends of chain[n] that are kept. */
static void simplify_chain(struct simplify_state *self, size_t n)
{
    size_t n_ranges = 0;
    self->stack[n_ranges][0] = 0;
    self->stack[n_ranges++][1] = n - 1;
    while (n_ranges) {
        size_t first = self->stack[--n_ranges][0], last = self->stack[n_ranges][1], farthest = 0;
        double largest = self->squared_tolerance;
        for (size_t i = first + 1; i < last; i++) {
            double distance = squared_distance(self->chain[i], self->chain[first], self->chain[last]);
            if (distance > largest) {
                largest = distance;
                farthest = i;
            }
        }
        if (!farthest)
            continue;
        self->is_kept[self->index[farthest]] = true;
        self->stack[n_ranges][0] = first;
        self->stack[n_ranges++][1] = farthest;
        self->stack[n_ranges][0] = farthest;
        self->stack[n_ranges++][1] = last;
    }
}

/* Copies `size` points of ring[n], from point `first` to the next break, to the chain. The direction does not depend on
 * the ring, so that both regions at this border simplify it equally. */
static void take_chain(struct simplify_state *self, const int32_t (*ring)[2], size_t n, size_t first, size_t size)
{
    const int32_t *begin = ring[first], *end = ring[(first + size - 1) % n];
    int order = compare_points(begin, end);
    bool is_reversed = order > 0;
    if (order == 0 && size > 2)
        is_reversed = compare_points(ring[(first + 1) % n], ring[(first + size - 2) % n]) > 0;
    for (size_t i = 0; i < size; i++) {
        size_t at = (first + (is_reversed ? size - 1 - i : i)) % n;
        memcpy(self->chain[i], ring[at], sizeof *self->chain);
        self->index[i] = at;
    }
}

/* Keeps junctions, or the uppermost, leftmost point of a ring without junctions, so that both regions next to the ring
 * break it at the same points. */
static void choose_breaks(struct simplify_state *self, const int32_t (*ring)[2], const bool *is_junction, size_t n)
{
    size_t n_breaks = 0, first = 0;
    for (size_t i = 0; i < n; i++) {
        self->is_kept[i] = is_junction[i];
        n_breaks += is_junction[i];
        if (compare_points(ring[i], ring[first]) < 0)
            first = i;
    }
    if (!n_breaks)
        self->is_kept[first] = true;
}

static void simplify_ring(struct simplify_state *self, const int32_t (*ring)[2], const bool *is_junction, size_t n)
{
    choose_breaks(self, ring, is_junction, n);
    size_t start = 0;
    while (!self->is_kept[start])
        start++;
    for (size_t done = 0, size; done < n; done += size - 1) {
        size_t first = (start + done) % n;
        for (size = 2; !self->is_kept[(first + size - 1) % n];)
            size++;
        take_chain(self, ring, n, first, size);
        simplify_chain(self, size);
    }
}

/* Twice the area of the points that are kept (NULL: all). */
static int64_t twice_area(const int32_t (*ring)[2], const bool *is_kept, size_t n)
{
    int64_t sum = 0;
    size_t last = n;
    for (size_t i = 0; i < n; i++)
        last = !is_kept || is_kept[i] ? i : last;
    for (size_t i = 0; i < n && last < n; i++) {
        if (is_kept && !is_kept[i])
            continue;
        sum += (int64_t)ring[last][0] * ring[i][1] - (int64_t)ring[i][0] * ring[last][1];
        last = i;
    }
    return sum;
}

static bool changes_much(const int32_t (*ring)[2], const bool *is_kept, size_t n)
{
    double before = (double)twice_area(ring, NULL, n), after = (double)twice_area(ring, is_kept, n);
    double change = after > before ? after - before : before - after;
    return change > LARGEST_CHANGE * (before < 0 ? -before : before);
}

static enum clv_status simplifying_init(struct simplify_state *self, const struct contours *contours, double tolerance,
                                        struct clv_error *err)
{
    size_t longest = 0;
    for (size_t r = 0; r < contours->n_rings; r++) {
        size_t n = contours->ring_ends[r] - (r ? contours->ring_ends[r - 1] : 0);
        longest = n > longest ? n : longest;
    }
    self->squared_tolerance = tolerance * tolerance;
    self->is_kept = array_alloc(longest + 1, sizeof *self->is_kept);
    self->chain = array_alloc(longest + 1, sizeof *self->chain);
    self->index = array_alloc(longest + 1, sizeof *self->index);
    self->stack = array_alloc(longest + 1, sizeof *self->stack);
    return self->is_kept && self->chain && self->index && self->stack ? CLV_OK : fail_memory(err);
}

static void simplifying_release(struct simplify_state *self)
{
    arrays_free(self->is_kept, self->chain, self->index, self->stack);
}

enum clv_status contours_simplify(struct contours *contours, double tolerance, struct clv_error *err)
{
    OWNED(simplifying_release) struct simplify_state self = {0};
    if (tolerance <= 0 || !contours->n_rings)
        return CLV_OK;
    FAIL_IF(contours->exact, CLV_ERR_USAGE, "contours that are simplified already");
    OWNED_ARRAY int32_t(*points)[2] = array_alloc(contours->n_points, sizeof *points);
    OWNED_ARRAY size_t *ring_ends = array_alloc(contours->n_rings, sizeof *ring_ends);
    size_t first = 0, n_kept = 0;
    NEED(points && ring_ends);
    MUST(simplifying_init(&self, contours, tolerance, err));
    for (size_t r = 0; r < contours->n_rings; r++) {
        const int32_t(*ring)[2] = (const int32_t(*)[2])contours->points + first;
        size_t n = contours->ring_ends[r] - first;
        simplify_ring(&self, ring, contours->is_junction + first, n);
        bool keeps_all = changes_much(ring, self.is_kept, n);
        first = contours->ring_ends[r];
        for (size_t i = 0; i < n; i++)
            if (keeps_all || self.is_kept[i])
                memcpy(points[n_kept++], ring[i], sizeof *ring);
        ring_ends[r] = n_kept;
    }
    array_free(contours->is_junction);
    contours->is_junction = NULL;
    contours->exact = contours->points;
    contours->exact_ends = contours->ring_ends;
    contours->points = TAKE(points);
    contours->ring_ends = TAKE(ring_ends);
    contours->n_points = n_kept;
    return CLV_OK;
}
