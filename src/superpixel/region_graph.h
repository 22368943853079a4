/* One graph over the regions of many patches: tiles of a photograph or raster, slices of a volume, frames of a video. A
 * region never crosses the border of its patch. Edges within a patch are its adjacency; joins couple regions of two
 * patches that lie side by side (SEAM) or overlap in successive slices (NEXT). Nodes and edges are only appended, so a
 * graph can be built and used patch by patch.
 *
 *     struct region_graph graph;
 *     region_graph_init(&graph, 0);
 *     for (int32_t k = 0; k < n && status == CLV_OK; k++) {          // from the left to the right
 *         status = region_graph_append(&graph, &patch[k], &problem[k], contact[k], err);
 *         if (status == CLV_OK && k > 0)
 *             status = region_graph_join(&graph, &map[k - 1], &map[k], REGION_SEAM, NULL, err);
 *     }
 *
 * Read first: region_graph_append and region_graph_join. */
#ifndef SUPERPIXEL_REGION_GRAPH_H
#define SUPERPIXEL_REGION_GRAPH_H

#include "cleave/image.h"
#include "cleave/problem.h"
#include "cleave/superpixel.h"

enum region_edge {
    REGION_WITHIN, /* between regions of one patch */
    REGION_SEAM,   /* across the border of two patches that lie side by side */
    REGION_NEXT,   /* between regions that overlap in successive slices or frames */
};

/* The rectangle of a patch without overlap, in pixels at the graph's scale; features may use a halo around it. `source`
 * is the index of the image, z that of the slice or frame. */
struct patch {
    int32_t source, x, y, z, width, height;
};

/* Nodes are numbered patch by patch. The edges of patch k begin at first_edge[k]: those within the patch, then its
 * joins to earlier patches. Features, area, centroid, label and theta are NULL unless the appended problems have
 * them. */
struct region_graph {
    int32_t n_patches, n_nodes, n_edges;
    struct patch *patches;            /* [n_patches] */
    int32_t *first_node, *first_edge; /* [n_patches + 1] */
    int32_t (*edges)[2];              /* [n_edges], a < b */
    uint8_t *kind;                    /* [n_edges] of enum region_edge */
    float *contact;                   /* [n_edges] pixel pairs across the common border, or pixels of overlap */
    int32_t n_labels;                 /* of theta; 0: none */
    int32_t n_features, n_edge_features;
    int64_t *row; /* [n_nodes + 1], as in struct clv_problem */
    int32_t *index;
    float *value;
    float *edge_features; /* [n_edges][n_edge_features] */
    float *area, *centroid;
    int32_t *label;
    float *theta;
    size_t patch_capacity, node_capacity, edge_capacity, entry_capacity;
};

void region_graph_init(struct region_graph *self, int32_t n_labels);
void region_graph_release(struct region_graph *self);

/* Appends a patch: copies the nodes, edges and arrays of its problem, and contact[n_edges]. A problem without rows of
 * features appends only nodes and edges. The first patch decides which arrays the graph has. Returns CLV_ERR_USAGE for
 * a patch with other arrays or other numbers of features, and for more than 2^31 nodes or edges. The graph is unchanged
 * on failure. NEXT edges have edge features of their own, so that Potts weights stay >= 0: the caller sets
 * n_edge_features to the total before the first patch, and the problem's edge features are padded with zeros. O(size of
 * the problem), amortised. */
enum clv_status region_graph_append(struct region_graph *self, const struct patch *patch,
                                    const struct clv_problem *regions, const float *contact,
                                    struct clv_error *err) CLV_CHECK;

/* A label map that lies in a patch, or a strip of one, such as the row next to a seam. */
struct region_map {
    int32_t patch;               /* its index in the graph */
    int32_t x, y, width, height; /* in the coordinates of patches */
    const int32_t *labels;       /* [height][width] regions of that patch, 0.. */
};
/* Returns the map of a whole patch from its labels[height][width]. */
struct region_map region_map_of(const struct region_graph *graph, int32_t patch, const int32_t *labels);

/* Appends the edges between patch a and patch b, which is the last one appended. They are sorted by their nodes, and
 * their features are 0 for the caller to fill. SEAM: edges join 4-neighbours at equal z; a and b must not overlap, and
 * motion is NULL. NEXT: pixel (x, y) of region r of a lies over (x + motion[r][0], y + motion[r][1]) of b;
 * motion[regions of a], or NULL for no motion. CLV_ERR_USAGE if the patches are out of order, or a map has regions that
 * its patch does not have; the graph is unchanged on failure. O(n log n) in the pixels of the maps, so pass only strips
 * along a seam. */
enum clv_status region_graph_join(struct region_graph *self, const struct region_map *a, const struct region_map *b,
                                  enum region_edge kind, const int32_t (*motion)[2], struct clv_error *err) CLV_CHECK;

#endif
