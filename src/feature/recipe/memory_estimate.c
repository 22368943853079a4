#include "feature/recipe/memory_estimate.h"

#include <math.h>

#include "base/array.h"
#include "base/error.h"
#include "base/memory.h"
#include "feature/blocks/blocks.h"
#include "feature/blocks/contrast.h"
#include "feature/blocks/hog.h"
#include "feature/blocks/map_pool.h"
#include "feature/recipe/plan.h"
#include "feature/recipe/recipe.h"

#define GIGABYTE 1e9

enum { RGB_MET = 30, CHROMA_MET = 12, STATISTICS = 6, POSITION_MET = 4, SIZE = 2, BINS_MET = 2 };

/* Different words that a square window of that many pixels meets. */
static double words_met(const struct clv_recipe *recipe, double pixels)
{
    double cells = sqrt(pixels) / recipe->step_px + 1;
    return fmin(cells * cells, recipe->n_words);
}

/* Entries of a node's row that are not 0. */
static double entries_of_node(const struct clv_recipe *recipe, const struct plan *plan, double pixels, double of_image)
{
    const struct layout *at = &plan->at;
    double around = sqrt(pixels) + 2 * recipe->patch_px, n = 0, met = 0; /* met: bins of histograms */
    for (int32_t s = 0; s < recipe->n_scales; s++) {
        double in_windows = recipe->blocks & CLV_BLOCK_WORDS && plan->words[s] ? 1 : 0;
        met += at->words[s] >= 0 ? words_met(recipe, pixels) : 0;
        n += at->word >= 0 && plan->words[s] ? 1 : 0;
        met += at->surround >= 0 ? in_windows * words_met(recipe, fmin(around * around, of_image)) : 0;
        met += at->scene >= 0 && s == recipe->n_scales - 1 ? in_windows * words_met(recipe, of_image) : 0;
    }
    met += at->colour >= 0 ? RGB_MET + CHROMA_MET : 0;
    met += at->rgb >= 0 ? RGB_MET : 0;
    met += at->surround >= 0 ? 2 * CHROMA_MET : 0;
    met += at->scene >= 0 ? 4 * CHROMA_MET : 0;
    n += met * kernel_map_size(recipe);
    n += at->colour >= 0 ? STATISTICS : 0;
    n += at->hog >= 0 ? HOG_SIZE : 0;
    n += at->maps >= 0 ? maps_size(recipe) : 0;
    n += at->position >= 0 ? POSITION_MET : 0;
    n += at->size >= 0 ? SIZE : 0;
    n += at->contrast >= 0 ? BINS_MET * contrast_measures(recipe) : 0;
    return fmin(n, plan->n_columns);
}

static double bytes_of_image(const struct clv_recipe *recipe, const struct plan *plan, double width, double height,
                             int32_t n_labels)
{
    double pixels = fmin(width * height, recipe->working_pixels), shrink = sqrt(pixels / (width * height));
    double n_nodes = fmin(recipe->slic.n_superpixels, pixels), edges_of_node = 3, of_node = pixels / n_nodes;
    if (recipe->nodes == CLV_NODES_PATCHES) {
        double step = recipe->patch_step_px, side = recipe->patch_px;
        n_nodes =
            fmax(1, floor((shrink * width - side) / step + 1)) * fmax(1, floor((shrink * height - side) / step + 1));
        edges_of_node = 2;
        of_node = side * side;
    }
    double entry = sizeof(float) + sizeof(int32_t), p = clv_recipe_n_edge_features(recipe);
    double node = sizeof(int64_t) + sizeof(float) + sizeof(int32_t) + (double)n_labels * sizeof(float);
    return n_nodes * (node + entry * entries_of_node(recipe, plan, of_node, pixels) +
                      edges_of_node * (2 * sizeof(int32_t) + p * sizeof(float)));
}

double memory_of_image(const struct clv_recipe *recipe, int32_t width, int32_t height, int32_t n_labels)
{
    struct plan plan;
    double bytes = 0;
    if (plan_init(&plan, recipe, NULL) == CLV_OK)
        bytes = bytes_of_image(recipe, &plan, width, height, n_labels);
    plan_release(&plan);
    return bytes;
}

enum clv_status clv_dataset_check_memory(const struct clv_set *set, const struct clv_recipe *recipe,
                                         const struct clv_image_limits *limits, struct clv_error *err)
{
    double had = memory_available(), needed = 0;
    struct plan plan;
    enum clv_status status = recipe_check(recipe, false, err);
    if (status == CLV_OK)
        status = plan_init(&plan, recipe, err);
    if (status != CLV_OK)
        return status;
    double side = sqrt((double)recipe->working_pixels);
    double most = (double)set->n_items * bytes_of_image(recipe, &plan, side, side, set->labels.n_labels);
    for (size_t i = 0; i < set->n_items && most > had; i++) { /* sizes are only looked at where they may matter */
        int32_t width, height;
        struct clv_error ignored; /* whoever reads the image will say */
        if (clv_image_read_size(&width, &height, set->items[i].image, limits, &ignored) == CLV_OK)
            needed += bytes_of_image(recipe, &plan, width, height, set->labels.n_labels);
    }
    plan_release(&plan);
    if (needed <= had)
        return CLV_OK;
    return fail(
        err, CLV_ERR_MEMORY,
        "the features of %zu images need about %.3g GB of memory, %.3g GB can be had; fewer nodes, blocks or images "
        "need less, a feature file (cleave features) next to none",
        set->n_items, needed / GIGABYTE, had / GIGABYTE);
}
