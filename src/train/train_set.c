/* Trains a model from a dataset: everything that `cleave train` does between its options and the model file. Loads the
 * data, chooses parameters, learns the weights, and builds the model. Start at clv_train_set, at the end. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "cleave/train.h"
#include "data/data.h"
#include "feature/recipe/recipe.h"
#include "learn/learners.h"
#include "learn/objects/objects.h"
#include "learn/refining/refining.h"
#include "model/model.h"
#include "pixel_net/pixel_net.h"
#include "train/train.h"

/* State of one run, in the order in which it is filled. */
struct run {
    struct clv_train_options *options;
    struct train_checkpoints checkpoints;
    struct clv_model start; /* of --init */
    struct train_data data;
    int32_t *examples; /* with masks */
    struct train_weak weak;
    struct clv_dataset *validation;
    struct clv_training training; /* borrows from the above */
    struct stages_learned stages; /* the first of two, if there are two */
    struct train_outcome outcome;
};

static void run_release(struct run *self)
{
    clv_training_result_release(&self->outcome.result);
    stage_free(self->stages.first);
    array_free(self->stages.presence);
    clv_dataset_free(self->validation);
    train_weak_release(&self->weak);
    array_free(self->examples);
    train_data_release(&self->data);
    clv_model_release(&self->start);
}

/* Adapts parameters that were not given to windows, which are large and few. A pass takes four steps or more: with two
 * windows of four sections in electron microscopy, a step for each window instead of one for both let mssvm miss 6.6 %
 * fewer pixels of the rarer labels in four later sections, after 50 passes. The curve has few points unless there is a
 * validation set, because a point takes as long as several passes. Weights do not start at random, because hidden
 * slices have the labels of the others and need no distinct states: with couplings between slices that start at 0, 2
 * masks of 12 sections left 39 % fewer wrong pixels in another part of these sections. */
static void adapt_to_windows(struct clv_training *training, const struct clv_train_options *options)
{
    enum { STEPS = 4, PASSES_BETWEEN = 25 };
    double most = fmax(floor((double)training->n_examples / STEPS), 1);
    for (int i = 0; options->learner->parameters[i].name; i++) {
        enum clv_role role = options->learner->parameters[i].role;
        if (role == CLV_ROLE_BATCH && !options->is_given[i])
            training->parameters[i] = fmin(training->parameters[i], most);
        if (role == CLV_ROLE_CURVE && !options->is_given[i] && !options->validate)
            training->parameters[i] = PASSES_BETWEEN;
        if (role == CLV_ROLE_START && !options->is_given[i])
            training->parameters[i] = 0;
    }
}

/* Refuses data that the pixel network (--pixel-net) cannot be trained on. */
static enum clv_status check_pixel_net(const struct run *self, struct clv_error *err)
{
    const struct train_data *data = &self->data;
    int32_t n_labels = self->training.layout.n_labels;
    size_t least = data->recipe.window ? 2 : 4;
    const char *what = data->recipe.window ? "windows of slices" : "images";
    FAIL_IF(data->recipe.n_maps && n_labels > 2, CLV_ERR_USAGE, "--pixel-net: of %d labels it goes without maps",
            n_labels);
    FAIL_IF(n_labels > PIXEL_NET_CLASSES, CLV_ERR_USAGE, "--pixel-net: %d labels, at most %d", n_labels,
            PIXEL_NET_CLASSES);
    FAIL_IF(data->n_masks < least, CLV_ERR_USAGE, "--pixel-net: needs %zu %s with masks, there are %zu", least, what,
            data->n_masks);
    return CLV_OK;
}

/* Reads all data of the training and sets the training's fields. */
static enum clv_status gather(struct run *self, struct clv_error *err)
{
    const struct clv_train_options *options = self->options;
    const struct clv_progress *progress = options->progress;
    struct clv_training *training = &self->training;
    double started = seconds_now();
    clv_training_defaults(training, options->learner);
    memcpy(training->parameters, options->parameters, sizeof training->parameters);
    training->seed = options->seed;
    training->n_threads = options->n_threads;
    training->engine = options->engine;
    training->progress = progress;
    bool checks_effect = options->cv;
    for (int i = 0; i < CLV_MAX_PARAMETERS; i++)
        checks_effect |= options->is_given[i];
    if (checks_effect)
        MUST(train_check_effect(options, training, err));
    if (options->init)
        MUST(train_init_read(&self->start, options, err));
    MUST(train_validation_check(options, err));
    MUST(train_data_load(&self->data, options, &self->start, err));
    recipe_limits(&self->options->limits, &self->data.recipe);
    train_report_data(options, &self->data, seconds_now() - started);
    training->dataset = self->data.dataset;
    training->privileged = self->data.privileged;
    MUST(train_data_examples(&self->examples, &training->n_examples, &self->data, progress, err));
    training->examples = self->examples;
    if (self->data.recipe.window)
        adapt_to_windows(training, options);
    MUST(train_shape_choose(&training->layout, options, self->data.dataset, err));
    if (options->pixel_net)
        MUST(check_pixel_net(self, err));
    if (options->init)
        MUST(train_init_use(training, &self->start, options, &self->data, err));
    MUST(train_weak_list(&self->weak, &self->data, options->learner, &training->layout, progress, err));
    training->weak = self->weak.examples;
    training->given = self->weak.given;
    training->n_weak = self->weak.n;
    MUST(training_check_labels(training, err));
    if (options->validate)
        MUST(train_validation_load(&self->validation, options, &self->data, err));
    training->validation = self->validation;
    if (checks_effect)
        MUST(train_check_effect(options, training, err));
    if (options->checkpoint)
        MUST(train_checkpoints_use(training, &self->checkpoints, options, &self->data, err));
    return CLV_OK;
}

/* Chooses parameters by cross-validation (--cv) and trains the first of two stages (--stages 2). */
static enum clv_status choose(struct run *self, struct clv_error *err)
{
    const struct clv_train_options *options = self->options;
    bool has_two = options->stages > 1;
    if (options->cv)
        MUST(train_cross_validate(&self->training, options, &self->data, &self->weak, has_two, err));
    if (has_two)
        MUST(train_stages_learn(&self->stages, &self->training, options, &self->data, self->validation, err));
    if (options->cv && has_two)
        MUST(train_cross_validate(&self->training, options, &self->data, &self->weak, false, err));
    if (options->mirror)
        MUST(train_mirror_use(&self->examples, &self->training, &self->data, err));
    return CLV_OK;
}

static enum clv_status learn(struct run *self, struct clv_error *err)
{
    const struct clv_training *training = &self->training;
    struct clv_training_result *result = &self->outcome.result;
    double started = seconds_now();
    self->outcome.train_loss = NAN;
    enum clv_status status = clv_train(result, self->options->learner, training, err);
    if (status == CLV_ERR_INTERRUPTED) /* otherwise the result has the weights so far */
        return fail(err, status, "interrupted before there was anything to keep");
    MUST(status);
    self->outcome.seconds = seconds_now() - started;
    if (!training->n_examples)
        return CLV_OK;
    return clv_evaluate(&self->outcome.train_loss, training->dataset, training->examples, training->n_examples,
                        &training->layout, result->w, &result->decoding, training->engine, training->n_threads, err);
}

/* Adds the variance of the weights to the model, if the learner has computed it. */
static enum clv_status attach(struct clv_model *model, const struct clv_training *training,
                              const struct clv_training_result *result, struct clv_error *err)
{
    const struct clv_tensor variance = {.name = CLV_VARIANCE,
                                        .dtype = CLV_F64,
                                        .n_dimensions = 1,
                                        .shape = {(int64_t)clv_weight_layout_size(&training->layout)},
                                        .data = result->variance};
    return result->variance ? clv_model_attach(model, &variance, err) : CLV_OK;
}

/* Builds the model: moves the weights from the outcome, and recipe and labels from the data. */
static enum clv_status make_model(struct clv_model *model, struct run *self, struct clv_error *err)
{
    const struct clv_train_options *options = self->options;
    struct clv_training_result *result = &self->outcome.result;
    MUST(train_record(model, options, &self->data, &self->training, &self->outcome, err));
    MUST(attach(model, &self->training, result, err));
    train_report_learning(options, &self->data, &self->outcome);
    model->layout = self->training.layout;
    model->w = TAKE(result->w);
    model->decoding = result->decoding;
    model->recipe = TAKE(self->data.recipe);
    model->has_recipe = self->data.has_recipe;
    recipe_limits(&self->options->limits, &model->recipe);
    model->labels = TAKE(self->data.labels);
    model->first = TAKE(self->stages.first);
    MUST(train_record_unseen(model, &self->data, err));
    if (self->stages.presence)
        MUST(stages_price(model, self->stages.presence, options->label_costs, &self->training, model->w, err));
    if (result->interrupted)
        return CLV_OK;
    const struct clv_training training = train_weak_held_out(&self->training, &self->weak);
    MUST(
        train_refining(model, options->learner, &training, &self->data.set, &options->limits, options->pixel_net, err));
    if (self->data.set.n_items)
        MUST(learned_objects_train(model, &self->data.set, self->data.n_masks, options, err));
    return CLV_OK;
}

enum clv_status clv_train_set(struct clv_model *model, const struct clv_train_options *options, struct clv_error *err)
{
    struct clv_train_options changed;
    OWNED(run_release) struct run self = {.options = &changed};
    FAIL_IF(!options->learner, CLV_ERR_USAGE, "training: no learner is given");
    changed = *options;
    *model = (struct clv_model){0};
    if (changed.sequence && !changed.recipe.window)
        changed.recipe.window = CLV_DEFAULT_WINDOW;
    FAIL_IF(!changed.data == !changed.n_images, CLV_ERR_USAGE,
            "training: either data or images are to be learned from");
    if (changed.n_images) {
        MUST(train_memory_check(&changed, err));
        changed.data = IMAGES_IN_MEMORY;
    }
    if (!changed.n_files) {
        changed.files = &changed.data;
        changed.n_files = 1;
    }
    MUST(train_rules_check(train_option_rules, &changed, NULL, NULL, err));
    MUST(train_rules_check(feature_option_rules, &changed, NULL, NULL, err));
    enum clv_status status = gather(&self, err);
    if (status == CLV_ERR_INTERRUPTED)
        return fail(err, status, "interrupted before anything was learned; nothing is written");
    if (status)
        return status;
    MUST(choose(&self, err));
    MUST(learn(&self, err));
    MUST(make_model(model, &self, err));
    if (changed.validate && !stop_requested(changed.progress))
        MUST(train_validation_report(&changed, &self.data, &self.training, model, err));
    return CLV_OK;
}
