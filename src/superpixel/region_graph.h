/* One graph over the regions of many patches: tiles of a photograph or raster, slices of a volume, frames of a video.
 * Every patch has regions of its own, which end where it ends; edges within it are its adjacency, and joins couple the
 * regions of two patches: side by side (SEAM), or one over the other (NEXT). Node and edge numbers only grow, so that
 * a graph can be made and used patch by patch.
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
    REGION_WITHIN, /* of one patch */
    REGION_SEAM,   /* across the border of two patches that lie side by side */
    REGION_NEXT,   /* between regions that overlap in successive slices or frames */
};

/* The area that belongs to a patch alone, in pixels of the graph's scale; features may use a halo around it.
 * `source` tells images apart, z is the slice or frame. */
struct patch {
    int32_t source, x, y, z, width, height;
};

/* Nodes are numbered patch by patch. A patch's edges are those within it and the joins to patches before it: first_edge
 * begins them. Features, area, centroid, label and theta are NULL unless the problems appended have them. */
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

/* Adds a patch: its nodes, its edges, all that the problem has (copied), and contact[n_edges]. A problem without rows
 * of features adds nodes and edges alone. The first patch decides what the graph has; CLV_ERR_USAGE for one that has
 * something else, or other numbers of features, and for more than 2^31 nodes or edges. The graph is unchanged then, and
 * when memory is out. Edge features of NEXT edges are a stretch of their own: the problem's p are padded with zeros
 * when the caller has set n_edge_features to more before the first patch, so that Potts weights stay >= 0. O(size of
 * the problem), over time. */
enum clv_status region_graph_append(struct region_graph *self, const struct patch *patch,
                                    const struct clv_problem *regions, const float *contact,
                                    struct clv_error *err) CLV_CHECK;

/* A label map that lies in a patch, or a strip of one, such as the row next to a seam. */
struct region_map {
    int32_t patch;               /* its number in the graph */
    int32_t x, y, width, height; /* where, in the coordinates of patches */
    const int32_t *labels;       /* [height][width] regions of that patch, 0.. */
};
/* The whole map of a patch: labels[its height][its width]. */
struct region_map region_map_of(const struct region_graph *graph, int32_t patch, const int32_t *labels);

/* Adds the edges between a patch and the last one appended, b: sorted by ends, with features of 0, for the caller to
 * fill from the old n_edges on. SEAM: 4-neighbours at equal z count, of areas that do not overlap; motion is NULL.
 * NEXT: pixel (x, y) of a region r of a lies over (x + motion[r][0], y + motion[r][1]) of b; motion[regions of a] or
 * NULL for none. CLV_ERR_USAGE for maps out of order or with other regions than their patches; the graph is unchanged
 * then. O(n log n) in the
 * pixels of the maps: of seams give strips. */
enum clv_status region_graph_join(struct region_graph *self, const struct region_map *a, const struct region_map *b,
                                  enum region_edge kind, const int32_t (*motion)[2], struct clv_error *err) CLV_CHECK;

#endif
