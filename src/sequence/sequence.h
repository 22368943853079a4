#ifndef SEQUENCE_SEQUENCE_H
#define SEQUENCE_SEQUENCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"
#include "cleave/data.h"
#include "cleave/image.h"
#include "cleave/status.h"

/* Where the pixels of one frame are in another: dense inverse search (Kroeger, Timofte, Dai, Van Gool: Fast optical
 * flow using dense inverse search, 2016), patches matched from coarse to fine and the better of their neighbours'
 * matches tried, too. */

#define MOTION_MAX_LEVELS 8

/* A frame's lightness at full size and halved again and again. */
struct motion_pyramid {
    int32_t n_levels, width[MOTION_MAX_LEVELS], height[MOTION_MAX_LEVELS];
    float *level[MOTION_MAX_LEVELS]; /* [height][width] 0..255 */
};

/* Image of 3 channels. *self is only written to. O(pixels). */
enum clv_status motion_pyramid_init(struct motion_pyramid *self, const struct clv_image *image,
                                    struct clv_error *err) CLV_CHECK;
void motion_pyramid_release(struct motion_pyramid *self);

/* Pixel (x, y) of `from` is at (x + flow[y][x][0], y + flow[y][x][1]) of `to`, a frame of the same size:
 * flow[height][width][2]. The same on every machine. O(pixels), 8 bytes a pixel. */
enum clv_status motion_estimate(float *flow, const struct motion_pyramid *from, const struct motion_pyramid *to,
                                struct clv_error *err) CLV_CHECK;

/* A frame at its working size, with all that is computed of it once. */

#define FRAME_PIXELS (1 << 17) /* of a working size, at most */
#define FRAME_BINS   12        /* of lightness, a and b, for colours near a place */
#define FRAME_FINE   24        /* for colours of the whole frame */

struct frame {
    struct clv_image image;
    float *lab;              /* [height][width][3] */
    uint16_t *colour, *fine; /* [height][width] bins */
    struct motion_pyramid pyramid;
};

/* The least whole number by which sides are divided for a working size. */
int32_t frame_factor(int32_t width, int32_t height);

enum clv_status frame_init(struct frame *self, const struct clv_image *image, struct clv_error *err) CLV_CHECK;
void frame_release(struct frame *self);

/* From one frame's mask to those of the frames after it: every pixel is scored by what is known of it (evidence.c), and
 * a minimum cut decides at the working size, then again at the pixels near the border.
 *
 *     struct carry carry = {0};
 *     status = carry_init(&carry, &image[0], mask, &error);
 *     for (t = 1; t < n && status == CLV_OK; t++)
 *         status = carry_next(labels, &carry, &image[t], t + 1 < n ? &image[t + 1] : NULL, &error);
 *     carry_release(&carry);
 */

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
 * (NULL: there is none). Images of the first one's size. One thread, deterministic. O(pixels); memory: about 300 bytes
 * a pixel of the working size, 64 a pixel of the frame. */
enum clv_status carry_next(uint8_t *labels, struct carry *self, const struct clv_image *image,
                           const struct clv_image *after, struct clv_error *err) CLV_CHECK;

/* Which frames of a set follow each other, and from which given mask each one's is carried: the nearest one's, before
 * or after it. */

/* From frames[first], whose mask is given, n frames on, in steps of 1 or -1. */
struct chain {
    size_t first, n;
    int32_t step;
};

struct chains {
    size_t *frames;     /* [set->n_items] items in their order, one sequence after the other */
    uint8_t *is_wanted; /* [set->n_items] whether an item's mask is to be made */
    struct chain *items;
    size_t n, n_wanted, n_sequences;
    size_t n_gaps;    /* numbers that are missing in the names of neighbouring frames .. */
    size_t before[2]; /* .. the first of them between these items */
};
void chains_release(struct chains *self);

/* Rows of one `sequence` belong together in their order; without a column all do. Of a bare folder the images of each
 * folder do, by their names, 2 before 10. `given` and `split` are comma-separated splits (NULL: all): masks of the one
 * are given, those of the other, as far as they are not given, are made. Errors name the sequence: CLV_ERR_DATA for one
 * without any given mask where one is wanted, or an image that is there twice. O(n log n). */
enum clv_status chains_find(struct chains *self, const struct clv_set *set, const char *given, const char *split,
                            struct clv_error *err) CLV_CHECK;

/* What is known of a frame's pixels from frames whose figure is known. */

/* Fills carry->overall. */
void evidence_learn(struct carry *carry);

/* Fills carry->terms of `now` from the motion and the frames before; moves carry->moved and carry->origin on. */
enum clv_status evidence_gather(struct carry *carry, struct clv_error *err) CLV_CHECK;

/* Planes of numbers, [height][width], that follow a frame: sampled between pixels, blurred, measured from a border. */

/* out[channels] = plane[height][width][channels] at (x, y), bilinear; the border repeats. */
void plane_sample(float *out, const float *plane, int32_t channels, int32_t width, int32_t height, float x, float y);

/* Means over squares of 2 radius + 1 pixels, `passes` times: three of them are nearly a Gaussian of variance
 * radius (radius + 1). Outside there are zeros. scratch[max(width, height)] */
void plane_blur(float *plane, int32_t width, int32_t height, int32_t radius, int32_t passes, float *scratch);

/* distance[height][width] = how far pixels are from the nearest one of the other side, positive where plane > 1/2, in
 * steps of 1 and sqrt 2; without another side `none`, with its sign. */
void plane_distance(float *distance, const float *plane, int32_t width, int32_t height, float none);

#endif
