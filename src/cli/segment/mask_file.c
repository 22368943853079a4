#include "cli/segment/mask_file.h"

#include "base/array.h"
#include "base/error.h"

#define WHITE 255

static bool is_unnamed_pair(const struct clv_labels *labels)
{
    return labels->n_labels == 2 && !labels->from_file;
}

enum clv_status mask_form_check(enum mask_form form, const struct clv_labels *labels, struct clv_error *err)
{
    if (form != MASKS_BINARY || is_unnamed_pair(labels))
        return CLV_OK;
    if (labels->n_labels > 2)
        return fail(err, CLV_ERR_USAGE, "--masks binary: the model has %d labels, which 0 and 255 cannot tell",
                    labels->n_labels);
    return fail(err, CLV_ERR_USAGE, "--masks binary: the model's labels are from a labels.tsv, where 255 is void");
}

static enum clv_status write_binary(const char *path, int32_t width, int32_t height, const uint8_t *label_of,
                                    struct clv_error *err)
{
    size_t n = (size_t)width * (size_t)height;
    uint8_t *values = array_alloc(n, 1);
    if (!values)
        return fail_memory(err);
    for (size_t i = 0; i < n; i++)
        values[i] = label_of[i] ? WHITE : 0;
    enum clv_status status = clv_png_write_labels(path, width, height, values, NULL, 0, err);
    array_free(values);
    return status;
}

enum clv_status mask_file_write(const char *path, int32_t width, int32_t height, const uint8_t *label_of,
                                enum mask_form form, const struct clv_labels *labels, struct clv_error *err)
{
    static const uint8_t black_and_white[2][3] = {{0, 0, 0}, {WHITE, WHITE, WHITE}};
    if (form == MASKS_BINARY)
        return write_binary(path, width, height, label_of, err);
    if (form == MASKS_GREY)
        return clv_png_write_labels(path, width, height, label_of, NULL, 0, err);
    if (is_unnamed_pair(labels))
        return clv_png_write_labels(path, width, height, label_of, black_and_white, 2, err);
    return clv_png_write_labels(path, width, height, label_of, (const uint8_t(*)[3])labels->palette, 256, err);
}

void mask_file_from_binary(uint8_t *values, size_t n, const struct clv_labels *labels,
                           const struct clv_indexed_image *image)
{
    for (size_t i = 0; i < n && is_unnamed_pair(labels) && !image->palette_size; i++)
        values[i] = values[i] == WHITE ? 1 : values[i];
}
