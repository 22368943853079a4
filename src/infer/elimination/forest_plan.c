/* Plans in which order the nodes of a forest are eliminated: nodes with fixed labels first, then hidden ones if
 * the temperatures differ, then from the leaves inwards. Start at forest_plan, at the end. */
#include "base/base.h"
#include "infer/elimination/elimination.h"

/* Refuses loops, by union-find over the edges in queue[]. Edges of nodes with fixed labels do not count. */
static enum clv_status check_forest(struct clv_forest *forest, const int32_t *label, struct clv_error *err)
{
    int32_t *parent = forest->queue;
    for (int32_t i = 0; i < forest->n_nodes; i++)
        parent[i] = i;
    for (int32_t e = 0; e < forest->n_edges; e++) {
        if (label && (label[forest->ends[e][0]] != CLV_UNKNOWN || label[forest->ends[e][1]] != CLV_UNKNOWN))
            continue;
        int32_t a = root_of(parent, forest->ends[e][0]), b = root_of(parent, forest->ends[e][1]);
        if (a == b)
            return fail(err, CLV_ERR_DATA, "edge %d (nodes %d and %d) closes a loop: the graph is not a forest", e,
                        forest->ends[e][0], forest->ends[e][1]);
        parent[a > b ? a : b] = a > b ? b : a;
    }
    return CLV_OK;
}

static void list_tables(struct clv_forest *forest)
{
    for (int32_t i = 0; i <= forest->n_nodes; i++)
        forest->first[i] = 0;
    for (int32_t e = 0; e < 2 * forest->n_edges; e++)
        forest->first[forest->ends[e >> 1][e & 1] + 1]++;
    for (int32_t i = 0; i < forest->n_nodes; i++) {
        forest->degree[i] = forest->first[i + 1];
        forest->first[i + 1] += forest->first[i];
        forest->queue[i] = forest->first[i];
    }
    for (int32_t e = 0; e < 2 * forest->n_edges; e++)
        forest->slot[forest->queue[forest->ends[e >> 1][e & 1]]++] = e >> 1;
}

static struct elimination *new_step(struct clv_forest *forest, int32_t node)
{
    struct elimination *step = &forest->steps[forest->n_steps++];
    *step = (struct elimination){.node = node, .result = -1};
    forest->degree[node] = -1;
    return step;
}

/* Eliminates a node that has at most one remaining link. Returns the neighbour, or -1. */
static int32_t take_leaf(struct clv_forest *forest, int32_t node)
{
    struct elimination *step = new_step(forest, node);
    for (int32_t s = forest->first[node]; s < forest->first[node + 1]; s++) {
        int32_t other = forest_other(forest, forest->slot[s], node);
        if (forest->degree[other] < 0)
            continue;
        step->link[step->n_links++] = forest->slot[s];
        forest->degree[other]--;
        return other;
    }
    return -1;
}

static void replace_slot(struct clv_forest *forest, int32_t node, int32_t old, int32_t table)
{
    int32_t s = forest->first[node];
    while (forest->slot[s] != old)
        s++;
    forest->slot[s] = table;
}

/* Eliminates a node between two neighbours, which a new table joins. */
static void take_between(struct clv_forest *forest, int32_t node)
{
    struct elimination *step = new_step(forest, node);
    int32_t other[2] = {0};
    for (int32_t s = forest->first[node]; s < forest->first[node + 1]; s++)
        if (forest->degree[forest_other(forest, forest->slot[s], node)] >= 0) {
            other[step->n_links] = forest_other(forest, forest->slot[s], node);
            step->link[step->n_links++] = forest->slot[s];
        }
    step->result = forest->n_tables++;
    for (int k = 0; k < 2; k++) {
        forest->ends[step->result][k] = other[k];
        replace_slot(forest, other[k], step->link[k], step->result);
    }
}

/* Eliminates from the leaves inwards, among the nodes of is_included (NULL: all). */
static void take_leaves(struct clv_forest *forest, const uint8_t *is_included)
{
    int32_t n_queued = 0;
    for (int32_t i = 0; i < forest->n_nodes; i++)
        if ((!is_included || is_included[i]) && (forest->degree[i] == 0 || forest->degree[i] == 1))
            forest->queue[n_queued++] = i;
    for (int32_t n_done = 0; n_done < n_queued; n_done++) {
        int32_t node = forest->queue[n_done];
        int32_t other = take_leaf(forest, node);
        /* The neighbour has become a leaf. If it has no link left, it was a leaf before and is in the queue. */
        if (other >= 0 && forest->degree[other] == 1 && (!is_included || is_included[other]))
            forest->queue[n_queued++] = other;
    }
}

enum clv_status forest_plan(struct clv_forest *forest, const uint8_t *is_first, const int32_t *label,
                            struct clv_error *err)
{
    MUST(check_forest(forest, label, err));
    list_tables(forest);
    forest->n_steps = 0;
    forest->n_tables = forest->n_edges;
    for (int32_t i = 0; label && i < forest->n_nodes; i++) {
        if (label[i] == CLV_UNKNOWN)
            continue;
        new_step(forest, i);
        for (int32_t s = forest->first[i]; s < forest->first[i + 1]; s++) {
            int32_t other = forest_other(forest, forest->slot[s], i);
            forest->degree[other] -= forest->degree[other] >= 0;
        }
    }
    if (is_first)
        take_leaves(forest, is_first);
    for (int32_t i = 0; is_first && i < forest->n_nodes; i++) {
        if (!is_first[i] || forest->degree[i] < 0)
            continue;
        if (forest->degree[i] > 2)
            return fail(
                err, CLV_ERR_USAGE,
                "hidden node %d joins %d visible ones, itself or through other hidden ones: with temperatures that "
                "differ that is exact for up to two",
                i, forest->degree[i]);
        take_between(forest, i);
    }
    take_leaves(forest, NULL);
    return CLV_OK;
}
