/* From the probabilities of ground, rim and core in each pixel to regions, the graph of those that touch, and what tells
 * at a border whether it cuts two objects: how narrow the neck is (contact and distance to the ground against the sizes
 * of both sides), how much core there is less, rim and ground more, and the sizes. Colour, slopes along the border
 * and the concavity of convex hulls were tried, too: held-out nuclei were no better (F1 .832 without them, .823 with). */
#ifndef OBJECT_BORDER_FEATURES_H
#define OBJECT_BORDER_FEATURES_H

#include "region/region_graph.h"

enum { BORDER_MEASURES = 20, BORDER_FEATURES = BORDER_MEASURES * (BORDER_MEASURES + 3) / 2 }; /* and their products */

struct object_regions {
    int32_t width, height, n; /* of regions */
    int32_t *regions;         /* [height][width] 1..n, 0: the ground */
    struct region_graph graph;
    float *features;             /* [graph.n_edges][BORDER_FEATURES] */
    float *area, *ground, *peak; /* [n] pixels, mean probability of the ground, greatest one of the core */
};
void object_regions_release(struct object_regions *self);

/* probability[OBJECT_CLASSES][height][width]. Many regions an object: those peaks of the core that rise by .03 each have
 * one. O(pixels log pixels). */
enum clv_status object_regions_init(struct object_regions *self, const float *probability, int32_t width,
                                    int32_t height, struct clv_error *err) CLV_CHECK;

#endif
