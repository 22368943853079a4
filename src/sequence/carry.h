/* From one frame's mask to those of the frames after it: every pixel is scored by what is known of it (evidence.c), and
 * a minimum cut decides at the working size, then again at the pixels near the border.
 *
 *     struct carry carry = {0};
 *     status = carry_init(&carry, &image[0], mask, &error);
 *     for (t = 1; t < n && status == CLV_OK; t++)
 *         status = carry_next(labels, &carry, &image[t], t + 1 < n ? &image[t + 1] : NULL, &error);
 *     carry_release(&carry);
 */
#ifndef SEQUENCE_CARRY_H
#define SEQUENCE_CARRY_H

#include "base/array.h"
#include "sequence/frame.h"

/* What a pixel is scored by; evidence.c says how. */
enum carry_term {
    TERM_BEFORE,  /* log odds of what was at its place in the frame before */
    TERM_NEAR,    /* distance from that figure's border, up to 24 pixels */
    TERM_FAR,     /* up to 60 pixels */
    TERM_COLOUR,  /* its colour in the frame before, near its place */
    TERM_FIRST,   /* in the first frame, near its place as it moved since */
    TERM_OVERALL, /* anywhere in the first frame */
    TERM_HOLE,    /* figure where nothing of the frame before moved to */
    TERM_ANCHOR,  /* what it was in the first frame, as far as it still looks so */
    TERM_MOTION,  /* moves with the figure nearby, not with the ground */
    TERM_ALWAYS,
    CARRY_TERMS
};

struct carry {
    int32_t full_width, full_height; /* of all frames */
    int32_t width, height;           /* working size */
    struct frame first, before, now, after;
    bool has_after;
    struct arena arena; /* has all arrays */
    float *first_figure,
        *figure;   /* [height][width] 0..1 how much of a pixel is figure: in the first frame, in `before` */
    float *moved;  /* [height][width][2] where the first frame's pixels are */
    float *origin; /* [height][width][3] where a pixel was in the first frame, and how far that is trusted */
    float *back, *forth, *onward; /* [height][width][2] motion: now to before, before to now, now to after */
    float *terms;                 /* [height][width][CARRY_TERMS] */
    float *overall;               /* [FRAME_FINE^3] log ratios of the first frame's colours */
    float *counts;                /* of places and colours, in figure and in ground */
    int32_t columns, rows;        /* of places */
    float *planes;                /* [9][height][width] scratch */
    float *line;                  /* scratch of plane_blur */
};

/* Image of 3 channels, mask[height][width]: 1 is figure, 0 ground, other values are neither. */
enum clv_status carry_init(struct carry *self, const struct clv_image *image, const uint8_t *mask,
                           struct clv_error *err) CLV_CHECK;
void carry_release(struct carry *self);

/* labels[height][width], 0 or 1, of the next frame; `after` is the one that follows, which shows what was hidden before
 * (NULL: there is none). Images of the first one's size. One thread, deterministic. O(pixels); memory: about 300 bytes a
 * pixel of the working size, 64 a pixel of the frame. */
enum clv_status carry_next(uint8_t *labels, struct carry *self, const struct clv_image *image,
                           const struct clv_image *after, struct clv_error *err) CLV_CHECK;

#endif
