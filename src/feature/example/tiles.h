/* An image at a fixed scale: tile by tile, each with a halo that its features may look at, joined along their seams. */
#ifndef FEATURE_TILES_H
#define FEATURE_TILES_H

#include "feature/blocks/map_pool.h"
#include "feature/recipe/layout.h"
#include "region/region_graph.h"

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

/* seen: the working pixels of a tile and its halo, of which core (x and y from the corner of seen) is the tile. A core
 * that is all of it has no halo. window: where seen is in what maps[recipe->n_maps] are spread over. O(pixels x scales). */
enum clv_status tile_extract(struct tile *tile, const struct clv_image *seen, const struct patch *core,
                             const struct map_reader *maps, const struct map_window *window,
                             const struct clv_recipe *recipe, const struct layout *at, struct clv_error *err) CLV_CHECK;

/* The working image's tiles as one example: superpixels, rows, edges and their features; *n_edges of them. Memory of one
 * tile besides. */
enum clv_status tiles_extract(struct clv_example *example, int32_t *n_edges, const struct clv_image *working,
                              const struct map_reader *maps, const struct clv_recipe *recipe, const struct layout *at,
                              struct clv_error *err) CLV_CHECK;

#endif
