/* The algorithm of batch.c, in terms of the vectors that the including file has defined, one problem per lane:
 *
 *     KERNEL        the specifiers of a function
 *     wide, mask    16 numbers of 32 bits, and 16 answers to a comparison
 *     shorts        16 numbers of 16 bits
 *
 * Push-relabel in lockstep (after Goldberg & Tarjan 1988): every node is visited in turn, in all lanes at once, so that
 * no lane needs a gather or a branch. Sweeps go up and down the nodes, which carries flow far in one sweep where
 * neighbours have near numbers; exact distances come from sweeps too (Bellman 1958). One file includes this for each
 * kind of machine. */
#include <string.h>

#define FAR BATCH_NODES /* all ones, and above any distance */

/* Pushing sweeps between two computations of exact distances. */
#define N_SWEEPS 6

/* Sweeps of all kinds after which a batch gives up. Graphs of photographs need up to 230 at 600 nodes and 570 at 2,400,
 * about as much work there as sixteen searches. */
#define MAX_SWEEPS 600

/* Sets full[] of the arcs that are saturated, or, if is_opposite, whose opposite arcs are. measure reads it many
 * times. */
KERNEL void note_full(struct batch *batch, const int32_t *capacity, int is_opposite)
{
    for (int32_t e = 0; e < batch->n_edges; e++) {
        wide flow = wide_load(&batch->flow[(size_t)e * BATCH_LANES]), most = wide_of(capacity[e]);
        shorts out = shorts_where(wide_less(flow, most), 0, FAR);
        shorts back = shorts_where(wide_less(wide_minus(flow, -1), most), 0, FAR);
        const int32_t *slot = batch->slots[e];
        shorts_store(&batch->full[(size_t)slot[is_opposite] * BATCH_LANES], out);
        shorts_store(&batch->full[(size_t)slot[!is_opposite] * BATCH_LANES], back);
    }
}

/* Returns the least nearness among the heads of a row's arcs that are not saturated, or FAR. Rows are padded to
 * multiples of 8 slots by saturated ones. */
KERNEL shorts nearest_head(struct batch *batch, int32_t i)
{
    shorts nearest = shorts_of(FAR);
    for (int32_t k = batch->first[i], end = batch->first[i + 1]; k < end; k += 8) {
        shorts found[8];
        for (int l = 0; l < 8; l++) {
            shorts full = shorts_load(&batch->full[(size_t)(k + l) * BATCH_LANES]);
            found[l] = shorts_or(shorts_load(&batch->nearness[batch->arcs[k + l].head]), full);
        }
        for (int width = 4; width > 0; width /= 2)
            for (int l = 0; l < width; l++)
                found[l] = shorts_min(found[l], found[l + width]);
        nearest = shorts_min(nearest, found[0]);
    }
    return nearest;
}

/* Computes a node's distance from those of its neighbours. Returns whether it changed in any lane. */
KERNEL int measure_node(struct batch *batch, int32_t i)
{
    shorts before = shorts_load(&batch->nearness[(size_t)i * BATCH_LANES]);
    shorts nearer = shorts_min(before, shorts_add(nearest_head(batch, i), shorts_of(1)));
    shorts_store(&batch->nearness[(size_t)i * BATCH_LANES], nearer);
    return shorts_differ(before, nearer);
}

/* Computes distances to the nearest deficit, which are exact if sweeps are left at the end. Returns whether any excess
 * can still reach a deficit. */
KERNEL int measure(struct batch *batch, const int32_t *capacity, int *sweeps_left)
{
    int32_t n = batch->n_nodes;
    note_full(batch, capacity, 0);
    for (int32_t i = 0; i < n; i++) {
        mask has_deficit = wide_less(wide_load(&batch->excess[(size_t)i * BATCH_LANES]), wide_of(0));
        shorts_store(&batch->nearness[(size_t)i * BATCH_LANES], shorts_where(has_deficit, 0, FAR));
    }
    shorts_store(&batch->nearness[(size_t)n * BATCH_LANES], shorts_of(FAR)); /* head of padded slots */
    for (int changed = 1; changed && *sweeps_left > 0; (*sweeps_left)--) {
        changed = 0;
        for (int32_t i = 0; i < n; i++)
            changed |= measure_node(batch, i);
        for (int32_t i = n - 1; i >= 0 && changed; i--)
            measure_node(batch, i);
    }
    mask is_active = wide_less(wide_of(0), wide_of(0));
    for (int32_t i = 0; i < n; i++) {
        wide distance = shorts_widen(shorts_load(&batch->nearness[(size_t)i * BATCH_LANES]));
        wide_store(&batch->distance[(size_t)i * BATCH_LANES], distance);
        mask has_excess = wide_less(wide_of(0), wide_load(&batch->excess[(size_t)i * BATCH_LANES]));
        is_active = mask_or(is_active, mask_and(has_excess, wide_less(distance, wide_of(FAR))));
    }
    return mask_any(is_active);
}

/* Pushes node i's excess to neighbours one arc nearer, then relabels it in lanes where excess is left. Returns whether
 * it had excess that can reach a deficit in any lane. */
KERNEL int push_node(struct batch *batch, int32_t i)
{
    wide all = wide_load(&batch->excess[(size_t)i * BATCH_LANES]),
         distance = wide_load(&batch->distance[(size_t)i * BATCH_LANES]);
    mask is_active = mask_and(wide_less(wide_of(0), all), wide_less(distance, wide_of(FAR)));
    if (!mask_any(is_active))
        return 0;
    wide excess = wide_keep(is_active, all), others = wide_sub(all, excess);
    wide nearer = wide_sub(distance, wide_of(1)), lowest = wide_of(FAR - 1);
    for (int32_t k = batch->first[i], last = batch->last[i]; k < last; k++) {
        struct batch_arc arc = batch->arcs[k];
        int32_t *flow = &batch->flow[arc.edge], *head_excess = &batch->excess[arc.head];
        wide head = wide_load(&batch->distance[arc.head]), before = wide_load(flow);
        wide residual = wide_sub(wide_of(arc.capacity), wide_minus(before, arc.sign));
        wide amount = wide_keep(wide_equal(head, nearer), wide_min(excess, residual));
        wide_store(flow, wide_add(before, wide_minus(amount, arc.sign)));
        wide_store(head_excess, wide_add(wide_load(head_excess), amount));
        excess = wide_sub(excess, amount);
        lowest = wide_min_where(lowest, wide_less(amount, residual), head);
    }
    wide_store(&batch->excess[(size_t)i * BATCH_LANES], wide_add(others, excess));
    mask rises = wide_less(wide_of(0), excess);
    wide_store(&batch->distance[(size_t)i * BATCH_LANES], wide_choose(rises, wide_add(lowest, wide_of(1)), distance));
    return 1;
}

/* Sets node i's nearness to 0 in lanes where the remaining excess reaches it. Returns whether that changed any lane. */
KERNEL int reach_node(struct batch *batch, int32_t i)
{
    shorts before = shorts_load(&batch->nearness[(size_t)i * BATCH_LANES]), unreached = before;
    for (int32_t k = batch->first[i], end = batch->first[i + 1]; k < end; k += 8)
        for (int l = 0; l < 8; l++) {
            shorts full = shorts_load(&batch->full[(size_t)(k + l) * BATCH_LANES]);
            unreached = shorts_and(unreached, shorts_or(shorts_load(&batch->nearness[batch->arcs[k + l].head]), full));
        }
    shorts_store(&batch->nearness[(size_t)i * BATCH_LANES], unreached);
    return shorts_differ(before, unreached);
}

/* Reads the labels after a measure() that found no excess to push. */
KERNEL void read_labels(struct batch *batch, const int32_t *capacity, int *sweeps_left)
{
    int32_t n = batch->n_nodes;
    note_full(batch, capacity, 1);
    for (int32_t i = 0; i < n; i++) {
        mask has_excess = wide_less(wide_of(0), wide_load(&batch->excess[(size_t)i * BATCH_LANES]));
        shorts_store(&batch->nearness[(size_t)i * BATCH_LANES], shorts_where(has_excess, 0, FAR));
    }
    for (int changed = 1; changed && *sweeps_left > 0; (*sweeps_left)--) {
        changed = 0;
        for (int32_t i = 0; i < n; i++)
            changed |= reach_node(batch, i);
        for (int32_t i = n - 1; i >= 0 && changed; i--)
            reach_node(batch, i);
    }
    for (int32_t i = 0; i < n; i++) {
        uint32_t bits = 0;
        for (int l = 0; l < BATCH_LANES; l++)
            bits |= (uint32_t)(batch->nearness[(size_t)i * BATCH_LANES + (size_t)l] == 0) << l;
        batch->label[i] = (uint16_t)bits;
    }
}

/* Returns whether the labels were found within MAX_SWEEPS sweeps. */
KERNEL bool solve(const struct batch *arrays, const int32_t *capacity)
{
    /* Pointers of a local copy stay in registers: stored vectors cannot alias them. */
    struct batch copy = *arrays, *batch = &copy;
    int32_t n = batch->n_nodes;
    memset(batch->flow, 0, (size_t)batch->n_edges * BATCH_LANES * sizeof *batch->flow);
    for (int32_t i = 0; i < n; i++) { /* lower bounds: 0 or 1 */
        mask has_deficit = wide_less(wide_load(&batch->excess[(size_t)i * BATCH_LANES]), wide_of(0));
        wide_store(&batch->distance[(size_t)i * BATCH_LANES], wide_choose(has_deficit, wide_of(0), wide_of(1)));
    }
    int sweeps_left = MAX_SWEEPS;
    do
        for (int sweep = 0, pushed = 1; sweep < N_SWEEPS && pushed; sweep++, sweeps_left--) {
            pushed = 0;
            for (int32_t i = 0; i < n; i++)
                pushed |= push_node(batch, sweep % 2 ? n - 1 - i : i);
        }
    while (measure(batch, capacity, &sweeps_left) && sweeps_left > 0);
    read_labels(batch, capacity, &sweeps_left);
    return sweeps_left > 0;
}
