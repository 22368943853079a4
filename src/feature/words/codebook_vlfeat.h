/* Codebooks by VLFeat's k-means: the reference implementation of codebook.c's rounds, for recipes that ask for it. */
#ifndef FEATURE_CODEBOOK_VLFEAT_H
#define FEATURE_CODEBOOK_VLFEAT_H

#include "feature/words/codebook.h"

/* Moves centres[n_words][128] by VLFeat's Lloyd algorithm over descriptors[n][128]. Centres are floats on the way and
 * rounded to bytes at the end; one that loses all its descriptors goes to a random one. Same seed and stream, same
 * bytes. One thread. 1 <= n_words <= n. O(n x n_words x n_iterations); memory O(n). CLV_ERR_MEMORY for our arrays:
 * VLFeat does not check its own. */
enum clv_status codebook_vlfeat_refine(uint8_t *centres, const uint8_t *descriptors, size_t n,
                                       const struct codebook_options *options, const struct clv_progress *progress,
                                       struct clv_error *err) CLV_CHECK;

#endif
