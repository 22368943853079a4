/* Superpixels and patches: the nodes of a random field over an image, and who neighbours whom.
 *
 * To read the source: src/superpixel/slic.c is the algorithm; tiles.c holds the image in tiles of colours and has its
 * inner loop, assign.c the passes over them, connectivity.c what comes after. adjacency.c finds the edges, patch_grid.c
 * is the other kind of nodes, measures.c compares with a true label map. */
#ifndef CLEAVE_SUPERPIXEL_H
#define CLEAVE_SUPERPIXEL_H

#include "cleave/image.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A partition of an image: labels[height][width] in 0..n-1, every label used, numbered by first pixel in raster
 * order. */
struct clv_superpixels {
    int32_t width, height, n;
    int32_t *labels;
};

struct clv_slic_options {
    int32_t n_superpixels; /* wanted number, >= 1; what comes out is near it. Default 600 */
    float compactness;     /* m of Achanta et al.: colour units that weigh as much as one grid step. > 0; default 10 */
    int32_t n_iterations;  /* 1..100, default 10 */
};
CLV_API void clv_slic_defaults(struct clv_slic_options *options);

CLV_API void clv_superpixels_release(struct clv_superpixels *superpixels);

/* SLIC (Achanta et al., TPAMI 2012): k-means in (L, a, b, x, y) within 2S x 2S windows, S the grid step, from exactly
 * n_superpixels centres (as many as there are pixels, if fewer), each moved to the lowest gradient of its 3 x 3
 * pixels. Then connectivity: the largest 4-connected piece of each cluster stays, every other piece joins the
 * superpixel it shares most border with. So n is n_superpixels but for clusters that ended empty. options may be NULL.
 * Image of 3 channels, any size from 1x1 to 2^31 - 1 pixels. Deterministic, the same for every vector width.
 * O(iterations x pixels). CLV_ERR_USAGE names an option or image that is out of range, CLV_ERR_MEMORY; superpixels is
 * then unchanged.
 *
 *     struct clv_superpixels superpixels = {0};
 *     if (clv_slic(&superpixels, &image, &(struct clv_slic_options){.n_superpixels = 400, .compactness = 10,
 *                                                                   .n_iterations = 10}, &error))
 *         fprintf(stderr, "%s\n", error.message);
 *     clv_superpixels_release(&superpixels);
 */
CLV_API enum clv_status clv_slic(struct clv_superpixels *superpixels, const struct clv_image *image,
                                 const struct clv_slic_options *options, struct clv_error *err) CLV_CHECK;

/* Region adjacency. edges[n_edges] = {a, b} with a < b, sorted; boundary_length[n_edges] counts the 4-neighbour pixel
 * pairs across the common border. Superpixels need not be connected for it. O(pixels + n). Labels outside 0..n-1:
 * CLV_ERR_USAGE. */
struct clv_adjacency {
    int32_t n_nodes, n_edges;
    int32_t (*edges)[2];
    float *boundary_length;
};
CLV_API void clv_adjacency_release(struct clv_adjacency *adjacency);
CLV_API enum clv_status clv_adjacency_build(struct clv_adjacency *adjacency, const struct clv_superpixels *superpixels,
                                            struct clv_error *err) CLV_CHECK;

/* Patches of size_px x size_px every step_px: n_rows x n_columns of them, row-major, all inside the image; when the
 * image is smaller than a patch there is one patch, clipped. Patch (r, c) covers x in [c*step, c*step+size), y
 * likewise; its node is r * n_columns + c, and its 4-neighbours in the grid are its edges. A 320x213 image with 20/10
 * has 20 x 31 patches. */
struct clv_patch_grid {
    int32_t width, height; /* of the image */
    int32_t size_px, step_px, n_rows, n_columns;
};

/* Measures against a true label map truth[height][width]. O(pixels).
 * Achievable segmentation accuracy: the share of pixels that are right when every superpixel takes its best label;
 * void_label pixels never count (-1: none); 1 when no pixel counts.
 * Boundary recall: the share of true boundary pixels (those with a 4-neighbour of another label) with a superpixel
 * boundary pixel (the same) within `tolerance_px` >= 0 (Chebyshev); 1 when the truth has no boundary. */
CLV_API enum clv_status clv_achievable_accuracy(double *accuracy, const struct clv_superpixels *superpixels,
                                                const uint8_t *truth, int void_label, struct clv_error *err) CLV_CHECK;
CLV_API enum clv_status clv_boundary_recall(double *recall, const struct clv_superpixels *superpixels,
                                            const uint8_t *truth, int32_t tolerance_px,
                                            struct clv_error *err) CLV_CHECK;

#ifdef __cplusplus
}
#endif
#endif
