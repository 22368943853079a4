/* Datasets in which weak examples carry pseudo-labels, for training a teacher or a learner that takes masks alone; with
 * privileged features for a teacher. Start at pseudo_labelled_dataset. */
#include "learn/weak/weak.h"

#include <math.h>

#include "base/base.h"
#include "feature/dataset/dataset.h"

/* Chosen by the errors of pseudo-labels: five teachers each learned from 14 random masks of the horses and labelled the
 * other images. */
enum { BOX_CUT_BINS = 7 };
static const float BOX_CUT_WEIGHT = 2; /* against the other features of a node, whose blocks are about 1 each */

/* Features of what box segmentation gives a node: its value, spread over the two nearest of BOX_CUT_BINS, from `first`
 * on. Returns the entries written. */
static size_t put_box_cut(int32_t *index, float *value, int32_t first, float foreground)
{
    float at = foreground * (BOX_CUT_BINS - 1), low = fminf(floorf(at), BOX_CUT_BINS - 2);
    for (int32_t k = 0; k < 2; k++) {
        index[k] = first + (int32_t)low + k;
        value[k] = BOX_CUT_WEIGHT * (k ? at - low : 1 - (at - low));
    }
    return 2;
}

/* Appends the frame's features to the problem's own and, if `with_box_cut`, those of box segmentation. The new rows are
 * the item's. */
static enum clv_status widen(struct dataset_item *item, const struct clv_problem *frame, bool with_box_cut,
                             struct clv_error *err)
{
    struct clv_problem *problem = &item->problem;
    size_t n = (size_t)problem->n_nodes, at = 0;
    size_t size = (size_t)(problem->row[n] - problem->row[0] + frame->row[n] - frame->row[0]);
    int32_t first_bin = problem->n_features + frame->n_features;
    item->row = array_alloc(n + 1, sizeof *item->row);
    item->index = array_alloc(size + 2 * n, sizeof *item->index);
    item->value = array_alloc(size + 2 * n, sizeof *item->value);
    NEED(item->row && item->index && item->value);
    for (size_t i = 0; i < n; i++) {
        item->row[i] = (int64_t)at;
        for (int64_t k = problem->row[i]; k < problem->row[i + 1]; k++, at++) {
            item->index[at] = problem->index[k];
            item->value[at] = problem->value[k];
        }
        for (int64_t k = frame->row[i]; k < frame->row[i + 1]; k++, at++) {
            item->index[at] = problem->n_features + frame->index[k];
            item->value[at] = frame->value[k];
        }
        if (with_box_cut && frame->theta)
            at += put_box_cut(item->index + at, item->value + at, first_bin, frame->theta[2 * i + 1]);
    }
    item->row[n] = (int64_t)at;
    problem->n_features = first_bin + (with_box_cut ? BOX_CUT_BINS : 0);
    problem->row = item->row;
    problem->index = item->index;
    problem->value = item->value;
    return CLV_OK;
}

enum clv_status pseudo_labelled_example(struct dataset_item *item, const struct clv_training *training, size_t number,
                                        bool framed, struct clv_error *err)
{
    *item = (struct dataset_item){.problem = clv_dataset_problem(training->dataset, number)};
    if (!framed || !training->frames)
        return CLV_OK;
    struct clv_problem frame = clv_dataset_problem(training->frames, number);
    /* Without masks pseudo-labels start from box segmentation, which would only confirm itself. */
    return widen(item, &frame, training->n_examples > 0, err);
}

struct partial_options pseudo_labelled_options(const struct clv_learner *learner, const struct clv_training *training)
{
    return (struct partial_options){
        .weighted = true,
        .is_published = learner_is_published(learner, training),
        .n_samples = (uint32_t)learner_value(learner, training, CLV_ROLE_DRAWS, 1),
        .sharpness = learner_value(learner, training, CLV_ROLE_SHARPNESS, 1),
    };
}

/* Sets the labels and weights of an item from its pseudo-labels. */
static enum clv_status label_item(struct dataset_item *item, const double *q, const struct clv_weight_layout *layout,
                                  const struct partial_options *options, struct clv_error *err)
{
    size_t n = (size_t)item->problem.n_nodes;
    item->label = array_alloc(n, sizeof *item->label);
    item->theta = array_alloc(n * (size_t)layout->n_labels, sizeof *item->theta);
    NEED(item->label && item->theta);
    item->problem.label = item->label;
    item->problem.theta = item->theta;
    return partial_weigh((struct partial_labels){item->theta, item->label}, q, &item->problem, layout, options, err);
}

enum clv_status pseudo_labelled_dataset(struct clv_dataset **dataset, double *const *q, bool framed,
                                        const struct clv_learner *learner, const struct clv_training *training,
                                        struct clv_error *err)
{
    struct partial_options options = pseudo_labelled_options(learner, training);
    OWNED(dataset_drop) struct clv_dataset *result = NULL;
    size_t n_weak = q ? training->n_weak : 0;
    MUST(clv_dataset_new(&result, training->layout.n_labels, err));
    for (size_t i = 0; i < training->n_examples + n_weak; i++) {
        bool is_weak = i >= training->n_examples;
        size_t weak = i - training->n_examples;
        size_t number = (size_t)(is_weak ? training->weak[weak] : training->examples[i]);
        OWNED(dataset_item_release) struct dataset_item item = {0};
        MUST(pseudo_labelled_example(&item, training, number, framed, err));
        if (is_weak)
            MUST(label_item(&item, q[weak], &training->layout, &options, err));
        NEED(item.name = string_copy(clv_dataset_name(training->dataset, number)));
        MUST(dataset_append(result, &item, err));
        item = (struct dataset_item){0}; /* it is the dataset's now */
    }
    *dataset = TAKE(result);
    return CLV_OK;
}

enum clv_status pseudo_labelled_train(struct clv_training_result *result, const struct clv_dataset *dataset,
                                      const struct clv_learner *learner, const struct clv_training *training,
                                      struct clv_error *err)
{
    struct clv_training changed = *training;
    size_t n = clv_dataset_size(dataset);
    OWNED_ARRAY int32_t *examples = array_alloc(n, sizeof *examples);
    NEED(examples);
    for (size_t i = 0; i < n; i++)
        examples[i] = (int32_t)i;
    changed.dataset = dataset;
    changed.examples = examples;
    changed.n_examples = n;
    changed.n_weak = 0;
    changed.layout.n_features = clv_dataset_problem(dataset, 0).n_features;
    if (changed.layout.n_features != training->layout.n_features) /* a teacher that sees frames */
        changed.init = NULL;
    return learner->train(result, &changed, err);
}
