#include "fuzz/check_boxes.h"

/* Label Studio's brush: a byte for each side of the picture, then its bits. Nothing is written beyond the picture. */
FUZZ_TARGET(brush)
{
    struct clv_error error = {0};
    uint8_t inside[64 * 64 + 1] = {0};
    if (size < 2)
        return 0;
    const int32_t width = 1 + data[0] % 64, height = 1 + data[1] % 64;
    inside[width * height] = 77;
    enum clv_status status = brush_decode(inside, width, height, data + 2, size - 2, &error);
    FUZZ_CHECK(status == CLV_OK || (status == CLV_ERR_DATA && error.message[0]));
    for (int32_t p = 0; p < width * height; p++)
        FUZZ_CHECK(inside[p] <= 1);
    FUZZ_CHECK(inside[width * height] == 77);
    return 0;
}
