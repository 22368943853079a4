/* What every learner starts from: the chosen problems, and decoders for each thread.
 *
 * learn/common is what learners share. Read this first, then decoder.h (labellings under given weights) and result.h
 * (what a training hands back). The rest is for some: frank_wolfe.h (the dual of margins), ascent.h (stochastic
 * gradients), evaluate.h (losses), checkpoint.h with state.h, l1_ball.h, vectors.h. */
#ifndef LEARN_EXAMPLES_H
#define LEARN_EXAMPLES_H

#include <stdbool.h>

#include "cleave/learn.h"
#include "learn/common/decoder.h"

struct examples {
    const struct clv_training *training;
    struct clv_shape shape;       /* what is learned: the training's, without couplings when edges are off */
    struct clv_problem *problems; /* see examples_at */
    size_t n;
    struct decoder *decoders; /* [n_threads] */
    int n_threads;
    double *truth_loss; /* [n] L(y_i): not 0 where superpixels hold pixels of several labels */
    double scale;       /* see examples_open */
    double node_scale;  /* mean |x|^2 of known nodes */
    double edge_scale;  /* mean |e|^2 of edges between known nodes; 0 without full tables */
};

/* Opens the training's examples. `scale` becomes the mean over examples of N_i sum_n |x_n|^2 over their N_i known
 * nodes, by which learners multiply lambda: with theta about 1/N_i per node, the structured objective at (w / N, lambda
 * N^2 |x|^2) is that of an ordinary SVM over unit features at (w, lambda), so that one lambda suits any number of
 * superpixels and any features. */
enum clv_status examples_open(struct examples *self, const struct clv_training *training, bool edges,
                              struct clv_error *err) CLV_CHECK;
void examples_release(struct examples *self);

/* An example with its features, for this thread, until it takes another one. problems[] is enough where features and
 * edges are not looked at: those that are read on demand are not there. `keeps` as of loaded_item_load. */
enum clv_status examples_at(const struct clv_problem **problem, const struct examples *self, size_t index, int thread,
                            bool keeps, struct clv_error *err) CLV_CHECK;

/* The parameter that asks for it. */
#define TABLE_VARIANCE_PARAMETER                                                                                       \
    {                                                                                                                  \
        "table-variance", 0, 0, 1e6,                                                                                   \
            "prior variance of full tables' weights against nodes'; 0: |x|^2 / |e|^2, by size"                         \
    }

/* By how much the prior variance of a weight in a full pairwise table exceeds that of a node's weight: `wanted`, or if
 * that is 0 node_scale / edge_scale, as if edge features were scaled to the size of nodes'. A table's weight is about a
 * pair of labels and one number where a node's score adds up many, so that under one variance tables are shrunk long
 * before nodes are. 1 for other forms. */
double examples_table_variance(const struct examples *self, double wanted);

/* hinge[n]: H_i(w) = max_y L(y) + f(y) - f(y_i), at least L(y_i). In parallel. CLV_ERR_INTERRUPTED when asked to stop.
 */
enum clv_status examples_hinges(double *hinge, struct examples *self, const double *w, struct clv_error *err) CLV_CHECK;

/* Mean weighted Hamming loss on the examples. */
enum clv_status examples_loss(double *loss, struct examples *self, const double *w, struct clv_error *err) CLV_CHECK;

/* The couplings of Potts forms are not negative: w = max(w, 0) there. */
void project_couplings(double *w, const struct clv_shape *shape);

#endif
