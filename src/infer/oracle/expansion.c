/* Alpha-expansion: each move lets every node keep its label or take label alpha. */
#include "base/base.h"
#include "infer/infer.h"
#include "infer/oracle/oracle.h"

/* 1 is "take alpha". */
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
        cut->unary[i] = unary[alpha] - unary[y[i]];
    }
    for (int32_t e = 0; e < field->n_edges; e++) {
        int32_t a = y[field->edges[e][0]], b = y[field->edges[e][1]];
        double *table = &cut->pairwise[4 * (size_t)e];
        table[0] = pair_score(field, e, a, b);
        table[1] = pair_score(field, e, a, alpha);
        table[2] = pair_score(field, e, alpha, b);
        table[3] = pair_score(field, e, alpha, alpha);
    }
}

enum clv_status clv_oracle_expand(struct clv_oracle *oracle, int32_t *y, double *score, const struct clv_field *field,
                                  struct clv_error *err)
{
    MUST(field_check(field, err));
    if (field->n_labels == 2 || field->form == CLV_PAIRWISE_NONE)
        return clv_oracle_map(oracle, y, score, field, err);
    return moves_run(oracle, y, score, field, make_expansion, field->n_labels, err);
}
