/* A box and its surroundings as superpixels, for clv_box_cut. */
#ifndef BOX_CUT_BOX_SCENE_H
#define BOX_CUT_BOX_SCENE_H

#include <stdbool.h>

#include "cleave/boxes.h"
#include "cleave/superpixel.h"

/* A superpixel, wholly inside the box or wholly outside. */
struct box_region {
    float lab[3], roughness; /* means; the latter is the standard deviation of L */
    float x, y;              /* centre: -1 and 1 are the sides of the box, so that the box is 2 x 2 */
    float low[2], high[2];   /* extent, likewise */
    float share;             /* of all pixels */
    bool is_inside;
};

struct box_scene {
    struct clv_image image;             /* the box and its margin, at the image's size */
    struct clv_pixel_box crop;          /* where that is in the image */
    struct clv_pixel_box box;           /* the box within the crop */
    struct clv_superpixels superpixels; /* of the crop, perhaps shrunk */
    struct clv_adjacency adjacency;
    struct box_region *regions; /* [superpixels.n] */
    float shape;                /* height of the box / its width */
    double image_pixels;        /* of the whole image */
};
void box_scene_release(struct box_scene *scene);

enum clv_status box_scene_init(struct box_scene *scene, const struct clv_image *image, struct clv_pixel_box box,
                               int32_t n_superpixels, struct clv_error *err) CLV_CHECK;

/* The superpixel under a pixel of scene->image, or of a copy of another size. */
int32_t box_scene_at(const struct box_scene *scene, const struct clv_image *image, int32_t x, int32_t y);

/* The box in a copy of scene->image of another size: at least one pixel. */
struct clv_pixel_box box_scene_scale(const struct box_scene *scene, int32_t width, int32_t height);

#endif
