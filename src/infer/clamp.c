/* Forcing a node to 1 makes it a source of unlimited flow, which goes through label-0 nodes to where room is left; forcing it
 * to 0 makes it a sink, which draws through label-1 nodes on excess that is left: the same search with every arc reversed
 * (`direction` -1). It grows a breadth-first tree from the node and augments along it whenever it meets supply. The nodes
 * that it reaches at last without meeting any are those that change their labels. */
#include "infer/clamp.h"

#include <string.h>

#include "base/array.h"

#define LAST_PASS (INT32_MAX - 4)

void clamps_free(struct maxflow_clamps *clamps)
{
    if (!clamps)
        return;
    array_free(clamps->flipped);
    array_free(clamps->mark[0]);
    array_free(clamps->mark[1]);
    array_free(clamps->verified);
    array_free(clamps->seen);
    array_free(clamps->trail);
    array_free(clamps->parent);
    array_free(clamps->journal);
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
        (c->mark[0] = array_alloc(nodes, sizeof *c->mark[0])) &&
        (c->mark[1] = array_alloc(nodes, sizeof *c->mark[1])) &&
        (c->verified = array_alloc(nodes, sizeof *c->verified)) && (c->seen = array_alloc(nodes, sizeof *c->seen)) &&
        (c->trail = array_alloc(nodes, sizeof *c->trail)) && (c->parent = array_alloc(nodes, sizeof *c->parent)) &&
        !array_reserve((void **)&c->journal, &c->journal_room, 4 * nodes, sizeof *c->journal)) {
        c->node_room = nodes;
        return 0;
    }
    clamps_free(c);
    graph->clamps = NULL;
    return -1;
}

/* 1, 0, or -1 for a node of the core. */
static inline int decided_label(const struct maxflow *graph, int32_t i)
{
    return graph->slack[2 * i + 1] > 0 ? 1 : graph->slack[2 * i] > 0 ? 0 : -1;
}

/* A decided node has sent everything to (label 1) or drawn everything from (label 0) the neighbours that were not decided like
 * it before it was; `next` holds the order. */
static void settle_decided(struct maxflow *graph)
{
    int32_t *restrict order = graph->next;
    for (int32_t at = 0; at < graph->n_decided; at++)
        order[graph->queue[at] >> 1] = at;
    for (int32_t at = 0; at < graph->n_decided; at++) {
        int32_t i = graph->queue[at] >> 1, label = graph->queue[at] & 1;
        int64_t excess = graph->terminal[i];
        for (int32_t k = graph->first[i]; k < graph->last[i]; k++) {
            int is_alike = decided_label(graph, graph->head[k]) == label, comes_later = order[graph->head[k]] > at;
            int32_t out = graph->residual[k], in = graph->sum[k] - out;
            /* i acts on the arc, or the neighbour does: what label 1 sends leaves, what label 0 draws comes in. */
            excess += (!is_alike || comes_later) == label ? -out : in;
        }
        graph->excess[i] = excess;
    }
    for (int32_t at = 0; at < graph->n_decided; at++) {
        int32_t i = graph->queue[at] >> 1, label = graph->queue[at] & 1;
        for (int32_t k = graph->first[i]; k < graph->last[i]; k++)
            if (decided_label(graph, graph->head[k]) != label || order[graph->head[k]] > at) {
                graph->residual[k] = label ? 0 : graph->sum[k];
                graph->residual[graph->reverse[k]] = graph->sum[k] - graph->residual[k];
            }
    }
}

static void forget_passes(struct maxflow *graph)
{
    struct maxflow_clamps *c = graph->clamps;
    for (int32_t i = 0; i < graph->n_nodes; i++) {
        c->mark[0][i] = graph->label[i] ? INT32_MAX : 0;
        c->mark[1][i] = graph->label[i] ? 0 : INT32_MAX;
        c->verified[i] = c->seen[i] = 0;
    }
    c->pass = c->search = 0;
}

int clamps_prepare(struct maxflow *graph)
{
    if (make_room(graph))
        return -1;
    settle_decided(graph);
    forget_passes(graph);
    graph->clamps->node = -1;
    graph->clamps->n_changes = 0;
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
static inline int32_t augment(struct maxflow *graph, int32_t *cut, int32_t w, int direction)
{
    struct maxflow_clamps *c = graph->clamps;
    int64_t least = -direction * graph->excess[w];
    size_t length = 1;
    for (int32_t u = w; u != c->node; u = graph->head[graph->reverse[c->parent[u]]]) {
        int32_t carried = carries(graph, c->parent[u], direction);
        least = carried < least ? carried : least;
        length++;
    }
    if (array_reserve((void **)&c->journal, &c->journal_room, c->n_changes + length, sizeof *c->journal))
        return -1;
    int32_t amount = direction * (int32_t)least;
    *cut = -1;
    for (int32_t u = w; u != c->node; u = graph->head[graph->reverse[c->parent[u]]]) {
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
static int is_attached(const struct maxflow *graph, const int32_t *mark, int32_t v, int direction)
{
    const struct maxflow_clamps *c = graph->clamps;
    for (; v != c->node; v = graph->head[graph->reverse[c->parent[v]]])
        if (mark[v] != c->pass || !carries(graph, c->parent[v], direction))
            return 0;
    return 1;
}

/* One breadth-first pass; *cost grows by what it sends. Returns 1 when a saturated arc has cut the tree, so that another pass is
 * needed, 0 when the nodes reached are the answer, -1 when out of memory. */
static inline int grow_tree(struct maxflow *graph, int64_t *cost, int direction)
{
    struct maxflow_clamps *c = graph->clamps;
    int32_t *mark = c->mark[direction < 0], *queue = c->flipped, tail = 1, limit = 2 * graph->n_nodes + 1;
    int was_cut = 0;
    c->pass++;
    queue[0] = c->node;
    mark[c->node] = c->pass;
    for (int32_t at = 0; at < tail; at++) {
        int32_t v = queue[at];
        if (was_cut && !is_attached(graph, mark, v, direction)) {
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
                int32_t amount = augment(graph, &cut, w, direction);
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
    for (size_t h = 0; h < c->n_changes; h++)
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
    if (c->pass > LAST_PASS / 2 || c->search > LAST_PASS / 2)
        forget_passes(graph);
    c->node = i;
    c->n_changes = 0;
    c->excess_before = graph->excess[i];
    int64_t cost = label ? graph->excess[i] : -graph->excess[i];
    graph->excess[i] = 0;
    while (more > 0)
        more = label ? grow_tree(graph, &cost, -1) : grow_tree(graph, &cost, 1);
    if (more < 0) {
        clamp_undo(graph);
        return -1;
    }
    if (label)
        flip_unsupplied(graph);
    return cost;
}

void clamp_undo(struct maxflow *graph)
{
    struct maxflow_clamps *c = graph->clamps;
    if (c->node < 0)
        return;
    for (size_t h = c->n_changes; h-- > 0;) {
        struct clamp_change change = c->journal[h];
        if (change.slot < 0) {
            graph->excess[~change.slot] -= change.amount;
        } else {
            graph->residual[change.slot] += change.amount;
            graph->residual[graph->reverse[change.slot]] -= change.amount;
        }
    }
    graph->excess[c->node] = c->excess_before;
    c->n_changes = 0;
    c->node = -1;
}
