#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "feature/dataset/dataset.h"
#include "learn/learners.h"
#include "learn/toy.h"
#include "support/exhaustive.h"

static const struct clv_weight_layout potts = {2, 8, 2, CLV_PAIRWISE_POTTS};

TEST(every_learner_has_a_sound_table)
{
    size_t n = 0;
    for (const struct clv_learner *learner; (learner = clv_learner_at(n)); n++) {
        ck_assert_ptr_eq(clv_learner_find(learner->name), learner);
        ck_assert_uint_gt(strlen(learner->summary), 10);
        struct clv_training training = {.parameters[CLV_MAX_PARAMETERS - 1] = 7};
        clv_training_defaults(&training, learner);
        int k = 0;
        for (; learner->parameters[k].name; k++) {
            const struct clv_parameter *p = &learner->parameters[k];
            ck_assert(p->minimum <= p->value && p->value <= p->maximum);
            ck_assert_uint_gt(strlen(p->help), 5);
            ck_assert_double_eq(training.parameters[k], p->value);
            ck_assert_int_eq(clv_learner_parameter(learner, p->name), k); /* no name twice */
            const char *const *names = learner->parameters[k].choices;
            size_t n_names = 0;
            while (names && names[n_names])
                n_names++;
            ck_assert(!names || (p->minimum == 0 && p->maximum + 1 == (double)n_names));
        }
        ck_assert(k > 0 && k <= CLV_MAX_PARAMETERS);
        ck_assert_double_eq(training.parameters[CLV_MAX_PARAMETERS - 1], 0);
    }
    ck_assert_uint_ge(n, 4);
    ck_assert_ptr_null(clv_learner_find("nearest"));
    ck_assert_int_eq(clv_learner_parameter(clv_learner_find("ssvm"), "nothing"), -1);
}

TEST(parameters_out_of_range_are_refused_by_name_and_value)
{
    OWNED(toy_release) struct toy toy = {0};
    toy_random(&toy, 3, 8, &potts, 1);
    struct clv_training_result result = {0};
    for (size_t l = 0; clv_learner_at(l); l++) {
        const struct clv_learner *learner = clv_learner_at(l);
        for (int k = 0; learner->parameters[k].name; k++) {
            struct clv_training training = toy_training(&toy, learner->name);
            training.parameters[k] = learner->parameters[k].minimum - 1;
            const char *message =
                formatted("%s: %s is %g", learner->name, learner->parameters[k].name, training.parameters[k]);
            must_fail(CLV_ERR_USAGE, message, clv_train(&result, learner, &training, err));
            training.parameters[k] = learner->parameters[k].maximum * 2 + 1;
            message = formatted("must be %g to %g", learner->parameters[k].minimum, learner->parameters[k].maximum);
            must_fail(CLV_ERR_USAGE, message, clv_train(&result, learner, &training, err));
            training.parameters[k] = NAN;
            must_fail(CLV_ERR_USAGE, "is nan", clv_train(&result, learner, &training, err));
        }
    }
    ck_assert_ptr_null(result.w);
}

TEST(examples_that_cannot_be_learned_from_are_refused)
{
    struct toy toy;
    toy_random(&toy, 3, 8, &potts, 1);
    const struct clv_learner *learner = clv_learner_find("ssvm");
    struct clv_training_result result = {0};
    struct clv_training good = toy_training(&toy, "ssvm"), bad = good;
    bad.n_examples = 0;
    must_fail(CLV_ERR_DATA, "0 examples", clv_train(&result, learner, &bad, err));
    bad = good;
    int32_t outside[] = {0, 3};
    bad.examples = outside;
    bad.n_examples = 2;
    must_fail(CLV_ERR_USAGE, "example 1 is number 3 of a dataset of 3", clv_train(&result, learner, &bad, err));
    bad = good;
    bad.layout.n_features = 9;
    must_fail(CLV_ERR_DATA, "toy0: problem has 8 features", clv_train(&result, learner, &bad, err));
    bad = good;
    bad.layout.n_labels = 3;
    must_fail(CLV_ERR_USAGE, "the layout has 3 labels, the data 2", clv_train(&result, learner, &bad, err));
    toy_release(&toy);

    static struct random_problem r;
    random_problem_fill(&r, &potts, 8, 0.3, 0.6, 1);
    struct clv_problem unlabelled = r.problem;
    unlabelled.label = NULL;
    unlabelled.theta = NULL;
    toy_begin(&toy, 2, 8, 2, CLV_PAIRWISE_POTTS);
    toy_add(&toy, &r.problem);
    toy_add(&toy, &unlabelled);
    bad = toy_training(&toy, "ssvm");
    must_fail(CLV_ERR_DATA, "toy1: has no true labels", clv_train(&result, learner, &bad, err));
    toy_release(&toy);

    for (int k = 0; k < 8; k++)
        r.label[k] = CLV_UNKNOWN;
    toy_begin(&toy, 2, 8, 2, CLV_PAIRWISE_POTTS);
    toy_add(&toy, &r.problem);
    bad = toy_training(&toy, "ssvm");
    must_fail(CLV_ERR_DATA, "known label", clv_train(&result, learner, &bad, err));
    toy_release(&toy);
    ck_assert_ptr_null(result.w);
}

/* Teachers append them node by node, and weigh them by shares of foreground. */
TEST(privileged_features_of_other_nodes_or_more_labels_are_refused)
{
    static const struct clv_weight_layout three = {3, 6, 0, CLV_PAIRWISE_NONE};
    const struct clv_learner *learner = clv_learner_find("ssvm");
    struct clv_training_result result = {0};
    struct clv_dataset *none;
    struct toy toy, other;
    must(clv_dataset_new(&none, 2, err));
    toy_random(&toy, 3, 8, &potts, 1);
    toy_random(&other, 3, 9, &potts, 1);
    struct clv_training training = toy_training(&toy, "ssvm");
    training.privileged = none;
    must_fail(CLV_ERR_USAGE, "privileged features of 0 examples, the dataset has 3",
              clv_train(&result, learner, &training, err));
    training.privileged = other.dataset;
    must_fail(CLV_ERR_USAGE, "example 0: privileged features of 9 nodes, it has 8",
              clv_train(&result, learner, &training, err));
    toy_release(&other);
    toy_random(&other, 3, 8, &three, 1);
    training = toy_training(&other, "ssvm");
    training.privileged = other.dataset;
    must_fail(CLV_ERR_USAGE, "privileged features take two labels, not 3", clv_train(&result, learner, &training, err));
    toy_release(&other);
    toy_release(&toy);
    clv_dataset_free(none);
    ck_assert_ptr_null(result.w);
}

TEST(a_training_uses_only_its_examples)
{
    OWNED(toy_release) struct toy part = {0}, whole = {0};
    toy_random(&part, 6, 12, &potts, 3);
    toy_random(&whole, 10, 12, &potts, 3); /* begins with the same six */
    struct clv_training a = toy_training(&part, "ssvm"), b = toy_training(&whole, "ssvm");
    b.n_examples = 6;
    OWNED(clv_training_result_release) struct clv_training_result of_a = run("ssvm", &a), of_b = run("ssvm", &b);
    ck_assert(!memcmp(of_a.w, of_b.w, 10 * sizeof(double)));
}

TEST(evaluation_is_the_mean_loss_of_the_map_labellings)
{
    OWNED(toy_release) struct toy toy = {0};
    toy_random(&toy, 5, 10, &potts, 6);
    double w[10], expected = 0, loss;
    for (size_t k = 0; k < 10; k++)
        w[k] = k < 8 ? rng_normal(1, RNG_TEST, k) : 0.3;
    for (size_t i = 0; i < toy.n; i++) {
        struct clv_problem p = clv_dataset_problem(toy.dataset, i);
        double unary[RANDOM_MAX_NODES], coupling[RANDOM_MAX_EDGES];
        struct clv_field field = {p.n_nodes, p.n_edges, 2, CLV_PAIRWISE_POTTS, p.edges, unary, coupling, 0};
        int32_t y[RANDOM_MAX_NODES];
        clv_unary_scores(unary, &p, &toy.layout, w);
        clv_pairwise_scores(coupling, &p, &toy.layout, w);
        exhaustive(y, NULL, NULL, NULL, &field);
        expected += clv_loss(&p, 2, y) / 5;
    }
    for (int threads = 1; threads <= 4; threads *= 2) {
        must(clv_evaluate(&loss, toy.dataset, toy.examples, toy.n, &toy.layout, w, NULL, CLV_ENGINE_DEFAULT, threads,
                          err));
        ck_assert_double_eq_tol(loss, expected, 1e-12);
    }
    struct clv_problem unknown = clv_dataset_problem(toy.dataset, 0); /* no truth: it does not count */
    unknown.label = NULL;
    unknown.theta = NULL;
    toy_add(&toy, &unknown);
    must(clv_evaluate_all(&loss, toy.dataset, &toy.layout, w, NULL, CLV_ENGINE_DEFAULT, 1, err));
    ck_assert_double_eq_tol(loss, expected, 1e-12);
    must_fail(CLV_ERR_USAGE, "no examples",
              clv_evaluate(&loss, toy.dataset, toy.examples, 0, &toy.layout, w, NULL, CLV_ENGINE_DEFAULT, 1, err));
}

/* A known node's label 0 goes with any label of a hidden one at .9, label 1 with one of them at 1. */
TEST(hidden_slices_of_a_window_are_labelled_and_other_hidden_nodes_are_summed_over)
{
    const double w[] = {0, 0, 0, 0.9, 0.9, 0.9, 1, -9, -9, -9, -9, -9};
    const struct clv_weight_layout layout = {3, 1, 1, CLV_PAIRWISE_FULL};
    const struct clv_problem pair = {.n_nodes = 2,
                                     .n_edges = 1,
                                     .n_features = 1,
                                     .n_edge_features = 1,
                                     .row = (const int64_t[]){0, 0, 0},
                                     .edges = (const int32_t[][2]){{0, 1}},
                                     .edge_features = (const float[]){1},
                                     .label = (const int32_t[]){0, CLV_UNKNOWN},
                                     .theta = (const float[]){1, 0, 0, 0, 0, 0}};
    const struct clv_decoding decoding = {CLV_DECODE_MARGINAL_MAP, 1};
    OWNED(dataset_drop) struct clv_dataset *dataset = NULL;
    double loss;
    must(clv_dataset_new(&dataset, 3, err));
    must(clv_dataset_add(dataset, &pair, "pair", err));
    for (int has_windows = 0; has_windows < 2; has_windows++) {
        dataset->has_windows = has_windows;
        must(clv_evaluate_all(&loss, dataset, &layout, w, &decoding, CLV_ENGINE_DEFAULT, 1, err));
        ck_assert_double_eq(loss, has_windows);
    }
}

/* Planted weights, then a tenth of the labels flipped, and few nodes for many features: no regularisation learns the
 * noise, too much learns nothing. */
static void toy_noisy(struct toy *toy)
{
    static struct random_problem r;
    struct clv_weight_layout layout = {2, 40, 1, CLV_PAIRWISE_NONE};
    toy_begin(toy, 2, 40, 1, CLV_PAIRWISE_NONE);
    for (uint64_t i = 0; i < 12; i++) {
        random_problem_fill(&r, &layout, 20, 0, 1, 500 + i);
        double total[2] = {0};
        for (int32_t k = 0; k < 20; k++) {
            double score = (double)(r.value[r.row[k]] - r.value[r.row[k] + 1]);
            r.label[k] = (score > 0) != (rng_uniform(i, RNG_TEST, 800000 + (uint64_t)k) < 0.2);
            total[r.label[k]] += (double)r.area[k];
        }
        for (int32_t k = 0; k < 20; k++)
            for (int32_t b = 0; b < 2; b++)
                r.theta[2 * k + b] = r.label[k] == b ? (float)((double)r.area[k] / (2 * total[b])) : 0;
        toy_add(toy, &r.problem);
    }
}

TEST(cross_validation_finds_the_regularisation_that_generalises)
{
    OWNED(toy_release) struct toy toy = {0};
    toy_noisy(&toy);
    const double candidates[] = {1e-9, 1e-3, 1e6};
    double best, losses[3], errors[3], again[3], best_again;
    struct clv_training training = toy_training(&toy, "ssvm");
    const struct clv_learner *learner = clv_learner_find("ssvm");
    int lambda = clv_learner_parameter(learner, "lambda");
    must(clv_cross_validate(&best, losses, errors, learner, &training, lambda, candidates, 3, 4, err));
    ck_assert_double_eq(best, 1e-3);
    ck_assert(losses[1] < losses[0] && losses[1] < losses[2]);
    for (int k = 0; k < 3; k++)
        ck_assert(errors[k] > 0 && errors[k] < 0.1);
    training.n_threads = 8;
    must(clv_cross_validate(&best_again, again, NULL, learner, &training, lambda, candidates, 3, 4, err));
    ck_assert(!memcmp(losses, again, sizeof losses) && best == best_again);
    training.seed = 99; /* other folds */
    must(clv_cross_validate(&best_again, again, NULL, learner, &training, lambda, candidates, 3, 4, err));
    ck_assert(memcmp(losses, again, sizeof losses) != 0);
}

/* Leave-one-out by hand. */
TEST(cross_validation_never_trains_on_what_it_tests)
{
    OWNED(toy_release) struct toy toy = {0};
    toy_random(&toy, 4, 10, &potts, 33);
    const double candidates[] = {1e-2};
    double best, loss, error, by_hand[4], mean = 0, variance = 0;
    struct clv_training training = toy_training(&toy, "subgradient");
    const struct clv_learner *learner = clv_learner_find("subgradient");
    training.seed = 6; /* which shuffles otherwise than 0 */
    set(&training, "subgradient", "lambda", candidates[0]);
    int32_t order[4]; /* of the examples, as the seed shuffles them for the folds */
    rng_permutation(order, 4, training.seed, RNG_STREAM(RNG_FOLD, 0));
    must(clv_cross_validate(&best, &loss, &error, learner, &training, 0, candidates, 1, 4, err));
    for (int fold = 0; fold < 4; fold++) {
        int32_t rest[3];
        for (int32_t k = 0, n = 0; k < 4; k++)
            if (k != fold)
                rest[n++] = order[k];
        struct clv_training one = training;
        one.examples = rest;
        one.n_examples = 3;
        set(&one, "subgradient", "lambda", candidates[0] * 4 / 3); /* lambda n stays */
        OWNED(clv_training_result_release) struct clv_training_result result = run("subgradient", &one);
        must(clv_evaluate(&by_hand[fold], toy.dataset, &order[fold], 1, &toy.layout, result.w, NULL, training.engine, 1,
                          err));
        mean += by_hand[fold] / 4;
    }
    for (int k = 0; k < 4; k++)
        variance += (by_hand[k] - mean) * (by_hand[k] - mean) / 3;
    ck_assert_double_eq_tol(loss, mean, 1e-12);
    ck_assert_double_eq_tol(error, sqrt(variance / 4), 1e-12);
    int n_others = 0; /* two folds are others by other seeds, which this learner takes no notice of */
    double first = 0, two;
    for (training.seed = 0; training.seed < 6; training.seed++) {
        must(clv_cross_validate(&best, &two, NULL, learner, &training, 0, candidates, 1, 2, err));
        first = training.seed ? first : two;
        n_others += two != first;
    }
    ck_assert_int_gt(n_others, 0);
    const double equal[] = {1e5, 1e6};
    double losses[2];
    must(clv_cross_validate(&best, losses, NULL, learner, &training, 0, equal, 2, 2, err));
    ck_assert_double_eq(losses[0], losses[1]);
    ck_assert_double_eq(best, 1e5); /* the first of the best */
}

/* Two problems of which every node has this label. */
static void toy_uniform(struct toy *toy, int32_t label)
{
    static struct random_problem r;
    toy_begin(toy, 2, potts.n_features, potts.n_edge_features, potts.pairwise);
    for (uint64_t i = 0; i < 2; i++) {
        random_problem_fill(&r, &potts, 10, 0.4, 0.6, 700 + i);
        for (int32_t k = 0; k < 10; k++) {
            r.label[k] = k == 3 ? CLV_UNKNOWN : label;
            r.theta[2 * k + label] = k == 3 ? 0 : 0.1F;
            r.theta[2 * k + 1 - label] = 0;
        }
        toy_add(toy, &r.problem);
    }
}

TEST(one_label_alone_separates_nothing)
{
    for (int32_t label = 0; label < 2; label++) {
        OWNED(toy_release) struct toy toy = {0};
        struct clv_training_result result = {0};
        toy_uniform(&toy, label);
        for (size_t l = 0; clv_learner_at(l); l++) {
            const struct clv_learner *learner = clv_learner_at(l);
            struct clv_training training = toy_training(&toy, learner->name);
            if (learner->trains & CLV_TRAINS_CUTS)
                must_fail(CLV_ERR_USAGE, formatted("all that is known of 2 examples is label %d", label),
                          clv_train(&result, learner, &training, err));
        }
        struct clv_training training = toy_training(&toy, "ssvm");
        must(train_part(&result, clv_learner_find("ssvm"), &training, err)); /* a fold may be so */
        clv_training_result_release(&result);
        ck_assert_ptr_null(result.w);
    }
}

TEST(one_label_will_do_where_something_else_is_known)
{
    static struct random_problem r;
    OWNED(toy_release) struct toy toy = {0};
    OWNED(clv_training_result_release) struct clv_training_result result = {0};
    int32_t outside[10] = {0};
    const int32_t weak[] = {2}, *const given[] = {outside}, *const nothing[] = {NULL};
    for (int32_t k = 4; k < 8; k++)
        outside[k] = CLV_UNKNOWN;
    toy_uniform(&toy, 0);
    random_problem_fill(&r, &potts, 10, 0.4, 0.6, 703);
    toy_add(&toy, &r.problem);
    toy.n = 2;
    struct clv_training training = toy_training(&toy, "wmpmap");
    training.weak = weak;
    training.n_weak = 1;
    training.given = given;
    must(clv_train(&result, clv_learner_find("wmpmap"), &training, err));
    clv_training_result_release(&result);
    training.given = nothing;
    must_fail(CLV_ERR_USAGE, "label 0", clv_train(&result, clv_learner_find("wmpmap"), &training, err));
    training.given = NULL;
    must_fail(CLV_ERR_USAGE, "label 0", clv_train(&result, clv_learner_find("wmpmap"), &training, err));
    training.n_weak = 0;
    training.n_examples = 3; /* the last one has both labels */
    must(clv_train(&result, clv_learner_find("wmpmap"), &training, err));
    clv_training_result_release(&result);
    toy_release(&toy);
    /* pixels of the other label, though no node is mostly theirs */
    toy_begin(&toy, 2, potts.n_features, potts.n_edge_features, potts.pairwise);
    for (int32_t k = 0; k < 10; k++) {
        r.label[k] = 0;
        r.theta[2 * k] = 0.1F;
        r.theta[2 * k + 1] = k == 9 ? 0.05F : 0;
    }
    toy_add(&toy, &r.problem);
    training = toy_training(&toy, "ssvm");
    must(clv_train(&result, clv_learner_find("ssvm"), &training, err));
}

static volatile int stopped = 1;

TEST(cross_validation_refuses_bad_requests_and_stops_when_asked)
{
    OWNED(toy_release) struct toy toy = {0};
    toy_random(&toy, 4, 8, &potts, 2);
    const struct clv_learner *learner = clv_learner_find("ssvm");
    struct clv_training training = toy_training(&toy, "ssvm");
    double best = -5, good[] = {1e-3}, bad[] = {1e-3, -1};
    must_fail(CLV_ERR_USAGE, "5 folds", clv_cross_validate(&best, NULL, NULL, learner, &training, 0, good, 1, 5, err));
    must_fail(CLV_ERR_USAGE, "1 folds", clv_cross_validate(&best, NULL, NULL, learner, &training, 0, good, 1, 1, err));
    must_fail(CLV_ERR_USAGE, "no candidates",
              clv_cross_validate(&best, NULL, NULL, learner, &training, 0, good, 0, 2, err));
    must_fail(CLV_ERR_USAGE, "no parameter number -1",
              clv_cross_validate(&best, NULL, NULL, learner, &training, -1, good, 1, 2, err));
    must_fail(CLV_ERR_USAGE, "no parameter number 23",
              clv_cross_validate(&best, NULL, NULL, learner, &training, 23, good, 1, 2, err));
    must_fail(CLV_ERR_USAGE, "lambda is -1",
              clv_cross_validate(&best, NULL, NULL, learner, &training, 0, bad, 2, 2, err));
    struct clv_progress progress = {.stop = &stopped};
    training.progress = &progress;
    must_fail(CLV_ERR_INTERRUPTED, "interrupted",
              clv_cross_validate(&best, NULL, NULL, learner, &training, 0, good, 1, 2, err));
    ck_assert_double_eq(best, -5);
}

static struct clv_training_result run_for(const char *learner, const struct toy *toy, double n_passes,
                                          const double *init)
{
    struct clv_training training = toy_training(toy, learner);
    set(&training, learner, "passes", n_passes);
    training.init = init;
    return run(learner, &training);
}

/* One pass from where many led is better than one pass from nothing. */
TEST(given_weights_are_a_start_or_refused_by_name)
{
    OWNED(toy_release) struct toy toy = {0};
    int n_started = 0;
    toy_random(&toy, 6, 12, &potts, 5);
    for (size_t l = 0; clv_learner_at(l); l++) {
        const struct clv_learner *learner = clv_learner_at(l);
        if (!(learner->trains & CLV_TRAINS_CUTS) || clv_learner_parameter(learner, "passes") < 0)
            continue;
        if (!learner->takes_init) {
            const double zeros[18] = {0};
            struct clv_training training = toy_training(&toy, learner->name);
            struct clv_training_result result = {0};
            training.init = zeros;
            must_fail(CLV_ERR_USAGE, formatted("%s cannot start from given weights", learner->name),
                      clv_train(&result, learner, &training, err));
            continue;
        }
        OWNED(clv_training_result_release) struct clv_training_result first = run_for(learner->name, &toy, 200, NULL);
        OWNED(clv_training_result_release) struct clv_training_result cold = run_for(learner->name, &toy, 1, NULL);
        OWNED(clv_training_result_release) struct clv_training_result warm = run_for(learner->name, &toy, 1, first.w);
        double from_cold = 0, from_warm = 0;
        for (size_t k = 0; k < clv_weight_layout_size(&toy.layout); k++) {
            from_cold += (cold.w[k] - first.w[k]) * (cold.w[k] - first.w[k]);
            from_warm += (warm.w[k] - first.w[k]) * (warm.w[k] - first.w[k]);
        }
        ck_assert_msg(from_warm < from_cold, "%s: %g from cold, %g from warm", learner->name, from_cold, from_warm);
        n_started++;
    }
    ck_assert_int_ge(n_started, 6);
}

static double last_objective(const struct clv_training_result *result)
{
    return result->curve[result->n_curve - 1].objective;
}

/* The same problem again from its solution: what was reached stays, after few passes or many. */
TEST(from_its_solution_a_sparse_learner_loses_nothing)
{
    static const struct {
        const char *learner, *solver;
        double value;
    } cases[] = {{"m3n", "solver", 0},
                 {"m3n", "solver", 1},
                 {"lapmedn", "update", 0},
                 {"lapmedn", "update", 1},
                 {"l1m3n", "paper", 0}};
    OWNED(toy_release) struct toy toy = {0};
    toy_random(&toy, 8, 12, &potts, 5);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct clv_training training = toy_training(&toy, cases[c].learner);
        set(&training, cases[c].learner, cases[c].solver, cases[c].value);
        if (clv_learner_parameter(clv_learner_find(cases[c].learner), "rounds") >= 0)
            set(&training, cases[c].learner, "rounds", 100);
        if (clv_learner_parameter(clv_learner_find(cases[c].learner), "gap") >= 0)
            set(&training, cases[c].learner, "gap", 0.005);
        set(&training, cases[c].learner, "passes", 1000);
        OWNED(clv_training_result_release) struct clv_training_result first = run(cases[c].learner, &training);
        training.init = first.w;
        for (double passes = 10; passes <= 1000; passes *= 100) {
            set(&training, cases[c].learner, "passes", passes);
            OWNED(clv_training_result_release) struct clv_training_result again = run(cases[c].learner, &training);
            ck_assert_msg(last_objective(&again) <= last_objective(&first) * (1 + 1e-9),
                          "%s %g, %g passes: %g after %g", cases[c].learner, cases[c].value, passes,
                          last_objective(&again), last_objective(&first));
            if (!isnan(again.curve[0].dual))
                ck_assert_double_ge(last_objective(&again), again.curve[again.n_curve - 1].dual);
        }
    }
}

/* 255 rows of two thousand million weights are more than any machine has. */
TEST(what_needs_more_memory_than_there_is_is_refused_before_it_starts)
{
    static struct random_problem r;
    const struct clv_weight_layout filled = {3, 8, 0, CLV_PAIRWISE_NONE};
    const int32_t n_features = 2000000000;
    OWNED(toy_release) struct toy toy = {0};
    toy_begin(&toy, 255, n_features, 0, CLV_PAIRWISE_NONE);
    random_problem_fill(&r, &filled, 4, 0, 0.6, 1);
    static float theta[4 * 255];
    r.problem.n_features = n_features;
    r.problem.theta = theta;
    toy_add(&toy, &r.problem);
    for (size_t l = 0; clv_learner_at(l); l++) {
        struct clv_training training = toy_training(&toy, clv_learner_at(l)->name);
        struct clv_training_result result = {0};
        must_fail(CLV_ERR_MEMORY, formatted("%s: what it keeps beyond the data may take ", clv_learner_at(l)->name),
                  clv_train(&result, clv_learner_at(l), &training, err));
    }
}
