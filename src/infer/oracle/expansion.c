/* Alpha-expansion (Boykov, Veksler & Zabih, PAMI 2001): each move lets every node keep its label or take label alpha, the best
 * such labelling by one minimum cut. */
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "cleave/infer.h"
#include "infer/field_check.h"
#include "infer/oracle/moves.h"

/* The move's two-label field: 1 is "take alpha". */
static void make_move(struct clv_field *move, const struct clv_field *field, const int32_t *y, int32_t alpha)
{
    size_t k = (size_t)field->n_labels;
    for (size_t i = 0; i < (size_t)field->n_nodes; i++)
        move->unary[i] = field->unary[i * k + (size_t)alpha] - field->unary[i * k + (size_t)y[i]];
    for (int32_t e = 0; e < move->n_edges; e++) {
        int32_t a = y[field->edges[e][0]], b = y[field->edges[e][1]];
        double *table = &move->pairwise[4 * (size_t)e];
        table[0] = pair_score(field, e, a, b);
        table[1] = pair_score(field, e, a, alpha);
        table[2] = pair_score(field, e, alpha, b);
        table[3] = pair_score(field, e, alpha, alpha);
    }
}

void start_apart(int32_t *y, const struct clv_field *field)
{
    size_t k = (size_t)field->n_labels;
    for (size_t i = 0; i < (size_t)field->n_nodes; i++) {
        y[i] = 0;
        for (size_t label = 1; label < k; label++)
            if (field->unary[i * k + label] > field->unary[i * k + (size_t)y[i]])
                y[i] = (int32_t)label;
    }
}

static enum clv_status expand(struct clv_oracle *oracle, int32_t *best, double *score, int32_t *tried, int32_t *takes,
                              struct clv_field *move, const struct clv_field *field, struct clv_error *err)
{
    *score = clv_field_score(field, best);
    for (int32_t alpha = 0, idle = 0; idle < field->n_labels; alpha = (alpha + 1) % field->n_labels, idle++) {
        make_move(move, field, best, alpha);
        enum clv_status status = clv_oracle_map(oracle, takes, NULL, move, err);
        if (status)
            return status;
        for (int32_t i = 0; i < field->n_nodes; i++)
            tried[i] = takes[i] ? alpha : best[i];
        double value = clv_field_score(field, tried);
        if (value > *score) {
            *score = value;
            memcpy(best, tried, (size_t)field->n_nodes * sizeof *best);
            idle = 0;
        }
    }
    return CLV_OK;
}

enum clv_status clv_oracle_expand(struct clv_oracle *oracle, int32_t *y, double *score, const struct clv_field *field,
                                  struct clv_error *err)
{
    enum clv_status status = field_check(field, err);
    if (status)
        return status;
    if (field->n_labels == 2 || field->form == CLV_PAIRWISE_NONE)
        return clv_oracle_map(oracle, y, score, field, err);
    size_t n = (size_t)field->n_nodes, m = (size_t)field->n_edges;
    struct clv_field move = {.n_nodes = field->n_nodes,
                             .n_edges = field->n_edges,
                             .n_labels = 2,
                             .form = CLV_PAIRWISE_FULL,
                             .edges = field->edges};
    int32_t *labels = array_alloc(n, 3 * sizeof *labels);
    double value;
    move.unary = array_alloc(n, sizeof *move.unary);
    move.pairwise = array_alloc(m, 4 * sizeof *move.pairwise);
    if (!labels || !move.unary || !move.pairwise) {
        status = fail_memory(err);
        goto done;
    }
    start_apart(labels, field);
    status = expand(oracle, labels, &value, labels + n, labels + 2 * n, &move, field, err);
    if (status)
        goto done;
    if (n)
        memcpy(y, labels, n * sizeof *y);
    if (score)
        *score = value;
done:
    array_free(labels);
    array_free(move.unary);
    array_free(move.pairwise);
    return status;
}
