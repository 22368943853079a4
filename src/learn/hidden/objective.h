/* The unified objective of structured prediction with hidden variables (Ping, Liu & Ihler 2014, equation 5) and its
 * gradient. Visible nodes y are those whose label is known, the others, h, are hidden. Per example, with temperatures
 * T_y and T_h and the loss D,
 *
 *     U(w) = T_y log sum_y exp{ [D(y) + T_h log sum_h exp(f(y, h) / T_h)] / T_y }  -  T_h log sum_h exp(f(y_i, h) / T_h)
 *            free term                                                                clamped term
 *
 * T log sum exp(. / T) being the maximum at T = 0. Its gradient is the difference of the joint feature's expectations
 * under the two terms' distributions (equation 8).
 *
 * How the terms are worked out (inference.c):
 *   exactly          in trees where no connected hidden nodes join three visible ones (clv_forest_fits); the clamped term
 *                    wherever the hidden nodes alone make a forest; on graphs narrow enough for the cells that bucket
 *                    elimination is granted. Elsewhere by approximations:
 *   T_h = 0          TRW-S, which mostly proves its labelling the best
 *   T_y > 0          sum- or mixed-product, once from the messages of the step before and once from near the truth; the
 *                    higher Bethe value counts
 *   T_y = 0 < T_h    labellings y of mixed-product and of TRW-S, each worth the value of the hidden nodes given y; the best
 *                    one's term and gradient (equations 6 and 7)
 * At T_y = 0 the truth is a candidate as well. */
#ifndef LEARN_HIDDEN_OBJECTIVE_H
#define LEARN_HIDDEN_OBJECTIVE_H

#include <stdbool.h>

#include "learn/common/examples.h"

struct hidden_settings {
    double visible_temperature, hidden_temperature; /* T_y, T_h >= 0; T_y > 0 needs T_h > 0 */
    double margin;                                  /* D is the dataset's loss times this; 0: no loss */
    int32_t sweeps;                                 /* of belief propagation at most, per term */
    size_t cells;                                   /* of bucket elimination at most, per term */
};

/* Which terms of an example a pass works out. HIDDEN_LOOK is both, with messages and counts of runs left as they are:
 * how often one looks changes nothing of what is learned. */
enum hidden_terms { HIDDEN_FREE = 1, HIDDEN_CLAMPED = 2, HIDDEN_BOTH = 3, HIDDEN_LOOK = 7 };

/* What a term is worked out by. */
enum hidden_method { HIDDEN_PROPAGATION, HIDDEN_FOREST, HIDDEN_BUCKETS };

/* What messages are kept for: the two terms' belief propagation, and the free term's TRW-S. */
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

/* What a step found, to be put back if it is interrupted. */
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

/* Goes on at other temperatures, from no messages. */
enum clv_status hidden_set_temperatures(struct hidden *self, double visible, double hidden,
                                        struct clv_error *err) CLV_CHECK;

/* gradient[size] = mean over the n examples taken[n] of the joint feature's expectation under the free term minus that
 * under the clamped one, or of one of them alone; *free and *clamped (each may be NULL) the terms' means.
 * CLV_ERR_INTERRUPTED when asked to stop, which in trainings with checkpoints leaves everything as it was. Cost: the
 * terms' inference, and the non-zeros of nodes whose label is in doubt times the labels. */
enum clv_status hidden_gradient(double *gradient, double *free, double *clamped, struct hidden *self,
                                enum hidden_terms terms, const int32_t *taken, size_t n, const double *w,
                                struct clv_error *err) CLV_CHECK;

/* Notes how hard the free terms' belief propagation had it: sweeps on the mean, and the share that converged within as
 * many as it was granted. Nothing where all was exact. */
void hidden_note(struct clv_training_result *result, const struct hidden *hidden);

/* How weights learned at these temperatures are decoded. */
struct clv_decoding hidden_decoding(const struct hidden_settings *settings);

#endif
