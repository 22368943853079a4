/* Assignment of visual words to descriptors of the real horses: ours at each vector level of this processor, and
 * VLFeat's exact one, all on one thread, in turn, comparing words one by one; then ours by groups compared with ours
 * one by one. */
#include <string.h>
#include <vl/kmeans.h>

#include "base/base.h"
#include "bench.h"
#include "feature/words/words.h"

enum { SIZE = CLV_DESCRIPTOR_SIZE, N_IMAGES = 6, N_WORDS = 500, ROUNDS = 9, VLFEAT_SHARE = 16 };

static void stop_on(enum clv_status status, const struct clv_error *err)
{
    if (!status)
        return;
    fprintf(stderr, "words: %s\n", err->message);
    exit(1);
}

/* Appends an image's descriptors of one scale. */
static void add_image(uint8_t **descriptors, size_t *n, const char *path, int32_t scale)
{
    struct clv_error err;
    struct clv_recipe recipe;
    struct clv_image image = {0};
    struct sift_integral integral;
    struct sift_grid grid;
    clv_recipe_init(&recipe);
    stop_on(clv_image_read(&image, path, NULL, &err), &err);
    stop_on(sift_integral_init(&integral, image.pixels, image.width, image.height, &recipe, &err), &err);
    stop_on(sift_extract(&grid, &integral, recipe.bin_size_px[scale], recipe.step_px, &err), &err);
    size_t added = (size_t)grid.n_columns * (size_t)grid.n_rows;
    *descriptors = realloc(*descriptors, (*n + added) * SIZE);
    memcpy(*descriptors + *n * SIZE, grid.values, added * SIZE);
    *n += added;
    sift_grid_release(&grid);
    sift_integral_release(&integral);
    clv_image_release(&image);
}

/* Every descriptor of the manifest's first images, at the recipe's second scale. */
static uint8_t *load(size_t *n, const char *manifest)
{
    uint8_t *descriptors = NULL;
    char line[4096], name[2048], path[8192];
    int folder = (int)(strrchr(manifest, '/') - manifest), n_images = 0;
    FILE *stream = fopen(manifest, "r");
    while (stream && n_images < N_IMAGES && fgets(line, sizeof line, stream)) {
        if (sscanf(line, "%2047[^\t]", name) != 1 || strcmp(name, "image") == 0)
            continue;
        snprintf(path, sizeof path, "%.*s/%s", folder, manifest, name);
        add_image(&descriptors, n, path, 1);
        n_images++;
    }
    if (stream)
        fclose(stream);
    return descriptors;
}

static double run_ours(enum words_level level, int32_t *word, const struct clv_codebook *codebook,
                       const uint8_t *descriptors, size_t n)
{
    struct clv_error err;
    struct word_search search;
    double begin = bench_cpu();
    stop_on(word_search_init(&search, codebook, CLV_WORD_SEARCH_EXACT, level, &err), &err);
    word_search_find(&search, word, descriptors, n);
    double took = bench_cpu() - begin;
    word_search_release(&search);
    return (double)n / took;
}

static double run_groups(int32_t *word, const struct clv_codebook *codebook, const uint8_t *descriptors, size_t n)
{
    struct clv_error err;
    double begin = bench_cpu();
    stop_on(words_find(word, codebook, CLV_WORD_SEARCH_GROUPS, descriptors, n, &err), &err);
    return (double)n / (bench_cpu() - begin);
}

/* What a search by groups wins over an exact one, and how many words are the same. */
static void compare_groups(const uint8_t *descriptors, size_t n)
{
    struct codebook_options options = {
        .n_words = N_WORDS, .n_iterations = 5, .seed = 1, .search = CLV_WORD_SEARCH_GROUPS};
    struct clv_codebook codebook = {0};
    struct clv_error err;
    struct bench_series exact = {0}, groups = {0};
    int32_t *nearest = malloc(n * sizeof *nearest), *found = malloc(n * sizeof *found);
    size_t n_equal = 0;
    stop_on(codebook_learn(&codebook, NULL, descriptors, n, &options, &err), &err);
    for (int round = 0; round < ROUNDS; round++) {
        bench_add(&exact, run_ours(words_best_level(), nearest, &codebook, descriptors, n));
        bench_add(&groups, run_groups(found, &codebook, descriptors, n));
    }
    for (size_t i = 0; i < n; i++)
        n_equal += nearest[i] == found[i];
    struct bench_summary ratio = bench_ratio(&groups, &exact);
    printf("words by groups: %.1fx exact (%.1f..%.1f), %.1f %% the same words, %d rounds\n", ratio.median, ratio.low,
           ratio.high, 100.0 * (double)n_equal / (double)n, ROUNDS);
    array_free(codebook.centres);
    free(nearest);
    free(found);
}

static double run_vlfeat(vl_uint32 *word, VlKMeans *kmeans, const float *descriptors, size_t n)
{
    double begin = bench_cpu();
    vl_kmeans_quantize(kmeans, word, NULL, descriptors, n);
    return (double)n / (bench_cpu() - begin);
}

static float *to_floats(const uint8_t *bytes, size_t n)
{
    float *values = malloc(n * sizeof *values);
    for (size_t k = 0; k < n; k++)
        values[k] = bytes[k];
    return values;
}

int main(void)
{
    const char *manifest = bench_data("words", "horses/manifest.tsv");
    if (!manifest)
        return 0;
    size_t n = 0, n_equal = 0;
    uint8_t *descriptors = load(&n, manifest);
    size_t n_theirs = n / VLFEAT_SHARE; /* theirs is slow: a part of the descriptors, spread over all, is enough */
    for (size_t i = 0; i < n_theirs; i++)
        memmove(descriptors + i * SIZE, descriptors + i * VLFEAT_SHARE * SIZE, SIZE);
    struct codebook_options options = {.n_words = N_WORDS, .n_iterations = 5, .seed = 1};
    struct clv_codebook codebook = {0};
    struct clv_error err;
    stop_on(codebook_learn(&codebook, NULL, descriptors, n, &options, &err), &err);

    float *x = to_floats(descriptors, n_theirs * SIZE), *centres = to_floats(codebook.centres, N_WORDS * SIZE);
    int32_t *ours = malloc(n * sizeof *ours);
    vl_uint32 *theirs = malloc(n_theirs * sizeof *theirs);
    vl_set_num_threads(1);
    VlKMeans *kmeans = vl_kmeans_new(VL_TYPE_FLOAT, VlDistanceL2);
    vl_kmeans_set_centers(kmeans, centres, SIZE, N_WORDS);

    struct bench_series speed[WORDS_LEVELS] = {0}, vlfeat = {0};
    int best = (int)words_best_level();
    for (int round = 0; round < ROUNDS; round++) {
        bench_add(&vlfeat, run_vlfeat(theirs, kmeans, x, n_theirs));
        for (int level = 0; level <= best; level++) {
            bench_add(&speed[level], run_ours((enum words_level)level, ours, &codebook, descriptors, n));
            for (size_t i = 0; i < n_theirs; i++)
                n_equal += ours[i] == (int32_t)theirs[i];
        }
    }
    static const char *const names[WORDS_LEVELS] = {"plain C", "AVX2", "AVX-512 VNNI"};
    struct bench_summary ratio = bench_ratio(&speed[best], &vlfeat);
    printf("words: %.1fx VLFeat (%.1f..%.1f), %.2f %% identical words;", ratio.median, ratio.low, ratio.high,
           100.0 * (double)n_equal / ((double)n_theirs * ROUNDS * (best + 1)));
    for (int level = best; level >= 0; level--)
        printf(" %s %.0f,", names[level], bench_summarise(speed[level]).median);
    printf(" VLFeat %.0f descriptors/s, %d words, %d rounds\n", bench_summarise(vlfeat).median, N_WORDS, ROUNDS);
    compare_groups(descriptors, n_theirs);
    vl_kmeans_delete(kmeans);
    array_free(codebook.centres);
    free(descriptors);
    free(centres);
    free(x);
    free(ours);
    free(theirs);
    return n_equal == n_theirs * ROUNDS * (size_t)(best + 1) ? 0 : 1;
}
