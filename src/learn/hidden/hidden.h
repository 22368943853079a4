/* Learners with hidden variables (Ping, Liu & Ihler 2014): unlabelled nodes take part as hidden variables.
 *
 * Read objective.c first: the four learners share its objective and differ in its temperatures. hidden_learners.c has
 * their parameters. A training takes steps by AdaGrad or the plain subgradient (hidden_descent.c), or alternates
 * linearisations and convex problems (cccp.c), which it solves by their dual (cccp_dual.c). Both get gradients over
 * examples from objective.c. inference.c computes the terms of one example, by elimination, minimum cuts or belief
 * propagation. full_adagrad.c is used only by --solver adagrad-full. messages.c keeps messages from step to step,
 * hidden_state.c writes and reads checkpoints. */
#ifndef LEARN_HIDDEN_HIDDEN_H
#define LEARN_HIDDEN_HIDDEN_H

#include <stdbool.h>

#include "base/base.h"
#include "cleave/learn.h"
#include "cleave/status.h"
#include "cluster/comm_for.h"
#include "data/data.h"
#include "infer/elimination/elimination.h"
#include "learn/common/common.h"

/* AdaGrad with full matrices (Duchi, Hazan & Singer, JMLR 2011, algorithm 1 there): steps along
 *
 *     (G^(1/2) + delta I)^(-1) g,     G = sum of g g^T so far,     delta = 0.05 sqrt(trace G / size)
 *
 * which suits correlated weights, such as a table's entries and a bias, along which the diagonal form moves slowly. */

#define FULL_ADAGRAD_MAX_SIZE 128

struct full_adagrad {
    size_t size;
    double *products;         /* [size][size] G */
    double *matrix, *vectors; /* [size][size] V G V^T, diagonal in the end; V, whose rows are the eigenvectors */
};

/* size is at most FULL_ADAGRAD_MAX_SIZE. Release also after a failure; a struct of zeros may be released, too. */
enum clv_status full_adagrad_open(struct full_adagrad *self, size_t size, struct clv_error *err) CLV_CHECK;
void full_adagrad_release(struct full_adagrad *self);

/* Forgets all gradients. */
void full_adagrad_restart(struct full_adagrad *self);

/* Adds gradient[size] to G and replaces it by the step of rate 1. O(size^3): Jacobi rotations, which start from the
 * eigenvectors of the previous step. */
void full_adagrad_turn(double *gradient, struct full_adagrad *self);

/* The unified objective of structured prediction with hidden variables (Ping, Liu & Ihler 2014, equation 5) and its
 * gradient. Nodes y whose label is known are visible, the others, h, are hidden. Per example, with temperatures T_y and
 * T_h and the loss D,
 *
 *     U(w) = free - clamped
 *     free = T_y log sum_y exp{ [D(y) + T_h log sum_h exp(f(y, h) / T_h)] / T_y }
 *     clamped = T_h log sum_h exp(f(y_i, h) / T_h)
 *
 * where T log sum exp(. / T) is the maximum if T = 0. Its gradient is the difference of the joint feature's
 * expectations under the two terms' distributions (equation 8).
 *
 * inference.c computes the terms exactly
 *   - by elimination on forests: the clamped term if the hidden nodes form a forest, the free term in trees in which no
 *     connected set of hidden nodes joins three visible ones (forest_fits);
 *   - by minimum cuts: maxima over all nodes whose label is not fixed, for two labels with couplings >= 0;
 *   - by bucket elimination, on graphs whose tables fit into settings.cells;
 * and otherwise approximately
 *   - T_h = 0: by TRW-S, which mostly proves that its labelling is optimal;
 *   - T_y > 0: by sum- or mixed-product, once from the messages of the previous step and once from near the truth. The
 *     higher Bethe value is used;
 *   - T_y = 0 < T_h: by labellings y of mixed-product and of TRW-S. The value of each is that of the hidden nodes given
 *     y; the best one gives the term and its gradient (equations 6 and 7).
 * At T_y = 0 the true labelling is a candidate as well. */

struct hidden_settings {
    double visible_temperature, hidden_temperature; /* T_y, T_h >= 0; T_y > 0 needs T_h > 0 */
    double margin;                                  /* D is the dataset's loss times this; 0: no loss */
    int32_t sweeps;                                 /* most sweeps of belief propagation per term */
    size_t cells;                                   /* most table cells of bucket elimination per term */
};

/* Which terms of an example a pass computes. HIDDEN_EVALUATE computes both and leaves messages and counts of runs
 * unchanged, so that points of the curve do not change the weights. */
enum hidden_terms { HIDDEN_FREE = 1, HIDDEN_CLAMPED = 2, HIDDEN_BOTH = 3, HIDDEN_EVALUATE = 7 };

/* The method that computes a term. */
enum hidden_method { HIDDEN_PROPAGATION, HIDDEN_FOREST, HIDDEN_BUCKETS, HIDDEN_CUT };

/* Whether a minimum cut maximises fields of this form at all weights of a training, which keeps couplings >= 0. */
static inline bool hidden_is_cut(enum clv_pairwise form, int32_t n_labels)
{
    return form == CLV_PAIRWISE_POTTS && n_labels == 2;
}

/* Kinds of runs whose messages are kept: belief propagation for the free and for the clamped term, TRW-S for the free
 * term. */
enum hidden_messages { HIDDEN_OF_FREE, HIDDEN_OF_CLAMPED, HIDDEN_OF_JOINT, HIDDEN_N_MESSAGES };

/* The methods that compute an example's terms, and the messages from which belief propagation continues. */
struct hidden_item {
    enum hidden_method free_by, clamped_by;
    float *messages[HIDDEN_N_MESSAGES]; /* [2 n_edges][n_labels]; NULL: every run starts without messages */
    bool has_messages[HIDDEN_N_MESSAGES];
    double free, clamped;                  /* the terms when last computed */
    int64_t n_runs, n_sweeps, n_converged; /* of belief propagation for the free term so far */
};

struct hidden_workspace;

/* Messages and counts before a step, which are restored if the step is interrupted. */
struct hidden_memo {
    float *messages;
    int64_t *counts;
    size_t capacity, count_capacity;
};

struct hidden {
    struct hidden_settings settings;
    struct examples examples;
    size_t size;
    double unit;                         /* factor of the loss: a known node weighs 1 on average */
    double mean_known;                   /* known nodes per example */
    struct hidden_item *items;           /* [n] */
    struct hidden_workspace *workspaces; /* [n_threads] */
    struct hidden_memo memo;             /* of trainings with checkpoints */
    double *parts;                       /* [hidden_parts(examples)][size] sums of gradients; see hidden_parts */
};

/* The number of parts in which a step's gradient is summed in parallel; the parts are then added in order, so that
 * results have the same bytes at any number of threads. There are as many parts as examples, at most HIDDEN_PARTS, or
 * more if each part has 64 examples. */
#define HIDDEN_PARTS 8
size_t hidden_parts(size_t n_taken);

enum clv_status hidden_open(struct hidden *self, const struct clv_training *training,
                            const struct hidden_settings *settings, struct clv_error *err) CLV_CHECK;
void hidden_release(struct hidden *self); /* also after a failure, and of zeros */

/* The objective at w = 0, where labels are independent and hidden nodes' terms cancel: the mean over examples of the
 * sum over known nodes of the largest loss, or of T_y log sum exp(loss / T_y). */
double hidden_at_zero(const struct hidden *self);

/* Changes the temperatures and discards all messages. */
enum clv_status hidden_set_temperatures(struct hidden *self, double visible, double hidden,
                                        struct clv_error *err) CLV_CHECK;

/* A pass over examples: the terms to compute, for which examples, at which weights. */
struct hidden_pass {
    enum hidden_terms terms;
    const int32_t *taken; /* [n] examples */
    size_t n;
    const double *w;
};

/* Sets gradient[size] to the mean over the pass's examples of the expected joint feature under the free term minus that
 * under the clamped term, or to that of the only term computed. *free and *clamped (each may be NULL) become the means
 * of the terms. CLV_ERR_INTERRUPTED when asked to stop; messages and counts are then unchanged in trainings with
 * checkpoints. Cost: inference for the terms, and labels times non-zero features of nodes whose label is uncertain. */
enum clv_status hidden_gradient(double *gradient, double *free, double *clamped, struct hidden *self,
                                const struct hidden_pass *pass, struct clv_error *err) CLV_CHECK;

/* Adds notes on belief propagation for the free terms: the mean number of sweeps and the fraction of runs that
 * converged. Adds none if inference was exact. */
void hidden_note(struct clv_training_result *result, const struct hidden *hidden);

/* The decoding for weights learned at these temperatures. */
struct clv_decoding hidden_decoding(const struct hidden_settings *settings);

/* A descent on the objective of objective.c: what its solvers have in common. */

enum hidden_solver { SOLVER_ADAGRAD, SOLVER_SUBGRADIENT, SOLVER_CCCP, SOLVER_FULL_ADAGRAD };

/* The next stage of the concave-convex procedure; other solvers stay in STAGE_LOWER. */
enum hidden_stage { STAGE_START, STAGE_LOWER, STAGE_EVALUATE, STAGE_LINEARISE, STAGE_POINT };

/* The position of a descent between two steps, in addition to its course's pass and n_taken. */
struct hidden_position {
    bool is_sharp; /* whether smooth passes, if any, are over */
    enum hidden_stage stage;
    size_t n_inner;    /* passes since the linearisation */
    size_t next_point; /* pass of the curve's next point */
    double lowest;     /* value of the convex problem's objective at `best` */
};

struct hidden_dual;

struct hidden_descent {
    struct arena arena; /* of the arrays below */
    const struct clv_training *training;
    struct course course;
    struct hidden_position position;
    struct hidden hidden;
    enum hidden_solver solver;
    bool is_published; /* plain steps on all examples, c = 1, all weights start at random */
    bool is_constant;  /* plain steps do not get shorter */
    double lambda, rate;
    size_t n_smooth, n_inner; /* passes */
    struct ascent ascent;
    struct hidden_dual *dual;        /* of CCCP; NULL: plain steps, or another solver */
    struct full_adagrad full;        /* of SOLVER_FULL_ADAGRAD, otherwise zeros */
    double *gradient, *plane, *best; /* [size]; the latter two of CCCP */
    int32_t *order, *all;            /* [n] */
};

/* Allocates the arrays of a descent whose hidden, solver, lambda and rate are set. `averaging`: AdaGrad averages its
 * iterates. Release also after a failure; the caller releases self->hidden. */
enum clv_status hidden_descent_open(struct hidden_descent *self, bool averaging, struct clv_error *err) CLV_CHECK;
void hidden_descent_release(struct hidden_descent *self);

/* Whether the solver is AdaGrad with either matrix. */
bool hidden_descent_is_adagrad(const struct hidden_descent *self);

/* Runs Algorithm 1 or AdaGrad from self->ascent.w or a checkpoint; ends the course. */
enum clv_status hidden_descent_run(struct hidden_descent *self, struct clv_error *err) CLV_CHECK;

/* Takes a step down self->gradient, the gradient of the data term. Plain steps are those of Algorithm 1, along the
 * gradient of J / lambda'. As published their rate is constant and the iterates end up oscillating about the minimum;
 * unless is_constant it decreases as 1 / sqrt(1 + passes / 10), so that they converge. */
void hidden_descent_step(struct hidden_descent *self);

/* Adds a point to the curve, for weights w[size]. Costs a pass and the decoding of all examples. */
enum clv_status hidden_descent_add_point(struct hidden_descent *self, const double *w, struct clv_error *err) CLV_CHECK;

/* Runs the concave-convex procedure from self->ascent.w or a checkpoint; ends the course at the lowest point. */
enum clv_status hidden_cccp(struct hidden_descent *self, struct clv_error *err) CLV_CHECK;

/* The convex problem between two linearisations of the concave-convex procedure,
 *
 *     min_w  P(w) = lambda/2 |w|^2 + mean_i F_i(w) - <w, plane>    (Potts couplings >= 0)
 *
 * with the free terms F_i of objective.c, solved by block-coordinate Frank-Wolfe steps on its dual. Each step's length
 * is exact, so that no learning rate has to be chosen. */

struct hidden_dual {
    struct arena arena; /* of the arrays below */
    struct hidden *hidden;
    struct dual_point point; /* the next tangents are computed at its w; dual_value(&point) <= min P */
    double *slope, *height;  /* [n][size], [n]: F_i(w) >= <slope, w> + height, a mixture of tangents */
    double *plane, *change;  /* [size] */
    double *average;         /* [size] of the iterates since the plane was set, iterate t with weight t */
    double n_steps;          /* iterates in the average */
    int32_t *order;          /* [n] */
};

/* Allocates O(n size) memory. */
enum clv_status hidden_dual_open(struct hidden_dual *self, struct hidden *hidden, double lambda,
                                 struct clv_error *err) CLV_CHECK;
void hidden_dual_release(struct hidden_dual *self); /* also after a failure, and of zeros */

/* Sets another plane: all bounds stay valid, the average starts again. */
void hidden_dual_set_plane(struct hidden_dual *self, const double *plane);

/* Sets the first bounds: tangents of the clamped terms at w[size]. Costs a pass of inference. */
enum clv_status hidden_dual_lay(struct hidden_dual *self, const double *w, struct clv_error *err) CLV_CHECK;

/* Completes the dual after the caller has restored bounds, v, average, n_steps and the point's loss. They belong to
 * `plane`. */
void hidden_dual_resume(struct hidden_dual *self, const double *plane);

/* Takes the steps of the next HIDDEN_PARTS examples of a pass, in an order that (seed, pass) determines, and adds their
 * number to *n_taken. The pass is complete when *n_taken is n. */
enum clv_status hidden_dual_steps(size_t *n_taken, struct hidden_dual *self, uint64_t seed, size_t pass,
                                  struct clv_error *err) CLV_CHECK;

extern const struct clv_learner mssvm_learner;
extern const struct clv_learner lssvm_learner;
extern const struct clv_learner hcrf_learner;
extern const struct clv_learner eps_learner;

/* The checkpoint of a training with hidden variables: weights, other arrays of its solver, the messages of belief
 * propagation, and the position. */

/* Opens the checkpoint from which the training resumes, if there is one, and restores the position. The caller owns
 * *tensors, which is NULL without a checkpoint or if it was written before the first step. */
enum clv_status hidden_state_open(struct clv_tensors **tensors, struct hidden_descent *self,
                                  struct clv_error *err) CLV_CHECK;

/* Restores the rest, after the caller has set temperatures and memory for the position. */
enum clv_status hidden_state_take(struct hidden_descent *self, struct clv_tensors *tensors,
                                  struct clv_error *err) CLV_CHECK;

/* Writes the checkpoint of a struct hidden_descent; the `save` of its course. */
enum clv_status hidden_save(void *descent, struct clv_error *err) CLV_CHECK;

/* Inference for one example's terms, in memory that is kept from example to example. */

/* The result of inference for a term: its value, and marginals of nodes and edges. */
struct hidden_term {
    double value;
    double *nodes, *pairs; /* [n_nodes][n_labels], [n_edges][n_labels][n_labels] */
    size_t node_capacity, pair_capacity;
};

/* Memory of a field in which some labels are fixed. */
struct hidden_rest {
    int32_t (*edges)[2];
    double *unary, *pairwise;
    size_t node_capacity, edge_capacity, pair_capacity;
};

/* One per thread. */
struct hidden_workspace {
    struct clv_forest *forest;
    struct clv_bp *bp;
    struct clv_oracle *oracle; /* for minimum cuts */
    struct hidden_rest rest;
    bool is_evaluation; /* the pass leaves items unchanged */
    struct bucket free_bucket, clamped_bucket;
    struct hidden_term free, clamped;
    struct hidden_term other;               /* the worse of two candidates for `free` */
    const struct hidden_settings *settings; /* of the objective; below, fields of the current example */
    struct hidden_item *item;
    const int32_t *label; /* [n_nodes] true labels of the problem, borrowed */
    uint8_t *is_visible;  /* [n_nodes] */
    bool has_hidden;      /* whether any node is not visible */
    int32_t *y;           /* [n_nodes] */
    double *weight;       /* [n_nodes][rows] */
    size_t node_capacity, weight_capacity;
};

enum clv_status hidden_workspaces_new(struct hidden_workspace **workspaces, int n, enum clv_engine engine,
                                      struct clv_error *err) CLV_CHECK;
void hidden_workspaces_free(struct hidden_workspace *workspaces, int n);

/* Sets the current example: allocates memory for its problem and finds its visible nodes. */
enum clv_status hidden_workspace_set(struct hidden_workspace *self, const struct hidden_settings *settings,
                                     struct hidden_item *item, const struct clv_problem *problem,
                                     const struct clv_weight_layout *layout, struct clv_error *err) CLV_CHECK;

/* Chooses the methods that compute both terms of an example, item->free_by and item->clamped_by. Makes it the current
 * example. */
enum clv_status hidden_choose_both(struct hidden_item *item, struct hidden_workspace *self,
                                   const struct hidden_settings *settings, const struct clv_problem *problem,
                                   const struct clv_weight_layout *layout, struct clv_error *err) CLV_CHECK;

/* Whether belief propagation computes any term of the training's examples; true if that cannot be found out. */
bool hidden_propagates(const struct clv_training *training, const struct hidden_settings *settings);

/* Computes the clamped term of the current example, whose field and labels are given. */
enum clv_status hidden_clamped(struct hidden_workspace *self, const struct clv_field *field, const int32_t *label,
                               struct clv_error *err) CLV_CHECK;

/* Computes the free term of the field with the loss added. `truth` is the value of the true labels in that field, with
 * hidden nodes as in the clamped term. At T_y = 0 it is a lower bound: if inference finds nothing better, the term gets
 * this value and the marginals of the clamped term, which must have been computed before. */
enum clv_status hidden_free(struct hidden_workspace *self, const struct clv_field *augmented, double truth,
                            struct clv_error *err) CLV_CHECK;

/* The messages from which belief propagation continues, and the counts of its runs. An objective keeps them from step
 * to step. */

/* Allocates the messages that the items' terms need and marks them as unset. If all together are too large, allocates
 * none, so that results do not depend on the order of examples. */
enum clv_status messages_make(struct hidden *self, struct clv_error *err) CLV_CHECK;
void messages_free(struct hidden *self);

/* Upper bound of the bytes that messages_make allocates. */
double messages_bytes(const struct clv_training *training);

#define MESSAGES_COUNTS (HIDDEN_N_MESSAGES + 3) /* which messages are set; runs, sweeps, converged runs */

/* An example's messages of one kind; empty if computing these terms does not change them. */
struct comm_piece messages_piece(const struct hidden *self, size_t index, enum hidden_messages which,
                                 enum hidden_terms terms);

/* The number of floats in all messages of the examples taken[n]. */
size_t messages_size(const struct hidden *self, const int32_t *taken, size_t n);

/* Copies messages and counts of the examples taken[n] to to[messages_size] and counts[n][MESSAGES_COUNTS]. Messages
 * that are not set become 0. */
void messages_copy(float *to, int64_t *counts, const struct hidden *self, const int32_t *taken, size_t n);

/* Restores what messages_copy has copied. */
void messages_put(struct hidden *self, const float *from, const int64_t *counts, const int32_t *taken, size_t n);

#endif
