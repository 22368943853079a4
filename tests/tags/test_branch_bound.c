/* Branch and bound in belief networks, against every labelling. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "support/support.h"
#include "tags/tags.h"

enum { MAX_TAGS = 16 };

struct random_net {
    struct clv_belief_net net;
    double input[MAX_TAGS], *weight;
};

static double normal(uint64_t seed, uint32_t stream, uint64_t index)
{
    return rng_normal(seed, RNG_STREAM(RNG_TEST, stream), index);
}

static struct random_net make_net(int32_t n_tags, int32_t order, double input_scale, double weight_scale, uint64_t seed)
{
    struct random_net random = {.net = {n_tags, order, NULL}};
    size_t n = clv_belief_offset(n_tags, order);
    random.net.weight = random.weight = malloc((n + 1) * sizeof *random.weight);
    for (size_t k = 0; k < n; k++)
        random.weight[k] = weight_scale * normal(seed, 0, k);
    for (int32_t i = 0; i < n_tags; i++)
        random.input[i] = input_scale * normal(seed, 1, (uint64_t)i);
    return random;
}

/* The least loss of the decisions from i on, given y[0 .. i) and their loss; prunes nothing. */
static double least(const struct clv_belief_net *net, const double *input, const double *weight, double *y, int32_t i,
                    double loss)
{
    if (i == net->n_tags)
        return loss;
    double products[600], z = input[i], best = INFINITY;
    size_t n = clv_belief_count(i, net->order);
    clv_belief_products(products, y, i, net->order);
    for (size_t k = 0; k < n; k++)
        z += weight[k] * products[k];
    for (int side = -1; side <= 1; side += 2) {
        y[i] = side;
        double value = least(net, input, weight + n, y, i + 1, loss + fmax(0, 1 - side * z));
        best = fmin(best, value);
    }
    return best;
}

/* L(y), adding up the decisions in order. */
static double loss_of(const struct random_net *random, const int8_t *y)
{
    const struct clv_belief_net *net = &random->net;
    const double *weight = net->weight;
    double loss = 0, before[MAX_TAGS], products[600];
    for (int32_t i = 0; i < net->n_tags; i++) {
        double z = random->input[i];
        size_t n = clv_belief_count(i, net->order);
        clv_belief_products(products, before, i, net->order);
        for (size_t k = 0; k < n; k++)
            z += weight[k] * products[k];
        loss += fmax(0, 1 - y[i] * z);
        before[i] = y[i];
        weight += n;
    }
    return loss;
}

static void expect_least(int32_t n_tags, int32_t order, double input_scale, double weight_scale, uint64_t seed)
{
    struct random_net random = make_net(n_tags, order, input_scale, weight_scale, seed);
    struct clv_belief_result result;
    int8_t y[MAX_TAGS];
    double path[MAX_TAGS], expected = least(&random.net, random.input, random.weight, path, 0, 0);
    must(clv_belief_map(y, &result, &random.net, random.input, NULL, err));
    ck_assert_msg(
        fabs(result.loss - expected) <= 1e-9 * (1 + expected) && result.is_optimal && result.bound == result.loss,
        "seed %llu: %.17g, bound %.17g, least %.17g", (unsigned long long)seed, result.loss, result.bound, expected);
    ck_assert_double_eq_tol(loss_of(&random, y), result.loss, 1e-9 * (1 + expected));
    free(random.weight);
}

TEST(ten_thousand_random_networks_are_solved_as_by_enumeration)
{
    for (uint64_t seed = 0; seed < 10000; seed++) {
        int32_t n_tags = 1 + (int32_t)rng_below(seed, RNG_STREAM(RNG_TEST, 2), 0, MAX_TAGS);
        static const double scales[] = {0.1, 0.5, 1, 3};
        expect_least(n_tags, 2, scales[seed % 4], scales[seed / 4 % 4], seed);
    }
}

TEST(higher_orders_are_solved_as_by_enumeration)
{
    for (uint64_t seed = 0; seed < 600; seed++)
        expect_least(1 + (int32_t)(seed % 10), 1 + (int32_t)(seed % 4), 1, 0.5, seed);
}

TEST(products_come_in_their_documented_sequence)
{
    const double y[] = {2, 3, 5, 7}; /* not decisions, but products distinguish them */
    double products[14];
    ck_assert_uint_eq(clv_belief_count(4, 1), 0);
    ck_assert_uint_eq(clv_belief_count(4, 2), 4);
    ck_assert_uint_eq(clv_belief_count(4, 4), 14);
    ck_assert_uint_eq(clv_belief_offset(5, 4), 0 + 1 + 3 + 7 + 14);
    clv_belief_products(products, y, 4, 4);
    const double expected[] = {2, 3, 5, 7, 6, 10, 15, 14, 21, 35, 30, 42, 70, 105};
    ck_assert_mem_eq(products, expected, sizeof expected);
}

/* Theorem 9's situation: S cuts the search off where every labelling loses at least as much. */
TEST(below_s_the_answer_is_the_optimum_and_above_it_s_is_the_bound)
{
    int n_below = 0, n_above = 0;
    for (uint64_t seed = 0; seed < 500; seed++) {
        struct random_net random = make_net(10, 2, 1, 0.4, seed);
        struct clv_belief_result all, cut;
        int8_t y[MAX_TAGS];
        must(clv_belief_map(y, &all, &random.net, random.input, NULL, err));
        struct clv_belief_search search = {.s = 2.5};
        must(clv_belief_map(y, &cut, &random.net, random.input, &search, err));
        ck_assert(cut.n_nodes <= all.n_nodes);
        ck_assert_double_eq_tol(loss_of(&random, y), cut.loss, 1e-12);
        if (all.loss < 2.5) {
            n_below++;
            ck_assert(cut.is_optimal && cut.loss == all.loss);
        } else {
            n_above++;
            ck_assert(cut.bound == 2.5 && cut.is_optimal == (cut.loss <= 2.5) && cut.loss >= all.loss);
        }
        free(random.weight);
    }
    ck_assert(n_below > 50 && n_above > 50);
}

TEST(a_node_limit_leaves_a_true_bound)
{
    int n_open = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct random_net random = make_net(12, 2, 0.3, 0.3, seed);
        struct clv_belief_result all, some;
        int8_t y[MAX_TAGS];
        must(clv_belief_map(y, &all, &random.net, random.input, NULL, err));
        for (uint64_t limit = 1; limit < all.n_nodes + 2; limit += 1 + limit / 2) {
            struct clv_belief_search search = {.max_nodes = limit};
            must(clv_belief_map(y, &some, &random.net, random.input, &search, err));
            ck_assert(some.n_nodes <= limit && some.loss >= all.loss && some.bound <= all.loss + 1e-12);
            ck_assert(some.is_optimal == (some.bound == some.loss));
            ck_assert_double_eq_tol(loss_of(&random, y), some.loss, 1e-12);
            n_open += !some.is_optimal;
        }
        ck_assert(all.is_optimal);
        free(random.weight);
    }
    ck_assert_int_gt(n_open, 300);
}

TEST(a_confident_network_takes_one_node_a_decision)
{
    struct random_net random = make_net(12, 2, 0, 0.01, 1);
    struct clv_belief_result result;
    int8_t y[MAX_TAGS];
    for (int i = 0; i < 12; i++)
        random.input[i] = i % 3 ? -2 : 2;
    must(clv_belief_map(y, &result, &random.net, random.input, NULL, err));
    ck_assert(result.loss == 0 && result.n_nodes == 12 && y[0] == 1 && y[1] == -1);
    free(random.weight);
}

TEST(a_limit_of_0_is_none)
{
    struct random_net random = make_net(4, 2, 1, 1, 1);
    struct clv_belief_result limited, free_result;
    int8_t y[MAX_TAGS], other[MAX_TAGS];
    must(clv_belief_map(y, &free_result, &random.net, random.input, NULL, err));
    must(clv_belief_map(other, &limited, &random.net, random.input, &(struct clv_belief_search){.s = 0}, err));
    ck_assert_mem_eq(y, other, 4);
    ck_assert(limited.is_optimal && limited.loss == free_result.loss);
    free(random.weight);
}

TEST(bad_networks_are_refused_by_value)
{
    struct random_net random = make_net(4, 2, 1, 1, 1);
    struct clv_belief_result result = {.loss = -7};
    struct clv_belief_search search = {.s = -1};
    int8_t y[MAX_TAGS] = {7};
    must_fail(CLV_ERR_USAGE, "S is -1, must not be negative",
              clv_belief_map(y, &result, &random.net, random.input, &search, err));
    search.s = NAN;
    must_fail(CLV_ERR_USAGE, "S is nan", clv_belief_map(y, &result, &random.net, random.input, &search, err));
    random.input[2] = NAN;
    must_fail(CLV_ERR_DATA, "input of decision 2 is nan",
              clv_belief_map(y, &result, &random.net, random.input, NULL, err));
    random.input[2] = 0;
    random.weight[5] = INFINITY;
    must_fail(CLV_ERR_DATA, "weight 5 of a belief network is inf",
              clv_belief_map(y, &result, &random.net, random.input, NULL, err));
    random.weight[5] = 0;
    random.net.order = 5;
    must_fail(CLV_ERR_USAGE, "order 5", clv_belief_map(y, &result, &random.net, random.input, NULL, err));
    random.net.n_tags = 0;
    must_fail(CLV_ERR_USAGE, "0 decisions", clv_belief_map(y, &result, &random.net, random.input, NULL, err));
    ck_assert(y[0] == 7 && result.loss == -7);
    free(random.weight);
}
