/* Learning a codebook of descriptors: k-means in whole numbers. */
#ifndef FEATURE_CODEBOOK_H
#define FEATURE_CODEBOOK_H

#include "cleave/features.h"

/* Centres of descriptors[n][128], n >= 1: k-means++ seeding (Arthur & Vassilvitskii 2007), then at most n_iterations of
 * Lloyd's algorithm with centres rounded to bytes. With fewer distinct descriptors than words, the words left over repeat
 * earlier ones and are never assigned. Same seed and stream, same bytes. *distortion (may be NULL) receives the mean squared
 * distance to the nearest centre. On failure the codebook is untouched. O(n x n_words x n_iterations). */
enum clv_status codebook_learn(struct clv_codebook *codebook, double *distortion, const uint8_t *descriptors, size_t n,
                               int32_t n_words, int32_t n_iterations, uint64_t seed, uint64_t stream,
                               const struct clv_progress *progress, struct clv_error *err) CLV_CHECK;

#endif
