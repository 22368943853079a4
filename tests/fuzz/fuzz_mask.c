#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "fuzz/fuzz.h"
#include "fuzz/repair.h"

/* A decoded PNG gives labels that exist, or an error that names a value and a pixel. */
static void check(const uint8_t *data, size_t size, const struct clv_labels *labels)
{
    struct clv_image_limits limits = {.max_pixels = 1 << 18, .max_side_px = 1 << 13};
    OWNED(clv_indexed_image_release) struct clv_indexed_image image = {0};
    struct clv_mask mask = {.width = -7};
    struct clv_error error = {0};
    if (clv_indexed_image_decode(&image, data, size, &limits, &error) != CLV_OK)
        return;
    if (mask_from_indexed(&mask, &image, "mask.png", labels, &error) == CLV_OK) {
        FUZZ_CHECK(mask.width == image.width && mask.height == image.height);
        for (size_t i = 0; i < (size_t)mask.width * (size_t)mask.height; i++)
            FUZZ_CHECK(mask.labels[i] == CLV_VOID || mask.labels[i] < labels->n_labels);
        clv_mask_release(&mask);
    } else {
        FUZZ_CHECK(mask.width == -7 && strstr(error.message, "mask.png: value "));
    }
}

FUZZ_TARGET(mask)
{
    char names[4][64] = {"void", "a", "", "c"};
    const struct clv_labels binary = {.n_labels = 2, .names = names};
    const struct clv_labels named = {.n_labels = 4, .is_void = {1}, .from_file = 1, .names = names};
    OWNED_ARRAY uint8_t *repaired = repaired_png(data, size);
    check(data, size, &binary);
    check(data, size, &named);
    if (repaired) {
        check(repaired, size, &binary);
        check(repaired, size, &named);
    }
    return 0;
}
