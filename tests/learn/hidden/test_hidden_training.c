/* Training with hidden nodes: solvers, their bounds, what they are given and what they report. */
#include "base/base.h"
#include "learn/hidden/hidden.h"
#include "learn/hidden/hidden_toy.h"

static const char *const learners[] = {"mssvm", "lssvm", "hcrf", "eps"};

TEST(cccp_never_raises_its_objective)
{
    for (size_t l = 0; l < sizeof learners / sizeof *learners; l++)
        for (int paper = 0; paper < 2; paper++) {
            OWNED(toy_release) struct toy toy = {0};
            toy_hidden(&toy, 6, &full3, CHAINS, 4);
            struct clv_training training = toy_training(&toy, learners[l]);
            set(&training, learners[l], "solver", 2);
            set(&training, learners[l], "inner", 8);
            set(&training, learners[l], "passes", 120);
            set(&training, learners[l], "curve", 1);
            set(&training, learners[l], "paper", paper);
            OWNED(clv_training_result_release) struct clv_training_result result = run(learners[l], &training);
            ck_assert_uint_eq(result.n_curve, 15);
            for (size_t k = 1; k < result.n_curve; k++)
                ck_assert_double_le(result.curve[k].objective, result.curve[k - 1].objective + 1e-9);
            ck_assert_double_lt(result.curve[14].objective, result.curve[0].objective);
        }
}

/* Table 1 of Ping, Liu & Ihler (2014): the same weights as the learners that are named there, to the bytes. */
TEST(the_four_corners_of_the_objective_are_the_named_learners)
{
    static const struct {
        const char *learner;
        double visible, hidden, margin;
    } corners[] = {{"lssvm", 0, 0, 1}, {"mssvm", 0, 1, 1}, {"hcrf", 1, 1, 0}, {"hcrf", 1, 0, 0}};
    for (int solver = 0; solver < 3; solver++)
        for (size_t k = 0; k < sizeof corners / sizeof *corners; k++) {
            OWNED(toy_release) struct toy toy = {0};
            struct clv_training_result results[2];
            toy_hidden(&toy, 6, &full3, k % 2 ? CHAINS : LOOPS, 4);
            for (int is_eps = 0; is_eps < 2; is_eps++) {
                const char *learner = is_eps ? "eps" : corners[k].learner;
                struct clv_training training = toy_training(&toy, learner);
                set(&training, learner, "solver", solver);
                set(&training, learner, "passes", 20);
                set(&training, learner, "lambda", 1e-4);
                set(&training, learner, "margin", corners[k].margin);
                if (is_eps) {
                    set(&training, learner, "epsilon", corners[k].visible);
                    set(&training, learner, "hidden-epsilon", corners[k].hidden);
                }
                results[is_eps] = run(learner, &training);
            }
            ck_assert_mem_eq(results[0].w, results[1].w, clv_weight_layout_size(&full3) * sizeof *results[0].w);
            ck_assert_int_eq(results[0].decoding.rule, results[1].decoding.rule);
            clv_training_result_release(&results[0]);
            clv_training_result_release(&results[1]);
        }
}

/* Both temperatures free: CCCP, whose objective never rises, and AdaGrad come to the same, and neither to that of other
 * temperatures. */
TEST(both_temperatures_are_free)
{
    static const double cases[][2] = {{0.2, 0.8}, {0.8, 0.2}, {0, 0.4}};
    OWNED(toy_release) struct toy toy = {0};
    toy_hidden(&toy, 6, &full3, CHAINS, 5);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        double reached[2], w[2][64];
        for (int is_cccp = 0; is_cccp < 2; is_cccp++) {
            struct clv_training training = toy_training(&toy, "eps");
            set(&training, "eps", "solver", is_cccp ? 2 : 0);
            set(&training, "eps", "epsilon", cases[k][0]);
            set(&training, "eps", "hidden-epsilon", cases[k][1]);
            set(&training, "eps", "lambda", 0.05);
            set(&training, "eps", "curve", is_cccp ? 6 : 10);
            OWNED(clv_training_result_release) struct clv_training_result result = run("eps", &training);
            for (size_t at = 1; is_cccp && at < result.n_curve; at++)
                ck_assert_double_le(result.curve[at].objective, result.curve[at - 1].objective + 1e-9);
            reached[is_cccp] = result.curve[result.n_curve - 1].objective;
            ck_assert_int_eq(result.decoding.rule, CLV_DECODE_MARGINAL_MAP);
            ck_assert_double_eq(result.decoding.hidden_temperature, cases[k][1]);
            memcpy(w[is_cccp], result.w, clv_weight_layout_size(&full3) * sizeof *result.w);
        }
        ck_assert_msg(fabs(reached[0] - reached[1]) < 0.05 * reached[1], "%g %g: adagrad %g, cccp %g", cases[k][0],
                      cases[k][1], reached[0], reached[1]);
        { /* it is the objective of these temperatures that is lowest here */
            struct clv_training training;
            OWNED(hidden_release) struct hidden hidden = {0};
            double value, clamped, unused[64], other[64], squares[2] = {0, 0}, objective[2];
            int32_t all[6] = {0, 1, 2, 3, 4, 5};
            struct clv_training plain = toy_training(&toy, "eps");
            set(&plain, "eps", "solver", 2);
            set(&plain, "eps", "lambda", 0.05);
            OWNED(clv_training_result_release) struct clv_training_result result = run("eps", &plain); /* .5 and .5 */
            memcpy(other, result.w, clv_weight_layout_size(&full3) * sizeof *other);
            open_toy(&hidden, &training, &toy, cases[k][0], cases[k][1], 1);
            double lambda = 0.05 * hidden.examples.node_scale * hidden.mean_known;
            for (int at = 0; at < 2; at++) {
                const double *point = at ? other : w[1];
                must(hidden_gradient(unused, &value, &clamped, &hidden,
                                     &(struct hidden_pass){HIDDEN_BOTH, all, 6, point}, err));
                for (size_t i = 0; i < clv_weight_layout_size(&full3); i++)
                    squares[at] += point[i] * point[i];
                objective[at] = value - clamped + lambda / 2 * squares[at];
            }
            ck_assert_double_lt(objective[0], objective[1]);
            ck_assert_double_eq_tol(objective[0], reached[1], 1e-6 * reached[1]);
        }
    }
}

/* P of the convex problem at w. */
static double surrogate(struct hidden *hidden, const struct hidden_dual *dual, const double *w, const int32_t *all)
{
    double unused[64], value, squares = 0, plane = 0;
    must(hidden_gradient(unused, &value, NULL, hidden, &(struct hidden_pass){HIDDEN_FREE, all, hidden->examples.n, w},
                         err));
    for (size_t k = 0; k < hidden->size; k++) {
        squares += w[k] * w[k];
        plane += w[k] * dual->plane[k];
    }
    return value + dual->point.lambda / 2 * squares - plane;
}

/* Weak duality with every plane and at any point, and no gap left in the end: the minimum, whatever the temperatures.
 * Eleven examples: more than are looked at side by side. */
TEST(the_dual_is_a_bound_that_its_passes_reach)
{
    for (size_t t = 0; t < N_TEMPERATURES; t++)
        for (int is_potts = 0; is_potts < 2; is_potts++) {
            OWNED(toy_release) struct toy toy = {0};
            struct clv_training training;
            OWNED(hidden_release) struct hidden hidden = {0};
            OWNED(hidden_dual_release) struct hidden_dual dual = {0};
            int32_t all[11] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
            double w[64], plane[64];
            const struct clv_weight_layout *layout = is_potts ? &potts3 : &full3;
            toy_hidden(&toy, 11, layout, CHAINS, 30 + t);
            open_toy(&hidden, &training, &toy, temperatures[t][0], temperatures[t][1], 1);
            random_weights(w, layout, 1);
            must(hidden_dual_open(&dual, &hidden, 0.1, err));
            must(hidden_dual_lay(&dual, w, err));
            for (uint64_t round = 1; round <= 2; round++) {
                random_weights(w, layout, round);
                must(hidden_gradient(plane, NULL, NULL, &hidden, &(struct hidden_pass){HIDDEN_CLAMPED, all, 11, w},
                                     err));
                hidden_dual_set_plane(&dual, plane);
                double before = dual_value(&dual.point);
                for (size_t pass = 0; pass < 400; pass++)
                    for (size_t n_taken = 0; n_taken < dual.hidden->examples.n;)
                        must(hidden_dual_steps(&n_taken, &dual, round, pass, err));
                double bound = dual_value(&dual.point), reached = surrogate(&hidden, &dual, dual.average, all);
                ck_assert_double_gt(bound, before);
                ck_assert_double_le(bound, reached + 1e-9);
                ck_assert_msg(reached - bound < 0.02 * fabs(reached), "temperatures %g %g: %g, bound %g",
                              temperatures[t][0], temperatures[t][1], reached, bound);
                ck_assert_double_le(bound, surrogate(&hidden, &dual, w, all));
            }
        }
}

TEST(every_solver_comes_near_the_best_objective)
{
    for (size_t l = 0; l < sizeof learners / sizeof *learners; l++) {
        double lowest = INFINITY, objective[5];
        OWNED(toy_release) struct toy toy = {0};
        toy_hidden(&toy, 6, &full3, CHAINS, 5);
        for (int solver = 0; solver < 5; solver++) { /* the last is the one before with a smooth start */
            struct clv_training training = toy_training(&toy, learners[l]);
            set(&training, learners[l], "solver", solver < 4 ? solver : 3);
            set(&training, learners[l], "smooth", solver < 4 ? 0 : 0.5);
            set(&training, learners[l], "batch", 2);
            set(&training, learners[l], "c", 3); /* the paper's objective for all of them */
            OWNED(clv_training_result_release) struct clv_training_result result = run(learners[l], &training);
            objective[solver] = result.curve[result.n_curve - 1].objective;
            lowest = fmin(lowest, objective[solver]);
        }
        for (int solver = 0; solver < 5; solver++)
            ck_assert_msg(objective[solver] < (l == 1 ? 1.15 : 1.1) * lowest, "%s, solver %d: %g, another reaches %g",
                          learners[l], solver, objective[solver], lowest);
    }
}

TEST(same_seed_same_bytes_at_any_thread_count)
{
    for (size_t l = 0; l < sizeof learners / sizeof *learners; l++)
        for (int graph = CHAINS; graph <= LOOPS; graph += LOOPS - CHAINS)
            for (int solver = 0; solver < 4; solver += solver ? 1 : 2) {
                OWNED(toy_release) struct toy toy = {0};
                toy_hidden(&toy, 11, graph == LOOPS ? &potts3 : &full3, (enum graph)graph, 6);
                struct clv_training training = toy_training(&toy, learners[l]);
                set(&training, learners[l], "solver", solver);
                set(&training, learners[l], "passes", 12);
                set(&training, learners[l], "inner", 4);
                set(&training, learners[l], "smooth", solver == 3 ? 0.5 : 0);
                OWNED(clv_training_result_release) struct clv_training_result one = run(learners[l], &training);
                training.n_threads = 3;
                OWNED(clv_training_result_release) struct clv_training_result many = run(learners[l], &training);
                ck_assert_mem_eq(one.w, many.w, clv_weight_layout_size(&toy.layout) * sizeof *one.w);
                ck_assert_uint_eq(one.n_curve, many.n_curve);
                for (size_t k = 0; k < one.n_curve; k++) {
                    ck_assert_double_eq(one.curve[k].objective, many.curve[k].objective);
                    ck_assert_double_eq(one.curve[k].train_loss, many.curve[k].train_loss);
                }
                ck_assert_uint_eq(one.n_notes, graph == LOOPS ? 2 : 0); /* chains are exact */
                for (size_t k = 0; k < one.n_notes; k++)
                    ck_assert_double_eq(one.notes[k].value, many.notes[k].value);
                if (graph == LOOPS) {
                    ck_assert_str_eq(one.notes[0].name, "sweeps_per_inference");
                    ck_assert(one.notes[0].value >= 1 && one.notes[0].value <= 20);
                    ck_assert(one.notes[1].value > 0 && one.notes[1].value <= 1);
                }
                clv_training_result_release(&many);
                training.seed = 2;
                many = run(learners[l], &training);
                int is_random = solver != 2; /* in the order of its batches at least */
                ck_assert(!is_random ||
                          memcmp(one.w, many.w, clv_weight_layout_size(&toy.layout) * sizeof *one.w) != 0);
            }
}

TEST(sweeps_are_reported_as_they_were_granted)
{
    OWNED(toy_release) struct toy toy = {0};
    toy_hidden(&toy, 11, &potts3, LOOPS, 6);
    struct clv_training training = toy_training(&toy, learners[0]);
    set(&training, learners[0], "passes", 3);
    set(&training, learners[0], "sweeps", 1); /* nothing converges in the one that changes the messages */
    OWNED(clv_training_result_release) struct clv_training_result result = run(learners[0], &training);
    ck_assert_double_eq(result.notes[0].value, 1);
    ck_assert_double_lt(result.notes[1].value, 1);
}

/* Messages between sweeps too few for them to converge remember where they came from. */
/* Where maxima are none there is nothing to smooth; where they are, other weights come out, and none of the last passes
 * is smooth. */
TEST(a_smooth_start_is_one_of_maxima)
{
    for (size_t l = 0; l < sizeof learners / sizeof *learners; l++) {
        struct clv_training_result result[2];
        OWNED(toy_release) struct toy toy = {0};
        toy_hidden(&toy, 6, &full3, LOOPS, 9);
        for (int is_smooth = 0; is_smooth < 2; is_smooth++) {
            struct clv_training training = toy_training(&toy, learners[l]);
            set(&training, learners[l], "passes", 40);
            set(&training, learners[l], "cells", 1e6);
            set(&training, learners[l], "curve", 1);
            set(&training, learners[l], "smooth", is_smooth ? 0.25 : 0);
            result[is_smooth] = run(learners[l], &training);
        }
        int are_same = memcmp(result[0].w, result[1].w, clv_weight_layout_size(&full3) * sizeof(double)) == 0;
        ck_assert_int_eq(are_same, l > 1);
        for (size_t k = 0; k < 10 && l < 2; k++) /* with a sum in place of the maximum, the free term is higher */
            ck_assert_double_gt(result[1].curve[k].objective, result[1].curve[39].objective);
        for (int is_smooth = 0; is_smooth < 2; is_smooth++)
            clv_training_result_release(&result[is_smooth]);
    }
}

TEST(full_matrices_are_for_few_weights)
{
    static const struct clv_weight_layout many = {3, FULL_ADAGRAD_MAX_SIZE, 2, CLV_PAIRWISE_FULL};
    OWNED(toy_release) struct toy toy = {0};
    struct clv_training_result result;
    toy_begin(&toy, many.n_labels, many.n_features, many.n_edge_features, many.pairwise);
    static struct random_problem r;
    fill(&r, &full3, CHAINS, 1);
    r.problem.n_features = many.n_features;
    toy_add(&toy, &r.problem);
    struct clv_training training = toy_training(&toy, "mssvm");
    set(&training, "mssvm", "solver", 3);
    must_fail(CLV_ERR_USAGE, "at most 128 weights, and this model has 402",
              clv_train(&result, clv_learner_find("mssvm"), &training, err));
}

TEST(how_often_one_looks_changes_no_weight)
{
    for (size_t l = 0; l < sizeof learners / sizeof *learners; l++)
        for (int solver = 0; solver < 2; solver++) {
            struct clv_training_result result[2];
            OWNED(toy_release) struct toy toy = {0};
            toy_hidden(&toy, 6, &full3, LOOPS, 9);
            for (int often = 0; often < 2; often++) {
                struct clv_training training = toy_training(&toy, learners[l]);
                set(&training, learners[l], "solver", solver);
                set(&training, learners[l], "cells", 1);
                set(&training, learners[l], "sweeps", 1);
                set(&training, learners[l], "passes", 12);
                set(&training, learners[l], "curve", often ? 1 : 1000);
                result[often] = run(learners[l], &training);
                ck_assert_uint_eq(result[often].n_curve, often ? 12 : 1);
            }
            ck_assert_mem_eq(result[0].w, result[1].w, clv_weight_layout_size(&full3) * sizeof(double));
            ck_assert_double_eq(result[0].notes[1].value, result[1].notes[1].value);
            for (int often = 0; often < 2; often++)
                clv_training_result_release(&result[often]);
        }
}

TEST(weights_to_start_from_are_where_training_goes_on)
{
    OWNED(toy_release) struct toy toy = {0};
    double init[64];
    toy_hidden(&toy, 4, &full3, CHAINS, 8);
    struct clv_training training = toy_training(&toy, "hcrf");
    set(&training, "hcrf", "passes", 1);
    set(&training, "hcrf", "rate", 1e-9);
    random_weights(init, &full3, 1);
    training.init = init;
    OWNED(clv_training_result_release) struct clv_training_result result = run("hcrf", &training);
    for (size_t k = 0; k < clv_weight_layout_size(&full3); k++)
        ck_assert_double_eq_tol(result.w[k], init[k], 1e-6);
    ck_assert_int_eq(result.decoding.rule, CLV_DECODE_MARGINALS);
}

static int stop_now = 1;

TEST(an_interrupted_training_returns_what_it_has)
{
    OWNED(toy_release) struct toy toy = {0};
    const struct clv_progress progress = {.stop = &stop_now};
    toy_hidden(&toy, 4, &full3, CHAINS, 8);
    for (int solver = 0; solver < 3; solver++) {
        struct clv_training training = toy_training(&toy, "mssvm");
        training.progress = &progress;
        set(&training, "mssvm", "solver", solver);
        OWNED(clv_training_result_release) struct clv_training_result result = run("mssvm", &training);
        ck_assert_int_eq(result.interrupted, 1);
        for (size_t k = 0; k < clv_weight_layout_size(&full3); k++)
            ck_assert(isfinite(result.w[k]));
    }
}

TEST(lack_of_memory_is_reported_at_every_request)
{
    for (int graph = CHAINS; graph <= LOOPS; graph += LOOPS - CHAINS)
        for (int cells = 0; cells < 2; cells++) {
            OWNED(toy_release) struct toy toy = {0};
            toy_hidden(&toy, 3, &full3, (enum graph)graph, 2);
            struct clv_training training = toy_training(&toy, "mssvm");
            set(&training, "mssvm", "solver", 2 + cells);
            set(&training, "mssvm", "smooth", cells ? 0.5 : 0);
            set(&training, "mssvm", "passes", 4);
            set(&training, "mssvm", "inner", 2);
            set(&training, "mssvm", "cells", cells * 1e5);
            enum clv_status status = CLV_ERR_MEMORY;
            size_t request = 0;
            while (status == CLV_ERR_MEMORY) {
                OWNED(clv_training_result_release) struct clv_training_result result = {0};
                struct clv_error error = {0};
                array_fail_request(++request);
                status = clv_train(&result, clv_learner_find("mssvm"), &training, &error);
                array_fail_request(0);
                ck_assert_msg(status == CLV_OK || status == CLV_ERR_MEMORY, "%s", error.message);
                ck_assert((status == CLV_OK) == (result.w != NULL));
            }
            ck_assert_uint_gt(request, 20);
        }
}

TEST(bad_parameters_are_refused)
{
    static const struct {
        const char *learner, *parameter;
        double value;
    } bad[] = {{"mssvm", "solver", 4},         {"mssvm", "solver", 0.5}, {"lssvm", "c", -1},
               {"hcrf", "sweeps", 0},          {"eps", "epsilon", -0.1}, {"eps", "epsilon", 1.5},
               {"eps", "hidden-epsilon", 1.5}, {"mssvm", "inner", 1},    {"mssvm", "lambda", 0},
               {"hcrf", "margin", -1},         {"mssvm", "rate", NAN},   {"mssvm", "batch", -2},
               {"mssvm", "start", 1e9},        {"mssvm", "smooth", 1}};
    OWNED(toy_release) struct toy toy = {0};
    toy_hidden(&toy, 2, &full3, CHAINS, 1);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        struct clv_training training = toy_training(&toy, bad[k].learner);
        struct clv_training_result result = {0};
        set(&training, bad[k].learner, bad[k].parameter, bad[k].value);
        must_fail(CLV_ERR_USAGE, bad[k].parameter,
                  clv_train(&result, clv_learner_find(bad[k].learner), &training, err));
        ck_assert_ptr_null(result.w);
    }
    struct clv_training training = toy_training(&toy, "mssvm");
    struct clv_training_result result = {0};
    set(&training, "mssvm", "smooth", 0.5);
    set(&training, "mssvm", "solver", 2);
    must_fail(CLV_ERR_USAGE, "smooth is 0.5", clv_train(&result, clv_learner_find("mssvm"), &training, err));
}
