/* Block-coordinate Frank-Wolfe on the structured hinge with a diagonal prior variance S:
 *
 *     min_w  lambda/2 <w, S^-1 w> + (1/n) sum_i H_i(w),  couplings >= 0,   H_i(w) = max_y L_i(y) + f_i(y) - f_i(y_i)
 *
 * With S = I that is the structured SVM, and the max-margin Markov network for lambda = 1/(C n). S may change between
 * two calls of bcfw_solve: the dual distributions stay, so that the second one starts warm. */
#ifndef LEARN_BCFW_H
#define LEARN_BCFW_H

#include "base/array.h"
#include "learn/common/examples.h"
#include "learn/common/frank_wolfe.h"
#include "learn/common/state.h"

struct bcfw_rules {
    size_t passes; /* at most, of one bcfw_solve */
    double gap;    /* ends once (objective - dual) / objective is this small */
    double unit;   /* of the objectives reported: 1 as above, C n for sum instead of mean */
    size_t batch;  /* examples that the oracle is asked about at one w, before their steps are taken; 0: 1 */
    bool averaging, sampling, edges;
    bool keeps_support; /* count labellings of positive dual weight */
    const double
        *start; /* [size] weights that are the best as long as no better ones are found, and whose answers to the oracle
                            the first pass steps towards; NULL: none */
};

/* A labelling of positive dual weight, identified by its hash. */
struct bcfw_share {
    uint64_t labelling;
    double share;
};

/* The dual variables of one example. */
struct bcfw_block {
    double *marginal; /* [n_nodes][rows] share of label 1, or of each label */
    double *pairwise; /* [pairwise_size] of E[Psi] */
    double loss;      /* E[L], known nodes */
    double gap;       /* n g_i when last seen */
    uint64_t truth;   /* hash of the true labels */
    struct bcfw_share *support;
    size_t n_support;
};

/* The oracle's answer, as a direction in the dual. */
struct bcfw_direction {
    int32_t *y;              /* [most nodes] */
    double *change;          /* [most nodes][rows] marginal - indicator of y */
    double *pairwise;        /* [pairwise_size] of Psi(x, y) */
    double *delta;           /* [size] of v, towards y; only in the spans */
    struct dual_span *spans; /* [rows + 1] */
    double loss;             /* L(y) */
    size_t n_spans, example;
};

#define BCFW_BUCKET 64 /* examples whose gaps are summed up together */

/* Where a bcfw_solve is. */
struct bcfw_place {
    size_t pass, draw; /* of the pass: this many are through */
    bool is_checked;   /* whether what comes before the pass's first step is through */
};

/* Its checkpoints, which hold arrays of the owner's as well. */
struct bcfw_keeper {
    struct checkpoints checkpoints;
    struct clv_training_result *result; /* with the curve */
    const struct state_field *own;      /* [n_own] */
    size_t n_own;
};

struct bcfw {
    struct arena arena; /* of the arrays below */
    const struct clv_training *training;
    struct bcfw_rules rules;
    struct examples examples;
    size_t n, n_rows, size, unary_size, pairwise_size;
    struct dual_point dual;            /* its lambda is set by the caller, once, before bcfw_solve */
    struct bcfw_block *blocks;         /* [n] */
    struct bcfw_direction *directions; /* [batch] */
    size_t batch;
    double *block_memory, *direction_memory;
    size_t block_memory_size;
    double *bucket_gap; /* [n / BCFW_BUCKET, rounded up] */
    int32_t *order;     /* [n] of the pass */
    double *average;    /* weighted mean of w over all steps, or NULL */
    double *hinge;      /* [n] of the checks */
    double *best;       /* the w of least objective so far */
    double best_objective, best_hinge, best_dual;
    size_t n_steps;
    uint32_t n_passes; /* that are through, of all calls */
    struct bcfw_place place;
    struct bcfw_keeper keeper; /* zeros: no checkpoints */
};

/* What --batch of a learner says. */
#define BCFW_BATCH_PARAMETER                                                                                           \
    {                                                                                                                  \
        "batch", 1, 1, 1024,                                                                                           \
            "examples whose worst labellings are sought side by side before steps are taken towards them"              \
    }

/* Opens the examples and starts the dual at the true labels. bcfw_release either way. */
enum clv_status bcfw_open(struct bcfw *self, const struct clv_training *training, const struct bcfw_rules *rules,
                          struct clv_error *err) CLV_CHECK;
void bcfw_release(struct bcfw *self);

/* Bytes that bcfw_open asks for, about: a block holds marginals of its nodes and a pairwise part. */
double bcfw_bytes(const struct clv_training *training, double batch);

/* S from here on: variance[size] > 0, not copied. The best weights so far stay a candidate: objectives never rise. */
void bcfw_set_variance(struct bcfw *self, const double *variance);

/* Keeps checkpoints of the learner's training, if it wants any, from here on: the result's curve and own[n_own] (not
 * copied) are in them. */
void bcfw_keep(struct bcfw *self, const struct clv_learner *learner, struct clv_training_result *result,
               const struct state_field *own, size_t n_own);

/* After bcfw_resume: S that was in use then, not copied. */
void bcfw_put_variance(struct bcfw *self, const double *variance);

/* Runs until the gap is closed or the passes are up; adds points to the result's curve, if it is not NULL. *stopped is
 * set when the caller asked to stop, after a checkpoint. The first call after bcfw_resume is the rest of the one that
 * was stopped. */
enum clv_status bcfw_solve(struct bcfw *self, struct clv_training_result *result, bool *stopped,
                           struct clv_error *err) CLV_CHECK;

/* The least objective's weights. After an interruption the latest average is as good an estimate as any without another
 * look at all examples. */
const double *bcfw_weights(const struct bcfw *self, bool stopped);

/* Labellings other than the truth that have more than a thousandth of their example's dual weight: the support of w. */
size_t bcfw_n_support(const struct bcfw *self);

#endif
