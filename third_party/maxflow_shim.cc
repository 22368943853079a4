#include "maxflow_shim.h"

#include <new>
#include <vector>

#include <maxflow-3.0/maxflow/graph.h>

namespace
{

typedef maxflow::Graph<double, double, double> graph;

constexpr double largest_capacity = 0x1p50;
constexpr double largest_exact_sum = 0x1p53;

/* libmaxflow exits when this callback returns, so it must not return. */
void out_of_memory(const char *)
{
    throw std::bad_alloc();
}

bool is_capacity(double value)
{
    return value >= 0 && value <= largest_capacity;
}

bool is_terminal(double value)
{
    return value >= -largest_capacity && value <= largest_capacity;
}

} // namespace

struct bk {
    graph g;
    int32_t n_nodes, n_edges;
    double counter; /* libmaxflow's flow counter: it keeps counting when capacities are replaced */
    bool solved;
    maxflow::Block<int> changes;
    std::vector<int32_t> changed;

    bk(int32_t nodes, int32_t edges)
        : g(nodes, edges, out_of_memory), n_nodes(nodes), n_edges(edges), counter(0), solved(false),
          changes(1024, out_of_memory)
    {
    }
};

/* An arc_id is a pointer into one array in which the two arcs of edge e stand at 2e and 2e + 1. */
static void set_capacities(bk *bk, const double *terminal, const double *forward, const double *backward)
{
    for (int32_t i = 0; i < bk->n_nodes; i++)
        bk->g.set_trcap(i, terminal[i]);
    graph::arc_id arc = bk->g.get_first_arc();
    for (int32_t e = 0; e < bk->n_edges; e++) {
        bk->g.set_rcap(arc, forward[e]);
        arc = bk->g.get_next_arc(arc);
        bk->g.set_rcap(arc, backward[e]);
        arc = bk->g.get_next_arc(arc);
    }
}

/* A graph whose counter starts at zero, so that it stays exact. */
static void rebuild(bk *bk)
{
    struct ends {
        int from, to;
    };
    ends *edges = new ends[bk->n_edges > 0 ? bk->n_edges : 1];
    graph::arc_id arc = bk->g.get_first_arc();
    for (int32_t e = 0; e < bk->n_edges; e++) {
        bk->g.get_arc_ends(arc, edges[e].from, edges[e].to);
        arc = bk->g.get_next_arc(bk->g.get_next_arc(arc));
    }
    bk->g.reset();
    if (bk->n_nodes > 0)
        bk->g.add_node(bk->n_nodes);
    for (int32_t e = 0; e < bk->n_edges; e++)
        bk->g.add_edge(edges[e].from, edges[e].to, 0, 0);
    delete[] edges;
    bk->counter = 0;
}

extern "C" enum bk_status bk_new(struct bk **out, int32_t n_nodes, int32_t n_edges, const int32_t (*edges)[2],
                                 int32_t *culprit)
{
    *out = nullptr;
    for (int32_t e = 0; e < n_edges; e++) {
        int32_t a = edges[e][0], b = edges[e][1];
        if (a < 0 || a >= n_nodes || b < 0 || b >= n_nodes || a == b) {
            if (culprit)
                *culprit = e;
            return BK_BAD_EDGE;
        }
    }
    bk *made = nullptr;
    try {
        made = new bk(n_nodes, n_edges);
        if (n_nodes > 0)
            made->g.add_node(n_nodes);
        for (int32_t e = 0; e < n_edges; e++)
            made->g.add_edge(edges[e][0], edges[e][1], 0, 0);
    } catch (const std::bad_alloc &) {
        delete made;
        return BK_MEMORY;
    }
    *out = made;
    return BK_OK;
}

extern "C" void bk_free(struct bk *bk)
{
    delete bk;
}

extern "C" enum bk_status bk_solve(struct bk *bk, double *flow, const double *terminal, const double *forward,
                                   const double *backward, int32_t *culprit)
{
    double total = 0;
    for (int32_t i = 0; i < bk->n_nodes; i++) {
        if (!is_terminal(terminal[i])) {
            if (culprit)
                *culprit = i;
            return BK_BAD_NODE;
        }
        total += terminal[i] > 0 ? terminal[i] : 0;
    }
    for (int32_t e = 0; e < bk->n_edges; e++)
        if (!is_capacity(forward[e]) || !is_capacity(backward[e])) {
            if (culprit)
                *culprit = e;
            return BK_BAD_EDGE;
        }
    bk->solved = false;
    try {
        if (bk->counter + total > largest_exact_sum)
            rebuild(bk);
        set_capacities(bk, terminal, forward, backward);
        double before = bk->counter;
        bk->counter = bk->g.maxflow();
        if (flow)
            *flow = bk->counter - before;
    } catch (const std::bad_alloc &) {
        return BK_MEMORY;
    }
    bk->solved = true;
    return BK_OK;
}

extern "C" enum bk_status bk_change(struct bk *bk, int32_t node, double amount)
{
    if (!bk->solved)
        return BK_BAD_SEQUENCE;
    if (node < 0 || node >= bk->n_nodes || !is_terminal(amount) || !is_terminal(bk->g.get_trcap(node) + amount))
        return BK_BAD_NODE;
    bk->g.set_trcap(node, bk->g.get_trcap(node) + amount);
    bk->g.mark_node(node);
    return BK_OK;
}

extern "C" enum bk_status bk_resolve(struct bk *bk, double *flow)
{
    if (!bk->solved)
        return BK_BAD_SEQUENCE;
    try {
        double before = bk->counter;
        bk->changed.clear();
        bk->changes.Reset();
        bk->counter = bk->g.maxflow(true, &bk->changes);
        for (int *i = bk->changes.ScanFirst(); i; i = bk->changes.ScanNext()) {
            bk->g.remove_from_changed_list(*i);
            bk->changed.push_back(*i);
        }
        if (flow)
            *flow = bk->counter - before;
    } catch (const std::bad_alloc &) {
        bk->solved = false;
        return BK_MEMORY;
    }
    return BK_OK;
}

extern "C" const int32_t *bk_changed(const struct bk *bk, int32_t *n_changed)
{
    *n_changed = (int32_t)bk->changed.size();
    return bk->changed.data();
}

extern "C" int bk_on_source_side(const struct bk *bk, int32_t node)
{
    return bk->g.what_segment(node, graph::SINK) == graph::SOURCE;
}
