/* What belief propagation holds; its parts are in bp.c (schedules, outputs), bp_field.c (checks, graph) and bp_message.c. */
#ifndef INFER_BP_H
#define INFER_BP_H

#include "cleave/infer.h"

/* Arc 2 e goes from edges[e][0] to edges[e][1], arc 2 e + 1 back, so that arc ^ 1 is its reverse. All scores are divided by the
 * temperature and all messages are logarithms whose maximum is 0. */
struct clv_bp {
    int32_t n_nodes, n_edges, n_labels; /* of the field that the arrays are for; n_nodes < 0: none */
    enum clv_pairwise form;
    int32_t (*edges)[2];
    int32_t *first; /* [n_nodes + 1] into arc */
    int32_t *arc;   /* [2 n_edges] those that leave each node */
    int32_t *order; /* [n_nodes] breadth first from the lowest node of each component */
    int32_t *rank;  /* [n_nodes] place in that order */
    int32_t *color; /* [n_nodes] no two neighbours have the same; two colours if two are enough */
    int32_t n_colors;
    double *message;  /* [2 n_edges][n_labels] */
    double *unary;    /* [n_nodes][n_labels] */
    double *belief;   /* [n_nodes][n_labels] log of the unnormalised beliefs */
    double *pairwise; /* [n_edges] or [n_edges][n_labels][n_labels] */
    double *kernel;   /* [n_edges][n_labels][n_labels] exp(table - top), full tables only */
    double *top;      /* [n_edges] the table's maximum */
    double cavity[CLV_BP_MAX_LABELS], fresh[CLV_BP_MAX_LABELS]; /* of the message being sent */
};

static inline int32_t arc_source(const struct clv_bp *bp, int32_t arc)
{
    return bp->edges[arc >> 1][arc & 1];
}

static inline int32_t arc_target(const struct clv_bp *bp, int32_t arc)
{
    return bp->edges[arc >> 1][!(arc & 1)];
}

void bp_init(struct clv_bp *bp);
void bp_release(struct clv_bp *bp);

/* Refuses what clv_bp_run refuses. */
enum clv_status bp_check(const struct clv_field *field, const struct clv_bp_options *options,
                         struct clv_error *err) CLV_CHECK;

/* Takes over a field's scores, and its graph if that is another one than before; messages start from 0 then, or if not warm. */
enum clv_status bp_load(struct clv_bp *bp, const struct clv_field *field, double temperature, int is_warm,
                        struct clv_error *err) CLV_CHECK;

enum bp_rule { BP_SUM_OUT, BP_MAX_OUT };

/* out[n_labels] + the number returned = log sum or max over the source's labels a of exp(cavity[a] + pairwise[a][.]). Labels with
 * cavity -inf do not take part; one at least must. */
double bp_eliminate(double *out, const struct clv_bp *bp, int32_t arc, enum bp_rule rule, const double *cavity);

/* What the arc's edge adds when its source has label a and its target label b. */
double bp_pair_score(const struct clv_bp *bp, int32_t arc, size_t a, size_t b);

double maximum(const double *value, size_t n);
double log_sum_exp(const double *value, size_t n);

#endif
