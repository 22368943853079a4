/* This folder makes visual words: dense SIFT descriptors (sift.c), codebooks of them by k-means (codebook.c), and here
 * the exact nearest centre of integer descriptors, the hot loop of feature extraction and of codebook learning. Read
 * sift.h first. */
#ifndef FEATURE_NEAREST_CENTRE_H
#define FEATURE_NEAREST_CENTRE_H

#include "cleave/features.h"

/* Instruction sets of the assignment; every level gives the same words. */
enum words_level { WORDS_PLAIN, WORDS_AVX2, WORDS_AVX512_VNNI, WORDS_LEVELS };

/* The best level this processor has. */
enum words_level words_best_level(void);

/* word[i] = the centre nearest to descriptors[i] in Euclidean distance, the lowest on ties; descriptors[n][128].
 * `level` must be one that the processor has. O(n x n_words x 128); memory O(n_words). */
enum clv_status words_assign_at(enum words_level level, int32_t *word, const struct clv_codebook *codebook,
                                const uint8_t *descriptors, size_t n, struct clv_error *err) CLV_CHECK;

/* The same at the best level. */
enum clv_status words_assign(int32_t *word, const struct clv_codebook *codebook, const uint8_t *descriptors, size_t n,
                             struct clv_error *err) CLV_CHECK;

#endif
