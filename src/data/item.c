/* Reads the images of items, from files or from memory: 8-bit pixels are copied, arrays are converted by their bands,
 * so that the result equals that of a file with the same content. Masks are in mask_read.c. Start at
 * item_image_read. */
#include "base/base.h"
#include "data/data.h"
#include "image/image.h"
#include "image/raster/raster.h"

enum clv_status item_raster_open(struct raster *raster, const struct clv_item *item,
                                 const struct clv_image_limits *limits, struct clv_error *err)
{
    if (!item_is_in_memory(item))
        return raster_open(raster, item->image, limits, err);
    enum clv_status status =
        item->bands ? raster_of_array(raster, item->bands, err) : raster_of_image(raster, item->pixels, err);
    return status ? fail_within(err, status, item->image) : CLV_OK;
}

/* Converts the bands of an array in memory to an RGB image. */
static enum clv_status show_bands(struct clv_image *image, const struct clv_item *item,
                                  const struct clv_image_limits *limits, struct clv_error *err)
{
    OWNED(raster_close) struct raster raster = {0};
    const struct clv_bands *bands = limits ? limits->bands : NULL;
    MUST(item_raster_open(&raster, item, limits, err));
    if (bands && raster.n_bands != bands->n_bands)
        return raster_fail_bands(&raster, item->image, bands->n_bands, err);
    return bands_show(image, &raster, bands, err);
}

enum clv_status item_image_read(struct clv_image *image, const struct clv_item *item,
                                const struct clv_image_limits *limits, struct clv_error *err)
{
    if (!item_is_in_memory(item))
        return clv_image_read(image, item->image, limits, err);
    if (item->bands || (limits && limits->bands))
        return show_bands(image, item, limits, err);
    struct clv_image copy = *item->pixels;
    copy.pixels = array_copy(copy.pixels, (size_t)copy.width * (size_t)copy.height, (size_t)copy.channels);
    NEED(copy.pixels);
    *image = copy;
    return CLV_OK;
}

enum clv_status item_image_size(int32_t *width, int32_t *height, const struct clv_item *item,
                                const struct clv_image_limits *limits, struct clv_error *err)
{
    if (!item_is_in_memory(item))
        return clv_image_read_size(width, height, item->image, limits, err);
    *width = item->bands ? (int32_t)item->bands->shape[1] : item->pixels->width;
    *height = item->bands ? (int32_t)item->bands->shape[0] : item->pixels->height;
    return CLV_OK;
}

bool item_is_deep(const struct clv_item *item, const struct clv_image_limits *limits)
{
    return item_is_in_memory(item) ? item->bands != NULL : raster_is_deep(item->image, limits);
}

bool item_is_12_bit(const struct clv_item *item, const struct clv_image *image, const struct clv_image_limits *limits)
{
    return !item_is_in_memory(item) && image_is_12_bit(image, item->image, limits);
}
