/* learner_unused_reason, for every parameter of every learner: where it says that a parameter can have no effect no
 * value of it changes anything, and everywhere else one does. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learn/chains.h"
#include "learn/common/common.h"
#include "learn/hidden/hidden_toy.h"

/* What is learned from. */

enum data { CUTS, WEAK, PRIVILEGED, BOXES, NODES_ALONE, FULL_CHAINS, HIDDEN_CHAINS, HIDDEN_LOOPS, N_DATA };
static const char *const data_names[] = {"cuts",  "weak",        "privileged",    "boxes",
                                         "nodes", "full chains", "hidden chains", "hidden loops"};

struct given_data {
    struct toy toy;
    struct clv_dataset *privileged; /* the result of box segmentation */
    const int32_t *given[64];
    int32_t labels[64][RANDOM_MAX_NODES];
    double init[64];
};

static void add_privileged(struct given_data *self)
{
    must(clv_dataset_new(&self->privileged, 2, err));
    for (size_t i = 0; i < self->toy.n; i++) {
        struct clv_problem problem = clv_dataset_problem(self->toy.dataset, i);
        float theta[2 * RANDOM_MAX_NODES];
        for (int32_t k = 0; k < problem.n_nodes; k++) {
            theta[2 * k + 1] = (float)rng_uniform(i, RNG_TEST, (uint64_t)k);
            theta[2 * k] = 1 - theta[2 * k + 1];
        }
        problem.n_edges = 0;
        problem.theta = theta;
        must(clv_dataset_add(self->privileged, &problem, "privileged", err));
    }
}

/* Boxes: every third node is background. */
static void give_labels(struct given_data *self)
{
    for (size_t i = 0; i < self->toy.n; i++) {
        for (int32_t k = 0; k < RANDOM_MAX_NODES; k++)
            self->labels[i][k] = k % 3 ? CLV_UNKNOWN : 0;
        self->given[i] = self->labels[i];
    }
}

static void open_data(struct given_data *self, enum data data)
{
    static const struct clv_weight_layout cuts = {2, 5, 2, CLV_PAIRWISE_POTTS}, nodes = {3, 5, 0, CLV_PAIRWISE_NONE};
    memset(self, 0, sizeof *self);
    switch (data) {
    case NODES_ALONE: toy_random(&self->toy, 6, 3, &nodes, 3); break;
    case FULL_CHAINS: toy_chains(&self->toy, 8, &chain_shape, 3); break;
    case HIDDEN_CHAINS: toy_hidden(&self->toy, 6, &full3, CHAINS, 3); break;
    case HIDDEN_LOOPS: toy_hidden(&self->toy, 6, &full3, LOOPS, 3); break;
    default: toy_random(&self->toy, 6, 8, &cuts, 3);
    }
    give_labels(self);
    if (data == PRIVILEGED || data == BOXES)
        add_privileged(self);
    for (size_t k = 0; k < clv_weight_layout_size(&self->toy.layout); k++)
        self->init[k] = 0.1 * (double)(1 + k % 3);
}

static void close_data(struct given_data *self)
{
    clv_dataset_free(self->privileged);
    toy_release(&self->toy);
}

/* Whether the learner takes such data at all. */
static bool takes(const struct clv_learner *learner, enum data data, const struct toy *toy)
{
    bool is_hidden = data == HIDDEN_CHAINS || data == HIDDEN_LOOPS, is_weak = data >= WEAK && data <= BOXES;
    enum clv_graph graph = data == FULL_CHAINS || data == HIDDEN_CHAINS ? CLV_GRAPH_CHAIN : CLV_GRAPH_ANY;
    if (is_hidden != learner->takes_hidden && (is_hidden || data == CUTS))
        return false;
    if (is_weak && learner->takes_hidden)
        return false;
    return learner_trains(learner, toy->layout.pairwise, toy->layout.n_labels, graph);
}

/* Settings. */

static bool has(const struct clv_learner *learner, const char *name)
{
    return clv_learner_parameter(learner, name) >= 0;
}

/* Few steps; enough for the first check of a gap, ten steps of L-BFGS, and three planes of CCCP. */
static struct clv_training short_training(const struct given_data *data, enum data kind,
                                          const struct clv_learner *learner)
{
    static const char *const counts[] = {"steps", "rounds", "samples"};
    struct clv_training training = toy_training(&data->toy, learner->name);
    size_t n_masks = kind == BOXES ? 0 : kind == WEAK || kind == PRIVILEGED ? 3 : data->toy.n;
    training.n_examples = n_masks;
    training.weak = data->toy.examples + n_masks;
    training.n_weak = data->toy.n - n_masks;
    training.given = data->given + n_masks;
    training.privileged = data->privileged;
    set(&training, learner->name, has(learner, "passes") ? "passes" : "C", has(learner, "passes") ? 12 : 2);
    for (int k = 0; k < 3; k++)
        if (has(learner, counts[k]))
            set(&training, learner->name, counts[k], k == 1 ? 2 : 8);
    return training;
}

/* Values of a parameter to be tried: `which` from 0; false where there are no more. */
static bool value_at(double *value, const struct clv_learner *learner, int index, double now, int which)
{
    static const double numbers[] = {0, 1, 0.5, 30, 1e6};
    const struct clv_parameter *p = &learner->parameters[index];
    bool is_count = strcmp(p->name, "passes") == 0 || strcmp(p->name, "rounds") == 0 ||
                    strcmp(p->name, "samples") == 0 || strcmp(p->name, "steps") == 0 || strcmp(p->name, "inner") == 0;
    if (learner->parameters[index].choices) {
        *value = which;
        return which <= p->maximum;
    }
    if (which == 5)
        *value = now * 3;
    else if (which < 5)
        *value = numbers[which];
    *value = fmin(fmax(*value, p->minimum), is_count ? fmin(p->maximum, 14) : p->maximum);
    return which <= 5;
}

static bool is_same(const struct clv_training_result *a, const struct clv_training_result *b, size_t size)
{
    bool same = !memcmp(a->w, b->w, size * sizeof *a->w) && a->n_curve == b->n_curve && a->n_notes == b->n_notes &&
                a->decoding.rule == b->decoding.rule &&
                a->decoding.hidden_temperature == b->decoding.hidden_temperature && !a->variance == !b->variance;
    for (size_t i = 0; same && i < a->n_curve; i++) /* what a pass is depends on nothing but counts */
        same = a->curve[i].objective == b->curve[i].objective || isnan(a->curve[i].objective);
    for (size_t i = 0; same && i < a->n_notes; i++)
        same = a->notes[i].value == b->notes[i].value || isnan(a->notes[i].value);
    return same && (!a->variance || !memcmp(a->variance, b->variance, size * sizeof *a->variance));
}

/* Whether some value of the parameter makes a difference; *n_tried counts those that a training takes. */
static bool matters(int *n_tried, const struct clv_learner *learner, struct clv_training training, int index)
{
    size_t size = clv_weight_layout_size(&training.layout);
    OWNED(clv_training_result_release) struct clv_training_result base = {0};
    struct clv_training_result other;
    double now = training.parameters[index];
    bool differs = false;
    *n_tried = 0;
    if (clv_train(&base, learner, &training, NULL))
        return false;
    for (int k = 0; !differs && value_at(&training.parameters[index], learner, index, now, k); k++) {
        if (training.parameters[index] == now || clv_train(&other, learner, &training, NULL))
            continue;
        ++*n_tried;
        differs = !is_same(&base, &other, size);
        clv_training_result_release(&other);
    }
    return differs;
}

/* The same, also for trainings that are shorter or longer, or regularised more: there the better of two candidates may
 * be another one, and what is sure by little regularisation is not. */
static bool matters_ever(int *n_tried, const struct clv_learner *learner, struct clv_training training, int index)
{
    static const double passes[] = {12, 3, 40};
    for (int k = 0; k < 6; k++) {
        struct clv_training other = training;
        if (has(learner, "passes"))
            set(&other, learner->name, "passes", passes[k % 3]);
        if (k >= 3 && has(learner, "lambda"))
            set(&other, learner->name, "lambda", 0.1);
        if (k >= 3 && has(learner, "C"))
            set(&other, learner->name, "C", 0.3);
        if (matters(n_tried, learner, other, index))
            return true;
    }
    return false;
}

/* Change how long a training takes, never what it results in. */
static bool is_about_time(const char *name)
{
    return strcmp(name, "reduction") == 0 || strcmp(name, "dynamic") == 0;
}

static void walk(const struct clv_learner *learner, const struct clv_training *training, const char *setting)
{
    char space[UNUSED_REASON_SIZE];
    for (int index = 0; learner->parameters[index].name; index++) {
        const char *name = learner->parameters[index].name,
                   *why = learner_unused_reason(space, learner, training, index);
        int n_tried;
        if (is_about_time(name))
            continue;
        bool differs =
            why ? matters(&n_tried, learner, *training, index) : matters_ever(&n_tried, learner, *training, index);
        if (n_tried)
            ck_assert_msg(differs == !why, "%s, %s: --%s %s; %s", learner->name, setting, name,
                          differs ? "changes the result" : "changes nothing", why ? why : "said to have an effect");
        if (why)
            ck_assert_msg(strchr(why, ' ') && strlen(why) < 80, "%s: %s", name, why);
    }
}

/* Every switch and choice in turn on top of the defaults, and what decides between two ways. */
static void walk_settings(const struct clv_learner *learner, const struct clv_training *base, const char *data)
{
    static const char *const more[][2] = {{"c", "1"}, {"cells", "1e6"}, {"step", "0"}, {"paper", "1"}};
    walk(learner, base, data);
    for (int i = 0; learner->parameters[i].name; i++)
        for (int k = 0; learner->parameters[i].choices && learner->parameters[i].choices[k]; k++) {
            struct clv_training training = *base;
            if (k == base->parameters[i])
                continue;
            training.parameters[i] = k;
            walk(learner, &training, formatted("%s, %s", data, learner->parameters[i].choices[k]));
        }
    for (size_t k = 0; k < sizeof more / sizeof *more; k++)
        if (has(learner, more[k][0])) {
            struct clv_training training = *base;
            set(&training, learner->name, more[k][0], atof(more[k][1]));
            walk(learner, &training, formatted("%s, %s %s", data, more[k][0], more[k][1]));
        }
}

static int n_learners(void)
{
    int n = 0;
    while (clv_learner_at((size_t)n))
        n++;
    return n;
}

TESTS(a_parameter_changes_the_result_or_says_why_not, 0, n_learners())
{
    static struct given_data data;
    const struct clv_learner *learner = clv_learner_at((size_t)_i);
    int n = 0;
    for (int kind = 0; kind < N_DATA; kind++) {
        open_data(&data, (enum data)kind);
        if (takes(learner, (enum data)kind, &data.toy)) {
            struct clv_training training = short_training(&data, (enum data)kind, learner);
            walk_settings(learner, &training, data_names[kind]);
            training.init = learner->takes_init ? data.init : NULL;
            if (training.init && !training.n_weak)
                walk(learner, &training, formatted("%s, init", data_names[kind]));
            n++;
        }
        close_data(&data);
    }
    ck_assert_int_gt(n, 0);
}

/* Before the data are read, they may yet be what a parameter needs. */
TEST(without_data_parameters_alone_decide)
{
    static const struct {
        const char *learner, *set, *value, *parameter, *why;
    } cases[] = {
        {"mssvm", "solver", "1", "lambda", "--solver is subgradient"},
        {"mssvm", "c", "2", "lambda", "--c is 2"},
        {"hcrf", "paper", "1", "lambda", "--paper is 1"},
        {"hcrf", "paper", "0", "smooth", "there are no maxima to smooth"},
        {"mssvm", "paper", "0", "inner", "--solver is adagrad"},
        {"wmpmap", "step", "0", "rate", "--step is 0"},
        {"m3n", "solver", "0", "beta", "--solver is bcfw"},
        {"crf", "penalty", "0", "lambda", "--penalty is none"},
        {"wmpmap", "step", "1", "kappa", NULL},
        {"mssvm", "paper", "0", "sweeps", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char space[UNUSED_REASON_SIZE];
        const struct clv_learner *learner = clv_learner_find(cases[i].learner);
        struct clv_training training = {0};
        clv_training_defaults(&training, learner);
        set(&training, cases[i].learner, cases[i].set, atof(cases[i].value));
        ck_assert_pstr_eq(
            learner_unused_reason(space, learner, &training, clv_learner_parameter(learner, cases[i].parameter)),
            cases[i].why);
    }
}
