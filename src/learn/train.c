/* Trains by any learner: checks parameters, examples and memory, makes pseudo-labels if they are needed, runs the
 * learner and judges its result. Start at clv_train. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "base/memory.h"
#include "cleave/learn.h"
#include "feature/dataset/dataset.h"
#include "learn/common/common.h"
#include "learn/learners.h"
#include "learn/weak/weak.h"
#include "mrf/problem.h"

static enum clv_status check_parameter(const struct clv_learner *learner, int index, double value,
                                       struct clv_error *err)
{
    const struct clv_parameter *p = &learner->parameters[index];
    if (!(value >= p->minimum && value <= p->maximum)) /* NaN fails too */
        return fail_about(
            err, fail(err, CLV_ERR_USAGE, "%s is %g, must be %g to %g", p->name, value, p->minimum, p->maximum),
            learner->name);
    if (p->choices && value != floor(value))
        return fail_about(err, fail(err, CLV_ERR_USAGE, "%s is %g, must be a whole number", p->name, value),
                          learner->name);
    return CLV_OK;
}

static enum clv_status check_init(const struct clv_learner *learner, const struct clv_training *training,
                                  struct clv_error *err)
{
    size_t size = training->init ? clv_weight_layout_size(&training->layout) : 0;
    FAIL_IF(training->init && !learner->takes_init, CLV_ERR_USAGE, "%s cannot start from given weights", learner->name);
    for (size_t k = 0; k < size; k++)
        if (!isfinite(training->init[k]))
            return fail(err, CLV_ERR_DATA, "weight %zu to start from is %g", k, training->init[k]);
    return CLV_OK;
}

struct example_check {
    const struct clv_training *training;
    const struct clv_learner *learner;
};

static enum clv_status check_form(const struct clv_learner *learner, const struct clv_weight_layout *layout,
                                  const struct clv_problem *problem, struct clv_error *err)
{
    static const char *const graphs[] = {"chain", "graph without loops", "graph with loops"};
    enum clv_graph graph;
    MUST(problem_graph(&graph, problem, err));
    bool learns_full = learner_trains(learner, CLV_PAIRWISE_FULL, layout->n_labels, graph);
    FAIL_IF(!learner_trains(learner, layout->pairwise, layout->n_labels, graph), CLV_ERR_USAGE,
            "%s does not learn %s pairwise terms of %d labels on a %s; %s %s", learner->name,
            layout->pairwise == CLV_PAIRWISE_FULL ? "full" : "Potts", layout->n_labels, graphs[graph],
            learns_full ? "it" : learner_of_any_graph()->name, learns_full ? "learns full ones" : "does");
    return CLV_OK;
}

static enum clv_status check_problem(const struct example_check *check, const struct clv_problem *problem,
                                     struct clv_error *err)
{
    const struct clv_training *training = check->training;
    dataset_notify_access(training->dataset, problem);
    MUST(clv_problem_check(problem, &training->layout, err));
    FAIL_IF(!problem->label || !problem->theta, CLV_ERR_DATA, "has no true labels to learn from");
    return check_form(check->learner, &training->layout, problem, err);
}

static enum clv_status check_example(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    const struct example_check *check = context;
    const struct clv_dataset *dataset = check->training->dataset;
    size_t item = (size_t)check->training->examples[index];
    const struct clv_problem problem = clv_dataset_problem(dataset, item);
    enum clv_status status = check_problem(check, &problem, err);
    if (status) {
        const char *name = clv_dataset_name(dataset, item);
        return name ? fail_within(err, status, name) : fail_about(err, status, "example");
    }
    return CLV_OK;
}

static enum clv_status check_weak_problem(const struct clv_training *training, const struct clv_problem *problem,
                                          struct clv_error *err)
{
    dataset_notify_access(training->dataset, problem);
    MUST(clv_problem_check(problem, &training->layout, err));
    FAIL_IF(!problem->area, CLV_ERR_DATA, "has no areas of nodes");
    return CLV_OK;
}

static enum clv_status check_weak_example(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    const struct clv_training *training = context;
    size_t item = (size_t)training->weak[index];
    struct clv_problem problem = clv_dataset_problem(training->dataset, item);
    problem.label = training->given ? training->given[index] : NULL;
    problem.theta = NULL;
    enum clv_status status = check_weak_problem(training, &problem, err);
    if (status) {
        const char *name = clv_dataset_name(training->dataset, item);
        return name ? fail_within(err, status, name) : fail_about(err, status, "weak example");
    }
    return CLV_OK;
}

static enum clv_status check_weak(const struct clv_training *training, struct clv_error *err)
{
    size_t size = clv_dataset_size(training->dataset);
    FAIL_IF(training->n_weak > INT32_MAX, CLV_ERR_DATA, "%zu weak examples to learn from", training->n_weak);
    for (size_t i = 0; i < training->n_weak; i++)
        if (training->weak[i] < 0 || (size_t)training->weak[i] >= size)
            return fail(err, CLV_ERR_USAGE, "weak example %zu is number %d of a dataset of %zu", i, training->weak[i],
                        size);
    return parallel_for(training->n_weak, training->n_threads, check_weak_example, (void *)(uintptr_t)training, err);
}

/* Refuses privileged features of other nodes than the dataset's, which teachers append to them. */
static enum clv_status check_privileged(const struct clv_training *training, struct clv_error *err)
{
    if (!training->privileged)
        return CLV_OK;
    size_t n = clv_dataset_size(training->dataset), n_privileged = clv_dataset_size(training->privileged);
    FAIL_IF(training->layout.n_labels != 2, CLV_ERR_USAGE, "privileged features take two labels, not %d",
            training->layout.n_labels);
    FAIL_IF(n_privileged != n, CLV_ERR_USAGE, "privileged features of %zu examples, the dataset has %zu", n_privileged,
            n);
    for (size_t i = 0; i < n; i++) {
        int32_t n_nodes = clv_dataset_problem(training->dataset, i).n_nodes;
        int32_t n_given = clv_dataset_problem(training->privileged, i).n_nodes;
        FAIL_IF(n_given != n_nodes, CLV_ERR_USAGE, "example %zu: privileged features of %d nodes, it has %d", i,
                n_given, n_nodes);
    }
    return CLV_OK;
}

/* Whether weak examples suffice without masks: some of them have given labels, and labels are two. */
static bool teaches_without_masks(const struct clv_training *training)
{
    bool is_given = false;
    for (size_t k = 0; k < training->n_weak && training->given; k++)
        is_given |= training->given[k] != NULL;
    return is_given && training->layout.n_labels == 2;
}

static enum clv_status check_training(const struct clv_learner *learner, const struct clv_training *training,
                                      struct clv_error *err)
{
    size_t size = clv_dataset_size(training->dataset);
    if ((training->n_examples < 1 && !teaches_without_masks(training)) || training->n_examples > INT32_MAX)
        return fail(err, CLV_ERR_DATA, "%zu examples to learn from", training->n_examples);
    FAIL_IF(training->layout.n_labels != clv_dataset_n_labels(training->dataset), CLV_ERR_USAGE,
            "the layout has %d labels, the data %d", training->layout.n_labels,
            clv_dataset_n_labels(training->dataset));
    for (size_t i = 0; i < training->n_examples; i++)
        if (training->examples[i] < 0 || (size_t)training->examples[i] >= size)
            return fail(err, CLV_ERR_USAGE, "example %zu is number %d of a dataset of %zu", i, training->examples[i],
                        size);
    struct example_check check = {training, learner};
    return parallel_for(training->n_examples, training->n_threads, check_example, &check, err);
}

static enum clv_status check_memory(const struct clv_learner *learner, const struct clv_training *training,
                                    struct clv_error *err)
{
    enum clv_status status = memory_require(learner_bytes(learner, training), "what it keeps beyond the data",
                                            "fewer features, labels or images need less", err);
    return status ? fail_about(err, status, learner->name) : CLV_OK;
}

enum clv_status training_check_labels(const struct clv_training *training, struct clv_error *err)
{
    int32_t n_labels = clv_dataset_n_labels(training->dataset), n_seen = 0, seen = 0;
    for (size_t k = 0; k < training->n_weak && training->given; k++)
        if (training->given[k])
            return CLV_OK;
    OWNED_ARRAY double *share = array_zalloc((size_t)n_labels, sizeof *share);
    NEED(share);
    for (size_t i = 0; i < training->n_examples; i++) {
        struct clv_problem problem = clv_dataset_problem(training->dataset, (size_t)training->examples[i]);
        label_shares_add(share, &problem, n_labels);
    }
    for (int32_t label = 0; label < n_labels; label++)
        if (share[label] > 0) {
            n_seen++;
            seen = label;
        }
    FAIL_IF(n_seen == 1, CLV_ERR_USAGE, "all that is known of %zu examples is label %d: there is nothing to separate",
            training->n_examples, seen);
    return CLV_OK;
}

static enum clv_status train(struct clv_training_result *result, const struct clv_learner *learner,
                             const struct clv_training *training, bool is_part, struct clv_error *err)
{
    for (int i = 0; learner->parameters[i].name; i++)
        MUST(check_parameter(learner, i, training->parameters[i], err));
    MUST(check_training(learner, training, err));
    if (!is_part)
        MUST(training_check_labels(training, err));
    MUST(check_init(learner, training, err));
    MUST(check_weak(training, err));
    MUST(check_privileged(training, err));
    MUST(check_memory(learner, training, err));
    bool is_weak = training->n_weak && pseudo_labels_needed(learner, training);
    if (training->n_weak && !training->n_examples && learner_is_published(learner, training)) {
        fail(err, CLV_ERR_USAGE,
             "--paper 1 labels images without masks by a model of those with masks, and no image has a mask");
        return fail_about(err, CLV_ERR_USAGE, learner->name);
    }
    OWNED(clv_training_result_release) struct clv_training_result trained = {.at_zero = NAN};
    OWNED(pseudo_labels_release) struct clv_pseudo_labels pseudo_labels = {0};
    struct clv_training guided = *training;
    if (is_weak) {
        MUST(pseudo_labels_make(&pseudo_labels, learner, training, err));
        guided.pseudo_labels = &pseudo_labels;
    }
    if (is_weak && (!training->n_examples || learner_role(learner, CLV_ROLE_KAPPA) < 0))
        MUST(pseudo_labels_train(&trained, &pseudo_labels, learner, training, err));
    else
        MUST(learner->train(&trained, &guided, err));
    training_judge(learner, training, &trained);
    *result = TAKE(trained);
    return CLV_OK;
}

enum clv_status clv_train(struct clv_training_result *result, const struct clv_learner *learner,
                          const struct clv_training *training, struct clv_error *err)
{
    return train(result, learner, training, false, err);
}

enum clv_status train_part(struct clv_training_result *result, const struct clv_learner *learner,
                           const struct clv_training *training, struct clv_error *err)
{
    return train(result, learner, training, true, err);
}

enum clv_status clv_learner_layout(struct clv_weight_layout *layout, const struct clv_learner *learner,
                                   const struct clv_dataset *dataset, struct clv_error *err)
{
    enum clv_graph graph;
    FAIL_IF(!clv_dataset_size(dataset), CLV_ERR_USAGE, "no examples to choose the layout of weights by");
    MUST(dataset_graph(&graph, dataset, err));
    struct clv_problem first = clv_dataset_problem(dataset, 0);
    struct clv_weight_layout chosen = {.n_labels = clv_dataset_n_labels(dataset),
                                       .n_features = first.n_features,
                                       .n_edge_features = first.n_edge_features,
                                       .pairwise = dataset_pairwise(dataset)};
    while (!learner_trains(learner, chosen.pairwise, chosen.n_labels, graph))
        chosen.pairwise = (enum clv_pairwise)(chosen.pairwise - 1);
    *layout = chosen;
    return CLV_OK;
}
