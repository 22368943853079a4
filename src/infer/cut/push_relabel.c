/* Push-relabel (Goldberg & Tarjan 1988), highest label first (Cheriyan & Maheshwari 1989), first phase only: a minimum
 * cut needs the preflow, not the flow. Terminals are not nodes: distances count the arcs to the nearest node with a
 * deficit (excess below 0). Gap rule (Cherkassky & Goldberg 1997): once no node is left at a distance, no node farther
 * than that can reach a deficit. */
#include "infer/cut/cut.h"
#include "infer/cut/row_scan.h"

/* Pushing gives up after this many scans per core node, about as much work as a search of the same graph. */
#define SCANS_A_NODE 6

struct levels {
    int32_t highest; /* the highest list that may hold an active node */
    int32_t open;    /* lists and counts are valid up to here */
    int64_t work;    /* in scans of a row */
};

/* Distances up to this one are found by scanning every node that has none yet, without branches. Most problems have no
 * larger ones. */
#define SCANNED_DISTANCES 3

#define REACHED     1 /* in place of the distance of a core node that excess reaches, when labels are read */
#define MOST_SWEEPS 4

/* Computes the distances 0 .. SCANNED_DISTANCES. queue[] gets the nodes at the last one. Returns their number, 0 if all
 * nodes have a distance. */
static inline int32_t measure_near(struct maxflow *graph, struct levels *levels, int32_t *queue, int has_avx2)
{
    int32_t *rest = graph->next, *distance = graph->distance, n_rest = 0, n_found = 0;
    for (int32_t c = 0; c < graph->n_core; c++) {
        int32_t i = graph->core[c], has_deficit = graph->excess[i] < 0;
        distance[i] = has_deficit ? 0 : MAXFLOW_FAR;
        rest[n_rest] = i;
        n_rest += !has_deficit;
    }
    graph->count[0] = graph->n_core - n_rest;
    graph->active[0] = -1;
    for (int32_t d = 1; d <= SCANNED_DISTANCES && n_rest && (d == 1 || n_found); d++) {
        int32_t n_scanned = n_rest;
        n_rest = n_found = 0;
        for (int32_t r = 0; r < n_scanned; r++) {
            int32_t i = rest[r], leads = row_leads_to(graph, i, d - 1, has_avx2);
            distance[i] = leads ? d : MAXFLOW_FAR;
            rest[n_rest] = queue[n_found] = i;
            n_rest += !leads;
            n_found += leads;
        }
        graph->count[d] = n_found;
        graph->active[d] = -1;
        levels->open += n_found > 0;
    }
    return n_rest ? n_found : 0;
}

/* Computes exact distances to the nodes with a deficit, breadth-first, and the number of nodes at each distance. */
static inline void measure(struct maxflow *graph, struct levels *levels, int has_avx2)
{
    const struct maxflow_arc *restrict arc = graph->arc;
    int32_t *restrict queue = graph->queue + graph->n_decided, *restrict distance = graph->distance;
    *levels = (struct levels){.highest = -1};
    int32_t tail = measure_near(graph, levels, queue, has_avx2);
    for (int32_t at = 0, end = tail; at < end; end = tail) {
        int32_t farther = levels->open + 1;
        for (; at < end; at++) {
            int32_t i = queue[at];
            for (int32_t k = graph->first[i], last = graph->first[i + 1]; k < last; k++) {
                int32_t from = arc[k].head, before = distance[from];
                int32_t is_unreached = (arc[k].sum > arc[k].residual) & (before == MAXFLOW_FAR);
                distance[from] = before ^ ((before ^ farther) & -is_unreached);
                queue[tail] = from;
                tail += is_unreached;
            }
        }
        graph->count[farther] = tail - end;
        graph->active[farther] = -1;
        levels->open += tail > end;
    }
}

/* lesser and activate have no branches, which could not be predicted. */
static inline int64_t lesser(int64_t a, int64_t b)
{
    return b ^ ((a ^ b) & -(int64_t)(a < b));
}

/* Puts node i on its list of active nodes, if `is_active`. */
static inline void activate(struct maxflow *graph, int32_t i, int32_t distance, int is_active)
{
    int32_t first = graph->active[distance];
    int32_t next = graph->next[i];
    graph->next[i] = next ^ ((next ^ first) & -is_active);
    graph->active[distance] = first ^ ((first ^ i) & -is_active);
}

/* Cuts off all nodes farther than `limit`: they cannot reach a deficit. */
static void close_gap(struct maxflow *graph, struct levels *levels, int32_t limit)
{
    int32_t *restrict distance = graph->distance, n = graph->n_nodes;
    for (int32_t i = 0; i < n; i++)
        distance[i] |= distance[i] > limit ? MAXFLOW_FAR : 0;
    levels->open = levels->highest = limit;
    levels->work += n / 32;
}

/* Raises node i from distance `from` to `to`. Returns 0 if that cuts it off. */
static inline int relabel(struct maxflow *graph, struct levels *levels, int32_t i, int32_t from, int32_t to)
{
    graph->distance[i] = to;
    graph->count[from]--;
    if (to < MAXFLOW_FAR) {
        if (to > levels->open) {
            graph->active[to] = -1;
            graph->count[to] = 0;
            levels->open = to;
        }
        graph->count[to]++;
        levels->highest = to;
    }
    int is_gap = graph->count[from] == 0;
    if (is_gap)
        close_gap(graph, levels, from);
    return !is_gap & (to < MAXFLOW_FAR);
}

/* Pushes node i's excess to its nearest neighbours until none is left or i is cut off, and relabels i as needed. In a
 * strongly coupled graph a neighbour gets at most its deficit and is relabelled once that is filled: less excess has to
 * be pushed back, and fewer loops of flow are left, which slow down clamps. */
static inline void discharge(struct maxflow *graph, struct levels *levels, int32_t i, bool is_strong, int has_avx2)
{
    int32_t distance = graph->distance[i];
    int64_t excess = graph->excess[i];
    while (excess) {
        struct row_nearest to = row_find_nearest(graph, i, has_avx2);
        int32_t above = to.distance < MAXFLOW_FAR ? to.distance + 1 : MAXFLOW_FAR;
        levels->work++;
        if (!relabel(graph, levels, i, distance, above))
            break;
        distance = above;
        do {
            int32_t k = to.slot + __builtin_ctz(to.which), j = graph->arc[k].head, residual = graph->arc[k].residual;
            int64_t before = graph->excess[j];
            to.which &= to.which - 1;
            if (is_strong & (graph->distance[j] != to.distance))
                continue; /* a parallel arc has filled its deficit */
            int64_t most = is_strong && before < 0 ? lesser(excess, -before) : excess;
            int32_t amount = (int32_t)lesser(most, residual);
            int64_t after = before + amount;
            graph->arc[k].residual = residual - amount;
            graph->arc[graph->arc[k].reverse].residual += amount;
            graph->excess[j] = after;
            excess -= amount;
            activate(graph, j, to.distance, (before <= 0) & (after > 0));
            if (is_strong) {
                int is_full = (before < 0) & (after == 0);
                graph->distance[j] += is_full;
                graph->count[0] -= is_full;
                graph->count[1] += is_full;
                if (!graph->count[0])
                    close_gap(graph, levels, 0);
            }
        } while (to.which && excess);
        if (graph->distance[i] >= MAXFLOW_FAR)
            break; /* that was the last deficit */
    }
    graph->excess[i] = excess;
}

/* Computes exact distances and pushes. Returns whether that finished within the budget. */
static inline bool push_all(struct maxflow *graph, int64_t budget, bool is_strong, int has_avx2)
{
    struct levels levels;
    measure(graph, &levels, has_avx2);
    for (int32_t c = 0; c < graph->n_core; c++) {
        int32_t i = graph->core[c], distance = graph->distance[i];
        int is_active = (graph->excess[i] > 0) & (distance < MAXFLOW_FAR);
        activate(graph, i, distance & -is_active, is_active);
        levels.highest = (is_active & (distance > levels.highest)) ? distance : levels.highest;
    }
    while (levels.work <= budget) {
        while (levels.highest >= 0 && graph->active[levels.highest] < 0)
            levels.highest--;
        if (levels.highest < 0)
            return true;
        int32_t i = graph->active[levels.highest];
        graph->active[levels.highest] = graph->next[i];
        discharge(graph, &levels, i, is_strong, has_avx2);
    }
    return false;
}

/* One version per kind of graph, so that neither contains code which only the other one needs. */
ROWS_CLONE static bool push_weak_avx2(struct maxflow *graph, int64_t budget)
{
    return push_all(graph, budget, 0, 1);
}

ROWS_CLONE static bool push_strong_avx2(struct maxflow *graph, int64_t budget)
{
    return push_all(graph, budget, 1, 1);
}

/* Labels the nodes of queue[n], which excess reaches, and, breadth-first, those that arcs with capacity lead to from
 * there. */
static void label_from(struct maxflow *graph, int32_t *restrict queue, int32_t n)
{
    const struct maxflow_arc *restrict arc = graph->arc;
    int32_t *restrict distance = graph->distance;
    for (int32_t at = 0; at < n && n < graph->n_core; at++) {
        int32_t i = queue[at];
        for (int32_t k = graph->first[i], last = graph->first[i + 1]; k < last; k++) {
            int32_t to = arc[k].head, is_unreached = (arc[k].residual > 0) & (distance[to] == 0);
            distance[to] |= REACHED & -is_unreached;
            queue[n] = to;
            n += is_unreached;
        }
    }
    for (int32_t at = 0; at < n; at++)
        graph->label[queue[at]] = 1;
}

/* Starts reading labels: marks the core's nodes with excess and puts them on the queue, which it returns. */
static int32_t *reach_sources(struct maxflow *graph, int32_t *n)
{
    int32_t *restrict queue = graph->queue + graph->n_decided, *restrict distance = graph->distance, tail = 0;
    for (int32_t c = 0; c < graph->n_core; c++) {
        int32_t i = graph->core[c], has_excess = graph->excess[i] > 0;
        distance[i] = has_excess ? REACHED : 0;
        queue[tail] = i;
        tail += has_excess;
    }
    *n = tail;
    return queue;
}

void maxflow_read_core(struct maxflow *graph)
{
    int32_t n, *queue = reach_sources(graph, &n);
    label_from(graph, queue, n);
}

/* Whether an arc with capacity leads to node i from a node that excess reaches. */
static inline bool is_reached(const struct maxflow *graph, int32_t i)
{
    const struct maxflow_arc *arc = graph->arc;
    for (int32_t k = graph->first[i], last = graph->first[i + 1]; k < last; k++)
        if (graph->distance[arc[k].head] == REACHED && arc[k].sum > arc[k].residual)
            return true;
    return false;
}

/* Goes through unreached[n] from its end, marks the nodes that are reached now, and lists the others in rest[]. Returns
 * their number. */
static int32_t sweep(struct maxflow *graph, int32_t *restrict rest, const int32_t *restrict unreached, int32_t n)
{
    int32_t n_rest = 0;
    while (n-- > 0) {
        int32_t i = unreached[n];
        if (is_reached(graph, i))
            graph->distance[i] = REACHED;
        else
            rest[n_rest++] = i;
    }
    return n_rest;
}

void maxflow_read_one_sided(struct maxflow *graph)
{
    int32_t *lists[] = {graph->next, graph->active}, n_reached, *queue = reach_sources(graph, &n_reached);
    int32_t n = 0, before = graph->n_core;
    if (!n_reached)
        return;
    for (int32_t c = 0; c < graph->n_core; c++) {
        lists[0][n] = graph->core[c];
        n += graph->distance[graph->core[c]] == 0;
    }
    for (int k = 0; k < MOST_SWEEPS && n && n < before; k++) {
        before = n;
        n = sweep(graph, lists[(k + 1) % 2], lists[k % 2], n);
    }
    n_reached = 0;
    for (int32_t c = 0; c < graph->n_core; c++) {
        queue[n_reached] = graph->core[c];
        n_reached += graph->distance[graph->core[c]] == REACHED;
    }
    label_from(graph, queue, n_reached);
}

bool maxflow_push(struct maxflow *graph)
{
    int64_t budget = SCANS_A_NODE * (int64_t)graph->n_core;
    /* The share of nodes that elimination has left measures how strong the couplings are. The careful version pays off
     * only in clamps; a graph that was clamped before is likely to be clamped again. */
    bool is_strong = graph->clamps && graph->n_core > graph->n_nodes - graph->n_nodes / 4;
    bool is_finished = !graph->has_avx2 ? push_all(graph, budget, is_strong, 0)
                       : is_strong      ? push_strong_avx2(graph, budget)
                                        : push_weak_avx2(graph, budget);
    if (is_finished)
        maxflow_read_core(graph);
    return is_finished;
}
