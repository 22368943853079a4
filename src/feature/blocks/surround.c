/* Computes the feature blocks surround and scene: histograms of colours and visual words, of a patch with its
 * surroundings and of the whole image. Start at fill_window. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "feature/blocks/blocks.h"

static int32_t scales_from(const struct clv_recipe *recipe, int32_t first_scale)
{
    return recipe->blocks & CLV_BLOCK_WORDS ? recipe->n_scales - first_scale : 0;
}

static int32_t size_from(const struct clv_recipe *recipe, int32_t first_scale)
{
    return chroma_size(recipe) + scales_from(recipe, first_scale) * words_of_scale(recipe);
}

/* Fills a row with the histograms of one window: its colours, and its words at scale first_scale and the later ones. */
static void fill_window(float *row, const struct scene *windows, const struct views *views, int32_t first_scale,
                        int32_t region)
{
    const struct clv_recipe *recipe = views->recipe;
    chroma_fill(row, windows, &views->kernel_map, region);
    row += chroma_size(recipe);
    for (int32_t s = first_scale; recipe->blocks & CLV_BLOCK_WORDS && s < recipe->n_scales; s++) {
        if (views->maps[s].word)
            words_histogram(row, windows, &views->maps[s], &views->kernel_map, region);
        row += words_of_scale(recipe);
    }
}

static void name_bin(char *name, size_t size, const struct clv_recipe *recipe, const char *what, int32_t first_scale,
                     int32_t index)
{
    int32_t of_words = index - chroma_size(recipe), numbers = kernel_map_size(recipe);
    char before[32];
    if (of_words < 0) {
        snprintf(name, size, "%s chroma bin %d", what, index / numbers);
        kernel_map_name(name, size, recipe, index % numbers);
    } else {
        snprintf(before, sizeof before, "%s ", what);
        words_bin_name(name, size, recipe, before, first_scale, of_words);
    }
}

int32_t surround_size(const struct clv_recipe *recipe)
{
    return size_from(recipe, 0);
}

double surround_met(const struct clv_recipe *recipe, double of_node, double of_image)
{
    double around = sqrt(of_node) + 2 * recipe->patch_px;
    double words = scales_from(recipe, 0) * words_in_square(recipe, fmin(around * around, of_image));
    return (2 * CHROMA_MET + words) * kernel_map_size(recipe);
}

void surround_fill(float *row, const struct views *views, int32_t region)
{
    fill_window(row, &views->surround, views, 0, region);
}

void surround_name(char *name, size_t size, const struct clv_recipe *recipe, int32_t index)
{
    name_bin(name, size, recipe, "surround", 0, index);
}

static int32_t last_scale(const struct clv_recipe *recipe)
{
    return recipe->n_scales - 1;
}

int32_t scene_size(const struct clv_recipe *recipe)
{
    return size_from(recipe, last_scale(recipe));
}

double scene_met(const struct clv_recipe *recipe, double of_node, double of_image)
{
    (void)of_node;
    double words = scales_from(recipe, last_scale(recipe)) * words_in_square(recipe, of_image);
    return (4 * CHROMA_MET + words) * kernel_map_size(recipe);
}

void whole_scene_fill(float *row, const struct views *views)
{
    fill_window(row, &views->whole, views, last_scale(views->recipe), 0);
}

void scene_fill(float *row, const struct views *views, int32_t region)
{
    (void)region;
    memcpy(row, views->of_whole, (size_t)scene_size(views->recipe) * sizeof *row);
}

void scene_name(char *name, size_t size, const struct clv_recipe *recipe, int32_t index)
{
    name_bin(name, size, recipe, "scene", last_scale(recipe), index);
}
