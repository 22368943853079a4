/* What every learner makes of small problems, at every value of every parameter, compared with what it made when
 * tests/golden/trainings.tsv was written: nothing changes unnoticed. Whoever changes a result on purpose writes the
 * file anew,
 *
 *     CLEAVE_GOLDEN=write CK_RUN_SUITE=golden_trainings CLEAVE_BUILD=build build/run-tests
 *
 * and looks at the difference. The same test demands that every parameter changes something somewhere. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "learn/chains.h"
#include "support/golden.h"

static size_t n_surprises;

/* Problems of one kind, some of them without labels. */
struct kind {
    const char *name;
    struct clv_weight_layout layout;
    bool is_chain, has_hidden, has_weak;
};
static const struct kind kinds[] = {
    {"cuts", {2, 6, 2, CLV_PAIRWISE_POTTS}, false, false, false},
    {"cuts, weak", {2, 6, 2, CLV_PAIRWISE_POTTS}, false, false, true},
    {"three labels", {3, 4, 2, CLV_PAIRWISE_POTTS}, false, false, false},
    {"chains", {3, 4, 1, CLV_PAIRWISE_FULL}, true, false, false},
    {"chains, five labels", {5, 4, 1, CLV_PAIRWISE_FULL}, true, false, false},
    {"chains, hidden", {3, 4, 1, CLV_PAIRWISE_FULL}, true, true, false},
    {"loops, hidden", {2, 4, 2, CLV_PAIRWISE_FULL}, false, true, false},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds, N_PROBLEMS = 6, N_NODES = 5 };

static void make(struct toy *toy, const struct kind *kind)
{
    static struct random_problem r;
    const struct clv_weight_layout *layout = &kind->layout;
    toy_begin(toy, layout->n_labels, layout->n_features, layout->n_edge_features, layout->pairwise);
    for (size_t i = 0; i < N_PROBLEMS; i++) {
        if (kind->is_chain)
            random_chain(&r, layout, N_NODES, true, 7000 + i);
        else
            random_problem_fill(&r, layout, N_NODES, 0.6, 0.7, 7000 + i);
        for (int32_t k = 1; kind->has_hidden && k < N_NODES; k += 2) {
            r.label[k] = CLV_UNKNOWN;
            for (int32_t b = 0; b < layout->n_labels; b++)
                r.theta[k * layout->n_labels + b] = 0;
        }
        toy_add(toy, &r.problem);
    }
}

/* Values that end a training soon, and values that differ from them: both of use to more than one learner. */
static const struct {
    const char *name;
    double quick, other;
} usual[] = {{"passes", 16, 21}, {"rounds", 2, 3}, {"samples", 6, 9}, {"steps", 12, 15},
             {"gap", 1e-9, 1e9}, {"inner", 3, 4},  {"batch", 2, 1},   {"cells", 0, 4000},
             {"curve", 0, 4},    {"sweeps", 8, 1}, {"memory", 5, 3},  {"tolerance", 1e-6, 0.5}};

static double quick_value(const struct clv_parameter *parameter, double value)
{
    for (size_t k = 0; k < sizeof usual / sizeof *usual; k++)
        if (strcmp(parameter->name, usual[k].name) == 0)
            return usual[k].quick;
    return value;
}

static double other_value(const struct clv_parameter *parameter, double value)
{
    for (size_t k = 0; k < sizeof usual / sizeof *usual; k++)
        if (strcmp(parameter->name, usual[k].name) == 0)
            return usual[k].other < parameter->maximum ? usual[k].other : parameter->maximum;
    if (parameter->minimum == 0 && parameter->maximum == 1 && (value == 0 || value == 1))
        return 1 - value;
    double other = value == 0 ? 0.5 : 1.7 * value;
    return other <= parameter->maximum ? other : 0.6 * value;
}

/* Rows of these learners have their validation losses. test_traits.c measures those of all. */
static bool is_validated(const struct clv_learner *learner)
{
    static const char *const names[] = {"pmap", "mpmap", "wmpmap", "mssvm", "lssvm", "hcrf", "eps"};
    bool is_listed = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        is_listed |= strcmp(learner->name, names[i]) == 0;
    return is_listed;
}

/* Weights that a model without pairwise terms lacks count as 0: `shape` is that of the kind. */
static uint64_t digest_of(const struct clv_training_result *result, const struct clv_learner *learner,
                          const struct clv_training *training, const struct clv_weight_layout *layout)
{
    size_t size = clv_weight_layout_size(&training->layout);
    double w[128] = {0};
    memcpy(w, result->w, size * sizeof *w);
    uint64_t digest = golden_doubles(HASH_START, "weights", w, clv_weight_layout_size(layout));
    if (result->variance)
        digest = golden_doubles(digest, "variances", result->variance, size);
    for (size_t i = 0; i < result->n_curve; i++) {
        const struct clv_curve_point *point = &result->curve[i];
        const double values[] = {point->pass, point->objective, point->dual, point->train_loss};
        digest = golden_doubles(digest, "curve", values, sizeof values / sizeof *values);
    }
    if (result->validation_loss && is_validated(learner))
        digest = golden_doubles(digest, "validation", result->validation_loss, result->n_curve);
    for (size_t i = 0; i < result->n_notes; i++)
        digest = golden_doubles(digest, "notes", &result->notes[i].value, 1);
    const double decoding[] = {result->decoding.rule, result->decoding.hidden_temperature};
    return golden_doubles(digest, "decoding", decoding, 2);
}

/* Trains and keeps a row, the first one of a result: a setting that changes nothing has none, and gets one as soon as it
 * changes something. Returns the digest, or that of the refusal. */
static uint64_t train_one(const struct clv_learner *learner, const struct clv_training *training,
                          const struct kind *kind, const char *setting)
{
    OWNED(clv_training_result_release) struct clv_training_result result = {0};
    struct clv_error error = {0};
    enum clv_status status = clv_train(&result, learner, training, &error);
    uint64_t digest = status ? golden_bytes(HASH_START, "message", error.message, strlen(error.message))
                             : digest_of(&result, learner, training, &kind->layout);
    golden_row_once(digest, "%s\t%s\t%s%s", learner->name, kind->name, setting, status ? ", refused" : "");
    return digest;
}

static const char *setting_text(const struct clv_learner *learner, int parameter, double value)
{
    const char *const *names = learner->parameters[parameter].choices, *name = learner->parameters[parameter].name;
    return names ? formatted("%s %s", name, names[(size_t)value]) : formatted("%s %g", name, value);
}

/* Without pairwise terms, learners that give exact results then. */
static void train_apart(const struct clv_learner *learner, const struct clv_training *from, const struct kind *kind,
                        const char *base)
{
    static const char *const names[] = {"ssvm",   "perceptron", "subgradient", "pmap",  "mpmap",
                                        "wmpmap", "m3n",        "lapmedn",     "l1m3n", "crf"};
    struct clv_training training = *from;
    bool is_listed = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        is_listed |= strcmp(learner->name, names[i]) == 0;
    training.layout.pairwise = CLV_PAIRWISE_NONE;
    if (is_listed)
        train_one(learner, &training, kind, formatted("%s%spairwise none", base, *base ? ", " : ""));
}

/* One parameter after the other away from `base`, whose digest is given. */
static void walk(bool *matters, const struct clv_learner *learner, struct clv_training *training,
                 const struct kind *kind, const char *base, uint64_t digest)
{
    for (int i = 0; learner->parameters[i].name; i++) {
        double kept = training->parameters[i], other = other_value(&learner->parameters[i], kept);
        if (learner->parameters[i].choices)
            continue;
        training->parameters[i] = other;
        uint64_t changed = train_one(learner, training, kind,
                                     formatted("%s%s%s", base, *base ? ", " : "", setting_text(learner, i, other)));
        matters[i] |= changed != digest;
        training->parameters[i] = kept;
    }
}

/* Parameters that change nothing here: `reduction` leaves out work whose result has weight 0, no label is given for
 * `conditional`, no frames are there for ssvm's `paper`, and l1m3n's `beta` is that of its `paper`. */
static bool needs_no_memory(const struct clv_learner *learner, const char *name)
{
    return strcmp(name, "reduction") == 0 || strcmp(name, "conditional") == 0 ||
           (strcmp(learner->name, "ssvm") == 0 && strcmp(name, "paper") == 0) ||
           (strcmp(learner->name, "l1m3n") == 0 && strcmp(name, "beta") == 0);
}

/* From weights, as they are and with problems held out that are looked at. */
static void train_on(const struct clv_learner *learner, const struct clv_training *from, const struct kind *kind,
                     const char *base)
{
    struct clv_training training = *from;
    double start[128];
    for (size_t k = 0; k < clv_weight_layout_size(&training.layout); k++)
        start[k] = 0.3 * rng_normal(5, 0, k);
    for (size_t k = clv_weight_layout_unary_size(&training.layout); k < clv_weight_layout_size(&training.layout); k++)
        start[k] = fabs(start[k]);
    training.init = learner->takes_init ? start : NULL;
    training.validation = training.dataset;
    train_one(learner, &training, kind, formatted("%s%sfrom weights", base, *base ? ", " : ""));
}

static void train_all(const struct clv_learner *learner)
{
    bool matters[CLV_MAX_PARAMETERS] = {false};
    for (size_t k = 0; k < N_KINDS; k++) {
        const struct kind *kind = &kinds[k];
        static const int32_t weak[] = {4, 5};
        OWNED(toy_release) struct toy toy = {0};
        make(&toy, kind);
        struct clv_training training = toy_training(&toy, learner->name);
        if (kind->has_weak) {
            training.n_examples = N_PROBLEMS - 2;
            training.weak = weak;
            training.n_weak = 2;
        }
        for (int i = 0; learner->parameters[i].name; i++)
            training.parameters[i] = quick_value(&learner->parameters[i], training.parameters[i]);
        uint64_t digest = train_one(learner, &training, kind, "");
        walk(matters, learner, &training, kind, "", digest);
        train_on(learner, &training, kind, "");
        train_apart(learner, &training, kind, "");
        for (int i = 0; learner->parameters[i].name; i++) {
            const char *const *names = learner->parameters[i].choices;
            double kept = training.parameters[i];
            for (size_t choice = 0; names && names[choice]; choice++) {
                if ((double)choice == kept)
                    continue;
                training.parameters[i] = (double)choice;
                const char *base = setting_text(learner, i, (double)choice);
                uint64_t chosen = train_one(learner, &training, kind, base);
                matters[i] |= chosen != digest;
                walk(matters, learner, &training, kind, base, chosen);
                train_on(learner, &training, kind, base);
                train_apart(learner, &training, kind, base);
            }
            training.parameters[i] = kept;
        }
    }
    for (int i = 0; learner->parameters[i].name; i++)
        if (matters[i] == needs_no_memory(learner, learner->parameters[i].name)) {
            fprintf(stderr, "%s: --%s changes %s\n", learner->name, learner->parameters[i].name,
                    matters[i] ? "results" : "nothing");
            n_surprises++;
        }
}

TEST(every_learner_makes_what_it_made_and_every_parameter_matters)
{
    golden_begin();
    for (size_t i = 0; clv_learner_at(i); i++)
        train_all(clv_learner_at(i));
    golden_end("trainings", "learner\tproblems\tsetting\tdigest");
    ck_assert_uint_eq(n_surprises, 0);
}
