/* Alpha-expansion and alpha-beta swap (Boykov, Veksler & Zabih, PAMI 2001): moves that improve a labelling of more
 * than two labels, each the best of its kind, found by one minimum cut. Start at moves_run. */
#include "infer/oracle/oracle.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "infer/infer.h"
#include "infer/oracle/oracle_state.h"

/* If the sum of all scores exceeds that of the ordinary unaries by this factor, moves are solved without rounding. */
#define HARD 0x1p20

/* A labelling and the current move: a two-label field over the nodes that take part in it. */
struct moves {
    const struct clv_field *field;
    int32_t *best;        /* [n_nodes] the labelling */
    double score;         /* f of `best` */
    struct clv_field cut; /* the move; unary and pairwise have space for the whole field */
    int32_t (*edges)[2];  /* [n_edges] space for the move's edges */
    int32_t *nodes;       /* [cut.n_nodes] their indices in the whole field */
    int32_t *index_of;    /* [n_nodes] index in the move, or -1 */
    int32_t *y;           /* [cut.n_nodes] labels of the move; while it is tried, the labels before it */
    int32_t to[2];        /* the labels that 0 and 1 of the move stand for; -1: the current label */
    double field_size;    /* of the whole field, for capacities_suffice */
    bool is_hard;         /* sums of scores would lose the small ones to rounding */
    int32_t *before;      /* [n_nodes] if is_hard, the labelling before the move */
    double *low;          /* [cut.n_nodes] if is_hard, the rounding errors of its unaries */
};

/* Prepares move `number` of a kind: sets cut, nodes and to. */
typedef void move_maker(struct moves *self, int32_t number);

/* The moves of a kind: 0 .. n_moves - 1. */
struct cycle {
    move_maker *make;
    int32_t n_moves;
};

/* Sets field_size and is_hard from the sizes of the field's scores. */
static enum clv_status measure(struct moves *self, struct clv_error *err)
{
    const struct clv_field *field = self->field;
    size_t n = (size_t)field->n_nodes, k = (size_t)field->n_labels;
    OWNED_ARRAY double *range = array_alloc(n, sizeof *range);
    double total = 0;
    NEED(range);
    for (size_t i = 0; i < n; i++) {
        double lowest = field->unary[i * k], highest = lowest;
        for (size_t l = 0; l < k; l++) {
            lowest = fmin(lowest, field->unary[i * k + l]);
            highest = fmax(highest, field->unary[i * k + l]);
        }
        range[i] = highest - lowest;
        total += fmax(fabs(highest), fabs(lowest));
    }
    bool is_full = field->form == CLV_PAIRWISE_FULL;
    bool is_shared = is_full && field->is_shared && field->n_edges > 0;
    size_t n_tables = is_shared ? 1 : (size_t)field->n_edges;
    for (size_t e = 0; e < n_tables * (is_full ? k * k : 1); e++)
        total += fabs(field->pairwise[e]) * (is_shared ? field->n_edges : 1);
    size_t n_counted;
    double size = size_of_ordinary(&n_counted, range, n, INFINITY);
    self->field_size = size > 0 ? size : -1;
    self->is_hard = total > HARD * size;
    return CLV_OK;
}

/* Adds gain - loss to the unary of node p of the move: what label 1 gains and loses. */
static void add_score(struct moves *self, int32_t p, double gain, double loss)
{
    if (!self->is_hard) {
        self->cut.unary[p] += gain - loss;
        return;
    }
    struct exact_sum sum = {self->cut.unary[p], self->low[p]};
    exact_sum_add(&sum, gain);
    exact_sum_add(&sum, -loss);
    self->cut.unary[p] = sum.high;
    self->low[p] = sum.low;
}

/* Returns f(best) - f(before). */
static double gain_of(const struct moves *self)
{
    const struct clv_field *field = self->field;
    const int32_t *now = self->best, *before = self->before;
    struct exact_sum gain = {0, 0};
    for (int32_t i = 0; i < field->n_nodes; i++) {
        const double *unary = &field->unary[(size_t)i * (size_t)field->n_labels];
        if (now[i] == before[i])
            continue;
        exact_sum_add(&gain, unary[now[i]]);
        exact_sum_add(&gain, -unary[before[i]]);
    }
    for (int32_t e = 0; e < field->n_edges; e++) {
        int32_t a = field->edges[e][0], b = field->edges[e][1];
        if (now[a] == before[a] && now[b] == before[b])
            continue;
        exact_sum_add(&gain, field_pair_score(field, e, now[a], now[b]));
        exact_sum_add(&gain, -field_pair_score(field, e, before[a], before[b]));
    }
    return exact_sum_value(gain);
}

/* Solves the prepared move and applies it if it raises the score. */
static enum clv_status try_move(struct moves *self, bool *has_helped, struct clv_oracle *oracle, struct clv_error *err)
{
    *has_helped = false;
    if (!self->cut.n_nodes)
        return CLV_OK;
    MUST(self->is_hard ? oracle_cut_exactly(oracle, self->y, &self->cut, self->low, err)
                       : oracle_cut(oracle, self->y, &self->cut, err));
    if (self->is_hard)
        memcpy(self->before, self->best, (size_t)self->field->n_nodes * sizeof *self->before);
    for (int32_t p = 0; p < self->cut.n_nodes; p++) {
        int32_t *label = &self->best[self->nodes[p]], before = *label, after = self->to[self->y[p]];
        *label = after < 0 ? before : after;
        self->y[p] = before;
    }
    double value = clv_field_score(self->field, self->best);
    *has_helped = self->is_hard ? gain_of(self) > 0 : value > self->score;
    if (*has_helped)
        self->score = value;
    for (int32_t p = 0; !*has_helped && p < self->cut.n_nodes; p++)
        self->best[self->nodes[p]] = self->y[p];
    return CLV_OK;
}

/* Applies the moves in turn until none of them helps. A move that has just helped cannot help again at once. */
static enum clv_status run(struct moves *self, struct clv_oracle *oracle, const struct cycle *cycle,
                           struct clv_error *err)
{
    self->score = clv_field_score(self->field, self->best);
    for (int32_t number = 0, n_without_gain = 0; n_without_gain < cycle->n_moves;
         number = (number + 1) % cycle->n_moves) {
        bool has_helped;
        cycle->make(self, number);
        MUST(try_move(self, &has_helped, oracle, err));
        n_without_gain = has_helped ? 1 : n_without_gain + 1;
    }
    return CLV_OK;
}

static void moves_release(struct moves *self)
{
    arrays_free(self->best, self->edges, self->cut.unary, self->cut.pairwise);
}

/* Runs a cycle of moves, from the labels of the largest unary scores, until none of them helps. Sets y and *score as
 * clv_oracle_expand does. The field has been checked and has edges and more than two labels. */
static enum clv_status moves_run(struct clv_oracle *oracle, int32_t *y, double *score, const struct clv_field *field,
                                 struct cycle cycle, struct clv_error *err)
{
    size_t n = (size_t)field->n_nodes, m = (size_t)field->n_edges;
    OWNED(moves_release) struct moves self = {.field = field, .cut = {.n_labels = 2, .form = CLV_PAIRWISE_FULL}};
    self.best = array_alloc(n, 5 * sizeof *self.best);
    self.edges = array_alloc(m, sizeof *self.edges);
    self.cut.unary = array_zalloc(n, 2 * sizeof *self.cut.unary);
    self.cut.pairwise = array_alloc(m, 4 * sizeof *self.cut.pairwise);
    NEED(self.best && self.edges && self.cut.unary && self.cut.pairwise);
    self.low = self.cut.unary + n;
    self.nodes = self.best + n;
    self.index_of = self.nodes + n;
    self.y = self.index_of + n;
    self.before = self.y + n;
    oracle_label_by_unary(self.best, field);
    MUST(measure(&self, err));
    oracle->field_size = self.field_size;
    enum clv_status status = run(&self, oracle, &cycle, err);
    oracle->field_size = -1;      /* also after a failure: the oracle may be used again */
    oracle->state = ORACLE_EMPTY; /* likewise: it holds the solution of a move */
    oracle->has_tree = false;
    MUST(status);
    array_put(y, self.best, n, sizeof *y);
    if (score)
        *score = self.score;
    return CLV_OK;
}

/* Alpha-expansion: each move lets every node keep its label or take label alpha. */

/* Prepares the expansion of alpha: label 1 of the move takes alpha. */
static void make_expansion(struct moves *self, int32_t alpha)
{
    const struct clv_field *field = self->field;
    const int32_t *y = self->best;
    struct clv_field *cut = &self->cut;
    size_t k = (size_t)field->n_labels;
    self->to[0] = -1;
    self->to[1] = alpha;
    cut->n_nodes = field->n_nodes;
    cut->n_edges = field->n_edges;
    cut->edges = field->edges;
    for (int32_t i = 0; i < field->n_nodes; i++) {
        const double *unary = &field->unary[(size_t)i * k];
        self->nodes[i] = i;
        cut->unary[i] = self->low[i] = 0;
        add_score(self, i, unary[alpha], unary[y[i]]);
    }
    for (int32_t e = 0; e < field->n_edges; e++) {
        int32_t a = y[field->edges[e][0]], b = y[field->edges[e][1]];
        double *table = &cut->pairwise[4 * (size_t)e];
        table[0] = field_pair_score(field, e, a, b);
        table[1] = field_pair_score(field, e, a, alpha);
        table[2] = field_pair_score(field, e, alpha, b);
        table[3] = field_pair_score(field, e, alpha, alpha);
    }
}

enum clv_status clv_oracle_expand(struct clv_oracle *oracle, int32_t *y, double *score, const struct clv_field *field,
                                  struct clv_error *err)
{
    MUST(field_check(field, err));
    if (field->n_labels == 2 || field->form == CLV_PAIRWISE_NONE)
        return clv_oracle_map(oracle, y, score, field, err);
    return moves_run(oracle, y, score, field, (struct cycle){make_expansion, field->n_labels}, err);
}

/* Alpha-beta swap: each move lets the nodes labelled alpha or beta take either. */

static enum clv_status check_tables(const struct clv_field *field, struct clv_error *err)
{
    int32_t k = field->form == CLV_PAIRWISE_FULL ? field->n_labels : 2; /* Potts: all pairs of labels score the same */
    for (int32_t e = 0; e < field->n_edges; e++)
        for (int32_t a = 0; a < k; a++)
            for (int32_t b = a + 1; b < k; b++) {
                double same = field_pair_score(field, e, a, a) + field_pair_score(field, e, b, b);
                double different = field_pair_score(field, e, a, b) + field_pair_score(field, e, b, a);
                double size = fabs(field_pair_score(field, e, a, a)) + fabs(field_pair_score(field, e, b, b)) +
                              fabs(field_pair_score(field, e, a, b)) + fabs(field_pair_score(field, e, b, a));
                if (same - different < -0x1p-41 * size) /* smaller differences are rounding errors */
                    return fail(
                        err, CLV_ERR_DATA,
                        "edge %d (nodes %d and %d): labels %d and %d score more apart than alike, which no cut can "
                        "swap: %g + %g < %g + %g",
                        e, field->edges[e][0], field->edges[e][1], a, b, field_pair_score(field, e, a, a),
                        field_pair_score(field, e, b, b), field_pair_score(field, e, a, b),
                        field_pair_score(field, e, b, a));
            }
    return CLV_OK;
}

/* Adds to the unary of node p of the move what an edge gains if p takes beta instead of alpha. p is end `side` of the
 * edge, whose other end keeps its label. */
static void add_side(struct moves *self, int32_t p, int32_t edge, int side, const int32_t to[2])
{
    const struct clv_field *field = self->field;
    int32_t kept = self->best[field->edges[edge][!side]];
    if (side == 0)
        add_score(self, p, field_pair_score(field, edge, to[1], kept), field_pair_score(field, edge, to[0], kept));
    else
        add_score(self, p, field_pair_score(field, edge, kept, to[1]), field_pair_score(field, edge, kept, to[0]));
}

/* Finds pair `number` of all pairs of labels, alpha < beta, in lexicographic order. */
static void find_pair(int32_t *alpha, int32_t *beta, int32_t number, int32_t n_labels)
{
    for (*alpha = 0; number >= n_labels - 1 - *alpha; (*alpha)++)
        number -= n_labels - 1 - *alpha;
    *beta = *alpha + 1 + number;
}

static void list_nodes(struct moves *self, int32_t alpha, int32_t beta)
{
    size_t k = (size_t)self->field->n_labels;
    self->cut.n_nodes = 0;
    for (int32_t i = 0; i < self->field->n_nodes; i++) {
        bool takes_part = self->best[i] == alpha || self->best[i] == beta;
        const double *unary = &self->field->unary[(size_t)i * k];
        self->index_of[i] = takes_part ? self->cut.n_nodes : -1;
        if (!takes_part)
            continue;
        self->cut.unary[self->cut.n_nodes] = self->low[self->cut.n_nodes] = 0;
        self->nodes[self->cut.n_nodes] = i;
        add_score(self, self->cut.n_nodes++, unary[beta], unary[alpha]);
    }
}

/* Prepares a swap: label 0 of the move is alpha, 1 is beta. Edges with one end in the move are added to the unary
 * scores. */
static void make_swap(struct moves *self, int32_t number)
{
    const struct clv_field *field = self->field;
    struct clv_field *cut = &self->cut;
    int32_t alpha, beta;
    find_pair(&alpha, &beta, number, field->n_labels);
    self->to[0] = alpha;
    self->to[1] = beta;
    list_nodes(self, alpha, beta);
    cut->edges = (const int32_t(*)[2])self->edges;
    cut->n_edges = 0;
    for (int32_t e = 0; e < field->n_edges; e++) {
        int32_t a = self->index_of[field->edges[e][0]], b = self->index_of[field->edges[e][1]];
        if (a >= 0 && b < 0)
            add_side(self, a, e, 0, self->to);
        if (b >= 0 && a < 0)
            add_side(self, b, e, 1, self->to);
        if (a < 0 || b < 0)
            continue;
        double *table = &cut->pairwise[4 * (size_t)cut->n_edges];
        table[0] = field_pair_score(field, e, alpha, alpha);
        table[1] = field_pair_score(field, e, alpha, beta);
        table[2] = field_pair_score(field, e, beta, alpha);
        table[3] = field_pair_score(field, e, beta, beta);
        self->edges[cut->n_edges][0] = a;
        self->edges[cut->n_edges++][1] = b;
    }
}

enum clv_status clv_oracle_swap(struct clv_oracle *oracle, int32_t *y, double *score, const struct clv_field *field,
                                struct clv_error *err)
{
    MUST(field_check(field, err));
    if (field->n_labels == 2 || field->form == CLV_PAIRWISE_NONE)
        return clv_oracle_map(oracle, y, score, field, err);
    MUST(check_tables(field, err));
    return moves_run(oracle, y, score, field, (struct cycle){make_swap, field->n_labels * (field->n_labels - 1) / 2},
                     err);
}
