#include "base/base.h"
#include "cleave/segment.h"
#include "learn/learners.h"
#include "learn/select/select.h"
#include "segment/segment.h"

enum { N_HALVES = 2 };

/* w of a training on the examples that are not of a half: *w, array_free it. NULL after an interruption. */
static enum clv_status learn_without(double **w, size_t half, const struct clv_learner *learner,
                                     const struct clv_training *training, struct clv_error *err)
{
    struct clv_training other = *training;
    struct clv_training_result result = {0};
    int32_t *examples = array_alloc(training->n_examples, sizeof *examples);
    MUST_IF(!examples, fail_memory(err));
    other.n_examples = 0;
    for (size_t i = 0; i < training->n_examples; i++)
        if (i % N_HALVES != half)
            examples[other.n_examples++] = training->examples[i];
    other.examples = examples;
    other.checkpoints = NULL;
    other.validation = NULL;
    enum clv_status status = train_part(&result, learner, &other, err);
    if (status == CLV_OK && !result.interrupted) {
        *w = result.w;
        result.w = NULL;
    }
    clv_training_result_release(&result);
    array_free(examples);
    return status;
}

enum clv_status train_refining(struct clv_model *model, const struct clv_learner *learner,
                               const struct clv_training *training, const struct clv_set *set,
                               const struct clv_image_limits *limits, struct clv_error *err)
{
    bool has_maps = model->recipe.n_maps, is_of_images = set->n_items == clv_dataset_size(training->dataset);
    if (!model->has_recipe || !refining_is_learned(model) || training->n_examples < 2 * N_HALVES)
        return CLV_OK;
    if (!has_maps && (!is_of_images || model->recipe.window)) /* mirror images, windows, features alone */
        return CLV_OK;
    FAIL_IF(!is_of_images, CLV_ERR_USAGE, "learning to refine: a set of %zu images, a dataset of %zu", set->n_items,
            clv_dataset_size(training->dataset));
    size_t n = training->n_examples;
    double *w[N_HALVES] = {NULL, NULL};
    struct clv_problem *problems = array_alloc(n, sizeof *problems);
    struct refining_example *examples = array_alloc(n, sizeof *examples);
    enum clv_status status = problems && examples ? CLV_OK : fail_memory(err);
    for (size_t half = 0; half < N_HALVES && status == CLV_OK; half++)
        status = learn_without(&w[half], half, learner, training, err);
    for (size_t i = 0; i < n && status == CLV_OK; i++) {
        problems[i] = clv_dataset_problem(training->dataset, (size_t)training->examples[i]);
        examples[i] = (struct refining_example){(size_t)training->examples[i], &problems[i], w[i % N_HALVES]};
    }
    bool is_complete = w[0] && w[1];
    if (status == CLV_OK && is_complete)
        status = refining_learn(
            model,
            &(struct refining_source){.set = set,
                                      .examples = examples,
                                      .n_examples = n,
                                      .seed = training->seed,
                                      .n_threads = training->n_threads,
                                      .iou_weight = has_maps ? REFINING_IOU_WEIGHT : REFINING_IOU_WEIGHT_STAGES,
                                      .limits = limits,
                                      .progress = training->progress},
            err);
    for (size_t half = 0; half < N_HALVES; half++)
        array_free(w[half]);
    arrays_free(problems, examples);
    return status == CLV_ERR_INTERRUPTED ? CLV_OK : status; /* the model is there; it refines as others do */
}
