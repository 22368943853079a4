#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "fuzz/memory_file.h"
#include "image/raster/raster.h"

/* Any bytes are a raster, every window of which is values or nothing, and an image; or one line of error. */
FUZZ_TARGET(raster)
{
    struct clv_image_limits limits = {.max_pixels = 1 << 14, .max_side_px = 1 << 10, .max_jpeg_scans = 20};
    struct clv_error error = {0};
    struct clv_image image = {0};
    struct raster raster;
    char path[64];
    int fd = memory_file(path, data, size);
    if (fd < 0)
        return 0;
    if (raster_open(&raster, path, &limits, &error) != CLV_OK) {
        FUZZ_CHECK(error.message[0] && !strchr(error.message, '\n'));
        close(fd);
        return 0;
    }
    FUZZ_CHECK(raster.n_bands > 0 && raster.n_bands <= CLV_MAX_BANDS && raster.width > 0 && raster.height > 0);
    size_t n = (size_t)raster.width * (size_t)raster.n_bands;
    OWNED_ARRAY float *row = malloc(n * sizeof *row);
    double at[2];
    georeference_at(at, &raster.georeference, 1, 2);
    for (int32_t y = raster.height - 1; y >= 0 && row; y -= 7) {
        if (raster_read(row, &raster, &(struct image_part){.top = y, .width = raster.width, .height = 1}, &error) !=
            CLV_OK)
            break;
        for (size_t i = 0; i < n; i++)
            FUZZ_CHECK(!isinf(row[i]));
    }
    if (bands_show(&image, &raster, NULL, &error) == CLV_OK)
        clv_image_release(&image);
    else
        FUZZ_CHECK(error.message[0] && !strchr(error.message, '\n'));
    raster_close(&raster);
    close(fd);
    return 0;
}
