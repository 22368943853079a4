#ifndef INFER_ORACLE_ORACLE_H
#define INFER_ORACLE_ORACLE_H

#include <stdbool.h>

#include "cleave/oracle.h"
#include "infer/bp/bp.h"
#include "infer/elimination/elimination.h"

/* Decoding by the rules of struct clv_decoding but CLV_DECODE_ORACLE: which engine takes which field. */

/* All zeros at first; parts are made when first needed. Not for two threads at once. */
struct decoding_workspace {
    struct clv_forest *forest;
    struct loopy loopy;
    struct bucket bucket;
    struct min_entropy min_entropy;
};
void decoding_release(struct decoding_workspace *self);

/* Refuses rules and temperatures out of range. */
enum clv_status decoding_check(const struct clv_decoding *decoding, struct clv_error *err) CLV_CHECK;

/* y[n_nodes] as clv_oracle_decode says, after decoding_check. */
enum clv_status decoding_run(struct decoding_workspace *self, int32_t *y, const struct clv_field *field,
                             const uint8_t *is_visible, const struct clv_decoding *decoding,
                             struct clv_error *err) CLV_CHECK;

/* "oracle", "map", "marginal map", "marginals", "min entropy" */
const char *decoding_rule_name(enum clv_decoding_rule rule);

/* Moves that improve a labelling of more than two labels, each the best of its kind by one minimum cut: what
 * alpha-expansion and alpha-beta swap share (Boykov, Veksler & Zabih, PAMI 2001). */

/* A labelling and the move at hand: a two-label field over the nodes that take part in it. */
struct moves {
    const struct clv_field *field;
    int32_t *best;          /* [n_nodes] the labelling */
    double score;           /* its own */
    struct clv_field cut;   /* the move; unary and pairwise have space for the whole field */
    int32_t (*edges)[2];    /* [n_edges] space for the move's edges */
    int32_t *nodes, *place; /* [cut.n_nodes] their numbers in the whole field; [n_nodes] the other way round, or -1 */
    int32_t *y;             /* [cut.n_nodes] the move's labels; the labels before it while it is tried */
    int32_t to[2];          /* what label 0 and 1 of the move stand for; -1: the label before */
};

/* Makes move `number` of a kind ready: cut, nodes, to. */
typedef void move_maker(struct moves *self, int32_t number);

/* y, *score as clv_oracle_expand says: from each node's best label, moves 0 .. n_moves - 1 in turn until none of them
 * helps. The field has more than two labels and edges, and was checked. */
enum clv_status moves_run(struct clv_oracle *oracle, int32_t *y, double *score, const struct clv_field *field,
                          move_maker *make, int32_t n_moves, struct clv_error *err) CLV_CHECK;

static inline double pair_score(const struct clv_field *field, int32_t edge, int32_t a, int32_t b)
{
    if (field->form == CLV_PAIRWISE_POTTS)
        return a == b ? 0 : -field->pairwise[edge];
    return clv_field_table(field, edge)[(size_t)a * (size_t)field->n_labels + (size_t)b];
}

#endif
