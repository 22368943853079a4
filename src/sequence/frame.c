/* Shrinks a frame to its working size and computes, once per frame, its Lab colours, their bins and its pyramid for
 * motion estimation. Start at frame_init. */
#include "sequence/sequence.h"

#include "base/base.h"
#include "refine/refine.h"

int32_t frame_factor(int32_t width, int32_t height)
{
    int32_t factor = 1;
    while ((int64_t)(width / factor) * (height / factor) > FRAME_PIXELS)
        factor++;
    return factor;
}

void frame_release(struct frame *self)
{
    clv_image_release(&self->image);
    motion_pyramid_release(&self->pyramid);
    array_free(self->lab);
    array_free(self->colour);
    array_free(self->fine);
    *self = (struct frame){.lab = NULL};
}

enum clv_status frame_init(struct frame *self, const struct clv_image *image, struct clv_error *err)
{
    OWNED(frame_release) struct frame result = {.lab = NULL};
    int32_t factor = frame_factor(image->width, image->height);
    int32_t width = image->width / factor, height = image->height / factor;
    size_t n = (size_t)(width ? width : 1) * (size_t)(height ? height : 1);
    MUST(clv_image_resize(&result.image, image, width ? width : 1, height ? height : 1, err));
    MUST(motion_pyramid_init(&result.pyramid, &result.image, err));
    result.lab = array_alloc(n, 3 * sizeof *result.lab);
    result.colour = array_alloc(n, sizeof *result.colour);
    result.fine = array_alloc(n, sizeof *result.fine);
    NEED(result.lab && result.colour && result.fine);
    clv_rgb_to_lab(result.lab, result.image.pixels, n);
    for (size_t i = 0; i < n; i++) {
        result.colour[i] = (uint16_t)colour_bin(result.lab + 3 * i, FRAME_BINS);
        result.fine[i] = (uint16_t)colour_bin(result.lab + 3 * i, FRAME_FINE);
    }
    *self = TAKE(result);
    return CLV_OK;
}
