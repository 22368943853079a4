/* Training models of tags: the learner table, checks, cross-validation, and putting the model together. */
#include "cleave/annotate.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "annotate/tag_folds.h"
#include "base/array.h"
#include "base/error.h"

const struct clv_parameter clv_tag_parameters[] = {
    [CLV_TAG_LAMBDA] = {"lambda", 3e-4, 1e-9, 1e9, "Weight of the regulariser, for inputs of mean square length 1"},
    [CLV_TAG_GAMMA] = {"gamma", 0, 0, 1e9, "RBF kernel exp(-gamma |x-x'|^2); 0: 1 over the mean squared distance"},
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

void clv_tag_training_defaults(struct clv_tag_training *training)
{
    for (int i = 0; i < CLV_TAG_PARAMETERS; i++)
        training->parameters[i] = clv_tag_parameters[i].value;
    if (training->learner && training->learner->form == CLV_TAGS_LMBM)
        training->parameters[CLV_TAG_ETA0] = CLV_TAG_LMBM_ETA0;
}

static enum clv_status check_parameter(int index, double value, struct clv_error *err)
{
    const struct clv_parameter *p = &clv_tag_parameters[index];
    if (!(value >= p->minimum && value <= p->maximum)) /* NaN fails too */
        return fail(err, CLV_ERR_USAGE, "%s is %g, must be %g to %g", p->name, value, p->minimum, p->maximum);
    return CLV_OK;
}

static enum clv_status check_training(const struct clv_tag_training *training, struct clv_error *err)
{
    const struct clv_tag_learner *learner = training->learner;
    for (int i = 0; i < CLV_TAG_PARAMETERS; i++) {
        enum clv_status status = check_parameter(i, training->parameters[i], err);
        if (status != CLV_OK)
            return status;
    }
    if (training->set->n < 1 || training->set->n > INT32_MAX)
        return fail(err, CLV_ERR_DATA, "%zu examples to learn from", training->set->n);
    if (training->set->n_features < 1)
        return fail(err, CLV_ERR_DATA, "the examples have no features");
    if (learner->is_structural && training->is_rbf)
        return fail(err, CLV_ERR_USAGE, "%s learns with the linear kernel only", learner->name);
    if (learner->form == CLV_TAGS_FULL && training->set->n_tags > CLV_MAX_ENUMERATED)
        return fail(err, CLV_ERR_USAGE, "%s enumerates labellings: %d tags are too many, the limit is %d",
                    learner->name, training->set->n_tags, CLV_MAX_ENUMERATED);
    if (learner->form != CLV_TAGS_LMSBN && training->parameters[CLV_TAG_ORDER] > 2)
        return fail(err, CLV_ERR_USAGE, "%s couples tags in pairs; order is %g", learner->name,
                    training->parameters[CLV_TAG_ORDER]);
    return CLV_OK;
}

static double mean_distance(const struct tag_problem *problem)
{
    size_t n = problem->rows.n;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double row = 0;
        for (size_t j = 0; j < n; j++)
            row += problem->distance[i * n + j];
        sum += row;
    }
    return sum / ((double)n * (double)n);
}

enum clv_status clv_tag_mean_distance(double *mean, const struct clv_tag_training *training, struct clv_error *err)
{
    struct clv_tag_training with_kernel = *training;
    struct tag_problem problem;
    with_kernel.is_rbf = true;
    enum clv_status status = tag_problem_init(&problem, &with_kernel, err);
    if (status != CLV_OK)
        return status;
    *mean = mean_distance(&problem);
    tag_problem_release(&problem);
    return CLV_OK;
}

/* A fit's part of every question put to held-out examples. */
static struct tag_held_out held_out_of(const struct clv_tag_training *training, const struct tag_problem *problem,
                                       const struct tag_folds *folds)
{
    return (struct tag_held_out){
        .problem = problem,
        .folds = folds,
        .form = CLV_TAGS_INDEPENDENT,
        .seed = training->seed,
        .n_threads = training->n_threads,
        .progress = training->progress,
    };
}

/* The sequence by F for each of n_tasks settings: place[n_tasks][n_tags]. */
static enum clv_status orders_by_f(int32_t *place, const struct clv_tag_training *training,
                                   const struct tag_problem *problem, const struct tag_folds *folds,
                                   const double (*parameters)[CLV_TAG_PARAMETERS], size_t n_tasks,
                                   struct clv_error *err)
{
    size_t n = tag_folds_size(folds), k = (size_t)problem->n_tags;
    struct tag_held_out held = held_out_of(training, problem, folds);
    held.n_tasks = n_tasks;
    held.parameters = parameters;
    held.tags = array_alloc(n_tasks * n, k);
    enum clv_status status = held.tags ? tag_hold_out(&held, err) : fail_memory(err);
    for (size_t t = 0; status == CLV_OK && t < n_tasks; t++)
        tag_order_by_f(place + t * k, folds->truth, held.tags + t * n * k, n, problem->n_tags);
    array_free(held.tags);
    return status;
}

/* Measures of every lambda for the Gram matrix that stands: scores[n_lambda], a column of the table. */
static enum clv_status validate_column(struct clv_tag_score *scores, const struct clv_tag_training *training,
                                       const struct tag_problem *problem, const struct tag_folds *folds,
                                       const double (*parameters)[CLV_TAG_PARAMETERS], size_t n_tasks,
                                       struct clv_error *err)
{
    size_t n = tag_folds_size(folds), k = (size_t)problem->n_tags;
    bool is_ordered = training->learner->form == CLV_TAGS_LMSBN && training->is_in_f_order;
    struct tag_held_out held = held_out_of(training, problem, folds);
    int32_t *place = array_alloc(n_tasks * k, sizeof *place);
    const int32_t **places = array_alloc(n_tasks, sizeof *places);
    held.form = training->learner->form;
    held.is_structural = training->learner->is_structural;
    held.n_tasks = n_tasks;
    held.parameters = parameters;
    held.tags = array_alloc(n_tasks * n, k);
    enum clv_status status = place && places && held.tags ? CLV_OK : fail_memory(err);
    if (status == CLV_OK && is_ordered) {
        status = orders_by_f(place, training, problem, folds, parameters, n_tasks, err);
        for (size_t t = 0; t < n_tasks; t++)
            places[t] = place + t * k;
        held.place = places;
    }
    if (status == CLV_OK)
        status = tag_hold_out(&held, err);
    for (size_t t = 0; status == CLV_OK && t < n_tasks; t++)
        status = clv_tag_measure(&scores[t], folds->truth, held.tags + t * n * k, n, problem->n_tags, err);
    array_free(place);
    array_free(places);
    array_free(held.tags);
    return status;
}

/* scores[n_lambda][n_gamma] */
static enum clv_status validate_grid(struct clv_tag_score *scores, const struct clv_tag_training *training,
                                     const struct clv_tag_grid *grid, struct tag_problem *problem,
                                     const struct tag_folds *folds, struct clv_error *err)
{
    size_t n_gamma = training->is_rbf ? grid->n_gamma : 1;
    double(*parameters)[CLV_TAG_PARAMETERS] = array_alloc(grid->n_lambda, sizeof *parameters);
    struct clv_tag_score *column = array_alloc(grid->n_lambda, sizeof *column);
    enum clv_status status = parameters && column ? CLV_OK : fail_memory(err);
    for (size_t g = 0; status == CLV_OK && g < n_gamma; g++) {
        for (size_t i = 0; i < grid->n_lambda; i++) {
            memcpy(parameters[i], training->parameters, sizeof *parameters);
            parameters[i][CLV_TAG_LAMBDA] = grid->lambda[i];
            if (training->is_rbf)
                parameters[i][CLV_TAG_GAMMA] = grid->gamma[g];
        }
        report_progress(training->progress, "cross-validation", g, n_gamma, "");
        status = tag_problem_kernel(problem, training->is_rbf ? grid->gamma[g] : 0, err);
        if (status == CLV_OK)
            status = validate_column(column, training, problem, folds, (const double(*)[CLV_TAG_PARAMETERS])parameters,
                                     grid->n_lambda, err);
        for (size_t i = 0; status == CLV_OK && i < grid->n_lambda; i++)
            scores[i * n_gamma + g] = column[i];
    }
    array_free(parameters);
    array_free(column);
    return status;
}

enum clv_status clv_tag_cross_validate(double parameters[CLV_TAG_PARAMETERS], struct clv_tag_score *scores,
                                       const struct clv_tag_training *training, const struct clv_tag_grid *grid,
                                       struct clv_error *err)
{
    size_t n_gamma = training->is_rbf ? grid->n_gamma : 1, n = grid->n_lambda * n_gamma, best = 0;
    struct tag_problem problem = {0};
    struct tag_folds folds = {0};
    enum clv_status status = check_training(training, err);
    for (size_t i = 0; status == CLV_OK && i < grid->n_lambda; i++)
        status = check_parameter(CLV_TAG_LAMBDA, grid->lambda[i], err);
    for (size_t i = 0; status == CLV_OK && training->is_rbf && i < grid->n_gamma; i++)
        status = check_parameter(CLV_TAG_GAMMA, grid->gamma[i], err);
    if (status == CLV_OK && !n)
        status = fail(err, CLV_ERR_USAGE, "cross-validation without candidates");
    if (status != CLV_OK)
        return status;
    struct clv_tag_score *table = array_alloc(n, sizeof *table);
    status = table ? tag_folds_init(&folds, training, err) : fail_memory(err);
    if (status == CLV_OK)
        status = tag_problem_init(&problem, training, err);
    if (status == CLV_OK)
        status = validate_grid(table, training, grid, &problem, &folds, err);
    if (status == CLV_OK) {
        for (size_t i = 1; i < n; i++)
            if (tag_goal_value(&table[i], training->goal) > tag_goal_value(&table[best], training->goal))
                best = i;
        double chosen[CLV_TAG_PARAMETERS];
        memcpy(chosen, training->parameters, sizeof chosen);
        chosen[CLV_TAG_LAMBDA] = grid->lambda[best / n_gamma];
        if (training->is_rbf)
            chosen[CLV_TAG_GAMMA] = grid->gamma[best % n_gamma];
        memcpy(parameters, chosen, sizeof chosen);
        if (scores)
            memcpy(scores, table, n * sizeof *table);
    }
    tag_problem_release(&problem);
    tag_folds_release(&folds);
    array_free(table);
    return status;
}

/* Thresholds from held-out scores go into the biases. */
static enum clv_status tune(struct clv_tag_model *model, const struct clv_tag_training *training,
                            const struct tag_problem *problem, const struct tag_folds *folds, const double *parameters,
                            struct clv_error *err)
{
    size_t n = tag_folds_size(folds), k = (size_t)problem->n_tags;
    struct tag_held_out held = held_out_of(training, problem, folds);
    double *threshold = array_alloc(k, sizeof *threshold);
    held.n_tasks = 1;
    held.parameters = (const double(*)[CLV_TAG_PARAMETERS])parameters;
    held.scores = array_alloc(n * k, sizeof *held.scores);
    enum clv_status status = threshold && held.scores ? tag_hold_out(&held, err) : fail_memory(err);
    if (status == CLV_OK)
        status = tag_tune_thresholds(threshold, held.scores, folds->truth, n, problem->n_tags, training->goal, err);
    for (size_t i = 0; status == CLV_OK && i < k; i++)
        model->bias[i] -= threshold[i];
    array_free(threshold);
    array_free(held.scores);
    return status;
}

/* Keeps the examples that any tag leans on as the model's support vectors. */
static enum clv_status keep_vectors(struct clv_tag_model *model, const struct tag_problem *problem,
                                    struct clv_error *err)
{
    const struct kernel_rows *rows = &problem->rows;
    size_t k = (size_t)model->n_tags, n = rows->n, kept = 0, n_values = 0;
    int32_t *which = array_alloc(n, sizeof *which);
    if (!which)
        return fail_memory(err);
    for (size_t l = 0; l < n; l++) {
        bool is_used = 0;
        for (size_t i = 0; i < k; i++)
            is_used |= model->coefficient[i * n + l] != 0;
        if (!is_used)
            continue;
        which[kept++] = (int32_t)l;
        n_values += (size_t)(rows->row[l + 1] - rows->row[l]);
    }
    model->row = array_alloc(kept + 1, sizeof *model->row);
    model->index = array_alloc(n_values, sizeof *model->index);
    model->value = array_alloc(n_values, sizeof *model->value);
    if (!model->row || !model->index || !model->value) {
        array_free(which);
        return fail_memory(err);
    }
    model->row[0] = 0;
    for (size_t v = 0; v < kept; v++) {
        int64_t from = rows->row[which[v]];
        size_t count = (size_t)(rows->row[which[v] + 1] - from);
        memcpy(model->index + model->row[v], rows->index + from, count * sizeof *model->index);
        memcpy(model->value + model->row[v], rows->value + from, count * sizeof *model->value);
        model->row[v + 1] = model->row[v] + (int64_t)count;
    }
    for (size_t i = 0; i < k; i++)
        for (size_t v = 0; v < kept; v++)
            model->coefficient[i * kept + v] = model->coefficient[i * n + (size_t)which[v]];
    model->n_vectors = kept;
    array_free(which);
    return CLV_OK;
}

static enum clv_status copy_names(struct clv_tag_model *model, const struct clv_tag_set *set, struct clv_error *err)
{
    if (!set->names)
        return CLV_OK;
    model->names = array_zalloc((size_t)set->n_tags, sizeof *model->names);
    if (!model->names)
        return fail_memory(err);
    for (int32_t i = 0; i < set->n_tags; i++)
        if (!(model->names[i] = string_copy(set->names[i])))
            return fail_memory(err);
    return CLV_OK;
}

/* The fit to all examples, with what comes before it (the sequence) and after it (thresholds). */
static enum clv_status fit_all(struct clv_tag_model *model, struct clv_tag_training_result *result,
                               const struct clv_tag_training *training, const struct tag_problem *problem,
                               const double *parameters, struct clv_error *err)
{
    size_t n = problem->rows.n, k = (size_t)problem->n_tags;
    bool is_ordered = training->learner->form == CLV_TAGS_LMSBN && training->is_in_f_order && n > 1;
    struct tag_folds folds = {0};
    int32_t *examples = array_alloc(n, sizeof *examples), *place = array_alloc(k, sizeof *place);
    enum clv_status status = examples && place ? CLV_OK : fail_memory(err);
    for (size_t l = 0; status == CLV_OK && l < n; l++)
        examples[l] = (int32_t)l;
    if (status == CLV_OK && (is_ordered || training->learner->is_tuned))
        status = tag_folds_init(&folds, training, err);
    if (status == CLV_OK && is_ordered)
        status = orders_by_f(place, training, problem, &folds, (const double(*)[CLV_TAG_PARAMETERS])parameters, 1, err);
    struct tag_fit_task task = {
        .problem = problem,
        .examples = examples,
        .n = n,
        .form = training->learner->form,
        .is_structural = training->learner->is_structural,
        .place = is_ordered ? place : NULL,
        .parameters = parameters,
        .seed = training->seed,
        .n_threads = training->n_threads,
        .progress = training->progress,
    };
    if (status == CLV_OK)
        status = tag_fit(model, result, &task, err);
    if (status == CLV_OK && training->learner->is_tuned)
        status = tune(model, training, problem, &folds, parameters, err);
    tag_folds_release(&folds);
    array_free(examples);
    array_free(place);
    return status;
}

enum clv_status clv_tag_train(struct clv_tag_model *model, struct clv_tag_training_result *result,
                              const struct clv_tag_training *training, struct clv_error *err)
{
    struct tag_problem problem;
    struct clv_tag_model fresh = {0};
    struct clv_tag_training_result made = {0};
    double parameters[CLV_TAG_PARAMETERS];
    enum clv_status status = check_training(training, err);
    if (status == CLV_OK)
        status = tag_problem_init(&problem, training, err);
    if (status != CLV_OK)
        return status;
    memcpy(parameters, training->parameters, sizeof parameters);
    if (training->is_rbf && parameters[CLV_TAG_GAMMA] == 0) {
        double mean = mean_distance(&problem);
        parameters[CLV_TAG_GAMMA] = mean > 0 ? 1 / mean : 1;
    }
    status = tag_problem_kernel(&problem, parameters[CLV_TAG_GAMMA], err);
    if (status == CLV_OK)
        status = fit_all(&fresh, &made, training, &problem, parameters, err);
    if (status == CLV_OK && fresh.coefficient)
        status = keep_vectors(&fresh, &problem, err);
    for (size_t i = 0; status == CLV_OK && fresh.weight && i < (size_t)fresh.n_tags * (size_t)fresh.n_features; i++)
        fresh.weight[i] *= problem.unit;
    if (status == CLV_OK)
        status = copy_names(&fresh, training->set, err);
    if (status == CLV_OK && problem.scale) {
        fresh.scale = problem.scale;
        problem.scale = NULL;
    }
    tag_problem_release(&problem);
    if (status == CLV_OK) {
        *model = fresh;
        if (result)
            *result = made;
    } else {
        clv_tag_model_release(&fresh);
    }
    return status;
}
