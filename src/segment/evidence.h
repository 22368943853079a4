/* What is known of the pixels of a segmented image before they are cut anew: what the nodes under them say, and what
 * the image's maps say of a pixel beyond what they say of its node on average. */
#ifndef SEGMENT_EVIDENCE_H
#define SEGMENT_EVIDENCE_H

#include <stdbool.h>

#include "cleave/model.h"
#include "cleave/refine.h"

/* How pixels are refined: clv_refine's options, and the weight of each map of the model's recipe. */
struct refining {
    struct clv_refine_options options;
    double maps[CLV_MAX_MAPS];
};

struct evidence {
    bool is_cut; /* two labels that a cut finds: scores of label 1 minus label 0; else votes for each label */
    int32_t n_labels, n_maps;
    size_t n, plane;  /* pixels, and numbers of a plane: pixels, or n_labels times as many */
    float *nodes;     /* [plane] */
    float *maps;      /* [n_maps][plane]; NULL without maps */
    uint8_t *is_open; /* [n_labels] of votes: labels of a node, and those that a map says most of somewhere */
};
void evidence_release(struct evidence *self);

/* y is the labelling of the example's nodes, and with is_cut what the oracle found last; labels[height][width] are
 * what was painted of them; where labels vote they are voted on anew. maps[n_maps of the recipe], or NULL: the maps are
 * left out. */
enum clv_status evidence_init(struct evidence *self, uint8_t *labels, const struct clv_example *example,
                              const int32_t *y, const struct clv_map *maps, const struct clv_model *model,
                              struct clv_oracle *oracle, struct clv_error *err) CLV_CHECK;

/* labels[height][width], as painted, are refined. */
enum clv_status evidence_refine(uint8_t *labels, const struct evidence *self, const struct clv_image *image,
                                const struct refining *refining, struct clv_error *err) CLV_CHECK;

#endif
