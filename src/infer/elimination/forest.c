/* Exact inference in forests: nodes are eliminated from the leaves inwards, hidden ones before visible ones, and the
 * derivatives of the value are computed in reverse order. One routine serves sums, maxima and all temperatures between
 * (Ping, Liu & Ihler 2014, equations 5 and 8). */
#include "infer/elimination/elimination.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "infer/infer.h"

enum clv_status clv_forest_new(struct clv_forest **forest, struct clv_error *err)
{
    *forest = array_zalloc(1, sizeof **forest);
    return *forest ? CLV_OK : fail_memory(err);
}

void clv_forest_free(struct clv_forest *forest)
{
    if (!forest)
        return;
    arrays_free(forest->ends, forest->first, forest->slot, forest->degree, forest->queue, forest->is_first,
                forest->steps, forest->unary, forest->unary_share, forest->message, forest->table, forest->table_share,
                forest->oriented[0], forest->oriented[1], forest->row, forest);
}

static enum clv_status check_options(const struct clv_field *field, const struct clv_forest_options *options,
                                     struct clv_error *err)
{
    const double temperatures[] = {options->visible_temperature, options->hidden_temperature};
    for (int k = 0; k < 2; k++)
        if (!(temperatures[k] >= 0) || !isfinite(temperatures[k]))
            return fail(err, CLV_ERR_USAGE, "a temperature of %g is not finite and at least 0", temperatures[k]);
    for (int32_t i = 0; options->is_visible && i < field->n_nodes; i++)
        if (options->is_visible[i] > 1)
            return fail(err, CLV_ERR_USAGE, "node %d: is_visible is %d, not 0 or 1", i, options->is_visible[i]);
    for (int32_t i = 0; options->label && i < field->n_nodes; i++)
        if (options->label[i] != CLV_UNKNOWN && (options->label[i] < 0 || options->label[i] >= field->n_labels))
            return fail(err, CLV_ERR_USAGE, "node %d: it has label %d of %d", i, options->label[i], field->n_labels);
    return CLV_OK;
}

static int reserve(struct clv_forest *forest)
{
    size_t n = (size_t)forest->n_nodes, m = (size_t)forest->n_edges, k = (size_t)forest->n_labels;
    const struct array_part by_node[] = {{&forest->first, sizeof *forest->first},
                                         {&forest->degree, sizeof *forest->degree},
                                         {&forest->queue, sizeof *forest->queue},
                                         {&forest->steps, sizeof *forest->steps},
                                         {&forest->is_first, sizeof *forest->is_first}};
    const struct array_part by_score[] = {{&forest->unary, sizeof *forest->unary},
                                          {&forest->unary_share, sizeof *forest->unary_share},
                                          {&forest->message, sizeof *forest->message}};
    const struct array_part by_label[] = {{&forest->oriented[0], sizeof *forest->oriented[0]},
                                          {&forest->oriented[1], sizeof *forest->oriented[1]},
                                          {&forest->row, sizeof *forest->row}};
    return array_reserve_all(by_node, 5, &forest->node_capacity, n + 1) ||
           array_reserve((void **)&forest->ends, &forest->end_capacity, m + n + 1, sizeof *forest->ends) ||
           array_reserve((void **)&forest->slot, &forest->slot_capacity, 2 * m + 1, sizeof *forest->slot) ||
           array_reserve_all(by_score, 3, &forest->unary_capacity, n * k + 1) ||
           array_reserve_all(by_label, 3, &forest->label_capacity, k * k);
}

static int reserve_tables(struct clv_forest *forest)
{
    size_t k = (size_t)forest->n_labels, needed = (size_t)forest->n_tables * k * k + 1;
    const struct array_part tables[] = {{&forest->table, sizeof *forest->table},
                                        {&forest->table_share, sizeof *forest->table_share}};
    return array_reserve_all(tables, 2, &forest->pair_capacity, needed);
}

static void take_scores(struct clv_forest *forest, const struct clv_field *field)
{
    size_t n = (size_t)forest->n_nodes, k = (size_t)forest->n_labels;
    for (size_t i = 0; i < n; i++)
        for (size_t a = 0; a < k; a++)
            forest->unary[i * k + a] = field_unary_score(field, (int32_t)i, (int32_t)a);
    for (size_t e = 0; e < (size_t)forest->n_edges; e++) {
        double *table = &forest->table[e * k * k];
        if (field->form == CLV_PAIRWISE_FULL)
            memcpy(table, clv_field_table(field, (int32_t)e), k * k * sizeof *table);
        for (size_t c = 0; field->form == CLV_PAIRWISE_POTTS && c < k * k; c++)
            table[c] = c % (k + 1) ? -field->pairwise[e] : 0;
    }
    memset(forest->unary_share, 0, n * k * sizeof *forest->unary_share);
    memset(forest->table_share, 0, (size_t)forest->n_tables * k * k * sizeof *forest->table_share);
}

static enum clv_status plan(struct clv_forest *forest, const struct clv_field *field,
                            const struct clv_forest_options *options, struct clv_error *err)
{
    forest->n_nodes = field->n_nodes;
    forest->n_edges = field_n_edges(field);
    forest->n_labels = field->n_labels;
    NEED(reserve(forest) == 0);
    array_put(forest->ends, field->edges, (size_t)forest->n_edges, sizeof *forest->ends);
    int matters = options->is_visible && options->visible_temperature != options->hidden_temperature;
    for (int32_t i = 0; matters && i < field->n_nodes; i++)
        forest->is_first[i] = !options->is_visible[i];
    MUST(forest_plan(forest, matters ? forest->is_first : NULL, options->label, err));
    NEED(reserve_tables(forest) == 0);
    return CLV_OK;
}

enum clv_status forest_fits(struct clv_forest *forest, bool *fits, const struct clv_field *field,
                            const struct clv_forest_options *options, struct clv_error *err)
{
    enum clv_status status = plan(forest, field, options, err);
    *fits = status == CLV_OK;
    return status == CLV_ERR_DATA || status == CLV_ERR_USAGE ? CLV_OK : status;
}

static bool has_label(const struct clv_forest_options *options, int32_t node)
{
    return options->label && options->label[node] != CLV_UNKNOWN;
}

static double temperature_of(const struct clv_forest_options *options, int32_t node)
{
    bool is_visible = !options->is_visible || options->is_visible[node];
    return is_visible ? options->visible_temperature : options->hidden_temperature;
}

static double sweep(struct clv_forest *forest, const struct clv_forest_options *options, bool wants_derivatives)
{
    double value = 0;
    for (int32_t s = 0; s < forest->n_steps; s++) {
        const struct elimination *step = &forest->steps[s];
        value += has_label(options, step->node) ? forest_eliminate_fixed(forest, step, options->label)
                                                : forest_eliminate(forest, step, temperature_of(options, step->node));
    }
    for (int32_t s = wants_derivatives ? forest->n_steps : 0; s-- > 0;) {
        const struct elimination *step = &forest->steps[s];
        if (has_label(options, step->node))
            forest_return_fixed(forest, step, options->label);
        else
            forest_return(forest, step, temperature_of(options, step->node));
    }
    return value;
}

enum clv_status clv_forest_run(struct clv_forest *forest, double *value, double *marginals, double *pair_marginals,
                               int32_t *y, const struct clv_field *field, const struct clv_forest_options *options,
                               struct clv_error *err)
{
    static const struct clv_forest_options defaults = {.visible_temperature = 1, .hidden_temperature = 1};
    options = options ? options : &defaults;
    MUST(field_check_scores(field, 1, err));
    MUST(check_options(field, options, err));
    MUST(plan(forest, field, options, err));
    size_t n = (size_t)forest->n_nodes, k = (size_t)forest->n_labels;
    take_scores(forest, field);
    double found = sweep(forest, options, marginals || pair_marginals || y);
    if (value)
        *value = found;
    if (marginals)
        array_put(marginals, forest->unary_share, n * k, sizeof *marginals);
    if (pair_marginals)
        array_put(pair_marginals, forest->table_share, (size_t)forest->n_edges * k * k, sizeof *pair_marginals);
    for (size_t i = 0; y && i < n; i++) {
        y[i] = 0;
        for (size_t a = 1; a < k; a++)
            y[i] = forest->unary_share[i * k + a] > forest->unary_share[i * k + (size_t)y[i]] ? (int32_t)a : y[i];
    }
    return CLV_OK;
}
