/* Computes the feature blocks surround and scene: histograms of colours and visual words of wider windows. Start at
 * surround_fill. */
#include <stdio.h>

#include "feature/blocks/blocks.h"

int32_t surround_size(const struct clv_recipe *recipe, int32_t first_scale)
{
    int32_t n_scales = recipe->blocks & CLV_BLOCK_WORDS ? recipe->n_scales - first_scale : 0;
    return chroma_size(recipe) + n_scales * words_size(recipe);
}

void surround_fill(float *row, const struct scene *windows, struct word_map *maps, const struct kernel_map *kernel_map,
                   const struct clv_recipe *recipe, int32_t first_scale, int32_t region)
{
    chroma_fill(row, windows, kernel_map, region);
    row += chroma_size(recipe);
    for (int32_t s = first_scale; recipe->blocks & CLV_BLOCK_WORDS && s < recipe->n_scales; s++) {
        if (maps[s].word)
            words_fill(row, windows, &maps[s], kernel_map, region);
        row += words_size(recipe);
    }
}

void surround_name(char *name, size_t size, const struct clv_recipe *recipe, const char *what, int32_t first_scale,
                   int32_t index)
{
    int32_t of_words = index - chroma_size(recipe), numbers = kernel_map_size(recipe);
    char before[32];
    if (of_words < 0) {
        snprintf(name, size, "%s chroma bin %d", what, index / numbers);
        kernel_map_name(name, size, recipe, index % numbers);
    } else {
        snprintf(before, sizeof before, "%s ", what);
        words_name(name, size, recipe, before, first_scale, of_words);
    }
}
