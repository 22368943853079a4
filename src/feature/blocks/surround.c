#include <stdio.h>

#include "feature/blocks/blocks.h"

int32_t surround_size(const struct clv_recipe *recipe, int32_t first_scale)
{
    int32_t n_scales = recipe->blocks & CLV_BLOCK_WORDS ? recipe->n_scales - first_scale : 0;
    return chroma_size() + n_scales * recipe->n_words;
}

void surround_fill(float *row, const struct scene *windows, struct word_map *maps, const struct clv_recipe *recipe,
                   int32_t first_scale, int32_t region)
{
    chroma_fill(row, windows, region);
    row += chroma_size();
    for (int32_t s = first_scale; recipe->blocks & CLV_BLOCK_WORDS && s < recipe->n_scales; s++) {
        if (maps[s].word)
            words_fill(row, windows, &maps[s], region);
        row += recipe->n_words;
    }
}

void surround_name(char *name, size_t size, const struct clv_recipe *recipe, const char *what, int32_t first_scale,
                   int32_t index)
{
    int32_t word = index - chroma_size();
    if (word < 0)
        snprintf(name, size, "%s chroma bin %d", what, index);
    else
        snprintf(name, size, "%s word %d of scale %d", what, word % recipe->n_words,
                 first_scale + word / recipe->n_words);
}
