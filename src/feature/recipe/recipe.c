#include <stdio.h>

#include "base/array.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "feature/blocks/blocks.h"
#include "feature/blocks/edges.h"
#include "feature/blocks/working.h"
#include "feature/recipe/plan.h"
#include "feature/words/codebook.h"

enum { SIZE = CLV_DESCRIPTOR_SIZE, KMEANS_ITERATIONS = 20 };

void clv_recipe_init(struct clv_recipe *recipe)
{
    *recipe = (struct clv_recipe){
        .working_pixels = 80000,
        .slic = {.n_superpixels = 600, .compactness = 10, .n_iterations = 10},
        .blocks = CLV_BLOCK_SUPERPIXELS,
        .n_scales = 4,
        .bin_size_px = {2, 4, 8, 16},
        .step_px = 3,
        .n_words = 500,
        .n_codebook_samples = 30000,
        .nodes = CLV_NODES_SUPERPIXELS,
        .patch_px = 20,
        .patch_step_px = 10,
    };
}

void clv_recipe_init_patches(struct clv_recipe *recipe)
{
    clv_recipe_init(recipe);
    recipe->nodes = CLV_NODES_PATCHES;
    recipe->blocks = CLV_BLOCK_PATCHES;
    recipe->n_scales = 2;
    recipe->bin_size_px[0] = 4;
    recipe->bin_size_px[1] = 10;
}

void clv_recipe_release(struct clv_recipe *recipe)
{
    for (int s = 0; s < CLV_MAX_SCALES; s++) {
        array_free(recipe->codebooks[s].centres);
        recipe->codebooks[s] = (struct clv_codebook){0};
    }
    array_free(recipe->kept);
    recipe->kept = NULL;
}

int has_words(const struct clv_recipe *recipe)
{
    return (recipe->blocks & (CLV_BLOCK_WORDS | CLV_BLOCK_WORD)) != 0;
}

static enum clv_status check_range(const char *name, int32_t value, int32_t low, int32_t high, struct clv_error *err)
{
    if (value < low || value > high)
        return fail(err, CLV_ERR_USAGE, "recipe: %s is %d, must be %d..%d", name, value, low, high);
    return CLV_OK;
}

enum clv_status recipe_check(const struct clv_recipe *recipe, int need_codebooks, struct clv_error *err)
{
    const struct {
        const char *name;
        int32_t value, low, high;
    } ranges[] = {
        {"working_pixels", recipe->working_pixels, 1, 64 << 20},
        {"n_superpixels", recipe->slic.n_superpixels, 1, 1 << 20},
        {"n_iterations", recipe->slic.n_iterations, 1, 100},
        {"blocks", recipe->blocks, 1, CLV_BLOCK_ALL},
        {"n_scales", recipe->n_scales, 1, CLV_MAX_SCALES},
        {"step_px", recipe->step_px, 1, 64},
        {"n_words", recipe->n_words, 1, 65536},
        {"n_codebook_samples", recipe->n_codebook_samples, 1, 10000000},
        {"nodes", recipe->nodes, CLV_NODES_SUPERPIXELS, CLV_NODES_PATCHES},
        {"patch_px", recipe->patch_px, 1, 1024},
        {"patch_step_px", recipe->patch_step_px, 1, 1024},
    };
    for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++) {
        enum clv_status status = check_range(ranges[k].name, ranges[k].value, ranges[k].low, ranges[k].high, err);
        if (status != CLV_OK)
            return status;
    }
    if (!(recipe->slic.compactness > 0 && recipe->slic.compactness <= 1e6f))
        return fail(err, CLV_ERR_USAGE, "recipe: compactness is %g, must be above 0, at most 1e6",
                    (double)recipe->slic.compactness);
    if (recipe->nodes != CLV_NODES_PATCHES && recipe->blocks & (CLV_BLOCK_SURROUND | CLV_BLOCK_SCENE))
        return fail(err, CLV_ERR_USAGE, "recipe: the blocks surround and scene are for patches");
    bool words[CLV_MAX_SCALES];
    needs_words(words, recipe);
    for (int32_t s = 0; s < recipe->n_scales; s++) {
        enum clv_status status = check_range("bin_size_px", recipe->bin_size_px[s], 1, CLV_MAX_BIN_PX, err);
        if (status != CLV_OK)
            return status;
        if (need_codebooks && has_words(recipe) && words[s] &&
            (!recipe->codebooks[s].centres || recipe->codebooks[s].n_words != recipe->n_words))
            return fail(err, CLV_ERR_USAGE, "recipe: the codebook of scale %d has not been learned", s);
    }
    return CLV_OK;
}

void layout_init(struct layout *layout, const struct clv_recipe *recipe)
{
    int32_t next = 0;
    for (int32_t s = 0; s < CLV_MAX_SCALES; s++) {
        int on = (recipe->blocks & CLV_BLOCK_WORDS) && s < recipe->n_scales;
        layout->words[s] = on ? next : -1;
        next += on ? recipe->n_words : 0;
    }
    const struct {
        int block;
        int32_t *start, size;
    } blocks[] = {
        {CLV_BLOCK_COLOUR, &layout->colour, colour_size()},
        {CLV_BLOCK_POSITION, &layout->position, position_size()},
        {CLV_BLOCK_SIZE, &layout->size, size_size()},
        {CLV_BLOCK_CONTRAST, &layout->contrast, contrast_size(recipe)},
        {CLV_BLOCK_SURROUND, &layout->surround, surround_size(recipe, 0)},
        {CLV_BLOCK_SCENE, &layout->scene, surround_size(recipe, recipe->n_scales - 1)},
        {CLV_BLOCK_RGB, &layout->rgb, rgb_size()},
        {CLV_BLOCK_WORD, &layout->word, recipe->n_scales * recipe->n_words},
    };
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) {
        int on = recipe->blocks & blocks[k].block;
        *blocks[k].start = on ? next : -1;
        next += on ? blocks[k].size : 0;
    }
    layout->n_features = next;
}

int32_t clv_recipe_n_features(const struct clv_recipe *recipe)
{
    struct layout layout;
    layout_init(&layout, recipe);
    return layout.n_features;
}

int32_t clv_recipe_n_edge_features(const struct clv_recipe *recipe)
{
    return edge_feature_count(recipe);
}

const char *clv_recipe_edge_feature_name(const struct clv_recipe *recipe, int32_t index)
{
    return edge_feature_name(recipe, index);
}

void clv_recipe_feature_name(char *name, size_t size, const struct clv_recipe *recipe, int32_t index)
{
    struct layout at;
    layout_init(&at, recipe);
    if (index < 0 || index >= at.n_features)
        snprintf(name, size, "no feature %d", index);
    else if (at.word >= 0 && index >= at.word)
        snprintf(name, size, "central word %d of scale %d", (index - at.word) % recipe->n_words,
                 (index - at.word) / recipe->n_words);
    else if (at.rgb >= 0 && index >= at.rgb)
        rgb_name(name, size, index - at.rgb);
    else if (at.scene >= 0 && index >= at.scene)
        surround_name(name, size, recipe, "scene", recipe->n_scales - 1, index - at.scene);
    else if (at.surround >= 0 && index >= at.surround)
        surround_name(name, size, recipe, "surround", 0, index - at.surround);
    else if (at.contrast >= 0 && index >= at.contrast)
        contrast_name(name, size, index - at.contrast);
    else if (at.size >= 0 && index >= at.size)
        size_name(name, size, index - at.size);
    else if (at.position >= 0 && index >= at.position)
        position_name(name, size, index - at.position);
    else if (at.colour >= 0 && index >= at.colour)
        colour_name(name, size, index - at.colour);
    else
        snprintf(name, size, "word %d of scale %d", index % recipe->n_words, index / recipe->n_words);
}

/* --- learning --- */

struct sampling {
    const struct clv_recipe *recipe;
    const char *const *paths;
    size_t n_paths;
    size_t per_image; /* samples of one scale from one image */
    uint8_t *samples; /* [n_scales][n_paths][per_image][128] */
    uint64_t seed;
    const struct clv_image_limits *limits;
    const struct clv_progress *progress;
};

static enum clv_status sample_scale(struct sampling *job, size_t index, int32_t scale,
                                    const struct sift_integral *integral, struct clv_error *err)
{
    const struct clv_recipe *recipe = job->recipe;
    struct sift_grid grid;
    enum clv_status status = sift_extract(&grid, integral, recipe->bin_size_px[scale], recipe->step_px, err);
    if (status != CLV_OK)
        return status;
    uint8_t *slot = job->samples + ((size_t)scale * job->n_paths + index) * job->per_image * SIZE;
    uint32_t n_cells = (uint32_t)(grid.n_columns * grid.n_rows);
    uint64_t stream = RNG_STREAM(RNG_CODEBOOK, index + 1);
    for (size_t k = 0; k < job->per_image; k++) {
        uint32_t cell = rng_below(job->seed, stream, (uint64_t)scale << 32 | k, n_cells);
        for (int v = 0; v < SIZE; v++)
            slot[k * SIZE + (size_t)v] = grid.values[(size_t)cell * SIZE + (size_t)v];
    }
    sift_grid_release(&grid);
    return CLV_OK;
}

static enum clv_status sample_image(void *context, size_t index, int thread, struct clv_error *err)
{
    (void)thread;
    struct sampling *job = context;
    if (stop_requested(job->progress))
        return fail(err, CLV_ERR_INTERRUPTED, "interrupted");
    struct clv_image image = {0}, working = {0};
    struct sift_integral integral = {0};
    enum clv_status status = clv_image_read(&image, job->paths[index], job->limits, err);
    if (status == CLV_OK)
        status = working_image(&working, &image, job->recipe->working_pixels, err);
    if (status == CLV_OK)
        status = sift_integral_init(&integral, working.pixels, working.width, working.height, job->recipe, err);
    for (int32_t s = 0; s < job->recipe->n_scales && status == CLV_OK; s++)
        status = sample_scale(job, index, s, &integral, err);
    sift_integral_release(&integral);
    clv_image_release(&working);
    clv_image_release(&image);
    return status;
}

enum clv_status clv_recipe_learn(struct clv_recipe *recipe, const char *const *image_paths, size_t n, uint64_t seed,
                                 int n_threads, const struct clv_image_limits *limits,
                                 const struct clv_progress *progress, struct clv_error *err)
{
    enum clv_status status = recipe_check(recipe, 0, err);
    if (status == CLV_OK && recipe->kept)
        status = fail(err, CLV_ERR_USAGE, "recipe: leaves features out, so its codebooks are learned already");
    if (status != CLV_OK || !has_words(recipe))
        return status;
    if (n == 0)
        return fail(err, CLV_ERR_USAGE, "recipe: no images to learn the codebooks from");
    struct sampling job = {.recipe = recipe,
                           .paths = image_paths,
                           .n_paths = n,
                           .per_image = ((size_t)recipe->n_codebook_samples + n - 1) / n,
                           .seed = seed,
                           .limits = limits,
                           .progress = progress};
    struct clv_codebook made[CLV_MAX_SCALES] = {0};
    size_t n_samples = n * job.per_image;
    job.samples = array_alloc((size_t)recipe->n_scales * n_samples, SIZE);
    if (!job.samples)
        return fail_memory(err);
    report_progress(progress, "sampling descriptors", 0, n, NULL);
    status = parallel_for(n, n_threads, sample_image, &job, err);
    for (int32_t s = 0; s < recipe->n_scales && status == CLV_OK; s++) {
        report_progress(progress, "learning words", (size_t)s, (size_t)recipe->n_scales, NULL);
        status =
            codebook_learn(&made[s], NULL, job.samples + (size_t)s * n_samples * SIZE, n_samples, recipe->n_words,
                           KMEANS_ITERATIONS, seed, RNG_STREAM(RNG_CODEBOOK, 0) + ((uint64_t)s << 56), progress, err);
    }
    if (status == CLV_OK)
        clv_recipe_release(recipe);
    for (int32_t s = 0; s < recipe->n_scales; s++)
        if (status == CLV_OK)
            recipe->codebooks[s] = made[s];
        else
            array_free(made[s].centres);
    array_free(job.samples);
    return status;
}
