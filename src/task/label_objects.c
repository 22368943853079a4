#include "task/label_objects.h"

#include "base/array.h"
#include "base/error.h"
#include "data/export/export.h"
#include "task/learned_objects.h"

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
    TRY(clv_object_map_set_labels(map, of_objects, err));
    for (int32_t k = 0; k < map->n_objects && status == CLV_OK; k++)
        map->labels[k] = map->labels[k] == CLV_VOID ? first : map->labels[k];
    array_free(of_objects);
    return status;
}

enum clv_status label_objects(struct clv_object_map *map, const uint8_t *labels, const struct clv_image *image,
                              const struct clv_model *model, struct clv_error *err)
{
    bool is_object[256];
    for (int32_t label = 0; label < 256; label++)
        is_object[label] = export_is_object(&model->labels, label);
    if (!learned_objects_are_there(model))
        return clv_object_map_from_labels(map, labels, image->width, image->height, is_object, err);
    struct clv_object_map found = {0};
    enum clv_status status = learned_objects_find(&found, model, image, err);
    TRY(label_found(&found, labels, is_object, err));
    if (status == CLV_OK)
        *map = found;
    else
        clv_object_map_release(&found);
    return status;
}
