/* Makes a problem of one image. example.c divides the image into superpixels or patches, and every block fills its
 * columns from the views of the image (feature/blocks). truth.c moves masks and boxes to the nodes, and labels back to
 * the pixels; patch_votes.c does so for labels of patches. tiles.c extracts images at a fixed scale, stack.c slices of
 * a sequence. Read example_extract in example.c first. */
#ifndef FEATURE_EXAMPLE_EXAMPLE_H
#define FEATURE_EXAMPLE_EXAMPLE_H

#include "base/machine.h"
#include "cleave/features.h"
#include "data/maps/maps.h"
#include "feature/blocks/blocks.h"
#include "feature/recipe/recipe.h"
#include "motion/motion.h"
#include "superpixel/region_graph.h"

/* Equals clv_example_extract_maps, but maps[recipe->n_maps] need not be in memory. */
enum clv_status example_extract(struct clv_example *example, const struct clv_image *image,
                                const struct map_reader *maps, const struct clv_recipe *recipe,
                                struct clv_error *err) CLV_CHECK;

/* The votes of patches on a pixel's label. */

/* The two patches along one axis whose centres are next to a pixel's centre, and the weight of the second. Beyond the
 * outermost centres, both are the outermost patch. */
struct patches_between {
    int32_t low, high;
    float share;
};

struct patch_votes {
    const int32_t *y; /* labels of the example's nodes */
    int32_t n_columns;
    struct patches_between *columns, *rows; /* [width], [height] of the image */
};

/* The caller zeroes *self before and releases it also after a failure. */
enum clv_status patch_votes_init(struct patch_votes *self, const struct clv_example *example, const int32_t *y,
                                 struct clv_error *err) CLV_CHECK;
void patch_votes_release(struct patch_votes *self);

/* Computes the labels that vote on pixel (x, y), and their shares. */
INLINE void patch_votes_at(int32_t voter[4], float share[4], const struct patch_votes *self, int32_t x, int32_t y)
{
    struct patches_between column = self->columns[x], row = self->rows[y];
    const int32_t *above = self->y + row.low * self->n_columns, *below = self->y + row.high * self->n_columns;
    voter[0] = above[column.low];
    voter[1] = above[column.high];
    voter[2] = below[column.low];
    voter[3] = below[column.high];
    share[0] = (1 - row.share) * (1 - column.share);
    share[1] = (1 - row.share) * column.share;
    share[2] = row.share * (1 - column.share);
    share[3] = row.share * column.share;
}

/* The feature rows of an example's nodes, every block in its columns. */

/* Fills row, index and value of the example's first n_nodes nodes. O(pixels + entries). */
enum clv_status rows_fill(struct clv_example *example, int32_t n_nodes, const struct views *views,
                          const struct layout *at, struct clv_error *err) CLV_CHECK;

/* Extraction at a fixed scale: tile by tile, each with a halo for its features. Tiles are joined along their seams. */

/* The rectangle of a tile in the working image, and that of the tile with its halo (`seen`). */
struct tile_bounds {
    struct patch patch, core; /* core: the tile relative to the corner of `seen` */
    struct image_part seen;
};
/* Returns the bounds of tile k, counted row by row, in a working image of width x height. */
struct tile_bounds tile_bounds(const struct clv_recipe *recipe, int32_t width, int32_t height, int32_t k);

/* The regions of one tile. They depend only on the pixels of the tile and its halo. */
struct tile {
    struct clv_superpixels map;     /* of tile and halo: regions 0..n-1 are the tile's, the others the halo's */
    struct clv_adjacency adjacency; /* of regions 0..n-1 */
    struct clv_problem problem;     /* of regions 0..n-1: rows, and edges without features */
    struct region *regions;         /* [n] only their colours are used */
    float *map_means;               /* [n][channels of all maps]; NULL without maps */
    int32_t n, n_channels;
    struct clv_example rows; /* owns row, index and value of the problem */
};
void tile_release(struct tile *tile);

/* Extracts the tile `core` (x and y relative to the corner of `seen`) from `seen`, the pixels of the tile and its halo.
 * A core as large as `seen` has no halo. O(pixels x scales). */
enum clv_status tile_extract(struct tile *tile, const struct view_source *seen, const struct patch *core,
                             const struct layout *at, struct clv_error *err) CLV_CHECK;

/* The nodes' data from which tile_edges_fill computes features of edges. */
struct edge_ends {
    const struct region *regions;
    const struct clv_problem *rows;
    const float *map_means; /* [n][n_channels] */
    int32_t n_channels;
};

/* Computes features[n_edges][edge_feature_count(recipe)] of edges within and between tiles. O(edges x words of a
 * region). */
void tile_edges_fill(float *features, const struct clv_adjacency *edges, const struct edge_ends *ends,
                     const struct layout *at);

/* Extracts all tiles of the working image as one example: superpixels, rows, and *n_edges edges with features. Needs
 * the memory of one tile in addition. */
enum clv_status tiles_extract(struct clv_example *example, int32_t *n_edges, const struct view_source *source,
                              const struct layout *at, struct clv_error *err) CLV_CHECK;

/* label[i] = argmax_b theta[i][b], the lowest on ties; CLV_UNKNOWN for a row of zeros. */
void majority_labels(int32_t *label, const float *theta, int32_t n_nodes, int32_t n_labels);

/* mean[n_nodes] = the mean over each node's pixels of values[height][width] at the original size. */
enum clv_status example_mean(float *mean, const struct clv_example *example, const float *values,
                             struct clv_error *err) CLV_CHECK;

/* Computes theta, as described at clv_example_set_truth, from the counts of pixels. */
void balanced_theta(float *theta, const float *counts, int32_t n_nodes, int32_t n_labels);

/* Sets the counts of the example's problem, and points it to the example's arrays. */
void example_problem(struct clv_example *example, int32_t n_nodes, int32_t n_edges, int32_t n_features,
                     int32_t n_edge_features);

/* Slices of a sequence as one example (stack.c): edges join regions of a slice to those of the previous slice that
 * overlap them after motion. */

/* One slice: its example, and its pixels at working size for the estimate of motion. */
struct slice {
    struct clv_example example;
    struct motion_pyramid pixels;
    int32_t (*motion)[2]; /* of the regions of the previous slice to this one, in working pixels; NULL: not estimated */
};
void slice_release(struct slice *slice);
enum clv_status slice_set_pixels(struct slice *slice, const struct clv_image *image, const struct clv_recipe *recipe,
                                 struct clv_error *err) CLV_CHECK; /* sets only `pixels` */

struct stack {
    struct layout at;          /* of its recipe, whose `window` is not used here */
    struct region_graph graph; /* a patch for each slice; theta holds the counts of pixels, if there are labels */
};

/* n_labels is the number of labels of the truth, or 0 for no truth. */
void stack_init(struct stack *self, const struct clv_recipe *recipe, int32_t n_labels);
void stack_release(struct stack *self);

/* Appends a copy of the slice's problem and counts, and joins its regions to those of `before`, the slice added last
 * (NULL: no join), of which only superpixels and pixels are used. Motion is estimated once and kept in the slice.
 * CLV_ERR_DATA if the slices differ in size. O(n log n) in working pixels. */
enum clv_status stack_add(struct stack *self, struct slice *slice, const struct slice *before,
                          struct clv_error *err) CLV_CHECK;

/* Moves all slices to one example, which has neither superpixels nor a size. The mean row of the regions that overlap a
 * region, weighted by overlap, is appended to its row. Truth is weighted as that of one image; nodes of slices without
 * a mask are unlabelled. The stack is empty afterwards. */
enum clv_status stack_take(struct clv_example *window, struct stack *self, struct clv_error *err) CLV_CHECK;

#endif
