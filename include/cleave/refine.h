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
    double coupling; /* cost of different labels at equal neighbours in 256 x 256 pixels; grows with the image's side */
    int32_t rounds;  /* >= 1; every round learns its colours from the labels of the previous one */
};
CLV_API void clv_refine_defaults(struct clv_refine_options *options);

/* labels[height][width], 0 or 1, are replaced by the minimum of
 *     sum_p [y_p = 0] u_p + coupling sum_(p,q) [y_p != y_q] (e + (1 - e) exp(-|I_p - I_q|^2 / (2 mean))) / |p - q|
 * over 8-neighbours, u the weighted terms above, e = 0.1. prior[height][width] (or NULL) is the score of label 1 minus
 * that of label 0, ideally with mean absolute value about 1. is_fixed[height][width] (or NULL) marks pixels that keep
 * their labels. Options are in 0..1e6; the cut is exact, as by clv_grid_map. Without foreground or without background
 * no colours can be learned, and labels are unchanged. The image has 3 channels and at most 2^26 pixels; options may be
 * NULL. One thread, deterministic. Time O(pixels). Memory: about 80 bytes per pixel up to 2^20 pixels. Larger images
 * are cut in windows, and take 10 bytes per pixel. On photographs the windows prove that all labels are those of the
 * whole image's cut; labels without proof are such that no change within a window improves them. Errors: CLV_ERR_USAGE
 * (options, image, a label above 1, naming its pixel), CLV_ERR_DATA (a prior that is not finite, naming its pixel),
 * CLV_ERR_MEMORY; labels are then unchanged. */
CLV_API enum clv_status clv_refine(uint8_t *labels, const struct clv_image *image, const float *prior,
                                   const uint8_t *is_fixed, const struct clv_refine_options *options,
                                   struct clv_error *err) CLV_CHECK;

/* Refines any number of labels by alpha-expansion: replaces labels[height][width] by a labelling whose score cannot be
 * raised by moving a set of pixels to one label. The score is
 *     sum_p s_p(y_p) - coupling sum_(p,q) [y_p != y_q] (.. as above),
 * s_p(a) = prior votes[a][p] + half the log ratios of the pixel's colour, nearby and overall, in label a against all
 * others. votes[n_labels][height][width] in 0..1 (clv_example_vote); labels without any vote are not considered.
 * `balance` is ignored. A move is one cut of the grid; a labelling takes about 3 moves per label with votes. Memory as
 * clv_refine, and the votes. Errors: as clv_refine; CLV_ERR_USAGE also for a pixel whose label has no vote there. */
CLV_API enum clv_status clv_refine_labels(uint8_t *labels, const struct clv_image *image, const float *votes,
                                          int32_t n_labels, const struct clv_refine_options *options,
                                          struct clv_error *err) CLV_CHECK;

/* prior[height][width], at the original size of an example: margin[n_nodes] of the superpixel under each pixel, divided
 * by the mean absolute margin over all pixels and softly clipped at 3. */
CLV_API enum clv_status clv_refine_prior(float *prior, const struct clv_example *example, const double *margin,
                                         struct clv_error *err) CLV_CHECK;

/* Refines the borders of a network's probabilities for an image, without a model: labels[height][width] from
 * probabilities[n_labels][height][width] in 0..1, at the image's size, or for two labels probabilities[height][width]
 * of label 1. Values up to 0.5 outside of 0..1, which rounding and cubic resizing cause, are clipped. Starts from the
 * most probable labels. Then clv_refine's cut (or clv_refine_labels' expansion for more labels) lets borders follow the
 * image's edges; its prior is the log odds, divided by their mean absolute value and softly clipped at 3.
 *
 * options NULL: clv_refine_probabilities_defaults, with weights of colours and couplings that depend on the softness of
 * the map's borders, since a sharp border needs no change: 0 up to a blur of 2 pixels, the full weights from 5 on. The
 * blur is the standard deviation of the Gaussian that would make straight edges equally soft: the integral of 4 q (1 -
 * q) over the image, per pixel of border, where q is the probability of the most probable label relative to the next
 * one. The caller's options are used unchanged.
 *
 * Time and memory as clv_refine, and 5 more bytes per pixel. Errors: CLV_ERR_USAGE (options, image, n_labels),
 * CLV_ERR_DATA (a value that is not a probability, naming label and pixel), CLV_ERR_MEMORY; labels are then
 * unchanged. */
CLV_API void clv_refine_probabilities_defaults(struct clv_refine_options *options, int32_t n_labels);
CLV_API enum clv_status clv_refine_probabilities(uint8_t *labels, const struct clv_image *image,
                                                 const float *probabilities, int32_t n_labels,
                                                 const struct clv_refine_options *options,
                                                 struct clv_error *err) CLV_CHECK;

/* *share = the factor, 0..1, of colours and couplings in clv_refine_probabilities with options NULL; with 0 the labels
 * are the most probable ones. Errors: as clv_refine_probabilities. */
CLV_API enum clv_status clv_refine_share(double *share, const float *probabilities, int32_t n_labels, int32_t width,
                                         int32_t height, struct clv_error *err) CLV_CHECK;

#ifdef __cplusplus
}
#endif
#endif
