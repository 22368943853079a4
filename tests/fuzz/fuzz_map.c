#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "data/maps/maps.h"
#include "fuzz/fuzz.h"

/* Any bytes give a map of finite values, or one line of error. */
FUZZ_TARGET(map)
{
    struct clv_error error = {0};
    struct clv_map map = {.width = -7};
    const struct clv_image_limits limits = {.max_pixels = 1 << 16, .max_side_px = 1 << 12};
    OWNED_ARRAY unsigned char *aligned = malloc(size + 1); /* tensor files need it */
    if (!aligned)
        return 0;
    if (size)
        memcpy(aligned, data, size);
    if (map_parse(&map, aligned, size, CLV_MAP_LAYOUT_AUTO, &limits, &error) != CLV_OK) {
        FUZZ_CHECK(map.width == -7 && error.message[0] && !strchr(error.message, '\n'));
    } else {
        size_t n = (size_t)map.width * (size_t)map.height * (size_t)map.n_channels;
        FUZZ_CHECK(map.width > 0 && map.height > 0 && map.n_channels > 0 && map.n_channels <= CLV_MAX_MAP_CHANNELS);
        for (size_t i = 0; i < n; i++)
            FUZZ_CHECK(isfinite(map.values[i]));
        clv_map_release(&map);
    }
    return 0;
}
