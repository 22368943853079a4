/* Perturb-and-MAP learning, followed by a slow reference: of the learner only a draw's estimate (test_pmap.c) and
 * the marginals of weak examples (test_partial.c). And the estimate of full tables, by enumeration. */
#include <math.h>
#include <string.h>

#include "infer/oracle/oracle.h"
#include "learn/chains.h"
#include "learn/pmap/pmap.h"
#include "learn/slow_steps.h"
#include "learn/weak/weak.h"

enum { MASKS = 3, WEAK = 2, NODES = 8 };

/* What is asked for. */
struct wanted {
    bool is_weighted; /* wmpmap, else mpmap */
    bool adapts, averages, is_published;
    double lambda, rate, kappa;
    size_t passes, rounds, batch;
    const double *init;
    const struct clv_pseudo_labels *pseudo_labels; /* a teacher's, for the first round */
    uint64_t seed;
};

struct walk {
    struct toy *toy;
    struct wanted wanted;
    struct pmap_example list[MASKS + WEAK];
    float weight[MASKS + WEAK][2 * NODES];
    int32_t label[WEAK][NODES];
    double w[SLOW_MAX], mean[SLOW_MAX], squares[SLOW_MAX], n_steps, node_scale;
    uint32_t n_draws;
    struct decoder *decoder;
    struct pmap_workspace space;
};

static void begin(struct walk *self)
{
    double squares = 0;
    for (size_t i = 0; i < MASKS; i++) {
        struct clv_problem p = clv_dataset_problem(self->toy->dataset, i);
        for (int64_t k = p.row[0]; k < p.row[NODES]; k++)
            squares += (double)p.value[k] * (double)p.value[k] / (MASKS * NODES);
        for (int32_t k = 0; k < 2 * NODES; k++)
            self->weight[i][k] = self->wanted.is_weighted ? p.theta[k] : p.label[k / 2] == k % 2;
        self->list[i] = (struct pmap_example){
            .problem = p, .weight = self->weight[i], .scale = self->wanted.is_weighted ? 1 : 1.0 / NODES};
    }
    self->node_scale = squares;
    if (self->wanted.init) {
        memcpy(self->w, self->wanted.init, SLOW_SIZE * sizeof *self->w);
        memcpy(self->mean, self->w, sizeof self->mean);
        self->n_steps = ceil((double)(MASKS + WEAK) / (double)self->wanted.batch);
    }
}

/* Algorithm 4's marginals at the weights that would be returned now, and weights kappa to 1 that keep the mean. */
static void label_weak(struct walk *self, size_t round)
{
    struct partial_options options = {self->wanted.is_weighted, 20, self->wanted.is_published ? 1 : 2,
                                      self->wanted.is_published};
    double unit = self->wanted.is_weighted ? 1 : 1.0 / NODES, kappa = self->wanted.kappa;
    for (size_t k = 0; k < WEAK; k++) {
        struct clv_problem p = clv_dataset_problem(self->toy->dataset, MASKS + k);
        if (self->wanted.pseudo_labels && round == 1)
            must(partial_weigh((struct partial_labels){self->weight[MASKS + k], self->label[k]},
                               self->wanted.pseudo_labels->q[k], &p, &slow_shape, &options, err));
        else
            must(partial_marginals(
                (struct partial_labels){self->weight[MASKS + k], self->label[k]}, self->decoder,
                &(struct partial_example){&p, NULL, &slow_shape, self->wanted.averages ? self->mean : self->w},
                &options, (self->wanted.seed + round) ^ (0x6775657373ULL + ((uint64_t)k << 40)), err));
        p.label = self->label[k];
        self->list[MASKS + k] = (struct pmap_example){.problem = p, .weight = self->weight[MASKS + k], .scale = 1};
    }
    for (size_t i = 0; i < MASKS + WEAK; i++)
        self->list[i].scale = (i < MASKS ? 1 : kappa) * unit * (MASKS + WEAK) / (MASKS + kappa * WEAK);
}

static void take_step(struct walk *self, const int32_t *taken, size_t n)
{
    const struct pmap_draws draws = {slow_shape, true, true, self->wanted.seed};
    double gradient[SLOW_MAX] = {0}, one[SLOW_MAX], value, lambda = self->wanted.lambda * self->node_scale;
    for (size_t i = 0; i < n; i++) {
        must(pmap_draw(&value, one, &(struct pmap_estimate){&draws, &self->list[taken[i]], self->n_draws++, self->w},
                       &self->space, self->decoder, err));
        for (size_t k = 0; k < SLOW_SIZE; k++)
            gradient[k] += one[k] / (double)n;
    }
    self->n_steps++;
    for (size_t k = 0; k < SLOW_SIZE; k++) {
        double d = gradient[k] - lambda * self->w[k];
        self->squares[k] += d * d;
        self->w[k] += self->wanted.adapts ? self->wanted.rate / sqrt(self->node_scale) * d / sqrt(self->squares[k])
                                          : d / (lambda * self->n_steps);
    }
    slow_clip(self->w, self->toy);
    for (size_t k = 0; k < SLOW_SIZE; k++)
        self->mean[k] += 2 / (self->n_steps + 1) * (self->w[k] - self->mean[k]);
}

static void follow(struct walk *self)
{
    uint32_t pass = 0;
    begin(self);
    for (size_t round = 0; round <= self->wanted.rounds; round++) {
        size_t n = round ? MASKS + WEAK : MASKS;
        if (round)
            label_weak(self, round);
        for (size_t k = 0; k < self->wanted.passes; k++) {
            int32_t order[MASKS + WEAK];
            rng_permutation(order, n, self->wanted.seed, RNG_STREAM(RNG_ORDER, ++pass));
            for (size_t at = 0; at < n; at += self->wanted.batch)
                take_step(self, order + at, n - at < self->wanted.batch ? n - at : self->wanted.batch);
        }
    }
}

TEST(rounds_and_steps_are_those_of_algorithms_2_and_3)
{
    static const double init[SLOW_MAX] = {0.5, -0.3, 0.2, 0, 0.7, -1, 0.2, 0.4};
    OWNED(toy_release) struct toy toy = {0};
    toy_random(&toy, MASKS + WEAK, NODES, &slow_shape, 8);
    double drawn[WEAK][2 * NODES], *q[WEAK];
    for (size_t k = 0; k < WEAK; k++) {
        for (size_t i = 0; i < NODES; i++) {
            drawn[k][2 * i] = rng_uniform(k, RNG_TEST, i);
            drawn[k][2 * i + 1] = 1 - drawn[k][2 * i];
        }
        q[k] = drawn[k];
    }
    const struct clv_pseudo_labels pseudo_labels = {.q = q, .n = WEAK};
    for (int trial = 0; trial < 34; trial++) {
        static struct walk walk;
        bool is_published = trial >= 32; /* whatever the parameters say in whose place the source's are */
        const char *learner = trial & 1 ? "wmpmap" : "mpmap";
        walk = (struct walk){.toy = &toy,
                             .wanted = {.is_weighted = trial & 1,
                                        .adapts = !(trial & 2) && !is_published,
                                        .averages = !(trial & 4) && !is_published,
                                        .is_published = is_published,
                                        .lambda = 0.02,
                                        .rate = 0.4,
                                        .kappa = 0.3,
                                        .passes = 3,
                                        .rounds = 2,
                                        .batch = 2,
                                        .init = trial & 8 ? init : NULL,
                                        .pseudo_labels = trial & 16 && !is_published ? &pseudo_labels : NULL,
                                        .seed = 5}};
        must(decoders_new(&walk.decoder, 1, CLV_ENGINE_DEFAULT, err));
        follow(&walk);
        struct clv_training training = toy_training(&toy, learner);
        training.n_examples = MASKS;
        training.weak = toy.examples + MASKS;
        training.n_weak = WEAK;
        training.init = walk.wanted.init;
        training.seed = 5;
        set(&training, learner, "paper", is_published);
        set(&training, learner, "step", walk.wanted.adapts || is_published);
        set(&training, learner, "averaging", walk.wanted.averages || is_published);
        set(&training, learner, "lambda", 0.02);
        set(&training, learner, "rate", 0.4);
        set(&training, learner, "kappa", 0.3);
        set(&training, learner, "passes", 3);
        set(&training, learner, "rounds", 2);
        set(&training, learner, "batch", 2);
        set(&training, learner, "samples", 20);
        set(&training, learner, "sharpness", 2);
        OWNED(clv_training_result_release) struct clv_training_result result = {0};
        training.pseudo_labels = walk.wanted.pseudo_labels;
        must(clv_learner_find(learner)->train(&result, &training, err));
        for (size_t k = 0; k < SLOW_SIZE; k++)
            ck_assert_msg(fabs(result.w[k] - (walk.wanted.averages ? walk.mean : walk.w)[k]) < 1e-6,
                          "trial %d: weight %zu is %g, %g by the algorithm", trial, k, result.w[k],
                          (walk.wanted.averages ? walk.mean : walk.w)[k]);
        ck_assert_int_eq(result.decoding.rule, CLV_DECODE_ORACLE);
        decoders_free(walk.decoder, 1);
        pmap_workspace_release(&walk.space);
    }
}

/* Full tables. */

/* max (f + z)(y) of a chain, over labellings that give the node the label (node -1: all). */
static double best_score(const struct clv_problem *p, const double *w, const double *noise, int32_t node, int32_t b)
{
    int32_t y[RANDOM_MAX_NODES] = {0};
    double best = -INFINITY;
    do {
        if (node >= 0 && y[node] != b)
            continue;
        double score = chain_score(p, &chain_shape, w, y);
        for (int32_t i = 0; i < p->n_nodes; i++)
            score += noise[3 * i + y[i]];
        best = fmax(best, score);
    } while (next_labelling(y, p->n_nodes, 3));
    return best;
}

static double slow_value(const struct pmap_example *example, const double *w, uint64_t seed)
{
    double noise[3 * RANDOM_MAX_NODES] = {0}, value = 0;
    const struct clv_problem *p = &example->problem;
    gumbel_add(noise, p->n_nodes, 3, seed, 4);
    for (int32_t k = 0; k < 3 * p->n_nodes; k++)
        value += (double)example->weight[k] * (best_score(p, w, noise, k / 3, k % 3) - best_score(p, w, noise, -1, 0));
    return example->scale * value;
}

TEST(the_estimate_of_full_tables_and_its_gradient_are_those_by_enumeration)
{
    static struct random_problem r;
    struct decoder *decoder;
    OWNED(pmap_workspace_release) struct pmap_workspace space = {0};
    must(decoders_new(&decoder, 1, CLV_ENGINE_DEFAULT, err));
    for (uint64_t seed = 0; seed < 8; seed++) {
        float weight[3 * RANDOM_MAX_NODES];
        double w[CHAIN_SIZE], gradient[CHAIN_SIZE], value;
        random_chain(&r, &chain_shape, 4, seed % 2, seed);
        for (int32_t k = 0; k < 12; k++)
            weight[k] = (float)rng_uniform(seed, RNG_TEST, 500 + (uint64_t)k);
        for (size_t k = 0; k < CHAIN_SIZE; k++)
            w[k] = rng_normal(seed, RNG_TEST, 600 + k);
        const struct pmap_example example = {.problem = r.problem, .weight = weight, .scale = 0.7};
        const struct pmap_draws draws = {chain_shape, seed & 1, seed & 2, seed};
        must(pmap_draw(&value, gradient, &(struct pmap_estimate){&draws, &example, 4, w}, &space, decoder, err));
        ck_assert_double_eq_tol(value, slow_value(&example, w, seed), 1e-6);
        for (size_t k = 0; k < CHAIN_SIZE; k++) {
            double up[CHAIN_SIZE], down[CHAIN_SIZE];
            memcpy(up, w, sizeof w);
            memcpy(down, w, sizeof w);
            up[k] += 1e-5;
            down[k] -= 1e-5;
            double slope = (slow_value(&example, up, seed) - slow_value(&example, down, seed)) / 2e-5;
            ck_assert_double_eq_tol(gradient[k], slope, 1e-5);
        }
    }
    decoders_free(decoder, 1);
}

TEST(chains_are_decoded_by_their_marginals)
{
    OWNED(toy_release) struct toy toy = {0};
    toy_chains(&toy, 4, &chain_shape, 2);
    struct clv_training training = toy_training(&toy, "wmpmap");
    set(&training, "wmpmap", "passes", 2);
    OWNED(clv_training_result_release) struct clv_training_result result = run("wmpmap", &training);
    ck_assert_int_eq(result.decoding.rule, CLV_DECODE_MARGINALS);
}
