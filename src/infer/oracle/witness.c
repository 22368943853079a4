/* Clamped optima of the oracle's solution, called witnesses here: the cost of forcing one node to its other label, and
 * the labelling that attains it. All of them together give max-marginals and witness counts. Start at
 * clv_oracle_witnesses. */
#include <math.h>

#include "base/base.h"
#include "infer/cut/cut.h"
#include "infer/infer.h"
#include "infer/oracle/oracle_state.h"

struct forward_state {
    clv_witness_visit *visit;
    void *context;
    const struct capacities *capacities;
    double unit;
};

static void forward_clamp(void *context, int32_t node, int64_t cost, const int32_t *flipped, int32_t n_flipped)
{
    const struct forward_state *f = context;
    f->visit(f->context, node, (double)cost * f->unit + capacities_clipped(f->capacities, node), flipped, n_flipped);
}

static enum clv_status clamp_ours(struct clv_oracle *oracle, const int32_t *nodes, int32_t n,
                                  struct forward_state *forwarding, struct clv_error *err)
{
    const struct forest_cut *forest = &oracle->forest;
    if (oracle->is_forest) {
        NEED(maxflow_load(&oracle->graph, forest->n_nodes, forest->n_edges, (const int32_t(*)[2])forest->edges,
                          oracle->capacities.terminal, oracle->capacities.capacity) == 0);
        maxflow_solve(&oracle->graph);
        oracle->is_forest = false;
    }
    if (clamps_prepare(&oracle->graph) || clamp_each(&oracle->graph, nodes, n, forward_clamp, forwarding))
        return fail_memory(err);
    return CLV_OK;
}

#if WITH_BK
/* Returns the cut value of a labelling, in units of the rounded scores. */
static int64_t value_of(const struct clv_oracle *oracle, const uint8_t *label)
{
    int64_t value = 0;
    for (int32_t i = 0; i < oracle->n_nodes; i++)
        value -= label[i] ? oracle->capacities.terminal[i] : 0;
    for (int32_t e = 0; e < oracle->n_edges; e++)
        value += label[oracle->edges[e][0]] != label[oracle->edges[e][1]] ? oracle->capacities.capacity[e] : 0;
    return value;
}

/* Returns a weight per node that is larger than its terminal weight and all its edges together. */
static double *outweighing(const struct clv_oracle *oracle)
{
    double *weight = array_alloc((size_t)oracle->n_nodes, sizeof *weight);
    for (int32_t i = 0; weight && i < oracle->n_nodes; i++)
        weight[i] = 1 + fabs(oracle->terminal[i]);
    for (int32_t e = 0; weight && e < oracle->n_edges; e++) {
        weight[oracle->edges[e][0]] += oracle->capacity[e];
        weight[oracle->edges[e][1]] += oracle->capacity[e];
    }
    return weight;
}

/* Clamps by libmaxflow, which reuses its trees: each clamp is solved from the previous solution. */
static enum clv_status clamp_bk(struct clv_oracle *oracle, const int32_t *nodes, int32_t n,
                                struct forward_state *forwarding, struct clv_error *err)
{
    size_t n_nodes = (size_t)oracle->n_nodes;
    OWNED_ARRAY uint8_t *base = array_alloc(n_nodes, 1), *label = array_alloc(n_nodes, 1);
    OWNED_ARRAY int32_t *flipped = array_alloc(n_nodes, sizeof *flipped);
    OWNED_ARRAY double *weight = outweighing(oracle);
    NEED(base && label && flipped && weight);
    for (int32_t i = 0; i < oracle->n_nodes; i++)
        base[i] = (uint8_t)bk_on_source_side(oracle->bk, i);
    int64_t best = value_of(oracle, base);
    for (int32_t k = 0; k < n; k++) {
        int32_t i = nodes[k], n_flipped = 1;
        double amount = base[i] ? -weight[i] : weight[i];
        if (bk_change(oracle->bk, i, amount) != BK_OK || bk_resolve(oracle->bk, NULL) != BK_OK)
            return fail_memory(err);
        flipped[0] = i;
        for (int32_t v = 0; v < oracle->n_nodes; v++) {
            label[v] = (uint8_t)bk_on_source_side(oracle->bk, v);
            if (label[v] != base[v] && v != i)
                flipped[n_flipped++] = v;
        }
        forward_clamp(forwarding, i, value_of(oracle, label) - best, flipped, n_flipped);
        NEED(bk_change(oracle->bk, i, -amount) == BK_OK);
    }
    NEED(bk_resolve(oracle->bk, NULL) == BK_OK);
    return CLV_OK;
}
#endif

static void clamp_without_edges(const struct clv_oracle *oracle, const int32_t *nodes, int32_t n,
                                const struct forward_state *forwarding)
{
    for (int32_t k = 0; k < n; k++)
        forwarding->visit(forwarding->context, nodes[k], fabs(oracle->capacities.unary[nodes[k]]), &nodes[k], 1);
}

/* Finds each clamped optimum by a new cut. */
static enum clv_status clamp_exactly(struct clv_oracle *oracle, const int32_t *nodes, int32_t n,
                                     const struct forward_state *forwarding, struct clv_error *err)
{
    OWNED_ARRAY int32_t *flipped = array_alloc((size_t)oracle->n_solved, sizeof *flipped);
    NEED(flipped);
    for (int32_t k = 0; k < n; k++) {
        int32_t n_flipped;
        double cost = exact_cut_clamp(flipped, &n_flipped, &oracle->clamped, &oracle->exact, nodes[k]);
        NEED(cost >= 0);
        forwarding->visit(forwarding->context, nodes[k], cost / oracle->exact_scale, flipped, n_flipped);
    }
    return CLV_OK;
}

/* Builds the tree of the field solved last, unless it exists already. */
static enum clv_status make_tree(struct clv_oracle *oracle, const struct clv_field *field, struct clv_error *err)
{
    if (oracle->has_tree)
        return CLV_OK;
    OWNED_ARRAY int32_t *y = array_alloc((size_t)field->n_nodes, sizeof *y);
    NEED(y);
    int solved = forest_map_solve(&oracle->tree, y, field);
    NEED(solved >= 0);
    FAIL_IF(!solved, CLV_ERR_USAGE, "a clamp is asked for of a field that is not the chain or forest solved last");
    oracle->has_tree = true;
    return CLV_OK;
}

/* Finds clamped optima of chains and forests, by forest_map. */
static enum clv_status clamp_tree(struct clv_oracle *oracle, const int32_t *nodes, int32_t n,
                                  const struct forward_state *forwarding, struct clv_error *err)
{
    const struct clv_field *field = &oracle->copy;
    size_t n_nodes = (size_t)field->n_nodes;
    MUST(make_tree(oracle, field, err));
    OWNED_ARRAY double *best = array_alloc(n_nodes, 2 * sizeof *best);
    OWNED_ARRAY int32_t *y = array_alloc(n_nodes, 3 * sizeof *y);
    NEED(best && y);
    int32_t *clamped = y + n_nodes, *flipped = clamped + n_nodes;
    forest_map_max_marginals(&oracle->tree, best, field);
    forest_map_label(&oracle->tree, y, field);
    for (int32_t k = 0; k < n; k++) {
        int32_t node = nodes[k], n_flipped = 1;
        flipped[0] = node;
        forest_map_clamp(&oracle->tree, clamped, field, node, 1 - y[node]);
        for (int32_t i = 0; i < field->n_nodes; i++)
            if (clamped[i] != y[i] && i != node)
                flipped[n_flipped++] = i;
        double cost = best[2 * node + y[node]] - best[2 * node + 1 - y[node]];
        forwarding->visit(forwarding->context, node, fmax(cost, 0), flipped, n_flipped);
    }
    return CLV_OK;
}

/* Returns nodes[n] without repetitions, or all nodes if `nodes` is NULL. Returns NULL when out of memory. */
static int32_t *distinct_nodes(int32_t *n_distinct, const struct clv_oracle *oracle, const int32_t *nodes, int32_t n)
{
    int32_t count = nodes ? n : oracle->n_solved;
    OWNED_ARRAY int32_t *list = array_alloc((size_t)count, sizeof *list);
    OWNED_ARRAY uint8_t *is_listed = array_zalloc((size_t)oracle->n_solved, 1);
    *n_distinct = 0;
    if (!list || !is_listed)
        return NULL;
    for (int32_t k = 0; k < count; k++) {
        int32_t i = nodes ? nodes[k] : k;
        list[*n_distinct] = i;
        *n_distinct += !is_listed[i];
        is_listed[i] = 1;
    }
    return TAKE(list);
}

enum clv_status clv_oracle_witnesses(struct clv_oracle *oracle, const int32_t *nodes, int32_t n,
                                     clv_witness_visit *visit, void *context, struct clv_error *err)
{
    bool is_chain = oracle->state == ORACLE_CHAIN, is_tree = is_chain || oracle->state == ORACLE_FOREST;
    FAIL_IF(oracle->state == ORACLE_EMPTY ||
                (is_tree && (is_chain ? oracle->chain.n_labels : oracle->tree.n_labels) != 2),
            CLV_ERR_USAGE, "witnesses are asked for before a two-label field was solved");
    for (int32_t k = 0; nodes && k < n; k++)
        FAIL_IF(nodes[k] < 0 || nodes[k] >= oracle->n_solved, CLV_ERR_USAGE, "witness of node %d of %d", nodes[k],
                oracle->n_solved);
    struct forward_state forwarding = {visit, context, &oracle->capacities, ldexp(1, -oracle->capacities.exponent)};
    int32_t n_distinct;
    OWNED_ARRAY int32_t *distinct = distinct_nodes(&n_distinct, oracle, nodes, n);
    NEED(distinct);
    if (oracle->state == ORACLE_NO_EDGES) {
        clamp_without_edges(oracle, distinct, n_distinct, &forwarding);
        return CLV_OK;
    }
    if (oracle->state == ORACLE_EXACT)
        return clamp_exactly(oracle, distinct, n_distinct, &forwarding, err);
    if (is_tree)
        return clamp_tree(oracle, distinct, n_distinct, &forwarding, err);
#if WITH_BK
    if (oracle->engine == CLV_ENGINE_BK)
        return clamp_bk(oracle, distinct, n_distinct, &forwarding, err);
#endif
    return clamp_ours(oracle, distinct, n_distinct, &forwarding, err);
}

struct margins {
    double *margin;
    const int32_t *y;
};

static void record_margin(void *context, int32_t node, double cost, const int32_t *flipped, int32_t n_flipped)
{
    const struct margins *m = context;
    (void)flipped;
    (void)n_flipped;
    m->margin[node] = m->y[node] ? cost : -cost;
}

enum clv_status clv_oracle_margins(struct clv_oracle *oracle, double *margin, const int32_t *y, struct clv_error *err)
{
    struct margins margins = {margin, y};
    return clv_oracle_witnesses(oracle, NULL, 0, record_margin, &margins, err);
}

enum clv_status clv_oracle_clamp(struct clv_oracle *oracle, int32_t *y, double *score, const struct clv_field *field,
                                 int32_t node, int32_t label, struct clv_error *err)
{
    bool is_chain = oracle->state == ORACLE_CHAIN && field->n_labels == oracle->chain.n_labels;
    bool is_tree = oracle->state == ORACLE_FOREST && field->n_labels == oracle->tree.n_labels;
    bool is_cut = oracle->state == ORACLE_CUT && field->n_labels == 2;
    if (!(is_chain || is_tree || is_cut) || field->n_nodes != oracle->n_solved)
        return fail(err, CLV_ERR_USAGE, "a clamp is asked for of a field that is not the chain or forest solved last");
    if (node < 0 || node >= field->n_nodes || label < 0 || label >= field->n_labels)
        return fail(err, CLV_ERR_USAGE, "clamp of node %d of %d to label %d of %d", node, field->n_nodes, label,
                    field->n_labels);
    if (is_chain) {
        chain_map_clamp(&oracle->chain, y, field, node, label);
    } else {
        MUST(make_tree(oracle, field, err));
        forest_map_clamp(&oracle->tree, y, field, node, label);
    }
    if (score)
        *score = clv_field_score(field, y);
    return CLV_OK;
}

/* Sums over witnesses of a cut. */
struct witness_sums {
    const int32_t *y;
    double score;
    double *max_marginals; /* or NULL */
    double *flips;         /* [n_nodes] number of witnesses with the other label there */
};

static void add_witness(void *context, int32_t node, double cost, const int32_t *flipped, int32_t n_flipped)
{
    const struct witness_sums *sums = context;
    size_t row = 2 * (size_t)node;
    if (sums->max_marginals) {
        sums->max_marginals[row + (size_t)sums->y[node]] = sums->score;
        sums->max_marginals[row + 1 - (size_t)sums->y[node]] = sums->score - cost;
    }
    for (int32_t k = 0; k < n_flipped; k++)
        sums->flips[flipped[k]]++;
}

/* Finds max-marginals by minimum cuts: n_nodes of the 2 n_nodes clamped optima are the MAP labelling, the others
 * witnesses. */
static enum clv_status cut_max_marginals(struct clv_oracle *oracle, double *max_marginals, double *counts,
                                         const struct clv_field *field, struct clv_error *err)
{
    size_t n = (size_t)field->n_nodes;
    OWNED_ARRAY int32_t *y = array_alloc(n, sizeof *y);
    OWNED_ARRAY double *flips = array_zalloc(n, sizeof *flips);
    OWNED_ARRAY double *found = array_alloc(n, 2 * sizeof *found);
    NEED(y && flips && found);
    struct witness_sums sums = {.y = y, .max_marginals = found, .flips = flips};
    MUST(clv_oracle_map(oracle, y, &sums.score, field, err));
    MUST(clv_oracle_witnesses(oracle, NULL, 0, add_witness, &sums, err));
    if (max_marginals)
        array_put(max_marginals, found, n * 2, sizeof *found);
    for (size_t i = 0; i < n && counts; i++) {
        counts[2 * i + (size_t)y[i]] = 2 * (double)n - flips[i];
        counts[2 * i + 1 - (size_t)y[i]] = flips[i];
    }
    return CLV_OK;
}

enum clv_status clv_oracle_max_marginals(struct clv_oracle *oracle, double *max_marginals, double *witness_counts,
                                         const struct clv_field *field, struct clv_error *err)
{
    oracle->state = ORACLE_EMPTY;
    MUST(field_check(field, err));
    MUST(field_check_couplings(field, err));
    OWNED_ARRAY int32_t *y = array_alloc((size_t)field->n_nodes, sizeof *y);
    NEED(y);
    int solved = forest_map_solve(&oracle->tree, y, field);
    NEED(solved >= 0);
    if (!solved && field->n_labels == 2)
        return cut_max_marginals(oracle, max_marginals, witness_counts, field, err);
    FAIL_IF(!solved, CLV_ERR_USAGE, "no exact max-marginals for a field with loops and %d labels", field->n_labels);
    NEED(!witness_counts || !forest_map_witness_counts(&oracle->tree, witness_counts, field));
    if (max_marginals)
        forest_map_max_marginals(&oracle->tree, max_marginals, field);
    return CLV_OK;
}
