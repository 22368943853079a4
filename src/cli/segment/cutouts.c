#include "cli/segment/cutouts.h"

#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/text.h"
#include "image/codec.h"
#include "refine/cutout.h"

/* The label that is called so, or else has this number; -1: none. */
static int32_t find_label(const char *name, const struct clv_labels *labels)
{
    int32_t number;
    for (int32_t label = 0; label < labels->n_labels; label++)
        if (*name && strcmp(labels->names[label], name) == 0)
            return label;
    return parse_int32(name, &number) && number >= 0 && number < labels->n_labels ? number : -1;
}

enum clv_status cutout_choose(bool is_object[256], const char *names, const struct clv_labels *labels,
                              struct clv_error *err)
{
    enum clv_status status = CLV_OK;
    for (int label = 0; label < 256; label++)
        is_object[label] = label > 0 && !names;
    if (!names)
        return CLV_OK;
    char *list = string_copy(names), *cursor = list, *name;
    if (!list)
        return fail_memory(err);
    while (status == CLV_OK && (name = strsep(&cursor, ","))) {
        int32_t label = find_label(name, labels);
        if (label < 0)
            status = fail(err, CLV_ERR_USAGE, "--cutout-label: \"%s\" is no label of the model's %d, such as %s", name,
                          labels->n_labels, labels->names[labels->n_labels - 1]);
        else
            is_object[label] = true;
    }
    array_free(list);
    return status;
}

enum clv_status cutout_write(const char *path, const struct clv_image *image, const uint8_t *labels,
                             const bool is_object[256], bool crop, struct clv_error *err)
{
    struct cutout cutout = {0};
    enum clv_status status = cutout_make(&cutout, image, labels, is_object, err);
    if (status == CLV_OK && crop)
        cutout_crop(&cutout);
    if (status == CLV_OK)
        status = png_write_rgba(path, cutout.width, cutout.height, cutout.rgba, err);
    cutout_release(&cutout);
    return status;
}
