/* Learners with hidden variables (Ping, Liu & Ihler 2014): nodes whose label is unknown take part.
 *
 * Read objective.c first: one objective, and the four learners are its temperatures. hidden_learners.c has their
 * parameters. A training: hidden_descent.c takes steps by AdaGrad or the plain subgradient, or cccp.c alternates
 * linearisations and convex problems (by their dual, cccp_dual.c). Both ask objective.c for gradients over examples;
 * inference.c chooses, for one example, between elimination and belief propagation. full_adagrad.c is only for --solver
 * adagrad-full. messages.c is what an objective remembers from step to step, hidden_state.c what a checkpoint holds. */
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
 * which suits weights that work against each other, such as a table's entries and a bias, where each by itself walks
 * slowly. */

#define FULL_ADAGRAD_MAX_SIZE 128

struct full_adagrad {
    size_t size;
    double *products;         /* [size][size] G */
    double *matrix, *vectors; /* [size][size] diagonal in the end; row k is the eigenvector of entry k */
};

/* size is at most FULL_ADAGRAD_MAX_SIZE. Release also after a failure, and of zeros. */
enum clv_status full_adagrad_open(struct full_adagrad *self, size_t size, struct clv_error *err) CLV_CHECK;
void full_adagrad_release(struct full_adagrad *self);

/* Forgets all gradients. */
void full_adagrad_restart(struct full_adagrad *self);

/* Takes in gradient[size], which becomes the step of length 1. O(size^3): Jacobi's rotations, from the eigenvectors of
 * the step before. */
void full_adagrad_turn(double *gradient, struct full_adagrad *self);

/* The unified objective of structured prediction with hidden variables (Ping, Liu & Ihler 2014, equation 5) and its
 * gradient. Visible nodes y are those whose label is known, the others, h, are hidden. Per example, with temperatures
 * T_y and T_h and the loss D,
 *
 *     U(w) = T_y log sum_y exp{ [D(y) + T_h log sum_h exp(f(y, h) / T_h)] / T_y }  -  T_h log sum_h exp(f(y_i, h) /
 * T_h)
 *            free term                                                                clamped term
 *
 * T log sum exp(. / T) being the maximum at T = 0. Its gradient is the difference of the joint feature's expectations
 * under the two terms' distributions (equation 8).
 *
 * How the terms are worked out (inference.c):
 *   exactly          in trees where no connected hidden nodes join three visible ones (forest_fits); the clamped
 * term
 *                    wherever the hidden nodes alone make a forest; on graphs narrow enough for the cells that bucket
 *                    elimination is granted; maxima over all that is open in fields of two labels that attract each
 *                    other, by minimum cuts. Elsewhere by approximations:
 *   T_h = 0          TRW-S, which mostly proves its labelling the best
 *   T_y > 0          sum- or mixed-product, once from the messages of the step before and once from near the truth; the
 *                    higher Bethe value counts
 *   T_y = 0 < T_h    labellings y of mixed-product and of TRW-S, each worth the value of the hidden nodes given y; the
 * best
 *                    one's term and gradient (equations 6 and 7)
 * At T_y = 0 the truth is a candidate as well. */

struct hidden_settings {
    double visible_temperature, hidden_temperature; /* T_y, T_h >= 0; T_y > 0 needs T_h > 0 */
    double margin;                                  /* D is the dataset's loss times this; 0: no loss */
    int32_t sweeps;                                 /* of belief propagation at most, per term */
    size_t cells;                                   /* of bucket elimination at most, per term */
};

/* Which terms of an example a pass works out. HIDDEN_LOOK is both, with messages and counts of runs left as they are:
 * how often one looks changes nothing of what is learned. */
enum hidden_terms { HIDDEN_FREE = 1, HIDDEN_CLAMPED = 2, HIDDEN_BOTH = 3, HIDDEN_LOOK = 7 };

/* The method that computes a term. */
enum hidden_method { HIDDEN_PROPAGATION, HIDDEN_FOREST, HIDDEN_BUCKETS, HIDDEN_CUT };

/* Whether a maximum over the labels of fields of this form is a minimum cut whatever the weights: learners keep
 * couplings at 0 or more. */
static inline bool hidden_is_cut(enum clv_pairwise form, int32_t n_labels)
{
    return form == CLV_PAIRWISE_POTTS && n_labels == 2;
}

/* The runs whose messages are kept: the two terms' belief propagation, and the free term's TRW-S. */
enum hidden_messages { HIDDEN_OF_FREE, HIDDEN_OF_CLAMPED, HIDDEN_OF_JOINT, HIDDEN_N_MESSAGES };

/* How an example's terms are worked out, and what belief propagation is to go on from. */
struct hidden_item {
    enum hidden_method free_by, clamped_by;
    float *messages[HIDDEN_N_MESSAGES]; /* [2 n_edges][n_labels]; NULL: always from nothing */
    bool has_messages[HIDDEN_N_MESSAGES];
    double free, clamped;                  /* the terms as last worked out */
    int64_t n_runs, n_sweeps, n_converged; /* of belief propagation for the free term so far */
};

struct hidden_workspace;

/* Messages before a step, to be put back if it is interrupted. */
struct hidden_memo {
    float *messages;
    int64_t *counts;
    size_t capacity, count_capacity;
};

struct hidden {
    struct hidden_settings settings;
    struct examples examples;
    size_t size;
    double unit;                         /* of the loss: a known node weighs 1 on the mean */
    double mean_known;                   /* known nodes per example */
    struct hidden_item *items;           /* [n] */
    struct hidden_workspace *workspaces; /* [n_threads] */
    struct hidden_memo memo;             /* of trainings with checkpoints */
    double *parts; /* [hidden_parts(examples)][size] sums of gradients, each of every parts-th example taken */
};

/* A step's gradient is summed in parts, side by side, and these in order: the same bytes at any number of threads. As
 * many parts as examples up to HIDDEN_PARTS, and more where each then has 64 examples. */
#define HIDDEN_PARTS 8
size_t hidden_parts(size_t n_taken);

enum clv_status hidden_open(struct hidden *self, const struct clv_training *training,
                            const struct hidden_settings *settings, struct clv_error *err) CLV_CHECK;
void hidden_release(struct hidden *self); /* also after a failure, and of zeros */

/* The objective at w = 0, where labels are independent and hidden nodes' terms cancel: per known node the maximum of
 * its loss, or T_y log sum exp of it. */
double hidden_at_zero(const struct hidden *self);

/* Goes on at other temperatures, from no messages. */
enum clv_status hidden_set_temperatures(struct hidden *self, double visible, double hidden,
                                        struct clv_error *err) CLV_CHECK;

/* A pass over examples: the terms to compute, for which examples, at which weights. */
struct hidden_pass {
    enum hidden_terms terms;
    const int32_t *taken; /* [n] examples */
    size_t n;
    const double *w;
};

/* gradient[size] = mean over the pass's examples of the joint feature's expectation under the free term minus that
 * under the clamped one, or of one of them alone; *free and *clamped (each may be NULL) the terms' means.
 * CLV_ERR_INTERRUPTED when asked to stop, which in trainings with checkpoints leaves everything as it was. Cost: the
 * terms' inference, and the non-zeros of nodes whose label is in doubt times the labels. */
enum clv_status hidden_gradient(double *gradient, double *free, double *clamped, struct hidden *self,
                                const struct hidden_pass *pass, struct clv_error *err) CLV_CHECK;

/* Notes how hard the free terms' belief propagation had it: sweeps on the mean, and the share that converged within as
 * many as it was granted. Nothing where all was exact. */
void hidden_note(struct clv_training_result *result, const struct hidden *hidden);

/* How weights learned at these temperatures are decoded. */
struct clv_decoding hidden_decoding(const struct hidden_settings *settings);

/* A descent on the objective of objective.c: what its solvers have in common. */

enum hidden_solver { SOLVER_ADAGRAD, SOLVER_SUBGRADIENT, SOLVER_CCCP, SOLVER_FULL_ADAGRAD };

/* The next stage of the concave-convex procedure; other solvers only lower. */
enum hidden_stage { STAGE_START, STAGE_LOWER, STAGE_EVALUATE, STAGE_LINEARISE, STAGE_LOOK };

/* Where a descent is, between two steps, besides its course's pass and n_taken. */
struct hidden_position {
    bool is_sharp; /* whether smooth passes, if any, are over */
    enum hidden_stage stage;
    size_t n_inner;   /* passes since the linearisation */
    size_t next_look; /* pass of the curve's next point */
    double lowest;    /* value of the convex problem at `best` */
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
    struct full_adagrad full;        /* zeros unless that is the solver */
    double *gradient, *plane, *best; /* [size]; the latter two of CCCP */
    int32_t *order, *all;            /* [n] */
};

/* Allocates for the hidden model, solver, lambda and rate that are set; `averaging`: AdaGrad's average of the iterates.
 * Release also after a failure; self->hidden is its owner's. */
enum clv_status hidden_descent_open(struct hidden_descent *self, bool averaging, struct clv_error *err) CLV_CHECK;
void hidden_descent_release(struct hidden_descent *self);

/* Whether the solver is AdaGrad with either matrix. */
bool hidden_descent_is_adagrad(const struct hidden_descent *self);

/* Algorithm 1, or AdaGrad in its place, from self->ascent.w or a checkpoint; ends the course. */
enum clv_status hidden_descent_run(struct hidden_descent *self, struct clv_error *err) CLV_CHECK;

/* A step down self->gradient, of the data term. Plain ones are Algorithm 1's, in which the gradient is that of J /
 * lambda'. The source's are constant, after which the iterates oscillate about the minimum; unless is_constant they
 * get shorter as 1 / sqrt(1 + passes / 10), so as to end there. */
void hidden_descent_step(struct hidden_descent *self);

/* A point of the curve, for weights w[size]. A pass, and the decoding of all examples. */
enum clv_status hidden_descent_look(struct hidden_descent *self, const double *w, struct clv_error *err) CLV_CHECK;

/* The concave-convex procedure, one of the solvers of a descent. */

/* The concave-convex procedure from self->ascent.w or a checkpoint; ends the course at the lowest point. */
enum clv_status hidden_cccp(struct hidden_descent *self, struct clv_error *err) CLV_CHECK;

/* The convex problem between two linearisations of the concave-convex procedure,
 *
 *     min_w  P(w) = lambda/2 |w|^2 + mean_i F_i(w) - <w, plane>    (Potts couplings >= 0)
 *
 * with the free terms F_i of objective.c, by block-coordinate Frank-Wolfe steps on its dual. Nothing to set: each
 * step's length is exact. */

struct hidden_dual {
    struct arena arena; /* of the arrays below */
    struct hidden *hidden;
    struct dual_point point; /* its w is where the next tangents are laid; dual_value(&point) <= min P */
    double *slope, *height;  /* [n][size], [n]: F_i(w) >= <slope, w> + height, a mixture of tangents */
    double *plane, *change;  /* [size] */
    double *average;         /* [size] of the iterates since the plane was laid, the t-th weighing t */
    double n_steps;          /* in the average */
    int32_t *order;          /* [n] */
};

/* O(n size) memory. */
enum clv_status hidden_dual_open(struct hidden_dual *self, struct hidden *hidden, double lambda,
                                 struct clv_error *err) CLV_CHECK;
void hidden_dual_release(struct hidden_dual *self); /* also after a failure, and of zeros */

/* Sets another plane: all bounds stay valid, the average starts again. */
void hidden_dual_set_plane(struct hidden_dual *self, const double *plane);

/* The first bounds: tangents at w[size] of the true labels' score. A pass of inference. */
enum clv_status hidden_dual_lay(struct hidden_dual *self, const double *w, struct clv_error *err) CLV_CHECK;

/* After bounds, v, average, n_steps and the point's loss were put back, with the plane that they belong to. */
void hidden_dual_resume(struct hidden_dual *self, const double *plane);

/* Steps for some examples of a pass, in an order drawn by (seed, pass), of which *n_taken have had theirs: all have
 * once that is n. */
enum clv_status hidden_dual_steps(size_t *n_taken, struct hidden_dual *self, uint64_t seed, size_t pass,
                                  struct clv_error *err) CLV_CHECK;

extern const struct clv_learner mssvm_learner;
extern const struct clv_learner lssvm_learner;
extern const struct clv_learner hcrf_learner;
extern const struct clv_learner eps_learner;

/* The checkpoint of a training with hidden variables: weights, what its solver keeps besides them, the messages that
 * belief propagation goes on from, the position. */

/* Opens the checkpoint to go on from, if there is one, and puts back the position. The caller owns *tensors, which is
 * NULL without a checkpoint or if nothing was done before it. */
enum clv_status hidden_state_open(struct clv_tensors **tensors, struct hidden_descent *self,
                                  struct clv_error *err) CLV_CHECK;

/* Puts back the rest, once temperatures and memory are those of the position. */
enum clv_status hidden_state_take(struct hidden_descent *self, struct clv_tensors *tensors,
                                  struct clv_error *err) CLV_CHECK;

/* Writes a checkpoint, of a struct hidden_descent: the `save` of its course. */
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
    bool is_looking; /* items are left as they are */
    struct bucket free_bucket, clamped_bucket;
    struct hidden_term free, clamped;
    struct hidden_term other;               /* the worse of two candidates for `free` */
    const struct hidden_settings *settings; /* of the objective; the example at hand: */
    struct hidden_item *item;
    const int32_t *label; /* [n_nodes] the true ones of the problem, a view */
    uint8_t *is_visible;  /* [n_nodes] */
    bool has_hidden;      /* whether any node is not visible */
    int32_t *y;           /* [n_nodes] */
    double *weight;       /* [n_nodes][rows] */
    size_t node_capacity, weight_capacity;
};

enum clv_status hidden_workspaces_new(struct hidden_workspace **workspaces, int n, enum clv_engine engine,
                                      struct clv_error *err) CLV_CHECK;
void hidden_workspaces_free(struct hidden_workspace *workspaces, int n);

/* Takes an example: grows to its problem and notes which of its nodes are visible. */
enum clv_status hidden_workspace_set(struct hidden_workspace *self, const struct hidden_settings *settings,
                                     struct hidden_item *item, const struct clv_problem *problem,
                                     const struct clv_weight_layout *layout, struct clv_error *err) CLV_CHECK;

/* Chooses the methods that compute both terms of an example, item->free_by and item->clamped_by; takes the example. */
enum clv_status hidden_choose_both(struct hidden_item *item, struct hidden_workspace *self,
                                   const struct hidden_settings *settings, const struct clv_problem *problem,
                                   const struct clv_weight_layout *layout, struct clv_error *err) CLV_CHECK;

/* Whether belief propagation works out any term of the training's examples; true where that is unknown. */
bool hidden_propagates(const struct clv_training *training, const struct hidden_settings *settings);

/* The clamped term of the field of the example. */
enum clv_status hidden_clamped(struct hidden_workspace *self, const struct clv_field *field, const int32_t *label,
                               struct clv_error *err) CLV_CHECK;

/* The free term of the field with the loss added. `truth`, of the true labels' score there with hidden nodes as in the
 * clamped term, bounds it from below: at T_y = 0 the clamped term's marginals, which must stand then, are taken where
 * nothing better was found. */
enum clv_status hidden_free(struct hidden_workspace *self, const struct clv_field *augmented, double truth,
                            struct clv_error *err) CLV_CHECK;

/* The messages that belief propagation goes on from, and the counts of its runs: what an objective remembers from step
 * to step. */

/* Memory for what the items' terms need, nothing known yet. All or none, so that nothing depends on the order of
 * examples. */
enum clv_status messages_make(struct hidden *self, struct clv_error *err) CLV_CHECK;
void messages_free(struct hidden *self);

/* The bytes that messages_make asks for at most. */
double messages_bytes(const struct clv_training *training);

#define MESSAGES_COUNTS (HIDDEN_N_MESSAGES + 3) /* which messages there are; runs, sweeps, converged ones */

/* An example's messages of one kind, as far as working out these terms changes them. */
struct comm_piece messages_piece(const struct hidden *self, size_t index, enum hidden_messages which,
                                 enum hidden_terms terms);

/* Numbers in all messages of the examples taken[n]. */
size_t messages_size(const struct hidden *self, const int32_t *taken, size_t n);

/* to[messages_size] and counts[n][MESSAGES_COUNTS] of the examples taken[n]; what is not there is 0. */
void messages_copy(float *to, int64_t *counts, const struct hidden *self, const int32_t *taken, size_t n);

/* The way back. */
void messages_put(struct hidden *self, const float *from, const int64_t *counts, const int32_t *taken, size_t n);

#endif
