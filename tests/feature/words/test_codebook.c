#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <vl/kmeans.h>

#include "base/base.h"
#include "feature/words/words.h"
#include "support/support.h"

enum { SIZE = CLV_DESCRIPTOR_SIZE };

static enum clv_status learn_by(int32_t kmeans, struct clv_codebook *codebook, double *distortion,
                                const uint8_t *descriptors, size_t n, int32_t n_words, int32_t n_iterations,
                                uint64_t seed, const struct clv_progress *progress, struct clv_error *err)
{
    struct codebook_options options = {.n_words = n_words,
                                       .n_iterations = n_iterations,
                                       .kmeans = kmeans,
                                       .seed = seed,
                                       .stream = RNG_CODEBOOK,
                                       .progress = progress};
    return codebook_learn(codebook, distortion, descriptors, n, &options, err);
}

static enum clv_status learn(struct clv_codebook *codebook, double *distortion, const uint8_t *descriptors, size_t n,
                             int32_t n_words, int32_t n_iterations, uint64_t seed, const struct clv_progress *progress,
                             struct clv_error *err)
{
    return learn_by(CLV_KMEANS_CLEAVE, codebook, distortion, descriptors, n, n_words, n_iterations, seed, progress,
                    err);
}

/* n descriptors around n_clusters random centres. */
static uint8_t *clustered(size_t n, uint32_t n_clusters)
{
    uint8_t *bytes = malloc(n * SIZE);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < SIZE; k++)
            bytes[i * SIZE + k] = (uint8_t)(rng_below(1, RNG_STREAM(RNG_TEST, 1), i % n_clusters * SIZE + k, 200) +
                                            rng_below(1, RNG_STREAM(RNG_TEST, 2), i * SIZE + k, 21));
    return bytes;
}

TEST(clusters_that_are_apart_are_found)
{
    enum { N = 600, K = 12 };
    OWNED_ARRAY uint8_t *descriptors = clustered(N, K);
    struct clv_codebook codebook = {0};
    double distortion;
    must(learn(&codebook, &distortion, descriptors, N, K, 20, 1, NULL, err));
    int32_t word[N];
    must(words_find(word, &codebook, CLV_WORD_SEARCH_EXACT, descriptors, N, err));
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(word[i], word[i % K]);
    for (int i = 0; i < K; i++)
        for (int j = 0; j < i; j++)
            ck_assert_int_ne(word[i], word[j]);
    ck_assert_double_lt(distortion, SIZE * 40); /* the noise's variance is 36.7 a coordinate */
    array_free(codebook.centres);
}

TEST(a_word_is_the_rounded_mean_of_its_descriptors)
{
    static uint8_t descriptors[3][SIZE];
    struct clv_codebook codebook = {0};
    double distortion;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < SIZE; k++)
            descriptors[i][k] = (uint8_t)(k + i * (k % 3)); /* k, k + 1 and k + 2 on average */
    descriptors[2][0] = 2;                                  /* 2/3 */
    descriptors[2][3] = 4;                                  /* 3 + 1/3 */
    must(learn(&codebook, &distortion, *descriptors, 3, 1, 20, 1, NULL, err));
    for (int k = 0; k < SIZE; k++)
        ck_assert_int_eq(codebook.centres[k], k == 0 ? 1 : k + k % 3);
    array_free(codebook.centres);
}

TEST(words_quantise_as_well_as_those_of_vlfeat)
{
    enum { N = 3000, K = 60 };
    OWNED_ARRAY uint8_t *descriptors = clustered(N, 400);
    struct clv_codebook codebook = {0};
    double ours;
    must(learn(&codebook, &ours, descriptors, N, K, 20, 1, NULL, err));
    OWNED_ARRAY float *x = malloc((size_t)N * SIZE * sizeof *x);
    for (size_t k = 0; k < (size_t)N * SIZE; k++)
        x[k] = descriptors[k];
    vl_rand_seed(vl_get_rand(), 1);
    VlKMeans *kmeans = vl_kmeans_new(VL_TYPE_FLOAT, VlDistanceL2);
    vl_kmeans_set_algorithm(kmeans, VlKMeansLloyd);
    vl_kmeans_set_initialization(kmeans, VlKMeansPlusPlus);
    vl_kmeans_set_max_num_iterations(kmeans, 20);
    double theirs = vl_kmeans_cluster(kmeans, x, SIZE, N, K) / N;
    ck_assert_double_lt(ours, 1.05 * theirs);
    vl_kmeans_delete(kmeans);
    array_free(codebook.centres);
}

TEST(more_iterations_never_quantise_worse)
{
    OWNED_ARRAY uint8_t *descriptors = clustered(800, 100);
    double last = 1e30;
    for (int32_t iterations = 0; iterations <= 16; iterations = 2 * iterations + 1) {
        struct clv_codebook codebook = {0};
        double distortion;
        must(learn(&codebook, &distortion, descriptors, 800, 30, iterations, 3, NULL, err));
        ck_assert_double_le(distortion, last + 1); /* rounding of the centres may cost a little */
        last = distortion;
        array_free(codebook.centres);
    }
}

TEST(fewer_descriptors_than_words_are_all_words)
{
    OWNED_ARRAY uint8_t *descriptors = clustered(5, 5);
    struct clv_codebook codebook = {0};
    double distortion;
    must(learn(&codebook, &distortion, descriptors, 5, 40, 20, 1, NULL, err));
    ck_assert_int_eq(codebook.n_words, 40);
    ck_assert_double_eq(distortion, 0);
    array_free(codebook.centres);
}

/* k-means++ as words.h defines it, one drawn descriptor after the other. */
static void seed_plainly(uint8_t *centres, const uint8_t *descriptors, size_t n, const struct codebook_options *options)
{
    OWNED_ARRAY int64_t *distance = malloc(n * sizeof *distance);
    size_t chosen = (size_t)(rng_uniform(options->seed, options->stream, 0) * (double)n);
    for (int32_t w = 0; w < options->n_words; w++) {
        memcpy(centres + w * SIZE, descriptors + chosen * SIZE, SIZE);
        int64_t total = 0, passed = 0;
        for (size_t i = 0; i < n; i++) {
            int64_t d = 0;
            for (size_t k = 0; k < SIZE; k++) {
                int64_t difference = descriptors[i * SIZE + k] - centres[(size_t)w * SIZE + k];
                d += difference * difference;
            }
            distance[i] = w == 0 || d < distance[i] ? d : distance[i];
            total += distance[i];
        }
        double share = rng_uniform(options->seed, options->stream, (uint64_t)w + 1);
        int64_t target = (int64_t)(share * (double)total);
        for (chosen = 0; chosen + 1 < n && (passed += distance[chosen]) <= target; chosen++)
            ;
    }
}

TEST(centres_are_seeded_from_all_that_was_drawn_at_every_level)
{
    static const size_t counts[] = {1, 15, 16, 17, 300};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (size_t n_distinct = 1; n_distinct <= counts[c]; n_distinct = 7 * n_distinct + 4) {
            size_t n = counts[c];
            OWNED_ARRAY uint8_t *distinct = clustered(n_distinct, 50);
            memset(distinct, n_distinct % 2 ? 255 : 0, SIZE);
            OWNED_ARRAY uint8_t *descriptors = malloc(n * SIZE);
            for (size_t i = 0; i < n; i++)
                memcpy(descriptors + i * SIZE, distinct + i * i % n_distinct * SIZE, SIZE);
            struct codebook_options options = {.n_words = 20, .seed = c, .stream = RNG_CODEBOOK};
            uint8_t expected[20 * SIZE], centres[20 * SIZE];
            seed_plainly(expected, descriptors, n, &options);
            OWNED(codebook_samples_release) struct codebook_samples samples = {0};
            must(codebook_samples_init(&samples, descriptors, n, err));
            ck_assert_uint_le(samples.n, n_distinct);
            for (int level = WORDS_PLAIN; level <= (int)words_best_level(); level++) {
                memset(centres, 77, sizeof centres);
                must(centres_seed_at((enum words_level)level, centres, &samples, &options, err));
                ck_assert_mem_eq(centres, expected, sizeof centres);
            }
        }
}

TEST(the_same_seed_gives_the_same_words_and_another_does_not)
{
    OWNED_ARRAY uint8_t *descriptors = clustered(500, 90);
    struct clv_codebook a = {0}, b = {0}, c = {0};
    must(learn(&a, NULL, descriptors, 500, 20, 20, 7, NULL, err));
    must(learn(&b, NULL, descriptors, 500, 20, 20, 7, NULL, err));
    must(learn(&c, NULL, descriptors, 500, 20, 20, 8, NULL, err));
    ck_assert_mem_eq(a.centres, b.centres, 20 * SIZE);
    ck_assert_mem_ne(a.centres, c.centres, 20 * SIZE);
    array_free(a.centres);
    array_free(b.centres);
    array_free(c.centres);
}

/* Both start from the same centres: what is left is the rounding of ours in every round. */
TEST(codebooks_of_vlfeat_quantise_as_well_as_ours)
{
    static const struct {
        size_t n, n_clusters;
        int32_t n_words;
    } cases[] = {{3000, 400, 60}, {600, 12, 12}, {500, 90, 1}, {300, 300, 300}, {2000, 37, 80}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        OWNED_ARRAY uint8_t *descriptors = clustered(cases[c].n, (uint32_t)cases[c].n_clusters);
        struct clv_codebook ours = {0}, theirs = {0};
        double energy, energy_of_vlfeat;
        must(learn(&ours, &energy, descriptors, cases[c].n, cases[c].n_words, 20, 1, NULL, err));
        must(learn_by(CLV_KMEANS_VLFEAT, &theirs, &energy_of_vlfeat, descriptors, cases[c].n, cases[c].n_words, 20, 1,
                      NULL, err));
        ck_assert_int_eq(theirs.n_words, cases[c].n_words);
        ck_assert_double_le(fabs(energy_of_vlfeat - energy), 0.01 * energy + 1);
        array_free(ours.centres);
        array_free(theirs.centres);
    }
}

TEST(vlfeat_is_kept_from_more_words_than_distinct_descriptors)
{
    static const size_t counts[] = {1, 5, 200};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        OWNED_ARRAY uint8_t *descriptors = clustered(5, 5);
        descriptors = realloc(descriptors, 200 * SIZE);
        for (size_t i = 5; i < 200; i++)
            memcpy(descriptors + i * SIZE, descriptors + i % 5 * SIZE, SIZE);
        struct clv_codebook codebook = {0};
        double distortion;
        must(learn_by(CLV_KMEANS_VLFEAT, &codebook, &distortion, descriptors, counts[k], 40, 20, 1, NULL, err));
        ck_assert_int_eq(codebook.n_words, 40);
        ck_assert_double_eq(distortion, 0);
        array_free(codebook.centres);
    }
}

TEST(vlfeat_gives_the_same_words_whatever_its_threads_and_random_numbers_and_leaves_both_alone)
{
    OWNED_ARRAY uint8_t *descriptors = clustered(900, 90);
    struct codebook_options options = {40, 7, CLV_KMEANS_VLFEAT, 7, RNG_CODEBOOK, NULL, CLV_WORD_SEARCH_EXACT};
    struct clv_codebook one = {0}, many = {0}, other = {0};
    must(codebook_learn(&one, NULL, descriptors, 900, &options, err));
    vl_rand_seed(vl_get_rand(), 5);
    vl_uint32 next = vl_rand_uint32(vl_get_rand());
    vl_rand_seed(vl_get_rand(), 5);
    vl_set_num_threads(3);
    must(codebook_learn(&many, NULL, descriptors, 900, &options, err));
    ck_assert_uint_eq(vl_rand_uint32(vl_get_rand()), next);
    ck_assert_uint_eq(vl_get_max_threads(), 3);
    ck_assert_mem_eq(one.centres, many.centres, 40 * SIZE);
    options.seed = 8;
    must(codebook_learn(&other, NULL, descriptors, 900, &options, err));
    ck_assert_mem_ne(one.centres, other.centres, 40 * SIZE);
    array_free(one.centres);
    array_free(many.centres);
    array_free(other.centres);
}

TESTS(an_interrupted_codebook_is_left_as_it_was, CLV_KMEANS_CLEAVE, CLV_KMEANS_VLFEAT + 1)
{
    OWNED_ARRAY uint8_t *descriptors = clustered(50, 9);
    const volatile int stop = 1;
    struct clv_progress progress = {.stop = &stop};
    struct clv_codebook codebook = {0};
    must_fail(CLV_ERR_INTERRUPTED, "interrupted",
              learn_by(_i, &codebook, NULL, descriptors, 50, 5, 20, 1, &progress, err));
    ck_assert_ptr_null(codebook.centres);
}

static int compare_centres(const void *a, const void *b)
{
    return memcmp(a, b, SIZE);
}

TEST(words_in_groups_are_the_same_beside_similar_ones)
{
    enum { N = 3000, K = 200 };
    OWNED_ARRAY uint8_t *descriptors = clustered(N, 250);
    struct clv_codebook exact = {0}, grouped = {0};
    struct codebook_options options = {.n_words = K, .n_iterations = 5, .seed = 1, .stream = RNG_CODEBOOK};
    must(codebook_learn(&exact, NULL, descriptors, N, &options, err));
    options.search = CLV_WORD_SEARCH_GROUPS;
    must(codebook_learn(&grouped, NULL, descriptors, N, &options, err));
    double inside = 0, across = 0; /* squared distances of words in one group, and of words half a book apart */
    for (int w = 0; w < K; w++)
        for (int k = 0; k < SIZE; k++) {
            int c = grouped.centres[w * SIZE + k];
            inside += pow(c - grouped.centres[(w / WORDS_GROUP * WORDS_GROUP + w % 8) * SIZE + k], 2);
            across += pow(c - grouped.centres[(w + K / 2) % K * SIZE + k], 2);
        }
    ck_assert_double_lt(inside, across);
    qsort(exact.centres, K, SIZE, compare_centres);
    qsort(grouped.centres, K, SIZE, compare_centres);
    ck_assert_mem_eq(exact.centres, grouped.centres, (size_t)K * SIZE);
    array_free(exact.centres);
    array_free(grouped.centres);
}
