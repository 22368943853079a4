/* Decodes with label costs (Delong, Osokin, Isack & Boykov 2012) for any tables: a search over sets of labels, each of
 * which is decoded separately. Start at clv_oracle_decode_costs, at the end. */
#include <string.h>

#include "base/base.h"
#include "infer/infer.h"
#include "infer/oracle/oracle.h"

enum { MAX_LABELS = 256 };

struct search {
    struct clv_oracle *oracle;
    const struct clv_field *field;
    const double *cost;           /* [n_labels] */
    struct clv_decoding decoding; /* rule for the sets that are tried */
    uint8_t *is_in;               /* [n_labels] whether a label is in the set that is tried */
    int32_t *label;               /* [n_labels] its labels, ascending */
    int32_t *y, *trial;           /* [n_nodes] the best labelling so far, and that of the set that is tried */
    double *unary, *table;        /* [n_nodes][k], [n_edges][k][k] (or one) for a set of up to k labels */
};

static void search_release(struct search *self)
{
    arrays_free(self->is_in, self->label, self->y, self->trial, self->unary, self->table);
}

/* Returns f(y) minus the costs of y's labels. is_used[n_labels] gets which labels y has. */
static double value_of(const struct search *self, const int32_t *y, uint8_t *is_used)
{
    size_t k = (size_t)self->field->n_labels;
    double value = clv_field_score(self->field, y);
    memset(is_used, 0, k);
    for (int32_t i = 0; i < self->field->n_nodes; i++)
        is_used[y[i]] = 1;
    for (size_t l = 0; l < k; l++)
        value -= is_used[l] ? self->cost[l] : 0;
    return value;
}

/* Returns the field restricted to the labels label[k], k >= 2. */
static struct clv_field part_of(const struct search *self, size_t k)
{
    const struct clv_field *field = self->field;
    struct clv_field part = *field;
    size_t n_labels = (size_t)field->n_labels;
    if (k == n_labels)
        return part;
    part.n_labels = (int32_t)k;
    part.unary = self->unary;
    for (size_t i = 0; i < (size_t)field->n_nodes; i++) {
        const double *from = &field->unary[i * n_labels];
        for (size_t l = 0; l < k && k > 2; l++)
            part.unary[i * k + l] = from[self->label[l]];
        if (k == 2)
            part.unary[i] = from[self->label[1]] - from[self->label[0]];
    }
    if (field->form != CLV_PAIRWISE_FULL)
        return part;
    part.pairwise = self->table;
    for (int32_t e = 0; e < (field->is_shared && field->n_edges > 0 ? 1 : field->n_edges); e++)
        for (size_t a = 0; a < k; a++)
            for (size_t b = 0; b < k; b++)
                self->table[((size_t)e * k + a) * k + b] = field_pair_score(field, e, self->label[a], self->label[b]);
    return part;
}

/* Decodes the field restricted to the labels of is_in into `trial`. */
static enum clv_status decode_set(struct search *self, const uint8_t *is_visible, const struct clv_decoding *decoding,
                                  struct clv_error *err)
{
    size_t k = 0;
    for (int32_t l = 0; l < self->field->n_labels; l++)
        if (self->is_in[l])
            self->label[k++] = l;
    if (k > 1) {
        struct clv_field part = part_of(self, k);
        MUST(clv_oracle_decode(self->oracle, self->trial, &part, is_visible, decoding, err));
    } else {
        memset(self->trial, 0, (size_t)self->field->n_nodes * sizeof *self->trial);
    }
    for (int32_t i = 0; i < self->field->n_nodes; i++)
        self->trial[i] = self->label[self->trial[i]];
    return CLV_OK;
}

/* Reserves memory for the set of labels used at the beginning; later sets are smaller. */
static enum clv_status reserve_sets(struct search *self, const uint8_t *is_used, struct clv_error *err)
{
    const struct clv_field *field = self->field;
    size_t n = (size_t)field->n_nodes, n_tables = field->is_shared ? field->n_edges > 0 : (size_t)field->n_edges, k = 0;
    for (int32_t l = 0; l < field->n_labels; l++)
        k += is_used[l];
    self->unary = array_alloc(n, k * sizeof *self->unary);
    self->table = array_alloc(field->form == CLV_PAIRWISE_FULL ? n_tables : 0, k * k * sizeof *self->table);
    return self->unary && self->table ? CLV_OK : fail_memory(err);
}

/* Tries each set without one of the used labels. If the best one has a larger value, sets y and *value to it. */
static enum clv_status remove_label(struct search *self, double *value, const uint8_t *is_used, struct clv_error *err)
{
    uint8_t unused[MAX_LABELS];
    size_t k = (size_t)self->field->n_labels, n_used = 0;
    for (size_t l = 0; l < k; l++)
        n_used += is_used[l];
    for (size_t out = 0; out < k && n_used > 1; out++) {
        if (!is_used[out] || self->cost[out] == 0)
            continue;
        memcpy(self->is_in, is_used, k);
        self->is_in[out] = 0;
        MUST(decode_set(self, NULL, &self->decoding, err));
        double found = value_of(self, self->trial, unused);
        if (!(found > *value))
            continue;
        *value = found;
        memcpy(self->y, self->trial, (size_t)self->field->n_nodes * sizeof *self->y);
    }
    return CLV_OK;
}

/* Removes labels, from the labelling without costs, until that does not raise the value. is_in gets the labels that are
 * left. */
static enum clv_status remove_labels(struct search *self, struct clv_error *err)
{
    uint8_t is_used[MAX_LABELS];
    double value = value_of(self, self->y, is_used), before;
    MUST(reserve_sets(self, is_used, err));
    do {
        before = value;
        MUST(remove_label(self, &value, is_used, err));
        value_of(self, self->y, is_used);
    } while (value > before);
    memcpy(self->is_in, is_used, (size_t)self->field->n_labels);
    return CLV_OK;
}

static enum clv_status check_costs(const double *cost, int32_t n_labels, struct clv_error *err)
{
    if (n_labels < 2 || n_labels > MAX_LABELS)
        return fail(err, CLV_ERR_USAGE, "label costs: %d labels, 2..%d can have some", n_labels, MAX_LABELS);
    for (int32_t l = 0; l < n_labels; l++)
        if (!(cost[l] >= 0 && cost[l] <= 1e100))
            return fail(err, CLV_ERR_DATA, "label costs: label %d costs %g, must be 0..1e100", l, cost[l]);
    return CLV_OK;
}

enum clv_status clv_oracle_decode_costs(struct clv_oracle *oracle, int32_t *y, const struct clv_field *field,
                                        const double *label_cost, const uint8_t *is_visible,
                                        const struct clv_decoding *decoding, struct clv_error *err)
{
    OWNED(search_release) struct search self = {
        .oracle = oracle, .field = field, .cost = label_cost, .decoding = {.rule = CLV_DECODE_MAP}};
    MUST(check_costs(label_cost, field->n_labels, err));
    MUST(field_check(field, err));
    self.is_in = array_alloc((size_t)field->n_labels, sizeof *self.is_in);
    self.label = array_alloc((size_t)field->n_labels, sizeof *self.label);
    self.y = array_alloc((size_t)field->n_nodes, sizeof *self.y);
    self.trial = array_alloc((size_t)field->n_nodes, sizeof *self.trial);
    NEED(self.is_in && self.label && self.y && self.trial);
    MUST(clv_oracle_decode(oracle, self.y, field, NULL, &self.decoding, err));
    MUST(remove_labels(&self, err));
    bool is_map = decoding->rule == CLV_DECODE_MAP || decoding->rule == CLV_DECODE_ORACLE;
    if (!is_map)
        MUST(decode_set(&self, is_visible, decoding, err));
    array_put(y, is_map ? self.y : self.trial, (size_t)field->n_nodes, sizeof *y);
    return CLV_OK;
}
