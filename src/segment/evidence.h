/* What is known of the pixels of an image whose labels vote before they are labelled anew: what the nodes under them
 * say, and what the image's maps say of a pixel beyond what they say of its node on average. */
#ifndef SEGMENT_EVIDENCE_H
#define SEGMENT_EVIDENCE_H

#include "data/maps/map_reader.h"
#include "segment/refining.h"

struct evidence {
    int32_t n_labels, n_maps;
    size_t n, plane;  /* pixels, and n_labels times as many */
    float *nodes;     /* [plane] votes */
    float *maps;      /* [n_maps][plane]; NULL without maps */
    uint8_t *is_open; /* [n_labels] labels of a node, and those that a map says most of somewhere */
};
void evidence_release(struct evidence *self);

/* y is the labelling of the example's nodes; labels[height][width] are voted on anew. maps[n_maps of the recipe]. */
enum clv_status evidence_init(struct evidence *self, uint8_t *labels, const struct clv_example *example,
                              const int32_t *y, const struct map_reader *maps, const struct clv_model *model,
                              struct clv_error *err) CLV_CHECK;

/* labels[height][width], as painted, are refined. */
enum clv_status evidence_refine(uint8_t *labels, const struct evidence *self, const struct clv_image *image,
                                const struct refining *refining, struct clv_error *err) CLV_CHECK;

#endif
