/* What interactive cutting knows of an image before the first stroke. */
#ifndef CLICK_CLICK_SCENE_H
#define CLICK_CLICK_SCENE_H

#include "cleave/superpixel.h"
#include "click/click.h"
#include "refine/pixel_couplings.h"

/* A superpixel of the working copy. */
struct click_region {
    float lab[3], roughness; /* means; the latter is the standard deviation of L */
    float x, y;              /* centre, in sides of a square of the image's area */
    float to_border;         /* distance to the image's border, likewise */
    float share;             /* of all pixels */
};

struct click_scene {
    struct clv_image image;             /* its pixels are borrowed */
    struct clv_image cutting;           /* the image, or what is cut of a large one */
    struct pixel_couplings couplings;   /* of a large image's own pixels */
    struct clv_image working;           /* the image, perhaps shrunk */
    struct clv_superpixels superpixels; /* of the working copy */
    struct clv_adjacency adjacency;
    struct click_region *regions;     /* [n] */
    float *near_kernel, *wide_kernel; /* [n][n], 0 on the diagonal */
    float *coupling;                  /* [n_edges] between superpixels: contrast-sensitive, by border length */
    float *step;                      /* [n_edges] what it costs to walk across */
    float unit_px;                    /* side of that square, in pixels of the image */
};

/* The superpixel under a pixel of the image, or of another copy of it. */
int32_t click_scene_at(const struct click_scene *scene, int32_t x, int32_t y);
int32_t click_scene_within(const struct click_scene *scene, const struct clv_image *copy, int32_t x, int32_t y);

float click_colour_distance(const struct click_region *a, const struct click_region *b, float lightness);

#endif
