/* Groups of features that are worth leaving out together. */
#include <stdio.h>

#include "base/error.h"
#include "feature/blocks/contrast.h"
#include "feature/blocks/edges.h"
#include "feature/blocks/fisher.h"
#include "feature/blocks/hog.h"
#include "feature/blocks/map_pool.h"
#include "feature/recipe/plan.h"

/* Beside the SIFT scales. Measures are bits, 0: the whole block or its chroma histogram. */
static const struct {
    const char *name;
    enum clv_blocks block;
    uint32_t measures;
} parts[] = {
    {"colour", CLV_BLOCK_COLOUR, 0},
    {"uniqueness", CLV_BLOCK_CONTRAST, CONTRAST_OF_PAIRS},
    {"geodesic", CLV_BLOCK_CONTRAST, 1u << CONTRAST_GEODESIC},
    {"gradient", CLV_BLOCK_CONTRAST, 1u << CONTRAST_GRADIENT},
    {"zones", CLV_BLOCK_CONTRAST, 1u << CONTRAST_COLOUR_CENTRE | 1u << CONTRAST_COLOUR_BORDER},
    {"surround", CLV_BLOCK_SURROUND, 0},
    {"scene", CLV_BLOCK_SCENE, 0},
    {"rgb", CLV_BLOCK_RGB, 0},
    {"hog", CLV_BLOCK_HOG, 0},
    {"maps", CLV_BLOCK_MAPS, 0},
    {"fisher", CLV_BLOCK_FISHER, 0},
};
#define N_PARTS (sizeof parts / sizeof *parts)

size_t clv_recipe_n_dear_groups(const struct clv_recipe *recipe)
{
    return has_words(recipe) ? (size_t)recipe->n_scales : 0;
}

size_t clv_recipe_n_groups(const struct clv_recipe *recipe)
{
    size_t n = clv_recipe_n_dear_groups(recipe);
    for (size_t i = 0; i < N_PARTS; i++)
        n += (recipe->blocks & (int32_t)parts[i].block) != 0;
    return n;
}

static void put(uint8_t *members, int32_t start, int32_t size)
{
    for (int32_t k = 0; start >= 0 && k < size; k++)
        members[start + k] = 1;
}

static void put_measures(uint8_t *members, const struct clv_recipe *recipe, int32_t start, uint32_t measures)
{
    int32_t n = contrast_measures(recipe), bins = contrast_size(recipe) / n;
    for (int32_t k = 0; start >= 0 && k < n; k++)
        if (measures >> k & 1)
            put(members, start + k * bins, bins);
}

/* All that looks at the words of a scale. */
static void put_scale(uint8_t *members, const struct clv_recipe *recipe, const struct layout *at, int32_t s)
{
    int32_t n = words_size(recipe), chroma = chroma_size(recipe), n_words = recipe->n_words;
    bool in_windows = recipe->blocks & CLV_BLOCK_WORDS;
    put(members, at->words[s], n);
    put(members, at->word >= 0 ? at->word + s * n_words : -1, n_words);
    put_measures(members, recipe, at->contrast, 3u << (CONTRAST_WORDS + 2 * s));
    put(members, in_windows && at->surround >= 0 ? at->surround + chroma + s * n : -1, n);
    put(members, in_windows && at->scene >= 0 && s == recipe->n_scales - 1 ? at->scene + chroma : -1, n);
    if (recipe->nodes == CLV_NODES_SUPERPIXELS)
        put(members, at->n_features + EDGE_TEXTURE, 1);
}

static void put_part(uint8_t *members, const struct clv_recipe *recipe, const struct layout *at, size_t part)
{
    if (parts[part].measures) {
        put_measures(members, recipe, at->contrast, parts[part].measures);
        return;
    }
    switch (parts[part].block) {
    case CLV_BLOCK_COLOUR: put(members, at->colour, colour_size(recipe)); break;
    case CLV_BLOCK_SURROUND: put(members, at->surround, chroma_size(recipe)); break;
    case CLV_BLOCK_SCENE: put(members, at->scene, chroma_size(recipe)); break;
    case CLV_BLOCK_FISHER: put(members, at->fisher, fisher_size(recipe)); break;
    case CLV_BLOCK_HOG: put(members, at->hog, HOG_SIZE); break;
    case CLV_BLOCK_MAPS:
        put(members, at->maps, maps_size(recipe));
        put(members, at->n_features + edge_feature_count(recipe) - map_edge_count(recipe), map_edge_count(recipe));
        break;
    default: put(members, at->rgb, rgb_size(recipe));
    }
}

void clv_recipe_group(char *name, size_t size, uint8_t *members, const struct clv_recipe *recipe, size_t index)
{
    struct layout at;
    layout_init(&at, recipe);
    for (int32_t k = 0; k < at.n_features + edge_feature_count(recipe); k++)
        members[k] = 0;
    if (index < clv_recipe_n_dear_groups(recipe)) {
        snprintf(name, size, "sift%d", recipe->bin_size_px[index]);
        put_scale(members, recipe, &at, (int32_t)index);
        return;
    }
    size_t left = index - clv_recipe_n_dear_groups(recipe), part = 0;
    while (!(recipe->blocks & (int32_t)parts[part].block) || left--)
        part++;
    snprintf(name, size, "%s", parts[part].name);
    put_part(members, recipe, &at, part);
}
