/* Assigns mask values to the labels of boxes: new values (boxes_label_values), or those of existing labels
 * (boxes_values_in). */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "data/boxes/boxes.h"
#include "data/data.h"

#define UNNAMED    "object"
#define BACKGROUND "background"

static enum clv_status name_value(struct clv_labels *labels, int32_t value, const char *name, const char *path,
                                  struct clv_error *err)
{
    FAIL_IF(value > CLV_MAX_LABELS - 1, CLV_ERR_DATA, "%s: more than %d labels", path, CLV_MAX_LABELS - 1);
    FAIL_IF(!label_name_fits(name), CLV_ERR_DATA, "%s: label \"%s\" has a tab or line end, or more than 63 bytes", path,
            name);
    snprintf(labels->names[value], sizeof *labels->names, "%s", name);
    return CLV_OK;
}

enum clv_status boxes_label_values(uint8_t *values, struct clv_labels *labels, const struct clv_boxes *boxes,
                                   const char *path, struct clv_error *err)
{
    OWNED(clv_labels_release) struct clv_labels result = {.names = NULL};
    MUST(labels_init(&result, CLV_MAX_LABELS, err));
    result.from_file = true;
    result.n_labels = 1;
    MUST(name_value(&result, 0, BACKGROUND, path, err));
    for (size_t i = 0; i < boxes->n_labels; i++) {
        const char *name = *boxes->labels[i] ? boxes->labels[i] : UNNAMED;
        int32_t value = 0; /* the unnamed label may be named as another is */
        while (value < result.n_labels && strcmp(result.names[value], name) != 0)
            value++;
        if (value == result.n_labels) {
            MUST(name_value(&result, value, name, path, err));
            result.n_labels++;
        }
        values[i] = (uint8_t)value;
    }
    *labels = TAKE(result);
    return CLV_OK;
}

bool boxes_values_in(uint8_t *values, const struct clv_labels *labels, const struct clv_boxes *boxes)
{
    for (size_t i = 0; i < boxes->n_labels; i++) {
        int32_t value = 0;
        const char *name = *boxes->labels[i] ? boxes->labels[i] : UNNAMED;
        while (value < labels->n_labels && strcmp(labels->names[value], name) != 0)
            value++;
        if (value == labels->n_labels)
            return false;
        values[i] = (uint8_t)value;
    }
    return true;
}
