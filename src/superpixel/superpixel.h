#ifndef SUPERPIXEL_SUPERPIXEL_H
#define SUPERPIXEL_SUPERPIXEL_H

#include "cleave/image.h"
#include "cleave/status.h"
#include "cleave/superpixel.h"

/* Makes every region of a label map 4-connected. */

/* labels[height][width] in 0..n_labels-1, some perhaps unused or in several pieces. The largest 4-connected piece of
 * each label (the first one in raster order among equals) stays; every other piece joins the region it shares most
 * border with, pieces that touch a region first, those enclosed by other pieces after them. On return the labels are
 * 0..*n_regions-1, numbered by first pixel in raster order. O(pixels). Labels are unchanged on failure
 * (CLV_ERR_MEMORY). */
enum clv_status regions_connect(int32_t *labels, int32_t *n_regions, int32_t width, int32_t height, int32_t n_labels,
                                struct clv_error *err) CLV_CHECK;

/* Trust, but verify: label maps may come from anywhere. */

/* CLV_ERR_USAGE unless every label is in 0..n-1. */
enum clv_status labels_check(const struct clv_superpixels *superpixels, struct clv_error *err) CLV_CHECK;

/* The regular grid of overlapping patches. */

/* The grid of an image of that size. CLV_ERR_USAGE for what is not positive, and more than 2^31 pixels. */
enum clv_status patch_grid_init(struct clv_patch_grid *grid, int32_t width, int32_t height, int32_t size_px,
                                int32_t step_px, struct clv_error *err) CLV_CHECK;

/* The grid's edges; boundary_length as it is between the areas of patch_grid_partition. O(patches + sides). */
enum clv_status patch_grid_adjacency(struct clv_adjacency *adjacency, const struct clv_patch_grid *grid,
                                     struct clv_error *err) CLV_CHECK;

/* The partition of the image into the pixels nearest to each patch's centre, the upper left one among equals: labels
 * are nodes. */
enum clv_status patch_grid_partition(struct clv_superpixels *superpixels, const struct clv_patch_grid *grid,
                                     struct clv_error *err) CLV_CHECK;

/* Centroids of the regions of a label map. */

struct label_map {
    const int32_t *labels; /* [height][width], 0..n-1 */
    int32_t width, height, n;
};

/* centroid[n][2] = x and y of each region's centroid, in units of so many pixels. A region without pixels is at 0, 0.
 * O(pixels). */
enum clv_status region_centroids(float *centroid, const struct label_map *map, double unit,
                                 struct clv_error *err) CLV_CHECK;

/* Sums over the pixels of each superpixel: its mean colour, its centroid, its roughness. */

struct region_sums {
    double lab[3], square;   /* of Lab, and of L squared */
    double x, y, n;          /* of the pixels' centres; how many pixels */
    int32_t low[2], high[2]; /* x and y of the pixels' first and one past the last */
};

/* sums[map->n], zeroed by the caller; lab[height][width][3] of the map's pixels. O(pixels). */
void region_sums_fill(struct region_sums *sums, const struct clv_superpixels *map, const float *lab);
/* lab[3]: the mean colour. Returns the standard deviation of L. */
float region_sums_colour(float *lab, const struct region_sums *sums);

/* Kernels between all pairs of regions: kernel[n][n], symmetric, 0 on the diagonal. */

/* Returns a similarity as an entry of a kernel: 0 instead of what is next to nothing. That changes no sum that decides
 * anything, but products with it would be subnormal numbers, which take processors a hundred times as long. */
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

/* The colours of a tile are within. */
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

/* Copies the labels out, labels[height][width]. */
void tiles_read_labels(int32_t *labels, const struct tiles *tiles);

/* labels[TILE_PIXELS] = for each pixel of tile t the candidate (>= 1 of them) with the least
 * |lab - centre's|^2 + weight * |position - centre's|^2, the first among equals. changed[i] = whether it is another
 * one than the tile has. The same for every vector width. */
void tile_assign(int32_t *restrict labels, uint8_t *restrict changed, const struct tiles *restrict tiles, size_t t,
                 const struct centre *restrict centres, const int32_t *restrict candidates, size_t n_candidates,
                 float weight);

static inline size_t tile_offset(const struct tiles *tiles, int32_t x, int32_t y)
{
    size_t tile = (size_t)(y / TILE_SIDE) * (size_t)tiles->columns + (size_t)(x / TILE_SIDE);
    return tile * TILE_PIXELS + (size_t)(y % TILE_SIDE * TILE_SIDE + x % TILE_SIDE);
}

#endif
