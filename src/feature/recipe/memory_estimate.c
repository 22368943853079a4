/* Estimates the bytes of memory that extracting features takes, from the sizes of images and maps and from the
 * recipe. The table is at the top. Start at memory_of_features. */
#include "feature/recipe/recipe.h"

#include <math.h>
#include <stdio.h>

#include "base/base.h"
#include "base/memory.h"
#include "data/data.h"
#include "feature/blocks/blocks.h"

/* The table: maximum bytes per pixel, of the image at its full size for DECODING and IMAGE, else of the working copy.
 * The sizes are those of the arrays (most are in blocks/views.c); RUNS, SLACK, FIXED and GROWTH were measured on
 * photographs of 120x90 to 2600x2000 pixels. tests/feature/recipe/test_memory_estimate.c tests how close the sums
 * are. */
#define DECODING      15  /* the image, a second one to rotate it, coefficients of progressive JPEG */
#define IMAGE         3   /* the image after decoding */
#define COPY          7   /* the working copy, and the node of each of its pixels */
#define RUNS          26  /* during SLIC: tiles of colours, labels, runs of pixels */
#define SCENE         26  /* Lab, grey, lists of pixels, and the part of RUNS that remains */
#define WORD          4   /* per scale: the word of a pixel */
#define ZONES         9   /* during the measures of contrast */
#define PLANES        20  /* during gradient histograms (HOG) */
#define LIST          4   /* per pixel of each patch's window */
#define SUMS          32  /* per pixel of the same cells, and beyond their border: sums of gradients */
#define CELL          4   /* per cell of a strip, or of the image with Fisher vectors: its word .. */
#define DESCRIPTOR    128 /* .. and its descriptor */
#define FISHER_CELL   ((MIXTURE_DIMENSIONS + MIXTURE_COMPONENTS) * sizeof(float)) /* per scale */
#define VLFEAT_PLANES 44   /* with VLFeat's SIFT, instead of SUMS .. */
#define VLFEAT_CELL   676  /* .. and instead of CELL and DESCRIPTOR */
#define NODE          300  /* per node: its means, sums of pairs, contrasts */
#define GROWTH        2    /* factor: rows of features are copied when they grow */
#define SLACK         1.15 /* factor: memory that the allocator keeps */
#define FIXED         2e6
#define ITEMS         8 /* items per thread in a batch (dataset/extract.c) */

/* Returns about how many entries of a node's row are not 0. */
static double entries_of_node(const struct clv_recipe *recipe, double pixels, double of_image)
{
    double n = 0;
    for (int b = 0; b < N_BLOCKS; b++)
        n += recipe->blocks & block_rows[b].flag ? block_rows[b].met(recipe, pixels, of_image) : 0;
    return fmin(n, clv_recipe_n_features(recipe));
}

/* The working copy of an image. */
struct working {
    double width, height, n, n_nodes, n_edges;
    double of_node; /* pixels */
};

static struct working working_of(const struct clv_recipe *recipe, double width, double height)
{
    double n = working_count(recipe, width * height), shrink = sqrt(n / (width * height));
    struct working result = {.width = shrink * width, .height = shrink * height, .n = n};
    if (recipe->nodes == CLV_NODES_PATCHES) {
        double step = recipe->patch_step_px, side = recipe->patch_px;
        result.n_nodes =
            fmax(1, floor((result.width - side) / step + 1)) * fmax(1, floor((result.height - side) / step + 1));
        result.n_edges = 2 * result.n_nodes;
        result.of_node = side * side;
    } else {
        result.n_nodes = fmin(working_superpixels(recipe, n), n);
        result.n_edges = 3 * result.n_nodes;
        result.of_node = n / result.n_nodes;
    }
    return result;
}

double memory_of_image(const struct clv_recipe *recipe, double width, double height, int32_t n_labels)
{
    const struct working working = working_of(recipe, width, height);
    double entry = sizeof(float) + sizeof(int32_t), p = clv_recipe_n_edge_features(recipe);
    double node = sizeof(int64_t) + sizeof(float) + sizeof(int32_t) + (double)n_labels * sizeof(float);
    return working.n_nodes * (node + entry * entries_of_node(recipe, working.of_node, working.n)) +
           working.n_edges * (2 * sizeof(int32_t) + p * sizeof(float));
}

void memory_count_nodes(double *n_nodes, double *n_edges, const struct clv_recipe *recipe, int32_t width,
                        int32_t height)
{
    const struct working working = working_of(recipe, width, height);
    *n_nodes = working.n_nodes;
    *n_edges = working.n_edges;
}

enum clv_status dataset_check_memory(const struct clv_set *set, const struct clv_recipe *recipe,
                                     const struct clv_image_limits *limits, struct clv_error *err)
{
    double had = memory_available(), needed = 0;
    MUST(recipe_check(recipe, false, err));
    double side = sqrt((double)recipe->working_pixels);
    double most =
        recipe->scale > 0 ? INFINITY : (double)set->n_items * memory_of_image(recipe, side, side, set->labels.n_labels);
    for (size_t i = 0; i < set->n_items && most > had; i++) { /* sizes are only read if they can matter */
        int32_t width, height;
        struct clv_error ignored; /* reported when the image is read */
        if (item_image_size(&width, &height, &set->items[i], limits, &ignored) == CLV_OK)
            needed += memory_of_image(recipe, width, height, set->labels.n_labels);
    }
    char what[64];
    snprintf(what, sizeof what, "the features of %zu images", set->n_items);
    return memory_require_of(had, needed, what,
                             "fewer nodes, blocks or images need less, a feature file (cleave features) next to none",
                             err);
}

double memory_of_decoding(double n_pixels, double file_size)
{
    return DECODING * n_pixels + file_size;
}

/* Returns the bytes that computing SIFT descriptors takes, and words if the recipe has them. */
static double bytes_of_sift(const struct clv_recipe *recipe, double width, double height)
{
    double cells = ceil(width / recipe->step_px) * ceil(height / recipe->step_px);
    double beyond = 2 * sift_margin(recipe) + recipe->step_px;
    double described = recipe->blocks & CLV_BLOCK_FISHER ? cells : fmin(cells, SIFT_STRIP_CELLS + width);
    double rows = fmin(height, recipe->step_px * ceil(described / ceil(width / recipe->step_px)));
    return recipe->sift == CLV_SIFT_CLEAVE ? SUMS * (width + beyond) * (rows + beyond) + (CELL + DESCRIPTOR) * described
                                           : VLFEAT_PLANES * width * height + VLFEAT_CELL * cells;
}

/* Returns the bytes per working pixel of the lists of pixels of windows: of patches, of their surroundings, which are
 * three times as wide, and of the whole image. */
static double bytes_of_windows(const struct clv_recipe *recipe)
{
    double across = (double)recipe->patch_px / recipe->patch_step_px;
    if (recipe->nodes != CLV_NODES_PATCHES)
        return 0;
    return LIST * (across * across * (recipe->blocks & CLV_BLOCK_SURROUND ? 10 : 1) +
                   (recipe->blocks & CLV_BLOCK_SCENE ? 1 : 0));
}

/* Returns the bytes of the arrays that the blocks read, for an image or tile of width x height working pixels. */
static double bytes_of_views(const struct clv_recipe *recipe, double width, double height)
{
    double n = width * height, cells = ceil(width / recipe->step_px) * ceil(height / recipe->step_px);
    double kept = (SCENE + bytes_of_windows(recipe) + (has_words(recipe) ? WORD * recipe->n_scales : 0)) * n;
    double briefly = recipe->blocks & CLV_BLOCK_HOG ? PLANES * n : recipe->blocks & CLV_BLOCK_CONTRAST ? ZONES * n : 0;
    if (has_words(recipe) || recipe->blocks & CLV_BLOCK_FISHER)
        briefly = fmax(briefly, bytes_of_sift(recipe, width, height));
    if (recipe->blocks & CLV_BLOCK_FISHER)
        kept += (double)(FISHER_CELL * (size_t)recipe->n_scales) * cells;
    return fmax(RUNS * n, kept + briefly);
}

double memory_of_example(const struct clv_recipe *recipe, int32_t width, int32_t height, int32_t n_labels)
{
    return COPY * working_count(recipe, (double)width * height) + memory_of_image(recipe, width, height, n_labels);
}

double memory_of_features(const struct clv_recipe *recipe, int32_t width, int32_t height, int32_t n_labels)
{
    const struct working working = working_of(recipe, width, height);
    double seen = recipe->scale > 0 ? (double)recipe->tile_px + 2 * recipe->halo_px : INFINITY;
    double seen_width = fmin(working.width, seen), seen_height = fmin(working.height, seen);
    double of_tile = recipe->scale > 0 ? COPY * seen_width * seen_height : 0;
    return FIXED + SLACK * (memory_of_example(recipe, width, height, n_labels) + of_tile +
                            bytes_of_views(recipe, seen_width, seen_height) + NODE * working.n_nodes +
                            GROWTH * memory_of_image(recipe, width, height, n_labels));
}

double memory_of_extraction(const struct clv_recipe *recipe, int32_t width, int32_t height, int32_t n_labels)
{
    double n = (double)width * height;
    return fmax(memory_of_decoding(n, 0), IMAGE * n + memory_of_features(recipe, width, height, n_labels)) +
           ITEMS * memory_of_image(recipe, width, height, n_labels);
}

static enum clv_status require_memory(double had, double needed, const char *path, struct clv_error *err)
{
    enum clv_status status =
        memory_require_of(had, needed, "making its features", "fewer --working-pixels need less", err);
    return status ? fail_within(err, status, path) : CLV_OK;
}

/* Returns the bytes for the features of an item and for its maps. */
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
    return require_memory(memory_available(), memory_of_item(recipe, set, item, width, height, limits), item->image,
                          err);
}

enum clv_status memory_choose_threads(int *chosen, const struct clv_set *set, const struct clv_recipe *recipe,
                                      const struct clv_image_limits *limits, int n_threads, struct clv_error *err)
{
    double had = memory_available(), most = 0;
    const char *largest = NULL;
    n_threads = parallel_threads(n_threads);
    for (size_t i = 0; i < set->n_items; i++) {
        int32_t width, height;
        struct clv_error ignored; /* reported when the image is read */
        if (item_image_size(&width, &height, &set->items[i], limits, &ignored) != CLV_OK)
            continue;
        double needed = memory_of_item(recipe, set, &set->items[i], width, height, limits);
        if (needed > most) {
            most = needed;
            largest = set->items[i].image;
        }
    }
    MUST(require_memory(had, most, largest, err));
    *chosen = most * n_threads > had ? int32_within(had / most, 0, n_threads) : n_threads;
    return CLV_OK;
}
