/* cleave train: from images with masks to a model. */
#include <math.h>
#include <time.h>

#include "base/array.h"
#include "base/error.h"
#include "base/path.h"
#include "base/team.h"
#include "cleave/segment.h"
#include "cli/common/command.h"
#include "cli/common/console.h"
#include "cli/common/signals.h"
#include "cli/train/train.h"
#include "learn/learners.h"
#include "model/stage.h"

/* All that one run holds, stage by stage. */
struct run {
    const struct train_options *options;
    struct clv_progress progress;
    struct train_checkpoints checkpoints;
    struct clv_model start; /* of --init */
    struct train_data data;
    int32_t *examples; /* with masks */
    struct train_weak weak;
    struct clv_dataset *validation;
    struct clv_training training; /* views of the above */
    struct stages_learned stages; /* the first of two, if there are two */
    struct train_outcome outcome;
    struct clv_model model;
};

static void run_release(struct run *self)
{
    clv_model_release(&self->model);
    clv_training_result_release(&self->outcome.result);
    stage_free(self->stages.first);
    array_free(self->stages.presence);
    clv_dataset_free(self->validation);
    train_weak_release(&self->weak);
    array_free(self->examples);
    train_data_release(&self->data);
    clv_model_release(&self->start);
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Reads all that is learned from, and describes the training. */
static enum clv_status gather(struct run *self, struct clv_error *err)
{
    const struct train_options *options = self->options;
    struct clv_training *training = &self->training;
    double started = now_s();
    enum clv_status status = learner_options_apply(&options->learner, training);
    training->seed = options->seed;
    training->n_threads = options->common.n_threads;
    training->engine = options->engine;
    training->progress = &self->progress;
    if (status == CLV_OK)
        status = train_effect_check(options, training, err);
    if (status == CLV_OK)
        status = train_init_read(&self->start, options, err);
    if (status == CLV_OK)
        status = train_data_load(&self->data, options, &self->start, &self->progress, err);
    if (status != CLV_OK)
        return status;
    train_print_data(options, &self->data, now_s() - started);
    training->dataset = self->data.dataset;
    training->frames = self->data.frames;
    status = train_data_examples(&self->examples, &training->n_examples, &self->data, err);
    training->examples = self->examples;
    if (status == CLV_OK)
        status = train_shape_choose(&training->shape, options, self->data.dataset, err);
    if (status == CLV_OK)
        status = train_init_use(training, &self->start, options, &self->data, err);
    if (status == CLV_OK)
        status = train_weak_list(&self->weak, &self->data, options->learner.learner, &training->shape, err);
    training->weak = self->weak.examples;
    training->given = self->weak.given;
    training->n_weak = self->weak.n;
    if (status == CLV_OK)
        status = training_check_labels(training, err);
    if (status == CLV_OK && options->validate)
        status = train_validation_load(&self->validation, options, &self->data, &self->progress, err);
    training->validation = self->validation;
    if (status == CLV_OK)
        status = train_effect_check(options, training, err);
    if (status == CLV_OK)
        status = train_checkpoints_use(training, &self->checkpoints, options, &self->data, err);
    return status;
}

/* What is left to cross-validation. */
static enum clv_status choose(struct run *self, struct clv_error *err)
{
    const struct train_options *options = self->options;
    enum clv_status status = CLV_OK;
    if (options->n_folds)
        status = train_cross_validate(&self->training, options, &self->data, &self->weak, options->n_stages > 1, err);
    if (status == CLV_OK)
        status = train_stages_learn(&self->stages, &self->training, options, &self->data, self->validation, err);
    if (status == CLV_OK && options->n_folds && self->stages.first)
        status = train_cross_validate(&self->training, options, &self->data, &self->weak, false, err);
    if (status == CLV_OK && options->mirrors)
        status = train_mirror_use(&self->examples, &self->training, &self->data, err);
    return status;
}

static enum clv_status learn(struct run *self, struct clv_error *err)
{
    const struct clv_training *training = &self->training;
    struct clv_training_result *result = &self->outcome.result;
    double started = now_s();
    self->outcome.train_loss = NAN;
    enum clv_status status = clv_train(result, self->options->learner.learner, training, err);
    self->outcome.seconds = now_s() - started;
    if (status == CLV_OK && training->n_examples)
        status =
            clv_evaluate(&self->outcome.train_loss, training->dataset, training->examples, training->n_examples,
                         &training->shape, result->w, &result->decoding, training->engine, training->n_threads, err);
    return status;
}

/* What a learner keeps besides the weights. */
static enum clv_status attach(struct clv_model *model, const struct clv_training *training,
                              const struct clv_training_result *result, struct clv_error *err)
{
    const struct clv_tensor variance = {.name = CLV_VARIANCE,
                                        .dtype = CLV_F64,
                                        .n_dimensions = 1,
                                        .shape = {(int64_t)clv_shape_size(&training->shape)},
                                        .data = result->variance};
    return result->variance ? clv_model_attach(model, &variance, err) : CLV_OK;
}

/* The model from the outcome, which gives its weights away, and from the data, which gives recipe and labels. */
static enum clv_status make_model(struct run *self, struct clv_error *err)
{
    struct clv_model *model = &self->model;
    struct clv_training_result *result = &self->outcome.result;
    enum clv_status status = train_record(model, self->options, &self->data, &self->training, &self->outcome, err);
    if (status == CLV_OK)
        status = attach(model, &self->training, result, err);
    if (status != CLV_OK)
        return status;
    train_print_learning(self->options, &self->data, &self->outcome);
    model->shape = self->training.shape;
    model->w = result->w;
    model->decoding = result->decoding;
    result->w = NULL;
    model->recipe = self->data.recipe;
    model->has_recipe = self->data.has_recipe;
    model->labels = self->data.labels;
    model->first = self->stages.first;
    self->stages.first = NULL;
    self->data.recipe = (struct clv_recipe){0};
    self->data.labels = (struct clv_labels){0};
    status = stages_price(model, self->stages.presence, self->options->label_costs, &self->training, model->w, err);
    if (status == CLV_OK && !result->interrupted && self->data.set.n_items) { /* kept where there are maps */
        const struct clv_training training = train_weak_held_out(&self->training, &self->weak);
        status = clv_train_refining(model, self->options->learner.learner, &training, &self->data.set,
                                    &self->options->common.limits, err);
    }
    return status;
}

static enum clv_status write_model(const struct run *self, struct clv_error *err)
{
    const struct train_options *options = self->options;
    bool interrupted = self->outcome.result.interrupted,
         goes_on = options->checkpoint && path_exists(options->checkpoint);
    if (interrupted && signals_exit_code() == SIGNALS_REQUEUE) {
        console_note(goes_on ? "stopped; the same line goes on from %s" : "stopped before there was a %s",
                     options->checkpoint);
        return CLV_OK;
    }
    bool is_leader = team_rank() == 0;
    enum clv_status status = is_leader ? clv_model_write(options->output, &self->model, err) : CLV_OK;
    if (status == CLV_OK && !interrupted && is_leader)
        status = train_checkpoints_remove(options, err);
    if (status == CLV_OK && !interrupted)
        signals_complete();
    if (status == CLV_OK && interrupted)
        console_note("interrupted; the model so far is in %s%s", options->output,
                     goes_on ? ", and --resume goes on from its checkpoint" : "");
    else if (status == CLV_OK && *self->progress.stop)
        console_note("interrupted; the model in %s is complete", options->output);
    return status;
}

static enum clv_status run(const struct train_options *options, struct clv_error *err)
{
    struct run self = {.options = options, .progress = console_progress()};
    enum clv_status status = gather(&self, err);
    if (status == CLV_OK)
        status = choose(&self, err);
    if (status == CLV_OK)
        status = learn(&self, err);
    if (status == CLV_OK)
        status = make_model(&self, err);
    if (status == CLV_OK && options->validate && !*self.progress.stop)
        status = train_validation_print(options, &self.data, &self.training, &self.model, err);
    if (status == CLV_OK)
        status = write_model(&self, err);
    run_release(&self);
    return status;
}

enum clv_status cmd_train(int argc, char **argv, struct clv_error *err)
{
    struct train_options options;
    enum clv_status status = train_options_parse(&options, argc, argv, err);
    signals_share();
    if (status == CLV_OK && options.requeue)
        signals_requeue();
    if (status == CLV_OK)
        status = run(&options, err);
    train_options_release(&options);
    return status;
}
