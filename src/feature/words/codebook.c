/* Works on the bytes that the words are assigned with: their sums are exact, so the centres do not depend on the order
 * of summation, threads or instruction set, and the assignment is the fast one of nearest_centre.c. VLFeat's k-means
 * (codebook_vlfeat.c) is the reference. */
#include "feature/words/words.h"

#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "base/machine.h"

enum { SIZE = CLV_DESCRIPTOR_SIZE };

INLINE int32_t square_distance(const uint8_t *a, const uint8_t *b)
{
    int32_t sum = 0;
    for (int k = 0; k < SIZE; k++) {
        int16_t difference = (int16_t)(a[k] - b[k]);
        sum += difference * difference;
    }
    return sum;
}

/* distance[i] = the squared distance of descriptor i to the nearest centre, of which `centre` is the newest one and, if
 * is_first, the only one. Returns their sum. */
FOR_EACH_MACHINE static uint64_t approach(int32_t *distance, const uint8_t *descriptors, size_t n,
                                          const uint8_t *centre, bool is_first)
{
    uint64_t total = 0;
    for (size_t i = 0; i < n; i++) {
        int32_t d = square_distance(descriptors + i * SIZE, centre);
        distance[i] = is_first || d < distance[i] ? d : distance[i];
        total += (uint64_t)distance[i];
    }
    return total;
}

/* k-means++: each next centre is a descriptor, drawn with probability proportional to its squared distance to the
 * nearest centre so far. distance[n] is scratch. False where the distinct descriptors are fewer than the words: all of
 * them are centres. */
static bool seed_centres(uint8_t *centres, const uint8_t *descriptors, size_t n, int32_t *distance,
                         const struct codebook_options *options)
{
    uint64_t seed = options->seed, stream = options->stream;
    size_t chosen = (size_t)(rng_uniform(seed, stream, 0) * (double)n);
    bool distinct = true;
    for (int32_t w = 0;; w++) {
        memcpy(centres + (size_t)w * SIZE, descriptors + chosen * SIZE, SIZE);
        if (w + 1 == options->n_words)
            return distinct;
        uint64_t total = approach(distance, descriptors, n, centres + (size_t)w * SIZE, w == 0);
        distinct &= total > 0;
        uint64_t target = (uint64_t)(rng_uniform(seed, stream, (uint64_t)w + 1) * (double)total);
        uint64_t passed = 0;
        for (chosen = 0; chosen + 1 < n; chosen++) {
            passed += (uint64_t)distance[chosen];
            if (passed > target)
                break;
        }
    }
}

/* Each centre becomes the rounded mean of its descriptors; one without any stays. Returns whether a centre moved. */
static bool update_centres(const struct clv_codebook *codebook, const uint8_t *descriptors, const int32_t *word,
                           size_t n, uint64_t *sum, uint64_t *count)
{
    memset(sum, 0, (size_t)codebook->n_words * SIZE * sizeof *sum);
    memset(count, 0, (size_t)codebook->n_words * sizeof *count);
    for (size_t i = 0; i < n; i++) {
        count[word[i]]++;
        for (int k = 0; k < SIZE; k++)
            sum[(size_t)word[i] * SIZE + (size_t)k] += descriptors[i * SIZE + (size_t)k];
    }
    bool moved = false;
    for (int32_t w = 0; w < codebook->n_words; w++)
        for (int k = 0; k < SIZE && count[w]; k++) {
            size_t at = (size_t)w * SIZE + (size_t)k;
            uint8_t mean = (uint8_t)((2 * sum[at] + count[w]) / (2 * count[w]));
            moved |= mean != codebook->centres[at];
            codebook->centres[at] = mean;
        }
    return moved;
}

/* Lloyd's algorithm on bytes. word[n] is scratch. */
static enum clv_status refine(const struct clv_codebook *codebook, const uint8_t *descriptors, int32_t *word, size_t n,
                              const struct codebook_options *options, struct clv_error *err)
{
    OWNED_ARRAY uint64_t *sum = array_alloc((size_t)codebook->n_words * SIZE, sizeof *sum);
    OWNED_ARRAY uint64_t *count = array_alloc((size_t)codebook->n_words, sizeof *count);
    NEED(sum && count);
    bool moved = true;
    for (int32_t iteration = 0; iteration < options->n_iterations && moved; iteration++) {
        FAIL_IF(stop_requested(options->progress), CLV_ERR_INTERRUPTED, "interrupted");
        MUST(words_assign(word, codebook, descriptors, n, err));
        moved = update_centres(codebook, descriptors, word, n, sum, count);
    }
    return CLV_OK;
}

static double mean_square_distance(const struct clv_codebook *codebook, const uint8_t *descriptors, const int32_t *word,
                                   size_t n)
{
    double total = 0;
    for (size_t i = 0; i < n; i++)
        total += square_distance(descriptors + i * SIZE, codebook->centres + (size_t)word[i] * SIZE);
    return total / (double)n;
}

enum clv_status codebook_learn(struct clv_codebook *codebook, double *distortion, const uint8_t *descriptors, size_t n,
                               const struct codebook_options *options, struct clv_error *err)
{
    OWNED_ARRAY uint8_t *centres = array_alloc((size_t)options->n_words, SIZE);
    const struct clv_codebook learned = {options->n_words, centres}; /* a view */
    OWNED_ARRAY int32_t *word = array_alloc(n, sizeof *word);
    OWNED_ARRAY int32_t *distance = array_alloc(n, sizeof *distance);
    NEED(centres && word && distance);
    bool distinct = seed_centres(centres, descriptors, n, distance, options);
    if (options->kmeans == CLV_KMEANS_VLFEAT && distinct)
        MUST(codebook_vlfeat_refine(centres, descriptors, n, options, err));
    else
        MUST(refine(&learned, descriptors, word, n, options, err));
    if (distortion) {
        MUST(words_assign(word, &learned, descriptors, n, err));
        *distortion = mean_square_distance(&learned, descriptors, word, n);
    }
    array_free(codebook->centres);
    *codebook = (struct clv_codebook){options->n_words, TAKE(centres)};
    return CLV_OK;
}
