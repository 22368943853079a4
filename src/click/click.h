/* Interactive cutting: an object from strokes on it and on the ground. Every stroke is answered by an exact minimum cut
 * of the pixels in which the strokes are certain; figure and ground are separated by colours and texture near the
 * strokes and in all of the labelling so far, by how far a pixel is from strokes of either sort over steps of colour,
 * by what a learned model says if there is one, and by the labelling before, which a stroke changes near itself only.
 *
 *     click_scene_new(&scene, &image, &error);
 *     click_cut(labels, scene, &(struct click_request){.seeds = seeds, .n_strokes = 1, .latest = &press}, &error);
 *     click_scene_free(scene);
 *
 * To read the source: click.c runs the rounds, click_scene.c measures an image once, click_features.c describes a
 * superpixel to click_weights.c, whose weights were fitted to a robot user's clicks. */
#ifndef CLICK_CLICK_H
#define CLICK_CLICK_H

#include <stdbool.h>

#include "cleave/image.h"

/* Of pixels: nothing is known; strokes; barred: certainly ground, as outside of a box, but nobody pointed there, so
 * that what is near is not taken for ground, too. */
enum { CLICK_FREE, CLICK_GROUND, CLICK_FIGURE, CLICK_BARRED };

struct click_scene;
void click_scene_free(struct click_scene *scene);

/* Of an image of 3 channels, whose pixels it borrows. O(pixels + superpixels^2): about 0.1 s for 0.25 Mpixel. */
enum clv_status click_scene_new(struct click_scene **scene, const struct clv_image *image,
                                struct clv_error *err) CLV_CHECK;

/* Where the latest stroke began. */
struct click_press {
    int32_t x, y;
    bool is_figure;
};

struct click_trace;

struct click_request {
    const uint8_t *seeds;             /* [height][width] CLICK_FREE and so on */
    const uint8_t *before;            /* [height][width] labels before the latest stroke, or NULL */
    const struct click_press *latest; /* or NULL */
    int32_t n_strokes;                /* so far */
    bool is_edit;       /* the labels before did not come from strokes alone but from a box or another program:
                                         away from the latest stroke they stay */
    const float *prior; /* [height][width] a learned model's score of figure minus ground (clv_refine_prior), or NULL */
    struct click_trace *trace; /* for those who fit the weights, or NULL */
};

/* labels[height][width] = 1 on the object, else 0. Without figure, in seeds or before, and without a prior all are 0.
 * labels may be the request's `before`. One thread, deterministic. Errors: CLV_ERR_MEMORY; labels are then
 * unchanged. */
enum clv_status click_cut(uint8_t *labels, const struct click_scene *scene, const struct click_request *request,
                          struct clv_error *err) CLV_CHECK;

#endif
