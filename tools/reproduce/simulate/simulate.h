/* Simulated fields: problems drawn from random models, to learn from and to test on. Same seed, same problems at any
 * thread count; problem k of either set is the same however many there are.
 *
 *     struct hidden_options options;
 *     struct clv_dataset *train, *test;
 *     simulate_hidden_init(&options, HIDDEN_CHAIN);
 *     options.sigma_h = 5;
 *     status = simulate_hidden(&train, &test, &options, 0, &error);
 *
 * To read the source: hidden.c draws hidden chains and grids from hidden_model.c by hidden_sample.c; chain_crf.c and
 * noisy_image.c are one file each. main.c is the command line. */
#ifndef SIMULATE_H
#define SIMULATE_H

#include <stdbool.h>

#include "cleave/features.h"

/* Hidden chains and grids (Ping, Liu, Ihler: Marginal structured SVM with hidden variables, ICML 2014, section 7.1).
 *
 *     p(x, y, h) proportional to exp( sum_i w_xi[x_i] + sum_j w_yj[y_j] + sum_k w_hk[h_k]
 *                                     + sum_(i,j) w_ij[x_i, y_j] + sum_(i,k) w_ik[x_i, h_k]
 *                                     + sum_(j,k) w_jk[y_j, h_k] )
 *
 * Every node y_j and h_k has an input x of its own; edges otherwise join a y and an h: y and h alternate along a chain,
 * or are the two colours of a checkerboard. All variables have n_labels states. Weights are drawn once a seed from
 * normal distributions of mean 0. The paper leaves open whether weights are each node's own or shared, and whether
 * sigma is a deviation or a variance ("the variance parameters sigma_h"); both are options. */
enum hidden_graph { HIDDEN_CHAIN, HIDDEN_GRID };

struct hidden_options {
    enum hidden_graph graph;
    int32_t n_train, n_test; /* problems, >= 1; default 20 and 100 */
    int32_t n_labels;        /* 2..16, default 4 */
    int32_t size;            /* y and h nodes of the chain, 2..10000, default 20; side of the grid, 2..100, default 6 */
    double sigma_x, sigma_y, sigma_h;    /* of single weights, >= 0, default 0.1 */
    double sigma_xy, sigma_xh, sigma_yh; /* of pairwise ones, default 2 */
    bool sigma_is_deviation;             /* weights are N(0, sigma^2), else (default) N(0, sigma) */
    /* All y have the same ones, all h, all edges of a kind; else (default) each node and edge has its own. */
    bool shared_weights;
    int32_t n_sweeps; /* of Gibbs sampling on the grid, >= 1, default 1000 */
    uint64_t seed;    /* default 0 */
};
void simulate_hidden_init(struct hidden_options *options, enum hidden_graph graph);

/* Draws *train and *test from one model. Problems: the y nodes come first, so that edges go from a y to an h. A node's
 * features are the indicators of its x's state and a 1, at indices of its own (shared: of its kind); an edge's feature
 * is 1 at its own index (shared: at the only one); the pairwise form is full. With this the model itself is a weight
 * vector of the problems' shape. Labels of y are known, h are CLV_UNKNOWN; theta counts wrong y. x is summed out first;
 * chains are then sampled exactly (backward sums, forward sampling), grids by n_sweeps Gibbs sweeps from a uniform
 * start, each problem by a chain of its own. Refused with CLV_ERR_USAGE: options out of range. O((n_train + n_test)
 * nodes n_labels), n_sweeps times that on grids. */
enum clv_status simulate_hidden(struct clv_dataset **train, struct clv_dataset **test,
                                const struct hidden_options *options, int n_threads,
                                const struct clv_progress *progress, struct clv_error *err) CLV_CHECK;

/* Noisy images with missing labels (Ping, Liu and Ihler 2014, section 7.2).
 *
 * One image of 20 x 40 pixels and five labels, seen again and again through Gaussian noise: a pixel of label l = 0..4
 * is observed as x = l - 2 + noise. Features are x and a 1 (of x alone only two orders of the scores would follow),
 * edges join the 4-neighbours with feature 1, the pairwise form is full. */
#define NOISY_WIDTH  40
#define NOISY_HEIGHT 20

struct noisy_options {
    int32_t n_train, n_test; /* default 10 and 10 */
    double noise;            /* >= 0, default 5 */
    bool sigma_is_deviation; /* `noise` is a deviation, else (default) a variance */
    /* Shares of pixels without a label, 0 <= share < 1, drawn anew for each image; default 0.5 and 0. */
    double train_missing, test_missing;
    uint64_t seed; /* default 0 */
};
void simulate_noisy_init(struct noisy_options *options);
enum clv_status simulate_noisy(struct clv_dataset **train, struct clv_dataset **test,
                               const struct noisy_options *options, struct clv_error *err) CLV_CHECK;

/* Chains of a conditional random field with few relevant features (Zhu, Xing: Maximum entropy discrimination Markov
 * networks, JMLR 2009, section 7.1).
 *
 *     p(y | x) proportional to exp( sum_l sum_k w_k[y_l] x_lk + sum_l t[y_l, y_(l+1)] )
 *
 * over binary labels. Inputs x_lk are standard normal; those from n_relevant on have no bearing on y. With groups, each
 * group of the relevant ones is one normal draw with noise of its own on every member. Weights w and t are drawn once a
 * seed from N(0, 1). */
struct chain_crf_options {
    int32_t n_train, n_test; /* chains, >= 1; default 100 and 900 */
    int32_t n_nodes;         /* of a chain, 1..10000, default 8 */
    int32_t n_features;      /* 1..10000, default 100 */
    int32_t n_relevant;      /* the first ones, 0..n_features, default 10 */
    int32_t n_groups;        /* a divisor of n_relevant; default 0: all features are independent */
    double group_noise;      /* deviation, >= 0, default 0.05 */
    int32_t n_sweeps;        /* of Gibbs sampling, >= 1, default 5000 */
    uint64_t seed;           /* default 0 */
};
void simulate_chain_crf_init(struct chain_crf_options *options);

/* Draws *train and *test, and w[n_features + 4] (may be NULL), the model itself: w_k[1] - w_k[0] and t. Edge features
 * are 1, the pairwise form is full, theta counts wrong nodes. Each chain is sampled by a Gibbs sampler of its own from
 * a uniform start; chains of the same place in a set are the same however many there are. CLV_ERR_USAGE: options out of
 * range. O((n_train + n_test) n_nodes (n_features + n_sweeps)). */
enum clv_status simulate_chain_crf(struct clv_dataset **train, struct clv_dataset **test, double *w,
                                   const struct chain_crf_options *options, int n_threads,
                                   const struct clv_progress *progress, struct clv_error *err) CLV_CHECK;

#endif
