/* Code that learners share. Each learner starts from the problems of its training and one decoder per thread.
 *
 * Read this header first, then decoder.c (labellings under given weights) and examples.c (the problems, and the result
 * of a training). The loops of all learners run in a course (course.c), with checkpoint.c and state.c. Some learners
 * use frank_wolfe.c (the dual of margins), ascent.c (stochastic gradients), evaluate.c (losses), l1_ball.c and
 * vectors.c. */
#ifndef LEARN_COMMON_COMMON_H
#define LEARN_COMMON_COMMON_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"
#include "cleave/infer.h"
#include "cleave/learn.h"
#include "cleave/problem.h"
#include "data/data.h"
#include "feature/dataset/dataset.h"

/* Step rules of stochastic gradient ascent with regularisation, non-negative couplings and averaging. */

enum step_rule {
    STEP_PUBLISHED, /* w += (g - lambda w) / (lambda h): Algorithms 1, 2 and 4 */
    STEP_ADAGRAD,   /* w_k += rate d_k / sqrt(sum of all d_k^2 so far), d = g - lambda w (Duchi, Hazan, Singer 2011) */
};

/* The settings of an ascent. */
struct ascent_rules {
    enum step_rule step;
    double lambda, rate;
    bool averaging;
};

struct ascent {
    struct arena arena; /* of the arrays below */
    struct clv_weight_layout layout;
    size_t size;
    enum step_rule rule;
    double lambda, rate;
    double table_variance; /* prior variance of pairwise weights relative to that of unary weights; 1 at first */
    double *w;             /* [size] */
    double *average;       /* [size] of the iterates, iterate h with weight h; NULL: not computed */
    double *squares;       /* [size] AdaGrad's sums */
    double n_steps;
};

/* Starts at w = 0; `averaging` turns the average on. Release also after a failure. */
enum clv_status ascent_open(struct ascent *self, const struct clv_weight_layout *layout, struct ascent_rules rules,
                            struct clv_error *err) CLV_CHECK;
void ascent_release(struct ascent *self);

/* Sets the prior variance of pairwise weights. From then on they change as if their features were sqrt(variance) times
 * as large under the same lambda: their lambda is lambda / variance, and their steps are variance (published) or
 * sqrt(variance) (AdaGrad) times as long. */
void ascent_set_table_variance(struct ascent *self, double variance);

/* Returns lambda/2 <w, S^-1 w>, where S has the table variance for pairwise weights and 1 for the others. */
double ascent_penalty(const struct ascent *self, const double *w);

/* Starts at w[size] instead of 0, as if n_steps steps had led there. With n_steps 0 the first step of the published
 * rule would discard w. */
void ascent_start(struct ascent *self, const double *w, double n_steps);

/* Takes one step along gradient[size] of the data term. */
void ascent_step(struct ascent *self, const double *gradient);

/* Takes a step of rate times direction[size], which the caller has computed. */
void ascent_move(struct ascent *self, const double *direction);

/* Starts again from the last iterate, with another rate. */
void ascent_restart(struct ascent *self, double rate);

/* Returns the weights to use: the average if there is one, else the last iterate. */
const double *ascent_point(const struct ascent *self);

/* Checkpoint files hold facts of a training, which must be equal when it is resumed, and the learner's own tensors. */

struct checkpoints {
    const struct clv_training *training; /* if it has no checkpoints, the functions below do nothing */
    const struct clv_learner *learner;
    const char *format; /* of the file */
    uint64_t digest;    /* of the examples */
    double written_s;
};

/* Format names of the two checkpoint files: the learner's, and that of cross-validation, which runs first. Each reader
 * ignores a file with the other name. */
#define CHECKPOINT_OF_LEARNER "cleave checkpoint 1"
#define CHECKPOINT_OF_FOLDS   "cleave folds 1"

/* fingerprint: a number that depends on all features. */
void checkpoints_open(struct checkpoints *self, const struct clv_learner *learner, const struct clv_training *training,
                      double fingerprint);

/* Whether a checkpoint should be written now. */
bool checkpoint_is_due(const struct checkpoints *self);

enum clv_status checkpoint_write(struct checkpoints *self, const struct clv_tensor *state, size_t n,
                                 struct clv_error *err) CLV_CHECK;

/* Opens the checkpoint from which a training resumes. Sets *state, which clv_tensors_close releases, to it, or to NULL
 * if there is none. CLV_ERR_USAGE if the checkpoint is of another training; the message names the first difference. */
enum clv_status checkpoint_read(struct clv_tensors **state, const struct checkpoints *self,
                                struct clv_error *err) CLV_CHECK;
/* Decoders of learners, one per thread; their memory grows and is kept. */

struct decoder {
    struct clv_oracle *oracle;
    struct clv_field field;
    int32_t *y;                       /* [n_nodes] the labelling found */
    const struct clv_dataset *source; /* of the problems, see decoders_watch; NULL at first */
    uint8_t *is_visible;              /* [n_nodes] used by decode_by */
    size_t visible_capacity, unary_capacity, pairwise_capacity, y_capacity;
};

/* Makes n decoders; *decoders is NULL after a failure. */
enum clv_status decoders_new(struct decoder **decoders, int n, enum clv_engine engine, struct clv_error *err) CLV_CHECK;
void decoders_free(struct decoder *decoders, int n);

/* Sets the dataset to which the problems belong. From then on it is notified of each access (dataset_notify_access). */
void decoders_watch(struct decoder *decoders, int n, const struct clv_dataset *source);

/* y = argmax_y f(y) over all nodes, as in segmentation. */
enum clv_status decode(struct decoder *self, const struct clv_problem *problem, const struct clv_weight_layout *layout,
                       const double *w, struct clv_error *err) CLV_CHECK;

/* Decodes by a rule (NULL: by decode). Unlabelled nodes are the hidden ones. */
enum clv_status decode_by(struct decoder *self, const struct clv_decoding *decoding, const struct clv_problem *problem,
                          const struct clv_weight_layout *layout, const double *w, struct clv_error *err) CLV_CHECK;

/* Decode for training, without the unlabelled nodes. These nodes and their edges have score 0, and y is CLV_UNKNOWN
 * there. *score (may be NULL) is the field's maximum. decode_augmented maximises f(y) + L(y) - L(0), where L counts
 * known nodes only; L(0) is the loss of labelling all nodes 0; with more than two labels it is not subtracted
 * (clv_field_add_loss). The field stays loaded for field_expectation. */
enum clv_status decode_known(struct decoder *self, double *score, const struct clv_problem *problem,
                             const struct clv_weight_layout *layout, const double *w, struct clv_error *err) CLV_CHECK;
enum clv_status decode_augmented(struct decoder *self, double *score, const struct clv_problem *problem,
                                 const struct clv_weight_layout *layout, const double *w,
                                 struct clv_error *err) CLV_CHECK;

/* Load the fields that decode and decode_known solve and allocate y, for callers that change the unary scores before
 * they solve. */
enum clv_status decoder_load(struct decoder *self, const struct clv_problem *problem,
                             const struct clv_weight_layout *layout, const double *w, struct clv_error *err) CLV_CHECK;
enum clv_status decoder_load_known(struct decoder *self, const struct clv_problem *problem,
                                   const struct clv_weight_layout *layout, const double *w,
                                   struct clv_error *err) CLV_CHECK;

/* Returns the loaded field's score of the true labels of the known nodes. */
double decoder_truth_score(const struct decoder *self, const struct clv_problem *problem);

/* Sets marginals[n_nodes][n_labels] to those of a labelling: 1 at its labels, else 0. */
void marginals_of_labels(double *marginals, const int32_t *y, size_t n_nodes, size_t n_labels);

/* L(y) over known nodes. */
double known_loss(const struct clv_problem *problem, int32_t n_labels, const int32_t *y);

/* max_y L(y) over known nodes: the structured hinge at w = 0. */
double most_known_loss(const struct clv_problem *problem, int32_t n_labels);

/* Evaluation of weights by the losses of their labellings. clv_evaluate and clv_evaluate_all, which are public, return
 * the means. */

/* The parameters of clv_evaluate. */
struct evaluation {
    const struct clv_dataset *dataset;
    const int32_t *examples; /* [n_examples] */
    size_t n_examples;
    const struct clv_weight_layout *layout;
    const double *w;
    const struct clv_decoding *decoding;
    enum clv_engine engine;
    int n_threads;
};

/* Computes the loss of each example, losses[n_examples]. */
enum clv_status evaluate_each(double *losses, const struct evaluation *evaluation, struct clv_error *err) CLV_CHECK;

struct examples {
    const struct clv_training *training;
    struct clv_weight_layout layout; /* the training's layout, without pairwise terms if edges are off */
    struct clv_problem *problems;    /* [n] */
    size_t n;
    struct decoder *decoders; /* [n_threads] */
    int n_threads;
    double *truth_loss; /* [n] L(y_i); above 0 if superpixels have pixels of several labels */
    double most_loss;   /* mean over examples of max_y L_i(y), over known nodes */
    double mean_known;  /* known nodes of an example */
    double scale;       /* see examples_open */
    double node_scale;  /* mean |x|^2 of known nodes */
    double edge_scale;  /* mean |e|^2 of edges between known nodes; 0 without full tables */
};

/* Opens the training's examples. Sets `scale` to the mean over examples of N_i sum_n |x_n|^2, where n runs over the
 * example's N_i known nodes. Learners multiply lambda by it: with theta about 1/N_i per node, the structured objective
 * at (w / N, lambda N^2 |x|^2) is that of an ordinary SVM over unit features at (w, lambda), so that one lambda suits
 * any number of superpixels and any features. */
enum clv_status examples_open(struct examples *self, const struct clv_training *training, bool edges,
                              struct clv_error *err) CLV_CHECK;
void examples_release(struct examples *self);

/* Announces the next examples, next[n] in this order, so that their features are read ahead from files that are larger
 * than memory. Only the first few (MAX_EXPECTED) are used. */
void examples_expect(const struct examples *self, const int32_t *next, size_t n);

/* The units of C, lambda or a radius. relative: weights are measured as w s, so that one value suits features of any
 * size and any number of nodes; raw: weights are not scaled, as in papers. */
enum weight_units { UNITS_RELATIVE, UNITS_RAW };
extern const char *const weight_units[]; /* their names */

/* s^2, the `scale` of the examples, or 1. */
double examples_squared_unit(const struct examples *self, double units);

/* A condition on another parameter's value. `values` is OFF or ON for a number, 1 << index for a choice; combine them
 * with |. */
#define NEEDS(parameter, values)                                                                                       \
    {                                                                                                                  \
        CLV_NEEDS_VALUE, (parameter), (values)                                                                         \
    }
enum { OFF = 1, ON = 2 };

/* The row of a parameter inside a macro. */
#define ROW(...)                                                                                                       \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

/* The row of the parameter that sets the table variance. */
#define TABLE_VARIANCE_PARAMETER                                                                                       \
    {                                                                                                                  \
        "table-variance", 0, 0, 1e6,                                                                                   \
            "prior variance of full tables' weights against nodes'; 0: |x|^2 / |e|^2, by size", .needs = {             \
                {CLV_NEEDS_TABLES}                                                                                     \
            }                                                                                                          \
    }

/* Returns the ratio of the prior variance of a weight in a full pairwise table to that of a node's weight: `wanted` or,
 * if it is 0, node_scale / edge_scale, as if edge features were scaled to the size of node features. The score of a
 * pair of labels is one weight of a table, the score of a node a sum of many, so a common variance would shrink tables
 * long before nodes. Returns 1 for other forms. */
double examples_table_variance(const struct examples *self, double wanted);

/* Computes hinge[n], H_i(w) = max_y L(y) + f(y) - f(y_i) >= L(y_i), in parallel. CLV_ERR_INTERRUPTED when asked to
 * stop. */
enum clv_status examples_hinges(double *hinge, struct examples *self, const double *w, struct clv_error *err) CLV_CHECK;

/* Mean weighted Hamming loss on the examples; decoding NULL: MAP. */
enum clv_status examples_loss(double *loss, const struct examples *self, const double *w,
                              const struct clv_decoding *decoding, struct clv_error *err) CLV_CHECK;

/* Sets result->validation_loss[point] to the loss on the training's validation set, if it has one. Call it in the order
 * of points. */
enum clv_status examples_validate(struct clv_training_result *result, size_t point, const struct examples *self,
                                  const double *w, const struct clv_decoding *decoding,
                                  struct clv_error *err) CLV_CHECK;

/* Sets the negative couplings of Potts forms to 0. */
void project_couplings(double *w, const struct clv_weight_layout *layout);

/* The dual of the structured SVM with non-negative couplings, for block-coordinate Frank-Wolfe. */

/* A range of weights. */
struct dual_span {
    size_t begin, end;
};

/* A point of the dual. It has `size` weights; those from `free_size` on must not be negative. */
struct dual_point {
    size_t size, free_size;
    double lambda;
    const double *variance;        /* [size] diagonal of S, > 0; NULL: the identity */
    double *v;                     /* [size] the unconstrained combination sum_i v_i */
    double *w;                     /* [size] S times its projection: the primal point */
    const struct dual_span *spans; /* [n_spans] what the next delta can change, in order; NULL: all */
    size_t n_spans;
    double loss; /* l = (1/n) sum_i sum_y alpha_i(y) L_i(y) */
};

/* <a, b> in the metric of S^-1, in which |w|^2 is penalised. */
double dual_product(const struct dual_point *point, const double *a, const double *b);

/* D = -lambda/2 <w, S^-1 w> + l. */
double dual_value(const struct dual_point *point);

/* Returns the step in [0, 1] along `delta` (and loss_change in l) that raises D most, by exact line search; 0 if D does
 * not rise. */
double dual_line_search(const struct dual_point *point, const double *delta, double loss_change);

/* v += step * delta, w = S times the projection of v, l += step * loss_change. */
void dual_step(struct dual_point *point, const double *delta, double loss_change, double step);

/* Changes S, keeps the distributions and thus v, and computes w again. O(size). */
void dual_set_variance(struct dual_point *point, const double *variance);

/* Returns why no weight starts at random, as a clause for an error message, or NULL if some do. Either weights are
 * given, or `all_random` is false and start_weights would sample none. */
const char *random_start_unused_reason(const struct clv_training *training, bool all_random);

/* Sets the first weights of learners with hidden nodes: w[clv_weight_layout_size] = the training's init or, without
 * one, 0. Weights of features that occur only at hidden nodes or their edges are normal variables of this standard
 * deviation, because w = 0 is a saddle point at which indistinguishable hidden states stay equal. all_random: all
 * weights are such variables. */
enum clv_status start_weights(double *w, const struct clv_training *training, double deviation, bool all_random,
                              struct clv_error *err) CLV_CHECK;

/* Euclidean projection onto an L1 ball. */

/* w[n] = argmin_u |u - w|_2 subject to |u|_1 <= radius, radius > 0. scratch[n] is overwritten. Expected O(n): Duchi,
 * Shalev-Shwartz, Singer, Chandra: Efficient projections onto the l1-ball for learning in high dimensions (ICML 2008),
 * Figure 2. Pivots are medians of three instead of random entries, so that results are reproducible. */
void l1_ball_project(double *w, size_t n, double radius, double *scratch);

/* Functions on a row of the learners' table, besides the public ones. */

/* Returns why a parameter cannot change the result of a training, whatever its value, as a clause ("--paper is 1",
 * "every image has a mask"), which is in `space` if it had to be composed; NULL if it can. The values of other
 * parameters are taken into account. A training without a dataset is judged only by its parameters. */
#define UNUSED_REASON_SIZE 80
const char *learner_unused_reason(char space[UNUSED_REASON_SIZE], const struct clv_learner *learner,
                                  const struct clv_training *training, int parameter);

/* Index of the parameter of that role, or -1. */
int learner_role(const struct clv_learner *learner, enum clv_role role);

/* Value of the parameter of that role in a training (learner_setting), or `otherwise` if the learner has no such
 * parameter. */
double learner_value(const struct clv_learner *learner, const struct clv_training *training, enum clv_role role,
                     double otherwise);

/* Index of the parameter that cross-validation chooses, or -1: that of CLV_ROLE_LAMBDA_OF_MEAN, else of
 * CLV_ROLE_REGULARISATION. */
int learner_regularisation(const struct clv_learner *learner);

/* Whether the training follows the published algorithm, by the parameter of CLV_ROLE_PAPER. */
bool learner_is_published(const struct clv_learner *learner, const struct clv_training *training);

/* Returns the value of a parameter in a training; in a training as published the row's published value, if it has
 * one. */
double learner_setting(const struct clv_learner *learner, const struct clv_training *training, int parameter);

/* Estimated bytes that a training keeps beyond the data. */
double learner_bytes(const struct clv_learner *learner, const struct clv_training *training);

/* Returns the number of nodes of the training's examples with masks. */
double training_n_nodes(const struct clv_training *training);

/* Whether the learner can train this form for n_labels labels on graphs of this kind. */
bool learner_trains(const struct clv_learner *learner, enum clv_pairwise form, int32_t n_labels, enum clv_graph graph);

/* Functions that fill struct clv_training_result. */

/* Appends to the result's curve. */
enum clv_status curve_add(struct clv_training_result *result, struct clv_curve_point point,
                          struct clv_error *err) CLV_CHECK;

/* result->w = w, with zero couplings where they were not learned. For two labels with full tables sets the decoding to
 * CLV_DECODE_MAP, unless the learner has set another one. */
enum clv_status result_set(struct clv_training_result *result, const struct examples *self, const double *w,
                           struct clv_error *err) CLV_CHECK;

/* Sets result->variance in the same way. */
enum clv_status result_set_variance(struct clv_training_result *result, const struct examples *self,
                                    const double *variance, struct clv_error *err) CLV_CHECK;

/* Appends a note; at most CLV_MAX_NOTES. */
void result_note(struct clv_training_result *result, const char *name, double value);

/* The state of a training in its checkpoints: arrays by name, and the curve. */

/* The numbers that a field may have; reading any other number is an error. Positions are checked by their learners. */
enum state_range {
    STATE_FINITE,
    STATE_NOT_NEGATIVE, /* and finite */
    STATE_NUMBER,       /* or an infinity */
};

struct state_field {
    const char *name;
    enum clv_dtype dtype; /* CLV_F64, CLV_F32 or CLV_I64 */
    size_t n;
    void *values; /* [n] */
    enum state_range range;
};

#define STATE_MAX_FIELDS 24

/* Writes a checkpoint of at most STATE_MAX_FIELDS fields and the result's curve. */
enum clv_status state_write(struct checkpoints *checkpoints, const struct state_field *fields, size_t n,
                            const struct clv_training_result *result, struct clv_error *err) CLV_CHECK;

/* Fills the fields. CLV_ERR_DATA names the file, the array and its error. */
enum clv_status state_read(const struct state_field *fields, size_t n, const struct clv_tensors *tensors,
                           const struct checkpoints *checkpoints, struct clv_error *err) CLV_CHECK;

/* Fills the curve of a result that is still empty. */
enum clv_status state_read_curve(struct clv_training_result *result, const struct clv_tensors *tensors,
                                 const struct checkpoints *checkpoints, struct clv_error *err) CLV_CHECK;

/* Fails with CLV_ERR_DATA: the checkpoint has a state that the training never has; `what` describes it. */
enum clv_status state_refuse(const struct checkpoints *checkpoints, const char *what, struct clv_error *err) CLV_CHECK;

/* Returns whether a number of a position is in 0..most. */
static inline bool state_lies_within(int64_t number, size_t most)
{
    return number >= 0 && (uint64_t)number <= most;
}

/* The course of a training does what the loops of learners have in common. The loop itself is in the learner's file;
 * the course decides whether it continues, adds the points of the curve, writes the checkpoints and ends the training.
 * A point of the curve evaluates the weights of that moment.
 *
 *     course_open(&course, &NAME_learner, result, &examples);
 *     course.n_passes = ..;
 *     course.passes_per_point = 5;
 *     course_holds(&course, (struct state_field){"w", CLV_F64, size, w, STATE_FINITE});
 *     MUST(course_resume(&course, err));
 *     while (course_goes_on(&course))
 *         MUST(course_take(&course, course_needs_point(&course) ? add_point(..) : run_pass(..)));
 *     return course_end(&course, w, err);
 *
 * where run_pass takes its examples in an order that follows from course.pass, and add_point ends in course_add_point:
 *
 *     while (course_pass_goes_on(&course)) {
 *         .. a step on the examples order[course.n_taken], of which there are course_batch(&course) ..
 *         MUST(course_step(&course, err));
 *     }
 *
 * The state of a training is then its fields and its position: the number of complete passes, and of examples taken in
 * the next one. A training that was stopped or killed and is resumed from there gives the same bytes. Steps that are
 * stopped in the middle (CLV_ERR_INTERRUPTED) must leave the fields as they were. Learners with another kind of
 * position, or whose fields have to be gathered first, have a `save` and read their state themselves; their loops use
 * course_stops, course_take, course_keep, course_add_point and course_end. */
struct course {
    const struct clv_training *training;
    struct clv_training_result *result;
    const struct examples *examples;
    struct checkpoints checkpoints;
    struct state_field fields[STATE_MAX_FIELDS];
    size_t n_fields;
    enum clv_status (*save)(void *owner, struct clv_error *err); /* writes the checkpoint; NULL: fields and position */
    void *owner;
    size_t pass, n_passes;   /* complete ones, and all; passes, rounds or steps, which progress counts */
    size_t n_taken;          /* examples of the pass that its steps have used */
    const int32_t *order;    /* [n] examples in the order of the pass, which are read ahead; NULL: not known */
    size_t batch;            /* examples of a step; the last step of a pass may have fewer; 1 at first */
    size_t passes_per_point; /* the last pass has a point, too; 0: the loop decides */
    bool starts_with_point;  /* a point precedes the first pass */
    bool is_quiet;           /* points are not reported as progress */
    bool skips_loss;         /* points lack the loss on the examples, which would take another pass */
    bool is_begun;           /* steps may have been made, so preparations are not repeated */
    bool is_over;            /* set by a learner that needs no more passes */
    bool stopped;            /* the caller asked to stop */
    char note[256];          /* about the curve's last point */
};

/* Opens a course that has no fields and no passes yet. */
void course_open(struct course *self, const struct clv_learner *learner, struct clv_training_result *result,
                 const struct examples *examples);

/* Adds a field, unless its values are NULL, to the state. Values are not copied. Call it before course_resume. */
void course_holds(struct course *self, struct state_field field);

/* Fills fields, position and curve if there is a checkpoint of a training that had begun. */
enum clv_status course_resume(struct course *self, struct clv_error *err) CLV_CHECK;

/* Whether a point is due, or a pass is left and no stop was requested. */
bool course_goes_on(struct course *self);

/* Whether a point is due and the curve has none of this pass yet. */
bool course_needs_point(const struct course *self);

/* Whether the pass has another step. Once all of its examples are taken the pass is complete and is counted. */
bool course_pass_goes_on(struct course *self);

/* Returns the number of examples of the next step. */
size_t course_batch(const struct course *self);

/* Counts the step's examples as taken, and writes a checkpoint if one is due. */
enum clv_status course_step(struct course *self, struct clv_error *err) CLV_CHECK;

/* Whether the caller asked to stop, now or before. */
bool course_stops(struct course *self);

/* Returns a step's status. CLV_ERR_INTERRUPTED stops the course, and CLV_OK is returned for it. */
enum clv_status course_take(struct course *self, enum clv_status status) CLV_CHECK;

/* Writes a checkpoint if one is due. */
enum clv_status course_keep(struct course *self, struct clv_error *err) CLV_CHECK;

/* Adds a point to the curve and reports it: "objective .., gap .., training loss ..", or `note` in place of the first
 * two. The losses are those of w: on the examples, unless skips_loss is set, and on the training's validation set if it
 * has one. */
enum clv_status course_add_point(struct course *self, struct clv_curve_point point, const char *note, const double *w,
                                 struct clv_error *err) CLV_CHECK;

/* Sets the result: w, and whether the course was stopped. If it was, a last checkpoint is written. */
enum clv_status course_end(struct course *self, const double *w, struct clv_error *err) CLV_CHECK;

/* Vector arithmetic of learners. The dispatched kernels keep a fixed number of running sums, so that results are the
 * same on every machine. */

double mean_of(const double *values, size_t n);    /* summed in order */
double squares_of(const double *values, size_t n); /* |values|^2, summed in order */

double inner_product(const double *a, const double *b, size_t n);
void add_scaled(double *a, const double *b, double factor, size_t n); /* a += factor b */
void scale_by(double *a, double factor, size_t n);
void move_towards(double *a, const double *b, double share, size_t n); /* a += share (b - a) */

/* *inner = <a, b>, *squares = |b|^2. */
void dot_and_square(double *inner, double *squares, const double *a, const double *b, size_t n);

/* *inner = <a, b>, *squares = <b, S b> with S = diag(variance). */
void dot_and_scaled_square(double *inner, double *squares, const double *a, const double *b, const double *variance,
                           size_t n);

#endif
