/* Images of items, which are in files or in memory. Masks are in mask_read.c. */
#include "base/base.h"
#include "data/data.h"
#include "image/image.h"
#include "image/raster/raster.h"

enum clv_status item_image_read(struct clv_image *image, const struct clv_item *item,
                                const struct clv_image_limits *limits, struct clv_error *err)
{
    if (!item->pixels)
        return clv_image_read(image, item->image, limits, err);
    struct clv_image copy = *item->pixels;
    copy.pixels =
        array_copy(copy.pixels, (size_t)copy.width * (size_t)copy.height, (size_t)copy.channels * sizeof *copy.pixels);
    NEED(copy.pixels);
    *image = copy;
    return CLV_OK;
}

enum clv_status item_image_size(int32_t *width, int32_t *height, const struct clv_item *item,
                                const struct clv_image_limits *limits, struct clv_error *err)
{
    if (!item->pixels)
        return clv_image_read_size(width, height, item->image, limits, err);
    *width = item->pixels->width;
    *height = item->pixels->height;
    return CLV_OK;
}

bool item_is_deep(const struct clv_item *item, const struct clv_image_limits *limits)
{
    return !item_is_in_memory(item) && raster_is_deep(item->image, limits);
}

bool item_is_12_bit(const struct clv_item *item, const struct clv_image *image, const struct clv_image_limits *limits)
{
    return !item_is_in_memory(item) && image_is_12_bit(image, item->image, limits);
}
