/* Values and marginals at two temperatures by their definition, all labellings enumerated. */
#ifndef TESTS_INFER_TWO_TEMPERATURES_H
#define TESTS_INFER_TWO_TEMPERATURES_H

#include "infer/random_field.h"

#define MAX_CODES 4096

/* T log sum exp(. / T) of values that come one by one; T = 0 keeps the largest. */
struct soft {
    double highest, sum;
};

static inline void soft_add(struct soft *soft, double value, double temperature)
{
    if (value > soft->highest) {
        soft->sum = temperature > 0 ? soft->sum * exp((soft->highest - value) / temperature) : 0;
        soft->highest = value;
    }
    soft->sum += temperature > 0 ? exp((value - soft->highest) / temperature) : 0;
}

static inline double soft_value(struct soft soft, double temperature)
{
    return temperature > 0 ? soft.highest + temperature * log(soft.sum) : soft.highest;
}

/* exp((part - whole) / T), or whether it is the maximum. */
static inline double share_of(double part, double whole, double temperature)
{
    return temperature > 0 ? exp((part - whole) / temperature) : part == whole;
}

static inline size_t visible_code(const int32_t *y, const struct clv_field *field, const uint8_t *is_visible)
{
    size_t code = 0;
    for (int32_t i = 0; i < field->n_nodes; i++)
        code = is_visible[i] ? code * (size_t)field->n_labels + (size_t)y[i] : code;
    ck_assert_uint_lt(code, MAX_CODES);
    return code;
}

static inline int agrees(const int32_t *y, const int32_t *label, int32_t n)
{
    for (int32_t i = 0; label && i < n; i++)
        if (label[i] != CLV_UNKNOWN && label[i] != y[i])
            return 0;
    return 1;
}

/* The definition, by enumeration: the value, node and pair marginals under p(h | y) p(y). */
static inline double enumerate(double *marginals, double *pairs, const struct clv_field *field,
                               const uint8_t *is_visible, double visible_temperature, double hidden_temperature,
                               const int32_t *label)
{
    static struct soft inner[MAX_CODES];
    struct soft outer = {-INFINITY, 0};
    int32_t y[MAX_NODES] = {0}, k = field->n_labels, m = field->form == CLV_PAIRWISE_NONE ? 0 : field->n_edges;
    for (size_t c = 0; c < MAX_CODES; c++)
        inner[c] = (struct soft){-INFINITY, 0};
    do {
        if (agrees(y, label, field->n_nodes))
            soft_add(&inner[visible_code(y, field, is_visible)], clv_field_score(field, y), hidden_temperature);
    } while (next_labelling(y, field));
    for (size_t c = 0; c < MAX_CODES; c++)
        if (inner[c].highest > -INFINITY)
            soft_add(&outer, soft_value(inner[c], hidden_temperature), visible_temperature);
    double value = soft_value(outer, visible_temperature);
    memset(marginals, 0, sizeof(double) * (size_t)(field->n_nodes * k));
    memset(pairs, 0, sizeof(double) * (size_t)(m * k * k));
    do {
        if (!agrees(y, label, field->n_nodes))
            continue;
        double of_code = soft_value(inner[visible_code(y, field, is_visible)], hidden_temperature);
        double p = share_of(of_code, value, visible_temperature) *
                   share_of(clv_field_score(field, y), of_code, hidden_temperature);
        for (int32_t i = 0; i < field->n_nodes; i++)
            marginals[i * k + y[i]] += p;
        for (int32_t e = 0; e < m; e++)
            pairs[(e * k + y[field->edges[e][0]]) * k + y[field->edges[e][1]]] += p;
    } while (next_labelling(y, field));
    return value;
}

static const uint8_t all_visible[MAX_NODES] = {1, 1, 1, 1, 1, 1, 1, 1};

#endif
