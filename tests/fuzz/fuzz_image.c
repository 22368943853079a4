#include <stdlib.h>
#include <string.h>

#include "cleave/image.h"
#include "fuzz/fuzz.h"
#include "fuzz/repair.h"

/* Any bytes give an image within the limits, every pixel of it, or one line of error and nothing else. */
static void check(const uint8_t *data, size_t size)
{
    struct clv_image_limits limits = {.max_pixels = 1 << 18, .max_side_px = 1 << 13, .max_jpeg_scans = 20};
    struct clv_image image = {.width = -7};
    struct clv_error error = {0};
    if (clv_image_decode(&image, data, size, &limits, &error) == CLV_OK) {
        FUZZ_CHECK(image.width > 0 && image.height > 0 && image.channels == 3);
        FUZZ_CHECK((uint64_t)image.width * (uint64_t)image.height <= limits.max_pixels);
        unsigned sum = 0;
        for (size_t i = 0; i < (size_t)image.width * (size_t)image.height * 3; i++)
            sum += image.pixels[i];
        FUZZ_CHECK(sum <= 3 * 255 * limits.max_pixels);
        clv_image_release(&image);
    } else {
        FUZZ_CHECK(image.width == -7 && !image.pixels);
        FUZZ_CHECK(error.message[0] && !strchr(error.message, '\n'));
    }
}

FUZZ_TARGET(image)
{
    check(data, size);
    OWNED_ARRAY uint8_t *repaired = repaired_png(data, size);
    if (repaired)
        check(repaired, size);
    return 0;
}
