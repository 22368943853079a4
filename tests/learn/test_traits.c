/* Every trait in a learner's struct and every role of a parameter is measured by what the learner does, so that a row
 * that says something else is noticed. What parameters need is measured in test_unused_reason.c. Trainings are short
 * and small; those that the table would refuse are asked of the learner itself. */
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "learn/chains.h"
#include "learn/common/common.h"
#include "learn/hidden/hidden_toy.h"

static int n_learners(void)
{
    int n = 0;
    while (clv_learner_at((size_t)n))
        n++;
    return n;
}

/* A value of the parameter of a role, where the learner has one. */
static void set_role(struct clv_training *training, const struct clv_learner *learner, enum clv_role role, double value)
{
    int index = learner_role(learner, role);
    if (index >= 0)
        training->parameters[index] = value;
}

static void set_named(struct clv_training *training, const struct clv_learner *learner, const char *name, double value)
{
    int index = clv_learner_parameter(learner, name);
    if (index >= 0)
        training->parameters[index] = value;
}

/* By the learner itself, whatever the table says. */
static enum clv_status train_directly(struct clv_training_result *result, const struct clv_learner *learner,
                                      const struct clv_training *training)
{
    *result = (struct clv_training_result){.at_zero = NAN};
    return learner->train(result, training, NULL);
}

static bool is_same(const struct clv_training_result *a, const struct clv_training_result *b, size_t size)
{
    return a->w && b->w && memcmp(a->w, b->w, size * sizeof *a->w) == 0;
}

/* Chains with full tables, which every learner trains. */
static struct clv_training chain_training(const struct toy *toy, const struct clv_learner *learner)
{
    struct clv_training training = toy_training(toy, learner->name);
    set_role(&training, learner, CLV_ROLE_PASSES, 6);
    return training;
}

TESTS(weights_to_start_from_matter_where_they_are_taken, 0, n_learners())
{
    const struct clv_learner *learner = clv_learner_at((size_t)_i);
    OWNED(toy_release) struct toy toy = {0};
    double start[CHAIN_SIZE];
    toy_chains(&toy, 8, &chain_shape, 3);
    struct clv_training training = chain_training(&toy, learner);
    OWNED(clv_training_result_release) struct clv_training_result from_none = {0}, from_start = {0}, result = {0};
    for (size_t k = 0; k < CHAIN_SIZE; k++)
        start[k] = rng_normal(9, RNG_TEST, k);
    ck_assert_int_eq(train_directly(&from_none, learner, &training), CLV_OK);
    training.init = start;
    ck_assert_int_eq(train_directly(&from_start, learner, &training), CLV_OK);
    ck_assert_msg(is_same(&from_none, &from_start, CHAIN_SIZE) == !learner->takes_init, "%s", learner->name);
    if (learner->takes_init)
        must(clv_train(&result, learner, &training, err));
    else
        must_fail(CLV_ERR_USAGE, "cannot start from given weights", clv_train(&result, learner, &training, err));
}

TESTS(every_point_of_the_curve_has_the_loss_on_the_validation_set, 0, n_learners())
{
    const struct clv_learner *learner = clv_learner_at((size_t)_i);
    OWNED(toy_release) struct toy toy = {0};
    double loss;
    toy_chains(&toy, 8, &chain_shape, 3);
    struct clv_training training = chain_training(&toy, learner);
    training.n_examples = 5;
    OWNED(clv_training_result_release) struct clv_training_result alone = {0}, result = {0};
    must(clv_train(&alone, learner, &training, err));
    ck_assert_ptr_null(alone.validation_loss);
    training.validation = toy.dataset;
    must(clv_train(&result, learner, &training, err));
    ck_assert_msg(is_same(&alone, &result, CHAIN_SIZE), "%s", learner->name);
    ck_assert_uint_eq(alone.n_curve, result.n_curve);
    ck_assert(!memcmp(alone.curve, result.curve, result.n_curve * sizeof *result.curve));
    ck_assert(result.n_curve && result.validation_loss);
    must(clv_evaluate_all(&loss, toy.dataset, &chain_shape, result.w, &result.decoding, CLV_ENGINE_CLEAVE, 1, err));
    ck_assert_msg(result.validation_loss[result.n_curve - 1] == loss, "%s", learner->name);
}

/* Two sets that differ in what their hidden nodes look like. */
static void hidden_pair(struct toy pair[2])
{
    static struct random_problem r;
    for (int which = 0; which < 2; which++) {
        toy_begin(&pair[which], full3.n_labels, full3.n_features, full3.n_edge_features, full3.pairwise);
        for (size_t i = 0; i < 6; i++) {
            fill(&r, &full3, CHAINS, 3000 + i);
            for (int32_t node = 1; node < NODES; node += 2)
                for (int64_t k = r.row[node]; k < r.row[node + 1]; k++)
                    r.value[k] *= which ? -2.0F : 1.0F;
            toy_add(&pair[which], &r.problem);
        }
    }
}

TESTS(hidden_nodes_matter_where_they_take_part, 0, n_learners())
{
    const struct clv_learner *learner = clv_learner_at((size_t)_i);
    struct toy pair[2];
    hidden_pair(pair);
    struct clv_training training = chain_training(&pair[0], learner);
    OWNED(clv_training_result_release) struct clv_training_result a = {0}, b = {0};
    must(clv_train(&a, learner, &training, err));
    training.dataset = pair[1].dataset;
    must(clv_train(&b, learner, &training, err));
    ck_assert_msg(is_same(&a, &b, clv_weight_layout_size(&full3)) == !learner->takes_hidden, "%s", learner->name);
    toy_release(&pair[0]);
    toy_release(&pair[1]);
}

/* Pairwise forms. */

static const struct form {
    const char *name;
    struct clv_weight_layout layout;
    enum clv_graph graph;
    int bits; /* of enum clv_trains, any of which is enough */
} forms[] = {
    {"cuts", {2, 4, 2, CLV_PAIRWISE_POTTS}, CLV_GRAPH_ANY, CLV_TRAINS_CUTS | CLV_TRAINS_POTTS},
    {"three labels", {3, 4, 2, CLV_PAIRWISE_POTTS}, CLV_GRAPH_ANY, CLV_TRAINS_POTTS},
    {"chains",
     {3, 4, 2, CLV_PAIRWISE_FULL},
     CLV_GRAPH_CHAIN,
     CLV_TRAINS_FULL_CHAINS | CLV_TRAINS_FULL_FORESTS | CLV_TRAINS_FULL},
    {"trees", {3, 4, 2, CLV_PAIRWISE_FULL}, CLV_GRAPH_FOREST, CLV_TRAINS_FULL_FORESTS | CLV_TRAINS_FULL},
    {"loops", {3, 4, 2, CLV_PAIRWISE_FULL}, CLV_GRAPH_ANY, CLV_TRAINS_FULL},
};

/* What the papers' learners are for. Some would train more without a word: full tables on trees that segmenting could
 * not decode, Potts couplings that no likelihood is exact for. */
static const struct {
    const char *names;
    int trains;
} meant[] = {
    {"ssvm perceptron subgradient independent pmap mpmap wmpmap m3n lapmedn l1m3n ",
     CLV_TRAINS_CUTS | CLV_TRAINS_FULL_CHAINS},
    {"m3e modlat ", CLV_TRAINS_FULL_FORESTS},
    {"mssvm lssvm hcrf eps ", CLV_TRAINS_POTTS | CLV_TRAINS_FULL},
    {"crf ", CLV_TRAINS_FULL_CHAINS | CLV_TRAINS_FULL_FORESTS},
};

static void form_toy(struct toy *toy, const struct form *form)
{
    enum { N = 6 };
    static struct random_problem r;
    const struct clv_weight_layout *layout = &form->layout;
    toy_begin(toy, layout->n_labels, layout->n_features, layout->n_edge_features, layout->pairwise);
    for (uint64_t i = 0; i < 8; i++) {
        random_problem_fill(&r, layout, N, form->graph == CLV_GRAPH_ANY ? 0.7 : 0, 0.8, 500 + i);
        if (form->graph != CLV_GRAPH_ANY)
            r.problem.n_edges = N - 1;
        for (int32_t e = 0; form->graph != CLV_GRAPH_ANY && e + 1 < N; e++) {
            r.edges[e][0] = form->graph == CLV_GRAPH_CHAIN ? e : e / 3;
            r.edges[e][1] = e + 1;
            for (int32_t f = 0; f < layout->n_edge_features; f++)
                r.edge_features[e * layout->n_edge_features + f] =
                    (float)rng_uniform(500 + i, RNG_TEST, 60000 + (uint64_t)(8 * e + f));
        }
        toy_add(toy, &r.problem);
    }
}

TESTS(each_pairwise_form_is_trained_or_refused, 0, n_learners())
{
    const struct clv_learner *learner = clv_learner_at((size_t)_i);
    int trains = 0;
    for (size_t k = 0; k < sizeof meant / sizeof *meant; k++)
        if (strstr(formatted(" %s", meant[k].names), formatted(" %s ", learner->name)))
            trains = meant[k].trains;
    ck_assert_msg(learner->trains == trains, "%s trains %d", learner->name, learner->trains);
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        const struct form *form = &forms[f];
        bool is_meant = (trains & form->bits) != 0;
        OWNED(toy_release) struct toy toy = {0};
        form_toy(&toy, form);
        struct clv_training training = chain_training(&toy, learner);
        OWNED(clv_training_result_release) struct clv_training_result result = {0};
        ck_assert_int_eq(learner_trains(learner, form->layout.pairwise, form->layout.n_labels, form->graph), is_meant);
        if (!is_meant) {
            must_fail(CLV_ERR_USAGE, "does not learn", clv_train(&result, learner, &training, err));
            continue;
        }
        double pairwise = 0;
        must(clv_train(&result, learner, &training, err));
        for (size_t k = clv_weight_layout_unary_size(&form->layout); k < clv_weight_layout_size(&form->layout); k++)
            pairwise += fabs(result.w[k]);
        ck_assert_msg((pairwise > 0) == (strcmp(learner->name, "independent") != 0), "%s, %s: couplings of %g",
                      learner->name, form->name, pairwise);
    }
}

/* Scores. */

/* Nodes without edges whose labels are drawn from logistic probabilities, in images that weigh their labels alike. */
static void logistic_toy(struct toy *toy, size_t n, int32_t n_nodes, const double truth[3], double *log_odds)
{
    static struct random_problem r;
    const struct clv_weight_layout layout = {2, 3, 0, CLV_PAIRWISE_NONE};
    double count[2] = {0};
    toy_begin(toy, 2, 3, 0, CLV_PAIRWISE_NONE);
    for (size_t i = 0; i < n; i++) {
        double total[2] = {0};
        random_problem_fill(&r, &layout, n_nodes, 0, 1, 800 + i);
        for (int32_t k = 0; k < n_nodes; k++) {
            float *x = &r.value[r.row[k]];
            x[0] = 1;
            double score = truth[0] + truth[1] * (double)x[1] + truth[2] * (double)x[2];
            r.label[k] = rng_uniform(77 + i, RNG_TEST, (uint64_t)k) < 1 / (1 + exp(-score));
            r.area[k] = 1;
            total[r.label[k]]++;
            count[r.label[k]]++;
        }
        for (int32_t k = 0; k < n_nodes; k++)
            for (int32_t b = 0; b < 2; b++)
                r.theta[2 * k + b] = r.label[k] == b ? (float)(1 / (2 * total[b])) : 0;
        toy_add(toy, &r.problem);
    }
    *log_odds = log(count[1] / count[0]);
}

/* How much larger than the true ones the weights of two features are, on the mean. */
static double slope_of(const double *w, const double truth[3])
{
    return (w[1] / truth[1] + w[2] / truth[2]) / 2;
}

/* Trained to the end, with as good as no prior. */
static double *learn_logistic(const struct clv_learner *learner, const double truth[3], double *log_odds)
{
    OWNED(toy_release) struct toy toy = {0};
    logistic_toy(&toy, 60, 60, truth, log_odds);
    struct clv_training training = toy_training(&toy, learner->name);
    set_role(&training, learner, CLV_ROLE_PASSES, 60);
    set_named(&training, learner, "rounds", 1);
    if (learner->takes_hidden)
        set_role(&training, learner, CLV_ROLE_RATE, 2);
    if (clv_learner_parameter(learner, "lambda") >= 0)
        training.parameters[clv_learner_parameter(learner, "lambda")] *= 0.01;
    OWNED(clv_training_result_release) struct clv_training_result result = run(learner->name, &training);
    return TAKE(result.w);
}

/* Likelihoods find the weights that labels were drawn by, at any size; margins find others where labels are all but
 * random, as they ask for a distance of 1. The frequency of labels is in the former's intercept, but not where the loss
 * weighs them alike. */
TESTS(scores_mean_what_the_table_says, 0, n_learners())
{
    const struct clv_learner *learner = clv_learner_at((size_t)_i);
    static const double weak[] = {-0.24, 0.4, -0.3}, strong[] = {-1.44, 2.4, -1.8};
    double odds;
    OWNED_ARRAY double *of_weak = learn_logistic(learner, weak, &odds);
    OWNED_ARRAY double *of_strong = learn_logistic(learner, strong, &odds);
    double off = fabs(slope_of(of_weak, weak) - 1), intercept = of_strong[0] - strong[0];
    bool counts = fabs(intercept) < 0.1, is_balanced = fabs(intercept + odds) < 0.1;
    /* Their loss weighs nodes alike; decided by as they are, they had less error on letters and on MSRC's folds. */
    bool is_decided_as_it_is = strcmp(learner->name, "crf") == 0 || strcmp(learner->name, "hcrf") == 0;
    bool is_likelihood = off < 0.17 && fabs(slope_of(of_strong, strong) - 1) < 0.17;
    enum clv_scores measured = !is_likelihood                  ? CLV_SCORES_MARGIN
                               : is_balanced                   ? CLV_SCORES_WEIGHTED_LIKELIHOOD
                               : is_decided_as_it_is && counts ? CLV_SCORES_WEIGHTED_LIKELIHOOD
                                                               : CLV_SCORES_LIKELIHOOD;
    ck_assert_msg(is_likelihood || off > 0.2, "%s: %g", learner->name, off);
    ck_assert_msg(!is_likelihood || counts || is_balanced, "%s: %g", learner->name, intercept);
    ck_assert_msg(learner->scores == measured, "%s: slopes off by %g, intercept by %g: %s", learner->name, off,
                  intercept, clv_scores_name(measured));
}

/* Roles. */

static double difference(const double *a, const double *b, size_t size)
{
    double squares = 0, other = 0;
    for (size_t k = 0; k < size; k++) {
        squares += a[k] * a[k];
        other += (a[k] - b[k]) * (a[k] - b[k]);
    }
    return sqrt(other / squares);
}

/* With every example twice, a lambda against the mean of the losses leaves the weights as they are, what is against
 * their sum does not; each is strong enough that half of it matters. */
TESTS(regularisation_is_against_the_mean_or_the_sum, 0, n_learners())
{
    const struct clv_learner *learner = clv_learner_at((size_t)_i);
    enum { N = 20 };
    static const double truth[] = {-0.5, 1, -1};
    static const struct {
        const char *learner;
        double value;
    } strong[] = {{"m3n", 0.3}, {"lapmedn", 1e5}, {"l1m3n", 3e-6}, {"m3e", 0.09}, {"modlat", 0.09}, {"crf", 30}};
    int index = learner_regularisation(learner);
    double odds, value = 0.03;
    int32_t twice[2 * N];
    if (strcmp(learner->name, "perceptron") == 0) {
        ck_assert_int_lt(index, 0);
        return;
    }
    ck_assert_int_ge(index, 0);
    OWNED(toy_release) struct toy toy = {0};
    logistic_toy(&toy, N, 20, truth, &odds);
    for (int32_t i = 0; i < 2 * N; i++)
        twice[i] = i % N;
    for (size_t k = 0; k < sizeof strong / sizeof *strong; k++)
        if (strcmp(learner->name, strong[k].learner) == 0)
            value = strong[k].value;
    struct clv_training training = toy_training(&toy, learner->name), doubled, halved;
    set_role(&training, learner, CLV_ROLE_PASSES, 200);
    set_role(&training, learner, CLV_ROLE_GAP, 1e-4);
    if (strcmp(learner->name, "modlat") == 0)
        set_named(&training, learner, "rounds", 2);
    training.parameters[index] = value;
    doubled = halved = training;
    doubled.examples = twice;
    doubled.n_examples = 2 * N;
    halved.parameters[index] = value / 2;
    OWNED(clv_training_result_release) struct clv_training_result once = run(learner->name, &training);
    OWNED(clv_training_result_release) struct clv_training_result of_doubled = run(learner->name, &doubled);
    OWNED(clv_training_result_release) struct clv_training_result of_halved = run(learner->name, &halved);
    double by_doubling = difference(once.w, of_doubled.w, 3), by_halving = difference(once.w, of_halved.w, 3);
    ck_assert_msg(by_halving > 0.08, "%s: %g", learner->name, by_halving);
    bool is_of_mean = learner->parameters[index].role == CLV_ROLE_LAMBDA_OF_MEAN;
    ck_assert_msg(is_of_mean ? by_doubling < 0.04 : by_doubling > 0.08, "%s: %g", learner->name, by_doubling);
}

/* A name means one thing to all learners. */
TEST(parameters_of_one_name_have_one_role)
{
    static const struct {
        const char *name;
        enum clv_role role;
    } known[] = {{"passes", CLV_ROLE_PASSES},      {"gap", CLV_ROLE_GAP},
                 {"rate", CLV_ROLE_RATE},          {"batch", CLV_ROLE_BATCH},
                 {"curve", CLV_ROLE_CURVE},        {"start", CLV_ROLE_START},
                 {"kappa", CLV_ROLE_KAPPA},        {"samples", CLV_ROLE_DRAWS},
                 {"deviation", CLV_ROLE_START},    {"paper", CLV_ROLE_PAPER},
                 {"sharpness", CLV_ROLE_SHARPNESS}};
    for (size_t l = 0; clv_learner_at(l); l++)
        for (int i = 0; clv_learner_at(l)->parameters[i].name; i++) {
            const struct clv_parameter *row = &clv_learner_at(l)->parameters[i];
            enum clv_role role = i == learner_regularisation(clv_learner_at(l)) ? row->role : CLV_ROLE_NONE;
            for (size_t k = 0; k < sizeof known / sizeof *known; k++)
                if (strcmp(row->name, known[k].name) == 0)
                    role = known[k].role;
            ck_assert_msg(row->role == role, "%s: --%s", clv_learner_at(l)->name, row->name);
            ck_assert_int_eq(role == CLV_ROLE_NONE ? i : learner_role(clv_learner_at(l), role), i);
        }
}

static double last_pass(const struct clv_learner *learner, const struct clv_training *training)
{
    OWNED(clv_training_result_release) struct clv_training_result result = run(learner->name, training);
    return result.curve[result.n_curve - 1].pass;
}

/* More passes go on for longer, a gap of 1 ends sooner than one of 0, steps of no size stay where they start. */
TESTS(passes_gap_and_rate_do_what_their_roles_say, 0, n_learners())
{
    const struct clv_learner *learner = clv_learner_at((size_t)_i);
    OWNED(toy_release) struct toy toy = {0};
    toy_chains(&toy, 8, &chain_shape, 3);
    struct clv_training training = chain_training(&toy, learner), other;
    set_named(&training, learner, "rounds", 2);
    set_role(&training, learner, CLV_ROLE_GAP, 0);
    set_role(&training, learner, CLV_ROLE_PASSES, 12);
    other = training;
    set_role(&other, learner, CLV_ROLE_PASSES, 3);
    const bool by_rounds = strcmp(learner->name, "modlat") == 0; /* whose curve counts them */
    ck_assert_msg(by_rounds || last_pass(learner, &other) < last_pass(learner, &training), "%s", learner->name);
    other = training;
    set_role(&other, learner, CLV_ROLE_GAP, 1);
    bool ends_sooner = last_pass(learner, &other) < last_pass(learner, &training);
    ck_assert_msg(ends_sooner == (learner_role(learner, CLV_ROLE_GAP) >= 0), "%s", learner->name);
    other = training;
    set_role(&other, learner, CLV_ROLE_RATE, 1e-6);
    OWNED(clv_training_result_release) struct clv_training_result still = run(learner->name, &other);
    bool moves = squares_of(still.w, CHAIN_SIZE) > 1e-6;
    ck_assert_msg(moves == (learner_role(learner, CLV_ROLE_RATE) < 0), "%s", learner->name);
}

/* Weak examples change what is learned, whoever labels them. */
TESTS(examples_without_masks_are_learned_from, 0, n_learners())
{
    static const struct clv_weight_layout cuts = {2, 5, 2, CLV_PAIRWISE_POTTS};
    const struct clv_learner *learner = clv_learner_at((size_t)_i);
    OWNED(toy_release) struct toy toy = {0};
    toy_random(&toy, 8, 8, &cuts, 3);
    struct clv_training training = toy_training(&toy, learner->name);
    training.n_examples = 4;
    set_role(&training, learner, CLV_ROLE_PASSES, 12);
    if (!learner_trains(learner, cuts.pairwise, 2, CLV_GRAPH_ANY))
        return;
    OWNED(clv_training_result_release) struct clv_training_result alone = run(learner->name, &training);
    training.weak = toy.examples + 4;
    training.n_weak = 4;
    OWNED(clv_training_result_release) struct clv_training_result all = run(learner->name, &training);
    ck_assert_msg(!is_same(&alone, &all, clv_weight_layout_size(&cuts)), "%s", learner->name);
}

TEST(choices_are_all_values_of_their_parameter)
{
    for (size_t l = 0; clv_learner_at(l); l++)
        for (const struct clv_parameter *row = clv_learner_at(l)->parameters; row->name; row++) {
            int n = 0;
            while (row->choices && row->choices[n])
                n++;
            ck_assert_msg(row->minimum <= row->value && row->value <= row->maximum, "%s: --%s", clv_learner_at(l)->name,
                          row->name);
            ck_assert_msg(!row->choices ||
                              (row->minimum == 0 && row->maximum == n - 1 && row->value == floor(row->value)),
                          "%s: --%s", clv_learner_at(l)->name, row->name);
            ck_assert_msg(!row->published.is_set ||
                              (row->minimum <= row->published.value && row->published.value <= row->maximum),
                          "%s: --%s", clv_learner_at(l)->name, row->name);
        }
}

/* Memory. */

static size_t most_in_use;

static size_t in_use(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static void look(void *context, const char *what, size_t done, size_t total, const char *note)
{
    (void)context, (void)what, (void)done, (void)total, (void)note;
    size_t now = in_use();
    most_in_use = now > most_in_use ? now : most_in_use;
}

/* A set whose weights fill the memory, one whose nodes do, one whose messages do. */
static const struct load {
    const char *name;
    int32_t n_features, n_nodes;
    size_t n;
    double edges; /* share of all; 0: chains */
    double factor;
} loads[] = {{"weights", 30000, 5, 4, 0, 1.4}, {"nodes", 4, 63, 400, 0, 1.4}, {"messages", 4, 20, 40, 0.5, 3}};

static void check_load(const struct clv_learner *learner, const struct load *load)
{
    static struct random_problem r;
    static int32_t list[400];
    const struct clv_weight_layout small = {3, 4, 1, CLV_PAIRWISE_FULL};
    OWNED(toy_release) struct toy toy = {0};
    toy_begin(&toy, 3, load->n_features, 1, CLV_PAIRWISE_FULL);
    for (size_t i = 0; i < load->n; i++) {
        list[i] = (int32_t)i;
        if (load->edges > 0)
            random_problem_fill(&r, &small, load->n_nodes, load->edges, 0.7, 5 + i % 5);
        else
            random_chain(&r, &small, load->n_nodes, true, 5 + i % 5);
        r.problem.n_features = load->n_features;
        must(clv_dataset_add(toy.dataset, &r.problem, "load", err));
    }
    struct clv_training training = toy_training(&toy, learner->name);
    const struct clv_progress progress = {.report = look};
    training.examples = list;
    training.n_examples = load->n;
    training.progress = &progress;
    set_role(&training, learner, CLV_ROLE_PASSES, 2);
    set_named(&training, learner, "rounds", 1);
    set_named(&training, learner, "sweeps", 1);
    set_role(&training, learner, CLV_ROLE_BATCH, 4);
    set_named(&training, learner, "memory", 3);
    size_t before = most_in_use = in_use();
    OWNED(clv_training_result_release) struct clv_training_result result = run(learner->name, &training);
    double returned = (result.variance ? 2 : 1) * (double)sizeof(double) * (double)clv_weight_layout_size(&toy.layout);
    double used = (double)(most_in_use - before) + returned, said = learner_bytes(learner, &training);
    double little = 30e3 + 350 * (double)load->n; /* of threads and of each example, whatever it is */
    ck_assert_msg(said <= load->factor * used, "%s, %s: %g bytes, said to be %g", learner->name, load->name, used,
                  said);
    ck_assert_msg(used <= load->factor * said + little, "%s, %s: %g bytes, said to be %g", learner->name, load->name,
                  used, said);
}

TESTS(memory_is_what_the_struct_says, 0, n_learners())
{
    const struct clv_learner *learner = clv_learner_at((size_t)_i);
    if (!in_use())
        return; /* another allocator, as under sanitizers */
    for (size_t k = 0; k < sizeof loads / sizeof *loads; k++)
        if (loads[k].edges == 0 || learner->trains & CLV_TRAINS_FULL)
            check_load(learner, &loads[k]);
}

/* Lists in the manual. */

static bool takes_init_alone(const struct clv_learner *learner)
{
    return learner->takes_init && !learner->takes_hidden; /* the others are named together */
}

static bool is_likelihood(const struct clv_learner *learner)
{
    return learner->scores != CLV_SCORES_MARGIN;
}

static const struct list {
    const char *begin, *end;
    bool (*has)(const struct clv_learner *);
} lists[] = {{"then that model's.\nFor", "and the learners of hidden nodes", takes_init_alone},
             {"Models learned by", "give probabilities", is_likelihood}};

/* Whether the word is in the text, between characters that no name has. */
static bool has_word(const char *text, const char *word)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    size_t size = strlen(word);
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        if ((at == text || !strchr(letters, at[-1])) && (!at[size] || !strchr(letters, at[size])))
            return true;
    return false;
}

TEST(the_manual_lists_learners_as_the_table_does)
{
    OWNED_ARRAY char *manual = slurp("tools/cleave.1", NULL);
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        char *begin = strstr(manual, lists[k].begin), *end = begin ? strstr(begin, lists[k].end) : NULL;
        ck_assert_msg(end != NULL, "%s .. %s", lists[k].begin, lists[k].end);
        OWNED_ARRAY char *part = string_copy(begin);
        part[end - begin] = 0;
        for (size_t l = 0; clv_learner_at(l); l++)
            ck_assert_msg(has_word(part, clv_learner_at(l)->name) == lists[k].has(clv_learner_at(l)), "%s: %s",
                          lists[k].begin, clv_learner_at(l)->name);
    }
    OWNED_ARRAY char *help = expect_success("cleave probabilities --help all | tr -s ' \\n' ' '");
    char *end = strstr(help, "learn probabilities"), *begin = end;
    ck_assert_ptr_nonnull(end);
    for (*end = 0; begin > help && begin[-1] != '.'; begin--)
        continue;
    for (size_t l = 0; clv_learner_at(l); l++)
        ck_assert_msg(has_word(begin, clv_learner_at(l)->name) == is_likelihood(clv_learner_at(l)), "%s: %s", begin,
                      clv_learner_at(l)->name);
}
