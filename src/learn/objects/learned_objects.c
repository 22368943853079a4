/* Trains a model's object model on the images of a dataset that have object maps, after all other training. Start at
 * learned_objects_train, at the end. */
#include "learn/objects/objects.h"

#include "base/base.h"
#include "model/model.h"
#include "model/object_tensors.h"

static void items_release(struct object_items *self)
{
    arrays_free(self->items, self->n_tiny);
}

/* Trains on the items, if there are any, and attaches the object model to the model. */
static enum clv_status learn(struct clv_model *model, struct object_model *objects, const struct object_items *items,
                             const struct clv_train_options *options, struct clv_error *err)
{
    struct clv_progress quiet = options->progress ? *options->progress : (struct clv_progress){0};
    struct clv_training settings;
    if (!items->n)
        return CLV_OK;
    clv_training_defaults(&settings, options->learner);
    settings.seed = options->seed;
    settings.n_threads = options->n_threads;
    settings.engine = options->engine;
    quiet.notify = NULL;
    settings.progress = &quiet;
    MUST(train_objects(objects, items, options->learner, &settings, err));
    return learned_objects_attach(model, objects, err);
}

enum clv_status learned_objects_train(struct clv_model *model, const struct clv_set *set, size_t n,
                                      const struct clv_train_options *options, struct clv_error *err)
{
    OWNED(items_release)
    struct object_items items = {.items = array_alloc(n, sizeof *items.items),
                                 .n_tiny = array_zalloc(n, sizeof *items.n_tiny),
                                 .labels = &model->labels,
                                 .limits = &options->limits};
    OWNED(object_model_release) struct object_model objects = {0};
    double started = seconds_now();
    size_t n_tiny = 0;
    NEED(items.items && items.n_tiny);
    for (size_t i = 0; i < n; i++)
        if (set->items[i].instances)
            items.items[items.n++] = &set->items[i];
    enum clv_status status = learn(model, &objects, &items, options, err);
    if (status == CLV_ERR_INTERRUPTED) { /* the weights of the labels are complete */
        report_message(options->progress, CLV_NOTE, "interrupted before objects were learned: the model has none");
        return clv_record_set(&model->record, "interrupted", "yes", err);
    }
    if (status)
        return status;
    for (size_t k = 0; k < items.n; k++)
        n_tiny += items.n_tiny[k];
    report_count(options->progress, NULL, n_tiny, "object has one pixel only", "objects have one pixel only", NULL);
    if (objects.nets[1].weights)
        report_message(options->progress, CLV_SUMMARY, "objects   %zu images, %.1f s%s%s", items.n,
                       seconds_now() - started, objects.weights ? "" : "; none touch, so each peak is one",
                       objects.shrink > 1 ? ", which are looked at smaller" : "");
    return CLV_OK;
}
