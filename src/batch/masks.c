/* Writes the file of a mask: chooses its format and palette, and converts two labels to 0 and 255 for CLV_MASKS_BINARY.
 * Start at mask_file_write. */
#include <string.h>

#include "base/base.h"
#include "batch/batch.h"
#include "image/image.h"
#include "image/raster/raster.h"

#define WHITE 255

static bool is_unnamed_pair(const struct clv_labels *labels)
{
    return labels->n_labels == 2 && !labels->from_file;
}

enum clv_status mask_format_check(enum clv_mask_format format, const struct clv_labels *labels, struct clv_error *err)
{
    if (format != CLV_MASKS_BINARY || is_unnamed_pair(labels))
        return CLV_OK;
    FAIL_IF(labels->n_labels > 2, CLV_ERR_USAGE,
            "--mask-format binary: the model has %d labels, which 0 and 255 cannot distinguish", labels->n_labels);
    return fail(err, CLV_ERR_USAGE,
                "--mask-format binary: the model's labels are from a labels.tsv, where 255 is void");
}

const uint8_t (*mask_file_palette(int *n_colours, enum clv_mask_format format, const struct clv_labels *labels,
                                  bool has_void))[3]
{
    static const uint8_t black_and_white[256][3] = {[1] = {WHITE, WHITE, WHITE}, [CLV_VOID] = {128, 128, 128}};
    bool is_grey = format == CLV_MASKS_BINARY || format == CLV_MASKS_GREY;
    *n_colours = is_grey ? 0 : is_unnamed_pair(labels) && !has_void ? 2 : 256;
    return is_grey ? NULL : is_unnamed_pair(labels) ? black_and_white : (const uint8_t(*)[3])labels->palette;
}

void mask_file_to_binary(uint8_t *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        values[i] = values[i] && values[i] != CLV_VOID ? WHITE : 0;
}

bool mask_file_is_binary(const struct clv_labels *labels, bool has_palette, bool has_one)
{
    return is_unnamed_pair(labels) && !has_palette && !has_one;
}

void mask_file_from_binary(uint8_t *values, size_t n, const struct clv_labels *labels,
                           const struct clv_indexed_image *image)
{
    bool is_binary = mask_file_is_binary(labels, image->palette_size, memchr(values, 1, n));
    for (size_t i = 0; i < n && is_binary; i++)
        values[i] = values[i] == WHITE ? 1 : values[i];
}

/* Writes a TIFF with the georeference of the image, or a PNG. */
static enum clv_status write_labels(const char *path, const char *image, struct label_image *mask,
                                    enum clv_mask_format format, const struct clv_labels *labels, struct clv_error *err)
{
    OWNED(georeference_release) struct georeference georeference = {0};
    bool is_tiff = text_ends_with(path, ".tif");
    size_t n = (size_t)mask->width * (size_t)mask->height;
    if (is_tiff && image)
        georeference_find(&georeference, image);
    bool has_void = georeference.may_lack_data || memchr(mask->labels, CLV_VOID, n);
    mask->palette = mask_file_palette(&mask->palette_size, format, labels, has_void);
    georeference.may_lack_data &= labels && format != CLV_MASKS_BINARY;
    return is_tiff ? raster_write_labels(path, mask, &georeference, err)
                   : clv_png_write_labels(path, mask->width, mask->height, mask->labels, mask->palette,
                                          mask->palette_size, err);
}

enum clv_status mask_file_write(const char *path, const char *image, int32_t width, int32_t height,
                                const uint8_t *label_of, enum clv_mask_format format, const struct clv_labels *labels,
                                struct clv_error *err)
{
    OWNED_ARRAY uint8_t *values = array_copy(label_of, (size_t)width * (size_t)height, 1);
    struct label_image mask = {.width = width, .height = height, .labels = values};
    NEED(values);
    if (format == CLV_MASKS_BINARY)
        mask_file_to_binary(values, (size_t)width * (size_t)height);
    return write_labels(path, image, &mask, format, labels, err);
}
