/* Marginals of p(y) proportional to exp f(y), exact wherever that is cheap: components of the graph without loops, the
 * chains, trees and single nodes, go to sum-product, the others to samples or to loopy belief propagation. Every
 * engine for marginals is chosen here. Read field_marginals first. */
#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "infer/infer.h"
#include "infer/oracle/oracle.h"
#include "infer/oracle/oracle_state.h"

const char *clv_marginals_name(enum clv_marginals kind)
{
    switch (kind) {
    case CLV_MARGINALS_EXACT: return "sum-product";
    case CLV_MARGINALS_SAMPLED: return "samples";
    case CLV_MARGINALS_PROPAGATED: return "belief propagation";
    }
    return "unknown";
}

/* Tells which nodes are in components with loops. */
struct components {
    int32_t *parent; /* [n_nodes] of union-find */
    uint8_t *loops;  /* [n_nodes] set at the roots while components are joined, then at each node */
    int32_t n_looped;
};

static void components_release(struct components *self)
{
    arrays_free(self->parent, self->loops);
    *self = (struct components){0};
}

static enum clv_status components_find(struct components *self, const struct clv_field *field, struct clv_error *err)
{
    int32_t n = field->n_nodes, n_edges = field_n_edges(field);
    NEED(self->parent = array_alloc((size_t)n, sizeof *self->parent));
    NEED(self->loops = array_zalloc((size_t)n, sizeof *self->loops));
    for (int32_t i = 0; i < n; i++)
        self->parent[i] = i;
    for (int32_t e = 0; e < n_edges; e++) {
        int32_t a = root_of(self->parent, field->edges[e][0]), b = root_of(self->parent, field->edges[e][1]);
        int32_t low = a < b ? a : b, high = a < b ? b : a;
        self->parent[high] = low;
        self->loops[low] |= (uint8_t)(self->loops[high] | (a == b));
    }
    for (int32_t i = 0; i < n; i++) { /* roots come first: they are the lowest of their component */
        self->loops[i] = self->loops[root_of(self->parent, i)];
        self->n_looped += self->loops[i];
    }
    return CLV_OK;
}

enum clv_status field_marginals_kind(enum clv_marginals *kind, const struct clv_field *field, enum clv_marginals looped,
                                     struct clv_error *err)
{
    OWNED(components_release) struct components components = {0};
    MUST(components_find(&components, field, err));
    *kind = components.n_looped ? looped : CLV_MARGINALS_EXACT;
    return CLV_OK;
}

/* Computes the marginals of a chain of full tables. Unaries of two labels are expanded to two columns. */
static enum clv_status chain_marginals(double *marginals, double *log_partition, const struct clv_field *field,
                                       struct clv_error *err)
{
    size_t n = (size_t)field->n_nodes;
    OWNED_ARRAY double *two = field->n_labels == 2 ? array_zalloc(n, 2 * sizeof *two) : NULL;
    NEED(two || field->n_labels != 2);
    for (size_t i = 0; two && i < n; i++)
        two[2 * i + 1] = field->unary[i];
    const struct clv_chain chain = {field->n_nodes, field->n_labels, field->is_shared, two ? two : field->unary,
                                    field->pairwise};
    return clv_chain_marginals(marginals, NULL, log_partition, &chain, err);
}

/* Computes the marginals of a forest with Potts couplings by belief propagation, which needs no tables. It is exact
 * after one iteration; a second one detects that. */
static enum clv_status potts_marginals(double *marginals, double *log_partition, const struct clv_field *field,
                                       struct clv_error *err)
{
    OWNED(bp_drop) struct clv_bp *bp = NULL;
    struct clv_bp_options options;
    struct clv_bp_result result;
    clv_bp_defaults(&options);
    options.max_iterations = 2;
    MUST(clv_bp_new(&bp, err));
    MUST(clv_bp_run(bp, marginals, NULL, &result, field, &options, err));
    *log_partition = result.value;
    return CLV_OK;
}

/* Computes the marginals of a forest. */
static enum clv_status exact_marginals(struct clv_oracle *oracle, double *marginals, double *log_partition,
                                       const struct clv_field *field, struct clv_error *err)
{
    if (field_is_chain(field) && field->n_labels <= CLV_CHAIN_MAX_LABELS)
        return chain_marginals(marginals, log_partition, field, err);
    if (field->form == CLV_PAIRWISE_POTTS)
        return potts_marginals(marginals, log_partition, field, err);
    if (!oracle->decoding.forest)
        MUST(clv_forest_new(&oracle->decoding.forest, err));
    return clv_forest_run(oracle->decoding.forest, log_partition, marginals, NULL, NULL, field, NULL, err);
}

/* Computes marginals by loopy sum-product, and raises the damping while it does not converge. */
static enum clv_status propagated_marginals(double *marginals, double *log_partition, const struct clv_field *field,
                                            struct clv_error *err)
{
    static const double damping[] = {0, 0.5, 0.75, 0.9};
    OWNED(bp_drop) struct clv_bp *bp = NULL;
    struct clv_bp_options options;
    struct clv_bp_result result = {.is_converged = false};
    clv_bp_defaults(&options);
    MUST(clv_bp_new(&bp, err));
    for (size_t i = 0; i < sizeof damping / sizeof *damping && !result.is_converged; i++) {
        options.damping = damping[i];
        MUST(clv_bp_run(bp, marginals, NULL, &result, field, &options, err));
    }
    *log_partition = result.value;
    return CLV_OK;
}

/* Computes marginals of a field whose components all have loops. */
static enum clv_status looped_marginals(struct clv_oracle *oracle, struct marginals_found *found,
                                        const struct clv_field *field, const struct marginals_options *options,
                                        struct clv_error *err)
{
    if (options->looped == CLV_MARGINALS_PROPAGATED)
        return propagated_marginals(found->marginals, &found->log_partition, field, err);
    return clv_perturbed_marginals(oracle, found->marginals, &found->log_partition, &found->standard_error, field,
                                   options->seed, options->n_samples, err);
}

/* The part of a field with some of its nodes and the edges between them; owns its memory. */
struct part {
    struct clv_field field;
    int32_t *nodes; /* [field.n_nodes] in the whole field */
    int32_t (*edges)[2];
};

static void part_release(struct part *self)
{
    arrays_free(self->nodes, self->edges, self->field.unary, self->field.pairwise);
    *self = (struct part){0};
}

/* Copies the nodes whose `loops` equals is_looped, and their edges; no edge joins them with other nodes.
 * index_of[n_nodes] is workspace. */
static enum clv_status part_take(struct part *self, int32_t *index_of, const struct clv_field *field,
                                 const uint8_t *loops, bool is_looped, struct clv_error *err)
{
    size_t n = (size_t)field->n_nodes, m = (size_t)field->n_edges, k = (size_t)field->n_labels;
    size_t columns = k == 2 ? 1 : k, cells = field->form == CLV_PAIRWISE_FULL ? k * k : 1;
    self->field = (struct clv_field){.n_labels = field->n_labels, .form = field->form, .is_shared = field->is_shared};
    NEED(self->nodes = array_alloc(n, sizeof *self->nodes));
    NEED(self->edges = array_alloc(m, sizeof *self->edges));
    NEED(self->field.unary = array_alloc(n, columns * sizeof *self->field.unary));
    NEED(self->field.pairwise = array_alloc(m, cells * sizeof *self->field.pairwise));
    self->field.edges = (const int32_t(*)[2])self->edges;
    for (size_t i = 0; i < n; i++) {
        if ((loops[i] != 0) != is_looped)
            continue;
        index_of[i] = self->field.n_nodes;
        self->nodes[index_of[i]] = (int32_t)i;
        memcpy(&self->field.unary[(size_t)self->field.n_nodes++ * columns], &field->unary[i * columns],
               columns * sizeof(double));
    }
    for (size_t e = 0; e < m; e++) {
        size_t table = self->field.is_shared ? 0 : (size_t)self->field.n_edges;
        if ((loops[field->edges[e][0]] != 0) != is_looped)
            continue;
        self->edges[self->field.n_edges][0] = index_of[field->edges[e][0]];
        self->edges[self->field.n_edges++][1] = index_of[field->edges[e][1]];
        memcpy(&self->field.pairwise[table * cells], &field->pairwise[(field->is_shared ? 0 : e) * cells],
               cells * sizeof(double));
    }
    return CLV_OK;
}

/* Computes the marginals of the components with loops, or of those without, and adds the result to *found. */
static enum clv_status add_part(struct clv_oracle *oracle, struct marginals_found *found, const struct clv_field *field,
                                const struct components *components, bool is_looped,
                                const struct marginals_options *options, struct clv_error *err)
{
    OWNED(part_release) struct part part = {0};
    size_t k = (size_t)field->n_labels;
    OWNED_ARRAY int32_t *index_of = array_alloc((size_t)field->n_nodes, sizeof *index_of);
    OWNED_ARRAY double *marginals = array_alloc((size_t)field->n_nodes, k * sizeof *marginals);
    NEED(index_of && marginals);
    MUST(part_take(&part, index_of, field, components->loops, is_looped, err));
    struct marginals_found part_found = {.marginals = marginals};
    if (is_looped)
        MUST(looped_marginals(oracle, &part_found, &part.field, options, err));
    else
        MUST(exact_marginals(oracle, marginals, &part_found.log_partition, &part.field, err));
    for (int32_t i = 0; i < part.field.n_nodes; i++)
        memcpy(&found->marginals[(size_t)part.nodes[i] * k], &marginals[(size_t)i * k], k * sizeof *marginals);
    found->log_partition += part_found.log_partition;
    found->standard_error += part_found.standard_error;
    return CLV_OK;
}

enum clv_status field_marginals(struct clv_oracle *oracle, struct marginals_found *found, const struct clv_field *field,
                                const struct marginals_options *options, struct clv_error *err)
{
    OWNED(components_release) struct components components = {0};
    struct marginals_found result = {.marginals = found->marginals};
    if (options->n_samples == 0 || field->n_nodes < 0 || field->n_labels < 2)
        return fail(err, CLV_ERR_USAGE, "%u samples of a field of %d nodes and %d labels", options->n_samples,
                    field->n_nodes, field->n_labels);
    FAIL_IF(oracle->stop && *oracle->stop, CLV_ERR_INTERRUPTED, "interrupted");
    MUST(field_check(field, err));
    MUST(components_find(&components, field, err));
    if (!components.n_looped) {
        MUST(exact_marginals(oracle, result.marginals, &result.log_partition, field, err));
    } else if (components.n_looped == field->n_nodes) {
        MUST(looped_marginals(oracle, &result, field, options, err));
    } else {
        MUST(add_part(oracle, &result, field, &components, true, options, err));
        MUST(add_part(oracle, &result, field, &components, false, options, err));
    }
    *found = result;
    return CLV_OK;
}

enum clv_status clv_oracle_marginals(struct clv_oracle *oracle, double *marginals, double *log_partition,
                                     double *standard_error, const struct clv_field *field, uint64_t seed,
                                     uint32_t n_samples, struct clv_error *err)
{
    const struct marginals_options options = {CLV_MARGINALS_SAMPLED, seed, n_samples};
    size_t n = field->n_nodes > 0 ? (size_t)field->n_nodes : 0, k = field->n_labels > 0 ? (size_t)field->n_labels : 0;
    OWNED_ARRAY double *of_node = array_alloc(n, k * sizeof *of_node);
    NEED(of_node);
    struct marginals_found found = {.marginals = of_node};
    MUST(field_marginals(oracle, &found, field, &options, err));
    if (marginals)
        array_put(marginals, of_node, n * k, sizeof *of_node);
    if (log_partition)
        *log_partition = found.log_partition;
    if (standard_error)
        *standard_error = found.standard_error;
    return CLV_OK;
}
