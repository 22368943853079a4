/* Gives each feature block its first column in a row of node features, in the order of the table of blocks. */
#include "feature/recipe/recipe.h"

#include "feature/blocks/blocks.h"

void layout_init(struct layout *layout, const struct clv_recipe *recipe)
{
    int32_t next = 0;
    layout->recipe = recipe;
    for (int b = 0; b < N_BLOCKS; b++) {
        bool on = recipe->blocks & block_rows[b].flag;
        layout->start[b] = on ? next : -1;
        next += on ? block_rows[b].size(recipe) : 0;
    }
    layout->n_own = next;
    layout->n_features = recipe->window ? 2 * next : next;
}
