/* Decoding by minimum Renyi entropy of the hidden nodes. Hidden nodes become scores and tables of their visible
 * neighbours, and the field of the visible nodes is maximised as a forest; the formulas are in elimination.h. Start at
 * min_entropy_map. */
#include "infer/elimination/elimination.h"

#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "infer/infer.h"

#define SHANNON 1e-6 /* orders this near to 1 count as 1 */

void min_entropy_release(struct min_entropy *self)
{
    clv_forest_free(self->forest);
    arrays_free(self->reduced.unary, self->reduced.pairwise, self->edges, self->number, self->incident, self->y);
    *self = (struct min_entropy){0};
}

static int32_t other_end(const struct clv_field *field, int32_t edge, int32_t node)
{
    return field->edges[edge][field->edges[edge][0] == node];
}

/* Returns T log sum_s exp(v[s] / T) and sets p[s] proportional to exp(v[s] / T); at T = 0 the maximum and its
 * indicator. */
static double soften(double *p, const double *v, int32_t n, double temperature)
{
    int32_t best = 0;
    double sum = 0;
    for (int32_t s = 1; s < n; s++)
        if (v[s] > v[best])
            best = s;
    for (int32_t s = 0; s < n; s++)
        sum += p[s] = temperature > 0 ? portable_exp((v[s] - v[best]) / temperature) : s == best;
    for (int32_t s = 0; s < n; s++)
        p[s] /= sum;
    return v[best] + (temperature > 0 ? temperature * portable_log(sum) : 0);
}

/* Returns what a hidden node with scores v[n] adds to s(y); slope[n] is its derivative:
 *     T < 1   (V_T - T V_1) / (1 - T)   and   (p_T - T p_1) / (1 - T)
 *     T = 1   sum_s p_s v_s             and   p_s (1 + v_s - sum_t p_t v_t) */
static double hidden_score(double *slope, const double *v, int32_t n, double temperature)
{
    double p[CLV_FOREST_MAX_LABELS], at_one = soften(p, v, n, 1);
    if (1 - temperature < SHANNON) {
        double mean = 0;
        for (int32_t s = 0; s < n; s++)
            mean += p[s] * v[s];
        for (int32_t s = 0; s < n; s++)
            slope[s] = p[s] * (1 + v[s] - mean);
        return mean;
    }
    double at_temperature = soften(slope, v, n, temperature);
    for (int32_t s = 0; s < n; s++)
        slope[s] = (slope[s] - temperature * p[s]) / (1 - temperature);
    return (at_temperature - temperature * at_one) / (1 - temperature);
}

/* Sets v[n_labels] to the scores of a hidden node whose neighbours have the labels a[2]. */
static void local_scores(double *v, const struct clv_field *field, int32_t node, const int32_t incident[2],
                         const int32_t a[2])
{
    for (int32_t s = 0; s < field->n_labels; s++) {
        v[s] = field_unary_score(field, node, s);
        for (int end = 0; end < 2; end++)
            if (incident[end] >= 0)
                v[s] += field_link_score(field, incident[end], node, s, a[end]);
    }
}

static bool visible(const uint8_t *is_visible, int32_t node)
{
    return !is_visible || is_visible[node];
}

/* Numbers visible nodes and lists the edges of hidden ones. */
static enum clv_status split_nodes(struct min_entropy *self, const struct clv_field *field, const uint8_t *is_visible,
                                   struct clv_error *err)
{
    int32_t n_visible = 0, n_edges = field_n_edges(field);
    for (int32_t i = 0; i < field->n_nodes; i++) {
        self->number[i] = visible(is_visible, i) ? n_visible++ : -1;
        self->incident[i][0] = self->incident[i][1] = -1;
    }
    self->reduced.n_nodes = n_visible;
    for (int32_t e = 0; e < n_edges; e++)
        for (int end = 0; end < 2; end++) {
            int32_t node = field->edges[e][end], other = field->edges[e][!end];
            if (visible(is_visible, node))
                continue;
            if (!visible(is_visible, other))
                return fail(err, CLV_ERR_USAGE,
                            "hidden nodes %d and %d are joined: no entropy of one without the other", node, other);
            if (self->incident[node][1] >= 0)
                return fail(err, CLV_ERR_USAGE, "hidden node %d joins more than two visible ones", node);
            self->incident[node][self->incident[node][0] >= 0] = e;
        }
    return CLV_OK;
}

static void add_unary(struct min_entropy *self, int32_t node, int32_t label, double score)
{
    int32_t k = self->reduced.n_labels;
    if (k > 2)
        self->reduced.unary[(size_t)node * (size_t)k + (size_t)label] += score;
    else
        self->reduced.unary[node] += label ? score : -score;
}

/* Appends a zeroed table between visible nodes a and b of the field. */
static double *new_table(struct min_entropy *self, int32_t a, int32_t b)
{
    size_t size = (size_t)self->reduced.n_labels * (size_t)self->reduced.n_labels;
    int32_t e = self->reduced.n_edges++;
    bool forth = self->number[a] < self->number[b];
    self->edges[e][0] = self->number[forth ? a : b];
    self->edges[e][1] = self->number[forth ? b : a];
    return memset(self->reduced.pairwise + (size_t)e * size, 0, size * sizeof(double));
}

/* Returns the entry of a table between visible nodes a and b. Its rows are the labels of the node with the lower
 * number. */
static double *entry(const struct min_entropy *self, double *table, int32_t a, int32_t b, int32_t label_a,
                     int32_t label_b)
{
    bool forth = self->number[a] < self->number[b];
    return &table[(forth ? label_a : label_b) * self->reduced.n_labels + (forth ? label_b : label_a)];
}

/* Replaces a hidden node by unary scores of its only neighbour, or by a table between its two neighbours. */
static void eliminate_hidden(struct min_entropy *self, const struct clv_field *field, int32_t node, double temperature)
{
    const int32_t *incident = self->incident[node];
    int32_t k = field->n_labels, a[2];
    double v[CLV_FOREST_MAX_LABELS], slope[CLV_FOREST_MAX_LABELS];
    if (incident[0] < 0)
        return;
    int32_t one = other_end(field, incident[0], node);
    if (incident[1] < 0) {
        for (a[0] = 0; a[0] < k; a[0]++) {
            local_scores(v, field, node, incident, a);
            add_unary(self, self->number[one], a[0], hidden_score(slope, v, k, temperature));
        }
        return;
    }
    int32_t other = other_end(field, incident[1], node);
    double *table = new_table(self, one, other);
    for (a[0] = 0; a[0] < k; a[0]++)
        for (a[1] = 0; a[1] < k; a[1]++) {
            local_scores(v, field, node, incident, a);
            *entry(self, table, one, other, a[0], a[1]) = hidden_score(slope, v, k, temperature);
        }
}

static void keep_visible_edges(struct min_entropy *self, const struct clv_field *field, const uint8_t *is_visible)
{
    int32_t k = field->n_labels, n_edges = field_n_edges(field);
    for (int32_t e = 0; e < n_edges; e++) {
        int32_t a = field->edges[e][0], b = field->edges[e][1];
        if (!visible(is_visible, a) || !visible(is_visible, b))
            continue;
        double *table = new_table(self, a, b);
        for (int32_t s = 0; s < k; s++)
            for (int32_t t = 0; t < k; t++)
                *entry(self, table, a, b, s, t) = field_pair_score(field, e, s, t);
    }
}

static enum clv_status reserve(struct min_entropy *self, const struct clv_field *field, struct clv_error *err)
{
    size_t n = (size_t)field->n_nodes, m = (size_t)field->n_edges, k = (size_t)field->n_labels;
    struct clv_field *reduced = &self->reduced;
    const struct array_part by_node[] = {
        {&self->number, sizeof *self->number}, {&self->incident, sizeof *self->incident}, {&self->y, sizeof *self->y}};
    if (array_reserve_all(by_node, 3, &self->node_capacity, n) ||
        array_reserve((void **)&self->edges, &self->edge_capacity, m, sizeof *self->edges) ||
        array_reserve((void **)&reduced->unary, &self->unary_capacity, n * k, sizeof *reduced->unary) ||
        array_reserve((void **)&reduced->pairwise, &self->table_capacity, m * k * k, sizeof *reduced->pairwise))
        return fail_memory(err);
    reduced->n_labels = field->n_labels;
    reduced->form = CLV_PAIRWISE_FULL;
    reduced->edges = (const int32_t(*)[2])self->edges;
    reduced->is_shared = 0;
    return self->forest ? CLV_OK : clv_forest_new(&self->forest, err);
}

static void reduce(struct min_entropy *self, const struct min_entropy_terms *terms)
{
    const struct clv_field *field = terms->field;
    size_t rows = field->n_labels == 2 ? 1 : (size_t)field->n_labels;
    self->reduced.n_edges = 0;
    for (int32_t i = 0; i < field->n_nodes; i++)
        if (self->number[i] >= 0)
            memcpy(self->reduced.unary + (size_t)self->number[i] * rows, field->unary + (size_t)i * rows,
                   rows * sizeof *field->unary);
    keep_visible_edges(self, field, terms->is_visible);
    for (int32_t i = 0; i < field->n_nodes; i++)
        if (self->number[i] < 0)
            eliminate_hidden(self, field, i, terms->temperature);
}

enum clv_status min_entropy_map(int32_t *y, struct min_entropy *self, const struct min_entropy_terms *terms,
                                struct clv_error *err)
{
    static const struct clv_forest_options maximise = {0};
    const struct clv_field *field = terms->field;
    MUST(field_check_scores(field, 1, err));
    MUST(reserve(self, field, err));
    MUST(split_nodes(self, field, terms->is_visible, err));
    reduce(self, terms);
    if (self->reduced.n_nodes)
        MUST(clv_forest_run(self->forest, NULL, NULL, NULL, self->y, &self->reduced, &maximise, err));
    for (int32_t i = 0; i < field->n_nodes; i++)
        if (self->number[i] >= 0)
            y[i] = self->y[self->number[i]];
    for (int32_t i = 0; i < field->n_nodes; i++) {
        if (self->number[i] >= 0)
            continue;
        double v[CLV_FOREST_MAX_LABELS];
        int32_t a[2] = {0, 0};
        for (int end = 0; end < 2; end++)
            if (self->incident[i][end] >= 0)
                a[end] = y[other_end(field, self->incident[i][end], i)];
        local_scores(v, field, i, self->incident[i], a);
        y[i] = 0;
        for (int32_t s = 1; s < field->n_labels; s++)
            if (v[s] > v[y[i]])
                y[i] = s;
    }
    return CLV_OK;
}

void min_entropy_slope(double *score, double *slope, const struct min_entropy *self,
                       const struct min_entropy_terms *terms, const int32_t *y)
{
    const struct clv_field *field = terms->field;
    const uint8_t *is_visible = terms->is_visible;
    int32_t k = field->n_labels, n_edges = field_n_edges(field);
    *score = 0;
    memset(slope, 0, (size_t)field->n_nodes * (size_t)k * sizeof *slope);
    for (int32_t i = 0; i < field->n_nodes; i++) {
        double v[CLV_FOREST_MAX_LABELS] = {0};
        int32_t a[2] = {0, 0};
        if (visible(is_visible, i)) {
            *score += field_unary_score(field, i, y[i]);
            slope[i * k + y[i]] = 1;
            continue;
        }
        for (int end = 0; end < 2; end++)
            if (self->incident[i][end] >= 0)
                a[end] = y[other_end(field, self->incident[i][end], i)];
        local_scores(v, field, i, self->incident[i], a);
        *score += hidden_score(slope + (size_t)i * (size_t)k, v, k, terms->temperature);
    }
    for (int32_t e = 0; e < n_edges; e++) {
        int32_t i = field->edges[e][0], j = field->edges[e][1];
        if (visible(is_visible, i) && visible(is_visible, j))
            *score += field_pair_score(field, e, y[i], y[j]);
    }
}
