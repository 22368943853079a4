/* Branch and bound for large margin sigmoid belief networks (Miao & Rao, Algorithm 2). The lower bound of a prefix is
 * its loss, since every further decision adds a hinge >= 0. A branch against the sign of z_i costs 1 + |z_i| >= 1, so a
 * path with a loss below S has fewer than S of them, and O(K^S) prefixes are visited. */
#include <math.h>

#include "base/base.h"
#include "tags/tags.h"

/* Binomial coefficient n over k, saturating. */
static size_t choose(size_t n, size_t k)
{
    size_t value = 1;
    for (size_t i = 0; i < k; i++) {
        size_t product;
        if (__builtin_mul_overflow(value, n - i, &product))
            return SIZE_MAX / 2;
        value = product / (i + 1);
    }
    return k > n ? 0 : value;
}

size_t clv_belief_count(int32_t i, int32_t order)
{
    size_t count = 0;
    for (int32_t size = 1; size < order && size <= i; size++)
        count += choose((size_t)i, (size_t)size);
    return count;
}

/* Uses sum_{m < i} (m over size) = (i over size + 1). */
size_t clv_belief_offset(int32_t i, int32_t order)
{
    size_t count = 0;
    for (int32_t size = 1; size < order && size < i; size++)
        count += choose((size_t)i, (size_t)size + 1);
    return count;
}

/* Writes the products of `size` of the first n decisions, times `factor`, sorted by their largest member. Returns the
 * end. */
static double *put_products(double *products, const double *y, int32_t n, int32_t size, double factor)
{
    if (size == 1) {
        for (int32_t j = 0; j < n; j++)
            *products++ = factor * y[j];
        return products;
    }
    for (int32_t j = size - 1; j < n; j++)
        products = put_products(products, y, j, size - 1, factor * y[j]);
    return products;
}

void clv_belief_products(double *products, const double *y, int32_t i, int32_t order)
{
    for (int32_t size = 1; size < order && size <= i; size++)
        products = put_products(products, y, i, size, 1);
}

/* Computes sum_C w_C prod_{j in C} y_j over the products of put_products, in the same order; advances *weight. */
static double weigh_products(const double **weight, const double *y, int32_t n, int32_t size)
{
    double sum = 0;
    if (size == 1) {
        const double *w = *weight;
        for (int32_t j = 0; j < n; j++)
            sum += w[j] * y[j];
        *weight += n;
        return sum;
    }
    for (int32_t j = size - 1; j < n; j++)
        sum += y[j] * weigh_products(weight, y, j, size - 1);
    return sum;
}

/* The activation z_i / y_i of decision i. */
static double activation(const struct clv_belief_net *net, const double *weight, const double *input, const double *y,
                         int32_t i)
{
    double sum = input[i];
    for (int32_t size = 1; size < net->order && size <= i; size++)
        sum += weigh_products(&weight, y, i, size);
    return sum;
}

static double hinge(double z)
{
    return z < 1 ? 1 - z : 0;
}

/* One level of the search: decision i on the current path. */
struct level {
    const double *weight; /* weights of decision i */
    double loss;          /* U_i, loss of the decisions before i */
    double other;         /* U_{i+1} after the second branch */
    int tried;            /* number of branches tried: 0, 1, 2 */
};

struct search {
    const struct clv_belief_net *net;
    const double *input;
    struct level *levels; /* [K + 1] */
    double *y;            /* [K] the current path */
    double upper;         /* UB */
    uint64_t n_nodes, max_nodes;
    int found;
};

/* Takes the next branch of decision i; returns U_{i+1}. */
static double branch(struct search *self, int32_t i)
{
    struct level *level = &self->levels[i];
    self->n_nodes++;
    if (level->tried++) {
        self->y[i] = -self->y[i];
        return level->other;
    }
    double z = activation(self->net, level->weight, self->input, self->y, i);
    self->y[i] = z > 0 ? 1 : -1;
    level->other = level->loss + hinge(-fabs(z));
    return level->loss + hinge(fabs(z));
}

/* Algorithm 2. Returns the smallest loss that an unexplored prefix may have, INFINITY if none remains. */
static double search_all(struct search *self, int8_t *best)
{
    int32_t n = self->net->n_tags, i = 0;
    while (i >= 0) {
        struct level *level = &self->levels[i];
        if (i == n) {
            self->upper = level->loss;
            self->found = 1;
            for (int32_t k = 0; k < n; k++)
                best[k] = (int8_t)self->y[k];
            i--;
            continue;
        }
        /* The second branch never costs less than the first: if the first was too costly, the level ends. */
        if (level->tried == 2 || (level->tried == 1 && level->other >= self->upper)) {
            i--;
            continue;
        }
        if (self->max_nodes && self->n_nodes >= self->max_nodes)
            break;
        double loss = branch(self, i);
        if (loss >= self->upper) {
            i--;
            continue;
        }
        self->levels[++i].loss = loss;
        self->levels[i].tried = 0;
    }
    double open = INFINITY;
    for (int32_t k = 0; k <= i && i < n; k++) {
        const struct level *level = &self->levels[k];
        double loss = level->tried == 0 ? level->loss : level->tried == 1 ? level->other : INFINITY;
        if (loss < open)
            open = loss;
    }
    return open;
}

/* Takes the first branch of every decision; returns the loss. */
static double first_path(const struct search *self, int8_t *y)
{
    double loss = 0;
    for (int32_t i = 0; i < self->net->n_tags; i++) {
        double z = activation(self->net, self->levels[i].weight, self->input, self->y, i);
        self->y[i] = z > 0 ? 1 : -1;
        y[i] = (int8_t)self->y[i];
        loss += hinge(fabs(z));
    }
    return loss;
}

static enum clv_status check(const struct clv_belief_net *net, const double *input,
                             const struct clv_belief_search *search, struct clv_error *err)
{
    FAIL_IF(net->n_tags < 1 || net->n_tags > CLV_MAX_BELIEF_TAGS, CLV_ERR_USAGE,
            "a belief network of %d decisions; there must be 1 to %d", net->n_tags, CLV_MAX_BELIEF_TAGS);
    FAIL_IF(net->order < 1 || net->order > CLV_MAX_BELIEF_ORDER, CLV_ERR_USAGE,
            "order %d of a belief network is not in 1 to %d", net->order, CLV_MAX_BELIEF_ORDER);
    FAIL_IF(search && !(search->s >= 0), CLV_ERR_USAGE, "S is %g, must not be negative (0: no limit)", search->s);
    for (int32_t i = 0; i < net->n_tags; i++)
        if (!isfinite(input[i]))
            return fail(err, CLV_ERR_DATA, "input of decision %d is %g", i, input[i]);
    size_t n = clv_belief_offset(net->n_tags, net->order);
    for (size_t i = 0; i < n; i++)
        if (!isfinite(net->weight[i]))
            return fail(err, CLV_ERR_DATA, "weight %zu of a belief network is %g", i, net->weight[i]);
    return CLV_OK;
}

static void search_release(struct search *self)
{
    arrays_free(self->levels, self->y);
}

enum clv_status clv_belief_map(int8_t *y, struct clv_belief_result *result, const struct clv_belief_net *net,
                               const double *input, const struct clv_belief_search *search, struct clv_error *err)
{
    MUST(check(net, input, search, err));
    size_t n = (size_t)net->n_tags;
    double s = search && search->s > 0 ? search->s : INFINITY;
    OWNED(search_release) struct search self = {
        .net = net,
        .input = input,
        .upper = s,
        .max_nodes = search ? search->max_nodes : 0,
        .levels = array_zalloc(n + 1, sizeof *self.levels),
        .y = array_alloc(n, sizeof *self.y),
    };
    NEED(self.levels && self.y);
    const double *weight = net->weight;
    for (int32_t i = 0; i < net->n_tags; i++) {
        self.levels[i].weight = weight;
        weight += clv_belief_count(i, net->order);
    }
    double open = search_all(&self, y);
    double loss = self.found ? self.upper : first_path(&self, y);
    /* A pruned branch has a loss of at least the upper bound at that time, so of at least the final one. */
    double bound = open < self.upper ? open : self.upper;
    *result = (struct clv_belief_result){
        .loss = loss, .bound = bound < loss ? bound : loss, .is_optimal = loss <= bound, .n_nodes = self.n_nodes};
    return CLV_OK;
}
