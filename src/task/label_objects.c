#include "task/label_objects.h"

#include "data/export/export.h"

enum clv_status label_objects(struct clv_object_map *map, const uint8_t *labels, int32_t width, int32_t height,
                              const struct clv_model *model, struct clv_error *err)
{
    bool is_object[256];
    for (int32_t label = 0; label < 256; label++)
        is_object[label] = export_is_object(&model->labels, label);
    return clv_object_map_from_labels(map, labels, width, height, is_object, err);
}
