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
    struct frame made = {.lab = NULL};
    int32_t factor = frame_factor(image->width, image->height);
    int32_t width = image->width / factor, height = image->height / factor;
    size_t n = (size_t)(width ? width : 1) * (size_t)(height ? height : 1);
    enum clv_status status = clv_image_resize(&made.image, image, width ? width : 1, height ? height : 1, err);
    TRY(motion_pyramid_init(&made.pyramid, &made.image, err));
    made.lab = array_alloc(n, 3 * sizeof *made.lab);
    made.colour = array_alloc(n, sizeof *made.colour);
    made.fine = array_alloc(n, sizeof *made.fine);
    TRY_IF(!made.lab || !made.colour || !made.fine, fail_memory(err));
    if (status != CLV_OK) {
        frame_release(&made);
        return status;
    }
    clv_rgb_to_lab(made.lab, made.image.pixels, n);
    for (size_t i = 0; i < n; i++) {
        made.colour[i] = (uint16_t)colour_bin(made.lab + 3 * i, FRAME_BINS);
        made.fine[i] = (uint16_t)colour_bin(made.lab + 3 * i, FRAME_FINE);
    }
    *self = made;
    return CLV_OK;
}
