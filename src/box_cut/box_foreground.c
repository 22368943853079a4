/* Estimates the foreground by box segmentation, for learners that only have boxes: the mean of labels and
 * probabilities, and where boxes overlap, the larger estimate. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "box_cut/box_cut.h"

enum clv_status box_foreground(float *foreground, const struct clv_image *image, const struct item_boxes *boxes,
                               struct clv_error *err)
{
    size_t n = (size_t)image->width * (size_t)image->height;
    OWNED_ARRAY uint8_t *labels = array_alloc(n, sizeof *labels);
    OWNED_ARRAY float *probability = array_alloc(n, sizeof *probability);
    NEED(labels && probability);
    memset(foreground, 0, n * sizeof *foreground);
    for (size_t k = 0; k < boxes->n_boxes; k++) {
        const struct clv_pixel_box *pixels = &boxes->boxes[k];
        struct clv_box box = {.x = pixels->first_x,
                              .y = pixels->first_y,
                              .width = pixels->end_x - pixels->first_x,
                              .height = pixels->end_y - pixels->first_y};
        MUST(clv_box_cut(labels, probability, image, &box, NULL, err));
        for (size_t i = 0; i < n; i++)
            foreground[i] = fmaxf(foreground[i], ((float)labels[i] + probability[i]) / 2);
    }
    return CLV_OK;
}
