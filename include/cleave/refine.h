/* Refines the border of a foreground/background labelling at the pixels: colours near each pixel determine its scores,
 * and a minimum cut of the pixel grid lets the border follow the image's edges.
 *
 *     clv_refine_prior(prior, &example, margin, &error);
 *     clv_refine(labels, &image, prior, NULL, NULL, &error);
 *
 * Here margin is the result of clv_oracle_margins for the superpixels.
 *
 * To read the source: src/refine/refine.c is for two labels, refine_labels.c for more. near_colours.c computes the log
 * ratios of colours nearby, pixel_couplings.c the couplings of neighbouring pixels. */
#ifndef CLEAVE_REFINE_H
#define CLEAVE_REFINE_H

#include "cleave/features.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Weights of the terms that clv_refine adds up, all >= 0; 0 drops a term. */
struct clv_refine_options {
    double prior;    /* of the prior */
    double nearby;   /* of the log ratio of foreground and background among similar colours nearby */
    double overall;  /* of the log-likelihood ratio of the colour in all of foreground and background */
    double balance;  /* of log(background pixels / foreground pixels): 1 would be the balanced error's threshold */
    double coupling; /* cost of different labels at neighbours of equal colour, for 256 x 256 pixels; it grows with the
                      * image's side */
    int32_t rounds;  /* >= 1; every round learns its colours from the labels of the previous one */
};
CLV_API void clv_refine_defaults(struct clv_refine_options *options);

/* Replaces labels[height][width], 0 or 1, by the labelling y that minimises
 *     sum_p [y_p = 0] u_p + coupling sum_(p,q) [y_p != y_q] (e + (1 - e) exp(-|I_p - I_q|^2 / (2 mean))) / |p - q|
 * over pairs of 8-neighbours. u_p is the sum of the weighted terms above, e = 0.1, and mean is the mean squared colour
 * difference of horizontal and vertical neighbours, at least 1. prior[height][width] (or NULL) is the score of label 1
 * minus that of label 0, ideally with mean absolute value about 1. is_fixed[height][width] (or NULL) marks pixels that
 * keep their labels. Options are in 0..1e6; the cut is exact, as by clv_grid_map. Without foreground or without
 * background no colours can be learned, and labels are unchanged. The image has 3 channels and at most 2^26 pixels;
 * options may be NULL. One thread, deterministic. Time O(pixels). Memory: about 80 bytes per pixel up to 2^20 pixels.
 * Larger images are cut in windows, and take 10 bytes per pixel. On photographs the windows prove that all labels are
 * those of one cut of the whole image. If some labels stay unproved, no change of them within one window improves the
 * result. Errors: CLV_ERR_USAGE (options, image, a label above 1, naming its pixel), CLV_ERR_DATA (a prior that is not
 * finite, naming its pixel), CLV_ERR_MEMORY; labels are then unchanged. */
CLV_API enum clv_status clv_refine(uint8_t *labels, const struct clv_image *image, const float *prior,
                                   const uint8_t *is_fixed, const struct clv_refine_options *options,
                                   struct clv_error *err) CLV_CHECK;

/* Refines any number of labels by alpha-expansion: replaces labels[height][width] by a labelling whose score cannot be
 * raised by moving a set of pixels to one label. The score is
 *     sum_p s_p(y_p) - coupling sum_(p,q) [y_p != y_q] (.. as above),
 * where s_p(a) is prior votes[a][p] plus half the weighted log ratios, nearby and overall, of the pixel's colour in
 * label a against all other labels. votes[n_labels][height][width] are in 0..1 (clv_example_vote); labels without any
 * vote are not considered. `balance` is ignored. A move is one cut of the grid; a labelling takes about 3 moves per
 * label with votes. Memory as clv_refine, and the votes. Errors: as clv_refine; CLV_ERR_USAGE also for a pixel whose
 * label has no vote there, CLV_ERR_DATA for a vote that is not in 0..1, both naming the pixel. */
CLV_API enum clv_status clv_refine_labels(uint8_t *labels, const struct clv_image *image, const float *votes,
                                          int32_t n_labels, const struct clv_refine_options *options,
                                          struct clv_error *err) CLV_CHECK;

/* Computes prior[height][width] at the original size of an example: each pixel gets the margin of its superpixel, from
 * margin[n_nodes], divided by the mean absolute margin over all pixels and softly clipped at 3. */
CLV_API enum clv_status clv_refine_prior(float *prior, const struct clv_example *example, const double *margin,
                                         struct clv_error *err) CLV_CHECK;

/* Refines the borders of a network's probabilities for an image, without a model: labels[height][width] from
 * probabilities[n_labels][height][width] in 0..1, at the image's size, or for two labels probabilities[height][width]
 * of label 1. Values up to 0.5 outside of 0..1, which rounding and cubic resizing cause, are clipped. Starts from the
 * most probable labels, the first among equals, also where all probabilities are 0. Then clv_refine's cut (or
 * clv_refine_labels' expansion for more labels) lets borders follow the image's edges; its prior is the log odds,
 * divided by their mean absolute value and softly clipped at 3.
 *
 * If options is NULL, those of clv_refine_probabilities_defaults are used, with the weights of colours and couplings
 * multiplied by a factor. It rises with the blur of the map's borders, since a sharp border needs no change: 0 up to a
 * blur of 2 pixels, 1 from 5 pixels on. The blur is the standard deviation of the Gaussian that would make straight
 * edges equally soft: the integral of 4 q (1 - q) over the image, per pixel of border, divided by 4 / sqrt(pi), where q
 * is p / (p + p') of the two most probable labels. The caller's options are used unchanged.
 *
 * Time and memory as clv_refine, and 5 more bytes per pixel, and a copy of the probabilities if any is clipped or if
 * all of a pixel are 0. Errors: CLV_ERR_USAGE (options, image, n_labels), CLV_ERR_DATA (a value that is not a
 * probability, naming label and pixel), CLV_ERR_MEMORY; labels are then unchanged. */
CLV_API void clv_refine_probabilities_defaults(struct clv_refine_options *options, int32_t n_labels);
CLV_API enum clv_status clv_refine_probabilities(uint8_t *labels, const struct clv_image *image,
                                                 const float *probabilities, int32_t n_labels,
                                                 const struct clv_refine_options *options,
                                                 struct clv_error *err) CLV_CHECK;

/* Sets *share to the factor, 0..1, by which clv_refine_probabilities with options NULL multiplies the weights of
 * colours and couplings. With 0 its labels are the most probable ones. Errors: as clv_refine_probabilities. */
CLV_API enum clv_status clv_refine_share(double *share, const float *probabilities, int32_t n_labels, int32_t width,
                                         int32_t height, struct clv_error *err) CLV_CHECK;

#ifdef __cplusplus
}
#endif
#endif
