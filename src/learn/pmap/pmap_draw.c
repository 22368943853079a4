/* One sample of the perturb-and-MAP objectives: perturbs a field, solves it, compares its maximum with the truth or
 * with the clamped optima, and adds up the gradient. Fields with full tables, which are chains, are first: their
 * clamped optima come from the solved chain, or each from another Viterbi run. Start at pmap_draw, at the end. */
#include "learn/pmap/pmap.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "infer/infer.h"
#include "infer/oracle/oracle.h"
#include "learn/weak/weak.h"
#include "mrf/problem.h"

/* The sample of a field with full tables. The decoder holds the perturbed field, which is solved; the workspace's y is
 * y_A, and its weights start at 0. */
struct table_drawing {
    const struct pmap_draws *draws;
    const struct pmap_example *example;
    struct pmap_workspace *space;
    struct decoder *decoder;
    double *pairwise; /* the pairwise part of the gradient; NULL: no gradient */
    double value;
};

static void add_node(double *node_weight, int32_t n_labels, int32_t i, int32_t label, double t)
{
    if (n_labels > 2)
        node_weight[(size_t)i * (size_t)n_labels + (size_t)label] += t;
    else if (label)
        node_weight[i] += t;
}

/* value += t ((f + z)(to) - (f + z)(from)) over known nodes. Adds the derivative to the gradient. */
static void compare(struct table_drawing *self, const int32_t *to, const int32_t *from, double t)
{
    const struct clv_field *field = &self->decoder->field;
    const struct clv_problem *problem = &self->example->problem;
    const int32_t *label = problem->label;
    size_t k = (size_t)field->n_labels, p = (size_t)self->draws->layout.n_edge_features;
    double gained = 0;
    for (int32_t i = 0; i < field->n_nodes; i++) {
        if (label[i] == CLV_UNKNOWN || to[i] == from[i])
            continue;
        gained += field_unary_score(field, i, to[i]) - field_unary_score(field, i, from[i]);
        add_node(self->space->node_weight, field->n_labels, i, to[i], t);
        add_node(self->space->node_weight, field->n_labels, i, from[i], -t);
    }
    for (int32_t e = 0; e < field->n_edges; e++) {
        int32_t a = field->edges[e][0], b = field->edges[e][1];
        if (label[a] == CLV_UNKNOWN || label[b] == CLV_UNKNOWN || (to[a] == from[a] && to[b] == from[b]))
            continue;
        size_t cell = (size_t)to[a] * k + (size_t)to[b], old = (size_t)from[a] * k + (size_t)from[b];
        const double *table = clv_field_table(field, e);
        gained += table[cell] - table[old];
        for (size_t f = 0; self->pairwise && f < p; f++) {
            double amount = t * (double)problem->edge_features[(size_t)e * p + f];
            self->pairwise[cell * p + f] += amount;
            self->pairwise[old * p + f] -= amount;
        }
    }
    self->value += t * gained;
}

/* Finds y_B by solving the field again with a unary score of the node that is large enough to force `label`. */
static enum clv_status table_solve_clamped(struct table_drawing *self, int32_t node, int32_t label,
                                           struct clv_error *err)
{
    struct clv_field *field = &self->decoder->field;
    size_t k = (size_t)field->n_labels, cells = field->n_edges ? k * k : 0;
    size_t n_tables = field->is_shared && field->n_edges ? 1 : (size_t)field->n_edges;
    double enough = 1, *unary = field->unary + (k == 2 ? (size_t)node : (size_t)node * k + (size_t)label);
    double original = *unary;
    for (size_t c = 0; c < n_tables * cells; c++)
        enough += 4 * fabs(field->pairwise[c]);
    for (size_t b = 0; b < k; b++)
        enough += 2 * fabs(field_unary_score(field, node, (int32_t)b));
    *unary = k == 2 && !label ? -enough : enough;
    enum clv_status status = clv_oracle_map(self->decoder->oracle, self->decoder->y, NULL, field, err);
    *unary = original;
    return status;
}

static enum clv_status find_clamped(struct table_drawing *self, int32_t node, int32_t label, struct clv_error *err)
{
    struct decoder *decoder = self->decoder;
    if (!self->draws->dynamic)
        return table_solve_clamped(self, node, label, err);
    return clv_oracle_clamp(decoder->oracle, decoder->y, NULL, &decoder->field, node, label, err);
}

/* Computes the sample of a field with full tables: adds to value, node_weight and pairwise. Without dynamic clamps
 * every y_B takes another Viterbi run. */
static enum clv_status pmap_tables(struct table_drawing *self, struct clv_error *err)
{
    const struct pmap_example *example = self->example;
    const int32_t *label = example->problem.label, *y = self->space->y;
    int32_t n_labels = self->decoder->field.n_labels;
    if (!example->weight) {
        compare(self, label, y, example->scale);
        return CLV_OK;
    }
    for (int32_t i = 0; i < self->decoder->field.n_nodes; i++)
        for (int32_t b = 0; b < n_labels && label[i] != CLV_UNKNOWN; b++) {
            double t = example->scale * (double)example->weight[(size_t)i * (size_t)n_labels + (size_t)b];
            if (t <= 0 || (self->draws->reduction && b == y[i]))
                continue;
            MUST(find_clamped(self, i, b, err));
            compare(self, self->decoder->y, y, t);
        }
    return CLV_OK;
}

void pmap_workspace_release(struct pmap_workspace *self)
{
    void *arrays[] = {self->first,   self->incident, self->wanted,      self->y,
                      self->flipped, self->mark,     self->node_weight, self->edge_weight};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        array_free(arrays[k]);
    *self = (struct pmap_workspace){0};
}

static enum clv_status reserve(struct pmap_workspace *self, size_t n_nodes, size_t n_edges, size_t n_rows,
                               struct clv_error *err)
{
    const struct array_part by_node[] = {
        {&self->first, sizeof *self->first}, {&self->wanted, sizeof *self->wanted},
        {&self->y, sizeof *self->y},         {&self->flipped, sizeof *self->flipped},
        {&self->mark, sizeof *self->mark},   {&self->node_weight, n_rows * sizeof *self->node_weight}};
    const struct array_part by_edge[] = {{&self->incident, 2 * sizeof *self->incident},
                                         {&self->edge_weight, sizeof *self->edge_weight}};
    if (array_reserve_all(by_node, 6, &self->node_capacity, n_nodes + 1) ||
        array_reserve_all(by_edge, 2, &self->edge_capacity, n_edges + 1))
        return fail_memory(err);
    return CLV_OK;
}

/* One call of pmap_draw. */
struct draw_state {
    const struct pmap_draws *draws;
    const struct clv_problem *problem;
    const float *weight;
    const int32_t *given;
    double scale, value;
    struct clv_field *field; /* perturbed */
    struct pmap_workspace *space;
};

/* Sets incident[first[i] .. first[i + 1] - 1] to the edges between node i and known nodes. Clears the marks of all
 * nodes. */
static void prepare_visits(struct pmap_workspace *space, const struct clv_field *field, const int32_t *label)
{
    int32_t *first = space->first, n_nodes = field->n_nodes;
    memset(space->mark, 0, (size_t)n_nodes * sizeof *space->mark);
    space->visit = 0;
    memset(first, 0, ((size_t)n_nodes + 1) * sizeof *first);
    for (int32_t e = 0; e < field->n_edges; e++)
        if (label[field->edges[e][0]] != CLV_UNKNOWN && label[field->edges[e][1]] != CLV_UNKNOWN) {
            first[field->edges[e][0]]++;
            first[field->edges[e][1]]++;
        }
    for (int32_t i = 0, end = 0; i <= n_nodes; i++) {
        end += first[i];
        first[i] = end; /* filled from the end */
    }
    for (int32_t e = field->n_edges - 1; e >= 0; e--)
        if (label[field->edges[e][0]] != CLV_UNKNOWN && label[field->edges[e][1]] != CLV_UNKNOWN) {
            space->incident[--first[field->edges[e][0]]] = e;
            space->incident[--first[field->edges[e][1]]] = e;
        }
}

static double label_weight(const struct draw_state *self, int32_t i, int32_t b)
{
    return self->scale * (double)self->weight[(size_t)i * (size_t)self->field->n_labels + (size_t)b];
}

/* Adds the estimate by a clamped optimum: y_B is y_A with the flipped labels swapped, and t is the weight of the node's
 * other label. The estimate is - t ((f + z)(y_A) - (f + z)(y_B)), its gradient t (Psi(y_B) - Psi(y_A)), which is kept
 * as weights of nodes and edges. */
static void visit_clamp(void *context, int32_t node, double cost, const int32_t *flipped, int32_t n_flipped)
{
    (void)cost; /* cost is that of the rounded scores */
    struct draw_state *self = context;
    struct pmap_workspace *space = self->space;
    const struct clv_field *field = self->field;
    const int32_t *y = space->y;
    double t = label_weight(self, node, 1 - y[node]), lost = 0;
    if (t <= 0)
        return;
    int32_t visit = ++space->visit;
    for (int32_t k = 0; k < n_flipped; k++)
        space->mark[flipped[k]] = visit;
    for (int32_t k = 0; k < n_flipped; k++) {
        int32_t i = flipped[k];
        lost += y[i] ? field->unary[i] : -field->unary[i];
        space->node_weight[i] += y[i] ? -t : t;
        for (int32_t at = space->first[i]; at < space->first[i + 1]; at++) {
            int32_t e = space->incident[at], a = field->edges[e][0], b = field->edges[e][1];
            if (space->mark[a == i ? b : a] == visit)
                continue;
            double change = y[a] == y[b] ? 1 : -1; /* of [y_a != y_b] */
            lost += change * field->pairwise[e];
            space->edge_weight[e] += change * t;
        }
    }
    self->value -= t * lost;
}

/* Whether the node has a label that is not fixed. */
static bool counts(const struct draw_state *self, int32_t i)
{
    return self->problem->label[i] != CLV_UNKNOWN && (!self->given || self->given[i] == CLV_UNKNOWN);
}

/* Whether y_B is needed for node i. With the reduction, only if the label other than that of y_A has weight. */
static bool is_wanted(const struct draw_state *self, int32_t i)
{
    if (!counts(self, i))
        return false;
    return !self->draws->reduction || label_weight(self, i, 1 - self->space->y[i]) > 0;
}

static enum clv_status clamp_dynamically(struct draw_state *self, struct decoder *decoder, struct clv_error *err)
{
    int32_t n = 0;
    for (int32_t i = 0; i < self->field->n_nodes; i++)
        if (is_wanted(self, i))
            self->space->wanted[n++] = i;
    return clv_oracle_witnesses(decoder->oracle, self->space->wanted, n, visit_clamp, self, err);
}

/* Finds one node's y_B by solving the field again with a unary score that is large enough to force `label`. */
static enum clv_status solve_clamped(struct draw_state *self, int32_t node, int32_t label, struct decoder *decoder,
                                     struct clv_error *err)
{
    struct pmap_workspace *space = self->space;
    struct clv_field *field = self->field;
    double original = field->unary[node], enough = 1;
    for (int32_t at = space->first[node]; at < space->first[node + 1]; at++)
        enough += field->pairwise[space->incident[at]];
    field->unary[node] = label ? enough : -enough;
    enum clv_status status = clv_oracle_map(decoder->oracle, decoder->y, NULL, field, err);
    field->unary[node] = original; /* also after a failure */
    if (status)
        return status;
    int32_t n = 0;
    for (int32_t i = 0; i < field->n_nodes; i++)
        if (decoder->y[i] != space->y[i])
            space->flipped[n++] = i;
    if (label != space->y[node])
        visit_clamp(self, node, 0, space->flipped, n);
    return CLV_OK;
}

static enum clv_status clamp_by_solving(struct draw_state *self, struct decoder *decoder, struct clv_error *err)
{
    for (int32_t i = 0; i < self->field->n_nodes; i++)
        for (int32_t b = 0; b < 2; b++)
            if (is_wanted(self, i) && label_weight(self, i, b) > 0 &&
                !(self->draws->reduction && b == self->space->y[i]))
                MUST(solve_clamped(self, i, b, decoder, err));
    return CLV_OK;
}

/* Without edges y_B differs from y_A only at the clamped node, for any number of labels. */
static void clamp_apart(struct draw_state *self)
{
    struct pmap_workspace *space = self->space;
    size_t n_labels = (size_t)self->field->n_labels;
    for (int32_t i = 0; i < self->field->n_nodes; i++) {
        int32_t best = space->y[i];
        for (int32_t b = 0; b < (int32_t)n_labels && counts(self, i); b++) {
            double t = label_weight(self, i, b);
            if (b == best || t <= 0)
                continue;
            if (n_labels == 2) {
                self->value -= t * fabs(self->field->unary[i]);
                space->node_weight[i] += b ? t : -t;
                continue;
            }
            size_t row = (size_t)i * n_labels;
            self->value -= t * (self->field->unary[row + (size_t)best] - self->field->unary[row + (size_t)b]);
            space->node_weight[row + (size_t)b] += t;
            space->node_weight[row + (size_t)best] -= t;
        }
    }
}

/* Algorithm 1: the gradient is Psi(y) - Psi(y_A). */
static void compare_jointly(struct draw_state *self, const struct decoder *decoder)
{
    struct pmap_workspace *space = self->space;
    const struct clv_field *field = self->field;
    const int32_t *label = self->problem->label, *y = space->y;
    size_t n_labels = (size_t)field->n_labels;
    for (size_t i = 0; i < (size_t)field->n_nodes; i++) {
        if (label[i] == CLV_UNKNOWN || label[i] == y[i])
            continue;
        if (n_labels == 2) {
            space->node_weight[i] = self->scale * (label[i] - y[i]);
        } else {
            space->node_weight[i * n_labels + (size_t)label[i]] = self->scale;
            space->node_weight[i * n_labels + (size_t)y[i]] = -self->scale;
        }
    }
    for (int32_t e = 0; e < field->n_edges; e++) {
        int32_t a = field->edges[e][0], b = field->edges[e][1];
        if (label[a] != CLV_UNKNOWN && label[b] != CLV_UNKNOWN)
            space->edge_weight[e] = self->scale * ((label[a] != label[b]) - (y[a] != y[b]));
    }
    self->value = self->scale * (decoder_truth_score(decoder, self->problem) - clv_field_score(field, y));
}

/* gradient += the sum of node weights times x_i and edge weights times -e_ij. */
static void gather(double *gradient, const struct draw_state *self)
{
    const struct clv_problem *problem = self->problem;
    const struct clv_weight_layout *layout = &self->draws->layout;
    size_t p = (size_t)layout->n_edge_features;
    unary_feature_add(gradient, problem, layout, self->space->node_weight);
    double *couplings = gradient + clv_weight_layout_unary_size(layout);
    for (size_t e = 0; e < (size_t)self->field->n_edges; e++) {
        double weight = self->space->edge_weight[e];
        if (weight == 0)
            continue;
        for (size_t f = 0; f < p; f++)
            couplings[f] -= weight * (double)problem->edge_features[e * p + f];
    }
}

/* Adds random Gumbel variables z to the loaded field and finds y_A. */
static enum clv_status perturb(struct draw_state *self, uint32_t draw, struct decoder *decoder, struct clv_error *err)
{
    struct clv_field *field = self->field;
    size_t n_rows = clv_weight_layout_rows(&self->draws->layout), n_nodes = (size_t)field->n_nodes;
    gumbel_add(field->unary, field->n_nodes, field->n_labels, self->draws->seed, draw);
    for (size_t i = 0; i < n_nodes; i++)
        if (self->problem->label[i] == CLV_UNKNOWN)
            memset(field->unary + i * n_rows, 0, n_rows * sizeof *field->unary);
    partial_force(field, self->given);
    MUST(clv_oracle_map(decoder->oracle, self->space->y, NULL, field, err));
    memset(self->space->node_weight, 0, n_nodes * n_rows * sizeof(double));
    memset(self->space->edge_weight, 0, (size_t)field->n_edges * sizeof(double));
    return CLV_OK;
}

enum clv_status pmap_draw(double *value, double *gradient, const struct pmap_estimate *estimate,
                          struct pmap_workspace *workspace, struct decoder *decoder, struct clv_error *err)
{
    const struct pmap_draws *self = estimate->draws;
    const struct pmap_example *example = estimate->example;
    const struct clv_problem *problem = &example->problem;
    struct draw_state drawing = {self,           problem, example->weight, example->given,
                                 example->scale, 0,       &decoder->field, workspace};
    MUST(reserve(workspace, (size_t)problem->n_nodes, (size_t)problem->n_edges, clv_weight_layout_rows(&self->layout),
                 err));
    MUST(decoder_load_known(decoder, problem, &self->layout, estimate->w, err));
    MUST(perturb(&drawing, estimate->draw, decoder, err));
    if (gradient)
        memset(gradient, 0, clv_weight_layout_size(&self->layout) * sizeof *gradient);
    if (self->layout.pairwise == CLV_PAIRWISE_FULL) {
        struct table_drawing tables = {self, example, workspace, decoder, NULL, 0};
        if (gradient)
            tables.pairwise = gradient + clv_weight_layout_unary_size(&self->layout);
        MUST(pmap_tables(&tables, err));
        drawing.value = tables.value;
    } else if (!example->weight) {
        compare_jointly(&drawing, decoder);
    } else if (decoder->field.n_edges == 0) {
        clamp_apart(&drawing);
    } else {
        prepare_visits(workspace, &decoder->field, problem->label);
        MUST(self->dynamic ? clamp_dynamically(&drawing, decoder, err) : clamp_by_solving(&drawing, decoder, err));
    }
    if (gradient)
        gather(gradient, &drawing);
    *value = drawing.value;
    return CLV_OK;
}
