/* Elimination leaves the arcs of decided nodes as they were. Here they get the flow that decisions stand for: a
 * decided node has sent everything to (label 1) or drawn everything from (label 0) the neighbours that were not
 * decided like it before it was. That is downhill flow: nodes decided for 1 stand highest, the earlier the higher;
 * nodes decided for 0 stand lowest, the earlier the lower. A row needs only the heights of its heads, so it waits
 * until a search gets there: few searches see the whole graph. */
#include "infer/cut/cut.h"

#include <string.h>

void settle_start(struct maxflow *graph)
{
    if (graph->is_settled)
        return;
    graph->is_settled = 1;
    int32_t *height = graph->clamps->height;
    size_t nodes = (size_t)graph->n_nodes + 1;
    memset(height, 0, nodes * sizeof *height);
    memset(graph->clamps->is_settled, 0, nodes);
    for (int32_t at = 0; at < graph->n_decided; at++) {
        int32_t is_zero = (graph->queue[at] & 1) - 1; /* -1 or 0: a choice would be a branch that goes any way */
        height[graph->queue[at] >> 1] = ((INT32_MAX - at) ^ is_zero) - is_zero;
    }
}

void settle_row(struct maxflow *graph, int32_t i)
{
    const int32_t *height = graph->clamps->height;
    int64_t in = 0; /* by arcs that are not level, less what leaves by them */
    for (int32_t k = graph->first[i]; k < graph->first[i + 1]; k++) {
        struct maxflow_arc *arc = &graph->arc[k];
        int32_t other = height[arc->head], residual = arc->residual;
        arc->residual = other > height[i] ? arc->sum : other < height[i] ? 0 : residual;
        in += other > height[i] ? arc->sum - residual : other < height[i] ? -residual : 0;
    }
    graph->clamps->is_settled[i] = 1;
    graph->excess[i] = height[i] ? graph->terminal[i] + in : graph->excess[i];
}
