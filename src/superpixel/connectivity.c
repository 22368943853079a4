/* Makes regions 4-connected. One pass over the pixels turns rows into runs of equal labels, about ten times fewer than
 * pixels; union-find, border lengths and joining then work on runs. Start at regions_connect, at the end. */
#include "superpixel/superpixel.h"

#include <stdbool.h>
#include <string.h>

#include "base/base.h"

struct run {
    int32_t begin; /* first column; the run ends where the next one of its row begins */
    int32_t label;
    int32_t piece; /* union-find parent while pieces are found, then the piece's number */
};

struct border {
    int32_t piece, length;
};

struct run_map {
    int32_t width, height, n_labels;
    size_t n_runs;
    size_t *row;      /* [height + 1] first run of each row */
    struct run *runs; /* [n_runs] */
    int32_t n_pieces;
    int32_t *size;          /* [n_pieces] pixels */
    int32_t *owner;         /* [n_pieces] the label whose region the piece joins, negative while undecided */
    size_t *first;          /* [n_pieces + 1] where a loose piece's borders begin */
    struct border *borders; /* of loose pieces */
    int32_t *queue;         /* [n_pieces] loose pieces in the order in which they join regions */
    int32_t *tally;         /* [n_labels] scratch */
};

static void run_map_release(struct run_map *map)
{
    arrays_free(map->row, map->runs, map->size, map->owner, map->first, map->borders, map->queue, map->tally);
}

static size_t count_runs(const int32_t *row, int32_t width)
{
    size_t n = 1;
    for (int32_t x = 1; x < width; x++)
        n += row[x] != row[x - 1];
    return n;
}

static enum clv_status find_runs(struct run_map *map, const int32_t *labels, struct clv_error *err)
{
    map->row = array_alloc((size_t)map->height + 1, sizeof *map->row);
    NEED(map->row);
    map->row[0] = 0;
    for (int32_t y = 0; y < map->height; y++)
        map->row[y + 1] = map->row[y] + count_runs(labels + (size_t)y * (size_t)map->width, map->width);
    map->n_runs = map->row[map->height];
    map->runs = array_alloc(map->n_runs, sizeof *map->runs);
    NEED(map->runs);

    struct run *run = map->runs;
    for (int32_t y = 0; y < map->height; y++) {
        const int32_t *row = labels + (size_t)y * (size_t)map->width;
        for (int32_t x = 0; x < map->width; x++) {
            if (x > 0 && row[x] == row[x - 1])
                continue;
            *run = (struct run){x, row[x], (int32_t)(run - map->runs)};
            run++;
        }
    }
    return CLV_OK;
}

/* Returns the column after the last one of run i. row_end is the index of the first run of the next row. */
static int32_t run_end(const struct run_map *map, size_t i, size_t row_end)
{
    return i + 1 < row_end ? map->runs[i + 1].begin : map->width;
}

typedef void visit_pair(struct run_map *map, size_t upper, size_t lower, int32_t overlap);

/* Calls `visit` for every pair of runs in neighbouring rows that touch, with the number of columns they share. */
static void for_each_vertical_pair(struct run_map *map, visit_pair *visit)
{
    for (int32_t y = 1; y < map->height; y++) {
        size_t upper = map->row[y - 1], lower = map->row[y], upper_end = lower, lower_end = map->row[y + 1];
        int32_t at = 0;
        while (upper < upper_end && lower < lower_end) {
            int32_t upper_to = run_end(map, upper, upper_end), lower_to = run_end(map, lower, lower_end);
            int32_t to = upper_to < lower_to ? upper_to : lower_to;
            visit(map, upper, lower, to - at);
            upper += upper_to == to;
            lower += lower_to == to;
            at = to;
        }
    }
}

static int32_t run_root(struct run *runs, int32_t i)
{
    while (runs[i].piece != i) {
        runs[i].piece = runs[runs[i].piece].piece; /* path halving */
        i = runs[i].piece;
    }
    return i;
}

static void unite(struct run_map *map, size_t upper, size_t lower, int32_t overlap)
{
    (void)overlap;
    if (map->runs[upper].label != map->runs[lower].label)
        return;
    int32_t a = run_root(map->runs, (int32_t)upper), b = run_root(map->runs, (int32_t)lower);
    if (a < b) /* the root is the first run in raster order */
        map->runs[b].piece = a;
    else
        map->runs[a].piece = b;
}

/* Numbers the pieces by their first run, measures them, and makes the largest piece of each label its region. The other
 * pieces are loose. */
static enum clv_status find_pieces(struct run_map *map, struct clv_error *err)
{
    for_each_vertical_pair(map, unite);
    int32_t n = 0;
    for (size_t i = 0; i < map->n_runs; i++) { /* a parent precedes its children, so it is numbered before them */
        struct run *run = &map->runs[i];
        run->piece = run->piece == (int32_t)i ? n++ : map->runs[run->piece].piece;
    }
    map->n_pieces = n;
    map->size = array_zalloc((size_t)n, sizeof *map->size);
    map->owner = array_alloc((size_t)n, sizeof *map->owner);
    map->tally = array_alloc((size_t)map->n_labels, sizeof *map->tally);
    NEED(map->size && map->owner && map->tally);

    for (int32_t y = 0; y < map->height; y++)
        for (size_t i = map->row[y]; i < map->row[y + 1]; i++)
            map->size[map->runs[i].piece] += run_end(map, i, map->row[y + 1]) - map->runs[i].begin;

    int32_t *largest = map->tally;
    for (int32_t label = 0; label < map->n_labels; label++)
        largest[label] = -1;
    for (size_t i = 0; i < map->n_runs; i++) {
        int32_t piece = map->runs[i].piece, *best = &largest[map->runs[i].label];
        map->owner[piece] = -1;
        if (*best < 0 || map->size[piece] > map->size[*best])
            *best = piece;
    }
    for (int32_t label = 0; label < map->n_labels; label++)
        if (largest[label] >= 0)
            map->owner[largest[label]] = label;
    return CLV_OK;
}

static void count_border(struct run_map *map, size_t a, size_t b, int32_t length)
{
    (void)length;
    int32_t p = map->runs[a].piece, q = map->runs[b].piece;
    if (p == q)
        return;
    map->first[p + 1] += map->owner[p] < 0;
    map->first[q + 1] += map->owner[q] < 0;
}

static void add_border(struct run_map *map, size_t a, size_t b, int32_t length)
{
    int32_t p = map->runs[a].piece, q = map->runs[b].piece;
    if (p == q)
        return;
    if (map->owner[p] < 0)
        map->borders[map->first[p]++] = (struct border){q, length};
    if (map->owner[q] < 0)
        map->borders[map->first[q]++] = (struct border){p, length};
}

static void for_each_pair(struct run_map *map, visit_pair *visit)
{
    for_each_vertical_pair(map, visit);
    for (int32_t y = 0; y < map->height; y++)
        for (size_t i = map->row[y] + 1; i < map->row[y + 1]; i++)
            visit(map, i - 1, i, 1);
}

/* Lists the borders of all loose pieces: those of piece p are borders[first[p] .. first[p + 1]). */
static enum clv_status find_borders(struct run_map *map, struct clv_error *err)
{
    size_t n = (size_t)map->n_pieces;
    map->first = array_zalloc(n + 1, sizeof *map->first);
    NEED(map->first);
    for_each_pair(map, count_border);
    for (size_t p = 0; p < n; p++)
        map->first[p + 1] += map->first[p];
    map->borders = array_alloc(map->first[n], sizeof *map->borders);
    NEED(map->borders);
    for_each_pair(map, add_border); /* moves first[p] to the end of p's borders, where those of p + 1 begin */
    memmove(map->first + 1, map->first, n * sizeof *map->first);
    map->first[0] = 0;
    return CLV_OK;
}

/* Returns the region that shares the longest border with piece p, the lower label among equals. */
static int32_t best_neighbour(struct run_map *map, int32_t p)
{
    int32_t best = -1;
    for (size_t i = map->first[p]; i < map->first[p + 1]; i++) {
        int32_t owner = map->owner[map->borders[i].piece];
        if (owner < 0)
            continue;
        map->tally[owner] += map->borders[i].length;
        if (best < 0 || map->tally[owner] > map->tally[best] || (map->tally[owner] == map->tally[best] && owner < best))
            best = owner;
    }
    for (size_t i = map->first[p]; i < map->first[p + 1]; i++) {
        int32_t owner = map->owner[map->borders[i].piece];
        if (owner >= 0)
            map->tally[owner] = 0;
    }
    return best;
}

static bool touches_region(const struct run_map *map, int32_t p)
{
    for (size_t i = map->first[p]; i < map->first[p + 1]; i++)
        if (map->owner[map->borders[i].piece] >= 0)
            return true;
    return false;
}

/* Joins loose pieces to regions in breadth-first order, starting from those that touch a region. Each piece is queued
 * once, so each border is visited a constant number of times. */
static enum clv_status join_loose_pieces(struct run_map *map, struct clv_error *err)
{
    const int32_t queued = -2;
    map->queue = array_alloc((size_t)map->n_pieces, sizeof *map->queue);
    NEED(map->queue);
    memset(map->tally, 0, (size_t)map->n_labels * sizeof *map->tally);
    size_t head = 0, tail = 0;
    for (int32_t p = 0; p < map->n_pieces; p++)
        if (map->owner[p] == -1 && touches_region(map, p)) {
            map->owner[p] = queued;
            map->queue[tail++] = p;
        }
    while (head < tail) {
        /* In noisy images the queue is long, and its pieces' borders are scattered in memory. */
        if (head + 16 < tail) {
            __builtin_prefetch(&map->first[map->queue[head + 16]]);
            __builtin_prefetch(&map->borders[map->first[map->queue[head + 8]]]);
        }
        int32_t p = map->queue[head++];
        map->owner[p] = best_neighbour(map, p);
        for (size_t i = map->first[p]; i < map->first[p + 1]; i++) {
            int32_t q = map->borders[i].piece;
            if (map->owner[q] == -1) {
                map->owner[q] = queued;
                map->queue[tail++] = q;
            }
        }
    }
    return CLV_OK;
}

static int32_t write_labels(struct run_map *map, int32_t *labels)
{
    int32_t *number = map->tally, n = 0;
    for (int32_t label = 0; label < map->n_labels; label++)
        number[label] = -1;
    for (int32_t y = 0; y < map->height; y++) {
        int32_t *row = labels + (size_t)y * (size_t)map->width;
        for (size_t i = map->row[y]; i < map->row[y + 1]; i++) {
            int32_t owner = map->owner[map->runs[i].piece], end = run_end(map, i, map->row[y + 1]);
            if (number[owner] < 0)
                number[owner] = n++;
            for (int32_t x = map->runs[i].begin; x < end; x++)
                row[x] = number[owner];
        }
    }
    return n;
}

enum clv_status regions_connect(int32_t *labels, int32_t *n_regions, int32_t width, int32_t height, int32_t n_labels,
                                struct clv_error *err)
{
    OWNED(run_map_release) struct run_map map = {.width = width, .height = height, .n_labels = n_labels};
    MUST(find_runs(&map, labels, err));
    MUST(find_pieces(&map, err));
    MUST(find_borders(&map, err));
    MUST(join_loose_pieces(&map, err));
    *n_regions = write_labels(&map, labels);
    return CLV_OK;
}
