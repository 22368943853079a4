/* Learners that climb a dual, followed by slow references: ssvm's blocks as dense vectors, independent's nodes. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "learn/margin/margin.h"
#include "learn/slow_steps.h"

/* Block-coordinate Frank-Wolfe. */

struct dual {
    double lambda, v[SLOW_MAX], loss; /* of all blocks */
    double block[64][SLOW_MAX], block_loss[64];
    double w[SLOW_MAX], average[SLOW_MAX];
};

static double slope_at(const struct dual *self, const struct toy *toy, const double *delta, double change, double t)
{
    double slope = change;
    for (size_t k = 0; k < SLOW_SIZE; k++) {
        double v = self->v[k] + t * delta[k];
        if (k < clv_weight_layout_unary_size(&toy->layout) || v > 0)
            slope -= self->lambda * v * delta[k];
    }
    return slope;
}

/* The t in 0..1 where D is highest, by bisection of its slope, which never rises. */
static double search(const struct dual *self, const struct toy *toy, const double *delta, double change)
{
    double low = 0, high = 1;
    if (slope_at(self, toy, delta, change, 1) >= 0)
        return 1;
    for (int i = 0; i < 100; i++) {
        double t = (low + high) / 2;
        *(slope_at(self, toy, delta, change, t) > 0 ? &low : &high) = t;
    }
    return low;
}

static void take_step(struct dual *self, const struct toy *toy, size_t example, double n_before)
{
    struct clv_problem p = clv_dataset_problem(toy->dataset, example);
    double n = (double)toy->n, psi[SLOW_MAX], delta[SLOW_MAX], *own = self->block[example];
    int32_t y[RANDOM_MAX_NODES];
    slow_decode(y, toy, example, self->w, true);
    slow_direction(psi, toy, example, self->w, true);
    double change = clv_loss(&p, 2, y) / n - self->block_loss[example];
    for (size_t k = 0; k < SLOW_SIZE; k++)
        delta[k] = psi[k] / (self->lambda * n) - own[k];
    double t = search(self, toy, delta, change);
    for (size_t k = 0; k < SLOW_SIZE; k++) {
        own[k] += t * delta[k];
        self->v[k] += t * delta[k];
        self->w[k] = self->v[k];
    }
    slow_clip(self->w, toy);
    self->block_loss[example] += t * change;
    self->loss += t * change;
    for (size_t k = 0; k < SLOW_SIZE; k++) /* Algorithm 4: rho = 2 / (k + 2) */
        self->average[k] += 2 / (n_before + 2) * (self->w[k] - self->average[k]);
}

static double value_of(const struct dual *self)
{
    double squares = 0;
    for (size_t k = 0; k < SLOW_SIZE; k++)
        squares += self->w[k] * self->w[k];
    return self->loss - self->lambda / 2 * squares;
}

/* The last iterate, or where that is asked for and better the average; and both bounds. */
TEST(ssvm_takes_the_steps_of_algorithm_4)
{
    int n_averages = 0;
    for (uint64_t seed = 0; seed < 10; seed++) {
        OWNED(toy_release) struct toy toy = {0};
        static struct dual dual;
        size_t n_passes = 3 + seed % 7, n_steps = 0;
        toy_mixed(&toy, 4, 7, seed);
        struct clv_training training = toy_training(&toy, "ssvm");
        set(&training, "ssvm", "sampling", 0);
        set(&training, "ssvm", "gap", 0);
        set(&training, "ssvm", "passes", (double)n_passes);
        set(&training, "ssvm", "lambda", 0.3);
        set(&training, "ssvm", "averaging", seed % 2);
        OWNED(clv_training_result_release) struct clv_training_result result = run("ssvm", &training);
        dual = (struct dual){.lambda = 0.3 * toy_scale(&toy)};
        for (size_t i = 0; i < toy.n; i++) {
            struct clv_problem p = clv_dataset_problem(toy.dataset, i);
            dual.block_loss[i] = clv_loss(&p, 2, p.label) / (double)toy.n;
            dual.loss += dual.block_loss[i];
        }
        for (uint32_t pass = 0; pass < n_passes; pass++) {
            int32_t order[64];
            rng_permutation(order, toy.n, training.seed, RNG_STREAM(RNG_ORDER, pass));
            for (size_t i = 0; i < toy.n; i++)
                take_step(&dual, &toy, (size_t)order[i], (double)n_steps++);
        }
        bool is_better = toy_objective(&toy, dual.average, dual.lambda) < toy_objective(&toy, dual.w, dual.lambda);
        const double *expected = seed % 2 && is_better ? dual.average : dual.w;
        n_averages += expected == dual.average;
        const struct clv_curve_point *last = &result.curve[result.n_curve - 1];
        ck_assert_double_eq_tol(last->objective, toy_objective(&toy, expected, dual.lambda), 1e-6);
        ck_assert_double_eq_tol(last->dual, value_of(&dual), 1e-6);
        for (size_t k = 0; k < SLOW_SIZE; k++)
            ck_assert_double_eq_tol(result.w[k], expected[k], 1e-6);
    }
    ck_assert_int_gt(n_averages, 0);
}

/* The weights of labellings in a block's dual distribution; the truth's own is not kept. */
TEST(support_is_the_labellings_that_have_weight)
{
    enum { N = 12, TRUTH = 5 };
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct bcfw_block block = {.truth = TRUTH};
        struct bcfw bcfw = {.blocks = &block, .n = 1};
        double share[N] = {[TRUTH] = 1};
        for (uint64_t t = 0; t < 40; t++) {
            uint32_t y = rng_below(seed, RNG_TEST, 2 * t, N);
            double step = rng_uniform(seed, RNG_TEST, 2 * t + 1);
            step = t % 10 == 9 ? 0.999 : step * step;
            must(block_move_support(&block, y, step, err));
            size_t n_some = 0, n_kept = 0;
            for (uint32_t b = 0; b < N; b++) {
                share[b] = (1 - step) * share[b] + (b == y ? step : 0);
                share[b] = share[b] > 1e-6 || b == TRUTH || b == y ? share[b] : 0; /* too little is forgotten */
                n_some += b != TRUTH && share[b] > 1e-3;
                n_kept += b != TRUTH && share[b] > 1e-6;
            }
            ck_assert_uint_eq(bcfw_n_support(&bcfw), n_some);
            ck_assert_uint_eq(block.n_support, n_kept);
            for (size_t k = 0; k < block.n_support; k++)
                ck_assert_double_eq_tol(block.support[k].share, share[block.support[k].labelling], 1e-12);
        }
        array_free(block.support);
    }
}

/* One node after another. */

/* Hsieh et al. 2008, Algorithm 1, two labels: alpha[0] of being 1, alpha[1] of being 0, in turn. */
static void update_node(double *w, double *alpha, const struct clv_problem *p, size_t node, double cost)
{
    for (int side = 0; side < 2; side++) {
        double s = side ? -1 : 1, score = 0, squares = 0, most = cost * (double)p->theta[2 * node + (side ? 0 : 1)];
        for (int64_t k = p->row[node]; k < p->row[node + 1]; k++) {
            score += w[p->index[k]] * (double)p->value[k];
            squares += (double)p->value[k] * (double)p->value[k];
        }
        if (squares == 0)
            continue;
        double fresh = fmin(fmax(alpha[side] - (s * score - 1) / squares, 0), most);
        for (int64_t k = p->row[node]; k < p->row[node + 1]; k++)
            w[p->index[k]] += s * (fresh - alpha[side]) * (double)p->value[k];
        alpha[side] = fresh;
    }
}

TEST(independent_takes_the_steps_of_algorithm_1)
{
    for (uint64_t seed = 1; seed < 5; seed++) {
        OWNED(toy_release) struct toy toy = {0};
        double w[SLOW_MAX] = {0}, lambda = 0.05, squares = 0, n_nodes = 0;
        static double alpha[64][RANDOM_MAX_NODES][2];
        memset(alpha, 0, sizeof alpha);
        toy_mixed(&toy, 4, 9, seed);
        struct clv_training training = toy_training(&toy, "independent");
        set(&training, "independent", "lambda", lambda);
        set(&training, "independent", "passes", 3);
        set(&training, "independent", "gap", 0);
        OWNED(clv_training_result_release) struct clv_training_result result = run("independent", &training);
        for (size_t i = 0; i < toy.n; i++) {
            struct clv_problem p = clv_dataset_problem(toy.dataset, i);
            n_nodes += p.n_nodes;
            for (int64_t k = p.row[0]; k < p.row[p.n_nodes]; k++)
                squares += (double)p.value[k] * (double)p.value[k];
        }
        double cost = 1 / ((double)toy.n * lambda * squares / n_nodes);
        for (uint32_t pass = 1; pass <= 3; pass++) {
            int32_t order[64], nodes[RANDOM_MAX_NODES];
            rng_permutation(order, toy.n, training.seed, RNG_STREAM(RNG_ORDER, 2 * pass));
            for (size_t i = 0; i < toy.n; i++) {
                size_t example = (size_t)order[i];
                struct clv_problem p = clv_dataset_problem(toy.dataset, example);
                rng_permutation(nodes, (size_t)p.n_nodes, training.seed + example, RNG_STREAM(RNG_ORDER, 2 * pass + 1));
                for (int32_t k = 0; k < p.n_nodes; k++)
                    update_node(w, alpha[example][nodes[k]], &p, (size_t)nodes[k], cost);
            }
        }
        for (size_t k = 0; k < 6; k++)
            ck_assert_double_eq_tol(result.w[k], w[k], 1e-9);
    }
}
