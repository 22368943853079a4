/* Plans the order of bucket elimination by min-fill: always the node that joins the fewest pairs of neighbours that
 * are not joined yet, hidden nodes before visible ones if the temperatures differ. Start at bucket_fits. */
#include <string.h>

#include "base/base.h"
#include "infer/elimination/elimination.h"
#include "infer/infer.h"

#define WORD_BITS 64

static size_t n_words(const struct bucket *self)
{
    return ((size_t)self->n_nodes + WORD_BITS - 1) / WORD_BITS;
}

static uint64_t *row_of(const struct bucket *self, int32_t node)
{
    return &self->neighbours[(size_t)node * n_words(self)];
}

static int are_joined(const struct bucket *self, int32_t a, int32_t b)
{
    return row_of(self, a)[b / WORD_BITS] >> (b % WORD_BITS) & 1;
}

static void join(struct bucket *self, int32_t a, int32_t b)
{
    row_of(self, a)[b / WORD_BITS] |= UINT64_C(1) << (b % WORD_BITS);
    row_of(self, b)[a / WORD_BITS] |= UINT64_C(1) << (a % WORD_BITS);
}

/* Lists at most `most` of the neighbours that are not eliminated yet. Returns the number of all of them. */
static int32_t list_neighbours(int32_t *list, int32_t most, const struct bucket *self, int32_t node)
{
    const uint64_t *row = row_of(self, node);
    int32_t n = 0;
    for (size_t word = 0; word < n_words(self); word++)
        for (uint64_t bits = row[word]; bits; bits &= bits - 1) {
            int32_t other = (int32_t)(word * WORD_BITS) + __builtin_ctzll(bits);
            if (!self->is_left[other])
                continue;
            if (n < most)
                list[n] = other;
            n++;
        }
    return n;
}

/* Counts the pairs of neighbours that eliminating the node would join; INT32_MAX if there are too many neighbours. */
static int32_t fill_of(const struct bucket *self, int32_t node)
{
    int32_t list[BUCKET_MAX_SCOPE], fill = 0, n = list_neighbours(list, BUCKET_MAX_SCOPE, self, node);
    if (n >= BUCKET_MAX_SCOPE)
        return INT32_MAX;
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = i + 1; j < n; j++)
            fill += !are_joined(self, list[i], list[j]);
    return fill;
}

/* Returns the node of a kind with the least fill, or -1. Counts a node's pairs again only if `take` may have changed
 * them. */
static int32_t choose(struct bucket *self, uint8_t kind)
{
    int32_t best = -1, least = INT32_MAX;
    for (int32_t i = 0; i < self->n_nodes && least > 0; i++) {
        if (!self->is_left[i] || self->kind[i] != kind)
            continue;
        if (self->fill[i] < 0)
            self->fill[i] = fill_of(self, i);
        if (best < 0 || self->fill[i] < least) {
            best = i;
            least = self->fill[i];
        }
    }
    return best;
}

/* Invalidates the counts that joining a node to others changes: that of the node and those of its neighbours. */
static void forget_fill(struct bucket *self, int32_t joined)
{
    const uint64_t *row = row_of(self, joined);
    self->fill[joined] = -1;
    for (size_t word = 0; word < n_words(self); word++)
        for (uint64_t bits = row[word]; bits; bits &= bits - 1)
            self->fill[(int32_t)(word * WORD_BITS) + __builtin_ctzll(bits)] = -1;
}

static struct bucket_factor *add_factor(struct bucket *self, size_t n_cells)
{
    struct bucket_factor *factor = &self->factors[self->n_factors++];
    *factor = (struct bucket_factor){.first = self->n_cells};
    self->n_cells += n_cells;
    return factor;
}

/* Plans the elimination of a node. Returns 0 if that would need too many cells. */
static int take(struct bucket *self, int32_t node, uint8_t *is_used)
{
    size_t k = (size_t)self->n_labels, n_cells = 1;
    struct bucket_step *step = &self->steps[self->n_steps++];
    *step = (struct bucket_step){.node = node, .first_used = self->n_used, .first_chance = self->n_chances};
    step->n_scope = list_neighbours(step->scope, BUCKET_MAX_SCOPE, self, node);
    if (step->n_scope >= BUCKET_MAX_SCOPE)
        return 0;
    for (int32_t s = 0; s < step->n_scope; s++) {
        n_cells *= k;
        if (n_cells > self->cells_max)
            return 0;
    }
    step->n_cells = n_cells;
    self->n_chances += n_cells * k;
    if (self->n_chances > self->cells_max)
        return 0;
    for (int32_t f = 0; f < self->n_factors; f++) {
        const struct bucket_factor *factor = &self->factors[f];
        bool has_node = false;
        for (int32_t s = 0; s < factor->n_nodes && !is_used[f]; s++)
            has_node |= factor->nodes[s] == node;
        if (!has_node)
            continue;
        is_used[f] = 1;
        self->used[self->n_used++] = f;
    }
    step->n_used = self->n_used - step->first_used;
    self->is_left[node] = 0;
    for (int32_t i = 0; i < step->n_scope; i++)
        for (int32_t j = i + 1; j < step->n_scope; j++)
            join(self, step->scope[i], step->scope[j]);
    for (int32_t s = 0; s < step->n_scope; s++)
        forget_fill(self, step->scope[s]);
    step->result = self->n_factors;
    struct bucket_factor *result = add_factor(self, n_cells);
    result->n_nodes = step->n_scope;
    memcpy(result->nodes, step->scope, (size_t)step->n_scope * sizeof *result->nodes);
    return 1;
}

/* Factors 0 .. n_nodes - 1 belong to the nodes, the next ones to the edges. Factors of fixed labels have no nodes and
 * are never used. */
static void begin(struct bucket *self)
{
    size_t k = (size_t)self->n_labels;
    self->n_factors = self->n_used = self->n_steps = 0;
    self->n_cells = self->n_chances = 0;
    memset(self->neighbours, 0, (size_t)self->n_nodes * n_words(self) * sizeof *self->neighbours);
    for (int32_t i = 0; i < self->n_nodes; i++) {
        struct bucket_factor *factor = add_factor(self, k);
        self->is_left[i] = self->kind[i] > 0;
        self->fill[i] = -1;
        factor->n_nodes = self->kind[i] > 0;
        factor->nodes[0] = i;
    }
    for (int32_t e = 0; e < self->n_edges; e++) {
        struct bucket_factor *factor = add_factor(self, k * k);
        int32_t a = self->edges[e][0], b = self->edges[e][1];
        if (self->kind[a] == 0 || self->kind[b] == 0)
            continue;
        factor->n_nodes = 2;
        factor->nodes[0] = a;
        factor->nodes[1] = b;
        join(self, a, b);
    }
}

static enum clv_status plan(struct bucket *self, struct clv_error *err)
{
    OWNED_ARRAY uint8_t *is_used = array_zalloc(2 * (size_t)self->n_nodes + (size_t)self->n_edges, 1);
    NEED(is_used);
    begin(self);
    self->fits = 1;
    for (uint8_t kind = 1; kind <= 2; kind++)
        for (int32_t node; self->fits && (node = choose(self, kind)) >= 0;)
            self->fits = take(self, node, is_used);
    return CLV_OK;
}

static uint8_t kind_of(const struct clv_forest_options *options, int32_t node)
{
    int matters = options->is_visible && options->visible_temperature != options->hidden_temperature;
    if (options->label && options->label[node] != CLV_UNKNOWN)
        return 0;
    return matters && !options->is_visible[node] ? 1 : 2;
}

static bool has_plan_for(const struct bucket *self, const struct clv_field *field, int32_t n_edges,
                         const struct clv_forest_options *options, size_t cells_max)
{
    if (self->n_nodes != field->n_nodes || self->n_edges != n_edges || self->n_labels != field->n_labels ||
        self->cells_max != cells_max || !self->kind ||
        (n_edges && memcmp(self->edges, field->edges, (size_t)n_edges * sizeof *self->edges) != 0))
        return 0;
    for (int32_t i = 0; i < field->n_nodes; i++)
        if (self->kind[i] != kind_of(options, i))
            return 0;
    return 1;
}

static int reserve(struct bucket *self, size_t n, size_t m)
{
    const struct array_part by_node[] = {{&self->kind, sizeof *self->kind},
                                         {&self->is_left, sizeof *self->is_left},
                                         {&self->fill, sizeof *self->fill},
                                         {&self->steps, sizeof *self->steps}};
    const struct array_part by_factor[] = {{&self->factors, sizeof *self->factors}, {&self->used, sizeof *self->used}};
    return array_reserve_all(by_node, sizeof by_node / sizeof *by_node, &self->node_capacity, n + 1) ||
           array_reserve_all(by_factor, 2, &self->factor_capacity, 2 * n + m + 1) ||
           array_reserve((void **)&self->edges, &self->edge_capacity, m + 1, sizeof *self->edges) ||
           array_reserve((void **)&self->neighbours, &self->word_capacity, n * n_words(self), sizeof *self->neighbours);
}

/* Plans the elimination of a field's graph; after a failure the caller marks the plan as missing by n_nodes = -1. */
static enum clv_status plan_for(struct bucket *self, const struct clv_field *field, int32_t n_edges,
                                const struct clv_forest_options *options, size_t cells_max, struct clv_error *err)
{
    self->n_nodes = field->n_nodes;
    NEED(reserve(self, (size_t)field->n_nodes, (size_t)n_edges) == 0);
    self->n_edges = n_edges;
    self->n_labels = field->n_labels;
    self->cells_max = cells_max;
    array_put(self->edges, field->edges, (size_t)n_edges, sizeof *self->edges);
    for (int32_t i = 0; i < field->n_nodes; i++)
        self->kind[i] = kind_of(options, i);
    return plan(self, err);
}

enum clv_status bucket_fits(struct bucket *self, bool *fits, const struct clv_field *field,
                            const struct clv_forest_options *options, size_t cells_max, struct clv_error *err)
{
    int32_t n_edges = field_n_edges(field);
    *fits = 0;
    if (field->n_nodes > BUCKET_MAX_NODES || cells_max == 0)
        return CLV_OK;
    if (!has_plan_for(self, field, n_edges, options, cells_max)) {
        enum clv_status status = plan_for(self, field, n_edges, options, cells_max, err);
        if (status != CLV_OK) {
            self->n_nodes = -1;
            return status;
        }
    }
    *fits = self->fits;
    return CLV_OK;
}

void bucket_release(struct bucket *self)
{
    arrays_free(self->edges, self->kind, self->neighbours, self->is_left, self->fill, self->factors, self->used,
                self->steps, self->table, self->share, self->chance);
    *self = (struct bucket){0};
}
