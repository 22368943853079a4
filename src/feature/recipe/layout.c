/* Gives each feature block its first column in a row of node features. Start at layout_init, whose order is the order
 * of the columns. */
#include "feature/recipe/recipe.h"

#include <stdbool.h>

#include "feature/blocks/blocks.h"

void layout_init(struct layout *layout, const struct clv_recipe *recipe)
{
    int32_t next = 0;
    layout->recipe = recipe;
    for (int32_t s = 0; s < CLV_MAX_SCALES; s++) {
        bool on = (recipe->blocks & CLV_BLOCK_WORDS) && s < recipe->n_scales;
        layout->words[s] = on ? next : -1;
        next += on ? words_size(recipe) : 0;
    }
    const struct {
        int block;
        int32_t *start, size;
    } blocks[] = {
        {CLV_BLOCK_COLOUR, &layout->colour, colour_size(recipe)},
        {CLV_BLOCK_POSITION, &layout->position, position_size()},
        {CLV_BLOCK_SIZE, &layout->size, size_size()},
        {CLV_BLOCK_CONTRAST, &layout->contrast, contrast_size(recipe)},
        {CLV_BLOCK_SURROUND, &layout->surround, surround_size(recipe, 0)},
        {CLV_BLOCK_SCENE, &layout->scene, surround_size(recipe, recipe->n_scales - 1)},
        {CLV_BLOCK_RGB, &layout->rgb, rgb_size(recipe)},
        {CLV_BLOCK_WORD, &layout->word, recipe->n_scales * recipe->n_words},
        {CLV_BLOCK_HOG, &layout->hog, HOG_SIZE},
        {CLV_BLOCK_MAPS, &layout->maps, maps_size(recipe)},
        {CLV_BLOCK_FISHER, &layout->fisher, fisher_size(recipe)},
    };
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) {
        bool on = recipe->blocks & blocks[k].block;
        *blocks[k].start = on ? next : -1;
        next += on ? blocks[k].size : 0;
    }
    layout->n_own = next;
    layout->n_features = recipe->window ? 2 * next : next;
}
