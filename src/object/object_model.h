/* What is learned of objects, and how they are found with it. Read object_model_find first: filter responses
 * (pixel_bank.h), probabilities of ground, rim and core (pixel_net.h), many regions an object and what is between them
 * (border_features.h), the log-odds that a border cuts, and a partition by them (partition.h). */
#ifndef OBJECT_OBJECT_MODEL_H
#define OBJECT_OBJECT_MODEL_H

#include "cleave/image.h"
#include "object/border_features.h"
#include "object/pixel_net.h"

struct object_model {
    float shrink; /* >= 1: sides are divided by it, so that objects are no larger than the filters */
    struct pixel_net net;
    int32_t n_weights; /* of edges: columns of edge_problem.h */
    double *weights;   /* [n_weights] score of a cut; NULL: none was learned, as objects never touched */
};
void object_model_release(struct object_model *self);

/* The size that objects are looked for at. At most 2^22 pixels. */
void object_model_size(int32_t *width, int32_t *height, const struct object_model *self, const struct clv_image *image);

/* classes[height][width] (OBJECT_GROUND ..) of objects[height][width]: the rim is what is nearer to the object's border
 * than .45 of its innermost pixel, and than 6 pixels. distance[height][width] is scratch. O(pixels). */
enum clv_status object_classes(uint8_t *classes, float *distance, const int32_t *objects, int32_t width, int32_t height,
                               struct clv_error *err) CLV_CHECK;

/* Regions of an image at that size. */
enum clv_status object_model_regions(struct object_regions *regions, const struct object_model *self,
                                     const struct clv_image *working, struct clv_error *err) CLV_CHECK;

/* objects[height][width] of the image's size = 1..n_objects, numbered by their first pixels, or 0. One thread; the same
 * bytes anywhere. About 300 bytes a pixel. */
enum clv_status object_model_find(int32_t *objects, int32_t *n_objects, const struct object_model *self,
                                  const struct clv_image *image, struct clv_error *err) CLV_CHECK;

#endif
