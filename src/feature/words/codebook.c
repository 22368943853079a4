/* VLFeat's k-means would serve; ours works on the bytes that the words are assigned with. Sums of bytes are exact, so the
 * centres do not depend on summation order, threads or instruction set, and the assignment is the fast one of words.c. */
#include "feature/words/codebook.h"

#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/rng.h"
#include "feature/words/nearest_centre.h"

enum { SIZE = CLV_DESCRIPTOR_SIZE };

static int32_t square_distance(const uint8_t *a, const uint8_t *b)
{
    int32_t sum = 0;
    for (int k = 0; k < SIZE; k++) {
        int16_t difference = (int16_t)(a[k] - b[k]);
        sum += difference * difference;
    }
    return sum;
}

/* k-means++: each next centre is a descriptor, drawn with probability proportional to its squared distance to the nearest
 * centre so far. distance[n] is scratch. */
static void seed_centres(uint8_t *centres, int32_t n_words, const uint8_t *descriptors, size_t n, int32_t *distance,
                         uint64_t seed, uint64_t stream)
{
    size_t chosen = (size_t)(rng_uniform(seed, stream, 0) * (double)n);
    for (int32_t w = 0;; w++) {
        memcpy(centres + (size_t)w * SIZE, descriptors + chosen * SIZE, SIZE);
        if (w + 1 == n_words)
            return;
        uint64_t total = 0;
        for (size_t i = 0; i < n; i++) {
            int32_t d = square_distance(descriptors + i * SIZE, descriptors + chosen * SIZE);
            distance[i] = w == 0 || d < distance[i] ? d : distance[i];
            total += (uint64_t)distance[i];
        }
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
static int update_centres(uint8_t *centres, int32_t n_words, const uint8_t *descriptors, const int32_t *word, size_t n,
                          uint64_t *sum, uint64_t *count)
{
    memset(sum, 0, (size_t)n_words * SIZE * sizeof *sum);
    memset(count, 0, (size_t)n_words * sizeof *count);
    for (size_t i = 0; i < n; i++) {
        count[word[i]]++;
        for (int k = 0; k < SIZE; k++)
            sum[(size_t)word[i] * SIZE + (size_t)k] += descriptors[i * SIZE + (size_t)k];
    }
    int moved = 0;
    for (int32_t w = 0; w < n_words; w++)
        for (int k = 0; k < SIZE && count[w]; k++) {
            size_t at = (size_t)w * SIZE + (size_t)k;
            uint8_t mean = (uint8_t)((2 * sum[at] + count[w]) / (2 * count[w]));
            moved |= mean != centres[at];
            centres[at] = mean;
        }
    return moved;
}

enum clv_status codebook_learn(struct clv_codebook *codebook, double *distortion, const uint8_t *descriptors, size_t n,
                               int32_t n_words, int32_t n_iterations, uint64_t seed, uint64_t stream,
                               const struct clv_progress *progress, struct clv_error *err)
{
    struct clv_codebook made = {n_words, array_alloc((size_t)n_words, SIZE)};
    int32_t *word = array_alloc(n, sizeof *word);
    int32_t *distance = array_alloc(n, sizeof *distance);
    uint64_t *sum = array_alloc((size_t)n_words * SIZE, sizeof *sum);
    uint64_t *count = array_alloc((size_t)n_words, sizeof *count);
    enum clv_status status = CLV_OK;
    if (!made.centres || !word || !distance || !sum || !count) {
        status = fail_memory(err);
        goto done;
    }
    seed_centres(made.centres, n_words, descriptors, n, distance, seed, stream);
    for (int32_t iteration = 0; iteration < n_iterations; iteration++) {
        if (stop_requested(progress)) {
            status = fail(err, CLV_ERR_INTERRUPTED, "interrupted");
            goto done;
        }
        status = words_assign(word, &made, descriptors, n, err);
        if (status != CLV_OK)
            goto done;
        if (!update_centres(made.centres, n_words, descriptors, word, n, sum, count))
            break;
    }
    if (distortion) {
        status = words_assign(word, &made, descriptors, n, err);
        if (status != CLV_OK)
            goto done;
        double total = 0;
        for (size_t i = 0; i < n; i++)
            total += square_distance(descriptors + i * SIZE, made.centres + (size_t)word[i] * SIZE);
        *distortion = total / (double)n;
    }
    array_free(codebook->centres);
    *codebook = made;
    made.centres = NULL;
done:
    array_free(made.centres);
    array_free(word);
    array_free(distance);
    array_free(sum);
    array_free(count);
    return status;
}
