/* Eliminates one node at temperature T: T log sum_a exp(score / T), or the maximum where T = 0; and the derivatives
 * of that, which are softmax(score / T), or 1 at the lowest best label. Applied backwards, last node first, they
 * give the marginals. */

#include "base/base.h"
#include "infer/chain/chain.h"
#include "infer/elimination/elimination.h"
#include "infer/infer.h"

static double *table_of(const struct clv_forest *forest, double *tables, int32_t table)
{
    size_t k = (size_t)forest->n_labels;
    return &tables[(size_t)table * k * k];
}

/* Returns the table with the node's labels as rows. `oriented` is workspace. */
static const double *orient(const struct clv_forest *forest, double *oriented, int32_t table, int32_t node)
{
    const double *values = table_of(forest, forest->table, table);
    if (forest->ends[table][0] == node)
        return values;
    chain_transpose(oriented, values, (size_t)forest->n_labels);
    return oriented;
}

static double soft_maximum(const double *score, double temperature, size_t k)
{
    double highest = maximum(score, k), sum = 0;
    if (temperature == 0)
        return highest;
    for (size_t a = 0; a < k; a++)
        sum += portable_exp((score[a] - highest) / temperature);
    return highest + temperature * portable_log(sum);
}

/* out[b] = the soft maximum over a of score[a] + table[a][b]. */
static void eliminate_rows(double *out, const double *score, const double *table, double temperature, size_t k)
{
    double zero[CLV_FOREST_MAX_LABELS] = {0}, sum[CLV_FOREST_MAX_LABELS] = {0}, term[CLV_FOREST_MAX_LABELS];
    chain_max_step(out, score, table, zero, k);
    if (temperature == 0)
        return;
    for (size_t a = 0; a < k; a++) {
        for (size_t b = 0; b < k; b++)
            term[b] = (score[a] + table[a * k + b] - out[b]) / temperature;
        exponentials(term, term, 0, k);
        for (size_t b = 0; b < k; b++)
            sum[b] += term[b];
    }
    for (size_t b = 0; b < k; b++)
        out[b] += temperature * portable_log(sum[b]);
}

double forest_eliminate(struct clv_forest *forest, const struct elimination *step, double temperature)
{
    size_t k = (size_t)forest->n_labels;
    const double *unary = &forest->unary[(size_t)step->node * k];
    double *message = &forest->message[(size_t)step->node * k];
    if (step->n_links == 0)
        return *message = soft_maximum(unary, temperature, k);
    const double *table = orient(forest, forest->oriented[0], step->link[0], step->node);
    if (step->n_links == 1) {
        double *target = &forest->unary[(size_t)forest_other(forest, step->link[0], step->node) * k];
        eliminate_rows(message, unary, table, temperature, k);
        for (size_t b = 0; b < k; b++)
            target[b] += message[b];
        return 0;
    }
    const double *second = orient(forest, forest->oriented[1], step->link[1], step->node);
    double *result = table_of(forest, forest->table, step->result);
    for (size_t b = 0; b < k; b++) {
        for (size_t a = 0; a < k; a++)
            forest->row[a] = unary[a] + table[a * k + b];
        eliminate_rows(&result[b * k], forest->row, second, temperature, k);
    }
    return 0;
}

/* Returns whether the other end of a link is eliminated later. Nodes with fixed labels are first, in the order of their
 * indices. */
static bool is_later(const int32_t *label, int32_t node, int32_t other)
{
    return label[other] == CLV_UNKNOWN || other > node;
}

double forest_eliminate_fixed(struct clv_forest *forest, const struct elimination *step, const int32_t *label)
{
    size_t k = (size_t)forest->n_labels, a = (size_t)label[step->node];
    for (int32_t s = forest->first[step->node]; s < forest->first[step->node + 1]; s++) {
        int32_t link = forest->slot[s], other = forest_other(forest, link, step->node);
        const double *table = table_of(forest, forest->table, link);
        bool is_row = forest->ends[link][0] == step->node;
        for (size_t b = 0; is_later(label, step->node, other) && b < k; b++)
            forest->unary[(size_t)other * k + b] += is_row ? table[a * k + b] : table[b * k + a];
    }
    return forest->unary[(size_t)step->node * k + a];
}

/* Sets weight to `share` times the derivative of the soft maximum of the scores, which is `value`. */
static void weigh(double *weight, const double *score, double value, double share, double temperature, size_t k)
{
    if (temperature > 0) {
        for (size_t a = 0; a < k; a++)
            weight[a] = (score[a] - value) / temperature;
        exponentials(weight, weight, 0, k);
        for (size_t a = 0; a < k; a++)
            weight[a] *= share;
        return;
    }
    size_t best = 0;
    for (size_t a = 0; a < k; a++) {
        best = score[a] > score[best] ? a : best;
        weight[a] = 0;
    }
    weight[best] = share;
}

static void return_one(struct clv_forest *forest, const struct elimination *step, double temperature)
{
    size_t k = (size_t)forest->n_labels;
    int32_t link = step->link[0], other = forest_other(forest, link, step->node);
    const double *table = orient(forest, forest->oriented[0], link, step->node);
    const double *unary = &forest->unary[(size_t)step->node * k], *message = &forest->message[(size_t)step->node * k];
    double *unary_share = &forest->unary_share[(size_t)step->node * k], weight[CLV_FOREST_MAX_LABELS];
    double *share = table_of(forest, forest->table_share, link);
    bool is_row = forest->ends[link][0] == step->node;
    for (size_t b = 0; b < k; b++) {
        double above = forest->unary_share[(size_t)other * k + b];
        if (above == 0)
            continue;
        for (size_t a = 0; a < k; a++)
            forest->row[a] = unary[a] + table[a * k + b];
        weigh(weight, forest->row, message[b], above, temperature, k);
        for (size_t a = 0; a < k; a++) {
            unary_share[a] += weight[a];
            share[is_row ? a * k + b : b * k + a] += weight[a];
        }
    }
}

static void return_two(struct clv_forest *forest, const struct elimination *step, double temperature)
{
    size_t k = (size_t)forest->n_labels;
    const double *unary = &forest->unary[(size_t)step->node * k];
    const double *first = orient(forest, forest->oriented[0], step->link[0], step->node);
    const double *second = orient(forest, forest->oriented[1], step->link[1], step->node);
    const double *result = table_of(forest, forest->table, step->result);
    const double *above = table_of(forest, forest->table_share, step->result);
    double *share[2], weight[CLV_FOREST_MAX_LABELS], *unary_share = &forest->unary_share[(size_t)step->node * k];
    bool is_row[2];
    for (int side = 0; side < 2; side++) {
        share[side] = table_of(forest, forest->table_share, step->link[side]);
        is_row[side] = forest->ends[step->link[side]][0] == step->node;
    }
    for (size_t b = 0; b < k; b++)
        for (size_t c = 0; c < k; c++) {
            if (above[b * k + c] == 0)
                continue;
            for (size_t a = 0; a < k; a++)
                forest->row[a] = unary[a] + first[a * k + b] + second[a * k + c];
            weigh(weight, forest->row, result[b * k + c], above[b * k + c], temperature, k);
            for (size_t a = 0; a < k; a++) {
                unary_share[a] += weight[a];
                share[0][is_row[0] ? a * k + b : b * k + a] += weight[a];
                share[1][is_row[1] ? a * k + c : c * k + a] += weight[a];
            }
        }
}

void forest_return(struct clv_forest *forest, const struct elimination *step, double temperature)
{
    size_t k = (size_t)forest->n_labels, node = (size_t)step->node;
    if (step->n_links == 0)
        weigh(&forest->unary_share[node * k], &forest->unary[node * k], forest->message[node * k], 1, temperature, k);
    else if (step->n_links == 1)
        return_one(forest, step, temperature);
    else
        return_two(forest, step, temperature);
}

void forest_return_fixed(struct clv_forest *forest, const struct elimination *step, const int32_t *label)
{
    size_t k = (size_t)forest->n_labels, a = (size_t)label[step->node];
    forest->unary_share[(size_t)step->node * k + a] = 1;
    for (int32_t s = forest->first[step->node]; s < forest->first[step->node + 1]; s++) {
        int32_t link = forest->slot[s], other = forest_other(forest, link, step->node);
        double *share = table_of(forest, forest->table_share, link);
        bool is_row = forest->ends[link][0] == step->node;
        for (size_t b = 0; is_later(label, step->node, other) && b < k; b++)
            share[is_row ? a * k + b : b * k + a] = forest->unary_share[(size_t)other * k + b];
    }
}
