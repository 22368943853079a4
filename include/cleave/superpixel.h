/* Superpixels and patches: the nodes of a random field over an image, and their adjacency.
 *
 * To read the source: src/superpixel/slic.c is the algorithm; tiles.c stores the image in tiles and has the inner loop,
 * assign.c the passes over the tiles, connectivity.c makes clusters connected. adjacency.c finds the edges,
 * patch_grid.c lays out patches, measures.c compares superpixels with a true label map. */
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
    int32_t n_superpixels; /* approximate number, >= 1; default 600 */
    float compactness;     /* m of Achanta et al.: colour units that count as much as one grid step, > 0; default 10 */
    int32_t n_iterations;  /* 1..100, default 10 */
};
CLV_API void clv_slic_defaults(struct clv_slic_options *options);

CLV_API void clv_superpixels_release(struct clv_superpixels *superpixels);

/* SLIC (Achanta et al., TPAMI 2012): k-means in (L, a, b, x, y) within 2S x 2S windows, S the grid step, from exactly
 * n_superpixels centres (or the number of pixels, if smaller), each moved to the lowest gradient of its 3 x 3 pixels.
 * Then the largest 4-connected component of each cluster becomes a superpixel, and every other component joins the
 * superpixel with the longest common border. So n is n_superpixels minus the clusters that ended empty. options may be
 * NULL. The image has 3 channels and from 1x1 to 2^31 - 1 pixels. Deterministic, with the same result at any vector
 * width. O(iterations x pixels). Errors: CLV_ERR_USAGE, naming an option or image size that is out of range,
 * CLV_ERR_MEMORY; superpixels is then unchanged.
 *
 *     struct clv_superpixels superpixels = {0};
 *     if (clv_slic(&superpixels, &image, &(struct clv_slic_options){.n_superpixels = 400, .compactness = 10,
 *                                                                   .n_iterations = 10}, &error))
 *         fprintf(stderr, "%s\n", error.message);
 *     clv_superpixels_release(&superpixels);
 */
CLV_API enum clv_status clv_slic(struct clv_superpixels *superpixels, const struct clv_image *image,
                                 const struct clv_slic_options *options, struct clv_error *err) CLV_CHECK;

/* Region adjacency. edges[n_edges] = {a, b} with a < b, sorted; boundary_length[n_edges] counts the pairs of
 * 4-neighbours across the common border. Superpixels need not be connected. O(pixels + n). Labels outside 0..n-1:
 * CLV_ERR_USAGE. */
struct clv_adjacency {
    int32_t n_nodes, n_edges;
    int32_t (*edges)[2];
    float *boundary_length;
};
CLV_API void clv_adjacency_release(struct clv_adjacency *adjacency);
CLV_API enum clv_status clv_adjacency_build(struct clv_adjacency *adjacency, const struct clv_superpixels *superpixels,
                                            struct clv_error *err) CLV_CHECK;

/* Patches of size_px x size_px every step_px: n_rows x n_columns patches, row-major, all inside the image; an image
 * smaller than a patch has one clipped patch. Patch (r, c) covers x in [c*step, c*step+size), y likewise; its node is r
 * * n_columns + c, and its 4-neighbours in the grid are its edges. A 320x213 image with 20/10 has 20 x 31 patches. */
struct clv_patch_grid {
    int32_t width, height; /* of the image */
    int32_t size_px, step_px, n_rows, n_columns;
};

/* Measures against a true label map truth[height][width]. O(pixels). Achievable segmentation accuracy: the share of
 * correct pixels if every superpixel gets its most frequent true label; pixels of void_label never count (-1: no void
 * label); 1 if no pixel counts. Boundary recall: the share of true boundary pixels that have a superpixel boundary
 * pixel within `tolerance_px` >= 0 (Chebyshev distance); a boundary pixel has a 4-neighbour of another label; 1 if the
 * truth has no boundary. */
CLV_API enum clv_status clv_achievable_accuracy(double *accuracy, const struct clv_superpixels *superpixels,
                                                const uint8_t *truth, int void_label, struct clv_error *err) CLV_CHECK;
CLV_API enum clv_status clv_boundary_recall(double *recall, const struct clv_superpixels *superpixels,
                                            const uint8_t *truth, int32_t tolerance_px,
                                            struct clv_error *err) CLV_CHECK;

#ifdef __cplusplus
}
#endif
#endif
