/* Large margin sigmoid belief networks (Miao & Rao): decisions y_0 .. y_{K-1} in {-1, +1}, each of which depends on the
 * input and on the decisions before it. With a_i what the input says about decision i, and weights w for products of
 * earlier decisions,
 *     z_i(y) = y_i (a_i + sum_C w_iC prod_{j in C} y_j),   loss L(y) = sum_i max(0, 1 - z_i(y)),
 * and the prediction is the y of least loss, which branch and bound finds (Algorithm 2). */
#ifndef ANNOTATE_BELIEF_NET_H
#define ANNOTATE_BELIEF_NET_H

#include <stdbool.h>

#include "cleave/status.h"

#define CLV_MAX_BELIEF_ORDER 4
#define CLV_MAX_BELIEF_TAGS  4096

/* Decision i weighs the products of every 1 .. order - 1 of the i decisions before it, clv_belief_count(i, order) in
 * all: single ones j = 0 .. i - 1, then pairs (0,1) (0,2) (1,2) (0,3) .., then triples likewise, by their largest
 * member first. weight holds those of decision 0 (none), of decision 1, and so on, one after the other. */
struct clv_belief_net {
    int32_t n_tags; /* K */
    int32_t order;  /* decisions in a product, y_i included: 1 is y_i alone, 2 pairs, .. up to CLV_MAX_BELIEF_ORDER */
    const double *weight;
};

/* Products that decision i weighs; those of all decisions before i (so with i = K, the size of weight). */
size_t clv_belief_count(int32_t i, int32_t order);
size_t clv_belief_offset(int32_t i, int32_t order);

/* products[clv_belief_count(i, order)] of the decisions y[i], each -1 or 1. */
void clv_belief_products(double *products, const double *y, int32_t i, int32_t order);

/* L(y), adding up the decisions in order. input[K] is a; y[K] is -1 or 1. */
double clv_belief_loss(const struct clv_belief_net *net, const double *input, const int8_t *y);

struct clv_belief_search {
    double s;           /* S > 0: only labellings of less loss are looked for; INFINITY (what 0 means): all */
    uint64_t max_nodes; /* stop after so many; 0: no limit */
};

struct clv_belief_result {
    double loss;      /* of the y returned */
    double bound;     /* no labelling has less loss */
    bool is_optimal;  /* loss <= bound */
    uint64_t n_nodes; /* decisions tried: states of a prefix of y whose loss was computed */
};

/* Algorithm 2: depth first, the decision that agrees with its input and predecessors first, backing out where the loss
 * so far reaches that of the best labelling (at the start S). y[K] receives -1 or 1; if nothing below S was found, the
 * labelling that takes the first branch throughout, with bound S. Ties (z = 0) go to -1 first. search NULL: S infinite,
 * no limit. The number of nodes is exponential at worst, K where the first branch is right; memory O(K). Refused,
 * naming it: an input or weight that is not finite (CLV_ERR_DATA), K < 1, an order or S out of range (CLV_ERR_USAGE).
 */
enum clv_status clv_belief_map(int8_t *y, struct clv_belief_result *result, const struct clv_belief_net *net,
                               const double *input, const struct clv_belief_search *search,
                               struct clv_error *err) CLV_CHECK;

#endif
