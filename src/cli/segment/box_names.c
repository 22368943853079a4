/* Which values boxes' labels have in masks. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "cli/common/console.h"
#include "cli/segment/box_inputs.h"
#include "data/boxes/boxes.h"

/* How many labels boxes have; *label is the last of them. */
static enum clv_status count_labels(size_t *n, int32_t *label, const struct clv_boxes *boxes, struct clv_error *err)
{
    bool *is_used = array_zalloc(boxes->n_labels, sizeof *is_used);
    if (!is_used)
        return fail_memory(err);
    for (size_t i = 0; i < boxes->n_images; i++)
        for (size_t k = 0; k < boxes->images[i].n_boxes; k++)
            is_used[boxes->images[i].boxes[k].label] = true;
    *n = 0;
    for (size_t i = 0; i < boxes->n_labels; i++)
        if (is_used[i]) {
            *label = (int32_t)i;
            (*n)++;
        }
    array_free(is_used);
    return CLV_OK;
}

/* Figure and ground, the figure by its name if it has one that labels can have. */
static enum clv_status name_one(struct clv_labels *labels, const char *name, struct clv_error *err)
{
    enum clv_status status = clv_labels_binary(labels, err);
    if (status == CLV_OK && *name && strlen(name) < sizeof *labels->names && !strpbrk(name, "\t\r\n"))
        snprintf(labels->names[1], sizeof *labels->names, "%s", name);
    return status;
}

/* The values of the set's labels.tsv; *found: it is there and has them all. */
static enum clv_status values_of_set(struct clv_labels *labels, uint8_t *values, bool *found,
                                     const struct clv_boxes *boxes, const char *data, struct clv_error *err)
{
    char *folder = path_is_folder(data) ? string_copy(data) : path_folder(data);
    char *path = folder ? path_join(folder, "labels.tsv") : NULL;
    struct clv_labels own = {0};
    enum clv_status status = path ? CLV_OK : fail_memory(err);
    *found = false;
    if (status == CLV_OK && path_exists(path)) {
        status = clv_labels_read(&own, path, err);
        *found = status == CLV_OK && boxes_values_in(values, &own, boxes);
    }
    if (*found)
        *labels = own;
    else
        clv_labels_release(&own);
    array_free(path);
    array_free(folder);
    return status;
}

static enum clv_status give_values(struct clv_labels *labels, uint8_t **values, const struct clv_boxes *boxes,
                                   const char *path, const char *data, struct clv_error *err)
{
    size_t n = 0;
    int32_t label = 0;
    bool found = false;
    uint8_t *fresh = array_alloc(boxes->n_labels, 1);
    enum clv_status status = fresh ? count_labels(&n, &label, boxes, err) : fail_memory(err);
    if (status == CLV_OK && n < 2) {
        memset(fresh, 1, boxes->n_labels);
        status = name_one(labels, n ? boxes->labels[label] : "", err);
    } else if (status == CLV_OK) {
        if (data)
            status = values_of_set(labels, fresh, &found, boxes, data, err);
        TRY_IF(!found, boxes_label_values(fresh, labels, boxes, path, err));
    }
    if (status == CLV_OK)
        *values = fresh;
    else
        array_free(fresh);
    return status;
}

enum clv_status box_inputs_open(struct clv_boxes *boxes, struct clv_labels *labels, uint8_t **values, const char *path,
                                const char *data, struct clv_error *err)
{
    enum clv_status status = clv_boxes_read(boxes, path, err);
    if (status == CLV_OK && boxes->n_skipped)
        console_note("%s: annotations that are no boxes were skipped: %zu, the first is %s", path, boxes->n_skipped,
                     boxes->first_skipped);
    return status == CLV_OK ? give_values(labels, values, boxes, path, data, err) : status;
}
