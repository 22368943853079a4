/* Reads any image file: rasters by their bands, which are converted to RGB, and other images by the decoders of
 * decode.c. */
#include "base/base.h"
#include "image/image.h"
#include "image/raster/raster.h"

enum clv_status clv_image_read(struct clv_image *image, const char *path, const struct clv_image_limits *limits,
                               struct clv_error *err)
{
    const struct clv_bands *bands = limits ? limits->bands : NULL;
    OWNED(raster_close) struct raster raster = {0};
    struct clv_error why = {0};
    if (!raster_may_be(path, limits))
        return image_read_plain(image, path, limits, err);
    enum clv_status status = raster_open(&raster, path, limits, &why);
    if (status == CLV_OK && (bands || !raster.is_plain))
        return bands_show(image, &raster, bands, err);
    raster_close(&raster);
    if (status == CLV_OK)
        return image_read_plain(image, path, limits, err);
    if (!bands && image_read_plain(image, path, limits, err) == CLV_OK)
        return CLV_OK;
    if (err)
        *err = why;
    return status;
}

enum clv_status clv_image_read_size(int32_t *width, int32_t *height, const char *path,
                                    const struct clv_image_limits *limits, struct clv_error *err)
{
    OWNED(raster_close) struct raster raster = {0};
    if (!text_ends_with(path, ".npy") && !raster_gdal_knows(path))
        return image_size_plain(width, height, path, limits, err);
    MUST(raster_open(&raster, path, limits, err));
    *width = raster.width;
    *height = raster.height;
    return CLV_OK;
}
