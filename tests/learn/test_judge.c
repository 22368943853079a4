/* Every training is judged by its objective at w = 0 and by its own bound. */
#include <math.h>
#include <string.h>

#include "learn/chains.h"
#include "learn/learners.h"
#include "learn/margin/margin.h"

static char said[4][512];
static int n_said;

static void hear(void *context, enum clv_message kind, const char *text)
{
    (void)context;
    ck_assert_int_ne(kind, CLV_SUMMARY);
    ck_assert_int_lt(n_said, 4);
    snprintf(said[n_said++], sizeof said[0], "%s", text);
}

static const struct clv_progress listening = {.notify = hear};

static struct clv_training_result heard(const char *learner, struct clv_training *training)
{
    n_said = 0;
    training->progress = &listening;
    return run(learner, training);
}

/* Chains of three labels with tables, or loops of two with couplings, whose features are `size` times as large. One
 * label can be told by a feature. */
static void toy_of_size(struct toy *toy, bool is_chain, bool has_hidden, float size)
{
    static struct random_problem r;
    static const struct clv_weight_layout cuts = {2, 4, 2, CLV_PAIRWISE_POTTS};
    const struct clv_weight_layout *layout = is_chain ? &chain_shape : &cuts;
    toy_begin(toy, layout->n_labels, layout->n_features, layout->n_edge_features, layout->pairwise);
    for (uint64_t i = 0; i < 8; i++) {
        if (is_chain)
            random_chain(&r, layout, 5, true, 500 + i);
        else
            random_problem_fill(&r, layout, 5, 0.5, 1, 500 + i);
        for (int32_t k = 0; k < 5; k++)
            r.value[r.row[k]] = r.label[k] ? 3 : -3;
        for (int64_t k = 0; k < r.row[5]; k++)
            r.value[k] *= size;
        for (int32_t e = 0; e < r.problem.n_edges * layout->n_edge_features; e++)
            r.edge_features[e] *= size;
        for (int32_t b = 0; has_hidden && b < layout->n_labels; b++)
            r.theta[2 * layout->n_labels + b] = 0;
        r.label[2] = has_hidden ? CLV_UNKNOWN : r.label[2];
        toy_add(toy, &r.problem);
    }
}

static double reached(const struct clv_training_result *result)
{
    const struct clv_curve_point *last = &result->curve[result->n_curve - 1];
    return isnan(result->curve[0].objective) ? last->train_loss : last->objective;
}

TEST(no_learner_goes_astray_by_defaults_whatever_the_size_of_features)
{
    static const float sizes[] = {0.01F, 1, 100};
    for (size_t l = 0; clv_learner_at(l); l++) {
        const struct clv_learner *learner = clv_learner_at(l);
        for (int s = 0; s < 3; s++)
            for (int has_hidden = 0; has_hidden < 1 + learner->takes_hidden; has_hidden++) {
                OWNED(toy_release) struct toy toy = {0};
                toy_of_size(&toy, !(learner->trains & (CLV_TRAINS_CUTS | CLV_TRAINS_POTTS)), has_hidden, sizes[s]);
                struct clv_training training = toy_training(&toy, learner->name);
                OWNED(clv_training_result_release) struct clv_training_result result = heard(learner->name, &training);
                ck_assert_msg(n_said == 0 || strstr(said[0], "--radius"), "%s at size %g: %s", learner->name,
                              (double)sizes[s], said[0]);
                double share = strcmp(learner->name, "crf") == 0 ? 1 : 0.9; /* whose lambda knows no size */
                ck_assert_msg(reached(&result) < share * result.at_zero, "%s at size %g: %g, %g at 0", learner->name,
                              (double)sizes[s], reached(&result), result.at_zero);
            }
    }
}

/* Weights that short steps, a strong prior or a small ball hold at 0. */
static bool hold_at_zero(struct clv_training *training, const struct clv_learner *learner)
{
    static const struct {
        const char *name;
        double value;
    } strong[] = {{"rate", 1e-9}, {"lambda", 1e12}, {"C", 1e-9}, {"radius", 1e-12}, {"start", 0}, {"deviation", 0}};
    if (strcmp(learner->name, "lapmedn") == 0 || strcmp(learner->name, "perceptron") == 0)
        return false;
    bool has_rate = clv_learner_parameter(learner, "rate") >= 0 && strcmp(learner->name, "l1m3n") != 0;
    for (size_t k = has_rate ? 0 : 1; k < sizeof strong / sizeof *strong; k++) {
        int index = clv_learner_parameter(learner, strong[k].name);
        if (index >= 0 && !(has_rate && (k == 1 || k == 2)))
            training->parameters[index] = strong[k].value;
    }
    return true;
}

TEST(the_objective_at_zero_is_that_of_weights_held_there)
{
    for (size_t l = 0; clv_learner_at(l); l++) {
        const struct clv_learner *learner = clv_learner_at(l);
        for (int has_hidden = 0; has_hidden < 2; has_hidden++) {
            OWNED(toy_release) struct toy toy = {0};
            toy_of_size(&toy, !(learner->trains & (CLV_TRAINS_CUTS | CLV_TRAINS_POTTS)), has_hidden, 1);
            struct clv_training training = toy_training(&toy, learner->name);
            if (hold_at_zero(&training, learner)) {
                OWNED(clv_training_result_release) struct clv_training_result result = run(learner->name, &training);
                ck_assert_msg(fabs(reached(&result) - result.at_zero) < 1e-3 * result.at_zero, "%s: %g, %g at 0",
                              learner->name, reached(&result), result.at_zero);
            }
        }
    }
}

/* The objectives of lapmedn and perceptron by enumeration. */
TEST(the_largest_loss_is_that_of_the_worst_labelling)
{
    OWNED(toy_release) struct toy toy = {0};
    toy_of_size(&toy, false, false, 1);
    double most = toy_most_loss(&toy), floor = laplace_bound_floor() * (double)clv_weight_layout_size(&toy.layout),
           wrong = 0;
    struct clv_training training = toy_training(&toy, "lapmedn");
    set(&training, "lapmedn", "units", UNITS_RAW);
    set(&training, "lapmedn", "C", 3);
    OWNED(clv_training_result_release) struct clv_training_result result = run("lapmedn", &training);
    ck_assert_double_eq_tol(result.at_zero - floor, 3 * (double)toy.n * most, 1e-9);
    clv_training_result_release(&result);
    training = toy_training(&toy, "perceptron");
    result = run("perceptron", &training);
    for (size_t i = 0; i < toy.n; i++) {
        static const int32_t background[RANDOM_MAX_NODES];
        struct clv_problem p = clv_dataset_problem(toy.dataset, i);
        wrong += clv_loss(&p, 2, background) / (double)toy.n;
    }
    ck_assert_double_eq_tol(result.at_zero, wrong, 1e-9);
}

TEST(trainings_that_go_astray_say_so)
{
    static const struct {
        const char *learner, *other;
        double rate, other_value, passes;
    } cases[] = {{"mssvm", "solver", 2.5, 1, 20},   {"hcrf", "solver", 2.5, 1, 20},
                 {"m3e", "solver", 0.05, 1, 20},    {"modlat", "solver", 0.05, 1, 1},
                 {"pmap", "averaging", 1e4, 0, 10}, {"wmpmap", "averaging", 1e4, 0, 10}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        OWNED(toy_release) struct toy toy = {0};
        if (strstr(cases[k].learner, "pmap"))
            toy_random(&toy, 12, 8, &(struct clv_weight_layout){2, 6, 1, CLV_PAIRWISE_POTTS}, 3);
        else
            toy_of_size(&toy, !strcmp(cases[k].learner, "m3e") || !strcmp(cases[k].learner, "modlat"), false, 1);
        struct clv_training training = toy_training(&toy, cases[k].learner);
        set(&training, cases[k].learner, "rate", cases[k].rate);
        set(&training, cases[k].learner, "passes", cases[k].passes);
        set(&training, cases[k].learner, cases[k].other, cases[k].other_value);
        OWNED(clv_training_result_release) struct clv_training_result result = heard(cases[k].learner, &training);
        ck_assert_msg(n_said == 1 && strstr(said[0], "went astray"), "%s: %g, %g at 0", cases[k].learner,
                      reached(&result), result.at_zero);
        if (k == 0)
            ck_assert_str_eq(said[0], formatted("mssvm: training ended at an objective of %g, above the %g of weights "
                                                "that are all 0: it went astray; a lower --rate may help",
                                                reached(&result), result.at_zero));
    }
}

/* Without a loss at w = 0 there is nothing to gain. */
TEST(a_training_that_ends_where_it_began_did_not_go_astray)
{
    struct clv_curve_point point = {.objective = NAN};
    const struct clv_training_result result = {.curve = &point, .n_curve = 1};
    const struct clv_learner *learner = clv_learner_find("perceptron");
    struct clv_training training;
    clv_training_defaults(&training, learner);
    training.progress = &listening;
    n_said = 0;
    training_judge(learner, &training, &result);
    ck_assert_int_eq(n_said, 0);
    point.train_loss = 1e-9;
    training_judge(learner, &training, &result);
    ck_assert_int_eq(n_said, 1);
}

TEST(trainings_that_end_far_from_their_bound_say_so)
{
    static const char *const learners[] = {"m3n", "lapmedn"};
    for (int l = 0; l < 2; l++)
        for (int is_long = 0; is_long < 2; is_long++) {
            OWNED(toy_release) struct toy toy = {0};
            toy_random(&toy, 12, 8, &(struct clv_weight_layout){2, 6, 1, CLV_PAIRWISE_POTTS}, 3);
            struct clv_training training = toy_training(&toy, learners[l]);
            set(&training, learners[l], "C", 1e4);
            set(&training, learners[l], "passes", is_long ? 20000 : 1);
            if (l)
                set(&training, learners[l], "rounds", is_long ? 10 : 1);
            OWNED(clv_training_result_release) struct clv_training_result result = heard(learners[l], &training);
            ck_assert_msg(n_said == !is_long, "%s: %d said", learners[l], n_said);
            ck_assert(is_long || strstr(said[0], l ? "training ended" : "far from its optimum"));
        }
}

/* The usual radius is nobody's choice. */
TEST(a_ball_that_binds_is_named_unless_it_was_chosen)
{
    OWNED(toy_release) struct toy toy = {0};
    toy_of_size(&toy, false, false, 1);
    for (int k = 0; k < 3; k++) {
        struct clv_training training = toy_training(&toy, "l1m3n");
        if (k)
            set(&training, "l1m3n", "radius", k == 1 ? 0.004 : 0.5);
        OWNED(clv_training_result_release) struct clv_training_result result = heard("l1m3n", &training);
        ck_assert_msg(n_said == (k == 0), "%d: %d said", k, n_said);
        if (k == 0)
            ck_assert_str_eq(said[0],
                             "l1m3n: the weights fill the ball of the usual --radius, 0.005; --cv 5 chooses one "
                             "by held-out loss");
    }
}
