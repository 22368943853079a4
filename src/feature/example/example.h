/* Features of an image whose maps need not be in memory. */

/* This folder makes one image a problem: example.c runs SLIC or lays the patches and lets every block fill its columns
 * from the views of the image (feature/blocks); truth.c brings masks and boxes to the nodes and labels back to the
 * pixels, patch_votes.c the labels of patches. Read clv_example_extract in example.c first. This header declares
 * what truth.c shares with the readers of feature files. */
#ifndef FEATURE_EXAMPLE_EXAMPLE_H
#define FEATURE_EXAMPLE_EXAMPLE_H

#include "base/machine.h"
#include "cleave/features.h"
#include "data/maps/maps.h"
#include "feature/blocks/blocks.h"
#include "feature/recipe/recipe.h"
#include "motion/motion.h"
#include "superpixel/region_graph.h"

/* clv_example_extract_maps of maps[recipe->n_maps]. */
enum clv_status example_extract(struct clv_example *example, const struct clv_image *image,
                                const struct map_reader *maps, const struct clv_recipe *recipe,
                                struct clv_error *err) CLV_CHECK;

/* The votes of patches on a pixel's label. */

/* Along one axis: the two patches around a pixel's centre and the share of the second; both the same past the outer
 * centres. */
struct patches_between {
    int32_t low, high;
    float share;
};

struct patch_votes {
    const int32_t *y; /* labels of the example's nodes */
    int32_t n_columns;
    struct patches_between *columns, *rows; /* [width], [height] of the image */
};

/* Zeroed at first; released whatever the status. */
enum clv_status patch_votes_init(struct patch_votes *self, const struct clv_example *example, const int32_t *y,
                                 struct clv_error *err) CLV_CHECK;
void patch_votes_release(struct patch_votes *self);

/* Who votes on pixel (x, y), and with which share. */
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

/* Row, index and value of the example's first n_nodes nodes. O(pixels + entries). */
enum clv_status rows_fill(struct clv_example *example, int32_t n_nodes, const struct views *views,
                          const struct layout *at, struct clv_error *err) CLV_CHECK;

/* An image at a fixed scale: tile by tile, each with a halo that its features may look at, joined along their seams. */

/* Where a tile is in a working image: the tile itself, and in what is seen of it, which has a halo. */
struct tile_bounds {
    struct patch patch, core; /* core: from the corner of what is seen */
    struct image_part seen;
};
/* Tile number k, row after row, of a working image of that size. */
struct tile_bounds tile_bounds(const struct clv_recipe *recipe, int32_t width, int32_t height, int32_t k);

/* The regions of one tile; nothing of it depends on what is beyond the pixels that were seen. */
struct tile {
    struct clv_superpixels map;     /* of all that was seen: regions 0..n-1 are the tile's, the others the halo's */
    struct clv_adjacency adjacency; /* of 0..n-1 alone */
    struct clv_problem problem;     /* of 0..n-1: rows, and edges without features */
    struct region *regions;         /* [n], as far as colours go */
    float *map_means;               /* [n][channels of all maps]; NULL without maps */
    int32_t n, n_channels;
    struct clv_example rows; /* of which row, index and value are the tile's own */
};
void tile_release(struct tile *tile);

/* seen: of a tile and its halo, of which core (x and y from the corner of seen) is the tile. A core that is all of it
 * has no halo. O(pixels x scales). */
enum clv_status tile_extract(struct tile *tile, const struct view_source *seen, const struct patch *core,
                             const struct layout *at, struct clv_error *err) CLV_CHECK;

/* Regions that edges join: nothing else counts at a fixed scale. */
struct edge_ends {
    const struct region *regions;
    const struct clv_problem *rows;
    const float *map_means; /* [n][n_channels] */
    int32_t n_channels;
};

/* Features of edges within and between tiles, [n_edges][edge_feature_count(recipe)]. O(edges x words of a region). */
void tile_edges_fill(float *features, const struct clv_adjacency *edges, const struct edge_ends *ends,
                     const struct layout *at);

/* The working image's tiles as one example: superpixels, rows, edges and their features; *n_edges of them. Memory of
 * one tile besides. */
enum clv_status tiles_extract(struct clv_example *example, int32_t *n_edges, const struct view_source *source,
                              const struct layout *at, struct clv_error *err) CLV_CHECK;

/* label[i] = argmax_b theta[i][b], the lowest on ties; CLV_UNKNOWN for a row of zeros. */
void majority_labels(int32_t *label, const float *theta, int32_t n_nodes, int32_t n_labels);

/* mean[n_nodes] = the mean of values[height][width], at the original size, over each node's pixels. */
enum clv_status example_mean(float *mean, const struct clv_example *example, const float *values,
                             struct clv_error *err) CLV_CHECK;

/* theta as clv_example_set_truth says, of the pixels counted. */
void balanced_theta(float *theta, const float *counts, int32_t n_nodes, int32_t n_labels);

/* The example's arrays as its problem. */
void example_problem(struct clv_example *example, int32_t n_nodes, int32_t n_edges, int32_t n_features,
                     int32_t n_edge_features);

/* Slices of a sequence as one example (stack.c): the regions of each, joined where they overlap those of the slice
 * before once these have moved on. */

/* One slice: its example, and its pixels at working size, as motion is found by them. */
struct slice {
    struct clv_example example;
    struct motion_pyramid pixels;
    int32_t (*motion)[2]; /* how far regions of the slice before have moved, in working pixels; NULL: not found yet */
};
void slice_release(struct slice *slice);
enum clv_status slice_look(struct slice *slice, const struct clv_image *image, const struct clv_recipe *recipe,
                           struct clv_error *err) CLV_CHECK; /* the pixels alone */

struct stack {
    struct layout at;          /* of its recipe, whose window is the caller's business */
    struct region_graph graph; /* a patch for each slice; theta are the counts of pixels, where there are labels */
};

/* n_labels of the truth; 0: none is wanted. */
void stack_init(struct stack *self, const struct clv_recipe *recipe, int32_t n_labels);
void stack_release(struct stack *self);

/* Copies the slice's problem and counts; its regions are joined to those of `before`, the slice added last, of which
 * superpixels and pixels are looked at; NULL: to none. What has moved is found once and kept in the slice. CLV_ERR_DATA
 * for slices of different sizes. O(n log n) in working pixels. */
enum clv_status stack_add(struct stack *self, struct slice *slice, const struct slice *before,
                          struct clv_error *err) CLV_CHECK;

/* All slices as an example, which has neither superpixels nor a size. A region's row goes on with the mean row of what
 * overlaps it, weighted by overlap. Truth is weighed as that of one image; slices without a mask are hidden nodes. The
 * stack is empty after that. */
enum clv_status stack_take(struct clv_example *window, struct stack *self, struct clv_error *err) CLV_CHECK;

#endif
