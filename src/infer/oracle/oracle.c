/* The MAP oracle: clv_oracle_map picks an engine for each field and keeps its buffers from call to call;
 * clv_oracle_decode applies the other decoding rules. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "infer/chain/chain.h"
#include "infer/elimination/elimination.h"
#include "infer/infer.h"
#include "infer/oracle/oracle.h"
#include "infer/oracle/oracle_state.h"

enum clv_status clv_oracle_new(struct clv_oracle **oracle, enum clv_engine engine, struct clv_error *err)
{
    *oracle = NULL;
    FAIL_IF(engine != CLV_ENGINE_DEFAULT && engine != CLV_ENGINE_CLEAVE && engine != CLV_ENGINE_BK, CLV_ERR_USAGE,
            "there is no engine %d", (int)engine);
    FAIL_IF(engine == CLV_ENGINE_BK && !clv_has_bk(), CLV_ERR_USAGE,
            "this cleave was built without libmaxflow (WITH_BK=0)");
    struct clv_oracle *result = array_zalloc(1, sizeof *result);
    NEED(result);
    result->engine = engine;
    result->n_nodes = -1;
    result->state = ORACLE_EMPTY;
    result->field_size = -1;
    capacities_init(&result->capacities);
    maxflow_init(&result->graph);
    batch_init(&result->batch);
    *oracle = result;
    return CLV_OK;
}

static void forget_graph(struct clv_oracle *oracle)
{
    oracle->n_nodes = -1;
#if WITH_BK
    bk_free(oracle->bk);
    arrays_free(oracle->terminal, oracle->capacity);
    oracle->bk = NULL;
    oracle->terminal = oracle->capacity = NULL;
#endif
}

void clv_oracle_watch(struct clv_oracle *oracle, const volatile int *stop)
{
    oracle->stop = stop;
}

void clv_oracle_free(struct clv_oracle *oracle)
{
    if (!oracle)
        return;
    forget_graph(oracle);
    capacities_release(&oracle->capacities);
    maxflow_release(&oracle->graph);
    forest_cut_release(&oracle->forest);
    batch_release(&oracle->batch);
    exact_cut_release(&oracle->exact);
    exact_cut_release(&oracle->clamped);
    chain_map_release(&oracle->chain);
    forest_map_release(&oracle->tree);
    arrays_free((void *)(uintptr_t)oracle->copy.edges, oracle->copy.unary, oracle->copy.pairwise);
    decoding_release(&oracle->decoding);
    arrays_free(oracle->edges, oracle);
}

#if WITH_BK
static int build_bk(struct clv_oracle *oracle, const struct clv_field *field)
{
    oracle->terminal = array_alloc((size_t)field->n_nodes, sizeof *oracle->terminal);
    oracle->capacity = array_alloc((size_t)field->n_edges, sizeof *oracle->capacity);
    if (!oracle->terminal || !oracle->capacity)
        return -1;
    return bk_new(&oracle->bk, field->n_nodes, field->n_edges, field->edges, NULL) == BK_OK ? 0 : -1;
}

static int solve_bk(struct clv_oracle *oracle)
{
    for (int32_t i = 0; i < oracle->n_nodes; i++)
        oracle->terminal[i] = oracle->capacities.terminal[i];
    for (int32_t e = 0; e < oracle->n_edges; e++)
        oracle->capacity[e] = oracle->capacities.capacity[e];
    return bk_solve(oracle->bk, NULL, oracle->terminal, oracle->capacity, oracle->capacity, NULL) == BK_OK ? 0 : -1;
}
#endif

#if WITH_BK
/* Builds libmaxflow's graph unless it already is this one. */
static int prepare_bk(struct clv_oracle *oracle, const struct clv_field *field)
{
    size_t n_edges = (size_t)field->n_edges;
    if (oracle->n_nodes == field->n_nodes && oracle->n_edges == field->n_edges &&
        (!n_edges || memcmp(oracle->edges, field->edges, n_edges * sizeof *field->edges) == 0))
        return 0;
    forget_graph(oracle);
    if (array_reserve((void **)&oracle->edges, &oracle->edge_capacity, n_edges, sizeof *oracle->edges))
        return -1;
    array_put(oracle->edges, field->edges, n_edges, sizeof *field->edges);
    if (build_bk(oracle, field)) {
        forget_graph(oracle);
        return -1;
    }
    oracle->n_nodes = field->n_nodes;
    oracle->n_edges = field->n_edges;
    return 0;
}
#endif

enum clv_status oracle_cut_exactly(struct clv_oracle *oracle, int32_t *y, const struct clv_field *field,
                                   const double *low, struct clv_error *err)
{
    MUST(capacities_set(&oracle->capacities, field, err)); /* checks the field */
    NEED(exact_cut_take_field(&oracle->exact, field) == 0);
    oracle->exact_scale = exact_cut_scale(field);
    for (int32_t i = 0; low && i < field->n_nodes; i++)
        exact_cut_add_term(&oracle->exact, i, oracle->exact_scale * low[i]);
    exact_cut_solve(&oracle->exact);
    for (int32_t i = 0; i < field->n_nodes; i++)
        y[i] = oracle->exact.label[i];
    return CLV_OK;
}

static enum clv_status cut(struct clv_oracle *oracle, int32_t *y, const struct clv_field *field, struct clv_error *err)
{
    struct capacities *c = &oracle->capacities;
    MUST(capacities_set(c, field, err));
    bool is_enough = capacities_suffice(c, field, oracle->field_size) ||
                     (capacities_tighten(c, field) && capacities_suffice(c, field, oracle->field_size));
    oracle->state = is_enough ? ORACLE_CUT : ORACLE_EXACT;
    if (!is_enough)
        return oracle_cut_exactly(oracle, y, field, NULL, err);
#if WITH_BK
    if (oracle->engine == CLV_ENGINE_BK) {
        NEED(prepare_bk(oracle, field) == 0 && solve_bk(oracle) == 0);
        for (int32_t i = 0; i < field->n_nodes; i++)
            y[i] = bk_on_source_side(oracle->bk, i);
        return CLV_OK;
    }
#endif
    int solved = oracle->graph.clamps ? 0 /* there will be more clamps */
                                      : forest_cut_solve(&oracle->forest, y, field, c);
    NEED(solved >= 0);
    oracle->is_forest = solved;
    oracle->n_nodes = field->n_nodes;
    oracle->n_edges = field->n_edges;
    if (solved)
        return CLV_OK;
    NEED(maxflow_load(&oracle->graph, field->n_nodes, field->n_edges, field->edges, c->terminal, c->capacity) == 0);
    maxflow_solve(&oracle->graph);
    for (int32_t i = 0; i < field->n_nodes; i++)
        y[i] = oracle->graph.label[i];
    return CLV_OK;
}

void oracle_label_by_unary(int32_t *y, const struct clv_field *field)
{
    size_t labels = (size_t)field->n_labels;
    for (size_t i = 0; i < (size_t)field->n_nodes; i++) {
        if (labels == 2) {
            y[i] = field->unary[i] > 0;
            continue;
        }
        const double *unary = &field->unary[i * labels];
        y[i] = 0;
        for (size_t k = 1; k < labels; k++)
            if (unary[k] > unary[y[i]])
                y[i] = (int32_t)k;
    }
}

/* Copies a two-label field for clv_oracle_witnesses, which takes no field. */
static enum clv_status keep_copy(struct clv_oracle *oracle, const struct clv_field *field, struct clv_error *err)
{
    size_t n = (size_t)field->n_nodes, m = (size_t)field->n_edges;
    size_t n_scores = m && field->is_shared ? 4 : 4 * m;
    struct clv_field *copy = &oracle->copy;
    int32_t(*edges)[2] = (int32_t(*)[2])(uintptr_t)copy->edges;
    int failed = array_reserve((void **)&edges, &oracle->copied_edges, m + 1, sizeof *edges);
    copy->edges = (const int32_t(*)[2])edges;
    NEED(!failed && !array_reserve((void **)&copy->unary, &oracle->copied_nodes, n + 1, sizeof *copy->unary) &&
         !array_reserve((void **)&copy->pairwise, &oracle->copied_scores, n_scores + 1, sizeof *copy->pairwise));
    array_put(edges, field->edges, m, sizeof *edges);
    array_put(copy->unary, field->unary, n, sizeof *copy->unary);
    array_put(copy->pairwise, field->pairwise, n_scores, sizeof *copy->pairwise);
    *copy = (struct clv_field){.n_nodes = field->n_nodes,
                               .n_edges = field->n_edges,
                               .n_labels = field->n_labels,
                               .form = field->form,
                               .edges = copy->edges,
                               .unary = copy->unary,
                               .pairwise = copy->pairwise,
                               .is_shared = field->is_shared};
    return CLV_OK;
}

static enum clv_status map_without_edges(struct clv_oracle *oracle, int32_t *y, const struct clv_field *field,
                                         struct clv_error *err)
{
    MUST(field_check(field, err));
    if (field->n_labels == 2)
        MUST(capacities_keep_unary(&oracle->capacities, field, err));
    oracle_label_by_unary(y, field);
    oracle->state = field->n_labels == 2 ? ORACLE_NO_EDGES : ORACLE_EMPTY;
    return CLV_OK;
}

static enum clv_status map_chain(struct clv_oracle *oracle, int32_t *y, const struct clv_field *field,
                                 struct clv_error *err)
{
    MUST(field_check(field, err));
    if (field->n_labels == 2)
        MUST(keep_copy(oracle, field, err));
    NEED(!chain_map_solve(&oracle->chain, y, field));
    oracle->state = ORACLE_CHAIN;
    return CLV_OK;
}

/* Solves a forest. If an edge closes a loop, *is_forest is false and y is not set. */
static enum clv_status map_forest(bool *is_forest, struct clv_oracle *oracle, int32_t *y, const struct clv_field *field,
                                  struct clv_error *err)
{
    MUST(field_check(field, err));
    MUST(field_check_couplings(field, err));
    if (field->n_labels == 2)
        MUST(keep_copy(oracle, field, err));
    int solved = forest_map_solve(&oracle->tree, y, field);
    NEED(solved >= 0);
    *is_forest = oracle->has_tree = solved;
    oracle->state = solved ? ORACLE_FOREST : ORACLE_EMPTY;
    return CLV_OK;
}

enum clv_status oracle_cut(struct clv_oracle *oracle, int32_t *y, const struct clv_field *field, struct clv_error *err)
{
    oracle->state = ORACLE_EMPTY;
    oracle->has_tree = false;
    enum clv_status status = cut(oracle, y, field, err);
    oracle->state = status ? ORACLE_EMPTY : oracle->state;
    oracle->n_solved = field->n_nodes;
    return status;
}

/* Picks the engine. A minimum cut solves two-label fields that are supermodular, since its ties are canonical; but
 * Viterbi is faster on chains with one table for all links. Viterbi and forest_map also solve chains and forests that
 * no cut can solve: with tables that are not supermodular, as they occur in training, or with more labels. */
static enum clv_status map(struct clv_oracle *oracle, int32_t *y, const struct clv_field *field, struct clv_error *err)
{
    bool is_forest = false;
    if (field->form == CLV_PAIRWISE_NONE)
        return map_without_edges(oracle, y, field, err);
    bool is_chain = field_is_chain(field), is_cut = !(is_chain && field->is_shared) && field_is_supermodular(field);
    if (is_chain && !is_cut)
        return map_chain(oracle, y, field, err);
    if (!is_cut && field->n_edges < field->n_nodes)
        MUST(map_forest(&is_forest, oracle, y, field, err));
    if (is_forest)
        return CLV_OK;
    FAIL_IF(field->n_labels != 2, CLV_ERR_USAGE, "no exact MAP for a field with loops and %d labels", field->n_labels);
    return oracle_cut(oracle, y, field, err);
}

enum clv_status clv_oracle_map(struct clv_oracle *oracle, int32_t *y, double *score, const struct clv_field *field,
                               struct clv_error *err)
{
    oracle->state = ORACLE_EMPTY;
    oracle->has_tree = false;
    MUST(map(oracle, y, field, err));
    oracle->n_solved = field->n_nodes;
    if (score)
        *score = clv_field_score(field, y);
    return CLV_OK;
}

/* Decoding rules: exact in forests, for minimum cuts and on narrow graphs; loopy.c decodes the other fields. */

/* Largest table of bucket elimination. It takes a few milliseconds. */
#define CELLS_MAX ((size_t)1 << 20)

static const char *const rule_names[CLV_N_DECODING_RULES] = {[CLV_DECODE_ORACLE] = "oracle",
                                                             [CLV_DECODE_MAP] = "map",
                                                             [CLV_DECODE_MARGINAL_MAP] = "marginal map",
                                                             [CLV_DECODE_MARGINALS] = "marginals",
                                                             [CLV_DECODE_MIN_ENTROPY] = "min entropy"};

const char *decoding_rule_name(enum clv_decoding_rule rule)
{
    return (int)rule >= 0 && (int)rule < CLV_N_DECODING_RULES ? rule_names[rule] : "unknown";
}

void decoding_release(struct decoding_workspace *self)
{
    clv_forest_free(self->forest);
    loopy_release(&self->loopy);
    bucket_release(&self->bucket);
    min_entropy_release(&self->min_entropy);
    *self = (struct decoding_workspace){0};
}

enum clv_status decoding_check(const struct clv_decoding *decoding, struct clv_error *err)
{
    if ((int)decoding->rule < 0 || (int)decoding->rule >= CLV_N_DECODING_RULES)
        return fail(err, CLV_ERR_USAGE, "there is no decoding rule %d", (int)decoding->rule);
    if (decoding->rule == CLV_DECODE_MARGINAL_MAP &&
        !(decoding->hidden_temperature > 0 && isfinite(decoding->hidden_temperature)))
        return fail(err, CLV_ERR_USAGE, "a temperature of %g is not positive and finite", decoding->hidden_temperature);
    if (decoding->rule == CLV_DECODE_MIN_ENTROPY &&
        !(decoding->hidden_temperature >= 0 && decoding->hidden_temperature <= 1))
        return fail(err, CLV_ERR_USAGE, "a temperature of %g is not in 0 to 1", decoding->hidden_temperature);
    return CLV_OK;
}

/* Decodes by the marginals of a chain. Forward-backward is several times as fast as elimination for large tables; a
 * shared table is exponentiated once. */
static enum clv_status decode_chain(int32_t *y, const struct clv_field *field, struct clv_error *err)
{
    static const double zero = 0;
    size_t n = (size_t)field->n_nodes, k = (size_t)field->n_labels;
    const struct clv_chain chain = {field->n_nodes, field->n_labels, field->is_shared, field->unary, field->pairwise};
    OWNED_ARRAY double *marginals = array_alloc(n, k * sizeof *marginals);
    NEED(marginals);
    MUST(clv_chain_marginals(marginals, NULL, NULL, &chain, err));
    for (size_t i = 0; i < n; i++)
        y[i] = (int32_t)chain_best_label(&marginals[i * k], &zero, 0, k);
    return CLV_OK;
}

/* Returns whether the rule maximises over all nodes and a minimum cut finds the maximum. */
static bool is_cut(const struct clv_field *field, const uint8_t *is_visible, const struct clv_decoding *decoding)
{
    bool is_maximum =
        decoding->rule == CLV_DECODE_MAP ||
        (decoding->rule == CLV_DECODE_MARGINAL_MAP && !(is_visible && memchr(is_visible, 0, (size_t)field->n_nodes)));
    return is_maximum && field_is_supermodular(field);
}

static enum clv_status decode(struct clv_oracle *oracle, int32_t *y, const struct clv_field *field,
                              const uint8_t *is_visible, const struct clv_decoding *decoding, struct clv_error *err)
{
    struct decoding_workspace *self = &oracle->decoding;
    if (decoding->rule == CLV_DECODE_MIN_ENTROPY)
        return min_entropy_map(y, &self->min_entropy,
                               &(struct min_entropy_terms){field, is_visible, decoding->hidden_temperature}, err);
    if (decoding->rule == CLV_DECODE_MARGINALS && field->n_labels > 2 && field->n_labels <= CLV_CHAIN_MAX_LABELS &&
        field_is_chain(field))
        return decode_chain(y, field, err);
    double hidden_temperature = decoding->rule == CLV_DECODE_MAP ? 0 : 1, visible_temperature = 0;
    if (decoding->rule == CLV_DECODE_MARGINAL_MAP)
        hidden_temperature = decoding->hidden_temperature;
    if (decoding->rule == CLV_DECODE_MARGINALS)
        visible_temperature = 1;
    const struct clv_forest_options options = {
        .is_visible = is_visible,
        .visible_temperature = visible_temperature,
        .hidden_temperature = hidden_temperature,
    };
    bool fits;
    MUST(self->forest ? CLV_OK : clv_forest_new(&self->forest, err));
    MUST(forest_fits(self->forest, &fits, field, &options, err));
    if (fits)
        return clv_forest_run(self->forest, NULL, NULL, NULL, y, field, &options, err);
    if (is_cut(field, is_visible, decoding))
        return oracle_cut(oracle, y, field, err);
    MUST(bucket_fits(&self->bucket, &fits, field, &options, CELLS_MAX, err));
    return fits ? bucket_run(&self->bucket, &(struct bucket_outputs){.y = y}, field, &options, err)
                : loopy_decode(&self->loopy, y, field, is_visible, decoding, err);
}

enum clv_status clv_oracle_decode(struct clv_oracle *oracle, int32_t *y, const struct clv_field *field,
                                  const uint8_t *is_visible, const struct clv_decoding *decoding, struct clv_error *err)
{
    MUST(decoding_check(decoding, err));
    if (decoding->rule == CLV_DECODE_ORACLE)
        return clv_oracle_map(oracle, y, NULL, field, err);
    oracle->state = ORACLE_EMPTY;
    MUST(field_check(field, err));
    return decode(oracle, y, field, is_visible, decoding, err);
}
