#include "feature/blocks/working.h"

#include <math.h>

#include "base/error.h"

enum clv_status working_image(struct clv_image *working, const struct clv_image *image, int32_t max_pixels,
                              struct clv_error *err)
{
    double n_pixels = (double)image->width * image->height;
    double scale = n_pixels > max_pixels ? sqrt(max_pixels / n_pixels) : 1;
    int32_t width = (int32_t)(image->width * scale), height = (int32_t)(image->height * scale);
    return clv_image_resize(working, image, width < 1 ? 1 : width, height < 1 ? 1 : height, err);
}
