/* What separates figure from ground within one image, learned from no other: how a region's colour relates to the
 * border's, to the centre's and to all the others'. */
#ifndef FEATURE_CONTRAST_H
#define FEATURE_CONTRAST_H

#include "feature/blocks/blocks.h"

enum contrast_measure {
    CONTRAST_BORDER,        /* similarity of colours to those along the image's border */
    CONTRAST_GEODESIC,      /* least sum of colour steps on a path to the border */
    CONTRAST_GLOBAL,        /* mean colour distance to all regions */
    CONTRAST_LOCAL,         /* mean colour distance to regions nearby */
    CONTRAST_SPREAD,        /* how far regions of such colours are apart */
    CONTRAST_CENTRE,        /* odds that such colours are of the centre rather than of the rim */
    CONTRAST_GRADIENT,      /* mean gradient of grey */
    CONTRAST_FIGURE,        /* the same odds after figure and rim were separated by them, repeatedly */
    CONTRAST_COLOUR_CENTRE, /* odds of centre against rim, colour by colour of the pixels */
    CONTRAST_COLOUR_BORDER, /* odds of the strip along the border against all, likewise */
    CONTRAST_WORDS          /* from here on two measures a SIFT scale: the same odds, word by word */
};

/* Measures of a region under a recipe. */
int32_t contrast_measures(const struct clv_recipe *recipe);

/* measures[n_regions][contrast_measures()], each in 0..1. maps[recipe->n_scales]: the words, read for the measures of
 * words. O(regions x min(regions, 1024) + pixels x scales + edges). */
enum clv_status contrast_measure(float *measures, const struct scene *scene, const struct clv_adjacency *adjacency,
                                 const struct clv_recipe *recipe, const struct word_map *maps,
                                 struct clv_error *err) CLV_CHECK;

#endif
