/* What the feature blocks look at: the image at working size in RGB, Lab and grey, and its superpixels as lists of
 * pixels. */
#ifndef FEATURE_SCENE_H
#define FEATURE_SCENE_H

#include "cleave/features.h"

/* Means over one superpixel's pixels. */
struct region {
    float lab[3], deviation[3]; /* mean and standard deviation of L, a, b */
    float x, y;                 /* centroid in 0..1 of the image's width and height */
    int32_t n_pixels;
};

struct scene {
    int32_t width, height, n_regions;
    const uint8_t *rgb;    /* [height][width][3], borrowed */
    const int32_t *labels; /* [height][width], borrowed */
    float *lab;            /* [height][width][3] */
    float *grey;           /* [height][width] in 0..1 */
    int32_t *start;        /* [n_regions + 1] into pixel */
    int32_t *pixel;        /* [start[n_regions]] pixel numbers grouped by region, ascending within one */
    struct region *regions;
};

void scene_release(struct scene *scene);

/* image (3 channels) and superpixels must outlive the scene. O(pixels). */
enum clv_status scene_init(struct scene *scene, const struct clv_image *image,
                           const struct clv_superpixels *superpixels, struct clv_error *err) CLV_CHECK;

/* Fills regions[n_regions] from the lists of pixels. */
void scene_measure(struct scene *scene);

/* The same image seen through windows: region i of `windows` holds the pixels of patch i of the grid and of all that
 * are within margin_px of it, so that regions overlap; labels stay those of the partition. It borrows from `scene`
 * and must not outlive it. O(pixels of all windows). */
enum clv_status windows_init(struct scene *windows, const struct scene *scene, const struct clv_patch_grid *grid,
                             int32_t margin_px, struct clv_error *err) CLV_CHECK;
/* One region of all pixels. */
enum clv_status scene_whole(struct scene *windows, const struct scene *scene, struct clv_error *err) CLV_CHECK;
void windows_release(struct scene *windows);

/* grey[n] in 0..1 from rgb[n][3]: ITU-R BT.601 luma. */
void grey_from_rgb(float *grey, const uint8_t *rgb, size_t n);

#endif
