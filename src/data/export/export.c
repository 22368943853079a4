#include "data/export/export.h"

#include <string.h>

bool export_is_object(const struct clv_labels *labels, int32_t label)
{
    const char *name = label < labels->n_labels ? labels->names[label] : "";
    return *name && (label > 0 || strcmp(name, "background") != 0);
}

int32_t export_category(const struct clv_labels *labels, int32_t label)
{
    int32_t category = 0;
    for (int32_t k = 0; k <= label; k++)
        category += export_is_object(labels, k);
    return category;
}
