/* Sets the defaults of recipes and checks their values: recipe_check refuses values that are out of range or do not
 * fit together, for training (need_codebooks false) or for use. Start at recipe_check. */
#include "feature/recipe/recipe.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "feature/blocks/blocks.h"

void clv_recipe_init(struct clv_recipe *recipe)
{
    *recipe = (struct clv_recipe){
        .working_pixels = 80000,
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
    clv_slic_defaults(&recipe->slic);
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

void clv_recipe_fix_scale(struct clv_recipe *recipe, float scale)
{
    recipe->scale = scale;
    recipe->region_area = recipe->region_area ? recipe->region_area : 100;
    recipe->tile_px = recipe->tile_px ? recipe->tile_px : 1024;
    recipe->halo_px = 64;
    recipe->blocks = CLV_BLOCK_FIXED;
}

void clv_recipe_release(struct clv_recipe *recipe)
{
    for (int s = 0; s < CLV_MAX_SCALES; s++) {
        array_free(recipe->codebooks[s].centres);
        recipe->codebooks[s] = (struct clv_codebook){0};
        array_free(recipe->mixtures[s]);
        recipe->mixtures[s] = NULL;
    }
    for (int m = 0; m < CLV_MAX_MAPS; m++) {
        arrays_free(recipe->maps[m].standard, recipe->maps[m].components, recipe->maps[m].usual);
        recipe->maps[m] = (struct clv_recipe_map){0};
    }
    recipe->n_maps = 0;
}

void recipe_limits(struct clv_image_limits *limits, const struct clv_recipe *recipe)
{
    if (recipe->bands.n_bands)
        limits->bands = &recipe->bands;
    if (limits->grey16_high > 0)
        return;
    limits->grey16_low = recipe->grey16_low;
    limits->grey16_high = recipe->grey16_high;
}

void recipe_take_range(struct clv_recipe *recipe, const struct clv_image_limits *limits)
{
    if (limits->grey16_high <= 0)
        return;
    recipe->grey16_low = limits->grey16_low;
    recipe->grey16_high = limits->grey16_high;
}

static enum clv_status check_range(const char *name, int32_t value, int32_t low, int32_t high, struct clv_error *err)
{
    FAIL_IF(value < low || value > high, CLV_ERR_USAGE, "recipe: %s is %d, must be %d..%d", name, value, low, high);
    return CLV_OK;
}

static enum clv_status check_maps(const struct clv_recipe *recipe, struct clv_error *err)
{
    FAIL_IF((recipe->n_maps > 0) != ((recipe->blocks & CLV_BLOCK_MAPS) > 0), CLV_ERR_USAGE,
            "recipe: the block maps goes with maps, and maps go with the block");
    FAIL_IF(recipe->n_maps && !(recipe->map_pool & CLV_MAP_MEAN), CLV_ERR_USAGE,
            "recipe: map_pool is %d, must hold the mean", recipe->map_pool);
    for (int32_t m = 0; m < recipe->n_maps; m++) {
        const struct clv_recipe_map *map = &recipe->maps[m];
        FAIL_IF(!map->name[0] || !memchr(map->name, 0, sizeof map->name), CLV_ERR_USAGE,
                "recipe: a map without a name");
        MUST(check_range("a map's kind", map->kind, CLV_MAP_GUESS, CLV_MAP_FEATURES, err));
        MUST(check_range("a map's layout", map->layout, CLV_MAP_LAYOUT_AUTO, CLV_MAP_LAYOUT_BANDS, err));
        MUST(check_range("n_channels of a map", map->n_channels, 0, CLV_MAX_MAP_CHANNELS, err));
        MUST(check_range("n_components of a map", map->n_components, 0, CLV_MAX_PCA_CHANNELS, err));
        MUST(check_range("is_whitened of a map", map->is_whitened, 0, 1, err));
        MUST(check_range("n_groups of a map", map->n_groups, 0, INT32_MAX, err));
        MUST(check_range("use of a map", map->use, CLV_MAP_USE_AUTO, CLV_MAP_USE_IGNORED, err));
    }
    return CLV_OK;
}

static enum clv_status check_scale(const struct clv_recipe *recipe, bool need_learned, struct clv_error *err)
{
    bool is_fixed = recipe->scale != 0;
    const struct block *global = block_that_is(recipe->blocks, WHOLE_IMAGE);
    FAIL_IF(is_fixed && !(recipe->scale >= 1 && recipe->scale <= 64), CLV_ERR_USAGE,
            "recipe: scale is %g, must be 1..64, or 0 for none", (double)recipe->scale);
    MUST(check_range("region_area", recipe->region_area, is_fixed ? 4 : 0, is_fixed ? 1 << 20 : 0, err));
    MUST(check_range("tile_px", recipe->tile_px, is_fixed ? 64 : 0, is_fixed ? 8192 : 0, err));
    MUST(check_range("halo_px", recipe->halo_px, 0, is_fixed ? recipe->tile_px : 0, err));
    if (!is_fixed)
        return CLV_OK;
    FAIL_IF(recipe->nodes != CLV_NODES_SUPERPIXELS, CLV_ERR_USAGE,
            "recipe: a fixed scale is for superpixels, not for patches of a grid");
    FAIL_IF(global, CLV_ERR_USAGE, "recipe: the block %s looks at the whole image, which a fixed scale cannot",
            global->name);
    FAIL_IF(need_learned && !(recipe->contrast_scale > 0), CLV_ERR_USAGE,
            "recipe: the scale of colour contrasts has not been learned");
    return CLV_OK;
}

enum clv_status recipe_check(const struct clv_recipe *recipe, bool need_codebooks, struct clv_error *err)
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
        {"sift", recipe->sift, CLV_SIFT_CLEAVE, CLV_SIFT_VLFEAT},
        {"kmeans", recipe->kmeans, CLV_KMEANS_CLEAVE, CLV_KMEANS_VLFEAT},
        {"word_search", recipe->word_search, CLV_WORD_SEARCH_EXACT, CLV_WORD_SEARCH_GROUPS},
        {"kernel_map", recipe->kernel_map, CLV_KERNEL_MAP_NONE, CLV_KERNEL_MAP_INTERSECTION},
        {"n_maps", recipe->n_maps, 0, CLV_MAX_MAPS},
        {"map_pool", recipe->map_pool, 0, CLV_MAP_MEAN | CLV_MAP_MAX | CLV_MAP_DEVIATION},
        {"window", recipe->window, 0, CLV_MAX_WINDOW},
        {"grey16_low", recipe->grey16_low, 0, 65534},
        {"grey16_high", recipe->grey16_high, recipe->grey16_low + (recipe->grey16_low > 0), 65535},
    };
    for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++)
        MUST(check_range(ranges[k].name, ranges[k].value, ranges[k].low, ranges[k].high, err));
    MUST(check_maps(recipe, err));
    MUST(check_scale(recipe, need_codebooks, err));
    FAIL_IF(!(recipe->slic.compactness > 0 && recipe->slic.compactness <= 1e6f), CLV_ERR_USAGE,
            "recipe: compactness is %g, must be above 0, at most 1e6", (double)recipe->slic.compactness);
    if (recipe->window && (recipe->window < 2 || recipe->nodes != CLV_NODES_SUPERPIXELS || recipe->n_maps))
        return fail(err, CLV_ERR_USAGE,
                    "recipe: windows of slices are of two or more, of superpixels and without maps");
    const struct block *of_patches = block_that_is(recipe->blocks, PATCHES_ONLY);
    FAIL_IF(of_patches && recipe->nodes != CLV_NODES_PATCHES, CLV_ERR_USAGE, "recipe: the block %s is for patches",
            of_patches->name);
    FAIL_IF(recipe->word_search == CLV_WORD_SEARCH_GROUPS && recipe->n_words > CLV_MAX_GROUPED_WORDS, CLV_ERR_USAGE,
            "recipe: %d words cannot be found by groups, at most %d can", recipe->n_words, CLV_MAX_GROUPED_WORDS);
    for (int32_t s = 0; s < recipe->n_scales; s++) {
        MUST(check_range("bin_size_px", recipe->bin_size_px[s], 1, CLV_MAX_BIN_PX, err));
        if (need_codebooks && has_words(recipe) &&
            (!recipe->codebooks[s].centres || recipe->codebooks[s].n_words != recipe->n_words))
            return fail(err, CLV_ERR_USAGE, "recipe: the codebook of scale %d has not been learned", s);
        if (need_codebooks && recipe->blocks & CLV_BLOCK_FISHER && !recipe->mixtures[s])
            return fail(err, CLV_ERR_USAGE, "recipe: the mixture of scale %d has not been learned", s);
    }
    return CLV_OK;
}

struct clv_recipe recipe_of_nodes(const struct clv_recipe *recipe)
{
    struct clv_recipe nodes = *recipe;
    nodes.n_maps = 0;
    nodes.blocks = CLV_BLOCK_SIZE;
    return nodes;
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

const char *recipe_edge_feature_name(const struct clv_recipe *recipe, int32_t index)
{
    return edge_feature_name(recipe, index);
}

void recipe_feature_name(char *name, size_t size, const struct clv_recipe *recipe, int32_t index)
{
    struct layout at;
    layout_init(&at, recipe);
    if (index < 0 || index >= at.n_features)
        snprintf(name, size, "no feature %d", index);
    else if (index >= at.n_own)
        recipe_feature_name(name + snprintf(name, size, "next slices: "), size - sizeof "next slices:", recipe,
                            index - at.n_own);
    else {
        int b = N_BLOCKS - 1;
        while (at.start[b] < 0 || at.start[b] > index)
            b--;
        block_rows[b].feature_name(name, size, recipe, index - at.start[b]);
    }
}
