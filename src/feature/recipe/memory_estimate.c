/* Estimates the bytes of memory that extracting features takes, from the sizes of images and maps and from the
 * recipe. The constants at the top were measured. Start at memory_of_extraction. */
#include "feature/recipe/recipe.h"

#include <math.h>
#include <stdbool.h>

#include "base/base.h"
#include "base/memory.h"
#include "data/data.h"
#include "feature/blocks/blocks.h"

#define GIGABYTE 1e9

/* Bytes that extraction takes per pixel of the image as it is read, or of the working copy. */
#define DECODING    15  /* the image, a second one to turn it, coefficients of progressive JPEG */
#define IMAGE       3   /* what stays while it is worked on */
#define WORKING     110 /* colours, superpixels, sums of gradients, planes of blocks */
#define WORD        4   /* of each scale */
#define DESCRIPTOR  141 /* a cell's, with those beyond the border */
#define LIST        4   /* of pixels, of a patch's window; of wider ones where a block wants them */
#define ITEMS       8   /* that a thread's batch holds (extract.c) */
#define ITEM_EXCESS 2   /* superpixels may meet more words than squares do, and rows grow in steps */

/* Entries of a node's row that are not 0. */
static double entries_of_node(const struct clv_recipe *recipe, double pixels, double of_image)
{
    double n = 0;
    for (int b = 0; b < N_BLOCKS; b++)
        n += recipe->blocks & block_rows[b].flag ? block_rows[b].met(recipe, pixels, of_image) : 0;
    return fmin(n, clv_recipe_n_features(recipe));
}

static double bytes_of_image(const struct clv_recipe *recipe, double width, double height, int32_t n_labels)
{
    double pixels = working_count(recipe, width * height), shrink = sqrt(pixels / (width * height));
    double n_nodes = fmin(working_superpixels(recipe, pixels), pixels), edges_of_node = 3, of_node = pixels / n_nodes;
    if (recipe->nodes == CLV_NODES_PATCHES) {
        double step = recipe->patch_step_px, side = recipe->patch_px;
        n_nodes =
            fmax(1, floor((shrink * width - side) / step + 1)) * fmax(1, floor((shrink * height - side) / step + 1));
        edges_of_node = 2;
        of_node = side * side;
    }
    double entry = sizeof(float) + sizeof(int32_t), p = clv_recipe_n_edge_features(recipe);
    double node = sizeof(int64_t) + sizeof(float) + sizeof(int32_t) + (double)n_labels * sizeof(float);
    return n_nodes * (node + entry * entries_of_node(recipe, of_node, pixels) +
                      edges_of_node * (2 * sizeof(int32_t) + p * sizeof(float)));
}

double memory_of_image(const struct clv_recipe *recipe, int32_t width, int32_t height, int32_t n_labels)
{
    return bytes_of_image(recipe, width, height, n_labels);
}

enum clv_status dataset_check_memory(const struct clv_set *set, const struct clv_recipe *recipe,
                                     const struct clv_image_limits *limits, struct clv_error *err)
{
    double had = memory_available(), needed = 0;
    MUST(recipe_check(recipe, false, err));
    double side = sqrt((double)recipe->working_pixels);
    double most =
        recipe->scale > 0 ? INFINITY : (double)set->n_items * bytes_of_image(recipe, side, side, set->labels.n_labels);
    for (size_t i = 0; i < set->n_items && most > had; i++) { /* sizes are only looked at where they may matter */
        int32_t width, height;
        struct clv_error ignored; /* whoever reads the image will say */
        if (item_image_size(&width, &height, &set->items[i], limits, &ignored) == CLV_OK)
            needed += bytes_of_image(recipe, width, height, set->labels.n_labels);
    }
    if (needed <= had)
        return CLV_OK;
    return fail(
        err, CLV_ERR_MEMORY,
        "the features of %zu images need about %.3g GB of memory, %.3g GB can be had; fewer nodes, blocks or images "
        "need less, a feature file (cleave features) next to none",
        set->n_items, needed / GIGABYTE, had / GIGABYTE);
}

double memory_of_extraction(const struct clv_recipe *recipe, int32_t width, int32_t height, int32_t n_labels)
{
    double n = (double)width * height, working = working_count(recipe, n), step = recipe->step_px;
    double item = ITEM_EXCESS * memory_of_image(recipe, width, height, n_labels);
    double of_pixel = WORKING + WORD * recipe->n_scales + DESCRIPTOR / (step * step);
    if (recipe->blocks & CLV_BLOCK_FISHER)
        of_pixel +=
            (double)(recipe->n_scales * (MIXTURE_DIMENSIONS + MIXTURE_COMPONENTS)) * sizeof(float) / (step * step);
    if (recipe->nodes == CLV_NODES_PATCHES) {
        double windows = (double)recipe->patch_px / recipe->patch_step_px;
        bool has_wide = recipe->blocks & (CLV_BLOCK_SURROUND | CLV_BLOCK_SCENE);
        of_pixel += LIST * windows * windows * (has_wide ? 10 : 1); /* wide ones are three times as wide */
    }
    return fmax(DECODING * n, IMAGE * n + of_pixel * working + 2 * item) + ITEMS * item;
}

static enum clv_status refuse(const char *path, double needed, double had, struct clv_error *err)
{
    return fail(
        err, CLV_ERR_MEMORY,
        "%s: making its features may take %.3g GB of memory, %.3g GB can be had; fewer --working-pixels need less",
        path, needed / GIGABYTE, had / GIGABYTE);
}

/* With the item's maps. */
static double memory_of_item(const struct clv_recipe *recipe, const struct clv_set *set, const struct clv_item *item,
                             int32_t width, int32_t height, const struct clv_image_limits *limits)
{
    return memory_of_extraction(recipe, width, height, set->labels.n_labels) +
           item_maps_memory(recipe, set, item, limits);
}

enum clv_status memory_check_extraction(const struct clv_recipe *recipe, const struct clv_set *set,
                                        const struct clv_item *item, int32_t width, int32_t height,
                                        const struct clv_image_limits *limits, struct clv_error *err)
{
    double needed = memory_of_item(recipe, set, item, width, height, limits), had = memory_available();
    return needed <= had ? CLV_OK : refuse(item->image, needed, had, err);
}

enum clv_status memory_choose_threads(int *chosen, const struct clv_set *set, const struct clv_recipe *recipe,
                                      const struct clv_image_limits *limits, int n_threads, struct clv_error *err)
{
    double had = memory_available(), most = 0;
    const char *largest = NULL;
    n_threads = parallel_threads(n_threads);
    for (size_t i = 0; i < set->n_items; i++) {
        int32_t width, height;
        struct clv_error ignored; /* whoever reads the image will say */
        if (item_image_size(&width, &height, &set->items[i], limits, &ignored) != CLV_OK)
            continue;
        double needed = memory_of_item(recipe, set, &set->items[i], width, height, limits);
        if (needed > most) {
            most = needed;
            largest = set->items[i].image;
        }
    }
    if (most > had)
        return refuse(largest, most, had, err);
    *chosen = most * n_threads > had ? int32_within(had / most, 0, n_threads) : n_threads;
    return CLV_OK;
}
