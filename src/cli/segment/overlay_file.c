#include "cli/segment/overlay_file.h"

#include <string.h>

#include "cli/segment/marginals.h"
#include "image/overlay_palette.h"
#include "report/probability.h"

#define OPACITY 0.45

/* Outlines grow with the picture, so that they are seen when it is shown whole. */
static int32_t outline_px(const struct clv_image *image)
{
    int32_t longest = image->width > image->height ? image->width : image->height;
    return longest < 1280 ? 1 : longest / 640;
}

enum clv_status overlay_file_write(const char *path, const struct clv_image *image, const uint8_t *labels,
                                   const struct segment_run *run, struct clv_error *err)
{
    struct clv_image painted = {0};
    uint8_t palette[256][3];
    const struct clv_labels *own = &run->model->labels;
    overlay_palette(palette, (const uint8_t(*)[3])own->palette, own->n_labels);
    enum clv_status status = outputs_make_folder(path, err);
    if (status == CLV_OK)
        status = clv_image_new(&painted, image->width, image->height, image->channels, err);
    if (status == CLV_OK) {
        memcpy(painted.pixels, image->pixels, (size_t)image->width * (size_t)image->height * (size_t)image->channels);
        if (run->options->marginals)
            status = probability_draw(&painted, labels, outline_px(image), err);
        else
            clv_overlay_draw(&painted, labels, (const uint8_t(*)[3])palette, OPACITY, outline_px(image), -1);
    }
    if (status == CLV_OK)
        status = clv_png_write(path, &painted, err);
    clv_image_release(&painted);
    return status;
}
