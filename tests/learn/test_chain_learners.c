#include <stdlib.h>

#include "feature/dataset/dataset.h"
#include "infer/oracle/oracle.h"
#include "learn/chains.h"
#include "learn/pmap/pmap.h"

static const struct clv_weight_layout apart = {3, 4, 0, CLV_PAIRWISE_NONE};

/* Perturb-and-MAP. */

static struct pmap_example random_example(struct random_problem *r, float *weight, int32_t n_nodes, bool is_shared,
                                          bool is_joint, uint64_t seed)
{
    random_chain(r, &chain_shape, n_nodes, is_shared, seed);
    for (int32_t c = 0; c < n_nodes * 3; c++)
        weight[c] = (float)fmax(0, 2 * rng_uniform(seed, RNG_TEST, 70000 + (uint64_t)c) - 1);
    if (seed % 3 == 0 && n_nodes > 2)
        r->label[seed % (uint64_t)n_nodes] = CLV_UNKNOWN;
    return (struct pmap_example){.problem = r->problem, .weight = is_joint ? NULL : weight, .scale = 0.7};
}

/* The estimate by its definition, all labellings enumerated. */
static double slow_value(const struct pmap_example *example, const double *w, uint64_t seed, uint32_t draw)
{
    const struct clv_problem *p = &example->problem;
    double noise[RANDOM_MAX_NODES * 3] = {0}, best[RANDOM_MAX_NODES][3], top = -INFINITY, value = 0;
    int32_t y[RANDOM_MAX_NODES] = {0};
    gumbel_add(noise, p->n_nodes, 3, seed, draw);
    for (int32_t i = 0; i < p->n_nodes; i++)
        for (int32_t b = 0; b < 3; b++)
            best[i][b] = -INFINITY;
    do {
        double score = chain_score(p, &chain_shape, w, y);
        bool is_truth = true;
        for (int32_t i = 0; i < p->n_nodes; i++) {
            score += p->label[i] == CLV_UNKNOWN ? 0 : noise[3 * i + y[i]];
            is_truth = is_truth && (p->label[i] == CLV_UNKNOWN || p->label[i] == y[i]);
        }
        top = fmax(top, score);
        for (int32_t i = 0; i < p->n_nodes; i++)
            best[i][y[i]] = fmax(best[i][y[i]], score);
        if (is_truth && !example->weight)
            value = score;
    } while (next_labelling(y, p->n_nodes, 3));
    if (!example->weight)
        return example->scale * (value - top);
    for (int32_t i = 0; i < p->n_nodes; i++)
        for (int32_t b = 0; b < 3 && p->label[i] != CLV_UNKNOWN; b++)
            value += (double)example->weight[3 * i + b] * (best[i][b] - top);
    return example->scale * value;
}

TEST(gradient_is_that_of_the_estimate_by_its_definition)
{
    struct decoder *decoder;
    OWNED(pmap_workspace_release) struct pmap_workspace space = {0};
    must(decoders_new(&decoder, 1, CLV_ENGINE_DEFAULT, err));
    int n_tables = 0;
    for (uint64_t seed = 0; seed < 48; seed++) {
        static struct random_problem r;
        float weight[RANDOM_MAX_NODES * 3];
        double w[CHAIN_SIZE], gradient[CHAIN_SIZE], h = 1e-5, value;
        struct pmap_example example =
            random_example(&r, weight, 1 + (int32_t)(seed % 6), seed & 1, seed % 4 == 3, seed);
        for (size_t k = 0; k < CHAIN_SIZE; k++)
            w[k] = 0.7 * rng_normal(seed, RNG_TEST, 80000 + k);
        for (int switches = 0; switches < 4; switches++) {
            struct pmap_draws draws = {chain_shape, switches & 1, switches & 2, seed};
            must(pmap_draw(&value, gradient, &(struct pmap_estimate){&draws, &example, 5, w}, &space, decoder, err));
            ck_assert_double_eq_tol(value, slow_value(&example, w, seed, 5), 1e-10);
            for (size_t k = 0; k < CHAIN_SIZE; k++) {
                double up[CHAIN_SIZE], down[CHAIN_SIZE];
                memcpy(up, w, sizeof w);
                memcpy(down, w, sizeof w);
                up[k] += h;
                down[k] -= h;
                double slope = (slow_value(&example, up, seed, 5) - slow_value(&example, down, seed, 5)) / (2 * h);
                ck_assert_double_eq_tol(gradient[k], slope, 1e-4 * fabs(slope) + 1e-7);
                n_tables += k >= 12 && slope != 0;
            }
        }
    }
    ck_assert_int_gt(n_tables, 500);
    decoders_free(decoder, 1);
}

/* With a table of zeros the nodes are apart, and the mean of the estimates is the softmax's log-likelihood; its
 * gradient in the unary weights is multinomial logistic regression's. */
TEST(without_couplings_the_expected_gradient_is_logistic_regressions)
{
    static struct random_problem r;
    struct decoder *decoder;
    OWNED(pmap_workspace_release) struct pmap_workspace space = {0};
    enum { N_DRAWS = 40000 };
    must(decoders_new(&decoder, 1, CLV_ENGINE_DEFAULT, err));
    random_chain(&r, &chain_shape, 4, true, 3);
    const struct clv_problem *p = &r.problem;
    float weight[RANDOM_MAX_NODES * 3] = {0};
    double w[CHAIN_SIZE] = {0}, unary[RANDOM_MAX_NODES * 3], expected[12] = {0}, value = 0;
    for (int32_t i = 0; i < p->n_nodes; i++)
        weight[3 * i + p->label[i]] = 1;
    for (size_t k = 0; k < 12; k++)
        w[k] = rng_normal(3, RNG_TEST, k);
    clv_unary_scores(unary, p, &chain_shape, w);
    for (int32_t i = 0; i < p->n_nodes; i++) {
        double *u = &unary[3 * i], sum = exp(u[0]) + exp(u[1]) + exp(u[2]);
        value += u[p->label[i]] - log(sum);
        for (int32_t b = 0; b < 3; b++)
            for (int64_t k = p->row[i]; k < p->row[i + 1]; k++)
                expected[4 * b + p->index[k]] += ((b == p->label[i]) - exp(u[b]) / sum) * (double)p->value[k];
    }
    for (int is_marginal = 0; is_marginal < 2; is_marginal++) {
        struct pmap_example example = {.problem = *p, .weight = is_marginal ? weight : NULL, .scale = 1};
        struct pmap_draws draws = {chain_shape, true, true, 8};
        double mean[12] = {0}, mean_value = 0, gradient[CHAIN_SIZE], one;
        for (uint32_t draw = 0; draw < N_DRAWS; draw++) {
            must(pmap_draw(&one, gradient, &(struct pmap_estimate){&draws, &example, draw, w}, &space, decoder, err));
            mean_value += one / N_DRAWS;
            for (size_t k = 0; k < 12; k++)
                mean[k] += gradient[k] / N_DRAWS;
        }
        ck_assert_double_eq_tol(mean_value, value, 0.05);
        for (size_t k = 0; k < 12; k++)
            ck_assert_double_eq_tol(mean[k], expected[k], 0.04);
    }
    decoders_free(decoder, 1);
}

/* The structured hinge. */

static double slow_hinge(const struct clv_problem *p, const double *w, int32_t *worst)
{
    int32_t y[RANDOM_MAX_NODES] = {0};
    double truth = chain_score(p, &chain_shape, w, p->label), best = -INFINITY;
    do {
        double value = clv_loss(p, 3, y) + chain_score(p, &chain_shape, w, y) - truth;
        if (value > best) {
            best = value;
            if (worst)
                memcpy(worst, y, (size_t)p->n_nodes * sizeof *y);
        }
    } while (next_labelling(y, p->n_nodes, 3));
    return best;
}

/* The table's weights have `variance` times the nodes' prior variance. */
static double slow_objective(const struct toy *toy, const double *w, double lambda, double variance)
{
    double squares = 0, hinge = 0;
    for (size_t k = 0; k < CHAIN_SIZE; k++)
        squares += w[k] * w[k] / (k < 12 ? 1 : variance);
    for (size_t i = 0; i < toy->n; i++) {
        struct clv_problem p = clv_dataset_problem(toy->dataset, i);
        hinge += slow_hinge(&p, w, NULL) / (double)toy->n;
    }
    return lambda / 2 * squares + hinge;
}

/* |x|^2 / |e|^2, with e = 1. */
static double own_variance(const struct toy *toy)
{
    double squares = 0, n_nodes = 0;
    for (size_t i = 0; i < toy->n; i++) {
        struct clv_problem p = clv_dataset_problem(toy->dataset, i);
        n_nodes += p.n_nodes;
        for (int64_t k = p.row[0]; k < p.row[p.n_nodes]; k++)
            squares += (double)p.value[k] * (double)p.value[k];
    }
    return squares / n_nodes;
}

/* The dual is a lower bound of any objective, the gap closes, and the objective reported is that of the weights by
 * enumeration; whatever the tables' prior variance. */
TESTS(ssvm_on_chains_brackets_the_optimum, 0, 3)
{
    static const double wanted[] = {1, 4, 0};
    OWNED(toy_release) struct toy toy = {0};
    toy_chains(&toy, 12, &chain_shape, 5);
    double variance = wanted[_i] > 0 ? wanted[_i] : own_variance(&toy);
    struct clv_training training = toy_training(&toy, "ssvm");
    set(&training, "ssvm", "lambda", 0.01);
    set(&training, "ssvm", "table-variance", wanted[_i]);
    set(&training, "ssvm", "gap", 1e-4);
    set(&training, "ssvm", "passes", 3000);
    OWNED(clv_training_result_release) struct clv_training_result result = run("ssvm", &training);
    double lambda = 0.01 * toy_scale(&toy), at_end = slow_objective(&toy, result.w, lambda, variance);
    const struct clv_curve_point *last = &result.curve[result.n_curve - 1];
    ck_assert_double_eq_tol(last->objective, at_end, 1e-9);
    ck_assert_double_le(last->dual, at_end);
    ck_assert_double_le(at_end - last->dual, 1e-4 * at_end);
    for (size_t i = 0; i < result.n_curve; i++)
        ck_assert_double_le(result.curve[i].dual, at_end + 1e-12);

    /* A plain subgradient method, which shares the definition only, does not get below. */
    double w[CHAIN_SIZE] = {0}, average[CHAIN_SIZE] = {0};
    for (int t = 1; t <= 4000; t++) {
        double g[CHAIN_SIZE] = {0};
        for (size_t i = 0; i < toy.n; i++) {
            struct clv_problem p = clv_dataset_problem(toy.dataset, i);
            int32_t worst[RANDOM_MAX_NODES];
            slow_hinge(&p, w, worst);
            clv_joint_feature_add(g, &p, &chain_shape, worst, 1 / (double)toy.n);
            clv_joint_feature_add(g, &p, &chain_shape, p.label, -1 / (double)toy.n);
        }
        for (size_t k = 0; k < CHAIN_SIZE; k++) {
            double v = k < 12 ? 1 : variance;
            w[k] -= 2 / (lambda * (t + 1)) * (lambda * w[k] + v * g[k]);
            average[k] += 2 / ((double)t + 1) * (w[k] - average[k]);
        }
    }
    double slow = slow_objective(&toy, average, lambda, variance);
    ck_assert_double_ge(slow, last->dual);
    ck_assert_double_eq_tol(slow, at_end, 0.02 * at_end);
}

/* The optimum of 1/2 |w|^2 + C sum H at C = 0.1 on the first fold of the OCR words, H unnormalised, was found elsewhere
 * to be between 182.05 and 182.65. */
TEST(ssvm_brackets_the_known_optimum_of_real_letters)
{
    const char *path = real_data("ssvm_brackets_the_known_optimum_of_real_letters", "letters/letter.data.gz");
    OWNED(letters_release) struct letters letters = {0};
    struct toy toy = {.layout = {LETTER_LABELS, LETTER_FEATURES, 1, CLV_PAIRWISE_FULL}};
    if (!path)
        return;
    must(letters_read(&letters, path, err));
    must(letters_dataset(&toy.dataset, &letters, (uint8_t[LETTER_MAX_FOLDS]){1}, err));
    toy.n = clv_dataset_size(toy.dataset);
    ck_assert_uint_eq(toy.n, 626);
    int32_t examples[626];
    for (int32_t i = 0; i < 626; i++)
        examples[i] = i;
    struct clv_training training = toy_training(&toy, "ssvm");
    double total = 0.1 * 626; /* C n, by which the sums are n times the means */
    training.examples = examples;
    set(&training, "ssvm", "lambda", 1 / (total * toy_scale(&toy)));
    set(&training, "ssvm", "table-variance", 1);
    set(&training, "ssvm", "gap", 0.01);
    set(&training, "ssvm", "passes", 400);
    OWNED(clv_training_result_release) struct clv_training_result result = run("ssvm", &training);
    const struct clv_curve_point *last = &result.curve[result.n_curve - 1];
    ck_assert_double_le(total * last->dual, 182.65);
    ck_assert_double_ge(total * last->objective, 182.05);
    ck_assert_double_le(last->objective - last->dual, 0.01 * last->objective);
    clv_dataset_free(toy.dataset);
}

/* All of them. */

/* Chains whose labels follow from features and neighbours: every learner finds weights that say so. */
TEST(every_learner_learns_planted_chains)
{
    static const char *const learners[] = {"ssvm", "perceptron", "subgradient", "pmap", "mpmap", "wmpmap"};
    OWNED(toy_release) struct toy toy = {0};
    static struct random_problem r;
    struct decoder *decoder;
    double planted[CHAIN_SIZE];
    for (size_t k = 0; k < CHAIN_SIZE; k++)
        planted[k] = (k < 12 ? 1 : 2) * rng_normal(11, RNG_TEST, k);
    must(decoders_new(&decoder, 1, CLV_ENGINE_DEFAULT, err));
    toy_begin(&toy, 3, 4, 1, CLV_PAIRWISE_FULL);
    for (uint64_t i = 0; i < 60; i++) {
        random_chain(&r, &chain_shape, 6, true, 900 + i);
        must(decode(decoder, &r.problem, &chain_shape, planted, err));
        for (int32_t k = 0; k < 6; k++)
            for (int32_t b = 0; b < 3; b++)
                r.theta[3 * k + b] = b == decoder->y[k];
        memcpy(r.label, decoder->y, 6 * sizeof *r.label);
        toy_add(&toy, &r.problem);
    }
    for (size_t k = 0; k < sizeof learners / sizeof *learners; k++) {
        struct clv_training training = toy_training(&toy, learners[k]);
        OWNED(clv_training_result_release) struct clv_training_result result = {0}, apart_result = {0};
        double loss = NAN, apart_loss = NAN;
        if (clv_learner_parameter(clv_learner_find(learners[k]), "lambda") >= 0)
            set(&training, learners[k], "lambda", 1e-6);
        result = run(learners[k], &training);
        training.layout = apart;
        apart_result = run(learners[k], &training);
        must(clv_evaluate(&loss, toy.dataset, toy.examples, toy.n, &toy.layout, result.w, NULL, 0, 1, err));
        must(clv_evaluate(&apart_loss, toy.dataset, toy.examples, toy.n, &apart, apart_result.w, NULL, 0, 1, err));
        ck_assert_msg(loss < 0.4, "%s: %g of 6 labels wrong", learners[k], loss);
        ck_assert_msg(apart_loss > 2 * loss + 0.5, "%s: %g without couplings", learners[k], apart_loss);
    }
    decoders_free(decoder, 1);
}

TEST(weak_chains_are_refused)
{
    OWNED(toy_release) struct toy toy = {0};
    toy_chains(&toy, 3, &chain_shape, 5);
    struct clv_training training = toy_training(&toy, "mpmap");
    struct clv_training_result result = {0};
    training.weak = toy.examples;
    training.n_weak = 1;
    must_fail(CLV_ERR_USAGE, "full pairwise tables", clv_train(&result, clv_learner_find("mpmap"), &training, err));
}
