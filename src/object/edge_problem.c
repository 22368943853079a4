/* Builds a problem whose nodes are the edges of a region graph, so that learners of two labels learn which borders
 * separate objects. Start at edge_problem_init. */
#include "object/object.h"

#include "base/base.h"
#include "superpixel/region_graph.h"

void edge_problem_release(struct edge_problem *self)
{
    array_free(self->row);
    array_free(self->index);
    array_free(self->value);
    array_free(self->label);
    array_free(self->theta);
    array_free(self->area);
    *self = (struct edge_problem){0};
}

/* Appends an entry to the sparse row, unless it is 0. */
static void append(struct edge_problem *self, int64_t *at, size_t column, float value)
{
    if (value == 0)
        return;
    self->index[*at] = (int32_t)column;
    self->value[(*at)++] = value;
}

static void fill_rows(struct edge_problem *self, const struct region_graph *graph, const float *features, size_t n_more)
{
    size_t p = graph->edge_features ? (size_t)graph->n_edge_features : 0;
    int64_t at = 0;
    for (size_t e = 0; e < (size_t)graph->n_edges; e++) {
        self->row[e] = at;
        append(self, &at, EDGE_PROBLEM_BIAS, 1);
        append(self, &at, EDGE_PROBLEM_SEAM, graph->kind[e] == REGION_SEAM);
        append(self, &at, EDGE_PROBLEM_NEXT, graph->kind[e] == REGION_NEXT);
        append(self, &at, EDGE_PROBLEM_CONTACT, (float)portable_log1p((double)graph->contact[e]));
        for (size_t k = 0; k < p; k++)
            append(self, &at, EDGE_PROBLEM_OWN + k, graph->edge_features[e * p + k]);
        for (size_t k = 0; k < n_more; k++)
            append(self, &at, EDGE_PROBLEM_OWN + p + k, features[e * n_more + k]);
    }
    self->row[graph->n_edges] = at;
}

/* theta[e][b] = contact / (K' V_b), where V_b is the contact of all edges of label b and K' the number of labels that
 * occur. */
static void fill_truth(struct edge_problem *self, const struct region_graph *graph, const int32_t *object)
{
    double total[2] = {0};
    for (int32_t e = 0; e < graph->n_edges; e++) {
        int32_t a = object[graph->edges[e][0]], b = object[graph->edges[e][1]];
        self->label[e] = a < 0 || b < 0 ? CLV_UNKNOWN : a != b;
        if (self->label[e] != CLV_UNKNOWN)
            total[self->label[e]] += (double)graph->contact[e];
    }
    int n_met = (total[0] > 0) + (total[1] > 0);
    for (size_t e = 0; e < (size_t)graph->n_edges; e++)
        for (int b = 0; b < 2; b++)
            self->theta[2 * e + (size_t)b] =
                self->label[e] == b && total[b] > 0 ? (float)((double)graph->contact[e] / (n_met * total[b])) : 0;
}

enum clv_status edge_problem_init(struct edge_problem *self, const struct region_graph *graph, const float *features,
                                  int32_t n_features, const int32_t *object, struct clv_error *err)
{
    size_t n = (size_t)graph->n_edges, own = graph->edge_features ? (size_t)graph->n_edge_features : 0;
    size_t width = EDGE_PROBLEM_OWN + own + (size_t)n_features;
    OWNED(edge_problem_release) struct edge_problem result = {0};
    FAIL_IF(n == 0, CLV_ERR_DATA, "%d regions that do not touch have no edges to cut", graph->n_nodes);
    result.row = array_alloc(n + 1, sizeof *result.row);
    result.index = array_alloc(n, width * sizeof *result.index);
    result.value = array_alloc(n, width * sizeof *result.value);
    result.area = array_copy(graph->contact, n, sizeof *result.area);
    result.label = object ? array_alloc(n, sizeof *result.label) : NULL;
    result.theta = object ? array_alloc(n, 2 * sizeof *result.theta) : NULL;
    NEED(result.row && result.index && result.value && result.area && (!object || (result.label && result.theta)));
    fill_rows(&result, graph, features, (size_t)n_features);
    if (object)
        fill_truth(&result, graph, object);
    result.problem = (struct clv_problem){.n_nodes = graph->n_edges,
                                          .n_features = (int32_t)width,
                                          .row = result.row,
                                          .index = result.index,
                                          .value = result.value,
                                          .label = result.label,
                                          .theta = result.theta,
                                          .area = result.area};
    *self = TAKE(result);
    return CLV_OK;
}
