/* Forcing a node to 1 makes it a source of unlimited flow, which goes through label-0 nodes to where room is left; forcing it
 * to 0 makes it a sink, which draws through label-1 nodes on excess that is left: the same search with every arc reversed
 * (`direction` -1). It grows a breadth-first tree from the node and augments along it whenever it meets supply, room or
 * excess. The nodes that it reaches at last without meeting any are those that change their labels.
 *
 * Let i be clamped, at a cost of C, and then j of its flipped nodes instead. Nothing but i can supply j: the flow that i has
 * sent counts as room of i now, C of it, and what j can send there is what j costs. (Retracting the rest of i's flow opens no way
 * for j: if j reached a node on that flow's way, it would reach i.) So the next clamp starts from where the last one ended. */
#include "infer/clamp.h"

#include <string.h>

#include "base/array.h"
#include "infer/settle.h"

#define LAST_PASS (INT32_MAX / 2)

void clamps_free(struct maxflow_clamps *clamps)
{
    if (!clamps)
        return;
    void *arrays[] = {clamps->flipped, clamps->rank,   clamps->mark[0], clamps->mark[1], clamps->verified, clamps->seen,
                      clamps->trail,   clamps->parent, clamps->wanted,  clamps->journal, clamps->store};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        array_free(arrays[k]);
    array_free(clamps);
}

static int make_room(struct maxflow *graph)
{
    size_t nodes = (size_t)graph->n_nodes + 1;
    if (graph->clamps && nodes <= graph->clamps->node_room)
        return 0;
    clamps_free(graph->clamps);
    struct maxflow_clamps *c = graph->clamps = array_zalloc(1, sizeof *c);
    if (c && (c->flipped = array_alloc(nodes, 2 * sizeof *c->flipped)) &&
        (c->rank = array_alloc(nodes, sizeof *c->rank)) && (c->mark[0] = array_alloc(nodes, sizeof *c->mark[0])) &&
        (c->mark[1] = array_alloc(nodes, sizeof *c->mark[1])) &&
        (c->verified = array_zalloc(nodes, sizeof *c->verified)) && (c->seen = array_zalloc(nodes, sizeof *c->seen)) &&
        (c->trail = array_alloc(nodes, sizeof *c->trail)) && (c->parent = array_alloc(nodes, sizeof *c->parent)) &&
        (c->wanted = array_zalloc(nodes, sizeof *c->wanted)) &&
        !array_reserve((void **)&c->journal, &c->journal_room, 4 * nodes, sizeof *c->journal) &&
        !array_reserve((void **)&c->store, &c->store_room, 2 * nodes, sizeof *c->store)) {
        c->node_room = nodes;
        return 0;
    }
    clamps_free(c);
    graph->clamps = NULL;
    return -1;
}

static void forget_passes(struct maxflow *graph)
{
    struct maxflow_clamps *c = graph->clamps;
    int32_t *restrict zero = c->mark[0], *restrict one = c->mark[1], *restrict verified = c->verified,
                      *restrict seen = c->seen, n = graph->n_nodes;
    const uint8_t *restrict label = graph->label;
    for (int32_t i = 0; i < n; i++) {
        zero[i] = label[i] ? INT32_MAX : 0;
        one[i] = label[i] ? 0 : INT32_MAX;
        verified[i] = seen[i] = 0;
    }
    c->pass = c->search = 0;
}

int clamps_prepare(struct maxflow *graph)
{
    if (make_room(graph))
        return -1;
    settle_decided(graph, graph->clamps->rank);
    forget_passes(graph);
    graph->clamps->depth = 0;
    graph->clamps->n_changes = graph->clamps->n_stored = 0;
    return 0;
}

static inline int32_t carries(const struct maxflow *graph, int32_t slot, int direction)
{
    return direction > 0 ? graph->residual[slot] : graph->sum[slot] - graph->residual[slot];
}

static inline void note(struct maxflow_clamps *c, int32_t slot, int32_t amount)
{
    c->journal[c->n_changes++] = (struct clamp_change){slot, amount};
}

/* Sends what it can from the clamped node to node w along the tree. *cut becomes the node nearest to the root whose way is
 * saturated now, or -1. Returns the amount, or -1 when out of memory. */
static inline int32_t augment(struct maxflow *graph, int32_t *cut, int32_t node, int32_t w, int direction)
{
    struct maxflow_clamps *c = graph->clamps;
    int64_t least = -direction * graph->excess[w];
    size_t length = 1;
    for (int32_t u = w; u != node; u = graph->head[graph->reverse[c->parent[u]]]) {
        int32_t carried = carries(graph, c->parent[u], direction);
        least = carried < least ? carried : least;
        length++;
    }
    if (array_reserve((void **)&c->journal, &c->journal_room, c->n_changes + length, sizeof *c->journal))
        return -1;
    int32_t amount = direction * (int32_t)least;
    *cut = -1;
    for (int32_t u = w; u != node; u = graph->head[graph->reverse[c->parent[u]]]) {
        int32_t k = c->parent[u];
        graph->residual[k] -= amount;
        graph->residual[graph->reverse[k]] += amount;
        note(c, k, amount);
        *cut = carries(graph, k, direction) ? *cut : u;
    }
    graph->excess[w] += amount;
    note(c, ~w, amount);
    return (int32_t)least;
}

/* Whether node v still hangs on the root in this pass. */
static int is_attached(const struct maxflow *graph, const int32_t *mark, int32_t node, int32_t v, int direction)
{
    const struct maxflow_clamps *c = graph->clamps;
    for (; v != node; v = graph->head[graph->reverse[c->parent[v]]])
        if (mark[v] != c->pass || !carries(graph, c->parent[v], direction))
            return 0;
    return 1;
}

/* One breadth-first pass; *cost grows by what it sends. Returns 1 when a saturated arc has cut the tree, so that another pass is
 * needed, 0 when the nodes reached are the answer, -1 when out of memory. */
static inline int grow_tree(struct maxflow *graph, int64_t *cost, int32_t node, int direction)
{
    struct maxflow_clamps *c = graph->clamps;
    int32_t *mark = c->mark[direction < 0], *queue = c->flipped, tail = 1, limit = 2 * graph->n_nodes + 1;
    int was_cut = 0;
    c->pass++;
    queue[0] = node;
    mark[node] = c->pass;
    for (int32_t at = 0; at < tail; at++) {
        int32_t v = queue[at];
        if (was_cut && !is_attached(graph, mark, node, v, direction)) {
            mark[v] = c->pass - 1;
            continue;
        }
        for (int32_t k = graph->first[v], last = graph->last[v]; k < last; k++) {
            int32_t w = graph->head[k];
            if (mark[w] >= c->pass || !carries(graph, k, direction))
                continue;
            mark[w] = c->pass;
            c->parent[w] = k;
            int32_t cut = -1;
            if (direction * graph->excess[w] < 0) {
                int32_t amount = augment(graph, &cut, node, w, direction);
                if (amount < 0)
                    return -1;
                *cost += amount;
            }
            if (cut < 0 && tail < limit) {
                queue[tail++] = w;
                continue;
            }
            mark[w] = c->pass - 1;
            if (cut == w)
                continue;
            was_cut = 1;
            if (cut >= 0) {
                mark[cut] = c->pass - 1;
                break;
            }
        }
    }
    c->n_flipped = tail;
    return was_cut;
}

/* Looks upstream from node v of label 1 for excess that still reaches it. If there is none, v and all nodes upstream have lost
 * their supply and join the flipped ones. */
static void check_supply(struct maxflow *graph, int32_t v)
{
    struct maxflow_clamps *c = graph->clamps;
    int32_t *mark = c->mark[1], tail = 1;
    if (mark[v] >= c->pass || c->verified[v] == c->pass || graph->excess[v] > 0)
        return;
    c->search++;
    c->trail[0] = v;
    c->seen[v] = c->search;
    for (int32_t at = 0; at < tail; at++) {
        int32_t u = c->trail[at];
        for (int32_t k = graph->first[u], last = graph->last[u]; k < last; k++) {
            int32_t from = graph->head[k];
            if (!carries(graph, k, -1) || mark[from] >= c->pass || c->seen[from] == c->search)
                continue;
            if (graph->excess[from] > 0 || c->verified[from] == c->pass) {
                c->verified[v] = c->pass;
                return;
            }
            c->seen[from] = c->search;
            c->trail[tail++] = from;
        }
    }
    for (int32_t at = 0; at < tail; at++) {
        mark[c->trail[at]] = c->pass;
        c->flipped[c->n_flipped++] = c->trail[at];
    }
}

/* Nodes of label 1 that neither excess reaches any more nor can reach the clamped node could have either label at the same
 * cost; the canonical one is 0. They were supplied through what flipped, or lie where flow has changed. */
static void flip_unsupplied(struct maxflow *graph)
{
    struct maxflow_clamps *c = graph->clamps;
    for (size_t h = c->frames[c->depth - 1].first_change; h < c->n_changes; h++)
        if (c->journal[h].slot >= 0) {
            check_supply(graph, graph->head[c->journal[h].slot]);
            check_supply(graph, graph->head[graph->reverse[c->journal[h].slot]]);
        }
    for (int32_t at = 0; at < c->n_flipped; at++) {
        int32_t lost = c->flipped[at];
        for (int32_t k = graph->first[lost], last = graph->last[lost]; k < last; k++)
            if (graph->residual[k])
                check_supply(graph, graph->head[k]);
    }
}

int64_t clamp(struct maxflow *graph, int32_t i)
{
    struct maxflow_clamps *c = graph->clamps;
    int label = graph->label[i], more = 1;
    if (c->pass > LAST_PASS || c->search > LAST_PASS)
        forget_passes(graph);
    c->frames[c->depth++] =
        (struct clamp_frame){.node = i, .excess_before = graph->excess[i], .first_change = c->n_changes};
    int64_t cost = label ? graph->excess[i] : -graph->excess[i];
    graph->excess[i] = 0;
    while (more > 0)
        more = label ? grow_tree(graph, &cost, i, -1) : grow_tree(graph, &cost, i, 1);
    if (more < 0) {
        clamp_undo(graph);
        return -1;
    }
    if (label)
        flip_unsupplied(graph);
    graph->excess[i] = label ? cost : -cost;
    c->frames[c->depth - 1].n_flipped = c->n_flipped;
    return cost;
}

void clamp_undo(struct maxflow *graph)
{
    struct maxflow_clamps *c = graph->clamps;
    const struct clamp_frame *frame = &c->frames[--c->depth];
    while (c->n_changes > frame->first_change) {
        struct clamp_change change = c->journal[--c->n_changes];
        if (change.slot < 0) {
            graph->excess[~change.slot] -= change.amount;
        } else {
            graph->residual[change.slot] += change.amount;
            graph->residual[graph->reverse[change.slot]] -= change.amount;
        }
    }
    graph->excess[frame->node] = frame->excess_before;
}

/* Keeps the last clamp in force if its set is worth searching in: at most half of the set it was found in, and holding a node
 * that is still wanted. Returns -1 when out of memory. */
static int keep_or_undo(struct maxflow *graph)
{
    struct maxflow_clamps *c = graph->clamps;
    struct clamp_frame *frame = &c->frames[c->depth - 1];
    int is_worth = 0;
    if (c->depth == 1 || 2 * frame->n_flipped <= frame[-1].n_flipped)
        for (int32_t k = 0; k < frame->n_flipped && !is_worth; k++)
            is_worth = c->wanted[c->flipped[k]];
    if (!is_worth) {
        clamp_undo(graph);
        return 0;
    }
    size_t n = (size_t)frame->n_flipped;
    if (array_reserve((void **)&c->store, &c->store_room, c->n_stored + n, sizeof *c->store))
        return -1;
    memcpy(&c->store[c->n_stored], c->flipped, n * sizeof *c->store);
    frame->list = frame->next = c->n_stored;
    c->n_stored += n;
    return 0;
}

/* The next wanted node among those that the clamp in force has flipped, or -1. */
static int32_t next_inside(struct maxflow_clamps *c)
{
    struct clamp_frame *frame = &c->frames[c->depth - 1];
    while (frame->next < frame->list + (size_t)frame->n_flipped) {
        int32_t i = c->store[frame->next++];
        if (c->wanted[i])
            return i;
    }
    return -1;
}

static int clamp_one(struct maxflow *graph, int32_t i, clamp_visit *visit, void *context)
{
    struct maxflow_clamps *c = graph->clamps;
    int64_t cost = clamp(graph, i);
    if (cost < 0)
        return -1;
    c->wanted[i] = 0;
    visit(context, i, cost, c->flipped, c->n_flipped);
    return keep_or_undo(graph);
}

int clamp_each(struct maxflow *graph, const int32_t *nodes, int32_t n, clamp_visit *visit, void *context)
{
    struct maxflow_clamps *c = graph->clamps;
    int failed = 0;
    for (int32_t k = 0; k < n; k++)
        c->wanted[nodes[k]] = 1;
    for (int32_t k = 0; k < n && !failed; k++) {
        if (!c->wanted[nodes[k]])
            continue;
        failed = clamp_one(graph, nodes[k], visit, context);
        while (c->depth && !failed) {
            int32_t i = next_inside(c);
            if (i >= 0) {
                failed = clamp_one(graph, i, visit, context);
            } else {
                c->n_stored = c->frames[c->depth - 1].list;
                clamp_undo(graph);
            }
        }
    }
    while (c->depth)
        clamp_undo(graph);
    for (int32_t k = 0; k < n; k++)
        c->wanted[nodes[k]] = 0;
    c->n_stored = 0;
    return failed;
}
