/* Learns the codebooks and mixtures of a recipe, one per scale, from descriptors that are sampled evenly from all
 * images; at a fixed scale also the unit of colour differences (contrast_scale). Start at learn_recipe. */
#include "feature/recipe/recipe.h"

#include "base/base.h"
#include "cluster/comm_for.h"
#include "data/data.h"
#include "feature/blocks/blocks.h"
#include "feature/words/words.h"

enum { SIZE = CLV_DESCRIPTOR_SIZE, KMEANS_ITERATIONS = 20 };

struct sampling_state {
    const struct clv_recipe *recipe;
    const struct clv_item *items; /* [n_images] images to read */
    size_t n_images;
    size_t per_image;      /* samples per scale and image */
    uint8_t *samples;      /* [n_scales][n_images][per_image][128] */
    double (*contrast)[2]; /* [n_images], at a fixed scale: edges between superpixels, sum of their edge_contrast */
    struct clv_codebook learned[CLV_MAX_SCALES];
    float *mixtures[CLV_MAX_SCALES];
    uint64_t seed;
    const struct clv_image_limits *limits;
    const struct clv_progress *progress;
};

static enum clv_status sample_scale(struct sampling_state *job, size_t index, int32_t scale,
                                    const struct sift_image *sift, struct clv_error *err)
{
    const struct clv_recipe *recipe = job->recipe;
    OWNED_ARRAY uint32_t *cells = array_alloc(job->per_image, sizeof *cells);
    NEED(cells);
    uint32_t n_cells = (uint32_t)sift_image_n_cells(sift, recipe->step_px);
    uint64_t stream = RNG_STREAM(RNG_CODEBOOK, index + 1);
    for (size_t k = 0; k < job->per_image; k++)
        cells[k] = rng_below(job->seed, stream, (uint64_t)scale << 32 | k, n_cells);
    uint8_t *slot = job->samples + ((size_t)scale * job->n_images + index) * job->per_image * SIZE;
    return sift_image_sample(slot, sift, recipe->bin_size_px[scale], recipe->step_px, cells, job->per_image, err);
}

static bool has_descriptors(const struct clv_recipe *recipe)
{
    return has_words(recipe) || recipe->blocks & CLV_BLOCK_FISHER;
}

static enum clv_status sample_descriptors(struct sampling_state *job, size_t index, const struct clv_image *working,
                                          struct clv_error *err)
{
    OWNED(sift_image_release) struct sift_image sift = {0};
    MUST(sift_image_init(&sift, working->pixels, working->width, working->height, job->recipe, err));
    for (int32_t s = 0; s < job->recipe->n_scales; s++)
        MUST(sample_scale(job, index, s, &sift, err));
    return CLV_OK;
}

static enum clv_status measure_contrast(double contrast[2], const struct clv_image *working,
                                        const struct clv_recipe *recipe, struct clv_error *err)
{
    OWNED(clv_superpixels_release) struct clv_superpixels superpixels = {0};
    OWNED(clv_adjacency_release) struct clv_adjacency adjacency = {0};
    OWNED(scene_release) struct scene scene = {0};
    struct clv_slic_options options = recipe->slic;
    options.n_superpixels = working_superpixels(recipe, (double)working->width * working->height);
    MUST(clv_slic(&superpixels, working, &options, err));
    MUST(clv_adjacency_build(&adjacency, &superpixels, err));
    MUST(scene_init(&scene, working, &superpixels, err));
    contrast[0] = adjacency.n_edges;
    contrast[1] = edge_contrast(&adjacency, scene.regions);
    return CLV_OK;
}

static enum clv_status sample_image(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    struct sampling_state *job = context;
    FAIL_IF(stop_requested(job->progress), CLV_ERR_INTERRUPTED, "interrupted");
    OWNED(clv_image_release) struct clv_image read = {0}, working = {0};
    MUST(item_image_read(&read, &job->items[index], job->limits, err));
    MUST(working_image_of(&working, &read, job->recipe, err));
    if (has_descriptors(job->recipe))
        MUST(sample_descriptors(job, index, &working, err));
    if (job->contrast)
        MUST(measure_contrast(job->contrast[index], &working, job->recipe, err));
    return CLV_OK;
}

static bool samples_slot(struct comm_piece *piece, void *context, size_t index, size_t scale)
{
    struct sampling_state *job = context;
    size_t size = job->per_image * SIZE;
    size_t n_scales = has_descriptors(job->recipe) ? (size_t)job->recipe->n_scales : 0;
    bool has_contrast = job->contrast && scale == n_scales;
    *piece = has_contrast ? (struct comm_piece){job->contrast[index], sizeof *job->contrast}
                          : (struct comm_piece){job->samples + (scale * job->n_images + index) * size, size};
    return has_contrast || scale < n_scales;
}

static enum clv_status learn_words(void *context, size_t scale, int thread, struct clv_error *err)
{
    (void)thread;
    struct sampling_state *job = context;
    const struct clv_recipe *recipe = job->recipe;
    size_t n_samples = job->n_images * job->per_image;
    const struct codebook_options options = {.n_words = recipe->n_words,
                                             .n_iterations = KMEANS_ITERATIONS,
                                             .kmeans = recipe->kmeans,
                                             .search = recipe->word_search,
                                             .seed = job->seed,
                                             .stream = RNG_STREAM(RNG_CODEBOOK, 0) + ((uint64_t)scale << 56),
                                             .progress = job->progress};
    report_progress(job->progress, "learning words", scale, (size_t)recipe->n_scales, NULL);
    return codebook_learn(&job->learned[scale], NULL, job->samples + scale * n_samples * SIZE, n_samples, &options,
                          err);
}

static bool words_slot(struct comm_piece *piece, void *context, size_t scale, size_t k)
{
    struct sampling_state *job = context;
    *piece = (struct comm_piece){job->learned[scale].centres, (size_t)job->recipe->n_words * SIZE};
    return k == 0;
}

/* Learns the codebooks one after the other; several processes learn them in parallel. */
static enum clv_status learn_codebooks(struct sampling_state *job, struct clv_error *err)
{
    const struct clv_recipe *recipe = job->recipe;
    for (int32_t s = 0; s < recipe->n_scales; s++) {
        job->learned[s] = (struct clv_codebook){recipe->n_words, array_alloc((size_t)recipe->n_words, SIZE)};
        NEED(job->learned[s].centres);
    }
    return comm_for((size_t)recipe->n_scales, 1, learn_words, words_slot, job, err);
}

/* Learns the mixtures. Every process computes all of them, with the same result. */
static enum clv_status learn_mixtures(struct sampling_state *job, struct clv_error *err)
{
    size_t n = job->n_images * job->per_image;
    for (int32_t s = 0; s < job->recipe->n_scales; s++) {
        const struct codebook_options options = {
            .seed = job->seed, .stream = RNG_STREAM(RNG_MIXTURE, s), .progress = job->progress};
        MUST(mixture_learn(&job->mixtures[s], job->samples + (size_t)s * n * SIZE, n, &options, err));
    }
    return CLV_OK;
}

/* Returns the factor of squared colour distances (contrast_scale in edges.c) over the edges of all images, or 1 if all
 * images have only one colour. */
static float mean_contrast_scale(const struct sampling_state *job)
{
    double n = 0, sum = 0;
    for (size_t i = 0; i < job->n_images; i++) {
        n += job->contrast[i][0];
        sum += job->contrast[i][1];
    }
    return sum > 0 ? (float)(n / (2 * sum)) : 1;
}

static void sampling_release(struct sampling_state *job)
{
    for (int32_t s = 0; s < CLV_MAX_SCALES; s++)
        arrays_free(job->learned[s].centres, job->mixtures[s]);
    arrays_free(job->contrast, job->samples);
}

/* Moves the learned codebooks and mixtures to the recipe, whose earlier ones are freed, and sets contrast_scale. */
static void take_learned(struct clv_recipe *recipe, struct sampling_state *job)
{
    for (int32_t s = 0; s < CLV_MAX_SCALES; s++) {
        arrays_free(recipe->codebooks[s].centres, recipe->mixtures[s]);
        recipe->codebooks[s] = TAKE(job->learned[s]);
        recipe->mixtures[s] = TAKE(job->mixtures[s]);
    }
    if (job->contrast)
        recipe->contrast_scale = mean_contrast_scale(job);
}

/* `source` has the images, the seed, the limits and the progress; the other members are set here. */
static enum clv_status learn_recipe(struct clv_recipe *recipe, const struct sampling_state *source, int n_threads,
                                    struct clv_error *err)
{
    MUST(recipe_check(recipe, false, err));
    if (!has_descriptors(recipe) && !(recipe->scale > 0))
        return CLV_OK;
    size_t n = source->n_images;
    FAIL_IF(n == 0, CLV_ERR_USAGE, "recipe: no images to learn the codebooks from");
    OWNED(sampling_release) struct sampling_state job = *source;
    job.recipe = recipe;
    job.per_image = ((size_t)recipe->n_codebook_samples + n - 1) / n;
    size_t n_samples = n * job.per_image;
    job.samples = array_alloc((size_t)recipe->n_scales * n_samples, SIZE);
    job.contrast = recipe->scale > 0 ? array_zalloc(n, sizeof *job.contrast) : NULL;
    NEED(job.samples && (job.contrast || !(recipe->scale > 0)));
    report_progress(job.progress, "sampling descriptors", 0, n, NULL);
    MUST(comm_for(n, n_threads, sample_image, samples_slot, &job, err));
    if (has_words(recipe))
        MUST(learn_codebooks(&job, err));
    if (recipe->blocks & CLV_BLOCK_FISHER)
        MUST(learn_mixtures(&job, err));
    take_learned(recipe, &job);
    return CLV_OK;
}

enum clv_status clv_recipe_learn(struct clv_recipe *recipe, const char *const *image_paths, size_t n, uint64_t seed,
                                 int n_threads, const struct clv_image_limits *limits,
                                 const struct clv_progress *progress, struct clv_error *err)
{
    OWNED_ARRAY struct clv_item *items = array_zalloc(n, sizeof *items);
    NEED(items);
    for (size_t i = 0; i < n; i++)
        items[i].image = (char *)(uintptr_t)image_paths[i]; /* a view */
    const struct sampling_state job = {
        .items = items, .n_images = n, .seed = seed, .limits = limits, .progress = progress};
    return learn_recipe(recipe, &job, n_threads, err);
}

enum clv_status recipe_learn_set(struct clv_recipe *recipe, const struct clv_set *set, uint64_t seed, int n_threads,
                                 const struct clv_image_limits *limits, const struct clv_progress *progress,
                                 struct clv_error *err)
{
    const struct sampling_state job = {
        .items = set->items, .n_images = set->n_items, .seed = seed, .limits = limits, .progress = progress};
    return learn_recipe(recipe, &job, n_threads, err);
}
