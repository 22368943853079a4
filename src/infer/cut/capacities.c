#include "infer/cut/capacities.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "infer/cut/maxflow.h"
#include "infer/field_check.h"
#include "infer/unary_limit.h"

void capacities_init(struct capacities *capacities)
{
    memset(capacities, 0, sizeof *capacities);
}

void capacities_release(struct capacities *capacities)
{
    array_free(capacities->terminal);
    array_free(capacities->capacity);
    array_free(capacities->unary);
    array_free(capacities->coupling);
    capacities_init(capacities);
}

static enum clv_status reserve(struct capacities *c, size_t n_nodes, size_t n_edges, struct clv_error *err)
{
    const struct array_part by_node[] = {{&c->terminal, sizeof *c->terminal}, {&c->unary, sizeof *c->unary}};
    const struct array_part by_edge[] = {{&c->capacity, sizeof *c->capacity}, {&c->coupling, sizeof *c->coupling}};
    if (array_reserve_all(by_node, 2, &c->node_capacity, n_nodes + 1) ||
        array_reserve_all(by_edge, 2, &c->edge_capacity, n_edges + 1))
        return fail_memory(err);
    return CLV_OK;
}

enum clv_status capacities_keep_unary(struct capacities *c, const struct clv_field *field, struct clv_error *err)
{
    enum clv_status status = reserve(c, (size_t)field->n_nodes, 0, err);
    if (!status && field->n_nodes)
        memcpy(c->unary, field->unary, (size_t)field->n_nodes * sizeof *c->unary);
    return status;
}

/* With D = P11 + P00 - P01 - P10 >= 0, P[y_a][y_b] is, up to P00,
 *   y_a (P10 - P00 + P11 - P01) / 2 + y_b (P01 - P00 + P11 - P10) / 2 - D/2 [y_a != y_b]. */
static enum clv_status reparametrise(struct capacities *c, const struct clv_field *field, struct clv_error *err)
{
    for (int32_t i = 0; i < field->n_nodes; i++)
        c->unary[i] = field->unary[i];
    for (int32_t e = 0; e < field->n_edges; e++) {
        const double *table = clv_field_table(field, e);
        double p00 = table[0], p01 = table[1], p10 = table[2], p11 = table[3];
        double d = (p11 / 4 + p00 / 4) - (p01 / 4 + p10 / 4); /* D/4 */
        double size = fabs(p00) / 4 + fabs(p01) / 4 + fabs(p10) / 4 + fabs(p11) / 4;
        if (d < -0x1p-40 * size) /* what rounding leaves of D = 0 is none */
            return fail(err, CLV_ERR_DATA, "edge %d (nodes %d and %d) is not supermodular: %g + %g < %g + %g", e,
                        field->edges[e][0], field->edges[e][1], p00, p11, p01, p10);
        c->coupling[e] = d > 0 ? 2 * d : 0;
        c->unary[field->edges[e][0]] += (p10 / 2 - p00 / 2) + (p11 / 2 - p01 / 2);
        c->unary[field->edges[e][1]] += (p01 / 2 - p00 / 2) + (p11 / 2 - p10 / 2);
    }
    return CLV_OK;
}

/* The largest k <= 1000 such that largest x 2^k still rounds to MAXFLOW_LIMIT = 2^30 - 1 or less. */
static int grid_exponent(double largest)
{
    int exponent;
    double fraction = frexp(largest, &exponent); /* in [1/2, 1), or 0 */
    int k = 30 - exponent - (rint(ldexp(fraction, 30)) > MAXFLOW_LIMIT);
    return largest == 0 ? 0 : k > 1000 ? 1000 : k;
}

static double largest_size(const double *value, size_t n)
{
    double largest = 0;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(value[i]));
    return largest;
}

double capacities_sum(double *sum, const struct clv_field *field, const double *coupling)
{
    memset(sum, 0, (size_t)field->n_nodes * sizeof *sum);
    for (int32_t e = 0; e < field->n_edges; e++) {
        sum[field->edges[e][0]] += coupling[e];
        sum[field->edges[e][1]] += coupling[e];
    }
    return largest_size(sum, (size_t)field->n_nodes);
}

static enum clv_status find_limit(struct capacities *c, const struct clv_field *field, const double *unary,
                                  const double *coupling, struct clv_error *err)
{
    size_t n = (size_t)field->n_nodes;
    double least = INFINITY, *sum = array_alloc(n, sizeof *sum);
    if (!sum)
        return fail_memory(err);
    for (size_t i = 0; i < n; i++)
        least = unary[i] != 0 ? fmin(least, fabs(unary[i])) : least;
    c->limit = unary_limit(largest_size(unary, n), capacities_sum(sum, field, coupling), least);
    if (unary != c->unary)
        memcpy(c->unary, unary, n * sizeof *unary);
    array_free(sum);
    return CLV_OK;
}

enum clv_status capacities_set(struct capacities *c, const struct clv_field *field, struct clv_error *err)
{
    size_t n_nodes = (size_t)field->n_nodes, n_edges = field->form == CLV_PAIRWISE_NONE ? 0 : (size_t)field->n_edges;
    const double *unary = field->unary, *coupling = field->pairwise;
    enum clv_status status = field_check(field, err);
    if (!status)
        status = reserve(c, n_nodes, n_edges, err);
    if (!status && field->form == CLV_PAIRWISE_FULL) {
        status = reparametrise(c, field, err);
        unary = c->unary;
        coupling = c->coupling;
    }
    if (status)
        return status;
    double largest_unary = largest_size(unary, n_nodes), largest_coupling = 0;
    for (size_t e = 0; e < n_edges; e++) {
        if (coupling[e] < 0)
            return fail(err, CLV_ERR_DATA, "edge %zu (nodes %d and %d): its coupling is %g, below 0", e,
                        field->edges[e][0], field->edges[e][1], coupling[e]);
        largest_coupling = fmax(largest_coupling, coupling[e]);
    }
    c->limit = INFINITY;
    if (largest_unary > UNARY_LARGE * largest_coupling)
        status = find_limit(c, field, unary, coupling, err);
    if (status)
        return status;
    c->slack_exponent = grid_exponent(fmax(largest_unary, largest_coupling));
    c->exponent = grid_exponent(fmax(fmin(largest_unary, c->limit), largest_coupling));
    double scale = ldexp(1, c->exponent);
    for (size_t i = 0; i < n_nodes; i++)
        c->terminal[i] = (int32_t)rint(unary_clip(unary[i], c->limit) * scale);
    for (size_t e = 0; e < n_edges; e++)
        c->capacity[e] = (int32_t)rint(coupling[e] * scale);
    return CLV_OK;
}
