/* Trains a model's refinement: trains the model on each half of the examples, labels the images of the other half with
 * it, and learns from these labels. Start at train_refining, at the end. */
#include "learn/refining/refining.h"

#include "base/base.h"
#include "feature/dataset/dataset.h"
#include "learn/learners.h"
#include "learn/select/select.h"
#include "refine/by_model/by_model.h"

enum { N_HALVES = 2 };

/* Trains on the examples that are not in a half. Sets *w to the weights (array_free); leaves it after an
 * interruption. */
static enum clv_status learn_without(double **w, size_t half, const struct clv_learner *learner,
                                     const struct clv_training *training, struct clv_error *err)
{
    struct clv_training other = *training;
    OWNED_ARRAY int32_t *examples = array_alloc(training->n_examples, sizeof *examples);
    OWNED(clv_training_result_release) struct clv_training_result result = {0};
    NEED(examples);
    other.n_examples = 0;
    for (size_t i = 0; i < training->n_examples; i++)
        if (i % N_HALVES != half)
            examples[other.n_examples++] = training->examples[i];
    other.examples = examples;
    other.checkpoints = NULL;
    other.validation = NULL;
    MUST(train_part(&result, learner, &other, err));
    if (!result.interrupted)
        *w = TAKE(result.w);
    return CLV_OK;
}

struct refining_list {
    struct refining_example *examples; /* [n] */
    size_t n;
    struct clv_problem *problems; /* [training->n_examples] problems of the examples */
};

/* Lists an example for each training image with a mask, with the weights that were trained without it. The caller frees
 * both arrays (array_free). */
static enum clv_status list_examples(struct refining_list *list, const struct clv_training *training,
                                     const struct clv_set *set, double *const w[N_HALVES], struct clv_error *err)
{
    list->problems = array_alloc(training->n_examples, sizeof *list->problems);
    size_t n_images = set->n_items;
    list->examples =
        array_alloc(n_images > training->n_examples ? n_images : training->n_examples, sizeof *list->examples);
    NEED(list->problems && list->examples);
    for (size_t i = 0; i < training->n_examples; i++) {
        size_t example = (size_t)training->examples[i];
        const struct dataset_item *item = &training->dataset->items[example];
        const int32_t *first_node = item->first_node;
        list->problems[i] = clv_dataset_problem(training->dataset, example);
        for (size_t k = 0; k < (first_node ? item->n_slices : 1); k++) {
            size_t of_set = first_node ? item->first_slice + k : example;
            if (!first_node || set->items[of_set].mask)
                list->examples[list->n++] = (struct refining_example){.item = of_set,
                                                                      .problem = &list->problems[i],
                                                                      .w = w[i % N_HALVES],
                                                                      .first_node = first_node ? first_node[k] : 0,
                                                                      .is_slice = first_node != NULL};
        }
    }
    return CLV_OK;
}

struct halves {
    double *w[N_HALVES]; /* trained without each half */
    struct refining_list list;
};

static void halves_release(struct halves *self)
{
    for (size_t half = 0; half < N_HALVES; half++)
        array_free(self->w[half]);
    arrays_free(self->list.problems, self->list.examples);
}

static enum clv_status learn_from_halves(struct clv_model *model, const struct clv_learner *learner,
                                         const struct clv_training *training, const struct clv_set *set,
                                         const struct clv_image_limits *limits, bool wants_net, struct clv_error *err)
{
    OWNED(halves_release) struct halves self = {0};
    for (size_t half = 0; half < N_HALVES; half++)
        MUST(learn_without(&self.w[half], half, learner, training, err));
    MUST(list_examples(&self.list, training, set, self.w, err));
    if (!self.w[0] || !self.w[1])
        return CLV_OK;
    const struct refining_source source = {
        .set = set,
        .limits = limits,
        .examples = self.list.examples,
        .n_examples = self.list.n,
        .seed = training->seed,
        .n_threads = training->n_threads,
        .wants_net = wants_net,
        .iou_weight = model->recipe.n_maps ? REFINING_IOU_WEIGHT : REFINING_IOU_WEIGHT_STAGES,
        .progress = training->progress,
    };
    return refining_learn(model, &source, err);
}

enum clv_status train_refining(struct clv_model *model, const struct clv_learner *learner,
                               const struct clv_training *training, const struct clv_set *set,
                               const struct clv_image_limits *limits, bool wants_net, struct clv_error *err)
{
    size_t n_images = set->n_items;
    bool has_maps = model->recipe.n_maps, has_windows = training->dataset->has_windows && n_images;
    bool is_of_images = has_windows || n_images == clv_dataset_size(training->dataset);
    if (!model->has_recipe || !refining_is_learned(model, wants_net) ||
        training->n_examples < (has_windows ? N_HALVES : 2 * N_HALVES))
        return CLV_OK;
    if (!n_images || (!has_maps && (!is_of_images || (has_windows && !wants_net))))
        return CLV_OK; /* only features, mirror images, or windows without a network */
    FAIL_IF(!is_of_images, CLV_ERR_USAGE, "learning to refine: a set of %zu images, a dataset of %zu", n_images,
            clv_dataset_size(training->dataset));
    enum clv_status status = learn_from_halves(model, learner, training, set, limits, wants_net, err);
    return status == CLV_ERR_INTERRUPTED ? CLV_OK : status; /* the model is complete; it refines by the defaults */
}
