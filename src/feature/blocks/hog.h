/* Histograms of oriented gradients (Dalal & Triggs 2005) as Felzenszwalb et al. (2010) form them, by VLFeat's
 * vl_hog. */
#ifndef FEATURE_HOG_H
#define FEATURE_HOG_H

#include "feature/blocks/scene.h"

enum { HOG_CELL_PX = 8, HOG_ORIENTATIONS = 9, HOG_SIZE = 3 * HOG_ORIENTATIONS + 4 };

/* Square cells of HOG_CELL_PX from the image's upper left corner on. What is left at the right and below is a cell of
 * its own from half a cell on, else it counts to the cell before; an image smaller than a cell is one. */
struct hog {
    int32_t n_columns, n_rows;
    float *values; /* [n_rows][n_columns][HOG_SIZE] in 0..0.5 */
};
void hog_release(struct hog *hog);

/* The gradient of a pixel is that of its strongest colour channel. O(pixels). CLV_ERR_MEMORY for our arrays: VLFeat
 * does not check its own. */
enum clv_status hog_init(struct hog *hog, const struct scene *scene, struct clv_error *err) CLV_CHECK;

/* hog: what the region's pixels find in their cells, on average: 18 directions of gradients, 9 orientations, 4 sums
 * over the orientations, one for each normalisation */
void hog_fill(float *row, const struct hog *hog, const struct scene *scene, int32_t region);
void hog_name(char *name, size_t size, int32_t index);

#endif
