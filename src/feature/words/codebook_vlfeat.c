/* Runs the k-means of VLFeat 0.9.21 and works around its faults. It crashes if there are more centres than data, which
 * callers must prevent. Its random numbers come from a state of the thread, which is seeded here and restored. It
 * starts OpenMP threads, and the process ends if one cannot be created, so it is limited to the calling thread. It
 * cannot be stopped, so it runs a few rounds at a time. Start at codebook_vlfeat_refine. */
#include "feature/words/words.h"

#include <vl/kmeans.h>

#include "base/base.h"

enum { SIZE = CLV_DESCRIPTOR_SIZE, ROUNDS = 5 /* between checks of the request to stop */ };

static float *floats_of(const uint8_t *bytes, size_t n)
{
    float *floats = array_alloc(n, SIZE * sizeof *floats);
    for (size_t k = 0; floats && k < n * SIZE; k++)
        floats[k] = bytes[k];
    return floats;
}

/* Runs VLFeat in parts of ROUNDS rounds. Each part ends with an extra assignment, so this takes a fifth longer than one
 * run. */
static enum clv_status run_rounds(VlKMeans *kmeans, const float *data, size_t n, int32_t n_iterations,
                                  const struct clv_progress *progress, struct clv_error *err)
{
    double energy = -1;
    for (int32_t left = n_iterations; left > 0; left -= ROUNDS) {
        FAIL_IF(stop_requested(progress), CLV_ERR_INTERRUPTED, "interrupted");
        double before = energy;
        vl_kmeans_set_max_num_iterations(kmeans, (vl_size)(left < ROUNDS ? left : ROUNDS));
        energy = vl_kmeans_refine_centers(kmeans, data, n);
        if (energy == before)
            break;
    }
    return CLV_OK;
}

/* Restores VLFeat's global state also after a failed refinement. */
enum clv_status codebook_vlfeat_refine(uint8_t *centres, const uint8_t *descriptors, size_t n,
                                       const struct codebook_options *options, struct clv_error *err)
{
    size_t n_words = (size_t)options->n_words;
    OWNED_ARRAY float *data = floats_of(descriptors, n);
    OWNED_ARRAY float *start = floats_of(centres, n_words);
    NEED(data && start);
    VlRand *random = vl_get_rand(), saved = *random;
    vl_rand_seed(random, rng_at(options->seed, options->stream, UINT64_MAX).word[0]);
    vl_size n_threads = vl_get_max_threads();
    vl_set_num_threads(1);
    VlKMeans *kmeans = vl_kmeans_new(VL_TYPE_FLOAT, VlDistanceL2);
    vl_kmeans_set_algorithm(kmeans, VlKMeansLloyd);
    vl_kmeans_set_min_energy_variation(kmeans, 0); /* runs all rounds, as codebook.c does */
    vl_kmeans_set_centers(kmeans, start, SIZE, n_words);
    enum clv_status status = run_rounds(kmeans, data, n, options->n_iterations, options->progress, err);
    const float *refined = vl_kmeans_get_centers(kmeans);
    for (size_t k = 0; k < n_words * SIZE && !status; k++)
        centres[k] = (uint8_t)(refined[k] + 0.5f); /* means of bytes: 0..255 */
    vl_kmeans_delete(kmeans);
    vl_set_num_threads(n_threads);
    *random = saved;
    return status;
}
