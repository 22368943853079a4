#include <stdlib.h>
#include <string.h>
#include <vl/kmeans.h>

#include "base/array.h"
#include "base/rng.h"
#include "feature/words/codebook.h"
#include "feature/words/nearest_centre.h"
#include "support/support.h"

enum { SIZE = CLV_DESCRIPTOR_SIZE };

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

START_TEST(clusters_that_lie_apart_are_found)
{
    enum { N = 600, K = 12 };
    uint8_t *descriptors = clustered(N, K);
    struct clv_codebook codebook = {0};
    double distortion;
    must(codebook_learn(&codebook, &distortion, descriptors, N, K, 20, 1, RNG_CODEBOOK, NULL, err));
    int32_t word[N];
    must(words_assign(word, &codebook, descriptors, N, err));
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(word[i], word[i % K]);
    for (int i = 0; i < K; i++)
        for (int j = 0; j < i; j++)
            ck_assert_int_ne(word[i], word[j]);
    ck_assert_double_lt(distortion, SIZE * 40); /* the noise's variance is 36.7 a coordinate */
    array_free(codebook.centres);
    free(descriptors);
}
END_TEST

START_TEST(words_quantise_as_well_as_those_of_vlfeat)
{
    enum { N = 3000, K = 60 };
    uint8_t *descriptors = clustered(N, 400);
    struct clv_codebook codebook = {0};
    double ours;
    must(codebook_learn(&codebook, &ours, descriptors, N, K, 20, 1, RNG_CODEBOOK, NULL, err));
    float *x = malloc((size_t)N * SIZE * sizeof *x);
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
    free(x);
    array_free(codebook.centres);
    free(descriptors);
}
END_TEST

START_TEST(more_iterations_never_quantise_worse)
{
    uint8_t *descriptors = clustered(800, 100);
    double last = 1e30;
    for (int32_t iterations = 0; iterations <= 16; iterations = 2 * iterations + 1) {
        struct clv_codebook codebook = {0};
        double distortion;
        must(codebook_learn(&codebook, &distortion, descriptors, 800, 30, iterations, 3, RNG_CODEBOOK, NULL, err));
        ck_assert_double_le(distortion, last + 1); /* rounding of the centres may cost a little */
        last = distortion;
        array_free(codebook.centres);
    }
    free(descriptors);
}
END_TEST

START_TEST(fewer_descriptors_than_words_are_all_words)
{
    uint8_t *descriptors = clustered(5, 5);
    struct clv_codebook codebook = {0};
    double distortion;
    must(codebook_learn(&codebook, &distortion, descriptors, 5, 40, 20, 1, RNG_CODEBOOK, NULL, err));
    ck_assert_int_eq(codebook.n_words, 40);
    ck_assert_double_eq(distortion, 0);
    array_free(codebook.centres);
    free(descriptors);
}
END_TEST

START_TEST(the_same_seed_gives_the_same_words_and_another_does_not)
{
    uint8_t *descriptors = clustered(500, 90);
    struct clv_codebook a = {0}, b = {0}, c = {0};
    must(codebook_learn(&a, NULL, descriptors, 500, 20, 20, 7, RNG_CODEBOOK, NULL, err));
    must(codebook_learn(&b, NULL, descriptors, 500, 20, 20, 7, RNG_CODEBOOK, NULL, err));
    must(codebook_learn(&c, NULL, descriptors, 500, 20, 20, 8, RNG_CODEBOOK, NULL, err));
    ck_assert_mem_eq(a.centres, b.centres, 20 * SIZE);
    ck_assert_mem_ne(a.centres, c.centres, 20 * SIZE);
    array_free(a.centres);
    array_free(b.centres);
    array_free(c.centres);
    free(descriptors);
}
END_TEST

START_TEST(an_interrupted_codebook_is_left_as_it_was)
{
    uint8_t *descriptors = clustered(50, 9);
    const volatile int stop = 1;
    struct clv_progress progress = {.stop = &stop};
    struct clv_codebook codebook = {0};
    must_fail(CLV_ERR_INTERRUPTED, "interrupted",
              codebook_learn(&codebook, NULL, descriptors, 50, 5, 20, 1, RNG_CODEBOOK, &progress, err));
    ck_assert_ptr_null(codebook.centres);
    free(descriptors);
}
END_TEST

Suite *codebook_suite(void)
{
    Suite *suite = suite_create("codebook");
    TCase *tc = tcase_create("codebook");
    tcase_add_test(tc, clusters_that_lie_apart_are_found);
    tcase_add_test(tc, words_quantise_as_well_as_those_of_vlfeat);
    tcase_add_test(tc, more_iterations_never_quantise_worse);
    tcase_add_test(tc, fewer_descriptors_than_words_are_all_words);
    tcase_add_test(tc, the_same_seed_gives_the_same_words_and_another_does_not);
    tcase_add_test(tc, an_interrupted_codebook_is_left_as_it_was);
    suite_add_tcase(suite, tc);
    return suite;
}
