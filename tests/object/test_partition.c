/* Partitions by signed edges against all partitions of small graphs. */
#include "object/object.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "support/support.h"

#define MAX_NODES 8
#define MAX_EDGES 40

struct small {
    struct signed_graph graph;
    int32_t edges[MAX_EDGES][2];
    double same[MAX_EDGES];
};

/* A random graph, with parallel edges now and then. */
static void draw(struct small *small, uint64_t round)
{
    uint64_t at = 0;
    int32_t n = 1 + (int32_t)rng_below(7, round, at++, MAX_NODES), m = 0;
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = a + 1; b < n; b++)
            for (int k = 0; k < 2 && m < MAX_EDGES; k++)
                if (rng_below(7, round, at++, 4) > (k ? 2U : 1U)) {
                    small->edges[m][0] = k ? b : a;
                    small->edges[m][1] = k ? a : b;
                    small->same[m++] = rng_normal(7, round, at++);
                }
    small->graph = (struct signed_graph){n, m, (const int32_t(*)[2])small->edges, small->same};
}

/* The sum of the edges within parts. */
static double partition_value(const int32_t *part, const struct signed_graph *graph)
{
    double value = 0;
    for (int32_t e = 0; e < graph->n_edges; e++)
        if (part[graph->edges[e][0]] == part[graph->edges[e][1]])
            value += graph->same[e];
    return value;
}

/* The greatest value of all partitions: every node goes into a part there is or a new one. */
static double best_value(int32_t *part, int32_t v, int32_t n_parts, const struct signed_graph *graph)
{
    if (v == graph->n_nodes)
        return partition_value(part, graph);
    double best = -INFINITY;
    for (int32_t p = 0; p <= n_parts; p++) {
        part[v] = p;
        best = fmax(best, best_value(part, v + 1, n_parts + (p == n_parts), graph));
    }
    return best;
}

TEST(kernighan_lin_is_never_below_greedy_nor_above_the_best_of_all_partitions)
{
    int n_greedy = 0, n_improved = 0, n_rounds = 300;
    for (int round = 0; round < n_rounds; round++) {
        struct small small;
        draw(&small, (uint64_t)round);
        int32_t part[MAX_NODES], all[MAX_NODES], n_parts = 0;
        must(partition_greedy(part, &n_parts, &small.graph, err));
        double greedy = partition_value(part, &small.graph), best = best_value(all, 0, 0, &small.graph);
        must(partition_improve(part, &n_parts, &small.graph, err));
        double improved = partition_value(part, &small.graph);
        ck_assert_double_ge(improved, greedy - 1e-9);
        ck_assert_double_le(improved, best + 1e-9);
        n_greedy += greedy > best - 1e-9;
        n_improved += improved > best - 1e-9;
        int32_t n_met = 0;
        for (int32_t v = 0; v < small.graph.n_nodes; v++) {
            ck_assert_int_le(part[v], n_met);
            n_met += part[v] == n_met;
        }
        ck_assert_int_eq(n_met, n_parts);
    }
    printf("partitions that are the best: greedy %d, improved %d of %d\n", n_greedy, n_improved, n_rounds);
    ck_assert_int_ge(n_greedy, n_rounds * 75 / 100);
    ck_assert_int_ge(n_improved, n_rounds * 97 / 100);
}

TEST(a_bad_start_is_mended_by_joins_moves_and_splits)
{
    /* Two triangles that repel each other, cut across, in one part, and in single nodes. */
    static const int32_t edges[][2] = {{0, 1}, {1, 2}, {0, 2}, {3, 4}, {4, 5}, {3, 5}, {2, 3}, {1, 4}};
    static const double same[] = {1, 1, 1, 1, 1, 1, -1.5, -1.5};
    static const int32_t starts[][6] = {{0, 0, 1, 1, 2, 2}, {0, 0, 0, 0, 0, 0}, {0, 1, 2, 3, 4, 5}};
    struct signed_graph graph = {6, 8, edges, same};
    for (int k = 0; k < 3; k++) {
        int32_t part[6], n_parts = k == 0 ? 3 : k == 1 ? 1 : 6;
        memcpy(part, starts[k], sizeof part);
        must(partition_improve(part, &n_parts, &graph, err));
        static const int32_t want[] = {0, 0, 0, 1, 1, 1};
        ck_assert_int_eq(n_parts, 2);
        ck_assert_mem_eq(part, want, sizeof part);
    }
}

TEST(parallel_edges_count_by_their_sum)
{
    static const int32_t edges[][2] = {{0, 1}, {1, 0}, {0, 1}};
    static const double same[] = {3, -1, -1.5};
    struct signed_graph graph = {2, 3, edges, same};
    int32_t part[2], n_parts;
    must(partition_greedy(part, &n_parts, &graph, err));
    must(partition_improve(part, &n_parts, &graph, err));
    ck_assert_int_eq(n_parts, 1);
}

/* A grid whose edges repel across lines of every eighth column and attract elsewhere, with noise. */
TEST(a_large_grid_falls_into_its_stripes)
{
    enum { SIDE = 96 };
    int32_t(*edges)[2] = calloc((size_t)2 * SIDE * SIDE, sizeof *edges), m = 0;
    OWNED_ARRAY double *same = calloc((size_t)2 * SIDE * SIDE, sizeof *same);
    for (int32_t y = 0; y < SIDE; y++)
        for (int32_t x = 0; x < SIDE; x++)
            for (int d = 0; d < 2; d++)
                if (d ? y + 1 < SIDE : x + 1 < SIDE) {
                    edges[m][0] = y * SIDE + x;
                    edges[m][1] = d ? (y + 1) * SIDE + x : y * SIDE + x + 1;
                    same[m] = (!d && x % 8 == 7 ? -1.5 : 1.5) + .3 * rng_normal(3, 0, (uint64_t)m);
                    m++;
                }
    struct signed_graph graph = {SIDE * SIDE, m, (const int32_t(*)[2])edges, same};
    OWNED_ARRAY int32_t *part = calloc((size_t)SIDE * SIDE, sizeof *part);
    int32_t n_parts;
    must(partition_greedy(part, &n_parts, &graph, err));
    must(partition_improve(part, &n_parts, &graph, err));
    ck_assert_int_eq(n_parts, SIDE / 8);
    for (int32_t v = 0; v < SIDE * SIDE; v++)
        ck_assert_int_eq(part[v], v % SIDE / 8);
    free(edges);
}
