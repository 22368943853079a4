/* Bucket elimination (Dechter 1999) with the plan of bucket_plan.c: sums or maximises nodes out one by one, and
 * passes the derivatives of the value back in reverse order. Start at bucket_run, at the end. */
#include "infer/elimination/elimination.h"

#include <string.h>

#include "base/base.h"
#include "infer/infer.h"

#define MAX_USED 64 /* factors that a step walks through at a time */

/* Strides of the factors of a step: by how many cells each moves when a label of the scope, or the node's label,
 * increases by one. */
struct walk {
    int32_t n;
    size_t first[MAX_USED];
    size_t stride[MAX_USED][BUCKET_MAX_SCOPE]; /* [factor][index in the scope] */
    size_t node_stride[MAX_USED];
};

static size_t stride_of(const struct bucket_factor *factor, int32_t node, size_t k)
{
    size_t stride = 1;
    for (int32_t s = factor->n_nodes; s-- > 0; stride *= k)
        if (factor->nodes[s] == node)
            return stride;
    return 0;
}

static void walk_begin(struct walk *walk, const struct bucket *self, const struct bucket_step *step, int32_t from)
{
    size_t k = (size_t)self->n_labels;
    walk->n = step->n_used - from < MAX_USED ? step->n_used - from : MAX_USED;
    for (int32_t u = 0; u < walk->n; u++) {
        const struct bucket_factor *factor = &self->factors[self->used[step->first_used + from + u]];
        walk->first[u] = factor->first;
        walk->node_stride[u] = stride_of(factor, step->node, k);
        for (int32_t s = 0; s < step->n_scope; s++)
            walk->stride[u][s] = stride_of(factor, step->scope[s], k);
    }
}

/* Moves to the next cell of the scope, whose last label varies fastest, and moves at[] of each factor accordingly. */
static void walk_on(const struct walk *walk, size_t *at, int32_t *label, int32_t n_scope, int32_t k)
{
    for (int32_t s = n_scope; s-- > 0;) {
        if (++label[s] < k) {
            for (int32_t u = 0; u < walk->n; u++)
                at[u] += walk->stride[u][s];
            return;
        }
        label[s] = 0;
        for (int32_t u = 0; u < walk->n; u++)
            at[u] -= (size_t)(k - 1) * walk->stride[u][s];
    }
}

/* score[cells][n_labels] = the sum of the step's factors. */
static void join_factors(double *restrict score, const struct bucket *self, const struct bucket_step *step)
{
    size_t k = (size_t)self->n_labels, at[MAX_USED];
    struct walk walk;
    memset(score, 0, step->n_cells * k * sizeof *score);
    for (int32_t from = 0; from < step->n_used; from += MAX_USED) {
        int32_t label[BUCKET_MAX_SCOPE] = {0};
        walk_begin(&walk, self, step, from);
        memcpy(at, walk.first, (size_t)walk.n * sizeof *at);
        for (size_t cell = 0; cell < step->n_cells; cell++) {
            for (int32_t u = 0; u < walk.n; u++)
                for (size_t a = 0; a < k; a++)
                    score[cell * k + a] += self->table[at[u] + a * walk.node_stride[u]];
            walk_on(&walk, at, label, step->n_scope, (int32_t)k);
        }
    }
}

/* Sets the step's result to T log sum_a exp(score / T), or the maximum. The scores become the derivative of that, the
 * node's distribution given its scope. */
static void sum_out(struct bucket *self, const struct bucket_step *step, double temperature)
{
    size_t k = (size_t)self->n_labels, n = step->n_cells * k;
    double *score = &self->chance[step->first_chance], *result = &self->table[self->factors[step->result].first];
    for (size_t cell = 0; cell < step->n_cells; cell++) {
        double *row = &score[cell * k];
        size_t best = 0;
        for (size_t a = 1; a < k; a++)
            best = row[a] > row[best] ? a : best;
        result[cell] = row[best];
        for (size_t a = 0; a < k; a++)
            row[a] = temperature > 0 ? (row[a] - result[cell]) / temperature : a == best;
    }
    if (temperature == 0)
        return;
    exponentials(score, score, 0, n);
    for (size_t cell = 0; cell < step->n_cells; cell++) {
        double *row = &score[cell * k], sum = 0;
        for (size_t a = 0; a < k; a++)
            sum += row[a];
        result[cell] += temperature * portable_log(sum);
        double scale = 1 / sum;
        for (size_t a = 0; a < k; a++)
            row[a] *= scale;
    }
}

/* Adds the share of the step's result, times the node's distribution, to the shares of the step's factors. */
static void spread(struct bucket *self, const struct bucket_step *step)
{
    size_t k = (size_t)self->n_labels, at[MAX_USED];
    const double *chance = &self->chance[step->first_chance], *above = &self->share[self->factors[step->result].first];
    struct walk walk;
    for (int32_t from = 0; from < step->n_used; from += MAX_USED) {
        int32_t label[BUCKET_MAX_SCOPE] = {0};
        walk_begin(&walk, self, step, from);
        memcpy(at, walk.first, (size_t)walk.n * sizeof *at);
        for (size_t cell = 0; cell < step->n_cells; cell++) {
            for (int32_t u = 0; above[cell] != 0 && u < walk.n; u++)
                for (size_t a = 0; a < k; a++)
                    self->share[at[u] + a * walk.node_stride[u]] += above[cell] * chance[cell * k + a];
            walk_on(&walk, at, label, step->n_scope, (int32_t)k);
        }
    }
}

/* Copies the field's scores to the first factors. Scores of fixed labels with free neighbours are added to these; the
 * sum of the other scores of fixed labels is returned. */
static double take_scores(struct bucket *self, const struct clv_field *field, const int32_t *label)
{
    size_t k = (size_t)self->n_labels;
    double settled = 0;
    for (int32_t i = 0; i < self->n_nodes; i++)
        for (size_t a = 0; a < k; a++)
            self->table[self->factors[i].first + a] = field_unary_score(field, i, (int32_t)a);
    for (int32_t e = 0; e < self->n_edges; e++) {
        int32_t first = self->edges[e][0], second = self->edges[e][1];
        bool is_first = self->kind[first] == 0, is_second = self->kind[second] == 0;
        double *table = &self->table[self->factors[self->n_nodes + e].first];
        for (size_t a = 0; a < k; a++)
            for (size_t b = 0; b < k && !is_first && !is_second; b++)
                table[a * k + b] = field_pair_score(field, e, (int32_t)a, (int32_t)b);
        for (size_t b = 0; b < k && is_first && !is_second; b++)
            self->table[self->factors[second].first + b] += field_pair_score(field, e, label[first], (int32_t)b);
        for (size_t a = 0; a < k && is_second && !is_first; a++)
            self->table[self->factors[first].first + a] += field_pair_score(field, e, (int32_t)a, label[second]);
        if (is_first && is_second)
            settled += field_pair_score(field, e, label[first], label[second]);
    }
    for (int32_t i = 0; i < self->n_nodes; i++)
        settled += self->kind[i] == 0 ? self->table[self->factors[i].first + (size_t)label[i]] : 0;
    return settled;
}

/* Returns the probability of a node's label, 1 or 0 if its label is fixed. */
static double node_share(const struct bucket *self, const int32_t *label, int32_t node, size_t a)
{
    return self->kind[node] == 0 ? (size_t)label[node] == a : self->share[self->factors[node].first + a];
}

static void write_pairs(double *pairs, const struct bucket *self, const int32_t *label)
{
    size_t k = (size_t)self->n_labels;
    for (int32_t e = 0; e < self->n_edges; e++) {
        int32_t first = self->edges[e][0], second = self->edges[e][1];
        double *pair = &pairs[(size_t)e * k * k];
        if (self->kind[first] && self->kind[second])
            memcpy(pair, &self->share[self->factors[self->n_nodes + e].first], k * k * sizeof *pair);
        else
            for (size_t a = 0; a < k; a++)
                for (size_t b = 0; b < k; b++)
                    pair[a * k + b] = node_share(self, label, first, a) * node_share(self, label, second, b);
    }
}

static int reserve(struct bucket *self)
{
    const struct array_part cells[] = {{&self->table, sizeof *self->table}, {&self->share, sizeof *self->share}};
    return array_reserve_all(cells, 2, &self->cell_capacity, self->n_cells + 1) ||
           array_reserve((void **)&self->chance, &self->chance_capacity, self->n_chances + 1, sizeof *self->chance);
}

enum clv_status bucket_run(struct bucket *self, const struct bucket_outputs *to, const struct clv_field *field,
                           const struct clv_forest_options *options, struct clv_error *err)
{
    MUST(field_check_scores(field, 1, err));
    NEED(reserve(self) == 0);
    size_t k = (size_t)self->n_labels;
    double found = take_scores(self, field, options->label);
    for (int32_t s = 0; s < self->n_steps; s++) {
        const struct bucket_step *step = &self->steps[s];
        bool is_visible = !options->is_visible || options->is_visible[step->node];
        join_factors(&self->chance[step->first_chance], self, step);
        sum_out(self, step, is_visible ? options->visible_temperature : options->hidden_temperature);
        found += step->n_scope == 0 ? self->table[self->factors[step->result].first] : 0;
    }
    if (to->value)
        *to->value = found;
    if (!to->marginals && !to->pair_marginals && !to->y)
        return CLV_OK;
    memset(self->share, 0, self->n_cells * sizeof *self->share);
    for (int32_t s = self->n_steps; s-- > 0;) {
        const struct bucket_step *step = &self->steps[s];
        if (step->n_scope == 0)
            self->share[self->factors[step->result].first] = 1;
        spread(self, step);
    }
    for (int32_t i = 0; i < self->n_nodes; i++) {
        size_t best = 0;
        for (size_t a = 0; a < k; a++) {
            best = node_share(self, options->label, i, a) > node_share(self, options->label, i, best) ? a : best;
            if (to->marginals)
                to->marginals[(size_t)i * k + a] = node_share(self, options->label, i, a);
        }
        if (to->y)
            to->y[i] = (int32_t)best;
    }
    if (to->pair_marginals)
        write_pairs(to->pair_marginals, self, options->label);
    return CLV_OK;
}
