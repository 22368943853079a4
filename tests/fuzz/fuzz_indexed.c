#include <stdlib.h>
#include <string.h>

#include "cleave/image.h"
#include "fuzz/fuzz.h"
#include "fuzz/repair.h"

/* Any bytes give a mask whose values fit its bit depth and palette, or one line of error and nothing else. */
static void check(const uint8_t *data, size_t size)
{
    struct clv_image_limits limits = {.max_pixels = 1 << 18, .max_side_px = 1 << 13};
    struct clv_indexed_image mask = {.width = -7};
    struct clv_error error = {0};
    if (clv_indexed_image_decode(&mask, data, size, &limits, &error) == CLV_OK) {
        FUZZ_CHECK(mask.width > 0 && mask.height > 0);
        FUZZ_CHECK(mask.bit_depth >= 1 && mask.bit_depth <= 8 && mask.palette_size >= 0 && mask.palette_size <= 256);
        int n_values = mask.palette_size ? mask.palette_size : 1 << mask.bit_depth;
        for (size_t i = 0; i < (size_t)mask.width * (size_t)mask.height; i++)
            FUZZ_CHECK(mask.values[i] < n_values);
        clv_indexed_image_release(&mask);
    } else {
        FUZZ_CHECK(mask.width == -7 && !mask.values);
        FUZZ_CHECK(error.message[0] && !strchr(error.message, '\n'));
    }
}

FUZZ_TARGET(indexed)
{
    check(data, size);
    OWNED_ARRAY uint8_t *repaired = repaired_png(data, size);
    if (repaired)
        check(repaired, size);
    return 0;
}
