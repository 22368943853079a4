#include "cli/segment/overlay_file.h"

#include <string.h>

#include "cli/segment/marginals.h"

#define OPACITY    0.45
#define OUTLINE_PX 1

enum clv_status overlay_file_write(const char *path, const struct clv_image *image, const uint8_t *labels,
                                   const struct segment_run *run, struct clv_error *err)
{
    struct clv_image painted = {0};
    enum clv_status status = outputs_make_folder(path, err);
    if (status == CLV_OK)
        status = clv_image_new(&painted, image->width, image->height, image->channels, err);
    if (status == CLV_OK) {
        memcpy(painted.pixels, image->pixels, (size_t)image->width * (size_t)image->height * (size_t)image->channels);
        if (run->options->marginals)
            status = marginals_draw(&painted, labels, err);
        else
            clv_overlay_draw(&painted, labels, (const uint8_t(*)[3])run->model->labels.palette, OPACITY, OUTLINE_PX,
                             -1);
    }
    if (status == CLV_OK)
        status = clv_png_write(path, &painted, err);
    clv_image_release(&painted);
    return status;
}
