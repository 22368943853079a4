/* The objects of an image: those that a model has learned to find, or connected pieces of its labels. Start at
 * clv_segment_objects, at the end. */
#include "segment/segment.h"

#include "base/base.h"
#include "data/export/export.h"
#include "model/object_tensors.h"
#include "object/object.h"

enum clv_status learned_objects_find(struct clv_object_map *map, const struct clv_model *model,
                                     const struct clv_image *image, struct clv_error *err)
{
    struct object_model objects = {0};
    MUST(learned_objects_view(&objects, model, err));
    return object_model_find(map, &objects, image, err);
}

/* The labels of objects that are found by themselves: those of most of their pixels that have an object's label, or the
 * first such label where none has. */
static enum clv_status label_found(struct clv_object_map *map, const uint8_t *labels, const bool is_object[256],
                                   struct clv_error *err)
{
    size_t n = (size_t)map->width * (size_t)map->height;
    uint8_t first = 0;
    OWNED_ARRAY uint8_t *of_objects = array_copy(labels, n, 1);
    NEED(of_objects);
    while (!is_object[first] && first < CLV_VOID)
        first++;
    for (size_t i = 0; i < n; i++)
        of_objects[i] = is_object[labels[i]] ? labels[i] : CLV_VOID;
    MUST(object_map_set_labels(map, of_objects, err));
    for (int32_t k = 0; k < map->n_objects; k++)
        map->labels[k] = map->labels[k] == CLV_VOID ? first : map->labels[k];
    return CLV_OK;
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
    FAIL_IF(!image->pixels || image->width < 1 || image->height < 1 || image->channels != 3, CLV_ERR_USAGE,
            "the image is %dx%d of %d channels (3 are needed)", image->width, image->height, image->channels);
    bool is_object[256];
    for (int32_t label = 0; label < 256; label++)
        is_object[label] = export_is_object(&model->labels, label);
    if (!learned_objects_are_there(model))
        return clv_object_map_from_labels(map, labels, image->width, image->height, is_object, err);
    OWNED(clv_object_map_release) struct clv_object_map found = {0};
    MUST(learned_objects_find(&found, model, image, err));
    MUST(label_found(&found, labels, is_object, err));
    paint_found(labels, &found, is_object);
    *map = TAKE(found);
    return CLV_OK;
}
