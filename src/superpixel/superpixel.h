#ifndef SUPERPIXEL_SUPERPIXEL_H
#define SUPERPIXEL_SUPERPIXEL_H

#include "cleave/image.h"
#include "cleave/status.h"
#include "cleave/superpixel.h"

/* Connectivity of the regions of a label map. */

/* labels[height][width] in 0..n_labels-1, of which some may be unused or in several pieces. Makes every region
 * 4-connected. The largest 4-connected piece of each label (among equals the first in raster order) keeps its label.
 * Every other piece joins the region with which it shares the longest border: first the pieces that touch a region,
 * then the pieces that only touch other pieces. On return the labels are 0..*n_regions-1, numbered by first pixel in
 * raster order. O(pixels). Labels are unchanged on failure (CLV_ERR_MEMORY). */
enum clv_status regions_connect(int32_t *labels, int32_t *n_regions, int32_t width, int32_t height, int32_t n_labels,
                                struct clv_error *err) CLV_CHECK;

/* Validation of label maps that callers pass in. */

/* Returns CLV_ERR_USAGE unless every label is in 0..n-1. */
enum clv_status labels_check(const struct clv_superpixels *superpixels, struct clv_error *err) CLV_CHECK;

/* The regular grid of overlapping patches. */

/* Computes the grid of an image of width x height pixels. CLV_ERR_USAGE if a value is not positive or the grid has more
 * than 2^31 patches. */
enum clv_status patch_grid_init(struct clv_patch_grid *grid, int32_t width, int32_t height, int32_t size_px,
                                int32_t step_px, struct clv_error *err) CLV_CHECK;

/* Lists the edges of the grid. boundary_length is measured between the areas of patch_grid_partition. O(patches +
 * sides). */
enum clv_status patch_grid_adjacency(struct clv_adjacency *adjacency, const struct clv_patch_grid *grid,
                                     struct clv_error *err) CLV_CHECK;

/* Assigns each pixel to the patch whose centre is nearest, the upper left one among equals. Labels are node indices.
 * O(pixels). */
enum clv_status patch_grid_partition(struct clv_superpixels *superpixels, const struct clv_patch_grid *grid,
                                     struct clv_error *err) CLV_CHECK;

/* Centroids of the regions of a label map. */

struct label_map {
    const int32_t *labels; /* [height][width], 0..n-1 */
    int32_t width, height, n;
};

/* centroid[n][2] = x and y of each region's centroid in pixels, divided by `unit`. A region without pixels gets (0, 0).
 * O(pixels). */
enum clv_status region_centroids(float *centroid, const struct label_map *map, double unit,
                                 struct clv_error *err) CLV_CHECK;

/* Sums over the pixels of each superpixel, for its mean colour, centroid and deviation of L. */

struct region_sums {
    double lab[3], square;   /* sums of Lab, and of L squared */
    double x, y, n;          /* sums of the pixels' centres; number of pixels */
    int32_t low[2], high[2]; /* x and y of the bounding box; high is one past the last pixel */
};

/* Fills sums[map->n], which the caller has zeroed, from lab[height][width][3] of the map's pixels. O(pixels). */
void region_sums_fill(struct region_sums *sums, const struct clv_superpixels *map, const float *lab);
/* Computes the mean colour lab[3]. Returns the standard deviation of L. */
float region_sums_colour(float *lab, const struct region_sums *sums);

/* Returns the squared distance of two colours in Lab, where L has a weight of its own. */
float lab_square_distance(const float *a, const float *b, float weight);

/* Returns the superpixel at a pixel of an image of another size than the map's, width x height. */
int32_t superpixel_at(const struct clv_superpixels *map, int32_t width, int32_t height, int32_t x, int32_t y);

/* Kernels between all pairs of regions: kernel[n][n], symmetric, 0 on the diagonal. */

/* Returns a similarity as an entry of a kernel, with values below 1e-25 set to 0. They are too small to change a sum,
 * but products with them would be subnormal numbers, on which processors take a hundred times as long. */
static inline float region_kernel_weight(float similarity)
{
    return similarity < 1e-25F ? 0 : similarity;
}

/* sums[k][i] = sum_j kernel_ij weights[k][j], summed in the order of j; sums[1] may be NULL. O(n^2). */
void region_kernel_apply(float *const sums[2], const float *kernel, const float *const weights[2], size_t n);

/* An image in 8 x 8 tiles of Lab planes, and the inner loop of SLIC over one tile. */

#define TILE_SIDE   8
#define TILE_PIXELS (TILE_SIDE * TILE_SIDE)
#define LAB_SCALE   32.0F /* plane values per Lab unit */

/* The range of a tile's colours, inclusive. */
struct tile_box {
    int16_t low[3], high[3];
};

/* Tiles row by row, the pixels of a tile row by row. Pixels beyond the right and lower edge of the image have the
 * colours of the edge and labels without meaning. */
struct tiles {
    int32_t width, height; /* of the image */
    int32_t columns, rows; /* of tiles */
    size_t n;              /* columns x rows */
    int16_t *lab[3];       /* [n][TILE_PIXELS] */
    struct tile_box *boxes;
    int32_t *labels; /* [n][TILE_PIXELS] cluster, -1: none yet */
};

struct centre {
    float lab[3], x, y;
};

enum clv_status tiles_init(struct tiles *tiles, const struct clv_image *image, struct clv_error *err) CLV_CHECK;
void tiles_release(struct tiles *tiles);

/* Copies the labels of the tiles to labels[height][width]. */
void tiles_read_labels(int32_t *labels, const struct tiles *tiles);

/* labels[TILE_PIXELS] = for each pixel of tile t the candidate (>= 1 of them) with the least |lab - centre's|^2 +
 * weight * |position - centre's|^2, the first among equals. changed[i] = whether the label differs from the tile's
 * present one. Results are the same for every vector width. */
void tile_assign(int32_t *restrict labels, uint8_t *restrict changed, const struct tiles *restrict tiles, size_t t,
                 const struct centre *restrict centres, const int32_t *restrict candidates, size_t n_candidates,
                 float weight);

static inline size_t tile_offset(const struct tiles *tiles, int32_t x, int32_t y)
{
    size_t tile = (size_t)(y / TILE_SIDE) * (size_t)tiles->columns + (size_t)(x / TILE_SIDE);
    return tile * TILE_PIXELS + (size_t)(y % TILE_SIDE * TILE_SIDE + x % TILE_SIDE);
}

#endif
