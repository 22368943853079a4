/* Trains models of tags: has the table of learners, checks the settings, and assembles the model from a fit, thresholds
 * and support vectors. Start at clv_tag_train, at the end. */
#include "tags/tags.h"

#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "tags/tag_folds.h"

#define MIN_DISTANCE 1e-290 /* the mean over pairs is 0 below it, so that 1e9 / mean is in the range of gamma */

const struct clv_parameter clv_tag_parameters[] = {
    [CLV_TAG_LAMBDA] = {"lambda", 3e-4, 1e-9, 1e9, "Weight of the regulariser, for inputs of mean square length 1"},
    [CLV_TAG_GAMMA] = {"gamma", 0, 0, 1e300, "RBF kernel exp(-gamma |x-x'|^2); 0: 1 over the mean squared distance"},
    [CLV_TAG_ORDER] = {"order", 2, 1, CLV_MAX_BELIEF_ORDER, "Tags in a coupling: 1 none, 2 pairs; lmsbn also 3 and 4"},
    [CLV_TAG_ETA0] = {"eta0", 0, 0, 1e12,
                      "Extra regulariser on the couplings between tags; lmbm needs it and takes 1000"},
    [CLV_TAG_TOLERANCE] = {"tolerance", 1e-6, 1e-12, 1, "Stop at this duality gap of the objective per example"},
    [CLV_TAG_PASSES] = {"passes", 2000, 1, 1e6, "Passes over the examples at most"},
    [CLV_TAG_PARAMETERS] = {NULL, 0, 0, 0, NULL},
};

static const struct clv_tag_learner learners[] = {
    {"lmsbn", "large margin sigmoid belief network (Miao & Rao)", CLV_TAGS_LMSBN, 0, 0},
    {"lmbm", "large margin Boltzmann machine (Miao & Rao, Algorithm 1)", CLV_TAGS_LMBM, 0, 0},
    {"bc", "binary classifiers, one a tag", CLV_TAGS_INDEPENDENT, 0, 0},
    {"tsbc", "binary classifiers with tuned thresholds (Fan & Lin 2007)", CLV_TAGS_INDEPENDENT, 1, 0},
    {"ssvm-chain", "structured SVM on a chain of tags, linear", CLV_TAGS_CHAIN, 0, 1},
    {"ssvm-full", "structured SVM on the complete graph of tags, linear", CLV_TAGS_FULL, 0, 1},
};

const struct clv_tag_learner *clv_tag_learner_at(size_t index)
{
    return index < sizeof learners / sizeof *learners ? &learners[index] : NULL;
}

const struct clv_tag_learner *clv_tag_learner_find(const char *name)
{
    for (size_t i = 0; i < sizeof learners / sizeof *learners; i++)
        if (strcmp(learners[i].name, name) == 0)
            return &learners[i];
    return NULL;
}

void clv_tag_training_defaults(struct clv_tag_training *training, const struct clv_tag_learner *learner)
{
    *training = (struct clv_tag_training){.learner = learner};
    for (int i = 0; i < CLV_TAG_PARAMETERS; i++)
        training->parameters[i] = clv_tag_parameters[i].value;
    if (learner->form == CLV_TAGS_LMBM)
        training->parameters[CLV_TAG_ETA0] = CLV_TAG_LMBM_ETA0;
}

const char *clv_tag_unused_reason(const struct clv_tag_training *training, enum clv_tag_parameter parameter)
{
    bool is_alone = training->learner->form == CLV_TAGS_INDEPENDENT;
    if (parameter == CLV_TAG_GAMMA && !training->is_rbf)
        return "--kernel is linear";
    if ((parameter == CLV_TAG_ORDER || parameter == CLV_TAG_ETA0) && is_alone)
        return "it has no couplings between tags";
    return parameter == CLV_TAG_ETA0 && training->parameters[CLV_TAG_ORDER] < 2 ? "--order is 1" : NULL;
}

enum clv_status tag_parameter_check(enum clv_tag_parameter index, double value, struct clv_error *err)
{
    const struct clv_parameter *p = &clv_tag_parameters[index];
    if (!(value >= p->minimum && value <= p->maximum)) /* also refuses NaN */
        return fail(err, CLV_ERR_USAGE, "%s is %g, must be %g to %g", p->name, value, p->minimum, p->maximum);
    return CLV_OK;
}

enum clv_status tag_training_check(const struct clv_tag_training *training, struct clv_error *err)
{
    const struct clv_tag_learner *learner = training->learner;
    for (int i = 0; i < CLV_TAG_PARAMETERS; i++)
        MUST(tag_parameter_check((enum clv_tag_parameter)i, training->parameters[i], err));
    if (training->set->n < 1 || training->set->n > INT32_MAX)
        return fail(err, CLV_ERR_DATA, "%zu examples to learn from", training->set->n);
    FAIL_IF(training->set->n_features < 1, CLV_ERR_DATA, "the examples have no features");
    if (learner->is_structural && training->is_rbf)
        return fail(err, CLV_ERR_USAGE, "%s learns with the linear kernel only", learner->name);
    if (learner->form == CLV_TAGS_FULL && training->set->n_tags > CLV_MAX_RELAXED)
        return fail(err, CLV_ERR_USAGE, "%s has a coupling for every pair: %d tags are too many, the limit is %d",
                    learner->name, training->set->n_tags, CLV_MAX_RELAXED);
    if (learner->form != CLV_TAGS_LMSBN && training->parameters[CLV_TAG_ORDER] > 2)
        return fail(err, CLV_ERR_USAGE, "%s couples tags in pairs; order is %g", learner->name,
                    training->parameters[CLV_TAG_ORDER]);
    return CLV_OK;
}

/* Returns the mean over all pairs, or 0 if it is below MIN_DISTANCE. */
static double mean_distance(const struct tag_problem *problem)
{
    size_t n = problem->rows.n;
    double sum = 0, mean;
    for (size_t i = 0; i < n; i++) {
        double row = 0;
        for (size_t j = 0; j < n; j++)
            row += problem->distance[i * n + j];
        sum += row;
    }
    mean = sum / ((double)n * (double)n);
    return mean >= MIN_DISTANCE ? mean : 0;
}

enum clv_status clv_tag_mean_distance(double *mean, const struct clv_tag_training *training, struct clv_error *err)
{
    struct clv_tag_training with_kernel = *training;
    OWNED(tag_problem_release) struct tag_problem problem = {0};
    with_kernel.is_rbf = true;
    MUST(tag_problem_init(&problem, &with_kernel, err));
    *mean = mean_distance(&problem);
    return CLV_OK;
}

/* Tunes thresholds on held-out scores and subtracts them from the biases. */
static enum clv_status tune(struct clv_tag_model *model, const struct clv_tag_training *training,
                            const struct tag_problem *problem, const struct tag_folds *folds, const double *parameters,
                            struct clv_error *err)
{
    size_t n = tag_folds_size(folds), k = (size_t)problem->n_tags;
    struct tag_held_out held = tag_held_out_of(training, problem, folds, parameters);
    OWNED_ARRAY double *threshold = array_alloc(k, sizeof *threshold);
    OWNED_ARRAY double *scores = array_alloc(n * k, sizeof *scores);
    NEED(threshold && scores);
    held.scores = scores;
    MUST(tag_hold_out(&held, err));
    const struct tag_scored scored = {scores, folds->truth, n, problem->n_tags};
    MUST(tag_tune_thresholds(threshold, &scored, training->goal, err));
    for (size_t i = 0; i < k; i++)
        model->bias[i] -= threshold[i];
    return CLV_OK;
}

/* Keeps the examples with a nonzero coefficient of any tag as the model's support vectors. */
static enum clv_status keep_vectors(struct clv_tag_model *model, const struct tag_problem *problem,
                                    struct clv_error *err)
{
    const struct kernel_rows *rows = &problem->rows;
    size_t k = (size_t)model->n_tags, n = rows->n, kept = 0, n_values = 0;
    OWNED_ARRAY int32_t *vectors = array_alloc(n, sizeof *vectors);
    NEED(vectors);
    for (size_t l = 0; l < n; l++) {
        bool is_used = 0;
        for (size_t i = 0; i < k; i++)
            is_used |= model->coefficient[i * n + l] != 0;
        if (!is_used)
            continue;
        vectors[kept++] = (int32_t)l;
        n_values += (size_t)(rows->row[l + 1] - rows->row[l]);
    }
    model->row = array_alloc(kept + 1, sizeof *model->row);
    model->index = array_alloc(n_values, sizeof *model->index);
    model->value = array_alloc(n_values, sizeof *model->value);
    NEED(model->row && model->index && model->value);
    model->row[0] = 0;
    for (size_t v = 0; v < kept; v++) {
        int64_t from = rows->row[vectors[v]];
        size_t count = (size_t)(rows->row[vectors[v] + 1] - from);
        memcpy(model->index + model->row[v], rows->index + from, count * sizeof *model->index);
        memcpy(model->value + model->row[v], rows->value + from, count * sizeof *model->value);
        model->row[v + 1] = model->row[v] + (int64_t)count;
    }
    for (size_t i = 0; i < k; i++)
        for (size_t v = 0; v < kept; v++)
            model->coefficient[i * kept + v] = model->coefficient[i * n + (size_t)vectors[v]];
    model->n_vectors = kept;
    return CLV_OK;
}

static enum clv_status copy_names(struct clv_tag_model *model, const struct clv_tag_set *set, struct clv_error *err)
{
    if (!set->names)
        return CLV_OK;
    model->names = array_zalloc((size_t)set->n_tags, sizeof *model->names);
    NEED(model->names);
    for (int32_t i = 0; i < set->n_tags; i++)
        NEED(model->names[i] = string_copy(set->names[i]));
    return CLV_OK;
}

/* Fits to all examples; before this orders the tags, and afterwards tunes thresholds, if the learner needs it. */
static enum clv_status fit_all(struct clv_tag_model *model, struct clv_tag_training_result *result,
                               const struct clv_tag_training *training, const struct tag_problem *problem,
                               const double *parameters, struct clv_error *err)
{
    size_t n = problem->rows.n, k = (size_t)problem->n_tags;
    bool is_ordered = training->learner->form == CLV_TAGS_LMSBN && training->is_in_f_order && n > 1;
    OWNED(tag_folds_release) struct tag_folds folds = {0};
    OWNED_ARRAY int32_t *examples = array_alloc(n, sizeof *examples);
    OWNED_ARRAY int32_t *tag_of = array_alloc(k, sizeof *tag_of);
    NEED(examples && tag_of);
    for (size_t l = 0; l < n; l++)
        examples[l] = (int32_t)l;
    if (is_ordered || training->learner->is_tuned)
        MUST(tag_folds_init(&folds, training, err));
    const struct tag_held_out held = tag_held_out_of(training, problem, &folds, parameters);
    enum clv_status status = is_ordered ? tag_orders_by_f(tag_of, &held, err) : CLV_OK;
    FAIL_IF(status == CLV_ERR_INTERRUPTED, status,
            "interrupted while held-out examples ordered the tags: nothing is learned yet");
    if (status)
        return status;
    struct tag_fit_task task = {
        .problem = problem,
        .examples = examples,
        .n = n,
        .form = training->learner->form,
        .is_structural = training->learner->is_structural,
        .tag_of = is_ordered ? tag_of : NULL,
        .parameters = parameters,
        .seed = training->seed,
        .n_threads = training->n_threads,
        .progress = training->progress,
    };
    MUST(tag_fit(model, result, &task, err));
    if (!training->learner->is_tuned)
        return CLV_OK;
    status = tune(model, training, problem, &folds, parameters, err);
    if (status == CLV_ERR_INTERRUPTED) { /* the fit is complete */
        result->interrupted = true;
        return CLV_OK;
    }
    return status;
}

enum clv_status clv_tag_train(struct clv_tag_model *model, struct clv_tag_training_result *result,
                              const struct clv_tag_training *training, struct clv_error *err)
{
    OWNED(tag_problem_release) struct tag_problem problem = {0};
    OWNED(clv_tag_model_release) struct clv_tag_model trained = {0};
    struct clv_tag_training_result summary = {0};
    double parameters[CLV_TAG_PARAMETERS];
    MUST(tag_training_check(training, err));
    MUST(tag_problem_init(&problem, training, err));
    memcpy(parameters, training->parameters, sizeof parameters);
    if (training->is_rbf && parameters[CLV_TAG_GAMMA] == 0) {
        double mean = mean_distance(&problem);
        parameters[CLV_TAG_GAMMA] = mean > 0 ? 1 / mean : 1;
    }
    MUST(tag_problem_kernel(&problem, parameters[CLV_TAG_GAMMA], err));
    MUST(fit_all(&trained, &summary, training, &problem, parameters, err));
    if (trained.coefficient)
        MUST(keep_vectors(&trained, &problem, err));
    for (size_t i = 0; trained.weight && i < (size_t)trained.n_tags * (size_t)trained.n_features; i++)
        trained.weight[i] *= problem.unit;
    MUST(copy_names(&trained, training->set, err));
    trained.scale = TAKE(problem.scale);
    *model = TAKE(trained);
    if (result)
        *result = summary;
    return CLV_OK;
}
