/* Conditional random fields: the exact likelihood of the known labels, by L-BFGS.
 *
 * Read crf.c first, the learner. lbfgs.c minimises its objective, with a line search in every step. crf_objective.c
 * computes the likelihood and its gradient for each example (a chain, a forest or nodes without edges) and sums them.
 * crf_rows.c has the sparse products with W. */
#ifndef LEARN_CRF_CRF_H
#define LEARN_CRF_CRF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "cleave/learn.h"
#include "cleave/status.h"
#include "infer/chain/chain.h"
#include "learn/common/common.h"

extern const struct clv_learner crf_learner;

/* The negative log-likelihood of a conditional random field and its gradient, exact in forests:
 *
 *     NLL(w) = sum_i log sum_y exp f_i(y) - f_i(y_i),      dNLL / dw = sum_i E[Psi(x_i, y)] - Psi(x_i, y_i)
 *
 * over labellings of the known nodes (Lafferty, McCallum, Pereira 2001). */

struct crf_worker; /* of one thread */

struct crf_objective {
    struct examples *examples;
    size_t k, width, n_rows, d, p, size, unary_size; /* labels, lanes, rows of W, features, edge features, weights */
    bool has_pairs, is_shared;                       /* one table for all edges: their only feature is 1 */
    const double *w;
    double *unary;              /* [d][width] W of the evaluation, one label per lane */
    const double *table;        /* [k][k][p] pairwise weights of the evaluation */
    struct chain_kernel kernel; /* of a shared table */
    double *kernel_memory;
    bool kernel_fits;
    double *empirical;   /* [size] sum_i Psi(x_i, y_i) */
    size_t n_chunks;     /* of examples, which threads take in turn; their number depends only on the data */
    size_t *chunk_first; /* [n_chunks + 1] */
    /* [n_chunks][chunk_size]: E[Psi] as [d][width]; with edges also [k][k][p], and [k][width], which a shared table
     * uses; then [width], whose first number is the negative log-likelihood */
    double *chunk_sums;
    size_t chunk_size;
    struct crf_worker *workers; /* [n_threads] */
    int n_threads;
};

/* `examples` must outlive the objective. A graph with a loop is found by the first evaluation: CLV_ERR_DATA, naming
 * image and edge. */
enum clv_status crf_objective_open(struct crf_objective *self, struct examples *examples,
                                   struct clv_error *err) CLV_CHECK;
void crf_objective_release(struct crf_objective *self);

/* Computes *nll and gradient[size] at w[size], with the same bytes at any thread count. O(non-zeros x rows + edges x
 * labels^2). CLV_ERR_INTERRUPTED when asked to stop. */
enum clv_status crf_objective_at(double *nll, double *gradient, struct crf_objective *self, const double *w,
                                 struct clv_error *err) CLV_CHECK;

/* Upper bound of the bytes that crf_objective_open allocates. */
double crf_objective_bytes(const struct clv_training *training);

/* Products of sparse feature rows with weights that have one label per vector lane. `width` is
 * chain_lanes_width(labels). */

/* score[width] = sum_c value[c] weights[index[c]][..], weights[features][width]. */
void crf_rows_score(double *score, const double *weights, const int32_t *index, const float *value, size_t n,
                    size_t width);

/* gradient[index[c]][..] += value[c] marginal[..], gradient[features][width]. */
void crf_rows_scatter(double *gradient, const double *marginal, const int32_t *index, const float *value, size_t n,
                      size_t width);

/* Minimisation of F(x) = f(x) + l1 |x|_1, f smooth: by limited-memory BFGS if l1 is 0 (Nocedal & Wright, Numerical
 * optimization, second edition 2006, Algorithms 7.4 and 7.5), else by OWL-QN (Andrew & Gao, Scalable training of
 * l1-regularized log-linear models, ICML 2007).
 *
 * Sums are added in the same order on every machine. Fields on which further steps depend are marked "state": with
 * these restored, further steps give the same bytes. */

struct lbfgs_function {
    /* *value = f(x), which may be infinite or NaN if x is too far away, and gradient[size]. */
    enum clv_status (*evaluate)(double *value, double *gradient, void *context, const double *x, struct clv_error *err);
    void *context;
    double l1; /* >= 0 */
};

struct lbfgs {
    struct arena arena; /* of the arrays below */
    struct lbfgs_function function;
    size_t size, memory;
    double *x;               /* [size] state */
    double *gradient;        /* [size] of f at x; state */
    double value;            /* F(x); state */
    double *moves, *changes; /* [memory][size] changes of x and of the gradient, the oldest replaced first; state */
    double *curvature;       /* [memory] <move, change> > 0 */
    size_t n_kept, next;     /* number of moves, and index of the next one; state */
    double *share;           /* [memory] alpha of Algorithm 7.4 */
    double *slope;           /* [size] the gradient of F, or its shortest subgradient */
    double *direction;       /* [size] */
    double *trial, *trial_gradient; /* [size] */
};

/* Opens a minimisation at x = 0, which may be changed before lbfgs_start; `memory` >= 1 steps are remembered. Release
 * also after a failure. Allocates 2 memory + 6 vectors. */
enum clv_status lbfgs_open(struct lbfgs *self, const struct lbfgs_function *function, size_t size, size_t memory,
                           struct clv_error *err) CLV_CHECK;
void lbfgs_release(struct lbfgs *self);

/* Evaluates the function at the first x. After a state was restored call lbfgs_resume instead. */
enum clv_status lbfgs_start(struct lbfgs *self, struct clv_error *err) CLV_CHECK;

/* Computes the other fields from those of the state, which the caller has restored. Returns false if the state is
 * invalid: a move along which the gradient did not rise, or numbers out of range. */
bool lbfgs_resume(struct lbfgs *self);

/* Takes one step to a lower F. *n_evaluations counts its evaluations. If no step lowers F by more than rounding errors,
 * *moved is false and x is unchanged. A failed evaluation leaves the state unchanged. */
enum clv_status lbfgs_step(bool *moved, int *n_evaluations, struct lbfgs *self, struct clv_error *err) CLV_CHECK;

/* Length of the gradient of F, or of its shortest subgradient: 0 at the minimum. */
double lbfgs_slope(const struct lbfgs *self);

/* Line search for a step that fulfils the strong Wolfe conditions (Nocedal & Wright, Numerical optimization, second
 * edition 2006, Algorithms 3.5 and 3.6). */

/* A function along a line. */
struct line_point {
    double step, value, slope; /* value may be infinite or NaN if the step is too long */
};

struct line {
    enum clv_status (*evaluate)(struct line_point *point, void *context, struct clv_error *err); /* at point->step */
    void *context;
};

#define LINE_TRIALS 40 /* at most */

/* Searches along a line. Sets *found to a step that lowers the value by at least 1e-4 of what the start's slope
 * predicts and whose slope has at most 0.9 of the start's magnitude; or, after LINE_TRIALS trials, to the step of
 * lowest value that meets the first condition. If no step meets it, found->step is 0; otherwise *found is the point
 * evaluated last. start->step is 0; `step` > 0 is tried first. *n_tried counts evaluations. */
enum clv_status line_search(struct line_point *found, int *n_tried, const struct line *line,
                            const struct line_point *start, double step, struct clv_error *err) CLV_CHECK;

#endif
