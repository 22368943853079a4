/* A training image whose nodes are labelled by a model that has not seen it. */
#ifndef SEGMENT_LABELLED_IMAGE_H
#define SEGMENT_LABELLED_IMAGE_H

#include "segment/pixel_terms.h"
#include "segment/refining_learn.h"

struct labelled_image {
    struct clv_image image;
    struct clv_mask truth;
    struct clv_example nodes; /* without their features */
    struct clv_model model;   /* a view, under the example's weights */
    struct map_reader *maps;
    struct clv_oracle *oracle;
    int32_t *y;
    uint8_t *painted; /* [n] */
    size_t n;         /* pixels */
};
void labelled_image_release(struct labelled_image *self);

/* Errors name the image. */
enum clv_status labelled_image_init(struct labelled_image *self, const struct clv_model *model,
                                    const struct refining_source *source, const struct refining_example *example,
                                    struct clv_error *err) CLV_CHECK;

struct segmented labelled_image_view(const struct labelled_image *self);

/* What refined labels of an image lose: weighted Hamming error + iou_weight (1 - IoU); 0 where all is void. */
enum clv_status labelled_loss(double *loss, const struct clv_mask *truth, const uint8_t *labels, int32_t n_labels,
                              double iou_weight, struct clv_error *err) CLV_CHECK;

/* *n = how many examples are looked at as a whole, of which each takes so many bytes a pixel: as many as fit by the
 * first one's size, `most` at most. */
enum clv_status labelled_image_count(size_t *n, const struct refining_source *source, double bytes_a_pixel, size_t most,
                                     struct clv_error *err) CLV_CHECK;

/* labels[height][width] of an image from the labels y of its nodes: superpixels are painted, patches vote. */
static inline enum clv_status labelled_image_paint(uint8_t *labels, const struct clv_example *example, const int32_t *y,
                                                   int32_t n_labels, struct clv_error *err)
{
    return example->grid.n_rows ? clv_example_vote(labels, NULL, example, y, n_labels, err)
                                : clv_example_paint(labels, example, y, err);
}

#endif
