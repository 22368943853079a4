#include <stdlib.h>
#include <string.h>
#include <vl/kmeans.h>

#include "base/base.h"
#include "feature/words/words.h"
#include "support/support.h"

enum { SIZE = CLV_DESCRIPTOR_SIZE };

static uint8_t *random_bytes(size_t n, uint32_t range, uint64_t stream)
{
    uint8_t *bytes = malloc(n * SIZE);
    for (size_t k = 0; k < n * SIZE; k++)
        bytes[k] = (uint8_t)rng_below(1, RNG_STREAM(RNG_TEST, stream), k, range);
    return bytes;
}

/* The definition, in the plainest C. */
static int32_t nearest(const struct clv_codebook *codebook, const uint8_t *x)
{
    int32_t best = 0;
    long best_distance = -1;
    for (int32_t w = 0; w < codebook->n_words; w++) {
        long distance = 0;
        for (int k = 0; k < SIZE; k++) {
            long difference = (long)x[k] - codebook->centres[(size_t)w * SIZE + (size_t)k];
            distance += difference * difference;
        }
        if (best_distance < 0 || distance < best_distance) {
            best_distance = distance;
            best = w;
        }
    }
    return best;
}

static void find_at(enum words_level level, int32_t *word, const struct clv_codebook *codebook, int32_t by,
                    const uint8_t *descriptors, size_t n)
{
    OWNED(word_search_release) struct word_search search = {0};
    must(word_search_init(&search, codebook, by, level, err));
    word_search_find(&search, word, descriptors, n);
}

static void check_all_levels(const struct clv_codebook *codebook, const uint8_t *descriptors, size_t n)
{
    OWNED_ARRAY int32_t *word = malloc(n * sizeof *word);
    for (int level = WORDS_PLAIN; level <= (int)words_best_level(); level++) {
        memset(word, -1, n * sizeof *word);
        find_at((enum words_level)level, word, codebook, CLV_WORD_SEARCH_EXACT, descriptors, n);
        for (size_t i = 0; i < n; i++)
            ck_assert_msg(word[i] == nearest(codebook, descriptors + i * SIZE),
                          "level %d, descriptor %zu: word %d, not %d", level, i, word[i],
                          nearest(codebook, descriptors + i * SIZE));
    }
}

TEST(words_are_the_nearest_centres_at_every_level_and_size)
{
    static const int32_t sizes[] = {1, 2, 7, 8, 15, 16, 17, 33, 500};
    static const uint32_t ranges[] = {2, 60, 256};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t r = 0; r < 3; r++) {
            struct clv_codebook codebook = {sizes[s], random_bytes((size_t)sizes[s], ranges[r], 1)};
            for (size_t n = 1; n <= 20; n += 3) {
                OWNED_ARRAY uint8_t *descriptors = random_bytes(n, ranges[r], 2);
                check_all_levels(&codebook, descriptors, n);
            }
            free(codebook.centres);
        }
}

TEST(extreme_descriptors_do_not_overflow)
{
    struct clv_codebook codebook = {18, calloc(18, SIZE)};
    memset(codebook.centres + 3 * SIZE, 255, SIZE);
    memset(codebook.centres + 17 * SIZE, 128, SIZE);
    uint8_t descriptors[4 * SIZE];
    memset(descriptors, 255, SIZE);
    memset(descriptors + SIZE, 0, SIZE);
    memset(descriptors + 2 * SIZE, 127, SIZE);
    memset(descriptors + 3 * SIZE, 192, SIZE);
    check_all_levels(&codebook, descriptors, 4);
    free(codebook.centres);
}

TEST(ties_go_to_the_lowest_word)
{
    struct clv_codebook codebook = {40, random_bytes(40, 256, 3)};
    for (int w = 0; w < 40; w++) /* 8 different centres, five times each, in reverse */
        memcpy(codebook.centres + w * SIZE, codebook.centres + (39 - w % 8) * SIZE, SIZE);
    OWNED_ARRAY uint8_t *descriptors = random_bytes(50, 256, 4);
    int32_t word[50];
    for (int level = WORDS_PLAIN; level <= (int)words_best_level(); level++) {
        find_at((enum words_level)level, word, &codebook, CLV_WORD_SEARCH_EXACT, descriptors, 50);
        for (int i = 0; i < 50; i++)
            ck_assert_int_lt(word[i], 8);
    }
    check_all_levels(&codebook, descriptors, 50);
    free(codebook.centres);
}

TEST(words_are_those_of_vlfeat)
{
    enum { N = 2000, K = 100 };
    struct clv_codebook codebook = {K, random_bytes(K, 4, 5)}; /* a narrow range makes ties frequent */
    OWNED_ARRAY uint8_t *descriptors = random_bytes(N, 4, 6);
    OWNED_ARRAY float *x = malloc(N * SIZE * sizeof *x), *c = malloc(K * SIZE * sizeof *c);
    for (size_t k = 0; k < N * SIZE; k++)
        x[k] = descriptors[k];
    for (size_t k = 0; k < K * SIZE; k++)
        c[k] = codebook.centres[k];
    VlKMeans *kmeans = vl_kmeans_new(VL_TYPE_FLOAT, VlDistanceL2);
    vl_kmeans_set_centers(kmeans, c, SIZE, K);
    vl_uint32 theirs[N];
    vl_kmeans_quantize(kmeans, theirs, NULL, x, N);
    int32_t ours[N];
    must(words_find(ours, &codebook, CLV_WORD_SEARCH_EXACT, descriptors, N, err));
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(ours[i], (int)theirs[i]);
    vl_kmeans_delete(kmeans);
    free(codebook.centres);
}

TEST(an_empty_codebook_is_refused)
{
    struct clv_codebook codebook = {0};
    uint8_t descriptor[SIZE] = {0};
    int32_t word;
    must_fail(CLV_ERR_USAGE, "codebook is empty",
              words_find(&word, &codebook, CLV_WORD_SEARCH_EXACT, descriptor, 1, err));
}

static long score_of(const uint8_t *c, const uint8_t *x)
{
    long score = 0;
    for (int k = 0; k < SIZE; k++)
        score += 2 * (long)x[k] * c[k] - (long)c[k] * c[k];
    return score;
}

/* The definition: the best centre of the four groups of 16 with the best rounded means, the lowest on ties. */
static int32_t nearest_of_groups(const struct clv_codebook *codebook, const uint8_t *x)
{
    enum { SEARCHED = 4 };
    int32_t n_groups = (codebook->n_words + WORDS_GROUP - 1) / WORDS_GROUP, best = -1;
    bool is_searched[WORDS_MAX_GROUPED / WORDS_GROUP] = {false};
    for (int turn = 0; turn < SEARCHED && turn < n_groups; turn++) {
        int32_t chosen = -1;
        long chosen_score = 0;
        for (int32_t g = 0; g < n_groups; g++) {
            int32_t first = g * WORDS_GROUP, end = first + WORDS_GROUP;
            end = end < codebook->n_words ? end : codebook->n_words;
            uint8_t mean[SIZE];
            for (int k = 0; k < SIZE; k++) {
                double sum = 0;
                for (int32_t w = first; w < end; w++)
                    sum += codebook->centres[w * SIZE + k];
                mean[k] = (uint8_t)(sum / (end - first) + 0.5);
            }
            long score = score_of(mean, x);
            if (!is_searched[g] && (chosen < 0 || score > chosen_score)) {
                chosen = g;
                chosen_score = score;
            }
        }
        is_searched[chosen] = true;
    }
    for (int32_t w = 0; w < codebook->n_words; w++)
        if (is_searched[w / WORDS_GROUP] &&
            (best < 0 || score_of(codebook->centres + w * SIZE, x) > score_of(codebook->centres + best * SIZE, x)))
            best = w;
    return best;
}

TEST(words_by_groups_are_the_nearest_of_four_groups_at_every_level_and_size)
{
    static const int32_t sizes[] = {1, 16, 17, 47, 64, 130, 500, 512};
    static const uint32_t ranges[] = {2, 60, 256};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t r = 0; r < 3; r++) {
            OWNED_ARRAY uint8_t *centres = random_bytes((size_t)sizes[s], ranges[r], 1);
            const struct clv_codebook codebook = {sizes[s], centres};
            for (size_t n = 1; n <= 21; n += 4) {
                OWNED_ARRAY uint8_t *descriptors = random_bytes(n, ranges[r], 2);
                OWNED_ARRAY int32_t *word = malloc(n * sizeof *word);
                for (int level = WORDS_PLAIN; level <= (int)words_best_level(); level++) {
                    find_at((enum words_level)level, word, &codebook, CLV_WORD_SEARCH_GROUPS, descriptors, n);
                    for (size_t i = 0; i < n; i++)
                        ck_assert_int_eq(word[i], nearest_of_groups(&codebook, descriptors + i * SIZE));
                }
            }
        }
}

TEST(many_descriptors_have_the_words_that_they_have_alone)
{
    enum { N = 9000, WORDS = 100 };
    OWNED_ARRAY uint8_t *centres = random_bytes(WORDS, 150, 1);
    OWNED_ARRAY uint8_t *descriptors = random_bytes(N, 150, 2);
    const struct clv_codebook codebook = {WORDS, centres};
    OWNED_ARRAY int32_t *word = malloc(N * sizeof *word);
    must(words_find(word, &codebook, CLV_WORD_SEARCH_GROUPS, descriptors, N, err));
    for (size_t i = 0; i < N; i += 7) {
        int32_t alone;
        must(words_find(&alone, &codebook, CLV_WORD_SEARCH_GROUPS, descriptors + i * SIZE, 1, err));
        ck_assert_int_eq(word[i], alone);
    }
}

TEST(more_than_512_words_are_not_found_by_groups)
{
    OWNED_ARRAY uint8_t *centres = random_bytes(WORDS_MAX_GROUPED + 1, 150, 1);
    const struct clv_codebook codebook = {WORDS_MAX_GROUPED + 1, centres}, none = {0};
    int32_t word;
    must_fail(CLV_ERR_USAGE, "codebook of 513 words",
              words_find(&word, &codebook, CLV_WORD_SEARCH_GROUPS, centres, 1, err));
    must_fail(CLV_ERR_USAGE, "codebook is empty", words_find(&word, &none, CLV_WORD_SEARCH_GROUPS, centres, 1, err));
}
