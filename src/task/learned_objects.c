#include "task/task.h"

#include <math.h>

#include "base/base.h"
#include "data/data.h"
#include "data/export/export.h"
#include "model/model.h"
#include "object/object.h"
#include "region/region.h"

enum { SHRINK, STANDARD, NETWORK, STANDARD2, NETWORK2, BORDER, N_TENSORS };
static const char *const names[N_TENSORS] = {"objects.shrink",    "objects.standard", "objects.network",
                                             "objects.standard2", "objects.network2", "objects.border"};

/* The tensors of a model of objects, as they are or must be. */
static void describe(struct clv_tensor tensors[N_TENSORS], const struct object_model *objects)
{
    const struct pixel_net *nets = objects->nets;
    const void *const data[] = {&objects->shrink, nets[0].standard, nets[0].weights,
                                nets[1].standard, nets[1].weights,  objects->weights};
    const int64_t shapes[][2] = {{1},
                                 {2, PIXEL_BANK_SIZE},
                                 {object_net_copies[0], (int64_t)pixel_net_size(PIXEL_BANK_SIZE, OBJECT_CLASSES)},
                                 {2, PIXEL_CONTEXT_SIZE},
                                 {object_net_copies[1], (int64_t)pixel_net_size(PIXEL_CONTEXT_SIZE, OBJECT_CLASSES)},
                                 {EDGE_PROBLEM_OWN + BORDER_FEATURES}};
    for (int k = 0; k < N_TENSORS; k++)
        tensors[k] = (struct clv_tensor){.name = names[k],
                                         .dtype = k == BORDER ? CLV_F64 : CLV_F32,
                                         .n_dimensions = shapes[k][1] ? 2 : 1,
                                         .shape = {shapes[k][0], shapes[k][1]},
                                         .data = data[k]};
}

enum clv_status learned_objects_attach(struct clv_model *model, const struct object_model *objects,
                                       struct clv_error *err)
{
    struct clv_tensor tensors[N_TENSORS];
    enum clv_status status = CLV_OK;
    describe(tensors, objects);
    for (int k = 0; k < N_TENSORS && status == CLV_OK; k++)
        if (tensors[k].data)
            status = clv_model_attach(model, &tensors[k], err);
    return status;
}

bool learned_objects_are_there(const struct clv_model *model)
{
    return clv_model_attached(model, names[NETWORK]) != NULL;
}

static bool is_finite(const struct clv_tensor *tensor, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(tensor->dtype == CLV_F64 ? ((const double *)tensor->data)[i]
                                               : (double)((const float *)tensor->data)[i]))
            return false;
    return true;
}

/* A view of the model's tensors; not to be released. */
static enum clv_status view(struct object_model *objects, const struct clv_model *model, struct clv_error *err)
{
    struct clv_tensor wanted[N_TENSORS];
    const struct clv_tensor *found[N_TENSORS];
    describe(wanted, objects);
    for (int k = 0; k < N_TENSORS; k++) {
        const struct clv_tensor *tensor = found[k] = clv_model_attached(model, names[k]);
        if (!tensor && k == BORDER)
            continue;
        bool fits = tensor && tensor->dtype == wanted[k].dtype && tensor->n_dimensions == wanted[k].n_dimensions;
        size_t n = 1;
        for (int i = 0; fits && i < wanted[k].n_dimensions; i++) {
            fits = tensor->shape[i] == wanted[k].shape[i];
            n *= (size_t)wanted[k].shape[i];
        }
        FAIL_IF(!fits || !is_finite(tensor, n), CLV_ERR_DATA,
                "the model's tensor %s is not there, or not of its kind, shape and numbers", names[k]);
    }
    objects->shrink = *(const float *)found[SHRINK]->data;
    for (int k = 0; k < 2; k++)
        objects->nets[k] =
            (struct pixel_net){k ? PIXEL_CONTEXT_SIZE : PIXEL_BANK_SIZE, OBJECT_CLASSES, object_net_copies[k],
                               (float *)found[STANDARD + 2 * k]->data, (float *)found[NETWORK + 2 * k]->data};
    objects->n_weights = (int32_t)wanted[BORDER].shape[0];
    objects->weights = found[BORDER] ? (double *)found[BORDER]->data : NULL;
    return objects->shrink >= 1 ? CLV_OK
                                : fail(err, CLV_ERR_DATA, "the model's tensor %s is %g, not 1 or more", names[SHRINK],
                                       (double)objects->shrink);
}

enum clv_status learned_objects_find(struct clv_object_map *map, const struct clv_model *model,
                                     const struct clv_image *image, struct clv_error *err)
{
    struct object_model objects = {0};
    MUST(view(&objects, model, err));
    return object_model_find(map, &objects, image, err);
}

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
    int32_t *area = array_zalloc((size_t)map->n_objects + 1, sizeof *area);
    MUST_IF(!area, fail_memory(err));
    for (size_t p = 0; p < (size_t)map->width * (size_t)map->height; p++)
        area[map->objects[p]]++;
    *n_tiny = 0;
    for (int32_t k = 1; k <= map->n_objects; k++)
        *n_tiny += area[k] == 1;
    array_free(area);
    return CLV_OK;
}

static enum clv_status read_item(void *context, struct clv_image *image, int32_t **objects, size_t index,
                                 struct clv_error *err)
{
    struct items *self = context;
    const struct clv_item *item = self->items[index];
    struct clv_object_map map = {0};
    enum clv_status status = clv_image_read(image, item->image, self->limits, err);
    TRY(clv_object_map_read(&map, item->instances, image->width, image->height, self->limits, err));
    TRY(count_tiny(&self->n_tiny[index], &map, err));
    TRY(mark_unknown(&map, item, self, err));
    if (status == CLV_OK)
        *objects = map.objects;
    else
        clv_object_map_release(&map);
    return status;
}

enum clv_status learned_objects_train(struct clv_model *model, const struct clv_set *set, size_t n,
                                      const struct clv_train_options *options, struct clv_error *err)
{
    struct items items = {&options->limits, array_alloc(n, sizeof *items.items), array_zalloc(n, sizeof *items.n_tiny),
                          &set->labels};
    struct clv_progress quiet = options->progress ? *options->progress : (struct clv_progress){0};
    struct object_source source = {read_item, &items, 0};
    struct object_model objects = {0};
    struct clv_training like;
    double started = seconds_now();
    enum clv_status status = items.items && items.n_tiny ? CLV_OK : fail_memory(err);
    size_t n_tiny = 0;
    for (size_t i = 0; i < n && status == CLV_OK; i++)
        if (set->items[i].instances)
            items.items[source.n_images++] = &set->items[i];
    clv_training_defaults(&like, options->learner);
    like.seed = options->seed;
    like.n_threads = options->n_threads;
    like.engine = options->engine;
    quiet.say = NULL;
    like.progress = &quiet;
    if (source.n_images) {
        TRY(train_objects(&objects, &source, options->learner, &like, err));
        TRY(learned_objects_attach(model, &objects, err));
    }
    for (size_t k = 0; k < source.n_images; k++)
        n_tiny += items.n_tiny[k];
    if (status == CLV_OK)
        report_count(options->progress, NULL, n_tiny, "object has one pixel only", "objects have one pixel only", NULL);
    if (status == CLV_ERR_INTERRUPTED) { /* the labels' weights are there */
        report_message(options->progress, CLV_NOTE, "interrupted before objects were learned: the model has none");
        status = clv_record_set(&model->record, "interrupted", "yes", err);
    }
    if (status == CLV_OK && objects.nets[1].weights)
        report_message(options->progress, CLV_SUMMARY, "objects   %zu images, %.1f s%s%s", source.n_images,
                       seconds_now() - started, objects.weights ? "" : "; none touch, so each peak is one",
                       objects.shrink > 1 ? ", which are looked at smaller" : "");
    object_model_release(&objects);
    arrays_free(items.items, items.n_tiny);
    return status;
}

/* The labels of objects that are found by themselves: those of most of their pixels that have an object's label, or the
 * first such label where none has. */
static enum clv_status label_found(struct clv_object_map *map, const uint8_t *labels, const bool is_object[256],
                                   struct clv_error *err)
{
    size_t n = (size_t)map->width * (size_t)map->height;
    uint8_t first = 0, *of_objects = array_copy(labels, n, 1);
    enum clv_status status = of_objects ? CLV_OK : fail_memory(err);
    while (!is_object[first] && first < CLV_VOID)
        first++;
    for (size_t i = 0; i < n && status == CLV_OK; i++)
        of_objects[i] = is_object[labels[i]] ? labels[i] : CLV_VOID;
    TRY(object_map_set_labels(map, of_objects, err));
    for (int32_t k = 0; k < map->n_objects && status == CLV_OK; k++)
        map->labels[k] = map->labels[k] == CLV_VOID ? first : map->labels[k];
    array_free(of_objects);
    return status;
}

/* labels agrees with the objects then: what is in none, and has the label of some, is background. */
static void paint_found(uint8_t *labels, const struct clv_object_map *map, const bool is_object[256])
{
    uint8_t background = 0;
    while (is_object[background] && background < CLV_VOID)
        background++;
    for (size_t p = 0; p < (size_t)map->width * (size_t)map->height; p++)
        if (map->objects[p])
            labels[p] = map->labels[map->objects[p] - 1];
        else if (is_object[labels[p]])
            labels[p] = background;
}

enum clv_status clv_segment_objects(struct clv_object_map *map, uint8_t *labels, const struct clv_model *model,
                                    const struct clv_image *image, struct clv_error *err)
{
    if (!image->pixels || image->width < 1 || image->height < 1 || image->channels != 3)
        return fail(err, CLV_ERR_USAGE, "the image is %dx%d of %d channels (3 are needed)", image->width, image->height,
                    image->channels);
    bool is_object[256];
    for (int32_t label = 0; label < 256; label++)
        is_object[label] = export_is_object(&model->labels, label);
    if (!learned_objects_are_there(model))
        return clv_object_map_from_labels(map, labels, image->width, image->height, is_object, err);
    struct clv_object_map found = {0};
    enum clv_status status = learned_objects_find(&found, model, image, err);
    TRY(label_found(&found, labels, is_object, err));
    if (status == CLV_OK)
        paint_found(labels, &found, is_object);
    DELIVER(map, found, clv_object_map_release(&found));
    return status;
}
