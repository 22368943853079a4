#include "data/mask.h"

#include <stdbool.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"

#define NO_LABEL (-1)

void clv_mask_release(struct clv_mask *mask)
{
    array_free(mask->labels);
    *mask = (struct clv_mask){0};
}

/* Values that labels.tsv names, and void. */
static void map_named(int16_t map[256], const struct clv_labels *labels)
{
    for (int32_t v = 0; v < labels->n_labels && v < CLV_VOID; v++)
        if (labels->names[v][0])
            map[v] = (int16_t)v;
    for (int v = 0; v < CLV_VOID; v++)
        if (labels->is_void[v])
            map[v] = CLV_VOID;
    map[CLV_VOID] = CLV_VOID;
}

/* Figure and ground without labels.tsv: 0 and 1, or black and full white of a grey image; 255 is void otherwise.
 * Returns what there is to say about it, or NULL. */
static const char *map_binary(int16_t map[256], const bool present[256], const struct clv_indexed_image *image)
{
    int white = (1 << image->bit_depth) - 1;
    map[0] = 0;
    map[1] = 1;
    map[CLV_VOID] = CLV_VOID;
    if (image->palette_size || white == 1 || !present[white])
        return NULL;
    for (int v = 1; v < white; v++)
        if (present[v])
            return NULL;
    map[white] = 1;
    return "black and white were read as 0 background and 1 foreground";
}

enum clv_status mask_from_indexed(struct clv_mask *mask, const struct clv_indexed_image *image, const char *name,
                                  const struct clv_labels *labels, struct clv_error *err)
{
    size_t n = (size_t)image->width * (size_t)image->height;
    bool present[256] = {false};
    int16_t map[256];
    const char *note = NULL;
    for (size_t i = 0; i < n; i++)
        present[image->values[i]] = true;
    for (int v = 0; v < 256; v++)
        map[v] = NO_LABEL;
    if (labels->from_file)
        map_named(map, labels);
    else
        note = map_binary(map, present, image);

    uint8_t *mapped = array_alloc(n, 1);
    if (!mapped)
        return fail_memory(err);
    for (size_t i = 0; i < n; i++) {
        int16_t label = map[image->values[i]];
        if (label == NO_LABEL) {
            array_free(mapped);
            size_t width = (size_t)image->width;
            return fail(err, CLV_ERR_DATA, "%s: value %d at pixel (%zu, %zu) has no label%s", name, image->values[i],
                        i % width, i / width,
                        labels->from_file ? " in labels.tsv"
                                          : ": without a labels.tsv, masks hold 0 and 1, or 0 and 255");
        }
        mapped[i] = (uint8_t)label;
    }
    *mask = (struct clv_mask){.width = image->width, .height = image->height, .labels = mapped, .note = note};
    return CLV_OK;
}

enum clv_status clv_mask_read(struct clv_mask *mask, const char *path, const struct clv_labels *labels,
                              int32_t expected_width, int32_t expected_height, const struct clv_image_limits *limits,
                              struct clv_error *err)
{
    struct clv_indexed_image image = {0};
    enum clv_status status = clv_indexed_image_read(&image, path, limits, err);
    if (status != CLV_OK)
        return status;
    if (expected_width && expected_height && (image.width != expected_width || image.height != expected_height))
        status = fail(err, CLV_ERR_DATA, "%s: mask is %dx%d, image is %dx%d", path, image.width, image.height,
                      expected_width, expected_height);
    if (status == CLV_OK)
        status = mask_from_indexed(mask, &image, path, labels, err);
    clv_indexed_image_release(&image);
    return status;
}
