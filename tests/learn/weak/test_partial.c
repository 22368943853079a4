#include <math.h>
#include <string.h>

#include "feature/example/example.h"
#include "infer/oracle/oracle.h"
#include "learn/toy.h"
#include "learn/weak/weak.h"

static const struct partial_options plain = {false, 100, 1, false}, weighted = {true, 100, 1, false};
static const struct clv_weight_layout potts = {2, 6, 2, CLV_PAIRWISE_POTTS};

static void random_weights(double *w, uint64_t seed)
{
    for (size_t k = 0; k < 8; k++)
        w[k] = k < 6 ? rng_normal(seed, RNG_TEST, 80000 + k) : rng_uniform(seed, RNG_TEST, 80000 + k);
}

/* Gives every third node its label. */
static void give_some(int32_t *given, const struct random_problem *r)
{
    for (int32_t i = 0; i < r->problem.n_nodes; i++)
        given[i] = i % 3 == 1 ? r->label[i] : CLV_UNKNOWN;
}

/* argmax of f + z over the labellings that agree with what is given, by enumeration. */
static void slow_map(int32_t *best_y, const struct random_problem *r, const int32_t *given, const double *w,
                     const double *noise)
{
    const struct clv_problem *p = &r->problem;
    double unary[RANDOM_MAX_NODES], coupling[RANDOM_MAX_EDGES], best = -INFINITY;
    struct clv_field field = {p->n_nodes, p->n_edges, 2, CLV_PAIRWISE_POTTS, p->edges, unary, coupling, 0};
    clv_unary_scores(unary, p, &potts, w);
    clv_pairwise_scores(coupling, p, &potts, w);
    for (int32_t i = 0; i < p->n_nodes; i++)
        unary[i] += noise[i];
    for (uint32_t bits = 0; bits < 1U << p->n_nodes; bits++) {
        int32_t y[RANDOM_MAX_NODES];
        bool agrees = true;
        for (int32_t i = 0; i < p->n_nodes; i++) {
            y[i] = bits >> i & 1;
            agrees &= !given || given[i] == CLV_UNKNOWN || given[i] == y[i];
        }
        if (!agrees || clv_field_score(&field, y) <= best)
            continue;
        best = clv_field_score(&field, y);
        memcpy(best_y, y, (size_t)p->n_nodes * sizeof *y);
    }
}

TEST(marginals_count_conditional_draws)
{
    static struct random_problem r;
    struct decoder *decoder;
    enum { N = 9, DRAWS = 25 };
    int n_between = 0, n_moved = 0;
    must(decoders_new(&decoder, 1, CLV_ENGINE_DEFAULT, err));
    for (uint64_t seed = 0; seed < 8; seed++) {
        double w[8], count[N] = {0};
        float weight[2 * N];
        int32_t given[N], y[N], label[N];
        random_problem_fill(&r, &potts, N, 0.4, 0.6, seed);
        random_weights(w, seed);
        give_some(given, &r);
        const int32_t *what = seed % 4 == 3 ? NULL : given;
        for (uint32_t draw = 0; draw < DRAWS; draw++) {
            double noise[N] = {0};
            gumbel_add(noise, N, 2, seed, draw);
            int32_t freely[N];
            slow_map(y, &r, what, w, noise);
            slow_map(freely, &r, NULL, w, noise);
            for (int32_t i = 0; i < N; i++) {
                count[i] += y[i];
                n_moved += what && given[i] == CLV_UNKNOWN && y[i] != freely[i];
            }
        }
        must(partial_marginals((struct partial_labels){weight, label}, decoder,
                               &(struct partial_example){&r.problem, what, &potts, w},
                               &(struct partial_options){false, DRAWS, 1, false}, seed, err));
        for (int32_t i = 0; i < N; i++) {
            ck_assert_double_eq_tol((double)weight[2 * i + 1], count[i] / DRAWS, 1e-6);
            ck_assert_double_eq_tol((double)weight[2 * i], 1 - count[i] / DRAWS, 1e-6);
            ck_assert_int_eq(label[i], 2 * count[i] > DRAWS);
            n_between += count[i] > 0 && count[i] < DRAWS;
            if (what && given[i] != CLV_UNKNOWN)
                ck_assert_int_eq(label[i], given[i]);
        }
        double silent[N] = {0};
        slow_map(y, &r, what, w, silent);
        must(partial_map(label, decoder, &(struct partial_example){&r.problem, what, &potts, w}, err));
        ck_assert(!memcmp(label, y, sizeof y));
    }
    ck_assert_int_gt(n_between, 20);
    ck_assert_int_gt(n_moved, 50); /* what is given informs its neighbours */
    decoders_free(decoder, 1);
}

/* However strong the couplings: what is given holds, and the others are as if nothing else had ever been possible. */
TEST(given_labels_hold_against_any_coupling)
{
    static struct random_problem r;
    struct decoder *decoder;
    enum { N = 9 };
    int n_against = 0;
    must(decoders_new(&decoder, 1, CLV_ENGINE_DEFAULT, err));
    for (uint64_t seed = 0; seed < 20; seed++) {
        double w[8], silent[N] = {0};
        int32_t given[N], y[N], label[N];
        random_problem_fill(&r, &potts, N, 0.6, 0.6, seed);
        random_weights(w, seed);
        for (size_t k = 6; k < 8; k++)
            w[k] *= 300;
        for (size_t k = 0; k < 6; k++)
            w[k] *= 50;
        give_some(given, &r);
        slow_map(y, &r, given, w, silent);
        must(partial_map(label, decoder, &(struct partial_example){&r.problem, given, &potts, w}, err));
        ck_assert(!memcmp(label, y, sizeof y));
        slow_map(y, &r, NULL, w, silent);
        for (int32_t i = 0; i < N; i++)
            n_against += given[i] != CLV_UNKNOWN && y[i] != given[i];
    }
    ck_assert_int_gt(n_against, 10);
    decoders_free(decoder, 1);
}

/* The labels are three, and the edges of a chain have full tables. The best labelling of the forced field must be the
 * best of all labellings that agree with the given labels. */
TEST(given_labels_of_three_hold_against_any_table)
{
    enum { N = 4, K = 3, ALL = 81 };
    static const int32_t edges[N - 1][2] = {{0, 1}, {1, 2}, {2, 3}};
    for (uint64_t seed = 0; seed < 50; seed++) {
        double unary[N * K], tables[(N - 1) * K * K], best = -INFINITY, best_forced = -INFINITY;
        int32_t given[N] = {CLV_UNKNOWN, CLV_UNKNOWN, CLV_UNKNOWN, CLV_UNKNOWN}, wanted[N] = {0}, found[N] = {0};
        struct clv_field field = {N, N - 1, K, CLV_PAIRWISE_FULL, edges, unary, tables, false}, forced = field;
        for (size_t k = 0; k < N * K; k++)
            unary[k] = 20 * rng_normal(seed, RNG_TEST, k);
        for (size_t k = 0; k < (N - 1) * K * K; k++)
            tables[k] = 300 * rng_normal(seed, RNG_TEST, 100 + k);
        given[1] = (int32_t)(seed % K);
        given[3] = (int32_t)(seed / K % K);
        double forced_unary[N * K];
        memcpy(forced_unary, unary, sizeof unary);
        forced.unary = forced_unary;
        partial_force(&forced, given);
        for (int32_t code = 0; code < ALL; code++) {
            const int32_t y[N] = {code % K, code / K % K, code / (K * K) % K, code / (K * K * K)};
            double score = clv_field_score(&field, y), forced_score = clv_field_score(&forced, y);
            if (y[1] == given[1] && y[3] == given[3] && score > best) {
                best = score;
                memcpy(wanted, y, sizeof y);
            }
            if (forced_score > best_forced) {
                best_forced = forced_score;
                memcpy(found, y, sizeof y);
            }
        }
        ck_assert_msg(!memcmp(found, wanted, sizeof found), "seed %d", (int)seed);
    }
}

/* P_i(b) = q_i(b) V_b / sum q_i V with V_b = sum_i V_i (P_i(b) + 0.01), found by bisection on V_1, and the weights of a
 * label's expected pixels sum to a half. */
TEST(weights_come_from_the_areas_that_agree_with_the_marginals)
{
    static struct random_problem r;
    struct decoder *decoder;
    enum { N = 12 };
    double w[8], all = 0, total = 0, low = 1e-9, high;
    float q[2 * N], weight[2 * N];
    int32_t label[N], given[N];
    must(decoders_new(&decoder, 1, CLV_ENGINE_DEFAULT, err));
    random_problem_fill(&r, &potts, N, 0.3, 0.6, 77);
    random_weights(w, 77);
    for (size_t k = 0; k < 8; k++)
        w[k] *= 0.4;
    must(partial_marginals((struct partial_labels){q, label}, decoder,
                           &(struct partial_example){&r.problem, NULL, &potts, w}, &plain, 5, err));
    must(partial_marginals((struct partial_labels){weight, label}, decoder,
                           &(struct partial_example){&r.problem, NULL, &potts, w}, &weighted, 5, err));
    for (int32_t i = 0; i < N; i++)
        all += (double)r.area[i];
    high = all;
    double one = 0, paper = 0, sum[2] = {0}, p[2 * N];
    for (int step = 0; step < 60; step++) {
        one = (low + high) / 2;
        sum[0] = sum[1] = 0;
        for (int32_t k = 0; k < 2 * N; k++) {
            double prior[2] = {1.02 * all - one, one}, both = 0;
            for (int b = 0; b < 2; b++)
                both += (double)q[k / 2 * 2 + b] * prior[b];
            p[k] = (double)q[k] * prior[k % 2] / both;
            sum[k % 2] += (double)r.area[k / 2] * p[k];
        }
        *(sum[1] + 0.01 * all > one ? &low : &high) = one;
    }
    for (int32_t k = 0; k < 2 * N; k++) {
        ck_assert_double_eq_tol((double)weight[k], (double)r.area[k / 2] * p[k] / (2 * sum[k % 2]), 1e-3);
        total += (double)weight[k];
        paper += (double)r.area[k / 2] * (k % 2 ? (double)q[k] : 0);
    }
    ck_assert_double_eq_tol(total, 1, 1e-5);
    ck_assert_double_gt(fabs(paper - sum[1]), 0.05 * sum[1]); /* the paper's area is another */
    for (int32_t i = 0; i < N; i++) /* one label only: the other weighs nothing, and nothing is divided by 0 */
        given[i] = 0;
    must(partial_marginals((struct partial_labels){weight, label}, decoder,
                           &(struct partial_example){&r.problem, given, &potts, w}, &weighted, 5, err));
    for (int32_t i = 0; i < N; i++) {
        ck_assert_float_eq(weight[2 * i + 1], 0);
        ck_assert_float_gt(weight[2 * i], 0);
    }
    decoders_free(decoder, 1);
}

/* As published: q_i(b) theta_i(b) with V_b the sum of V_i q_i(b). */
TEST(published_weights_are_marginals_times_those_of_their_areas)
{
    static struct random_problem r;
    enum { N = 12 };
    float weight[2 * N];
    int32_t label[N];
    for (uint64_t seed = 0; seed < 5; seed++) {
        double q[2 * N], area[2] = {0};
        random_problem_fill(&r, &potts, N, 0.3, 0.6, seed);
        for (int32_t k = 0; k < 2 * N; k++) {
            q[k] = k % 2 ? 1 - q[k - 1] : rng_uniform(seed, RNG_TEST, (uint64_t)k);
            area[k % 2] += (double)r.area[k / 2] * q[k];
        }
        must(partial_weigh((struct partial_labels){weight, label}, q, &r.problem, &potts,
                           &(struct partial_options){true, 1, 1, true}, err));
        for (int32_t k = 0; k < 2 * N; k++)
            ck_assert_double_eq_tol((double)weight[k], q[k] * (double)r.area[k / 2] / (2 * area[k % 2]), 1e-6);
    }
}

TEST(sharper_marginals_are_their_powers)
{
    static struct random_problem r;
    struct decoder *decoder;
    enum { N = 12 };
    double w[8];
    float q[2 * N], cubed[2 * N];
    int32_t label[N];
    must(decoders_new(&decoder, 1, CLV_ENGINE_DEFAULT, err));
    random_problem_fill(&r, &potts, N, 0.3, 0.6, 3);
    random_weights(w, 3);
    struct partial_options sharp = {false, 100, 3, false};
    must(partial_marginals((struct partial_labels){q, label}, decoder,
                           &(struct partial_example){&r.problem, NULL, &potts, w}, &plain, 5, err));
    must(partial_marginals((struct partial_labels){cubed, label}, decoder,
                           &(struct partial_example){&r.problem, NULL, &potts, w}, &sharp, 5, err));
    for (int32_t k = 0; k < 2 * N; k++) {
        double own = pow((double)q[k], 3), other = pow((double)q[k ^ 1], 3);
        ck_assert_double_eq_tol((double)cubed[k], own / (own + other), 1e-6);
    }
    decoders_free(decoder, 1);
}

TEST(given_labels_hold_for_several_labels)
{
    static struct random_problem r;
    static const struct clv_weight_layout four = {4, 5, 0, CLV_PAIRWISE_NONE};
    struct decoder *decoder;
    enum { N = 20 };
    double w[20];
    float weight[4 * N];
    int32_t label[N], given[N];
    must(decoders_new(&decoder, 1, CLV_ENGINE_DEFAULT, err));
    random_problem_fill(&r, &four, N, 0, 0.6, 5);
    for (size_t k = 0; k < 20; k++)
        w[k] = 3 * rng_normal(1, RNG_TEST, k);
    give_some(given, &r);
    must(partial_marginals((struct partial_labels){weight, label}, decoder,
                           &(struct partial_example){&r.problem, given, &four, w}, &plain, 2, err));
    for (int32_t i = 1; i < N; i += 3) {
        ck_assert_int_eq(label[i], r.label[i]);
        ck_assert_float_eq(weight[4 * i + r.label[i]], 1);
    }
    decoders_free(decoder, 1);
}

static const char *const learners[] = {"pmap", "mpmap", "wmpmap"};

/* The first `n_masks` of the toy's examples have masks; the others give given[][]. */
static struct clv_training weak_training(const struct toy *toy, const char *learner, size_t n_masks,
                                         const int32_t *const *given)
{
    struct clv_training training = toy_training(toy, learner);
    training.n_examples = n_masks;
    training.weak = toy->examples + n_masks;
    training.n_weak = toy->n - n_masks;
    training.given = given;
    set(&training, learner, "passes", 60);
    set(&training, learner, "lambda", 1e-4);
    if (strcmp(learner, "pmap")) /* takes the MAP labelling */
        set(&training, learner, "samples", 20);
    return training;
}

static void add_random(struct toy *toy, size_t n, bool spoil, uint64_t seed)
{
    static struct random_problem r;
    for (size_t i = 0; i < n; i++) {
        random_problem_fill(&r, &potts, 15, 0.3, 0.6, seed + i);
        for (int32_t k = 0; k < 15 && spoil; k++) {
            r.label[k] = k % 2 ? CLV_UNKNOWN : 1 - r.label[k];
            r.theta[2 * k] = r.theta[2 * k + 1] = 5;
        }
        toy_add(toy, &r.problem);
    }
}

TEST(masks_of_weak_examples_are_never_read)
{
    OWNED(toy_release) struct toy honest = {0}, spoilt = {0};
    toy_begin(&honest, 2, 6, 2, CLV_PAIRWISE_POTTS);
    toy_begin(&spoilt, 2, 6, 2, CLV_PAIRWISE_POTTS);
    add_random(&honest, 3, false, 1);
    add_random(&spoilt, 3, false, 1);
    add_random(&honest, 5, false, 100);
    add_random(&spoilt, 5, true, 100);
    for (int l = 0; l < 3; l++) {
        struct clv_training a = weak_training(&honest, learners[l], 3, NULL);
        struct clv_training b = weak_training(&spoilt, learners[l], 3, NULL);
        OWNED(clv_training_result_release) struct clv_training_result of_a = run(learners[l], &a),
                                                                      of_b = run(learners[l], &b);
        ck_assert(!memcmp(of_a.w, of_b.w, 8 * sizeof(double)));
        a.n_weak = 0;
        OWNED(clv_training_result_release) struct clv_training_result alone = run(learners[l], &a);
        ck_assert(memcmp(of_a.w, alone.w, 8 * sizeof(double)) != 0);
    }
}

TEST(weak_examples_keep_bytes_at_any_thread_count)
{
    OWNED(toy_release) struct toy toy = {0};
    toy_begin(&toy, 2, 6, 2, CLV_PAIRWISE_POTTS);
    add_random(&toy, 20, false, 1);
    for (int l = 0; l < 3; l++) {
        struct clv_training training = weak_training(&toy, learners[l], 4, NULL);
        set(&training, learners[l], "rounds", 2);
        set(&training, learners[l], "passes", 6);
        OWNED(clv_training_result_release) struct clv_training_result one = run(learners[l], &training);
        ck_assert_double_eq(one.curve[one.n_curve - 1].pass, 18);
        for (int threads = 2; threads <= 8; threads *= 4) {
            training.n_threads = threads;
            OWNED(clv_training_result_release) struct clv_training_result many = run(learners[l], &training);
            ck_assert(!memcmp(one.w, many.w, 8 * sizeof(double)));
            ck_assert(!memcmp(one.curve, many.curve, one.n_curve * sizeof *one.curve));
        }
    }
}

/* Two masks cannot show what the labels depend on; labels given in the other images can. */
TEST(what_is_given_teaches)
{
    const double w[] = {1, -2, 0.5, 1.5, 0.3, -0.4, 0.7, 0.2};
    OWNED(toy_release) struct toy toy = {0};
    const int32_t *given[16];
    toy_planted(&toy, 18, 12, &potts, w, 6);
    int32_t turned[16][12];
    const int32_t *turned_rows[16];
    for (size_t i = 0; i < 16; i++) {
        given[i] = clv_dataset_problem(toy.dataset, 2 + i).label;
        turned_rows[i] = turned[i];
    }
    for (int l = 0; l < 3; l++) {
        double with, without;
        struct clv_training training = weak_training(&toy, learners[l], 2, given);
        set(&training, learners[l], "rate", 1);
        OWNED(clv_training_result_release) struct clv_training_result taught = run(learners[l], &training);
        training.n_weak = 0;
        OWNED(clv_training_result_release) struct clv_training_result alone = run(learners[l], &training);
        must(clv_evaluate(&with, toy.dataset, toy.examples, toy.n, &toy.layout, taught.w, NULL, training.engine, 1,
                          err));
        must(clv_evaluate(&without, toy.dataset, toy.examples, toy.n, &toy.layout, alone.w, NULL, training.engine, 1,
                          err));
        ck_assert_msg(with < 0.7 * without, "%s: %g, from the two masks alone %g", learners[l], with, without);
        /* given all labels none is left whose likelihood could matter: whatever they are, they teach nothing */
        struct clv_training_result conditional[2];
        training.n_weak = 16;
        set(&training, learners[l], "conditional", 1);
        for (int is_turned = 0; is_turned < 2; is_turned++) {
            for (int32_t k = 0; k < 16 * 12; k++)
                turned[k / 12][k % 12] = is_turned ? 1 - given[k / 12][k % 12] : given[k / 12][k % 12];
            training.given = turned_rows;
            conditional[is_turned] = run(learners[l], &training);
        }
        ck_assert_mem_eq(conditional[0].w, conditional[1].w,
                         clv_weight_layout_size(&toy.layout) * sizeof *conditional[0].w);
        ck_assert_mem_ne(conditional[0].w, taught.w, clv_weight_layout_size(&toy.layout) * sizeof *taught.w);
        clv_training_result_release(&conditional[0]);
        clv_training_result_release(&conditional[1]);
    }
}

/* With everything given, MAP labels are the given ones, and their weights those of masks of the nodes' areas. */
TEST(learners_without_marginals_take_map_labels_as_masks)
{
    static const char *const others[] = {"ssvm", "perceptron", "subgradient", "independent"};
    static struct random_problem r;
    OWNED(toy_release) struct toy weak = {0}, full = {0};
    const int32_t *given[5];
    toy_begin(&weak, 2, 6, 2, CLV_PAIRWISE_POTTS);
    toy_begin(&full, 2, 6, 2, CLV_PAIRWISE_POTTS);
    for (size_t i = 0; i < 8; i++) {
        random_problem_fill(&r, &potts, 15, 0.3, 0.6, 40 + i);
        toy_add(&weak, &r.problem);
        float counts[2 * 15] = {0};
        for (int32_t k = 0; k < 15; k++)
            counts[2 * k + r.label[k]] = r.area[k];
        if (i >= 3)
            balanced_theta(r.theta, counts, 15, 2);
        toy_add(&full, &r.problem);
    }
    for (size_t i = 0; i < 5; i++)
        given[i] = clv_dataset_problem(weak.dataset, 3 + i).label;
    for (int l = 0; l < 4; l++) {
        struct clv_training a = toy_training(&weak, others[l]), b = toy_training(&full, others[l]);
        a.n_examples = 3;
        a.weak = weak.examples + 3;
        a.n_weak = 5;
        a.given = given;
        OWNED(clv_training_result_release) struct clv_training_result of_a = run(others[l], &a),
                                                                      of_b = run(others[l], &b);
        ck_assert_msg(!memcmp(of_a.w, of_b.w, 8 * sizeof(double)), "%s differs", others[l]);
    }
}

TEST(weak_examples_are_checked_and_refused_by_name)
{
    OWNED(toy_release) struct toy toy = {0};
    toy_begin(&toy, 2, 6, 2, CLV_PAIRWISE_POTTS);
    add_random(&toy, 4, false, 1);
    int32_t wrong[15] = {[3] = 2}, none[1] = {9};
    const int32_t *given[] = {NULL, wrong};
    struct clv_training_result result = {0};
    struct clv_training training = weak_training(&toy, "wmpmap", 2, given);
    must_fail(CLV_ERR_DATA, "toy3: node 3: label 2", clv_train(&result, clv_learner_find("wmpmap"), &training, err));
    training.weak = none;
    training.n_weak = 1;
    must_fail(CLV_ERR_USAGE, "number 9", clv_train(&result, clv_learner_find("wmpmap"), &training, err));
    training = weak_training(&toy, "wmpmap", 0, NULL);
    must_fail(CLV_ERR_DATA, "0 examples", clv_train(&result, clv_learner_find("wmpmap"), &training, err));
    ck_assert_ptr_null(result.w);
}
