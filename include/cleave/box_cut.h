/* Segments the object in a box without a training set: the colours of foreground and background are learned from the
 * inside and the surroundings of that box. The box may be tight or loose.
 *
 *     clv_box_cut(labels, NULL, &image, &box, NULL, &error);       labels[height][width]: 1 on the object in the box
 *
 * To read the source: src/box_cut/box_cut.c has the steps. box_scene.c cuts the surroundings into superpixels and
 * measures them, box_affinity.c compares them, box_fillings.c proposes what is foreground, box_features.c and
 * box_score.c compute the log odds by the weights of box_weights.c (learned by tools/learn/box_weights.c), and
 * box_mincut.c finds the minimum cut. box_cut_all.c segments many boxes of one image, box_foreground.c serves trainings
 * from boxes. */
#ifndef CLEAVE_BOX_CUT_H
#define CLEAVE_BOX_CUT_H

#include "cleave/features.h"

#ifdef __cplusplus
extern "C" {
#endif

struct clv_box_cut_options {
    int32_t n_superpixels;  /* approximate number in the box and its surroundings, 1..4000, default 700 */
    int32_t rounds;         /* rounds of learning colours and cutting, for each proposal, 1..100, default 5 */
    double coupling;        /* smoothness of the cut of superpixels, 0..1000, default 1.5 */
    double refine_coupling; /* smoothness of the border at the pixels, 0..1000, default 2; see clv_refine_options */
};
CLV_API void clv_box_cut_defaults(struct clv_box_cut_options *options);

/* labels[height][width] (or NULL) = 1 on the object in the box, else 0; all 0 outside the box.
 * probability[height][width] (or NULL) = the probability of the object at each pixel by colours and position, constant
 * on a superpixel, 0 outside the box; for learners that use soft labels.
 *
 * The box and a margin around it are divided into superpixels, none across the box's border. Three proposals give the
 * foreground a small, medium or large share of the box. Each comes from several rounds: kernels over colour, texture
 * and position estimate the densities of foreground and background at every superpixel from the previous round's
 * labels, and a minimum cut gives the next labels. A small network then computes the log odds of foreground at each
 * superpixel from all proposals, from the differences of the superpixel and of concentric bands of the box from the
 * surroundings, from the colour distance along the shortest path out of the box, from its position, and from the
 * foreground around it. A second network repeats this with the first one's output around the superpixel as further
 * inputs (auto-context, Tu 2008). Their weights were learned from photos with tight, wider, inaccurate and loose boxes,
 * so that no tightness of the box is assumed; sides on the image's border count as open. Finally a minimum cut labels
 * the superpixels, and a second one (clv_refine) the pixels.
 *
 * A box over the whole image leaves no background to learn from; then positions and colours within it decide. The image
 * has 3 channels, and the box lies in it (clv_boxes_place). If box and margin exceed 1 Mpixel, a copy of that size is
 * segmented, and the border is then refined at the original pixels, on all processors. Deterministic. O(pixels of box
 * and margin + n_superpixels^2 x rounds): about 0.04 s for an image of 0.15 Mpixel. Errors: CLV_ERR_USAGE (an option,
 * the image, a box that is not in it), CLV_ERR_MEMORY; outputs are then unchanged. */
CLV_API enum clv_status clv_box_cut(uint8_t *labels, float *probability, const struct clv_image *image,
                                    const struct clv_box *box, const struct clv_box_cut_options *options,
                                    struct clv_error *err) CLV_CHECK;

/* Segments the objects in many boxes: labels[height][width] = values[k], 1..254, on the object in box k, 0 on the
 * background. Boxes are segmented one by one. If several cover a pixel, their probabilities decide together with the
 * edges and colours of the image (clv_refine_labels); a box with less than a quarter of another's area is in front of
 * it. If this needs more than 2^26 votes (boxes and labels times overlapping pixels), only the smallest box that covers
 * a pixel decides. n_boxes may be 0. Memory: 6 bytes per pixel and 4 bytes per vote. Errors: as clv_box_cut,
 * CLV_ERR_USAGE also for a value. */
CLV_API enum clv_status clv_box_cut_all(uint8_t *labels, const struct clv_image *image, const struct clv_box *boxes,
                                        const uint8_t *values, size_t n_boxes,
                                        const struct clv_box_cut_options *options, struct clv_error *err) CLV_CHECK;

#ifdef __cplusplus
}
#endif
#endif
