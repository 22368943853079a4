/* Successive patches of a region graph as a problem, for any oracle and any learner. */
#ifndef SUPPORT_REGION_WINDOW_H
#define SUPPORT_REGION_WINDOW_H

#include <string.h>

#include "base/base.h"
#include "superpixel/region_graph.h"
#include "support/support.h"

/* Nodes first_node[first] and on of the graph, and the edges that have both ends there, in the graph's order. Features
 * are views of the graph, which must not grow while the window is used. */
struct region_window {
    struct clv_problem problem;
    int32_t first_node;
    int32_t (*edges)[2];
    float *edge_features;
    int32_t *edge; /* [problem.n_edges] number of each in the graph */
};

static inline void region_window_release(struct region_window *self)
{
    arrays_free(self->edges, self->edge_features, self->edge);
    *self = (struct region_window){0};
}

static inline struct region_window region_window_of(const struct region_graph *graph, int32_t first, int32_t n)
{
    int32_t low = graph->first_node[first], begin = graph->first_edge[first], end = graph->first_edge[first + n];
    size_t p = (size_t)graph->n_edge_features, most = (size_t)(end - begin), n_labels = (size_t)graph->n_labels, m = 0;
    struct region_window self = {.first_node = low,
                                 .edges = array_alloc(most, sizeof *self.edges),
                                 .edge_features = array_alloc(most, p * sizeof *self.edge_features),
                                 .edge = array_alloc(most, sizeof *self.edge)};
    ck_assert(self.edges && self.edge_features && self.edge);
    for (int32_t e = begin; e < end; e++) {
        if (graph->edges[e][0] < low)
            continue;
        self.edges[m][0] = graph->edges[e][0] - low;
        self.edges[m][1] = graph->edges[e][1] - low;
        if (graph->edge_features && p)
            memcpy(self.edge_features + m * p, graph->edge_features + (size_t)e * p, p * sizeof(float));
        self.edge[m++] = e;
    }
    self.problem = (struct clv_problem){
        .n_nodes = graph->first_node[first + n] - low,
        .n_edges = (int32_t)m,
        .n_features = graph->n_features,
        .n_edge_features = graph->n_edge_features,
        .row = graph->row ? graph->row + low : NULL,
        .index = graph->index,
        .value = graph->value,
        .edges = (const int32_t(*)[2])self.edges,
        .edge_features = graph->edge_features ? self.edge_features : NULL,
        .label = graph->label ? graph->label + low : NULL,
        .theta = graph->theta ? graph->theta + n_labels * (size_t)low : NULL,
        .area = graph->area ? graph->area + low : NULL,
        .centroid = graph->centroid ? graph->centroid + 2 * (size_t)low : NULL,
    };
    return self;
}

#endif
