/* Learning a codebook of descriptors: k-means in whole numbers. */
#ifndef FEATURE_CODEBOOK_H
#define FEATURE_CODEBOOK_H

#include "cleave/features.h"

struct codebook_options {
    int32_t n_words, n_iterations;
    int32_t kmeans; /* enum clv_kmeans: who moves the centres */
    uint64_t seed, stream;
};

/* Centres of descriptors[n][128], n >= 1: k-means++ seeding (Arthur & Vassilvitskii 2007), then at most n_iterations of
 * Lloyd's algorithm, with centres rounded to bytes after each (VLFeat's: at the end). With fewer distinct descriptors
 * than words, each is a word, and the words left over repeat earlier ones and are never assigned. Same seed and stream,
 * same bytes. *distortion (may be NULL) receives the mean squared distance to the nearest centre. On failure the
 * codebook is untouched. O(n x n_words x n_iterations). */
enum clv_status codebook_learn(struct clv_codebook *codebook, double *distortion, const uint8_t *descriptors, size_t n,
                               const struct codebook_options *options, const struct clv_progress *progress,
                               struct clv_error *err) CLV_CHECK;

#endif
