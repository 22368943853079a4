/* Checks that all labels of a label map are below its number of superpixels. */
#include "superpixel/superpixel.h"

#include "base/base.h"

enum clv_status labels_check(const struct clv_superpixels *superpixels, struct clv_error *err)
{
    size_t n_pixels = (size_t)superpixels->width * (size_t)superpixels->height;
    uint32_t highest = 0;
    for (size_t i = 0; i < n_pixels; i++)
        highest = (uint32_t)superpixels->labels[i] > highest ? (uint32_t)superpixels->labels[i] : highest;
    if (highest < (uint32_t)superpixels->n)
        return CLV_OK;
    return fail(err, CLV_ERR_USAGE, "superpixels: label %d, not in 0..%d", (int32_t)highest, superpixels->n - 1);
}
