/* Refining without an array of scores for every pixel, from what an example's nodes say. */
#ifndef REFINE_REFINE_H
#define REFINE_REFINE_H

#include "cleave/refine.h"

#define REFINE_MAX_PIXELS (1 << 26)

/* The prior of clv_refine: of every pixel, or of the node under it. */
struct refine_prior {
    int32_t width;
    const float *of_pixels; /* [height][width]; NULL: by nodes */
    const struct clv_example *example;
    float *of_nodes; /* [n_nodes] */
    int32_t *column; /* [width] working pixels under columns */
};

/* clv_refine with clv_refine_prior's prior, of 4 bytes a pixel less. */
enum clv_status refine_by_margins(uint8_t *labels, const struct clv_image *image, const struct clv_example *example,
                                  const double *margin, const struct clv_refine_options *options,
                                  struct clv_error *err) CLV_CHECK;

/* clv_example_vote, then clv_refine_labels with its votes, of 4 bytes a pixel and label less. */
enum clv_status refine_by_votes(uint8_t *labels, const struct clv_image *image, const struct clv_example *example,
                                const int32_t *y, int32_t n_labels, const struct clv_refine_options *options,
                                struct clv_error *err) CLV_CHECK;

/* clv_refine, in parts of images of more than `whole` pixels; prior may be NULL. */
enum clv_status refine_two(uint8_t *labels, const struct clv_image *image, const struct refine_prior *prior,
                           const uint8_t *is_fixed, const struct clv_refine_options *options, int64_t whole,
                           struct clv_error *err) CLV_CHECK;

/* clv_refine_labels likewise. */
enum clv_status refine_many(uint8_t *labels, const struct clv_image *image, const float *votes, int32_t n_labels,
                            const struct clv_refine_options *options, int64_t whole, struct clv_error *err) CLV_CHECK;

/* CLV_ERR_USAGE naming a value that is out of range. */
enum clv_status refine_check_options(const struct clv_refine_options *options, struct clv_error *err) CLV_CHECK;

#endif
