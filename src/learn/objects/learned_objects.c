/* Learns objects from those images of a dataset that have a file of them, for a model that is otherwise finished. Start
 * at learned_objects_train, at the end. */
#include "learn/objects/objects.h"

#include "base/base.h"
#include "data/data.h"
#include "model/model.h"
#include "model/object_tensors.h"
#include "object/object.h"

/* Items of a set that have objects. */
struct items {
    const struct clv_image_limits *limits;
    const struct clv_item **items;
    size_t *n_tiny; /* objects of one pixel */
    const struct clv_labels *labels;
};

/* Marks pixels whose object is unknown: those that the mask leaves void, and those of a label that objects of the image
 * have, without an object: a crowd, whose objects are not told apart. */
static enum clv_status mark_unknown(struct clv_object_map *map, const struct clv_item *item, const struct items *self,
                                    struct clv_error *err)
{
    OWNED(clv_mask_release) struct clv_mask mask = {0};
    const struct mask_wanted wanted = {map->width, map->height, self->limits};
    const size_t n = (size_t)map->width * (size_t)map->height;
    bool has_objects[256] = {false};
    if (!item->mask || item->is_derived)
        return CLV_OK;
    MUST(item_mask_read(&mask, item, self->labels, &wanted, err));
    for (size_t p = 0; p < n; p++)
        has_objects[mask.labels[p]] |= map->objects[p] != 0;
    has_objects[0] = false;
    has_objects[CLV_VOID] = true;
    for (size_t p = 0; p < n; p++)
        if (!map->objects[p] && has_objects[mask.labels[p]])
            map->objects[p] = OBJECT_UNKNOWN;
    return CLV_OK;
}

static enum clv_status count_tiny(size_t *n_tiny, const struct clv_object_map *map, struct clv_error *err)
{
    OWNED_ARRAY int32_t *area = array_zalloc((size_t)map->n_objects + 1, sizeof *area);
    NEED(area);
    for (size_t p = 0; p < (size_t)map->width * (size_t)map->height; p++)
        area[map->objects[p]]++;
    *n_tiny = 0;
    for (int32_t k = 1; k <= map->n_objects; k++)
        *n_tiny += area[k] == 1;
    return CLV_OK;
}

static enum clv_status read_item(void *context, struct clv_image *image, int32_t **objects, size_t index,
                                 struct clv_error *err)
{
    struct items *self = context;
    const struct clv_item *item = self->items[index];
    OWNED(clv_object_map_release) struct clv_object_map map = {0};
    MUST(clv_image_read(image, item->image, self->limits, err));
    MUST(clv_object_map_read(&map, item->instances, image->width, image->height, self->limits, err));
    MUST(count_tiny(&self->n_tiny[index], &map, err));
    MUST(mark_unknown(&map, item, self, err));
    *objects = TAKE(map.objects);
    return CLV_OK;
}

static void items_release(struct items *self)
{
    arrays_free(self->items, self->n_tiny);
}

/* Learns from the source's images, if there are any, and attaches the objects to the model. */
static enum clv_status learn(struct clv_model *model, struct object_model *objects, const struct object_source *source,
                             const struct clv_train_options *options, struct clv_error *err)
{
    struct clv_progress quiet = options->progress ? *options->progress : (struct clv_progress){0};
    struct clv_training like;
    if (!source->n_images)
        return CLV_OK;
    clv_training_defaults(&like, options->learner);
    like.seed = options->seed;
    like.n_threads = options->n_threads;
    like.engine = options->engine;
    quiet.say = NULL;
    like.progress = &quiet;
    MUST(train_objects(objects, source, options->learner, &like, err));
    return learned_objects_attach(model, objects, err);
}

enum clv_status learned_objects_train(struct clv_model *model, const struct clv_set *set, size_t n,
                                      const struct clv_train_options *options, struct clv_error *err)
{
    OWNED(items_release)
    struct items items = {&options->limits, array_alloc(n, sizeof *items.items), array_zalloc(n, sizeof *items.n_tiny),
                          &set->labels};
    OWNED(object_model_release) struct object_model objects = {0};
    struct object_source source = {read_item, &items, 0};
    double started = seconds_now();
    size_t n_tiny = 0;
    NEED(items.items && items.n_tiny);
    for (size_t i = 0; i < n; i++)
        if (set->items[i].instances)
            items.items[source.n_images++] = &set->items[i];
    enum clv_status status = learn(model, &objects, &source, options, err);
    if (status == CLV_ERR_INTERRUPTED) { /* the labels' weights are there */
        report_message(options->progress, CLV_NOTE, "interrupted before objects were learned: the model has none");
        return clv_record_set(&model->record, "interrupted", "yes", err);
    }
    if (status)
        return status;
    for (size_t k = 0; k < source.n_images; k++)
        n_tiny += items.n_tiny[k];
    report_count(options->progress, NULL, n_tiny, "object has one pixel only", "objects have one pixel only", NULL);
    if (objects.nets[1].weights)
        report_message(options->progress, CLV_SUMMARY, "objects   %zu images, %.1f s%s%s", source.n_images,
                       seconds_now() - started, objects.weights ? "" : "; none touch, so each peak is one",
                       objects.shrink > 1 ? ", which are looked at smaller" : "");
    return CLV_OK;
}
