/* Finds clamped optima of a solved cut. Forcing a node to label 1 makes it a source of unlimited flow. The flow goes
 * through nodes of label 0 to nodes with a deficit. Forcing a node to 0 makes it a sink, which draws on nodes of label
 * 1 with excess: the same search with every arc reversed (`direction` -1).
 *
 * The search is breadth-first from the clamped node. Whenever it meets a deficit (or excess) it augments along the
 * tree. In the end the tree meets neither: its nodes are those that change their labels.
 *
 * A clamp can follow another one without undoing it. Suppose that i was clamped at a cost of C and that j, one of the
 * nodes that flipped, comes next. All flow into j came through i. So i gets the C units that it has sent as a deficit,
 * and the flow that j can send there is the cost of j. The rest of i's flow may stay: undoing it would open no path for
 * j, since any path from j to a node on that flow's path leads on to i. */
#include "infer/cut/cut.h"

#include <string.h>

#include "base/base.h"
#include "infer/cut/row_scan.h"

/* Elimination does not change the arcs of decided nodes. settle_row adds the flow that the decisions imply: a decided
 * node has sent everything to (label 1), or drawn everything from (label 0), the neighbours that had not been decided
 * for the same label before it. That is downhill flow: nodes decided for 1 are highest, the earlier the higher; nodes
 * decided for 0 are lowest, the earlier the lower. A row needs only the heights of its heads, so it is settled when a
 * search reaches it: few searches reach the whole graph. */

/* Marks all rows as not settled, unless the solution is the same as before. */
static void settle_start(struct maxflow *graph)
{
    if (graph->is_settled)
        return;
    graph->is_settled = 1;
    int32_t *height = graph->clamps->height;
    size_t nodes = (size_t)graph->n_nodes + 1;
    memset(height, 0, nodes * sizeof *height);
    memset(graph->clamps->is_settled, 0, nodes);
    for (int32_t at = 0; at < graph->n_decided; at++) {
        int32_t is_zero = (graph->queue[at] & 1) - 1; /* -1 or 0; a conditional could not be predicted */
        height[graph->queue[at] >> 1] = ((INT32_MAX - at) ^ is_zero) - is_zero;
    }
}

/* Completes the residual capacities of node i's arcs and its excess. Call it once per solution, while is_settled[i] is
 * 0. */
static void settle_row(struct maxflow *graph, int32_t i)
{
    const int32_t *height = graph->clamps->height;
    int64_t in = 0; /* flow in by arcs that are not level, minus the flow out */
    for (int32_t k = graph->first[i]; k < graph->first[i + 1]; k++) {
        struct maxflow_arc *arc = &graph->arc[k];
        int32_t other = height[arc->head], residual = arc->residual;
        arc->residual = other > height[i] ? arc->sum : other < height[i] ? 0 : residual;
        in += other > height[i] ? arc->sum - residual : other < height[i] ? -residual : 0;
    }
    graph->clamps->is_settled[i] = 1;
    graph->excess[i] = height[i] ? graph->terminal[i] + in : graph->excess[i];
}

#define LAST_PASS (INT32_MAX / 2)

void clamps_free(struct maxflow_clamps *clamps)
{
    if (!clamps)
        return;
    void *arrays[] = {clamps->flipped,    clamps->height,  clamps->mark[0], clamps->mark[1], clamps->verified,
                      clamps->seen,       clamps->trail,   clamps->parent,  clamps->from,    clamps->wanted,
                      clamps->is_settled, clamps->journal, clamps->store};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        array_free(arrays[k]);
    array_free(clamps);
}

static int reserve(struct maxflow *graph)
{
    if (!graph->clamps && !(graph->clamps = array_zalloc(1, sizeof *graph->clamps)))
        return -1;
    struct maxflow_clamps *c = graph->clamps;
    size_t nodes = (size_t)graph->n_nodes + 1;
    const struct array_part by_node[] = {{&c->flipped, 2 * sizeof *c->flipped},
                                         {&c->height, sizeof *c->height},
                                         {&c->mark[0], sizeof *c->mark[0]},
                                         {&c->mark[1], sizeof *c->mark[1]},
                                         {&c->verified, sizeof *c->verified},
                                         {&c->seen, sizeof *c->seen},
                                         {&c->trail, sizeof *c->trail},
                                         {&c->parent, sizeof *c->parent},
                                         {&c->from, sizeof *c->from},
                                         {&c->wanted, sizeof *c->wanted},
                                         {&c->is_settled, sizeof *c->is_settled}};
    return array_reserve_all(by_node, sizeof by_node / sizeof *by_node, &c->node_capacity, nodes) ||
           array_reserve((void **)&c->journal, &c->journal_capacity, 4 * nodes, sizeof *c->journal) ||
           array_reserve((void **)&c->store, &c->store_capacity, 2 * nodes, sizeof *c->store);
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
    zero[n] = one[n] = INT32_MAX; /* head of the arcs after the last one */
    c->pass = c->search = 0;
}

int clamps_prepare(struct maxflow *graph)
{
    if (reserve(graph))
        return -1;
    settle_start(graph);
    forget_passes(graph);
    graph->clamps->depth = 0;
    graph->clamps->n_changes = graph->clamps->n_stored = 0;
    return 0;
}

static inline void journal_add(struct maxflow_clamps *c, int32_t slot, int32_t amount)
{
    c->journal[c->n_changes++] = (struct clamp_change){slot, amount};
}

/* Sends as much flow as possible from the clamped node to node w along the tree. *cut gets the node nearest to the root
 * whose tree arc is saturated now, or -1. Returns the amount, or -1 when out of memory. */
static inline int32_t augment(struct maxflow *graph, int32_t *cut, int32_t node, int32_t w, int direction)
{
    struct maxflow_clamps *c = graph->clamps;
    int64_t least = -direction * graph->excess[w];
    size_t length = 1;
    *cut = -1;
    for (int32_t u = w; u != node; u = c->from[u]) {
        int32_t carried = row_carries(graph, c->parent[u], direction);
        *cut = carried <= least ? u : *cut;
        least = carried < least ? carried : least;
        length++;
    }
    if (array_reserve((void **)&c->journal, &c->journal_capacity, c->n_changes + length, sizeof *c->journal))
        return -1;
    int32_t amount = direction * (int32_t)least;
    for (int32_t u = w; u != node; u = c->from[u]) {
        int32_t k = c->parent[u];
        graph->arc[k].residual -= amount;
        graph->arc[graph->arc[k].reverse].residual += amount;
        journal_add(c, k, amount);
    }
    graph->excess[w] += amount;
    journal_add(c, ~w, amount);
    return (int32_t)least;
}

/* State of a breadth-first search. flipped[0 .. tail - 1] are the nodes of its tree, of which the first `at` are
 * expanded. */
struct search {
    int64_t cost;
    int32_t node, at, tail;
    bool is_out_of_memory;
};

/* Adds node w to the tree by any arc that can carry flow to it from there. Returns 0 if no arc can. */
static inline int adopt(struct maxflow *graph, int32_t *mark, int32_t w, int direction, int has_avx2)
{
    struct maxflow_clamps *c = graph->clamps;
    for (int32_t k = graph->first[w], last = graph->first[w + 1]; k < last; k += 8) {
        uint32_t from = row_reached(graph, mark, k, last, c->pass, direction, has_avx2);
        if (from) {
            int32_t slot = k + __builtin_ctz(from);
            mark[w] = c->pass;
            c->parent[w] = graph->arc[slot].reverse;
            c->from[w] = graph->arc[slot].head;
            return 1;
        }
    }
    return 0;
}

/* Removes the subtree of node `cut`, whose tree arc is saturated, from the tree. Its nodes that another arc reaches are
 * appended to the list, to be expanded again. The list has parents before children. */
static inline void cut_off(struct maxflow *graph, struct search *search, int32_t *mark, int32_t cut, int direction,
                           int has_avx2)
{
    struct maxflow_clamps *c = graph->clamps;
    int32_t first = search->tail - 1, n_orphans = 0, n_before = 0, *orphans = c->trail;
    while (c->flipped[first] != cut)
        first--;
    int32_t end = first;
    mark[cut] = c->pass - 1;
    for (int32_t q = first; q < search->tail; q++) {
        int32_t u = c->flipped[q];
        int stays = (u != cut) & (mark[c->from[u]] == c->pass);
        c->flipped[end] = orphans[n_orphans] = u;
        end += stays;
        n_orphans += !stays;
        n_before += !stays & (q < search->at);
        mark[u] = c->pass - !stays;
    }
    search->tail = end;
    search->at -= n_before;
    for (int32_t q = 0; q < n_orphans; q++)
        if (adopt(graph, mark, orphans[q], direction, has_avx2))
            c->flipped[search->tail++] = orphans[q];
}

/* Adds the head of arc k of node v, which is not in the tree yet, and sends as much flow to it as it can take. */
static inline void take_arc(struct maxflow *graph, struct search *search, int32_t *mark, int32_t v, int32_t k,
                            int direction, int has_avx2)
{
    struct maxflow_clamps *c = graph->clamps;
    int32_t w = graph->arc[k].head, cut;
    mark[w] = c->pass;
    c->parent[w] = k;
    c->from[w] = v;
    if (!c->is_settled[w])
        settle_row(graph, w);
    while (direction * graph->excess[w] < 0) {
        int32_t amount = augment(graph, &cut, search->node, w, direction);
        if (amount < 0) {
            search->is_out_of_memory = true;
            return;
        }
        search->cost += amount;
        if (cut < 0)
            break;
        mark[w] = c->pass - 1;
        if (cut == w)
            return;
        cut_off(graph, search, mark, cut, direction, has_avx2);
        if (!adopt(graph, mark, w, direction, has_avx2))
            return;
    }
    c->flipped[search->tail++] = w;
}

/* Grows the tree until no arc leads out of it. */
static inline void search_tree(struct maxflow *graph, struct search *search, int direction, int has_avx2)
{
    struct maxflow_clamps *c = graph->clamps;
    int32_t *mark = c->mark[direction < 0], pass = ++c->pass;
    search->tail = 1;
    c->flipped[0] = search->node;
    mark[search->node] = pass;
    while (search->at < search->tail && !search->is_out_of_memory) {
        int32_t v = c->flipped[search->at++];
        for (int32_t k = graph->first[v], last = graph->first[v + 1]; k < last; k += 8) {
            uint32_t unreached = row_unreached(graph, mark, k, last, pass, direction, has_avx2);
            for (; unreached; unreached &= unreached - 1) {
                int32_t slot = k + __builtin_ctz(unreached);
                /* otherwise the head was reached, the arc was filled, or v was cut off */
                if (mark[graph->arc[slot].head] < pass && mark[v] == pass && row_carries(graph, slot, direction))
                    take_arc(graph, search, mark, v, slot, direction, has_avx2);
            }
        }
    }
    c->n_flipped = search->tail;
}

ROWS_CLONE static void search_forward_avx2(struct maxflow *graph, struct search *search)
{
    search_tree(graph, search, 1, 1);
}

ROWS_CLONE static void search_backward_avx2(struct maxflow *graph, struct search *search)
{
    search_tree(graph, search, -1, 1);
}

static void search_from(struct maxflow *graph, struct search *search, int label)
{
    if (graph->has_avx2 && label)
        search_backward_avx2(graph, search);
    else if (graph->has_avx2)
        search_forward_avx2(graph, search);
    else
        search_tree(graph, search, label ? -1 : 1, 0);
}

/* Looks upstream from node v of label 1 for excess that still reaches it. If there is none, v and all nodes upstream
 * have lost their supply and are flipped, too. */
static inline void check_supply(struct maxflow *graph, int32_t v, int has_avx2)
{
    struct maxflow_clamps *c = graph->clamps;
    int32_t *mark = c->mark[1], tail = 1;
    if (!c->is_settled[v])
        settle_row(graph, v);
    if (graph->excess[v] > 0 || mark[v] >= c->pass || c->verified[v] == c->pass)
        return;
    c->search++;
    c->trail[0] = v;
    c->seen[v] = c->search;
    for (int32_t at = 0; at < tail; at++) {
        int32_t u = c->trail[at];
        for (int32_t row = graph->first[u], last = graph->first[u + 1]; row < last; row += 8) {
            uint32_t from = row_unreached(graph, mark, row, last, c->pass, -1, has_avx2);
            for (; from; from &= from - 1) {
                int32_t w = graph->arc[row + __builtin_ctz(from)].head;
                if (!c->is_settled[w])
                    settle_row(graph, w);
                if (graph->excess[w] > 0 || c->verified[w] == c->pass) {
                    c->verified[v] = c->pass;
                    return;
                }
                c->trail[tail] = w;
                tail += c->seen[w] != c->search;
                c->seen[w] = c->search;
            }
        }
    }
    for (int32_t at = 0; at < tail; at++) {
        mark[c->trail[at]] = c->pass;
        c->flipped[c->n_flipped++] = c->trail[at];
    }
}

/* Flips nodes of label 1 that excess no longer reaches and that cannot reach the clamped node: both labels cost the
 * same, and the canonical one is 0. Flow to the clamped node has cut them off. Arcs lead back against that flow from
 * the clamped node to them, through nodes that have lost their supply as well, since others would supply them. So the
 * search starts from the flipped nodes. */
static inline void flip_unsupplied(struct maxflow *graph, int has_avx2)
{
    struct maxflow_clamps *c = graph->clamps;
    for (int32_t at = 0; at < c->n_flipped; at++) {
        int32_t lost = c->flipped[at];
        for (int32_t row = graph->first[lost], last = graph->first[lost + 1]; row < last; row += 8) {
            uint32_t to = row_unreached(graph, c->mark[1], row, last, c->pass, 1, has_avx2);
            for (; to; to &= to - 1)
                check_supply(graph, graph->arc[row + __builtin_ctz(to)].head, has_avx2);
        }
    }
}

ROWS_CLONE static void flip_unsupplied_avx2(struct maxflow *graph)
{
    flip_unsupplied(graph, 1);
}

int64_t clamp(struct maxflow *graph, int32_t i)
{
    struct maxflow_clamps *c = graph->clamps;
    int label = graph->label[i];
    if (c->pass > LAST_PASS || c->search > LAST_PASS)
        forget_passes(graph);
    if (!c->is_settled[i])
        settle_row(graph, i);
    c->frames[c->depth++] =
        (struct clamp_frame){.node = i, .excess_before = graph->excess[i], .first_change = c->n_changes};
    struct search search = {.node = i};
    search.cost = label ? graph->excess[i] : -graph->excess[i];
    graph->excess[i] = 0;
    search_from(graph, &search, label);
    if (search.is_out_of_memory) {
        clamp_undo(graph);
        return -1;
    }
    if (label && graph->has_avx2)
        flip_unsupplied_avx2(graph);
    else if (label)
        flip_unsupplied(graph, 0);
    graph->excess[i] = label ? search.cost : -search.cost;
    c->frames[c->depth - 1].n_flipped = c->n_flipped;
    return search.cost;
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
            graph->arc[change.slot].residual += change.amount;
            graph->arc[graph->arc[change.slot].reverse].residual -= change.amount;
        }
    }
    graph->excess[frame->node] = frame->excess_before;
}

/* Keeps the last clamp active if searching within its set is worth it: the set is at most half as large as the one
 * around it and has a node that is still wanted. Otherwise undoes the clamp. Returns 0, or -1 when out of memory. */
static int keep_or_undo(struct maxflow *graph)
{
    struct maxflow_clamps *c = graph->clamps;
    struct clamp_frame *frame = &c->frames[c->depth - 1];
    bool is_worth = false;
    if (c->depth == 1 || 2 * frame->n_flipped <= frame[-1].n_flipped)
        for (int32_t k = 0; k < frame->n_flipped && !is_worth; k++)
            is_worth = c->wanted[c->flipped[k]];
    if (!is_worth) {
        clamp_undo(graph);
        return 0;
    }
    size_t n = (size_t)frame->n_flipped;
    if (array_reserve((void **)&c->store, &c->store_capacity, c->n_stored + n, sizeof *c->store))
        return -1;
    memcpy(&c->store[c->n_stored], c->flipped, n * sizeof *c->store);
    frame->list = frame->next = c->n_stored;
    c->n_stored += n;
    return 0;
}

/* Returns the next wanted node among those that the active clamp has flipped, or -1. */
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
