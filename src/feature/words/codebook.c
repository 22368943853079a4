/* Learns codebooks by k-means on bytes. Sums of bytes are exact, so the centres do not depend on the order of
 * summation, threads or instruction set, and nearest_centre.c assigns the words. A descriptor that was drawn several
 * times is assigned once and weighted by its count. VLFeat's k-means (codebook_vlfeat.c) is the reference. Start at
 * codebook_learn. */
#include "feature/words/words.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

enum { SIZE = CLV_DESCRIPTOR_SIZE };

/* Moves each centre to the rounded mean of its descriptors, if it has any. Returns whether a centre moved. */
static bool update_centres(const struct clv_codebook *codebook, const struct codebook_samples *samples,
                           const int32_t *word, uint64_t *sum, uint64_t *count)
{
    memset(sum, 0, (size_t)codebook->n_words * SIZE * sizeof *sum);
    memset(count, 0, (size_t)codebook->n_words * sizeof *count);
    for (size_t i = 0; i < samples->n; i++) {
        count[word[i]] += samples->weight[i];
        for (int k = 0; k < SIZE; k++)
            sum[(size_t)word[i] * SIZE + (size_t)k] += samples->weight[i] * samples->descriptors[i * SIZE + (size_t)k];
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

/* A centre with its sort key in a split: its position between the means of the two halves. */
struct ranked {
    int32_t rank;
    uint8_t centre[SIZE];
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank) : memcmp(x->centre, y->centre, SIZE);
}

static void mean_of(uint8_t *mean, const struct ranked *part, int32_t n)
{
    uint32_t sum[SIZE] = {0};
    for (int32_t i = 0; i < n; i++)
        for (int k = 0; k < SIZE; k++)
            sum[k] += part[i].centre[k];
    for (int k = 0; k < SIZE; k++)
        mean[k] = (uint8_t)(sum[k] / (uint32_t)n);
}

/* Returns the index of the centre furthest from `from`, the first among equals. */
static int32_t furthest(const struct ranked *part, int32_t n, const uint8_t *from)
{
    int32_t best = 0, distance = -1;
    for (int32_t i = 0; i < n; i++) {
        int32_t d = descriptor_distance(part[i].centre, from);
        if (d > distance) {
            distance = d;
            best = i;
        }
    }
    return best;
}

/* Splits the centres recursively into halves of similar ones, down to single groups, by k-means of two centres with
 * halves of fixed size. The first half is a whole number of groups. */
static void split_into_groups(struct ranked *part, int32_t n)
{
    enum { ROUNDS = 8 };
    if (n <= WORDS_GROUP)
        return;
    int32_t half = (n / 2 + WORDS_GROUP / 2) / WORDS_GROUP * WORDS_GROUP;
    if (half >= n)
        half -= WORDS_GROUP;
    uint8_t low[SIZE], high[SIZE];
    mean_of(low, part, n);
    memcpy(low, part[furthest(part, n, low)].centre, SIZE);
    memcpy(high, part[furthest(part, n, low)].centre, SIZE);
    for (int round = 0; round < ROUNDS; round++) {
        for (int32_t i = 0; i < n; i++)
            part[i].rank = descriptor_distance(part[i].centre, low) - descriptor_distance(part[i].centre, high);
        qsort(part, (size_t)n, sizeof *part, compare_ranked);
        mean_of(low, part, half);
        mean_of(high, part + half, n - half);
    }
    split_into_groups(part, half);
    split_into_groups(part + half, n - half);
}

static enum clv_status sort_into_groups(const struct clv_codebook *codebook, struct clv_error *err)
{
    size_t n = (size_t)codebook->n_words;
    OWNED_ARRAY struct ranked *part = array_zalloc(n, sizeof *part);
    NEED(part);
    for (size_t w = 0; w < n; w++)
        memcpy(part[w].centre, codebook->centres + w * SIZE, SIZE);
    split_into_groups(part, codebook->n_words);
    for (size_t w = 0; w < n; w++)
        memcpy(codebook->centres + w * SIZE, part[w].centre, SIZE);
    return CLV_OK;
}

/* Runs Lloyd's algorithm on bytes. word[samples->n] is scratch. */
static enum clv_status iterate_lloyd(const struct clv_codebook *codebook, const struct codebook_samples *samples,
                                     int32_t *word, const struct codebook_options *options, struct clv_error *err)
{
    OWNED_ARRAY uint64_t *sum = array_alloc((size_t)codebook->n_words * SIZE, sizeof *sum);
    OWNED_ARRAY uint64_t *count = array_alloc((size_t)codebook->n_words, sizeof *count);
    NEED(sum && count);
    bool moved = true;
    for (int32_t iteration = 0; iteration < options->n_iterations && moved; iteration++) {
        FAIL_IF(stop_requested(options->progress), CLV_ERR_INTERRUPTED, "interrupted");
        MUST(words_find(word, codebook, CLV_WORD_SEARCH_EXACT, samples->descriptors, samples->n, err));
        moved = update_centres(codebook, samples, word, sum, count);
    }
    return CLV_OK;
}

static double mean_square_distance(const struct clv_codebook *codebook, const struct codebook_samples *samples,
                                   const int32_t *word)
{
    double total = 0;
    for (size_t i = 0; i < samples->n; i++)
        total += (double)samples->weight[i] *
                 descriptor_distance(samples->descriptors + i * SIZE, codebook->centres + (size_t)word[i] * SIZE);
    return total / (double)samples->n_drawn;
}

enum clv_status codebook_learn(struct clv_codebook *codebook, double *distortion, const uint8_t *descriptors, size_t n,
                               const struct codebook_options *options, struct clv_error *err)
{
    OWNED(codebook_samples_release) struct codebook_samples samples = {0};
    MUST(codebook_samples_init(&samples, descriptors, n, err));
    OWNED_ARRAY uint8_t *centres = array_alloc((size_t)options->n_words, SIZE);
    const struct clv_codebook learned = {options->n_words, centres}; /* a view */
    OWNED_ARRAY int32_t *word = array_alloc(samples.n, sizeof *word);
    NEED(centres && word);
    MUST(centres_seed_at(words_best_level(), centres, &samples, options, err));
    if (options->kmeans == CLV_KMEANS_VLFEAT && samples.n >= (size_t)options->n_words)
        MUST(codebook_vlfeat_refine(centres, descriptors, n, options, err));
    else
        MUST(iterate_lloyd(&learned, &samples, word, options, err));
    if (options->search == CLV_WORD_SEARCH_GROUPS)
        MUST(sort_into_groups(&learned, err));
    if (distortion) {
        MUST(words_find(word, &learned, CLV_WORD_SEARCH_EXACT, samples.descriptors, samples.n, err));
        *distortion = mean_square_distance(&learned, &samples, word);
    }
    array_free(codebook->centres);
    *codebook = (struct clv_codebook){options->n_words, TAKE(centres)};
    return CLV_OK;
}
