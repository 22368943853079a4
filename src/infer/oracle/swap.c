/* Alpha-beta swap: each move lets the nodes labelled alpha or beta take either. */
#include <math.h>

#include "base/base.h"
#include "infer/infer.h"
#include "infer/oracle/oracle.h"

static enum clv_status check_tables(const struct clv_field *field, struct clv_error *err)
{
    int32_t k = field->form == CLV_PAIRWISE_FULL ? field->n_labels : 2; /* all pairs of labels are alike in Potts */
    for (int32_t e = 0; e < field->n_edges; e++)
        for (int32_t a = 0; a < k; a++)
            for (int32_t b = a + 1; b < k; b++) {
                double alike = pair_score(field, e, a, a) / 2 + pair_score(field, e, b, b) / 2;
                double apart = pair_score(field, e, a, b) / 2 + pair_score(field, e, b, a) / 2;
                double size = fabs(pair_score(field, e, a, a)) + fabs(pair_score(field, e, b, b)) +
                              fabs(pair_score(field, e, a, b)) + fabs(pair_score(field, e, b, a));
                if (alike - apart < -0x1p-42 * size) /* what rounding leaves of equal sums is none */
                    return fail(
                        err, CLV_ERR_DATA,
                        "edge %d (nodes %d and %d): labels %d and %d score more apart than alike, which no cut can "
                        "swap: %g + %g < %g + %g",
                        e, field->edges[e][0], field->edges[e][1], a, b, pair_score(field, e, a, a),
                        pair_score(field, e, b, b), pair_score(field, e, a, b), pair_score(field, e, b, a));
            }
    return CLV_OK;
}

/* What label beta is better than alpha at the end `side` of an edge whose other end keeps its label. */
static double side_score(const struct clv_field *field, int32_t edge, int side, int32_t kept, int32_t alpha,
                         int32_t beta)
{
    if (side == 0)
        return pair_score(field, edge, beta, kept) - pair_score(field, edge, alpha, kept);
    return pair_score(field, edge, kept, beta) - pair_score(field, edge, kept, alpha);
}

/* Of all pairs of labels, alpha < beta, in lexicographic order. */
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
        self->place[i] = takes_part ? self->cut.n_nodes : -1;
        if (!takes_part)
            continue;
        self->cut.unary[self->cut.n_nodes] = unary[beta] - unary[alpha];
        self->nodes[self->cut.n_nodes++] = i;
    }
}

/* 1 is beta. Edges with one end in the move go into the unary scores. */
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
        int32_t a = self->place[field->edges[e][0]], b = self->place[field->edges[e][1]];
        if (a >= 0 && b < 0)
            cut->unary[a] += side_score(field, e, 0, self->best[field->edges[e][1]], alpha, beta);
        if (b >= 0 && a < 0)
            cut->unary[b] += side_score(field, e, 1, self->best[field->edges[e][0]], alpha, beta);
        if (a < 0 || b < 0)
            continue;
        double *table = &cut->pairwise[4 * (size_t)cut->n_edges];
        table[0] = pair_score(field, e, alpha, alpha);
        table[1] = pair_score(field, e, alpha, beta);
        table[2] = pair_score(field, e, beta, alpha);
        table[3] = pair_score(field, e, beta, beta);
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
    return moves_run(oracle, y, score, field, make_swap, field->n_labels * (field->n_labels - 1) / 2, err);
}
