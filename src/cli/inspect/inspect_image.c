/* `cleave inspect` of a TIFF: prints the number of its images, their size and bands, and the axes of its pages (times,
 * slices, channels). */
#include <stdio.h>

#include "base/base.h"
#include "cli/inspect/inspect.h"
#include "image/raster/raster.h"

bool inspect_is_image(const char *path)
{
    return text_ends_with(path, ".tif") || text_ends_with(path, ".tiff");
}

enum clv_status inspect_image(const char *path, const struct clv_image_limits *limits, bool json, struct clv_error *err)
{
    static const char *const sources[] = {"pages", "ImageJ", "OME-XML", "--axes"};
    char name[STACK_NAME];
    struct stack_axes axes;
    struct clv_error ignored;
    uint32_t n;
    int32_t width, height;
    MUST(clv_image_count(&n, path, err));
    MUST(clv_image_read_size(&width, &height, path, limits, err));
    OWNED(raster_close) struct raster raster = {0};
    bool has_bands = raster_open(&raster, path, limits, &ignored) == CLV_OK;
    int32_t n_bands = has_bands ? raster.n_bands : 3;
    image_find_axes(&axes, path);
    stack_axes_name(name, sizeof name, &axes);
    if (json)
        printf("{\"images\":%u,\"width\":%d,\"height\":%d,\"bands\":%d,\"times\":%u,\"slices\":%u,\"channels\":%u,"
               "\"by\":\"%s\"}\n",
               n, width, height, n_bands, axes.n_frames, axes.n_slices, axes.n_channels, sources[axes.source]);
    else
        printf("%s: %s of %dx%d pixels and %s%s%s\n", path, n_of(n, "image", "images").text, width, height,
               n_of((size_t)n_bands, "band", "bands").text, axes.source == AXES_OF_PAGES ? "" : ": ",
               axes.source == AXES_OF_PAGES ? n > 1 ? ", one a page" : "" : name);
    return CLV_OK;
}
