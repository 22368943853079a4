/* Segments an object from strokes on it and beside it, without a training set. Strokes are fixed labels; colours,
 * texture and position, near the strokes and over the whole labelling, separate foreground from background, and the
 * border follows the image's edges.
 *
 *     clv_click_cut(labels, &image, strokes, NULL, &error);         labels[height][width]: 1 on the object
 *
 * To read the source: src/click/click_cut.c counts the strokes, click.c has the steps. */
#ifndef CLEAVE_CLICK_H
#define CLEAVE_CLICK_H

#include "cleave/image.h"

#ifdef __cplusplus
extern "C" {
#endif

/* labels[height][width] = 1 on the object, else 0. strokes[height][width] is a mask of strokes, as a training reads it:
 * 1 on strokes of the object, 0 on strokes of the background, CLV_VOID elsewhere. before[height][width] (or NULL) are
 * labels, 0 or 1, to start from, such as the result for fewer strokes. Without foreground in either, all labels are 0;
 * with foreground alone the background is guessed. Every connected piece counts as a stroke. The learned weights depend
 * on the number of strokes: one, two to four, or more.
 *
 * The image has 3 channels. Deterministic. O(pixels + superpixels^2): about 0.03 s for 0.25 Mpixel. Images of more than
 * 0.4 Mpixel are segmented at that size, and the border is then refined at the original pixels, on all processors.
 * Errors: CLV_ERR_USAGE (the image), CLV_ERR_DATA (a value that is not a label, naming its pixel), CLV_ERR_MEMORY;
 * labels are then unchanged. */
CLV_API enum clv_status clv_click_cut(uint8_t *labels, const struct clv_image *image, const uint8_t *strokes,
                                      const uint8_t *before, struct clv_error *err) CLV_CHECK;

#ifdef __cplusplus
}
#endif
#endif
