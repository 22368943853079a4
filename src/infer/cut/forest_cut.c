/* Cuts of forests in linear time, leaves first. A leaf sends its excess to its only neighbour, or draws its deficit
 * from there, up to the capacity of the edge. Labels follow in reverse order: a leaf has label 1 if excess is left, or
 * if its neighbour has label 1 and the edge still has capacity from there. Leaves are found by the degree of each node
 * and the XOR of its edges. The order depends only on the graph, so it is kept from cut to cut. */
#include <string.h>

#include "base/base.h"
#include "infer/cut/cut.h"

void forest_cut_release(struct forest_cut *self)
{
    arrays_free(self->edges, self->steps, self->node);
    *self = (struct forest_cut){0};
}

/* Finds the order, roots last. Returns false if the graph has a cycle. */
static bool order(struct forest_cut *self)
{
    const int32_t(*edges)[2] = (const int32_t(*)[2])self->edges;
    union forest_node *node = self->node;
    int32_t n_steps = 0;
    memset(node, 0, (size_t)self->n_nodes * sizeof *node);
    for (int32_t e = 0; e < self->n_edges; e++)
        for (int end = 0; end < 2; end++) {
            node[edges[e][end]].degree++;
            node[edges[e][end]].edges ^= e;
        }
    for (int32_t i = 0; i < self->n_nodes; i++)
        for (int32_t v = i; node[v].degree == 1; v = self->steps[n_steps++].to) {
            int32_t e = node[v].edges, to = edges[e][0] ^ edges[e][1] ^ v;
            self->steps[n_steps] = (struct forest_step){.node = v, .to = to, .edge = e};
            node[v].degree = -1;
            node[to].degree--;
            node[to].edges ^= e;
        }
    if (n_steps < self->n_edges)
        return false;
    for (int32_t i = 0; i < self->n_nodes; i++)
        if (node[i].degree == 0)
            self->steps[n_steps++].node = i;
    return true;
}

/* Prepares self for this graph, unless it is prepared already. */
static int prepare(struct forest_cut *self, const struct clv_field *field)
{
    size_t bytes = (size_t)field->n_edges * sizeof *field->edges;
    if (self->node && self->n_nodes == field->n_nodes && self->n_edges == field->n_edges &&
        memcmp(self->edges, field->edges, bytes) == 0)
        return 0;
    const struct array_part by_node[] = {
        {&self->edges, sizeof *self->edges}, {&self->steps, sizeof *self->steps}, {&self->node, sizeof *self->node}};
    if (array_reserve_all(by_node, sizeof by_node / sizeof *by_node, &self->node_capacity,
                          (size_t)field->n_nodes + 1)) {
        forest_cut_release(self);
        return -1;
    }
    self->n_nodes = field->n_nodes;
    self->n_edges = field->n_edges;
    memcpy(self->edges, field->edges, bytes);
    self->is_forest = order(self);
    return 0;
}

int forest_cut_solve(struct forest_cut *self, int32_t *y, const struct clv_field *field,
                     const struct capacities *capacities)
{
    const int32_t n_nodes = field->n_nodes, n_edges = field->n_edges, *capacity = capacities->capacity;
    if (!n_edges || n_edges >= n_nodes)
        return 0;
    if (prepare(self, field))
        return -1;
    if (!self->is_forest)
        return 0;
    union forest_node *restrict node = self->node;
    const struct forest_step *restrict steps = self->steps;
    for (int32_t i = 0; i < n_nodes; i++)
        node[i].excess = capacities->terminal[i];
    for (int32_t s = 0; s < n_edges; s++) {
        int64_t excess = node[steps[s].node].excess, most = capacity[steps[s].edge];
        int64_t amount = excess < most ? excess : most;
        amount = amount > -most ? amount : -most;
        node[steps[s].to].excess += amount;
        y[steps[s].node] = (excess > amount) | (amount > -most) << 1;
    }
    for (int32_t s = n_edges; s < n_nodes; s++)
        y[steps[s].node] = node[steps[s].node].excess > 0;
    for (int32_t s = n_edges - 1; s >= 0; s--) {
        int32_t i = steps[s].node;
        y[i] = (y[i] & 1) | (y[i] >> 1 & y[steps[s].to]);
    }
    return 1;
}
