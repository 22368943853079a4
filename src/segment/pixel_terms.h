/* What separates figure from ground at each pixel of a segmented image of two labels, one plane of numbers after the
 * other: what the model says of the pixel's node, what its colour says, what maps say. */
#ifndef SEGMENT_PIXEL_TERMS_H
#define SEGMENT_PIXEL_TERMS_H

#include "cleave/model.h"
#include "data/maps/map_reader.h"

/* An image whose nodes a model has labelled. */
struct segmented {
    const struct clv_image *image;
    const struct clv_example *example;
    const int32_t *y;              /* the labelling of the example's nodes, by a cut: what the oracle found last */
    const uint8_t *painted;        /* [height][width] labels of the nodes at the pixels */
    const struct map_reader *maps; /* [n_maps of the recipe] */
    const struct clv_model *model;
    struct clv_oracle *oracle;
};

enum {
    TERM_NODES,   /* clv_refine_prior */
    TERM_COLOURS, /* of all of the image: fine_colours.h */
    TERM_NEARBY,  /* near_colours.h, by the painted labels */
    TERM_MAPS,    /* the first map's margin, then the same blurred a little and a lot, then the next map's */
    TERMS_A_MAP = 3,
    MOST_TERMS = TERM_MAPS + TERMS_A_MAP * CLV_MAX_MAPS
};

typedef void pixel_term_use(void *context, int32_t term, const float *plane);

/* Hands over plane[height][width] of each term in turn. The colours nearby are left out if not asked for: clv_refine
 * adds them by itself. Memory: that of two planes, and the maps'. */
enum clv_status pixel_terms(const struct segmented *self, bool is_nearby, pixel_term_use *use, void *context,
                            struct clv_error *err) CLV_CHECK;

#endif
