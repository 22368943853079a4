/* The negative log-likelihood of a conditional random field and its gradient, exact in forests:
 *
 *     NLL(w) = sum_i log sum_y exp f_i(y) - f_i(y_i),      dNLL / dw = sum_i E[Psi(x_i, y)] - Psi(x_i, y_i)
 *
 * over labellings of the known nodes (Lafferty, McCallum, Pereira 2001). */
#ifndef LEARN_CRF_OBJECTIVE_H
#define LEARN_CRF_OBJECTIVE_H

#include "infer/chain/chain_lanes.h"
#include "learn/common/examples.h"

struct crf_worker; /* of one thread */

struct crf_objective {
    struct examples *examples;
    size_t k, width, n_rows, d, p, size, unary_size; /* labels, lanes, rows of W, features, edge features, weights */
    bool has_pairs, is_shared;                       /* one table for all edges: their only feature is 1 */
    const double *w;
    double *unary;              /* [d][width] W of the evaluation, a label a lane */
    const double *table;        /* [k][k][p] of it */
    struct chain_kernel kernel; /* of a shared table */
    double *kernel_memory;
    bool kernel_fits;
    double *empirical;   /* [size] sum_i Psi(x_i, y_i) */
    size_t n_chunks;     /* of examples, which threads take in turn; their number depends on the data alone */
    size_t *chunk_first; /* [n_chunks + 1] */
    /* [n_chunks][chunk_size]: E[Psi], [d][width], [k][k][p], and of a shared table [k][width]; then, first of width, the
     * negative log-likelihood */
    double *chunk_sums;
    size_t chunk_size;
    struct crf_worker *workers; /* [n_threads] */
    int n_threads;
};

/* The examples must stay. CLV_ERR_DATA, naming image and edge, for a graph with a loop comes from the first evaluation.
 */
enum clv_status crf_objective_open(struct crf_objective *self, struct examples *examples,
                                   struct clv_error *err) CLV_CHECK;
void crf_objective_release(struct crf_objective *self);

/* *nll and gradient[size] at w[size]. The same bytes at any thread count. O(non-zeros x rows + edges x labels^2).
 * CLV_ERR_INTERRUPTED when asked to stop. */
enum clv_status crf_objective_at(double *nll, double *gradient, struct crf_objective *self, const double *w,
                                 struct clv_error *err) CLV_CHECK;

/* Bytes that crf_objective_open asks for, at most. */
double crf_objective_bytes(const struct clv_training *training);

#endif
